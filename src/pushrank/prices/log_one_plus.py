"""The concave price of the IR Push."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from pushrank._array import namespace
from pushrank._log_space import Floats, sigmoid, softplus
from pushrank.prices.base import Price, Terms


@dataclass(frozen=True)
class LogOnePlus(Price):
    r"""The price :math:`g(h) = \ln(1 + h)`, which rewards getting some positives to the very top.

    On the reverse heights of the positives it gives the IR Push, a convex stand-in for the discounted
    gains of information retrieval; with the exponential loss its total is convex in the scores.

    References
    ----------
    Rudin, *The P-Norm Push*, JMLR 10 (2009), section 7.

    Examples
    --------
    >>> import numpy as np
    >>> LogOnePlus().value(np.array([0.0, 1.0])).round(4).tolist()
    [0.0, 0.6931]
    """

    convex: ClassVar[bool] = False

    def value(self, inner_sum: Floats) -> Floats:
        """Return ``ln(1 + inner_sum)``."""
        found: Floats = namespace(inner_sum).log1p(inner_sum)
        return found

    def derivative(self, inner_sum: Floats) -> Floats:
        """Return ``1 / (1 + inner_sum)``."""
        return 1.0 / (1.0 + inner_sum)

    def second_derivative(self, inner_sum: Floats) -> Floats:
        """Return ``-1 / (1 + inner_sum) ** 2``."""
        return -1.0 / (1.0 + inner_sum) ** 2

    def terms(self, log_sums: Floats) -> Terms:
        """Return the prices from the logarithms of the sums, which may exceed any float."""
        first = sigmoid(log_sums)
        return Terms(0.0, softplus(log_sums), first, first * sigmoid(-log_sums))
