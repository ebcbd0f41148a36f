"""The one search: its rule, and PushBoost's; the choice is the one made by hand."""

import numpy as np
import pandas as pd
import pytest
import sklearn
from sklearn.metrics import make_scorer
from sklearn.model_selection import GridSearchCV, StratifiedGroupKFold, StratifiedKFold
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer

from pushrank import IRPush, PNormPushCV, PushBoost, PushBoostCV, TopRankerCV
from pushrank.datasets import make_hidden_positives
from pushrank.estimators._search import below_best, best_of_families, choose, standard_errors
from pushrank.metrics import average_precision, precision_at_k

SMALL = {"ps": (1.0, 16.0), "learning_rates": (0.5, 1.0), "n_estimators": (8, 2)}


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


def test_a_scorer_of_predictions_has_the_thresholds_of_fits():
    # A single row, on either side of the threshold by the tolerance of a fit, counts for little.
    cv = StratifiedKFold(3)
    X, y = make_hidden_positives(3000, random_state=0, return_X_y=True)
    linear = TopRankerCV(candidates=["ir-push"], cv=cv, scoring=money).fit(X, y)
    by_hand = GridSearchCV(IRPush(), {"alpha": [1e-3, 1e-2, 1e-1]}, cv=cv, scoring=money).fit(X, y)
    assert linear.best_score_ == pytest.approx(by_hand.best_score_, rel=0.005)
    assert "score over the folds" in linear._html_repr()
    with pytest.raises(ValueError, match="scoring='nonsense' is not known"):
        TopRankerCV(scoring="nonsense").fit(X, y)


def test_rounds_are_fitted_once_as_the_first_are_a_shorter_fit(hidden, monkeypatch):
    X, y = hidden
    fits, fit = [], PushBoost.fit
    monkeypatch.setattr(
        PushBoost, "fit", lambda self, *rest, **more: fits.append(1) or fit(self, *rest, **more)
    )
    search = PushBoostCV(ps=(1.0, 4.0), learning_rates=(0.5,), n_estimators=(3, 9), cv=2).fit(X, y)
    assert len(fits) == 2 * 2 + 1
    results = search.cv_results_["params"], search.cv_results_["split0_test_score"]
    train, test = next(iter(StratifiedKFold(2).split(X, y)))
    for params, score in zip(*results, strict=True):
        scores = PushBoost(**params).fit(X[train], y[train]).decision_function(X[test])
        assert score == pytest.approx(precision_at_k(y[test], scores, fraction_of_positives=0.25))


def test_weights_are_copies_of_rows_in_fits_and_measures(hidden):
    X, y = hidden
    weights = np.random.default_rng(1).integers(1, 4, len(y))
    copies, halves = np.repeat(np.arange(len(y)), weights), np.arange(len(y)) // 4 % 2
    folds, of_copies = (
        [(np.flatnonzero(part == h), np.flatnonzero(part != h)) for h in (0, 1)]
        for part in (halves, halves[copies])
    )
    search = PushBoostCV(fraction=0.1, random_state=0, **SMALL)
    weighted = sklearn.clone(search).set_params(cv=folds).fit(X, y, weights)
    copied = sklearn.clone(search).set_params(cv=of_copies).fit(X[copies], y[copies])
    np.testing.assert_allclose(weighted.decision_function(X), copied.decision_function(X), atol=1e-6)
    assert weighted.best_score_ == pytest.approx(copied.best_score_, abs=0.02)


def test_jobs_change_nothing(hidden):
    X, y = hidden
    search = PushBoostCV(cv=3, random_state=0, **SMALL)
    one, two = (sklearn.clone(search).set_params(n_jobs=n_jobs).fit(X, y) for n_jobs in (1, 2))
    np.testing.assert_array_equal(one.decision_function(X), two.decision_function(X))
    assert one.candidates_ == two.candidates_


def test_a_search_may_be_a_member_of_a_search(hidden):
    search = TopRankerCV(candidates=["logistic-regression", "p-norm-push"], cv=2)
    grid = GridSearchCV(search, {"selection": ["best", "one_standard_error"]}, cv=2).fit(*hidden)
    assert grid.best_score_ > 0.5


SEARCHES = [
    PNormPushCV((1.0, 4.0), alphas=(0.1,), scoring="average_precision"),
    TopRankerCV(candidates=["logistic-regression"]),
    PushBoostCV(random_state=0, **SMALL),
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
    members = {"ps": [1.0, 4.0, 16.0], "learning_rates": [0.5], "n_estimators": [9]}
    search = PushBoostCV(**members, fraction=0.1, cv=4).fit(X, y)
    of_members = {"p": members["ps"], "learning_rate": [0.5], "n_estimators": [9]}
    grid = GridSearchCV(PushBoost(), of_members, scoring=scorer, cv=4).fit(X, y)
    for key in ("mean_test_score", "std_test_score", "rank_test_score", "split2_test_score"):
        np.testing.assert_allclose(search.cv_results_[key], grid.cv_results_[key])
