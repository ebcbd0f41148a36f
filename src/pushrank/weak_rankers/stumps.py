"""Thresholds of features as weak rankers."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import chain
from typing import Any, ClassVar, NamedTuple, Self
from weakref import WeakKeyDictionary

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from pushrank._base.numeric import Floats
from pushrank._base.parallel import compiled, map_chunks, read_only, row_chunks, sum_chunks
from pushrank._base.user_types import Matrix
from pushrank._base.validation import check_number
from pushrank.weak_rankers import binning
from pushrank.weak_rankers.base import Numbers, Values, WeakRankers
from pushrank.weak_rankers.binning import BLOCK_ROWS, MISSING, N_BINS, Bins


@compiled()
def add_histograms(bins, row_weights, start, stop, sums):
    """Add the weights of the rows from start to stop to the sum of their bin, for every feature."""
    n_features = bins.shape[0]
    # Four features at a time are faster: an addition need not wait for the last one to the same sum.
    for first in range(0, n_features - 3, 4):
        bins_a, bins_b, bins_c, bins_d = bins[first], bins[first + 1], bins[first + 2], bins[first + 3]
        sums_a, sums_b, sums_c, sums_d = sums[first], sums[first + 1], sums[first + 2], sums[first + 3]
        for row in range(start, stop):
            weight = row_weights[row]
            sums_a[bins_a[row]] += weight
            sums_b[bins_b[row]] += weight
            sums_c[bins_c[row]] += weight
            sums_d[bins_d[row]] += weight
    for feature in range(n_features - n_features % 4, n_features):
        feature_bins, feature_sums = bins[feature], sums[feature]
        for row in range(start, stop):
            feature_sums[feature_bins[row]] += row_weights[row]


@compiled(inline="always")
def write_edges(sums, n_thresholds, first, has_missing, edges):
    """Write the edges of a feature's stumps, from ``first`` on, from the sums of weights in its bins."""
    above = 0.0
    for i in range(n_thresholds - 1, -1, -1):
        above += sums[i + 1]
        edges[first + i] = above
        # Without missing values the stumps that put them high are copies, whose edges stay zero.
        if has_missing:
            edges[first + n_thresholds + i] = above + sums[255]
    if has_missing:
        edges[first + 2 * n_thresholds] = sums[255]


@compiled()
def dense_edges(sums, first_stumps, has_missing, edges):
    """Write the edges of all stumps from the sums of weights in all bins."""
    for feature in range(len(sums)):
        n_thresholds = (first_stumps[feature + 1] - first_stumps[feature]) >> 1
        write_edges(sums[feature], n_thresholds, first_stumps[feature], has_missing[feature], edges)


@compiled()
def sparse_edges(
    rows, bins, indptr, zero_bins, first_stumps, has_missing, row_weights, total, start, stop, edges
):
    """Write the edges of the features from start to stop, of entries stored by column."""
    sums = np.zeros(256)
    for feature in range(start, stop):
        n_thresholds = (first_stumps[feature + 1] - first_stumps[feature]) >> 1
        sums[: n_thresholds + 1] = 0.0
        sums[255] = 0.0
        # The rows whose entry is not stored have the rest of the total weight, in the bin of zero.
        rest = total
        for e in range(indptr[feature], indptr[feature + 1]):
            weight = row_weights[rows[e]]
            sums[bins[e]] += weight
            rest -= weight
        sums[zero_bins[feature]] += rest
        write_edges(sums, n_thresholds, first_stumps[feature], has_missing[feature], edges)


@compiled()
def add_step_functions(X, features, firsts, thresholds, values, start, stop, out):
    """Add step functions of single features to the scores of the rows from start to stop."""
    # Function m reads feature `features[m]`. Its thresholds are `thresholds[firsts[m] : firsts[m + 1]]`, and
    # `values` holds, from `firsts[m] + 2 * m` on, one more value than thresholds and the one of NaN.
    for top in range(start, stop, BLOCK_ROWS):
        bottom = min(top + BLOCK_ROWS, stop)
        for m in range(len(features)):
            cuts = thresholds[firsts[m] : firsts[m + 1]]
            steps = values[firsts[m] + 2 * m : firsts[m + 1] + 2 * m + 2]
            for row in range(top, bottom):
                x = X[row, features[m]]
                low, high = 0, len(cuts)
                if x != x:
                    low = high = len(cuts) + 1
                while low < high:
                    middle = (low + high) >> 1
                    if cuts[middle] < x:
                        low = middle + 1
                    else:
                        high = middle
                out[row] += steps[low]


