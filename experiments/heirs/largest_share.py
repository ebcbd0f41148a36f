"""The partial AUC as a price: the mean of the largest inner sums, and a smooth price below it."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from pushrank.objectives.partial_auc import largest_multipliers, largest_part
from pushrank.prices import Price, PriceTotal

# Newton's method finds a zero of a piecewise linear function in some ten steps; bisection needs no more.
MAX_FLOOR_STEPS = 100
FLOOR_ROUNDING = 1e-14


@dataclass(frozen=True)
class LargestShare(Price):
    """The mean of the largest inner sums, a share b of them by weight, of which the last may count in part.

    A pair loss falls with the margin, so that the largest inner sums are those of the highest negatives: the
    push is the mean loss of the pairs that the partial AUC up to the false-positive rate b counts, with the
    hinge SVMpAUC-tight's objective (Narasimhan and Agarwal, KDD 2013; Rockafellar and Uryasev, Journal of
    Risk 2, 2000).
    """

    smooth: ClassVar[bool] = False
    homogeneous: ClassVar[bool] = True
    log_divisor: ClassVar[float | None] = 1.0
    share: float = 0.05

    def value(self, inner_sum: Any) -> Any:
        """Return the inner sums."""
        return inner_sum

    def derivative(self, inner_sum: Any) -> Any:
        """Return the multipliers of inner sums of rows that weigh the same."""
        return largest_multipliers(inner_sum, 1.0, self.share)

    def second_derivative(self, inner_sum: Any) -> Any:
        """Return zeros."""
        return np.zeros_like(inner_sum)

    def smoothed(self, temperature: float) -> SoftLargestShare:
        """Return the price less a square of the multipliers, whose temperature this is."""
        return SoftLargestShare(self.share, temperature)

    def total(self, log_sums: Any, weights: Any, scale: Any) -> PriceTotal:
        """Return the mean of the largest inner sums, or its logarithm, and a subgradient."""
        multipliers = largest_multipliers(log_sums, weights, self.share)
        with np.errstate(divide="ignore"):
            exponents = log_sums + np.log(multipliers)
        log_mean = float(np.logaddexp.reduce(exponents))
        parts = np.exp(exponents - log_mean) if log_mean > -np.inf else np.zeros_like(exponents)
        if scale == "log":
            return PriceTotal(log_mean, parts, parts, 1.0)
        with np.errstate(over="ignore"):
            value = float(np.exp(log_mean))
        return PriceTotal(value, value * parts, value * parts, 0.0)


@dataclass(frozen=True)
class SoftLargestShare(LargestShare):
    """The largest share less a square of its multipliers: a price without kinks.

    Its total is the maximum over the multipliers m of sum_k m_k h_k less half the temperature times
    sum_k m_k^2 / c_k, with c_k = w_k / (b sum_j w_j): at most half the temperature below the price (Nesterov,
    Math. Programming 103, 2005). It is reached at m_k = c_k (h_k - floor) / temperature, with the ratio
    clipped to [0, 1].
    """

    smooth: ClassVar[bool] = True
    homogeneous: ClassVar[bool] = False
    # The square is no mean.
    log_divisor: ClassVar[float | None] = None
    temperature: float = 1.0

    @np.errstate(over="ignore", invalid="ignore", divide="ignore")
    def total(self, log_sums: Any, weights: Any, scale: Any) -> PriceTotal:
        """Return the total, its gradient, and its curvature without that of the floor."""
        if scale == "log":
            raise ValueError("SoftLargestShare has no log scale; use scale='raw'.")
        log_quantile, room = largest_part(log_sums, weights, self.share)
        quantile = float(np.exp(log_quantile))
        gradient, curvature = np.zeros((2, len(log_sums)))
        # Sums below the quantile by more than the temperature have no part in the mean.
        near = np.flatnonzero(log_sums >= np.log(max(quantile - self.temperature, 0.0)))
        sums, weights = np.exp(log_sums[near]), np.broadcast_to(weights, log_sums.shape)[near]
        if sums.max(initial=0.0) == np.inf:
            return PriceTotal(np.inf, gradient, curvature, 0.0)
        floor = largest_floor(sums, weights, quantile, room, self.temperature)
        clipped = np.clip((sums - floor) / self.temperature, 0.0, 1.0)
        multipliers = weights * clipped / room
        # A bound takes their sum for exactly one: what rounding left goes where their limits allow it.
        rest = 1.0 - float(multipliers.sum())
        movable = weights / room - multipliers if rest > 0.0 else multipliers
        multipliers += rest / (float(movable.sum()) or 1.0) * movable
        between = np.where((clipped > 0.0) & (clipped < 1.0), weights, 0.0) / (room * self.temperature)
        value = float(multipliers @ (sums - 0.5 * self.temperature * clipped))
        gradient[near] = multipliers * sums
        curvature[near] = gradient[near] + between * sums**2
        return PriceTotal(value, gradient, curvature, 0.0)


def largest_floor(sums: Any, weights: Any, quantile: float, room: float, temperature: float) -> float:
    """Return the largest inner sum without a multiplier, by Newton's method in a bracket."""
    low, high = quantile - temperature, quantile
    floor = low
    for _ in range(MAX_FLOOR_STEPS):
        scaled = (sums - floor) / temperature
        excess = float(weights @ np.clip(scaled, 0.0, 1.0)) - room
        slope = float(weights[(scaled > 0.0) & (scaled < 1.0)].sum()) / temperature
        if excess > 0.0:
            low = floor
        else:
            high = floor
        newton = floor + excess / slope if slope > 0.0 else low
        step = newton if low < newton < high else 0.5 * (low + high)
        # Rounding of the sum grows with the root of the number of rows.
        if abs(excess) <= FLOOR_ROUNDING * math.sqrt(len(sums)) * room or step in (low, high):
            break
        floor = step
    return floor
