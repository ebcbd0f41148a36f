"""Files of rows: what they are, and what their columns are called, without an import that takes long."""

import codecs
import csv
import gzip
import io
import lzma
import re
import shlex
import sys
import zipfile
import zlib
from collections.abc import Iterable, Sequence
from contextlib import suppress
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple
from unicodedata import normalize

from pushrank.cli.errors import InputError
from pushrank.cli.source.format import DEFAULT_FORMAT, NAMES, READABLE, TEXT_FILES, TextFormat, nearest

if TYPE_CHECKING:
    from pushrank.cli.source.table import Table

STANDARD_STREAM = Path("-")
# What messages call the file whose name is "-".
STANDARD_INPUT = Path("standard input")
SVMLIGHT = ("from sklearn.datasets import load_svmlight_file as load; import pandas; X, y = load({path!r}); "
            "pandas.DataFrame(X.toarray()).add_prefix('x').assign(label=y)")  # fmt: skip
AS_FRAME = {
    ".json": "import pandas; pandas.read_json({path!r})",
    **dict.fromkeys((".jsonl", ".ndjson"), "import pandas; pandas.read_json({path!r}, lines=True)"),
    ".xls": "import pandas; pandas.read_excel({path!r})",
    **dict.fromkeys((".libsvm", ".svmlight", ".svm"), SVMLIGHT),
}
"""How pandas reads files of other kinds, also in archives, to write them as Parquet."""
UNPACKED_BY = {".bz2": "bunzip2", ".xz": "unxz", ".zst": "zstd -d"}
KINDS = ("CSV, TSV and other separated text (.csv, .tsv, .txt, also with .gz or .zip; - is standard input), "
         "Excel (.xlsx) or Parquet (.parquet or a folder of such)")  # fmt: skip
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
UNREADABLE = (OSError, EOFError, LookupError, TypeError, ValueError, csv.Error, zlib.error,
              zipfile.BadZipFile, lzma.LZMAError, OverflowError)  # fmt: skip
# The separator is looked for in this much of a file.
SAMPLE_BYTES = 1 << 14
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


def listed(items: Iterable[str]) -> str:
    """Return at most ten items, and how many more there are."""
    items = [*items]
    return ", ".join(items[:10]) + f" and {len(items) - 10:,} more" * (len(items) > 10)


def file_kind(path: Path) -> str:
    """Return the extension that says what a file is, without that of compression."""
    if path in (STANDARD_STREAM, STANDARD_INPUT):
        return ".csv"
    if path.is_dir():
        return ".parquet"
    return Path(re.sub(r"\.(gz|zip)$", "", path.name.lower())).suffix


def open_file(path: Path) -> Any:
    """Open a file for reading bytes, uncompressed by its extension."""
    if path.suffix.lower() == ".zip":
        archive = zipfile.ZipFile(path)
        # macOS adds a hidden copy of what its Finder knows of a file.
        names = [name for name in archive.namelist() if not re.match("__MACOSX/|.*/$", name)]
        if len(names) != 1:
            raise InputError(f"{path} holds {len(names)} files; zip one alone.")
        try:
            return archive.open(names[0])
        except RuntimeError as error:
            # It has a password, or is compressed in a way that Python does not know.
            raise InputError(f"{path}: {error}; unpack it by another program.".replace(".;", ";")) from error
    return gzip.open(path, "rb") if path.suffix.lower() == ".gz" else path.open("rb")


def as_readable(path: Path) -> str:
    """Return the command that makes a file of another kind readable, or an empty text."""
    if tool := UNPACKED_BY.get(path.suffix.lower()):
        return f" Unpack it: {tool} {shlex.quote(str(path))}"
    bare = Path(re.sub(r"\.(gz|zip)$", "", path.name.lower()))
    if (frame := AS_FRAME.get(bare.suffix)) is None:
        return ""
    written = str(path.with_name(f"{bare.stem}.parquet"))
    line = f"{frame.format(path=str(path))}.to_parquet({written!r})"
    return f" Make a Parquet file of it: python -c {shlex.quote(line)}"


class Head(NamedTuple):
    """How a text file is written, and the names of its columns; ``n_above`` lines stand above its rows."""

    encoding: str | None
    separator: str
    n_above: int
    names: list[str]


class Header(NamedTuple):
    """The names of a file's columns, and whether it is a text file, which may be separated otherwise."""

    path: Path
    names: Sequence[str]
    is_text: bool

    def check(self, name: str, option: str) -> None:
        """Raise InputError unless there is a column that an option names."""
        if name not in self.names:
            near = nearest(name, self.names)
            meant = f"; did you mean {near!r}? It" if near else "; it"
            raise InputError(f"--{option} {name!r} is no column of {self.path}{meant} has {self}.")

    def check_model_columns(self, model_columns: Sequence[str]) -> None:
        """Raise InputError unless all columns that a model was fitted on are there, or the dates of parts."""
        model_columns = [normal(name) for name in model_columns]
        columns, parts = set(self.names), map(DATE_PART.fullmatch, model_columns)
        columns |= {part[0] for part in parts if part and part[1] in columns}
        if missing := [name for name in model_columns if name not in columns]:
            others = [name for name in self.names if name not in model_columns]
            near = {name: nearest(name, others) for name in missing}
            shown = listed(repr(name) + f" (is {near[name]!r} meant?)" * bool(near[name]) for name in missing)
            lacks = f"lacks the column{'s' * (len(missing) > 1)} {shown} that the model was fitted on"
            raise InputError(f"{self.path} {lacks}; it has {self}.")

    def __str__(self) -> str:
        """Return which columns there are, and, where it seems so, that they are separated otherwise."""
        hint = separator_hint(self.names) if self.is_text else ""
        return ", ".join(map(repr, self.names[:20])) + ", ..." * (len(self.names) > 20) + hint


