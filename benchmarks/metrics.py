"""How long does every measure take on ten million scores, in sorts of them?

    python benchmarks/metrics.py > benchmarks/metrics.txt

Each measure is called alone, by its public name, and so sorts the scores itself.
"""

from __future__ import annotations

import argparse
import statistics
import time
from collections.abc import Callable
from functools import partial

import numba
import numpy as np

from pushrank import metrics

AT_K = ("enrichment_factor", "lift", "precision_at_k", "recall_at_k")
NO_MEASURES = (
    "AtBudget",
    "AtPrecision",
    "AtRecall",
    "Guaranteed",
    "Measurement",
    "compare",
    "confidence_interval",
    "gains_table",
    "make_top_scorer",
    "measure",
    "threshold_for",
    "value_at_k",
)


def seconds(function: Callable[[], object]) -> float:
    """Return the wall-clock time of one call."""
    start = time.perf_counter()
    function()
    return time.perf_counter() - start


def compare(y: np.ndarray, scores: np.ndarray, repeats: int) -> None:
    """Time all measures, in turn, and print the ratio of the medians."""
    calls: dict[str, Callable[[], object]] = {
        name: partial(getattr(metrics, name), y, scores)
        for name in metrics.__all__
        if name not in (*AT_K, *NO_MEASURES, "top_of_list")
    }
    for name in AT_K:
        calls[name] = partial(getattr(metrics, name), y, scores, fraction_of_positives=0.25)
    for call in calls.values():  # compile
        call()
    times: dict[str, list[float]] = {name: [] for name in ("argsort", *calls, "top_of_list")}
    for _ in range(repeats):
        times["argsort"].append(seconds(partial(np.argsort, scores)))
        for name, call in calls.items():
            times[name].append(seconds(call))
        times["top_of_list"].append(seconds(partial(metrics.top_of_list, y, scores)))
    medians = {name: statistics.median(values) for name, values in times.items()}
    medians["all measures, one by one"] = sum(medians[name] for name in calls)
    print(f"\n{y.mean():.0%} positive")
    for name, median in medians.items():
        print(f"  {name:28s} {median:7.3f} s   {median / medians['argsort']:5.2f}")


def main() -> None:
    """Compare on three shares of positives."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=10_000_000)
    parser.add_argument("--repeats", type=int, default=5)
    arguments = parser.parse_args()
    print(
        f"numpy {np.__version__}, {numba.config.NUMBA_NUM_THREADS} threads; "
        f"{arguments.rows:,} float64 scores; medians of {arguments.repeats}"
    )
    rng = np.random.default_rng(0)
    for share in (0.01, 0.1, 0.5):
        y = rng.random(arguments.rows) < share
        compare(y, rng.normal(size=arguments.rows) + y, arguments.repeats)


if __name__ == "__main__":
    main()
