r"""The loss of positives against a threshold at a share of the rows, with its subgradient in the scores.

Both thresholds are a mean of the scores, weighted by a point of the simplex, plus a constant. Value,
subgradient and the plane below need no more than the threshold, these weights and the constant.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Literal, NamedTuple, get_args

import numpy as np

from pushrank._numeric import Floats
from pushrank._parallel import compiled
from pushrank.objectives.precision_at_k import select_highest
from pushrank.objectives.push import ScoreSurrogate
from pushrank.pairs import Sample
from pushrank.pairs.samples import ByClass
from pushrank.validation import check_choice, check_k, check_number, is_count

Of = Literal["negatives", "all"]
ThresholdLoss = Literal["hinge", "squared_hinge"]

# A bracket of a root that is narrower than this part of the numbers that are subtracted is rounding.
ROOT_ROUNDING = 1e-15
# Bisection alone gets there within this number of steps; Newton's take about ten.
MAX_ROOT_STEPS = 200
# What is summed over the rows at a root: clipped heights, rounded hinges, or squares.
CLIP, HINGE, SQUARE = range(3)


@compiled()
def top_mean(scores, weights, total, slope):
    """Write the weights of the mean of the highest scores of a weight of ``total``; return that mean."""
    rows = np.arange(len(scores))
    slope[:] = 0.0
    mean, left = 0.0, total
    for row in rows[: select_highest(scores, weights, rows, total, 1.0)]:
        # The lowest of these rows is the last, and may count in part.
        share = min(weights[row], left) / total
        left -= weights[row]
        slope[row] = share
        mean += share * scores[row]
    return mean


@compiled()
def rounded(height, width, kind):
    """Return a function of a positive height above the root, with its first and second derivatives."""
    if kind == SQUARE:
        return height * height, 2.0 * height, 2.0
    if kind == CLIP:
        return (1.0, 0.0, 0.0) if height >= width else (height / width, 1.0 / width, 0.0)
    if height >= width:
        return height - 0.5 * width, 1.0, 0.0
    return 0.5 * height * height / width, height / width, 1.0 / width


@compiled()
def root(scores, weights, target, width, kind):
    """Return the point above which the weighted function of the scores' heights adds up to ``target``."""
    if kind == CLIP:
        # The rows from the K-th highest on reach the target at a width below it; at its score they do not.
        rows = np.arange(len(scores))
        high = scores[rows[select_highest(scores, weights, rows, target, 1.0) - 1]]
        low = high - width
    else:
        # From there the highest row alone reaches the target.
        first = np.argmax(scores)
        high, unit = scores[first], target / weights[first]
        low = high - (np.sqrt(unit) if kind == SQUARE else unit + width)
    at = low
    for _ in range(MAX_ROOT_STEPS):
        total = derivative = 0.0
        for r in range(len(scores)):
            if scores[r] > at:
                value, slope, _ = rounded(scores[r] - at, width, kind)
                total += weights[r] * value
                derivative += weights[r] * slope
        if total >= target:
            low = at
        else:
            high = at
        if total == target or high - low <= ROOT_ROUNDING * (abs(high) + abs(low)):
            break
        # Newton's steps towards the root of a convex function never overshoot; those of clipped heights may.
        moved = at + (total - target) / derivative if derivative > 0.0 else np.inf
        if moved == at:
            break
        at = moved if low < moved < high else 0.5 * (low + high)
    return at


@compiled()
def write_slopes(scores, weights, at, width, kind, curved, out):
    """Write the weighted first (second) derivatives at a root; return the sums of values and slopes."""
    value_sum = slope_sum = 0.0
    for r in range(len(scores)):
        out[r] = 0.0
        if scores[r] > at:
            value, first, second = rounded(scores[r] - at, width, kind)
            out[r] = weights[r] * (second if curved else first)
            value_sum += weights[r] * value
            slope_sum += weights[r] * first
    return value_sum, slope_sum


class ThresholdEvaluation(NamedTuple):
    """An objective at some scores: value, gradient, the plane they span; on demand the curvature."""

    sample: Sample
    value: float
    slopes: Floats
    offset: float
    curved: Callable[[], ThresholdEvaluation]

    def gradient(self) -> ByClass:
        return self.sample.gather(self.slopes)

    def diagonal(self) -> ByClass:
        return self.sample.gather(self.curved().slopes)


