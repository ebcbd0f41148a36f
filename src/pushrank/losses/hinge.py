"""The hinge loss of RankSVM and the Infinite Push."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from pushrank._log_space import Floats
from pushrank.losses._rounded_hinge import RoundedHinge
from pushrank.losses.base import Loss, Piece


@dataclass(frozen=True)
class Hinge(Loss):
    r"""The hinge loss :math:`\ell(r) = \max(0, 1 - r)`.

    At the kink :math:`r = 1` the subgradient used is zero.

    References
    ----------
    Agarwal, *The Infinite Push*, SDM 2011, equation (3.1).

    Examples
    --------
    >>> Hinge().value(np.array([-1.0, 0.5, 2.0])).tolist()
    [2.0, 0.5, 0.0]
    """

    differentiable: ClassVar[bool] = False
    twice_differentiable: ClassVar[bool] = False

    @property
    def pieces(self) -> tuple[Piece, ...]:
        """One polynomial, below a margin of one."""
        return (Piece(1.0, (0.0, 1.0)),)

    @property
    def intercept(self) -> float:
        """One: the hinge is the largest of the lines ``a * (1 - r)``, a from 0 to 1."""
        return 1.0

    def smoothed(self, width: float) -> RoundedHinge:
        """Return the hinge with its kink replaced by a parabola."""
        return RoundedHinge(width)

    def value(self, margin: Floats) -> Floats:
        """Return ``max(0, 1 - margin)``."""
        return np.maximum(0.0, 1.0 - margin)

    def derivative(self, margin: Floats) -> Floats:
        """Return ``-1`` where the margin is below one, else ``0``."""
        return -(margin < 1.0).astype(np.float64)
