"""Rankers that train LightGBM and XGBoost on a push."""

import inspect
import pickle
import re
import sys

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.calibration import CalibratedClassifierCV
from sklearn.compose import make_column_transformer
from sklearn.datasets import load_breast_cancer
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder

from contract import check_contract
from pushrank import RankerSearchCV, load, metrics, save
from pushrank._base.optional import import_optional
from pushrank.interop.lightgbm import LGBMObjective, PushLGBMRanker, lightgbm
from pushrank.interop.xgboost import PushXGBRanker
from pushrank.metrics import make_top_scorer
from pushrank.objectives import PushObjective
from pushrank.prices import Power

pytestmark = pytest.mark.fast

SMALL = {"n_estimators": 5, "n_jobs": 1, "random_state": 0}
LGBM = PushLGBMRanker(num_leaves=7, **SMALL)
XGB = PushXGBRanker(max_depth=3, **SMALL)
BOTH = pytest.mark.parametrize("ranker", [LGBM, XGB], ids=["lightgbm", "xgboost"])

GRADES = "check_classifier_not_supporting_multiclass"  # three or more numbers in y are grades of relevance
# LightGBM's bins and its limit of rows in a leaf count rows whatever they weigh
COUNTS = [f"check_sample_weight_equivalence_on_{kind}_data" for kind in ("dense", "sparse")]


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.SkipTestWarning")
@pytest.mark.filterwarnings("ignore:.* the later of two texts:UserWarning")
@pytest.mark.parametrize(
    ("ranker", "failing", "left_out"),
    [(LGBM, COUNTS, [GRADES]), (clone(XGB).set_params(min_child_weight=0), [], [GRADES])],
)
def test_contract(ranker, failing, left_out):
    check_contract(ranker, failing, left_out)


@pytest.fixture(scope="module")
def data():
    return load_breast_cancer(return_X_y=True)


@pytest.fixture(scope="module")
def table():
    """A category that decides, beside a number with gaps."""
    rng = np.random.default_rng(0)
    kind, number = rng.choice(list("abcd"), 400), rng.normal(size=400)
    y = np.where(np.isin(kind, ["b", "d"]) & (number > -0.5), "yes", "no")
    number[::7] = np.nan
    return pd.DataFrame({"kind": pd.Categorical(kind), "number": number}), y


@BOTH
def test_parameters_of_the_booster_are_the_rankers(ranker, data):
    X, y = data
    other = clone(ranker).set_params(p=2.0, learning_rate=0.5)
    assert other.get_params() == ranker.get_params() | {"p": 2.0, "learning_rate": 0.5}
    assert "learning_rate=0.5" in repr(other)
    assert "learning_rate" not in ranker.get_params()
    assert len(np.unique(other.fit(X, y).decision_function(X))) > 2
    fits = (clone(ranker).set_params(learning_rate=rate).fit(X, y) for rate in (0.1, 0.3))
    spread = [fit.decision_function(X).std() for fit in fits]
    assert spread[0] < spread[1]


def test_parameters_that_cannot_be_taken_are_refused(data):
    reserved = [(LGBM, name) for name in ("objective", "num_boost_round", "num_classes")]
    for ranker, name in (*reserved, (XGB, "eval_metric"), (XGB, "missing")):
        with pytest.raises(ValueError, match=f"{name}=.* sets .*itself"):
            clone(ranker).set_params(**{name: 3}).fit(*data)
    with pytest.raises(ValueError, match="num_leafs=3 cannot be taken: LightGBM has no such parameter"):
        PushLGBMRanker(num_leafs=3).fit(*data)
    with pytest.warns(UserWarning, match="max_dept"):
        PushXGBRanker(max_dept=3, **SMALL).fit(*data)
    with pytest.raises(ValueError, match="has kinks"):
        PushLGBMRanker(price="maximum").fit(*data)
    with pytest.raises(ValueError, match="p must be a number of at least 1, or 'binary', got 'log_one_plus'"):
        PushXGBRanker("log_one_plus").fit(*data)
    for p in ("binary", 2.0):
        with pytest.raises(ValueError, match=f"p={p!r} and price='log_one_plus' are two objectives"):
            PushXGBRanker(p, price="log_one_plus").fit(*data)
    with pytest.raises(ValueError, match="has kinks"):
        PushXGBRanker(loss="hinge").fit(*data)


@BOTH
def test_no_split_is_no_model(ranker, data):
    X, y = data
    with pytest.raises(ValueError, match="no split of the 569 training rows meets the limits of a leaf"):
        clone(ranker).set_params(min_child_weight=1e9).fit(X, y)
    with pytest.raises(ValueError, match="no split of the 569 training rows meets the limits of a leaf"):
        clone(ranker).fit(np.ones((len(y), 2)), y)


