"""Do threads, processes and kills change an answer of alerts or of a duel?

    python benchmarks/alert_threads.py > benchmarks/alert_threads.txt

Streams are those of alert_streams.py, in files of some rows. Each is decided once by one thread, and then by
2 and by 8 threads and by two processes, which all ask for every file in the same order: whoever comes
first decides, and all must have the answers of the one thread. A process is also killed after one to three
files, and another goes on. Duels are given whole days, and their answers are who owns each row.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import tempfile
import time
import warnings
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from itertools import cycle, islice
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.alert_streams import KINDS, N_PAST, stream
from pushrank.budgets import Budget
from pushrank.monitoring import AlertThreshold, Duel

SECRET: dict[str, Any] = {"secret": "of the benchmark"}
N_DAYS, N_FILES = 4, 3
"""New days of a stream, and files of each day where its rows do not come at one moment."""
CHILD = """
import sys
from pathlib import Path
from benchmarks.alert_threads import ask, files_of
kind, seed, is_duel, path = sys.argv[1], int(sys.argv[2]), sys.argv[3] == "1", Path(sys.argv[4])
for rows in files_of(kind, seed, is_duel):
    print(" ".join(ask(path, is_duel, kind, seed, rows)), flush=True)
"""


def begun(path: Path, is_duel: bool, kind: str, seed: int) -> None:
    """Begin the state of a stream."""
    scores, times, _, n = stream(kind, seed)
    if is_duel:
        Duel(Budget(n), path, **SECRET).close()
        return
    past = Budget(n).periods(times).codes < N_PAST
    AlertThreshold(n, path).fit(scores[past], times[past]).close()


def files_of(kind: str, seed: int, is_duel: bool) -> list[np.ndarray]:
    """Return the rows of each file."""
    _, times, _, n = stream(kind, seed)
    codes = Budget(n).periods(times).codes
    days = [np.flatnonzero(codes == N_PAST + day) for day in range(N_DAYS)]
    in_order = [rows[np.argsort(times[rows], kind="stable")] for rows in days]
    n_files = 1 if is_duel or kind in list(KINDS)[:3] else N_FILES
    return [part for rows in in_order for part in np.array_split(rows, n_files)]


def answers(state: Any, kind: str, seed: int, rows: np.ndarray) -> list[str]:
    """Return what an open state says of rows."""
    scores, times, hits, _ = stream(kind, seed)
    if isinstance(state, Duel):
        rival = scores + np.random.default_rng(seed).normal(size=len(scores))
        owners = state.assign(scores[rows], rival[rows], times[rows], rows)
        state.credit(hits[rows], times[rows], rows)
        return [owner or "-" for owner in owners.tolist()]
    return [str(int(act)) for act in state.decide(scores[rows], times[rows], rows)]


def ask(path: Path, is_duel: bool, kind: str, seed: int, rows: np.ndarray) -> list[str]:
    """Return what a state on disk says of rows, after those who hold it."""
    while True:
        try:
            with closing((Duel if is_duel else AlertThreshold).open(path)) as state:
                return answers(state, kind, seed, rows)
        except BlockingIOError:
            time.sleep(0.002)


def by_threads(path: Path, is_duel: bool, kind: str, seed: int, n_threads: int) -> list[list[str]]:
    """Return the answers that each thread has."""
    begun(path, is_duel, kind, seed)
    files = files_of(kind, seed, is_duel)
    with (
        closing((Duel if is_duel else AlertThreshold).open(path)) as state,
        ThreadPoolExecutor(n_threads) as pool,
    ):

        def all_files(_: int) -> list[str]:
            return [answer for rows in files for answer in answers(state, kind, seed, rows)]

        return list(pool.map(all_files, range(n_threads)))


def by_processes(path: Path, is_duel: bool, kind: str, seed: int, *, killed: int | None) -> list[list[str]]:
    """Return the answers of two processes at once, or of one that is killed after some files and another."""
    begun(path, is_duel, kind, seed)
    command = [sys.executable, "-c", CHILD, kind, str(seed), str(int(is_duel)), str(path)]
    children = [
        subprocess.Popen(command, stdout=subprocess.PIPE, text=True) for _ in range(1 + (killed is None))
    ]
    if killed is None:
        return [child.communicate()[0].split() for child in children]
    [child] = children
    assert child.stdout is not None
    first = [word for _ in range(killed) for word in child.stdout.readline().split()]
    child.kill()
    child.communicate()
    rest = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True).stdout.split()
    assert rest[: len(first)] == first
    return [rest]


def main() -> None:
    """Print how many streams have the answers of one thread."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--streams", type=int, default=400, help="streams for threads, a tenth for processes")
    n_streams = parser.parse_args().streams
    warnings.simplefilter("error")
    pairs = list(islice(((kind, seed) for seed, kind in enumerate(cycle(KINDS))), n_streams))
    for is_duel in (False, True):
        same = dict.fromkeys(["2 threads", "8 threads", "2 processes", "a killed process and another"], 0)
        of_processes = 0
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "state.db"
            for at, (kind, seed) in enumerate(pairs):
                [expected] = by_threads(path, is_duel, kind, seed, 1)
                for n_threads in (2, 8):
                    found = by_threads(path, is_duel, kind, seed, n_threads)
                    same[f"{n_threads} threads"] += all(of == expected for of in found)
                if at % 10 == 0:
                    of_processes += 1
                    found = by_processes(path, is_duel, kind, seed, killed=None)
                    same["2 processes"] += all(of == expected for of in found)
                    found = by_processes(path, is_duel, kind, seed, killed=1 + at % 3)
                    same["a killed process and another"] += found == [expected]
        print("a duel:" if is_duel else "alerts:")
        for name, n in same.items():
            n_all = of_processes if "process" in name else len(pairs)
            print(f"  {n} of {n_all} streams with {name} have the same answers")


if __name__ == "__main__":
    main()
