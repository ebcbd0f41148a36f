"""The stratified bootstrap of a ranked list.

A resample draws rows with replacement within each class, and is stored as the number of times that each row
was drawn. Rows are sorted once; a metric of the order then reads these counts in the order of the list, and
no row is copied or sorted again.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import compress, count, pairwise
from numbers import Real
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import check_random_state

from pushrank._base.numeric import Floats
from pushrank._base.parallel import compiled, map_chunks, one_blas_thread
from pushrank._base.user_types import Seed
from pushrank.metrics._counts import RankCounts
from pushrank.metrics._ranking import Ranking
from pushrank.metrics._registry import BoundMetric

_compiled = compiled()

# Steele, Lea and Flood, *Fast splittable pseudorandom number generators*, OOPSLA 2014
GOLDEN_GAMMA = np.uint64(0x9E3779B97F4A7C15)
FIRST_MIX = np.uint64(0xBF58476D1CE4E5B9)
SECOND_MIX = np.uint64(0x94D049BB133111EB)
LOW_HALF = np.uint64(0xFFFFFFFF)
HALF = np.uint64(32)


@_compiled
def draw_counts(seed, counts, not_drawn=0):
    """Draw as many rows as there are, or fewer, with replacement, and write how often each was drawn."""
    # The generator is SplitMix64, each 64 bits of which draw two rows: NumPy's take two to six times as long
    # (`benchmarks/resampling.txt`). A row number is the upper half of a product (Lemire, *Fast random
    # integer generation in an interval*, 2019). A byte holds every count: the chance of one above 255 is
    # below n / 256!, which is 1e-500.
    n = np.uint64(len(counts))
    unfair = (LOW_HALF - n + np.uint64(1)) % n
    counts[:] = 0
    state = np.uint64(seed)
    drawn, n_drawn = 0, len(counts) - not_drawn
    while drawn < n_drawn:
        state += GOLDEN_GAMMA
        bits = state
        bits = (bits ^ (bits >> np.uint64(30))) * FIRST_MIX
        bits = (bits ^ (bits >> np.uint64(27))) * SECOND_MIX
        bits = bits ^ (bits >> np.uint64(31))
        for product in ((bits & LOW_HALF) * n, (bits >> HALF) * n):
            if (product & LOW_HALF) >= unfair and drawn < n_drawn:
                counts[product >> HALF] += np.uint8(1)
                drawn += 1


@_compiled
def sum_in_order(counts, ends, sums):
    """Write the sum of the counts of each run of rows; a run ends before the row in ``ends``."""
    row = 0
    for run in range(len(ends)):
        total = 0
        while row < ends[run]:
            total += counts[row]
            row += 1
        sums[run] = total


@_compiled
def sum_by_rows(counts, rows, weights, ends, sums):
    """Write the weighted sum of the counts of each run of a list of rows."""
    i = 0
    for run in range(len(ends)):
        total = 0.0
        while i < ends[run]:
            row = rows[i]
            total += counts[row] * (weights[row] if len(weights) else 1.0)
            i += 1
        sums[run] = total


# Enough work for a thread, and few enough that all threads end together.
RESAMPLES_PER_TASK = 16
# The number of blocks of rows, in each class, that count twice in turn; with fewer rows each is a block.
JACKKNIFE_BLOCKS = 200

DEFAULT_RESAMPLES = 2000
MIN_DEFAULT_RESAMPLES = 200
# The default number of resamples is such that this many rows are drawn in all, which takes some seconds.
MAX_ROWS_DRAWN = 200_000_000

RowCounts = NDArray[np.uint8]


class BinnedRows:
    """The rows of one class by the bin (or threshold) that they are in."""

    # `rows` lists their numbers, bin after bin, and `ends` the number of rows to the end of each bin.
    # Rows that differ only by their bins may be numbered in that order; then `rows` is None.

    def __init__(
        self, ends: NDArray[np.int64], rows: NDArray[np.intp] | None = None, weights: Floats | None = None
    ) -> None:
        self.ends, self.rows = ends, rows
        self.weights = np.empty(0) if weights is None else weights

    @classmethod
    def from_index(cls, index: NDArray[np.int64], n_bins: int, weights: Floats | None) -> BinnedRows:
        """Sort rows by the number of their bin, once."""
        ends = np.cumsum(np.bincount(index, minlength=n_bins))
        return cls(ends, np.argsort(index, kind="stable"), weights)

    def totals(self, counts: RowCounts) -> Floats:
        """Return the weight in each bin if rows are drawn ``counts`` times."""
        sums = np.empty(len(self.ends))
        if self.rows is None:
            sum_in_order(counts, self.ends, sums)
        else:
            sum_by_rows(counts, self.rows, self.weights, self.ends, sums)
        return sums


class StratifiedBootstrap:
    """Rankings of the same labelled and weighted rows, to be evaluated on resamples that they share."""

    # The values have a column for each metric of the first ranking, then of the next. Rows are drawn within
    # each class; if the rankings have groups, whole groups are, those with a positive apart from the others.

    # Of each stratum as many are drawn as there are, but for `not_drawn`.

    def __init__(
        self, rankings: Sequence[Ranking], metrics: Sequence[BoundMetric], not_drawn: Sequence[int] = (0, 0)
    ) -> None:
        self.rankings, self.metrics, self._not_drawn = rankings, metrics, not_drawn
        self.n_columns = len(rankings) * len(metrics)
        first = rankings[0]
        self.n_positive = int(np.count_nonzero(first.is_positive))
        self.n_negative = len(first.is_positive) - self.n_positive
        self.strata = [self.n_positive, self.n_negative]
        # The number of the group of each positive and of each negative, in the order of the strata.
        self._units: list[NDArray[np.intp]] | None = None
        if first.groups is not None:
            has_positive = np.bincount(first.groups, first.is_positive) > 0.0
            self.strata = [int(np.count_nonzero(mask)) for mask in (has_positive, ~has_positive)]
            units = np.argsort(np.argsort(~has_positive, kind="stable"))[first.groups]
            self._units = [units[first.is_positive], units[~first.is_positive]]
        self._binned: list[tuple[BinnedRows, BinnedRows, BinnedRows | None]] | None = None
        if not any(metric.spec.uses_scores for metric in metrics):
            numbered_in_order = len(rankings) == 1 and first.weights is None and first.groups is None
            self._binned = [_binned_classes(r, numbered_in_order=numbered_in_order) for r in rankings]

    def evaluate_data(self) -> list[float]:
        """Return the values of every ranking on the rows themselves."""
        if self._binned is not None:
            return [metric.call(None, ranking) for ranking in self.rankings for metric in self.metrics]
        return self.evaluate_counts(*(np.ones(n, dtype=np.uint8) for n in (self.n_positive, self.n_negative)))

    def evaluate_resamples(self, n_resamples: int, random_state: Seed) -> Floats:
        """Return the values on every resample, shape (n_resamples, n_columns); each has its own seed."""
        largest = np.iinfo(np.uint64).max
        seeds = check_random_state(random_state).randint(largest, size=(n_resamples, 2), dtype=np.uint64)

        def task(start: int, stop: int) -> Floats:
            counts = [np.empty(n, dtype=np.uint8) for n in self.strata]
            values = np.empty((stop - start, self.n_columns))
            for resample in range(start, stop):
                values[resample - start] = self.evaluate_counts(*self._draw(seeds[resample], counts))
            return values

        cuts = [*range(0, n_resamples, RESAMPLES_PER_TASK), n_resamples]
        # The threads of BLAS would compete with ours.
        with one_blas_thread():
            return np.concatenate(map_chunks(task, list(pairwise(cuts))))

    def positive_jackknife(self, random_state: Seed) -> list[Floats]:
        """Return the values with one block of rows, or groups, at a time counted twice, for each stratum."""
        # Unlike leaving blocks out, that is possible with a single positive, or for the precision at the last
        # rank. Blocks are random and of nearly equal size, so that a long list costs as much as a short one.
        random = check_random_state(random_state)
        ones = [np.ones(n, dtype=np.uint8) for n in self.strata]
        values_by_class = []
        for c, n_rows in enumerate(self.strata):
            # If every group holds a positive, the other stratum is empty.
            if n_rows == 0:
                continue
            blocks = np.array_split(random.permutation(n_rows), min(n_rows, JACKKNIFE_BLOCKS))
            values = np.empty((len(blocks), self.n_columns))
            for b, block in enumerate(blocks):
                counts = [n.copy() if other == c else n for other, n in enumerate(ones)]
                counts[c][block] = 2
                values[b] = self.evaluate_counts(*self._row_counts(counts))
            values_by_class.append(values)
        return values_by_class

    def _draw(self, seeds: NDArray[np.uint64], counts: list[RowCounts]) -> list[RowCounts]:
        """Return how often each positive and each negative is drawn; both classes are drawn at least once."""
        for attempt in count():
            for seed, drawn, left in zip(seeds, counts, self._not_drawn, strict=True):
                if len(drawn):
                    draw_counts(seed ^ np.uint64(attempt), drawn, left)
            drawn_rows = self._row_counts(counts)
            if self._units is None or drawn_rows[1].any():
                break
        return drawn_rows

    def _row_counts(self, counts: list[RowCounts]) -> list[RowCounts]:
        """Return how often each positive and each negative is drawn, from the counts of the strata."""
        if self._units is None:
            return counts
        drawn = np.concatenate(counts)
        return [drawn[units] for units in self._units]

    def evaluate_counts(self, positive: RowCounts, negative: RowCounts) -> list[float]:
        """Return the values of every ranking if each row is drawn so often."""
        first = self.rankings[0]
        if self._binned is not None:
            resampled = (
                RankCounts(
                    positives.totals(positive),
                    negatives.totals(negative),
                    first.has_whole_weights,
                    None if values is None else values.totals(positive),
                )
                for positives, negatives, values in self._binned
            )
            return [metric.call(None, counts) for counts in resampled for metric in self.metrics]
        counts = np.empty(len(first.is_positive), dtype=np.uint8)
        counts[first.is_positive], counts[~first.is_positive] = positive, negative
        rows = np.repeat(np.arange(len(counts)), counts)
        weights = {} if first.weights is None else {"sample_weight": first.weights[rows]}
        return [
            _as_float(metric.call(first.is_positive[rows], ranking.scores[rows], **weights), metric)
            for ranking in self.rankings
            for metric in self.metrics
        ]


def with_outer_row(ranking: Ranking, is_small: Sequence[bool], *, best: bool) -> Ranking:
    """Return a ranking with one more row of each small class, at the best or the worst end of the list."""
    # It has the largest weight and value of its class, and stands for a group of mean size.
    for is_positive in compress((True, False), is_small):
        above, of_class, n_copies = is_positive == best, ranking.is_positive == is_positive, 1
        end, beyond = (ranking.scores.max(), np.inf) if above else (ranking.scores.min(), -np.inf)
        # The largest float has no neighbour, and the new row ties with it.
        new = {"is_positive": is_positive, "scores": np.nan_to_num(np.nextafter(end, beyond))}
        of_rows = {"weights": ranking.weights, "value": ranking.value}
        new |= {name: rows[of_class].max() for name, rows in of_rows.items() if rows is not None}
        if ranking.groups is not None:
            new["groups"] = ranking.groups.max() + 1
            n_copies = round(of_class.sum() / len(np.unique(ranking.groups[of_class])))
        rows = {name: np.append(vars(ranking)[name], [row] * n_copies) for name, row in new.items()}
        ranking = ranking._with(**rows)
    return ranking


def _binned_classes(
    ranking: Ranking, *, numbered_in_order: bool
) -> tuple[BinnedRows, BinnedRows, BinnedRows | None]:
    """Return the positives by threshold, the negatives by bin, and the positives' values by threshold."""
    n, values = len(ranking.thresholds), None
    if ranking.weighted_values is not None:
        values = BinnedRows.from_index(ranking.positive_threshold_index, n, ranking.weighted_values)
    if numbered_in_order:
        counts = ranking.positive_counts, ranking.negative_counts
        positives, negatives = (BinnedRows(np.cumsum(c.astype(np.int64))) for c in counts)
        if values is not None and values.rows is not None:
            values.weights, values.rows = values.weights[values.rows], np.arange(len(values.rows))
        return positives, negatives, values
    positives = BinnedRows.from_index(ranking.positive_threshold_index, n, ranking.positive_weights)
    negatives = BinnedRows.from_index(ranking.negative_bin_index, 2 * n + 1, ranking.negative_weights)
    return positives, negatives, values


def _as_float(value: Any, metric: BoundMetric) -> float:
    """Return the value of a metric as a float; anything but one number is a TypeError."""
    if isinstance(value, Real) or (hasattr(value, "__float__") and getattr(value, "ndim", None) == 0):
        return float(value)
    what = type(value).__name__
    if getattr(value, "ndim", 0):
        what += f" of shape {tuple(value.shape)}"
    raise TypeError(f"a metric must return one number for one ranking; {metric.spec.name} returned {what}.")


def default_n_resamples(n_rows: int) -> int:
    """Return the default number of resamples: fewer for a long list, whose metrics vary less."""
    return int(np.clip(MAX_ROWS_DRAWN // n_rows, MIN_DEFAULT_RESAMPLES, DEFAULT_RESAMPLES))
