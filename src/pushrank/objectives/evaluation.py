"""An objective at given scores: its value, gradient, and products with its Hessian."""

from __future__ import annotations

import math
from typing import NamedTuple, Protocol

import numpy as np

from pushrank._array import Floats, namespace
from pushrank.pairs import InnerSums
from pushrank.prices import PriceTotal


class ByClass(NamedTuple):
    """A vector over the rows of a sample, positives and negatives apart.

    Parameters
    ----------
    positives, negatives : ndarray of float64
        An entry for each positive, and for each negative, of the sample.

    Examples
    --------
    >>> one = ByClass(np.array([1.0]), np.array([2.0, 3.0]))
    >>> one.dot(one.times(2.0))
    28.0
    """

    positives: Floats
    negatives: Floats

    def plus(self, other: ByClass, factor: float = 1.0) -> ByClass:
        """Return ``self + factor * other``."""
        return ByClass(self.positives + factor * other.positives, self.negatives + factor * other.negatives)

    def times(self, factor: float) -> ByClass:
        """Return ``factor * self``."""
        return ByClass(factor * self.positives, factor * self.negatives)

    def dot(self, other: ByClass) -> float:
        """Return the inner product."""
        return float(self.positives @ other.positives + self.negatives @ other.negatives)

    def mirrored(self) -> ByClass:
        """Exchange the classes and negate: what turns a push into a pull."""
        return ByClass(-self.negatives, -self.positives)


class ObjectiveEvaluation(Protocol):
    """An objective at one point; every vector is over the scores, by class.

    Examples
    --------
    >>> from pushrank.objectives import PushObjective
    >>> from pushrank.pairs import BipartiteSample
    >>> sample = BipartiteSample.from_labels([1, 0])
    >>> at_point = PushObjective("logistic").evaluation(sample, np.zeros(2))
    >>> round(at_point.value, 4), at_point.gradient().positives.tolist()
    (0.6931, [-0.5])
    """

    @property
    def value(self) -> float:
        """The objective."""

    @property
    def euler_derivative(self) -> float:
        """The derivative in the logarithm of a factor of all inner sums: of a homogeneous one, the value."""

    def gradient(self) -> ByClass:
        """Return the gradient, or a subgradient where there are several."""

    def hessian_product(self, direction: ByClass) -> ByClass:
        """Return the Hessian times a direction."""

    def diagonal(self) -> ByClass:
        """Return non-negative weights of the rows by which the objective curves, to scale coordinates by."""


class Push:
    """The total price of the negatives' inner sums.

    Parameters
    ----------
    sums : InnerSums
        Of the loss, one for each negative, at some scores.
    total : PriceTotal
        The price of all of them, with its derivatives.

    Examples
    --------
    >>> from pushrank import losses, prices
    >>> from pushrank.pairs import BipartiteSample, log_inner_sums
    >>> sample = BipartiteSample.from_labels([1, 1, 0])
    >>> sums = log_inner_sums(losses.Exponential(), sample, np.zeros(3))
    >>> push = Push(sums, prices.Power(2).total(sums.log_sums, 1.0, "raw"))
    >>> round(push.value, 9), push.gradient().negatives.round(9).tolist()
    (4.0, [8.0])
    """

    def __init__(self, sums: InnerSums, total: PriceTotal) -> None:
        self._sums = sums
        self._total = total
        self.value = total.value

    @property
    def euler_derivative(self) -> float:
        """The sum of the shares."""
        return float(namespace(self._total.gradient).sum(self._total.gradient))

    def gradient(self) -> ByClass:
        """Return the gradient."""
        return ByClass(*self._sums.adjoint_product(self._total.gradient))

    def hessian_product(self, direction: ByClass) -> ByClass:
        """Return the Hessian times a direction, by the chain rule through the log inner sums."""
        _, shares, curvature, coupling = self._total
        change = self._sums.jacobian_product(*direction)
        bent = curvature * change - (coupling * (shares @ change)) * shares
        return ByClass(*self._sums.adjoint_product(bent)).plus(
            ByClass(*self._sums.curvature_product(shares, *direction))
        )

    def diagonal(self) -> ByClass:
        """Return the curvature weights of the rows."""
        return ByClass(*self._sums.diagonal(self._total.gradient, self._total.curvature))

    def pair_shares(self, high: ByClass) -> tuple[float, float, float]:
        r"""Return the shares of the pairs that a ranker in {0, 1} orders rightly, wrongly, and not at all.

        On the log scale of RankBoost's objective they are the paper's :math:`d_+, d_-, d_0`.
        """
        nowhere = np.zeros_like(high.negatives)
        of_high = -self._sums.jacobian_product(high.positives, nowhere)
        of_low = -self._sums.jacobian_product(1.0 - high.positives, nowhere)
        in_high, in_low = self._total.gradient * high.negatives, self._total.gradient * (1.0 - high.negatives)
        return float(of_high @ in_low), float(of_low @ in_high), float(of_high @ in_high + of_low @ in_low)


