"""The one check of a number that a user passes."""

from __future__ import annotations

from math import inf
from numbers import Integral, Real
from typing import Any


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
    """Raise unless a parameter is a finite number from ``least`` to ``most``, ``above`` and ``below`` others.

    Raises
    ------
    TypeError
        When it is not a number of the right kind.
    ValueError
        When it is out of range.

    Examples
    --------
    >>> check_number("delta", 1.0, above=0.0, below=1.0)
    Traceback (most recent call last):
        ...
    ValueError: delta must be > 0 and < 1, got 1.0.
    """
    kind: Any = Integral if integer else Real
    if isinstance(value, bool) or not isinstance(value, kind):
        raise TypeError(f"{name} must be {'an integer' if integer else 'a number'}, got {value!r}.")
    if not (least <= value <= most and above < value < below):
        bounds = {">=": least, ">": above, "<=": most, "<": below}
        said = [f"{sign} {bound:g}" for sign, bound in bounds.items() if abs(bound) < inf]
        if most == below == inf:
            said.insert(0, "finite")
        raise ValueError(f"{name} must be {' and '.join(said)}, got {value!r}.")
