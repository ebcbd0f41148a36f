"""Boosting as coordinate descent: in each round the steepest weak ranker, and the best step along it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from pushrank._base.numeric import Floats
from pushrank._base.user_types import GenericArray
from pushrank.solvers.boosting.objective import Evaluation, ScoreObjective, TwoSumEvaluation, score_objective
from pushrank.solvers.boosting.steps import Direction, StepRule, best_step
from pushrank.solvers.early_stopping import EarlyStopping
from pushrank.solvers.preconditioning import column_scales
from pushrank.solvers.problem import Problem
from pushrank.solvers.result import Callback, Result
from pushrank.solvers.tolerances import MAX_PROOFS, TIGHTER
from pushrank.weak_rankers import Columns
from pushrank.weak_rankers.base import GrowingOutputs, Numbers, Outputs, Values

# Slopes that differ by a smaller part than this are ties: rounding alone would choose between them.
TIE = 1e-9
Choice = Literal["steepest", "signed", "lowest"]
"""The ranker of a round: the one with the largest absolute slope; with the largest descent by a positive
step, as figure 2 prints; or with the lowest objective after its best step (Freund's RankBoost)."""


@dataclass(frozen=True, eq=False)
class BoostingProblem:
    """What is minimised, over which weak rankers, and how a round chooses and steps."""

    # `outputs` are the weak rankers on the training rows, `lower` and `upper` bound their weights lambda_j,
    # the penalty is `ridge` * lambda_j^2 / 2, and slopes are compared with the tolerance in units of
    # `scales`: one number each for all rankers, or one for each.

    objective: ScoreObjective
    outputs: Outputs
    step_rule: StepRule = best_step
    choice: Choice = "steepest"
    ridge: Floats | float = 0.0
    scales: Floats | float = 1.0
    lower: Floats | float = -np.inf
    upper: Floats | float = np.inf
    learning_rate: float = 1.0

    def slopes(self, weights: Floats, edges: Floats) -> Floats:
        """Return the objective's slope along each ranker; zero where a bound or the choice excludes it."""
        slopes: Floats = self.ridge * weights - edges
        if self.choice != "signed" and np.all(np.isneginf(self.lower)) and np.all(np.isposinf(self.upper)):
            return slopes
        excluded = ((slopes < 0.0) & (weights >= self.upper)) | ((slopes > 0.0) & (weights <= self.lower))
        if self.choice == "signed":
            excluded |= slopes > 0.0
        return np.where(excluded, 0.0, slopes)

    def largest(self, slopes: Floats) -> float:
        """Return the largest absolute slope in units of ``scales``."""
        return float(np.max(np.abs(slopes) / self.scales, initial=0.0))


@dataclass
class History(EarlyStopping):
    """The rounds so far: with the fitted weak rankers they can be repeated without choosing."""

    # The first three lists have an entry for each round: the number of the weak ranker, the change of its
    # weight, its edge. The others have one before the first round and one after each: the objective with the
    # penalty and without, |lambda|_1, and the logarithms of the sums of exponentials over the positives and
    # over the negatives, which are NaN unless the objective is made of two sums.

    indices: list[int] = field(default_factory=list)
    steps: list[float] = field(default_factory=list)
    edges: list[float] = field(default_factory=list)
    objectives: list[float] = field(default_factory=list)
    values: list[float] = field(default_factory=list)
    norms: list[float] = field(default_factory=list)
    log_sums: list[tuple[float, float]] = field(default_factory=list)

    @property
    def n_rounds(self) -> int:
        return len(self.indices)

    def cut(self) -> None:
        """Remove the rounds after the best one."""
        # A warm start scores the best round again, on the validation part of the data that it is given.
        for name in ("indices", "steps", "edges", "validation"):
            del getattr(self, name)[self.best_index :]
        for name in ("objectives", "values", "norms", "log_sums"):
            del getattr(self, name)[self.best_index + 1 :]
        self.best_score = -np.inf

    def arrays(self) -> dict[str, GenericArray]:
        return {name: np.array(values) for name, values in vars(self).items()}

    @classmethod
    def from_arrays(cls, arrays: dict[str, GenericArray]) -> History:
        """Return the history with the arrays of :meth:`arrays`."""
        kept = {name: values.tolist() for name, values in arrays.items()}
        kept["log_sums"] = [tuple(pair) for pair in kept["log_sums"]]
        return cls(**kept)


@dataclass
class BoostingState:
    """A run between two rounds; ``scores`` of the training rows and ``weights`` change in place."""

    scores: Floats
    weights: Floats
    evaluation: Evaluation
    random_state: np.random.RandomState
    history: History = field(default_factory=History)
    # After the round with the best validation score.
    best_scores: Floats | None = None
    best_random_state: dict[str, object] | None = None

    @classmethod
    def start(
        cls,
        problem: BoostingProblem,
        random_state: np.random.RandomState,
        scores: Floats | None = None,
        weights: Floats | None = None,
    ) -> BoostingState:
        """Return the state before the first round, by default with all weights zero."""
        scores = np.zeros(problem.outputs.n_rows) if scores is None else scores
        weights = np.zeros(problem.outputs.n_rankers) if weights is None else weights
        return cls(scores, weights, problem.objective.evaluate(scores), random_state)

    @classmethod
    def after(
        cls, problem: BoostingProblem, random_state: np.random.RandomState, history: History
    ) -> BoostingState:
        """Return the state after the rounds of a history, equal to the last bit."""
        # Steps are repeated one by one, O(n_rows) each: added in another order they would round differently.
        scores, weights = np.zeros(problem.outputs.n_rows), np.zeros(problem.outputs.n_rankers)
        np.add.at(weights, np.array(history.indices, dtype=np.intp), history.steps)
        for index, step in zip(history.indices, history.steps, strict=True):
            add_step(scores, step, problem.outputs.values(index), problem.outputs.offset)
        return cls(scores, weights, problem.objective.evaluate(scores), random_state, history)


class Round(NamedTuple):
    """The chosen weak ranker, its signed edge r_t, the step (0 if none descends), the largest slope then."""

    chosen: int
    edge: float
    step: float
    gradient: float


class BoostingResult(NamedTuple):
    """The largest slope at the end, and whether it is within the tolerance or no step descends."""

    gradient_size: float
    converged: bool


def boost(
    problem: BoostingProblem,
    state: BoostingState,
    n_rounds: int,
    tol: float,
    *,
    draw_rows: Callable[[np.random.RandomState], NDArray[np.bool_]] | None = None,
    draw_features: Callable[[np.random.RandomState], Numbers] | None = None,
    validate: Callable[[Floats], float] | None = None,
    patience: int = 0,
    callback: Callback | None = None,
) -> BoostingResult:
    """Run rounds, which change the state, until it has ``n_rounds`` in all or no slope exceeds ``tol``."""
    # `validate` returns the validation score, the higher the better, from the scores of all rows; then the
    # run also stops when `patience` rounds have not improved on the best. `draw_rows` and `draw_features`
    # draw the rows by which a round chooses and steps, and the features that it chooses from.
    history, random_state = state.history, state.random_state
    if not history.values:
        _record(problem, state)
    if validate is not None and len(history.validation) < len(history.values):
        # Rounds of an earlier fit without a validation part have no score, so they cannot be the best.
        history.validation += [-np.inf] * (len(history.values) - len(history.validation) - 1)
        _validate(state, validate)

    def patience_is_over() -> bool:
        return validate is not None and history.n_since_best >= patience

    nothing_left = False
    while history.n_rounds < n_rounds and not patience_is_over():
        rows = None if draw_rows is None else draw_rows(random_state)
        features = None if draw_features is None else draw_features(random_state)
        done = boosting_round(problem, state, tol, rows=rows, features=features)
        # Another draw of rows or features may still descend.
        nothing_left = done.step == 0.0 and rows is None and features is None
        if nothing_left:
            break
        history.indices.append(done.chosen)
        history.steps.append(done.step)
        history.edges.append(done.edge)
        _record(problem, state)
        if validate is not None:
            _validate(state, validate)
        if callback is not None:
            callback(history.n_rounds, objective=history.objectives[-1], gradient=done.gradient)
    slopes = problem.slopes(state.weights, problem.outputs.edges(-state.evaluation.gradient))
    gradient_size = problem.largest(slopes)
    # Slopes along trees that exist say nothing of trees that a further round could grow.
    complete = not isinstance(problem.outputs, GrowingOutputs)
    return BoostingResult(gradient_size, nothing_left or (complete and gradient_size <= tol))


def _record(problem: BoostingProblem, state: BoostingState) -> None:
    """Add the state to its history."""
    evaluation, weights, history = state.evaluation, state.weights, state.history
    history.objectives.append(evaluation.value + 0.5 * float(np.sum(problem.ridge * weights**2)))
    history.values.append(evaluation.value)
    history.norms.append(float(np.abs(weights).sum()))
    log_sums = evaluation.log_sums if isinstance(evaluation, TwoSumEvaluation) else (np.nan, np.nan)
    history.log_sums.append(log_sums)


def _validate(state: BoostingState, validate: Callable[[Floats], float]) -> None:
    """Add the validation score to the history, and keep the scores and the random state if it is the best."""
    if state.history.add_validation(validate(state.scores)):
        state.best_scores = state.scores.copy()
        state.best_random_state = state.random_state.get_state(legacy=False)


def boosting_round(
    problem: BoostingProblem,
    state: BoostingState,
    tol: float,
    *,
    rows: NDArray[np.bool_] | None = None,
    features: Numbers | None = None,
) -> Round:
    """Take one step, by some rows and among some features; it is zero where no slope exceeds ``tol``."""
    objective, outputs, evaluation = problem.objective, problem.outputs, state.evaluation
    if rows is not None:
        objective = objective.subset(rows)
        evaluation = objective.evaluate(state.scores)
    if isinstance(outputs, GrowingOutputs):
        _fit_next(outputs, state, evaluation, features)
    class_edges = None
    # Freund's choice needs the edges of each class apart, whose difference is the edge.
    if problem.choice == "lowest" and isinstance(evaluation, TwoSumEvaluation):
        gradient = evaluation.gradient
        class_edges = outputs.edges(np.maximum(-gradient, 0.0)), outputs.edges(np.maximum(gradient, 0.0))
        edges = class_edges[0] - class_edges[1]
    else:
        edges = outputs.edges(-evaluation.gradient)
    slopes = problem.slopes(state.weights, edges)
    if features is not None:
        # Trees were fitted to the drawn features, and functions and AdaBoost's constant belong to no feature.
        without_feature = outputs.features < 0
        slopes = np.where(np.isin(outputs.features, features) | without_feature, slopes, 0.0)
    index = _first_largest(np.abs(slopes))
    gradient_size = problem.largest(slopes)
    nothing = Round(0, 0.0, 0.0, gradient_size)
    if gradient_size <= tol or slopes[index] == 0.0:
        return nothing
    if problem.choice == "lowest":
        index = _lowest(problem, objective, state, evaluation, slopes, class_edges)
    along = _direction(problem, state, index)
    step = problem.learning_rate * problem.step_rule(objective, evaluation, state.scores, along)
    lower, upper = _entry(problem.lower, index), _entry(problem.upper, index)
    step = float(np.clip(step, lower - along.weight, upper - along.weight))
    if step == 0.0:
        return nothing
    state.weights[index] += step
    add_step(state.scores, step, along.values, outputs.offset)
    # The state is that of all rows, also where a part of them chose the step.
    state.evaluation = problem.objective.evaluate(state.scores)
    # The slope at the weight before the step contains the penalty, and the edge does not.
    edge = along.ridge * (state.weights[index] - step) - slopes[index]
    return Round(index, float(edge), step, gradient_size)


def add_step(scores: Floats, step: float, values: Values, offset: float) -> None:
    """Add a step along a weak ranker to the scores; a value of false stands for ``offset``."""
    if values.dtype != bool:
        scores += step * values
        return
    # Additions under a mask need no array of products.
    np.add(scores, step, out=scores, where=values)
    if offset != 0.0:
        np.add(scores, offset * step, out=scores, where=~values)


def _direction(problem: BoostingProblem, state: BoostingState, index: int) -> Direction:
    norm = float(np.abs(state.weights).sum())
    values = problem.outputs.values(index)
    return Direction(values, float(state.weights[index]), _entry(problem.ridge, index), norm)


def _fit_next(
    outputs: GrowingOutputs, state: BoostingState, evaluation: Evaluation, features: Numbers | None
) -> None:
    """Fit a new weak ranker to the Newton step of the scores."""
    curvature = evaluation.curvature
    # A row without curvature has no Newton step; its weight in the fit is the curvature, hence zero.
    targets = np.divide(-evaluation.gradient, curvature, out=np.zeros_like(curvature), where=curvature > 0.0)
    outputs.fit_next(targets, curvature, features, state.random_state)
    state.weights = np.append(state.weights, 0.0)


def _lowest(
    problem: BoostingProblem,
    objective: ScoreObjective,
    state: BoostingState,
    evaluation: Evaluation,
    slopes: Floats,
    class_edges: tuple[Floats, Floats] | None,
) -> int:
    """Return the ranker whose best step lowers the objective most."""
    # A ranker in {0, 1} multiplies the objective by d_0 + 2 sqrt(d_+ d_-) = 1 - (sqrt(d_+) - sqrt(d_-))^2.
    fall, one_by_one = np.zeros_like(slopes), slopes != 0.0
    # The fractions of pairs of two classes are products of the classes' edges, for all rankers at once. For
    # other pairs, and for rankers with other values, each ranker costs a pass over the rows.
    if class_edges is not None:
        positive_edges, negative_edges = class_edges
        d_plus = positive_edges * np.maximum(1.0 - negative_edges, 0.0)
        d_minus = np.maximum(1.0 - positive_edges, 0.0) * negative_edges
        fall = (np.sqrt(np.maximum(d_plus, 0.0)) - np.sqrt(np.maximum(d_minus, 0.0))) ** 2
        one_by_one &= problem.outputs.real_valued
    for index in np.flatnonzero(one_by_one):
        along = _direction(problem, state, int(index))
        fractions = evaluation.pair_fractions(along.values) if along.values.dtype == bool else None
        if fractions is not None:
            fall[index] = (np.sqrt(fractions.d_plus) - np.sqrt(fractions.d_minus)) ** 2
            continue
        step = problem.step_rule(objective, evaluation, state.scores, along)
        after = objective.evaluate(state.scores + step * along.values).value
        fall[index] = 1.0 - np.exp(after - evaluation.value)
    return _first_largest(np.where(slopes == 0.0, 0.0, fall))


def _first_largest(sizes: Floats) -> int:
    """Return the first entry that is the largest up to ``TIE``, so that rounding does not decide ties."""
    return int(np.argmax(sizes >= (1.0 - TIE) * sizes.max()))


def _entry(values: Floats | float, index: int) -> float:
    return float(values) if np.ndim(values) == 0 else float(values[index])  # type: ignore[index]


def coordinate_descent(
    problem: Problem, start: Floats, tol: float, max_iter: int, callback: Callback | None = None
) -> Result:
    """Minimise a linear model's objective by exact steps along one coefficient at a time."""
    # The weak rankers are the columns in units of their range; `max_iter` is the paper's t_max (Rudin, *The
    # P-Norm Push*, JMLR 10 (2009), figure 2).
    rows = problem.memory_rows
    rows.check_range()
    X = rows.model.data
    columns = Columns().fit(X, rows.sample.row_weights)
    units = columns.units_
    # A constant column changes no score: with a penalty its best coefficient is zero.
    coef = np.where(units > 0.0, start, 0.0 if problem.alpha > 0.0 else start)
    boosting = BoostingProblem(
        score_objective(problem.push_objective, rows.sample),
        columns.training_outputs(X),
        ridge=problem.alpha * units**2,
        scales=slope_units(problem, units),
    )
    state = BoostingState.start(boosting, np.random.RandomState(0), rows.scores(coef), coef * columns.ranges_)
    slope_tol = tol
    # The slopes bound the duality gap only roughly, so they are tightened until the gap is within tol.
    for _ in range(MAX_PROOFS):
        gradient_size, converged = boost(boosting, state, max_iter, slope_tol, callback=callback)
        coef = np.where(units > 0.0, state.weights * units, coef)
        certificate = problem.certificate(coef, *problem.value_and_gradient(coef))
        if not (converged and problem.has_bound) or certificate.gap <= tol:
            break
        slope_tol *= TIGHTER
    message = (
        f"stopped after max_iter={max_iter} rounds (the largest entry of the scaled gradient is "
        f"{gradient_size:.1e}): raise max_iter or tol, or use solver='lbfgs'."
    )
    if problem.is_separated(coef) and (problem.never_zero or not converged):
        converged = False
        message = (
            "the training data are separable and alpha=0, so the objective has no minimum: set alpha > 0 for "
            "a unique solution."
        )
    elif converged:
        message = ""
    return Result(coef, np.array(state.history.objectives), converged, gradient_size, message)


def slope_units(problem: Problem, units: Floats) -> Floats:
    """Return the columns' deviations within the classes in units of their ranges; 1 for a constant's zero."""
    # With slopes in these units the meaning of a tolerance does not depend on the units of a feature.
    scales = column_scales(problem.moments(np.zeros_like(units)), problem.n_rows)
    return np.where(units > 0.0, scales * units, 1.0)
