"""What the command line says of input that it cannot use (one line, exit code 2) or that is doubtful."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import wraps
from pathlib import Path
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
        try:
            command(*args, **kwargs)
        except InputError as error:
            typer.echo(f"Error: {error}", err=True)
            raise typer.Exit(2) from error

    return guarded


def warn(line: str) -> None:
    """Print a warning to standard error."""
    typer.echo(f"warning: {line}", err=True)


@contextmanager
def writing(path: Path) -> Iterator[None]:
    """Turn an OSError of the block, a failure to write, into an InputError."""
    try:
        yield
    except OSError as error:
        raise InputError(f"{path} cannot be written: {error.strerror or error}.") from error


def check_can_write(path: Path) -> None:
    """Raise InputError before any work starts when a result could not be written."""
    if path.is_dir():
        raise InputError(f"{path} is a folder; give the name of a file.")
    if not path.parent.is_dir():
        raise InputError(f"the folder {path.parent} does not exist; make it first, or choose another.")
    if not os.access(path.parent, os.W_OK | os.X_OK):
        raise InputError(f"the folder {path.parent} cannot be written to; choose another.")
