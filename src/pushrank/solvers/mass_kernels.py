"""Compiled loops over the masses that two classes put on their rows."""

from __future__ import annotations

import numpy as np

from pushrank._compiled import compiled


@compiled()
def exponents(scores, powers, class_codes, log_weights, start, stop, out):
    """Write ``power * score + log_weight`` of the rows from start to stop; return both classes' largest.

    ``powers`` are those of the class codes 0 and 1; rows of code 2 take no part and get ``-inf``.
    ``log_weights`` is empty where all rows weigh one.
    """
    largest = np.full(3, -np.inf)
    for row in range(start, stop):
        code = class_codes[row]
        exponent = powers[code] * scores[row] if code < 2 else -np.inf
        if len(log_weights):
            exponent += log_weights[row]
        out[row] = exponent
        largest[code] = max(largest[code], exponent)
    return largest


@compiled()
def lower_by(shifts, class_codes, start, stop, values):
    """Take each class's shift off the values of its rows."""
    for row in range(start, stop):
        values[row] -= shifts[class_codes[row]]


@compiled()
def class_totals(masses, class_codes, start, stop):
    """Return the mass of each class."""
    totals = np.zeros(3)
    for row in range(start, stop):
        totals[class_codes[row]] += masses[row]
    return totals


@compiled()
def multiply_by(factors, class_codes, start, stop, values):
    """Multiply the values of each class's rows by its factor."""
    for row in range(start, stop):
        values[row] *= factors[class_codes[row]]


@compiled()
def masses_where(gradient, ones, start, stop):
    """Return the sums of the negative and the positive entries, where false and where true."""
    sums = np.zeros((2, 2))
    for row in range(start, stop):
        g = gradient[row]
        sums[int(g > 0.0), int(ones[row])] += abs(g)
    return sums


@compiled()
def moments(gradient, direction, start, stop):
    """Return, for the negative and the positive entries g, the sums of g u and of |g| u u."""
    sums = np.zeros((2, 2))
    for row in range(start, stop):
        g, u = gradient[row], direction[row]
        side = int(g > 0.0)
        sums[side, 0] += g * u
        sums[side, 1] += abs(g) * u * u
    return sums
