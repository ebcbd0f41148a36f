"""``pushrank evaluate``: measure a saved model on labelled rows."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console
from rich.table import Table as Grid

from pushrank.cli.errors import InputError
from pushrank.cli.labels import label_column, positive_rows
from pushrank.cli.options import Budget, Decimal, Encoding, Separator, Thousands
from pushrank.cli.saved_model import SavedModel
from pushrank.cli.text_format import TextFormat
from pushrank.cli.top_measures import CONFIDENCE_LEVEL, REST, TopMeasures


def evaluate(
    model: Annotated[Path, typer.Argument(help="A model that pushrank fit saved.")],
    data: Annotated[Path, typer.Argument(help="Labelled rows that the model has not seen.")],
    label: Annotated[
        str | None, typer.Option(help="The label's column, where it differs from the training data's.")
    ] = None,
    separator: Separator = None,
    encoding: Encoding = None,
    decimal: Decimal = None,
    thousands: Thousands = None,
    budget: Budget = None,
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
    shown = {**top.values, **top.rest} if every else top.values
    for name, value in shown.items():
        interval = " to ".join(map(_number, top.intervals[name])) if name in top.intervals else "–"
        grid.add_row(name, _number(value), *[interval] * intervals, (top.meanings | REST)[name])
    wide = Console(width=None if Console().is_terminal else 140)
    wide.print(grid)
    if intervals:
        wide.print("Intervals take the rows to be independent of each other.", highlight=False)


def _number(value: float) -> str:
    return f"{value:.4f}" if value % 1 else f"{value:.0f}"


def _summary(top: TopMeasures, *, intervals: bool) -> dict[str, Any]:
    """Return every figure; JSON has no infinities: an error of zero has no logarithm."""
    every = {**top.values, **top.rest}
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
