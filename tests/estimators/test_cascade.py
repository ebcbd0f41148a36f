"""Cascades: cuts, survivors, and scores that put those who survive more above."""

from __future__ import annotations

import pickle

import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy import sparse
from sklearn.base import BaseEstimator, clone
from sklearn.datasets import load_breast_cancer
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler, scale
from sklearn.utils import get_tags
from skops import io

from contract import check_contract
from pushrank import PNormPush, RankBoost
from pushrank.estimators.cascade import CascadeRanker


class Column(BaseEstimator):
    """A stage whose scores are a feature."""

    def __init__(self, number=0):
        self.number = number

    def fit(self, X, y, sample_weight=None):
        self.seen_ = (X, y, sample_weight)
        self.fitted_ = True
        return self

    def decision_function(self, X):
        return np.asarray(X)[:, self.number]


class WithoutWeights(Column):
    """A stage that takes no weights."""

    def fit(self, X, y):
        return super().fit(X, y)


class Untouchable:
    """Data that must not be looked at."""

    def __getattr__(self, name):
        raise AssertionError(f"the data were looked at: {name}")


X8 = np.array([[1, 0], [2, 9], [3, 0], [4, 1], [5, 8], [6, 2], [7, 5], [8, 3]], dtype=float)
Y8 = np.array([0, 0, 0, 1, 1, 0, 1, 0])


@pytest.fixture(scope="module")
def data():
    X, y = load_breast_cancer(return_X_y=True)
    return scale(X), y


def overlapping(n=400, d=5, seed=0):
    rng = np.random.default_rng(seed)
    y = (rng.random(n) < 0.4).astype(int)
    return rng.normal(size=(n, d)) + 0.4 * y[:, None], y


CUTTING = CascadeRanker([RankBoost(n_estimators=10), PNormPush()], keep=[0.9])


@pytest.mark.filterwarnings("ignore:CascadeRanker ends:UserWarning")
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.SkipTestWarning")
@pytest.mark.parametrize(
    "ranker",
    [
        CascadeRanker(),
        pytest.param(CUTTING, marks=pytest.mark.nightly),
        pytest.param(
            CascadeRanker([LogisticRegression(), PNormPush()], keep=[1.0]), marks=pytest.mark.nightly
        ),
        pytest.param(CascadeRanker([PNormPush(p=2)]), marks=pytest.mark.nightly),
    ],
)
def test_contract(ranker):
    check_contract(ranker)


def test_three_stages_by_hand():
    stages = [Column(0), Column(1), Column(0)]
    ranker = CascadeRanker(stages, keep=[6, 0.5]).fit(X8, Y8)
    # Rows 2 to 7 survive the first cut, and those with 8, 5, 3 and 2 in column 1 also the second.
    assert ranker.rank(X8).tolist() == [7, 6, 5, 4, 3, 2, 1, 0]
    assert ranker.cuts_.tolist() == [2.5, 1.5]
    assert ranker.n_kept_.tolist() == [6, 4]
    assert ranker.n_stages_ == len(ranker.stages_) == 3
    np.testing.assert_array_equal(ranker.stages_[1].seen_[0], X8[2:])
    np.testing.assert_array_equal(ranker.stages_[2].seen_[1], Y8[4:])
    two = CascadeRanker(stages[:2], keep=[6]).fit(X8, Y8)
    assert two.rank(X8).tolist() == [4, 6, 7, 5, 3, 2, 1, 0]


