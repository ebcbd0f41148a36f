"""Means over query groups of two classes: each query is a separate list, with the weight of any other."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from pushrank._base.numeric import Floats
from pushrank.objectives.evaluation import PushEvaluation
from pushrank.objectives.push import PushObjective
from pushrank.pairs import GradedSample, InnerSums, Sample, log_inner_sums
from pushrank.prices import PriceTotal


def mean_infinite_push(
    queries: GradedSample, scores: Floats, *, squared: bool
) -> tuple[float, Floats, float]:
    """Return the mean of the queries' Infinite Pushes, a subgradient, and the plane's value at zero."""
    positive_scores, negative_scores = queries.gather(scores)
    first_positives, first_negatives = queries.starts
    highest = np.maximum.reduceat(negative_scores, first_negatives)
    margins = positive_scores - np.repeat(highest, queries.upper_sizes)
    shortfall, weights = np.maximum(1.0 - margins, 0.0), queries.mean_weights
    pushes = weights * (2.0 * shortfall if squared else shortfall > 0.0)
    # The first of the highest negatives of a query takes what its positives give.
    at_top = np.flatnonzero(negative_scores == np.repeat(highest, queries.lower_sizes))
    pushed = np.zeros_like(negative_scores)
    pushed[at_top[np.searchsorted(at_top, first_negatives)]] = np.add.reduceat(pushes, first_positives)
    # With z = 1 - margin the plane of a loss at zero scores is l(z) - l'(z) (z - 1).
    value = float(weights @ (shortfall**2 if squared else shortfall))
    offset = weights @ (shortfall * (2.0 - shortfall)) if squared else pushes.sum()
    return value, queries.scatter(-pushes, pushed), float(offset)


@dataclass(frozen=True)
class MeanLogPush(PushObjective):
    """The mean of the queries' P-Norm Pushes on the log scale, for the exponential loss and ``Power(p)``."""

    @property
    def powers(self) -> None:
        """None: there is a two-sum form for each query, and none for all."""

    def _evaluation(self, sample: Sample, scores: Floats) -> PushEvaluation:
        power = self._price.log_divisor or 1.0
        return MeanEvaluation(log_inner_sums(self._loss, sample, scores), sample, power)


class MeanEvaluation(PushEvaluation):
    """The mean of the logarithms of the queries' sums of powers, at some log inner sums."""

    def __init__(self, sums: InnerSums, queries: Any, power: float) -> None:
        self._starts, self._sizes = queries.starts[1], queries.lower_sizes
        self._n_queries = len(self._sizes)
        exponents = power * sums.log_sums
        if queries.negative_weights is not None:
            exponents = exponents + np.log(queries.negative_weights)
        largest = np.maximum.reduceat(exponents, self._starts)
        terms = np.exp(exponents - np.repeat(largest, self._sizes))
        totals = np.add.reduceat(terms, self._starts)
        gradient = terms / np.repeat(self._n_queries * totals, self._sizes)
        value = float(np.mean(largest + np.log(totals))) / power
        super().__init__(sums, PriceTotal(value, gradient, power * gradient, power * self._n_queries))

    def _price_change(self, change: Floats) -> Floats:
        """Return the product with the price's Hessian, which couples the negatives of a query alone."""
        _, gradient, _, coupling = self._total
        within = np.repeat(np.add.reduceat(gradient * change, self._starts), self._sizes)
        return self._total.curved * change - coupling * within * gradient
