"""What boosted rankers learn from, and the training that users expect."""

from __future__ import annotations

import os

import numpy as np
import pandas as pd
import polars as pl
import pytest
import sklearn
from sklearn.base import clone
from sklearn.datasets import load_breast_cancer, load_diabetes
from sklearn.exceptions import NotFittedError
from sklearn.metrics import average_precision_score, get_scorer, make_scorer, ndcg_score
from sklearn.model_selection import GridSearchCV, GroupKFold, cross_validate
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeRegressor

from growth import growth
from pushrank import (
    AdaBoostRanker,
    IRPush,
    PNormPush,
    PushBoost,
    PushRanker,
    RankBoost,
    SmoothMarginRanking,
    metrics,
)
from pushrank.datasets import load_dataset
from pushrank.metrics.scorers import positives_at_top
from pushrank.prices import LogOnePlus, Power
from pushrank.weak_rankers import Regressors, Stumps


def overlapping(n=400, n_features=5, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, n_features))
    return X, (X @ rng.normal(size=n_features) + 1.5 * rng.normal(size=n) > 1).astype(int)


def graded(n=300, seed=0, groups=12):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 4))
    relevance = np.digitize(X @ [1, 1, 0, -1] + rng.normal(size=n), [-1, 0.5, 2])
    return X, relevance, rng.integers(0, groups, n)


def push(p=4.0, **options):
    return PushBoost(p, n_estimators=30, **options)


FAMILY = {
    "rank": lambda: RankBoost(n_estimators=30),
    "freund": lambda: RankBoost("freund", n_estimators=30),
    "columns": lambda: RankBoost(weak_rankers="columns", n_estimators=30),
    "trees": lambda: RankBoost(weak_rankers="regressors", n_estimators=10, random_state=0),
    "functions": lambda: RankBoost(weak_rankers=[lambda X: X[:, 0], lambda X: X[:, 1] > 0], n_estimators=30),
    "smooth": lambda: SmoothMarginRanking("warn", n_estimators=30),
    "ada": lambda: AdaBoostRanker(n_estimators=30),
    "ada trees": lambda: AdaBoostRanker(weak_rankers="regressors", n_estimators=10, random_state=0),
    "push": push,
    "ir": lambda: push("log_one_plus", side="pull"),
    "bottom": lambda: push(side="pull"),
    "both ends": lambda: push(side="both"),
    "push columns": lambda: push(weak_rankers="columns"),
}
quiet = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")


