"""Rows of Parquet files, chunk by chunk."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
from numpy.typing import NDArray

__all__ = ["ParquetBatches"]

CHUNK_BYTES = 1 << 25


class ParquetBatches:
    """Read Parquet files as chunks of features and labels, for rankers that learn from a stream.

    Each iteration reads the files anew and yields ``(X, y)`` or, with ``weight``, ``(X, y, weight)``; X is a
    data frame, so that rankers learn the names of the columns.

    Parameters
    ----------
    paths : str, Path or list of such
        The files, read in this order; all must have the columns that are used.
    label : str
        The column of labels.
    features : list of str, default=None
        The columns of features, numbers or booleans; None for all that are neither label nor weight, nor the
        index of a data frame that pandas wrote.
    weight : str, default=None
        A column of sample weights.
    dtype : {"float64", "float32"}, default="float64"
        Of the features.
    chunk_rows : int, default=None
        The most rows of a chunk, at least 1; None for as many as 32 MiB hold.

    Attributes
    ----------
    classes : ndarray
        The labels that occur, sorted; the label column is read once to find them.
    feature_names : list of str
        The columns of features.
    n_rows : int
        Rows of all files.

    Raises
    ------
    FileNotFoundError
        When a file does not exist.
    ValueError
        When a column is missing, is no number, labels are missing, or a parameter is out of range.

    Notes
    -----
    Memory is that of a chunk, and of what Parquet keeps compressed together, a row group. Missing values are
    NaN, which rankers refuse with the number of the row.

    References
    ----------
    The Apache Parquet format, read by pyarrow.

    Examples
    --------
    >>> import tempfile
    >>> import pandas as pd
    >>> from pushrank import PerceptronAtK
    >>> table = pd.DataFrame({"a": [0.0, 1.0, 2.0, 3.0], "b": [1, 0, 1, 0], "hit": [0, 1, 0, 1]})
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     table.to_parquet(f"{folder}/rows.parquet")
    ...     batches = ParquetBatches(f"{folder}/rows.parquet", "hit", chunk_rows=3)
    ...     ranker = PerceptronAtK(batch_size=2).fit_stream(batches)
    >>> batches.feature_names, batches.classes.tolist(), len(ranker.coef_)
    (['a', 'b'], [0, 1], 2)
    """

    def __init__(
        self,
        paths: str | Path | Iterable[str | Path],
        label: str,
        *,
        features: Iterable[str] | None = None,
        weight: str | None = None,
        dtype: Any = "float64",
        chunk_rows: int | None = None,
    ) -> None:
        self.paths = [Path(paths)] if isinstance(paths, str | Path) else [Path(path) for path in paths]
        self.label = label
        self.weight = weight
        self.dtype = np.dtype(dtype)
        if not self.paths:
            raise ValueError("paths is empty: name at least one Parquet file.")
        if self.dtype not in (np.float64, np.float32):
            raise ValueError(f"dtype must be float64 or float32, got {dtype!r}.")
        if chunk_rows is not None and not (isinstance(chunk_rows, int | np.integer) and chunk_rows >= 1):
            raise ValueError(f"chunk_rows must be an integer of at least 1, got {chunk_rows!r}.")
        schemas = [_schema(path) for path in self.paths]
        special = {label, weight}
        self.feature_names = (
            [name for name in schemas[0].names if name not in special | _index_columns(schemas[0])]
            if features is None
            else list(features)
        )
        if isinstance(features, str) or len(set(self.feature_names)) < len(self.feature_names):
            raise ValueError(f"features must be a list of different columns, got {features!r}.")
        if special & set(self.feature_names):
            raise ValueError(f"the label and the weight cannot be features, got {self.feature_names}.")
        if not self.feature_names:
            raise ValueError(f"{self.paths[0]} has no column for features beside {label!r}.")
        for path, schema in zip(self.paths, schemas, strict=True):
            self._check_columns(path, schema)
        row_bytes = self.dtype.itemsize * len(self.feature_names)
        self.chunk_rows = int(chunk_rows or max(1, CHUNK_BYTES // row_bytes))
        self.n_rows = sum(pq.read_metadata(path).num_rows for path in self.paths)
        self.classes = self._found_classes()

    def __iter__(self) -> Iterator[tuple[Any, ...]]:
        """Yield chunks of ``(X, y)`` or ``(X, y, weight)``."""
        columns = [*self.feature_names, self.label, *([self.weight] if self.weight is not None else [])]
        for path in self.paths:
            with pq.ParquetFile(path) as file:
                for batch in file.iter_batches(batch_size=self.chunk_rows, columns=columns):
                    if batch.num_rows:
                        yield self._arrays(batch)

    def _arrays(self, batch: pa.RecordBatch) -> tuple[Any, ...]:
        X = np.empty((batch.num_rows, len(self.feature_names)), dtype=self.dtype)
        for j, name in enumerate(self.feature_names):
            X[:, j] = batch.column(name).to_numpy(zero_copy_only=False)
        frame = pd.DataFrame(X, columns=self.feature_names, copy=False)
        y = batch.column(self.label).to_numpy(zero_copy_only=False)
        if self.weight is None:
            return frame, y
        return frame, y, batch.column(self.weight).to_numpy(zero_copy_only=False).astype(np.float64)

    def _check_columns(self, path: Path, schema: pa.Schema) -> None:
        numbers = [*self.feature_names, *([self.weight] if self.weight is not None else [])]
        missing = [name for name in (*numbers, self.label) if name not in schema.names]
        if missing:
            raise ValueError(f"{path} has no column {missing[0]!r}; its columns are {schema.names}.")
        for name in numbers:
            kind = schema.field(name).type
            if not (pa.types.is_integer(kind) or pa.types.is_floating(kind) or pa.types.is_boolean(kind)):
                raise ValueError(
                    f"column {name!r} of {path} holds {kind}, and features must be numbers: encode it, or "
                    "leave it out with features=."
                )

        if pa.types.is_nested(kind := schema.field(self.label).type):
            raise ValueError(
                f"column {self.label!r} of {path} holds {kind}, and a label must be a single value: take it "
                "out of the nested column."
            )

    def _found_classes(self) -> NDArray[Any]:
        found: set[Any] = set()
        for path in self.paths:
            with pq.ParquetFile(path) as file:
                for batch in file.iter_batches(columns=[self.label]):
                    labels = batch.column(0)
                    if labels.null_count:
                        raise ValueError(
                            f"column {self.label!r} of {path} has missing labels: leave those rows out."
                        )
                    found.update(labels.unique().to_pylist())
        try:
            return np.array(sorted(found))
        except TypeError as error:
            raise ValueError(
                f"column {self.label!r} holds labels of different kinds, such as {_one_of_each(found)}: give "
                "them one type in all files."
            ) from error


def _one_of_each(labels: Iterable[Any]) -> list[Any]:
    """Return a label of every type."""
    return list({type(label): label for label in labels}.values())


def _index_columns(schema: pa.Schema) -> set[str]:
    """Return the columns that hold the index of a data frame, which pandas names in the file."""
    if schema.pandas_metadata is None:
        return set()
    return {name for name in schema.pandas_metadata["index_columns"] if isinstance(name, str)}


def _schema(path: Path) -> pa.Schema:
    if path.is_dir():
        raise ValueError(f"{path} is a folder: name its files, as in sorted(folder.glob('*.parquet')).")
    try:
        return pq.read_schema(path)
    except pa.ArrowInvalid as error:
        raise ValueError(f"{path} is no Parquet file ({error}).") from error
