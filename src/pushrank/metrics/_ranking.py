"""The order that scores give to labelled rows: the door through which a caller's arrays are checked.

The thresholds of a ranking are the distinct scores of its positives. Every metric of the order alone follows
from the weight of the positives at each threshold and the weight of the negatives in each bin, at or between
thresholds: true and false positives per distinct score.
"""

import math
from collections.abc import Sequence
from functools import cached_property
from numbers import Integral, Real
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils import check_consistent_length

from pushrank._base.numeric import Floats
from pushrank._base.parallel import CHUNK_ELEMENTS, compiled, map_chunks, row_chunks, sum_chunks
from pushrank._base.user_types import Label
from pushrank._base.validation import (
    check_number,
    checked_scores,
    checked_weights,
    column,
    finite_numbers,
    group_numbers,
    positive_mask,
    resolve_k,
    warn_of_other_order,
)
from pushrank.budgets import Budget
from pushrank.metrics._counts import CutCounts, RankCounts

# This many binary searches advance together: enough to keep vector registers and memory busy.
SEARCH_BATCH = 64
# The cost of the search for one row, in elements read: it keeps a chunk of searches worth a thread.
SEARCH_COST = 64
# The same for a row that is sorted with its chunk and merged with the thresholds.
SORT_COST = 16


@compiled()
def find_bins(thresholds, scores, bins):
    """Write the bin of each score: 2g between thresholds g - 1 and g, 2g + 1 at threshold g."""
    # A binary search without branches, which takes a block of scores together, so that their waits for memory
    # overlap; `numpy.searchsorted` takes ten times as long.
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


@compiled()
def count_in_bins(ascending, thresholds, counts):
    """Count the ascending scores in each bin of the thresholds, and return the counts."""
    g = 0
    for score in ascending:
        while g < len(thresholds) and thresholds[g] < score:
            g += 1
        tied = g < len(thresholds) and thresholds[g] == score
        counts[2 * g + tied] += 1.0
    return counts


