"""The one search: its rule, any estimator as a member, and PushBoost; the choice is the one made by hand."""

import numpy as np
import pandas as pd
import pytest
import sklearn
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.compose import make_column_transformer
from sklearn.datasets import load_breast_cancer
from sklearn.ensemble import HistGradientBoostingClassifier, RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import make_scorer
from sklearn.model_selection import GridSearchCV, StratifiedGroupKFold, StratifiedKFold
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, OneHotEncoder, StandardScaler

from pushrank import IRPush, PNormPush, PNormPushCV, PushBoost, PushBoostCV, RankerSearchCV, TopRankerCV
from pushrank.datasets import make_hidden_positives
from pushrank.estimators._search import below_best, best_of_families, choose, standard_errors
from pushrank.metrics import average_precision, precision_at_k, scorers

SMALL = {"ps": (1.0, 16.0), "learning_rates": (0.5, 1.0), "n_estimators": (8, 2)}
LOGISTIC = make_pipeline(StandardScaler(), LogisticRegression())
CANDIDATES = [
    ("logistic", LOGISTIC, {"logisticregression__C": [0.1, 1.0]}),
    ("stumps", PushBoost(), {"p": [4.0], "n_estimators": [2, 8]}),
]


@pytest.fixture(scope="module")
def hidden():
    return make_hidden_positives(300, random_state=0, return_X_y=True)


def test_of_equals_within_a_hit_the_overall_measure_decides():
    values, overall = np.array([[0.5, 0.6], [0.5, 0.5], [0.4, 0.4]]), np.array([0.1, 0.9, 1.0])
    assert best_of_families(values, overall, ["push"] * 3, hit=0.05) == [1]
    assert best_of_families(values, overall, ["push"] * 3, hit=0.2) == [2]
    assert best_of_families(values, overall, ["push"] * 3, hit=0.01) == [0]
    assert best_of_families(values, overall, ["push", "pull", "push"], hit=0.01) == [0, 1]


def test_the_simplest_within_one_standard_error_of_the_difference_is_taken():
    noisy = [0.1, 0.9, 0.5, 0.3]
    # The second is .005 below the first, give or take .0096; the third is .05 below in every fold.
    values = np.array([noisy, [0.1, 0.88, 0.52, 0.28], [0.05, 0.85, 0.45, 0.25]])
    gaps, errors = below_best(values, np.zeros(3))
    assert gaps == pytest.approx([0.0, 0.005, 0.05])
    assert errors == pytest.approx([0.0, 0.0095743, 0.0], abs=1e-7)
    assert standard_errors(values)[0] == pytest.approx(np.std(noisy, ddof=1) / 2)
    assert choose(values, np.zeros(3), [2, 1, 0], "one_standard_error") == 1
    assert choose(values, np.zeros(3), [2, 1, 0], "best") == 0


def test_of_equal_members_the_simplest_is_the_best_and_one_fold_has_no_error():
    values = np.array([[4.0, 8.0, 12.0], [7.0, 8.0, 9.0], [6.0, 8.0, 8.0], [1.0, 2.0, 3.0]])
    for selection in ("best", "one_standard_error"):
        assert choose(values[:2], np.zeros(2), [0, 1], selection) == 0
        assert choose(values[:2], np.zeros(2), [1, 0], selection) == 1
        assert choose(values[:, :1], np.zeros(4), [3, 2, 1, 0], selection) == 1
    assert choose(values, np.array([0.0, 0.5, 0.0, 0.0]), [0, 0, 0, 0], "best") == 1


def money(model, X, y):
    """What letters to the rows predicted positive bring."""
    return float(np.where(y, 50.0, -10.0)[model.predict(X) == 1].sum())


@pytest.mark.parametrize("scoring", [money, "neg_log_loss", "precision_at_quarter"])
def test_a_scorer_chooses_as_in_a_grid_search(hidden, scoring):
    X, y = hidden
    trees = RandomForestClassifier(random_state=0)
    grid, rules = (
        {"max_depth": [1, 3], "n_estimators": [5, 10]},
        {"cv": StratifiedKFold(3), "scoring": scoring},
    )
    search = RankerSearchCV([("trees", trees, grid)], budget=30, selection="best", **rules).fit(X, y)
    rules["scoring"] = scorers.SCORERS.get(scoring, scoring)
    expected = GridSearchCV(trees, grid, **rules).fit(X, y)
    by_member = "mean_test_score"
    np.testing.assert_array_equal(search.cv_results_[by_member], expected.cv_results_[by_member])
    assert search.candidates_[0]["score"] == search.best_score_ == expected.best_score_
    assert "score over the folds" in search._html_repr()