@dataclass(frozen=True)
class ThresholdObjective(ScoreSurrogate):
    r"""The mean loss of the positives against a threshold at a share of the rows.

    With :math:`\ell(z) = (1 + z)_+` or its square, positives i and rows j, those of the negatives or all,

    .. math:: R(s) = \frac{1}{n_+} \sum_i \ell(t - s_i) ,

    where the threshold t(s) is the mean of the K highest :math:`s_j` (TopPushK; TopMean for all rows), or
    with ``beta`` the solution of :math:`\sum_j \ell(\beta (s_j - t)) = K` (Pat&Mat-NP; Pat&Mat for all
    rows). The latter is above the K-th highest score, by about :math:`1 / \beta`. Both thresholds, and so R,
    are convex, and R bounds the share of the positives that are not above t.

    O(n), by selection or by Newton's steps, of which there are about ten. Rows tied at the K-th score give
    the same value whichever counts, and a subgradient in which some of them count. A row of weight w counts
    as w copies.

    Adam, Mácha, Šmídl and Pevný, Optimization Methods and Software 37 (2022); for TopPush, ``k=1``, Li, Jin
    and Zhou, NIPS 2014.

    Parameters
    ----------
    k : int or float, default=0.01
        The K. An int is a number of rows, a float in (0, 1] the fraction of the rows that the threshold is
        of, which need not be whole.
    of : {"negatives", "all"}, default="negatives"
        The rows that the threshold is of.
    beta : float or None, default=None
        The positive :math:`\beta` of Pat&Mat; None takes the mean of the highest scores.
    loss : {"hinge", "squared_hinge"}, default="hinge"
        The :math:`\ell`.

    Raises
    ------
    TypeError
        When beta is no number.
    ValueError
        When a parameter is out of range.

    Examples
    --------
    >>> objective = ThresholdObjective(k=2)
    >>> value, slope = objective.evaluate([1, 0, 1, 0, 0], [3.0, 2.5, 1.0, 0.5, 0.0])
    >>> value, slope.tolist()
    (0.75, [0.0, 0.25, -0.5, 0.25, 0.0])
    >>> ThresholdObjective(k=0.5, of="all", beta=2.0).value([0, 1], [0.0, 1.0])
    1.0
    """

    k: float = 0.01
    of: Of = "negatives"
    beta: float | None = None
    loss: ThresholdLoss = "hinge"

    def __post_init__(self) -> None:
        check_k(self.k, "the rows that the threshold is of")
        if self.beta is not None:
            check_number("beta", self.beta, above=0.0)
        check_choice("of", self.of, get_args(Of))
        check_choice("loss", self.loss, get_args(ThresholdLoss))

    def evaluation(self, sample: Sample, scores: Floats) -> tuple[float, Floats]:
        """Return value and subgradient for a sample of two classes and checked scores."""
        return self.plane(sample, scores)[:2]

    def plane(self, sample: Sample, scores: Floats) -> tuple[float, Floats, float]:
        """Return value, subgradient, and the value at zero scores of the plane that they span."""
        at_point = self.at(sample, scores, self.total(sample))
        return at_point.value, at_point.slopes, at_point.offset

    def at(
        self, sample: Sample, scores: Floats, total: float, width: float = 0.0, *, curved: bool = False
    ) -> ThresholdEvaluation:
        """Return the objective at some scores, with its kinks replaced by parabolas of a width."""
        # The weight above the threshold is `total`. The plane of the rounded objective lies below the
        # objective without rounding everywhere. If `curved` the curvature's weights replace the slopes.
        threshold, slopes, constant = self._threshold(sample, scores, total, width, curved)
        weights = sample.positive_weights
        shares = np.ones(len(sample.positives)) if weights is None else weights
        shares = shares / shares.sum()
        violations = np.maximum(1.0 + threshold - scores[sample.positives], 0.0)
        if self.loss == "squared_hinge":
            values, pull, bend = violations**2, 2.0 * shares * violations, 2.0 * shares * (violations > 0.0)
            lost = float(shares @ values)
        else:
            inside = violations < width
            values = np.where(inside, 0.5 * violations**2 / (width or 1.0), violations - 0.5 * width)
            pull = shares * np.where(inside, violations / (width or 1.0), violations > 0.0)
            bend, lost = shares * (inside & (violations > 0.0)) / (width or 1.0), 0.0
        # Where no loss curves the slopes say which rows matter, so that a scale of the columns can be had.
        bend = bend if bend.any() else pull
        pulled = float(pull.sum())
        slopes *= pulled
        slopes[sample.positives] += bend if curved else -pull
        # The plane's value at zero scores keeps its digits where scores are large, as a difference would not.
        offset = pulled * (1.0 + constant) - lost
        curved_at = partial(self.at, sample, scores, total, width, curved=True)
        return ThresholdEvaluation(sample, float(shares @ values), slopes, offset, curved_at)

    def _threshold(
        self, sample: Sample, scores: Floats, total: float, width: float, curved: bool
    ) -> tuple[float, Floats, float]:
        """Return the threshold, its gradient (or its curvature's weights), the constant of its plane."""
        rows, weights = sample.negatives, sample.negative_weights
        if self.of == "all":
            rows = np.concatenate([sample.positives, sample.negatives])
            weights = None if sample.row_weights is None else sample.row_weights[rows]
        weights = np.ones(len(rows)) if weights is None else weights
        values, slopes = scores[rows], np.empty(len(rows))
        constant = 0.0
        if self.beta is None and width == 0.0:
            threshold = top_mean(values, weights, total, slopes)
            slopes *= not curved
        elif self.beta is None:
            # It is the least over v of v plus the rounded heights above v over K. At the least the clipped
            # heights add up to K.
            at = root(values, weights, total, width, CLIP)
            above, slope_sum = write_slopes(values, weights, at, width, HINGE, curved, slopes)
            threshold = at + above / total
            slopes /= total if curved else slope_sum
        else:
            # In u = t - 1 / beta the losses are those of the heights above u, times beta or its square.
            power, kind = (2.0, SQUARE) if self.loss == "squared_hinge" else (1.0, HINGE)
            target = total / self.beta**power
            at = root(values, weights, target, width, kind)
            _, slope_sum = write_slopes(values, weights, at, width, kind, curved, slopes)
            threshold, constant = at + 1.0 / self.beta, 1.0 / self.beta - power * target / slope_sum
            slopes /= slope_sum
        # With many rows these are large: they are freed before the vector over all rows is made.
        del values, weights
        slopes_of_all = np.zeros(sample.n_rows)
        slopes_of_all[rows] = slopes
        return threshold, slopes_of_all, constant

    def total(self, sample: Sample) -> float:
        """Return the K of a sample; above the weight of all rows of the threshold it is a ValueError."""
        weights = sample.class_weights
        available = sum(weights) if self.of == "all" else weights[1]
        if not is_count(self.k):
            return self.k * available
        if self.k > available:
            raise ValueError(
                f"k={self.k} is above the number of rows that the threshold is of, {available:g}: take a "
                "smaller k, or a fraction such as 0.01."
            )
        return float(self.k)
