r"""The updates of Perceptron@k, SGD@k and 1PMB, batch by batch, and the learner of a stream of rows.

A batch with scores :math:`s = X w` and m positives predicts its k highest rows positive. Where
:math:`\Delta` of these are negatives, the set N, and M are the positives that were missed,

.. math::

    \text{Perceptron@k-avg:} \quad w &\leftarrow w - \sum_{i \in N} x_i
    + \frac{\Delta}{m - k + \Delta} \sum_{i \in M} x_i \\
    \text{Perceptron@k-max:} \quad w &\leftarrow w - \sum_{i \in N} x_i
    + \sum_{i \in \text{the } \Delta \text{ highest of } M} x_i \\
    \text{SGD@k, 1PMB:} \quad w &\leftarrow \Pi\Bigl[w - \frac{\eta_0}{\sqrt t} \frac{1}{k_t}
    X^\top \partial L(s)\Bigr]

with t the batches so far that had both classes, L a surrogate of :mod:`pushrank.objectives.precision_at_k`
(the structural one for 1PMB) and :math:`\Pi` the projection onto a ball. A batch of one row has a single
class; it is compared with a row of zeros of the other, which makes of the perceptrons the classical one
without intercept, :math:`w \leftarrow w \pm x` where the sign of the score is wrong.

Purushottam Kar, Harikrishna Narasimhan, Prateek Jain, *Surrogate functions for maximizing precision at the
top*, ICML 2015, algorithms 1 to 4; *Online and stochastic gradient methods for non-decomposable loss
functions*, NIPS 2014, for 1PMB.
"""

from __future__ import annotations

import heapq
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple, Self

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from pushrank._io import trust_in_files
from pushrank._numeric import Floats
from pushrank._parallel import compiled, compiled_pointer, pointer_call, read_only
from pushrank._validation import BadRowError
from pushrank.objectives.precision_at_k import (
    STRUCT,
    add_between,
    add_missed_positives,
    evaluate_surrogate,
    resolve_k_within,
    select_top,
)

PERCEPTRON_MAX, PERCEPTRON_AVG = 4, 5
"""The codes of the updates that are no subgradients, beside those of the surrogates."""
PERCEPTRONS = (PERCEPTRON_MAX, PERCEPTRON_AVG)

SCALE, ITERATE_SUM, STEPS, SQUARED_NORM, MISTAKES, MAX_MISTAKES, MISTAKE_RATES, MAX_K, SKIPPED = range(9)
"""Places in ``State.counts``: the scale of the iterate; the sum of scales since the last rescaling; batches
with both classes; the squared norm of ``coef``; sums over batches of the negatives among the first k, of the
most there can be, and of their share of k; the largest k; batches that lack a class."""

MIN_SCALE = 1e-3  # below it the scale is multiplied into coef, before rounding of the sum of iterates shows


@compiled()
def largest_batch(starts):
    """Return the most rows of a batch; NumPy's functions for it take longer to compile than all the rest."""
    size = 0
    for batch in range(len(starts) - 1):
        size = max(size, starts[batch + 1] - starts[batch])
    return size


@compiled()
def perceptron_update(update, scores, positive, sample_weight, k, slope):
    """Write how much of every row to subtract, and return the weight of negatives among the first k."""
    slope[:] = 0.0
    negatives, positives, mistakes = select_top(scores, positive, sample_weight, k)
    if mistakes > 0.0:
        add_between(slope, negatives, 0.0, mistakes, 1.0)
        if update == PERCEPTRON_MAX:
            # k - mistakes of the k highest positives were found, the others are the highest that were missed
            add_between(slope, positives, k - mistakes, k, -1.0)
        else:
            n_missed = positives.class_weight - k + mistakes
            add_missed_positives(slope, sample_weight, positives, k - mistakes, -mistakes / n_missed)
    return mistakes


EVALUATE = "UniTuple(float64, 2)(int64, float64[::1], boolean[::1], float64[::1], float64, float64[::1])"
call_evaluate = pointer_call(EVALUATE)


@compiled_pointer(EVALUATE)
def evaluate_update(update, scores, positive, sample_weight, k, slope):
    """Write how much of every row to subtract; return a value, zero where that is none of any, and mistakes.

    The value is the surrogate's, and the mistakes are the weight of negatives among the first k.
    """
    if update in PERCEPTRONS:
        mistakes = perceptron_update(update, scores, positive, sample_weight, k, slope)
        return mistakes, mistakes
    return evaluate_surrogate(update, scores, positive, sample_weight, k, slope)


