"""How often the promises of pushrank.metrics are broken, and what they give away.

    python -m experiments.promises > experiments/promises/results.txt
    python -m experiments.promises --quick    # 20 draws of each cell
    python -m experiments.promises --parts thresholds    # with mapie installed, its thresholds too

Each cell draws labelled rows and rows to come from a population whose rates are known.
"""

from __future__ import annotations

import argparse
import timeit
from collections.abc import Iterable
from typing import Any

import joblib
import numpy as np

from experiments.promises.populations import Population, populations
from experiments.promises.thresholds import thresholds_beside
from pushrank import metrics
from pushrank.metrics._ranking import Ranking
from pushrank.metrics.promises.bounds import divided, hits_bound, order_statistic_floors
from pushrank.metrics.promises.lists import tied_order

POSITIVES = (10, 30, 100, 1000)
NEW = (200, 1000)
MOST_ROWS = 40_000
PARTS = ("hits", "lists", "days", "thresholds", "cost")
MISS = 0.05


def ways_of(k: int) -> list[tuple[list[int], bool]]:
    """Return the depths that are named, and whether all are promised: one k, k named, all alike."""
    return [([k], False), ([k], True), ([], True)]


def main() -> None:
    """Print the tables."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--draws", type=int, default=600)
    parser.add_argument("--quick", action="store_true", help="20 draws of each cell, fewer cells")
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--parts", nargs="+", choices=PARTS, default=PARTS)
    arguments = parser.parse_args()
    n_draws = 20 if arguments.quick else arguments.draws
    positives = POSITIVES[:2] if arguments.quick else POSITIVES
    found = list(populations(quick=arguments.quick))
    cells = [
        (of, count, n)
        for of in found
        for count in positives
        if (n := round(count / of.is_positive.mean())) <= MOST_ROWS
    ]
    run = joblib.Parallel(n_jobs=arguments.jobs, return_as="generator")
    if "hits" in arguments.parts:
        report_hits(run(joblib.delayed(hits)(*cell, n_draws) for cell in cells), n_draws)
    if "lists" in arguments.parts:
        report_lists(run(joblib.delayed(lists)(*cell, n_draws) for cell in cells), n_draws)
    if "days" in arguments.parts:
        report_days(n_draws)
    if "thresholds" in arguments.parts:
        thresholds_beside(found, 10 if arguments.quick else 200)
    if "cost" in arguments.parts:
        report_cost(10**5 if arguments.quick else 10**6)


def hits(population: Population, count: int, n: int, n_draws: int) -> list[list[Any]]:
    """Return a line for each number of rows to come: the broken promises in %, and bounds at the budget."""
    rng = np.random.default_rng(count)
    ways = {
        n_new: [divided(np.array(named), n_new, together) for named, together in ways_of(n_new // 20)]
        for n_new in NEW
    }
    n_positives = population.is_positive.sum()
    n_negatives = len(population.is_positive) - n_positives
    broken = {n_new: np.zeros(7) for n_new in NEW}
    bounds: dict[int, list[list[int]]] = {n_new: [] for n_new in NEW}
    for draw in range(n_draws):
        y, scores = population.draw(rng, n)
        if y.all() or not y.any():
            continue
        ranking = Ranking(y, scores)
        path = np.append(0, np.cumsum(y[tied_order(ranking, "random", draw)]))
        new, new_scores = population.draw(rng, max(NEW))
        floors = order_statistic_floors(int(path[-1]), MISS)
        ceilings = 1.0 - order_statistic_floors(int(n - path[-1]), MISS)[::-1]
        best, worst = np.sort(scores[y])[::-1], np.sort(scores[~y])[::-1]
        rates = [
            (floors[1:] > population.above(best, True) / n_positives).any(),
            (ceilings[:-1] < population.above(np.nextafter(worst, np.inf), False) / n_negatives).any(),
        ]
        found = metrics.guarantee(y, scores, k=max(NEW) // 20, n_new=max(NEW), random_state=draw)
        above, below = (population.above(found.threshold, kind) for kind in (True, False))
        precise = np.divide(above, above + below, out=np.ones(len(above)), where=above + below > 0)
        for n_new in NEW:
            k = n_new // 20
            # Rows are drawn in a random order, which a stable sort keeps where they tie.
            order = np.argsort(-new_scores[:n_new], kind="stable")
            true = np.append(0, np.cumsum(new[order]))
            at = []
            for depths, shares in ways[n_new]:
                of = [
                    hits_bound(path, n, n_new, *each)
                    for each in zip(depths.tolist(), MISS * shares, strict=True)
                ]
                at.append(
                    found._replace(depth=depths, hits=np.array(of), n_new=n_new).hits_at(np.arange(n_new + 1))
                )
            broken[n_new] += [
                at[0][k] > true[k],
                *((bound > true).any() for bound in at),
                (found.precision > precise).any(),
                *rates,
            ]
            bounds[n_new].append([int(true[k]), *(int(bound[k]) for bound in at)])
    return [
        [
            population.name,
            count,
            n_new,
            *(100.0 * broken[n_new] / n_draws),
            *np.median(bounds[n_new], axis=0),
            np.quantile([of[0] for of in bounds[n_new]], MISS, method="lower"),
            *np.mean(bounds[n_new], axis=0)[1:],
        ]
        for n_new in NEW
    ]


def report_hits(found: Iterable[list[list[Any]]], n_draws: int) -> None:
    """Print the broken promises in % and what the bounds are worth."""
    most = 100.0 * (MISS + 2.5 * np.sqrt(MISS * (1.0 - MISS) / n_draws))
    print(f"Broken promises at 95 %, in % of {n_draws} draws (at most {most:.1f}); the budget is a twentieth")
    print("one: hits at one k; any, named, alike: at any depth, from one k, k named, all depths alike")
    print("hits: their median at k; their 5 % quantile, which is the bound of one who knows the population;")
    print("then the median bounds of one, named and alike, and the ratio of the means to one's")
    columns = ("one", "any", "named", "alike", "precis.", "recall", "FPR")
    head = "".join(f"{name:>8s}" for name in columns)
    of_bounds = f"{'hits':>8s}{'5 %':>5s}{'bounds':>13s}{'ratios':>12s}"
    print(f"{'population':24s}{'positives':>10s}{'new':>6s}{head}{of_bounds}")
    worst = np.zeros(7)
    for lines in found:
        for name, count, n_new, *numbers in lines:
            broken, medians, means = numbers[:7], numbers[7:12], numbers[12:]
            worst = np.maximum(worst, broken)
            ratios = [f"{mean / means[0]:.2f}" if means[0] > 0.0 else "-" for mean in means[1:]]
            print(
                f"{name:24s}{count:10d}{n_new:6d}"
                + "".join(f"{value:8.1f}" for value in broken)
                + f"{medians[0]:8.0f}{medians[4]:5.0f} "
                + "".join(f"{value:4.0f}" for value in medians[1:4])
                + "".join(f"{ratio:>6s}" for ratio in ratios),
                flush=True,
            )
    print(f"{'most of all':40s}" + "".join(f"{value:8.1f}" for value in worst) + "\n", flush=True)


def lists(population: Population, count: int, n: int, n_draws: int) -> list[Any]:
    """Return how often lists for a precision, a recall and a rate break it, and how often there is one."""
    rng = np.random.default_rng(count)
    ends = np.sort(population.scores)[::-1][[len(population.scores) // 20]]
    above, below = (population.above(ends, kind) for kind in (True, False))
    aims = {
        "precision": max(0.7 * float(above[0] / max(above[0] + below[0], 1)), 0.5 * count / n),
        "recall": 0.3,
        "false_positive_rate": 0.1,
    }
    broken, had = np.zeros(3), np.zeros(3)
    for _ in range(n_draws):
        y, scores = population.draw(rng, n)
        if y.all() or not y.any():
            continue
        for number, (aim, value) in enumerate(aims.items()):
            try:
                found = metrics.threshold_for(
                    y, scores, metrics.Guaranteed(**{aim: value}, confidence_level=1.0 - MISS)
                )
            except ValueError:
                continue
            at = np.array([found.threshold])
            positives, negatives = (float(population.above(at, kind)[0]) for kind in (True, False))
            true = {
                "precision": positives / max(positives + negatives, 1.0),
                "recall": positives / population.is_positive.sum(),
                "false_positive_rate": -negatives / (~population.is_positive).sum(),
            }
            had[number] += 1
            broken[number] += true[aim] < (-value if number == 2 else value)
    return [population.name, count, aims["precision"], *(100.0 * broken / n_draws), *(100.0 * had / n_draws)]


def report_lists(found: Iterable[list[Any]], n_draws: int) -> None:
    """Print the table of thresholds."""
    print(f"Broken guarantees of lists at 95 %, and draws that have a list, in % of {n_draws}")
    print("precision: .7 of the population's at a depth of 5 %; recall .3; false-positive rate .1")
    head = "".join(f"{name:>10s}" for name in ("precision", "recall", "FPR"))
    print(f"{'population':24s}{'positives':>10s}{'asked':>7s}{head}   {head}")
    for name, count, asked, *numbers in found:
        cells = ["".join(f"{value:10.1f}" for value in part) for part in (numbers[:3], numbers[3:])]
        print(f"{name:24s}{count:10d}{asked:7.2f}{cells[0]}   {cells[1]}", flush=True)
    print()


def report_days(n_draws: int) -> None:
    """Print how often the promise of coming days is broken, if the rows of a day share what moves it."""
    print(
        f"Broken promises of days at 95 %, in % of {n_draws} draws; 100 rows a day, of which 20 are looked at"
    )
    print(f"{'days':>6s}{'promise':>20s}{'broken':>10s}{'allowed':>10s}{'mean hits':>11s}{'promised':>10s}")
    rng = np.random.default_rng(0)
    for n_days, coming in ((19, 1), (39, 1), (100, 1), (100, 7)):
        broken, true, promised = 0, [], []
        for _ in range(n_draws):
            days = np.repeat(np.arange(n_days + coming), 100)
            shift = 0.5 * rng.normal(size=n_days + coming)[days]
            y = rng.random(len(days)) < 1.0 / (1.0 + np.exp(1.5 - shift))
            scores = np.round(rng.normal(size=len(days)) + 1.5 * y + shift, 1)
            past = days < n_days
            bound = metrics.guarantee_days(y[past], scores[past], days[past], k=20, n_coming=coming).hits
            by_lot = rng.permutation(np.flatnonzero(~past))
            order = by_lot[np.lexsort((-scores[by_lot], days[by_lot]))].reshape(coming, 100)
            hits = y[order[:, :20]].sum()
            broken += int(hits < bound)
            true.append(hits)
            promised.append(bound)
        print(
            f"{n_days:6d}{f'{coming} to come':>20s}{100.0 * broken / n_draws:10.1f}{5.0:10.1f}"
            f"{np.mean(true):11.1f}{np.mean(promised):10.1f}",
            flush=True,
        )
    print()


def report_cost(n: int) -> None:
    """Print the time that all depths take, beside one argsort of the scores."""
    print(f"Seconds of guarantee for {n:,} labelled rows and all depths, the fastest of five calls each")
    print(
        f"{'positives in %':>16s}{'new':>12s}{'argsort':>10s}{'guarantee':>11s}{'less .2, in argsorts':>22s}"
    )
    rng = np.random.default_rng(0)
    for share, n_new in ((0.2, n), (0.01, n), (0.0005, n), (0.01, 3000), (0.01, 10**5)):
        y = rng.random(n) < share
        scores = rng.normal(size=n) + 2.0 * y

        def promise(y: Any = y, scores: Any = scores, n_new: int = n_new) -> Any:
            return metrics.guarantee(y, scores, n_new=n_new).hits_at(np.arange(n_new + 1))

        sort, all_depths = (
            min(timeit.repeat(of, number=1)) for of in (lambda s=scores: np.argsort(s), promise)
        )
        ratio = (all_depths - 0.2) / sort
        print(f"{100.0 * share:16.2f}{n_new:12,d}{sort:10.3f}{all_depths:11.3f}{ratio:22.1f}", flush=True)


if __name__ == "__main__":
    main()