@quiet
@pytest.mark.parametrize("name", FAMILY)
class TestEveryMember:
    def test_stages_lead_to_the_end(self, name):
        X, y = overlapping()
        ranker = FAMILY[name]().fit(X, y)
        stages = list(ranker.staged_decision_function(X))
        assert len(stages) == ranker.n_iter_ == len(ranker.estimator_weights_) == len(ranker.edges_)
        np.testing.assert_allclose(stages[-1], ranker.decision_function(X), atol=1e-11)
        assert metrics.auc(y, stages[-1]) >= metrics.auc(y, stages[0])

    def test_the_objective_never_rises_and_learning_slowly_lowers_it_less(self, name):
        X, y = overlapping()
        path = FAMILY[name]().fit(X, y).objective_path_
        assert (np.diff(path) <= 1e-12).all()
        slow = FAMILY[name]().set_params(learning_rate=0.1).fit(X, y).objective_path_
        assert (np.diff(slow) <= 1e-12).all()
        assert slow[1] > path[1]

    def test_the_same_seed_gives_the_same_model_whatever_the_threads(self, name):
        X, y = overlapping(2000)
        options = {"subsample": 0.6, "max_features": 0.7, "random_state": 3}
        one, two = (
            FAMILY[name]().set_params(**options, n_jobs=n_jobs).fit(X, y).decision_function(X)
            for n_jobs in (1, 3)
        )
        np.testing.assert_array_equal(one, two)
        other = FAMILY[name]().set_params(**{**options, "random_state": 4}).fit(X, y).decision_function(X)
        assert not np.array_equal(one, other)

    def test_early_stopping_goes_back_to_the_best_round(self, name):
        X, y = overlapping()
        options = {
            "early_stopping": True,
            "n_iter_no_change": 5,
            "random_state": 0,
            "validation_fraction": 0.3,
        }
        for scoring in (None, "roc_auc", positives_at_top):
            ranker = FAMILY[name]().set_params(**options, scoring=scoring).fit(X, y)
            path = ranker.validation_path_
            assert ranker.best_round_ == np.argmax(path) == ranker.n_iter_ == len(ranker.estimator_weights_)
            assert len(path) <= ranker.best_round_ + 6
            assert len(ranker.objective_path_) == ranker.best_round_ + 1

    def test_early_stopping_goes_on_from_the_best_round(self, name):
        X, y = overlapping()
        y = np.where(np.random.default_rng(1).random(len(y)) < 0.2, 1 - y, y)
        options = {"early_stopping": True, "validation_fraction": 0.3, "random_state": 0, "n_estimators": 60}
        whole = FAMILY[name]().set_params(**options, n_iter_no_change=40).fit(X, y)
        ranker = FAMILY[name]().set_params(**options, n_iter_no_change=2, warm_start=True).fit(X, y)
        assert len(ranker.validation_path_) == ranker.n_iter_ + 3
        ranker.set_params(n_iter_no_change=40).fit(X, y)
        assert ranker.best_round_ == np.argmax(ranker.validation_path_) == ranker.n_iter_
        # Trees draw their features at random.
        if "trees" in name:
            return
        np.testing.assert_array_equal(ranker.validation_path_, whole.validation_path_)
        np.testing.assert_array_equal(ranker.estimator_weights_, whole.estimator_weights_)
        np.testing.assert_array_equal(ranker.decision_function(X), whole.decision_function(X))
        assert (ranker.margin_, ranker.threshold_) == (whole.margin_, whole.threshold_)

    def test_a_fit_that_goes_on_in_vain_or_by_another_score_is_the_best_so_far(self, name):
        X, y = overlapping()
        options = {"early_stopping": True, "validation_fraction": 0.3, "random_state": 0, "n_estimators": 60}
        ranker = FAMILY[name]().set_params(**options, n_iter_no_change=3, warm_start=True).fit(X, y)
        best = ranker.decision_function(X)
        ranker.set_params(scoring=lambda *_: -1e9).fit(X, y)
        np.testing.assert_array_equal(ranker.decision_function(X), best)
        kept = ranker.n_iter_
        ranker.set_params(scoring="roc_auc").fit(X, y)
        assert ranker.n_iter_ >= kept
        assert ranker.validation_path_[ranker.best_round_] == ranker.validation_path_[kept:].max()

    def test_warm_start_adds_rounds(self, name):
        X, y = overlapping()
        total = FAMILY[name]().get_params()["n_estimators"]
        whole = FAMILY[name]().fit(X, y)
        ranker = FAMILY[name]().set_params(warm_start=True)
        if "random_state" in ranker.get_params() and ranker.random_state is not None:
            ranker.set_params(random_state=np.random.RandomState(ranker.random_state))
        for rounds in (total // 3, total // 2, total):
            ranker.set_params(n_estimators=rounds).fit(X, y)
            assert ranker.n_iter_ == rounds or ranker.converged_
        np.testing.assert_allclose(ranker.decision_function(X), whole.decision_function(X), atol=1e-9)
        with pytest.raises(ValueError, match="must be at least"):
            ranker.set_params(n_estimators=1).fit(X, y)

    def test_importances_add_up_to_one(self, name):
        X, y = overlapping()
        ranker = FAMILY[name]()
        assert not hasattr(ranker, "feature_importances_")
        ranker.fit(X, y)
        if name == "functions":
            assert not hasattr(ranker, "feature_importances_")
            return
        assert ranker.feature_importances_.shape == (5,)
        assert ranker.feature_importances_.sum() == pytest.approx(1.0)
        assert (ranker.feature_importances_ >= 0).all()

    def test_margins_and_edges(self, name):
        X, y = overlapping()
        ranker = FAMILY[name]().fit(X, y)
        assert -1 <= ranker.margin_ <= 1
        assert (np.abs(ranker.edges_) <= 1 + 1e-9).all()
        scores = ranker.decision_function(X).astype(float)
        assert np.sign(ranker.margin_) == np.sign(scores[y == 1].min() - scores[y == 0].max())


PAIRWISE = [
    RankBoost(n_estimators=20),
    RankBoost(weak_rankers="columns", n_estimators=20),
    SmoothMarginRanking("warn", n_estimators=20),
    push(),
    push("log_one_plus", side="pull"),
    push(side="pull"),
    push(side="both"),
    push(weak_rankers="columns"),
    PNormPush(alpha=0.01, tol=1e-7),
    PNormPush(alpha=0.01, tol=1e-7, solver="newton-cg"),
    IRPush(alpha=0.01, tol=1e-7),
]


@quiet
@pytest.mark.parametrize("ranker", PAIRWISE, ids=str)
class TestGradesGroupsAndPairs:
    def test_grades_are_their_pairs(self, ranker):
        X, relevance, qid = graded(80)
        for groups in (None, qid):
            better = np.greater.outer(relevance, relevance)
            if groups is not None:
                better &= np.equal.outer(groups, groups)
            by_grade = clone(ranker).fit(X, relevance, qid=groups)
            by_pair = clone(ranker).fit(X, pairs=np.nonzero(better))
            one, other = by_grade.decision_function(X), by_pair.decision_function(X)
            np.testing.assert_allclose(one - one.mean(), other - other.mean(), atol=2e-5)

    def test_groups_in_any_order_and_by_any_name_are_the_same(self, ranker):
        X, relevance, qid = graded(90)
        order = np.argsort(qid, kind="stable")
        names = np.array([f"query {number}" for number in qid])
        fits = [
            clone(ranker).fit(X, relevance, qid=qid).decision_function(X),
            clone(ranker).fit(X, relevance, qid=names).decision_function(X),
            clone(ranker).fit(X[order], relevance[order], qid=qid[order]).decision_function(X),
        ]
        for scores in fits[1:]:
            np.testing.assert_allclose(scores, fits[0], atol=1e-5)

    def test_grades_are_predicted_and_learned(self, ranker):
        X, relevance, _ = graded()
        fitted = clone(ranker).fit(X, relevance)
        assert fitted.classes_.tolist() == [0, 1, 2, 3]
        assert len(fitted.thresholds_) == 3
        predicted = fitted.predict(X)
        assert np.abs(np.bincount(predicted) - np.bincount(relevance)).max() < 30
        assert np.abs(predicted - relevance).mean() < 0.8
        scores = fitted.decision_function(X)
        assert ((predicted > 0) == (scores > 0)).all()
        assert fitted.score(X, relevance) > 0.8

    def test_sylvia_who_prefers_in_a_circle(self, ranker):
        """The preferences a > b > c > a allow no descent; with a fourth item below all they do."""
        X = np.eye(4)
        circle = ([0, 1, 2], [1, 2, 0])
        fitted = clone(ranker).fit(X[:3], pairs=circle)
        np.testing.assert_allclose(np.ptp(fitted.decision_function(X[:3])), 0.0, atol=1e-4)
        fitted = clone(ranker).fit(X, pairs=([0, 1, 2, 0, 1, 2], [1, 2, 0, 3, 3, 3]))
        assert fitted.rank(X)[-1] == 3

    def test_after_pairs_there_are_no_classes(self, ranker):
        X, relevance, _ = graded(60)
        fitted = clone(ranker).fit(X, pairs=([0, 1], [2, 3], [1.0, 2.0]))
        assert fitted.rank(X).shape == (60,)
        with pytest.raises(ValueError, match="fitted to pairs"):
            fitted.predict(X)
        assert 0 <= fitted.score(X, relevance > 1) <= 1
        fitted.fit(X, relevance > 1)
        assert fitted.predict(X).dtype == bool

    def test_weights_of_pairs_and_rows_are_repetitions(self, ranker):
        X, _, _ = graded(30)
        rng = np.random.default_rng(1)
        better, worse = rng.integers(0, 15, 40), rng.integers(15, 30, 40)
        weights = rng.integers(0, 3, 40)
        one = clone(ranker).fit(X, pairs=(better, worse, weights)).decision_function(X)
        repeated = (np.repeat(better, weights), np.repeat(worse, weights))
        other = clone(ranker).fit(X, pairs=repeated).decision_function(X)
        np.testing.assert_allclose(one, other, atol=1e-5)
        table = np.column_stack([better, worse, weights])
        np.testing.assert_array_equal(clone(ranker).fit(X, pairs=table).decision_function(X), one)


def test_time_grows_as_the_pairs_do():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(20_000, 10))
    goodness = X @ rng.normal(size=10)

    def work(n_pairs):
        rows = rng.integers(0, len(X), (n_pairs, 2))
        rows = rows[rows[:, 0] != rows[:, 1]]
        swap = goodness[rows[:, 0]] < goodness[rows[:, 1]]
        rows[swap] = rows[swap][:, ::-1]
        return lambda: RankBoost(weak_rankers="columns", n_estimators=5).fit(X, pairs=rows)

    assert growth(work, 100_000) < 4


