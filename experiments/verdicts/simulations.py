"""Samples with models that are equal by construction, and what several ways to make errors say of them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np
from scipy.stats import t
from sklearn.base import BaseEstimator
from sklearn.model_selection import StratifiedGroupKFold, StratifiedKFold

from pushrank import metrics
from pushrank.model_selection import RankerComparison, compare_rankers
from pushrank.model_selection.errors import (
    AUC,
    AVERAGE_PRECISION,
    HITS,
    PRECISION,
    Part,
    chances_at_threshold,
    influences_of_part,
)

MEASURES = (HITS, PRECISION, AVERAGE_PRECISION, AUC)
WAYS = ("folds", "Nadeau and Bengio", "here")
Z = 1.959964


class Population(NamedTuple):
    """Rows whose positives have the log-odds ``intercept`` plus the sum of what the blocks of columns say."""

    n_rows: int
    n_columns: int
    intercept: float
    budget: int
    n_blocks: int = 2
    strength: float = 0.9
    group_size: int = 1

    def draw(self, rng: np.random.Generator, strengths: Sequence[float] | None = None) -> Any:
        """Return rows, labels and groups; rows of a group are nearly the same, with one label."""
        n_groups = self.n_rows // self.group_size
        X = rng.normal(size=(n_groups, self.n_columns))
        width = self.n_columns // self.n_blocks
        within = np.where(np.arange(width) < width // 2, 1.5, 0.5) / np.sqrt(width)
        weights = np.concatenate([s * within for s in strengths or [self.strength] * self.n_blocks])
        y = rng.random(n_groups) < 1.0 / (1.0 + np.exp(-self.intercept - X @ weights))
        groups = np.repeat(np.arange(n_groups), self.group_size)
        return (
            X[groups] + 0.3 * (self.group_size > 1) * rng.normal(size=(len(groups), X.shape[1])),
            y[groups],
            groups,
        )

    def models(self) -> dict[str, Block]:
        """Return a model for each block of the columns."""
        return {f"block {block}": Block(block, self.n_blocks) for block in range(self.n_blocks)}


POPULATIONS = {
    "400x60": Population(400, 60, -1.0, 100),
    "1000x20": Population(1000, 20, -1.5, 100),
    "5000x10, 1 %": Population(5000, 10, -5.2, 100),
}
GROUPED = Population(800, 40, -1.0, 200, group_size=4)


class Block(BaseEstimator):  # type: ignore[misc]
    """Ridge regression of the labels on one of several equal blocks of the columns."""

    def __init__(self, block: int = 0, n_blocks: int = 2) -> None:
        self.block, self.n_blocks = block, n_blocks

    def _columns(self, X: Any) -> Any:
        width = X.shape[1] // self.n_blocks
        return X[:, self.block * width : (self.block + 1) * width]

    def fit(self, X: Any, y: Any) -> Block:
        """Fit the coefficients."""
        Z = self._columns(X)
        self.mean_ = Z.mean(axis=0)
        Z = Z - self.mean_
        self.coef_ = np.linalg.solve(Z.T @ Z + np.eye(Z.shape[1]), Z.T @ (y - y.mean()))
        return self

    def decision_function(self, X: Any) -> Any:
        """Return the scores."""
        return (self._columns(X) - self.mean_) @ self.coef_


class Found(NamedTuple):
    """How far two equal models seem to differ in a sample, and how far each way lets chance reach."""

    difference: np.ndarray[Any, Any]  # of shape (n_measures,)
    reach: np.ndarray[Any, Any]  # of shape (n_ways, n_measures)


def two_models(population: Population, n_folds: int, n_repeats: int, seed: int) -> Found:
    """Compare two equal models on one sample."""
    X, y, groups = population.draw(np.random.default_rng(seed))
    grouped: dict[str, Any] = {"cv": n_folds, "n_repeats": n_repeats}
    if population.group_size > 1:
        cv = StratifiedGroupKFold(n_folds, shuffle=True, random_state=seed)
        grouped = {"cv": cv, "groups": groups}
    comparison = compare_rankers(
        population.models(), X, y, budget=population.budget, random_state=seed, **grouped
    )
    first, second = population.models()
    difference, reach = np.empty(4), np.empty((3, 4))
    for m, measure in enumerate(MEASURES):
        gains = comparison.measures[first][measure] - comparison.measures[second][measure]
        difference[m] = gains.mean()
        folds = np.sqrt(np.mean(np.var(gains.reshape(n_repeats, -1), axis=1, ddof=1)) / n_folds)
        student = t.ppf(0.975, n_folds - 1)
        errors = comparison.errors[measure]
        ours = t.ppf(0.975, errors.freedom) * errors.differences[0, 1]
        reach[:, m] = student * folds, student * folds * np.sqrt(1.0 + n_folds / (n_folds - 1)), ours
    return Found(difference, reach)


def nested_cross_validation(population: Population, n_folds: int, n_times: int, seed: int) -> Found:
    """Compare two equal models by the nested cross-validation of Bates, Hastie and Tibshirani (2024).

    The error of a fold's mean is the standard deviation of its influence values, as in the other ways.
    """
    rng = np.random.default_rng(seed)
    X, y, _ = population.draw(rng)
    models = list(population.models().values())

    def tested(train: Any, test: Any) -> tuple[Any, Any]:
        scores = [model.fit(X[train], y[train]).decision_function(X[test]) for model in models]
        part = Part(test, y[test], None, scores)
        values, influences = [], []
        for measure in MEASURES:
            n, budget = len(test), population.budget
            # A budget for all rows is in proportion for a part.
            k = max(1, round(budget * n / len(y)))
            chances = chances_at_threshold([part], measure, k, n)
            of_rows = influences_of_part(part, measure, k, n, chances)
            scale = budget / k if measure == HITS else 1.0
            influences.append(scale * (of_rows[0] - of_rows[1]))
            first, second = (metric_of(measure, y[test], s, k) for s in scores)
            values.append(scale * (first - second))
        return np.array(values), np.array(influences)

    inside, outside, squares, noise = [], [], [], []
    for _ in range(n_times):
        folds = StratifiedKFold(n_folds, shuffle=True, random_state=int(rng.integers(2**31)))
        parts = [test for _, test in folds.split(X, y)]
        for held, test in enumerate(parts):
            others = [part for number, part in enumerate(parts) if number != held]
            inner = np.mean(
                [
                    tested(np.concatenate([o for n, o in enumerate(others) if n != number]), part)[0]
                    for number, part in enumerate(others)
                ],
                axis=0,
            )
            value, influences = tested(np.concatenate(others), test)
            inside.append(inner)
            outside.append(value)
            squares.append((inner - value) ** 2)
            noise.append(influences.var(axis=1, ddof=1) / len(test))
    error = np.sqrt(np.mean(noise, axis=0) / n_folds)
    squared = np.maximum(np.mean(squares, axis=0) - np.mean(noise, axis=0), 0.0)
    width = np.clip(np.sqrt((n_folds - 1) / n_folds * squared), error, np.sqrt(n_folds) * error)
    means = np.mean(inside, axis=0), np.mean(outside, axis=0)
    bias = (1.0 + (n_folds - 2.0) / n_folds) * (means[0] - means[1])
    return Found(means[0] - bias, Z * width[None])


def metric_of(measure: str, y: Any, scores: Any, k: int) -> float:
    """Return a measure of a list."""
    functions: dict[str, Callable[..., Any]] = {
        HITS: lambda: k * metrics.precision_at_k(y, scores, k),
        PRECISION: lambda: metrics.precision_at_k(y, scores, fraction_of_positives=0.25),
        AVERAGE_PRECISION: lambda: metrics.average_precision(y, scores),
        AUC: lambda: metrics.auc(y, scores),
    }
    return float(functions[measure]())


def many_models(n_models: int, n_sets: int, *, best: float = 0.0) -> Iterator[RankerComparison]:
    """Yield comparisons of equal models, or of a better one and others, on blocks of six columns."""
    population = Population(600, 6 * n_models, -1.0, 100, n_blocks=n_models, strength=1.6 / np.sqrt(n_models))
    strengths = [population.strength * (1.0 + best)] + [population.strength] * (n_models - 1)
    for seed in range(n_sets):
        X, y, _ = population.draw(np.random.default_rng(seed), strengths)
        yield compare_rankers(population.models(), X, y, budget=population.budget, random_state=seed)


def before(comparison: RankerComparison) -> bool:
    """Return whether any difference from the best was more than chance by Bonferroni's t over the folds."""
    values = {model: measures[comparison.criterion] for model, measures in comparison.measures.items()}
    best = max(values.values(), key=lambda of_model: float(of_model.mean()))
    for of_model in values.values():
        gains = best - of_model
        reach = t.ppf(1.0 - 0.025 / (len(values) - 1), len(gains) - 1)
        if gains.mean() > reach * gains.std(ddof=1) / np.sqrt(len(gains)) > 0.0:
            return True
    return False
