"""Data made to break a push ranker: separable, wide, tiny, huge, tied."""

import warnings
from functools import partial
from itertools import product

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.datasets import load_breast_cancer
from sklearn.exceptions import ConvergenceWarning
from sklearn.preprocessing import scale

from combinations import by_day
from growth import held
from pushrank import PNormPush, PushRanker, metrics
from pushrank.solvers import SOLVERS
from samples import BOTH, PULL, PUSH_RANKERS, overlapping


def radar(n=351, seed=0):
    """Return a set like ionosphere: signals within [-1, 1] in pairs, one column constant, one binary."""
    rng = np.random.default_rng(seed)
    y = rng.random(n) < 0.64
    phase = rng.uniform(0, np.pi, n)[:, None] * np.arange(16)
    decay = np.where(y, 0.02, 0.4)[:, None] * np.arange(16)
    waves = np.stack([np.cos(phase), np.sin(phase)], axis=2) * np.exp(-decay)[:, :, None]
    signals = np.clip(waves.reshape(n, 32) + rng.normal(size=(n, 32)) * np.where(y, 0.2, 0.6)[:, None], -1, 1)
    return np.column_stack([(rng.random(n) < np.where(y, 1.0, 0.7)).astype(float), np.zeros(n), signals]), y


@pytest.mark.parametrize("ranker", [PNormPush, PULL, BOTH])
@pytest.mark.parametrize("p", [1, 1.5, 2, 4, 16, 64, 256, 1000])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_every_power_converges_on_signals(ranker, p, dtype):
    X, y = radar()
    fitted = ranker(p=p).fit(X.astype(dtype), y)
    assert fitted.converged_
    assert np.isfinite(fitted.coef_).all()
    # a constant column gets no more than the rounding of the others
    assert abs(fitted.coef_[1]) < 1e-12


@pytest.mark.parametrize(
    ("solver", "shape"),
    [
        *(("lbfgs", (60, n_features)) for n_features in (50, 500, 1024, 1025, 2000)),
        *(("newton-cg", (60, n_features)) for n_features in (50, 500, 1025)),
    ],
)
def test_more_columns_than_rows_converge_by_default(solver, shape):
    X, y = np.random.default_rng(0).normal(size=shape), np.arange(shape[0]) % 3 == 0
    ranker = PNormPush(solver=solver).fit(X, y)
    assert metrics.auc(y, ranker.decision_function(X)) == 1.0


@pytest.mark.parametrize("p", [64, 1000])
def test_wide_sparse_data_converge_at_every_power(p):
    X, y = sp.random(300, 3000, 0.02, "csr", random_state=0), np.arange(300) % 3 == 0
    PNormPush(p=p).fit(X, y)


@pytest.mark.parametrize(
    ("solver", "ranker", "dtype"),
    [
        *(("lbfgs", ranker, np.float64) for ranker in (PNormPush, PULL, BOTH, PushRanker)),
        *(("lbfgs", partial(PNormPush, p=1000), dtype) for dtype in (np.float32, np.float64)),
        ("lbfgs", PNormPush, np.float32),
        ("newton-cg", PNormPush, np.float64),
        ("newton-cg", BOTH, np.float32),
    ],
)
def test_separable_without_a_penalty_warns_and_ranks_all_pairs_rightly(solver, ranker, dtype):
    X, y = load_breast_cancer(return_X_y=True)
    X = scale(X).astype(dtype)
    with pytest.warns(ConvergenceWarning, match=r"separable and alpha=0.*Set alpha > 0"):
        fitted = ranker(alpha=0.0, solver=solver).fit(X, y)
    scores = fitted.decision_function(X)
    assert np.isfinite(fitted.coef_).all()
    assert not fitted.converged_
    assert scores[y == 1].min() > scores[y == 0].max()


def test_boosting_says_when_data_are_separable():
    X, y = overlapping()
    X = X + 10.0 * y[:, None]
    with pytest.warns(ConvergenceWarning, match="separable"):
        PNormPush(alpha=0.0, solver="coordinate", max_iter=50).fit(X, y)


@pytest.mark.parametrize("alpha", [1e-6, 1e-12, 1e-30])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_a_penalty_next_to_nothing_leaves_finite_coefficients(alpha, dtype):
    X, y = overlapping()
    X = (X + 10.0 * y[:, None]).astype(dtype)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        ranker = PNormPush(alpha=alpha).fit(X, y)
    assert np.isfinite(ranker.coef_).all()
    assert metrics.auc(y, ranker.decision_function(X)) == 1.0


def test_a_penalty_whose_optimum_may_be_beyond_any_float_is_refused():
    X, y = overlapping()
    with pytest.raises(ValueError, match="alpha must be 0 or at least 1e-30"):
        PNormPush(alpha=1e-300).fit(X, y)


