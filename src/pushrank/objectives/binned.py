r"""An objective of many rows of two classes, evaluated on few rows that represent them.

Scores are sorted into bins so narrow that every term of the objective is nearly a cubic polynomial there. Two
rows then represent all rows of a class in a bin: those with the same weight, mean, variance and skewness, as
in Gauss's quadrature. The objective of the few rows is that of all rows. The gradient of a row is a function
of its score, which is a cubic within the bin too; it is sampled by four more rows of negligible weight.
"""

import math
from collections.abc import Callable
from functools import cached_property, partial

import numpy as np

from pushrank._base.numeric import Floats
from pushrank._base.parallel import compiled, map_chunks, row_chunks, sum_chunks
from pushrank.objectives.evaluation import ObjectiveEvaluation
from pushrank.pairs import BipartiteSample, Sample
from pushrank.pairs.samples import ByClass

# A bin has two rows and four probes for each class.
ROWS_PER_BIN = 12
# With fewer rows for each row that represents them, the bins cost about as much as they save.
MIN_COMPRESSION = 2
# Bins that are wider, for a larger error, save nothing.
MAX_ERROR = 1e-5
# Many kinks in a bin add up to cubic terms of this multiple of the accuracy.
MAX_CUBE_OF_KINKS = 30.0
# Relative weight of a probe row: it samples the gradient without changing the objective.
PROBE = 1e-30
# An error below this part of the largest gradient of a class changes no sum of gradients.
NEGLIGIBLE = 1e-16
# Below this variance, in half-widths of a bin, skewness is the rounding of a row that hardly moves.
MIN_VARIANCE = 1e-9
# The steepness assumed of a loss with kinks, where its second derivative jumps: in bins this narrow many
# kinks act like slopes, also for scores in single precision.
KINK_STEEPNESS = 32.0
NODES = np.polynomial.chebyshev.chebpts1(4)
POWERS_OF_VALUES = np.linalg.inv(np.vander(NODES, increasing=True)).T

Evaluate = Callable[[Sample, Floats], ObjectiveEvaluation]


def binned_evaluation(
    evaluate: Evaluate, sample: Sample, scores: Floats, steepness: float, accuracy: float, smooth: bool
) -> ObjectiveEvaluation | None:
    """Return an objective at some scores, or None if few rows cannot represent all."""
    # Terms that grow by e^(ud) over a distance d have a relative error of (ua)^4 / 96 in bins of the
    # half-width a, which may be a quarter of the accuracy. Steeper terms show in the cubic coefficients of
    # the gradient, which are to be at most (ua)^3 / 6. For a loss that is not `smooth` these are about the
    # error, relative to the mean gradient of a class.
    if type(sample) is not BipartiteSample:
        return None
    change = (24.0 * min(accuracy, MAX_ERROR)) ** 0.25
    # Scores divide exactly by a power of two.
    width = 2.0 ** math.floor(math.log2(2.0 * change / steepness))
    ends = float(scores.min()) / width, float(scores.max()) / width
    if not MIN_COMPRESSION * ROWS_PER_BIN * (ends[1] - ends[0] + 2.0) <= len(scores):
        return None
    binned = BinnedEvaluation(evaluate, sample, scores, width, ends)
    tolerance = 2.0 * change**3 / 6.0 if smooth else MAX_CUBE_OF_KINKS * accuracy
    return binned if binned.is_cubic(tolerance, smooth) else None


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
            _BinnedClass(positives, sample.positive_weights, width, ends),
            _BinnedClass(negatives, sample.negative_weights, width, ends),
        )
        few_rows = [binned.few_rows() for binned in self._classes]
        few_scores, few_weights = (np.concatenate(parts) for parts in zip(*few_rows, strict=True))
        few = BipartiteSample.from_mask(np.arange(len(few_scores)) < len(few_rows[0][0]), few_weights)
        self._few_rows = evaluate(few, few_scores)
        self.value = self._few_rows.value
        self.euler_derivative = self._few_rows.euler_derivative

    def is_cubic(self, tolerance: float, smooth: bool) -> bool:
        """Return whether the cubic coefficients of the gradient are within a tolerance."""
        for binned, few, cubics in zip(self._classes, self._few_gradient, self._gradient, strict=True):
            constants, *_, cubes = np.abs(cubics).T
            unit = NEGLIGIBLE * constants.max() if smooth else np.abs(few).sum() / binned.weight
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
        return self._at_rows(self._gradient)

    def diagonal(self) -> ByClass:
        return self._at_rows(self._cubics(self._few_rows.diagonal()))

    def majoriser(self) -> ByClass:
        return self._at_rows(self._cubics(self._few_rows.majoriser()))

    def hessian_product(self, direction: ByClass) -> ByClass:
        # The direction is no function of the scores, so that all rows are needed.
        return self._exact.hessian_product(direction)

    def _cubics(self, values: ByClass) -> list[Floats]:
        return [binned.cubics(few) for binned, few in zip(self._classes, values, strict=True)]

    def _at_rows(self, cubics: list[Floats]) -> ByClass:
        return ByClass(*(binned.at_rows(table) for binned, table in zip(self._classes, cubics, strict=True)))


