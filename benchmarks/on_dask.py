"""How long does PNormPush take on DaskRows of two workers, and what happens when workers are lost?

    python benchmarks/on_dask.py > benchmarks/on_dask.txt

The process has two threads, and each of the two workers has one. Both fits begin with the rows in memory; on
the cluster they are persisted, and tasks draw each partition from its seed. Bytes are all that any of the
processes writes to another while a fit runs, heartbeats included. Kills are SIGKILL in the middle of a fit.
"""

from __future__ import annotations

import argparse
import gc
import multiprocessing
import os
import platform
import signal
import statistics
import threading
import time
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from typing import Any

import dask
import dask.array as da
import numpy as np
import psutil
from distributed.comm.tcp import TCP

import distributed
from pushrank import PNormPush
from pushrank.distributed import DaskRows
from pushrank.exceptions import LostPartitionsError

N_FEATURES, N_PARTITIONS, P = 50, 16, 16.0
MIB = 2**20
written = 0


def block(number: int, n_rows: int) -> tuple[np.ndarray, np.ndarray]:
    """Return correlated normal features in float32 and labels of about 14 % positives."""
    shared, rng = np.random.default_rng(0), np.random.default_rng([1, number])
    mix = np.eye(N_FEATURES) + 0.7 * shared.normal(size=(N_FEATURES, N_FEATURES)) / np.sqrt(N_FEATURES)
    direction = shared.normal(size=N_FEATURES)
    X = rng.standard_normal((n_rows, N_FEATURES), dtype=np.float32) @ mix.astype(np.float32)
    scores = X @ direction.astype(np.float32)
    return X, (2.0 * scores / np.linalg.norm(mix @ direction) - 3.0 + rng.logistic(size=n_rows) > 0).astype(
        np.int8
    )


def collections(n_rows: int, client: Any = None) -> tuple[Any, Any]:
    """Return X and y as Dask arrays whose partitions are drawn where they are needed.

    With a client they are drawn now, as many on every worker.
    """
    length = n_rows // N_PARTITIONS
    blocks = [dask.delayed(block, pure=True)(number, length) for number in range(N_PARTITIONS)]
    if client is not None:
        shares = np.array_split(np.arange(N_PARTITIONS), len(client.nthreads()))
        for address, share in zip(client.nthreads(), shares, strict=True):
            for number, kept in zip(
                share, client.persist([blocks[i] for i in share], workers=[address]), strict=True
            ):
                blocks[number] = kept
        distributed.wait(blocks)
    X = [da.from_delayed(drawn[0], (length, N_FEATURES), np.float32) for drawn in blocks]
    y = [da.from_delayed(drawn[1], (length,), np.int8) for drawn in blocks]
    return da.concatenate(X), da.concatenate(y)


