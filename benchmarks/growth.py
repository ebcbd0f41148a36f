"""How do time and memory of every ranker and measure grow with rows and columns?

    export OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 NUMBA_NUM_THREADS=1
    python benchmarks/growth.py > benchmarks/growth.txt
    python benchmarks/growth.py --memory > benchmarks/growth_memory.txt

Processor time on one thread, least of two after a run that compiles. Rows grow fourfold, columns fourfold;
a slope is that of log time over log size between the two largest sizes that were run: 1 is linear work.
A method stops growing once a run has taken ``--most`` seconds. The number of iterations of a fit may grow
with the rows, so its slope is also given per iteration where the ranker counts them. Memory is the largest
that numpy and Python held beside the data, in parts of the data, at the largest size. ``--memory`` prints it
for linear fits alone, to 50 columns in double and single precision, dense and of a quarter of the entries.
"""

from __future__ import annotations

import argparse
import math
import time
import tracemalloc
import warnings
from collections.abc import Callable

import numpy as np
import scipy.sparse as sp
from sklearn.linear_model import LogisticRegression

import pushrank
from pushrank import metrics
from pushrank.estimators import __all__ as rankers
from pushrank.model_selection import compare_rankers

ROWS = (4_000, 16_000, 64_000, 256_000, 1_024_000, 3_000_000)
COLUMNS = (10, 40, 160, 640, 2_000)
# Searches are linear in the fits of their members, and a stack needs members.
LINEAR = (
    "PNormPush", "PushRanker", "IRPush", "InfinitePush", "RankSVM", "TrimmedPush",
    "RampAtK", "StructSVM", "SVMMAP", "PerceptronAtK", "SGDAtK",
)  # fmt: skip
LEFT_OUT = {"PNormPushCV", "PushBoostCV", "StackingRanker"}
SETTINGS: dict[str, dict[str, object]] = {
    "PushBoost": {"n_estimators": 20},
    "RankBoost": {"n_estimators": 20},
    "AdaBoostRanker": {"n_estimators": 20},
    "SmoothMarginRanking": {"n_estimators": 20, "not_separable": "warn"},
    "PerceptronAtK": {"max_iter": 5, "random_state": 0},
    "SGDAtK": {"max_iter": 5, "random_state": 0},
    "RampAtK": {"random_state": 0},
}
MEASURES: dict[str, dict[str, object]] = {
    "auc": {},
    "average_precision": {},
    "bedroc": {},
    "discounted_cumulative_gain": {},
    "enrichment_factor": {"fraction": 0.01},
    "ndcg_at_k": {"k": 10},
    "partial_auc": {"max_fpr": 0.05},
    "positives_at_top": {},
    "precision_at_k": {"k": 100},
    "rg_error": {},
    "rp_error": {},
}


