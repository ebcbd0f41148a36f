"""A ranking objective of linear scores with an L2 penalty, split by what the objective needs of the rows.

The two-sum exponential objective of two classes (the P-Norm Push at any p) is computed in three ways, each
the fastest where it is used: in :mod:`pushrank.rows.sums` from the rows and the coefficients, in a single
pass over the data; in :mod:`pushrank.pairs.exponential` from scores at hand, for any price, sample or second
derivative; in :mod:`pushrank.solvers.boosting.objective` from scores that change by a weak ranker at a time.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from functools import cached_property, partial
from typing import Protocol
from weakref import proxy

import numpy as np

from pushrank import losses
from pushrank._base.numeric import Floats
from pushrank.models.linear import ClassMoments
from pushrank.objectives import PushObjective
from pushrank.objectives.evaluation import ObjectiveEvaluation
from pushrank.pairs import Sample
from pushrank.rows import MemoryRows, RowSource
from pushrank.rows.sums import is_sum, score_bounds, summed_moments, summed_objective
from pushrank.solvers.result import Certificate
from pushrank.solvers.tolerances import TINY


class ScoreObjective(Protocol):
    """A function of the scores of a sample's rows."""

    @property
    def powers(self) -> tuple[float, float] | None:
        """The powers of its two-sum form, where it has one."""

    def evaluation(self, sample: Sample, scores: Floats) -> ObjectiveEvaluation:
        """Return it at given scores."""


class Problem(ABC):
    r"""Minimise :math:`F(X w) + \frac{\alpha}{2} \|w\|^2` over w: F is the objective, alpha at least zero."""

    # With `positive` the minimum is over coefficients of at least zero, as a solver's start has to be. Each
    # method takes coefficients, shape (n_features,), and returns sums over all rows.

    def __init__(
        self, objective: ScoreObjective, rows: RowSource, alpha: float, *, positive: bool = False
    ) -> None:
        self.objective, self.rows, self.alpha, self.positive = objective, rows, alpha, positive
        self.n_rows, self.n_features = rows.n_rows, rows.n_features
        # A problem of fewer rows that curves in the same way, to take the moments of.
        self.curved: Problem | None = None
        self.in_row_space = rows.in_row_space
        self._last_point: ScoredPoint | None = None

    @abstractmethod
    def value_and_gradient(self, coef: Floats) -> tuple[float, Floats]:
        """Return the penalised objective and its gradient, shape (n_features,)."""

    @abstractmethod
    def value(self, coef: Floats) -> float:
        """Return the penalised objective alone."""

    @abstractmethod
    def moments(self, coef: Floats, *, columns: bool = True, whole: bool = False) -> ClassMoments:
        """Return how rows vary within the classes, weighted as the objective curves, without the penalty."""

    @abstractmethod
    def margin(self, coef: Floats) -> float:
        """Return the smallest difference of scores over the pairs that count."""

    @abstractmethod
    def point(self, coef: Floats, scores: Floats | None = None) -> Point:
        """Return the penalised objective at coefficients, whose scores may be at hand."""

    @property
    def memory_rows(self) -> MemoryRows:
        """The rows, for what needs the scores of all of them; a ValueError where they lie elsewhere."""
        if not isinstance(self.rows, MemoryRows):
            raise ValueError("this solver needs the rows in memory; use solver='lbfgs'.")
        return self.rows

    def hessian_product(self, coef: Floats, direction: Floats) -> Floats:
        """Return the Hessian at ``coef`` times a direction, for rows in memory."""
        return self.scored(coef).hessian_product(direction)

    def penalty(self, coef: Floats) -> float:
        return 0.5 * self.alpha * float(coef @ coef)

    @property
    def push_objective(self) -> PushObjective:
        """The objective, for what needs its loss and its price; a TypeError where it has none."""
        if not isinstance(self.objective, PushObjective):
            raise TypeError(f"this solver takes a PushObjective, got {type(self.objective).__name__}.")
        return self.objective

    @property
    def has_dual(self) -> bool:
        """Whether there is a dual over the weights of the rows: of a two-sum objective in memory."""
        in_memory = isinstance(self.rows, MemoryRows) and self.rows.gives_sums and not self.positive
        return in_memory and self.objective.powers is not None and self.alpha > 0.0

    def is_separated(self, coef: Floats) -> bool:
        """Return whether the objective has no minimum: no penalty, and every pair ranked rightly."""
        return self.alpha == 0.0 and self.margin(coef) > 0.0

    @property
    def never_zero(self) -> bool:
        """Whether every pair has a loss whatever its margin, so that rows apart have no minimum."""
        return isinstance(self.objective, PushObjective) and losses.resolve(self.objective.loss).factorises

    @property
    def has_bound(self) -> bool:
        """Whether a gradient bounds the optimum: of a push objective that is convex, with a penalty."""
        return self.alpha > 0.0 and isinstance(self.objective, PushObjective) and self.objective.convex

    def free_gradient(self, coef: Floats, gradient: Floats) -> Floats:
        """Return the gradient along the coefficients that may follow it down: zero at the minimum."""
        if not self.positive:
            return gradient
        return np.where((coef <= 0.0) & (gradient > 0.0), 0.0, gradient)

    def dual_penalty(self, v: Floats) -> float:
        r"""Return the conjugate of the penalty, :math:`\frac{1}{2 \alpha} \|v\|^2`, over the coefficients."""
        return 0.5 / self.alpha * float(np.sum((np.maximum(v, 0.0) if self.positive else v) ** 2))

    def certificate(self, coef: Floats, value: float, gradient: Floats) -> Certificate:
        """Return the bounds of the optimum that the penalised objective and its gradient at a point give."""
        # With g the gradient of F at the scores s = X w, and F*(g) = g s - F(s), the dual objective at g is
        # -F*(g) - |X^T g|^2 / 2 alpha = F(X w) + alpha |w|^2 / 2 - |X^T g + alpha w|^2 / 2 alpha: the gap is
        # the square of the whole gradient over 2 alpha, whatever F. For w >= 0 it is a sum over the columns,
        # which docs/certificates.md derives.
        if not self.has_bound:
            return Certificate(value, -np.inf)
        # A logarithm may cross zero on the way to the optimum, where a relative gap means nothing.
        floor = 1.0 if self.push_objective.scale == "log" else TINY
        if not self.positive:
            return Certificate(value, value - 0.5 / self.alpha * float(gradient @ gradient), floor)
        v = self.alpha * coef - gradient
        gaps = np.where(v > 0.0, 0.5 / self.alpha * gradient**2, coef * (0.5 * self.alpha * coef - v))
        return Certificate(value, value - float(gaps.sum()), floor)

    def scored(self, coef: Floats) -> ScoredPoint:
        """Return the penalised objective at coefficients, for rows in memory; the last one is kept."""
        # Newton-CG asks for the gradient and for many Hessian products at the same coefficients.
        if self._last_point is None or not np.array_equal(self._last_point.coef, coef):
            # A point holds several numbers a row: the last one makes room for the next, and no cycle keeps
            # it once the problem is left.
            self._last_point = None
            self._last_point = ScoredPoint(proxy(self), coef.copy(), self.memory_rows.scores(coef))
        return self._last_point


