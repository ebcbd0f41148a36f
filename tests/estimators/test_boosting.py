"""What boosted rankers learn from, and the training that users expect."""

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.datasets import load_breast_cancer, load_diabetes
from sklearn.model_selection import GridSearchCV
from sklearn.tree import DecisionTreeRegressor

from combinations import by_day
from pushrank import AdaBoostRanker, PushBoost, RankBoost, SmoothMarginRanking, metrics
from pushrank.metrics.scorers import positives_at_top
from pushrank.prices import LogOnePlus
from pushrank.weak_rankers import Regressors, Stumps
from samples import graded, linear_labels


def push(p=4.0, **options):
    return PushBoost(p, n_estimators=30, **options)


FAMILY = {
    "rank": lambda: RankBoost(n_estimators=30),
    "columns": lambda: RankBoost(weak_rankers="columns", n_estimators=30),
    "trees": lambda: RankBoost(weak_rankers="regressors", n_estimators=10, random_state=0),
    "functions": lambda: RankBoost(weak_rankers=[lambda X: X[:, 0], lambda X: X[:, 1] > 0], n_estimators=30),
    "smooth": lambda: SmoothMarginRanking("warn", n_estimators=30),
    "ada": lambda: AdaBoostRanker(n_estimators=30),
    "push": push,
    "ir": lambda: push("log_one_plus", side="pull"),
    "both ends": lambda: push(side="both"),
    "freund": lambda: RankBoost("freund", n_estimators=30),
    "ada trees": lambda: AdaBoostRanker(weak_rankers="regressors", n_estimators=10, random_state=0),
    "bottom": lambda: push(side="pull"),
    "push columns": lambda: push(weak_rankers="columns"),
}
quiet = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")


@quiet
@pytest.mark.parametrize("name", by_day(FAMILY, 9))
class TestEveryMember:
    def test_stages_lead_to_the_end(self, name):
        X, y = linear_labels(400, 5, noise=1.5)
        ranker = FAMILY[name]().fit(X, y)
        stages = list(ranker.staged_decision_function(X))
        assert len(stages) == ranker.n_iter_ == len(ranker.estimator_weights_) == len(ranker.edges_)
        np.testing.assert_allclose(stages[-1], ranker.decision_function(X), atol=1e-11)
        assert metrics.auc(y, stages[-1]) >= metrics.auc(y, stages[0])

    def test_the_objective_never_rises_and_learning_slowly_lowers_it_less(self, name):
        X, y = linear_labels(400, 5, noise=1.5)
        path = FAMILY[name]().fit(X, y).objective_path_
        assert (np.diff(path) <= 1e-12).all()
        slow = FAMILY[name]().set_params(learning_rate=0.1).fit(X, y).objective_path_
        assert (np.diff(slow) <= 1e-12).all()
        assert slow[1] > path[1]

    def test_the_same_seed_gives_the_same_model_whatever_the_threads(self, name):
        X, y = linear_labels(2000, 5, noise=1.5)
        options = {"subsample": 0.6, "max_features": 0.7, "random_state": 3}
        rankers = (FAMILY[name]().set_params(**options, n_jobs=n_jobs) for n_jobs in (1, 3))
        one, two = (ranker.fit(X, y).decision_function(X) for ranker in rankers)
        np.testing.assert_array_equal(one, two)
        other = FAMILY[name]().set_params(**{**options, "random_state": 4}).fit(X, y).decision_function(X)
        assert not np.array_equal(one, other)

    def test_early_stopping_goes_back_to_the_best_round(self, name):
        X, y = linear_labels(400, 5, noise=1.5)
        options = {"early_stopping": True, "random_state": 0, "validation_fraction": 0.3}
        for scoring in (None, "roc_auc", positives_at_top):
            ranker = FAMILY[name]().set_params(**options, n_iter_no_change=5, scoring=scoring).fit(X, y)
            path = ranker.validation_path_
            assert ranker.best_round_ == np.argmax(path) == ranker.n_iter_ == len(ranker.estimator_weights_)
            assert len(path) <= ranker.best_round_ + 6
            assert len(ranker.objective_path_) == ranker.best_round_ + 1

    def test_early_stopping_goes_on_from_the_best_round(self, name):
        X, y = linear_labels(400, 5, noise=1.5)
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
        X, y = linear_labels(400, 5, noise=1.5)
        options = {"early_stopping": True, "validation_fraction": 0.3, "random_state": 0, "n_estimators": 60}
        ranker = FAMILY[name]().set_params(**options, n_iter_no_change=3, warm_start=True).fit(X, y)
        best = ranker.decision_function(X)
        ranker.set_params(scoring=lambda *_: -1e9).fit(X, y)
        np.testing.assert_array_equal(ranker.decision_function(X), best)
        kept = ranker.n_iter_
        ranker.set_params(scoring="roc_auc").fit(X, y)
        assert ranker.n_iter_ >= kept
        assert ranker.validation_path_[ranker.best_round_] == ranker.validation_path_[kept:].max()

    def test_importances_add_up_to_one(self, name):
        X, y = linear_labels(400, 5, noise=1.5)
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
        X, y = linear_labels(400, 5, noise=1.5)
        ranker = FAMILY[name]().fit(X, y)
        assert -1 <= ranker.margin_ <= 1
        assert (np.abs(ranker.edges_) <= 1 + 1e-9).all()
        scores = ranker.decision_function(X).astype(float)
        assert np.sign(ranker.margin_) == np.sign(scores[y == 1].min() - scores[y == 0].max())


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
    least = metrics.auc(y, free.decision_function(data)) - 0.05
    assert metrics.auc(y, ranker.decision_function(data)) > least


