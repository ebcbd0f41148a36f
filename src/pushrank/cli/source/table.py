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
from numpy.typing import NDArray

from pushrank.cli.errors import InputError, in_option_names, warn
from pushrank.cli.source.format import DEFAULT_FORMAT, TextFormat
from pushrank.cli.source.numerals import INVISIBLE, MISSING, NEARLY_ALL, TEXT, format_that_reads, numbers_of
from pushrank.cli.source.open import DATE_PART, Header, listed, normal
from pushrank.exceptions import BadRowError
from pushrank.times import dates_and_offsets, orders_that_read, read_dates, zone_text

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


class Kind(Enum):
    """What the values of a column are."""

    NUMBER = "number"
    TEXT = "text"
    DATE = "date"
    OTHER = "other"


@dataclass(frozen=True)
class Column:
    """A column, parsed once: its cells as they are in the file, and their values, NaN where missing."""

    # `counts` says how often each text occurs, and `holds_texts` that texts became NaN.

    name: str
    table: Table
    cells: pd.Series
    kind: Kind
    values: Any
    counts: Any = None
    holds_texts: bool = False

    def __str__(self) -> str:
        return f"column {self.name!r} of {self.table.path}"

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
            return read_dates(
                self.values.mask(self.values.isin(self.marks)), order=self.table.text_format.dates
            )
        except BadRowError as error:
            row, problem = f"row {self.row_number(error.row)}", error.args[2]
            must = f"{self} must hold dates such as 2024-12-31; {row}"
            if option:
                must = f"--{option} {self.name!r} must hold numbers or dates such as 2024-12-31 in every row"
                must = f"{must}; {row} of {self.table.path}"
            else:
                # A column of numbers is no answer to --date: a model that was fitted on dates needs them.
                others = ", and numbers as numbers, not as texts"
                problem = problem.replace(others, "; convert numbers since a date to one of these")
            raise InputError(in_option_names(f"{must}{problem}")) from error

    def words_to_read(self) -> str | None:
        """Return the option by which dates are read, empty where none is needed, or None where none does."""
        orders = orders_that_read(self.counts.index.difference(self.marks).to_list())
        if not orders or self.table.text_format.dates in orders:
            return "" if orders else None
        return " " + " or ".join(f"--read dates={way}" for way in orders)

    def warn_of_far(self, dates: NDArray[np.datetime64]) -> None:
        """Warn of days that are centuries off, as those that stand for none."""
        days = dates.astype("datetime64[D]")
        far, counts = np.unique(days[(days < FAR[0]) | (days >= FAR[1])], return_counts=True)
        if len(far):
            ns = zip(counts.tolist(), far, strict=True)
            shown = listed(f"{n:,} date{'s' * (n > 1)} of {day}" for n, day in ns)
            warn(f"{self}: {shown}, read as written; empty cells whose day stands for none.")

    def warn_of_spellings(self) -> None:
        """Warn of texts that a person takes for the same."""
        texts = pd.Series(self.counts.index, dtype=object)
        folded = texts.str.split().str.join(" ").str.casefold()
        several, alike = folded.duplicated(keep=False), dict[str, list[str]]()
        for word, text in zip(folded[several], texts[several], strict=True):
            alike.setdefault(word, []).append(text)
        if shown := listed(" and ".join(map(repr, spellings)) for spellings in alike.values()):
            how = "differ in case or blanks only, and count as different; write them in one way"
            warn(f"{self}: {shown} {how}.")

    def first_row(self, is_bad: Any) -> tuple[int, Any]:
        """Return the number in the file of the first row that is bad, and its cell."""
        position = int(np.argmax(is_bad))
        return self.row_number(position), self.cells.iloc[position]


