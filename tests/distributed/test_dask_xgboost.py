"""XGBoost's trees on Dask collections go down the objective that trees in one process go down."""

from __future__ import annotations

import pickle
import threading

import numpy as np
import pytest
from sklearn.base import clone

from pushrank.distributed.xgboost import DaskPushXGBRanker
from pushrank.estimators._target import break_even_threshold
from pushrank.interop.lightgbm import LGBMMetric, LGBMObjective
from pushrank.interop.xgboost import ENGINE, PushXGBRanker
from pushrank.objectives import PushObjective
from pushrank.pairs import BipartiteSample
from pushrank.prices import Power

dask = pytest.importorskip("dask")
da = pytest.importorskip("dask.array")
dd = pytest.importorskip("dask.dataframe")
distributed = pytest.importorskip("distributed")

SMALL = {"max_depth": 2, "n_estimators": 3, "random_state": 0}


def table(n=300, d=3):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n, d)).astype(np.float32)
    return X, (X[:, 0] + rng.normal(size=n) > 1.0).astype(int), rng.integers(0, 3, n).astype(float)


@pytest.mark.parametrize(
    ("parameters", "weighted"), [({"p": 4}, True), ({"price": "log_one_plus", "side": "pull"}, False)]
)
def test_the_objective_falls_as_in_one_process(client, parameters, weighted):
    X, y, weights = table()
    data = (X, y, weights) if weighted else (X, y)
    there = [da.from_array(a, chunks=(120,) + (2,) * (a.ndim - 1)) for a in data]
    found = DaskPushXGBRanker(**parameters, **SMALL, client=client).fit(*there)
    alone = PushXGBRanker(**parameters, **SMALL).fit(*data)
    sample = BipartiteSample.from_mask(y == 1, weights if weighted else None)
    scores = found.decision_function(there[0]).compute()
    objective = PushObjective(price=Power(4.0), scale="log")
    if "price" in parameters:
        objective = PushObjective(price="log_one_plus", side="pull", scale="mean")
    start, here, other = (
        objective.evaluation(sample, s).value for s in (np.zeros(300), alone.decision_function(X), scores)
    )
    assert start - other == pytest.approx(start - here, rel=0.1)
    local = pickle.loads(pickle.dumps(found)).to_local()  # noqa: S301
    assert type(local) is PushXGBRanker
    np.testing.assert_array_equal(local.decision_function(X), scores)
    assert found.threshold_ == break_even_threshold(ENGINE.scores(found.booster_, X), sample)
    assert local.feature_importances_.argmax() == 0


def test_frames_with_categories_gaps_and_texts(client):
    import pandas as pd

    X, y, _ = table(120)
    X[:10, 1] = np.nan
    frame = pd.DataFrame(X, columns=["a", "b", "c"])
    frame["kind"] = pd.Categorical(np.where(y, "hot", "cold"), ["cold", "hot", "none"])
    labels = pd.Series(np.where(y, "yes", "no"), name="hit")
    there = dd.from_pandas(frame, npartitions=2)
    ranker = DaskPushXGBRanker(**SMALL, client=client).fit(there, dd.from_pandas(labels, npartitions=2))
    assert ranker.classes_.tolist() == ["no", "yes"]
    assert ranker.feature_names_in_.tolist() == ["a", "b", "c", "kind"]
    predicted = ranker.predict(there).compute()
    assert (predicted == labels).all()
    assert clone(ranker).client is client


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"loss": "logistic"}, "use the exponential loss"),
        ({"side": "both"}, "use scale='log' and side='push' or 'pull'"),
        ({"early_stopping": True}, "choose n_estimators on a sample"),
        ({"eval_metric": "auc"}, "DaskPushXGBRanker sets it itself"),
        ({"n_estimators": 0}, "n_estimators must be finite and >= 1"),
    ],
)
def test_what_a_cluster_cannot_do_is_told(parameters, message):
    X, y, _ = table(4)
    with pytest.raises(ValueError, match=message):
        DaskPushXGBRanker(**parameters).fit(da.from_array(X), da.from_array(y))


def test_data_that_do_not_fit_are_told(client):
    X, y, _ = table(60)
    there = da.from_array(X, chunks=(30, 3))
    for labels, kind, message in (
        (y, TypeError, "takes Dask arrays and data frames, and y is ndarray"),
        (da.zeros(60, chunks=30), ValueError, "exactly 2 classes, found 1"),
        (da.from_array(y[:50], chunks=30), ValueError, "y has 50 rows for 60 of X"),
    ):
        with pytest.raises(kind, match=message):
            DaskPushXGBRanker(client=client).fit(there, labels)
    with pytest.raises(ValueError, match="no split of the 60 training rows"):
        DaskPushXGBRanker(client=client, gamma=1e9, n_estimators=1).fit(there, da.from_array(y, chunks=30))


def test_lightgbms_workers_are_refused(monkeypatch):
    from distributed import worker

    y, scores = np.array([0, 1]), np.zeros(2)
    monkeypatch.setattr(worker, "thread_state", threading.local())
    worker.thread_state.key = "my_own_task"  # a task that trains in one process has all rows
    LGBMObjective(PushObjective(scale="log"))(y, scores)
    worker.thread_state.key = "_train_part-0123"
    with pytest.raises(NotImplementedError, match="every worker push its own rows alone"):
        LGBMObjective(PushObjective(scale="log"))(y, scores)
    with pytest.raises(NotImplementedError, match="every worker measure its own rows alone"):
        LGBMMetric("average_precision")(y, scores)


@pytest.fixture
def two_processes():
    """Return a client of two workers in processes of their own."""
    options = {"n_workers": 2, "threads_per_worker": 1, "dashboard_address": ":0"}
    with (
        distributed.LocalCluster(**options) as cluster,
        distributed.Client(cluster, set_as_default=False) as client,
    ):
        yield client


@pytest.mark.nightly
@pytest.mark.filterwarnings("ignore::UserWarning:lightgbm")
def test_lightgbms_own_tasks_are_those_that_are_refused(two_processes):
    import lightgbm

    X, y, _ = table(200)
    ranker = lightgbm.DaskLGBMRegressor(objective=LGBMObjective(PushObjective(scale="log")))
    with (
        two_processes.as_current(),
        pytest.raises(NotImplementedError, match="every worker push its own rows alone"),
    ):
        ranker.fit(da.from_array(X, chunks=(100, 3)), da.from_array(y, chunks=100))


@pytest.mark.nightly
def test_a_killed_worker_ends_the_fit(two_processes):
    import os
    import signal
    import time

    from pushrank.exceptions import LostPartitionsError

    X, y, _ = table(100_000)
    pid = next(iter(two_processes.run(os.getpid).values()))
    there = da.from_array(X, chunks=(25_000, 3)), da.from_array(y, chunks=25_000)
    DaskPushXGBRanker(n_estimators=1, client=two_processes).fit(*there)
    threading.Timer(10.0, os.kill, (pid, signal.SIGKILL)).start()
    start = time.monotonic()
    with pytest.raises(LostPartitionsError, match="fit anew"):
        DaskPushXGBRanker(n_estimators=100_000, client=two_processes).fit(*there)
    assert time.monotonic() - start < 60.0
