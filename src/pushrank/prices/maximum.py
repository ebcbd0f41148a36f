"""The price of the Infinite Push: only the worst row counts."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from pushrank._array import namespace
from pushrank._log_space import Floats
from pushrank.prices._soft_maximum import SoftMaximum
from pushrank.prices.base import Price, PriceTotal, Scale


@dataclass(frozen=True)
class Maximum(Price):
    r"""The price whose total is :math:`\max_k h_k`, the limit of :math:`(\sum_k h_k^p)^{1/p}`.

    It acts on the whole vector of inner sums, and every row with a positive weight counts alike. Its total
    has kinks: where several sums are largest, the subgradient used is shared among them equally.

    References
    ----------
    Agarwal, *The Infinite Push*, SDM 2011; Rudin, JMLR 10 (2009), section 2 (R_max).

    Examples
    --------
    >>> Maximum().total(np.log([1.0, 3.0]), 1.0, "raw").value.__round__(6)
    3.0
    """

    smooth: ClassVar[bool] = False
    homogeneous: ClassVar[bool] = True

    @property
    def log_divisor(self) -> float:
        """One: the log scale is the logarithm of the maximum."""
        return 1.0

    def smoothed(self, temperature: float) -> SoftMaximum:
        """Return the soft maximum of the inner sums at a temperature."""
        return SoftMaximum(temperature)

    def value(self, inner_sum: Floats) -> Floats:
        """Return the inner sums; their total takes the largest."""
        return inner_sum

    def derivative(self, inner_sum: Floats) -> Floats:
        """Return one at the largest inner sums, shared equally, and zero elsewhere."""
        xp = namespace(inner_sum)
        largest = xp.astype(inner_sum == xp.max(inner_sum), inner_sum.dtype)
        shared: Floats = largest / xp.sum(largest)
        return shared

    def second_derivative(self, inner_sum: Floats) -> Floats:
        """Return zeros."""
        zeros: Floats = namespace(inner_sum).zeros_like(inner_sum)
        return zeros

    def total(self, log_sums: Floats, weights: Floats | float, scale: Scale) -> PriceTotal:  # noqa: ARG002
        """Return the largest inner sum, or its logarithm, and a subgradient."""
        xp = namespace(log_sums)
        worst = float(xp.max(log_sums))
        if worst == -np.inf:
            nothing = xp.zeros_like(log_sums)
            return PriceTotal(0.0 if scale == "raw" else -np.inf, nothing, nothing, 0.0)
        with np.errstate(over="ignore"):
            value = worst if scale == "log" else float(np.exp(worst))
        unit = 1.0 if scale == "log" else value
        shares = unit * self.derivative(log_sums)
        # d exp(l) / dl = exp(l): on the raw scale the active sums also curve in their logarithms
        curvature = xp.zeros_like(log_sums) if scale == "log" else shares
        return PriceTotal(value, shares, curvature, 0.0)
