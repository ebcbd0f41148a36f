"""Boosting of grades, query groups and explicit pairs, and targets that are refused."""

import os

import numpy as np
import pytest
import sklearn
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.metrics import ndcg_score
from sklearn.model_selection import GridSearchCV, GroupKFold, cross_validate
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from combinations import by_day
from growth import growth
from pushrank import AdaBoostRanker, IRPush, PNormPush, PushBoost, RankBoost, SmoothMarginRanking
from pushrank.datasets import load_dataset
from samples import graded, linear_labels


def push(p=4.0, **options):
    return PushBoost(p, n_estimators=30, **options)


quiet = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")

TIGHT = {"alpha": 0.01, "tol": 1e-7}
PAIRWISE = [RankBoost(n_estimators=20), RankBoost(weak_rankers="columns", n_estimators=20)]
PAIRWISE += [SmoothMarginRanking("warn", n_estimators=20), push(), push(side="pull")]
PAIRWISE += [PNormPush(**TIGHT), IRPush(**TIGHT), push("log_one_plus", side="pull"), push(side="both")]
PAIRWISE += [push(weak_rankers="columns"), PNormPush(**TIGHT, solver="newton-cg")]


@quiet
@pytest.mark.parametrize("ranker", by_day(PAIRWISE, 7), ids=str)
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


@pytest.mark.skipif(not os.environ.get("PUSHRANK_DATA"), reason="PUSHRANK_DATA is not set")
def test_grades_of_real_queries():
    """Web search results in five grades, LightGBM's example: its own ranker of stumps reaches .796."""
    bunch = load_dataset("lambdarank_example")
    queries = np.unique(bunch.qid)
    train = np.isin(bunch.qid, queries[: int(0.7 * len(queries))])
    ranker = RankBoost(n_estimators=100, learning_rate=0.3)
    ranker.fit(bunch.data[train], bunch.target[train], qid=bunch.qid[train])
    X, relevance, qid = (part[~train] for part in (bunch.data, bunch.target, bunch.qid))
    scores = ranker.decision_function(X)
    gains = [
        ndcg_score([relevance[qid == query]], [scores[qid == query]], k=10)
        for query in np.unique(qid)
        if (qid == query).sum() > 1
    ]
    print(f"NDCG@10 {np.mean(gains):.4f} over {len(gains)} queries")
    assert np.mean(gains) > 0.77


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
    X, _ = linear_labels(40, 5, noise=1.5)
    fresh = clone(ranker)
    with pytest.raises(error, match=message):
        fresh.fit(X, **given)
    with pytest.raises(NotFittedError):
        fresh.rank(X)


def test_what_is_for_two_classes_says_so():
    X, relevance, qid = graded(60)
    with pytest.raises(ValueError, match="use RankBoost"):
        AdaBoostRanker().fit(X, relevance > 1, qid=qid)
