"""Categorical columns of data frames: missing and unknown values, and what has no order."""

import io
from decimal import Decimal

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from pushrank import AdaBoostRanker, PushBoost, RankBoost
from pushrank.weak_rankers import Stumps

TEXT = ["" if row % 5 == 0 else "xyz"[row % 3] for row in range(60)]
Y = np.array([row % 3 == 0 or row % 5 == 0 for row in range(60)])


def frame(**read):
    table = "\n".join(["a,g", *(f"{row % 7 / 10},{text}" for row, text in enumerate(TEXT))])
    return pd.read_csv(io.StringIO(table), **read)


def fitted(X, family="stumps"):
    return RankBoost(weak_rankers=family, n_estimators=5).fit(X, Y)


@pytest.mark.parametrize("backend", ["numpy_nullable", "pyarrow"])
def test_missing_text_of_any_backend(backend):
    plain, other = frame(), frame(dtype_backend=backend)
    expected = fitted(plain).decision_function(plain)
    np.testing.assert_array_equal(fitted(other).decision_function(other), expected)
    np.testing.assert_array_equal(fitted(plain).decision_function(other), expected)


def test_none_and_nan_are_both_missing():
    plain = frame()
    nones = plain.assign(g=pd.Series([text or None for text in TEXT], dtype=object))
    found, expected = fitted(nones).decision_function(nones), fitted(plain).decision_function(plain)
    np.testing.assert_array_equal(found, expected)


@pytest.mark.parametrize(
    "batch",
    [[np.nan], [None], [pd.NA], [3], [2.5], [True], pd.Categorical([None]), pd.Categorical([7])],
    ids=str,
)
def test_a_batch_without_a_known_category(batch):
    ranker = fitted(frame())
    expected = ranker.decision_function(pd.DataFrame({"a": [0.3], "g": ["unknown"]}))
    np.testing.assert_array_equal(ranker.decision_function(pd.DataFrame({"a": [0.3], "g": batch})), expected)


@pytest.mark.parametrize(
    "column",
    [pd.Categorical([None] * 60), [None] * 60, pd.array([pd.NA] * 60, dtype="string")],
    ids=["category", "object", "string"],
)
def test_a_column_of_missing_categories_changes_no_score(column):
    X = frame()
    alone = fitted(X[["a"]]).decision_function(X[["a"]])
    for family in ("stumps", Stumps(categorical_features=["g"])):
        X = X.assign(g=column)
        np.testing.assert_array_equal(fitted(X, family).decision_function(X), alone)
    ranker = fitted(X.assign(g=column))
    np.testing.assert_array_equal(ranker.decision_function(X), alone)


def test_the_error_for_values_without_an_order_names_the_column():
    X = frame().assign(mixed=[1, "a", None] * 20)
    with pytest.raises(TypeError, match=r"those of \{'mixed': \['int', 'str'\]\} have none"):
        fitted(X)


def test_columns_of_categories_need_names():
    X = frame().rename(columns={"a": 0, "g": 1})
    with pytest.raises(TypeError, match="must then all be text"):
        fitted(X)
    X.columns = X.columns.astype(str)
    assert len(fitted(X).decision_function(X)) == 60


@pytest.mark.parametrize("ranker", [RankBoost, PushBoost, AdaBoostRanker])
@pytest.mark.parametrize(
    "held",
    [
        lambda X: X.astype(object),
        lambda X: X.map(lambda value: Decimal(repr(value))),
        lambda X: X.astype(pd.ArrowDtype(pa.decimal128(30, 20))),
        lambda X: X.astype("Float64").astype(object),
        pl.from_pandas,
    ],
    ids=["object", "Decimal", "arrow", "NA", "polars"],
)
def test_numbers_held_as_objects_are_numbers(ranker, held):
    X = pd.DataFrame(np.random.default_rng(0).integers(0, 64, (60, 3)) / 64, columns=["a", "b", "c"])
    X.loc[X["b"] < 0.2, "b"] = np.nan
    new = X.map(lambda value: value + 1 / 128)
    plain, other = ranker(n_estimators=5).fit(X, Y), ranker(n_estimators=5).fit(held(X), Y)
    for found in (plain.decision_function(held(new)), other.decision_function(held(new))):
        np.testing.assert_array_equal(found, plain.decision_function(new))
    assert len(np.unique(plain.decision_function(new))) > 5


@pytest.mark.parametrize("kind", ["object", "string", "string[pyarrow]"])
def test_numbers_held_as_texts_are_warned_of(kind):
    X = pd.DataFrame({"a": [*"0123456789", "1.5", None] * 5, "b": np.arange(60.0)}).astype({"a": kind})
    with pytest.warns(UserWarning, match=r"column 'a' holds numbers as texts.*pandas.to_numeric"):
        fitted(X)
    for codes in (X.astype({"a": "category"}), X.assign(a=X["a"].fillna("none"))):
        fitted(codes)


def test_of_objects_those_that_are_named_stay_categories_and_dates_are_refused():
    X = frame().assign(code=pd.Series([2**53 + row % 2 for row in range(60)], dtype=object))
    ranker = fitted(X, Stumps(categorical_features=["g", "code"]))
    assert len(ranker._encoder.categories_[1]) == 2
    for dates in (pd.Series(pd.date_range("2026", periods=60)).dt.date, [np.timedelta64(1, "D")] * 60):
        with pytest.raises(ValueError, match=r"column 2 \('day'\) holds dates"):
            fitted(frame().assign(day=pd.Series(list(dates), dtype=object)))
