"""Thresholds of features."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar, NamedTuple, Self

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from pushrank._numeric import Floats
from pushrank._parallel import compiled, map_chunks, read_only, row_chunks, sum_chunks
from pushrank._validation import check_number
from pushrank.weak_rankers.base import Numbers, Values, WeakRankers

Bins = NDArray[np.uint8]
MISSING = 255  # the bin of a missing value: a bin is one byte
WIDTH = 256  # bins of a feature, with that of missing values
BLOCK_ROWS = 512  # stay in the cache while one feature after another is read
MAX_ROWS = 200_000  # that quantiles are taken from: their error is then below half a bin's weight


@compiled()
def bin_ends(weights, max_bins):
    """Return the last value of each bin but the last, for values in ascending order with these weights.

    A value as heavy as a bin is one; the others share what is left, and as bins fill up unevenly the aim for
    the next is taken anew.
    """
    n_values = len(weights)
    # the rounding of sums of weights in another order must not move a boundary
    slack = 1.0 - 1e-12
    is_heavy = np.zeros(n_values, dtype=np.bool_)
    rest, bins_left = weights.sum(), max_bins
    found = True
    while found and bins_left > 1:
        found = False
        aim = rest / bins_left * slack
        for i in range(n_values):
            if not is_heavy[i] and weights[i] >= aim and bins_left > 1:
                is_heavy[i] = found = True
                rest -= weights[i]
                bins_left -= 1
    ends = np.empty(max_bins, dtype=np.int64)
    n_ends, filled = 0, 0.0
    for i in range(n_values - 1):
        filled += weights[i]
        if not is_heavy[i]:
            rest -= weights[i]
        aim = (rest + (0.0 if is_heavy[i] else filled)) / bins_left * slack
        # a bin at least half full ends before a heavy value, which would swallow it
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
def bin_rows(X, edges, start, stop, bins):
    """Write the number of thresholds below each entry, rows from start to stop; 255 for NaN.

    ``edges`` has 256 entries a feature, padded with infinity: eight halvings without a branch find the place.
    """
    for top in range(start, stop, BLOCK_ROWS):
        bottom = min(top + BLOCK_ROWS, stop)
        for feature in range(X.shape[1]):
            feature_edges = edges[feature]
            for row in range(top, bottom):
                x = X[row, feature]
                place = 0
                for halving in (128, 64, 32, 16, 8, 4, 2, 1):
                    place += halving * (feature_edges[place + halving - 1] < x)
                bins[feature, row] = place if x == x else 255


@compiled()
def add_histograms(bins, row_weights, start, stop, sums):
    """Add the weights of the rows from start to stop to the sum of their bin, for every feature.

    Four features at a time: an addition to one sum need not wait for the last one to the same.
    """
    n_features = bins.shape[0]
    for first in range(0, n_features - 3, 4):
        bins_a, bins_b, bins_c, bins_d = bins[first], bins[first + 1], bins[first + 2], bins[first + 3]
        into_a, into_b, into_c, into_d = sums[first], sums[first + 1], sums[first + 2], sums[first + 3]
        for row in range(start, stop):
            weight = row_weights[row]
            into_a[bins_a[row]] += weight
            into_b[bins_b[row]] += weight
            into_c[bins_c[row]] += weight
            into_d[bins_d[row]] += weight
    for feature in range(n_features - n_features % 4, n_features):
        feature_bins, into = bins[feature], sums[feature]
        for row in range(start, stop):
            into[feature_bins[row]] += row_weights[row]


@compiled()
def write_edges(sums, n_edges, first, has_missing, edges):
    """Write the edges of a feature's stumps, from ``first`` on, given the sums of weights in its bins."""
    above = 0.0
    for place in range(n_edges - 1, -1, -1):
        above += sums[place + 1]
        edges[first + place] = above
        if has_missing:
            edges[first + n_edges + place] = above + sums[255]
    if has_missing:
        edges[first + 2 * n_edges] = sums[255]


