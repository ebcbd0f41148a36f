r"""Newton's method: on dense Hessians, in the space of a kernel, and as the end of a certified fit.

``newton`` minimises the log-sum-exp objectives of linear scores, whose Hessian is a covariance.

``functional_newton`` minimises :math:`P(f) = \tfrac12 \|f\|^2 + C R(f)` over functions
:math:`f = \sum_m v_m k(x_m, \cdot)`, with R a smooth risk of the scores. In the inner product of the space
the gradient has the coefficients :math:`v + C R'`, and the Hessian is the identity plus C times the risk's:
conjugate gradients in that inner product need one product with the kernel matrix a step, whatever its
condition. (They are written out here, as scipy's know the Euclidean inner product only.)

Olivier Chapelle, *Training a support vector machine in the primal*, Neural Computation 19 (2007), 1155-1178.

``certified_lbfgs`` minimises the same risk of linear scores until the duality gap is small. A column in units
a million times the others' needs a gradient of so many more digits, which no descent of the objective can
tell: the last steps are Newton's, taken while they narrow the gap.
"""

from __future__ import annotations

from collections.abc import Callable
from copy import copy
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
import scipy.linalg

from pushrank._numeric import Floats
from pushrank.models import KernelModel, LinearModel
from pushrank.objectives import PushObjective
from pushrank.objectives.evaluation import ObjectiveEvaluation
from pushrank.pairs import Sample
from pushrank.solvers.gradient import lbfgs
from pushrank.solvers.line_search import armijo_step
from pushrank.solvers.preconditioning import newton_direction
from pushrank.solvers.problem import BlockProblem, LinearProblem
from pushrank.solvers.result import Callback, Certificate, Result
from pushrank.solvers.tolerances import (
    EXACT,
    FORCING,
    MAX_HESSIAN_PRODUCTS,
    MAX_KERNEL_PRODUCTS,
    NEWTON_STEPS,
    NEXT_PENALTY,
    PATH_REFINED,
    PENALTY_TOL,
    REUSE_FACTOR,
    REUSE_RESAMPLED,
    SMALL_GRADIENT,
    VALUE_ROUNDING,
)


def newton(
    problem: LinearProblem,
    start: Floats,
    scales: Floats,
    tol: float,
    max_iter: int,
    scores: Floats | None = None,
    resample: Callable[[Floats], Sample] | None = None,
) -> Result:
    r"""Minimise a logarithm of sums of exponentials, whose Hessian is a covariance.

    With the weights a of the positives and b of the negatives at the current scores, each adding up to one,
    that of the P-Norm Push is :math:`\mathrm{Cov}_a(X_+) + p\, \mathrm{Cov}_b(X_-) + \alpha I`.

    It stops when no entry of the gradient, in units of ``scales``, exceeds ``tol``, after ``max_iter`` steps,
    or when none brings a descent. The penalty has to be positive; ``scores`` are those of the start. With
    ``resample`` the sample is another one after every step, by the scores there.

    A step costs O(n_rows * n_features^2); its line search, along the scores, does not read the data. Close to
    the minimum the error squares with every step, so that along a path of penalties a few steps do. Far from
    it a method that gathers curvature is quicker.

    References
    ----------
    Nocedal and Wright, *Numerical Optimization*, 2nd edition (2006), algorithm 3.2.
    """
    model = problem.model
    coef, scores = start, model.scores(start) if scores is None else scores
    value, at_point = problem.at(coef, scores)
    path, factor = [value], None
    step, size = 1.0, np.inf
    reuse = REUSE_FACTOR if resample is None else REUSE_RESAMPLED
    while True:
        gradient = model.rmatvec(problem.sample.scatter(*at_point.gradient())) + problem.alpha * coef
        before, size = size, float(np.max(np.abs(gradient) / scales))
        if size <= tol or len(path) > max_iter:
            return Result(coef, np.array(path), size <= tol, size, "" if size <= tol else "steps ran out.")
        if factor is None or step < 1.0 or size > reuse * before:
            row_weights = problem.sample.scatter(*at_point.diagonal())
            hessian = model.class_covariance(row_weights, problem.class_codes)
            hessian[np.diag_indices_from(hessian)] += problem.alpha
            try:
                factor = scipy.linalg.cho_factor(hessian, check_finite=False)
            except scipy.linalg.LinAlgError:
                return Result(coef, np.array(path), False, size, "the Hessian is singular in floating point.")
        direction = -scipy.linalg.cho_solve(factor, gradient, check_finite=False)

        def evaluate(
            step: float,
            at: tuple[Floats, Floats] = (coef, scores),
            along: tuple[Floats, Floats] = (direction, model.scores(direction)),
            problem: LinearProblem = problem,
        ) -> tuple[float, tuple[Floats, Floats, ObjectiveEvaluation]]:
            moved, moved_scores = at[0] + step * along[0], at[1] + step * along[1]
            value, at_point = problem.at(moved, moved_scores)
            return value, (moved, moved_scores, at_point)

        found = armijo_step(evaluate, value, float(gradient @ direction), VALUE_ROUNDING * abs(value))
        if found is None:
            return Result(coef, np.array(path), False, size, "no step brought a descent.")
        step, value, (coef, scores, at_point) = found
        path.append(value)
        if resample is not None:
            problem = LinearProblem(problem.objective, model, resample(scores), problem.alpha)
            value, at_point = problem.at(coef, scores)