def test_grades_cost_time_linear_in_the_rows():
    rng = np.random.default_rng(0)

    def work(n):
        X, relevance = rng.normal(size=(n, 5)), rng.integers(0, 5, n)
        qid = np.arange(n) // 100
        return lambda: RankBoost(n_estimators=5).fit(X, relevance, qid=qid)

    assert growth(work, 80_000) < 4


@pytest.mark.parametrize("kind", ["stumps", "columns"])
@pytest.mark.parametrize("names", [False, True])
def test_monotonic_constraints_hold_everywhere(kind, names):
    X, y = load_diabetes(return_X_y=True)
    y = (y > np.median(y)).astype(int)
    directions = np.zeros(10, dtype=int)
    directions[[2, 8]], directions[[3, 6]] = 1, -1
    constraint = directions
    data = X
    if names:
        data = pd.DataFrame(X, columns=[f"x{j}" for j in range(10)])
        constraint = {f"x{j}": int(direction) for j, direction in enumerate(directions) if direction}
    free = RankBoost(weak_rankers=kind, n_estimators=60).fit(data, y)
    ranker = RankBoost(weak_rankers=kind, n_estimators=60, monotonic_cst=constraint).fit(data, y)
    for feature, direction in enumerate(directions):
        rows = np.repeat(X[:20], 50, axis=0)
        rows[:, feature] = np.tile(np.linspace(-0.3, 0.3, 50), 20)
        rows = pd.DataFrame(rows, columns=data.columns) if names else rows
        moves = np.diff(ranker.decision_function(rows).reshape(20, 50), axis=1)
        if direction:
            assert (direction * moves >= -1e-12).all()
    assert (
        metrics.auc(y, ranker.decision_function(data)) > metrics.auc(y, free.decision_function(data)) - 0.05
    )


