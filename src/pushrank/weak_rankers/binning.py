"""Quantile bins of the features, with a bin of their own for missing values."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from pushrank._chunks import map_chunks, row_chunks
from pushrank._log_space import Floats
from pushrank.weak_rankers import stump_kernels

MISSING = 255
MOST_ROWS = 200_000  # that quantiles are taken from
Bins = NDArray[np.uint8]


def sampled_rows(n_rows: int, row_weights: Floats | None, random_state: np.random.RandomState) -> Any:
    """Return numbers of the rows that quantiles are taken from, ascending."""
    rows = np.arange(n_rows) if row_weights is None else np.flatnonzero(row_weights)
    if len(rows) > MOST_ROWS:
        rows = np.sort(random_state.choice(rows, MOST_ROWS, replace=False))
    return rows


def thresholds(values: Floats, weights: Floats | None, max_bins: int) -> Floats:
    """Return ascending thresholds between at most ``max_bins`` bins of about equal weight.

    Where there are no more distinct values than bins, a threshold lies midway between each two neighbours. A
    value that many rows share has a bin of its own, and the bins it could have filled go to the others.

    Examples
    --------
    >>> thresholds(np.array([3.0, 1.0, 1.0, np.nan]), None, 255).tolist()
    [2.0]
    """
    known = ~np.isnan(values)
    if weights is None:
        distinct, counts = np.unique(values[known], return_counts=True)
        of_values: Floats = counts.astype(np.float64)
    else:
        distinct, places = np.unique(values[known], return_inverse=True)
        of_values = np.bincount(places, weights[known], minlength=len(distinct)).astype(np.float64)
    if len(distinct) < 2:
        return np.zeros(0)
    last_in_bin: NDArray[Any] = np.arange(len(distinct) - 1)
    if len(distinct) > max_bins:
        last_in_bin = stump_kernels.bin_ends(of_values, max_bins)
    lower: Floats = distinct[last_in_bin].astype(np.float64)
    upper: Floats = distinct[last_in_bin + 1].astype(np.float64)
    middle = 0.5 * lower + 0.5 * upper
    return np.where((middle >= lower) & (middle < upper), middle, lower)


def categories_by_frequency(values: Floats, weights: Floats | None, max_bins: int) -> Floats:
    """Return the categories, the most frequent first, ties by value; the rarest beyond the bins are left out.

    Examples
    --------
    >>> categories_by_frequency(np.array([1.0, 7.0, 7.0, np.nan, 0.0]), None, 255).tolist()
    [7.0, 0.0, 1.0]
    """
    known = ~np.isnan(values)
    distinct, places = np.unique(values[known], return_inverse=True)
    of_rows = None if weights is None else weights[known]
    frequency = np.bincount(places, of_rows, minlength=len(distinct))
    kept: Floats = distinct[np.lexsort((distinct, -frequency))][:max_bins]
    return kept.astype(np.float64)


def dense_column(X: Any, feature: int, rows: Any = slice(None)) -> Floats:
    """Return some entries of a column as float64."""
    if sp.issparse(X):
        return np.asarray(X[:, [feature]].toarray().ravel()[rows], dtype=np.float64)
    return np.asarray(X[rows, feature], dtype=np.float64)


def binned(X: Any, edges: list[Floats], categories: list[Floats | None], n_threads: int | None) -> Bins:
    """Return the bins of all entries, one row a feature: how many thresholds lie below the entry.

    Parameters
    ----------
    X : ndarray or sparse matrix of shape (n_rows, n_features)
        Checked features.
    edges : list of ndarray
        The thresholds of each feature.
    categories : list of (ndarray or None)
        For a categorical feature its categories in the order of their bins; an unknown one is missing.
    n_threads : int or None
        The number of threads.

    Returns
    -------
    ndarray of uint8, shape (n_features, n_rows)
        255 stands for a missing value.

    Notes
    -----
    One reading of the data; a byte an entry of memory, for sparse data too.
    """
    n_rows, n_features = X.shape
    bins = np.empty((n_features, n_rows), dtype=np.uint8)
    padded = np.full((n_features, 256), np.inf)
    for feature, of_feature in enumerate(edges):
        padded[feature, : len(of_feature)] = of_feature
    if sp.issparse(X):
        by_column = X.tocsc()

        def bin_column(start: int, stop: int) -> None:
            column = dense_column(by_column, start)[:, None]
            stump_kernels.bin_rows(column, padded[start:stop], 0, n_rows, bins[start:stop])

        map_chunks(bin_column, [(feature, feature + 1) for feature in range(n_features)], n_threads)
    else:
        map_chunks(
            lambda start, stop: stump_kernels.bin_rows(X, padded, start, stop, bins),
            row_chunks(n_rows, n_features),
            n_threads,
        )
    for feature, known in enumerate(categories):
        if known is not None:
            bins[feature] = category_bins(dense_column(X, feature), known)
    return bins


def category_bins(values: Floats, known: Floats) -> Bins:
    """Return the place of each value among the known categories; 255 for an unknown or missing one."""
    order = np.append(np.argsort(known), MISSING)
    ascending = np.append(np.sort(known), np.nan)  # which equals nothing
    places = np.searchsorted(ascending, values)
    return np.where(ascending[places] == values, order[places], MISSING).astype(np.uint8)
