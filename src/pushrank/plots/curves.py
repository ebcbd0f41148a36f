"""Curves down the list: precision, recall, lift and promised hits by depth, and the ROC curve's left edge."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, Self, get_args

import numpy as np
from numpy.typing import ArrayLike, NDArray

from pushrank._base.docstrings import shared_docs_from
from pushrank._base.numeric import Floats
from pushrank._base.validation import check_choice, check_number
from pushrank.metrics import HitsPromise, Measurement, guarantee, recall_at_k
from pushrank.metrics._proportions import wilson_interval
from pushrank.metrics._ranking import Ranking, checked_rankings
from pushrank.metrics._registry import bind_metric
from pushrank.metrics._sampling import Sampling
from pushrank.metrics.gains import CURVE_POINTS, log_spaced
from pushrank.metrics.intervals import ranking_intervals
from pushrank.plots import axes
from pushrank.plots._display import Display, Options, ResponseMethod, estimator_name, estimator_scores

__all__ = ["GuaranteeDisplay", "RocLeftEdgeDisplay", "TopCurveDisplay", "enrichment_figure"]

# Two sums of the same weights, added in another order, may differ by this part.
ROUNDING = 1e-12
N_BANDS, BAND_POINTS = 2, 40
"""The enrichment curves that have bands, and the shares of the list at which these are found."""
Quantity = Literal["precision", "recall", "lift"]


@shared_docs_from({
    "keywords": """quantity : {"precision", "recall", "lift"}
    The quantity to draw; only a curve of precisions without weights has an interval.
max_k : int, optional
    The last k, from 1 to n, by default n; with weights, n is their sum.
