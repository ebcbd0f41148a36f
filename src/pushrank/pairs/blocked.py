"""Any loss, pair by pair, in blocks of bounded memory."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from pushrank._log_space import Floats
from pushrank.losses import Loss

BLOCK_PAIRS = 1 << 19
VALUE, SLOPE, BEND = range(3)  # orders of derivatives of the loss


class BlockedSums:
    r"""Log inner sums :math:`l_k = \ln \sum_i w_i \ell(s_i - t_k)` of any loss, over all pairs.

    Parameters
    ----------
    loss : Loss
        The pair loss.
    of_positives : ndarray of shape (I,)
        The scores ``s``.
    of_negatives : ndarray of shape (K,)
        The scores ``t``.
    weights : ndarray of shape (I,) or None
        Weights of the positives.

    Notes
    -----
    Time is O(I K) a call; memory beyond the result is about half a million floats, whatever I and K.
    """

    def __init__(
        self, loss: Loss, of_positives: Floats, of_negatives: Floats, weights: Floats | None
    ) -> None:
        self._loss = loss
        self._positives = of_positives
        self._negatives = of_negatives
        self._weights = np.ones_like(of_positives) if weights is None else weights
        self._sums = self._over_positives(VALUE)
        with np.errstate(divide="ignore"):
            self.log_sums: Floats = np.log(self._sums)

    def jacobian_product(self, of_positives: Floats, of_negatives: Floats) -> Floats:
        """Return the change of the log sums in the given direction of the scores."""
        moved_by_positives = self._over_positives(SLOPE, of_positives)
        moved_by_negatives = of_negatives * self._over_positives(SLOPE)
        return self._per_sum(moved_by_positives - moved_by_negatives)

    def adjoint_product(self, shares: Floats) -> tuple[Floats, Floats]:
        """Return the gradient of ``shares @ log_sums``."""
        per_sum = self._per_sum(shares)
        return (
            self._over_negatives(SLOPE, per_sum),
            -per_sum * self._over_positives(SLOPE),
        )

    def curvature_product(
        self, shares: Floats, of_positives: Floats, of_negatives: Floats
    ) -> tuple[Floats, Floats]:
        """Return the Hessian of ``shares @ log_sums`` times a direction of the scores."""
        per_sum = self._per_sum(shares)
        in_positives = of_positives * self._over_negatives(BEND, per_sum) - self._over_negatives(
            BEND, per_sum * of_negatives
        )
        in_negatives = per_sum * (
            of_negatives * self._over_positives(BEND) - self._over_positives(BEND, of_positives)
        )
        # the Hessian of ln h is that of h over h, less the outer square of the gradient of ln h
        change = self.jacobian_product(of_positives, of_negatives)
        less_in_positives, less_in_negatives = self.adjoint_product(shares * change)
        return in_positives - less_in_positives, in_negatives - less_in_negatives

    def diagonal(self, shares: Floats, curvature: Floats) -> tuple[Floats, Floats]:
        """Return the weights of the rows in the Hessian; for a loss with kinks, those of the gradient."""
        if not self._loss.twice_differentiable:
            in_positives, in_negatives = self.adjoint_product(shares)
            return np.abs(in_positives), np.abs(in_negatives)
        per_sum = self._per_sum(shares)
        slopes = self._per_sum(self._over_positives(SLOPE))
        of_price = np.maximum(curvature - shares, 0.0) * slopes**2
        in_negatives = per_sum * self._over_positives(BEND) + of_price
        return self._over_negatives(BEND, per_sum), in_negatives

    def _per_sum(self, values: Floats) -> Floats:
        """Divide by the inner sums; a sum of zero has neither value nor slope to share out."""
        return np.divide(values, self._sums, out=np.zeros_like(values), where=self._sums > 0.0)

    def _function(self, order: int) -> Callable[[Floats], Floats]:
        return (self._loss.value, self._loss.derivative, self._loss.second_derivative)[order]

    def _over_positives(self, order: int, factors: Floats | float = 1.0) -> Floats:
        """Return ``sum_i w_i factors_i l(s_i - t_k)`` for every k, with l the loss or a derivative of it."""
        function = self._function(order)
        return _weighted_sums(function, self._positives, self._negatives, self._weights * factors, 1.0)

    def _over_negatives(self, order: int, factors: Floats) -> Floats:
        """Return ``w_i sum_k factors_k l(s_i - t_k)`` for every i."""
        function = self._function(order)
        sums = _weighted_sums(function, self._negatives, self._positives, factors, -1.0)
        return self._weights * sums


def _weighted_sums(
    function: Callable[[Floats], Floats], sources: Floats, targets: Floats, weights: Floats, sign: float
) -> Floats:
    """Return ``sum_j weights_j function(sign * (sources_j - targets_m))`` for every m, block by block."""
    sums = np.zeros_like(targets)
    width = min(len(sources), BLOCK_PAIRS)
    height = max(1, BLOCK_PAIRS // width)
    for top in range(0, len(targets), height):
        rows = slice(top, top + height)
        for left in range(0, len(sources), width):
            columns = slice(left, left + width)
            margins = sign * np.subtract.outer(-targets[rows], -sources[columns])
            sums[rows] += function(margins) @ weights[columns]
    return sums
