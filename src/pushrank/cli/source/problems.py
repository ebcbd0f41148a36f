"""All that keeps a file from being read as it is written, in one refusal, with the words that read it."""

import re
from collections.abc import Collection
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from pushrank._base.user_types import Floats
from pushrank.cli.errors import InputError, shell_word
from pushrank.cli.source.columns import GIVES_AWAY, NamesRows, are_molecules, doubts_of, why_ignored
from pushrank.cli.source.format import SHEETS, TextFormat
from pushrank.cli.source.labels import positive_class, read_labels
from pushrank.cli.source.numerals import (
    AMOUNT,
    MARKED,
    NEARLY_ALL,
    TEXT,
    format_that_reads,
    numbers_of,
    units_of,
)
from pushrank.cli.source.open import listed
from pushrank.cli.source.table import DATE, Column, Kind, Table, kind_of
from pushrank.times import orders_that_read

SAMPLE = 10_000
"""So many numbers of a column show by which marks they are read."""
MIN_NUMBERS = 20
"""Among so many different numbers, or fractions, a word is no category; k.A. is none among any."""
MAX_MARKS = 3
"""Texts among numbers that stand for missing ones: more of them mean something."""
MIN_SHARE = 0.5
"""At least this share of the values of a column are numbers or dates where a single text is none."""
MAX_SHOWN = 8


class Written(NamedTuple):
    """A column that is meant as numbers or dates: its distinct texts, which are, and which are not read."""

    column: Column
    kind: Kind
    texts: pd.Index
    is_meant: NDArray[np.bool_]
    is_odd: NDArray[np.bool_]
    of_what: str = ""
    """What it holds where no marks make numbers of it."""

    @property
    def name(self) -> str:
        return self.column.name

    @property
    def marks(self) -> list[str]:
        """The texts that stand for missing values."""
        strangers, values = self.texts[~self.is_meant], self.texts[self.is_meant]
        if len(strangers) > MAX_MARKS or any(re.search(r"\d", text) for text in strangers):
            return []
        is_measured = len(values) > MIN_NUMBERS or values.str.contains(r"[.,]").any()
        return [text for text in strangers if is_measured or re.search(r"[^\w\s]", text)]

    def orders(self, n_texts: int | None = None) -> list[str | None]:
        """Return the orders of day and month by which all dates, or some of them, are read."""
        return orders_that_read(self.texts[self.is_meant][:n_texts].to_list())

    def held(self, texts: Collection[str]) -> str:
        """Return the first cell that holds one of some texts, and its row."""
        cells = self.column.cells if self.column.kind is Kind.NUMBER else self.column.values
        row, cell = self.column.first_row(cells.isin(texts).to_numpy(dtype=bool, na_value=False))
        return f"{cell!r} in row {row:,}"


