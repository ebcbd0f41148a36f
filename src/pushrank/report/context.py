"""What a report shows: rankings of the same rows by models that had not seen them, as numbers and tables."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.stats import rankdata

from pushrank import metrics
from pushrank._numeric import Floats
from pushrank.metrics._bootstrap import default_n_resamples
from pushrank.model_selection.comparison import HITS, PRECISION, RankerComparison
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


class TiedRanks(NamedTuple):
    """For every row, the first and the last rank of those that tie with it, from 1 at the top."""

    first: NDArray[np.int64]
    last: NDArray[np.int64]


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

    @cached_property
    def held_out(self) -> dict[str, Floats]:
        """For each model, its order of all rows, the higher the better, from fits that had not seen them."""
        return self.comparison.held_out_

    @cached_property
    def best(self) -> str:
        """The model to show first."""
        return self.comparison.best_

    @cached_property
    def rival(self) -> str:
        """The model to hold the best one against: the baseline, or the next best where it is the best."""
        return self.comparison.runner_up_

    @property
    def depth(self) -> int:
        """How many first rows models are judged by."""
        return self.comparison.budget or max(1, round(0.25 * int(self.y.sum())))

    @property
    def names(self) -> list[str]:
        """The models' names: the best, the baseline, then the others as they came."""
        return list(dict.fromkeys([self.best, self.comparison.baseline_, *self.held_out]))

    @property
    def base_rate(self) -> float:
        """The share of hits among all rows."""
        return float(np.mean(self.y))

    def hits(self, model: str, depth: int | None = None) -> float:
        """Return how many of the first rows, by default of the budget, are hits; ties by expectation."""
        depth = depth or self.depth
        return float(depth * metrics.precision_at_k(self.y, self.held_out[model], depth))

    @cached_property
    def list_differences(self) -> list[ListDifference]:
        """The best model's list against every other."""
        others = [model for model in self.names if model != self.best]
        found = []
        for model in others:
            low, high, difference, p_value = metrics.compare(
                self.y,
                self.held_out[self.best],
                self.held_out[model],
                "precision_at_k",
                k=self.depth,
                confidence_level=1.0 - (1.0 - CONFIDENCE) / len(others),
                random_state=self.seed,
            )
            k = self.depth
            found.append(
                ListDifference(model, k * difference, k * low, k * high, min(1.0, p_value * len(others)))
            )
        return found

    def first_rows(self, model: str, count: int) -> NDArray[np.intp]:
        """Return the numbers of a model's first rows, best first; tied rows keep their order."""
        return np.argsort(-self.held_out[model], kind="stable")[:count]

    @cached_property
    def _ranks(self) -> dict[str, TiedRanks]:
        return {
            model: TiedRanks(*(rankdata(-scores, method=m).astype(np.int64) for m in ("min", "max")))
            for model, scores in self.held_out.items()
        }

    def ranks(self, model: str) -> TiedRanks:
        """Return the ranks of every row in a model's list."""
        return self._ranks[model]

    def tied_at(self, model: str, depth: int) -> int:
        """Return how many rows tie where a list is cut, some within its first rows and some beyond."""
        first, last = self.ranks(model)
        return int(((first <= depth) & (depth < last)).sum())

    def chances(self, model: str) -> NDArray[np.float64]:
        """Return every row's chance to be among the first rows, where tied rows come in a random order."""
        first, last = self.ranks(model)
        return np.clip((self.depth + 1.0 - first) / (last + 1.0 - first), 0.0, 1.0)


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
    rival_hits: float
    random_hits: float


class Disagreement(NamedTuple):
    """The rows that one model puts among the first and the other does not, and those of them to show."""

    description: str
    rows: NDArray[np.intp]
    shown: NDArray[np.intp]


def sentences(data: ReportData) -> tuple[str, str]:
    """Return the verdict, and how many hits the two lists have that it speaks of."""
    depth, best, rival = data.depth, data.best, data.rival
    tied = {model: data.tied_at(model, depth) for model in (best, rival)}
    cut = " and ".join(f"{rows:,} by {model}" for model, rows in tied.items() if rows)
    ties = f" Some rows tie where the list is cut ({cut}) and count by their chance to be in." if cut else ""
    return (
        data.comparison.verdict(),
        f"Of the {depth:,} rows that {best} ranks first, {row_count(data.hits(best))} are hits; of the "
        f"first {depth:,} by {rival}, {row_count(data.hits(rival))} are.{ties} A random pick would find "
        f"{row_count(depth * data.base_rate)}.",
    )


