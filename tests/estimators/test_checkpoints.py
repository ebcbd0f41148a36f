"""A run that was stopped goes on to the same model, to the last bit."""

from __future__ import annotations

import multiprocessing
import time

import numpy as np
import pytest
from sklearn.linear_model import Ridge
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeRegressor
from skops import io

from pushrank import AdaBoostRanker, RankBoost, SmoothMarginRanking
from pushrank.exceptions import ModelFileError


def data(n=300, n_features=6, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, n_features))
    y = (X @ rng.normal(size=n_features) + rng.normal(size=n) > 0.5).astype(int)
    return X, y


def learned(ranker):
    """All that a fit learned, as bytes or plain values."""
    parts = [ranker.rankers_.tobytes(), ranker.steps_.tobytes(), ranker.edge_path_.tobytes()]
    parts += [ranker.objective_path_.tobytes(), np.float64(ranker.threshold_).tobytes(), ranker.n_iter_]
    return parts


KINDS = {
    "stumps": lambda: RankBoost(n_estimators=60, random_state=0),
    "columns": lambda: RankBoost(weak_rankers="columns", n_estimators=60),
    "regressors": lambda: RankBoost(weak_rankers="regressors", n_estimators=30, random_state=3),
    "pipelines": lambda: RankBoost(
        weak_rankers=make_pipeline(StandardScaler(), DecisionTreeRegressor(max_depth=2, splitter="random")),
        n_estimators=30,
        random_state=3,
    ),
    "drawn": lambda: RankBoost(subsample=0.5, max_features=0.5, n_estimators=60, random_state=1),
    "unseeded": lambda: RankBoost(subsample=0.5, n_estimators=60, random_state=np.random.RandomState(7)),
    "stopped early": lambda: RankBoost(
        early_stopping=True, n_iter_no_change=60, n_estimators=60, random_state=2
    ),
    "scored": lambda: RankBoost(
        early_stopping=True, scoring="roc_auc", n_iter_no_change=60, n_estimators=60, random_state=2
    ),
    "smooth": lambda: SmoothMarginRanking("warn", n_estimators=60),
    "ada": lambda: AdaBoostRanker(n_estimators=60),
}


class Killed(BaseException):
    """A stand-in for the end of the process."""


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("kind", KINDS)
def test_a_resumed_fit_is_an_uninterrupted_one(kind, tmp_path, monkeypatch):
    X, y = data()
    whole = KINDS[kind]().fit(X, y)
    stopped = KINDS[kind]().set_params(checkpoint=tmp_path / "run.ckpt", checkpoint_every=7)

    from pushrank.solvers.boosting.loop import CoordinateDescent

    real, rounds = CoordinateDescent.round, []

    def killed_at_25(self, *arguments, **options):
        if len(rounds) == 25:
            raise Killed
        rounds.append(1)
        return real(self, *arguments, **options)

    with monkeypatch.context() as patched:
        patched.setattr(CoordinateDescent, "round", killed_at_25)
        with pytest.raises(Killed):
            stopped.fit(X, y)
    assert not hasattr(stopped, "steps_")
    resumed = KINDS[kind]().set_params(checkpoint=tmp_path / "run.ckpt", checkpoint_every=7)
    seen = []

    def counted(self, *arguments, **options):
        seen.append(1)
        return real(self, *arguments, **options)

    monkeypatch.setattr(CoordinateDescent, "round", counted)
    resumed.fit(X, y)
    assert len(seen) == whole.get_params()["n_estimators"] - 21
    assert learned(resumed) == learned(whole)
    np.testing.assert_array_equal(resumed.decision_function(X), whole.decision_function(X))


def test_more_rounds_go_on_from_a_finished_run(tmp_path):
    X, y = data()
    RankBoost(n_estimators=20, checkpoint=tmp_path / "a").fit(X, y)
    longer = RankBoost(n_estimators=50, checkpoint=tmp_path / "a").fit(X, y)
    assert learned(longer) == learned(RankBoost(n_estimators=50).fit(X, y))
    with pytest.raises(ValueError, match="holds 50 rounds, more than n_estimators=20"):
        RankBoost(n_estimators=20, checkpoint=tmp_path / "a").fit(X, y)


@pytest.mark.parametrize("warm", [False, True])
def test_more_rounds_go_on_towards_a_better_one(tmp_path, warm):
    X, y = data()
    y = np.where(np.random.default_rng(1).random(len(y)) < 0.2, 1 - y, y)
    options = {"early_stopping": True, "n_iter_no_change": 40, "random_state": 5, "validation_fraction": 0.3}
    whole = RankBoost(**options, n_estimators=60).fit(X, y)
    ranker = RankBoost(**options, n_estimators=10, checkpoint=tmp_path / "a", warm_start=warm).fit(X, y)
    first = ranker.best_round_
    ranker.set_params(n_estimators=60).fit(X, y)
    assert 0 < first < ranker.best_round_ == whole.best_round_ < 60
    assert learned(ranker) == learned(whole)
    np.testing.assert_array_equal(ranker.validation_path_, whole.validation_path_)
    np.testing.assert_array_equal(ranker.decision_function(X), whole.decision_function(X))


