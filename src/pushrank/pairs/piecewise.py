r"""Inner sums of piecewise polynomial losses in O((I + K) log(I + K)), by sorting both sides.

As the score of the negative rises, more and more positives come within a piece of the loss. With the piece's
breakpoint u, the moments :math:`\sum_i w_i (u + t - s_i)^m` of the positives within are updated from one
negative to the next by adding non-negative numbers, so that no digits cancel for any range of the scores.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from pushrank._base.numeric import Floats
from pushrank._base.parallel import CHUNK_ELEMENTS, compiled, side_by_side
from pushrank.losses import Loss
from pushrank.pairs.graded import Block, Indices, mirrored, one_block, scatter_add
from pushrank.pairs.pair_sums import SLOPE, PairSums, polynomial_derivative


@compiled()
def _copy(values, out):
    """Write values to the start of an array."""
    # Assigning to a slice would take numba 2 seconds to compile, for the message of its error.
    for e in range(len(values)):
        out[e] = values[e]


@compiled()
def _move(moments, rise):
    """Turn sums of ``w x ** m`` into those of ``w (x + rise) ** m``."""
    degree = len(moments) - 1
    for done in range(degree):
        for m in range(degree, done, -1):
            moments[m] += rise * moments[m - 1]


@compiled()
def _add(moments, weight, distance):
    """Add a point at a distance to sums of powers."""
    for m in range(len(moments)):
        moments[m] += weight
        weight *= distance


@compiled()
def add_piece(sources, weights, targets, lower, upper, closed, coefficients, out):
    """Add ``sum_i weights_i sum_m coefficients_m (upper + t - sources_i) ** m`` for every target t."""
    # Sources and targets ascend. The sum is over the sources that are `lower` to `upper` above t. The upper
    # end belongs to the interval if `closed`, the lower end otherwise.
    # Subtracting the sources that leave at the lower end would cancel digits. Instead the sources in the
    # interval are in two parts. The lower part, from first to middle, has its sums over every possible rest
    # of it in ``behind``; when it is used up they are computed from the upper part, from middle to last,
    # whose sum is ``ahead``.
    size = len(coefficients)
    ahead, within = np.zeros(size), np.zeros(size)
    bounded = lower > -np.inf
    behind = np.zeros((len(sources) + 1 if bounded else 1, size))
    first = middle = last = 0
    for k in range(len(targets)):
        target = targets[k]
        if k:
            _move(ahead, target - targets[k - 1])
        while last < len(sources):
            margin = sources[last] - target
            if not (margin < upper or (closed and margin == upper)):
                break
            _add(ahead, weights[last], upper - margin)
            last += 1
        while first < last:
            margin = sources[first] - target
            if not (margin < lower or (closed and margin == lower)):
                break
            if first == middle:
                reference = sources[last - 1]
                behind[last, :] = 0.0
                for i in range(last - 1, first - 1, -1):
                    _copy(behind[i + 1], behind[i])
                    _add(behind[i], weights[i], reference - sources[i])
                middle = last
                ahead[:] = 0.0
            first += 1
        total = 0.0
        for m in range(size):
            if coefficients[m] != 0.0:
                total += coefficients[m] * ahead[m]
        if first < middle:
            _copy(behind[first], within)
            _move(within, upper - (sources[middle - 1] - target))
            for m in range(size):
                if coefficients[m] != 0.0:
                    total += coefficients[m] * within[m]
        out[k] += total


@compiled()
def add_lowest_piece(sources, weights, targets, upper, closed, coefficients, out):
    """Do the work of ``add_piece`` without a lower end for at most three powers, in a third of the time."""
    padded = np.zeros(3)
    _copy(coefficients, padded)
    zeroth_factor, first_factor, second_factor = padded
    zeroth = first = second = 0.0
    last, n_sources = 0, len(sources)
    before = targets[0] if len(targets) else 0.0
    for k in range(len(targets)):
        target = targets[k]
        rise = target - before
        before = target
        # Zero times an infinite sum would be NaN.
        if rise > 0.0:
            second += rise * (2.0 * first + rise * zeroth)
            first += rise * zeroth
        while last < n_sources:
            margin = sources[last] - target
            if not (margin < upper or (closed and margin == upper)):
                break
            distance, weight = upper - margin, weights[last]
            zeroth += weight
            first += weight * distance
            second += weight * distance * distance
            last += 1
        total = zeroth_factor * zeroth
        # A sum of squares of far scores may be infinite, and would make NaN with a factor of zero.
        if first_factor != 0.0:
            total += first_factor * first
        if second_factor != 0.0:
            total += second_factor * second
        out[k] += total


@compiled()
def segment_sums(in_sources, weights, in_targets, breakpoints, coefficients, closed):
    """Return the sums of all pieces for every segment's targets over the sources of the same segment."""
    # Sources and targets are pairs of scores and segment starts. Row j of `coefficients` is for margins from
    # `breakpoints[j]` to `breakpoints[j + 1]`.
    (sources, source_starts), (targets, target_starts) = in_sources, in_targets
    out = np.zeros(len(targets))
    for segment in range(len(target_starts) - 1):
        first, last = source_starts[segment], source_starts[segment + 1]
        start, stop = target_starts[segment], target_starts[segment + 1]
        s, w = sources[first:last], weights[first:last]
        t, sums = targets[start:stop], out[start:stop]
        lowest = 1 if coefficients.shape[1] <= 3 else 0
        if lowest:
            add_lowest_piece(s, w, t, breakpoints[1], closed, coefficients[0], sums)
        for j in range(lowest, len(coefficients)):
            add_piece(s, w, t, breakpoints[j], breakpoints[j + 1], closed, coefficients[j], sums)
    return out


