"""Newton's method with the whole Hessian, for starts that are near the minimum already."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.linalg

from pushrank._log_space import Floats
from pushrank.solvers.problem import Problem
from pushrank.solvers.result import Result

SUFFICIENT = 1e-4  # of the descent that the slope promises, a step must bring this part
SMALLEST_STEP = 1e-6
SERVES_AGAIN = 0.2  # a factor that cuts the gradient to this part is used once more: a fifth of the cost
ROUNDING = 1e-12  # of the value: a descent below this cannot be told from none


def newton(problem: Problem, start: Floats, scales: Floats, tol: float, max_iter: int) -> Result:
    r"""Minimise a logarithm of sums of exponentials, whose Hessian is a covariance.

    With the weights a of the positives and b of the negatives at the current scores, each adding up to one,
    that of the P-Norm Push is :math:`\mathrm{Cov}_a(X_+) + p\, \mathrm{Cov}_b(X_-) + \alpha I`.

    Parameters
    ----------
    problem : Problem
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
            if moved_value <= value + SUFFICIENT * step * slope + ROUNDING * abs(value):
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
