"""Labelled rows from a file: tables as they are written, their columns as features, and the label."""

from __future__ import annotations

import re
import shlex
import zlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from decimal import Decimal, InvalidOperation
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import scipy.sparse as sp
from numpy.typing import NDArray
from sklearn.datasets import load_svmlight_file

from pushrank.cli import options
from pushrank.cli.errors import InputError, warn

STANDARD_STREAM = Path("-")
SEPARATORS = {".csv": ",", ".tsv": "\t"}
OTHER_SEPARATORS = {";": "';'", "\t": "tab", "|": "'|'", ",": "','"}
SPARSE = {".libsvm", ".svmlight", ".svm"}
READABLE = "CSV (.csv, .csv.gz), TSV (.tsv), Parquet (.parquet) or libsvm (.libsvm, .svmlight, .svm)"
LIBSVM_LABEL = "label"
TEXT = pd.ArrowDtype(pa.string())
FLOAT = pd.ArrowDtype(pa.float64())
MISSING = ["", " ", "#N/A", "#N/A N/A", "#NA", "-1.#IND", "-1.#QNAN", "-NaN", "-nan", "1.#IND", "1.#QNAN",
           "<NA>", "N/A", "NA", "NULL", "NaN", "None", "n/a", "nan", "null"]  # fmt: skip
"""The cells that are missing numbers, categories or labels, as in pandas.read_csv."""
TRUTH_VALUES = {"true": 1.0, "false": 0.0}
MAX_NUMBER = 1e150  # scaling squares and adds up a column's numbers; those of larger ones would overflow
NEARLY_ALL = 0.9  # of the values of a column: the others may be mistakes
MIN_ROWS_TO_DOUBT = 20  # with fewer, categories may well be nearly all distinct, and numbers rise by chance
DAY = r"(?:0?[1-9]|[12]\d|3[01])"
DATE = rf"\s*(?:\d{{4}}([-/.]){DAY}\1{DAY}|{DAY}([-/.]){DAY}\2(?:19|20)\d\d|{DAY}/{DAY}/\d\d)(?:[T ,].*)?\s*"
IDENTIFIER = r"(?i:id)|.*[^a-zA-Z](?i:id)|.*[a-z]I[dD]|Unnamed: \d+|\s*"
"""Names of columns of identifiers, and what pandas calls one without a name, as it writes row numbers."""
# TypeError is what pandas raises of a file whose types it does not know
UNREADABLE = (OSError, ValueError, TypeError, EOFError, zlib.error, pa.ArrowException)


def file_kind(path: Path) -> str:
    """Return the extension that says what a file is, without that of compression."""
    return Path(path.name.lower().removesuffix(".gz")).suffix


def open_file(path: Path) -> Any:
    """Open a file, compressed or not, for reading bytes."""
    return pa.input_stream(str(path))


@dataclass(frozen=True)
class TextFormat:
    """How a CSV or TSV file is written, where not as its extension says, in UTF-8 and with decimal points."""

    separator: options.Separator = None
    encoding: options.Encoding = None
    decimal: options.Decimal = None
    thousands: options.Thousands = None

    def check(self, path: Path) -> None:
        """Raise InputError when a file is no CSV or TSV, or the encoding or a mark cannot be one."""
        for option, value in vars(self).items():
            if value is None:
                continue
            if file_kind(path) not in SEPARATORS:
                raise InputError(f"--{option} is for CSV and TSV files, not for {path}.")
            if option != "encoding" and len(value) != 1:
                raise InputError(f"--{option} must be one character, got {value!r}.")
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

    def read(self, path: Path) -> pd.DataFrame:
        """Return the rows, every cell as the text that it is in the file; empty cells are missing."""
        try:
            frame = pd.read_csv(
                path,
                sep=self.separator or SEPARATORS[file_kind(path)],
                encoding=self.encoding,
                dtype=TEXT,
                keep_default_na=False,
                na_values=[""],
            )
        except UnicodeError as error:
            raise InputError(
                f"{path} is not coded as {self.encoding or 'utf-8'} ({error}); say how it is: for example "
                "--encoding latin-1, cp1252 or utf-16."
            ) from error
        if not isinstance(frame.index, pd.RangeIndex):
            raise InputError(
                f"{path}: rows have more cells than the first line has names; name every column"
                f"{separator_hint(frame.columns)}."
            )
        return frame

    def plain(self, text: pd.Series) -> pd.Series:
        """Return text whose numbers are written with a decimal point and without marks of thousands."""
        text = text.str.strip()
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


