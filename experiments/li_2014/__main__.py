"""TopPush and its baselines on spambase, as in table 2 of Li, Jin and Zhou (NIPS 2014).

python -m experiments.li_2014 > experiments/li_2014/results.txt
"""

from __future__ import annotations

import argparse
from pathlib import Path

import numpy as np
import pandas as pd
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, MinMaxScaler, StandardScaler

from experiments.protocol import Method, all_splits, keep, table, versions
from pushrank import InfinitePush, PNormPush
from pushrank.datasets import load_dataset

FOLDER = Path(__file__).parent
COLUMNS = ("share at top", "AP")
REFERENCE = "LogisticRegression"
PUBLISHED = """published (table 2; mean ± standard deviation over 30 splits where known)
TopPush                     share at top 0.129 ± 0.077   AP 0.922
InfinitePush                share at top 0.132           AP 0.920
LogisticRegression          share at top 0.071           AP 0.920"""
CS = list(np.logspace(-3, 6, 10))
ALPHAS = list(np.logspace(1, -4, 6))
LOGISTIC = LogisticRegression(solver="newton-cholesky", max_iter=1000)
METHODS = [
    Method(REFERENCE, LOGISTIC, "C", list(np.logspace(-4, 4, 9))),
    Method("TopPush", InfinitePush(loss="squared_hinge"), "C", CS),
    Method("InfinitePush", InfinitePush(), "C", CS),
    Method("PNormPush(p=16)", PNormPush(16, max_iter=5000), "alpha", ALPHAS),
    Method("PNormPush(p=64)", PNormPush(64, max_iter=5000), "alpha", ALPHAS),
]
SCALINGS = {
    "scaled to [-1, 1]": MinMaxScaler((-1.0, 1.0)),
    "log(1 + x), standardised": make_pipeline(FunctionTransformer(np.log1p), StandardScaler()),
}


def main() -> None:
    """Run all scalings."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--splits", type=int, default=30)
    parser.add_argument("--jobs", type=int, default=2)
    options = parser.parse_args()
    X, y = load_dataset("spambase", return_X_y=True)
    print(f"{versions()}\nmeans ± standard errors over {options.splits} splits, 2/3 to train\n\n{PUBLISHED}")
    found = []
    for name, scaler in SCALINGS.items():
        rows = all_splits(X, y, METHODS, scaler, COLUMNS, options.splits, options.jobs)
        rows.insert(0, "features", name)
        found.append(rows)
        keep(FOLDER, "spambase", pd.concat(found))
        for criterion, by_criterion in rows.groupby("chosen by"):
            print(f"\nfeatures {name}, chosen by {criterion}\n")
            print(table(by_criterion, COLUMNS, REFERENCE), flush=True)


if __name__ == "__main__":
    main()