class Stumps(WeakRankers):
    r"""Every threshold of every feature is a weak ranker: :math:`h(x) = 1[x_j > \theta]`.

    Thresholds lie between quantile bins of the training rows. If a feature has missing values in training,
    each threshold comes twice, with missing values low and with missing values high, and
    :math:`1[x_j \text{ is missing}]` is a stump too; otherwise a missing value counts as low. A step may be
    negative, which turns a stump around.

    Training holds one byte an entry, or five a stored entry of sparse data; the edges of all thresholds cost
    one pass over these. Quantiles are taken from at most 200,000 rows. Ties: rows in the same bin have the
    same value.

    Freund, Iyer, Schapire and Singer, *An efficient boosting algorithm for combining preferences*, JMLR 4
    (2003), section 3.3, whose weak rankers are thresholds.

    Parameters
    ----------
    max_bins : int, default=255
        The largest number of bins of a feature, from 2 to 255, besides the one for missing values.
    categorical_features : "from_dtype" or sequence of int or of str, default="from_dtype"
        Features whose values are names: by number or, for data frames, by name; ``"from_dtype"`` means the
        columns of a data frame that are categorical or text; objects that are all numbers, such as Decimals,
        are numbers. Categories are ordered by frequency, which needs no labels; unknown ones, and those
        beyond the most frequent ``max_bins``, count as missing.

    Attributes
    ----------
    thresholds_ : list of ndarray of float64
        The ascending thresholds of every feature.
    categories_ : list of (ndarray of float64 or None)
        The categories, the most frequent first, or None for a number.
    first_stump_ : ndarray of int, shape (n_features + 1,)
        The number of every feature's first stump. Its thresholds, ascending, come once with missing values
        low and once with them high, and then the stump of missing values alone.

    Examples
    --------
    >>> stumps = Stumps().fit(np.array([[1.0], [3.0], [7.0]]))
    >>> stumps.thresholds_[0].tolist(), stumps.values(np.array([[2.5], [np.nan]]), 0).tolist()
    ([2.0, 5.0], [True, False])
    """

    takes_missing: ClassVar[bool] = True
    thresholds_: list[Floats]
    categories_: list[Floats | None]
    first_stump_: Numbers

    def __init__(
        self, max_bins: int = 255, categorical_features: Sequence[int] | Sequence[str] | str = "from_dtype"
    ) -> None:
        self.max_bins = max_bins
        self.categorical_features = categorical_features

    def fit(
        self, X: Any, row_weights: Floats | None = None, random_state: np.random.RandomState | None = None
    ) -> Self:
        """Find the thresholds of every feature; what ``max_bins`` and the features allow is checked."""
        check_number("max_bins", self.max_bins, 2, MISSING, integer=True)
        n_rows, n_features = X.shape
        is_category = np.isin(np.arange(n_features), self._category_numbers(n_features))
        rows = binning.sampled_rows(n_rows, row_weights, random_state or np.random.RandomState(0))
        weights = None
        if row_weights is not None and not np.array_equal(row_weights, row_weights.astype(bool)):
            weights = row_weights[rows]
        sample = binning.WeightedColumns(X if len(rows) == n_rows else X[rows], weights)
        if is_category.any():
            # Categories are counted on all rows, since a sample would miss the rare ones.
            mask = slice(None) if row_weights is None else row_weights > 0.0
            whole = binning.WeightedColumns(X[mask], None if row_weights is None else row_weights[mask])

        def thresholds_and_categories(feature: int) -> tuple[Floats, Floats | None]:
            if is_category[feature]:
                categories = binning.categories_by_frequency(*whole.column(feature), int(self.max_bins))
                return np.arange(0.5, len(categories) - 1.0), categories
            return binning.quantile_thresholds(*sample.column(feature), int(self.max_bins)), None

        entries_per_column = X.nnz / n_features if sp.issparse(X) else n_rows
        parts = map_chunks(
            lambda start, stop: [thresholds_and_categories(feature) for feature in range(start, stop)],
            row_chunks(n_features, entries_per_column),
        )
        self.thresholds_, self.categories_ = map(list, zip(*chain.from_iterable(parts), strict=True))
        n_stumps = 2 * np.array([len(thresholds) for thresholds in self.thresholds_], dtype=np.intp) + 1
        self.first_stump_ = np.concatenate([[0], np.cumsum(n_stumps)])
        return self

    def training_outputs(self, X: Any, n_threads: int | None = None) -> StumpOutputs | SparseStumpOutputs:
        """Bin the training rows."""
        if sp.issparse(X):
            csc = X.tocsc()
            bins, zero_bins = binning.sparse_bins(csc, self.thresholds_, self.categories_)
            return SparseStumpOutputs(csc, bins, zero_bins, self.first_stump_, n_threads)
        bins = binning.dense_bins(X, self.thresholds_, self.categories_, n_threads)
        return StumpOutputs(bins, self.first_stump_, n_threads)

    def values(self, X: Matrix, index: int) -> Values:
        """Return which rows lie above a stump's threshold."""
        feature, missing_is_high, threshold = stump_address(self.first_stump_, index)
        column = binning.dense_column(X, feature)
        categories = self.categories_[feature]
        if categories is not None:
            return above_threshold(binning.category_bins(column, categories), threshold, missing_is_high)
        # The stump of missing values alone has the index after the last threshold: no value is above it.
        above: Values = column > np.append(self.thresholds_[feature], np.inf)[threshold]
        return above | np.isnan(column) if missing_is_high else above

    def scores(self, X: Matrix, indices: Numbers, weights: Floats) -> Floats:
        """Return the weighted sums of rankers, by one look-up a row in a table of each feature used."""
        # O(n_rows * used features * log(thresholds)), however many rounds there were.
        return self._sums(X, self.step_functions(indices, weights))

    def contributions(self, X: Any, indices: Numbers, weights: Floats) -> Floats:
        """Return the part of the scores that is of each feature, shape (n_rows, n_features)."""
        X, out = X.tocsc() if sp.issparse(X) else X, np.zeros(X.shape)
        for function in self.step_functions(indices, weights):
            out[:, function.feature] = self._sums(X, [function])
        return out

    def _sums(self, X: Any, functions: Sequence[StepFunction]) -> Floats:
        out = np.zeros(X.shape[0])
        numeric = [function for function in functions if function.categories is None]
        for function in functions:
            if function.categories is not None:
                bins = binning.category_bins(binning.dense_column(X, function.feature), function.categories)
                out += function.values[np.minimum(bins, len(function.categories))]
        if sp.issparse(X):
            # One dense column at a time: all of them may not fit in memory.
            csc = X.tocsc()
            for function in numeric:
                column = binning.dense_column(csc, function.feature)[:, None]
                _add_step_functions(column, [function._replace(feature=0)], out)
        elif numeric:
            _add_step_functions(X, numeric, out)
        return out

    def step_functions(self, indices: Numbers, weights: Floats) -> Sequence[StepFunction]:
        """Return the weighted sums of rankers as functions of the single features that they read."""
        asked = (indices.tobytes(), weights.tobytes(), weights.dtype)
        known = KNOWN_STEPS.get(self)
        if known is None or known[0] is not self.thresholds_ or known[1] != asked:
            totals = np.bincount(indices, weights, minlength=self.first_stump_[-1]).astype(np.float64)
            used = np.unique(self._features(np.flatnonzero(totals)))
            functions = tuple(self._step_function(int(feature), totals) for feature in used)
            known = KNOWN_STEPS[self] = self.thresholds_, asked, functions
        return known[2]

    def _step_function(self, feature: int, stump_weights: Floats) -> StepFunction:
        thresholds, categories = self.thresholds_[feature], self.categories_[feature]
        n_thresholds = len(thresholds)
        weights = stump_weights[self.first_stump_[feature] : self.first_stump_[feature + 1]]
        # The two stumps of a threshold differ for missing values only, so for others their weights add up.
        above = weights[:n_thresholds] + weights[n_thresholds:-1]
        jumps = np.flatnonzero(above)
        values = np.append(0.0, np.cumsum(above[jumps]))
        missing_value = weights[n_thresholds:].sum()
        if categories is None:
            return StepFunction(feature, thresholds[jumps], np.append(values, missing_value))
        values = values[np.searchsorted(jumps, np.arange(len(categories)))]
        return StepFunction(feature, np.zeros(0), np.append(values, missing_value), categories)

    def importances(self, indices: Numbers, gains: Floats) -> Floats:
        """Return the gains of each feature."""
        return np.bincount(self._features(indices), gains, minlength=len(self.thresholds_)).astype(np.float64)

    def directions(self, directions: NDArray[np.intp], names: list[str]) -> NDArray[np.intp]:
        """Return the direction of its feature for each stump, and 0 for a stump of missing values alone."""
        # A constraint on a categorical feature is a ValueError.
        for feature in np.flatnonzero(directions):
            if self.categories_[feature] is not None:
                raise ValueError(
                    f"monotonic_cst constrains {names[feature] if names else f'feature {feature}'}, which is "
                    "categorical and has no order: set it to 0 there, or encode the feature as numbers that "
                    "have."
                )
        stump_directions = np.repeat(directions, np.diff(self.first_stump_))
        stump_directions[self.first_stump_[1:] - 1] = 0
        return stump_directions

    def _features(self, indices: Numbers) -> Numbers:
        return np.searchsorted(self.first_stump_, indices, side="right") - 1

    def _category_numbers(self, n_features: int) -> Numbers:
        """Return the numbers of the categorical features; the estimator has replaced names by numbers."""
        chosen = self.categorical_features
        if isinstance(chosen, str):
            if chosen != "from_dtype":
                raise ValueError(
                    "categorical_features must be 'from_dtype' or a sequence of feature numbers or names, "
                    f"got {chosen!r}."
                )
            return np.zeros(0, dtype=np.intp)
        numbers = np.asarray(chosen)
        if numbers.dtype == bool and numbers.shape == (n_features,):
            return np.flatnonzero(numbers)
        if numbers.size and (
            numbers.dtype.kind not in "iu" or numbers.min() < 0 or numbers.max() >= n_features
        ):
            raise ValueError(
                f"categorical_features={chosen!r} must be numbers from 0 to {n_features - 1}, the features "
                "of X, or names of columns of a data frame."
            )
        return numbers.astype(np.intp)


