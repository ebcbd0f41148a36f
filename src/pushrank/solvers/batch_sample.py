"""A random sample of batches, of bounded size, that does not depend on the chunks they came in."""

from __future__ import annotations

import heapq
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pushrank.solvers.rows import Rows, one_after_another

MOST_ROWS = 10_000
MOST_BYTES = 1 << 26
LARGEST_KEY = (1 << 64) - 1


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