def in_memory(n_rows: int, repeats: int, answer: Any) -> None:
    """Fit in one process; send the coefficients, the threshold, the iterations and the seconds."""
    parts = [block(number, n_rows // N_PARTITIONS) for number in range(N_PARTITIONS)]
    X, y = (np.concatenate(arrays) for arrays in zip(*parts, strict=True))
    del parts
    PNormPush(max_iter=1, tol=1e9).fit(X[:1000], y[:1000])  # compile
    seconds = []
    for _ in range(repeats):
        start = time.perf_counter()
        ranker = PNormPush(p=P).fit(X, y)
        seconds.append(time.perf_counter() - start)
    answer.put((ranker.coef_, ranker.threshold_, ranker.n_iter_, seconds))


@contextmanager
def cluster(n_workers: int = 2) -> Iterator[Any]:
    """Yield the client of a cluster of processes of one thread each."""
    options = {"n_workers": n_workers, "threads_per_worker": 1, "memory_limit": 0, "dashboard_address": ":0"}
    with distributed.LocalCluster(silence_logs=50, **options) as local, distributed.Client(local) as client:
        count_bytes()
        client.run(count_bytes)
        X, y = collections(16_000)
        PNormPush(max_iter=1, tol=1e9).fit(DaskRows(X, y))  # compile
        yield client


def count_bytes() -> None:
    """Count what this process writes to others from now on."""
    if hasattr(TCP.write, "counts"):
        return
    write = TCP.write

    async def counting(self: TCP, *arguments: Any, **options: Any) -> int:
        global written
        n_bytes = await write(self, *arguments, **options)
        written += n_bytes
        return n_bytes

    counting.counts = True  # type: ignore[attr-defined]
    TCP.write = counting  # type: ignore[method-assign]


def bytes_written() -> int:
    """Return how much it was so far."""
    return written


def moved(client: Any) -> int:
    """Return what all processes have written so far."""
    return bytes_written() + sum(client.run(bytes_written).values())


def against_one_process(n_rows: int, repeats: int) -> None:
    """Print times and the difference of coefficients, on one worker and on two."""
    size = n_rows * N_FEATURES * 4 / MIB
    print(f"\n{n_rows:,} x {N_FEATURES} float32, {size:,.0f} MiB, {N_PARTITIONS} partitions, p={P:g}")
    answer = multiprocessing.get_context("spawn").Queue()
    child = multiprocessing.get_context("spawn").Process(target=in_memory, args=(n_rows, repeats, answer))
    child.start()
    coef, threshold, n_iter, seconds = answer.get()
    child.join()
    here = statistics.median(seconds)
    print(f"  one process, 2 threads   {here:6.2f} s   {n_iter} iterations")
    found = {}
    for n_workers in (2, 1):
        with cluster(n_workers) as client:
            X, y = collections(n_rows, client)
            seconds = []
            for _ in range(repeats if n_workers == 2 else 1):
                start = time.perf_counter()
                ranker = PNormPush(p=P).fit(DaskRows(X, y))
                seconds.append(time.perf_counter() - start)
            found[n_workers] = ranker
            del X, y
        there = statistics.median(seconds)
        difference = np.abs(ranker.coef_ - coef).max() / np.abs(coef).max()
        print(
            f"  {n_workers} worker(s) of 1 thread   {there:6.2f} s   {ranker.n_iter_} iterations   ratio "
            f"{there / here:.2f}   coefficients differ by {difference:.1e}, threshold by "
            f"{abs(ranker.threshold_ - threshold):.1e}"
        )
    identical = (
        found[1].coef_.tobytes() == found[2].coef_.tobytes() and found[1].threshold_ == found[2].threshold_
    )
    print(f"  one worker and two: {'identical to the last bit' if identical else 'DIFFERENT'}")


def against_rows(sizes: list[int]) -> None:
    """Print the bytes of a fit and the memory of the client's process, which the scheduler shares."""
    print("\nbytes moved by a fit of 20 iterations, and memory of the process of client and scheduler")
    process = psutil.Process()
    with cluster() as client, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for n_rows in sizes:
            X, y = collections(n_rows)
            gc.collect()
            before, memory = moved(client), process.memory_info().rss
            peak, running = memory, threading.Event()

            def watch(running: threading.Event = running) -> None:
                nonlocal peak
                while not running.wait(0.01):
                    peak = max(peak, process.memory_info().rss)

            watcher = threading.Thread(target=watch)
            watcher.start()
            PNormPush(p=P, max_iter=20, tol=1e-9).fit(DaskRows(X, y))
            running.set()
            watcher.join()
            n_bytes = moved(client) - before
            data = n_rows * N_FEATURES * 4 / MIB
            print(
                f"  {n_rows:>10,} rows ({data:5,.0f} MiB)   {n_bytes / MIB:5.2f} MiB moved   "
                f"{memory / MIB:4.0f} MiB before, at most {(peak - memory) / MIB:4.1f} MiB more"
            )


def with_killed_workers(n_rows: int, n_fits: int) -> None:
    """Print how many fits with a worker killed in the middle end where one without did."""
    print(f"\n{n_fits} fits of {n_rows:,} rows, a worker of two killed in each, at another message")
    X, y = collections(n_rows)
    with cluster() as client:
        sent = killing(client, None)
        expected = PNormPush(p=P).fit(DaskRows(X, y))
    same, lost = 0, 0
    for fit in range(n_fits):
        with cluster() as client, warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            killing(client, len(sent) * (fit + 1) // (n_fits + 1))
            ranker = PNormPush(p=P).fit(DaskRows(X, y))
        lost += any("lost" in str(warning.message) for warning in caught)
        same += (
            ranker.coef_.tobytes() == expected.coef_.tobytes() and ranker.threshold_ == expected.threshold_
        )
    print(f"  {same} of {n_fits} identical to the last bit to one without; {lost} warned of the loss")


def killing(client: Any, after: int | None) -> list[int]:
    """Let a client kill a worker at a message that it sends; return the list that takes their numbers."""
    pid, sent = next(iter(client.run(os.getpid).values())), []

    def counted(send: Callable[..., Any], *arguments: Any, **options: Any) -> Any:
        sent.append(len(sent))
        if len(sent) == after:
            threading.Timer(0.01, os.kill, (pid, signal.SIGKILL)).start()  # the worker is at work by then
        return send(*arguments, **options)

    client.submit, client.run = partial(counted, client.submit), partial(counted, client.run)
    return sent


def lost_for_good() -> None:
    """Print what is said where data or workers do not come back."""
    X, y = block(0, 20_000)
    with cluster() as client:
        print("\nscattered rows, a worker killed:")
        parts = client.scatter(np.array_split(X, 4)), client.scatter(np.array_split(y, 4))
        arrays = (
            da.concatenate([da.from_delayed(part, (5000, *array.shape[1:]), array.dtype) for part in futures])
            for array, futures in zip((X, y), parts, strict=True)
        )
        killing(client, 20)
        tell(*arrays)
    with cluster() as client:
        print("all workers gone:")
        client.cluster.scale(0)
        while client.nthreads():
            time.sleep(0.1)
        tell(*collections(16_000))


def tell(X: Any, y: Any) -> None:
    """Print the error of a fit, and after how long it came."""
    start = time.perf_counter()
    try:
        PNormPush(p=P).fit(DaskRows(X, y))
    except LostPartitionsError as error:
        print(f"  after {time.perf_counter() - start:.1f} s, {type(error).__name__}: {error}")
    else:
        print("  NOTHING WAS SAID")


def main() -> None:
    """Run all parts."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=float, default=1e7)
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--killed-rows", type=float, default=2e5)
    parser.add_argument("--parts", nargs="+", default=["time", "rows", "killed", "lost"])
    options = parser.parse_args()
    print(f"Python {platform.python_version()}, numpy {np.__version__}, dask {dask.__version__}")
    if "time" in options.parts:
        against_one_process(int(options.rows), options.repeats)
    if "rows" in options.parts:
        against_rows([int(options.rows / 10), int(options.rows / 10 * 4)])
    if "killed" in options.parts:
        with_killed_workers(int(options.killed_rows), 10)
    if "lost" in options.parts:
        lost_for_good()


if __name__ == "__main__":
    main()
