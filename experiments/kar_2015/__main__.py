"""Precision at k against training time, k and the batch length, after Kar, Narasimhan and Jain (ICML 2015).

    python -m experiments.kar_2015

Five random 70/30 splits of six sets; features standardised on the training part. The paper's figure 2 is
precision at 0.25 against seconds of training, figure 3 (a, b) precision over k from 0.1 to 1 of the
positives, and figure 3 (c to e) precision at 0.25 over batches of 100 to 5,000 rows. Where that varies, the
limit of long batches is run too: one batch of all rows, every pass a step. Nothing is tuned: every method has
the parameters below on every set.
"""

from __future__ import annotations

import argparse
import time
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import matplotlib as mpl
import numpy as np
import pandas as pd
from sklearn.compose import make_column_selector, make_column_transformer
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import train_test_split
from sklearn.preprocessing import OneHotEncoder, StandardScaler
from threadpoolctl import threadpool_limits

from pushrank import PerceptronAtK, PNormPush, SGDAtK, StructSVM, datasets
from pushrank.metrics import precision_at_k

mpl.use("Agg")
import matplotlib.pyplot as plt
from matplotlib.ticker import NullFormatter

HERE = Path(__file__).parent
K = 0.25
SETS: dict[str, Callable[[], tuple[Any, Any]]] = {
    "letter": lambda: datasets.load_dataset("letter", positive="H", return_X_y=True),
    "adult": lambda: datasets.load_dataset("adult", return_X_y=True, as_frame=True),
    "adult_a9a": lambda: datasets.load_dataset("adult_a9a", return_X_y=True),
    "ijcnn1": lambda: datasets.load_dataset("ijcnn1", return_X_y=True),
    "cover_odds": lambda: datasets.load_dataset("cover_odds", return_X_y=True),
    "kddcup99_http": lambda: datasets.load_dataset("kddcup99_http", return_X_y=True),
}
OVER_K = ("letter", "adult_a9a")
OVER_BATCHES = ("adult_a9a", "ijcnn1", "cover_odds")
IN_ONE_BATCH = ("ijcnn1",)
STEPS_IN_ONE = 250
LENGTHS = (100, 200, 500, 1000, 2000, 5000)
PASSES = (1, 2, 5, 10, 25)
PLANES = (3, 10, 30)
STREAMS: dict[str, Callable[..., Any]] = {
    "Perceptron@k-avg": lambda **o: PerceptronAtK(variant="avg", **o),
    "Perceptron@k-max": lambda **o: PerceptronAtK(variant="max", **o),
    "SGD@k-avg": lambda **o: SGDAtK(surrogate="avg", **o),
    "SGD@k-max": lambda **o: SGDAtK(surrogate="max", **o),
}


def budgets(seed: int, k: float) -> Iterator[tuple[str, float, Any]]:
    """Yield every method with ever more work: its name, the passes, planes or iterations, and the model."""
    for name, make in STREAMS.items():
        for passes in PASSES:
            yield name, passes, make(k=k, max_iter=passes, random_state=seed)
    yield "1PMB", 1, SGDAtK(k, "struct", radius=10.0, max_iter=1, random_state=seed)
    for planes in PLANES:
        yield "SVMPerf, prec@k", planes, StructSVM(100.0, k=k, max_iter=planes)
        yield "SVMPerf, PRBEP", planes, StructSVM(100.0, measure="prbep", max_iter=planes)
    for iterations in (2, 5, 20, 200):
        yield "logistic regression", iterations, LogisticRegression(max_iter=iterations)
        yield "PNormPush(4)", iterations, PNormPush(4.0, max_iter=iterations)
        yield "PNormPush(16)", iterations, PNormPush(16.0, max_iter=iterations)


