"""Ratios of times that take seconds to measure, kept as JSON, and a check that none has grown by a fifth.

    python benchmarks/compare_runs.py measure after.json           # again, to keep the least of several runs
    python benchmarks/compare_runs.py compare before.json after.json

Every time is in units of a yardstick in the same run, so that machines can be compared.
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

N_SCORES, N_ROWS, N_COLUMNS, N_REPEATS = 300_000, 20_000, 20, 7
MAX_GROWTH = 1.2


def seconds(function: Callable[[], object]) -> float:
    """Return the processor time of one call, of which a busy machine takes less away than of the clock's."""
    start = time.process_time()
    function()
    return time.process_time() - start


def measure() -> dict[str, float]:
    """Return each operation's least time over that of its yardstick, taken in turn."""
    rng = np.random.default_rng(0)
    y, labels = rng.random(N_SCORES) < 0.1, rng.random(N_ROWS) < 0.1
    scores = rng.normal(size=N_SCORES) + y
    X = rng.normal(size=(N_ROWS, N_COLUMNS)) + 0.3 * labels[:, None]
    objectives = {loss: PushObjective(loss, Power(4), scale="log") for loss in ("exponential", "logistic")}
    yardsticks: dict[str, Callable[[], object]] = {
        "argsort": lambda: np.argsort(scores),
        "LogisticRegression": lambda: LogisticRegression().fit(X, labels),
    }
    operations: dict[str, tuple[str, Callable[[], object]]] = {
        "exponential objective": ("argsort", lambda: objectives["exponential"].evaluate(y, scores)),
        "logistic objective": ("argsort", lambda: objectives["logistic"].evaluate(y, scores)),
        "average precision": ("argsort", lambda: metrics.average_precision(y, scores)),
        "PNormPush": ("LogisticRegression", lambda: PNormPush().fit(X, labels)),
    }
    calls = yardsticks | {name: call for name, (_, call) in operations.items()}
    for call in calls.values():
        call()  # compiles
    times = [{name: seconds(call) for name, call in calls.items()} for _ in range(N_REPEATS)]
    least = {name: min(taken[name] for taken in times) for name in calls}
    return {name: least[name] / least[yardstick] for name, (yardstick, _) in operations.items()}


def keep(path: Path, ratios: dict[str, float]) -> None:
    """Write ratios, or the lower ones of a file that is there."""
    kept = json.loads(path.read_text(encoding="utf-8")) if path.exists() else {}
    least = {name: min(ratio, kept.get(name, ratio)) for name, ratio in ratios.items()}
    path.write_text(json.dumps(least, indent=1) + "\n", encoding="utf-8")


def compare(before: dict[str, float], after: dict[str, float]) -> list[str]:
    """Print ratios side by side, and return the names of those that grew by more than a fifth."""
    growth = {name: after[name] / before[name] for name in before if name in after}
    for name, grown in growth.items():
        print(f"{name:24s} {before[name]:8.3f} {after[name]:8.3f}   x {grown:.2f}")
    return [name for name, grown in growth.items() if grown > MAX_GROWTH]


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
