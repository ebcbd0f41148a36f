"""The contents of a report: rankings of the same rows by models that had not seen them, in tables."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from itertools import permutations
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from pushrank import metrics
from pushrank._base.user_types import Estimator, GenericArray, MatrixLike
from pushrank.budgets import Budget
from pushrank.metrics import PeriodMeasurement
from pushrank.model_selection.comparison import RankerComparison
from pushrank.report.first_screen import FirstScreen
from pushrank.report.lists import MAX_TOP_ROWS, RankedLists
from pushrank.report.models import Drivers, find_drivers, model_sentences
from pushrank.report.page import Page
from pushrank.report.pictures import hits_curve
from pushrank.report.words import cell_text, column_digits, is_number, is_tied, row_count, with_minus_signs

if TYPE_CHECKING:
    import pandas as pd

MAX_COLUMNS, MAX_NAMES, MAX_SHORT_TEXT = 6, 20, 20
"""How many columns are shown and how many others named; columns of longer texts have a minimal width."""
BUDGETS = (0.25, 0.5, 1.0, 1.5, 2.0, 5.0)
"""The rows of the table of budgets, in units of the budget."""


@dataclass(frozen=True)
class ReportData(Page):
    """A comparison of models, and the rows that a report shows of it.

    Parameters
    ----------
    comparison : RankerComparison
        What :func:`pushrank.model_selection.compare_rankers` returned.
    y : ndarray of bool, shape (n,)
        Which rows are hits.
    rows : DataFrame of n rows
        The columns to show of the top rows: those that drive the ranking most, or the first.
    title : str
        What was ranked, such as the name of the file.
    meaning : str
        What a hit is, such as ``"fraud = 1"``.
    settings : dict of str to str
        Further facts, in the order to show them.
    seed : int, default=0
        The seed of what is drawn at random.
    models : dict of str to estimator
        The models that were compared, by name: each is described in a sentence.
    X : DataFrame, optional
        The rows that were held out. With them, and a comparison with ``return_estimators=True``, the report
        says which columns drive the best ranking.
    released : list of str, optional
        Sentences on the model that was saved, for a section of their own.
    times : array-like of shape (n,), optional
        The times of the rows, for their period; by default those of a comparison with a budget by period.
    left_out : list of str, optional
        What was not used, such as ``"the columns id and note"``.
    """

    comparison: RankerComparison
    y: NDArray[np.bool_]
    rows: pd.DataFrame
    title: str
    meaning: str
    settings: Mapping[str, str] = field(default_factory=dict)
    seed: int = 0
    models: Mapping[str, Estimator] = field(default_factory=dict)
    X: MatrixLike = None
    released: Sequence[str] = ()
    times: GenericArray | None = None
    left_out: Sequence[str] = ()

    template = "template.html"

    @cached_property
    def lists(self) -> RankedLists:
        """The lists of the models, from fits that had not seen the rows."""
        comparison = self.comparison
        depth = comparison.budget or max(1, round(0.25 * int(self.y.sum())))
        if isinstance(depth, Budget):
            depth = depth.spent(depth.periods(comparison.times))
        # The second model of the page, other than the chosen one: the baseline, or the next by the criterion.
        ahead = sorted(comparison.differences_.items(), key=lambda pair: pair[1].mean)
        named = [comparison.chosen_, comparison.baseline_, *(model for model, _ in ahead[:1])]
        return RankedLists(self.y, comparison.held_out_, depth, list(dict.fromkeys(named)))

    def context(self) -> dict[str, object]:
        comparison, lists = self.comparison, self.lists
        drivers = find_drivers(comparison, lists, self.X, self.seed)
        # The first screen says on which rows models are judged and what the intervals assume.
        verdict = replace(comparison, judged=comparison.judged.partition(". ")[2]).verdict()
        if comparison.days is not None:
            verdict = verdict.replace(comparison.days.caveat, "")
        return {
            "data": self,
            "lists": lists,
            "first": FirstScreen(comparison, lists, self.times),
            "pictures": [hits_curve(lists, comparison)],
            "verdict": with_minus_signs(verdict),
            "models": model_sentences(self.models),
            "drivers": drivers,
            "measures": sorted(comparison.measures[lists.main], key=lambda m: m != comparison.criterion),
            "of_days": _other_budgets_by_period(self),
            "budgets": sorted({min(len(lists.y), max(1, round(part * lists.depth))) for part in BUDGETS}),
            "agreement": _agreement(lists),
            "is_cut_tied": any(lists.tied_at(model, lists.depth) for model in lists.pair),
            "disagreements": [_disagreement(lists, *pair) for pair in permutations(lists.pair, 2)],
            "signed": lambda value, digits: with_minus_signs(f"{value:+.{digits}f}"),
            "minus": with_minus_signs,
            "row_count": row_count,
            "is_tied": is_tied,
        } | _rows_context(self, drivers)


class Cell(NamedTuple):
    """An entry of a table, and the class of its element."""

    text: str
    kind: str = ""


def _other_budgets_by_period(data: ReportData) -> list[PeriodMeasurement]:
    """Return what the two lists would find by other budgets by period."""
    budget, times, scores = data.comparison.budget, data.comparison.times, data.comparison.scores
    if not isinstance(budget, Budget):
        return []
    lists = {model: scores[model] for model in data.lists.pair}
    ns = sorted({max(1, round(part * budget.n)) for part in BUDGETS})
    measuring = partial(metrics.measure_periods, data.y, lists, time=np.asarray(times))
    return [measuring(budget=replace(budget, n=n)) for n in ns]


def _rows_context(data: ReportData, drivers: Drivers) -> dict[str, object]:
    """Return what the template uses for tables of rows."""
    lists, names = data.lists, [*data.rows.columns]
    top = lists.first_rows(lists.main, MAX_TOP_ROWS)
    driving = [of.column for of in drivers.importances]
    # Of dates the columns that drive are numbers of the data's own columns, such as their weekdays.
    shown = sorted(
        (name for name in names if str(name) in driving), key=lambda name: driving.index(str(name))
    )
    shown = (shown or names)[:MAX_COLUMNS]
    digits = [column_digits(data.rows[name].iloc[top]) for name in shown]
    others = [str(name) for name in names if name not in shown]
    more = f" and {len(others) - MAX_NAMES:,} more" * (len(others) > MAX_NAMES)
    return {
        "top": top,
        "tied_at_end": lists.tied_at(lists.main, len(top)),
        "columns": [Cell(str(name), "number" * (data.rows[name].dtype.kind in "iuf")) for name in shown],
        "not_shown": ", ".join(others[:MAX_NAMES]) + more,
        "row_cells": partial(_row_cells, data, data.rows[shown], digits),
    }


def _agreement(lists: RankedLists) -> dict[str, tuple[float, float]]:
    """Return how many rows, and hits, are among the first of both lists, and of each of them only."""
    if len(lists.pair) < 2:
        return {}
    (name, second), (main, other) = lists.pair, map(lists.chances, lists.pair)
    # Tied rows come in the same random order in both lists, so that these differ as little as they can.
    groups = {
        f"{name} and {second}": np.minimum(main, other),
        f"{name} only": np.maximum(0.0, main - other),
        f"{second} only": np.maximum(0.0, other - main),
    }
    return {group: (float(chance.sum()), float(chance[lists.y].sum())) for group, chance in groups.items()}


def _disagreement(lists: RankedLists, model: str, other: str) -> dict[str, object]:
    """Return the rows that one model alone puts among the first, the farthest apart first."""
    rows = np.flatnonzero(lists.chances(model) > lists.chances(other))
    # The rows that the other model puts last come first.
    order = np.argsort(-lists.ranks[other].first[rows], kind="stable")
    return {"model": model, "other": other, "rows": rows[order]}


def _row_cells(data: ReportData, rows: pd.DataFrame, digits: Sequence[int], row: np.intp) -> list[Cell]:
    """Return what is shown of a row next to its number."""
    # Of tied rows, the first and the last rank that they share.
    ranks = [sorted({rank[row] for rank in data.lists.ranks[model]}) for model in data.lists.pair]
    return [
        Cell("✓ hit" if data.y[row] else "✗ no", "short"),
        *(Cell("–".join(f"{rank:,}" for rank in shared), "number") for shared in ranks),
        # Cell by cell: a row of numbers as a whole would turn integers into floats.
        *(_cell(rows.iloc[row, c], digits[c]) for c in range(rows.shape[1])),
    ]


def _cell(value: object, digits: int) -> Cell:
    text = with_minus_signs(cell_text(value, digits))
    kind = "number" if is_number(value) else "value" * (len(text) > MAX_SHORT_TEXT)
    return Cell(text, "quiet" if text == "missing" else kind)
