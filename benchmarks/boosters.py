"""What does the push cost inside LightGBM and XGBoost, with a million rows in one list?

    python -m benchmarks.boosters > benchmarks/boosters.txt

Processor time on one thread: a round is a tenth of the difference of 12 rounds and 2, the best of three.
Memory is the peak of an interpreter, less the data. The libraries' rankers get the same rows as one query.
"""

from __future__ import annotations

import argparse
import resource
import subprocess
import sys
import time
from typing import Any

import numpy as np

THREADS = {"num_threads": 1, "verbosity": -1, "seed": 0, "deterministic": True, "force_col_wise": True}
PUSHES = {"p = 4": "exponential", "p = 4, logistic loss": "logistic", "IR Push": "exponential"}
MODELS = (
    "LightGBM, binary",
    *(f"LightGBM, {name}" for name in PUSHES),
    "LightGBM, lambdarank",
    "XGBoost, binary:logistic",
    *(f"XGBoost, {name}" for name in PUSHES),
    "XGBoost, rank:ndcg",
    "XGBoost, rank:pairwise",
)
LEAVES, REPEATS = 31, 3


def rows(n_rows: int, n_columns: int) -> tuple[Any, Any]:
    """Return standard normal columns, of which a few make the 2 % of positives."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((n_rows, n_columns), dtype=np.float32)
    signal = X[:, :5].sum(axis=1) + X[:, 0] * X[:, 1] + 2.0 * rng.standard_normal(n_rows)
    return X, (signal > np.quantile(signal, 0.98)).astype(np.float32)


def objective(name: str) -> Any:
    """Return a push."""
    from pushrank import PushObjective
    from pushrank.prices import LogOnePlus, Power

    if name == "IR Push":
        return PushObjective(price=LogOnePlus(), side="pull", scale="mean")
    return PushObjective(PUSHES[name], Power(4.0), scale="log", accuracy=1e-6)


def lightgbm_trainer(kind: str, X: Any, y: Any) -> Any:
    """Return a function that trains so many rounds."""
    import lightgbm

    from pushrank.interop.lightgbm import LGBMObjective

    group = [len(y)] if kind == "lambdarank" else None
    data = lightgbm.Dataset(X, y, group=group, params=THREADS).construct()
    named = LGBMObjective(objective(kind)) if kind in PUSHES else kind
    params = THREADS | {"objective": named, "num_leaves": LEAVES}
    return lambda n_rounds: lightgbm.train(params, data, n_rounds)


def xgboost_trainer(kind: str, X: Any, y: Any) -> Any:
    """Return a function that trains so many rounds."""
    import xgboost

    from pushrank.interop.xgboost import XGBObjective

    options = {"qid": np.zeros(len(y))} if kind.startswith("rank") else {}
    data = xgboost.QuantileDMatrix(X, y, nthread=1, **options)
    params = {"nthread": 1, "max_leaves": LEAVES, "max_depth": 0, "grow_policy": "lossguide", "eta": 0.1}
    if kind in PUSHES:
        push = XGBObjective(objective(kind))
        return lambda n_rounds: xgboost.train(params | {"base_score": 0.0}, data, n_rounds, obj=push)
    return lambda n_rounds: xgboost.train(params | {"objective": kind}, data, n_rounds)


def measure(model: str, n_rows: int, n_columns: int) -> None:
    """Print the time of a round and the memory, or why there is none."""
    library, kind = model.split(", ", 1)
    X, y = rows(n_rows, n_columns)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    rounds = []
    try:
        train = (lightgbm_trainer if library == "LightGBM" else xgboost_trainer)(kind, X, y)
        train(1)  # numba compiles
        for _ in range(REPEATS):
            seconds = []
            for n_rounds in (2, 12):
                start = time.process_time()
                train(n_rounds)
                seconds.append(time.process_time() - start)
            rounds.append((seconds[1] - seconds[0]) / 10)
    except Exception as error:  # the message of the library is the result
        print("refused:", str(error).strip().splitlines()[0][:150])
        return
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(min(rounds), peak - before)


def main() -> None:
    """Measure every model in an interpreter of its own."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--columns", type=int, default=50)
    parser.add_argument("--model", choices=MODELS)
    options = parser.parse_args()
    if options.model:
        measure(options.model, options.rows, options.columns)
        return
    import lightgbm
    import xgboost

    print(
        f"{options.rows} rows of {options.columns} columns, float32 "
        f"({4e-6 * options.rows * options.columns:.0f} MB), 2 % positive, one list; {LEAVES} leaves, "
        f"one thread; LightGBM {lightgbm.__version__}, XGBoost {xgboost.__version__}\n"
    )
    print(f"{'':36s}{'s a round':>10s}{'to log loss':>13s}{'MB beside the data':>20s}", flush=True)
    unit = 1.0
    for model in MODELS:
        command = [sys.executable, "-m", "benchmarks.boosters", "--model", model]
        command += ["--rows", str(options.rows), "--columns", str(options.columns)]
        found = subprocess.run(command, capture_output=True, text=True, check=False)
        last = (found.stdout or found.stderr).strip().splitlines()[-1]
        if last.startswith("refused") or found.returncode:
            print(f"{model:36s}{last}", flush=True)
            continue
        seconds, memory = map(float, last.split())
        unit = seconds if "binary" in model else unit
        print(f"{model:36s}{seconds:10.3f}{seconds / unit:13.2f}{memory:20.0f}", flush=True)


if __name__ == "__main__":
    main()
