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
        # in the order of the parts, so that rounding does not hang on where they are
        weights = np.sum(values.map(digit_weights, prefix, known, bits), axis=0)
        reached = np.flatnonzero((below + np.cumsum(weights) >= target) & (weights > 0.0))
        digit = int(reached[0]) if len(reached) else int(np.flatnonzero(weights)[-1])
        below += float(weights[:digit].sum())
        tied = float(weights[digit])
        prefix, known = (prefix << bits) | digit, known + bits
    return OrderStatistic(_float_of(prefix, dtype), below, tied)


def digit_weights(values: Values, prefix: int, known: int, bits: int) -> Floats:
    """Return the weight on each value of the next bits, of the values that begin with the bits known."""
    keys = _keys(values.values)
    width = 8 * keys.dtype.itemsize
    weights = values.weights
    if known:
        own = keys >> keys.dtype.type(width - known) == keys.dtype.type(prefix)
        keys, weights = keys[own], None if weights is None else weights[own]
    digits = (keys >> keys.dtype.type(width - known - bits)) & keys.dtype.type((1 << bits) - 1)
    return np.bincount(digits.astype(np.intp), weights, 1 << bits).astype(np.float64)


def neighbours(values: Values, value: float) -> tuple[float, float]:
    """Return the largest value below another and the smallest above it; infinite where there is none."""
    counted = values.values if values.weights is None else values.values[values.weights > 0.0]
    return (
        float(np.max(counted, where=counted < value, initial=-np.inf)),
        float(np.min(counted, where=counted > value, initial=np.inf)),
    )


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


def _keys(values: NDArray[np.floating]) -> NDArray[Any]:
    """Return unsigned integers in the order of the values."""
    unsigned: Any = np.uint32 if values.dtype == np.float32 else np.uint64
    keys = (values + values.dtype.type(0.0)).view(unsigned)  # -0.0 + 0.0 is 0.0
    sign = unsigned(1 << (8 * keys.dtype.itemsize - 1))
    return np.asarray(np.where(keys & sign, ~keys, keys | sign))


def _float_of(key: int, dtype: Any) -> float:
    unsigned: Any = np.uint32 if np.dtype(dtype) == np.float32 else np.uint64
    sign = 1 << (8 * np.dtype(dtype).itemsize - 1)
    bits = key ^ sign if key & sign else key ^ ((sign << 1) - 1)
    return float(np.array([bits], dtype=unsigned).view(dtype)[0])
