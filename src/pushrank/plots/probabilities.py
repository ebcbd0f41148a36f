"""Probabilities against what came: shares of hits down the list, and what acting on them is worth."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import ndtri

from pushrank._docstrings import shared_docs_from
from pushrank._numeric import Floats
from pushrank.metrics._proportions import wilson_interval
from pushrank.metrics._ranking import Ranking
from pushrank.metrics.net_benefit import check_probabilities
from pushrank.plots import axes
from pushrank.plots._display import Display, Options, ResponseMethod, estimator_name, estimator_scores
from pushrank.validation import check_number

# The part of the width of a stretch that the markers of several models share.
WIDTH = 0.6
# Above one hit for every useless look few decisions are made.
THRESHOLDS = np.arange(1, 51) / 100.0


@shared_docs_from({
    "curve_kwargs": "Keywords of matplotlib's ``errorbar``.",
    "keywords": """probabilities : array-like of shape (n,), optional
    Predicted probabilities of a hit, from 0 to 1, beside the shares; by default those of an estimator.
confidence_level : float""",
})  # fmt: skip
@dataclass(kw_only=True, eq=False, repr=False)
class TopReliabilityDisplay(Display):
    r"""The share of hits in each stretch of the list, with intervals: it shows how far down it pays to go.

    .. math:: \frac{1}{b - a} \sum_i 1[a < \mathrm{rank}(i) \le b]

    ``compute`` costs O(n log n). Stretches end at 10, 20, 50, 100, 200, 500 and so on. Ties count by their
    expectation under a random order. The interval is Wilson's, of each stretch by itself. Murphy and Winkler,
    *Reliability of subjective probability forecasts*, Applied Statistics 26 (1977).

    Parameters
    ----------
    edges : ndarray of int, shape (m + 1,)
        The ranks after which each stretch begins, and the last rank.
    share : ndarray of float64, shape (m,)
        The share of hits in each stretch.
    low, high : ndarray of float64, shape (m,)
        The ends of an interval for each share.
    predicted : ndarray of float64, shape (m,), optional
        The mean predicted probability in each stretch, where the model gives one.
    base_rate : float, optional
        The share of hits among all rows, drawn as a line to compare with.
    name : str, optional

    Attributes
    ----------
    bars_ : matplotlib artist
        Markers and intervals, after ``plot``.
    %(where_drawn)s

    Examples
    --------
    >>> y, scores = [1] * 9 + [0] * 11, list(range(20, 0, -1))
    >>> display = TopReliabilityDisplay.compute(y, scores)
    >>> display.edges.tolist(), display.share.tolist()
    ([0, 10, 20], [0.9, 0.0])
    """

    edges: NDArray[np.int64]
    share: Floats
    low: Floats
    high: Floats
    predicted: Floats | None = None
    base_rate: float | None = None
    name: str | None = None

    @classmethod
    def compute(
        cls, y_true: ArrayLike, scores: ArrayLike, *, probabilities: ArrayLike | None = None,
        confidence_level: float = 0.95, pos_label: Any = None, name: str | None = None,
    ) -> Self:  # fmt: skip
        """%(without_drawing)s"""
        ranking = Ranking(y_true, scores, None, pos_label)
        edges = _stretches(ranking.n_rows)
        rows = np.diff(edges).astype(np.float64)
        hits = np.diff(ranking.hits_among(edges))
        low, high = wilson_interval(hits, rows, confidence_level)
        predicted = None
        if probabilities is not None:
            probability = np.asarray(probabilities, dtype=np.float64)
            if probability.shape != (ranking.n_rows,):
                raise ValueError(f"probabilities have shape {probability.shape}; need ({ranking.n_rows},).")
            if not ((probability >= 0.0) & (probability <= 1.0)).all():
                raise ValueError("probabilities must lie between 0 and 1.")
            order = np.argsort(-ranking.scores, kind="stable")
            predicted = np.add.reduceat(probability[order], edges[:-1]) / rows
        return cls(
            edges=edges, share=hits / rows, low=low, high=high, predicted=predicted,
            base_rate=ranking.base_rate, name=name,
        )  # fmt: skip

    @classmethod
    def from_predictions(
        cls, y_true: ArrayLike, scores: ArrayLike, *, probabilities: ArrayLike | None = None,
        confidence_level: float = 0.95, pos_label: Any = None, name: str | None = None, ax: Any = None,
        curve_kwargs: Options = None, plot_kwargs: Options = None,
    ) -> Self:  # fmt: skip
        """%(from_predictions)s"""
        return cls.compute(
            y_true, scores, probabilities=probabilities, confidence_level=confidence_level,
            pos_label=pos_label, name=name,
        ).plot(ax, **{"curve_kwargs": curve_kwargs, **(plot_kwargs or {})})  # fmt: skip

    @classmethod
    def from_estimator(
        cls, estimator: Any, X: Any, y: ArrayLike, *, response_method: ResponseMethod = "auto",
        probabilities: ArrayLike | None = None, confidence_level: float = 0.95, pos_label: Any = None,
        name: str | None = None, ax: Any = None, curve_kwargs: Options = None, plot_kwargs: Options = None,
    ) -> Self:  # fmt: skip
        """%(from_estimator)s"""
        if probabilities is None and hasattr(estimator, "predict_proba"):
            probabilities = estimator_scores(estimator, X, pos_label, "predict_proba")
        return cls.from_predictions(
            y, estimator_scores(estimator, X, pos_label, response_method), probabilities=probabilities,
            confidence_level=confidence_level, pos_label=pos_label, name=name or estimator_name(estimator),
            ax=ax, curve_kwargs=curve_kwargs, plot_kwargs=plot_kwargs,
        )  # fmt: skip

    def plot(self, ax: Any = None, *, name: str | None = None, curve_kwargs: Options = None) -> Self:
        """Draw a marker with its interval for each stretch, beside those of models drawn before.

        %(axes curve drawn)s
        """
        ax = axes.axes_or_new(ax)
        number = axes.curve_number(ax)
        style = axes.curve_style(ax, name or self.name, curve_kwargs)
        style["linestyle"] = (curve_kwargs or {}).get("linestyle", "none")
        gid = style.pop("gid")
        # Models are drawn alternately right and left of the middle, ever farther: eight of them fill WIDTH.
        aside = WIDTH * (-1) ** number * ((number + 1) // 2) / 8
        at = np.arange(len(self.share)) + aside
        # Rounding may put the share outside its interval, and errorbar refuses negative lengths.
        spread = np.maximum([self.share - self.low, self.high - self.share], 0.0)
        marked = {"marker": axes.MARKERS[number % len(axes.MARKERS)], "capsize": 3, **style}
        self.bars_ = ax.errorbar(at, self.share, spread, **marked)
        # Only the markers count as a curve, not the caps of the intervals.
        self.bars_.lines[0].set_gid(gid)
        if self.predicted is not None:
            dash = {"color": style["color"], "markersize": 14, "markeredgewidth": 2}
            ax.plot(at, self.predicted, "_", label=f"{name or self.name or 'model'}, predicted", **dash)
        if self.base_rate is not None:
            axes.draw_reference(ax, [-0.5, len(self.share) - 0.5], [self.base_rate] * 2, "all rows")
        labels = [f"{start + 1:,}–{stop:,}" for start, stop in pairwise(self.edges)]
        ax.set_xticks(np.arange(len(self.share)), labels, rotation=30, ha="right")
        ax.set(ylim=(-0.03, 1.04), xlabel="rank in the list", ylabel="share that are hits")
        axes.percent_ticks(ax.yaxis)
        return self._finished(ax)


def _stretches(n_rows: int) -> NDArray[np.int64]:
    """Return 0, 10, 20, 50, 100, 200, 500 and so on below ``n_rows``, and ``n_rows`` itself."""
    round_numbers = np.outer(10 ** np.arange(1, 19, dtype=np.int64), [1, 2, 5]).ravel()
    return np.concatenate([[0], round_numbers[round_numbers < n_rows], [n_rows]])


@shared_docs_from({
    "scores": "Probabilities of a hit.",
    "keywords": """thresholds : array-like of shape (m,), optional
    Chances strictly between 0 and 1, by default 0.01 to 0.5.
