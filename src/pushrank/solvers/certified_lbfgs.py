"""A smooth risk of linear scores by L-BFGS, until the duality gap is small.

A column in units a million times the others' needs a gradient of so many more digits, which no descent of
the objective can tell: the last steps are Newton's, taken while they narrow the gap.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from scipy.sparse.linalg import LinearOperator, cg

from pushrank._log_space import Floats
from pushrank.models import LinearModel
from pushrank.objectives import PushObjective
from pushrank.pairs import Sample
from pushrank.solvers.certificate import Certificate
from pushrank.solvers.coordinates import column_curvature
from pushrank.solvers.lbfgs import lbfgs
from pushrank.solvers.problem import Problem
from pushrank.solvers.result import Watcher

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
    watcher: Watcher | None = None,
    start: Floats | None = None,
) -> tuple[Floats, Certificate, int]:
    """Return coefficients whose relative gap is at most ``tol``, their certificate, and the iterations.

    Parameters are those of :func:`pushrank.solvers.functional_newton.functional_newton`, of a linear model.
    """
    problem = Problem(objective, model, sample, 1.0 / C)
    first = np.zeros(model.n_features) if start is None else start
    certificate: Certificate | None = None

    def proven(coef: Floats) -> bool:
        nonlocal certificate
        certificate = certify(coef, model.scores(coef))
        return certificate.gap <= tol

    def scaled(iteration: int, /, **shown: float) -> None:
        """Show what is the problem's times C, the weight of the risk."""
        if watcher is not None:
            watcher(iteration, **{name: C * value for name, value in shown.items()})

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


def _newton_step(problem: Problem, coef: Floats) -> Floats:
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
