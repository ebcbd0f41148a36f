"""Precision at k against training time, k and the batch length, after Kar, Narasimhan and Jain (ICML 2015).

    python -m experiments.kar_2015

Five random 70/30 splits of six sets, and of cod-rna where OpenML can be reached; features standardised on
the training part. The paper's figure 2 is precision at 0.25 against seconds of training, figure 3 (a, b)
precision over k from 0.1 to 1 of the positives, and figure 3 (c to e) precision at 0.25 over batches of 100
to 5,000 rows. Where that varies, the limit of long batches is run too: one batch of all rows, every pass a
step. Nothing is tuned: every method has
the parameters below on every set. Perceptrons and SGD are shown with the mean of their weights and with the
last ones; SVMPerf goes on until its gap is certified, or for 50 times as long as the slowest of these.

Rows that the CSV files beside this file have are kept: to run a part again, delete its rows.
"""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable, Iterator
from functools import partial
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

from experiments.protocol import arguments, versions
from pushrank import PerceptronAtK, PNormPush, SGDAtK, StructSVM, datasets
from pushrank.exceptions import DatasetNotFoundError
from pushrank.metrics import precision_at_k

mpl.use("Agg")
import matplotlib.pyplot as plt
from matplotlib.ticker import NullFormatter

HERE = Path(__file__).parent
K = 0.25
SETS: dict[str, Callable[[], tuple[Any, Any]]] = {
    "letter": lambda: datasets.load_dataset("letter", return_X_y=True),
    "adult": lambda: datasets.load_dataset("adult", return_X_y=True, as_frame=True),
    "adult_a9a": lambda: datasets.load_dataset("adult_a9a", return_X_y=True),
    "ijcnn1": lambda: datasets.load_dataset("ijcnn1", return_X_y=True),
    "cover_odds": lambda: datasets.load_dataset("cover_odds", return_X_y=True),
    "cod_rna": lambda: datasets.load_dataset("cod_rna", return_X_y=True),
    "kddcup99_http": lambda: datasets.load_dataset("kddcup99_http", return_X_y=True),
}
QUICK_SETS = {"magic": lambda: [part[::5] for part in datasets.load_dataset("magic", return_X_y=True)]}
STEPS_IN_ONE = 250
LENGTHS = (100, 200, 500, 1000, 2000, 5000)
SHARES = (0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0)
PASSES = (1, 2, 5, 10, 25)
PLANES = (3, 10, 30, 100, 300, 1000)
MAX_FACTOR = 50.0  # of the slowest stream's time, which SVMPerf is given
AVERAGED: dict[str, Callable[..., Any]] = {
    "Perceptron@k-avg": lambda **o: PerceptronAtK(variant="avg", **o),
    "Perceptron@k-max": lambda **o: PerceptronAtK(variant="max", **o),
    "SGD@k-avg": lambda **o: SGDAtK(surrogate="avg", **o),
    "SGD@k-max": lambda **o: SGDAtK(surrogate="max", **o),
}
STREAMS = AVERAGED | {f"{name}, last": partial(make, average=False) for name, make in AVERAGED.items()}
SVMPERF: dict[str, Callable[..., Any]] = {
    "SVMPerf, prec@k": lambda k, **o: StructSVM(100.0, k=k, **o),
    "SVMPerf, PRBEP": lambda k, **o: StructSVM(100.0, measure="prbep", **o),  # noqa: ARG005
}
AS_PRINTED = ("Perceptron@k-avg, last", "Perceptron@k-max, last", "SGD@k-avg", "SGD@k-max", "1PMB", *SVMPERF)

Parts = tuple[Any, Any, Any, Any]
Rows = Iterator[dict[str, Any]]
Lacking = Callable[[str], bool]


def others(seed: int, k: float) -> Iterator[tuple[str, int, Any]]:
    """Yield every other method with ever more work: its name, the passes or iterations, and the model."""
    yield "1PMB", 1, SGDAtK(k, surrogate="struct", radius=10.0, max_iter=1, random_state=seed)
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


def fitted(model: Any, parts: Parts, k: float) -> tuple[float, float]:
    """Return the processor's seconds of a fit, and the precision at k of the test part."""
    X_train, X_test, y_train, y_test = parts
    start = time.process_time()
    model.fit(X_train, y_train)
    seconds = time.process_time() - start
    return seconds, precision_at_k(y_test, model.decision_function(X_test), fraction_of_positives=k)


