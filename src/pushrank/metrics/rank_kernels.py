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
def distinct_ascending(ascending):
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


@_compiled
def around_best_negative(positives_at, negatives_in):
    """Return the hits and misses above the highest cell that holds a negative, and those in it."""
    hits = 0.0
    for cell in range(len(negatives_in) - 1, -1, -1):
        hits_here = positives_at[cell >> 1] if cell & 1 else 0.0
        if negatives_in[cell] > 0.0:
            return hits, 0.0, hits_here, negatives_in[cell]
        hits += hits_here
    return hits, 0.0, 0.0, 0.0


@_compiled
def around_place(positives_at, negatives_in, depth):
    """Return the hits and misses above the cell at which the list grows to a depth, and those in it."""
    hits, misses = 0.0, 0.0
    for cell in range(len(negatives_in) - 1, -1, -1):
        hits_here = positives_at[cell >> 1] if cell & 1 else 0.0
        here = hits_here + negatives_in[cell]
        # the lowest cell that holds anything ends the list, whatever rounding made of the sums
        if here > 0.0 and hits + misses + here >= depth * (1.0 - 1e-14):
            return hits, misses, hits_here, negatives_in[cell]
        hits += hits_here
        misses += negatives_in[cell]
    return hits, misses, 0.0, 0.0


@_compiled
def roc_area(shares_at, shares_in, tied_error, widest, floor):
    """Return the area under the ROC curve, above a floor and up to a false-positive rate.

    The curve is walked from the top of the list. At a tie it goes right and then up, up and then right, or
    straight across, as a tied pair is an error, none, or half of one.
    """
    area, x, y = 0.0, 0.0, 0.0
    for cell in range(len(shares_in) - 1, -1, -1):
        if x >= widest:
            break
        up = shares_at[cell >> 1] if cell & 1 else 0.0
        right = shares_in[cell]
        if tied_error == 0.0:
            y += up
        if right > 0.0:
            part = min(1.0, (widest - x) / right)
            rise = up * part if tied_error == 0.5 else 0.0
            area += area_above(x, y, x + right * part, y + rise, floor)
        x += right
        if tied_error != 0.0:
            y += up
    if x < widest:  # rounding may leave the end of the curve short of one
        area += (widest - x) * max(y - floor, 0.0)
    return area


@_compiled
def area_above(x, y, to_x, to_y, floor):
    """Return the area between a rising line and a floor, where the line is above it."""
    if to_y <= floor:
        return 0.0
    if y < floor:
        x += (to_x - x) * (floor - y) / (to_y - y)
        y = floor
    return (to_x - x) * (0.5 * (y + to_y) - floor)


@_compiled
def around_hit(positives_at, negatives_in, needed):
    """Return the hits and misses above the level at which the hits reach a weight, and those in it."""
    hits, misses = 0.0, 0.0
    for level in range(len(positives_at) - 1, -1, -1):
        misses += negatives_in[2 * level + 2]
        # the last level with a hit ends the list, whatever rounding made of the sums
        if positives_at[level] > 0.0 and hits + positives_at[level] >= needed:
            return hits, misses, positives_at[level], negatives_in[2 * level + 1]
        hits += positives_at[level]
        misses += negatives_in[2 * level + 1]
    return hits, misses, 0.0, 0.0


@_compiled
def expected_reciprocal_ranks(above, hits, sizes):
    """Return the mean of one over the rank of the first hit, if the rows of a tie stand in random order."""
    means = np.empty(len(above))
    for t in range(len(above)):
        misses = sizes[t] - hits[t]
        mean, still = 0.0, 1.0  # still: the probability that all places before hold misses
        for place in range(int(misses) + 1):
            chance = hits[t] / (sizes[t] - place)
            mean += still * chance / (above[t] + place + 1.0)
            still *= 1.0 - chance
        means[t] = mean
    return means


@_compiled
def share_misranked(positives_at, negatives_in, total_positive, total_negative, share):
    """Return the share of misranked pairs, a tied pair counting by its share.

    Divided one at a time, as the product of two totals may underflow.
    """
    above, misranked = 0.0, 0.0
    for cell in range(len(negatives_in) - 1, -1, -1):
        above_here = above
        above += negatives_in[cell]
        if cell & 1:
            errors = (above_here + share * negatives_in[cell]) / total_negative
            misranked += errors * (positives_at[cell >> 1] / total_positive)
    return misranked


@_compiled
def sum_precision_of_ties(positives_at, negatives_in):
    """Return the precisions at the positives, summed, if all rows of a tie enter the list together."""
    hits, misses, total = 0.0, 0.0, 0.0
    for level in range(len(positives_at) - 1, -1, -1):
        hits += positives_at[level]
        misses += negatives_in[2 * level + 2] + negatives_in[2 * level + 1]
        if positives_at[level] > 0.0:
            total += positives_at[level] * (hits / (hits + misses))
    return total


@_compiled
def sum_discounts(positives_at, negatives_in, rate, share):
    """Return the integral of ``rate * exp(-rate * place)`` over the places of the positives.

    Positives in a tie take the last places of it, the first, or the mean of all, as a tied pair is an error,
    none, or half of one. Places are measured in weight, so that a row takes the stretch that it weighs.
    """
    above, total = 0.0, 0.0
    for level in range(len(positives_at) - 1, -1, -1):
        above += negatives_in[2 * level + 2]
        hits, tied = positives_at[level], negatives_in[2 * level + 1]
        if hits > 0.0:
            first, places, part = above + share * tied, hits, 1.0
            if share == 0.5:
                first, places, part = above, hits + tied, hits / (hits + tied)
            total -= part * np.exp(-rate * first) * np.expm1(-rate * places)
        above += hits + tied
    return total


@_compiled
def sum_discounts_gained(positives_at, negatives_in, rate, share):
    """Return ``sum_discounts`` less what it is if all positives stand at the end, without cancellation.

    From there the positives of a level move up past the negatives that they are above: a stretch of ``hits``
    at a place gains ``exp(-rate * place)``, times ``-expm1(-rate * hits)``, times ``-expm1(-rate * passed)``.
    """
    below = np.cumsum(negatives_in)[::2]
    above, total = 0.0, 0.0
    for level in range(len(positives_at) - 1, -1, -1):
        above += negatives_in[2 * level + 2]
        hits, tied = positives_at[level], negatives_in[2 * level + 1]
        if hits > 0.0:
            first, passed = above + share * tied, below[level] + (1.0 - share) * tied
            if share == 0.5 and tied > 0.0:
                first, passed = above + tied, below[level]
                mean = mean_gain(rate * hits, rate * tied)
                total += np.exp(-rate * above) * (rate * hits) * (tied / (hits + tied)) * mean
            total += np.exp(-rate * first) * np.expm1(-rate * hits) * np.expm1(-rate * passed)
        above += hits + tied
    return total


@_compiled
def mean_gain(hits, tied):
    """Return ``(1 - exp(-tied)) / tied - exp(-tied) * (1 - exp(-hits)) / hits``, right to rounding.

    It is what hits gain by standing in random order with ties instead of after them, but for a factor.
    """
    if hits + tied > 1.0:
        return np.exp(-tied) * (np.expm1(-hits) / hits) - np.expm1(-tied) / tied
    total, of_hits, of_tied = 0.0, 1.0, 1.0  # near one another: their series are subtracted term by term
    for k in range(2, 19):
        of_hits *= -hits / k
        of_tied *= tied / k
        total += of_tied - of_hits
    return np.exp(-tied) * total
