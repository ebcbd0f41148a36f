"""Tables: columns parsed once into values with a kind, and labels that say which rows are positive."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal, InvalidOperation
from enum import Enum
from itertools import groupby
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
import pyarrow as pa
import scipy.sparse as sp
from numpy.typing import NDArray

from pushrank._validation import positive_label
from pushrank.cli.errors import InputError, warn
from pushrank.cli.options import option

SEPARATOR_NAMES = {";": "';'", "\t": "tab", "|": "'|'", ",": "','"}
LIBSVM_LABEL = "label"
UNLABELLED = {"?", "NA", "N/A", "n/a", "#N/A", "<NA>", "NaN", "nan", "null", "NULL"}
"""Texts that mean that a row has no label, unless one of them is named as the positive label."""
TEXT = pd.ArrowDtype(pa.string())
FLOAT = pd.ArrowDtype(pa.float64())
MISSING = ["#N/A", "#N/A N/A", "#NA", "-1.#IND", "-1.#QNAN", "-NaN", "-nan", "1.#IND", "1.#QNAN", "<NA>",
           "N/A", "NA", "NULL", "NaN", "None", "n/a", "nan", "null"]  # fmt: skip
"""The cells that are missing numbers, as in pandas.read_csv. Beside text they are text: NA is Namibia."""
TRUTH_VALUES = {"true": 1.0, "false": 0.0}
DAY = r"(?:0?[1-9]|[12]\d|3[01])"
DATE = rf"\s*(?:\d{{4}}([-/.]){DAY}\1{DAY}|{DAY}([-/.]){DAY}\2(?:19|20)\d\d|{DAY}/{DAY}/\d\d)(?:[T ,].*)?\s*"
NEARLY_ALL = 0.9
"""A column is what at least this share of its values are: the others may be mistakes."""


@dataclass(frozen=True)
class TextFormat:
    """How a text file is written, where not in UTF-8, with decimal points, and names in the first line."""

    separator: str | None = option(
        "Column separator: one character or tab; by default found among , ; tab and | (.tsv: tab).",
        parser=lambda text: "\t" if text in ("tab", "\\t") else text,
        metavar="CHARACTER",
    )
    encoding: str | None = option("File encoding of text files, such as cp1252; by default utf-8.")
    decimal: str | None = option("Decimal mark of text files; by default a point.")
    thousands: str | None = option("Thousands separator of text files, as in 1,025; by default none.")
    units: str | None = option("Signs to ignore in numbers, as '$%' in $12.50 and 57.2%; by default none.")
    na_values: list[str] | None = option(
        "A text that stands for a missing value, such as -; may be repeated."
    )
    skip_rows: int = option("Lines above the column names to skip.", default=0, min=0)
    no_header: bool = option(
        "The first row holds no names; columns are called 1, 2, ...", "--no-header", default=False
    )

    def are_empty(self, cells: pd.Series) -> pd.Series:
        """Return which cells of text are blank, or hold a text that stands for a missing value."""
        return cells.isna() | cells.str.strip().isin(["", *(self.na_values or [])])

    def plain(self, text: pd.Series) -> pd.Series:
        """Return text whose numbers are written with a decimal point, without units or marks of thousands."""
        text = text.str.strip()
        if self.units:
            text = text.astype(object).str.translate(str.maketrans("", "", self.units)).str.strip()
        if self.thousands is not None:
            # A mark counts only where three digits follow, so that 1,25 is not taken for 125. A space stands
            # for spaces of all kinds, such as the narrow ones of French numbers.
            mark = r"\s" if self.thousands.isspace() else re.escape(self.thousands)
            text = text.astype(object).str.replace(rf"(?<=\d){mark}(?=\d{{3}}(?!\d))", "", regex=True)
        if self.decimal not in (None, "."):
            # The point and the mark change places: where the mark is a comma, 1.5 is no number.
            swapped = str.maketrans({self.decimal: ".", ".": self.decimal})
            text = text.astype(object).str.translate(swapped)
        return text.astype(TEXT)

    def numbers(self, cells: pd.Series) -> tuple[NDArray[np.float64], bool]:
        """Return texts as floats, NaN where they are missing or no numbers, and whether some are none."""
        cells = cells.astype(TEXT)
        # Arrow reads the numbers of most files at once, which spares several passes over the texts.
        if not (self.decimal or self.thousands or self.units or self.na_values):
            try:
                return np.asarray(pa.array(cells.array).cast(pa.float64())), False
            except pa.ArrowInvalid:
                pass
        cells = self.plain(cells.mask(self.are_empty(cells)))
        cells = cells.mask(cells.isin(["", *MISSING]))
        numbers = cells.str.lower().map(TRUTH_VALUES)
        if numbers.count() < cells.count():
            numbers = pd.to_numeric(cells.astype(object), errors="coerce")
        return np.asarray(numbers.to_numpy(np.float64, na_value=np.nan)), numbers.count() < cells.count()

    def are_numbers(self, texts: pd.Index) -> NDArray[np.bool_]:
        """Return which texts are numbers."""
        plain = self.plain(pd.Series(texts, dtype=TEXT)).astype(object)
        return np.asarray(pd.to_numeric(plain, errors="coerce").notna(), dtype=bool)


DEFAULT_FORMAT = TextFormat()


class Kind(Enum):
    """What the values of a column are."""

    NUMBER = "number"
    TEXT = "text"
    DATE = "date"
    OTHER = "other"


@dataclass(frozen=True)
class Column:
    """A column, parsed once: its cells as they are in the file, and their values.

    Values are floats in a column of numbers and texts in a column of texts or dates, with NaN where they are
    missing; other cells are their own values. ``counts`` says how often each text occurs. Where a column of
    numbers ``holds_texts``, each of them is NaN.
    """

    name: str
    path: Path
    cells: pd.Series
    kind: Kind
    values: Any
    counts: Any = None
    holds_texts: bool = False

    def __str__(self) -> str:
        return f"column {self.name!r} of {self.path}"

    def row_number(self, position: int | np.integer[Any]) -> int:
        """Return the number of a row in the file, from 1, which leaving out rows does not change."""
        return int(self.cells.index[position]) + 1


@dataclass(frozen=True)
class Table:
    """Rows as they are in the file, in a frame of Arrow types.

    A libsvm file has sparse ``features`` beside its labels. A text file or a sheet, where every cell is text,
    ``is_text``.
    """

    path: Path
    frame: pd.DataFrame
    features: sp.csr_matrix | None = None
    is_text: bool = False
    text_format: TextFormat = DEFAULT_FORMAT

    def __len__(self) -> int:
        return len(self.frame)

    @property
    def is_sparse(self) -> bool:
        """Whether the rows came from a libsvm file."""
        return self.features is not None

    def where(self, kept: NDArray[np.bool_]) -> Table:
        """Return some of the rows, under their numbers in the file."""
        return replace(
            self, frame=self.frame[kept], features=None if self.features is None else self.features[kept]
        )

    def column(self, name: str, kind: Kind | None = None) -> Column:
        """Return a column, parsed as numbers or as texts if ``kind`` says which, else as its cells suggest.

        In a file with types a column of texts is no column of numbers, whatever it holds, unless numbers are
        asked for.
        """
        cells = self.frame[name]
        type_kind = _kind_of_type(cells.dtype.pyarrow_dtype)
        if kind is not Kind.TEXT:
            numbers, holds_texts = np.full(len(cells), np.nan), True
            if type_kind is Kind.NUMBER:
                numbers, holds_texts = cells.to_numpy(np.float64, na_value=np.nan), False
            elif type_kind is Kind.TEXT:
                numbers, holds_texts = self.text_format.numbers(cells)
            is_number = not holds_texts and (self.is_text or type_kind is Kind.NUMBER)
            if is_number or kind is Kind.NUMBER:
                return Column(name, self.path, cells, Kind.NUMBER, numbers, holds_texts=holds_texts)
        if kind is None and type_kind is Kind.OTHER:
            return Column(name, self.path, cells, Kind.OTHER, cells)
        texts = cells.astype(object)
        # Missing texts are NaN, as scikit-learn's encoders expect them.
        if self.is_text:
            texts = texts.mask(self.text_format.are_empty(cells), np.nan)
        else:
            texts = texts.map(as_text, na_action="ignore").mask(cells.isna(), np.nan).astype(object)
        counts = texts.value_counts()
        if kind is None:
            # Dates are recognised by their texts alone: no library reads all the ways in which people write
            # them without taking version numbers for dates.
            n_dates = counts[counts.index.str.fullmatch(DATE)].sum() if len(counts) else 0
            kind = Kind.DATE if 0 < NEARLY_ALL * counts.sum() <= n_dates else type_kind
        return Column(name, self.path, cells, kind, texts, counts)

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


def check_column(table: Table, name: str, option: str) -> None:
    """Raise InputError unless there is a column that an option names."""
    if table.is_sparse:
        raise InputError(f"--{option} {name!r} is for named columns; those of {table.path} have none.")
    if name not in table.frame.columns:
        raise InputError(
            f"--{option} {name!r} is no column of {table.path}{table.describe_similar(name)}; it has "
            f"{table.describe_columns()}."
        )


def numbers_in(table: Table, name: str, option: str, lowest: float = -np.inf) -> NDArray[np.float64]:
    """Return the column that an option names, or raise InputError unless each row holds a number."""
    check_column(table, name, option)
    column = table.column(name, Kind.NUMBER)
    is_usable = np.isfinite(column.values) & (column.values >= lowest)
    if not is_usable.all():
        row = int(np.argmin(is_usable))
        at_least = f" of at least {lowest:g}" * bool(np.isfinite(lowest))
        problem = f"holds {column.cells.iloc[row]!r}"
        if column.cells.isna().iloc[row]:
            problem = "is empty: fill it, or leave such rows out"
        raise InputError(
            f"--{option} {name!r} must hold a number{at_least} in every row; row {column.row_number(row)} of "
            f"{table.path} {problem}."
        )
    return np.asarray(column.values)


def groups_in(table: Table, name: str) -> NDArray[np.str_]:
    """Return the groups of rows that the column of --group says; rows without one make a group."""
    check_column(table, name, "group")
    return np.asarray(table.column(name, Kind.TEXT).values.fillna(""), dtype=str)


def columns_to_show(table: Table, frame: pd.DataFrame, names: Sequence[str] | None) -> pd.DataFrame:
    """Return the columns that --show names, or all, or raise InputError when one is not there."""
    for name in names or ():
        check_column(table, name, "show")
    return frame[[name for name in dict.fromkeys(names) if name in frame]] if names else frame


def separator_hint(names: Sequence[str]) -> str:
    """Return what to do where the only name of a text file seems to be several."""
    for mark, name in SEPARATOR_NAMES.items():
        if len(names) == 1 and mark in str(names[0]):
            return f". If {name} separates the columns, say so: --separator {name}"
    return ""


def _kind_of_type(arrow_type: Any) -> Kind:
    """Return what cells of an Arrow type are; truth values count as numbers."""
    types = pa.types
    if types.is_dictionary(arrow_type):
        # Categories are read as texts. Those of numbers are as rare as columns of lists.
        return Kind.TEXT if _kind_of_type(arrow_type.value_type) is Kind.TEXT else Kind.OTHER
    tests = {
        Kind.NUMBER: (types.is_integer, types.is_floating, types.is_decimal, types.is_boolean),
        Kind.TEXT: (types.is_string, types.is_large_string),
        Kind.DATE: (types.is_temporal,),
    }
    return next((kind for kind, are in tests.items() if any(is_it(arrow_type) for is_it in are)), Kind.OTHER)


def as_text(value: Any) -> str:
    """Return a value as text; whole numbers have no decimal point, even where gaps made them floats."""
    if isinstance(value, float | np.floating) and float(value).is_integer():
        return str(int(value))
    return str(value)


def feature_columns(
    table: Table, label: str, excluded: Sequence[str], aside: Mapping[str, str | None]
) -> list[Column]:
    """Return the columns to rank by: all but the label, the excluded ones and those set aside by options."""
    columns = set(table.frame.columns)
    # A name may hold a comma. Where no column is called so, the commas stand between several names.
    out = {part: "exclude" for name in excluded for part in ([name] if name in columns else name.split(","))}
    out |= {name: why for why, name in aside.items() if name is not None}
    for name, why in out.items():
        check_column(table, name, why)
        if name == label:
            raise InputError(f"--{why} {name!r} is the label.")
    if table.is_sparse:
        return []
    names = [name for name in table.frame.columns if name != label and name not in out]
    if not names:
        raise InputError(f"{table.path} has no column but the label; there is nothing to rank by.")
    return [table.column(name) for name in names]


def model_columns(table: Table, numeric: list[str], categorical: list[str]) -> list[Column]:
    """Return the columns that a model was fitted on, parsed as it needs them, or raise InputError."""
    columns = set(table.frame.columns)
    missing = [name for name in numeric + categorical if name not in columns]
    if missing:
        shown = listed(f"{name!r}{table.describe_similar(name)}" for name in missing)
        raise InputError(
            f"{table.path} lacks the column{'s' * (len(missing) > 1)} {shown} that the model was fitted on; "
            f"it has {table.describe_columns()}."
        )
    parsed = [table.column(name, Kind.NUMBER) for name in numeric]
    for column in parsed:
        if column.holds_texts:
            _refuse_texts(table, column)
    return parsed + [table.column(name, Kind.TEXT) for name in categorical]


def _refuse_texts(table: Table, column: Column) -> None:
    """Raise InputError for a column of texts where the model was fitted to numbers."""
    texts = table.column(column.name, Kind.TEXT).values
    row = int(np.argmax(np.isnan(column.values) & texts.notna().to_numpy()))
    how = (
        "; say how numbers are written: --decimal, --thousands, --units, --na-values." * table.is_text or "."
    )
    raise InputError(
        f"{column} must hold numbers, as where the model was fitted; row {column.row_number(row)} holds "
        f"{str(column.cells.iloc[row])!r}{how}"
    )


def listed(items: Iterable[str]) -> str:
    """Return at most ten items, and how many more there are."""
    items = [*items]
    return ", ".join(items[:10]) + f" and {len(items) - 10:,} more" * (len(items) > 10)


@dataclass(frozen=True)
class LabelledRows:
    """A table, and which of its rows are positive."""

    table: Table
    label: str
    positive: str
    y: NDArray[np.bool_]

    @property
    def label_meaning(self) -> str:
        """What makes a row positive."""
        return f"{self.label} = {self.positive}"


class LabelClass(NamedTuple):
    """A class of the labels: their number or text, how they are written, and how they are shown."""

    key: Decimal | str
    spellings: list[str]
    n_rows: int
    shown: str


def label_rows(
    table: Table, label: str | None, positive: str | None, *, drop_unlabelled: bool = False
) -> LabelledRows:
    """Return the rows that have a label, which of them are positive, and the label that makes them so.

    Numbers are compared exactly, however they are written: 1 and 1.0 are the same label, 2^53 and 2^53 + 1
    are not. Texts are the same in capital and small letters. A line says what counts as the same, as negative
    or as no label, and in how many rows. An InputError is raised when labels are missing and not to be
    dropped, there are not two classes, the value does not occur, or nothing says which of two texts is
    positive.
    """
    if table.is_sparse:
        label = LIBSVM_LABEL
    elif label is None:
        raise InputError("name the column that holds the label: --label COLUMN.")
    else:
        check_column(table, label, "label")
    column = table.column(label, Kind.TEXT)
    wanted = None if positive is None else _label_key(positive)
    keys = _keys_by_text(table, column)
    no_label = [text for text in keys if text.strip() in UNLABELLED and keys[text] != wanted]
    has_label = (column.values.notna() & ~column.values.isin(no_label)).to_numpy()
    if not has_label.all():
        message = _unlabelled_message(column, has_label, no_label)
        if not drop_unlabelled:
            row = column.row_number(np.argmin(has_label))
            raise InputError(
                f"{column} has no label in {message}, first in row {row}; leave them out with "
                "--drop-unlabelled, or fill them in."
            )
        warn(f"{message} have no label in {column} and are left out.")
        table = table.where(has_label)
    classes = _classes(column, {text: keys[text] for text in keys if text not in no_label})
    chosen = _positive_class(column, classes, positive)
    for spellings in (group.spellings for group in classes if isinstance(group.key, str)):
        if len(spellings) > 1:
            shown = listed(f"{text!r} ({_n_rows(column.counts[text])})" for text in spellings)
            warn(f"{column}: {shown} count as one label.")
    others = [f"{group.shown!r} ({_n_rows(group.n_rows)})" for group in classes if group is not chosen]
    if len(others) > 1:
        warn(f"{column}: all but {chosen.shown!r} count as negative: {listed(others)}.")
    y = column.values[has_label].map(keys).eq(chosen.key).to_numpy(dtype=bool)
    return LabelledRows(table, column.name, chosen.shown, y)


def _keys_by_text(table: Table, column: Column) -> dict[str, Decimal | str]:
    texts = column.counts.index
    # Labels in a file with types are written with a decimal point already.
    plain = table.text_format.plain(pd.Series(texts, dtype=TEXT)) if table.is_text else texts
    return dict(zip(texts, map(_label_key, plain), strict=True))


def _label_key(text: str) -> Decimal | str:
    """Return what two labels have in common that are the same: the exact number, or the text."""
    try:
        number = Decimal(text)
    except InvalidOperation:
        return text.strip().casefold()
    return number if number.is_finite() else text


def _unlabelled_message(column: Column, has_label: NDArray[np.bool_], no_label: list[str]) -> str:
    kinds = [f"{n:,} empty" for n in [int(column.values.isna().sum())] if n]
    kinds += [f"{column.counts[text]:,} {text!r}" for text in no_label]
    return f"{np.sum(~has_label):,} of {len(has_label):,} rows ({', '.join(kinds)})"


def _classes(column: Column, keys: Mapping[str, Decimal | str]) -> list[LabelClass]:
    """Return the labels that differ: numbers in their order, then texts."""
    classes = []
    # Texts and numbers have no common order. The most frequent of several spellings comes first.
    in_order = sorted(keys, key=lambda text: (isinstance(keys[text], str), keys[text]))
    for key, group in groupby(in_order, key=keys.__getitem__):
        spellings = list(group)
        is_whole = isinstance(key, Decimal) and key == key.to_integral_value()
        n_rows = sum(int(column.counts[text]) for text in spellings)
        classes.append(
            LabelClass(key, spellings, n_rows, str(int(key)) if is_whole else spellings[0].strip())
        )
    return classes


def _positive_class(column: Column, classes: list[LabelClass], positive: str | None) -> LabelClass:
    """Return the class to be ranked at the top, or raise InputError when there is none or several may be."""
    by_label = {group.shown: group for group in classes}
    shown = listed(f"{group.shown} ({_n_rows(group.n_rows)})" for group in classes)
    if len(classes) < 2:
        raise InputError(f"{column} holds one class only ({shown}); ranking needs two.")
    if positive is not None:
        wanted = _label_key(positive)
        for group in classes:
            if group.key == wanted:
                return group
        raise InputError(
            f"the label to rank at the top, {positive!r}, does not occur in {column}, which holds {shown}; "
            "name another: --positive LABEL."
        )
    chosen = positive_label(list(by_label)) if len(classes) == 2 else None
    if chosen is None:
        raise InputError(
            f"{column} holds {len(classes)} values, {shown}; name the one to be ranked at the top: "
            + " or ".join(f"--positive {shlex.quote(label)}" for label in list(by_label)[:3])
            + " or ..." * (len(classes) > 3) + "."
        )  # fmt: skip
    return by_label[chosen]


def _n_rows(count: int) -> str:
    return f"{count:,} row" + "s" * int(count != 1)
