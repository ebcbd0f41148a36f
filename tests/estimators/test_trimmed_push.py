"""The trimmed push: laws of its descent, its end by brute force, what it is for, and query groups."""

import itertools

import numpy as np
import pytest
from scipy.optimize import approx_fprime
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LogisticRegression

from combinations import by_day
from pushrank import PNormPush, TrimmedPush
from pushrank.datasets import make_hidden_positives
from pushrank.metrics import positives_at_top
from pushrank.objectives import PrecisionAtK, PushObjective
from pushrank.objectives.queries import MeanLogPush
from pushrank.pairs import GradedSample
from pushrank.prices import Power
from query_lists import both_classes, lists
from samples import first_positive


def objective(X, y, kept, coef, p, alpha):
    """The definition, over all pairs of a kept positive and a negative."""
    scores = X @ coef
    inner = np.exp(scores[y == 0] - scores[kept][:, None]).sum(axis=0)
    return np.log((inner**p).sum()) / p + 0.5 * alpha * coef @ coef


@pytest.mark.parametrize("seed", by_day(range(6), 3))
@pytest.mark.parametrize("p", [1.0, 4.0, 16.0])
def test_the_objective_falls_to_that_of_the_highest_positives(seed, p):
    X, y = first_positive(seed, 60, 3, 3)
    ranker = TrimmedPush(5, p=p, alpha=0.1).fit(X, y)
    assert ranker.converged_
    assert np.diff(ranker.objective_path_).max(initial=0.0) <= 1e-9
    kept = np.setdiff1d(np.flatnonzero(y), ranker.trimmed_)
    assert len(kept) == 5
    scores = ranker.decision_function(X)
    assert scores[kept].min() >= scores[ranker.trimmed_].max()
    value = objective(X, y, kept, ranker.coef_, p, 0.1)
    assert ranker.objective_path_[-1] == pytest.approx(value)
    # at these scores no other set of five, and for this set no other scores, are better
    others = itertools.islice(itertools.combinations(np.flatnonzero(y), 5), 0, None, 97)
    assert all(objective(X, y, np.array(s), ranker.coef_, p, 0.1) >= value - 1e-9 for s in others)
    rng = np.random.default_rng(seed)
    moved = ranker.coef_ + 0.01 * rng.normal(size=(50, 3))
    assert min(objective(X, y, kept, coef, p, 0.1) for coef in moved) >= value - 1e-6


def test_all_positives_are_the_p_norm_push():
    X, y = first_positive(0, 60, 3, 3)
    whole = TrimmedPush(1.0, p=8.0, tol=1e-8).fit(X, y)
    np.testing.assert_allclose(whole.coef_, PNormPush(8.0, tol=1e-8).fit(X, y).coef_, atol=1e-6)
    assert len(whole.trimmed_) == 0


def test_a_path_is_the_fits_along_it():
    X, y = first_positive(1, 60, 3, 3)
    small, large, alone = (*TrimmedPush().path(X, y, [0.2, 0.6]), TrimmedPush(0.6).fit(X, y))
    assert (small.k, large.k) == (0.2, 0.6)
    np.testing.assert_array_equal(large.coef_, alone.coef_)
    assert set(large.trimmed_) < set(small.trimmed_)
    with pytest.raises(ValueError, match="at least one"):
        TrimmedPush().path(X, y, [])


def test_hidden_positives_are_found():
    rows = make_hidden_positives(3000, random_state=0)
    fresh = make_hidden_positives(5000, random_state=1)
    found, lost = (
        positives_at_top(fresh.target, ranker.fit(rows.data, rows.target).decision_function(fresh.data))
        for ranker in (TrimmedPush(), LogisticRegression())
    )
    assert found > 300
    assert lost < 10


