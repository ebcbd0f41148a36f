"""The objectives of boosting as functions of the scores of the training rows."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from pushrank._base.numeric import Floats, sigmoid
from pushrank._base.parallel import compiled, map_chunks, row_chunks
from pushrank._base.user_types import GenericArray
from pushrank.objectives import PushObjective
from pushrank.objectives.evaluation import ObjectiveEvaluation, PushEvaluation
from pushrank.pairs import BipartiteSample, Sample
from pushrank.prices import Identity, Power
from pushrank.solvers.line_search import Slope

Mask = NDArray[np.bool_]
# A sum of fewer than 1e20 terms of at most one, above this, has lost nothing to underflow.
SAFE_SUM = 1e-270


# The kernels walk over the rows in their order and look the class of each up, instead of gathering each class
# into an array: the scores of a round are read once, without a copy.


@compiled()
def exponents(scores, powers, class_codes, log_weights, start, stop, out):
    """Write ``power * score + log_weight`` of the rows from start to stop; return the largest by class."""
    # `powers` are those of the class codes 0 and 1; rows of code 2 take no part and get `-inf`.
    largest = np.empty(3)
    for code in range(3):
        largest[code] = -np.inf
    for row in range(start, stop):
        code = class_codes[row]
        exponent = powers[code] * scores[row] if code < 2 else -np.inf
        if len(log_weights):
            exponent += log_weights[row]
        out[row] = exponent
        largest[code] = max(largest[code], exponent)
    return largest


@compiled()
def lower_by(shifts, class_codes, start, stop, values):
    """Subtract the shift of each class from the values of its rows."""
    for row in range(start, stop):
        values[row] -= shifts[class_codes[row]]


@compiled()
def class_totals(values, class_codes, start, stop):
    """Return the sum of the values of each class."""
    totals = np.empty(3)
    for code in range(3):
        totals[code] = 0.0
    for row in range(start, stop):
        totals[class_codes[row]] += values[row]
    return totals


@compiled()
def multiply_by(factors, class_codes, start, stop, values):
    """Multiply the values of each class by its factor."""
    for row in range(start, stop):
        values[row] *= factors[class_codes[row]]


@compiled()
def class_sums(gradient, mask, start, stop, sums):
    """Add up and return |g| over the negative and the positive entries g, where false and where true."""
    # The sign of its gradient gives the class of a row: negative for positives, positive for negatives.
    for row in range(start, stop):
        g = gradient[row]
        sums[1 if g > 0.0 else 0, 1 if mask[row] else 0] += abs(g)
    return sums


@compiled()
def moments(gradient, direction, start, stop, sums):
    """Add up g u and |g| u^2 over the negative and the positive entries g; return the sums."""
    for row in range(start, stop):
        g, u = gradient[row], direction[row]
        side = int(g > 0.0)
        sums[side, 0] += g * u
        sums[side, 1] += abs(g) * u * u
    return sums


class PairFractions(NamedTuple):
    """The fractions of the objective in pairs that a weak ranker orders rightly, wrongly, and not at all."""

    d_plus: float
    d_minus: float
    d_zero: float


def score_objective(
    objective: PushObjective, sample: Sample, n_threads: int | None = None, *, joint: bool = False
) -> ScoreObjective:
    """Return the objective on the sample's rows, in the form that is fastest to evaluate."""
    if isinstance(sample, BipartiteSample) and objective.powers is not None:
        return TwoSumObjective(sample, objective.powers, joint=joint, n_threads=n_threads)
    return PairwiseObjective(objective, sample)


def _log_n_pairs(sample: Sample) -> float:
    """Return the logarithm of the weight of all positives times that of all negatives."""
    return float(np.sum(np.log(sample.class_weights)))


class _SearchedObjective:
    """An objective whose slope at some distance takes an evaluation there."""

    evaluate: Callable[[Floats], Evaluation]

    def slope_of_length(self, scores: Floats, direction: Floats, push_out: float) -> Callable[[float], float]:
        """Return the slope plus ``push_out`` after a step of any length along a direction."""
        return lambda length: self.evaluate(scores + length * direction).derivatives(direction)[0] + push_out


