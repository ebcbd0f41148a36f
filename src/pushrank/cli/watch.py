"""``pushrank watch``: does a model find the hits expected of it, and are the rows still those of the fit?"""

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import typer

from pushrank import monitoring
from pushrank.cli.errors import InputError, in_option_names, refusing, say, warn
from pushrank.cli.features import span_of
from pushrank.cli.forms import WatchOptions
from pushrank.cli.pipelines import SavedModel
from pushrank.cli.saved import rows_hash
from pushrank.cli.score import time_column
from pushrank.cli.screen import print_json, print_table
from pushrank.cli.source.labels import is_acted_on, labels_so_far
from pushrank.cli.source.open import Source
from pushrank.cli.source.table import Table
from pushrank.cli.write import versions, write_page
from pushrank.monitoring import Reference
from pushrank.monitoring.reference import BLOCK_ROWS
from pushrank.monitoring.watching import NOT_KNOWN
from pushrank.report import WatchData


def watch_model(model: Path, rows: Source, config: WatchOptions) -> None:
    """Say whether a model finds the hits expected of it, and whether the rows are still those of the fit."""
    saved = SavedModel.load(model)
    reference = saved.reference
    if reference is None:
        raise InputError(
            f"{model} holds nothing to expect: fit it with a budget, --budget 30/day --time COLUMN or, for "
            f"lists of whole files, --budget 30, to {2 * BLOCK_ROWS} rows or more with positives throughout."
        )
    table, data = saved.table(rows, may_be_empty=True), rows.path
    watched = _watched(saved, reference, table, config)
    settings = {"Model": f"{model.name}, {saved.name}", "Rows": f"{data.name}, {len(table):,}"}
    page = WatchData(watched, data.name, reference.sentence, settings | {"Versions": versions()})
    if config.output is not None and len(table):
        write_page(page, config.output)
    if config.as_json:
        totals = _totals(watched.table) if watched.table else {}
        print_json(watched.to_dict() | totals | {"model": saved.name, "held_out": reference.facts()})
    elif config.table and len(table):
        say(f"{page.title}: {page.spent}")
        print_table(*page.by_period, f"means of a {reference.budget.per}")
        if page.moved[1]:
            print_table(*page.moved)
        for sentence in page.notes:
            say(sentence)
    if not config.as_json:
        say(watched.sentence)
    # A nightly job acts on the exit code: 1 is an alarm, 2 an error, and of 3 nothing is known.
    if watched.alarm or watched.sentence.startswith(NOT_KNOWN):
        raise typer.Exit(1 if watched.alarm else 3)


def _totals(table: list[dict[str, Any]]) -> dict[str, Any]:
    """Return the sums over all periods, and of those that are tested, whose last is not always the last."""
    tested = [record for record in table if record["hits"] is not None]
    facts = {"periods": len(table), "since": table[0]["period"], "until": table[-1]["period"]}
    facts |= {name: sum(of[name] or 0 for of in table) for name in ("rows", "looked_at", "labelled")}
    facts["tested"] = {"periods": len(tested), "rows": sum(of["labelled"] for of in tested)}
    facts["tested"] |= {name: sum(of[name] for of in tested) for name in ("hits", "expected")}
    facts["tested"]["evidence"] = max((of["evidence"] for of in tested), default=None)
    return facts


def _watched(saved: SavedModel, reference: Reference, table: Table, config: WatchOptions) -> monitoring.Watch:
    """Return what the rows of a file show; warn of rows that the fit may have seen."""
    # A quiet day sends names of columns and no rows.
    if not len(table):
        return monitoring.watch(reference, saved.scores(table), [])
    is_batch, label = reference.budget.per == "batch", config.label
    # A batch needs no times: where the fit had some, a file is still one list.
    by = config.time or (None if is_batch else time_column(saved, None))
    time = np.full(len(table), table.path.stem)
    if by is not None:
        time = table.times(by, may_be_text=is_batch)
    # Labels of new rows are often not known yet: columns are then watched without hits.
    if label is None and saved.label in table.frame:
        label = saved.label
    positive = config.positive or saved.positive
    y = None if label is None else labels_so_far(table.labels(label), positive)
    others, marked = {*saved.numeric, *saved.categorical, label, by}, config.acted
    # Where the data have such a column themselves, score writes another name.
    names = [f"{prefix}{of}" for prefix in ("pushrank_", "") for of in ("acted", "alert")]
    if marked is None and (marks := [of for of in names if of in table.frame and of not in others]):
        marked = marks[0]
        say(f"Rows looked at are those of the column {marked!r}.", err=True)
    acted = None if marked is None else is_acted_on(table, marked)
    # A batch without a column of times has no clock: of it, 0 says that labels that are missing never come.
    times = None if by is None and config.labels_after != "0" else time
    labels_after = span_of(config.labels_after, times, by)
    features, more = saved.features(table), {"acted": acted, "labels_after": labels_after}
    with refusing():
        watched = monitoring.watch(reference, saved.scores(features), time, features, y, config.level, **more)
    tested = [record for record in watched.table if record["hits"] is not None]
    if labels_after is None and any(record["labelled"] < record["looked_at"] for record in tested):
        warn("rows looked at got no label in 30 days; say --acted COLUMN, which they are, or --labels-after.")
    watched = replace(watched, sentence=in_option_names(watched.sentence))
    # Dates are texts in ISO 8601, whose order is that of time; names of batches have no such order.
    seen = [record["period"] for record in watched.table if record["period"] <= reference.periods[-1]]
    if saved.training.get("rows_hash") == rows_hash(features):
        warn(f"{saved.name} was fitted to these very rows, of which it finds more than of new ones.")
    elif seen and not is_batch:
        count = f"{len(seen):,} {reference.budget.several if seen[1:] else reference.budget.per}"
        are = "are" if seen[1:] else "is"
        warn(f"{count}, up to {seen[-1]}, {are} of the time of the fit: leave their rows out.")
    return watched