def test_scores_by_hand():
    ranker = CascadeRanker([Column(0), Column(1)], keep=[4]).fit(X8, Y8)
    # medians 4 and 3 and interquartile ranges 6 - 2 and 5 - 2, as observed values
    assert (ranker.centres_.tolist(), ranker.spreads_.tolist()) == ([4.0, 2.0 + 1.0], [4.0, 3.0])
    for row, level, distance in ((0, 0, -3 / 4), (3, 0, 0.0), (4, 1, 5 / 3), (6, 1, 2 / 3), (7, 1, 0.0)):
        a = np.arcsinh(distance)
        expected = level + a / (1 + abs(a)) / 3 - ranker.threshold_
        np.testing.assert_allclose(ranker.decision_function(X8[[row]]), [expected], rtol=1e-14)
    # three rows are positive, so three are predicted so: 4, 6 and 7
    assert ranker.predict(X8).tolist() == [0, 0, 0, 0, 1, 0, 1, 1]
    np.testing.assert_array_equal(ranker.predict(X8), ranker.decision_function(X8) > 0)


def test_there_is_one_warning_about_which_of_two_texts_is_positive():
    X = np.arange(40.0)[:, np.newaxis]
    y = np.where(np.arange(40) % 3 < 2, "fraud", "legit")
    with pytest.warns(UserWarning, match="CascadeRanker ranks legit above fraud") as told:
        CascadeRanker().fit(X, y)
    assert len(told) == 1


def test_ties_at_the_cut_all_survive():
    X = np.array([[0.0], [1.0], [1.0], [1.0], [2.0]])
    y = [0, 1, 0, 1, 0]
    ranker = CascadeRanker([Column(), Column()], keep=[2]).fit(X, y)
    assert ranker.n_kept_.tolist() == [4]
    assert ranker.cuts_.tolist() == [0.5]
    everyone = CascadeRanker([Column(), Column()], keep=[2]).fit(np.ones((5, 1)), y)
    assert everyone.n_kept_.tolist() == [5]
    assert everyone.cuts_.tolist() == [-np.inf]
    assert len(set(everyone.decision_function(X[1:4]))) == 1


def test_a_cut_between_neighbouring_floats():
    lower, higher = 1.0, np.nextafter(1.0, 2.0)
    X = np.array([[lower], [lower], [higher], [higher]])
    ranker = CascadeRanker([Column(), Column()], keep=[2]).fit(X, [0, 1, 0, 1])
    assert ranker.n_kept_.tolist() == [2]
    assert (ranker.rank(X)[:2] >= 2).all()


@pytest.mark.parametrize(("keep", "n_kept"), [(0.5, 4), (1.0, 8), (1e-9, 2), (2, 2), (100, 8), (0.31, 2)])
def test_counts_and_fractions_are_of_all_rows(keep, n_kept):
    stages = [Column(0), Column(0), Column(0)]
    ranker = CascadeRanker(stages, keep=[keep, keep]).fit(X8, Y8)
    assert ranker.n_kept_.tolist() == [n_kept, n_kept]


def test_default_stages_and_keep():
    X, y = overlapping()
    ranker = CascadeRanker().fit(X, y)
    assert [stage.p for stage in ranker.stages_] == [1.0, 16.0]
    assert ranker.n_kept_.tolist() == [100]
    three = CascadeRanker([PNormPush(p) for p in (1, 4, 16)]).fit(X, y)
    assert three.n_kept_.tolist() == [100, 50]


def test_the_cascade_is_its_stages_fitted_one_by_one():
    X, y = overlapping()
    ranker = CascadeRanker([PNormPush(p=1), PNormPush(p=16)], keep=[150]).fit(X, y)
    first = PNormPush(p=1).fit(X, y)
    top, rest = np.split(first.rank(X), [150])
    second = PNormPush(p=16).fit(X[np.sort(top)], y[np.sort(top)])
    expected = np.concatenate([top[second.rank(X[top])], rest])
    np.testing.assert_array_equal(ranker.rank(X), expected)
    assert ranker.predict(X).sum() == y.sum()


@pytest.mark.parametrize("stage", [PNormPush(p=8), LogisticRegression(), RankBoost(n_estimators=20)])
def test_one_stage_keeps_its_order(data, stage):
    X, y = data
    ranker = CascadeRanker([stage]).fit(X, y)
    alone = clone(stage).fit(X, y)
    order = np.argsort(-alone.decision_function(X), kind="stable")
    np.testing.assert_array_equal(ranker.rank(X), order)
    assert ranker.cuts_.shape == ranker.n_kept_.shape == (0,)


