"""Rows from a file: tables as they are written, with their columns as numbers or as text."""

from __future__ import annotations

import bz2
import csv
import gzip
import io
import json
import lzma
import re
import sys
import zipfile
import zlib
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.csv
import pyarrow.json
import pyarrow.parquet as pq
import scipy.sparse as sp
from numpy.typing import NDArray
from sklearn.datasets import load_svmlight_file

from pushrank.cli import options
from pushrank.cli.errors import InputError

STANDARD_STREAM = Path("-")
STANDARD_INPUT = Path("standard input")  # as messages call it
SEPARATORS = {".csv": ",", ".tsv": "\t"}
SEPARATOR_NAMES = {";": "';'", "\t": "tab", "|": "'|'", ",": "','"}
TEXT_FILES = {*SEPARATORS, ".txt"}
SHEETS = {".xlsx"}
JSON_FILES = {".json", ".jsonl", ".ndjson"}
SPARSE = {".libsvm", ".svmlight", ".svm"}
COMPRESSED = {".gz": gzip.open, ".bz2": bz2.open, ".xz": lzma.open}
READABLE = (
    "CSV, TSV and other separated text (.csv, .tsv, .txt, also with .gz or .zip; - is standard input), "
    "Excel (.xlsx), JSON (.json, .jsonl), Parquet (.parquet or a folder of such) or libsvm (.libsvm, "
    ".svmlight, .svm)"
)
SAMPLE_BYTES = 1 << 14  # in which the standard library looks for the separator
BLOCK_BYTES = 1 << 24  # what Arrow parses at a time, which must hold the longest row
LIBSVM_LABEL = "label"
TEXT = pd.ArrowDtype(pa.string())
FLOAT = pd.ArrowDtype(pa.float64())
MISSING = ["#N/A", "#N/A N/A", "#NA", "-1.#IND", "-1.#QNAN", "-NaN", "-nan", "1.#IND", "1.#QNAN", "<NA>",
           "N/A", "NA", "NULL", "NaN", "None", "n/a", "nan", "null"]  # fmt: skip
"""The cells that are missing numbers, as in pandas.read_csv. Beside text they are text: NA is Namibia."""
TRUTH_VALUES = {"true": 1.0, "false": 0.0}
# TypeError is what pandas raises of a file whose types it does not know
UNREADABLE = (
    OSError, ValueError, TypeError, KeyError, EOFError, csv.Error, zlib.error, lzma.LZMAError,
    zipfile.BadZipFile, pa.ArrowException,
)  # fmt: skip


def file_kind(path: Path) -> str:
    """Return the extension that says what a file is, without that of compression."""
    if path in (STANDARD_STREAM, STANDARD_INPUT):
        return ".csv"
    if path.is_dir():
        return ".parquet"
    endings = "|".join(re.escape(ending) for ending in (*COMPRESSED, ".zip"))
    return Path(re.sub(rf"({endings})$", "", path.name.lower())).suffix


def open_file(path: Path) -> Any:
    """Open a file for reading bytes, uncompressed by its extension; ``-`` is standard input."""
    if path == STANDARD_INPUT:
        return io.BytesIO(sys.stdin.buffer.read())
    if path.suffix.lower() == ".zip":
        archive = zipfile.ZipFile(path)
        if len(archive.namelist()) != 1:
            raise InputError(f"{path} holds {len(archive.namelist())} files; zip one alone.")
        return archive.open(archive.namelist()[0])
    opener: Any = COMPRESSED.get(path.suffix.lower(), open)
    return opener(path, "rb")


