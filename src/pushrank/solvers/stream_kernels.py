"""The compiled pass over batches: score, find the slopes, step, project, average.

The iterate is kept as ``scale * coef`` and the sum of all iterates as ``total + weight * coef - lag``, so
that a step touches only the features of the rows that it moves.
"""

from __future__ import annotations

import numpy as np

from pushrank._compiled import compiled
from pushrank.objectives.precision_kernels import PERCEPTRONS, STRUCT, place, slopes

SCALE, WEIGHT, STEPS, SQUARED_NORM, MISTAKES, MOST_MISTAKES, SHARES, LARGEST_K, SKIPPED, N_COUNTS = range(10)
"""Places in the array of counts: beside those above, batches that moved, the squared norm of ``coef``,
negatives among the first k in all batches, the most there can be of them, and as a sum of shares of k, the
largest k, and batches without a positive or a negative."""

SMALL_SCALE = 1e-3  # below it, rounding of the sum of iterates would show


@compiled(fastmath={"reassoc", "contract", "nsz"})
def run_batches(
    dense, data, indices, indptr, order, positive, mass, size, rule, k, counted, eta0, radius, coef, lag,
    total, counts, wrong,
):  # fmt: skip
    """Go through batches of ``size`` rows in the given order; the last may be shorter.

    Either ``dense`` is a matrix, or ``data``, ``indices`` and ``indptr`` are those of a CSR matrix; the rest
    is None, and with it the lines that would read it are compiled away. ``coef``,
    ``lag``, ``total`` and ``counts`` are the state, changed in place; ``wrong`` takes the number of negatives
    among the first k of every batch. Steps are ``eta0 / sqrt(t)`` times the slope over k, or, for a
    perceptron, the slope itself. Return -1, or the place in the order of the first row of a batch whose
    scores are not finite, or lead to weights that are not.
    """
    n_features = len(coef)
    delta = np.zeros(n_features)
    scores, out = np.empty(size), np.empty(size)
    classes, masses = np.empty(size, np.bool_), np.empty(size)
    bounded = radius < np.inf  # numpy.isfinite is x - x == 0, which fast mathematics takes to be true
    for batch in range(len(wrong)):
        start = batch * size
        n_rows = min(size, len(order) - start)
        rows = order[start : start + n_rows]
        scale = counts[SCALE]
        check = 0.0
        total_positive = total_negative = 0.0
        for a in range(n_rows):
            r = rows[a]
            score = 0.0
            if dense is not None:
                for j in range(n_features):
                    score += dense[r, j] * coef[j]
            if data is not None:
                for e in range(np.uint64(indptr[r]), np.uint64(indptr[r + 1])):
                    score += data[e] * coef[np.uint32(indices[e])]
            scores[a] = scale * score
            check += 0.0 * score
            classes[a] = positive[r]
            masses[a] = mass[r]
            if classes[a]:
                total_positive += masses[a]
            else:
                total_negative += masses[a]
        if check != 0.0:  # zero times a score that is not finite
            return start
        wrong[batch] = 0.0
        if total_positive <= 0.0 or total_negative <= 0.0:
            counts[SKIPPED] += 1.0
            continue
        count = place(k, counted, total_positive)
        value, mistakes = slopes(
            rule, scores[:n_rows], classes[:n_rows], masses[:n_rows], count, out[:n_rows]
        )
        wrong[batch] = mistakes
        counts[MISTAKES] += mistakes
        counts[MOST_MISTAKES] += min(count, total_negative)
        counts[SHARES] += mistakes / count
        counts[LARGEST_K] = max(counts[LARGEST_K], count)
        counts[STEPS] += 1.0
        if value != 0.0 or rule == STRUCT:  # whose value may be zero on a slope
            step = -1.0 / scale
            if rule not in PERCEPTRONS:
                step *= eta0 / (np.sqrt(counts[STEPS]) * count)
            before = counts[WEIGHT]
            if dense is not None:
                delta[:] = 0.0
                for a in range(n_rows):
                    if out[a] != 0.0:
                        factor = step * out[a]
                        r = rows[a]
                        for j in range(n_features):
                            delta[j] += factor * dense[r, j]
                norm = 0.0
                for j in range(n_features):
                    coef[j] += delta[j]
                    lag[j] += before * delta[j]
                    norm += coef[j] * coef[j]
                counts[SQUARED_NORM] = norm
            if data is not None:
                grown = 0.0
                for a in range(n_rows):
                    if out[a] != 0.0:
                        factor = step * out[a]
                        r = rows[a]
                        for e in range(np.uint64(indptr[r]), np.uint64(indptr[r + 1])):
                            feature = np.uint32(indices[e])
                            move = factor * data[e]
                            grown += move * (2.0 * coef[feature] + move)
                            coef[feature] += move
                            lag[feature] += before * move
                counts[SQUARED_NORM] += grown
            if not abs(counts[SQUARED_NORM]) < np.inf:
                return start
        if bounded:
            longest = scale * np.sqrt(max(counts[SQUARED_NORM], 0.0))
            if longest > radius:
                scale *= radius / longest
                counts[SCALE] = scale
        if scale < SMALL_SCALE:
            for j in range(n_features):
                total[j] += counts[WEIGHT] * coef[j] - lag[j]
                lag[j] = 0.0
                coef[j] *= scale
            counts[WEIGHT] = 0.0
            counts[SQUARED_NORM] *= scale * scale
            counts[SCALE] = 1.0
        counts[WEIGHT] += counts[SCALE]
    return -1


@compiled()
def total_loss(scores, positive, mass, order, size, rule, k, counted):
    """Return the sum of a surrogate over the batches that have both classes, in the given order."""
    total = 0.0
    out = np.empty(size)
    for start in range(0, len(order), size):
        rows = order[start : start + size]
        classes, masses = positive[rows], mass[rows]
        total_positive = masses[classes].sum()
        if total_positive > 0.0 and masses[~classes].sum() > 0.0:
            count = place(k, counted, total_positive)
            total += slopes(rule, scores[rows], classes, masses, count, out[: len(rows)])[0]
    return total


@compiled()
def largest_squared_norm(data, indptr):
    """Return the largest sum of squares of a row of a CSR matrix."""
    largest = 0.0
    for i in range(len(indptr) - 1):
        squares = 0.0
        for e in range(indptr[i], indptr[i + 1]):
            squares += np.float64(data[e]) ** 2
        largest = max(largest, squares)
    return largest
