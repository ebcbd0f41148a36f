"""What a later, a failed or a simultaneous call leaves of a fitted ranker."""

import sys
from concurrent.futures import ThreadPoolExecutor
from copy import deepcopy

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone

import pushrank
from pushrank.estimators._rows import TrainingRows
from pushrank.estimators._target import Target
from pushrank.exceptions import LIBRARY
from samples import PUSH_RANKERS, overlapping

pytestmark = pytest.mark.fast

X, Y = overlapping()


def interrupt(*_):
    raise KeyboardInterrupt


@pytest.mark.parametrize(
    "ranker",
    [*(ranker() for ranker in PUSH_RANKERS), pushrank.PNormPush(solver="coordinate")]
    + [pushrank.PushBoost(n_estimators=9)]
    + [pushrank.RankBoost(n_estimators=9, weak_rankers=kind) for kind in ("stumps", "columns", "regressors")],
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
@pytest.mark.parametrize("name", ["PNormPush", "RankSVM", "InfinitePush", "RampAtK"])
def test_a_later_fit_interrupted_near_its_end_leaves_the_earlier_one_whole(monkeypatch, name):
    ranker = getattr(pushrank, name)().fit(X, Y)
    expected = ranker.predict(X)
    for part in (Target, TrainingRows):
        monkeypatch.setattr(part, "thresholds", interrupt)
    with pytest.raises(KeyboardInterrupt):
        ranker.fit(X + np.arange(4), 1 - Y)
    np.testing.assert_array_equal(ranker.predict(X), expected)


def test_threads_score_by_one_fitted_ranker():
    for ranker in (pushrank.PNormPush(), pushrank.PushBoost(n_estimators=5), pushrank.RankSVM(kernel="rbf")):
        expected = ranker.fit(X, Y).decision_function(X)
        with ThreadPoolExecutor(8) as pool:
            found = list(pool.map(ranker.decision_function, [X] * 32))
        for scores in found:
            np.testing.assert_array_equal(scores, expected)


def interrupt_at_call(number, work):
    """Return how many functions of ours ``work`` calls; raise KeyboardInterrupt at the one of a number."""
    calls = 0

    def count(frame, event, _argument):
        nonlocal calls
        calls += event == "call" and frame.f_code.co_filename.startswith(LIBRARY)
        if calls == number and event == "call":
            sys.setprofile(None)
            raise KeyboardInterrupt

    sys.setprofile(count)
    try:
        work()
    finally:
        sys.setprofile(None)
    return calls


RANKERS = [
    pushrank.PNormPush(), pushrank.IRPush(), pushrank.PushRanker(), pushrank.TrimmedPush(),
    pushrank.RankSVM(), pushrank.InfinitePush(), pushrank.StructSVM(), pushrank.SVMMAP(),
    pushrank.RampAtK(), pushrank.PushBoost(n_estimators=9),
    pushrank.SmoothMarginRanking( n_estimators=9, not_separable="warn"),
    pushrank.AdaBoostRanker(n_estimators=9), pushrank.SGDAtK(), pushrank.PerceptronAtK(),
    pushrank.PNormPushCV(cv=2), pushrank.PushBoostCV(n_estimators=[2, 5], cv=2), pushrank.TopRankerCV(cv=2),
    pushrank.StackingRanker([("push", pushrank.PNormPush()), ("svm", pushrank.RankSVM())], cv=2),
]  # fmt: skip


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("ranker", RANKERS, ids=lambda ranker: type(ranker).__name__)
def test_a_fit_that_does_not_end_leaves_the_last_one(ranker):
    table = pd.DataFrame(X, columns=["a", "b", "c", "d"])
    other = table[["c", "a"]].assign(new=1.0, b=table["b"], d=table["d"])
    if "random_state" in ranker.get_params():
        ranker.set_params(random_state=0)
    expected = ranker.fit(table, Y).decision_function(table)
    again = deepcopy(ranker)
    n_calls = interrupt_at_call(-1, lambda: again.fit(other, Y))
    for share in (0.3, 0.6, 0.9):
        with pytest.raises(KeyboardInterrupt):
            interrupt_at_call(int(share * n_calls), lambda: ranker.fit(other, Y))
        np.testing.assert_array_equal(ranker.decision_function(table), expected)
    flag = next(name for name, value in ranker.get_params().items() if isinstance(value, bool))
    refused = clone(ranker).set_params(**{flag: "no"})
    with pytest.raises(TypeError, match=f"{flag} must be True or False, got 'no'"):
        refused.fit(table, Y)
    with pytest.raises(TypeError, match=f"{flag} must be True or False, got None"):
        refused.set_params(**{flag: None}).fit(table, Y)
