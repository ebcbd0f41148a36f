"""What else was tried as the final of a stack: raw columns beside those of the members, and a cascade.

    PUSHRANK_DATA=... python -m experiments.ensemble.tried --cache /a/folder > experiments/ensemble/tried.txt

On the columns that ``columns.py`` keeps, of the first splits of the sets at random.
"""

from __future__ import annotations

import argparse
import warnings
from pathlib import Path

import numpy as np
import pandas as pd
from sklearn.impute import SimpleImputer
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from threadpoolctl import threadpool_limits

from experiments.ensemble.__main__ import against_over_sets
from experiments.ensemble.columns import BY_TIME, MOLECULES, SETS, Size, encoded, loaded, parts, path_of
from experiments.ensemble.finals import MEASURES, log_odds, stack
from experiments.protocol import versions
from pushrank import PNormPush

ALONE, SIGNED = "p = 4, weights of at least 0", "p = 4, of any sign"
RAW, CASCADE = "p = 4, of any sign, raw columns too", "cascade of p = 1 and p = 16"


def cascade(X: np.ndarray, y: np.ndarray, new: np.ndarray) -> np.ndarray:
    """Return scores by p = 1, and above them those of p = 16 for the quarter on top."""
    first = PNormPush(1.0, alpha=1e-2).fit(X, y)
    of_training, of_new = first.decision_function(X), first.decision_function(new)
    last = np.sort(of_training)[-round(0.25 * len(y))]
    cut = (last + of_training[of_training < last].max()) / 2.0
    top, passed = of_training > cut, of_new > cut
    if not y[top].all() and passed.any():
        second = PNormPush(16.0, alpha=1e-2).fit(X[top], y[top]).decision_function(new[passed])
        of_new[passed] = second - second.min() + of_new.max()
    return of_new


def scores(path: Path, name: str, split: int, cached: Path) -> tuple[np.ndarray, dict[str, np.ndarray]]:
    """Return the labels of the test rows, and their scores by every final."""
    of = stack(path)
    known, new = log_odds(of)
    train, test = parts(table := loaded(name, cached), Size(), Size().train, split)
    scaler = make_pipeline(SimpleImputer(strategy="median"), StandardScaler())
    X, X_test = encoded(table.X, train, test)
    X, X_test = scaler.fit_transform(X), scaler.transform(X_test)
    found = {
        ALONE: PNormPush(4.0, alpha=1e-2, positive=True).fit(known, of.y).decision_function(new),
        SIGNED: PNormPush(4.0, alpha=1e-2).fit(known, of.y).decision_function(new),
        RAW: PNormPush(4.0, alpha=1e-2)
        .fit(np.hstack([known, X]), of.y)
        .decision_function(np.hstack([new, X_test])),
        CASCADE: cascade(known, of.y, new),
    }
    return of.y_test, found


def main() -> None:
    """Compare the finals."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--cache", type=Path, required=True, help="the folder that columns.py wrote")
    parser.add_argument("--splits", type=int, default=5)
    arguments = parser.parse_args()
    rows = []
    with warnings.catch_warnings(), threadpool_limits(limits=1):
        warnings.simplefilter("ignore")
        for name in SETS:
            for split in range(arguments.splits if name not in (*BY_TIME, *MOLECULES) else 0):
                path = path_of(arguments.cache, name, split)
                y, found = scores(path, name, split, arguments.cache)
                rows += [
                    {"set": name, "split": split, "final": final, **{m: f(y, s) for m, f in MEASURES.items()}}
                    for final, s in found.items()
                ]
    kept = pd.DataFrame(rows)
    print(f"{versions()}\n{kept['set'].nunique()} sets, {arguments.splits} splits")
    print("mean difference over sets, sets above and below, p-value of the signed-rank test")
    for measure in MEASURES:
        table = kept.pivot_table(index=["set", "split"], columns="final", values=measure)
        for first, second in ((RAW, SIGNED), (CASCADE, SIGNED), (SIGNED, ALONE)):
            shown = against_over_sets(table[first], table[second])
            print(f"{measure:18s} {first:35s} less {second:28s} {shown}")


if __name__ == "__main__":
    main()
