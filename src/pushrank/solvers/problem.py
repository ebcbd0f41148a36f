"""A ranking objective of a linear model with an L2 penalty.

The two-sum exponential objective of two classes, a log-sum-exp over the positives plus one over the negatives
(the P-Norm Push at any p), is computed in three ways, each the fastest where it is used:

- in :mod:`pushrank.solvers.sums`, from the rows and the coefficients in a single pass over the data. Both
  sums and the matching softmax-weighted sums of rows are carried along with a running maximum, so that a
  block of rows is read from memory or a file once, then scored, weighted and added while it lies in the
  processor's cache;
- in :mod:`pushrank.pairs.exponential`, from scores at hand, for any price, sample or second derivative;
- in :mod:`pushrank.solvers.boosting.objective`, from scores that change by a weak ranker at a time, with the
  fractions of pairs that the closed form of a boosting step needs.
"""

from __future__ import annotations

from functools import cached_property, partial
from typing import Protocol

import numpy as np

from pushrank import losses, prices
from pushrank._numeric import Floats
from pushrank.models import ArrayLinearModel, LinearModel
from pushrank.models.linear import ClassMoments, check_column_range
from pushrank.objectives import PushObjective
from pushrank.objectives.evaluation import ObjectiveEvaluation
from pushrank.pairs import BipartiteSample, Sample
from pushrank.prices import Power, Price
from pushrank.solvers.result import Certificate
from pushrank.solvers.sums import (
    ArrayRows,
    RowSource,
    RowWeights,
    column_sums,
    score_bounds,
    summed_moments,
    summed_objective,
    two_sum_push,
)
from pushrank.solvers.tolerances import TINY


class ScoreObjective(Protocol):
    """A function of the scores of a sample's rows."""

    @property
    def powers(self) -> tuple[float, float] | None:
        """The powers of its two-sum form, where it has one."""

    def evaluation(self, sample: Sample, scores: Floats) -> ObjectiveEvaluation:
        """Return it at given scores."""


class SumProblem(Protocol):
    r"""Minimise :math:`F(X w) + \frac{\alpha}{2} \|w\|^2` over w, the data being asked for sums alone.

    This is what L-BFGS (:func:`pushrank.solvers.gradient.minimise`) needs of a problem, wherever the rows
    are: each method takes coefficients, shape (n_features,), and returns sums over all rows, never a number
    for each. :class:`LinearProblem` is that of arrays in memory, for every objective. :class:`BlockProblem`
    is that of the exponential loss for rows anywhere: a :class:`~pushrank.solvers.sums.RowSource` maps the
    functions of blocks that return the sums.
    """

    objective: ScoreObjective
    alpha: float
    n_rows: int
    n_features: int
    in_row_space: bool = False  # whether the columns are those of wide rows' own space

    def check_range(self) -> None:
        """Raise a ValueError when a column's squares are no normal floats."""

    def value_and_gradient(self, coef: Floats) -> tuple[float, Floats]:
        """Return the penalised objective and its gradient, shape (n_features,)."""

    def value(self, coef: Floats) -> float:
        """Return the penalised objective alone."""
        return self.value_and_gradient(coef)[0]

    def moments(self, coef: Floats, *, columns: bool = True, whole: bool = False) -> ClassMoments:
        """Return how rows vary within the classes, under the weights by which the objective curves.

        Variances of the columns are asked for, or the whole covariance, or both; the penalty is left out.
        """

    def margin(self, coef: Floats) -> float:
        """Return the smallest difference of scores over the pairs that count."""

    def hessian_product(self, coef: Floats, direction: Floats) -> Floats:  # noqa: ARG002
        """Return the Hessian at ``coef`` times a direction, which Newton's method alone asks for.

        Raises
        ------
        ValueError
            Where the rows are not in memory.
        """
        raise ValueError("solver='newton-cg' needs the rows in memory; use solver='lbfgs'.")

    @property
    def push_objective(self) -> PushObjective:
        """The objective, for what has to know its loss and its price.

        Raises
        ------
        TypeError
            When it is another function of the scores.
        """
        if not isinstance(self.objective, PushObjective):
            raise TypeError(f"this solver takes a PushObjective, got {type(self.objective).__name__}.")
        return self.objective

    def is_separated(self, coef: Floats) -> bool:
        """Return whether the objective has no minimum: no penalty, and every pair ranked rightly."""
        return self.alpha == 0.0 and self.margin(coef) > 0.0

    @property
    def has_bound(self) -> bool:
        """Whether a gradient bounds the optimum: of a push objective that is convex, with a penalty."""
        return self.alpha > 0.0 and isinstance(self.objective, PushObjective) and self.objective.convex

    def certificate(self, value: float, gradient: Floats) -> Certificate:
        r"""Return the bounds of the optimum that the penalised objective and its gradient at a point give.

        With g the gradient of F at the scores s = X w, and :math:`F^*(g) = g \cdot s - F(s)`, the dual
        objective at g is

        .. math::

            -F^*(g) - \frac{1}{2 \alpha} \|X^T g\|^2
            = F(Xw) + \frac{\alpha}{2} \|w\|^2 - \frac{1}{2 \alpha} \|X^T g + \alpha w\|^2 ,

        so that the gap is the square of the whole gradient over :math:`2 \alpha`, whatever F. For the P-Norm
        Push g is made of the softmax weights of both classes, and -F* of their entropies. On the log scale,
        where zero is nothing special, the gap is relative to one at least.

        Without a bound it is minus infinity. O(n_features).
        """
        if not self.has_bound:
            return Certificate(value, -np.inf)
        floor = 1.0 if self.push_objective.scale == "log" else TINY
        return Certificate(value, value - 0.5 / self.alpha * float(gradient @ gradient), floor)


