"""The sigmoid loss: the misranking count with its step made smooth."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

from pushrank._checks import check_number
from pushrank._log_space import Floats, sigmoid
from pushrank.losses.base import Loss


@dataclass(frozen=True)
class Sigmoid(Loss):
    r"""The sigmoid loss :math:`\ell(r) = 1 / (1 + e^{\beta r})`, between zero and one.

    It does not grow without end for a badly ranked pair, so that outliers weigh little; it is not convex, and
    a fit finds a local minimum.

    Parameters
    ----------
    sharpness : float, default=1.0
        The positive :math:`\beta`, in units of one over a score; the larger, the nearer to a step.

    Raises
    ------
    TypeError
        When ``sharpness`` is not a number.
    ValueError
        When ``sharpness`` is not a positive finite number.

    References
    ----------
    Yan, Dodier, Mozer and Wolniewicz, *Optimizing classifier performance via an approximation to the
    Wilcoxon-Mann-Whitney statistic*, ICML 2003, equation (4).

    Examples
    --------
    >>> import numpy as np
    >>> Sigmoid().value(np.array([-1000.0, 0.0, 1000.0])).tolist()
    [1.0, 0.5, 0.0]
    """

    convex: ClassVar[bool] = False
    sharpness: float = 1.0

    def __post_init__(self) -> None:
        """Check the sharpness."""
        check_number("sharpness", self.sharpness, above=0.0)

    @property
    def strip(self) -> float:
        r"""The distance :math:`\pi / \beta` of the nearest singularity."""
        return math.pi / self.sharpness

    def value(self, margin: Floats) -> Floats:
        """Return ``1 / (1 + exp(sharpness * margin))``."""
        return sigmoid(-self.sharpness * margin)

    def derivative(self, margin: Floats) -> Floats:
        """Return ``-sharpness * value * (1 - value)``."""
        risen = self.sharpness * margin
        return -self.sharpness * sigmoid(risen) * sigmoid(-risen)

    def second_derivative(self, margin: Floats) -> Floats:
        """Return ``sharpness ** 2 * value * (1 - value) * (1 - 2 * value)``."""
        risen = self.sharpness * margin
        low, high = sigmoid(-risen), sigmoid(risen)
        return self.sharpness**2 * low * high * (high - low)
