"""The squared hinge loss: the hinge without its kink."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from pushrank._log_space import Floats
from pushrank.losses.base import Loss, Piece


@dataclass(frozen=True)
class SquaredHinge(Loss):
    r"""The squared hinge loss :math:`\ell(r) = \max(0, 1 - r)^2`.

    Its second derivative jumps at :math:`r = 1`; the value used there is zero.

    References
    ----------
    Li, Jin and Zhou, *Top rank optimization in linear time*, NIPS 2014.

    Examples
    --------
    >>> SquaredHinge().value(np.array([-1.0, 0.5, 2.0])).tolist()
    [4.0, 0.25, 0.0]
    """

    @property
    def pieces(self) -> tuple[Piece, ...]:
        """One polynomial, below a margin of one."""
        return (Piece(1.0, (0.0, 0.0, 1.0)),)

    def value(self, margin: Floats) -> Floats:
        """Return ``max(0, 1 - margin) ** 2``."""
        return np.square(np.maximum(0.0, 1.0 - margin))

    def derivative(self, margin: Floats) -> Floats:
        """Return ``-2 * max(0, 1 - margin)``."""
        return -2.0 * np.maximum(0.0, 1.0 - margin)

    def second_derivative(self, margin: Floats) -> Floats:
        """Return ``2`` where the margin is below one, else ``0``."""
        return 2.0 * (margin < 1.0).astype(np.float64)