class LinearProblem(SumProblem):
    r"""Minimise :math:`F(X w) + \frac{\alpha}{2} \|w\|^2` over w: F is the objective, alpha at least zero."""

    def __init__(
        self, objective: ScoreObjective, model: LinearModel | ArrayLinearModel, sample: Sample, alpha: float
    ) -> None:
        self.objective = objective
        self.model = model
        self.sample = sample
        self.alpha = alpha
        self.n_rows, self.n_features = model.n_rows, model.n_features
        self.class_codes = sample.class_codes
        self.powers = objective.powers if isinstance(sample, BipartiteSample) else None
        self.in_row_space = model.in_row_space
        self._point: tuple[Floats, ObjectiveEvaluation] | None = None

    @property
    def host_model(self) -> LinearModel:
        """The model, for what reads single rows and columns.

        Raises
        ------
        ValueError
            When the data are arrays of another library.
        """
        if not isinstance(self.model, LinearModel):
            raise ValueError(
                "arrays of libraries other than NumPy are taken by solver='lbfgs' and 'newton-cg' alone, and "
                "with losses and prices without kinks, such as SquaredHinge and Power(p); convert X."
            )
        return self.model

    def value(self, coef: Floats) -> float:
        """Return the penalised objective alone, which serves one with kinks too."""
        return self.at(coef, self.model.scores(coef))[0]

    def at(self, coef: Floats, scores: Floats) -> tuple[float, ObjectiveEvaluation]:
        """Return the penalised objective at coefficients whose scores are known, and what it is made of."""
        at_point = self.objective.evaluation(self.sample, scores)
        return at_point.value + 0.5 * self.alpha * float(coef @ coef), at_point

    def value_and_gradient(self, coef: Floats) -> tuple[float, Floats]:
        """Return the penalised objective and its gradient, shape (n_features,)."""
        if self.powers is not None:
            at_sums = two_sum_push(self.rows, coef, self.powers)
            value, gradient = at_sums.value, np.add(*at_sums.gradient())
        else:
            at_point = self._evaluation(coef)
            value = at_point.value
            gradient = self.model.rmatvec(self.sample.scatter(*at_point.gradient()))
        return value + 0.5 * self.alpha * float(coef @ coef), gradient + self.alpha * coef

    def hessian_product(self, coef: Floats, direction: Floats) -> Floats:
        """Return the Hessian at ``coef`` times a direction."""
        moved = self.sample.gather(self.model.scores(direction))
        product = self._evaluation(coef).hessian_product(moved)
        return self.model.rmatvec(self.sample.scatter(*product)) + self.alpha * direction

    def moments(self, coef: Floats, *, columns: bool = True, whole: bool = False) -> ClassMoments:
        """Return how rows vary within the classes, under the weights by which the objective curves."""
        if self.powers is not None:
            weights = RowWeights.total(two_sum_push(self.rows, coef, self.powers, with_rows=False))
            return summed_moments(self.rows, coef, weights, columns=columns, whole=whole)
        scores = self.model.scores(coef)
        at_point = self.objective.evaluation(self.sample, scores)
        del scores  # as many numbers as rows, which the next lines need room for
        row_weights = self.sample.scatter(*at_point.diagonal())
        return self.model.class_moments(row_weights, self.class_codes, columns=columns, whole=whole)

    def margin(self, coef: Floats) -> float:
        """Return the smallest difference of scores over the pairs that count."""
        return self.sample.least_margin(self.model.scores(coef))

    @cached_property
    def log_weights(self) -> Floats | None:
        """The logarithms of the sample weights; None where all weigh one."""
        weights = self.sample.row_weights
        with np.errstate(divide="ignore"):
            return None if weights is None else np.asarray(np.log(weights))

    @cached_property
    def rows(self) -> ArrayRows:
        """The rows of two classes, block by block."""
        return ArrayRows(self.host_model, self.class_codes, self.log_weights, self.sample.class_weights)

    def check_range(self) -> None:
        """Raise a ValueError when a column's squares are no normal floats."""
        self.model.check_range()

    def _evaluation(self, coef: Floats) -> ObjectiveEvaluation:
        # the gradient and many Hessian products are asked for at the same point
        if self._point is None or not np.array_equal(self._point[0], coef):
            self._point = (coef.copy(), self.objective.evaluation(self.sample, self.model.scores(coef)))
        return self._point[1]


