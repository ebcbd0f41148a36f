"""Scores of training rows that the dtype of the coefficients can hold."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from pushrank.estimators._base import linear_scores


def finite_scores(X: Any, coef: NDArray[np.floating]) -> NDArray[np.floating]:
    """Return ``X @ coef`` in the dtype of ``coef``.

    Raises
    ------
    ValueError
        When a score is beyond its range.
    """
    with np.errstate(over="ignore", invalid="ignore"):
        scores = linear_scores(X, coef)
    if not np.isfinite(scores).all():
        raise ValueError(f"scores are beyond the range of {coef.dtype}; scale the features.")
    return scores
