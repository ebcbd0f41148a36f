"""The exponential price: steeper than every power."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from pushrank._array import namespace
from pushrank._log_space import Floats
from pushrank.prices.base import Price, Terms


@dataclass(frozen=True)
class ExponentialPrice(Price):
    r"""The price :math:`g(h) = e^h`, which pushes harder than every power.

    Notes
    -----
    The log scale is :math:`\ln \sum_k e^{h_k}`; it lies between :math:`\max_k h_k` and that plus the
    logarithm of the number of rows.

    References
    ----------
    Rudin, *The P-Norm Push*, JMLR 10 (2009), section 2.

    Examples
    --------
    >>> ExponentialPrice().value(np.array([0.0, 1.0])).round(4).tolist()
    [1.0, 2.7183]
    """

    @property
    def log_divisor(self) -> float:
        """One: the log scale is ``ln R``."""
        return 1.0

    def value(self, inner_sum: Floats) -> Floats:
        """Return ``exp(inner_sum)``."""
        found: Floats = namespace(inner_sum).exp(inner_sum)
        return found

    def derivative(self, inner_sum: Floats) -> Floats:
        """Return ``exp(inner_sum)``."""
        found: Floats = namespace(inner_sum).exp(inner_sum)
        return found

    def second_derivative(self, inner_sum: Floats) -> Floats:
        """Return ``exp(inner_sum)``."""
        found: Floats = namespace(inner_sum).exp(inner_sum)
        return found

    def terms(self, log_sums: Floats) -> Terms:
        """Return the exponentials in units of the largest one."""
        xp = namespace(log_sums)
        with np.errstate(over="ignore", invalid="ignore"):
            sums = xp.exp(log_sums)
            shift = float(xp.max(sums)) if sums.shape[0] else 0.0
            value = xp.exp(sums - shift)
            return Terms(shift, value, sums * value, (sums + sums**2) * value)
