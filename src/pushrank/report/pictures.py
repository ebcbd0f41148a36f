"""The pictures of a page: lines over rows or periods as SVG, in colours that the style sheet gives."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np

from pushrank._base.user_types import Floats
from pushrank.budgets import Budget, chances_of_list
from pushrank.model_selection.comparison import RankerComparison
from pushrank.plots import TopCurveDisplay
from pushrank.report.lists import RankedLists
from pushrank.report.words import rounded

LEFT, RIGHT, TOP, BOTTOM = 50.0, 366.0, 8.0, 176.0
"""The ends of the axes, in the units of the picture, which is 374 wide and 212 high."""
MAX_TABLE_ROWS, MAX_TICKS = 14, 4
MAX_BUDGETS, N_POINTS = 3, 61
"""The reach of the curve of hits in budgets, and its points."""
STEPS = (1.0, 2.0, 2.5, 5.0, 10.0)


class Line(NamedTuple):
    """A line of a picture: its name, its look in the style sheet, and where it goes."""

    name: str
    look: str
    path: str


class Picture(NamedTuple):
    """Lines, ticks at shares of the axes, and some of the numbers for readers who cannot see them."""

    key: str
    title: str
    labels: tuple[str, str]
    lines: list[Line]
    x_ticks: list[tuple[float, str]]
    y_ticks: list[tuple[float, str]]
    numbers: list[tuple[str, list[str]]]
    point: tuple[float, float] | None = None
    ends: tuple[float, float, float, float] = LEFT, RIGHT, TOP, BOTTOM


def hits_curve(lists: RankedLists, comparison: RankerComparison) -> Picture:
    """Return the chosen model's hits by the number of rows, with the budget and a random choice."""
    y, budget, n_budget, each = lists.y, comparison.budget, lists.depth, ""
    if isinstance(budget, Budget):
        n_budget, each, periods = budget.n, f" {budget.each}", budget.periods(comparison.times)
        share, scores = np.bincount(periods.codes, y) / periods.sizes, comparison.scores[lists.main]
        k = np.unique(np.linspace(0, MAX_BUDGETS * n_budget, N_POINTS).round())
        hits = np.array([chances_of_list(scores, periods, int(n)) @ y / len(share) for n in k])
        chance = np.array([np.minimum(n, periods.sizes) @ share / len(share) for n in k])
    else:
        curve = TopCurveDisplay.compute(
            y, lists.scores[lists.main], max_k=min(len(y), MAX_BUDGETS * n_budget)
        )
        k, hits = np.append(0.0, curve.k), np.append(0.0, curve.hits)
        chance = k * lists.base_rate
    at, most = n_budget / k[-1], float(max(hits.max(), chance.max()))
    rows = f"{n_budget:,} rows{each}"
    lines = [
        Line(lists.main, "line0", _path(k / k[-1], hits / most)),
        Line("random choice", "random", _path(k / k[-1], chance / most)),
        Line(f"the budget: {rows}" if budget else rows, "budget", _path(np.full(2, at), np.arange(2.0))),
    ]
    title, labels = "What if you looked at more rows, or fewer?", (f"rows looked at{each}", f"hits{each}")
    point = at, float(np.interp(n_budget, k, hits)) / most
    return Picture("curve", title, labels, lines, _ticks(float(k[-1])), _ticks(most), [], point)


def over_time(
    key: str,
    title: str,
    periods: Sequence[str],
    lines: Mapping[str, Sequence[float]],
    label: str,
    *,
    is_log: bool = False,
) -> Picture:
    """Return the picture of lines over periods."""
    values = np.array([*lines.values()], dtype=float)
    n, places = len(periods), np.linspace(0.0, 1.0, len(periods)) if len(periods) > 1 else np.full(1, 0.5)
    if is_log:
        low, high = np.floor(np.log10(values.min())), np.ceil(np.log10(values.max()))
        shares = (np.log10(values) - low) / max(high - low, 1.0)
        powers = np.arange(low, high + 1.0, max(1.0, np.ceil((high - low) / MAX_TICKS)))
        ticks = [((at - low) / max(high - low, 1.0), f"{10.0**at:,.6g}") for at in powers]
    else:
        most = float(values.max()) or 1.0
        shares, ticks = values / most, _ticks(most)
    shown = np.unique(np.linspace(0, n - 1, MAX_TICKS).round().astype(int))
    x_ticks = [(float(places[at]), periods[at]) for at in shown]
    drawn = [Line(name, f"line{at}", _path(places, shares[at])) for at, name in enumerate(lines)]
    chosen = np.unique(np.linspace(0, n - 1, MAX_TABLE_ROWS).round().astype(int))
    numbers = [(periods[at], [rounded(value, 2) for value in values[:, at]]) for at in chosen]
    return Picture(key, title, ("period", label), drawn, x_ticks, ticks, numbers)


def _path(x: Floats, y: Floats) -> str:
    """Return a line through points, which are shares of the axes."""
    places = zip(LEFT + (RIGHT - LEFT) * x, BOTTOM - (BOTTOM - TOP) * y, strict=True)
    # A point alone is a line of no length, whose ends are round.
    return "M" + "L".join(f"{left:.1f} {top:.1f}" for left, top in places) + "h0" * (len(x) == 1)


def _ticks(most: float) -> list[tuple[float, str]]:
    """Return round numbers from zero to the largest, with their shares of it."""
    power = int(np.floor(np.log10(most / MAX_TICKS)))
    step = next(10.0**power * n for n in STEPS if most / (10.0**power * n) <= MAX_TICKS + 1)
    digits = max(0, -int(np.floor(np.log10(step))) + (f"{step:.1e}"[2] == "5"))
    values = np.arange(0.0, most * (1.0 + 1e-9), step)
    return [(value / most, f"{value:,.{digits if value else 0}f}") for value in values]
