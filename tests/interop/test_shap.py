"""SHAP's own explainers on rankers: what they say is what explain says."""

import numpy as np
import pytest
from lightgbm import LGBMClassifier
from xgboost import XGBClassifier

import pushrank
from pushrank.estimators.reasons import score_parts
from samples import overlapping

BACKGROUND = 80  # of more than a hundred rows SHAP draws some

OTHERS = pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::FutureWarning")
pytestmark = [pytest.mark.nightly, OTHERS]


@pytest.fixture(scope="module")
def rows():
    return overlapping(200)


@pytest.fixture(scope="module")
def shap():
    return pytest.importorskip("shap")


def test_linear_explainers_take_linear_rankers(shap, rows):
    X, y = rows
    for ranker in (pushrank.PNormPush(), pushrank.TopRankerCV(), pushrank.RankSVM()):
        ranker.fit(X, y)
        expected = ranker.explain(X, over=X[:BACKGROUND])
        explainers = {
            "linear": shap.LinearExplainer(ranker, X[:BACKGROUND]),
            "any": shap.Explainer(ranker.decision_function, X[:BACKGROUND]),
        }
        for name, explainer in explainers.items():
            found, close = explainer(X[:20]), {"atol": 1e-9, "err_msg": name}
            np.testing.assert_allclose(found.values, expected[:20, :-1], **close)
            np.testing.assert_allclose(found.base_values, expected[:20, -1], **close)


def test_explainers_of_any_function_agree_on_stumps(shap, rows):
    X, y = rows
    for ranker in (pushrank.PushBoost(), pushrank.AdaBoostRanker()):
        ranker.fit(X, y)
        found = shap.explainers.Exact(ranker.decision_function, shap.maskers.Independent(X[:BACKGROUND]))(
            X[:10]
        )
        expected = ranker.explain(X, over=X[:BACKGROUND])
        np.testing.assert_allclose(found.values, expected[:10, :-1], atol=1e-9)


@pytest.mark.filterwarnings("ignore:LightGBM binary classifier with TreeExplainer")
@pytest.mark.parametrize(
    ("model", "tolerance"),
    [(LGBMClassifier(n_estimators=10, verbosity=-1), 1e-9), (XGBClassifier(n_estimators=10), 1e-4)],
)
def test_tree_explainers_take_boosters(shap, rows, model, tolerance):
    X, y = rows
    model.fit(X, y)
    found = shap.TreeExplainer(model).shap_values(X)
    np.testing.assert_allclose(found, score_parts(model, X)[:, :-1], atol=tolerance)


def test_explainers_of_any_function_take_every_other_ranker(shap, rows):
    X, y = rows
    stack = pushrank.StackingRanker(final_estimator="mean", cv=3)
    kernel = pushrank.InfinitePush(C=10.0, kernel="rbf")
    for ranker in (stack, kernel, pushrank.PushBoost(weak_rankers="regressors", n_estimators=5)):
        ranker.fit(X, y)
        found = shap.Explainer(ranker.decision_function, X[:50])(X[:5])
        sums = found.values.sum(axis=1) + found.base_values
        np.testing.assert_allclose(sums, ranker.decision_function(X[:5]), rtol=1e-6)
