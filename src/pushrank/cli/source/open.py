"""Headers: what a file is, and what its columns are called, without an import that takes long."""

import codecs
import csv
import gzip
import io
import re
import shlex
import sys
import zipfile
import zlib
from collections.abc import Iterable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, NamedTuple
from unicodedata import normalize

from pushrank.cli.errors import InputError
from pushrank.cli.source.format import TextFormat

STANDARD_STREAM = Path("-")
# What messages call the file whose name is "-".
STANDARD_INPUT = Path("standard input")
SEPARATORS = {".csv": ",", ".tsv": "\t"}
TEXT_FILES = {*SEPARATORS, ".txt"}
SHEETS = {".xlsx"}
SPARSE = {".libsvm", ".svmlight", ".svm"}
READ_BY_PANDAS = {
    ".json": "read_json({path!r})", ".jsonl": "read_json({path!r}, lines=True)",
    ".ndjson": "read_json({path!r}, lines=True)", ".csv": "read_csv({path!r})",
    ".tsv": "read_csv({path!r}, sep='\\t')", ".xls": "read_excel({path!r})",
}  # fmt: skip
"""Files that pandas reads, also in archives of many kinds, and writes as Parquet."""
READABLE = (
    "CSV, TSV and other separated text (.csv, .tsv, .txt, also with .gz or .zip; - is standard input), "
    "Excel (.xlsx), Parquet (.parquet or a folder of such) or libsvm (.libsvm, .svmlight, .svm)"
)
SIGNATURES = {
    b"\x1f\x8b\x08": "compressed by gzip; unpack it, or let the name of text end in .gz",
    rb"BZh\d1AY&SY": "compressed by bzip2, which is not read here; unpack it: bunzip2",
    rb"\xfd7zXZ\0": "compressed by xz, which is not read here; unpack it: unxz",
    rb"\(\xb5/\xfd": "compressed by zstd, which is not read here; unpack it: zstd -d",
    rb"PK\x03\x04": "an Excel file or an archive; let its name end in .xlsx or .zip",
    rb"\xd0\xcf\x11\xe0": "an old or an encrypted file of Excel; save it as .xlsx",
    rb"PAR1[\x15-\x1c]": "a Parquet file; let its name end in .parquet",
}
"""First bytes of files that are no text, and what to do where a name does not say so."""
# pandas raises TypeError for a file whose types it does not support.
UNREADABLE = (
    OSError, EOFError, LookupError, TypeError, ValueError, csv.Error, zlib.error, zipfile.BadZipFile,
    OverflowError,
)  # fmt: skip
# The separator is looked for in this much of a file.
SAMPLE_BYTES = 1 << 14
SEPARATOR_NAMES = {";": "';'", "\t": "tab", "|": "'|'", ",": "','"}
DATE_PART = re.compile(r"(.+) \((hour|weekday|days since 1970)\)")
"""The columns of numbers that dates become, which are not in the file themselves."""


def check_exists(path: Path, what_to_do: str = "") -> None:
    """Raise InputError where there is no file or folder of a name."""
    if not path.exists():
        raise InputError(f"{path} does not exist{what_to_do}.")


def normal(value: Any) -> Any:
    """Return a text, or each of several, in the form NFC: two ways to write ä look the same on a screen."""
    if isinstance(value, list):
        return [normal(part) for part in value]
    return normalize("NFC", value) if isinstance(value, str) else value


def check_signature(path: Path, kind: str, first: bytes) -> None:
    """Raise InputError where the first bytes of a file show that it is of another kind."""
    for signature, what in SIGNATURES.items():
        if re.match(signature, first) and kind not in what:
            raise InputError(f"{path} is {what}.")


def file_kind(path: Path) -> str:
    """Return the extension that says what a file is, without that of compression."""
    if path in (STANDARD_STREAM, STANDARD_INPUT):
        return ".csv"
    if path.is_dir():
        return ".parquet"
    return Path(re.sub(r"\.(gz|zip)$", "", path.name.lower())).suffix


