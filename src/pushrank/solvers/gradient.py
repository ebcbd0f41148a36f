"""L-BFGS and Newton-CG: scipy.optimize.minimize, restarted with a new preconditioner at each restart.

As p grows, the weight of a P-Norm Push gathers on few negatives and its level sets become long and thin;
a quasi-Newton method alone then needs thousands of iterations. In variables that whiten the weighted rows the
level sets are round, and the weights settle early, so a few restarts of a few dozen iterations do. Of wide
data the variables are too many to whiten, and the scores have far to go before the weights settle: there the
two-sum exponential objective goes on in its dual, whose variables the weights are.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from dataclasses import InitVar, dataclass
from typing import Any

import numpy as np
from scipy.optimize import minimize

from pushrank._numeric import Floats
from pushrank.solvers import tolerances
from pushrank.solvers.dual_newton import dual_newton
from pushrank.solvers.preconditioning import (
    Preconditioner,
    can_whiten,
    column_scales,
    diagonal,
    preconditioner_at,
    whitening,
)
from pushrank.solvers.problem import LinearProblem, SumProblem
from pushrank.solvers.result import Callback, Result, offset_callback

UNBOUNDED = (
    "the training data are separable and alpha=0, so the objective has no minimum; the coefficients rank "
    "every positive above every negative, by one at least. Set alpha > 0 for a unique solution."
)
CONVERGED = "converged"
Proof = Callable[[Floats], bool]
NO_PRECONDITIONER = Preconditioner(lambda v: v, lambda coef_gradient: coef_gradient)


def lbfgs(
    problem: SumProblem,
    start: Floats,
    tol: float,
    max_iter: int,
    callback: Callback | None = None,
    proven: Proof | None = None,
) -> Result:
    """Minimise by L-BFGS in restarts, to the tolerance of :func:`pushrank.solvers.gradient.minimise`.

    References
    ----------
    Byrd, Lu, Nocedal and Zhu, *A limited memory algorithm for bound constrained optimization*, SIAM J. Sci.
    Comput. 16 (1995).
    """
    # scipy's own stopping rules, which know neither our units nor our proofs, are off
    options = {"ftol": 0.0, "gtol": 0.0, "maxfun": 1_000_000_000, "maxls": 50}
    return minimise("L-BFGS-B", options, problem, start, tol, max_iter, callback, proven)


def newton_cg(
    problem: SumProblem, start: Floats, tol: float, max_iter: int, callback: Callback | None = None
) -> Result:
    """Minimise by Newton-CG in restarts, to the tolerance of :func:`pushrank.solvers.gradient.minimise`.

    References
    ----------
    Nocedal and Wright, *Numerical Optimization*, 2nd edition (2006), algorithm 7.2.
    """
    # scipy's own stopping rule is off, and its bound on steps, which knows no units, out of reach
    options = {"gtol": 0.0, "max_trust_radius": 1e10}
    return minimise("trust-ncg", options, problem, start, tol, max_iter, callback)


def minimise(
    method: str,
    options: dict[str, Any],
    problem: SumProblem,
    start: Floats,
    tol: float,
    max_iter: int,
    callback: Callback | None = None,
    proven: Proof | None = None,
) -> Result:
    """Minimise a smooth problem with a method of ``scipy.optimize.minimize``, in restarts.

    It stops after ``max_iter`` iterations in all, or when no entry of the gradient, in units of the columns'
    standard deviations, exceeds ``tol``, nor the duality gap where there is one; where whitening is cheap,
    when the value shows no more descent either. Where rounding ends the descent before the gap is closed the
    gradient is enough. Where it is small enough ``proven`` is asked, in place of the gap, whether the
    coefficients are good enough; if not it has to shrink further. scipy's own stopping rules should be off in
    ``options``.
    """
    problem.check_range()
    n_rows, n_features = problem.n_rows, problem.n_features
    wide = not can_whiten(problem)
    cheap = not wide and n_rows * n_features**2 <= tolerances.CHEAP_WORK
    # of nearly as many columns as rows no few stand out, and units of their own lead nowhere
    few_rows = n_rows <= tolerances.MAX_ROWS_A_COLUMN * n_features
    whitened = cheap or (not wide and few_rows)
    length = tolerances.LATER_RESTARTS if whitened else tolerances.FIRST_RESTART
    in_row_space = problem.in_row_space
    # whose variables are the rows' weights, for which these have to be in memory
    dual = problem if isinstance(problem, LinearProblem) and (wide or in_row_space) else None
    if dual is not None and (dual.powers is None or dual.alpha == 0.0):
        dual = None
    starts_in_dual = dual is not None and in_row_space and not start.any()
    # units are those of the data, whatever the start
    goes_on = not starts_in_dual and not start.any()
    moments = problem.moments(np.zeros_like(start), whole=whitened and goes_on)
    scales = column_scales(moments, n_rows)
    # a proof says what is small enough
    refined = tolerances.REFINED if cheap and proven is None else 1.0
    # line searches go after a descent that rounding may hide; a trust region does not
    searches = method == "L-BFGS-B"
    iterates = _Iterates(problem, start, scales, tol, refined, proven, searches)
    stalled, message = 0, CONVERGED if iterates.converged else ""
    # with many rows a column the steps of the dual cost more, and are seldom needed
    patience = 0 if few_rows else tolerances.FIRST_RESTART + tolerances.LATER_RESTARTS_WIDE
    if dual is not None and starts_in_dual and not message:
        iterates.jump(dual_newton(dual, scales, refined * tol, max_iter, callback))
        dual = None
        message = _reason_to_stop(problem, iterates, max_iter)
    if not message:
        if not goes_on:
            moments = problem.moments(iterates.coef, columns=not whitened, whole=whitened)
        iterates.preconditioner = (
            whitening(moments, problem.alpha, scales) if whitened else diagonal(moments, problem.alpha)
        )
    del moments
    while not message:
        before, n_before = iterates.path[-1], len(iterates.path)
        limit = min(length, max_iter - n_before + 1)
        _run(problem, iterates, method, {**options, "maxiter": limit}, callback)
        cut_short = searches and len(iterates.path) - n_before < limit
        stalled = stalled + 1 if iterates.path[-1] >= before else 0
        message = _reason_to_stop(problem, iterates, max_iter, stalled, cut_short=cut_short)
        n_done = len(iterates.path) - 1
        if dual is not None and not message and n_done >= patience:
            # scores that have not settled by now have far to go
            shifted = offset_callback(callback, n_done)
            iterates.jump(dual_newton(dual, scales, tol, max_iter - n_done, shifted))
            dual = None
            message = _reason_to_stop(problem, iterates, max_iter)
        if not message:
            length = tolerances.LATER_RESTARTS_WIDE if wide else tolerances.LATER_RESTARTS
            iterates.preconditioner = (
                NO_PRECONDITIONER  # the last one may hold a good part of the memory that its successor needs
            )
            iterates.preconditioner = preconditioner_at(problem, iterates.coef, scales)
    coef = iterates.coef
    if message == UNBOUNDED:
        coef = coef / problem.margin(coef)
    converged = iterates.converged or message == CONVERGED
    # the row space leaves out what rounding hides, which a bound has to count
    certificate = None if in_row_space or message == UNBOUNDED else iterates.certificate
    advice = "" if converged else message
    return Result(coef, np.array(iterates.path), converged, iterates.size, advice, certificate)


def _run(
    problem: SumProblem,
    iterates: _Iterates,
    method: str,
    options: dict[str, Any],
    callback: Callback | None,
) -> None:
    """Run scipy's method from the last iterate on, in preconditioned variables."""
    origin, preconditioner = iterates.coef, iterates.preconditioner

    def value_and_gradient(v: Floats) -> tuple[float, Floats]:
        value, gradient = iterates.evaluate(origin + preconditioner.coef_change(v))
        return value, preconditioner.gradient(gradient)

    def hessian_product(v: Floats, direction: Floats) -> Floats:
        coef, direction = origin + preconditioner.coef_change(v), preconditioner.coef_change(direction)
        return preconditioner.gradient(problem.hessian_product(coef, direction))

    def after_iteration(intermediate_result: Any) -> None:
        iterates.accept(origin + preconditioner.coef_change(intermediate_result.x))
        if callback is not None:
            callback(len(iterates.path) - 1, objective=iterates.path[-1], gradient=iterates.size)
        if iterates.finished:
            raise StopIteration

    with suppress(StopIteration):
        minimize(
            value_and_gradient,
            np.zeros_like(iterates.coef),
            jac=True,
            hessp=hessian_product if method == "trust-ncg" else None,
            method=method,
            callback=after_iteration,
            options=options,
        )


