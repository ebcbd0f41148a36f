"""Gradient solvers: L-BFGS and Newton-CG with restarts.

Run one of scipy's gradient methods in rounds, each in coordinates that suit the place it starts from.

As p grows, the weight of a P-Norm Push gathers on few negatives and its level sets become long and thin;
a quasi-Newton method alone then needs thousands of iterations. The level sets are round in the coordinates
that whiten the weighted rows, and the weights settle early, so a few rounds of a few dozen iterations do.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from typing import Any

import numpy as np
from scipy.optimize import minimize

from pushrank._numeric import Floats
from pushrank.solvers.preconditioning import (
    WIDEST_WHITENED,
    Coordinates,
    column_curvature,
    diagonal,
    low_rank,
    rank,
    refreshed,
    whitened,
)
from pushrank.solvers.problem import LinearProblem
from pushrank.solvers.result import Callback, Result

FIRST_ROUND = 30
LATER_ROUNDS = 20
LATER_ROUNDS_WIDE = 100
STALLED = 3
CHEAP_WORK = 1 << 26  # below this n_rows * n_features**2, whitening takes milliseconds
REFINED = 1e-5  # and so does going on to this part of the tolerance, or as far as the value shows descent
ROUNDING = np.finfo(float).eps
TRIALS = 5  # steps after which a line search, within the tolerance, sees nothing but rounding
UNBOUNDED = (
    "the training data are separable and alpha=0, so the objective has no minimum; the coefficients rank "
    "every positive above every negative, by one at least. Set alpha > 0 for a unique solution."
)
TIGHTER = 0.1  # of the gradient that did not suffice for a proof
LOWEST = -700.0  # the logarithm of the smallest float, nearly


class _Iterates:
    """The objective along the iterations, the best point among them, and whether to stop there."""

    def __init__(
        self,
        problem: LinearProblem,
        start: Floats,
        system: Coordinates,
        scales: Floats,
        tol: float,
        refined: float,
        proven: Callable[[Floats], bool] | None,
        *,
        searches: bool,
    ) -> None:
        self._problem = problem
        self.system = system
        self._scales = scales
        self._tol, self._refined, self._proven = tol, refined, proven
        self._searches = searches  # along lines, for a descent that rounding may hide
        self.path: list[float] = []
        self._seen: tuple[Floats, float, Floats] = (start, *problem.value_and_gradient(start))
        self.accept(start)

    @property
    def converged(self) -> bool:
        """Whether the gradient is within the tolerance."""
        return self.size <= self._tol

    @property
    def finished(self) -> bool:
        """Whether it is as small as is worth the time, or will never be small."""
        lost = self._searches and self.converged and self.level
        return self.size <= self._refined * self._tol or lost or self.unbounded

    @property
    def level(self) -> bool:
        """Whether a Newton step, where the coordinates are round, would lower the value by its rounding."""
        slope = self.system.gradient(self._seen[2])
        return bool(0.5 * (slope @ slope) <= ROUNDING * abs(self.path[-1]))

    @property
    def unbounded(self) -> bool:
        """Whether a log-scale objective without penalty has sunk where only separable data can take it."""
        return self._problem.alpha == 0.0 and self.path[-1] < LOWEST

    def evaluate(self, coef: Floats) -> tuple[float, Floats]:
        """Return value and gradient, remembering them for ``accept``.

        Raises
        ------
        StopIteration
            When steps within the tolerance show no descent.
        """
        if not np.array_equal(coef, self._seen[0]):
            if self._searches and self.converged and self._trials == TRIALS:
                raise StopIteration
            self._trials += 1
            value, gradient = self._problem.value_and_gradient(coef)
            self._seen = (coef, value, gradient)
        return self._seen[1:]

    def accept(self, coef: Floats) -> None:
        """Take an iteration's point."""
        value, gradient = self.evaluate(coef)
        self.coef, self.size, self._trials = coef, self._size(gradient), 0
        self.path.append(value)
        if self.converged and self._proven is not None and not self._proven(coef):
            self._tol = TIGHTER * self.size

    def _size(self, gradient: Floats) -> float:
        return float(np.max(np.abs(gradient) / self._scales))


