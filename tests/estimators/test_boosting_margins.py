"""Margins and skews that boosting reaches: theorems of Rudin, Cortes, Mohri and Schapire (2005), measured."""

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning

from combinations import by_day
from pushrank import AdaBoostRanker, PushObjective, RankBoost, SmoothMarginRanking, metrics
from pushrank.prices import Power
from pushrank.solvers import SOLVERS
from pushrank.theory import max_margin
from samples import overlapping_votes, problem_of, separable_votes


@pytest.mark.parametrize("seed", by_day(range(3), 1))
def test_the_smooth_margin_rises_to_the_largest_margin(seed):
    H, y = separable_votes(seed)
    rho = max_margin(H, y)
    smooth = SmoothMarginRanking(weak_rankers="columns", n_estimators=1_000).fit(H, y)
    boosted = RankBoost(weak_rankers="columns", n_estimators=1_000).fit(H, y)
    path = smooth.smooth_margin_path_
    first = int(np.argmax(path > 0))
    assert len(path) == 1_001
    # the last digits of a logarithm of a sum over its norm
    assert np.diff(path[first:]).min() > -1e-14
    assert path[-1] < smooth.margin_ <= rho.value + 1e-12
    assert boosted.margin_ <= rho.value + 1e-12
    print(
        f"problem {seed}: rho {rho.value:.6f}; after 1,000 rounds smooth margin {path[-1]:.6f}, "
        f"margin {smooth.margin_:.6f}, rho - margin {rho.value - smooth.margin_:.1e}; RankBoost's margin "
        f"{boosted.margin_:.6f}"
    )
    assert rho.value - smooth.margin_ < 1e-2


# Rudin, Daubechies and Schapire, The dynamics of AdaBoost, JMLR 5 (2004): AdaBoost's margin stays at 1/3
SIGNS = "-++++--+ -++--+++ +-+++-++ +-++-+++ +-+-+++- ++-++++- ++-+++-+ ++++--+-"
CYCLING = np.array([[1 if sign == "+" else -1 for sign in row] for row in SIGNS.split()])


def test_rankboost_can_stay_below_a_margin_that_smooth_margin_ranking_reaches():
    """Each row of the matrix is a pair of rows that differ in all weak rankers."""
    better = (CYCLING + 1) / 2
    H = np.vstack([better, 1 - better])
    pairs = (np.arange(8), np.arange(8, 16))
    rho = max_margin(H, pairs=pairs)
    assert rho.value == pytest.approx(3 / 8)
    options = {"weak_rankers": "columns", "n_estimators": 2_000}
    boosted = RankBoost(**options).fit(H, pairs=pairs)
    smooth = SmoothMarginRanking(**options).fit(H, pairs=pairs)
    assert boosted.margin_ == pytest.approx(1 / 3, abs=1e-3)
    assert rho.value - smooth.margin_ < 1e-2
    print(f"rho {rho.value:.6f}, smooth margin ranking {smooth.margin_:.6f}, RankBoost {boosted.margin_:.6f}")


def test_the_smooth_margin_of_stumps_and_real_columns_rises_too():
    rng = np.random.default_rng(3)
    X = rng.normal(size=(80, 5))
    y = (X @ [1, -1, 0.5, 0, 0] > 0.3).astype(int)
    X[y == 1, 0] += 0.5
    for kind in ("stumps", "columns"):
        ranker = SmoothMarginRanking(weak_rankers=kind, n_estimators=1000).fit(X, y)
        path = ranker.smooth_margin_path_
        assert np.diff(path[int(np.argmax(path > 0)) :]).min() > -1e-12
        rho = max_margin(ranker.weak_rankers_.value_matrix(X), y).value
        assert path[-1] <= ranker.margin_ <= rho + 1e-12
        assert rho - ranker.margin_ < 0.02


def test_sample_weights_below_one_keep_the_smooth_margin_below_the_margin():
    H, y = separable_votes(1)
    weights = np.random.default_rng(0).random(len(y)) + 0.01
    ranker = SmoothMarginRanking(weak_rankers="columns", n_estimators=500).fit(H, y, sample_weight=weights)
    assert 0 < ranker.smooth_margin_path_[-1] <= ranker.margin_


