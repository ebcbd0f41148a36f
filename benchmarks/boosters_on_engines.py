"""XGBoost's trees by the push of all rows: in two tasks of Spark, in two workers of Ray, and in one process.

    pip install "pushrank[xgboost]" pyspark "ray[train]"  # Spark needs Java 17 or later
    python benchmarks/boosters_on_engines.py > benchmarks/boosters_on_engines.txt

40,000 rows of 20 columns, of interactions, are split 3 to 1: once so that another share of either part is
positive, once so that the smaller part has negatives only. Every worker finds the gradient of its rows at
scores that are the same everywhere, and then trains. The gradient's error is the largest relative one of a
row, against all rows in one array: in double precision, and as XGBoost gets it in one process, where rows in
narrow bins of scores are taken together, to the accuracy of float32. The objective is that after each round.
"""

from __future__ import annotations

import argparse
import json
import os
import pickle
import platform
import sys
import tempfile
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyspark
import ray
import ray.train
import xgboost
from pyspark.sql import SparkSession
from ray.train.xgboost import XGBoostTrainer
from xgboost.collective import CommunicatorContext, get_rank
from xgboost.tracker import RabitTracker

from pushrank.interop.xgboost import XGBObjective
from pushrank.objectives import PushObjective
from pushrank.pairs import BipartiteSample
from pushrank.prices import LogOnePlus, Power

OBJECTIVES = {
    "p = 4": PushObjective(price=Power(4), scale="log"),
    "IR Push": PushObjective(price=LogOnePlus(), side="pull", scale="mean"),
}
POSITIVES = {"uneven": (600, 1200), "one worker has negatives only": (1800, 0)}
PARAMETERS = {"base_score": 0.0, "max_depth": 6, "nthread": 1, "disable_default_eval_metric": True}


def parts(n: int, positives: tuple[int, int]) -> list[dict[str, np.ndarray]]:
    """Return features, labels and fixed scores of two parts, of 3/4 and 1/4 of the rows."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n, 20)).astype(np.float32)
    order = np.argsort(X[:, 0] * X[:, 1] + X[:, 2] - np.abs(X[:, 3]) + rng.normal(size=n))
    negatives, positive = np.split(order, [n - sum(positives)])
    y, scores = np.isin(np.arange(n), positive).astype(np.float32), 2.0 * rng.normal(size=n)
    first, second = (
        np.sort(np.concatenate(rows))
        for rows in zip(
            np.split(rng.permutation(negatives), [3 * n // 4 - positives[0]]),
            np.split(rng.permutation(positive), [positives[0]]),
            strict=True,
        )
    )
    return [{"X": X[rows], "y": y[rows], "scores": scores[rows]} for rows in (first, second)]


def train(part: dict[str, np.ndarray], objective: PushObjective, n_rounds: int) -> dict[str, Any]:
    """Return the derivatives of a part's rows, and the trees of all rows."""
    push = XGBObjective(objective)
    found = push(part["y"], part["scores"])
    booster = xgboost.train(PARAMETERS, xgboost.DMatrix(part["X"], part["y"]), n_rounds, obj=push)
    return {"derivatives": np.array(found), "booster": bytes(booster.save_raw())}


def train_own_part(folder: Path, n_rounds: int) -> None:
    """Train on the part of this worker's rank, for every split and objective."""
    for split in POSITIVES:
        part = pickle.loads((folder / split / f"part{get_rank()}").read_bytes())  # noqa: S301
        for name, objective in OBJECTIVES.items():
            found = train(part, objective, n_rounds)
            (folder / split / f"{name}{get_rank()}").write_bytes(pickle.dumps(found))


def on_spark(work: Callable[[], None]) -> None:
    """Run work in two barrier tasks."""

    def task_of_all(frames: Iterator[pd.DataFrame]) -> Iterator[pd.DataFrame]:
        task = pyspark.BarrierTaskContext.get()
        host, *others = (info.address.split(":")[0] for info in task.getTaskInfos())
        arguments = ""
        if task.partitionId() == 0:
            tracker = RabitTracker(1 + len(others), host, sortby="task")
            tracker.start()
            arguments = json.dumps(tracker.worker_args())
        arguments = json.loads(task.allGather(arguments)[0])
        with CommunicatorContext(**arguments, dmlc_task_id=str(task.partitionId())):
            work()
        yield from frames

    os.environ["PYSPARK_PYTHON"] = sys.executable
    with SparkSession.builder.master("local[2]").config("spark.ui.enabled", "false").getOrCreate() as spark:
        spark.range(2, numPartitions=2).mapInPandas(task_of_all, "id long", barrier=True).collect()


