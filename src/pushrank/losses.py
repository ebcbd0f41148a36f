"""Pair losses."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import ClassVar, NamedTuple

import numpy as np

from pushrank._base.files import trust_in_files
from pushrank._base.numeric import Floats, sigmoid, softplus
from pushrank._base.validation import check_number, check_traits, resolve_name

# A user's loss is checked at these margins, which contain the round numbers where kinks usually are.
MARGINS = np.linspace(-8.0, 8.0, 129)


class Piece(NamedTuple):
    r"""A polynomial :math:`\sum_m c_m (u - r)^m` of coefficients c that a loss equals below a breakpoint u.

    It reaches down to the breakpoint of the piece before, and the first piece to minus infinity. At the
    margin u itself the value is that of this piece, and the derivatives are those of the next.
    """

    breakpoint: float
    coefficients: tuple[float, ...]


class Tails(NamedTuple):
    r"""The form of an analytic loss far from a margin of zero.

    On the left it is the polynomial :math:`\sum_m c_m (-r)^m` of degree 2 or less, whose coefficients are
    ``left``. On the right it is :math:`e^{b - \rho r}`, with b the ``log_size``, which is minus infinity for
    a loss that falls faster than an exponential, and :math:`\rho` the ``rate``.
    """

    left: tuple[float, ...]
    log_size: float = -math.inf
    rate: float = 0.0


class Loss(ABC):
    r"""A pair loss :math:`\ell(r)` of the margin :math:`r = f(x_i) - f(\tilde x_k)`.

    A loss is non-negative and does not grow with the margin. Your loss defines ``value``, ``derivative`` and,
    if it exists, ``second_derivative``, each elementwise on an array, and declares one of three forms, for
    which sums over all pairs take near-linear time: ``factorises``, ``pieces``, or ``strip_half_width`` with
    ``tails``. It then works with every price, sample and solver.

    Instances are immutable values: equal parameters make equal losses.

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
    """

    differentiable: ClassVar[bool] = True
    twice_differentiable: ClassVar[bool] = True
    convex: ClassVar[bool] = True
    factorises: ClassVar[bool] = False

    @property
    def pieces(self) -> tuple[Piece, ...]:
        """The polynomials, by rising margin, of a piecewise polynomial loss that is zero above the last."""
        return ()

    @property
    def strip_half_width(self) -> float | None:
        """The distance of an analytic loss's nearest singularity from the real axis, or less."""
        return None

    @property
    def tails(self) -> Tails | None:
        r"""The form of an analytic loss far from its ``expansion_centre``.

        It holds to a relative accuracy of :math:`\epsilon` at distances from that centre above
        :math:`(a / \pi) \ln(100 / \epsilon)`, with a the ``strip_half_width``. Without it scores may span no
        more than about a thousand half-widths.
        """
        return None

    @property
    def expansion_centre(self) -> float:
        """The margin about which an analytic loss bends."""
        return 0.0

    @property
    def intercept(self) -> float | None:
        """For a loss with kinks: a c such that its value is at least ``a * (c - r)`` at every margin r.

        The -a is every slope of ``smoothed``. A certificate needs it; the larger, the better the bound.
        """
        return None

    def smoothed(self, width: float) -> Loss:  # noqa: ARG002
        """Return a loss without kinks that differs from this one by at most about ``width``.

        A loss that has kinks and no smoothed form raises a TypeError.
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
        """Return the second derivative at each margin; a loss that has none raises a TypeError."""
        raise TypeError(f"{type(self).__name__} has no second derivative; use solver='lbfgs'.")


@dataclass(frozen=True)
class Exponential(Loss):
    r"""The exponential loss :math:`\ell(r) = e^{-r}`.

    It factorises over the pair, :math:`e^{-(s_i - t_k)} = e^{-s_i} e^{t_k}`, so that every objective built
    on it costs time linear in the number of rows.

    Rudin, *The P-Norm Push*, JMLR 10 (2009), section 5.

    Examples
    --------
    >>> Exponential().value(np.array([0.0, np.log(2.0)])).tolist()
    [1.0, 0.5]
    """

    factorises: ClassVar[bool] = True

    def value(self, margin: Floats) -> Floats:
        """Return ``exp(-margin)``."""
        return np.exp(-margin)

    def derivative(self, margin: Floats) -> Floats:
        """Return ``-exp(-margin)``."""
        return -np.exp(-margin)

    second_derivative = value


@dataclass(frozen=True)
class Logistic(Loss):
    r"""The logistic loss :math:`\ell(r) = \ln(1 + e^{-r})`.

    All pairs are summed in time linear in the rows, to the objective's ``accuracy``.

    Rudin, *The P-Norm Push*, JMLR 10 (2009), section 2 and Tables 1 and 2.

    Examples
    --------
    >>> Logistic().value(np.array([0.0, -1000.0])).round(4).tolist()
    [0.6931, 1000.0]
    """

    strip_half_width = math.pi
    tails = Tails((0.0, 1.0), 0.0, 1.0)

    def value(self, margin: Floats) -> Floats:
        """Return ``ln(1 + exp(-margin))``, finite at every finite margin."""
        return softplus(-margin)

    def derivative(self, margin: Floats) -> Floats:
        """Return ``-1 / (1 + exp(margin))``."""
        return -sigmoid(-margin)

    def second_derivative(self, margin: Floats) -> Floats:
        """Return ``exp(margin) / (1 + exp(margin)) ** 2``."""
        # The function is even, and exp(-|r|) does not overflow.
        small = np.exp(-np.abs(margin))
        return small / (1.0 + small) ** 2


@dataclass(frozen=True)
class RoundedHinge(Loss):
    """The hinge with a parabola of a width below the margin 1, at most half of the width below the hinge."""

    # Rennie and Srebro, *Loss functions for preference levels*, IJCAI 2005 workshop, the smoothed hinge.

    twice_differentiable: ClassVar[bool] = False
    width: float

    @property
    def pieces(self) -> tuple[Piece, ...]:
        return (Piece(1.0 - self.width, (0.5 * self.width, 1.0)), Piece(1.0, (0.0, 0.0, 0.5 / self.width)))

    def value(self, margin: Floats) -> Floats:
        short = np.maximum(0.0, 1.0 - margin)
        return np.where(short < self.width, 0.5 * short * short / self.width, short - 0.5 * self.width)

    def derivative(self, margin: Floats) -> Floats:
        return -np.clip((1.0 - margin) / self.width, 0.0, 1.0)


@dataclass(frozen=True)
class Hinge(Loss):
    r"""The hinge loss :math:`\ell(r) = \max(0, 1 - r)`.

    At the kink :math:`r = 1` the subgradient used is zero. All pairs are summed by sorting, O(n log n).

    Agarwal, *The Infinite Push*, SDM 2011, equation (3.2).

    Examples
    --------
    >>> Hinge().value(np.array([-1.0, 0.5, 2.0])).tolist()
    [2.0, 0.5, 0.0]
    """

    differentiable: ClassVar[bool] = False
    twice_differentiable: ClassVar[bool] = False

    pieces = (Piece(1.0, (0.0, 1.0)),)
    # The hinge is the largest of the lines a (1 - r) with a from 0 to 1.
    intercept = 1.0

    def smoothed(self, width: float) -> RoundedHinge:
        """Return the hinge with its kink replaced by a parabola."""
        return RoundedHinge(width)

    def value(self, margin: Floats) -> Floats:
        """Return ``max(0, 1 - margin)``."""
        return np.maximum(0.0, 1.0 - margin)

    def derivative(self, margin: Floats) -> Floats:
        """Return ``-1`` where the margin is below one, else ``0``."""
        return -(margin < 1.0).astype(np.float64)


@dataclass(frozen=True)
class SquaredHinge(Loss):
    r"""The squared hinge loss :math:`\ell(r) = \max(0, 1 - r)^2`.

    Its second derivative jumps at :math:`r = 1`; the value used there is zero. All pairs are
    summed by sorting, O(n log n).

    Li, Jin and Zhou, *Top rank optimization in linear time*, NIPS 2014.

    Examples
    --------
    >>> SquaredHinge().value(np.array([-1.0, 0.5, 2.0])).tolist()
    [4.0, 0.25, 0.0]
    """

    pieces = (Piece(1.0, (0.0, 0.0, 1.0)),)

    def value(self, margin: Floats) -> Floats:
        """Return ``max(0, 1 - margin) ** 2``."""
        return np.square(np.maximum(0.0, 1.0 - margin))

    def derivative(self, margin: Floats) -> Floats:
        """Return ``-2 * max(0, 1 - margin)``."""
        return -2.0 * np.maximum(0.0, 1.0 - margin)

    def second_derivative(self, margin: Floats) -> Floats:
        """Return ``2`` where the margin is below one, else ``0``."""
        return 2.0 * (margin < 1.0).astype(np.float64)


@dataclass(frozen=True)
class _SharpLoss(Loss):
    """A loss that is a function of ``exp(sharpness * margin)``."""

    sharpness: float = 1.0

    def __post_init__(self) -> None:
        check_number("sharpness", self.sharpness, above=0.0)

    @property
    def strip_half_width(self) -> float:
        r"""The distance :math:`\pi / \beta` of the nearest singularity."""
        return math.pi / self.sharpness


@dataclass(frozen=True)
class SmoothedHinge(_SharpLoss):
    r"""The smoothed hinge :math:`\ell(r) = \frac{1}{\beta} \ln(1 + e^{\beta (1 - r)})`.

    It lies above the hinge, by at most :math:`\ln 2 / \beta`, and approaches it as :math:`\beta` grows.
    All pairs are summed in time linear in the rows, to the objective's ``accuracy``.

    Zhang and Oles, *Text categorization based on regularized linear classification methods*, Information
    Retrieval 4 (2001), section 3 (the modified logistic loss).

    Parameters
    ----------
    sharpness : float, default=4.0
        The positive :math:`\beta`, in units of one over a score.

    Raises
    ------
    TypeError, ValueError
        When ``sharpness`` is no number, or not positive and finite.

    Examples
    --------
    >>> SmoothedHinge(100.0).value(np.array([-1.0, 0.5, 2.0])).round(6).tolist()
    [2.0, 0.5, 0.0]
    """

    sharpness: float = 4.0

    expansion_centre = 1.0

    @property
    def tails(self) -> Tails:
        """The line ``1 - r`` and ``exp(sharpness * (1 - r)) / sharpness``."""
        return Tails((1.0, 1.0), self.sharpness - math.log(self.sharpness), self.sharpness)

    def value(self, margin: Floats) -> Floats:
        """Return ``ln(1 + exp(sharpness * (1 - margin))) / sharpness``."""
        return softplus(self.sharpness * (1.0 - margin)) / self.sharpness

    def derivative(self, margin: Floats) -> Floats:
        """Return minus the sigmoid of ``sharpness * (1 - margin)``."""
        return -sigmoid(self.sharpness * (1.0 - margin))

    def second_derivative(self, margin: Floats) -> Floats:
        """Return ``sharpness`` times the sigmoid's derivative."""
        # s(z) s(-z) in place of s(z) (1 - s(z)) keeps its digits where the sigmoid s is almost one.
        z = self.sharpness * (1.0 - margin)
        return self.sharpness * sigmoid(z) * sigmoid(-z)


