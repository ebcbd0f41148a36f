"""Newton's method with conjugate gradients in a trust region: scipy's trust-ncg in suitable coordinates."""

from __future__ import annotations

from pushrank._log_space import Floats
from pushrank.solvers.problem import Problem
from pushrank.solvers.result import Result, Watcher
from pushrank.solvers.rounds import minimise


def newton_cg(
    problem: Problem, start: Floats, tol: float, max_iter: int, watcher: Watcher | None = None
) -> Result:
    """Minimise by Newton-CG; parameters as for :func:`pushrank.solvers.rounds.minimise`.

    References
    ----------
    Nocedal and Wright, *Numerical Optimization*, 2nd edition (2006), algorithm 7.2.
    """
    return minimise(
        problem,
        start,
        method="trust-ncg",
        options={"gtol": 0.0, "max_trust_radius": 1e10},
        tol=tol,
        max_iter=max_iter,
        watcher=watcher,
    )
