"""Learning from a stream of batches, whatever chunks its rows come in.

Purushottam Kar, Harikrishna Narasimhan, Prateek Jain, *Surrogate functions for maximizing precision at the
top*, ICML 2015, algorithms 1 to 4.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, NamedTuple, Self

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from pushrank._log_space import Floats
from pushrank.solvers.stream_kernels import (
    LARGEST_K,
    MISTAKES,
    MOST_MISTAKES,
    N_COUNTS,
    SCALE,
    SHARES,
    SKIPPED,
    STEPS,
    WEIGHT,
    run_batches,
)

SAMPLE_ROWS = 10_000
SAMPLE_BYTES = 1 << 26
LARGEST_KEY = 1 << 64


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
        Step t is ``eta0 / sqrt(t)`` times the slope over k; zero for the slope itself.
    radius : float
        The largest norm of an iterate, or infinity.
    """

    code: int
    k: float
    counted: bool
    eta0: float
    radius: float


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

    def followed_by(self, others: Rows) -> Rows:
        """Return these rows and others after them."""
        if sp.issparse(self.X) or sp.issparse(others.X):
            X = sp.vstack([sp.csr_array(self.X), sp.csr_array(others.X)], format="csr")
        else:
            X = np.vstack([self.X, others.X])
        return Rows(X, np.append(self.positive, others.positive), np.append(self.mass, others.mass))


class BadRowError(ValueError):
    """A row has no finite score; ``row`` is its place among the rows that were fed."""

    def __init__(self, row: int, what: str) -> None:
        super().__init__(f"row {row} {what}")
        self.row = row
        self.what = what


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
    n_batches : int
        Complete batches of the first reading of the rows.
    sampled : list of (key, Rows)
        Some of these batches, picked by a hash of their number: a random sample of bounded size.
    left_out : int
        The smallest hash of a batch that there was no room for.
    """

    rule: Rule
    size: int
    state: State
    ended: State = field(init=False)
    waiting: Rows | None = None
    wrong: list[Floats] = field(default_factory=list)
    wrong_at_end: Floats = field(default_factory=lambda: np.zeros(0))
    n_rows: int = 0
    n_batches: int = 0
    sampled: list[tuple[int, Rows]] = field(default_factory=list)
    left_out: int = LARGEST_KEY

    def __post_init__(self) -> None:
        """Start with a model that has learned from nothing."""
        self.ended = self.state

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
            completed = self.waiting.followed_by(rows.taken(np.arange(first)))
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
        if completed is not None:
            self._offer(completed, np.arange(self.size))
        self._offer(rows, np.arange(first, stop))

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
        if not self.n_rows:
            self._offer(rows, order)
        self.n_rows += len(order)

    def end(self) -> None:
        """Take the incomplete batch for a complete one: the next rows begin another."""
        if self.waiting is not None:
            self._offer(self.waiting, np.arange(self.waiting.n_rows))
        self.state, self.waiting = self.ended, None
        self.wrong.append(self.wrong_at_end)
        self.wrong_at_end = np.zeros(0)

    def forget_sample(self) -> None:
        """Keep no rows; the sample begins anew with the next."""
        self.sampled, self.left_out, self.n_batches = [], LARGEST_KEY, 0

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

    @property
    def sample(self) -> Rows:
        """A random sample of the rows; all of them where they are few."""
        parts = self.sampled
        if self.waiting is not None:
            parts, _ = self._room_for([*parts, (int(_key(self.n_batches)), self.waiting)])
        whole = parts[0][1]
        for _, rows in parts[1:]:
            whole = whole.followed_by(rows)
        return whole

    def _learn(self, rows: Rows, order: NDArray[np.intp], state: State, offset: int = 0) -> Floats:
        """Learn from rows in an order; ``offset`` is what is to be added to a place in a message."""
        wrong = np.empty(-(-len(order) // self.size))
        sparse = sp.issparse(rows.X)
        arrays = (None, rows.X.data, rows.X.indices, rows.X.indptr) if sparse else (rows.X, None, None, None)
        kept = (state.coef, state.lag, state.total, state.counts)
        bad = run_batches(*arrays, order, rows.positive, rows.mass, self.size, *self.rule, *kept, wrong)
        if bad >= 0:
            numbers = order[bad : bad + self.size]
            values = rows.X[numbers].toarray() if sparse else rows.X[numbers]
            finite = np.isfinite(values)
            of_rows = finite.all(axis=1)
            if of_rows.all():
                heaviest = float(rows.mass[numbers].max())
                of_weights = heaviest > np.abs(values).max()
                remedy = f"sample_weight reaches {heaviest:g}: divide it by a constant."
                raise BadRowError(
                    max(int(numbers[0]) + offset, 0),
                    "or one of its batch has a score, or leads to a weight, beyond the range of floats; "
                    + (remedy if of_weights else "scale the features."),
                )
            worst = int(np.argmin(of_rows))
            column = int(np.argmin(finite[worst]))
            what = "NaN" if np.isnan(values[worst, column]) else "infinity"
            raise BadRowError(
                int(numbers[worst]) + offset,
                f"contains {what} in column {column}; impute it or leave the row out. The model is "
                "unchanged.",
            )
        return wrong

    def _offer(self, rows: Rows, order: NDArray[np.intp]) -> None:
        """Keep those of the batches in the sample whose numbers have the smallest hashes."""
        starts = np.arange(0, len(order), self.size)
        keys = _key(self.n_batches + np.arange(len(starts)))
        for number in np.argsort(keys, kind="stable"):
            key = int(keys[number])
            if key >= self.left_out:
                break
            batch = order[starts[number] : starts[number] + self.size]
            kept, left_out = self._room_for([*self.sampled, (key, rows.taken(batch))])
            self.sampled, self.left_out = kept, min(self.left_out, left_out)
        self.n_batches += len(starts)

    def _room_for(self, parts: list[tuple[int, Rows]]) -> tuple[list[tuple[int, Rows]], int]:
        """Return the parts of smallest hash that there is room for, and the hash of the next one."""
        parts = sorted(parts, key=lambda part: part[0])
        room = SAMPLE_BYTES
        for count, (key, rows) in enumerate(parts):
            room -= rows.nbytes
            if count and (room < 0 or (count + 1) * self.size > SAMPLE_ROWS):
                return parts[:count], key
        return parts, LARGEST_KEY


def _key(number: Any) -> Any:
    """Return a hash of batch numbers (SplitMix64)."""
    with np.errstate(over="ignore"):
        z = (np.asarray(number, dtype=np.uint64) + np.uint64(1)) * np.uint64(0x9E3779B97F4A7C15)
        z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
        z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
        return z ^ (z >> np.uint64(31))
