"""The price of the absolute top in one dimension: a few draws in a thousand turn the chosen order around.

    python examples/one_dimension.py

Section 10.1 of Rudin, *The P-Norm Push*, JMLR 10 (2009). Nearly all negatives lie in [-1, 0] and nearly all
positives in [0, 1], but a part e / 2 of all draws are positives in [-2, -1], and as many are negatives in
[1, 2]. Two functions are there to choose from, one that increases and one that decreases. Over all draws the
best negative of the increasing one stands above every positive: its R_max is the worst possible, I, and that
of the decreasing one (1 - e) I. But m training rows all lie in [-1, 1] with probability (1 - e)^m, and on
those the increasing function makes no error: minimising R_max chooses it, and the new R_max is the worst. The
AUC hardly changes: that of the increasing function is (1 - e)^2.

The increasing function is chosen more often still, with probability (1 - e / 2)^m: stray positives, without a
stray negative, do not speak against it.
"""

from __future__ import annotations

import argparse

import numpy as np
from numpy.typing import NDArray

from pushrank import metrics

NEW_ROWS = 100_000


def drawn(
    shape: tuple[int, ...], epsilon: float, rng: np.random.Generator
) -> tuple[NDArray[np.bool_], NDArray[np.float64]]:
    """Return labels, True for a positive, and positions on the line."""
    is_positive, is_stray = rng.random(shape) < 0.5, rng.random(shape) < epsilon
    lowest = np.where(is_positive, np.where(is_stray, -2.0, 0.0), np.where(is_stray, 1.0, -1.0))
    return is_positive, lowest + rng.random(shape)


def worst_heights(is_positive: NDArray[np.bool_], scores: NDArray[np.float64]) -> NDArray[np.int64]:
    """Return R_max of every row of a table: the positives not above its best negative."""
    best = np.where(is_positive, -np.inf, scores).max(axis=1, keepdims=True)
    return np.sum(is_positive & (scores <= best), axis=1)


def simulated(m: int, epsilon: float, n_draws: int, rng: np.random.Generator) -> tuple[float, float, float]:
    """Return how often training sets of m rows lie in [-1, 1], which part of those chooses the increasing
    function, and how often it is chosen in all; equally good functions count for the decreasing one."""
    is_positive, x = drawn((n_draws, m), epsilon, rng)
    increasing = worst_heights(is_positive, x) < worst_heights(is_positive, -x)
    inside = (np.abs(x) <= 1.0).all(axis=1)
    return float(inside.mean()), float(increasing[inside].mean()), float(increasing.mean())


def main() -> None:
    """Print what is known beside what is simulated, and what the two functions do on new rows."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--draws", type=int, default=20_000)
    n_draws = parser.parse_args().draws
    rng = np.random.default_rng(0)
    print("training sets in [-1, 1], those of them that choose the increasing function, and all that do")
    print("rows  epsilon  (1-e)^m  simulated  they choose it  (1-e/2)^m  simulated")
    for m in (20, 50, 200):
        for epsilon in (0.002, 0.005, 0.02):
            inside, of_them, increasing = simulated(m, epsilon, n_draws, rng)
            known = (1.0 - epsilon) ** m, (1.0 - epsilon / 2.0) ** m
            print(f"{m:4d}{epsilon:9.3f}{known[0]:9.4f}{inside:11.4f}{of_them:16.4f}", end="")
            print(f"{known[1]:11.4f}{increasing:11.4f}")
    print(f"\n{NEW_ROWS:,} new rows, R_max as a part of the positives, and AUC")
    print("epsilon  increasing: R_max    AUC  (1-e)^2  decreasing: R_max    1-e    AUC")
    for epsilon in (0.002, 0.005, 0.02):
        y, x = drawn((NEW_ROWS,), epsilon, rng)
        (worst_up, worst_down), (auc_up, auc_down) = (
            measure(y, np.stack([x, -x])) for measure in (metrics.r_max, metrics.auc)
        )
        print(f"{epsilon:7.3f}{worst_up / y.sum():19.4f}{auc_up:7.4f}{(1 - epsilon) ** 2:9.4f}", end="")
        print(f"{worst_down / y.sum():19.4f}{1 - epsilon:7.4f}{auc_down:7.4f}")


if __name__ == "__main__":
    main()
