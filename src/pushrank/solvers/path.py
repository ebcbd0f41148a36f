"""Fits along a grid of prices and penalties."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from pushrank._base.numeric import Floats
from pushrank._base.parallel import one_blas_thread
from pushrank.models import LinearModel, in_row_space
from pushrank.objectives import PushObjective
from pushrank.pairs import Sample
from pushrank.rows import MemoryRows
from pushrank.solvers import tolerances
from pushrank.solvers.gradient import lbfgs
from pushrank.solvers.newton import has_newton, newton_or_lbfgs
from pushrank.solvers.preconditioning import units_at_zero
from pushrank.solvers.problem import linear_problem
from pushrank.solvers.result import Result


class RegularisationPath:
    """Solutions for a grid of objectives and penalties on the same rows; ``max_iter`` is that of each."""

    # With `rough` a solver stops where the gradient is below `tol`, and does not go on for the duality gap;
    # Newton's method takes its Hessians from some of many rows.

    def __init__(
        self, model: LinearModel, sample: Sample, tol: float, max_iter: int, *, rough: bool = False
    ) -> None:
        model.check_range()
        self.rows = MemoryRows(in_row_space(model), sample)
        self.tol, self.max_iter = tol, max_iter
        self.rows.n_curving = tolerances.CURVING_ROWS_A_COLUMN * self.rows.n_features if rough else None
        self._refinement = tolerances.ROUGH_REFINEMENT if rough else tolerances.NEWTON_REFINEMENT
        self._proven = (lambda _: True) if rough else None
        self._scales: dict[object, Floats] = {}
        self._solved: dict[tuple[object, float], Result] = {}

    def solve_grid(self, objectives: Sequence[PushObjective], alphas: Sequence[float]) -> list[list[Result]]:
        """Return the solution for every objective and, within it, for every penalty, in the order given."""
        solved: list[list[Result | None]] = [[None] * len(alphas) for _ in objectives]
        # From the largest penalty down each solution is near the next. The solution of the objective before,
        # with the same penalty, may be nearer still: the better of both is the start.
        downwards = sorted(range(len(alphas)), key=lambda a: -alphas[a])
        with one_blas_thread():
            for o, objective in enumerate(objectives):
                last: Result | None = None
                for a in downwards:
                    if (last_key := (objective, alphas[a])) not in self._solved:
                        neighbours = [last, solved[o - 1][a] if o else None]
                        starts = [result.coef for result in neighbours if result is not None]
                        starts = starts or [np.zeros(self.rows.n_features)]
                        self._solved[last_key] = self._descend(objective, alphas[a], starts)
                    solved[o][a] = last = self._solved[last_key]
        return [[self._lifted(result) for result in row if result is not None] for row in solved]

    def solve(self, objective: PushObjective, alpha: float, starts: Sequence[Floats]) -> Result:
        """Return the solution for one objective and penalty, from the best of some starts."""
        projected = [self.rows.project(start) for start in starts]
        return self._lifted(self._descend(objective, alpha, projected))

    def _descend(self, objective: PushObjective, alpha: float, starts: Sequence[Floats]) -> Result:
        """Return the solution from the best of some starts, in the coordinates of the model."""
        problem = linear_problem(objective, self.rows, alpha)
        if not has_newton(problem):
            start = starts[0] if len(starts) == 1 else min(starts, key=problem.value)
            return lbfgs(problem, start, self.tol, self.max_iter, proven=self._proven)
        # Newton's method goes on from the point itself, whose scores need not be computed again.
        point = min((problem.point(start) for start in starts), key=lambda point: point.value)
        # The units of the gradient are those of the data, and measured once an objective.
        if objective not in self._scales:
            self._scales[objective] = units_at_zero(problem)
        scales = self._scales[objective]
        return newton_or_lbfgs(point, scales, self.tol, self.max_iter, refinement=self._refinement)

    def _lifted(self, result: Result) -> Result:
        return replace(result, coef=self.rows.lift(result.coef))
