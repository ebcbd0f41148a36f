"""Who asks an estimator for ``coef_`` finds the coefficients of its scores, or no such attribute."""

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.feature_selection import RFE, SelectFromModel

import pushrank
from pushrank import estimators

RNG = np.random.default_rng(3)
Y = RNG.permutation(np.repeat([0, 0, 1], 40))
X = RNG.normal(size=(120, 4)) + np.array([1.0, 0.5, 0.0, 0.0]) * Y[:, None]

COLUMNS = [
    maker(weak_rankers="columns", n_estimators=4)
    for maker in (pushrank.PushBoost, pushrank.RankBoost, pushrank.AdaBoostRanker)
] + [pushrank.SmoothMarginRanking("warn", weak_rankers="columns", n_estimators=4)]
KERNELS = [
    pushrank.RankSVM(kernel="rbf"),
    pushrank.InfinitePush(C=100.0, kernel="poly"),
    pushrank.RankSVM(kernel="precomputed"),
]
STUMPS = [
    pushrank.PushBoost(n_estimators=4),
    pushrank.RankBoost(n_estimators=4),
    pushrank.AdaBoostRanker(n_estimators=4),
]
BY_NAME = {
    **{name: {"cv": 2} for name in ("PNormPushCV", "TopRankerCV")},
    "InfinitePush": {"C": 100.0},
    "SVMMAP": {"C": 100.0},
}
DEFAULTS = [
    getattr(estimators, name)(**BY_NAME.get(name, {}))
    for name in estimators.__all__
    if name not in ("PushBoostCV", "SmoothMarginRanking", "StackingRanker")
]


def name(ranker):
    return str(type(ranker).__name__)


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("ranker", DEFAULTS + COLUMNS, ids=name)
def test_linear_scores_are_those_of_the_coefficients_and_the_intercept(ranker):
    fitted = clone(ranker).fit(X, Y)
    if not hasattr(fitted, "coef_"):
        assert not hasattr(fitted, "intercept_")
        assert ranker in STUMPS or isinstance(
            ranker, pushrank.PushBoost | pushrank.RankBoost | pushrank.AdaBoostRanker
        )
        return
    scores = fitted.decision_function(X)
    expected = X @ fitted.coef_ + fitted.intercept_
    np.testing.assert_allclose(scores, expected, rtol=1e-9, atol=1e-9 * np.abs(scores).max())
    assert not hasattr(clone(ranker), "intercept_")


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("ranker", STUMPS + KERNELS, ids=name)
def test_other_scores_have_neither_also_after_linear_ones(ranker):
    rows = X @ X.T if ranker.get_params().get("kernel") == "precomputed" else X
    fitted = clone(ranker)
    linear = {"kernel": "linear"} if ranker in KERNELS else {"weak_rankers": "columns"}
    if linear.keys() <= ranker.get_params().keys():
        fitted.set_params(**linear).fit(X, Y)
        assert hasattr(fitted, "coef_")
        fitted.set_params(**{key: ranker.get_params()[key] for key in linear})
    fitted.fit(rows, Y)
    assert not hasattr(fitted, "coef_")
    assert not hasattr(fitted, "intercept_")
    assert np.isfinite(fitted.decision_function(rows)).all()


@pytest.mark.parametrize("ranker", STUMPS, ids=name)
def test_boosters_choose_features_by_their_importances(ranker):
    kept = RFE(ranker, n_features_to_select=2).fit(X, Y).support_
    assert kept[0]
    assert kept.sum() == 2
    assert SelectFromModel(ranker).fit(X, Y).get_support()[0]
