"""Objectives with kinks: minimise ever closer smooth objectives, until a lower bound proves the answer."""

from dataclasses import replace
from operator import itemgetter

import numpy as np

from pushrank import losses, prices
from pushrank._base.numeric import Floats
from pushrank.objectives.evaluation import ObjectiveEvaluation, weighted_sum
from pushrank.objectives.push import PushObjective
from pushrank.pairs import BipartiteSample, Sample
from pushrank.rows import spread_rows
from pushrank.solvers import tolerances
from pushrank.solvers.gradient import lbfgs
from pushrank.solvers.infinite_push import infinite_push, is_infinite_push
from pushrank.solvers.problem import Problem, ScoredPoint, ScoresProblem
from pushrank.solvers.result import Callback, Certificate, Result, offset_callback


class SmoothedObjective:
    """A push objective with the kinks of its loss rounded off and its maximum softened."""

    # Under a price without a derivative `kinked` is on the scale of the mean. `width` is that of the rounded
    # kinks, and `temperature` that of the soft maximum in the unit of the objective: Nesterov, *Smooth
    # minimization of non-smooth functions*, Math. Programming 103 (2005).

    powers = None
    twice_differentiable = True

    def __init__(self, kinked: PushObjective, sample: Sample, width: float, temperature: float) -> None:
        loss, price = losses.resolve(kinked.loss), prices.resolve(kinked.price)
        self._softened = not price.smooth
        self._intercept = None if loss.differentiable else loss.intercept
        self.bounded = kinked.convex and (loss.differentiable or self._intercept is not None)
        self._unit = np.exp(kinked.log_unit(sample)) if self._softened else 1.0
        scale = "raw" if self._softened else kinked.scale
        self._smooth = replace(
            kinked, loss=loss.smoothed(width), price=price.smoothed(temperature * self._unit), scale=scale
        )

    @staticmethod
    def check(kinked: PushObjective) -> None:
        """Raise a TypeError where the loss or the price has kinks and no smoothed form."""
        losses.resolve(kinked.loss).smoothed(1.0)
        prices.resolve(kinked.price).smoothed(1.0)

    def evaluation(self, sample: Sample, scores: Floats) -> ObjectiveEvaluation:
        smooth = self._smooth.evaluation(sample, scores)
        return weighted_sum([smooth], [1.0 / self._unit]) if self._softened else smooth

    def lower_bound(self, point: ScoredPoint) -> float:
        """Return a bound of the objective and the penalty over all coefficients, by the line at a point."""
        # Let F be the objective, convex, and V and g the value and gradient of the smoothed one at scores z.
        # For a price that is no maximum the smoothed objective is convex, and below F where the loss has no
        # kinks. For a maximum sum_k m_k h_k <= F, with the multipliers m of its inner sums h, which sum to
        # one, and V is that sum. So for all scores s, with k over the negatives, F(s) >= V - g z + g s for a
        # loss without kinks, and F(s) >= V - sum_k m_k h_k + c sum_k g_k + g s for one that is nowhere below
        # the lines a (c - r).
        at_point, problem = point.evaluation, point.problem
        level = at_point.euler_derivative if self._softened else at_point.value
        slopes = point.gradient - problem.alpha * point.coef
        if self._intercept is None:
            constant = level - float(slopes @ point.coef)
        else:
            negatives = float(at_point.gradient().negatives.sum())
            constant = level - at_point.euler_derivative + self._intercept * negatives
        return constant - problem.dual_penalty(-slopes)


def minimise_kinked(
    problem: Problem, start: Floats, tol: float, max_iter: int, callback: Callback | None = None
) -> Result:
    """Minimise an objective with kinks: the Infinite Push by its solvers, any other by smoothing."""
    objective, rows = problem.push_objective, problem.memory_rows
    if is_infinite_push(objective, rows.sample) and not problem.positive:
        model = rows.model
        return infinite_push(objective, model, rows.sample, problem.alpha, tol, max_iter, callback)
    return smoothing(problem, start, tol, max_iter, callback)


