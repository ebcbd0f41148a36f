"""Counts, ties and cut-offs of a ranked list.

Where ties are settled: how many rows of each class lie above, at and below each score.

Every measure of a bipartite ranking follows from the positives' distinct scores and the weight of the
negatives at and between them. Sorting the positives and looking up every negative among them gives that, in
row order as well, for the price of a partial sort.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable
from functools import cached_property
from numbers import Integral, Real
from typing import Any, Concatenate, Literal, NamedTuple, ParamSpec, Self, TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils import check_consistent_length

from pushrank._numeric import Floats
from pushrank._parallel import compiled, map_chunks, row_chunks
from pushrank._validation import (
    as_numbers,
    check_number,
    check_ordered_categorical,
    checked_weights,
    column,
    two_classes,
)

_compiled = compiled()

DIGITS = 8  # a float64 has eight digits to the base 256
SIGN = np.uint64(1 << 63)
IN_STEP = 64  # scores searched side by side: enough to keep vector registers and memory busy


@_compiled
def find_cells(levels, scores, cells):
    """Write the cell of each score: 2g between levels g - 1 and g, 2g + 1 at level g.

    A binary search without branches. Its steps depend on the number of levels alone, so a block of scores
    takes them together, and their waits for memory overlap.
    """
    first = np.empty(IN_STEP, dtype=np.int64)
    for start in range(0, len(scores), IN_STEP):
        block = scores[start : start + IN_STEP]
        first[:] = 0
        left = len(levels)
        while left > 1:
            half = left >> 1
            for b in range(len(block)):
                first[b] += half * (levels[first[b] + half - 1] < block[b])
            left -= half
        for b in range(len(block)):
            level = levels[first[b]]
            cells[start + b] = 2 * first[b] + 2 * (level < block[b]) + (level == block[b])


@_compiled
def sort(scores):
    """Return the scores in ascending order, sorted by one digit of their bits after the other.

    Read as integers, positive floats ascend and negative ones descend; flipping the sign bit of the former
    and all bits of the latter makes keys that ascend throughout. Linear time: a third of that of comparisons.
    """
    n = len(scores)
    bits = scores.view(np.uint64)
    keys, moved = np.empty(n, dtype=np.uint64), np.empty(n, dtype=np.uint64)
    starts = np.zeros((DIGITS, 257), dtype=np.int64)
    for i in range(n):
        key = ~bits[i] if bits[i] & SIGN else bits[i] | SIGN
        keys[i] = key
        for d in range(DIGITS):
            starts[d, ((key >> np.uint64(8 * d)) & np.uint64(255)) + 1] += 1
    for d in range(DIGITS):
        if starts[d].max() == n:
            continue  # all share this digit
        places = np.cumsum(starts[d])
        for i in range(n):
            digit = (keys[i] >> np.uint64(8 * d)) & np.uint64(255)
            moved[places[digit]] = keys[i]
            places[digit] += 1
        keys, moved = moved, keys
    for i in range(n):
        keys[i] = keys[i] ^ SIGN if keys[i] & SIGN else ~keys[i]
    return keys.view(np.float64)


@_compiled
def distinct_ascending(ascending):
    """Return the distinct values of an ascending array, and how often each occurs."""
    n_distinct = 1
    for i in range(1, len(ascending)):
        n_distinct += ascending[i] != ascending[i - 1]
    if n_distinct == len(ascending):
        return ascending, np.ones(n_distinct)
    levels = np.empty(n_distinct)
    counts = np.zeros(n_distinct)
    last = -1
    for i in range(len(ascending)):
        if i == 0 or ascending[i] != ascending[i - 1]:
            last += 1
            levels[last] = ascending[i]
        counts[last] += 1.0
    return levels, counts


@_compiled
def count_in_cells(ascending, levels):
    """Return how many of some ascending scores lie in each cell of the levels."""
    counts = np.zeros(2 * len(levels) + 1)
    g = 0
    for score in ascending:
        while g < len(levels) and levels[g] < score:
            g += 1
        tied = g < len(levels) and levels[g] == score
        counts[2 * g + tied] += 1.0
    return counts


@_compiled
def positives_below(positives_at, share):
    """Return the weight of the positives below each cell, with a share of those at it."""
    below = np.empty(2 * len(positives_at) + 1)
    total = 0.0
    for g in range(len(positives_at)):
        below[2 * g] = total
        below[2 * g + 1] = total + share * positives_at[g]
        total += positives_at[g]
    below[-1] = total
    return below


@_compiled
def negatives_above(negatives_in, share):
    """Return the weight of the negatives above each level, with a share of those at it."""
    above = np.empty(len(negatives_in) // 2)
    total = 0.0
    for g in range(len(above) - 1, -1, -1):
        total += negatives_in[2 * g + 2]
        above[g] = total + share * negatives_in[2 * g + 1]
        total += negatives_in[2 * g + 1]
    return above


@_compiled
def around_best_negative(positives_at, negatives_in):
    """Return the hits and misses above the highest cell that holds a negative, and those in it."""
    hits = 0.0
    for cell in range(len(negatives_in) - 1, -1, -1):
        hits_here = positives_at[cell >> 1] if cell & 1 else 0.0
        if negatives_in[cell] > 0.0:
            return hits, 0.0, hits_here, negatives_in[cell]
        hits += hits_here
    return hits, 0.0, 0.0, 0.0


@_compiled
def around_place(positives_at, negatives_in, depth):
    """Return the hits and misses above the cell at which the list grows to a depth, and those in it."""
    hits, misses = 0.0, 0.0
    for cell in range(len(negatives_in) - 1, -1, -1):
        hits_here = positives_at[cell >> 1] if cell & 1 else 0.0
        here = hits_here + negatives_in[cell]
        # the lowest cell that holds anything ends the list, whatever rounding made of the sums
        if here > 0.0 and hits + misses + here >= depth * (1.0 - 1e-14):
            return hits, misses, hits_here, negatives_in[cell]
        hits += hits_here
        misses += negatives_in[cell]
    return hits, misses, 0.0, 0.0


@_compiled
def roc_area(shares_at, shares_in, tied_error, widest, floor):
    """Return the area under the ROC curve, above a floor and up to a false-positive rate.

    The curve is walked from the top of the list. At a tie it goes right and then up, up and then right, or
    straight across, as a tied pair is an error, none, or half of one.
    """
    area, x, y = 0.0, 0.0, 0.0
    for cell in range(len(shares_in) - 1, -1, -1):
        if x >= widest:
            break
        up = shares_at[cell >> 1] if cell & 1 else 0.0
        right = shares_in[cell]
        if tied_error == 0.0:
            y += up
        if right > 0.0:
            part = min(1.0, (widest - x) / right)
            rise = up * part if tied_error == 0.5 else 0.0
            area += area_above(x, y, x + right * part, y + rise, floor)
        x += right
        if tied_error != 0.0:
            y += up
    if x < widest:  # rounding may leave the end of the curve short of one
        area += (widest - x) * max(y - floor, 0.0)
    return area


@_compiled
def area_above(x, y, to_x, to_y, floor):
    """Return the area between a rising line and a floor, where the line is above it."""
    if to_y <= floor:
        return 0.0
    if y < floor:
        x += (to_x - x) * (floor - y) / (to_y - y)
        y = floor
    return (to_x - x) * (0.5 * (y + to_y) - floor)


@_compiled
def around_hit(positives_at, negatives_in, needed):
    """Return the hits and misses above the level at which the hits reach a weight, and those in it."""
    hits, misses = 0.0, 0.0
    for level in range(len(positives_at) - 1, -1, -1):
        misses += negatives_in[2 * level + 2]
        # the last level with a hit ends the list, whatever rounding made of the sums
        if positives_at[level] > 0.0 and hits + positives_at[level] >= needed:
            return hits, misses, positives_at[level], negatives_in[2 * level + 1]
        hits += positives_at[level]
        misses += negatives_in[2 * level + 1]
    return hits, misses, 0.0, 0.0


@_compiled
def expected_reciprocal_ranks(above, hits, sizes):
    """Return the mean of one over the rank of the first hit, if the rows of a tie stand in random order."""
    means = np.empty(len(above))
    for t in range(len(above)):
        misses = sizes[t] - hits[t]
        mean, still = 0.0, 1.0  # still: the probability that all places before hold misses
        for place in range(int(misses) + 1):
            chance = hits[t] / (sizes[t] - place)
            mean += still * chance / (above[t] + place + 1.0)
            still *= 1.0 - chance
        means[t] = mean
    return means


@_compiled
def share_misranked(positives_at, negatives_in, total_positive, total_negative, share):
    """Return the share of misranked pairs, a tied pair counting by its share.

    Divided one at a time, as the product of two totals may underflow.
    """
    above, misranked = 0.0, 0.0
    for cell in range(len(negatives_in) - 1, -1, -1):
        above_here = above
        above += negatives_in[cell]
        if cell & 1:
            errors = (above_here + share * negatives_in[cell]) / total_negative
            misranked += errors * (positives_at[cell >> 1] / total_positive)
    return misranked


@_compiled
def sum_precision_of_ties(positives_at, negatives_in):
    """Return the precisions at the positives, summed, if all rows of a tie enter the list together."""
    hits, misses, total = 0.0, 0.0, 0.0
    for level in range(len(positives_at) - 1, -1, -1):
        hits += positives_at[level]
        misses += negatives_in[2 * level + 2] + negatives_in[2 * level + 1]
        if positives_at[level] > 0.0:
            total += positives_at[level] * (hits / (hits + misses))
    return total


@_compiled
def sum_discounts(positives_at, negatives_in, rate, share):
    """Return the integral of ``rate * exp(-rate * place)`` over the places of the positives.

    Positives in a tie take the last places of it, the first, or the mean of all, as a tied pair is an error,
    none, or half of one. Places are measured in weight, so that a row takes the stretch that it weighs.
    """
    above, total = 0.0, 0.0
    for level in range(len(positives_at) - 1, -1, -1):
        above += negatives_in[2 * level + 2]
        hits, tied = positives_at[level], negatives_in[2 * level + 1]
        if hits > 0.0:
            first, places, part = above + share * tied, hits, 1.0
            if share == 0.5:
                first, places, part = above, hits + tied, hits / (hits + tied)
            total -= part * np.exp(-rate * first) * np.expm1(-rate * places)
        above += hits + tied
    return total


@_compiled
def sum_discounts_gained(positives_at, negatives_in, rate, share):
    """Return ``sum_discounts`` less what it is if all positives stand at the end, without cancellation.

    From there the positives of a level move up past the negatives that they are above: a stretch of ``hits``
    at a place gains ``exp(-rate * place)``, times ``-expm1(-rate * hits)``, times ``-expm1(-rate * passed)``.
    """
    below = np.cumsum(negatives_in)[::2]
    above, total = 0.0, 0.0
    for level in range(len(positives_at) - 1, -1, -1):
        above += negatives_in[2 * level + 2]
        hits, tied = positives_at[level], negatives_in[2 * level + 1]
        if hits > 0.0:
            first, passed = above + share * tied, below[level] + (1.0 - share) * tied
            if share == 0.5 and tied > 0.0:
                first, passed = above + tied, below[level]
                mean = mean_gain(rate * hits, rate * tied)
                total += np.exp(-rate * above) * (rate * hits) * (tied / (hits + tied)) * mean
            total += np.exp(-rate * first) * np.expm1(-rate * hits) * np.expm1(-rate * passed)
        above += hits + tied
    return total


@_compiled
def mean_gain(hits, tied):
    """Return ``(1 - exp(-tied)) / tied - exp(-tied) * (1 - exp(-hits)) / hits``, right to rounding.

    It is what hits gain by standing in random order with ties instead of after them, but for a factor.
    """
    if hits + tied > 1.0:
        return np.exp(-tied) * (np.expm1(-hits) / hits) - np.expm1(-tied) / tied
    total, of_hits, of_tied = 0.0, 1.0, 1.0  # near one another: their series are subtracted term by term
    for k in range(2, 19):
        of_hits *= -hits / k
        of_tied *= tied / k
        total += of_tied - of_hits
    return np.exp(-tied) * total


Ties = Literal["pessimistic", "half", "optimistic"]
TIE_SHARE = {"pessimistic": 1.0, "half": 0.5, "optimistic": 0.0}
"""The part of a tied pair that counts as an error."""


class AroundScore(NamedTuple):
    """The weight of each class above a score and tied with it."""

    hits_above: float
    misses_above: float
    hits_tied: float
    misses_tied: float


class Tally(ABC):
    """The weight of the positives at each of their scores, and of the negatives at and between them.

    There are U levels, ascending, and 2U + 1 cells: cell 2g lies below level g and above g - 1, cell 2g + 1
    is tied with level g.
    """

    @property
    @abstractmethod
    def positives_at(self) -> Floats:
        """The weight of the positives at each level, shape (U,)."""

    @property
    @abstractmethod
    def negatives_in(self) -> Floats:
        """The weight of the negatives in each cell, shape (2U + 1,)."""

    @property
    @abstractmethod
    def total_positive(self) -> float:
        """The weight of all positives."""

    @property
    @abstractmethod
    def total_negative(self) -> float:
        """The weight of all negatives."""

    @property
    @abstractmethod
    def counts_rows(self) -> bool:
        """Whether there are no weights, so that each row has one place."""

    @property
    @abstractmethod
    def has_whole_places(self) -> bool:
        """Whether rows weigh whole numbers, so that each stands for so many copies of itself."""

    @property
    def total(self) -> float:
        """The weight of all rows."""
        return self.total_positive + self.total_negative

    def positives_below(self, ties: Ties) -> Floats:
        """Return the weight of the positives below each cell, counting ties by the rule, shape (2U + 1,)."""
        return np.asarray(positives_below(self.positives_at, tie_share(ties)))

    def negatives_above(self, ties: Ties) -> Floats:
        """Return the weight of the negatives above each level, counting ties by the rule, shape (U,)."""
        return np.asarray(negatives_above(self.negatives_in, tie_share(ties)))

    def around_best_negative(self) -> AroundScore:
        """Return what stands above the best negative of a weight that is not zero, and beside it."""
        return AroundScore(*around_best_negative(self.positives_at, self.negatives_in))

    def around_place(self, depth: float) -> AroundScore:
        """Return what stands above the row at which the list has the weight ``depth``, and beside it."""
        return AroundScore(*around_place(self.positives_at, self.negatives_in, depth))

    def hits_within(self, depth: float, ties: Ties) -> float:
        """Return the weight of the positives in the first ``depth`` of the list.

        A tie at the end is filled with negatives first (``"pessimistic"``), with positives first
        (``"optimistic"``), or with both in proportion, which is the expectation under a random order.
        """
        share = tie_share(ties)
        around = self.around_place(depth)
        places = depth - around.hits_above - around.misses_above
        if share == 1.0:
            return around.hits_above + max(0.0, places - around.misses_tied)
        if share == 0.0:
            return around.hits_above + min(places, around.hits_tied)
        return around.hits_above + places * around.hits_tied / (around.hits_tied + around.misses_tied)


def tie_share(ties: Ties) -> float:
    """Return the part of a tied pair that is an error: 1, 0.5 or 0.

    Raises
    ------
    ValueError
        When the rule is not known.
    """
    if ties not in TIE_SHARE:
        raise ValueError(f"ties must be one of {sorted(TIE_SHARE)}, got {ties!r}.")
    return TIE_SHARE[ties]


WORTH_A_THREAD = 1 << 18  # rows below which a sort is done before a thread has begun
LOOK_UP_COST = 64  # in elements read: keeps a chunk of look-ups worth a thread


class Ranking(Tally):
    """The order that scores give to positives and negatives, tie groups and all.

    Parameters
    ----------
    y_true : array-like of shape (n,)
        Labels of two values.
    scores : array-like of shape (n,)
        Finite scores, the higher the better.
    sample_weight : array-like of shape (n,), optional
        Non-negative weights; an integer weight equals that many copies of the row.
    pos_label : label, optional
        The positive class; by default the larger of the two values.

    Attributes
    ----------
    is_positive : ndarray of bool, shape (n,)
        The positives.
    scores : ndarray of float64, shape (n,)
        The scores, or their ranks where float64 cannot tell them apart (integers beyond 2^53).
    weights : ndarray of float64, shape (n,), or None
        The weights.

    Raises
    ------
    ValueError
        When there are not two classes, a score is NaN or infinite, or lengths or weights do not fit.

    Notes
    -----
    O(n) to build; the tables below cost O(n log P), with P positives, when first asked for.
    """

    def __init__(
        self,
        y_true: ArrayLike,
        scores: ArrayLike,
        sample_weight: ArrayLike | None = None,
        pos_label: Any = None,
    ) -> None:
        self.scores = checked_scores(column(scores, "scores"))
        if pos_label is None:
            check_ordered_categorical(y_true, "y_true")
        labels = column(y_true, "y_true")
        check_consistent_length(labels, self.scores)
        _, self.is_positive = two_classes(labels, "y_true", pos_label)
        self.weights = None if sample_weight is None else summable_weights(sample_weight, len(labels))
        if self.weights is not None:
            for mask, name in ((self.is_positive, "positive"), (~self.is_positive, "negative")):
                if not self.weights[mask].any():
                    raise ValueError(
                        f"sample_weight is zero for every {name} row; ranking needs both classes."
                    )

    def of_same_rows(self, scores: ArrayLike) -> Self:
        """Return the ranking of the same labelled and weighted rows by other scores."""
        other = object.__new__(type(self))
        other.is_positive, other.weights = self.is_positive, self.weights
        other.scores = checked_scores(column(scores, "scores"))
        check_consistent_length(other.is_positive, other.scores)
        return other

    def weights_of(self, mask: NDArray[np.bool_]) -> Floats | None:
        """Return the weights of the rows in a mask, or None where all weigh one."""
        return None if self.weights is None else self.weights[mask]

    @cached_property
    def positive_scores(self) -> Floats:
        """The scores of the positives, in row order."""
        return self.scores[np.flatnonzero(self.is_positive)]  # quicker than by the mask

    @cached_property
    def negative_scores(self) -> Floats:
        """The scores of the negatives, in row order."""
        return self.scores[np.flatnonzero(~self.is_positive)]

    @property
    def levels(self) -> Floats:
        """The distinct scores of the positives, ascending, shape (U,)."""
        return self._levels_and_counts[0]

    @cached_property
    def _levels_and_counts(self) -> tuple[Floats, Floats]:
        ascending = self._sorted_classes[0] if self._is_balanced else sort(self.positive_scores)
        levels, counts = distinct_ascending(ascending)
        return levels, counts

    @property
    def _is_balanced(self) -> bool:
        """Whether sorting the negatives too is quicker than searching for the place of each."""
        return self.weights is None and len(self.negative_scores) < 3 * len(self.positive_scores)

    @cached_property
    def _sorted_classes(self) -> list[Floats]:
        classes = [self.positive_scores, self.negative_scores]
        if len(self.scores) < WORTH_A_THREAD:
            return [sort(scores) for scores in classes]
        return map_chunks(lambda c, _: np.asarray(sort(classes[c])), [(0, 1), (1, 2)])

    @cached_property
    def positive_levels(self) -> NDArray[np.int64]:
        """The number of each positive's level, in row order."""
        return _cells(self.levels, self.positive_scores) >> 1

    @cached_property
    def negative_cells(self) -> NDArray[np.int64]:
        """The cell of each negative, in row order: 2g below level g and above g - 1, 2g + 1 tied with g."""
        return _cells(self.levels, self.negative_scores)

    @cached_property
    def positives_at(self) -> Floats:
        """The weight of the positives at each level, shape (U,)."""
        if self.weights is None:
            return self._levels_and_counts[1]
        weights = self.weights_of(self.is_positive)
        return np.bincount(self.positive_levels, weights, minlength=len(self.levels)).astype(np.float64)

    @cached_property
    def negatives_in(self) -> Floats:
        """The weight of the negatives in each cell, shape (2U + 1,)."""
        if self._is_balanced:
            return np.asarray(count_in_cells(self._sorted_classes[1], self.levels))
        weights = self.weights_of(~self.is_positive)
        return np.bincount(self.negative_cells, weights, minlength=2 * len(self.levels) + 1).astype(
            np.float64
        )

    @cached_property
    def total_positive(self) -> float:
        """The weight of all positives."""
        weights = self.weights_of(self.is_positive)
        return float(np.count_nonzero(self.is_positive)) if weights is None else float(weights.sum())

    @cached_property
    def total_negative(self) -> float:
        """The weight of all negatives."""
        weights = self.weights_of(~self.is_positive)
        return (
            float(len(self.scores) - np.count_nonzero(self.is_positive))
            if weights is None
            else float(weights.sum())
        )

    @property
    def counts_rows(self) -> bool:
        """Whether there are no weights, so that each row has one place."""
        return self.weights is None

    @cached_property
    def has_whole_places(self) -> bool:
        """Whether rows weigh whole numbers, so that each stands for so many copies of itself."""
        return self.weights is None or bool((self.weights == np.floor(self.weights)).all())

    def around_best_negative(self) -> AroundScore:
        """Return what stands above the best negative of a weight that is not zero, without sorting."""
        weights = self.weights_of(~self.is_positive)
        counted = self.negative_scores if weights is None else self.negative_scores[weights > 0.0]
        return self._around(counted.max())

    def around_place(self, depth: float) -> AroundScore:
        """Return what stands above the row at which the list has the weight ``depth``, and beside it."""
        if self.weights is not None:
            return super().around_place(depth)
        last = len(self.scores) - max(1, math.ceil(depth))
        return self._around(np.partition(self.scores, last)[last])

    def _around(self, score: float) -> AroundScore:
        masks_and_weights = (
            (compare(scores, score), weights)
            for compare in (np.greater, np.equal)
            for scores, weights in (
                (self.positive_scores, self.weights_of(self.is_positive)),
                (self.negative_scores, self.weights_of(~self.is_positive)),
            )
        )
        return AroundScore(
            *(
                float(np.count_nonzero(mask)) if weights is None else float(weights[mask].sum())
                for mask, weights in masks_and_weights
            )
        )


