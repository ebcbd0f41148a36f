"""Warnings point at the line of the user's code."""

import inspect

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning
from sklearn.pipeline import make_pipeline

import pushrank

Y = np.arange(200) >= 150
X = np.random.default_rng(0).normal(size=(200, 3)) + 0.7 * Y[:, None]

WARNING = [
    *(ranker(max_iter=1) for ranker in (pushrank.PNormPush, pushrank.IRPush, pushrank.PushRanker)),
    *(ranker(max_iter=1, solver="coordinate") for ranker in (pushrank.PNormPush, pushrank.IRPush)),
    *(ranker(max_iter=1) for ranker in (pushrank.PNormPushCV,)),
    pushrank.PushRanker("hinge", "maximum", alpha=10.0),
    pushrank.SmoothMarginRanking("warn", n_estimators=1),
    *(
        ranker(max_iter=1, C=100.0)
        for ranker in (
            pushrank.InfinitePush,
            pushrank.RankSVM,
            pushrank.SVMMAP,
            pushrank.StructSVM,
        )
    ),
    pushrank.RampAtK(max_iter=1, tol=1e-9),
    pushrank.TrimmedPush(max_iter=1),
    pushrank.InfinitePush(max_iter=1, C=100.0, kernel="rbf"),
    *(
        ranker(batch_size=2, max_iter=1, shuffle=False)
        for ranker in (pushrank.PerceptronAtK, pushrank.SGDAtK)
    ),
    pushrank.SGDAtK(surrogate="struct", radius=10.0, max_iter=1, batch_size=2, shuffle=False),
]
# rounds are all that was asked of them, and solutions of a search have no limit to set
SILENT = {"RankBoost", "PushBoost", "AdaBoostRanker", "PushBoostCV", "StackingRanker"}
SILENT |= {"TopRankerCV"}


MESSAGE = "did not converge|collapsed|smooth margin is not|learned nothing"


@pytest.mark.parametrize("ranker", WARNING, ids=str)
def test_a_warning_of_a_fit_points_here(ranker):
    with pytest.warns(UserWarning, match=MESSAGE) as caught:  # which a ConvergenceWarning is
        ranker.fit(X, Y)
    assert {warning.filename for warning in caught} == {__file__}


def test_every_ranker_is_tried():
    rankers = {name for name in pushrank.__all__ if hasattr(getattr(pushrank, name), "decision_function")}
    assert {type(ranker).__name__ for ranker in WARNING} == rankers - SILENT


def test_a_path_points_here_and_what_others_call_at_the_others():
    with pytest.warns(ConvergenceWarning, match=MESSAGE) as caught:
        pushrank.RankSVM(max_iter=1).path(X, Y, [100.0])
    assert caught[0].filename == __file__
    with pytest.warns(ConvergenceWarning, match=MESSAGE) as caught:
        make_pipeline(pushrank.PNormPush(max_iter=1)).fit(X, Y)
    assert caught[0].filename == inspect.getfile(make_pipeline)
