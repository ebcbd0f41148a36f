"""What ``pushrank evaluate`` measures, with what chance may do to it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from pushrank import metrics
from pushrank.metrics._ranking import Ranking
from pushrank.metrics.intervals import ranking_intervals

CONFIDENCE_LEVEL = 0.95
MOST_RESAMPLES, FEWEST_RESAMPLES = 1000, 200
ROWS_DRAWN = 100_000_000
"""In all resamples, where these are neither the most nor the fewest: some seconds."""

REST = {
    "precision_at_quarter": "precision among the first 1/4 as many rows as positives",
    "precision_at_positives": "precision among as many rows as positives",
    "discounted_cumulative_gain": "discounted cumulative gain (log2)",
    "discounted_cumulative_gain_natural": "discounted cumulative gain (natural log)",
    "average_reciprocal_rank": "sum of reciprocal ranks",
    "r_max": "positives below the best negative",
    "log_r4": "(1/4) ln of the 4-norm error",
}
"""The measures of :func:`pushrank.metrics.top_of_list` that are not of the short table, and what they are."""


class Interval(NamedTuple):
    """The ends of a confidence interval."""

    low: float
    high: float


@dataclass
class TopMeasures:
    """The measures of a ranking at the top of its list.

    Those of the first rows count ties by their expectation under a random order. The number of positives
    at the top is an extreme, for which resampling promises no coverage: it has no interval, and neither has
    what is the same in every resample.

    Parameters
    ----------
    y : ndarray of bool, shape (n,)
        Which rows are positive.
    scores : ndarray of shape (n,)
        Scores, the higher the better.
    budget : int or None
        How many first rows to look at; by default a quarter as many as there are positives.
    """

    y: NDArray[np.bool_]
    scores: NDArray[np.float64]
    budget: int | None
    values: dict[str, float] = field(init=False)
    intervals: dict[str, Interval] = field(default_factory=dict, init=False)
    rest: dict[str, float] = field(init=False)

    def __post_init__(self) -> None:
        every = metrics.top_of_list(self.y, self.scores)
        self.rest = {name: every[name] for name in REST}
        estimates = {name: measure(self.y, self.scores) for name, measure in self._measures.items()}
        precision = estimates.pop("precision")
        self.values = {
            **{name: factor * precision for name, factor in self._multiples.items()},
            "positives_at_top": every["positives_at_top"],
            **estimates,
        }

    @property
    def n_positive(self) -> int:
        """The number of positives."""
        return int(np.count_nonzero(self.y))

    @property
    def depth(self) -> int:
        """How many first rows are looked at."""
        return self.budget or max(1, round(self.n_positive / 4))

    @property
    def meanings(self) -> dict[str, str]:
        """What each value is."""
        first = f"the first {self.depth:,} row{'s' * (self.depth > 1)}"
        return {
            "hits": f"positives among {first}",
            "precision": f"share of positives among {first}",
            "recall": f"share of all positives that is among {first}",
            "lift": f"precision among {first} over that of a random order",
            "positives_at_top": "positives above every negative",
            "average_precision": "average precision",
            "auc": "area under the ROC curve",
            "partial_auc": "the same up to 10 % of the negatives; 0.5 for a random order",
            "enrichment_factor": "lift of the first 1 % of the rows",
            "bedroc": "early recognition: BEDROC, alpha = 20",
        }

    @property
    def _measures(self) -> dict[str, Callable[..., Any]]:
        return {
            "precision": partial(metrics.precision_at_k, k=self.depth, ties="half"),
            "average_precision": metrics.average_precision,
            "auc": metrics.auc,
            "partial_auc": metrics.partial_auc,
            "enrichment_factor": metrics.enrichment_factor,
            "bedroc": metrics.bedroc,
        }

    @property
    def _multiples(self) -> dict[str, float]:
        """What the precision among the first rows is multiplied by; resamples keep both classes' sizes."""
        n_rows = len(self.y)
        return {
            "hits": float(self.depth),
            "precision": 1.0,
            "recall": self.depth / self.n_positive,
            "lift": n_rows / self.n_positive,
        }

    @property
    def n_resamples(self) -> int:
        """How many resamples intervals are read from: fewer of a long list, which moves less."""
        return int(np.clip(ROWS_DRAWN // len(self.y), FEWEST_RESAMPLES, MOST_RESAMPLES))

    def add_intervals(self, seed: int) -> None:
        """Find the intervals, of the bias-corrected bootstrap, all from the same resamples."""
        found = ranking_intervals(
            Ranking(self.y, self.scores),
            list(self._measures.values()),
            "bca",
            CONFIDENCE_LEVEL,
            self.n_resamples,
            seed,
        )
        intervals = {
            name: Interval(interval.low, interval.high)
            for name, interval in zip(self._measures, found, strict=True)
        }
        low, high = intervals.pop("precision")
        of_first = {name: Interval(factor * low, factor * high) for name, factor in self._multiples.items()}
        # of no width where all resamples agree, as at a top of nothing but hits: that is no interval
        self.intervals = {
            name: interval
            for name, interval in {**of_first, **intervals}.items()
            if interval.low < interval.high
        }