class PairwiseObjective(_SearchedObjective):
    """Any differentiable objective of any sample."""

    # `power_sum` is the c of the closed form ln(d_+ / d_-) / c of the best step, and `log_n_pairs` bounds
    # steps that would be infinite.

    power_sum = 2.0

    def __init__(self, objective: PushObjective, sample: Sample) -> None:
        self.objective, self.sample = objective, sample
        self.log_n_pairs = _log_n_pairs(sample)
        p_one = objective.price in (Identity(), Power(1.0)) and objective.scale == "log"
        self.is_rank_boost = p_one and objective.side == "push"

    def evaluate(self, scores: Floats) -> PairwiseEvaluation:
        return PairwiseEvaluation(self, self.objective.evaluation(self.sample, scores))

    def subset(self, kept: Mask) -> PairwiseObjective:
        return PairwiseObjective(self.objective, self.sample.subset(kept))


class PairwiseEvaluation:
    """Any objective at given scores."""

    def __init__(self, objective: PairwiseObjective, evaluation: ObjectiveEvaluation) -> None:
        self._objective, self._evaluation = objective, evaluation
        self.value = evaluation.value
        self._class_gradient = evaluation.gradient()
        self.gradient = objective.sample.scatter(*self._class_gradient)

    @property
    def curvature(self) -> Floats:
        """Non-negative weights of the rows by which the objective curves: those of the Newton step."""
        return self._objective.sample.scatter(*self._evaluation.diagonal())

    def derivatives(self, direction: Floats) -> tuple[float, float]:
        """Return the first and second derivatives along a direction."""
        along = self._objective.sample.gather(direction)
        first = self._class_gradient.dot(along)
        if not self._objective.objective.twice_differentiable:
            # The line search takes a second derivative of zero for unknown.
            return first, 0.0
        return first, self._evaluation.hessian_product(along).dot(along)

    def pair_fractions(self, mask: Mask) -> PairFractions | None:
        """Return the fractions for RankBoost's objective, the only one with a closed form on any pairs."""
        if not (self._objective.is_rank_boost and isinstance(self._evaluation, PushEvaluation)):
            return None
        high = self._objective.sample.gather(mask.astype(np.float64))
        return PairFractions(*self._evaluation.pair_weights(high))


