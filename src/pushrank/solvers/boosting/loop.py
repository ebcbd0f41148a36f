r"""Boosting as coordinate descent: in each round the steepest weak ranker, and the best step along it.

With the P-Norm Push's objective this is the algorithm of Rudin (2009), figure 2; with p = 1 it is RankBoost,
with AdaBoost's objective AdaBoost, and with the step of the smooth margin Smooth Margin Ranking.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from pushrank._numeric import Floats
from pushrank.solvers.boosting.objective import (
    Evaluation,
    ScoreObjective,
    TwoSumEvaluation,
    score_objective,
)
from pushrank.solvers.boosting.steps import Direction, StepRule, best_step
from pushrank.solvers.early_stopping import EarlyStopping
from pushrank.solvers.preconditioning import column_scales
from pushrank.solvers.problem import LinearProblem
from pushrank.solvers.result import Callback, Result
from pushrank.solvers.tolerances import MAX_PROOFS, TIGHTER
from pushrank.weak_rankers import Columns
from pushrank.weak_rankers.base import GrowingOutputs, Numbers, Outputs, Values

TIE = 1e-9  # relative: slopes nearer than this count as equal, as rounding alone would choose between them
Choice = Literal["steepest", "signed", "lowest"]
"""A round's ranker: of the largest slope either way; of the largest descent by a positive step, as figure 2
prints; or of the lowest objective after its best step (Freund's RankBoost)."""


@dataclass(frozen=True, eq=False)
class BoostingProblem:
    """What is minimised, over which weak rankers, and how a round moves.

    ``ridge``, ``scales`` and the bounds are one number for all rankers or one for each.
    """

    objective: ScoreObjective
    outputs: Outputs  # of the weak rankers on the training rows
    step_rule: StepRule = best_step
    choice: Choice = "steepest"
    ridge: Floats | float = 0.0  # the penalty is half of this times the squared weights
    scales: Floats | float = 1.0  # slopes are compared with the tolerance in these units
    lower: Floats | float = -np.inf  # bounds of the weights
    upper: Floats | float = np.inf
    learning_rate: float = 1.0  # part of each step that is taken

    def slopes(self, weights: Floats, edges: Floats) -> Floats:
        """Return the objective's slope along every ranker; zero where a bound or the choice rules it out."""
        slopes = self.ridge * weights - edges
        stopped = ((slopes < 0.0) & (weights >= self.upper)) | ((slopes > 0.0) & (weights <= self.lower))
        if self.choice == "signed":
            stopped |= slopes > 0.0
        return np.where(stopped, 0.0, slopes)

    def largest(self, slopes: Floats) -> float:
        """Return the largest slope in its ranker's unit."""
        return float(np.max(np.abs(slopes) / self.scales, initial=0.0))


@dataclass
class History(EarlyStopping):
    """What the rounds did: enough, with the weak rankers, to run all of them again without choosing."""

    indices: list[int] = field(default_factory=list)  # the weak ranker of each round
    steps: list[float] = field(default_factory=list)  # its change of weight
    edges: list[float] = field(default_factory=list)
    # before the first round and after each, as are all that follow
    objectives: list[float] = field(default_factory=list)  # with the penalty
    values: list[float] = field(default_factory=list)  # without it
    norms: list[float] = field(default_factory=list)  # sums of absolute weights
    # logarithms of the sums of exponentials over positives and over negatives; NaN unless of two classes
    log_sums: list[tuple[float, float]] = field(default_factory=list)

    @property
    def n_rounds(self) -> int:
        """The number of rounds."""
        return len(self.indices)

    def cut(self) -> None:
        """Forget the rounds after the best.

        How the best scored is found anew by a run that goes on, on what is then the validation part.
        """
        for name in ("indices", "steps", "edges", "validation"):
            del getattr(self, name)[self.best_place :]
        for name in ("objectives", "values", "norms", "log_sums"):
            del getattr(self, name)[self.best_place + 1 :]
        self.best_score = -np.inf

    def arrays(self) -> dict[str, NDArray[Any]]:
        """Return all fields as arrays."""
        return {name: np.array(values) for name, values in vars(self).items()}

    @classmethod
    def from_arrays(cls, arrays: dict[str, NDArray[Any]]) -> History:
        """Return the history that ``arrays`` gave."""
        kept = {name: values.tolist() for name, values in arrays.items()}
        kept["log_sums"] = [tuple(pair) for pair in kept["log_sums"]]
        return cls(**kept)


@dataclass
class BoostingState:
    """Where a run stands between two rounds; scores and weights are updated in place."""

    scores: Floats  # of the training rows
    weights: Floats  # of the weak rankers
    evaluation: Evaluation  # the objective at the scores
    random_state: np.random.RandomState
    history: History = field(default_factory=History)
    best_scores: Floats | None = None  # those of the round that validated best
    best_random_state: dict[str, Any] | None = None  # what the source of randomness was then

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
        """Return the state after the rounds of a history, to the last bit as they left it."""
        # steps are taken again in their order, O(n_rows) each: sums in another order differ by rounding
        scores, weights = np.zeros(problem.outputs.n_rows), np.zeros(problem.outputs.n_rankers)
        np.add.at(weights, np.array(history.indices, dtype=np.intp), history.steps)
        for index, step in zip(history.indices, history.steps, strict=True):
            add_step(scores, step, problem.outputs.values(index), problem.outputs.offset)
        return cls(scores, weights, problem.objective.evaluate(scores), random_state, history)


class Round(NamedTuple):
    """What a round of boosting did; the step is zero where there was nothing to gain."""

    chosen: int  # number of the weak ranker
    edge: float  # its r_t: minus the slope of the objective along it, signed
    step: float  # change of its weight
    gradient: float  # the largest slope before the step, in its ranker's unit


class BoostingResult(NamedTuple):
    """The largest slope at the end, and whether it is within the tolerance or no step was left."""

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
    """Run rounds from a state, which they change, until it has had ``n_rounds`` in all or nothing is left.

    It is over, too, when no slope exceeds ``tol`` or, with ``validate``, which scores the validation part
    from the scores of all rows, when ``patience`` rounds have not improved on the best. ``draw_rows`` and
    ``draw_features`` draw what a round sees and may use.
    """
    history, random_state = state.history, state.random_state
    if not history.values:
        _record(problem, state)
    if validate is not None and len(history.validation) < len(history.values):
        # rounds of an earlier fit, without a validation part, cannot be the best
        history.validation += [-np.inf] * (len(history.values) - len(history.validation) - 1)
        _validate(state, validate)

    def waited_enough() -> bool:
        return validate is not None and history.n_since_best >= patience

    nothing_left = False
    while history.n_rounds < n_rounds and not waited_enough():
        rows = None if draw_rows is None else draw_rows(random_state)
        features = None if draw_features is None else draw_features(random_state)
        done = boosting_round(problem, state, tol, rows=rows, features=features)
        # nothing to gain for a part of the rows or features may be something for another
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
    # the best of growing rankers is known only in the round that makes it: their slopes prove nothing
    all_known = not isinstance(problem.outputs, GrowingOutputs)
    return BoostingResult(gradient_size, nothing_left or (all_known and gradient_size <= tol))


def _record(problem: BoostingProblem, state: BoostingState) -> None:
    """Add where the run stands to its history."""
    evaluation, weights, history = state.evaluation, state.weights, state.history
    history.objectives.append(evaluation.value + 0.5 * float(np.sum(problem.ridge * weights**2)))
    history.values.append(evaluation.value)
    history.norms.append(float(np.abs(weights).sum()))
    log_sums = evaluation.log_sums if isinstance(evaluation, TwoSumEvaluation) else (np.nan, np.nan)
    history.log_sums.append(log_sums)


def _validate(state: BoostingState, validate: Callable[[Floats], float]) -> None:
    """Add the score of the validation part to the history, and remember the state where it is the best."""
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
    """Take one step and return it; a step of zero where no slope exceeds ``tol``.

    ``rows``, a mask, are those that choose and step; ``features`` those whose rankers may be chosen.
    """
    objective, outputs, evaluation = problem.objective, problem.outputs, state.evaluation
    if rows is not None:
        objective = objective.subset(rows)
        evaluation = objective.evaluate(state.scores)
    if isinstance(outputs, GrowingOutputs):
        _fit_next(outputs, state, evaluation, features)
    class_edges = None
    if problem.choice == "lowest" and isinstance(evaluation, TwoSumEvaluation):
        gradient = evaluation.gradient
        class_edges = outputs.edges(np.maximum(-gradient, 0.0)), outputs.edges(np.maximum(gradient, 0.0))
        edges = class_edges[0] - class_edges[1]
    else:
        edges = outputs.edges(-evaluation.gradient)
    slopes = problem.slopes(state.weights, edges)
    if features is not None:
        reads_none = outputs.features < 0
        slopes = np.where(np.isin(outputs.features, features) | reads_none, slopes, 0.0)
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
    state.evaluation = problem.objective.evaluate(state.scores)  # of all rows, whatever the round saw
    # the slope holds the penalty's part at the weight before the step; the edge does not
    edge = along.ridge * (state.weights[index] - step) - slopes[index]
    return Round(index, float(edge), step, gradient_size)


def add_step(scores: Floats, step: float, values: Values, offset: float) -> None:
    """Add a step along a weak ranker to the scores; values that are false stand for the offset."""
    if values.dtype != bool:
        scores += step * values
        return
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
    """Make a ranker that fits the Newton step of the scores."""
    curvature = evaluation.curvature
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
    r"""Return the ranker whose best step lowers the objective most.

    For rankers in {0, 1} the objective falls to :math:`d_0 + 2 \sqrt{d_+ d_-}` of itself, which is
    :math:`1 - (\sqrt{d_+} - \sqrt{d_-})^2`, where of two classes the fractions of pairs are products of the
    edges of each; of other pairs they are summed ranker by ranker. Other rankers are tried one by one.
    """
    fall, one_by_one = np.zeros_like(slopes), slopes != 0.0
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
    """Return the first entry that is largest but for rounding, so that exact ties do not hang on it."""
    return int(np.argmax(sizes >= (1.0 - TIE) * sizes.max()))


def _entry(values: Floats | float, index: int) -> float:
    return float(values) if np.ndim(values) == 0 else float(values[index])  # type: ignore[index]


def coordinate_descent(
    problem: LinearProblem, start: Floats, tol: float, max_iter: int, callback: Callback | None = None
) -> Result:
    """Minimise a linear model's objective by exact steps along one coefficient at a time.

    The weak rankers are the columns in units of their range; ``max_iter`` is the paper's :math:`t_{max}`. A
    round costs one pass over the data to choose the column and O(n_rows) a trial step.

    References
    ----------
    Rudin, *The P-Norm Push*, JMLR 10 (2009), figure 2.
    """
    problem.model.check_range()
    columns = Columns().fit(problem.host_model.data, problem.sample.row_weights)
    units = columns.units_
    # a constant column moves no score: its coefficient only costs, and the best is zero
    coef = np.where(units > 0.0, start, 0.0 if problem.alpha > 0.0 else start)
    boosting = BoostingProblem(
        score_objective(problem.push_objective, problem.sample),
        columns.training_outputs(problem.host_model.data),
        ridge=problem.alpha * units**2,
        scales=slope_units(problem, units),
    )
    state = BoostingState.start(
        boosting, np.random.RandomState(0), problem.model.scores(coef), coef * columns.ranges_
    )
    slope_tol = tol
    for _ in range(MAX_PROOFS):
        gradient_size, converged = boost(boosting, state, max_iter, slope_tol, callback=callback)
        coef = np.where(units > 0.0, state.weights * units, coef)
        certificate = problem.certificate(*problem.value_and_gradient(coef))
        if not (converged and problem.has_bound) or certificate.gap <= tol:
            break
        slope_tol *= TIGHTER
    message = (
        f"stopped after max_iter={max_iter} rounds (the largest entry of the scaled gradient is "
        f"{gradient_size:.1e}): raise max_iter or tol, or use solver='lbfgs'."
    )
    if converged:
        message = ""
    elif problem.is_separated(coef):
        message = (
            "the training data are separable and alpha=0, so the objective has no minimum: set alpha > 0 for "
            "a unique solution."
        )
    return Result(coef, np.array(state.history.objectives), converged, gradient_size, message)


def slope_units(problem: LinearProblem, units: Floats) -> Floats:
    """Return the columns' standard deviations within the classes in units of their ranges; 1 for a constant.

    Slopes are compared with the tolerance in these, so that it does not depend on the units of a feature.
    ``units`` are one over the ranges; zero for a constant.
    """
    scales = column_scales(problem.moments(np.zeros_like(units)), problem.n_rows)
    return np.where(units > 0.0, scales * units, 1.0)