def test_a_scorer_of_predictions_has_the_rounds_and_thresholds_of_fits(hidden):
    X, y = hidden
    cv = StratifiedKFold(3)
    search = RankerSearchCV([("stumps", PushBoost(), {"n_estimators": [2, 8]})], cv=cv, scoring=money).fit(
        X, y
    )
    expected = GridSearchCV(PushBoost(), {"n_estimators": [2, 8]}, cv=cv, scoring=money).fit(X, y)
    np.testing.assert_array_equal(
        search.cv_results_["mean_test_score"], expected.cv_results_["mean_test_score"]
    )
    # Of more rows a single one, on either side of the threshold by the tolerance of a fit, counts for less.
    X, y = make_hidden_positives(3000, random_state=0, return_X_y=True)
    linear = TopRankerCV(candidates=["ir-push"], cv=cv, scoring=money).fit(X, y)
    by_hand = GridSearchCV(IRPush(), {"alpha": [1e-3, 1e-2, 1e-1]}, cv=cv, scoring=money).fit(X, y)
    assert linear.best_score_ == pytest.approx(by_hand.best_score_, rel=0.005)
    with pytest.raises(ValueError, match="scoring='nonsense' is not known"):
        TopRankerCV(scoring="nonsense").fit(X, y)


def test_any_estimator_is_chosen_as_by_hand(hidden):
    X, y = hidden
    cv = StratifiedKFold(3)
    candidates = [*CANDIDATES, ("trees", HistGradientBoostingClassifier(), {"max_iter": [5]})]
    search = RankerSearchCV(candidates, fraction=0.1, cv=cv, selection="best").fit(X, y)
    results = search.cv_results_
    names = ["logistic"] * 2 + ["stumps"] * 2 + ["trees"]
    assert [params["candidate"] for params in results["params"]] == names
    by_name = {name: estimator for name, estimator, _ in candidates}
    for member, params in enumerate(results["params"]):
        alone = sklearn.clone(by_name[params["candidate"]])
        alone.set_params(**{name: value for name, value in params.items() if name != "candidate"})
        for fold, (train, test) in enumerate(cv.split(X, y)):
            scores = alone.fit(X[train], y[train]).decision_function(X[test])
            expected = precision_at_k(y[test], scores, fraction=0.1), average_precision(y[test], scores)
            assert results[f"split{fold}_test_score"][member] == pytest.approx(expected[0])
    assert search.best_score_ == max(row["precision"] for row in search.candidates_)
    assert search.candidate_ == search.best_params_["candidate"]
    assert search.best_params_ == results["params"][search.best_index_]
    assert [row["candidate"] for row in search.candidates_] == list(by_name)


def test_the_first_candidate_within_one_standard_error_is_taken():
    X, y = load_breast_cancer(return_X_y=True)
    last_first = CANDIDATES[::-1]
    for candidates in (CANDIDATES, last_first):
        search = RankerSearchCV(candidates, budget=100, cv=3).fit(X, y)
        rows = [row for row in search.candidates_ if row["below_best"] <= row["below_best_standard_error"]]
        eligible = [row["candidate"] for row in rows]
        assert search.candidate_ == eligible[0]


def test_scores_are_those_of_the_best_estimator_and_part_the_classes_by_a_threshold(hidden):
    X, y = hidden
    words = np.where(y == 1, "yes", "no")
    for estimator in (RandomForestClassifier(10, random_state=0), PNormPush()):
        search = RankerSearchCV([("one", estimator, {})], cv=2).fit(X, words)
        assert search.classes_.tolist() == ["no", "yes"]
        alone = sklearn.clone(estimator).fit(X, words)
        scores = alone.predict_proba(X)[:, 1] if estimator is not None and search.threshold_ else None
        if isinstance(estimator, PNormPush):
            np.testing.assert_array_equal(search.decision_function(X), alone.decision_function(X))
            np.testing.assert_array_equal(search.predict(X), alone.predict(X))
        else:
            np.testing.assert_array_equal(search.decision_function(X), scores - search.threshold_)
            assert (search.predict(X) == "yes").sum() == (y == 1).sum()