def as_readable(path: Path) -> str:
    """Return the command that makes a file of another kind readable, or an empty text."""
    name = re.sub(r"\.(gz|zip|zst)$", "", path.name.lower())
    read, written = READ_BY_PANDAS.get(Path(name).suffix), str(path.with_name(f"{Path(name).stem}.parquet"))
    if module := {".bz2": "bz2", ".xz": "lzma"}.get(path.suffix.lower()):
        copied = (
            f"shutil.copyfileobj({module}.open({str(path)!r}), open({str(path.with_suffix(''))!r}, 'wb'))"
        )
        return f" Unpack it: python -c {shlex.quote(f'import {module}, shutil; {copied}')}"
    if read is None:
        return ""
    line = f"import pandas; pandas.{read.format(path=str(path))}.to_parquet({written!r})"
    return f" Make a Parquet file of it: python -c {shlex.quote(line)}"


def kind_of_rows(path: Path) -> str:
    """Return the kind of a file of rows, or raise InputError where it is none, or there is no such file."""
    kind = file_kind(path)
    if kind not in {*TEXT_FILES, *SHEETS, *SPARSE, ".parquet"}:
        raise InputError(f"{path} is no file that pushrank reads, which are {READABLE}.{as_readable(path)}")
    if path != STANDARD_INPUT:
        check_exists(path)
    if path.is_dir() and not any(path.rglob("*.parquet")):
        raise InputError(f"{path} is a folder without .parquet files; give the name of a file.")
    return kind


def open_file(path: Path) -> Any:
    """Open a file for reading bytes, uncompressed by its extension; ``-`` is standard input."""
    if path == STANDARD_INPUT:
        # The head of a stream is read twice, and a pipe cannot be rewound.
        return io.BytesIO(sys.stdin.buffer.read())
    if path.suffix.lower() == ".zip":
        archive = zipfile.ZipFile(path)
        # macOS adds a hidden copy of what its Finder knows of a file.
        names = [name for name in archive.namelist() if not name.startswith("__MACOSX/")]
        if len(names) != 1:
            raise InputError(f"{path} holds {len(names)} files; zip one alone.")
        return archive.open(names[0])
    return gzip.open(path, "rb") if path.suffix.lower() == ".gz" else path.open("rb")


def _sniffed_separator(sample: str) -> str:
    """Return what separates the columns of a sample; a comma where the standard library finds nothing."""
    with suppress(csv.Error):
        separator = csv.Sniffer().sniff(sample, ",;\t|").delimiter
        # The sniffer may settle on a mark that stands within cells, and not between the names.
        if separator in next(filter(None, sample.split("\n"))):
            return separator
    return ","


def column_names(path: Path, first: Sequence[str], no_header: bool) -> list[str]:
    """Return the names of the columns: those of the first row, or their numbers from 1."""
    if no_header:
        return [str(number) for number in range(1, len(first) + 1)]
    # A column without a name is called as pandas calls it, which a warning knows as numbers of rows.
    names = [name if name.strip() else f"Unnamed: {position}" for position, name in enumerate(first)]
    return check_names(path, names)


def check_names(path: Path, names: Iterable[str]) -> list[str]:
    """Return names in the normal form, or raise InputError when two columns have the same name."""
    names = [normal(str(name)) for name in names]
    if len(set(names)) < len(names):
        twice = next(name for position, name in enumerate(names) if name in names[:position])
        raise InputError(f"{path} has more than one column {twice!r}; give each its own name.")
    return names


class TextHead(NamedTuple):
    """How a text file is written, and the names of its columns; ``n_above`` lines stand above its rows."""

    encoding: str | None
    separator: str
    n_above: int
    first: list[str]
    names: list[str]


