"""What several commands ask for, and how a text of an option is read, without an import that takes long."""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal, NamedTuple, TypeAlias

import typer

from pushrank._base.bounds import UNITS
from pushrank._base.files import read_facts
from pushrank.cli import config_files, write
from pushrank.cli.command import long_name, name_of, option
from pushrank.cli.errors import InputError
from pushrank.cli.source.format import TextFormat
from pushrank.cli.source.open import DATE_PART, STANDARD_STREAM, Header, Source, check_exists

if TYPE_CHECKING:
    from pushrank.budgets import Budget as PeriodBudget
    from pushrank.cli.source.table import Table

    AnyBudget: TypeAlias = int | PeriodBudget | None
else:
    # Typer takes no union of types, and does not ask what a parser makes of a text.
    AnyBudget = str | None

COLUMN: dict[str, Any] = {"metavar": "COLUMN"}
FILE: dict[str, Any] = {"metavar": "FILE"}
COLUMNS = ("label", "keep", "date", "id", "group", "time", "weight", "value", "acted", "chance")
"""Fields of groups of options that name columns of the data, in the order in which they are checked."""


class Folds(NamedTuple):
    """The parts of a cross-validation, and how often it is done."""

    n_parts: int
    n_repeats: int = 1

    def __str__(self) -> str:
        return f"{self.n_parts}x{self.n_repeats}" if self.n_repeats > 1 else str(self.n_parts)


def read_folds(text: str | Folds) -> Folds:
    """Return the folds of a text such as 5 or 5x3; the parser is given defaults, too."""
    parts = re.fullmatch(r"(\d{1,4})(?:x(\d{1,4}))?", str(text))
    if not parts or int(parts[1]) < 2 or parts[2] == "0":
        raise typer.BadParameter(f"{text} is no number of parts from 2 on, such as 5, or 5x3 for 3 repeats.")
    return Folds(int(parts[1]), int(parts[2] or 1))


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


def of_form(form: str, name: str, forms: str) -> Callable[[Any], Any]:
    """Return a check that the text of an option, or each of its texts, has a form."""

    def check(value: Any) -> Any:
        for text in [value] if isinstance(value, str) else value or ():
            if not re.fullmatch(form, text):
                raise InputError(f"{name} {text!r} is not understood: write {forms}.")
        return value

    return check


def check_model(path: Path | None) -> Path | None:
    """Return the path of a model, or raise InputError where there is none."""
    if path is not None:
        check_exists(path, "; fit a model first: pushrank fit")
    return path


def check_data(path: Path | None) -> Path | None:
    """Return the path of rows, or raise InputError where there are none; ``-`` is standard input."""
    if path not in (None, STANDARD_STREAM):
        check_exists(path)
    return path


def take_defaults(context: typer.Context, path: Path | None) -> Path | None:
    """Let the options of a file stand where the line says nothing."""
    if path is not None:
        check_exists(path)
        known = {long_name(of): of for of in context.command.params if of.param_type_name == "option"}
        if context.command.name == "measure":
            known = {name: of for name, of in known.items() if name not in config_files.OF_FITS}
        commands: Any = context.find_root().command
        context.default_map = config_files.defaults_of(path, known, commands.all_options())
    return path


def check_config(path: Path | None) -> Path | None:
    """Return where options are to be written, or raise InputError where they cannot be."""
    write.check_output(path, write.CONFIGS_WRITTEN, [], force=False)
    return path


def refuse_given(options: Mapping[str, Any], names: Sequence[str], why: str) -> None:
    """Raise InputError for the first of these options that is given."""
    for name in filter(options.get, names):
        raise InputError(f"--{name_of(name)} {why}")


def parameters_of(texts: Sequence[str] | None) -> dict[str, Any]:
    """Return the parameters of --set by name, their values as Python reads them, or else as texts."""
    parameters: dict[str, Any] = {}
    for text in texts or ():
        name, _, value = text.partition("=")
        try:
            parameters[name.strip()] = ast.literal_eval(value.strip())
        except (SyntaxError, ValueError):
            parameters[name.strip()] = value.strip()
    return parameters


