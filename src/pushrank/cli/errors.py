"""Errors of the command line, a line and exit code 2, and its warnings."""

import re
import shlex
import sys
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import wraps
from io import TextIOWrapper
from typing import Any

import typer

from pushrank.exceptions import BadRowError

CONTROLS = r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]"
"""What moves the cursor, changes colours or turns the direction of writing, but for tabs and new lines."""

PARAMETERS = "max_iter|tol|alpha|n_estimators|learning_rate|weak_rankers|bottom_weight"
IN_OPTIONS = {
    r"read_dates\(time, order='(\w+)'\)": r"--read dates=\1",
    # How far rows may be ahead of the clock is for Python to say.
    r", or set n_ahead to [^;.]*": "",
    r"(?<![\w-])sample_weight\b": "--weight",
    r"(?<![\w-])labels_after\b": "--labels-after",
    r"(?<![\w-])(?<=, )acted\b|\bacted(?= holds)": "--acted",
    r"(?<![\w-])budget=(?=\d)": "--budget ",
    r"(?<![\w-])cv=(?=\d)": "--folds ",
    "a lower confidence level": "a lower --promise",
    "^groups are all the same": "all rows have one --group",
    "smaller gap, a longer window, fewer parts,": "shorter --labels-after, fewer --folds,",
    r"(?<![\w-])(solver|weak_rankers)='([\w-]+)'": r"--set \1=\2",
    rf"(?<![\w'-])(?<!--set )({PARAMETERS})\b": r"--set \1",
}
"""Names of Python's parameters in messages of the library, and what a line says in their place."""


class InputError(Exception):
    """Input that a command cannot use: what it holds, what to do, and the words to ``add`` to the command.

    The exit code is 2, or 3 where the input can be used and says nothing of what is asked.
    """

    def __init__(self, message: str, *, add: Sequence[str] = (), code: int = 2) -> None:
        # Messages of libraries may have several lines, and an error of a command has one.
        super().__init__(" ".join(message.split()))
        self.add, self.code = tuple(add), code


def exit_on_input_error(command: Callable[..., None], typed: Sequence[str]) -> Callable[..., None]:
    """Return a command that ends on input it cannot use with a line on standard error and exit code 2.

    Another line has the words that were typed, with those to add, where the error knows them.
    """

    @wraps(command)
    def guarded(*args: Any, **kwargs: Any) -> None:
        for stream in (sys.stdout, sys.stderr):
            # A terminal that lacks a letter shows a question mark in its place, and no traceback.
            if isinstance(stream, TextIOWrapper):
                stream.reconfigure(errors="replace")
        try:
            with warnings.catch_warnings():
                # Python would add a path and a line of the source, which help nobody who has a file.
                warnings.showwarning = lambda message, *_: warn(in_option_names(str(message)))
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
            code = getattr(error, "code", 2)
            say("Error: " * (code == 2) + message, err=True)
            if add := getattr(error, "add", ()):
                say(f"To run it so: {' '.join(map(shell_word, ['pushrank', *typed, *add]))}", err=True)
            raise typer.Exit(code) from error

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


def shell_word(word: str) -> str:
    """Return a word for a shell, with what a terminal would obey written out as bash reads it."""
    escaped = word.replace("\\", "\\\\").replace("'", "\\'")
    return f"$'{visible(escaped)}'" if re.search(CONTROLS, word) else shlex.quote(word)


def in_option_names(message: str) -> str:
    """Return a message with what a line can say in place of the names of Python's parameters."""
    for pattern, words in IN_OPTIONS.items():
        message = re.sub(pattern, words, message)
    return message