def test_categories_take_no_monotonic_constraint():
    X, y = overlapping(40, 2)
    X[:, 1] = np.arange(40) % 3
    numbers = RankBoost(weak_rankers=Stumps(categorical_features=[1]), n_estimators=2)
    with pytest.raises(ValueError, match=r"monotonic_cst constrains feature 1, which is categorical"):
        numbers.set_params(monotonic_cst=[0, 1]).fit(X, y)
    numbers.set_params(monotonic_cst=[1, 0]).fit(X, y)
    frame = pd.DataFrame({"size": X[:, 0], "colour": pd.Categorical(X[:, 1])})
    with pytest.raises(ValueError, match=r"monotonic_cst constrains colour, which is categorical"):
        RankBoost(n_estimators=2, monotonic_cst={"colour": -1}).fit(frame, y)
    RankBoost(n_estimators=2, monotonic_cst={"size": 1}).fit(frame, y)


def test_positive_weights_are_convex_combinations():
    X, y = overlapping()
    ranker = RankBoost(weak_rankers="columns", positive=True, n_estimators=100).fit(X, y)
    assert (ranker.coef_ >= 0).all()
    assert (ranker.coef_ > 0).any()
    weights = np.bincount(ranker.estimator_index_, ranker.estimator_weights_)
    assert (weights >= -1e-12).all()


def test_missing_values_and_categories():
    rng = np.random.default_rng(0)
    n = 500
    frame = pd.DataFrame(
        {
            "size": rng.normal(size=n),
            "colour": pd.Categorical(rng.choice(["red", "green", "blue"], n)),
            "place": rng.choice(["here", "there", None], n),
        }
    )
    y = ((frame["colour"] == "green") | (frame["place"].isna() & (frame["size"] > 0))).to_numpy()
    frame.loc[rng.random(n) < 0.1, "size"] = np.nan
    ranker = RankBoost(n_estimators=100).fit(frame, y)
    assert metrics.auc(y, ranker.decision_function(frame)) > 0.97
    new = frame.iloc[:3].copy()
    new["colour"] = ["violet", "red", "green"]
    assert np.isfinite(ranker.decision_function(new)).all()
    assert ranker.feature_names_in_.tolist() == ["size", "colour", "place"]
    with pytest.raises(ValueError, match="NaN"):
        RankBoost(weak_rankers="columns").fit(frame[["size"]], y)
    numbers = np.column_stack([frame["size"], frame["colour"].cat.codes])
    by_number = RankBoost(weak_rankers=Stumps(categorical_features=[1]), n_estimators=5)
    assert by_number.fit(numbers, y).score(numbers, y) > 0.8
    by_name = RankBoost(weak_rankers=Stumps(categorical_features=["colour"]), n_estimators=5)
    by_name.fit(frame[["size", "colour"]], y)
    np.testing.assert_array_equal(
        by_name.decision_function(frame[["size", "colour"]]), by_number.decision_function(numbers)
    )
    with pytest.raises(ValueError, match="no column of"):
        RankBoost(weak_rankers=Stumps(categorical_features=["shape"])).fit(frame, y)


@pytest.mark.parametrize("kind", [pl.String, pl.Categorical, pl.Enum(["green", "blue", "red"])])
def test_categories_of_polars_frames(kind):
    rng = np.random.default_rng(0)
    colour = rng.choice(["red", "green", "blue", None], 300)
    y = (colour == "green") | (rng.random(300) < 0.1)
    frame = pl.DataFrame({"size": rng.normal(size=300), "colour": colour.tolist()})
    frame = frame.with_columns(pl.col("colour").cast(kind))
    by_polars, by_pandas = (RankBoost(n_estimators=5).fit(table, y) for table in (frame, frame.to_pandas()))
    expected = by_pandas.decision_function(frame.to_pandas())
    for ranker in (by_polars, by_pandas):
        for table in (frame, frame.to_pandas()):
            np.testing.assert_array_equal(ranker.decision_function(table), expected)
    by_name = RankBoost(weak_rankers=Stumps(categorical_features=["colour"]), n_estimators=5).fit(frame, y)
    np.testing.assert_array_equal(by_name.decision_function(frame), expected)


def test_routing_of_groups():
    X, relevance, qid = graded(240)
    with sklearn.config_context(enable_metadata_routing=True):
        ranker = RankBoost(n_estimators=10).set_fit_request(qid=True)
        found = cross_validate(
            ranker, X, relevance > 1, cv=GroupKFold(3), params={"qid": qid, "groups": qid}, scoring="roc_auc"
        )
        assert found["test_score"].min() > 0.7
        pipeline = make_pipeline(StandardScaler(), PNormPush().set_fit_request(qid=True))
        grid = GridSearchCV(pipeline, {"pnormpush__p": [1, 4]}, scoring="roc_auc", cv=3)
        grid.fit(X, relevance > 1, qid=qid)
        assert grid.best_score_ > 0.7