def test_a_ranker_is_what_the_library_trains(data):
    X, y = data
    push = LGBMObjective(PushObjective(price=Power(4.0), scale="log"))
    params = {"objective": push, "verbosity": -1, "num_leaves": 7, "num_threads": 1, "deterministic": True}
    booster = lightgbm.train(params, lightgbm.Dataset(X, y), 5)
    ranker = clone(LGBM).fit(X, y)
    scores = ranker.decision_function(X) + ranker.threshold_
    np.testing.assert_allclose(scores, booster.predict(X), rtol=1e-12)


def test_a_device_is_passed_on_to_xgboost(monkeypatch, data):
    asked = []
    monkeypatch.setattr("xgboost.train", lambda params, *_, **__: asked.append(params) or 1 / 0)
    with pytest.raises(ZeroDivisionError):
        PushXGBRanker(device="cuda:1").fit(*data)
    assert asked[0]["device"] == "cuda:1"


@BOTH
def test_threads_change_nothing(ranker, data):
    X, y = data
    scores = [clone(ranker).set_params(n_jobs=n_jobs).fit(X, y).decision_function(X) for n_jobs in (1, 2)]
    np.testing.assert_array_equal(*scores)


@BOTH
@pytest.mark.parametrize("p", ["binary", 4.0])
def test_early_stopping_ends_at_the_best_round(ranker, p, data):
    X, y = data
    options = {"early_stopping": True, "scoring": make_top_scorer(fraction=0.3), "n_iter_no_change": 4}
    stopped = clone(ranker).set_params(p=p, n_estimators=40, validation_fraction=0.3, **options).fit(X, y)
    path = stopped.validation_path_
    assert stopped.n_iter_ == stopped.best_round_ == np.argmax(path) + 1
    assert len(path) == stopped.n_iter_ + 4
    without = clone(ranker).set_params(p=p).fit(X, y)
    assert (without.n_iter_, len(without.validation_path_)) == (5, 0)
    refitted = clone(stopped).set_params(refit=True).fit(X, y)
    assert refitted.validation_path_.tolist() == path.tolist()
    whole = clone(ranker).set_params(p=p, n_estimators=stopped.n_iter_).fit(X, y)
    np.testing.assert_array_equal(refitted.decision_function(X), whole.decision_function(X))
    assert refitted.n_iter_ == stopped.n_iter_
    # The latest rows may have no positive, and a class too few rows for a part.
    late = {"time": -np.argsort(np.argsort(y == y.max(), kind="stable"))}
    assert clone(stopped).set_params(refit=True).fit(X, y, **late).n_iter_ == refitted.n_iter_
    few = np.r_[np.flatnonzero(y == y.min()), np.flatnonzero(y == y.max())[:1]]
    with pytest.warns(
        UserWarning, match="too few rows say how many rounds are best: all are learnt from in 4"
    ):
        short = clone(stopped).set_params(refit=True, min_child_weight=0.0).fit(X[few], y[few])
    assert short.n_iter_ == 4
    with pytest.raises(ValueError, match="leaves no pair to train on or none to validate on"):
        clone(stopped).fit(X[few], y[few])
    with pytest.raises(ValueError, match="time"):
        clone(stopped).set_params(refit=True).fit(X, y, time=np.arange(3))
    again = pickle.loads(pickle.dumps(stopped))  # noqa: S301
    np.testing.assert_array_equal(again.decision_function(X), stopped.decision_function(X))
    assert stopped.engine.n_rounds(again.booster_) == stopped.n_iter_


@BOTH
def test_weights_groups_and_grades(ranker):
    rng = np.random.default_rng(0)
    X, qid = rng.normal(size=(300, 3)), np.arange(300) % 10
    offset = rng.normal(size=10)[qid]
    y = np.digitize(X[:, 0] + offset, [-0.5, 0.5])
    other = rng.permutation(300)  # groups may be in any order
    ranker = clone(ranker).set_params(n_estimators=20)
    fit = ranker.fit(X, y, qid=qid)
    np.testing.assert_allclose(
        clone(ranker).fit(X[other], y[other], qid=qid[other]).decision_function(X),
        fit.decision_function(X),
        rtol=1e-4,
        atol=1e-5,
    )
    assert set(fit.predict(X)) == {0, 1, 2}
    by_query = metrics.ndcg_at_k(y, fit.decision_function(X), 10, qid=qid)
    assert by_query > 0.9
    stopped = clone(ranker).set_params(early_stopping=True, scoring="ndcg_at_10", validation_fraction=0.3)
    assert len(stopped.fit(X, y, qid=qid).validation_path_) > 0
    with pytest.raises(ValueError, match="by the log loss; for grades and query groups take a push"):
        clone(ranker).set_params(p="binary").fit(X, y)
    two, some = (y == 2).astype(int), np.arange(300) % 3 > 0
    np.testing.assert_array_equal(
        clone(ranker).fit(X, two, some).decision_function(X),
        clone(ranker).fit(X[some], two[some]).decision_function(X),
    )
    weighted = clone(ranker).fit(X, two, np.where(X[:, 1] > 0.0, 1.0, 1e-6))
    assert weighted.score(X[X[:, 1] > 0.0], two[X[:, 1] > 0.0]) > 0.8


