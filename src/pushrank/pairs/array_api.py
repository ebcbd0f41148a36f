"""Two classes and their inner sums in arrays of other libraries."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from math import comb
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pushrank._array import detached, like, namespace, to_host
from pushrank._numeric import Floats
from pushrank._validation import not_two_classes
from pushrank.pairs.graded import Places
from pushrank.pairs.samples import Normaliser, Sample, SharedNormaliser


class ArrayWalk:
    """All positives compared with all negatives.

    Every piece takes the difference of running sums of powers of the scores, centred; where a piece holds few
    rows that lie far from the middle that loses digits, which the compiled walk does not.
    """

    def __init__(self, of_positives: Any, of_negatives: Any) -> None:
        xp = namespace(of_positives)
        middle = 0.5 * (float(xp.mean(of_positives)) + float(xp.mean(of_negatives)))
        self._positives, self._negatives = of_positives - middle, of_negatives - middle

    def over_sources(self, weights: Any, ends: Floats, coefficients: Floats, closed: bool) -> Any:
        """Return what the sources give to each target."""
        return _sums(self._positives, weights, self._negatives, ends, coefficients, closed)

    def over_targets(self, weights: Any, ends: Floats, coefficients: Floats, closed: bool) -> Any:
        """Return what the targets give to each source: the same, mirrored."""
        return _sums(-self._negatives, weights, -self._positives, ends, coefficients, closed)


def _sums(sources: Any, weights: Any, targets: Any, ends: Floats, coefficients: Floats, closed: bool) -> Any:
    """Return ``sum_i w_i sum_m c_m (u + t - s_i) ** m`` over the pieces, at every target t."""
    xp = namespace(sources)
    order = xp.argsort(sources)
    ascending, in_order = xp.take(sources, order, axis=0), xp.take(weights, order, axis=0)
    powers, term = [], in_order
    for _ in range(coefficients.shape[1]):
        powers.append(xp.concat([like([0.0], term), xp.cumulative_sum(term)]))
        term = -term * ascending
    side = "right" if closed else "left"
    total = xp.zeros_like(targets)
    below: Any = None
    for j in range(coefficients.shape[0]):
        upper = float(ends[j + 1])
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
class ArrayBoxes:
    """Points in boxes about the multiples of a width; the boxes are on the host, the points where they were.

    Attributes
    ----------
    of_points : array of int, shape (n,)
        The box of each point, counted over the boxes that hold any.
    places : array of shape (n,)
        Where it is in its box, from -1 to 1.
    order : array of int, shape (n,)
        The points by box.
    ends : array of int, shape (n_boxes,)
        Where each box ends in that order.
    numbers : ndarray of float64, shape (n_boxes,)
        The multiple that each box lies about, ascending.
    bounds : ndarray of int, shape (2,)
        Zero and the number of boxes.
    """

    of_points: Any
    places: Any
    order: Any
    ends: Any
    numbers: Floats
    bounds: Places

    @classmethod
    def of(cls, scores: Any, width: float) -> ArrayBoxes:
        """Sort scores into boxes."""
        xp = namespace(scores)
        scaled = scores * (1.0 / width)
        multiples = xp.round(scaled)
        order = xp.argsort(multiples)
        used = xp.unique_values(multiples)
        used = xp.sort(used)
        ends = xp.searchsorted(xp.take(multiples, order, axis=0), used, side="right")
        numbers = to_host(used)
        of_points = xp.searchsorted(used, multiples)
        places = 2.0 * (scaled - multiples)
        return cls(of_points, places, order, ends, numbers, np.array([0, len(numbers)]))

    def mirrored_numbers(self) -> tuple[Floats, Places]:
        """Return the numbers and bounds of the boxes of the negated scores."""
        return -self.numbers[::-1], self.bounds

    def moments(self, weights: Any, q: int) -> Floats:
        """Return the weighted sums of the first q Chebyshev polynomials over each box, shape (n_boxes, q)."""
        xp = namespace(weights)
        at = xp.take(self.places, self.order, axis=0)
        before = xp.take(weights, self.order, axis=0)
        term = before * at
        found = [self._by_box(before), self._by_box(term)]
        for _ in range(2, q):
            before, term = term, 2.0 * at * term - before
            found.append(self._by_box(term))
        return np.stack(found, axis=1)

    def evaluate(self, coefficients: Floats) -> Any:
        """Return the Chebyshev series of each point's box at the point, shape (n,)."""
        xp = namespace(self.places)
        columns = like(np.ascontiguousarray(coefficients.T), self.places)
        before, term = 1.0, self.places
        total = xp.take(columns[0, :], self.of_points, axis=0)
        total = total + xp.take(columns[1, :], self.of_points, axis=0) * term
        for j in range(2, coefficients.shape[1]):
            before, term = term, 2.0 * self.places * term - before
            total = total + xp.take(columns[j, :], self.of_points, axis=0) * term
        return total

    def _by_box(self, in_order: Any) -> Floats:
        """Return the sum over each box, from running sums."""
        xp = namespace(in_order)
        running = to_host(xp.take(xp.cumulative_sum(in_order), self.ends - 1, axis=0))
        return np.diff(running, prepend=0.0)


