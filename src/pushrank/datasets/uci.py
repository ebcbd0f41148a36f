"""Small and middling sets from the UCI repository, in which the ranking papers report their figures."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.utils import Bunch

from pushrank.datasets._bunch import DataHome, bundle, load_binary
from pushrank.datasets._catalogue import CATALOGUE
from pushrank.datasets._source import read

__all__ = [
    "load_abalone",
    "load_housing",
    "load_ionosphere",
    "load_letter",
    "load_magic",
    "load_spambase",
]


def load_ionosphere(
    *,
    positive: str = "g",
    return_X_y: bool = False,
    as_frame: bool = False,
    data_home: DataHome = None,
) -> Bunch | tuple[Any, Any]:
    """Load ionosphere: 351 radar returns, 34 numeric features, 225 good and 126 bad.

    Parameters
    ----------
    positive : {"g", "b"}, default="g"
        The label that is class 1. A good return shows structure in the ionosphere, which is what the
        radar looks for, so ``"g"`` is the natural positive; it is also the majority. Take ``"b"`` for a
        task whose positives are the minority.
    return_X_y : bool, default=False
        Return ``(data, target)`` in place of a Bunch.
    as_frame : bool, default=False
        Return pandas objects in place of arrays; the Bunch then has ``frame`` too.
    data_home : path-like or None, default=None
        Folder with ``ionosphere.parquet``, used before the folder that the environment variable
        ``PUSHRANK_DATA`` names; without the file there, OpenML's copy (data set 59) is fetched, and kept
        in this folder, or in scikit-learn's own cache when ``data_home`` is None.

    Returns
    -------
    sklearn.utils.Bunch or tuple
        ``data`` (351, 34) float64, ``target`` (351,) of 0 and 1, ``feature_names``, ``target_names``
        (the original labels of classes 0 and 1), ``frame``, ``DESCR`` and ``source``.

    Raises
    ------
    ValueError
        When ``positive`` is no label of the set.
    DatasetNotFoundError
        When the file is in neither folder and OpenML cannot be reached.
    DatasetFormatError
        When the file is damaged or holds something else.

    References
    ----------
    Sigillito, V. et al. (1989). Ionosphere. UCI Machine Learning Repository, data set 52.

    Examples
    --------
    >>> from pushrank.datasets import load_ionosphere
    >>> bunch = load_ionosphere()  # doctest: +SKIP
    >>> bunch.data.shape, int(bunch.target.sum()), bunch.target_names  # doctest: +SKIP
    ((351, 34), 225, ['b', 'g'])
    """
    return load_binary(
        "ionosphere", positive=positive, return_X_y=return_X_y, as_frame=as_frame, data_home=data_home
    )


def load_magic(
    *,
    positive: str = "g",
    return_X_y: bool = False,
    as_frame: bool = False,
    data_home: DataHome = None,
) -> Bunch | tuple[Any, Any]:
    """Load MAGIC: 19020 showers seen by a telescope, 10 numeric features, 12332 gamma and 6688 hadron.

    Parameters
    ----------
    positive : {"g", "h"}, default="g"
        The label that is class 1: gamma rays (``"g"``) are the signal, hadrons (``"h"``) the background.
    return_X_y, as_frame : bool, default=False
        As in `load_ionosphere`.
    data_home : path-like or None, default=None
        As in `load_ionosphere`; the file is ``magic04.parquet``, OpenML's copy is data set 1120.

    Returns
    -------
    sklearn.utils.Bunch or tuple
        As in `load_ionosphere`, with ``data`` (19020, 10) float64.

    Raises
    ------
    ValueError, DatasetNotFoundError, DatasetFormatError
        As in `load_ionosphere`.

    References
    ----------
    Bock, R. K. et al. (2004). Methods for multidimensional event classification: a case study using images
    from a Cherenkov gamma-ray telescope. Nucl. Instrum. Methods A 516, 511-528. UCI data set 159.

    Examples
    --------
    >>> from pushrank.datasets import load_magic
    >>> X, y = load_magic(return_X_y=True)  # doctest: +SKIP
    >>> X.shape, int(y.sum())  # doctest: +SKIP
    ((19020, 10), 12332)
    """
    return load_binary(
        "magic", positive=positive, return_X_y=return_X_y, as_frame=as_frame, data_home=data_home
    )


def load_housing(
    *,
    medv: bool = True,
    return_X_y: bool = False,
    as_frame: bool = False,
    data_home: DataHome = None,
) -> Bunch | tuple[Any, Any]:
    """Load the CHAS task of Boston housing: 506 tracts, 35 of them on the Charles River.

    The label is the dummy variable CHAS (1: the tract bounds the river); the other columns are features.

    Parameters
    ----------
    medv : bool, default=True
        Whether the median house value MEDV, the target of the original regression, is a feature too:
        13 features with it, 12 without.
    return_X_y, as_frame : bool, default=False
        As in `load_ionosphere`.
    data_home : path-like or None, default=None
        As in `load_ionosphere`; the file is ``boston_housing.parquet``, OpenML's copy is data set 531.

    Returns
    -------
    sklearn.utils.Bunch or tuple
        As in `load_ionosphere`, with ``data`` (506, 13) or (506, 12) float64.

    Raises
    ------
    DatasetNotFoundError, DatasetFormatError
        As in `load_ionosphere`.

    Notes
    -----
    The column B is a function of the share of Black residents that the authors built on an assumption
    about segregation. The set is here to reproduce published figures, not as a model of anything else.

    References
    ----------
    Harrison, D. and Rubinfeld, D. L. (1978). Hedonic housing prices and the demand for clean air.
    J. Environ. Economics and Management 5, 81-102.

    Examples
    --------
    >>> from pushrank.datasets import load_housing
    >>> X, y = load_housing(return_X_y=True)  # doctest: +SKIP
    >>> X.shape, int(y.sum())  # doctest: +SKIP
    ((506, 13), 35)
    """
    record = CATALOGUE["housing"]
    frame, source = read(record, data_home)
    frame = frame.rename(columns={"label": "MEDV"})
    features = tuple(name for name in record.features if name != "CHAS")
    return bundle(
        record,
        frame,
        features=(*features, "MEDV") if medv else features,
        target=frame["CHAS"].to_numpy().astype(np.int64),
        target_names=["CHAS = 0", "CHAS = 1"],
        source=source,
        return_X_y=return_X_y,
        as_frame=as_frame,
    )


def load_spambase(
    *,
    positive: str = "1",
    return_X_y: bool = False,
    as_frame: bool = False,
    data_home: DataHome = None,
) -> Bunch | tuple[Any, Any]:
    """Load Spambase: 4601 e-mails, 57 frequencies, 1813 spam and 2788 not.

    Parameters
    ----------
    positive : {"1", "0"}, default="1"
        The label that is class 1: ``"1"`` is spam.
    return_X_y, as_frame : bool, default=False
        As in `load_ionosphere`.
    data_home : path-like or None, default=None
        As in `load_ionosphere`; the file is ``spambase.parquet``, OpenML's copy is data set 44.

    Returns
    -------
    sklearn.utils.Bunch or tuple
        As in `load_ionosphere`, with ``data`` (4601, 57) float64.

    Raises
    ------
    ValueError, DatasetNotFoundError, DatasetFormatError
        As in `load_ionosphere`.

    References
    ----------
    Hopkins, M., Reeber, E., Forman, G. and Suermondt, J. (1999). Spambase. UCI data set 94.

    Examples
    --------
    >>> from pushrank.datasets import load_spambase
    >>> X, y = load_spambase(return_X_y=True)  # doctest: +SKIP
    >>> X.shape, int(y.sum())  # doctest: +SKIP
    ((4601, 57), 1813)
    """
    return load_binary(
        "spambase", positive=positive, return_X_y=return_X_y, as_frame=as_frame, data_home=data_home
    )


def load_letter(
    *,
    positive: str = "A",
    return_X_y: bool = False,
    as_frame: bool = False,
    data_home: DataHome = None,
) -> Bunch | tuple[Any, Any]:
    """Load letter recognition: 20000 capital letters, 16 integer features, one letter against the rest.

    Parameters
    ----------
    positive : str, default="A"
        The letter, ``"A"`` to ``"Z"``, that is class 1; each is between 3.6 % and 4.1 % of the rows.
    return_X_y, as_frame : bool, default=False
        As in `load_ionosphere`.
    data_home : path-like or None, default=None
        As in `load_ionosphere`; the file is ``letter.parquet``, OpenML's copy is data set 6, which may hold
        the same rows in another order.

    Returns
    -------
    sklearn.utils.Bunch or tuple
        As in `load_ionosphere`, with ``data`` (20000, 16) float64 and ``label`` (20000,), the letters.

    Raises
    ------
    ValueError, DatasetNotFoundError, DatasetFormatError
        As in `load_ionosphere`.

    Notes
    -----
    Papers often train on the first 16000 rows and test on the last 4000; that needs the file's order.

    References
    ----------
    Frey, P. W. and Slate, D. J. (1991). Letter recognition using Holland-style adaptive classifiers.
    Machine Learning 6, 161-182. UCI data set 59.

    Examples
    --------
    >>> from pushrank.datasets import load_letter
    >>> X, y = load_letter(positive="Z", return_X_y=True)  # doctest: +SKIP
    >>> X.shape, int(y.sum())  # doctest: +SKIP
    ((20000, 16), 734)
    """
    return load_binary(
        "letter",
        positive=positive,
        rest="rest",
        extra={"label": "label"},
        return_X_y=return_X_y,
        as_frame=as_frame,
        data_home=data_home,
    )


def load_abalone(
    *,
    threshold: float = 10,
    return_X_y: bool = False,
    as_frame: bool = False,
    data_home: DataHome = None,
) -> Bunch | tuple[Any, Any]:
    """Load abalone: 4177 animals, sex and 7 measurements, the old ones against the young ones.

    Parameters
    ----------
    threshold : float, default=10
        Animals with more rings than this are class 1: 1447 of them at 10, 62 at 19. From 1 up to, not
        including, 29, so that both classes have rows.
    return_X_y, as_frame : bool, default=False
        As in `load_ionosphere`.
    data_home : path-like or None, default=None
        As in `load_ionosphere`; the file is ``abalone.parquet``, OpenML's copy is data set 183.

    Returns
    -------
    sklearn.utils.Bunch or tuple
        As in `load_ionosphere`, with ``data`` (4177, 8) of object dtype, since Sex is "M", "F" or "I"
        (infant) and the rest float64, and ``rings`` (4177,), the original label.

    Raises
    ------
    ValueError
        When ``threshold`` leaves a class empty.
    DatasetNotFoundError, DatasetFormatError
        As in `load_ionosphere`.

    References
    ----------
    Nash, W. J. et al. (1994). The population biology of abalone. UCI data set 1.

    Examples
    --------
    >>> from pushrank.datasets import load_abalone
    >>> X, y = load_abalone(threshold=19, return_X_y=True)  # doctest: +SKIP
    >>> X.shape, int(y.sum())  # doctest: +SKIP
    ((4177, 8), 62)
    """
    if not 1 <= threshold < 29:
        raise ValueError(f"threshold={threshold!r} leaves a class empty; rings go from 1 to 29, use 1 to 28.")
    record = CATALOGUE["abalone"]
    frame, source = read(record, data_home)
    return bundle(
        record,
        frame,
        target=np.asarray(frame["label"] > threshold, dtype=np.int64),
        target_names=[f"rings <= {threshold}", f"rings > {threshold}"],
        source=source,
        extra={"rings": "label"},
        return_X_y=return_X_y,
        as_frame=as_frame,
    )
