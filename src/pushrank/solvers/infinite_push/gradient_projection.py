r"""Gradient projection as Agarwal's paper prints it, with a dual variable for each pair.

Both of the paper's algorithms minimise

.. math::

    Q(a) = \tfrac12 \Bigl\| \sum_{ik} a_{ik} (x_i - \tilde x_k) \Bigr\|^2 - \sum_{ik} a_{ik} ,

over :math:`a \ge 0, \sum_k \max_i a_{ik} \le C / I` for the Infinite Push (figure 2), and over :math:`0 \le
a_{ik} \le C / I K` for RankSVM (figure 3), I and K being the numbers of positives and negatives. A step goes
against the gradient and back to the feasible set.

With ``eta0`` it is the paper's algorithm: all variables start at :math:`C / (1000 I K)`, step t has the
length :math:`\eta_0 / \sqrt t`, there are ``max_iter`` steps (1,000 in the paper, which chose ``eta0`` from
1e-6 to 1e-2 by cross-validation), and the answer is the iterate of the lowest Q, the start among them.
Without it steps have the length :math:`10 / (L \sqrt t)` and start from zero, L being the largest eigenvalue
of the quadratic form, and the answer is the first iterate within ``tol`` of the optimum, or that of the least
gap.

The paper projects onto the ball of the l1,inf norm, which bounds :math:`\sum_k \max_i |a_{ik}|`, and then
clips at zero (``projection="paper"``). The nearest feasible point, which is another, results from clipping
first (``"nearest"``).

These solvers are for reproduction and hardly ever reach a small gap: :class:`pushrank.InfinitePush` and
:class:`pushrank.RankSVM` solve the same problems with a variable for each row.

Shivani Agarwal, *The Infinite Push*, SDM 2011; Ariadna Quattoni, Xavier Carreras, Michael Collins, Trevor
Darrell, *An efficient projection for l1,inf regularization*, ICML 2009.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal, NamedTuple

import numpy as np

from pushrank._numeric import Floats
from pushrank._parallel import compiled
from pushrank.models import Model
from pushrank.pairs import BipartiteSample
from pushrank.solvers.infinite_push.dual import InfinitePushDual, cost_per_positive
from pushrank.solvers.infinite_push.tolerances import BUDGET_ROUNDING
from pushrank.solvers.result import Callback, Certificate, CertifiedSolution

# So many variables take 80 MB, and a step about ten arrays of that size.
MAX_PAIRS = 10_000_000

# The eigenvalue sets a step length, for which two digits are plenty.
N_POWER_ITERATIONS = 20

# The paper starts at this fraction of the upper bounds of figure 3, for both problems.
START = 1e-3


class PairProblem(NamedTuple):
    """A problem with a dual variable for each pair, in arrays of shape (I, K).

    ``start`` is where the paper starts, ``project`` brings variables back to the feasible set, and ``risk``
    returns C times the risk of the pairs' hinges.
    """

    model: Model
    sample: BipartiteSample
    start: Floats
    project: Callable[[Floats], Floats]
    risk: Callable[[Floats], float]

    def coef_and_scores(self, variables: Floats) -> tuple[Floats, Floats]:
        """Return the coefficients that variables make, and the scores of all rows."""
        totals = self.sample.scatter(variables.sum(axis=1), -variables.sum(axis=0))
        coef = self.model.rmatvec(totals)
        return coef, self.model.scores(coef)

    def margins(self, scores: Floats) -> Floats:
        """Return how far each positive's score is above each negative's."""
        return np.subtract.outer(*self.sample.gather(scores))


def infinite_push_by_pairs(
    model: Model,
    sample: BipartiteSample,
    C: float,
    *,
    max_iter: int,
    eta0: float | None = None,
    projection: Literal["nearest", "paper"] = "paper",
    tol: float = 0.0,
    callback: Callback | None = None,
) -> CertifiedSolution:
    """Run the algorithm of figure 2.

    Raises
    ------
    ValueError
        When rows have weights, or there are more than 10 million pairs.
    """
    if sample.positive_weights is not None:
        raise ValueError(
            "figure 2 of Agarwal (2011) takes no sample_weight; use InfinitePush for the same problem."
        )
    n_positives, n_negatives = _checked_shape(sample)
    budget = C / n_positives

    def project(variables: Floats) -> Floats:
        if projection == "nearest":
            return project_to_budget(variables, budget)
        return (np.sign(variables) * project_to_budget(np.abs(variables), budget)).clip(0.0)

    def risk(hinges: Floats) -> float:
        return budget * float(hinges.sum(axis=0).max())

    start = np.full((n_positives, n_negatives), START * budget / n_negatives)
    problem = PairProblem(model, sample, start, project, risk)
    variables, _, n_iter = gradient_projection(problem, tol, max_iter, eta0, callback)
    dual = InfinitePushDual(model, sample, cost_per_positive(sample, C), "hinge")
    solution = dual.solution(variables.sum(axis=1), variables.sum(axis=0))
    by_row = sample.scatter(solution.alpha, -solution.beta)
    return CertifiedSolution(solution.coef, solution.certificate, n_iter, None, by_row)


def rank_svm_by_pairs(
    model: Model,
    sample: BipartiteSample,
    C: float,
    *,
    max_iter: int,
    eta0: float | None = None,
    tol: float = 0.0,
    callback: Callback | None = None,
) -> CertifiedSolution:
    """Run the algorithm of figure 3, whose feasible set is a box: the projection clips.

    A pair weighs the product of its rows' weights.

    Raises
    ------
    ValueError
        When there are more than 10 million pairs.
    """
    weights = np.ones(_checked_shape(sample))
    if sample.positive_weights is not None and sample.negative_weights is not None:
        weights = np.outer(sample.positive_weights, sample.negative_weights)
    upper_bound = C / weights.sum() * weights
    problem = PairProblem(
        model,
        sample,
        START * upper_bound,
        lambda variables: np.clip(variables, 0.0, upper_bound),
        lambda hinges: float(np.vdot(upper_bound, hinges)),
    )
    variables, certificate, n_iter = gradient_projection(problem, tol, max_iter, eta0, callback)
    return CertifiedSolution(problem.coef_and_scores(variables)[0], certificate, n_iter, None)


def _checked_shape(sample: BipartiteSample) -> tuple[int, int]:
    shape = len(sample.positives), len(sample.negatives)
    if shape[0] * shape[1] > MAX_PAIRS:
        raise ValueError(
            f"gradient projection keeps a variable for each of {shape[0] * shape[1]:,} pairs, and takes at "
            f"most {MAX_PAIRS:,}; use InfinitePush or RankSVM, which keep none for a pair."
        )
    return shape


def gradient_projection(
    problem: PairProblem,
    tol: float,
    max_iter: int,
    eta0: float | None = None,
    callback: Callback | None = None,
) -> tuple[Floats, Certificate, int]:
    """Return the best iterate's variables, shape (I, K), its certificate, and the number of steps.

    A step costs O(I K) time and memory, and for the Infinite Push O(I K log I) time for the projection.
    """

    def certified(variables: Floats) -> tuple[Floats, Certificate]:
        """Return the negative gradient of Q and the certificate."""
        coef, scores = problem.coef_and_scores(variables)
        ascent = 1.0 - problem.margins(scores)
        penalty = 0.5 * problem.model.squared_norm(coef, scores)
        primal = penalty + problem.risk(np.maximum(ascent, 0.0))
        return ascent, Certificate(primal, float(variables.sum()) - penalty)

    if eta0 is None:
        variables = np.zeros_like(problem.start)
        # The eigenvalue is zero where all rows are equal.
        length = 10.0 / max(_largest_eigenvalue(problem), 1e-300)
    else:
        variables, length = problem.start, eta0
    ascent, certificate = certified(variables)
    best, best_certificate, iteration = variables, certificate, 0
    while iteration < max_iter and (eta0 is not None or best_certificate.gap > tol):
        iteration += 1
        variables = problem.project(variables + length / np.sqrt(iteration) * ascent)
        ascent, certificate = certified(variables)
        # Q is the negative of the dual objective.
        if eta0 is None:
            better = certificate.gap < best_certificate.gap
        else:
            better = certificate.dual > best_certificate.dual
        if better:
            best, best_certificate = variables, certificate
        if callback is not None:
            callback(iteration, objective=certificate.primal, gap=certificate.gap)
    return best, best_certificate, iteration


def project_to_budget(values: Floats, budget: float) -> Floats:
    r"""Return the nearest point with :math:`a \ge 0` and :math:`\sum_k \max_i a_{ik} \le c`, the budget.

    Clipping at zero comes first. Then each column is cut at a :math:`\mu_k`, so that all columns lose the
    same sum :math:`\theta` (or all they have) and the :math:`\mu_k` add up to c. It costs O(I K log I) for
    sorting the columns, and O(K log I) a trial of :math:`\theta`.

    References
    ----------
    Quattoni et al., ICML 2009.

    Examples
    --------
    >>> project_to_budget(np.array([[3.0, 0.0], [1.0, 1.0]]), 2.0)
    array([[2., 0.],
           [1., 0.]])
    """
    clipped = np.maximum(values, 0.0)
    if clipped.max(axis=0).sum() <= budget:
        return clipped
    descending = -np.sort(-clipped.T, axis=1)
    totals = np.cumsum(descending, axis=1)
    # A column that is cut at its next lower value loses so much.
    lost = totals.copy()
    lost[:, :-1] -= np.arange(1, len(clipped)) * descending[:, 1:]
    nearest: Floats = np.minimum(clipped, column_heights(totals, lost, budget))
    return nearest


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
        if excess <= BUDGET_ROUNDING * budget or following <= theta:
            return heights
        theta = following


def _largest_eigenvalue(problem: PairProblem) -> float:
    """Return the largest eigenvalue of the quadratic form, by the power method."""
    vector = np.random.RandomState(0).standard_normal(problem.start.shape)
    value = 0.0
    for _ in range(N_POWER_ITERATIONS):
        norm = float(np.linalg.norm(vector))
        if norm == 0.0:
            break
        vector = problem.margins(problem.coef_and_scores(vector / norm)[1])
        value = float(np.linalg.norm(vector))
    return value
