"""What scores are made of: the parts add up, and each is what exchanging its column alone changes."""

import warnings
from itertools import permutations
from unittest.mock import Mock

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from lightgbm import LGBMClassifier
from sklearn.base import clone
from sklearn.compose import ColumnTransformer
from sklearn.ensemble import RandomForestClassifier
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, PolynomialFeatures, StandardScaler
from xgboost import XGBClassifier

import pushrank
from pushrank import estimators
from pushrank.estimators.reasons import (
    _leaves_by,
    has_exact_parts,
    leaving,
    mean_parts,
    parts_over,
    reason_texts,
    score_parts,
)
from pushrank.held_out.fits import model_scores
from pushrank.interop.lightgbm import LGBMObjective
from pushrank.objectives import PushObjective
from pushrank.prices import Power
from samples import overlapping

PUSH = PushObjective(price=Power(4.0), scale="log")
SAMPLED = {"StackingRanker"}


def reasons(model, X, over, n):
    return reason_texts(X, *parts_over(model, X, over), n)


def frame(n=120):
    X, y = overlapping(n)
    return pd.DataFrame(X, columns=list("abcd"), index=np.arange(n) + 7), y


def assert_adds_up(ranker, X, tolerance=1e-12):
    parts, scores = ranker.explain(X), ranker.decision_function(X)
    room = tolerance * max(1.0, np.abs(np.asarray(parts)).sum(axis=1).max())
    np.testing.assert_allclose(np.asarray(parts).sum(axis=1), scores, rtol=0.0, atol=room)
    return parts, scores, room


@pytest.mark.filterwarnings("ignore:.* collapsed")
@pytest.mark.parametrize("name", estimators.__all__)
def test_the_parts_of_every_ranker_add_up_to_its_scores(name):
    X, y = frame()
    ranker = getattr(pushrank, name)()
    few = {"cv": 2, "n_estimators": [10]} if name == "PushBoostCV" else {"cv": 2}
    ranker.set_params(**few if "cv" in ranker.get_params() else {}).fit(X, y)
    if name in SAMPLED:
        with pytest.raises(TypeError, match="pass over="):
            ranker.explain(X)
        return
    parts, scores, room = assert_adds_up(ranker, X)
    assert list(parts.columns) == [*X.columns, "base"]
    assert parts.index.equals(X.index)
    assert parts["base"].nunique() == 1
    # Over other rows each part is beyond its mean there, and the base their mean score.
    others = X.iloc[:5]
    over = ranker.explain(X, over=others)
    expected = parts.drop(columns="base") - parts.drop(columns="base").iloc[:5].mean()
    np.testing.assert_allclose(over.drop(columns="base"), expected, rtol=0.0, atol=room)
    np.testing.assert_allclose(over["base"], scores[:5].mean(), rtol=0.0, atol=room)
    np.testing.assert_allclose(over.sum(axis=1), scores, rtol=0.0, atol=room)


def exchanged(model, X, parts):
    """Return the largest miss of a part by what the score changes if its column alone is of the next row."""
    scores, misses = model.decision_function(X), []
    for number, column in enumerate(X.columns):
        other = X.copy()
        other[column] = np.roll(X[column].to_numpy(), 1)
        change = np.roll(parts[:, number], 1) - parts[:, number]
        misses.append(np.abs(model.decision_function(other) - scores - change).max())
    return max(misses)


def test_the_parts_of_stumps_are_functions_of_single_columns_with_gaps_and_categories():
    X, y = frame(200)
    X.loc[X.index[::5], "b"] = np.nan
    X["word"] = pd.Categorical(np.array(["x", "y", "z", None])[np.arange(200) * 7 % 4])
    for ranker in (pushrank.PushBoost(p=4), pushrank.AdaBoostRanker(constant_ranker=True)):
        ranker.fit(X, y)
        parts, *_ = assert_adds_up(ranker, X)
        assert exchanged(ranker, X, parts.to_numpy()) < 1e-12


def test_parts_of_sparse_rows_and_arrays_are_those_of_dense_rows():
    X, y = overlapping(100)
    X[np.abs(X) < 0.5] = 0.0
    for ranker in (pushrank.PNormPush(), pushrank.PushBoost()):
        ranker.fit(X, y)
        parts, _, room = assert_adds_up(ranker, X)
        assert isinstance(parts, np.ndarray)
        for kind in (sp.csr_matrix, sp.csc_array):
            np.testing.assert_allclose(ranker.explain(kind(X)), parts, rtol=0.0, atol=room)


