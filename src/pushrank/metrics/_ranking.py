"""Counts, ties and cut-offs of a ranked list.

The thresholds of a ranking are the distinct scores of its positives. Every metric of the order alone follows
from the weight of the positives at each threshold and the weight of the negatives in each bin, at or between
thresholds: true and false positives per distinct score. Sorting the positives and looking up the bin of every
negative gives both for the price of a partial sort.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from copy import copy
from functools import cached_property
from numbers import Integral, Real
from typing import Any, Concatenate, ParamSpec, Self, TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils import check_consistent_length
from sklearn.utils.validation import _num_samples

from pushrank._numeric import Floats
from pushrank._parallel import compiled, map_chunks, row_chunks
from pushrank._validation import (
    are_missing,
    as_numbers,
    check_number,
    check_ordered_categorical,
    checked_weights,
    column,
    resolve_k,
    two_classes,
)
from pushrank.metrics._docstrings import shared_docs
from pushrank.metrics._ties import CutCounts, RankCounts

_compiled = compiled()

N_DIGITS = 8  # a float64 has eight digits to the base 256
SIGN_BIT = np.uint64(1 << 63)
SEARCH_BATCH = 64  # scores searched side by side: enough to keep vector registers and memory busy


@_compiled
def find_bins(thresholds, scores, bins):
    """Write the bin of each score: 2g between thresholds g - 1 and g, 2g + 1 at threshold g.

    A binary search without branches. Its steps depend on the number of thresholds alone, so a block of scores
    takes them together, and their waits for memory overlap.
    """
    first = np.empty(SEARCH_BATCH, dtype=np.int64)
    for start in range(0, len(scores), SEARCH_BATCH):
        block = scores[start : start + SEARCH_BATCH]
        first[:] = 0
        left = len(thresholds)
        while left > 1:
            half = left >> 1
            for b in range(len(block)):
                first[b] += half * (thresholds[first[b] + half - 1] < block[b])
            left -= half
        for b in range(len(block)):
            threshold = thresholds[first[b]]
            bins[start + b] = 2 * first[b] + 2 * (threshold < block[b]) + (threshold == block[b])


@_compiled
def sort(scores):
    """Return the scores in ascending order, by a radix sort of their bits.

    Read as integers, positive floats ascend and negative ones descend; flipping the sign bit of the former
    and all bits of the latter makes keys that ascend throughout. ``np.sort`` takes 1.6 to 3.4 times as long
    by the AVX-512 of AMD's Zen 4, which costs the area under the curve up to twice its time, but 0.3 to 0.7
    times as long by AVX2 (``benchmarks/sorting.txt``).
    """
    n = len(scores)
    bits = scores.view(np.uint64)
    keys, moved = np.empty(n, dtype=np.uint64), np.empty(n, dtype=np.uint64)
    starts = np.zeros((N_DIGITS, 257), dtype=np.int64)
    for i in range(n):
        key = ~bits[i] if bits[i] & SIGN_BIT else bits[i] | SIGN_BIT
        keys[i] = key
        for d in range(N_DIGITS):
            starts[d, ((key >> np.uint64(8 * d)) & np.uint64(255)) + 1] += 1
    for d in range(N_DIGITS):
        if n == 0 or starts[d, ((keys[0] >> np.uint64(8 * d)) & np.uint64(255)) + 1] == n:
            continue  # all share this digit
        targets = np.cumsum(starts[d])
        for i in range(n):
            digit = (keys[i] >> np.uint64(8 * d)) & np.uint64(255)
            moved[targets[digit]] = keys[i]
            targets[digit] += 1
        keys, moved = moved, keys
    for i in range(n):
        keys[i] = keys[i] ^ SIGN_BIT if keys[i] & SIGN_BIT else ~keys[i]
    return keys.view(np.float64)


@_compiled
def distinct_ascending(ascending):
    """Return the distinct values of an ascending array, and how often each occurs."""
    n_distinct = 1
    for i in range(1, len(ascending)):
        n_distinct += ascending[i] != ascending[i - 1]
    if n_distinct == len(ascending):
        return ascending, np.ones(n_distinct)
    distinct = np.empty(n_distinct)
    counts = np.zeros(n_distinct)
    last = -1
    for i in range(len(ascending)):
        if i == 0 or ascending[i] != ascending[i - 1]:
            last += 1
            distinct[last] = ascending[i]
        counts[last] += 1.0
    return distinct, counts


@_compiled
def count_in_bins(ascending, thresholds):
    """Return how many of some ascending scores lie in each bin of the thresholds."""
    counts = np.zeros(2 * len(thresholds) + 1)
    g = 0
    for score in ascending:
        while g < len(thresholds) and thresholds[g] < score:
            g += 1
        tied = g < len(thresholds) and thresholds[g] == score
        counts[2 * g + tied] += 1.0
    return counts


@_compiled
def counts_around_recall(positive_counts, negative_counts, needed):
    """Return the weight of each class above the threshold at which positives reach a weight, and at it."""
    positives, negatives = 0.0, 0.0
    for g in range(len(positive_counts) - 1, -1, -1):
        negatives += negative_counts[2 * g + 2]
        # the last threshold with a positive ends the list, whatever rounding made of the sums
        if positive_counts[g] > 0.0 and positives + positive_counts[g] >= needed:
            return positives, negatives, positive_counts[g], negative_counts[2 * g + 1]
        positives += positive_counts[g]
        negatives += negative_counts[2 * g + 1]
    return positives, negatives, 0.0, 0.0


@_compiled
def roc_area(positive_shares, negative_shares, tied_error, max_fpr, min_tpr):
    """Return the area under the ROC curve, above a true-positive and up to a false-positive rate.

    The curve is walked from the top of the list. At a tie it goes right and then up, up and then right, or
    straight across, as a tied pair is an error, none, or half of one.
    """
    area, x, y = 0.0, 0.0, 0.0
    for g in range(len(negative_shares) - 1, -1, -1):
        if x >= max_fpr:
            break
        up = positive_shares[g >> 1] if g & 1 else 0.0
        right = negative_shares[g]
        if tied_error == 0.0:
            y += up
        if right > 0.0:
            part = min(1.0, (max_fpr - x) / right)
            rise = up * part if tied_error == 0.5 else 0.0
            area += area_above(x, y, x + right * part, y + rise, min_tpr)
        x += right
        if tied_error != 0.0:
            y += up
    if x < max_fpr:  # rounding may leave the end of the curve short of one
        area += (max_fpr - x) * max(y - min_tpr, 0.0)
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
def expected_reciprocal_ranks(above, positives, sizes):
    """Return the mean of one over the rank of the first positive, a tie being in random order."""
    means = np.empty(len(above))
    for t in range(len(above)):
        negatives = sizes[t] - positives[t]
        mean, none_before = 0.0, 1.0  # the probability that all ranks before hold negatives
        for before in range(int(negatives) + 1):
            chance = positives[t] / (sizes[t] - before)
            mean += none_before * chance / (above[t] + before + 1.0)
            none_before *= 1.0 - chance
        means[t] = mean
    return means


@_compiled
def misranked_share(state, positive_counts, negative_counts, total_positive, total_negative, tied_error):
    """Return the weight of the negatives so far, and the share of misranked pairs.

    The list is walked from the top on, from the state that the part above left, zeros at the top. Divided one
    at a time, as the product of two totals may underflow.
    """
    above, misranked = state
    for g in range(len(negative_counts) - 1, -1, -1):
        above_here = above
        above += negative_counts[g]
        if g & 1:
            errors = (above_here + tied_error * negative_counts[g]) / total_negative
            misranked += errors * (positive_counts[g >> 1] / total_positive)
    return above, misranked


@_compiled
def sum_precisions(state, positive_counts, negative_counts):
    """Return the weights of both classes so far, and the sum of the precisions at the positives.

    All rows of a tie enter the list together. The state is that of :func:`misranked_share`.
    """
    positives, negatives, total = state
    for g in range(len(positive_counts) - 1, -1, -1):
        positives += positive_counts[g]
        negatives += negative_counts[2 * g + 2] + negative_counts[2 * g + 1]
        if positive_counts[g] > 0.0:
            total += positive_counts[g] * (positives / (positives + negatives))
    return positives, negatives + negative_counts[0], total


@_compiled
def sum_discounts(positive_counts, negative_counts, rate, tied_error):
    """Return the integral of ``rate * exp(-rate * rank)`` over the ranks of the positives.

    Positives in a tie take the last ranks of it, the first, or the mean of all, as a tied pair is an error,
    none, or half of one. Ranks are measured in weight, so that a row takes the stretch that it weighs.
    """
    above, total = 0.0, 0.0
    for g in range(len(positive_counts) - 1, -1, -1):
        above += negative_counts[2 * g + 2]
        positives, negatives = positive_counts[g], negative_counts[2 * g + 1]
        if positives > 0.0:
            first, stretch, part = above + tied_error * negatives, positives, 1.0
            if tied_error == 0.5:
                stretch = positives + negatives
                first, part = above, positives / stretch
            total -= part * np.exp(-rate * first) * np.expm1(-rate * stretch)
        above += positives + negatives
    return total


@_compiled
def sum_discounts_gained(positive_counts, negative_counts, rate, tied_error):
    """Return ``sum_discounts`` less what it is if all positives stand at the end, without cancellation.

    From there the positives at a threshold move up past the negatives that they are above: the weight v at
    rank r that passes the weight u gains ``exp(-rate * r) * expm1(-rate * v) * expm1(-rate * u)``.
    """
    below = np.cumsum(negative_counts)[::2]
    above, total = 0.0, 0.0
    for g in range(len(positive_counts) - 1, -1, -1):
        above += negative_counts[2 * g + 2]
        positives, negatives = positive_counts[g], negative_counts[2 * g + 1]
        if positives > 0.0:
            first, passed = above + tied_error * negatives, below[g] + (1.0 - tied_error) * negatives
            if tied_error == 0.5 and negatives > 0.0:
                first, passed = above + negatives, below[g]
                mean = mean_gain(rate * positives, rate * negatives)
                total += (
                    np.exp(-rate * above) * (rate * positives) * (negatives / (positives + negatives)) * mean
                )
            total += np.exp(-rate * first) * np.expm1(-rate * positives) * np.expm1(-rate * passed)
        above += positives + negatives
    return total


@_compiled
def mean_gain(u, v):
    """Return ``(1 - exp(-v)) / v - exp(-v) * (1 - exp(-u)) / u``, right to rounding.

    It is what positives of weight u gain, but for a factor, by standing in random order with negatives of
    weight v instead of after them, both in units of one over the rate.
    """
    if u + v > 1.0:
        return np.exp(-v) * (np.expm1(-u) / u) - np.expm1(-v) / v
    total, u_term, v_term = 0.0, 1.0, 1.0  # near one another: their series are subtracted term by term
    for k in range(2, 19):  # 1 / 19! is less than rounding
        u_term *= -u / k
        v_term *= v / k
        total += v_term - u_term
    return np.exp(-v) * total


MIN_ROWS_FOR_THREADS = 1 << 18  # fewer are sorted before a thread has begun
SEARCH_COST = 64  # of one row, in elements read: keeps a chunk of searches worth a thread


class Ranking(RankCounts):
    """The order that scores give to positives and negatives, tie groups and all.

    Its arguments are those of every metric, and are checked here. ``scores`` become ranks where float64
    cannot tell them apart (integers beyond 2^53).

    Notes
    -----
    O(n) to build; thresholds, bins and counts cost O(n log P), with P positives, when first asked for.
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
        self.value: Floats | None = None
        self.groups: NDArray[np.intp] | None = None
        self.weights = None if sample_weight is None else summable_weights(sample_weight, len(labels))
        if self.weights is not None:
            for weights, name in ((self.positive_weights, "positive"), (self.negative_weights, "negative")):
                if weights is not None and not weights.any():
                    raise ValueError(
                        f"sample_weight is zero for every {name} row; ranking needs both classes."
                    )

    def with_scores(self, scores: ArrayLike) -> Self:
        """Return the ranking of the same labelled and weighted rows by other scores."""
        other = object.__new__(type(self))
        other.is_positive, other.weights = self.is_positive, self.weights
        other.value, other.groups = self.value, self.groups
        other.scores = checked_scores(column(scores, "scores"))
        check_consistent_length(other.is_positive, other.scores)
        return other

    def with_value(self, value: ArrayLike) -> Self:
        """Return the ranking with a finite value for each row."""
        other = copy(self)
        other.value = as_numbers(column(value, "value"), "value")
        check_consistent_length(other.is_positive, other.value)
        wrong = np.flatnonzero(~np.isfinite(other.value))
        if len(wrong):
            raise ValueError(
                f"value must be finite, found {other.value[wrong[0]]} in row {wrong[0]}; drop or replace it."
            )
        return other

    def with_groups(self, groups: ArrayLike) -> Self:
        """Return the ranking with the number of each row's group, which resamples draw whole."""
        other = copy(self)
        labels = column(groups, "groups")
        check_consistent_length(other.is_positive, labels)
        missing = np.flatnonzero(are_missing(labels))
        if len(missing):
            row = missing[0]
            raise ValueError(f"groups is missing ({labels[row]}) in row {row}; give it one.")
        kinds, numbers = np.unique(labels, return_inverse=True)
        if len(kinds) < 2:
            raise ValueError("groups are all the same, and one alone says nothing of others; leave them out.")
        other.groups = numbers
        return other

    @cached_property
    def positive_scores(self) -> Floats:
        """The scores of the positives, in row order."""
        return self.scores[np.flatnonzero(self.is_positive)]  # quicker than by the mask

    @cached_property
    def negative_scores(self) -> Floats:
        """The scores of the negatives, in row order."""
        return self.scores[np.flatnonzero(~self.is_positive)]

    @cached_property
    def positive_weights(self) -> Floats | None:
        """The weights of the positives, in row order, or None where all weigh one."""
        return None if self.weights is None else self.weights[self.is_positive]

    @cached_property
    def negative_weights(self) -> Floats | None:
        """The weights of the negatives, in row order, or None where all weigh one."""
        return None if self.weights is None else self.weights[~self.is_positive]

    @property
    def thresholds(self) -> Floats:
        """The distinct scores of the positives, ascending, shape (U,)."""
        return self._thresholds_and_counts[0]

    @cached_property
    def _thresholds_and_counts(self) -> tuple[Floats, Floats]:
        ascending = self._sorted_classes[0] if self._sorts_negatives else sort(self.positive_scores)
        thresholds, counts = distinct_ascending(ascending)
        return thresholds, counts

    @property
    def _sorts_negatives(self) -> bool:
        """Whether sorting the negatives too is quicker than searching for the bin of each."""
        return self.weights is None and len(self.negative_scores) < 3 * len(self.positive_scores)

    @cached_property
    def _sorted_classes(self) -> list[Floats]:
        classes = [self.positive_scores, self.negative_scores]
        if len(self.scores) < MIN_ROWS_FOR_THREADS:
            return [sort(scores) for scores in classes]
        return map_chunks(lambda c, _: np.asarray(sort(classes[c])), [(0, 1), (1, 2)])

    @cached_property
    def positive_threshold_index(self) -> NDArray[np.int64]:
        """The threshold of each positive, in row order."""
        return _bin_index(self.thresholds, self.positive_scores) >> 1

    @cached_property
    def negative_bin_index(self) -> NDArray[np.int64]:
        """The bin of each negative, in row order."""
        return _bin_index(self.thresholds, self.negative_scores)

    @cached_property
    def positive_counts(self) -> Floats:
        """The weight of the positives at each threshold, shape (U,)."""
        if self.positive_weights is None:
            return self._thresholds_and_counts[1]
        index, n_thresholds = self.positive_threshold_index, len(self.thresholds)
        return np.bincount(index, self.positive_weights, n_thresholds).astype(np.float64)

    @property
    def positive_values(self) -> Floats | None:
        """The weighted value of the positives at each threshold, shape (U,), or None where none is known."""
        if self.value is None:
            return None
        weights = 1.0 if self.positive_weights is None else self.positive_weights
        values = self.value[self.is_positive] * weights
        return np.bincount(self.positive_threshold_index, values, len(self.thresholds)).astype(np.float64)

    @cached_property
    def negative_counts(self) -> Floats:
        """The weight of the negatives in each bin, shape (2U + 1,)."""
        if self._sorts_negatives:
            return np.asarray(count_in_bins(self._sorted_classes[1], self.thresholds))
        n_bins = 2 * len(self.thresholds) + 1
        return np.bincount(self.negative_bin_index, self.negative_weights, n_bins).astype(np.float64)

    @cached_property
    def total_positive(self) -> float:
        """The weight of all positives."""
        weights = self.positive_weights
        return float(np.count_nonzero(self.is_positive) if weights is None else weights.sum())

    @cached_property
    def total_negative(self) -> float:
        """The weight of all negatives."""
        weights = self.negative_weights
        return float(np.count_nonzero(~self.is_positive) if weights is None else weights.sum())

    @cached_property
    def has_whole_weights(self) -> bool:
        """Whether rows weigh whole numbers, so that each stands for so many copies of itself."""
        return self.weights is None or bool((self.weights == np.floor(self.weights)).all())

    def around_best_negative(self) -> CutCounts:
        """Return the counts around the best negative of a weight that is not zero, without sorting."""
        scores, weights = self.negative_scores, self.negative_weights
        return self._around((scores if weights is None else scores[weights > 0.0]).max())

    def around_rank(self, k: float) -> CutCounts:
        """Return the counts around the row with which the list reaches the weight k."""
        if self.weights is not None:
            return super().around_rank(k)
        last = len(self.scores) - max(1, math.ceil(k))
        return self._around(np.partition(self.scores, last)[last])

    def _around(self, score: float) -> CutCounts:
        classes = (
            (self.positive_scores, self.positive_weights),
            (self.negative_scores, self.negative_weights),
        )
        found = []
        for compare in (np.greater, np.equal):
            for scores, weights in classes:
                mask = compare(scores, score)
                found.append(float(np.count_nonzero(mask) if weights is None else weights[mask].sum()))
        return CutCounts(*found)


