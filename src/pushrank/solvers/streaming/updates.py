"""Perceptron@k, SGD@k and the one-pass mini-batch method, batch by batch.

The compiled pass over batches: score, find the slopes, step, project, average.

The iterate is kept as ``scale * coef`` and the sum of all iterates as ``total + weight * coef - lag``, so
that a step touches only the features of the rows that it moves.

Learning from a stream of batches, whatever chunks its rows come in.

Purushottam Kar, Harikrishna Narasimhan, Prateek Jain, *Surrogate functions for maximizing precision at the
top*, ICML 2015, algorithms 1 to 4.
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
from pushrank._parallel import compiled
from pushrank._validation import BadRowError
from pushrank.objectives.precision_at_k import PERCEPTRONS, STRUCT, place, slopes

MOST_ROWS = 10_000
MOST_BYTES = 1 << 26
LARGEST_KEY = (1 << 64) - 1


class Rows(NamedTuple):
    """Checked rows: features, dense by rows or CSR, the class and the mass of each."""

    X: Any
    positive: NDArray[np.bool_]
    mass: Floats

    @property
    def n_rows(self) -> int:
        """How many there are."""
        return len(self.positive)

    @property
    def nbytes(self) -> int:
        """The memory of the features."""
        parts = (self.X.data, self.X.indices, self.X.indptr) if sp.issparse(self.X) else (self.X,)
        return sum(int(part.nbytes) for part in parts)

    def taken(self, numbers: NDArray[np.intp]) -> Rows:
        """Return a copy of some rows."""
        return Rows(self.X[numbers], self.positive[numbers], self.mass[numbers])


def one_after_another(parts: Sequence[Rows]) -> Rows:
    """Return the rows of all parts; CSR where any of them is."""
    if any(sp.issparse(part.X) for part in parts):
        X = sp.vstack([sp.csr_array(part.X) for part in parts], format="csr")
    else:
        X = np.vstack([part.X for part in parts])
    positive, mass = (np.concatenate(column) for column in list(zip(*parts, strict=True))[1:])
    return Rows(X, positive, mass)


@dataclass
class BatchSample:
    """The batches whose numbers have the smallest hashes, as many as there is room for; one at least.

    Attributes
    ----------
    size : int
        The rows of a batch; fewer in the last.
    batches : list of (int, Rows)
        A heap of them with their hashes times -1, the largest hash first.
    n_bytes : int
        The memory of their features.
    left_out : int
        The smallest hash of a batch that there was no room for.
    n_batches, n_rows : int
        What was offered so far.
    """

    size: int
    batches: list[tuple[int, Rows]] = field(default_factory=list)
    n_bytes: int = 0
    left_out: int = LARGEST_KEY
    n_batches: int = 0
    n_rows: int = 0

    def offer(self, rows: Rows, order: NDArray[np.intp]) -> None:
        """Choose among the next batches, which are cut from rows in an order."""
        keys = _hashes(self.n_batches + np.arange(-(-len(order) // self.size)))
        for number in np.argsort(keys, kind="stable"):
            key = int(keys[number])
            if key >= self.left_out:
                break
            self._take_in(key, rows.taken(order[number * self.size : (number + 1) * self.size]))
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
        return one_after_another([rows for _, rows in sorted(self.batches, key=lambda batch: -batch[0])])

    def _take_in(self, key: int, rows: Rows) -> None:
        heapq.heappush(self.batches, (-key, rows))
        self.n_bytes += rows.nbytes
        while len(self.batches) > 1 and (
            self.n_bytes > MOST_BYTES or len(self.batches) * self.size > MOST_ROWS
        ):
            key, dropped = heapq.heappop(self.batches)
            self.n_bytes -= dropped.nbytes
            self.left_out = -key


def _hashes(numbers: Any) -> Any:
    """Return a hash of batch numbers (SplitMix64)."""
    with np.errstate(over="ignore"):
        z = (np.asarray(numbers, dtype=np.uint64) + np.uint64(1)) * np.uint64(0x9E3779B97F4A7C15)
        z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
        z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
        return z ^ (z >> np.uint64(31))


SCALE, WEIGHT, STEPS, SQUARED_NORM, MISTAKES, MOST_MISTAKES, SHARES, LARGEST_K, SKIPPED, N_COUNTS = range(10)
"""Places in the array of counts: beside those above, batches that moved, the squared norm of ``coef``,
negatives among the first k in all batches, the most there can be of them, and as a sum of shares of k, the
largest k, and batches without a positive or a negative."""

SMALL_SCALE = 1e-3  # below it, rounding of the sum of iterates would show


@compiled(fastmath={"reassoc", "contract", "nsz"})
def run_batches(
    dense, data, indices, indptr, order, positive, mass, size, rule, k, counted, eta0, radius, coef, lag,
    total, counts, wrong,
):  # fmt: skip
    """Go through batches of ``size`` rows in the given order; the last may be shorter.

    Either ``dense`` is a matrix, or ``data``, ``indices`` and ``indptr`` are those of a CSR matrix; the rest
    is None, and with it the lines that would read it are compiled away. ``coef``,
    ``lag``, ``total`` and ``counts`` are the state, changed in place; ``wrong`` takes the number of negatives
    among the first k of every batch. Steps are ``eta0 / sqrt(t)`` times the slope over k, or, for a
    perceptron, the slope itself. Return -1, or the place in the order of the first row of a batch whose
    scores are not finite, or lead to weights that are not.
    """
    n_features = len(coef)
    delta = np.zeros(n_features)
    scores, out = np.empty(size), np.empty(size)
    classes, masses = np.empty(size, np.bool_), np.empty(size)
    bounded = radius < np.inf  # numpy.isfinite is x - x == 0, which fast mathematics takes to be true
    for batch in range(len(wrong)):
        start = batch * size
        n_rows = min(size, len(order) - start)
        rows = order[start : start + n_rows]
        scale = counts[SCALE]
        check = 0.0
        total_positive = total_negative = 0.0
        for a in range(n_rows):
            r = rows[a]
            score = 0.0
            if dense is not None:
                for j in range(n_features):
                    score += dense[r, j] * coef[j]
            if data is not None:
                for e in range(np.uint64(indptr[r]), np.uint64(indptr[r + 1])):
                    score += data[e] * coef[np.uint32(indices[e])]
            scores[a] = scale * score
            check += 0.0 * score
            classes[a] = positive[r]
            masses[a] = mass[r]
            if classes[a]:
                total_positive += masses[a]
            else:
                total_negative += masses[a]
        if check != 0.0:  # zero times a score that is not finite
            return start
        wrong[batch] = 0.0
        if total_positive <= 0.0 or total_negative <= 0.0:
            counts[SKIPPED] += 1.0
            continue
        count = place(k, counted, total_positive)
        value, mistakes = slopes(
            rule, scores[:n_rows], classes[:n_rows], masses[:n_rows], count, out[:n_rows]
        )
        wrong[batch] = mistakes
        counts[MISTAKES] += mistakes
        counts[MOST_MISTAKES] += min(count, total_negative)
        counts[SHARES] += mistakes / count
        counts[LARGEST_K] = max(counts[LARGEST_K], count)
        counts[STEPS] += 1.0
        if value != 0.0 or rule == STRUCT:  # whose value may be zero on a slope
            step = -1.0 / scale
            if rule not in PERCEPTRONS:
                step *= eta0 / (np.sqrt(counts[STEPS]) * count)
            before = counts[WEIGHT]
            if dense is not None:
                delta[:] = 0.0
                for a in range(n_rows):
                    if out[a] != 0.0:
                        factor = step * out[a]
                        r = rows[a]
                        for j in range(n_features):
                            delta[j] += factor * dense[r, j]
                norm = 0.0
                for j in range(n_features):
                    coef[j] += delta[j]
                    lag[j] += before * delta[j]
                    norm += coef[j] * coef[j]
                counts[SQUARED_NORM] = norm
            if data is not None:
                grown = 0.0
                for a in range(n_rows):
                    if out[a] != 0.0:
                        factor = step * out[a]
                        r = rows[a]
                        for e in range(np.uint64(indptr[r]), np.uint64(indptr[r + 1])):
                            feature = np.uint32(indices[e])
                            move = factor * data[e]
                            grown += move * (2.0 * coef[feature] + move)
                            coef[feature] += move
                            lag[feature] += before * move
                counts[SQUARED_NORM] += grown
            if not abs(counts[SQUARED_NORM]) < np.inf:
                return start
        if bounded:
            longest = scale * np.sqrt(max(counts[SQUARED_NORM], 0.0))
            if longest > radius:
                scale *= radius / longest
                counts[SCALE] = scale
        if scale < SMALL_SCALE:
            for j in range(n_features):
                total[j] += counts[WEIGHT] * coef[j] - lag[j]
                lag[j] = 0.0
                coef[j] *= scale
            counts[WEIGHT] = 0.0
            counts[SQUARED_NORM] *= scale * scale
            counts[SCALE] = 1.0
        counts[WEIGHT] += counts[SCALE]
    return -1


@compiled()
def total_loss(scores, positive, mass, order, size, rule, k, counted):
    """Return the sum of a surrogate over the batches that have both classes, in the given order."""
    total = 0.0
    out = np.empty(size)
    for start in range(0, len(order), size):
        rows = order[start : start + size]
        classes, masses = positive[rows], mass[rows]
        total_positive = masses[classes].sum()
        if total_positive > 0.0 and masses[~classes].sum() > 0.0:
            count = place(k, counted, total_positive)
            total += slopes(rule, scores[rows], classes, masses, count, out[: len(rows)])[0]
    return total


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


class Rule(NamedTuple):
    """What a batch teaches.

    Attributes
    ----------
    code : int
        One of the rules of ``precision_kernels``.
    k : float
        A number of rows, or a fraction of a batch's positives.
    counted : bool
        Which of the two k is.
    eta0 : float
        Step t is ``eta0 / sqrt(t)`` times the slope over k; for a perceptron, the slope itself.
    radius : float
        The largest norm of an iterate, or infinity.
    """

    code: int
    k: float
    counted: bool
    eta0: float = 1.0
    radius: float = np.inf

    @property
    def is_perceptron(self) -> bool:
        """Whether batches without a mistake teach nothing."""
        return self.code in PERCEPTRONS


@dataclass
class State:
    """An iterate, and what the mean of all iterates follows from; see ``stream_kernels``."""

    coef: Floats
    lag: Floats
    total: Floats
    counts: Floats

    @classmethod
    def at_zero(cls, n_features: int) -> Self:
        """Return the state before the first batch."""
        counts = np.zeros(N_COUNTS)
        counts[SCALE] = 1.0
        return cls(np.zeros(n_features), np.zeros(n_features), np.zeros(n_features), counts)

    def copied(self) -> State:
        """Return a copy that shares nothing."""
        return State(self.coef.copy(), self.lag.copy(), self.total.copy(), self.counts.copy())

    @property
    def iterate(self) -> Floats:
        """The last coefficients."""
        last: Floats = self.counts[SCALE] * self.coef
        return last

    @property
    def mean(self) -> Floats:
        """The mean of the coefficients after every batch that had both classes."""
        mean: Floats = self.counts[WEIGHT] * self.coef
        mean -= self.lag
        mean += self.total
        mean /= max(self.counts[STEPS], 1.0)
        return mean

    def at_rest(self) -> State:
        """Return the state in which all iterates were the last one, so that it is their mean."""
        counts = self.counts.copy()
        counts[WEIGHT] = counts[STEPS] * counts[SCALE]
        return State(self.coef.copy(), np.zeros_like(self.lag), np.zeros_like(self.total), counts)


@dataclass
class Stream:
    """A learner that is fed rows, in chunks of any size, and learns from batches of one size.

    Rows that do not fill a batch wait for the next chunk. Meanwhile the model is that which results when the
    stream ends here: it has learned from the short batch, and will unlearn it when the batch is complete.

    Attributes
    ----------
    rule : Rule
        What a batch teaches.
    size : int
        The rows of a batch.
    state : State
        After the last complete batch.
    ended : State
        As if the stream had ended here.
    waiting : Rows or None
        The rows of the incomplete batch.
    wrong : list of ndarray
        Negatives among the first k of every complete batch.
    wrong_at_end : ndarray
        The same of the incomplete one, of length 0 or 1.
    n_rows : int
        Rows fed so far.
    sample : BatchSample
        Of the rows since the start, or since they were forgotten.
    sampling : bool
        Whether rows are new, and not those of a reading that has ended.
    """

    rule: Rule
    size: int
    state: State
    ended: State = field(init=False)
    waiting: Rows | None = None
    wrong: list[Floats] = field(default_factory=list)
    wrong_at_end: Floats = field(default_factory=lambda: np.zeros(0))
    n_rows: int = 0
    sample: BatchSample = field(init=False)
    sampling: bool = True

    def __post_init__(self) -> None:
        """Start with a model that has learned from nothing."""
        self.ended = self.state
        self.sample = BatchSample(self.size)

    @classmethod
    def start(cls, rule: Rule, size: int, n_features: int) -> Self:
        """Return a stream at its beginning."""
        return cls(rule, size, State.at_zero(n_features))

    def feed(self, rows: Rows) -> None:
        """Learn from the next rows.

        Raises
        ------
        BadRowError
            When a row's score is not finite; then nothing has changed.
        """
        state, wrong, first = self.state.copied(), [], 0
        completed = None
        if self.waiting is not None:
            first = min(self.size - self.waiting.n_rows, rows.n_rows)
            completed = one_after_another([self.waiting, rows.taken(np.arange(first))])
        stop = first + (rows.n_rows - first) // self.size * self.size
        waiting = rows.taken(np.arange(stop, rows.n_rows)) if stop < rows.n_rows else None
        if completed is not None and completed.n_rows < self.size:
            completed, waiting = None, completed
        if completed is not None:
            before = completed.n_rows - first
            wrong.append(self._learn(completed, np.arange(self.size), state, -before))
        if stop > first:
            wrong.append(self._learn(rows, np.arange(first, stop), state))
        ended, at_end = state, np.zeros(0)
        if waiting is not None:
            ended = state.copied()
            at_end = self._learn(waiting, np.arange(waiting.n_rows), ended, rows.n_rows - waiting.n_rows)
        self.state, self.ended, self.waiting = state, ended, waiting
        self.wrong += wrong
        self.wrong_at_end = at_end
        self.n_rows += rows.n_rows
        if self.sampling:
            if completed is not None:
                self.sample.offer(completed, np.arange(self.size))
            self.sample.offer(rows, np.arange(first, stop))

    def feed_whole(self, rows: Rows, order: NDArray[np.intp]) -> None:
        """Learn from rows in an order, and from the last ones though they do not fill a batch.

        Raises
        ------
        BadRowError
            When a row's score is not finite; then nothing has changed.
        """
        state = self.state.copied()
        self.wrong.append(self._learn(rows, order, state))
        self.state = self.ended = state
        self.n_rows += len(order)
        if self.sampling:
            self.sample.offer(rows, order)
        self.sampling = False

    def end(self) -> None:
        """End a reading of the rows: an incomplete batch is taken for a complete one."""
        self.sample, self.sampling = self.sample_so_far, False
        self.state, self.waiting = self.ended, None
        self.wrong.append(self.wrong_at_end)
        self.wrong_at_end = np.zeros(0)

    def rest(self) -> None:
        """Take the last weights for the mean too: a whole reading has left them as they were."""
        self.state = self.ended = self.ended.at_rest()

    def forget_sample(self) -> None:
        """Keep no rows; the sample begins anew with the next."""
        self.sample, self.sampling = BatchSample(self.size), True

    @property
    def sample_so_far(self) -> BatchSample:
        """The sample with the rows of the incomplete batch."""
        if self.waiting is None or not self.sampling:
            return self.sample
        return self.sample.followed_by(self.waiting)

    @property
    def n_sampled_from(self) -> int:
        """How many rows the sample was taken from."""
        waiting = self.waiting.n_rows if self.waiting is not None and self.sampling else 0
        return self.sample.n_rows + waiting

    @property
    def wrong_path(self) -> Floats:
        """Negatives among the first k of every batch."""
        return np.concatenate([*self.wrong, self.wrong_at_end])

    @property
    def mistakes(self) -> float:
        """Their sum."""
        return float(self.ended.counts[MISTAKES])

    @property
    def most_mistakes(self) -> float:
        """The most there can be, and the loss of zero weights by any surrogate that bounds them."""
        return float(self.ended.counts[MOST_MISTAKES])

    @property
    def mistake_rate(self) -> float:
        """The mean share of negatives among the first k of batches that had both classes."""
        return float(self.ended.counts[SHARES] / max(self.ended.counts[STEPS], 1.0))

    @property
    def skipped(self) -> int:
        """How many batches lacked a class."""
        return int(self.ended.counts[SKIPPED])

    @property
    def largest_k(self) -> float:
        """The most rows that k stood for in a batch."""
        return float(self.ended.counts[LARGEST_K])

    def _learn(self, rows: Rows, order: NDArray[np.intp], state: State, offset: int = 0) -> Floats:
        """Learn from rows in an order; ``offset`` is what is to be added to a place in a message."""
        size = min(self.size, len(order))
        wrong = np.empty(-(-len(order) // size))
        sparse = sp.issparse(rows.X)
        arrays = (None, rows.X.data, rows.X.indices, rows.X.indptr) if sparse else (rows.X, None, None, None)
        kept = (state.coef, state.lag, state.total, state.counts)
        bad = run_batches(*arrays, order, rows.positive, rows.mass, size, *self.rule, *kept, wrong)
        if bad >= 0:
            numbers = order[bad : bad + size]
            values = rows.X[numbers].toarray() if sparse else rows.X[numbers]
            finite = np.isfinite(values)
            of_rows = finite.all(axis=1)
            if of_rows.all():
                heaviest = float(rows.mass[numbers].max())
                of_weights = heaviest > np.abs(values).max()
                remedy = f"sample_weight reaches {heaviest:g}: divide it by a constant."
                raise BadRowError(
                    max(int(numbers[0]) + offset, 0),
                    "Input X: ",
                    " or one of its batch has a score, or leads to a weight, beyond the range of floats; "
                    + (remedy if of_weights else "scale the features."),
                )
            worst = int(np.argmin(of_rows))
            column = int(np.argmin(finite[worst]))
            what = "NaN" if np.isnan(values[worst, column]) else "infinity"
            raise BadRowError(
                int(numbers[worst]) + offset,
                "Input X: ",
                f" contains {what} in column {column}; impute it or leave the row out. The model is "
                "unchanged.",
            )
        return wrong


# what a ranker keeps that can go on learning
trust_in_files(Stream, State, Rule, BatchSample, Rows)
