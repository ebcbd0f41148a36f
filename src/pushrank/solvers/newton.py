r"""Newton's method: on dense Hessians, in the space of a kernel, and as the end of a certified fit.

``functional_newton`` minimises :math:`P(f) = \tfrac12 \|f\|^2 + C R(f)` over functions
:math:`f = \sum_m v_m k(x_m, \cdot)`, with R a smooth risk of the scores. In the inner product of the space
the gradient has the coefficients :math:`v + C R'`, and the Hessian is the identity plus C times the risk's:
conjugate gradients in that inner product need one product with the kernel matrix a step, whatever its
condition. (They are written out here, since those of scipy use the Euclidean inner product.)

Olivier Chapelle, *Training a support vector machine in the primal*, Neural Computation 19 (2007), 1155-1178.

``certified_lbfgs`` minimises the same risk of linear scores until the duality gap is small. A column in units
a million times those of the others needs a gradient with as many more digits, which a descent of the
objective cannot show: the last steps are Newton's, taken while they narrow the gap.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from itertools import product

import numpy as np
import scipy.linalg
from scipy.optimize import nnls

from pushrank._base.numeric import Floats
from pushrank.models import KernelModel, LinearModel, Model
from pushrank.objectives import PushObjective
from pushrank.objectives.evaluation import ObjectiveEvaluation
from pushrank.pairs import Sample
from pushrank.prices import Power
from pushrank.rows import MemoryRows
from pushrank.solvers import tolerances
from pushrank.solvers.dual_newton import dual_newton, has_near_dual
from pushrank.solvers.gradient import lbfgs
from pushrank.solvers.line_search import armijo_step
from pushrank.solvers.preconditioning import can_whiten, newton_direction, units_at_zero
from pushrank.solvers.problem import Point, Problem, linear_problem
from pushrank.solvers.result import Callback, Certificate, CertifiedSolution, Result, offset_callback

SQUARED_HINGE = PushObjective("squared_hinge", scale="mean")


def newton(
    point: Point,
    scales: Floats,
    tol: float,
    max_iter: int,
    resample: Callable[[Point], Problem] | None = None,
    callback: Callback | None = None,
    least_step: float = 0.0,
    light: float = 0.0,
) -> Result:
    """Minimise a logarithm of sums of exponentials, whose Hessian is a covariance, from a point."""
    # With the weights a of the positives and b of the negatives at the current scores, each adding up to one,
    # that of the P-Norm Push is Cov_a(X_+) + p Cov_b(X_-) + alpha I. With `resample` the problem is another
    # one after every step. It ends after a step below `least_step`. Rows below a part `light` of the mean
    # weight of their class are left out of Hessians. A step costs O(n_rows * n_features^2); where the rows
    # lie in memory its line search does not read them.
    # Nocedal and Wright, *Numerical Optimization*, 2nd edition (2006), algorithm 3.2.
    path, factor = [point.value], None
    step, size = 1.0, np.inf
    # A resampled problem moves with every step, so that an old factor is as good as a new one for longer.
    reuse = tolerances.REUSE_FACTOR if resample is None else tolerances.REUSE_RESAMPLED
    while True:
        gradient = point.gradient
        before, size = size, _gradient_size(point, scales)
        if size <= tol or len(path) > max_iter:
            message = "" if size <= tol else "steps ran out."
            return Result(point.coef, np.array(path), size <= tol, size, message)
        # A factor costs far more than a gradient: the last one serves as long as it still cuts the gradient.
        try:
            if factor is None or step < 1.0 or size > reuse * before:
                factor = scipy.linalg.cho_factor(point.hessian(light), check_finite=False)
            if point.problem.positive:
                direction = _bounded_direction(factor[0], point.coef, gradient, scales)
            else:
                direction = -scipy.linalg.cho_solve(factor, gradient, check_finite=False)
        except scipy.linalg.LinAlgError:
            message = "the Hessian is singular in floating point."
            return Result(point.coef, np.array(path), False, size, message)
        # At the minimum the descent of a good step is hidden by the rounding of the value.
        slope, rounding = float(gradient @ direction), tolerances.VALUE_ROUNDING * abs(point.value)
        line: Callable[[float], Point] = point.line(direction)
        accepted = armijo_step(line, point.value, slope, rounding)
        if accepted is None:
            return Result(point.coef, np.array(path), False, size, "no step brought a descent.")
        step, point = accepted
        # The line holds the point that it starts from, which holds several numbers a row.
        del line, accepted
        path.append(point.value)
        if callback is not None:
            callback(len(path) - 1, objective=point.value, gradient=size)
        if step < least_step:
            return Result(point.coef, np.array(path), False, size, "the minimum is far.")
        if resample is not None:
            at, problem = (point.coef, point.scores), resample(point)
            del point
            point = problem.point(*at)


def _gradient_size(point: Point, scales: Floats) -> float:
    """Return the largest entry of the gradient; over coefficients of at least zero no less than the gap."""
    problem, gradient = point.problem, point.gradient
    size = float(np.max(np.abs(problem.free_gradient(point.coef, gradient)) / scales))
    if problem.positive:
        size = max(size, problem.certificate(point.coef, point.value, gradient).gap)
    return size


def _bounded_direction(factor: Floats, coef: Floats, gradient: Floats, scales: Floats) -> Floats:
    """Return the way to the minimum of the quadratic model over coefficients of at least zero."""
    # With the Hessian R^T R that minimises |R (w - c) + R^(-T) g|: all points of the way are of at least
    # zero, so that a line search need not bend it.
    target = np.triu(factor) @ coef - scipy.linalg.solve_triangular(factor, gradient, trans=1)
    try:
        minimum: Floats = nnls(np.triu(factor) / scales, target)[0] / scales
    except RuntimeError as error:  # it runs out of steps where rounding hides the solution
        raise scipy.linalg.LinAlgError(str(error)) from error
    return minimum - coef


def has_newton(problem: Problem) -> bool:
    """Return whether the Hessian is a covariance, not singular, and small enough to factor."""
    return problem.objective.powers is not None and problem.alpha > 0.0 and can_whiten(problem)


def nonnegative(
    problem: Problem, start: Floats, tol: float, max_iter: int, callback: Callback | None = None
) -> Result:
    """Minimise a smooth problem over coefficients of at least zero: by Newton's method where there is one."""
    if not has_newton(problem):
        return lbfgs(problem, start, tol, max_iter, callback)
    problem.rows.check_range()
    return newton_or_lbfgs(problem.point(start), units_at_zero(problem), tol, max_iter, callback)


