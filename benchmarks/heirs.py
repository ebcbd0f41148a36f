"""How long do PatMat and TopPushK take to a gap of 1e-4 on a million rows, beside logistic regression?

    python benchmarks/heirs.py > benchmarks/heirs.txt

Fits in turn on the same 50 columns, 14 % of the rows positive; the ratio is that of the medians. Logistic
regression stops at its default tolerance. C weighs the mean loss.
"""

from __future__ import annotations

import argparse
import platform
import statistics
import warnings
from typing import Any

import numpy as np
import sklearn
from fit import dense, seconds
from freed_memory import keep_freed_memory
from sklearn.linear_model import LogisticRegression

from pushrank import PatMat, TopPushK

RANKERS: tuple[Any, ...] = (
    PatMat(),
    PatMat(100.0),
    PatMat(100.0, of="negatives"),
    PatMat(100.0, of="negatives", loss="squared_hinge"),
    TopPushK(100.0, k=0.5),
    TopPushK(100.0, k=0.5, loss="squared_hinge"),
    TopPushK(100.0, k=0.1),
    TopPushK(100.0, k=0.1, loss="squared_hinge"),
)


def main() -> None:
    """Print a line for each ranker."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--repeats", type=int, default=5)
    arguments = parser.parse_args()
    warnings.simplefilter("ignore")  # of optima at zero, which are printed
    print(f"Python {platform.python_version()}, numpy {np.__version__}, scikit-learn {sklearn.__version__}")
    X, y = dense(arguments.rows, np.float64, np.random.default_rng(0))
    print(f"{arguments.rows:,} x 50, {y.mean():.1%} positive; medians of {arguments.repeats} runs")
    models = (LogisticRegression(), *RANKERS)
    for model in models:
        model.fit(X[:2000], y[:2000])
    times = [[seconds(lambda m=model: m.fit(X, y)) for model in models] for _ in range(arguments.repeats)]
    medians = [statistics.median(of) for of in zip(*times, strict=True)]
    print(f"{'LogisticRegression()':62s} {medians[0]:6.2f} s")
    for model, median in zip(models[1:], medians[1:], strict=True):
        zero = "" if model.coef_.any() else "   zero coefficients are optimal"
        name = " ".join(repr(model).split())
        print(
            f"{name:62s} {median:6.2f} s  ratio {median / medians[0]:5.2f}  gap {model.dual_gap_:.0e}{zero}"
        )


if __name__ == "__main__":
    keep_freed_memory()
    main()
