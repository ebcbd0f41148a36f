"""Scores on another device in boxes of one width."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from pushrank._array import like, namespace, to_host
from pushrank._log_space import Floats
from pushrank.pairs.splits import Places


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
