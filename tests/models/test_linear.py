"""A linear model gives the same in every layout, precision and number of threads."""

import tracemalloc

import numba
import numpy as np
import pytest
import scipy.sparse as sp
from threadpoolctl import threadpool_limits

from pushrank import PNormPush
from pushrank.models import LinearModel
from samples import covariance_within, variances_within

pytestmark = pytest.mark.fast

LAYOUTS = {
    "C": np.ascontiguousarray,
    "F": np.asfortranarray,
    "strided": lambda X: np.repeat(X, 2, axis=1)[:, ::2],
    "reversed": lambda X: np.ascontiguousarray(X[::-1])[::-1],
    "float32": lambda X: X.astype(np.float32),
    "csr": sp.csr_matrix,
    "csr array": sp.csr_array,
    "csc": sp.csc_matrix,
}


@pytest.fixture(params=[(40, 6), (30_000, 40)], ids=["one chunk", "many chunks"])
def data(request):
    rng = np.random.default_rng(0)
    n, d = request.param
    X = rng.integers(-8, 9, (n, d)) / 8 * (rng.random((n, d)) < 0.5)
    X[:, 2] = 0.5  # a constant column
    return X, rng.normal(size=d), rng.random(n), (rng.random(n) < 0.3).astype(np.uint8)


@pytest.mark.parametrize("layout", LAYOUTS)
def test_layouts_agree_with_numpy(layout, data):
    X, coef, factors, class_codes = data
    stored = LAYOUTS[layout](X)
    if layout not in ("strided", "reversed"):
        (stored.data if sp.issparse(stored) else stored).flags.writeable = False
    model = LinearModel(stored)
    scores = model.scores(coef)
    np.testing.assert_allclose(scores - scores[0], X @ coef - X[0] @ coef, atol=1e-12)
    centred = factors - factors.mean()
    np.testing.assert_allclose(model.rmatvec(centred), X.T @ centred, atol=1e-9)
    classes = [class_codes == code for code in (0, 1)]
    variances = sum(
        factors[rows] @ (X[rows] - np.average(X[rows], 0, factors[rows])) ** 2 for rows in classes
    )
    np.testing.assert_allclose(variances_within(model, factors, class_codes), variances, atol=1e-9)
    covariance = covariance_within(model, factors, class_codes)
    np.testing.assert_allclose(np.diag(covariance), variances, atol=1e-8)
    expected = sum(
        np.cov(X[rows].T, aweights=factors[rows], ddof=0) * factors[rows].sum() for rows in classes
    )
    np.testing.assert_allclose(covariance, expected, atol=1e-7)
    assert variances_within(model, factors, class_codes)[2] == 0.0
    for j in (0, 2, X.shape[1] - 1):
        column = model.column(j)
        np.testing.assert_allclose(column - column[0], X[:, j] - X[0, j], atol=1e-15)


@pytest.mark.parametrize("layout", LAYOUTS)
def test_the_covariance_is_that_of_the_rows_that_have_a_weight(layout, data):
    X, _, factors, class_codes = data
    counted = np.random.default_rng(1).random(len(X)) < 0.5
    found = covariance_within(LinearModel(LAYOUTS[layout](X)), factors * counted, class_codes)
    expected = covariance_within(LinearModel(X[counted]), factors[counted], class_codes[counted])
    np.testing.assert_allclose(found, expected, atol=1e-8)


@pytest.mark.parametrize("layout", ["csr", "csc"])
@pytest.mark.parametrize("density", [0.02, 0.9], ids=["thin", "nearly dense"])
def test_the_covariance_of_sparse_data_is_that_of_dense_data(layout, density):
    rng = np.random.default_rng(2)
    X = rng.integers(-8, 9, (3_000, 50)) / 8 * (rng.random((3_000, 50)) < density)
    factors, class_codes = rng.random(3_000), (rng.random(3_000) < 0.3).astype(np.uint8)
    np.testing.assert_allclose(
        covariance_within(LinearModel(LAYOUTS[layout](X)), factors, class_codes),
        covariance_within(LinearModel(X), factors, class_codes),
        atol=1e-10,
    )


def test_the_covariance_of_thin_data_needs_no_dense_rows():
    X = sp.random(30_000, 300, 0.01, format="csr", random_state=0)
    model, class_codes = LinearModel(X), np.zeros(30_000, dtype=np.uint8)
    covariance_within(model, np.ones(30_000), class_codes)
    tracemalloc.start()
    covariance_within(model, np.ones(30_000), class_codes)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 5 * 8 * (300**2 * (len(model.chunks) + 1) + 30_000)


def test_an_offset_costs_no_digits():
    rng = np.random.default_rng(1)
    X = np.round(rng.normal(size=(500, 3)), 3)
    factors, class_codes = rng.random(500), np.zeros(500, dtype=np.uint8)
    plain, moved = LinearModel(X), LinearModel(X + 2.0**30)
    expected = variances_within(plain, factors, class_codes)
    np.testing.assert_allclose(variances_within(moved, factors, class_codes), expected, rtol=1e-6)
    scores = [model.scores(np.ones(3)) for model in (plain, moved)]
    np.testing.assert_allclose(scores[1], scores[0], atol=1e-6)


def test_thread_count_changes_no_bit(monkeypatch):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60_000, 30))
    y = X[:, 0] + rng.normal(size=60_000) > 1
    rankers = PNormPush(p=16), PNormPush(p=4, side="both")

    def coefficients(n_threads):
        monkeypatch.setattr(numba.config, "NUMBA_NUM_THREADS", n_threads)
        with threadpool_limits(n_threads):
            return [ranker.fit(X, y).coef_.tobytes() for ranker in rankers]

    assert coefficients(1) == coefficients(2) == coefficients(3)


@pytest.mark.parametrize("layout", LAYOUTS)
def test_the_covariance_of_many_columns_is_that_of_few(layout):
    """BLAS updates the sum in place there."""
    rng = np.random.default_rng(0)
    X = rng.integers(-8, 9, (700, 300)) / 8 * (rng.random((700, 300)) < 0.5)
    factors, class_codes = rng.random(700), (rng.random(700) < 0.3).astype(np.uint8)
    factors[:300] = 0.0
    wide, few = LAYOUTS[layout](X), LinearModel(np.ascontiguousarray(X[:, 200:250]))
    covariance = covariance_within(LinearModel(wide), factors, class_codes)
    np.testing.assert_array_equal(covariance, covariance.T)
    alone = covariance_within(few, factors, class_codes)
    np.testing.assert_allclose(covariance[200:250, 200:250], alone, atol=1e-12)
