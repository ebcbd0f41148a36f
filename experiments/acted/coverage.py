"""How often the bounds of an audit hold: computed, without a draw, where positives lie as badly as they can.

    python -m experiments.acted.coverage > experiments/acted/coverage.txt

In each of 200 cases the rows below the list of some periods are audited: a fixed number of each, drawn
without replacement, or each row with a chance of its own period. An adversary knows all this, and says how
many of the rows are positive and in which periods. The number of positives that the audit finds is a sum of
independent hypergeometric or binomial variables, whose chances are convolved.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
from scipy.stats import binom, hypergeom

from pushrank.metrics import audit_bound

N_CASES = 200
SIDES = ("upper", "lower", "two-sided")


class Case(NamedTuple):
    """The rows below the list of each period, and their chances; with fixed numbers chance times rows."""

    is_fixed: bool
    sizes: np.ndarray
    chances: np.ndarray

    @property
    def audited(self) -> np.ndarray:
        """The number of rows drawn in each period, where it is fixed."""
        return np.rint(self.sizes * self.chances).astype(int)


def make_case(number: int) -> Case:
    """Return the case of a number: fixed counts and chances in turn, from few rows to many."""
    rng = np.random.default_rng(number)
    is_fixed, n_periods = number % 2 == 0, int(rng.choice([1, 2, 5, 12, 30]))
    logs = rng.uniform(np.log(4), np.log(rng.choice([50, 300, 1200])), n_periods)
    sizes = np.rint(np.exp(logs)).astype(int)
    greatest = float(rng.choice([0.003, 0.02, 0.1, 0.3, 0.6, 0.9, 0.99]))
    if not is_fixed:
        chances = greatest * (rng.uniform(0.5, 1.0, n_periods) if number % 4 == 1 else np.ones(n_periods))
        return Case(is_fixed, sizes, chances)
    # The same number of each period is drawn, so that chances differ as the sizes do.
    a = max(1, round(greatest * float(np.median(sizes)))) if number % 4 == 0 else sizes - 1
    return Case(is_fixed, sizes, np.minimum(a, sizes) / sizes)


def allocations(case: Case, n: int, rng: np.random.Generator) -> Iterator[np.ndarray]:
    """Return numbers of positives by period: in the smallest, the largest, evenly, at random, by chance."""
    sizes = case.sizes
    orders = [np.argsort(key, kind="stable") for key in (sizes, -sizes, case.chances, -case.chances)]
    orders += [rng.permutation(len(sizes)) for _ in range(2)]
    for order in orders:
        before = np.cumsum(sizes[order]) - sizes[order]
        positives = np.empty(len(sizes), dtype=int)
        positives[order] = np.clip(n - before, 0, sizes[order])
        yield positives
    # Spread in proportion: row n / total, 2 n / total, ... of all rows one after the other.
    ends = np.cumsum(sizes) * n // sizes.sum()
    yield np.diff(ends, prepend=0)


def chances_of_found(case: Case, positives: np.ndarray) -> np.ndarray:
    """Return the chance of each number of positives among the audited rows."""
    total = np.ones(1)
    for size, chance, a, m in zip(case.sizes, case.chances, case.audited, positives, strict=True):
        x = np.arange(m + 1)
        total = np.convolve(total, hypergeom.pmf(x, size, m, a) if case.is_fixed else binom.pmf(x, m, chance))
    return total


def coverage(case: Case, positives: np.ndarray, level: float) -> list[float]:
    """Return the chance that the upper bound holds, the lower one, and both together."""
    n, found = int(positives.sum()), chances_of_found(case, positives)
    limits = {"chance_max": float(case.chances.max()), "n_rows": int(case.sizes.sum())}
    limits["confidence_level"] = level

    def bound(x: int, side: str) -> tuple[int, int]:
        both = audit_bound(x, float(case.chances.min()), side=side, **limits)
        return both if side == "two-sided" else (both, n) if side == "lower" else (0, both)

    holds = []
    for side in SIDES:
        likely = np.flatnonzero(found > 1e-9)
        kept = [low <= n <= high for low, high in (bound(int(x), side) for x in likely)]
        # What is left of the chances counts as missed.
        holds.append(float(found[likely][kept].sum()))
    return holds


def worst(case: Case, seed: int, level: float = 0.95) -> list[tuple[float, int]]:
    """Return the least coverage that an adversary finds, for each side, with the number of positives."""
    rng, total = np.random.default_rng(seed), int(case.sizes.sum())
    least = [(1.0, 0)] * len(SIDES)
    for n in np.unique(np.rint(np.geomspace(1, min(total, 400), 12)).astype(int)).tolist():
        for positives in allocations(case, n, rng):
            held = coverage(case, positives, level)
            least = [min(at, (chance, n)) for at, chance in zip(least, held, strict=True)]
    return least


def main() -> None:
    """Print the least coverage of each case."""
    print("Least chance that the bound holds, over numbers of positives and their periods; level .95")
    print("case  drawn    periods   rows  chance from     to     upper  (of)   lower  (of)    both  (of)")
    found = []
    for number in range(N_CASES):
        case = make_case(number)
        of_case = worst(case, number)
        found.append([chance for chance, _ in of_case])
        cells = "  ".join(f"{chance:6.4f} {n:5d}" for chance, n in of_case)
        drawn, c = "fixed" if case.is_fixed else "chance", case.chances
        head = f"{number:4d}  {drawn:7s}{len(c):9d}{case.sizes.sum():7d}"
        print(f"{head}{c.min():13.5f}{c.max():7.3f}    {cells}", flush=True)
    below = (np.array(found) < 0.95 - 1e-8).sum(axis=0)
    least = ", ".join(f"{side} {at:.4f}" for side, at in zip(SIDES, np.min(found, axis=0), strict=True))
    print(f"Least of all: {least}. Cases below .95: {below.tolist()}.")


if __name__ == "__main__":
    main()
