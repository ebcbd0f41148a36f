"""The hinge and its square: all pairs in few walks along the sorted scores."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from pushrank._log_space import Floats
from pushrank.losses import Loss
from pushrank.pairs import sorted_kernels
from pushrank.pairs.blocked import BlockedSums
from pushrank.pairs.splits import Places, Split, whole


class SortedSums(BlockedSums):
    r"""Log inner sums of :math:`\ell(r) = (1 - r)_+^p`, p one or two, in O((I + K) log(I + K)).

    Along rising scores of the negatives ever more positives come within their margin. The moments
    :math:`\sum_i w_i (1 + t - s_i)_+^m` of those within follow from one negative to the next by sums of
    numbers that are not negative, so that no digits cancel, whatever the range of the scores.

    Parameters
    ----------
    loss : Loss
        A loss with a ``hinge_power``.
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
        self._power = loss.hinge_power
        splits = whole(len(of_positives), len(of_negatives)) if splits is None else splits
        self._walks = [_Walk(split, of_positives, of_negatives) for split in splits]
        super().__init__(loss, of_positives, of_negatives, weights)

    def _over_positives(self, order: int, factors: Floats | float = 1.0) -> Floats:
        weights = self._weights * factors
        sums = np.zeros_like(self._negatives)
        if order <= self._power:
            for walk in self._walks:
                walk.add_over_sources(weights, self._power - order, sums)
        return self._factor(order) * sums

    def _over_negatives(self, order: int, factors: Floats) -> Floats:
        sums = np.zeros_like(self._positives)
        if order <= self._power:
            for walk in self._walks:
                walk.add_over_targets(factors, self._power - order, sums)
        return self._factor(order) * self._weights * sums

    def _factor(self, order: int) -> float:
        """Return what a derivative of the loss is of the lower power."""
        return (1.0, -float(self._power), float(self._power * (self._power - 1)))[order]


class _Walk:
    """A split with both sides in the order of their scores."""

    def __init__(self, split: Split, of_positives: Floats, of_negatives: Floats) -> None:
        self._places_p = _by_score(split.sources, split.source_bounds, of_positives)
        self._places_n = _by_score(split.targets, split.target_bounds, of_negatives)
        self._sorted_p, self._sorted_n = of_positives[self._places_p], of_negatives[self._places_n]
        self._bounds_p, self._bounds_n = split.source_bounds, split.target_bounds

    def add_over_sources(self, weights: Floats, power: int, sums: Floats) -> None:
        """Add the moments over the sources to the sums of the targets."""
        sums[self._places_n] += sorted_kernels.segment_moments(
            self._sorted_p,
            weights[self._places_p],
            self._bounds_p,
            self._sorted_n,
            self._bounds_n,
            power,
        )

    def add_over_targets(self, weights: Floats, power: int, sums: Floats) -> None:
        """Add the moments over the targets to the sums of the sources: the same walk, mirrored."""
        mirrored = sorted_kernels.segment_moments(
            -self._sorted_n[::-1],
            weights[self._places_n][::-1],
            len(self._sorted_n) - self._bounds_n[::-1],
            -self._sorted_p[::-1],
            len(self._sorted_p) - self._bounds_p[::-1],
            power,
        )
        sums[self._places_p] += mirrored[::-1]


def _by_score(places: Places, bounds: Places, scores: Floats) -> Places:
    """Return places ordered by score within every segment."""
    if len(bounds) == 2:
        order: Places = np.argsort(scores[places] if len(places) < len(scores) else scores)
        return places[order] if len(places) < len(scores) else order
    segments = np.repeat(np.arange(len(bounds) - 1), np.diff(bounds))
    return places[np.lexsort((scores[places], segments))]