class ScoresProblem(Problem):
    """The problem of an objective that needs the scores of all rows, which lie in memory."""

    def value_and_gradient(self, coef: Floats) -> tuple[float, Floats]:
        point = self.scored(coef)
        return point.value, point.gradient

    def value(self, coef: Floats) -> float:
        # This point is not kept: it holds several numbers a row, and is rarely asked for again.
        return self.point(coef).value

    def moments(self, coef: Floats, *, columns: bool = True, whole: bool = False) -> ClassMoments:
        if self.curved is not None:
            return self.curved.moments(coef, columns=columns, whole=whole)
        # The gradient is mostly asked for at the same coefficients.
        return self.scored(coef).moments(columns=columns, whole=whole)

    def margin(self, coef: Floats) -> float:
        rows = self.memory_rows
        return rows.sample.least_margin(rows.scores(coef))

    def point(self, coef: Floats, scores: Floats | None = None) -> ScoredPoint:
        return ScoredPoint(self, coef, self.memory_rows.scores(coef) if scores is None else scores)


class SumsProblem(Problem):
    """The problem of an objective that sums over the rows give, wherever these lie."""

    def __init__(
        self, objective: ScoreObjective, rows: RowSource, alpha: float, *, positive: bool = False
    ) -> None:
        super().__init__(objective, rows, alpha, positive=positive)
        if not is_sum(self.push_objective):
            raise ValueError(
                f"loss={self.push_objective.loss} with price={self.push_objective.price} needs the scores of "
                "all rows at once; where rows are not in memory use the exponential loss, and a price that "
                "is summed over rows, such as Power(p)."
            )

    def value_and_gradient(self, coef: Floats) -> tuple[float, Floats]:
        at_coef = summed_objective(self.push_objective, self.rows, coef)
        gradient = np.add(*at_coef.gradient())
        return at_coef.value + self.penalty(coef), gradient + self.alpha * coef

    def value(self, coef: Floats) -> float:
        # Without the sums of rows a pass is one product in place of two.
        at_coef = summed_objective(self.push_objective, self.rows, coef, with_rows=False)
        return float(at_coef.value) + self.penalty(coef)

    def moments(self, coef: Floats, *, columns: bool = True, whole: bool = False) -> ClassMoments:
        return summed_moments(self.push_objective, self.rows, coef, columns=columns, whole=whole)

    def margin(self, coef: Floats) -> float:
        lowest, highest = zip(*self.rows.map(partial(score_bounds, coef=coef)), strict=True)
        return float(min(lowest) - max(highest))

    def point(self, coef: Floats, scores: Floats | None = None) -> Point:
        # Along a line the scores of all rows change linearly: where they are held, a trial of a line search
        # does not read the data.
        scores = self.rows.scores(coef) if scores is None else scores
        return SummedPoint(self, coef) if scores is None else ScoredPoint(self, coef, scores)


