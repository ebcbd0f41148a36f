"""The Infinite Push and its baselines on ionosphere and spambase, as in section 6 of Agarwal (SDM 2011).

python -m experiments.agarwal_2011 > experiments/agarwal_2011/results.txt
"""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.preprocessing import StandardScaler

from experiments.protocol import Method, all_splits, keep, table, versions
from pushrank import SVMMAP, InfinitePush, PNormPush, RankSVM
from pushrank.datasets import load_dataset

FOLDER = Path(__file__).parent
COLUMNS = ("positives at top", "AP", "AUC", "DCG")
REFERENCE = "RankSVM, hinge"
CS = list(np.logspace(-2, 4, 7))
ALPHAS = list(np.logspace(1, -4, 6))


def linear() -> list[Method]:
    """Return the rankers with linear scores."""
    certified: dict[str, Any] = {
        REFERENCE: RankSVM(loss="hinge"),
        "RankSVM, squared hinge": RankSVM(),
        "SVMMAP": SVMMAP(),
        "InfinitePush": InfinitePush(),
        "InfinitePush, squared hinge": InfinitePush(loss="squared_hinge"),
    }
    pushes = {f"PNormPush(p={p})": PNormPush(p, max_iter=5000) for p in (1, 4, 16, 64)}
    return [Method(name, model, "C", CS) for name, model in certified.items()] + [
        Method(name, model, "alpha", ALPHAS) for name, model in pushes.items()
    ]


def radial() -> list[Method]:
    """Return the rankers with a Gaussian kernel of scikit-learn's default width."""
    return [
        Method("RankSVM, rbf", RankSVM(kernel="rbf"), "C", CS),
        Method("InfinitePush, rbf", InfinitePush(kernel="rbf"), "C", CS),
    ]


def main() -> None:
    """Run both data sets."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--splits", type=int, default=10)
    parser.add_argument("--jobs", type=int, default=2)
    options = parser.parse_args()
    print(f"{versions()}\nmeans ± standard errors over {options.splits} splits, 2/3 to train")
    for name, methods in (("ionosphere", linear() + radial()), ("spambase", linear())):
        X, y = load_dataset(name, return_X_y=True)
        rows = all_splits(X, y, methods, StandardScaler(), ["AP"], options.splits, options.jobs)
        keep(FOLDER, name, rows)
        print(f"\n{name}: {X.shape[0]:,} x {X.shape[1]}, {int(y.sum()):,} positives\n")
        print(table(rows, COLUMNS, REFERENCE), flush=True)


if __name__ == "__main__":
    main()
