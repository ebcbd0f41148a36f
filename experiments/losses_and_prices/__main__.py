"""Which losses and prices win where: every loss with powers 1 to 16 and the maximum, on real data.

    PUSHRANK_DATA=... python -m experiments.losses_and_prices > experiments/losses_and_prices/best.txt

writes results.csv beside this file: for each data set, loss and price the mean of each measure of the top
over random halves, one to fit and one to measure on, and its standard error. Columns are scaled on the half
to fit. Of a large set 2,000 rows are taken, at most 400 of them positives, so that the whole takes minutes; a
rare class is therefore less rare than in the set.

What it prints at the end, kept as best.txt, is the best of 36 for each set and measure, chosen on the halves
that it is measured on: a lead of about a standard error says nothing.
"""

from __future__ import annotations

import argparse
import csv
import sys
import time
import warnings
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pandas as pd
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import StratifiedShuffleSplit
from sklearn.preprocessing import StandardScaler

from pushrank import PushRanker, datasets, losses, metrics
from pushrank.prices import Maximum, Power, Price

SETS = (
    "abalone",
    "adult_a9a",
    "cover_odds",
    "housing",
    "ijcnn1",
    "ionosphere",
    "kddcup99_http",
    "kddcup99_smtp",
    "letter A",
    "magic",
    "spambase",
)
LEARNED = tuple(name for name in losses.__all__ if name not in ("Ramp", "ZeroOne"))
PRICES: dict[str, Price] = {**{f"p = {p}": Power(p) for p in (1, 2, 4, 8, 16)}, "maximum": Maximum()}
MEASURES: dict[str, Callable[..., float]] = {
    "average_precision": metrics.average_precision,
    "positives_at_top": metrics.positives_at_top,
    "precision_at_10": lambda y, scores: metrics.precision_at_k(y, scores, k=10),
    "auc": metrics.auc,
}
MOST_ROWS, MOST_POSITIVES = 2000, 400
ALPHA = 1e-3


def rows_of(y: np.ndarray) -> np.ndarray:
    """Return the numbers of the rows that are used."""
    rng = np.random.default_rng(0)
    if len(y) <= MOST_ROWS:
        return np.arange(len(y))
    positives, negatives = (rng.permutation(np.flatnonzero(y == c)) for c in (1, 0))
    positives = positives[:MOST_POSITIVES]
    return np.concatenate([positives, negatives[: MOST_ROWS - len(positives)]])


def measured(name: str, repeats: int) -> list[dict[str, object]]:
    """Return the rows of the table of one data set."""
    data, _, letter = name.partition(" ")
    options = {"positive": letter} if letter else {}
    frame, labels = datasets.load_dataset(data, return_X_y=True, as_frame=True, **options)
    y = np.asarray(labels)
    kept = rows_of(y)
    X, y = pd.get_dummies(frame.iloc[kept]).to_numpy(dtype=np.float64), y[kept]
    found: dict[tuple[str, str], list[list[float]]] = {}
    converged: dict[tuple[str, str], int] = {}
    halves = StratifiedShuffleSplit(n_splits=repeats, test_size=0.5, random_state=0)
    for train, test in halves.split(X, y):
        scaler = StandardScaler().fit(X[train])
        fitted_on, measured_on = scaler.transform(X[train]), scaler.transform(X[test])
        for loss in LEARNED:
            for price_name, price in PRICES.items():
                ranker = PushRanker(getattr(losses, loss)(), price, alpha=ALPHA, tol=1e-3, max_iter=500)
                ranker.fit(fitted_on, y[train])
                scores = ranker.decision_function(measured_on)
                key = (loss, price_name)
                found.setdefault(key, []).append([f(y[test], scores) for f in MEASURES.values()])
                converged[key] = converged.get(key, 0) + int(ranker.converged_)
    table = []
    for (loss, price_name), values in found.items():
        means = np.mean(values, axis=0)
        errors = np.std(values, axis=0, ddof=1) / np.sqrt(len(values))
        row: dict[str, object] = {"data": name, "rows": len(y), "loss": loss, "price": price_name}
        for measure, mean, error in zip(MEASURES, means, errors, strict=True):
            row[measure] = f"{mean:.4f}"
            row[f"{measure}_error"] = f"{error:.4f}"
        row["converged"] = f"{converged[loss, price_name]}/{len(values)}"
        table.append(row)
    return table


def main() -> None:
    """Measure on all sets and write the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--sets", nargs="*", default=SETS)
    arguments = parser.parse_args()
    # a maximum over overlapping classes collapses, which the table shows
    warnings.simplefilter("ignore", ConvergenceWarning)
    table: list[dict[str, object]] = []
    for name in arguments.sets:
        start = time.perf_counter()
        table += measured(name, arguments.repeats)
        print(f"{name}: {time.perf_counter() - start:.0f} s", file=sys.stderr, flush=True)
    target = Path(__file__).with_name("results.csv")
    beside = target.with_suffix(".part")
    with beside.open("w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, list(table[0]), lineterminator="\n")
        writer.writeheader()
        writer.writerows(table)
    beside.replace(target)
    for number, measure in enumerate(MEASURES):
        print(f"{'' if number == 0 else chr(10)}best by {measure}")
        for name in arguments.sets:
            best = max(
                (row for row in table if row["data"] == name), key=lambda row: float(str(row[measure]))
            )
            print(
                f"  {name:<14s} {best['loss']:<15s} {best['price']:<8s} "
                f"{best[measure]} +- {best[f'{measure}_error']}"
            )


if __name__ == "__main__":
    main()