def test_nested_parameters_of_weak_rankers():
    X, y = overlapping()
    grid = GridSearchCV(
        RankBoost(weak_rankers=Stumps(), n_estimators=5), {"weak_rankers__max_bins": [2, 64]}, cv=2
    ).fit(X, y)
    assert set(grid.cv_results_["param_weak_rankers__max_bins"]) == {2, 64}
    base = Regressors()
    RankBoost(weak_rankers=base, n_estimators=2).fit(X, y)
    assert not hasattr(base, "regressors_")


def test_a_push_of_one_is_rankboost_and_prices_without_kinks_are_taken():
    X, y = overlapping()
    one = PushBoost(1.0, alpha=0.0, tol=1e-10, n_estimators=30).fit(X, y)
    boosted = RankBoost(n_estimators=30).fit(X, y)
    np.testing.assert_array_equal(one.estimator_index_, boosted.estimator_index_)
    np.testing.assert_allclose(one.estimator_weights_, boosted.estimator_weights_, rtol=1e-12)
    by_name = PushBoost("log_one_plus", side="pull", n_estimators=5).fit(X, y)
    by_price = PushBoost(LogOnePlus(), side="pull", n_estimators=5).fit(X, y)
    np.testing.assert_array_equal(by_name.decision_function(X), by_price.decision_function(X))
    for parameters, message in (
        ({"p": "maximum"}, "has kinks"),
        ({"p": "cubic"}, "price='cubic' is not known"),
        ({"p": 0.5}, "p must be"),
        ({"side": "up"}, "side must be"),
        ({"alpha": -1.0}, "alpha must be"),
    ):
        with pytest.raises(ValueError, match=message):
            PushBoost(**parameters).fit(X, y)


def test_a_push_at_the_top_beats_rankboost_there():
    """The purpose of p, with the same stumps."""
    X, y = load_breast_cancer(return_X_y=True)
    noisy = X + 1.5 * X.std(axis=0) * np.random.default_rng(0).normal(size=X.shape)
    found = {
        p: metrics.rp_error(y, push(p=p).fit(noisy, y).decision_function(noisy), 64, scale="log")
        for p in (1, 16)
    }
    assert found[16] < found[1]


@pytest.mark.skipif(not os.environ.get("PUSHRANK_DATA"), reason="PUSHRANK_DATA is not set")
def test_grades_of_real_queries():
    """Web search results in five grades, LightGBM's example: its own ranker of stumps reaches .796."""
    bunch = load_dataset("lambdarank_example")
    queries = np.unique(bunch.qid)
    train = np.isin(bunch.qid, queries[: int(0.7 * len(queries))])
    ranker = RankBoost(n_estimators=100, learning_rate=0.3)
    ranker.fit(bunch.data[train], bunch.target[train], qid=bunch.qid[train])
    scores, relevance, qid = (
        ranker.decision_function(bunch.data[~train]),
        bunch.target[~train],
        bunch.qid[~train],
    )
    gains = [
        ndcg_score([relevance[qid == query]], [scores[qid == query]], k=10)
        for query in np.unique(qid)
        if (qid == query).sum() > 1
    ]
    print(f"NDCG@10 {np.mean(gains):.4f} over {len(gains)} queries")
    assert np.mean(gains) > 0.77


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"n_estimators": 0}, "n_estimators must be"),
        ({"learning_rate": 0.0}, "learning_rate must be > 0 and <= 1"),
        ({"learning_rate": 1.5}, "learning_rate must be > 0 and <= 1"),
        ({"subsample": 2.0}, "subsample must be > 0 and <= 1"),
        ({"max_features": 0.0}, "max_features must be > 0 and <= 1"),
        ({"early_stopping": True, "validation_fraction": 1.0}, "validation_fraction must be > 0 and < 1"),
        ({"early_stopping": True, "n_iter_no_change": 0}, "n_iter_no_change must be"),
        ({"variant": "gentle"}, "variant must be one of"),
        ({"weak_rankers": "trees"}, "weak_rankers='trees' is not known"),
        ({"n_jobs": 0}, "n_jobs must be"),
        ({"monotonic_cst": [1, 0]}, "has 5 features"),
        ({"monotonic_cst": {"height": 1}}, "feature names"),
        ({"monotonic_cst": [1] * 5, "weak_rankers": "regressors"}, "needs weak_rankers="),
    ],
)
def test_parameters_are_checked_before_any_work(parameters, message):
    X, y = overlapping(40)
    with pytest.raises(ValueError, match=message):
        RankBoost(**parameters).fit(X, y)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (Stumps(), Stumps(max_bins=7)),
        (Stumps(), Stumps(categorical_features=[0])),
        ("stumps", "columns"),
        ("regressors", Regressors(DecisionTreeRegressor(max_depth=1))),
        ([lambda X: X[:, 0], lambda X: X[:, 1]], [lambda X: X[:, 0], lambda X: X[:, 2]]),
    ],
    ids=["bins", "categories", "families", "trees", "functions"],
)
def test_rounds_are_added_to_the_same_weak_rankers_only(one, other):
    X, y = overlapping(60)
    ranker = RankBoost(weak_rankers=one, n_estimators=3, warm_start=True).fit(X, y)
    expected = ranker.decision_function(X)
    with pytest.raises(ValueError, match=r"(?s)warm_start=True adds rounds.*set them back"):
        ranker.set_params(weak_rankers=other, n_estimators=6).fit(X, y)
    np.testing.assert_array_equal(ranker.decision_function(X), expected)
    assert ranker.set_params(weak_rankers=one).fit(X, y).n_iter_ == 6
    assert ranker.set_params(weak_rankers=other, warm_start=False).fit(X, y).n_iter_ == 6


