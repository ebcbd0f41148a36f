r"""The Infinite Push and its dual, whose objectives bound each other; their difference is the duality gap.

To the problem of :class:`pushrank.InfinitePush`, with a :math:`C_i > 0` for every positive in place of
:math:`C / I`, the dual is to maximise

.. math::

    D(\alpha, \beta) = \sum_i \alpha_i - \tfrac12 \sum_i q_i \alpha_i^2
        - \tfrac12 \|X_+^T \alpha - X_-^T \beta\|^2 , \qquad
    0 \le \alpha_i \le u_i,\; \beta \ge 0,\; \sum_i \alpha_i = \sum_k \beta_k ,

with the upper bounds :math:`u_i = C_i` and no quadratic term, q = 0, for the hinge, and :math:`u_i = \infty`,
:math:`q_i = 1 / 2 C_i` for its square. At the optimum :math:`w = X_+^T \alpha - X_-^T \beta`.
"""

from dataclasses import dataclass
from functools import partial
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from pushrank._base.numeric import Floats
from pushrank._base.parallel import compiled
from pushrank.models import Model
from pushrank.pairs import BipartiteSample
from pushrank.solvers.infinite_push import tolerances
from pushrank.solvers.result import Certificate

HingeLoss = Literal["hinge", "squared_hinge"]


def cost_per_positive(sample: BipartiteSample, C: float) -> Floats:
    """Return the :math:`C_i` of the positives: C divided among them in proportion to their weights."""
    weights = np.ones(len(sample.positives)) if sample.positive_weights is None else sample.positive_weights
    return np.asarray(C * weights / weights.sum())


@dataclass(frozen=True, eq=False)
class DualSolution:
    """Feasible dual variables with the coefficients that they make, and a certificate."""

    # `alpha` belongs to the positives and `beta` to the negatives. `coef` is `X_+.T @ alpha - X_-.T @ beta`,
    # unless `InfinitePushDual.with_better_coef` replaced it.

    alpha: Floats
    beta: Floats
    coef: Floats
    certificate: Certificate


class RowConstraints(NamedTuple):
    """Each row's sign in the coefficients, zero without weight, its variable's upper bound, its q and C."""

    sign: NDArray[np.int8]
    upper_bound: Floats
    quadratic: Floats
    C: Floats


class InfinitePushDual:
    """The primal and the dual objective on training data; the C, u and q are those of the positives."""

    def __init__(self, model: Model, sample: BipartiteSample, sample_C: Floats, loss: HingeLoss) -> None:
        self.model, self.sample, self.sample_C = model, sample, sample_C
        self.squared = loss == "squared_hinge"
        self.upper_bound = np.full_like(sample_C, np.inf) if self.squared else sample_C
        self.quadratic = 0.5 / sample_C if self.squared else np.zeros_like(sample_C)

    def certificate(self, alpha: Floats, coef: Floats, scores: Floats) -> Certificate:
        """Return the certificate of the positives' variables, for coefficients and the scores of all rows."""
        positive_scores, negative_scores = self.sample.gather(scores)
        shortfall = np.maximum(1.0 - positive_scores + negative_scores.max(), 0.0)
        losses = shortfall**2 if self.squared else shortfall
        penalty = 0.5 * self.model.squared_norm(coef, scores)
        dual = alpha.sum() - 0.5 * (self.quadratic @ alpha**2) - penalty
        return Certificate(penalty + float(self.sample_C @ losses), float(dual))

    def solution(self, alpha: Floats, beta: Floats) -> DualSolution:
        """Return the solution of variables, which are made feasible by clipping and by scaling beta."""
        alpha = np.clip(alpha, 0.0, self.upper_bound)
        beta = np.maximum(beta, 0.0)
        alpha_sum, beta_sum = float(alpha.sum()), float(beta.sum())
        # The sums of alpha and beta have to be equal, which zeros on one side allow for zeros alone.
        if beta_sum == 0.0 or alpha_sum == 0.0:
            alpha, beta = np.zeros_like(alpha), np.zeros_like(beta)
        else:
            beta *= alpha_sum / beta_sum
        coef = self.model.rmatvec(self.sample.scatter(alpha, -beta))
        scores = self.model.scores(coef)
        return DualSolution(alpha, beta, coef, self.certificate(alpha, coef, scores))

    def zero(self) -> DualSolution:
        return self.solution(np.zeros(len(self.sample.positives)), np.zeros(len(self.sample.negatives)))

    def with_better_coef(self, solution: DualSolution, coef: Floats, scores: Floats) -> DualSolution:
        """Return a solution with other coefficients, of known scores, if their objective is lower."""
        # A feature whose unit is a million times the others' has a coefficient that is a small difference of
        # large sums over the dual variables, and is lost in their rounding.
        primal = self.certificate(solution.alpha, coef, scores).primal
        if primal >= solution.certificate.primal:
            return solution
        certificate = Certificate(primal, solution.certificate.dual)
        return DualSolution(solution.alpha, solution.beta, coef, certificate)

    def refined(self, solution: DualSolution) -> DualSolution:
        """Return a solution after the best step along the gradient of the dual, if that raises the dual."""
        # The gradient is in units of the variables, so that none leaves its bounds, and keeps their sums
        # equal. A feature in much smaller units than the others magnifies the rounding of the variables;
        # where it does so its own curvature exceeds all others', and one step takes the error away.
        alpha, beta = solution.alpha, solution.beta
        positive_scores, negative_scores = self.sample.gather(self.model.scores(solution.coef))
        rates = 1.0 - positive_scores - self.quadratic * alpha
        room = np.minimum(alpha, self.upper_bound - alpha)
        total = room.sum() + beta.sum()
        if total == 0.0:
            return solution
        shift = (room @ rates - beta @ negative_scores) / total
        step_a, step_b = room * (rates - shift), beta * (negative_scores + shift)
        coef = self.model.rmatvec(self.sample.scatter(step_a, -step_b))
        curvature = self.model.squared_norm(coef) + self.quadratic @ step_a**2
        if curvature == 0.0:
            return solution
        length = (rates @ step_a + negative_scores @ step_b) / curvature
        moved = self.solution(alpha + length * step_a, beta + length * step_b)
        return moved if moved.certificate.dual > solution.certificate.dual else solution

    def rescaled(self, other: DualSolution) -> DualSolution:
        """Return the best feasible multiple of a solution for another C, which is a start for this one."""
        # Along the ray through the solution the dual is a parabola, with its maximum at the ratio of the
        # linear to the quadratic term.
        quadratic = self.quadratic @ other.alpha**2
        quadratic += self.model.squared_norm(other.coef, self.model.scores(other.coef))
        factor = other.alpha.sum() / quadratic if quadratic > 0.0 else 0.0
        used = other.alpha > 0.0
        if used.any():
            factor = min(factor, float((self.upper_bound[used] / other.alpha[used]).min()))
        return self.solution(factor * other.alpha, factor * other.beta)

    def row_constraints(self) -> RowConstraints:
        """Return the constraints of all rows' variables, in the order of the rows."""
        sample, zeros = self.sample, np.zeros(len(self.sample.negatives))
        return RowConstraints(
            sample.scatter(np.ones_like(self.sample_C), zeros - 1.0).astype(np.int8),
            sample.scatter(self.upper_bound, zeros + np.inf),
            sample.scatter(self.quadratic, zeros),
            sample.scatter(self.sample_C, zeros),
        )


