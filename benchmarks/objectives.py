"""How long do value and gradient of the push objectives take, in sorts of the scores?

    python benchmarks/objectives.py > benchmarks/objectives.txt

A quarter of the scores are positives'. The best of several alternating runs counts on both sides. The cost
of all pairs is extrapolated from a part of the negatives, whose pairs are summed in blocks. The logistic
columns of the tables of Rudin, *The P-Norm Push*, JMLR 10 (2009), are computed on the way, with the scores
halved, as the paper's figures have it.
"""

from __future__ import annotations

import argparse
import os
import platform
import statistics
import time
from collections.abc import Callable

import numpy as np
import sklearn
from freed_memory import keep_freed_memory
from sklearn.linear_model import LogisticRegression

from pushrank import PushObjective, PushRanker, losses
from pushrank.pairs import BipartiteSample, BlockedSums
from pushrank.prices import Power

LOSSES = ("exponential", "hinge", "squared_hinge", "logistic", "sigmoid", "smoothed_hinge")
BOUNDS = {"exponential": 0.5, "hinge": 2.0, "logistic": 3.0}
TABLE_1 = [("-+-+--++", 430.79), ("+--+--++", 670.20), ("-+-+-+-+", 1212.23)]
TABLE_2 = np.array([mark == "+" for mark in "++-----+++++--"])


def seconds(function: Callable[[], object]) -> float:
    """Return the wall-clock time of one call."""
    start = time.perf_counter()
    function()
    return time.perf_counter() - start


def scores_and_labels(n: int) -> tuple[np.ndarray, np.ndarray]:
    """Return normal scores, a quarter of them positives', which lie one deviation higher."""
    rng = np.random.default_rng(0)
    y = rng.random(n) < 0.25
    return rng.normal(size=n) + y, y


def value_and_gradient(objective: PushObjective, sample: BipartiteSample, scores: np.ndarray) -> float:
    """Compute what a solver asks for at a point."""
    at_point = objective.evaluation(sample, scores)
    sample.scatter(*at_point.gradient())
    return at_point.value


def all_pairs(sample: BipartiteSample, scores: np.ndarray, part: int) -> float:
    """Return the time that value and gradient of the logistic loss would take over all pairs, in seconds."""
    of_positives, of_negatives = sample.gather(scores)
    few = of_negatives[:: max(1, len(of_negatives) // part)]
    ones = np.ones_like(few)
    taken = seconds(lambda: BlockedSums(losses.Logistic(), of_positives, few, None).adjoint_product(ones))
    return taken * len(of_negatives) / len(few)


def compare(n: int, repeats: int) -> dict[str, float]:
    """Print the costs at one size, and return those in seconds."""
    scores, y = scores_and_labels(n)
    sample = BipartiteSample.from_mask(y)
    objectives = {loss: PushObjective(loss, Power(4), scale="log") for loss in LOSSES}
    times: dict[str, list[float]] = {name: [] for name in ("argsort", *LOSSES)}
    for objective in objectives.values():
        value_and_gradient(objective, sample, scores)
    for _ in range(repeats):
        times["argsort"].append(seconds(lambda: np.argsort(scores)))
        for name, objective in objectives.items():
            times[name].append(
                seconds(lambda objective=objective: value_and_gradient(objective, sample, scores))
            )
    best = {name: min(taken) for name, taken in times.items()}
    pairs = len(sample.positives) * len(sample.negatives)
    print(f"\n{n:,} scores, {pairs:.2g} pairs; argsort {best['argsort'] * 1e3:.1f} ms")
    for name in LOSSES:
        bound = f"   (at most {BOUNDS[name]:g})" if name in BOUNDS else ""
        ratio = best[name] / best["argsort"]
        print(f"  {name:<16s} {best[name] * 1e3:8.1f} ms   {ratio:5.2f} x argsort{bound}")
    slow = all_pairs(sample, scores, 40)
    print(f"  all pairs, logistic, extrapolated: {slow:.3g} s = {slow / best['argsort']:.2g} x argsort")
    return best


def tables() -> None:
    """Print the logistic columns of tables 1 and 2 beside what the paper has."""
    print("\nRudin (2009), table 1, R_4,logistic (printed, computed)")
    objective = PushObjective("logistic", Power(4))
    for marks, printed in TABLE_1:
        value = objective.value([mark == "+" for mark in marks], np.arange(1, 9) / 2)
        print(f"  {marks}  {printed:9.2f} {value:9.2f}")
    print("table 2, R_p,logistic of f1 and of f2")
    f1 = np.arange(14, 0, -1) / 28
    for p in (1, 2, 3, 4, 5, 6, 7, 8):
        objective = PushObjective("logistic", Power(p))
        print(f"  p = {p}  {objective.value(TABLE_2, f1):14.2f} {objective.value(TABLE_2, -f1):14.2f}")


def end_to_end(n: int, repeats: int) -> None:
    """Print the time of a whole fit beside logistic regression's."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n, 50))
    X += 0.7 * X @ (rng.normal(size=(50, 50)) / np.sqrt(50))
    s = X @ rng.normal(size=50)
    y = (2.0 * s / s.std() - 3.0 + rng.logistic(size=n) > 0).astype(int)
    baseline = LogisticRegression(tol=1e-4, max_iter=1000)
    ranker = PushRanker("logistic", Power(4), tol=1e-4)
    times: dict[str, list[float]] = {"baseline": [], "ranker": []}
    for _ in range(repeats):
        times["baseline"].append(seconds(lambda: baseline.fit(X, y)))
        times["ranker"].append(seconds(lambda: ranker.fit(X, y)))
    first, second = (statistics.median(taken) for taken in times.values())
    print(f"\n{n:,} x 50, {y.mean():.1%} positive; medians of {repeats}")
    print(f"  LogisticRegression                {first:7.2f} s   {baseline.n_iter_[0]:3d} iterations")
    print(
        f"  PushRanker('logistic', Power(4))  {second:7.2f} s   {ranker.n_iter_:3d} iterations   "
        f"ratio {second / first:.2f} (at most 2)   converged {ranker.converged_}"
    )


def main() -> None:
    """Run all comparisons."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--repeats", type=int, default=15)
    parser.add_argument("--scale", type=float, default=1.0, help="fraction of the rows, for a quick look")
    arguments = parser.parse_args()
    print(
        f"Python {platform.python_version()}, numpy {np.__version__}, scikit-learn {sklearn.__version__}, "
        f"{os.cpu_count()} processors; best of {arguments.repeats}"
    )
    keep_freed_memory()
    tables()
    small = compare(int(1_000_000 * arguments.scale), arguments.repeats)
    large = compare(int(10_000_000 * arguments.scale), max(3, arguments.repeats // 3))
    for name in LOSSES:
        bound = "   (at most 12)" if name == "logistic" else ""
        print(f"  {name:<16s} {large[name] / small[name]:5.1f} x the time of a tenth of the scores{bound}")
    end_to_end(int(1_000_000 * arguments.scale), 3)


if __name__ == "__main__":
    main()
