"""The columns of a table as features: numbers, or text that names categories."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd

from pushrank.cli.errors import InputError
from pushrank.cli.tables import Table, as_text

LARGEST = 1e150
"""Scaling squares and adds up a column's numbers; those of larger ones would overflow."""
MOST_CATEGORIES = 100
"""The most one-hot columns of a text column: its rarest values share the last of them."""
NEARLY_ALL = 0.9
FEWEST_ROWS = 20
"""With fewer rows, categories may well be nearly all distinct."""
NUMBERS = {"boolean", "integer", "floating", "mixed-integer-float", "decimal"}
TIMES = {"datetime64", "datetime", "date", "time", "timedelta64", "timedelta", "period"}
DATE = r"\d{4}-\d\d-\d\d(?:[T ].*)?"


def column_kinds(
    table: Table, label: str, excluded: Sequence[str] = ()
) -> tuple[list[str], list[str], list[str]]:
    """Return the numeric and the text columns to rank by, and what is doubtful about the latter.

    Raises
    ------
    InputError
        When there is no feature, a column to leave out is not there, or a column that is no number cannot be
        categories: dates, and text that is nearly always another.
    """
    if table.is_sparse:
        if excluded:
            raise InputError(f"--exclude is for named columns; those of {table.path} have none.")
        return [], [], []
    for name in excluded:
        if name not in table.frame.columns or name == label:
            why = (
                "is the label"
                if name == label
                else f"is not in {table.path}, which has {table.said_of_columns}"
            )
            raise InputError(f"--exclude {name!r} {why}.")
    features = table.frame.drop(columns=[label, *excluded])
    if features.columns.empty:
        raise InputError(f"{table.path} has no column but the label; there is nothing to rank by.")
    numeric = [name for name in features if _kind(features[name]) in NUMBERS]
    text = [name for name in features if name not in numeric]
    doubts = [doubt for name in text for doubt in _doubts(table, name)]
    return numeric, text, doubts


def _kind(column: pd.Series) -> str:
    kind: str = pd.api.types.infer_dtype(column, skipna=True)
    return kind


def _doubts(table: Table, name: str) -> list[str]:
    """Return what is doubtful about a column as categories; raise where it cannot be that."""
    column = table.frame[name]
    texts = column.map(as_text, na_action="ignore").astype(object)
    counts = texts.value_counts()
    values = counts.index.to_series()
    weight = counts.to_numpy() / max(1, counts.sum())
    this, without = f"column {name!r} of {table.path}", f"leave the column out: --exclude {shlex.quote(name)}"

    def share(matches: pd.Series) -> float:
        return float(weight @ matches.to_numpy(dtype=bool))

    if _kind(column) in TIMES or share(values.str.fullmatch(DATE)) >= NEARLY_ALL:
        raise InputError(
            f"{this} holds dates or times, such as {values.iloc[0]}; make numbers of what matters about them "
            f"(days since a date, hours, weekdays), or {without}."
        )
    doubts = []
    numbers = pd.to_numeric(values, errors="coerce").notna()
    if share(numbers) >= NEARLY_ALL and not numbers.all():
        stranger = values[~numbers].iloc[0]
        row = int(np.argmax(texts == stranger)) + 1
        doubts.append(
            f"{this} is read as text, for row {row} holds {stranger!r}, though {100 * share(numbers):.4g} % "
            f"of its values are numbers; if all should be, leave such cells empty, or {without}."
        )
    elif share(numbers | values.str.fullmatch(r"[+-]?\d+,\d+")) >= NEARLY_ALL > share(numbers):
        doubts.append(
            f"{this} holds numbers such as {values[~numbers].iloc[0]}; say --decimal ',', or {without}."
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


def feature_frame(table: Table, numeric: list[str], categorical: list[str]) -> Any:
    """Return the features that a model was fitted on, in its types.

    Raises
    ------
    InputError
        When a column is missing, holds infinity or numbers too large to scale, or text where numbers are
        needed.
    """
    if table.is_sparse:
        return table.features
    wanted = numeric + categorical
    missing = [name for name in wanted if name not in table.frame.columns]
    if missing:
        raise InputError(
            f"{table.path} lacks the column{'s' * (len(missing) > 1)} {', '.join(map(repr, missing))} that "
            f"the model was fitted on; it has {table.said_of_columns}."
        )
    columns: dict[str, Any] = {}
    for name in numeric:
        columns[name] = _numbers(table, name)
    for name in categorical:
        column = table.frame[name]
        columns[name] = column.map(as_text, na_action="ignore").astype(object).where(column.notna(), np.nan)
    return pd.DataFrame(columns, index=table.frame.index)


def _numbers(table: Table, name: str) -> Any:
    column = table.frame[name]
    if _kind(column) in TIMES:
        column = column.astype(object)  # else they would count in nanoseconds
    numbers = pd.to_numeric(column, errors="coerce").astype(np.float64)
    bad = numbers.isna() & column.notna()
    if bad.any():
        row = int(np.flatnonzero(bad)[0])
        raise InputError(
            f"column {name!r} of {table.path} must hold numbers, as where the model was fitted; row "
            f"{row + 1} holds {str(column.iloc[row])!r}."
        )
    if np.isinf(numbers).any():
        row = int(np.flatnonzero(np.isinf(numbers))[0]) + 1
        raise InputError(f"column {name!r} of {table.path} holds infinity in row {row}; replace or drop it.")
    if (numbers.abs() > LARGEST).any():
        row = int(np.flatnonzero(numbers.abs() > LARGEST)[0])
        raise InputError(
            f"column {name!r} of {table.path} holds {numbers.iloc[row]:g} in row {row + 1}, too large to "
            f"compute with (more than {LARGEST:g}); divide the column or take its logarithm."
        )
    return numbers
