"""Errors of the command line, a line and exit code 2, and its warnings."""

import re
import sys
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import wraps
from io import TextIOWrapper
from typing import Any

import typer

from pushrank.exceptions import BadRowError

CONTROLS = r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]"
"""What moves the cursor, changes colours or turns the direction of writing, but for tabs and new lines."""


class InputError(Exception):
    """Input that a command cannot use; the message says what it holds and what to do."""

    def __init__(self, message: str) -> None:
        # Messages of libraries may have several lines, and an error of a command has one.
        super().__init__(" ".join(message.split()))


def exit_on_input_error(command: Callable[..., None]) -> Callable[..., None]:
    """Return a command that ends on input it cannot use with one line on standard error and exit code 2."""

    @wraps(command)
    def guarded(*args: Any, **kwargs: Any) -> None:
        for stream in (sys.stdout, sys.stderr):
            # A terminal of ASCII shows question marks in place of other letters, and no traceback.
            if isinstance(stream, TextIOWrapper):
                stream.reconfigure(errors="replace")
        try:
            with warnings.catch_warnings():
                # Python would add a path and a line of the source, which help nobody who has a file.
                warnings.showwarning = lambda message, *_: warn(str(message))
                command(*args, **kwargs)
        except BrokenPipeError:
            # A reader such as head has seen enough: Typer ends the program in silence.
            raise
        except (InputError, MemoryError, OSError) as error:
            message = str(error)
            if isinstance(error, MemoryError):
                message = "there is not enough memory; take fewer rows or columns, or another machine."
            elif isinstance(error, OSError):
                message = f"{error.filename}: " * bool(error.filename) + f"{error.strerror or error}."
            say(f"Error: {message}", err=True)
            raise typer.Exit(2) from error

    return guarded


@contextmanager
def refusing(where: str = "") -> Iterator[None]:
    """Turn what the library refuses within the block into an InputError, in the words of options."""
    try:
        yield
    except (ValueError, TypeError) as error:
        # Rows of a file are counted from 1.
        message = str(error)
        if isinstance(error, BadRowError):
            message = error.message_for(f"row {error.row + 1}")
        raise InputError(where + in_option_names(message)) from error


def warn(line: str) -> None:
    """Print a warning to standard error."""
    say(f"warning: {line}", err=True)


def say(text: str, *, err: bool = False) -> None:
    """Print a text of which a terminal obeys nothing."""
    typer.echo(visible(text), err=err)


def visible(text: str) -> str:
    """Return a text in which characters that a terminal would obey, such as colours, are written out."""
    return re.sub(CONTROLS, lambda found: repr(found[0])[1:-1], text)


def in_option_names(message: str) -> str:
    """Return a message with the names of options in place of those of Python's parameters."""
    message = re.sub(r"\b(solver|weak_rankers)='([\w-]+)'", r"\1 \2", message)
    message = re.sub(r"read_dates\(time, order='(\w+)'\)", r"--date-order \1", message)
    names = "max_iter|tol|alpha|n_estimators|learning_rate|weak_rankers|bottom_weight|sample_weight|solver"
    names += r"|n_ahead|(?:budget|cv)(?==\d)"

    def option(match: re.Match[str]) -> str:
        name = "folds" if match[1] == "cv" else match[1].removeprefix("sample_").replace("_", "-")
        return f"--{name} " if match[2] else f"--{name}"

    return re.sub(rf"(?<![\w-])({names})\b(=(?=\d))?", option, message)
