"""What acting on probabilities is worth."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import ndtri

from pushrank._base.docstrings import shared_docs_from
from pushrank._base.numeric import Floats
from pushrank._base.validation import check_number
from pushrank.metrics._ranking import Ranking
from pushrank.metrics.net_benefit import check_probabilities
from pushrank.plots import axes
from pushrank.plots._display import Display, Options, ResponseMethod, estimator_name, estimator_scores

# Above one hit for every useless look few decisions are made.
THRESHOLDS = np.arange(1, 51) / 100.0


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