model_file, rows_file = (partial(typer.Argument, callback=check) for check in (check_model, check_data))
Model = Annotated[Path, model_file(metavar="MODEL", help="A model that pushrank fit saved.")]
NewRows = Annotated[Path, rows_file(metavar="DATA", help="Rows with the columns of the model.")]
READABLE = "Labelled rows: .csv, .tsv, .txt, .xlsx, .parquet; - is stdin."
AS_BUDGET: dict[str, Any] = {"parser": read_budget, "metavar": "N|N/day"}
AS_FOLDS: dict[str, Any] = {"parser": read_folds, "metavar": "N|NxM"}
AS_SPAN: dict[str, Any] = {
    "callback": of_form(
        r"never|\d{1,6}[hdw]|\d{1,15}(\.\d+)?",
        "--labels-after",
        "12h, 7d, 2w, never or, of times that are numbers, 7",
    ),
    "metavar": "SPAN",
}
AS_SHARE: dict[str, Any] = {
    "callback": of_form(r"\d{1,2}(\.\d+)?%|\d+", "--hold-out", "a share such as 20%, or a number of rows"),
    "metavar": "N|N%",
}
AS_PARAMETER: dict[str, Any] = {
    "callback": of_form(r"\s*\w+\s*=.*", "--set", "the name of a parameter and its value, such as p=8"),
    "metavar": "NAME=VALUE",
}
SEED: dict[str, Any] = {"min": 0, "max": 2**32 - 1, "metavar": "N"}
SET = "A parameter of the model, such as p=8; repeat."
LATE = "How late labels come: 7d, 12h, 2w; never leaves rows out."
KEPT = "Rows that no fit sees, to promise hits by: 20%, 500."
JOBS = "Processes that fit; -1 is one for each processor."
Budget = Annotated[AnyBudget, typer.Option(help="How many rows you can act on.", **AS_BUDGET)]
Positive = Annotated[str | None, typer.Option(help="The label to rank at the top.", metavar="LABEL")]
Weight = Annotated[str | None, typer.Option(help="A column of weights to learn with.", **COLUMN)]
LabelsAfter = Annotated[str | None, typer.Option(help=LATE, **AS_SPAN)]
HoldOut = Annotated[str | None, typer.Option(help=KEPT, **AS_SHARE)]
Parameters = Annotated[list[str] | None, typer.Option("--set", help=SET, **AS_PARAMETER)]
Seed = Annotated[int, typer.Option(help="Seed of what is drawn at random.", **SEED)]
Jobs = Annotated[int, typer.Option(help=JOBS, min=-1, metavar="N")]
Quiet = Annotated[bool, typer.Option("--quiet", help="No bars, no lines of progress.")]
Json = Annotated[bool, typer.Option("--json", help="Print JSON: every figure, by name.")]
Every = Annotated[bool, typer.Option("--all", help="Print everything, not only the first screen.")]
Force = Annotated[bool, typer.Option("--force", help="Replace an input, or a file not of pushrank.")]


@dataclass(frozen=True)
class RowSource:
    """Where rows come from, and how their file is written."""

    data: Annotated[Path, rows_file(metavar="DATA", help=READABLE)]
    label: str | None = option("The column of the label.", **COLUMN)
    positive: Positive = None
    read: list[str] | None = option("How the file is written, as decimal=comma; repeat.", metavar="KEY=VALUE")
    config: Path | None = option(
        "Take options from a TOML file or a model.", callback=take_defaults, is_eager=True, **FILE
    )

    @cached_property
    def rows(self) -> Source:
        """The file, opened once."""
        return Source(self.data, TextFormat.parse(self.read or ()))


@dataclass(frozen=True)
class FeatureSource(RowSource):
    """Labelled rows to learn from, and which of their columns are left out."""

    exclude: list[str] | None = option("A column to leave out; repeat.", **COLUMN)
    keep: list[str] | None = option("A column known before the label; repeat.", **COLUMN)
    date: list[str] | None = option("A column of dates to learn from; repeat.", **COLUMN)
    write_config: Path | None = option(
        "Write the options of this call to a TOML file.", callback=check_config, **FILE
    )


