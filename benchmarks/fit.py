"""What do fits of PNormPush cost in time and memory, beside LogisticRegression's?

    python benchmarks/fit.py > benchmarks/fit.txt

Both minimise with L-BFGS to a gradient of 1e-4, in turn, on the same data; the ratio is that of the medians.
Memory is the peak of what a fit allocates, as tracemalloc sees it, in a run of its own.
"""

from __future__ import annotations

import argparse
import platform
import statistics
import time
import tracemalloc
from collections.abc import Callable

import numpy as np
import scipy.sparse as sp
import sklearn
from sklearn.linear_model import LogisticRegression

from pushrank import PNormPush

TOL = 1e-4
POWERS = (1, 4, 16, 64)


def labels(scores: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Return labels from a logistic model with about 14 % positives."""
    return (2.0 * scores / scores.std() - 3.0 + rng.logistic(size=len(scores)) > 0).astype(int)


def dense(n_rows: int, dtype: type, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """Return correlated normal features, 50 columns."""
    X = rng.normal(size=(n_rows, 50))
    X += 0.7 * X @ (rng.normal(size=(50, 50)) / np.sqrt(50))
    X = X.astype(dtype, copy=False)
    return X, labels(X @ rng.normal(size=50), rng)


def sparse(n_rows: int, n_columns: int, rng: np.random.Generator) -> tuple[sp.csr_matrix, np.ndarray]:
    """Return a CSR matrix, 0.5 % of its columns stored in a row."""
    X = sp.csr_matrix(sp.random(n_rows, n_columns, density=0.005, format="csr", random_state=0))
    return X, labels(X @ rng.normal(size=n_columns), rng)


def seconds(function: Callable[[], object]) -> float:
    """Return the wall-clock time of one call."""
    start = time.perf_counter()
    function()
    return time.perf_counter() - start


def peak_bytes(function: Callable[[], object]) -> int:
    """Return the most that one call had allocated at a time."""
    tracemalloc.start()
    function()
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    return peak


def compare(name: str, X: np.ndarray | sp.csr_matrix, y: np.ndarray, repeats: int) -> None:
    """Print the comparison on one data set."""
    size = X.data.nbytes + X.indices.nbytes + X.indptr.nbytes if sp.issparse(X) else X.nbytes
    print(f"\n{name}: {X.shape[0]:,} x {X.shape[1]:,}, {y.mean():.1%} positive, {size / 2**20:.0f} MiB")
    baseline = LogisticRegression(tol=TOL, max_iter=1000)
    rankers = {p: PNormPush(p=p, tol=TOL) for p in POWERS}
    PNormPush(max_iter=1, tol=1e9).fit(X, y)  # compile
    times: dict[object, list[float]] = {key: [] for key in ("logistic", *POWERS)}
    for _ in range(repeats):
        times["logistic"].append(seconds(lambda: baseline.fit(X, y)))
        for p, ranker in rankers.items():
            times[p].append(seconds(lambda ranker=ranker: ranker.fit(X, y)))
    reference = statistics.median(times["logistic"])
    print(f"  LogisticRegression  {reference:7.3f} s   {baseline.n_iter_[0]:3d} iterations")
    for p, ranker in rankers.items():
        median = statistics.median(times[p])
        memory = peak_bytes(lambda ranker=ranker: ranker.fit(X, y)) / size
        print(
            f"  PNormPush(p={p:<2d})      {median:7.3f} s   {ranker.n_iter_:3d} iterations   "
            f"ratio {median / reference:.2f}   memory {memory:.2f} of X   converged {ranker.converged_}"
        )


def main() -> None:
    """Run all comparisons."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--scale", type=float, default=1.0, help="fraction of the rows, for a quick look")
    arguments = parser.parse_args()
    print(
        f"Python {platform.python_version()}, numpy {np.__version__}, scikit-learn {sklearn.__version__}; "
        f"medians of {arguments.repeats}"
    )
    rng = np.random.default_rng(0)
    n_dense, n_sparse = int(1_000_000 * arguments.scale), int(200_000 * arguments.scale)
    compare("dense float64", *dense(n_dense, np.float64, rng), arguments.repeats)
    compare("dense float32", *dense(n_dense, np.float32, rng), arguments.repeats)
    compare("sparse CSR", *sparse(n_sparse, 10_000, rng), arguments.repeats)
    compare("sparse CSR", *sparse(10 * n_sparse, 1_000, rng), arguments.repeats)


if __name__ == "__main__":
    main()
