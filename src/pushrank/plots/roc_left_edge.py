"""The left edge of the ROC curve, where the top of the list is."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from pushrank._log_space import Floats
from pushrank.metrics import roc_band
from pushrank.metrics.ranks import Ranking
from pushrank.plots._axes import axes_or_new, curve_style, draw_band, draw_reference, finish, percent_ticks
from pushrank.plots._display import RankingDisplay, ResponseMethod, name_of, scores_of, with_curve
from pushrank.plots.depths import ListDepths, curve_places

ROUNDING = 1e-12
"""The part by which a sum of weights may miss another."""


class RocLeftEdgeDisplay(RankingDisplay):
    r"""The ROC curve on a logarithmic axis: hits found before each false alarm.

    .. math:: \mathrm{TPR}(j / K) = \frac{1}{I}\, \#\{i : \text{at most } j \text{ negatives stand above } i\}

    Parameters
    ----------
    false_alarms : ndarray of int, shape (m,)
        Numbers j of negatives let pass, ascending from 0.
    tpr : ndarray of float64, shape (m,)
        The share of the positives found before one more negative.
    n_negative : int
        The number of negatives, which turns false alarms into the false positive rate.
    low, high : ndarray of float64, shape (m,), optional
        The ends of a confidence interval for each share.
    name : str, optional
        What the curve is called in the legend.

    Attributes
    ----------
    line_, band_ : matplotlib artists
        The curve and its interval, after ``plot``.
    ax_, figure_ : matplotlib Axes and Figure
        Where they are.

    Notes
    -----
    ``compute`` costs O(n log n). Ties count by their expectation under a random order. The interval is that
    of :func:`pushrank.metrics.roc_band`, valid for any number of rows, and wide where few negatives decide.
    The axis is linear from no false alarm to one, and logarithmic from there.

    References
    ----------
    Fawcett, *An introduction to ROC analysis*, Pattern Recognition Letters 27 (2006).

    Examples
    --------
    >>> display = RocLeftEdgeDisplay.compute([1, 0, 1, 0], [4.0, 3.0, 2.0, 1.0])
    >>> display.false_alarms.tolist(), display.tpr.tolist()
    ([0, 1, 2], [0.5, 1.0, 1.0])
    """

    def __init__(
        self,
        *,
        false_alarms: NDArray[np.int64],
        tpr: Floats,
        n_negative: int,
        low: Floats | None = None,
        high: Floats | None = None,
        name: str | None = None,
    ) -> None:
        self.false_alarms = false_alarms
        self.tpr = tpr
        self.n_negative = n_negative
        self.low, self.high = low, high
        self.name = name

    @property
    def fpr(self) -> Floats:
        """The false positive rates."""
        return self.false_alarms / self.n_negative

    @classmethod
    def compute(
        cls,
        y_true: ArrayLike,
        scores: ArrayLike,
        *,
        confidence_level: float = 0.95,
        simultaneous: bool = False,
        sample_weight: ArrayLike | None = None,
        pos_label: Any = None,
        name: str | None = None,
    ) -> Self:
        """Compute the curve without drawing it.

        Parameters
        ----------
        y_true : array-like of shape (n,)
            Labels of two values.
        scores : array-like of shape (n,)
            Finite scores, the higher the better.
        confidence_level : float, default=0.95
            The least chance with which the interval covers, in (0, 1).
        simultaneous : bool, default=False
            Whether the band covers at all places at once, or at each by itself.
        sample_weight : array-like of shape (n,), optional
            Non-negative weights; a row of whole weight counts as that many copies of itself. There is no
            interval with them.
        pos_label : label, optional
            The positive class; by default the larger of the two values.
        name : str, optional
            What the curve is called in the legend.

        Raises
        ------
        ValueError
            When there are not two classes, a score is not finite, lengths differ, weights do not fit, or
            ``confidence_level`` is out of range.
        """
        depths = ListDepths(Ranking(y_true, scores, sample_weight, pos_label))
        places = curve_places(depths.n_negative, first=0)
        low = high = None
        misses = places.astype(np.float64)
        if sample_weight is not None:
            # in negatives of average weight, a little more than their sum, which may miss it by rounding
            misses *= depths.total_negative / depths.n_negative * (1.0 + ROUNDING)
        else:
            _, _, low, high = roc_band(
                y_true,
                scores,
                false_positive_rates=places / depths.n_negative,
                simultaneous=simultaneous,
                confidence_level=confidence_level,
                pos_label=pos_label,
            )
        return cls(
            false_alarms=places,
            tpr=depths.hits_above_misses(misses) / depths.total_positive,
            n_negative=depths.n_negative,
            low=low,
            high=high,
            name=name,
        )

    @classmethod
    def from_predictions(
        cls,
        y_true: ArrayLike,
        scores: ArrayLike,
        *,
        confidence_level: float = 0.95,
        simultaneous: bool = False,
        sample_weight: ArrayLike | None = None,
        pos_label: Any = None,
        name: str | None = None,
        ax: Any = None,
        curve_kwargs: dict[str, Any] | None = None,
        plot_kwargs: dict[str, Any] | None = None,
    ) -> Self:
        """Compute and draw from labels and scores, by the keywords of ``compute`` and ``plot``."""
        display = cls.compute(
            y_true,
            scores,
            confidence_level=confidence_level,
            simultaneous=simultaneous,
            sample_weight=sample_weight,
            pos_label=pos_label,
            name=name,
        )
        return display.plot(ax, **with_curve(plot_kwargs, curve_kwargs))

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        X: Any,
        y: ArrayLike,
        *,
        response_method: ResponseMethod = "auto",
        confidence_level: float = 0.95,
        simultaneous: bool = False,
        sample_weight: ArrayLike | None = None,
        pos_label: Any = None,
        name: str | None = None,
        ax: Any = None,
        curve_kwargs: dict[str, Any] | None = None,
        plot_kwargs: dict[str, Any] | None = None,
    ) -> Self:
        """Compute and draw from a fitted estimator, by the keywords of ``compute`` and ``plot``."""
        scores = scores_of(estimator, X, pos_label, response_method)
        return cls.from_predictions(
            y,
            scores,
            confidence_level=confidence_level,
            simultaneous=simultaneous,
            sample_weight=sample_weight,
            pos_label=pos_label,
            name=name or name_of(estimator),
            ax=ax,
            curve_kwargs=curve_kwargs,
            plot_kwargs=plot_kwargs,
        )

    def plot(
        self,
        ax: Any = None,
        *,
        name: str | None = None,
        band: bool = True,
        curve_kwargs: dict[str, Any] | None = None,
    ) -> Self:
        """Draw the curve.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            Where to draw; by default in a new figure.
        name : str, optional
            What to call the curve in place of ``self.name``.
        band : bool, default=True
            Whether to shade the interval.
        curve_kwargs : dict, optional
            Keywords of matplotlib's ``plot``.

        Returns
        -------
        RocLeftEdgeDisplay
            This display.

        Raises
        ------
        ImportError
            When matplotlib is not installed.
        """
        ax = axes_or_new(ax)
        style = {"drawstyle": "steps-post", **curve_style(ax, name or self.name, curve_kwargs)}
        (self.line_,) = ax.plot(self.fpr, self.tpr, **style)
        self.band_ = None
        if band and self.low is not None and self.high is not None:
            self.band_ = draw_band(ax, self.fpr, self.low, self.high, self.line_, step="post")
        one = 1.0 / self.n_negative
        chance = np.concatenate([[0.0], np.geomspace(one, 1.0, 100)])
        draw_reference(ax, chance, chance, "random order")
        ax.set_xscale("symlog", linthresh=one, linscale=0.3)
        ax.set(xlim=(0.0, 1.0), ylim=(-0.02, 1.02), xlabel="false positive rate", ylabel="hits found")
        decades = 10.0 ** np.arange(np.ceil(np.log10(one)), 1)
        ax.set_xticks([0.0, *decades[decades > 1.5 * one]])
        percent_ticks(ax.xaxis)
        percent_ticks(ax.yaxis)
        finish(ax)
        self.ax_, self.figure_ = ax, ax.figure
        return self
