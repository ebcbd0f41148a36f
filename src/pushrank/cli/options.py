"""Options, with all that can be checked of them without an import that takes long."""

from __future__ import annotations

import math
import re
import shlex
from collections.abc import Callable, Mapping, Sequence
from dataclasses import MISSING, dataclass, fields, is_dataclass
from functools import partial, wraps
from inspect import Parameter, signature
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal, TypeAlias, get_type_hints

import typer

from pushrank._base.bounds import UNITS, check_number
from pushrank._base.files import read_facts
from pushrank.cli import write
from pushrank.cli.errors import InputError, refusing
from pushrank.cli.names import MODELS_WITH, check_model_name, model_names
from pushrank.cli.source.format import TextFormat, option, stated
from pushrank.cli.source.open import DATE_PART, STANDARD_STREAM, check_exists, normal, read_header

if TYPE_CHECKING:
    from pushrank.budgets import Budget as PeriodBudget
    from pushrank.cli.source.table import Table

    AnyBudget: TypeAlias = int | PeriodBudget | None
else:
    # Typer takes no union of types, and does not ask what a parser makes of a text.
    AnyBudget = str | None


COLUMNS = (
    "label", "keep", "date", "id", "group", "time", "weight", "value", "acted", "chance", "show",
)  # fmt: skip
"""Fields of groups of options that name columns of the data, in the order in which they are checked."""
BOUNDS: dict[str, dict[str, Any]] = {
    "p": {"least": 1.0},
    "alpha": {"least": 0.0},
    "C": {"above": 0.0},
    "bottom-weight": {"above": 0.0},
    "n-estimators": {"least": 1},
    "learning-rate": {"above": 0.0, "most": 1.0},
    "max-iter": {"least": 1},
}
"""Bounds of the options of ``fit``, which hold for every model that has them."""


def read_budget(text: str) -> int | PeriodBudget:
    """Return the number of rows of a text such as 150, or the budget by period of one such as 150/day."""
    n, is_by_period, unit = text.partition("/")
    if not n.strip().isdecimal() or int(n) < 1 or (is_by_period and unit.strip() not in UNITS):
        raise typer.BadParameter(
            f"{text!r} is no number of rows from 1 on, such as 150, or of rows in every period, such as "
            f"150/day; the periods are {', '.join(UNITS)}."
        )
    if not is_by_period:
        return int(n)
    from pushrank.budgets import Budget

    return Budget(int(n), unit.strip())


def check_bounds(param: typer.CallbackParam, value: float | None) -> float | None:
    """Return the number of an option, or raise InputError where it is out of bounds."""
    if value is not None:
        with refusing():
            check_number(param.opts[0], value, **BOUNDS[param.opts[0][2:]])
    return value


def of_form(form: str, option: str, forms: str) -> Callable[[Any], Any]:
    """Return a check that the text of an option, or each of its texts, has a form."""

    def check(value: Any) -> Any:
        for text in [value] if isinstance(value, str) else value or ():
            if not re.fullmatch(form, text):
                raise InputError(f"{option} {text!r} is not understood: write {forms}.")
        return value

    return check


def check_model(path: Path) -> Path:
    """Return the path of a model, or raise InputError where there is none."""
    check_exists(path, "; fit a model first: pushrank fit")
    return path


def check_data(path: Path | None) -> Path | None:
    """Return the path of rows, or raise InputError where there are none; ``-`` is standard input."""
    if path not in (None, STANDARD_STREAM):
        check_exists(path)
    return path


def parsed_numbers(texts: list[str] | None, option: str) -> list[float]:
    """Return the numbers of an option that may be repeated, or be several between commas."""
    try:
        return [float(part) for text in texts or [] for part in text.split(",")]
    except ValueError as error:
        raise InputError(f"{option} {' '.join(texts or [])} must be numbers: {option} .5,.1.") from error


def refuse_given(options: Mapping[str, Any], names: Sequence[str], why: str) -> None:
    """Raise InputError for the first of these options that is given."""
    for name in filter(options.get, names):
        option = "all" if name == "every" else name.replace("_", "-")
        raise InputError(f"--{option} {why}")


