"""How much memory and time do measures of a hundred million scores take in one process?

    python benchmarks/many_scores.py > benchmarks/many_scores.txt

Scores are float64 and labels int8, 9 bytes a row, 5 % of them positive. Each call is run once, and once
before on few rows, which compiles. Its peak is the largest anonymous memory of the process that a thread saw,
a hundred times a second, less what the process held before the call, with the scores and labels.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable
from functools import partial

import numba
import numpy as np
from anonymous_memory import peak_memory

from pushrank import metrics

CALLS: dict[str, Callable[..., object]] = {
    "numpy.argsort(scores)": lambda _, scores: np.argsort(scores),
    "measure(y, scores)": metrics.measure,
    "auc(y, scores)": metrics.auc,
    "average_precision(y, scores)": metrics.average_precision,
    "precision_at_k(y, scores, 1000)": partial(metrics.precision_at_k, k=1000),
}


def rows(n_rows: int) -> tuple[np.ndarray, np.ndarray]:
    """Return labels and scores that are higher for the positives."""
    rng = np.random.default_rng(0)
    y = (rng.random(n_rows, dtype=np.float32) < 0.05).astype(np.int8)
    scores = rng.standard_normal(n_rows)
    scores += y
    return y, scores


def main() -> None:
    """Measure on more and more rows."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=float, nargs="+", default=[1e6, 1e7, 1e8])
    arguments = parser.parse_args()
    print(f"numpy {np.__version__}, {numba.config.NUMBA_NUM_THREADS} threads")
    for call in CALLS.values():  # compile
        call(*rows(10_000))
    for n_rows in map(int, arguments.rows):
        y, scores = rows(n_rows)
        sort_seconds = None
        print(f"\n{n_rows:,} rows of 9 bytes: {(y.nbytes + scores.nbytes) / 1e9:.2f} GB")
        for name, call in CALLS.items():
            with peak_memory() as peak:
                start = time.perf_counter()
                call(y, scores)
                seconds = time.perf_counter() - start
            sort_seconds = sort_seconds or seconds
            print(
                f"  {name:32s} {peak[-1] / 1e9:6.2f} GB more, {peak[-1] / n_rows:5.1f} bytes a row, "
                f"{seconds:8.2f} s, {seconds / sort_seconds:6.2f} sorts",
                flush=True,
            )


if __name__ == "__main__":
    main()