def _cells(levels: Floats, scores: Floats) -> NDArray[np.int64]:
    """Return 2g for a score below level g and above g - 1, and 2g + 1 for one equal to level g."""
    cells = np.empty(len(scores), dtype=np.int64)
    map_chunks(
        lambda start, stop: find_cells(levels, scores[start:stop], cells[start:stop]),
        row_chunks(len(scores), LOOK_UP_COST),
    )
    return cells


def checked_scores(scores: NDArray[Any]) -> Floats:
    """Return finite scores as float64, or as their ranks where that would tie distinct ones.

    Raises
    ------
    ValueError
        When a score is no number, or is NaN or infinite.
    """
    floats = _as_floats(scores)
    if not np.isfinite(floats).all():
        bad = int(np.flatnonzero(~np.isfinite(floats))[0])
        raise ValueError(
            f"scores must be finite, found {floats[bad]} in row {bad}; drop or replace such rows."
        )
    return floats


def _as_floats(scores: NDArray[Any]) -> Floats:
    """Return the scores as float64, or as their ranks where the conversion would tie distinct ones."""
    largest_exact = 2**53
    if scores.dtype.kind in "iu" and len(scores):
        if max(-int(scores.min()), int(scores.max())) > largest_exact:
            scores = np.unique(scores, return_inverse=True)[1]
    elif scores.dtype.kind == "f" and scores.dtype.itemsize > 8 and np.isfinite(scores).all():
        scores = np.unique(scores, return_inverse=True)[1]
    return as_numbers(scores, "scores")


