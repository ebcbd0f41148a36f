"""What does a comparison of the linear defaults cost, in fits of scaled logistic regression?

    python benchmarks/compare.py > benchmarks/compare.txt

Times are the processor's, which other work on the machine does not change. Six models in five folds are
thirty fits.
"""

from __future__ import annotations

import time
from collections.abc import Callable

import numpy as np
import pandas as pd
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import Pipeline, make_pipeline

from pushrank.cli.model import make_preprocessor
from pushrank.model_selection import compare_rankers, default_rankers

N_ROWS, N_COLUMNS = 60_000, 60


def main() -> None:
    """Print the ratios: transformers shared by all models, and one for each."""
    rng = np.random.default_rng(0)
    names = [f"x{column}" for column in range(N_COLUMNS)]
    X = pd.DataFrame(rng.normal(size=(N_ROWS, N_COLUMNS)), columns=names)
    scores = X.to_numpy() @ rng.normal(size=N_COLUMNS) / np.sqrt(N_COLUMNS) + rng.logistic(size=N_ROWS) / 2
    y = scores > np.quantile(scores, 0.99)
    rankers = default_rankers(dense=False, n_rows=N_ROWS)
    shared = make_preprocessor(names, [], sparse=False)
    ways = {
        "shared by all models": {name: Pipeline([("c", shared), ("r", m)]) for name, m in rankers.items()},
        "one for each model": {
            name: make_pipeline(make_preprocessor(names, [], sparse=False), model)
            for name, model in rankers.items()
        },
    }
    alone = make_pipeline(make_preprocessor(names, [], sparse=False), LogisticRegression(max_iter=1000))
    compare_rankers(ways["shared by all models"], X[:6000], y[:6000], random_state=0)  # compiles
    base = seconds(lambda: alone.fit(X, y))
    print(f"{N_ROWS:,} x {N_COLUMNS}, {len(rankers)} models in 5 folds; in fits of one pipeline")
    for way, models in ways.items():
        cost = seconds(lambda models=models: compare_rankers(models, X, y, budget=1000, random_state=0))
        print(f"preprocessing {way:22}{cost / base:6.1f}")


def seconds(call: Callable[[], object]) -> float:
    """Return the processor time of a call."""
    start = time.process_time()
    call()
    return time.process_time() - start


if __name__ == "__main__":
    main()