def rows(n: int, d: int) -> tuple[np.ndarray, np.ndarray]:
    """Return normal features and labels of a tenth of positives that they tell in part."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((n, d))
    scores = X[:, :10].sum(axis=1) + 3.0 * rng.standard_normal(n)
    return X, (scores > np.quantile(scores, 0.9)).astype(int)


def cost(run: Callable[[], object]) -> tuple[float, object]:
    """Return the least processor time of two runs, and what the last one returned."""
    least, result = math.inf, None
    for _ in range(2):
        start = time.process_time()
        result = run()
        least = min(least, time.process_time() - start)
    return least, result


def peak(run: Callable[[], object]) -> int:
    """Return the largest number of bytes that a run holds beside what was there."""
    tracemalloc.start()
    run()
    largest = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    return largest


def grow(
    name: str, prepare: Callable[[int], tuple[Callable[[], object], int]], sizes: tuple[int, ...], most: float
) -> None:
    """Print the times of growing sizes, the last slope, and the memory at the last size."""
    seconds, iterations = [], []
    prepare(sizes[0])[0]()
    for size in sizes:
        run, n_bytes = prepare(size)
        taken, result = cost(run)
        seconds.append(taken)
        iterations.append(getattr(result, "n_iter_", None))
        if taken > most:
            break
    last = len(seconds) - 1
    if last == 0:
        print(f"  {name:22s} {sizes[0]:>9,} {seconds[0]:8.3f} s   no second size", flush=True)
        return
    step = math.log(sizes[last] / sizes[last - 1])
    slope = math.log(seconds[last] / seconds[last - 1]) / step
    counts = [iterations[last - 1], iterations[last]]
    counted = all(np.ndim(count) == 0 and count for count in counts)
    each = f"{slope - math.log(counts[1] / counts[0]) / step:6.2f}" if counted else "     –"
    print(
        f"  {name:22s} {sizes[last]:>9,} {seconds[last]:8.3f} s  slope {slope:5.2f}  an iteration {each}  "
        f"memory {peak(run) / n_bytes:5.2f} of the data",
        flush=True,
    )


def fits(name: str, d: int | None, n: int | None) -> Callable[[int], tuple[Callable[[], object], int]]:
    """Return what prepares a fit of a ranker to more rows of d columns, or to n rows of more columns."""

    def prepare(size: int) -> tuple[Callable[[], object], int]:
        X, y = rows(n or size, d or size)
        kind = LogisticRegression if name == "LogisticRegression" else getattr(pushrank, name)
        ranker = kind(**SETTINGS.get(name, {}))
        return lambda: ranker.fit(X, y), X.nbytes

    return prepare


def measured(
    run: Callable[[np.ndarray, np.ndarray], object],
) -> Callable[[int], tuple[Callable[[], object], int]]:
    """Return what prepares a measure of the scores of more rows."""

    def prepare(size: int) -> tuple[Callable[[], object], int]:
        X, y = rows(size, 10)
        scores = X.sum(axis=1)
        return lambda: run(y, scores), scores.nbytes

    return prepare


def compared(size: int) -> tuple[Callable[[], object], int]:
    """Return a comparison of two models on so many rows of ten columns."""
    X, y = rows(size, 10)
    models = {"logistic": LogisticRegression(), "push": pushrank.PNormPush()}
    return lambda: compare_rankers(models, X, y, cv=3), X.nbytes


def print_memory(name: str, n: int) -> None:
    """Print what a linear fit holds beside the data, in parts of it and in doubles a row, by its entries."""
    X, y = rows(n, 50)
    sparse = sp.csr_array(np.where(np.abs(X) > 1.15, X, 0.0))
    cells = []
    for data in (X, X.astype(np.float32), sparse, sparse.astype(np.float32)):
        ranker = getattr(pushrank, name)(**SETTINGS.get(name, {}))
        ranker.fit(data[:4_000], y[:4_000])
        n_bytes = data.nbytes if isinstance(data, np.ndarray) else data.data.nbytes + data.indices.nbytes
        held = peak(lambda X=data, ranker=ranker: ranker.fit(X, y))
        cells.append(f"{held / n_bytes:7.2f} {held / n / 8:6.1f}")
    print(f"  {name:14s} {n:>9,} " + "  ".join(cells), flush=True)


def main() -> None:
    """Print the tables."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--most", type=float, default=4.0, help="seconds after which a method grows no more")
    parser.add_argument("--memory", action="store_true", help="print the memory of linear fits alone")
    options = parser.parse_args()
    # Half of the rankers stop at their limits on data as hard as this, which is no concern here.
    warnings.simplefilter("ignore")
    if options.memory:
        print("Memory of fits beside the data of 50 columns: in parts of it, and in doubles a row")
        print(
            f"{'':28}" + "  ".join(f"{kind:>14}" for kind in ("double", "single", "CSR double", "CSR single"))
        )
        for name in LINEAR:
            print_memory(name, 300_000)
        print_memory("TopRankerCV", 16_000)
        return
    names = ["LogisticRegression", *(name for name in rankers if name not in LEFT_OUT)]
    print("Fits, rows of 20 columns")
    for name in names:
        grow(name, fits(name, 20, None), ROWS, options.most)
    print("\nFits, 4,000 rows, more columns")
    for name in names:
        grow(name, fits(name, None, 4_000), COLUMNS, options.most)
    print("\nMeasures, rows")
    for name, parameters in MEASURES.items():
        function = getattr(metrics, name)
        grow(name, measured(lambda y, s, f=function, p=parameters: f(y, s, **p)), ROWS, options.most)
    grow(
        "measure, intervals",
        measured(lambda y, s: metrics.measure(y, {"model": s}, k=100)),
        ROWS,
        options.most,
    )
    print("\nComparisons, two models in three folds")
    grow("compare_rankers", compared, ROWS, options.most)


if __name__ == "__main__":
    main()