def summable_weights(sample_weight: ArrayLike, n_rows: int) -> Floats:
    """Return weights of all rows.

    Raises
    ------
    ValueError
        When their number differs, one is negative or not finite, or their sum is beyond the range of floats.
    """
    weights = checked_weights(sample_weight, n_rows)
    with np.errstate(over="ignore"):
        total = 2.0 * weights.sum()  # sums in another order may be larger by their rounding
    if not np.isfinite(total):
        raise ValueError(
            f"sample_weight adds up beyond the range of floats (the largest is {weights.max():g}); divide "
            "all of them by a constant, which most measures do not see."
        )
    return weights


DEPTH_ROUNDING = 1e-9
"""A product such as 0.07 * 100 may exceed the whole number it stands for by this."""


def list_depth(k: Any, ranking: Tally) -> float:
    """Return the weight of the list that ``k`` stands for, an int in rows, a float in positives.

    Raises
    ------
    ValueError
        When `k` is neither an int from 1 to the weight of all rows nor a float in (0, 1].
    """
    is_number = isinstance(k, Real) and not isinstance(k, bool)
    if is_number and isinstance(k, Integral):
        if not 1 <= int(k) <= ranking.total:
            what = "number of rows" if ranking.counts_rows else "total weight"
            raise ValueError(f"k={k} must lie between 1 and the {what}, {ranking.total:g}.")
        return float(k)
    if is_number and 0.0 < float(k) <= 1.0:
        depth = float(k) * ranking.total_positive
        return max(float(round(depth)), 1.0) if ranking.has_whole_places else depth
    raise ValueError(
        f"k must be an int (a number of rows) or a float in (0, 1] (a fraction of the positives), got {k!r}."
    )


