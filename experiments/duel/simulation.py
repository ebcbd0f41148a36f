"""How often a duel is wrong, how soon it is right, and what it costs.

    python -m experiments.duel.simulation > experiments/duel/simulation.txt

Streams of 180 days are drawn of the pairs of disputed rows that a duel has, as credits of two models that
find equally much in the mean, or not. On flights two models share 30 rows a day.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from scipy.stats import ttest_1samp

from experiments.acted import streams
from pushrank.budgets import Budget
from pushrank.monitoring.duel import LEVEL, Duel, evidence_of

N_STREAMS, N_DAYS, N_COINS = 2000, 180, 1000
MODELS = "logistic regression", "gradient boosting"
Chances = Callable[[np.random.Generator, float, float], np.ndarray]


def alike(_rng: np.random.Generator, a: float, b: float) -> np.ndarray:
    """Return the same chances on all days."""
    return np.tile([[a], [b]], N_DAYS)


def storms(rng: np.random.Generator, a: float, b: float) -> np.ndarray:
    """Return chances that rise and fall together, for some days on end."""
    noise = np.zeros(N_DAYS)
    for day in range(1, N_DAYS):
        noise[day] = 0.7 * noise[day - 1] + rng.normal()
    return np.minimum(alike(rng, a, b) * np.exp(0.7 * noise - 0.48), 0.9)


def days_of_their_own(rng: np.random.Generator, a: float, b: float) -> np.ndarray:
    """Return chances of which each model has good days that are none of the other."""
    return np.minimum(alike(rng, a, b) * np.exp(rng.normal(scale=0.8, size=(2, N_DAYS)) - 0.32), 0.9)


def weeks_of_their_own(rng: np.random.Generator, a: float, b: float) -> np.ndarray:
    """Return the same where a good spell lasts a week."""
    own = np.repeat(rng.normal(scale=0.8, size=(2, N_DAYS // 7 + 1)), 7, axis=1)[:, :N_DAYS]
    return np.minimum(alike(rng, a, b) * np.exp(own - 0.32), 0.9)


def within_a_day(rng: np.random.Generator, a: float, b: float) -> np.ndarray:
    """Return chances of each model and day that are mostly near 0, and sometimes high."""
    return rng.beta([[a * 2.0], [b * 2.0]], [[(1.0 - a) * 2.0], [(1.0 - b) * 2.0]], (2, N_DAYS))


KINDS: dict[str, tuple[Chances, int]] = {
    "alike on all days": (alike, 20),
    "common storms": (storms, 20),
    "days of each model's own": (days_of_their_own, 20),
    "weeks of each model's own": (weeks_of_their_own, 20),
    "rows alike within a day": (within_a_day, 20),
    "24 of 30 rows shared": (alike, 6),
    "24 shared, days of their own": (days_of_their_own, 6),
}


def verdicts(kind: str, a: float, b: float, seed: int) -> tuple[bool, float, bool]:
    """Return whether the one look at the end decides, the day on which the evidence does, and for whom."""
    chances, n_pairs = KINDS[kind]
    rng = np.random.default_rng([seed, list(KINDS).index(kind)])
    of_day = chances(rng, a, b)
    of_first = rng.binomial(n_pairs, 0.5, N_DAYS)
    won = rng.binomial([of_first, n_pairs - of_first], of_day)
    differences = (won[1] - won[0]).astype(float)
    looked = np.ptp(differences) > 0.0 and ttest_1samp(differences, 0.0).pvalue <= LEVEL
    decided, low = np.inf, 0
    if evidence_of(differences)[1] is not None:
        # The first day whose evidence is enough: a verdict once given stands.
        high = N_DAYS
        while high - low > 1:
            middle = (low + high) // 2
            low, high = (low, middle) if evidence_of(differences[:middle])[1] is not None else (middle, high)
        decided = high
    return bool(looked), decided, differences.sum() > 0.0


def simulated() -> None:
    """Print how often equal models are told apart, and how soon others are."""
    error = 3.0 * np.sqrt(LEVEL * (1.0 - LEVEL) / N_STREAMS)
    print(f"{N_STREAMS:,} streams of {N_DAYS} days; of equal models {LEVEL + error:.4f} may be told apart")
    print("chances of a hit        pairs of rows                  one look  any time  median day")
    for a, b in ((0.08, 0.08), (0.05, 0.08)):
        for kind in KINDS:
            found = [verdicts(kind, a, b, seed) for seed in range(N_STREAMS)]
            looked, days, _ = map(np.array, zip(*found, strict=True))
            decided = np.isfinite(days)
            median = f"{np.median(days):8.0f}" if decided.mean() > 0.5 else "       –"
            shares = f"{looked.mean():9.4f}{decided.mean():10.4f}"
            print(f"{a:.2f} and {b:.2f}{KINDS[kind][1]:14d}  {kind:30s}{shares}    {median}", flush=True)
    print()


def flights() -> None:
    """Print what a duel of two models says of flights, over many coins."""
    stream = streams.flights(MODELS)
    scores = [stream.scores[name] for name in MODELS]
    on_list = [streams.places(of, stream.period) < streams.K for of in scores]
    hits = [stream.y[of].sum() for of in on_list]
    # Rows on neither list have no part in it.
    kept = np.flatnonzero(on_list[0] | on_list[1])
    scores, y, day = [of[kept] for of in scores], stream.y[kept].astype(float), stream.period[kept]
    n_days = len(np.unique(day))
    truth, found = (hits[1] - hits[0]) / n_days, []
    for seed in range(N_COINS):
        duel = Duel(Budget(streams.K, "batch"), secret=f"coins {seed}")
        owners = duel.assign(*scores, day, kept)
        found.append(duel.credit(np.where(owners != "", y, np.nan), day, kept).verdict())
    estimates = np.array([of.difference for of in found])
    error, held = estimates.std() / np.sqrt(N_COINS), [of.low <= truth <= of.high for of in found]
    shared = np.sum(on_list[0] & on_list[1]) / n_days
    print(f"Flights, {n_days} days, {N_COINS:,} coins: {' and '.join(MODELS)}, {streams.K} a day")
    print(f"{shared:.1f} rows a day are on both lists")
    joint = np.mean([of.hits for of in found])
    print(
        f"hits a day alone {hits[0] / n_days:.3f} and {hits[1] / n_days:.3f}, of the joint list {joint:.3f}"
    )
    print(
        f"difference {truth:+.4f}, estimated {estimates.mean():+.4f} in the mean (standard error {error:.4f})"
    )
    print(f"the interval holds the difference in {np.mean(held):.3f}")


if __name__ == "__main__":
    simulated()
    flights()