def minimise(
    problem: LinearProblem,
    start: Floats,
    *,
    method: str,
    options: dict[str, Any],
    tol: float,
    max_iter: int,
    callback: Callback | None = None,
    proven: Callable[[Floats], bool] | None = None,
) -> Result:
    """Minimise a smooth problem with a method of ``scipy.optimize.minimize``.

    Parameters
    ----------
    problem : LinearProblem
        The penalised objective.
    start : ndarray of shape (n_features,)
        The first coefficients.
    method : str
        The name of scipy's method.
    options : dict
        Its options; its own stopping rules should be off.
    tol : float
        Stop when no entry of the gradient, in units of the columns' standard deviations, exceeds this; where
        whitening is cheap, when the value shows no more descent either.
    max_iter : int
        Stop after so many iterations in all.
    callback : callable, optional
        Called after every iteration.
    proven : callable, optional
        Whether coefficients are good enough, asked where the gradient is; it has to shrink further until
        they are.
    """
    problem.model.check_range()
    # units are those of the data, whatever the start
    row_weights = problem.row_weights(np.zeros_like(start))
    curvature, scales = column_curvature(problem, row_weights)
    if start.any():
        row_weights = problem.row_weights(start)
        curvature = column_curvature(problem, row_weights)[0]
    n_rows, n_features = problem.model.n_rows, problem.model.n_features
    wide = n_features > WIDEST_WHITENED
    cheap = not wide and n_rows * n_features**2 <= CHEAP_WORK
    few_rows = wide and rank(problem) == n_rows
    system: Coordinates
    if cheap:
        system = whitened(problem, row_weights, scales)
    elif few_rows:
        system = low_rank(problem, row_weights)
    else:
        system = diagonal(problem, curvature)
    del row_weights
    later = LATER_ROUNDS_WIDE if wide and not few_rows else LATER_ROUNDS
    length = LATER_ROUNDS if cheap or few_rows else FIRST_ROUND
    # a proof says what is small enough
    refined = REFINED if cheap and proven is None else 1.0
    searches = method == "L-BFGS-B"
    iterates = _Iterates(problem, start, system, scales, tol, refined, proven, searches=searches)
    del system
    stalled, message = 0, "converged" if iterates.converged else ""
    while not message:
        before, n_before = iterates.path[-1], len(iterates.path)
        limit = min(length, max_iter - n_before + 1)
        _one_round(problem, iterates, method, {**options, "maxiter": limit}, callback)
        cut_short = searches and len(iterates.path) - n_before < limit
        stalled = stalled + 1 if iterates.path[-1] >= before else 0
        message = _reason_to_stop(problem, iterates, max_iter, stalled, cut_short=cut_short)
        if not message:
            length = later
            del iterates.system  # it may hold a good part of the memory that its successor needs
            iterates.system = refreshed(problem, iterates.coef, scales)
    coef = iterates.coef
    if message == UNBOUNDED:
        coef = coef / problem.margin(coef)
    advice = "" if iterates.converged else message
    return Result(coef, np.array(iterates.path), iterates.converged, iterates.size, advice)


def _one_round(
    problem: LinearProblem,
    iterates: _Iterates,
    method: str,
    options: dict[str, Any],
    callback: Callback | None,
) -> None:
    origin, system = iterates.coef, iterates.system

    def value_and_gradient(v: Floats) -> tuple[float, Floats]:
        value, gradient = iterates.evaluate(origin + system.step(v))
        return value, system.gradient(gradient)

    def hessian_product(v: Floats, direction: Floats) -> Floats:
        return system.gradient(problem.hessian_product(origin + system.step(v), system.step(direction)))

    def after_iteration(intermediate_result: Any) -> None:
        iterates.accept(origin + system.step(intermediate_result.x))
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


def _reason_to_stop(
    problem: LinearProblem, iterates: _Iterates, max_iter: int, stalled: int, *, cut_short: bool
) -> str:
    """Return why no further round should run and what the user can do; empty to go on."""
    gradient = f"the largest entry of the scaled gradient is {iterates.size:.1e}"
    if problem.alpha == 0.0 and not iterates.converged and problem.margin(iterates.coef) > 0.0:
        return UNBOUNDED
    # a round is cut short where steps show no descent, which so near the minimum is rounding
    if iterates.finished or (iterates.converged and cut_short):
        return "converged"
    if len(iterates.path) - 1 >= max_iter:
        return f"stopped at max_iter={max_iter} ({gradient}): raise max_iter, alpha or tol."
    if stalled >= STALLED:
        return (
            f"no further descent in floating point ({gradient}): raise tol or alpha, or scale the features."
        )
    return ""


NEVER = 0.0


def lbfgs(
    problem: LinearProblem,
    start: Floats,
    tol: float,
    max_iter: int,
    callback: Callback | None = None,
    proven: Callable[[Floats], bool] | None = None,
) -> Result:
    """Minimise by L-BFGS; parameters as for :func:`pushrank.solvers.gradient.minimise`.

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
        callback=callback,
        proven=proven,
    )


def newton_cg(
    problem: LinearProblem, start: Floats, tol: float, max_iter: int, callback: Callback | None = None
) -> Result:
    """Minimise by Newton-CG; parameters as for :func:`pushrank.solvers.gradient.minimise`.

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
        callback=callback,
    )
