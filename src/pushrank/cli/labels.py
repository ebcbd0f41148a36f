"""Which column is the label, and which of its values is the positive class."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from pushrank.cli.errors import InputError
from pushrank.cli.tables import LIBSVM_LABEL, Table, as_text


def label_column(table: Table, label: str | None) -> str:
    """Return the name of the label column.

    Raises
    ------
    InputError
        When it is not named, or not there.
    """
    if table.is_sparse:
        return LIBSVM_LABEL
    if label is None:
        raise InputError("name the column that holds the label: --label COLUMN.")
    if label not in table.frame.columns:
        raise InputError(f"{table.path} has no column {label!r} for --label; it has {table.said_of_columns}.")
    return label


def positive_rows(table: Table, column: str, positive: str | None) -> tuple[NDArray[np.bool_], str]:
    """Return which rows are positive, and the value that makes them so.

    Parameters
    ----------
    table : Table
        The rows.
    column : str
        The label column.
    positive : str or None
        The positive value; every other value is then negative. None takes the larger of two values.

    Raises
    ------
    InputError
        When a label is missing, there are not two classes, or the value does not occur or may be several.
    """
    labels = table.frame[column]
    if labels.isna().any():
        row = int(np.flatnonzero(labels.isna())[0]) + 1
        raise InputError(
            f"column {column!r} of {table.path} has no label in row {row}; drop such rows or fill them in."
        )
    values = list(labels.unique())
    values.sort(key=lambda value: (isinstance(value, str), value))
    shown = ", ".join(map(as_text, values[:10])) + (", ..." if len(values) > 10 else "")
    if len(values) < 2:
        raise InputError(
            f"column {column!r} of {table.path} holds one class only ({shown}); ranking needs two."
        )
    if positive is None:
        if len(values) > 2:
            raise InputError(
                f"column {column!r} of {table.path} holds {len(values)} values ({shown}); name the one to be "
                "ranked at the top: --positive VALUE."
            )
        chosen = values[-1]
    else:
        matches = _named(values, positive)
        if len(matches) > 1:
            raise InputError(
                f"--positive {positive!r} may be any of {', '.join(map(as_text, matches))} in column "
                f"{column!r} of {table.path}; write it as it is there."
            )
        if not matches:
            raise InputError(
                f"--positive {positive!r} does not occur in column {column!r} of {table.path}, "
                f"which holds {shown}."
            )
        chosen = matches[0]
    return (labels == chosen).to_numpy(dtype=bool), as_text(chosen)


def _named(values: list[Any], text: str) -> list[Any]:
    """Return the labels that were meant: as written, or else, for numbers and truth values, by value."""
    return [value for value in values if as_text(value) == text] or [
        value for value in values if not isinstance(value, str) and _equal(value, text)
    ]


def _equal(value: Any, text: str) -> bool:
    try:
        return str(value).lower() == text.lower() or float(value) == float(text)
    except (TypeError, ValueError):
        return False
