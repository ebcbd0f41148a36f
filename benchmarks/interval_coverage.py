r"""Do 95 % intervals hold the truth where few rows are positive, and how wide are they?

    python benchmarks/interval_coverage.py > benchmarks/interval_coverage.txt
    python benchmarks/interval_coverage.py --differences --draws 300 --resamples 100 \
        > benchmarks/interval_coverage_differences.txt

Lists of a number of rows and of positives are drawn from a population: normal scores, those of positives
shifted, rounded in one case so that they tie. The truth is the mean of the measure over such lists, of which
a stated number is drawn beside. It takes about a quarter of an hour on one processor. Differences are of two
models that are alike: how often does their interval put one beyond the other?
"""

from __future__ import annotations

import argparse

import numpy as np

from pushrank.metrics._ranking import Ranking
from pushrank.metrics._registry import bind_metric
from pushrank.metrics._sampling import Sampling
from pushrank.metrics.intervals import ranking_differences, ranking_intervals

MEASURES = {
    "auc": bind_metric("auc"),
    "average_precision": bind_metric("average_precision"),
    "precision_at_k (10)": bind_metric("precision_at_k", k=10),
    "enrichment_factor (1 %)": bind_metric("lift", fraction=0.01),
    "bedroc (20)": bind_metric("bedroc"),
    "partial_auc (0.1)": bind_metric("partial_auc"),
}
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


def print_differences(n_positive: int, arguments: argparse.Namespace) -> None:
    """Print how often one of two models alike is put beyond the other, by each measure, of 200 rows."""
    # Both are as good, and half of the variance within a class is common to both.
    metrics, beyond = list(MEASURES.values()), np.zeros(len(MEASURES))
    for seed in range(arguments.draws):
        rng, y = np.random.default_rng([2, n_positive, seed]), np.arange(200) < n_positive
        common, *own = rng.normal(size=(3, 200)) * np.sqrt(0.5)
        first, second = (Ranking(y, y + common + part) for part in own)
        found = ranking_differences([first, second], metrics, Sampling(0.95, arguments.resamples, seed))
        beyond += [comparison.low > 0.0 or comparison.high < 0.0 for comparison in found]
    shown = "".join(f"{100 * share:22.1f} %" for share in beyond / arguments.draws)
    print(f"{n_positive:9d}{shown}", flush=True)


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
        print(f"share of {arguments.draws:,} 95 % intervals of a difference without 0, of models alike")
        print(f"{arguments.resamples:,} resamples each; 200 rows, normal scores one apart\n")
        print(f"positives{heads}")
        for n_positive in (2, 3, 5, 10, 30):
            print_differences(n_positive, arguments)
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
