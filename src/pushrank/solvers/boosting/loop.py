"""Rounds of boosting.

Boosting as coordinate descent: in each round the steepest weak ranker, and the best step along it.

With the P-Norm Push's objective this is the algorithm of Rudin (2009), figure 2; with p = 1 it is RankBoost,
with AdaBoost's objective AdaBoost, and with the rule for steps of the smooth margin Smooth Margin Ranking.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from pushrank._numeric import Floats
from pushrank.solvers.boosting.objective import ClassPoint, Point, ScoreProblem, score_problem
from pushrank.solvers.boosting.steps import Direction, ExactStep, StepRule
from pushrank.solvers.preconditioning import column_curvature
from pushrank.solvers.problem import LinearProblem
from pushrank.solvers.result import Callback, Result
from pushrank.weak_rankers import Columns
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
            problem = problem.subset(rows)
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


Draw = Callable[[np.random.RandomState], NDArray[np.bool_]]


@dataclass
class History:
    """What the rounds of a run did.

    Attributes
    ----------
    rankers : list of int
        The weak ranker of each round.
    steps, edges : list of float
        Its change of weight, and its edge.
    objectives, values, norms : list of float
        The penalised objective, the objective alone and the sum of absolute weights, before the first round
        and after each.
    log_sums : list of (float, float)
        The logarithms of the sums of exponentials over positives and over negatives, where there are two
        classes; NaN elsewhere.
    validation : list of float
        The score of the validation part, before the first round and after each.
    best_round, best_score : int and float
        The round after which the validation part scored best, the first of several, and how.
    """

    rankers: list[int] = field(default_factory=list)
    steps: list[float] = field(default_factory=list)
    edges: list[float] = field(default_factory=list)
    objectives: list[float] = field(default_factory=list)
    values: list[float] = field(default_factory=list)
    norms: list[float] = field(default_factory=list)
    log_sums: list[tuple[float, float]] = field(default_factory=list)
    validation: list[float] = field(default_factory=list)
    best_round: int = 0
    best_score: float = -np.inf

    @property
    def n_rounds(self) -> int:
        """The number of rounds."""
        return len(self.rankers)

    def note(self, descent: CoordinateDescent) -> None:
        """Write down where the descent stands."""
        point = descent.point
        self.objectives.append(descent.objective)
        self.values.append(point.value)
        self.norms.append(descent.norm)
        self.log_sums.append(point.log_sums if isinstance(point, ClassPoint) else (np.nan, np.nan))

    def note_validation(self, score: float) -> None:
        """Write down how the validation part scored."""
        self.validation.append(score)
        if score > self.best_score:
            self.best_round, self.best_score = len(self.validation) - 1, score

    @property
    def rounds_since_best(self) -> int:
        """How many rounds have not improved on the best."""
        return len(self.validation) - 1 - self.best_round

    def cut(self) -> None:
        """Forget the rounds after the best.

        How the best scored is found anew by a run that goes on, on what is then the validation part.
        """
        for name in ("rankers", "steps", "edges", "validation"):
            del getattr(self, name)[self.best_round :]
        for name in ("objectives", "values", "norms", "log_sums"):
            del getattr(self, name)[self.best_round + 1 :]
        self.best_score = -np.inf

    def arrays(self) -> dict[str, NDArray[Any]]:
        """Return all that was written down as arrays."""
        return {name: np.array(values) for name, values in vars(self).items()}

    @classmethod
    def from_arrays(cls, arrays: dict[str, NDArray[Any]]) -> History:
        """Return the history that ``arrays`` gave."""
        kept = {name: values.tolist() for name, values in arrays.items()}
        kept["log_sums"] = [tuple(pair) for pair in kept["log_sums"]]
        return cls(**kept)


@dataclass(frozen=True)
class Plan:
    """How a run goes on, and when it stops.

    Attributes
    ----------
    max_rounds : int
        The most rounds in all.
    tol : float
        Stop when no slope exceeds this.
    draw_rows : callable or None
        Draws the rows that a round sees.
    draw_features : callable or None
        Draws the features that a round may use.
    validate : callable or None
        Scores the validation part at given scores of all rows.
    patience : int
        Stop after so many rounds without a better validation score.
    """

    max_rounds: int
    tol: float
    draw_rows: Draw | None = None
    draw_features: Callable[[np.random.RandomState], NDArray[np.intp]] | None = None
    validate: Callable[[Floats], float] | None = None
    patience: int = 0


class Run:
    """A boosting run under way.

    Attributes
    ----------
    descent : CoordinateDescent
        Scores and weights.
    history : History
        The rounds so far.
    random_state : RandomState
        The source of all that is drawn.
    best_scores : ndarray or None
        The scores of the round that validated best.
    gradient_size : float
        The largest slope at the end, in its ranker's unit.
    converged : bool
        Whether it came down to the tolerance, or no step was left.
    stopped_early : bool
        Whether the validation part had waited long enough for a better round.
    """

    def __init__(
        self,
        descent: CoordinateDescent,
        history: History,
        random_state: np.random.RandomState,
        best_scores: Floats | None = None,
    ) -> None:
        self.descent, self.history, self.random_state = descent, history, random_state
        self.best_scores = best_scores
        self.gradient_size, self.converged, self.stopped_early = np.inf, False, False

    def go(
        self, plan: Plan, callback: Callback | None = None, after_round: Callable[[Run], None] | None = None
    ) -> None:
        """Run rounds until the plan says stop.

        ``after_round`` is called after every round, when the state is whole.
        """
        if not self.history.values:
            self.history.note(self.descent)
        if len(self.history.validation) < len(self.history.values):
            # rounds of an earlier fit, without a validation part, cannot be the best
            missing = len(self.history.values) - len(self.history.validation) - 1
            self.history.validation += [-np.inf] * missing if plan.validate else []
            self._validate(plan)
        settled = False
        while not settled and self.history.n_rounds < plan.max_rounds and not self._enough(plan):
            rows = None if plan.draw_rows is None else plan.draw_rows(self.random_state)
            features = None if plan.draw_features is None else plan.draw_features(self.random_state)
            done = self.descent.round(plan.tol, rows=rows, features=features, random_state=self.random_state)
            # nothing to gain for a part of the rows or features may be something for another
            settled = done.step == 0.0 and rows is None and features is None
            if not settled:
                self._note(done, plan, callback)
                if after_round is not None:
                    after_round(self)
        self.gradient_size = self.descent.gradient_size
        # of rankers made to measure the best is known only in the round that makes it
        is_measured = not isinstance(self.descent.pool, GrowingPool)
        self.converged = settled or (is_measured and self.gradient_size <= plan.tol)
        self.stopped_early = self._enough(plan)

    def _note(self, done: Round, plan: Plan, callback: Callback | None) -> None:
        self.history.rankers.append(done.ranker)
        self.history.steps.append(done.step)
        self.history.edges.append(done.edge)
        self.history.note(self.descent)
        self._validate(plan)
        if callback is not None:
            callback(self.history.n_rounds, objective=self.history.objectives[-1], gradient=done.gradient)

    def _validate(self, plan: Plan) -> None:
        if plan.validate is None:
            return
        self.history.note_validation(plan.validate(self.descent.scores))
        if self.history.rounds_since_best == 0:
            self.best_scores = self.descent.scores.copy()

    def _enough(self, plan: Plan) -> bool:
        return plan.validate is not None and self.history.rounds_since_best >= plan.patience


def coordinate_descent(
    problem: LinearProblem, start: Floats, tol: float, max_iter: int, callback: Callback | None = None
) -> Result:
    """Minimise a linear model's objective by exact steps along one coefficient at a time.

    Parameters are those of :func:`pushrank.solvers.gradient.minimise`; ``max_iter`` is the paper's
    :math:`t_{max}`. The weak rankers are the columns in units of their range.

    Notes
    -----
    A round costs one reading of the data to choose the column and O(n_rows) a trial step.

    References
    ----------
    Rudin, *The P-Norm Push*, JMLR 10 (2009), figure 2.
    """
    problem.model.check_range()
    family = Columns().fit(problem.host_model.data, problem.sample.row_weights)
    units = family.units_
    # a constant column moves no score: its coefficient only costs, and the best is zero
    coef = np.where(units > 0.0, start, 0.0 if problem.alpha > 0.0 else start)
    descent = CoordinateDescent(
        score_problem(problem.push_objective, problem.sample),
        family.pool(problem.host_model.data),
        ExactStep(),
        problem.model.scores(coef),
        coef * family.ranges_,
        ridge=problem.alpha * units**2,
        scales=slope_units(problem, units),
    )
    run = Run(descent, History(), np.random.RandomState(0))
    run.go(Plan(max_iter, tol), callback)
    coef = np.where(units > 0.0, descent.weights * units, coef)
    message = (
        f"stopped after max_iter={max_iter} rounds (the largest entry of the scaled gradient is "
        f"{run.gradient_size:.1e}): raise max_iter or tol, or use solver='lbfgs'."
    )
    if run.converged:
        message = ""
    elif problem.is_separated(coef):
        message = (
            "the training data are separable and alpha=0, so the objective has no minimum: set alpha > 0 for "
            "a unique solution."
        )
    return Result(coef, np.array(run.history.objectives), run.converged, run.gradient_size, message)


def slope_units(problem: LinearProblem, units: Floats) -> Floats:
    """Return the columns' standard deviations within the classes, in units of their ranges.

    Slopes are compared with the tolerance in these, so that it does not depend on the units of a feature.

    Parameters
    ----------
    problem : LinearProblem
        The objective of the coefficients.
    units : ndarray of shape (n_features,)
        One over each column's range; zero for a constant.
    """
    scales = column_curvature(problem, problem.row_weights(np.zeros_like(units)))[1]
    return np.where(units > 0.0, scales * units, 1.0)