class _BinnedClass:
    """The rows of a class in bins, which are numbered from the lowest bin of both classes."""

    def __init__(
        self, scores: Floats, weights: Floats | None, width: float, ends: tuple[float, float]
    ) -> None:
        self._scores, self._width = scores, width
        self._weights = np.broadcast_to(1.0, len(scores)) if weights is None else weights
        self._lowest, highest = np.rint(ends)
        self._n_bins = int(highest - self._lowest) + 1
        self._chunks = row_chunks(len(scores), 4)

    def few_rows(self) -> tuple[Floats, Floats]:
        """Return scores and weights of four probes in every bin, and of two rows that represent its rows."""

        def sums(start: int, stop: int) -> Floats:
            powers = np.zeros((self._n_bins, 4))
            add_powers(self._scores, self._weights, start, stop, 1.0 / self._width, self._lowest, powers)
            return powers

        powers = sum_chunks(sums, self._chunks)
        self._used = np.flatnonzero(powers[:, 0])
        weight, *sums_of_powers = powers[self._used].T
        mean, square, cube = sums_of_powers / weight
        variance = np.maximum(square - mean**2, 0.0)
        asymmetry = cube - mean * (3.0 * square - 2.0 * mean**2)
        skewness = np.zeros_like(mean)
        deviation = np.sqrt(variance)
        np.divide(asymmetry, variance * deviation, out=skewness, where=variance > MIN_VARIANCE)
        # The nodes of Gauss's quadrature with two points, in standard deviations off the mean.
        off_mean = 0.5 * (skewness + np.array([[-1.0], [1.0]]) * np.sqrt(skewness**2 + 4.0))
        nodes = np.tile(NODES[:, None], len(mean))
        local = np.concatenate([nodes, np.clip(mean + deviation * off_mean, -1.0, 1.0)])
        row_weights = weight / (1.0 + off_mean**2)
        self._probe, self.weight = PROBE * row_weights.max(), row_weights.sum()
        weights = np.concatenate([np.full_like(nodes, self._probe), row_weights])
        return (self._width * (self._lowest + self._used + 0.5 * local)).ravel(), weights.ravel()

    def cubics(self, values: Floats) -> Floats:
        """Return for every bin the cubic of a row of weight one, from the values of the few rows."""
        probes = values[: 4 * len(self._used)].reshape(4, -1)
        return np.asarray((probes / self._probe).T @ POWERS_OF_VALUES)

    def at_rows(self, cubics: Floats) -> Floats:
        """Return the values of the cubics at all rows, times their weights."""
        table, values = np.zeros((self._n_bins, 4)), np.empty(len(self._scores))
        table[self._used] = cubics
        bins = table, 1.0 / self._width, self._lowest
        map_chunks(
            lambda start, stop: evaluate_cubics(self._scores, self._weights, start, stop, *bins, values),
            self._chunks,
        )
        return values


@compiled(fastmath={"contract"})
def add_powers(scores, weights, start, stop, per_width, lowest, sums):
    """Add the weights of rows, times powers of their coordinates in the bin, from -1 to 1, to its sums."""
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
    """Write the values of the bins' cubics at rows, times the weights of the rows."""
    for i in range(start, stop):
        scaled = scores[i] * per_width
        number = np.rint(scaled)
        bin_, x = np.int64(number - lowest), 2.0 * (scaled - number)
        cubic = ((table[bin_, 3] * x + table[bin_, 2]) * x + table[bin_, 1]) * x + table[bin_, 0]
        out[i] = weights[i] * cubic