@BOTH
def test_frames_with_categories_and_gaps(ranker, table):
    X, y = table
    fit = clone(ranker).set_params(n_estimators=20).fit(X, y)
    assert fit.feature_names_in_.tolist() == ["kind", "number"]
    assert fit.score(X, y) > 0.9
    assert fit.predict(X).tolist().count("yes") > 50
    assert fit.feature_importances_.sum() == pytest.approx(1.0)
    assert (fit.feature_importances_ > 0.1).all()
    some = X.iloc[::3]
    np.testing.assert_array_equal(fit.decision_function(some), fit.decision_function(X)[::3])
    with pytest.raises(ValueError, match="feature names"):
        fit.decision_function(X.rename(columns={"kind": "sort"}))
    for odd in (X["kind"].astype(str), pd.Timestamp(0) + pd.to_timedelta(X["number"])):
        with pytest.raises(ValueError, match=r"(column 'odd' holds .*it a category|days since a date)"):
            clone(ranker).fit(X.assign(odd=odd), y)
    with pytest.raises(ValueError, match=r"column 'kind' holds .*: make it a category"):
        fit.decision_function(X.assign(kind=X["kind"].astype(str)))
    with pytest.raises(ValueError, match="Input y contains NaN"):
        clone(ranker).fit(X, np.array([np.nan, *(y[1:] == "yes")]))
    numbers = X[["number"]]
    fit = clone(ranker).fit(numbers, y)
    with pytest.warns(UserWarning, match="does not have valid feature names"):
        scores = fit.decision_function(numbers.to_numpy())
    np.testing.assert_array_equal(scores, fit.decision_function(numbers))
    columns = make_column_transformer((OneHotEncoder(), ["kind"]), remainder="passthrough")
    pipeline = make_pipeline(columns, clone(ranker))
    search = GridSearchCV(pipeline, {f"{type(ranker).__name__.lower()}__p": [1.0, "binary"]}, cv=2)
    assert search.fit(X, y).best_score_ > 0.9
    calibrated = CalibratedClassifierCV(pipeline, cv=2).fit(X, y)
    assert calibrated.predict_proba(X).shape == (400, 2)


@BOTH
def test_a_saved_ranker_scores_the_same(ranker, table, tmp_path):
    X, y = table
    ranker = clone(ranker).set_params(scoring=make_top_scorer("precision_at_k", fraction=0.1))
    for fitted in (ranker.fit(X, y), make_pipeline("passthrough", clone(ranker)).fit(X, y)):
        save(fitted, tmp_path / "model.skops")
        loaded = load(tmp_path / "model.skops")
        np.testing.assert_array_equal(loaded.decision_function(X), fitted.decision_function(X))
        assert loaded.get_params().keys() == fitted.get_params().keys()
    assert b"pickle" not in (tmp_path / "model.skops").read_bytes()


@BOTH
def test_a_search_chooses_objective_and_rounds(ranker, data, monkeypatch):
    X, y = data
    rounds = {"n_estimators": [2, 5]}
    candidates = [
        ("log loss", clone(ranker).set_params(p="binary"), rounds),
        ("IR Push", clone(ranker).set_params(price="log_one_plus", side="pull"), rounds),
        ("P-Norm Push", ranker, {"p": [2.0, 4.0], **rounds}),
    ]
    fits, fit = [], type(ranker).fit
    monkeypatch.setattr(type(ranker), "fit", lambda self, *rest: fits.append(1) or fit(self, *rest))
    search = RankerSearchCV(candidates, fraction=0.2, cv=2).fit(X, y)
    assert len(fits) == 2 * 4 + 1  # fewer rounds are the first ones
    assert [row["candidate"] for row in search.candidates_] == ["log loss", "IR Push", "P-Norm Push"]
    assert len(search.cv_results_["params"]) == 8
    assert search.candidate_ == "log loss"  # within one standard error of whatever is best
    assert search.best_estimator_.n_iter_ == search.best_params_["n_estimators"]


