"""The door of the measures: one ranking, or many at once."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Concatenate, ParamSpec, TypeVar

import numpy as np
from numpy.typing import ArrayLike

from pushrank._chunks import map_chunks
from pushrank.metrics.ranks import Ranking
from pushrank.metrics.tally import Tally

Parameters = ParamSpec("Parameters")
Measure = TypeVar("Measure", bound=Callable[..., Any])

NUMBER_MEASURES: dict[str, Callable[..., Any]] = {}
"""Measures that give a ranking one number, by name."""

ORDER_MEASURES: set[Callable[..., Any]] = set()
"""Those of the order alone: they take a :class:`Tally` in place of scores."""


def number_measure(measure: Measure) -> Measure:
    """Enter a measure that gives a ranking one number, so that it can be resampled by its name."""
    NUMBER_MEASURES[measure.__name__] = measure
    return measure


def order_measure(measure: Measure) -> Measure:
    """Enter a measure that follows from a :class:`Tally`, so that resamples need no rows and no sort."""
    ORDER_MEASURES.add(measure)
    return number_measure(measure)


def measured(
    ranking_measure: Callable[Concatenate[Any, Parameters], float],
    y_true: ArrayLike,
    scores: ArrayLike | Tally,
    sample_weight: ArrayLike | None,
    pos_label: Any,
    *parameters: Parameters.args,
    **named: Parameters.kwargs,
) -> Any:
    """Return the measure of one ranking, or of each row of scores of shape (n_rankings, n).

    Returns
    -------
    float or ndarray of shape (n_rankings,)
        Labels and weights are checked once, and rankings are measured in threads.
    """
    if isinstance(scores, Tally):
        if sample_weight is not None or pos_label is not None:
            raise ValueError("rows are checked and weighted already: give sample_weight and pos_label there.")
        return ranking_measure(scores, *parameters, **named)
    if not are_many(scores):
        return ranking_measure(Ranking(y_true, scores, sample_weight, pos_label), *parameters, **named)
    table = np.asarray(scores)
    first = Ranking(y_true, table[0], sample_weight, pos_label)
    rankings = [first, *(first.of_same_rows(row) for row in table[1:])]
    return np.array(
        map_chunks(
            lambda r, _: ranking_measure(rankings[r], *parameters, **named),
            [(r, r + 1) for r in range(len(rankings))],
        )
    )


def are_many(scores: ArrayLike) -> bool:
    """Return whether the scores are a table with a row for each ranking; a single column is one ranking."""
    shape = np.shape(scores)
    return len(shape) == 2 and shape[0] > 0 and shape[1] != 1
