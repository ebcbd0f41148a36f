"""``pushrank evaluate``: measure a saved model on labelled rows, with what chance may do to the figures."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Annotated, Any, NamedTuple

import numpy as np
import typer
from numpy.typing import NDArray
from rich.console import Console
from rich.table import Table as Grid

from pushrank import metrics
from pushrank.cli import options
from pushrank.cli.errors import InputError
from pushrank.cli.model import SavedModel
from pushrank.cli.read import TextFormat, label_column, positive_rows
from pushrank.metrics._ranking import Ranking
from pushrank.metrics.intervals import ranking_intervals

CONFIDENCE_LEVEL = 0.95
MAX_RESAMPLES, MIN_RESAMPLES = 1000, 200
MAX_ROWS_DRAWN = 100_000_000  # in all resamples, which takes some seconds

OTHER_MEANINGS = {
    "precision_at_quarter": "precision among the first 1/4 as many rows as positives",
    "precision_at_positives": "precision among as many rows as positives",
    "discounted_cumulative_gain": "discounted cumulative gain (log2)",
    "discounted_cumulative_gain_natural": "discounted cumulative gain (natural log)",
    "average_reciprocal_rank": "sum of reciprocal ranks",
    "r_max": "positives below the best negative",
    "log_r4": "(1/4) ln of the 4-norm error",
}
"""The measures of :func:`pushrank.metrics.top_of_list` that are not of the short table, and what they are."""


class Interval(NamedTuple):
    """The ends of a confidence interval."""

    low: float
    high: float


@dataclass
class TopMeasures:
    """The measures of a ranking at the top of its list.

    Those of the first rows count ties by their expectation under a random order. The number of positives
    at the top is an extreme, for which resampling promises no coverage: it has no interval, and neither has
    what is the same in every resample.

    Parameters
    ----------
    y : ndarray of bool, shape (n,)
        Which rows are positive.
    scores : ndarray of shape (n,)
        Scores, the higher the better.
    budget : int or None
        How many first rows to look at; by default a quarter as many as there are positives.
    """

    y: NDArray[np.bool_]
    scores: NDArray[np.float64]
    budget: int | None
    values: dict[str, float] = field(init=False)
    intervals: dict[str, Interval] = field(default_factory=dict, init=False)
    other_values: dict[str, float] = field(init=False)

    def __post_init__(self) -> None:
        all_values = metrics.top_of_list(self.y, self.scores)
        self.other_values = {name: all_values[name] for name in OTHER_MEANINGS}
        estimates = {name: measure(self.y, self.scores) for name, measure in self._measures.items()}
        precision = estimates.pop("precision")
        self.values = {
            **{name: factor * precision for name, factor in self._multiples.items()},
            "positives_at_top": all_values["positives_at_top"],
            **estimates,
        }

    @property
    def n_positive(self) -> int:
        """The number of positives."""
        return int(np.count_nonzero(self.y))

    @property
    def depth(self) -> int:
        """How many first rows are looked at."""
        return self.budget or max(1, round(self.n_positive / 4))

    @property
    def meanings(self) -> dict[str, str]:
        """What each value is."""
        first = f"the first {self.depth:,} row{'s' * (self.depth > 1)}"
        return {
            "hits": f"positives among {first}",
            "precision": f"share of positives among {first}",
            "recall": f"share of all positives that is among {first}",
            "lift": f"precision among {first} over that of a random order",
            "positives_at_top": "positives above every negative",
            "average_precision": "average precision",
            "auc": "area under the ROC curve",
            "partial_auc": "the same up to 10 % of the negatives; 0.5 for a random order",
            "enrichment_factor": "lift of the first 1 % of the rows",
            "bedroc": "early recognition: BEDROC, alpha = 20",
        }

    @property
    def _measures(self) -> dict[str, Callable[..., Any]]:
        return {
            "precision": partial(metrics.precision_at_k, k=self.depth, ties="half"),
            "average_precision": metrics.average_precision,
            "auc": metrics.auc,
            "partial_auc": metrics.partial_auc,
            "enrichment_factor": partial(metrics.lift, fraction=0.01),
            "bedroc": metrics.bedroc,
        }

    @property
    def _multiples(self) -> dict[str, float]:
        """What the precision among the first rows is multiplied by; resamples keep both classes' sizes."""
        n_rows = len(self.y)
        return {
            "hits": float(self.depth),
            "precision": 1.0,
            "recall": self.depth / self.n_positive,
            "lift": n_rows / self.n_positive,
        }

    @property
    def n_resamples(self) -> int:
        """How many resamples intervals are read from: fewer of a long list, which moves less."""
        return int(np.clip(MAX_ROWS_DRAWN // len(self.y), MIN_RESAMPLES, MAX_RESAMPLES))

    def add_intervals(self, seed: int) -> None:
        """Find the intervals, of the bias-corrected bootstrap, all from the same resamples."""
        found = ranking_intervals(
            Ranking(self.y, self.scores),
            list(self._measures.values()),
            "bca",
            CONFIDENCE_LEVEL,
            self.n_resamples,
            seed,
        )
        intervals = {
            name: Interval(interval.low, interval.high)
            for name, interval in zip(self._measures, found, strict=True)
        }
        low, high = intervals.pop("precision")
        top_intervals = {
            name: Interval(factor * low, factor * high) for name, factor in self._multiples.items()
        }
        # of no width where all resamples agree, as at a top of nothing but hits: that is no interval
        self.intervals = {
            name: interval
            for name, interval in {**top_intervals, **intervals}.items()
            if interval.low < interval.high
        }


def evaluate(
    model: Annotated[Path, typer.Argument(help="A model that pushrank fit saved.")],
    data: Annotated[Path, typer.Argument(help="Labelled rows that the model has not seen.")],
    label: Annotated[
        str | None, typer.Option(help="The label's column, where it differs from the training data's.")
    ] = None,
    separator: options.Separator = None,
    encoding: options.Encoding = None,
    decimal: options.Decimal = None,
    thousands: options.Thousands = None,
    budget: options.Budget = None,
    every: Annotated[bool, typer.Option("--all", help="Show the other measures, too.")] = False,
    intervals: Annotated[
        bool, typer.Option("--intervals/--no-intervals", help="Whether to say what chance may do.")
    ] = True,
    seed: Annotated[int, typer.Option(min=0, max=2**32 - 1, help="Seed of the resampling.")] = 0,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON in place of a table.")] = False,
) -> None:
    """Print how good the top of the list is, with 95 % intervals.

    The first four measures are of the first N rows of --budget N, by default a quarter as many as there are
    positives; rows that the model scores alike count by the average over their orders.

    Intervals are of the bootstrap (BCa) and take the rows to be independent: where rows come in clusters,
    such as the visits of one patient, they are too narrow. The number of positives at the top has none, for
    resampling promises nothing of an extreme, and neither has what no resample changes, as at a top of hits
    alone. Of a million rows they take from some seconds, with few positives, to a minute; --no-intervals
    leaves them out.

    With --json every figure is there, not rounded.

    Example: pushrank evaluate model.skops test.csv --budget 100
    """
    saved = SavedModel.load(model)
    table = saved.read(data, TextFormat(separator, encoding, decimal, thousands))
    column = label_column(table, label or saved.label)
    y, _ = positive_rows(table, column, saved.positive)
    if budget is not None and budget > len(y):
        raise InputError(f"--budget {budget} exceeds the {len(y)} rows of the data.")
    top = TopMeasures(y, saved.scores(table), budget)
    if intervals:
        top.add_intervals(seed)
    if as_json:
        typer.echo(json.dumps(_summary(top, intervals=intervals), indent=2))
        return
    grid = Grid(title=f"{saved.name} on {data.name}: {len(y):,} rows, {top.n_positive:,} positive")
    grid.add_column("measure")
    grid.add_column("value", justify="right")
    if intervals:
        grid.add_column("95 % interval", justify="right")
    grid.add_column("meaning")
    shown = {**top.values, **top.other_values} if every else top.values
    for name, value in shown.items():
        interval = " to ".join(map(_number, top.intervals[name])) if name in top.intervals else "–"
        grid.add_row(name, _number(value), *[interval] * intervals, (top.meanings | OTHER_MEANINGS)[name])
    wide = Console(width=None if Console().is_terminal else 140)
    wide.print(grid)
    if intervals:
        wide.print("Intervals take the rows to be independent of each other.", highlight=False)


def _number(value: float) -> str:
    return f"{value:.4f}" if value % 1 else f"{value:.0f}"


def _summary(top: TopMeasures, *, intervals: bool) -> dict[str, Any]:
    """Return every figure; an error of zero has no logarithm, and JSON has no infinities."""
    every = {**top.values, **top.other_values}
    summary: dict[str, Any] = {
        "rows": len(top.y),
        "positives": top.n_positive,
        "budget": top.depth,
        **{name: value if value > float("-inf") else None for name, value in every.items()},
    }
    if intervals:
        summary["confidence_level"] = CONFIDENCE_LEVEL
        summary["n_resamples"] = top.n_resamples
        summary["intervals"] = {name: interval._asdict() for name, interval in top.intervals.items()}
    return summary
