"""Units of float32 columns, and the scale of sample weights, change no ranker in silence."""

import warnings
from inspect import signature

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.base import BaseEstimator

import pushrank
from pushrank import metrics
from pushrank._base.numeric import in_dtype

RANKERS = {
    name: found
    for name in pushrank.__all__
    if isinstance(found := getattr(pushrank, name), type) and issubclass(found, BaseEstimator)
}
FEW_ROUNDS = {"n_estimators": 5, "n_iter": 2, "max_iter": 30, "cv": 2, "random_state": 0}


def rows(n=60):
    rng = np.random.default_rng(0)
    y = np.arange(n) % 3 == 0
    return rng.normal(size=(n, 3)) + 2.0 * y[:, None] * [1.0, 0.5, 0.0], y


def scores_of(name, X, y, **by_row):
    """Return the scores of a fit of few rounds, and whether it warned of weights."""
    ranker = RANKERS[name]()
    # Of searches the number of rounds is a list to choose from.
    asked = FEW_ROUNDS if not name.endswith("CV") else {"cv": 2, "random_state": 0}
    params = {key: value for key, value in asked.items() if key in ranker.get_params(deep=False)}
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        scores = ranker.set_params(**params).fit(X, y, **by_row).decision_function(X)
    return scores, any("mean of sample_weight" in str(of.message) for of in caught)


@pytest.mark.parametrize("unit", [1e-38, 1e-25, 1e30])
@pytest.mark.parametrize("layout", [np.asarray, sp.csr_matrix])
@pytest.mark.parametrize("name", sorted(RANKERS.keys() - {"SmoothMarginRanking"}))
def test_columns_of_tiny_and_huge_units_are_ranked_in_float32_as_in_float64(name, layout, unit):
    X, y = rows()
    single = (X * unit * [1.0, 1.0, 1.0 / unit]).astype(np.float32)
    found, expected = (
        metrics.auc(y, scores_of(name, layout(values), y)[0])
        for values in (single, single.astype(np.float64))
    )
    assert found == pytest.approx(expected, abs=0.02)
    if name in ("PNormPush", "IRPush", "RankSVM"):
        scores, _ = scores_of(name, layout((X * 1e-25).astype(np.float32)), y)
        assert metrics.auc(y, scores) > 0.9


def test_numbers_keep_their_type_where_it_has_them():
    for values, kind in (([0.0, 1.0], np.float32), ([1e-50, 1.0], np.float64), ([1e39], np.float64)):
        found = in_dtype(np.array(values), np.float32)
        assert found.dtype == kind
        np.testing.assert_array_equal(found, values)


@pytest.mark.parametrize("scale", [2.0**-10, 2.0**100, 1e-300])
@pytest.mark.parametrize("name", sorted(RANKERS.keys() - {"SVMMAP", "SmoothMarginRanking"}))
def test_the_scale_of_weights_changes_no_ranker_or_warns(name, scale):
    if "sample_weight" not in signature(RANKERS[name].fit).parameters:
        return
    X, y = rows()
    weights = np.random.default_rng(1).uniform(0.5, 2.0, len(y))
    expected, warned = scores_of(name, X, y, sample_weight=weights)
    found, warned_of_scale = scores_of(name, X, y, sample_weight=scale * weights)
    assert not warned
    # Scores may all be equal, where zero coefficients are the best.
    same = np.array_equal(found, expected)
    assert warned_of_scale or same or np.corrcoef(found, expected)[0, 1] > 1.0 - 1e-5
