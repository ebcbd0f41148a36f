"""CatBoost's log loss as a ranker."""

import doctest
import importlib

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone

from contract import check_contract
from pushrank import load, save

catboost = pytest.importorskip("catboost")
CATBOOST_MODULE = importlib.import_module("pushrank.interop.catboost")
RANKER = CATBOOST_MODULE.CatBoostRanker(n_estimators=20, n_jobs=1, random_state=0)

# CatBoost's learning rate and the borders of its bins count rows whatever they weigh.
COUNTS = [f"check_sample_weight_equivalence_on_{kind}_data" for kind in ("dense", "sparse")]


@pytest.fixture(scope="module")
def rows():
    """Numbers with gaps beside the codes of a category, of which some are missing, and weights."""
    rng = np.random.default_rng(0)
    X = np.column_stack([rng.normal(size=(300, 2)), rng.integers(0, 4, 300)])
    y = (X[:, 0] + np.isin(X[:, 2], [1, 3]) + rng.normal(size=300) > 1.0).astype(int)
    X[::7, 0] = X[::11, 2] = np.nan
    return X, y, rng.integers(0, 3, 300).astype(float)


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.SkipTestWarning")
@pytest.mark.filterwarnings("ignore:.* the later of two texts:UserWarning")
def test_contract():
    check_contract(clone(RANKER).set_params(n_estimators=5), COUNTS)


def test_the_docstrings_examples_run():
    found = doctest.testmod(CATBOOST_MODULE)
    assert found == doctest.TestResults(failed=0, attempted=2)


def test_scores_are_catboosts_own_and_those_of_the_file(rows, tmp_path):
    X, y, weights = rows
    fitted = clone(RANKER).set_params(cat_features=[2], depth=3).fit(X, y, weights)
    seed = np.random.RandomState(0).randint(np.iinfo(np.int32).max)
    own = catboost.CatBoostClassifier(
        n_estimators=20, depth=3, thread_count=1, random_seed=seed, verbose=False, allow_writing_files=False
    )
    kept, frame = weights > 0, pd.DataFrame(X).fillna({2: -1}).astype({2: int})
    own.fit(frame[kept], y[kept], cat_features=[2], sample_weight=weights[kept])
    expected = own.predict(frame, prediction_type="RawFormulaVal") - fitted.threshold_
    save(fitted, tmp_path / "m.skops")
    for model in (fitted, load(tmp_path / "m.skops")):
        np.testing.assert_array_equal(model.decision_function(X), expected)
        np.testing.assert_allclose(model.explain(X).sum(axis=1), expected, atol=1e-12)
        np.testing.assert_array_equal([*model.staged_decision_function(X)][-1], expected)
        assert model.feature_importances_.sum() == pytest.approx(1.0)
    named = pd.DataFrame(X, columns=["a", "a[", "kind"]).astype({"kind": "category"})
    found = clone(RANKER).set_params(depth=3).fit(named, y, weights)
    np.testing.assert_array_equal(found.decision_function(named), expected)


@pytest.mark.parametrize(
    ("params", "why"),
    [
        ({"objective": "RMSE"}, "objective='RMSE' cannot be taken: CatBoostRanker sets it itself"),
        ({"dept": 3}, "CatBoost refuses the fit: .*dept"),
        ({"cat_features": [0]}, "cat_features names column 0, which holds other than whole numbers"),
        ({"ignored_features": [0, 1, 2]}, "no split of the .* training rows meets the limits of a leaf"),
        ({"cat_features": [7]}, "cat_features must be positions of columns, got 7"),
        ({"random_seed": 3}, "random_seed=3 cannot be taken: CatBoostRanker sets it itself"),
    ],
)
def test_what_catboost_does_not_take_is_refused(rows, params, why):
    with pytest.raises(ValueError, match=why):
        clone(RANKER).set_params(**params).fit(*rows)