@pytest.mark.parametrize("n_positive", [1, 39])
def test_one_row_of_a_class_and_separable_rows(n_positive):
    X = np.random.default_rng(0).normal(size=(40, 2))
    y = np.arange(40) < n_positive
    ranker = TrimmedPush(0.5).fit(X, y)
    assert np.isfinite(ranker.coef_).all()
    apart = TrimmedPush(0.5).fit(np.c_[np.where(y, 5.0, -5.0)], y)
    assert positives_at_top(y, apart.decision_function(np.c_[np.where(y, 5.0, -5.0)])) == n_positive


def test_what_is_out_of_range_is_said():
    X, y = first_positive(3, 60, 3, 3)
    wrong = {"k": (0, 99), "p": (0.5,), "alpha": (-1.0,), "tol": (0.0,), "max_iter": (0,)}
    for name, values in wrong.items():
        for value in values:
            with pytest.raises(ValueError, match=rf"\b{name}\b"):
                TrimmedPush(**{name: value}).fit(X, y)
    with pytest.warns(ConvergenceWarning, match="did not converge with k=0.3"):
        TrimmedPush(0.3, max_iter=1).fit(X, y)


def kept_weights(ranker, y, qid, weights, scores):
    """The weights of the positives that count: in each query those of the highest, as far as its k goes."""
    kept = np.where(y == 1, 0.0, weights)
    for rows in both_classes(y, qid, weights):
        positives = rows[y[rows] == 1]
        total = weights[positives].sum()
        left = min(ranker.k, total) if isinstance(ranker.k, int) else PrecisionAtK(ranker.k).count(total)
        for row in positives[np.argsort(-scores[positives], kind="stable")]:
            kept[row] = min(weights[row], left)
            left -= kept[row]
    return kept


def mean_objective(p, y, qid, weights, scores):
    """The mean over queries of the P-Norm Push on the log scale, over all pairs."""
    values = []
    for rows in both_classes(y, qid, weights):
        s, t = rows[y[rows] == 1], rows[y[rows] == 0]
        inner = weights[s] @ np.exp(scores[t] - scores[s][:, None])
        values.append(np.log(weights[t] @ inner**p) / p)
    return np.mean(values)


@pytest.mark.parametrize("seed", by_day(range(6), 3))
@pytest.mark.parametrize("weighted", [False, True])
def test_the_mean_of_queries_has_the_value_and_derivatives_of_its_definition(seed, weighted):
    X, y, qid = lists(seed, n_queries=7)
    rng = np.random.default_rng(seed)
    weights = rng.integers(0, 3, len(y)) * rng.random(len(y)) if weighted else np.ones(len(y))
    p, scores = float(rng.uniform(1, 8)), np.round(X[:, 0], 1)
    sample = GradedSample.from_grades(y.astype(float), qid, weights if weighted else None)
    at_scores = MeanLogPush(price=Power(p), scale="log").evaluation(sample, scores)

    def brute_force(s):
        return mean_objective(p, y, qid, weights, s)

    assert at_scores.value == pytest.approx(brute_force(scores), rel=1e-12)
    gradient = sample.scatter(*at_scores.gradient())
    np.testing.assert_allclose(gradient, approx_fprime(scores, brute_force, 1e-7), atol=1e-5)
    direction, step = rng.normal(size=len(y)), 1e-5

    def gradient_at(s):
        return sample.scatter(*MeanLogPush(price=Power(p), scale="log").evaluation(sample, s).gradient())

    change = (gradient_at(scores + step * direction) - gradient_at(scores - step * direction)) / (2 * step)
    product = sample.scatter(*at_scores.hessian_product(sample.gather(direction)))
    np.testing.assert_allclose(product, change, atol=1e-7)


def test_the_mean_is_safe_at_far_scores():
    _, y, qid = lists(0)
    sample = GradedSample.from_grades(y.astype(float), qid)
    scores = 1e4 * np.random.default_rng(0).normal(size=len(y))
    at_scores = MeanLogPush(price=Power(64.0), scale="log").evaluation(sample, scores)
    push = PushObjective(price=Power(64.0), scale="log")
    alone = [push.value(y[rows], scores[rows]) for rows in both_classes(y, qid)]
    assert at_scores.value == pytest.approx(np.mean(alone))
    assert np.isfinite(sample.scatter(*at_scores.gradient())).all()


