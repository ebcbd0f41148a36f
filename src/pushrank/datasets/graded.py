"""Sets with graded relevance and queries."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.utils import Bunch

from pushrank.datasets._bunch import DataHome, bundle, check_split
from pushrank.datasets._catalogue import CATALOGUE
from pushrank.datasets._source import read

__all__ = ["load_lambdarank_example"]


def load_lambdarank_example(
    *,
    split: str | None = None,
    return_X_y: bool = False,
    as_frame: bool = False,
    data_home: DataHome = None,
) -> Bunch | tuple[Any, Any]:
    """Load LightGBM's learning-to-rank example: 3773 documents of 251 queries, 300 features, grades 0 to 4.

    Parameters
    ----------
    split : {"train", "test", None}, default=None
        The 3005 training rows (queries 0 to 200), the 768 test rows (queries 201 to 250), or all of them.
    return_X_y, as_frame : bool, default=False
        As in `load_ionosphere`.
    data_home : path-like or None, default=None
        As in `load_ionosphere`; the file is ``lambdarank_lightgbm.parquet``. There is no OpenML source.

    Returns
    -------
    sklearn.utils.Bunch or tuple
        As in `load_ionosphere`, with ``data`` (n, 300) float64, ``target`` (n,) the integer grade, 4 the
        most relevant, ``target_names`` the five grades, ``qid`` (n,) the query of each row, in runs, and
        ``split`` (n,). Use the Bunch: ``return_X_y=True`` leaves ``qid`` out.

    Raises
    ------
    ValueError
        When ``split`` is no split of the set.
    DatasetNotFoundError, DatasetFormatError
        As in `load_ionosphere`.

    References
    ----------
    Ke, G. et al. (2017). LightGBM: a highly efficient gradient boosting decision tree. NeurIPS 30.

    Examples
    --------
    >>> from pushrank.datasets import load_lambdarank_example
    >>> bunch = load_lambdarank_example(split="test")  # doctest: +SKIP
    >>> bunch.data.shape, len(set(bunch.qid))  # doctest: +SKIP
    ((768, 300), 50)
    """
    record = CATALOGUE["lambdarank_example"]
    check_split(record, split)
    frame, source = read(record, data_home)
    return bundle(
        record,
        frame,
        target=frame["label"].to_numpy().astype(np.int64),
        target_names=["0", "1", "2", "3", "4"],
        source=source,
        split=split,
        extra={"qid": "qid"},
        return_X_y=return_X_y,
        as_frame=as_frame,
    )
