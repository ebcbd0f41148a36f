"""Tables in and out: CSV, TSV, Parquet and libsvm files."""

from __future__ import annotations

import zlib
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import scipy.sparse as sp
from sklearn.datasets import load_svmlight_file

from pushrank._atomic import written_whole
from pushrank.cli.errors import InputError, writing

SEPARATORS = {".csv": ",", ".tsv": "\t"}
SPARSE = {".libsvm", ".svmlight", ".svm"}
READABLE = "CSV (.csv, .csv.gz), TSV (.tsv), Parquet (.parquet) or libsvm (.libsvm, .svmlight, .svm)"
LIBSVM_LABEL = "label"
LARGEST = 1e150
"""Scaling squares and adds up a column's numbers; those of larger ones would overflow."""
UNREADABLE = (
    OSError,
    ValueError,
    EOFError,
    zlib.error,
    pa.ArrowException,
    pd.errors.ParserError,
    pd.errors.EmptyDataError,
)


@dataclass(frozen=True)
class Table:
    """Rows with their features: a data frame, or a sparse matrix with labels from a libsvm file."""

    path: Path
    frame: pd.DataFrame
    features: sp.csr_matrix | None = None

    def __len__(self) -> int:
        return len(self.frame)

    @property
    def is_sparse(self) -> bool:
        """Whether the rows came from a libsvm file."""
        return self.features is not None


def _suffix(path: Path) -> str:
    return "".join(path.suffixes[-2:] if path.suffix == ".gz" else path.suffixes[-1:]).lower()


def read_table(path: Path, n_features: int | None = None) -> Table:
    """Read a file by its extension.

    Parameters
    ----------
    path : Path
        A file whose name ends in .csv, .tsv, .parquet, .libsvm, .svmlight or .svm; text also in .gz.
    n_features : int, optional
        The number of features a libsvm file should have, if known.

    Raises
    ------
    InputError
        When the file is missing, unreadable, empty, or of an unknown kind.
    """
    suffix = _suffix(path)
    kind = suffix.removesuffix(".gz")
    if kind not in {*SEPARATORS, *SPARSE, ".parquet"}:
        raise InputError(f"{path}: the kind of file is not known; pushrank reads {READABLE}.")
    if not path.exists():
        raise InputError(f"{path} does not exist.")
    if path.is_dir():
        raise InputError(f"{path} is a folder; give the name of a file.")
    try:
        if kind in SPARSE:
            features, labels = load_svmlight_file(str(path), n_features=n_features)
            table = Table(path, pd.DataFrame({LIBSVM_LABEL: labels}), sp.csr_matrix(features))
        elif kind == ".parquet":
            table = Table(path, pd.read_parquet(path))
        else:
            table = Table(path, pd.read_csv(path, sep=SEPARATORS[kind]))
    except UNREADABLE as error:
        raise InputError(
            f"{path} cannot be read as {kind[1:]}: {error}. Check that the file is whole and of that kind."
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


def write_table(frame: pd.DataFrame, path: Path) -> None:
    """Write rows to a file by its extension, whole or not at all.

    Raises
    ------
    InputError
        When the file cannot be written.
    """
    with writing(path), written_whole(path) as beside:
        if path.suffix.lower() == ".parquet":
            frame.to_parquet(beside, index=False)
        else:
            frame.to_csv(beside, sep=SEPARATORS[path.suffix.lower()], index=False)


def feature_frame(table: Table, numeric: list[str], categorical: list[str]) -> Any:
    """Return the features that a model was fitted on, in its types.

    Raises
    ------
    InputError
        When a column is missing, holds infinity or numbers too large to scale, or text where numbers are
        needed.
    """
    if table.is_sparse:
        return table.features
    wanted = numeric + categorical
    missing = [name for name in wanted if name not in table.frame.columns]
    if missing:
        raise InputError(
            f"{table.path} lacks the column{'s' * (len(missing) > 1)} {', '.join(map(repr, missing))} that "
            f"the model was fitted on; it has {', '.join(map(repr, table.frame.columns[:20]))}."
        )
    columns: dict[str, Any] = {}
    for name in numeric:
        columns[name] = _numbers(table, name)
    for name in categorical:
        column = table.frame[name]
        columns[name] = column.map(str, na_action="ignore").astype(object).where(column.notna(), np.nan)
    return pd.DataFrame(columns, index=table.frame.index)


def _numbers(table: Table, name: str) -> Any:
    column = table.frame[name]
    numbers = pd.to_numeric(column, errors="coerce").astype(np.float64)
    bad = numbers.isna() & column.notna()
    if bad.any():
        raise InputError(
            f"column {name!r} of {table.path} must hold numbers, as where the model was fitted; row "
            f"{int(np.flatnonzero(bad)[0]) + 1} holds {column[bad].iloc[0]!r}."
        )
    if np.isinf(numbers).any():
        row = int(np.flatnonzero(np.isinf(numbers))[0]) + 1
        raise InputError(f"column {name!r} of {table.path} holds infinity in row {row}; replace or drop it.")
    if (numbers.abs() > LARGEST).any():
        row = int(np.flatnonzero(numbers.abs() > LARGEST)[0])
        raise InputError(
            f"column {name!r} of {table.path} holds {numbers.iloc[row]:g} in row {row + 1}, too large to "
            f"compute with (more than {LARGEST:g}); divide the column or take its logarithm."
        )
    return numbers
