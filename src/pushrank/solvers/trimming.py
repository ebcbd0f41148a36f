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
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from pushrank._numeric import Floats
from pushrank.objectives import PushObjective
from pushrank.pairs import BipartiteSample
from pushrank.solvers.newton import newton
from pushrank.solvers.path import RegularisationPath
from pushrank.solvers.preconditioning import can_whiten
from pushrank.solvers.problem import LinearProblem
from pushrank.solvers.result import Callback
from pushrank.solvers.tolerances import (
    MAX_TRIMMING_TURNS,
    TRIMMING_LBFGS_STEPS,
    TRIMMING_STEP,
    TRIMMING_TOL,
)


class TrimmedSolution(NamedTuple):
    """Coefficients, the weights of the positives that count, the objective before and after each turn."""

    coef: Floats
    kept: Floats
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


def trimmed_path(
    path: RegularisationPath,
    objective: PushObjective,
    is_positive: NDArray[np.bool_],
    weights: Floats,
    alpha: float,
    totals: Sequence[float],
    max_iter: int,
    callback: Callback | None = None,
    *,
    exact: bool = True,
) -> list[TrimmedSolution]:
    """Return the solutions that keep positives of some total weights, which fall; each starts from the last.

    ``path`` is the solver on all rows, ``max_iter`` the largest number of turns at each total. ``callback``
    is called after each of them with its number, the objective and the weight of the positives kept. If not
    ``exact``, the turns at the totals are as those on the way, and there half as many: a Newton step each,
    which does not raise the objective either.
    """
    model, positive_weights = path.model, weights[is_positive]
    start = copy(path)
    start.tol = max(path.tol, TRIMMING_TOL)
    rough = copy(start)
    rough.max_iter = TRIMMING_LBFGS_STEPS

    def highest_positives(total: float, scores: Floats) -> Floats:
        return highest_weights(scores[is_positive], positive_weights, total)

    def sample(chosen: Floats) -> BipartiteSample:
        kept = weights.copy()
        kept[is_positive] = chosen
        return BipartiteSample.from_mask(is_positive, kept)

    def newton_turns(coef: Floats, total: float, most: int) -> TrimmedSolution:
        """Choose the highest positives anew after every Newton step, which hardly changes where paths end."""

        def resample(scores: Floats) -> BipartiteSample:
            return sample(highest_positives(total, scores))

        scores = model.scores(coef)
        problem = LinearProblem(objective, model, resample(scores), alpha)
        found = newton(problem, coef, path.units(problem), start.tol, most, scores, resample)
        chosen = highest_positives(total, model.scores(found.coef))
        return TrimmedSolution(found.coef, chosen, found.objective_path.tolist(), found.converged)

    def turns(
        solver: RegularisationPath, coef: Floats, total: float, most: int, callback: Callback | None = None
    ) -> TrimmedSolution:
        """Choose the highest positives and solve for them in turns, from some coefficients."""
        if solver is rough and can_whiten(model) and alpha > 0.0:
            return newton_turns(coef, total, most)
        chosen, is_solved = np.zeros(0), False
        is_settled = bool(total >= positive_weights.sum())  # all positives are the only choice
        values: list[float] = []
        for turn in range(1, most + 1):
            scores = model.scores(coef)
            before, chosen = chosen, highest_positives(total, scores)
            is_settled |= np.array_equal(chosen, before)
            if is_settled and is_solved:
                break
            result = solver.descend(objective, alpha, [(coef, scores)], sample(chosen))
            coef, is_solved = result.coef, result.converged
            values += result.objective_path[[0, -1] if turn == 1 else [-1]].tolist()
            if callback is not None:
                callback(turn, objective=values[-1], kept=total)
        return TrimmedSolution(coef, chosen, values, is_settled and is_solved)

    total = float(positive_weights.sum())
    zeros = np.zeros(model.n_features), np.zeros(model.n_rows)
    coef = start.descend(objective, alpha, [zeros]).coef
    solutions = []
    for target in totals:
        # steps alike, so that a path to the last of some totals passes through the others
        n_steps = max(1, math.ceil(math.log(total / target) / -math.log(TRIMMING_STEP) - 1e-9))
        for step in range(1, n_steps):
            between = total * (target / total) ** (step / n_steps)
            coef = turns(rough, coef, between, MAX_TRIMMING_TURNS if exact else MAX_TRIMMING_TURNS // 2).coef
        total = target
        solution = turns(path if exact else rough, coef, total, max_iter, callback)
        coef = solution.coef
        solutions.append(solution._replace(coef=model.lift(coef)))
    return solutions
