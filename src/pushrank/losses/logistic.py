"""The logistic loss, which forgives a badly ranked pair more than the exponential does."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from pushrank._log_space import Floats, sigmoid, softplus
from pushrank.losses.base import Loss


@dataclass(frozen=True)
class Logistic(Loss):
    r"""The logistic loss :math:`\ell(r) = \ln(1 + e^{-r})`.

    References
    ----------
    Rudin, *The P-Norm Push*, JMLR 10 (2009), section 2 and Tables 1 and 2.

    Examples
    --------
    >>> Logistic().value(np.array([0.0, -1000.0])).round(4).tolist()
    [0.6931, 1000.0]
    """

    @property
    def strip(self) -> float:
        r"""The distance :math:`\pi` of the nearest singularity."""
        return math.pi

    def value(self, margin: Floats) -> Floats:
        """Return ``ln(1 + exp(-margin))``, finite at every finite margin."""
        return softplus(-margin)

    def derivative(self, margin: Floats) -> Floats:
        """Return ``-1 / (1 + exp(margin))``."""
        return -sigmoid(-margin)

    def second_derivative(self, margin: Floats) -> Floats:
        """Return ``exp(margin) / (1 + exp(margin)) ** 2``."""
        small = np.exp(-np.abs(margin))
        return small / (1.0 + small) ** 2
