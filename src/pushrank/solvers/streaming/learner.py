"""The learner of a stream: cuts chunks of rows into batches, and keeps a sample of them for a threshold."""

from __future__ import annotations

import heapq
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from pushrank._base.files import trust_in_files
from pushrank._base.numeric import Floats
from pushrank._base.validation import BadRowError
from pushrank.solvers.streaming.updates import Batches, StreamState, UpdateRule, learn_batches

# A sample of this size gives the break-even point with a standard error of about 1 % of the rows.
MAX_SAMPLE_ROWS = 10_000
MAX_SAMPLE_BYTES = 1 << 26
MAX_KEY = (1 << 64) - 1
SAMPLE_SEED = np.random.SeedSequence(0)


class LabelledRows(NamedTuple):
    """Checked rows: features, dense by rows or CSR, and the class, weight and query of each."""

    X: Any
    positive: NDArray[np.bool_]
    sample_weight: Floats
    groups: NDArray[np.intp] | None = None

    @property
    def n_rows(self) -> int:
        return len(self.positive)

    @property
    def nbytes(self) -> int:
        """The memory of the features."""
        arrays = (self.X.data, self.X.indices, self.X.indptr) if sp.issparse(self.X) else (self.X,)
        return sum(int(array.nbytes) for array in arrays)

    def take(self, numbers: NDArray[np.intp]) -> LabelledRows:
        """Return a copy of some rows."""
        groups = None if self.groups is None else self.groups[numbers]
        return LabelledRows(self.X[numbers], self.positive[numbers], self.sample_weight[numbers], groups)

    def batches(self, order: NDArray[np.intp], size: int) -> Batches:
        """Return the rows in an order, cut into batches: queries, or this many rows."""
        # Orders keep the rows of a query together, so that a change of the group starts a batch.
        if self.groups is None:
            starts = np.arange(0, len(order), size)
        else:
            starts = np.flatnonzero(np.diff(self.groups[order], prepend=-1))
        return Batches(order, np.append(starts, len(order)), size == 1 and self.groups is None)


def concatenated(parts: Sequence[LabelledRows]) -> LabelledRows:
    """Return the rows of all parts; CSR if any of them is."""
    # Chunks of a stream may be dense or sparse in turn.
    if any(sp.issparse(part.X) for part in parts):
        X = sp.vstack([sp.csr_array(part.X) for part in parts], format="csr")
    else:
        X = np.vstack([part.X for part in parts])
    positive, sample_weight = (np.concatenate(column) for column in list(zip(*parts, strict=True))[1:3])
    return LabelledRows(X, positive, sample_weight)