@dataclass(eq=False)
class _Iterates:
    """The objective along the iterations, the best point among them, and whether to stop there."""

    problem: SumProblem
    start: InitVar[Floats]
    scales: Floats
    tol: float
    refined: float  # the part of the tolerance that is worth its time
    proven: Proof | None
    searches: bool
    preconditioner: Preconditioner = NO_PRECONDITIONER

    def __post_init__(self, start: Floats) -> None:
        """Take the start for the first point."""
        self.path: list[float] = []
        self._seen: tuple[Floats, float, Floats] = (start, *self.problem.value_and_gradient(start))
        self.accept(start)

    @property
    def is_small(self) -> bool:
        """Whether the gradient is within the tolerance."""
        return self.size <= self.tol

    @property
    def converged(self) -> bool:
        """Whether the duality gap is too, where there is one and no other proof is asked for."""
        closed = not self.problem.has_bound or self.certificate.gap <= self.tol
        return self.is_small and (closed or self.proven is not None)

    @property
    def finished(self) -> bool:
        """Whether it is as small as is worth the time, or will never be small."""
        refined = self.size <= self.refined * self.tol
        lost = self.is_small and (self.searches or refined) and self.level
        # without a penalty a log-scale objective sinks so far where only separable data can take it
        unbounded = self.problem.alpha == 0.0 and self.path[-1] < tolerances.MIN_LOG_OBJECTIVE
        return (refined and self.converged) or lost or unbounded

    @property
    def descent_left(self) -> float:
        """By how much a Newton step, as the preconditioner sees it, would lower the value."""
        slope = self.preconditioner.gradient(self._seen[2])
        return 0.5 * float(slope @ slope)

    @property
    def level(self) -> bool:
        """Whether that is no more than the value's rounding."""
        return bool(self.descent_left <= tolerances.MACHINE_ROUNDING * abs(self.path[-1]))

    def evaluate(self, coef: Floats) -> tuple[float, Floats]:
        """Return value and gradient, remembering them for ``accept``.

        Raises
        ------
        StopIteration
            When steps within the tolerance show no descent.
        """
        if not np.array_equal(coef, self._seen[0]):
            if self.searches and self.converged and self._trials == tolerances.MAX_STALLED_TRIALS:
                raise StopIteration
            self._trials += 1
            value, gradient = self.problem.value_and_gradient(coef)
            self._seen = (coef, value, gradient)
        return self._seen[1:]

    def accept(self, coef: Floats) -> None:
        """Take an iteration's point."""
        value, gradient = self.evaluate(coef)
        self.coef, self._trials = coef, 0
        self.size = float(np.max(np.abs(gradient) / self.scales))
        self.certificate = self.problem.certificate(value, gradient)
        self.path.append(value)
        if self.is_small and self.proven is not None and not self.proven(coef):
            self.tol = tolerances.TIGHTER * self.size

    def jump(self, found: Result) -> None:
        """Go through another solver's iterations to the better of their end and the point before."""
        before, coef = self.path[-1], self.coef
        self.path += found.objective_path[1:-1].tolist()
        self.accept(found.coef if found.objective_path[-1] < before else coef)


