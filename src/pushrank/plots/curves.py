"""Curves down the list: precision at k, cumulative gains, lift and the left edge of the ROC curve."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from pushrank._numeric import Floats
from pushrank._validation import check_number
from pushrank.metrics import roc_band
from pushrank.metrics._proportions import wilson_interval
from pushrank.metrics._ranking import Ranking
from pushrank.metrics.gains import CURVE_POINTS, log_spaced
from pushrank.plots._axes import (
    axes_or_new,
    count_ticks,
    curve_style,
    draw_band,
    draw_reference,
    finish,
    percent_ticks,
)
from pushrank.plots._display import RankingDisplay
from pushrank.plots._docstrings import written_out

# Two sums of the same weights, added in another order, may differ by this part.
ROUNDING = 1e-12


@written_out
@dataclass(kw_only=True, eq=False, repr=False)
class PrecisionAtKDisplay(RankingDisplay):
    r"""Precision at k against k: the share of hits among the first k rows.

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
        The name of the curve in the legend.

    Attributes
    ----------
    line_, band_ : matplotlib artists
        The curve and its interval, after ``plot``.
    ax_, figure_ : matplotlib Axes and Figure
        Where they were drawn.

    Notes
    -----
    ``compute`` costs O(n log n). Ties count by their expectation under a random order. The interval is
    Wilson's, at each k by itself. It holds the scores fixed and treats the labels as independent draws; since
    the chances of the rows differ, it is a little too wide, never too narrow.

    References
    ----------
    Kar, Narasimhan and Jain, *Surrogate functions for maximizing precision at the top*, ICML 2015.

    Examples
    --------
    >>> display = PrecisionAtKDisplay.compute([1, 0, 1, 0], [4.0, 3.0, 2.0, 1.0])
    >>> display.k.tolist(), display.precision.round(3).tolist()
    ([1, 2, 3, 4], [1.0, 0.5, 0.667, 0.5])
    """

    k: NDArray[np.int64]
    precision: Floats
    low: Floats | None = None
    high: Floats | None = None
    base_rate: float | None = None
    name: str | None = None

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
        max_k : int, optional
            The last k, from 1 to n, by default n; with weights, to their sum.
        sample_weight : array-like of shape (n,), optional
            Non-negative weights; a row of whole weight counts as that many copies of itself. There is no
            interval with them.

        """
        ranking = Ranking(y_true, scores, sample_weight, pos_label)
        # Rounding must not cut off the last row.
        most = int(ranking.total * (1.0 + ROUNDING))
        if most < 1:
            raise ValueError(f"sample_weight adds up to {ranking.total:g}, less than the one row of k = 1.")
        if max_k is not None:
            check_number("max_k", max_k, 1, integer=True)
        if max_k is not None and max_k > most:
            raise ValueError(f"max_k={max_k} must lie between 1 and the number of rows, {most}.")
        k = log_spaced(max_k or most)
        hits = ranking.hits_among(k)
        # Sums of weights may exceed k by rounding.
        low, high = wilson_interval(np.minimum(hits, k), k.astype(np.float64), confidence_level)
        return cls(
            k=k,
            precision=hits / k,
            low=low if sample_weight is None else None,
            high=high if sample_weight is None else None,
            base_rate=ranking.base_rate,
            name=name,
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
        band : bool, default=True
            Whether to shade the interval.
        """
        ax = axes_or_new(ax)
        style = curve_style(ax, name or self.name, curve_kwargs)
        (self.line_,) = ax.plot(self.k, self.precision, **style)
        self.band_ = draw_band(ax, self.k, self.low, self.high, self.line_) if band else None
        if self.base_rate is not None:
            draw_reference(ax, [1, self.k[-1]], [self.base_rate] * 2, "all rows")
        ax.set(xscale="log", ylim=(-0.03, 1.04), xlabel="rows looked at, k", ylabel="share that are hits")
        count_ticks(ax.xaxis)
        percent_ticks(ax.yaxis)
        finish(ax)
        return self._drawn_in(ax)


@written_out
@dataclass(kw_only=True, eq=False, repr=False)
class CumulativeGainsDisplay(RankingDisplay):
    r"""Cumulative gains: the recall among the first rows against their share of the list.

    .. math:: G(k / n) = \frac{1}{I} \sum_i 1[\mathrm{rank}(i) \le k]

    Parameters
    ----------
    fraction : ndarray of float64, shape (m,)
        Shares of the list, from 0 to 1.
    recall : ndarray of float64, shape (m,)
        The share of the positives among so many rows.
    base_rate : float, optional
        The share of positives among all rows, which bounds what any ranking can find.
    name : str, optional
        The name of the curve in the legend.

    Attributes
    ----------
    line_ : matplotlib artist
        The curve, after ``plot``.
    ax_, figure_ : matplotlib Axes and Figure
        Where it was drawn.

    Notes
    -----
    ``compute`` costs O(n log n). Ties count by their expectation under a random order.

    References
    ----------
    Provost and Fawcett, *Data Science for Business* (2013), chapter 8.

    Examples
    --------
    >>> display = CumulativeGainsDisplay.compute([1, 0, 1, 0], [4.0, 3.0, 2.0, 1.0])
    >>> display.fraction.tolist(), display.recall.tolist()
    ([0.0, 0.25, 0.5, 0.75, 1.0], [0.0, 0.5, 0.5, 1.0, 1.0])
    """

    fraction: Floats
    recall: Floats
    base_rate: float | None = None
    name: str | None = None

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
        """Compute the curve without drawing it."""
        ranking = Ranking(y_true, scores, sample_weight, pos_label)
        # Even points show the whole list; the denser start shows its top, where the curve is steepest.
        even = np.linspace(0, ranking.n_rows, CURVE_POINTS).round().astype(np.int64)
        rows = np.union1d(log_spaced(ranking.n_rows, first=0, points=CURVE_POINTS // 2), even)
        hits = ranking.hits_among(rows * (ranking.total / ranking.n_rows))
        return cls(
            fraction=rows / ranking.n_rows,
            recall=hits / hits[-1],
            base_rate=ranking.base_rate,
            name=name,
        )

    def plot(
        self, ax: Any = None, *, name: str | None = None, curve_kwargs: dict[str, Any] | None = None
    ) -> Self:
        """Draw the curve, with the best that is possible and a random order to compare with."""
        ax = axes_or_new(ax)
        (self.line_,) = ax.plot(
            self.fraction, self.recall, **curve_style(ax, name or self.name, curve_kwargs)
        )
        if self.base_rate is not None:
            draw_reference(ax, [0.0, self.base_rate, 1.0], [0.0, 1.0, 1.0], "best possible; random order")
        # The legend names both references in one entry.
        draw_reference(ax, [0.0, 1.0], [0.0, 1.0], "_random order")
        ax.set(xlim=(0.0, 1.0), ylim=(0.0, 1.02), xlabel="part of the list looked at", ylabel="hits found")
        percent_ticks(ax.xaxis)
        percent_ticks(ax.yaxis)
        finish(ax, legend="lower right")
        return self._drawn_in(ax)


@written_out
@dataclass(kw_only=True, eq=False, repr=False)
class LiftDisplay(RankingDisplay):
    r"""Lift against the share of the list: how many times as many hits as in a random order.

    .. math:: \mathrm{lift}(k / n) = \frac{\mathrm{prec@}k}{I / n}

    Parameters
    ----------
    fraction : ndarray of float64, shape (m,)
        Shares of the list, above 0 and up to 1, dense at the start.
    lift : ndarray of float64, shape (m,)
        The precision among so many rows over the share of hits among all.
    base_rate : float, optional
        The share of positives among all rows, which bounds what any ranking can reach.
    name : str, optional
        The name of the curve in the legend.

    Attributes
    ----------
    line_ : matplotlib artist
        The curve, after ``plot``.
    ax_, figure_ : matplotlib Axes and Figure
        Where it was drawn.

    Notes
    -----
    ``compute`` costs O(n log n). Ties count by their expectation under a random order. The numbers by tenths
    are :func:`pushrank.metrics.gains_table`.

    References
    ----------
    Ling and Li, *Data mining for direct marketing: problems and solutions*, KDD 1998.

    Examples
    --------
    >>> display = LiftDisplay.compute([1, 0, 1, 0], [4.0, 3.0, 2.0, 1.0])
    >>> display.fraction.tolist(), display.lift.round(3).tolist()
    ([0.25, 0.5, 0.75, 1.0], [2.0, 1.0, 1.333, 1.0])
    """

    fraction: Floats
    lift: Floats
    base_rate: float | None = None
    name: str | None = None

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
        """Compute the curve without drawing it."""
        ranking = Ranking(y_true, scores, sample_weight, pos_label)
        shares = log_spaced(ranking.n_rows) / ranking.n_rows
        hits = ranking.hits_among(shares * ranking.total)
        return cls(fraction=shares, lift=hits / hits[-1] / shares, base_rate=ranking.base_rate, name=name)

    def plot(
        self, ax: Any = None, *, name: str | None = None, curve_kwargs: dict[str, Any] | None = None
    ) -> Self:
        """Draw the curve on a logarithmic axis, with the best that is possible and a random order."""
        ax = axes_or_new(ax)
        (self.line_,) = ax.plot(self.fraction, self.lift, **curve_style(ax, name or self.name, curve_kwargs))
        # The best possible list has only positives until there are no more.
        if self.base_rate is not None:
            shares = np.geomspace(self.fraction[0], 1.0, 100)
            best = 1.0 / np.maximum(shares, self.base_rate)
            draw_reference(ax, shares, best, "best possible; random order")
        draw_reference(ax, [self.fraction[0], 1.0], [1.0, 1.0], "_random order")
        ax.set(xscale="log", xlabel="part of the list looked at", ylabel="lift")
        ax.set_ylim(bottom=0.0)
        percent_ticks(ax.xaxis)
        finish(ax)
        return self._drawn_in(ax)


@written_out
@dataclass(kw_only=True, eq=False, repr=False)
class RocLeftEdgeDisplay(RankingDisplay):
    r"""The ROC curve on a logarithmic axis: the share of hits above each false alarm.

    .. math:: \mathrm{TPR}(j / K) = \frac{1}{I}\, \#\{i : \text{at most } j \text{ negatives stand above } i\}

    Parameters
    ----------
    false_alarms : ndarray of int, shape (m,)
        Numbers j of negatives that are passed, ascending from 0.
    tpr : ndarray of float64, shape (m,)
        The share of the positives above the next negative.
    n_negative : int
        The number of negatives, which turns false alarms into the false positive rate.
    low, high : ndarray of float64, shape (m,), optional
        The ends of a confidence interval for each share.
    name : str, optional
        The name of the curve in the legend.

    Attributes
    ----------
    line_, band_ : matplotlib artists
        The curve and its interval, after ``plot``.
    ax_, figure_ : matplotlib Axes and Figure
        Where they were drawn.

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

    false_alarms: NDArray[np.int64]
    tpr: Floats
    n_negative: int
    low: Floats | None = None
    high: Floats | None = None
    name: str | None = None

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
        simultaneous : bool, default=False
            Whether the band covers the curve at all points at once, or at each by itself.
        sample_weight : array-like of shape (n,), optional
            Non-negative weights; a row of whole weight counts as that many copies of itself. There is no
            interval with them.

        """
        ranking = Ranking(y_true, scores, sample_weight, pos_label)
        n_negative = len(ranking.negative_scores)
        false_alarms = log_spaced(n_negative, first=0)
        low = high = None
        misses = false_alarms.astype(np.float64)
        if sample_weight is not None:
            # The unit is the average weight of a negative; the factor keeps the last sum from falling short.
            misses *= ranking.total_negative / n_negative * (1.0 + ROUNDING)
        else:
            _, _, low, high = roc_band(
                y_true,
                scores,
                false_positive_rates=false_alarms / n_negative,
                simultaneous=simultaneous,
                confidence_level=confidence_level,
                pos_label=pos_label,
            )
        hits = ranking.hits_above_misses(misses)
        return cls(
            false_alarms=false_alarms,
            tpr=hits / hits[-1],
            n_negative=n_negative,
            low=low,
            high=high,
            name=name,
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
        band : bool, default=True
            Whether to shade the interval.
        """
        ax = axes_or_new(ax)
        style = {"drawstyle": "steps-post", **curve_style(ax, name or self.name, curve_kwargs)}
        (self.line_,) = ax.plot(self.fpr, self.tpr, **style)
        self.band_ = draw_band(ax, self.fpr, self.low, self.high, self.line_, step="post") if band else None
        # A logarithmic axis has no zero, so it is linear up to the first false alarm.
        first_rate = 1.0 / self.n_negative
        chance = np.concatenate([[0.0], np.geomspace(first_rate, 1.0, 100)])
        draw_reference(ax, chance, chance, "random order")
        ax.set_xscale("symlog", linthresh=first_rate, linscale=0.3)
        ax.set(xlim=(0.0, 1.0), ylim=(-0.02, 1.02), xlabel="false positive rate", ylabel="hits found")
        decades = 10.0 ** np.arange(np.ceil(np.log10(first_rate)), 1)
        ax.set_xticks([0.0, *decades[decades > 1.5 * first_rate]])
        percent_ticks(ax.xaxis)
        percent_ticks(ax.yaxis)
        finish(ax)
        return self._drawn_in(ax)
