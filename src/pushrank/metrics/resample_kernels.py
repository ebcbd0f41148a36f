"""Compiled loops that draw rows with replacement and count them at the places of a ranking."""

from __future__ import annotations

import numpy as np

from pushrank._compiled import compiled

_compiled = compiled()

# Steele, Lea and Flood, *Fast splittable pseudorandom number generators*, OOPSLA 2014
GOLDEN = np.uint64(0x9E3779B97F4A7C15)
FIRST_MIX = np.uint64(0xBF58476D1CE4E5B9)
SECOND_MIX = np.uint64(0x94D049BB133111EB)
LOW_HALF = np.uint64(0xFFFFFFFF)
HALF = np.uint64(32)


@_compiled
def draw_counts(seed, counts):
    """Draw as many rows as there are, with replacement, and write how often each was drawn.

    A byte holds every count: none exceeds the number of rows, and with more than 255 of them one above 255
    has a chance below n / 256!, which is 1e-500. A row number is the upper half of a product (Lemire, *Fast
    random integer generation in an interval*, 2019); products that would favour some rows are drawn again.
    """
    n = np.uint64(len(counts))
    unfair = (LOW_HALF - n + np.uint64(1)) % n
    counts[:] = 0
    state = np.uint64(seed)
    drawn = 0
    while drawn < len(counts):
        state += GOLDEN
        bits = state
        bits = (bits ^ (bits >> np.uint64(30))) * FIRST_MIX
        bits = (bits ^ (bits >> np.uint64(27))) * SECOND_MIX
        bits = bits ^ (bits >> np.uint64(31))
        for product in ((bits & LOW_HALF) * n, (bits >> HALF) * n):
            if (product & LOW_HALF) >= unfair and drawn < len(counts):
                counts[product >> HALF] += np.uint8(1)
                drawn += 1


@_compiled
def sum_in_order(counts, ends, sums):
    """Write the sum of the counts of each run of rows; a run ends before the row ``ends``."""
    row = 0
    for run in range(len(ends)):
        total = 0
        while row < ends[run]:
            total += counts[row]
            row += 1
        sums[run] = total


@_compiled
def sum_by_rows(counts, rows, weights, ends, sums):
    """Write the weighted sum of the counts of each run of a list of rows."""
    place = 0
    for run in range(len(ends)):
        total = 0.0
        while place < ends[run]:
            row = rows[place]
            total += counts[row] * (weights[row] if len(weights) else 1.0)
            place += 1
        sums[run] = total