# What was last asked for of each fitted object, for the next row; outside it, so that no copy or file has it.
KNOWN_STEPS: WeakKeyDictionary[Stumps, tuple[object, object, Sequence[StepFunction]]] = WeakKeyDictionary()


class StepFunction(NamedTuple):
    """A step function of one feature."""

    # Its values are those below the first threshold, between each two and above the last, and of NaN. If the
    # values of the feature are names, they are those of each category, and of NaN and any other name.

    feature: int
    thresholds: Floats
    values: Floats
    categories: Floats | None = None


def _add_step_functions(X: Matrix, functions: list[StepFunction], out: Floats) -> None:
    """Add step functions of numbers to the scores."""
    features = np.array([function.feature for function in functions])
    firsts = np.concatenate([[0], np.cumsum([len(function.thresholds) for function in functions])])
    thresholds = np.concatenate([function.thresholds for function in functions])
    values = np.concatenate([function.values for function in functions])
    entries = read_only(X)
    map_chunks(
        lambda start, stop: add_step_functions(
            entries, features, firsts, thresholds, values, start, stop, out
        ),
        row_chunks(X.shape[0], len(functions)),
    )


class NumberedStumps:
    """The numbers of all stumps over the training rows, however their bins are stored."""

    offset = 0.0

    def __init__(self, n_rows: int, first_stumps: Numbers, has_missing: NDArray[np.bool_]) -> None:
        self.n_rows, self.n_rankers = n_rows, int(first_stumps[-1])
        self.features: Numbers = np.repeat(np.arange(len(first_stumps) - 1), np.diff(first_stumps))
        self.real_valued = np.zeros(self.n_rankers, dtype=bool)
        self.has_missing, self._firsts = has_missing, first_stumps


