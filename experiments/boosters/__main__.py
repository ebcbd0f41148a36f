"""Is the push worth it inside gradient boosters? Against their own log loss and their own rankers.

    python -m experiments.boosters --splits 20    # fits, resumed where it was stopped, then tables
    python -m experiments.boosters --splits 0     # tables of the kept results

Random stratified 70/30 splits, the same for all models, of the sets of ``experiments/choosing_the_push`` but
the three that are too small or solved; larger ones are first cut, by a draw of their own, to ``--rows`` rows.
Four of them come once more with 60 positives, drawn likewise: as rare as frauds and failures are.

All models are tuned alike, on the same three folds of the training part, over the same leaves and rounds at a
learning rate of 0.1, once for each budget: by the precision there, of equals by the average precision. On
many sets a quarter of the positives or 1 % of the rows hold no error of any good model; as many rows as there
are positives always do.

- ``binary``: LightGBM's log loss;
- ``lambdarank``: LightGBM's ranker, the training part as one query (beyond 10,000 rows it would be refused);
- ``rank:ndcg``: XGBoost's ranker, likewise;
- ``HistGradientBoosting`` of scikit-learn;
- ``push``: LightGBM with the IR Push and the P-Norm Push of p = 1, 4 and 16 beside ``binary``, chosen by the
  rule of ``PushLGBMRankerCV``: the simplest within one standard error of the best, ``binary`` before all;
- ``push (best)``: of the same the best, by ``selection="best"``;
- ``IR Push``, ``p = 4``: with no choice of the objective.
"""

from __future__ import annotations

import argparse
import time
import warnings
from collections.abc import Callable
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import xgboost
from lightgbm import LGBMRanker
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.model_selection import StratifiedKFold, train_test_split
from threadpoolctl import threadpool_limits

from experiments.choosing_the_push.__main__ import SETS as ALL_SETS
from experiments.choosing_the_push.__main__ import rows
from experiments.protocol import TEST_SHARE, append, corrected_error, missing, tally, verdict
from pushrank import metrics
from pushrank.estimators._budget import best_members, choose_family
from pushrank.interop._search import IR_PUSH, complexity, of_objective
from pushrank.interop.lightgbm import PushLGBMRanker

RESULTS = Path(__file__).parent / "results.csv"
RARE = {f"{name} (rare)": name for name in ("magic", "letter H", "adult_a9a", "ijcnn1")}
N_RARE = 60
SETS = [name for name in ALL_SETS if name not in ("housing", "ionosphere", "kddcup99_http")] + list(RARE)
BUDGETS: dict[str, dict[str, float]] = {
    "1 %": {"fraction": 0.01},
    "n+/4": {"fraction_of_positives": 0.25},
    "n+": {"fraction_of_positives": 1.0},
}
MEASURES: dict[str, Callable[[Any, Any], float]] = {
    **{
        f"precision at {name}": lambda y, scores, depth=depth: metrics.precision_at_k(y, scores, **depth)
        for name, depth in BUDGETS.items()
    },
    "positives at top": metrics.positives_at_top,
    "average precision": metrics.average_precision,
}
LEAVES, ROUNDS = (7, 31), (30, 60, 120)
PUSHES = (IR_PUSH, 1.0, 4.0, 16.0)
FOLDS = 3
OURS, BASELINE = "push", "binary"
OBJECTIVES: dict[str, tuple[Any, ...]] = {
    OURS: (BASELINE, *PUSHES),
    BASELINE: (BASELINE,),
    "lambdarank": ("lambdarank",),
    "rank:ndcg": ("rank:ndcg",),
    "HistGradientBoosting": ("HistGradientBoosting",),
}
OF_OURS = {f"{OURS} (best)": None, "IR Push": IR_PUSH, "p = 4": 4.0}  # seen by the way


def table_of(name: str, most: int) -> tuple[np.ndarray, np.ndarray]:
    """Return a set as numbers, cut to so many rows, or to few positives among them."""
    X, y = rows(RARE.get(name, name), most)
    if name not in RARE:
        return X, y
    drawn = np.random.default_rng(0).choice(np.flatnonzero(y == 1), N_RARE, replace=False)
    kept = np.sort(np.concatenate([drawn, np.flatnonzero(y == 0)]))
    return X[kept], y[kept]


