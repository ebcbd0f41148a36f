"""L-BFGS and Newton-CG: scipy.optimize.minimize, restarted with a new preconditioner at each restart.

As p grows, the weight of a P-Norm Push gathers on few negatives and its level sets become long and thin;
a quasi-Newton method alone then needs thousands of iterations. In variables that whiten the weighted rows the
level sets are round, and the weights settle early, so a few restarts of a few dozen iterations do. Wide data
have too many coefficients to whiten, and on separable data the weights go on changing. There the two-sum
exponential objective is solved in its dual, whose variables are the weights of the rows.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import InitVar, dataclass
from typing import NamedTuple

import numpy as np
from scipy.optimize import Bounds, OptimizeResult, minimize

from pushrank._base.numeric import Floats
from pushrank.models.linear import ClassMoments
from pushrank.rows import MemoryRows, spread_rows
from pushrank.solvers import tolerances
from pushrank.solvers.dual_newton import dual_newton, has_near_dual
from pushrank.solvers.preconditioning import Preconditioner, can_whiten, column_scales, diagonal, whitening
from pushrank.solvers.problem import Problem, linear_problem
from pushrank.solvers.result import Callback, Result, offset_callback

UNBOUNDED = (
    "the training data are separable and alpha=0, so the objective has no minimum; the coefficients rank "
    "every positive above every negative, by one at least. Set alpha > 0 for a unique solution."
)
CONVERGED = "converged"
Proof = Callable[[Floats], bool]
NO_PRECONDITIONER = Preconditioner(lambda v: v, lambda coef_gradient: coef_gradient)


def lbfgs(
    problem: Problem,
    start: Floats,
    tol: float,
    max_iter: int,
    callback: Callback | None = None,
    proven: Proof | None = None,
) -> Result:
    """Minimise by L-BFGS in restarts, to the tolerance of :func:`minimise`."""
    # Byrd, Lu, Nocedal and Zhu, *A limited memory algorithm for bound constrained optimization*, 1995.
    # The stopping rules of scipy are off: they do not see the units of the columns, nor any proof.
    options = {"ftol": 0.0, "gtol": 0.0, "maxfun": 1_000_000_000, "maxls": 50}
    # Of many rows some are solved first: all rows then take a few iterations, in variables in which these
    # curve the same everywhere. The copy of them is not kept.
    moments, few = None, None if start.any() else spread_problem(problem)
    if few is not None:
        start = minimise("L-BFGS-B", options, few, start, tol, max_iter, proven=lambda _: True).coef
        moments = few.moments(start, columns=problem.positive, whole=not problem.positive)
        del few
    return minimise("L-BFGS-B", options, problem, start, tol, max_iter, callback, proven, moments)


def spread_problem(problem: Problem) -> Problem | None:
    """Return the problem of some rows that are spread over all, where these are many and it is convex."""
    rows, n_features = problem.rows, problem.n_features
    two_classes = not isinstance(rows, MemoryRows) or rows.gives_sums
    many = problem.n_rows >= tolerances.MANY_ROWS and not problem.in_row_space
    part = int(tolerances.MAX_SPREAD_PART * problem.n_rows)
    n_spread = min(tolerances.SPREAD_ROWS, part, n_features * tolerances.SPREAD_ROWS_A_COLUMN)
    few_columns = n_features * tolerances.MIN_SPREAD_ROWS_A_COLUMN <= n_spread
    if not (many and few_columns and two_classes and problem.has_bound):
        return None
    some = spread_rows(rows, n_spread)
    return linear_problem(problem.objective, some, problem.alpha, positive=problem.positive)


def newton_cg(
    problem: Problem, start: Floats, tol: float, max_iter: int, callback: Callback | None = None
) -> Result:
    """Minimise by Newton-CG in restarts, to the tolerance of :func:`minimise`."""
    # Nocedal and Wright, *Numerical Optimization*, 2nd edition (2006), algorithm 7.2.
    # The stopping rule of scipy is off. Its bound on the length of a step, in preconditioned variables, means
    # nothing to the problem: it is out of reach.
    options = {"gtol": 0.0, "max_trust_radius": 1e10}
    return minimise("trust-ncg", options, problem, start, tol, max_iter, callback)


class Strategy(NamedTuple):
    """How to minimise a problem, as the shape of its rows and its start suggest."""

    # The first run starts with the whole curvature as its preconditioner if `whitened`, otherwise with the
    # diagonal; runs end after `first_run` and `later_runs` iterations. The gradient is brought down to
    # `refinement` times the tolerance. The dual is solved once: before all runs if `dual_first`, otherwise
    # after the first run that completes `dual_after` iterations (and separates the classes, with a duality
    # gap left, if `dual_if_far`), or never, for None.

    whitened: bool
    first_run: int
    later_runs: int
    refinement: float
    dual_first: bool
    dual_after: int | None
    dual_if_far: bool


def choose_strategy(problem: Problem, start: Floats, proven: Proof | None) -> Strategy:
    """Return how to minimise a problem from a start."""
    n_rows, n_features = problem.n_rows, problem.n_features
    wide = not can_whiten(problem)
    cheap = not wide and (problem.curved or problem).n_rows * n_features**2 <= tolerances.CHEAP_WORK
    few_rows = n_rows <= tolerances.MAX_ROWS_A_COLUMN * n_features
    # With nearly as many columns as rows no small set of directions dominates: a diagonal does not help.
    # Bounds of single coefficients are bounds of single variables in a diagonal scaling alone.
    whitened = (cheap or (not wide and few_rows)) and not problem.positive
    # The dual has one variable per row, so it is available only when the rows are in memory.
    # Where whitening is cheap it takes few runs, except on separable rows: there the scores have far to go.
    dual_if_far = not wide and not problem.in_row_space
    has_dual = has_near_dual(problem) if dual_if_far else problem.has_dual
    dual_first = has_dual and (problem.in_row_space or (wide and few_rows)) and not start.any()
    # With many rows per column a dual step is expensive and rarely needed: wait for some restarts first.
    more_runs = 2 * tolerances.LATER_RUNS if dual_if_far else tolerances.LATER_RUNS_WIDE
    patience = 0 if few_rows else tolerances.FIRST_RUN + more_runs
    return Strategy(
        whitened=whitened,
        first_run=tolerances.LATER_RUNS if whitened else tolerances.FIRST_RUN,
        later_runs=tolerances.LATER_RUNS_WIDE if wide or problem.positive else tolerances.LATER_RUNS,
        # A caller with a proof decides itself what is enough: the gradient need not be refined below tol.
        refinement=tolerances.REFINEMENT if cheap and proven is None else 1.0,
        dual_first=dual_first,
        dual_after=patience if has_dual and not dual_first else None,
        dual_if_far=dual_if_far,
    )


def minimise(
    method: str,
    options: Mapping[str, object],
    problem: Problem,
    start: Floats,
    tol: float,
    max_iter: int,
    callback: Callback | None = None,
    proven: Proof | None = None,
    settled: ClassMoments | None = None,
) -> Result:
    """Minimise a smooth problem with a method of ``scipy.optimize.minimize``, in restarts."""
    # It stops after `max_iter` iterations in all, or when no entry of the gradient, in units of the columns'
    # standard deviations, exceeds `tol`, nor the duality gap where there is one; where whitening is cheap,
    # when the value shows no more descent either. Where rounding ends the descent before the gap is closed
    # the gradient is enough. `proven(coef)` replaces the test of the duality gap: it is called once the
    # gradient is below `tol`, and the fit goes on while it returns False. `settled` are the
    # moments of a problem of fewer rows at its minimum, which is the start here.
    problem.rows.check_range()
    strategy = choose_strategy(problem, start, proven)
    # The moments measured at zero serve the first run too, where it starts there.
    reuse_moments = not strategy.dual_first and not start.any()
    moments: ClassMoments | None
    moments = problem.moments(np.zeros_like(start), whole=strategy.whitened and reuse_moments)
    # Columns are scaled by their spread, not by the weights at the start: tol means the same for every start.
    scales = column_scales(moments, problem.n_rows)
    if not reuse_moments:
        moments = None
    if settled is not None:
        strategy = strategy._replace(whitened=not problem.positive, first_run=tolerances.LATER_RUNS)
        moments = settled
    # A line search keeps trying when rounding hides the descent; a trust region does not.
    searches = method == "L-BFGS-B"
    iterates = _Iterates(problem, start, scales, tol, strategy.refinement, proven, searches)
    message = (UNBOUNDED if iterates.unbounded else CONVERGED) if iterates.converged else ""
    whitened, length, n_stalled = strategy.whitened, strategy.first_run, 0
    solve_dual, dual_after = strategy.dual_first, strategy.dual_after
    while not message:
        n_done = len(iterates.path) - 1
        if solve_dual:
            dual_tol = strategy.refinement * tol if strategy.dual_first else tol
            shifted = offset_callback(callback, n_done)
            iterates.jump(dual_newton(problem, scales, dual_tol, max_iter - n_done, shifted))
            solve_dual, dual_after = False, None
            message = _reason_to_stop(iterates, max_iter)
            continue
        # The last preconditioner may hold a good part of the memory that its successor needs.
        iterates.preconditioner = NO_PRECONDITIONER
        if moments is None:
            moments = problem.moments(iterates.coef, columns=not whitened, whole=whitened)
        alpha = problem.alpha
        iterates.preconditioner = whitening(moments, alpha, scales) if whitened else diagonal(moments, alpha)
        moments = None
        # L-BFGS-B first tries a step of length one, and near a minimum that is many times the distance to it.
        near = settled is not None and whitened and searches
        unit = np.sqrt(2.0 * iterates.descent_left) if near else 1.0
        before, limit = iterates.path[-1], min(length, max_iter - n_done)
        _run(iterates, method, {**options, "maxiter": limit}, callback, unit or 1.0)
        if searches and iterates.path[-1] >= before and not (iterates.converged or iterates.finished):
            iterates.step_by_gradient()
        n_stalled = n_stalled + 1 if iterates.path[-1] >= before else 0
        line_search_failed = searches and len(iterates.path) - 1 < n_done + limit
        message = _reason_to_stop(iterates, max_iter, n_stalled, line_search_failed=line_search_failed)
        # Scores that have not settled by now have far to go, which the dual goes in fewer steps.
        late = dual_after is not None and len(iterates.path) - 1 >= dual_after
        solve_dual = late and (not strategy.dual_if_far or iterates.is_far)
        whitened, length = can_whiten(problem) and not problem.positive, strategy.later_runs
    coef = iterates.coef / problem.margin(iterates.coef) if message == UNBOUNDED else iterates.coef
    converged = message != UNBOUNDED and (iterates.converged or message == CONVERGED)
    # The row space leaves out what rounding hides, which a bound has to count.
    certificate = None if problem.in_row_space or message == UNBOUNDED else iterates.certificate
    advice = "" if converged else message
    return Result(coef, np.array(iterates.path), converged, iterates.size, advice, certificate)


def _run(
    iterates: _Iterates, method: str, options: Mapping[str, object], callback: Callback | None, unit: float
) -> None:
    """Run scipy's method from the last iterate on, in preconditioned variables in a unit of length."""
    problem, origin, (change, to_gradient) = iterates.problem, iterates.coef, iterates.preconditioner
    preconditioner = Preconditioner(lambda v: change(unit * v), lambda g: unit * to_gradient(g))
    start, bounds = np.zeros_like(origin), None
    if problem.positive:
        # The variables of zero coefficients are zero, so that those at their bounds are exactly zero.
        start = origin / preconditioner.coef_change(np.ones_like(origin))
        origin, bounds = np.zeros_like(origin), Bounds(0.0, np.inf)

    def value_and_gradient(v: Floats) -> tuple[float, Floats]:
        value, gradient = iterates.evaluate(origin + preconditioner.coef_change(v))
        return value, preconditioner.gradient(gradient)

    def hessian_product(v: Floats, direction: Floats) -> Floats:
        coef, direction = origin + preconditioner.coef_change(v), preconditioner.coef_change(direction)
        return preconditioner.gradient(problem.hessian_product(coef, direction))

    def after_iteration(intermediate_result: OptimizeResult) -> None:
        iterates.accept(origin + preconditioner.coef_change(intermediate_result.x))
        if callback is not None:
            callback(len(iterates.path) - 1, objective=iterates.path[-1], gradient=iterates.size)
        if iterates.finished:
            raise StopIteration

    with suppress(StopIteration):
        minimize(
            value_and_gradient,
            start,
            jac=True,
            hessp=hessian_product if method == "trust-ncg" else None,
            method=method,
            bounds=bounds,
            callback=after_iteration,
            options=options,
        )


