"""The maximum without its kinks, as solvers see it on their way to the maximum."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from pushrank._log_space import Floats, softmax_and_log_sum
from pushrank.prices.base import Price, PriceTotal, Scale


@dataclass(frozen=True)
class SoftMaximum(Price):
    r"""The price whose total is :math:`\tau \ln \sum_k \bar w_k e^{h_k / \tau}`, the weights summing to one.

    It lies below the maximum, by :math:`\tau` times the logarithm of the number of rows at most. Its shares
    are those of the sums, :math:`\lambda_k h_k`, with multipliers :math:`\lambda` that sum to one.

    Parameters
    ----------
    temperature : float
        The positive :math:`\tau`, in the unit of the inner sums.

    References
    ----------
    Nesterov, *Smooth minimization of non-smooth functions*, Math. Programming 103 (2005), section 4.
    """

    temperature: float

    def value(self, inner_sum: Floats) -> Floats:
        """Return ``exp(inner_sum / temperature)``, of which the total takes the mean and the logarithm."""
        return np.exp(inner_sum / self.temperature)

    def derivative(self, inner_sum: Floats) -> Floats:
        """Return the derivative of ``value``."""
        return self.value(inner_sum) / self.temperature

    def second_derivative(self, inner_sum: Floats) -> Floats:
        """Return the second derivative of ``value``."""
        return self.value(inner_sum) / self.temperature**2

    def total(self, log_sums: Floats, weights: Floats | float, scale: Scale) -> PriceTotal:
        """Return the soft maximum and its derivatives; there is no log scale."""
        if scale == "log":
            raise ValueError("SoftMaximum has no log scale; use scale='raw'.")
        with np.errstate(over="ignore"):
            sums = np.exp(log_sums)
        log_weights = np.log(np.broadcast_to(weights, sums.shape))
        with np.errstate(over="ignore"):
            multipliers, log_total = softmax_and_log_sum(sums / self.temperature + log_weights)
        if log_total == np.inf:
            nothing = np.zeros_like(sums)
            return PriceTotal(np.inf, nothing, nothing, 0.0)
        log_weight = softmax_and_log_sum(log_weights)[1]
        shares = multipliers * sums
        with np.errstate(over="ignore"):
            curvature = shares * (1.0 + sums / self.temperature)
        value = self.temperature * (log_total - log_weight)
        return PriceTotal(value, shares, curvature, 1.0 / self.temperature)
