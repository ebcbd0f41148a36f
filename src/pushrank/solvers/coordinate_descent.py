"""Boosting as coordinate descent: in each round the steepest weak ranker, and the best step along it.

With the P-Norm Push's objective this is the algorithm of Rudin (2009), figure 2; with p = 1 it is RankBoost,
with AdaBoost's objective AdaBoost, and with the rule for steps of the smooth margin Smooth Margin Ranking.
"""

from __future__ import annotations

from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from pushrank._log_space import Floats
from pushrank.solvers.score_problem import Point, ScoreProblem
from pushrank.solvers.step_rules import Direction, StepRule
from pushrank.weak_rankers.base import GrowingPool, Numbers, Pool

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
        How its weight changed; zero where there was nothing to gain.
    gradient : float
        The largest slope before the step, in its ranker's unit.
    """

    ranker: int
    edge: float
    step: float
    gradient: float


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
    scores : ndarray of shape (n_rows,)
        The scores to start from; written to.
    weights : ndarray of shape (n_rankers,)
        The weights that they came from; written to.
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
        scores: Floats,
        weights: Floats,
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
        self.start(scores, weights)

    def start(self, scores: Floats, weights: Floats) -> None:
        """Set the scores, and the weights that they came from."""
        self.scores, self.weights = scores, weights
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

    @property
    def gradient_size(self) -> float:
        """The largest slope in its ranker's unit, measured anew."""
        return self._size(self.slopes(self.point))

    def _size(self, slopes: Floats) -> float:
        return float(np.max(np.abs(slopes) / self.scales, initial=0.0))

    def round(
        self,
        tol: float,
        *,
        rows: NDArray[np.bool_] | None = None,
        features: Numbers | None = None,
        random_state: np.random.RandomState | None = None,
    ) -> Round:
        """Take one step and return it; a step of zero where no slope exceeds ``tol``.

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
        gradient = self._size(slopes)
        if gradient <= tol or slopes[ranker] == 0.0:
            return Round(0, 0.0, 0.0, gradient)
        if halves is not None:
            ranker = self._lowest(problem, point, slopes, *halves)
        along = self._direction(ranker)
        step = self.learning_rate * self.rule.step(problem, point, self.scores, along)
        step = float(np.clip(step, *self._room(ranker)))
        if step == 0.0:
            return Round(0, 0.0, 0.0, gradient)
        self.weights[ranker] += step
        if along.values.dtype == bool:
            np.add(self.scores, step, out=self.scores, where=along.values)
            if self.pool.low != 0.0:
                np.add(self.scores, self.pool.low * step, out=self.scores, where=~along.values)
        else:
            self.scores += step * along.values
        edge = _entry(self.ridge, ranker) * (self.weights[ranker] - step) - slopes[ranker]
        self.point = self.problem.at(self.scores)
        return Round(ranker, float(edge), step, gradient)

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


def _first_largest(sizes: Floats) -> int:
    """Return the first entry that is largest but for rounding, so that exact ties do not hang on it."""
    return int(np.argmax(sizes >= (1.0 - TIE) * sizes.max()))


def _entry(values: Floats | float, ranker: int) -> float:
    return float(values) if np.ndim(values) == 0 else float(values[ranker])  # type: ignore[index]