@dataclass(frozen=True, eq=False)
class ArraySample(Sample):
    """Two classes as arrays of any library that keeps the array API standard, where they are.

    Attributes
    ----------
    places : array of int, shape (n_rows,)
        Where each row is among the positives, then the negatives, then the rows that take no part.
    """

    places: Any = None

    @classmethod
    def from_labels(cls, y: Any, sample_weight: Any = None) -> ArraySample:
        """Build a sample from labels of two values, the larger being the positive class.

        Raises
        ------
        ValueError
            When there are not two classes, or the weights are not those of :func:`weights_beside`.
        """
        xp = namespace(y)
        classes = xp.unique_values(y)
        if classes.shape[0] != 2:
            raise ValueError(not_two_classes(to_host(classes)))
        is_positive = y if xp.isdtype(y.dtype, "bool") else y == xp.max(classes)
        return cls.from_mask(is_positive, weights_beside(y, sample_weight))

    @classmethod
    def from_mask(cls, is_positive: Any, weights: Any = None) -> ArraySample:
        """Build a sample from a mask of the positives and non-negative weights of the same library.

        Raises
        ------
        ValueError
            When a class has no row of positive weight.
        """
        xp = namespace(is_positive)
        counted = xp.ones_like(is_positive) if weights is None else weights > 0.0
        kinds = [is_positive & counted, ~is_positive & counted]
        rows = [xp.nonzero(kind)[0] for kind in (*kinds, ~counted)]
        n_positives, n_negatives = rows[0].shape[0], rows[1].shape[0]
        for count, name in ((n_positives, "positive"), (n_negatives, "negative")):
            if not count:
                raise ValueError(
                    f"no {name} example was found whose sample_weight is not zero; ranking needs at least "
                    f"one row of each class (found {n_positives} positives, {n_negatives} negatives)."
                )
        of_classes = (None, None)
        if weights is not None:
            of_classes = (xp.take(weights, rows[0], axis=0), xp.take(weights, rows[1], axis=0))
        places = xp.argsort(xp.concat(rows))
        return cls(is_positive.shape[0], rows[0], rows[1], *of_classes, places)

    def gather(self, values: Any) -> tuple[Any, Any]:
        """Return the entries of the positives and of the negatives of a vector over all rows."""
        xp = namespace(values)
        return xp.take(values, self.positives, axis=0), xp.take(values, self.negatives, axis=0)

    def scatter(self, of_positives: Any, of_negatives: Any) -> Any:
        """Return one vector over all rows, zero on rows that take no part."""
        xp = namespace(of_positives)
        rest = self.n_rows - of_positives.shape[0] - of_negatives.shape[0]
        ends = like(np.zeros(rest), of_positives, of_positives.dtype)
        return xp.take(xp.concat([of_positives, of_negatives, ends]), self.places, axis=0)

    def swapped(self) -> ArraySample:
        """Return the sample with the classes' roles exchanged."""
        xp = namespace(self.places)
        first, second = self.positives.shape[0], self.negatives.shape[0]
        after = xp.where(self.places < first, self.places + second, self.places - first)
        places = xp.where(self.places < first + second, after, self.places)
        return ArraySample(
            self.n_rows, self.negatives, self.positives, self.negative_weights, self.positive_weights, places
        )

    def normaliser(self, exponents: Any) -> Normaliser:
        """Return the one sum that all negatives share."""
        return SharedNormaliser(exponents)

    def least_margin(self, scores: Any) -> float:
        """Return the lowest score of a positive less the highest of a negative."""
        of_positives, of_negatives = self.gather(scores)
        xp = namespace(scores)
        return float(xp.min(of_positives)) - float(xp.max(of_negatives))

    def subset(self, kept: NDArray[np.bool_]) -> ArraySample:  # noqa: ARG002
        """Raise: parts of samples are for boosting, which takes NumPy arrays."""
        raise TypeError("a sample on another device cannot be cut; pass NumPy arrays.")

    @cached_property
    def totals(self) -> tuple[Floats, Floats]:
        """The logarithm of the weight of the positives, and the weight of the negatives, one entry each."""
        of_positives, of_negatives = self.class_weights
        return np.log([of_positives]), np.array([of_negatives])

    @property
    def class_codes(self) -> Any:
        """One for a positive, zero for another row, shape (n_rows,)."""
        xp = namespace(self.places)
        return xp.astype(self.places < self.positives.shape[0], xp.float64)


def weights_beside(y: Any, sample_weight: Any) -> Any:
    """Return sample weights of any library as float64 of that of the labels, on their device, or None.

    Raises
    ------
    ValueError
        When there is not a number for each row, or one is negative or not finite.
    """
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
