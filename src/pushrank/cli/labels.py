"""Which column is the label, and which of its values is the positive class."""

from __future__ import annotations

import shlex
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pushrank.cli.errors import InputError, warn
from pushrank.cli.tables import LIBSVM_LABEL, Table, as_text

YES_AND_NO = (
    "yes no", "y n", "true false", "t f", "positive negative", "pos neg", "active inactive",
    "ja nein", "ja nee", "ja nej", "oui non", "si no", "sí no", "sì no", "sim não", "tak nie", "да нет",
)  # fmt: skip
"""Labels of which one says yes, in whatever case: that one first."""


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
        The positive value; every other value is then negative. None takes the larger of two numbers, true of
        truth values, and yes of yes and no. Of other texts it takes the later in the alphabet, and warns.

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
        chosen = _positive_by_default(table, column, values)
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


def _positive_by_default(table: Table, column: str, values: list[Any]) -> Any:
    """Return which of two labels is positive where the user does not say; warn where that is unclear."""
    if not any(isinstance(value, str) for value in values):
        return values[-1]
    if all(_is_number(value) for value in values):
        return max(values, key=float)
    texts = {as_text(value).strip().casefold(): value for value in values}
    for pair in YES_AND_NO:
        if texts.keys() == set(pair.split()):
            return texts[pair.split()[0]]
    other, chosen = values
    n_rows = int((table.frame[column] == chosen).sum())
    most = ", most of them" if n_rows > len(table) / 2 else ""
    warn(
        f"column {column!r} of {table.path} holds {as_text(other)!r} and {as_text(chosen)!r}; which is to be "
        f"ranked at the top? {as_text(chosen)!r} is taken, which {n_rows:,} of {len(table):,} rows "
        f"are{most}; if it is the other one, say --positive {shlex.quote(as_text(other))}."
    )
    return chosen


def _is_number(value: Any) -> bool:
    try:
        return bool(np.isfinite(float(value)))
    except (TypeError, ValueError):
        return False


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
