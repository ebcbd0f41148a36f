"""``pushrank measure``: how good is the top of a list, whatever model the scores come from?"""

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import typer
from numpy.typing import NDArray
from rich.table import Table as Grid

from pushrank import metrics
from pushrank._base.files import atomic_write
from pushrank._base.user_types import Floats
from pushrank.budgets import Budget
from pushrank.cli.errors import InputError, in_option_names, refusing, warn
from pushrank.cli.known import measure_audited, measure_known
from pushrank.cli.options import LabelledSource, MeasureConfig, parsed_numbers
from pushrank.cli.promises import Promises, promises_of
from pushrank.cli.saved import Alert
from pushrank.cli.screen import console, grid_of, share_of_rows
from pushrank.cli.source.format import TextFormat
from pushrank.cli.source.labels import UNKNOWN, LabelledRows, label_rows
from pushrank.cli.source.read import read_table
from pushrank.cli.write import versions, write_figure, write_page, write_table, writing
from pushrank.held_out import record_warnings
from pushrank.metrics import Measurement
from pushrank.metrics.measurement import number_text
from pushrank.metrics.promises.days import hits_of_coming_days
from pushrank.report import MeasurementData
from pushrank.report.context import row_count
from pushrank.report.lists import MemberHits, hits_of_members

CONFIDENCE_LEVEL = 0.95
MIN_WIDTH_OF_MEANINGS = 120


def measure_file(
    source: LabelledSource, text_format: TextFormat, score: list[str], config: MeasureConfig
) -> None:
    """Print how good the top of lists is, by the scores of any models, with 95 % intervals."""
    table = read_table(source.data, text_format)
    label = table.labels(source.label)
    rows = label_rows(table, label, source.positive, may_lack=UNKNOWN)
    if twice := [name for name in score if score.count(name) > 1]:
        raise InputError(f"--score {twice[0]!r} is given twice; name each column once.")
    scores = {name: rows.table.numbers(name, "score") for name in score}
    measured = show_measures(rows, scores, config)
    for name, values in {} if rows.known is not None else scores.items():
        figures = measured.measures[name] if measured else {}
        area = figures["auc"].estimate if "auc" in figures else metrics.auc(rows.y, values)
        if area < 0.5:
            warn(
                f"column {name!r} of {table.path} ranks worse than a random order (auc {area:.4f}): a higher "
                "score must be better; if a lower one is, change its sign."
            )


def show_measures(
    rows: LabelledRows,
    scores: dict[str, Floats],
    config: MeasureConfig,
    alert: Alert | None = None,
    members: Mapping[str, tuple[float, Floats]] | None = None,
) -> Measurement | None:
    """Measure, write and print lists of rows; ``members`` has the weights and scores of models in a sum."""
    if config.chance is not None:
        measure_audited(rows, scores, config)
        return None
    if rows.known is not None or config.acted is not None:
        measure_known(rows, scores, config, alert)
        return None
    if isinstance(config.budget, Budget):
        show_periods(rows, scores, config, config.budget)
        return None
    table, y, budget = rows.table, rows.y, config.budget
    value = None if config.value is None else table.numbers(config.value, "value")
    weight = None if config.weight is None else table.numbers(config.weight, "weight", 0.0)
    total = float(len(y) if weight is None else weight.sum())
    if budget is not None and budget > total:
        raise InputError(f"--budget {budget} exceeds the {total:g} rows of the data.")
    if budget is not None and config.is_limited:
        show_periods(rows, scores, config, Budget(budget, "batch"))
        return None
    groups = None if config.group is None else table.groups(config.group)
    promises = None
    if config.promise or config.require:
        promises = promises_of(
            y,
            scores,
            config.promise or CONFIDENCE_LEVEL,
            {budget} if config.promise and budget else set(),
            config.require or [],
            n_new=config.new_rows,
            # Without a budget the depth follows from the labels: that is to choose by looking.
            together=config.promise is not None and budget is None,
            groups=groups,
            sample_weight=weight,
        )
    with refusing():
        measured = metrics.measure(
            y,
            scores,
            k=budget,
            at={
                "enrichment_factor": parsed_numbers(config.fraction, "--fraction"),
                "bedroc": parsed_numbers(config.bedroc, "--bedroc"),
            },
            pairs="all" if config.pairs else "first",
            every=config.every,
            value=value,
            groups=groups,
            confidence_level=CONFIDENCE_LEVEL if config.intervals else None,
            sample_weight=weight,
            random_state=config.seed,
        )
    # Rows that count as several fill a budget that the members' tables do not know.
    found = hits_of_members(y, round(measured.depth), members) if members and weight is None else []
    lists = MeasuredLists(rows, scores, config, measured, weight, groups, alert, found, promises)
    lists.write()
    if config.as_json:
        typer.echo(json.dumps(lists.facts(), indent=2))
    else:
        lists.print()
    if lists.promises:
        lists.promises.judge(quiet=config.as_json)
    return lists.measured