def template_context(data: ReportData) -> dict[str, Any]:
    """Return the names that the template uses."""
    top = data.first_rows(data.best, MAX_TOP_ROWS)
    drivers = importances(data)
    first, last = (ranks[top] for ranks in data.ranks(data.best))
    return {
        "data": data,
        "sentences": [with_minus_signs(sentence) for sentence in sentences(data)],
        "models": model_sentences(dict(data.models)),
        "importances": [] if isinstance(drivers, str) else drivers,
        "no_importances": drivers if isinstance(drivers, str) else "",
        "budgets": _budgets(data),
        "measures": sorted(
            data.comparison.measures[data.best], key=lambda name: name != data.comparison.criterion
        ),
        "n_resamples": default_n_resamples(len(data.y)),
        "none_is_better": data.comparison.none_is_better_,
        "facts": {**_facts(data), **data.settings},
        "top": top,
        "top_has_ties": bool((first != last).any()),
        "tied_at_end": data.tied_at(data.best, len(top)),
        "n_shown_of_tied": len(top) + 1 - int(first[-1]),
        "columns": [
            Cell(str(name), "number" if dtype.kind in "iuf" else "")
            for name, dtype in data.rows.dtypes.iloc[:MAX_COLUMNS].items()
        ],
        "cut": cut,
        "cut_is_tied": _cut_is_tied(data),
        "agreement": _agreement(data),
        "disagreements": [
            _disagreement(data, data.best, data.rival),
            _disagreement(data, data.rival, data.best),
        ],
        "row_cells": partial(_row_cells, data),
        "signed": lambda value, digits: with_minus_signs(f"{value:+.{digits}f}"),
        "p_value": lambda p: f"< {MIN_P_VALUE:g}" if p < MIN_P_VALUE else f"{p:.3f}",
        "row_count": row_count,
    }


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
    judged_by = f"hits among the first {data.depth:,} rows ({why})"
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


def _budgets(data: ReportData) -> list[BudgetRow]:
    depths = sorted({min(len(data.y), max(1, round(part * data.depth))) for part in BUDGETS})
    rows = [(k, data.hits(data.best, k), data.hits(data.rival, k)) for k in depths]
    return [
        BudgetRow(k, hits, hits / k, hits / int(data.y.sum()), rival, k * data.base_rate)
        for k, hits, rival in rows
    ]


def _cut_is_tied(data: ReportData) -> bool:
    return any(data.tied_at(model, data.depth) for model in (data.best, data.rival))


def _agreement(data: ReportData) -> dict[str, tuple[float, float]]:
    """Return how many rows, and hits, both lists have among their first, and how many only one of them."""
    best, rival = data.chances(data.best), data.chances(data.rival)
    # tied rows come in one random order in both lists, so that these part no more than they must
    groups = {
        f"{data.best} and {data.rival}": np.minimum(best, rival),
        f"{data.best} only": np.maximum(0.0, best - rival),
        f"{data.rival} only": np.maximum(0.0, rival - best),
    }
    return {name: (float(chance.sum()), float(chance[data.y].sum())) for name, chance in groups.items()}


def _disagreement(data: ReportData, model: str, other: str) -> Disagreement:
    tied = _cut_is_tied(data)
    first = f"{'more likely ' if tied else ''}among the first {data.depth:,} of {model}"
    rows = np.flatnonzero(data.chances(model) > data.chances(other))
    # those first that the other model puts last
    rows = rows[np.argsort(-data.ranks(other).first[rows], kind="stable")]
    description = f"{first} than of {other}" if tied else f"{first}, but not of {other}"
    return Disagreement(description, rows, rows[:MAX_DISAGREEING_ROWS])


def _row_cells(data: ReportData, row: np.intp) -> list[Cell]:
    """Return what is shown of a row beside its number."""
    return [
        Cell("✓ hit" if data.y[row] else "✗ no", "short"),
        Cell(_rank(data.ranks(data.best), row), "number"),
        Cell(_rank(data.ranks(data.rival), row), "number"),
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
