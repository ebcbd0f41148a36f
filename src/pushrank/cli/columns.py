"""The columns of a table as features: numbers, or text that names categories."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd

from pushrank.cli.doubts import TIMES, doubts_of_numbers, doubts_of_text, kind_of_values
from pushrank.cli.errors import InputError
from pushrank.cli.marks import doubts_of_marks, written_otherwise
from pushrank.cli.tables import Table, as_text

LARGEST = 1e150
"""Scaling squares and adds up a column's numbers; those of larger ones would overflow."""
NUMBERS = {"boolean", "integer", "floating", "mixed-integer-float", "decimal"}


def column_kinds(
    table: Table, label: str, excluded: Sequence[str] = ()
) -> tuple[list[str], list[str], list[str]]:
    """Return the numeric and the text columns to rank by, and what is doubtful about them.

    Raises
    ------
    InputError
        When there is no feature, a column to leave out is not there, or a column can be no feature: dates,
        text that is nearly always another, and numbers of rows.
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
    numeric = [name for name in features if kind_of_values(features[name]) in NUMBERS]
    text = [name for name in features if name not in numeric]
    doubts = [doubt for name in text for doubt in doubts_of_text(table, name)]
    doubts += [doubt for name in numeric for doubt in doubts_of_numbers(table, name)]
    doubts += doubts_of_marks(table, numeric)
    return numeric, text, doubts


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
    if kind_of_values(column) in TIMES:
        column = column.astype(object)  # else they would count in nanoseconds
    numbers = pd.to_numeric(column, errors="coerce").astype(np.float64)
    bad = numbers.isna() & column.notna()
    if bad.any():
        row = int(np.flatnonzero(bad)[0])
        otherwise = written_otherwise(table, column.dropna().map(str))
        raise InputError(
            f"column {name!r} of {table.path} must hold numbers, as where the model was fitted; row "
            f"{row + 1} holds {str(column.iloc[row])!r}" + (f"; {otherwise}." if otherwise else ".")
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