@dataclass(frozen=True)
class Sigmoid(_SharpLoss):
    r"""The sigmoid loss :math:`\ell(r) = 1 / (1 + e^{\beta r})`, between zero and one.

    It is bounded for a badly ranked pair, so that outliers weigh little; it is not convex, and a fit finds a
    local minimum. All pairs are summed in time linear in the rows, to the objective's
    ``accuracy``.

    Yan, Dodier, Mozer and Wolniewicz, *Optimizing classifier performance via an approximation to the
    Wilcoxon-Mann-Whitney statistic*, ICML 2003, equation (4).

    Parameters
    ----------
    sharpness : float, default=1.0
        The positive :math:`\beta`, in units of one over a score; the larger, the nearer to a step.

    Raises
    ------
    TypeError, ValueError
        When ``sharpness`` is no number, or not positive and finite.

    Examples
    --------
    >>> Sigmoid().value(np.array([-1000.0, 0.0, 1000.0])).tolist()
    [1.0, 0.5, 0.0]
    """

    convex: ClassVar[bool] = False

    @property
    def tails(self) -> Tails:
        """One and ``exp(-sharpness * r)``."""
        return Tails((1.0,), 0.0, self.sharpness)

    def value(self, margin: Floats) -> Floats:
        """Return the sigmoid s of ``-sharpness * margin``."""
        return sigmoid(-self.sharpness * margin)

    def derivative(self, margin: Floats) -> Floats:
        """Return ``-sharpness * s * (1 - s)``, never positive."""
        return -self.sharpness * sigmoid(self.sharpness * margin) * self.value(margin)

    def second_derivative(self, margin: Floats) -> Floats:
        """Return the second derivative, negative where s exceeds a half."""
        low, high = self.value(margin), sigmoid(self.sharpness * margin)
        return self.sharpness**2 * low * high * (high - low)