def test_categories_take_no_monotonic_constraint():
    X, y = linear_labels(40, 2, noise=1.5)
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
    X, y = linear_labels(400, 5, noise=1.5)
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


def test_nested_parameters_of_weak_rankers():
    X, y = linear_labels(400, 5, noise=1.5)
    grid = GridSearchCV(
        RankBoost(weak_rankers=Stumps(), n_estimators=5), {"weak_rankers__max_bins": [2, 64]}, cv=2
    ).fit(X, y)
    assert set(grid.cv_results_["param_weak_rankers__max_bins"]) == {2, 64}
    base = Regressors()
    RankBoost(weak_rankers=base, n_estimators=2).fit(X, y)
    assert not hasattr(base, "regressors_")


def test_a_push_of_one_is_rankboost_and_prices_without_kinks_are_taken():
    X, y = linear_labels(400, 5, noise=1.5)
    one = PushBoost(1.0, alpha=0.0, tol=1e-10, n_estimators=30).fit(X, y)
    boosted = RankBoost(n_estimators=30).fit(X, y)
    np.testing.assert_array_equal(one.estimator_index_, boosted.estimator_index_)
    np.testing.assert_allclose(one.estimator_weights_, boosted.estimator_weights_, rtol=1e-12)
    by_name = PushBoost("log_one_plus", side="pull", n_estimators=5).fit(X, y)
    by_price = PushBoost(LogOnePlus(), side="pull", n_estimators=5).fit(X, y)
    np.testing.assert_array_equal(by_name.decision_function(X), by_price.decision_function(X))
    for parameters, message in (
        ({"p": "maximum"}, "has kinks"),
        ({"p": "cubic"}, "p='cubic' is not known"),
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
    scores = {p: push(p=p).fit(noisy, y).decision_function(noisy) for p in (1, 16)}
    found = {p: metrics.rp_error(y, of_push, 64, scale="log") for p, of_push in scores.items()}
    assert found[16] < found[1]


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
        ({"choice": "largest"}, "choice must be one of"),
        ({"variant": "freund", "choice": "signed"}, "choice='signed' is for variant='coordinate'"),
        ({"threshold": "zero"}, "threshold must be one of"),
        ({"weak_rankers": "trees"}, "weak_rankers='trees' is not known"),
        ({"n_jobs": 0}, "n_jobs must be"),
        ({"monotonic_cst": [1, 0]}, "has 5 features"),
        ({"monotonic_cst": {"height": 1}}, "feature names"),
        ({"monotonic_cst": [1] * 5, "weak_rankers": "regressors"}, "needs weak_rankers="),
    ],
)
def test_parameters_are_checked_before_any_work(parameters, message):
    X, y = linear_labels(40, 5, noise=1.5)
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
    X, y = linear_labels(60, 5, noise=1.5)
    ranker = RankBoost(weak_rankers=one, n_estimators=3, warm_start=True).fit(X, y)
    expected = ranker.decision_function(X)
    with pytest.raises(ValueError, match=r"(?s)warm_start=True adds rounds.*set them back"):
        ranker.set_params(weak_rankers=other, n_estimators=6).fit(X, y)
    np.testing.assert_array_equal(ranker.decision_function(X), expected)
    assert ranker.set_params(weak_rankers=one).fit(X, y).n_iter_ == 6
    assert ranker.set_params(weak_rankers=other, warm_start=False).fit(X, y).n_iter_ == 6


def test_rounds_are_added_to_the_same_constant_only():
    X, y = linear_labels(60, 5, noise=1.5)
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
        ranker(n_estimators=None).fit(*linear_labels(40, 5, noise=1.5))


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
@pytest.mark.parametrize("name", by_day(FAMILY, 9))
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
    X, y = linear_labels(400, 5, noise=1.5)
    ranker = PushBoost(p, alpha=0.0, n_estimators=200).fit(X, y)
    assert np.isfinite(ranker.objective_path_).all()
    assert (np.diff(ranker.objective_path_) <= 1e-12).all()


@pytest.mark.parametrize("choice", ["absolute", "signed"])
def test_rows_of_next_to_no_weight_leave_the_scores_finite(choice):
    X, y = np.eye(6), np.arange(6) % 2
    ranker = PushBoost(16, choice=choice, n_estimators=10, alpha=0.0, tol=1e-12)
    assert np.isfinite(ranker.fit(X, y, sample_weight=np.full(6, 1e-300)).decision_function(X)).all()
