"""``pushrank evaluate``: measure a saved model on labelled rows."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.table import Table as Grid

from pushrank import metrics
from pushrank.cli.labels import label_column, positive_rows
from pushrank.cli.options import Decimal, Encoding, Separator, Thousands
from pushrank.cli.saved_model import SavedModel
from pushrank.cli.text_format import TextFormat

MEASURES = {
    "positives_at_top": "positives above every negative",
    "precision_at_quarter": "precision among the first 1/4 as many rows as positives",
    "precision_at_positives": "precision among as many rows as positives",
    "average_precision": "average precision",
    "auc": "area under the ROC curve",
    "discounted_cumulative_gain": "discounted cumulative gain (log2)",
    "discounted_cumulative_gain_natural": "discounted cumulative gain (natural log)",
    "average_reciprocal_rank": "sum of reciprocal ranks",
    "r_max": "positives below the best negative",
    "log_r4": "(1/4) ln of the 4-norm error",
}


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
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON in place of a table.")] = False,
) -> None:
    """Print how good the top of the list is.

    Example: pushrank evaluate model.skops test.csv --json
    """
    saved = SavedModel.load(model)
    table = saved.read(data, TextFormat(separator, encoding, decimal, thousands))
    column = label_column(table, label or saved.label)
    y, _ = positive_rows(table, column, saved.positive)
    measures = metrics.top_of_list(y, saved.scores(table))
    if as_json:
        # JSON has no infinities: an error of zero has no logarithm
        finite = {name: value if value > float("-inf") else None for name, value in measures.items()}
        typer.echo(json.dumps({"rows": len(table), "positives": int(y.sum()), **finite}, indent=2))
        return
    grid = Grid(title=f"{saved.name} on {data.name}: {len(table):,} rows, {int(y.sum()):,} positive")
    grid.add_column("measure")
    grid.add_column("value", justify="right")
    grid.add_column("meaning")
    for name, value in measures.items():
        grid.add_row(name, f"{value:.4f}" if value % 1 else f"{value:.0f}", MEASURES[name])
    wide = Console(width=None if Console().is_terminal else 120)
    wide.print(grid)