@dataclass(frozen=True)
class Ramp(Loss):
    r"""The ramp loss :math:`\phi(r)`: 1 up to a margin of 0, 0 from :math:`\theta` on, a line between.

    For evaluation only: with the price :math:`r^p` its objective is :math:`R_{p,\phi}`, by which theorems 2
    and 3 are proved, between the errors without and with the margin
    (:func:`pushrank.metrics.margin_error`). All pairs are summed by sorting, O(n log n).

    Rudin, *The P-Norm Push*, JMLR 10 (2009), section 10.

    Parameters
    ----------
    theta : float, default=1.0
        The positive margin :math:`\theta`, in units of the scores; the slope is :math:`-1/\theta`.

    Raises
    ------
    TypeError, ValueError
        When ``theta`` is no number, or not positive and finite.

    Examples
    --------
    >>> Ramp(2.0).value(np.array([-1.0, 0.5, 2.0])).tolist()
    [1.0, 0.75, 0.0]
    """

    theta: float = 1.0

    differentiable: ClassVar[bool] = False
    twice_differentiable: ClassVar[bool] = False
    convex: ClassVar[bool] = False

    def __post_init__(self) -> None:
        check_number("theta", self.theta, above=0.0)

    @property
    def pieces(self) -> tuple[Piece, ...]:
        """One, and then a line down to zero."""
        return (Piece(0.0, (1.0,)), Piece(self.theta, (0.0, 1.0 / self.theta)))

    def value(self, margin: Floats) -> Floats:
        """Return ``1 - margin / theta``, between 0 and 1."""
        return np.clip(1.0 - margin / self.theta, 0.0, 1.0)

    def derivative(self, margin: Floats) -> Floats:
        """Return ``-1 / theta`` where the margin is from zero to below theta, else ``0``."""
        return -((margin >= 0.0) & (margin < self.theta)).astype(np.float64) / self.theta


