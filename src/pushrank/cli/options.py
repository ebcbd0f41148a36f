"""Options that mean the same in several commands."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import MISSING, fields, is_dataclass
from functools import wraps
from inspect import Parameter, signature
from pathlib import Path
from typing import Annotated, Any, get_type_hints

import typer

Data = Annotated[
    Path,
    typer.Argument(help="Labelled rows: .csv, .tsv, .txt, .xlsx, .json, .parquet, .libsvm; - is stdin."),
]
Label = Annotated[str | None, typer.Option(help="The column that holds the label.")]
Positive = Annotated[
    str | None,
    typer.Option(
        help="The label to rank at the top. By default 1 of 0 and 1, the larger of two other numbers, yes of "
        "yes and no, and true of true and false; everything else needs it."
    ),
]
Exclude = Annotated[
    list[str] | None, typer.Option(help="A column to leave out, such as an identifier; may be repeated.")
]
DropUnlabelled = Annotated[
    bool, typer.Option("--drop-unlabelled", help="Leave out the rows that have no label, or ? or NA for one.")
]
Separator = Annotated[
    str | None,
    typer.Option(
        parser=lambda text: "\t" if text in ("tab", "\\t") else text,
        metavar="CHARACTER",
        help="Column separator: one character or tab; by default found among , ; tab and | (.tsv: tab).",
    ),
]
Encoding = Annotated[
    str | None, typer.Option(help="File encoding of text files, such as cp1252; by default utf-8.")
]
Decimal = Annotated[str | None, typer.Option(help="Decimal mark of text files; by default a point.")]
Thousands = Annotated[
    str | None,
    typer.Option(help="Thousands separator of text files, as in 1,025; by default none."),
]
Units = Annotated[
    str | None, typer.Option(help="Signs to ignore in numbers, as '$%' in $12.50 and 57.2%; by default none.")
]
NaValues = Annotated[
    list[str] | None, typer.Option(help="A text that stands for a missing value, such as -; may be repeated.")
]
SkipRows = Annotated[int, typer.Option(min=0, help="Lines above the column names to skip.")]
NoHeader = Annotated[
    bool, typer.Option("--no-header", help="The first row holds no names; columns are called 1, 2, ...")
]
Budget = Annotated[
    int | None, typer.Option(min=1, help="How many rows you can act on: hits are counted among them.")
]
Models = Annotated[
    list[str] | None,
    typer.Option(
        help="A model to compare, by its name in fit or in the table, or lightgbm; may be repeated. By "
        "default linear ones, boosted stumps, gradient boosting and LightGBM (up to 100,000 rows) and, up to "
        "20,000 rows, a choice among linear ones and a random forest."
    ),
]
Powers = Annotated[list[float] | None, typer.Option(help="A strength of the push; may be repeated.")]
Alpha = Annotated[
    float | None, typer.Option(min=0.0, help="The L2 strength of the rankers; by default 0.1 on tables.")
]
Folds = Annotated[int, typer.Option(min=2, help="Parts of the cross-validation.")]
Repeats = Annotated[int, typer.Option(min=1, help="Repetitions of the cross-validation.")]
Nested = Annotated[bool, typer.Option("--nested", help="Also choose the model inside every training part.")]
Group = Annotated[
    str | None, typer.Option(help="A column whose equal values stay in one part, such as the customer.")
]
Time = Annotated[
    str | None,
    typer.Option(help="A column of numbers or ISO dates: learn from the past, test on what comes next."),
]
Test = Annotated[
    Path | None, typer.Option(help="Labelled rows to test on; all rows of the data are then learnt from.")
]
Weight = Annotated[
    str | None, typer.Option(help="A column of what rows count for when models learn, such as amounts.")
]
Show = Annotated[
    list[str] | None,
    typer.Option(help="A column to show in the report, in place of the first ten; may be repeated."),
]
Open = Annotated[bool, typer.Option("--open", help="Open the report in the browser.")]
Force = Annotated[
    bool, typer.Option("--force", help="Replace the output, though it is an input or not of pushrank.")
]
Seed = Annotated[int, typer.Option(min=0, max=2**32 - 1, help="Random seed.")]


def expand_dataclasses(command: Callable[..., None]) -> Callable[..., None]:
    """Return a command that takes the fields of its dataclasses as options, each in its dataclass's place."""
    hints = get_type_hints(command, include_extras=True)
    groups: dict[str, Any] = {name: hint for name, hint in hints.items() if is_dataclass(hint)}
    parameters = []
    for name, parameter in signature(command).parameters.items():
        if name not in groups:
            parameters.append(parameter.replace(kind=Parameter.KEYWORD_ONLY, annotation=hints[name]))
            continue
        field_hints = get_type_hints(groups[name], include_extras=True)
        for field in fields(groups[name]):
            default = Parameter.empty if field.default is MISSING else field.default
            hint = field_hints[field.name]
            parameters.append(Parameter(field.name, Parameter.KEYWORD_ONLY, default=default, annotation=hint))

    @wraps(command)
    def expanded(**given: Any) -> None:
        for name, group in groups.items():
            given[name] = group(**{field.name: given.pop(field.name) for field in fields(group)})
        command(**given)

    # what Typer reads, in place of the command's own
    expanded.__signature__ = signature(command).replace(parameters=parameters)  # type: ignore[attr-defined]
    expanded.__annotations__ = {parameter.name: parameter.annotation for parameter in parameters}
    return expanded
