"""What every pair loss offers: a value and derivatives of the margin."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import ClassVar, NamedTuple

from pushrank._log_space import Floats


class Piece(NamedTuple):
    r"""A polynomial :math:`\sum_m c_m (u - r)^m` that a loss equals below a margin u.

    It reaches down to the end of the piece before, and the first piece without end. At the margin u itself
    the value is that of this piece, the derivatives are those of the next.

    Attributes
    ----------
    upto : float
        The margin u.
    coefficients : tuple of float
        The :math:`c_0, c_1, \dots`
    """

    upto: float
    coefficients: tuple[float, ...]


class Loss(ABC):
    r"""A pair loss :math:`\ell(r)` of the margin :math:`r = f(x_i) - f(\tilde x_k)`.

    A loss is non-negative and does not grow with the margin. A loss of your own defines ``value``,
    ``derivative`` and, where it exists, ``second_derivative``, each elementwise on an array, and declares one
    of the three forms below, by which its sums over all pairs are had in near-linear time: ``factorises``,
    ``pieces`` or ``strip``. It then works with every price, sample and solver.

    Attributes
    ----------
    differentiable : bool
        Whether ``derivative`` is continuous, which gradient solvers need.
    twice_differentiable : bool
        Whether ``second_derivative`` exists (almost everywhere and bounded), which Newton's method needs.
    convex : bool
        Whether it is convex, which a certificate of optimality needs.
    factorises : bool
        Whether ``value(a - b)`` is ``exp(-a) * exp(b)``, so that sums over pairs cost linear time.
    pieces : tuple of Piece
        The polynomials of which a loss consists that is zero above the last of them, by rising margin; its
        sums over pairs cost no more than sorting. Empty for other losses.
    strip : float or None
        For an analytic loss: half the width of the strip about the real axis without a singularity. Its sums
        over pairs cost linear time, wherever the scores are, if its tails are a polynomial on the left and an
        exponential on the right, and for scores that span a few thousand strips otherwise.
    centre : float
        For an analytic loss: the margin about which it bends.
    intercept : float or None
        For a loss with kinks: a c such that ``value(r) >= a * (c - r)`` for every margin r and every slope -a
        of ``smoothed``; for the hinge 1. A certificate needs it; the larger, the better the bound.

    Notes
    -----
    Instances are immutable values: equal parameters make equal losses.
    """

    differentiable: ClassVar[bool] = True
    twice_differentiable: ClassVar[bool] = True
    convex: ClassVar[bool] = True
    factorises: ClassVar[bool] = False

    @property
    def pieces(self) -> tuple[Piece, ...]:
        """The polynomials of a piecewise polynomial loss."""
        return ()

    @property
    def strip(self) -> float | None:
        """Half the width of the strip of an analytic loss about the real axis."""
        return None

    @property
    def centre(self) -> float:
        """The margin about which an analytic loss bends."""
        return 0.0

    @property
    def intercept(self) -> float | None:
        """The c of the lines ``a * (c - r)`` below a loss with kinks."""
        return None

    def smoothed(self, width: float) -> Loss:  # noqa: ARG002
        """Return a loss without kinks that differs from this one by no more than about a width.

        Raises
        ------
        TypeError
            When the loss has kinks and none is known.
        """
        if self.differentiable:
            return self
        raise TypeError(
            f"{type(self).__name__} is not differentiable and has no smoothed form to be learned by. Use "
            "Hinge, SquaredHinge or Logistic; a loss of your own may define smoothed(width)."
        )

    @abstractmethod
    def value(self, margin: Floats) -> Floats:
        """Return the loss at each margin, in the shape of ``margin``."""

    @abstractmethod
    def derivative(self, margin: Floats) -> Floats:
        """Return the derivative at each margin; at a kink, one subgradient."""

    def second_derivative(self, margin: Floats) -> Floats:  # noqa: ARG002
        """Return the second derivative at each margin.

        Raises
        ------
        TypeError
            When the loss has none.
        """
        raise TypeError(f"{type(self).__name__} has no second derivative; use solver='lbfgs'.")
