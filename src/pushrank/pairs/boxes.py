"""Scores sorted into boxes of one width, without sorting them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from pushrank._chunks import map_chunks, row_chunks
from pushrank._log_space import Floats
from pushrank.pairs import smooth_kernels
from pushrank.pairs.splits import Places

SPARE = 1024  # numbers of boxes that may be counted in a table, beyond four times the points


@dataclass(frozen=True, eq=False)
class Boxes:
    """Points, segment by segment, in boxes about the multiples of a width.

    Attributes
    ----------
    of_points : ndarray of int, shape (n,)
        The box of each point, counted over the boxes that hold any.
    places : ndarray of shape (n,)
        Where it is in its box, from -1 to 1.
    numbers : ndarray of float64, shape (n_boxes,)
        The multiple that each box lies about, ascending in every segment.
    bounds : ndarray of int, shape (n_segments + 1,)
        Where each segment's boxes start, and where the last ones end.
    """

    of_points: NDArray[np.int32]
    places: Floats
    numbers: Floats
    bounds: Places

    @classmethod
    def of(cls, scores: Floats, bounds: Places, width: float) -> Boxes:
        """Sort scores, segment by segment, into boxes.

        O(n) in one segment whose scores span no more boxes than a few times the points, O(n log n) elsewhere.
        """
        per_width = 1.0 / width
        if len(bounds) == 2:
            lowest, highest = smooth_kernels.extent(scores, per_width)
            if highest - lowest < 4 * len(scores) + SPARE:
                codes, places = np.empty(len(scores), dtype=np.int32), np.empty(len(scores))
                used = np.zeros(int(highest - lowest) + 1, dtype=bool)
                smooth_kernels.assign(scores, per_width, lowest, codes, places, used)
                if not used.all():
                    codes = (np.cumsum(used, dtype=np.int32) - 1)[codes]
                present = np.flatnonzero(used)
                return cls(codes, places, lowest + present, np.array([0, len(present)]))
        places = scores * per_width  # exact, as the width is a power of two
        numbers = np.rint(places)
        places -= numbers
        places *= 2.0
        segments = np.repeat(np.arange(len(bounds) - 1), np.diff(bounds))
        order = np.lexsort((numbers, segments))
        in_order, segments = numbers[order], segments[order]
        opens = np.ones(len(order), dtype=bool)
        opens[1:] = (in_order[1:] != in_order[:-1]) | (segments[1:] != segments[:-1])
        of_points = np.empty(len(order), dtype=np.int32)
        of_points[order] = np.cumsum(opens, dtype=np.int32) - 1
        box_bounds = np.searchsorted(segments[opens], np.arange(len(bounds)))
        return cls(of_points, places, in_order[opens], box_bounds)

    def mirrored_numbers(self) -> tuple[Floats, Places]:
        """Return the numbers and bounds of the boxes of the negated scores."""
        return -self.numbers[::-1], len(self.numbers) - self.bounds[::-1]

    def moments(self, weights: Floats, q: int) -> Floats:
        """Return the weighted sums of the first q Chebyshev polynomials over each box, shape (n_boxes, q)."""
        n_points, n_boxes = len(self.places), len(self.numbers)
        chunks = row_chunks(n_points, q)
        if n_boxes * len(chunks) > n_points:
            chunks = [(0, n_points)]

        def chunk_moments(start: int, stop: int) -> Floats:
            found = np.zeros((n_boxes, q))
            smooth_kernels.add_moments(self.of_points, self.places, weights, start, stop, found)
            return found

        total, *others = map_chunks(chunk_moments, chunks)
        for part in others:
            total += part
        return total

    def evaluate(self, coefficients: Floats) -> Floats:
        """Return the Chebyshev series of each point's box at the point, shape (n,)."""
        values = np.empty(len(self.places))
        map_chunks(
            lambda start, stop: smooth_kernels.evaluate(
                self.of_points, self.places, coefficients, start, stop, values
            ),
            row_chunks(len(values), coefficients.shape[1]),
        )
        return values
