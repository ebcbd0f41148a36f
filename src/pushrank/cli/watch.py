"""``pushrank watch``: does a model find the hits expected of it, and are the rows still those of the fit?"""

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import typer

from pushrank import monitoring
from pushrank.cli.errors import InputError, refusing, warn
from pushrank.cli.features import span_of
from pushrank.cli.options import WatchConfig
from pushrank.cli.pipelines import SavedModel
from pushrank.cli.saved import RowScorer, rows_hash
from pushrank.cli.screen import console, grid_of
from pushrank.cli.source.format import TextFormat
from pushrank.cli.source.labels import is_acted_on, labels_so_far
from pushrank.cli.write import versions, write_page
from pushrank.monitoring import Reference
from pushrank.monitoring.reference import BLOCK_ROWS
from pushrank.monitoring.watching import NOT_KNOWN
from pushrank.report import WatchData


def watch_model(model: Path, data: Path, text_format: TextFormat, config: WatchConfig) -> None:
    """Say whether a model finds the hits expected of it, and whether the rows are still those of the fit."""
    saved = SavedModel.load(model)
    reference = saved.reference
    if reference is None:
        raise InputError(
            f"{model} has nothing to watch: fit it with a budget, --budget 30/day --time COLUMN or, for "
            f"lists of whole files, --budget 30, to {2 * BLOCK_ROWS} rows or more with positives throughout."
        )
    if config.time is None and reference.budget.per != "batch":
        raise InputError(f"the model was fitted for {reference.budget.words}: give --time COLUMN.")
    watched, n_rows = _watched(saved, reference, data, text_format, config)
    settings = {"Model": f"{model.name}, {saved.name}", "Rows": f"{data.name}, {n_rows:,}"}
    page = WatchData(watched, data.name, reference.sentence, settings | {"Versions": versions()})
    if config.output is not None and n_rows:
        write_page(page, config.output, opened=config.opened)
    if config.as_json:
        facts = {"model": saved.name, "held_out": reference.facts()}
        typer.echo(json.dumps(watched.to_dict() | facts, indent=2))
    elif not n_rows:
        console().print(watched.sentence)
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
        screen.print(watched.sentence, soft_wrap=True)
    # A nightly job acts on the exit code: 1 is an alarm, 2 an error, and of 3 nothing is known.
    if watched.alarm or watched.sentence.startswith(NOT_KNOWN):
        raise typer.Exit(1 if watched.alarm else 3)


def _watched(
    saved: RowScorer, reference: Reference, data: Path, text_format: TextFormat, config: WatchConfig
) -> tuple[monitoring.Watch, int]:
    """Return what the rows of a file show, and their number; warn of rows that the fit may have seen."""
    table = saved.read(data, text_format, may_be_empty=True)
    # A quiet day sends names of columns and no rows.
    if not len(table):
        return monitoring.watch(reference, saved.scores(table), []), 0
    is_batch, label = reference.budget.per == "batch", config.label
    time = np.full(len(table), data.stem)
    if config.time is not None:
        time = table.times(config.time, may_be_text=is_batch)
    # Labels of new rows are often not known yet: columns are then watched without hits.
    if label is None and saved.label in table.frame:
        label = saved.label
    positive = config.positive or saved.positive
    y = None if label is None else labels_so_far(table.labels(label), positive)
    others, by = {*saved.numeric, *saved.categorical, label, config.time}, config.acted
    # Where the data have such a column themselves, score writes another name.
    names = [f"{prefix}{of}" for prefix in ("pushrank_", "") for of in ("acted", "alert")]
    if by is None and (marks := [of for of in names if of in table.frame and of not in others]):
        by = marks[0]
        warn(f"rows looked at are those of the column {by!r}, as by --acted {by}.")
    acted = None if by is None else is_acted_on(table, by)
    # A batch without a column of times has no clock: of it, 0 says that labels that are missing never come.
    times = None if config.time is None and config.labels_after != "0" else time
    labels_after = span_of(config.labels_after, times, config.time)
    features, more = saved.features(table), {"acted": acted, "labels_after": labels_after}
    with refusing():
        watched = monitoring.watch(reference, saved.scores(features), time, features, y, config.level, **more)
    tested = [record for record in watched.table if record["hits"] is not None]
    if labels_after is None and any(record["labelled"] < record["looked_at"] for record in tested):
        warn("rows looked at got no label in 30 days; say --acted COLUMN, which they are, or --labels-after.")
    said = watched.sentence.replace("labels_after", "--labels-after").replace(", acted", ", --acted")
    watched = replace(watched, sentence=said)
    # Dates are texts in ISO 8601, whose order is that of time; names of batches have no such order.
    seen = [record["period"] for record in watched.table if record["period"] <= reference.periods[-1]]
    if saved.training.get("rows_hash") == rows_hash(features):
        warn(f"{saved.name} was fitted to these very rows, of which it finds more than of new ones.")
    elif seen and not is_batch:
        count = f"{len(seen):,} {reference.budget.several if seen[1:] else reference.budget.per}"
        are = "are" if seen[1:] else "is"
        warn(f"{count}, up to {seen[-1]}, {are} of the time of the fit: leave their rows out.")
    return watched, len(table)
