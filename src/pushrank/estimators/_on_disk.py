"""The door of fits to rows on disk."""

from __future__ import annotations

from typing import Any

import numpy as np

from pushrank._validation import warn_of_texts
from pushrank.datasets import DiskRows
from pushrank.solvers.stored_rows import StoredRows


def rows_on_disk(ranker: Any, rows: DiskRows, **beside: Any) -> StoredRows:
    """Return the source of rows on disk, and set the ranker's features; nothing may be passed beside them."""
    extra = [name for name, value in beside.items() if value is not None]
    if extra:
        raise ValueError(
            "DiskRows hold rows of two classes in one list, with their labels and weights: "
            f"{' and '.join(extra)} must be None beside them."
        )
    _set_features(ranker, rows)
    warn_of_texts(rows.classes, type(ranker).__name__)
    return StoredRows(rows)


def _set_features(ranker: Any, rows: DiskRows) -> None:
    before = getattr(ranker, "feature_names_in_", None)
    names = None if rows.feature_names is None else np.array(rows.feature_names, dtype=object)
    if getattr(ranker, "warm_start", False) and hasattr(ranker, "coef_"):
        differ = before is not None and names is not None and not np.array_equal(before, names)
        if differ or len(ranker.coef_) != rows.n_features:
            raise ValueError(
                f"a warm start needs the {len(ranker.coef_)} features of the last fit, and other ones were "
                "found; set warm_start=False."
            )
    ranker.n_features_in_ = rows.n_features
    vars(ranker).pop("feature_names_in_", None)
    if names is not None:
        ranker.feature_names_in_ = names