@pytest.mark.parametrize("seed", by_day(range(4), 2))
@pytest.mark.parametrize("k", [1, 2, 0.5])
@pytest.mark.parametrize("weighted", [False, True])
def test_each_query_keeps_its_own_highest_positives_and_no_near_scores_are_better(seed, k, weighted):
    X, y, qid = lists(seed, n_queries=8, size=12)
    drawn = np.random.default_rng(seed).integers(0, 3, len(y)).astype(float)
    weights = drawn if weighted else np.ones(len(y))
    ranker = TrimmedPush(k, p=4.0, alpha=0.1, tol=1e-6)
    ranker.fit(X, y, weights if weighted else None, qid=qid)
    assert ranker.converged_
    assert np.diff(ranker.objective_path_).max(initial=0.0) <= 1e-9
    kept = kept_weights(ranker, y, qid, weights, X @ ranker.coef_)
    in_lists = np.concatenate(both_classes(y, qid, weights))
    lost = in_lists[kept[in_lists] < weights[in_lists]]
    np.testing.assert_array_equal(ranker.trimmed_, np.sort(lost))

    def objective(coef):
        return mean_objective(4.0, y, qid, kept, X @ coef) + 0.05 * coef @ coef

    assert ranker.objective_path_[-1] == pytest.approx(objective(ranker.coef_), rel=1e-9, abs=1e-9)
    np.testing.assert_allclose(approx_fprime(ranker.coef_, objective, 1e-7), 0.0, atol=1e-5)


@pytest.mark.parametrize("k", [1.0, 0.5])
def test_one_query_is_one_list_and_copies_of_it_too(k):
    X, y, _ = lists(4, size=20)
    ranker = TrimmedPush(k, p=4.0, alpha=0.1, tol=1e-8)
    alone = ranker.fit(X, y).coef_
    value, threshold, trimmed = ranker.objective_path_[-1], ranker.threshold_, ranker.trimmed_
    ranker.fit(X, y, qid=np.zeros(len(y)))
    np.testing.assert_allclose(ranker.coef_, alone, rtol=1e-5)
    assert ranker.threshold_ == pytest.approx(threshold, rel=1e-5)
    np.testing.assert_array_equal(ranker.trimmed_, trimmed)
    # Each query has a level of its own, which compares nothing.
    ranker.fit(np.r_[X, X + 7.0], np.r_[y, y], qid=np.repeat(["a", "b"], len(y)))
    np.testing.assert_allclose(ranker.coef_, alone, rtol=1e-5)
    assert ranker.objective_path_[-1] == pytest.approx(value, rel=1e-8)


def test_a_gradient_below_the_rounding_of_the_objective_is_reached():
    """A line search by values ends a hundred times above this tolerance on some of these lists."""
    for seed in range(20):
        X, y, _ = lists(seed, size=20)
        assert TrimmedPush(1.0, p=4.0, alpha=0.1, tol=1e-9).fit(X, y, qid=np.zeros(len(y))).converged_


def test_queries_of_one_class_and_their_order_change_nothing():
    X, y, qid = lists(1, size=12)
    ranker = TrimmedPush(0.5, p=4.0, alpha=0.1, tol=1e-8)
    whole = ranker.fit(X, y, qid=qid).coef_
    rows = np.concatenate(both_classes(y, qid))[::-1]
    np.testing.assert_allclose(ranker.fit(X[rows], y[rows], qid=qid[rows]).coef_, whole, rtol=1e-5)


def test_a_path_of_queries_is_the_fits_along_it():
    X, y, qid = lists(2, size=12)
    ranker = TrimmedPush(p=4.0, alpha=0.1)
    small, large = ranker.path(X, y, [0.3, 0.7], qid=qid)
    np.testing.assert_array_equal(large.coef_, TrimmedPush(0.7, p=4.0, alpha=0.1).fit(X, y, qid=qid).coef_)
    assert set(large.trimmed_) < set(small.trimmed_)
