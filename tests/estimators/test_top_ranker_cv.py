"""The choice of a ranker for a budget: what is chosen, and by what rule."""

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.datasets import load_breast_cancer
from sklearn.model_selection import StratifiedGroupKFold, StratifiedKFold
from sklearn.preprocessing import scale

from pushrank import PNormPush, TopRankerCV, TrimmedPush
from pushrank.datasets import make_hidden_positives
from pushrank.estimators import _search
from pushrank.estimators.top_ranker_cv import DEFAULT_CANDIDATES, FAMILIES
from pushrank.metrics import average_precision, precision_at_k

QUICK = ["logistic-regression", "p-norm-push", "trimmed-push"]


def test_where_logistic_regression_fails_it_is_not_taken_and_elsewhere_it_is():
    X, y = make_hidden_positives(1500, random_state=0, return_X_y=True)
    hidden = TopRankerCV(100, candidates=QUICK).fit(X, y)
    assert hidden.candidate_ != "logistic-regression"
    assert hidden.candidates_[0]["below_best"] > 0.3
    fresh, labels = make_hidden_positives(3000, random_state=1, return_X_y=True)
    assert precision_at_k(labels, hidden.decision_function(fresh), 200) > 0.95
    easy, labels = load_breast_cancer(return_X_y=True)
    assert TopRankerCV(candidates=QUICK, cv=3).fit(scale(easy), labels).candidate_ == "logistic-regression"


def test_the_choice_is_the_one_made_by_hand():
    """The scores in the folds are those of the estimators fitted there; the answer is the chosen one's."""
    X, y = make_hidden_positives(600, random_state=2, return_X_y=True)
    cv = StratifiedKFold(3)
    ranker = TopRankerCV(fraction=0.05, candidates=["p-norm-push", "trimmed-push"], cv=cv).fit(X, y)
    results = ranker.cv_results_
    kinds = {"p-norm-push": PNormPush, "trimmed-push": TrimmedPush}

    def by_hand(candidate, **options):
        return kinds[candidate](**options, tol=1e-6)

    for place in (0, len(results["params"]) - 1):
        for fold, (train, test) in enumerate(cv.split(X, y)):
            one = by_hand(**results["params"][place]).fit(X[train], y[train])
            scores = one.decision_function(X[test])
            found = results[f"split{fold}_test_score"][place]
            assert found == pytest.approx(precision_at_k(y[test], scores, fraction=0.05), abs=0.11)
    assert results["mean_test_score"][ranker.best_index_] == pytest.approx(ranker.best_score_)
    alone = by_hand(**ranker.best_params_).fit(X, y)
    overall = (average_precision(y, one.decision_function(X)) for one in (ranker, alone))
    assert next(overall) == pytest.approx(next(overall), abs=0.01)


def test_a_budget_is_the_same_share_of_every_fold():
    X, y = make_hidden_positives(600, random_state=3, return_X_y=True)
    options = {"candidates": ["logistic-regression"], "cv": 3}
    counted, shared = TopRankerCV(60, **options).fit(X, y), TopRankerCV(fraction=0.1, **options).fit(X, y)
    found, expected = (search.cv_results_["mean_test_score"] for search in (counted, shared))
    np.testing.assert_array_equal(found, expected)
    by_positives = TopRankerCV(fraction_of_positives=60 / y.sum(), **options).fit(X, y)
    np.testing.assert_allclose(
        by_positives.cv_results_["mean_test_score"], shared.cv_results_["mean_test_score"], atol=0.05
    )


def test_sparse_rows_and_single_precision_lead_to_the_same_choice():
    X, y = make_hidden_positives(200, random_state=6, return_X_y=True)
    dense, *others = (
        TopRankerCV(10, candidates=["trimmed-push", "perceptron-at-k"], cv=2, random_state=0).fit(form, y)
        for form in (X, sp.csc_matrix(X), X.astype(np.float32))
    )
    for other in others:
        assert other.best_params_ == dense.best_params_
        np.testing.assert_allclose(other.coef_, dense.coef_, rtol=1e-3)


