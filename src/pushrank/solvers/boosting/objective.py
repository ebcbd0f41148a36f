r"""The objectives of boosting as functions of the scores of the training rows.

Beside its value and gradient at given scores, boosting needs an objective's curvature along a direction, and,
where the best step along a weak ranker in {0, 1} has a closed form, the fractions of pairs that decide it.

A push or a pull of two classes by the exponential loss and a power is the product of one sum of exponentials
over the positives and one over the negatives (:class:`TwoSumObjective`, in O(n), one pass over the rows as
they stand); everything else goes by class, as :mod:`pushrank.objectives` evaluates it, and is put in the
order of the rows (:class:`PairwiseObjective`).
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from pushrank._numeric import Floats, sigmoid
from pushrank._parallel import compiled, map_chunks, row_chunks
from pushrank.objectives import PushObjective
from pushrank.objectives.evaluation import ObjectiveEvaluation, PushEvaluation
from pushrank.pairs import BipartiteSample, Sample
from pushrank.prices import Identity, Power
from pushrank.solvers.line_search import Slope


@compiled()
def exponents(scores, powers, class_codes, log_weights, start, stop, out):
    """Write ``power * score + log_weight`` of the rows from start to stop; return both classes' largest.

    ``powers`` are those of the class codes 0 and 1; rows of code 2 take no part and get ``-inf``.
    ``log_weights`` is empty where all rows weigh one.
    """
    largest = np.full(3, -np.inf)
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
    """Take each class's shift off the values of its rows."""
    for row in range(start, stop):
        values[row] -= shifts[class_codes[row]]


@compiled()
def class_totals(values, class_codes, start, stop):
    """Return the sum of the values of each class."""
    totals = np.zeros(3)
    for row in range(start, stop):
        totals[class_codes[row]] += values[row]
    return totals


@compiled()
def multiply_by(factors, class_codes, start, stop, values):
    """Multiply the values of each class's rows by its factor."""
    for row in range(start, stop):
        values[row] *= factors[class_codes[row]]


@compiled()
def class_sums(gradient, ones, start, stop):
    """Return the sums of the negative and the positive entries, where false and where true."""
    sums = np.zeros((2, 2))
    for row in range(start, stop):
        g = gradient[row]
        sums[int(g > 0.0), int(ones[row])] += abs(g)
    return sums


@compiled()
def moments(gradient, direction, start, stop):
    """Return, for the negative and the positive entries g, the sums of g u and of |g| u u."""
    sums = np.zeros((2, 2))
    for row in range(start, stop):
        g, u = gradient[row], direction[row]
        side = int(g > 0.0)
        sums[side, 0] += g * u
        sums[side, 1] += abs(g) * u * u
    return sums


Ones = NDArray[np.bool_]


class PairFractions(NamedTuple):
    """The fractions of the objective in pairs that a weak ranker orders rightly, wrongly, and not at all."""

    d_plus: float
    d_minus: float
    d_zero: float


def score_objective(
    objective: PushObjective, sample: Sample, n_threads: int | None = None, *, joint: bool = False
) -> ScoreObjective:
    """Return the objective on the sample's rows, in the form that is fastest to evaluate.

    ``joint`` adds the sums over the two classes in place of multiplying them: AdaBoost's objective.
    """
    if isinstance(sample, BipartiteSample) and objective.powers is not None:
        return TwoSumObjective(sample, objective.powers, joint=joint, n_threads=n_threads)
    return PairwiseObjective(objective, sample)


def _log_n_pairs(sample: Sample) -> float:
    """Return the logarithm of the weight of all positives times that of all negatives."""
    return float(np.sum(np.log(sample.class_weights)))


class PairwiseObjective:
    """Any differentiable objective of any sample."""

    def __init__(self, objective: PushObjective, sample: Sample) -> None:
        self.objective, self.sample = objective, sample
        self.power_sum = 2.0  # the c of the closed form ln(d_+ / d_-) / c of the best step
        self.log_n_pairs = _log_n_pairs(sample)  # which bounds steps towards infinity
        p_one = objective.price in (Identity(), Power(1.0)) and objective.scale == "log"
        self.is_rank_boost = p_one and objective.side == "push"

    def evaluate(self, scores: Floats) -> PairwiseEvaluation:
        """Return the objective at given scores."""
        return PairwiseEvaluation(self, self.objective.evaluation(self.sample, scores))

    def subset(self, kept: Ones) -> PairwiseObjective:
        """Return the objective of some of the rows."""
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
        """The curvature weights of the rows."""
        return self._objective.sample.scatter(*self._evaluation.diagonal())

    def derivatives(self, direction: Floats) -> tuple[float, float]:
        """Return the first and second derivatives along a direction."""
        along = self._objective.sample.gather(direction)
        first = self._class_gradient.dot(along)
        if not self._objective.objective.twice_differentiable:
            return first, 0.0  # which the line search takes for unknown
        return first, self._evaluation.hessian_product(along).dot(along)

    def pair_fractions(self, ones: Ones) -> PairFractions | None:
        """Return the fractions for RankBoost's objective, which has a closed form for any pairs."""
        if not (self._objective.is_rank_boost and isinstance(self._evaluation, PushEvaluation)):
            return None
        high = self._objective.sample.gather(ones.astype(np.float64))
        return PairFractions(*self._evaluation.pair_weights(high))

    def line(self, ones: Ones) -> Slope | None:  # noqa: ARG002
        """Return None: the scores must be moved."""
        return None