class TwoSumObjective(_SearchedObjective):
    """An objective of two classes made of one sum of exponentials each, evaluated in O(n)."""

    # With the sums A = sum_i w_i e^(-c_+ s_i) and B = sum_k w_k e^(c_- t_k), `powers` being (c_+, c_-), it is
    # ln A / c_+ + ln B / c_-, or if `joint` AdaBoost's ln(A + B).

    def __init__(
        self, sample: BipartiteSample, powers: tuple[float, float], *, joint: bool, n_threads: int | None
    ) -> None:
        self.sample, self.powers, self.joint, self.n_threads = sample, powers, joint, n_threads
        self.power_sum = sum(powers)
        self.log_n_pairs = _log_n_pairs(sample)
        # Rows outside the sample need a third code: with code 0 they would count as negatives of weight one.
        self.class_codes = np.full(sample.n_rows, 2, dtype=np.uint8)
        self.class_codes[sample.positives], self.class_codes[sample.negatives] = 1, 0
        self.log_weights = np.zeros(0)
        if sample.row_weights is not None:
            # A weight of zero becomes -inf, and its exponential zero.
            with np.errstate(divide="ignore"):
                self.log_weights = np.log(sample.row_weights)
        self.chunks = row_chunks(sample.n_rows, 8)

    def evaluate(self, scores: Floats) -> TwoSumEvaluation:
        return TwoSumEvaluation(self, scores)

    def slope_of_length(self, scores: Floats, direction: Floats, push_out: float) -> Callable[[float], float]:
        r"""Return a function with the sign of the slope plus ``push_out`` after a step of any length."""
        # With softmax weights a and b after the step, and the direction u on the positives and v on the
        # negatives, the slope is D_- less D_+, the sums of a_i b_k (v_k - u_i)_+ and of a_i b_k (u_i - v_k)_+
        # over pairs. The function is ln(D_- + push_out) - ln D_+, nearly a line, which no weight is too small
        # for. Sums over pairs are those over the gaps between neighbouring values, each times the weights
        # above and below it: O(n) after a sort.
        if self.joint:
            return super().slope_of_length(scores, direction, push_out)
        (up, down), (s, t) = self.sample.gather(direction), self.sample.gather(scores)
        log_w = [0.0 if log is None else log for log in self.sample.log_weights]
        # The rows that decide after a long step are those near the lowest u and the highest v. Relative to
        # these the exponents keep their digits, whatever the length.
        rise, fall = self.powers[0] * (up - up.min()), self.powers[1] * (down.max() - down)
        a_start, b_start = log_w[0] - self.powers[0] * s, log_w[1] + self.powers[1] * t
        values = np.unique(np.concatenate([up, down]))
        gaps = np.diff(values)

        def halves(start: Floats, slope: Floats, along: Floats) -> Callable[..., tuple[Floats, Floats]]:
            order = np.argsort(along)
            start, slope, cuts = start[order], slope[order], np.searchsorted(along[order], values[1:])

            def at(length: float, add: Any, zero: float) -> tuple[Floats, Floats]:
                terms = start - length * slope
                terms = terms if add is np.logaddexp else np.exp(terms - terms.max())
                below = np.append(zero, add.accumulate(terms))
                above = np.append(add.accumulate(terms[::-1])[::-1], zero)
                return below[cuts], above[cuts]

            return at

        positives, negatives = halves(a_start, rise, up), halves(b_start, fall, down)

        def log_ratio(length: float) -> float:
            a_below, a_above = positives(length, np.add, 0.0)
            b_below, b_above = negatives(length, np.add, 0.0)
            total = (a_below[0] + a_above[0]) * (b_below[0] + b_above[0])
            wrong, right = gaps @ (a_below * b_above) + push_out * total, gaps @ (a_above * b_below)
            if min(wrong, right) >= SAFE_SUM:
                return float(np.log(wrong) - np.log(right))
            # Sums of logarithms take six times as long, and nothing is too small for them.
            a_below, a_above = positives(length, np.logaddexp, -np.inf)
            b_below, b_above = negatives(length, np.logaddexp, -np.inf)
            log_gaps = np.log(gaps)
            log_wrong = np.logaddexp.reduce(log_gaps + a_below + b_above)
            if push_out > 0.0:
                total = np.logaddexp(a_below[0], a_above[0]) + np.logaddexp(b_below[0], b_above[0])
                log_wrong = np.logaddexp(log_wrong, np.log(push_out) + total)
            return float(log_wrong - np.logaddexp.reduce(log_gaps + a_above + b_below))

        return log_ratio

    def map_rows(self, function: Callable[[int, int], Any]) -> list[Any]:
        """Return what a function returns of each chunk of rows, in their order."""
        return map_chunks(function, self.chunks, self.n_threads)

    def subset(self, kept: Mask) -> TwoSumObjective:
        sample = self.sample.subset(kept)
        return TwoSumObjective(sample, self.powers, joint=self.joint, n_threads=self.n_threads)


