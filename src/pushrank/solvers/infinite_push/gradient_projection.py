r"""Agarwal's gradient projection.

The gradient projection algorithms of Agarwal's paper, one dual variable a pair, for reproduction.

Both maximise :math:`\sum_{ik} a_{ik} - \tfrac12 \|\sum_{ik} a_{ik} (x_i - \tilde x_k)\|^2`; the Infinite Push
(figure 2) over :math:`a \ge 0, \sum_k \max_i a_{ik} \le c`, RankSVM (figure 3) over
:math:`0 \le a_{ik} \le c`. The paper projects onto the ball of the l1,inf norm and then clips at zero; the
nearest feasible point is found by clipping first.

Shivani Agarwal, *The Infinite Push*, SDM 2011; Ariadna Quattoni, Xavier Carreras, Michael Collins, Trevor
Darrell, *An efficient projection for l1,inf regularization*, ICML 2009.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from pushrank._numeric import Floats
from pushrank.models import Model
from pushrank.pairs import BipartiteSample
from pushrank.solvers.result import Callback, Certificate

MAX_PROJECTION_TRIALS = 200


def balanced(
    alpha: Floats, beta: Floats, upper: Floats, rates: Floats | float = 1.0
) -> tuple[Floats, Floats]:
    r"""Return the nearest point with :math:`0 \le \alpha \le u`, :math:`\beta \ge 0` and equal sums.

    It is :math:`\alpha_i = \mathrm{clip}(r_i (a_i - \lambda), 0, u_i)`, :math:`\beta_k = (b_k + \lambda)_+`
    for the :math:`\lambda` that makes the sums equal: the zero of a decreasing, piecewise linear function.

    Parameters
    ----------
    alpha, beta : ndarray of shape (I,) and (K,)
        The point to project.
    upper : ndarray of shape (I,)
        The bounds u, which may be infinite.
    rates : ndarray of shape (I,) or float, default=1.0
        The r of at most one: :math:`(1 / r_i - 1) \alpha_i^2 / 2` joins half the squared distance.

    Notes
    -----
    Newton's method inside a bracket, O(I + K) a trial, about ten trials.

    Examples
    --------
    >>> balanced(np.array([3.0]), np.array([1.0, -5.0]), np.array([9.0]))
    (array([2.]), array([2., 0.]))
    """
    # below low no beta is positive and no alpha is zero for want of lambda; above high no alpha is positive
    low = min(float(-beta.max()), float((alpha - upper).min()) if np.isfinite(upper).all() else np.inf)
    low, high = min(low, float(alpha.max()) - 1.0), float(alpha.max())
    while _excess(alpha, beta, upper, rates, low)[0] < 0.0:
        low -= max(1.0, high - low)
    at = 0.0 if low <= 0.0 <= high else high
    for _ in range(MAX_PROJECTION_TRIALS):
        excess, slope = _excess(alpha, beta, upper, rates, at)
        if excess == 0.0:
            break
        low, high = (at, high) if excess > 0.0 else (low, at)
        newton = at + excess / slope if slope > 0.0 else np.inf
        following = newton if low < newton < high else 0.5 * (low + high)
        if following in (at, low, high) or high - low <= 1e-15 * max(abs(low), abs(high)):
            break
        at = following
    return np.clip(rates * (alpha - at), 0.0, upper), np.maximum(beta + at, 0.0)


def within_budget(values: Floats, budget: float) -> Floats:
    r"""Return the nearest point with :math:`a \ge 0` and :math:`\sum_k \max_i a_{ik} \le c`.

    Clipping at zero comes first; of the clipped values each column is cut at a :math:`\mu_k`, all columns
    losing the same sum :math:`\theta` (or all they have), with the :math:`\mu_k` adding up to c.

    Parameters
    ----------
    values : ndarray of shape (I, K)
        The point to project.
    budget : float
        The positive c.

    Notes
    -----
    O(I K log I) for sorting the columns, and O(K log I) a trial of :math:`\theta`.

    References
    ----------
    Quattoni et al., ICML 2009.

    Examples
    --------
    >>> within_budget(np.array([[3.0, 0.0], [1.0, 1.0]]), 2.0)
    array([[2., 0.],
           [1., 0.]])
    """
    clipped = np.maximum(values, 0.0)
    if clipped.max(axis=0).sum() <= budget:
        return clipped
    descending = -np.sort(-clipped, axis=0)
    counts = np.arange(1, len(clipped) + 1)[:, None]
    # what a column loses when it is cut at its next lower value
    lower = np.vstack([descending[1:], np.zeros_like(descending[:1])])
    lost = np.cumsum(descending, axis=0) - counts * lower
    totals = np.cumsum(descending, axis=0)
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
        if abs(excess) <= 1e-14 * budget or following in (low, high):
            break
        theta = following
    return np.minimum(clipped, heights)


def _excess(
    alpha: Floats, beta: Floats, upper: Floats, rates: Floats | float, shift: float
) -> tuple[float, float]:
    """Return the sum of alpha less that of beta after a shift, and how fast it falls with the shift."""
    moved, raised = rates * (alpha - shift), beta + shift
    inside = (moved > 0.0) & (moved < upper)
    excess = np.clip(moved, 0.0, upper).sum() - np.maximum(raised, 0.0).sum()
    return float(excess), float((inside * rates).sum() + np.count_nonzero(raised > 0.0))


MOST_PAIRS = 50_000_000
ROUNDS_OF_POWER = 20


class PairVariables(NamedTuple):
    """A dual variable for each pair, shape (I, K), and the coefficients that they make."""

    variables: Floats
    coef: Floats
    certificate: Certificate


def gradient_projection(
    project: Callable[[Floats], Floats],
    certify: Callable[[Floats, Floats, Floats], Certificate],
    model: Model,
    sample: BipartiteSample,
    tol: float,
    max_iter: int,
    callback: Callback | None = None,
) -> tuple[PairVariables, int]:
    r"""Return the best of all iterates, and the number of iterations.

    Parameters
    ----------
    project : callable
        Returns the nearest feasible variables.
    certify : callable
        Returns the bounds at feasible variables, the coefficients they make and their scores.
    model : Model
        The data.
    sample : BipartiteSample
        The classes.
    tol : float
        The relative gap to reach.
    max_iter : int
        The most iterations; the paper runs a fixed number of some hundreds.
    callback : callable, optional
        Called after every iteration with its number, the primal objective and the gap.

    Raises
    ------
    ValueError
        When there are more than 50 million pairs.

    Notes
    -----
    Step t has the length :math:`10 / (L \sqrt t)`, L being the largest eigenvalue of the quadratic form. An
    iteration costs O(I K log(I K)) time, and O(I K) memory: the other solvers need neither.
    """
    shape = len(sample.positives), len(sample.negatives)
    if shape[0] * shape[1] > MOST_PAIRS:
        raise ValueError(
            f"solver='gradient-projection' keeps a variable for each of {shape[0] * shape[1]:,} pairs, and "
            f"takes at most {MOST_PAIRS:,}; it is there to reproduce the paper: use solver='auto'."
        )

    def combined(variables: Floats) -> tuple[Floats, Floats]:
        coef = model.rmatvec(sample.scatter(variables.sum(axis=1), -variables.sum(axis=0)))
        return coef, model.scores(coef)

    def margins(scores: Floats) -> Floats:
        of_positives, of_negatives = sample.gather(scores)
        return np.subtract.outer(of_positives, of_negatives)

    length = 10.0 / max(_largest_eigenvalue(lambda a: margins(combined(a)[1]), shape), 1e-300)
    variables = np.zeros(shape)
    coef, scores = combined(variables)
    best = PairVariables(variables, coef, certify(variables, coef, scores))
    iteration = 0
    while iteration < max_iter and best.certificate.gap > tol:
        iteration += 1
        ascent = 1.0 - margins(scores)
        variables = project(variables + length / np.sqrt(iteration) * ascent)
        coef, scores = combined(variables)
        certificate = certify(variables, coef, scores)
        if certificate.gap < best.certificate.gap:
            best = PairVariables(variables, coef, certificate)
        if callback is not None:
            callback(iteration, objective=certificate.primal, gap=certificate.gap)
    return best, iteration


def _largest_eigenvalue(product: Callable[[Floats], Floats], shape: tuple[int, int]) -> float:
    """Return the largest eigenvalue of the quadratic form, by rounds of the power method."""
    vector = np.add.outer(np.linspace(1.0, 2.0, shape[0]), np.linspace(-0.5, 0.7, shape[1]))
    value = 0.0
    for _ in range(ROUNDS_OF_POWER):
        norm = float(np.linalg.norm(vector))
        if norm == 0.0:
            break
        vector = product(vector / norm)
        value = float(np.linalg.norm(vector))
    return value
