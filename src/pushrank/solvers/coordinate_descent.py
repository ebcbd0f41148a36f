"""Boosting as coordinate descent: in each round the steepest weak ranker, and the best step along it.

With the P-Norm Push's objective this is the algorithm of Rudin (2009), figure 2; with p = 1 it is RankBoost,
with AdaBoost's objective AdaBoost, and with the rule for steps of the smooth margin Smooth Margin Ranking.
"""

from __future__ import annotations

from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from pushrank._log_space import Floats
from pushrank.objectives import PushObjective
from pushrank.solvers.coordinates import column_curvature
from pushrank.solvers.problem import Problem
from pushrank.solvers.result import Result, Watcher
from pushrank.solvers.score_problem import Point, ScoreProblem, score_problem
from pushrank.solvers.step_rules import Direction, ExactStep, StepRule
from pushrank.weak_rankers import Columns
from pushrank.weak_rankers.base import GrowingPool, Numbers, Pool

REFRESH = 100  # rounds after which a linear model's scores are computed afresh, against piling up of rounding
TIE = 1e-9  # relative difference of slopes below which two rankers are as steep as each other
Choice = Literal["steepest", "lowest"]


class Round(NamedTuple):
    """What a round of boosting did.

    Attributes
    ----------
    ranker : int
        The number of the weak ranker chosen.
    edge : float
        Its edge :math:`r_t`: minus the slope of the objective along it, signed.
    step : float
        How its weight changed.
    """

    ranker: int
    edge: float
    step: float