class BlockProblem(SumProblem):
    r"""Minimise :math:`F(X w) + \frac{\alpha}{2} \|w\|^2` over w, the rows being a source's wherever that is.

    F is any push objective of the exponential loss with a price that is the sum of those of the inner sums.
    """

    def __init__(self, objective: PushObjective, rows: RowSource, alpha: float) -> None:
        self.objective, self.rows, self.alpha = objective, rows, alpha
        self.n_rows, self.n_features = rows.n_rows, rows.n_features

    def check_range(self) -> None:
        """Raise a ValueError when a column's squares are no normal floats."""
        parts = self.rows.map(partial(column_sums, n_features=self.n_features))
        check_column_range(np.sum(parts, axis=0))

    def value_and_gradient(self, coef: Floats) -> tuple[float, Floats]:
        """Return the penalised objective and its gradient, shape (n_features,)."""
        at_point = summed_objective(self.objective, self.rows, coef)
        value = at_point.value + 0.5 * self.alpha * float(coef @ coef)
        gradient = np.add(*at_point.gradient())
        return value, gradient + self.alpha * coef

    def moments(self, coef: Floats, *, columns: bool = True, whole: bool = False) -> ClassMoments:
        """Return how rows vary within the classes, under the weights by which the objective curves."""
        weights = RowWeights.total(summed_objective(self.objective, self.rows, coef, with_rows=False))
        return summed_moments(self.rows, coef, weights, columns=columns, whole=whole)

    def margin(self, coef: Floats) -> float:
        """Return the lowest score of a positive less the highest of a negative."""
        lowest, highest = zip(*self.rows.map(partial(score_bounds, coef=coef)), strict=True)
        return float(min(lowest) - max(highest))

    @staticmethod
    def check(objective: PushObjective) -> None:
        """Raise unless an objective can be had from sums over blocks.

        Raises
        ------
        ValueError
            When its loss or its price cannot.
        """
        loss, price = losses.resolve(objective.loss), prices.resolve(objective.price)
        if not (loss.factorises and type(price).total in (Price.total, Power.total)):
            raise ValueError(
                f"loss={loss} with price={price} needs the scores of all rows at once; where rows are not in "
                "memory use the exponential loss, and a price that is summed over rows, such as Power(p)."
            )
