"""A linear model gives the same in every layout, precision and number of threads, and on awkward storage."""

import numba
import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from threadpoolctl import threadpool_limits

from growth import held
from pushrank import PNormPush
from pushrank.models import LinearModel
from samples import by_first_column, covariance_within, variances_within

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
    peak = held(lambda: covariance_within(model, np.ones(30_000), class_codes))
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
    X, y = by_first_column(60_000, 30, 1)
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


STORAGES = {
    "C": np.ascontiguousarray,
    "F": np.asfortranarray,
    "columns of a wider array": lambda X: np.ascontiguousarray(np.hstack([X, X]))[:, : X.shape[1]],
    "every other row": lambda X: np.repeat(X, 2, axis=0)[::2],
    "csr": sp.csr_array,
    "csc": sp.csc_array,
}


def example(n=50, d=4, seed=0):
    rng = np.random.default_rng(seed)
    return rng.normal(size=(n, d)), rng.random(n), (rng.random(n) < 0.4).astype(np.uint8)


def variances_in_float64(X, factors, class_codes):
    """Return the within-class variances of the columns, times the weights, by the definition."""
    total = np.zeros(X.shape[1])
    for g in (0, 1):
        rows, weights = X[class_codes == g].astype(np.float64), factors[class_codes == g]
        total += weights @ (rows - np.average(rows, axis=0, weights=weights)) ** 2
    return total


@pytest.mark.parametrize("layout", STORAGES)
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("value", [0.1, -7e6, 1e-20])
def test_a_constant_column_is_exactly_constant(layout, dtype, value):
    X, factors, class_codes = example()
    X[:, 1] = value
    model = LinearModel(STORAGES[layout](X.astype(dtype)))
    assert variances_within(model, factors, class_codes)[1] == 0.0
    assert np.ptp(model.column(1)) == 0.0
    assert np.ptp(model.scores(np.array([0.0, 3.0, 0.0, 0.0]))) == 0.0


@pytest.mark.parametrize("layout", ["C", "F", "columns of a wider array", "every other row"])
def test_an_offset_in_any_dense_layout_costs_no_digits(layout):
    X, factors, class_codes = example()
    X = np.round(X * 1024) / 1024  # so that the offset itself rounds nothing
    plain, moved = LinearModel(STORAGES[layout](X)), LinearModel(STORAGES[layout](X + 2.0**20))
    coef = np.array([1.0, -2.0, 0.5, 3.0])
    np.testing.assert_array_equal(moved.scores(coef), plain.scores(coef))
    both = (variances_within(model, factors, class_codes) for model in (moved, plain))
    np.testing.assert_array_equal(*both)
    np.testing.assert_array_equal(
        covariance_within(moved, factors, class_codes), covariance_within(plain, factors, class_codes)
    )


def test_a_file_mapped_into_memory_is_used_where_it_lies(tmp_path):
    X, factors, class_codes = example()
    np.save(tmp_path / "x.npy", X)
    mapped = np.load(tmp_path / "x.npy", mmap_mode="r")
    coef = np.arange(4.0)
    np.testing.assert_array_equal(LinearModel(mapped).scores(coef), LinearModel(X).scores(coef))
    np.testing.assert_array_equal(
        LinearModel(mapped).class_sums(factors, class_codes), LinearModel(X).class_sums(factors, class_codes)
    )


@pytest.mark.parametrize("kind", [np.int32, np.int64])
@pytest.mark.parametrize("fmt", ["csr", "csc"])
def test_indices_of_either_width_serve(kind, fmt):
    X, factors, class_codes = example()
    X = np.where(np.abs(X) > 0.5, X, 0.0)
    stored = sp.csr_array(X).asformat(fmt)
    stored.indices, stored.indptr = stored.indices.astype(kind), stored.indptr.astype(kind)
    model = LinearModel(stored)
    coef = np.array([1.0, -2.0, 0.5, 3.0])
    np.testing.assert_allclose(model.scores(coef), X @ coef, atol=1e-14)
    np.testing.assert_allclose(
        variances_within(model, factors, class_codes),
        variances_in_float64(X, factors, class_codes),
        rtol=1e-12,
    )


@pytest.mark.parametrize("layout", ["C", "F", "csr", "csc"])
def test_rows_of_nothing_and_columns_of_nothing(layout):
    X = np.zeros((5, 3))
    X[2, 1] = 1.0
    model = LinearModel(STORAGES[layout](X))
    class_codes = np.array([0, 0, 1, 1, 1], dtype=np.uint8)
    np.testing.assert_array_equal(model.scores(np.ones(3)) - model.scores(np.ones(3))[0], X[:, 1])
    assert variances_within(model, np.ones(5), class_codes).tolist() == pytest.approx([0.0, 2 / 3, 0.0])


