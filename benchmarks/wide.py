"""How long do fits on more columns than rows take, beside scikit-learn's linear classifiers?

    python benchmarks/wide.py > benchmarks/wide.txt

Times are the processor's, BLAS with one thread, and ratios those of medians. The certified rankers go to a
gap of 1e-4, with LinearSVC's C. PNormPush goes to a gradient of 1e-4 in units of the columns' standard
deviations, and LogisticRegression to 1e-4 without units: the columns of fingerprints deviate by .02 to .2, so
LogisticRegression(tol=1e-6), which is shown too, is as exact. Fingerprints are random, like those of
molecules: binary, some 50 of 2,048 columns a row, which families share in part.
"""

from __future__ import annotations

import argparse
import platform
import statistics
import time
import warnings

import numpy as np
import scipy.sparse as sp
import sklearn
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LogisticRegression
from sklearn.svm import LinearSVC
from threadpoolctl import threadpool_limits

from pushrank import InfinitePush, PNormPush, RankSVM

N_FAMILIES, SHARED, OWN = 60, 18, 35


def dense(n_rows: int, n_columns: int, rng: np.random.Generator) -> np.ndarray:
    """Return normal features."""
    return rng.normal(size=(n_rows, n_columns))


def fingerprints(n_rows: int, n_columns: int, rng: np.random.Generator) -> sp.csr_array:
    """Return binary CSR rows: some columns of their family's, and some of their own."""
    frequency = rng.permutation(np.arange(1.0, n_columns + 1.0) ** -0.8)
    frequency /= frequency.sum()
    families = [rng.choice(n_columns, 25, replace=False, p=frequency) for _ in range(N_FAMILIES)]
    X = sp.lil_array((n_rows, n_columns))
    for i in range(n_rows):
        X[i, rng.choice(families[rng.integers(N_FAMILIES)], SHARED, replace=False)] = 1.0
        X[i, rng.choice(n_columns, OWN, replace=False, p=frequency)] = 1.0
    return X.tocsr()


def labels(scores: np.ndarray, rate: float, rng: np.random.Generator) -> np.ndarray:
    """Return classes that a linear score tells apart but for noise."""
    noisy = scores / scores.std() + 0.5 * rng.normal(size=len(scores))
    return (noisy > np.quantile(noisy, 1.0 - rate)).astype(int)


def compare(name: str, X: np.ndarray | sp.csr_array, y: np.ndarray, repeats: int) -> None:
    """Print the comparisons on one data set."""
    print(f"\n{name}: {X.shape[0]:,} x {X.shape[1]:,}, {y.mean():.0%} positive", flush=True)
    logistic, svm = LogisticRegression(tol=1e-4, max_iter=1000), LinearSVC()
    exact = LogisticRegression(tol=1e-6, max_iter=1000)
    fits = {"LogisticRegression": (logistic, logistic), "LogisticRegression(tol=1e-6)": (exact, logistic)}
    fits["LinearSVC"] = svm, svm
    for alpha in (0.1, 0.001):
        for p in (4, 16):
            for solver in ("lbfgs", "newton-cg") if alpha == 0.1 else ("lbfgs",):
                ranker = PNormPush(p, alpha=alpha, solver=solver)
                fits[f"PNormPush({p}, alpha={alpha}), {solver}"] = ranker, logistic
    fits["RankSVM()"] = RankSVM(), svm
    fits["InfinitePush(loss='squared_hinge')"] = InfinitePush(loss="squared_hinge"), svm
    fits["InfinitePush()"] = InfinitePush(), svm
    times: dict[str, list[float]] = {key: [] for key in fits}
    medians = {}
    for key, (estimator, baseline) in fits.items():
        estimator.fit(X, y)  # compiles
        for _ in range(repeats):
            start = time.process_time()
            estimator.fit(X, y)
            times[key].append(time.process_time() - start)
        medians[id(estimator)] = statistics.median(times[key])
        ratio = medians[id(estimator)] / medians[id(baseline)]
        n_iter = int(np.max(estimator.n_iter_))
        converged = getattr(estimator, "converged_", n_iter < estimator.max_iter)
        print(
            f"  {key:<40} {medians[id(estimator)]:7.3f} s   ratio {ratio:6.2f}   {n_iter:5d} iterations   "
            f"converged {converged}",
            flush=True,
        )


def main() -> None:
    """Run all comparisons."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--repeats", type=int, default=3)
    arguments = parser.parse_args()
    warnings.simplefilter("ignore", ConvergenceWarning)  # the last column says so
    print(
        f"Python {platform.python_version()}, numpy {np.__version__}, scikit-learn {sklearn.__version__}; "
        f"medians of {arguments.repeats}"
    )
    rng = np.random.default_rng(0)
    for name, make, shape, rate in (
        ("dense", dense, (300, 5000), 0.3),
        ("dense", dense, (1000, 20_000), 0.3),
        ("fingerprints", fingerprints, (4000, 2048), 0.05),
    ):
        X = make(*shape, rng)
        with threadpool_limits(1):
            compare(name, X, labels(X @ rng.normal(size=shape[1]), rate, rng), arguments.repeats)


if __name__ == "__main__":
    main()
