"""Prices of inner sums."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass, field
from typing import ClassVar, Literal, NamedTuple

import numpy as np

from pushrank._base.files import trust_in_files
from pushrank._base.numeric import Floats, sigmoid, softmax_and_log_sum, softplus
from pushrank._base.validation import check_number, check_traits, resolve_name

Scale = Literal["raw", "log"]
# A user's price is checked at these inner sums.
INNER_SUMS = np.geomspace(1e-3, 1e3, 121)
# A price that is a power at these is a power: no sum of losses is beyond them.
POWER_SUMS = np.geomspace(1e-12, 1e12, 97)
# The logarithms of the smallest and the largest value whose digits are all there.
LOG_FLOATS = np.array([-667.0, 667.0])
# The exponential of a smaller number neither overflows nor vanishes, even times another such exponential.
MAX_SHIFT = 300.0
TINY = np.finfo(float).tiny


class Terms(NamedTuple):
    """Prices of inner sums and their derivatives by the logarithm of the sum, divided by ``exp(shift)``."""

    shift: float
    value: Floats
    first: Floats
    second: Floats


class PriceTotal(NamedTuple):
    """The total price and its derivatives with respect to the logarithms of the inner sums."""

    # The Hessian is `diag(curved) - coupling * outer(gradient, gradient)`, `curved` being the curvature, or
    # where that is None the coupling times the gradient.

    value: float
    gradient: Floats
    curvature: Floats | None
    coupling: float

    @property
    def curved(self) -> Floats:
        return self.coupling * self.gradient if self.curvature is None else self.curvature


class Price(ABC):
    r"""A price :math:`g(h)` on an inner sum :math:`h`, totalled as :math:`\sum_k w_k\, g(h_k)`.

    A price is non-negative. If it is convex and grows with :math:`h` the objective is convex, and so it is
    for :math:`\ln(1+h)` with the exponential loss; other prices lead to local minima. A price that falls
    somewhere, so that only a portion of the ROC curve counts, declares ``monotonic = False``. Your price
    defines ``value``, ``derivative`` and ``second_derivative``, each elementwise; everything else follows.
    Built-in prices override ``terms`` to stay finite where :math:`g(h)` itself overflows.

    Rudin, *The P-Norm Push*, JMLR 10 (2009), section 2, and section 9.3 for prices that fall.

    Attributes
    ----------
    smooth : bool
        Whether the total is differentiable, which gradient solvers need.
    convex : bool
        Whether it is convex, which a certificate of optimality needs.
    monotonic : bool
        Whether it falls nowhere, which steps along one weak ranker or coefficient at a time need.
    """

    smooth: ClassVar[bool] = True
    convex: ClassVar[bool] = True
    monotonic: ClassVar[bool] = True

    @property
    def homogeneous(self) -> bool:
        """Whether it is a power :math:`c h^m`, as its values tell, or the maximum: power means make sense."""
        return (exponent := exponent_of(self)) is not None and exponent == self.log_divisor

    @property
    def log_divisor(self) -> float | None:
        r"""The m of the log scale :math:`\frac1m \ln R`, a power's or declared; None if there is none."""
        return exponent_of(self)

    def smoothed(self, temperature: float) -> Price:  # noqa: ARG002
        """Return a price without kinks that approaches this one from below as the temperature falls."""
        if self.smooth:
            return self
        raise TypeError(
            f"{type(self).__name__} is not smooth and has no smoothed form to be learned by; a price of your "
            "own may define smoothed(temperature)."
        )

    @abstractmethod
    def value(self, inner_sum: Floats) -> Floats:
        """Return ``g`` of each inner sum."""

    @abstractmethod
    def derivative(self, inner_sum: Floats) -> Floats:
        """Return ``g'`` of each inner sum."""

    @abstractmethod
    def second_derivative(self, inner_sum: Floats) -> Floats:
        """Return ``g''`` of each inner sum."""

    def terms(self, log_sums: Floats) -> Terms:
        """Return ``g``, ``dg/dl`` and ``d2g/dl2`` at ``l = log_sums``, each divided by ``exp(shift)``."""
        if (exponent := exponent_of(self)) is not None:
            # A power of the sums in units of the largest is finite, whatever their size.
            largest = float(np.max(log_sums, initial=-np.inf))
            unit = largest if np.isfinite(largest) else 0.0
            value = self.value(np.exp(log_sums - unit))
            return Terms(exponent * unit, value, exponent * value, exponent**2 * value)
        sums = np.exp(log_sums)
        first = sums * self.derivative(sums)
        # A second derivative that is infinite at zero is of no weight there.
        bent = np.where(sums > 0.0, sums**2 * self.second_derivative(np.maximum(sums, TINY)), 0.0)
        return Terms(0.0, self.value(sums), first, first + bent)

    def total(self, log_sums: Floats, weights: Floats | float, scale: Scale) -> PriceTotal:
        """Return the total price and its derivatives with respect to ``log_sums``.

        These are natural logarithms of the inner sums, ``-inf`` for a sum of zero, and ``weights`` the
        positive sample weights of their rows, or one for all. The scale is that of ``R`` itself, or
        ``"log"``, ``(1/m) ln R`` with ``m`` the ``log_divisor``: a ValueError where the price has none.
        """
        divisor = self.log_divisor
        if scale == "log" and divisor is None:
            raise ValueError(f"{type(self).__name__} has no log scale; use scale='raw' or 'mean'.")
        if scale == "log" and divisor and self.homogeneous:
            # A softmax takes half the time and memory of the general method.
            exponents = divisor * log_sums
            if not isinstance(weights, float) or weights != 1.0:
                exponents = exponents + np.log(weights)
            gradient, log_total = softmax_and_log_sum(exponents, out=exponents)
            log_unit = float(np.log(self.value(np.ones(1))[0]))
            return PriceTotal((log_total + log_unit) / divisor, gradient, None, divisor)
        shift, value, first, second = self.terms(log_sums)
        total = float(np.sum(weights * value))
        if scale == "raw" or divisor is None:
            scaled = float(_times_exp(np.asarray(total), shift))
            gradient, curvature = (_times_exp(weights * part, shift) for part in (first, second))
            return PriceTotal(scaled, gradient, curvature, 0.0)
        if total == 0.0:
            zeros = np.zeros_like(log_sums)
            return PriceTotal(-np.inf, zeros, zeros, divisor)
        # The shift drops out of the derivatives of the logarithm.
        unit = weights / (divisor * total)
        return PriceTotal((shift + float(np.log(total))) / divisor, unit * first, unit * second, divisor)


