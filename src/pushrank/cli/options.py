"""Options that mean the same in several commands, and dataclasses of options."""

from collections.abc import Callable, Mapping
from dataclasses import MISSING, field, fields, is_dataclass
from functools import wraps
from inspect import Parameter, signature
from typing import TYPE_CHECKING, Annotated, Any, get_type_hints

import typer

from pushrank.cli.errors import InputError

if TYPE_CHECKING:
    from pushrank.budgets import Budget as PeriodBudget
else:
    # A parser makes budgets of texts, and Typer does not ask for their type: the module takes long to import.
    PeriodBudget = Any


def read_budget(text: str) -> "int | PeriodBudget":
    """Return the number of rows of a text such as 150, or the budget by period of one such as 150/day."""
    from pushrank import budgets

    try:
        return budgets.Budget.parse(text) if "/" in text else budgets.Budget(int(text)).n
    except ValueError as error:
        kinds = ", ".join(budgets.UNITS)
        raise typer.BadParameter(
            f"{text!r} is no number of rows from 1 on, such as 150, or of rows in every period, such as "
            f"150/day; the periods are {kinds}."
        ) from error


def numbers_of(texts: list[str] | None, option: str) -> list[float]:
    """Return the numbers of an option that may be repeated, or be several between commas."""
    try:
        return [float(part) for text in texts or [] for part in text.split(",")]
    except ValueError as error:
        raise InputError(f"{option} {' '.join(texts or [])} must be numbers: {option} .5,.1.") from error


def split_budget(
    budget: "int | PeriodBudget | None", time: str | None
) -> "tuple[PeriodBudget | None, int | None]":
    """Return a budget as one by period, which needs the column of --time, or as rows of the whole file."""
    if budget is None or isinstance(budget, int):
        return None, budget
    if time is None:
        raise InputError(f"--budget {budget} needs --time: the column of when a row came.")
    return budget, None


DropUnlabelled = Annotated[
    bool, typer.Option("--drop-unlabelled", help="Leave out the rows that have no label, or ? or NA for one.")
]
BUDGET = "N|N/PERIOD"
Budget = Annotated[
    int | PeriodBudget | None,
    typer.Option(
        parser=read_budget, metavar=BUDGET, help="How many rows you can act on: hits are counted among them."
    ),
]
Weight = Annotated[
    str | None, typer.Option(help="A column of what rows count for when models learn, such as amounts.")
]
SHOW = "A column to show in the report, in place of the first ten; may be repeated."
Show = Annotated[list[str] | None, typer.Option(help=SHOW)]
Open = Annotated[bool, typer.Option("--open", help="Open the report in the browser.")]
Force = Annotated[
    bool, typer.Option("--force", help="Replace the output, though it is an input or not of pushrank.")
]
Seed = Annotated[int, typer.Option(min=0, max=2**32 - 1, help="Random seed.")]
Json = Annotated[bool, typer.Option("--json", help="Print JSON instead of tables.")]


def words_of(options: Mapping[str, Any]) -> list[str]:
    """Return the words of a command that give options these values: each as often as it has any, or not."""
    words = []
    for name, value in options.items():
        given = f"--{name.replace('_', '-')}"
        for one in value if isinstance(value, list) else [value]:
            if one is not None and one is not False:
                words += [given] if one is True else [given, "tab" if one == "\t" else str(one)]
    return words


def option(text: str, *names: str, default: Any = None, **more: Any) -> Any:
    """Return a field that is an option, with its help, and its names where they are not the field's."""
    return field(default=default, metadata={"typer": typer.Option(*names, help=text, **more)})


def expand_dataclasses(command: Callable[..., None]) -> Callable[..., None]:
    """Return a command that takes the fields of its dataclasses as options, each in its dataclass's place.

    Typer has no groups of options: it reads the signature of a function, which is written for it here.
    """
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
            # Typer takes no union of types, and does not ask what a parser returns.
            if any(
                getattr(info, "parser", None) == read_budget for info in getattr(hint, "__metadata__", ())
            ):
                hint = Annotated[str | None, *hint.__metadata__]
            default = Parameter.empty if part.default is MISSING else part.default
            parameters.append(parameter.replace(name=part.name, default=default, annotation=hint))

    @wraps(command)
    def expanded(**values: Any) -> None:
        for name, group in groups.items():
            values[name] = group(**{part.name: values.pop(part.name) for part in fields(group)})
        command(**values)

    # Keywords may come in any order: an output, which has no default, after options that have one.
    parameters = [parameter.replace(kind=Parameter.KEYWORD_ONLY) for parameter in parameters]
    expanded.__signature__ = signature(command).replace(parameters=parameters)  # type: ignore[attr-defined]
    expanded.__annotations__ = {parameter.name: parameter.annotation for parameter in parameters}
    return expanded