@dataclass(frozen=True)
class TextFormat:
    """How a text file is written, where not in UTF-8, with decimal points, and names in the first line."""

    separator: options.Separator = None
    encoding: options.Encoding = None
    decimal: options.Decimal = None
    thousands: options.Thousands = None
    units: options.Units = None
    na_values: options.NaValues = None
    skip_rows: options.SkipRows = 0
    no_header: options.NoHeader = False

    def check(self, path: Path) -> None:
        """Raise InputError when a file is no text file, or the encoding or a mark cannot be one."""
        kind = file_kind(path)
        for name, value in vars(self).items():
            of_sheets = name in ("units", "na_values", "skip_rows", "no_header") and kind in SHEETS
            if value and kind not in TEXT_FILES and not of_sheets:
                raise InputError(
                    f"--{name.replace('_', '-')} is for CSV, TSV and other text files, not for {path}."
                )
            if name in ("separator", "decimal", "thousands") and value is not None and len(value) != 1:
                raise InputError(f"--{name} must be one character, got {value!r}.")
        if self.thousands == (self.decimal or "."):
            raise InputError(
                f"--thousands {self.thousands!r} is the decimal mark, too; say which that is: --decimal."
            )
        try:
            "".encode(self.encoding or "utf-8")
        except LookupError as error:
            raise InputError(
                f"--encoding {self.encoding!r} is not known; utf-8, latin-1, cp1252 and utf-16 are."
            ) from error

    def read(self, path: Path) -> Table:
        """Return the rows, every cell as the text that it is in the file; empty cells are missing."""
        with open_file(path) as stream:
            head = stream.read(SAMPLE_BYTES) + stream.readline()
            stream.seek(0)
            text = head.decode(self.encoding or "utf-8-sig", errors="replace")
            lines = re.split(r"\r\n|\r|\n", text)[self.skip_rows :]
            stated = re.fullmatch(r"\ufeff?\"?sep=(.)\"?", lines[0]) if lines else None
            sample = "\n".join(lines[stated is not None :])
            separator = (
                self.separator
                or (stated and stated[1])
                or ("\t" if file_kind(path) == ".tsv" else sniffed_separator(sample))
            )
            first = next(filter(None, csv.reader(io.StringIO(sample), delimiter=separator)), None)
            if first is None:
                raise InputError(
                    f"{path} cannot be read as {file_kind(path)[1:]}: it is empty. Check that it is whole."
                )
            names = column_names(path, first, self.no_header)
            try:
                rows = _read_separated(
                    stream, separator, self.encoding, self.skip_rows + (stated is not None), len(names)
                )
            except (pa.ArrowInvalid, UnicodeError) as error:
                raise self._error(path, error, first) from error
        if rows.num_rows and any(str(column[-1]).endswith("\n") for column in rows.itercolumns()):
            raise InputError(
                f'{path}: a quotation mark (") is never closed, and takes in the last lines; close it.'
            )
        rows = rows.slice(not self.no_header).rename_columns(names)
        return Table(
            path, rows.to_pandas(types_mapper=pd.ArrowDtype), written=replace(self, separator=separator)
        )

    def _error(self, path: Path, error: Exception, first: list[str]) -> InputError:
        cells = re.search(r"(?:Row #(\d+): )?Expected (\d+) columns, got (\d+)", str(error))
        if cells:
            row, expected, n_cells = cells.groups()
            return InputError(
                f"{path}: row {row} has {n_cells} cells, where the first has {expected}; give every row "
                "as many cells as there are columns, or, if the names stand further down, skip what is above "
                f"them: --skip-rows{separator_hint(first)}."
            )
        if isinstance(error, UnicodeError) or "UTF8" in str(error):
            return InputError(
                f"{path} is not coded as {self.encoding or 'utf-8'} ({error}); say how it is: for example "
                "--encoding latin-1, cp1252 or utf-16."
            )
        return InputError(f"{path} cannot be read as text: {error}. Check that it is whole.")

    def read_sheet(self, path: Path) -> Table:
        """Return the rows of the first sheet of an Excel file, every cell as text."""
        if find_spec("openpyxl") is None:
            raise InputError(f"{path}: Excel files are read with openpyxl: pip install openpyxl.")
        cells = pd.read_excel(path, header=None, skiprows=self.skip_rows, dtype=object, na_filter=False)
        if not len(cells):
            raise InputError(f"{path} holds no rows.")
        texts = cells.map(lambda cell: None if cell in ("", None) else as_text(cell))
        names = column_names(path, texts.iloc[0].fillna("").tolist(), self.no_header)
        return Table(
            path, texts.iloc[int(not self.no_header) :].set_axis(names, axis=1).astype(TEXT), written=self
        )

    def plain(self, text: pd.Series) -> pd.Series:
        """Return text whose numbers are written with a decimal point, without units or marks of thousands."""
        text = text.str.strip()
        if self.units:
            text = text.astype(object).str.translate(str.maketrans("", "", self.units)).str.strip()
        if self.thousands is not None:
            # only where three digits follow, so that 1,25 is not taken for 125; \s are spaces of all kinds
            mark = r"\s" if self.thousands.isspace() else re.escape(self.thousands)
            text = text.astype(object).str.replace(rf"(?<=\d){mark}(?=\d{{3}}(?!\d))", "", regex=True)
        if self.decimal not in (None, "."):
            # the point and the mark change places: where the mark is a comma, 1.5 is no number
            swapped = str.maketrans({self.decimal: ".", ".": self.decimal})
            text = text.astype(object).str.translate(swapped)
        return text.astype(TEXT)