def test_data_that_are_not_separable_are_an_error_or_a_warning():
    H, y = overlapping_votes()
    with pytest.raises(ValueError, match="smooth margin is not positive"):
        SmoothMarginRanking(weak_rankers="columns", n_estimators=300).fit(H, y)
    with pytest.warns(ConvergenceWarning, match="RankBoost's answer"):
        ranker = SmoothMarginRanking("warn", weak_rankers="columns", n_estimators=300).fit(H, y)
    boosted = RankBoost(weak_rankers="columns", n_estimators=300).fit(H, y)
    np.testing.assert_array_equal(ranker.coef_, boosted.coef_)


class TestAdaBoost:
    """AdaBoost with a constant among its weak rankers is as good a ranker as RankBoost."""

    @pytest.mark.parametrize("seed", by_day(range(3), 2))
    def test_the_constant_makes_the_skew_vanish_and_the_rank_loss_least(self, seed):
        H, y = overlapping_votes(seed)
        ada = AdaBoostRanker(weak_rankers="columns", n_estimators=5000).fit(H, y)
        boosted = RankBoost(weak_rankers="columns", n_estimators=5000).fit(H, y)
        least = np.exp(boosted.objective_path_[-1])
        assert boosted.converged_
        assert ada.rank_loss_path_[-1] == pytest.approx(least, rel=1e-6)
        assert ada.rank_loss_path_[-1] >= least * (1 - 1e-9)
        total = np.exp(ada.objective_path_[-1])
        assert abs(ada.f_skew_path_[-1]) < 1e-6 * total
        assert abs(ada.f_skew_path_[0]) > 10
        by_ada, by_boost = (metrics.auc(y, ranker.decision_function(H)) for ranker in (ada, boosted))
        assert by_ada == pytest.approx(by_boost, abs=1e-12)
        print(
            f"seed {seed}: rank loss {ada.rank_loss_path_[-1]:.9g} against RankBoost's {least:.9g}, F-skew "
            f"{ada.f_skew_path_[0]:.3g} -> {ada.f_skew_path_[-1]:.1e}, AUC {by_ada:.6f} and {by_boost:.6f}"
        )

    def test_without_the_constant_the_skew_stays(self):
        H, y = overlapping_votes(0)
        ada = AdaBoostRanker(constant_ranker=False, weak_rankers="columns", n_estimators=5000).fit(H, y)
        assert ada.converged_
        assert abs(ada.f_skew_path_[-1]) > 0.01 * np.exp(ada.objective_path_[-1])

    def test_the_paths_are_those_of_the_scores(self):
        H, y = overlapping_votes(1)
        ada = AdaBoostRanker(weak_rankers="columns", n_estimators=7).fit(H, y)
        f = H @ ada.coef_
        positives, negatives = np.exp(-f[y == 1]).sum(), np.exp(f[y == 0]).sum()
        # a constant in the scores moves F+ and F- apart but leaves their product
        assert ada.rank_loss_path_[-1] == pytest.approx(positives * negatives)

    @pytest.mark.parametrize("kind", ["stumps", "regressors"])
    def test_any_weak_rankers(self, kind):
        H, y = overlapping_votes(2)
        ada = AdaBoostRanker(weak_rankers=kind, n_estimators=30, random_state=0).fit(H, y)
        f = ada.decision_function(H) + ada.threshold_
        losses = np.exp(-f[y == 1]).sum(), np.exp(f[y == 0]).sum()
        assert ada.f_skew_path_[-1] == pytest.approx(losses[0] - losses[1], abs=1e-9)
        assert ada.objective_path_[-1] == pytest.approx(np.log(sum(losses)))


@pytest.mark.parametrize("p", [1.0, 2.0, 8.0])
def test_the_optimum_gives_the_pairs_unique_weights(p):
    """Theorem 4: whatever the solver and the start, q' = exp(-M lambda) is the same on data that overlap."""
    H, y = overlapping_votes(4, n=60, n_rankers=5)
    H = np.column_stack([H, H[:, 0]])  # the coefficients themselves are not unique
    objective = PushObjective(price=Power(p), scale="log")
    problem = problem_of(H, y, objective, 0.0)
    found = []
    for solver, solve in SOLVERS.items():
        for seed in range(3):
            start = np.random.default_rng(seed).normal(size=6)
            result = solve(problem, start, 1e-10, 20_000)
            f = H @ result.coef
            found.append((solver, np.exp(-np.subtract.outer(f[y == 1], f[y == 0]))))
    for solver, q in found[1:]:
        np.testing.assert_allclose(q, found[0][1], rtol=1e-6, err_msg=solver)
