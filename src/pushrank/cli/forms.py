"""What each command is asked for, and which options do not go together."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Literal

import typer

from pushrank.cli import options, write
from pushrank.cli.command import option
from pushrank.cli.errors import InputError
from pushrank.cli.names import check_model_name
from pushrank.cli.options import (
    AS_BUDGET,
    AS_FOLDS,
    AS_SPAN,
    COLUMN,
    FILE,
    AnyBudget,
    FeatureSource,
    Folds,
    LimitOptions,
    RowSource,
    check_data,
    refuse_given,
    split_budget,
)
from pushrank.cli.source.open import STANDARD_STREAM, Source, check_exists


def alert_state(model: Path) -> Path:
    """Return where what is decided by a model's scores is kept."""
    return model.with_suffix(".alert.db")


def check_new_state(budget: AnyBudget, model: Path | None, *, force: bool) -> None:
    """Raise InputError where a model's file of what is decided is there and would be begun anew."""
    # A model for a budget by period has such a file.
    if model is not None and not isinstance(budget, int | None):
        check_state(alert_state(model), [], force=force)


def check_state(state: Path, inputs: list[Path], *, force: bool) -> None:
    """Raise InputError where a file of what is decided cannot be begun, or would replace another file."""
    if not state.parent.is_dir():
        raise InputError(f"the folder {state.parent} does not exist; make it first, or choose another.")
    if not state.exists():
        return
    if any(state.samefile(path) for path in inputs if path.exists()):
        raise InputError(f"{state} is an input, which the state would replace; choose another name.")
    if not force:
        raise InputError(f"{state} exists; to forget what was decided in it: --force.")
    if state.is_dir() or not state.read_bytes().startswith(b"SQLite format 3"):
        raise InputError(f"{state} is no file of what was decided, and is not replaced; choose another name.")


@dataclass(frozen=True)
class LearnOptions:
    """How rows are learnt from, whether models are compared or one is fitted."""

    budget: options.Budget = None
    time: str | None = option("When rows came: test on what comes later.", **COLUMN)
    labels_after: options.LabelsAfter = None
    parameters: options.Parameters = None
    weight: options.Weight = None
    group: str | None = option("Rows of one value stay together, as a customer's.", **COLUMN)
    hold_out: options.HoldOut = None
    seed: options.Seed = 0
    jobs: options.Jobs = 1
    as_json: options.Json = False
    force: options.Force = False
    quiet: options.Quiet = False


@dataclass(frozen=True)
class CompareOptions(LearnOptions):
    """How models are compared: which, on which splits, by what, and what is written."""

    model: list[str] | None = option("A model to compare, or all; repeat.", metavar="NAME")
    choose: Literal["most", "single", "simplest"] = option(
        "Take the best, the best single one, or the simplest.", default="most", metavar="most|single|simplest"
    )
    ensemble: bool = option("One list of all models, too.", "--ensemble/--no-ensemble", default=True)
    folds: Folds = option("Parts of cross-validation; 5x3 draws them 3 times.", default=Folds(5), **AS_FOLDS)
    shuffle: bool = option("Draw parts at random, though rows have times.", "--shuffle", default=False)
    test: Path | None = option("Labelled rows to test on.", callback=check_data, **FILE)
    save: Path | None = option("Fit the chosen model and save it (.skops).", **FILE)
    report: Path | None = option("Write a page with pictures (.html).", **FILE)
    output: Path | None = option("Write the measures of each part.", "--output", "-o", **FILE)
    every: options.Every = False

    def check(self, source: FeatureSource) -> None:
        """Raise InputError when options do not go together, or a result could not be written."""
        if self.jobs == 0:
            raise InputError("--jobs must be a number of processes, or -1 for one for each processor, got 0.")
        if self.parameters and (not self.model or len(self.model) > 1 or self.model == ["all"]):
            raise InputError(
                "--set is for one model: name it by --model. Names hold a strength, as 'P-Norm Push, p = 8'."
            )
        ways = [f"--{way}" for way in ("group", "time", "shuffle", "test") if getattr(self, way)]
        # Groups are kept apart by time, too, and where parts are drawn of them at random.
        if len(ways) > 1 and ways not in (["--group", "--time"], ["--group", "--shuffle"]):
            raise InputError(f"{' and '.join(ways)} split the rows in different ways; choose one.")
        if ways not in ([], ["--shuffle"]) and self.folds.n_repeats > 1:
            raise InputError(
                f"--folds {self.folds} draws other parts, but {ways[0]} says which: {self.folds[0]}."
            )
        inputs, force = [source.data, self.test], self.force
        write.check_output(self.output, write.TABLES_WRITTEN, inputs, force=force)
        write.check_output(self.report, write.REPORTS_WRITTEN, inputs, force=force)
        write.check_output(self.save, write.MODELS_WRITTEN, inputs, force=force)
        check_new_state(self.budget, self.save, force=force)
        options.check_columns(source.rows, source, self)


