"""Descent over the scores and over which positives count.

For given positives the scores are the solution of a convex problem; for given scores no positives have a
lower objective than the highest, since each term of its sum over positives falls with their score. So the two
are found in turns, and the objective never rises. Such turns are the concentration steps of trimmed
estimators: Rousseeuw and Van Driessen, *Computing LTS regression for large data sets*, Data Mining and
Knowledge Discovery 12 (2006), 29-45. Which local minimum they end in depends on the start, so that they go
down from all positives in small steps: jumps end in worse ones.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from copy import copy
from dataclasses import dataclass
from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from pushrank._numeric import Floats
from pushrank.objectives import PushObjective
from pushrank.pairs import BipartiteSample
from pushrank.solvers.gradient import lbfgs
from pushrank.solvers.newton import after_newton, newton, newton_by_sums
from pushrank.solvers.path import RegularisationPath
from pushrank.solvers.preconditioning import can_whiten, column_scales
from pushrank.solvers.problem import BlockProblem, LinearProblem
from pushrank.solvers.result import Callback, Result
from pushrank.solvers.sums import RowSource
from pushrank.solvers.tolerances import (
    MAX_SOLVER_ITERATIONS,
    MAX_TRIMMING_TURNS,
    NEWTON_STEPS,
    PATH_REFINED,
    TRIMMING_LBFGS_STEPS,
    TRIMMING_STEP,
    TRIMMING_TOL,
)


class TrimmedSolution(NamedTuple):
    """Coefficients, the positives that count, the objective before and after each turn."""

    coef: Floats
    kept: Any  # what the problem chose
    objective_path: list[float]
    converged: bool


def highest_weights(scores: Floats, weights: Floats, total: float) -> Floats:
    """Return the parts of some weights that the highest scores hold, ``total`` in all; ties share alike.

    O(n log n).

    Examples
    --------
    >>> highest_weights(np.array([3.0, 1.0, 2.0, 1.0]), np.ones(4), 3.0).tolist()
    [1.0, 0.5, 1.0, 0.5]
    """
    if total >= weights.sum():
        return weights
    order = np.argsort(-scores)
    last = int(np.searchsorted(np.cumsum(weights[order]), total * (1.0 - 1e-12)))
    cut = scores[order[last]]
    above, tied = scores > cut, scores == cut
    kept = np.where(above, weights, 0.0)
    kept[tied] = weights[tied] * min(1.0, (total - kept.sum()) / weights[tied].sum())
    return kept


class TrimmedProblem(Protocol):
    """What a path of trimmed pushes asks of the rows, wherever they are.

    Which positives count is ``Chosen``, whatever that is; None stands for all.
    """

    total: float  # the weight of all positives
    n_features: int
    takes_newton: bool  # whether turns on the way are steps of Newton's method

    def highest(self, coef: Floats, total: float) -> Any:
        """Return the highest positives of a total weight; ties share alike."""

    def is_same(self, chosen: Any, other: Any) -> bool:
        """Return whether the same positives count, and as much."""

    def solve(self, coef: Floats, chosen: Any, tol: float, max_iter: int) -> Result:
        """Return the solution for chosen positives from some coefficients."""

    def newton_turns(self, coef: Floats, total: float, tol: float, max_iter: int) -> Result:
        """Return where Newton's method goes if the highest positives are chosen anew after every step."""


@dataclass
class TrimmedRows:
    """The problem of rows in memory, with the solver on all of them."""

    path: RegularisationPath
    objective: PushObjective
    is_positive: NDArray[np.bool_]
    weights: Floats
    alpha: float

    def __post_init__(self) -> None:
        """Count the positives; all scores are zero at first."""
        self.positive_weights = self.weights[self.is_positive]
        self.total, self.n_features = float(self.positive_weights.sum()), self.path.model.n_features
        self.takes_newton = can_whiten(self.path.model) and self.alpha > 0.0
        self._scored = np.zeros(self.n_features), np.zeros(self.path.model.n_rows)

    def highest(self, coef: Floats, total: float) -> Floats:
        """Return the weights of the positives among the highest."""
        return highest_weights(self._scores(coef)[self.is_positive], self.positive_weights, total)

    def is_same(self, chosen: Floats, other: Floats) -> bool:
        """Return whether weights are the same."""
        return np.array_equal(chosen, other)

    def solve(self, coef: Floats, chosen: Floats | None, tol: float, max_iter: int) -> Result:
        """Return the solution for weights of the positives."""
        solver = copy(self.path)
        solver.tol, solver.max_iter = tol, max_iter
        sample = None if chosen is None else self._sample(chosen)
        return solver.descend(self.objective, self.alpha, [(coef, self._scores(coef))], sample)

    def newton_turns(self, coef: Floats, total: float, tol: float, max_iter: int) -> Result:
        """Return where Newton's method goes; its last scores are not kept."""
        path = self.path

        def resample(scores: Floats) -> BipartiteSample:
            return self._sample(highest_weights(scores[self.is_positive], self.positive_weights, total))

        scores = self._scores(coef)
        problem = LinearProblem(self.objective, path.model, resample(scores), self.alpha)
        return newton(problem, coef, path.units(problem), tol, max_iter, scores, resample)

    def _scores(self, coef: Floats) -> Floats:
        if not np.array_equal(self._scored[0], coef):
            self._scored = coef, self.path.model.scores(coef)
        return self._scored[1]

    def _sample(self, chosen: Floats) -> BipartiteSample:
        kept = self.weights.copy()
        kept[self.is_positive] = chosen
        return BipartiteSample.from_mask(self.is_positive, kept)