@pytest.mark.parametrize("early_stopping", [False, True])
def test_rounds_are_fitted_once_where_the_first_are_a_shorter_fit(hidden, early_stopping, monkeypatch):
    X, y = hidden
    booster = PushBoost(early_stopping=early_stopping, validation_fraction=0.3, random_state=0)
    fits = []
    fit = PushBoost.fit

    def counted(self, *args, **rest):
        return fits.append(1) or fit(self, *args, **rest)

    monkeypatch.setattr(PushBoost, "fit", counted)
    search = RankerSearchCV([("stumps", booster, {"n_estimators": [3, 9], "p": [1.0, 4.0]})], cv=2).fit(X, y)
    assert len(fits) == (2 * 2 * 2 if early_stopping else 2 * 2) + 1
    results = search.cv_results_["params"], search.cv_results_["split0_test_score"]
    for params, score in zip(*results, strict=True):
        alone = sklearn.clone(booster).set_params(n_estimators=params["n_estimators"], p=params["p"])
        train, test = next(iter(StratifiedKFold(2).split(X, y)))
        scores = alone.fit(X[train], y[train]).decision_function(X[test])
        assert score == pytest.approx(precision_at_k(y[test], scores, fraction_of_positives=0.25))


def test_held_out_scores_are_kept_on_request(hidden):
    X, y = hidden
    folds = [(np.arange(100, 300), np.arange(100)), (np.r_[:100, 200:300], np.arange(100, 200))]
    search = RankerSearchCV(CANDIDATES, cv=folds, keep_scores=True).fit(X, y)
    assert search.held_out_scores_.shape == (2, 300)
    np.testing.assert_array_equal(np.isnan(search.held_out_scores_).any(axis=0), np.arange(300) >= 200)
    for row, scores in zip(search.candidates_, search.held_out_scores_, strict=True):
        found = [precision_at_k(y[test], scores[test], fraction_of_positives=0.25) for _, test in folds]
        assert np.mean(found) == pytest.approx(row["precision"])
    assert not hasattr(RankerSearchCV(CANDIDATES, cv=2).fit(X, y), "held_out_scores_")


def test_frames_reach_pipelines_as_they_come():
    rng = np.random.default_rng(0)
    y = rng.random(120) < 0.3
    colour = np.where(y, "red", rng.choice(["red", "blue"], 120))
    frame = pd.DataFrame({"colour": colour, "size": y + rng.random(120)})
    encoder = make_column_transformer((OneHotEncoder(), ["colour"]), remainder="passthrough")
    candidates = [("encoded", make_pipeline(encoder, LogisticRegression()), {})]
    search = RankerSearchCV(candidates, cv=2).fit(frame, y)
    assert list(search.feature_names_in_) == ["colour", "size"]
    assert average_precision(y, search.decision_function(frame)) > 0.8
    with pytest.raises(ValueError, match="columns are missing"):
        search.decision_function(frame.rename(columns={"size": "weight"}))


def test_weights_and_groups_reach_members_and_splitter(hidden):
    X, y = hidden
    weights, groups = np.random.default_rng(1).integers(1, 4, len(y)), np.arange(len(y)) // 4
    copies = np.repeat(np.arange(len(y)), weights)
    candidates = [("logistic", make_pipeline(FunctionTransformer(), LogisticRegression()), {})]
    halves = groups % 2
    folds, of_copies = (
        [(np.flatnonzero(part == h), np.flatnonzero(part != h)) for h in (0, 1)]
        for part in (halves, halves[copies])
    )
    weighted = RankerSearchCV(candidates, cv=folds, fraction=0.1).fit(X, y, weights)
    copied = RankerSearchCV(candidates, cv=of_copies, fraction=0.1).fit(X[copies], y[copies])
    np.testing.assert_allclose(weighted.decision_function(X), copied.decision_function(X), atol=1e-3)
    assert weighted.best_score_ == pytest.approx(copied.best_score_, abs=0.02)
    splitter = StratifiedGroupKFold(3)
    search = RankerSearchCV(candidates, cv=splitter).fit(X, y, groups=groups)
    listed = RankerSearchCV(candidates, cv=list(splitter.split(X, y, groups))).fit(X, y)
    assert search.best_score_ == listed.best_score_
    with pytest.raises(TypeError, match="KNeighborsClassifier takes no sample_weight"):
        RankerSearchCV([("near", KNeighborsClassifier(), {})]).fit(X, y, weights)
    with sklearn.config_context(enable_metadata_routing=True):
        linear = LogisticRegression().set_fit_request(sample_weight=True)
        asking = make_pipeline(FunctionTransformer(), linear)
        routed = RankerSearchCV([("logistic", asking, {})], cv=folds, fraction=0.1).fit(X, y, weights)
    np.testing.assert_array_equal(routed.decision_function(X), weighted.decision_function(X))


