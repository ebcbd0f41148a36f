"""Weak rankers: values, edges and scores against the plainest way to get them."""

from __future__ import annotations

import tracemalloc

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st
from sklearn.linear_model import Ridge
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeRegressor

from pushrank import AdaBoostRanker, PushBoost, RankBoost
from pushrank.weak_rankers import Classifiers, Columns, Functions, Regressors, Stumps, binning, resolve
from pushrank.weak_rankers import stumps as stump_family
from weak_rankers_oracle import all_stumps

pytestmark = pytest.mark.fast


def data(seed=0, n=60, missing=True):
    rng = np.random.default_rng(seed)
    X = np.column_stack(
        [
            rng.normal(size=n),
            rng.integers(0, 3, n),
            np.full(n, 2.5),
            rng.random(n) < 0.3,
            np.exp(5 * rng.normal(size=n)),
        ]
    )
    if missing:
        X[rng.random(n) < 0.2, 0] = np.nan
        X[rng.random(n) < 0.1, 3] = np.nan
    return X, rng.normal(size=n)


@pytest.mark.parametrize("seed", range(5))
def test_stumps_are_all_thresholds_with_missing_values_on_either_side(seed):
    X, row_weights = data(seed)
    learner = Stumps().fit(X)
    outputs = learner.training_outputs(X)
    edges = outputs.edges(row_weights)
    found = {tuple(outputs.values(int(j)).astype(int)) for j in np.flatnonzero(edges)}
    assert found == all_stumps(X)
    for j in np.flatnonzero(edges):
        values = outputs.values(int(j))
        assert edges[j] == pytest.approx(row_weights[values].sum(), abs=1e-12)
        np.testing.assert_array_equal(learner.values(X, int(j)), values)


def test_scores_are_sums_of_values_on_any_rows():
    X, _ = data(1)
    learner = Stumps().fit(X)
    outputs = learner.training_outputs(X)
    rng = np.random.default_rng(0)
    exists = np.flatnonzero(outputs.edges(rng.normal(size=len(X))))
    rankers, steps = rng.choice(exists, 40), rng.normal(size=40)
    rows = np.vstack([X, np.full(X.shape[1], np.nan), np.full(X.shape[1], 1e9), np.full(X.shape[1], -1e9)])
    expected = sum(step * learner.values(rows, int(j)) for j, step in zip(rankers, steps, strict=True))
    np.testing.assert_allclose(learner.scores(rows, rankers, steps), expected, atol=1e-12)
    sparse = sp.csr_array(np.nan_to_num(rows))
    np.testing.assert_allclose(
        learner.scores(sparse, rankers, steps),
        learner.scores(sparse.toarray(), rankers, steps),
        atol=1e-12,
    )


def test_many_values_fall_into_bins_of_equal_weight():
    rng = np.random.default_rng(2)
    values = rng.normal(size=10_000)
    edges = binning.quantile_thresholds(values, None, 255)
    assert len(edges) == 254
    counts = np.bincount(np.searchsorted(edges, values), minlength=255)
    assert counts.min() >= 38
    assert counts.max() <= 41
    weights = rng.integers(0, 4, 10_000).astype(float)
    repeated = np.repeat(values, weights.astype(int))
    counted = weights > 0
    np.testing.assert_array_equal(
        binning.quantile_thresholds(values[counted], weights[counted], 255),
        binning.quantile_thresholds(repeated, None, 255),
    )


def test_a_value_that_most_rows_share_does_not_use_up_the_bins():
    rng = np.random.default_rng(3)
    values = np.where(rng.random(20_000) < 0.9, 7.0, rng.normal(size=20_000))
    edges = binning.quantile_thresholds(values, None, 255)
    assert len(edges) >= 250
    counts = np.bincount(np.searchsorted(edges, values[values != 7.0]), minlength=len(edges) + 1)
    assert counts.max() <= 20  # 2,000 rows in some 250 bins


@given(st.lists(st.integers(1, 500), min_size=1, max_size=400), st.integers(2, 255))
def test_bins_are_never_too_many_and_cover_all_values(counts, max_bins):
    values = np.repeat(np.arange(len(counts), dtype=float), counts)
    edges = binning.quantile_thresholds(values, None, max_bins)
    assert len(edges) <= max_bins - 1
    assert (np.diff(edges) > 0).all()
    assert len(edges) == min(len(counts), max_bins) - 1 or len(counts) > max_bins


