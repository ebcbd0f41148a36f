"""How many of all hits are found after how much of the list."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike

from pushrank._log_space import Floats
from pushrank.metrics.ranks import Ranking
from pushrank.plots._axes import axes_or_new, curve_style, draw_reference, finish, percent_ticks
from pushrank.plots._display import RankingDisplay, ResponseMethod, name_of, scores_of, with_curve
from pushrank.plots.depths import CURVE_POINTS, ListDepths, curve_places


class CumulativeGainsDisplay(RankingDisplay):
    r"""Cumulative gains: the share of all hits found against the share of the list looked at.

    .. math:: G(k / n) = \frac{1}{I} \sum_i 1[\mathrm{rank}(i) \le k]

    Parameters
    ----------
    looked_at : ndarray of float64, shape (m,)
        Shares of the list, from 0 to 1.
    found : ndarray of float64, shape (m,)
        The share of the positives among so many rows.
    base_rate : float, optional
        The share of positives among all rows, which bounds what any ranking can find.
    name : str, optional
        What the curve is called in the legend.

    Attributes
    ----------
    line_ : matplotlib artist
        The curve, after ``plot``.
    ax_, figure_ : matplotlib Axes and Figure
        Where it is.

    Notes
    -----
    ``compute`` costs O(n log n). Ties count by their expectation under a random order.

    References
    ----------
    Provost and Fawcett, *Data Science for Business* (2013), chapter 8.

    Examples
    --------
    >>> display = CumulativeGainsDisplay.compute([1, 0, 1, 0], [4.0, 3.0, 2.0, 1.0])
    >>> display.looked_at.tolist(), display.found.tolist()
    ([0.0, 0.25, 0.5, 0.75, 1.0], [0.0, 0.5, 0.5, 1.0, 1.0])
    """

    def __init__(
        self,
        *,
        looked_at: Floats,
        found: Floats,
        base_rate: float | None = None,
        name: str | None = None,
    ) -> None:
        self.looked_at = looked_at
        self.found = found
        self.base_rate = base_rate
        self.name = name

    @classmethod
    def compute(
        cls,
        y_true: ArrayLike,
        scores: ArrayLike,
        *,
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
        sample_weight : array-like of shape (n,), optional
            Non-negative weights; a row of whole weight counts as that many copies of itself.
        pos_label : label, optional
            The positive class; by default the larger of the two values.
        name : str, optional
            What the curve is called in the legend.

        Raises
        ------
        ValueError
            When there are not two classes, a score is not finite, lengths differ, or weights do not fit.
        """
        depths = ListDepths(Ranking(y_true, scores, sample_weight, pos_label))
        even = np.linspace(0, depths.n_rows, CURVE_POINTS).round().astype(np.int64)
        rows = np.union1d(curve_places(depths.n_rows, first=0, points=CURVE_POINTS // 2), even)
        return cls(
            looked_at=rows / depths.n_rows,
            found=depths.hits_among(rows * (depths.total / depths.n_rows)) / depths.total_positive,
            base_rate=depths.total_positive / depths.total,
            name=name,
        )

    @classmethod
    def from_predictions(
        cls,
        y_true: ArrayLike,
        scores: ArrayLike,
        *,
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
            sample_weight=sample_weight,
            pos_label=pos_label,
            name=name or name_of(estimator),
            ax=ax,
            curve_kwargs=curve_kwargs,
            plot_kwargs=plot_kwargs,
        )

    def plot(
        self, ax: Any = None, *, name: str | None = None, curve_kwargs: dict[str, Any] | None = None
    ) -> Self:
        """Draw the curve, with the best that is possible and a random order to compare with.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            Where to draw; by default in a new figure.
        name : str, optional
            What to call the curve in place of ``self.name``.
        curve_kwargs : dict, optional
            Keywords of matplotlib's ``plot``.

        Returns
        -------
        CumulativeGainsDisplay
            This display.

        Raises
        ------
        ImportError
            When matplotlib is not installed.
        """
        ax = axes_or_new(ax)
        (self.line_,) = ax.plot(
            self.looked_at, self.found, **curve_style(ax, name or self.name, curve_kwargs)
        )
        if self.base_rate is not None:
            draw_reference(ax, [0.0, self.base_rate, 1.0], [0.0, 1.0, 1.0], "best possible; random order")
        draw_reference(ax, [0.0, 1.0], [0.0, 1.0], "_random order")
        ax.set(xlim=(0.0, 1.0), ylim=(0.0, 1.02), xlabel="part of the list looked at", ylabel="hits found")
        percent_ticks(ax.xaxis)
        percent_ticks(ax.yaxis)
        finish(ax, legend="lower right")
        self.ax_, self.figure_ = ax, ax.figure
        return self