class ScoredPoint:
    """A penalised objective at coefficients whose scores of all rows are held."""

    def __init__(self, problem: Problem, coef: Floats, scores: Floats) -> None:
        self.problem, self._rows = problem, problem.memory_rows
        self.coef, self.scores = coef, scores
        self.evaluation = problem.objective.evaluation(self._rows.sample, scores)
        self.value = self.evaluation.value + problem.penalty(coef)

    # A line search asks for the gradient at the accepted step alone.
    @cached_property
    def gradient(self) -> Floats:
        slopes = self._rows.sample.scatter(*self.evaluation.gradient())
        return self._rows.model.rmatvec(slopes) + self.problem.alpha * self.coef

    def hessian_product(self, direction: Floats) -> Floats:
        model, sample = self._rows.model, self._rows.sample
        product = self.evaluation.hessian_product(sample.gather(model.scores(direction)))
        return model.rmatvec(sample.scatter(*product)) + self.problem.alpha * direction

    def moments(self, *, columns: bool, whole: bool) -> ClassMoments:
        rows, row_weights = self._rows, self._rows.sample.scatter(*self.evaluation.diagonal())
        return rows.model.class_moments(row_weights, rows.class_codes, columns=columns, whole=whole)

    def hessian(self, least_weight: float = 0.0) -> Floats:
        """Return the Hessian of a logarithm of sums of exponentials, which is a covariance."""
        # Rows far below the mean weight of their class may be left out.
        parts = [*self.evaluation.diagonal()]
        if least_weight > 0.0:
            parts = [np.where(w < least_weight * w.mean(), 0.0, w) for w in parts]
        if (n_curving := self._rows.n_curving) is not None:
            parts = [thinned(w, n_curving) for w in parts]
        rows, row_weights = self._rows, self._rows.sample.scatter(*parts)
        moments = rows.model.class_moments(row_weights, rows.class_codes, columns=False, whole=True)
        return _with_penalty(moments, self.problem.alpha)

    def line(self, direction: Floats) -> Callable[[float], ScoredPoint]:
        """Return the function from a step along a direction to the point there."""
        change = self._rows.scores(direction)
        coef, scores = self.coef, self.scores
        return lambda step: ScoredPoint(self.problem, coef + step * direction, scores + step * change)


class SummedPoint:
    """A penalised objective at coefficients, of rows that give sums alone."""

    # A trial of a line search, mostly the only one of its step, is a pass over the rows that gives the next
    # gradient too; a Hessian is two passes.

    scores: Floats | None = None

    def __init__(self, problem: SumsProblem, coef: Floats) -> None:
        self.problem, self.coef = problem, coef
        self.value, self.gradient = problem.value_and_gradient(coef)

    def hessian(self, least_weight: float = 0.0) -> Floats:  # noqa: ARG002
        """Return the Hessian of a logarithm of sums of exponentials, which is a covariance, of all rows."""
        moments = self.problem.moments(self.coef, columns=False, whole=True)
        return _with_penalty(moments, self.problem.alpha)

    def line(self, direction: Floats) -> Callable[[float], SummedPoint]:
        return lambda step: SummedPoint(self.problem, self.coef + step * direction)


def thinned(weights: Floats, n_rows: int) -> Floats:
    """Return weights of at most this many rows, spread over all in proportion to their weights."""
    if np.count_nonzero(weights) <= n_rows:
        return weights
    # Every row is drawn as often as its weight has units, and a lighter one in turn with its neighbours.
    unit = float(weights.sum()) / n_rows
    return unit * np.diff(np.floor(np.cumsum(weights) / unit), prepend=0.0)


Point = ScoredPoint | SummedPoint


def _with_penalty(moments: ClassMoments, alpha: float) -> Floats:
    hessian = np.asarray(moments.covariance)
    hessian[np.diag_indices_from(hessian)] += alpha
    return hessian


def linear_problem(
    objective: ScoreObjective, rows: RowSource, alpha: float, *, positive: bool = False
) -> Problem:
    """Return the problem of an objective: of sums where it is one of them, otherwise of scores."""
    # Of rows in memory that is the two-sum objective alone. Any other price of the exponential loss takes two
    # passes with its sums, and computes the scores in both, where once is enough.
    # Samples other than two classes in one list have no sums over blocks.
    if not isinstance(rows, MemoryRows) or (rows.gives_sums and objective.powers is not None):
        return SumsProblem(objective, rows, alpha, positive=positive)
    return ScoresProblem(objective, rows, alpha, positive=positive)
