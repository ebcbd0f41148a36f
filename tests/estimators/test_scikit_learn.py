"""Rankers are scikit-learn estimators."""

from __future__ import annotations

import copy
import pickle

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.base import clone
from sklearn.calibration import CalibratedClassifierCV
from sklearn.datasets import load_breast_cancer
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler, scale
from sklearn.utils.estimator_checks import parametrize_with_checks

from pushrank import PNormPush, estimators, metrics
from pushrank.solvers import SOLVERS

RANKERS = [getattr(estimators, name) for name in estimators.__all__]


# the checks that an estimator may fail, with the reason for each: there are none
EXCEPTIONS: dict[str, str] = {}


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.SkipTestWarning")
@parametrize_with_checks(
    [ranker(solver=solver) for ranker in RANKERS for solver in SOLVERS],
    expected_failed_checks=lambda _: EXCEPTIONS,
)
def test_contract(estimator, check):
    check(estimator)


@pytest.fixture(scope="module")
def data():
    X, y = load_breast_cancer(return_X_y=True)
    return scale(X), y


@pytest.mark.parametrize("ranker", RANKERS)
def test_in_a_pipeline_and_a_grid(ranker, data):
    X, y = data
    pipeline = make_pipeline(StandardScaler(), ranker())
    name = ranker.__name__.lower()
    scores = cross_val_score(pipeline, X, y, scoring="average_precision", cv=3)
    assert scores.min() > 0.95
    top = cross_val_score(pipeline, X, y, scoring=metrics.scorers.positives_at_top, cv=3)
    assert top.min() >= 0
    grid = GridSearchCV(pipeline, {f"{name}__alpha": [0.01, 1.0]}, cv=2).fit(X, y)
    assert grid.best_score_ > 0.95


def test_calibration_pickle_copy_clone(data):
    X, y = data
    ranker = PNormPush(p=8).fit(X, y)
    for other in (pickle.loads(pickle.dumps(ranker)), copy.deepcopy(ranker)):  # noqa: S301
        np.testing.assert_array_equal(other.decision_function(X), ranker.decision_function(X))
    assert not hasattr(clone(ranker), "coef_")
    assert CalibratedClassifierCV(PNormPush(), cv=2).fit(X, y).predict_proba(X).shape == (len(y), 2)


@pytest.mark.parametrize("frame", [pd.DataFrame, pl.DataFrame], ids=["pandas", "polars"])
def test_frames(frame, data):
    X, y = data
    names = [f"column {j}" for j in range(X.shape[1])]
    table = frame({name: X[:, j] for j, name in enumerate(names)})
    ranker = PNormPush().fit(table, y)
    assert ranker.feature_names_in_.tolist() == names
    np.testing.assert_allclose(ranker.coef_, PNormPush().fit(X, y).coef_, rtol=1e-6, atol=1e-9)
    assert ranker.rank(table)[0] == ranker.rank(table)[:1][0]


@pytest.mark.parametrize("labels", [("neg", "pos"), (-1, 1), (False, True), (2.0, 7.0)])
def test_the_larger_label_is_positive(labels, data):
    X, y = data
    named = np.array(labels)[y]
    ranker = PNormPush().fit(X, named)
    assert ranker.classes_.tolist() == sorted(labels)
    assert (ranker.predict(X) == named).mean() > 0.95
    assert ranker.score(X, named) > 0.99


def test_fit_changes_no_parameter(data):
    X, y = data
    for ranker in RANKERS:
        estimator = ranker()
        before = copy.deepcopy(estimator.get_params())
        estimator.fit(X, y)
        assert estimator.get_params() == before
