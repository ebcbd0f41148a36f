"""Has a ratio of times grown by a fifth since another checkout?

    python benchmarks/compare_runs.py measure after.json           # again, to keep the least of several runs
    python benchmarks/compare_runs.py compare before.json after.json

Least times are compared, each in units of a yardstick's least time, so that machines can be compared. The
least of several ratios would come from the run in which other work delayed the yardstick most. Set
OMP_NUM_THREADS=1 and NUMBA_NUM_THREADS=1: on more threads the same code differs by half from run to run.
"""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
from sklearn.linear_model import LogisticRegression

from pushrank import PNormPush, PushObjective, metrics
from pushrank.prices import Power

N_SCORES, N_ROWS, N_COLUMNS, N_REPEATS = 300_000, 20_000, 20, 15
MAX_GROWTH = 1.2
YARDSTICKS = {
    "exponential objective": "argsort",
    "logistic objective": "argsort",
    "average precision": "argsort",
    "PNormPush": "LogisticRegression",
}


def seconds(function: Callable[[], object]) -> float:
    """Return the processor time of one call, of which a busy machine takes less away than of the clock's."""
    start = time.process_time()
    function()
    return time.process_time() - start


def measure() -> dict[str, float]:
    """Return the least seconds of each operation and each yardstick, taken in turn."""
    rng = np.random.default_rng(0)
    y, labels = rng.random(N_SCORES) < 0.1, rng.random(N_ROWS) < 0.1
    scores = rng.normal(size=N_SCORES) + y
    X = rng.normal(size=(N_ROWS, N_COLUMNS)) + 0.3 * labels[:, None]
    objectives = {loss: PushObjective(loss, Power(4), scale="log") for loss in ("exponential", "logistic")}
    calls: dict[str, Callable[[], object]] = {
        "argsort": lambda: np.argsort(scores),
        "LogisticRegression": lambda: LogisticRegression().fit(X, labels),
        "exponential objective": lambda: objectives["exponential"].evaluate(y, scores),
        "logistic objective": lambda: objectives["logistic"].evaluate(y, scores),
        "average precision": lambda: metrics.average_precision(y, scores),
        "PNormPush": lambda: PNormPush().fit(X, labels),
    }
    for call in calls.values():
        call()  # compiles
    times = [{name: seconds(call) for name, call in calls.items()} for _ in range(N_REPEATS)]
    return {name: min(taken[name] for taken in times) for name in calls}


def keep(path: Path, times: dict[str, float]) -> None:
    """Write times, or the lower ones of a file that is there."""
    kept = json.loads(path.read_text(encoding="utf-8")) if path.exists() else {}
    least = {name: min(taken, kept.get(name, taken)) for name, taken in times.items()}
    path.write_text(json.dumps(least, indent=1) + "\n", encoding="utf-8")


def compare(before: dict[str, float], after: dict[str, float]) -> list[str]:
    """Print ratios side by side, and return the names of those that grew by more than a fifth."""
    slower = []
    for name, yardstick in YARDSTICKS.items():
        earlier, later = (times[name] / times[yardstick] for times in (before, after))
        print(f"{name:24s} {earlier:8.3f} {later:8.3f}   x {later / earlier:.2f}")
        if later > MAX_GROWTH * earlier:
            slower.append(name)
    return slower


def main() -> None:
    """Measure, or compare and fail where a ratio is a fifth worse."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("what", choices=("measure", "compare"))
    parser.add_argument("files", type=Path, nargs="+", help="one to write, or two to compare")
    arguments = parser.parse_args()
    if len(arguments.files) != (1 if arguments.what == "measure" else 2):
        parser.error("measure takes one file, compare two")
    if arguments.what == "measure":
        keep(arguments.files[0], measure())
        return
    slower = compare(*(json.loads(path.read_text(encoding="utf-8")) for path in arguments.files))
    if slower:
        raise SystemExit(f"slower by more than a fifth: {', '.join(slower)}")


if __name__ == "__main__":
    main()
