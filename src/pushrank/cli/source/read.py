"""Rows of every kind of file as a table, with every cell as it is in the file."""

import codecs
import re
from dataclasses import replace
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pandas as pd
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet as pq

from pushrank.cli.errors import InputError
from pushrank.cli.source.format import SHEETS, TEXT_FILES, TextFormat
from pushrank.cli.source.open import UNREADABLE, Head, Source, check_names, listed, separator_hint
from pushrank.cli.source.table import Table, as_text

# Arrow parses blocks of this size, and a block must hold the longest row.
BLOCK_BYTES = 1 << 24
# By this many of its last bytes a file shows whether its last cell ends within quotation marks.
TAIL_BYTES = 1000


def read_rows(source: Source) -> Table:
    """Return the rows of a file by its kind, or raise InputError."""
    try:
        if source.kind in TEXT_FILES:
            return _read_text(source)
        if source.path.is_file():
            with source.open() as stream:
                source.check_signature(stream.read(16))
        if source.kind in SHEETS:
            return _read_sheet(source)
        # Arrow's types keep whole numbers next to gaps, of which pandas makes floats.
        frame = _read_parquet(source.path).to_pandas(types_mapper=pd.ArrowDtype)
        return Table(source.path, frame, text_format=source.text_format)
    except (*UNREADABLE, pa.ArrowException) as error:
        why = f"{error}. Check that the file is whole and of that kind"
        raise InputError(f"{source.path} cannot be read as {source.kind[1:]}: {why}.") from error


def _read_parquet(path: Path) -> pa.Table:
    files = pq.ParquetDataset(path, page_checksum_verification=True)
    first, *others = files.fragments
    for other in others:
        # Arrow would leave out what the first file of a folder lacks, and have gaps where another does.
        if odd := sorted({*first.physical_schema.names} ^ {*other.physical_schema.names}):
            raise InputError(f"{first.path} and {other.path} differ in column {odd[0]!r}; give all the same.")
    names = check_names(path, files.schema.names)
    # The metadata hold pandas' index, which is no column, and its types, which have no gaps in integers.
    rows = files.read().replace_schema_metadata(None)
    return pa.table([_with_plain_type(column) for column in rows.columns], names=names)


def _with_plain_type(column: pa.ChunkedArray) -> pa.ChunkedArray:
    """Return a column whose type says no more than what its cells are: texts, numbers or others."""
    types, kind = pa.types, column.type
    if types.is_null(kind):
        return column.cast(pa.float64())
    # Keys of folders such as year=2024 are dictionaries of numbers; those of texts are read as they are.
    if types.is_dictionary(kind) and not types.is_string(kind.value_type):
        return _with_plain_type(column.cast(kind.value_type))
    is_bytes = types.is_binary, types.is_large_binary, types.is_binary_view, types.is_fixed_size_binary
    if types.is_string_view(kind) or any(is_it(kind) for is_it in is_bytes):
        try:
            return column.cast(pa.string())
        except pa.ArrowInvalid:
            # These bytes are no text, and only a command that needs this column refuses it.
            return column
    return column


def _read_sheet(source: Source) -> Table:
    """Return the rows of a sheet: numbers in columns of numbers alone, all other cells as text."""
    path, text_format = source.path, source.text_format
    if find_spec("openpyxl") is None:
        raise InputError(f"{path}: Excel files are read with openpyxl: pip install openpyxl.")
    with pd.ExcelFile(path, engine="openpyxl") as book:
        sheets = listed(map(repr, book.sheet_names))
        if text_format.sheet is None and len(book.sheet_names) > 1:
            raise InputError(f"{path} has the sheets {sheets}; say which holds the rows: --read sheet=NAME.")
        name = text_format.sheet or book.sheet_names[0]
        if name not in book.sheet_names:
            raise InputError(f"{path} has no sheet {name!r}; it has {sheets}.")
        # By default pandas would make floats of whole numbers among gaps, and gaps of texts such as NA.
        how = {"header": None, "skiprows": text_format.skip, "dtype": object, "na_filter": False}
        cells = pd.read_excel(book, name, **how)
    if not len(cells):
        raise InputError(f"{path} holds no rows.")
    cells = cells.astype(object).where(cells.notna() & (cells != ""), None)
    names = source.column_names(["" if cell is None else as_text(cell) for cell in cells.iloc[0]])
    rows = cells.iloc[int(text_format.header) :].set_axis(names, axis=1)
    columns = {}
    for column in names:
        values = rows[column].tolist()
        if {type(cell) for cell in values if cell is not None} - {int, float}:
            values = [None if cell is None else _written(cell, text_format) for cell in values]
        try:
            cells = pa.array(values, from_pandas=True)
        except (OverflowError, pa.ArrowInvalid):
            # Whole numbers of more than 64 bits, or of 53 among fractions: Excel itself keeps 15 digits.
            cells = pa.array([None if cell is None else float(cell) for cell in values])
        columns[column] = cells.cast(pa.float64()) if pa.types.is_null(cells.type) else cells
    frame = pa.table(columns).to_pandas(types_mapper=pd.ArrowDtype).set_axis(rows.index)
    return Table(path, frame, is_text=True, text_format=text_format)