DEFAULT_FORMAT = TextFormat()


def sniffed_separator(sample: str) -> str:
    """Return what separates the columns of a sample; a comma where the standard library finds nothing."""
    try:
        found = csv.Sniffer().sniff(sample, ",;\t|").delimiter
    except csv.Error:
        return ","
    return found if found in next(filter(None, sample.split("\n"))) else ","


def column_names(path: Path, first: Sequence[str], no_header: bool) -> list[str]:
    """Return the names of the columns: those of the first row, or their numbers from 1."""
    if no_header:
        return [str(number) for number in range(1, len(first) + 1)]
    names = [name if name.strip() else f"Unnamed: {place}" for place, name in enumerate(first)]
    check_names(path, names)
    return names


def check_names(path: Path, names: Sequence[str]) -> None:
    """Raise InputError when two columns have the same name."""
    if len(set(names)) < len(names):
        twice = next(name for place, name in enumerate(names) if name in names[:place])
        raise InputError(f"{path} has more than one column {twice!r}; give each its own name.")


def _read_separated(
    stream: Any, separator: str, encoding: str | None, skip_rows: int, n_columns: int, *, fast: bool = True
) -> pa.Table:
    """Return all rows of a text file, the first included, as text; an error names the row."""
    names = [str(number) for number in range(n_columns)]
    try:
        return pyarrow.csv.read_csv(
            stream,
            pyarrow.csv.ReadOptions(
                use_threads=fast,
                block_size=BLOCK_BYTES,
                skip_rows=skip_rows,
                column_names=names,
                encoding=encoding or "utf8",
            ),
            pyarrow.csv.ParseOptions(delimiter=separator, newlines_in_values=True),
            pyarrow.csv.ConvertOptions(
                column_types=dict.fromkeys(names, pa.string()), strings_can_be_null=True, null_values=[""]
            ),
        )
    except pa.ArrowInvalid:
        if not fast:
            raise
        stream.seek(0)  # threads do not know which row it is
        return _read_separated(stream, separator, encoding, skip_rows, n_columns, fast=False)


