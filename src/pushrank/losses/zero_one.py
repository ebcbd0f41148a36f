"""The misranking count itself, for evaluation."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from pushrank._log_space import Floats
from pushrank.losses.base import Loss, Piece


@dataclass(frozen=True)
class ZeroOne(Loss):
    r"""The zero-one loss :math:`\ell(r) = 1[r \le 0]`: a tie is an error.

    For evaluation only: with the price :math:`r^p` its objective is :math:`R_{p,1}`, also offered, in
    :math:`O(n \log n)`, as :func:`pushrank.metrics.rp_error`. It has no derivative to learn from.

    References
    ----------
    Rudin, *The P-Norm Push*, JMLR 10 (2009), section 2.

    Examples
    --------
    >>> ZeroOne().value(np.array([-1.0, 0.0, 1.0])).tolist()
    [1.0, 1.0, 0.0]
    """

    differentiable: ClassVar[bool] = False
    twice_differentiable: ClassVar[bool] = False
    convex: ClassVar[bool] = False

    @property
    def pieces(self) -> tuple[Piece, ...]:
        """A one, up to a margin of zero."""
        return (Piece(0.0, (1.0,)),)

    def value(self, margin: Floats) -> Floats:
        """Return ``1`` where the margin is not positive, else ``0``."""
        return (margin <= 0.0).astype(np.float64)

    def derivative(self, margin: Floats) -> Floats:  # noqa: ARG002
        """Raise, since a step function teaches nothing.

        Raises
        ------
        TypeError
            Always.
        """
        raise TypeError(
            "ZeroOne has no derivative to learn from; use value() to evaluate it, "
            "and Exponential, Logistic or SquaredHinge to fit."
        )