@pytest.mark.parametrize(
    ("model", "tolerance"),
    [
        (LGBMClassifier(n_estimators=20, verbosity=-1), 1e-12),
        (LGBMClassifier(n_estimators=20, verbosity=-1, objective=LGBMObjective(PUSH)), 1e-12),
        (XGBClassifier(n_estimators=20, enable_categorical=True), 1e-5),
        (XGBClassifier(n_estimators=20, enable_categorical=True, early_stopping_rounds=2), 1e-5),
    ],
)
def test_the_parts_of_boosters_are_their_librarys_and_add_up_to_the_log_odds(model, tolerance):
    X, y = frame(300)
    X.loc[X.index[::6], "c"] = np.nan
    X["kind"] = pd.Categorical(np.arange(300) % 3)
    stops = getattr(model, "early_stopping_rounds", None)
    model = clone(model).fit(X, y, **({"eval_set": [(X, y)], "verbose": False} if stops else {}))
    is_xgb = isinstance(model, XGBClassifier)
    log_odds = model.predict(X, output_margin=True) if is_xgb else model.decision_function(X)
    parts = score_parts(model, X)
    room = tolerance * np.abs(parts).sum(axis=1).max()
    np.testing.assert_allclose(parts.sum(axis=1), log_odds, rtol=0.0, atol=room)
    assert np.ptp(parts[:, -1]) == 0.0
    assert (parts[:, :-1][:, model.feature_importances_ == 0.0] == 0.0).all()
    numbers, last = (
        X.drop(columns="kind"),
        clone(model).set_params(**({"early_stopping_rounds": None} if stops else {})),
    )
    pipeline = make_pipeline(StandardScaler(), last).fit(numbers, y)
    inner = last.predict if is_xgb else last.decision_function
    scaled = pipeline[0].transform(numbers)
    expected = inner(scaled, output_margin=True) if is_xgb else inner(scaled)
    np.testing.assert_allclose(score_parts(pipeline, numbers).sum(axis=1), expected, rtol=0.0, atol=room)


@pytest.mark.parametrize(
    "model", [LGBMClassifier(n_estimators=5, verbosity=-1), XGBClassifier(n_estimators=5)]
)
def test_boosters_of_several_classes_and_before_the_fit_have_no_parts(model):
    X = overlapping(90)[0]
    for given in (model, clone(model).fit(X, np.arange(90) % 3)):
        with pytest.raises(TypeError, match="no sum over features"):
            score_parts(given, X)


def mixed(n=240):
    X, y = frame(n)
    X.loc[X.index[::9], "a"] = np.nan
    rng = np.random.default_rng(0)
    X["word"] = rng.choice(["de", "us", "fr", "it", "at"], n, p=[0.4, 0.3, 0.2, 0.06, 0.04])
    X["a_x"] = rng.choice(["x", "y"], n)  # named as if it were of column a
    return X, y


ENCODERS = [{"max_categories": 3, "handle_unknown": "infrequent_if_exist"}, {"drop": "first"}]


@pytest.mark.parametrize(
    "last",
    [pushrank.PNormPush(alpha=0.1), pushrank.PushBoost(), LogisticRegression(), pushrank.InfinitePush(99.0)],
)
@pytest.mark.parametrize("encoder", ENCODERS)
def test_what_a_pipeline_encodes_is_added_up_by_the_columns_that_it_was_given(last, encoder):
    X, y = mixed()
    numbers = make_pipeline(StandardScaler(), SimpleImputer(add_indicator=True))
    parts_of = [("words", OneHotEncoder(**encoder), ["a_x", "word"]), ("numbers", numbers, slice(0, 3))]
    columns = ColumnTransformer([*parts_of, ("none", "drop", ["d"]), ("no", OneHotEncoder(), [])])
    model = make_pipeline(columns, last).fit(X, y)
    parts = score_parts(model, X)
    assert parts.shape == (len(X), X.shape[1] + 1)
    np.testing.assert_allclose(parts.sum(axis=1), model.decision_function(X), rtol=0.0, atol=1e-12)
    assert (parts[:, list(X.columns).index("d")] == 0.0).all()
    assert exchanged(model, X, parts) < 1e-12
    np.testing.assert_allclose(mean_parts(model, X), parts[:, :-1].mean(axis=0), rtol=0.0, atol=1e-14)


