"""What a report shows: rankings of the same rows by models that had not seen them, as numbers and tables."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property, partial
from itertools import permutations
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from pushrank import metrics
from pushrank._numeric import Floats
from pushrank.metrics import Measurement
from pushrank.metrics._bootstrap import default_n_resamples
from pushrank.metrics.measurement import number_text
from pushrank.model_selection.comparison import HITS, PRECISION, RankerComparison
from pushrank.report.lists import RankedLists, TiedRanks
from pushrank.report.models import importances, model_sentences

if TYPE_CHECKING:
    import pandas as pd

CONFIDENCE = 0.95
MIN_P_VALUE = 0.001
"""Smaller p-values are not written out."""
WHOLE = 1e-6
"""Sums of chances nearer to a whole number than this are one: they add fractions with errors of rounding."""
MAX_TOP_ROWS = 50
MAX_DISAGREEING_ROWS = 20
MAX_COLUMNS = 10
MAX_CELL_LENGTH = 80
MAX_SHORT_TEXT = 20
"""Texts that are no longer need no width of their own."""
BUDGETS = (0.25, 0.5, 1.0, 2.0, 5.0)
"""What the table of budgets looks at, in units of the budget."""


class ListDifference(NamedTuple):
    """How many more hits one list has among its first rows than another, were other rows drawn.

    The interval covers, and the p-value errs, as promised for all models together (Bonferroni). The lists are
    taken as they are: how much the models would change with their training data, neither knows.
    """

    model: str
    difference: float
    low: float
    high: float
    p_value: float


@dataclass(frozen=True)
class ReportData:
    """A comparison of models, and the rows that a report shows of it.

    Parameters
    ----------
    comparison : RankerComparison
        What :func:`pushrank.model_selection.compare_rankers` found.
    y : ndarray of bool, shape (n,)
        Which rows are hits.
    rows : DataFrame of n rows
        The columns to show of the top rows.
    title : str
        What was ranked, such as the name of the file.
    meaning : str
        What a hit is, such as ``"fraud = 1"``.
    settings : dict of str to str
        What else was done, in the order to show it.
    seed : int, default=0
        The seed of what is drawn at random.
    models : dict of str to estimator
        The models that were compared, by name: each is described in a sentence.
    X : DataFrame, optional
        The rows that the models were fitted to. With them and the models the report says which columns drive
        the best ranking, for which the best model is fitted once more in every fold.
    """

    comparison: RankerComparison
    y: NDArray[np.bool_]
    rows: pd.DataFrame
    title: str
    meaning: str
    settings: Mapping[str, str] = field(default_factory=dict)
    seed: int = 0
    models: Mapping[str, Any] = field(default_factory=dict)
    X: Any = None

    def _repr_html_(self) -> str:
        from pushrank.report import framed

        return framed(self)

    @cached_property
    def lists(self) -> RankedLists:
        """The lists of the models, from fits that had not seen the rows."""
        comparison = self.comparison
        best, rival = comparison.best_, comparison.runner_up_
        depth = comparison.budget or max(1, round(0.25 * int(self.y.sum())))
        return RankedLists(self.y, comparison.held_out_, depth, best, None if rival == best else rival)

    @cached_property
    def list_differences(self) -> list[ListDifference]:
        """The best model's list against every other."""
        lists = self.lists
        others = [model for model in lists.names if model != lists.best]
        found = []
        for model in others:
            low, high, difference, p_value = metrics.compare(
                self.y,
                lists.scores[lists.best],
                lists.scores[model],
                "precision_at_k",
                k=lists.depth,
                confidence_level=1.0 - (1.0 - CONFIDENCE) / len(others),
                random_state=self.seed,
            )
            k = lists.depth
            found.append(
                ListDifference(model, k * difference, k * low, k * high, min(1.0, p_value * len(others)))
            )
        return found


@dataclass(frozen=True)
class MeasurementData:
    """Lists by the scores of any models that were measured, and the rows that a report shows of them.

    Parameters
    ----------
    measurement : Measurement
        What :func:`pushrank.metrics.measure` found, without weights.
    y : ndarray of bool, shape (n,)
        Which rows are hits.
    scores : dict of str to ndarray of shape (n,)
        The scores that were measured, by the names of the models.
    rows : DataFrame of n rows
        The columns to show of the top rows.
    title : str
        What was ranked, such as the name of the file.
    meaning : str
        What a hit is, such as ``"fraud = 1"``.
    settings : dict of str to str
        What else was done, in the order to show it.
    """

    measurement: Measurement
    y: NDArray[np.bool_]
    scores: Mapping[str, Floats]
    rows: pd.DataFrame
    title: str
    meaning: str
    settings: Mapping[str, str] = field(default_factory=dict)

    def _repr_html_(self) -> str:
        from pushrank.report import framed

        return framed(self)

    @cached_property
    def lists(self) -> RankedLists:
        """The lists, that with the most hits first, and beside it the one that all are held against."""
        figures, first = self.measurement.measures, self.measurement.first
        by = ("hits", "average_precision")
        best, *others = sorted(
            figures, key=lambda model: [figures[model][name].estimate for name in by], reverse=True
        )
        rival = first if best != first else next(iter(others), None)
        return RankedLists(self.y, dict(self.scores), round(self.measurement.depth), best, rival)


