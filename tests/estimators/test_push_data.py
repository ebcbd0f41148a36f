"""The same coefficients from every kind of X, y and sample_weight that users have."""

import numpy as np
import pandas as pd
import polars as pl
import pytest
import scipy.sparse as sp
import sklearn
from sklearn.model_selection import cross_validate
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from pushrank import PNormPush, PushRanker
from pushrank.solvers import SOLVERS
from samples import BOTH, PULL, PUSH_RANKERS, overlapping

X, Y = overlapping()
NAMES = np.where(Y == 1, "yes", "no")


TABLES = [sp.coo_matrix, sp.lil_matrix, sp.csr_array, sp.csc_array, np.asfortranarray, pd.DataFrame]
TABLES += [lambda X: pd.DataFrame(X).astype("Float64"), lambda X: pl.DataFrame(X, schema=list("abcd"))]
TABLES += [lambda X: pd.DataFrame.sparse.from_spmatrix(sp.csr_matrix(X)), lambda X: X.astype(">f8")]


@pytest.mark.parametrize("kind", [*TABLES, lambda X: X[::-1][::-1], np.ndarray.tolist])
@pytest.mark.parametrize("solver", SOLVERS)
def test_any_kind_of_table(kind, solver):
    expected = PNormPush(solver=solver).fit(X, Y)
    table = kind(X)
    ranker = PNormPush(solver=solver).fit(table, Y)
    np.testing.assert_allclose(ranker.coef_, expected.coef_, rtol=1e-5, atol=1e-8)
    np.testing.assert_allclose(ranker.decision_function(table), expected.decision_function(X), atol=1e-6)
    np.testing.assert_array_equal(ranker.rank(table), expected.rank(X))


@pytest.mark.parametrize("kind", [np.int8, np.int64, np.bool_, np.float16])
def test_numbers_of_any_type_are_taken_as_they_are(kind):
    table = (X * 4).astype(kind)
    expected = PNormPush().fit(table.astype(float), Y).coef_
    np.testing.assert_array_equal(PNormPush().fit(table, Y).coef_, expected)


TEXTS = [NAMES, NAMES.astype(object), NAMES.tolist(), pd.Series(pd.Categorical(NAMES))]
TEXTS += [pd.Series(NAMES, dtype="string"), pl.Series(NAMES.tolist())]
NUMBERS = [Y.astype(bool), Y.astype(np.uint8), 2 * Y - 1, Y.astype(np.float32)]
NUMBERS += [pd.Series(Y), pd.Series(Y == 1), pd.Series(Y, dtype="Int64"), pl.Series(Y)]


@pytest.mark.parametrize("labels", TEXTS)
def test_any_kind_of_names_for_the_classes(labels):
    ranker = PNormPush().fit(X, labels)
    assert ranker.classes_.tolist() == ["no", "yes"]
    np.testing.assert_array_equal(ranker.coef_, PNormPush().fit(X, Y).coef_)
    assert set(ranker.predict(X)) == {"no", "yes"}
    assert ranker.score(X, labels) == PNormPush().fit(X, Y).score(X, Y)


@pytest.mark.parametrize("labels", NUMBERS)
def test_any_kind_of_numbers_for_the_classes(labels):
    ranker = PNormPush().fit(X, labels)
    np.testing.assert_array_equal(ranker.coef_, PNormPush().fit(X, Y).coef_)
    assert ranker.predict(X).dtype == ranker.classes_.dtype
    assert ranker.score(X, labels) > 0.5


@pytest.mark.parametrize("ranker", PUSH_RANKERS)
def test_single_precision_gives_single_precision(ranker):
    single = ranker().fit(X.astype(np.float32), Y)
    double = ranker().fit(X, Y)
    assert single.coef_.dtype == np.float32
    assert single.decision_function(X.astype(np.float32)).dtype == np.float32
    np.testing.assert_allclose(single.coef_, double.coef_, rtol=1e-4, atol=1e-5)
    scores = single.decision_function(X.astype(np.float32))
    np.testing.assert_allclose(scores, double.decision_function(X), atol=1e-4)


@pytest.mark.parametrize("ranker", [PNormPush, PULL, BOTH, PushRanker])
@pytest.mark.parametrize("unit", [1e-200, 1e-9, 1e9, 1e200])
def test_the_unit_of_the_weights_does_not_matter(ranker, unit):
    w = np.random.default_rng(1).random(len(Y))
    expected = ranker(tol=1e-6).fit(X, Y, sample_weight=w).coef_
    weighted = ranker(tol=1e-6).fit(X, Y, sample_weight=unit * w)
    np.testing.assert_allclose(weighted.coef_, expected, rtol=1e-6, atol=1e-8)