def over_time(parts: Parts, seed: int, lacking: Lacking) -> Rows:
    """Yield figure 2."""
    slowest = 0.0
    for name, make in STREAMS.items():
        fitted(make(k=K, max_iter=1), parts, K)  # what is compiled in the first fit is no part of its time
        for work in PASSES if lacking(name) else PASSES[-1:]:
            model = make(k=K, max_iter=work, random_state=seed)
            seconds, precision = fitted(model, parts, K)
            found = {"method": name, "work": work, "seconds": seconds, "precision": precision}
            if name.startswith("Perceptron"):
                found |= {"mistakes": model.n_mistakes_, "bound": model.mistake_bound_}
                found |= {"mistake rate": model.mistake_rate_}
            if lacking(name):
                yield found
        slowest = max(slowest, seconds)
    for name, work, model in others(seed, K):
        if lacking(name):
            seconds, precision = fitted(model, parts, K)
            yield {"method": name, "work": work, "seconds": seconds, "precision": precision}
    for name in filter(lacking, SVMPERF):
        for work in PLANES:
            model = SVMPERF[name](K, max_iter=work)
            seconds, precision = fitted(model, parts, K)
            found = {"method": name, "work": work, "seconds": seconds, "precision": precision}
            yield {**found, "gap": model.dual_gap_, "times": seconds / slowest}
            if model.converged_ or seconds > MAX_FACTOR * slowest:
                break


def over_k(parts: Parts, seed: int, lacking: Lacking) -> Rows:
    """Yield figure 3 (a, b): every method with its most work, for every k."""
    X_train, X_test, y_train, y_test = parts
    scores: dict[str, Any] = {}  # of models that do not know k, one fit serves all
    for k in SHARES:
        models = {name: make(k=k, max_iter=PASSES[-1], random_state=seed) for name, make in STREAMS.items()}
        models |= {name: model for name, _, model in others(seed, k)}
        models |= {name: make(k, max_iter=PLANES[-1]) for name, make in SVMPERF.items()}
        for name in filter(lacking, models):
            key = repr(models[name])
            if key not in scores:
                scores[key] = models[name].fit(X_train, y_train).decision_function(X_test)
            precision = precision_at_k(y_test, scores[key], fraction_of_positives=k)
            yield {"method": name, "k": k, "precision": precision}


def over_batches(parts: Parts, seed: int, lacking: Lacking) -> Rows:
    """Yield figure 3 (c to e)."""
    for length in LENGTHS:
        for name in filter(lacking, STREAMS):
            model = STREAMS[name](k=K, batch_size=length, max_iter=PASSES[-1], random_state=seed)
            yield {"method": name, "batch": length, "precision": fitted(model, parts, K)[1]}


def in_one_batch(parts: Parts, seed: int, lacking: Lacking) -> Rows:
    """Yield what the surrogates' subgradients lead to without the noise of small batches."""
    X_train, _, y_train, _ = parts
    for name in filter(lacking, AVERAGED):
        model = AVERAGED[name](k=K, batch_size=len(y_train), max_iter=STEPS_IN_ONE, random_state=seed)
        precision = fitted(model, parts, K)[1]
        on_train = precision_at_k(y_train, model.decision_function(X_train), fraction_of_positives=K)
        yield {"method": name, "precision": precision, "training precision": on_train}


FIGURES: dict[str, tuple[Callable[[Parts, int, Lacking], Rows], tuple[str, ...]]] = {
    "time": (over_time, tuple(SETS)),
    "k": (over_k, ("letter", "adult_a9a")),
    "batches": (over_batches, ("adult_a9a", "ijcnn1", "cover_odds")),
    "one_batch": (in_one_batch, ("ijcnn1",)),
}


