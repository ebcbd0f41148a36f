"""The marks in numbers: whether a file would hold more numbers if it were read by other options."""

from __future__ import annotations

import re
from dataclasses import replace

import numpy as np
import pandas as pd

from pushrank.cli.tables import Table

MARKS = ((".", ","), (",", "."), (".", " "), (",", " "), (".", "'"), (",", None), (".", None))
"""What numbers are written with here and there: the decimal mark, and what parts thousands."""
NEARLY_ALL = 0.9


def written_otherwise(table: Table, texts: pd.Series) -> str | None:
    """Return by which options nearly all texts, and more than now, are numbers, or None."""
    if not table.is_text or texts.empty:
        return None
    counts = texts.value_counts()
    values = counts.index.to_series().astype(object)
    weight = counts.to_numpy() / counts.sum()
    share_now = weight @ values.str.fullmatch(table.written.number()).to_numpy(dtype=bool)
    found: dict[str, tuple[float, str]] = {}
    for decimal, thousands in MARKS:
        written = replace(table.written, decimal=decimal, thousands=thousands)
        matches = values.str.fullmatch(written.number()).to_numpy(dtype=bool)
        new = {"thousands": thousands, "decimal": decimal if decimal != table.written.point else None}
        marks = {option: mark for option, mark in new.items() if mark is not None}
        if marks and all(values[matches].str.contains(mark, regex=False).any() for mark in marks.values()):
            said = " ".join(f"--{option} {mark!r}" for option, mark in marks.items())
            parted = values[matches & values.str.contains(next(iter(marks.values())), regex=False)]
            meant = f"{parted.iloc[0]} is {written.numbers(parted).iloc[0]:.15g}"
            found[said] = float(weight @ matches), meant
    most = max((share for share, _ in found.values()), default=0.0)
    if most < NEARLY_ALL or most <= share_now:
        return None
    best = {said: meant for said, (share, meant) in found.items() if share == most}
    if len(best) == 1:
        return f"say {next(iter(best))}"
    return "say " + " or ".join(f"{said} if {meant}" for said, meant in best.items())


def doubts_of_marks(table: Table, numeric: list[str]) -> list[str]:
    """Return in which columns the mark that was read as the decimal one may part thousands.

    That is where all numbers that have it have three digits behind and up to three before it. It is asked
    only of files that are written otherwise than usual, and not where both marks are named.
    """
    written = table.written
    if not table.is_text or written.thousands is not None or not (written.separator or written.decimal):
        return []
    suspects = [name for name in numeric if _may_be_thousands(table.frame[name])]
    if not suspects:
        return []
    doubts = []
    mark, other = written.point, "," if written.point == "." else "."
    for name, column in table.as_written(np.arange(len(table)), suspects).items():
        texts = pd.Series(column.dropna().unique(), dtype=object).str.strip()
        parted = texts.str.fullmatch(rf"[+-]?[1-9]\d{{0,2}}{re.escape(mark)}\d{{3}}")
        if parted.any() and (parted | texts.str.fullmatch(r"[+-]?\d{1,3}")).all():
            shown = texts[parted].iloc[0]
            doubts.append(
                f"column {name!r} of {table.path} holds {shown}, read as {shown.replace(mark, '.')}; say "
                f"--thousands {mark!r} --decimal {other!r} if that is {shown.replace(mark, '')}, and "
                f"--thousands {other!r} if not."
            )
    return doubts


def _may_be_thousands(column: pd.Series) -> bool:
    """Return whether all numbers are below 1,000 with three decimals at most, and none is below 1 but 0."""
    if not pd.api.types.is_float_dtype(column):
        return False
    sizes = np.abs(column.dropna().to_numpy(dtype=np.float64))
    thousandths = 1000.0 * sizes
    return bool(
        np.all((sizes == 0.0) | ((sizes >= 1.0) & (sizes < 1000.0)))
        and np.allclose(thousandths, np.round(thousandths), rtol=1e-12, atol=0.0)
    )
