"""Rows in a file as a source of sums: read block by block, in threads, while others are used."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from copy import copy
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from numba import config
from numpy.typing import NDArray

from pushrank._numeric import Floats
from pushrank._parallel import map_chunks, row_chunks
from pushrank.datasets import DiskRows
from pushrank.models import LinearModel
from pushrank.models.linear import block_height, median_row
from pushrank.solvers.order_statistics import Values, break_even_threshold, order_statistic
from pushrank.solvers.sums import POSITIVE, Block, Blocks, Part

READ_BYTES = 1 << 21  # at a time: what was read is still in the processor's cache when it is used
SCORED_ROWS = 1 << 17  # at a time, of whose scores all are held
THREADS = 2  # for each processor: one reads while another adds up


class StoredRows:
    """The rows of a file in the chunks and blocks that those of an array would have: sums are the same."""

    def __init__(self, rows: DiskRows) -> None:
        self.rows, self.class_weights = rows, rows.class_weights
        self.n_rows, self.n_features = rows.n_rows, rows.n_features
        self.dtype, self.classes = rows.dtype, rows.classes
        self.chunks = row_chunks(self.n_rows, self.n_features)
        height = block_height(self.n_features)
        row_bytes = self.n_features * rows.dtype.itemsize
        # whole blocks, so that they begin and end where those of an array do
        self._height = height * max(1, READ_BYTES // (height * row_bytes))
        self.n_threads: int = min(THREADS * int(config.NUMBA_NUM_THREADS), len(self.chunks))
        self.reference = median_row(self)
        self.cut: Cut | None = None

    def __len__(self) -> int:
        """Return the number of rows."""
        return int(self.n_rows)

    def __getitem__(self, numbers: NDArray[np.intp]) -> NDArray[Any]:
        """Return a few rows."""
        return np.concatenate([self._read(int(number), 1)[0] for number in numbers])

    def map(self, function: Callable[[Blocks], Part]) -> list[Part]:
        """Return the function of the blocks of each chunk, in order."""
        return map_chunks(lambda start, stop: function(self.blocks(start, stop)), self.chunks, self.n_threads)

    def break_even_threshold(self, coef: NDArray[np.floating]) -> float:
        """Return the threshold above which as much weight is predicted positive as is positive.

        The scores are counted in passes over the file: four for coefficients in float32, seven in float64.
        """
        scores = StoredValues(self, partial(raw_scores, coef=coef))
        return break_even_threshold(scores, coef, self.class_weights[1])

    def highest_positives(self, coef: Floats, total: float) -> StoredRows:
        """Return the rows with no other positives than the highest, of a total weight; ties share alike.

        Nothing is written: the scores by ``coef`` are computed anew with every block.
        """
        scores = StoredValues(self, partial(negated_positives, coef=coef))
        cut, above, tied = order_statistic(scores, np.float64, total * (1.0 - 1e-12))
        chosen = copy(self)
        chosen.cut = Cut(coef, -cut, float(np.log(min(1.0, (total - above) / tied))))
        chosen.class_weights = (total, self.class_weights[1])
        return chosen

    def same_positives(self, other: StoredRows) -> bool:
        """Return whether the same positives have the same weights."""
        return all(all_rows(self).map(partial(are_cut_alike, one=self.cut, other=other.cut)))

    def left_out(self) -> NDArray[np.intp]:
        """Return the numbers of the positives that do not count in full."""
        parts = all_rows(self).map(partial(places_cut, cut=self.cut))
        starts = [start for start, _ in self.chunks]
        return np.concatenate([start + part for start, part in zip(starts, parts, strict=True)])

    def blocks(self, start: int, stop: int) -> Iterator[Block]:
        """Read the rows from start to stop, and yield them in blocks that fit the processor's cache."""
        buffer = self._arrays(min(self._height, stop - start))
        for first in range(start, stop, self._height):
            X, codes, log_weights = self._read(first, min(self._height, stop - first), buffer)
            model = LinearModel(X, reference=self.reference)
            for begin, end in model.blocks(0, len(X)):
                weights = log_weights[begin:end] if self.rows.weighted else None
                block = Block(model, begin, end, codes[begin:end], weights)
                if self.cut is not None:
                    block = block._replace(log_weights=kept_log_weights(block, self.cut))
                yield block

    def _arrays(self, n_rows: int) -> tuple[Any, Any, Any]:
        X = np.empty((n_rows, self.n_features), self.rows.dtype)
        return X, np.empty(n_rows, np.uint8), np.empty(n_rows if self.rows.weighted else 0)

    def _read(self, first: int, n_rows: int, buffer: Any = None) -> tuple[Any, Any, Any]:
        X, codes, weights = (part[:n_rows] for part in buffer or self._arrays(n_rows))
        self.rows.read(first, X, codes, weights)
        with np.errstate(divide="ignore"):
            return X, codes, np.log(weights, out=weights)


