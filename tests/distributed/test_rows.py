"""Rankers on Dask collections learn what those in memory do, wherever the partitions are."""

import gc
import os
import pickle
import signal
from functools import partial

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV

from pushrank import IRPush, PNormPush, PushRanker, RankSVM, TrimmedPush
from pushrank.distributed import DaskRows, _partitions, decision_function, predict
from pushrank.distributed.rows import aligned_parts
from pushrank.exceptions import LostPartitionsError
from pushrank.metrics import average_precision

dask = pytest.importorskip("dask")
pytest.importorskip("dask.bag")
da = pytest.importorskip("dask.array")
pytest.importorskip("distributed")
dd = pytest.importorskip("dask.dataframe")


def table(n=400, d=4, dtype=np.float64, seed=0):
    rng = np.random.default_rng(seed)
    X = (rng.normal(size=(n, d)) * np.arange(1, d + 1) + 2.0).astype(dtype)
    y = X @ np.linspace(1.0, -1.0, d) + rng.normal(size=n) > 0.5
    return X, y.astype(int), rng.integers(0, 3, n).astype(float)


def spread(*arrays, chunks=90):
    return [da.from_array(array, chunks=(chunks,) + (3,) * (array.ndim - 1)) for array in arrays]


def frame(**column):
    """Return four rows in two partitions."""
    return dd.from_pandas(pd.DataFrame({"a": [1.0, 2.0, 3.0, 4.0], **column}), npartitions=2)


def assert_equal_fits(found, expected):
    largest = abs(expected.coef_).max()
    np.testing.assert_allclose(found.coef_, expected.coef_, rtol=1e-10, atol=1e-10 * largest)
    assert found.threshold_ == pytest.approx(expected.threshold_, rel=1e-9)
    assert found.n_iter_ == expected.n_iter_
    assert found.converged_ == expected.converged_
    assert found.primal_objective_ == pytest.approx(expected.primal_objective_, rel=1e-12)
    assert found.classes_.tolist() == expected.classes_.tolist()


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")  # rounds cost the most here
@pytest.mark.parametrize(
    ("ranker", "weighted"),
    [
        (PNormPush(p=4.0, side="both", max_iter=2), True),
        (IRPush(max_iter=2), False),
        (PNormPush(p=8.0, positive=True), True),
        pytest.param(PNormPush(p=8.0), False, marks=pytest.mark.nightly),
        pytest.param(IRPush(), True, marks=pytest.mark.nightly),
        pytest.param(PushRanker(price="log_one_plus", side="pull"), False, marks=pytest.mark.nightly),
    ],
)
@pytest.mark.usefixtures("client")
def test_a_fit_is_that_in_memory(ranker, weighted):
    X, y, weights = table(dtype=np.float32)
    data = (X, y, weights) if weighted else (X, y)
    assert_equal_fits(clone(ranker).fit(DaskRows(*spread(*data))), clone(ranker).fit(*data))


def test_one_worker_finds_what_two_do_to_the_last_bit(client, monkeypatch):
    data = spread(*table(dtype=np.float32)[:2])
    address, n_threads = next(iter(client.nthreads().items()))
    rankers = []
    for threads in (client.nthreads(), {address: n_threads}):
        monkeypatch.setattr(client, "nthreads", lambda threads=threads: threads)
        rankers.append(PNormPush(tol=0.1).fit(DaskRows(*data, client=client)))
    assert rankers[0].coef_.tobytes() == rankers[1].coef_.tobytes()
    assert rankers[0].threshold_ == rankers[1].threshold_
    assert rankers[0].objective_path_.tolist() == rankers[1].objective_path_.tolist()


