"""A smooth risk of linear scores by L-BFGS, until the duality gap is small."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from pushrank._log_space import Floats
from pushrank.models import LinearModel
from pushrank.objectives import PushObjective
from pushrank.pairs import Sample
from pushrank.solvers.certificate import Certificate
from pushrank.solvers.lbfgs import lbfgs
from pushrank.solvers.problem import Problem
from pushrank.solvers.result import Watcher

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
    if certificate is None or not found.converged:
        certificate = certify(found.coef, model.scores(found.coef))
    return found.coef, certificate, found.n_iter