def staged_scores(
    objective: Any, leaves: int, train: Any, y: Any, test: Any, rounds: Any
) -> list[np.ndarray]:
    """Return the scores of the test rows after each number of rounds, of one fit."""
    common: dict[str, Any] = {"learning_rate": 0.1, "n_jobs": 1, "random_state": 0}
    if objective == "rank:ndcg":
        data = xgboost.DMatrix(train, y, qid=np.zeros(len(y)))
        shape = {"max_leaves": leaves, "max_depth": 0, "grow_policy": "lossguide"}
        params = {"objective": objective, "eta": 0.1, "nthread": 1, "seed": 0, **shape}
        booster = xgboost.train(params, data, rounds[-1])
        rows_to_score = xgboost.DMatrix(test)
        return [booster.predict(rows_to_score, iteration_range=(0, n_rounds)) for n_rounds in rounds]
    if objective == "HistGradientBoosting":
        model = HistGradientBoostingClassifier(
            learning_rate=0.1,
            max_iter=rounds[-1],
            max_leaf_nodes=leaves,
            early_stopping=False,
            random_state=0,
        ).fit(train, y)
        staged = list(model.staged_decision_function(test))
        return [staged[min(n_rounds, len(staged)) - 1].ravel() for n_rounds in rounds]
    if objective == "lambdarank":
        model = LGBMRanker(n_estimators=rounds[-1], num_leaves=leaves, verbose=-1, **common)
        booster = model.fit(train, y, group=[len(y)]).booster_
    else:
        common |= of_objective(objective)
        model = PushLGBMRanker(n_estimators=rounds[-1], num_leaves=leaves, **common)
        booster = model.fit(train, y).booster_
    return [booster.predict(test, num_iteration=n_rounds, raw_score=True) for n_rounds in rounds]


Chosen = tuple[dict[str, Any], np.ndarray, float]


def tuned(model: str, train: Any, y: Any, test: Any, split: int) -> dict[tuple[str, str], Chosen]:
    """Return by model and budget what was chosen, the scores of the test rows, and the processor seconds."""
    folds = list(StratifiedKFold(FOLDS, shuffle=True, random_state=split).split(train, y))
    start = time.process_time()
    params: list[dict[str, Any]] = []
    by_fold = []  # member by member
    for objective, leaves in product(OBJECTIVES[model], LEAVES):
        found = []
        for fit_rows, held in folds:
            staged = staged_scores(objective, leaves, train[fit_rows], y[fit_rows], train[held], ROUNDS)
            found.append([[value(y[held], scores) for value in MEASURES.values()] for scores in staged])
        by_fold += list(np.array(found).transpose(1, 0, 2))
        params += [{"p": objective, "leaves": leaves, "rounds": number} for number in ROUNDS]
    seconds = time.process_time() - start
    values = dict(zip(MEASURES, np.array(by_fold).transpose(2, 0, 1), strict=True))
    fitted: dict[str, tuple[np.ndarray, float]] = {}
    chosen = {}
    for budget, depth in BUDGETS.items():
        k = depth["fraction"] * len(y) if "fraction" in depth else depth["fraction_of_positives"] * y.sum()
        overall = values["average precision"].mean(axis=1)
        candidates = best_members(params, values[f"precision at {budget}"], overall, 1.0 / max(1.0, k), "p")
        place = complexity if model == OURS else lambda _: 0.0
        best = {model: choose_family(candidates, "one_standard_error", "p", place)["params"]}
        if model == OURS:
            best[f"{OURS} (best)"] = choose_family(candidates, "best", "p", place)["params"]
            best |= {
                name: one["params"] for name, p in OF_OURS.items() for one in candidates if one["p"] == p
            }
        for name, one in best.items():
            key = str(one)
            if key not in fitted:
                start = time.process_time()
                (scores,) = staged_scores(one["p"], one["leaves"], train, y, test, [one["rounds"]])
                fitted[key] = scores, time.process_time() - start
            chosen[name, budget] = one, fitted[key][0], seconds + fitted[key][1]
    return chosen