def exponent_of(price: Price) -> float | None:
    """Return the m of a price that is c h^m, as its values tell; None of another one."""
    if type(price).value is Power.value:
        return float(price.p)  # type: ignore[attr-defined]
    if type(price).total is not Price.total:
        return None
    try:
        with np.errstate(all="ignore"):
            logs = np.log(price.value(POWER_SUMS))
    except (ArithmeticError, LookupError, ValueError):
        return None  # it is not for such sums
    exact, log_sums = np.abs(logs) < LOG_FLOATS[1], np.log(POWER_SUMS)
    if exact.sum() < 3:
        return None
    first, last = np.flatnonzero(exact)[[0, -1]]
    exponent = float(f"{(logs[last] - logs[first]) / (log_sums[last] - log_sums[first]):.13g}")
    line = logs[first] + exponent * (log_sums - log_sums[first])
    # Where a value is zero or infinite the power has to leave the floats, too.
    apart = np.abs(np.clip(logs, *LOG_FLOATS) - np.clip(line, *LOG_FLOATS))
    return exponent if exponent > 0.0 and np.max(apart) < 1e-9 * max(1.0, exponent) else None


def unit_power(price: Price) -> float | None:
    """Return the m of a price h^m on the log scale of that power; None of another one."""
    is_unit = price.homogeneous and float(price.value(np.ones(1))[0]) == 1.0
    return exponent_of(price) if is_unit else None


def _times_exp(values: Floats, shift: float) -> Floats:
    """Return ``values * exp(shift)``; overflow gives infinity, and a value of zero stays zero."""
    if abs(shift) < MAX_SHIFT:
        return values * float(np.exp(shift)) if shift else values
    # The exponential may overflow although the product does not, so the exponents are added.
    with np.errstate(over="ignore", divide="ignore"):
        scaled: Floats = np.sign(values) * np.exp(shift + np.log(np.abs(values)))
    return np.where(values == 0.0, values, scaled) if np.ndim(values) else scaled


@dataclass(frozen=True)
class SoftMaximum(Price):
    r"""The price of a total :math:`\tau \ln \sum_k \bar w_k e^{h_k / \tau}`, the weights summing to one."""

    # It lies below the maximum, by the temperature times the logarithm of the number of rows at most. Its
    # gradient in the logarithms of the sums is m_k h_k, with multipliers m that sum to one. The temperature
    # is positive, in the unit of the inner sums. Nesterov, *Smooth minimization of non-smooth functions*,
    # Math. Programming 103 (2005), section 4.

    temperature: float

    def value(self, inner_sum: Floats) -> Floats:
        return np.exp(inner_sum / self.temperature)

    def derivative(self, inner_sum: Floats) -> Floats:
        return self.value(inner_sum) / self.temperature

    def second_derivative(self, inner_sum: Floats) -> Floats:
        return self.value(inner_sum) / self.temperature**2

    @np.errstate(over="ignore")
    def total(self, log_sums: Floats, weights: Floats | float, scale: Scale) -> PriceTotal:  # noqa: ARG002
        sums = np.exp(log_sums)
        log_weights = np.log(np.broadcast_to(weights, sums.shape))
        multipliers, log_total = softmax_and_log_sum(sums / self.temperature + log_weights)
        if log_total == np.inf:
            zeros = np.zeros_like(sums)
            return PriceTotal(np.inf, zeros, zeros, 0.0)
        log_weight = softmax_and_log_sum(log_weights)[1]
        gradient = multipliers * sums
        curvature = gradient * (1.0 + sums / self.temperature)
        value = self.temperature * (log_total - log_weight)
        return PriceTotal(value, gradient, curvature, 1.0 / self.temperature)


