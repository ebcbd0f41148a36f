"""The updates of Perceptron@k, SGD@k and 1PMB, batch by batch, in compiled code.

:class:`pushrank.PerceptronAtK` and :class:`pushrank.SGDAtK` have the formulas. A batch of one row has a
single class; it is compared with a row of zeros of the other class, so that the perceptrons are the classical
one without intercept.
"""

from __future__ import annotations

from typing import Any, NamedTuple, Self

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from pushrank._base.numeric import Floats
from pushrank._base.parallel import compiled, read_only
from pushrank.objectives.precision_at_k import (
    STRUCT,
    add_between,
    add_missed_positives,
    evaluate_surrogate,
    resolve_k_within,
    select_top,
)

# The updates that are no subgradients have codes beyond those of the surrogates.
PERCEPTRON_MAX, PERCEPTRON_AVG = 4, 5
PERCEPTRONS = (PERCEPTRON_MAX, PERCEPTRON_AVG)

# Below this scale the coefficients are multiplied out, before the rounding of the sum of iterates shows.
MIN_SCALE = 1e-3

# Loops over features may add in any order and fuse products, so that they use vector instructions. Infinity
# and NaN keep their meaning, because scores are checked for them.
ANY_ORDER = {"reassoc", "contract", "nsz"}


class UpdateRule(NamedTuple):
    """What is learned from a batch."""

    # `update` is a surrogate of `objectives.precision_at_k` or one of `PERCEPTRONS`; `k` is a number of rows
    # if `counted`, else a fraction of the batch's positives. `eta0` is the first step of a surrogate's
    # descent, and `radius` the largest norm of an iterate.

    update: int
    k: float
    counted: bool
    batch_size: int
    eta0: float = 1.0
    radius: float = np.inf

    @property
    def is_perceptron(self) -> bool:
        """Whether a batch without a mistake leaves the coefficients unchanged."""
        return self.update in PERCEPTRONS


class CSR(NamedTuple):
    """A sparse matrix by rows, as compiled code takes it."""

    data: NDArray[np.floating]
    indices: NDArray[np.integer]
    indptr: NDArray[np.integer]


class Batches(NamedTuple):
    """An order of rows, cut into batches: ``starts`` has where each starts, and the end."""

    # If `single` every batch is one row, which is compared with a row of zeros of the other class.

    order: NDArray[np.intp]
    starts: NDArray[np.intp]
    single: bool


COUNT_NAMES = [
    "scale", "scale_sum", "squared_norm", "n_steps", "n_skipped",
    "mistakes", "max_mistakes", "mistake_rates", "max_k",
]  # fmt: skip
COUNTS = np.dtype({"names": COUNT_NAMES, "formats": ["f8"] * len(COUNT_NAMES)})
"""The numbers of a ``StreamState``: the scale of the iterate, and the sum of scales since it was last one;
the squared norm of ``coef``; the number of batches with both classes, and of those without; sums over batches
of the negatives among the first k, of the most there can be, and of their share of k; the largest k."""


class StreamState(NamedTuple):
    """An iterate, and what the mean of all iterates follows from."""

    # The iterate is `scale * coef` and the sum of all iterates `total + scale_sum * coef - correction`. So a
    # projection is one product, and a step touches only the features of the rows that it adds. `counts` has
    # shape (1,), of type `COUNTS`.

    coef: Floats
    correction: Floats
    total: Floats
    counts: NDArray[Any]

    @classmethod
    def zero(cls, n_features: int) -> Self:
        """Return the state before the first batch."""
        counts = np.zeros(1, dtype=COUNTS)
        counts["scale"] = 1.0
        return cls(np.zeros(n_features), np.zeros(n_features), np.zeros(n_features), counts)

    def copy(self) -> StreamState:
        """Return a copy that shares nothing."""
        return StreamState(*(array.copy() for array in self))

    def read(self, count: str) -> float:
        return float(self.counts[count][0])

    @property
    def iterate(self) -> Floats:
        """The last coefficients."""
        return self.read("scale") * self.coef

    @property
    def mean(self) -> Floats:
        """The mean of the coefficients after every batch that had both classes."""
        mean: Floats = self.read("scale_sum") * self.coef
        mean -= self.correction
        mean += self.total
        mean /= max(self.read("n_steps"), 1.0)
        return mean

    def with_last_as_mean(self) -> StreamState:
        """Return the state in which all iterates were the last one, so that it is their mean."""
        counts = self.counts.copy()
        counts["scale_sum"] = counts["n_steps"] * counts["scale"]
        return StreamState(
            self.coef.copy(), np.zeros_like(self.correction), np.zeros_like(self.total), counts
        )


