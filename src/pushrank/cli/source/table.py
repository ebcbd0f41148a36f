"""Tables: rows as they are in a file, and columns parsed once into values with a kind."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from decimal import Decimal
from enum import Enum
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc
import scipy.sparse as sp
from numpy.typing import NDArray

from pushrank.cli.errors import InputError, in_option_names, warn
from pushrank.cli.source.format import DEFAULT_FORMAT, TextFormat
from pushrank.cli.source.open import DATE_PART, Header, listed, normal
from pushrank.exceptions import BadRowError
from pushrank.times import dates_and_offsets, orders_that_read, read_dates, zone_text

LIBSVM_LABEL = "label"
QUERY = "qid"
TEXT = pd.ArrowDtype(pa.string())
FLOAT = pd.ArrowDtype(pa.float64())
MISSING = ["#n/a", "#n/a n/a", "#na", "-1.#ind", "-1.#qnan", "-nan", "1.#ind", "1.#qnan", "<na>", "n/a", "na",
           "nan", "none", "null"]  # fmt: skip
"""The cells that are missing numbers, as in pandas.read_csv. Beside text they are text: NA is Namibia."""
NUMBER = r"[-+]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][-+]?[0-9]+)?"
"""A number with a decimal point; Python would also take 1_000, and digits of other scripts."""
INVISIBLE = "\u200b\u200c\u200d\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2060\u2066\u2067\u2068\u2069\ufeff"
"""Marks around a number that no screen shows, as spreadsheets copy them along."""
DAY = r"(?:0?[1-9]|[12]\d|3[01])"
MONTH = r"(?i:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]*\.?"
DATE = (
    rf"[\s{INVISIBLE}]*(?:\d{{4}}([-/.]){DAY}\1{DAY}|{DAY}([-/.]){DAY}\2(?:19|20)\d\d|{DAY}/{DAY}/\d\d"
    rf"|\d{{8}}(?=[Tt]\d)|(?:{DAY}[- ]?{MONTH}|{MONTH} {DAY}),?[- ]?(?:19|20)\d\d)(?:[Tt ,+Zz\xa0:].*)?\s*"
)
"""A text that is meant as a date, whether it is read as one or not."""
WHOLE_DAY = r"\s*(?:19|20)\d\d(?:0[1-9]|1[0-2])(?:0[1-9]|[12]\d|3[01])\s*"
"""A whole number that is a day, such as 20241231, where all of a column are."""
FAR = np.array(["1800-01-01", "2200-01-01"], "datetime64[D]")
"""Days before and from which on dates are seldom meant, as 9999-12-31 for no end."""
NEARLY_ALL = 0.9
"""A column is what at least this share of its values are: the others may be mistakes."""


def plain(texts: Any, text_format: TextFormat) -> Any:
    """Return Arrow texts whose numbers have a decimal point, and no marks of thousands."""
    texts = pc.utf8_trim_whitespace(pc.utf8_trim(pc.utf8_trim_whitespace(texts), INVISIBLE))
    # The minus sign of typesetters can mean nothing else.
    texts = pc.replace_substring(texts, "\u2212", "-")
    if text_format.thousands:
        # A space stands for spaces of all kinds, such as the narrow ones of French numbers.
        mark = r"\s\pZ" if text_format.thousands.isspace() else re.escape(text_format.thousands)
        # Marks count where three digits follow: 1,25 and 1.5,250 are no 125 and no 1.525. In 2,146e5 the
        # comma is a decimal mark.
        grouped = rf"^[-+]?[1-9][0-9]{{0,2}}(?:[{mark}][0-9]{{3}})+(?:[^0-9eE{mark}][^{mark}]*)?$"
        joined = pc.replace_substring_regex(texts, f"[{mark}]", "")
        texts = pc.if_else(pc.match_substring_regex(texts, grouped), joined, texts)
    if text_format.decimal not in (None, "."):
        # Where the mark is a comma, 1.5 is no number.
        texts = pc.replace_substring(pc.replace_substring(texts, ".", "\0"), text_format.decimal, ".")
    return texts


def numbers_of(cells: pd.Series, text_format: TextFormat) -> tuple[NDArray[np.float64], bool]:
    """Return texts as floats, NaN where they are missing or no numbers, and whether some are none."""
    cells = cells.astype(TEXT)
    # Arrow reads the numbers of most files at once, which spares several passes over the texts.
    if not text_format.marks:
        try:
            return np.asarray(pa.array(cells.array).cast(pa.float64())), False
        except pa.ArrowInvalid:
            pass
    texts, nothing = pc.utf8_trim_whitespace(pa.array(cells.array)), pa.scalar(None, pa.string())
    stated = pa.array(["", *map(str.strip, text_format.na_values or [])])
    is_missing = pc.or_(pc.is_in(texts, stated), pc.is_in(pc.utf8_lower(texts), pa.array(MISSING)))
    texts = plain(pc.if_else(is_missing, nothing, texts), text_format)
    lower = pc.utf8_lower(texts)
    is_truth = pc.is_in(lower, pa.array(["true", "false"]))
    if 0 < len(texts) - texts.null_count == pc.sum(is_truth).as_py():
        texts = pc.if_else(is_truth, pc.if_else(pc.equal(lower, "true"), "1", "0"), nothing)
    is_number = pc.match_substring_regex(texts, rf"^(?:{NUMBER}|[-+]?(?i:inf|infinity))$")
    numbers = pc.if_else(is_number, texts, nothing).cast(pa.float64())
    return np.asarray(numbers), pc.any(pc.invert(is_number)).as_py() or False


class Kind(Enum):
    """What the values of a column are."""

    NUMBER = "number"
    TEXT = "text"
    DATE = "date"
    OTHER = "other"


@dataclass(frozen=True)
class Column:
    """A column, parsed once: its cells as they are in the file, and their values."""

    # Values are floats or texts, NaN where they are missing; other cells are their own values. `counts` says
    # how often each text occurs, `plain` how labels are written with a decimal point, `holds_texts` that
    # texts became NaN, and `text_format` how numbers are written, where texts may be numbers.

    name: str
    path: Path
    cells: pd.Series
    kind: Kind
    values: Any
    counts: Any = None
    plain: Mapping[str, str] = field(default_factory=dict)
    holds_texts: bool = False
    text_format: TextFormat | None = None
    date_order: str | None = None

    def __str__(self) -> str:
        return f"column {self.name!r} of {self.path}"

    def row_number(self, position: int | np.integer[Any]) -> int:
        """Return the number of a row in the file, from 1, which leaving out rows does not change."""
        return int(self.cells.index[position]) + 1

    @property
    def marks(self) -> list[str]:
        """The texts that stand for a missing number or date."""
        return [text for text in self.counts.index if text.strip().lower() in MISSING]

    def dates(self, option: str = "") -> NDArray[np.datetime64]:
        """Return texts as dates, NaT where they are missing, or raise InputError for one that is none."""
        try:
            return read_dates(self.values.mask(self.values.isin(self.marks)), order=self.date_order)
        except BadRowError as error:
            must, row = f"{self} must hold dates such as 2024-12-31", f"row {self.row_number(error.row)}"
            # A column of numbers is no answer to --date: a model that was fitted on dates needs them.
            to_convert = "; convert numbers since a date to one of these"
            problem = error.args[2].replace(", and numbers as numbers, not as texts", to_convert)
            if option:
                must = f"--{option} {self.name!r} must hold numbers or dates such as 2024-12-31 in every row"
                row, problem = f"{row} of {self.path}", error.args[2]
            raise InputError(in_option_names(f"{must}; {row}{problem}")) from error

    def with_zones(self, dates: NDArray[np.datetime64]) -> NDArray[Any]:
        """Return dates as texts with their zones, as dates where none has one."""
        offsets = dates_and_offsets(self.values, self.date_order)[1]
        if np.isnan(offsets).all():
            return dates
        return np.char.add(dates.astype(str), [zone_text(ahead) for ahead in offsets.tolist()])

    def words_to_read(self) -> str | None:
        """Return the option by which dates are read, empty where none is needed, or None where none does."""
        if not (orders := orders_that_read(self.counts.index.difference(self.marks).to_list())):
            return None
        return "" if self.date_order in orders else " --date-order " + " or ".join(map(str, orders))

    def warn_of_far(self, days: NDArray[np.datetime64]) -> None:
        """Warn of days that are centuries off, as those that stand for none."""
        far, counts = np.unique(days[(days < FAR[0]) | (days >= FAR[1])], return_counts=True)
        if len(far):
            shown = (
                f"{n:,} date{'s' * (n > 1)} of {day}" for n, day in zip(counts.tolist(), far, strict=True)
            )
            warn(f"{self}: {listed(shown)}, read as written; empty cells whose day stands for none.")

    def first_row(self, is_bad: Any) -> tuple[int, Any]:
        """Return the number in the file of the first row that is bad, and its cell."""
        position = int(np.argmax(is_bad))
        return self.row_number(position), self.cells.iloc[position]


@dataclass(frozen=True)
class Table:
    """Rows as they are in the file, in a frame of Arrow types; of a text file or a sheet all are texts."""

    # A libsvm file has sparse `features` and labels. Columns have their texts in the form NFC if
    # `is_normal`.

    path: Path
    frame: pd.DataFrame
    features: sp.csr_matrix | None = None
    is_text: bool = False
    text_format: TextFormat = DEFAULT_FORMAT
    is_normal: bool = True

    def __len__(self) -> int:
        return len(self.frame)

    @property
    def is_sparse(self) -> bool:
        """Whether the rows came from a libsvm file."""
        return self.features is not None

    @property
    def header(self) -> Header:
        """The names of the columns."""
        return Header(self.path, self.frame.columns.to_list(), self.is_text)

    def where(self, kept: NDArray[np.bool_]) -> Table:
        """Return some of the rows, under their numbers in the file."""
        features = None if self.features is None else self.features[kept]
        return replace(self, frame=self.frame[kept], features=features)

    def column(self, name: str, kind: Kind | None = None) -> Column:
        """Return a column, parsed as numbers or texts if ``kind`` says which, else as its cells suggest."""
        # In a file with types a column of texts is no column of numbers, whatever it holds, unless numbers
        # are asked for, or an option says how they are written. A model that was fitted in Python may know a
        # column by a name in another normal form.
        key = normal(name)
        if key not in self.frame and (part := DATE_PART.fullmatch(key)):
            return self._date_part(name, *part.groups())
        cells, written = self.frame[key], self.text_format
        type_kind = _kind_of_type(cells.dtype.pyarrow_dtype)
        reads_texts = self.is_text or bool(written.marks)
        parsed = partial(
            Column,
            name,
            self.path,
            cells,
            text_format=written if reads_texts else None,
            date_order=written.date_order,
        )
        if kind is Kind.NUMBER or (kind is None and type_kind in (Kind.NUMBER, Kind.TEXT)):
            numbers, holds_texts = np.full(len(cells), np.nan), True
            if type_kind is Kind.NUMBER:
                numbers, holds_texts = cells.to_numpy(np.float64, na_value=np.nan), False
            elif type_kind is Kind.TEXT and (reads_texts or kind is Kind.NUMBER):
                numbers, holds_texts = numbers_of(cells, written)
            if kind is Kind.NUMBER or not holds_texts:
                return parsed(Kind.NUMBER, numbers, holds_texts=holds_texts)
        if kind is None and type_kind is Kind.OTHER:
            return parsed(Kind.OTHER, cells)
        # By the clock of its zone a time may lie beyond the years that Python can write.
        if getattr(cells.dtype.pyarrow_dtype, "tz", None):
            clock = cells.dt.tz_localize(None)
            cells = cells if clock.dt.year.between(1, 9999).all() else clock
        if type_kind is Kind.TEXT:
            cells = cells.astype(TEXT)
            if self.is_normal:
                normal_texts = pc.utf8_normalize(pa.array(cells.array), form="NFC")
                cells = pd.Series(pd.arrays.ArrowExtensionArray(normal_texts), index=cells.index)
            missing = ["", *map(str.strip, written.na_values or [])]
            texts, is_missing = cells.astype(object), cells.isna() | cells.str.strip().isin(missing)
        else:
            texts = cells.astype(object).map(as_text, na_action="ignore").astype(object)
            is_missing = cells.isna()
        # Missing texts are NaN, as scikit-learn's encoders expect them.
        texts = texts.mask(is_missing, np.nan)
        counts = texts.value_counts()
        if kind is None:
            # Dates are recognised by their texts alone: no library reads all the ways in which people write
            # them without taking version numbers for dates.
            n_dates = counts[counts.index.str.fullmatch(DATE)].sum() if len(counts) else 0
            kind = Kind.DATE if 0 < NEARLY_ALL * counts.sum() <= n_dates else type_kind
        return parsed(kind, texts, counts)

    def check(self, name: str, option: str) -> None:
        """Raise InputError unless there is a column that an option names."""
        if self.is_sparse and name not in self.frame:
            raise InputError(f"--{option} {name!r} is for named columns; those of {self.path} have none.")
        self.header.check(name, option)

    def labels(self, name: str | None) -> Column:
        """Return the column that --label names, or the labels of a libsvm file, as texts."""
        if self.is_sparse:
            name = LIBSVM_LABEL
        elif name is None:
            raise InputError("name the column that holds the label: --label COLUMN.")
        else:
            self.check(name, "label")
        column = self.column(name, Kind.TEXT)
        texts = pa.array(column.counts.index, pa.string())
        # Labels that are no texts are written with a decimal point already.
        written = plain(texts, self.text_format) if is_of_texts(column.cells) else texts
        return replace(column, plain=dict(zip(texts.to_pylist(), written.to_pylist(), strict=True)))

    def numbers(
        self, name: str, option: str, lowest: float = -np.inf, *, may_lack: bool = False
    ) -> NDArray[np.float64]:
        """Return the column that an option names, or raise InputError unless each row holds a number."""
        self.check(name, option)
        column = self.column(name, Kind.NUMBER)
        is_usable = np.isfinite(column.values) & (column.values >= lowest)
        if may_lack:
            texts = self.column(name, Kind.TEXT)
            is_usable |= texts.values.isna() | texts.values.isin(texts.marks)
        if not is_usable.all():
            row, cell = column.first_row(~is_usable)
            at_least = f" of at least {lowest:g}" * bool(np.isfinite(lowest))
            problem = "is empty: fill it, or leave such rows out" if pd.isna(cell) else f"holds {cell!r}"
            raise InputError(
                f"--{option} {name!r} must hold a number{at_least} in every row; row {row} of {self.path} "
                f"{problem}."
            )
        return np.asarray(column.values)

    def texts(self, name: str, option: str, hint: str) -> NDArray[np.object_]:
        """Return the texts of a column that an option names; with a hint an empty one is an InputError."""
        self.check(name, option)
        column = self.column(name, Kind.TEXT)
        if hint and (is_empty := column.values.isna()).any():
            row, _ = column.first_row(is_empty)
            raise InputError(
                f"--{option} {name!r} is empty in {is_empty.sum():,} rows of {self.path}, first in row "
                f"{row}; fill it{hint}."
            )
        return np.asarray(column.values, dtype=object)

    def groups(self, name: str) -> NDArray[np.int64]:
        """Return the groups of rows that the column of --group says, by their numbers."""
        hint = " (of merged cells only the first holds their value), or leave such rows out"
        # Texts of a fixed width would all be as long as the longest.
        return np.asarray(pd.factorize(self.texts(name, "group", hint), sort=True)[0])

    def times(self, name: str, *, may_be_text: bool = False, with_zones: bool = False) -> Any:
        """Return the numbers or dates of the column of --time, or the texts that batches may have.

        Dates are by the clocks of their zones, or are texts with these where they have some and it is asked.
        """
        self.check(name, "time")
        column = self.column(name)
        texts = column if column.kind in (Kind.TEXT, Kind.DATE) else self.column(name, Kind.TEXT)
        are_days = len(texts.counts) and texts.counts.index.str.fullmatch(WHOLE_DAY).all()
        if may_be_text or (column.kind is Kind.NUMBER and not are_days):
            values = np.asarray((column if column.kind is Kind.NUMBER else texts).values)
        elif (
            self.is_text
            and column.kind is not Kind.NUMBER
            and np.isnan(self.column(name, Kind.NUMBER).values).mean() <= 1 - NEARLY_ALL
            and texts.words_to_read() is None
        ):
            # A few texts among numbers: the error names the first of them.
            values = self.numbers(name, "time")
        else:
            values = texts.dates("time")
            texts.warn_of_far(values.astype("datetime64[D]"))
        if (is_missing := pd.isna(values)).any():
            row, _ = column.first_row(is_missing)
            raise InputError(f"--time {name!r} is missing in row {row} of {self.path}; fill it.")
        if with_zones and values.dtype.kind == "M":
            cells = self.frame[name]
            # A column of moments knows the name of its zone, and texts know its offsets.
            has_zone = getattr(getattr(cells.dtype, "pyarrow_dtype", None), "tz", None)
            return cells if has_zone else texts.with_zones(values)
        # A batch is called 3, not 3.0.
        is_whole = (
            values.dtype.kind == "f"
            and (np.rint(values) == values).all()
            and np.abs(values).max(initial=0) < 2**53
        )
        return np.asarray(values, dtype=np.int64 if is_whole else None)

    def _date_part(self, name: str, of: str, part: str) -> Column:
        """Return what the dates of a column are in numbers, or raise InputError."""
        column = self.column(of, Kind.TEXT)
        dates = column.dates()
        days = dates.astype("datetime64[D]")
        # The number of days alone is as far off as its date.
        if part == "days since 1970":
            column.warn_of_far(days)
        # Day 0 is a Thursday. Of a missing date NumPy makes the smallest integer.
        hours, numbers = (dates - days).astype("timedelta64[m]") / np.timedelta64(60, "m"), days.astype(int)
        numbers = {"hour": hours, "weekday": (numbers + 3) % 7, "days since 1970": numbers}[part]
        numbers = np.where(np.isnat(dates), np.nan, numbers)
        return Column(name, self.path, column.cells, Kind.NUMBER, numbers)

    def to_show(self, frame: pd.DataFrame, names: Sequence[str] | None) -> pd.DataFrame:
        """Return the columns that --show names, or all, or raise InputError when one is not there."""
        for name in names or ():
            self.check(name, "show")
        return frame[[name for name in dict.fromkeys(names) if name in frame]] if names else frame

    def feature_columns(
        self, label: str, excluded: Sequence[str], dates: Sequence[str], aside: Mapping[str, str | None]
    ) -> list[Column]:
        """Return the columns to rank by: all but the label and what options name; of dates their numbers."""
        columns = set(self.frame.columns)
        # A name may hold a comma. Where no column is called so, the commas stand between several names.
        named = [part for name in excluded for part in ([name] if name in columns else name.split(","))]
        out = dict.fromkeys(named, "exclude") | {name: why for why, name in aside.items() if name is not None}
        out |= dict.fromkeys(dates, "date")
        for name, why in out.items():
            self.check(name, why)
            if name == label:
                raise InputError(f"--{why} {name!r} is the label.")
        if self.is_sparse:
            return []
        names = [name for name in self.frame.columns if name != label and name not in out]
        names += [f"{name} ({part})" for name in dates for part in ("hour", "weekday", "days since 1970")]
        if not names:
            raise InputError(f"{self.path} has no column but the label; there is nothing to rank by.")
        return [self.column(name) for name in names]

    def model_columns(self, numeric: list[str], categorical: list[str]) -> list[Column]:
        """Return the columns that a model was fitted on, parsed as it needs them, or raise InputError."""
        self.header.check_model_columns(numeric + categorical)
        parsed = [self.column(name, Kind.NUMBER) for name in numeric]
        for column in parsed:
            if column.holds_texts:
                is_text = self.column(column.name, Kind.TEXT).values.notna().to_numpy()
                row, cell = column.first_row(np.isnan(column.values) & is_text)
                how = "; say how numbers are written: --decimal, --thousands, --na-values, or take units away"
                raise InputError(
                    f"{column} must hold numbers, as where the model was fitted; row {row} holds "
                    f"{str(cell)!r}{how * is_of_texts(column.cells)}."
                )
        return parsed + [self.column(name, Kind.TEXT) for name in categorical]


def is_of_texts(cells: pd.Series) -> bool:
    """Return whether the cells of a column are texts."""
    return _kind_of_type(cells.dtype.pyarrow_dtype) is Kind.TEXT


def _kind_of_type(arrow_type: Any) -> Kind:
    """Return what cells of an Arrow type are; truth values count as numbers."""
    types = pa.types
    if types.is_dictionary(arrow_type):
        # Categories are read as texts. Those of numbers are as rare as columns of lists.
        return Kind.TEXT if _kind_of_type(arrow_type.value_type) is Kind.TEXT else Kind.OTHER
    if types.is_string(arrow_type) or types.is_large_string(arrow_type):
        return Kind.TEXT
    if types.is_temporal(arrow_type):
        return Kind.DATE
    are_numbers = (types.is_integer, types.is_floating, types.is_decimal, types.is_boolean)
    return Kind.NUMBER if any(is_it(arrow_type) for is_it in are_numbers) else Kind.OTHER


def as_text(value: Any) -> str:
    """Return a value as text; whole numbers have no decimal point, even where gaps made them floats."""
    is_float = isinstance(value, float | np.floating)
    if float(value).is_integer() if is_float else isinstance(value, Decimal) and value == round(value):
        return str(int(value))
    return str(value)