def newton_or_lbfgs(
    point: Point,
    scales: Floats,
    tol: float,
    max_iter: int,
    callback: Callback | None = None,
    *,
    refinement: float = tolerances.NEWTON_REFINEMENT,
) -> Result:
    """Minimise the two-sum objective with a penalty by Newton's method, from a point near the minimum."""
    # Where Newton's method stops early, a path or L-BFGS finishes; `max_iter` counts the steps of all three.
    problem, n_steps = point.problem, min(tolerances.NEWTON_STEPS, max_iter)
    # The last Newton step squares the error: it nearly always reaches a hundredth of the tolerance.
    aim = refinement * tol
    result = newton(point, scales, aim, n_steps, callback=callback, least_step=tolerances.SHORT_STEP)
    too_far = result.gradient_size > tol and max_iter > tolerances.NEWTON_STEPS
    if too_far:
        result = _along_path(problem, result, scales, tol, max_iter)
    # Newton's method may have aimed at a smaller gradient than was asked for, and missed it.
    if result.gradient_size <= tol:
        return replace(result, converged=True, message="")
    if result.n_iter >= max_iter:
        return result
    before = result.objective_path[:-1]
    later = offset_callback(callback, len(before))
    result = lbfgs(problem, result.coef, tol, max_iter - len(before), later)
    return replace(result, objective_path=np.append(before, result.objective_path))