confidence_level : float
sample_weight : array-like of shape (n,), optional""",
})  # fmt: skip
@dataclass(kw_only=True, eq=False, repr=False)
class TopCurveDisplay(Display):
    r"""Precision, recall or lift among the first k rows, against k or the share of the list.

    .. math:: \mathrm{prec@}k = \frac{\mathrm{hits}(k)}{k}, \qquad
              \mathrm{recall@}k = \frac{\mathrm{hits}(k)}{I}, \qquad
              \mathrm{lift@}k = \frac{\mathrm{prec@}k}{I / n}

    Recall against the share of the list is called the cumulative gains curve.

    ``compute`` costs O(n log n). Ties count by their expectation under a random order. The interval is
    Wilson's, pointwise, at each k by itself; all k at once are :class:`GuaranteeDisplay`'s. It holds the
    scores fixed and treats the labels as independent draws; since the chances of the rows differ, it is a
    little too wide, never too narrow. The numbers by tenths are :func:`pushrank.metrics.gains_table`. Kar,
    Narasimhan and Jain, *Surrogate functions for maximizing precision at the top*, ICML 2015; Provost and
    Fawcett, *Data Science for Business* (2013), chapter 8, for gains; Ling and Li, *Data mining for direct
    marketing: problems and solutions*, KDD 1998, for the lift.

    Parameters
    ----------
    k : ndarray of float64, shape (m,)
        Numbers of first rows, ascending, dense at the start; with weights, what they weigh.
    hits : ndarray of float64, shape (m,)
        The positives among this many rows.
    n_rows, n_positives : float
        The number of all rows, and of all positives; with weights, what they weigh.
    quantity : {"precision", "recall", "lift"}, default="precision"
        The quantity that ``plot`` draws.
    low, high : ndarray of float64, shape (m,), optional
        The ends of an interval for each precision.
    %(curve_drawn)s

    Examples
    --------
    >>> display = TopCurveDisplay.compute([1, 0, 1, 0], [4.0, 3.0, 2.0, 1.0])
    >>> display.k.tolist(), display.precision.round(3).tolist()
    ([1.0, 2.0, 3.0, 4.0], [1.0, 0.5, 0.667, 0.5])
    >>> display.fraction.tolist(), display.recall.tolist()
    ([0.25, 0.5, 0.75, 1.0], [0.5, 0.5, 1.0, 1.0])
    """

    k: Floats
    hits: Floats
    n_rows: float
    n_positives: float
    quantity: Quantity = "precision"
    low: Floats | None = None
    high: Floats | None = None
    name: str | None = None

    @property
    def fraction(self) -> Floats:
        """The first rows as shares of the list."""
        return self.k / self.n_rows

    @property
    def base_rate(self) -> float:
        """The share of positives among all rows."""
        return self.n_positives / self.n_rows

    @property
    def precision(self) -> Floats:
        """The share of positives among the first rows."""
        return self.hits / self.k

    @property
    def recall(self) -> Floats:
        """The share of all positives that is among the first rows."""
        return self.hits / self.n_positives

    @property
    def lift(self) -> Floats:
        """The precision over that of a random order."""
        return self.precision / self.base_rate

    @classmethod
    def compute(
        cls, y_true: ArrayLike, scores: ArrayLike, *, quantity: Quantity = "precision",
        max_k: int | None = None, confidence_level: float = 0.95, sample_weight: ArrayLike | None = None,
        pos_label: Any = None, name: str | None = None,
    ) -> Self:  # fmt: skip
        """%(without_drawing)s"""
        check_choice("quantity", quantity, get_args(Quantity))
        ranking = Ranking(y_true, scores, sample_weight, pos_label)
        # Rows of whole weight are copies. Of other weights the unit is that of an average row.
        n_rows = round(ranking.total) if ranking.has_whole_weights else ranking.n_rows
        if max_k is not None:
            check_number("max_k", max_k, 1, integer=True)
            if max_k > n_rows:
                raise ValueError(f"max_k={max_k} must lie between 1 and the number of rows, {n_rows}.")
        last = max_k or n_rows
        rows = log_spaced(last)
        if quantity == "recall":
            # A linear axis shows the whole list, so half of the points are evenly spaced.
            even = np.linspace(0, last, CURVE_POINTS).round().astype(np.int64)
            rows = np.union1d(log_spaced(last, points=CURVE_POINTS // 2), even[even > 0])
        k: Floats = rows.astype(np.float64) * (ranking.total / n_rows)
        hits, low, high = ranking.hits_among(k), None, None
        if quantity == "precision" and sample_weight is None:
            # Interpolated hits may exceed k by rounding.
            low, high = wilson_interval(np.minimum(hits, k), k, confidence_level)
        return cls(
            k=k, hits=hits, n_rows=ranking.total, n_positives=ranking.total_positive, quantity=quantity,
            low=low, high=high, name=name,
        )  # fmt: skip

    @classmethod
    def from_predictions(
        cls, y_true: ArrayLike, scores: ArrayLike, *, quantity: Quantity = "precision",
        max_k: int | None = None, confidence_level: float = 0.95, sample_weight: ArrayLike | None = None,
        pos_label: Any = None, name: str | None = None, ax: Any = None, curve_kwargs: Options = None,
        plot_kwargs: Options = None,
    ) -> Self:  # fmt: skip
        """%(from_predictions)s"""
        return cls.compute(
            y_true, scores, quantity=quantity, max_k=max_k, confidence_level=confidence_level,
            sample_weight=sample_weight, pos_label=pos_label, name=name,
        ).plot(ax, **{"curve_kwargs": curve_kwargs, **(plot_kwargs or {})})  # fmt: skip

    @classmethod
    def from_estimator(
        cls, estimator: Any, X: Any, y: ArrayLike, *, response_method: ResponseMethod = "auto",
        quantity: Quantity = "precision", max_k: int | None = None, confidence_level: float = 0.95,
        sample_weight: ArrayLike | None = None, pos_label: Any = None, name: str | None = None,
        ax: Any = None, curve_kwargs: Options = None, plot_kwargs: Options = None,
    ) -> Self:  # fmt: skip
        """%(from_estimator)s"""
        return cls.from_predictions(
            y, estimator_scores(estimator, X, pos_label, response_method), quantity=quantity, max_k=max_k,
            confidence_level=confidence_level, sample_weight=sample_weight, pos_label=pos_label,
            name=name or estimator_name(estimator), ax=ax, curve_kwargs=curve_kwargs, plot_kwargs=plot_kwargs,
        )  # fmt: skip

    def plot(
        self, ax: Any = None, *, name: str | None = None, band: bool = True, curve_kwargs: Options = None
    ) -> Self:
        """Draw the quantity, with the best possible list and a random order for comparison.

        The axis of k is logarithmic, except that of the recall.

        %(curve_plotted)s
        """
        ax = axes.axes_or_new(ax)
        x, y = self.k if self.quantity == "precision" else self.fraction, getattr(self, self.quantity)
        if self.quantity == "recall":
            x, y = np.append(0.0, x), np.append(0.0, y)
        (self.line_,) = ax.plot(x, y, **axes.curve_style(ax, name or self.name, curve_kwargs))
        self.band_ = axes.draw_band(ax, x, self.low, self.high, self.line_) if band else None
        if self.quantity == "precision":
            axes.draw_reference(ax, [1, x[-1]], [self.base_rate] * 2, "all rows")
            ax.set(xscale="log", ylim=(-0.03, 1.04), xlabel="rows looked at, k", ylabel="share that are hits")
            axes.count_ticks(ax.xaxis)
            axes.percent_ticks(ax.yaxis)
        elif self.quantity == "recall":
            shares = np.array([0.0, self.base_rate, 1.0])
            _draw_references(ax, shares, shares, self.base_rate)
            ax.set(xlim=(0.0, 1.0), ylim=(0.0, 1.02), ylabel="hits found")
            axes.percent_ticks(ax.yaxis)
        else:
            _draw_references(ax, np.geomspace(x[0], 1.0, 100), 1.0, self.base_rate)
            ax.set(xscale="log", ylabel="lift")
            ax.set_ylim(bottom=0.0)
        if self.quantity != "precision":
            ax.set_xlabel("part of the list looked at")
            axes.percent_ticks(ax.xaxis)
        return self._finished(ax, "lower right" if self.quantity == "recall" else "best")


@shared_docs_from({
    "keywords": """sample_weight : array-like of shape (n,), optional
    Non-negative weights; an integer weight equals that many copies.""",
})  # fmt: skip
@dataclass(kw_only=True, eq=False, repr=False)
class RocLeftEdgeDisplay(Display):
    r"""The ROC curve on a logarithmic axis: the share of hits above each false alarm.

    .. math:: \mathrm{TPR}(j / K) = \frac{1}{I}\, \#\{i : \text{at most } j \text{ negatives stand above } i\}

    ``compute`` costs O(n log n). Ties count by their expectation under a random order. The axis is linear
    from no false alarm to one, and logarithmic from there. Fawcett, *An introduction to ROC analysis*,
    Pattern Recognition Letters 27 (2006).

    Parameters
    ----------
    false_alarms : ndarray of int, shape (m,)
        Numbers j of negatives that are passed, ascending from 0.
    tpr : ndarray of float64, shape (m,)
        The share of the positives above the next negative.
    n_negative : int
        The number of negatives, which turns false alarms into the false positive rate.
    %(curve_drawn)s

    Examples
    --------
    >>> display = RocLeftEdgeDisplay.compute([1, 0, 1, 0], [4.0, 3.0, 2.0, 1.0])
    >>> display.false_alarms.tolist(), display.tpr.tolist()
    ([0, 1, 2], [0.5, 1.0, 1.0])
    """

    false_alarms: NDArray[np.int64]
    tpr: Floats
    n_negative: int
    name: str | None = None

    @property
    def fpr(self) -> Floats:
        """The false positive rates."""
        return self.false_alarms / self.n_negative

    @classmethod
    def compute(
        cls, y_true: ArrayLike, scores: ArrayLike, *, sample_weight: ArrayLike | None = None,
        pos_label: Any = None, name: str | None = None,
    ) -> Self:  # fmt: skip
        """%(without_drawing)s"""
        ranking = Ranking(y_true, scores, sample_weight, pos_label)
        n_negative = len(ranking.negative_scores)
        false_alarms = log_spaced(n_negative, first=0)
        misses = false_alarms.astype(np.float64)
        if sample_weight is not None:
            # The unit is the average weight of a negative; the factor keeps the last sum from falling short.
            misses *= ranking.total_negative / n_negative * (1.0 + ROUNDING)
        hits = ranking.hits_above_misses(misses)
        tpr = hits / hits[-1]
        return cls(false_alarms=false_alarms, tpr=tpr, n_negative=n_negative, name=name)

    @classmethod
    def from_predictions(
        cls, y_true: ArrayLike, scores: ArrayLike, *, sample_weight: ArrayLike | None = None,
        pos_label: Any = None, name: str | None = None, ax: Any = None, curve_kwargs: Options = None,
        plot_kwargs: Options = None,
    ) -> Self:  # fmt: skip
        """%(from_predictions)s"""
        return cls.compute(
            y_true, scores, sample_weight=sample_weight, pos_label=pos_label, name=name
        ).plot(ax, **{"curve_kwargs": curve_kwargs, **(plot_kwargs or {})})  # fmt: skip

    @classmethod
    def from_estimator(
        cls, estimator: Any, X: Any, y: ArrayLike, *, response_method: ResponseMethod = "auto",
        sample_weight: ArrayLike | None = None, pos_label: Any = None, name: str | None = None,
        ax: Any = None, curve_kwargs: Options = None, plot_kwargs: Options = None,
    ) -> Self:  # fmt: skip
        """%(from_estimator)s"""
        return cls.from_predictions(
            y, estimator_scores(estimator, X, pos_label, response_method), sample_weight=sample_weight,
            pos_label=pos_label, name=name or estimator_name(estimator), ax=ax, curve_kwargs=curve_kwargs,
            plot_kwargs=plot_kwargs,
        )  # fmt: skip

    def plot(self, ax: Any = None, *, name: str | None = None, curve_kwargs: Options = None) -> Self:
        """Draw the curve.

        %(axes curve drawn)s
        """
        ax = axes.axes_or_new(ax)
        style = {"drawstyle": "steps-post", **axes.curve_style(ax, name or self.name, curve_kwargs)}
        (self.line_,) = ax.plot(self.fpr, self.tpr, **style)
        # A logarithmic axis has no zero, so it is linear up to the first false alarm.
        first_rate = 1.0 / self.n_negative
        chance = np.concatenate([[0.0], np.geomspace(first_rate, 1.0, 100)])
        axes.draw_reference(ax, chance, chance, "random order")
        ax.set_xscale("symlog", linthresh=first_rate, linscale=0.3)
        ax.set(xlim=(0.0, 1.0), ylim=(-0.02, 1.02), xlabel="false positive rate", ylabel="hits found")
        decades = 10.0 ** np.arange(np.ceil(np.log10(first_rate)), 1)
        ax.set_xticks([0.0, *decades[decades > 1.5 * first_rate]])
        axes.percent_ticks(ax.xaxis, ax.yaxis)
        return self._finished(ax)


@shared_docs_from({
    "keywords": """k : int or sequence of int, optional
    The depths that matter most, from 1 to `n_new`.