@pytest.mark.parametrize("ranker", PUSH_RANKERS)
@pytest.mark.parametrize("solver", SOLVERS)
def test_weight_zero_is_removal(ranker, solver):
    w = np.random.default_rng(2).integers(0, 2, len(Y)).astype(float)
    wild = np.where(w[:, None] > 0, X, 100 * X)
    options = {"solver": solver, "tol": 1e-7, "max_iter": 5000}
    removed = ranker(**options).fit(X[w > 0], Y[w > 0])
    weighted = ranker(**options).fit(wild, Y, sample_weight=w)
    np.testing.assert_allclose(weighted.coef_, removed.coef_, rtol=1e-5, atol=1e-6)
    assert weighted.threshold_ == pytest.approx(removed.threshold_, abs=1e-5)


@pytest.mark.parametrize("solver", ["lbfgs", "newton-cg"])
@pytest.mark.parametrize("far", [1e4, 1e12])
def test_the_first_row_is_not_special(solver, far):
    """A far-off first row of no weight: the others must keep their digits."""
    rows, labels = np.vstack([np.full((1, 4), far), X]), np.r_[0, Y]
    w = np.ones(len(labels))
    w[0] = 0.0
    ranker = PNormPush(solver=solver).fit(rows, labels, sample_weight=w)
    np.testing.assert_allclose(ranker.coef_, PNormPush(solver=solver).fit(X, Y).coef_, rtol=1e-4)


def test_weights_travel_by_metadata_routing():
    w = np.random.default_rng(3).random(len(Y))
    with sklearn.config_context(enable_metadata_routing=True):
        ranker = PNormPush().set_fit_request(sample_weight=True).set_score_request(sample_weight=True)
        out = cross_validate(
            make_pipeline(StandardScaler().set_fit_request(sample_weight=False), ranker),
            X,
            Y,
            params={"sample_weight": w},
            cv=2,
            return_estimator=True,
            error_score="raise",
        )
        model = make_pipeline(StandardScaler(), PNormPush())
        plain = cross_validate(model, X, Y, cv=2, return_estimator=True)
    assert not np.allclose(out["estimator"][0][-1].coef_, plain["estimator"][0][-1].coef_, rtol=1e-3)


def test_named_columns_pass_through_a_pipeline_that_outputs_frames():
    frame = pd.DataFrame(X, columns=list("abcd"))
    pipeline = make_pipeline(StandardScaler(), PNormPush()).set_output(transform="pandas").fit(frame, Y)
    assert pipeline[-1].feature_names_in_.tolist() == list("abcd")
    with pytest.raises(ValueError, match="feature names"):
        pipeline[-1].decision_function(frame.rename(columns={"a": "z"}))


@pytest.mark.parametrize(
    ("bad", "message"),
    [
        ({"X": np.where(X > 2, np.inf, X)}, "infinity"),
        ({"X": np.where(X > 2, np.nan, X)}, "NaN"),
        ({"X": sp.csr_matrix(np.where(X > 2, np.nan, X))}, "NaN"),
        ({"X": X[:-1]}, "inconsistent numbers of samples"),
        ({"X": X.ravel()}, "2D array"),
        ({"X": np.zeros((0, 4)), "y": np.zeros(0)}, "minimum of 1"),
        ({"X": X + 1j}, "Complex"),
        ({"y": np.where(Y == 1, np.nan, 0.0)}, "NaN"),
        ({"y": X[:, 0]}, "Unknown label type"),
        ({"y": np.full(len(Y), "same")}, "exactly 2 classes, found 1 class"),
        ({"y": np.array(["a", "b", "c"])[np.arange(len(Y)) % 3]}, "y == that_class"),
        ({"sample_weight": np.where(Y == 1, np.nan, 1.0)}, "sample_weight"),
        ({"sample_weight": np.where(Y == 1, np.inf, 1.0)}, "sample_weight"),
        ({"sample_weight": np.ones(3)}, "sample_weight has 3 entries for"),
        ({"sample_weight": np.ones((len(Y), 2))}, "sample_weight must be one-dimensional"),
        ({"sample_weight": np.zeros(len(Y))}, "sample_weight is not zero"),
        ({"sample_weight": 1 - Y}, "no positive example was found whose sample_weight is not zero"),
        ({"sample_weight": -np.ones(len(Y))}, r"be negative, NaN or infinite, found -1\.0 in row 0"),
        ({"sample_weight": np.nan}, "must not be negative, NaN or infinite, found nan in row 0"),
    ],
)
def test_bad_data_are_refused_with_a_reason(bad, message):
    with pytest.raises(ValueError, match=message):
        PNormPush().fit(**{"X": X, "y": Y, **bad})


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("order", ["C", "F"])
def test_equal_rows_have_equal_scores_and_keep_their_order(dtype, order):
    rng = np.random.default_rng(4)
    for d in (3, 30, 37, 200):
        ranker = PNormPush(alpha=0.1).fit(rng.normal(size=(50, d)).astype(dtype), np.arange(50) % 2)
        same = np.asarray(np.repeat(rng.normal(size=(1, d)), 1003, axis=0), dtype=dtype, order=order)
        assert len(np.unique(ranker.decision_function(same))) == 1
        assert ranker.rank(same).tolist() == list(range(1003))