@dataclass(frozen=True)
class Power(Price):
    r"""The power price :math:`g(h) = h^p`; the larger ``p``, the harder the push at the top of the list.

    The log scale is :math:`(1/p) \ln \sum_k h_k^p`, finite at any ``p``.

    Rudin, *The P-Norm Push*, JMLR 10 (2009), section 2.

    Parameters
    ----------
    p : float, default=4.0
        The exponent, any finite real number of at least 1. With ``p=1`` the objective is RankBoost's; as
        ``p`` grows it approaches the Infinite Push.

    Raises
    ------
    TypeError, ValueError
        When ``p`` is no number, or not finite and at least 1.

    Examples
    --------
    >>> Power(3).value(np.array([0.0, 2.0])).tolist()
    [0.0, 8.0]
    """

    p: float = 4.0

    def __post_init__(self) -> None:
        check_number("p", self.p, 1.0)

    def value(self, inner_sum: Floats) -> Floats:
        """Return ``inner_sum ** p``."""
        return inner_sum**self.p

    def derivative(self, inner_sum: Floats) -> Floats:
        """Return ``p * inner_sum ** (p - 1)``."""
        return self.p * inner_sum ** (self.p - 1.0)

    def second_derivative(self, inner_sum: Floats) -> Floats:
        """Return ``p * (p - 1) * inner_sum ** (p - 2)``, which is zero everywhere for ``p = 1``."""
        if self.p == 1.0:
            return 0.0 * inner_sum
        return self.p * (self.p - 1.0) * inner_sum ** (self.p - 2.0)


@dataclass(frozen=True)
class Identity(Power):
    r"""The price :math:`g(h) = h`, under which all pairs have the same weight.

    With the exponential loss the objective is RankBoost's, with the hinge RankSVM's. It is the power price
    with p = 1, and its log scale is :math:`\ln R`.

    Rudin, *The P-Norm Push*, JMLR 10 (2009), section 2.

    Examples
    --------
    >>> Identity().value(np.array([0.0, 2.0])).tolist()
    [0.0, 2.0]
    """

    p: float = field(default=1.0, init=False, repr=False)


@dataclass(frozen=True)
class LogOnePlus(Price):
    r"""The price :math:`g(h) = \ln(1 + h)`, which rewards some positives at the very top.

    On the reverse heights of the positives it is the price of the IR Push, a convex surrogate for the
    discounted gains of information retrieval; with the exponential loss its total is convex in the scores.

    Rudin, *The P-Norm Push*, JMLR 10 (2009), section 7.

    Examples
    --------
    >>> LogOnePlus().value(np.array([0.0, 1.0])).round(4).tolist()
    [0.0, 0.6931]
    """

    convex: ClassVar[bool] = False
    homogeneous: ClassVar[bool] = False
    log_divisor: ClassVar[float | None] = None

    def value(self, inner_sum: Floats) -> Floats:
        """Return ``ln(1 + inner_sum)``."""
        prices: Floats = np.log1p(inner_sum)
        return prices

    def derivative(self, inner_sum: Floats) -> Floats:
        """Return ``1 / (1 + inner_sum)``."""
        return 1.0 / (1.0 + inner_sum)

    def second_derivative(self, inner_sum: Floats) -> Floats:
        """Return ``-1 / (1 + inner_sum) ** 2``."""
        return -1.0 / (1.0 + inner_sum) ** 2

    def terms(self, log_sums: Floats) -> Terms:
        """Return the prices from the logarithms of the sums, which may exceed any float."""
        first = sigmoid(log_sums)
        return Terms(0.0, softplus(log_sums), first, first * sigmoid(-log_sums))