@dataclass(frozen=True, kw_only=True)
class FitOptions(LearnOptions):
    """What is fitted, with what in place of a model's own defaults, and where it is saved."""

    model: list[str] | None = option("Its name; several are an ensemble of these.", metavar="NAME")
    probability: bool = option("Calibrate probabilities for score.", "--probability", default=False)
    output: Annotated[Path, typer.Option("--output", "-o", help="Where to save the model (.skops).", **FILE)]

    def check(self, source: FeatureSource) -> None:
        """Raise InputError when a name can be no model's, or the model could not be written."""
        for name in self.model or ():
            check_model_name(name)
        split_budget(self.budget, self.time)
        write.check_output(self.output, write.MODELS_WRITTEN, [source.data], force=self.force)
        check_new_state(self.budget, self.output, force=self.force)
        options.check_columns(source.rows, source, self)


@dataclass(frozen=True)
class WrittenOptions:
    """How new rows are read, and where they are written with what is known of them."""

    columns: list[str] | None = option("A column to write; repeat. By default all.", **COLUMN)
    read: list[str] | None = option("How the file is written, if not as at the fit.", metavar="KEY=VALUE")
    output: Path = option("Where to write; - prints.", "--output", "-o", default=STANDARD_STREAM, **FILE)
    as_json: options.Json = False
    force: options.Force = False

    @property
    def is_piped(self) -> bool:
        """Whether rows are on standard output, so that sentences go to standard error."""
        return self.output == STANDARD_STREAM


@dataclass(frozen=True)
class ScoreOptions(LimitOptions, WrittenOptions):
    """What is written of new rows, and where."""

    top: int | None = option("How many rows to write; by default all.", min=1, metavar="N")
    budget: str | None = option(
        "Write the rows to act on today, of 210/week,60/day.",
        callback=options.of_form(
            r"\d{1,9}/(week|month),\d{1,9}/day",
            "--budget",
            "210/week,60/day for 210 a week, at most 60 a day",
        ),
        metavar="BUDGET",
    )
    state: Path | None = option("What was spent of it; by default MODEL.calls.db.", **FILE)
    labels: Path | None = option("Labels of rows that --budget acted on.", callback=check_data, **FILE)
    past: Path | None = option("Rows of past days: begin --budget by them.", callback=check_data, **FILE)
    audit: int | None = option("How many of --top to draw at random from the others.", min=1, metavar="N")
    id: str | None = option("Each row's name, for --audit or --budget.", **COLUMN)
    time: str | None = option("When each row came.", **COLUMN)
    reasons: int | None = option("Write this many reasons for each score.", min=1, metavar="N")
    probability: bool = option("Write probabilities.", "--probability", default=False)
    promise: float | None = option(
        "Write how many hits are sure, at a level as 0.95.", min=0.5, max=0.999, metavar="LEVEL"
    )
    labelled: Path | None = option("Rows new to the model, for --promise.", callback=check_data, **FILE)
    label: str | None = option("Its column in --labelled, --labels, --past.", **COLUMN)

    @property
    def n_listed(self) -> int | None:
        """How many rows are written by their scores, where --top says so."""
        return self.top and self.top - (self.audit or 0)

    def check(self, model: Path, data: Path) -> None:
        """Raise InputError for options that do not go together, or a file that is there."""
        self.check_limits("top", ["audit", "promise", "reasons"])
        if self.audit is not None and (self.top is None or self.audit >= self.top):
            raise InputError(f"--audit {self.audit} must be a part of --top N, how many rows are acted on.")
        if self.budget is None:
            refuse_given(vars(self), ["state", "labels", "past"], "goes with --budget 210/week,60/day.")
        else:
            others = ["top", "audit", "at_most", "at_least", "promise", "reasons"]
            refuse_given(vars(self), others, "is for another list than that of --budget; leave it out.")
        if self.audit is None and self.budget is None:
            refuse_given(vars(self), ["id", "time"], "is for --audit; alerts have a command: pushrank alert.")
        elif self.audit is not None and (self.id is None) != (self.time is None):
            raise InputError("--audit by --id needs --time: a name alone has the same luck in every file.")
        if (self.promise is None) != (self.labelled is None):
            raise InputError("--promise 0.95 and --labelled FILE, rows new to the model, go together.")
        if self.as_json and self.is_piped:
            raise InputError("--json prints figures in place of rows: write these to a file, -o FILE.")
        inputs = [model, data, self.labelled, self.labels, self.past, self.state]
        write.check_output(self.output, write.TABLES_WRITTEN, inputs, force=self.force)