@compiled()
def dense_edges(sums, firsts, has_missing, edges):
    """Write the edges of all stumps, given the sums of weights in all bins."""
    for feature in range(len(sums)):
        n_edges = (firsts[feature + 1] - firsts[feature]) // 2
        write_edges(sums[feature], n_edges, firsts[feature], has_missing[feature], edges)


@compiled()
def sparse_edges(rows, bins, starts, zero_bins, firsts, has_missing, row_weights, total, start, stop, edges):
    """Write the edges of the features from start to stop, whose zeros have what weight the others leave."""
    sums = np.zeros(256)
    for feature in range(start, stop):
        n_edges = (firsts[feature + 1] - firsts[feature]) // 2
        sums[: n_edges + 1] = 0.0
        sums[255] = 0.0
        rest = total
        for e in range(starts[feature], starts[feature + 1]):
            weight = row_weights[rows[e]]
            sums[bins[e]] += weight
            rest -= weight
        sums[zero_bins[feature]] += rest
        write_edges(sums, n_edges, firsts[feature], has_missing[feature], edges)


@compiled()
def add_tables(X, features, firsts, edges, tables, start, stop, out):
    """Add to the scores of the rows from start to stop what the tables hold for their places.

    Feature ``features[m]`` has the thresholds ``edges[firsts[m] : firsts[m + 1]]``, and in ``tables``, from
    ``firsts[m] + 2 * m`` on, an entry for each place among them and a last one for NaN.
    """
    for top in range(start, stop, BLOCK_ROWS):
        bottom = min(top + BLOCK_ROWS, stop)
        for m in range(len(features)):
            feature_edges = edges[firsts[m] : firsts[m + 1]]
            table = tables[firsts[m] + 2 * m : firsts[m + 1] + 2 * m + 2]
            for row in range(top, bottom):
                x = X[row, features[m]]
                low, high = 0, len(feature_edges)
                if x != x:
                    low = high = len(feature_edges) + 1
                while low < high:
                    middle = (low + high) // 2
                    if feature_edges[middle] < x:
                        low = middle + 1
                    else:
                        high = middle
                out[row] += table[low]


def sampled_rows(n_rows: int, row_weights: Floats | None, random_state: np.random.RandomState) -> Any:
    """Return numbers of the rows that quantiles are taken from, ascending."""
    rows = np.arange(n_rows) if row_weights is None else np.flatnonzero(row_weights)
    if len(rows) > MAX_ROWS:
        rows = np.sort(random_state.choice(rows, MAX_ROWS, replace=False))
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
        distinct_weights: Floats = counts.astype(np.float64)
    else:
        distinct, places = np.unique(values[known], return_inverse=True)
        distinct_weights = np.bincount(places, weights[known], minlength=len(distinct)).astype(np.float64)
    if len(distinct) < 2:
        return np.zeros(0)
    last_in_bin: NDArray[Any] = np.arange(len(distinct) - 1)
    if len(distinct) > max_bins:
        last_in_bin = bin_ends(distinct_weights, max_bins)
    lower: Floats = distinct[last_in_bin].astype(np.float64)
    upper: Floats = distinct[last_in_bin + 1].astype(np.float64)
    middle = 0.5 * lower + 0.5 * upper  # halves first: the sum of two large values may overflow
    # between two neighbouring floats there is no middle: the lower one separates them as well
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
    known_weights = None if weights is None else weights[known]
    frequency = np.bincount(places, known_weights, minlength=len(distinct))
    kept: Floats = distinct[np.lexsort((distinct, -frequency))][:max_bins]
    return kept.astype(np.float64)


def dense_column(X: Any, feature: int, rows: Any = slice(None)) -> Floats:
    """Return some entries of a column as float64."""
    if sp.issparse(X):
        return np.asarray(X[:, [feature]].toarray().ravel()[rows], dtype=np.float64)
    return np.asarray(X[rows, feature], dtype=np.float64)


def stored_column(X: Any, feature: int) -> tuple[Numbers, Floats]:
    """Return the rows and the values of the stored entries of a CSC column."""
    own = slice(X.indptr[feature], X.indptr[feature + 1])
    return X.indices[own], X.data[own].astype(np.float64)


