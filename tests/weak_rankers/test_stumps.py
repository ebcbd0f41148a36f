"""Stumps: values, edges and scores against the plainest way to get them."""

import pickle

import numpy as np
import pytest
import scipy.sparse as sp

from combinations import by_day
from growth import held
from pushrank import PushBoost
from pushrank.weak_rankers import Stumps, binning
from pushrank.weak_rankers import stumps as stump_family
from weak_rankers_oracle import all_stumps, rows_of_all_kinds

pytestmark = pytest.mark.fast


@pytest.mark.parametrize("seed", by_day(range(5), 2))
def test_stumps_are_all_thresholds_with_missing_values_on_either_side(seed):
    X, row_weights = rows_of_all_kinds(seed)
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
    X, _ = rows_of_all_kinds(1)
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
        learner.scores(sparse, rankers, steps), learner.scores(sparse.toarray(), rankers, steps), atol=1e-12
    )


def test_what_is_kept_for_the_next_row_follows_weights_and_fits_and_is_in_no_copy():
    X, (rankers, steps) = np.arange(12.0)[:, None] ** 2, (np.array([1, 4]), np.array([1.0, 2.0]))
    learner = Stumps().fit(X)
    assert learner.step_functions(rankers, steps) is learner.step_functions(rankers.copy(), steps.copy())
    before = pickle.dumps(Stumps().fit(X))
    scores = learner.scores(X, rankers, steps)
    assert pickle.dumps(learner) == before
    steps *= 3.0
    np.testing.assert_array_equal(learner.scores(X, rankers, steps), 3.0 * scores)
    rows = X[::-1] + 5.0
    np.testing.assert_array_equal(
        learner.fit(rows).scores(X, rankers, steps), Stumps().fit(rows).scores(X, rankers, steps)
    )


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


@pytest.mark.parametrize("seed", by_day(range(3), 2))
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
    def rows(n):
        return sp.random(n, 100, 500 / (100 * n), format="csr", random_state=0, data_rvs=np.ones)

    def work(X):
        Stumps().fit(X).training_outputs(X).edges(np.ones(X.shape[0]))

    def peak(n_rows):
        X = rows(n_rows)
        return held(lambda: work(X))

    # The first call compiles functions.
    work(rows(10))
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


@pytest.mark.parametrize(
    ("parameters", "error", "message"),
    [
        *(
            ({"max_bins": bad}, ValueError, f"max_bins must be >= 2 and <= 255, got {bad}")
            for bad in (1, 256)
        ),
        *(({"max_bins": bad}, TypeError, "max_bins must be an integer") for bad in (3.5, "many", True)),
        *(({"categorical_features": bad}, ValueError, "categorical_f") for bad in ("some", [5], [-1], [0.5])),
    ],
)
def test_parameters_out_of_range(parameters, error, message):
    with pytest.raises(error, match=message):
        Stumps(**parameters).fit(np.eye(3))


@pytest.mark.parametrize("missing", [False, True])
def test_few_rows_of_many_columns_have_the_edges_of_all_bins(missing):
    X = np.random.default_rng(0).normal(size=(9, 40))
    X[:, 3:7] = np.round(X[:, 3:7])
    if missing:
        X[2, 5] = np.nan
    stumps, weights = Stumps().fit(X), np.arange(9) - 3.5
    outputs = stumps.training_outputs(X)
    expected = [weights @ outputs.values(number) for number in range(outputs.n_rankers)]
    # Without missing values the stumps that put them high are copies, whose edges stay zero.
    address = np.arange(outputs.n_rankers) - stumps.first_stump_[outputs.features]
    n_thresholds = np.array([len(thresholds) for thresholds in stumps.thresholds_])[outputs.features]
    told = (address < n_thresholds) | outputs.has_missing[outputs.features]
    np.testing.assert_allclose(outputs.edges(weights), np.where(told, expected, 0.0), atol=1e-12)