def test_survivors_of_one_class_end_the_cascade():
    stages = [Column(0), Column(1), Column(0)]
    y = np.array(["no"] * 5 + ["yes"] * 3)
    with pytest.warns(UserWarning, match=r"ends after stage 1 of 3.*all of class yes.*Raise keep\[0\]"):
        ranker = CascadeRanker(stages, keep=[3, 2]).fit(X8, y)
    assert ranker.n_stages_ == len(ranker.stages_) == 1
    assert ranker.cuts_.shape == (0,)
    assert ranker.rank(X8).tolist() == list(range(8))[::-1]
    assert ranker.predict(X8).tolist() == y.tolist()
    with pytest.warns(UserWarning, match="ends after stage 2 of 3"):
        assert CascadeRanker(stages, keep=[6, 2]).fit(X8, Y8).n_stages_ == 2


def test_survivors_of_weight_zero_are_of_no_class():
    weights = np.array([1, 1, 1, 1, 1, 0, 1, 0])
    with pytest.warns(UserWarning, match="all of class 1"):
        CascadeRanker([Column(0), Column(1)], keep=[3]).fit(X8, Y8, weights)
    ranker = CascadeRanker([Column(0), Column(1)], keep=[2]).fit(X8, Y8, [1, 1, 1, 1, 1, 1, 0, 0])
    assert ranker.n_kept_.tolist() == [4]


@pytest.mark.parametrize("as_type", [np.asarray, sparse.csr_array, sparse.csc_array])
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_the_score_of_a_row_does_not_depend_on_other_rows(as_type, dtype):
    X, y = overlapping()
    X = X.astype(dtype)
    ranker = CascadeRanker([PNormPush(p=p) for p in (1, 4, 16)], keep=[0.5, 0.25]).fit(as_type(X), y)
    together = ranker.decision_function(as_type(X))
    alone = [ranker.decision_function(as_type(X[[row]]))[0] for row in range(0, len(X), 9)]
    np.testing.assert_array_equal(together[::9], alone)
    backwards = ranker.decision_function(as_type(X[::-1].copy()))
    np.testing.assert_array_equal(together, backwards[::-1])


def test_new_rows_out_of_range_keep_their_level_and_order():
    ranker = CascadeRanker([Column(0), Column(1)], keep=[4]).fit(X8, Y8)
    new = np.array([[9.0, -1e300], [9, -1e30], [9, -1e12], [9, -1], [9, 1e12], [9, 1e30], [9, 1e300]])
    cut_off = np.array([[-1e300, 9.0], [-1e30, 9], [4.4, 1e300]])
    scores = ranker.decision_function(np.concatenate([cut_off, new]))
    assert np.isfinite(scores).all()
    assert (np.diff(scores) > 0).all()


def test_fine_differences_on_top_of_a_long_tail_are_kept():
    values = np.concatenate([[-1e30], np.arange(50.0), 1e6 + 1e-3 * np.arange(50), [1e30]])
    y = np.arange(len(values)) % 2
    ranker = CascadeRanker([Column()]).fit(values[:, None], y)
    assert (np.diff(ranker.decision_function(values[:, None])) > 0).all()


@pytest.mark.parametrize("keep", [1.0, 0.6, 60])
def test_weights_are_repetition(keep):
    X, y = overlapping(n=80)
    weights = np.random.default_rng(1).integers(0, 4, len(y))
    cascade = CascadeRanker([PNormPush(p=1, tol=1e-7), PNormPush(p=4, alpha=0.1, tol=1e-7)], keep=[keep])
    weighted = clone(cascade).fit(X, y, weights)
    repeated = clone(cascade).fit(X.repeat(weights, axis=0), y.repeat(weights))
    # the optima agree as far as the solver goes
    np.testing.assert_allclose(weighted.decision_function(X), repeated.decision_function(X), atol=1e-6)


