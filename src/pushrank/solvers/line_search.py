"""The exact minimum of a convex function along a line."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

Slope = Callable[[float], tuple[float, float]]

MOST_TRIALS = 100
SMALL = 1e-12


def exact_step(slope: Slope, longest: float) -> float:
    """Return the zero of an increasing slope, by Newton's method kept inside a shrinking bracket.

    Parameters
    ----------
    slope : callable
        Gives the first and the second derivative at a step; the second may be zero where unknown.
    longest : float
        The largest step allowed either way; returned where the slope has no zero before it.

    Notes
    -----
    About five to ten evaluations where the function is smooth; at most 100.

    Examples
    --------
    >>> round(exact_step(lambda x: (x - 3.0, 1.0), longest=10.0), 12)
    3.0
    >>> exact_step(lambda x: (-1.0, 0.0), longest=10.0)
    10.0
    """
    first, bend = slope(0.0)
    if first == 0.0:
        return 0.0
    sign = -1.0 if first > 0.0 else 1.0
    tolerance = SMALL * abs(first)
    low, high, at = (
        0.0,
        longest,
        0.0,
    )  # distances along the descent direction; the slope at low still descends
    high_known, last_step = False, np.inf
    for _ in range(MOST_TRIALS):
        newton = at - sign * first / bend if bend > 0.0 else low + 2.0 * max(low, 1.0)
        safe = 0.5 * (low + high) if high_known else longest
        # a bracketed step that does not halve the last one creeps: bisect instead
        creeps = high_known and abs(newton - at) > 0.5 * last_step
        previous, at = at, newton if low < newton < high and not creeps else safe
        last_step = abs(at - previous)
        first, bend = slope(sign * at)
        if abs(first) <= tolerance or (at == longest and sign * first < 0.0):
            break
        if sign * first < 0.0:
            low = at
        else:
            high, high_known = at, True
        if high_known and high - low <= SMALL * high:
            break
    return sign * at
