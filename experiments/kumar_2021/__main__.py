"""Partial area under the precision-recall curve at recalls of .95 to 1, after Kumar et al. (ICML 2021).

    python -m experiments.kumar_2021 --splits 5    # fits what results.csv lacks, then tables
    python -m experiments.kumar_2021 --splits 0    # tables of the kept results

Kumar, Narasimhan and Cotter maximise the area by an implicit constraint (ICO) and compare with cross-entropy
and TFCO on four sets; their splits, columns and letter are not known here. Ours: random stratified splits,
60 % to train on, 20 % to choose by and 20 % to test on, columns standardised and categories one-hot by the
training part, linear scores. Of letter each of the 26 capitals against the others is a task, on one split.
Strengths and penalties are chosen by the partial area of the validation part; that very fit is tested.
"""

from __future__ import annotations

import argparse
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from string import ascii_uppercase
from typing import Any

import numpy as np
import pandas as pd
from sklearn.compose import make_column_selector, make_column_transformer
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import precision_recall_curve
from sklearn.model_selection import train_test_split
from sklearn.preprocessing import OneHotEncoder, StandardScaler
from threadpoolctl import threadpool_limits

from experiments.protocol import keep, versions
from pushrank import PNormPush, PushRanker, datasets
from pushrank.metrics import auc, average_precision
from pushrank.prices import Power

HERE = Path(__file__).parent
RESULTS = HERE / "results.csv"
MIN_RECALL = 0.95
POWERS = (1.0, 2.0, 4.0, 8.0, 16.0)
PENALTIES = (1e-4, 1e-3, 1e-2, 1e-1, 1.0)
CS = tuple(10.0**power for power in range(-6, 4))
LOGISTIC = "logistic regression"
PUBLISHED = {  # cross-entropy, TFCO and ICO, in percent
    "letter": (15.1, 20.5, 23.0), "ijcnn1": (21.2, 26.1, 27.3), "adult": (39.7, 40.2, 40.3),
    "spambase": (71.5, 73.1, 73.5),
}  # fmt: skip


def partial_area(y: np.ndarray, scores: np.ndarray) -> float:
    """Return the mean precision over the recalls from .95 to 1; all rows of a tie enter the list together."""
    precisions, recalls, _ = precision_recall_curve(y, scores)
    # They come with falling recalls, and each precision holds down to the next recall.
    covered = -np.diff(np.clip(recalls, MIN_RECALL, 1.0))
    return float(covered @ precisions[:-1] / (1.0 - MIN_RECALL))


def load(name: str, **options: Any) -> Callable[[], tuple[Any, Any]]:
    """Return a function that loads a set as a data frame."""
    return lambda: datasets.load_dataset(name, return_X_y=True, as_frame=True, **options)


def tasks(n_splits: int) -> Iterator[tuple[str, Callable[[], tuple[Any, Any]], int]]:
    """Return every set, how to load it, and the seed of a split."""
    for seed in range(n_splits):
        yield from ((name, load(name), seed) for name in ("spambase", "adult", "ijcnn1"))
    for seed, letter in enumerate(ascii_uppercase if n_splits else ""):
        yield "letter", load("letter", positive=letter), seed


def candidates() -> dict[str, list[Any]]:
    """Return the rankers to choose from, by the name of their kind."""
    balanced = {"class_weight": "balanced"}
    return {
        LOGISTIC: [LogisticRegression(C=C, max_iter=5000) for C in CS],
        "the same, classes balanced": [LogisticRegression(C=C, max_iter=5000, **balanced) for C in CS],
        "logistic pairs, side='pull'": [
            PushRanker("logistic", Power(p), side="pull", alpha=alpha) for p in POWERS for alpha in PENALTIES
        ],
        **{
            f"P-Norm Push, side={side!r}": [
                PNormPush(p=p, alpha=alpha, side=side) for p in POWERS for alpha in PENALTIES
            ]
            for side in ("pull", "both")
        },
    }


