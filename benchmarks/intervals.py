"""How long do a thousand resamples of a million scores take, and do the intervals cover the truth?

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
from pushrank.metrics._bootstrap import JACKKNIFE_BLOCKS, BinnedRows, draw_counts, sum_in_order
from pushrank.metrics._counts import counts_around
from pushrank.metrics._ranking import Ranking
from pushrank.metrics._sampling import METHODS, BCaInterval, PercentileInterval
from pushrank.metrics.early_recognition import discounts_gained
from pushrank.metrics.precision import precisions_of_ties
from pushrank.metrics.roc import misranked_weight, roc_area

SHIFT = 1.0
POPULATIONS = ((50, 200, None), (200, 800, None), (200, 800, 0.5))
MEASURES: dict[str, Any] = {
    "auc": metrics.auc,
    "average_precision": metrics.average_precision,
    "partial_auc (0.1)": metrics.partial_auc,
    "precision_at_k (1/4 of positives)": partial(metrics.precision_at_k, fraction_of_positives=0.25),
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


@numba.njit(error_model="numpy")
def measures_of(counts, of_negatives, ends, negative_ends, totals, k, out):
    """Write the five measures of counted rows, by the library's own loops."""
    at, within = np.empty(len(ends)), np.empty(len(negative_ends))
    sum_in_order(counts, ends, at)
    sum_in_order(of_negatives, negative_ends, within)
    p, n = totals
    out[0] = 1.0 - misranked_weight(at, within, n, 0.5) / p
    out[1] = precisions_of_ties(at, within) / p
    area = roc_area(at / p, within / n, 0.5, 0.1, 0.0)
    out[2] = 0.5 * (1.0 + (area - 0.005) / (0.1 - 0.005))
    hits, misses, tied, tied_misses = counts_around(at, within, 1.0, 1.0, k)
    out[3] = (hits + (k - hits - misses) * tied / (tied + tied_misses)) / k
    rate, share = 20.0 / (p + n), p / (p + n)
    bedroc = discounts_gained(at, within, rate, 0.5) / (np.expm1(-rate * p) * np.expm1(-rate * n))
    most = np.expm1(-20.0 * share) / (share * np.expm1(-20.0))
    out[4] = most * (np.exp(-rate * n) - bedroc * np.expm1(-rate * n))


@numba.njit(error_model="numpy")
def all_resamples(seeds, ends, negative_ends, k):
    """Return the measures on the rows, on every resample, and with each positive and each negative twice."""
    n_positive, n_negative = ends[-1], negative_ends[-1]
    ones = np.ones(n_positive, dtype=np.uint8), np.ones(n_negative, dtype=np.uint8)
    found = np.empty(5)
    measures_of(ones[0], ones[1], ends, negative_ends, (float(n_positive), float(n_negative)), k, found)
    values = np.empty((len(seeds), 5))
    counts = np.empty(n_positive, dtype=np.uint8), np.empty(n_negative, dtype=np.uint8)
    for r in range(len(seeds)):
        draw_counts(seeds[r, 0], counts[0])
        draw_counts(seeds[r, 1], counts[1])
        totals = float(n_positive), float(n_negative)
        measures_of(counts[0], counts[1], ends, negative_ends, totals, k, values[r])
    twice, twice_negative = np.empty((n_positive, 5)), np.empty((n_negative, 5))
    for i in range(n_positive):
        ones[0][i] = 2
        totals = float(n_positive + 1), float(n_negative)
        share_k = float(max(1, round(0.25 * (n_positive + 1))))
        measures_of(ones[0], ones[1], ends, negative_ends, totals, share_k, twice[i])
        ones[0][i] = 1
    for i in range(n_negative):
        ones[1][i] = 2
        totals = float(n_positive), float(n_negative + 1)
        measures_of(ones[0], ones[1], ends, negative_ends, totals, k, twice_negative[i])
        ones[1][i] = 1
    return found, values, twice, twice_negative


