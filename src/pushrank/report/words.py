"""Numbers as a report writes them."""

import re
from collections.abc import Iterable
from math import floor, inf, log10
from typing import Any

import numpy as np

WHOLE = 1e-6
"""Sums of chances that are nearer to a whole number differ from it by errors of rounding alone."""
MAX_DIGITS = 3


def row_count(rows: float) -> str:
    """Return a number of rows: whole, or with three digits at most, and two below one."""
    if not is_tied(rows):
        return f"{round(rows):,}"
    return f"{rows:.2g}" if abs(rows) < 1.0 else rounded(rows, MAX_DIGITS)


def rounded(value: float, digits: int, sign: str = "") -> str:
    """Return a number with so many decimals, or fewer where it would have more than three digits."""
    few = abs(float(f"{value:.{MAX_DIGITS}g}"))
    shown = min(digits, MAX_DIGITS - 1 - floor(log10(few))) if 0.0 < few < inf else digits
    return f"{round(float(value), shown) + 0.0:{sign},.{max(0, shown)}f}"


def is_tied(rows: float) -> bool:
    """Return whether a number of rows of a list is no whole one, as where rows tie."""
    return abs(rows - round(rows)) >= WHOLE


def with_minus_signs(text: str) -> str:
    """Return a text whose negative numbers have the sign that is as wide as a plus."""
    return re.sub(r"(?<![^\s(])-(?=\d)", "−", text)


def is_number(value: object) -> bool:
    """Return whether a cell is a number that is there."""
    kinds = int | float | np.integer | np.floating
    return isinstance(value, kinds) and not isinstance(value, bool) and value == value


def cell_text(value: Any, digits: int = MAX_DIGITS) -> str:
    """Return a cell with so many decimals and three digits at most; numbers such as years keep their four."""
    is_nan = isinstance(value, float | np.floating) and value != value
    if value is None or is_nan or type(value).__name__ in ("NAType", "NaTType"):
        return "missing"
    if not is_number(value):
        return str(value)
    return f"{value:.0f}" if float(value).is_integer() and abs(value) < 1e4 else rounded(float(value), digits)


def column_digits(values: Iterable[object]) -> int:
    """Return how many decimals leave the largest number of a column with three digits."""
    most = max((abs(float(value)) for value in values if is_number(value)), default=0.0)  # type: ignore[arg-type]
    return MAX_DIGITS - 1 - floor(log10(most)) if 0.0 < most < inf else 0