@dataclass
class BatchSample:
    """A random sample of batches of ``size`` rows, as many as there is room for, and at least one."""

    # Every batch has a random key that depends on its number in the stream alone, and those with the smallest
    # keys are kept: how rows were cut into chunks changes nothing. `batches` is a heap with the keys negated,
    # `n_bytes` the memory of their features; `n_batches` and `n_rows` count all that were offered.

    size: int
    batches: list[tuple[int, LabelledRows]] = field(default_factory=list)
    n_bytes: int = 0
    min_key_left_out: int = MAX_KEY
    n_batches: int = 0
    n_rows: int = 0

    def offer(self, rows: LabelledRows, order: NDArray[np.intp]) -> None:
        """Choose among the next batches, which are cut from rows in an order."""
        # NumPy promises that later versions return the same raw numbers of a bit generator.
        keys = np.random.PCG64(SAMPLE_SEED).advance(self.n_batches).random_raw(-(-len(order) // self.size))
        for number in np.argsort(keys, kind="stable"):
            key = int(keys[number])
            if key >= self.min_key_left_out:
                break
            self._push(key, rows.take(order[number * self.size : (number + 1) * self.size]))
        self.n_batches += len(keys)
        self.n_rows += len(order)

    def followed_by(self, rows: LabelledRows) -> BatchSample:
        """Return the sample as if these rows, a batch or less, had been offered too."""
        # The heap is copied, its batches are shared.
        other = replace(self, batches=self.batches.copy())
        other.offer(rows, np.arange(rows.n_rows))
        return other

    @property
    def rows(self) -> LabelledRows:
        """The rows of the sample, which are all rows of a short stream."""
        return concatenated([rows for _, rows in sorted(self.batches, key=lambda batch: -batch[0])])

    def _push(self, key: int, rows: LabelledRows) -> None:
        heapq.heappush(self.batches, (-key, rows))
        self.n_bytes += rows.nbytes
        # Batches are as large as the user says: one is kept even if it alone exceeds the limits.
        while len(self.batches) > 1 and (
            self.n_bytes > MAX_SAMPLE_BYTES or len(self.batches) * self.size > MAX_SAMPLE_ROWS
        ):
            key, dropped = heapq.heappop(self.batches)
            self.n_bytes -= dropped.nbytes
            self.min_key_left_out = -key


@dataclass
class StreamLearner:
    """Learns by an update rule from rows that come in chunks of any size."""

    # Rows that do not fill a batch are kept in `buffer`. Meanwhile `finalized` has learned from the short
    # batch too, as if the stream ended here; the full batch will be learned from `state`, which has not.
    # `buffer_mistakes` are those in the incomplete batch, of length 0 or 1. `sample` is taken from the rows
    # since the start, or since they were forgotten, and not from those of an earlier epoch.

    rule: UpdateRule
    state: StreamState
    finalized: StreamState = field(init=False)
    buffer: LabelledRows | None = None
    mistakes_by_batch: list[Floats] = field(default_factory=list)
    buffer_mistakes: Floats = field(default_factory=lambda: np.zeros(0))
    n_rows: int = 0
    sample: BatchSample = field(init=False)
    sampling: bool = True

    def __post_init__(self) -> None:
        self.finalized = self.state
        self.sample = BatchSample(self.rule.batch_size)

    def partial_fit(self, rows: LabelledRows) -> None:
        """Learn from the next rows; where a score is not finite a ``BadRowError`` leaves all unchanged."""
        # Rows of weight zero are in no batch.
        if not rows.sample_weight.all():
            counted = np.flatnonzero(rows.sample_weight)
            if not np.isfinite(rows.X.data if sp.issparse(rows.X) else rows.X).all():
                raise _bad_row_error(rows, np.arange(rows.n_rows))
            try:
                self.partial_fit(rows.take(counted))
            except BadRowError as error:
                raise BadRowError(int(counted[error.row]), *error.args[1:]) from error
            self.n_rows += rows.n_rows - len(counted)
            return
        # The rows complete the buffered batch, then make up whole batches, and the rest is buffered.
        size, state, mistakes, first = self.rule.batch_size, self.state.copy(), [], 0
        completed = None
        if self.buffer is not None:
            first = min(size - self.buffer.n_rows, rows.n_rows)
            completed = concatenated([self.buffer, rows.take(np.arange(first))])
        stop = first + (rows.n_rows - first) // size * size
        in_batches = np.arange(first, stop)
        buffer = rows.take(np.arange(stop, rows.n_rows)) if stop < rows.n_rows else None
        if completed is not None and completed.n_rows < size:
            completed, buffer = None, completed
        if completed is not None:
            mistakes.append(self._learn(completed, np.arange(size), state, first - completed.n_rows))
        if stop > first:
            mistakes.append(self._learn(rows, in_batches, state))
        # The incomplete batch is learned by a copy, which later rows discard.
        finalized, buffer_mistakes = state, np.zeros(0)
        if buffer is not None:
            finalized = state.copy()
            offset = rows.n_rows - buffer.n_rows
            buffer_mistakes = self._learn(buffer, np.arange(buffer.n_rows), finalized, offset)
        # Nothing fails from here on, so that the learner is changed as a whole or not at all.
        self.state, self.finalized, self.buffer = state, finalized, buffer
        self.mistakes_by_batch += mistakes
        self.buffer_mistakes = buffer_mistakes
        self.n_rows += rows.n_rows
        if self.sampling:
            if completed is not None:
                self.sample.offer(completed, np.arange(size))
            self.sample.offer(rows, in_batches)

    def epoch(self, rows: LabelledRows, order: NDArray[np.intp]) -> None:
        """Learn from all rows in an order, also from the last ones that do not fill a batch."""
        state = self.state.copy()
        self.mistakes_by_batch.append(self._learn(rows, order, state))
        self.state = self.finalized = state
        self.n_rows += len(order)
        if self.sampling:
            self.sample.offer(rows, order)
        # Later epochs read the same rows again.
        self.sampling = False

    def end_epoch(self) -> None:
        """End a reading of the rows: the incomplete batch counts as a complete one."""
        self.sample, self.sampling = self.current_sample, False
        self.state, self.buffer = self.finalized, None
        self.mistakes_by_batch.append(self.buffer_mistakes)
        self.buffer_mistakes = np.zeros(0)

    def use_last_as_mean(self) -> None:
        """Use the last coefficients as the mean too, after an epoch that did not change them."""
        self.state = self.finalized = self.finalized.with_last_as_mean()

    def forget_sample(self) -> None:
        """Drop the sampled rows; the next rows start a new sample."""
        self.sample, self.sampling = BatchSample(self.rule.batch_size), True

    @property
    def current_sample(self) -> BatchSample:
        """The sample with the rows of the incomplete batch."""
        if self.buffer is None or not self.sampling:
            return self.sample
        return self.sample.followed_by(self.buffer)

    @property
    def n_rows_sampled_from(self) -> int:
        """The number of rows that the current sample was taken from."""
        return self.sample.n_rows + (self.buffer.n_rows if self.buffer is not None and self.sampling else 0)

    @property
    def mistakes_path(self) -> Floats:
        """The negatives among the first k of every batch."""
        return np.concatenate([*self.mistakes_by_batch, self.buffer_mistakes])

    @property
    def n_mistakes(self) -> float:
        """The sum of the mistakes."""
        return self.finalized.read("mistakes")

    @property
    def mistake_rate(self) -> float:
        """The mean share of negatives among the first k of batches that had both classes."""
        return self.finalized.read("mistake_rates") / max(self.finalized.read("n_steps"), 1.0)

    def _learn(
        self, rows: LabelledRows, order: NDArray[np.intp], state: StreamState, offset: int = 0
    ) -> Floats:
        """Learn from rows in an order; a message adds ``offset`` to the number of a row."""
        batches = rows.batches(order, self.rule.batch_size)
        mistakes = np.empty(len(batches.starts) - 1)
        failed = learn_batches(rows.X, rows.positive, rows.sample_weight, batches, self.rule, state, mistakes)
        if failed >= 0:
            in_batch = order[batches.starts[failed] : batches.starts[failed + 1]]
            raise _bad_row_error(rows.take(in_batch), in_batch + offset)
        return mistakes


def _bad_row_error(rows: LabelledRows, numbers: NDArray[np.intp]) -> BadRowError:
    """Return the error for a batch: its first value that is not finite, or else what is too large."""
    values = rows.X.toarray() if sp.issparse(rows.X) else rows.X
    # Finite features with a score that is not finite are too large, or have too large weights.
    finite = np.isfinite(values)
    finite_rows = finite.all(axis=1)
    if finite_rows.all():
        max_weight = float(rows.sample_weight.max())
        remedy = "scale the features."
        if max_weight > np.abs(values).max():
            remedy = f"sample_weight reaches {max_weight:g}: divide it by a constant."
        fault = (
            f" or one of its batch has a score, or leads to a weight, beyond the range of floats; {remedy}"
        )
        # Rows of an earlier chunk have negative numbers.
        return BadRowError(max(int(numbers[0]), 0), "Input X: ", fault)
    worst = int(np.argmin(finite_rows))
    column = int(np.argmin(finite[worst]))
    what = "NaN" if np.isnan(values[worst, column]) else "infinity"
    fault = f" contains {what} in column {column}; impute it or leave the row out. The model is unchanged."
    return BadRowError(int(numbers[worst]), "Input X: ", fault)


# A saved ranker can go on learning, so that its file holds the learner.
trust_in_files(StreamLearner, StreamState, UpdateRule, BatchSample, LabelledRows)
