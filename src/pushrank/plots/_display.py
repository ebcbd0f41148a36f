"""What displays of a ranking share: from an estimator to scores, to numbers, to axes."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.pipeline import Pipeline

from pushrank._log_space import Floats


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
    def from_predictions(
        cls,
        y_true: ArrayLike,
        scores: ArrayLike,
        *,
        ax: Any = None,
        plot_kwargs: dict[str, Any] | None = None,
        **settings: Any,
    ) -> Self:
        """Compute and draw from labels and scores.

        Parameters
        ----------
        y_true : array-like of shape (n,)
            Labels of two values.
        scores : array-like of shape (n,)
            Finite scores, the higher the better.
        ax : matplotlib Axes, optional
            Where to draw; axes that hold a display already get one curve more. By default a new figure.
        plot_kwargs : dict, optional
            Keywords of ``plot``.
        **settings
            Keywords of ``compute``, such as ``name`` and ``pos_label``.

        Returns
        -------
        display
            With the numbers, and the matplotlib objects as ``ax_`` and ``figure_``.

        Raises
        ------
        ImportError
            When matplotlib is not installed.
        ValueError
            When ``compute`` refuses the data.
        """
        return cls.compute(y_true, scores, **settings).plot(ax, **(plot_kwargs or {}))

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        X: Any,
        y: ArrayLike,
        *,
        ax: Any = None,
        plot_kwargs: dict[str, Any] | None = None,
        **settings: Any,
    ) -> Self:
        """Compute and draw from a fitted estimator and rows, best ones that it has not seen.

        Parameters
        ----------
        estimator : estimator or Pipeline
            Fitted, with ``decision_function`` or ``predict_proba``.
        X : array-like, sparse matrix or data frame of shape (n, n_features)
            Rows.
        y : array-like of shape (n,)
            Their labels, of two values.
        ax : matplotlib Axes, optional
            Where to draw; axes that hold a display already get one curve more. By default a new figure.
        plot_kwargs : dict, optional
            Keywords of ``plot``.
        **settings
            Keywords of ``compute``, such as ``name`` (by default the estimator's class) and ``pos_label``.

        Returns
        -------
        display
            With the numbers, and the matplotlib objects as ``ax_`` and ``figure_``.

        Raises
        ------
        ImportError
            When matplotlib is not installed.
        TypeError
            When the estimator gives no scores.
        ValueError
            When ``compute`` refuses the data.
        """
        settings.setdefault("name", name_of(estimator))
        scores = scores_of(estimator, X, settings.get("pos_label"))
        return cls.from_predictions(y, scores, ax=ax, plot_kwargs=plot_kwargs, **settings)


def final_step(estimator: Any) -> Any:
    """Return the estimator itself, or the last one of a pipeline."""
    return estimator.steps[-1][1] if isinstance(estimator, Pipeline) else estimator


def name_of(estimator: Any) -> str:
    """Return what an estimator is called in a legend."""
    return type(final_step(estimator)).__name__


def scores_of(estimator: Any, X: Any, pos_label: Any = None) -> Floats:
    """Return an estimator's scores, the higher the more likely positive.

    Raises
    ------
    TypeError
        When the estimator has neither ``decision_function`` nor ``predict_proba``.
    ValueError
        When it knows another number of classes than two, or not ``pos_label``.
    """
    classes = getattr(estimator, "classes_", None)
    if classes is not None and len(classes) != 2:
        raise ValueError(
            f"{name_of(estimator)} knows {len(classes)} classes; a ranking of positives above "
            "negatives needs 2."
        )
    if pos_label is not None and classes is not None and pos_label not in classes:
        raise ValueError(f"pos_label={pos_label!r} is not a class of the estimator: {list(classes)}.")
    lower_is_positive = pos_label is not None and classes is not None and pos_label == classes[0]
    if hasattr(estimator, "decision_function"):
        scores = np.asarray(estimator.decision_function(X), dtype=np.float64)
        return -scores if lower_is_positive else scores
    if hasattr(estimator, "predict_proba"):
        probabilities: Floats = np.asarray(estimator.predict_proba(X), dtype=np.float64)
        return probabilities[:, 0 if lower_is_positive else 1]
    raise TypeError(
        f"{name_of(estimator)} has neither decision_function nor predict_proba; "
        "pass scores of your own to from_predictions."
    )
