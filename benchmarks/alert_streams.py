"""What do alerts find of the best list, on days without times, with few and with many?

    python benchmarks/alert_streams.py > benchmarks/alert_streams.txt

Each stream has 60 past days, by which the threshold is fitted, and 30 new ones, decided in files of a day
or of all days. The hits of the alerts are divided by those of the best list, the first rows of each day by
score, known at its end. Where all rows of a day come at one moment no rule that sees them together finds more
than that by score; where they come one by one nobody knows the end of the day.
"""

from __future__ import annotations

import argparse
import warnings
from itertools import product

import numpy as np

from pushrank.budgets import Budget
from pushrank.monitoring import AlertThreshold

FIRST, N_PAST, N_NEW = np.datetime64("2026-01-01", "us"), 60, 30
SECOND = 1_000_000
KINDS = {
    "no times": lambda _, n: np.zeros(n),
    "one moment of each day": lambda rng, n: np.full(n, rng.integers(86_400)),
    "nearly all at one moment": lambda rng, n: np.where(
        rng.random(n) < 0.95, 0, rng.integers(86_400, size=n)
    ),
    "two moments": lambda rng, n: rng.choice([28_800, 57_600], n),
    "eight moments": lambda rng, n: 3_600 * rng.integers(8, 16, size=n),
    "a burst of ten minutes": lambda rng, n: 120 + rng.integers(600, size=n),
    "half at night, half by day": lambda rng, n: np.where(
        rng.random(n) < 0.5, 0, rng.integers(86_400, size=n)
    ),
    "office hours": lambda rng, n: np.clip(rng.normal(43_200, 9_000, n), 0, 86_399),
    "round the clock": lambda rng, n: rng.integers(86_400, size=n),
}


def stream(kind: str, seed: int) -> tuple[np.ndarray, np.ndarray, np.ndarray, int]:
    """Return scores, times, hits and a budget, of days whose levels differ or do not."""
    rng = np.random.default_rng([list(KINDS).index(kind), seed])
    budget = int(rng.choice([3, 10, 30]))
    sizes = rng.poisson(budget * rng.choice([4, 12, 40]), N_PAST + N_NEW)
    days = np.repeat(np.arange(len(sizes)), sizes)
    seconds = np.concatenate([KINDS[kind](rng, n) for n in sizes])
    times = FIRST + ((days * 86_400 + seconds) * SECOND).astype("timedelta64[us]")
    levels = rng.choice([0.0, 1.0]) * rng.normal(size=len(sizes))
    scores = rng.normal(size=len(days)) + levels[days]
    hits = rng.random(len(days)) < 1.0 / (1.0 + np.exp(3.0 - 1.5 * scores))
    return scores, times, hits, budget


def hits_of(kind: str, seed: int) -> tuple[int, int, int, int]:
    """Return hits of alerts and of the best list, rows acted on, and how far a day exceeds its budget."""
    scores, times, hits, n = stream(kind, seed)
    budget = Budget(n)
    codes = budget.periods(times).codes
    past, new = codes < N_PAST, np.flatnonzero(codes >= N_PAST)
    alert = AlertThreshold(budget).fit(scores[past], times[past])
    files = [new] if seed % 2 else [new[codes[new] == code] for code in np.unique(codes[new])]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        act = np.concatenate([alert.decide(scores[rows], times[rows], rows) for rows in files])
    best = budget.periods(times[new]).first(np.argsort(-scores[new], kind="stable"), n)
    over = np.bincount(codes[new], act).max() - n
    return int(hits[new][act].sum()), int(hits[new][best].sum()), int(act.sum()), int(over)


def main() -> None:
    """Print shares by kind of stream."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--streams", type=int, default=45, help="streams of each kind")
    n_streams = parser.parse_args().streams
    found = {pair: hits_of(*pair) for pair in product(KINDS, range(n_streams))}
    print(f"{len(found)} streams of {N_PAST} past and {N_NEW} new days\n")
    print(
        f"{'times of a day':28} {'hits':>7} {'of best':>8} {'worst stream':>13} {'acted on':>9} {'over':>5}"
    )
    for kind in KINDS:
        hits, best, acted, over = np.array([of for (name, _), of in found.items() if name == kind]).T
        worst = np.min(hits / np.maximum(best, 1))
        share = hits.sum() / best.sum()
        print(f"{kind:28} {hits.sum():7} {share:8.3f} {worst:13.3f} {acted.sum():9} {over.max():5}")


if __name__ == "__main__":
    main()
