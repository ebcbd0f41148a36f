"""Grades of relevance are numbers, of whatever kind, of which only the order counts."""

import numpy as np
import pytest
import scipy.sparse as sp

from combinations import each_and_some
from pushrank import IRPush, PNormPush, PNormPushCV, PushBoost, PushRanker, RankSVM, TopRankerCV
from pushrank.interop.lightgbm import PushLGBMRanker
from pushrank.interop.xgboost import PushXGBRanker

RNG = np.random.default_rng(0)
GRADES = RNG.integers(0, 3, 90)
X = RNG.normal(size=(90, 3)) + 0.8 * GRADES[:, None]

GRADED = [
    PNormPush(p=2.0),
    PushRanker("logistic"),
    RankSVM(),
    PushBoost(n_estimators=5),
    PushLGBMRanker(n_estimators=3, min_child_samples=5, n_jobs=1),
    PushXGBRanker(n_estimators=3, n_jobs=1),
]
TWO_CLASSES = [*GRADED, IRPush(), PNormPushCV(cv=3), TopRankerCV(cv=3, random_state=0)]


def name(ranker):
    return type(ranker).__name__


@pytest.mark.parametrize("stars", [[0.0, 1.5, 3.0], [-0.5, 0.5, 1e30]])
@pytest.mark.parametrize("ranker", GRADED, ids=name)
def test_grades_may_have_fractions(ranker, stars):
    expected = ranker.fit(X, GRADES).decision_function(X)
    np.testing.assert_array_equal(ranker.fit(X, np.array(stars)[GRADES]).decision_function(X), expected)
    assert ranker.classes_.tolist() == stars
    assert set(ranker.predict(X)) <= set(stars)


@pytest.mark.parametrize(
    ("ranker", "labels"),
    each_and_some(TWO_CLASSES, [[0.0, 2.5], [0.0, 1e308], [-0.25, 0.25]], n_random=2),
    ids=lambda value: name(value) if value in TWO_CLASSES else str(value),
)
def test_two_classes_may_be_any_two_numbers(ranker, labels):
    y = (GRADES == 2).astype(int)
    expected = ranker.fit(X, y).decision_function(X)
    np.testing.assert_array_equal(ranker.fit(X, np.array(labels)[y]).decision_function(X), expected)
    assert set(ranker.predict(X)) == set(labels)


@pytest.mark.parametrize("ranker", TWO_CLASSES, ids=name)
def test_targets_of_regressions_are_refused(ranker):
    with pytest.raises(
        ValueError, match=r"Unknown label type: continuous.*90 different numbers with fractions in 90"
    ):
        ranker.fit(sp.csr_matrix(X), X[:, 0])