def newton_by_sums(
    problem: BlockProblem,
    start: Floats,
    scales: Floats,
    tol: float,
    max_iter: int,
    resample: Callable[[Floats], BlockProblem] | None = None,
) -> Result:
    """Minimise as :func:`newton` does, of rows that are asked for sums alone.

    A trial of the line search, mostly the only one of its step, is a pass over the rows that gives the next
    gradient too, and a Hessian is two. With ``resample`` the problem is another one after every step, by the
    coefficients there.
    """
    coef, (value, gradient) = start, problem.value_and_gradient(start)
    path, factor, step, size = [value], None, 1.0, np.inf
    reuse = REUSE_FACTOR if resample is None else REUSE_RESAMPLED
    while True:
        before, size = size, float(np.max(np.abs(gradient) / scales))
        if size <= tol or len(path) > max_iter:
            return Result(coef, np.array(path), size <= tol, size, "" if size <= tol else "steps ran out.")
        if factor is None or step < 1.0 or size > reuse * before:
            hessian = np.asarray(problem.moments(coef, columns=False, whole=True).covariance)
            hessian[np.diag_indices_from(hessian)] += problem.alpha
            try:
                factor = scipy.linalg.cho_factor(hessian, check_finite=False)
            except scipy.linalg.LinAlgError:
                return Result(coef, np.array(path), False, size, "the Hessian is singular in floating point.")
        direction = -scipy.linalg.cho_solve(factor, gradient, check_finite=False)

        def evaluate(
            step: float, at: Floats = coef, along: Floats = direction, problem: BlockProblem = problem
        ) -> tuple[float, tuple[Floats, Floats]]:
            moved = at + step * along
            value, gradient = problem.value_and_gradient(moved)
            return value, (moved, gradient)

        found = armijo_step(evaluate, value, float(gradient @ direction), VALUE_ROUNDING * abs(value))
        if found is None:
            return Result(coef, np.array(path), False, size, "no step brought a descent.")
        step, value, (coef, gradient) = found
        path.append(value)
        if resample is not None:
            problem = resample(coef)
            value, gradient = problem.value_and_gradient(coef)


def after_newton(
    problem: Any, result: Result, scales: Floats, tol: float, max_iter: int, method: Callable[..., Result]
) -> Result:
    """Return where a descent ends that began with ``NEWTON_STEPS`` of a method, one of the two above.

    That was asked for ``PATH_REFINED`` of the tolerance. ``max_iter`` counts its steps, too.
    """
    too_far = result.gradient_size > tol and max_iter > NEWTON_STEPS
    if too_far and problem.margin(result.coef) > 0.0:
        result = _along_penalties(problem, result, scales, tol, max_iter, method)
    if result.gradient_size <= tol:
        return replace(result, converged=True, message="")
    if result.n_iter >= max_iter:
        return result
    # not lost, though Newton's method did not get there
    before = result.objective_path[:-1]
    result = lbfgs(problem, result.coef, tol, max_iter - len(before))
    return replace(result, objective_path=np.append(before, result.objective_path))


def _along_penalties(
    problem: Any, reached: Result, scales: Floats, tol: float, max_iter: int, method: Callable[..., Result]
) -> Result:
    """Return the end of a path of halving penalties, where it is below what was reached without it.

    On separable rows the margin grows until the penalty stops it. If that is small the minimum is far and
    Newton's steps from afar are short, but from one penalty's minimum to the next it is a few steps.
    Those on the way are not counted.
    """
    coef, on_the_way = np.zeros_like(reached.coef), copy(problem)
    # the largest curvature at zero, whose minimum is near it
    on_the_way.alpha = sum(problem.objective.powers) * float(np.max(scales)) ** 2
    while on_the_way.alpha > problem.alpha:
        coef = method(on_the_way, coef, scales, PENALTY_TOL, NEWTON_STEPS).coef
        on_the_way.alpha *= NEXT_PENALTY
    n_steps = min(NEWTON_STEPS, max_iter - reached.n_iter)
    found = method(problem, coef, scales, PATH_REFINED * tol, n_steps)
    lower = found.objective_path[found.objective_path < reached.objective_path[-1]]
    return replace(found, objective_path=np.append(reached.objective_path, lower)) if len(lower) else reached


