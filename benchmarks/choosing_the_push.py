"""How much quicker is PNormPushCV than GridSearchCV over the same grid, and do they choose the same?

    python benchmarks/choosing_the_push.py > benchmarks/choosing_the_push.txt

Both search six pushes and four penalties by five folds and fit again on all rows. They take turns; the ratio
is of the medians. Real sets are skipped where the data folder is not there.
"""

from __future__ import annotations

import argparse
import statistics
import time
from collections.abc import Iterator
from typing import Any

import numba
import numpy as np
import scipy.sparse as sp
from sklearn.model_selection import GridSearchCV
from sklearn.preprocessing import scale

from pushrank import PNormPush, PNormPushCV, datasets, metrics

PS = (1.0, 2.0, 4.0, 8.0, 16.0, 64.0)
ALPHAS = (1e-4, 1e-3, 1e-2, 1e-1)


def seconds(search: Any, X: Any, y: np.ndarray) -> float:
    """Return the wall-clock time of one search."""
    start = time.perf_counter()
    search.fit(X, y)
    return time.perf_counter() - start


def made(n_rows: int, n_features: int) -> tuple[Any, np.ndarray]:
    """Return two overlapping classes, one in eight positive."""
    rng = np.random.default_rng(0)
    y = rng.random(n_rows) < 0.125
    X = rng.normal(size=(n_rows, n_features))
    X += 0.25 * np.outer(y, rng.normal(size=n_features))
    return X, y


def cases() -> Iterator[tuple[str, Any, np.ndarray]]:
    """Yield the sets by name."""
    yield "made, 2,000 x 20", *made(2_000, 20)
    yield "made, 20,000 x 50", *made(20_000, 50)
    X, y = made(5_000, 100)
    yield "made sparse, 5,000 x 100, 10 % stored", sp.csr_array(X * (np.abs(X) > 1.645)), y
    for name in ("ionosphere", "spambase", "magic"):
        try:
            X, y = datasets.load_dataset(name, return_X_y=True)
        except (FileNotFoundError, OSError) as error:
            print(f"{name}: skipped, {error}")
            continue
        yield f"{name}, {X.shape[0]:,} x {X.shape[1]}", scale(np.asarray(X, dtype=float)), np.asarray(y)


def main() -> None:
    """Time both searches in turn."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--repeats", type=int, default=3)
    arguments = parser.parse_args()
    print(
        f"{len(PS)} pushes x {len(ALPHAS)} penalties x 5 folds; {numba.config.NUMBA_NUM_THREADS} threads; "
        f"medians of {arguments.repeats}"
    )
    for name, X, y in cases():
        for scoring in ("positives_at_top", "average_precision"):
            path = PNormPushCV(PS, alphas=ALPHAS, scoring=scoring)
            grid = GridSearchCV(
                PNormPush(), {"alpha": ALPHAS, "p": PS}, cv=5, scoring=getattr(metrics.scorers, scoring)
            )
            few = np.random.default_rng(0).permutation(len(y))[:300]
            path.fit(X[few], y[few])  # compile
            times: dict[str, list[float]] = {"path": [], "grid": []}
            for _ in range(arguments.repeats):
                for key, search in (("path", path), ("grid", grid)):
                    times[key].append(seconds(search, X, y))
            median = {key: statistics.median(values) for key, values in times.items()}
            scores = [search.cv_results_["mean_test_score"] for search in (path, grid)]
            same = path.best_params_ == grid.best_params_
            print(
                f"\n{name}, by {scoring}\n"
                f"  PNormPushCV {median['path']:7.2f} s, GridSearchCV {median['grid']:7.2f} s, "
                f"ratio {median['grid'] / median['path']:.1f}\n"
                f"  chosen {path.best_params_}, {'the same' if same else f'against {grid.best_params_}'}; "
                f"largest difference of a mean score {np.max(np.abs(scores[0] - scores[1])):.1e}",
                flush=True,
            )


if __name__ == "__main__":
    main()