def split_budget(budget: AnyBudget, time: str | None) -> tuple[PeriodBudget | None, int | None]:
    """Return a budget as one by period, which needs the column of --time, or as rows of the whole file."""
    if budget is None or isinstance(budget, int):
        return None, budget
    if time is None:
        raise InputError(f"--budget {budget} needs --time: the column of when a row came.")
    return budget, None


def check_columns(
    path: Path,
    text_format: TextFormat,
    *groups: Any,
    model: Path | None = None,
    **others: str | Sequence[str] | None,
) -> None:
    """Raise InputError for a column that a model or an option needs, where a file shows that it lacks it."""
    # Whether a stated separator is wrong only the rows say.
    if text_format.separator or (header := read_header(path, text_format)) is None:
        return
    if model is not None and (facts := read_facts(model).get("facts")):
        header.check_model_columns(facts["numeric"] + facts["categorical"])
    named = [(name, getattr(group, name, None)) for group in groups for name in COLUMNS]
    for kind, names in [*others.items(), *named]:
        for name in [names] if isinstance(names, str) else names or ():
            # An hour or a weekday is no column of the file, but is made of one.
            if not DATE_PART.fullmatch(name):
                header.check(name, kind)


model_file, rows_file = (partial(typer.Argument, callback=check) for check in (check_model, check_data))
Model = Annotated[Path, model_file(help="A model that pushrank fit saved.")]
AnyModel = Annotated[Path, model_file(help="A model that pushrank fit or pushrank.save saved.")]
AS_BUDGET: dict[str, Any] = {"parser": read_budget, "metavar": "N|N/PERIOD"}
ACTED_ON = "How many rows you can act on: 150, or with --time 150/day (hour, week, month, batch)."
Budget = Annotated[AnyBudget, typer.Option(help=ACTED_ON, **AS_BUDGET)]
Positive = Annotated[
    str | None, typer.Option(help="The positive label, if it is not that of the training data.")
]
Weight = Annotated[
    str | None, typer.Option(help="A column of weights for models to learn with, such as amounts.")
]
SHOW = "A column to show in the report, in place of the first ten; may be repeated."
Show = Annotated[list[str] | None, typer.Option(help=SHOW)]
Open = Annotated[bool, typer.Option("--open", help="Open the report in the browser.")]
Force = Annotated[
    bool,
    typer.Option("--force", help="Replace an output that is an input, or that pushrank did not write."),
]
AS_SPAN = of_form(r"\d+[hdw]|\d+(\.\d+)?", "--labels-after", "12h, 7d, 2w or, of times that are numbers, 7")
LATE = "How late labels come, as 7d, 12h or 2w: rows that wait for theirs are left out, of each fit, too."
LabelsAfter = Annotated[str | None, typer.Option(callback=AS_SPAN, help=LATE)]
AS_SHARE = of_form(r"\d{1,2}(\.\d+)?%|\d+", "--hold-out", "a share such as 20%, or a number of rows")
KEPT = "Rows, such as 20% or 500, that no fit sees, the latest by --time or random ones, to promise hits by."
HoldOut = Annotated[str | None, typer.Option(callback=AS_SHARE, help=KEPT)]
Seed = Annotated[int, typer.Option(min=0, max=2**32 - 1, help="Random seed.")]
Quiet = Annotated[bool, typer.Option("--quiet", help="Print neither bars nor lines of how far it has come.")]
Json = Annotated[bool, typer.Option("--json", help="Print JSON instead of tables.")]


def rows_or_share(text: str) -> float:
    """Return a number of rows as an int and a share as a float, which models take for different things."""
    return int(text) if text.isdecimal() else float(text)


def option_of_models(name: str, text: str, *names: str, **more: Any) -> Any:
    """Return an option whose help names the models that have it."""
    return option(f"{text}, for {MODELS_WITH[name]}.", *names, **more)


