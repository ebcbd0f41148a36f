"""Every table of Agarwal, The Infinite Push (SDM 2011), beside what is printed, and figures 1 and 4 to 6.

    python -m experiments.agarwal_2011            # fits what results.csv lacks, then tables and pictures

Section 6: features of all rows to [0, 1]; ten random trials that keep the shares of the classes, two thirds
of ionosphere's rows to train, 5 % of spambase's and 10 % of the molecules. RankSVM and the Infinite Push by
gradient projection as printed, 1,000 steps, C and eta0 from grids by 5-fold cross-validation on the average
precision; SVMMAP's C likewise; the P-Norm Push in 100 rounds on the features, without a penalty. Beside them,
which the paper has not, the exact optima of both, with C chosen likewise and with the C that the printed
algorithm chose, and the point where both printed algorithms start: the difference of the classes' means.

The paper's molecules were not to be had: table 4 is built as it says of others, see the README.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Iterator
from fractions import Fraction
from importlib.util import find_spec
from itertools import product
from pathlib import Path
from typing import Any

import joblib
import matplotlib as mpl
import numpy as np
import pandas as pd
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics import RocCurveDisplay

from experiments.agarwal_2011 import printed
from experiments.agarwal_2011.trials import (
    EXACT,
    MEASURES,
    PRINTED_ALGORITHMS,
    PUSHES,
    SAME_C,
    START,
    TABLES,
    WAYS,
    Models,
    molecules,
    one_trial,
    parts,
    rankers,
    readings,
)
from experiments.protocol import MAX_DEVIATIONS, against_printed, append, arguments, comparison, versions
from pushrank import metrics

mpl.use("Agg")
from matplotlib import pyplot as plt

HERE = Path(__file__).parent
N_TRIALS = 10
ZOOM = 0.1
FIGURES = dict(zip(TABLES, (4, 5, 6), strict=True))


def fit_all(path: Path, wanted: list[tuple[str, str, int]], models: Models, n_jobs: int) -> pd.DataFrame:
    """Return the rows of the trials, fitting the methods that the kept results lack."""
    keys = ["table", "target", "trial"]
    kept = pd.read_csv(path) if path.exists() else pd.DataFrame(columns=[*keys, "method"])
    work, done = [], {key: set(rows["method"]) for key, rows in kept.groupby(keys)}
    for key in wanted:
        missing = {name: model for name, model in models.items() if name not in done.get(key, ())}
        if missing:
            work.append(joblib.delayed(one_trial)(*key, missing))
    for rows in joblib.Parallel(n_jobs=n_jobs, return_as="generator_unordered")(work):
        append(path, rows)
    return pd.read_csv(path)


def by_trial(rows: pd.DataFrame) -> pd.DataFrame:
    """Return the means over the targets of every trial that has them all, one row for a trial and method."""
    complete = rows.groupby("trial")["target"].transform("nunique") == rows["target"].nunique()
    return rows[complete].groupby(["trial", "method"], sort=False, as_index=False)[list(MEASURES)].mean()


def differences(trials: pd.DataFrame) -> Iterator[str]:
    """Yield paired differences over the trials: of stopping early, and of the Infinite Push."""
    wide = trials.pivot(index="trial", columns="method", values=list(MEASURES))
    pairs = [(name, name + other) for name, other in product(PRINTED_ALGORITHMS, (EXACT, SAME_C))] + [
        ("Infinite Push" + of, "RankSVM" + of) for of in ("", EXACT)
    ]
    pairs += [(name, START) for name in PRINTED_ALGORITHMS]
    for first, second in pairs:
        cells = []
        for measure in MEASURES:
            paired = wide[measure][first] - wide[measure][second]
            cells.append(f"{measure} {paired.mean():+.4g} ± {paired.sem():.2g}")
        yield f"  {first} less {second}: " + ", ".join(cells)


def chosen(rows: pd.DataFrame) -> Iterator[str]:
    """Yield what was chosen most often, and how far above the optimum the printed algorithms end."""
    for name in PRINTED_ALGORITHMS:
        of = rows[rows["method"] == name]
        exact = rows[rows["method"] == name + SAME_C]["objective"].to_numpy()
        excess = of["objective"].to_numpy() / exact
        counts = of.groupby(["C", "eta0"]).size().sort_values(ascending=False).head(3)
        most = ", ".join(f"C={C:g} eta0={eta0:g} ({n})" for (C, eta0), n in counts.items())
        yield f"  {name}: chosen {most}; its objective is {np.median(excess):.3g} times the optimum (median)"


def lists() -> Iterator[str]:
    """Yield table 1, whose lists are printed."""
    for name, (positives, negatives, area, top) in printed.TABLE_1.items():
        y, scores = [1] * len(positives) + [0] * len(negatives), positives + negatives
        found = Fraction(metrics.auc(y, scores)).limit_denominator(len(positives) * len(negatives))
        at_top = metrics.positives_at_top(y, scores)
        yield f"  {name}: AUC {found} (printed {area}), positives at top {at_top:g} (printed {top})"


def held_against_printed(table: str, trials: pd.DataFrame) -> pd.DataFrame:
    """Return the printed numbers of a table beside those of the trials."""
    measured = trials.melt(["trial", "method"], var_name="measure")
    return against_printed(measured, printed.as_rows(TABLES[table].numbers))


def told(table: str, trials: pd.DataFrame) -> Iterator[str]:
    """Yield how many printed numbers are met, those that are not, and by which other reading they are."""
    found, n_trials = held_against_printed(table, trials), trials["trial"].nunique()
    of_means = found["deviations"].abs() <= MAX_DEVIATIONS * math.sqrt(1 / N_TRIALS + 1 / n_trials)
    yield (
        f"table {table}: {found['within'].sum()} of {len(found)} within two sd of one trial, "
        f"{of_means.sum()} within two of the difference of means of {N_TRIALS} and of {n_trials} trials"
    )
    other = {}
    for reading in (EXACT, *WAYS):
        of = trials[trials["method"].str.endswith(reading)]
        of = held_against_printed(table, of.assign(method=of["method"].str.removesuffix(reading)))
        other[reading] = of.set_index(["method", "measure"])
    for reading in ("", *WAYS):
        of = other[reading].reset_index() if reading else found
        of = of[of["method"].isin(PUSHES) & of["mean"].notna()]
        if len(of):
            means = of["deviations"].abs() <= MAX_DEVIATIONS * math.sqrt(1 / N_TRIALS + 1 / n_trials)
            yield (
                f"  the P-Norm Push{reading or ' as kept'}: {of['within'].sum()} of {len(of)} within two sd "
                f"of one trial, {means.sum()} of the difference of means, "
                f"{means[of['method'] != PUSHES[0]].sum()} of them at p > 1"
            )
    for row in found[~found["within"]].itertuples():
        numbers = {reading: of.loc[(row.method, row.measure)] for reading, of in other.items()}
        met = [f"{of['mean']:.5g}{reading}" for reading, of in numbers.items() if of["within"]]
        yield (
            f"  {row.measure} of {row.method}: printed {row.printed:g}, is {row.mean:.5g}, sd {row.sd:.2g} "
            f"({row.deviations:+.1f} sd)" + "".join(f"; {number}" for number in met)
        )


def details(table: str, trials: pd.DataFrame) -> Iterator[str]:
    """Yield a table's numbers, those that are not printed, and what stopping early gives."""
    found = held_against_printed(table, trials)
    yield f"\ntable {table}: printed, and mean and sd over the trials"
    yield comparison(found, "method", "measure")
    yield "not printed: means over the trials"
    means = trials.groupby("method", sort=False)[list(MEASURES)].mean()
    for method, of in means[~means.index.isin(found["method"])].iterrows():
        yield f"  {method:48s}" + "".join(f"{value:11.5g}" for value in of)
    yield "paired differences ± standard error"
    yield from differences(trials)