def _along_path(problem: Problem, reached: Result, scales: Floats, tol: float, max_iter: int) -> Result:
    """Return the end of a path of halving penalties and then of doubling powers, if it is below `reached`."""
    # On rows that are nearly separable the minimum is far, and where a high power has gathered the weight on
    # a few rows Newton's steps from afar are short. From one minimum to the next it is a few steps, which are
    # not counted: from the largest curvature at zero as the penalty down at p = 1, and then up to the power.
    # Where the classes are apart Newton's method in the dual is shorter still, if the rows are not too many.
    objective, alphas, powers = problem.push_objective, [2.0 * float(np.max(scales)) ** 2], [1.0]
    while alphas[-1] * tolerances.PENALTY_STEP > problem.alpha:
        alphas.append(alphas[-1] * tolerances.PENALTY_STEP)
    while powers[-1] < max(objective.powers or ()):
        powers.append(powers[-1] / tolerances.PENALTY_STEP)
    n_steps = max_iter - reached.n_iter
    by_dual = has_near_dual(problem)
    if by_dual and problem.margin(reached.coef) > 0.0:
        return _lower_end(reached, dual_newton(problem, scales, tol, n_steps))
    coef = np.zeros_like(reached.coef)
    for power, alpha in [*product([1.0], alphas), *product(powers[:-1], [problem.alpha])]:
        between = replace(objective, price=Power(power))
        stage = linear_problem(between, problem.rows, alpha, positive=problem.positive)
        coef = newton(stage.point(coef), scales, tolerances.PENALTY_TOL, tolerances.NEWTON_STEPS).coef
        if by_dual and problem.margin(coef) > 0.0:
            return _lower_end(reached, dual_newton(problem, scales, tol, n_steps))
    n_steps = min(tolerances.NEWTON_STEPS, n_steps)
    end = newton(problem.point(coef), scales, tolerances.NEWTON_REFINEMENT * tol, n_steps)
    return _lower_end(reached, end)


def _lower_end(reached: Result, end: Result) -> Result:
    """Return the lower end of two; the path of objectives that is reported never rises."""
    path = end.objective_path
    lower = np.unique(path[(path < reached.objective_path[-1]) & (path >= path[-1])])[::-1]
    return replace(end, objective_path=np.append(reached.objective_path, lower)) if len(lower) else reached


def squared_hinge_certificate(
    model: Model, sample: Sample, C: float, coef: Floats, scores: Floats, at_point: ObjectiveEvaluation
) -> Certificate:
    """Return the objective of the squared hinge, and the dual at the variables that the margins suggest."""
    # With a = 2 C pi (1 - m)_+ for a pair of margin m and fraction pi of all weight, the dual is the sum of
    # a, less that of a^2 / 4 C pi, less half the squared norm of the combination of pairs.
    gradient = at_point.gradient()
    combined = -C * model.rmatvec(sample.scatter(*gradient))
    # The combination of pairs that belongs to these variables is the minimiser of the Lagrangian.
    norm = model.squared_norm(combined)
    primal = 0.5 * model.squared_norm(coef, scores) + C * at_point.value
    # The slopes of a pair's loss are a / C and its negative: those of the worse rows add up to all a / C.
    dual = C * (float(gradient.negatives.sum()) - at_point.value) - 0.5 * norm
    return Certificate(float(primal), max(float(dual), 0.0))


def functional_newton(
    model: KernelModel,
    sample: Sample,
    C: float,
    callback: Callback | None,
    start: Floats | None,
    *,
    tol: float,
    max_iter: int,
) -> CertifiedSolution:
    """Minimise the squared hinge of the pairs until the relative gap is at most ``tol``."""
    coef = np.zeros(model.n_rows) if start is None else start.copy()
    point = FunctionPoint(model, sample, C, coef, model.scores(coef))
    iteration = 0
    while True:
        certificate = squared_hinge_certificate(model, sample, C, point.coef, point.scores, point.evaluation)
        if callback is not None and iteration:
            callback(iteration, objective=certificate.primal, gap=certificate.gap)
        if certificate.gap <= tol or iteration == max_iter:
            return CertifiedSolution(point.coef, certificate, iteration, point.coef)
        # Far from the minimum a rough direction is as good as an exact one.
        accuracy = min(tolerances.FORCING, np.sqrt(certificate.gap))
        gradient = point.gradient()
        direction, direction_scores = _conjugate_gradients(model, point.curved, gradient, accuracy)
        slope = float(gradient @ direction_scores)
        accepted = armijo_step(point.line(direction, direction_scores), point.value, slope)
        # Rounding then lets no step descend.
        if accepted is None:
            return CertifiedSolution(point.coef, certificate, iteration, point.coef)
        point = accepted[1]
        iteration += 1