@compiled(fastmath={"reassoc", "contract", "nsz"})
def run_batches(
    dense, data, indices, indptr, order, positive, sample_weight, starts, alone, update, evaluate, k, counted,
    eta0, radius, coef, correction, total, counts, mistakes_path,
):  # fmt: skip
    """Go through batches of rows in the given order, in which ``starts`` has where each starts, and the end.

    Rows that come ``alone``, one to a batch, are each compared with a row of zeros of the other class.

    Either ``dense`` is a matrix, or ``data``, ``indices`` and ``indptr`` are those of a CSR matrix; the rest
    is None, and with it the lines that would read it are compiled away. ``evaluate`` is the address
    that :func:`evaluate_update` returns. ``coef``, ``correction``, ``total``
    and ``counts`` are those of a :class:`State`, changed in place; ``mistakes_path`` takes the weight of
    negatives among the first k of every batch. Return -1, or the number of a batch whose scores are
    not finite, or lead to coefficients that are not.
    """
    n_features = len(coef)
    delta = np.zeros(n_features)
    size = largest_batch(starts)
    scores, slope = np.empty(size + 1), np.empty(size + 1)
    classes, weights = np.empty(size + 1, np.bool_), np.empty(size + 1)
    bounded = radius < np.inf  # numpy.isfinite is x - x == 0, which fast mathematics takes to be true
    for batch in range(len(mistakes_path)):
        rows = order[starts[batch] : starts[batch + 1]]
        n_rows = len(rows)
        scale = counts[SCALE]
        check = 0.0
        positive_weight = negative_weight = 0.0
        for a in range(n_rows):
            r = rows[a]
            score = 0.0
            if dense is not None:
                for j in range(n_features):
                    score += dense[r, j] * coef[j]
            if data is not None:
                # unsigned, so that no code for negative indices is compiled in
                for e in range(np.uint64(indptr[r]), np.uint64(indptr[r + 1])):
                    score += data[e] * coef[np.uint32(indices[e])]
            scores[a] = scale * score
            check += 0.0 * score
            classes[a] = positive[r]
            weights[a] = sample_weight[r]
            if classes[a]:
                positive_weight += weights[a]
            else:
                negative_weight += weights[a]
        if check != 0.0:  # zero times a score that is not finite
            return batch
        if alone:
            scores[1], classes[1], weights[1] = 0.0, not classes[0], weights[0]
            positive_weight = negative_weight = weights[0]
        mistakes_path[batch] = 0.0
        if positive_weight <= 0.0 or negative_weight <= 0.0:
            counts[SKIPPED] += 1.0
            continue
        k_rows = resolve_k_within(k, counted, positive_weight)
        stop = n_rows + 1 if alone else n_rows
        value, mistakes = call_evaluate(
            evaluate, (update, scores[:stop], classes[:stop], weights[:stop], k_rows, slope[:stop])
        )
        mistakes_path[batch] = mistakes
        counts[MISTAKES] += mistakes
        counts[MAX_MISTAKES] += min(k_rows, negative_weight)
        counts[MISTAKE_RATES] += mistakes / k_rows
        counts[MAX_K] = max(counts[MAX_K], k_rows)
        counts[STEPS] += 1.0
        if value != 0.0 or update == STRUCT:  # whose value may be zero on a slope
            step = -1.0 / scale
            if update not in PERCEPTRONS:
                step *= eta0 / (np.sqrt(counts[STEPS]) * k_rows)
            before = counts[ITERATE_SUM]
            if dense is not None:
                delta[:] = 0.0
                for a in range(n_rows):
                    if slope[a] != 0.0:
                        factor = step * slope[a]
                        r = rows[a]
                        for j in range(n_features):
                            delta[j] += factor * dense[r, j]
                norm = 0.0
                for j in range(n_features):
                    coef[j] += delta[j]
                    correction[j] += before * delta[j]
                    norm += coef[j] * coef[j]
                counts[SQUARED_NORM] = norm
            if data is not None:
                grown = 0.0
                for a in range(n_rows):
                    if slope[a] != 0.0:
                        factor = step * slope[a]
                        r = rows[a]
                        for e in range(np.uint64(indptr[r]), np.uint64(indptr[r + 1])):
                            feature = np.uint32(indices[e])
                            move = factor * data[e]
                            grown += move * (2.0 * coef[feature] + move)
                            coef[feature] += move
                            correction[feature] += before * move
                counts[SQUARED_NORM] += grown
            if not abs(counts[SQUARED_NORM]) < np.inf:
                return batch
        if bounded:
            longest = scale * np.sqrt(max(counts[SQUARED_NORM], 0.0))
            if longest > radius:
                scale *= radius / longest
                counts[SCALE] = scale
        if scale < MIN_SCALE:
            for j in range(n_features):
                total[j] += counts[ITERATE_SUM] * coef[j] - correction[j]
                correction[j] = 0.0
                coef[j] *= scale
            counts[ITERATE_SUM] = 0.0
            counts[SQUARED_NORM] *= scale * scale
            counts[SCALE] = 1.0
        counts[ITERATE_SUM] += counts[SCALE]
    return -1