def test_cuts_count_weights_and_stages_get_them():
    weights = np.array([9.0, 1, 1, 1, 2, 3, 4, 5])
    ranker = CascadeRanker([Column(0), make_pipeline(Column(1))], keep=[14]).fit(X8, Y8, weights)
    assert ranker.n_kept_.tolist() == [4]
    np.testing.assert_array_equal(ranker.stages_[0].seen_[2], weights)
    np.testing.assert_array_equal(ranker.stages_[1][-1].seen_[2], weights[4:])
    assert CascadeRanker([Column()]).fit(X8, Y8).stages_[0].seen_[2] is None


@pytest.mark.parametrize(
    ("parameters", "error", "message"),
    [
        ({"stages": PNormPush()}, TypeError, "stages must be a list.*PNormPush"),
        ({"stages": []}, ValueError, "stages must hold at least one"),
        ({"stages": [PNormPush]}, TypeError, r"stages\[0\] is the class PNormPush"),
        ({"stages": [PNormPush(), Ridge()]}, TypeError, r"stages\[1\], Ridge, has no decision_function"),
        ({"stages": ["PNormPush"]}, TypeError, r"stages\[0\], str, has no get_params and no fit"),
        ({"keep": 0.5}, TypeError, "keep must be a list of numbers"),
        ({"keep": "half"}, TypeError, "keep must be a list of numbers"),
        ({"keep": []}, ValueError, "one entry for each stage but the last, 1 here; found 0"),
        ({"keep": [0.5, 0.25]}, ValueError, "found 2"),
        ({"keep": ["0.5"]}, TypeError, r"keep\[0\] must be an integer or a float, got '0.5'"),
        ({"keep": [True]}, TypeError, r"keep\[0\] must be an integer or a float, got True"),
        ({"keep": [None]}, TypeError, r"keep\[0\] must be an integer or a float, got None"),
        ({"keep": [0]}, ValueError, r"keep\[0\] must be a count of at least 2"),
        ({"keep": [1]}, ValueError, r"keep\[0\] must be a count of at least 2"),
        ({"keep": [0.0]}, ValueError, r"keep\[0\] must be a fraction in \(0, 1\]"),
        ({"keep": [1.5]}, ValueError, r"keep\[0\] must be a fraction in \(0, 1\]"),
        ({"keep": [np.nan]}, ValueError, r"keep\[0\] must be a fraction in \(0, 1\]"),
    ],
)
def test_parameters_are_checked_before_the_data_are_looked_at(parameters, error, message):
    ranker = CascadeRanker(**parameters)
    with pytest.raises(error, match=message):
        ranker.fit(Untouchable(), Untouchable())
    assert vars(ranker) == vars(CascadeRanker(**parameters))


@pytest.mark.parametrize("keep", [[0.25, 0.5], [2, 3], [0.25, 3], [3, 0.5]])
def test_keep_must_not_grow(keep):
    ranker = CascadeRanker([Column()] * 3, keep=keep)
    with pytest.raises(ValueError, match=r"keep must not grow.*of 8 rows, keep\[1\]"):
        ranker.fit(X8, Y8)
    assert CascadeRanker([Column()] * 3, keep=[4, 0.5]).fit(X8, Y8).n_kept_.tolist() == [4, 4]


