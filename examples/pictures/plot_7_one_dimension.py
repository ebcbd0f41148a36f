"""
Why not the absolute top alone?
===============================

R_max counts the positives that are not above the best negative. This example shows why a method that
minimises R_max alone may choose the worse function. It is section 10.1 of Rudin, *The P-Norm Push*, JMLR 10
(2009).

Nearly all negatives lie in [-1, 0] and nearly all positives in [0, 1]. A part e / 2 of all draws are stray
positives in [-2, -1], and as many are stray negatives in [1, 2]. There are two functions to choose from, one
that increases and one that decreases.

* Over all draws the best negative of the increasing function stands above every positive: its R_max is the
  worst possible, I. That of the decreasing function is (1 - e) I.
* But m training rows all lie in [-1, 1] with probability (1 - e)^m. On such rows the increasing function
  makes no error, so minimising R_max chooses it, and R_max on new rows is the worst possible.
* The AUC hardly changes: that of the increasing function is (1 - e)^2.

In truth the increasing function is chosen even more often, with probability (1 - e / 2)^m, because stray
positives without a stray negative are no argument against it.
"""

from __future__ import annotations

import numpy as np
from matplotlib import pyplot
from numpy.typing import NDArray

from pushrank import metrics


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


# %%
# How often is the worse function chosen? Lines are the formula, and points are simulated.
rng = np.random.default_rng(0)
rows = np.array([10, 20, 50, 100, 200])
figure, ax = pyplot.subplots(layout="constrained")
for epsilon in (0.002, 0.005, 0.02):
    (line,) = ax.plot(rows, (1.0 - epsilon / 2.0) ** rows, label=f"e = {epsilon}")
    ax.plot(rows, [simulated(m, epsilon, 2_000, rng)[2] for m in rows], "o", color=line.get_color())
ax.set(xlabel="training rows", ylabel="training sets that choose the worse function", ylim=(0.0, 1.0))
_ = ax.legend()

# %%
# On new rows R_max, as a part of the positives, is 1 for the increasing function and 1 - e for the decreasing
# one, although the AUC of the first is high and that of the second is low.
for epsilon in (0.002, 0.02):
    y, x = drawn((100_000,), epsilon, rng)
    (worst_up, worst_down), (auc_up, auc_down) = (
        measure(y, np.stack([x, -x])) for measure in (metrics.r_max, metrics.auc)
    )
    parts = f"{worst_up / y.sum():.4f}, {worst_down / y.sum():.4f}"
    print(f"e = {epsilon}: R_max {parts}; AUC {auc_up:.4f}, {auc_down:.4f}")