class Ranking(RankCounts):
    """The order that scores give to positives and negatives, with ties."""

    # Its arguments are those of every metric and are checked here, once. `scores` become ranks where
    # float64 would merge distinct ones (integers beyond 2^53). Thresholds, bins and counts cost O(n log n)
    # when first asked for.

    is_resample: ClassVar[bool] = False

    def __init__(
        self,
        y_true: ArrayLike,
        scores: ArrayLike,
        sample_weight: ArrayLike | None = None,
        pos_label: Label | None = None,
    ) -> None:
        warn_of_other_order(y_true=y_true, scores=scores, sample_weight=sample_weight)
        self.scores = checked_scores(scores)
        self.is_positive = positive_mask(y_true, pos_label)
        check_consistent_length(self.is_positive, self.scores)
        self.value: Floats | None = None
        self.groups: NDArray[np.intp] | None = None
        n_rows = len(self.is_positive)
        self.weights = None if sample_weight is None else summable_weights(sample_weight, n_rows)
        for weights, name in ((self.positive_weights, "positive"), (self.negative_weights, "negative")):
            if weights is not None and not weights.any():
                raise ValueError(f"sample_weight is zero for every {name} row; ranking needs both classes.")

    def _with(self, **changed: object) -> Self:
        """Return a ranking with other rows or scores, and without the counts that were kept."""
        other = object.__new__(type(self))
        kept = {name: vars(self)[name] for name in ("is_positive", "scores", "weights", "value", "groups")}
        vars(other).update(kept | changed)
        check_consistent_length(other.is_positive, other.scores, other.value, other.groups)
        return other

    def with_scores(self, scores: ArrayLike) -> Self:
        """Return the ranking of the same labelled and weighted rows by other scores."""
        return self._with(scores=checked_scores(scores))

    def with_value(self, value: ArrayLike) -> Self:
        """Return the ranking with a finite value for each row."""
        return self._with(value=finite_numbers(column(value, "value"), "value"))

    def with_groups(self, groups: ArrayLike) -> Self:
        """Return the ranking with the number of each row's group; resamples draw whole groups."""
        numbers = group_numbers(groups, self.n_rows, "groups")
        if not numbers.any():
            raise ValueError("groups are all the same, and one alone says nothing of others; leave them out.")
        return self._with(groups=numbers)

    def without_weightless_rows(self) -> Self:
        """Return the ranking of the rows whose weight is not zero."""
        if self.weights is None or self.weights.all():
            return self
        names = ("is_positive", "scores", "weights", "value", "groups")
        kept = {name: rows[self.weights > 0.0] for name in names if (rows := vars(self)[name]) is not None}
        ranking = self._with(**kept)
        return ranking if ranking.groups is None else ranking.with_groups(ranking.groups)

    @cached_property
    def positive_scores(self) -> Floats:
        """The scores of the positives, in row order."""
        # Indexing by row numbers is faster than by the mask.
        return self.scores[np.flatnonzero(self.is_positive)]

    @cached_property
    def negative_scores(self) -> Floats:
        """The scores of the negatives, in row order."""
        return self.scores[np.flatnonzero(~self.is_positive)]

    @cached_property
    def positive_weights(self) -> Floats | None:
        """The weights of the positives, in row order, or None if there are no weights."""
        return None if self.weights is None else self.weights[self.is_positive]

    @cached_property
    def negative_weights(self) -> Floats | None:
        """The weights of the negatives, in row order, or None if there are no weights."""
        return None if self.weights is None else self.weights[~self.is_positive]

    @property
    def row_weights(self) -> Floats:
        """The weight of each row: one if there are no weights."""
        return np.ones(self.n_rows) if self.weights is None else self.weights

    @property
    def n_rows(self) -> int:
        """The number of rows, whatever they weigh."""
        return len(self.scores)

    @property
    def thresholds(self) -> Floats:
        """The distinct scores of the positives, ascending, shape (U,)."""
        return self._thresholds_and_counts[0]

    @cached_property
    def _thresholds_and_counts(self) -> tuple[Floats, Floats]:
        thresholds, counts = np.unique(self.positive_scores, return_counts=True)
        return thresholds, counts.astype(np.float64)

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
        return self._at_thresholds(self.positive_weights)

    def _at_thresholds(self, weights: Floats) -> Floats:
        """Return the sum of the positives' weights at each threshold."""
        index = self.positive_threshold_index
        return np.bincount(index, weights, len(self.thresholds)).astype(np.float64)

    @cached_property
    def weighted_values(self) -> Floats | None:
        """The value of each positive times its weight, in row order, or None if rows have no value."""
        if self.value is None:
            return None
        values = self.value[self.is_positive]
        return values if self.positive_weights is None else values * self.positive_weights

    @property
    def positive_values(self) -> Floats | None:
        """The weighted value of the positives at each threshold, shape (U,), or None if rows have none."""
        return None if self.weighted_values is None else self._at_thresholds(self.weighted_values)

    @cached_property
    def negative_counts(self) -> Floats:
        """The weight of the negatives in each bin, shape (2U + 1,)."""
        scores, thresholds = self.negative_scores, self.thresholds
        if self.weights is not None:
            n_bins = 2 * len(thresholds) + 1
            return np.bincount(self.negative_bin_index, self.negative_weights, n_bins).astype(np.float64)
        # Every chunk has a count for each bin, so chunks are at least as long as there are thresholds.
        cost = min(SORT_COST, CHUNK_ELEMENTS / len(thresholds))

        def counts(start: int, stop: int) -> Floats:
            zeros = np.zeros(2 * len(thresholds) + 1)
            return np.asarray(count_in_bins(np.sort(scores[start:stop]), thresholds, zeros))

        return sum_chunks(counts, row_chunks(len(scores), cost))

    @cached_property
    def total_positive(self) -> float:
        weights = self.positive_weights
        return float(np.count_nonzero(self.is_positive) if weights is None else weights.sum())

    @cached_property
    def total_negative(self) -> float:
        weights = self.negative_weights
        return float(np.count_nonzero(~self.is_positive) if weights is None else weights.sum())

    @cached_property
    def has_whole_weights(self) -> bool:
        """Whether all weights are whole numbers, so that each row stands for that many copies."""
        return self.weights is None or bool((self.weights == np.floor(self.weights)).all())

    def effective_number(self, counted: NDArray[np.bool_]) -> float:
        """Return Kish's effective number of some rows, or of their groups."""
        weights = self.row_weights[counted]
        if self.groups is not None:
            weights = np.bincount(self.groups[counted], weights).astype(np.float64)
        return float(weights.sum() ** 2 / (weights @ weights))

    def around_best_negative(self) -> CutCounts:
        """Return the counts around the best negative whose weight is not zero, without sorting."""
        scores, weights = self.negative_scores, self.negative_weights
        return self._around((scores if weights is None else scores[weights > 0.0]).max())

    def around_rank(self, k: float) -> CutCounts:
        if self.weights is not None:
            return super().around_rank(k)
        last = len(self.scores) - max(1, math.ceil(k))
        return self._around(np.partition(self.scores, last)[last])

    def shares_in_top(self, k: float) -> Floats:
        """Return the weight with which each row is among the first rows of weight k; tied rows share it."""
        weights = self.row_weights
        order = np.argsort(-self.scores, kind="stable")
        last = min(int(np.searchsorted(np.cumsum(weights[order]), k)), len(order) - 1)
        threshold = self.scores[order[last]]
        tied = self.scores == threshold
        room = k - weights[self.scores > threshold].sum()
        share = np.where(tied, min(room / weights[tied].sum(), 1.0), self.scores > threshold)
        return np.asarray(weights * share)

    def _around(self, score: float) -> CutCounts:
        sums = []
        for mask in (self.scores > score, self.scores == score):
            for of_class in (mask & self.is_positive, mask & ~self.is_positive):
                counted = np.count_nonzero(of_class) if self.weights is None else self.weights[of_class].sum()
                sums.append(float(counted))
        return CutCounts(*sums)


