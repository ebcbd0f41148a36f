"""What the command line says of input that it cannot use (one line, exit code 2) or that is doubtful."""

from __future__ import annotations

import sys
from collections.abc import Callable
from functools import wraps
from io import TextIOWrapper
from typing import Any

import typer


class InputError(Exception):
    """Input that a command cannot use; the message says what was found and what to do."""

    def __init__(self, message: str) -> None:
        super().__init__(" ".join(message.split()))


def exit_on_input_error(command: Callable[..., None]) -> Callable[..., None]:
    """Return a command that ends on input it cannot use with one line on standard error and exit code 2."""

    @wraps(command)
    def guarded(*args: Any, **kwargs: Any) -> None:
        for stream in (sys.stdout, sys.stderr):
            if isinstance(
                stream, TextIOWrapper
            ):  # a terminal of ASCII shows a question mark for what it lacks
                stream.reconfigure(errors="replace")
        try:
            command(*args, **kwargs)
        except (InputError, MemoryError) as error:
            too_large = "there is not enough memory; take fewer rows or columns, or another machine."
            typer.echo(f"Error: {too_large if isinstance(error, MemoryError) else error}", err=True)
            raise typer.Exit(2) from error

    return guarded


def warn(line: str) -> None:
    """Print a warning to standard error."""
    typer.echo(f"warning: {line}", err=True)