class Cell(NamedTuple):
    """An entry of a table, and the class of its element."""

    text: str
    kind: str = ""


class BudgetRow(NamedTuple):
    """What the best model and its rival find among so many first rows, and what a random order would."""

    rows: int
    hits: float
    precision: float
    found: float
    rival_hits: float | None
    random_hits: float


class Disagreement(NamedTuple):
    """The rows that one model puts among the first and the other does not, and those of them to show."""

    description: str
    rows: NDArray[np.intp]
    shown: NDArray[np.intp]


def sentences(data: ReportData | MeasurementData) -> list[str]:
    """Return the verdict, and how many hits the two lists have that it speaks of."""
    if isinstance(data, ReportData):
        return [data.comparison.verdict(), _hits_sentence(data.lists, "")]
    low, high, *_ = data.measurement.measures[data.lists.best]["hits"]
    known = "" if np.isnan(low) else f", 95 % interval {row_count(low)} to {row_count(high)}"
    return [_hits_sentence(data.lists, known), *data.measurement.sentences()]


def _hits_sentence(lists: RankedLists, interval: str) -> str:
    depth, best, rival = lists.depth, lists.best, lists.rival
    tied = {model: lists.tied_at(model, depth) for model in lists.pair}
    cut = " and ".join(f"{rows:,} by {model}" for model, rows in tied.items() if rows)
    ties = f" Some rows tie where the list is cut ({cut}) and count by their chance to be in." if cut else ""
    other = (
        "" if rival is None else f"; of the first {depth:,} by {rival}, {row_count(lists.hits(rival))} are"
    )
    return (
        f"Of the {depth:,} rows that {best} ranks first, {row_count(lists.hits(best))} are hits{interval}"
        f"{other}.{ties} A random pick would find {row_count(depth * lists.base_rate)}."
    )


def template_context(data: ReportData | MeasurementData) -> dict[str, Any]:
    """Return the names that the template uses."""
    lists = data.lists
    top = lists.first_rows(lists.best, MAX_TOP_ROWS)
    first, last = (ranks[top] for ranks in lists.ranks(lists.best))
    own = _compared(data) if isinstance(data, ReportData) else _measured(data)
    return own | {
        "data": data,
        "lists": lists,
        "sentences": [with_minus_signs(sentence) for sentence in sentences(data)],
        "budgets": _budgets(lists),
        "top": top,
        "top_has_ties": bool((first != last).any()),
        "tied_at_end": lists.tied_at(lists.best, len(top)),
        "n_shown_of_tied": len(top) + 1 - int(first[-1]),
        "columns": [
            Cell(str(name), "number" if dtype.kind in "iuf" else "")
            for name, dtype in data.rows.dtypes.iloc[:MAX_COLUMNS].items()
        ],
        "cut": cut,
        "cut_is_tied": _cut_is_tied(lists),
        "agreement": _agreement(lists),
        "disagreements": [_disagreement(lists, *pair) for pair in permutations(lists.pair, 2)],
        "row_cells": partial(_row_cells, data),
        "signed": lambda value, digits: with_minus_signs(f"{value:+.{digits}f}"),
        "number": _number,
        "change": lambda measure, value: "+" * (value > 0.0) + _number(measure, value),
        "p_value": lambda p: f"< {MIN_P_VALUE:g}" if p < MIN_P_VALUE else f"{p:.3f}",
        "row_count": row_count,
    }


def _compared(data: ReportData) -> dict[str, Any]:
    """Return what the template uses of a comparison alone."""
    comparison, drivers = data.comparison, importances(data)
    return {
        "measured": None,
        "models": model_sentences(dict(data.models)),
        "importances": [] if isinstance(drivers, str) else drivers,
        "no_importances": drivers if isinstance(drivers, str) else "",
        "measures": sorted(
            comparison.measures[data.lists.best], key=lambda name: name != comparison.criterion
        ),
        "n_resamples": default_n_resamples(len(data.y)),
        "none_is_better": comparison.none_is_better_,
        "place": _place_of_best(comparison),
        "facts": {**_facts(data), **data.settings},
    }


def _place_of_best(comparison: RankerComparison) -> str:
    """Return what the first model is called in the table: the best only where it is by more than chance."""
    best, rival = comparison.best_, comparison.runner_up_
    if best == rival or rival in comparison.equals_:
        return ""
    if comparison.differences_[rival].more_than_chance:
        return "best at the top"
    return "most hits" if comparison.criterion == HITS else "highest"


def _measured(data: MeasurementData) -> dict[str, Any]:
    """Return what the template uses of a measurement alone."""
    found, depth = data.measurement, data.lists.depth
    return {
        "measured": found,
        "importances": [],
        "no_importances": "",
        "facts": {
            "Rows": f"{len(data.y):,}",
            "Hits": f"{int(data.y.sum()):,}, the rows with {data.meaning}",
            "Lists judged by": f"hits among the first {depth:,} rows",
            **data.settings,
        },
    }


