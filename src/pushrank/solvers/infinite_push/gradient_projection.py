r"""Gradient projection as Agarwal's paper prints it, with a dual variable for each pair.

Both of the paper's algorithms minimise

.. math::

    Q(a) = \tfrac12 \Bigl\| \sum_{ik} a_{ik} (x_i - \tilde x_k) \Bigr\|^2 - \sum_{ik} a_{ik} ,

over :math:`a \ge 0, \sum_k \max_i a_{ik} \le C / I` for the Infinite Push (figure 2), and over :math:`0 \le
a_{ik} \le C / I K` for RankSVM (figure 3), I and K being the numbers of positives and negatives. Step t goes
against the gradient by :math:`\eta_0 / \sqrt t` and back to the feasible set; the paper chose ``eta0`` from
1e-6 to 1e-2 by cross-validation. The answer is the iterate of the lowest Q, the start among them.

Figure 2 projects onto the ball of the l1,inf norm, which bounds :math:`\sum_k \max_i |a_{ik}|`, and then
clips at zero. That is not the nearest feasible point, which results from clipping first.

Agarwal, SDM 2011; Quattoni et al., *An efficient projection for l1,inf regularization*, ICML 2009.
"""

from collections.abc import Callable

import numpy as np

from pushrank._base.numeric import Floats
from pushrank._base.parallel import compiled
from pushrank.models import Model
from pushrank.pairs import BipartiteSample
from pushrank.solvers.infinite_push import tolerances
from pushrank.solvers.infinite_push.dual import InfinitePushDual, cost_per_positive
from pushrank.solvers.result import Certificate, CertifiedSolution

# This number of variables takes 80 MB, and a step about ten arrays of that size.
MAX_PAIRS = 10_000_000

# The paper starts at this fraction of the upper bounds of figure 3, for both problems.
START = 1e-3


def infinite_push_by_pairs(
    model: Model, sample: BipartiteSample, C: float, *, eta0: float, max_iter: int
) -> CertifiedSolution:
    """Run the algorithm of figure 2; rows with weights or more than 10 million pairs are a ValueError."""
    if sample.positive_weights is not None:
        raise ValueError(
            "solver='gradient-projection', figure 2 of Agarwal (2011), takes no sample_weight; solver='auto' "
            "solves the same problem with weights."
        )
    shape = _checked_shape(sample)
    budget = C / shape[0]

    def project(variables: Floats) -> Floats:
        return (np.sign(variables) * project_to_budget(np.abs(variables), budget)).clip(0.0)

    start = np.full(shape, START * budget / shape[1])
    variables = gradient_projection(model, sample, start, project, eta0, max_iter)
    dual = InfinitePushDual(model, sample, cost_per_positive(sample, C), "hinge")
    solution = dual.solution(variables.sum(axis=1), variables.sum(axis=0))
    by_row = sample.scatter(solution.alpha, -solution.beta)
    return CertifiedSolution(solution.coef, solution.certificate, max_iter, None, by_row)


def rank_svm_by_pairs(
    model: Model, sample: BipartiteSample, C: float, *, eta0: float, max_iter: int
) -> CertifiedSolution:
    """Run the algorithm of figure 3, in a box; a pair weighs the product of its rows' weights."""
    weights = np.ones(_checked_shape(sample))
    if sample.positive_weights is not None and sample.negative_weights is not None:
        weights = np.outer(sample.positive_weights, sample.negative_weights)
    bound = C / weights.sum() * weights

    def project(variables: Floats) -> Floats:
        return np.clip(variables, 0.0, bound)

    variables = gradient_projection(model, sample, START * bound, project, eta0, max_iter)
    coef, ascent, penalty = _coef_ascent_and_penalty(model, sample, variables)
    primal = penalty + float(np.vdot(bound, np.maximum(ascent, 0.0)))
    certificate = Certificate(primal, float(variables.sum()) - penalty)
    return CertifiedSolution(coef, certificate, max_iter, None)


def _checked_shape(sample: BipartiteSample) -> tuple[int, int]:
    shape = len(sample.positives), len(sample.negatives)
    if shape[0] * shape[1] > MAX_PAIRS:
        raise ValueError(
            f"gradient projection keeps a variable for each of {shape[0] * shape[1]:,} pairs, and takes at "
            f"most {MAX_PAIRS:,}; solver='auto' keeps none for a pair."
        )
    return shape


def gradient_projection(
    model: Model,
    sample: BipartiteSample,
    start: Floats,
    project: Callable[[Floats], Floats],
    eta0: float,
    max_iter: int,
) -> Floats:
    """Return the variables of the lowest Q, shape (I, K); ``project`` brings them to the feasible set."""
    variables = best = start
    lowest = np.inf
    for step in range(1, max_iter + 2):
        _, ascent, penalty = _coef_ascent_and_penalty(model, sample, variables)
        value = penalty - float(variables.sum())
        if value < lowest:
            best, lowest = variables, value
        # The last round only evaluates Q at the end.
        if step <= max_iter:
            variables = project(variables + eta0 / np.sqrt(step) * ascent)
    return best


def _coef_ascent_and_penalty(
    model: Model, sample: BipartiteSample, variables: Floats
) -> tuple[Floats, Floats, float]:
    """Return the coefficients that variables make, the negative gradient of Q, and half the squared norm."""
    coef = model.rmatvec(sample.scatter(variables.sum(axis=1), -variables.sum(axis=0)))
    scores = model.scores(coef)
    ascent = 1.0 - np.subtract.outer(*sample.gather(scores))
    return coef, ascent, 0.5 * model.squared_norm(coef, scores)


def project_to_budget(values: Floats, budget: float) -> Floats:
    r"""Return the nearest point with :math:`a \ge 0` and :math:`\sum_k \max_i a_{ik} \le c`, the budget."""
    # After clipping at zero each column is cut at a height, so that all columns lose the same sum, or all
    # they have, and the heights add up to the budget. Sorting the columns costs O(I K log I), and
    # a trial of that sum O(K log I) (Quattoni et al.).
    clipped = np.maximum(values, 0.0)
    if clipped.max(axis=0).sum() <= budget:
        return clipped
    descending = -np.sort(-clipped.T, axis=1)
    totals = np.cumsum(descending, axis=1)
    # A column that is cut at its next lower value loses so much.
    lost = totals.copy()
    lost[:, :-1] -= np.arange(1, len(clipped)) * descending[:, 1:]
    return np.asarray(np.minimum(clipped, column_heights(totals, lost, budget)))


@compiled()
def column_heights(totals, lost, budget):
    """Return where to cut each column of the values, which is a row of ``totals`` and ``lost``."""
    heights = np.zeros(len(lost))
    theta = 0.0
    # The sum of the heights is a convex, decreasing, piecewise linear function of what every column loses:
    # Newton's method from zero never goes too far, and ends after finitely many trials.
    while True:
        excess, slope = -budget, 0.0
        for k in range(len(lost)):
            heights[k] = 0.0
            if lost[k, -1] > theta:
                number = np.searchsorted(lost[k], theta)
                heights[k] = (totals[k, number] - theta) / (number + 1)
                slope += 1.0 / (number + 1)
            excess += heights[k]
        following = theta + excess / slope
        if excess <= tolerances.BUDGET_ROUNDING * budget or following <= theta:
            return heights
        theta = following