class Source:
    """A file of rows, opened once: its kind, how it is written and its names are each found once."""

    def __init__(self, path: Path, text_format: TextFormat = DEFAULT_FORMAT) -> None:
        self.path = STANDARD_INPUT if path == STANDARD_STREAM else path
        self.kind = file_kind(self.path)
        self.text_format = text_format
        if self.kind not in READABLE:
            raise InputError(f"{path} is no file that pushrank reads, which are {KINDS}.{as_readable(path)}")
        if self.path != STANDARD_INPUT:
            check_exists(path)
        if path.is_dir() and not any(path.rglob("*.parquet")):
            raise InputError(f"{path} is a folder without .parquet files; give the name of a file.")
        text_format.check_kind(self.kind, self.path)

    @cached_property
    def _of_standard_input(self) -> bytes:
        # A pipe cannot be rewound, and is read once.
        return sys.stdin.buffer.read()

    def open(self) -> Any:
        """Return a stream of the bytes of the file, which can be rewound, and is to be closed."""
        is_pipe = self.path == STANDARD_INPUT
        return io.BytesIO(self._of_standard_input) if is_pipe else open_file(self.path)

    def check_signature(self, first: bytes) -> None:
        """Raise InputError where the first bytes of the file show that it is of another kind."""
        for signature, what in SIGNATURES.items():
            if re.match(signature, first) and self.kind not in what:
                raise InputError(f"{self.path} is {what}.")

    @cached_property
    def head(self) -> Head:
        """What the first lines of a text file say, where the format does not."""
        with self.open() as stream:
            # The last line is read to its end: cut off, it would have fewer cells than others.
            sample = stream.read(SAMPLE_BYTES) + stream.readline()
        self.check_signature(sample)
        encoding = self.text_format.encoding
        # UTF-16 is known by its first bytes: as UTF-8 a file was refused for rows that it does not have.
        if encoding is None and sample.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
            encoding = "utf-16"
        if encoding is None and sample.startswith(codecs.BOM_UTF8):
            encoding = "utf-8-sig"
        # Wrong bytes are no error yet: what reads the rows refuses them, and says which encoding was tried.
        text = sample.decode(encoding or "utf-8-sig", errors="replace")
        lines = re.split(r"\r\n|\r|\n", text)[self.text_format.skip :]
        # Excel writes and reads a first line such as sep=; that names the separator.
        named = re.fullmatch(r"\ufeff?\"?sep=(.)\"?", lines[0]) if lines else None
        lines = lines[named is not None :]
        separator = self.text_format.separator or (named and named[1])
        separator = separator or ("\t" if self.kind == ".tsv" else _sniffed_separator(lines))
        first = next(filter(None, csv.reader((f"{line}\n" for line in lines), delimiter=separator)), None)
        if first is None:
            why = f"cannot be read as {self.kind[1:]}: it is empty. Check that it is whole"
            raise InputError(f"{self.path} {why}.")
        if any("\0" in cell for cell in first):
            how = "if it is UTF-16, say so: --read encoding=utf-16-le or utf-16-be"
            raise InputError(f"{self.path} holds NUL characters in its first line; {how}.")
        n_above = self.text_format.skip + (named is not None)
        return Head(encoding, separator, n_above, self.column_names(first))

    def column_names(self, first: Sequence[str]) -> list[str]:
        """Return the names of the columns: those of the first row, or their numbers from 1."""
        if not self.text_format.header:
            return [str(number) for number in range(1, len(first) + 1)]
        # A column without a name is called as pandas calls it, which a warning knows as numbers of rows.
        names = [name if name.strip() else f"Unnamed: {position}" for position, name in enumerate(first)]
        return check_names(self.path, names)

    @cached_property
    def header(self) -> Header | None:
        """The names of the columns; None where only all of the file shows them, or it cannot be read."""
        # A damaged file, or a wrong separator or encoding, is refused by what reads the rows, in its words.
        with suppress(*UNREADABLE):
            if self.kind in TEXT_FILES and not any("\ufffd" in name for name in self.head.names):
                return Header(self.path, self.head.names, is_text=True)
            if self.kind == ".parquet" and self.path.is_file():
                from pyarrow.parquet import read_schema

                return Header(self.path, check_names(self.path, read_schema(self.path).names), is_text=False)
        return None

    def table(self, *, may_be_empty: bool = False) -> "Table":
        """Return the rows, or raise InputError where they cannot be read."""
        from pushrank.cli.source.read import read_rows

        table = read_rows(self)
        if not len(table) and not may_be_empty:
            raise InputError(f"{self.path} holds no rows.")
        return table


def _sniffed_separator(lines: list[str]) -> str:
    """Return what separates the columns of a sample; a comma where the standard library finds nothing."""
    with suppress(csv.Error):
        separator = csv.Sniffer().sniff("\n".join(lines), ",;\t|").delimiter
        # The sniffer may settle on a mark that stands within cells, and not between the names.
        if separator in next(filter(None, lines)):
            return separator
    return ","


def check_names(path: Path, names: Iterable[str]) -> list[str]:
    """Return names in the normal form, or raise InputError when two columns have the same name."""
    names = [normal(str(name)) for name in names]
    if len(set(names)) < len(names):
        twice = next(name for position, name in enumerate(names) if name in names[:position])
        raise InputError(f"{path} has more than one column {twice!r}; give each its own name.")
    return names


def separator_hint(names: Sequence[str]) -> str:
    """Return what to do where the only name of a text file seems to be several."""
    for mark in ";\t|,":
        if len(names) == 1 and mark in str(names[0]):
            return f". If a {NAMES[mark]} separates the columns, say so: --read separator={NAMES[mark]}"
    return ""
