"""The objectives of boosting as functions of the scores.

A ranking objective as a function of the scores of the training rows, as boosting needs it.

A *point* is the objective at given scores: its value, its gradient in the rows, its curvature along a
direction, and, where the best step along a weak ranker in {0, 1} has a closed form, the masses that decide
it.
"""

from __future__ import annotations

from typing import Any, NamedTuple, Protocol

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
def class_totals(masses, class_codes, start, stop):
    """Return the mass of each class."""
    totals = np.zeros(3)
    for row in range(start, stop):
        totals[class_codes[row]] += masses[row]
    return totals


@compiled()
def multiply_by(factors, class_codes, start, stop, values):
    """Multiply the values of each class's rows by its factor."""
    for row in range(start, stop):
        values[row] *= factors[class_codes[row]]


@compiled()
def masses_where(gradient, ones, start, stop):
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


class Forces(NamedTuple):
    """The shares of the objective in pairs that a weak ranker orders rightly, wrongly, and not at all.

    The paper's :math:`d_+`, :math:`d_-` and :math:`d_0`, summing to one.
    """

    rightly: float
    wrongly: float
    neither: float


class Point(Protocol):
    """An objective at given scores."""

    @property
    def value(self) -> float:
        """The objective."""

    @property
    def gradient(self) -> Floats:
        """The gradient in the scores, shape (n_rows,)."""

    @property
    def curvature(self) -> Floats:
        """Non-negative weights of the rows by which the objective curves, shape (n_rows,)."""

    def slopes(self, direction: Floats) -> tuple[float, float]:
        """Return the first and second derivatives along a direction; the second is zero where unknown."""

    def forces(self, ones: Ones) -> Forces | None:
        """Return the masses that decide the step along a ranker in {0, 1}, or None without closed form."""

    def line(self, ones: Ones) -> Slope | None:
        """Return the slope along a ranker in {0, 1} as a function of the step alone, where there is such."""


class ScoreProblem(Protocol):
    """An objective on the training rows.

    ``rate`` is the c of the closed form :math:`\\ln(d_+ / d_-) / c` of the best step along a weak ranker in
    {0, 1}, and ``log_pairs`` the logarithm of the number of pairs, which bounds steps towards infinity.
    """

    rate: float
    log_pairs: float

    def at(self, scores: Floats) -> Point:
        """Return the objective at given scores."""

    def subset(self, kept: Ones) -> ScoreProblem:
        """Return the objective of some of the rows."""


def score_problem(objective: PushObjective, sample: Sample, n_threads: int | None = None) -> ScoreProblem:
    """Return the objective on the sample's rows, in the form that is fastest to evaluate."""
    if isinstance(sample, BipartiteSample) and objective.powers is not None:
        return ClassProblem(sample, objective.powers, n_threads=n_threads)
    return PairProblem(objective, sample)


def _log_pairs(sample: Sample) -> float:
    """Return the logarithm of the weight of all positives times that of all negatives."""
    return float(np.sum(np.log(sample.class_weights)))


class PairProblem:
    """Any differentiable objective of any sample."""

    def __init__(self, objective: PushObjective, sample: Sample) -> None:
        self.objective, self.sample = objective, sample
        self.rate = 2.0
        self.log_pairs = _log_pairs(sample)
        p_one = objective.price in (Identity(), Power(1.0)) and objective.scale == "log"
        self.is_rank_boost = p_one and objective.side == "push"

    def at(self, scores: Floats) -> PairPoint:
        """Return the objective at given scores."""
        return PairPoint(self, self.objective.evaluation(self.sample, scores))

    def subset(self, kept: Ones) -> PairProblem:
        """Return the objective of some of the rows."""
        return PairProblem(self.objective, self.sample.subset(kept))


class PairPoint:
    """Any objective at given scores."""

    def __init__(self, problem: PairProblem, at_point: ObjectiveEvaluation) -> None:
        self._problem, self._at_point = problem, at_point
        self.value = at_point.value
        self._by_class = at_point.gradient()
        self.gradient = problem.sample.scatter(*self._by_class)

    @property
    def curvature(self) -> Floats:
        """The curvature weights of the rows."""
        return self._problem.sample.scatter(*self._at_point.diagonal())

    def slopes(self, direction: Floats) -> tuple[float, float]:
        """Return the first and second derivatives along a direction."""
        along = self._problem.sample.gather(direction)
        first = self._by_class.dot(along)
        if not self._problem.objective.twice_differentiable:
            return first, 0.0
        return first, self._at_point.hessian_product(along).dot(along)

    def forces(self, ones: Ones) -> Forces | None:
        """Return the shares of the pairs for RankBoost's objective, which has a closed form for any pairs."""
        if not (self._problem.is_rank_boost and isinstance(self._at_point, PushEvaluation)):
            return None
        high = self._problem.sample.gather(ones.astype(np.float64))
        return Forces(*self._at_point.pair_weights(high))

    def line(self, ones: Ones) -> Slope | None:  # noqa: ARG002
        """Return None: the scores must be moved."""
        return None