@dataclass(frozen=True)
class LimitOptions:
    """Limits that a list keeps."""

    at_most: list[str] | None = option(
        "At most N rows of each value, as 4:scaffold; repeat.",
        callback=of_form(r"[1-9]\d{0,8}:.+", "--at-most", "4:scaffold for at most 4 rows of each scaffold"),
        metavar="N:COLUMN",
    )
    at_least: list[str] | None = option(
        "At least N rows, as 50:region=north; repeat.",
        callback=of_form(
            r"[1-9]\d{0,8}:[^=]+=.+", "--at-least", "50:region=north for at least 50 rows of this region"
        ),
        metavar="N:COLUMN=VALUE",
    )
    missing_group: Literal["separate", "together"] | None = option(
        "Rows without a value: each a group, or all one.", metavar="separate|together"
    )

    @property
    def caps(self) -> dict[str, int]:
        """The most rows of each value, by column."""
        return {name: int(n) for n, _, name in (text.partition(":") for text in self.at_most or ())}

    def floors(self, columns: Sequence[str] = ()) -> dict[str, dict[str, int]]:
        """Return the fewest rows of values, by column; the name of one may hold an equals sign."""
        floors: dict[str, dict[str, int]] = {}
        for text in self.at_least or ():
            n, _, limited = text.partition(":")
            names = [name for name in columns if limited.startswith(f"{name}=")]
            name = max(names or [limited.partition("=")[0]], key=len)
            floors.setdefault(name, {})[limited[len(name) + 1 :]] = int(n)
        return floors

    def limit_columns(self, header: Header | None) -> dict[str, Any]:
        """Return which columns limits are on, by option, of a file with these."""
        return {"at-most": list(self.caps), "at-least": list(self.floors(header.names if header else ()))}

    def limits(self, table: Table) -> dict[str, Any]:
        """Return the limits, and the columns that they are on, as the library takes them."""
        from pushrank.limits import Limits

        how = ", or say --missing-group separate, each is a group, or --missing-group together"
        hint = "" if self.missing_group else how
        named, floors = self.limit_columns(table.header), self.floors(table.header.names)
        X = {name: table.texts(name, of, hint) for of, names in named.items() for name in names}
        return {"limits": Limits(self.caps, floors, self.missing_group or "raise"), "X": X}

    @property
    def is_limited(self) -> bool:
        """Whether there are limits."""
        return bool(self.at_most or self.at_least)

    def check_limits(self, length: str, others: Sequence[str]) -> None:
        """Raise InputError for limits without the option that says how long the list is, or with others."""
        if not self.is_limited:
            refuse_given(
                vars(self), ["missing_group"], "is for rows without a value in a column of --at-most."
            )
            return
        if len(self.caps) < len(self.at_most or ()):
            raise InputError("--at-most names a column twice; say the smaller number.")
        if sum(map(len, self.floors().values())) < len(self.at_least or ()):
            raise InputError("--at-least names a value twice; say the larger number.")
        if not vars(self)[length]:
            raise InputError(f"--at-most and --at-least need --{length} N, how many rows the list has.")
        refuse_given(vars(self), others, "is for a list without limits; leave --at-most and --at-least out.")


def split_budget(budget: AnyBudget, time: str | None) -> tuple[PeriodBudget | None, int | None]:
    """Return a budget as one by period, which needs the column of --time, or as rows of the whole file."""
    if budget is None or isinstance(budget, int):
        return None, budget
    if time is None:
        raise InputError(f"--budget {budget} needs --time: the column of when a row came.")
    return budget, None


def rows_for(model: Path, data: Path, read: Sequence[str] | None) -> Source:
    """Return a file that is written as that of a model's fit, but for what --read says."""
    noted = read_facts(model).get("facts") or {}
    rows = Source(data)
    as_at_fit = TextFormat.parse(config_files.pairs("read", noted.get("as_fitted", {}).get("read", {})))
    rows = Source(data, TextFormat.parse(read or ()).over(as_at_fit.for_kind(rows.kind)))
    if noted and rows.header is not None:
        rows.header.check_model_columns(noted["numeric"] + noted["categorical"])
    return rows


def check_columns(rows: Source, *groups: Any, **others: str | Sequence[str] | None) -> None:
    """Raise InputError for a column that an option needs, where a file shows that it lacks it."""
    # Whether a stated separator is wrong only the rows say.
    if rows.text_format.separator or rows.header is None:
        return
    named = [(name, getattr(group, name, None)) for group in groups for name in COLUMNS]
    for kind, names in [*others.items(), *named]:
        for name in [names] if isinstance(names, str) else names or ():
            # An hour or a weekday is no column of the file, but is made of one.
            if not DATE_PART.fullmatch(name):
                rows.header.check(name, kind)
