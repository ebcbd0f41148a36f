"""The census data (Adult): raw columns, and the binary features of the support vector machine papers."""

from __future__ import annotations

from typing import Any

from sklearn.utils import Bunch

from pushrank.datasets._bunch import DataHome, load_binary

__all__ = ["load_adult", "load_adult_a9a"]


def load_adult(
    *,
    positive: str = ">50K",
    split: str | None = None,
    return_X_y: bool = False,
    as_frame: bool = False,
    data_home: DataHome = None,
) -> Bunch | tuple[Any, Any]:
    """Load Adult in its raw columns: 48842 people, 6 numbers and 8 categories, 11687 with a high income.

    Parameters
    ----------
    positive : {">50K", "<=50K"}, default=">50K"
        The label that is class 1. (The test labels of the original end in a full stop; it is taken off.)
    split : {"train", "test", None}, default=None
        The 32561 training rows, the 16281 test rows, or all of them, training rows first.
    return_X_y, as_frame : bool, default=False
        As in `load_ionosphere`.
    data_home : path-like or None, default=None
        As in `load_ionosphere`; the file is ``adult.parquet``, OpenML's copy is data set 1590.

    Returns
    -------
    sklearn.utils.Bunch or tuple
        As in `load_ionosphere`, with ``data`` (n, 14) of object dtype (strings and floats; a value that
        the original marks "?" is NaN) and ``split`` (n,). ``as_frame=True`` keeps numbers as numbers.

    Raises
    ------
    ValueError
        When ``positive`` is no label or ``split`` no split of the set.
    DatasetNotFoundError, DatasetFormatError
        As in `load_ionosphere`.

    References
    ----------
    Kohavi, R. and Becker, B. (1996). Adult. UCI data set 2.

    Examples
    --------
    >>> from pushrank.datasets import load_adult
    >>> X, y = load_adult(split="train", as_frame=True, return_X_y=True)  # doctest: +SKIP
    >>> X.shape, int(y.sum())  # doctest: +SKIP
    ((32561, 14), 7841)
    """
    return load_binary(
        "adult",
        positive=positive,
        split=split,
        return_X_y=return_X_y,
        as_frame=as_frame,
        data_home=data_home,
    )


def load_adult_a9a(
    *,
    split: str | None = None,
    return_X_y: bool = False,
    as_frame: bool = False,
    data_home: DataHome = None,
) -> Bunch | tuple[Any, Any]:
    """Load Adult in Platt's encoding: 48842 people, 123 binary features, 11687 with a high income.

    Parameters
    ----------
    split : {"train", "test", None}, default=None
        The 32561 training rows, the 16281 test rows, or all of them, training rows first.
    return_X_y, as_frame : bool, default=False
        As in `load_ionosphere`.
    data_home : path-like or None, default=None
        As in `load_ionosphere`; the file is ``adult_a9a.parquet``. There is no OpenML source.

    Returns
    -------
    sklearn.utils.Bunch or tuple
        As in `load_ionosphere`, with ``data`` (n, 123) float64 and ``split`` (n,). Class 1 is the original
        label 1, an income above 50,000 dollars a year.

    Raises
    ------
    ValueError
        When ``split`` is no split of the set.
    DatasetNotFoundError, DatasetFormatError
        As in `load_ionosphere`.

    References
    ----------
    Platt, J. (1999). Fast training of support vector machines using sequential minimal optimization. In
    Advances in Kernel Methods, MIT Press.

    Examples
    --------
    >>> from pushrank.datasets import load_adult_a9a
    >>> X, y = load_adult_a9a(split="test", return_X_y=True)  # doctest: +SKIP
    >>> X.shape, int(y.sum())  # doctest: +SKIP
    ((16281, 123), 3846)
    """
    return load_binary(
        "adult_a9a", split=split, return_X_y=return_X_y, as_frame=as_frame, data_home=data_home
    )
