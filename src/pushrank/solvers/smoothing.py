"""Objectives with kinks: a smooth one at a time, each nearer, until a bound from below proves the answer.

Yurii Nesterov, *Smooth minimization of non-smooth functions*, Math. Programming 103 (2005), with the
smoothness lowered in stages, each from the answer of the stage before.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from pushrank._log_space import Floats
from pushrank.models import LinearModel
from pushrank.objectives import PushObjective, SmoothedObjective
from pushrank.pairs import Sample
from pushrank.solvers.certificate import Certificate
from pushrank.solvers.problem import Problem
from pushrank.solvers.result import CertifiedResult, Result, Watcher

Solver = Callable[[Problem, Floats, float, int, Watcher | None], Result]

FIRST = 0.25  # the width of the first stage's kinks, and its temperature in units of the objective
NARROWER = 0.1
NARROWEST = 1e-10


def smoothing(
    kinked: PushObjective,
    model: LinearModel,
    sample: Sample,
    alpha: float,
    solve: Solver,
    start: Floats,
    tol: float,
    max_iter: int,
    watcher: Watcher | None = None,
) -> CertifiedResult:
    r"""Minimise :math:`F(X w) + \frac{\alpha}{2} \|w\|^2` for an objective with kinks.

    A stage minimises the smoothed objective. Its gradient g in the scores z is that of a line below F,
    :math:`F(s) \ge d + g \cdot s`, so that no coefficients are better than

    .. math::

        \min_w \; d + g \cdot X w + \frac{\alpha}{2} \|w\|^2 = d - \frac{1}{2 \alpha} \|X^T g\|^2 .

    Parameters
    ----------
    kinked : PushObjective
        The objective F.
    model : LinearModel
        The data.
    sample : Sample
        Which rows are compared.
    alpha : float
        The L2 strength, positive.
    solve : callable
        The method for smooth problems.
    start : ndarray of shape (n_features,)
        The first coefficients.
    tol : float
        Stop when the relative duality gap is at most this; where there is no bound, when the smoothed
        objective is so near to the objective.
    max_iter : int
        The most iterations of all stages.
    watcher : callable, optional
        Called after every iteration.
    """
    exact = Problem(kinked, model, sample, alpha)
    at_zero = exact.value(np.zeros_like(start))
    coef, best, dual = start, exact.value(start), -np.inf
    path: list[float] = []
    width, gap, size = FIRST, np.inf, np.inf
    while len(path) < max_iter and width > NARROWEST and gap > tol:
        smooth = SmoothedObjective(kinked, sample, width, width * abs(best))
        problem = Problem(smooth, model, sample, alpha)
        stage = solve(problem, coef, tol, max_iter - len(path), watcher)
        path.extend(stage.objective_path[1:] if path else stage.objective_path)
        primal, size = exact.value(stage.coef), stage.gradient_size
        if smooth.bounded:
            d, slopes = smooth.lower_line(sample, model.scores(stage.coef))
            dual = max(dual, d - 0.5 / alpha * float(np.sum(model.pull_back(slopes) ** 2)))
        if primal <= best:
            coef, best = stage.coef, primal
        apart = best - dual if smooth.bounded else primal - stage.objective_path[-1]
        gap = abs(apart) / max(abs(best), np.finfo(float).tiny)
        width *= NARROWER
    certificate = Certificate(best, dual)
    message = ""
    if gap > tol and smooth.bounded:
        message = certificate.advice(len(path) - 1)
    elif gap > tol:
        message = (
            f"the smoothed objective, which is not convex, is still {gap:.1e} of the objective away from it "
            f"after {len(path) - 1} iterations: raise max_iter, tol or alpha."
        )
    result = Result(coef, np.array(path), gap <= tol, size, message)
    collapsed = bool(dual >= at_zero - max(tol, 1e-12) * abs(at_zero))
    return CertifiedResult(result, certificate, collapsed)
