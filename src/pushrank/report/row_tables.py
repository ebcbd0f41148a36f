"""The rows themselves: the top of the best list, and where two lists disagree."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from pushrank.report.context import Places, ReportData
from pushrank.report.markup import Markup, tag, together
from pushrank.report.table import count, number, table

TOP_ROWS = 50
DISAGREEING_ROWS = 20
MOST_COLUMNS = 10
LONGEST_VALUE = 80


def top_rows(findings: ReportData) -> Markup:
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
            _said_of_ties(findings, len(rows)),
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


def disagreements(findings: ReportData) -> Markup:
    """Return the section of the rows that one of two models puts among the first and the other does not."""
    best, rival, depth = findings.best, findings.rival, findings.depth
    in_best, in_rival = findings.chances(best), findings.chances(rival)
    # tied rows come in one random order in both lists, so that these part no more than they must
    groups = {
        f"{best} and {rival}": np.minimum(in_best, in_rival),
        f"{best} only": np.maximum(0.0, in_best - in_rival),
        f"{rival} only": np.maximum(0.0, in_rival - in_best),
    }
    tied = any(findings.tied_at(model, depth) for model in (best, rival))
    return together(
        tag("h2", "Where the models disagree", id="disagree"),
        tag(
            "p",
            "Rows that one of the two models compared above would act on, among its first "
            f"{depth:,}, and the other not.",
            " Rows that tie where a list is cut count by their chance to be within." if tied else None,
        ),
        table(
            f"The first {depth:,} rows of each list",
            ("among the first of", "rows", "hits"),
            (
                (name, number(count(chance.sum())), number(count(chance[findings.y].sum())))
                for name, chance in groups.items()
            ),
        ),
        _only_in(findings, in_best > in_rival, best, rival),
        _only_in(findings, in_rival > in_best, rival, best),
    )


def _only_in(findings: ReportData, chosen: NDArray[np.bool_], model: str, other: str) -> Markup:
    tied = any(findings.tied_at(name, findings.depth) for name in (model, other))
    first = f"{'more likely ' if tied else ''}among the first {findings.depth:,} of {model}"
    parted = f"{first} than of {other}" if tied else f"{first}, but not of {other}"
    if not chosen.any():
        return tag("p", f"No row is {parted}.")
    rows = np.flatnonzero(chosen)
    # those first that the other model puts last
    rows = rows[np.argsort(-findings.places(other).first[rows], kind="stable")]
    shown = rows[:DISAGREEING_ROWS]
    farthest = "" if len(shown) == len(rows) else f", the {len(shown)} farthest apart of {len(rows):,}"
    return _rows(findings, shown, f"Rows {parted}{farthest}")


def _rows(findings: ReportData, rows: NDArray[np.intp], caption: str) -> Markup:
    best, rival = findings.best, findings.rival
    columns = list(findings.rows.columns[:MOST_COLUMNS])
    rank, other, score = findings.places(best), findings.places(rival), findings.scores[best]
    return table(
        caption,
        ["row", "hit?", f"rank by {best}", f"score by {best}", f"rank by {rival}", *map(str, columns)],
        (
            (
                f"{row + 1:,}",
                tag("td", "✓ hit" if findings.y[row] else "✗ no", class_="short"),
                number(_place(rank, row)),
                number(f"{score[row]:.4g}"),
                number(_place(other, row)),
                *(_cell(findings.rows[column].iloc[row]) for column in columns),
            )
            for row in rows
        ),
    )


def _place(places: Places, row: int) -> str:
    """Return a row's rank; of tied rows, the first and the last that they share."""
    first, last = places.first[row], places.last[row]
    return f"{first:,}" if first == last else f"{first:,}–{last:,}"


def _said_of_ties(findings: ReportData, shown: int) -> str | None:
    """Return where the rows shown are tied, and in which order they are then."""
    first, last = (
        places[findings.first_rows(findings.best, shown)] for places in findings.places(findings.best)
    )
    if (first == last).all():
        return None
    said = " Rows that share ranks, such as 3–5, are tied, and shown in the order of the file."
    tied = findings.tied_at(findings.best, shown)
    within = shown + 1 - first[-1]
    return said + (f" The last {within:,} shown are of {tied:,} that tie." if tied else "")


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