def test_jobs_change_nothing(hidden):
    X, y = hidden
    for search in (RankerSearchCV(CANDIDATES, cv=3), PushBoostCV(cv=3, random_state=0, **SMALL)):
        one, two = (sklearn.clone(search).set_params(n_jobs=n_jobs).fit(X, y) for n_jobs in (1, 2))
        np.testing.assert_array_equal(one.decision_function(X), two.decision_function(X))
        assert one.candidates_ == two.candidates_


def test_a_search_may_be_a_member_of_a_search(hidden):
    X, y = hidden
    linear = TopRankerCV(candidates=["logistic-regression", "p-norm-push"], cv=2)
    search = RankerSearchCV([("linear", linear, {}), CANDIDATES[1]], cv=2).fit(X, y)
    assert {row["candidate"] for row in search.candidates_} == {"linear", "stumps"}
    grid = GridSearchCV(search, {"selection": ["best", "one_standard_error"]}, cv=2).fit(X, y)
    assert grid.best_score_ > 0.5


SEARCHES = [
    PNormPushCV((1.0, 4.0), alphas=(0.1,), scoring="average_precision"),
    TopRankerCV(candidates=["logistic-regression"]),
    PushBoostCV(random_state=0, **SMALL),
    RankerSearchCV(CANDIDATES),
]


@pytest.mark.parametrize("search", SEARCHES, ids=lambda search: type(search).__name__)
def test_groups_reach_the_splitter_of_every_search(hidden, search):
    X, y = hidden
    groups = np.random.default_rng(3).integers(0, 40, len(y))
    splitter = StratifiedGroupKFold(3)
    listed = sklearn.clone(search).set_params(cv=list(splitter.split(X, y, groups))).fit(X, y)
    found = [sklearn.clone(search).set_params(cv=splitter).fit(X, y, groups=groups)]
    with sklearn.config_context(enable_metadata_routing=True):
        found.append(sklearn.clone(search).set_params(cv=splitter).fit(X, y, groups=groups))
        pipeline = make_pipeline(FunctionTransformer(), sklearn.clone(search).set_params(cv=splitter))
        found.append(pipeline.fit(X, y, groups=groups)[-1])
        with pytest.raises(TypeError, match="groups"):
            sklearn.clone(search).set_params(cv=3).fit(X, y, groups=groups)
    for fitted in found:
        means = (one.cv_results_["mean_test_score"] for one in (fitted, listed))
        np.testing.assert_array_equal(*means)


class Silent(ClassifierMixin, BaseEstimator):
    """A classifier without scores."""

    def fit(self, X, y):  # noqa: ARG002
        self.classes_ = np.unique(y)
        return self


@pytest.mark.parametrize(
    ("candidates", "error", "message"),
    [
        ([], ValueError, "candidates must be one or more"),
        ([CANDIDATES[0], CANDIDATES[0]], ValueError, "each with a name of its own, got .'logistic', 'log"),
        ([("logistic", LOGISTIC)], ValueError, "tuples of a name, an estimator and a dict of lists"),
        ([LOGISTIC], ValueError, "tuples of a name, an estimator and a dict of lists"),
        ([("a", LOGISTIC, {"logisticregression__C": 1.0})], ValueError, "'a' must be a list of at least one"),
        ([("a", PushBoost(), {"weak_rankers": "stumps"})], ValueError, "weak_rankers of the candidate 'a'"),
        ([("a", Silent(), {})], TypeError, "neither decision_function nor predict_proba"),
        ([("a", PNormPush(), {"q": [1.0]})], ValueError, "Invalid parameter 'q'"),
    ],
)
def test_candidates_that_cannot_be_searched_are_refused(hidden, candidates, error, message):
    with pytest.raises(error, match=message):
        RankerSearchCV(candidates, cv=2).fit(*hidden)


