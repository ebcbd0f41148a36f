"""How long do InfinitePush and RankSVM take to a duality gap of 1e-4, beside LinearSVC and SVC?

    python benchmarks/svm.py > benchmarks/svm.txt

Fits in turn on the same data; the ratio is that of the medians. LinearSVC and SVC run at their default
tolerances and minimise a pointwise loss, and so do less; they are what users would otherwise run. Their C is
the same per example: C / I for a loss with the sum over the I positives weighted C / I. Agarwal's own solver
runs beside ours on a problem that is small enough for it.
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
import scipy.sparse as sp
import sklearn
from freed_memory import keep_freed_memory
from sklearn.svm import SVC, LinearSVC

from pushrank import InfinitePush, RankSVM

GAP = 1e-4
STEPS = 1000


def dense(n_rows: int) -> tuple[np.ndarray, np.ndarray]:
    """Return 50 normal features and labels of 25 % positives, most pairs of which can be ranked."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((n_rows, 50))
    scores = X @ rng.standard_normal(50) / np.sqrt(50) + 0.3 * rng.standard_normal(n_rows)
    return X, (scores > np.quantile(scores, 0.75)).astype(int)


def sparse(n_rows: int, n_features: int) -> tuple[sp.csr_matrix, np.ndarray]:
    """Return a CSR matrix of 40 stored entries a row and labels of 25 % positives."""
    rng = np.random.default_rng(0)
    X = sp.csr_matrix(sp.random(n_rows, n_features, density=40 / n_features, format="csr", random_state=0))
    scores = X @ rng.standard_normal(n_features)
    scores += 0.3 * scores.std() * rng.standard_normal(n_rows)
    return X, (scores > np.quantile(scores, 0.75)).astype(int)


def word_counts(n_rows: int, n_features: int) -> tuple[sp.csr_matrix, np.ndarray]:
    """Return counts of words of very different frequencies in texts of 20 to 300, and 20 % positives."""
    rng = np.random.default_rng(0)
    often = 1.0 / np.arange(1, n_features + 1) ** 0.9
    lengths = rng.integers(20, 300, n_rows)
    words = rng.choice(n_features, lengths.sum(), p=often / often.sum())
    texts = np.repeat(np.arange(n_rows), lengths)
    X = sp.csr_matrix((np.ones(len(words)), (texts, words)), shape=(n_rows, n_features))
    scores = X @ rng.standard_normal(n_features)
    scores += 0.3 * scores.std() * rng.standard_normal(n_rows)
    return X, (scores > np.quantile(scores, 0.8)).astype(int)


def wide(n_rows: int, n_features: int) -> tuple[np.ndarray, np.ndarray]:
    """Return normal features, and 25 % positives told by all of them."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((n_rows, n_features))
    scores = X @ rng.standard_normal(n_features)
    scores += 0.3 * scores.std() * rng.standard_normal(n_rows)
    return X, (scores > np.quantile(scores, 0.75)).astype(int)


def seconds(function: Callable[[], object]) -> float:
    """Return the wall-clock time of one call."""
    start = time.perf_counter()
    function()
    return time.perf_counter() - start


def compare(
    title: str, X: np.ndarray | sp.csr_matrix, y: np.ndarray, models: dict[str, Any], repeats: int
) -> None:
    """Print times, their ratios to the first model's, and gaps on one data set."""
    print(f"\n{title}: {X.shape[0]:,} x {X.shape[1]:,}")
    times: dict[str, list[float]] = {name: [] for name in models}
    for run in range(repeats + 1):
        for name, model in models.items():
            taken = seconds(lambda model=model: model.fit(X, y))
            if run:
                times[name].append(taken)
    medians = {name: statistics.median(of_model) for name, of_model in times.items()}
    reference = next(iter(medians.values()))
    for name, model in models.items():
        gap = f"gap {model.dual_gap_:.0e}" if hasattr(model, "dual_gap_") else ""
        print(
            f"  {name:30s} {medians[name]:7.3f} s   ratio {medians[name] / reference:7.2f}   {gap}",
            flush=True,
        )


def linear(C: float, y: np.ndarray) -> dict[str, Any]:
    """Return the linear models at one C."""
    return {
        "LinearSVC": LinearSVC(C=C / y.sum(), max_iter=10_000),
        "InfinitePush": InfinitePush(C, tol=GAP),
        "InfinitePush, squared": InfinitePush(C, loss="squared_hinge", tol=GAP),
        "RankSVM, squared": RankSVM(C, tol=GAP),
        "RankSVM": RankSVM(C, loss="hinge", tol=GAP),
    }


def kernels(y: np.ndarray) -> dict[str, Any]:
    """Return the models with a Gaussian kernel, at the weight that SVC(C=1) gives an example."""
    C = float(y.sum())
    return {
        "SVC": SVC(C=1.0),
        "InfinitePush": InfinitePush(C, kernel="rbf", tol=GAP),
        "InfinitePush, squared": InfinitePush(C, kernel="rbf", loss="squared_hinge", tol=GAP),
        "RankSVM, squared": RankSVM(C, kernel="rbf", tol=GAP),
        "RankSVM": RankSVM(C, kernel="rbf", loss="hinge", tol=GAP),
    }


def of_the_paper(C: float, iterations: int) -> dict[str, Any]:
    """Return the default solvers and Agarwal's, by the step length of its grid with the smallest gaps."""
    printed: Any = {"solver": "gradient-projection", "eta0": 1e-4, "max_iter": iterations}
    return {
        "InfinitePush": InfinitePush(C, tol=GAP),
        "InfinitePush, Agarwal": InfinitePush(C, **printed),
        "RankSVM": RankSVM(C, loss="hinge", tol=GAP),
        "RankSVM, Agarwal": RankSVM(C, loss="hinge", **printed),
    }


def growth(sizes: tuple[int, ...]) -> None:
    """Print the time per row on ever more rows."""
    print("\ngrowth, C = 1000: microseconds a row, the best of seven")
    for n_rows in sizes:
        X, y = dense(n_rows)
        for name, model in (
            ("InfinitePush", InfinitePush(1000.0, tol=GAP)),
            ("RankSVM, squared", RankSVM(1000.0, tol=GAP)),
        ):
            taken = min(seconds(lambda model=model, X=X, y=y: model.fit(X, y)) for _ in range(7))
            print(f"  {n_rows:9,} rows  {name:18s} {1e6 * taken / n_rows:6.2f}", flush=True)


def main() -> None:
    """Run the comparison."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--largest", type=int, default=2_000_000)
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    keep_freed_memory()
    print(
        f"Python {platform.python_version()}, numpy {np.__version__}, scikit-learn {sklearn.__version__}; "
        f"medians of {options.repeats}"
    )
    for kind, X, y in (
        ("dense", *dense(20_000)),
        ("dense", *dense(200_000)),
        ("sparse", *sparse(20_000, 20_000)),
        ("word counts", *word_counts(8_000, 5_000)),
        ("wide", *wide(4_000, 1_100)),
    ):
        for C in (10.0, 1000.0):
            compare(f"{kind}, C = {C:g}", X, y, linear(C, y), options.repeats)
    X, y = dense(5_000)
    compare("Gaussian kernel, SVC(C=1)", X, y, kernels(y), options.repeats)
    X, y = dense(400)
    compare(f"the paper's solver, {STEPS} steps, C = 10", X, y, of_the_paper(10.0, STEPS), 1)
    growth((20_000, 200_000, options.largest))


if __name__ == "__main__":
    main()
