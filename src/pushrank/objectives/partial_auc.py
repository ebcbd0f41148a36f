"""Surrogates of the partial AUC: over false-positive rates in an interval, and over true-positive rates."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from pushrank import losses
from pushrank._base.numeric import Floats
from pushrank._base.validation import check_number
from pushrank.losses import Hinge, Loss
from pushrank.objectives.push import PushObjective, ScoreSurrogate
from pushrank.pairs import BipartiteSample, Sample


@dataclass(frozen=True)
class PartialAUC(ScoreSurrogate):
    r"""A convex bound of one minus the partial AUC, over rates of errors on both sides.

    Counted are the negatives :math:`t_{(k)}`, from the highest, whose false-positive rates are in (a, b], and
    the positives whose true-positive rates are above c: the lowest share :math:`1 - c` of them. With a = 0 it
    is the mean loss of these positives over these negatives,

    .. math::

        \operatorname{mean}_{i \text{ lowest } (1 - c) m} \; \operatorname{mean}_{k \le b n} \;
        \ell(s_i - t_{(k)}) ,

    the largest mean over all choices of such shares, and so convex in the scores where the loss is. With
    a > 0 it is the tight structured hinge, which lets the worst order of the negatives be another,

    .. math::

        \frac{1}{(b - a) n} \operatorname{mean}_i \max\Bigl( \sum_{k \le a n} [t_{(k)} - s_i]_+ ,\;
        \sum_{k \le a n} (t_{(k)} - s_i) + \sum_{a n < k \le b n} [1 - s_i + t_{(k)}]_+ \Bigr) ,

    a maximum of linear functions. A row of weight w counts as w copies, of which a fraction may be taken;
    tied rows at the end of a share divide the rest of it in proportion to their weights. O(n log n), and only
    the counted rows are sorted.

    Narasimhan and Agarwal, *SVMpAUC-tight*, KDD 2013; Yang, Lu, Lyu and Hu, *Two-way partial AUC and its
    properties*, 2019.

    Parameters
    ----------
    loss : Loss or str, default="hinge"
        The pair loss, or its name; the hinge where ``min_fpr`` is above 0.
    min_fpr, max_fpr : float, default=0.0 and 0.05
        The false-positive rates a and b, 0 <= a < b <= 1.
    min_tpr : float, default=0.0
        The true-positive rate c, in [0, 1).

    Raises
    ------
    TypeError
        When a rate is not a number.
    ValueError
        When a rate is out of range, or the loss is not the hinge with ``min_fpr`` above 0.

    Examples
    --------
    >>> value, slope = PartialAUC(max_fpr=0.5).evaluate([1, 0, 1, 0], [3.0, 2.5, 1.0, 0.0])
    >>> value, slope.tolist()
    (1.5, [-0.5, 1.0, -0.5, 0.0])
    >>> PartialAUC(min_fpr=0.5, max_fpr=1.0).evaluate([1, 0, 0], [0.0, 0.0, 0.5])
    (1.5, array([-2.,  1.,  1.]))
    """

    loss: Loss | str = "hinge"
    min_fpr: float = 0.0
    max_fpr: float = 0.05
    min_tpr: float = 0.0

    def __post_init__(self) -> None:
        object.__setattr__(self, "loss", losses.resolve(self.loss))
        check_number("max_fpr", self.max_fpr, above=0.0, most=1.0)
        check_number("min_fpr", self.min_fpr, 0.0)
        check_number("min_tpr", self.min_tpr, 0.0)
        if self.min_fpr >= self.max_fpr or self.min_tpr >= 1.0:
            raise ValueError(
                f"min_fpr must be below max_fpr and min_tpr below 1, got min_fpr={self.min_fpr}, "
                f"max_fpr={self.max_fpr} and min_tpr={self.min_tpr}."
            )
        if self.min_fpr > 0.0 and not isinstance(self.loss, Hinge):
            raise ValueError(
                f"min_fpr above 0 is of the tight surrogate of the hinge, got loss={self.loss}; use "
                "loss='hinge' or min_fpr=0."
            )

    def evaluation(self, sample: Sample, scores: Floats) -> tuple[float, Floats]:
        """Return value and subgradient for a sample of two classes and checked scores."""
        return self.plane(sample, scores)[:2]

    def plane(self, sample: Sample, scores: Floats) -> tuple[float, Floats, float]:
        """Return value, subgradient, and the value at zero scores of the plane that they make."""
        s, t = sample.gather(scores)
        by_class = sample.positive_weights, sample.negative_weights
        weights = [np.ones(len(x)) if w is None else w for x, w in zip((s, t), by_class, strict=True)]
        in_tpr = largest_multipliers(-s, weights[0], 1.0 - self.min_tpr)
        in_fpr = self.max_fpr * largest_multipliers(t, weights[1], self.max_fpr)
        slope = np.zeros(sample.n_rows)
        if self.min_fpr > 0.0:
            before = self.min_fpr * largest_multipliers(t, weights[1], self.min_fpr)
            width = self.max_fpr - self.min_fpr
            counted = in_fpr > 0.0
            parts = (np.maximum(in_fpr - before, 0.0)[counted] / width, before[counted] / width)
            value, of_positives, of_negatives, offset = _tight(s, in_tpr, t[counted], *parts)
            slope[sample.positives] = of_positives
            slope[sample.negatives[counted]] = of_negatives
            return value, slope, offset
        rows = np.concatenate([sample.positives[in_tpr > 0.0], sample.negatives[in_fpr > 0.0]])
        parts = in_tpr[in_tpr > 0.0], in_fpr[in_fpr > 0.0]
        few = BipartiteSample.from_mask(np.arange(len(rows)) < len(parts[0]), np.concatenate(parts))
        value, slope[rows], offset = PushObjective(self.loss, scale="mean").plane(few, scores[rows])
        return value, slope, offset


def largest_part(values: Floats, weights: Floats | float, share: float) -> tuple[float, float]:
    """Return the value at which the largest ones make up a share of the weight, and that weight."""
    if isinstance(weights, float):
        count, room = math.ceil(share * len(values)), share * weights * len(values)
        return float(np.partition(values, len(values) - count)[len(values) - count]), room
    room = share * float(np.sum(weights))
    order = np.argsort(-values)
    weight_above = np.cumsum(weights[order])
    # Rounding may leave the last sum below the whole weight.
    last = min(int(np.count_nonzero(weight_above < room)), len(values) - 1)
    return float(values[order[last]]), room


def largest_multipliers(values: Floats, weights: Floats | float, share: float) -> Floats:
    """Return the part of each value in the mean of the largest ones, a share of the weight."""
    # Equal values at the end of the share divide the rest of it in proportion to their weights.
    threshold, room = largest_part(values, weights, share)
    above, tied = weights * (values > threshold), weights * (values == threshold)
    rest = max(room - float(above.sum()), 0.0)
    return np.asarray((above + tied * (rest / float(tied.sum()))) / room)


def _tight(
    s: Floats, positive_weights: Floats, t: Floats, counted: Floats, before: Floats
) -> tuple[float, Floats, Floats, float]:
    """Return the tight structured hinge, its slopes in both classes, and its plane's offset."""
    # `counted` are the weights of the negatives in the interval, and `before` of those above it.
    middle = float(t.mean())
    s, t = s - middle, t - middle
    order = np.argsort(t)
    t, counted, before = t[order], counted[order], before[order]

    def from_the_top(values: Floats, first: NDArray[np.int64]) -> Floats:
        sums = np.append(np.cumsum(values[::-1])[::-1], 0.0)
        return np.asarray(sums[first])

    # The first negative that is within the margin of each positive, and the first that is above it.
    within, above = (np.searchsorted(t, s - margin, side="right") for margin in (1.0, 0.0))
    hinges = from_the_top(counted * (1.0 + t), within) - s * from_the_top(counted, within)
    total = float(before.sum())
    whole = float(before @ t) - s * total
    part = from_the_top(before * t, above) - s * from_the_top(before, above)
    crossed = whole + hinges >= part
    value = float(positive_weights @ np.where(crossed, whole + hinges, part))
    n_within = from_the_top(counted, within)
    of_positives = -positive_weights * np.where(crossed, total + n_within, from_the_top(before, above))
    # The same sums from the side of the negatives: those over the positives that are within reach of each.
    through, short = positive_weights * crossed, positive_weights * ~crossed
    ascending = np.argsort(s)
    reach = [np.searchsorted(s[ascending], t + margin, side="left") for margin in (1.0, 0.0)]
    sums = (np.append(0.0, np.cumsum(weights[ascending])) for weights in (through, short))
    within_reach, below = (running[ends] for running, ends in zip(sums, reach, strict=True))
    of_negatives = np.empty_like(t)
    of_negatives[order] = counted * within_reach + before * (through.sum() + below)
    return value, of_positives, of_negatives, float(through @ n_within)
