"""The calculus of log inner sums of any loss, from weighted sums over pairs; and those sums pair by pair."""

from abc import ABC, abstractmethod
from collections.abc import Callable
from functools import cached_property

import numpy as np

from pushrank._base.numeric import Floats
from pushrank.losses import Loss
from pushrank.pairs import tolerances

# Orders of derivatives of the loss.
VALUE, SLOPE, CURVATURE = range(3)


class PairSums(ABC):
    r"""Log inner sums :math:`l_k = \ln \sum_i w_i \ell(s_i - t_k)` of any loss, from two kinds of sums."""

    # `s` are the scores of the positives, shape (I,), and `t` those of the negatives, shape (K,).

    def __init__(
        self, loss: Loss, positive_scores: Floats, negative_scores: Floats, weights: Floats | None
    ) -> None:
        self._loss = loss
        self._positives = positive_scores
        self._negatives = negative_scores
        self._weights = np.ones_like(positive_scores) if weights is None else weights
        self._sums = self._over_positives(VALUE)
        with np.errstate(divide="ignore"):
            self.log_sums: Floats = np.log(self._sums)

    @abstractmethod
    def _over_positives(self, order: int, factors: Floats | None = None) -> Floats:
        """Return ``sum_i w_i factors_i l(s_i - t_k)`` for every k, l being the loss or a derivative of it."""

    @abstractmethod
    def _over_negatives(self, order: int, factors: Floats) -> Floats:
        """Return ``w_i sum_k factors_k l(s_i - t_k)`` for every i."""

    @cached_property
    def _slopes(self) -> Floats:
        return self._over_positives(SLOPE)

    @cached_property
    def _curvatures(self) -> Floats:
        return self._over_positives(CURVATURE)

    def jacobian_product(self, positive_direction: Floats, negative_direction: Floats) -> Floats:
        """Return the change of ``l`` when the scores move in a direction, shape (K,)."""
        slopes = self._over_positives(SLOPE, positive_direction)
        return self._per_sum(slopes - negative_direction * self._slopes)

    def adjoint_product(self, multipliers: Floats) -> tuple[Floats, Floats]:
        """Return the gradient of ``multipliers @ l`` in ``s`` and in ``t``."""
        per_sum = self._per_sum(multipliers)
        in_positives, slopes = self._adjoint_and_slopes(per_sum)
        return in_positives, -per_sum * slopes

    def _adjoint_and_slopes(self, per_sum: Floats) -> tuple[Floats, Floats]:
        """Return the two sums of a gradient; subclasses may compute them at the same time."""
        return self._over_negatives(SLOPE, per_sum), self._slopes

    def curvature_product(
        self, multipliers: Floats, positive_direction: Floats, negative_direction: Floats
    ) -> tuple[Floats, Floats]:
        """Return the Hessian of ``multipliers @ l`` times a direction, in ``s`` and in ``t``."""
        per_sum = self._per_sum(multipliers)
        in_positives = positive_direction * self._over_negatives(CURVATURE, per_sum)
        in_positives = in_positives - self._over_negatives(CURVATURE, per_sum * negative_direction)
        curvatures = self._over_positives(CURVATURE, positive_direction)
        in_negatives = per_sum * (negative_direction * self._curvatures - curvatures)
        # The Hessian of ln h is that of h over h, less the outer square of the gradient of ln h.
        change = self.jacobian_product(positive_direction, negative_direction)
        outer_p, outer_n = self.adjoint_product(multipliers * change)
        return in_positives - outer_p, in_negatives - outer_n

    def diagonal(self, multipliers: Floats, curvature: Floats) -> tuple[Floats, Floats]:
        """Return each row's weight in the Hessian, for the price's first and second derivatives in ``l``."""
        # A loss without a second derivative, or with one that changes sign, has the weights of its gradient.
        if not (self._loss.twice_differentiable and self._loss.convex):
            in_positives, in_negatives = self.adjoint_product(multipliers)
            return np.abs(in_positives), np.abs(in_negatives)
        per_sum = self._per_sum(multipliers)
        slopes = self._per_sum(self._slopes)
        # In (ln h)'' = h'' / h - (h' / h) ** 2 the second part reduces the curvature of the price.
        price_part = np.maximum(curvature - multipliers, 0.0) * slopes**2
        return self._over_negatives(CURVATURE, per_sum), per_sum * self._curvatures + price_part

    def majoriser(self, multipliers: Floats, curvature: Floats, coupling: float) -> tuple[Floats, Floats]:  # noqa: ARG002
        """Return a diagonal D above the Hessian H of an objective: ``v @ H @ v <= v @ D @ v`` for every v."""
        # With price derivatives g and c and pair terms q_ik = -w_i l'(s_i - t_k) / h_k that add up to Q_k,
        # v'Hv <= sum_ik ((c_k - g_k)_+ Q_k q_ik + g_k / h_k w_i l''(s_i - t_k)) (v_i - v_k)^2, by Cauchy and
        # Schwarz, and (v_i - v_k)^2 <= 2 v_i^2 + 2 v_k^2. The coupling of the price only lowers the Hessian.
        # For a loss that is not convex, a multiple of |l'| above |l''| replaces it. A price that falls only
        # lowers the Hessian of a convex loss, so that absolute values bound it.
        sizes = abs(multipliers)
        per_sum = self._per_sum(sizes)
        if self._loss.convex:
            curved_p, curved_n = self._over_negatives(CURVATURE, per_sum), per_sum * self._curvatures
        else:
            slopes = np.abs(self._loss.derivative(tolerances.STEEP_MARGINS))
            curvatures = np.abs(self._loss.second_derivative(tolerances.STEEP_MARGINS))
            steepness = float(np.max(curvatures[slopes > 0.0] / slopes[slopes > 0.0]))
            in_positives, in_negatives = self.adjoint_product(steepness * sizes)
            curved_p, curved_n = -in_positives, in_negatives
        rise = np.maximum(curvature - multipliers, 0.0) * -self._per_sum(self._slopes)
        rise_p, rise_n = self.adjoint_product(rise) if rise.any() else (0.0, 0.0)
        return 2.0 * (curved_p - rise_p), 2.0 * (curved_n + rise_n)

    def _per_sum(self, values: Floats) -> Floats:
        """Divide by the inner sums; the quotient is zero for a sum of zero, which has no slope either."""
        if self._none_is_zero:
            return values / self._sums
        positive = self._sums > 0.0
        divisors = np.where(positive, self._sums, np.ones_like(values))
        quotients: Floats = np.where(positive, values, 0.0 * values) / divisors
        return quotients

    @cached_property
    def _none_is_zero(self) -> bool:
        return float(np.min(self._sums)) > 0.0

    def _weighted(self, factors: Floats | None) -> Floats:
        return self._weights if factors is None else self._weights * factors