def split(X: Any, y: Any, seed: int) -> tuple[Any, Any, Any, Any]:
    """Return standardised training and test parts of a random 70/30 split."""
    train, test = train_test_split(np.arange(len(y)), train_size=0.7, stratify=y, random_state=seed)
    if isinstance(X, pd.DataFrame):
        words = OneHotEncoder(handle_unknown="ignore", sparse_output=False)
        scaler: Any = make_column_transformer(
            (StandardScaler(), make_column_selector(dtype_include="number")),
            (words, make_column_selector(dtype_exclude="number")),
        )
        X_train, X_test = X.iloc[train], X.iloc[test]
    else:
        scaler = StandardScaler()
        dense = X.toarray() if hasattr(X, "toarray") else X
        X_train, X_test = dense[train], dense[test]
    scaler.fit(X_train)
    parts = (np.ascontiguousarray(scaler.transform(part), dtype=np.float64) for part in (X_train, X_test))
    y = np.asarray(y)
    X_train, X_test = parts
    return X_train, X_test, y[train], y[test]


def fitted(model: Any, parts: tuple[Any, Any, Any, Any], k: float) -> tuple[float, float]:
    """Return the seconds of a fit, and the precision at k of the test part."""
    X_train, X_test, y_train, y_test = parts
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # to stop early is what is measured
        start = time.perf_counter()
        model.fit(X_train, y_train)
        seconds = time.perf_counter() - start
    scores = model.decision_function(X_test)
    return seconds, precision_at_k(y_test, scores, fraction_of_positives=k)


def over_time(parts: Any, seed: int) -> Iterator[dict[str, Any]]:
    """Yield figure 2."""
    for make in STREAMS.values():  # what is compiled in the first fit is no part of its time
        fitted(make(k=K, max_iter=1), parts, K)
    for name, work, model in budgets(seed, K):
        seconds, precision = fitted(model, parts, K)
        yield {"method": name, "work": work, "seconds": seconds, "precision": precision}


def over_k(parts: Any, seed: int) -> Iterator[dict[str, Any]]:
    """Yield figure 3 (a, b): every method with its most work, for every k."""
    for k in np.round(np.linspace(0.1, 1.0, 10), 1):
        last = {name: model for name, _, model in budgets(seed, float(k))}
        for name, model in last.items():
            yield {"method": name, "k": k, "precision": fitted(model, parts, float(k))[1]}


def over_batches(parts: Any, seed: int) -> Iterator[dict[str, Any]]:
    """Yield figure 3 (c to e)."""
    for length in LENGTHS:
        for name, make in STREAMS.items():
            model = make(k=K, batch_size=length, max_iter=25, random_state=seed)
            yield {"method": name, "batch": length, "precision": fitted(model, parts, K)[1]}


def in_one_batch(parts: Any, seed: int) -> Iterator[dict[str, Any]]:
    """Yield what the surrogates' subgradients lead to without the noise of small batches."""
    X_train, _, y_train, _ = parts
    for name, make in STREAMS.items():
        model = make(k=K, batch_size=len(y_train), max_iter=STEPS_IN_ONE, random_state=seed)
        precision = fitted(model, parts, K)[1]
        on_train = precision_at_k(y_train, model.decision_function(X_train), fraction_of_positives=K)
        yield {"method": name, "precision": precision, "training precision": on_train}


def run(name: str, n_splits: int) -> dict[str, pd.DataFrame]:
    """Return the rows of the three figures for one set."""
    figures: Mapping[str, tuple[Callable[..., Any], Sequence[str]]] = {
        "time": (over_time, tuple(SETS)),
        "k": (over_k, OVER_K),
        "batches": (over_batches, OVER_BATCHES),
        "one_batch": (in_one_batch, IN_ONE_BATCH),
    }
    rows: dict[str, list[dict[str, Any]]] = {figure: [] for figure in figures}
    X, y = SETS[name]()
    for seed in range(n_splits):
        parts = split(X, y, seed)
        for figure, (measure, of_sets) in figures.items():
            if name in of_sets:
                rows[figure] += [{"set": name, "split": seed, **row} for row in measure(parts, seed)]
        print(f"{name}, split {seed + 1} of {n_splits}", flush=True)
    return {figure: pd.DataFrame(found) for figure, found in rows.items()}


def keep(figure: str, rows: pd.DataFrame) -> None:
    """Put the rows of a set in the place of its older ones in the figure's file."""
    path = HERE / f"{figure}.csv"
    if path.exists():
        older = pd.read_csv(path)
        rows = pd.concat([older[~older["set"].isin(rows["set"])], rows], ignore_index=True)
    rows.to_csv(path, index=False, float_format="%.6g")