def _bin_index(thresholds: Floats, scores: Floats) -> NDArray[np.int64]:
    """Return 2g for a score below threshold g and above g - 1, and 2g + 1 for one equal to threshold g."""
    bins = np.empty(len(scores), dtype=np.int64)
    map_chunks(
        lambda start, stop: find_bins(thresholds, scores[start:stop], bins[start:stop]),
        row_chunks(len(scores), SEARCH_COST),
    )
    return bins


def checked_scores(scores: NDArray[Any]) -> Floats:
    """Return finite scores as float64, or as their ranks where that would tie distinct ones."""
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
    """Return weights of all rows, checked, whose sum is within the range of floats."""
    weights = checked_weights(sample_weight, n_rows)
    with np.errstate(over="ignore"):
        total = 2.0 * weights.sum()  # sums in another order may be larger by their rounding
    if not np.isfinite(total):
        raise ValueError(
            f"sample_weight adds up beyond the range of floats (the largest is {weights.max():g}); divide "
            "all of them by a constant, which most measures do not see."
        )
    return weights


K_ROUNDING = 1e-9
"""A product such as 0.07 * 100 may exceed the whole number it stands for by this."""


def check_depth(k: Any, fraction: Any, fraction_of_positives: Any) -> None:
    """Raise unless one of the three ways to say how much of a list is looked at is given, and in its range.

    A k that is no integer is refused, for a share given as k has two meanings.
    """
    given = {"k": k, "fraction": fraction, "fraction_of_positives": fraction_of_positives}
    shares = {name: value for name, value in given.items() if value is not None}
    if len(shares) != 1:
        found = ", ".join(f"{name}={value!r}" for name, value in shares.items()) or "none of them"
        raise ValueError(
            "say how much of the list to look at by one of k (rows), fraction (of the rows) and "
            f"fraction_of_positives, got {found}."
        )
    if shares.pop("k", None) is not None:
        if isinstance(k, Real) and not isinstance(k, Integral):
            raise TypeError(
                f"k must be an integer, a number of rows, got {k!r}; in place of it pass a share as fraction "
                "(of the rows) or fraction_of_positives."
            )
        check_number("k", k, 1, integer=True)
    for name, share in shares.items():
        check_number(name, share, above=0.0, most=1.0)


