"""How often compare_rankers tells apart models that are equal by construction, and its intervals' width.

    python -m experiments.verdicts > experiments/verdicts/results.txt
    python -m experiments.verdicts --quick    # four sets of each

Two models see one half of the columns each, and the halves say the same of the labels.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence

import numpy as np

from experiments.verdicts.simulations import (
    GROUPED,
    MEASURES,
    POPULATIONS,
    WAYS,
    Found,
    Population,
    before,
    many_models,
    nested_cross_validation,
    two_models,
)
from pushrank.model_selection import compare_rankers


def main() -> None:
    """Print the tables."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sets", type=int, default=1000)
    parser.add_argument("--quick", action="store_true", help="four sets of each")
    arguments = parser.parse_args()
    n_sets = 4 if arguments.quick else arguments.sets
    repeated = max(2, n_sets // 4)
    print(
        "Equal models told apart at 5 %, in % of sets, and the mean width of intervals in those of the folds"
    )
    print(f"{'rows':14s}{'cv':>9s}{'sets':>6s}  {'error by':20s}" + "".join(f"{m:>22s}" for m in MEASURES))
    for n_repeats, count in ((1, n_sets), (5, repeated)):
        for name, population in POPULATIONS.items():
            for n_folds in (5, 10):
                found = [two_models(population, n_folds, n_repeats, seed) for seed in range(count)]
                report(name, f"{n_repeats} x {n_folds}", found, WAYS)
    found = [two_models(GROUPED, 5, 1, seed) for seed in range(n_sets)]
    report("200 groups", "1 x 5", found, WAYS)
    name, population = next(iter(POPULATIONS.items()))
    nested = [
        nested_cross_validation(population, 5, 2 if arguments.quick else 20, s)
        for s in range(max(2, repeated // 2))
    ]
    report(name, "nested", nested, ["Bates et al."])
    together(n_sets // 2)
    eleven_and_two(max(4, 300 * n_sets // 1000))


def report(name: str, split: str, found: Sequence[Found], ways: Sequence[str]) -> None:
    """Print level and width of each way, by measure."""
    differences = np.array([f.difference for f in found])
    reach = np.array([f.reach for f in found])
    for way, label in enumerate(ways):
        told_apart = np.mean(np.abs(differences) > reach[:, way] + 1e-12, axis=0)
        # Folds are the unit where they are known, else the spread of the estimates is.
        unit = reach[:, 0].mean(axis=0) if len(ways) > 1 else 1.96 * differences.std(axis=0)
        cells = "".join(
            f"{100 * level:13.1f} {width:8.2f}"
            for level, width in zip(told_apart, reach[:, way].mean(axis=0) / unit, strict=True)
        )
        print(f"{name:14s}{split:>9s}{len(found):6d}  {label:20s}{cells}", flush=True)


def together(n_sets: int) -> None:
    """Print how often any of several equal models is told from the best, and the first is a candidate."""
    print("\nSeveral models, by hits in 100 of 600 rows: % of sets")
    told_by = "any told from the best: folds"
    print(f"{'models':>7s}{'sets':>6s}{told_by:>32s}{'here':>7s}{'first a candidate':>20s}")
    for n_models, best in ((2, 0.0), (6, 0.0), (10, 0.0), (6, 0.3)):
        told, told_before, held = [], [], []
        for comparison in many_models(n_models, n_sets, best=best):
            told.append(any(gap.more_than_chance for gap in comparison.differences_.values()))
            told_before.append(before(comparison))
            held.append("block 0" in comparison.may_be_best_)
        shares = [f"{100 * np.mean(values):.1f}" for values in (told_before, told, held)]
        what = " (the first is better)" if best else ""
        print(f"{n_models:7d}{n_sets:6d}{shares[0]:>32s}{shares[1]:>7s}{shares[2]:>20s}{what}", flush=True)


def eleven_and_two(n_sets: int) -> None:
    """Print how often the baseline is a candidate alike among eleven models and of two of them."""
    population = Population(1000, 66, -1.0, 200, n_blocks=11, strength=0.4)
    strengths, alike, held = [0.4] + [0.7] * 9 + [1.4], [], []
    for seed in range(n_sets):
        X, y, _ = population.draw(np.random.default_rng(seed), strengths)
        models = population.models()
        two = {name: models[name] for name in ("block 0", "block 10")}
        answers = [
            "block 0" in compare_rankers(some, X, y, budget=200, random_state=seed).may_be_best_
            for some in (models, two)
        ]
        alike.append(answers[0] == answers[1])
        held.append(answers[0])
    print(
        "\nA baseline that is worse is a candidate among eleven models just where it is one of two in "
        f"{100 * np.mean(alike):.1f} % of {n_sets} sets (among eleven in {100 * np.mean(held):.1f} %)."
    )


if __name__ == "__main__":
    main()
