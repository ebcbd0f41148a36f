"""What does a comparison of the linear defaults cost, in fits of scaled logistic regression?

    python benchmarks/compare.py > benchmarks/compare.txt

Times are the processor's, on one thread, which other work on the machine changes least. In the second part,
the calls of a bank, all default models are fitted and scored fold by fold, each by itself with the
preprocessing that ``pushrank compare`` gives it, and by ``compare_rankers``, which shares the preprocessing,
fits two halves of a training part for its errors, and measures all models together; the sum of single fits
has these halves, too. ``fit_held_out`` does the same fits, and what it returns compares, weighs and cuts
without another. The second part is skipped where the data folder is not there.
"""

from __future__ import annotations

import os
import resource
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from sklearn.base import clone
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import RepeatedStratifiedKFold
from sklearn.pipeline import Pipeline, make_pipeline
from threadpoolctl import threadpool_limits

from pushrank.cli.model import make_preprocessor, make_ranking_pipelines, usual_rankers
from pushrank.held_out import model_scores
from pushrank.model_selection import compare_rankers, default_rankers, fit_held_out

N_ROWS, N_COLUMNS = 60_000, 60
BANK = Path(os.environ.get("PUSHRANK_DATA", ".")) / "bank_marketing.parquet"


def main() -> None:
    """Print the ratios: transformers shared by all models, and one for each."""
    rng = np.random.default_rng(0)
    names = [f"x{column}" for column in range(N_COLUMNS)]
    X = pd.DataFrame(rng.normal(size=(N_ROWS, N_COLUMNS)), columns=names)
    scores = X.to_numpy() @ rng.normal(size=N_COLUMNS) / np.sqrt(N_COLUMNS) + rng.logistic(size=N_ROWS) / 2
    y = scores > np.quantile(scores, 0.99)
    rankers = default_rankers(dense=False, n_rows=N_ROWS)
    shared = make_preprocessor(names, [])
    ways = {
        "shared by all models": {name: Pipeline([("c", shared), ("r", m)]) for name, m in rankers.items()},
        "one for each model": {
            name: make_pipeline(make_preprocessor(names, []), model) for name, model in rankers.items()
        },
    }
    alone = make_pipeline(make_preprocessor(names, []), LogisticRegression(max_iter=1000))
    compare_rankers(ways["shared by all models"], X[:6000], y[:6000], random_state=0)  # compiles
    base = seconds(lambda: alone.fit(X, y))
    print(f"{N_ROWS:,} x {N_COLUMNS}, {len(rankers)} models in 5 folds; in fits of one pipeline")
    for way, models in ways.items():
        cost = seconds(lambda models=models: compare_rankers(models, X, y, budget=1000, random_state=0))
        print(f"preprocessing {way:22}{cost / base:6.1f}")
    against_plain_fits()


def bank_calls() -> tuple[dict[str, Any], pd.DataFrame, np.ndarray, dict[str, Any]]:
    """Return all default models, the calls of a bank and their outcome, and options of a comparison."""
    frame = pd.read_parquet(BANK)
    y = frame.pop("label").to_numpy() == 1
    # How long a call took is known after it.
    X = frame.drop(columns=["duration", "contacted"])
    numeric = X.select_dtypes("number").columns.tolist()
    words = X.columns.drop(numeric).tolist()
    X = X[numeric + words].astype(dict.fromkeys(words, object))
    models = make_ranking_pipelines(usual_rankers(n_rows=len(y)), numeric, words)
    options = {"random_state": 0, "together": list(models)}
    some = np.random.default_rng(0).permutation(len(y))[:3000]
    compare_rankers(models, X.iloc[some], y[some], budget=100, **options)  # compiles
    return models, X, y, options


def against_plain_fits() -> None:
    """Print what a comparison takes in the sum of its members' fits and scores, on the calls of a bank."""
    if not BANK.exists():
        print("\nbank calls: skipped, PUSHRANK_DATA names no folder that holds bank_marketing.parquet")
        return
    models, X, y, options = bank_calls()
    plain: Counter[str] = Counter()
    parts = list(RepeatedStratifiedKFold(n_splits=5, n_repeats=1, random_state=0).split(X, y))
    halves = np.array_split(np.random.default_rng(0).permutation(parts[0][0]), 2)
    for train, test in [*parts, *((half, parts[0][1]) for half in halves)]:
        for name, model in models.items():

            def fit_and_score(model=model, train=train, test=test) -> None:
                model_scores(clone(model).fit(X.iloc[train], y[train]), X.iloc[test])

            plain[name] += seconds(fit_and_score)
    cost, total = seconds(lambda: compare_rankers(models, X, y, budget=1000, **options)), plain.total()
    print(
        f"\nbank calls: {len(y):,} x {X.shape[1]}, {len(models)} models in 5 folds and 2 halves, on one core"
    )
    for name, time_taken in plain.items():
        print(f"  {name:30}{time_taken:6.2f} s")
    print(f"sum of the fits and scores    {total:8.2f} s\ncompare_rankers               {cost:8.2f} s")
    print(f"compare_rankers in that sum   {cost / total:8.2f}")
    after_one_fit(models, X, y, options["together"], total)


def after_one_fit(
    models: dict[str, Any], X: pd.DataFrame, y: np.ndarray, together: list[str], total: float
) -> None:
    """Print what fit_held_out takes in the sum of the plain fits, and what each of its answers does."""
    before, done = megabytes(), []
    cost = seconds(lambda: done.append(fit_held_out(models, X, y, budget=1000, random_state=0)))
    held_out, after = done[0], megabytes()
    print(f"fit_held_out                  {cost:8.2f} s\nfit_held_out in that sum      {cost / total:8.2f}")
    for name, call in {
        "compare()": held_out.compare,
        "compare(together)": lambda: held_out.compare(together=together),
        "stack()": held_out.stack,
        "threshold()": held_out.threshold,
        "measure()": held_out.measure,
    }.items():
        print(f"  {name:30}{seconds(call):6.2f} s")
    print(f"peak of the memory before, after fit_held_out: {before:,.0f}, {after:,.0f} MB, models included")


def megabytes() -> float:
    """Return the largest memory of this process so far."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def seconds(call: Callable[[], object]) -> float:
    """Return the processor time of a call."""
    start = time.process_time()
    call()
    return time.process_time() - start


if __name__ == "__main__":
    # The fits of a comparison have one thread of BLAS, and so have the others.
    with threadpool_limits(limits=1):
        main()