@dataclass(frozen=True)
class Table:
    """Rows as they are in the file: text, the file's types, or a sparse matrix with labels."""

    path: Path
    frame: pd.DataFrame
    features: sp.csr_matrix | None = None
    written: TextFormat = DEFAULT_FORMAT
    _numbers: dict[str, tuple[NDArray[np.float64], bool]] = field(
        default_factory=dict, init=False, repr=False
    )

    def __len__(self) -> int:
        return len(self.frame)

    @property
    def is_sparse(self) -> bool:
        """Whether the rows came from a libsvm file."""
        return self.features is not None

    @cached_property
    def is_text(self) -> bool:
        """Whether the rows came from a text file or a sheet, where every cell is text."""
        return file_kind(self.path) in TEXT_FILES | SHEETS

    def where(self, kept: NDArray[np.bool_]) -> Table:
        """Return some of the rows, under their numbers in the file."""
        return replace(
            self, frame=self.frame[kept], features=None if self.features is None else self.features[kept]
        )

    def numbers(self, name: str) -> NDArray[np.float64]:
        """Return a column as floats; what is missing or no number is NaN."""
        return self._parsed(name)[0]

    def holds_numbers(self, name: str) -> bool:
        """Return whether all cells that are not missing can be read as numbers."""
        return self._parsed(name)[1]

    def is_numeric(self, name: str) -> bool:
        """Return whether a column is one of numbers; text in Parquet and JSON stays text."""
        return self.holds_numbers(name) and (self.is_text or is_number_type(self.frame[name].dtype))

    def _parsed(self, name: str) -> tuple[NDArray[np.float64], bool]:
        if name not in self._numbers:
            column = self.frame[name]
            if is_text_type(column.dtype):
                self._numbers[name] = self._parsed_text(column)
            else:
                is_number = is_number_type(column.dtype)
                values = column if is_number else pd.Series(np.nan, index=column.index, dtype=FLOAT)
                self._numbers[name] = values.to_numpy(np.float64, na_value=np.nan), is_number
        return self._numbers[name]

    def _parsed_text(self, column: pd.Series) -> tuple[NDArray[np.float64], bool]:
        if column.dtype != TEXT:  # encoded in a dictionary, or of large offsets
            column = column.astype(TEXT)
        marks = (
            self.written.decimal or ".",
            self.written.thousands,
            self.written.units,
            self.written.na_values,
        )
        if marks == (".", None, None, None) and (values := _as_floats(column)) is not None:
            return values, True
        column = self.written.plain(column.mask(self._is_empty(column)))
        column = column.mask(column.isin(["", *MISSING]))
        if (values := _as_floats(column)) is not None:
            return values, True
        truths = column.str.lower().map(TRUTH_VALUES)
        if (truths.notna() == column.notna()).all():
            return truths.to_numpy(np.float64, na_value=np.nan), True
        return pd.to_numeric(column.astype(object), errors="coerce").to_numpy(
            np.float64, na_value=np.nan
        ), False

    def _is_empty(self, column: pd.Series) -> pd.Series:
        """Return which cells of text hold nothing, or what stands for nothing."""
        return column.isna() | column.str.strip().isin(["", *(self.written.na_values or [])])

    def texts(self, name: str) -> pd.Series:
        """Return a column as text, NaN where missing; whole numbers have no decimal point."""
        column = self.frame[name]
        if self.is_text:
            return column.astype(object).mask(self._is_empty(column), np.nan)
        texts = column.astype(object).map(as_text, na_action="ignore")
        return texts.mask(column.isna(), np.nan).astype(object)

    def describe_columns(self) -> str:
        """Return which columns there are, and, where it seems so, that they are separated otherwise."""
        columns: list[str] = self.frame.columns.to_list()
        hint = separator_hint(columns) if self.is_text else ""
        return ", ".join(map(repr, columns[:20])) + ", ..." * (len(columns) > 20) + hint

    def describe_similar(self, name: str) -> str:
        """Return which column has a name that differs in nothing but case and blanks, if one has."""
        similar = [
            other for other in self.frame.columns if str(other).strip().casefold() == name.strip().casefold()
        ]
        return f" ({similar[0]!r} differs in case or blanks only; rename one of them)" if similar else ""


