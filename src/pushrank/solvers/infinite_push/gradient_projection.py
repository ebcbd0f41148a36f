r"""Gradient projection as Agarwal's paper prints it, with a dual variable for each pair; for reproduction.

Both of the paper's algorithms minimise

.. math::

    Q(a) = \tfrac12 \Bigl\| \sum_{ik} a_{ik} (x_i - \tilde x_k) \Bigr\|^2 - \sum_{ik} a_{ik} ,

over :math:`a \ge 0, \sum_k \max_i a_{ik} \le C / I` for the Infinite Push (figure 2), and over :math:`0 \le
a_{ik} \le C / I K` for RankSVM (figure 3); of grades, groups and explicit pairs each pair has such a
variable, of at most C times its fraction of all weight. A step goes against the gradient and back to the
feasible set.

With ``eta0`` it is the paper's algorithm: all variables start at :math:`C / (1000 I K)`, step t goes
:math:`\eta_0 / \sqrt t`, there are as many steps as are asked for (1,000 in the paper's experiments), and
the answer is the iterate of the lowest Q, the start among them. Without it steps go :math:`10 / (L \sqrt t)`
from zero, L being the largest eigenvalue of the quadratic form, and the answer is the first iterate within
``tol`` of the optimum, or that of the least gap.

The paper projects onto the ball of the l1,inf norm, which bounds :math:`\sum_k \max_i |a_{ik}|`, and then
clips at zero (``projection="paper"``); the nearest feasible point, which is found by clipping first, is
another (``"nearest"``).

Shivani Agarwal, *The Infinite Push*, SDM 2011; Ariadna Quattoni, Xavier Carreras, Michael Collins, Trevor
Darrell, *An efficient projection for l1,inf regularization*, ICML 2009.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from pushrank._numeric import Floats
from pushrank._parallel import compiled
from pushrank.models import Model
from pushrank.pairs import BipartiteSample, CrucialSample, GradedSample, Sample
from pushrank.pairs.samples import RowNumbers
from pushrank.solvers.infinite_push.dual import InfinitePushDual, cost_per_positive
from pushrank.solvers.result import Callback, Certificate, CertifiedSolution

PROJECTIONS = ("nearest", "paper")
MAX_PAIRS = 10_000_000  # 80 MB for the variables, and about ten arrays of that size
N_POWER_ITERATIONS = 20  # the eigenvalue sets a step length: two digits are plenty
START = 1e-3  # of the upper bounds
BUDGET_ROUNDING = 1e-14  # of the budget: as far as floats reach


class Pairs(NamedTuple):
    """All pairs to be compared, by what leads from vectors over the rows to vectors over them and back."""

    weights: Floats  # shape (n_pairs,)
    margins: Callable[[Floats], Floats]  # from the scores of all rows
    totals: Callable[[Floats], Floats]  # what each row is given by its pairs, less what it is taken


class PairProblem(NamedTuple):
    """A problem with a dual variable for each pair."""

    pairs: Pairs
    start: Floats  # where the paper starts
    project: Callable[[Floats], Floats]  # brings variables back to the feasible set
    risk: Callable[[Floats], float]  # of the pairs' hinges, times C


def infinite_push_by_pairs(
    model: Model,
    sample: Any,
    C: float,
    callback: Callback | None = None,
    state: Any = None,  # noqa: ARG001
    *,
    tol: float,
    max_iter: int,
    eta0: float | None = None,
    projection: str = "nearest",
) -> CertifiedSolution:
    """Run the algorithm of figure 2; every C starts anew."""
    if sample.positive_weights is not None:
        raise ValueError(
            "solver='gradient-projection' of the Infinite Push takes no sample_weight; use solver='auto'."
        )
    pairs = all_pairs(sample)
    shape = len(sample.positives), len(sample.negatives)
    budget = C / shape[0]

    def project(variables: Floats) -> Floats:
        values = variables.reshape(shape)
        if projection == "nearest":
            return project_to_budget(values, budget).ravel()
        return (np.sign(values) * project_to_budget(np.abs(values), budget)).clip(0.0).ravel()

    def risk(hinges: Floats) -> float:
        return budget * float(hinges.reshape(shape).sum(axis=0).max())

    problem = PairProblem(pairs, START * budget / shape[1] * pairs.weights, project, risk)
    variables, _, n_iter = gradient_projection(problem, model, tol, max_iter, eta0, callback)
    dual = InfinitePushDual(model, sample, cost_per_positive(sample, C), "hinge")
    values = variables.reshape(shape)
    found = dual.solution(values.sum(axis=1), values.sum(axis=0))
    return CertifiedSolution(
        found.coef, found.certificate, n_iter, None, sample.scatter(found.alpha, -found.beta)
    )


def rank_svm_by_pairs(
    model: Model,
    sample: Sample,
    C: float,
    callback: Callback | None = None,
    *,
    tol: float,
    max_iter: int,
    eta0: float | None = None,
) -> CertifiedSolution:
    """Run the algorithm of figure 3, whose feasible set is a box: the projection clips."""
    pairs = all_pairs(sample)
    upper_bound = C / pairs.weights.sum() * pairs.weights
    problem = PairProblem(
        pairs,
        START * upper_bound,
        lambda variables: np.clip(variables, 0.0, upper_bound),
        lambda hinges: float(upper_bound @ hinges),
    )
    variables, certificate, n_iter = gradient_projection(problem, model, tol, max_iter, eta0, callback)
    coef, _ = _coef_and_scores(problem, model, variables)
    return CertifiedSolution(coef, certificate, n_iter, None)


def all_pairs(sample: Sample) -> Pairs:
    """Return the pairs of a sample; of two classes those of a positive stand together.

    Raises
    ------
    ValueError
        When there are more than 10 million pairs.
    """
    if isinstance(sample, BipartiteSample):
        shape = len(sample.positives), len(sample.negatives)
        _check_n_pairs(shape[0] * shape[1])
        weights = np.ones(shape)
        if sample.positive_weights is not None and sample.negative_weights is not None:
            weights = np.outer(sample.positive_weights, sample.negative_weights)

        def class_totals(variables: Floats) -> Floats:
            values = variables.reshape(shape)
            return sample.scatter(values.sum(axis=1), -values.sum(axis=0))

        return Pairs(
            weights.ravel(), lambda scores: np.subtract.outer(*sample.gather(scores)).ravel(), class_totals
        )
    better, worse, pair_weights = _listed_pairs(sample)
    if sample.row_weights is not None:
        pair_weights = pair_weights * sample.row_weights[better] * sample.row_weights[worse]

    def totals(variables: Floats) -> Floats:
        won, lost = (np.bincount(rows, variables, sample.n_rows) for rows in (better, worse))
        return (won - lost).astype(np.float64)

    return Pairs(pair_weights, lambda scores: scores[better] - scores[worse], totals)


def _listed_pairs(sample: Sample) -> tuple[RowNumbers, RowNumbers, Floats]:
    """Return the better and the worse row of explicit pairs or those of grades, and the pairs' weights."""
    if isinstance(sample, CrucialSample):
        _check_n_pairs(len(sample.better))
        return sample.better, sample.worse, sample.pair_weights
    if not isinstance(sample, GradedSample):
        raise TypeError(f"pairs are those of classes, grades or lists, got {type(sample).__name__}.")
    blocks = sample.blocks
    _check_n_pairs(
        sum(int(np.diff(block.source_starts).dot(np.diff(block.target_starts))) for block in blocks)
    )
    segments = [
        (np.repeat(sources, len(targets)), np.tile(targets, len(sources)))
        for block in blocks
        for sources, targets in zip(
            np.split(sample.positives[block.sources], block.source_starts[1:-1]),
            np.split(sample.negatives[block.targets], block.target_starts[1:-1]),
            strict=True,
        )
    ]
    better, worse = (np.concatenate(rows) for rows in zip(*segments, strict=True))
    return better, worse, np.ones(len(better))


