"""Weights of both classes down a ranked list: in every bin, around a cut, and above or below each score."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from pushrank._base.numeric import Floats
from pushrank._base.parallel import compiled

Ties = Literal["pessimistic", "half", "optimistic"]
TIED_ERROR = {"pessimistic": 1.0, "half": 0.5, "optimistic": 0.0}
"""The part of a tied pair, or of a row that is tied with the last of the first k, that counts as an error."""


@compiled()
def counts_around(positive_counts, negative_counts, positive_weight, negative_weight, needed):
    """Return the weight of each class above a cut of the list, and tied with it."""
    # The cut is the highest bin at which the weighted sum of both classes, from the top of the list on,
    # reaches `needed`; a bin that adds nothing to that sum is passed over.
    positives, negatives = 0.0, 0.0
    for g in range(len(negative_counts) - 1, -1, -1):
        positives_here = positive_counts[g >> 1] if g & 1 else 0.0
        above = positive_weight * positives + negative_weight * negatives
        here = positive_weight * positives_here + negative_weight * negative_counts[g]
        if here > 0.0 and above + here >= needed:
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
    """The weight of the positives at each threshold, and of the negatives in each bin."""

    # There are U thresholds, ascending, and 2U + 1 bins: bin 2g lies below threshold g and above g - 1, bin
    # 2g + 1 is tied with threshold g. In a resample a threshold may have no weight. With
    # `has_whole_weights` each row stands for a whole number of copies, so that ranks can be counted in rows.

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

    @property
    def base_rate(self) -> float:
        """The share of positives among all rows."""
        return self.total_positive / self.total

    def evaluate(self, metric: Callable[..., float], **parameters: object) -> float:
        """Return a metric of this ranking, whose rows need no further check."""
        return float(metric(None, self, **parameters))

    def hits_among(self, rows: NDArray[np.integer] | NDArray[np.floating]) -> Floats:
        """Return the expected number of positives among this many first rows."""
        hits, misses = self._counts_from_top
        return np.asarray(np.interp(rows, hits + misses, hits))

    def hits_above_misses(self, misses: NDArray[np.integer] | NDArray[np.floating]) -> Floats:
        """Return the expected number of positives above the next negative after this many."""
        # If several bins end at the same number of negatives, interp takes the last, as it should.
        return np.asarray(np.interp(misses, *self._counts_from_top[::-1]))

    @cached_property
    def _counts_from_top(self) -> tuple[Floats, Floats]:
        """The weights of both classes to the end of each bin, best first, with zeros before the first."""
        positives, negatives = np.zeros((2, 2 * len(self.positive_counts) + 2))
        positives[2:-1:2] = self.positive_counts[::-1]
        negatives[1:] = self.negative_counts[::-1]
        return np.cumsum(positives), np.cumsum(negatives)

    def positives_below(self, ties: str) -> Floats:
        """Return the weight of the positives below each bin under a rule for ties, shape (2U + 1,)."""
        below = np.repeat(np.append(0.0, np.cumsum(self.positive_counts)), 2)[:-1]
        below[1::2] += tied_error(ties) * self.positive_counts
        return below

    def negatives_above(self, ties: str) -> Floats:
        """Return the weight of the negatives above each threshold under a rule for ties, shape (U,)."""
        from_top = np.cumsum(self.negative_counts[::-1])[::-1]
        return np.asarray(from_top[2::2] + tied_error(ties) * self.negative_counts[1::2])

    def around_best_negative(self) -> CutCounts:
        """Return the counts around the best negative whose weight is not zero."""
        return self._around_weight(0.0, 1.0, 0.0)

    def around_rank(self, k: float) -> CutCounts:
        """Return the counts around the row with which the list reaches the weight k."""
        # Sums of weights may miss k by rounding.
        return self._around_weight(1.0, 1.0, k * (1.0 - 1e-14))

    def around_recall(self, weight: float) -> CutCounts:
        """Return the counts around the positive with which the positives reach a weight."""
        return self._around_weight(1.0, 0.0, weight)

    def _around_weight(self, positive_weight: float, negative_weight: float, needed: float) -> CutCounts:
        counts = self.positive_counts, self.negative_counts
        return CutCounts(*counts_around(*counts, positive_weight, negative_weight, needed))

    def positives_in_top(self, k: float, ties: str) -> float:
        """Return the weight of the positives in the first rows of weight k."""
        # A tie at the end is filled with negatives first (`"pessimistic"`), with positives first
        # (`"optimistic"`), or with both in proportion, which is the expectation under a random order.
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
