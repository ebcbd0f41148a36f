"""A linear model on awkward storage: views of disk, repeated entries, far-off rows, huge single precision."""

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from pushrank.models import LinearModel
from samples import covariance_within, variances_within

LAYOUTS = {
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


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("value", [0.1, -7e6, 1e-20])
def test_a_constant_column_is_exactly_constant(layout, dtype, value):
    X, factors, class_codes = example()
    X[:, 1] = value
    model = LinearModel(LAYOUTS[layout](X.astype(dtype)))
    assert variances_within(model, factors, class_codes)[1] == 0.0
    assert np.ptp(model.column(1)) == 0.0
    assert np.ptp(model.scores(np.array([0.0, 3.0, 0.0, 0.0]))) == 0.0


@pytest.mark.parametrize("layout", ["C", "F", "columns of a wider array", "every other row"])
def test_an_offset_in_any_dense_layout_costs_no_digits(layout):
    X, factors, class_codes = example()
    X = np.round(X * 1024) / 1024  # so that the offset itself rounds nothing
    plain, moved = LinearModel(LAYOUTS[layout](X)), LinearModel(LAYOUTS[layout](X + 2.0**20))
    coef = np.array([1.0, -2.0, 0.5, 3.0])
    np.testing.assert_array_equal(moved.scores(coef), plain.scores(coef))
    both = (variances_within(model, factors, class_codes) for model in (moved, plain))
    np.testing.assert_array_equal(*both)
    np.testing.assert_array_equal(
        covariance_within(moved, factors, class_codes),
        covariance_within(plain, factors, class_codes),
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
    model = LinearModel(LAYOUTS[layout](X))
    class_codes = np.array([0, 0, 1, 1, 1], dtype=np.uint8)
    np.testing.assert_array_equal(model.scores(np.ones(3)) - model.scores(np.ones(3))[0], X[:, 1])
    assert variances_within(model, np.ones(5), class_codes).tolist() == pytest.approx([0.0, 2 / 3, 0.0])


@pytest.mark.parametrize("layout", ["C", "F", "csr"])
def test_single_precision_is_added_up_in_double(layout):
    rng = np.random.default_rng(2)
    X = (1.0 + 1e-3 * rng.normal(size=(100_000, 2))).astype(np.float32)
    factors, class_codes = np.ones(100_000), np.zeros(100_000, dtype=np.uint8)
    model = LinearModel(LAYOUTS[layout](X))
    expected = X.astype(np.float64).var(axis=0) * 100_000
    np.testing.assert_allclose(variances_within(model, factors, class_codes), expected, rtol=1e-7)
    scores = model.scores(np.array([1e3, -1e3]))
    expected_scores = X.astype(np.float64) @ [1e3, -1e3]
    np.testing.assert_allclose(scores - scores[0], expected_scores - expected_scores[0], atol=1e-9)


@pytest.mark.parametrize("layout", ["C", "F", "csr", "csc"])
def test_squares_of_large_single_precision_do_not_overflow(layout):
    X, factors, class_codes = example()
    large = (X * 1e20).astype(np.float32)
    model = LinearModel(LAYOUTS[layout](large))
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


@given(data=st.data(), layout=st.sampled_from(sorted(LAYOUTS)), shape=SHAPES)
def test_scores_and_sums_are_those_of_numpy(data, layout, shape):
    # eighths of small integers: every sum below is exact, whatever its order
    eighths = st.integers(-64, 64).map(lambda k: k / 8)
    X = data.draw(hnp.arrays(np.float64, shape, elements=eighths))
    coef = data.draw(hnp.arrays(np.float64, shape[1], elements=eighths))
    factors = data.draw(hnp.arrays(np.float64, shape[0], elements=st.integers(0, 16).map(float)))
    class_codes = data.draw(hnp.arrays(np.uint8, shape[0], elements=st.integers(0, 1)))
    stored = LAYOUTS[layout](X)
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