def read_head(stream: Any, path: Path, kind: str, text_format: TextFormat) -> TextHead:
    """Return what the first lines of a text file say, where options do not; the stream is rewound."""
    # The line that the sample ends in is read to its end: cut off, it would have fewer cells than others.
    head = stream.read(SAMPLE_BYTES) + stream.readline()
    stream.seek(0)
    check_signature(path, kind, head)
    encoding, skip_rows = text_format.encoding, text_format.skip_rows
    # UTF-16 is known by its first bytes: as UTF-8 a file was refused for rows that it does not have.
    if encoding is None and head.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        encoding = "utf-16"
    # Wrong bytes are no error yet: what reads the rows refuses them, and says which encoding was tried.
    text = head.decode(encoding or "utf-8-sig", errors="replace")
    lines = re.split(r"\r\n|\r|\n", text)[skip_rows:]
    # Excel writes and reads a first line such as sep=; that names the separator.
    stated = re.fullmatch(r"\ufeff?\"?sep=(.)\"?", lines[0]) if lines else None
    sample = "\n".join(lines[stated is not None :])
    separator = text_format.separator or (stated and stated[1])
    if not separator:
        separator = "\t" if kind == ".tsv" else _sniffed_separator(sample)
    first = next(filter(None, csv.reader(io.StringIO(sample), delimiter=separator)), None)
    if first is None:
        raise InputError(f"{path} cannot be read as {kind[1:]}: it is empty. Check that it is whole.")
    if any("\0" in cell for cell in first):
        raise InputError(
            f"{path} holds NUL characters in its first line; if it is UTF-16, say so: --encoding utf-16-le "
            "or utf-16-be."
        )
    names = column_names(path, first, text_format.no_header)
    return TextHead(encoding, separator, skip_rows + (stated is not None), first, names)


class Header(NamedTuple):
    """The names of a file's columns, and whether it is a text file, which may be separated otherwise."""

    path: Path
    names: Sequence[str]
    is_text: bool

    def check(self, name: str, option: str) -> None:
        """Raise InputError unless there is a column that an option names."""
        if name not in self.names:
            similar = self.describe_similar(name)
            raise InputError(f"--{option} {name!r} is no column of {self.path}{similar}; it has {self}.")

    def check_model_columns(self, model_columns: Sequence[str]) -> None:
        """Raise InputError unless all columns that a model was fitted on are there, or the dates of parts."""
        model_columns = [normal(name) for name in model_columns]
        columns, parts = set(self.names), map(DATE_PART.fullmatch, model_columns)
        columns |= {part[0] for part in parts if part and part[1] in columns}
        missing = [name for name in model_columns if name not in columns]
        if missing:
            shown = listed(f"{name!r}{self.describe_similar(name)}" for name in missing)
            raise InputError(
                f"{self.path} lacks the column{'s' * (len(missing) > 1)} {shown} that the model was fitted "
                f"on; it has {self}."
            )

    def __str__(self) -> str:
        """Return which columns there are, and, where it seems so, that they are separated otherwise."""
        hint = separator_hint(self.names) if self.is_text else ""
        return ", ".join(map(repr, self.names[:20])) + ", ..." * (len(self.names) > 20) + hint

    def describe_similar(self, name: str) -> str:
        """Return which column has a name that differs in nothing but case and blanks, if one has."""
        wanted = name.strip().casefold()
        similar = [other for other in self.names if str(other).strip().casefold() == wanted]
        return f" ({similar[0]!r} differs in case or blanks only; rename one of them)" if similar else ""


def read_header(path: Path, text_format: TextFormat) -> Header | None:
    """Return the names of a file's columns, if it is text or Parquet that can be read at once."""
    kind = file_kind(path)
    # A damaged file, or a wrong separator or encoding, is refused by what reads the rows, in its own words.
    with suppress(*UNREADABLE):
        if kind in TEXT_FILES:
            with open_file(path) as stream:
                return Header(path, read_head(stream, path, kind, text_format).names, is_text=True)
        if kind == ".parquet" and path.is_file():
            from pyarrow.parquet import read_schema

            return Header(path, check_names(path, read_schema(path).names), is_text=False)
    return None


def separator_hint(names: Sequence[str]) -> str:
    """Return what to do where the only name of a text file seems to be several."""
    for mark, name in SEPARATOR_NAMES.items():
        if len(names) == 1 and mark in str(names[0]):
            return f". If {name} separates the columns, say so: --separator {name}"
    return ""


def listed(items: Iterable[str]) -> str:
    """Return at most ten items, and how many more there are."""
    items = [*items]
    return ", ".join(items[:10]) + f" and {len(items) - 10:,} more" * (len(items) > 10)