class Cut(NamedTuple):
    """Which positives count: those with a higher score than one, and of those with that score a share."""

    coef: Floats
    score: float
    log_share: float


def all_rows(rows: StoredRows) -> StoredRows:
    """Return the rows of which none is left out."""
    whole = copy(rows)
    whole.cut = None
    return whole


def kept_log_weights(block: Block, cut: Cut | None) -> Floats:
    """Return the logarithms of the weights that a cut leaves to a block's rows."""
    log_weights = np.zeros(len(block.class_codes)) if block.log_weights is None else block.log_weights.copy()
    if cut is not None:
        scores, positive = block.scores(cut.coef), block.class_codes == POSITIVE
        log_weights[positive & (scores == cut.score)] += cut.log_share
        log_weights[positive & (scores < cut.score)] = -np.inf
    return log_weights


def are_cut_alike(blocks: Blocks, one: Cut | None, other: Cut | None) -> bool:
    """Return whether two cuts leave the same weights."""
    return all(
        np.array_equal(kept_log_weights(block, one), kept_log_weights(block, other)) for block in blocks
    )


def places_cut(blocks: Blocks, cut: Cut | None) -> NDArray[np.intp]:
    """Return the places of the rows that a cut takes weight from, among those of the blocks."""
    kept, whole = (
        np.concatenate(parts)
        for parts in zip(
            *((kept_log_weights(b, cut), kept_log_weights(b, None)) for b in blocks), strict=True
        )
    )
    return np.flatnonzero(kept < whole)


class StoredValues:
    """Values of the rows of a file, computed anew whenever they are asked for."""

    def __init__(self, rows: StoredRows, values_of: Callable[[Block], Values]) -> None:
        self.rows, self.values_of = rows, values_of

    def map(self, function: Callable[..., Any], *arguments: Any) -> list[Any]:
        """Return the function of the values of each part of the rows."""

        def valued(start: int, stop: int) -> Any:
            parts = [self.values_of(block) for block in self.rows.blocks(start, stop)]
            values, weights = (list(part) for part in zip(*parts, strict=True))
            weighted = None if weights[0] is None else np.concatenate(weights)
            return function(Values(np.concatenate(values), weighted), *arguments)

        n_rows = self.rows.n_rows
        ranges = [(start, min(start + SCORED_ROWS, n_rows)) for start in range(0, n_rows, SCORED_ROWS)]
        return map_chunks(valued, ranges, self.rows.n_threads)


def raw_scores(block: Block, coef: NDArray[np.floating]) -> Values:
    """Return the scores of a block's rows without the constant of the model, and their weights."""
    model = LinearModel(block.model.data[block.first : block.last], centred=False)
    weights = None if block.log_weights is None else np.exp(block.log_weights)
    return Values(model.scores(coef.astype(np.float64)).astype(coef.dtype), weights)


def negated_positives(block: Block, coef: Floats) -> Values:
    """Return the scores of a block's positives, times -1, so that the highest come first."""
    scores, positive = block.scores(coef), block.class_codes == POSITIVE
    if block.log_weights is None:
        return Values(-scores[positive])
    positive &= block.log_weights > -np.inf
    return Values(-scores[positive], np.exp(block.log_weights[positive]))