def text(figures: Mapping[str, pd.DataFrame]) -> str:
    """Return the tables: means and standard errors over the splits."""
    time_rows = figures["time"]
    best = time_rows.loc[time_rows.groupby(["set", "split", "method"])["work"].idxmax()]
    lines = ["Precision at 0.25 of the positives, most work of each method (mean ± standard error)"]
    for name, rows in best.groupby("set", sort=False):
        lines.append(f"{name}")
        for method, of_method in rows.groupby("method", sort=False):
            precision, seconds = of_method["precision"], of_method["seconds"]
            lines.append(
                f"  {method:22s}{precision.mean():7.3f} ± {precision.sem():.3f}{seconds.mean():9.2f} s"
            )
    lines.append("")
    lines.append(
        "Variation of the mean precision over batches of 100 to 5,000 rows: range / mean, deviation / mean"
    )
    for (name, method), rows in figures["batches"].groupby(["set", "method"], sort=False):
        means = rows.groupby("batch")["precision"].mean()
        spread, deviation = np.ptp(means) / means.mean(), means.std() / means.mean()
        lines.append(f"  {name:12s}{method:20s}{spread:7.1%}{deviation:7.1%}")
    lines.append("")
    lines.append(
        f"All rows in one batch, {STEPS_IN_ONE} steps: precision on the training part, and on the test part"
    )
    for (name, method), rows in figures["one_batch"].groupby(["set", "method"], sort=False):
        means = rows[["training precision", "precision"]].mean()
        lines.append(f"  {name:12s}{method:20s}{means.iloc[0]:7.3f}{means.iloc[1]:7.3f}")
    return "\n".join(lines)


def draw(figures: Mapping[str, pd.DataFrame]) -> None:
    """Write the pictures."""
    axes_of = {"time": ("seconds", "work"), "k": ("k", "k"), "batches": ("batch", "batch")}
    for figure, (x, key) in axes_of.items():
        rows = figures[figure]
        names = list(dict.fromkeys(rows["set"]))
        columns = min(3, len(names))
        lines = -(-len(names) // columns)
        chart, grid = plt.subplots(lines, columns, figsize=(4.2 * columns, 3.4 * lines), squeeze=False)
        for axes, name in zip(grid.flat, names, strict=False):
            for number, (method, found) in enumerate(rows[rows["set"] == name].groupby("method", sort=False)):
                means = found.groupby(key).agg({x: "mean", "precision": "mean"})
                errors = found.groupby(key)["precision"].sem()
                style = {"marker": "osv^D<>Px*"[number % 10], "color": plt.get_cmap("tab10")(number)}
                axes.errorbar(
                    means[x], means["precision"], errors, label=method, markersize=4, linewidth=1, **style
                )
            axes.set_title(name)
            axes.set_xlabel(
                {"seconds": "seconds of training", "k": "k / positives", "batch": "rows a batch"}[x]
            )
            axes.set_ylabel("precision at k" if figure == "k" else "precision at 0.25")
            if figure != "k":
                axes.set_xscale("log")
                axes.xaxis.set_minor_formatter(NullFormatter())
        chart.tight_layout()
        handles, labels = grid.flat[0].get_legend_handles_labels()
        chart.legend(handles, labels, ncols=5, fontsize=8, loc="upper center", bbox_to_anchor=(0.5, 0.0))
        chart.savefig(HERE / f"{figure}.png", dpi=110, bbox_inches="tight")
        plt.close(chart)


def main() -> None:
    """Run, and write CSV files, tables and pictures beside this file."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--splits", type=int, default=5)
    parser.add_argument("--sets", nargs="*", default=list(SETS), choices=list(SETS), help="none: draw anew")
    options = parser.parse_args()
    with threadpool_limits(limits=1):
        for name in options.sets:
            for figure, rows in run(name, options.splits).items():
                if len(rows):
                    keep(figure, rows)
    names = ("time", "k", "batches", "one_batch")
    figures = {figure: pd.read_csv(HERE / f"{figure}.csv") for figure in names}
    found = text(figures)
    (HERE / "results.txt").write_text(f"python -m experiments.kar_2015\n\n{found}\n")
    print(found)
    draw(figures)


if __name__ == "__main__":
    main()