@dataclass(frozen=True)
class Table:
    """Rows as they are in the file, in a frame of Arrow types; of a text file or a sheet all are texts."""

    path: Path
    frame: pd.DataFrame
    is_text: bool = False
    text_format: TextFormat = DEFAULT_FORMAT
    is_normal: bool = True
    """Whether columns have their texts in the form NFC."""
    _parsed: dict[str, Column] = field(default_factory=dict, init=False, repr=False, compare=False)

    def __len__(self) -> int:
        return len(self.frame)

    @property
    def reads_texts(self) -> bool:
        """Whether texts may be numbers: in a file with types they are texts, unless marks are stated."""
        return self.is_text or bool(self.text_format.marks)

    @property
    def header(self) -> Header:
        """The names of the columns."""
        return Header(self.path, self.frame.columns.to_list(), self.is_text)

    def where(self, kept: NDArray[np.bool_]) -> Table:
        """Return some of the rows, under their numbers in the file."""
        return replace(self, frame=self.frame[kept])

    def column(self, name: str, kind: Kind | None = None) -> Column:
        """Return a column, parsed as numbers or texts if ``kind`` says which, else as its cells suggest."""
        if kind is not None:
            return self._column(name, kind)
        if name not in self._parsed:
            self._parsed[name] = self._column(name, kind)
        return self._parsed[name]

    def _column(self, name: str, kind: Kind | None) -> Column:
        # A model that was fitted in Python may know a column by a name in another normal form.
        key = normal(name)
        if key not in self.frame and (part := DATE_PART.fullmatch(key)):
            return self._date_part(name, *part.groups())
        cells, written = self.frame[key], self.text_format
        type_kind = kind_of(cells)
        parsed = partial(Column, name, self, cells)
        if kind is Kind.NUMBER or (kind is None and type_kind in (Kind.NUMBER, Kind.TEXT)):
            numbers, holds_texts = np.full(len(cells), np.nan), True
            if type_kind is Kind.NUMBER:
                numbers, holds_texts = cells.to_numpy(np.float64, na_value=np.nan), False
            elif type_kind is Kind.TEXT and (self.reads_texts or kind is Kind.NUMBER):
                numbers, holds_texts = numbers_of(cells, written)
            if kind is Kind.NUMBER or not holds_texts:
                return parsed(Kind.NUMBER, numbers, holds_texts=holds_texts)
        if kind is None and type_kind is Kind.OTHER:
            return parsed(Kind.OTHER, cells)
        # By the clock of its zone a time may lie beyond the years that Python can write.
        if getattr(cells.dtype.pyarrow_dtype, "tz", None):
            clock = cells.dt.tz_localize(None)
            cells = cells if clock.dt.year.between(1, 9999).all() else clock
        if type_kind is Kind.OTHER:
            cells = spelt_out(cells)
        if type_kind is Kind.TEXT:
            cells = cells.astype(TEXT)
            if self.is_normal:
                normal_texts = pc.utf8_normalize(pa.array(cells.array), form="NFC")
                cells = pd.Series(pd.arrays.ArrowExtensionArray(normal_texts), index=cells.index)
            missing = ["", *map(str.strip, written.missing)]
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
        self.header.check(name, option)

    def labels(self, name: str | None) -> Column:
        """Return the column that --label names as texts."""
        if name is None:
            raise InputError("name the column that holds the label: --label COLUMN.")
        self.check(name, "label")
        return self.column(name, Kind.TEXT)

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
            must = f"must hold a number{f' of at least {lowest:g}' * bool(np.isfinite(lowest))} in every row"
            problem = "is empty: fill it, or leave such rows out" if pd.isna(cell) else f"holds {cell!r}"
            raise InputError(f"--{option} {name!r} {must}; row {row} of {self.path} {problem}.")
        return np.asarray(column.values)

    def texts(self, name: str, option: str, hint: str) -> NDArray[np.object_]:
        """Return the texts of a column that an option names; with a hint an empty one is an InputError."""
        self.check(name, option)
        column = self.column(name, Kind.TEXT)
        column.warn_of_spellings()
        if hint and (is_empty := column.values.isna()).any():
            where = f"{is_empty.sum():,} rows of {self.path}, first in row {column.first_row(is_empty)[0]}"
            raise InputError(f"--{option} {name!r} is empty in {where}; fill it{hint}.")
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
        is_number = column.kind is Kind.NUMBER
        texts = column if column.kind in (Kind.TEXT, Kind.DATE) else self.column(name, Kind.TEXT)
        are_days = len(texts.counts) and texts.counts.index.str.fullmatch(WHOLE_DAY).all()
        if may_be_text or (is_number and not are_days):
            values = np.asarray((column if is_number else texts).values)
        elif not is_number and self._are_nearly_numbers(name) and texts.words_to_read() is None:
            # A few texts among numbers: the error names the first of them.
            values = self.numbers(name, "time")
        else:
            values = texts.dates("time")
            texts.warn_of_far(values)
        if (is_missing := pd.isna(values)).any():
            row, _ = column.first_row(is_missing)
            raise InputError(f"--time {name!r} is missing in row {row} of {self.path}; fill it.")
        if with_zones and values.dtype.kind == "M":
            # A column of moments knows the name of its zone, and texts know its offsets.
            if getattr(column.cells.dtype.pyarrow_dtype, "tz", None):
                return column.cells
            offsets = dates_and_offsets(texts.values, self.text_format.dates)[1]
            zones = [zone_text(ahead) for ahead in offsets.tolist()]
            return values if np.isnan(offsets).all() else np.char.add(values.astype(str), zones)
        # A batch is called 3, not 3.0.
        is_whole = values.dtype.kind == "f" and (np.rint(values) == values).all()
        is_whole = is_whole and np.abs(values).max(initial=0) < 2**53
        return np.asarray(values, dtype=np.int64 if is_whole else None)

    def _are_nearly_numbers(self, name: str) -> bool:
        numbers = self.column(name, Kind.NUMBER).values if self.is_text else np.full(1, np.nan)
        return bool(np.isnan(numbers).mean() <= 1 - NEARLY_ALL)

    def _date_part(self, name: str, of: str, part: str) -> Column:
        """Return what the dates of a column are in numbers, or raise InputError."""
        column = self.column(of, Kind.TEXT)
        dates = column.dates()
        # The number of days alone is as far off as its date.
        if part == "days since 1970":
            column.warn_of_far(dates)
        days = dates.astype("datetime64[D]")
        # Day 0 is a Thursday. Of a missing date NumPy makes the smallest integer.
        hours, numbers = (dates - days).astype("timedelta64[m]") / np.timedelta64(60, "m"), days.astype(int)
        numbers = {"hour": hours, "weekday": (numbers + 3) % 7, "days since 1970": numbers}[part]
        numbers = np.where(np.isnat(dates), np.nan, numbers)
        return Column(name, self, column.cells, Kind.NUMBER, numbers)

    def names_in(self, texts: Sequence[str]) -> list[str]:
        """Return the names of columns in texts: one may hold a comma, or commas stand between several."""
        columns = set(self.frame.columns)
        return [name for text in texts for name in ([text] if text in columns else text.split(","))]

    def feature_columns(
        self, label: str, excluded: Sequence[str], dates: Sequence[str], aside: Mapping[str, str | None]
    ) -> list[Column]:
        """Return the columns to rank by: all but the label and what options name; of dates their numbers."""
        out = dict.fromkeys(self.names_in(excluded), "exclude")
        out |= {name: why for why, name in aside.items() if name is not None} | dict.fromkeys(dates, "date")
        for name, why in out.items():
            self.check(name, why)
            if name == label:
                raise InputError(f"--{why} {name!r} is the label.")
        names = [name for name in self.frame.columns if name != label and name not in out]
        names += [f"{name} ({part})" for name in dates for part in ("hour", "weekday", "days since 1970")]
        if not names:
            raise InputError(f"{self.path} has no column but the label; there is nothing to rank by.")
        return [self.column(name) for name in names]

    def model_columns(self, numeric: list[str], categorical: list[str]) -> list[Column]:
        """Return the columns that a model was fitted on, parsed as it needs them, or raise InputError."""
        self.header.check_model_columns(numeric + categorical)
        parsed = [self.column(name, Kind.NUMBER) for name in numeric]
        if odd := [column for column in parsed if column.holds_texts]:
            self._refuse_texts(odd)
        return parsed + [self.column(name, Kind.TEXT) for name in categorical]

    def _refuse_texts(self, columns: list[Column]) -> None:
        """Raise InputError that names all columns of texts that must hold numbers, and how to read them."""
        reasons, texts, missing = [], {}, set[str]()
        for column in columns:
            written = self.column(column.name, Kind.TEXT)
            row, cell = column.first_row(np.isnan(column.values) & written.values.notna().to_numpy())
            reasons.append(f"{column.name!r} holds {str(cell)!r} in row {row}")
            if kind_of(column.cells) is Kind.TEXT:
                texts[column.name] = written.counts.index
                strangers = (text.strip() for text in written.counts.index if not re.search(r"\d", text))
                missing |= {text for text in strangers if text.lower() not in MISSING}
        form, left = format_that_reads(texts, sorted(missing), self.text_format)
        can_read = len(left) < len(texts)
        shown = "; ".join(reasons[:5] + [f"and {len(reasons) - 5:,} more"] * (len(reasons) > 5))
        how = "Say how numbers are written" if can_read else "Write numbers as -1234.5"
        must = f"columns of {self.path} must hold numbers, as where the model was fitted"
        raise InputError(f"{must}: {shown}. {how}.", add=form.words() if can_read else ())