def test_jobs_change_nothing_and_groups_stay_whole():
    X, y = make_hidden_positives(400, random_state=4, return_X_y=True)
    groups = np.arange(400) // 4
    options = {"cv": StratifiedGroupKFold(3), "random_state": 0}
    one, two = (TopRankerCV(20, n_jobs=n, **options).fit(X, y, groups=groups) for n in (1, 2))
    np.testing.assert_array_equal(one.coef_, two.coef_)
    assert {row["candidate"] for row in one.candidates_} == set(DEFAULT_CANDIDATES)


def test_parameters_out_of_range_are_refused():
    X, y = make_hidden_positives(60, random_state=5, return_X_y=True)
    for options, message in (
        ({"budget": 61}, "more than the 60 rows"),
        ({"budget": 0}, "budget must"),
        ({"budget": 5, "fraction": 0.1}, "one of budget .rows., fraction"),
        ({"fraction": 1.5}, "fraction must"),
        ({"candidates": []}, "candidates must be some of"),
        ({"candidates": ["forest"]}, "candidates must be some of"),
        ({"selection": "any"}, "selection must"),
    ):
        with pytest.raises(ValueError, match=message):
            TopRankerCV(**options).fit(X, y)


def test_the_ramp_is_a_candidate_by_name():
    X, y = make_hidden_positives(400, random_state=0, return_X_y=True)
    named = TopRankerCV(candidates=["logistic-regression", "ramp-at-k"], cv=2, random_state=0).fit(X, y)
    assert named.candidate_ == "ramp-at-k"
    grid = FAMILIES["ramp-at-k"].grid(0.25)
    assert named.best_params_["k"] in grid["k"]
    assert named.best_params_["C"] in grid["C"]
    assert "ramp-at-k" not in DEFAULT_CANDIDATES


def test_members_that_cannot_win_are_dropped_after_two_folds_and_the_choice_stays(monkeypatch):
    X, y = make_hidden_positives(1500, random_state=0, return_X_y=True)
    screened = TopRankerCV(100, candidates=QUICK, random_state=0).fit(X, y)
    found = {name: np.asarray(column) for name, column in screened.cv_results_.items()}
    dropped = np.isnan(found["split4_test_score"])
    assert dropped[found["param_candidate"] == "logistic-regression"].all()
    assert not dropped[screened.best_index_]
    # By hand: the rule as the docstring has it.
    early = np.mean([found["split0_test_score"], found["split1_test_score"]], axis=0)
    n = 2 / 5 * 100
    shares = (n * early + 1) / (n + 2)
    errors = np.sqrt((shares * (1 - shares) + shares.max() * (1 - shares.max())) / (n + 2))
    assert (shares.max() - shares > 2 * errors)[dropped].all()
    assert np.isnan(found["mean_test_score"][dropped]).all()
    assert found["rank_test_score"][dropped].min() > found["rank_test_score"][~dropped].max()
    rows = {row["candidate"]: row for row in screened.candidates_}
    row = rows["logistic-regression"]
    index = found["params"].tolist().index(row["params"])
    assert row["precision"] == pytest.approx(early[index])
    both = [[found[f"split{f}_test_score"][i] for f in (0, 1)] for i in (screened.best_index_, index)]
    assert row["below_best"] == pytest.approx(np.subtract(*both).mean())
    assert row["below_best_standard_error"] == pytest.approx(np.subtract(*both).std(ddof=1) / np.sqrt(2))
    two = TopRankerCV(100, candidates=QUICK, random_state=0, n_jobs=2).fit(X, y)
    np.testing.assert_array_equal(two.coef_, screened.coef_)
    monkeypatch.setattr(_search, "N_SCREENING", 5)
    every = TopRankerCV(100, candidates=QUICK, random_state=0).fit(X, y)
    assert np.isfinite(every.cv_results_["split4_test_score"]).all()
    assert every.best_params_ == screened.best_params_


@pytest.mark.parametrize("options", [{"budget": 4}, {"budget": 300, "cv": StratifiedKFold(5)}])
def test_a_small_budget_or_folds_of_the_caller_drop_no_member(options):
    X, y = make_hidden_positives(1500, random_state=0, return_X_y=True)
    ranker = TopRankerCV(candidates=["logistic-regression", "trimmed-push"], **options).fit(X, y)
    assert np.isfinite(ranker.cv_results_["split4_test_score"]).all()
