"""Errors of pushrank that name something the built-in exceptions do not."""

from __future__ import annotations

__all__ = [
    "DatasetFormatError",
    "DatasetNotFoundError",
    "LostPartitionsError",
    "ModelFileError",
    "StreamError",
]


class DatasetNotFoundError(FileNotFoundError):
    """A data set is neither in the local data folder nor to be had from OpenML.

    The message names the set, the places looked in, and what to do.

    Examples
    --------
    >>> from pushrank.exceptions import DatasetNotFoundError
    >>> issubclass(DatasetNotFoundError, OSError)
    True
    """


class DatasetFormatError(ValueError):
    """A data set was found, but what was found is damaged or is not the set it should be.

    The message names the file or the OpenML id, what was expected and what was found.

    Examples
    --------
    >>> from pushrank.exceptions import DatasetFormatError
    >>> issubclass(DatasetFormatError, ValueError)
    True
    """


class LostPartitionsError(RuntimeError):
    """Partitions were lost with a worker of a cluster and cannot be made anew, or no worker is left.

    Examples
    --------
    >>> from pushrank.exceptions import LostPartitionsError
    >>> issubclass(LostPartitionsError, RuntimeError)
    True
    """


class ModelFileError(ValueError):
    """A model file is damaged, or holds a type that is not trusted.

    Examples
    --------
    >>> from pushrank.exceptions import ModelFileError
    >>> issubclass(ModelFileError, ValueError)
    True
    """


class StreamError(ValueError):
    """A row of a stream cannot be learned from; the message names it, and the model is as it was before.

    Examples
    --------
    >>> from pushrank.exceptions import StreamError
    >>> issubclass(StreamError, ValueError)
    True
    """