class TwoSumObjective:
    r"""Two classes whose objective is made of one sum of exponentials each, in O(n) a point.

    With the sums :math:`A = \sum_i w_i e^{-c_+ s_i}` and :math:`B = \sum_k w_k e^{c_- t_k}`, ``powers`` being
    :math:`(c_+, c_-)`, it is :math:`\ln A / c_+ + \ln B / c_-`, or if ``joint`` AdaBoost's
    :math:`\ln(A + B)`.
    """

    def __init__(
        self,
        sample: BipartiteSample,
        powers: tuple[float, float],
        *,
        joint: bool = False,
        n_threads: int | None = None,
    ) -> None:
        self.sample, self.powers, self.joint, self.n_threads = sample, powers, joint, n_threads
        self.power_sum = sum(powers)
        self.log_n_pairs = _log_n_pairs(sample)
        # rows that take no part get the code 2: zero would make negatives of them where all rows weigh one
        self.class_codes = np.full(sample.n_rows, 2, dtype=np.uint8)
        self.class_codes[sample.positives], self.class_codes[sample.negatives] = 1, 0
        self.log_weights = np.zeros(0)
        if sample.row_weights is not None:
            with np.errstate(divide="ignore"):
                self.log_weights = np.log(sample.row_weights)
        self.chunks = row_chunks(sample.n_rows, 8)

    def evaluate(self, scores: Floats) -> TwoSumEvaluation:
        """Return the objective at given scores."""
        return TwoSumEvaluation(self, scores)

    def subset(self, kept: Ones) -> TwoSumObjective:
        """Return the objective of some of the rows."""
        sample = self.sample.subset(kept)
        return TwoSumObjective(sample, self.powers, joint=self.joint, n_threads=self.n_threads)


class TwoSumEvaluation:
    """Two sums of exponentials at given scores."""

    def __init__(self, objective: TwoSumObjective, scores: Floats) -> None:
        self._objective = objective
        signed = np.array([objective.powers[1], -objective.powers[0]])  # by class code
        values = np.empty_like(scores)
        class_codes = objective.class_codes

        def each(kernel: Any, *arguments: Any) -> list[Any]:
            return map_chunks(
                lambda start, stop: kernel(*arguments[:-1], start, stop, *arguments[-1:]),
                objective.chunks,
                objective.n_threads,
            )

        # each class is shifted by its largest exponent, so that its sum neither overflows nor vanishes
        largest = np.max(each(exponents, scores, signed, class_codes, objective.log_weights, values), axis=0)
        shifts = np.where(np.isfinite(largest), largest, 0.0)
        each(lower_by, shifts, class_codes, values)

        def exponentials(start: int, stop: int) -> Floats:
            np.exp(values[start:stop], out=values[start:stop])
            totals: Floats = class_totals(values, class_codes, start, stop)
            return totals

        totals = np.zeros(3)
        for part in map_chunks(exponentials, objective.chunks, objective.n_threads):
            totals += part
        log_sums = shifts[:2] + np.log(totals[:2])
        self.log_sums = float(log_sums[1]), float(log_sums[0])
        if objective.joint:
            self.value = float(np.logaddexp(*log_sums))
            fractions = np.exp(log_sums - self.value)
        else:
            self.value = float(np.array(self.log_sums) @ (1.0 / np.array(objective.powers)))
            fractions = np.ones(2)
        factors = np.array([fractions[0] / totals[0], -fractions[1] / totals[1], 0.0])
        each(multiply_by, factors, class_codes, values)
        self.gradient: Floats = values

    @property
    def curvature(self) -> Floats:
        """The curvature weights of the rows."""
        factors = np.array([*reversed(self._objective.powers), 0.0])
        curvature: Floats = np.abs(self.gradient) * factors[self._objective.class_codes]
        return curvature

    def derivatives(self, direction: Floats) -> tuple[float, float]:
        """Return the first and second derivatives along a direction."""
        (first_a, second_a), (first_b, second_b) = self._summed(moments, direction)
        first = first_a + first_b
        if self._objective.joint:
            return first, second_a + second_b - first**2
        positive_power, negative_power = self._objective.powers
        return first, positive_power * (second_a - first_a**2) + negative_power * (second_b - first_b**2)

    def pair_fractions(self, ones: Ones) -> PairFractions:
        """Return the fractions of pairs, or for AdaBoost of rows, ordered rightly, wrongly and not at all."""
        (a0, a1), (b0, b1) = self._summed(class_sums, ones)
        if self._objective.joint:
            return PairFractions(a1 + b0, a0 + b1, 0.0)
        # each class's gradient adds up to one in size, so that products of its parts are fractions of pairs
        return PairFractions(a1 * b0, a0 * b1, a1 * b1 + a0 * b0)

    def line(self, ones: Ones) -> Slope | None:
        r"""Return :math:`B_1(\alpha) - A_1(\alpha)` and its derivative: fractions where h is 1."""
        if self._objective.joint:
            return None
        positive_power, negative_power = self._objective.powers
        with np.errstate(divide="ignore"):
            (log_a0, log_a1), (log_b0, log_b1) = np.log(self._summed(class_sums, ones))

        def slope(step: float) -> tuple[float, float]:
            exponents = np.array(
                [log_a1 - log_a0 - positive_power * step, log_b1 - log_b0 + negative_power * step]
            )
            a1, b1 = sigmoid(exponents)
            second = positive_power * a1 * (1.0 - a1) + negative_power * b1 * (1.0 - b1)
            return float(b1 - a1), float(second)

        return slope

    def _summed(self, kernel: Any, values: NDArray[Any]) -> Floats:
        parts = map_chunks(
            lambda start, stop: kernel(self.gradient, values, start, stop),
            self._objective.chunks,
            self._objective.n_threads,
        )
        return np.asarray(sum(parts[1:], start=parts[0]))


ScoreObjective = TwoSumObjective | PairwiseObjective
Evaluation = TwoSumEvaluation | PairwiseEvaluation
"""An objective on the training rows, and at given scores of theirs."""
