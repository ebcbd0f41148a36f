"""The price of RankBoost: every misranked pair costs the same."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from pushrank._log_space import Floats
from pushrank.prices.base import Price, PriceTotal, Scale, Terms
from pushrank.prices.power import Power


@dataclass(frozen=True)
class Identity(Price):
    r"""The price :math:`g(h) = h`, under which all pairs count alike.

    With the exponential loss it gives RankBoost's objective, with the hinge RankSVM's. It equals
    ``Power(1)``.

    References
    ----------
    Rudin, *The P-Norm Push*, JMLR 10 (2009), section 3.

    Examples
    --------
    >>> import numpy as np
    >>> Identity().value(np.array([0.0, 2.0])).tolist()
    [0.0, 2.0]
    """

    homogeneous: ClassVar[bool] = True

    @property
    def log_divisor(self) -> float:
        """One: the log scale is ``ln R``."""
        return 1.0

    def value(self, inner_sum: Floats) -> Floats:
        """Return the inner sums themselves."""
        return inner_sum

    def derivative(self, inner_sum: Floats) -> Floats:
        """Return ones."""
        return 0.0 * inner_sum + 1.0

    def second_derivative(self, inner_sum: Floats) -> Floats:
        """Return zeros."""
        return 0.0 * inner_sum

    def total(self, log_sums: Floats, weights: Floats | float, scale: Scale) -> PriceTotal:
        """Return the total of ``Power(1)``."""
        return Power(1.0).total(log_sums, weights, scale)

    def terms(self, log_sums: Floats) -> Terms:
        """Return the sums in units of the largest one."""
        return Power(1.0).terms(log_sums)
