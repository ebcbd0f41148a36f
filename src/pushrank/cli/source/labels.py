"""Labels: which rows of a table are positive."""

import re
from dataclasses import dataclass, field
from decimal import Decimal
from itertools import groupby
from typing import NamedTuple

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from pushrank._base.validation import marks_of, positive_label
from pushrank.cli.errors import InputError, refusing, warn
from pushrank.cli.source.numerals import NUMBER, plain
from pushrank.cli.source.open import listed
from pushrank.cli.source.table import Column, Kind, Table, kind_of

UNLABELLED = {"?", "NA", "N/A", "n/a", "#N/A", "<NA>", "NaN", "nan", "null", "NULL"}
"""Texts that mean that a row has no label, unless one of them is named as the positive label."""
AUDIT = "what a list chose stands for no other rows, but rows drawn below it do: pushrank score --audit"
"""The way out where rows that a list chose would promise something of others."""
UNKNOWN = "they are on the lists, and nothing is known of their hits"
"""What becomes of rows without a label where lists are measured."""
MINUS_ONE = "-1 is a class: leave cells empty whose label is not known"
PAIRS = ("0", "1"), ("no", "yes"), ("n", "y"), ("false", "true")
"""Labels of which one alone shows whether it is that of hits."""
MAX_EXPONENT = 308
"""Beyond that of floats, a label such as 3e99999999 is a text: no memory holds its digits."""


@dataclass(frozen=True)
class LabelledRows:
    """A table, and which of its rows are positive, and have a label: all where ``known`` is None."""

    table: Table
    label: str
    positive: str
    y: NDArray[np.bool_]
    known: NDArray[np.bool_] | None = field(default=None, kw_only=True)

    @property
    def label_meaning(self) -> str:
        """What makes a row positive."""
        return f"{self.label} = {self.positive}"


class LabelClass(NamedTuple):
    """A class of the labels: their number or text, how they are written and shown, and in how many rows."""

    key: Decimal | str
    spellings: list[str]
    shown: str
    n_rows: int

    def __str__(self) -> str:
        return f"{self.shown} ({_n_rows(self.n_rows)})"


def label_rows(table: Table, column: Column, positive: str | None, *, may_lack: str = "") -> LabelledRows:
    """Return which rows are positive, which have a label at all, and the label that makes them positive."""
    # A line says what counts as the same, as negative or as no label, and in how many rows. Rows may lack a
    # label where `may_lack` says what becomes of them.
    has_label, no_label, classes = read_labels(column, positive)
    if not has_label.all():
        kinds = [f"{n:,} empty" for n in [int(column.values.isna().sum())] if n]
        kinds += [f"{column.counts[text]:,} {text!r}" for text in no_label]
        message = f"{np.sum(~has_label):,} of {len(has_label):,} rows ({', '.join(kinds)})"
        if not may_lack:
            where = f"{message}, first in row {column.first_row(~has_label)[0]}, and here each row needs one"
            how = f"fill them in, or leave such rows out, unless somebody chose the others; {AUDIT}"
            raise InputError(f"{column} has no label in {where}: {how}.")
        warn(f"{message} have no label in {column}: {may_lack}.")
    known = None if has_label.all() else has_label
    if len(classes) < 2 and known is None:
        raise InputError(f"{column} holds one class only ({listed(map(str, classes))}); ranking needs two.")
    if len(classes) < 2:
        positive = positive_so_far(column, positive)
        return LabelledRows(table, column.name, positive, labels_so_far(column, positive) == 1.0, known=known)
    chosen, problem = positive_class(classes, positive)
    if problem:
        raise InputError(f"{column} {problem}.", add=["--positive", chosen.shown])
    for group in classes:
        if isinstance(group.key, str) and len(group.spellings) > 1:
            shown = listed(f"{text!r} ({_n_rows(column.counts[text])})" for text in group.spellings)
            warn(f"{column}: {shown} count as one label.")
    others = [f"{group.shown!r} ({_n_rows(group.n_rows)})" for group in classes if group is not chosen]
    if len(others) > 1:
        # Some libraries write -1 for no label, and others for the negative class.
        minus = f"; {MINUS_ONE}" * ("-1" in column.counts)
        warn(f"{column}: all but {chosen.shown!r} count as negative: {listed(others)}{minus}.")
    y = column.values.isin(chosen.spellings).to_numpy()
    return LabelledRows(table, column.name, chosen.shown, y, known=known)


def is_acted_on(table: Table, name: str) -> NDArray[np.bool_]:
    """Return which rows somebody looked at, by the column of --acted: list, audit, yes, 1 and the like."""
    table.check(name, "acted")
    with refusing():
        return marks_of(table.column(name, Kind.TEXT).values.to_numpy(dtype=object))[1]


