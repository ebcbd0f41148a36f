r"""Gradient projection as Agarwal's paper prints it, with a dual variable for each pair; for reproduction.

Both of the paper's algorithms maximise

.. math::

    \sum_{ik} a_{ik} - \tfrac12 \Bigl\| \sum_{ik} a_{ik} (x_i - \tilde x_k) \Bigr\|^2 ,

over :math:`a \ge 0, \sum_k \max_i a_{ik} \le C / I` for the Infinite Push (figure 2), and over :math:`0 \le
a_{ik} \le C / I K` for RankSVM (figure 3). Step t goes :math:`10 / (L \sqrt t)` along the gradient, L being
the largest eigenvalue of the quadratic form, and back to the nearest feasible point. One deviation: the paper
projects onto the ball of the l1,inf norm and then clips at zero; the nearest feasible point is found by
clipping first.

Shivani Agarwal, *The Infinite Push*, SDM 2011; Ariadna Quattoni, Xavier Carreras, Michael Collins, Trevor
Darrell, *An efficient projection for l1,inf regularization*, ICML 2009.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from pushrank._numeric import Floats
from pushrank.models import Model
from pushrank.objectives.average_precision import mean_hinge
from pushrank.pairs import BipartiteSample
from pushrank.solvers.infinite_push.dual import MAX_PROJECTION_TRIALS, DualSolution, InfinitePushDual
from pushrank.solvers.result import Callback, Certificate, CertifiedSolution

MAX_PAIRS = 50_000_000  # 400 MB of variables, and several arrays of that size
N_POWER_ITERATIONS = 20  # the eigenvalue sets a step length: two digits are plenty
NOT_TAKEN = "solver='gradient-projection' takes two classes without sample_weight; use solver='auto'."


def infinite_push_by_pairs(
    dual: InfinitePushDual, tol: float, max_iter: int, callback: Callback | None = None
) -> tuple[DualSolution, int]:
    """Run the algorithm of figure 2, and return its solution and the number of iterations."""
    if dual.sample.positive_weights is not None:
        raise ValueError(NOT_TAKEN)

    def certify(pairs: Floats, coef: Floats, scores: Floats) -> Certificate:
        return dual.certificate(pairs.sum(axis=1), coef, scores)

    budget = float(dual.sample_C[0])
    found = gradient_projection(
        lambda pairs: project_to_budget(pairs, budget),
        certify,
        dual.model,
        dual.sample,
        tol,
        max_iter,
        callback,
    )
    return dual.solution(found.variables.sum(axis=1), found.variables.sum(axis=0)), found.n_iter


def rank_svm_by_pairs(
    model: Model, sample: Any, C: float, tol: float, max_iter: int, callback: Callback | None = None
) -> CertifiedSolution:
    """Run the algorithm of figure 3."""
    if not isinstance(sample, BipartiteSample) or sample.positive_weights is not None:
        raise ValueError(NOT_TAKEN)

    def certify(pairs: Floats, coef: Floats, scores: Floats) -> Certificate:
        penalty = 0.5 * model.squared_norm(coef, scores)
        return Certificate(penalty + C * mean_hinge(sample, scores)[0], float(pairs.sum()) - penalty)

    upper_bound = C / sample.pair_weight
    found = gradient_projection(
        lambda pairs: np.clip(pairs, 0.0, upper_bound), certify, model, sample, tol, max_iter, callback
    )
    return CertifiedSolution(found.coef, found.certificate, found.n_iter, None)


class PairSolution(NamedTuple):
    """A dual variable for each pair, shape (I, K), the coefficients they make, and their bounds."""

    variables: Floats
    coef: Floats
    certificate: Certificate
    n_iter: int


def gradient_projection(
    project: Callable[[Floats], Floats],
    certify: Callable[[Floats, Floats, Floats], Certificate],
    model: Model,
    sample: BipartiteSample,
    tol: float,
    max_iter: int,
    callback: Callback | None = None,
) -> PairSolution:
    """Return the best of all iterates; the paper runs a fixed number of some hundreds.

    ``project`` gives the nearest feasible variables, and ``certify`` the bounds at feasible variables, the
    coefficients they make and their scores. An iteration costs O(I K log(I K)) time and O(I K) memory: the
    other solvers need neither.

    Raises
    ------
    ValueError
        When there are more than 50 million pairs.
    """
    shape = len(sample.positives), len(sample.negatives)
    if shape[0] * shape[1] > MAX_PAIRS:
        raise ValueError(
            f"solver='gradient-projection' keeps a variable for each of {shape[0] * shape[1]:,} pairs, and "
            f"takes at most {MAX_PAIRS:,}; it is there to reproduce the paper: use solver='auto'."
        )

    def coef_and_scores(variables: Floats) -> tuple[Floats, Floats]:
        coef = model.rmatvec(sample.scatter(variables.sum(axis=1), -variables.sum(axis=0)))
        return coef, model.scores(coef)

    def margins(scores: Floats) -> Floats:
        return np.subtract.outer(*sample.gather(scores))

    eigenvalue = _largest_eigenvalue(lambda a: margins(coef_and_scores(a)[1]), shape)
    length = 10.0 / max(eigenvalue, 1e-300)  # zero where all rows are alike
    variables = np.zeros(shape)
    coef, scores = coef_and_scores(variables)
    best = PairSolution(variables, coef, certify(variables, coef, scores), 0)
    iteration = 0
    while iteration < max_iter and best.certificate.gap > tol:
        iteration += 1
        gradient = 1.0 - margins(scores)
        variables = project(variables + length / np.sqrt(iteration) * gradient)
        coef, scores = coef_and_scores(variables)
        certificate = certify(variables, coef, scores)
        if certificate.gap < best.certificate.gap:
            best = PairSolution(variables, coef, certificate, iteration)
        if callback is not None:
            callback(iteration, objective=certificate.primal, gap=certificate.gap)
    return best._replace(n_iter=iteration)


def project_to_budget(values: Floats, budget: float) -> Floats:
    r"""Return the nearest point with :math:`a \ge 0` and :math:`\sum_k \max_i a_{ik} \le c`.

    Clipping at zero comes first; of the clipped values each column is cut at a :math:`\mu_k`, all columns
    losing the same sum :math:`\theta` (or all they have), with the :math:`\mu_k` adding up to c.

    c is the budget. O(I K log I) for sorting the columns, and O(I K) a trial of :math:`\theta`.

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
    descending = -np.sort(-clipped, axis=0)
    counts = np.arange(1, len(clipped) + 1)[:, None]
    totals = np.cumsum(descending, axis=0)
    # what a column loses when it is cut at its next lower value
    lost = totals - counts * np.vstack([descending[1:], np.zeros_like(descending[:1])])
    columns = np.arange(clipped.shape[1])

    def cuts(theta: float) -> tuple[Floats, Floats]:
        number = np.minimum((lost < theta).sum(axis=0), len(clipped) - 1)
        alive = lost[-1] > theta
        heights = np.where(alive, (totals[number, columns] - theta) / (number + 1.0), 0.0)
        return heights, np.where(alive, -1.0 / (number + 1.0), 0.0)

    low, high, theta = 0.0, float(lost[-1].max()), 0.0
    for _ in range(MAX_PROJECTION_TRIALS):
        heights, slopes = cuts(theta)
        excess = float(heights.sum() - budget)
        low, high = (theta, high) if excess > 0.0 else (low, theta)
        newton = theta - excess / float(slopes.sum()) if slopes.any() else np.inf
        following = newton if low < newton < high else 0.5 * (low + high)
        if abs(excess) <= 1e-14 * budget or following in (low, high):  # as far as floats reach
            break
        theta = following
    return np.minimum(clipped, heights)


def _largest_eigenvalue(product: Callable[[Floats], Floats], shape: tuple[int, int]) -> float:
    """Return the largest eigenvalue of the quadratic form, by the power method."""
    vector = np.add.outer(np.linspace(1.0, 2.0, shape[0]), np.linspace(-0.5, 0.7, shape[1]))
    value = 0.0
    for _ in range(N_POWER_ITERATIONS):
        norm = float(np.linalg.norm(vector))
        if norm == 0.0:
            break
        vector = product(vector / norm)
        value = float(np.linalg.norm(vector))
    return value
