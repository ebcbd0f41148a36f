"""``pushrank evaluate``: how good is the top of a saved model's list?"""

from pathlib import Path
from typing import Annotated

import typer

from pushrank.cli import options
from pushrank.cli.errors import InputError, warn
from pushrank.cli.measure import MeasureConfig, show_measures
from pushrank.cli.promises import SEEN
from pushrank.cli.saved import load_model
from pushrank.cli.table import TextFormat


def evaluate(
    model: Annotated[Path, typer.Argument(help="A model that pushrank fit saved.")],
    data: Annotated[Path, typer.Argument(help="Labelled rows that it has not seen.")],
    text_format: TextFormat,
    config: MeasureConfig,
    label: Annotated[
        str | None, typer.Option(help="The label's column, where it differs from the training data's.")
    ] = None,
    positive: Annotated[
        str | None, typer.Option(help="The positive label, where it differs from the training data's.")
    ] = None,
    drop_unlabelled: options.DropUnlabelled = False,
) -> None:
    """Print how good the top of a saved model's list is, with 95 % intervals.

    What is measured and printed is that of pushrank measure, whose help tells what the intervals assume:
    hits in the first N rows of --budget N, by default a quarter as many as there are positives, average
    precision, areas, and what each tenth of the list holds. Of an ensemble a table says which member finds
    how many hits that no other does.

    Example: pushrank evaluate model.skops test.csv --budget 100
    """
    config.check(model, data)
    saved = load_model(model)
    how = {"drop_unlabelled": drop_unlabelled}
    rows, features, seen = saved.read_labelled(data, text_format, label, positive, **how)
    if seen and (config.promise or config.require):
        raise InputError(SEEN.format(saved.name, data))
    members = saved.member_scores(features)
    show_measures(rows, {saved.name: saved.scores(features)}, config, saved.alert, members)
    if seen:
        warn(f"{saved.name} was fitted to these very rows: measures of rows that it has seen flatter it.")
