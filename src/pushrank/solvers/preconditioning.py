"""Preconditioners: linear maps to variables in which the curvature of an objective is the same everywhere."""

from collections.abc import Callable
from contextlib import suppress
from functools import partial
from typing import NamedTuple

import numpy as np
import scipy.linalg
from scipy.sparse.linalg import LinearOperator, cg

from pushrank._base.numeric import Floats
from pushrank.models.linear import ClassMoments
from pushrank.solvers import tolerances
from pushrank.solvers.problem import Problem


class Preconditioner(NamedTuple):
    """A linear map S from preconditioned variables v to changes of the coefficients, and its transpose."""

    # `coef_change(v)` is `S @ v`, and `gradient(g)` is `S.T @ g`, the gradient in v that belongs to the
    # gradient g in the coefficients.

    coef_change: Callable[[Floats], Floats]
    gradient: Callable[[Floats], Floats]


def column_scales(moments: ClassMoments, n_rows: int) -> Floats:
    """Return the columns' standard deviations within the classes, under the weights of the moments."""
    # Gradients are measured in these units, so that a tolerance does not depend on the units of a feature. A
    # constant column has the unit one, or its value where that is larger.
    # No row has a weight where all losses are zero.
    scales = np.sqrt(np.asarray(moments.variances) / max(float(moments.totals.sum()), tolerances.TINY))
    if not scales.all():
        # A column that is constant within the classes is measured by its step from one class to the other.
        means = moments.sums / np.maximum(moments.totals, tolerances.TINY)[:, None]
        steps, sizes = np.abs(means[1] - means[0]), np.abs(means).max(axis=0)
        # A step that rounding could have made does not count, and the rounding of large values leaves a
        # gradient of their size.
        steps = np.where(steps > tolerances.MEAN_ROUNDING * n_rows * sizes, steps, np.maximum(sizes, 1.0))
        scales = np.where(scales > 0.0, scales, steps)
    return scales


def units_at_zero(problem: Problem) -> Floats:
    """Return the units of a problem's gradient: the scales of the columns where all scores are zero."""
    return column_scales(problem.moments(np.zeros(problem.n_features)), problem.n_rows)


def diagonal(moments: ClassMoments, alpha: float) -> Preconditioner:
    """Return a preconditioner that scales every coefficient by the curvature along it."""
    curvature = np.asarray(moments.variances) + alpha
    scaled = partial(np.multiply, 1.0 / np.sqrt(np.where(curvature > 0.0, curvature, 1.0)))
    return Preconditioner(scaled, scaled)


def whitening(moments: ClassMoments, alpha: float, scales: Floats) -> Preconditioner:
    """Return the preconditioner in whose variables the whole curvature is one in all directions."""
    # The curvature is the covariance of the columns within the classes under the row weights: for the P-Norm
    # Push on the log scale the exact Hessian.
    curvature = np.asarray(moments.covariance) / np.outer(scales, scales)
    curvature[np.diag_indices_from(curvature)] += alpha / scales**2
    if len(curvature) <= tolerances.MAX_EIGEN_FEATURES:
        eigenvalues, eigenvectors = scipy.linalg.eigh(curvature, check_finite=False)
        # Columns that are copies or constants leave directions without curvature: they get a little.
        floor = tolerances.RIDGE * float(eigenvalues[-1]) if eigenvalues[-1] > 0.0 else 1.0
        axes = eigenvectors / np.sqrt(np.maximum(eigenvalues, floor)) / scales[:, None]
        return Preconditioner(lambda v: axes @ v, lambda coef_gradient: axes.T @ coef_gradient)
    along = np.diagonal(curvature).copy()
    along[along <= 0.0] = 1.0
    factor = np.diag(np.sqrt(along))
    # Directions without curvature get a little here too, and more of it where the weights lie on rows so
    # similar that rounding has turned some curvature negative.
    for ridge in tolerances.RIDGE ** np.linspace(1.0, -0.5, 7):
        np.fill_diagonal(curvature, (1.0 + ridge) * along)
        with suppress(np.linalg.LinAlgError):
            factor = scipy.linalg.cholesky(curvature, lower=True, check_finite=False)
            break
    solve = partial(scipy.linalg.solve_triangular, factor, lower=True, check_finite=False)
    return Preconditioner(lambda v: solve(v, trans=1) / scales, lambda gradient: solve(gradient / scales))


def can_whiten(problem: Problem) -> bool:
    """Return whether factoring a matrix of the columns is cheap, or no dearer than the row space was."""
    return problem.n_features <= tolerances.MAX_WHITENED_FEATURES or problem.in_row_space


def newton_direction(
    hessian_product: Callable[[Floats], Floats], gradient: Floats, diagonal: Floats, rtol: float, maxiter: int
) -> Floats:
    """Return about minus the inverse Hessian, of this or a near ``diagonal``, times the gradient."""
    # In units of the curvature along each coefficient the norm of the residual measures all of them equally.
    units = 1.0 / np.sqrt(diagonal)
    shape = len(units), len(units)
    scaled = LinearOperator(shape, lambda v: units * hessian_product(units * np.ravel(v)), dtype=np.float64)
    return np.asarray(units * cg(scaled, -units * gradient, rtol=rtol, maxiter=maxiter)[0])
