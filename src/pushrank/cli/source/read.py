"""Files: rows of every kind of file as a table, with every cell as it is in the file."""

import codecs
import re
from collections.abc import Sequence
from dataclasses import replace
from decimal import Decimal
from importlib.util import find_spec
from pathlib import Path
from reprlib import repr as shortened
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv
import pyarrow.parquet as pq
import scipy.sparse as sp

import pushrank.cli.source.open as header
from pushrank.cli.errors import InputError, warn
from pushrank.cli.source.format import DEFAULT_FORMAT, MARKS, TextFormat, stated
from pushrank.cli.source.open import SHEETS, SPARSE, TEXT_FILES, UNREADABLE
from pushrank.cli.source.table import FLOAT, LIBSVM_LABEL, QUERY, Table, as_text

# Arrow parses blocks of this size, and a block must hold the longest row.
BLOCK_BYTES = 1 << 24
# A model of more features than there are numbers in the file has more than enough weights.
MAX_INDEX = 1 << 24
# By this many of its last bytes a file shows whether its last cell ends within quotation marks.
TAIL_BYTES = 1000
NAMED = {*TEXT_FILES, *SHEETS, ".parquet"}
SERVED = {
    **dict.fromkeys(MARKS, ("files with named columns", NAMED)),
    **dict.fromkeys(("skip_rows", "no_header"), ("CSV, TSV and Excel files", TEXT_FILES | SHEETS)),
    "date_order": ("all files", NAMED | SPARSE), "sheet": ("Excel files", SHEETS),
    "index_base": ("libsvm files", SPARSE),
}  # fmt: skip
"""Which files an option is for that is not for text files alone."""


def read_table(
    path: Path,
    text_format: TextFormat = DEFAULT_FORMAT,
    n_features: int | None = None,
    *,
    may_be_empty: bool = False,
) -> Table:
    """Read a file by its extension, a libsvm file with ``n_features`` if given, or raise InputError."""
    if path == header.STANDARD_STREAM:
        path = header.STANDARD_INPUT
    kind = header.kind_of_rows(path)
    _check_format(text_format, path, kind)
    try:
        if path.is_file():
            with header.open_file(path) as stream:
                header.check_signature(path, kind, stream.read(16))
        if kind in TEXT_FILES:
            table = _read_text(path, kind, text_format)
        elif kind in SHEETS:
            table = _read_sheet(path, text_format)
        elif kind in SPARSE:
            table = _read_sparse(path, text_format, n_features)
        else:
            # Arrow's types keep whole numbers next to gaps, of which pandas makes floats.
            frame = _read_parquet(path).to_pandas(types_mapper=pd.ArrowDtype)
            table = Table(path, frame, text_format=text_format)
    except (*UNREADABLE, pa.ArrowException) as error:
        raise InputError(
            f"{path} cannot be read as {kind[1:]}: {error}. Check that the file is whole and of that kind."
        ) from error
    if not len(table) and not may_be_empty:
        raise InputError(f"{path} holds no rows.")
    return table


def _check_format(text_format: TextFormat, path: Path, kind: str) -> None:
    """Raise InputError when an option is for other files, or an encoding or a mark cannot be one."""
    for name in stated(text_format):
        kinds, served = SERVED.get(name, ("CSV, TSV and other text files", TEXT_FILES))
        if kind not in served:
            raise InputError(f"--{name.replace('_', '-')} is for {kinds}, not for {path}.")
        value = getattr(text_format, name)
        if name in ("separator", "decimal", "thousands") and len(value) != 1:
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


