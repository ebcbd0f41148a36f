"""Errors of pushrank for cases that the built-in exceptions do not name, and its warnings."""

import os
import sys
import warnings
from pathlib import Path

__all__ = [
    "BadRowError", "DatasetNotFoundError", "LimitsWarning", "LostPartitionsError", "ModelFileError",
    "StreamError",
]  # fmt: skip

LIBRARY = f"{Path(__file__).parent}{os.sep}"
SHOWN: set[tuple[str, str, int]] = set()


class DatasetNotFoundError(FileNotFoundError):
    """A data set cannot be had from OpenML; the message names the set and the remedy.

    Examples
    --------
    >>> issubclass(DatasetNotFoundError, OSError)
    True
    """


class LimitsWarning(UserWarning):
    """A list that keeps limits is shorter than was asked for, or was not shown to be the best in time.

    Examples
    --------
    >>> issubclass(LimitsWarning, UserWarning)
    True
    """


class LostPartitionsError(RuntimeError):
    """Partitions were lost with a worker of a cluster and cannot be computed again, or no worker is left.

    Examples
    --------
    >>> issubclass(LostPartitionsError, RuntimeError)
    True
    """


class ModelFileError(ValueError):
    """A model file is damaged, or holds a type that is not trusted.

    Examples
    --------
    >>> issubclass(ModelFileError, ValueError)
    True
    """


class StreamError(ValueError):
    """A row of a stream cannot be learned from; the message names it, and the model is unchanged.

    Examples
    --------
    >>> issubclass(StreamError, ValueError)
    True
    """


def warn(message: str, category: type[Warning] = UserWarning, *, once: bool = False) -> None:
    """Warn at the innermost line of code outside this library, or there once."""
    frame, level = sys._getframe(1), 2
    while frame.f_back is not None and frame.f_code.co_filename.startswith(LIBRARY):
        frame, level = frame.f_back, level + 1
    # Python forgets what it has shown whenever scikit-learn changes filters, as it does in every fold.
    place = message, frame.f_code.co_filename, frame.f_lineno
    if not once or place not in SHOWN:
        warnings.warn(message, category, stacklevel=level)
    SHOWN.add(place)


class BadRowError(ValueError):
    """A row cannot be used. The message gives its number among the rows that were passed.

    Parameters
    ----------
    row : int
        The number of the row.
    before, after : str
        The message up to the name of the row, and from there on.

    Examples
    --------
    >>> str(BadRowError(3, "time is missing in ", "; fill it."))
    'time is missing in row 3; fill it.'
    """

    def __init__(self, row: int, before: str, after: str) -> None:
        super().__init__(row, before, after)
        self.row = row

    def message_for(self, row: str) -> str:
        """Return the message with another name of the row."""
        _, before, after = self.args
        return f"{before}{row}{after}"

    def __str__(self) -> str:
        """Return the message."""
        return self.message_for(f"row {self.row}")
