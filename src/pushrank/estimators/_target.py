"""What a ranker should order, and the thresholds between classes that follow from its scores."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pushrank._array import Floats, namespace
from pushrank.pairs import ArraySample, BipartiteSample, Sample


@dataclass(frozen=True, eq=False)
class Target:
    """What a ranker should order.

    Attributes
    ----------
    sample : Sample
        Which rows should stand above which.
    weights : ndarray of shape (n,) or None
        Sample weights.
    classes : ndarray or None
        The sorted labels or grades; None for explicit pairs.
    codes : ndarray of int or bool, shape (n,), or None
        Each row's place among the classes.
    groups : ndarray of int, shape (n,), or None
        Each row's query group.
    """

    sample: Sample
    weights: Floats | None
    classes: NDArray[Any] | None = None
    codes: NDArray[Any] | None = None
    groups: NDArray[np.intp] | None = None

    def thresholds(self, scores: NDArray[np.floating]) -> Floats:
        """Return the break-even threshold above each class but the highest; zero for explicit pairs."""
        if isinstance(self.sample, ArraySample):
            return np.array([_break_even_elsewhere(scores, self.sample)])
        if self.codes is None or self.classes is None:
            return np.zeros(1)
        levels = range(len(self.classes) - 1)
        samples = (BipartiteSample.from_mask(self.codes > level, self.weights) for level in levels)
        return np.array([break_even_threshold(scores, sample) for sample in samples])


def break_even_threshold(scores: NDArray[np.floating], sample: BipartiteSample) -> float:
    """Return the threshold above which as much weight is predicted positive as is positive.

    It lies midway between two neighbouring scores; rows that tie across it all fall below it, or above it
    where no score is higher.

    Notes
    -----
    O(n) without weights, by selection; O(n log n) with.
    """
    if sample.positive_weights is None or sample.negative_weights is None:
        last = len(sample.negatives) - 1
        cut = np.partition(scores, last)[last]
    else:
        weights = sample.join(sample.positive_weights, sample.negative_weights)
        scores, weights = scores[weights > 0.0], weights[weights > 0.0]
        ascending = np.argsort(scores, kind="stable")
        weight_below = np.cumsum(weights[ascending])
        # a little less than the negatives' weight, which the sum may miss by rounding
        last = int(np.searchsorted(weight_below, (1.0 - 1e-12) * sample.negative_weights.sum()))
        cut = scores[ascending[last]]
    higher = np.min(scores, where=scores > cut, initial=np.inf)
    if np.isinf(higher):
        higher, cut = cut, np.max(scores, where=scores < cut, initial=-np.inf)
    return float(higher) if np.isinf(cut) else midway(float(cut), float(higher), scores)


def _break_even_elsewhere(scores: Any, sample: ArraySample) -> float:
    """Return the same of two classes on another device, by sorting."""
    xp = namespace(scores)
    of_positives, of_negatives = sample.split(scores)
    scores = xp.concat([of_positives, of_negatives])
    if sample.positive_weights is None or sample.negative_weights is None:
        last = of_negatives.shape[0] - 1
        cut = float(xp.sort(scores)[last])
    else:
        order = xp.argsort(scores)
        weights = xp.concat([sample.positive_weights, sample.negative_weights])
        below = xp.cumulative_sum(xp.take(weights, order, axis=0))
        enough = (1.0 - 1e-12) * float(xp.sum(sample.negative_weights))
        last = int(xp.sum(xp.astype(below < enough, xp.int64)))
        cut = float(scores[int(order[last])])
    infinite = xp.full_like(scores, np.inf)
    higher = float(xp.min(xp.where(scores > cut, scores, infinite)))
    if np.isinf(higher):
        higher, cut = cut, float(xp.max(xp.where(scores < cut, scores, -infinite)))
    return higher if np.isinf(cut) else midway(cut, higher, scores)


def midway(lower: float, higher: float, scores: Any) -> float:
    """Return a threshold between two of the scores that, in their dtype, the higher alone is above."""
    middle = 0.5 * lower + 0.5 * higher
    # between neighbouring floats there is no other
    return middle if float(namespace(scores).asarray(middle, dtype=scores.dtype)) < higher else lower
