"""The hinge and its square: all pairs in one walk along the sorted scores."""

from __future__ import annotations

import numpy as np

from pushrank._log_space import Floats
from pushrank.losses import Loss
from pushrank.pairs import sorted_kernels
from pushrank.pairs.blocked import BlockedSums


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

    Examples
    --------
    >>> from pushrank.losses import Hinge
    >>> sums = SortedSums(Hinge(), np.array([2.0, 0.0]), np.array([0.5, 3.0]), None)
    >>> np.exp(sums.log_sums).round(9).tolist()
    [1.5, 6.0]
    """

    def __init__(
        self, loss: Loss, of_positives: Floats, of_negatives: Floats, weights: Floats | None
    ) -> None:
        self._power = loss.hinge_power
        self._order_p, self._order_n = (np.argsort(scores) for scores in (of_positives, of_negatives))
        self._sorted_p, self._sorted_n = of_positives[self._order_p], of_negatives[self._order_n]
        super().__init__(loss, of_positives, of_negatives, weights)

    def _over_positives(self, order: int, factors: Floats | float = 1.0) -> Floats:
        weights = (self._weights * factors)[self._order_p]
        sums = np.empty_like(self._negatives)
        sums[self._order_n] = self._moments(order, self._sorted_p, weights, self._sorted_n)
        return sums

    def _over_negatives(self, order: int, factors: Floats) -> Floats:
        weights = factors[self._order_n][::-1]
        sums = np.empty_like(self._positives)
        mirrored = self._moments(order, -self._sorted_n[::-1], weights, -self._sorted_p[::-1])
        sums[self._order_p] = mirrored[::-1]
        return self._weights * sums

    def _moments(self, order: int, sources: Floats, weights: Floats, targets: Floats) -> Floats:
        """Return the weighted sums of a derivative of the loss; an order beyond the power is zero."""
        if order > self._power:
            return np.zeros_like(targets)
        factor = (1.0, -float(self._power), float(self._power * (self._power - 1)))[order]
        moments: Floats = sorted_kernels.moments(sources, weights, targets, self._power - order)
        return factor * moments
