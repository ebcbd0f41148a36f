"""What the command line says of input that it cannot use (one line, exit code 2) or that is doubtful."""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
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
        except OSError as error:
            if isinstance(error, BrokenPipeError):  # a reader such as head has seen enough, as typer knows
                raise
            where = f"{error.filename}: " if error.filename else ""
            typer.echo(f"Error: {where}{error.strerror or error}.", err=True)
            raise typer.Exit(2) from error

    return guarded


@contextmanager
def refusing(where: str = "") -> Iterator[None]:
    """Turn what the library refuses within the block into an InputError, in the words of options."""
    try:
        yield
    except (ValueError, TypeError) as error:
        raise InputError(where + in_option_names(str(error))) from error


def warn(line: str) -> None:
    """Print a warning to standard error."""
    typer.echo(f"warning: {line}", err=True)


def in_option_names(message: str) -> str:
    """Return a message with the names of options in place of those of Python's parameters."""
    message = re.sub(r"\b(solver|weak_rankers)='([\w-]+)'", r"\1 \2", message)
    names = "max_iter|tol|alpha|n_estimators|learning_rate|weak_rankers|bottom_weight|sample_weight|solver"
    return re.sub(
        rf"(?<![\w-])({names})\b(=(?=\d))?",
        lambda found: (
            f"--{found[1].replace('sample_weight', 'weight').replace('_', '-')}"
            + " " * (found[2] is not None)
        ),
        message,
    )