def weighted_column(X: Any, feature: int, weights: Floats | None, total: float) -> tuple[Floats, Any]:
    """Return values of a column and their weights, ``total`` in all; a sparse column's zeros as one value."""
    if not sp.issparse(X):
        return dense_column(X, feature), weights
    rows, values = stored_column(X, feature)
    value_weights = np.ones(len(rows)) if weights is None else weights[rows]
    if len(rows) < X.shape[0]:
        values = np.append(values, 0.0)
        value_weights = np.append(value_weights, total - value_weights.sum())
    return values, value_weights


def binned(X: Any, edges: list[Floats], categories: list[Floats | None], n_threads: int | None) -> Bins:
    """Return the bins of all entries, shape (n_features, n_rows): how many thresholds lie below the entry.

    255 stands for a missing value. A categorical feature comes with its categories in the order of their
    bins; an unknown one is missing. One pass over the data; a byte an entry of memory.
    """
    n_rows, n_features = X.shape
    bins = np.empty((n_features, n_rows), dtype=np.uint8)
    padded = np.full((n_features, 256), np.inf)
    for feature, feature_edges in enumerate(edges):
        padded[feature, : len(feature_edges)] = feature_edges
    entries = read_only(X)
    map_chunks(
        lambda start, stop: bin_rows(entries, padded, start, stop, bins),
        row_chunks(n_rows, n_features),
        n_threads,
    )
    for feature, known in enumerate(categories):
        if known is not None:
            bins[feature] = category_bins(dense_column(X, feature), known)
    return bins


def sparse_bins(X: Any, edges: list[Floats], categories: list[Floats | None]) -> tuple[Bins, Bins]:
    """Return the bins of the stored entries of a CSC matrix, and that of zero for every feature."""
    bins, zero_bins = np.empty(X.nnz, dtype=np.uint8), np.empty(X.shape[1], dtype=np.uint8)
    for feature, (feature_edges, known) in enumerate(zip(edges, categories, strict=True)):
        values = np.append(stored_column(X, feature)[1], 0.0)
        if known is None:
            places = np.where(np.isnan(values), MISSING, np.searchsorted(feature_edges, values))
        else:
            places = category_bins(values, known)
        bins[X.indptr[feature] : X.indptr[feature + 1]], zero_bins[feature] = places[:-1], places[-1]
    return bins, zero_bins


def category_bins(values: Floats, known: Floats) -> Bins:
    """Return the place of each value among the known categories; 255 for an unknown or missing one."""
    order = np.append(np.argsort(known), MISSING)
    ascending = np.append(np.sort(known), np.nan)  # which equals nothing
    places = np.searchsorted(ascending, values)
    return np.where(ascending[places] == values, order[places], MISSING).astype(np.uint8)


