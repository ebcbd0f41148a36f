"""Time of a thousand resamples of a million scores, and coverage of the intervals by simulation.

    python benchmarks/intervals.py time > benchmarks/intervals_time.txt
    python benchmarks/intervals.py coverage > benchmarks/intervals_coverage.txt

Time is a ratio to one ``numpy.argsort`` of the scores, and to what copying and sorting the rows of every
resample would cost (estimated from a few). Coverage draws data sets from a population whose measure is known,
and counts how often the interval holds it: normal scores, those of positives shifted, rounded or not.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable
from functools import partial
from typing import Any

import numba
import numpy as np

from pushrank import metrics
from pushrank.metrics.bootstrap import METHODS
from pushrank.metrics.intervals import CorrectedPercentiles, Percentiles
from pushrank.metrics.ranks import Ranking
from pushrank.metrics.resampling import Resampler

SHIFT = 1.0
POPULATIONS = ((50, 200, None), (100, 400, 0.5))
MEASURES: dict[str, Any] = {
    "auc": metrics.auc,
    "average_precision": metrics.average_precision,
    "partial_auc (0.1)": metrics.partial_auc,
    "precision_at_k (1/4 of positives)": partial(metrics.precision_at_k, k=0.25, ties="half"),
    "recall_at_k (all positives)": partial(metrics.recall_at_k, k=1.0, ties="half"),
    "bedroc (20)": metrics.bedroc,
}


def scores_of(y: np.ndarray, rng: np.random.Generator, step: float | None) -> np.ndarray:
    """Draw scores: normal, shifted for positives, rounded to a step."""
    scores = rng.normal(size=len(y)) + SHIFT * y
    return scores if step is None else np.round(scores / step) * step


def population(share: float, step: float | None) -> dict[str, float]:
    """Return the measures of the population, from ten million rows."""
    rng = np.random.default_rng(12345)
    found: dict[str, list[float]] = {name: [] for name in MEASURES}
    for _ in range(5):
        y = np.arange(2_000_000) < share * 2_000_000
        scores = scores_of(y, rng, step)
        for name, measure in MEASURES.items():
            found[name].append(measure(y, scores))
    return {name: float(np.mean(values)) for name, values in found.items()}


def ends_of_all_methods(
    measure: Any, y: np.ndarray, scores: np.ndarray, n_resamples: int, seed: int
) -> dict[str, tuple[float, float]]:
    """Return the ends by every method; what ``confidence_interval`` returns, with resamples drawn once."""
    resampler = Resampler([Ranking(y, scores)], measure)
    values = resampler.on_resamples(n_resamples, seed)[:, 0]
    without = [left_out[:, 0] for left_out in resampler.without_blocks(seed)]
    found = {
        "bootstrap": Percentiles(values).ends(0.95),
        "bca": CorrectedPercentiles(values, resampler.on_data()[0], without).ends(0.95),
    }
    if measure is metrics.auc:
        found["delong"] = metrics.confidence_interval("auc", y, scores, method="delong")[:2]
    return found


def coverage(n_sets: int, n_resamples: int) -> None:
    """Print how often 95 % intervals hold the population's measure."""
    print(f"coverage of 95 % intervals, {n_sets} data sets, {n_resamples} resamples each")
    print(f"standard error of a coverage of 95 %: {100 * np.sqrt(0.95 * 0.05 / n_sets):.1f} %")
    for n_positive, n_negative, step in POPULATIONS:
        truth = population(n_positive / (n_positive + n_negative), step)
        y = np.repeat([True, False], [n_positive, n_negative])
        ties = "no ties" if step is None else f"scores rounded to {step}"
        print(f"\n{n_positive} positives, {n_negative} negatives, {ties}")
        print(f"  {'measure':36s} {'truth':>7s}  {'bootstrap':>9s} {'bca':>6s} {'delong':>6s}", flush=True)
        for name, measure in MEASURES.items():
            inside: dict[str, int] = {}
            for seed in range(n_sets):
                scores = scores_of(y, np.random.default_rng(seed), step)
                ends = ends_of_all_methods(measure, y, scores, n_resamples, seed)
                for method, (low, high) in ends.items():
                    inside[method] = inside.get(method, 0) + (low <= truth[name] <= high)
            shares = [f"{inside[m] / n_sets:.1%}" if m in inside else "" for m in METHODS]
            row = f"  {name:36s} {truth[name]:7.4f}  {shares[0]:>9s} {shares[1]:>6s} {shares[2]:>6s}"
            print(row.rstrip(), flush=True)


def seconds(function: Callable[[], object]) -> float:
    """Return the wall-clock time of one call."""
    start = time.perf_counter()
    function()
    return time.perf_counter() - start


def copied_resample(y: np.ndarray, scores: np.ndarray, measure: Callable[..., Any]) -> float:
    """Return the time of one resample as it is usually done: copy the rows, sort, measure."""
    rng = np.random.default_rng(0)

    def run() -> None:
        rows = np.concatenate(
            [rng.choice(np.flatnonzero(y == value), np.count_nonzero(y == value)) for value in (True, False)]
        )
        measure(y[rows], scores[rows])

    return min(seconds(run) for _ in range(5))


def timing(n_rows: int, n_resamples: int) -> None:
    """Print the time of all resamples, beside that of copying and sorting."""
    print(
        f"numpy {np.__version__}, {numba.config.NUMBA_NUM_THREADS} threads; {n_rows:,} scores, "
        f"{n_resamples:,} resamples; best of 3"
    )
    rng = np.random.default_rng(0)
    for share in (0.01, 0.1, 0.5):
        y = rng.random(n_rows) < share
        scores = rng.normal(size=n_rows) + y
        sort = min(seconds(lambda: np.argsort(scores)) for _ in range(3))  # noqa: B023
        print(f"\n{share:.0%} positive; one argsort {sort:.3f} s")
        print(f"  {'measure':36s} {'seconds':>8s} {'argsorts':>9s} {'times quicker than copied rows':>31s}")
        for name in ("auc", "average_precision", "positives_at_top", "bedroc", "partial_auc"):
            measure = getattr(metrics, name)
            interval = partial(metrics.confidence_interval, measure, y, scores, random_state=0)
            interval(n_resamples=10)  # compile
            taken = min(seconds(partial(interval, n_resamples=n_resamples)) for _ in range(3))
            copied = n_resamples * copied_resample(y, scores, measure)
            print(f"  {name:36s} {taken:8.2f} {taken / sort:9.1f} {copied / taken:31.1f}", flush=True)


def main() -> None:
    """Run one of the two."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("what", choices=["time", "coverage"])
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--resamples", type=int, default=500, help="of each interval, for coverage")
    parser.add_argument("--sets", type=int, default=2000)
    arguments = parser.parse_args()
    if arguments.what == "time":
        timing(arguments.rows, 1000)
    else:
        coverage(arguments.sets, arguments.resamples)


if __name__ == "__main__":
    main()
