r"""An objective of many rows of two classes, from few rows that stand for them.

In a bin of scores so narrow that no term of the objective is more than a cubic polynomial there, two rows
stand for all of a class: those of the same weight, mean, variance and skewness, Gauss's quadrature. The
objective of the few rows is that of the many. What it gives to a row is a function of the row's score, a
cubic within the bin too, and four more rows of next to no weight in each bin tell it.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import cached_property, partial

import numpy as np

from pushrank._numeric import Floats
from pushrank._parallel import compiled, map_chunks, row_chunks, sum_chunks
from pushrank.objectives.evaluation import ObjectiveEvaluation
from pushrank.pairs import BipartiteSample, Sample
from pushrank.pairs.samples import ByClass

MIN_ROWS_TO_ONE = 2  # that stands for them: below it the detour costs about what it saves
ROWS_OF_BIN = 12  # of both classes
MAX_ERROR = 1e-5  # wider bins save nothing
MAX_CUBE_OF_KINKS = 30.0  # in accuracies: what many kinks come to
PROBE = 1e-30  # the weight of a row that tells and does not count, to that of the heaviest that does
NEGLIGIBLE = 1e-16  # of the largest gradient of a class: no sum of gradients minds an error of less
MIN_VARIANCE = 1e-9  # in half-widths of a bin; below it skewness is rounding, and moves nothing
NODES = np.polynomial.chebyshev.chebpts1(4)
POWERS_OF_VALUES = np.linalg.inv(np.vander(NODES, increasing=True)).T

Evaluate = Callable[[Sample, Floats], ObjectiveEvaluation]


def binned_evaluation(
    evaluate: Evaluate, sample: Sample, scores: Floats, steepness: float, accuracy: float, smooth: bool
) -> ObjectiveEvaluation | None:
    r"""Return an objective at given scores, or None where few rows cannot stand for all.

    In bins of a half-width a, terms that grow by :math:`e^{ud}` over a distance d, u the steepness, are in
    error by :math:`(ua)^4 / 96` of themselves, which may be a quarter of the accuracy. Whether an objective's
    terms are no steeper is seen by the cubes in its gradient, :math:`(ua)^3 / 6`. Of a loss that is not
    ``smooth`` the cubes are about the error, here of the mean gradient of a class; its second derivatives
    are rougher.
    """
    if type(sample) is not BipartiteSample:
        return None
    change = (24.0 * min(accuracy, MAX_ERROR)) ** 0.25
    width = 2.0 ** math.floor(math.log2(2.0 * change / steepness))  # by which scores divide exactly
    ends = float(scores.min()) / width, float(scores.max()) / width
    if not MIN_ROWS_TO_ONE * ROWS_OF_BIN * (ends[1] - ends[0] + 2.0) <= len(scores):
        return None
    found = BinnedEvaluation(evaluate, sample, scores, width, ends)
    tolerance = 2.0 * change**3 / 6.0 if smooth else MAX_CUBE_OF_KINKS * accuracy
    return found if found.is_cubic(tolerance, smooth) else None


class BinnedEvaluation:
    """An objective of two classes; the methods are those of :class:`ObjectiveEvaluation`."""

    def __init__(
        self,
        evaluate: Evaluate,
        sample: BipartiteSample,
        scores: Floats,
        width: float,
        ends: tuple[float, float],
    ) -> None:
        self._all_rows = partial(evaluate, sample, scores)
        positives, negatives = sample.gather(scores)
        self._classes = (
            _Class(positives, sample.positive_weights, width, ends),
            _Class(negatives, sample.negative_weights, width, ends),
        )
        (positives, positive_weights), (negatives, negative_weights) = (
            one.few_rows() for one in self._classes
        )
        few_scores = np.concatenate([positives, negatives])
        few = BipartiteSample.from_mask(
            np.arange(len(few_scores)) < len(positives), np.concatenate([positive_weights, negative_weights])
        )
        self._few_rows = evaluate(few, few_scores)
        self.value = self._few_rows.value
        self.euler_derivative = self._few_rows.euler_derivative

    def is_cubic(self, tolerance: float, smooth: bool) -> bool:
        """Return whether the cubes in the gradient are as small as a tolerance says."""
        for one, few, cubics in zip(self._classes, self._few_gradient, self._gradient, strict=True):
            constants, *_, cubes = np.abs(cubics).T
            unit = NEGLIGIBLE * constants.max() if smooth else np.abs(few).sum() / one.weight
            if not (cubes <= tolerance * (constants + unit)).all():
                return False
        return True

    @cached_property
    def _few_gradient(self) -> ByClass:
        return self._few_rows.gradient()

    @cached_property
    def _gradient(self) -> list[Floats]:
        return self._cubics(self._few_gradient)

    @cached_property
    def _exact(self) -> ObjectiveEvaluation:
        return self._all_rows()

    def gradient(self) -> ByClass:
        """Return the gradient."""
        return self._at_rows(self._gradient)

    def diagonal(self) -> ByClass:
        """Return the curvature weights of the rows."""
        return self._at_rows(self._cubics(self._few_rows.diagonal()))

    def majoriser(self) -> ByClass:
        """Return a diagonal above the Hessian."""
        return self._at_rows(self._cubics(self._few_rows.majoriser()))

    def hessian_product(self, direction: ByClass) -> ByClass:
        """Return the Hessian times a direction, no function of the scores, from all rows."""
        return self._exact.hessian_product(direction)

    def _cubics(self, values: ByClass) -> list[Floats]:
        return [one.cubics(of_class) for one, of_class in zip(self._classes, values, strict=True)]

    def _at_rows(self, cubics: list[Floats]) -> ByClass:
        return ByClass(*(one.at_rows(own) for one, own in zip(self._classes, cubics, strict=True)))


class _Class:
    """The rows of a class in bins, which are numbered from the lowest of both classes on."""

    def __init__(
        self, scores: Floats, weights: Floats | None, width: float, ends: tuple[float, float]
    ) -> None:
        self._scores, self._width = scores, width
        self._weights = np.broadcast_to(1.0, len(scores)) if weights is None else weights
        self._lowest, highest = np.rint(ends)
        self._n_bins = int(highest - self._lowest) + 1
        self._chunks = row_chunks(len(scores), 4)

    def few_rows(self) -> tuple[Floats, Floats]:
        """Return scores and weights of four probes in every bin, and of two rows that stand for its own."""

        def sums(start: int, stop: int) -> Floats:
            found = np.zeros((self._n_bins, 4))
            add_powers(self._scores, self._weights, start, stop, 1.0 / self._width, self._lowest, found)
            return found

        powers = sum_chunks(sums, self._chunks)
        self._used = np.flatnonzero(powers[:, 0])
        mass, *sums_of_powers = powers[self._used].T
        mean, square, cube = sums_of_powers / mass
        variance = np.maximum(square - mean**2, 0.0)
        asymmetry = cube - mean * (3.0 * square - 2.0 * mean**2)
        skewness = np.zeros_like(mean)
        deviation = np.sqrt(variance)
        np.divide(asymmetry, variance * deviation, out=skewness, where=variance > MIN_VARIANCE)
        off_mean = 0.5 * (skewness + np.array([[-1.0], [1.0]]) * np.sqrt(skewness**2 + 4.0))
        nodes = np.tile(NODES[:, None], len(mean))
        local = np.concatenate([nodes, np.clip(mean + deviation * off_mean, -1.0, 1.0)])
        masses = mass / (1.0 + off_mean**2)
        self._probe, self.weight = PROBE * masses.max(), masses.sum()
        weights = np.concatenate([np.full_like(nodes, self._probe), masses])
        return (self._width * (self._lowest + self._used + 0.5 * local)).ravel(), weights.ravel()

    def cubics(self, values: Floats) -> Floats:
        """Return the cubic of what a row of weight one has in every bin, from what the few rows have."""
        probes = values[: 4 * len(self._used)].reshape(4, -1)
        cubics: Floats = (probes / self._probe).T @ POWERS_OF_VALUES
        return cubics

    def at_rows(self, cubics: Floats) -> Floats:
        """Return what the rows have."""
        table, values = np.zeros((self._n_bins, 4)), np.empty(len(self._scores))
        table[self._used] = cubics
        given = table, 1.0 / self._width, self._lowest
        map_chunks(
            lambda start, stop: evaluate_cubics(self._scores, self._weights, start, stop, *given, values),
            self._chunks,
        )
        return values


@compiled(fastmath={"contract"})
def add_powers(scores, weights, start, stop, per_width, lowest, sums):
    """Add weights of rows, times powers of their places in their bins, from -1 to 1, to the bins' sums."""
    for i in range(start, stop):
        scaled = scores[i] * per_width
        number = np.rint(scaled)
        bin_, x, term = np.int64(number - lowest), 2.0 * (scaled - number), weights[i]
        sums[bin_, 0] += term
        term *= x
        sums[bin_, 1] += term
        term *= x
        sums[bin_, 2] += term
        sums[bin_, 3] += term * x


@compiled(fastmath={"contract"})
def evaluate_cubics(scores, weights, start, stop, table, per_width, lowest, out):
    """Write the cubics of their bins at rows, times the rows' weights."""
    for i in range(start, stop):
        scaled = scores[i] * per_width
        number = np.rint(scaled)
        bin_, x = np.int64(number - lowest), 2.0 * (scaled - number)
        cubic = ((table[bin_, 3] * x + table[bin_, 2]) * x + table[bin_, 1]) * x + table[bin_, 0]
        out[i] = weights[i] * cubic
