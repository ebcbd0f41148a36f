"""The inner sums of a loss, by the fastest way that it is fit for."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from functools import cached_property
from typing import Protocol

import numpy as np

from pushrank._array import namespace, positive_part
from pushrank._numeric import Floats
from pushrank.losses import Loss

VALUE, SLOPE, BEND = range(3)  # orders of derivatives of the loss


class InnerSums(Protocol):
    r"""Log inner sums :math:`l_k = \ln \sum_i w_i \ell(s_i - t_k)` at given scores, with their derivatives.

    ``s`` are the scores of the positives, shape (I,), and ``t`` those of the negatives, shape (K,). An
    objective is a function of ``l``; these four operations give it gradients and Hessian products in the
    scores, whatever way the pairs were summed.
    """

    @property
    def log_sums(self) -> Floats:
        """The ``l_k``, shape (K,)."""

    def jacobian_product(self, of_positives: Floats, of_negatives: Floats) -> Floats:
        """Return the change of ``l`` when the scores move in the given direction, shape (K,)."""

    def adjoint_product(self, shares: Floats) -> tuple[Floats, Floats]:
        """Return the gradient of ``shares @ l`` in ``s`` and in ``t``."""

    def curvature_product(
        self, shares: Floats, of_positives: Floats, of_negatives: Floats
    ) -> tuple[Floats, Floats]:
        """Return the Hessian of ``shares @ l`` times the given direction, in ``s`` and in ``t``."""

    def diagonal(self, shares: Floats, curvature: Floats) -> tuple[Floats, Floats]:
        """Return non-negative weights on which, row by row, the Hessian of an objective rests.

        ``shares`` and ``curvature`` are the price's first and second derivatives in ``l``. The weights
        serve to scale coordinates, not as exact second derivatives.
        """


class PairSums(ABC):
    r"""Log inner sums of any loss, from two kinds of weighted sums of it and its derivatives over pairs.

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
    """

    def __init__(
        self, loss: Loss, of_positives: Floats, of_negatives: Floats, weights: Floats | None
    ) -> None:
        self._loss = loss
        self._positives = of_positives
        self._negatives = of_negatives
        xp = namespace(of_positives)
        self._weights = xp.ones_like(of_positives) if weights is None else weights
        self._sums = self._over_positives(VALUE)
        with np.errstate(divide="ignore"):
            self.log_sums: Floats = xp.log(self._sums)

    @abstractmethod
    def _over_positives(self, order: int, factors: Floats | None = None) -> Floats:
        """Return ``sum_i w_i factors_i l(s_i - t_k)`` for every k, with l the loss or a derivative of it."""

    @abstractmethod
    def _over_negatives(self, order: int, factors: Floats) -> Floats:
        """Return ``w_i sum_k factors_k l(s_i - t_k)`` for every i."""

    @cached_property
    def _slopes(self) -> Floats:
        return self._over_positives(SLOPE)

    @cached_property
    def _bends(self) -> Floats:
        return self._over_positives(BEND)

    def jacobian_product(self, of_positives: Floats, of_negatives: Floats) -> Floats:
        """Return the change of the log sums in the given direction of the scores."""
        moved_by_positives = self._over_positives(SLOPE, of_positives)
        return self._per_sum(moved_by_positives - of_negatives * self._slopes)

    def adjoint_product(self, shares: Floats) -> tuple[Floats, Floats]:
        """Return the gradient of ``shares @ log_sums``."""
        per_sum = self._per_sum(shares)
        in_positives, slopes = self._over_negatives_and_slopes(per_sum)
        return in_positives, -per_sum * slopes

    def _over_negatives_and_slopes(self, per_sum: Floats) -> tuple[Floats, Floats]:
        """Return the two sums that a gradient is made of, neither of which waits for the other."""
        return self._over_negatives(SLOPE, per_sum), self._slopes

    def curvature_product(
        self, shares: Floats, of_positives: Floats, of_negatives: Floats
    ) -> tuple[Floats, Floats]:
        """Return the Hessian of ``shares @ log_sums`` times a direction of the scores."""
        per_sum = self._per_sum(shares)
        in_positives = of_positives * self._over_negatives(BEND, per_sum) - self._over_negatives(
            BEND, per_sum * of_negatives
        )
        in_negatives = per_sum * (of_negatives * self._bends - self._over_positives(BEND, of_positives))
        # the Hessian of ln h is that of h over h, less the outer square of the gradient of ln h
        change = self.jacobian_product(of_positives, of_negatives)
        less_in_positives, less_in_negatives = self.adjoint_product(shares * change)
        return in_positives - less_in_positives, in_negatives - less_in_negatives

    def diagonal(self, shares: Floats, curvature: Floats) -> tuple[Floats, Floats]:
        """Return the weights of the rows in the Hessian.

        A loss without a second derivative, or with one that changes sign, has those of the gradient.
        """
        if not (self._loss.twice_differentiable and self._loss.convex):
            in_positives, in_negatives = self.adjoint_product(shares)
            xp = namespace(in_positives)
            return xp.abs(in_positives), xp.abs(in_negatives)
        per_sum = self._per_sum(shares)
        slopes = self._per_sum(self._slopes)
        of_price = positive_part(curvature - shares) * slopes**2
        return self._over_negatives(BEND, per_sum), per_sum * self._bends + of_price

    def _per_sum(self, values: Floats) -> Floats:
        """Divide by the inner sums; a sum of zero has neither value nor slope to share out."""
        if self._none_is_zero:
            return values / self._sums
        xp = namespace(values)
        some = self._sums > 0.0
        shared: Floats = xp.where(some, values, 0.0 * values) / xp.where(
            some, self._sums, xp.ones_like(values)
        )
        return shared

    @cached_property
    def _none_is_zero(self) -> bool:
        return float(namespace(self._sums).min(self._sums)) > 0.0

    def _weighted(self, factors: Floats | None) -> Floats:
        return self._weights if factors is None else self._weights * factors


BLOCK_PAIRS = 1 << 19


class BlockedSums(PairSums):
    r"""Log inner sums :math:`l_k = \ln \sum_i w_i \ell(s_i - t_k)` of any loss, over all pairs.

    Parameters are those of :class:`PairSums`.

    Notes
    -----
    Time is O(I K) a call; memory beyond the result is about half a million floats, whatever I and K.
    """

    def _over_positives(self, order: int, factors: Floats | None = None) -> Floats:
        function = derivative_of(self._loss, order)
        return _weighted_sums(function, self._positives, self._negatives, self._weighted(factors), 1.0)

    def _over_negatives(self, order: int, factors: Floats) -> Floats:
        function = derivative_of(self._loss, order)
        sums = _weighted_sums(function, self._negatives, self._positives, factors, -1.0)
        return self._weights * sums


def derivative_of(loss: Loss, order: int) -> Callable[[Floats], Floats]:
    """Return the loss, or its first or second derivative, as a function of the margin."""
    return (loss.value, loss.derivative, loss.second_derivative)[order]


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