def fit_all(folder: Path, n_splits: int, sets: dict[str, Callable[[], Any]]) -> dict[str, pd.DataFrame]:
    """Add what the files lack, split by split, and return the rows of the figures."""
    paths = {figure: folder / f"{figure}.csv" for figure in FIGURES}
    figures = {figure: pd.read_csv(path) for figure, path in paths.items() if path.exists()}
    for name, load in sets.items():
        try:
            X, y = load()
        except DatasetNotFoundError as error:
            print(f"{name} is left out: {error}", flush=True)
            continue
        for seed in range(n_splits):
            parts = split(X, y, seed)
            for figure, (measure, of_sets) in FIGURES.items():
                if name not in of_sets and name not in QUICK_SETS:
                    continue
                kept = figures.get(figure, pd.DataFrame(columns=["set", "split", "method"]))
                done = set(kept[(kept["set"] == name) & (kept["split"] == seed)]["method"])
                rows = [
                    {"set": name, "split": seed, **row}
                    for row in measure(parts, seed, lambda method, done=done: method not in done)
                ]
                if rows:
                    figures[figure] = pd.concat([kept, pd.DataFrame(rows)], ignore_index=True)
                    figures[figure].to_csv(paths[figure], index=False, float_format="%.6g")
            print(f"{name}, split {seed + 1} of {n_splits}", flush=True)
    return figures


def table(rows: pd.DataFrame, value: str, digits: int = 3) -> str:
    """Return the means of a value over the splits, with standard errors: methods by sets."""
    by_split = rows.pivot_table(index=["method", "split"], columns="set", values=value, sort=False)
    lines = [" " * 24 + "".join(f"{name:>16s}" for name in by_split)]
    for method, of_method in by_split.groupby("method", sort=False):
        cells = (f"{of_method[name].mean():9.{digits}f} ±{of_method[name].sem():5.3f}" for name in by_split)
        lines.append(f"  {method:22s}" + "".join(cells))
    return "\n".join(lines)


def lost(rows: pd.DataFrame) -> str:
    """Return how far each method is below the best of all, on the average set and on the worst."""
    means = rows.pivot_table(index="method", columns="set", values="precision", sort=False)
    errors = rows.pivot_table(index="method", columns="set", values="precision", aggfunc="sem", sort=False)
    below = means.max() - means
    beyond = below > 2.0 * np.hypot(errors, [errors[name][means[name].idxmax()] for name in means])
    lines = [f"{'':24s}{'mean':>8s}{'deviation':>11s}{'worst':>8s}  on            sets beyond two errors"]
    for method, found in below.iterrows():
        lines.append(
            f"  {method:22s}{found.mean():8.3f}{found.std():11.3f}{found.max():8.3f}  {found.idxmax():14s}"
            f"{beyond.loc[method].sum()} of {len(found)}{'   as printed' if method in AS_PRINTED else ''}"
        )
    return "\n".join(lines)


def text(figures: dict[str, pd.DataFrame], n_splits: int, quick: bool) -> str:
    """Return the tables: means and standard errors over the splits."""
    rows = figures["time"]
    best = rows.loc[rows.groupby(["set", "split", "method"], sort=False)["work"].idxmax()]
    lines = [f"{versions()}; {n_splits} splits", ""]
    lines += ["Precision at 0.25 of the positives, most work of each method (mean ± standard error)"]
    lines += [table(best, "precision"), "", "Processor seconds of that fit", table(best, "seconds", 2)]
    lines += ["", "Precision below the best method's, over the sets", lost(best)]
    svmperf = best[best["method"].isin(SVMPERF)]
    lines += ["", "SVMPerf's time over that of the slowest stream, and its gap then (largest of the splits)"]
    for (name, method), found in svmperf.groupby(["set", "method"], sort=False):
        lines.append(f"  {name:16s}{method:18s}{found['times'].max():7.1f}{found['gap'].max():10.1e}")
    lines += ["", "Theorems 7 and 9: mistakes in all passes over their bound; mistakes of a batch, test part"]
    perceptrons = best[best["method"].isin(["Perceptron@k-avg", "Perceptron@k-max"])]
    for (name, method), found in perceptrons.groupby(["set", "method"], sort=False):
        part, rate = (found["mistakes"] / found["bound"]).max(), found["mistake rate"].mean()
        lines.append(f"  {name:16s}{method:18s}{part:7.3f}{rate:8.3f}{1 - found['precision'].mean():8.3f}")
    if not quick:
        lines += ["", "Figure 3 (a, b): for how many k each method is above SVMPerf"]
        lines += [f"{'':40s}" + "".join(f"{name:>18s}" for name in SVMPERF)]
    for name, found in figures["k"].groupby("set", sort=False) if not quick else ():
        by_split = found.pivot_table(index=["k", "split"], columns="method", values="precision", sort=False)
        means = by_split.dropna().groupby("k").mean().T  # of splits that all methods have
        for method in means.index.drop(list(SVMPERF)):
            above = (
                f"{(means.loc[method] > means.loc[other]).sum():12d} of {len(SHARES)}" for other in SVMPERF
            )
            lines.append(f"  {name:14s}{method:24s}" + "".join(above))
    lines += [
        "",
        f"Mean precision over batches of {LENGTHS[0]} to {LENGTHS[-1]:,} rows: range, deviation over mean",
    ]
    for (name, method), found in figures["batches"].groupby(["set", "method"], sort=False):
        precision = found.groupby("batch")["precision"].mean()
        spread, deviation = np.ptp(precision) / precision.mean(), precision.std() / precision.mean()
        lines.append(f"  {name:16s}{method:24s}{spread:7.1%}{deviation:7.1%}")
    lines += [
        "",
        f"All rows in one batch, {STEPS_IN_ONE} steps: precision in training, on the test part",
    ]
    for (name, method), found in figures["one_batch"].groupby(["set", "method"], sort=False):
        on_train, on_test = found[["training precision", "precision"]].mean()
        lines.append(f"  {name:16s}{method:24s}{on_train:7.3f}{on_test:7.3f}")
    return "\n".join(lines)