@dataclass(frozen=True)
class MeasuredLists:
    """What was measured of lists of labelled rows, for files, other programs and the screen."""

    rows: LabelledRows
    scores: dict[str, Floats]
    config: MeasureConfig
    measured: Measurement
    weight: Floats | None
    groups: NDArray[Any] | None
    alert: Alert | None
    found: list[MemberHits]
    promises: Promises | None

    @property
    def depth(self) -> int:
        """The number of first rows that hits are counted in."""
        return round(self.measured.depth)

    @property
    def promised(self) -> list[str]:
        """The promises, as sentences, where they were asked for."""
        return self.promises.sentences(self.depth) if self.promises and self.config.promise else []

    @property
    def drawn(self) -> str:
        """What intervals resample."""
        n_groups = self.measured.n_groups
        return "rows" if n_groups is None else f"{n_groups:,} groups by {self.config.group}"

    def write(self) -> None:
        """Write the table, figure and report that were asked for."""
        config, y = self.config, self.rows.y
        if config.output is not None and not config.is_report:
            write_measures(self.measured, config.output)
        if config.figure is not None:
            # matplotlib takes long to import, and measures without a figure need not wait for it.
            from pushrank.plots.curves import enrichment_figure

            of_figure = self.weight, self.groups, parsed_numbers(config.fraction, "--fraction"), config.seed
            write_figure(enrichment_figure(self.measured, y, self.scores, *of_figure), config.figure)
        if config.output is not None and config.is_report:
            table, label = self.rows.table, self.rows.label
            shown, file = table.to_show(table.frame.drop(columns=label), config.show), table.path.name
            intervals = f"resamples of {self.drawn}" if config.intervals else "none"
            settings = {"File": file, "Intervals": intervals, "Seed": str(config.seed)}
            settings["Versions"] = versions()
            texts = file, self.rows.label_meaning, settings, self.found, self.promised
            page = MeasurementData(self.measured, y, self.scores, shown, *texts)
            write_page(page, config.output, opened=config.opened)

    def facts(self) -> dict[str, Any]:
        """Return all that was measured, for other programs."""
        facts: dict[str, Any] = self.measured.summary()
        if self.alert is not None:
            facts["alert"] = self.alert.facts(next(iter(self.scores.values())), self.rows.y)
        if self.found:
            facts["members"] = [member._asdict() for member in self.found]
        return facts | (self.promises.facts(self.depth) if self.promises else {})

    def print(self) -> None:
        """Print what was measured: a table, sentences, what tenths of the lists hold, promises."""
        config, measured, y = self.config, self.measured, self.rows.y
        screen = console()
        share = share_of_rows(config.budget, len(y) if self.weight is None else float(self.weight.sum()))
        positive = f"{int(y.sum()):,} with {self.rows.label_meaning}{share}"
        screen.print(f"{', '.join(self.scores)} on {self.rows.table.path.name}: {len(y):,} rows, {positive}")
        screen.print(measures_grid(measured, screen.width))
        if config.pairs or config.fraction or config.bedroc:
            paper = paper_texts(measured)
            screen.print(grid_of(list(paper), paper.to_numpy().tolist()))
        for sentence in filter(None, [measured.why_no_intervals(), *measured.sentences()]):
            screen.print(sentence)
        if measured.gains:
            screen.print(gains_grid(measured))
        if self.found:
            hits = f"hits in its first {self.depth:,} rows"
            lines = [[name, f"{weight:.3f}", *map(row_count, n)] for name, weight, *n in self.found]
            screen.print(grid_of(["member", "weight", hits, "of them in no other member's"], lines))
        if config.intervals:
            screen.print(f"Intervals take the {self.drawn} to be independent of each other.")
        if self.alert is not None:
            screen.print(self.alert.count(next(iter(self.scores.values())), y))
        for sentence in self.promised:
            screen.print(sentence)
        if config.output is not None:
            screen.print(f"The {'report' if config.is_report else 'table'} is in {config.output}.")


