"""Limited-memory quasi-Newton descent: scipy's L-BFGS-B in suitable coordinates."""

from __future__ import annotations

from collections.abc import Callable

from pushrank._log_space import Floats
from pushrank.solvers.problem import Problem
from pushrank.solvers.result import Result, Watcher
from pushrank.solvers.rounds import minimise

NEVER = 0.0


def lbfgs(
    problem: Problem,
    start: Floats,
    tol: float,
    max_iter: int,
    watcher: Watcher | None = None,
    proven: Callable[[Floats], bool] | None = None,
) -> Result:
    """Minimise by L-BFGS; parameters as for :func:`pushrank.solvers.rounds.minimise`.

    References
    ----------
    Byrd, Lu, Nocedal and Zhu, *A limited memory algorithm for bound constrained optimization*, SIAM J. Sci.
    Comput. 16 (1995).
    """
    options = {"ftol": NEVER, "gtol": NEVER, "maxfun": 1_000_000_000, "maxls": 50}
    return minimise(
        problem,
        start,
        method="L-BFGS-B",
        options=options,
        tol=tol,
        max_iter=max_iter,
        watcher=watcher,
        proven=proven,
    )
