"""Scores of fitted models of any kind, free of what fits them."""

from typing import Any

import numpy as np
from sklearn.utils.validation import _num_samples

from pushrank._base.user_types import Floats, MatrixLike

__all__ = ["model_scores"]

FORESTS, MAX_ROWS_OF_ONE_THREAD = "sklearn.ensemble._forest", 1_000


def model_scores(model: Any, X: MatrixLike) -> Floats:
    """Return the scores of a fitted model; of one that gives probabilities alone, those of the positives."""
    if hasattr(model, "decision_function"):
        return np.asarray(model.decision_function(X), dtype=np.float64)
    if gives_margins(model):
        return np.asarray(model.predict(X, output_margin=True), dtype=np.float64)
    if hasattr(model, "predict_proba"):
        is_forest = type(model).__module__ == FORESTS and np.ndim(getattr(model, "n_classes_", [])) == 0
        of_few = is_forest and _num_samples(X) <= MAX_ROWS_OF_ONE_THREAD
        probabilities = forest_probabilities(model, X) if of_few else model.predict_proba(X)
        return np.asarray(probabilities, dtype=np.float64)[:, 1]
    raise TypeError(
        f"{type(model).__name__} has neither decision_function nor predict_proba, so it gives no scores to "
        "rank by."
    )


def gives_margins(model: Any) -> bool:
    """Return whether scores are those of a decision function, or XGBoost's before it makes probabilities."""
    # Probabilities in single precision tie at the two ends, and a push lies there with most of its scores.
    last = model.steps[-1][1] if hasattr(model, "steps") else model
    return type(last).__name__ == "XGBClassifier" or hasattr(model, "decision_function")


def forest_probabilities(forest: Any, X: MatrixLike) -> Floats:
    """Return the probabilities by a forest, to the last bit those of ``predict_proba``."""
    # joblib takes ten times as long to hand out the trees as they take for a row, and may add them up in any
    # order; for many rows its threads are worth it.
    rows = forest._validate_X_predict(X)
    total = np.zeros((rows.shape[0], forest.n_classes_))
    for tree in forest.estimators_:
        total += tree.tree_.predict(rows)
    return total / len(forest.estimators_)