def depth_in_rows(ranking: RankCounts, k: Any, fraction: Any, fraction_of_positives: Any) -> float:
    """Return the weight of the rows looked at, said in one of three ways."""
    check_depth(k, fraction, fraction_of_positives)
    if k is not None:
        if k > ranking.total:
            if not isinstance(ranking, Ranking):  # resamples of groups or weights are shorter or longer
                return ranking.total
            raise ValueError(
                f"k={k} must lie between 1 and the number (or weight) of the rows, {ranking.total:g}."
            )
        return float(k)
    if fraction is not None:
        return round_up_to_rows(float(fraction) * ranking.total, ranking)
    if ranking.has_whole_weights:
        return float(resolve_k(float(fraction_of_positives), False, ranking.total_positive))
    return float(fraction_of_positives) * ranking.total_positive


def round_up_to_rows(weight: float, ranking: RankCounts) -> float:
    """Return a weight of rows, rounded up where all rows weigh whole numbers: copies are not cut."""
    return float(math.ceil(weight * (1.0 - K_ROUNDING))) if ranking.has_whole_weights else weight


Parameters = ParamSpec("Parameters")
Metric = TypeVar("Metric", bound=Callable[..., Any])

METRICS: dict[str, Callable[..., Any]] = {}
"""The metrics that give a ranking one number, by name: those that can be resampled and made scorers."""

