"""Line searches: the exact step of a convex function, near or far, and Armijo's backtracking."""

from collections.abc import Callable
from typing import Protocol, TypeVar

import numpy as np
from scipy.optimize import brentq

from pushrank.solvers import tolerances

Slope = Callable[[float], tuple[float, float]]


class HasValue(Protocol):
    """A point of a function."""

    @property
    def value(self) -> float:
        """The function there."""


P = TypeVar("P", bound=HasValue)


def exact_step(slope: Slope, longest: float, reduction: float = tolerances.ZERO_SLOPE) -> float:
    """Return the zero of an increasing slope, by Newton's method kept inside a shrinking bracket."""
    # `slope` gives the first and the second derivative at a step; the second may be zero where unknown. The
    # step `longest`, either way, is returned where the slope has no zero before it, and the search ends where
    # the slope is `reduction` times the first.
    first, second = slope(0.0)
    if first == 0.0:
        return 0.0
    sign = -1.0 if first > 0.0 else 1.0
    tolerance = reduction * abs(first)
    # These are distances along the descent direction; at the lower end of the bracket the slope still
    # descends.
    low, high, at = 0.0, longest, 0.0
    has_high, last_step = False, np.inf
    for _ in range(tolerances.MAX_TRIALS):
        # Without a second derivative the step doubles until the slope changes its sign.
        with np.errstate(over="ignore"):
            newton = at - sign * first / second if second > 0.0 else low + 2.0 * max(low, 1.0)
        safe = 0.5 * (low + high) if has_high else longest
        # A bracketed step that does not halve the last one creeps: bisect instead.
        creeps = has_high and abs(newton - at) > 0.5 * last_step
        previous, at = at, newton if low < newton < high and not creeps else safe
        last_step = abs(at - previous)
        first, second = slope(sign * at)
        if abs(first) <= tolerance or (at == longest and sign * first < 0.0):
            break
        if sign * first < 0.0:
            low = at
        else:
            high, has_high = at, True
        if has_high and high - low <= tolerances.ZERO_SLOPE * high:
            break
    return sign * at


def root_beyond(slope: Callable[[float], float], low: float, longest: float) -> float | None:
    """Return the zero of a slope beyond ``low``, or ``low`` after it; None if it is beyond ``longest``."""
    if slope(low) >= 0.0:
        return low
    factor, high = 2.0, max(2.0 * low, 1.0)
    while high <= longest:
        if slope(high) >= 0.0:
            return bracketed_root(slope, low, high)
        factor *= 2.0
        low, high = high, factor * high
    return None


def bracketed_root(slope: Callable[[float], float], low: float, high: float) -> float:
    """Return the zero of a slope that is negative at ``low`` and not at ``high``, to rounding."""
    return float(brentq(slope, low, high, xtol=tolerances.TINY, rtol=4.0 * tolerances.MACHINE_ROUNDING))


def armijo_step(
    at: Callable[[float], P], value: float, slope: float, rounding: float = 0.0
) -> tuple[float, P] | None:
    """Return the first of the steps 1, 1/2, 1/4, ... that descends enough, and the point there, or None."""
    # `value` and the negative `slope` are those at zero; `rounding` is what the function may rise by rounding
    # alone. Nocedal and Wright, *Numerical Optimization*, 2nd edition (2006), algorithm 3.1.
    step = 1.0
    for _ in range(tolerances.MAX_HALVINGS):
        point = at(step)
        if point.value <= value + tolerances.SUFFICIENT_DESCENT * step * slope + rounding:
            return step, point
        step *= 0.5
    return None