@dataclass(frozen=True)
class AlertOptions(WrittenOptions):
    """How rows are decided on as they come, and how the file of what was decided is begun."""

    state: Path | None = option("The file of decisions; by default MODEL.alert.db.", **FILE)
    id: str | None = option("Each row's name: it gets one answer.", **COLUMN)
    time: str | None = option("When each row came, if not as at the fit.", **COLUMN)
    begin: bool = option("Begin the file: DATA are past rows.", "--begin", default=False)
    budget: AnyBudget = option("With --begin: how many alerts, as 30/day.", **AS_BUDGET)
    audit: AnyBudget = option("With --begin: rows drawn at random, as 3/day.", **AS_BUDGET)
    at_most: str | None = option(
        "With --begin: N alerts of a value at most, 1:customer.",
        callback=options.of_form(r"[1-9]\d{0,8}:.+", "--at-most", "1:customer for one alert a customer"),
        metavar="N:COLUMN",
    )

    @property
    def cap(self) -> tuple[int | None, str]:
        """The most alerts of each value of a column, and the column."""
        n, _, name = (self.at_most or "").partition(":")
        return (int(n), name) if n else (None, "")

    @property
    def n_audited(self) -> int:
        """How many rows of each period's budget the audit draws."""
        audit: Any = self.audit or 0
        return int(getattr(audit, "n", audit))

    def check(self, model: Path, data: Path) -> None:
        """Raise InputError for options that do not go together, or a file that is there or is not."""
        state = self.state or alert_state(model)
        if not self.begin:
            began = "belongs to the beginning of the file: say it with --begin and past rows."
            refuse_given(vars(self), ["budget", "audit", "at_most"], began)
            check_exists(
                state, f"; begin it with past rows: pushrank alert {model} PAST --begin --budget 30/day"
            )
            write.check_output(self.output, write.TABLES_WRITTEN, [model, data, state], force=self.force)
            if self.as_json and self.is_piped:
                raise InputError("--json prints figures in place of rows: write these to a file, -o FILE.")
            return
        check_state(state, [model, data], force=self.force)
        rows = {"output": None if self.is_piped else self.output, "id": self.id, "columns": self.columns}
        refuse_given(rows, ["output", "id", "columns"], "is for rows to decide on; --begin writes none.")
        if self.budget is None or isinstance(self.budget, int):
            raise InputError("--begin needs --budget 30/day: how many alerts there are, and in which time.")
        if self.audit is not None:
            n = self.budget.n
            units = {getattr(of, "per", None) for of in (self.budget, self.audit)}
            if self.n_audited >= n or len(units) > 1:
                must = f"must be a part of --budget {self.budget}, in the same unit."
                raise InputError(f"--audit {self.audit} {must}")


@dataclass(frozen=True)
class MeasureOptions(LimitOptions):
    """What is measured of lists of labelled rows, and how it is shown."""

    model: list[Path] | None = option("A saved model that scores the rows; repeat.", **FILE)
    score: list[str] | None = option("A column of scores, the higher the better; repeat.", **COLUMN)
    budget: options.Budget = None
    time: str | None = option("When rows came, for a budget such as 150/day.", **COLUMN)
    value: str | None = option("What a positive row is worth.", **COLUMN)
    group: str | None = option("Resample its rows together, as a customer's.", **COLUMN)
    weight: str | None = option("How many rows each row stands for.", **COLUMN)
    acted: str | None = option("Which rows somebody looked at: 1, yes, list.", **COLUMN)
    chance: str | None = option("The chance that each row had to be audited.", **COLUMN)
    looks: int | None = option("How often you look, for --chance.", min=1, metavar="N")
    screening: str | None = option("Enrichment and BEDROC, as .01,.02:20.", metavar="SHARES:RATES")
    promise: float | None = option("Promise hits to come, as 0.95.", min=0.5, max=0.999, metavar="LEVEL")
    new_rows: int | None = option("How many rows come next, for --promise.", min=1, metavar="N")
    require: list[str] | None = option("Exit 1 unless promised: 'hits@100>=60'; repeat.", metavar="TEXT")
    intervals: bool = option("95 % intervals.", "--intervals/--no-intervals", default=True)
    seed: options.Seed = 0
    output: Path | None = option("Write a table (.csv, .tex, ...).", "--output", "-o", **FILE)
    figure: Path | None = option("Draw the enrichment (.pdf, .svg, .png).", **FILE)
    as_json: options.Json = False
    every: options.Every = False
    force: options.Force = False

    def check(self, source: RowSource, rows: Source) -> None:
        """Raise InputError when a result could not be written, or options do not go together."""
        if not self.model and not self.score:
            raise InputError("say what is measured: --model MODEL, or --score COLUMN; both may be repeated.")
        named: dict[str, list[Any]] = {"model": self.model or [], "score": self.score or []}
        for what, names in named.items():
            if twice := [name for name in names if names.count(name) > 1]:
                raise InputError(f"--{what} {str(twice[0])!r} is given twice; name each once.")
        for path in self.model or ():
            options.check_model(path)
        # A model knows the column of times.
        by_period = None if isinstance(self.budget, int) else self.budget
        if not self.model:
            split_budget(self.budget, self.time)
        if self.chance is not None and self.acted is None:
            raise InputError(
                "--chance goes with --acted COLUMN, which says what was listed, and what audited."
            )
        if self.looks is not None and self.chance is None:
            raise InputError("--looks goes with --chance COLUMN, the chance of each row to be audited.")
        if self.chance is not None and by_period is None and self.budget is not None:
            raise InputError(
                "--chance takes the list that was acted on: leave --budget out, or say 30/day for periods."
            )
        others = ["group", "weight", "new_rows", "require", "output", "screening", "figure"]
        of_one_list = ["promise", "value"] * (by_period is None)
        self.check_limits("budget", [*others, "acted", "chance", *of_one_list])
        if by_period is not None:
            refuse_given(vars(self), others, f"is for a budget of the whole file, not for {self.budget}.")
        if self.new_rows is not None and not (self.promise or self.require):
            raise InputError("--new-rows is for --promise 0.95, or for --require.")
        inputs = [source.data, *(self.model or ())]
        write.check_output(self.figure, write.FIGURES_WRITTEN, inputs, force=self.force)
        write.check_output(self.output, write.RESULTS_WRITTEN, inputs, force=self.force)
        options.check_columns(rows, source, self, score=self.score, **self.limit_columns(rows.header))


