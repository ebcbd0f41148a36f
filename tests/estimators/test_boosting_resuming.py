"""A run that is saved every few rounds, and killed, goes on to the same model, to the last bit."""

import os
import sys
import time

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeRegressor

from pushrank import AdaBoostRanker, PushBoost, RankBoost, SmoothMarginRanking, load
from samples import linear_labels
from tests.estimators.killed_fits import RUN, fit_in_parts, large, started


def data(n=300, n_features=6, seed=0):
    return linear_labels(n, n_features, seed, noise=1.0, above=0.5)


def learned(ranker):
    """All fitted attributes, as bytes or plain values."""
    arrays = (
        ranker.estimator_index_,
        ranker.estimator_weights_,
        ranker.edges_,
        ranker.objective_path_,
        ranker.validation_path_,
    )
    numbers = ranker.threshold_, ranker.margin_, ranker.constant_, ranker.n_iter_, ranker.best_round_
    return [array.tobytes() for array in arrays], numbers, ranker.converged_


TREES = make_pipeline(StandardScaler(), DecisionTreeRegressor(max_depth=2, splitter="random"))
STOPPING = {"early_stopping": True, "validation_fraction": 0.3}
KINDS = {
    "stumps": RankBoost(n_estimators=60, random_state=0),
    "columns": RankBoost(weak_rankers="columns", n_estimators=60),
    "regressors": RankBoost(weak_rankers="regressors", n_estimators=30, random_state=3),
    "pipelines": RankBoost(weak_rankers=TREES, n_estimators=30, random_state=3, **STOPPING),
    "drawn": RankBoost(subsample=0.5, max_features=0.5, n_estimators=60, random_state=1),
    "unseeded": RankBoost(subsample=0.5, n_estimators=60, random_state=np.random.RandomState(7)),
    "stopped early": RankBoost(n_iter_no_change=20, n_estimators=60, random_state=2, **STOPPING),
    "drawn and stopped early": RankBoost(
        subsample=0.5, max_features=0.5, n_estimators=60, n_iter_no_change=9, random_state=2, **STOPPING
    ),
    "scored": PushBoost(
        scoring="roc_auc", subsample=0.7, n_iter_no_change=30, n_estimators=30, random_state=2, **STOPPING
    ),
    "push": PushBoost(8, n_estimators=60),
    "pull columns": PushBoost(8, side="pull", weak_rankers="columns", n_estimators=60, subsample=0.5),
    "smooth": SmoothMarginRanking("warn", n_estimators=60),
    "ada": AdaBoostRanker(n_estimators=60),
    "ada trees": AdaBoostRanker(weak_rankers="regressors", n_estimators=30, random_state=3, **STOPPING),
}


def fresh(kind):
    """Return an unfitted ranker with a new random generator."""
    return clone(KINDS[kind]).set_params(random_state=clone(KINDS[kind]).random_state or 5)


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("kind", KINDS)
def test_a_resumed_fit_is_an_uninterrupted_one(kind, tmp_path):
    X, y = data()
    y = np.where(np.random.default_rng(1).random(len(y)) < 0.2, 1 - y, y)
    whole = fresh(kind).fit(X, y)
    file = tmp_path / "model.skops"
    stopped = fresh(kind)
    n_estimators = stopped.n_estimators
    fit_in_parts(stopped.set_params(n_estimators=21), X, y, file, 7)
    resumed = load(file)
    assert resumed.n_iter_ <= 21
    fit_in_parts(resumed.set_params(n_estimators=n_estimators), X, y, file, 7)
    assert learned(resumed) == learned(whole)
    np.testing.assert_array_equal(resumed.decision_function(X), whole.decision_function(X))
    again = load(file).fit(X, y)
    assert learned(again) == learned(whole)
    if whole.n_iter_ > 1:
        with pytest.raises(ValueError, match="must be at least"):
            again.set_params(n_estimators=1).fit(X, y)


def test_a_fit_that_fails_halfway_leaves_the_last_fit_unchanged():
    X, y = data()
    options = {"weak_rankers": "regressors", "random_state": 0, "warm_start": True, **STOPPING}
    whole = RankBoost(n_estimators=20, n_iter_no_change=20, **options).fit(X, y)
    seen = []

    def fails(*_):
        seen.append(1)
        if len(seen) == 5:
            raise KeyboardInterrupt
        return len(seen)

    ranker = RankBoost(n_estimators=10, n_iter_no_change=20, **options).fit(X, y)
    expected = ranker.decision_function(X)
    with pytest.raises(KeyboardInterrupt):
        ranker.set_params(n_estimators=20, scoring=fails).fit(X, y)
    np.testing.assert_array_equal(ranker.decision_function(X), expected)
    assert learned(ranker.set_params(scoring=None).fit(X, y)) == learned(whole)


def test_what_is_drawn_goes_on_whatever_the_seed_is_by_then():
    X, y = data()
    whole = RankBoost(n_estimators=20, subsample=0.5, random_state=1).fit(X, y)
    ranker = RankBoost(n_estimators=10, subsample=0.5, random_state=1, warm_start=True).fit(X, y)
    ranker.set_params(n_estimators=20, random_state=2).fit(X, y)
    assert learned(ranker) == learned(whole)


@pytest.mark.parametrize("n_fits", [4, pytest.param(20, marks=pytest.mark.nightly)])
def test_fits_killed_at_random_moments_resume_to_the_same_model(n_fits, tmp_path, monkeypatch):
    """Each fit is killed at a random moment of a random part of its ten parts."""
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join(sys.path))  # for the server of forks
    X, y = large()
    whole = RankBoost(**RUN, n_estimators=200).fit(X, y)
    rng, rounds = np.random.default_rng(1), []
    for trial in range(n_fits):
        file = tmp_path / str(trial)
        process, connection = started(file)
        assert connection.recv() == "ready"
        # From one to eight parts of ten are done, and the next is begun.
        for _ in range(rng.integers(1, 9)):
            start = time.perf_counter()
            connection.send("begin")
            assert connection.recv() == "ready"
            seconds = time.perf_counter() - start
        connection.send("begin")
        time.sleep(rng.uniform(0.0, seconds))
        process.kill()
        process.join()
        resumed = load(file)
        rounds.append(resumed.n_iter_)
        resumed = fit_in_parts(resumed.set_params(n_estimators=200), X, y, file, 50)
        assert learned(resumed) == learned(whole)
    np.testing.assert_array_equal(resumed.decision_function(X), whole.decision_function(X))
    assert len(set(rounds)) > 2
    assert all(0 < kept < 200 for kept in rounds)
