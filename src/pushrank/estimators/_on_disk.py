"""The door of fits to rows on disk: Parquet files, blocks, or a file of them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

from pushrank._validation import warn_of_texts
from pushrank.datasets.on_disk import DiskRows, parquet_paths
from pushrank.solvers.stored_rows import StoredRows


def is_on_disk(X: Any, y: Any, pairs: Any = None) -> bool:
    """Return whether X names Parquet files, or is ``DiskRows``, or, without labels, an iterable of blocks.

    Raises
    ------
    TypeError
        When y names a column and X no files.
    """
    if isinstance(X, DiskRows) or parquet_paths(X) is not None:
        return True
    if isinstance(y, str):
        raise TypeError(
            f"y names the column {y!r}, and X no Parquet files, but is a {type(X).__name__}: pass a path or "
            "a list of paths, as sorted(folder.glob('*.parquet')) is, or the labels of rows in memory."
        )
    if y is not None or pairs is not None or not isinstance(X, Iterable):
        return False
    return not any(hasattr(X, name) for name in ("shape", "__array__", "columns"))


@contextmanager
def rows_on_disk(ranker: Any, X: Any, y: Any, sample_weight: Any) -> Iterator[StoredRows]:
    """Yield the rows that X stands for, after they were written to a file where they are not in one yet.

    Raises
    ------
    ValueError
        When targets are given twice, or a warm start finds other features than the last fit.
    """
    rows = X
    if not isinstance(X, DiskRows):
        rows = DiskRows(X, y, sample_weight)
    elif y is not None or sample_weight is not None:
        raise ValueError("DiskRows hold labels and weights: y and sample_weight must be None beside them.")
    try:
        _set_features(ranker, rows)
        warn_of_texts(rows.classes, type(ranker).__name__)
        yield StoredRows(rows)
    finally:
        if rows is not X:
            rows.close()


def _set_features(ranker: Any, rows: DiskRows) -> None:
    known = getattr(ranker, "feature_names_in_", None)
    names = None if rows.feature_names is None else np.array(rows.feature_names, dtype=object)
    if getattr(ranker, "warm_start", False) and hasattr(ranker, "coef_"):
        others = known is not None and names is not None and not np.array_equal(known, names)
        if others or len(ranker.coef_) != rows.n_features:
            raise ValueError(
                f"a warm start needs the {len(ranker.coef_)} features of the last fit, and other ones were "
                "found; set warm_start=False."
            )
    ranker.n_features_in_ = rows.n_features
    vars(ranker).pop("feature_names_in_", None)
    if names is not None:
        ranker.feature_names_in_ = names