class Stumps(WeakRankers):
    r"""Every threshold of every feature is a weak ranker: :math:`h(x) = 1[x_j > \theta]`.

    Thresholds lie between quantile bins of the training rows. Where a feature has missing values in
    training, each threshold comes twice, with the missing among the low and among the high, and so does
    :math:`1[x_j \text{ is missing}]`; elsewhere a missing value counts as low. A step may be negative, which
    turns a stump around.

    Parameters
    ----------
    max_bins : int, default=255
        The most bins of a feature, from 2 to 255, beside the one for missing values.
    categorical_features : "from_dtype" or sequence of int or of str, default="from_dtype"
        Features whose values are names: by number or, for data frames, by name; ``"from_dtype"`` means the
        columns of a data frame that are categorical, text or of type object. Categories are ordered by
        frequency, which needs no labels; unknown ones, and those beyond the most frequent ``max_bins``, count
        as missing.

    Attributes
    ----------
    edges_ : list of ndarray of float64
        The ascending thresholds of every feature.
    categories_ : list of (ndarray of float64 or None)
        The categories, the most frequent first, or None for a number.
    first_stump_ : ndarray of int, shape (n_features + 1,)
        The number of every feature's first stump. Its thresholds, ascending, come once with missing values
        low and once with them high, and then the stump of missing values alone.

    Notes
    -----
    Training holds one byte an entry, or five a stored entry of sparse data; the edges of all thresholds cost
    one pass over these. Quantiles are taken from at most 200,000 rows. Ties: rows in the same bin have the
    same value.

    References
    ----------
    Freund, Iyer, Schapire and Singer, *An efficient boosting algorithm for combining preferences*, JMLR 4
    (2003), section 3.3, whose weak rankers are thresholds.

    Examples
    --------
    >>> stumps = Stumps().fit(np.array([[1.0], [3.0], [7.0]]))
    >>> stumps.edges_[0].tolist(), stumps.values(np.array([[2.5], [np.nan]]), 0).tolist()
    ([2.0, 5.0], [True, False])
    """

    takes_missing: ClassVar[bool] = True
    edges_: list[Floats]
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
        """Find the thresholds of every feature.

        Raises
        ------
        ValueError
            When ``max_bins`` is not an integer from 2 to 255, or a categorical feature is none of ``X``.
        """
        check_number("max_bins", self.max_bins, 2, MISSING, integer=True)
        n_rows, n_features = X.shape
        is_category = np.zeros(n_features, dtype=bool)
        is_category[self._category_numbers(n_features)] = True
        uneven = row_weights is not None and not np.array_equal(row_weights, row_weights.astype(bool))
        rows = sampled_rows(n_rows, row_weights, random_state or np.random.RandomState(0))
        weights = row_weights[rows] if row_weights is not None and uneven else None
        total = float(len(rows)) if weights is None else float(weights.sum())
        sample = X if len(rows) == n_rows else X[rows]
        sample = sample.tocsc() if sp.issparse(X) else sample
        # all rows, not a sample of them: it would miss the rare categories
        every, every_weight = X, None
        if is_category.any() and row_weights is not None:
            every, every_weight = X[row_weights > 0.0], row_weights[row_weights > 0.0]
        every_total = float(every.shape[0] if every_weight is None else every_weight.sum())
        every = every.tocsc() if sp.issparse(X) and is_category.any() else every

        def thresholds_of(feature: int) -> tuple[Floats, Floats | None]:
            if is_category[feature]:
                column = weighted_column(every, feature, every_weight, every_total)
                known = categories_by_frequency(*column, int(self.max_bins))
                return np.arange(0.5, len(known) - 1.0), known
            return thresholds(*weighted_column(sample, feature, weights, total), int(self.max_bins)), None

        per_column = X.nnz / n_features if sp.issparse(X) else n_rows
        parts = map_chunks(
            lambda start, stop: [thresholds_of(feature) for feature in range(start, stop)],
            row_chunks(n_features, per_column),
        )
        found = [column for part in parts for column in part]
        self.edges_ = [edges for edges, _ in found]
        self.categories_ = [known for _, known in found]
        n_stumps = 2 * np.array([len(edges) for edges in self.edges_], dtype=np.intp) + 1
        self.first_stump_ = np.concatenate([[0], np.cumsum(n_stumps)])
        return self

    def training_outputs(self, X: Any, n_threads: int | None = None) -> StumpOutputs | SparseStumpOutputs:
        """Bin the training rows."""
        if sp.issparse(X):
            by_column = X.tocsc()
            bins, zero_bins = sparse_bins(by_column, self.edges_, self.categories_)
            return SparseStumpOutputs(by_column, bins, zero_bins, self.first_stump_, n_threads)
        return StumpOutputs(binned(X, self.edges_, self.categories_, n_threads), self.first_stump_, n_threads)

    def values(self, X: Any, index: int) -> Values:
        """Return which rows lie above a stump's threshold."""
        feature, missing_is_high, place = address(self.first_stump_, index)
        column = dense_column(X, feature)
        known = self.categories_[feature]
        if known is not None:
            bins = category_bins(column, known)
            missing, above = bins == MISSING, bins > place
        else:
            missing = np.isnan(column)
            edges = self.edges_[feature]
            above = column > edges[place] if place < len(edges) else np.zeros(len(column), dtype=bool)
        values: Values = (above & ~missing) | (missing & missing_is_high)
        return values

    def scores(self, X: Any, indices: Numbers, weights: Floats) -> Floats:
        """Return the weighted sums of rankers, by one look-up a row in a table of each feature used.

        Notes
        -----
        O(n_rows * used features * log(thresholds)), however many rounds there were.
        """
        out = np.zeros(X.shape[0])
        functions = self.step_functions(indices, weights)
        numeric = [function for function in functions if function.categories is None]
        for function in functions:
            if function.categories is not None:
                bins = category_bins(dense_column(X, function.feature), function.categories)
                out += function.values[np.minimum(bins, len(function.categories))]
        if sp.issparse(X):
            by_column = X.tocsc()
            for function in numeric:
                column = dense_column(by_column, function.feature)[:, None]
                _add_tables(column, [function._replace(feature=0)], out)
        elif numeric:
            _add_tables(X, numeric, out)
        return out

    def step_functions(self, indices: Numbers, weights: Floats) -> list[StepFunction]:
        """Return the weighted sums of rankers as functions of the single features that they read."""
        totals = np.bincount(indices, weights, minlength=1).astype(np.float64)
        used = np.unique(self._features(np.flatnonzero(totals)))
        return [self._step_function(int(feature), totals) for feature in used]

    def _step_function(self, feature: int, weights: Floats) -> StepFunction:
        edges, known = self.edges_[feature], self.categories_[feature]
        own_weights = np.zeros(2 * len(edges) + 1)
        own = weights[self.first_stump_[feature] : self.first_stump_[feature + 1]]
        own_weights[: len(own)] = own
        above = own_weights[: len(edges)] + own_weights[len(edges) : -1]
        places = np.flatnonzero(above)
        values = np.append(0.0, np.cumsum(above[places]))
        missing = own_weights[len(edges) :].sum()
        if known is None:
            return StepFunction(feature, edges[places], np.append(values, missing))
        values = values[np.searchsorted(places, np.arange(len(known)))]
        return StepFunction(feature, np.zeros(0), np.append(values, missing), known)

    def importances(self, indices: Numbers, gains: Floats) -> Floats:
        """Return the gains of each feature."""
        return np.bincount(self._features(indices), gains, minlength=len(self.edges_)).astype(np.float64)

    def directions(self, directions: NDArray[np.intp], names: list[str]) -> NDArray[np.intp]:
        """Return a feature's for all its stumps, but not for those of missing values alone, which have none.

        Raises
        ------
        ValueError
            When a constrained feature is categorical.
        """
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
        """Return the features that stumps read."""
        return np.searchsorted(self.first_stump_, indices, side="right") - 1

    def _category_numbers(self, n_features: int) -> Numbers:
        """Return the numbers of the categorical features; names were resolved at the estimator's door."""
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