@dataclass(frozen=True)
class Table:
    """Rows as they are in the file: text, Parquet's types, or a sparse matrix with labels."""

    path: Path
    frame: pd.DataFrame
    features: sp.csr_matrix | None = None
    written: TextFormat = DEFAULT_FORMAT
    _numbers: dict[str, pd.Series] = field(default_factory=dict, init=False, repr=False)

    def __len__(self) -> int:
        return len(self.frame)

    @property
    def is_sparse(self) -> bool:
        """Whether the rows came from a libsvm file."""
        return self.features is not None

    @property
    def is_text(self) -> bool:
        """Whether the rows came from a CSV or TSV file."""
        return file_kind(self.path) in SEPARATORS

    @cached_property
    def missing(self) -> pd.DataFrame:
        """Which cells are missing."""
        return self.frame.isna() | (self.frame.isin(MISSING) if self.is_text else False)

    def numbers(self, name: str) -> pd.Series:
        """Return a column as floats; what is missing or no number is NaN."""
        if name not in self._numbers:
            self._numbers[name] = self._as_numbers(name)
        return self._numbers[name]

    def _as_numbers(self, name: str) -> pd.Series:
        column = self.frame[name]
        if is_text_type(column.dtype):
            column = self.written.plain(column.astype(TEXT).mask(self.missing[name]))
            try:
                column = column.astype(FLOAT)
            except pa.ArrowInvalid:  # a cell is no number: cell by cell, which takes some ten times as long
                truths = column.str.lower().map(TRUTH_VALUES)
                all_are_truths = (truths.notna() == column.notna()).all()
                column = truths if all_are_truths else pd.to_numeric(column.astype(object), errors="coerce")
        elif not is_number_type(column.dtype):
            return pd.Series(np.nan, index=column.index)
        return pd.Series(column.to_numpy(np.float64, na_value=np.nan), index=column.index)

    def texts(self, name: str) -> pd.Series:
        """Return a column as text, NaN where missing; whole numbers have no decimal point."""
        column = self.frame[name].astype(object)
        if not self.is_text:
            column = column.map(as_text, na_action="ignore")
        return column.mask(self.missing[name], np.nan).astype(object)

    def is_numeric(self, name: str) -> bool:
        """Return whether all cells that are not missing are numbers; text in Parquet stays text."""
        column = self.frame[name]
        if not self.is_text:
            return is_number_type(column.dtype)
        return bool((self.numbers(name).notna() | self.missing[name]).all())

    def describe_columns(self) -> str:
        """Return which columns there are, and, where it seems so, that they are separated otherwise."""
        hint = separator_hint(self.frame.columns) if self.is_text else ""
        return ", ".join(map(repr, self.frame.columns[:20])) + hint


def separator_hint(names: Sequence[str]) -> str:
    """Return what to do where the one name of a text file seems to be several."""
    for mark, name in OTHER_SEPARATORS.items():
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
    return bool(pa.types.is_string(kind) or pa.types.is_large_string(kind) or pa.types.is_dictionary(kind))


def as_text(value: Any) -> str:
    """Return a value as text; whole numbers have no decimal point, even where gaps made them floats."""
    if isinstance(value, float | np.floating) and float(value).is_integer():
        return str(int(value))
    return str(value)


