"""Labels: which rows of a table are positive."""

import re
import shlex
from dataclasses import dataclass, field
from decimal import Decimal
from itertools import groupby
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from pushrank._base.validation import marks_of, positive_label
from pushrank.cli.errors import InputError, warn
from pushrank.cli.source.open import listed
from pushrank.cli.source.table import NUMBER, Column, Kind, Table

UNLABELLED = {"?", "NA", "N/A", "n/a", "#N/A", "<NA>", "NaN", "nan", "null", "NULL"}
"""Texts that mean that a row has no label, unless one of them is named as the positive label."""
AUDIT = "what a list chose stands for no other rows, but rows drawn below it do: pushrank score --audit"
"""The way out where rows that a list chose would promise something of others."""
UNKNOWN = "they are on the lists, and nothing is known of their hits"
"""What becomes of rows without a label where lists are measured."""
MINUS_ONE = "-1 is a class: leave cells empty whose label is not known"
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
    n_rows: str


def label_rows(table: Table, column: Column, positive: str | None, *, may_lack: str = "") -> LabelledRows:
    """Return which rows are positive, which have a label at all, and the label that makes them positive."""
    # Numbers are compared exactly, however they are written: 1 and 1.0 are the same label, 2^53 and 2^53 + 1
    # are not. A line says what counts as the same, as negative or as no label, and in how many rows. Rows may
    # lack a label where `may_lack` says what becomes of them.
    wanted = None if positive is None else _label_key(positive)
    keys = {text: _label_key(plain) for text, plain in column.plain.items()}
    no_label = [text for text in keys if text.strip() in UNLABELLED and keys[text] != wanted]
    has_label = (column.values.notna() & ~column.values.isin(no_label)).to_numpy()
    if not has_label.all():
        kinds = [f"{n:,} empty" for n in [int(column.values.isna().sum())] if n]
        kinds += [f"{column.counts[text]:,} {text!r}" for text in no_label]
        message = f"{np.sum(~has_label):,} of {len(has_label):,} rows ({', '.join(kinds)})"
        if not may_lack:
            row, _ = column.first_row(~has_label)
            raise InputError(
                f"{column} has no label in {message}, first in row {row}, and here each row needs one: fill "
                f"them in, or leave such rows out, unless somebody chose the others; {AUDIT}."
            )
        warn(f"{message} have no label in {column}: {may_lack}.")
    classes = _classes(column, {text: keys[text] for text in keys if text not in no_label})
    known = None if has_label.all() else has_label
    if known is not None and len(classes) < 2:
        if positive is None:
            raise InputError(f"{column} holds one label at most so far; name the positive one: --positive.")
        return LabelledRows(table, column.name, positive, labels_so_far(column, positive) == 1.0, known=known)
    chosen = _positive_class(column, classes, positive, wanted)
    for group in classes:
        if isinstance(group.key, str) and len(group.spellings) > 1:
            shown = listed(f"{text!r} ({_n_rows(column.counts[text])})" for text in group.spellings)
            warn(f"{column}: {shown} count as one label.")
    others = [f"{group.shown!r} ({group.n_rows})" for group in classes if group is not chosen]
    if len(others) > 1:
        # Some libraries write -1 for no label, and others for the negative class.
        minus = f"; {MINUS_ONE}" * ("-1" in column.counts)
        warn(f"{column}: all but {chosen.shown!r} count as negative: {listed(others)}{minus}.")
    y = column.values.isin(chosen.spellings).to_numpy()
    return LabelledRows(table, column.name, chosen.shown, y, known=known)


def is_acted_on(table: Table, name: str) -> NDArray[np.bool_]:
    """Return which rows somebody looked at, by the column of --acted: list, audit, yes, 1 and the like."""
    table.check(name, "acted")
    return marks_of(table.column(name, Kind.TEXT).values.to_numpy(dtype=object))[1]


def labels_so_far(column: Column, positive: str) -> NDArray[np.float64]:
    """Return 1 of positive rows, 0 of others, and NaN of those that have no label yet."""
    keys = {text: _label_key(plain) for text, plain in column.plain.items()}
    wanted = _label_key(positive)
    positives = [text for text, key in keys.items() if key == wanted]
    no_label = [text for text in keys if text.strip() in UNLABELLED and text not in positives]
    known = column.values.notna() & ~column.values.isin(no_label)
    others = {keys[text] for text in keys if text not in no_label}
    if len(others) > 2:
        shown = listed(repr(text) for text in keys if text not in no_label and text not in positives)
        minus = f"; {MINUS_ONE}" * ("-1" in column.counts)
        warn(f"{column}: all but {positive!r} count as negative: {shown}{minus}.")
    if known.any() and not positives:
        shown = listed(repr(text) for text in keys if text not in no_label)
        told = f"{column} holds no {positive} so far, but {shown}; name the positive label: --positive."
        # A number where the fit had texts, or the other way round, is another way to write labels.
        if not all(isinstance(key, type(wanted)) for key in others):
            raise InputError(told)
        if len(others) > 1:
            # Negatives alone are a calm period; among several labels positives may be written otherwise.
            warn(told)
    return np.where(known, column.values.isin(positives).astype(np.float64), np.nan)


def _label_key(text: str) -> Decimal | str:
    """Return what two labels have in common that are the same: the exact number, or the text."""
    text = text.strip().replace("\u2212", "-")
    if re.fullmatch(NUMBER, text) and abs((number := Decimal(text)).adjusted()) <= MAX_EXPONENT:
        return number
    return text.casefold()


def _classes(column: Column, keys: dict[str, Decimal | str]) -> list[LabelClass]:
    """Return the labels that differ: numbers in their order, then texts."""
    classes = []
    # Texts and numbers have no common order. The most frequent of several spellings comes first.
    in_order = sorted(keys, key=lambda text: (isinstance(keys[text], str), keys[text]))
    for key, group in groupby(in_order, key=keys.__getitem__):
        spellings = list(group)
        is_whole = isinstance(key, Decimal) and key == key.to_integral_value()
        shown = str(int(key)) if is_whole else spellings[0].strip()
        classes.append(LabelClass(key, spellings, shown, _n_rows(column.counts[spellings].sum())))
    return classes


def _positive_class(
    column: Column, classes: list[LabelClass], positive: str | None, wanted: Decimal | str | None
) -> LabelClass:
    """Return the class to be ranked at the top, or raise InputError when there is none or several may be."""
    # A number and a text, such as 3e99999999, have no order.
    if positive is None and len(classes) == 2 and len({type(group.key) for group in classes}) == 1:
        chosen = positive_label([group.shown for group in classes])
        found = [group for group in classes if group.shown == chosen]
    else:
        found = [group for group in classes if positive is not None and group.key == wanted]
    shown = listed(f"{group.shown} ({group.n_rows})" for group in classes)
    if len(classes) < 2:
        raise InputError(f"{column} holds one class only ({shown}); ranking needs two.")
    if found:
        return found[0]
    if positive is not None:
        raise InputError(
            f"the label to rank at the top, {positive!r}, does not occur in {column}, which holds {shown}; "
            "name another: --positive LABEL."
        )
    ways = " or ".join(f"--positive {shlex.quote(group.shown)}" for group in classes[:3])
    raise InputError(
        f"{column} holds {len(classes)} values, {shown}; name the one to be ranked at the top: "
        f"{ways}{' or ...' * (len(classes) > 3)}."
    )


def _n_rows(count: int) -> str:
    return f"{count:,} row" + "s" * int(count != 1)
