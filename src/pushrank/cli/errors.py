"""What the command line says of input it cannot use: one line, exit code 2."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import click


class InputError(click.ClickException):
    """Input that a command cannot use; the message says what was found and what to do."""

    exit_code = 2

    def __init__(self, message: str) -> None:
        super().__init__(" ".join(message.split()))


@contextmanager
def writing(path: Path) -> Iterator[None]:
    """Turn a failure to write into one line.

    Raises
    ------
    InputError
        When the block raised an OSError.
    """
    try:
        yield
    except OSError as error:
        raise InputError(f"{path} cannot be written: {error.strerror or error}.") from error


def check_can_write(path: Path) -> None:
    """Raise before any work starts when a result could not be written.

    Raises
    ------
    InputError
        When the folder is missing, or the path is a folder itself.
    """
    if path.is_dir():
        raise InputError(f"{path} is a folder; give the name of a file.")
    if not path.parent.is_dir():
        raise InputError(f"the folder {path.parent} does not exist; make it first, or choose another.")
