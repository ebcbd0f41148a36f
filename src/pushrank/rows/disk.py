"""Rows on disk as a source of sums: read block by block, in threads, while other blocks are used."""

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from numba import config
from numpy.typing import NDArray

from pushrank._parallel import map_chunks, row_chunks
from pushrank.datasets import DiskRows
from pushrank.models import LinearModel
from pushrank.models.linear import block_height, median_row
from pushrank.rows.memory import cut_blocks
from pushrank.rows.order_statistics import ValueParts, Values
from pushrank.rows.source import Block, Blocks, OuterRows, Part
from pushrank.user_types import GenericArray

# So few bytes are read at a time that they are still in the processor's cache when they are used.
READ_BYTES = 1 << 21
# The scores of this number of rows are held at a time.
SCORED_ROWS = 1 << 17
# For each processor one thread reads while another adds up.
THREADS = 2


class StoredRows(OuterRows):
    """Rows on disk, in the chunks and blocks that those of an array would have: the sums are the same."""

    def __init__(self, rows: DiskRows) -> None:
        self.rows, self.class_weights = rows, rows.class_weights
        self.n_rows, self.n_features = rows.n_rows, rows.n_features
        self.dtype, self.classes, self.feature_names = rows.dtype, rows.classes, rows.feature_names
        self.chunks = row_chunks(self.n_rows, self.n_features)
        height = block_height(self.n_features)
        row_bytes = self.n_features * rows.dtype.itemsize
        # A read is of whole blocks, so that these begin and end where those of an array do.
        self._height = height * max(1, READ_BYTES // (height * row_bytes))
        self.n_threads: int = min(THREADS * int(config.NUMBA_NUM_THREADS), len(self.chunks))
        self.reference = median_row(self)

    def __len__(self) -> int:
        return int(self.n_rows)

    def __getitem__(self, numbers: NDArray[np.intp]) -> GenericArray:
        return np.concatenate([self._read(int(number), 1)[0] for number in numbers])

    def map_all(self, function: Callable[[Blocks], Part]) -> list[Part]:
        return map_chunks(lambda start, stop: function(self.blocks(start, stop)), self.chunks, self.n_threads)

    def value_parts(self, method: Callable[..., Values], coef: NDArray[np.floating]) -> ValueParts:
        return ComputedValues(self, method, coef)

    def blocks(self, start: int, stop: int) -> Iterator[Block]:
        """Read the rows from start to stop, and yield them in blocks that fit the processor's cache."""
        buffer = self._arrays(min(self._height, stop - start))
        for first in range(start, stop, self._height):
            X, codes, log_weights = self._read(first, min(self._height, stop - first), buffer)
            model = LinearModel(X, reference=self.reference)
            weights = log_weights if self.rows.weighted else None
            yield from cut_blocks(model, 0, len(X), codes, weights)

    def _arrays(self, n_rows: int) -> tuple[Any, Any, Any]:
        X = np.empty((n_rows, self.n_features), self.rows.dtype)
        return X, np.empty(n_rows, np.uint8), np.empty(n_rows if self.rows.weighted else 0)

    def _read(
        self, first: int, n_rows: int, buffer: tuple[Any, Any, Any] | None = None
    ) -> tuple[Any, Any, Any]:
        X, codes, weights = (part[:n_rows] for part in buffer or self._arrays(n_rows))
        self.rows.read(first, X, codes, weights)
        with np.errstate(divide="ignore"):
            return X, codes, np.log(weights, out=weights)


class ComputedValues:
    """What a method of ``Block`` returns for the rows of a file, computed with every reading."""

    def __init__(self, rows: StoredRows, method: Callable[..., Values], coef: NDArray[np.floating]) -> None:
        self.rows, self.method, self.coef = rows, method, coef

    def map(self, function: Callable[..., Part], *arguments: object) -> list[Part]:

        def mapped(start: int, stop: int) -> Part:
            parts = [self.method(block, self.coef) for block in self.rows.blocks(start, stop)]
            values, weights = (list(part) for part in zip(*parts, strict=True))
            joined = None if weights[0] is None else np.concatenate(weights)
            return function(Values(np.concatenate(values), joined), *arguments)

        n_rows = self.rows.n_rows
        ranges = [(start, min(start + SCORED_ROWS, n_rows)) for start in range(0, n_rows, SCORED_ROWS)]
        return map_chunks(mapped, ranges, self.rows.n_threads)
