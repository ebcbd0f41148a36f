"""How near are the bound and the estimate of an audit to the truth, month by month?

    python benchmarks/audit_by_month.py > benchmarks/audit_by_month.txt

The flights, the model, the list of 27 a day and the audit of three are those of docs/acted_on.md, with the
same public secret, so that the figures are those of that page. PUSHRANK_DATA names the folder of
flights.parquet. The script also draws docs/pictures/audit_by_month.png, the picture of that page. It takes
half a minute.
"""

from __future__ import annotations

import contextlib
import os
import tempfile
from pathlib import Path
from typing import Any

import matplotlib as mpl
import numpy as np
import pandas as pd
from numpy.typing import NDArray
from typer.testing import CliRunner

from pushrank import load
from pushrank.budgets import Budget
from pushrank.cli import app
from pushrank.metrics import measure_acted
from pushrank.monitoring import draw_audit

FIT = (
    "fit past.parquet --label late --exclude id --exclude scheduled --model logistic-regression -o late.skops"
)
BUDGET, N_AUDITED = 30, 3
SECRET = "no secret, for this page"  # noqa: S105
PICTURE = Path(__file__).parents[1] / "docs" / "pictures" / "audit_by_month.png"
IN_ALL = "in all"
COLUMNS = {
    "hits": "listed hits",
    "audit_hits": "audit hits",
    "hits_below_at_most": "below at most",
    "hits_below_estimate": "estimate",
    "truth": "truth",
}
# Shapes differ as colours do, for readers who do not tell the colours apart.
ESTIMATE: dict[str, Any] = {"marker": "D", "color": "#b35900", "s": 110}
TRUTH: dict[str, Any] = {"marker": "_", "color": "black", "s": 900, "linewidth": 4.5}
BOUND: dict[str, Any] = {"color": "#d3e4f5", "edgecolor": "#3b6ea5", "linewidth": 2}


def flights() -> tuple[pd.DataFrame, pd.DataFrame]:
    """Return the flights of the first half of the year, and those of the second."""
    frame = pd.read_parquet(Path(os.environ["PUSHRANK_DATA"]) / "flights.parquet")
    frame = frame.rename(columns={"label": "late"})
    frame["id"] = frame["carrier"] + frame["flight"].astype(str) + " " + frame["scheduled"].astype(str)
    frame = frame.drop(columns=["minutes_late", "tailnum", "flight", "month"])
    is_past = frame["scheduled"] < "2013-07-01"
    return frame[is_past], frame[~is_past]


def scores_of_page(past: pd.DataFrame, coming: pd.DataFrame) -> NDArray[np.float64]:
    """Return the scores of coming flights by the model that the page fits to past ones."""
    with tempfile.TemporaryDirectory() as folder, contextlib.chdir(folder):
        past.to_parquet("past.parquet", index=False)
        result = CliRunner().invoke(app, FIT.split())
        if result.exit_code:
            raise RuntimeError(result.output)
        model = load("late.skops")
    return model.decision_function(coming[model.feature_names_in_])


def audit(coming: pd.DataFrame, scores: NDArray[np.float64]) -> tuple[NDArray[np.str_], NDArray[np.float64]]:
    """Return which flights are listed or audited on each day, and the chances of the audit."""
    acted, chance = np.full(len(coming), "", dtype="<U5"), np.ones(len(coming))
    for rows in coming.groupby(coming["scheduled"].dt.date).indices.values():
        day = coming.iloc[rows]
        named = {"row_id": day["id"], "time": day["scheduled"], "secret": SECRET}
        acted[rows], chance[rows] = draw_audit(scores[rows], BUDGET, N_AUDITED, **named)
    return acted, chance


def figures_by_month() -> pd.DataFrame:
    """Return for each month, and in all, what is known by the list and its audit, and what is true."""
    past, coming = flights()
    acted, chance = audit(coming, scores_of_page(past, coming))
    truth = coming["late"].to_numpy()
    known = np.where(acted != "", truth, np.nan)
    measured = measure_acted(
        known, acted, chance, time=coming["scheduled"], budget=Budget.parse(f"{BUDGET}/month")
    )
    frame = pd.DataFrame(measured.by_period | {IN_ALL: measured.total}).T
    months = coming["scheduled"].dt.strftime("%Y-%m").to_numpy()
    below = truth * (acted != "list")
    frame["truth"] = [*(below[months == month].sum() for month in measured.by_period), below.sum()]
    return frame[list(COLUMNS)].astype(float).round().astype(int)


def draw(figures: pd.DataFrame, path: Path) -> None:
    """Draw the bound of each month as a bar, with the estimate and the truth, above what was found."""
    mpl.use("Agg")
    from matplotlib import pyplot

    figure, ax = pyplot.subplots(figsize=(7.2, 6.4), layout="constrained")
    # The last bar is of all months together, and stands apart.
    x = np.arange(len(figures)) + 0.5 * (figures.index == IN_ALL)
    ax.bar(x, figures["hits_below_at_most"], width=0.76, label="at most, with 95 % confidence", **BOUND)
    ax.scatter(x, figures["truth"], label="truth", zorder=3, **TRUTH)
    ax.scatter(x, figures["hits_below_estimate"], label="estimate", zorder=4, **ESTIMATE)
    for place, most in zip(x, figures["hits_below_at_most"], strict=True):
        ax.text(place, most + 90, f"{most:,}", ha="center", fontsize=15)
    names = [f"{pd.Timestamp(month):%b}" if month != IN_ALL else "in all" for month in figures.index]
    found = zip(names, figures["hits"], figures["audit_hits"], strict=True)
    # The first tick has no bar: it names the lines of counts below the months.
    labels = ["\nlist\naudit", *(f"{name}\n{hits}\n{audited}" for name, hits, audited in found)]
    ax.set_xticks([-1.0, *x], labels, fontsize=16)
    ax.tick_params(axis="x", length=0)
    ax.tick_params(axis="y", labelsize=15)
    ax.yaxis.set_major_formatter("{x:,.0f}")
    ax.set_ylim(0, 1.08 * figures["hits_below_at_most"].max())
    ax.spines[["top", "right"]].set_visible(False)
    ax.set_title("Late flights that the list misses", fontsize=18, weight="bold", loc="left")
    ax.legend(loc="upper left", frameon=False, fontsize=16, borderaxespad=0.1)
    ax.set_xlabel("late flights found by the list and by the audit", fontsize=16)
    figure.savefig(path, dpi=110, bbox_inches="tight")
    pyplot.close(figure)


def main() -> None:
    """Print the figures of each month and of all, and draw them."""
    figures = figures_by_month()
    print("Flights from July to December 2013: 27 a day listed, 3 audited; bounds of one look at 95 %")
    print("month  " + "".join(f"{name:>15s}" for name in COLUMNS.values()))
    for month, row in figures.iterrows():
        print(f"{month!s:7s}" + "".join(f"{count:15,d}" for count in row))
    months = figures.drop(index=IN_ALL)
    held = (figures["truth"] <= figures["hits_below_at_most"]).sum()
    ratios = months["hits_below_at_most"] / months["truth"]
    of_all = figures.loc[IN_ALL, "hits_below_at_most"] / figures.loc[IN_ALL, "truth"]
    print(f"{held} of {len(figures)} bounds hold")
    print(f"bound by truth: {ratios.min():.1f} to {ratios.max():.1f} in a month, {of_all:.1f} in all")
    draw(figures, PICTURE)


if __name__ == "__main__":
    main()
