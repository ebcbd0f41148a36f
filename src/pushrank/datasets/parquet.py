"""Rows of Parquet files, chunk by chunk."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import DTypeLike

from pushrank._optional import import_optional
from pushrank.user_types import GenericArray
from pushrank.validation import check_number, plain_labels

if TYPE_CHECKING:
    import pandas as pd
    import pyarrow as pa
    import pyarrow.parquet as pq

__all__ = ["ParquetBatches"]

CHUNK_BYTES = 1 << 25
LABELS_AT_ONCE = 1 << 16


class ParquetBatches:
    """Read Parquet files as chunks of features and labels, for rankers that learn from a stream.

    Each iteration reads the files anew and yields ``(X, y)`` or, with ``weight``, ``(X, y, weight)``; X is a
    data frame, so that rankers learn the names of the columns.

    Memory is that of a chunk, and of what Parquet keeps compressed together, a row group. Missing values are
    NaN, which rankers refuse with the number of the row.

    The Apache Parquet format, read by pyarrow.

    Parameters
    ----------
    paths : str, Path or list of such
        The files, read in this order; all that have rows must have the columns that are used.
    label : str or None
        The column of labels; None where there are none, and chunks are ``(X,)`` or ``(X, weight)``.
    features : list of str, default=None
        The columns of features, numbers or booleans; None for all that are neither label nor weight, nor the
        index of a data frame that pandas wrote.
    weight : str, default=None
        A column of sample weights.
    dtype : {"float64", "float32"}, default="float64"
        The type of the features; None for float32 where all columns have it, otherwise float64.
    chunk_rows : int, default=None
        The largest number of rows in a chunk, at least 1; None for as many as 32 MiB hold.

    Attributes
    ----------
    classes : ndarray
        The labels that occur, sorted; the label column is read once to find them. Empty without one.
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
    TypeError
        When ``chunk_rows`` is no integer.
    ImportError
        When pandas or pyarrow is missing.

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
        label: str | None,
        *,
        features: Iterable[str] | None = None,
        weight: str | None = None,
        dtype: DTypeLike | None = "float64",
        chunk_rows: int | None = None,
    ) -> None:
        import_optional("pandas", "io")
        self.paths = [Path(path) for path in ([paths] if isinstance(paths, str | Path) else paths)]
        self.label, self.weight, self.dtype = label, weight, np.dtype(dtype or "float64")
        if not self.paths:
            raise ValueError("paths is empty: name at least one Parquet file.")
        if self.dtype not in (np.float64, np.float32):
            raise ValueError(f"dtype must be float64 or float32, got {dtype!r}.")
        if chunk_rows is not None:
            check_number("chunk_rows", chunk_rows, 1, integer=True)
        footers = [_read_footer(path) for path in self.paths]
        # a file without rows may have columns without types
        full = [i for i, footer in enumerate(footers) if footer.num_rows] or [0]
        self.paths, footers = [self.paths[i] for i in full], [footers[i] for i in full]
        schemas = [footer.schema.to_arrow_schema() for footer in footers]
        # pandas names in the file the columns that hold the index of its data frame
        index = (schemas[0].pandas_metadata or {}).get("index_columns", [])
        names = [name for name in schemas[0].names if name not in (label, weight, *index)]
        self.feature_names = names if features is None else list(features)
        if isinstance(features, str) or len(set(self.feature_names)) < len(self.feature_names):
            raise ValueError(f"features must be a list of different columns, got {features or names!r}.")
        if {label, weight} & set(self.feature_names):
            raise ValueError(f"the label and the weight cannot be features, got {self.feature_names}.")
        if not self.feature_names:
            raise ValueError(f"{self.paths[0]} has no column for features beside {label!r}.")
        self._weights = [] if weight is None else [weight]
        self._labels = [] if label is None else [label]
        for path, schema in zip(self.paths, schemas, strict=True):
            _check_columns(path, schema, [*self.feature_names, *self._weights], self._labels)
        if dtype is None and all(
            str(schema.field(name).type) == "float" for schema in schemas for name in self.feature_names
        ):
            self.dtype = np.dtype(np.float32)
        self.chunk_rows = chunk_rows or max(1, CHUNK_BYTES // (self.dtype.itemsize * len(self.feature_names)))
        self.n_rows = sum(footer.num_rows for footer in footers)
        self.classes = np.zeros(0) if label is None else self._find_classes(label)

    def __iter__(self) -> Iterator[tuple[pd.DataFrame | GenericArray, ...]]:
        """Yield chunks of ``(X, y)`` or ``(X, y, weight)``."""
        pd = import_optional("pandas", "io")
        for path in self.paths:
            for batch in _read(path, [*self.feature_names, *self._weights, *self._labels], self.chunk_rows):
                X = np.empty((batch.num_rows, len(self.feature_names)), dtype=self.dtype)
                for j, name in enumerate(self.feature_names):
                    X[:, j] = _column(batch, name)
                frame = pd.DataFrame(X, columns=self.feature_names, copy=False)
                weights = [_column(batch, name).astype(np.float64) for name in self._weights]
                yield frame, *[_column(batch, name) for name in self._labels], *weights

    def _find_classes(self, label: str) -> GenericArray:
        found: set[Any] = set()
        for path in self.paths:
            for batch in _read(path, [label], LABELS_AT_ONCE):
                if batch.column(0).is_null(nan_is_null=True).true_count:
                    raise ValueError(f"column {label!r} of {path} has missing labels: leave those rows out.")
                if getattr(batch.column(0).type, "ordered", False):
                    plain_labels(batch.column(0).to_pandas(), repr(label))
                found.update(batch.column(0).unique().to_pylist())
        try:
            return np.array(sorted(found))
        except TypeError as error:
            one_of_each = list({type(value): value for value in found}.values())
            raise ValueError(
                f"column {label!r} holds labels of different kinds, such as {one_of_each}: give "
                "them one type in all files."
            ) from error


def _read(path: Path, columns: list[str], rows: int) -> Iterator[pa.RecordBatch]:
    """Yield record batches, none of them empty."""
    # A `ParquetFile` holds one row group at a time. `pyarrow.dataset.Dataset.to_batches` would be shorter,
    # but reads ahead in threads, and what it holds grows with a slow consumer and with every new pass.
    with import_optional("pyarrow.parquet", "io").ParquetFile(path) as file:
        try:
            yield from (batch for batch in file.iter_batches(rows, columns=columns) if batch.num_rows)
        except OSError as error:
            raise OSError(f"{path} cannot be read: {' '.join(str(error).split())}") from error


def _column(batch: pa.RecordBatch, name: str) -> GenericArray:
    return np.asarray(batch.column(name).to_numpy(zero_copy_only=False))


def _read_footer(path: Path) -> pq.FileMetaData:
    pa, pq = import_optional("pyarrow", "io"), import_optional("pyarrow.parquet", "io")
    if path.is_dir():
        raise ValueError(f"{path} is a folder: name its files, as in sorted(folder.glob('*.parquet')).")
    try:
        return pq.read_metadata(path)
    except pa.ArrowInvalid as error:
        raise ValueError(f"{path} is no Parquet file ({error}).") from error


def _check_columns(path: Path, schema: pa.Schema, numbers: list[str], labels: list[str]) -> None:
    types = import_optional("pyarrow", "io").types
    missing = [name for name in (*numbers, *labels) if name not in schema.names]
    if missing:
        raise ValueError(f"{path} has no column {missing[0]!r}; its columns are {schema.names}.")
    for name in numbers:
        kind = schema.field(name).type
        if not (types.is_integer(kind) or types.is_floating(kind) or types.is_boolean(kind)):
            raise ValueError(
                f"column {name!r} of {path} holds {kind}, and weights and features must be numbers: encode "
                "it, or leave it out with features=."
            )
    for label in labels:
        if types.is_nested(kind := schema.field(label).type):
            raise ValueError(
                f"column {label!r} of {path} holds {kind}, and a label must be a single value: take it "
                "out of the nested column."
            )