def fit_all(splits: int, most_rows: int) -> None:
    """Fit and measure what the kept results lack, one line for each model, budget and split."""
    for split, name in missing(RESULTS, SETS, splits):
        X, y = table_of(name, most_rows)
        train, test, labels, test_labels = train_test_split(
            X, y, test_size=TEST_SHARE, stratify=y, random_state=split
        )
        found: dict[tuple[str, str], Chosen] = {}
        with warnings.catch_warnings(), threadpool_limits(limits=1):
            warnings.simplefilter("ignore")
            for model in OBJECTIVES:
                found |= tuned(model, train, labels, test, split)
        lines = [
            {"set": name, "split": split, "rows": len(y), "positives": int(y.sum()), "model": model}
            | {"budget": budget}
            | {measure: value(test_labels, scores) for measure, value in MEASURES.items()}
            | {
                "seconds": seconds,
                "chosen": best["p"],
                "leaves": best["leaves"],
                "rounds": best["rounds"],
            }
            for (model, budget), (best, scores, seconds) in found.items()
        ]
        append(RESULTS, lines)
        print(split, name, flush=True)


def report() -> None:
    """Print for each measure the means, the differences to the log loss, and the counts."""
    kept = pd.read_csv(RESULTS)
    models = [model for model in (*OBJECTIVES, *OF_OURS) if model != BASELINE]
    opponents = [model for model in OBJECTIVES if model != OURS]
    counts: dict[tuple[str, str, str], list[tuple[str, str]]] = {}
    for budget, measure in product(BUDGETS, MEASURES):
        if measure.startswith("precision") and measure != f"precision at {budget}":
            continue
        of_budget = kept[kept["budget"] == budget]
        table = of_budget.pivot_table(index=["set", "split"], columns="model", values=measure)
        chosen_for = measure if measure.endswith(budget) else f"{measure}, chosen for {budget}"
        print(f"\n{chosen_for}: {BASELINE}, and differences to it +- corrected standard error")
        digits = 1 if measure == "positives at top" else 3
        for name in [name for name in SETS if name in table.index.get_level_values(0)]:
            of_set = table.loc[name]
            cells = []
            pairs = [(model, BASELINE) for model in models] + [(OURS, model) for model in opponents[1:]]
            for first, second in pairs:
                difference = (of_set[first] - of_set[second]).to_numpy()
                found, error = verdict(difference), corrected_error(difference)
                if first not in opponents:
                    counts.setdefault((chosen_for, first, second), []).append((found, name))
                mark = {"above": "*", "below": "!", "even": " "}[found]
                if second == BASELINE:
                    cells.append(f"{first} {difference.mean():+.{digits}f} +- {error:.{digits}f}{mark}")
            print(f"  {name:22s} ({len(of_set)}) {of_set[BASELINE].mean():.{digits}f}  " + "  ".join(cells))
    print("\nsets significantly (5 %, corrected for shared rows) above / even / below; above *, below !")
    for (chosen_for, first, second), found in counts.items():
        pair = f"{first} against {second}"
        print(f"  {chosen_for:36s} {pair:36s} {tally(found)}")
    print("\nprocessor seconds of choosing and fitting, medians over splits, means over sets")
    seconds = kept.groupby(["model", "set"])["seconds"].median().groupby("model").mean()
    print("  " + ", ".join(f"{model} {seconds[model]:.1f}" for model in OBJECTIVES))
    print("what was chosen, of all splits and sets")
    for (model, budget), chosen in kept[kept["model"].str.startswith(OURS)].groupby(["model", "budget"]):
        counted = chosen["chosen"].value_counts().items()
        print(f"  {model}, {budget}: " + ", ".join(f"{name} {count}" for name, count in counted))


def main() -> None:
    """Fit what is missing, then report."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--splits", type=int, default=20)
    parser.add_argument("--rows", type=int, default=10_000)
    arguments = parser.parse_args()
    fit_all(arguments.splits, arguments.rows)
    report()


if __name__ == "__main__":
    main()
