"""InfinitePush and RankSVM to a duality gap of 1e-4, against scikit-learn's LinearSVC at its default.

    python benchmarks/svm.py > benchmarks/svm.txt

Fits in turn on the same data; the ratio is that of the medians. LinearSVC minimises a pointwise loss, and so
does less; it is what users would otherwise run. Its C is the same per example: C / I for a loss with the sum
over the I positives weighted C / I.
"""

from __future__ import annotations

import argparse
import platform
import statistics
import time
import warnings
from collections.abc import Callable

import numpy as np
import scipy.sparse as sp
import sklearn
from sklearn.svm import LinearSVC

from pushrank import InfinitePush, RankSVM

GAP = 1e-4


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


def seconds(function: Callable[[], object]) -> float:
    """Return the wall-clock time of one call."""
    start = time.perf_counter()
    function()
    return time.perf_counter() - start


def compare(title: str, X: np.ndarray | sp.csr_matrix, y: np.ndarray, C: float, repeats: int) -> None:
    """Print times, ratios and gaps on one data set."""
    print(f"\n{title}: {X.shape[0]:,} x {X.shape[1]:,}, C = {C:g}")
    models = {
        "LinearSVC": LinearSVC(C=C / y.sum(), max_iter=10_000),
        "InfinitePush": InfinitePush(C, tol=GAP),
        "InfinitePush, squared": InfinitePush(C, loss="squared_hinge", tol=GAP),
        "RankSVM, squared": RankSVM(C, tol=GAP),
        "RankSVM": RankSVM(C, loss="hinge", tol=GAP),
    }
    times: dict[str, list[float]] = {name: [] for name in models}
    for run in range(repeats + 1):
        for name, model in models.items():
            taken = seconds(lambda model=model: model.fit(X, y))
            if run:
                times[name].append(taken)
    reference = statistics.median(times["LinearSVC"])
    for name, model in models.items():
        median = statistics.median(times[name])
        gap = f"gap {model.dual_gap_:.0e}" if hasattr(model, "dual_gap_") else ""
        print(f"  {name:22s} {median:7.3f} s   ratio {median / reference:6.2f}   {gap}")


def main() -> None:
    """Run the comparison."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--largest", type=int, default=2_000_000)
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    print(
        f"Python {platform.python_version()}, numpy {np.__version__}, scikit-learn {sklearn.__version__}; "
        f"medians of {options.repeats}"
    )
    for n_rows in (20_000, 200_000):
        X, y = dense(n_rows)
        for C in (10.0, 1000.0):
            compare("dense", X, y, C, options.repeats)
    X, y = sparse(20_000, 20_000)
    for C in (10.0, 1000.0):
        compare("sparse", X, y, C, options.repeats)
    print("\ngrowth, C = 1000: microseconds a row")
    for n_rows in (20_000, 200_000, options.largest):
        X, y = dense(n_rows)
        for name, model in (
            ("InfinitePush", InfinitePush(1000.0, tol=GAP)),
            ("RankSVM, squared", RankSVM(1000.0)),
        ):
            taken = min(seconds(lambda model=model, X=X, y=y: model.fit(X, y)) for _ in range(2))
            print(f"  {n_rows:9,} rows  {name:18s} {1e6 * taken / n_rows:6.2f}")


if __name__ == "__main__":
    main()