def kind_of(cells: pd.Series) -> Kind:
    """Return what the cells of a column are by their type; truth values count as numbers."""
    types, arrow_type = pa.types, cells.dtype.pyarrow_dtype
    # Categories are read as texts. Those of numbers are as rare as columns of lists.
    if is_category := types.is_dictionary(arrow_type):
        arrow_type = arrow_type.value_type
    if types.is_string(arrow_type) or types.is_large_string(arrow_type):
        return Kind.TEXT
    if types.is_temporal(arrow_type) and not is_category:
        return Kind.DATE
    are_numbers = (types.is_integer, types.is_floating, types.is_decimal, types.is_boolean)
    is_number = not is_category and any(is_it(arrow_type) for is_it in are_numbers)
    return Kind.NUMBER if is_number else Kind.OTHER


def spelt_out(cells: pd.Series) -> pd.Series:
    """Return lists, bytes and the like as texts that show all of each: what NumPy prints is abridged."""
    texts = [None if cell is None else str(cell) for cell in pa.array(cells.array).to_pylist()]
    return pd.Series(texts, cells.index, TEXT)


def odd_spelt_out(frame: pd.DataFrame) -> dict[str, pd.Series]:
    """Return the columns whose cells are no texts, numbers or dates, such as lists, as texts."""
    typed = frame.select_dtypes(pd.ArrowDtype)
    return {name: spelt_out(typed[name]) for name in typed if kind_of(typed[name]) is Kind.OTHER}


def as_text(value: Any) -> str:
    """Return a value as text; whole numbers have no decimal point, even where gaps made them floats."""
    is_float = isinstance(value, float | np.floating)
    if float(value).is_integer() if is_float else isinstance(value, Decimal) and value == round(value):
        return str(int(value))
    return str(value)