@pytest.mark.parametrize(
    "last", [pushrank.PNormPush(), LogisticRegression(), RandomForestClassifier(10, random_state=0)]
)
def test_a_pipeline_is_explained_by_the_names_of_its_columns_in_any_order(last):
    X, y = mixed()
    model = make_pipeline(encoded("word", "a_x"), clone(last))
    with pytest.raises(ValueError, match="not fitted yet"):
        pushrank.explain(model, X)
    model.fit(X, y)
    over = X[50:60] if isinstance(last, RandomForestClassifier) else None
    parts = pushrank.explain(model, X[:4], over=over)
    assert [*parts.columns] == [*X.columns, "base"]
    assert parts.index.equals(X.index[:4])
    np.testing.assert_allclose(parts.sum(axis=1), model_scores(model, X[:4]), rtol=0.0, atol=1e-12)
    # More columns in another order are the same table to a pipeline that takes them by name.
    turned = X.assign(more=1.0)[["more", *X.columns[::-1]]]
    others = None if over is None else turned[50:60]
    pd.testing.assert_frame_equal(pushrank.explain(model, turned[:4], over=others), parts)
    if over is None:
        beyond, errors = pushrank.explain(model, X[:4], over=X, return_error=True)
        of_all = pushrank.explain(model, X)
        of_command, _ = parts_over(model, X[:4], X)
        np.testing.assert_allclose(beyond["a"], (of_all["a"] - of_all["a"].mean())[:4], atol=1e-12)
        np.testing.assert_array_equal(beyond, of_command)
        assert (errors == 0.0).all(axis=None)
    else:
        with pytest.raises(TypeError, match="no sum over features: pass over="):
            pushrank.explain(model, X[:4])


def encoded(*words):
    """A transformer that encodes texts and fills gaps."""
    return ColumnTransformer([("words", OneHotEncoder(), list(words))], remainder=SimpleImputer())


def test_a_search_is_explained_by_what_it_chose():
    X, y = mixed()
    X = X.astype({"word": "category", "a_x": "category"})
    search = pushrank.PushBoostCV(ps=[4.0], learning_rates=[1.0], n_estimators=[9], cv=3).fit(X, y)
    parts, *_ = assert_adds_up(search, X)
    assert list(parts.columns) == [*X.columns, "base"]
    assert exchanged(search, X, parts.to_numpy()) < 1e-12


def test_reasons_name_what_raises_a_row_most_beyond_other_rows():
    X = pd.DataFrame({"amount": [4120.0, 0.0, 2.5, np.nan], "country": ["DE", "US", "DE", "US"]})
    amount = ("amount", SimpleImputer(fill_value=0.0, strategy="constant"), ["amount"])
    encoded = ColumnTransformer([amount, ("c", OneHotEncoder(), ["country"])])
    model = make_pipeline(encoded, LogisticRegression()).fit(X, [1, 0, 1, 0])
    weights = dict(zip(("amount", "DE", "US"), model[-1].coef_[0], strict=True))
    amounts = weights["amount"] * X["amount"].fillna(0.0)
    country = (weights["DE"] - weights["US"]) / 2.0
    found = reasons(model, X, X, 3)
    first = amounts[0] - amounts.mean()
    assert weights["amount"] > 0.0
    assert sorted(found[0]) == sorted([f"amount 4,120: {first:+,.0f}", f"country DE: {country:+.2g}"])
    assert found[1] == []  # both of its columns lower it
    assert found[2] == [f"country DE: {country:+.2g}"]
    assert reasons(model, X.iloc[:1], X, 1) == [found[0][:1]]
    for amount, text in ((2.5, "2.5"), (250.89, "250.89"), (1e-5, "1e-05"), (1234567.25, "1,234,567")):
        row = X.iloc[[1]].assign(amount=amount)
        assert reasons(model, row, X.iloc[[1]], 1)[0][0].startswith(f"amount {text}: +")
    X.loc[3, "amount"] = np.nan
    over_largest = reasons(model, X.iloc[3:], X.iloc[[0]], 1)
    assert over_largest == [[]]
    missing = make_pipeline(encoded, LogisticRegression()).fit(X, [0, 1, 0, 1])
    assert any("amount missing: +" in text for text in reasons(missing, X, X, 2)[3])


def test_samples_add_up_and_are_within_their_errors_of_the_values_of_all_orders():
    X, y = mixed()
    X = X[["b", "c", "a", "word"]]
    model = make_pipeline(encoded("word"), RandomForestClassifier(10, random_state=0)).fit(X, y)
    rows, over = X.iloc[:20], X.iloc[40:60]
    parts, errors = parts_over(model, rows, over)
    scores, base = (model.predict_proba(part)[:, 1] for part in (rows, over))
    np.testing.assert_allclose(parts.sum(axis=1), scores, rtol=0.0, atol=1e-12)
    np.testing.assert_allclose(parts[:, -1], base.mean(), rtol=0.0, atol=1e-12)
    assert (errors[:, -1] == 0.0).all()
    exact = np.zeros((20, 4))
    for order in permutations(range(4)):
        for row in range(20):
            others, before = over.copy(), base
            for at in order:
                others[X.columns[at]] = rows.iloc[row, at]
                after = model.predict_proba(others)[:, 1]
                exact[row, at] += (after - before).mean() / 24.0
                before = after
    misses = np.abs(parts[:, :-1] - exact)
    assert (misses <= 1.96 * errors[:, :-1] + 1e-12).mean() > 0.9
    assert misses.max() <= 5.0 * errors.max()
    again, _ = parts_over(model, rows, over)
    np.testing.assert_array_equal(parts, again)


