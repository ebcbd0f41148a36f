"""Order statistics of values in parts, exact, by rounds of counts: no value leaves its part.

Floats are ordered as the integers of their bits are, except for the sign. A round counts how much weight
lies on each value of the next 11 bits, among the values that begin with the bits fixed so far: three rounds
for float32, six for float64, whatever the number of rows, and 16 kB from every part.
"""

import math
from collections.abc import Callable
from typing import Any, NamedTuple, Protocol, TypeVar

import numpy as np
from numpy.typing import DTypeLike, NDArray

from pushrank._base.numeric import Floats
from pushrank._base.parallel import compiled, read_only

# The counts of a round are a small message, and more bits would spare a float64 no round.
DIGIT_BITS = 11
# Sums of weights in different orders differ by their rounding, which is less than this part of them.
WEIGHT_ROUNDING = 1e-12


class Values(NamedTuple):
    """Values of a part, float32 or float64 and finite, and the weight of each; None where all weigh one."""

    values: NDArray[np.floating]
    weights: Floats | None = None


Mapped = TypeVar("Mapped")


class ValueParts(Protocol):
    """``Values`` in parts, wherever these are."""

    def map(self, function: Callable[..., Mapped], *arguments: object) -> list[Mapped]:
        """Return the function of the values of each part and of the arguments, in the order of the parts."""


class InOnePart(NamedTuple):
    """``Values`` in memory, as one part."""

    values: Values

    def map(self, function: Callable[..., Mapped], *arguments: object) -> list[Mapped]:
        return [function(self.values, *arguments)]


class OrderStatistic(NamedTuple):
    """A value, the total weight of all smaller values, and that of its equals."""

    value: float
    below: float
    tied: float


def order_statistic(values: ValueParts, dtype: DTypeLike, target: float) -> OrderStatistic:
    """Return the smallest value that, with all smaller ones, weighs ``target`` or more, else the largest."""
    if isinstance(values, InOnePart) and values.values.weights is None:
        return _selected(values.values.values, target)
    width = 8 * np.dtype(dtype).itemsize
    prefix, n_fixed, below, tied = 0, 0, 0.0, 0.0
    while n_fixed < width:
        bits = min(DIGIT_BITS, width - n_fixed)
        # Python's sum adds the parts in their order, so that rounding does not depend on where they lie;
        # numpy.sum would hold a copy of all.
        weights: Any = sum(values.map(digit_weights, prefix, n_fixed, bits))
        reached = np.flatnonzero((below + np.cumsum(weights) >= target) & (weights > 0.0))
        digit = int(reached[0]) if len(reached) else int(np.flatnonzero(weights)[-1])
        below += float(weights[:digit].sum())
        tied = float(weights[digit])
        prefix, n_fixed = (prefix << bits) | digit, n_fixed + bits
    return OrderStatistic(_key_to_float(prefix, dtype), below, tied)


def _selected(values: NDArray[np.floating], target: float) -> OrderStatistic:
    """Return an order statistic of values that all weigh one, five times as quick as by counts of digits."""
    rank = min(max(math.ceil(target), 1), len(values)) - 1
    value = np.partition(values, rank)[rank]
    below, tied = np.count_nonzero(values < value), np.count_nonzero(values == value)
    return OrderStatistic(float(value), float(below), float(tied))


def digit_weights(values: Values, prefix: int, n_fixed: int, bits: int) -> Floats:
    """Return the weight on each value of the next bits, of the values whose first bits are the prefix."""
    patterns = read_only(np.ascontiguousarray(values.values).view(f"u{values.values.itemsize}"))
    totals = np.zeros(1 << bits)
    _digit_weights(patterns, values.weights, prefix, n_fixed, bits, totals)
    return totals


@compiled()
def _digit_weights(patterns, weights, prefix, n_fixed, bits, totals):
    width = 8 * patterns.itemsize
    sign = np.uint64(1) << np.uint64(width - 1)
    every_bit = sign | (sign - np.uint64(1))
    n_digits = np.uint64(1) << np.uint64(bits)
    for i in range(len(patterns)):
        pattern = np.uint64(patterns[i])
        # minus zero ties with zero
        if pattern == sign:
            pattern = np.uint64(0)
        # Negative floats descend with their bits, so that all of these are flipped; others begin with a zero
        # bit, which has to rank above.
        key = pattern ^ (every_bit if pattern & sign else sign)
        first_bits = key >> np.uint64(width - n_fixed - bits)
        if first_bits >> np.uint64(bits) == np.uint64(prefix):
            totals[first_bits & (n_digits - np.uint64(1))] += 1.0 if weights is None else weights[i]


def _key_to_float(key: int, dtype: DTypeLike) -> float:
    unsigned: Any = np.uint32 if np.dtype(dtype) == np.float32 else np.uint64
    sign = 1 << (8 * np.dtype(dtype).itemsize - 1)
    bits = key ^ sign if key & sign else key ^ ((sign << 1) - 1)
    return float(np.array([bits], dtype=unsigned).view(dtype)[0])


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
    """Return the threshold above which as much weight is predicted positive as is positive."""
    # It lies midway between two neighbouring scores, which are in the dtype of the coefficients; rows that
    # tie across it all fall below it, or above it where no score is higher.
    cut = order_statistic(scores, coef.dtype, negative_weight * (1.0 - WEIGHT_ROUNDING)).value
    below, above = zip(*scores.map(neighbours, cut), strict=True)
    if min(above) < np.inf:
        return midway(cut, min(above), coef)
    return midway(max(below), cut, coef) if max(below) > -np.inf else cut


def midway(lower: float, higher: float, scores: Any) -> float:
    """Return a threshold such that, in the dtype of the scores, only the higher of two scores is above it."""
    middle = 0.5 * lower + 0.5 * higher
    # Between neighbouring floats the middle is rounded, possibly to the higher score.
    return middle if float(np.asarray(middle, dtype=scores.dtype)) < higher else lower


class Cut(NamedTuple):
    """The highest values of a total weight: those above a score, and a share of the weight of those at it."""

    score: float
    share: float


def highest_cut(negated_scores: ValueParts, total: float) -> Cut:
    """Return where the highest scores of a total weight end, of which the scores times -1 are float64."""
    value, above, tied = order_statistic(negated_scores, np.float64, total * (1.0 - WEIGHT_ROUNDING))
    return Cut(-value, min(1.0, (total - above) / tied))


def highest_weights(scores: Floats, weights: Floats, total: float) -> Floats:
    """Return the parts of some weights that the highest scores hold, ``total`` in all; ties share equally."""
    if total >= weights.sum():
        return weights
    counted = None if (weights == 1.0).all() else weights
    cut = highest_cut(InOnePart(Values(-scores, counted)), total)
    return np.asarray(weights * ((scores > cut.score) + cut.share * (scores == cut.score)))