@dataclass(frozen=True)
class LabelledSource:
    """Where labelled rows come from."""

    data: Annotated[
        Path, rows_file(help="Labelled rows: .csv, .tsv, .txt, .xlsx, .parquet, .libsvm; - is stdin.")
    ]
    label: str | None = option("The column of the label; a cell that is empty, ? or NA is an unknown one.")
    positive: str | None = option(
        "The label to rank at the top; all others are negative. By default 1 of 0 and 1, the larger of two "
        "other numbers, yes of yes and no, and true of true and false. Other labels need this option."
    )


@dataclass(frozen=True)
class FeatureSource(LabelledSource):
    """Where labelled rows come from, and which of their columns are left out."""

    exclude: list[str] | None = option("A column to leave out, such as an identifier; may be repeated.")
    keep: list[str] | None = option("A column known before the label: no line warns of it; may be repeated.")
    date: list[str] | None = option(
        "A column of ISO dates, or days such as 20241231, to use as hour, weekday and days since 1970; may "
        "be repeated. Other columns of dates are left out."
    )
    drop_copies: bool = option(
        "Leave out rows that are the same as an earlier one in every cell.", "--drop-copies", default=False
    )


@dataclass(frozen=True)
class LimitConfig:
    """Limits that a list keeps."""

    at_most: list[str] | None = option(
        "The list has at most this many rows of each value of a column, as 4:scaffold; may be repeated.",
        callback=of_form(r"[1-9]\d{0,8}:.+", "--at-most", "4:scaffold for at most 4 rows of each scaffold"),
    )
    at_least: list[str] | None = option(
        "The list has at least this many rows of a value, such as 50:region=north; may be repeated.",
        callback=of_form(
            r"[1-9]\d{0,8}:[^=]+=.+", "--at-least", "50:region=north for at least 50 rows of this region"
        ),
    )
    missing: Literal["own", "one"] | None = option(
        "Rows without a value in a column of limits: each is a group by itself (own), or all are one (one)."
    )

    @property
    def caps(self) -> dict[str, int]:
        """The most rows of each value, by column."""
        return {name: int(n) for n, _, name in (text.partition(":") for text in self.at_most or ())}

    @property
    def floors(self) -> dict[str, dict[str, int]]:
        """The fewest rows of values, by column."""
        floors: dict[str, dict[str, int]] = {}
        for text in self.at_least or ():
            n, _, limited = text.partition(":")
            name, _, value = limited.partition("=")
            floors.setdefault(name, {})[value] = int(n)
        return floors

    @property
    def limit_columns(self) -> dict[str, Any]:
        """The columns of limits, by option."""
        return {"at-most": list(self.caps), "at-least": list(self.floors)}

    def limits(self, table: Table) -> dict[str, Any]:
        """Return the limits, and the columns that they are on, as the library takes them."""
        from pushrank.limits import Limits

        hint = "" if self.missing else ", or say --missing own, each is a separate group, or --missing one"
        X = {name: table.texts(name, of, hint) for of, names in self.limit_columns.items() for name in names}
        missing = {None: "raise", "own": "separate", "one": "together"}[self.missing]
        return {"limits": Limits(self.caps, self.floors, missing), "X": X}

    @property
    def is_limited(self) -> bool:
        """Whether there are limits."""
        return bool(self.at_most or self.at_least)

    def check_limits(self, length: str, others: Sequence[str]) -> None:
        """Raise InputError for limits without the option that says how long the list is, or with others."""
        if not self.is_limited:
            refuse_given(vars(self), ["missing"], "is for rows without a value in a column of --at-most.")
            return
        if len(self.caps) < len(self.at_most or ()):
            raise InputError("--at-most names a column twice; say the smaller number.")
        if sum(map(len, self.floors.values())) < len(self.at_least or ()):
            raise InputError("--at-least names a value twice; say the larger number.")
        if not vars(self)[length]:
            raise InputError(f"--at-most and --at-least need --{length} N, how many rows the list has.")
        refuse_given(vars(self), others, "is for a list without limits; leave --at-most and --at-least out.")


