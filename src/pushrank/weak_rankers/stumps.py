"""Threshold stumps on binned features."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar, NamedTuple, Self

import numpy as np
import scipy.sparse as sp

from pushrank._checks import check_number
from pushrank._chunks import map_chunks, row_chunks
from pushrank._log_space import Floats
from pushrank.weak_rankers import binning, stump_kernels
from pushrank.weak_rankers.base import Numbers, Values, WeakRankers

WIDTH = 256  # numbers reserved for the stumps of one feature, on either side of missing values


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
        check_number("max_bins", self.max_bins, 2, binning.MISSING, integer=True)
        n_rows, n_features = X.shape
        is_category = np.zeros(n_features, dtype=bool)
        is_category[self._category_numbers(n_features)] = True
        uneven = row_weights is not None and not np.array_equal(row_weights, row_weights.astype(bool))
        rows = binning.sampled_rows(n_rows, row_weights, random_state or np.random.RandomState(0))
        weights = row_weights[rows] if row_weights is not None and uneven else None
        by_column = X.tocsc() if sp.issparse(X) else X

        def thresholds_of(feature: int, _: int) -> tuple[Floats, Floats | None]:
            if is_category[feature]:
                every = binning.dense_column(by_column, feature)
                of_rows = None
                if row_weights is not None:
                    counting = row_weights > 0.0
                    every, of_rows = every[counting], row_weights[counting]
                known = binning.categories_by_frequency(every, of_rows, int(self.max_bins))
                return np.arange(0.5, len(known) - 1.0), known
            values = binning.dense_column(by_column, feature, rows)
            return binning.thresholds(values, weights, int(self.max_bins)), None

        found = map_chunks(thresholds_of, [(feature, feature + 1) for feature in range(n_features)])
        self.edges_ = [edges for edges, _ in found]
        self.categories_ = [known for _, known in found]
        return self

    def pool(self, X: Any, n_threads: int | None = None) -> StumpPool:
        """Bin the training rows."""
        bins = binning.binned(X, self.edges_, self.categories_, n_threads)
        return StumpPool(bins, np.array([len(edges) for edges in self.edges_]), n_threads)

    def values(self, X: Any, ranker: int) -> Values:
        """Return which rows lie above a stump's threshold."""
        feature, missing_is_high, place = address(ranker)
        column = binning.dense_column(X, feature)
        known = self.categories_[feature]
        if known is not None:
            bins = binning.category_bins(column, known)
            missing, above = bins == binning.MISSING, bins > place
        else:
            missing = np.isnan(column)
            edges = self.edges_[feature]
            above = column > edges[place] if place < len(edges) else np.zeros(len(column), dtype=bool)
        values: Values = (above & ~missing) | (missing & missing_is_high)
        return values

    def scores(self, X: Any, rankers: Numbers, steps: Floats) -> Floats:
        """Return the sums of steps, by one look-up a row in a table of each feature used.

        Notes
        -----
        O(n_rows * used features * log(thresholds)), however many steps there are.
        """
        out = np.zeros(X.shape[0])
        weights = np.bincount(rankers, steps, minlength=1).astype(np.float64)
        tables = [
            self._table(feature, weights) for feature in np.unique(np.flatnonzero(weights) // (2 * WIDTH))
        ]
        numeric = [table for table in tables if self.categories_[table.feature] is None]
        for table in tables:
            known = self.categories_[table.feature]
            if known is not None:
                places = binning.category_bins(binning.dense_column(X, table.feature), known)
                kept = np.searchsorted(table.places, places, side="left")
                out += table.values[np.where(places == binning.MISSING, len(table.values) - 1, kept)]
        if sp.issparse(X):
            by_column = X.tocsc()
            for table in numeric:
                column = binning.dense_column(by_column, table.feature)[:, None]
                _add_tables(column, [table._replace(feature=0)], out)
        elif numeric:
            _add_tables(X, numeric, out)
        return out

    def _table(self, feature: int, weights: Floats) -> _Table:
        """Return the sums of steps as a function of a feature."""
        mine = np.flatnonzero(weights[feature * 2 * WIDTH : (feature + 1) * 2 * WIDTH])
        of_rankers = weights[feature * 2 * WIDTH + mine]
        edges = self.edges_[feature]
        above = np.bincount(mine % WIDTH, of_rankers, minlength=len(edges))
        places = np.flatnonzero(above[: len(edges)])
        of_missing = of_rankers[mine >= WIDTH].sum()
        values = np.concatenate([[0.0], np.cumsum(above[places]), [of_missing]])
        return _Table(int(feature), places, edges[places], values)

    def importances(self, rankers: Numbers, gains: Floats) -> Floats:
        """Return the gains of each feature."""
        return np.bincount(rankers // (2 * WIDTH), gains, minlength=len(self.edges_)).astype(np.float64)

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
        lambda start, stop: stump_kernels.add_tables(X, features, firsts, edges, values, start, stop, out),
        row_chunks(X.shape[0], len(tables)),
    )


class StumpPool:
    """All stumps over the training rows, binned."""

    low = 0.0

    def __init__(self, bins: binning.Bins, n_edges: Numbers, n_threads: int | None) -> None:
        n_features, self.n_rows = bins.shape
        self._bins, self._n_threads = bins, n_threads
        self._chunks = row_chunks(self.n_rows, n_features)
        self.n_rankers = n_features * 2 * WIDTH
        self.features: Numbers = np.repeat(np.arange(n_features), 2 * WIDTH)
        self.has_missing = np.array([bool((of_feature == binning.MISSING).any()) for of_feature in bins])
        places = np.arange(WIDTH)
        self._exists = np.zeros((n_features, 2, WIDTH), dtype=bool)
        self._exists[:, 0] = places < n_edges[:, None]
        self.real_valued = np.zeros(self.n_rankers, dtype=bool)
        self._exists[:, 1] = (places <= n_edges[:, None]) & self.has_missing[:, None]

    def edges(self, forces: Floats) -> Floats:
        """Return the edges of all stumps, by one pass over the bins."""
        sums = self._histograms(forces)
        edges = np.zeros_like(self._exists, dtype=np.float64)
        edges[:, 0, :-2] = np.cumsum(sums[:, binning.MISSING - 1 : 0 : -1], axis=1)[:, ::-1]
        edges[:, 1] = edges[:, 0] + sums[:, [binning.MISSING]]
        return np.where(self._exists, edges, 0.0).ravel()

    def values(self, ranker: int) -> Values:
        """Return which rows lie above the threshold."""
        feature, missing_is_high, place = address(ranker)
        above: Values = self._bins[feature] > place
        if self.has_missing[feature] and not missing_is_high:
            above &= self._bins[feature] != binning.MISSING
        return above

    def _histograms(self, forces: Floats) -> Floats:
        """Return the sum of the forces in every bin, shape (n_features, 256)."""

        def of_chunk(start: int, stop: int) -> Floats:
            sums = np.zeros((len(self._bins), WIDTH))
            stump_kernels.add_histograms(self._bins, forces, start, stop, sums)
            return sums

        total, *rest = map_chunks(of_chunk, self._chunks, self._n_threads)
        for part in rest:
            total += part
        return total


def address(ranker: int) -> tuple[int, bool, int]:
    """Return the feature of a stump, whether it puts missing values high, and the place of its threshold.

    Examples
    --------
    >>> address(2 * WIDTH + WIDTH + 7)
    (1, True, 7)
    """
    feature, rest = divmod(int(ranker), 2 * WIDTH)
    return feature, rest >= WIDTH, rest % WIDTH