@dataclass(frozen=True)
class ExponentialPrice(Price):
    r"""The price :math:`g(h) = e^h`, which pushes harder than every power.

    The log scale is :math:`\ln \sum_k e^{h_k}`; it lies between :math:`\max_k h_k` and that plus the
    logarithm of the number of rows.

    Rudin, *The P-Norm Push*, JMLR 10 (2009), section 2.

    Examples
    --------
    >>> ExponentialPrice().value(np.array([0.0, 1.0])).round(4).tolist()
    [1.0, 2.7183]
    """

    homogeneous: ClassVar[bool] = False
    log_divisor: ClassVar[float | None] = 1.0

    def value(self, inner_sum: Floats) -> Floats:
        """Return ``exp(inner_sum)``."""
        prices: Floats = np.exp(inner_sum)
        return prices

    derivative = second_derivative = value

    def terms(self, log_sums: Floats) -> Terms:
        """Return the exponentials in units of the largest one."""
        with np.errstate(over="ignore", invalid="ignore"):
            sums = np.exp(log_sums)
            shift = float(np.max(sums)) if sums.shape[0] else 0.0
            value = np.exp(sums - shift)
            return Terms(shift, value, sums * value, (sums + sums**2) * value)


@dataclass(frozen=True)
class Maximum(Price):
    r"""The price whose total is :math:`\max_k h_k`, the limit of :math:`(\sum_k h_k^p)^{1/p}`.

    It acts on the whole vector of inner sums, and the size of a positive weight does not matter. Its total
    has kinks: if several sums are largest, the subgradient divides among them equally.

    Agarwal, *The Infinite Push*, SDM 2011; Rudin, JMLR 10 (2009), section 2 (R_max).

    Examples
    --------
    >>> Maximum().total(np.log([1.0, 3.0]), 1.0, "raw").value.__round__(6)
    3.0
    """

    smooth: ClassVar[bool] = False
    homogeneous: ClassVar[bool] = True
    log_divisor: ClassVar[float | None] = 1.0

    def value(self, inner_sum: Floats) -> Floats:
        """Return the inner sums, the largest of which is the total."""
        return inner_sum

    def smoothed(self, temperature: float) -> SoftMaximum:
        """Return the soft maximum of the inner sums at a temperature."""
        return SoftMaximum(temperature)

    def derivative(self, inner_sum: Floats) -> Floats:
        """Return one, divided equally among the largest inner sums, and zero for the others."""
        largest = (inner_sum == np.max(inner_sum)).astype(inner_sum.dtype)
        divided: Floats = largest / np.sum(largest)
        return divided

    def second_derivative(self, inner_sum: Floats) -> Floats:
        """Return zeros."""
        zeros: Floats = np.zeros_like(inner_sum)
        return zeros

    def total(self, log_sums: Floats, weights: Floats | float, scale: Scale) -> PriceTotal:  # noqa: ARG002
        """Return the largest inner sum, or its logarithm, and a subgradient."""
        worst = float(np.max(log_sums))
        if worst == -np.inf:
            zeros = np.zeros_like(log_sums)
            return PriceTotal(0.0 if scale == "raw" else -np.inf, zeros, zeros, 0.0)
        with np.errstate(over="ignore"):
            value = worst if scale == "log" else float(np.exp(worst))
        unit = 1.0 if scale == "log" else value
        gradient = unit * self.derivative(log_sums)
        # As d exp(l) / dl = exp(l), on the raw scale the largest sums also curve in their logarithms.
        curvature = np.zeros_like(log_sums) if scale == "log" else gradient
        return PriceTotal(value, gradient, curvature, 0.0)


__all__ = ["ExponentialPrice", "Identity", "LogOnePlus", "Maximum", "Power"]

trust_in_files(*(globals()[name] for name in __all__))


def resolve(price: Price | str, what: str = "price") -> Price:
    """Return the price that a name such as ``"log_one_plus"`` stands for; an instance passes through."""
    resolved: Price = resolve_name(price, Price, [globals()[name] for name in __all__], what)
    return resolved


def check_declared(price: Price) -> None:
    """Raise unless a user's price has the properties that it declares, at the sums of ``INNER_SUMS``."""
    # A price that overrides total acts on the vector of inner sums, and cannot be checked sum by sum.
    cls = type(price)
    if cls.__module__.partition(".")[0] == "pushrank" or cls.total is not Price.total:
        return
    if price.convex and not price.monotonic:
        raise ValueError(
            f"the price {price!r} declares monotonic = False, and inner sums under such a price make no "
            "convex objective: declare convex = False too."
        )
    sign = 1.0 if price.monotonic else 0.0
    check_traits(price, "price", INNER_SUMS, sign, smooth=price.smooth, twice=price.smooth, names=dir(Price))


def check_monotonic(price: Price) -> None:
    """Raise if a price falls somewhere."""
    if not price.monotonic:
        raise ValueError(
            f"{price!r} falls somewhere, and steps along one weak ranker or coefficient at a time may then "
            "end uphill; use PushRanker(solver='lbfgs') or 'newton-cg'."
        )
