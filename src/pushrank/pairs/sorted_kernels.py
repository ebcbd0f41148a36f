"""The compiled walk along sorted scores."""

from __future__ import annotations

import numpy as np

from pushrank._compiled import compiled


@compiled()
def _move(moments, rise):
    """Turn sums of ``w x ** m`` into those of ``w (x + rise) ** m``."""
    degree = len(moments) - 1
    for done in range(degree):
        for m in range(degree, done, -1):
            moments[m] += rise * moments[m - 1]


@compiled()
def _add(moments, weight, reach):
    """Add a point at a distance to sums of powers."""
    for m in range(len(moments)):
        moments[m] += weight
        weight *= reach


@compiled()
def add_piece(sources, weights, targets, lower, upper, closed, coefficients, out):
    """Add ``sum_i weights_i sum_m coefficients_m (upper + t - sources_i) ** m`` for every target t.

    Sources and targets ascend; the sum is over sources at ``lower`` to ``upper`` above t, of which ends the
    upper one belongs to it where ``closed``, the lower one where not. Sources that leave at the lower end are
    not subtracted, so that no digits cancel. Instead the sources in reach are kept in two parts; ``behind``
    holds the sums over the ends of the lower part, made anew from the upper part when the lower is used up.
    """
    size = len(coefficients)
    ahead, within = np.zeros(size), np.zeros(size)
    bounded = lower > -np.inf
    behind = np.zeros((len(sources) + 1 if bounded else 1, size))
    first = middle = last = 0  # behind: first to middle; ahead: middle to last
    for k in range(len(targets)):
        target = targets[k]
        if k:
            _move(ahead, target - targets[k - 1])
        while last < len(sources):
            margin = sources[last] - target
            if not (margin < upper or (closed and margin == upper)):
                break
            _add(ahead, weights[last], upper - margin)
            last += 1
        while first < last:
            margin = sources[first] - target
            if not (margin < lower or (closed and margin == lower)):
                break
            if first == middle:
                reference = sources[last - 1]
                behind[last, :] = 0.0
                for i in range(last - 1, first - 1, -1):
                    behind[i, :] = behind[i + 1, :]
                    _add(behind[i], weights[i], reference - sources[i])
                middle = last
                ahead[:] = 0.0
            first += 1
        total = 0.0
        for m in range(size):
            if coefficients[m] != 0.0:
                total += coefficients[m] * ahead[m]
        if first < middle:
            within[:] = behind[first]
            _move(within, upper - (sources[middle - 1] - target))
            for m in range(size):
                if coefficients[m] != 0.0:
                    total += coefficients[m] * within[m]
        out[k] += total


@compiled()
def add_lowest_piece(sources, weights, targets, upper, closed, coefficients, out):
    """Do what ``add_piece`` does without a lower end and for at most three powers, in a third of the time."""
    padded = np.zeros(3)
    padded[: len(coefficients)] = coefficients
    of_zeroth, of_first, of_second = padded
    zeroth = first = second = 0.0
    place, n_sources = 0, len(sources)
    before = targets[0] if len(targets) else 0.0
    for k in range(len(targets)):
        target = targets[k]
        rise = target - before
        before = target
        if rise > 0.0:  # of an infinite sum, no rise makes no number
            second += rise * (2.0 * first + rise * zeroth)
            first += rise * zeroth
        while place < n_sources:
            margin = sources[place] - target
            if not (margin < upper or (closed and margin == upper)):
                break
            reach, weight = upper - margin, weights[place]
            zeroth += weight
            first += weight * reach
            second += weight * reach * reach
            place += 1
        total = of_zeroth * zeroth
        # a sum of squares of far scores may be infinite: it counts only where it is asked for
        if of_first != 0.0:
            total += of_first * first
        if of_second != 0.0:
            total += of_second * second
        out[k] += total


@compiled()
def segment_sums(sources, weights, source_bounds, targets, target_bounds, ends, coefficients, closed):
    """Return the sums of all pieces for every segment's targets over the sources of the same segment.

    Row j of ``coefficients`` is for margins from ``ends[j]`` to ``ends[j + 1]``.
    """
    out = np.zeros(len(targets))
    for segment in range(len(target_bounds) - 1):
        first, last = source_bounds[segment], source_bounds[segment + 1]
        start, stop = target_bounds[segment], target_bounds[segment + 1]
        lowest = 1 if coefficients.shape[1] <= 3 else 0
        if lowest:
            add_lowest_piece(
                sources[first:last],
                weights[first:last],
                targets[start:stop],
                ends[1],
                closed,
                coefficients[0],
                out[start:stop],
            )
        for j in range(lowest, len(coefficients)):
            add_piece(
                sources[first:last],
                weights[first:last],
                targets[start:stop],
                ends[j],
                ends[j + 1],
                closed,
                coefficients[j],
                out[start:stop],
            )
    return out
