"""The hinge without its kink, as solvers see it on their way to the hinge."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from pushrank._log_space import Floats
from pushrank.losses.base import Loss, Piece


@dataclass(frozen=True)
class RoundedHinge(Loss):
    r"""The hinge with a parabola over the margins from :math:`1 - \gamma` to 1.

    It lies below the hinge, by :math:`\gamma / 2` at most, and its slopes are those of the hinge between -1
    and 0. Its sums cost sorting however small :math:`\gamma` is.

    Parameters
    ----------
    width : float
        The positive :math:`\gamma`.

    References
    ----------
    Rennie and Srebro, *Loss functions for preference levels*, IJCAI 2005 workshop, the smoothed hinge.
    """

    twice_differentiable: ClassVar[bool] = False
    width: float

    @property
    def pieces(self) -> tuple[Piece, ...]:
        """A line and a parabola."""
        return (
            Piece(1.0 - self.width, (0.5 * self.width, 1.0)),
            Piece(1.0, (0.0, 0.0, 0.5 / self.width)),
        )

    def value(self, margin: Floats) -> Floats:
        """Return the loss at each margin."""
        short = np.maximum(0.0, 1.0 - margin)
        return np.where(short < self.width, 0.5 * short * short / self.width, short - 0.5 * self.width)

    def derivative(self, margin: Floats) -> Floats:
        """Return minus the shortfall in units of the width, at least -1."""
        return -np.clip((1.0 - margin) / self.width, 0.0, 1.0)
