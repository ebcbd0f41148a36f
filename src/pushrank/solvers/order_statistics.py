"""Order statistics of values in parts, exact, by rounds of counts: no value leaves its part.

Floats are ordered as integers of their bits are, but for the sign. A round asks how much weight lies on each
value of the next 11 bits, among the values that begin with the bits found so far: three rounds for float32,
six for float64, whatever the number of rows, and 16 kB from every part.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from pushrank._numeric import Floats, midway
from pushrank._parallel import compiled, read_only

DIGIT_BITS = 11  # of a round: its counts are a small message, and more would spare a float64 no round


class Values(NamedTuple):
    """Values of a part, and the weight of each; None where all weigh one."""

    values: NDArray[np.floating]
    weights: Floats | None = None


class ValueParts(Protocol):
    """``Values`` in parts, wherever these are."""

    def map(self, function: Callable[..., Any], *arguments: Any) -> list[Any]:
        """Return the function of the values of each part and of the arguments, in the order of the parts."""


class OrderStatistic(NamedTuple):
    """A value, the total weight of all smaller values, and that of its equals."""

    value: float
    below: float
    tied: float


def order_statistic(values: ValueParts, dtype: Any, target: float) -> OrderStatistic:
    """Return the smallest value that, with all smaller ones, has the weight ``target`` or more.

    The parts are ``Values`` of the dtype, float32 or float64, finite. Where all weigh less than the
    target, it is the largest.
    """
    width = 8 * np.dtype(dtype).itemsize
    prefix, known, below, tied = 0, 0, 0.0, 0.0
    while known < width:
        bits = min(DIGIT_BITS, width - known)
        # in the order of the parts, so that rounding does not hang on where they are; numpy.sum copies all
        weights: Any = sum(values.map(digit_weights, prefix, known, bits))
        reached = np.flatnonzero((below + np.cumsum(weights) >= target) & (weights > 0.0))
        digit = int(reached[0]) if len(reached) else int(np.flatnonzero(weights)[-1])
        below += float(weights[:digit].sum())
        tied = float(weights[digit])
        prefix, known = (prefix << bits) | digit, known + bits
    return OrderStatistic(_float_of(prefix, dtype), below, tied)


def digit_weights(values: Values, prefix: int, known: int, bits: int) -> Floats:
    """Return the weight on each value of the next bits, of the values that begin with the bits known."""
    return np.asarray(_digit_weights(_bit_patterns(values.values), values.weights, prefix, known, bits))


@compiled()
def _digit_weights(patterns, weights, prefix, known, bits):
    width = 8 * patterns.itemsize
    sign = np.uint64(1) << np.uint64(width - 1)
    every_bit = sign | (sign - np.uint64(1))
    n_digits = np.uint64(1) << np.uint64(bits)
    found = np.zeros(n_digits)
    for i in range(len(patterns)):
        pattern = np.uint64(patterns[i])
        if pattern == sign:  # -0.0, which ties with 0.0
            pattern = np.uint64(0)
        key = pattern ^ (every_bit if pattern & sign else sign)  # in the order of the values
        begins = key >> np.uint64(width - known - bits)
        if begins >> np.uint64(bits) == np.uint64(prefix):
            found[begins & (n_digits - np.uint64(1))] += 1.0 if weights is None else weights[i]
    return found


def neighbours(values: Values, value: float) -> tuple[float, float]:
    """Return the largest value below another and the smallest above it; infinite where there is none."""
    below, above = _neighbours(values.values, values.weights, value)
    return float(below), float(above)


@compiled()
def _neighbours(values, weights, value):
    below, above = -np.inf, np.inf
    for i in range(len(values)):
        if weights is None or weights[i] > 0.0:
            if below < values[i] < value:
                below = values[i]
            if above > values[i] > value:
                above = values[i]
    return below, above


def break_even_threshold(scores: ValueParts, coef: NDArray[np.floating], negative_weight: float) -> float:
    """Return the threshold above which as much weight is predicted positive as is positive.

    It lies midway between two neighbouring scores, which are in the dtype of the coefficients.
    """
    # a little less than the negatives' weight, which a sum of weights may miss by rounding
    cut = order_statistic(scores, coef.dtype, negative_weight * (1.0 - 1e-12)).value
    below, above = zip(*scores.map(neighbours, cut), strict=True)
    if min(above) < np.inf:
        return midway(cut, min(above), coef)
    return midway(max(below), cut, coef) if max(below) > -np.inf else cut


def _bit_patterns(values: NDArray[np.floating]) -> NDArray[Any]:
    """Return the values' bits as unsigned integers."""
    return read_only(np.ascontiguousarray(values).view(f"u{values.itemsize}"))


def _float_of(key: int, dtype: Any) -> float:
    unsigned: Any = np.uint32 if np.dtype(dtype) == np.float32 else np.uint64
    sign = 1 << (8 * np.dtype(dtype).itemsize - 1)
    bits = key ^ sign if key & sign else key ^ ((sign << 1) - 1)
    return float(np.array([bits], dtype=unsigned).view(dtype)[0])