@pytest.mark.usefixtures("client")
@pytest.mark.parametrize(
    ("k", "p", "alpha", "weighted"),
    [
        (0.8, 1.0, 1e-3, True),
        # with a smaller penalty the way to k separable rows differs by 1e-9 with the order of sums
        pytest.param(30, 16.0, 0.1, False, marks=pytest.mark.nightly),
    ],
)
def test_a_trimmed_fit_is_that_in_memory(k, p, alpha, weighted):
    X, y, weights = table()
    data = (np.round(X), y, weights) if weighted else (X, y)  # rounded scores tie
    ranker = TrimmedPush(k=k, p=p, alpha=alpha, tol=0.1)
    found, expected = clone(ranker).fit(DaskRows(*spread(*data))), ranker.fit(*data)
    np.testing.assert_allclose(found.coef_, expected.coef_, rtol=1e-10)
    np.testing.assert_allclose(found.objective_path_, expected.objective_path_, rtol=1e-12)
    assert found.threshold_ == pytest.approx(expected.threshold_, rel=1e-9)
    assert found.converged_ == expected.converged_
    assert found.trimmed_ is None


@pytest.mark.usefixtures("client")
@pytest.mark.nightly
def test_a_trimmed_path_is_that_in_memory():
    X, y, _ = table()
    found = TrimmedPush().path(DaskRows(*spread(X, y)), None, [0.4, 0.8])
    expected = TrimmedPush().path(X, y, [0.4, 0.8])
    for one, other in zip(found, expected, strict=True):
        np.testing.assert_allclose(one.coef_, other.coef_, rtol=1e-9)


@pytest.mark.usefixtures("client")
def test_frames_texts_names_and_empty_partitions():
    X, y, weights = table(200, dtype=np.float32)
    here = pd.DataFrame(X, columns=list("abcd"))
    here["hit"], here["weight"] = np.where(y, "yes", "no"), weights
    there = dd.from_pandas(here, npartitions=4)
    there, here = there[there["a"] > 1.0].partitions[[0, 1, 2]], here[:150][here["a"][:150] > 1.0]
    there = dd.concat([there, there[there["a"] > 1e6].partitions[[0]]])
    features = list("abcd")
    ranker = PNormPush(tol=0.1).fit(DaskRows(there[features], there["hit"], there["weight"]))
    local = PNormPush(tol=0.1).fit(here[features], here["hit"], here["weight"])
    assert_equal_fits(ranker, local)
    assert ranker.feature_names_in_.tolist() == features
    predicted = predict(ranker, there[features]).compute()
    expected = pd.Series(local.predict(here[features]), index=here.index)
    pd.testing.assert_series_equal(predicted, expected, check_dtype=False)
    found = average_precision(there["hit"], decision_function(ranker, there[features]))
    assert found == pytest.approx(local.score(here[features], here["hit"]), rel=1e-12)
    with pytest.raises(ValueError, match="feature names"):
        decision_function(ranker, there[list("dcba")])


def test_sparse_chunks_scores_and_warm_starts(client):
    X, y, _ = table(120)
    X[X < 2.0] = 0.0
    chunks = [da.from_delayed(dask.delayed(sp.csr_array)(X[i : i + 40]), (40, 4), float) for i in (0, 40, 80)]
    there = da.concatenate(chunks)
    rows = DaskRows(there, da.from_array(y, chunks=40), client=client)
    ranker = PNormPush(warm_start=True).fit(rows)
    local = PNormPush().fit(sp.csr_array(X), y)
    assert_equal_fits(ranker, local)
    found = decision_function(ranker, there).compute()
    np.testing.assert_allclose(found, local.decision_function(X), atol=1e-12)
    assert ranker.fit(rows).n_iter_ <= 1


