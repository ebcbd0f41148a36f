"""How long do PatMat, TopPushK and partial AUC take on a million rows, beside logistic regression?

    python benchmarks/heirs.py > benchmarks/heirs.txt

Fits in turn, to a gap of 1e-4, on the same 50 columns, 13 % of the rows positive; the ratio is that of the
medians of processor time, of all threads. Logistic regression stops at its default tolerance. C weighs the
mean loss. The structural support vector machines are fitted once.
"""

from __future__ import annotations

import argparse
import platform
import statistics
import time
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import sklearn
from fit import dense
from freed_memory import keep_freed_memory
from sklearn.linear_model import LogisticRegression

from pushrank import PatMat, PushRanker, StructSVM, TopPushK
from pushrank.prices import LargestShare

RANKERS: tuple[Any, ...] = (
    PatMat(),
    PatMat(C=100.0),
    PatMat(C=100.0, of="negatives"),
    PatMat(C=100.0, of="negatives", loss="squared_hinge"),
    TopPushK(C=100.0, k=0.5),
    TopPushK(C=100.0, k=0.5, loss="squared_hinge"),
    TopPushK(C=100.0, k=0.1),
    TopPushK(C=100.0, k=0.1, loss="squared_hinge"),
    PushRanker("hinge", LargestShare(0.05), alpha=1e-2),
    PushRanker("hinge", LargestShare(0.5), alpha=1e-2),
    PushRanker("logistic", LargestShare(0.05), alpha=1e-2),
    PushRanker("logistic", LargestShare(0.5), alpha=1e-2),
)
ONCE: tuple[Any, ...] = (
    StructSVM(100.0, measure="partial_auc", max_fpr=0.5),
    StructSVM(100.0, measure="partial_auc", max_fpr=0.5, min_tpr=0.5),
)


def processor_seconds(function: Callable[[], object]) -> float:
    """Return the processor time of one call."""
    start = time.process_time()
    function()
    return time.process_time() - start


def main() -> None:
    """Print a line for each ranker."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--repeats", type=int, default=3)
    arguments = parser.parse_args()
    warnings.simplefilter("ignore")  # of optima at zero, which are printed
    print(f"Python {platform.python_version()}, numpy {np.__version__}, scikit-learn {sklearn.__version__}")
    X, y = dense(arguments.rows, np.float64, np.random.default_rng(0))
    print(f"{arguments.rows:,} x 50, {y.mean():.1%} positive; medians of {arguments.repeats} runs")
    models = (LogisticRegression(), *RANKERS, *ONCE)
    for model in models:
        model.fit(X[:2000], y[:2000])
    times: list[list[float]] = [[] for _ in models]
    for repeat in range(arguments.repeats):
        for model, of in zip(models, times, strict=True):
            if repeat == 0 or model not in ONCE:
                of.append(processor_seconds(lambda m=model: m.fit(X, y)))
    medians = [statistics.median(of) for of in times]
    print(f"{'LogisticRegression()':78s} {medians[0]:6.2f} s")
    for model, median in zip(models[1:], medians[1:], strict=True):
        zero = "" if model.coef_.any() else "   zero coefficients are optimal"
        name = " ".join(repr(model).split())
        print(
            f"{name:78s} {median:6.2f} s  ratio {median / medians[0]:5.2f}  gap {model.dual_gap_:.0e}{zero}"
        )


if __name__ == "__main__":
    keep_freed_memory()
    main()