def _reason_to_stop(
    problem: SumProblem,
    iterates: _Iterates,
    max_iter: int,
    stalled: int = 0,
    *,
    cut_short: bool = False,
) -> str:
    """Return why there should be no restart and what the user can do; empty to go on."""
    gradient = f"the largest entry of the scaled gradient is {iterates.size:.1e}"
    if problem.has_bound:
        gradient += f", the relative duality gap {iterates.certificate.gap:.1e}"
    if not iterates.converged and problem.is_separated(iterates.coef):
        return UNBOUNDED
    # a run is cut short where steps show no descent, which so near the minimum is rounding
    if iterates.finished or (iterates.converged and cut_short):
        return CONVERGED
    if len(iterates.path) - 1 >= max_iter:
        return f"stopped at max_iter={max_iter} ({gradient}): raise max_iter, alpha or tol."
    if stalled >= tolerances.MAX_STALLED_RESTARTS:
        # where only rounding keeps the gap open, a Newton step sees next to no descent either
        size = max(abs(iterates.path[-1]), iterates.certificate.floor)
        if iterates.is_small and (not problem.has_bound or iterates.descent_left <= iterates.tol * size):
            return CONVERGED
        return (
            f"no further descent in floating point ({gradient}): raise tol or alpha, or scale the features."
        )
    return ""
