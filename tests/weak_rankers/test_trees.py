"""Regressors and classifiers of scikit-learn as weak rankers."""

import numpy as np
import pytest
from sklearn.linear_model import Ridge
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeRegressor

from pushrank import AdaBoostRanker, RankBoost
from pushrank.weak_rankers import Classifiers, Columns, Functions, Regressors, Stumps, resolve
from weak_rankers_oracle import rows_of_all_kinds

pytestmark = pytest.mark.fast


def test_names_and_objects_stand_for_families():
    assert isinstance(resolve("columns"), Columns)
    assert type(resolve(DecisionTreeRegressor())) is Regressors
    assert isinstance(resolve(make_pipeline(GaussianNB())), Classifiers)
    assert isinstance(resolve([np.ravel]), Functions)
    learner = Stumps(max_bins=7)
    assert resolve(learner) is learner
    with pytest.raises(ValueError, match="weak_rankers='trees' is not known"):
        resolve("trees")
    with pytest.raises(TypeError, match="weak_rankers must be"):
        resolve(3)
    with pytest.raises(TypeError, match=r"must be a classifier, .* whose fit accepts sample_weight"):
        Classifiers(KNeighborsClassifier()).fit(np.eye(2))
    with pytest.raises(TypeError, match=r"must be a regressor, .* accepts sample_weight"):
        Regressors(sklearn_regressor_without_weights()).fit(np.eye(2))


def test_a_pipeline_is_what_its_last_step_is():
    with pytest.raises(TypeError, match="a pipeline that ends in one, whose fit accepts sample_weight"):
        Regressors(make_pipeline(StandardScaler(), sklearn_regressor_without_weights())).fit(np.eye(2))
    rng = np.random.default_rng(0)
    X, targets, weights = rng.normal(size=(50, 3)), rng.choice([-1.0, 1.0], 50), rng.random(50)
    tree = DecisionTreeRegressor(max_depth=3, splitter="random")
    values = []
    for base in (tree, make_pipeline(tree), make_pipeline(make_pipeline(tree))):
        learner = Regressors(base).fit(X)
        values.append(learner.fit_next(X, targets, weights, None, np.random.RandomState(5)))
    np.testing.assert_array_equal(values[1], values[0])
    np.testing.assert_array_equal(values[2], values[0])


def sklearn_regressor_without_weights():
    from sklearn.neighbors import KNeighborsRegressor

    return KNeighborsRegressor()


def test_regressors_have_values_between_zero_and_one():
    X, _ = rows_of_all_kinds(6, missing=False)
    learner = Regressors(Ridge()).fit(X)
    targets, weights = np.sign(X[:, 0]), np.ones(len(X))
    values = learner.fit_next(X, targets, weights, np.array([0, 1]), np.random.RandomState(0))
    np.testing.assert_array_equal(learner.values(X, 0), values)
    assert values.min() == 0.0
    assert values.max() == pytest.approx(1.0)
    assert np.corrcoef(values, targets)[0, 1] > 0.5
    with pytest.raises(AttributeError):
        learner.importances(np.array([0]), np.ones(1))


@pytest.mark.parametrize("ranker", [RankBoost, AdaBoostRanker])
def test_a_round_predicts_the_training_rows_once(ranker, monkeypatch):
    X, _ = rows_of_all_kinds(6, missing=False)
    predict, sizes = Ridge.predict, []

    def counted(self, rows):
        sizes.append(len(rows))
        return predict(self, rows)

    monkeypatch.setattr(Ridge, "predict", counted)
    ranker(weak_rankers=Ridge(), n_estimators=7).fit(X, X[:, 0] + X[:, 1] ** 2 > 1)
    assert sizes == [len(X)] * 7


def interaction(n=3000, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 5))
    return X, (X[:, 0] * X[:, 1] + 0.5 * rng.normal(size=n) > 1.0).astype(int)