class Mirrored:
    """A pull: the push of the exchanged classes at negated scores."""

    def __init__(self, push: ObjectiveEvaluation) -> None:
        self._push = push
        self.value = push.value

    @property
    def euler_derivative(self) -> float:
        """That of the push."""
        return self._push.euler_derivative

    def gradient(self) -> ByClass:
        """Return the gradient."""
        return self._push.gradient().mirrored()

    def hessian_product(self, direction: ByClass) -> ByClass:
        """Return the Hessian times a direction."""
        return self._push.hessian_product(direction.mirrored()).mirrored()

    def diagonal(self) -> ByClass:
        """Return the curvature weights of the rows."""
        of_push = self._push.diagonal()
        return ByClass(of_push.negatives, of_push.positives)


class Sum:
    """``first + weight * second``."""

    def __init__(self, first: ObjectiveEvaluation, second: ObjectiveEvaluation, weight: float) -> None:
        self._first, self._second, self._weight = first, second, weight
        self.value = first.value + weight * second.value

    @property
    def euler_derivative(self) -> float:
        """The weighted sum."""
        return self._first.euler_derivative + self._weight * self._second.euler_derivative

    def gradient(self) -> ByClass:
        """Return the gradient."""
        return self._first.gradient().plus(self._second.gradient(), self._weight)

    def hessian_product(self, direction: ByClass) -> ByClass:
        """Return the Hessian times a direction."""
        return self._first.hessian_product(direction).plus(
            self._second.hessian_product(direction), self._weight
        )

    def diagonal(self) -> ByClass:
        """Return the curvature weights of the rows."""
        return self._first.diagonal().plus(self._second.diagonal(), self._weight)


class LogSum:
    r"""The log scale of a sum, :math:`(1/m) \ln(e^{m F_1} + c\, e^{m F_2})`, from those of its terms."""

    def __init__(
        self, first: ObjectiveEvaluation, second: ObjectiveEvaluation, weight: float, divisor: float
    ) -> None:
        self._terms = (first, second)
        self._divisor = divisor
        exponents = divisor * np.array([first.value, second.value]) + np.log([1.0, weight])
        total = float(np.logaddexp(*exponents))
        self.value = total / divisor
        self._portions = np.exp(exponents - total).tolist() if np.isfinite(total) else [0.0, 0.0]

    @property
    def euler_derivative(self) -> float:
        """The mean of the terms', by their portions of the sum."""
        return math.fsum(
            portion * term.euler_derivative for portion, term in zip(self._portions, self._terms, strict=True)
        )

    def gradient(self) -> ByClass:
        """Return the gradient."""
        first, second = self._terms
        return first.gradient().times(self._portions[0]).plus(second.gradient(), self._portions[1])

    def hessian_product(self, direction: ByClass) -> ByClass:
        """Return the Hessian times a direction."""
        product = self.gradient().times(-self._divisor * self.gradient().dot(direction))
        for term, portion in zip(self._terms, self._portions, strict=True):
            slope = term.gradient()
            product = product.plus(term.hessian_product(direction), portion).plus(
                slope, portion * self._divisor * slope.dot(direction)
            )
        return product

    def diagonal(self) -> ByClass:
        """Return the curvature weights of the rows."""
        first, second = self._terms
        return first.diagonal().times(self._portions[0]).plus(second.diagonal(), self._portions[1])


class Scaled:
    """``factor * F`` for an objective F."""

    def __init__(self, objective: ObjectiveEvaluation, factor: float) -> None:
        self._objective, self._factor = objective, factor
        self.value = factor * objective.value

    @property
    def euler_derivative(self) -> float:
        """The factor times that of F."""
        return self._factor * self._objective.euler_derivative

    def gradient(self) -> ByClass:
        """Return the gradient."""
        return self._objective.gradient().times(self._factor)

    def hessian_product(self, direction: ByClass) -> ByClass:
        """Return the Hessian times a direction."""
        return self._objective.hessian_product(direction).times(self._factor)

    def diagonal(self) -> ByClass:
        """Return the curvature weights of the rows."""
        return self._objective.diagonal().times(self._factor)


class ExpOf:
    r"""The objective :math:`e^{F - F_0}` of a log-scale objective F: a power mean of the inner sums."""

    def __init__(self, log_scale: ObjectiveEvaluation, log_unit: float) -> None:
        self._log_scale = log_scale
        with np.errstate(over="ignore"):
            self.value = float(np.exp(np.float64(log_scale.value - log_unit)))

    @property
    def euler_derivative(self) -> float:
        """The value times that of F."""
        return self.value * self._log_scale.euler_derivative

    def gradient(self) -> ByClass:
        """Return the gradient."""
        return self._log_scale.gradient().times(self.value)

    def hessian_product(self, direction: ByClass) -> ByClass:
        """Return the Hessian times a direction."""
        slope = self._log_scale.gradient()
        bent = self._log_scale.hessian_product(direction)
        return bent.plus(slope, slope.dot(direction)).times(self.value)

    def diagonal(self) -> ByClass:
        """Return the curvature weights of the rows."""
        return self._log_scale.diagonal().times(self.value)