def show_periods(
    rows: LabelledRows, scores: dict[str, Floats], config: MeasureConfig, budget: Budget
) -> None:
    """Print what the first rows of every period hold, by the scores of each model."""
    table, y, name, level = rows.table, rows.y, str(config.time), config.promise
    warned: list[str] = []
    with refusing(), record_warnings(warned):
        time = np.zeros(len(table))
        if config.time is not None:
            # Batches may have names; all other periods are cut from dates or numbers.
            time = table.times(name, may_be_text=budget.per == "batch")
        measured = metrics.measure_periods(
            y,
            scores,
            budget=budget,
            time=time,
            value=None if config.value is None else table.numbers(config.value, "value"),
            confidence_level=CONFIDENCE_LEVEL if config.intervals else None,
            **config.limits(table),
        )
        promised = {}
        if level is not None:
            # Promises of several lists hold together where they share the chance to fail.
            at: dict[str, Any] = {"k": budget.n, "confidence_level": 1.0 - (1.0 - level) / len(scores)}
            days = budget.periods(time).codes
            for of, values in scores.items():
                if config.is_limited:
                    promised[of] = hits_of_coming_days(measured.hits[of], **at)
                else:
                    promised[of] = metrics.guarantee_days(y, values, days, **at)
    for line in warned:
        warn(in_option_names(line))
    if config.as_json:
        facts = {"promise": {"confidence_level": level, "hits": promised}} if promised else {}
        typer.echo(json.dumps(measured.summary() | facts, indent=2))
        return
    screen = console()
    if config.time is None:
        for of, [hits] in measured.hits.items():
            found = f"{table.path.name}, {of}: {hits:g} hits in the best {budget.n:,} rows within limits"
            screen.print(f"{found}, {measured.unlimited[of][0]:g} in the first {budget.n:,} without.")
        screen.print("What limits cost one list has no interval; --budget 30/day --time COLUMN gives one.")
        return
    screen.print(f"{table.path.name}: {measured.title()}")
    screen.print(grid_of(*measured.cells()))
    for sentence in measured.sentences():
        screen.print(sentence)
    best, limits = ("the best", " within limits") if config.is_limited else ("the first", "")
    for of, hits in promised.items():
        screen.print(
            f"{of}: with {100 * (level or 0.0):g} % confidence {best} {budget.n:,} rows{limits} of a coming "
            f"{budget.per} hold at least {hits:,} hits, if it is drawn as these {budget.several} were."
        )


def measures_grid(measured: Measurement, width: int) -> Grid:
    """Return the table: for every measure a row a list; what measures mean where there is room."""
    header, rows = measured.cells()
    meanings, several = measured.meanings, len(measured.measures) > 1
    if several and width >= MIN_WIDTH_OF_MEANINGS:
        header, rows = [*header, "meaning"], [[*row, meanings.get(row[0], "")] for row in rows]
    grid = Grid()
    for column in header:
        # Names of models and meanings wrap where there is no room; figures stay whole.
        wraps = column in ("scores", "meaning")
        is_text = wraps or column == "measure"
        grid.add_column(column, justify="left" if is_text else "right", no_wrap=not wraps, overflow="fold")
    for row in rows:
        if row[0] and several:
            grid.add_section()
        grid.add_row(*row)
    return grid


def paper_texts(measured: Measurement) -> pd.DataFrame:
    """Return :meth:`~pushrank.metrics.Measurement.to_paper` as texts, a measure named once, by its lists."""

    def texts(row: Any) -> list[str]:
        low, high, lists = row.low, row.high, f"{row.model} − {row.against}" if row.against else row.model
        shown, *ends = (number_text(number, low, high) for number in (row.figure, low, high))
        p_value = "" if np.isnan(row.p_value) else f"{row.p_value:.3f}" if row.p_value >= 0.001 else "< 0.001"
        interval = row.note or " to ".join(ends) * (not np.isnan(low))
        return [lists, "+" * (bool(row.against) and row.figure > 0.0) + shown, interval, p_value]

    frame = measured.to_paper()
    names = frame["measure"].mask(frame["measure"].duplicated(), "").str.replace("_", " ")
    columns = ["scores", "figure", f"{100 * (measured.confidence_level or 0.0):g} % interval", "p-value"]
    cells = pd.DataFrame(list(map(texts, frame.itertuples())), columns=columns, index=frame.index)
    return pd.concat([names.str.replace("bedroc", "BEDROC"), cells], axis=1)


def write_measures(measured: Measurement, path: Path) -> None:
    """Write figures and differences: as numbers, or in LaTeX as texts."""
    if path.suffix.lower() != ".tex":
        write_table(measured.to_paper(), path)
        return
    together = f" (the intervals of a measure's {len(measured.pairs)} differences hold together)"
    caption = f"{number_text(measured.n_positives)} positives in {number_text(measured.n_rows)} rows"
    how = {"caption": caption + together * (len(measured.pairs) > 1), "column_format": "llrrr"}
    style = paper_texts(measured).style.hide(axis="index").format(escape="latex")
    table = style.format_index(escape="latex", axis=1).to_latex(hrules=True, **how)
    with writing(path), atomic_write(path) as draft:
        # Not every LaTeX has the letter of a minus sign.
        table = re.sub(r"−|(?<=[&o] )-(?=\d)", "$-$", table)
        draft.write_text(f"% written by pushrank {version('pushrank')}\n{table}", encoding="utf-8")


def gains_grid(measured: Measurement) -> Grid:
    """Return what the tenths of the lists hold: of one list in full, of several what is found so far."""
    table = next(iter(measured.gains.values()))
    columns = {
        f"found by {name}": [f"{100 * share:.1f} %" for share in gains.recall]
        for name, gains in measured.gains.items()
    }
    if len(columns) == 1:
        columns = {
            "positives in its tenth": [f"{count:,.1f}".removesuffix(".0") for count in table.positives],
            "precision there": [f"{100 * share:.1f} %" for share in table.precision],
            "lift there": [f"{lift:.2f}" for lift in table.lift],
            "share found so far": next(iter(columns.values())),
        }
    lines = zip((f"{number_text(rows)} rows" for rows in table.rows), *columns.values(), strict=True)
    return grid_of(["the first", *columns], list(lines))
