"""Rows in a file as a source of sums: read block by block, in threads, while others are used."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from numba import config
from numpy.typing import NDArray

from pushrank._numeric import Floats
from pushrank._parallel import map_chunks, row_chunks
from pushrank.datasets import DiskRows
from pushrank.models import LinearModel
from pushrank.models.linear import block_height, median_row
from pushrank.solvers.order_statistics import Values, break_even_threshold
from pushrank.solvers.sums import Block, Blocks, Part

READ_BYTES = 1 << 21  # at a time: what was read is still in the processor's cache when it is used
SCORED_ROWS = 1 << 17  # at a time, of whose scores all are held
THREADS = 2  # for each processor: one reads while another adds up


class StoredRows:
    """The rows of a file in the chunks and blocks that those of an array would have: sums are the same.

    The file is read explicitly: of a memory map the pages that lie in memory count as the process's own.
    """

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
        return break_even_threshold(StoredScores(self, coef), coef, self.class_weights[1])

    def blocks(self, start: int, stop: int) -> Iterator[Block]:
        """Read the rows from start to stop, and yield them in blocks that fit the processor's cache."""
        buffer = self._arrays(min(self._height, stop - start))
        for first in range(start, stop, self._height):
            X, codes, log_weights = self._read(first, min(self._height, stop - first), buffer)
            model = LinearModel(X, reference=self.reference)
            for begin, end in model.blocks(0, len(X)):
                weights = log_weights[begin:end] if self.rows.weighted else None
                yield Block(model, begin, end, codes[begin:end], weights)

    def _arrays(self, n_rows: int) -> tuple[Any, Any, Any]:
        X = np.empty((n_rows, self.n_features), self.rows.dtype)
        return X, np.empty(n_rows, np.uint8), np.empty(n_rows if self.rows.weighted else 0)

    def _read(self, first: int, n_rows: int, buffer: Any = None) -> tuple[Any, Any, Any]:
        X, codes, weights = (part[:n_rows] for part in buffer or self._arrays(n_rows))
        self.rows.read(first, X, codes, weights)
        with np.errstate(divide="ignore"):
            return X, codes, np.log(weights, out=weights)


class StoredScores:
    """Scores of the rows of a file, computed anew whenever they are asked for."""

    def __init__(self, rows: StoredRows, coef: NDArray[np.floating]) -> None:
        self.rows, self.coef = rows, coef

    def map(self, function: Callable[..., Any], *arguments: Any) -> list[Any]:
        """Return the function of the scores of each part of the rows, in the dtype of the coefficients."""

        def scored(start: int, stop: int) -> Any:
            parts = [raw_scores(block, self.coef) for block in self.rows.blocks(start, stop)]
            values, weights = (list(part) for part in zip(*parts, strict=True))
            weighted = None if weights[0] is None else np.concatenate(weights)
            return function(Values(np.concatenate(values), weighted), *arguments)

        n_rows = self.rows.n_rows
        ranges = [(start, min(start + SCORED_ROWS, n_rows)) for start in range(0, n_rows, SCORED_ROWS)]
        return map_chunks(scored, ranges, self.rows.n_threads)


def raw_scores(block: Block, coef: NDArray[np.floating]) -> tuple[NDArray[np.floating], Floats | None]:
    """Return the scores of a block's rows without the constant of the model, and their weights."""
    model = LinearModel(block.model.data[block.first : block.last], centred=False)
    weights = None if block.log_weights is None else np.exp(block.log_weights)
    return model.scores(coef.astype(np.float64)).astype(coef.dtype), weights
