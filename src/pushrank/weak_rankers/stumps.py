"""Thresholds of features."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar, NamedTuple, Self

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from pushrank._numeric import Floats
from pushrank._parallel import compiled, map_chunks, row_chunks, sum_chunks
from pushrank._validation import check_number
from pushrank.weak_rankers.base import Numbers, Values, WeakRankers

Bins = NDArray[np.uint8]
MISSING = 255  # the bin of a missing value: a bin is one byte
WIDTH = 256  # numbers reserved for the stumps of one feature, on either side of missing values
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


def binned(X: Any, edges: list[Floats], categories: list[Floats | None], n_threads: int | None) -> Bins:
    """Return the bins of all entries, shape (n_features, n_rows): how many thresholds lie below the entry.

    255 stands for a missing value. A categorical feature comes with its categories in the order of their
    bins; an unknown one is missing. One reading of the data; a byte an entry of memory, for sparse data too.
    """
    n_rows, n_features = X.shape
    bins = np.empty((n_features, n_rows), dtype=np.uint8)
    padded = np.full((n_features, 256), np.inf)
    for feature, feature_edges in enumerate(edges):
        padded[feature, : len(feature_edges)] = feature_edges
    if sp.issparse(X):
        by_column = X.tocsc()

        def bin_column(start: int, stop: int) -> None:
            column = dense_column(by_column, start)[:, None]
            bin_rows(column, padded[start:stop], 0, n_rows, bins[start:stop])

        map_chunks(bin_column, [(feature, feature + 1) for feature in range(n_features)], n_threads)
    else:
        map_chunks(
            lambda start, stop: bin_rows(X, padded, start, stop, bins),
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

    Notes
    -----
    Training holds one byte an entry; an edge of all thresholds costs one reading of these bytes. Quantiles
    are taken from at most 200,000 rows. Ties: rows in the same bin have the same value.

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
        by_column = X.tocsc() if sp.issparse(X) else X

        def thresholds_of(feature: int, _: int) -> tuple[Floats, Floats | None]:
            if is_category[feature]:
                # all rows, not a sample of them: it would miss the rare categories
                every, every_weight = dense_column(by_column, feature), None
                if row_weights is not None:
                    counting = row_weights > 0.0
                    every, every_weight = every[counting], row_weights[counting]
                known = categories_by_frequency(every, every_weight, int(self.max_bins))
                return np.arange(0.5, len(known) - 1.0), known
            values = dense_column(by_column, feature, rows)
            return thresholds(values, weights, int(self.max_bins)), None

        found = map_chunks(thresholds_of, [(feature, feature + 1) for feature in range(n_features)])
        self.edges_ = [edges for edges, _ in found]
        self.categories_ = [known for _, known in found]
        return self

    def training_outputs(self, X: Any, n_threads: int | None = None) -> StumpOutputs:
        """Bin the training rows."""
        bins = binned(X, self.edges_, self.categories_, n_threads)
        return StumpOutputs(bins, np.array([len(edges) for edges in self.edges_]), n_threads)

    def values(self, X: Any, index: int) -> Values:
        """Return which rows lie above a stump's threshold."""
        feature, missing_is_high, place = address(index)
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
        totals = np.bincount(indices, weights, minlength=1).astype(np.float64)
        used = np.unique(np.flatnonzero(totals) // (2 * WIDTH))
        tables = [self._table(feature, totals) for feature in used]
        numeric = [table for table in tables if self.categories_[table.feature] is None]
        for table in tables:
            known = self.categories_[table.feature]
            if known is not None:
                places = category_bins(dense_column(X, table.feature), known)
                kept = np.searchsorted(table.places, places, side="left")
                out += table.values[np.where(places == MISSING, len(table.values) - 1, kept)]
        if sp.issparse(X):
            by_column = X.tocsc()
            for table in numeric:
                column = dense_column(by_column, table.feature)[:, None]
                _add_tables(column, [table._replace(feature=0)], out)
        elif numeric:
            _add_tables(X, numeric, out)
        return out

    def _table(self, feature: int, weights: Floats) -> _Table:
        """Return the weighted sums of rankers as a function of a feature."""
        own_weights = weights[feature * 2 * WIDTH : (feature + 1) * 2 * WIDTH]
        stumps = np.flatnonzero(own_weights)
        edges = self.edges_[feature]
        above = np.bincount(stumps % WIDTH, own_weights[stumps], minlength=len(edges))
        places = np.flatnonzero(above[: len(edges)])
        missing = own_weights[stumps[stumps >= WIDTH]].sum()
        values = np.concatenate([[0.0], np.cumsum(above[places]), [missing]])
        return _Table(int(feature), places, edges[places], values)

    def importances(self, indices: Numbers, gains: Floats) -> Floats:
        """Return the gains of each feature."""
        return np.bincount(indices // (2 * WIDTH), gains, minlength=len(self.edges_)).astype(np.float64)

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
        stump_directions = np.repeat(directions, 2 * WIDTH)
        firsts = np.arange(len(self.edges_)) * 2 * WIDTH + WIDTH
        stump_directions[firsts + [len(edges) for edges in self.edges_]] = 0
        return stump_directions

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


class _Table(NamedTuple):
    """A step function of one feature: its thresholds, and a value for each place among them and for NaN."""

    feature: int
    places: Numbers
    edges: Floats
    values: Floats


def _add_tables(X: Any, tables: list[_Table], out: Floats) -> None:
    """Add the step functions of the features to the scores."""
    features = np.array([table.feature for table in tables])
    firsts = np.concatenate([[0], np.cumsum([len(table.edges) for table in tables])])
    edges, values = (
        np.concatenate(parts) for parts in zip(*((t.edges, t.values) for t in tables), strict=True)
    )
    map_chunks(
        lambda start, stop: add_tables(X, features, firsts, edges, values, start, stop, out),
        row_chunks(X.shape[0], len(tables)),
    )


class StumpOutputs:
    """All stumps over the training rows, binned."""

    offset = 0.0

    def __init__(self, bins: Bins, n_edges: Numbers, n_threads: int | None) -> None:
        n_features, self.n_rows = bins.shape
        self._bins, self._n_threads = bins, n_threads
        self._chunks = row_chunks(self.n_rows, n_features)
        self.n_rankers = n_features * 2 * WIDTH
        self.features: Numbers = np.repeat(np.arange(n_features), 2 * WIDTH)
        # a feature at a time: a mask of all bins would take as much memory as they do
        self.has_missing = np.array([bool((feature_bins == MISSING).any()) for feature_bins in bins])
        places = np.arange(WIDTH)
        self._exists = np.zeros((n_features, 2, WIDTH), dtype=bool)
        self._exists[:, 0] = places < n_edges[:, None]
        self.real_valued = np.zeros(self.n_rankers, dtype=bool)
        self._exists[:, 1] = (places <= n_edges[:, None]) & self.has_missing[:, None]

    def edges(self, row_weights: Floats) -> Floats:
        """Return the edges of all stumps, by one pass over the bins."""
        sums = self._histograms(row_weights)
        edges = np.zeros_like(self._exists, dtype=np.float64)
        edges[:, 0, :-2] = np.cumsum(sums[:, MISSING - 1 : 0 : -1], axis=1)[:, ::-1]
        edges[:, 1] = edges[:, 0] + sums[:, [MISSING]]
        return np.where(self._exists, edges, 0.0).ravel()

    def values(self, index: int) -> Values:
        """Return which rows lie above the threshold."""
        feature, missing_is_high, place = address(index)
        above: Values = self._bins[feature] > place
        if self.has_missing[feature] and not missing_is_high:
            above &= self._bins[feature] != MISSING
        return above

    def _histograms(self, row_weights: Floats) -> Floats:
        """Return the sum of the weights in every bin, shape (n_features, 256)."""

        def chunk_sums(start: int, stop: int) -> Floats:
            sums = np.zeros((len(self._bins), WIDTH))
            add_histograms(self._bins, row_weights, start, stop, sums)
            return sums

        return sum_chunks(chunk_sums, self._chunks, self._n_threads)


def address(index: int) -> tuple[int, bool, int]:
    """Return the feature of a stump, whether it puts missing values high, and the place of its threshold.

    Examples
    --------
    >>> address(2 * WIDTH + WIDTH + 7)
    (1, True, 7)
    """
    feature, rest = divmod(int(index), 2 * WIDTH)
    return feature, rest >= WIDTH, rest % WIDTH
