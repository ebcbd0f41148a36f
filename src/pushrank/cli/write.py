"""Files that commands write: whole or not at all, and never over files of other programs."""

from __future__ import annotations

import codecs
import os
import platform
import re
import sys
import zipfile
from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager
from decimal import Decimal
from importlib.metadata import version
from importlib.util import find_spec
from io import BytesIO
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pushrank._base.files import atomic_write
from pushrank.cli.errors import InputError, warn
from pushrank.cli.source.format import DEFAULT_FORMAT, SEPARATORS, SHEETS, TextFormat
from pushrank.cli.source.open import STANDARD_STREAM, file_kind, listed, open_file

if TYPE_CHECKING:
    import pandas as pd

MODELS_WRITTEN = (".skops",)
CONFIGS_WRITTEN = (".toml",)
REPORTS_WRITTEN = (".html", ".htm")
TABLES_WRITTEN = (".csv", ".tsv", ".parquet", ".xlsx")
CELLS_TYPED = (".parquet", ".xlsx")
RESULTS_WRITTEN = (*TABLES_WRITTEN, ".tex")
FIGURES_WRITTEN = (".pdf", ".svg", ".png")
SIGNATURE = {b"written by": b"pushrank"}
"""Metadata of the Parquet files that commands write; the creator of Excel files is pushrank, too."""
OUR_COLUMNS = (
    r"^((?:pushrank_)*rank)(.)(?:pushrank_)*score\b|^model(.)measure.part.value\s*$"
    r"|^(model.against.measure.figure.low.high.p_value.note\s*$|brought_by.champion_score.challenger_score\b)"
)
"""The first line of a table that a command wrote, by whatever it is separated."""
MAX_EXCEL_TEXT = 32_767


@contextmanager
def writing(path: Path) -> Iterator[None]:
    """Turn an OSError of the block, a failure to write, into an InputError."""
    try:
        yield
    except OSError as error:
        raise InputError(f"{path} cannot be written: {error.strerror or error}.") from error


def check_output(
    path: Path | None, kinds: Sequence[str], inputs: Collection[Path | None], *, force: bool
) -> None:
    """Raise InputError before any work starts when a result must not or could not be written."""
    if path is None or (path == STANDARD_STREAM and kinds is TABLES_WRITTEN):
        return
    if path.is_dir():
        raise InputError(f"{path} is a folder; give the name of a file.")
    kind = file_kind(path)
    if kind not in kinds or (path.suffix.lower() != kind and kind not in SEPARATORS):
        choices = " or ".join(filter(None, [", ".join(kinds[:-1]), kinds[-1]]))
        raise InputError(f"{path}: the result is written as {choices}; choose such a name.")
    if not path.parent.is_dir():
        raise InputError(f"the folder {path.parent} does not exist; make it first, or choose another.")
    # Files are written under another name and then moved, for which the folder must be open to writing.
    if not os.access(path.parent, os.W_OK | os.X_OK):
        raise InputError(f"the folder {path.parent} cannot be written to; choose another.")
    if kind in SHEETS and find_spec("openpyxl") is None:
        raise InputError(f"{path}: Excel files are written with openpyxl: pip install openpyxl.")
    # Two paths may lead to one file, by way of a link for example, which may not be there yet.
    if any(other is not None and path.resolve() == other.resolve() for other in inputs) or any(
        other is not None and path.exists() and other.exists() and path.samefile(other) for other in inputs
    ):
        raise InputError(f"{path} is an input, which the result would replace; choose another name.")
    if path.exists() and not (force or _is_ours(path, kind)):
        raise InputError(
            f"{path} exists and was not written by pushrank; choose another name, or replace it: --force."
        )