def test_rounds_are_added_to_the_same_constant_only():
    X, y = overlapping(60)
    ranker = AdaBoostRanker(n_estimators=3, warm_start=True).fit(X, y)
    with pytest.raises(ValueError, match="constant_ranker=False is not what it was"):
        ranker.set_params(constant_ranker=False, n_estimators=6).fit(X, y)
    assert ranker.set_params(constant_ranker=True).fit(X, y).n_iter_ == 6


def test_rounds_are_added_by_the_first_fits_names_of_categories():
    frame = pd.DataFrame({"colour": ["red", "green", "blue", "red", "green", "blue"] * 10})
    y = (frame["colour"] == "green").to_numpy()
    ranker = RankBoost(n_estimators=5, warm_start=True).fit(frame, y)
    others = frame[frame["colour"] != "blue"]
    ranker.set_params(n_estimators=10).fit(others, y[others.index])
    assert ranker.score(frame, y) == 1.0


@pytest.mark.parametrize("ranker", [RankBoost, SmoothMarginRanking, AdaBoostRanker])
def test_rankers_without_an_optimum_to_reach_need_a_number_of_rounds(ranker):
    with pytest.raises(TypeError, match="n_estimators must be an integer, got None"):
        ranker(n_estimators=None).fit(*overlapping(40))


@pytest.mark.parametrize(
    ("given", "error", "message"),
    [
        ({"pairs": ([0], [40])}, ValueError, "row numbers must be from 0 to 39; pair 0 has 40"),
        ({"pairs": ([0], [-1])}, ValueError, "row numbers must be from 0"),
        ({"pairs": ([0, 1], [2])}, ValueError, "inconsistent"),
        ({"pairs": ([3], [3])}, ValueError, "pair 0 ranks row 3 above itself"),
        ({"pairs": ([0.5], [1.0])}, TypeError, "integers"),
        ({"pairs": ([0],)}, TypeError, "found 1 parts"),
        ({"pairs": [(0, 1), (1, 2), (2, 3), (4, 5)]}, TypeError, r"by np.array\(pairs\)"),
        ({"pairs": ([], [])}, ValueError, "at least one pair"),
        ({"pairs": ([0], [1], [-1.0])}, ValueError, "must not be negative"),
        ({"pairs": ([0], [1], [0.0])}, ValueError, "none of the 1 pairs has a positive weight"),
        ({"pairs": ([0], [1]), "y": [0, 1] * 20}, ValueError, "y must be None"),
        ({"y": [0, 1] * 20, "qid": [0, 1]}, ValueError, "one entry a row"),
        ({"y": [0, 1] * 20, "qid": [30, 20]}, ValueError, "Sizes of consecutive groups"),
        ({"y": [0, 1] * 20, "qid": np.arange(40)}, ValueError, "no pair to rank"),
        ({"y": ["a", "b"] * 19 + ["c", "c"]}, ValueError, "Only binary classification is supported"),
        ({"y": np.linspace(0, 1, 40)}, ValueError, "continuous"),
        ({}, ValueError, "requires y"),
    ],
)
@pytest.mark.parametrize("ranker", [RankBoost(n_estimators=2), PNormPush()], ids=str)
def test_targets_are_checked(ranker, given, error, message):
    X, _ = overlapping(40)
    fresh = clone(ranker)
    with pytest.raises(error, match=message):
        fresh.fit(X, **given)
    with pytest.raises(NotFittedError):
        fresh.rank(X)


def test_what_is_for_two_classes_says_so():
    X, relevance, qid = graded(60)
    with pytest.raises(ValueError, match="use RankBoost"):
        AdaBoostRanker().fit(X, relevance > 1, qid=qid)


@quiet
def test_a_refit_leaves_nothing_of_the_last_fit():
    X, relevance, _ = graded(60)
    ranker = push(weak_rankers="columns", early_stopping=True, validation_fraction=0.4)
    ranker.fit(X, relevance)
    ranker.set_params(weak_rankers="stumps", early_stopping=False).fit(X, relevance > 1)
    assert not hasattr(ranker, "coef_")
    assert ranker.thresholds_.tolist() == [ranker.threshold_]
    assert ranker.validation_path_.size == 0
    assert ranker.best_round_ == ranker.n_iter_ == 30
    assert ranker.decision_function(X).shape == (60,)