def positive_so_far(column: Column, positive: str | None) -> str:
    """Return the label of hits: the one that is stated, or else the one that a fit to all rows would take."""
    if positive is not None:
        return positive
    classes = read_labels(column, None)[2]
    shown = {of.shown.casefold() for of in classes}
    of_pairs = [hit for other, hit in PAIRS if shown <= {other, hit}]
    # Beside a label that is still to come 1 is the hit, as in 0 and 1, or is not, as in 1 and 2.
    if of_pairs and shown != {"1"}:
        return of_pairs[0]
    if len(classes) < 2:
        raise InputError(f"{column} holds one label so far; name the positive one: --positive.")
    chosen, problem = positive_class(classes, None)
    if problem:
        raise InputError(f"{column} {problem}.", add=["--positive", chosen.shown])
    return chosen.shown


def labels_so_far(column: Column, positive: str) -> NDArray[np.float64]:
    """Return 1 of positive rows, 0 of others, and NaN of those that have no label yet."""
    has_label, _, classes = read_labels(column, positive)
    wanted = label_key(positive)
    positives = [text for of in classes for text in of.spellings if of.key == wanted]
    shown = listed(repr(text) for of in classes for text in of.spellings if of.key != wanted)
    if len(classes) > 2:
        minus = f"; {MINUS_ONE}" * ("-1" in column.counts)
        warn(f"{column}: all but {positive!r} count as negative: {shown}{minus}.")
    if classes and not positives:
        told = f"{column} holds no {positive} so far, but {shown}; name the positive label: --positive."
        # A number where the fit had texts, or the other way round, is another way to write labels.
        if not all(isinstance(of.key, type(wanted)) for of in classes):
            raise InputError(told)
        if len(classes) > 1:
            # Negatives alone are a calm period; among several labels positives may be written otherwise.
            warn(told)
    return np.where(has_label, column.values.isin(positives).astype(np.float64), np.nan)


def label_key(text: str) -> Decimal | str:
    """Return what two labels have in common that are the same: the exact number, or the text."""
    text = text.strip().replace("\u2212", "-")
    if re.fullmatch(NUMBER, text) and abs((number := Decimal(text)).adjusted()) <= MAX_EXPONENT:
        return number
    return text.casefold()


def read_labels(
    column: Column, positive: str | None
) -> tuple[NDArray[np.bool_], list[str], list[LabelClass]]:
    """Return which rows have a label, the texts that are none, and the classes: numbers first, in order."""
    texts = pa.array(column.counts.index, pa.string())
    # Labels that are no texts are written with a decimal point already.
    written = plain(texts, column.table.text_format) if kind_of(column.cells) is Kind.TEXT else texts
    keys = dict(zip(texts.to_pylist(), map(label_key, written.to_pylist()), strict=True))
    wanted = None if positive is None else label_key(positive)
    no_label = [text for text in keys if text.strip() in UNLABELLED and keys[text] != wanted]
    dashes = [text for text in keys if text.strip() in {"-", "–", "—"} and keys[text] != wanted]
    # Beside one other label a dash is its opposite, and beside several it is none.
    no_label += dashes if len({*map(keys.get, {*keys} - {*no_label, *dashes})}) > 1 else []
    classes = []
    # The most frequent of several spellings comes first.
    labels = [text for text in keys if text not in no_label]
    in_order = sorted(labels, key=lambda text: (isinstance(keys[text], str), keys[text]))
    for key, group in groupby(in_order, key=keys.__getitem__):
        spellings = list(group)
        is_whole = isinstance(key, Decimal) and key == key.to_integral_value()
        shown = str(int(key)) if is_whole else spellings[0].strip()
        classes.append(LabelClass(key, spellings, shown, int(column.counts[spellings].sum())))
    return (column.values.notna() & ~column.values.isin(no_label)).to_numpy(), no_label, classes


def positive_class(classes: list[LabelClass], positive: str | None) -> tuple[LabelClass, str]:
    """Return the class to be ranked at the top, or the rarest, with what is to be said, where none shows."""
    found, holds = [], f"holds {len(classes)} labels, {listed(map(str, classes))}"
    if positive is not None:
        found = [group for group in classes if group.key == label_key(positive)]
        holds = f"holds no {positive!r}, but {listed(map(str, classes))}"
    # A number and a text, such as 3e99999999, have no order.
    elif len(classes) == 2 and len({type(group.key) for group in classes}) == 1:
        evident = positive_label([group.shown for group in classes])
        found = [group for group in classes if group.shown == evident]
    if found:
        return found[0], ""
    rarest = min(classes, key=lambda group: group.n_rows)
    which = "--positive says which is to be ranked at the top"
    return rarest, f"{holds}: {which}; the rarest, {rarest.shown}, is a proposal"


def _n_rows(count: int) -> str:
    return f"{count:,} row" + "s" * int(count != 1)
