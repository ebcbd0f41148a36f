"""What does TopRankerCV cost in time and memory, beside LogisticRegressionCV?

    python benchmarks/top_ranker_cv.py > benchmarks/top_ranker_cv.txt

``LogisticRegressionCV(Cs=10, cv=5)``, otherwise by default, fits the same rows in turn. Times are processor
time on one thread of BLAS, the medians of the runs after a first one that compiles; memory is the peak of
what Python and NumPy hold beside the data, from a run of its own. Real sets are skipped where the data folder
is not there.
"""

from __future__ import annotations

import argparse
import platform
import statistics
import time
import tracemalloc
import warnings
from collections.abc import Iterator
from typing import Any

import numpy as np
import sklearn
from sklearn.linear_model import LogisticRegressionCV
from sklearn.preprocessing import scale
from threadpoolctl import threadpool_limits

from pushrank import TopRankerCV, datasets


def made(n_rows: int, n_features: int) -> tuple[np.ndarray, np.ndarray]:
    """Return two overlapping classes, one row in eight positive."""
    rng = np.random.default_rng(0)
    y = rng.random(n_rows) < 0.125
    X = rng.normal(size=(n_rows, n_features))
    return X + 0.25 * np.outer(y, rng.normal(size=n_features)), y


def cases() -> Iterator[tuple[str, np.ndarray, np.ndarray]]:
    """Yield the sets by name."""
    yield "made", *made(100_000, 50)
    for name, options in (("adult_a9a", {}), ("letter", {"positive": "H"}), ("magic", {})):
        try:
            X, y = datasets.load_dataset(name, return_X_y=True, **options)
        except (FileNotFoundError, OSError) as error:
            print(f"{name}: skipped, {error}")
            continue
        kept = np.random.default_rng(0).permutation(len(y))[:20_000]
        X = X[kept].toarray() if hasattr(X, "toarray") else np.asarray(X, dtype=float)[kept]
        yield name, X if name == "adult_a9a" else scale(X), np.asarray(y)[kept]


def seconds(model: Any, X: np.ndarray, y: np.ndarray) -> float:
    """Return the processor time of one fit."""
    start = time.process_time()
    model.fit(X, y)
    return time.process_time() - start


def peak(model: Any, X: np.ndarray, y: np.ndarray) -> float:
    """Return the memory that a fit takes beside the data, in units of theirs."""
    tracemalloc.start()
    before = tracemalloc.get_traced_memory()[0]
    model.fit(X, y)
    most = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    return (most - before) / X.nbytes


def main() -> None:
    """Run the comparison."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--repeats", type=int, default=3)
    repeats = parser.parse_args().repeats
    warnings.simplefilter("ignore")
    print(
        f"Python {platform.python_version()}, numpy {np.__version__}, scikit-learn {sklearn.__version__}; "
        f"processor time, medians of {repeats}"
    )
    models = {
        "LogisticRegressionCV": LogisticRegressionCV(Cs=10, cv=5),
        "TopRankerCV": TopRankerCV(random_state=0),
        "TopRankerCV, 1 % of the rows": TopRankerCV(fraction=0.01, random_state=0),
    }
    with threadpool_limits(limits=1):
        for model in models.values():
            model.fit(*made(500, 5))
        for name, X, y in cases():
            print(f"\n{name}: {X.shape[0]:,} x {X.shape[1]:,}, {y.mean():.1%} positive", flush=True)
            runs = [{title: seconds(model, X, y) for title, model in models.items()} for _ in range(repeats)]
            times = {title: statistics.median(run[title] for run in runs) for title in models}
            for title, model in models.items():
                ratio = times[title] / times["LogisticRegressionCV"]
                print(
                    f"  {title:30s} {times[title]:7.2f} s   ratio {ratio:5.2f}   "
                    f"memory {peak(model, X, y):.2f} of X   {getattr(model, 'candidate_', '')}",
                    flush=True,
                )


if __name__ == "__main__":
    main()
