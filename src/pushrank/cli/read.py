"""Files: rows of every kind of file as a table, with every cell as it is in the file."""

import csv
import io
import json
import lzma
import re
import zipfile
import zlib
from dataclasses import replace
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pandas as pd
import pyarrow as pa
import pyarrow.csv
import pyarrow.json
import pyarrow.parquet as pq
import scipy.sparse as sp

from pushrank.cli.errors import InputError
from pushrank.cli.header import (
    JSON_FILES,
    SHEETS,
    SPARSE,
    STANDARD_INPUT,
    STANDARD_STREAM,
    TEXT_FILES,
    check_names,
    column_names,
    kind_of_rows,
    open_file,
    read_head,
    separator_hint,
)
from pushrank.cli.table import FLOAT, LIBSVM_LABEL, TEXT, Table, as_text
from pushrank.cli.text_format import DEFAULT_FORMAT, TextFormat

# Arrow parses blocks of this size, and a block must hold the longest row.
BLOCK_BYTES = 1 << 24
# pandas raises TypeError for a file whose types it does not support.
UNREADABLE = (
    OSError, ValueError, TypeError, KeyError, EOFError, csv.Error, zlib.error, lzma.LZMAError,
    zipfile.BadZipFile, pa.ArrowException,
)  # fmt: skip


def read_table(
    path: Path,
    text_format: TextFormat = DEFAULT_FORMAT,
    n_features: int | None = None,
    *,
    may_be_empty: bool = False,
) -> Table:
    """Read a file by its extension, a libsvm file with ``n_features`` if given, or raise InputError."""
    if path == STANDARD_STREAM:
        path = STANDARD_INPUT
    kind = kind_of_rows(path)
    _check_format(text_format, path, kind)
    try:
        table = _read_kind(path, kind, text_format, n_features)
    except UNREADABLE as error:
        raise InputError(
            f"{path} cannot be read as {kind[1:]}: {error}. Check that the file is whole and of that kind."
        ) from error
    if not len(table) and not may_be_empty:
        raise InputError(f"{path} holds no rows.")
    # Texts may hold dates in files of any kind.
    return replace(table, text_format=replace(table.text_format, date_order=text_format.date_order))


def read_rows(
    path: Path,
    text_format: TextFormat,
    n_features: int | None,
    *,
    sparse: bool,
    may_be_empty: bool = False,
) -> Table:
    """Read rows of the kind that a model was fitted on."""
    table = read_table(path, text_format, n_features, may_be_empty=may_be_empty)
    if table.is_sparse != sparse:
        wanted = "a libsvm file" if sparse else "a table with named columns"
        raise InputError(f"{path}: the model was fitted on {wanted}; give it rows of that kind.")
    return table


def _check_format(text_format: TextFormat, path: Path, kind: str) -> None:
    """Raise InputError when a file is no text file, or the encoding or a mark cannot be one."""
    for name, value in vars(text_format).items():
        serves_sheets = name in ("units", "na_values", "skip_rows", "no_header") and kind in SHEETS
        if value and kind not in TEXT_FILES and not serves_sheets and name != "date_order":
            option = f"--{name.replace('_', '-')}"
            raise InputError(f"{option} is for CSV, TSV and other text files, not for {path}.")
        if name in ("separator", "decimal", "thousands") and value is not None and len(value) != 1:
            raise InputError(f"--{name} must be one character, got {value!r}.")
    if text_format.thousands == (text_format.decimal or "."):
        raise InputError(
            f"--thousands {text_format.thousands!r} is the decimal mark, too; say which that is: --decimal."
        )
    try:
        "".encode(text_format.encoding or "utf-8")
    except LookupError as error:
        raise InputError(
            f"--encoding {text_format.encoding!r} is not known; utf-8, latin-1, cp1252 and utf-16 are."
        ) from error