@dataclass(frozen=True)
class WatchOptions:
    """Which columns tell when a row came and whether it was a hit, and how it is shown."""

    label: str | None = option("The label, empty where not known yet.", **COLUMN)
    positive: options.Positive = None
    time: str | None = option("When each row came, if not as at the fit.", **COLUMN)
    labels_after: str | None = option("How late labels come: 7d, 12h, 2w.", **AS_SPAN)
    acted: str | None = option("Which rows somebody looked at: 1, yes, list.", **COLUMN)
    level: float = option("The chance that a false alarm is ever raised.", default=0.05, metavar="SHARE")
    output: Path | None = option("Write a page with pictures (.html).", "--output", "-o", **FILE)
    table: bool = option("Print periods and columns, too.", "--table", default=False)
    as_json: options.Json = False
    force: options.Force = False
    read: list[str] | None = option("How the file is written, if not as at the fit.", metavar="KEY=VALUE")

    def check(self, model: Path, data: Path) -> None:
        """Raise InputError where the page could not be written."""
        write.check_output(self.output, write.REPORTS_WRITTEN, [model, data], force=self.force)


@dataclass(frozen=True)
class DuelOptions:
    """How a duel is begun, or goes on, and where it is kept."""

    state: Path | None = option("The file of decisions; --budget begins it.", **FILE)
    budget: AnyBudget = option("Rows that both models share, as 30/day.", **AS_BUDGET)
    time: str | None = option("When each row came.", **COLUMN)
    id: str | None = option("Each row's name: it stays with one model.", **COLUMN)
    until: int | None = option("Test once, after so many days.", min=2, metavar="N")
    labels_after: str | None = option("A row without a label by then is no hit: 7d.", **AS_SPAN)
    labels: Path | None = option("Rows with labels: credit hits, say who leads.", **FILE)
    label: str | None = option("The label's column in --labels.", **COLUMN)
    positive: options.Positive = None
    score: list[str] | None = option("Two columns in --labels, in place of a state.", **COLUMN)
    output: Path | None = option("Where rows to act on are written.", "--output", "-o", **FILE)
    as_json: options.Json = False
    force: options.Force = False
    read: list[str] | None = option("How the file is written, as decimal=comma.", metavar="KEY=VALUE")

    def check(self, paths: list[Path]) -> None:
        """Raise InputError unless these options are one of the three forms of the command."""
        if len(paths) not in (0, 3):
            raise InputError("a duel takes CHAMPION CHALLENGER DATA, or --labels FILE and no rows.")
        wanted = ["time", *["labels"] * (not paths), *["id"] * (not self.score)]
        wanted += ["output"] * bool(paths) + ["state"] * (not self.score)
        for name in wanted:
            if getattr(self, name) is None:
                raise InputError(f"a duel needs --{name}; see pushrank duel --help.")
        inputs = [*paths, self.labels, self.state]
        write.check_output(self.output, write.TABLES_WRITTEN, inputs, force=self.force)