def _read_sparse(path: Path, text_format: TextFormat, n_features: int | None) -> Table:
    """Return the rows of a libsvm file, whose indices begin at 0 where one is 0, and else at 1."""
    from sklearn.datasets import load_svmlight_file

    matrix, labels, queries = load_svmlight_file(str(path), zero_based=True, query_id=True)
    features, has_zero = sp.csr_matrix(matrix), bool((matrix.indices == 0).any())
    base = int(not has_zero) if text_format.index_base is None else text_format.index_base
    if has_zero and base == 1:
        raise InputError(f"{path} holds the index 0, where indices were to begin at 1: --index-base 0.")
    features = features[:, base:]
    if n_features is not None:
        if features.shape[1] > n_features:
            last = features.shape[1] - 1 + base
            raise InputError(f"{path} holds the index {last}, and the last known is {n_features - 1 + base}.")
        features.resize((features.shape[0], n_features))
    elif features.shape[1] > max(MAX_INDEX, features.nnz):
        raise InputError(
            f"{path} holds the index {features.shape[1] - 1 + base}, which would take a weight for each "
            "index up to it; number the features that occur."
        )
    if not np.isfinite(features.data).all():
        row = np.searchsorted(features.indptr, np.argmin(np.isfinite(features.data)), side="right")
        raise InputError(f"{path} holds a number that is not finite in row {row}; leave it out.")
    frame = pd.DataFrame({LIBSVM_LABEL: labels}).astype(FLOAT)
    if len(queries):
        if len(queries) != len(frame):
            raise InputError(
                f"{path} has qid: in {len(queries):,} of its {len(frame):,} rows; give it in all."
            )
        frame[QUERY] = pd.array(queries, dtype=pd.ArrowDtype(pa.int64()))
        warn(f"rows of all queries (qid:) of {path} make one list; to test by query: --group qid.")
    return Table(path, frame, features, text_format=replace(text_format, index_base=base))


def _read_parquet(path: Path) -> pa.Table:
    files = pq.ParquetDataset(path, page_checksum_verification=True)
    first, *others = files.fragments
    for other in others:
        # Arrow would leave out what the first file of a folder lacks, and have gaps where another does.
        if odd := sorted({*first.physical_schema.names} ^ {*other.physical_schema.names}):
            raise InputError(f"{first.path} and {other.path} differ in column {odd[0]!r}; give all the same.")
    names = header.check_names(path, files.schema.names)
    # The metadata hold pandas' index, which is no column, and its types, which have no gaps in integers.
    rows = files.read().replace_schema_metadata(None)
    return pa.table([_with_plain_type(column) for column in rows.columns], names=names)


def _with_plain_type(column: pa.ChunkedArray) -> pa.ChunkedArray:
    """Return a column whose type says no more than what its cells are: texts, numbers or others."""
    types, kind = pa.types, column.type
    if types.is_run_end_encoded(kind):
        return _with_plain_type(pa.chunked_array(map(pc.run_end_decode, column.chunks), kind.value_type))
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


def _column_of(name: str, cells: Sequence[Any]) -> pa.Array:
    """Return cells of one type as an array, and whole numbers of any length exactly."""
    kinds = {type(cell) for cell in cells if cell is not None}
    if not kinds:
        return pa.nulls(len(cells), pa.float64())
    if not kinds <= {int, float} and len(kinds) > 1:
        places = {type(cell): row for row, cell in reversed([*enumerate(cells, 1)]) if cell is not None}
        first = sorted(places.values())[:2]
        shown = " and ".join(f"{shortened(cells[row - 1])} in row {row:,}" for row in first)
        raise InputError(f"{name} holds {shown}; write all of its cells in one way.")
    try:
        return pa.array(cells, from_pandas=True)
    except (OverflowError, pa.ArrowInvalid):
        if kinds == {int}:
            return pa.array([None if cell is None else Decimal(cell) for cell in cells])
        return pa.array([None if cell is None else float(cell) for cell in cells])