class StumpOutputs(NumberedStumps):
    """All stumps over dense training rows, binned."""

    def __init__(self, bins: Bins, first_stumps: Numbers, n_threads: int | None) -> None:
        # A mask of all bins would take as much memory as the bins, so it is made feature by feature.
        has_missing = np.array([bool((feature_bins == MISSING).any()) for feature_bins in bins])
        super().__init__(bins.shape[1], first_stumps, has_missing)
        self._bins, self._n_threads = bins, n_threads
        # Of few rows most of the 256 sums of a feature would be of empty bins.
        most = int(np.diff(first_stumps).max(initial=0)) >> 1
        self._n_bins = N_BINS if has_missing.any() else most + 1
        self._chunks = row_chunks(self.n_rows, len(bins))

    def edges(self, row_weights: Floats) -> Floats:
        def chunk_sums(start: int, stop: int) -> Floats:
            sums = np.zeros((len(self._bins), self._n_bins))
            add_histograms(self._bins, row_weights, start, stop, sums)
            return sums

        edges = np.zeros(self.n_rankers)
        sums = sum_chunks(chunk_sums, self._chunks, self._n_threads)
        dense_edges(sums, self._firsts, self.has_missing, edges)
        return edges

    def values(self, index: int) -> Values:
        feature, missing_is_high, threshold = stump_address(self._firsts, index)
        return above_threshold(self._bins[feature], threshold, missing_is_high)


