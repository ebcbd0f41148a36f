"""Is what compare expects of the chosen model right, and does its interval hold the hits of rows to come?

    python -m experiments.choice.expected --jobs 2 > experiments/choice/expected.txt
    python -m experiments.choice.expected --quick    # a few choices of each kind

The models of the first lines are columns, alike or unlike, and need no fit; those of the last lines are ridge
regressions of blocks of columns, which are fitted again to all rows and may be added up as one list.
"""

from __future__ import annotations

import argparse
from dataclasses import replace
from typing import Any, NamedTuple

import joblib
import numpy as np
from sklearn.base import BaseEstimator

from experiments.protocol import versions
from experiments.verdicts.simulations import Population
from pushrank import StackingRanker
from pushrank.model_selection import RankerComparison, compare_rankers
from pushrank.model_selection.comparison import CHOICES, TOGETHER, Choice
from pushrank.model_selection.errors import HITS

N_MODELS = 6


class Column(BaseEstimator):  # type: ignore[misc]
    """A model whose score is a column."""

    def __init__(self, number: int = 0) -> None:
        self.number = number

    def fit(self, X: np.ndarray, y: np.ndarray) -> Column:  # noqa: ARG002
        """Learn nothing."""
        self.coef_ = np.zeros(1)
        return self

    def decision_function(self, X: np.ndarray) -> np.ndarray:
        """Return the column."""
        return X[:, self.number]


class Kind(NamedTuple):
    """The number of rows, the share of positives, the budget, and how far models tell positives apart."""

    n_rows: int
    share: float
    budget: int
    strengths: tuple[float, ...]

    def draw(self, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
        """Return scores of the models and labels; scores share a part of their noise."""
        y = rng.random(self.n_rows) < self.share
        noise = rng.normal(size=(self.n_rows, N_MODELS + 1))
        scores = np.sqrt(0.5) * (noise[:, :-1] + noise[:, -1:])
        return scores + y[:, np.newaxis] * np.array(self.strengths), y


ALIKE, UNLIKE = (1.5,) * N_MODELS, (0.9, 1.1, 1.3, 1.5, 1.6, 1.7)
KINDS = {
    f"{n_rows:,} rows, {share:.0%}, budget {budget}, {label}": Kind(n_rows, share, budget, strengths)
    for n_rows, share, budget in ((600, 0.03, 15), (1_500, 0.05, 50), (3_000, 0.1, 200))
    for label, strengths in (("alike", ALIKE), ("unlike", UNLIKE))
}
FITTED = {
    "1,000 rows of 60 columns, budget 100, fitted again": Population(1_000, 60, -1.5, 100, n_blocks=6),
    "2,000 rows of 30 columns, 3 %, budget 40, fitted again": Population(2_000, 30, -4.0, 40, n_blocks=6),
}


def hits(y: np.ndarray, scores: np.ndarray, budget: int) -> int:
    """Return the hits among the first rows of a list without ties."""
    return int(y[np.argsort(-scores)[:budget]].sum())


def found(comparison: RankerComparison, choose: Choice, later: Any) -> tuple[float, ...]:
    """Return what is shown and expected of the model taken, its interval, and what it finds later."""
    of = replace(comparison, choose=choose)
    return (of.mean(of.chosen_, HITS), *of.expected_, later(of.chosen_), of.chosen_ == TOGETHER)


def of_columns(kind: Kind, seed: int) -> list[tuple[float, ...]]:
    """Return what :func:`found` says of each way to choose among columns."""
    rng = np.random.default_rng(seed)
    X, y = kind.draw(rng)
    models = {f"column {number}": Column(number) for number in range(N_MODELS)}
    comparison = compare_rankers(models, X, y, budget=kind.budget, random_state=seed)
    X_later, y_later = kind.draw(rng)
    return [
        found(comparison, choose, lambda name: hits(y_later, X_later[:, models[name].number], kind.budget))
        for choose in CHOICES
    ]


def of_fits(population: Population, seed: int) -> list[tuple[float, ...]]:
    """Return what :func:`found` says of each way to choose among models that are fitted again."""
    rng = np.random.default_rng(seed)
    strengths = rng.uniform(0.4, 1.0, population.n_blocks).tolist()
    X, y, _ = population.draw(rng, strengths)
    X_later, y_later, _ = population.draw(rng, strengths)
    models = population.models()
    options: dict[str, Any] = {"budget": population.budget, "together": True, "random_state": seed}
    comparison = compare_rankers(models, X, y, **options)

    def later(name: str) -> int:
        ranker = StackingRanker([*models.items()], refit=True, random_state=seed)
        fitted = (ranker if name == TOGETHER else models[name]).fit(X, y)
        return hits(y_later, fitted.decision_function(X_later), population.budget)

    return [found(comparison, choose, later) for choose in CHOICES]


def main() -> None:
    """Print the tables."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--quick", action="store_true", help="ten choices of each kind")
    arguments = parser.parse_args()
    print(versions())
    print("Hits: bias in the mean, as a share of the budget, and coverage of the interval at 95 %, in %")
    heads = {"taken": 10, "shown": 9, "expected": 10, "(error)": 9, "coverage": 10, "width": 8, "lists": 7}
    print(f"{'':56s}{'choices':>8s}" + "".join(f"{head:>{width}s}" for head, width in heads.items()))
    for kinds, of, n_choices in ((KINDS, of_columns, 700), (FITTED, of_fits, 300)):
        for label, kind in kinds.items():
            n = 10 if arguments.quick else n_choices
            run = joblib.Parallel(arguments.jobs)
            results = np.array(run(joblib.delayed(of)(kind, seed) for seed in range(n)), dtype=float)
            for choose, of_choice in zip(CHOICES, results.transpose(1, 2, 0), strict=True):
                shown, expected, low, high, later, is_list = of_choice
                bias = (expected - later) / kind.budget
                covered = 100.0 * np.mean((low <= later) & (later <= high))
                print(
                    f"{label:56s}{n:8d}{choose:>10s}{np.mean(shown - later) / kind.budget:+9.4f}"
                    f"{bias.mean():+10.4f}{bias.std() / np.sqrt(n):9.4f}{covered:10.1f}"
                    f"{np.mean(high - low):8.1f}{100 * is_list.mean():7.0f}",
                    flush=True,
                )


if __name__ == "__main__":
    main()