def read_table(path: Path, written: TextFormat = DEFAULT_FORMAT, n_features: int | None = None) -> Table:
    """Read a file by its extension; a libsvm file with `n_features`, where that is known.

    Raises
    ------
    InputError
        When the file is missing, unreadable, empty, or of an unknown kind.
    """
    kind = file_kind(path)
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
            frame = pd.DataFrame({LIBSVM_LABEL: labels}).astype(FLOAT)
            table = Table(path, frame, sp.csr_matrix(features))
        elif kind == ".parquet":
            names = pd.Index(pq.read_schema(path).names)
            if names.has_duplicates:
                twice = names[names.duplicated()][0]
                raise InputError(f"{path} has more than one column {twice!r}; give each its own name.")
            # pandas' index is no column, and its own types have no place for gaps in whole numbers
            rows = pq.read_table(path).replace_schema_metadata(None)
            table = Table(path, rows.to_pandas(types_mapper=pd.ArrowDtype))
        else:
            table = Table(path, written.read(path), written=written)
    except UNREADABLE as error:
        otherwise = " If its columns are separated otherwise, say so: --separator."
        raise InputError(
            f"{path} cannot be read as {kind[1:]}: {error}. Check that the file is whole and of that kind."
            + otherwise * isinstance(error, pd.errors.ParserError)
        ) from error
    if not len(table):
        raise InputError(f"{path} holds no rows.")
    return table


def label_column(table: Table, label: str | None) -> str:
    """Return the name of the label column, or raise InputError when it is not named or not there."""
    if table.is_sparse:
        return LIBSVM_LABEL
    if label is None:
        raise InputError("name the column that holds the label: --label COLUMN.")
    if label not in table.frame.columns:
        raise InputError(
            f"{table.path} has no column {label!r} for --label; it has {table.describe_columns()}."
        )
    return label


def positive_rows(table: Table, column: str, positive: str | None) -> tuple[NDArray[np.bool_], str]:
    """Return which rows are positive, and the value that makes them so.

    Numbers are compared exactly, however they are written: 1 and 1.0 are the same label, 2^53 and 2^53 + 1
    are not. Where `positive` is None, the larger of two numbers, true of truth values, and yes of yes and no
    is positive; of other texts the later in the alphabet, with a warning.

    Raises
    ------
    InputError
        When a label is missing, there are not two classes, or the value does not occur.
    """
    here = f"column {column!r} of {table.path}"
    texts = table.texts(column)
    if n_missing := int(texts.isna().sum()):
        row = int(np.argmax(texts.isna())) + 1
        others = f" and {n_missing - 1:,} more" * (n_missing > 1)
        raise InputError(f"{here} has no label in row {row}{others}; drop such rows or fill them in.")
    plain = table.written.plain(texts.astype(TEXT)) if table.is_text else texts
    written = dict(zip(plain.unique(), texts[~plain.duplicated()], strict=True))
    keys = {text: _label_key(text) for text in written}
    labels: dict[Any, str] = {}
    for text, key in sorted(keys.items(), key=lambda item: (isinstance(item[1], str), item[1])):
        is_whole = isinstance(key, Decimal) and key == key.to_integral_value()
        labels.setdefault(key, str(int(key)) if is_whole else written[text])
    shown = ", ".join(list(labels.values())[:10]) + (", ..." if len(labels) > 10 else "")
    if len(labels) < 2:
        raise InputError(f"{here} holds one class only ({shown}); ranking needs two.")
    if positive is None and len(labels) > 2:
        raise InputError(
            f"{here} holds {len(labels)} values ({shown}); name the one to be ranked at the top: "
            "--positive VALUE."
        )
    chosen = list(labels)[-1] if positive is None else _label_key(positive)
    if chosen not in labels:
        raise InputError(f"--positive {positive!r} does not occur in {here}, which holds {shown}.")
    is_positive = plain.map(keys).eq(chosen).to_numpy(dtype=bool)
    if positive is None and isinstance(chosen, str):
        other = next(iter(labels))
        if {other, chosen} not in ({"false", "true"}, {"no", "yes"}):
            n_rows = int(is_positive.sum())
            most = ", most of them" if n_rows > len(table) / 2 else ""
            warn(
                f"{here} holds {labels[other]!r} and {labels[chosen]!r}; which is to be ranked at the top? "
                f"{labels[chosen]!r} is taken, which {n_rows:,} of {len(table):,} rows are{most}; if it is "
                f"the other one, say --positive {shlex.quote(labels[other])}."
            )
    return is_positive, labels[chosen]


