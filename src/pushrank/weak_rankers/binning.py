"""Bins of features: thresholds between quantiles, categories by frequency, and the bins of all entries."""

from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from pushrank._base.numeric import Floats
from pushrank._base.parallel import compiled, map_chunks, read_only, row_chunks
from pushrank._base.user_types import Matrix
from pushrank.weak_rankers.base import Numbers

Bins = NDArray[np.uint8]
N_BINS = 256
"""Bins of a feature, as many as a byte can number, with the one for missing values."""
MISSING = 255
"""The bin of a missing value."""
# A block of this number of rows stays in the cache while one feature after another is read.
BLOCK_ROWS = 512
# Quantiles of a sample of this size are off by less than half the weight of a bin.
MAX_ROWS = 200_000


@compiled()
def bin_ends(weights, max_bins):
    """Return the index of the last value in each bin but the last, for ascending values of these weights."""
    # A value as heavy as a bin has its own bin, and the other values share the bins that are left.
    n_values = len(weights)
    # Sums of the same weights in another order differ by rounding, which must not move a boundary.
    slack = 1.0 - 1e-12
    is_heavy, rest, bins_left = np.empty(n_values, dtype=np.bool_), 0.0, max_bins
    for i in range(n_values):
        is_heavy[i] = False
        rest += weights[i]
    # A heavy value leaves less weight per bin to the others, which can make further values heavy.
    more_heavy = True
    while more_heavy and bins_left > 1:
        more_heavy = False
        aim = rest / bins_left * slack
        for i in range(n_values):
            if not is_heavy[i] and weights[i] >= aim and bins_left > 1:
                is_heavy[i] = more_heavy = True
                rest -= weights[i]
                bins_left -= 1
    ends = np.empty(max_bins, dtype=np.int64)
    n_ends, filled = 0, 0.0
    for i in range(n_values - 1):
        filled += weights[i]
        if not is_heavy[i]:
            rest -= weights[i]
        # Bins fill up unevenly, so the aim for the next one is the mean over those that are left.
        aim = (rest + (0.0 if is_heavy[i] else filled)) / bins_left * slack
        # A bin that is at least half full ends before a heavy value, which would otherwise join it.
        if is_heavy[i] or filled >= aim or (is_heavy[i + 1] and filled >= 0.5 * aim):
            ends[n_ends] = i
            n_ends += 1
            if not is_heavy[i]:
                bins_left = max(bins_left - 1, 1)
            filled = 0.0
            if n_ends == max_bins - 1:
                break
    return ends[:n_ends]


@compiled()
def bin_rows(X, thresholds, start, stop, bins):
    """Write the number of thresholds, padded to 256 by infinity, below each entry; 255 for NaN."""
    for top in range(start, stop, BLOCK_ROWS):
        bottom = min(top + BLOCK_ROWS, stop)
        for feature in range(X.shape[1]):
            feature_thresholds = thresholds[feature]
            for row in range(top, bottom):
                x = X[row, feature]
                n_below = 0
                # Eight halvings of 256 entries take no branch, so the loop has no mispredictions.
                for half in (128, 64, 32, 16, 8, 4, 2, 1):
                    n_below += half * (feature_thresholds[n_below + half - 1] < x)
                bins[feature, row] = n_below if x == x else 255


def sampled_rows(n_rows: int, row_weights: Floats | None, random_state: np.random.RandomState) -> Numbers:
    """Return the ascending numbers of the rows of positive weight, or of ``MAX_ROWS`` drawn from them."""
    rows = np.arange(n_rows) if row_weights is None else np.flatnonzero(row_weights)
    if len(rows) > MAX_ROWS:
        rows = np.sort(random_state.choice(rows, MAX_ROWS, replace=False))
    return rows


def quantile_thresholds(values: Floats, weights: Floats | None, max_bins: int) -> Floats:
    """Return ascending thresholds between at most ``max_bins`` bins of about equal weight."""
    # With no more distinct values than bins, a threshold lies midway between each two neighbours. A value
    # that many rows share has its own bin.
    present = ~np.isnan(values)
    if weights is None:
        distinct, counts = np.unique(values[present], return_counts=True)
        distinct_weights: Floats = counts.astype(np.float64)
    else:
        distinct, inverse = np.unique(values[present], return_inverse=True)
        distinct_weights = np.bincount(inverse, weights[present], minlength=len(distinct)).astype(np.float64)
    if len(distinct) < 2:
        return np.zeros(0)
    last_in_bin: NDArray[np.integer] = np.arange(len(distinct) - 1)
    if len(distinct) > max_bins:
        last_in_bin = bin_ends(distinct_weights, max_bins)
    lower: Floats = distinct[last_in_bin].astype(np.float64)
    upper: Floats = distinct[last_in_bin + 1].astype(np.float64)
    # Values are halved before they are added, since the sum of two large ones may overflow.
    middle = 0.5 * lower + 0.5 * upper
    # Two neighbouring floats have no middle, and the lower one separates them as well.
    return np.where((middle >= lower) & (middle < upper), middle, lower)