@dataclass(frozen=True)
class MeasureConfig(LimitConfig):
    """What is measured of lists of labelled rows, and how it is shown."""

    budget: Budget = None
    time: str | None = option("The column of dates, or of batches, for a budget such as 150/day.")
    value: str | None = option("A column of what a row is worth if it is positive, such as an amount.")
    group: str | None = option(
        "A column such as the customer: intervals resample all rows of a customer together."
    )
    weight: str | None = option("A column of how many rows each row stands for, in all measures.")
    acted: str | None = option(
        "A column that says which rows somebody looked at: list, audit, yes or 1; for others empty, no or 0. "
        "By default the rows with a label, if some have none."
    )
    chance: str | None = option(
        "A column of the chance of each row below the list to be audited: it bounds what the list misses."
    )
    looks: int | None = option(
        "How often you look: the bounds of --chance then hold for all looks together.", min=1
    )
    fraction: list[str] | None = option(
        "Shares of the list to show the enrichment factor at, such as .005,.01,.02; may be repeated."
    )
    bedroc: list[str] | None = option("Rates to show BEDROC at, such as 20,80.5; may be repeated.")
    pairs: bool = option("Compare all columns of scores with each other.", "--pairs", default=False)
    every: bool = option("Also show all other measures.", "--all", default=False)
    intervals: bool = option("Show 95 % confidence intervals.", "--intervals/--no-intervals", default=True)
    promise: float | None = option(
        "Promise hits of the first of the next rows, with this confidence: 0.95.", min=0.5, max=0.999
    )
    new_rows: int | None = option("How many rows come next; by default as many as are labelled.", min=1)
    require: list[str] | None = option(
        "What must be promised, with 95 % or as --promise says, or else the exit code is 1: "
        "'precision@100>=0.6' or 'hits@100>=60'; may be repeated."
    )
    seed: int = option("Seed of the resampling.", default=0, min=0, max=2**32 - 1)
    output: Path | None = option(
        "Also save a report with curves and rows (.html), or a table (.csv, .tsv, .parquet, .xlsx, .tex).",
        "--output",
        "-o",
    )
    figure: Path | None = option("Also draw the enrichment by share of the list (.pdf, .svg, .png).")
    show: Show = None
    opened: Open = False
    force: Force = False
    as_json: Json = False

    def check(self, *inputs: Path) -> None:
        """Raise InputError when the report could not be written, or options do not go together."""
        by_period, _ = split_budget(self.budget, self.time)
        if by_period is None and self.time is not None:
            raise InputError("--time is for a budget by period, such as --budget 150/day.")
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
        others = ["group", "weight", "new_rows", "require", "output", "every", "fraction", "bedroc"]
        others += ["pairs", "figure"]
        of_one_list = ["promise", "value"] * (by_period is None)
        self.check_limits("budget", [*others, "acted", "chance", *of_one_list])
        if by_period is not None:
            refuse_given(vars(self), others, f"is for a budget of the whole file, not for {self.budget}.")
        if self.new_rows is not None and not (self.promise or self.require):
            raise InputError("--new-rows is for --promise 0.95, or for --require.")
        write.check_output(self.figure, write.FIGURES_WRITTEN, inputs, force=self.force)
        if (self.show or self.opened) and not self.is_report:
            raise InputError("--show and --open are for a report; say where to save it: -o PATH.html.")
        if self.is_report and self.weight is not None:
            raise InputError("a report counts rows, each as one; leave --weight or the report out.")
        write.check_output(self.output, write.RESULTS_WRITTEN, inputs, force=self.force)

    @property
    def is_report(self) -> bool:
        """Whether the output is a page, and no table."""
        return self.output is not None and self.output.suffix.lower() in write.REPORTS_WRITTEN


