r"""The primal and the dual of the Infinite Push.

The Infinite Push: every positive against the highest-scored negative, with its dual.

Minimise over w

.. math::

    P(w) = \tfrac12 \|w\|^2 + \sum_i c_i\, \ell(1 - w \cdot x_i + t), \qquad
    t = \max_k w \cdot \tilde x_k ,

with the hinge :math:`\ell(z) = z_+` or its square. The dual is to maximise

.. math::

    D(\alpha, \beta) = \sum_i \alpha_i - \tfrac12 \sum_i q_i \alpha_i^2
        - \tfrac12 \|X_+^T \alpha - X_-^T \beta\|^2 , \qquad
    0 \le \alpha_i \le u_i,\; \beta \ge 0,\; \sum \alpha = \sum \beta ,

with :math:`u = c, q = 0` for the hinge and :math:`u = \infty, q = 1 / 2c` for its square. Any feasible pair
of variables bounds the optimum, so that every answer comes with a certificate.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np

from pushrank._numeric import Floats
from pushrank.models import Model
from pushrank.pairs import BipartiteSample
from pushrank.solvers.result import Certificate

HingeLoss = Literal["hinge", "squared_hinge"]


def shared_costs(sample: BipartiteSample, total: float) -> Floats:
    """Return a total cost shared among the positives by their weights."""
    weights = sample.positive_weights
    if weights is None:
        return np.full(len(sample.positives), total / len(sample.positives))
    costs: Floats = total * weights / weights.sum()
    return costs


@dataclass(frozen=True, eq=False)
class DualPoint:
    """Feasible dual variables, the coefficients that they make, and the certificate.

    Attributes
    ----------
    alpha : ndarray of shape (I,)
        The positives' variables.
    beta : ndarray of shape (K,)
        The negatives'.
    coef : ndarray of shape (n_features,)
        ``X_+.T @ alpha - X_-.T @ beta``.
    certificate : Certificate
        The primal objective at ``coef`` and the dual at the variables.
    """

    alpha: Floats
    beta: Floats
    coef: Floats
    certificate: Certificate


class WorstNegative:
    """The primal and the dual objective on training data.

    Parameters
    ----------
    model : Model
        The data.
    sample : BipartiteSample
        The classes.
    costs : ndarray of shape (I,)
        The positive :math:`c_i`.
    loss : {"hinge", "squared_hinge"}
        The loss.
    """

    def __init__(self, model: Model, sample: BipartiteSample, costs: Floats, loss: HingeLoss) -> None:
        self.model, self.sample, self.costs = model, sample, costs
        self.squared = loss == "squared_hinge"
        self.upper = np.full_like(costs, np.inf) if self.squared else costs
        self.bend = 0.5 / costs if self.squared else np.zeros_like(costs)

    def certificate(self, alpha: Floats, coef: Floats, scores: Floats) -> Certificate:
        """Return both objectives at feasible variables, the coefficients they make, and all rows' scores."""
        of_positives, of_negatives = self.sample.gather(scores)
        shortfall = np.maximum(1.0 - of_positives + of_negatives.max(), 0.0)
        losses = shortfall**2 if self.squared else shortfall
        penalty = 0.5 * self.model.squared_norm(coef, scores)
        dual = alpha.sum() - 0.5 * (self.bend @ alpha**2) - penalty
        return Certificate(penalty + float(self.costs @ losses), float(dual))

    def at(self, alpha: Floats, beta: Floats) -> DualPoint:
        """Return the point of dual variables, made feasible: clipped, and beta scaled to the sum of alpha."""
        alpha = np.clip(alpha, 0.0, self.upper)
        beta = np.maximum(beta, 0.0)
        total, balance = float(alpha.sum()), float(beta.sum())
        if balance == 0.0 or total == 0.0:
            alpha, beta = np.zeros_like(alpha), np.zeros_like(beta)
        else:
            beta *= total / balance
        coef = self.model.rmatvec(self.sample.scatter(alpha, -beta))
        scores = self.model.scores(coef)
        return DualPoint(alpha, beta, coef, self.certificate(alpha, coef, scores))

    def improved(self, point: DualPoint, coef: Floats, scores: Floats) -> DualPoint:
        """Return the point with other coefficients, whose scores are given, if their objective is lower.

        Where a feature's unit is a million times the others', its coefficient is so small a difference of
        large sums over the dual variables that rounding leaves little of it.
        """
        primal = self.certificate(point.alpha, coef, scores).primal
        if primal >= point.certificate.primal:
            return point
        return DualPoint(point.alpha, point.beta, coef, Certificate(primal, point.certificate.dual))

    def nearby(self, point: DualPoint) -> DualPoint:
        """Return the best feasible multiple of another problem's variables, to start from."""
        size = self.bend @ point.alpha**2 + self.model.squared_norm(point.coef, self.model.scores(point.coef))
        factor = point.alpha.sum() / size if size > 0.0 else 0.0
        used = point.alpha > 0.0
        if used.any():
            factor = min(factor, float((self.upper[used] / point.alpha[used]).min()))
        return self.at(factor * point.alpha, factor * point.beta)