confidence_level : float""",
})  # fmt: skip
@dataclass(kw_only=True, eq=False, repr=False)
class DecisionCurveDisplay(Display):
    r"""The net benefit of acting on rows from a chance of a hit up, for every such threshold.

    .. math:: \mathrm{NB}(t) = \frac{\mathrm{TP}(t)}{n} - \frac{\mathrm{FP}(t)}{n} \cdot \frac{t}{1 - t}

    ``compute`` costs O(n log n). A net benefit is the mean of one number a row, and its interval the normal
    one of a mean, at each threshold by itself. Vickers and Elkin, *Decision curve analysis: a novel method
    for evaluating prediction models*, Medical Decision Making 26 (2006); Vickers, Cronin, Elkin and Gonen,
    BMC Medical Informatics and Decision Making 8 (2008), for its interval.

    Parameters
    ----------
    threshold : ndarray of float64, shape (m,)
        Chances of a hit at which acting is worth as much as leaving a row alone, ascending.
    net_benefit : ndarray of float64, shape (m,)
        What acting on the rows from each threshold up is worth, in hits a row.
    low, high : ndarray of float64, shape (m,)
        The ends of an interval for each.
    base_rate : float
        The share of positives, which gives the line of acting on all rows.
    %(curve_drawn)s

    Examples
    --------
    >>> display = DecisionCurveDisplay.compute([1, 0, 1, 0], [0.9, 0.6, 0.3, 0.1], thresholds=[0.2, 0.5])
    >>> display.net_benefit.tolist(), display.of_all.tolist()
    ([0.4375, 0.0], [0.375, 0.0])
    """

    threshold: Floats
    net_benefit: Floats
    low: Floats
    high: Floats
    base_rate: float
    name: str | None = None

    @property
    def of_all(self) -> Floats:
        """The net benefit of acting on all rows; that of acting on none is zero."""
        return self.base_rate - (1.0 - self.base_rate) * self.threshold / (1.0 - self.threshold)

    @classmethod
    def compute(
        cls, y_true: ArrayLike, scores: ArrayLike, *, thresholds: ArrayLike = THRESHOLDS,
        confidence_level: float = 0.95, pos_label: Any = None, name: str | None = None,
    ) -> Self:  # fmt: skip
        """%(without_drawing)s"""
        check_number("confidence_level", confidence_level, above=0.0, below=1.0)
        threshold = np.unique(np.asarray(thresholds, dtype=np.float64))
        if not len(threshold):
            raise ValueError("thresholds must hold at least one chance, found none.")
        for end in threshold[[0, -1]].tolist():
            check_number("thresholds", end, above=0.0, below=1.0)
        ranking = Ranking(y_true, scores, None, pos_label)
        check_probabilities(ranking.scores)
        of_class = ranking.positive_scores, ranking.negative_scores
        hits, misses = (len(chances) - np.searchsorted(np.sort(chances), threshold) for chances in of_class)
        n, odds = ranking.n_rows, threshold / (1.0 - threshold)
        benefit = (hits - misses * odds) / n
        variance = (hits + misses * odds**2) / n - benefit**2
        reach = float(ndtri(0.5 + 0.5 * confidence_level)) * np.sqrt(np.maximum(variance, 0.0) / n)
        return cls(
            threshold=threshold, net_benefit=benefit, low=benefit - reach, high=benefit + reach,
            base_rate=ranking.base_rate, name=name,
        )  # fmt: skip

    @classmethod
    def from_predictions(
        cls, y_true: ArrayLike, scores: ArrayLike, *, thresholds: ArrayLike = THRESHOLDS,
        confidence_level: float = 0.95, pos_label: Any = None, name: str | None = None, ax: Any = None,
        curve_kwargs: Options = None, plot_kwargs: Options = None,
    ) -> Self:  # fmt: skip
        """%(from_predictions)s"""
        return cls.compute(
            y_true, scores, thresholds=thresholds, confidence_level=confidence_level, pos_label=pos_label,
            name=name,
        ).plot(ax, **{"curve_kwargs": curve_kwargs, **(plot_kwargs or {})})  # fmt: skip

    @classmethod
    def from_estimator(
        cls, estimator: Any, X: Any, y: ArrayLike, *, response_method: ResponseMethod = "predict_proba",
        thresholds: ArrayLike = THRESHOLDS, confidence_level: float = 0.95, pos_label: Any = None,
        name: str | None = None, ax: Any = None, curve_kwargs: Options = None, plot_kwargs: Options = None,
    ) -> Self:  # fmt: skip
        """%(from_estimator)s"""
        return cls.from_predictions(
            y, estimator_scores(estimator, X, pos_label, response_method), thresholds=thresholds,
            confidence_level=confidence_level, pos_label=pos_label, name=name or estimator_name(estimator),
            ax=ax, curve_kwargs=curve_kwargs, plot_kwargs=plot_kwargs,
        )  # fmt: skip

    def plot(
        self, ax: Any = None, *, name: str | None = None, band: bool = True, curve_kwargs: Options = None
    ) -> Self:
        """Draw the curve, with those of acting on all rows and on none for comparison.

        %(curve_plotted)s
        """
        ax = axes.axes_or_new(ax)
        style = axes.curve_style(ax, name or self.name, curve_kwargs)
        (self.line_,) = ax.plot(self.threshold, self.net_benefit, **style)
        self.band_ = axes.draw_band(ax, self.threshold, self.low, self.high, self.line_) if band else None
        axes.draw_reference(ax, self.threshold, self.of_all, "acting on all rows; on none")
        axes.draw_reference(ax, self.threshold[[0, -1]], [0.0, 0.0], "_none")
        # The line of all rows falls far below what matters.
        ax.set_ylim(-0.1 * self.base_rate, 1.05 * self.base_rate)
        ax.set(xlabel="chance of a hit from which a row is acted on", ylabel="net benefit, hits a row")
        axes.percent_ticks(ax.xaxis)
        return self._finished(ax)
