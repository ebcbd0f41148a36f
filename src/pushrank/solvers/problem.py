"""A ranking objective of a linear model with an L2 penalty.

The two-sum exponential objective of two classes, a log-sum-exp over the positives plus one over the negatives
(the P-Norm Push at any p), is computed in three ways, each the fastest where it is used:

- here, from the rows and the coefficients in a single pass over the data. Both sums and the matching
  softmax-weighted sums of rows are carried along with a running maximum, so that a block of rows is read from
  memory once, then scored, weighted and added while it lies in the processor's cache;
- in :mod:`pushrank.pairs.exponential`, from scores at hand, for any price, sample or second derivative;
- in :mod:`pushrank.solvers.boosting.objective`, from scores that change by a weak ranker at a time, with the
  fractions of pairs that the closed form of a boosting step needs.
"""

from __future__ import annotations

from functools import cached_property
from typing import NamedTuple, Protocol

import numpy as np

from pushrank._numeric import Floats
from pushrank._parallel import compiled, map_chunks
from pushrank.models import ArrayLinearModel, LinearModel
from pushrank.models.linear import ClassCodes
from pushrank.objectives import PushObjective
from pushrank.objectives.evaluation import ObjectiveEvaluation
from pushrank.pairs import BipartiteSample, Sample
from pushrank.solvers.result import Certificate
from pushrank.solvers.tolerances import TINY


class TwoLogSums(NamedTuple):
    """Running sums of ``w exp(c z)`` and ``w exp(c z) x`` over each class, in units of ``exp(largest)``."""

    largest: Floats
    totals: Floats
    rows: Floats


@compiled()
def _weigh_block(scores, class_codes, log_weights, powers, largest, totals, factors):
    """Replace scores by their terms in units of the class's running maximum, and move that maximum."""
    previous = largest.copy()
    for i in range(scores.shape[0]):
        exponent = powers[class_codes[i]] * scores[i]
        if log_weights.shape[0]:
            exponent += log_weights[i]
        scores[i] = exponent
        if exponent > largest[class_codes[i]]:
            largest[class_codes[i]] = exponent
    for c in range(2):
        # both -inf: nothing has been seen of this class yet
        factors[c] = 1.0 if previous[c] == largest[c] else np.exp(previous[c] - largest[c])
        totals[c] *= factors[c]
    for i in range(scores.shape[0]):
        below = scores[i] - largest[class_codes[i]]
        # exp underflows below -745; NaN, -inf less -inf, is the term of a row without weight too
        term = np.exp(below) if below > -745.0 else 0.0
        scores[i] = term
        totals[class_codes[i]] += term


def two_sum_value_and_gradient(
    model: LinearModel,
    class_codes: ClassCodes,
    log_weights: Floats | None,
    powers: tuple[float, float],
    coef: Floats,
) -> tuple[float, Floats]:
    r"""Return the two-sum objective of a linear model and its gradient in the coefficients.

    .. math::

        \frac{1}{c_+} \ln \sum_i w_i e^{-c_+ s_i} + \frac{1}{c_-} \ln \sum_k w_k e^{c_- t_k}

    The powers are :math:`(c_+, c_-)`; the logarithm of a sample weight of zero is ``-inf``. O(nnz) time and
    one pass over the data; O(n_features) memory.
    """
    signed = np.array([powers[1], -powers[0]])
    none = np.empty(0)

    def chunk_sums(start: int, stop: int) -> TwoLogSums:
        sums = TwoLogSums(np.full(2, -np.inf), np.zeros(2), np.zeros((2, model.n_features)))
        factors = np.ones(2)
        for first, last in model.blocks(start, stop):
            terms = np.empty(last - first)
            model.block_scores(first, last, coef, terms)
            block_codes = class_codes[first:last]
            weights = none if log_weights is None else log_weights[first:last]
            _weigh_block(terms, block_codes, weights, signed, sums.largest, sums.totals, factors)
            if factors[0] != 1.0 or factors[1] != 1.0:
                np.multiply(sums.rows, factors[:, None], out=sums.rows)
            model.add_block_sums(first, last, terms, block_codes, sums.rows)
        return sums

    # in the order of the chunks: rounding does not depend on the number of threads
    parts = map_chunks(chunk_sums, model.chunks)
    largest = np.max([part.largest for part in parts], axis=0)
    totals, rows = np.zeros(2), np.zeros((2, model.n_features))
    for part in parts:
        unit = np.exp(part.largest - largest)
        totals += unit * part.totals
        rows += unit[:, None] * part.rows
    means = rows / totals[:, None]
    log_sums = largest + np.log(totals)
    return float(np.sum(log_sums / np.abs(signed))), means[0] - means[1]


class ScoreObjective(Protocol):
    """A function of the scores of a sample's rows."""

    @property
    def powers(self) -> tuple[float, float] | None:
        """The powers of its two-sum form, where it has one."""

    def evaluation(self, sample: Sample, scores: Floats) -> ObjectiveEvaluation:
        """Return it at given scores."""


class LinearProblem:
    r"""Minimise :math:`F(X w) + \frac{\alpha}{2} \|w\|^2` over w: F is the objective, alpha at least zero."""

    def __init__(
        self, objective: ScoreObjective, model: LinearModel | ArrayLinearModel, sample: Sample, alpha: float
    ) -> None:
        self.objective = objective
        self.model = model
        self.sample = sample
        self.alpha = alpha
        self.class_codes = sample.class_codes
        self.powers = objective.powers if isinstance(sample, BipartiteSample) else None
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
            value, gradient = two_sum_value_and_gradient(
                self.host_model, self.class_codes, self.log_weights, self.powers, coef
            )
        else:
            at_point = self._evaluation(coef)
            value = at_point.value
            gradient = self.model.rmatvec(self.sample.scatter(*at_point.gradient()))
        return value + 0.5 * self.alpha * float(coef @ coef), gradient + self.alpha * coef

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

    def hessian_product(self, coef: Floats, direction: Floats) -> Floats:
        """Return the Hessian at ``coef`` times a direction."""
        moved = self.sample.gather(self.model.scores(direction))
        product = self._evaluation(coef).hessian_product(moved)
        return self.model.rmatvec(self.sample.scatter(*product)) + self.alpha * direction

    def row_weights(self, coef: Floats) -> Floats:
        """Return the non-negative weights of the rows by which the objective curves at ``coef``."""
        scores = self.model.scores(coef)
        at_point = self.objective.evaluation(self.sample, scores)
        del scores  # as many numbers as rows, which the next lines need room for
        return self.sample.scatter(*at_point.diagonal())

    def is_separated(self, coef: Floats) -> bool:
        """Return whether the objective has no minimum: no penalty, and every pair ranked rightly."""
        return self.alpha == 0.0 and self.margin(coef) > 0.0

    def margin(self, coef: Floats) -> float:
        """Return the smallest difference of scores over the pairs that count."""
        return self.sample.least_margin(self.model.scores(coef))

    @cached_property
    def log_weights(self) -> Floats | None:
        """The logarithms of the sample weights; None where all weigh one."""
        weights = self.sample.row_weights
        with np.errstate(divide="ignore"):
            return None if weights is None else np.asarray(np.log(weights))

    def _evaluation(self, coef: Floats) -> ObjectiveEvaluation:
        # the gradient and many Hessian products are asked for at the same point
        if self._point is None or not np.array_equal(self._point[0], coef):
            self._point = (coef.copy(), self.objective.evaluation(self.sample, self.model.scores(coef)))
        return self._point[1]