def functional_newton(
    objective: PushObjective,
    model: KernelModel,
    sample: Sample,
    C: float,
    certify: Callable[[Floats, Floats], Certificate],
    tol: float,
    max_iter: int,
    callback: Callback | None = None,
    start: Floats | None = None,
) -> tuple[Floats, Certificate, int]:
    """Return coefficients whose relative gap is at most ``tol``, their certificate, and the Newton steps.

    The objective, R, is convex and has Hessian products; ``certify`` gives the certificate of coefficients
    and their scores. ``callback`` is called after every step with its number, the objective and the gap.
    """
    coef = np.zeros(model.n_rows) if start is None else start.copy()
    scores = model.scores(coef)
    iteration = 0
    while True:
        certificate = certify(coef, scores)
        if callback is not None and iteration:
            callback(iteration, objective=certificate.primal, gap=certificate.gap)
        if certificate.gap <= tol or iteration == max_iter:
            return coef, certificate, iteration
        at_point = objective.evaluation(sample, scores)
        gradient = coef + C * sample.scatter(*at_point.gradient())

        def curved(direction_scores: Floats, at_point: ObjectiveEvaluation = at_point) -> Floats:
            """Return the coefficients of C times the Hessian of the risk times a function."""
            return C * sample.scatter(*at_point.hessian_product(sample.gather(direction_scores)))

        accuracy = min(FORCING, np.sqrt(certificate.gap))
        direction, direction_scores = _conjugate_gradients(model, curved, gradient, accuracy)

        def evaluate(
            step: float,
            at: tuple[Floats, Floats] = (coef, scores),
            along: tuple[Floats, Floats] = (direction, direction_scores),
        ) -> tuple[float, tuple[Floats, Floats]]:
            moved, moved_scores = at[0] + step * along[0], at[1] + step * along[1]
            norm = model.squared_norm(moved, moved_scores)
            value = 0.5 * norm + C * objective.evaluation(sample, moved_scores).value
            return value, (moved, moved_scores)

        value = 0.5 * model.squared_norm(coef, scores) + C * at_point.value
        found = armijo_step(evaluate, value, float(gradient @ direction_scores))
        if found is None:
            return coef, certificate, iteration  # as far as rounding lets it
        coef, scores = found[2]
        iteration += 1


def _conjugate_gradients(
    model: KernelModel, curved: Callable[[Floats], Floats], gradient: Floats, accuracy: float
) -> tuple[Floats, Floats]:
    """Return the Newton direction and its scores, by conjugate gradients in the space's inner product."""
    solution, solution_scores = np.zeros_like(gradient), np.zeros_like(gradient)
    residual = -gradient
    residual_scores = model.scores(residual)
    direction, direction_scores = residual, residual_scores
    size = first = model.squared_norm(residual, residual_scores)
    for _ in range(MAX_KERNEL_PRODUCTS):
        if size <= accuracy**2 * first or size == 0.0:
            break
        product = direction + curved(direction_scores)
        product_scores = model.scores(product)
        step = size / float(direction_scores @ product)
        solution = solution + step * direction
        solution_scores = solution_scores + step * direction_scores
        residual, residual_scores = residual - step * product, residual_scores - step * product_scores
        before, size = size, max(float(residual @ residual_scores), 0.0)
        direction = residual + size / before * direction
        direction_scores = residual_scores + size / before * direction_scores
    return solution, solution_scores


def certified_lbfgs(
    objective: PushObjective,
    model: LinearModel,
    sample: Sample,
    C: float,
    certify: Callable[[Floats, Floats], Certificate],
    tol: float,
    max_iter: int,
    callback: Callback | None = None,
    start: Floats | None = None,
) -> tuple[Floats, Certificate, int]:
    """Return coefficients whose relative gap is at most ``tol``, their certificate, and the iterations."""
    problem = LinearProblem(objective, model, sample, 1.0 / C)
    first = np.zeros(model.n_features) if start is None else start
    certificate: Certificate | None = None

    def proven(coef: Floats) -> bool:
        nonlocal certificate
        certificate = certify(coef, model.scores(coef))
        return certificate.gap <= tol

    def scaled(iteration: int, /, **shown: float) -> None:
        """Show what is the problem's times C, the weight of the risk."""
        if callback is not None:
            callback(iteration, **{name: C * value for name, value in shown.items()})

    found = lbfgs(problem, first, SMALL_GRADIENT, max_iter, scaled, proven)
    coef, n_iter = found.coef, found.n_iter
    if certificate is None or not found.converged:
        certificate = certify(coef, model.scores(coef))
    while certificate.gap > tol and n_iter < max_iter:
        moved = coef + _newton_step(problem, coef)
        closer = certify(moved, model.scores(moved))
        if not closer.gap < certificate.gap:
            break
        coef, certificate, n_iter = moved, closer, n_iter + 1
    return coef, certificate, n_iter


def _newton_step(problem: LinearProblem, coef: Floats) -> Floats:
    """Return the way to the minimum of the quadratic model."""
    diagonal = np.asarray(problem.moments(coef).variances) + problem.alpha
    gradient = problem.value_and_gradient(coef)[1]
    product = partial(problem.hessian_product, coef)
    return newton_direction(product, gradient, diagonal, EXACT, MAX_HESSIAN_PRODUCTS)
