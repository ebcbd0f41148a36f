"""Compiled loops that count scores at levels and between them."""

from __future__ import annotations

import numpy as np

from pushrank._compiled import compiled

_compiled = compiled()

DIGITS = 8  # a float64 has eight digits to the base 256
SIGN = np.uint64(1 << 63)
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
def sort(scores):
    """Return the scores in ascending order, sorted by one digit of their bits after the other.

    Read as integers, positive floats ascend and negative ones descend; flipping the sign bit of the former
    and all bits of the latter makes keys that ascend throughout. Linear time: a third of that of comparisons.
    """
    n = len(scores)
    bits = scores.view(np.uint64)
    keys, moved = np.empty(n, dtype=np.uint64), np.empty(n, dtype=np.uint64)
    starts = np.zeros((DIGITS, 257), dtype=np.int64)
    for i in range(n):
        key = ~bits[i] if bits[i] & SIGN else bits[i] | SIGN
        keys[i] = key
        for d in range(DIGITS):
            starts[d, ((key >> np.uint64(8 * d)) & np.uint64(255)) + 1] += 1
    for d in range(DIGITS):
        if starts[d].max() == n:
            continue  # all share this digit
        places = np.cumsum(starts[d])
        for i in range(n):
            digit = (keys[i] >> np.uint64(8 * d)) & np.uint64(255)
            moved[places[digit]] = keys[i]
            places[digit] += 1
        keys, moved = moved, keys
    for i in range(n):
        keys[i] = keys[i] ^ SIGN if keys[i] & SIGN else ~keys[i]
    return keys.view(np.float64)


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


@_compiled
def count_in_cells(ascending, levels):
    """Return how many of some ascending scores lie in each cell of the levels."""
    counts = np.zeros(2 * len(levels) + 1)
    g = 0
    for score in ascending:
        while g < len(levels) and levels[g] < score:
            g += 1
        tied = g < len(levels) and levels[g] == score
        counts[2 * g + tied] += 1.0
    return counts


@_compiled
def positives_below(positives_at, share):
    """Return the weight of the positives below each cell, with a share of those at it."""
    below = np.empty(2 * len(positives_at) + 1)
    total = 0.0
    for g in range(len(positives_at)):
        below[2 * g] = total
        below[2 * g + 1] = total + share * positives_at[g]
        total += positives_at[g]
    below[-1] = total
    return below


@_compiled
def negatives_above(negatives_in, share):
    """Return the weight of the negatives above each level, with a share of those at it."""
    above = np.empty(len(negatives_in) // 2)
    total = 0.0
    for g in range(len(above) - 1, -1, -1):
        total += negatives_in[2 * g + 2]
        above[g] = total + share * negatives_in[2 * g + 1]
        total += negatives_in[2 * g + 1]
    return above