@dataclass(frozen=True)
class ZeroOne(Loss):
    r"""The zero-one loss :math:`\ell(r) = 1[r \le 0]`: a tie is an error.

    For evaluation only: with the price :math:`r^p` its objective is :math:`R_{p,1}`, also offered, in
    :math:`O(n \log n)`, as :func:`pushrank.metrics.rp_error`. It has no derivative to learn from.

    Rudin, *The P-Norm Push*, JMLR 10 (2009), section 2.

    Examples
    --------
    >>> ZeroOne().value(np.array([-1.0, 0.0, 1.0])).tolist()
    [1.0, 1.0, 0.0]
    """

    differentiable: ClassVar[bool] = False
    twice_differentiable: ClassVar[bool] = False
    convex: ClassVar[bool] = False

    pieces = (Piece(0.0, (1.0,)),)

    def value(self, margin: Floats) -> Floats:
        """Return ``1`` where the margin is not positive, else ``0``."""
        return (margin <= 0.0).astype(np.float64)

    def derivative(self, margin: Floats) -> Floats:  # noqa: ARG002
        """Raise a TypeError, since the slope of a step function is zero wherever it exists."""
        raise TypeError(
            "ZeroOne has no derivative to learn from; use value() to evaluate it, "
            "and Exponential, Logistic or SquaredHinge to fit."
        )


__all__ = [
    "Exponential", "Hinge", "Logistic", "Ramp", "Sigmoid", "SmoothedHinge", "SquaredHinge", "ZeroOne",
]  # fmt: skip

trust_in_files(*(globals()[name] for name in __all__))


def resolve(loss: Loss | str) -> Loss:
    """Return the loss that a name such as ``"squared_hinge"`` stands for; an instance passes through."""
    resolved: Loss = resolve_name(loss, Loss, [globals()[name] for name in __all__], "loss")
    return resolved


def check_declared(loss: Loss) -> None:
    """Raise unless a user's loss has the properties that it declares, at the margins of ``MARGINS``."""
    cls = type(loss)
    if cls.__module__.partition(".")[0] == "pushrank":
        return
    smooth, twice = loss.differentiable, loss.twice_differentiable
    check_traits(loss, "loss", MARGINS, -1.0, smooth=smooth, twice=twice, names=dir(Loss))
    # A wrong form would give wrong sums over pairs without any other sign of it.
    expected = np.exp(-MARGINS) if loss.factorises else loss.value(MARGINS)
    if loss.pieces:
        ends = np.array([piece.breakpoint for piece in loss.pieces])
        numbers = np.searchsorted(ends, MARGINS)
        expected = np.zeros_like(MARGINS)
        for number, (end, coefficients) in enumerate(loss.pieces):
            inside = numbers == number
            expected[inside] = np.polynomial.polynomial.polyval(end - MARGINS[inside], coefficients)
    wrong = ~np.isclose(loss.value(MARGINS), expected, rtol=1e-9, atol=1e-12)
    if wrong.any():
        form = "pieces" if loss.pieces else "factorises = True"
        raise ValueError(
            f"the loss {loss!r} is not what its {form} say: at {MARGINS[np.argmax(wrong)]:g} its value is "
            f"{loss.value(MARGINS)[np.argmax(wrong)]:g}, not {expected[np.argmax(wrong)]:g}."
        )