def text(rows: pd.DataFrame, quick: bool) -> str:
    """Return what is kept: the counts, the numbers that differ, the tables, and what stopping early gives."""
    tables = [(str(name), of, by_trial(of)) for name, of in rows.groupby("table")]
    lines = [versions(), "", "table 1", *lists()]
    for name, _, trials in tables if not quick else ():
        lines += told(name, trials)
    if "4 molecules" not in set(rows["table"]):
        lines.append("table 4 molecules: left out, rdkit is not installed")
    for name, of_table, trials in tables:
        lines += [*details(name, trials), *chosen(of_table)]
    seconds = ", ".join(f"{name} {of['seconds'].sum():.0f}" for name, of, _ in tables)
    return "\n".join([*lines, "", f"seconds of one core: {seconds}"])


def curves(path: Path, of: dict[str, tuple[Any, Any]]) -> None:
    """Draw ROC curves, whole and enlarged at the left."""
    figure, axes = plt.subplots(1, 2, figsize=(10, 4.6), layout="constrained")
    for name, (y, scores) in of.items():
        for ax in axes:
            RocCurveDisplay.from_predictions(y, scores, name=name, ax=ax, drop_intermediate=False)
    axes[1].set(xlim=(0, ZOOM), aspect="auto", title="enlarged")
    axes[1].get_legend().remove()
    figure.savefig(path, dpi=110)
    plt.close(figure)


def draw(folder: Path, rows: pd.DataFrame, quick: bool) -> None:
    """Draw figure 1, and figures 4 to 6 of the first trial with what was chosen there."""
    table_1 = {
        name: ([1] * len(positives) + [0] * len(negatives), positives + negatives)
        for name, (positives, negatives, _, _) in printed.TABLE_1.items()
    }
    curves(folder / "figure_1.png", table_1)
    models = rankers(quick)
    for name, of_table in rows[rows["trial"] == 0].groupby("table", sort=False):
        table, target = TABLES[str(name)], of_table["target"].iloc[0]
        found = of_table[of_table["target"] == target].set_index("method")
        X, y = table.data(target)
        train, test = parts(y, table.share, 0)
        scores = {}
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            for method in ("RankSVM", "SVMMAP", found.loc[PUSHES, "top"].idxmax(), "Infinite Push"):
                model, grid = models[method]
                best = clone(model).set_params(**{key: found[key][method] for key in grid})
                scores[method] = y[test], best.fit(X[train], y[train]).decision_function(X[test])
        curves(folder / f"figure_{FIGURES[str(name)]}.png", scores)


def main() -> None:
    """Fit what is missing, and write the tables and pictures beside this file."""
    options = arguments(__doc__, HERE, N_TRIALS)
    folder, quick = options.folder, options.quick
    wanted = [
        (name, target, trial)
        for trial in range(options.repeats)  # all sets get their first trial before any its second
        for name, table in TABLES.items()
        for target in (table.targets[:1] if quick else table.targets)
        if find_spec("rdkit") or table.data is not molecules
    ]
    rows = fit_all(folder / "results.csv", wanted, rankers(quick), options.jobs)
    tried = fit_all(folder / "readings.csv", wanted, readings(quick), options.jobs)
    written = text(pd.concat([rows, tried]), quick)
    (folder / "results.txt").write_text(f"python -m experiments.agarwal_2011\n\n{written}\n")
    print(written)
    draw(folder, rows, quick)


if __name__ == "__main__":
    main()
