r"""Do 95 % intervals hold the truth where few rows are positive, and how wide are they?

    python benchmarks/interval_coverage.py > benchmarks/interval_coverage.txt
    python benchmarks/interval_coverage.py --differences --draws 400 --resamples 200 \
        > benchmarks/interval_coverage_differences.txt

Lists of a number of rows and of positives are drawn from a population: normal scores, those of positives
shifted, rounded in one case so that they tie. The truth is the mean of the measure over such lists, of which
a stated number is drawn beside. It takes about a quarter of an hour on one processor. Differences are of two
models that are alike, or of which the second is better: how often does their interval put one beyond the
other, and how often did that of resamples alone?
"""

from __future__ import annotations

import argparse

import numpy as np
from joblib import Parallel, delayed

from pushrank.metrics._ranking import Ranking
from pushrank.metrics._registry import bind_metric
from pushrank.metrics._sampling import Sampling, contrast_intervals
from pushrank.metrics.intervals import ranking_differences, ranking_intervals

MEASURES = {
    "auc": bind_metric("auc"),
    "average_precision": bind_metric("average_precision"),
    "precision_at_k (10)": bind_metric("precision_at_k", k=10),
    "enrichment_factor (1 %)": bind_metric("lift", fraction=0.01),
    "bedroc (20)": bind_metric("bedroc"),
    "partial_auc (0.1)": bind_metric("partial_auc"),
}
COMPARED = ["auc", "average_precision", "precision_at_k (10)"]
POPULATIONS = {"shift 0.5": (0.5, 0.0), "shift 1": (1.0, 0.0), "shift 2.5": (2.5, 0.0), "tied": (1.0, 0.5)}


def draw_list(n_rows: int, n_positive: int, population: str, rng: np.random.Generator) -> Ranking:
    """Draw a list: normal scores, those of positives shifted, rounded to a step if there is one."""
    shift, step = POPULATIONS[population]
    y = np.arange(n_rows) < n_positive
    scores = rng.normal(size=n_rows) + shift * y
    return Ranking(y, np.round(scores / step) * step if step else scores)


def print_cell(n_rows: int, n_positive: int, population: str, arguments: argparse.Namespace) -> None:
    """Print the share of intervals that hold the truth, and their mean width, of each measure."""
    rng, n_draws = np.random.default_rng([1, n_rows, n_positive]), arguments.draws
    first = draw_list(n_rows, n_positive, population, rng)
    given = {
        name: metric for name, metric in MEASURES.items() if n_positive >= metric.spec.error.least_positives
    }
    values = np.zeros((arguments.truths if given else 0, len(given)))
    for row in values:
        ranking = draw_list(n_rows, n_positive, population, rng)
        row[:] = [ranking.evaluate(metric.call) for metric in given.values()]
    ends = np.zeros((n_draws if given else 1, len(given or MEASURES), 2))
    for seed, row in enumerate(ends):
        ranking = draw_list(n_rows, n_positive, population, rng) if given else first
        metrics = list((given or MEASURES).values())
        found = ranking_intervals(ranking, metrics, Sampling(0.95, arguments.resamples, seed))
        row[:] = [interval[:2] for interval in found]
    cells = dict.fromkeys(MEASURES, "none")
    if given:
        truth = values.mean(axis=0)
        # A limit at the bound of a measure misses it by rounding.
        holds = (ends[:, :, 0] <= truth + 1e-9) & (truth - 1e-9 <= ends[:, :, 1])
        widths = (ends[:, :, 1] - ends[:, :, 0]).mean(axis=0)
        for name, share, width in zip(given, holds.mean(axis=0), widths, strict=True):
            cells[name] = f"{100 * share:.1f} % ({width:.3g})"
    elif not np.isnan(ends).all():
        raise AssertionError("an interval was given of fewer positives than it takes.")
    shown = "".join(f"{cells[name]:>24s}" for name in MEASURES)
    print(f"{n_rows:6,d} {n_positive:9d}  {population:10s}{shown}", flush=True)