def learn_batches(
    X: Any,
    positive: NDArray[np.bool_],
    sample_weight: Floats,
    batches: Batches,
    rule: UpdateRule,
    state: StreamState,
    mistakes_path: Floats,
) -> int:
    """Learn from batches of rows, dense or CSR, one after the other; ``state`` is changed in place."""
    # `mistakes_path` takes the weight of negatives among the first k of every batch. Return -1, or the number
    # of a batch whose scores are not finite, or lead to coefficients that are not.
    dense, sparse = (None, CSR(X.data, X.indices, X.indptr)) if sp.issparse(X) else (read_only(X), None)
    surrogate = None if rule.is_perceptron else rule.update
    failed = run_batches(
        dense, sparse, positive, sample_weight, batches, rule, surrogate, state, mistakes_path
    )
    return int(failed)


@compiled(fastmath=ANY_ORDER)
def run_batches(dense, sparse, positive, sample_weight, batches, rule, surrogate, state, mistakes_path):
    """Do the work of :func:`learn_batches`; either the dense or the sparse rows are None."""
    # The record is a view: what is assigned to its fields is written to the state.
    counts = state.counts[0]
    starts = batches.starts
    scratch = new_scratch(starts, len(state.coef))
    for number in range(len(mistakes_path)):
        rows = batches.order[starts[number] : starts[number + 1]]
        finite = False
        # Numba compiles nothing below a test that an argument which is None is not None.
        if dense is not None:
            finite = score_dense_rows(dense, rows, state.coef, counts.scale, scratch.scores)
        if sparse is not None:
            finite = score_sparse_rows(sparse, rows, state.coef, counts.scale, scratch.scores)
        if not finite:
            return number
        size, positive_weight, negative_weight = gather_batch(
            rows, positive, sample_weight, batches.single, scratch
        )
        mistakes_path[number] = 0.0
        if positive_weight <= 0.0 or negative_weight <= 0.0:
            counts.n_skipped += 1.0
            continue
        k = resolve_k_within(rule.k, rule.counted, positive_weight)
        scores, is_positive = scratch.scores[:size], scratch.positive[:size]
        weights, slope = scratch.sample_weight[:size], scratch.slope[:size]
        if surrogate is None:
            value = mistakes = evaluate_perceptron(rule.update, scores, is_positive, weights, k, slope)
        else:
            value, mistakes = evaluate_surrogate(surrogate, scores, is_positive, weights, k, slope)
        mistakes_path[number] = mistakes
        counts.mistakes += mistakes
        counts.max_mistakes += min(k, negative_weight)
        counts.mistake_rates += mistakes / k
        counts.max_k = max(counts.max_k, k)
        counts.n_steps += 1.0
        # the structural surrogate may be zero where its slope is not
        if value != 0.0 or rule.update == STRUCT:
            step = -1.0 / counts.scale
            if rule.update not in PERCEPTRONS:
                step *= rule.eta0 / (np.sqrt(counts.n_steps) * k)
            if dense is not None:
                add_dense_rows(dense, rows, step, slope, state, scratch.change)
            if sparse is not None:
                add_sparse_rows(sparse, rows, step, slope, state)
            if not abs(counts.squared_norm) < np.inf:
                return number
        end_step(state, rule.radius)
    return -1


class Scratch(NamedTuple):
    """Arrays for one batch after another: a batch's rows, and a change of all coefficients."""

    scores: Floats
    positive: NDArray[np.bool_]
    sample_weight: Floats
    slope: Floats
    change: Floats


@compiled(inline="always")
def new_scratch(starts, n_features):
    """Return arrays for the largest batch, and for one more row of zeros."""
    size = 1
    # NumPy's functions for the largest difference take longer to compile than all the rest.
    for number in range(len(starts) - 1):
        size = max(size, starts[number + 1] - starts[number] + 1)
    positive, change = np.empty(size, np.bool_), np.empty(n_features)
    return Scratch(np.empty(size), positive, np.empty(size), np.empty(size), change)


@compiled(fastmath=ANY_ORDER)
def score_dense_rows(X, rows, coef, scale, scores):
    """Write the scores of some rows of a matrix; return whether all are finite."""
    check = 0.0
    for a in range(len(rows)):
        r = rows[a]
        score = 0.0
        for j in range(len(coef)):
            score += X[r, j] * coef[j]
        scores[a] = scale * score
        # Zero times a number that is not finite is NaN, which the sum then stays.
        check += 0.0 * score
    return check == 0.0