def check_readable(table: Table, source: Any, learn: Any) -> None:
    """Raise InputError that names all problems of a file, where its columns cannot be read as written.

    A file whose columns are read may have labels, identifiers and leaks that others refuse or warn of.
    """
    date = source.date or ()
    # A column that an option needs cannot be left out. Groups are texts, however they are written.
    named, kept = {learn.time, learn.weight, *date}, source.keep or ()
    left = {*table.names_in(source.exclude or ()), source.label, learn.group}
    unusable, written = dict[str, str](), list[Written]()
    for column in (table.column(name) for name in table.frame if name not in left):
        if column.kind is Kind.OTHER and column.name not in named and column.cells.notna().any():
            arrow_type = column.cells.dtype.pyarrow_dtype
            unusable[column.name] = f"holds {arrow_type}, of which no single number can be made"
        elif kind_of(column.cells) is Kind.TEXT:
            # What no marks read may be names all the same, which --keep says.
            written += [
                of for of in _written(column) if not (of.of_what and of.name in {*kept, learn.time, *date})
            ]
    numbers, dates = ([of for of in written if of.kind is kind] for kind in (Kind.NUMBER, Kind.DATE))
    needed = [of.orders(SAMPLE) for of in dates if of.name in (learn.time, *date)]
    is_undated = any(orders and table.text_format.dates not in orders for orders in needed)
    if not unusable and not is_undated and not any(of.is_odd.any() for of in numbers):
        return
    form, reasons, unread = _numbers(table, numbers)
    reasons += [f"{name!r} {why}" for name, why in unread.items() if name in named]
    unusable |= {name: why for name, why in unread.items() if name not in named}
    missing: dict[str, str] = {}
    for of in (of for of in written if of.name not in unread):
        for mark in of.marks:
            where = f"among the {of.kind.value}s of {of.name!r} stands {of.held([mark])}"
            missing.setdefault(mark.strip(), where)
    way, of_dates = _dates(table, sorted(dates, key=lambda of: of.name not in named))
    form = replace(form, missing=tuple(missing), dates=way)
    viewed = replace(table, text_format=TextFormat.parse([*table.text_format.texts(), *form.texts()]))
    known = {*left, *named, *unusable, *kept}
    of_label, words, doubtful = _doubts(viewed, source, known, {of.name for of in numbers})
    unusable |= doubtful
    shown = [f"{name!r} {why}" for name, why in unusable.items()]
    more = [f"and {len(shown) - MAX_SHOWN:,} more columns"] * (len(shown) > MAX_SHOWN)
    reasons = [*reasons, *missing.values(), *of_dates, *of_label, *shown[:MAX_SHOWN], *more]
    add = [*form.words(), *words, *(word for name in unusable for word in ("--exclude", name))]
    raise InputError(f"{table.path} cannot be used as it is written: {'; '.join(reasons)}.", add=add)


def _written(column: Column) -> list[Written]:
    """Return how the texts of a column are written, in a list that is empty where they are meant as texts."""
    if column.kind is Kind.NUMBER:
        texts = pd.Index(column.cells.iloc[:SAMPLE].dropna().unique().astype(object))
        is_read = np.ones(len(texts), dtype=bool)
        return [Written(column, Kind.NUMBER, texts, is_read, ~is_read)]
    counts = column.counts.drop(column.marks)
    texts, shares = counts.index, counts.to_numpy() / max(counts.sum(), 1)
    # The most frequent texts show that all are names, say, which spares a look at each.
    head = texts[:SAMPLE]
    may_be = (
        np.any([head.str.fullmatch(form) for form in (AMOUNT, DATE, MARKED)], axis=0) if len(head) else []
    )
    if not len(head) or shares[:SAMPLE][may_be].sum() < MIN_SHARE * shares[:SAMPLE].sum():
        return []
    is_date = np.asarray(texts.str.fullmatch(DATE), dtype=bool)
    if _is_meant(is_date, shares):
        return [Written(column, Kind.DATE, texts, is_date, ~is_date)]
    if not column.table.reads_texts:
        return []
    units = units_of(texts)
    is_read = ~np.isnan(numbers_of(pd.Series(texts, dtype=TEXT), column.table.text_format)[0])
    is_amount = is_read if units is None else is_read | units.notna().to_numpy()
    if units is not None and _is_meant(is_amount, shares):
        found = sorted({*units[is_amount].dropna()} - {""})
        of_what = f"numbers with the unit {listed(map(repr, found))}," * bool(found)
        return [Written(column, Kind.NUMBER, texts, is_amount, is_amount & ~is_read, of_what)]
    is_marked = np.asarray(texts.str.fullmatch(MARKED), dtype=bool)
    # Few may be classes of ages, and nearly as many as rows are names of these.
    are_many = MIN_NUMBERS < len(texts) <= len(column.cells) / 2
    if not (are_many and _is_meant(is_marked, shares) and (is_marked & ~is_read).any()):
        return []
    of_what = "numbers with other marks,"
    return [Written(column, Kind.NUMBER, texts, is_marked, is_marked & ~is_read, of_what)]


