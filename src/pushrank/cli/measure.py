"""``pushrank measure``: how good is the top of a list, whatever model the scores come from?"""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, NamedTuple

import numpy as np
import typer
from numpy.typing import NDArray
from rich.markup import escape
from rich.table import Table as Grid

from pushrank import metrics
from pushrank.cli import options
from pushrank.cli.columns import columns_to_show, groups_in, label_column, labelled_rows, numbers_in
from pushrank.cli.errors import InputError, refusing, warn
from pushrank.cli.read import Table, TextFormat, read_table
from pushrank.cli.screen import console
from pushrank.cli.write import REPORTS_WRITTEN, check_output, versions, write_page
from pushrank.metrics import Measurement
from pushrank.metrics.measurement import number_text
from pushrank.report import MeasurementData

CONFIDENCE_LEVEL = 0.95
MIN_WIDTH_OF_MEANINGS = 120
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


@dataclass(frozen=True)
class MeasureConfig:
    """What is measured of lists of labelled rows, and how it is shown."""

    budget: options.Budget = None
    value: Annotated[
        str | None,
        typer.Option(help="A column of what a row is worth if it is positive, such as the amount at stake."),
    ] = None
    group: Annotated[
        str | None,
        typer.Option(
            help="A column whose equal values belong together, such as the customer: intervals resample "
            "these whole."
        ),
    ] = None
    weight: Annotated[
        str | None, typer.Option(help="A column of how many rows each row stands for, in all measures.")
    ] = None
    every: Annotated[bool, typer.Option("--all", help="Also show the other measures.")] = False
    intervals: Annotated[
        bool, typer.Option("--intervals/--no-intervals", help="Show 95 % confidence intervals.")
    ] = True
    seed: Annotated[int, typer.Option(min=0, max=2**32 - 1, help="Seed of the resampling.")] = 0
    output: Annotated[
        Path | None,
        typer.Option("--output", "-o", help="Also save a report with curves and rows here (.html)."),
    ] = None
    show: options.Show = None
    opened: options.Open = False
    force: options.Force = False
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON instead of tables.")] = False

    def check(self, *inputs: Path) -> None:
        """Raise InputError when the report could not be written, or options do not go together."""
        if self.output is None:
            if self.show or self.opened:
                raise InputError("--show and --open are for a report; say where to save it: -o PATH.")
            return
        if self.weight is not None:
            raise InputError("a report counts rows, each as one; leave --weight or the report out.")
        check_output(self.output, REPORTS_WRITTEN, inputs, force=self.force)


def measure(
    data: options.Data,
    written: TextFormat,
    score: Annotated[
        list[str],
        typer.Option(
            help="A column of scores, the higher the better; may be repeated, then each is compared with the "
            "first."
        ),
    ],
    config: MeasureConfig,
    label: options.Label = None,
    positive: options.Positive = None,
    drop_unlabelled: options.DropUnlabelled = False,
) -> None:
    """Print how good the top of lists is, by the scores of any models, with 95 % intervals.

    Rows hold their label and a column of scores for each model. The first four measures count hits in the
    first N rows of --budget N, by default a quarter as many as there are positives. Ties count as their
    expected value. Of several columns each is compared with the first by its hits, on the same resamples,
    with intervals that hold together at 95 %. The last table says what is found in each tenth of a list.

    The intervals come from the bootstrap (BCa) and assume independent rows: if rows come in clusters, such as
    the visits of one patient, they are too narrow, unless --group names them. Where all or none of the first
    rows are hits, the interval is that of Clopper and Pearson. The number of positives at the top has no
    interval, because resampling says nothing about an extreme; nor has a measure that no resample changes.
    With a million rows the intervals take from some seconds to a minute; --no-intervals leaves them out.

    --json prints all measures, differences and tenths, to twelve digits.

    Example: pushrank measure scores.csv --label fraud --score lightgbm --score push --budget 100
    """
    config.check(data)
    table = read_table(data, written)
    column = label_column(table, label)
    table, y, positive = labelled_rows(table, column, positive, drop_unlabelled=drop_unlabelled)
    if twice := [name for name in score if score.count(name) > 1]:
        raise InputError(f"--score {twice[0]!r} is given twice; name each column once.")
    scores = {name: numbers_in(table, name, "score") for name in score}
    found = show_measures(LabelledLists(table, column, positive, y, scores), config)
    for name, figures in found.measures.items():
        if figures["auc"].estimate < 0.5:
            warn(
                f"column {name!r} of {table.path} ranks worse than a random order (auc "
                f"{figures['auc'].estimate:.4f}): a higher score must be better; if a lower one is, change "
                "its sign."
            )


class LabelledLists(NamedTuple):
    """A table, which of its rows are positive, and scores that make lists of them, by name."""

    table: Table
    label: str
    positive: str
    y: NDArray[np.bool_]
    scores: dict[str, NDArray[np.float64]]


