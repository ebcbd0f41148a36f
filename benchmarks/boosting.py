"""Boosted stumps against LightGBM: time on a million rows, and quality at the top of real lists.

    pip install -e ".[benchmark]"
    python benchmarks/boosting.py > benchmarks/boosting.txt

Time: 100 rounds of stumps on 255 bins with the same number of threads, fits in turn on the same data from the
raw array to the fitted model, binning and all; the ratio is that of the medians. The first fit of each, which
loads compiled code, is not counted.

Quality: means and standard errors over random stratified splits in 70 % and 30 %, the same for all models.
Real data are found through PUSHRANK_DATA, or fetched from OpenML.
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
from sklearn.model_selection import train_test_split

from pushrank import PushBoost, RankBoost, datasets, metrics

ROUNDS = 100
QUERY = 5_000  # LightGBM's lambdarank takes lists of at most 10,000 rows


def generated(n_rows: int, dtype: type) -> tuple[np.ndarray, np.ndarray]:
    """Return 50 normal features and labels of 16 % positives."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((n_rows, 50)).astype(dtype)
    scores = X @ rng.standard_normal(50) / 7 + 0.5 * rng.standard_normal(n_rows) + (X[:, 0] > 1)
    return X, (scores > 1.2).astype(int)


def lightgbm_stumps(n_threads: int, **options: object) -> object:
    """Return LightGBM's binary classifier with one split a tree."""
    from lightgbm import LGBMClassifier

    return LGBMClassifier(
        num_leaves=2, max_bin=255, n_estimators=ROUNDS, n_jobs=n_threads, verbose=-1, **options
    )


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


def models(
    n_threads: int,
) -> dict[str, Callable[[np.ndarray, np.ndarray, int], Callable[[np.ndarray], np.ndarray]]]:
    """Return functions that fit a model and return its scores."""

    def ranker(model: object) -> Callable[[np.ndarray, np.ndarray, int], Callable[[np.ndarray], np.ndarray]]:
        return lambda X, y, _: model.fit(X, y).decision_function  # type: ignore[attr-defined]

    def push(p: float) -> object:
        return PushBoost(p, n_estimators=ROUNDS)

    def binary(X: np.ndarray, y: np.ndarray, _: int) -> Callable[[np.ndarray], np.ndarray]:
        fitted = lightgbm_stumps(n_threads).fit(X, y)  # type: ignore[attr-defined]
        return lambda rows: fitted.predict(rows, raw_score=True)

    def lambdarank(X: np.ndarray, y: np.ndarray, seed: int) -> Callable[[np.ndarray], np.ndarray]:
        from lightgbm import LGBMRanker

        n_lists = -(-len(y) // QUERY)
        order = np.random.default_rng(seed).permutation(len(y))
        sizes = [len(part) for part in np.array_split(order, n_lists)]
        fitted = LGBMRanker(num_leaves=2, max_bin=255, n_estimators=ROUNDS, n_jobs=n_threads, verbose=-1).fit(
            X[order], y[order], group=sizes
        )
        return fitted.predict

    return {
        "RankBoost": ranker(RankBoost(n_estimators=ROUNDS)),
        **{f"PushBoost(p={p})": ranker(push(p)) for p in (4, 16, 64)},
        "LightGBM binary": binary,
        "LightGBM lambdarank": lambdarank,
    }


def quality(splits: int, n_threads: int) -> None:
    """Print measures at the top for every data set and model."""
    for title in ("magic", "spambase", "ijcnn1", "kddcup99_smtp"):
        X, y = datasets.load_dataset(title, return_X_y=True)
        print(f"\n{title}: {X.shape[0]:,} x {X.shape[1]}, {y.mean():.2%} positive, {splits} splits")
        print(f"  {'':20s} {'positives at top':>20s} {'precision at 1 %':>18s} {'average precision':>19s}")
        for name, fit in models(n_threads).items():
            found = []
            for seed in range(splits):
                train, test = train_test_split(
                    np.arange(len(y)), test_size=0.3, stratify=y, random_state=seed
                )
                scores = fit(X[train], y[train], seed)(X[test])
                found.append(
                    (
                        metrics.positives_at_top(y[test], scores),
                        metrics.precision_at_k(y[test], scores, max(1, len(test) // 100)),
                        metrics.average_precision(y[test], scores),
                    )
                )
            mean, error = np.mean(found, axis=0), np.std(found, axis=0, ddof=1) / np.sqrt(splits)
            print(
                f"  {name:20s} {mean[0]:10.1f} ± {error[0]:7.1f} {mean[1]:9.3f} ± {error[1]:.3f} "
                f"{mean[2]:12.4f} ± {error[2]:.4f}"
            )


def main() -> None:
    """Run the comparison."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--splits", type=int, default=10)
    parser.add_argument("--threads", type=int, default=os.cpu_count())
    options = parser.parse_args()
    import lightgbm

    print(
        f"Python {platform.python_version()}, numpy {np.__version__}, scikit-learn {sklearn.__version__}, "
        f"LightGBM {lightgbm.__version__}; medians of {options.repeats}"
    )
    speed(options.rows, options.repeats, options.threads)
    quality(options.splits, options.threads)


if __name__ == "__main__":
    main()