def test_a_stack_is_explained_by_columns_in_every_format():
    X, y = frame(100)
    stack = pushrank.StackingRanker([("one", LogisticRegression()), ("two", pushrank.PushBoost())], cv=2)
    stack.fit(X, y)
    parts, errors = stack.explain(X.iloc[:3], over=X.iloc[50:], return_error=True)
    assert list(parts.columns) == list(errors.columns) == [*X.columns, "base"]
    np.testing.assert_allclose(parts.sum(axis=1), stack.decision_function(X.iloc[:3]), rtol=0.0, atol=1e-9)
    stack.fit(X.to_numpy(), y)
    for kind in (np.asarray, sp.csr_array):
        found = stack.explain(kind(X.to_numpy()[:3]), over=kind(X.to_numpy()[50:]))
        np.testing.assert_allclose(found, parts, rtol=0.0, atol=1e-9)
    # A single other row: what sets the rows apart, and nothing where they are equal.
    assert (stack.explain(X.to_numpy()[:1], over=X.to_numpy()[:1])[0, :-1] == 0.0).all()


def test_a_single_column_takes_a_row_out_of_the_list():
    X = pd.DataFrame({"amount": [5.0, 9.0, np.nan, 1.0, 2.0, 3.0, 4.0], "word": list("xyxyxyy")})
    model = Mock(spec=["decision_function"])
    model.decision_function = lambda rows: rows["amount"].fillna(9.0) + 10.0 * (rows["word"] == "x")
    parts = np.array([[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [1.0, 0.0, 0.0]])
    assert leaving(model, X.iloc[:3], X.iloc[3:], parts, 2, 14.5) == [
        "amount at most 4",
        "",
        "amount not missing",
    ]
    of_words = leaving(model, X.iloc[:1], X.iloc[3:], np.array([[0.0, 1.0, 0.0]]), 2, 14.5)
    assert of_words == ["word not x"]
    model.decision_function = lambda rows: -rows["amount"].to_numpy()
    assert leaving(model, X.iloc[3:4], X.iloc[4:], parts[:1], 1, -2.5) == ["amount at least 3"]


@pytest.mark.parametrize(
    "model",
    [
        pushrank.InfinitePush(kernel="rbf"),
        pushrank.PushBoost(weak_rankers="regressors"),
        RandomForestClassifier(5),
        make_pipeline(PolynomialFeatures(), pushrank.PNormPush()),
    ],
)
def test_scores_that_are_no_sum_over_columns_are_refused(model):
    X, y = overlapping(60)
    with pytest.raises(TypeError, match="no sum over features: pass over="):
        score_parts(model.fit(X, y), X)


def test_parts_need_a_fit_and_its_features():
    X, y = frame()
    for ranker in (pushrank.PNormPush(), pushrank.PushBoost()):
        with pytest.raises(ValueError, match="not fitted yet"):
            ranker.explain(X)
        ranker.fit(X, y)
        with pytest.raises(ValueError, match="feature"):
            ranker.explain(X[["a", "b"]])


def test_one_column_alone_is_explained():
    X, y = np.arange(40.0)[:, None], np.arange(40) % 5 == 0
    forest = RandomForestClassifier(10, random_state=0).fit(X, y)
    parts, _ = parts_over(forest, X[:5], X)
    np.testing.assert_allclose(parts.sum(axis=1), forest.predict_proba(X[:5])[:, 1], atol=1e-9)


def test_gaps_are_alike_where_a_row_would_leave():
    values = np.array([1.0, 2.0, np.nan], dtype=object)
    assert _leaves_by(np.nan, values, np.array([True, True, False])) == "not missing"
    with warnings.catch_warnings(action="error"):
        assert _leaves_by(3.0, values, np.array([True, True, False])) == "at most 2"
    texts = np.array(["red", "blue", np.nan], dtype=object)
    assert _leaves_by("red", texts, np.array([False, True, True])) == "not red"


def test_linear_leaves_are_sampled_and_a_pipeline_may_be_of_one_step():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 3))
    y = X[:, 0] + np.abs(X[:, 1]) > 0.8
    linear = LGBMClassifier(n_estimators=5, linear_tree=True, verbosity=-1).fit(X, y)
    assert not has_exact_parts(linear, X[:1])
    parts, errors = parts_over(linear, X[:2], X[2:30])
    assert parts.shape == errors.shape == (2, 4)
    alone = make_pipeline(LGBMClassifier(n_estimators=5, verbosity=-1)).fit(X, y)
    np.testing.assert_allclose(score_parts(alone, X), score_parts(alone[-1], X))