def _as_floats(column: pd.Series) -> NDArray[np.float64] | None:
    """Return a column of text as numbers, or None when a cell is no number."""
    try:
        values = pa.array(column.array).cast(pa.float64())
    except pa.ArrowInvalid:
        return None
    return np.asarray(values.to_numpy(zero_copy_only=False))


def separator_hint(names: Sequence[str]) -> str:
    """Return what to do where the one name of a text file seems to be several."""
    for mark, name in SEPARATOR_NAMES.items():
        if len(names) == 1 and mark in str(names[0]):
            return f". If {name} separates the columns, say so: --separator {name}"
    return ""


def is_number_type(dtype: Any) -> bool:
    """Return whether cells of this type are numbers or truth values."""
    is_decimal = isinstance(dtype, pd.ArrowDtype) and pa.types.is_decimal(dtype.pyarrow_dtype)
    return is_decimal or bool(pd.api.types.is_numeric_dtype(dtype) or pd.api.types.is_bool_dtype(dtype))


def is_text_type(dtype: Any) -> bool:
    """Return whether cells of this type are text, encoded in a dictionary or not."""
    kind = dtype.pyarrow_dtype
    if pa.types.is_dictionary(kind):
        kind = kind.value_type
    return bool(pa.types.is_string(kind) or pa.types.is_large_string(kind))


def as_text(value: Any) -> str:
    """Return a value as text; whole numbers have no decimal point, even where gaps made them floats."""
    if isinstance(value, float | np.floating) and float(value).is_integer():
        return str(int(value))
    return str(value)


def read_table(
    path: Path,
    written: TextFormat = DEFAULT_FORMAT,
    n_features: int | None = None,
    *,
    may_be_empty: bool = False,
) -> Table:
    """Read a file by its extension; a libsvm file with `n_features`, where that is known.

    Raises
    ------
    InputError
        When the file is missing, unreadable, of an unknown kind, or empty where it may not be.
    """
    if path == STANDARD_STREAM:
        path = STANDARD_INPUT
    kind = file_kind(path)
    if kind not in {*TEXT_FILES, *SHEETS, *JSON_FILES, *SPARSE, ".parquet"}:
        raise InputError(f"{path}: the kind of file is not known; pushrank reads {READABLE}.")
    if path != STANDARD_INPUT and not path.exists():
        raise InputError(f"{path} does not exist.")
    if path.is_dir() and not any(path.rglob("*.parquet")):
        raise InputError(f"{path} is a folder without .parquet files; give the name of a file.")
    written.check(path)
    try:
        table = _read_kind(path, kind, written, n_features)
    except UNREADABLE as error:
        raise InputError(
            f"{path} cannot be read as {kind[1:]}: {error}. Check that the file is whole and of that kind."
        ) from error
    if not len(table) and not may_be_empty:
        raise InputError(f"{path} holds no rows.")
    return table


def _read_kind(path: Path, kind: str, written: TextFormat, n_features: int | None) -> Table:
    if kind in TEXT_FILES:
        return written.read(path)
    if kind in SHEETS:
        return written.read_sheet(path)
    if kind in SPARSE:
        features, labels = load_svmlight_file(str(path), n_features=n_features)
        return Table(path, pd.DataFrame({LIBSVM_LABEL: labels}).astype(FLOAT), sp.csr_matrix(features))
    if kind in JSON_FILES:
        with open_file(path) as stream:
            content = stream.read()
        if content.lstrip()[:1] == b"[":  # an array of objects, of which Arrow reads one a line
            content = "\n".join(json.dumps(row) for row in json.loads(content)).encode()
        rows = pyarrow.json.read_json(io.BytesIO(content))
    else:
        if path.is_file():
            check_names(path, pq.read_schema(path).names)
        # pandas' index is no column, and its own types have no place for gaps in whole numbers
        rows = pq.read_table(path).replace_schema_metadata(None)
    return Table(path, rows.to_pandas(types_mapper=pd.ArrowDtype))
