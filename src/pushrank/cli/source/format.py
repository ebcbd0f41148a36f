"""How a text file is written, as options say it."""

from __future__ import annotations

from dataclasses import dataclass, field, fields, replace
from typing import Any, Literal

import typer

MARKS = ("decimal", "thousands", "na_values")
"""The options that say how numbers are written."""


def option(text: str, *names: str, default: Any = None, **more: Any) -> Any:
    """Return a field that is an option, with its help, and its names where they are not the field's."""
    return field(default=default, metadata={"typer": typer.Option(*names, help=text, **more)})


def stated(options: Any) -> dict[str, Any]:
    """Return the options of a group that were given, by the names of their fields."""
    defaults = {part.name: part.default for part in fields(options)}
    return {name: value for name, value in vars(options).items() if value not in (defaults[name], [], "")}


@dataclass(frozen=True)
class TextFormat:
    """How a text file is written, where not in UTF-8, with decimal points, and names in the first line."""

    separator: str | None = option(
        "The column separator: one character, or tab. By default found among , ; tab and | (.tsv: tab).",
        # A tab is hard to type in a shell, so that its name stands for it.
        parser=lambda text: "\t" if text in ("tab", "\\t") else text,
        metavar="CHARACTER",
    )
    encoding: str | None = option("The encoding of text files, such as cp1252; by default UTF-8, or UTF-16.")
    decimal: str | None = option("The decimal mark of numbers, such as a comma; by default a point.")
    thousands: str | None = option("The thousands separator of numbers, as in 1,025; by default none.")
    na_values: list[str] | None = option(
        "Another text that stands for a missing value, such as -; may be repeated."
    )
    date_order: Literal["dmy", "mdy"] | None = option(
        "What comes first in dates such as 1/2/2024: the day (dmy) or the month (mdy); by default such dates "
        "are refused."
    )
    skip_rows: int = option("How many lines above the column names to skip.", default=0, min=0)
    no_header: bool = option(
        "The first row holds no names; columns are called 1, 2, ...", "--no-header", default=False
    )
    sheet: str | None = option("The sheet of an Excel file that has several.")
    index_base: int | None = option(
        "The first index of a libsvm file. By default that of the model's data, or 1 unless an index is 0.",
        min=0,
        max=1,
    )

    @property
    def marks(self) -> dict[str, Any]:
        """How numbers in text are written, as far as options say it."""
        return {name: value for name, value in stated(self).items() if name in MARKS}

    def written_as(self, marks: dict[str, Any]) -> TextFormat:
        """Return the format with other marks of numbers, unless options name any."""
        # Marks of both together would contradict each other, as a point for thousands does a decimal point.
        return self if self.marks else replace(self, **marks)


DEFAULT_FORMAT = TextFormat()