def _label_key(text: str) -> Decimal | str:
    """Return what two labels have in common that are the same: the exact number, or the text."""
    try:
        number = Decimal(text)
    except InvalidOperation:
        lower = text.strip().lower()
        return lower if lower in {"true", "false", "yes", "no"} else text
    return number if number.is_finite() else text


@dataclass(frozen=True)
class LabelledTable:
    """A table, which of its rows are positive, and its features."""

    table: Table
    label: str
    positive: str
    y: NDArray[np.bool_]
    numeric: list[str]
    categorical: list[str]
    features: Any

    @property
    def label_meaning(self) -> str:
        """What makes a row positive."""
        return f"{self.label} = {self.positive}"

    def describe_features(self) -> str:
        """Return how the columns were read."""
        if self.table.is_sparse:
            return f"{self.features.shape[1]:,} sparse features"
        numbers = f"{len(self.numeric)} numeric column{'s' * (len(self.numeric) != 1)}"
        if not self.categorical:
            return numbers
        shown = ", ".join(map(repr, self.categorical[:10])) + ", ..." * (len(self.categorical) > 10)
        return f"{numbers} and {len(self.categorical)} of text ({shown})"

    @property
    def rows_to_show(self) -> pd.DataFrame:
        """The rows to show: numbers as numbers, all else as it is in the file."""
        frame = self.table.frame.drop(columns=self.label)
        return frame.assign(**{name: self.features[name] for name in self.numeric})

    @property
    def excluded(self) -> list[str]:
        """The columns that were left out."""
        used = {self.label, *self.numeric, *self.categorical}
        return [name for name in self.table.frame if name not in used]


@dataclass(frozen=True)
class LabelledSource:
    """Where labelled rows come from."""

    data: options.Data
    label: options.Label = None
    positive: options.Positive = None
    exclude: options.Exclude = None


def read_labelled(source: LabelledSource, written: TextFormat) -> LabelledTable:
    """Read a file with labels, and warn of columns that are doubtful."""
    table = read_table(source.data, written)
    column = label_column(table, source.label)
    y, positive_value = positive_rows(table, column, source.positive)
    numeric, categorical = feature_columns(table, column, source.exclude or [])
    for doubt in column_warnings(table, numeric, categorical):
        warn(doubt)
    features = feature_frame(table, numeric, categorical)
    return LabelledTable(table, column, positive_value, y, numeric, categorical, features)


def feature_columns(table: Table, label: str, excluded: Sequence[str]) -> tuple[list[str], list[str]]:
    """Return the names of the numeric and of the text columns to rank by, all but those left out."""
    if table.is_sparse:
        if excluded:
            raise InputError(f"--exclude is for named columns; those of {table.path} have none.")
        return [], []
    for name in excluded:
        if name == label:
            raise InputError(f"--exclude {name!r} is the label.")
        if name not in table.frame.columns:
            raise InputError(
                f"--exclude {name!r} is not in {table.path}, which has {table.describe_columns()}."
            )
    names = [name for name in table.frame.columns if name not in (label, *excluded)]
    if not names:
        raise InputError(f"{table.path} has no column but the label; there is nothing to rank by.")
    numeric = [name for name in names if table.is_numeric(name)]
    return numeric, [name for name in names if name not in numeric]


def feature_frame(table: Table, numeric: list[str], categorical: list[str]) -> Any:
    """Return the features that a model was fitted on: floats, and text with NaN where it is missing.

    Raises InputError when one of them is not there, or holds what cannot be computed with.
    """
    if table.is_sparse:
        return table.features
    missing = [name for name in numeric + categorical if name not in table.frame.columns]
    if missing:
        raise InputError(
            f"{table.path} lacks the column{'s' * (len(missing) > 1)} {', '.join(map(repr, missing))} that "
            f"the model was fitted on; it has {table.describe_columns()}."
        )
    for name in numeric:
        _check_numbers(table, name)
    columns = {name: table.numbers(name) for name in numeric} | {
        name: table.texts(name) for name in categorical
    }
    return pd.DataFrame(columns, index=table.frame.index)


