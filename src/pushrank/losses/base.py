"""What every pair loss offers: a value and derivatives of the margin."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import ClassVar

from pushrank._log_space import Floats


class Loss(ABC):
    r"""A pair loss :math:`\ell(r)` of the margin :math:`r = f(x_i) - f(\tilde x_k)`.

    A loss is non-negative, does not grow with the margin and, but for :class:`ZeroOne`, is convex. A
    loss of your own defines ``value``, ``derivative`` and, where it exists, ``second_derivative``, each
    elementwise on an array, and sets the traits below; it then works with every price and solver.

    Attributes
    ----------
    differentiable : bool
        Whether ``derivative`` is continuous, which gradient solvers need.
    twice_differentiable : bool
        Whether ``second_derivative`` exists (almost everywhere and bounded), which Newton's method needs.
    factorises : bool
        Whether ``value(a - b)`` is ``exp(-a) * exp(b)``, so that sums over pairs cost linear time.
    hinge_power : int
        The power p of a loss :math:`\max(0, 1 - r)^p`, 1 or 2, whose sums over pairs cost no more than
        sorting; 0 for other losses.

    Notes
    -----
    Instances are immutable values: equal parameters make equal losses.
    """

    differentiable: ClassVar[bool] = True
    twice_differentiable: ClassVar[bool] = True
    factorises: ClassVar[bool] = False
    hinge_power: ClassVar[int] = 0

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