def part_of_list(fraction: Any, ranking: Tally) -> float:
    """Return the weight of the first ``fraction`` of the list; whole where all rows weigh whole numbers.

    Raises
    ------
    ValueError
        When `fraction` does not lie in (0, 1].
    """
    check_number("fraction", fraction, above=0.0, most=1.0)
    return rounded_up(float(fraction) * ranking.total, ranking)


def rounded_up(weight: float, ranking: Tally) -> float:
    """Return a weight of rows, rounded up where all rows weigh whole numbers: copies are not cut."""
    return float(math.ceil(weight * (1.0 - DEPTH_ROUNDING))) if ranking.has_whole_places else weight


def rank_sum(ranking: Tally, worth: Callable[[Floats], Floats], ties: Ties) -> float:
    """Return ``sum_i worth(rank of positive i)``, ranks counted in rows from 1.

    Positives in a tie take the last places of it (``"pessimistic"``), the first (``"optimistic"``), or the
    mean worth of its places (``"half"``), which is the expectation under a random order.

    Raises
    ------
    ValueError
        When rows weigh other than whole numbers.
    """
    if not ranking.has_whole_places:
        raise ValueError(
            "this measure counts places in rows: sample_weight must be whole numbers, for which a row stands "
            "for so many copies of itself. Measures such as average_precision take any weights."
        )
    share = tie_share(ties)
    hits = ranking.positives_at
    hits_above = np.cumsum(hits[::-1])[::-1] - hits
    misses_tied = ranking.negatives_in[1::2]
    misses_above = ranking.negatives_above("optimistic")
    if share != 0.5 or not misses_tied.any():
        first = hits_above + misses_above + share * misses_tied
        return float(worth(_places(first, hits)).sum())
    drawn = hits > 0.0  # a resample may leave levels empty
    hits, places = hits[drawn], (hits + misses_tied)[drawn]
    worths = worth(_places((hits_above + misses_above)[drawn], places))
    sums = np.add.reduceat(worths, np.concatenate([[0], np.cumsum(places)[:-1]]).astype(np.intp))
    return float(sums @ (hits / places))


