"""The hinge with its kink rounded off."""

from __future__ import annotations

import math
from dataclasses import dataclass

from pushrank._checks import check_number
from pushrank._log_space import Floats, sigmoid, softplus
from pushrank.losses.base import Loss


@dataclass(frozen=True)
class SmoothedHinge(Loss):
    r"""The smoothed hinge :math:`\ell(r) = \frac{1}{\beta} \ln(1 + e^{\beta (1 - r)})`.

    It lies above the hinge, by at most :math:`\ln 2 / \beta`, and approaches it as :math:`\beta` grows.

    Parameters
    ----------
    sharpness : float, default=4.0
        The positive :math:`\beta`, in units of one over a score.

    Raises
    ------
    TypeError
        When ``sharpness`` is not a number.
    ValueError
        When ``sharpness`` is not a positive finite number.

    References
    ----------
    Zhang and Oles, *Text categorization based on regularized linear classification methods*, Information
    Retrieval 4 (2001), section 3 (the modified logistic loss).

    Examples
    --------
    >>> import numpy as np
    >>> SmoothedHinge(100.0).value(np.array([-1.0, 0.5, 2.0])).round(6).tolist()
    [2.0, 0.5, 0.0]
    """

    sharpness: float = 4.0

    def __post_init__(self) -> None:
        """Check the sharpness."""
        check_number("sharpness", self.sharpness, above=0.0)

    @property
    def strip(self) -> float:
        r"""The distance :math:`\pi / \beta` of the nearest singularity."""
        return math.pi / self.sharpness

    @property
    def centre(self) -> float:
        """A margin of one."""
        return 1.0

    def value(self, margin: Floats) -> Floats:
        """Return ``ln(1 + exp(sharpness * (1 - margin))) / sharpness``."""
        return softplus(self.sharpness * (1.0 - margin)) / self.sharpness

    def derivative(self, margin: Floats) -> Floats:
        """Return minus the sigmoid of ``sharpness * (1 - margin)``."""
        return -sigmoid(self.sharpness * (1.0 - margin))

    def second_derivative(self, margin: Floats) -> Floats:
        """Return ``sharpness`` times the sigmoid's derivative."""
        risen = self.sharpness * (1.0 - margin)
        return self.sharpness * sigmoid(risen) * sigmoid(-risen)
