"""Weights of both classes down a ranked list: in every bin, around a cut, and above or below each score.

A pair that is tied, or a row that is tied with the end of the first k rows, counts as an error, as half of
one, or as none: that is the rule for ties.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar, Literal, NamedTuple

import numpy as np

from pushrank._numeric import Floats
from pushrank._parallel import compiled

_compiled = compiled()

Ties = Literal["pessimistic", "half", "optimistic"]
TIED_ERROR = {"pessimistic": 1.0, "half": 0.5, "optimistic": 0.0}
"""The part of a tied pair that counts as an error."""


@_compiled
def positives_below(positive_counts, tied_error):
    """Return the weight of the positives below each bin, with a part of those in it."""
    below = np.empty(2 * len(positive_counts) + 1)
    total = 0.0
    for g in range(len(positive_counts)):
        below[2 * g] = total
        below[2 * g + 1] = total + tied_error * positive_counts[g]
        total += positive_counts[g]
    below[-1] = total
    return below


@_compiled
def negatives_above(negative_counts, tied_error):
    """Return the weight of the negatives above each threshold, with a part of those at it."""
    above = np.empty(len(negative_counts) // 2)
    total = 0.0
    for g in range(len(above) - 1, -1, -1):
        total += negative_counts[2 * g + 2]
        above[g] = total + tied_error * negative_counts[2 * g + 1]
        total += negative_counts[2 * g + 1]
    return above


@_compiled
def counts_around_best_negative(positive_counts, negative_counts):
    """Return the weight of each class above the highest bin that holds a negative, and in that bin."""
    positives = 0.0
    for g in range(len(negative_counts) - 1, -1, -1):
        positives_here = positive_counts[g >> 1] if g & 1 else 0.0
        if negative_counts[g] > 0.0:
            return positives, 0.0, positives_here, negative_counts[g]
        positives += positives_here
    return positives, 0.0, 0.0, 0.0


@_compiled
def counts_around_rank(positive_counts, negative_counts, k):
    """Return the weight of each class above the bin in which the list reaches the weight k, and in it."""
    positives, negatives = 0.0, 0.0
    for g in range(len(negative_counts) - 1, -1, -1):
        positives_here = positive_counts[g >> 1] if g & 1 else 0.0
        here = positives_here + negative_counts[g]
        # The lowest bin that holds anything ends the list, even if rounding keeps the sum below k.
        if here > 0.0 and positives + negatives + here >= k * (1.0 - 1e-14):
            return positives, negatives, positives_here, negative_counts[g]
        positives += positives_here
        negatives += negative_counts[g]
    return positives, negatives, 0.0, 0.0


class CutCounts(NamedTuple):
    """The weight of each class above a cut of the list, and tied with it."""

    positives_above: float
    negatives_above: float
    positives_tied: float
    negatives_tied: float


@dataclass(frozen=True, eq=False)
class RankCounts:
    """The weight of the positives at each threshold, and of the negatives in each bin.

    There are U thresholds, ascending, and 2U + 1 bins: bin 2g lies below threshold g and above g - 1, bin
    2g + 1 is tied with threshold g. In a resample a threshold may have no weight. ``has_whole_weights`` means
    that each row stands for a whole number of copies, so that ranks can be counted in rows. The values of the
    positives at each threshold, such as amounts of money, serve the metrics that add them up.
    """

    # Groups or weights change the length of a resample, so k may exceed it.
    is_resample: ClassVar[bool] = True

    positive_counts: Floats
    negative_counts: Floats
    has_whole_weights: bool
    positive_values: Floats | None = None

    @cached_property
    def total_positive(self) -> float:
        """The weight of all positives."""
        return float(self.positive_counts.sum())

    @cached_property
    def total_negative(self) -> float:
        """The weight of all negatives."""
        return float(self.negative_counts.sum())

    @property
    def total(self) -> float:
        """The weight of all rows."""
        return self.total_positive + self.total_negative

    def evaluate(self, metric: Callable[..., Any], **parameters: Any) -> float:
        """Return a metric of this ranking, whose rows need no further check."""
        return float(metric(None, self, **parameters))

    def walk(self, step: Callable[..., Any], state: tuple[float, ...], *arguments: Any) -> Any:
        """Return the state after the steps down the list, from its top to its end.

        ``step(state, positive_counts, negative_counts, *arguments)`` handles a stretch of the list; here it
        is called once, with all of it.
        """
        return step(state, self.positive_counts, self.negative_counts, *arguments)

    def positives_below(self, ties: str) -> Floats:
        """Return the weight of the positives below each bin under a rule for ties, shape (2U + 1,)."""
        return np.asarray(positives_below(self.positive_counts, tied_error(ties)))

    def negatives_above(self, ties: str) -> Floats:
        """Return the weight of the negatives above each threshold under a rule for ties, shape (U,)."""
        return np.asarray(negatives_above(self.negative_counts, tied_error(ties)))

    def around_best_negative(self) -> CutCounts:
        """Return the counts around the best negative whose weight is not zero."""
        return CutCounts(*counts_around_best_negative(self.positive_counts, self.negative_counts))

    def around_rank(self, k: float) -> CutCounts:
        """Return the counts around the row with which the list reaches the weight k."""
        return CutCounts(*counts_around_rank(self.positive_counts, self.negative_counts, k))

    def positives_in_top(self, k: float, ties: str) -> float:
        """Return the weight of the positives in the first rows of weight k.

        A tie at the end is filled with negatives first (``"pessimistic"``), with positives first
        (``"optimistic"``), or with both in proportion, which is the expectation under a random order.
        """
        error = tied_error(ties)
        cut = self.around_rank(k)
        room = k - cut.positives_above - cut.negatives_above
        if error == 1.0:
            return cut.positives_above + max(0.0, room - cut.negatives_tied)
        if error == 0.0:
            return cut.positives_above + min(room, cut.positives_tied)
        return cut.positives_above + room * cut.positives_tied / (cut.positives_tied + cut.negatives_tied)


def tied_error(ties: str, rules: Iterable[str] = TIED_ERROR) -> float:
    """Return the part of a tied pair that counts as an error: 1, 0.5 or 0; another rule is a ValueError."""
    if ties not in TIED_ERROR:
        raise ValueError(f"ties must be one of {sorted(rules)}, got {ties!r}.")
    return TIED_ERROR[ties]
