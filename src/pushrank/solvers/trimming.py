"""Descent over the scores and over which positives count, in turns, so that the objective never rises.

Such turns are the concentration steps of trimmed estimators: Rousseeuw and Van Driessen, *Computing LTS
regression for large data sets*, Data Mining and Knowledge Discovery 12 (2006), 29-45.
"""

import math
from collections.abc import Sequence
from functools import cached_property
from typing import NamedTuple

import numpy as np

from pushrank._base.numeric import Floats
from pushrank.rows import RowSource
from pushrank.solvers import tolerances
from pushrank.solvers.gradient import lbfgs
from pushrank.solvers.newton import has_newton, newton, newton_or_lbfgs
from pushrank.solvers.preconditioning import units_at_zero
from pushrank.solvers.problem import Point, Problem, linear_problem
from pushrank.solvers.result import Callback, Result

Total = Floats | float
"""The weight of the positives that count, of all rows or of each query group."""


class TrimmedSolution(NamedTuple):
    """Coefficients, the rows with the positives that count, the objective before and after each turn."""

    coef: Floats
    rows: RowSource
    objective_path: list[float]
    converged: bool


class TrimmedDescent:
    """The two-sum objective of ``problem`` on those positives that rank highest, wherever the rows lie."""

    def __init__(self, problem: Problem, total: Total | None = None) -> None:
        self._problem, self._rows = problem, problem.rows
        self.total: Total = problem.rows.class_weights[0] if total is None else total
        self.takes_newton = has_newton(problem)
        self._scored: tuple[Floats, Floats | None] | None = None

    @cached_property
    def scales(self) -> Floats:
        """The units of the gradient, which are those of all rows, whichever of them are kept."""
        return units_at_zero(self._problem)

    def solve(
        self, coef: Floats, rows: RowSource, tol: float, max_iter: int, scores: Floats | None = None
    ) -> Result:
        """Return the solution for rows with some positives, from coefficients whose scores may be at hand."""
        problem = self._trimmed(rows)
        if not self.takes_newton:
            return lbfgs(problem, coef, tol, max_iter)
        return newton_or_lbfgs(problem.point(coef, scores), self.scales, tol, max_iter)

    def turns(
        self,
        coef: Floats,
        total: Total,
        max_turns: int,
        tol: float,
        max_steps: int,
        callback: Callback | None = None,
    ) -> TrimmedSolution:
        """Choose the highest positives and solve for them in turns, from some coefficients."""
        chosen: RowSource | None = None
        is_solved = False
        # With the weight of all positives there is one choice, and one turn settles it.
        is_settled = bool(np.all(total >= self.total))
        values: list[float] = []
        for turn in range(1, max_turns + 1):
            # The scores by which the positives are chosen also start Newton's method.
            scores = self._scores(coef)
            before, chosen = chosen, self._highest(coef, total, scores)
            is_settled |= before is not None and chosen.same_positives(before)
            if is_settled and is_solved:
                break
            result = self.solve(coef, chosen, tol, max_steps, scores)
            coef, is_solved = result.coef, result.converged
            values += result.objective_path[[0, -1] if turn == 1 else [-1]].tolist()
            if callback is not None:
                callback(turn, objective=values[-1], kept=float(np.sum(total)))
        return TrimmedSolution(coef, chosen or self._rows, values, is_settled and is_solved)

    def single_steps(
        self, coef: Floats, total: Total, max_steps: int, tol: float, light: float = 0.0
    ) -> TrimmedSolution:
        """Choose the highest positives before every Newton step, or before a few iterations of L-BFGS."""
        if not self.takes_newton:
            return self.turns(coef, total, max_steps, tol, tolerances.TRIMMING_LBFGS_STEPS)

        # The positives are those that rank highest at the point that the last step reached.
        def resample(point: Point) -> Problem:
            return self._trimmed(self._highest(point.coef, total, point.scores))

        scores = self._scores(coef)
        point = self._trimmed(self._highest(coef, total, scores)).point(coef, scores)
        result = newton(point, self.scales, tol, max_steps, resample, light=light)
        chosen = self._highest(result.coef, total, self._scores(result.coef))
        return TrimmedSolution(result.coef, chosen, result.objective_path.tolist(), result.converged)

    def _scores(self, coef: Floats) -> Floats | None:
        """Return the scores of all rows; a stage starts from coefficients whose scores ended the last one."""
        if self._scored is None or self._scored[0] is not coef:
            self._scored = coef, self._rows.scores(coef)
        return self._scored[1]

    def _highest(self, coef: Floats, total: Total, scores: Floats | None) -> RowSource:
        """Return the rows with the highest positives of a total weight; ties share it equally."""
        is_all = np.all(total >= self.total)
        return self._rows if is_all else self._rows.highest_positives(coef, total, scores)

    def _trimmed(self, rows: RowSource) -> Problem:
        before = self._problem
        return linear_problem(before.objective, rows, before.alpha, positive=before.positive)


def trimmed_path(
    problem: Problem,
    totals: Sequence[Total],
    tol: float,
    max_iter: int,
    callback: Callback | None = None,
    *,
    exact: bool = True,
    whole: Total | None = None,
    start: Floats | None = None,
) -> list[TrimmedSolution]:
    """Return solutions that keep positives of some total weights, which fall; each starts from the last."""
    # `max_iter` is the largest number of turns at each total; `callback` is called after each of them. With
    # `exact=False` every stage takes single Newton steps, which do not raise the objective either, and
    # intermediate stages take half as many. Of rows in query groups the totals are arrays with an entry for
    # each query, `whole` those of all positives. `start` is the known solution with all.
    problem.rows.check_range()
    descent, rough_tol = TrimmedDescent(problem, whole), max(tol, tolerances.TRIMMING_TOL)
    max_steps = tolerances.MAX_TRIMMING_TURNS if exact else tolerances.MAX_TRIMMING_TURNS // 2
    # Hessians of rows on a cluster leave none out, and an exact solution does not depend on where rows lie.
    light = 0.0 if exact else tolerances.LIGHT_ROW
    total = descent.total
    # The path starts at the solution with all positives, whose basin the local minima below are reached from.
    coef = start
    if coef is None:
        zeros = np.zeros(problem.n_features)
        coef = descent.solve(zeros, problem.rows, rough_tol, tolerances.MAX_SOLVER_ITERATIONS).coef
    solutions = []
    for target in totals:
        # Stages are equal in ratio, so that a path to the last of some totals passes through the others.
        steps = math.log(np.max(total / target)) / -math.log(tolerances.TRIMMING_STEP)
        n_stages = max(1, math.ceil(steps - 1e-9))
        for stage in range(1, n_stages):
            between = total * (target / total) ** (stage / n_stages)
            coef = descent.single_steps(coef, between, max_steps, rough_tol, light).coef
        total = target
        if exact:
            solution = descent.turns(coef, total, max_iter, tol, tolerances.MAX_SOLVER_ITERATIONS, callback)
        else:
            solution = descent.single_steps(coef, total, max_iter, rough_tol, light)
        coef = solution.coef
        solutions.append(solution)
    return solutions