@dataclass(frozen=True)
class ScoreConfig(LimitConfig):
    """What is written of the rows, and where, and how rows are decided on as they come."""

    alert: Path | None = option("Decide on rows as they come. The file keeps what was decided.")
    id: str | None = option(
        "The column of each row's name: a row that comes again gets the same answer. By default rows are "
        "known by their place in this very file."
    )
    time: str | None = option("The column of when each row came.")
    budget: AnyBudget = option(
        "The budget, such as 30/day, that begins the file of --alert: the rows are then past ones.",
        **AS_BUDGET,
    )
    audit: AnyBudget = option(
        "How many rows of --top or --budget are drawn at random below the list.", **AS_BUDGET
    )
    n_kept: int | None = option("With --budget: past periods to keep answers of, 60 if not set.", min=1)
    n_ahead: int | None = option("How many periods rows may be ahead of the clock, 1 if not set.", min=1)
    output: Path = option(
        "Where to write: .csv, .tsv, .parquet or .xlsx; - prints.", "--output", "-o", default=STANDARD_STREAM
    )
    top: int | None = option("How many rows to write; by default all.", min=1)
    columns: list[str] | None = option("A column to write after the score; may be repeated. By default all.")
    probability: bool = option(
        "Also write probabilities, if fitted with --probability.", "--probability", default=False
    )
    reasons: int | None = option("How many columns to name that raise a row's score most.", min=1)
    promise: float | None = option(
        "Write how many hits the list down to each row holds at least, with a confidence such as 0.95.",
        min=0.5,
        max=0.999,
    )
    labelled: Path | None = option("Labelled rows new to the model, for --promise.", callback=check_data)
    label: str | None = option("The label's column in --labelled, if it is not that of the training data.")
    force: Force = False

    @property
    def is_piped(self) -> bool:
        """Whether rows are on standard output, so that sentences go to standard error."""
        return self.output == STANDARD_STREAM

    @property
    def n_audited(self) -> int:
        """How many rows of the list, or of each period's budget, the audit draws."""
        audit: Any = self.audit or 0
        return int(getattr(audit, "n", audit))

    @property
    def n_listed(self) -> int | None:
        """How many rows are written by their scores, where --top says so."""
        return self.top and self.top - self.n_audited

    def check(self) -> None:
        """Raise InputError for options that do not go together, or a file that is there or is not."""
        if self.alert is None:
            self.check_limits("top", ["audit", "promise", "reasons"])
        elif self.at_least or self.missing or len(self.at_most or ()) > 1:
            raise InputError("--alert takes no limit but one --at-most, such as 1:customer.")
        named = [name for name in ("id", "time", "budget") if getattr(self, name) is not None]
        set_too = [f"n-{name}" for name in ("kept", "ahead") if getattr(self, f"n_{name}") is not None]
        if self.audit is not None:
            self._check_audit()
        names_drawn = self.audit is not None and named == ["id", "time"]
        if self.alert is None and (options := named + set_too) and not names_drawn:
            raise InputError(f"--{options[0]} goes with --alert FILE, the file of what was decided so far.")
        if self.n_kept is not None and self.budget is None:
            raise InputError("--n-kept goes with --budget 30/day, which begins the file of --alert.")
        if self.alert is not None and named not in (["time"], ["id", "time"], ["time", "budget"]):
            raise InputError(
                "--alert needs --time COLUMN, and takes --id COLUMN, to decide on rows, or --budget 30/day, "
                "to begin its file with past ones."
            )
        if self.alert is not None and self.budget and self.alert.exists() and not self.force:
            raise InputError(f"{self.alert} exists; to forget what was decided in it: --force.")
        if self.alert is not None and not self.budget:
            check_exists(self.alert, "; begin it with past rows: --budget 30/day")
        if (self.promise is None) != (self.labelled is None):
            raise InputError("--promise 0.95 and --labelled FILE, rows new to the model, go together.")

    def _check_audit(self) -> None:
        """Raise InputError unless the audit is a part of the rows that can be acted on."""
        whole: Any
        whole, option = (self.top, "--top") if self.alert is None else (self.budget, "--budget")
        if whole is None:
            raise InputError("--audit goes with --top 30 for one file, or --alert FILE --budget 30/day.")
        n, units = getattr(whole, "n", whole), {getattr(part, "per", None) for part in (whole, self.audit)}
        if self.n_audited >= n or len(units) > 1:
            raise InputError(f"--audit {self.audit} must be a part of {option} {whole}, in the same unit.")
        if self.alert is None and (self.id is None) != (self.time is None):
            raise InputError("--audit by --id needs --time: a name alone has the same luck in every file.")


