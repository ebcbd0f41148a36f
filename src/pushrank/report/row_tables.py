"""The rows themselves: the top of the best list, and where two lists disagree."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from pushrank.report.findings import Findings
from pushrank.report.markup import Markup, tag, together
from pushrank.report.table import number, table

TOP_ROWS = 50
DISAGREEING_ROWS = 20
MOST_COLUMNS = 10
LONGEST_VALUE = 80


def top_rows(findings: Findings) -> Markup:
    """Return the section of the best model's first rows."""
    rows = findings.first_rows(findings.best, TOP_ROWS)
    hits = int(findings.y[rows].sum())
    hidden = len(findings.rows.columns) - MOST_COLUMNS
    return together(
        tag("h2", f"The top {len(rows)} rows", id="top"),
        tag(
            "p",
            "Each row was scored by a fit that had not seen it. Scores of different fits are not on one "
            "scale, so rows are in the order of their places among those that were scored together.",
            f" Of {len(findings.rows.columns)} columns the first {MOST_COLUMNS} are shown."
            if hidden > 0
            else None,
        ),
        _rows(
            findings,
            rows,
            f"The first {len(rows)} rows by {findings.best}: {hits} of them are hits ({findings.meaning})",
        ),
    )


def disagreements(findings: Findings) -> Markup:
    """Return the section of the rows that one of two models puts among the first and the other does not."""
    best, rival, depth = findings.best, findings.rival, findings.depth
    in_best, in_rival = np.zeros((2, len(findings.y)), dtype=bool)
    in_best[findings.first_rows(best, depth)] = True
    in_rival[findings.first_rows(rival, depth)] = True
    groups = {
        f"{best} and {rival}": in_best & in_rival,
        f"{best} only": in_best & ~in_rival,
        f"{rival} only": in_rival & ~in_best,
    }
    return together(
        tag("h2", "Where the models disagree", id="disagree"),
        tag(
            "p",
            "Rows that one of the two models compared above would act on, among its first "
            f"{depth:,}, and the other not.",
        ),
        table(
            f"The first {depth:,} rows of each list",
            ("among the first of", "rows", "hits"),
            (
                (name, number(f"{chosen.sum():,}"), number(f"{findings.y[chosen].sum():,}"))
                for name, chosen in groups.items()
            ),
        ),
        _only_in(findings, in_best & ~in_rival, best, rival),
        _only_in(findings, in_rival & ~in_best, rival, best),
    )


def _only_in(findings: Findings, chosen: NDArray[np.bool_], model: str, other: str) -> Markup:
    first = f"among the first {findings.depth:,} of {model}"
    if not chosen.any():
        return tag("p", f"No row is {first} only.")
    rows = np.flatnonzero(chosen)
    # those first that the other model puts last
    rows = rows[np.argsort(-findings.ranks(other)[rows], kind="stable")]
    shown = rows[:DISAGREEING_ROWS]
    farthest = "" if len(shown) == len(rows) else f", the {len(shown)} farthest apart of {len(rows):,}"
    return _rows(findings, shown, f"Rows {first}, but not of {other}{farthest}")


def _rows(findings: Findings, rows: NDArray[np.intp], caption: str) -> Markup:
    best, rival = findings.best, findings.rival
    columns = list(findings.rows.columns[:MOST_COLUMNS])
    rank, other, score = findings.ranks(best), findings.ranks(rival), findings.scores[best]
    return table(
        caption,
        ["row", "hit?", f"rank by {best}", f"score by {best}", f"rank by {rival}", *map(str, columns)],
        (
            (
                f"{row + 1:,}",
                tag("td", "✓ hit" if findings.y[row] else "✗ no", class_="short"),
                number(f"{rank[row]:,}"),
                number(f"{score[row]:.4g}"),
                number(f"{other[row]:,}"),
                *(_cell(findings.rows[column].iloc[row]) for column in columns),
            )
            for row in rows
        ),
    )


def _cell(value: Any) -> Markup:
    if value is None or value is pd.NA or value is pd.NaT or (isinstance(value, float) and math.isnan(value)):
        return tag("td", "missing", class_="quiet")
    if isinstance(value, bool | np.bool_):
        return tag("td", str(value))
    if isinstance(value, int | np.integer):
        return number(value)
    if isinstance(value, float | np.floating):
        return number(f"{value:.6g}")
    text = str(value)
    cut = text if len(text) <= LONGEST_VALUE else f"{text[:LONGEST_VALUE]}…"
    return tag("td", cut, class_="value")