@given(st.lists(st.floats(allow_nan=False, allow_infinity=False), min_size=2, max_size=30))
def test_thresholds_separate_any_two_floats(values):
    distinct = np.unique(values)
    edges = binning.quantile_thresholds(np.array(values), None, 255)
    assert len(edges) == len(distinct) - 1
    assert (edges >= distinct[:-1]).all()
    assert (edges < distinct[1:]).all()


def test_few_rows_are_binned_as_they_are_and_many_are_sampled(monkeypatch):
    X = np.random.default_rng(3).normal(size=(5000, 2))
    monkeypatch.setattr(binning, "MAX_ROWS", 1000)
    one, same, other = (Stumps().fit(X, random_state=np.random.RandomState(seed)) for seed in (0, 0, 1))
    np.testing.assert_array_equal(one.thresholds_[0], same.thresholds_[0])
    assert not np.array_equal(one.thresholds_[0], other.thresholds_[0])


def test_categories_are_ordered_by_frequency_and_unknown_ones_are_missing():
    column = np.array([7.0, 7, 7, 3, 3, 9, np.nan])
    learner = Stumps(categorical_features=[0]).fit(column[:, None])
    assert learner.categories_[0].tolist() == [7.0, 3.0, 9.0]
    outputs = learner.training_outputs(column[:, None])
    assert outputs.values(0).tolist() == [False] * 3 + [True] * 3 + [False]
    rows = np.array([[9.0], [3.0], [7.0], [1.0], [np.nan]])
    np.testing.assert_array_equal(learner.values(rows, 0), [True, True, False, False, False])
    np.testing.assert_array_equal(learner.values(rows, 2), [True, True, False, True, True])
    scores = learner.scores(rows, np.array([0, 1, 2]), np.array([1.0, 10.0, 100.0]))
    assert scores.tolist() == [111.0, 101.0, 0.0, 100.0, 100.0]


def test_memory_of_stumps_is_a_byte_an_entry():
    X = np.random.default_rng(0).normal(size=(1000, 8))
    assert binning.dense_bins(X, Stumps().fit(X).thresholds_, [None] * 8, None).nbytes == X.size


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("density", [0.02, 0.3, 1.0])
@pytest.mark.parametrize(("weighted", "max_bins"), [(False, 255), (True, 255), (True, 3)])
def test_sparse_rows_have_the_stumps_of_dense_ones(seed, density, weighted, max_bins):
    """Zeros on either side of the values, stored or not; missing values; categories; rows without weight."""
    rng = np.random.default_rng(seed)
    X = rng.choice([-2.5, -1.0, 0.0, 0.5, 3.0, 7.0, np.nan], (40, 5), p=[0.1, 0.2, 0.2, 0.2, 0.1, 0.1, 0.1])
    X[:, 4] = np.abs(rng.normal(size=40))
    X[rng.random(X.shape) > density] = 0.0
    stored = sp.coo_array(X)
    explicit = np.append(stored.data, 0.0), (np.append(stored.row, 7), np.append(stored.col, 2))
    sparse = sp.csr_array(explicit, shape=X.shape)
    row_weights = rng.choice([0.0, 0.5, 1.0, 2.0], 40) if weighted else None
    stumps = Stumps(max_bins, categorical_features=[3])
    dense_outputs = stumps.fit(X, row_weights).training_outputs(X)
    dense_edges, firsts = stumps.thresholds_, stumps.first_stump_
    outputs = stumps.fit(sparse, row_weights).training_outputs(sparse)
    for found, expected in zip(stumps.thresholds_, dense_edges, strict=True):
        np.testing.assert_array_equal(found, expected)
    np.testing.assert_array_equal(stumps.first_stump_, firsts)
    forces = rng.normal(size=40)
    np.testing.assert_allclose(outputs.edges(forces), dense_outputs.edges(forces), atol=1e-12)
    for index in range(0, outputs.n_rankers, 3):
        np.testing.assert_array_equal(outputs.values(index), dense_outputs.values(index))