def test_what_is_sent_does_not_grow_with_the_rows(client, monkeypatch):
    run, sent, received = client.run, [], []

    def counted(function, *arguments, **options):
        sent.append(len(pickle.dumps(arguments)))
        answers = run(function, *arguments, **options)
        received.append(len(pickle.dumps(answers)))
        return answers

    monkeypatch.setattr(client, "run", counted)
    bytes_moved = []
    for n in (400, 40000):
        sent.clear(), received.clear()
        PNormPush(tol=0.1).fit(DaskRows(*spread(*table(n, dtype=np.float32)[:2], chunks=n // 4)))
        bytes_moved.append([*sorted(sent)[-5:], *sorted(received)[-9:]])
    np.testing.assert_allclose(bytes_moved[1], bytes_moved[0], rtol=0.01)


def test_persisted_partitions_stay_where_they_are(client):
    for seed, address in enumerate(client.nthreads(), 1):
        data = client.persist(spread(*table(seed=seed)[:2]), workers=[address])
        assert set(DaskRows(*data).partitions.holders) == {address}


def test_workers_without_the_partition_that_they_are_asked_for_are_given_it_by_tasks(client):
    here, elsewhere = client.nthreads()
    rows = DaskRows(*client.persist(spread(*table()[:2]), workers=[here])).partitions
    expected = rows.map(lambda part: part.labels.sum())
    rows.holders[:] = [elsewhere] * len(rows.holders)
    assert rows.map(lambda part: part.labels.sum()) == expected
    rows.holders[:] = ["tcp://127.0.0.1:1"] * len(rows.holders)
    with pytest.warns(UserWarning, match="lost tcp://127.0.0.1:1; its partitions were computed again"):
        assert rows.map(lambda part: part.labels.sum()) == expected
    assert set(rows.holders) <= {here, elsewhere}
    with pytest.raises(ZeroDivisionError):
        rows.map(lambda part: 1 // (part is None))


ORDERED = pd.Categorical(["good", "bad"] * 2, ["good", "bad"], ordered=True)
DAYS = pd.to_datetime(["2020", "2021"] * 2, utc=True)
WIDER = da.from_delayed(dask.delayed(np.ones)((4, 3)), (4, 2), float)
MIXED = [da.from_delayed(dask.delayed(np.array)(part), (2,), int) for part in ([0, 1], ["0", "1"])]


@pytest.mark.parametrize(
    ("change", "error", "message"),
    [
        ({"X": np.zeros((4, 2))}, TypeError, "X must be a Dask array or data frame, and is ndarray"),
        ({"y": np.zeros(4)}, TypeError, "y must be a Dask array or data frame, and is ndarray"),
        ({"X": dask.delayed(np.zeros((4, 2)))}, TypeError, "and is Delayed"),
        ({"X": dask.bag.from_sequence([1, 2])}, TypeError, "and is Bag"),
        ({"X": frame(kind="a")}, ValueError, "column 'kind' of X holds str.*, and features must be numbers"),
        ({"X": frame(kind=pd.Timestamp("2020"))}, ValueError, "column 'kind' of X holds datetime64"),
        ({"client": "tcp://scheduler:8786"}, TypeError, "client must be None or a dist"),
        ({"y": da.from_array([0, 1, 1, np.nan], chunks=2)}, ValueError, "partition 1: y is missing"),
        ({"y": frame(hit=ORDERED)["hit"]}, ValueError, "partition 0: y is an ordered categorical"),
        ({"y": frame(day=DAYS)["day"]}, ValueError, r"partition 0: y has dtype object, .*Timestamp\('2020"),
        ({"X": WIDER, "y": da.arange(4, chunks=4)}, ValueError, "partition 0: found the columns 3.* X has 2"),
        ({"y": da.zeros(5, chunks=2)}, ValueError, "y has 5 rows for 4 of X"),
        ({"y": da.concatenate(MIXED)}, ValueError, "y holds texts in some partitions and numbers in others"),
        ({"y": da.zeros(4, chunks=2)}, ValueError, "class"),
        ({"X": da.full((4, 2), np.nan, chunks=2)}, ValueError, "partition 0: Input X contains NaN"),
        ({"sample_weight": -da.ones(4, chunks=2)}, ValueError, "partition 0: sample_weight must not be neg"),
        ({"sample_weight": da.zeros(4, chunks=2)}, ValueError, "no positive example"),
    ],
)
@pytest.mark.usefixtures("client")
def test_collections_that_are_no_rows_of_two_classes_are_refused(change, error, message):
    data = {"X": da.ones((4, 2), chunks=2), "y": da.from_array([0, 1, 1, 0], chunks=2)} | change
    with pytest.raises(error, match=message):
        DaskRows(**data)


@pytest.mark.usefixtures("client")
def test_what_needs_all_rows_at_once_is_refused():
    rows = DaskRows(da.eye(4, chunks=2), da.from_array([0, 1, 1, 0], chunks=2))
    for ranker, message in (
        (PNormPush(solver="newton-cg"), "solver must be 'lbfgs' for rows that are not in memory"),
        (IRPush(discount="rank"), "discount must be 'reverse_height' for rows"),
        (PushRanker(loss="logistic"), "exponential loss"),
    ):
        with pytest.raises(ValueError, match=message):
            ranker.fit(rows)
    with pytest.raises(ValueError, match=r"DaskRows hold rows of two classes.* y must be None"):
        PNormPush().fit(rows, [0, 1, 1, 0])
    with pytest.raises(TypeError, match="RankSVM needs X as an array here, and X is DaskRows"):
        RankSVM().fit(rows, [0, 1, 1, 0])
    with pytest.raises(TypeError, match="choose parameters on a sample"):
        GridSearchCV(PNormPush(), {"p": [2.0]}).fit(rows, None)
    with pytest.raises(ValueError, match="qid must be None"):
        TrimmedPush().fit(rows, qid=[0, 0, 1, 1])
    with pytest.raises(TypeError, match="X must be a Dask array or data frame, and is DaskRows"):
        decision_function(PNormPush().fit(rows), rows)


def test_partitions_with_columns_in_another_order_are_refused():
    def part(names):
        return pd.DataFrame(np.ones((2, 2)), columns=list(names))

    parts = [dask.delayed(part)(names) for names in ("ab", "ba")]
    there = dd.from_delayed(parts, meta=part("ab"), verify_meta=False)
    found = r"partition 1: found the columns \['b', 'a'\], but the collection X has \['a', 'b'\]"
    with pytest.raises(ValueError, match=found):
        DaskRows(there, da.from_array([0, 1, 1, 0], chunks=2))


def test_columns_of_pandas_own_types_are_numbers():
    X, y, _ = table(40, d=2)
    here = pd.DataFrame({"a": pd.array(X[:, 0].astype(int), "Int64"), "b": pd.array(X[:, 1], "Float32")})
    there, labels = (dd.from_pandas(part, npartitions=2) for part in (here, pd.Series(y)))
    ranker = PNormPush(tol=0.1).fit(DaskRows(there, labels))
    np.testing.assert_allclose(ranker.coef_, PNormPush(tol=0.1).fit(here, y).coef_, rtol=1e-10)


def test_a_failed_fit_leaves_nothing_on_the_cluster(client):
    gc.collect()
    before = set(client.futures)
    X, y, _ = table()
    for wrong in (np.where(X[-1] == X, np.nan, X), X):
        with pytest.raises(ValueError, match=r"NaN|class"):
            DaskRows(*spread(wrong, 0 * y))
    gc.collect()
    assert set(client.futures) <= before


def test_a_fit_in_a_task_leaves_its_thread_to_others(client):
    X, y, _ = table(40)
    data = spread(X, y)
    work = lambda: [DaskRows(*data).n_rows for _ in range(2)]  # noqa: E731
    tasks = [client.submit(work, pure=False) for _ in client.nthreads()]
    assert [task.result(timeout=20) for task in tasks] == [[40, 40]] * len(tasks)


@pytest.mark.filterwarnings("ignore:Running on a single-machine scheduler")
def test_what_features_and_labels_are_made_of_is_loaded_once():
    X, y, _ = table(40)
    loaded = []
    parts = [dask.delayed(lambda i: loaded.append(i) or np.c_[X, y][i : i + 20])(i) for i in (0, 20)]
    both = da.concatenate([da.from_delayed(part, (20, 5), float) for part in parts])
    with dask.config.set(scheduler="synchronous"):
        dask.compute(aligned_parts({"X": both[:, :4], "y": both[:, 4] > 0}))
    assert sorted(loaded) == [0, 20]


def test_columns_of_the_same_files_come_in_the_same_partitions(tmp_path):
    """Dask joins files for the few columns of labels, and not for those of features."""
    for n in range(1, 5):
        pd.DataFrame(np.zeros((n, 3)), columns=["a", "b", "y"]).to_parquet(tmp_path / f"{n}.parquet")
    frame = dd.read_parquet(tmp_path)
    parts = aligned_parts({"X": frame[["a", "b"]], "y": frame["y"]})
    found = dask.compute(*parts, scheduler="synchronous")
    assert [(X.shape, y.shape) for X, y in found] == [((n, 2), (n,)) for n in range(1, 5)]


def test_inputs_are_looked_for_in_one_graph(client, monkeypatch):
    """Of a graph for each of many partitions, time would grow with their square."""
    optimize, calls = dask.optimize, []
    monkeypatch.setattr(dask, "optimize", lambda *given: calls.append(given) or optimize(*given))
    X, y, _ = table()
    DaskRows(*spread(X, y), client=client)
    assert len(calls) == 1


def test_a_client_that_cannot_answer_is_refused(client, monkeypatch):
    for place, name, value in ((client, "status", "closed"), (type(client), "asynchronous", True)):
        monkeypatch.setattr(place, name, value)
        with pytest.raises(ValueError, match=r"synchronous, and is (closed|asynchronous)"):
            DaskRows(*spread(*table()[:2]), client=client)


def test_no_client_no_workers_and_scattered_data(client, monkeypatch):
    X, y = spread(*table()[:2])
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("distributed.get_client", lambda: (_ for _ in ()).throw(ValueError("none")))
        with pytest.raises(ValueError, match="found no client"):
            DaskRows(X, y)
    monkeypatch.setattr(_partitions, "CHECK_SECONDS", 0.01)
    monkeypatch.setattr(_partitions, "PATIENCE_SECONDS", 0.02)
    monkeypatch.setattr(client, "nthreads", dict)
    with pytest.raises(LostPartitionsError, match="has had no worker"):
        _partitions._wait(client, [client.submit(pow, 2, 3, workers=["tcp://127.0.0.1:1"])])
    gone = client.scatter([1.0])[0]
    gone.cancel()
    with pytest.raises(LostPartitionsError, match="scattered"):
        _partitions._wait(client, [gone])


@pytest.fixture
def processes():
    """A client of two workers that can be killed."""
    distributed = pytest.importorskip("distributed")
    options = {"n_workers": 2, "threads_per_worker": 1, "dashboard_address": ":0", "silence_logs": 50}
    with distributed.LocalCluster(**options) as cluster, distributed.Client(cluster) as client:
        yield client


def messages_counted(client, monkeypatch, kill_at=None):
    """Return the list of what the client will have sent to workers; one of these is killed at a number."""
    pid, sent = next(iter(client.run(os.getpid).values())), []

    def counted(send, function, *arguments, **options):
        sent.append(function)
        if len(sent) == kill_at:
            os.kill(pid, signal.SIGKILL)
        return send(function, *arguments, **options)

    for name in ("submit", "run"):
        monkeypatch.setattr(client, name, partial(counted, getattr(client, name)))
    return sent


@pytest.mark.nightly
@pytest.mark.parametrize("share", [0.02, 0.2, 0.4, 0.6, 0.8, 1.0])
def test_a_killed_worker_costs_its_partitions_alone(processes, monkeypatch, share):
    X, y, _ = table()
    data = spread(X, y)
    with monkeypatch.context() as patch:
        sent = messages_counted(processes, patch)
        expected = PNormPush().fit(DaskRows(*data, client=processes))
    messages_counted(processes, monkeypatch, kill_at=int(np.ceil(share * len(sent))))
    with pytest.warns(UserWarning, match="partitions were computed again"):
        found = PNormPush().fit(DaskRows(*data, client=processes))
    assert found.coef_.tobytes() == expected.coef_.tobytes()
    assert found.threshold_ == expected.threshold_


@pytest.mark.nightly
def test_scattered_rows_that_are_lost_are_told(processes, monkeypatch):
    X, y, _ = table()
    there = [
        da.concatenate(
            [
                da.from_delayed(future, (100, *array.shape[1:]), array.dtype)
                for future in processes.scatter(np.split(array, 4))
            ]
        )
        for array in (X, y)
    ]
    messages_counted(processes, monkeypatch, kill_at=20)
    with pytest.raises(LostPartitionsError, match="scattered"):
        PNormPush().fit(DaskRows(*there, client=processes))