class SortedSums(PairSums):
    """Log inner sums of a piecewise polynomial loss, by a walk over each block of pairs."""

    def __init__(
        self,
        loss: Loss,
        positive_scores: Floats,
        negative_scores: Floats,
        weights: Floats | None,
        blocks: Sequence[Block] | None = None,
    ) -> None:
        self._polynomials = [_Polynomials.from_loss(loss, order) for order in range(3)]
        if blocks is None:
            blocks = one_block(len(positive_scores), len(negative_scores))
        self._walks = [_Walk(block, positive_scores, negative_scores) for block in blocks]
        super().__init__(loss, positive_scores, negative_scores, weights)

    def _adjoint_and_slopes(self, per_sum: Floats) -> tuple[Floats, Floats]:
        n_scores = self._positives.shape[0] + self._negatives.shape[0]
        in_positives, slopes = side_by_side(
            lambda: self._over_negatives(SLOPE, per_sum),
            lambda: self._slopes,
            many=n_scores >= CHUNK_ELEMENTS,
        )
        return in_positives, slopes

    def _over_positives(self, order: int, factors: Floats | None = None) -> Floats:
        weights = self._weighted(factors)
        parts = [walk.over_sources(weights, self._polynomials[order]) for walk in self._walks]
        return scatter_add([walk.targets for walk in self._walks], parts, self._negatives.shape[0])

    def _over_negatives(self, order: int, factors: Floats) -> Floats:
        parts = [walk.over_targets(factors, self._polynomials[order]) for walk in self._walks]
        sums = scatter_add([walk.sources for walk in self._walks], parts, self._positives.shape[0])
        return self._weights * sums


class _Polynomials(NamedTuple):
    """The pieces of a loss or of a derivative of it, as arrays with a row for each."""

    # A piece ends at the next of the `breakpoints`, which belongs to it if `closed`; its `coefficients` are
    # of powers of the distance to that end.

    breakpoints: Floats
    coefficients: Floats
    closed: bool

    @classmethod
    def from_loss(cls, loss: Loss, order: int) -> _Polynomials:
        """Return the pieces of a derivative of a loss; the derivative of order zero is the loss itself."""
        pieces = loss.pieces
        breakpoints = np.array([-np.inf, *(piece.breakpoint for piece in pieces)])
        if not (np.isfinite(breakpoints[1:]).all() and (np.diff(breakpoints) > 0.0).all()):
            raise ValueError(f"the pieces of {loss} must end at rising finite margins, got {pieces}.")
        coefficients = np.zeros((len(pieces), max(len(piece.coefficients) for piece in pieces)))
        for row, piece in zip(coefficients, pieces, strict=True):
            row[: len(piece.coefficients)] = piece.coefficients
        return cls(breakpoints, polynomial_derivative(coefficients, order), order == 0)


class _Walk:
    """A block of pairs with both sides sorted by score."""

    def __init__(self, block: Block, positive_scores: Floats, negative_scores: Floats) -> None:
        self.sources, self.targets = side_by_side(
            lambda: _by_score(block.sources, block.source_starts, positive_scores),
            lambda: _by_score(block.targets, block.target_starts, negative_scores),
            many=len(block.sources) + len(block.targets) >= CHUNK_ELEMENTS,
        )
        self._in_sources = positive_scores[self.sources], block.source_starts
        self._in_targets = negative_scores[self.targets], block.target_starts

    def over_sources(self, weights: Floats, pieces: _Polynomials) -> Floats:
        """Return the sums over the sources for each target, in the order of ``targets``."""
        return np.asarray(segment_sums(self._in_sources, weights[self.sources], self._in_targets, *pieces))

    def over_targets(self, weights: Floats, pieces: _Polynomials) -> Floats:
        """Return the sums over the targets for each source."""
        # It is the same walk over negated scores, which exchanges the two sides.
        sources, targets = mirrored(*self._in_targets), mirrored(*self._in_sources)
        sums: Floats = segment_sums(sources, weights[self.targets[::-1]], targets, *pieces)
        return sums[::-1]


def _by_score(indices: Indices, starts: Indices, scores: Floats) -> Indices:
    """Return indices sorted by score within every segment."""
    if len(starts) == 2:
        return np.argsort(scores) if len(indices) == len(scores) else indices[np.argsort(scores[indices])]
    segments = np.repeat(np.arange(len(starts) - 1), np.diff(starts))
    return indices[np.lexsort((scores[indices], segments))]
