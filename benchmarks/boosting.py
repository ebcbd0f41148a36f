"""How long do boosted stumps take on a million rows, beside LightGBM's?

    pip install -e ".[benchmark]"
    python benchmarks/boosting.py > benchmarks/boosting.txt

100 rounds of stumps on 255 bins with the same number of threads, fitted in turn on the same data, from
the raw array to the fitted model, binning included. The ratio is that of the medians. The first fit of
each model, which loads compiled code, is not counted. Quality at the top is measured by
``at_the_top.py``.
"""

from __future__ import annotations

import argparse
import os
import platform
import statistics
import time
from collections.abc import Callable

import numpy as np
import sklearn

from pushrank import PushBoost, RankBoost

ROUNDS = 100


def generated(n_rows: int, dtype: type) -> tuple[np.ndarray, np.ndarray]:
    """Return 50 normal features and labels of 16 % positives."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((n_rows, 50)).astype(dtype)
    scores = X @ rng.standard_normal(50) / 7 + 0.5 * rng.standard_normal(n_rows) + (X[:, 0] > 1)
    return X, (scores > 1.2).astype(int)


def lightgbm_stumps(n_threads: int) -> object:
    """Return LightGBM's binary classifier with one split a tree."""
    from lightgbm import LGBMClassifier

    return LGBMClassifier(num_leaves=2, max_bin=255, n_estimators=ROUNDS, n_jobs=n_threads, verbose=-1)


def seconds(function: Callable[[], object]) -> float:
    """Return the wall-clock time of one call."""
    start = time.perf_counter()
    function()
    return time.perf_counter() - start


def speed(n_rows: int, repeats: int, n_threads: int) -> None:
    """Print the times and their ratios."""
    for dtype in (np.float64, np.float32):
        X, y = generated(n_rows, dtype)
        print(
            f"\n{n_rows:,} x 50 {dtype.__name__}, {y.mean():.1%} positive, {ROUNDS} rounds, "
            f"{n_threads} threads"
        )
        boosters = {
            "PushBoost(p=16)": PushBoost(16, n_estimators=ROUNDS, n_jobs=n_threads),
            "RankBoost": RankBoost(n_estimators=ROUNDS, n_jobs=n_threads),
            "RankBoost(freund)": RankBoost("freund", n_estimators=ROUNDS, n_jobs=n_threads),
        }
        models = {"LightGBM": lightgbm_stumps(n_threads), **boosters}
        times: dict[str, list[float]] = {name: [] for name in models}
        for run in range(repeats + 1):
            for name, model in models.items():
                taken = seconds(lambda model=model, X=X, y=y: model.fit(X, y))
                if run:
                    times[name].append(taken)
        reference = statistics.median(times["LightGBM"])
        for name, taken in times.items():
            median = statistics.median(taken)
            print(
                f"  {name:18s} {median:7.3f} s   ratio {median / reference:.2f}   from {min(taken):.3f} "
                f"to {max(taken):.3f}"
            )


def main() -> None:
    """Run the comparison."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--threads", type=int, default=os.cpu_count())
    options = parser.parse_args()
    import lightgbm

    print(
        f"Python {platform.python_version()}, numpy {np.__version__}, scikit-learn {sklearn.__version__}, "
        f"LightGBM {lightgbm.__version__}; medians of {options.repeats}"
    )
    speed(options.rows, options.repeats, options.threads)


if __name__ == "__main__":
    main()