def _is_ours(path: Path, kind: str) -> bool:
    """Return whether an existing file is of the kind that a command of pushrank writes."""
    import pandas as pd
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        if kind in MODELS_WRITTEN:
            with zipfile.ZipFile(path) as archive:
                return b"pushrank" in archive.read("schema.json")
        if kind in REPORTS_WRITTEN:
            return '<meta name="generator" content="pushrank">' in path.read_text(encoding="utf-8")
        if kind == ".tex" or kind in CONFIGS_WRITTEN + FIGURES_WRITTEN:
            return b"written by pushrank" in path.read_bytes()
        if kind == ".parquet":
            return SIGNATURE.items() <= (pq.read_schema(path).metadata or {}).items()
        if kind in SHEETS:
            with zipfile.ZipFile(path) as archive:
                return b"creator>pushrank<" in archive.read("docProps/core.xml")
        with open_file(path) as stream:
            start = stream.read(1 << 20)
        marks = {b"\xef\xbb\xbf": "utf-8-sig", b"\xff\xfe": "utf-16", b"\xfe\xff": "utf-16"}
        # In Latin-1 every byte is a letter: no encoding is refused, and names of our columns are ASCII.
        encoding = next((of for mark, of in marks.items() if start.startswith(mark)), "latin-1")
        header = re.search(OUR_COLUMNS, start.decode(encoding, errors="ignore").partition("\n")[0])
        if header is None or header[4]:
            return header is not None
        # Other programs write columns of these names, too, but seldom with such a first row.
        rank, start = ("part", 0) if header[3] else (header[1], 1)
        first = pd.read_csv(path, sep=header[2] or header[3], nrows=1, encoding=encoding)
        return bool((first[rank] == start).all())
    # A file that cannot be read as its name says was not written by a command.
    except (OSError, ValueError, LookupError, zipfile.BadZipFile, pa.ArrowException):
        return False


def write_page(data: Any, path: Path) -> None:
    """Write a report, whole or not at all."""
    from pushrank.report import write_report

    with writing(path):
        write_report(data, path)


def versions() -> str:
    """Return the versions of what makes a report."""
    packages = ", ".join(f"{name} {version(name)}" for name in ("pushrank", "scikit-learn", "numpy"))
    return f"{packages}, Python {platform.python_version()}"


def write_table(frame: pd.DataFrame, path: Path, text_format: TextFormat = DEFAULT_FORMAT) -> None:
    """Write rows to a file by its extension, whole or not at all, and text in a format."""
    from pushrank.cli.source.table import odd_spelt_out

    kind = path.suffix.lower()
    if kind != ".parquet" and (odd := odd_spelt_out(frame)):
        warn(f"lists, bytes and the like are written as Python shows them, in the columns {listed(odd)}.")
        frame = frame.assign(**odd)
    # Parquet and Excel files say which cells are texts, so that none is run as a formula.
    if kind not in CELLS_TYPED:
        _warn_of_formulas(frame)
    if path == STANDARD_STREAM:
        # Whole or not at all, and where a pipe cannot be asked for its place UTF-16 would lack its mark.
        _write_text(frame, path, content := BytesIO(), text_format)
        sys.stdout.buffer.write(content.getvalue())
        return
    with writing(path), atomic_write(path) as draft:
        if kind == ".parquet":
            import pyarrow as pa
            import pyarrow.parquet as pq

            rows = pa.Table.from_pandas(frame, preserve_index=False)
            metadata = SIGNATURE | {b"version": version("pushrank").encode()}
            pq.write_table(rows.replace_schema_metadata(metadata), draft, write_page_checksum=True)
        elif kind in SHEETS:
            _write_sheet(frame, draft)
        else:
            _write_text(frame, path, draft, text_format)