class UpdateRule(NamedTuple):
    """What a batch teaches."""

    update: int  # a surrogate of ``objectives.precision_at_k``, or one of ``PERCEPTRONS``
    k: float  # a number of rows where ``counted``, else a fraction of a batch's positives
    counted: bool
    batch_size: int
    eta0: float = 1.0  # the first step of a surrogate's descent
    radius: float = np.inf  # the largest norm of an iterate

    @property
    def is_perceptron(self) -> bool:
        """Whether batches without a mistake teach nothing."""
        return self.update in PERCEPTRONS


class Rows(NamedTuple):
    """Checked rows: features, dense by rows or CSR, the class and the weight of each, and its query."""

    X: Any
    positive: NDArray[np.bool_]
    sample_weight: Floats
    groups: NDArray[np.intp] | None = None  # numbers of the queries, where these are the batches

    @property
    def n_rows(self) -> int:
        """How many there are."""
        return len(self.positive)

    @property
    def nbytes(self) -> int:
        """The memory of the features."""
        arrays = (self.X.data, self.X.indices, self.X.indptr) if sp.issparse(self.X) else (self.X,)
        return sum(int(array.nbytes) for array in arrays)

    def take(self, numbers: NDArray[np.intp]) -> Rows:
        """Return a copy of some rows."""
        groups = None if self.groups is None else self.groups[numbers]
        return Rows(self.X[numbers], self.positive[numbers], self.sample_weight[numbers], groups)

    def batch_starts(self, order: NDArray[np.intp], size: int) -> NDArray[np.intp]:
        """Return where in an order each batch starts, and the end: a batch is a query, or so many rows."""
        if self.groups is None:
            starts = np.arange(0, len(order), size)
        else:
            starts = np.flatnonzero(np.diff(self.groups[order], prepend=-1))
        return np.append(starts, len(order))


def concatenated(parts: Sequence[Rows]) -> Rows:
    """Return the rows of all parts; CSR where any of them is."""
    if any(sp.issparse(part.X) for part in parts):
        X = sp.vstack([sp.csr_array(part.X) for part in parts], format="csr")
    else:
        X = np.vstack([part.X for part in parts])
    positive, sample_weight = (np.concatenate(column) for column in list(zip(*parts, strict=True))[1:3])
    return Rows(X, positive, sample_weight)


MAX_SAMPLE_ROWS = 10_000  # from which a break-even point has a standard error of about 1 % of the rows
MAX_SAMPLE_BYTES = 1 << 26
MAX_KEY = (1 << 64) - 1
SAMPLE_SEED = np.random.SeedSequence(0)


