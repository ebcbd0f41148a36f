"""Compiled loops that count scores between and at levels."""

from __future__ import annotations

import numba
import numpy as np

_compiled = numba.njit(cache=True, nogil=True, error_model="numpy")


@_compiled
def bucket(score, low, per_unit, n_buckets):
    """Return the bucket of a score."""
    at = (0.5 * score - low) * per_unit
    if at <= 0.0:
        return 0
    return min(n_buckets - 1, int(at)) if at < n_buckets else n_buckets - 1


@_compiled
def bucket_starts(levels, low, per_unit, n_buckets):
    """Return the number of the first level in each bucket, and the number of levels at the end."""
    starts = np.zeros(n_buckets + 1, dtype=np.int64)
    for level in levels:
        starts[bucket(level, low, per_unit, n_buckets) + 1] += 1
    for b in range(n_buckets):
        starts[b + 1] += starts[b]
    return starts


@_compiled
def place(scores, levels, low, per_unit, starts, cells):
    """Write the cell of each score: 2g between levels g - 1 and g, 2g + 1 at level g."""
    n_buckets = len(starts) - 1
    for i in range(len(scores)):
        score = scores[i]
        b = bucket(score, low, per_unit, n_buckets)
        first, last = starts[b], starts[b + 1]
        while first < last:
            middle = (first + last) >> 1
            if levels[middle] < score:
                first = middle + 1
            else:
                last = middle
        tied = first < len(levels) and levels[first] == score
        cells[i] = 2 * first + (1 if tied else 0)


@_compiled
def distinct(ascending):
    """Return the distinct values of an ascending array, and how often each occurs."""
    distinct = np.empty_like(ascending)
    counts = np.zeros(len(ascending))
    last = -1
    for i in range(len(ascending)):
        if i == 0 or ascending[i] != ascending[i - 1]:
            last += 1
            distinct[last] = ascending[i]
        counts[last] += 1.0
    return distinct[: last + 1].copy(), counts[: last + 1].copy()


@_compiled
def counts_in_cells(ascending, levels):
    """Return how many of some ascending scores lie in each cell of the levels."""
    counts = np.zeros(2 * len(levels) + 1)
    g = 0
    for score in ascending:
        while g < len(levels) and levels[g] < score:
            g += 1
        tied = g < len(levels) and levels[g] == score
        counts[2 * g + (1 if tied else 0)] += 1.0
    return counts
