"""What would numpy.argsort cost in compiled code, in place of the sort of precision at k?

    python benchmarks/sorting.py > benchmarks/sorting.txt

A first fit is timed in a fresh process without compiled code in its cache, in turn for both sorts. Times are
processor time, the least of several runs.
"""

from __future__ import annotations

import os
import platform
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable

import numba
import numpy as np

from pushrank import PerceptronAtK
from pushrank.objectives import precision_at_k
from pushrank.objectives.precision_at_k import _sort_descending

RUNS = 3
SIZES = (100, 10_000, 1_000_000)


@numba.njit(nogil=True, error_model="numpy")
def by_argsort(scores, rows, sign):  # type: ignore[no-untyped-def]
    """Put rows in the order of falling ``sign * score``; tied rows keep theirs."""
    before = rows.copy()
    order = np.argsort(-sign * scores[rows], kind="mergesort")
    for a in range(len(rows)):
        rows[a] = before[order[a]]


def first_fit(sort: str) -> None:
    """Print how long the first fit of a process takes, and the second one, which compiles nothing."""
    if sort == "argsort":
        precision_at_k._sort_descending = by_argsort
    X = np.random.default_rng(0).normal(size=(300, 5))
    for _ in range(2):
        start = time.process_time()
        PerceptronAtK(batch_size=50).partial_fit(X, X[:, 0] > 1.0, classes=[False, True])
        print(time.process_time() - start)


def compile_seconds(sort: str) -> float:
    """Return the time that a first fit takes to compile."""
    with tempfile.TemporaryDirectory() as cache:
        command = [sys.executable, __file__, sort]
        environment = {**os.environ, "NUMBA_CACHE_DIR": cache}
        shown = subprocess.run(command, env=environment, check=True, capture_output=True, text=True)
    first, second = map(float, shown.stdout.split())
    return first - second


def best(function: Callable[[], object]) -> float:
    """Return the least time of several calls."""
    times = []
    for _ in range(7):
        start = time.thread_time()
        function()
        times.append(time.thread_time() - start)
    return min(times)


def main() -> None:
    """Print the times to compile and to sort."""
    if len(sys.argv) > 1:
        first_fit(sys.argv[1])
        return
    print(f"python {platform.python_version()}, numpy {np.__version__}, numba {numba.__version__}\n")
    rounds = [(compile_seconds("ours"), compile_seconds("argsort")) for _ in range(RUNS)]
    report("first fit, to compile", *(min(times) for times in zip(*rounds, strict=True)))
    for size in SIZES:
        scores = np.random.default_rng(0).normal(size=size)
        times = []
        for sort in (_sort_descending, by_argsort):
            sort(scores, np.arange(size), 1.0)
            times.append(best(lambda sort=sort: sort(scores, np.arange(size), 1.0)))  # noqa: B023
        report(f"{size:9,} rows, to sort", *times)


def report(title: str, ours: float, argsort: float) -> None:
    """Print the times of both sorts and their ratio."""
    ratio = argsort / ours
    print(f"{title:25s} ours {ours:9.6f} s   argsort {argsort:9.6f} s   {ratio:.2f} of ours", flush=True)


if __name__ == "__main__":
    main()
