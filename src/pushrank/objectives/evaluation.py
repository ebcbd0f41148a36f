"""An objective at some scores: its value, gradient, and products with its Hessian.

A push is the price of log inner sums, by the chain rule. Everything else is made of pushes: a pull is a push
with the classes exchanged and the scores negated, and sums and scales are functions of one or two objectives.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from pushrank._base.user_types import Floats
from pushrank.pairs import InnerSums
from pushrank.pairs.samples import ByClass
from pushrank.prices import PriceTotal


class ObjectiveEvaluation(Protocol):
    """An objective at one point; every vector is over the scores, by class."""

    @property
    def value(self) -> float:
        """The objective."""

    @property
    def euler_derivative(self) -> float:
        r"""The derivative of :math:`F(e^a h)` in a at 0, h the inner sums; the value of F if homogeneous."""

    def gradient(self) -> ByClass:
        """Return the gradient, or a subgradient at a kink."""

    def hessian_product(self, direction: ByClass) -> ByClass:
        """Return the Hessian times a direction."""

    def diagonal(self) -> ByClass:
        """Return non-negative weights of the rows that follow the curvature, to scale coordinates by."""

    def majoriser(self) -> ByClass:
        """Return a diagonal D above the Hessian H: ``v @ H @ v <= v @ D @ v`` for every v."""


class PushEvaluation:
    """The total price of the negatives' inner sums; the methods are those of :class:`ObjectiveEvaluation`."""

    def __init__(self, sums: InnerSums, total: PriceTotal) -> None:
        self._sums = sums
        self._total = total
        self.value = total.value

    @property
    def euler_derivative(self) -> float:
        return float(np.sum(self._total.gradient))

    def gradient(self) -> ByClass:
        return ByClass(*self._sums.adjoint_product(self._total.gradient))

    def hessian_product(self, direction: ByClass) -> ByClass:
        price_change = self._price_change(self._sums.jacobian_product(*direction))
        price_part = ByClass(*self._sums.adjoint_product(price_change))
        return price_part.plus(ByClass(*self._sums.curvature_product(self._total.gradient, *direction)))

    def _price_change(self, change: Floats) -> Floats:
        """Return its Hessian, diag(curved) - coupling * outer(gradient, gradient), times a vector."""
        _, gradient, _, coupling = self._total
        return self._total.curved * change - (coupling * (gradient @ change)) * gradient

    def diagonal(self) -> ByClass:
        # A falling price would give negative weights. To scale coordinates its slope counts as if it rose.
        return ByClass(*self._sums.diagonal(abs(self._total.gradient), self._total.curved))

    def majoriser(self) -> ByClass:
        return ByClass(*self._sums.majoriser(self._total.gradient, self._total.curved, self._total.coupling))

    def pair_weights(self, outputs: ByClass) -> tuple[float, float, float]:
        """Return the weights of the pairs that a ranker in {0, 1} orders rightly, wrongly, and not at all."""
        # For the exponential loss d ln h_k / d s_i is minus the part of pair (i, k) in h_k.
        zeros, gradient = np.zeros_like(outputs.negatives), self._total.gradient
        ones_part = -self._sums.jacobian_product(outputs.positives, zeros)
        zeros_part = -self._sums.jacobian_product(1.0 - outputs.positives, zeros)
        ones, rest = gradient * outputs.negatives, gradient * (1.0 - outputs.negatives)
        neither = float(ones_part @ ones + zeros_part @ rest)
        return float(ones_part @ rest), float(zeros_part @ ones), neither


class Mirrored:
    """A pull: a push of exchanged classes and negated scores, as a function of the scores."""

    def __init__(self, push: ObjectiveEvaluation) -> None:
        self._push = push
        self.value = push.value

    @property
    def euler_derivative(self) -> float:
        return self._push.euler_derivative

    def gradient(self) -> ByClass:
        return self._push.gradient().mirrored()

    def hessian_product(self, direction: ByClass) -> ByClass:
        return self._push.hessian_product(direction.mirrored()).mirrored()

    # Negation of the scores changes neither.
    def diagonal(self) -> ByClass:
        return ByClass(*reversed(self._push.diagonal()))

    def majoriser(self) -> ByClass:
        return ByClass(*reversed(self._push.majoriser()))


