"""The contents of a report: rankings of the same rows by models that had not seen them, in tables."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from itertools import permutations
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from pushrank import metrics
from pushrank._base.user_types import Estimator, Floats, MatrixLike
from pushrank.budgets import Budget
from pushrank.metrics import Measurement, PeriodMeasurement
from pushrank.metrics.measurement import number_text
from pushrank.metrics.periods import interval_texts
from pushrank.model_selection.comparison import RankerComparison
from pushrank.model_selection.errors import HITS, PRECISION
from pushrank.report.lists import MAX_TOP_ROWS, MemberHits, RankedLists
from pushrank.report.models import Drivers, find_drivers, model_sentences
from pushrank.report.page import Page

if TYPE_CHECKING:
    import pandas as pd

MIN_P_VALUE = 0.001
"""Smaller p-values are shown as below it."""
WHOLE = 1e-6
"""Sums of chances that are nearer to a whole number differ from it by errors of rounding alone."""
MAX_DISAGREEING_ROWS = 20
MAX_COLUMNS = 10
MAX_SHORT_TEXT = 20
"""Columns of longer texts are given a minimal width."""
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
        The columns to show of the top rows.
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
        Sentences on the model that was saved for a budget by period, for the verdict.
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
        of_comparison = {
            "measured": None,
            "models": model_sentences(self.models),
            "drivers": find_drivers(comparison, lists, self.X, self.seed),
            "measures": sorted(comparison.measures[lists.main], key=lambda m: m != comparison.criterion),
            "of_days": _other_budgets_by_period(self),
        }
        return of_comparison | _template_context(self, _facts(self))


@dataclass(frozen=True)
class MeasurementData(Page):
    """Lists by the scores of any models that were measured, and the rows that a report shows of them.

    Parameters
    ----------
    measurement : Measurement
        What :func:`pushrank.metrics.measure` returned, without weights.
    scores : dict of str to ndarray of shape (n,)
        The scores that were measured, by the names of the models.
    y, rows, title, meaning, settings
        As those of :class:`ReportData`.
    members : list of MemberHits, optional
        What each member of an ensemble finds, whose list is the one that was measured.
    promised : list of str, optional
        Sentences such as that of :meth:`pushrank.metrics.HitsPromise.sentence`, for the verdict.
    """

    measurement: Measurement
    y: NDArray[np.bool_]
    scores: Mapping[str, Floats]
    rows: pd.DataFrame
    title: str
    meaning: str
    settings: Mapping[str, str] = field(default_factory=dict)
    members: Sequence[MemberHits] = ()
    promised: Sequence[str] = ()

    @cached_property
    def lists(self) -> RankedLists:
        """The lists: the one with the most hits, the one that all are compared with, and the others."""
        figures, first = self.measurement.measures, self.measurement.first
        by = ("hits", "average_precision")
        best, *others = sorted(
            figures, key=lambda model: [figures[model][name].estimate for name in by], reverse=True
        )
        named = list(dict.fromkeys([best, first, *others]))
        return RankedLists(self.y, dict(self.scores), round(self.measurement.depth), named)

    def context(self) -> dict[str, object]:
        judged_by = f"hits among the first {self.lists.depth:,} rows"
        of_measurement = {"measured": self.measurement, "drivers": Drivers([], ""), "of_days": []}
        return of_measurement | _template_context(self, {"Lists judged by": judged_by})


class Cell(NamedTuple):
    """An entry of a table, and the class of its element."""

    text: str
    kind: str = ""


def sentences(data: ReportData | MeasurementData) -> list[str]:
    """Return the verdict, and how many hits the two lists have that it compares."""
    if isinstance(data, ReportData):
        days = data.comparison.days
        found = _hits_sentence(data.lists, "") if days is None else _days_sentence(days, data.lists)
        return [data.comparison.verdict(), found, *data.released]
    low, high, *_ = data.measurement.measures[data.lists.main]["hits"]
    interval = "" if np.isnan(low) else f", 95 % interval {row_count(low)} to {row_count(high)}"
    return [_hits_sentence(data.lists, interval), *data.measurement.sentences(), *data.promised]


def headline(data: ReportData | MeasurementData) -> list[str]:
    """Return what a reader needs who reads one sentence: how many hits, by which model, and by chance."""
    if isinstance(data, MeasurementData):
        hits, *_ = sentences(data)
        return [hits, *data.promised]
    comparison, days, depth, model = data.comparison, data.comparison.days, data.lists.depth, data.lists.main
    n = f"{depth:,} of {len(data.y):,} rows"
    # Without a budget the measure is a share of the rows; a measure of the user's own counts no hits.
    measure = next((m for m in (HITS, PRECISION) if m in comparison.measures[model]), None)
    # One interval is shown for one thing: for rows to come, where the models are judged by hits.
    is_judged = measure == comparison.criterion
    if days is not None:
        mean = days.means[model].estimate
        _, low, high = comparison.expected_
        chance = float(np.mean(days.looked_at * days.positives / days.sizes))
        counts = [f"{value:.2f}" for value in (mean, low, high, chance)]
        n = f"{days.budget.n:,} rows {days.budget.each}"
    else:
        of_rows = depth if measure == PRECISION else 1
        mean = data.lists.hits(model) if measure is None else of_rows * comparison.mean(model, measure)
        _, low, high = comparison.expected_ if is_judged else (0.0, np.nan, np.nan)
        counts = [row_count(value) for value in (mean, of_rows * low, of_rows * high)]
        counts.append(row_count(depth * data.lists.base_rate))
    to_come = f"; expect {counts[1]} to {counts[2]} in as many to come" * bool(np.isfinite([low, high]).all())
    return [f"{model} finds {counts[0]} hits in {n}{to_come}. A random pick would find {counts[3]}."]


def _hits_sentence(lists: RankedLists, interval: str) -> str:
    depth, main = lists.depth, lists.main
    tied = {model: lists.tied_at(model, depth) for model in lists.pair}
    counts = " and ".join(f"{rows:,} by {model}" for model, rows in tied.items() if rows)
    ties = f" Some rows tie where the list is cut ({counts}) and count by their chance to be in."
    others = [f"; of the first {depth:,} by {m}, {row_count(lists.hits(m))} are" for m in lists.pair[1:]]
    return (
        f"Of the {depth:,} rows that {main} ranks first, {row_count(lists.hits(main))} are hits{interval}"
        f"{''.join(others)}.{ties * bool(counts)} "
        f"A random pick would find {row_count(depth * lists.base_rate)}."
    )


def _days_sentence(days: PeriodMeasurement, lists: RankedLists) -> str:
    found = {model: interval_texts(days.means[model]) for model in lists.pair}
    hits = " and ".join(
        f"{mean} by {model}" + f" (95 % interval {ends})" * (ends != "–")
        for model, (mean, ends) in found.items()
    )
    return f"Hits {days.budget.each} among the first {days.budget.n:,} rows: {hits}. {days.sentences()[0]}"


def _other_budgets_by_period(data: ReportData) -> list[PeriodMeasurement]:
    """Return what the two lists would find by other budgets by period."""
    budget, times, scores = data.comparison.budget, data.comparison.times, data.comparison.scores
    if not isinstance(budget, Budget):
        return []
    lists = {model: scores[model] for model in data.lists.pair}
    ns = sorted({max(1, round(part * budget.n)) for part in BUDGETS})
    measuring = partial(metrics.measure_periods, data.y, lists, time=np.asarray(times))
    return [measuring(budget=replace(budget, n=n)) for n in ns]


def _template_context(data: ReportData | MeasurementData, facts: dict[str, str]) -> dict[str, object]:
    """Return the names that the template uses of both kinds of lists."""
    lists = data.lists
    top = lists.first_rows(lists.main, MAX_TOP_ROWS)
    first, last = (ranks[top] for ranks in lists.ranks[lists.main])
    shown = headline(data)
    hits = f"{int(data.y.sum()):,}, the rows with {data.meaning}"
    return {
        "facts": {"Rows": f"{len(data.y):,}", "Hits": hits, **facts, **data.settings},
        "data": data,
        "lists": lists,
        "headline": [*map(with_minus_signs, shown)],
        # A command is there to be copied, and its hyphens stay.
        "sentences": [
            said if "pushrank " in said else with_minus_signs(said)
            for said in sentences(data)
            if said not in shown
        ],
        "budgets": sorted({min(len(lists.y), max(1, round(part * lists.depth))) for part in BUDGETS}),
        "top": top,
        "top_has_ties": bool((first != last).any()),
        "tied_at_end": lists.tied_at(lists.main, len(top)),
        "n_shown_of_tied": len(top) + 1 - int(first[-1]),
        "columns": [
            Cell(str(name), "number" if dtype.kind in "iuf" else "")
            for name, dtype in data.rows.dtypes.iloc[:MAX_COLUMNS].items()
        ],
        "cut_is_tied": lists.is_cut_tied,
        "agreement": _agreement(lists),
        "disagreements": [_disagreement(lists, *pair) for pair in permutations(lists.pair, 2)],
        "max_disagreeing": MAX_DISAGREEING_ROWS,
        "row_cells": partial(_row_cells, data),
        "signed": lambda value, digits: with_minus_signs(f"{value:+.{digits}f}"),
        "number": _number,
        "change": lambda measure, value, *ends: "+" * (value > 0.0) + _number(measure, value, *ends),
        "p_value": lambda p: f"< {MIN_P_VALUE:g}" if p < MIN_P_VALUE else f"{p:.3f}",
        "row_count": row_count,
    }


def _number(measure: str, value: float, *interval: float) -> str:
    """Return a measure as it is shown, with the digits that its interval supports."""
    return with_minus_signs(row_count(value) if measure == "hits" else number_text(value, *interval))


def row_count(rows: float) -> str:
    """Return a number of rows, with a decimal where it is no whole one, and two digits below one."""
    if WHOLE < rows < 1.0 - WHOLE:
        return f"{rows:.2g}"
    rounded = round(rows, 1)
    return f"{rounded:,.0f}" if rounded.is_integer() and abs(rows - rounded) < WHOLE else f"{rounded:,.1f}"


def _facts(data: ReportData) -> dict[str, str]:
    """Return what the comparison itself says of how it was made."""
    comparison = data.comparison
    why = "the budget" if comparison.budget else "a quarter as many as there are hits"
    judged_by = f"hits among the first {data.lists.depth:,} rows ({why})"
    if isinstance(comparison.budget, Budget):
        judged_by = f"hits among the first {comparison.budget.words} ({data.lists.depth:,} rows in all)"
    if comparison.criterion not in (HITS, PRECISION):
        judged_by = f"{comparison.criterion}; counted below are {judged_by}"
    times = f", {comparison.n_repeats} times; curves and rows from the first"
    return {
        "Models judged by": judged_by,
        "Cross-validation": f"{comparison.n_folds} parts" + times * (comparison.n_repeats > 1),
        "Choice inside every training part": "no" if comparison.optimism_ is None else "yes",
        "Seed": str(data.seed),
    }


def with_minus_signs(text: str) -> str:
    """Return a text whose negative numbers have the sign that is as wide as a plus."""
    return re.sub(r"(?<![^\s(])-(?=\d)", "−", text)


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
    rows = rows[np.argsort(-lists.ranks[other].first[rows], kind="stable")]
    first = f"among the first {lists.depth:,} of {model}"
    sure, likely = f"{first}, but not of {other}", f"more likely {first} than of {other}"
    return {"description": likely if lists.is_cut_tied else sure, "rows": rows}


def _row_cells(data: ReportData | MeasurementData, row: np.intp) -> list[Cell]:
    """Return what is shown of a row next to its number."""
    # Of tied rows, the first and the last rank that they share.
    ranks = [sorted({rank[row] for rank in data.lists.ranks[model]}) for model in data.lists.pair]
    return [
        Cell("✓ hit" if data.y[row] else "✗ no", "short"),
        *(Cell("–".join(f"{rank:,}" for rank in shared), "number") for shared in ranks),
        # Cell by cell: a row of numbers as a whole would turn integers into floats.
        *(_cell(data.rows.iloc[row, c]) for c in range(min(MAX_COLUMNS, data.rows.shape[1]))),
    ]


def _cell(value: object) -> Cell:
    import pandas as pd

    if pd.api.types.is_scalar(value) and pd.isna(value):
        return Cell("missing", "quiet")
    if isinstance(value, float | np.floating):
        return Cell(f"{value:.6g}", "number")
    if isinstance(value, int | np.integer) and not isinstance(value, bool):
        return Cell(str(value), "number")
    return Cell(str(value), "value" if len(str(value)) > MAX_SHORT_TEXT else "")