def draw(folder: Path, figures: dict[str, pd.DataFrame]) -> None:
    """Write the pictures; last weights have the colour of the mean ones, and broken lines."""
    axes_of = {
        "time": ("seconds", "work", "seconds of training"),
        "k": ("k", "k", "k / positives"),
        "batches": ("batch", "batch", "rows a batch"),
    }
    for figure, (x, key, label) in axes_of.items():
        rows = figures[figure]
        names = list(dict.fromkeys(rows["set"]))
        kinds = list(dict.fromkeys(method.removesuffix(", last") for method in rows["method"]))
        columns = min(3, len(names))
        lines = -(-len(names) // columns)
        chart, grid = plt.subplots(lines, columns, figsize=(4.2 * columns, 3.4 * lines), squeeze=False)
        for axes, name in zip(grid.flat, names, strict=False):
            for method, found in rows[rows["set"] == name].groupby("method", sort=False):
                means = found.groupby(key).agg({x: "mean", "precision": "mean"})
                errors = found.groupby(key)["precision"].sem()
                number, last = kinds.index(method.removesuffix(", last")), method.endswith(", last")
                style = {"marker": "osv^D<>Px*"[number], "color": plt.get_cmap("tab10")(number)}
                style |= {"linestyle": "--", "markerfacecolor": "none"} if last else {}
                axes.errorbar(
                    means[x], means["precision"], errors, label=method, markersize=4, linewidth=1, **style
                )
            axes.set(title=name, xlabel=label, ylabel=f"precision at {'k' if figure == 'k' else K}")
            if figure != "k":
                axes.set_xscale("log")
                axes.xaxis.set_minor_formatter(NullFormatter())
        chart.tight_layout()
        handles, labels = grid.flat[0].get_legend_handles_labels()
        chart.legend(handles, labels, ncols=4, fontsize=8, loc="upper center", bbox_to_anchor=(0.5, 0.0))
        chart.savefig(folder / f"{figure}.png", dpi=90, bbox_inches="tight")
        plt.close(chart)


def main() -> None:
    """Fit what is missing, and write CSV files, tables and pictures beside this file."""
    options = arguments(__doc__, HERE, 5)
    sets = QUICK_SETS if options.quick else SETS
    with threadpool_limits(limits=1), warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # to stop early is what is measured
        figures = fit_all(options.folder, options.repeats, sets)
    found = text(figures, options.repeats, options.quick)
    (options.folder / "results.txt").write_text(
        f"python -m experiments.kar_2015\n\n{found}\n", encoding="utf-8"
    )
    print(found)
    draw(options.folder, figures)


if __name__ == "__main__":
    main()