class StepFunction(NamedTuple):
    """A step function of one feature.

    Its values are those below the first threshold, between each two and above the last, and of NaN; of a
    feature whose values are names, those of each category, and of NaN and any other name.
    """

    feature: int
    thresholds: Floats
    values: Floats
    categories: Floats | None = None


def _add_tables(X: Any, functions: list[StepFunction], out: Floats) -> None:
    """Add the step functions of the features to the scores."""
    features = np.array([function.feature for function in functions])
    firsts = np.concatenate([[0], np.cumsum([len(function.thresholds) for function in functions])])
    thresholds = np.concatenate([function.thresholds for function in functions])
    values = np.concatenate([function.values for function in functions])
    entries = read_only(X)
    map_chunks(
        lambda start, stop: add_tables(entries, features, firsts, thresholds, values, start, stop, out),
        row_chunks(X.shape[0], len(functions)),
    )


class AllStumps:
    """The stumps over the training rows, by number; how bins are held is for the two below."""

    offset = 0.0

    def __init__(self, n_rows: int, firsts: Numbers, has_missing: NDArray[np.bool_]) -> None:
        self.n_rows, self.n_rankers = n_rows, int(firsts[-1])
        self.features: Numbers = np.repeat(np.arange(len(firsts) - 1), np.diff(firsts))
        self.real_valued = np.zeros(self.n_rankers, dtype=bool)
        self.has_missing, self._firsts = has_missing, firsts


