"""Learning from a stream of batches, whatever chunks its rows come in.

Purushottam Kar, Harikrishna Narasimhan, Prateek Jain, *Surrogate functions for maximizing precision at the
top*, ICML 2015, algorithms 1 to 4.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import NamedTuple, Self

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from pushrank._columns import BadRowError
from pushrank._log_space import Floats
from pushrank.objectives.precision_kernels import PERCEPTRONS
from pushrank.solvers.batch_sample import BatchSample
from pushrank.solvers.rows import Rows, one_after_another
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
