"""How much time and memory do boosted stumps take on sparse rows?

    python benchmarks/sparse_stumps.py > benchmarks/sparse_stumps.txt

Columns are drawn with frequencies that fall as those of words do; the values are counts. Memory is the peak
of what a fit of PushBoost allocates, as tracemalloc sees it, in a run of its own; times are the processor's.
"""

from __future__ import annotations

import argparse
import time
import tracemalloc

import numpy as np
import scipy.sparse as sp

from pushrank import PushBoost

PER_ROW = 50


def words(n_rows: int, n_columns: int) -> tuple[sp.csr_matrix, np.ndarray]:
    """Return counts of words, and labels that some of them tell."""
    rng = np.random.default_rng(0)
    frequency = np.arange(1.0, n_columns + 1.0) ** -0.8
    columns = rng.choice(n_columns, n_rows * PER_ROW, p=frequency / frequency.sum())
    starts = np.arange(n_rows + 1) * PER_ROW
    X = sp.csr_matrix((np.ones(len(columns)), columns, starts), shape=(n_rows, n_columns))
    X.sum_duplicates()
    scores = X @ (rng.normal(size=n_columns) * (rng.random(n_columns) < 0.1)) + rng.normal(size=n_rows)
    return X, scores > np.quantile(scores, 0.95)


def main() -> None:
    """Print a line for each size."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=50)
    rounds = parser.parse_args().rounds
    PushBoost(n_estimators=2).fit(*words(200, 30))  # compiles
    for n_rows, n_columns in ((10_000, 5_000), (100_000, 5_000), (10_000, 50_000), (100_000, 50_000)):
        X, y = words(n_rows, n_columns)
        times = []
        for n_estimators in (1, rounds + 1):
            start = time.process_time()
            PushBoost(16, n_estimators=n_estimators, n_jobs=1).fit(X, y)
            times.append(time.process_time() - start)
        tracemalloc.start()
        PushBoost(16, n_estimators=2, n_jobs=1).fit(X, y)
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        print(
            f"{n_rows:>8,} x {n_columns:>6,}, {X.nnz:>9,} stored: {times[0]:6.2f} s to bin, "
            f"{1000 * (times[1] - times[0]) / rounds:6.1f} ms a round, {peak / 2**20:6.0f} MiB "
            f"(a byte an entry would be {n_rows * n_columns / 2**20:,.0f} MiB)",
            flush=True,
        )


if __name__ == "__main__":
    main()
