"""How much memory and time does a fit to rows on disk take, beside a plain read of the file?

    python benchmarks/out_of_core.py --rows 5e7 --folder /path/with/room > benchmarks/out_of_core.txt

Rows of 50 float32 features are drawn block by block and written to the file that the fits read. An evaluation
of the objective and its gradient is one pass over the file for PNormPush and two for IRPush. A plain read is
one thread that reads the file of the features from start to end into one buffer. Evaluations and reads take
turns, and before each the file's pages are dropped from the system's cache; if memory holds the file twice,
both are measured once more with the pages in the cache. Peak memory is the process's largest
resident set from its start to the end of the fit. The coefficients that are compared with those in memory
are of float64 features.
"""

from __future__ import annotations

import argparse
import os
import platform
import resource
import statistics
import tempfile
import time
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

import numpy as np

from pushrank import IRPush, PNormPush
from pushrank.datasets import DiskRows
from pushrank.objectives import PushObjective
from pushrank.prices import Power
from pushrank.rows import StoredRows
from pushrank.solvers.problem import SumsProblem

N_FEATURES = 50
BLOCK = 100_000
READ = 1 << 23
SMALL = 1_000_000


def blocks(n_rows: int, seed: int) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """Yield correlated normal features, and labels of which about 14 % are positive."""
    rng = np.random.default_rng(seed)
    mixing = np.eye(N_FEATURES, dtype=np.float32) + 0.1 * rng.normal(size=(N_FEATURES, N_FEATURES))
    coef = rng.normal(size=N_FEATURES)
    coef *= 2.0 / np.linalg.norm(mixing @ coef)
    for start in range(0, n_rows, BLOCK):
        X = rng.standard_normal((min(BLOCK, n_rows - start), N_FEATURES), dtype=np.float32)
        X = X @ mixing.astype(np.float32)
        yield X, X @ coef - 3.0 + rng.logistic(size=len(X)) > 0


def seconds(function: Callable[[], object]) -> float:
    """Return the wall-clock time of one call."""
    start = time.perf_counter()
    function()
    return time.perf_counter() - start


def plain_read(path: Path) -> None:
    """Read a file from its start to its end into one buffer."""
    buffer = bytearray(READ)
    with path.open("rb", buffering=0) as file:
        while file.readinto(buffer):
            pass


def drop_pages(path: Path) -> None:
    """Ask the system to forget the pages of a file."""
    with path.open("rb") as file:
        os.posix_fadvise(file.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)


def peak_memory() -> float:
    """Return the largest resident set of this process so far, in GiB."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / (1 << 20)


def main() -> None:
    """Run and print."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--rows", type=float, default=5e7)
    parser.add_argument("--folder", type=Path, default=Path(tempfile.gettempdir()))
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--parts", nargs="+", default=["passes", "fit", "memory"])
    args = parser.parse_args()
    n_rows = int(args.rows)
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / (1 << 30)
    size = n_rows * N_FEATURES * 4 / (1 << 30)
    print(f"{platform.machine()}, {os.cpu_count()} processors, {memory:.0f} GiB, numpy {np.__version__}")
    if {"passes", "fit"} & set(args.parts):
        start = time.perf_counter()
        with tempfile.TemporaryDirectory(dir=args.folder) as folder:
            rows = DiskRows.write(Path(folder) / "rows", blocks(n_rows, 0))
            print(f"{n_rows} rows of {N_FEATURES} float32: {size:.2f} GiB", end="")
            print(f", drawn and written in {time.perf_counter() - start:.0f} s", flush=True)
            if "passes" in args.parts:
                time_passes(rows, args.repeats, fits_memory=2 * size < memory)
            if "fit" in args.parts:
                fit(rows)
    if "memory" in args.parts:
        compare_with_memory(args.folder)


def time_passes(rows: DiskRows, repeats: int, *, fits_memory: bool) -> None:
    """Print what evaluations take beside plain reads."""
    file = rows.path / "rows"
    source = StoredRows(rows)
    for name, price, scale in (("PNormPush", Power(4.0), "log"), ("IRPush", "log_one_plus", "mean")):
        side = "push" if scale == "log" else "pull"
        problem = SumsProblem(PushObjective(price=price, scale=scale, side=side), source, 1e-3)
        coef = np.random.default_rng(1).normal(size=N_FEATURES) / 10
        problem.value_and_gradient(coef)  # compiles
        for cold in (True, False) if fits_memory else (True,):
            ratios, reads = [], []
            for _ in range(repeats):
                if cold:
                    drop_pages(file)
                reads.append(seconds(lambda: plain_read(file)))
                if cold:
                    drop_pages(file)
                evaluation = partial(problem.value_and_gradient, coef)
                ratios.append(seconds(evaluation) / reads[-1])
            pages = "dropped" if cold else "kept"
            print(
                f"{name:9}, pages {pages}: a plain read {statistics.median(reads):.2f} s, an evaluation "
                f"{statistics.median(ratios):.2f} times that, {min(ratios):.2f} to {max(ratios):.2f}",
                flush=True,
            )


def fit(rows: DiskRows) -> None:
    """Print what a fit takes, how it ends, and the largest memory so far."""
    ranker = PNormPush(p=4)
    taken = seconds(lambda: ranker.fit(rows))
    print(
        f"PNormPush(p=4): {taken:.0f} s, {ranker.n_iter_} iterations, converged {ranker.converged_}, "
        f"dual gap {ranker.dual_gap_:.1e}; peak memory {peak_memory():.2f} GiB",
        flush=True,
    )


def compare_with_memory(folder: Path) -> None:
    """Print how far coefficients are from those in memory."""
    X, y = (np.concatenate(part) for part in zip(*blocks(SMALL, 2), strict=True))
    X = X.astype(np.float64)
    for ranker in (PNormPush(p=4), PNormPush(p=64), IRPush()):
        in_memory = type(ranker)(**ranker.get_params())
        in_memory_time = seconds(partial(in_memory.fit, X, y))
        with tempfile.TemporaryDirectory(dir=folder) as new:
            rows = DiskRows.write(Path(new) / "rows", blocks(SMALL, 2), dtype="float64")
            ratio = seconds(partial(ranker.fit, rows)) / in_memory_time
        largest = np.max(np.abs(in_memory.coef_))
        print(
            f"{ranker} at {SMALL} rows: coefficients differ from those in memory by "
            f"{np.max(np.abs(ranker.coef_ - in_memory.coef_)) / largest:.0e}, the threshold by "
            f"{abs(ranker.threshold_ - in_memory.threshold_):.0e}; time {ratio:.2f} times that in memory",
            flush=True,
        )


if __name__ == "__main__":
    main()
