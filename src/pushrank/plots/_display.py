"""The common parts of displays: the way from an estimator to scores, and the look of finished axes."""

from typing import Any, Literal, Self

import numpy as np
from sklearn.pipeline import Pipeline

from pushrank._base.numeric import Floats
from pushrank._base.validation import check_choice
from pushrank.plots.axes import finish

Options = dict[str, Any] | None
ResponseMethod = Literal["auto", "decision_function", "predict_proba"]
RESPONSES = ("decision_function", "predict_proba")


class Display:
    """A picture that stores its numbers and draws them on request."""

    def _finished(self, ax: Any, legend: str = "best") -> Self:
        finish(ax, legend)
        self.ax_, self.figure_ = ax, ax.figure
        return self


def last_step(estimator: Any) -> Any:
    """Return the estimator itself, or the last one of a pipeline."""
    return estimator.steps[-1][1] if isinstance(estimator, Pipeline) else estimator


def estimator_name(estimator: Any) -> str:
    """Return the name of an estimator in a legend."""
    return type(last_step(estimator)).__name__


def estimator_scores(estimator: Any, X: Any, pos_label: Any = None, response_method: str = "auto") -> Floats:
    """Return an estimator's scores, the higher the more likely positive."""
    check_choice("response_method", response_method, ("auto", *RESPONSES))
    name = estimator_name(estimator)
    classes = getattr(estimator, "classes_", None)
    if classes is not None and len(classes) != 2:
        raise ValueError(f"{name} knows {len(classes)} classes; take one that knows 2.")
    if pos_label is not None and classes is not None and pos_label not in classes:
        raise ValueError(f"pos_label={pos_label!r} is not a class of the estimator: {list(classes)}.")
    # Estimators score the later class; for the earlier one the order is reversed.
    lower_is_positive = pos_label is not None and classes is not None and pos_label == classes[0]
    methods = RESPONSES if response_method == "auto" else (response_method,)
    method = next((method for method in methods if hasattr(estimator, method)), None)
    if method is None:
        lacking = "neither decision_function nor predict_proba" if len(methods) > 1 else f"no {methods[0]}"
        raise TypeError(f"{name} has {lacking}; pass scores of your own to from_predictions.")
    scores: Floats = np.asarray(getattr(estimator, method)(X), dtype=np.float64)
    if method == "predict_proba":
        return scores[:, 0 if lower_is_positive else 1]
    return -scores if lower_is_positive else scores
