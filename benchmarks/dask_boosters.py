"""The objective after each round of XGBoost's trees: on Dask workers, and in one process.

    python benchmarks/dask_boosters.py > benchmarks/dask_boosters.txt

Rows are of interactions of columns, 5 % of them positive. Workers are processes of one thread. Beside the
objective's value stands how much of its fall, from scores of zero, is other than in one process.
"""

from __future__ import annotations

import argparse
import time
from typing import Any

import dask.array as da
import numpy as np

import distributed
from pushrank.distributed.xgboost import DaskPushXGBRanker
from pushrank.interop.xgboost import PushXGBRanker, xgboost
from pushrank.objectives import PushObjective
from pushrank.pairs import BipartiteSample
from pushrank.prices import LogOnePlus, Power

OBJECTIVES: dict[str, tuple[dict[str, Any], PushObjective]] = {
    "p = 1": ({"p": 1}, PushObjective(price=Power(1), scale="log")),
    "p = 4": ({"p": 4}, PushObjective(price=Power(4), scale="log")),
    "p = 16": ({"p": 16}, PushObjective(price=Power(16), scale="log")),
    "IR Push": (
        {"price": "log_one_plus", "side": "pull"},
        PushObjective(price=LogOnePlus(), side="pull", scale="mean"),
    ),
}


def table(n: int) -> tuple[np.ndarray, np.ndarray]:
    """Return features and labels."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n, 20)).astype(np.float32)
    latent = X[:, 0] * X[:, 1] + X[:, 2] - np.abs(X[:, 3]) + rng.normal(size=n)
    return X, (latent > np.quantile(latent, 0.95)).astype(int)


def values(ranker: Any, X: np.ndarray, sample: BipartiteSample, objective: PushObjective) -> np.ndarray:
    """Return the objective of no round, of one, and so on."""
    data, scores = xgboost.DMatrix(X), np.zeros(len(X))
    path = [objective.evaluation(sample, scores).value]
    for start in range(ranker.n_iter_):
        scores = scores + ranker.booster_.predict(
            data, output_margin=True, iteration_range=(start, start + 1)
        )
        path.append(objective.evaluation(sample, scores).value)
    return np.array(path)


def main() -> None:
    """Print the values of each objective."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--rounds", type=int, default=30)
    options = parser.parse_args()
    X, y = table(options.rows)
    sample, chunk = BipartiteSample.from_mask(y == 1), -(-options.rows // (4 * options.workers))
    parameters = {"n_estimators": options.rounds, "max_depth": 6, "random_state": 0, "n_jobs": 1}
    print(f"{options.rows:,} rows of 20 columns, {options.workers} workers, XGBoost {xgboost.__version__}\n")
    cluster = {"n_workers": options.workers, "threads_per_worker": 1, "dashboard_address": ":0"}
    with distributed.LocalCluster(**cluster) as here, distributed.Client(here):
        there = da.from_array(X, chunks=(chunk, -1)), da.from_array(y, chunks=chunk)
        for name, (push, objective) in OBJECTIVES.items():
            fits, paths, taken = (PushXGBRanker, DaskPushXGBRanker), [], []
            for cls, data in zip(fits, ((X, y), there), strict=True):
                start = time.perf_counter()
                ranker = cls(**push, **parameters).fit(*data)
                taken.append(time.perf_counter() - start)
                paths.append(values(ranker, X, sample, objective))
            one, many = paths
            print(f"{name}: {taken[0]:.1f} s in one process of one thread, {taken[1]:.1f} s on the workers")
            print(f"{'round':>6} {'one process':>12} {'workers':>12} {'difference':>11} {'of the fall':>11}")
            for r in sorted({1, 2, 5, 10, 20, options.rounds}):
                error = many[r] - one[r]
                fall = error / (one[0] - one[r])
                print(f"{r:>6} {one[r]:>12.6f} {many[r]:>12.6f} {error / one[r]:>11.1e} {fall:>11.1e}")
            error = np.abs(many - one)[1:]
            print(
                f"at most, over {options.rounds} rounds: {(error / np.abs(one[1:])).max():.1e} of the value, "
                f"{(error / (one[0] - one[1:])).max():.1e} of the fall\n",
                flush=True,
            )


if __name__ == "__main__":
    main()
