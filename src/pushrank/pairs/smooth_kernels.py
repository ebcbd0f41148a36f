"""The compiled sums of analytic losses: points to boxes, boxes to boxes, boxes to points."""

from __future__ import annotations

import numpy as np

from pushrank._compiled import compiled


@compiled()
def extent(scores, per_width):
    """Return the lowest and the highest number of a box."""
    lowest, highest = np.inf, -np.inf
    for i in range(len(scores)):
        lowest, highest = min(lowest, scores[i]), max(highest, scores[i])
    return np.rint(lowest * per_width), np.rint(highest * per_width)


@compiled()
def assign(scores, per_width, lowest, boxes, places, used):
    """Write the box of each score, counted from the lowest, and its place in it; mark the boxes used."""
    for i in range(len(scores)):
        scaled = scores[i] * per_width
        number = np.rint(scaled)
        box = np.int32(number - lowest)
        boxes[i], places[i] = box, 2.0 * (scaled - number)
        used[box] = True


@compiled(fastmath={"contract"})
def add_moments(boxes, places, weights, start, stop, moments):
    """Add the weighted Chebyshev polynomials of the points from start to stop to their boxes' moments.

    ``places`` are those within the boxes, from -1 to 1; ``moments`` has shape (boxes, q), q at least 2.
    """
    q = moments.shape[1]
    for i in range(start, stop):
        box, place, weight = boxes[i], places[i], weights[i]
        twice = 2.0 * place
        before, term = weight, weight * place
        moments[box, 0] += before
        moments[box, 1] += term
        for j in range(2, q):
            before, term = term, twice * term - before
            moments[box, j] += term


@compiled(fastmath={"contract"})
def evaluate(boxes, places, coefficients, start, stop, out):
    """Write the Chebyshev series of their boxes at the points from start to stop.

    The forward recurrence keeps its terms within one, and its additions do not wait for one another, as those
    of Clenshaw's do.
    """
    q = coefficients.shape[1]
    for i in range(start, stop):
        box, place = boxes[i], places[i]
        twice = 2.0 * place
        before, term = 1.0, place
        total = coefficients[box, 0] + coefficients[box, 1] * place
        for j in range(2, q):
            before, term = term, twice * term - before
            total += coefficients[box, j] * term
        out[i] = total


@compiled()
def near_sums(table, low, sources, source_bounds, weights, targets, target_bounds):
    """Return the sums at the nodes of the target boxes over the near source boxes of the same segment.

    Sources and targets are numbers of boxes, ascending in every segment; the table's first axis runs over
    their differences, from ``low``.
    """
    q = weights.shape[1]
    high = low + len(table) - 1
    sums = np.zeros((len(targets), q))
    for segment in range(len(target_bounds) - 1):
        first, last = source_bounds[segment], source_bounds[segment + 1]
        for k in range(target_bounds[segment], target_bounds[segment + 1]):
            while first < last and sources[first] - targets[k] < low:
                first += 1
            for j in range(first, last):
                apart = sources[j] - targets[k]
                if apart > high:
                    break
                between = table[int(apart - low)]
                for c in range(q):
                    weight = weights[j, c]
                    for a in range(q):
                        sums[k, a] += weight * between[c, a]
    return sums


@compiled()
def add_left_tail(coefficients, low, offsets, width, sources, source_bounds, weights, targets, bounds, sums):
    """Add the sums over source boxes further below than ``low``, where the loss is a polynomial.

    The polynomial is in minus the margin, which is positive; ``offsets`` are the nodes' from the middle of
    their box.
    """
    zeroth_factor, first_factor, second_factor = coefficients
    q = len(offsets)
    for segment in range(len(bounds) - 1):
        j, last = source_bounds[segment], source_bounds[segment + 1]
        zeroth = first = second = 0.0
        for k in range(bounds[segment], bounds[segment + 1]):
            if k > bounds[segment]:
                rise = width * (targets[k] - targets[k - 1])
                second += rise * (2.0 * first + rise * zeroth)
                first += rise * zeroth
            while j < last and sources[j] - targets[k] < low:
                apart = width * (targets[k] - sources[j])
                for c in range(q):
                    weight, reach = weights[j, c], apart - offsets[c]
                    zeroth += weight
                    first += weight * reach
                    second += weight * reach * reach
                j += 1
            for a in range(q):
                shift, total = offsets[a], zeroth_factor * zeroth
                # a sum of squares of far scores may be infinite: it counts only where it is asked for
                if first_factor != 0.0:
                    total += first_factor * (first + shift * zeroth)
                if second_factor != 0.0:
                    total += second_factor * (second + shift * (2.0 * first + shift * zeroth))
                sums[k, a] += total


@compiled()
def add_right_tail(
    log_size, rate, factor, high, offsets, width, sources, source_bounds, weights, targets, bounds, sums
):
    """Add the sums over source boxes further above than ``high``, where the loss is an exponential.

    It is ``factor * exp(log_size - rate * margin)``.
    """
    q = len(offsets)
    fall = rate * width
    for segment in range(len(bounds) - 1):
        first, j = source_bounds[segment], source_bounds[segment + 1] - 1
        total = 0.0
        for k in range(bounds[segment + 1] - 1, bounds[segment] - 1, -1):
            if k < bounds[segment + 1] - 1:
                total *= np.exp(-fall * (targets[k + 1] - targets[k]))
            while j >= first and sources[j] - targets[k] > high:
                at_middle = 0.0
                for c in range(q):
                    at_middle += weights[j, c] * np.exp(-rate * offsets[c])
                total += at_middle * np.exp(log_size - fall * (sources[j] - targets[k]))
                j -= 1
            for a in range(q):
                sums[k, a] += factor * total * np.exp(rate * offsets[a])