n_new : int, optional
    The number of rows to come; by default as many as are labelled.
confidence_level : float""",
})  # fmt: skip
@dataclass(kw_only=True, eq=False, repr=False)
class GuaranteeDisplay(Display):
    r"""Hits by depth of a list to come: what is promised, as steps, and what is expected, above them.

    .. math:: P(H_k \ge L_k \text{ for all } k) \ge 1 - \delta

    The steps hold at all depths at once, those of the table and by ``hits_at`` those between. O(n log n).

    Parameters
    ----------
    guarantee : HitsPromise
        What :func:`pushrank.metrics.guarantee` returned, of any settings.
    name : str, optional

    Attributes
    ----------
    line_, band_, expected_ : matplotlib artists
        The steps, what lies between, and the expected hits, which promise nothing, after ``plot``.
    %(where_drawn)s

    Examples
    --------
    >>> display = GuaranteeDisplay.compute([1] * 60 + [0] * 340, range(400, 0, -1), k=20, n_new=200)
    >>> display.guarantee.sentence(20)
    'With 95 % confidence, of the next 200 rows the first 20 hold at least 15 hits.'
    """

    guarantee: HitsPromise
    name: str | None = None

    @classmethod
    def compute(
        cls, y_true: ArrayLike, scores: ArrayLike, *, k: int | Sequence[int] | None = None,
        n_new: int | None = None, confidence_level: float = 0.95, pos_label: Any = None,
        name: str | None = None,
    ) -> Self:  # fmt: skip
        """%(without_drawing)s"""
        settings = {"confidence_level": confidence_level, "pos_label": pos_label}
        return cls(guarantee=guarantee(y_true, scores, k=k, n_new=n_new, **settings), name=name)

    @classmethod
    def from_predictions(
        cls, y_true: ArrayLike, scores: ArrayLike, *, k: int | Sequence[int] | None = None,
        n_new: int | None = None, confidence_level: float = 0.95, pos_label: Any = None,
        name: str | None = None, ax: Any = None, curve_kwargs: Options = None, plot_kwargs: Options = None,
    ) -> Self:  # fmt: skip
        """%(from_predictions)s"""
        return cls.compute(
            y_true, scores, k=k, n_new=n_new, confidence_level=confidence_level, pos_label=pos_label,
            name=name,
        ).plot(ax, **{"curve_kwargs": curve_kwargs, **(plot_kwargs or {})})  # fmt: skip

    @classmethod
    def from_estimator(
        cls, estimator: Any, X: Any, y: ArrayLike, *, response_method: ResponseMethod = "auto",
        k: int | Sequence[int] | None = None, n_new: int | None = None, confidence_level: float = 0.95,
        pos_label: Any = None, name: str | None = None, ax: Any = None, curve_kwargs: Options = None,
        plot_kwargs: Options = None,
    ) -> Self:  # fmt: skip
        """%(from_estimator)s"""
        return cls.from_predictions(
            y, estimator_scores(estimator, X, pos_label, response_method), k=k, n_new=n_new,
            confidence_level=confidence_level, pos_label=pos_label, name=name or estimator_name(estimator),
            ax=ax, curve_kwargs=curve_kwargs, plot_kwargs=plot_kwargs,
        )  # fmt: skip

    def plot(self, ax: Any = None, *, name: str | None = None, curve_kwargs: Options = None) -> Self:
        """Draw the steps by depth on a logarithmic axis, the expected hits, and those of a random order.

        %(axes curve drawn)s
        """
        ax, found = axes.axes_or_new(ax), self.guarantee
        k = np.union1d(log_spaced(found.n_new), found.depth)
        hits, expected = found.hits_at(k), np.interp(k, found.depth, found.expected_hits, np.nan, np.nan)
        of_list = f"{name or self.name}: " if name or self.name else ""
        label = f"{of_list}at least, at {100 * found.confidence_level:g} %"
        style = axes.curve_style(ax, label, curve_kwargs)
        (self.line_,) = ax.plot(k, hits, drawstyle="steps-post", **style)
        self.band_ = axes.draw_band(ax, k, hits, expected, self.line_)
        look = {"color": style["color"], "linewidth": 0.8, "markersize": 3, "label": f"{of_list}expected"}
        (self.expected_,) = ax.plot(found.depth, found.expected_hits, ".-", **look)
        # Only a table of all depths says how many hits there are in all.
        if found.depth[-1] == found.n_new:
            axes.draw_reference(ax, k, k / found.n_new * expected[-1], "random order")
        ax.set(xscale="log", xlabel=f"rows looked at, of {found.n_new:,} to come", ylabel="hits")
        axes.count_ticks(ax.xaxis)
        return self._finished(ax, "upper left")


def _draw_references(ax: Any, shares: Floats, chance: Floats | float, base_rate: float) -> None:
    """Draw a quantity of the best possible list and of a random order, whose quantity is ``chance``."""
    # The best possible list has only positives until there are no more.
    best = chance / np.maximum(shares, base_rate)
    axes.draw_reference(ax, shares, best, "best possible; random order")
    axes.draw_reference(ax, shares, np.broadcast_to(chance, shares.shape), "_random order")


def enrichment_figure(
    measured: Measurement, y: Any, scores: Mapping[str, Floats], weight: Any, groups: Any,
    fractions: Sequence[float], seed: int,
) -> Any:  # fmt: skip
    """Return a figure of the positives found against the share of the list, on a logarithmic axis."""
    # The two lists that are best by the first figure at a chosen share, or else by hits, have the intervals
    # of `measure` as bands, at each share by itself. Markers are at the fractions.
    from matplotlib.figure import Figure

    by, level = measured.to_paper()["measure"].iloc[0], measured.confidence_level
    leaders = sorted(scores, key=lambda model: -measured.measures[model][by].estimate)[:N_BANDS]
    shares = np.geomspace(min([0.001, *fractions]), 1.0, BAND_POINTS)
    figure = Figure(figsize=(6.4, 4.4), layout="constrained")
    ax = figure.subplots()
    rankings = checked_rankings(y, list(scores.values()), weight, None, None, groups)
    for number, (model, ranking) in enumerate(zip(scores, rankings, strict=True)):
        curve = TopCurveDisplay.compute(y, scores[model], quantity="recall", sample_weight=weight)
        marked = np.searchsorted(curve.fraction, fractions or (0.01, 0.1)).clip(max=len(curve.k) - 1)
        look = {"marker": axes.MARKERS[number % len(axes.MARKERS)], "markevery": marked.tolist()}
        look["linewidth"] = 2.0 if model in leaders else 1.2
        (line,) = ax.plot(curve.fraction, curve.recall, **axes.curve_style(ax, model, look))
        if model in leaders and level is not None:
            recalls = [bind_metric(recall_at_k, fraction=share) for share in shares[:-1]]
            sampling = Sampling(level, measured.n_resamples, seed, may_be_nan=True)
            ends = [(low, high) for low, high, *_ in ranking_intervals(ranking, recalls, sampling)]
            low, high = np.transpose([*ends, (1.0, 1.0)])
            axes.draw_band(ax, shares, low, high, line)
            # The outline tells bands apart where they overlap, and without colour.
            ax.plot(shares, [*ends, (1.0, 1.0)], color=line.get_color(), ls=line.get_linestyle(), lw=0.6)
    _draw_references(ax, shares, shares, measured.n_positives / measured.n_rows)
    counted = f"{measured.n_positives:,.10g} positives in {measured.n_rows:,.10g} rows"
    shaded = f"\nshaded: {100 * (level or 0.0):g} % intervals of {' and '.join(leaders)}"
    ax.set_title(counted + shaded * (level is not None), fontsize="medium")
    ax.set(xscale="log", xlim=(shares[0], 1.0), xlabel="part of the list looked at")
    ax.set(ylim=(0.0, 1.02), ylabel="part of the positives found")
    axes.percent_ticks(ax.xaxis, ax.yaxis)
    axes.finish(ax, "upper left")
    return figure
