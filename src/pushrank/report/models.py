"""Models in a report: a plain sentence for each kind, and the columns that drive a ranking."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.inspection import permutation_importance
from sklearn.pipeline import Pipeline

from pushrank._base.user_types import Estimator, Floats
from pushrank.budgets import Budget
from pushrank.estimators.reasons import parts_over
from pushrank.held_out import model_scores, record_warnings
from pushrank.metrics import measure_periods
from pushrank.model_selection.comparison import RankerComparison
from pushrank.model_selection.folds import share_of_hits
from pushrank.report.lists import MAX_TOP_ROWS, RankedLists
from pushrank.report.words import cell_text

if TYPE_CHECKING:
    import pandas as pd

MAX_CELLS = 200_000_000
"""Cells that are scored again, each column shuffled in turn, take some ten seconds on a core."""
MAX_IMPORTANCES, MAX_REASONS = 10, 3
MIN_HITS_LOST = 0.05
"""Fewer hits would be shown as 0.0."""
LINEAR, ANYWHERE = "A weighted sum of the columns", "fitted to tell hits from other rows anywhere in the list"
QUESTIONS = "A sum of many yes-or-no questions about single columns, such as 'is the amount above 500?'"
TREES, LARGE_TREES = "A sum of many decision trees", "The mean of many large decision trees"
SENTENCES = {
    "LogisticRegression": f"{LINEAR}, {ANYWHERE}; the usual first choice.",
    "PNormPush": f"{LINEAR}; the larger p, the more the very top of the list counts.",
    "PNormPushCV": f"{LINEAR}; cross-validation chooses how much the top counts.",
    "TrimmedPush": f"{LINEAR}, fitted to the hits that such a sum can bring to the top.",
    "TopRankerCV": f"{LINEAR}; cross-validation chooses how to fit it to the rows that you can act on.",
    "IRPush": f"{LINEAR}, fitted to find many hits very early in the list.",
    "PushBoost": f"{QUESTIONS}, fitted to get the top of the list right.",
    "RankBoost": f"{QUESTIONS}, fitted to put hits above other rows anywhere in the list.",
    "HistGradientBoostingClassifier": f"{TREES} (scikit-learn), {ANYWHERE}.",
    "RandomForestClassifier": f"{LARGE_TREES}, each grown on a random part of the rows.",
    "ExtraTreesClassifier": f"{LARGE_TREES}, whose thresholds are drawn at random.",
    "MLPClassifier": "A neural network: weighted sums of the columns, added up where above zero.",
    "StackingRanker": "The sum of the other models' scores, with weights learnt from rows they had not seen.",
    "LGBMClassifier": f"{TREES} (LightGBM), {ANYWHERE}.",
    "XGBClassifier": f"{TREES} (XGBoost), {ANYWHERE}.",
}


class Importance(NamedTuple):
    """How many hits among the first rows are lost, on average, when a column is shuffled."""

    column: str
    hits_lost: float
    bar: float
    """In per cent of the largest."""


class Drivers(NamedTuple):
    """The columns that drive the ranking shown, or why none is shown, and what raises rows at its top."""

    importances: list[Importance]
    why_none: str
    reasons: Mapping[int, str] = MappingProxyType({})


def model_sentences(models: Mapping[str, Estimator]) -> dict[str, str]:
    """Return a sentence for each kind of model, by the names of the models of that kind."""
    names: dict[str, list[str]] = {}
    for name, model in models.items():
        kind = type(model.steps[-1][1] if isinstance(model, Pipeline) else model)
        first_line = (kind.__doc__ or kind.__name__).strip().splitlines()[0]
        names.setdefault(SENTENCES.get(kind.__name__, first_line), []).append(name)
    return {"; ".join(group): sentence for sentence, group in names.items()}


def find_drivers(comparison: RankerComparison, lists: RankedLists, X: pd.DataFrame, seed: int) -> Drivers:
    """Return the columns that drive the main ranking, by permutation importance, and raise its top rows."""
    if X is None:
        return Drivers([], "")
    models = comparison.estimators.get(lists.main, [])
    if not models:
        why = "The comparison kept no models: compare_rankers(..., return_estimators=True) keeps them."
        return Drivers([], why)
    parts = np.unique(comparison.folds)
    cells_of_part = len(X) / len(parts) * X.shape[1] ** 2
    n_parts = min(len(parts), int(MAX_CELLS / cells_of_part))
    if n_parts == 0:
        where = f"{X.shape[1]:,} columns on {len(X):,} rows"
        return Drivers([], f"Shuffling {where} would take too long to be done here.")

    lost_in_parts: list[NDArray[np.float64]] = []
    raised: dict[int, str] = {}
    # The comparison has recorded the warnings of the same models' scores already.
    with record_warnings([]):
        for part in parts[:n_parts]:
            test = np.flatnonzero(comparison.folds == part)
            rows, model = X.iloc[test], models[part]
            first = np.flatnonzero(np.isin(test, lists.first_rows(lists.main, MAX_TOP_ROWS)))
            if len(first):
                shares, _ = parts_over(model, rows.iloc[first], rows, seed)
                reasons = (
                    _reasons(rows.iloc[at], of_score) for at, of_score in zip(first, shares, strict=True)
                )
                raised |= zip(test[first].tolist(), reasons, strict=True)
            # Each column is shuffled once in every part.
            drawn = {"scoring": partial(_hits, comparison, lists, test), "n_repeats": 1, "random_state": seed}
            lost_in_parts.append(permutation_importance(model, rows, lists.y[test], **drawn).importances_mean)
    lost = np.mean(lost_in_parts, axis=0)
    shown = [at for at in np.argsort(-lost, kind="stable")[:MAX_IMPORTANCES] if lost[at] > MIN_HITS_LOST]
    if not shown:
        why = "Shuffling any one column costs no hit: the columns stand in for each other, or say nothing."
        return Drivers([], why, raised)
    bars = 100.0 * lost / lost[shown[0]]
    importances = [Importance(str(X.columns[at]), float(lost[at]), bars[at]) for at in shown]
    return Drivers(importances, "", raised)


def _reasons(row: pd.Series, parts: Floats) -> str:
    """Return the columns that raise a row's score most, with their values and parts of the score."""
    first = [at for at in np.argsort(-parts[:-1], kind="stable")[:MAX_REASONS] if parts[at] > 0.0]
    return "; ".join(f"{row.index[at]} {cell_text(row.iloc[at])}: {parts[at]:+.2g}" for at in first)


def _hits(
    comparison: RankerComparison, lists: RankedLists, test: NDArray[np.intp], model: Estimator, X: Any, y: Any
) -> float:
    """Return the hits of a model in the first rows, as the rows of a test part tell."""
    scores, budget = model_scores(model, X), comparison.budget
    if isinstance(budget, Budget):
        time = np.asarray(comparison.times)[test]
        days = measure_periods(y, scores, budget=budget, time=time, confidence_level=None)
        return lists.depth * float(days.hits["scores"].sum() / days.looked_at.sum())
    return lists.depth * share_of_hits(y, scores, budget, len(comparison.folds))
