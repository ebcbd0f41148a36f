"""The squared sigmoid loss, which lets well ranked pairs go sooner."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from pushrank._checks import check_number
from pushrank._log_space import Floats, sigmoid
from pushrank.losses.base import Loss


@dataclass(frozen=True)
class SquaredSigmoid(Loss):
    r"""The squared sigmoid loss :math:`\ell(r) = 1 / (1 + e^{\beta r})^2`, between zero and one.

    Bounded like :class:`Sigmoid`, it falls twice as fast for a well ranked pair; it is not convex, and a fit
    finds a local minimum.

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
    Rudin, *The P-Norm Push*, JMLR 10 (2009), section 2, asks of a loss no more than that it bounds the count
    of misranked pairs, as four times this one does.

    Examples
    --------
    >>> SquaredSigmoid().value(np.array([-1000.0, 0.0, 1000.0])).tolist()
    [1.0, 0.25, 0.0]
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
        """Return ``1 / (1 + exp(sharpness * margin)) ** 2``."""
        return np.square(sigmoid(-self.sharpness * margin))

    def derivative(self, margin: Floats) -> Floats:
        """Return the derivative, never positive."""
        risen = self.sharpness * margin
        return -2.0 * self.sharpness * sigmoid(-risen) ** 2 * sigmoid(risen)

    def second_derivative(self, margin: Floats) -> Floats:
        """Return the second derivative, negative where the sigmoid exceeds two thirds."""
        risen = self.sharpness * margin
        low, high = sigmoid(-risen), sigmoid(risen)
        return 2.0 * self.sharpness**2 * low**2 * high * (2.0 * high - low)
