"""Scores of fitted models of any kind, free of what fits them."""

from typing import Any

import numpy as np

from pushrank.user_types import Floats, MatrixLike


def model_scores(model: Any, X: MatrixLike) -> Floats:
    """Return the scores of a fitted model; of one that gives probabilities alone, those of the positives."""
    if hasattr(model, "decision_function"):
        return np.asarray(model.decision_function(X), dtype=np.float64)
    if hasattr(model, "predict_proba"):
        return np.asarray(model.predict_proba(X), dtype=np.float64)[:, 1]
    raise TypeError(
        f"{type(model).__name__} has neither decision_function nor predict_proba, so it gives no scores to "
        "rank by."
    )
