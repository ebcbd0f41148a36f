r"""Newton's method, and L-BFGS that stops on a duality gap.

A smooth risk of the scores in the space of a kernel, by Newton's method in function space.

Minimise :math:`P(f) = \tfrac12 \|f\|^2 + C R(f)` over functions :math:`f = \sum_m v_m k(x_m, \cdot)`. In the
inner product of the space the gradient has the coefficients :math:`v + C R'`, and the Hessian is the identity
plus C times the risk's: conjugate gradients in that inner product need one product with the kernel matrix a
step, whatever its condition.

Olivier Chapelle, *Training a support vector machine in the primal*, Neural Computation 19 (2007), 1155-1178.

A smooth risk of linear scores by L-BFGS, until the duality gap is small.

A column in units a million times the others' needs a gradient of so many more digits, which no descent of
the objective can tell: the last steps are Newton's, taken while they narrow the gap.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import scipy.linalg
from scipy.sparse.linalg import LinearOperator, cg

from pushrank._numeric import Floats
from pushrank.models import KernelModel, LinearModel
from pushrank.objectives import PushObjective
from pushrank.pairs import Sample
from pushrank.solvers.gradient import lbfgs
from pushrank.solvers.preconditioning import column_curvature
from pushrank.solvers.problem import LinearProblem
from pushrank.solvers.result import Callback, Certificate, Result

Slope = Callable[[float], tuple[float, float]]

MOST_TRIALS = 100
SMALL = 1e-12


def exact_step(slope: Slope, longest: float) -> float:
    """Return the zero of an increasing slope, by Newton's method kept inside a shrinking bracket.

    Parameters
    ----------
    slope : callable
        Gives the first and the second derivative at a step; the second may be zero where unknown.
    longest : float
        The largest step allowed either way; returned where the slope has no zero before it.

    Notes
    -----
    About five to ten evaluations where the function is smooth; at most 100.

    Examples
    --------
    >>> round(exact_step(lambda x: (x - 3.0, 1.0), longest=10.0), 12)
    3.0
    >>> exact_step(lambda x: (-1.0, 0.0), longest=10.0)
    10.0
    """
    first, bend = slope(0.0)
    if first == 0.0:
        return 0.0
    sign = -1.0 if first > 0.0 else 1.0
    tolerance = SMALL * abs(first)
    low, high, at = (
        0.0,
        longest,
        0.0,
    )  # distances along the descent direction; the slope at low still descends
    high_known, last_step = False, np.inf
    for _ in range(MOST_TRIALS):
        newton = at - sign * first / bend if bend > 0.0 else low + 2.0 * max(low, 1.0)
        safe = 0.5 * (low + high) if high_known else longest
        # a bracketed step that does not halve the last one creeps: bisect instead
        creeps = high_known and abs(newton - at) > 0.5 * last_step
        previous, at = at, newton if low < newton < high and not creeps else safe
        last_step = abs(at - previous)
        first, bend = slope(sign * at)
        if abs(first) <= tolerance or (at == longest and sign * first < 0.0):
            break
        if sign * first < 0.0:
            low = at
        else:
            high, high_known = at, True
        if high_known and high - low <= SMALL * high:
            break
    return sign * at


SUFFICIENT_DESCENT = 1e-4  # of the descent that the slope promises, a step must bring this part
SMALLEST_STEP = 1e-6
SERVES_AGAIN = 0.2  # a factor that cuts the gradient to this part is used once more: a fifth of the cost
ROUNDING = 1e-12  # of the value: a descent below this cannot be told from none


def newton(problem: LinearProblem, start: Floats, scales: Floats, tol: float, max_iter: int) -> Result:
    r"""Minimise a logarithm of sums of exponentials, whose Hessian is a covariance.

    With the weights a of the positives and b of the negatives at the current scores, each adding up to one,
    that of the P-Norm Push is :math:`\mathrm{Cov}_a(X_+) + p\, \mathrm{Cov}_b(X_-) + \alpha I`.

    Parameters
    ----------
    problem : LinearProblem
        The penalised objective, with a positive penalty.
    start : ndarray of shape (n_features,)
        The first coefficients.
    scales : ndarray of shape (n_features,)
        The units of the gradient: the columns' standard deviations within the classes.
    tol : float
        Stop when no entry of the gradient, in these units, exceeds this.
    max_iter : int
        Stop after so many steps.

    Returns
    -------
    Result
        Not converged where steps ran out, or no step brought a descent.

    Notes
    -----
    A step costs O(n_rows * n_features^2). Close to the minimum the error squares with every step, so that
    along a path of penalties a few steps do. Far from it a method that gathers curvature is quicker.

    References
    ----------
    Nocedal and Wright, *Numerical Optimization*, 2nd edition (2006), algorithm 3.2.
    """
    coef = start
    value, gradient = problem.value_and_gradient(coef)
    path = [value]
    size = float(np.max(np.abs(gradient) / scales))
    factor: Any = None
    while size > tol and len(path) <= max_iter:
        if factor is None:
            hessian = problem.model.class_covariance(problem.row_weights(coef), problem.class_codes)
            hessian[np.diag_indices_from(hessian)] += problem.alpha
            try:
                factor = scipy.linalg.cho_factor(hessian, check_finite=False)
            except scipy.linalg.LinAlgError:
                return Result(coef, np.array(path), False, size, "the Hessian is singular in floating point.")
        direction = -scipy.linalg.cho_solve(factor, gradient, check_finite=False)
        slope = float(gradient @ direction)
        step = 1.0
        while True:
            moved = coef + step * direction
            moved_value, moved_gradient = problem.value_and_gradient(moved)
            if moved_value <= value + SUFFICIENT_DESCENT * step * slope + ROUNDING * abs(value):
                break
            step *= 0.5
            if step < SMALLEST_STEP:
                return Result(coef, np.array(path), False, size, "no step brought a descent.")
        coef, value, gradient = moved, moved_value, moved_gradient
        path.append(value)
        before, size = size, float(np.max(np.abs(gradient) / scales))
        if step < 1.0 or size > SERVES_AGAIN * before:
            factor = None
    return Result(coef, np.array(path), size <= tol, size, "" if size <= tol else "steps ran out.")


FORCING = 0.1  # of the gradient's norm: how exactly a Newton system is solved at first
MOST_PRODUCTS = 1000  # products with the kernel matrix in a Newton step
MOST_HALVINGS = 50
SUFFICIENT = 1e-4


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

    Parameters
    ----------
    objective : PushObjective
        The R, convex, with Hessian products.
    model : KernelModel
        The space.
    sample : Sample
        Which rows are compared.
    C : float
        The weight of the risk.
    certify : callable
        Returns the certificate of coefficients and their scores.
    tol : float
        The relative gap to reach.
    max_iter : int
        The most Newton steps.
    callback : callable, optional
        Called after every step with its number, the objective and the gap.
    start : ndarray of shape (n_rows,), optional
        Coefficients to start from.
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

        def bent(moved: Floats, at_point=at_point) -> Floats:  # type: ignore[no-untyped-def]
            """Return the coefficients of C times the Hessian of the risk times a function."""
            return C * sample.scatter(*at_point.hessian_product(sample.gather(moved)))

        move, moved = _conjugate_gradients(model, bent, gradient, min(FORCING, np.sqrt(certificate.gap)))
        slope = float(gradient @ moved)
        value = 0.5 * model.squared_norm(coef, scores) + C * at_point.value
        length = 1.0
        for _ in range(MOST_HALVINGS):
            trial, trial_scores = coef + length * move, scores + length * moved
            norm = model.squared_norm(trial, trial_scores)
            after = 0.5 * norm + C * objective.evaluation(sample, trial_scores).value
            if after <= value + SUFFICIENT * length * slope:
                break
            length *= 0.5
        else:
            return coef, certificate, iteration  # as far as rounding lets it
        coef, scores = trial, trial_scores
        iteration += 1


def _conjugate_gradients(
    model: KernelModel, bent: Callable[[Floats], Floats], gradient: Floats, within: float
) -> tuple[Floats, Floats]:
    """Return the Newton step and its scores."""
    move, moved = np.zeros_like(gradient), np.zeros_like(gradient)
    residual = -gradient
    of_residual = model.scores(residual)
    along, of_along = residual, of_residual
    size = first = model.squared_norm(residual, of_residual)
    for _ in range(MOST_PRODUCTS):
        if size <= within**2 * first or size == 0.0:
            break
        image = along + bent(of_along)
        of_image = model.scores(image)
        length = size / float(of_along @ image)
        move, moved = move + length * along, moved + length * of_along
        residual, of_residual = residual - length * image, of_residual - length * of_image
        before, size = size, max(float(residual @ of_residual), 0.0)
        along = residual + size / before * along
        of_along = of_residual + size / before * of_along
    return move, moved


EXACT = 1e-12  # of the gradient: how exactly a Newton system is solved
MAX_CG_PRODUCTS = 200
SMALL_GRADIENT = 1e-3  # of the risk, in units of the columns, where the gap is worth its computing


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
    """Return coefficients whose relative gap is at most ``tol``, their certificate, and the iterations.

    Parameters are those of :func:`pushrank.solvers.newton.functional_newton`, of a linear model.
    """
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
    """Return the way to the minimum of the quadratic model, by conjugate gradients."""
    curvature = column_curvature(problem, problem.row_weights(coef))[0]
    units = 1.0 / np.sqrt(curvature + problem.alpha)

    def bent(v: Floats) -> Floats:
        product: Floats = units * problem.hessian_product(coef, units * np.ravel(v))
        return product

    n_features = len(coef)
    hessian = LinearOperator((n_features, n_features), matvec=bent, dtype=np.float64)
    gradient = problem.value_and_gradient(coef)[1]
    step: Floats = units * cg(hessian, -units * gradient, rtol=EXACT, maxiter=MAX_CG_PRODUCTS)[0]
    return step
