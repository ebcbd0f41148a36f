"""How long does a pass over batches of 500 rows take, beside adding up the array and scikit-learn's SGD?

    python benchmarks/streams.py > benchmarks/streams.txt

One thread; 50 features, 5 % positives, float64 and float32, and CSR with 50 of 1,000 entries a row. Every
figure is the ratio of the best of several runs, one method after the other within each round.
"""

from __future__ import annotations

import argparse
import platform
import time
from collections.abc import Callable
from functools import partial

import numpy as np
import scipy.sparse as sp
import sklearn
from sklearn.linear_model import SGDClassifier
from threadpoolctl import threadpool_limits

from pushrank import PerceptronAtK, SGDAtK

SIZE = 500
K = 0.25
FIT_PASSES = 10
RANKERS = {
    "Perceptron@k-avg": partial(PerceptronAtK, variant="avg"),
    "Perceptron@k-max": partial(PerceptronAtK, variant="max"),
    "SGD@k-avg": partial(SGDAtK, surrogate="avg"),
    "SGD@k-max": partial(SGDAtK, surrogate="max"),
    "SGD@k-ramp": partial(SGDAtK, surrogate="ramp"),
    "1PMB": partial(SGDAtK, surrogate="struct", radius=10.0, max_iter=1),
}


def seconds(function: Callable[[], object]) -> float:
    """Return the wall-clock time of one call."""
    start = time.perf_counter()
    function()
    return time.perf_counter() - start


def rows(n: int, kind: str, seed: int = 0) -> tuple[object, np.ndarray]:
    """Return features, and labels of which 5 % are positive and most can be told."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, 50))
    scores = X @ rng.standard_normal(50) + 20.0 * rng.standard_normal(n)
    y = (scores > np.quantile(scores, 0.95)).astype(int)
    if kind != "CSR":
        return X.astype(kind), y
    # the same values in 50 of 1,000 columns, 20 apart, from a random one on
    columns = np.sort((rng.integers(1000, size=(n, 1)) + 20 * np.arange(50)) % 1000, axis=1)
    edges = 50 * np.arange(n + 1, dtype=np.int32)
    return sp.csr_array((X.ravel(), columns.ravel().astype(np.int32), edges), shape=(n, 1000)), y


def with_numpy(X: np.ndarray, y: np.ndarray) -> np.ndarray:
    """Run Perceptron@k-avg as one would write it: a few NumPy calls for each batch."""
    w = np.zeros(X.shape[1])
    total = np.zeros(X.shape[1])
    for start in range(0, len(y), SIZE):
        batch, labels = X[start : start + SIZE], y[start : start + SIZE]
        k = max(round(K * labels.sum()), 1)
        top = np.argpartition(-(batch @ w), k - 1)[:k]
        predicted = np.zeros(len(labels), dtype=bool)
        predicted[top] = True
        false, missed = predicted & (labels == 0), ~predicted & (labels == 1)
        wrong = false.sum()
        if wrong:
            w = w - batch[false].sum(axis=0) + wrong / missed.sum() * batch[missed].sum(axis=0)
        total += w
    return total


def with_sgd(X: object, y: np.ndarray) -> SGDClassifier:
    """Feed scikit-learn's SGDClassifier the same batches."""
    model = SGDClassifier(average=True, random_state=0)
    for start in range(0, len(y), SIZE):
        model.partial_fit(X[start : start + SIZE], y[start : start + SIZE], classes=[0, 1])
    return model


def whole(make: Callable[[], object], X: object, y: np.ndarray) -> object:
    """Feed a ranker all rows in one call."""
    return make().partial_fit(X, y, classes=[0, 1])


def by_batches(X: object, y: np.ndarray) -> PerceptronAtK:
    """Feed a ranker batch by batch, as a stream would."""
    model = PerceptronAtK(variant="avg")
    for start in range(0, len(y), SIZE):
        model.partial_fit(X[start : start + SIZE], y[start : start + SIZE], classes=[0, 1])
    return model


def fit(X: object, y: np.ndarray) -> PerceptronAtK:
    """Fit to data at hand: ten passes, each in an order of its own, and what is measured after them."""
    return PerceptronAtK(variant="avg", max_iter=FIT_PASSES, random_state=0).fit(X, y)


def passes(X: object, y: np.ndarray) -> dict[str, Callable[[], object]]:
    """Return every method as a function to time."""
    runs: dict[str, Callable[[], object]] = {
        name: partial(whole, make, X, y) for name, make in RANKERS.items()
    }
    runs["Perceptron@k-avg, a call a batch"] = partial(by_batches, X, y)
    if isinstance(X, np.ndarray):
        runs["NumPy by batch"] = partial(with_numpy, X, y)
    runs["SGDClassifier, a call a batch"] = partial(with_sgd, X, y)
    runs["a pass of PerceptronAtK.fit"] = partial(fit, X, y)
    return runs


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--rounds", type=int, default=7)
    options = parser.parse_args()
    print(f"python {platform.python_version()}, numpy {np.__version__}, scikit-learn {sklearn.__version__}")
    for kind in ("float64", "float32", "CSR"):
        X, y = rows(options.rows, kind)
        values = X.data if kind == "CSR" else X
        runs = passes(X, y)
        times: dict[str, list[float]] = {name: [] for name in ("sum", *runs)}
        with threadpool_limits(limits=1):
            for name in RANKERS:
                runs[name]()  # compiles
            for number in range(options.rounds):
                times["sum"].append(seconds(values.sum))
                for name, run in runs.items():
                    if number < 2 or ("call" not in name and "fit" not in name):
                        times[name].append(seconds(run))
        best = {name: min(found) for name, found in times.items()}
        best["a pass of PerceptronAtK.fit"] /= FIT_PASSES
        report(f"{kind}: {options.rows:,} rows, {values.nbytes / 2**20:.0f} MiB", best)


def report(title: str, best: dict[str, float]) -> None:
    """Print the times of one kind of data and their ratios."""
    one_sum = best.pop("sum")
    print(f"\n{title}, numpy.sum {one_sum:.4f} s")
    for name, taken in best.items():
        line = f"  {name:34s}{taken:9.4f} s {taken / one_sum:8.2f} sums"
        if "NumPy by batch" in best:
            line += f" {taken / best['NumPy by batch']:8.2f} of NumPy"
        print(f"{line} {taken / best['SGDClassifier, a call a batch']:8.3f} of SGDClassifier", flush=True)


if __name__ == "__main__":
    main()