@dataclass(eq=False)
class _Iterates:
    """The objective along the iterations, the best point among them, and whether to stop there."""

    problem: Problem
    start: InitVar[Floats]
    scales: Floats
    tol: float
    refinement: float
    proven: Proof | None
    searches: bool
    preconditioner: Preconditioner = NO_PRECONDITIONER

    def __post_init__(self, start: Floats) -> None:
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
    def is_far(self) -> bool:
        """Whether the scores have far to go: the classes are apart, and the gap is still wide."""
        return self.certificate.gap > tolerances.FAR_GAP and self.problem.margin(self.coef) > 0.0

    @property
    def unbounded(self) -> bool:
        """Whether there is no minimum: a loss that reaches zero has one on separable rows too."""
        return (self.problem.never_zero or not self.converged) and self.problem.is_separated(self.coef)

    @property
    def finished(self) -> bool:
        """Whether it is as small as is worth the time, or will never be small."""
        refined = self.size <= self.refinement * self.tol
        # Rounding of the value hides a descent that is no larger.
        rounding = tolerances.MACHINE_ROUNDING * abs(self.path[-1])
        lost = self.is_small and (self.searches or refined) and bool(self.descent_left <= rounding)
        # Without a penalty a log-scale objective sinks so far only on separable data.
        unbounded = self.problem.alpha == 0.0 and self.path[-1] < tolerances.MIN_LOG_OBJECTIVE
        return (refined and self.converged) or lost or unbounded

    @property
    def descent_left(self) -> float:
        """By how much a Newton step, as the preconditioner sees it, would lower the value."""
        slope = self.preconditioner.gradient(self.problem.free_gradient(self.coef, self._seen[2]))
        return 0.5 * float(slope @ slope)

    def evaluate(self, coef: Floats) -> tuple[float, Floats]:
        """Return value and gradient, remembering them for ``accept``; stop where no step shows a descent."""
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
        self.size = float(np.max(np.abs(self.problem.free_gradient(coef, gradient)) / self.scales))
        self.certificate = self.problem.certificate(coef, value, gradient)
        self.path.append(value)
        if self.is_small and self.proven is not None and not self.proven(coef):
            self.tol = tolerances.TIGHTER * self.size

    def step_by_gradient(self) -> None:
        """Take the step that the preconditioner makes of the gradient, where rounding hides all descent."""
        # A line search by values fails there, although the gradient still has digits. The step is kept if the
        # largest entry of the gradient falls, and the value rises by no more than its rounding.
        coef, size = self.coef, self.size
        value, gradient = self.evaluate(coef)
        rounding = tolerances.MACHINE_ROUNDING * abs(value)
        if self.problem.positive or self.descent_left > rounding:
            return
        step = self.preconditioner.coef_change(self.preconditioner.gradient(gradient))
        self.accept(coef - step)
        if self.size >= size or self.path[-1] > value + rounding:
            self.path.pop()
            self.accept(coef)
            self.path.pop()

    def jump(self, result: Result) -> None:
        """Go through another solver's iterations to the better of their end and the point before."""
        before, coef = self.path[-1], self.coef
        self.path += result.objective_path[1:-1].tolist()
        self.accept(result.coef if result.objective_path[-1] < before else coef)


def _reason_to_stop(
    iterates: _Iterates, max_iter: int, stalled: int = 0, *, line_search_failed: bool = False
) -> str:
    """Return why there should be no restart and what the user can do; empty to go on."""
    has_bound = iterates.problem.has_bound
    gradient = f"the largest entry of the scaled gradient is {iterates.size:.1e}"
    if has_bound:
        gradient += f", the relative duality gap {iterates.certificate.gap:.1e}"
    if iterates.unbounded:
        return UNBOUNDED
    # So near the minimum a line search fails for rounding.
    if iterates.finished or (iterates.converged and line_search_failed):
        return CONVERGED
    if len(iterates.path) - 1 >= max_iter:
        return f"stopped at max_iter={max_iter} ({gradient}): raise max_iter, alpha or tol."
    if stalled >= tolerances.MAX_STALLED_RESTARTS:
        # Where only rounding keeps the gap open, a Newton step sees next to no descent either.
        size = max(abs(iterates.path[-1]), iterates.certificate.floor)
        if iterates.is_small and (not has_bound or iterates.descent_left <= iterates.tol * size):
            return CONVERGED
        return (
            f"no further descent in floating point ({gradient}): raise tol or alpha, or scale the features."
        )
    return ""
