r"""The mistake bounds of Perceptron@k, and the margins at k under which they are finite.

On any stream of batches and for any w, with R the largest norm of a row, k the largest of a batch and L the
sum over batches of the surrogate that belongs to the variant, Perceptron@k makes at most

.. math:: \Bigl(\|w\| R \sqrt{4 k} + \sqrt{L(w)}\Bigr)^2

mistakes. L vanishes where the scores have the margin that belongs to it, at least 1.

Purushottam Kar, Harikrishna Narasimhan, Prateek Jain, *Surrogate functions for maximizing precision at the
top*, ICML 2015, definitions 2, 4 and 5, theorems 7 and 9.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from pushrank._numeric import Floats
from pushrank._parallel import compiled
from pushrank.objectives.precision_at_k import AVG, MAX, resolve_k_within
from pushrank.solvers.streaming.updates import (
    MAX_K,
    MAX_MISTAKES,
    PERCEPTRON_AVG,
    PERCEPTRON_MAX,
    Rows,
    StreamLearner,
    call_evaluate,
    evaluate_update,
    largest_batch,
)

BOUNDING_SURROGATE = {PERCEPTRON_AVG: AVG, PERCEPTRON_MAX: MAX}
"""The surrogate whose loss bounds the mistakes of each update: theorems 7 and 9."""

N_LENGTHS = 9
"""Lengths of w that are tried, each half the one before."""
TRIED_BATCHES = 50
"""Batches on which lengths are compared; the bound itself takes all."""


class Margins(NamedTuple):
    """The margins at k of scores, each at most the one before.

    Attributes
    ----------
    weak : float
        The k-th highest positive less the highest negative: k positives stand that far above all negatives.
    average : float
        The mean of the m - k + 1 lowest of m positives, less the highest negative: any that many positives
        stand so far above all negatives on average.
    strong : float
        The lowest positive less the highest negative.
    """

    weak: float
    average: float
    strong: float


def margins(scores: Floats, rows: Rows, k: float) -> Margins:
    """Return the margins of scores, where k is at most the positives' weight; weights are copies."""
    counted = rows.sample_weight > 0.0
    positives = np.flatnonzero(rows.positive & counted)
    ascending = positives[np.argsort(scores[positives], kind="stable")]
    rising, weights = scores[ascending], rows.sample_weight[ascending]
    highest_negative = float(scores[~rows.positive & counted].max())
    depth = np.cumsum(weights)
    lowest = depth[-1] - k + min(1.0, k)
    among_lowest = np.clip(lowest - (depth - weights), 0.0, weights)
    kth = int(np.searchsorted(depth, (1.0 - 1e-12) * lowest))  # the sum of weights may miss it by rounding
    average = float(among_lowest @ rising / among_lowest.sum())
    weak, strong = float(rising[kth]), float(rising[0])
    return Margins(weak - highest_negative, average - highest_negative, strong - highest_negative)


def mistake_bound(
    learner: StreamLearner,
    rows: Rows,
    unit_scores: Floats,
    orders: Callable[[int], Iterator[NDArray[np.intp]]],
    n_epochs: int,
) -> float:
    """Return the bound at about the best multiple w of some coefficients.

    Parameters
    ----------
    learner : StreamLearner
        A perceptron that has learned from the rows.
    rows : Rows
        The rows.
    unit_scores : ndarray of shape (n_rows,)
        Their scores by the coefficients scaled to unit length.
    orders : callable
        Gives the orders in which a number of epochs learned from the rows.
    n_epochs : int
        The number of epochs.
    """
    rule, counts = learner.rule, learner.finalized.counts

    def loss(scores: Floats, order: NDArray[np.intp]) -> float:
        """Return the sum of the surrogate over the batches of rows in an order."""
        alone = rule.batch_size == 1 and rows.groups is None
        surrogate = BOUNDING_SURROGATE[rule.update]
        batches = rows.positive, rows.sample_weight, order, rows.batch_starts(order, rule.batch_size), alone
        return float(total_loss(scores, *batches, surrogate, evaluate_update(), rule.k, rule.counted))

    bound_at_zero = float(counts[MAX_MISTAKES])
    slope = _largest_norm(rows) * np.sqrt(4.0 * counts[MAX_K])
    if slope == 0.0:
        return bound_at_zero
    # the longest is that at which the first term alone is an epoch's share of the bound at zero
    lengths = np.sqrt(bound_at_zero / n_epochs) / slope * 0.5 ** np.arange(N_LENGTHS)
    tried = next(orders(1))[: TRIED_BATCHES * rule.batch_size]
    factor = rows.n_rows / len(tried)
    bounds = [length * slope + np.sqrt(factor * loss(length * unit_scores, tried)) for length in lengths]
    best = lengths[np.argmin(bounds)]
    total = sum(loss(best * unit_scores, order) for order in orders(n_epochs))
    return min(bound_at_zero, float((best * slope + np.sqrt(total)) ** 2))


@compiled()
def total_loss(scores, positive, sample_weight, order, starts, alone, surrogate, evaluate, k, counted):
    """Return the sum of a surrogate over the batches that have both classes, in the given order.

    Rows that come ``alone`` are compared with a score of zero of the other class.
    """
    total = 0.0
    size = largest_batch(starts)
    batch_scores, slope = np.empty(size + 1), np.empty(size + 1)
    classes, weights = np.empty(size + 1, np.bool_), np.empty(size + 1)
    for b in range(len(starts) - 1):
        positive_weight = negative_weight = 0.0
        start, n_rows = starts[b], starts[b + 1] - starts[b]
        for a in range(n_rows):
            row = order[start + a]
            batch_scores[a], classes[a], weights[a] = scores[row], positive[row], sample_weight[row]
            if classes[a]:
                positive_weight += weights[a]
            else:
                negative_weight += weights[a]
        if alone:
            n_rows = 2
            batch_scores[1], classes[1], weights[1] = 0.0, not classes[0], weights[0]
            positive_weight = negative_weight = weights[0]
        if positive_weight > 0.0 and negative_weight > 0.0:
            k_rows = resolve_k_within(k, counted, positive_weight)
            batch = (
                surrogate,
                batch_scores[:n_rows],
                classes[:n_rows],
                weights[:n_rows],
                k_rows,
                slope[:n_rows],
            )
            total += call_evaluate(evaluate, batch)[0]
    return total


def _largest_norm(rows: Rows) -> float:
    if isinstance(rows.X, np.ndarray):
        return float(np.sqrt(np.einsum("ij,ij->i", rows.X, rows.X, dtype=np.float64).max()))
    return float(np.sqrt(largest_squared_norm(rows.X.data, rows.X.indptr)))


@compiled()
def largest_squared_norm(data, indptr):
    """Return the largest sum of squares of a row of a CSR matrix."""
    largest = 0.0
    for i in range(len(indptr) - 1):
        squares = 0.0
        for e in range(indptr[i], indptr[i + 1]):
            squares += np.float64(data[e]) ** 2
        largest = max(largest, squares)
    return largest
