"""The common parts of displays: the way from an estimator to scores, to numbers, to axes."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from typing import Any, Literal, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.pipeline import Pipeline

from pushrank._numeric import Floats
from pushrank.plots._axes import finish

ResponseMethod = Literal["auto", "decision_function", "predict_proba"]
RESPONSES = ("decision_function", "predict_proba")


class Display(ABC):
    """A picture that stores its numbers and draws them on request.

    A subclass implements ``compute`` and ``plot`` and is decorated by `written_out`.
    """

    name: str | None

    @classmethod
    @abstractmethod
    def compute(cls, *data: Any, **settings: Any) -> Self:
        """Compute the numbers without drawing them.

        Parameters
        ----------
        name : str, optional
            The name of the curve, or the title of the picture; by default the estimator's class.

        Returns
        -------
        display
            With the numbers, not drawn yet.
        """

    @abstractmethod
    def plot(self, ax: Any = None, *, name: str | None = None) -> Self:
        """Draw the numbers.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            Where to draw; by default in a new figure.
        name : str, optional
            The name of the curve or model, or the title, in place of ``self.name``.
        band : bool, default=True
            Whether to shade the interval.
        curve_kwargs : dict, optional
            Keywords of matplotlib's ``plot``.

        Returns
        -------
        display
            This display, with the matplotlib objects as ``ax_`` and ``figure_``.

        Raises
        ------
        ImportError
            When matplotlib is not installed.
        TypeError
            When ``ax`` is not one Axes.
        """

    @classmethod
    def _compute_and_plot(
        cls, *data: Any, ax: Any, plot_kwargs: Mapping[str, Any] | None, **settings: Any
    ) -> Self:
        """Compute and draw.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            Where to draw; axes that hold a display already get one more curve. By default a new figure.
        plot_kwargs : dict, optional
            Keywords of ``plot``.

        Returns
        -------
        display
            With the numbers, and the matplotlib objects as ``ax_`` and ``figure_``.
        """
        # The style of a curve is a setting of plot; all others are of compute.
        curve = {key: settings.pop(key) for key in ("curve_kwargs",) if key in settings}
        return cls.compute(*data, **settings).plot(ax, **{**curve, **(plot_kwargs or {})})

    def _finished(self, ax: Any, legend: str = "best") -> Self:
        finish(ax, legend)
        self.ax_, self.figure_ = ax, ax.figure
        return self


class FittedDisplay(Display):
    """A picture of what a fitted estimator stores."""

    @classmethod
    def from_estimator(
        cls, estimator: Any, *, ax: Any = None, plot_kwargs: dict[str, Any] | None = None, **settings: Any
    ) -> Self:
        """Take the numbers of a fitted estimator and draw them.

        Raises
        ------
        TypeError
            When the estimator does not store them, or ``ax`` is not one Axes.
        """
        return cls._compute_and_plot(estimator, ax=ax, plot_kwargs=plot_kwargs, **settings)


class RankingDisplay(Display):
    """A picture of scores against labels."""

    @classmethod
    @abstractmethod
    def compute(
        cls, y_true: ArrayLike, scores: ArrayLike, *, pos_label: Any = None, name: str | None = None
    ) -> Self:
        """Compute the numbers without drawing them.

        Parameters
        ----------
        y_true : array-like of shape (n,)
            Labels of two values.
        scores : array-like of shape (n,)
            Finite scores, the higher the better.
        sample_weight : array-like of shape (n,), optional
            Non-negative weights; a row of whole weight counts as that many copies of itself.
        confidence_level : float, default=0.95
            The nominal coverage of each interval, strictly between 0 and 1.
        pos_label : label, optional
            The positive class; by default the larger of two numbers, yes of yes and no, true of true and
            false. Of other texts it must be given.
        name : str, optional
            The name of the curve or model in the legend, or the title of the picture.

        Returns
        -------
        display
            With the numbers, not drawn yet.

        Raises
        ------
        ValueError
            When there are not two classes, a score is not finite, lengths differ, a weight is negative, or a
            parameter is out of range.
        """

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
        """Compute and draw from labels and scores."""
        return cls._compute_and_plot(y_true, scores, ax=ax, plot_kwargs=plot_kwargs, **settings)

    @classmethod
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
        **settings: Any,
    ) -> Self:
        """Compute and draw from a fitted estimator and rows, preferably rows that it has not seen.

        Parameters
        ----------
        estimator : estimator or Pipeline
            Fitted, with ``decision_function`` or ``predict_proba``.
        X : array-like, sparse matrix or data frame of shape (n, n_features)
            Rows.
        y : array-like of shape (n,)
            Their labels, of two values.
        response_method : {"auto", "decision_function", "predict_proba"}, default="auto"
            The source of the scores; by default the decision function, or if there is none the probability.
        name : str, optional
            The name of the curve; by default the estimator's class.

        Raises
        ------
        TypeError
            When the estimator gives no scores, or ``ax`` is not one Axes.
        ValueError
            When ``compute`` refuses the data, the estimator has not exactly two classes, or
            ``response_method`` is not known.
        """
        scores = estimator_scores(estimator, X, pos_label, response_method)
        return cls._compute_and_plot(
            y,
            scores,
            pos_label=pos_label,
            name=name or estimator_name(estimator),
            ax=ax,
            plot_kwargs=plot_kwargs,
            **settings,
        )


def final_step(estimator: Any) -> Any:
    """Return the estimator itself, or the last one of a pipeline."""
    return estimator.steps[-1][1] if isinstance(estimator, Pipeline) else estimator


def estimator_name(estimator: Any) -> str:
    """Return the name of an estimator in a legend."""
    return type(final_step(estimator)).__name__


def estimator_scores(estimator: Any, X: Any, pos_label: Any = None, response_method: str = "auto") -> Floats:
    """Return an estimator's scores, the higher the more likely positive."""
    if response_method not in ("auto", *RESPONSES):
        raise ValueError(f"response_method must be one of {['auto', *RESPONSES]}, got {response_method!r}.")
    name = estimator_name(estimator)
    classes = getattr(estimator, "classes_", None)
    if classes is not None and len(classes) != 2:
        raise ValueError(
            f"{name} knows {len(classes)} classes; a ranking of positives above negatives needs 2."
        )
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