@dataclass
class BatchSample:
    """A random sample of batches, as many as there is room for; one at least.

    Every batch has a random key by its number in the stream, and those with the smallest keys are kept. So
    the sample does not hang on how the rows were cut into chunks.
    """

    size: int  # the rows of a batch; fewer in the last
    batches: list[tuple[int, Rows]] = field(default_factory=list)  # a heap, with their keys times -1
    n_bytes: int = 0  # the memory of their features
    min_key_left_out: int = MAX_KEY  # the smallest key of a batch that there was no room for
    n_batches: int = 0  # offered so far, as are the rows
    n_rows: int = 0

    def offer(self, rows: Rows, order: NDArray[np.intp]) -> None:
        """Choose among the next batches, which are cut from rows in an order."""
        # of the raw numbers of a bit generator NumPy promises that they stay the same in later versions
        keys = np.random.PCG64(SAMPLE_SEED).advance(self.n_batches).random_raw(-(-len(order) // self.size))
        for number in np.argsort(keys, kind="stable"):
            key = int(keys[number])
            if key >= self.min_key_left_out:
                break
            self._push(key, rows.take(order[number * self.size : (number + 1) * self.size]))
        self.n_batches += len(keys)
        self.n_rows += len(order)

    def followed_by(self, rows: Rows) -> BatchSample:
        """Return the sample as if these rows, a batch or less, had been offered too."""
        other = replace(self, batches=self.batches.copy())
        other.offer(rows, np.arange(rows.n_rows))
        return other

    @property
    def rows(self) -> Rows:
        """The rows of the sample; all that were offered where these are few."""
        return concatenated([rows for _, rows in sorted(self.batches, key=lambda batch: -batch[0])])

    def _push(self, key: int, rows: Rows) -> None:
        heapq.heappush(self.batches, (-key, rows))
        self.n_bytes += rows.nbytes
        while len(self.batches) > 1 and (
            self.n_bytes > MAX_SAMPLE_BYTES or len(self.batches) * self.size > MAX_SAMPLE_ROWS
        ):
            key, dropped = heapq.heappop(self.batches)
            self.n_bytes -= dropped.nbytes
            self.min_key_left_out = -key


@dataclass
class State:
    """An iterate, and what the mean of all iterates follows from.

    The iterate is ``scale * coef`` and the sum of all iterates ``total + iterate_sum * coef - correction``,
    so that a projection is one product, and a step touches only the features of the rows that it moves.
    """

    coef: Floats
    correction: Floats
    total: Floats
    counts: Floats

    @classmethod
    def zero(cls, n_features: int) -> Self:
        """Return the state before the first batch."""
        counts = np.zeros(SKIPPED + 1)
        counts[SCALE] = 1.0
        return cls(np.zeros(n_features), np.zeros(n_features), np.zeros(n_features), counts)

    def copy(self) -> State:
        """Return a copy that shares nothing."""
        return State(self.coef.copy(), self.correction.copy(), self.total.copy(), self.counts.copy())

    @property
    def iterate(self) -> Floats:
        """The last coefficients."""
        last: Floats = self.counts[SCALE] * self.coef
        return last

    @property
    def mean(self) -> Floats:
        """The mean of the coefficients after every batch that had both classes."""
        mean: Floats = self.counts[ITERATE_SUM] * self.coef
        mean -= self.correction
        mean += self.total
        mean /= max(self.counts[STEPS], 1.0)
        return mean

    def with_last_as_mean(self) -> State:
        """Return the state in which all iterates were the last one, so that it is their mean."""
        counts = self.counts.copy()
        counts[ITERATE_SUM] = counts[STEPS] * counts[SCALE]
        return State(self.coef.copy(), np.zeros_like(self.correction), np.zeros_like(self.total), counts)


@dataclass
class StreamLearner:
    """Learns by an update rule from rows that come in chunks of any size.

    Rows that do not fill a batch are buffered. Meanwhile ``finalized`` has learned from the short batch too,
    as if the stream ended here; the full batch will be learned from ``state``, which has not.
    """

    rule: UpdateRule
    state: State  # after the last complete batch
    finalized: State = field(init=False)
    buffer: Rows | None = None  # the rows of the incomplete batch
    mistakes_by_batch: list[Floats] = field(default_factory=list)  # of every complete batch
    buffer_mistakes: Floats = field(default_factory=lambda: np.zeros(0))  # of length 0 or 1
    n_rows: int = 0  # seen so far
    sample: BatchSample = field(init=False)  # of the rows since the start, or since they were forgotten
    sampling: bool = True  # whether rows are new, and not those of an earlier epoch

    def __post_init__(self) -> None:
        """Start with a model that has learned from nothing."""
        self.finalized = self.state
        self.sample = BatchSample(self.rule.batch_size)

    def partial_fit(self, rows: Rows) -> None:
        """Learn from the next rows.

        Raises
        ------
        BadRowError
            When a row's score is not finite; then nothing has changed.
        """
        size, state, mistakes, first = self.rule.batch_size, self.state.copy(), [], 0
        completed = None
        if self.buffer is not None:
            first = min(size - self.buffer.n_rows, rows.n_rows)
            completed = concatenated([self.buffer, rows.take(np.arange(first))])
        stop = first + (rows.n_rows - first) // size * size
        buffer = rows.take(np.arange(stop, rows.n_rows)) if stop < rows.n_rows else None
        if completed is not None and completed.n_rows < size:
            completed, buffer = None, completed
        if completed is not None:
            mistakes.append(self._learn(completed, np.arange(size), state, first - completed.n_rows))
        if stop > first:
            mistakes.append(self._learn(rows, np.arange(first, stop), state))
        finalized, buffer_mistakes = state, np.zeros(0)
        if buffer is not None:
            finalized = state.copy()
            before = rows.n_rows - buffer.n_rows
            buffer_mistakes = self._learn(buffer, np.arange(buffer.n_rows), finalized, before)
        # all rows are good: from here on nothing fails
        self.state, self.finalized, self.buffer = state, finalized, buffer
        self.mistakes_by_batch += mistakes
        self.buffer_mistakes = buffer_mistakes
        self.n_rows += rows.n_rows
        if self.sampling:
            if completed is not None:
                self.sample.offer(completed, np.arange(size))
            self.sample.offer(rows, np.arange(first, stop))

    def epoch(self, rows: Rows, order: NDArray[np.intp]) -> None:
        """Learn from all rows in an order, the last ones too though they do not fill a batch.

        Raises
        ------
        BadRowError
            When a row's score is not finite; then nothing has changed.
        """
        state = self.state.copy()
        self.mistakes_by_batch.append(self._learn(rows, order, state))
        self.state = self.finalized = state
        self.n_rows += len(order)
        if self.sampling:
            self.sample.offer(rows, order)
        self.sampling = False

    def end_epoch(self) -> None:
        """End a reading of the rows: the incomplete batch is taken for a complete one."""
        self.sample, self.sampling = self.current_sample, False
        self.state, self.buffer = self.finalized, None
        self.mistakes_by_batch.append(self.buffer_mistakes)
        self.buffer_mistakes = np.zeros(0)

    def use_last_as_mean(self) -> None:
        """Take the last coefficients for the mean too: a whole epoch has left them as they were."""
        self.state = self.finalized = self.finalized.with_last_as_mean()

    def forget_sample(self) -> None:
        """Keep no rows; the sample begins anew with the next."""
        self.sample, self.sampling = BatchSample(self.rule.batch_size), True

    @property
    def current_sample(self) -> BatchSample:
        """The sample with the rows of the incomplete batch."""
        if self.buffer is None or not self.sampling:
            return self.sample
        return self.sample.followed_by(self.buffer)

    @property
    def n_rows_sampled_from(self) -> int:
        """How many rows the current sample was taken from."""
        return self.sample.n_rows + (self.buffer.n_rows if self.buffer is not None and self.sampling else 0)

    @property
    def mistakes_path(self) -> Floats:
        """Negatives among the first k of every batch."""
        return np.concatenate([*self.mistakes_by_batch, self.buffer_mistakes])

    @property
    def n_mistakes(self) -> float:
        """Their sum."""
        return float(self.finalized.counts[MISTAKES])

    @property
    def mistake_rate(self) -> float:
        """The mean share of negatives among the first k of batches that had both classes."""
        return float(self.finalized.counts[MISTAKE_RATES] / max(self.finalized.counts[STEPS], 1.0))

    def _learn(self, rows: Rows, order: NDArray[np.intp], state: State, offset: int = 0) -> Floats:
        """Learn from rows in an order; ``offset`` is what is to be added to a place in a message."""
        rule, starts = self.rule, rows.batch_starts(order, self.rule.batch_size)
        mistakes = np.empty(len(starts) - 1)
        if sp.issparse(rows.X):
            arrays: tuple[Any, ...] = None, rows.X.data, rows.X.indices, rows.X.indptr
        else:
            arrays = read_only(rows.X), None, None, None
        bad = run_batches(
            *arrays, order, rows.positive, rows.sample_weight,
            starts, rule.batch_size == 1 and rows.groups is None, rule.update, evaluate_update(), rule.k,
            rule.counted, rule.eta0, rule.radius,
            state.coef, state.correction, state.total, state.counts, mistakes,
        )  # fmt: skip
        if bad >= 0:
            raise _bad_row_error(rows, order[starts[bad] : starts[bad + 1]], offset)
        return mistakes


def _bad_row_error(rows: Rows, numbers: NDArray[np.intp], offset: int) -> BadRowError:
    """Return the error for a batch: its first value that is not finite, or else what is too large."""
    values = rows.X[numbers].toarray() if sp.issparse(rows.X) else rows.X[numbers]
    finite = np.isfinite(values)
    finite_rows = finite.all(axis=1)
    if finite_rows.all():
        max_weight = float(rows.sample_weight[numbers].max())
        remedy = "scale the features."
        if max_weight > np.abs(values).max():
            remedy = f"sample_weight reaches {max_weight:g}: divide it by a constant."
        return BadRowError(
            max(int(numbers[0]) + offset, 0),
            "Input X: ",
            f" or one of its batch has a score, or leads to a weight, beyond the range of floats; {remedy}",
        )
    worst = int(np.argmin(finite_rows))
    column = int(np.argmin(finite[worst]))
    what = "NaN" if np.isnan(values[worst, column]) else "infinity"
    return BadRowError(
        int(numbers[worst]) + offset,
        "Input X: ",
        f" contains {what} in column {column}; impute it or leave the row out. The model is unchanged.",
    )


# what a ranker keeps that can go on learning
trust_in_files(StreamLearner, State, UpdateRule, BatchSample, Rows)