@dataclass(eq=False)
class FunctionPoint:
    """The risk, weighed by C, and half the squared norm at a function in the space of a kernel."""

    model: KernelModel
    sample: Sample
    C: float
    coef: Floats
    scores: Floats

    def __post_init__(self) -> None:
        self.evaluation = SQUARED_HINGE.evaluation(self.sample, self.scores)
        half_norm = 0.5 * self.model.squared_norm(self.coef, self.scores)
        self.value = half_norm + self.C * self.evaluation.value

    def gradient(self) -> Floats:
        """Return the coefficients of the gradient in the inner product of the space."""
        return self.coef + self.C * self.sample.scatter(*self.evaluation.gradient())

    def curved(self, direction_scores: Floats) -> Floats:
        """Return the coefficients of C times the Hessian of the risk times a function."""
        product = self.evaluation.hessian_product(self.sample.gather(direction_scores))
        return self.C * self.sample.scatter(*product)

    def line(self, direction: Floats, direction_scores: Floats) -> Callable[[float], FunctionPoint]:
        """Return the function from a step along a direction to the point there."""
        return lambda step: replace(
            self, coef=self.coef + step * direction, scores=self.scores + step * direction_scores
        )


def _conjugate_gradients(
    model: KernelModel, curved: Callable[[Floats], Floats], gradient: Floats, accuracy: float
) -> tuple[Floats, Floats]:
    """Return the Newton direction and its scores, by conjugate gradients in the space's inner product."""
    solution, solution_scores = np.zeros_like(gradient), np.zeros_like(gradient)
    residual = -gradient
    residual_scores = model.scores(residual)
    direction, direction_scores = residual, residual_scores
    size = first = model.squared_norm(residual, residual_scores)
    for _ in range(tolerances.MAX_KERNEL_PRODUCTS):
        if size <= accuracy**2 * first or size == 0.0:
            break
        product = direction + curved(direction_scores)
        product_scores = model.scores(product)
        step = size / float(direction_scores @ product)
        solution = solution + step * direction
        solution_scores = solution_scores + step * direction_scores
        residual, residual_scores = residual - step * product, residual_scores - step * product_scores
        # The squared norm of a residual that is all rounding may come out negative.
        before, size = size, max(float(residual @ residual_scores), 0.0)
        direction = residual + size / before * direction
        direction_scores = residual_scores + size / before * direction_scores
    return solution, solution_scores


def certified_lbfgs(
    model: LinearModel,
    sample: Sample,
    C: float,
    callback: Callback | None,
    start: Floats | None,
    *,
    tol: float,
    max_iter: int,
) -> CertifiedSolution:
    """Minimise the squared hinge of the pairs until the relative gap is at most ``tol``."""
    problem = linear_problem(SQUARED_HINGE, MemoryRows(model, sample), 1.0 / C)
    first = np.zeros(model.n_features) if start is None else start
    certificate: Certificate | None = None

    def certified(coef: Floats) -> Certificate:
        point = problem.scored(coef)
        return squared_hinge_certificate(model, sample, C, coef, point.scores, point.evaluation)

    def proven(coef: Floats) -> bool:
        nonlocal certificate
        certificate = certified(coef)
        return certificate.gap <= tol

    # The certificate is of the problem times C.
    scaled = offset_callback(callback, 0, C)
    result = lbfgs(problem, first, tolerances.SMALL_GRADIENT, max_iter, scaled, proven)
    coef, n_iter = result.coef, result.n_iter
    # The last certificate that L-BFGS asked for is that of its end only where it converged.
    if certificate is None or not result.converged:
        certificate = certified(coef)
    while certificate.gap > tol and n_iter < max_iter:
        # The step is that to the minimum of the quadratic model.
        diagonal = np.asarray(problem.moments(coef).variances) + problem.alpha
        product, gradient = partial(problem.hessian_product, coef), problem.value_and_gradient(coef)[1]
        limits = tolerances.EXACT, tolerances.MAX_HESSIAN_PRODUCTS
        moved = coef + newton_direction(product, gradient, diagonal, *limits)
        closer = certified(moved)
        if not closer.gap < certificate.gap:
            break
        coef, certificate, n_iter = moved, closer, n_iter + 1
    return CertifiedSolution(coef, certificate, n_iter, coef)
