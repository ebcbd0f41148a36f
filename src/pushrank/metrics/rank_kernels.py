"""Compiled loops that count scores at levels and between them."""

from __future__ import annotations

import numba
import numpy as np

_compiled = numba.njit(cache=True, nogil=True, error_model="numpy")

IN_STEP = 64  # scores searched side by side: enough to keep vector registers and memory busy


@_compiled
def find_cells(levels, scores, cells):
    """Write the cell of each score: 2g between levels g - 1 and g, 2g + 1 at level g.

    A binary search without branches. Its steps depend on the number of levels alone, so a block of scores
    takes them together, and their waits for memory overlap.
    """
    first = np.empty(IN_STEP, dtype=np.int64)
    for start in range(0, len(scores), IN_STEP):
        block = scores[start : start + IN_STEP]
        first[:] = 0
        left = len(levels)
        while left > 1:
            half = left >> 1
            for b in range(len(block)):
                first[b] += half * (levels[first[b] + half - 1] < block[b])
            left -= half
        for b in range(len(block)):
            level = levels[first[b]]
            cells[start + b] = 2 * first[b] + 2 * (level < block[b]) + (level == block[b])


@_compiled
def distinct(ascending):
    """Return the distinct values of an ascending array, and how often each occurs."""
    n_distinct = 1
    for i in range(1, len(ascending)):
        n_distinct += ascending[i] != ascending[i - 1]
    if n_distinct == len(ascending):
        return ascending, np.ones(n_distinct)
    levels = np.empty(n_distinct)
    counts = np.zeros(n_distinct)
    last = -1
    for i in range(len(ascending)):
        if i == 0 or ascending[i] != ascending[i - 1]:
            last += 1
            levels[last] = ascending[i]
        counts[last] += 1.0
    return levels, counts
