"""Tables in and out: CSV, TSV, Parquet and libsvm files."""

from __future__ import annotations

import zlib
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import scipy.sparse as sp
from numpy.typing import NDArray
from sklearn.datasets import load_svmlight_file

from pushrank._io import atomic_write
from pushrank.cli.errors import InputError, writing
from pushrank.cli.text_format import AS_USUAL, OTHER_SEPARATORS, SEPARATORS, TextFormat, kind_of_file

SPARSE = {".libsvm", ".svmlight", ".svm"}
READABLE = "CSV (.csv, .csv.gz), TSV (.tsv), Parquet (.parquet) or libsvm (.libsvm, .svmlight, .svm)"
LIBSVM_LABEL = "label"
UNREADABLE = (
    OSError,
    ValueError,
    EOFError,
    zlib.error,
    pa.ArrowException,
    TypeError,  # of a file whose types pandas does not know
    pd.errors.ParserError,
    pd.errors.EmptyDataError,
)


@dataclass(frozen=True)
class Table:
    """Rows with their features: a data frame, or a sparse matrix with labels from a libsvm file."""

    path: Path
    frame: pd.DataFrame
    features: sp.csr_matrix | None = None
    written: TextFormat = AS_USUAL

    def __len__(self) -> int:
        return len(self.frame)

    @property
    def is_sparse(self) -> bool:
        """Whether the rows came from a libsvm file."""
        return self.features is not None

    @property
    def is_text(self) -> bool:
        """Whether the rows came from a CSV or TSV file."""
        return kind_of_file(self.path) in SEPARATORS

    def as_written(self, rows: NDArray[np.intp], columns: Sequence[str] | None = None) -> pd.DataFrame:
        """Return some rows in the order asked for, every cell as it is in the file: text, or Parquet's types.

        Rows of a libsvm file are named by their number, from 1.
        """
        if self.is_sparse:
            return pd.DataFrame({"row": rows + 1})
        if self.is_text:
            return self.written.as_written(self.path, rows, columns)
        return self.as_arrow(rows, columns).to_pandas(types_mapper=_with_gaps, ignore_metadata=True)

    def as_arrow(self, rows: NDArray[np.intp], columns: Sequence[str] | None = None) -> pa.Table:
        """Return some rows of a Parquet file in the order asked for, as they are there."""
        return pq.read_table(self.path, columns=columns).take(rows).replace_schema_metadata(None)

    @property
    def said_of_columns(self) -> str:
        """Which columns there are, and, where it seems so, that they are separated otherwise."""
        shown = ", ".join(map(repr, self.frame.columns[:20]))
        if len(self.frame.columns) == 1 and self.is_text:
            for mark, name in OTHER_SEPARATORS.items():
                if mark in str(self.frame.columns[0]):
                    return f"{shown}. If {name} separates the columns, say so: --separator {name}"
        return shown


def _with_gaps(kind: pa.DataType) -> pd.ArrowDtype | None:
    """Return the type in which a column of whole numbers or truth values keeps them beside gaps."""
    return pd.ArrowDtype(kind) if pa.types.is_integer(kind) or pa.types.is_boolean(kind) else None


def as_text(value: Any) -> str:
    """Return a value as text; whole numbers have no decimal point, even where gaps made them floats."""
    if isinstance(value, float | np.floating) and float(value).is_integer():
        return str(int(value))
    return str(value)


def read_table(
    path: Path, n_features: int | None = None, text: Sequence[str] = (), written: TextFormat = AS_USUAL
) -> Table:
    """Read a file by its extension.

    Parameters
    ----------
    path : Path
        A file whose name ends in .csv, .tsv, .parquet, .libsvm, .svmlight or .svm; text also in .gz.
    n_features : int, optional
        The number of features a libsvm file should have, if known.
    text : sequence of str, optional
        The columns that are text even where they look like numbers.
    written : TextFormat, optional
        How a CSV or TSV file is written.

    Raises
    ------
    InputError
        When the file is missing, unreadable, empty, or of an unknown kind.
    """
    kind = kind_of_file(path)
    if kind not in {*SEPARATORS, *SPARSE, ".parquet"}:
        raise InputError(f"{path}: the kind of file is not known; pushrank reads {READABLE}.")
    if not path.exists():
        raise InputError(f"{path} does not exist.")
    if path.is_dir():
        raise InputError(f"{path} is a folder; give the name of a file.")
    written.check(path)
    try:
        if kind in SPARSE:
            features, labels = load_svmlight_file(str(path), n_features=n_features)
            table = Table(path, pd.DataFrame({LIBSVM_LABEL: labels}), sp.csr_matrix(features))
        elif kind == ".parquet":
            table = Table(path, pd.read_parquet(path))
        else:
            table = Table(path, written.read(path, text), written=written)
    except UNREADABLE as error:
        otherwise = " If its columns are separated otherwise, say so: --separator."
        raise InputError(
            f"{path} cannot be read as {kind[1:]}: {error}. Check that the file is whole and of that kind."
            + otherwise * isinstance(error, pd.errors.ParserError)
        ) from error
    if not len(table):
        raise InputError(f"{path} holds no rows.")
    return table


def check_output_kind(path: Path) -> None:
    """Raise when rows cannot be written to a file of this name.

    Raises
    ------
    InputError
        When the extension is not .csv, .tsv or .parquet.
    """
    if path.suffix.lower() not in {*SEPARATORS, ".parquet"}:
        raise InputError(f"{path}: rows are written as .csv, .tsv or .parquet; choose one of these.")


def write_table(frame: pd.DataFrame | pa.Table, path: Path, written: TextFormat = AS_USUAL) -> None:
    """Write rows to a file by its extension, whole or not at all; text with the marks that ``written`` has.

    Raises
    ------
    InputError
        When the file cannot be written.
    """
    with writing(path), atomic_write(path) as beside:
        if isinstance(frame, pa.Table):
            pq.write_table(frame, beside)
        elif path.suffix.lower() == ".parquet":
            frame.to_parquet(beside, index=False)
        else:
            separator = written.separator_of(path)
            encoding = written.encoding or "utf-8"
            frame.to_csv(beside, sep=separator, decimal=written.point, encoding=encoding, index=False)