def _check_n_pairs(n_pairs: int) -> None:
    if n_pairs > MAX_PAIRS:
        raise ValueError(
            f"solver='gradient-projection' keeps a variable for each of {n_pairs:,} pairs, and takes at most "
            f"{MAX_PAIRS:,}; it is there to reproduce the paper: use solver='auto'."
        )


def gradient_projection(
    problem: PairProblem,
    model: Model,
    tol: float,
    max_iter: int,
    eta0: float | None = None,
    callback: Callback | None = None,
) -> tuple[Floats, Certificate, int]:
    """Return the best iterate's variables, shape (n_pairs,), its certificate, and the number of steps.

    Notes
    -----
    A step costs O(n_pairs) time and memory, and what the projection does: for the Infinite Push time
    O(n_pairs log I). The other solvers need neither.
    """

    def certified(variables: Floats) -> tuple[Floats, Certificate]:
        coef, scores = _coef_and_scores(problem, model, variables)
        ascent = 1.0 - problem.pairs.margins(scores)
        penalty = 0.5 * model.squared_norm(coef, scores)
        primal = penalty + problem.risk(np.maximum(ascent, 0.0))
        return ascent, Certificate(primal, float(variables.sum()) - penalty)

    if eta0 is None:
        variables = np.zeros_like(problem.start)
        # all rows may be alike
        length = 10.0 / max(_largest_eigenvalue(problem, model), 1e-300)
    else:
        variables, length = problem.start, eta0
    ascent, certificate = certified(variables)
    best, best_certificate, iteration = variables, certificate, 0
    while iteration < max_iter and (eta0 is not None or best_certificate.gap > tol):
        iteration += 1
        variables = problem.project(variables + length / np.sqrt(iteration) * ascent)
        ascent, certificate = certified(variables)
        # Q is the dual objective negated
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
    r"""Return the nearest point with :math:`a \ge 0` and :math:`\sum_k \max_i a_{ik} \le c`.

    Clipping at zero comes first; of the clipped values each column is cut at a :math:`\mu_k`, all columns
    losing the same sum :math:`\theta` (or all they have), with the :math:`\mu_k` adding up to c.

    c is the budget. O(I K log I) for sorting the columns, and O(K log I) a trial of :math:`\theta`.

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
    # what a column loses when it is cut at its next lower value
    lost = totals.copy()
    lost[:, :-1] -= np.arange(1, len(clipped)) * descending[:, 1:]
    nearest: Floats = np.minimum(clipped, column_heights(totals, lost, budget))
    return nearest


@compiled()
def column_heights(totals, lost, budget):
    """Return where to cut each column, which is a row here.

    The sum of the heights is a convex, decreasing, piecewise linear function of what every column loses:
    Newton's method from zero never goes too far, and ends after finitely many trials.
    """
    heights = np.zeros(len(lost))
    theta = 0.0
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


def _coef_and_scores(problem: PairProblem, model: Model, variables: Floats) -> tuple[Floats, Floats]:
    """Return the coefficients that variables make, and the scores of all rows."""
    coef = model.rmatvec(problem.pairs.totals(variables))
    return coef, model.scores(coef)


def _largest_eigenvalue(problem: PairProblem, model: Model) -> float:
    """Return the largest eigenvalue of the quadratic form, by the power method."""
    vector = np.random.RandomState(0).standard_normal(len(problem.start))
    value = 0.0
    for _ in range(N_POWER_ITERATIONS):
        norm = float(np.linalg.norm(vector))
        if norm == 0.0:
            break
        vector = problem.pairs.margins(_coef_and_scores(problem, model, vector / norm)[1])
        value = float(np.linalg.norm(vector))
    return value
