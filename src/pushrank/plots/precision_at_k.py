"""The share of hits among the first k rows, for every k."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike

from pushrank._log_space import Floats
from pushrank.metrics.ranks import Ranking
from pushrank.plots._axes import (
    axes_or_new,
    count_ticks,
    curve_style,
    draw_band,
    draw_reference,
    finish,
    percent_ticks,
)
from pushrank.plots._display import RankingDisplay, ResponseMethod, name_of, scores_of, with_curve
from pushrank.plots.depths import ListDepths, curve_places, share_interval


class PrecisionAtKDisplay(RankingDisplay):
    r"""Precision at k against k: how many of the first k rows are hits.

    .. math:: \mathrm{prec@}k = \frac{1}{k} \sum_i 1[\mathrm{rank}(i) \le k]

    Parameters
    ----------
    k : ndarray of int, shape (m,)
        Numbers of rows, ascending, dense at the start.
    precision : ndarray of float64, shape (m,)
        The share of hits among so many rows, between 0 and 1.
    low, high : ndarray of float64, shape (m,), optional
        The ends of an interval for each share.
    base_rate : float, optional
        The share of hits among all rows, drawn as a line to compare with.
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
    ``compute`` costs O(n log n). Ties count by their expectation under a random order. The interval is
    Wilson's, at each k by itself: it holds the scores fixed and the labels drawn one by one, and is then a
    little too wide, never too narrow, as the rows' chances differ.

    References
    ----------
    Kar, Narasimhan and Jain, *Surrogate functions for maximizing precision at the top*, ICML 2015.

    Examples
    --------
    >>> display = PrecisionAtKDisplay.compute([1, 0, 1, 0], [4.0, 3.0, 2.0, 1.0])
    >>> display.k.tolist(), display.precision.round(3).tolist()
    ([1, 2, 3, 4], [1.0, 0.5, 0.667, 0.5])
    """

    def __init__(
        self,
        *,
        k: ArrayLike,
        precision: Floats,
        low: Floats | None = None,
        high: Floats | None = None,
        base_rate: float | None = None,
        name: str | None = None,
    ) -> None:
        self.k = np.asarray(k)
        self.precision = precision
        self.low, self.high = low, high
        self.base_rate = base_rate
        self.name = name

    @classmethod
    def compute(
        cls,
        y_true: ArrayLike,
        scores: ArrayLike,
        *,
        max_k: int | None = None,
        confidence_level: float = 0.95,
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
        max_k : int, optional
            The last k, from 1 to n, by default n; with weights, to their sum.
        confidence_level : float, default=0.95
            The chance with which the interval at one k covers, in (0, 1).
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
            When there are not two classes, a score is not finite, lengths differ, weights do not fit, or a
            setting is out of range.
        """
        depths = ListDepths(Ranking(y_true, scores, sample_weight, pos_label))
        most = int(depths.total)
        if most < 1:
            raise ValueError(f"sample_weight adds up to {depths.total:g}, less than the one row of k = 1.")
        if max_k is not None and not 1 <= max_k <= most:
            raise ValueError(f"max_k={max_k} must lie between 1 and the number of rows, {most}.")
        k = curve_places(max_k or most)
        hits = depths.hits_among(k)
        low, high = share_interval(np.minimum(hits, k), k.astype(np.float64), confidence_level)
        return cls(
            k=k,
            precision=hits / k,
            low=low if sample_weight is None else None,
            high=high if sample_weight is None else None,
            base_rate=depths.total_positive / depths.total,
            name=name,
        )

    @classmethod
    def from_predictions(
        cls,
        y_true: ArrayLike,
        scores: ArrayLike,
        *,
        max_k: int | None = None,
        confidence_level: float = 0.95,
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
            max_k=max_k,
            confidence_level=confidence_level,
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
        max_k: int | None = None,
        confidence_level: float = 0.95,
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
            max_k=max_k,
            confidence_level=confidence_level,
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
        """Draw the curve on a logarithmic axis of k.

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
        PrecisionAtKDisplay
            This display.

        Raises
        ------
        ImportError
            When matplotlib is not installed.
        """
        ax = axes_or_new(ax)
        style = curve_style(ax, name or self.name, curve_kwargs)
        (self.line_,) = ax.plot(self.k, self.precision, **style)
        self.band_ = None
        if band and self.low is not None and self.high is not None:
            self.band_ = draw_band(ax, self.k, self.low, self.high, self.line_)
        if self.base_rate is not None:
            draw_reference(ax, [1, self.k[-1]], [self.base_rate] * 2, "all rows")
        ax.set(xscale="log", ylim=(-0.03, 1.04), xlabel="rows looked at, k", ylabel="share that are hits")
        count_ticks(ax.xaxis)
        percent_ticks(ax.yaxis)
        finish(ax)
        self.ax_, self.figure_ = ax, ax.figure
        return self
