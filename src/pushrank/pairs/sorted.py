"""Piecewise polynomial losses: all pairs in few walks along the sorted scores."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from pushrank._array import Floats, is_numpy, positive_part
from pushrank._chunks import CHUNK_ELEMENTS, side_by_side
from pushrank.losses import Loss
from pushrank.pairs import sorted_kernels
from pushrank.pairs.array_walk import ArrayWalk
from pushrank.pairs.inner_sums import SLOPE, VALUE, PairSums
from pushrank.pairs.ordering import ascending
from pushrank.pairs.splits import Places, Split, joined, whole


class SortedSums(PairSums):
    r"""Log inner sums of a piecewise polynomial loss, in O((I + K) log(I + K)).

    Along rising scores of the negatives ever more positives come within reach of a piece. The moments
    :math:`\sum_i w_i (u + t - s_i)^m` of those within, u the piece's upper end, follow from one negative to
    the next by sums of numbers that are not negative, so that no digits cancel, whatever the range of the
    scores.

    Parameters
    ----------
    loss : Loss
        A loss with ``pieces``.
    of_positives : ndarray of shape (I,)
        The scores ``s``.
    of_negatives : ndarray of shape (K,)
        The scores ``t``.
    weights : ndarray of shape (I,) or None
        Weights of the positives.
    splits : list of Split, optional
        Which are compared with which; by default all with all. Each costs a walk.

    Examples
    --------
    >>> from pushrank.losses import Hinge
    >>> sums = SortedSums(Hinge(), np.array([2.0, 0.0]), np.array([0.5, 3.0]), None)
    >>> np.exp(sums.log_sums).round(9).tolist()
    [1.5, 6.0]
    """

    def __init__(
        self,
        loss: Loss,
        of_positives: Floats,
        of_negatives: Floats,
        weights: Floats | None,
        splits: Sequence[Split] | None = None,
    ) -> None:
        self._polynomials = [_Polynomials.of(loss, order) for order in range(3)]
        self._elsewhere = None if is_numpy(of_positives) else ArrayWalk(of_positives, of_negatives)
        if self._elsewhere is None:
            splits = whole(len(of_positives), len(of_negatives)) if splits is None else splits
            self._walks = [_Walk(split, of_positives, of_negatives) for split in splits]
        super().__init__(loss, of_positives, of_negatives, weights)

    def _over_negatives_and_slopes(self, per_sum: Floats) -> tuple[Floats, Floats]:
        in_positives, slopes = side_by_side(
            lambda: self._over_negatives(SLOPE, per_sum),
            lambda: self._slopes,
            many=self._elsewhere is None and len(self._positives) + len(self._negatives) >= CHUNK_ELEMENTS,
        )
        return in_positives, slopes

    def _over_positives(self, order: int, factors: Floats | None = None) -> Floats:
        weights = self._weighted(factors)
        if self._elsewhere is not None:
            sums: Floats = self._elsewhere.over_sources(weights, *self._polynomials[order])
            return positive_part(sums) if order == VALUE and factors is None else sums
        parts = [walk.over_sources(weights, self._polynomials[order]) for walk in self._walks]
        return joined([walk.places_n for walk in self._walks], parts, len(self._negatives))

    def _over_negatives(self, order: int, factors: Floats) -> Floats:
        if self._elsewhere is not None:
            found: Floats = self._elsewhere.over_targets(factors, *self._polynomials[order])
            return self._weights * found
        parts = [walk.over_targets(factors, self._polynomials[order]) for walk in self._walks]
        sums = joined([walk.places_p for walk in self._walks], parts, len(self._positives))
        sums *= self._weights
        return sums


class _Polynomials(NamedTuple):
    """The pieces of a loss or of a derivative of it, as arrays.

    Attributes
    ----------
    ends : ndarray of shape (n_pieces + 1,)
        The margins between them, the first minus infinity.
    coefficients : ndarray of shape (n_pieces, n_powers)
        Of powers of the distance to a piece's upper end.
    closed : bool
        Whether the upper ends belong to the pieces.
    """

    ends: Floats
    coefficients: Floats
    closed: bool

    @classmethod
    def of(cls, loss: Loss, order: int) -> _Polynomials:
        """Return those of a derivative of a loss, the loss itself being the one of order zero."""
        pieces = loss.pieces
        ends = np.array([-np.inf, *(piece.upto for piece in pieces)])
        if not (np.isfinite(ends[1:]).all() and (np.diff(ends) > 0.0).all()):
            raise ValueError(f"the pieces of {loss} must end at rising finite margins, got {pieces}.")
        coefficients = np.zeros((len(pieces), max(len(piece.coefficients) for piece in pieces)))
        for row, piece in zip(coefficients, pieces, strict=True):
            row[: len(piece.coefficients)] = piece.coefficients
        for _ in range(order):
            # d/dr of (u - r) ** m is -m (u - r) ** (m - 1)
            coefficients = -np.arange(1, coefficients.shape[1]) * coefficients[:, 1:]
        return cls(ends, coefficients, order == 0)


class _Walk:
    """A split with both sides in the order of their scores."""

    def __init__(self, split: Split, of_positives: Floats, of_negatives: Floats) -> None:
        self.places_p, self.places_n = side_by_side(
            lambda: _by_score(split.sources, split.source_bounds, of_positives),
            lambda: _by_score(split.targets, split.target_bounds, of_negatives),
            many=len(split.sources) + len(split.targets) >= CHUNK_ELEMENTS,
        )
        self._sorted_p, self._sorted_n = of_positives[self.places_p], of_negatives[self.places_n]
        self._bounds_p, self._bounds_n = split.source_bounds, split.target_bounds

    def over_sources(self, weights: Floats, pieces: _Polynomials) -> Floats:
        """Return what the sources give to each target, in the targets' order here."""
        found: Floats = sorted_kernels.segment_sums(
            self._sorted_p,
            weights[self.places_p],
            self._bounds_p,
            self._sorted_n,
            self._bounds_n,
            *pieces,
        )
        return found

    def over_targets(self, weights: Floats, pieces: _Polynomials) -> Floats:
        """Return what the targets give to each source: the same walk, mirrored."""
        mirrored: Floats = sorted_kernels.segment_sums(
            -self._sorted_n[::-1],
            weights[self.places_n][::-1],
            len(self._sorted_n) - self._bounds_n[::-1],
            -self._sorted_p[::-1],
            len(self._sorted_p) - self._bounds_p[::-1],
            *pieces,
        )
        return mirrored[::-1]


def _by_score(places: Places, bounds: Places, scores: Floats) -> Places:
    """Return places ordered by score within every segment."""
    if len(bounds) == 2:
        return ascending(scores) if len(places) == len(scores) else places[ascending(scores[places])]
    segments = np.repeat(np.arange(len(bounds) - 1), np.diff(bounds))
    return places[np.lexsort((scores[places], segments))]