class PositiveChooser(RowSource, Protocol):
    """A source of rows that finds the highest of its positives without having their scores."""

    def highest_positives(self, coef: Floats, total: float) -> PositiveChooser:
        """Return the rows with no other positives than the highest, of a total weight; ties share alike."""

    def same_positives(self, other: PositiveChooser) -> bool:
        """Return whether the same positives have the same weights."""


@dataclass
class TrimmedSource:
    """The problem of rows anywhere, of which only sums are asked."""

    rows: PositiveChooser
    objective: PushObjective
    alpha: float

    def __post_init__(self) -> None:
        """Measure how the columns vary."""
        self.total, self.n_features = self.rows.class_weights[0], self.rows.n_features
        problem = self._problem(self.rows)
        problem.check_range()
        self.takes_newton = can_whiten(problem) and self.alpha > 0.0
        self.scales = column_scales(problem.moments(np.zeros(self.n_features)), problem.n_rows)

    def highest(self, coef: Floats, total: float) -> PositiveChooser:
        """Return the rows with the highest positives."""
        return self.rows if total >= self.total else self.rows.highest_positives(coef, total)

    def is_same(self, chosen: PositiveChooser, other: PositiveChooser) -> bool:
        """Return whether the same positives count."""
        return chosen is other or chosen.same_positives(other)

    def solve(self, coef: Floats, chosen: PositiveChooser | None, tol: float, max_iter: int) -> Result:
        """Return the solution as :meth:`RegularisationPath.descend` does."""
        problem = self._problem(chosen or self.rows)
        if not self.takes_newton:
            return lbfgs(problem, coef, tol, max_iter)
        n_steps = min(NEWTON_STEPS, max_iter)
        result = newton_by_sums(problem, coef, self.scales, PATH_REFINED * tol, n_steps)
        return after_newton(problem, result, self.scales, tol, max_iter, newton_by_sums)

    def newton_turns(self, coef: Floats, total: float, tol: float, max_iter: int) -> Result:
        """Return where Newton's method goes."""

        def resample(coef: Floats) -> BlockProblem:
            return self._problem(self.highest(coef, total))

        return newton_by_sums(resample(coef), coef, self.scales, tol, max_iter, resample)

    def _problem(self, rows: PositiveChooser) -> BlockProblem:
        return BlockProblem(self.objective, rows, self.alpha)


def trimmed_path(
    problem: TrimmedProblem,
    totals: Sequence[float],
    tol: float,
    max_iter: int,
    callback: Callback | None = None,
    *,
    exact: bool = True,
) -> list[TrimmedSolution]:
    """Return the solutions that keep positives of some total weights, which fall; each starts from the last.

    ``max_iter`` is the largest number of turns at each total. ``callback`` is called after each of them with
    its number, the objective and the weight of the positives kept. If not ``exact``, the turns at the totals
    are as those on the way, and there half as many: a Newton step each, which does not raise the objective
    either.
    """
    rough_tol = max(tol, TRIMMING_TOL)

    def rough_turns(coef: Floats, total: float, most: int) -> TrimmedSolution:
        """Choose the highest positives anew after every Newton step, which hardly changes where paths end."""
        if not problem.takes_newton:
            return turns(coef, total, most, rough_tol, TRIMMING_LBFGS_STEPS)
        found = problem.newton_turns(coef, total, rough_tol, most)
        chosen = problem.highest(found.coef, total)
        return TrimmedSolution(found.coef, chosen, found.objective_path.tolist(), found.converged)

    def turns(
        coef: Floats, total: float, most: int, tol: float, max_steps: int, callback: Callback | None = None
    ) -> TrimmedSolution:
        """Choose the highest positives and solve for them in turns, from some coefficients."""
        chosen: Any = None
        is_solved = False
        is_settled = total >= problem.total  # all positives are the only choice
        values: list[float] = []
        for turn in range(1, most + 1):
            before, chosen = chosen, problem.highest(coef, total)
            is_settled |= before is not None and problem.is_same(chosen, before)
            if is_settled and is_solved:
                break
            result = problem.solve(coef, chosen, tol, max_steps)
            coef, is_solved = result.coef, result.converged
            values += result.objective_path[[0, -1] if turn == 1 else [-1]].tolist()
            if callback is not None:
                callback(turn, objective=values[-1], kept=total)
        return TrimmedSolution(coef, chosen, values, is_settled and is_solved)

    total = problem.total
    coef = problem.solve(np.zeros(problem.n_features), None, rough_tol, MAX_SOLVER_ITERATIONS).coef
    solutions = []
    for target in totals:
        # steps alike, so that a path to the last of some totals passes through the others
        n_steps = max(1, math.ceil(math.log(total / target) / -math.log(TRIMMING_STEP) - 1e-9))
        for step in range(1, n_steps):
            between = total * (target / total) ** (step / n_steps)
            coef = rough_turns(coef, between, MAX_TRIMMING_TURNS if exact else MAX_TRIMMING_TURNS // 2).coef
        total = target
        if exact:
            solution = turns(coef, total, max_iter, tol, MAX_SOLVER_ITERATIONS, callback)
        else:
            solution = rough_turns(coef, total, max_iter)
        coef = solution.coef
        solutions.append(solution)
    return solutions