@quiet
@pytest.mark.parametrize("name", FAMILY)
def test_hard_data(name):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(30, 3))
    for y in ([1] + [0] * 29, [0] + [1] * 29):  # one positive, one negative
        assert np.isfinite(FAMILY[name]().fit(X, y).decision_function(X)).all()
    separable = X[:, 0] > 0
    ranker = FAMILY[name]().fit(X, separable)
    assert np.isfinite(ranker.decision_function(X)).all()
    assert metrics.auc(separable, ranker.decision_function(X)) == pytest.approx(1.0)
    twice = np.vstack([X, X])
    labels = np.append(separable, ~separable)  # every row in both classes
    assert np.isfinite(FAMILY[name]().fit(twice, labels).decision_function(twice)).all()
    constant = FAMILY[name]().fit(np.ones((10, 2)), [0, 1] * 5)
    assert np.ptp(constant.decision_function(np.ones((10, 2)))) == 0.0


@pytest.mark.parametrize("p", [64.0, 1000.0])
def test_a_hard_push_stays_finite(p):
    X, y = overlapping()
    ranker = PushBoost(p, alpha=0.0, n_estimators=200).fit(X, y)
    assert np.isfinite(ranker.objective_path_).all()
    assert (np.diff(ranker.objective_path_) <= 1e-12).all()


@pytest.mark.parametrize("choice", ["absolute", "signed"])
def test_rows_of_next_to_no_weight_leave_the_scores_finite(choice):
    X, y = np.eye(6), np.arange(6) % 2
    ranker = PushBoost(16, choice=choice, n_estimators=10, alpha=0.0, tol=1e-12)
    assert np.isfinite(ranker.fit(X, y, sample_weight=np.full(6, 1e-300)).decision_function(X)).all()


def test_rounds_that_end_at_the_optimum_have_converged_whoever_runs_them():
    X, y = overlapping()
    options = {"alpha": 1.0, "tol": 1e-4, "solver": "coordinate"}
    needed = PNormPush(4, **options).fit(X, y).n_iter_
    push = PNormPush(4, **options, max_iter=needed).fit(X, y)
    general = PushRanker(price=Power(4), **options, max_iter=needed).fit(X, y)
    assert push.converged_
    assert general.converged_
    np.testing.assert_array_equal(push.objective_path_, general.objective_path_)


def test_a_fit_has_converged_where_the_rounds_that_are_kept_have():
    X, y = overlapping()
    options = {"weak_rankers": "columns", "n_estimators": 1000, "tol": 1e-3}
    stopping = {"early_stopping": True, "n_iter_no_change": 1000, "random_state": 0}
    rounds = iter(range(2000))
    to_the_end = RankBoost(**options, **stopping, scoring=lambda *_: next(rounds)).fit(X, y)
    # Fewer rounds than allowed: the run ended at the optimum.
    assert to_the_end.n_iter_ == len(to_the_end.validation_path_) - 1 < 1000
    assert to_the_end.converged_
    back = RankBoost(**options, **stopping, scoring=lambda *_: -next(rounds)).fit(X, y)
    assert back.n_iter_ == 0
    assert len(back.validation_path_) == len(to_the_end.validation_path_)
    assert not back.converged_


def test_early_stopping_takes_the_scorers_that_cross_validation_takes():
    X, y = overlapping()
    ranker = RankBoost(n_estimators=5, early_stopping=True, random_state=0)
    by_name = clone(ranker).set_params(scoring="positives_at_top").fit(X, y)
    by_scorer = clone(ranker).set_params(scoring=positives_at_top).fit(X, y)
    np.testing.assert_array_equal(by_name.validation_path_, by_scorer.validation_path_)
    for scoring, message in (
        ("top", "scoring"),
        ("neg_log_loss", "scoring='neg_log_loss' asks for what rankers do not have"),
        (lambda *_: np.nan, "scoring gave nan"),
        (metrics.auc, "auc is a measure of"),
        (["auc", "roc_auc"], "scoring must be one scorer"),
    ):
        with pytest.raises((ValueError, TypeError), match=message):
            clone(ranker).set_params(scoring=scoring).fit(X, y)


STOPPING = {"n_estimators": 8, "early_stopping": True, "validation_fraction": 0.4, "random_state": 1}


def validation_rows(X, relevance, **data):
    """Return the numbers of the rows that early stopping validates on, which a scorer sees."""
    seen = []
    numbered = np.column_stack([X, np.arange(len(X))])
    ranker = RankBoost(**STOPPING, scoring=lambda _, part, __: seen.append(part[:, -1]) or 0.0)
    ranker.fit(numbered, relevance, **data)
    return seen[0].astype(int)