def _is_meant(are: NDArray[np.bool_], shares: Floats) -> bool:
    """Return whether a column is meant as what some of its texts are: nearly all, or all but one text."""
    share = shares[are].sum()
    return bool(share >= NEARLY_ALL or (share >= MIN_SHARE and np.sum(~are) == 1))


def _numbers(table: Table, numbers: list[Written]) -> tuple[TextFormat, list[str], dict[str, str]]:
    """Return the marks of numbers to state, what they read, and why columns of numbers are still unread."""
    # The numbers of a sheet are written with the decimal mark of the texts among them, whatever it is.
    in_sheet = table.path.suffix.lower() in SHEETS
    texts = {of.name: of.texts[of.is_odd if in_sheet else of.is_meant] for of in numbers if not of.of_what}
    form, left = format_that_reads(texts, [], table.text_format)
    unread, read = {}, []
    for of in numbers:
        if of.of_what or of.name in left:
            held = of.held(of.texts[of.is_odd if of.is_odd.any() else of.is_meant])
            how = "no marks read these and all others: write them alike, or leave the column out"
            if of.of_what:
                as_names = f"--keep {shell_word(of.name)}, if these are names"
                how = f"write numbers alone, or leave the column out, or {as_names}"
            unread[of.name] = f"holds {of.of_what or 'numbers'} such as {held} ({how})"
        elif of.is_odd.any():
            read.append(of)
    if not read:
        return form, [], unread
    others = f", and so do {listed(repr(of.name) for of in read[1:])}" * (len(read) > 1)
    held = read[0].held(read[0].texts[read[0].is_odd])
    return form, [f"{read[0].name!r} holds numbers written as {held}{others}"], unread


def _dates(table: Table, dates: list[Written]) -> tuple[Any, list[str]]:
    """Return the order of day and month by which most dates are read, if one is needed, and what it reads."""
    ways, said = list[str | None](), ""
    for of in dates:
        if not (orders := of.orders()) or table.text_format.dates in orders:
            continue
        said = said or f"{of.name!r} holds dates written as {of.held(of.texts[of.is_meant])}"
        ways = [way for way in ways if way in orders] or ways or orders
    if len(ways) > 1:
        said += ", in which day and month cannot be told apart: dates=mdy may be right"
    return (ways[0], [said]) if ways else (None, [])


def _doubts(
    table: Table, source: Any, known: Collection[Any], numbers: Collection[str]
) -> tuple[list[str], list[str], dict[str, str]]:
    """Return what is to be said of the label, the words that say it, and why columns are to be left out."""
    label, y = source.label, np.zeros(len(table), dtype=bool)
    reasons, words = list[str](), list[str]()
    if label in table.frame:
        column = table.labels(label)
        has_label, _, classes = read_labels(column, source.positive)
        if len(classes) > 1:
            chosen, problem = positive_class(classes, source.positive)
            reasons, words = ([f"{label!r} {problem}"], ["--positive", chosen.shown]) if problem else ([], [])
            y = column.values.isin(chosen.spellings).to_numpy()
        table, y = table.where(has_label), y[has_label]
    doubtful = {}
    for name in table.frame:
        if name in known or (column := table.column(name)).kind in (Kind.DATE, Kind.OTHER):
            continue
        # Numbers of a sheet among texts are written otherwise where the format is stated.
        is_no_text = are_molecules(column) or (column.kind is Kind.TEXT and name in numbers)
        doubts = [] if is_no_text or why_ignored(column) else [*doubts_of(column, y)]
        if GIVES_AWAY in doubts:
            how = f"unless it is known beforehand: --keep {shell_word(name)}"
            doubtful[name] = f"alone tells the two classes apart, and is to be left out {how}"
        elif names := [doubt for doubt in doubts if isinstance(doubt, NamesRows)]:
            doubtful[name] = names[0].partition(";")[0]
    return reasons, words, doubtful
