"""What a later, a failed or a simultaneous call leaves of a fitted ranker."""

from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from sklearn.base import clone

from pushrank import InfinitePush, PNormPush, PushBoost, RampAtK, RankBoost, RankSVM
from pushrank.estimators._rows import TrainingRows
from pushrank.estimators._target import Target
from samples import PUSH_RANKERS, overlapping

pytestmark = pytest.mark.fast

X, Y = overlapping()


def interrupt(*_):
    raise KeyboardInterrupt


@pytest.mark.parametrize(
    "ranker",
    [*(ranker() for ranker in PUSH_RANKERS), PNormPush(solver="coordinate"), PushBoost(n_estimators=9)]
    + [RankBoost(n_estimators=9, weak_rankers=kind) for kind in ("stumps", "columns", "regressors")],
    ids=str,
)
def test_a_warm_start_is_held_to_the_features_of_the_last_fit(ranker):
    ranker = clone(ranker).set_params(warm_start=True)
    with pytest.raises(ValueError, match="classes"):
        ranker.fit(X[:, :2], np.zeros(len(Y)))
    expected = ranker.fit(X, Y).decision_function(X)
    for features in (X[:, :2], np.column_stack([X, X])):
        with pytest.raises(ValueError, match=rf"X has {features.shape[1]} features.*is expecting 4 features"):
            ranker.fit(features, Y)
    np.testing.assert_array_equal(ranker.decision_function(X), expected)
    ranker.set_params(warm_start=False).fit(X[:, :2], Y)
    assert ranker.decision_function(X[:, :2]).shape == Y.shape


@pytest.mark.filterwarnings("ignore:InfinitePush collapsed")
@pytest.mark.parametrize("ranker", [PNormPush(), RankSVM(), InfinitePush(), RampAtK()], ids=str)
def test_a_later_fit_interrupted_near_its_end_leaves_the_earlier_one_whole(monkeypatch, ranker):
    expected = ranker.fit(X, Y).predict(X)
    for part in (Target, TrainingRows):
        monkeypatch.setattr(part, "thresholds", interrupt)
    with pytest.raises(KeyboardInterrupt):
        ranker.fit(X + np.arange(4), 1 - Y)
    np.testing.assert_array_equal(ranker.predict(X), expected)


def test_threads_score_by_one_fitted_ranker():
    rankers = [PNormPush().fit(X, Y), PushBoost(n_estimators=5).fit(X, Y), RankSVM(kernel="rbf").fit(X, Y)]
    for ranker in rankers:
        expected = ranker.decision_function(X)
        with ThreadPoolExecutor(8) as pool:
            found = list(pool.map(ranker.decision_function, [X] * 32))
        for scores in found:
            np.testing.assert_array_equal(scores, expected)