def _read_sheet(path: Path, text_format: TextFormat) -> Table:
    """Return the rows of a sheet: numbers in columns of numbers alone, all other cells as text."""
    if find_spec("openpyxl") is None:
        raise InputError(f"{path}: Excel files are read with openpyxl: pip install openpyxl.")
    with pd.ExcelFile(path, engine="openpyxl") as book:
        sheets = header.listed(map(repr, book.sheet_names))
        if text_format.sheet is None and len(book.sheet_names) > 1:
            raise InputError(f"{path} has the sheets {sheets}; say which holds the rows: --sheet NAME.")
        name = text_format.sheet or book.sheet_names[0]
        if name not in book.sheet_names:
            raise InputError(f"{path} has no sheet {name!r}; it has {sheets}.")
        # By default pandas would make floats of whole numbers among gaps, and gaps of texts such as NA.
        how = {"header": None, "skiprows": text_format.skip_rows, "dtype": object, "na_filter": False}
        cells = pd.read_excel(book, name, **how)
    if not len(cells):
        raise InputError(f"{path} holds no rows.")
    cells = cells.astype(object).where(cells.notna() & (cells != ""), None)
    first = ["" if cell is None else as_text(cell) for cell in cells.iloc[0]]
    names = header.column_names(path, first, text_format.no_header)
    rows = cells.iloc[int(not text_format.no_header) :].set_axis(names, axis=1)
    columns = {}
    for column in names:
        values = rows[column].tolist()
        if {type(cell) for cell in values if cell is not None} - {int, float}:
            values = [None if cell is None else _written(cell, text_format) for cell in values]
        columns[column] = _column_of(column, values)
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


def _read_text(path: Path, kind: str, text_format: TextFormat) -> Table:
    """Return the rows, every cell as the text that it is in the file; empty cells are missing."""
    with header.open_file(path) as stream:
        head = header.read_head(stream, path, kind, text_format)
        found: dict[str, Any] = {"separator": head.separator, "encoding": head.encoding}
        text_format = replace(text_format, skip_rows=head.n_above, **found)
        try:
            rows, is_open = _read_separated(stream, head)
        except (pa.ArrowInvalid, UnicodeError) as error:
            raise _text_error(path, error, head.first, text_format) from error
    if is_open:
        raise InputError(
            f'{path}: a quotation mark (") is never closed, and takes in the last lines; close it.'
        )
    frame = rows.slice(not text_format.no_header).rename_columns(head.names)
    frame = frame.to_pandas(types_mapper=pd.ArrowDtype)
    return Table(path, frame, is_text=True, text_format=text_format)


def _read_separated(stream: Any, head: header.TextHead) -> tuple[pa.Table, bool]:
    """Return all rows of a text file, the first included, as text, and whether a quotation is left open."""
    # The parser of pandas takes four times as long, and fills rows that are too short without an error.
    names = [str(number) for number in range(len(head.names))]
    # By default Arrow takes a line break within quotation marks for the end of a row.
    parse = pyarrow.csv.ParseOptions(delimiter=head.separator, newlines_in_values=True)
    # Cells are written again as they were read: parsed as a number, 1.50 would become 1.5. Only an empty cell
    # is missing in every column: NA among texts is Namibia.
    convert = pyarrow.csv.ConvertOptions(
        column_types=dict.fromkeys(names, pa.string()), strings_can_be_null=True, null_values=[""]
    )
    # Several threads do not know the number of the row that an error is in: a single thread reads again.
    for use_threads in (True, False):
        blocks = _Blocks(stream, head.encoding)
        read = pyarrow.csv.ReadOptions(
            use_threads=use_threads, block_size=BLOCK_BYTES, skip_rows=head.n_above, column_names=names
        )
        try:
            rows = pyarrow.csv.read_csv(blocks, read, parse, convert)
        except pa.ArrowInvalid:
            if not use_threads:
                raise
        else:
            break
    return rows, bool(rows.num_rows) and blocks.ends_in_quotes(rows.columns[-1][-1].as_py())


def _text_error(path: Path, error: Exception, first: list[str], text_format: TextFormat) -> InputError:
    cells = re.search(r"(?:Row #(\d+): )?Expected (\d+) columns, got (\d+)", str(error))
    if cells:
        row, expected, n_cells = cells.groups()
        return InputError(
            f"{path}: row {row} has {n_cells} cells, where the first has {expected}; give every row "
            "as many cells as there are columns, or, if the names stand further down, skip what is above "
            f"them: --skip-rows{header.separator_hint(first)}."
        )
    if isinstance(error, UnicodeError) or "UTF8" in str(error):
        return InputError(
            f"{path} is not coded as {text_format.encoding or 'utf-8'} ({error}); say how it is: for example "
            "--encoding latin-1, cp1252 or utf-16."
        )
    return InputError(f"{path} cannot be read as text: {error}. Check that it is whole.")
