"""``pushrank watch``: does a model in use find what it promised, and are the rows still those of the fit?"""

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import typer

from pushrank import monitoring
from pushrank.cli import options
from pushrank.cli.errors import InputError, refusing, warn
from pushrank.cli.labels import labels_so_far
from pushrank.cli.model import SavedModel
from pushrank.cli.options import option
from pushrank.cli.saved import fingerprint
from pushrank.cli.screen import console, grid_of
from pushrank.cli.table import TextFormat
from pushrank.cli.write import REPORTS_WRITTEN, check_output, versions, write_page
from pushrank.report import WatchData


@dataclass(frozen=True)
class WatchConfig:
    """Which columns tell when a row came and whether it was a hit, and how it is shown."""

    time: Annotated[str, typer.Option(help="The column of when a row came.")]
    label: str | None = option(
        "The label's column, empty where it is not known yet; by default that of the fit, if it is there."
    )
    positive: str | None = option("The positive label, where it differs from the training data's.")
    level: float = option("The chance of a false alarm, over any number of looks.", default=0.05)
    output: Path | None = option("Also save a page with pictures here (.html).", "--output", "-o")
    opened: options.Open = False
    force: options.Force = False
    as_json: options.Json = False


def watch(
    model: Annotated[Path, typer.Argument(help="A model fitted with --budget 30/day --time COLUMN.")],
    data: Annotated[Path, typer.Argument(help="All rows since the fit, with its columns.")],
    text_format: TextFormat,
    config: WatchConfig,
) -> None:
    """Say whether a model in use keeps its promise, and whether the rows are still those of the fit.

    The last line is one of three sentences: "as promised", "fewer hits than promised since 3 November:
    retrain", or "the rows have changed: column wind_gust". The exit code is 0 for the first and 1 for the
    others, so that a nightly job can act on it; errors have exit code 2.

    Give all rows since the fit, every day a few more: the tests may be looked at as often as you like, and
    give a false alarm with a chance of --level at most in all that time. Hits are compared with those that
    periods of so many rows and positives held when the model was fitted, so that a calm week is no alarm.
    Periods with a row whose label is not known yet are counted, and not tested. Of each column, and of the
    scores, the shares of its quarters or values in whole weeks (days of a budget an hour) are compared with
    those of the fit.

    Example: pushrank watch model.skops since_the_fit.parquet --time came --label fraud -o watch.html
    """
    if config.output is not None:
        check_output(config.output, REPORTS_WRITTEN, [model, data], force=config.force)
    elif config.opened:
        raise InputError("--open is for a page; say where to save it: -o PATH.")
    saved: SavedModel = SavedModel.load(model)
    reference = saved.reference
    if reference is None:
        raise InputError(f"{model} promises nothing by period: fit it with --budget 30/day --time COLUMN.")
    table = saved.read(data, text_format)
    time, label = table.times(config.time), config.label
    if label is None and saved.label in table.frame:
        label = saved.label
    positive = config.positive or saved.positive
    y = None if label is None else labels_so_far(table.labels(label), positive)
    features = saved.features(table)
    with refusing():
        watched = monitoring.watch(reference, saved.scores(features), time, features, y, config.level)
    seen = [record["period"] for record in watched.table if record["period"] <= reference.periods[-1]]
    if saved.training.get("fingerprint") == fingerprint(features):
        warn(f"{saved.name} was fitted to these very rows, of which it finds more than of new ones.")
    elif seen and reference.budget.per != "batch":
        count = f"{len(seen):,} {reference.budget.several if seen[1:] else reference.budget.per}"
        are = "are" if seen[1:] else "is"
        warn(f"{count}, up to {seen[-1]}, {are} of the time of the fit: leave their rows out.")
    page = WatchData(
        watched,
        data.name,
        reference.sentence,
        {
            "Model": f"{model.name}, {saved.name}",
            "Rows": f"{data.name}, {len(table):,}",
            "Versions": versions(),
        },
    )
    if config.output is not None:
        write_page(page, config.output, opened=config.opened)
    if config.as_json:
        facts = {"model": saved.name, "held_out": reference.facts()}
        typer.echo(json.dumps(watched.to_dict() | facts, indent=2))
    else:
        screen = console()
        screen.print(f"{page.title}: {page.spent}")
        screen.print(grid_of(*page.by_period, f"means of a {reference.budget.per}"))
        if page.moved[1]:
            screen.print(grid_of(*page.moved))
        for sentence in page.notes:
            screen.print(sentence)
        if config.output is not None:
            screen.print(f"The page is in {config.output}.")
        screen.print(watched.sentence)
    if watched.alarm:
        raise typer.Exit(1)