def checked_rankings(
    y_true: ArrayLike,
    all_scores: Sequence[ArrayLike],
    sample_weight: ArrayLike | None,
    pos_label: Label | None,
    value: ArrayLike | None = None,
    groups: ArrayLike | None = None,
) -> list[Ranking]:
    """Return the rankings of the same rows by several scores, checked, without rows of weight zero."""
    first = Ranking(y_true, all_scores[0], sample_weight, pos_label)
    first = first if value is None else first.with_value(value)
    first = first if groups is None else first.with_groups(groups)
    rankings = [first, *(first.with_scores(scores) for scores in all_scores[1:])]
    return [ranking.without_weightless_rows() for ranking in rankings]


def scores_by_name(scores: Any) -> dict[str, ArrayLike]:
    """Return the scores of each model by its name, from a mapping, a data frame or one array."""
    # A series has items too, but these are its rows.
    is_table = getattr(scores, "ndim", 2) == 2 and hasattr(scores, "items")
    pairs = list(scores.items()) if is_table else [("scores", scores)]
    names = [str(name) for name, _ in pairs]
    if not names or len(set(names)) < len(names):
        found = f"found {names}" if names else "found none"
        raise ValueError(f"scores must hold those of at least one model, each by a different name, {found}.")
    return dict(zip(names, (values for _, values in pairs), strict=True))


def _bin_index(thresholds: Floats, scores: Floats) -> NDArray[np.int64]:
    """Return 2g for a score below threshold g and above g - 1, and 2g + 1 for one equal to threshold g."""
    bins = np.empty(len(scores), dtype=np.int64)
    map_chunks(
        lambda start, stop: find_bins(thresholds, scores[start:stop], bins[start:stop]),
        row_chunks(len(scores), SEARCH_COST),
    )
    return bins


def summable_weights(sample_weight: ArrayLike, n_rows: int) -> Floats:
    """Return the checked weights of all rows; their sum is within the range of floats."""
    weights = checked_weights(sample_weight, n_rows)
    with np.errstate(over="ignore"):
        # A sum in another order may be larger by its rounding, hence the factor.
        total = 2.0 * weights.sum()
    if not np.isfinite(total):
        raise ValueError(
            f"sample_weight adds up beyond the range of floats (the largest is {weights.max():g}); divide "
            "all of them by a constant, which most measures do not see."
        )
    return weights


DEPTHS = ("k", "fraction", "fraction_of_positives")
K_ROUNDING = 1e-9
"""The relative rounding by which a product such as 0.07 * 100 may exceed a whole number."""


def check_depth(
    k: object = None, fraction: object = None, fraction_of_positives: object = None, *, name_of_k: str = "k"
) -> None:
    """Raise unless exactly one of the three ways to limit the list is set, and in its range."""
    # A k that is no integer is refused, as a share passed as k could be one of the rows or of the positives.
    depth = zip((name_of_k, *DEPTHS[1:]), (k, fraction, fraction_of_positives), strict=True)
    shares: dict[str, Any] = {name: value for name, value in depth if value is not None}
    if len(shares) != 1:
        found = ", ".join(f"{name}={value!r}" for name, value in shares.items()) or "none of them"
        raise ValueError(
            f"say how much of the list to look at by one of {name_of_k} (rows), fraction (of the rows) "
            f"and fraction_of_positives, got {found}."
        )
    if shares.pop(name_of_k, None) is not None:
        refuse_periods(k, "measure_periods(y_true, scores, budget=..., time=...)")
        if isinstance(k, Real) and not isinstance(k, Integral):
            raise TypeError(
                f"{name_of_k} must be an integer, a number of rows, got {k!r}; in place of it pass a share "
                "as fraction (of the rows) or fraction_of_positives."
            )
        check_number(name_of_k, k, 1, integer=True)
    for name, share in shares.items():
        check_number(name, share, above=0.0, most=1.0)


def refuse_periods(k: object, instead: str) -> None:
    """Raise TypeError where the number of first rows is a budget by period, and say what takes one."""
    if isinstance(k, Budget):
        raise TypeError(f"k must be a number of rows of the whole list, got {k!r}; by period use {instead}.")


def depth_in_rows(
    ranking: RankCounts,
    k: float | None = None,
    fraction: float | None = None,
    fraction_of_positives: Any = None,
) -> float:
    """Return the weight of the rows looked at, which is set in one of three ways."""
    check_depth(k, fraction, fraction_of_positives)
    if k is not None:
        if k <= ranking.total:
            return float(k)
        if ranking.is_resample:
            return ranking.total
        raise ValueError(f"k={k} must lie between 1 and the number or weight of rows, {ranking.total:g}.")
    if fraction is not None:
        return round_up_to_rows(float(fraction) * ranking.total, ranking)
    if ranking.has_whole_weights:
        return float(resolve_k(float(fraction_of_positives), False, ranking.total_positive))
    return float(fraction_of_positives) * ranking.total_positive


def round_up_to_rows(weight: float, ranking: RankCounts) -> float:
    """Return a weight of rows, rounded up if all weights are whole: a row is not cut then."""
    return float(math.ceil(weight * (1.0 - K_ROUNDING))) if ranking.has_whole_weights else weight