def categories_by_frequency(values: Floats, weights: Floats | None, max_bins: int) -> Floats:
    """Return the ``max_bins`` most frequent categories, the most frequent first, ties by value."""
    present = ~np.isnan(values)
    distinct, inverse = np.unique(values[present], return_inverse=True)
    present_weights = None if weights is None else weights[present]
    frequency = np.bincount(inverse, present_weights, minlength=len(distinct))
    kept: Floats = distinct[np.lexsort((distinct, -frequency))][:max_bins]
    return kept.astype(np.float64)


def dense_column(X: Any, feature: int) -> Floats:
    """Return a column as a float64 array."""
    column = X[:, [feature]].toarray().ravel() if sp.issparse(X) else X[:, feature]
    return np.asarray(column, dtype=np.float64)


def stored_column(X: sp.spmatrix, feature: int) -> tuple[Numbers, Floats]:
    """Return the rows and the values of the stored entries of a CSC column."""
    stored = slice(X.indptr[feature], X.indptr[feature + 1])
    return X.indices[stored], X.data[stored].astype(np.float64)


class WeightedColumns:
    """The columns of some rows as values with weights."""

    def __init__(self, X: Any, weights: Floats | None) -> None:
        self._X = X.tocsc() if sp.issparse(X) else X
        self._weights = weights
        self._total = float(X.shape[0] if weights is None else weights.sum())

    def column(self, feature: int) -> tuple[Floats, Floats | None]:
        """Return the values and the weights of a column, or None for weights of one."""
        if not sp.issparse(self._X):
            return dense_column(self._X, feature), self._weights
        rows, values = stored_column(self._X, feature)
        value_weights = np.ones(len(rows)) if self._weights is None else self._weights[rows]
        # All the zeros of a sparse column are one value with the weight of the rows that are not stored.
        if len(rows) < self._X.shape[0]:
            values = np.append(values, 0.0)
            value_weights = np.append(value_weights, self._total - value_weights.sum())
        return values, value_weights


def dense_bins(
    X: Matrix, thresholds: list[Floats], categories: list[Floats | None], n_threads: int | None
) -> Bins:
    """Return the bins of all entries, shape (n_features, n_rows): how many thresholds lie below the entry."""
    # 255 stands for a missing value, and for a category that is not among those of a categorical feature.
    n_rows, n_features = X.shape
    bins = np.empty((n_features, n_rows), dtype=np.uint8)
    padded = np.full((n_features, N_BINS), np.inf)
    for feature, feature_thresholds in enumerate(thresholds):
        padded[feature, : len(feature_thresholds)] = feature_thresholds
    entries = read_only(X)
    map_chunks(
        lambda start, stop: bin_rows(entries, padded, start, stop, bins),
        row_chunks(n_rows, n_features),
        n_threads,
    )
    for feature, feature_categories in enumerate(categories):
        if feature_categories is not None:
            bins[feature] = category_bins(dense_column(X, feature), feature_categories)
    return bins


def sparse_bins(
    X: sp.spmatrix, thresholds: list[Floats], categories: list[Floats | None]
) -> tuple[Bins, Bins]:
    """Return the bins of the stored entries of a CSC matrix, and that of zero for every feature."""
    bins, zero_bins = np.empty(X.nnz, dtype=np.uint8), np.empty(X.shape[1], dtype=np.uint8)
    for feature, (cuts, feature_categories) in enumerate(zip(thresholds, categories, strict=True)):
        # Zero is binned as a further entry of the column.
        values = np.append(stored_column(X, feature)[1], 0.0)
        if feature_categories is None:
            column_bins = np.where(np.isnan(values), MISSING, np.searchsorted(cuts, values))
        else:
            column_bins = category_bins(values, feature_categories)
        bins[X.indptr[feature] : X.indptr[feature + 1]] = column_bins[:-1]
        zero_bins[feature] = column_bins[-1]
    return bins, zero_bins


def category_bins(values: Floats, categories: Floats) -> Bins:
    """Return the index of each value among the categories; 255 for another value or a missing one."""
    order = np.append(np.argsort(categories), MISSING)
    # NaN at the end equals nothing, so a value that belongs behind all categories is missing.
    ascending = np.append(np.sort(categories), np.nan)
    nearest = np.searchsorted(ascending, values)
    return np.where(ascending[nearest] == values, order[nearest], MISSING).astype(np.uint8)
