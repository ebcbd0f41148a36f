"""What is doubtful about a column as a feature: dates, identifiers, and text that is nearly all numbers."""

from __future__ import annotations

import re
import shlex

import numpy as np
import pandas as pd

from pushrank.cli.categories import MOST_CATEGORIES
from pushrank.cli.errors import InputError
from pushrank.cli.marks import written_otherwise
from pushrank.cli.tables import Table, as_text

NEARLY_ALL = 0.9
FEWEST_ROWS = 20
"""With fewer rows, categories may well be nearly all distinct, and numbers rise by chance."""
TIMES = {"datetime64", "datetime", "date", "time", "timedelta64", "timedelta", "period"}
DAY = r"(?:0?[1-9]|[12]\d|3[01])"
DATE = rf"\s*(?:\d{{4}}([-/.]){DAY}\1{DAY}|{DAY}([-/.]){DAY}\2(?:19|20)\d\d|{DAY}/{DAY}/\d\d)(?:[T ,].*)?\s*"
NAMELESS = r"Unnamed: \d+|\s*"
"""What pandas calls a column without a name, as it writes the numbers of rows."""
IDENTIFIER = r"(?i:id)|.*(?:[^a-zA-Z](?i:id)|[a-z]I[dD])"


def kind_of_values(column: pd.Series) -> str:
    """Return what a column holds beside its gaps, in the words of pandas."""
    kind: str = pd.api.types.infer_dtype(column, skipna=True)
    return kind


def doubts_of_text(table: Table, name: str) -> list[str]:
    """Return what is doubtful about a column as categories.

    Raises
    ------
    InputError
        When it cannot be that: dates, and text that is nearly always another.
    """
    column = table.frame[name]
    texts = column.map(as_text, na_action="ignore").astype(object)
    counts = texts.value_counts()
    values = counts.index.to_series()
    weight = counts.to_numpy() / max(1, counts.sum())
    this, without = _said(table, name)

    def share(matches: pd.Series) -> float:
        return float(weight @ matches.to_numpy(dtype=bool))

    if kind_of_values(column) in TIMES or share(values.str.fullmatch(DATE)) >= NEARLY_ALL:
        raise InputError(
            f"{this} holds dates or times, such as {values.iloc[0]}; make numbers of what matters about them "
            f"(days since a date, hours, weekdays), or {without}."
        )
    doubts = []
    numbers = values.str.fullmatch(table.written.number()).astype(bool)
    if otherwise := written_otherwise(table, texts.dropna()):
        stranger = values[~numbers].iloc[0]
        doubts.append(f"{this} holds numbers such as {stranger}; {otherwise}, or {without}.")
    elif share(numbers) >= NEARLY_ALL and not numbers.all():
        stranger = values[~numbers].iloc[0]
        row = int(np.argmax(texts == stranger)) + 1
        doubts.append(
            f"{this} is read as text, for row {row} holds {stranger!r}, though {100 * share(numbers):.4g} % "
            f"of its values are numbers; if all should be, leave such cells empty, or {without}."
        )
    if len(column) >= FEWEST_ROWS and len(counts) > len(column) / 2:
        raise InputError(
            doubts[0]
            if doubts
            else f"{this} holds {len(counts):,} different texts in {len(column):,} rows, so it names rows, "
            f"not categories; {without}."
        )
    if len(counts) + column.hasnans > MOST_CATEGORIES:
        doubts.append(
            f"{this} holds {len(counts):,} different texts; all but the {MOST_CATEGORIES - 1} most frequent "
            "count as one category."
        )
    return doubts


def doubts_of_numbers(table: Table, name: str) -> list[str]:
    """Return what is doubtful about a column of whole numbers: that it may be an identifier."""
    column = table.frame[name]
    if len(column) < FEWEST_ROWS or column.hasnans or not pd.api.types.is_integer_dtype(column):
        return []
    if not column.is_unique:
        return []
    numbers = column.to_numpy()
    this, without = _said(table, name)
    before, after = numbers[:-1], numbers[1:]
    by_one = (after - before == 1).all() or (before - after == 1).all()
    if by_one or re.fullmatch(NAMELESS, str(name)):
        return [
            f"{this} numbers the rows ({', '.join(map(str, numbers[:3]))}, ...), which tells nothing of new "
            f"ones, and too much of these if they are sorted; {without}."
        ]
    is_steady = (after > before).all() or (before > after).all()
    has_no_gaps = int(numbers.max()) - int(numbers.min()) == len(numbers) - 1
    if is_steady or has_no_gaps or re.fullmatch(IDENTIFIER, str(name)):
        why = "rises or falls with every row" if is_steady else "holds another whole number in every row"
        return [f"{this} {why}, as identifiers do; if it is one, {without}."]
    return []


def _said(table: Table, name: str) -> tuple[str, str]:
    """Return how to name a column, and how to do without it."""
    return (
        f"column {name!r} of {table.path}",
        f"leave the column out: --exclude {shlex.quote(str(name))}",
    )