@pytest.mark.parametrize("max_rows", [300, 1000])
def test_sparse_rows_are_boosted_as_dense_ones(max_rows, monkeypatch):
    # With 300 rows the quantiles are those of a sample, with 1000 those of all rows.
    monkeypatch.setattr(binning, "MAX_ROWS", max_rows)
    X = sp.random(600, 30, 0.1, format="csr", random_state=0)
    y = X @ np.arange(30.0) > 4.0
    sparse, dense = (PushBoost(4, n_estimators=20, random_state=0).fit(rows, y) for rows in (X, X.toarray()))
    np.testing.assert_array_equal(sparse.estimator_index_, dense.estimator_index_)
    np.testing.assert_allclose(sparse.estimator_weights_, dense.estimator_weights_, rtol=1e-9)


def test_stumps_of_sparse_rows_take_memory_for_stored_entries_alone():
    def peak(n_rows):
        X = sp.random(n_rows, 100, 500 / (100 * n_rows), format="csr", random_state=0, data_rvs=np.ones)
        stumps = Stumps()
        tracemalloc.start()
        outputs = stumps.fit(X).training_outputs(X)
        outputs.edges(np.ones(n_rows))
        most = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        return most

    # The first call compiles functions.
    peak(10)
    # A byte an entry would be 6,000,000 more; what is allocated beside the rows varies by some 200,000.
    assert peak(64_000) < peak(4_000) + 20 * 60_000


def test_edges_of_sparse_rows_read_the_stored_entries_once(monkeypatch):
    class CountedWeights:
        n_read = 0

        def __getitem__(self, row):
            self.n_read += 1
            return 1.0

        def sum(self):
            return 300.0

    X, row_weights = sp.random(300, 40, 0.02, format="csr", random_state=0), CountedWeights()
    outputs = Stumps().fit(X).training_outputs(X)
    expected = outputs.edges(np.ones(300))
    monkeypatch.setattr(stump_family, "sparse_edges", stump_family.sparse_edges.py_func)
    np.testing.assert_array_equal(outputs.edges(row_weights), expected)
    assert row_weights.n_read == X.nnz


@pytest.mark.parametrize("layout", [np.ascontiguousarray, np.asfortranarray, sp.csr_array, sp.csc_array])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_columns_have_the_unit_of_their_range(layout, dtype):
    X = np.random.default_rng(4).integers(-3, 9, (50, 4)).astype(dtype)
    X[:, 2] = 5
    scaled = np.zeros((50, 4))
    moving = np.array([0, 1, 3])
    scaled[:, moving] = (X[:, moving] - X[:, moving].min(axis=0)) / np.ptp(X[:, moving], axis=0)
    stored = layout(X)
    learner = Columns().fit(stored)
    outputs = learner.training_outputs(stored)
    row_weights = np.random.default_rng(5).normal(size=50)
    np.testing.assert_allclose(outputs.edges(row_weights), scaled.T @ row_weights, atol=1e-6)
    for j in range(4):
        np.testing.assert_allclose(outputs.values(j), scaled[:, j], atol=1e-7)
    steps = np.array([1.0, -2.0, 0.5, 3.0])
    np.testing.assert_allclose(learner.scores(stored, np.arange(4), steps), scaled @ steps, atol=1e-6)


def test_a_column_of_two_values_is_binary_whatever_they_are():
    X = np.array([[1e6, 0.0], [-1e6, 0.1], [1e6, 0.2]])
    outputs = Columns().fit(X).training_outputs(X)
    assert outputs.values(0).tolist() == [True, False, True]
    assert outputs.real_valued.tolist() == [False, True]


def test_functions_are_checked():
    X = np.arange(6.0).reshape(3, 2)
    learner = Functions([lambda X: X[:, 0], lambda X: X[:, 1] > 2]).fit(X)
    assert learner.values(X, 0).tolist() == [0.0, 0.5, 1.0]
    assert learner.scores(X, np.array([0, 1]), np.array([2.0, 1.0])).tolist() == [0.0, 2.0, 3.0]
    for functions, message in (
        ([], "at least one function"),
        ([lambda X: X], "one number a row"),
        ([lambda X: np.log(X[:, 0] * 0 - 1)], "finite"),
    ):
        with np.errstate(invalid="ignore"), pytest.raises(ValueError, match=message):
            Functions(functions).fit(X)
    with pytest.raises(TypeError, match="callables"):
        Functions([3]).fit(X)