class ClassProblem:
    r"""Two classes whose objective is made of one sum of exponentials each, in O(n) a point.

    Parameters
    ----------
    sample : BipartiteSample
        The classes.
    powers : (float, float)
        The :math:`c_+` and :math:`c_-` of the sums :math:`A = \sum_i w_i e^{-c_+ s_i}` and
        :math:`B = \sum_k w_k e^{c_- t_k}`.
    joint : bool, default=False
        Whether the objective is :math:`\ln(A + B)`, AdaBoost's, and not :math:`\ln A / c_+ + \ln B / c_-`.
    n_threads : int, optional
        The number of threads.
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
        self.rate = sum(powers)
        self.log_pairs = _log_pairs(sample)
        # the sample's, and a third for rows that take no part, which need not weigh zero here
        self.class_codes = np.full(sample.n_rows, 2, dtype=np.uint8)
        self.class_codes[sample.positives], self.class_codes[sample.negatives] = 1, 0
        self.log_weights = np.zeros(0)
        if sample.row_weights is not None:
            with np.errstate(divide="ignore"):
                self.log_weights = np.log(sample.row_weights)
        self.chunks = row_chunks(sample.n_rows, 8)

    def at(self, scores: Floats) -> ClassPoint:
        """Return the objective at given scores."""
        return ClassPoint(self, scores)

    def subset(self, kept: Ones) -> ClassProblem:
        """Return the objective of some of the rows."""
        sample = self.sample.subset(kept)
        return ClassProblem(sample, self.powers, joint=self.joint, n_threads=self.n_threads)


class ClassPoint:
    """Two sums of exponentials at given scores."""

    def __init__(self, problem: ClassProblem, scores: Floats) -> None:
        self._problem = problem
        signed = np.array([problem.powers[1], -problem.powers[0]])  # by class code
        masses = np.empty_like(scores)
        class_codes = problem.class_codes

        def each(kernel: Any, *arguments: Any) -> list[Any]:
            return map_chunks(
                lambda start, stop: kernel(*arguments[:-1], start, stop, *arguments[-1:]),
                problem.chunks,
                problem.n_threads,
            )

        largest = np.max(each(exponents, scores, signed, class_codes, problem.log_weights, masses), axis=0)
        shifts = np.where(np.isfinite(largest), largest, 0.0)
        each(lower_by, shifts, class_codes, masses)

        def exponentials(start: int, stop: int) -> Floats:
            np.exp(masses[start:stop], out=masses[start:stop])
            totals: Floats = class_totals(masses, class_codes, start, stop)
            return totals

        totals = np.zeros(3)
        for part in map_chunks(exponentials, problem.chunks, problem.n_threads):
            totals += part
        log_sums = shifts[:2] + np.log(totals[:2])
        self.log_sums = float(log_sums[1]), float(log_sums[0])
        if problem.joint:
            self.value = float(np.logaddexp(*log_sums))
            portions = np.exp(log_sums - self.value)
        else:
            self.value = float(np.array(self.log_sums) @ (1.0 / np.array(problem.powers)))
            portions = np.ones(2)
        factors = np.array([portions[0] / totals[0], -portions[1] / totals[1], 0.0])
        each(multiply_by, factors, class_codes, masses)
        self.gradient: Floats = masses

    @property
    def curvature(self) -> Floats:
        """The curvature weights of the rows."""
        factors = np.array([*reversed(self._problem.powers), 0.0])
        curvature: Floats = np.abs(self.gradient) * factors[self._problem.class_codes]
        return curvature

    def slopes(self, direction: Floats) -> tuple[float, float]:
        """Return the first and second derivatives along a direction."""
        (first_a, second_a), (first_b, second_b) = self._summed(moments, direction)
        first = first_a + first_b
        if self._problem.joint:
            return first, second_a + second_b - first**2
        of_positives, of_negatives = self._problem.powers
        return first, of_positives * (second_a - first_a**2) + of_negatives * (second_b - first_b**2)

    def forces(self, ones: Ones) -> Forces:
        """Return the shares of pairs, or for AdaBoost of rows, that the ranker orders rightly and wrongly."""
        (a0, a1), (b0, b1) = self._summed(masses_where, ones)
        if self._problem.joint:
            return Forces(a1 + b0, a0 + b1, 0.0)
        return Forces(a1 * b0, a0 * b1, a1 * b1 + a0 * b0)

    def line(self, ones: Ones) -> Slope | None:
        r"""Return :math:`B_1(\alpha) - A_1(\alpha)` with its derivative: each class's share where h is 1."""
        if self._problem.joint:
            return None
        of_positives, of_negatives = self._problem.powers
        with np.errstate(divide="ignore"):
            (log_a0, log_a1), (log_b0, log_b1) = np.log(self._summed(masses_where, ones))

        def slope(step: float) -> tuple[float, float]:
            exponents = np.array(
                [log_a1 - log_a0 - of_positives * step, log_b1 - log_b0 + of_negatives * step]
            )
            a1, b1 = sigmoid(exponents)
            bend = of_positives * a1 * (1.0 - a1) + of_negatives * b1 * (1.0 - b1)
            return float(b1 - a1), float(bend)

        return slope

    def _summed(self, kernel: Any, values: NDArray[Any]) -> Floats:
        parts = map_chunks(
            lambda start, stop: kernel(self.gradient, values, start, stop),
            self._problem.chunks,
            self._problem.n_threads,
        )
        return np.asarray(sum(parts[1:], start=parts[0]))