@dataclass(frozen=True)
class WatchConfig:
    """Which columns tell when a row came and whether it was a hit, and how it is shown."""

    time: str | None = option("The column of when each row came; without it the file is one batch.")
    label: str | None = option(
        "The label's column, empty where it is not known yet; by default that of the fit, if it is there."
    )
    acted: str | None = option(
        "A column that says which rows somebody looked at: list, audit, yes or 1; for others empty, no or 0. "
        "By default a column acted or alert, which score writes, or the first rows of the budget."
    )
    labels_after: str | None = option(
        "How late labels come, such as 7d, 12h or 2w: periods that are later wait, by default until all rows "
        "looked at have one, or 30 days.",
        callback=AS_SPAN,
    )
    positive: Positive = None
    level: float = option("The chance of a false alarm, however often you look.", default=0.05)
    output: Path | None = option("Also save a page with pictures here (.html).", "--output", "-o")
    opened: Open = False
    force: Force = False
    as_json: Json = False


@dataclass(frozen=True)
class DuelConfig:
    """How a duel is begun, or goes on, and where it is kept."""

    state: Path | None = option("The file that keeps the duel; --budget begins it.")
    budget: AnyBudget = option("How many rows both models share, such as 30/day.", **AS_BUDGET)
    time: str | None = option("The column of when each row came.")
    id: str | None = option("The column of each row's name: a row stays with the same model.")
    until: int | None = option("Test once, after this many days (or periods), said when it begins.", min=2)
    labels_after: str | None = option(
        "How late labels come, as 7d: a row without a label by then is no hit.", callback=AS_SPAN
    )
    labels: Path | None = option("Rows with labels: credit hits, and say which model finds more.")
    label: str | None = option("The label's column in these rows.")
    positive: Positive = None
    score: list[str] | None = option(
        "Two columns of scores in the rows of --labels, in place of a state: compare them by past rows, and "
        "write the rows to label with -o."
    )
    output: Path | None = option("Where the rows to act on, or to label, are written.", "--output", "-o")
    force: Force = False
    as_json: Json = False

    def check(self, n_paths: int) -> None:
        """Raise InputError unless these options are one of the three forms of the command."""
        if n_paths not in (0, 3):
            raise InputError(
                "a duel takes CHAMPION.skops CHALLENGER.skops ROWS, or --labels FILE and no rows."
            )
        wanted = ["time", *["labels"] * (n_paths == 0), *["id"] * (not self.score)]
        wanted += ["output"] * (n_paths == 3) + ["state"] * (not self.score)
        for name in wanted:
            if getattr(self, name) is None:
                raise InputError(f"a duel needs --{name}; see pushrank duel --help.")


@dataclass(frozen=True)
class ComparisonConfig:
    """How models are compared: which, on which splits, and by what."""

    budget: Budget = None
    model: list[str] | None = option(
        "A model to compare, by its name in fit or in the table, or lightgbm; may be repeated. By default "
        "logistic regression, the P-Norm Push, boosted stumps, gradient boosting, LightGBM or without it a "
        "random forest, and up to 20,000 rows extra trees; all takes every model that has a name."
    )
    p: list[float] | None = option("A strength of the push, at least 1; may be repeated.")
    alpha: float | None = option("The L2 strength of the rankers; by default 0.1 on tables.", min=0.0)
    folds: int = option("The number of parts of the cross-validation.", default=5, min=2)
    repeats: int = option("How often cross-validation is done, with other parts.", default=1, min=1)
    choose: Literal["most", "single", "simplest"] = option(
        "The model to take: the ensemble or the model that ranks hits highest, the best that is no ensemble, "
        "or the simplest that may be the best.",
        default="most",
    )
    seed: Seed = 0
    together: bool = option("Also measure one list of all models.", "--together/--no-together", default=True)
    group: str | None = option("A column such as the customer: its rows stay in one part.")
    time: str | None = option(
        "A column of numbers or ISO dates: learn from the past, test on what comes next. By default the only "
        "column of dates, where the rows follow it."
    )
    labels_after: LabelsAfter = None
    hold_out: HoldOut = None
    random: bool = option("Draw parts at random, even if rows have times.", "--random", default=False)
    test: Path | None = option("Labelled rows to test on; models then learn from all rows of DATA.")
    drop_unlabelled: bool = option(
        "Leave out rows without a label, if these are missing at random.", "--drop-unlabelled", default=False
    )
    weight: Weight = None
    show: Show = None
    jobs: int = option("How many processes fit models; -1 is one for each processor.", default=1, min=-1)
    quiet: Quiet = False

    @property
    def powers(self) -> tuple[float, ...]:
        """The strengths of the push."""
        # The strengths stand with the models, whose import help need not wait for.
        from pushrank.model_selection.compare import POWERS

        return tuple(self.p or POWERS)

    def check(self) -> None:
        """Raise InputError when p or alpha is out of range, or ways to split do not go together."""
        for power in self.p or ():
            if not 1.0 <= power < math.inf:
                raise InputError(f"--p must be finite and at least 1, got {power:g}.")
        if self.alpha is not None and not 0.0 <= self.alpha < math.inf:
            raise InputError(f"--alpha must be finite and at least 0, got {self.alpha:g}.")
        if self.jobs == 0:
            raise InputError("--jobs must be a number of processes, or -1 for one for each processor, got 0.")
        ways = [f"--{way}" for way in ("group", "time", "random", "test") if getattr(self, way)]
        # Groups are kept apart by time, too, and where parts are drawn of them at random.
        if len(ways) > 1 and ways not in (["--group", "--time"], ["--group", "--random"]):
            raise InputError(f"{' and '.join(ways)} split the rows in different ways; choose one.")
        if ways not in ([], ["--random"]) and self.repeats > 1:
            raise InputError(f"--repeats draws other parts, but {ways[0]} says which; leave it out.")