def test_names_and_objects_stand_for_families():
    assert isinstance(resolve("columns"), Columns)
    assert type(resolve(DecisionTreeRegressor())) is Regressors
    assert isinstance(resolve(make_pipeline(GaussianNB())), Classifiers)
    assert isinstance(resolve([np.ravel]), Functions)
    learner = Stumps(max_bins=7)
    assert resolve(learner) is learner
    with pytest.raises(ValueError, match="weak_rankers='trees' is not known"):
        resolve("trees")
    with pytest.raises(TypeError, match="weak_rankers must be"):
        resolve(3)
    with pytest.raises(TypeError, match=r"must be a classifier, .* whose fit accepts sample_weight"):
        Classifiers(KNeighborsClassifier()).fit(np.eye(2))
    with pytest.raises(TypeError, match=r"must be a regressor, .* accepts sample_weight"):
        Regressors(sklearn_regressor_without_weights()).fit(np.eye(2))


def test_a_pipeline_is_what_its_last_step_is():
    with pytest.raises(TypeError, match="a pipeline that ends in one, whose fit accepts sample_weight"):
        Regressors(make_pipeline(StandardScaler(), sklearn_regressor_without_weights())).fit(np.eye(2))
    rng = np.random.default_rng(0)
    X, targets, weights = rng.normal(size=(50, 3)), rng.choice([-1.0, 1.0], 50), rng.random(50)
    tree = DecisionTreeRegressor(max_depth=3, splitter="random")
    values = []
    for base in (tree, make_pipeline(tree), make_pipeline(make_pipeline(tree))):
        learner = Regressors(base).fit(X)
        values.append(learner.fit_next(X, targets, weights, None, np.random.RandomState(5)))
    np.testing.assert_array_equal(values[1], values[0])
    np.testing.assert_array_equal(values[2], values[0])


def sklearn_regressor_without_weights():
    from sklearn.neighbors import KNeighborsRegressor

    return KNeighborsRegressor()


def test_regressors_have_values_between_zero_and_one():
    X, _ = data(6, missing=False)
    learner = Regressors(Ridge()).fit(X)
    targets, weights = np.sign(X[:, 0]), np.ones(len(X))
    values = learner.fit_next(X, targets, weights, np.array([0, 1]), np.random.RandomState(0))
    np.testing.assert_array_equal(learner.values(X, 0), values)
    assert values.min() == 0.0
    assert values.max() == pytest.approx(1.0)
    assert np.corrcoef(values, targets)[0, 1] > 0.5
    with pytest.raises(AttributeError):
        learner.importances(np.array([0]), np.ones(1))


@pytest.mark.parametrize("ranker", [RankBoost, AdaBoostRanker])
def test_a_round_predicts_the_training_rows_once(ranker, monkeypatch):
    X, _ = data(6, missing=False)
    predict, sizes = Ridge.predict, []

    def counted(self, rows):
        sizes.append(len(rows))
        return predict(self, rows)

    monkeypatch.setattr(Ridge, "predict", counted)
    ranker(weak_rankers=Ridge(), n_estimators=7).fit(X, X[:, 0] + X[:, 1] ** 2 > 1)
    assert sizes == [len(X)] * 7


@pytest.mark.parametrize("bad", [1, 256])
def test_bins_out_of_range(bad):
    with pytest.raises(ValueError, match=f"max_bins must be >= 2 and <= 255, got {bad}"):
        Stumps(max_bins=bad).fit(np.eye(3))


@pytest.mark.parametrize("bad", [3.5, "many", True])
def test_bins_that_are_no_integer(bad):
    with pytest.raises(TypeError, match="max_bins must be an integer"):
        Stumps(max_bins=bad).fit(np.eye(3))


@pytest.mark.parametrize("bad", ["some", [5], [-1], [0.5]])
def test_categories_that_are_no_features(bad):
    with pytest.raises(ValueError, match="categorical_features"):
        Stumps(categorical_features=bad).fit(np.eye(3))


@pytest.mark.parametrize("unit", [1.0, 49.0, 98.0, 103.0, 0.1, 3e7])
def test_a_column_of_two_values_is_binary_whatever_its_range(unit):
    X = np.column_stack([[0.0, unit, unit, 0.0, unit], np.arange(5.0)])
    outputs = Columns().fit(X).training_outputs(X)
    assert outputs.real_valued.tolist() == [False, True]
    assert outputs.values(0).tolist() == [False, True, True, False, True]