class TwoSumEvaluation:
    """Two sums of exponentials at given scores."""

    def __init__(self, objective: TwoSumObjective, scores: Floats) -> None:
        self._objective = objective
        code_powers = np.array([objective.powers[1], -objective.powers[0]])
        values = np.empty_like(scores)
        class_codes = objective.class_codes

        def each(kernel: Any, *arguments: Any) -> list[Any]:
            return objective.map_rows(lambda *ends: kernel(*arguments[:-1], *ends, arguments[-1]))

        # Each class is shifted by its largest exponent, so that its sum neither overflows nor vanishes.
        by_chunk = each(exponents, scores, code_powers, class_codes, objective.log_weights, values)
        largest = np.max(by_chunk, axis=0)
        shifts = np.where(np.isfinite(largest), largest, 0.0)
        each(lower_by, shifts, class_codes, values)

        def exponentials(start: int, stop: int) -> Floats:
            np.exp(values[start:stop], out=values[start:stop])
            return np.asarray(class_totals(values, class_codes, start, stop))

        # Chunks are added in their order, whichever thread ends first, so that threads change no bit.
        totals = np.zeros(3)
        for part in objective.map_rows(exponentials):
            totals += part
        log_sums = shifts[:2] + np.log(totals[:2])
        self.log_sums = float(log_sums[1]), float(log_sums[0])
        if objective.joint:
            self.value = float(np.logaddexp(*log_sums))
            fractions = np.exp(log_sums - self.value)
        else:
            self.value = float(np.array(self.log_sums) @ (1.0 / np.array(objective.powers)))
            fractions = np.ones(2)
        # The exponentials become the gradient in place: an evaluation allocates one array of n_rows numbers.
        factors = np.array([fractions[0] / totals[0], -fractions[1] / totals[1], 0.0])
        each(multiply_by, factors, class_codes, values)
        self.gradient: Floats = values

    @property
    def curvature(self) -> Floats:
        """Non-negative weights of the rows: the Hessian's diagonal without the part of its rank-one terms."""
        factors = np.array([*reversed(self._objective.powers), 0.0])
        return np.asarray(np.abs(self.gradient) * factors[self._objective.class_codes])

    def derivatives(self, direction: Floats) -> tuple[float, float]:
        (first_a, second_a), (first_b, second_b) = self._summed(moments, direction)
        first = first_a + first_b
        if self._objective.joint:
            return first, second_a + second_b - first**2
        positive_power, negative_power = self._objective.powers
        return first, positive_power * (second_a - first_a**2) + negative_power * (second_b - first_b**2)

    def pair_fractions(self, mask: Mask) -> PairFractions:
        """Return the fractions of pairs, or for AdaBoost of rows, ordered rightly, wrongly and not at all."""
        (a0, a1), (b0, b1) = self._summed(class_sums, mask)
        if self._objective.joint:
            return PairFractions(a1 + b0, a0 + b1, 0.0)
        # The gradient of each class has the 1-norm one, so products of its parts are fractions of pairs.
        return PairFractions(a1 * b0, a0 * b1, a1 * b1 + a0 * b0)

    def slope_along(self, mask: Mask) -> Slope | None:
        """Return the derivatives at a step along a weak ranker in {0, 1}, in O(1) after one O(n) pass."""
        # The slope is B_1(alpha) - A_1(alpha), with the fractions of A and B over the rows where the ranker
        # is 1. AdaBoost's steps along such a ranker always have a closed form: there it is None.
        if self._objective.joint:
            return None
        positive_power, negative_power = self._objective.powers
        with np.errstate(divide="ignore"):
            (log_a0, log_a1), (log_b0, log_b1) = np.log(self._summed(class_sums, mask))

        def slope(step: float) -> tuple[float, float]:
            log_odds = [log_a1 - log_a0 - positive_power * step, log_b1 - log_b0 + negative_power * step]
            a1, b1 = sigmoid(np.array(log_odds))
            second = positive_power * a1 * (1.0 - a1) + negative_power * b1 * (1.0 - b1)
            return float(b1 - a1), float(second)

        return slope

    def _summed(self, kernel: Any, values: GenericArray) -> Floats:
        parts = self._objective.map_rows(lambda *ends: kernel(self.gradient, values, *ends, np.zeros((2, 2))))
        return np.asarray(sum(parts[1:], start=parts[0]))


ScoreObjective = TwoSumObjective | PairwiseObjective
Evaluation = TwoSumEvaluation | PairwiseEvaluation
"""An objective on the training rows, and at given scores of theirs."""