def project_to_feasible(
    alpha: Floats, beta: Floats, upper_bound: Floats, rates: Floats | float = 1.0
) -> tuple[Floats, Floats]:
    r"""Return the nearest point with :math:`0 \le \alpha \le u`, :math:`\beta \ge 0` and equal sums."""
    # Alpha is clip(rates * (a - shift), 0, u) and beta the positive part of b + shift, for the zero of a
    # decreasing, piecewise linear function of the shift, which about ten steps of Newton's method in a
    # bracket find. Rates r below one add (1 / r - 1) alpha^2 / 2 to half the squared distance.
    rates = np.broadcast_to(rates, alpha.shape)
    excess_and_slope = partial(_excess_and_slope, alpha, beta, upper_bound, np.ascontiguousarray(rates))

    # At the lower end no beta is positive and every bounded alpha is at its bound, so that the excess is not
    # negative; at the upper end no alpha is positive. Without bounds the loop below looks for a lower end.
    low, high = min(float(-beta.max()), float(alpha.max()) - 1.0), float(alpha.max())
    if np.isfinite(upper_bound).all():
        low = min(low, float((alpha - upper_bound).min()))
    while excess_and_slope(low)[0] < 0.0:
        low -= max(1.0, high - low)
    at = 0.0 if low <= 0.0 <= high else high
    for _ in range(tolerances.MAX_PROJECTION_TRIALS):
        excess, slope = excess_and_slope(at)
        if excess == 0.0:
            break
        low, high = (at, high) if excess > 0.0 else (low, at)
        newton = at + excess / slope if slope > 0.0 else np.inf
        following = newton if low < newton < high else 0.5 * (low + high)
        narrow = tolerances.BRACKET_ROUNDING * max(abs(low), abs(high))
        if following in (at, low, high) or high - low <= narrow:
            break
        at = following
    return np.clip(rates * (alpha - at), 0.0, upper_bound), np.maximum(beta + at, 0.0)


@compiled(fastmath={"reassoc", "contract", "nsz"})
def _excess_and_slope(alpha, beta, upper_bound, rates, shift):
    """Return the sum of alpha less that of beta after a shift, and how fast it falls with the shift."""
    excess, slope = 0.0, 0.0
    for i in range(len(alpha)):
        moved = rates[i] * (alpha[i] - shift)
        excess += min(max(moved, 0.0), upper_bound[i])
        slope += rates[i] if 0.0 < moved < upper_bound[i] else 0.0
    for k in range(len(beta)):
        raised = beta[k] + shift
        excess -= max(raised, 0.0)
        slope += 1.0 if raised > 0.0 else 0.0
    return excess, slope