def test_bad_data_are_refused_and_leave_an_earlier_fit_whole(data):
    X, y = data
    ranker = CascadeRanker(keep=[0.8]).fit(pd.DataFrame(X).add_prefix("x"), y)
    for bad in (np.arange(len(y)) % 3, np.zeros(len(y))):
        with pytest.raises(ValueError, match="Only binary classification is supported: CascadeRanker"):
            ranker.fit(X[:, :5], bad)
    with pytest.raises(ValueError, match="inconsistent numbers of samples"):
        ranker.fit(X[:, :5], y[:-1])
    with pytest.raises(ValueError, match="must not be negative"):
        ranker.fit(X[:, :5], y, -np.ones(len(y)))
    assert (ranker.predict(pd.DataFrame(X).add_prefix("x")) == y).mean() > 0.9
    with pytest.raises(ValueError, match="30 features"):
        CascadeRanker(keep=[0.8]).fit(X, y).predict(np.ones((3, 5)))
    with pytest.raises(NotFittedError):
        CascadeRanker().decision_function(X)


def test_a_stage_without_weights_is_named_before_any_fitting():
    stages = [Column(), make_pipeline(WithoutWeights())]
    with pytest.raises(TypeError, match=r"(?s)WithoutWeights\(\).* in stages takes no sample_weight"):
        CascadeRanker(stages).fit(X8, Y8, np.ones(8))
    assert not hasattr(stages[0], "fitted_")
    CascadeRanker(stages, keep=[1.0]).fit(X8, Y8)


@pytest.mark.parametrize("frame", [pd.DataFrame, pl.DataFrame], ids=["pandas", "polars"])
def test_frames_reach_every_stage_as_frames(frame, data):
    X, y = data
    table = frame({f"column {j}": X[:, j] for j in range(X.shape[1])})
    cascade = CascadeRanker([PNormPush(p=1), make_pipeline(StandardScaler(), PNormPush(p=16))], keep=[0.8])
    ranker = clone(cascade).fit(table, y)
    names = list(table.columns)
    assert ranker.feature_names_in_.tolist() == names
    assert all(stage.feature_names_in_.tolist() == names for stage in ranker.stages_)
    np.testing.assert_array_equal(ranker.rank(table), cascade.fit(X, y).rank(X))
    assert not hasattr(cascade, "feature_names_in_")


def test_missing_values_where_the_stages_take_them():
    X, y = overlapping()
    X[::7, 0] = np.nan
    boosted = [RankBoost(n_estimators=10), HistGradientBoostingClassifier(max_iter=5)]
    ranker = CascadeRanker(boosted, keep=[0.5]).fit(X, y)
    assert np.isfinite(ranker.decision_function(X)).all()
    assert get_tags(ranker).input_tags.allow_nan
    assert not get_tags(CascadeRanker([boosted[0], PNormPush()])).input_tags.allow_nan
    for cascade in (CascadeRanker(), CascadeRanker([boosted[0], PNormPush()])):
        with pytest.raises(ValueError, match="NaN"):
            cascade.fit(X, y)


def test_in_a_pipeline_a_grid_and_a_cascade(data):
    X, y = data
    pipeline = make_pipeline(StandardScaler(), CascadeRanker())
    grid = GridSearchCV(pipeline, {"cascaderanker__keep": [[0.7], [0.9]]}, cv=2).fit(X, y)
    assert grid.best_score_ > 0.95
    nested = CascadeRanker([CascadeRanker(keep=[0.9]), PNormPush(p=32)], keep=[0.8]).fit(X, y)
    assert nested.score(X, y) > 0.95
    cascade = CascadeRanker([PNormPush(p=3)])
    assert clone(cascade).stages[0].p == 3
    assert clone(cascade).stages[0] is not cascade.stages[0]
    cascade.fit(X, y)
    assert not hasattr(cascade.stages[0], "coef_")


def test_saved_cascades_come_back(data):
    X, y = data
    ranker = CascadeRanker(keep=[0.8]).fit(X, y)
    trusted = [f"{kind.__module__}.{kind.__qualname__}" for kind in (CascadeRanker, PNormPush)]
    for loaded in (pickle.loads(pickle.dumps(ranker)), io.loads(io.dumps(ranker), trusted=trusted)):  # noqa: S301
        np.testing.assert_array_equal(loaded.decision_function(X), ranker.decision_function(X))