class CoordinateDescent:
    """The state of a boosting run: the training rows' scores and the weak rankers' weights.

    Parameters
    ----------
    problem : ScoreProblem
        The objective of the scores.
    pool : Pool
        The weak rankers on the training rows.
    rule : StepRule
        How far to step.
    choice : {"steepest", "lowest"}, default="steepest"
        Take the ranker with the largest edge, or the one with the lowest objective after its own best step
        (Freund's RankBoost).
    ridge : ndarray of shape (n_rankers,) or float, default=0.0
        The penalty is half of this times the squares of the weights.
    scales : ndarray of shape (n_rankers,) or float, default=1.0
        Slopes are measured in these units where they are compared with the tolerance.
    lower, upper : ndarray of shape (n_rankers,) or float
        Bounds of the weights.
    learning_rate : float, default=1.0
        What part of each step is taken.
    """

    def __init__(
        self,
        problem: ScoreProblem,
        pool: Pool,
        rule: StepRule,
        *,
        choice: Choice = "steepest",
        ridge: Floats | float = 0.0,
        scales: Floats | float = 1.0,
        lower: Floats | float = -np.inf,
        upper: Floats | float = np.inf,
        learning_rate: float = 1.0,
    ) -> None:
        self.problem, self.pool, self.rule, self.choice = problem, pool, rule, choice
        self.ridge, self.scales, self.lower, self.upper = ridge, scales, lower, upper
        self.learning_rate = learning_rate
        self.weights: Floats = np.zeros(pool.n_rankers)

    def start(self, scores: Floats, weights: Floats | None = None) -> None:
        """Set the scores, and the weights that they came from."""
        self.scores = scores
        if weights is not None:
            self.weights = weights
        self.point = self.problem.at(scores)

    @property
    def norm(self) -> float:
        """The sum of the absolute weights."""
        return float(np.abs(self.weights).sum())

    @property
    def objective(self) -> float:
        """The penalised objective."""
        return self.point.value + 0.5 * float(np.sum(self.ridge * self.weights**2))

    def slopes(self, point: Point) -> Floats:
        """Return the objective's slope along every ranker; zero where a bound stops it."""
        return self._unstopped(self.ridge * self.weights - self.pool.edges(-point.gradient))

    def _unstopped(self, slopes: Floats) -> Floats:
        stopped = ((slopes < 0.0) & (self.weights >= self.upper)) | (
            (slopes > 0.0) & (self.weights <= self.lower)
        )
        return np.where(stopped, 0.0, slopes)

    def size(self, slopes: Floats) -> float:
        """Return the largest slope in its ranker's unit."""
        return float(np.max(np.abs(slopes) / self.scales, initial=0.0))

    def round(
        self,
        tol: float,
        *,
        rows: NDArray[np.bool_] | None = None,
        features: Numbers | None = None,
        random_state: np.random.RandomState | None = None,
    ) -> Round | None:
        """Take one step and return it, or None where no slope exceeds ``tol``.

        Parameters
        ----------
        tol : float
            The tolerance.
        rows : ndarray of bool, shape (n_rows,), optional
            Choose and step by these rows alone.
        features : ndarray of int, optional
            Choose among the rankers of these features alone.
        random_state : RandomState, optional
            For rankers that are made in the round.
        """
        problem, point = self.problem, self.point
        if rows is not None:
            problem = problem.restricted(rows)
            point = problem.at(self.scores)
        if isinstance(self.pool, GrowingPool):
            self._grow(self.pool, point, features, random_state or np.random.RandomState(0))
        halves = self._halves(point) if self.choice == "lowest" else None
        if halves is None:
            slopes = self.slopes(point)
        else:
            slopes = self._unstopped(self.ridge * self.weights - (halves[0] - halves[1]))
        if features is not None:
            of_no_feature = self.pool.features < 0
            slopes = np.where(np.isin(self.pool.features, features) | of_no_feature, slopes, 0.0)
        ranker = _first_largest(np.abs(slopes))
        self.gradient_size = self.size(slopes)
        if self.gradient_size <= tol or slopes[ranker] == 0.0:
            return None
        if halves is not None:
            ranker = self._lowest(problem, point, slopes, *halves)
        along = self._direction(ranker)
        step = self.learning_rate * self.rule.step(problem, point, self.scores, along)
        step = float(np.clip(step, *self._room(ranker)))
        if step == 0.0:
            return None
        self.weights[ranker] += step
        if along.values.dtype == bool:
            np.add(self.scores, step, out=self.scores, where=along.values)
            if self.pool.low != 0.0:
                np.add(self.scores, self.pool.low * step, out=self.scores, where=~along.values)
        else:
            self.scores += step * along.values
        edge = _entry(self.ridge, ranker) * (self.weights[ranker] - step) - slopes[ranker]
        self.point = self.problem.at(self.scores)
        return Round(ranker, float(edge), step)

    def rest(self) -> Round:
        """Return a round in which nothing is done."""
        return Round(0, 0.0, 0.0)

    def _direction(self, ranker: int) -> Direction:
        values = self.pool.values(ranker)
        return Direction(values, float(self.weights[ranker]), _entry(self.ridge, ranker), self.norm)

    def _room(self, ranker: int) -> tuple[float, float]:
        """Return the least and the largest step that the bounds allow."""
        weight = float(self.weights[ranker])
        return _entry(self.lower, ranker) - weight, _entry(self.upper, ranker) - weight

    def _grow(
        self, pool: GrowingPool, point: Point, features: Numbers | None, random_state: np.random.RandomState
    ) -> None:
        curvature = point.curvature
        targets = np.divide(-point.gradient, curvature, out=np.zeros_like(curvature), where=curvature > 0.0)
        pool.grow(targets, curvature, features, random_state)
        self.weights = np.append(self.weights, 0.0)

    def _halves(self, point: Point) -> tuple[Floats, Floats]:
        """Return the edges of all rankers over the positives' masses, and over the negatives'."""
        gradient = point.gradient
        of_positives = self.pool.edges(np.maximum(-gradient, 0.0))
        return of_positives, self.pool.edges(np.maximum(gradient, 0.0))

    def _lowest(
        self, problem: ScoreProblem, point: Point, slopes: Floats, of_positives: Floats, of_negatives: Floats
    ) -> int:
        """Return the ranker whose best step lowers the objective most.

        For rankers in {0, 1} the objective falls to :math:`d_0 + 2 \\sqrt{d_+ d_-}` of itself, which is
        :math:`1 - (\\sqrt{d_+} - \\sqrt{d_-})^2`; others are tried one by one.
        """
        rightly = of_positives * np.maximum(1.0 - of_negatives, 0.0)
        wrongly = np.maximum(1.0 - of_positives, 0.0) * of_negatives
        fall = (np.sqrt(np.maximum(rightly, 0.0)) - np.sqrt(np.maximum(wrongly, 0.0))) ** 2
        for ranker in np.flatnonzero(self.pool.real_valued & (slopes != 0.0)):
            along = self._direction(int(ranker))
            step = self.rule.step(problem, point, self.scores, along)
            after = problem.at(self.scores + step * along.values).value
            fall[ranker] = 1.0 - np.exp(after - point.value)
        return _first_largest(np.where(slopes == 0.0, 0.0, fall))