def _read_kind(path: Path, kind: str, text_format: TextFormat, n_features: int | None) -> Table:
    if kind in TEXT_FILES:
        return _read_text(path, kind, text_format)
    if kind in SHEETS:
        return _read_sheet(path, text_format)
    if kind in SPARSE:
        from sklearn.datasets import load_svmlight_file

        features, labels = load_svmlight_file(str(path), n_features=n_features)
        return Table(path, pd.DataFrame({LIBSVM_LABEL: labels}).astype(FLOAT), sp.csr_matrix(features))
    if kind in JSON_FILES:
        with open_file(path) as stream:
            content = stream.read()
        # Arrow reads an object a line, so that an array of objects is written out like that first.
        if content.lstrip()[:1] == b"[":
            content = "\n".join(json.dumps(row) for row in json.loads(content)).encode()
        rows = pyarrow.json.read_json(io.BytesIO(content))
    else:
        if path.is_file():
            check_names(path, pq.read_schema(path).names)
        # The metadata hold pandas' index, which is no column, and its types, which have no gaps in integers.
        rows = pq.read_table(path).replace_schema_metadata(None)
    # Arrow's types keep whole numbers beside gaps, of which pandas makes floats.
    return Table(path, rows.to_pandas(types_mapper=pd.ArrowDtype))


def _read_sheet(path: Path, text_format: TextFormat) -> Table:
    """Return the rows of the first sheet of an Excel file, every cell as text."""
    if find_spec("openpyxl") is None:
        raise InputError(f"{path}: Excel files are read with openpyxl: pip install openpyxl.")
    # By default pandas would make floats of whole numbers beside gaps, and gaps of texts such as NA.
    cells = pd.read_excel(path, header=None, skiprows=text_format.skip_rows, dtype=object, na_filter=False)
    if not len(cells):
        raise InputError(f"{path} holds no rows.")
    texts = cells.map(lambda cell: None if cell in ("", None) else as_text(cell))
    names = column_names(path, texts.iloc[0].fillna("").tolist(), text_format.no_header)
    rows = texts.iloc[int(not text_format.no_header) :].set_axis(names, axis=1).astype(TEXT)
    return Table(path, rows, is_text=True, text_format=text_format)


def _read_text(path: Path, kind: str, text_format: TextFormat) -> Table:
    """Return the rows, every cell as the text that it is in the file; empty cells are missing."""
    with open_file(path) as stream:
        head = read_head(stream, path, kind, text_format)
        text_format = replace(text_format, separator=head.separator, encoding=head.encoding)
        read = pyarrow.csv.ReadOptions(
            block_size=BLOCK_BYTES,
            skip_rows=head.n_above,
            column_names=[str(number) for number in range(len(head.names))],
            encoding=head.encoding or "utf8",
        )
        try:
            rows = _read_separated(stream, head.separator, read)
        except (pa.ArrowInvalid, UnicodeError) as error:
            raise _text_error(path, error, head.first, text_format) from error
    # Arrow reads on from an open quotation mark without an error, so that the last cell ends in a line break.
    if rows.num_rows and any(str(column[-1]).endswith("\n") for column in rows.itercolumns()):
        open_quote = 'a quotation mark (") is never closed, and takes in the last lines; close it.'
        raise InputError(f"{path}: {open_quote}")
    frame = rows.slice(not text_format.no_header).rename_columns(head.names)
    frame = frame.to_pandas(types_mapper=pd.ArrowDtype)
    return Table(path, frame, is_text=True, text_format=text_format)


def _read_separated(stream: Any, separator: str, read: pyarrow.csv.ReadOptions) -> pa.Table:
    """Return all rows of a text file, the first included, as text; an error names the row."""
    # By default Arrow takes a line break within quotation marks for the end of a row.
    parse = pyarrow.csv.ParseOptions(delimiter=separator, newlines_in_values=True)
    # Cells are written again as they were read: parsed as a number, 1.50 would become 1.5.
    types = dict.fromkeys(read.column_names, pa.string())
    # Only an empty cell is missing in every column: NA among texts is Namibia.
    convert = pyarrow.csv.ConvertOptions(column_types=types, strings_can_be_null=True, null_values=[""])
    try:
        return pyarrow.csv.read_csv(stream, read, parse, convert)
    except pa.ArrowInvalid:
        # Several threads do not know the number of the row that an error is in: a single thread reads again.
        stream.seek(0)
        read.use_threads = False
        return pyarrow.csv.read_csv(stream, read, parse, convert)


def _text_error(path: Path, error: Exception, first: list[str], text_format: TextFormat) -> InputError:
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
            f"{path} is not coded as {text_format.encoding or 'utf-8'} ({error}); say how it is: for example "
            "--encoding latin-1, cp1252 or utf-16."
        )
    return InputError(f"{path} cannot be read as text: {error}. Check that it is whole.")
