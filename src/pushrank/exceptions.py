"""Errors of pushrank for cases that the built-in exceptions do not name."""

from __future__ import annotations

__all__ = [
    "DatasetFormatError",
    "DatasetNotFoundError",
    "LostPartitionsError",
    "ModelFileError",
    "StreamError",
]


class DatasetNotFoundError(FileNotFoundError):
    """A data set is neither in the local data folder nor available from OpenML.

    The message names the set, the folders that were searched, and the remedy.

    Examples
    --------
    >>> issubclass(DatasetNotFoundError, OSError)
    True
    """


class DatasetFormatError(ValueError):
    """The file or the download of a data set is damaged, or is another set.

    The message names the file or the OpenML id, and what was expected.

    Examples
    --------
    >>> issubclass(DatasetFormatError, ValueError)
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