def coordinate_descent(
    problem: Problem, start: Floats, tol: float, max_iter: int, watcher: Watcher | None = None
) -> Result:
    """Minimise a linear model's objective by exact steps along one coefficient at a time.

    Parameters are those of :func:`pushrank.solvers.rounds.minimise`; ``max_iter`` is the paper's
    :math:`t_{max}`. The weak rankers are the columns in units of their range.

    Notes
    -----
    A round costs one reading of the data to choose the column and O(n_rows) a trial step.

    References
    ----------
    Rudin, *The P-Norm Push*, JMLR 10 (2009), figure 2.
    """
    objective = problem.objective
    if not isinstance(objective, PushObjective):
        raise TypeError(f"coordinate descent takes a PushObjective, got {type(objective).__name__}.")
    problem.model.check_range()
    family = Columns().fit(problem.host_model.data, problem.sample.row_weights)
    pool = family.pool(problem.host_model.data)
    units = family.units_
    descent = CoordinateDescent(
        score_problem(objective, problem.sample),
        pool,
        ExactStep(),
        ridge=problem.alpha * units**2,
        scales=slope_units(problem, units),
    )
    # a constant column moves no score: its coefficient only costs, and the best is zero
    coef = np.where(units > 0.0, start, 0.0 if problem.alpha > 0.0 else start)
    descent.start(problem.model.scores(coef), coef * family.ranges_)
    path, message = [descent.objective], ""
    while True:
        if len(path) > max_iter:
            size = descent.size(descent.slopes(descent.point))
            if size > tol:
                message = (
                    f"stopped after max_iter={max_iter} rounds (the largest entry of the scaled gradient "
                )
                message += f"is {size:.1e}): raise max_iter or tol, or use solver='lbfgs'."
            break
        if descent.round(tol) is None:
            size = descent.gradient_size
            break
        path.append(descent.objective)
        if (len(path) - 1) % REFRESH == 0:
            coef = np.where(units > 0.0, descent.weights * units, coef)
            descent.start(problem.model.scores(coef))
        if watcher is not None:
            watcher(len(path) - 1, objective=path[-1], gradient=descent.gradient_size)
    coef = np.where(units > 0.0, descent.weights * units, coef)
    return Result(coef, np.array(path), not message, size, message)


def slope_units(problem: Problem, units: Floats) -> Floats:
    """Return the columns' standard deviations within the classes, in units of their ranges.

    Slopes are compared with the tolerance in these, so that it does not depend on the units of a feature.

    Parameters
    ----------
    problem : Problem
        The objective of the coefficients.
    units : ndarray of shape (n_features,)
        One over each column's range; zero for a constant.
    """
    scales = column_curvature(problem, problem.row_weights(np.zeros_like(units)))[1]
    return np.where(units > 0.0, scales * units, 1.0)


def _first_largest(sizes: Floats) -> int:
    """Return the first entry that is largest but for rounding, so that exact ties do not hang on it."""
    return int(np.argmax(sizes >= (1.0 - TIE) * sizes.max()))


def _entry(values: Floats | float, ranker: int) -> float:
    return float(values) if np.ndim(values) == 0 else float(values[ranker])  # type: ignore[index]