def alert_state(model: Path) -> Path:
    """Return where what is decided by a model's scores is kept."""
    return model.with_suffix(".alert.db")


@dataclass(frozen=True)
class CompareOutput:
    """What a comparison writes, and where."""

    output: Path | None = option("Also save the measures of every test part here.", "--output", "-o")
    report: Path | None = option("Also save a report with curves and rows here (.html).")
    opened: Open = False
    save_best: Path | None = option("Fit the chosen model to all rows and save it here (.skops).")
    force: Force = False
    as_json: bool = option("Print JSON instead of a table.", "--json", default=False)

    def check(self, config: ComparisonConfig, data: Path) -> None:
        """Raise InputError when a result could not be written, or options do not go together."""
        if self.report is None and (config.show or self.opened):
            raise InputError("--show and --open are for a report; say where to save it: --report PATH.")
        inputs, force = [data, config.test], self.force
        write.check_output(self.output, write.TABLES_WRITTEN, inputs, force=force)
        write.check_output(self.report, write.REPORTS_WRITTEN, inputs, force=force)
        write.check_output(self.save_best, write.MODELS_WRITTEN, inputs, force=force)
        # A model for a budget by period has a file of what is decided by its scores.
        saved = None if self.force or isinstance(config.budget, int | None) else self.save_best
        if saved is not None and (state := alert_state(saved)).exists():
            raise InputError(f"{state} exists; to forget what was decided in it: --force.")