class StumpOutputs(AllStumps):
    """All stumps over dense training rows, binned."""

    def __init__(self, bins: Bins, firsts: Numbers, n_threads: int | None) -> None:
        # a feature at a time: a mask of all bins would take as much memory as they do
        has_missing = np.array([bool((feature_bins == MISSING).any()) for feature_bins in bins])
        super().__init__(bins.shape[1], firsts, has_missing)
        self._bins, self._n_threads = bins, n_threads
        self._chunks = row_chunks(self.n_rows, len(bins))

    def edges(self, row_weights: Floats) -> Floats:
        """Return the edges of all stumps, by one pass over the bins."""

        def chunk_sums(start: int, stop: int) -> Floats:
            sums = np.zeros((len(self._bins), WIDTH))
            add_histograms(self._bins, row_weights, start, stop, sums)
            return sums

        edges = np.zeros(self.n_rankers)
        sums = sum_chunks(chunk_sums, self._chunks, self._n_threads)
        dense_edges(sums, self._firsts, self.has_missing, edges)
        return edges

    def values(self, index: int) -> Values:
        """Return which rows lie above the threshold."""
        feature, missing_is_high, place = address(self._firsts, index)
        return above_threshold(self._bins[feature], place, missing_is_high)


class SparseStumpOutputs(AllStumps):
    """All stumps over sparse training rows: the bins of the stored entries, and of zero."""

    def __init__(self, X: Any, bins: Bins, zero_bins: Bins, firsts: Numbers, n_threads: int | None) -> None:
        starts = X.indptr[:-1][np.diff(X.indptr) > 0]
        has_missing = zero_bins == MISSING
        if len(starts):
            has_missing[np.diff(X.indptr) > 0] |= np.maximum.reduceat(bins, starts) == MISSING
        super().__init__(X.shape[0], firsts, has_missing)
        self._rows, self._starts, self._bins, self._zero_bins = X.indices, X.indptr, bins, zero_bins
        self._chunks = row_chunks(X.shape[1], len(bins) / X.shape[1])
        self._n_threads = n_threads

    def edges(self, row_weights: Floats) -> Floats:
        """Return the edges of all stumps, by one pass over the stored entries."""
        edges, total = np.zeros(self.n_rankers), float(row_weights.sum())
        stored = (self._rows, self._bins, self._starts, self._zero_bins, self._firsts, self.has_missing)
        map_chunks(
            lambda start, stop: sparse_edges(*stored, row_weights, total, start, stop, edges),
            self._chunks,
            self._n_threads,
        )
        return edges

    def values(self, index: int) -> Values:
        """Return which rows lie above the threshold."""
        feature, missing_is_high, place = address(self._firsts, index)
        own = slice(self._starts[feature], self._starts[feature + 1])
        bins = np.full(self.n_rows, self._zero_bins[feature])
        bins[self._rows[own]] = self._bins[own]
        return above_threshold(bins, place, missing_is_high)


def above_threshold(bins: Bins, place: int, missing_is_high: bool) -> Values:
    """Return which bins lie above a threshold, that of missing values among them or not."""
    above: Values = bins > place
    if not missing_is_high:
        above &= bins != MISSING
    return above


def address(firsts: Numbers, index: int) -> tuple[int, bool, int]:
    """Return the feature of a stump, whether it puts missing values high, and the place of its threshold.

    Examples
    --------
    >>> address(np.array([0, 5, 12]), 9)  # the second of three thresholds
    (1, True, 1)
    """
    feature = int(np.searchsorted(firsts, index, side="right")) - 1
    n_edges = int(firsts[feature + 1] - firsts[feature]) // 2
    place = int(index - firsts[feature])
    return (feature, True, place - n_edges) if place >= n_edges else (feature, False, place)
