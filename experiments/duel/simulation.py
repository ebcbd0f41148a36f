"""How often a duel is wrong, how soon it is right, and what it costs.

    python -m experiments.duel.simulation > experiments/duel/simulation.txt

Streams of 365 days are drawn of the pairs of disputed rows that a duel has, as credits of two models that
find equally much in the mean, or not. On flights two models share 30 rows a day. The evidence is compared
with that of an earlier version, which takes the difference of a day to be symmetric around 0, and whose coins
were independent.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from scipy.stats import ttest_1samp

from experiments.acted import streams
from pushrank.budgets import Budget
from pushrank.monitoring.duel import LEVEL, NEEDED, Duel, evidence_by_day

N_STREAMS, N_DAYS, N_COINS = 2000, 365, 1000
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


def rings(size: int) -> Chances:
    """Return chances of a champion with a hit on most days, and a challenger with many on a day of few."""

    def chances(rng: np.random.Generator, a: float, b: float) -> np.ndarray:
        found = alike(rng, a, b)
        found[1] *= (rng.random(N_DAYS) < 1.0 / size) * size
        return np.minimum(found, 1.0)

    return chances


def spells(rng: np.random.Generator, a: float, b: float) -> np.ndarray:
    """Return chances that are raised by half for one model, and halved for the other, for ten days each."""
    turn = np.repeat(rng.choice([0.5, -0.5], N_DAYS // 10 + 1), 10)[:N_DAYS]
    return np.minimum(alike(rng, a, b) * np.array([1.0 + turn, 1.0 - turn]), 1.0)


def strong_spells(rng: np.random.Generator, a: float, b: float) -> np.ndarray:
    """Return the same with four fifths of the chances in place of a half."""
    turn = np.repeat(rng.choice([0.8, -0.8], N_DAYS // 10 + 1), 10)[:N_DAYS]
    return np.minimum(alike(rng, a, b) * np.array([1.0 + turn, 1.0 - turn]), 1.0)


def empty_days(rng: np.random.Generator, a: float, b: float) -> np.ndarray:
    """Return chances of 0 for both on four days of five."""
    return alike(rng, a, b) * (rng.random(N_DAYS) < 0.2)


# Chances of a hit, and a number of pairs, for streams of models that find equally much.
EQUAL: dict[str, tuple[Chances, float, int]] = {
    "alike on all days": (alike, 0.08, 20),
    "common storms": (storms, 0.08, 20),
    "days of each model's own": (days_of_their_own, 0.08, 20),
    "rows alike within a day": (within_a_day, 0.08, 20),
    "6 pairs": (alike, 0.08, 6),
    "80 % empty days": (empty_days, 0.1, 10),
    "bursts of 10": (rings(10), 0.1, 10),
    "bursts of 30": (rings(30), 1.0 / 30.0, 30),
    "spells of 10 days": (spells, 0.1, 20),
    "strong spells of 10 days": (strong_spells, 0.1, 20),
    "weeks of each model's own": (weeks_of_their_own, 0.08, 20),
}
# The same of models of which the second finds more.
UNEQUAL: dict[str, tuple[Chances, float, float, int]] = {
    "alike on all days": (alike, 0.05, 0.08, 20),
    "common storms": (storms, 0.05, 0.08, 20),
    "days of each model's own": (days_of_their_own, 0.05, 0.08, 20),
    "6 pairs": (alike, 0.05, 0.08, 6),
    "2 against 3 hits of 10 pairs": (alike, 0.2, 0.3, 10),
    "4 against 6 hits of 10 pairs": (alike, 0.4, 0.6, 10),
}


def symmetric_evidence(differences: np.ndarray) -> np.ndarray:
    """Return the evidence after each day of the earlier version, de la Pena's."""
    scales = np.array([0.05, 0.1, 0.2, 0.4])
    sums = np.outer(scales, np.cumsum(differences))
    squares = 0.5 * np.outer(scales**2, np.cumsum(differences**2))
    return np.exp(np.minimum(np.abs(sums) - squares, 700.0)).mean(axis=0) / 2.0 + (
        np.exp(np.minimum(-np.abs(sums) - squares, 700.0)).mean(axis=0) / 2.0
    )


def verdicts(chances: Chances, a: float, b: float, n_pairs: int, seed: int) -> tuple[float, ...]:
    """Return the p-value of one look, and by both kinds of evidence the day of the decision."""
    rng = np.random.default_rng([seed, n_pairs])
    of_day = chances(rng, a, b)
    # Opposite coins of two pairs in turn, and independent ones.
    half = n_pairs // 2 + (rng.random(N_DAYS) < 0.5) * (n_pairs % 2)
    found = []
    for of_first in (half, rng.binomial(n_pairs, 0.5, N_DAYS)):
        won = rng.binomial([of_first, n_pairs - of_first], of_day)
        found.append((won[1] - won[0]).astype(float))
    differences, earlier = found
    p_value = ttest_1samp(differences, 0.0).pvalue if np.ptp(differences) > 0.0 else 1.0
    most = np.full(N_DAYS, np.ceil(n_pairs / 2.0))
    days = []
    for evidence in (evidence_by_day(differences, most).mean(axis=0), symmetric_evidence(earlier)):
        is_enough = evidence >= NEEDED
        days.append(float(np.argmax(is_enough) + 1) if is_enough.any() else np.inf)
    return p_value, *days


def simulated() -> None:
    """Print how often equal models are told apart, and how soon others are."""
    error = 3.0 * np.sqrt(LEVEL * (1.0 - LEVEL) / N_STREAMS)
    print(f"{N_STREAMS:,} streams of {N_DAYS} days; of equal models {LEVEL + error:.4f} may be told apart")
    print("                                              one look    any time, and median day:")
    print("hits of   pairs of rows                                     evidence       before")
    cells = [(name, (of, a, a, n)) for name, (of, a, n) in EQUAL.items()]
    for name, (chances, a, b, n_pairs) in [*cells, *UNEQUAL.items()]:
        found = np.array([verdicts(chances, a, b, n_pairs, seed) for seed in range(N_STREAMS)])
        shares = f"{np.mean(found[:, 0] <= LEVEL):10.4f}"
        for days in found.T[1:]:
            decided = np.isfinite(days).mean()
            shares += f"{decided:10.4f} {f'{np.median(days):4.0f}' if decided > 0.5 else '   –'}"
        print(f"{a:.2f}/{b:.2f} {n_pairs:4d}  {name:30s}{shares}", flush=True)
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