@dataclass(frozen=True)
class FitConfig:
    """What is fitted, with what in place of a model's own defaults, and where it is saved."""

    output: Annotated[Path, typer.Option("--output", "-o", help="Where to save the model (.skops).")]
    force: Force = False
    model: str | None = option(
        f"One of: {', '.join(model_names())}; or a name that compare prints. By default 'boosted stumps, "
        "p = 16' on tables, 'IR Push' on libsvm files.",
        callback=check_model_name,
    )
    budget: AnyBudget = option(
        "How many rows you can act on: 120 of as many as the data has, or 30/day with --time. It saves the "
        "alert threshold, by 25 more fits (13 with 1,000 rows of each class), or what to expect in a period, "
        "by 5 more; models that are chosen for a budget use it, too.",
        **AS_BUDGET,
    )
    member: list[str] | None = option(
        "A member of --model ensemble, by its name in fit or in the table of compare; may be repeated. By "
        "default those that compare has by default."
    )
    p: float | None = option_of_models("p", "The strength of the push, at least 1", callback=check_bounds)
    k: float | None = option_of_models(
        "k",
        "The top: a number of rows (1, 2, ...) or a share of the positives (0.25, 1.0)",
        parser=rows_or_share,
        metavar="K",
    )
    alpha: float | None = option_of_models(
        "alpha",
        "The L2 strength, at least 0, by default 0.1 on the standardised columns of a table",
        callback=check_bounds,
    )
    C: float | None = option_of_models("C", "The weight of the loss, positive", "--C", callback=check_bounds)
    bottom_weight: float | None = option_of_models(
        "bottom_weight", "The weight of the bottom of the list", callback=check_bounds
    )
    solver: str | None = option(
        "lbfgs, newton-cg, coordinate or another solver of the model; by default the one that the other "
        f"options need. For {MODELS_WITH['solver']}."
    )
    weak_rankers: str | None = option("What to boost: columns, stumps or regressors.")
    n_estimators: int | None = option("The number of boosting rounds.", callback=check_bounds)
    learning_rate: float | None = option("The factor of a boosting step, in (0, 1].", callback=check_bounds)
    max_iter: int | None = option("The largest number of iterations.", callback=check_bounds)
    tol: float | None = option("The tolerance at which iterations end.")
    weight: Weight = None
    time: str | None = option(
        "A column of numbers or ISO dates: rows held out are then later than those learnt from."
    )
    labels_after: LabelsAfter = None
    hold_out: HoldOut = None
    probability: bool = option(
        "Also calibrate probabilities, by 5 more fits, for score.", "--probability", default=False
    )
    jobs: int = option(
        "How many processes fit an ensemble's members; -1 is one a processor.", default=1, min=-1
    )
    quiet: Quiet = False
    seed: Seed = 0


def words_of(options: Mapping[str, Any]) -> list[str]:
    """Return the words of a command that give options these values: each as often as it has any, or not."""
    words = []
    for name, value in options.items():
        given = f"--{name.replace('_', '-')}"
        for one in value if isinstance(value, list) else [value]:
            if one is not None and one is not False:
                # A tab could not be seen in a printed command, and --separator reads the word.
                words += [given] if one is True else [given, "tab" if one == "\t" else str(one)]
    return words


def command_of(name: str, *groups: Any) -> str:
    """Return the command that gives the options of these groups the values that they have."""
    given = {key: value for group in groups for key, value in stated(group).items()}
    data, together, output = given.pop("data"), given.pop("together", True), given.pop("output", None)
    names = {"opened": "open", "as_json": "json"}
    given = {names.get(key, key): value for key, value in given.items()} | {"no_together": not together}
    return shlex.join(["pushrank", name, str(data), *words_of(given), *(["-o", str(output)] * bool(output))])


def expand_dataclasses(command: Callable[..., None]) -> Callable[..., None]:
    """Return a command with the fields of its dataclasses as options: Typer has no groups of options."""
    hints = get_type_hints(command, include_extras=True)
    groups: dict[str, Any] = {name: hint for name, hint in hints.items() if is_dataclass(hint)}
    parameters: list[Parameter] = []
    for name, parameter in signature(command).parameters.items():
        if name not in groups:
            parameters.append(parameter.replace(annotation=hints[name]))
            continue
        field_hints = get_type_hints(groups[name], include_extras=True)
        for part in fields(groups[name]):
            hint = field_hints[part.name]
            if "typer" in part.metadata:
                hint = Annotated[hint, part.metadata["typer"]]
            default = Parameter.empty if part.default is MISSING else part.default
            parameters.append(parameter.replace(name=part.name, default=default, annotation=hint))

    @wraps(command)
    def expanded(**options: Any) -> None:
        values = {name: normal(value) for name, value in options.items()}
        for name, group in groups.items():
            values[name] = group(**{part.name: values.pop(part.name) for part in fields(group)})
        command(**values)

    # Keywords may come in any order: an output, which has no default, after options that have one.
    parameters = [parameter.replace(kind=Parameter.KEYWORD_ONLY) for parameter in parameters]
    expanded.__signature__ = signature(command).replace(parameters=parameters)  # type: ignore[attr-defined]
    expanded.__annotations__ = {parameter.name: parameter.annotation for parameter in parameters}
    return expanded
