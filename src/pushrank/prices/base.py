"""What every price offers: a total over the inner sums, with derivatives, in log space."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import ClassVar, Literal, NamedTuple

import numpy as np

from pushrank._array import Floats, namespace

Scale = Literal["raw", "log"]
SAFE = 300.0  # exponents below it neither overflow nor vanish, nor times a number of their size


class Terms(NamedTuple):
    """Prices of inner sums and their derivatives in the logarithm of the sum, over ``exp(shift)``."""

    shift: float
    value: Floats
    first: Floats
    second: Floats


class PriceTotal(NamedTuple):
    """The total price and its derivatives with respect to the logarithms of the inner sums.

    The Hessian is ``diag(curvature) - coupling * outer(shares, shares)``.
    """

    value: float
    shares: Floats
    curvature: Floats
    coupling: float


class Price(ABC):
    r"""A price :math:`g(h)` on an inner sum :math:`h`, totalled as :math:`\sum_k w_k\, g(h_k)`.

    A price is non-negative, convex or :math:`\ln(1+h)`, and grows with :math:`h`. A price of your own
    defines ``value``, ``derivative`` and ``second_derivative``, each elementwise; everything else follows.
    Built-in prices override ``terms`` to stay finite where :math:`g(h)` itself overflows.

    Attributes
    ----------
    smooth : bool
        Whether the total is differentiable, which gradient solvers need.
    convex : bool
        Whether it is convex, which a certificate of optimality needs.
    homogeneous : bool
        Whether the log scale of ``c * h`` is that of ``h`` plus ``ln c``, so that means make sense.
    log_divisor : float or None
        The :math:`m` of the log scale :math:`(1/m) \ln R`, or None where there is no such scale.
    """

    smooth: ClassVar[bool] = True
    convex: ClassVar[bool] = True
    homogeneous: ClassVar[bool] = False

    def smoothed(self, temperature: float) -> Price:  # noqa: ARG002
        """Return a price without kinks that approaches this one, from below, as the temperature falls."""
        if self.smooth:
            return self
        raise TypeError(
            f"{type(self).__name__} is not smooth and has no smoothed form to be learned by; a price of your "
            "own may define smoothed(temperature)."
        )

    @property
    def log_divisor(self) -> float | None:
        """The ``m`` of the log scale ``(1/m) ln R``; None where the price has no such scale."""
        return None

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
        sums = namespace(log_sums).exp(log_sums)
        first = sums * self.derivative(sums)
        return Terms(0.0, self.value(sums), first, first + sums**2 * self.second_derivative(sums))

    def total(self, log_sums: Floats, weights: Floats | float, scale: Scale) -> PriceTotal:
        """Return the total price and its derivatives with respect to ``log_sums``.

        Parameters
        ----------
        log_sums : ndarray of shape (n,)
            Natural logarithms of the inner sums; ``-inf`` for a sum of zero.
        weights : ndarray of shape (n,) or float
            Positive sample weights of the rows that the sums belong to.
        scale : {"raw", "log"}
            ``R`` itself, or ``(1/m) ln R``, where ``m`` is :attr:`log_divisor`.

        Returns
        -------
        PriceTotal
            The total, the shares of the sums in it, and how it curves.

        Raises
        ------
        ValueError
            When ``scale="log"`` and the price has no log scale.
        """
        divisor = self.log_divisor
        if scale == "log" and divisor is None:
            raise ValueError(
                f"{type(self).__name__} has no log scale; use scale='raw', or Power or ExponentialPrice."
            )
        shift, value, first, second = self.terms(log_sums)
        xp = namespace(log_sums)
        total = float(xp.sum(weights * value))
        if divisor is None or scale == "raw":
            scaled = float(_times_exp(np.asarray(total), shift))
            shares, curvature = (_times_exp(weights * part, shift) for part in (first, second))
            return PriceTotal(scaled, shares, curvature, 0.0)
        if total == 0.0:
            nothing = xp.zeros_like(log_sums)
            return PriceTotal(-np.inf, nothing, nothing, divisor)
        unit = weights / (divisor * total)
        return PriceTotal((shift + float(np.log(total))) / divisor, unit * first, unit * second, divisor)


def _times_exp(values: Floats, shift: float) -> Floats:
    """Return ``values * exp(shift)``; overflow gives infinity, and a value of zero stays zero."""
    if abs(shift) < SAFE:
        return values * float(np.exp(shift)) if shift else values
    xp = namespace(values)
    with np.errstate(over="ignore", divide="ignore"):
        scaled: Floats = xp.sign(values) * xp.exp(shift + xp.log(xp.abs(values)))
    return xp.where(values == 0.0, values, scaled) if np.ndim(values) else scaled