def _places(before: Floats, counts: Floats) -> Floats:
    """Return the ranks ``before + 1 .. before + count`` of every level, one level after the other."""
    repeats = counts.astype(np.intp)
    if (repeats == 1).all():
        return before + 1.0
    ends = np.cumsum(repeats)
    within = np.arange(ends[-1]) - np.repeat(ends - repeats, repeats)
    ranks: Floats = np.repeat(before, repeats) + within + 1.0
    return ranks


Parameters = ParamSpec("Parameters")
Measure = TypeVar("Measure", bound=Callable[..., Any])

NUMBER_MEASURES: dict[str, Callable[..., Any]] = {}
"""Measures that give a ranking one number, by name."""

ORDER_MEASURES: set[Callable[..., Any]] = set()
"""Those of the order alone: they take a :class:`Tally` in place of scores."""


def number_measure(measure: Measure) -> Measure:
    """Enter a measure that gives a ranking one number, so that it can be resampled by its name."""
    NUMBER_MEASURES[measure.__name__] = measure
    return measure


def order_measure(measure: Measure) -> Measure:
    """Enter a measure that follows from a :class:`Tally`, so that resamples need no rows and no sort."""
    ORDER_MEASURES.add(measure)
    return number_measure(measure)


def measured(
    ranking_measure: Callable[Concatenate[Any, Parameters], float],
    y_true: ArrayLike,
    scores: ArrayLike | Tally,
    sample_weight: ArrayLike | None,
    pos_label: Any,
    *parameters: Parameters.args,
    **named: Parameters.kwargs,
) -> Any:
    """Return the measure of one ranking, or of each row of scores of shape (n_rankings, n).

    Returns
    -------
    float or ndarray of shape (n_rankings,)
        Labels and weights are checked once, and rankings are measured in threads.
    """
    if isinstance(scores, Tally):
        if sample_weight is not None or pos_label is not None:
            raise ValueError("rows are checked and weighted already: give sample_weight and pos_label there.")
        return ranking_measure(scores, *parameters, **named)
    if not are_many(scores):
        return ranking_measure(Ranking(y_true, scores, sample_weight, pos_label), *parameters, **named)
    table = np.asarray(scores)
    first = Ranking(y_true, table[0], sample_weight, pos_label)
    rankings = [first, *(first.of_same_rows(row) for row in table[1:])]
    return np.array(
        map_chunks(
            lambda r, _: ranking_measure(rankings[r], *parameters, **named),
            [(r, r + 1) for r in range(len(rankings))],
        )
    )


def are_many(scores: ArrayLike) -> bool:
    """Return whether the scores are a table with a row for each ranking; a single column is one ranking."""
    shape = np.shape(scores)
    return len(shape) == 2 and shape[0] > 0 and shape[1] != 1