def without_zero(
    n_positive: int, gain: float, group: int, of: argparse.Namespace, seed: int
) -> list[list[bool]]:
    """Return of each measure whether its difference has an interval without 0, and one of resamples alone."""
    # Half of the variance within a class is common to both models, or .6 of it to the rows of a group.
    n_rows = (n_positive + 300 // group) * group
    y, groups = np.arange(n_rows) < n_positive * group, np.arange(n_rows) // group
    rng = np.random.default_rng([2, n_positive, group, seed])
    common, *own = rng.normal(size=(3, n_rows)) * np.sqrt(0.5)
    if group > 1:
        effects = rng.normal(size=(2, groups.max() + 1))[:, groups] * np.sqrt(0.6)
        common = np.zeros(n_rows)
        own = [effect + np.sqrt(0.8) * part for effect, part in zip(effects, own, strict=True)]
    pair = [Ranking(y, y * (1.0 + more) + common + part) for more, part in zip((0, gain), own, strict=True)]
    if group > 1:
        pair = [ranking.with_groups(groups) for ranking in pair]
    metrics = [MEASURES[name] for name in COMPARED]
    sampling = Sampling(0.95, of.resamples, seed, "bca" if group == 1 else "bootstrap")
    ends = [comparison[:2] for comparison in ranking_differences(pair, metrics, sampling)]
    before = [found.limits(0.95) for found in contrast_intervals(pair, metrics, [1.0, -1.0], sampling)[2]]
    return [[low > 0.0 or high < 0.0 for low, high in limits] for limits in (ends, before)]


def print_differences(n_positive: int, gain: float, group: int, of: argparse.Namespace) -> None:
    """Print how often one of two models is put beyond the other, by each measure."""
    jobs = (delayed(without_zero)(n_positive, gain, group, of, seed) for seed in range(of.draws))
    shares = np.mean(Parallel(n_jobs=-1)(jobs), axis=0).T
    shown = "".join(f"{f'{100 * now:.1f} % ({100 * then:.1f} %)':>24s}" for now, then in shares)
    print(f"{n_positive:9d} {'groups' if group > 1 else 'rows':8s}{gain:4.1f}{shown}", flush=True)


def main() -> None:
    """Print all cells."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--draws", type=int, default=1000, help="lists of each cell")
    parser.add_argument("--resamples", type=int, default=200, help="of each interval")
    parser.add_argument("--truths", type=int, default=10_000, help="lists whose mean is the truth")
    parser.add_argument("--differences", action="store_true", help="of models alike, in place of measures")
    arguments = parser.parse_args()
    heads = "".join(f"{name:>24s}" for name in MEASURES)
    if arguments.differences:
        print(f"share of {arguments.draws:,} 95 % intervals of a difference without 0 (of resamples alone)")
        error = 300.0 * np.sqrt(0.05 * 0.95 / arguments.draws)
        print(f"{arguments.resamples:,} resamples each; of models alike {5.0 + error:.1f} % are allowed")
        print("300 negatives, or groups of 8 rows; the second model's positives are higher by a gain\n")
        heads = "".join(f"{name:>24s}" for name in COMPARED)
        print(f"positives {'of':8s}gain{''.join(f'{name:>24s}' for name in COMPARED)}")
        for gain, sizes, groups in ((0.0, (3, 5, 10, 15, 30), (4, 6, 10, 20)), (1.5, (5, 10, 15), (6, 10))):
            for n_positive in sizes:
                print_differences(n_positive, gain, 1, arguments)
            for n_positive in groups:
                print_differences(n_positive, gain, 8, arguments)
        return
    print(
        f"share of {arguments.draws:,} intervals of 95 % that hold the truth (mean width), "
        f"{arguments.resamples:,} resamples each; the truth is the mean of {arguments.truths:,} lists"
    )
    print(f"standard error of a share of 95 %: {100 * np.sqrt(0.95 * 0.05 / arguments.draws):.1f} %\n")
    print(f"{'rows':>6s} {'positives':>9s}  {'scores':10s}{heads}")
    for n_rows in (200, 2000):
        for n_positive in (1, 2, 3, 5, 10, 30):
            for population in POPULATIONS:
                print_cell(n_rows, n_positive, population, arguments)


if __name__ == "__main__":
    main()