@BOTH
@pytest.mark.parametrize("p", ["binary", 4.0])
def test_stages_are_fits_of_fewer_rounds_unless_trees_are_dropped(ranker, p, data):
    X, y = data
    ranker = clone(ranker).set_params(p=p).fit(X, y)
    staged = list(ranker.staged_decision_function(X))
    assert len(staged) == ranker.n_iter_ == 5
    np.testing.assert_allclose(staged[-1], ranker.decision_function(X), rtol=1e-5, atol=1e-6)
    shorter = clone(ranker).set_params(n_estimators=3).fit(X, y).decision_function(X)
    assert np.ptp(staged[2] - shorter) == pytest.approx(0.0, abs=1e-6)
    assert ranker._rounds_nest
    assert not clone(ranker).set_params(boosting="dart")._rounds_nest
    assert not clone(ranker).set_params(early_stopping=True)._rounds_nest


def test_without_the_library_its_extra_is_named(monkeypatch):
    for name in ("lightgbm", "xgboost"):
        monkeypatch.setitem(sys.modules, name, None)
        with pytest.raises(ImportError, match=re.escape(f'pip install "pushrank[{name}]"')):
            import_optional(name, name)


@pytest.mark.parametrize("ranker", [LGBM, XGB], ids=repr)
def test_all_that_a_fit_leaves_is_documented(ranker, data):
    from numpydoc import docscrape

    assert "%(" not in inspect.getdoc(type(ranker)) + type(ranker).fit.__doc__
    attributes = docscrape.NumpyDocString(inspect.getdoc(type(ranker)))["Attributes"]
    documented = {name for attribute in attributes for name in attribute.name.split(", ")}
    fitted = clone(ranker).fit(pd.DataFrame(data[0]).rename(columns=str), data[1])
    assert {name for name in vars(fitted) if re.fullmatch(r"[^_].*_", name)} <= documented


@BOTH
def test_frames_of_any_names_and_number_types(ranker, table, tmp_path):
    X, y = table
    X = pd.concat([X, X[["number"]].add_prefix("2") + 1, X[["number"]].add_prefix("3") * 2], axis=1)
    expected = clone(ranker).fit(X, y).decision_function(X)
    odd = X.set_axis(["a[0]", "c,d", 'q"x', "e:f"], axis=1)
    fitted = clone(ranker).fit(odd, y)
    save(fitted, tmp_path / "odd.skops")
    for model in (fitted, load(tmp_path / "odd.skops")):
        np.testing.assert_array_equal(model.decision_function(odd), expected)
        assert model.feature_names_in_.tolist() == odd.columns.tolist()
    assert fitted.explain(odd).columns[:-1].tolist() == odd.columns.tolist()
    numbers = X.select_dtypes("number").columns
    for dtype in ("double[pyarrow]", "Float64"):
        typed = X.astype(dict.fromkeys(numbers, dtype))
        np.testing.assert_array_equal(clone(ranker).fit(typed, y).decision_function(X), expected)
        typed.columns = odd.columns
        np.testing.assert_array_equal(fitted.decision_function(typed), expected)


KINDS = {
    "float": [0.5, 1.5, 2.5],
    "bool": [False, True, True],
    "date": pd.to_datetime(["2024", "2025", "2026"]),
    "interval": pd.interval_range(0, 3),
    "mixed": [1, "a", 2.5],
}


@pytest.mark.parametrize(
    "ranker", [PushLGBMRanker(n_estimators=5, n_jobs=1), PushXGBRanker(n_estimators=5, n_jobs=1)]
)
@pytest.mark.parametrize("kind", KINDS)
def test_categories_of_any_kind_score_as_their_numbers_do(ranker, kind):
    rng = np.random.default_rng(0)
    codes, number = rng.integers(0, 3, 150), rng.normal(size=150)
    y = (codes == 1) + rng.normal(size=150) > 0.5
    column = pd.Series(np.array([*KINDS[kind]], dtype=object)[codes]).infer_objects().astype("category")
    X, plain = (
        pd.DataFrame({"kind": of, "number": number}) for of in (column, column.cat.codes.astype("category"))
    )
    fitted = clone(ranker).fit(X, y)
    expected = clone(ranker).fit(plain, y).decision_function(plain)
    np.testing.assert_array_equal(fitted.decision_function(X), expected)
    few = X.iloc[:5].assign(kind=column[:5].cat.remove_unused_categories())
    np.testing.assert_array_equal(fitted.decision_function(few), expected[:5])


@BOTH
def test_categories_that_were_not_seen_are_missing(ranker, table):
    X, y = table
    fitted, kinds = clone(ranker).fit(X, y), X["kind"].cat.categories
    missing = X.assign(kind=X["kind"].where(X["kind"] != kinds[0]))
    for new in ("new", np.nan):
        other = X.assign(kind=X["kind"].astype(object).where(X["kind"] != kinds[0], new).astype("category"))
        np.testing.assert_array_equal(fitted.decision_function(other), fitted.decision_function(missing))