@pytest.mark.parametrize("layout", ["C", "F", "csr"])
def test_single_precision_is_added_up_in_double(layout):
    rng = np.random.default_rng(2)
    X = (1.0 + 1e-3 * rng.normal(size=(100_000, 2))).astype(np.float32)
    factors, class_codes = np.ones(100_000), np.zeros(100_000, dtype=np.uint8)
    model = LinearModel(STORAGES[layout](X))
    expected = X.astype(np.float64).var(axis=0) * 100_000
    np.testing.assert_allclose(variances_within(model, factors, class_codes), expected, rtol=1e-7)
    scores = model.scores(np.array([1e3, -1e3]))
    expected_scores = X.astype(np.float64) @ [1e3, -1e3]
    np.testing.assert_allclose(scores - scores[0], expected_scores - expected_scores[0], atol=1e-9)


@pytest.mark.parametrize("layout", ["C", "F", "csr", "csc"])
def test_squares_of_large_single_precision_do_not_overflow(layout):
    X, factors, class_codes = example()
    large = (X * 1e20).astype(np.float32)
    model = LinearModel(STORAGES[layout](large))
    expected = variances_in_float64(large, factors, class_codes)
    with np.errstate(over="ignore"):
        np.testing.assert_allclose(variances_within(model, factors, class_codes), expected, rtol=1e-6)


@pytest.mark.parametrize("fmt", ["csr", "csc"])
def test_repeated_entries_of_a_sparse_matrix_add_up(fmt):
    X, factors, class_codes = example()
    plain = sp.csr_array(X).asformat(fmt)
    # every entry stored as two halves
    parts = np.repeat(plain.data / 2, 2), np.repeat(plain.indices, 2), plain.indptr * 2
    halves = type(plain)(parts, shape=X.shape)
    np.testing.assert_allclose(LinearModel(halves).scores(np.ones(4)), X.sum(axis=1), atol=1e-14)
    np.testing.assert_allclose(
        variances_within(LinearModel(halves), factors, class_codes),
        variances_in_float64(X, factors, class_codes),
        rtol=1e-12,
    )


@pytest.mark.parametrize("place", [0, 20, -1])
def test_a_far_off_row_of_no_weight_costs_the_others_no_digits(place):
    X, factors, class_codes = example()
    X[place], factors[place] = 1e10, 0.0
    counted = factors > 0
    expected = variances_in_float64(X[counted], factors[counted], class_codes[counted])
    np.testing.assert_allclose(variances_within(LinearModel(X), factors, class_codes), expected, rtol=1e-9)


def test_weights_that_vanish_are_not_blamed_on_the_column():
    X = sp.csr_array(np.array([[0.0], [0.6], [0.0]]))
    factors, class_codes = np.array([1.0, 5e-324, 1.0]), np.array([0, 0, 1], dtype=np.uint8)
    assert variances_within(LinearModel(X), factors, class_codes)[0] == 0.0


SHAPES = st.tuples(st.integers(1, 40), st.integers(1, 6))


@given(data=st.data(), layout=st.sampled_from(sorted(STORAGES)), shape=SHAPES)
def test_scores_and_sums_are_those_of_numpy(data, layout, shape):
    # eighths of small integers: every sum below is exact, whatever its order
    eighths = st.integers(-64, 64).map(lambda k: k / 8)
    X = data.draw(hnp.arrays(np.float64, shape, elements=eighths))
    coef = data.draw(hnp.arrays(np.float64, shape[1], elements=eighths))
    factors = data.draw(hnp.arrays(np.float64, shape[0], elements=st.integers(0, 16).map(float)))
    class_codes = data.draw(hnp.arrays(np.uint8, shape[0], elements=st.integers(0, 1)))
    stored = STORAGES[layout](X)
    model = LinearModel(stored)
    reference = np.zeros(shape[1]) if sp.issparse(stored) else X[0]
    scores = model.scores(coef)
    np.testing.assert_array_equal(scores - scores[0], X @ coef - X[0] @ coef)
    for squared in (False, True):
        sums = model.class_sums(factors, class_codes, squared)
        if layout in ("csr", "csc"):
            terms = (X - reference) ** 2 if squared else X - reference
            expected = [factors[class_codes == g] @ terms[class_codes == g] for g in (0, 1)]
            np.testing.assert_array_equal(sums, expected)
    centred = factors - factors.mean()
    np.testing.assert_allclose(model.rmatvec(centred), X.T @ centred, atol=1e-9)


def test_a_tiny_column_whose_sum_cancels_is_refused():
    X = sp.csr_matrix([[1e-150, 1.0], [-1e-150, 0.0], [0.0, 2.0]])
    with pytest.raises(ValueError, match="column 0 holds values whose squares are beyond the range"):
        LinearModel(X).check_range()
