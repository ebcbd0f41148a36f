"""Scales of a picture's axes, and the places that are marked on them."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

from pushrank._numeric import Floats

SCALES: dict[str, Callable[[Floats], Floats]] = {
    "linear": lambda x: x,
    "log": np.log,
    "log1p": np.log1p,
}
"""From a value to its place; the script beside has the same, for zooming."""


def places(values: NDArray[np.generic], scale: str, span: tuple[float, float]) -> Floats:
    """Return the places of values on an axis that runs over ``span``, from 0 to 1.

    Examples
    --------
    >>> places(np.array([1.0, 10.0, 100.0]), "log", (1.0, 100.0)).tolist()
    [0.0, 0.5, 1.0]
    """
    to = SCALES[scale]
    first, last = to(np.array(span, dtype=np.float64))
    at: Floats = (to(np.asarray(values, dtype=np.float64)) - first) / max(last - first, 1e-300)
    return at


def ticks(scale: str, span: tuple[float, float]) -> list[float]:
    """Return round values within a span, six or so.

    Examples
    --------
    >>> ticks("linear", (0.0, 1.0))
    [0.0, 0.2, 0.4, 0.6, 0.8, 1.0]
    >>> ticks("log", (1.0, 4601.0)), ticks("log1p", (0.0, 30.0))
    ([1.0, 10.0, 100.0, 1000.0], [0.0, 1.0, 2.0, 5.0, 10.0, 20.0])
    """
    low, high = span
    if scale == "linear":
        return _even(low, high)
    if scale == "log":
        return _logarithmic(low, high)
    return [0.0, *_logarithmic(1.0, max(high, 1.0))]


def _even(low: float, high: float) -> list[float]:
    rough = (high - low) / 6
    unit = 10.0 ** math.floor(math.log10(rough))
    step = next(step for m in (1, 2, 5, 10) if (step := m * unit) >= rough)
    return [round(n * step, 12) for n in range(math.ceil(low / step), math.floor(high / step + 1e-9) + 1)]


def _logarithmic(low: float, high: float) -> list[float]:
    decades = range(math.floor(math.log10(low)), math.floor(math.log10(high)) + 1)
    multiples: Sequence[int] = (1,) if high > 10**2.5 * low else (1, 2, 5)
    return [float(m * 10.0**e) for e in decades for m in multiples if low <= m * 10.0**e <= high]