def one_split(X: Any, y: Any, seed: int, kinds: dict[str, list[Any]]) -> list[dict[str, Any]]:
    """Return for each kind of ranker the measures of the one that is best on the validation part."""
    rest, test = train_test_split(np.arange(len(y)), test_size=0.2, stratify=y, random_state=seed)
    train, valid = train_test_split(rest, test_size=0.25, stratify=y[rest], random_state=seed)
    numbers = make_column_selector(dtype_include="number")
    texts = make_column_selector(dtype_exclude="number")
    columns = make_column_transformer(
        (StandardScaler(), numbers), (OneHotEncoder(handle_unknown="ignore", sparse_output=False), texts)
    ).fit(X.iloc[train])
    X_train, X_valid, X_test = (columns.transform(X.iloc[part]) for part in (train, valid, test))
    rows = []
    for kind, rankers in kinds.items():
        fitted = [ranker.fit(X_train, y[train]) for ranker in rankers]
        found = [partial_area(y[valid], ranker.decision_function(X_valid)) for ranker in fitted]
        best = fitted[int(np.argmax(found))]
        scores = best.decision_function(X_test)
        parameters = {key: getattr(best, key) for key in ("C", "p", "price", "alpha") if hasattr(best, key)}
        rows.append(
            {
                "method": kind,
                "validation": max(found),
                "partial area": partial_area(y[test], scores),
                "average precision": average_precision(y[test], scores),
                "AUC": auc(y[test], scores),
                "chosen": " ".join(f"{key}={value}" for key, value in parameters.items()),
            }
        )
    return rows


def tables(rows: pd.DataFrame) -> Iterator[str]:
    """Return the lines of each set: means, standard errors, differences to logistic regression."""
    for name, of_set in rows.groupby("set", sort=False):
        by_split = of_set.pivot_table(index="split", columns="method", values="partial area")
        by_split = by_split[[kind for kind in candidates() if kind in by_split]]
        entropy, tfco, ico = PUBLISHED[str(name)]
        what = "letters, a split each" if name == "letter" else "splits"
        yield (f"{name}, {len(by_split)} {what}; published: cross-entropy {entropy}, TFCO {tfco}, ICO {ico}")
        heads = ("partial area, %", 18), ("less logistic", 16), ("above/below", 12), ("AP", 8), ("AUC", 8)
        yield " " * 32 + "".join(f"{head:>{width}s}" for head, width in heads)
        others = of_set.groupby("method")[["average precision", "AUC"]].mean()
        for method in by_split:
            values, gain = 100 * by_split[method], 100 * (by_split[method] - by_split[LOGISTIC])
            mean = f"{values.mean():.1f} ± {values.sem():.1f}"
            paired = "" if method == LOGISTIC else f"{gain.mean():+.1f} ± {gain.sem():.1f}"
            wins = "" if method == LOGISTIC else f"{(gain > 0).sum()}/{(gain < 0).sum()}"
            ap, area = others.loc[method]
            yield f"{method:32s}{mean:>18s}{paired:>16s}{wins:>12s}{ap:8.3f}{area:8.3f}"
        yield ""


def main() -> None:
    """Fit, keep the figures of every split, and print the tables."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--splits", type=int, default=5)
    kept = pd.read_csv(RESULTS) if RESULTS.exists() else pd.DataFrame(columns=["set", "split", "method"])
    with threadpool_limits(1), warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        for name, loaded, seed in tasks(parser.parse_args().splits):
            done = set(kept[(kept["set"] == name) & (kept["split"] == seed)]["method"])
            lacking = {kind: rankers for kind, rankers in candidates().items() if kind not in done}
            if not lacking:
                continue
            X, y = loaded()
            y = np.asarray(y) == np.max(y)
            rows = [
                {"set": name, "split": seed, **row} for row in one_split(pd.DataFrame(X), y, seed, lacking)
            ]
            kept = pd.concat([kept, pd.DataFrame(rows)])
            keep(HERE, "results", kept)
    print(versions())
    print("\n".join(tables(pd.read_csv(RESULTS))))


if __name__ == "__main__":
    main()