def _write_text(frame: pd.DataFrame, path: Path, to: Any, text_format: TextFormat) -> None:
    """Write separated text to a file or a stream of bytes, every character as it is."""
    separator = text_format.separator or SEPARATORS.get(file_kind(path), ",")
    how: dict[str, Any] = {"decimal": text_format.decimal or ".", "encoding": text_format.encoding or "utf-8"}
    try:
        frame.to_csv(to, mode="wb", sep=separator, index=False, errors=_plus_minus.__name__, **how)
    except UnicodeEncodeError as error:
        what = f"{error.encoding} has no {error.object[error.start]!r}"
        raise InputError(f"{path} cannot be written: {what}; write .parquet or .xlsx.") from error


def _plus_minus(error: Any) -> tuple[str, int]:
    """Return two characters for the sign of a standard error, of which few encodings have one."""
    if error.object[error.start] == "±":
        return "+-", error.start + 1
    raise error


codecs.register_error(_plus_minus.__name__, _plus_minus)


def write_figure(figure: Any, path: Path) -> None:
    """Write a figure of matplotlib, whole or not at all, for a paper: letters stay letters."""
    import matplotlib as mpl

    # PNG has a keyword of its standard for this; PDF and SVG call it Creator.
    key = {".png": "Software"}.get(path.suffix.lower(), "Creator")
    # By default matplotlib draws letters as outlines in SVG and as Type 3 in PDF, which cannot be edited.
    fonts = {"svg.fonttype": "none", "pdf.fonttype": 42}
    with writing(path), atomic_write(path) as draft, mpl.rc_context(fonts):
        figure.savefig(draft, dpi=300, metadata={key: "written by pushrank"})


def _warn_of_formulas(frame: pd.DataFrame) -> None:
    """Warn of texts that a spreadsheet would run, as it runs what is no number and begins as a formula."""
    import pandas as pd

    kinds = {f"column {name!r}": frame[name] for name in frame.select_dtypes(exclude="number")}
    for where, cells in {"the first line": pd.Series([*frame], dtype=object), **kinds}.items():
        texts = cells.dropna().astype(str)
        # Blanks and tabs before it do not always hinder a spreadsheet, nor do wide letters.
        texts = texts[texts.str.match(r"\s*[=+\-@＝＋－＠]")]
        # A negative number begins with a minus sign and is no formula.
        texts = texts[~texts.str.fullmatch(r"\s*[+-][\s\d.,'%]*(?:[eE][+-]?\d+)?")]
        if len(texts):
            several = f"{len(texts):,} text{'s' * (len(texts) > 1)} such as {texts.iloc[0]!r}"
            run = "which a spreadsheet that opens the file would run as formulas"
            warn(f"{where} holds {several}, {run}; in .xlsx they are written as texts.")


def _write_sheet(frame: pd.DataFrame, path: Path) -> None:
    """Write an Excel file in which every text is text, and whole, and no number loses digits."""
    import pandas as pd
    from openpyxl.utils.exceptions import IllegalCharacterError

    for name in frame:
        cells = frame[name].astype(object)
        # Excel keeps 15 digits of a number, by which two identifiers may become one.
        if any(isinstance(cell, int | Decimal) and Decimal(f"{cell:.15g}") != cell for cell in cells):
            frame = frame.assign(**{str(name): cells.map(str, na_action="ignore")})
        longest = max((len(cell) for cell in cells if isinstance(cell, str)), default=0)
        if longest > MAX_EXCEL_TEXT:
            what = f"Excel cannot hold the {longest:,} characters of a text in column {name!r}"
            raise InputError(f"{what}, but {MAX_EXCEL_TEXT:,}; write .csv or .parquet, or leave it out.")
    try:
        with pd.ExcelWriter(path, engine="openpyxl") as writer:
            frame.to_excel(writer, index=False)
            writer.book.properties.creator = "pushrank"
            for cell in chain.from_iterable(writer.book.active.iter_rows()):
                # A text that begins with an equals sign would be run as a formula.
                if cell.data_type == "f":
                    cell.data_type = "s"
    except (ValueError, IllegalCharacterError) as error:
        raise InputError(f"Excel cannot hold these rows ({error}); write .csv or .parquet.") from error