def show_measures(lists: LabelledLists, config: MeasureConfig) -> Measurement:
    """Measure lists, and print and report what was found."""
    table, y, scores = lists.table, lists.y, lists.scores
    given = {"value": (config.value, -np.inf), "weight": (config.weight, 0.0)}
    value, weight = (
        None if name is None else numbers_in(table, name, option, lowest)
        for option, (name, lowest) in given.items()
    )
    total = float(len(y) if weight is None else weight.sum())
    if config.budget is not None and config.budget > total:
        raise InputError(f"--budget {config.budget} exceeds the {total:g} rows of the data.")
    groups = None if config.group is None else groups_in(table, config.group)
    with refusing():
        found = metrics.measure(
            y,
            scores,
            k=config.budget,
            value=value,
            groups=groups,
            confidence_level=CONFIDENCE_LEVEL if config.intervals else None,
            sample_weight=weight,
            random_state=config.seed,
        )
        every = [metrics.top_of_list(y, own, sample_weight=weight) for own in scores.values() if config.every]
    others = {
        name: {which: own[which] for which in OTHER_MEANINGS}
        for name, own in zip(scores, every, strict=False)
    }
    drawn = "rows" if found.n_groups is None else f"{found.n_groups:,} groups by {config.group}"
    if config.output is not None:
        settings = {
            "File": table.path.name,
            "Intervals": f"resamples of {drawn}" if config.intervals else "none",
            "Seed": str(config.seed),
            "Versions": versions(),
        }
        rows = columns_to_show(table, table.frame.drop(columns=lists.label), config.show)
        title, meaning = table.path.name, f"{lists.label} = {lists.positive}"
        data = MeasurementData(found, y, scores, rows, title, meaning, settings)
        write_page(data, config.output, opened=config.opened)
    if config.as_json:
        # an error of zero has no logarithm
        finite = {
            name: {which: figure if np.isfinite(figure) else None for which, figure in own.items()}
            for name, own in others.items()
        }
        typer.echo(json.dumps(found.summary() | {"others": finite}, indent=2))
        return found
    screen = console()
    said = f"{len(y):,} rows, {int(y.sum()):,} with {lists.label} = {lists.positive}"
    screen.print(f"{', '.join(scores)} on {table.path.name}: {said}", highlight=False, markup=False)
    screen.print(measures_grid(found, others, screen.width))
    for sentence in found.sentences():
        screen.print(sentence, highlight=False, markup=False)
    screen.print(gains_grid(found))
    if config.intervals:
        said = f"Intervals take the {drawn} to be independent of each other."
        screen.print(said, highlight=False, markup=False)
    if config.output is not None:
        screen.print(f"The report is in {config.output}.", highlight=False, markup=False)
    return found


def measures_grid(found: Measurement, others: dict[str, dict[str, float]], width: int) -> Grid:
    """Return the table: for every measure a row a list; what measures mean where there is room."""
    header, rows = found.cells()
    meanings, several = found.meanings | OTHER_MEANINGS, len(found.measures) > 1
    for name in OTHER_MEANINGS if others else ():
        for place, (model, own) in enumerate(others.items()):
            cells = {"scores": model, "figure": number_text(own[name]), "meaning": meanings[name]}
            cells["measure"] = name if place == 0 else ""
            rows.append([cells.get(column, "–") for column in header])
    if several and width >= MIN_WIDTH_OF_MEANINGS:
        header, rows = [*header, "meaning"], [[*row, meanings.get(row[0], "")] for row in rows]
    grid = Grid()
    for column in header:
        is_text = column in ("scores", "meaning")  # which wraps where there is no room
        is_number = not is_text and column != "measure"
        grid.add_column(
            column, justify="right" if is_number else "left", no_wrap=not is_text, overflow="fold"
        )
    for row in rows:
        if row[0] and several:
            grid.add_section()
        grid.add_row(*map(escape, row))
    return grid


def gains_grid(found: Measurement) -> Grid:
    """Return what the tenths of the lists hold: of one list in full, of several what is found so far."""
    columns = {
        f"found by {name}": [f"{100 * share:.1f} %" for share in table.recall]
        for name, table in found.gains.items()
    }
    (table, *others) = found.gains.values()
    if not others:
        columns = {
            "positives in its tenth": [
                f"{positives:,.1f}".removesuffix(".0") for positives in table.positives
            ],
            "precision there": [f"{100 * share:.1f} %" for share in table.precision],
            "lift there": [f"{lift:.2f}" for lift in table.lift],
            "share found so far": [f"{100 * share:.1f} %" for share in table.recall],
        }
    grid = Grid()
    for column in ("the first", *columns):
        grid.add_column(escape(column), justify="right", overflow="fold")
    for rows, *cells in zip(table.rows, *columns.values(), strict=True):
        grid.add_row(f"{number_text(rows)} rows", *cells)
    return grid