def _written(cell: Any, text_format: TextFormat) -> str:
    """Return a cell as text, a number with the decimal mark of the texts near it."""
    text = as_text(cell)
    return text.replace(".", text_format.decimal or ".") if isinstance(cell, float) else text


class _Blocks:
    """A stream in UTF-8 of which no block ends in a carriage return."""

    # Arrow would drop the line feed that the next block begins with, within quotation marks, too.

    closed = False

    def __init__(self, stream: Any, encoding: str | None) -> None:
        stream.seek(0)
        self.stream = codecs.EncodedFile(stream, "utf-8", encoding) if encoding else stream
        self.held = self.tail = b""

    def read(self, size: int) -> bytes:
        """Return at most this many bytes, and none at the end."""
        block = self.held + self.stream.read(size - len(self.held))
        whole = block.rstrip(b"\r") or block
        self.held = block[len(whole) :]
        self.tail = (self.tail + whole)[-TAIL_BYTES:]
        return whole

    def ends_in_quotes(self, cell: str | None) -> bool:
        """Return whether the last cell of all began with a quotation mark that was never closed."""
        text = (cell or "").replace('"', '""').encode()
        may_be_quoted = len(text) < TAIL_BYTES or b"\n" in text or b"\r" in text
        return bool(text) and may_be_quoted and self.tail.endswith((b'"' + text)[-TAIL_BYTES:])


def _read_text(source: Source) -> Table:
    """Return the rows, every cell as the text that it is in the file; empty cells are missing."""
    path, head = source.path, source.head
    with source.open() as stream:
        try:
            rows, is_open = _read_separated(stream, head)
        except (pa.ArrowInvalid, UnicodeError) as error:
            raise _text_error(path, error, head) from error
    if is_open:
        why = 'a quotation mark (") is never closed, and takes in the last lines; close it'
        raise InputError(f"{path}: {why}.")
    frame = rows.slice(int(source.text_format.header)).rename_columns(head.names)
    # Rows are written again as they were read.
    written: dict[str, Any] = {"separator": head.separator, "encoding": head.encoding}
    text_format = replace(source.text_format, **written)
    return Table(path, frame.to_pandas(types_mapper=pd.ArrowDtype), is_text=True, text_format=text_format)


def _read_separated(stream: Any, head: Head, *, use_threads: bool = True) -> tuple[pa.Table, bool]:
    """Return all rows of a text file, the first included, as text, and whether a quotation is left open."""
    # The parser of pandas takes four times as long, and fills rows that are too short without an error.
    # Arrow reads UTF-8 itself, with a byte order mark or without.
    encoding = None if head.encoding == "utf-8-sig" else head.encoding
    blocks, names = _Blocks(stream, encoding), [str(number) for number in range(len(head.names))]
    read = pyarrow.csv.ReadOptions(
        use_threads=use_threads, block_size=BLOCK_BYTES, skip_rows=head.n_above, column_names=names
    )
    # By default Arrow takes a line break within quotation marks for the end of a row.
    parse = pyarrow.csv.ParseOptions(delimiter=head.separator, newlines_in_values=True)
    # Cells are written again as they were read: parsed as a number, 1.50 would become 1.5. Only an empty cell
    # is missing in every column: NA among texts is Namibia.
    convert = pyarrow.csv.ConvertOptions(
        column_types=dict.fromkeys(names, pa.string()), strings_can_be_null=True, null_values=[""]
    )
    try:
        rows = pyarrow.csv.read_csv(blocks, read, parse, convert)
    except pa.ArrowInvalid:
        if use_threads:
            # Several threads do not know the number of the row that an error is in.
            return _read_separated(stream, head, use_threads=False)
        raise
    return rows, bool(rows.num_rows) and blocks.ends_in_quotes(rows.columns[-1][-1].as_py())


def _text_error(path: Path, error: Exception, head: Head) -> InputError:
    if cells := re.search(r"(?:Row #(\d+): )?Expected (\d+) columns, got (\d+)", str(error)):
        row, expected, n_cells = cells.groups()
        how = (
            "give every row as many cells as there are columns, or, if the names stand further down, say how"
        )
        how = f"{how} many lines to skip: --read skip=N{separator_hint(head.names)}"
        return InputError(f"{path}: row {row} has {n_cells} cells, where the first has {expected}; {how}.")
    if isinstance(error, UnicodeError) or "UTF8" in str(error):
        how = "--read encoding=cp1252, or latin-1, or utf-16"
        return InputError(
            f"{path} is not coded as {head.encoding or 'utf-8'} ({error}); say how it is: {how}."
        )
    return InputError(f"{path} cannot be read as text: {error}. Check that it is whole.")
