"""Regressors and classifiers of scikit-learn as weak rankers."""

import pickle

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.linear_model import Ridge
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeRegressor

from pushrank import AdaBoostRanker, PushBoost, RankBoost
from pushrank.persistence import load, save
from pushrank.weak_rankers import Classifiers, Columns, Functions, LightGBM, Regressors, Stumps, resolve
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


def test_a_tree_of_lightgbm_has_the_newton_step_of_the_rows_in_each_leaf():
    X, _ = interaction(400)
    rng = np.random.default_rng(1)
    targets, weights = rng.normal(size=400), rng.random(400)
    learner = LightGBM(num_leaves=4).fit(X)
    number = learner.training_outputs(X).fit_next(targets, weights, None, np.random.RandomState(0))
    tree = learner.regressors_[number]
    leaves, output = tree.predict(X, pred_leaf=True).ravel(), tree.predict(X)
    assert len(np.unique(leaves)) == 4
    for leaf in np.unique(leaves):
        rows = leaves == leaf
        newton = np.average(targets[rows], weights=weights[rows])
        np.testing.assert_allclose(output[rows], newton, rtol=1e-5)


def test_trees_of_lightgbm_find_interactions_as_trees_of_scikit_learn_do():
    X, y = interaction()
    scores = {}
    for name, trees in {"ours": DecisionTreeRegressor(max_leaf_nodes=8), "lightgbm": LightGBM(8)}.items():
        ranker = PushBoost(4, weak_rankers=trees, n_estimators=30, learning_rate=0.3).fit(X[:2000], y[:2000])
        scores[name] = ranker.score(X[2000:], y[2000:])
    # A linear score cannot tell which products are large: it ranks like chance.
    assert min(scores.values()) > 0.7
    assert abs(scores["ours"] - scores["lightgbm"]) < 0.03
    # Columns with the interaction have the gains.
    assert np.argsort(ranker.feature_importances_)[-2:].tolist() in ([0, 1], [1, 0])


def test_trees_of_lightgbm_are_kept_whole_by_pickle_files_and_more_rounds(tmp_path):
    X, y = interaction(600)
    X[::7, 1] = np.nan
    whole = PushBoost(weak_rankers="lightgbm", n_estimators=8).fit(X, y)
    scores = whole.decision_function(X)
    save(whole, tmp_path / "model.pushrank")
    in_two = PushBoost(weak_rankers="lightgbm", n_estimators=3, warm_start=True).fit(X, y)
    in_two.set_params(n_estimators=8).fit(X, y)
    pickled = pickle.loads(pickle.dumps(whole))  # noqa: S301
    for copy in (pickled, load(tmp_path / "model.pushrank"), in_two):
        np.testing.assert_array_equal(copy.decision_function(X), scores)


def test_trees_of_lightgbm_take_sparse_rows_and_refuse_a_draw_of_features():
    X, y = interaction(600)
    X[np.abs(X) < 0.5] = 0.0
    ranker = PushBoost(weak_rankers="lightgbm", n_estimators=5)
    dense = ranker.fit(X, y).decision_function(X)
    rows = sp.csr_array(X)
    np.testing.assert_allclose(ranker.fit(rows, y).decision_function(rows), dense, rtol=1e-12)
    with pytest.raises(ValueError, match=r"max_features must be 1\.0"):
        ranker.set_params(max_features=0.5).fit(X, y)
    with pytest.raises(ValueError, match="num_leaves"):
        ranker.set_params(weak_rankers=LightGBM(num_leaves=1), max_features=1.0).fit(X, y)


def test_without_a_split_no_tree_is_added_and_scores_are_equal():
    X, y = np.ones((40, 2)), np.arange(40) % 2
    ranker = PushBoost(weak_rankers="lightgbm", n_estimators=5).fit(X, y)
    assert np.ptp(ranker.decision_function(X)) == 0.0
