"""Columns that tell the classes apart: known by commands before anything heavy is loaded, and in Python."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = ["MIN_ROWS_TO_WARN", "gives_label_away"]

MIN_ROWS_TO_WARN = 20
"""Among fewer rows categories may well be nearly all distinct, and numbers rise by chance."""
MIN_CLASS_TO_WARN = 5
"""Fewer rows of a class are above all others by chance in one of many columns."""


def gives_label_away(values: Any, y: NDArray[np.bool_]) -> bool:
    """Return whether numbers, texts, or gaps separate the positives from the negatives without a mistake."""
    if len(y) < MIN_ROWS_TO_WARN or min(y.sum(), (~y).sum()) < MIN_CLASS_TO_WARN:
        return False
    if values.dtype.kind in "biuf":
        if not isinstance(values, np.ndarray):
            values = values.to_numpy(dtype=np.float64, na_value=np.nan)
        has_value = ~np.isnan(values)
        positives, negatives = values[y & has_value], values[~y & has_value]
        # Where a class has hardly a value, a column gives the label away by its gaps alone.
        if min(len(positives), len(negatives)) < MIN_CLASS_TO_WARN:
            return bool((has_value == y).all() or (has_value != y).all())
        return bool(positives.min() > negatives.max() or positives.max() < negatives.min())
    import pandas as pd

    # Times are judged by no model as they are, and other objects need not be comparable.
    if pd.api.types.infer_dtype(values) not in ("string", "boolean", "categorical"):
        return False
    codes, texts = pd.factorize(values, use_na_sentinel=False)
    n_positive = np.bincount(codes[y], minlength=len(texts))
    is_pure = (n_positive == 0) | (n_positive == np.bincount(codes))
    # Texts that occur once or twice belong to a single class by chance.
    return bool(is_pure.all() and len(y) >= MIN_CLASS_TO_WARN * len(texts))
