"""Where a data set comes from: the local data folder first, else OpenML; both end in the same frame."""

from __future__ import annotations

import os
from collections import Counter
from http.client import HTTPException
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
from sklearn.datasets import fetch_openml

from pushrank.datasets._catalogue import WHOLE, DataSet
from pushrank.exceptions import DatasetFormatError, DatasetNotFoundError

DATA_VARIABLE = "PUSHRANK_DATA"

# A row id that OpenML counts among the columns of some versions of a set.
_ROW_IDS = ("ID", "id")


def read(record: DataSet, data_home: str | os.PathLike[str] | None) -> tuple[pd.DataFrame, str]:
    """Return the rows of a data set in canonical form, and where they came from.

    The frame has the features of the record (float64, or object holding strings and NaN), ``label``
    (strings, or float64 where the label is a number), ``split`` where the source has one, and the
    record's extra columns.

    Raises
    ------
    DatasetNotFoundError
        When the file is not in the data folder and OpenML has no such set or cannot be reached.
    DatasetFormatError
        When what was found is damaged or is another set.
    """
    folder = data_home if data_home is not None else os.environ.get(DATA_VARIABLE) or None
    path = None if folder is None else Path(folder).expanduser() / record.file
    if path is not None and path.is_file():
        frame, source = _from_parquet(record, path), str(path)
    else:
        looked_in = _describe_folder(path, given=data_home is not None)
        frame, source = (
            _from_openml(record, data_home, looked_in),
            f"https://www.openml.org/d/{record.openml}",
        )
    return _checked(record, frame, source), source


def _describe_folder(path: Path | None, *, given: bool) -> str:
    if path is None:
        return f"the environment variable {DATA_VARIABLE} is not set"
    name = "data_home" if given else DATA_VARIABLE
    missing = f"no {path.name} in it" if path.parent.is_dir() else "no such folder"
    return f"{name} is {path.parent} ({missing})"


def _from_parquet(record: DataSet, path: Path) -> pd.DataFrame:
    try:
        raw = pd.read_parquet(path).reset_index(drop=True)
    except (OSError, ValueError, pa.ArrowException) as error:
        raise DatasetFormatError(
            f"{path} cannot be read as a Parquet file ({_one_line(error)}). The file is damaged, cut short "
            "or not readable: copy it again, or remove it to have the set from OpenML where OpenML has it."
        ) from error
    features = [name for name in record.features if name in raw.columns]
    named = [*record.label_columns, *(("split",) if record.splits else ()), *record.extra]
    absent = [column for column in named if column not in raw.columns]
    if absent:
        raise DatasetFormatError(
            f"{path} has no column {absent}; it is not the data set {record.name!r}. Its columns begin "
            f"{list(map(str, raw.columns[:5]))}."
        )
    # Files without a header at the origin number their columns; these are renamed by position.
    complete = len(features) == len(record.features)
    inputs = raw[features] if complete else raw.drop(columns=named)
    label = raw["label"] if record.label_columns else None
    others = {column: raw[column] for column in named if column != "label"}
    return _canonical(record, inputs, label, str(path)).assign(**others)


def _from_openml(record: DataSet, data_home: str | os.PathLike[str] | None, looked_in: str) -> pd.DataFrame:
    todo = f"set {DATA_VARIABLE} to a folder that holds {record.file}"
    if record.openml is None:
        raise DatasetNotFoundError(
            f"Data set {record.name!r} was not found: {looked_in}, and OpenML has no copy of it that agrees "
            f"with {record.file}. What to do: {todo}. Origin: {record.reference}"
        )
    try:
        fetched = fetch_openml(
            data_id=record.openml, data_home=data_home, as_frame=not record.openml_sparse, parser="auto"
        )
    except (OSError, ValueError, HTTPException) as error:
        raise DatasetNotFoundError(
            f"Data set {record.name!r} was not found: {looked_in}, and OpenML's data set {record.openml} "
            f"could not be fetched ({_one_line(error)}). What to do: {todo}, or connect to the internet."
        ) from error
    data, label = fetched.data, fetched.target
    if record.openml_sparse:
        data, label = pd.DataFrame(data.toarray()), pd.Series(label)
    features = data.drop(columns=[column for column in _ROW_IDS if column in data.columns])
    frame = _canonical(record, features, label, f"OpenML's data set {record.openml}")
    if record.openml_blocks and len(frame) == record.rows:
        names, sizes = zip(*record.openml_blocks, strict=True)
        frame["split"] = np.repeat(names, sizes)
        # The files hold the training rows first.
        frame = pd.concat([frame[frame["split"] == split] for split in record.splits], ignore_index=True)
    return frame


def _canonical(record: DataSet, features: pd.DataFrame, label: pd.Series | None, where: str) -> pd.DataFrame:
    """Rename the features by position; make numbers float64, and text object with NaN where it is missing."""
    if features.shape[1] != len(record.features):
        raise DatasetFormatError(
            f"{where} has {features.shape[1]} feature columns, the data set {record.name!r} has "
            f"{len(record.features)}; it is another version or another set."
        )
    frame = features.set_axis(list(record.features), axis=1).reset_index(drop=True)
    try:
        columns = {
            name: _text(frame[name]) if name in record.text else pd.to_numeric(frame[name]).astype(np.float64)
            for name in record.features
        }
        if label is not None:
            label = label.reset_index(drop=True)
            columns["label"] = (
                pd.to_numeric(label).astype(np.float64)
                if record.numeric_label
                else label.astype(str).str.strip().str.rstrip(".").astype(object)
            )
    except (TypeError, ValueError) as error:
        raise DatasetFormatError(
            f"{where} has text where the data set {record.name!r} has numbers ({_one_line(error)})."
        ) from error
    return pd.DataFrame(columns)


def _text(column: pd.Series) -> pd.Series:
    text = column.astype(object)
    return text.where(text.notna() & (text != "?"), np.nan)


def _checked(record: DataSet, frame: pd.DataFrame, source: str) -> pd.DataFrame:
    """Compare the rows and the classes with what the catalogue knows, so that both sources give one set."""
    if len(frame) != record.rows:
        raise DatasetFormatError(
            f"{source} has {len(frame)} rows, the data set {record.name!r} has {record.rows}; it is another "
            "version or was cut short."
        )
    for split, expected in record.counts.items():
        if not expected:
            continue
        rows = frame if split == WHOLE else frame[frame["split"] == split]
        found = dict(Counter(rows["label"]))
        if found != dict(expected):
            part = "" if split == WHOLE else f" in split {split!r}"
            raise DatasetFormatError(
                f"{source} has the label counts {found}{part}, the data set {record.name!r} has "
                f"{dict(expected)}; it is another version or another set."
            )
    return frame


def _one_line(error: BaseException) -> str:
    return f"{type(error).__name__}: {' '.join(str(error).split())}"[:300]