@compiled(fastmath=ANY_ORDER)
def score_sparse_rows(X, rows, coef, scale, scores):
    """Write the scores of some rows of a sparse matrix; return whether all are finite."""
    check = 0.0
    for a in range(len(rows)):
        r = rows[a]
        score = 0.0
        # Unsigned indices need no code for negative ones.
        for e in range(np.uint64(X.indptr[r]), np.uint64(X.indptr[r + 1])):
            score += X.data[e] * coef[np.uint32(X.indices[e])]
        scores[a] = scale * score
        check += 0.0 * score
    return check == 0.0


@compiled(fastmath=ANY_ORDER, inline="always")
def gather_batch(rows, positive, sample_weight, single, scratch):
    """Write the classes and weights of a batch; a single row is joined by zeros of the other class."""
    size = len(rows)
    positive_weight = negative_weight = 0.0
    for a in range(size):
        scratch.positive[a], scratch.sample_weight[a] = positive[rows[a]], sample_weight[rows[a]]
        if scratch.positive[a]:
            positive_weight += scratch.sample_weight[a]
        else:
            negative_weight += scratch.sample_weight[a]
    # A row of zeros scores zero with any coefficients, so that it needs no features.
    if single:
        scratch.scores[1], scratch.positive[1] = 0.0, not scratch.positive[0]
        scratch.sample_weight[1] = scratch.sample_weight[0]
        return 2, scratch.sample_weight[0], scratch.sample_weight[0]
    return size, positive_weight, negative_weight


@compiled()
def evaluate_perceptron(update, scores, positive, sample_weight, k, slope):
    """Write how much of every row a perceptron subtracts; return the weight of negatives in the first k."""
    slope[:] = 0.0
    negatives, positives, mistakes = select_top(scores, positive, sample_weight, k)
    if mistakes > 0.0:
        add_between(slope, negatives, 0.0, mistakes, 1.0)
        if update == PERCEPTRON_MAX:
            # The k - mistakes highest positives are among the first k; the next ones are those to add.
            add_between(slope, positives, k - mistakes, k, -1.0)
        else:
            n_missed = positives.class_weight - k + mistakes
            add_missed_positives(slope, sample_weight, positives, k - mistakes, -mistakes / n_missed)
    return mistakes


@compiled(fastmath=ANY_ORDER)
def add_dense_rows(X, rows, step, slope, state, change):
    """Add every row, times the step and its slope, to the coefficients, and set their squared norm."""
    counts = state.counts[0]
    change[:] = 0.0
    for a in range(len(rows)):
        if slope[a] != 0.0:
            factor = step * slope[a]
            r = rows[a]
            for j in range(len(change)):
                change[j] += factor * X[r, j]
    squared_norm = 0.0
    for j in range(len(change)):
        state.coef[j] += change[j]
        # The sum of iterates so far is one of multiples of the old coefficients.
        state.correction[j] += counts.scale_sum * change[j]
        squared_norm += state.coef[j] * state.coef[j]
    counts.squared_norm = squared_norm


@compiled(fastmath=ANY_ORDER)
def add_sparse_rows(X, rows, step, slope, state):
    """Add every row, times the step and its slope, to the coefficients, and update their squared norm."""
    counts = state.counts[0]
    coef, correction, scale_sum = state.coef, state.correction, counts.scale_sum
    growth = 0.0
    for a in range(len(rows)):
        if slope[a] != 0.0:
            factor = step * slope[a]
            r = rows[a]
            for e in range(np.uint64(X.indptr[r]), np.uint64(X.indptr[r + 1])):
                feature = np.uint32(X.indices[e])
                change = factor * X.data[e]
                # Only the features of the row are read: the norm follows from what they change.
                growth += change * (2.0 * coef[feature] + change)
                coef[feature] += change
                correction[feature] += scale_sum * change
    counts.squared_norm += growth


@compiled(fastmath=ANY_ORDER)
def end_step(state, radius):
    """Project the iterate onto the ball of a radius, and add it to the sum of iterates."""
    counts = state.counts[0]
    # numpy.isfinite is x - x == 0, which these fast mathematics take to be true.
    if radius < np.inf:
        norm = counts.scale * np.sqrt(max(counts.squared_norm, 0.0))
        if norm > radius:
            counts.scale *= radius / norm
    # Multiplying out starts the sum of iterates again, with what it was in ``total``.
    if counts.scale < MIN_SCALE:
        for j in range(len(state.coef)):
            state.total[j] += counts.scale_sum * state.coef[j] - state.correction[j]
            state.correction[j] = 0.0
            state.coef[j] *= counts.scale
        counts.squared_norm *= counts.scale * counts.scale
        counts.scale, counts.scale_sum = 1.0, 0.0
    counts.scale_sum += counts.scale
