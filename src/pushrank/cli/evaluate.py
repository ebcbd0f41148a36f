"""``pushrank evaluate``: how good is the top of a saved model's list?"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from pushrank.cli import options
from pushrank.cli.columns import feature_frame, label_column, labelled_rows
from pushrank.cli.errors import warn
from pushrank.cli.measure import LabelledLists, MeasureConfig, show_measures
from pushrank.cli.model import SavedModel, fingerprint
from pushrank.cli.read import TextFormat


def evaluate(
    model: Annotated[Path, typer.Argument(help="A model that pushrank fit saved.")],
    data: Annotated[Path, typer.Argument(help="Labelled rows that it has not seen.")],
    written: TextFormat,
    config: MeasureConfig,
    label: Annotated[
        str | None, typer.Option(help="The label's column, where it differs from the training data's.")
    ] = None,
    positive: Annotated[
        str | None,
        typer.Option(help="The positive label, where it differs from the training data's."),
    ] = None,
    drop_unlabelled: options.DropUnlabelled = False,
) -> None:
    """Print how good the top of a saved model's list is, with 95 % intervals.

    What is measured and printed is that of pushrank measure, whose help tells what the intervals assume:
    hits in the first N rows of --budget N, by default a quarter as many as there are positives, average
    precision, areas, and what each tenth of the list holds.

    Example: pushrank evaluate model.skops test.csv --budget 100
    """
    config.check(model, data)
    saved = SavedModel.load(model)
    table = saved.read(data, written)
    column = label_column(table, label or saved.label or None)
    table, y, positive = labelled_rows(
        table, column, positive or saved.positive, drop_unlabelled=drop_unlabelled
    )
    show_measures(LabelledLists(table, column, positive, y, {saved.name: saved.scores(table)}), config)
    if saved.training.get("fingerprint") == fingerprint(
        feature_frame(table, saved.numeric, saved.categorical)
    ):
        warn(f"{saved.name} was fitted to these very rows: measures of rows that it has seen flatter it.")
