"""Theorems of Rudin, Cortes, Mohri and Schapire (2005), in their own numbers."""

import math
from functools import partial

import numpy as np
import pytest
from scipy.optimize import minimize, minimize_scalar

from pushrank import AdaBoostRanker, RankBoost, theory
from pushrank.theory import rudin_2005

pytestmark = pytest.mark.fast

COVER = partial(theory.log_covering_number, 3, 1.0)


@pytest.mark.parametrize("given", ["classes", "grades", "pairs", "queries"])
def test_theorem_1_of_2005_counts_crucial_pairs(given):
    rng = np.random.default_rng(0)
    grades, scores, qid = rng.integers(0, 3, 30), rng.normal(size=30).round(1), np.arange(30) // 10
    y = grades > 1 if given == "classes" else grades
    crucial = np.greater.outer(y, y)
    crucial &= np.equal.outer(qid, qid) if given == "queries" else True
    better, worse = np.nonzero(crucial)
    what = {"pairs": (better, worse)} if given == "pairs" else {"y": y}
    what |= {"qid": qid} if given == "queries" else {}
    found = rudin_2005.theorem_1(scores, **what, theta=0.55, log_covering_number=COVER, delta=0.2)
    assert found.training_error == pytest.approx((scores[better] - scores[worse] <= 0.55).mean())
    share, e = len(better) / (30 * 29), found.excess
    chance = 2 * math.exp(COVER(e * 0.55 / 8) - 30 * (e * share) ** 2 / 8)
    assert chance == pytest.approx(0.2, rel=1e-6)
    finite = rudin_2005.theorem_1(
        scores, **what, theta=0.55, log_covering_number=math.log(9), pair_probability=0.25, delta=0.2
    )
    printed = math.sqrt(8 / 0.25**2 * (math.log(2 * 9) + math.log(1 / 0.2))) / math.sqrt(30)
    assert finite.excess == pytest.approx(printed)


def test_lemma_1_of_2005_is_false_as_printed_and_true_as_stated_here():
    """The numbers of a round of a run on random data."""
    g, d_plus, d_minus = 0.009054, 0.186975, 0.038312
    d_zero, r = 1 - d_plus - d_minus, d_plus - d_minus
    root = math.sqrt((g * d_zero) ** 2 + (1 + g) * (1 - g) * (1 + r - d_zero) * (1 - r - d_zero))
    alpha = math.log((-g * d_zero + root) / ((1 + g) * (1 - r - d_zero)))
    log_tau = math.log(d_plus * math.exp(-alpha) + d_minus * math.exp(alpha) + d_zero)
    progress = -log_tau - alpha * g  # times the norm after the step
    assert progress < 0.98 * alpha * (r - g) / 2  # lemma 1 and theorem 2 as printed
    assert rudin_2005.smooth_margin_progress(g, r, 1.0) <= progress
    assert (r - g) ** 2 / 2 <= rudin_2005.smooth_margin_progress(g, r, 1.0)


@pytest.mark.parametrize("weighted", [False, True])
def test_the_intercept_has_adaboosts_least_loss_of_the_scores(weighted):
    rng = np.random.default_rng(1)
    y, scores = np.arange(30) < 12, rng.normal(size=30)
    w = rng.integers(0, 3, 30).astype(float) if weighted else np.ones(30)
    loss = lambda b: w @ np.exp(-np.where(y, 1, -1) * (scores + b))  # noqa: E731
    least = minimize_scalar(loss, options={"xtol": 1e-12})
    b = rudin_2005.adaboost_intercept(y, scores, sample_weight=w if weighted else None)
    assert b == pytest.approx(least.x, abs=1e-7)
    product = (w[y] @ np.exp(-scores[y])) * (w[~y] @ np.exp(scores[~y]))
    assert loss(b) == pytest.approx(2 * math.sqrt(product), rel=1e-12)


@pytest.mark.parametrize("kind", ["columns", "stumps"])
@pytest.mark.parametrize("weighted", [False, True])
def test_rankboost_with_adaboosts_threshold_is_adaboost(kind, weighted):
    """At the optimum of RankBoost's loss: the coefficients, the intercept, the loss and the classes."""
    rng = np.random.default_rng(2)
    X = (rng.random((60, 4)) < 0.5).astype(float) if kind == "columns" else rng.integers(0, 4, (60, 2)) * 1.0
    y = (X.sum(axis=1) + rng.normal(size=60) > X.sum(axis=1).mean() + 0.5).astype(int)
    w = rng.integers(1, 4, 60).astype(float) if weighted else None
    options = {"weak_rankers": kind, "n_estimators": 4000, "tol": 1e-12}
    rank = RankBoost(threshold="adaboost", **options).fit(X, y, w)
    ada = AdaBoostRanker(**options).fit(X, y, w)
    signs, weights = np.where(y, 1, -1), np.ones(60) if w is None else w
    losses = [weights @ np.exp(-signs * ranker.decision_function(X)) for ranker in (rank, ada)]
    assert losses[0] == pytest.approx(np.exp(ada.objective_path_[-1]), rel=1e-8)
    if kind == "columns":
        b = rudin_2005.adaboost_intercept(y, X @ rank.coef_, sample_weight=w)
        assert rank.intercept_ == pytest.approx(b, abs=1e-12)

        def loss(v):
            return weights @ np.exp(-signs * (X @ v[1:] + v[0]))

        best = minimize(loss, np.zeros(5), options={"gtol": 1e-9})
        np.testing.assert_allclose([b, *rank.coef_], best.x, atol=1e-5)
        # the break-even point is another cut of the same scores
        assert RankBoost(**options).fit(X, y, w).threshold_ != pytest.approx(rank.threshold_, abs=1e-3)
    np.testing.assert_array_equal(rank.predict(X) == 1, _positive_by_adaboost(ada, X))


def _positive_by_adaboost(ada, X):
    """The sign of AdaBoost's own score, its constant included: ``threshold_`` is the break-even point."""
    scores = ada.decision_function(X) + ada.threshold_
    return scores + _constant_of(ada) > 0


def _constant_of(ada):
    # With columns the constant of 2 h - 1 and of the constant ranker is not part of X @ coef_.
    if not hasattr(ada, "coef_"):
        return 0.0
    constant = ada.estimator_weights_[ada.estimator_index_ < 0].sum()
    rankers = ada.weak_rankers_
    lowest = float(rankers.offsets_ @ ada.coef_)
    return constant + lowest - ada.coef_ @ rankers.ranges_ / 2


def test_adaboosts_threshold_is_for_two_classes():
    with pytest.raises(ValueError, match="use threshold='break-even'"):
        RankBoost(threshold="adaboost").fit(np.eye(6), [0, 1, 2, 0, 1, 2])