def on_ray(work: Callable[[], None], folder: Path) -> None:
    """Run work in two workers."""
    ray.init(num_cpus=2, include_dashboard=False, object_store_memory=2**28, log_to_driver=False)
    settings = {
        "scaling_config": ray.train.ScalingConfig(num_workers=2),
        "run_config": ray.train.RunConfig(storage_path=str(folder)),
    }
    XGBoostTrainer(work, **settings).fit()
    ray.shutdown()


def values(raw: bytes, X: np.ndarray, sample: BipartiteSample, objective: PushObjective) -> np.ndarray:
    """Return the objective after each round."""
    booster, data, scores, path = xgboost.Booster(), xgboost.DMatrix(X), np.zeros(len(X)), []
    booster.load_model(bytearray(raw))
    for r in range(booster.num_boosted_rounds()):
        scores = scores + booster.predict(data, output_margin=True, iteration_range=(r, r + 1))
        path.append(objective.evaluation(sample, scores).value)
    return np.array(path)


def main() -> None:
    """Print the errors of each engine, split and objective."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--rows", type=int, default=40_000)
    parser.add_argument("--rounds", type=int, default=20)
    options = parser.parse_args()
    print(
        f"Python {platform.python_version()}, XGBoost {xgboost.__version__}, PySpark {pyspark.__version__}, "
        f"Ray {ray.__version__}, {options.rounds} rounds\n"
    )
    alone: dict[tuple[str, str], dict[str, Any]] = {}
    together, samples = {}, {}
    with tempfile.TemporaryDirectory() as temporary:
        folders = {engine: Path(temporary) / engine for engine in ("Spark", "Ray")}
        for split, positives in POSITIVES.items():
            own = parts(options.rows, positives)
            for folder in folders.values():
                (folder / split).mkdir(parents=True)
                for rank, part in enumerate(own):
                    (folder / split / f"part{rank}").write_bytes(pickle.dumps(part))
            together[split] = {key: np.concatenate([part[key] for part in own]) for key in own[0]}
            samples[split] = BipartiteSample.from_mask(together[split]["y"] == 1)
            sizes = " and ".join(
                f"{len(part['y']):,} with {int(part['y'].sum()):,} positives" for part in own
            )
            print(f"{split}: workers' rows {sizes}")
            for name, objective in OBJECTIVES.items():
                alone[split, name] = train(together[split], objective, options.rounds)
        print()
        for engine, folder in folders.items():
            work = partial(train_own_part, folder, options.rounds)
            on_spark(work) if engine == "Spark" else on_ray(work, folder)
            for (split, name), one in alone.items():
                many = [
                    pickle.loads((folder / split / f"{name}{rank}").read_bytes())  # noqa: S301
                    for rank in (0, 1)
                ]
                found = np.concatenate([worker["derivatives"] for worker in many], axis=1)
                sample, objective, rows = samples[split], OBJECTIVES[name], together[split]
                exact = sample.scatter(*objective.evaluation(sample, rows["scores"]).gradient())
                error = np.abs(found[0] / (sample.class_weights[0] * exact) - 1.0).max()
                rounding = np.abs(found / one["derivatives"] - 1.0).max()
                data = rows["X"], sample, objective
                here, there = values(one["booster"], *data), values(many[0]["booster"], *data)
                print(f"{engine}, {name}, {split}")
                print(f"  gradient {error:.1e} off; with its diagonal {rounding:.1e} off one process's")
                print(f"  the workers' trees are equal: {many[0]['booster'] == many[1]['booster']}")
                print(f"{'round':>7} {'one process':>12} {'workers':>12} {'difference':>11}")
                for r in sorted({1, 2, 5, 10, options.rounds}):
                    difference = there[r - 1] / here[r - 1] - 1.0
                    print(f"{r:>7} {here[r - 1]:>12.6f} {there[r - 1]:>12.6f} {difference:>11.1e}")
                print(f"  at most, over all rounds: {np.max(np.abs(there / here - 1.0)):.1e}\n", flush=True)


if __name__ == "__main__":
    main()