@pytest.mark.parametrize("ranker", PUSH_RANKERS)
@pytest.mark.parametrize("solver", SOLVERS)
class TestSmall:
    def test_one_of_each(self, ranker, solver):
        fitted = ranker(solver=solver, alpha=0.1).fit([[0.0, 1.0], [1.0, 0.0]], ["yes", "no"])
        assert fitted.converged_
        assert fitted.predict([[0.0, 1.0], [1.0, 0.0]]).tolist() == ["yes", "no"]

    @pytest.mark.parametrize("which", [0, 1])
    def test_one_example_of_a_class(self, ranker, solver, which):
        X, _ = overlapping(60)
        y = np.full(60, 1 - which)
        y[7] = which
        fitted = ranker(solver=solver, alpha=1.0).fit(X, y)
        assert fitted.converged_
        assert np.isfinite([fitted.threshold_, *fitted.decision_function(X)]).all()

    def test_one_feature(self, ranker, solver):
        X, y = overlapping(100, 1)
        fitted = ranker(solver=solver).fit(X, y)
        assert fitted.converged_
        assert fitted.coef_[0] > 0
        assert fitted.rank(X).tolist() == np.argsort(-X[:, 0], kind="stable").tolist()

    def test_nothing_varies(self, ranker, solver):
        for alpha in (0.0, 1e-3):
            fitted = ranker(solver=solver, alpha=alpha).fit(np.full((6, 2), 0.1), [0, 1, 0, 1, 0, 1])
            assert fitted.coef_.tolist() == [0.0, 0.0]
            assert fitted.rank(np.full((3, 2), 0.1)).tolist() == [0, 1, 2]

    def test_labels_turned_round_turn_the_coefficients(self, ranker, solver):
        X, y = overlapping(seed=1)
        options = {"solver": solver, "tol": 1e-7, "max_iter": 5000}
        one = ranker(**options).fit(X, y).coef_
        other = ranker(**options).fit(-X, y).coef_
        np.testing.assert_allclose(other, -one, atol=1e-5)


@pytest.mark.parametrize("solver", SOLVERS)
def test_two_rows_are_ranked_in_any_unit(solver):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        ranker = PNormPush(alpha=0.0, solver=solver, max_iter=20).fit([[0.0], [1e-5]], [0, 1])
    assert ranker.rank([[0.0], [1e-5]]).tolist() == [1, 0]


@pytest.mark.parametrize("solver", SOLVERS)
@pytest.mark.parametrize("offset", [1e6, 1e8, 1e10])
def test_offsets_do_not_matter(solver, offset):
    X, y = overlapping()
    options = {"solver": solver, "tol": 1e-6, "max_iter": 5000}
    near, far = PNormPush(**options).fit(X, y), PNormPush(**options).fit(X + offset, y)
    # an offset of 1e10 leaves six digits of the data
    np.testing.assert_allclose(far.coef_, near.coef_, atol=1e-6 + 1e-15 * offset)


@pytest.mark.parametrize("solver", SOLVERS)
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_features_of_a_million_at_a_power_of_a_thousand(solver, dtype):
    X, y = overlapping()
    ranker = PNormPush(p=1000, solver=solver).fit((1e6 * X).astype(dtype), y)
    assert ranker.converged_
    assert np.isfinite(ranker.objective_path_).all()
    assert (ranker.coef_ > 0).all()


@pytest.mark.parametrize("p", [4, 1000])
def test_one_row_of_vanishing_weight_does_not_stop_a_fit(p):
    """Weights of rows sink below the smallest float as p grows; no column is to blame."""
    X, y = overlapping()
    ranker = PNormPush(p=p, warm_start=True).fit(X, y)
    ranker.coef_ = 1e3 * ranker.coef_
    assert ranker.fit(X, y).converged_
    w = np.where(np.arange(len(y)) % 2 == 0, 1.0, 1e-320)
    kept = PNormPush(p=p).fit(X[::2], y[::2])
    np.testing.assert_allclose(PNormPush(p=p).fit(X, y, sample_weight=w).coef_, kept.coef_, atol=1e-5)


@pytest.mark.parametrize("solver", ["lbfgs", "newton-cg"])
def test_a_path_of_powers_is_cheaper_warm(solver):
    X, y = radar(1000, seed=1)
    warm = PNormPush(warm_start=True, solver=solver)
    total = {"warm": 0, "cold": 0}
    for p in (1, 2, 4, 8, 16, 32, 64):
        cold = PNormPush(p=p, solver=solver).fit(X, y)
        total["warm"] += warm.set_params(p=p).fit(X, y).n_iter_
        total["cold"] += cold.n_iter_
        np.testing.assert_allclose(warm.coef_, cold.coef_, atol=1e-3)
        assert warm.fit(X, y).n_iter_ <= 1
    assert total["warm"] < total["cold"]


@pytest.mark.parametrize(
    ("layout", "dtype"),
    by_day([(np.asfortranarray, "f8"), (sp.csr_array, "f4"), *product([np.array], ["f4", "f8"])], 2),
)
def test_a_fit_makes_no_copy_of_the_data(dtype, layout):
    rng = np.random.default_rng(0)
    X = layout(rng.normal(size=(100_000, 60)).astype(dtype))
    y = rng.random(100_000) < 0.1
    stored = X.data.nbytes + X.indices.nbytes + X.indptr.nbytes if sp.issparse(X) else X.nbytes
    ranker = PNormPush(p=16)
    # load what is compiled for this layout
    ranker.fit(layout(X[:100]), y[:100].astype(int) | (np.arange(100) < 2))
    assert held(lambda: ranker.fit(X, y)) < 0.25 * stored