def test_the_choice_of_push_boost_is_the_one_made_by_hand(hidden):
    X, y = hidden
    cv = StratifiedKFold(3)
    ranker = PushBoostCV(fraction=0.1, cv=cv, selection="best", random_state=0, **SMALL).fit(X, y)
    results = ranker.cv_results_
    assert len(results["params"]) == 8
    for fold, (train, test) in enumerate(cv.split(X, y)):
        alone = PushBoost(**results["params"][5]).fit(X[train], y[train])
        precision = precision_at_k(y[test], alone.decision_function(X[test]), fraction=0.1)
        assert results[f"split{fold}_test_score"][5] == pytest.approx(precision)
    means, hit = results["mean_test_score"], 1.0 / 30.0
    best = max(row["precision"] for row in ranker.candidates_)
    assert means.max() - hit - 1e-9 <= best == ranker.best_score_ == means[ranker.best_index_]
    alone = PushBoost(**ranker.best_params_, random_state=0).fit(X, y)
    np.testing.assert_allclose(ranker.decision_function(X), alone.decision_function(X))
    assert ranker.best_estimator_.n_iter_ == ranker.best_params_["n_estimators"]


def test_the_smallest_push_within_one_standard_error_is_taken():
    X, y = make_hidden_positives(300, random_state=1, return_X_y=True)
    ranker = PushBoostCV(30, cv=4, random_state=0, **SMALL).fit(X, y)
    rows = [row for row in ranker.candidates_ if row["below_best"] <= row["below_best_standard_error"]]
    eligible = [row["params"]["p"] for row in rows]
    assert ranker.best_params_["p"] == min(eligible)


def test_push_boost_takes_frames_with_words_and_gaps():
    rng = np.random.default_rng(0)
    y = rng.random(120) < 0.3
    colour = pd.Series(np.where(y, "red", rng.choice(["red", "blue"], 120)), dtype="category")
    size = np.where(rng.random(120) < 0.2, np.nan, y + rng.random(120))
    frame = pd.DataFrame({"colour": colour, "size": size})
    ranker = PushBoostCV(ps=[4.0], learning_rates=[1.0], n_estimators=[5], cv=2).fit(frame, y)
    assert average_precision(y, ranker.decision_function(frame)) > 0.8
    assert list(ranker.feature_names_in_) == ["colour", "size"]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"ps": []}, "ps must be a list"),
        ({"ps": [0.5]}, "ps must"),
        ({"learning_rates": [2.0]}, "learning_rates must"),
        ({"n_estimators": [0]}, "n_estimators must"),
        ({"alpha": -1.0}, "alpha must"),
        ({"selection": "any"}, "selection must"),
        ({"budget": 61}, "more than the 60 rows"),
    ],
)
def test_push_boosts_parameters_out_of_range_are_refused(options, message):
    X, y = make_hidden_positives(60, random_state=2, return_X_y=True)
    with pytest.raises(ValueError, match=message):
        PushBoostCV(**options).fit(X, y)


def test_a_scorer_that_search_members_share_is_that_of_grid_search(hidden):
    """GridSearchCV over the same members, folds and measure has the same scores."""
    X, y = hidden
    scorer = make_scorer(precision_at_k, response_method="decision_function", fraction=0.1)
    grid = GridSearchCV(PNormPush(), {"p": [1.0, 4.0, 16.0]}, scoring=scorer, cv=4).fit(X, y)
    search = RankerSearchCV([("push", PNormPush(), {"p": [1.0, 4.0, 16.0]})], fraction=0.1, cv=4).fit(X, y)
    for key in ("mean_test_score", "std_test_score", "rank_test_score", "split2_test_score"):
        np.testing.assert_allclose(search.cv_results_[key], grid.cv_results_[key])
