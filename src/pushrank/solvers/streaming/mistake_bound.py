"""The mistake bounds of Perceptron@k, and the margins at k under which they are finite.

:class:`pushrank.PerceptronAtK` has the formula, under ``mistake_bound_``. Its surrogate vanishes where the
scores have the margin that belongs to it, at least 1: Kar, Narasimhan and Jain, definitions 2, 4 and 5.
"""

from collections.abc import Callable, Iterator
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from pushrank._base.numeric import Floats
from pushrank._base.parallel import compiled
from pushrank.objectives.precision_at_k import AVG, MAX, evaluate_surrogate, resolve_k_within
from pushrank.solvers.streaming.learner import LabelledRows, StreamLearner
from pushrank.solvers.streaming.updates import PERCEPTRON_AVG, PERCEPTRON_MAX, gather_batch, new_scratch

BOUNDING_SURROGATE = {PERCEPTRON_AVG: AVG, PERCEPTRON_MAX: MAX}
"""The surrogate whose loss bounds the mistakes of each update: theorems 7 and 9."""

# The bound holds for every length of w: nine are tried, each half the one before, on a few batches, and the
# best one is evaluated on all.
N_LENGTHS = 9
N_TRIED_BATCHES = 50

# A sum of weights may miss the depth of the k-th positive by rounding.
DEPTH_ROUNDING = 1e-12


class Margins(NamedTuple):
    """The margins at k of scores, each at most the one before, all less the highest negative."""

    # They are the k-th highest of m positives, the mean of their m - k + 1 lowest, and the lowest.

    weak: float
    average: float
    strong: float


def margins(scores: Floats, rows: LabelledRows, k: float) -> Margins:
    """Return the margins of scores, for a k of at most the positives' weight; weights are copies."""
    counted = rows.sample_weight > 0.0
    positives = np.flatnonzero(rows.positive & counted)
    ascending = positives[np.argsort(scores[positives], kind="stable")]
    rising, weights = scores[ascending], rows.sample_weight[ascending]
    highest_negative = float(scores[~rows.positive & counted].max())
    # The positives from the k-th highest down have the weight m - k + 1, counted from the lowest.
    depth = np.cumsum(weights)
    lowest = depth[-1] - k + min(1.0, k)
    among_lowest = np.clip(lowest - (depth - weights), 0.0, weights)
    kth = int(np.searchsorted(depth, (1.0 - DEPTH_ROUNDING) * lowest))
    average = float(among_lowest @ rising / among_lowest.sum())
    weak, strong = float(rising[kth]), float(rising[0])
    return Margins(weak - highest_negative, average - highest_negative, strong - highest_negative)


def mistake_bound(
    learner: StreamLearner,
    rows: LabelledRows,
    unit_scores: Floats,
    orders: Callable[[int], Iterator[NDArray[np.intp]]],
    n_epochs: int,
) -> float:
    """Return the bound at about the best multiple of some coefficients, for a perceptron and its rows."""
    # `unit_scores` are the rows' scores at unit length, and `orders` gives those of a number of epochs.
    rule, state = learner.rule, learner.finalized

    def loss(scores: Floats, order: NDArray[np.intp]) -> float:
        """Return the sum of the surrogate over the batches of rows in an order."""
        batches, surrogate = rows.batches(order, rule.batch_size), BOUNDING_SURROGATE[rule.update]
        return float(total_loss(scores, rows.positive, rows.sample_weight, batches, rule, surrogate))

    # At w = 0 the surrogate of a batch is the largest number of its mistakes.
    bound_at_zero = state.read("max_mistakes")
    slope = _largest_norm(rows) * np.sqrt(4.0 * state.read("max_k"))
    if slope == 0.0:
        return bound_at_zero
    # At the greatest length the first term alone is an epoch's share of the bound at zero.
    lengths = np.sqrt(bound_at_zero / n_epochs) / slope * 0.5 ** np.arange(N_LENGTHS)
    tried = next(orders(1))[: N_TRIED_BATCHES * rule.batch_size]
    factor = rows.n_rows / len(tried)
    bounds = [length * slope + np.sqrt(factor * loss(length * unit_scores, tried)) for length in lengths]
    best = lengths[np.argmin(bounds)]
    total = sum(loss(best * unit_scores, order) for order in orders(n_epochs))
    return min(bound_at_zero, float((best * slope + np.sqrt(total)) ** 2))


@compiled()
def total_loss(scores, positive, sample_weight, batches, rule, surrogate):
    """Return the sum of a surrogate over the batches that have both classes."""
    total = 0.0
    scratch = new_scratch(batches.starts, 0)
    for number in range(len(batches.starts) - 1):
        rows = batches.order[batches.starts[number] : batches.starts[number + 1]]
        for a in range(len(rows)):
            scratch.scores[a] = scores[rows[a]]
        size, positive_weight, negative_weight = gather_batch(
            rows, positive, sample_weight, batches.single, scratch
        )
        if positive_weight > 0.0 and negative_weight > 0.0:
            k = resolve_k_within(rule.k, rule.counted, positive_weight)
            is_positive, weights = scratch.positive[:size], scratch.sample_weight[:size]
            in_batch, slope = scratch.scores[:size], scratch.slope[:size]
            value, _ = evaluate_surrogate(surrogate, in_batch, is_positive, weights, k, slope)
            total += value
    return total


def _largest_norm(rows: LabelledRows) -> float:
    # Squares of single precision are added up in double precision, as the scores are.
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