def ends_of_all_methods(
    y: np.ndarray, scores: np.ndarray, n_resamples: int, seed: int
) -> dict[str, dict[str, tuple[float, float]]]:
    """Return the ends of all measures by every method, all resamples being drawn in one compiled loop."""
    ranking = Ranking(y, scores)
    binned = [
        BinnedRows(np.cumsum(c.astype(np.int64))) for c in (ranking.positive_counts, ranking.negative_counts)
    ]
    seeds = np.random.RandomState(seed).randint(2**64 - 1, size=(n_resamples, 2), dtype=np.uint64)
    k = float(max(1, round(0.25 * np.count_nonzero(y))))
    found, values, *twice = all_resamples(seeds, binned[0].ends, binned[1].ends, k)
    fewest = min(np.count_nonzero(y), np.count_nonzero(~y))
    ends = {}
    for m, name in enumerate(MEASURES):
        ends[name] = {
            "bootstrap": PercentileInterval(values[:, m]).limits(0.95),
            "bca": BCaInterval(values[:, m], found[m], [t[:, m] for t in twice], fewest).limits(0.95),
        }
    ends["auc"]["delong"] = metrics.confidence_interval(y, scores, "auc", method="delong")[:2]
    return ends


def check_against_the_library(y: np.ndarray, scores: np.ndarray) -> None:
    """Raise unless the loop above draws and measures what ``confidence_interval`` does."""
    ends = ends_of_all_methods(y, scores, 200, 7)
    for name, measure in MEASURES.items():
        for method in ("bootstrap", "bca"):
            expected = metrics.confidence_interval(
                y, scores, measure, method=method, n_resamples=200, random_state=7
            )
            low, high = ends[name][method]
            # of a class of more rows the library counts blocks of them twice
            exact = method == "bootstrap" or max(np.bincount(y)) <= JACKKNIFE_BLOCKS
            rtol = 1e-9 if exact else 1e-2
            np.testing.assert_allclose((low, high), expected[:2], rtol=rtol, err_msg=name)


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
        first = scores_of(y, np.random.default_rng(0), step)
        check_against_the_library(y, first)
        inside: dict[tuple[str, str], int] = {}
        for seed in range(n_sets):
            scores = scores_of(y, np.random.default_rng(seed), step)
            for name, methods in ends_of_all_methods(y, scores, n_resamples, seed).items():
                for method, (low, high) in methods.items():
                    inside[name, method] = inside.get((name, method), 0) + (low <= truth[name] <= high)
        for name in MEASURES:
            shares = [f"{inside[name, m] / n_sets:.1%}" if (name, m) in inside else "" for m in METHODS]
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
        f"{n_resamples:,} resamples; best of 2"
    )
    rng = np.random.default_rng(0)
    for share in (0.01, 0.1):
        y = rng.random(n_rows) < share
        scores = rng.normal(size=n_rows) + y
        sort = min(seconds(lambda: np.argsort(scores)) for _ in range(3))  # noqa: B023
        print(f"\n{share:.0%} positive; one argsort {sort:.3f} s")
        print(f"  {'measure':36s} {'seconds':>8s} {'argsorts':>9s} {'times quicker than copied rows':>31s}")
        for name in ("auc", "average_precision", "positives_at_top", "bedroc"):
            measure = getattr(metrics, name)
            interval = partial(metrics.confidence_interval, y, scores, measure, random_state=0)
            interval(n_resamples=10)  # compile
            taken = min(seconds(partial(interval, n_resamples=n_resamples)) for _ in range(2))
            copied = n_resamples * copied_resample(y, scores, measure)
            print(f"  {name:36s} {taken:8.2f} {taken / sort:9.1f} {copied / taken:31.1f}", flush=True)


def main() -> None:
    """Run one of the two."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("what", choices=["time", "coverage"])
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--resamples", type=int, default=1000, help="of each interval, for coverage")
    parser.add_argument("--sets", type=int, default=2000)
    arguments = parser.parse_args()
    if arguments.what == "time":
        timing(arguments.rows, 1000)
    else:
        coverage(arguments.sets, arguments.resamples)


if __name__ == "__main__":
    main()
