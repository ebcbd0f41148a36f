"""What the papers state and do, pair by pair from their text, against what is fitted and measured."""

import numpy as np
import pytest
from scipy.optimize import minimize

import pushrank
from pushrank import metrics

quiet = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")


def overlapping(n=40, d=3, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d))
    return X, (X[:, 0] + 1.2 * rng.normal(size=n) > 0.3).astype(int)


def differences(X, y):
    """The matrix M of Rudin (2009), by positive and negative."""
    return X[y == 1][:, None] - X[y == 0][None]


@pytest.mark.parametrize("p", [1.0, 2.0, 4.0])
def test_section_11_states_the_optimum_as_a_bregman_distance(p):
    """Rudin (2009): (1/p) min R = (1/p) I^p K - min B(P, q_0) over the P that are orthogonal to M."""
    X, y = overlapping()
    M = differences(X, y)
    n_positives, n_negatives = M.shape[:2]

    def raw(w):
        return (np.exp(-(M @ w)).sum(axis=0) ** p).sum()

    best = minimize(lambda w: np.log(raw(w)) / p, np.zeros(3), options={"gtol": 1e-9})
    ranker = pushrank.PNormPush(p, alpha=0.0, tol=1e-8).fit(X, y)
    np.testing.assert_allclose(ranker.coef_, best.x, atol=1e-5)
    assert ranker.primal_objective_ == pytest.approx(best.fun, rel=1e-9)
    assert ranker.dual_objective_ == pytest.approx(best.fun, rel=1e-9)

    def bregman(P):
        inner = p ** (1 / p) * P.sum(axis=0) ** ((p - 1) / p)
        distance = (P * np.log(P / inner)).sum() - (1 - np.log(p)) / p * P.sum()
        return distance + n_positives**p * n_negatives / p

    losses = np.exp(-(M @ ranker.coef_))
    P = losses * losses.sum(axis=0) ** (p - 1)
    np.testing.assert_allclose(np.tensordot(P, M, 2), 0.0, atol=1e-6 * P.sum())
    total = n_positives**p * n_negatives / p
    assert total - bregman(P) == pytest.approx(raw(ranker.coef_) / p, rel=1e-8)
    # any other P that is orthogonal to M is farther from q_0, and so a lower bound
    rng = np.random.default_rng(1)
    rows = np.vstack([M.reshape(-1, 3).T])
    for _ in range(20):
        change = rng.normal(size=P.size) * P.ravel()
        change -= np.linalg.pinv(rows) @ (rows @ change)
        step = 0.5 / np.abs(change / P.ravel()).max()
        assert bregman(P + step * change.reshape(P.shape)) >= bregman(P) - 1e-9 * total


def test_errors_of_heights_reverse_heights_and_ranks_are_sums_over_rows():
    """Rudin (2009), sections 2 and 7, with the ties of the paper: a tied row counts as above."""
    rng = np.random.default_rng(0)
    for _ in range(30):
        y = np.r_[True, False, rng.random(14) < 0.4]
        f = rng.integers(0, 6, 16).astype(float)
        heights = [(f[y] <= t).sum() for t in f[~y]]
        reverse = [(s <= f[~y]).sum() for s in f[y]]
        ranks = [(s <= f[~y]).sum() + (s <= f[y]).sum() for s in f[y]]
        for g in (np.square, np.log1p, np.expm1, lambda z: -1.0 / (1.0 + z)):
            of = lambda counts, g=g: g(np.array(counts, dtype=float)).sum()  # noqa: E731
            assert metrics.rg_error(y, f, g) == pytest.approx(of(heights))
            assert metrics.rg_error(~y, -f, g) == pytest.approx(of(reverse))
            assert metrics.rank_error(y, f, g, ties="max") == pytest.approx(of(ranks))
        gain = metrics.rank_error(y, f, lambda rank: -1 / np.log1p(rank), ties="max")
        printed = metrics.discounted_cumulative_gain(y, f, log_base=np.e, ties="max")
        assert gain == pytest.approx(-printed)


@pytest.mark.parametrize("discount", ["reverse_height", "rank"])
def test_the_ir_push_without_a_penalty_is_the_minimum_of_its_sum(discount):
    X, y = overlapping()
    others = X if discount == "rank" else X[y == 0]

    def objective(w):
        return np.log1p(np.exp(others @ w - (X[y == 1] @ w)[:, None]).sum(axis=1)).mean()

    best = minimize(objective, np.zeros(3), options={"gtol": 1e-9})
    ranker = pushrank.IRPush(discount=discount, alpha=0.0, tol=1e-8).fit(X, y)
    np.testing.assert_allclose(ranker.coef_, best.x, atol=1e-5)
    assert ranker.dual_objective_ == pytest.approx(best.fun, rel=1e-9)


def test_adaboost_by_its_rounds():
    """Rudin et al. (2005), section 5: weights of rows, the steepest of h in {-1, +1} and a constant."""
    rng = np.random.default_rng(3)
    H = (rng.random((50, 4)) < 0.5).astype(float)
    y = (H.sum(axis=1) + rng.normal(size=50) > 2.2).astype(int)
    signs = np.where(y == 1, 1.0, -1.0)
    h = np.c_[np.ones(50), 2 * H - 1]
    scores, losses = np.zeros(50), [50.0]
    for _ in range(25):
        d = np.exp(-signs * scores)
        d /= d.sum()
        edges = (d * signs) @ h
        j = int(np.argmax(np.abs(edges) >= np.abs(edges).max() - 1e-9))
        scores += 0.5 * np.log((1 + edges[j]) / (1 - edges[j])) * h[:, j]
        losses.append(np.exp(-signs * scores).sum())
    ranker = pushrank.AdaBoostRanker(weak_rankers="columns", n_estimators=25).fit(H, y)
    np.testing.assert_allclose(ranker.objective_path_, np.log(losses), rtol=1e-12)
    skew = np.exp(-scores[y == 1]).sum() - np.exp(scores[y == 0]).sum()
    assert ranker.f_skew_path_[-1] == pytest.approx(skew, abs=1e-9)
    least = pushrank.RankBoost(weak_rankers="columns", n_estimators=3000, tol=1e-12).fit(H, y)
    every = pushrank.AdaBoostRanker(weak_rankers="columns", n_estimators=3000, tol=1e-12).fit(H, y)
    assert 2 * np.exp(least.objective_path_[-1] / 2) == pytest.approx(np.exp(every.objective_path_[-1]))