@dataclass(frozen=True, eq=False)
class Composite:
    r"""A function :math:`\varphi(F_1, \dots, F_m)` of objectives, the terms."""

    # The slopes, the derivatives in each term, are non-negative; the curvature holds the second derivatives,
    # shape (m, m), or is None if they are all zero.

    value: float
    terms: Sequence[ObjectiveEvaluation]
    slopes: Sequence[float]
    curvature: Floats | None = None

    @property
    def euler_derivative(self) -> float:
        parts = zip(self.slopes, self.terms, strict=True)
        return math.fsum(slope * term.euler_derivative for slope, term in parts)

    def gradient(self) -> ByClass:
        return _weighted_sum([term.gradient() for term in self.terms], self.slopes)

    def hessian_product(self, direction: ByClass) -> ByClass:
        product = _weighted_sum([term.hessian_product(direction) for term in self.terms], self.slopes)
        if self.curvature is None:
            return product
        gradients = [term.gradient() for term in self.terms]
        changes = self.curvature @ np.array([gradient.dot(direction) for gradient in gradients])
        return product.plus(_weighted_sum(gradients, changes.tolist()))

    def diagonal(self) -> ByClass:
        return _weighted_sum([term.diagonal() for term in self.terms], self.slopes)

    def majoriser(self) -> ByClass:
        """Return a diagonal above the Hessian."""
        # The curvature C adds sum_jl C_jl x_j x_l to the Hessians of the terms, with x_j = g_j v for their
        # gradients g_j. It is at most sum_j (sum_l |C_jl|) x_j^2, and by Cauchy and Schwarz x_j^2 is at most
        # |g_j|_1 sum_r |g_jr| v_r^2.
        total = _weighted_sum([term.majoriser() for term in self.terms], self.slopes)
        if self.curvature is None:
            return total
        for term, bound in zip(self.terms, np.abs(self.curvature).sum(axis=1), strict=True):
            size = ByClass(*map(abs, term.gradient()))
            total = total.plus(size, float(bound * (size.positives.sum() + size.negatives.sum())))
        return total


def weighted_sum(terms: Sequence[ObjectiveEvaluation], weights: Sequence[float]) -> Composite:
    r"""Return :math:`\sum_j c_j F_j`."""
    value = sum(weight * term.value for weight, term in zip(weights, terms, strict=True))
    return Composite(value, terms, weights)


def log_sum(terms: Sequence[ObjectiveEvaluation], weights: Sequence[float], divisor: float) -> Composite:
    r"""Return :math:`(1/m) \ln \sum_j c_j e^{m F_j}`, the log scale of a sum from those of its terms."""
    # The values are logarithms: their exponentials could overflow, and are never formed.
    exponents = divisor * np.array([term.value for term in terms]) + np.log(weights)
    total = float(np.logaddexp.reduce(exponents))
    # Losses that are all zero leave nothing to divide, and a gradient of zero.
    softmax = np.exp(exponents - total) if np.isfinite(total) else np.zeros(len(terms))
    curvature = divisor * (np.diag(softmax) - np.outer(softmax, softmax))
    return Composite(total / divisor, terms, softmax.tolist(), curvature)


def power_mean(log_scale: ObjectiveEvaluation, log_unit: float) -> Composite:
    r"""Return :math:`e^{F - F_0}` for a log-scale objective F: a power mean of the inner sums."""
    # The mean may overflow, and is infinite then.
    with np.errstate(over="ignore"):
        value = float(np.exp(np.float64(log_scale.value - log_unit)))
    return Composite(value, [log_scale], [value], np.array([[value]]))


def _weighted_sum(vectors: Sequence[ByClass], weights: Sequence[float]) -> ByClass:
    # A factor of one is left out, which spares a copy of the most frequent case.
    total = vectors[0] if weights[0] == 1.0 else vectors[0].times(weights[0])
    for vector, weight in zip(vectors[1:], weights[1:], strict=True):
        total = total.plus(vector, weight)
    return total