def smoothing(
    problem: Problem,
    start: Floats,
    tol: float,
    max_iter: int,
    callback: Callback | None = None,
) -> Result:
    """Minimise an objective with kinks and a positive penalty by L-BFGS, in stages of ever narrower kinks."""
    # The gradient g of a smoothed objective is that of a line below F, F(s) >= d + g s, so that no
    # coefficients are better than d - |X^T g|^2 / 2 alpha. It stops when the relative duality gap is at most
    # `tol`, or where there is no bound, when the smoothed objective is so near to the objective; or after
    # `max_iter` iterations of all stages.
    model, sample = problem.memory_rows.model, problem.memory_rows.sample
    width, curved = tolerances.FIRST_WIDTH, None
    # Of many rows some that are spread over them are solved first: all rows then need the last stage alone,
    # in variables in which the few curve the same everywhere.
    many = model.n_rows >= tolerances.MANY_ROWS and not model.in_row_space
    if many and isinstance(sample, BipartiteSample):
        few = spread_rows(problem.rows, tolerances.SPREAD_ROWS)
        part = ScoresProblem(problem.objective, few, problem.alpha, positive=problem.positive)
        # Few of these rows are at a narrow kink: at a wide one they tell how all rows curve.
        at_zero = abs(part.value(np.zeros_like(start)))
        wide = SmoothedObjective(problem.push_objective, few.sample, width, width * at_zero)
        if wide.bounded:
            curved = ScoresProblem(wide, few, problem.alpha)
            _, start, width = _stages(part, start, width, tol, max_iter)
    return _stages(problem, start, width, tol, max_iter, callback, curved)[0]


def _stages(
    problem: Problem,
    start: Floats,
    width: float,
    tol: float,
    max_iter: int,
    callback: Callback | None = None,
    curved: ScoresProblem | None = None,
) -> tuple[Result, Floats, float]:
    """Return the result of ever narrower kinks, and the end and the width of the last stage."""
    rows = problem.memory_rows
    at_zero = problem.value(np.zeros_like(start))
    # Each stage gives a lower bound, and a later one need not be the tightest: the largest of all counts.
    coef, best = min((start, problem.value(start)), (0.0 * start, at_zero), key=itemgetter(1))
    dual = -np.inf
    path: list[float] = []
    gap, size, end = np.inf, np.inf, (start, width)
    while len(path) < max_iter and width > tolerances.MIN_WIDTH and gap > tol:
        smooth = SmoothedObjective(problem.push_objective, rows.sample, width, width * abs(best))
        stage_problem = ScoresProblem(smooth, rows, problem.alpha, positive=problem.positive)
        stage_problem.curved = curved
        proof = _Proof(problem, stage_problem, smooth, tol)
        # Where a proof decides the gradient is only a reason to ask for one.
        stage_tol = max(tol, tolerances.FIRST_STEEPNESS * width) if smooth.bounded else tol
        stage_callback = offset_callback(callback, max(len(path) - 1, 0))
        stage = lbfgs(stage_problem, start, stage_tol, max_iter - len(path), stage_callback, proof)
        path.extend(stage.objective_path[1:] if path else stage.objective_path)
        end, size = (stage.coef, width), stage.gradient_size
        primal = problem.point(stage.coef, stage_problem.scored(stage.coef).scores).value
        dual = max(dual, proof.bound(stage.coef))
        # The smoothed objective may fall while the objective itself rises.
        if primal <= best:
            coef, best = stage.coef, primal
        # Without a bound the distance between the smoothed objective and the objective takes its place.
        apart = best - dual if smooth.bounded else primal - stage.objective_path[-1]
        gap = abs(apart) / max(abs(best), tolerances.TINY)
        start, width = coef, tolerances.NARROWING * width
    certificate = Certificate(best, dual)
    message = ""
    if gap > tol and smooth.bounded:
        message = certificate.advice(len(path) - 1, "raise alpha")
    elif gap > tol:
        message = (
            f"the smoothed objective, not a convex one, is still {gap:.1e} of the objective away from it "
            f"after {len(path) - 1} iterations: raise max_iter, tol or alpha."
        )
    collapse = certificate.collapse(at_zero, tol)
    converged = bool(gap <= tol)
    return Result(coef, np.array(path), converged, size, message, certificate, collapse), *end


class _Proof:
    """The test of whether a stage is done: its gap is below the error of smoothing, or small enough."""

    def __init__(self, exact: Problem, smoothed: Problem, smooth: SmoothedObjective, tol: float) -> None:
        self._exact, self._smoothed, self._smooth, self._tol = exact, smoothed, smooth, tol
        self._asked = 0

    def __call__(self, coef: Floats) -> bool:
        """Return whether the stage may end at these coefficients; without a bound the gradient decides."""
        self._asked += 1
        if not self._smooth.bounded or self._asked == tolerances.MAX_PROOFS:
            return True
        smoothed = self._smoothed.scored(coef)
        primal = self._exact.point(coef, smoothed.scores).value
        by_smoothing = abs(primal - smoothed.value)
        bound = self._smooth.lower_bound(smoothed)
        return primal - bound <= max(2.0 * by_smoothing, 0.5 * self._tol * abs(primal))

    def bound(self, coef: Floats) -> float:
        """Return a lower bound of the problem's objective."""
        return self._smooth.lower_bound(self._smoothed.scored(coef)) if self._smooth.bounded else -np.inf
