"""The ways to take one of several models by what cross-validation says of them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from pushrank.model_selection.comparison import RankerComparison
from pushrank.model_selection.errors import AUC, AVERAGE_PRECISION, HITS, PRECISION
from pushrank.model_selection.verdict import may_be_best, quantiles

Found = dict[str, Any]
"""What ``measured.py`` has of a training set."""
Rule = Callable[[Found, Sequence[str]], str]
"""A way to take one of some models or lists."""


def mean(found: Found, model: str, measure: str) -> float:
    """Return the mean of a measure over the folds."""
    return float(np.mean(found["folds"][model][measure]))


def highest(found: Found, models: Sequence[str], *measures: str) -> str:
    """Return the model with the highest mean of a measure; the next measure decides between equals."""
    return max(models, key=lambda model: [round(mean(found, model, m), 9) for m in measures])


def errors_of(found: Found, models: Sequence[str], measure: str) -> Any:
    """Return the errors of some models, of a comparison that has more."""
    comparison: RankerComparison = found["comparison"]
    at = [list(comparison.measures).index(model) for model in models]
    errors = comparison.errors_of(measure)
    square = np.ix_(at, at)
    return errors._replace(
        means=errors.means[at], differences=errors.differences[square], covariance=errors.covariance[square]
    )


def candidates(found: Found, models: Sequence[str]) -> list[str]:
    """Return the models that may be the best by hits."""
    errors = errors_of(found, models, HITS)
    means = np.array([mean(found, model, HITS) for model in models])
    which = may_be_best(means, errors, quantiles(errors, 0.95, 0)[1])
    return [model for model, may in zip(models, which, strict=True) if may]


def simplest(found: Found, models: Sequence[str]) -> str:
    """Return the first of the simplest."""
    ranks = {model: found["comparison"].simplicity.get(model, 4) for model in models}
    return min(models, key=lambda model: (ranks[model], list(models).index(model)))


def today(found: Found, models: Sequence[str]) -> str:
    """Take the simplest model that may be the best."""
    return simplest(found, candidates(found, models))


def best_candidate(found: Found, models: Sequence[str]) -> str:
    """Take the highest average precision of the models that may be the best by hits."""
    return highest(found, candidates(found, models), AVERAGE_PRECISION)


def within(c: float, measure: str) -> Rule:
    """Take the simplest within so many standard errors of the difference from the best."""

    def rule(found: Found, models: Sequence[str]) -> str:
        best, errors = highest(found, models, measure, AVERAGE_PRECISION), errors_of(found, models, measure)
        at = list(models).index(best)
        return simplest(
            found,
            [
                model
                for number, model in enumerate(models)
                if mean(found, best, measure) - mean(found, model, measure)
                <= c * errors.differences[at, number] + 1e-9
            ],
        )

    return rule


def best_within(c: float) -> Rule:
    """Take the highest average precision of those within so many standard errors by hits."""

    def rule(found: Found, models: Sequence[str]) -> str:
        best, errors = highest(found, models, HITS, AVERAGE_PRECISION), errors_of(found, models, HITS)
        at = list(models).index(best)
        near = [
            model
            for number, model in enumerate(models)
            if mean(found, best, HITS) - mean(found, model, HITS) <= c * errors.differences[at, number] + 1e-9
        ]
        return highest(found, near, AVERAGE_PRECISION)

    return rule


def mean_rank(*measures: str) -> Rule:
    """Take the model with the best mean rank by several measures."""

    def rule(found: Found, models: Sequence[str]) -> str:
        total = np.zeros(len(models))
        for measure in measures:
            values = np.array([mean(found, model, measure) for model in models])
            total += (values[:, None] < values).sum(axis=1) + 0.5 * (values[:, None] == values).sum(axis=1)
        least = total.min() + 1e-9
        return highest(
            found, [m for m, of in zip(models, total, strict=True) if of <= least], AVERAGE_PRECISION
        )

    return rule


def most_folds(measure: str) -> Rule:
    """Take the model that is best in most folds, as a mean of ranks over the folds."""

    def rule(found: Found, models: Sequence[str]) -> str:
        values = np.array([found["folds"][model][measure] for model in models])
        ranks = (values[:, None] < values).sum(axis=(1, 2)) + 0.5 * (values[:, None] == values).sum(
            axis=(1, 2)
        )
        return models[int(ranks.argmin())]

    return rule


def less_error(c: float) -> Rule:
    """Take the highest average precision less so many of its standard errors over the folds."""

    def rule(found: Found, models: Sequence[str]) -> str:
        def bound(model: str) -> float:
            values = found["folds"][model][AVERAGE_PRECISION]
            return float(values.mean() - c * values.std(ddof=1) / np.sqrt(len(values)))

        return max(models, key=bound)

    return rule


def by_depths(found: Found, models: Sequence[str]) -> str:
    """Take the most hits in the mean of half, one and two budgets."""
    return max(models, key=lambda m: sum(np.mean(of) for of in found["depths"][m].values()))


def pooled(number: int) -> Rule:
    """Take the best by one measure of all held-out rows in one order."""
    return lambda found, models: max(models, key=lambda model: found["pooled"][model][number])


def repeated(number: int) -> Rule:
    """Take the best of three repetitions, where there are any."""

    def rule(found: Found, models: Sequence[str]) -> str:
        if not found["repeated"]:
            return highest(found, models, (AVERAGE_PRECISION, HITS)[number], AVERAGE_PRECISION)
        return max(models, key=lambda model: found["repeated"][model][number])

    return rule


def shrunk(found: Found, models: Sequence[str]) -> str:
    """Take the highest average precision after differences from the first are shrunk by their errors."""
    errors = errors_of(found, models, AVERAGE_PRECISION)
    gaps = np.array(
        [mean(found, m, AVERAGE_PRECISION) - mean(found, models[0], AVERAGE_PRECISION) for m in models]
    )
    variances = errors.differences[0] ** 2
    total = np.maximum(gaps**2, 1e-12)
    return models[int((gaps * np.maximum(0.0, 1.0 - variances / total)).argmax())]


def list_unless(name: str, less: float) -> Rule:
    """Take a list of several models unless its average precision is that much below the best single one."""

    def rule(found: Found, models: Sequence[str]) -> str:
        best = highest(found, models, AVERAGE_PRECISION)
        gap = mean(found, name, AVERAGE_PRECISION) - mean(found, best, AVERAGE_PRECISION)
        return name if gap >= -less else best

    return rule


def list_if_more(name: str) -> Rule:
    """Take a list of several models where it has one hit or .01 average precision more, as measured."""

    def rule(found: Found, models: Sequence[str]) -> str:
        best = highest(found, models, AVERAGE_PRECISION)
        more = mean(found, name, AVERAGE_PRECISION) - mean(found, best, AVERAGE_PRECISION)
        hits = mean(found, name, HITS) - mean(found, best, HITS)
        return name if more >= 0.01 or hits >= 1.0 else best

    return rule


SINGLE: dict[str, Rule] = {
    "simplest that may be the best": today,
    **{f"simplest within {c:g} errors of hits": within(c, HITS) for c in (1.5, 1.0, 0.5, 0.25)},
    **{f"simplest within {c:g} errors of AP": within(c, AVERAGE_PRECISION) for c in (1.0, 0.5, 0.25)},
    "most hits": lambda found, models: highest(found, models, HITS, AVERAGE_PRECISION),
    "highest AP of those that may be the best": best_candidate,
    "highest AP": lambda found, models: highest(found, models, AVERAGE_PRECISION),
    **{f"highest AP within {c:g} errors of hits": best_within(c) for c in (1.0, 2.0)},
    "highest precision in n+/4": lambda found, models: highest(found, models, PRECISION, AVERAGE_PRECISION),
    "highest AUC": lambda found, models: highest(found, models, AUC),
    "best mean rank by hits, AP": mean_rank(HITS, AVERAGE_PRECISION),
    "best mean rank by hits, AP, n+/4, AUC": mean_rank(HITS, AVERAGE_PRECISION, PRECISION, AUC),
    "best mean rank over folds by AP": most_folds(AVERAGE_PRECISION),
    "highest AP less half an error": less_error(0.5),
    "most hits at half, one, two budgets": by_depths,
    "pooled scores: average precision": pooled(0),
    "pooled scores: hits": pooled(1),
    "pooled ranks: average precision": pooled(2),
    "pooled ranks: hits": pooled(3),
    "three repetitions: average precision": repeated(0),
    "three repetitions: hits": repeated(1),
    "differences shrunk by their errors": shrunk,
}
