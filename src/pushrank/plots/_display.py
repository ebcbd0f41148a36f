"""What displays of a ranking share: from an estimator to scores, to numbers, to axes."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any, Literal, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.pipeline import Pipeline

from pushrank._log_space import Floats

ResponseMethod = Literal["auto", "decision_function", "predict_proba"]
RESPONSES = ("decision_function", "predict_proba")


class RankingDisplay(ABC):
    """A picture of scores against labels: numbers now, drawing later."""

    name: str | None

    @classmethod
    @abstractmethod
    def compute(cls, y_true: ArrayLike, scores: ArrayLike) -> Self:
        """Compute the numbers without drawing them."""

    @abstractmethod
    def plot(self, ax: Any = None) -> Self:
        """Draw the numbers."""

    @classmethod
    @abstractmethod
    def from_predictions(
        cls,
        y_true: ArrayLike,
        scores: ArrayLike,
        *,
        pos_label: Any = None,
        name: str | None = None,
        ax: Any = None,
        plot_kwargs: dict[str, Any] | None = None,
    ) -> Self:
        """Compute and draw from labels and scores; other keywords are those of ``compute`` and ``plot``.

        Parameters
        ----------
        y_true : array-like of shape (n,)
            Labels of two values.
        scores : array-like of shape (n,)
            Finite scores, the higher the better.
        pos_label : label, optional
            The positive class; by default the larger of the two values.
        name : str, optional
            What is drawn is called so.
        ax : matplotlib Axes, optional
            Where to draw; axes that hold a display already get one curve more. By default a new figure.
        plot_kwargs : dict, optional
            Keywords of ``plot``.

        Returns
        -------
        display
            With the numbers, and the matplotlib objects as ``ax_`` and ``figure_``.

        Raises
        ------
        ImportError
            When matplotlib is not installed.
        TypeError
            When ``ax`` is not one Axes.
        ValueError
            When ``compute`` refuses the data.
        """

    @classmethod
    @abstractmethod
    def from_estimator(
        cls,
        estimator: Any,
        X: Any,
        y: ArrayLike,
        *,
        response_method: ResponseMethod = "auto",
        pos_label: Any = None,
        name: str | None = None,
        ax: Any = None,
        plot_kwargs: dict[str, Any] | None = None,
    ) -> Self:
        """Compute and draw from a fitted estimator and rows, best ones that it has not seen.

        Other keywords are those of ``compute`` and ``plot``.

        Parameters
        ----------
        estimator : estimator or Pipeline
            Fitted, with ``decision_function`` or ``predict_proba``.
        X : array-like, sparse matrix or data frame of shape (n, n_features)
            Rows.
        y : array-like of shape (n,)
            Their labels, of two values.
        response_method : {"auto", "decision_function", "predict_proba"}, default="auto"
            What gives the scores; by default the decision function, or where there is none the probability.
        pos_label : label, optional
            The positive class; by default the larger of the two values.
        name : str, optional
            What is drawn is called so; by default the estimator's class.
        ax : matplotlib Axes, optional
            Where to draw; axes that hold a display already get one curve more. By default a new figure.
        plot_kwargs : dict, optional
            Keywords of ``plot``.

        Returns
        -------
        display
            With the numbers, and the matplotlib objects as ``ax_`` and ``figure_``.

        Raises
        ------
        ImportError
            When matplotlib is not installed.
        TypeError
            When the estimator gives no scores, or ``ax`` is not one Axes.
        ValueError
            When ``compute`` refuses the data, or ``response_method`` is not known.
        """


def with_curve(plot_kwargs: dict[str, Any] | None, curve_kwargs: dict[str, Any] | None) -> dict[str, Any]:
    """Return the keywords of ``plot``, those of its curve among them."""
    return {"curve_kwargs": curve_kwargs, **(plot_kwargs or {})}


def final_step(estimator: Any) -> Any:
    """Return the estimator itself, or the last one of a pipeline."""
    return estimator.steps[-1][1] if isinstance(estimator, Pipeline) else estimator


def name_of(estimator: Any) -> str:
    """Return what an estimator is called in a legend."""
    return type(final_step(estimator)).__name__


def scores_of(estimator: Any, X: Any, pos_label: Any = None, response_method: str = "auto") -> Floats:
    """Return an estimator's scores, the higher the more likely positive.

    Raises
    ------
    TypeError
        When the estimator has neither ``decision_function`` nor ``predict_proba``, or not the one asked for.
    ValueError
        When it knows another number of classes than two, or not ``pos_label``, or ``response_method`` is not
        known.
    """
    if response_method not in ("auto", *RESPONSES):
        raise ValueError(f"response_method must be one of {['auto', *RESPONSES]}, got {response_method!r}.")
    classes = getattr(estimator, "classes_", None)
    if classes is not None and len(classes) != 2:
        raise ValueError(
            f"{name_of(estimator)} knows {len(classes)} classes; a ranking of positives above "
            "negatives needs 2."
        )
    if pos_label is not None and classes is not None and pos_label not in classes:
        raise ValueError(f"pos_label={pos_label!r} is not a class of the estimator: {list(classes)}.")
    lower_is_positive = pos_label is not None and classes is not None and pos_label == classes[0]
    methods = RESPONSES if response_method == "auto" else (response_method,)
    method = next((method for method in methods if hasattr(estimator, method)), None)
    if method is None:
        lacking = "neither decision_function nor predict_proba" if len(methods) > 1 else f"no {methods[0]}"
        raise TypeError(f"{name_of(estimator)} has {lacking}; pass scores of your own to from_predictions.")
    scores: Floats = np.asarray(getattr(estimator, method)(X), dtype=np.float64)
    if method == "predict_proba":
        return scores[:, 0 if lower_is_positive else 1]
    return -scores if lower_is_positive else scores
