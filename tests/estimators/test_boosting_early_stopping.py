"""Where the rounds of boosting end: early stopping by measures of held-out rows, and convergence."""

import numpy as np
import pytest
import sklearn
from sklearn.base import clone
from sklearn.metrics import average_precision_score, get_scorer, make_scorer

from pushrank import PNormPush, PushBoost, PushRanker, RankBoost, metrics
from pushrank.metrics.scorers import positives_at_top
from pushrank.prices import Power
from samples import by_first_column, graded, linear_labels


def push(p=4.0, **options):
    return PushBoost(p, n_estimators=30, **options)


def test_rounds_that_end_at_the_optimum_have_converged_whoever_runs_them():
    X, y = linear_labels(400, 5, noise=1.5)
    options = {"alpha": 1.0, "tol": 1e-4, "solver": "coordinate"}
    needed = PNormPush(4, **options).fit(X, y).n_iter_
    push = PNormPush(4, **options, max_iter=needed).fit(X, y)
    general = PushRanker(price=Power(4), **options, max_iter=needed).fit(X, y)
    assert push.converged_
    assert general.converged_
    np.testing.assert_array_equal(push.objective_path_, general.objective_path_)


def test_a_fit_has_converged_where_the_rounds_that_are_kept_have():
    X, y = linear_labels(400, 5, noise=1.5)
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
    X, y = linear_labels(400, 5, noise=1.5)
    ranker = RankBoost(n_estimators=5, early_stopping=True, random_state=0)
    by_name = clone(ranker).set_params(scoring="positives_at_top").fit(X, y)
    by_scorer = clone(ranker).set_params(scoring=positives_at_top).fit(X, y)
    np.testing.assert_array_equal(by_name.validation_path_, by_scorer.validation_path_)
    for scoring, message in (
        ("top", "scoring='top' is not known; use one of .*, one of scikit-learn's names"),
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
    X, y = by_first_column(200, 3, 0.8)
    weights = (np.arange(200) % 5 > 0).astype(float)
    ranker = RankBoost(n_estimators=30, early_stopping=True, random_state=0)
    path = clone(ranker).fit(X, y, weights).validation_path_
    np.testing.assert_allclose(path, ranker.fit(X[weights > 0], y[weights > 0]).validation_path_)
