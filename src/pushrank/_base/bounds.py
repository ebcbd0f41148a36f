"""Bounds of numbers, and the decimals that count, without an import that takes long."""

import math
from math import inf
from numbers import Integral, Real
from typing import Any

__all__ = ["UNITS", "as_count", "check_number", "decimals"]

UNITS = ("hour", "day", "week", "month", "batch")
"""The periods of a budget."""


def check_number(
    name: str,
    value: Any,
    least: float = -inf,
    most: float = inf,
    *,
    above: float = -inf,
    below: float = inf,
    integer: bool = False,
) -> None:
    """Raise unless a parameter is a finite number between bounds; ``above`` and ``below`` are exclusive."""
    kind: Any = Integral if integer else Real
    if isinstance(value, bool) or not isinstance(value, kind):
        raise TypeError(f"{name} must be {'an integer' if integer else 'a number'}, got {value!r}.")
    if not (least <= value <= most and above < value < below):
        bounds = {">=": least, ">": above, "<=": most, "<": below}
        conditions = [f"{sign} {bound:g}" for sign, bound in bounds.items() if abs(bound) < inf]
        if most == below == inf:
            conditions.insert(0, "finite")
        raise ValueError(f"{name} must be {' and '.join(conditions)}, got {value!r}.")


def check_jobs(n_jobs: Any, kind: str) -> None:
    """Raise unless a parameter is None, -1 or another number of threads or processes."""
    if n_jobs is not None:
        check_number("n_jobs", n_jobs, integer=True)
        if n_jobs == 0:
            raise ValueError(f"n_jobs must be None, -1 or a number of {kind}, got 0.")


def decimals(error: float, most: int = 4) -> int:
    """Return how many decimals of a figure mean something: to two significant digits of its error."""
    return min(most, max(0, 1 - math.floor(math.log10(error)))) if error > 0.0 else most


def as_count(number: float) -> float:
    """Return an int for a whole number, which counts are unless rows weigh or tie."""
    return int(number) if float(number).is_integer() else number