def test_a_checkpoint_of_another_run_is_refused(tmp_path):
    X, y = data()
    file = tmp_path / "run.ckpt"
    RankBoost(n_estimators=5, checkpoint=file).fit(X, y)
    for other, (features, labels) in (
        (RankBoost(learning_rate=0.5), (X, y)),
        (RankBoost(), (X + 1e-9, y)),
        (RankBoost(), (X, 1 - y)),
        (AdaBoostRanker(), (X, y)),
    ):
        with pytest.raises(ModelFileError, match="other data or other parameters"):
            other.set_params(checkpoint=file).fit(features, labels)
    with pytest.raises(ModelFileError, match="other data"):
        RankBoost(checkpoint=file).fit(X, y, sample_weight=np.full(len(y), 2.0))
    file.write_bytes(b"not a checkpoint")
    with pytest.raises(ModelFileError, match="cannot be read"):
        RankBoost(checkpoint=file).fit(X, y)
    with pytest.raises(ValueError, match="does not exist"):
        RankBoost(checkpoint=tmp_path / "no" / "folder").fit(X, y)


def first(X):
    return X[:, 0]


def test_functions_are_known_by_what_they_return(tmp_path):
    X, y = data()
    options = {"n_estimators": 5, "checkpoint": tmp_path / "a", "scoring": lambda *_: 0.0}
    RankBoost(weak_rankers=[first, lambda X: X[:, 1]], **options).fit(X, y)
    RankBoost(weak_rankers=[first, lambda X: X[:, 1]], **options).fit(X, y)
    with pytest.raises(ModelFileError, match="other data or other parameters"):
        RankBoost(weak_rankers=[first, lambda X: X[:, 2]], **options).fit(X, y)


class OwnRidge(Ridge):
    """A base learner that no checkpoint would load."""


def test_base_learners_that_a_checkpoint_cannot_hold_are_refused_before_any_work(tmp_path):
    X, y = data()
    with pytest.raises(ValueError, match="base learners of scikit-learn only"):
        RankBoost(weak_rankers=OwnRidge(), checkpoint=tmp_path / "a").fit(X, y)
    assert not (tmp_path / "a").exists()


RUN = {"n_estimators": 200, "subsample": 0.7, "random_state": 5}


def large():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(20_000, 10))
    return X, (X @ rng.normal(size=10) + rng.normal(size=20_000) > 1.0).astype(int)


def fit(file, to_parent):
    """What a process to be killed does, after a small fit that loads all code."""
    X, y = large()
    RankBoost(**{**RUN, "n_estimators": 2}).fit(X, y)
    to_parent.send("ready")
    RankBoost(**RUN, checkpoint=file, checkpoint_every=3).fit(X, y)
    to_parent.send("done")


def started(file):
    """Return a process that begins to fit, and what it can be heard by."""
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(["pushrank"])
    hears, says = context.Pipe(duplex=False)
    process = context.Process(target=fit, args=(file, says))
    process.start()
    assert hears.recv() == "ready"
    return process, hears


def test_fits_killed_at_random_moments_resume_to_the_same_model(tmp_path):
    """Twenty fits, each killed at a moment of its own, drawn from the whole length of a run."""
    X, y = large()
    whole = RankBoost(**RUN).fit(X, y)
    process, hears = started(tmp_path / "timed")
    start = time.perf_counter()
    assert hears.recv() == "done"
    duration = time.perf_counter() - start
    process.join()
    rounds = []
    for trial, moment in enumerate(np.random.default_rng(1).uniform(0.0, duration, 20)):
        file = tmp_path / str(trial)
        process, _ = started(file)
        time.sleep(moment)
        process.kill()
        process.join()
        rounds.append(len(io.load(file)["history"]["rankers"]) if file.exists() else 0)
        resumed = RankBoost(**RUN, checkpoint=file, checkpoint_every=3).fit(X, y)
        assert learned(resumed) == learned(whole)
    np.testing.assert_array_equal(resumed.decision_function(X), whole.decision_function(X))
    print(f"a run of {duration:.2f} s; rounds kept when killed: {sorted(rounds)}")
    # most must have died on the way, else the test shows nothing
    assert sum(0 < kept < 200 for kept in rounds) >= 10
