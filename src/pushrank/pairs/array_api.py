"""Two classes and their inner sums in arrays of other libraries, on their device.

:class:`ArraySample` is the counterpart of ``BipartiteSample``, :class:`ArrayWalk` and :class:`ArrayBins`
those of the compiled loops in ``piecewise`` and ``analytic``. All other code takes both kinds of arrays.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from math import comb
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pushrank._array import detached, like, namespace, to_host
from pushrank._numeric import Floats
from pushrank.pairs.graded import Indices
from pushrank.pairs.samples import ByClass, TwoClassSample, check_both_classes
from pushrank.validation import not_two_classes


class ArrayWalk:
    """All pairs of two classes, summed by differences of running sums of powers of the centred scores."""

    # For few rows far from the middle the differences lose digits, in contrast to the compiled walk.

    sources = targets = slice(None)

    def __init__(self, positive_scores: Any, negative_scores: Any) -> None:
        xp = namespace(positive_scores)
        middle = 0.5 * (float(xp.mean(positive_scores)) + float(xp.mean(negative_scores)))
        self._positives, self._negatives = positive_scores - middle, negative_scores - middle

    def over_sources(self, weights: Any, pieces: tuple[Floats, Floats, bool]) -> Any:
        return _sums(self._positives, weights, self._negatives, *pieces)

    def over_targets(self, weights: Any, pieces: tuple[Floats, Floats, bool]) -> Any:
        return _sums(-self._negatives, weights, -self._positives, *pieces)


def _sums(
    sources: Any, weights: Any, targets: Any, breakpoints: Floats, coefficients: Floats, closed: bool
) -> Any:
    """Return ``sum_i w_i sum_m c_m (u + t - s_i) ** m`` over the pieces, at every target t."""
    xp = namespace(sources)
    order = xp.argsort(sources)
    ascending, in_order = xp.take(sources, order, axis=0), xp.take(weights, order, axis=0)
    # With running sums of w (-s)^k the binomial theorem gives the sum of any power of t + u - s over a range.
    powers, term = [], in_order
    for _ in range(coefficients.shape[1]):
        powers.append(xp.concat([like([0.0], term), xp.cumulative_sum(term)]))
        term = -term * ascending
    side = "right" if closed else "left"
    total = xp.zeros_like(targets)
    below: Any = None
    for j in range(coefficients.shape[0]):
        upper = float(breakpoints[j + 1])
        reached = xp.searchsorted(ascending, targets + upper, side=side)
        moved = targets + upper
        for m in range(coefficients.shape[1]):
            factor = float(coefficients[j, m])
            if factor == 0.0:
                continue
            for k in range(m + 1):
                within = xp.take(powers[k], reached, axis=0)
                if below is not None:
                    within = within - xp.take(powers[k], below, axis=0)
                total = total + factor * comb(m, k) * moved ** (m - k) * within
        below = reached
    return total


@dataclass(frozen=True, eq=False)
class ArrayBins:
    """Points in bins about the multiples of a width; the bins are on the host, the points on their device."""

    # The fields have the meaning of those of `Bins`. In `order` the points of each bin are together, and
    # `stops` holds the end of each bin.

    bin_of_point: Any
    local: Any
    order: Any
    stops: Any
    centres: Floats
    starts: Indices

    @classmethod
    def from_scores(cls, scores: Any, width: float) -> ArrayBins:
        xp = namespace(scores)
        scaled = scores * (1.0 / width)
        multiples = xp.round(scaled)
        order = xp.argsort(multiples)
        used = xp.sort(xp.unique_values(multiples))
        stops = xp.searchsorted(xp.take(multiples, order, axis=0), used, side="right")
        centres = to_host(used)
        local = 2.0 * (scaled - multiples)
        starts = np.array([0, len(centres)])
        return cls(xp.searchsorted(used, multiples), local, order, stops, centres, starts)

    @property
    def layout(self) -> tuple[Floats, Indices]:
        return self.centres, self.starts

    def moments(self, weights: Any, q: int) -> Floats:
        xp = namespace(weights)
        local = xp.take(self.local, self.order, axis=0)
        before = xp.take(weights, self.order, axis=0)
        term = before * local
        moments = [self._by_bin(before), self._by_bin(term)]
        for _ in range(2, q):
            before, term = term, 2.0 * local * term - before
            moments.append(self._by_bin(term))
        return np.stack(moments, axis=1)

    def evaluate(self, coefficients: Floats) -> Any:
        xp = namespace(self.local)
        columns = like(np.ascontiguousarray(coefficients.T), self.local)
        before, term = 1.0, self.local
        total = xp.take(columns[0, :], self.bin_of_point, axis=0)
        total = total + xp.take(columns[1, :], self.bin_of_point, axis=0) * term
        for j in range(2, coefficients.shape[1]):
            before, term = term, 2.0 * self.local * term - before
            total = total + xp.take(columns[j, :], self.bin_of_point, axis=0) * term
        return total

    def _by_bin(self, in_order: Any) -> Floats:
        """Return the sums over the bins."""
        # The array API standard has no sum by groups: differences of running sums are the same.
        xp = namespace(in_order)
        running = to_host(xp.take(xp.cumulative_sum(in_order), self.stops - 1, axis=0))
        return np.diff(running, prepend=0.0)


@dataclass(frozen=True, eq=False)
class ArraySample(TwoClassSample):
    """Two classes as arrays of any library that keeps the array API standard, on their device."""

    # `class_order` is each row's index in the list of the positives, the negatives and the rows in neither.

    class_order: Any = None

    @classmethod
    def from_labels(cls, y: Any, sample_weight: Any = None) -> ArraySample:
        """Build a sample from labels of two values, the larger being the positive class."""
        xp = namespace(y)
        classes = xp.unique_values(y)
        if classes.shape[0] != 2:
            raise ValueError(not_two_classes(to_host(classes)))
        is_positive = y if xp.isdtype(y.dtype, "bool") else y == xp.max(classes)
        return cls.from_mask(is_positive, weights_beside(y, sample_weight))

    @classmethod
    def from_mask(cls, is_positive: Any, weights: Any = None) -> ArraySample:
        """Build a sample from a mask of the positives and non-negative weights of the same library."""
        xp = namespace(is_positive)
        counted = xp.ones_like(is_positive) if weights is None else weights > 0.0
        kinds = (is_positive & counted, ~is_positive & counted, ~counted)
        rows = [xp.nonzero(kind)[0] for kind in kinds]
        check_both_classes(rows[0].shape[0], rows[1].shape[0])
        counted_weights = [None if weights is None else xp.take(weights, rows[c], axis=0) for c in (0, 1)]
        # The inverse of a permutation is its argsort.
        order = xp.argsort(xp.concat(rows))
        return cls(is_positive.shape[0], rows[0], rows[1], counted_weights[0], counted_weights[1], order)

    def gather(self, values: Any) -> ByClass:
        xp = namespace(values)
        return ByClass(xp.take(values, self.positives, axis=0), xp.take(values, self.negatives, axis=0))

    def scatter(self, positive_values: Any, negative_values: Any) -> Any:
        # The standard has no assignment to indices, and takes from a concatenation instead.
        xp = namespace(positive_values)
        n_rest = self.n_rows - positive_values.shape[0] - negative_values.shape[0]
        rest = like(np.zeros(n_rest), positive_values, positive_values.dtype)
        return xp.take(xp.concat([positive_values, negative_values, rest]), self.class_order, axis=0)

    def swapped(self) -> ArraySample:
        # The two classes change places in the list, and the rows in neither stay.
        order, first, second = self.class_order, self.positives.shape[0], self.negatives.shape[0]
        xp = namespace(order)
        after = xp.where(order < first, order + second, order - first)
        return replace(super().swapped(), class_order=xp.where(order < first + second, after, order))

    def subset(self, kept: NDArray[np.bool_]) -> ArraySample:  # noqa: ARG002
        """Raise a TypeError: parts of samples are for boosting, which takes NumPy arrays."""
        raise TypeError("a sample on another device cannot be cut; pass NumPy arrays.")

    @property
    def class_codes(self) -> Any:
        xp = namespace(self.class_order)
        return xp.astype(self.class_order < self.positives.shape[0], xp.float64)


def weights_beside(y: Any, sample_weight: Any) -> Any:
    """Return checked sample weights as float64 of the labels' library and device, or None."""
    if sample_weight is None:
        return None
    weights = detached(like(sample_weight, y))
    xp = namespace(weights)
    if weights.shape != y.shape:
        raise ValueError(
            f"sample_weight must hold a number for each of {y.shape[0]} rows, not {tuple(weights.shape)}."
        )
    if not bool(xp.all(xp.isfinite(weights))):
        raise ValueError("sample_weight contains NaN or infinity.")
    if float(xp.min(weights)) < 0.0:
        raise ValueError(f"sample_weight must not be negative, found {float(xp.min(weights))}.")
    return weights
