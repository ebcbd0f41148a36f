"""Boosting as coordinate descent: in each round the steepest column, and the best step along it.

With the columns as weak rankers and the P-Norm Push's objective this is the algorithm of Rudin (2009),
figure 2; with p = 1 it is RankBoost.
"""

from __future__ import annotations

import numpy as np

from pushrank._log_space import Floats, softmax_and_log_sum
from pushrank.objectives import ByClass
from pushrank.solvers.coordinates import column_curvature
from pushrank.solvers.line_search import exact_step
from pushrank.solvers.problem import Problem
from pushrank.solvers.result import Result, Watcher

REFRESH = 100  # rounds after which scores are computed afresh, so that rounding does not pile up


def coordinate_descent(
    problem: Problem, start: Floats, tol: float, max_iter: int, watcher: Watcher | None = None
) -> Result:
    """Minimise by exact steps along one coefficient at a time.

    Parameters are those of :func:`pushrank.solvers.rounds.minimise`; ``max_iter`` is the paper's
    :math:`t_{max}`.

    Notes
    -----
    A round costs one reading of the data to choose the column and O(n_rows) a trial step. A column of two
    values has a closed form when ``alpha=0``. A column that ranks all pairs the same way has its best step
    at infinity when ``alpha=0``: the step is then that of a sample with one more pair of each kind, split
    evenly (smoothing by one over the number of pairs, as RankBoost implementations do).

    References
    ----------
    Rudin, *The P-Norm Push*, JMLR 10 (2009), figure 2.
    """
    problem.model.check_range()
    coef = start.copy()
    scores = problem.model.scores(coef)
    scales = column_curvature(problem, problem.row_weights(np.zeros_like(coef)))[1]
    path: list[float] = []
    message = ""
    while True:
        at_point = problem.objective.linearise(problem.sample, scores)
        gradient = problem.model.pull_back(problem.sample.join(*at_point.gradient())) + problem.alpha * coef
        size = float(np.max(np.abs(gradient) / scales))
        path.append(at_point.value + 0.5 * problem.alpha * float(coef @ coef))
        rounds = len(path) - 1
        if watcher is not None and rounds:
            watcher(rounds, path[-1], size)
        if size <= tol:
            break
        if rounds >= max_iter:
            message = f"stopped after max_iter={max_iter} rounds (the largest entry of the scaled gradient "
            message += f"is {size:.1e}): raise max_iter or tol, or use solver='lbfgs'."
            break
        j = int(np.argmax(np.abs(gradient)))
        column = problem.model.column(j)
        step = _best_step(problem, scores, column, float(coef[j]))
        coef[j] += step
        scores = problem.model.scores(coef) if rounds % REFRESH == REFRESH - 1 else scores + step * column
    return Result(coef, np.array(path), not message, size, message)


def _best_step(problem: Problem, scores: Floats, column: Floats, weight: float) -> float:
    """Return the step along a column that minimises the penalised objective."""
    least, most = float(column.min()), float(column.max())
    powers = problem.objective.powers
    pairs = float(len(problem.sample.positives)) * len(problem.sample.negatives)
    binary = bool(np.all((column == least) | (column == most)))
    if binary and powers is not None and problem.alpha == 0.0:
        return _binary_step(problem, scores, column == most, powers, 1.0 / pairs) / (most - least)

    along = ByClass(*problem.sample.split(column))

    def slope(step: float) -> tuple[float, float]:
        at_point = problem.objective.linearise(problem.sample, scores + step * column)
        first = at_point.gradient().dot(along) + problem.alpha * (weight + step)
        if not problem.objective.twice_differentiable:
            return first, 0.0
        return first, at_point.hessian_product(along).dot(along) + problem.alpha

    longest = np.log1p(pairs) / (most - least) / sum(powers or (1.0, 1.0))
    return exact_step(slope, longest if problem.alpha == 0.0 else np.inf)


def _binary_step(
    problem: Problem, scores: Floats, h: np.ndarray, powers: tuple[float, float], epsilon: float
) -> float:
    r"""Return the step :math:`\ln(A_1 B_0 / A_0 B_1) / (c_+ + c_-)` of a weak ranker in {0, 1}."""
    sample = problem.sample
    of_positives, of_negatives = sample.split(scores)
    shares = []
    for exponents, weights, rows in (
        (-powers[0] * of_positives, sample.positive_weights, sample.positives),
        (powers[1] * of_negatives, sample.negative_weights, sample.negatives),
    ):
        mass = softmax_and_log_sum(exponents if weights is None else exponents + np.log(weights))[0]
        ones = h[rows]
        shares.append((float(mass[ones].sum()), float(mass[~ones].sum())))
    (a1, a0), (b1, b0) = shares
    for_h, against_h = a1 * b0, a0 * b1
    if for_h == 0.0 or against_h == 0.0:
        for_h, against_h = for_h + epsilon, against_h + epsilon
    return float(np.log(for_h / against_h)) / sum(powers)