def test_early_stopping_measures_every_query_by_itself():
    X, relevance, qid = graded()
    rows = validation_rows(X, relevance, qid=qid)
    assert set(qid[rows]).isdisjoint(np.delete(qid, rows))

    def of_estimator(ranker, part, y, qid=None):
        return metrics.ndcg_at_k(y, ranker.decision_function(part), 10, qid=qid)

    def by_other_name(y, scores, lists):
        return metrics.ndcg_at_k(y, scores, 10, qid=lists)

    wrapped, requests, refuses = (
        make_scorer(metrics.ndcg_at_k, response_method="decision_function", k=10) for _ in range(3)
    )
    renames = make_scorer(by_other_name, response_method="decision_function")
    with sklearn.config_context(enable_metadata_routing=True):
        requests.set_score_request(qid=True)
        renames.set_score_request(lists="qid")
        refuses.set_score_request(qid=False)
        routed = RankBoost(**STOPPING, scoring=requests).fit(X, relevance, qid=qid)
    for scoring in ("ndcg_at_10", wrapped, requests, renames, of_estimator):
        ranker = RankBoost(**STOPPING, scoring=scoring).fit(X, relevance, qid=qid)
        np.testing.assert_array_equal(ranker.validation_path_, routed.validation_path_)
        # Before the first round all rows tie; the best score is that of the kept model.
        scores = np.array([np.zeros(len(rows)), ranker.decision_function(X)[rows]])
        expected = metrics.ndcg_at_k(relevance[rows], scores, 10, qid=qid[rows])
        np.testing.assert_allclose(ranker.validation_path_[[0, ranker.best_round_]], expected, rtol=1e-12)
    as_one_list = metrics.ndcg_at_k(relevance[rows], scores, 10)
    assert not np.isclose(as_one_list, expected).any()
    pooled = RankBoost(**STOPPING, scoring=refuses).fit(X, relevance, qid=qid)
    assert pooled.validation_path_[0] == pytest.approx(as_one_list[0])
    alone = RankBoost(**STOPPING, scoring="ndcg").fit(X, relevance)
    rows = validation_rows(X, relevance)
    best = metrics.ndcg_at_k(relevance[rows], alone.decision_function(X)[rows])
    assert alone.validation_path_.max() == pytest.approx(best)


def test_early_stopping_weighs_queries():
    X, relevance, qid = graded()
    w = np.arange(1, 13)[qid] / 4.0
    rows = validation_rows(X, relevance, qid=qid)
    data = {"sample_weight": w, "qid": qid}
    for scoring, y in (("ndcg", relevance), ("mean_reciprocal_rank", relevance > 0)):
        path = RankBoost(**STOPPING, scoring=scoring).fit(X, relevance, **data).validation_path_
        measure = {"ndcg": metrics.ndcg_at_k}.get(scoring, metrics.mean_reciprocal_rank)
        at_first = measure(y[rows], np.zeros(len(rows)), qid=qid[rows], sample_weight=w[rows])
        assert path[0] == pytest.approx(at_first)


@pytest.mark.parametrize(
    ("scoring", "measure"),
    [
        ("average_precision", metrics.average_precision),
        ("roc_auc", metrics.auc),
        ("positives_at_top", metrics.positives_at_top),
        ("discounted_cumulative_gain", metrics.discounted_cumulative_gain),
        ("neg_rp_error", lambda y, scores: -metrics.rp_error(y, scores)),
        ("mean_reciprocal_rank", metrics.mean_reciprocal_rank),
        (get_scorer("average_precision"), average_precision_score),
        (
            make_scorer(metrics.precision_at_k, response_method="decision_function", k=10),
            lambda y, scores: metrics.precision_at_k(y, scores, 10),
        ),
        (make_scorer(metrics.auc), lambda y, scores: metrics.auc(y, scores > 0.0)),
    ],
)
def test_early_stopping_by_measures_of_two_classes_takes_grades(scoring, measure):
    """Any grade but the lowest is a hit, as for ``score``."""
    X, relevance, _ = graded()
    rows = validation_rows(X, relevance)
    ranker = RankBoost(**STOPPING, scoring=scoring).fit(X, relevance)
    expected = measure(relevance[rows] > 0, ranker.decision_function(X)[rows])
    assert ranker.validation_path_[ranker.best_round_] == pytest.approx(expected)


def test_scorers_of_grades_get_the_grades():
    X, relevance, _ = graded()
    rows = validation_rows(X, relevance)
    for scoring in ("accuracy", lambda ranker, X, y: float(np.mean(ranker.predict(X) == y))):
        ranker = RankBoost(**STOPPING, scoring=scoring).fit(X, relevance)
        kept = np.mean(ranker.predict(X)[rows] == relevance[rows])
        assert ranker.validation_path_[ranker.best_round_] == pytest.approx(kept)


def test_early_stopping_validates_as_if_rows_without_weight_were_left_out():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(200, 3))
    y = (X[:, 0] + rng.normal(size=200) > 0.8).astype(int)
    weights = (np.arange(200) % 5 > 0).astype(float)
    ranker = RankBoost(n_estimators=30, early_stopping=True, random_state=0)
    path = clone(ranker).fit(X, y, weights).validation_path_
    np.testing.assert_allclose(path, ranker.fit(X[weights > 0], y[weights > 0]).validation_path_)
