"""The tables of what the cache has."""

from __future__ import annotations

from itertools import product
from pathlib import Path

import numpy as np
import pandas as pd

from experiments.beside_autogluon.programs import ENSEMBLE, METHODS, SIMPLE, Setup
from experiments.ensemble.__main__ import LEVEL, against_over_sets, error_and_p
from experiments.ensemble.columns import BY_TIME
from experiments.ensemble.finals import MEASURES as OF_FINALS
from experiments.protocol import tally, versions
from pushrank import metrics

MEASURES = {
    **{name: OF_FINALS[name] for name in ("average precision", "precision in n+/4", "hits in 1 %")},
    "AUC": metrics.auc,
}
# What each costs: digits of the table.
FIT, CLOCK = "fit processor seconds", "fit seconds on the clock"
COSTS = {FIT: 1, CLOCK: 1, "score ms a row": 3, "start of a score, s": 1, "size MB": 2}
N_FEW = 6
# CatBoost was a member of the list when this was measured, and is none now: its lines are kept.
WITHOUT = "ensemble without CatBoost"
ALL_METHODS = [method for of_program in METHODS.values() for method in of_program]
ALL_METHODS.insert(ALL_METHODS.index(ENSEMBLE) + 1, WITHOUT)


def measured(setup: Setup, sets: list[str], splits: int) -> tuple[pd.DataFrame, list[str]]:
    """Return the figures of all that the cache has, and what failed."""
    lines, failed = [], []
    for name, split, method in product(sets, range(splits), ALL_METHODS):
        path, why = setup.kept(name, split, method), setup.failed(name, split, method)
        if not path.exists():
            if why.exists():
                failed.append(f"{name}, split {split}, {method}: {why.read_text('utf-8').splitlines()[-1]}")
            continue
        with np.load(path) as kept:
            y, scores = kept["y_test"].astype(int), kept["scores"].astype(float)
            line = {"set": name, "split": split, "method": method, "positives": int(kept["positives"])}
            line |= {measure: value(y, scores) for measure, value in MEASURES.items()}
            line[FIT], line[CLOCK] = kept["fit"]
            line["score ms a row"] = (
                1000.0 * (kept["score"][0] - kept["start"][0]) / (kept["rows_scored"] - 1)
            )
            line["start of a score, s"] = kept["start"][0]
            line["size MB"] = kept["size"] / 1e6
            lines.append(line)
    return pd.DataFrame(lines), failed


def verdict(values: np.ndarray, *, by_time: bool) -> str:
    """Return whether the mean of paired differences is above zero, below, or even."""
    if len(values) < 2 or error_and_p(values, by_time=by_time)[1] > LEVEL:
        return "even"
    return "above" if values.mean() > 0.0 else "below"


def report(rows: pd.DataFrame, failed: list[str]) -> str:
    """Return means by set, differences over sets, and ratios of processor seconds."""
    sets = list(dict.fromkeys(rows["set"]))
    methods = [method for method in ALL_METHODS if method in set(rows["method"])]
    positives = rows.groupby("set")["positives"].median()
    wide = {
        of: rows.pivot_table(index=["set", "split"], columns="method", values=of)
        for of in (*MEASURES, *COSTS)
    }
    lines = [f"failed: {each}" for each in failed] or ["failed: none"]
    for of, table in wide.items():
        digits = COSTS.get(of, 1 if of.startswith("hits") else 3)
        lines.append(f"\n{of}: means over splits, in brackets their number where it is not that of the set")
        lines.append(
            f"{'set':24s}{'n+':>6s}{'splits':>7s}" + "".join(name.rjust(width(name)) for name in methods)
        )
        for name in sets:
            of_set = table.loc[name]
            cells = (
                cell(of_set[method].dropna(), len(of_set), digits).rjust(width(method)) for method in methods
            )
            lines.append(f"{name:24s}{positives[name]:6.0f}{len(of_set):7d}" + "".join(cells))
    if ENSEMBLE not in methods:
        return "\n".join(lines)
    others = [method for method in methods if method != ENSEMBLE]
    for measure in MEASURES:
        lines.append(
            f"\n{measure}, {ENSEMBLE} less another: mean difference, sets above and below, signed-rank "
            f"p-value over sets; sets above / even / below, each by its own splits at {LEVEL:.0%}"
        )
        table = wide[measure]
        for method in others:
            by_set = (table[ENSEMBLE] - table[method]).dropna().groupby(level="set", sort=False)
            if not len(by_set):
                continue
            found = [(verdict(values.to_numpy(), by_time=name in BY_TIME), name) for name, values in by_set]
            over_sets = against_over_sets(table[ENSEMBLE], table[method])
            lines.append(f"  {method:24s} {over_sets} {tally(found)}")
    lines += against_simple(wide, positives.nsmallest(N_FEW).index, methods)
    lines.append(f"\nprocessor seconds of a fit, {ENSEMBLE} over another: median and ratio of the sums")
    seconds = wide[FIT]
    for method in others:
        both = seconds[[ENSEMBLE, method]].dropna()
        if len(both):
            ratios, sums = both[ENSEMBLE] / both[method], both.sum()
            lines.append(f"  {method:24s} {ratios.median():8.2f} {sums[ENSEMBLE] / sums[method]:8.2f}")
    return "\n".join(lines)


def against_simple(wide: dict[str, pd.DataFrame], few: pd.Index, methods: list[str]) -> list[str]:
    """Return the means of the list of all models and of simple ones on the sets of the fewest positives."""
    shown = [method for method in (ENSEMBLE, *SIMPLE) if method in methods]
    lines = [f"\nthe {len(few)} sets of the fewest positives, means over splits, then over sets"]
    for measure in MEASURES:
        both = wide[measure][shown].dropna()
        by_set = both.groupby(level="set").mean().reindex(few).dropna()
        means = ", ".join(f"{method} {by_set[method].mean():.4f}" for method in shown)
        best = by_set.drop(columns=ENSEMBLE).max(axis=1).mean()
        lines.append(f"  {measure}: {means}; the best of these simple ones, set by set, {best:.4f}")
    return lines


def width(method: str) -> int:
    """Return how wide the column of a method is."""
    return max(12, len(method) + 2)


def cell(values: pd.Series, n_splits: int, digits: int) -> str:
    """Return a mean in a cell of the table."""
    if not len(values):
        return "-"
    mean = f"{values.mean():.{digits}f}"
    return mean if len(values) == n_splits else f"{mean} ({len(values)})"


def write_tables(setup: Setup, sets: list[str], splits: int, folder: Path) -> str:
    """Write results.csv and results.txt into a folder and return the text."""
    rows, failed = measured(setup, sets, splits)
    path = folder / "results.csv"
    if path.exists():
        # What the cache lacks was measured earlier; its costs are of the machine of that time.
        rows = pd.concat([rows, pd.read_csv(path)]).drop_duplicates(["set", "split", "method"])
        rows = rows[rows["set"].isin(sets) & (rows["split"] < splits)]
        places = [rows["set"].map(sets.index), rows["split"], rows["method"].map(ALL_METHODS.index)]
        rows = rows.iloc[np.lexsort(places[::-1])]
    if rows.empty:
        return "\n".join(["There are no scores yet.", *failed])
    text = report(rows, failed)
    rows.to_csv(path, index=False, float_format="%.6g")
    (folder / "results.txt").write_text(f"{versions()}\n{text}\n", encoding="utf-8")
    return text