class SparseStumpOutputs(NumberedStumps):
    """All stumps over sparse training rows: the bins of the stored entries, and of zero."""

    def __init__(
        self, X: sp.spmatrix, bins: Bins, zero_bins: Bins, first_stumps: Numbers, n_threads: int | None
    ) -> None:
        has_missing = zero_bins == MISSING
        # reduceat reads a wrong entry where a column is empty, so empty columns are left out.
        has_entries = np.diff(X.indptr) > 0
        if has_entries.any():
            has_missing[has_entries] |= np.maximum.reduceat(bins, X.indptr[:-1][has_entries]) == MISSING
        super().__init__(X.shape[0], first_stumps, has_missing)
        self._rows, self._indptr, self._bins, self._zero_bins = X.indices, X.indptr, bins, zero_bins
        self._chunks = row_chunks(X.shape[1], len(bins) / X.shape[1])
        self._n_threads = n_threads

    def edges(self, row_weights: Floats) -> Floats:
        edges, total = np.zeros(self.n_rankers), float(row_weights.sum())
        stored = (self._rows, self._bins, self._indptr, self._zero_bins, self._firsts, self.has_missing)
        map_chunks(
            lambda start, stop: sparse_edges(*stored, row_weights, total, start, stop, edges),
            self._chunks,
            self._n_threads,
        )
        return edges

    def values(self, index: int) -> Values:
        feature, missing_is_high, threshold = stump_address(self._firsts, index)
        stored = slice(self._indptr[feature], self._indptr[feature + 1])
        bins = np.full(self.n_rows, self._zero_bins[feature])
        bins[self._rows[stored]] = self._bins[stored]
        return above_threshold(bins, threshold, missing_is_high)


def above_threshold(bins: Bins, threshold: int, missing_is_high: bool) -> Values:
    """Return which bins lie above a threshold, with missing values among them or not."""
    # MISSING is the largest bin, so it lies above every threshold unless it is taken out.
    above: Values = bins > threshold
    if not missing_is_high:
        above &= bins != MISSING
    return above


def stump_address(first_stumps: Numbers, index: int) -> tuple[int, bool, int]:
    """Return the feature of a stump, whether it puts missing values high, and the index of its threshold."""
    feature = int(np.searchsorted(first_stumps, index, side="right")) - 1
    n_thresholds = int(first_stumps[feature + 1] - first_stumps[feature]) // 2
    number = int(index - first_stumps[feature])
    missing_is_high = number >= n_thresholds
    return feature, missing_is_high, number - n_thresholds if missing_is_high else number