def _number(measure: str, value: float) -> str:
    """Return a measure as it is shown."""
    return with_minus_signs(row_count(value) if measure == "hits" else number_text(value))


def row_count(rows: float) -> str:
    """Return a number of rows, with a decimal where it is no whole one, and two digits below one."""
    if WHOLE < rows < 1.0 - WHOLE:
        return f"{rows:.2g}"
    rounded = round(rows, 1)
    return f"{rounded:,.0f}" if rounded.is_integer() and abs(rows - rounded) < WHOLE else f"{rounded:,.1f}"


def _facts(data: ReportData) -> dict[str, str]:
    """Return what was compared and how, as far as the comparison knows it."""
    comparison = data.comparison
    why = "the budget" if comparison.budget else "a quarter as many as there are hits"
    judged_by = f"hits among the first {data.lists.depth:,} rows ({why})"
    if comparison.criterion not in (HITS, PRECISION):
        judged_by = f"{comparison.criterion}; counted below are {judged_by}"
    times = f", {comparison.n_repeats} times; curves and rows from the first"
    return {
        "Rows": f"{len(data.y):,}",
        "Hits": f"{int(data.y.sum()):,}, the rows with {data.meaning}",
        "Models judged by": judged_by,
        "Cross-validation": f"{comparison.n_folds} parts" + times * (comparison.n_repeats > 1),
        "Choice inside every training part": "no" if comparison.optimism_ is None else "yes",
        "Seed": str(data.seed),
    }


def with_minus_signs(text: str) -> str:
    """Return a text whose negative numbers have the sign that is as wide as a plus."""
    return re.sub(r"(?<![^\s(])-(?=\d)", "−", text)


def cut(text: str, length: int) -> str:
    """Return a text that is at most so long, and an ellipsis."""
    return text if len(text) <= length else f"{text[:length]}…"


def _budgets(lists: RankedLists) -> list[BudgetRow]:
    depths = sorted({min(len(lists.y), max(1, round(part * lists.depth))) for part in BUDGETS})
    return [
        BudgetRow(
            k,
            lists.hits(lists.best, k),
            lists.hits(lists.best, k) / k,
            lists.hits(lists.best, k) / int(lists.y.sum()),
            None if lists.rival is None else lists.hits(lists.rival, k),
            k * lists.base_rate,
        )
        for k in depths
    ]


def _cut_is_tied(lists: RankedLists) -> bool:
    return any(lists.tied_at(model, lists.depth) for model in lists.pair)


def _agreement(lists: RankedLists) -> dict[str, tuple[float, float]]:
    """Return how many rows, and hits, both lists have among their first, and how many only one of them."""
    if lists.rival is None:
        return {}
    best, rival = lists.chances(lists.best), lists.chances(lists.rival)
    # tied rows come in one random order in both lists, so that these part no more than they must
    groups = {
        f"{lists.best} and {lists.rival}": np.minimum(best, rival),
        f"{lists.best} only": np.maximum(0.0, best - rival),
        f"{lists.rival} only": np.maximum(0.0, rival - best),
    }
    return {name: (float(chance.sum()), float(chance[lists.y].sum())) for name, chance in groups.items()}


def _disagreement(lists: RankedLists, model: str, other: str) -> Disagreement:
    tied = _cut_is_tied(lists)
    first = f"{'more likely ' if tied else ''}among the first {lists.depth:,} of {model}"
    rows = np.flatnonzero(lists.chances(model) > lists.chances(other))
    # those first that the other model puts last
    rows = rows[np.argsort(-lists.ranks(other).first[rows], kind="stable")]
    description = f"{first} than of {other}" if tied else f"{first}, but not of {other}"
    return Disagreement(description, rows, rows[:MAX_DISAGREEING_ROWS])


def _row_cells(data: ReportData | MeasurementData, row: np.intp) -> list[Cell]:
    """Return what is shown of a row beside its number."""
    return [
        Cell("✓ hit" if data.y[row] else "✗ no", "short"),
        *(Cell(_rank(data.lists.ranks(model), row), "number") for model in data.lists.pair),
        # a row as a whole would turn whole numbers into fractions where others are
        *(_cell(data.rows.iloc[row, c]) for c in range(min(MAX_COLUMNS, data.rows.shape[1]))),
    ]


def _rank(ranks: TiedRanks, row: np.intp) -> str:
    """Return a row's rank; of tied rows, the first and the last that they share."""
    first, last = ranks.first[row], ranks.last[row]
    return f"{first:,}" if first == last else f"{first:,}–{last:,}"


def _cell(value: Any) -> Cell:
    import pandas as pd

    if pd.api.types.is_scalar(value) and pd.isna(value):
        return Cell("missing", "quiet")
    if isinstance(value, bool | np.bool_):
        return Cell(str(value))
    if isinstance(value, int | np.integer):
        return Cell(str(value), "number")
    if isinstance(value, float | np.floating):
        return Cell(f"{value:.6g}", "number")
    text = str(value)
    return Cell(cut(text, MAX_CELL_LENGTH), "value" if len(text) > MAX_SHORT_TEXT else "")