class BlockedSums(PairSums):
    """Log inner sums of any loss over all pairs, O(I K) time, in blocks of half a million floats."""

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


def polynomial_derivative(coefficients: Floats, order: int) -> Floats:
    r"""Return the coefficients of a derivative in r of :math:`\sum_m c_m (u - r)^m`, m on the last axis."""
    for _ in range(order):
        coefficients = -np.arange(1, coefficients.shape[-1]) * coefficients[..., 1:]
    return coefficients


def _weighted_sums(
    function: Callable[[Floats], Floats], sources: Floats, targets: Floats, weights: Floats, sign: float
) -> Floats:
    """Return ``sum_j weights_j function(sign * (sources_j - targets_m))`` for every m, block by block."""
    # A block is as wide as the sources allow, since a product with the weights then adds whole rows up.
    sums = np.zeros_like(targets)
    width = min(len(sources), tolerances.BLOCK_PAIRS)
    height = max(1, tolerances.BLOCK_PAIRS // width)
    for top in range(0, len(targets), height):
        rows = slice(top, top + height)
        for left in range(0, len(sources), width):
            columns = slice(left, left + width)
            margins = sign * np.subtract.outer(-targets[rows], -sources[columns])
            sums[rows] += function(margins) @ weights[columns]
    return sums
