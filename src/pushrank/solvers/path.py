"""Fits along a grid of prices and penalties."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from pushrank._numeric import Floats
from pushrank._parallel import one_blas_thread
from pushrank.models import LinearModel, in_row_space
from pushrank.objectives import PushObjective
from pushrank.pairs import Sample
from pushrank.solvers.gradient import lbfgs
from pushrank.solvers.newton import after_newton, newton
from pushrank.solvers.preconditioning import can_whiten, column_scales
from pushrank.solvers.problem import LinearProblem
from pushrank.solvers.result import Callback, Result
from pushrank.solvers.tolerances import NEWTON_STEPS, PATH_REFINED


class RegularisationPath:
    """Solutions for a grid of objectives and penalties on the same rows; ``max_iter`` is that of each."""

    def __init__(self, model: LinearModel, sample: Sample, tol: float, max_iter: int) -> None:
        model.check_range()
        self.model, self.sample = in_row_space(model), sample
        self.tol, self.max_iter = tol, max_iter
        self._scales: dict[object, Floats] = {}

    def solve_grid(
        self, objectives: Sequence[PushObjective], alphas: Sequence[float], callback: Callback | None = None
    ) -> list[list[Result]]:
        """Return the solution for every objective and, within it, for every penalty, in the order given.

        Penalties are solved from the largest down. A start is the better of the two neighbours: the same
        objective with a larger penalty, and the objective before with the same penalty. The callback is
        called after every solution with its number, its objective and gradient.
        """
        solved: list[list[Result | None]] = [[None] * len(alphas) for _ in objectives]
        downwards = sorted(range(len(alphas)), key=lambda a: -alphas[a])
        with one_blas_thread():
            for o, objective in enumerate(objectives):
                last: Result | None = None
                for number, a in enumerate(downwards, 1 + o * len(alphas)):
                    neighbours = [last, solved[o - 1][a] if o else None]
                    starts = [result.coef for result in neighbours if result is not None]
                    last = self.descend(
                        objective, alphas[a], self._scored(starts or [np.zeros(self.model.n_features)])
                    )
                    solved[o][a] = last
                    if callback is not None:
                        callback(number, objective=last.objective_path[-1], gradient=last.gradient_size)
        return [[self._lifted(result) for result in row if result is not None] for row in solved]

    def solve(self, objective: PushObjective, alpha: float, starts: Sequence[Floats]) -> Result:
        """Return the solution for one objective and penalty, from the best of some starts."""
        projected = [self.model.project(start) for start in starts]
        return self._lifted(self.descend(objective, alpha, self._scored(projected)))

    def descend(
        self,
        objective: PushObjective,
        alpha: float,
        starts: Sequence[tuple[Floats, Floats]],
        sample: Sample | None = None,
    ) -> Result:
        """Return the solution from the best of some starts, given with their scores.

        Coefficients are those of ``model``, in the row space of wide data. The solution may be for a part of
        the rows, whose columns are taken to vary as those of all.
        """
        problem = LinearProblem(objective, self.model, sample or self.sample, alpha)
        start, scores = starts[0]
        if len(starts) > 1:
            start, scores = min(starts, key=lambda known: problem.at(*known)[0])
        # the Hessian is a covariance, not singular, and small enough to factor
        if objective.powers is not None and alpha > 0.0 and can_whiten(problem):
            scales, n_steps = self.units(problem), min(NEWTON_STEPS, self.max_iter)
            result = newton(problem, start, scales, PATH_REFINED * self.tol, n_steps, scores)
            return after_newton(problem, result, scales, self.tol, self.max_iter, newton)
        return lbfgs(problem, start, self.tol, self.max_iter)

    def _scored(self, starts: Sequence[Floats]) -> list[tuple[Floats, Floats]]:
        return [(start, self.model.scores(start)) for start in starts]

    def _lifted(self, result: Result) -> Result:
        return replace(result, coef=self.model.lift(result.coef))

    def units(self, problem: LinearProblem) -> Floats:
        """Return the units of the gradient, which are those of the data, found once an objective."""
        objective = problem.objective
        if objective not in self._scales:
            at_zero = problem.moments(np.zeros(self.model.n_features))
            self._scales[objective] = column_scales(at_zero, problem.n_rows)
        return self._scales[objective]