RANK_METRICS: list[Callable[..., Any]] = []  # a user's metric, looked up here, need not be hashable
"""Those of the order alone: they take :class:`RankCounts` in place of scores, so resamples need no sort."""


def register_metric(metric: Metric) -> Metric:
    """Enter a metric that gives a ranking one number, and fill shared paragraphs into its docstring."""
    METRICS[metric.__name__] = metric
    return shared_docs(metric)


def register_rank_metric(metric: Metric) -> Metric:
    """Enter a metric of the order alone."""
    RANK_METRICS.append(metric)
    return register_metric(metric)


def evaluate_metric(
    metric_of_ranking: Callable[Concatenate[Any, Parameters], float],
    y_true: ArrayLike,
    scores: ArrayLike | RankCounts,
    sample_weight: ArrayLike | None,
    pos_label: Any,
    *parameters: Parameters.args,
    **named: Parameters.kwargs,
) -> Any:
    """Return a metric of one ranking, or of each row of scores of shape (n_rankings, n).

    Labels and weights are checked once, and many rankings are measured in threads.
    """
    if isinstance(scores, RankCounts):
        if sample_weight is not None or pos_label is not None:
            raise ValueError("rows are checked and weighted already: give sample_weight and pos_label there.")
        return metric_of_ranking(scores, *parameters, **named)
    if not are_many_rankings(scores):
        return metric_of_ranking(Ranking(y_true, scores, sample_weight, pos_label), *parameters, **named)
    table = np.asarray(scores)
    if table.ndim == 2 and table.shape[1] != _num_samples(y_true):
        raise ValueError(
            f"scores must hold one for each of {_num_samples(y_true)} rows, or a row for each of several "
            f"rankings, found shape {table.shape}; of predict_proba pass the column [:, 1]."
        )
    first = Ranking(y_true, table[0], sample_weight, pos_label)
    rankings = [first, *(first.with_scores(row) for row in table[1:])]
    return np.array(
        map_chunks(
            lambda r, _: metric_of_ranking(rankings[r], *parameters, **named),
            [(r, r + 1) for r in range(len(rankings))],
        )
    )


def are_many_rankings(scores: ArrayLike) -> bool:
    """Return whether the scores are a table with a row for each ranking; a single column is one ranking."""
    shape = np.shape(scores)
    return len(shape) == 2 and shape[0] > 0 and shape[1] != 1