def _check_numbers(table: Table, name: str) -> None:
    numbers = table.numbers(name)
    is_bad = ~(numbers.abs() <= MAX_NUMBER) & ~table.missing[name]
    if not is_bad.any():
        return
    row = int(np.argmax(is_bad))
    here, number = f"column {name!r} of {table.path}", numbers.iloc[row]
    if np.isnan(number):
        how = "; say how numbers are written: --decimal, --thousands." if table.is_text else "."
        raise InputError(
            f"{here} must hold numbers, as where the model was fitted; row {row + 1} holds "
            f"{str(table.frame[name].iloc[row])!r}{how}"
        )
    if np.isinf(number):
        raise InputError(f"{here} holds infinity in row {row + 1}; replace or drop it.")
    raise InputError(
        f"{here} holds {number:g} in row {row + 1}, too large to compute with (more than {MAX_NUMBER:g}); "
        "divide the column or take its logarithm."
    )


def column_warnings(table: Table, numeric: list[str], categorical: list[str]) -> Iterator[str]:
    """Yield what is doubtful about features: dates, identifiers, row numbers and constants."""
    for name in numeric + categorical:
        values = table.numbers(name) if name in numeric else table.texts(name)
        if values.nunique(dropna=False) == 1:
            doubt = "holds the same in every row, which tells nothing;"
        elif name in numeric:
            doubt = _doubt_of_numbers(name, values)
        else:
            doubt = _doubt_of_text(table, name, values)
        if doubt:
            yield (
                f"column {name!r} of {table.path} {doubt} leave the column out: "
                f"--exclude {shlex.quote(str(name))}."
            )


def _doubt_of_numbers(name: str, numbers: pd.Series) -> str:
    if len(numbers) < MIN_ROWS_TO_DOUBT or not numbers.is_unique or not (numbers % 1.0 == 0.0).all():
        return ""
    is_steady = numbers.is_monotonic_increasing or numbers.is_monotonic_decreasing
    has_no_gaps = numbers.max() - numbers.min() == len(numbers) - 1
    if not (is_steady or has_no_gaps or re.fullmatch(IDENTIFIER, str(name))):
        return ""
    return (
        f"holds another whole number in every row ({', '.join(map(as_text, numbers[:3]))}, ...), as row "
        "numbers and identifiers do, which tell nothing of new rows; if it is one,"
    )


def _doubt_of_text(table: Table, name: str, texts: pd.Series) -> str:
    shares = texts.value_counts(normalize=True)
    is_time = pa.types.is_temporal(table.frame[name].dtype.pyarrow_dtype)
    if is_time or shares[shares.index.str.fullmatch(DATE)].sum() >= NEARLY_ALL:
        return (
            f"holds dates or times, such as {shares.index[0]}, which count as so many categories; make "
            "numbers of what matters about them (days since a date, hours, weekdays), or"
        )
    is_number = pd.to_numeric(shares.index.to_series(), errors="coerce").notna().to_numpy()
    if shares[is_number].sum() >= NEARLY_ALL and not is_number.all():
        stranger = shares.index[~is_number][0]
        return (
            f"is read as text, for row {int(np.argmax(texts == stranger)) + 1} holds {stranger!r}, though "
            f"{100 * shares[is_number].sum():.4g} % of its values are numbers; if all should be, leave such "
            "cells empty or say how they are written (--decimal, --thousands), or"
        )
    if len(texts) >= MIN_ROWS_TO_DOUBT and len(shares) > len(texts) / 2:
        return (
            f"holds {len(shares):,} different texts in {len(texts):,} rows, as names of rows do; if they are "
            "numbers, say how they are written (--decimal, --thousands), and if they name rows,"
        )
    return ""
