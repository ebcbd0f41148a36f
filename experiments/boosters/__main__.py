"""Is the push worth it inside gradient boosters? Against their own log loss and their own rankers.

    python -m experiments.boosters --splits 20    # fits, resumed where it was stopped, then tables
    python -m experiments.boosters --splits 0     # tables of the kept results
    python -m experiments.boosters --quick        # all steps on few rows, into a temporary folder

Random stratified 70/30 splits, the same for all models, of the sets of ``experiments/choosing_the_push`` but
the three that are too small or solved; larger ones are first cut, by a draw of their own, to ``--rows`` rows.
Four of them come once more with 60 positives, drawn likewise: as rare as frauds and failures are.

All models are tuned on the same three folds of the training part, over the same leaves and rounds at a
learning rate of 0.1, once for each budget: by the precision there, of equals by the average precision. On
many sets a quarter of the positives or 1 % of the rows hold no error of any good model; as many rows as there
are positives always do.

- ``binary``: LightGBM's log loss;
- ``lambdarank``: LightGBM's ranker, the training part as one query (beyond 10,000 rows it would be refused);
- ``rank:ndcg``: XGBoost's ranker, likewise;
- ``HistGradientBoosting`` of scikit-learn;
- ``push``: LightGBM with the IR Push and the P-Norm Push of p = 1, 4 and 16 beside ``binary``: the simplest
  within one standard error of the best, ``binary`` before all;
- ``push (best)``: of the same the best;
- ``IR Push``, ``p = 4``: with no choice of the objective.
"""

from __future__ import annotations

import argparse
import tempfile
import time
import warnings
from collections.abc import Callable
from functools import partial
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from lightgbm import LGBMClassifier, LGBMRanker
from sklearn.base import clone
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.model_selection import StratifiedKFold, train_test_split
from threadpoolctl import threadpool_limits
from xgboost import XGBRanker

from experiments.choosing_the_push.__main__ import SETS as ALL_SETS
from experiments.choosing_the_push.__main__ import rows
from experiments.protocol import TEST_SHARE, append, corrected_error, missing, tally, verdict
from pushrank import PushObjective, metrics
from pushrank.estimators._search import below_best, best_of_families, choose
from pushrank.held_out import model_scores
from pushrank.interop.lightgbm import LGBMObjective
from pushrank.prices import LogOnePlus, Power

RESULTS = Path(__file__).parent / "results.csv"
RARE = {f"{name} (rare)": name for name in ("magic", "letter H", "adult_a9a", "ijcnn1")}
N_RARE = 60
SETS = [name for name in ALL_SETS if name not in ("housing", "ionosphere", "kddcup99_http")] + list(RARE)
QUICK_SETS, QUICK_ROWS = ["spambase"], 500
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
FOLDS = 3
OURS, BASELINE = "push", "binary"
IR_PUSH, FOUR = "log_one_plus", "4.0"
ROUNDS, LEAVES = [30, 60, 120], [7, 31]
COMMON: dict[str, Any] = {"learning_rate": 0.1, "n_jobs": 1, "random_state": 0}
Candidate = tuple[str, Any, dict[str, list[int]]]
GRID = {"num_leaves": LEAVES, "n_estimators": ROUNDS}
XGB_GRID, HIST_GRID = (
    {leaves: LEAVES, rounds: ROUNDS}
    for leaves, rounds in (("max_leaves", "n_estimators"), ("max_leaf_nodes", "max_iter"))
)


class LambdaRank(LGBMRanker):
    """LightGBM's ranker, all rows being one query."""

    def fit(self, X: Any, y: Any) -> Any:
        """Learn a ranking."""
        return super().fit(X, y, group=[len(y)])

    def decision_function(self, X: Any) -> Any:
        """Return the scores."""
        return self.predict(X)


class RankNDCG(XGBRanker):
    """XGBoost's ranker, all rows being one query."""

    def fit(self, X: Any, y: Any) -> Any:
        """Learn a ranking."""
        return super().fit(X, y, qid=np.zeros(len(y), dtype=int))

    def decision_function(self, X: Any) -> Any:
        """Return the scores."""
        return self.predict(X, output_margin=True)


def push(name: str, objective: PushObjective | None = None) -> Candidate:
    """Return a candidate with an objective in LightGBM, or with its log loss."""
    return name, LGBMClassifier(objective=objective and LGBMObjective(objective), verbose=-1, **COMMON), GRID


LOG_LOSS = push(BASELINE)
PUSHES = [
    push(IR_PUSH, PushObjective(price=LogOnePlus(), side="pull", scale="mean")),
    *(push(str(p), PushObjective(price=Power(p), scale="log")) for p in (1.0, 4.0, 16.0)),
]
XGB_RANKER = RankNDCG(
    objective="rank:ndcg", max_depth=0, grow_policy="lossguide", tree_method="hist", **COMMON
)
HISTOGRAMS = HistGradientBoostingClassifier(learning_rate=0.1, early_stopping=False, random_state=0)
CANDIDATES: dict[str, list[Candidate]] = {
    OURS: [LOG_LOSS, *PUSHES],
    BASELINE: [LOG_LOSS],
    "lambdarank": [("lambdarank", LambdaRank(verbose=-1, **COMMON), GRID)],
    "rank:ndcg": [("rank:ndcg", XGB_RANKER, XGB_GRID)],
    "HistGradientBoosting": [("HistGradientBoosting", HISTOGRAMS, HIST_GRID)],
}
# These are read from the candidates of OURS.
BY_THE_WAY = [f"{OURS} (best)", "IR Push", "p = 4"]


def table_of(name: str, most: int) -> tuple[np.ndarray, np.ndarray]:
    """Return a set as numbers, cut to so many rows, or to few positives among them."""
    X, y = rows(RARE.get(name, name), most)
    if name not in RARE:
        return X, y
    drawn = np.random.default_rng(0).choice(np.flatnonzero(y == 1), N_RARE, replace=False)
    kept = np.sort(np.concatenate([drawn, np.flatnonzero(y == 0)]))
    return X[kept], y[kept]


Chosen = tuple[dict[str, Any], np.ndarray, float]


def tuned(model: str, train: Any, y: Any, test: Any, split: int) -> dict[tuple[str, str], Chosen]:
    """Return by model and budget what was chosen, the scores of the test rows, and the processor seconds."""
    start, folds = (
        time.process_time(),
        list(StratifiedKFold(FOLDS, shuffle=True, random_state=split).split(train, y)),
    )
    members = [
        (name, clone(estimator).set_params(**dict(zip(grid, point, strict=True))), point)
        for name, estimator, grid in CANDIDATES[model]
        for point in product(*grid.values())
    ]
    of_folds = [
        [model_scores(clone(estimator).fit(train[learnt], y[learnt]), train[held]) for learnt, held in folds]
        for _, estimator, _ in members
    ]
    seconds, chosen = time.process_time() - start, {}
    overall = [measured(metrics.average_precision, scores, y, folds).mean() for scores in of_folds]
    for budget, depth in BUDGETS.items():
        precision = partial(metrics.precision_at_k, **depth)
        values = np.array([measured(precision, scores, y, folds) for scores in of_folds])
        n_rows = depth.get("fraction", 0.0) * len(y) + depth.get("fraction_of_positives", 0.0) * y.sum()
        families = [name for name, *_ in members]
        best = best_of_families(values, np.array(overall), families, 1.0 / max(1.0, n_rows))
        at_best, overall_at_best = values[best], np.array(overall)[best]
        found = choose(at_best, overall_at_best, range(len(best)), "one_standard_error")
        by_name = {members[number][0]: number for number in best}
        picked = {model: best[found]}
        if model == OURS:
            first = best[int(np.argmin(below_best(at_best, overall_at_best)[0]))]
            picked |= dict(zip(BY_THE_WAY, (first, by_name[IR_PUSH], by_name[FOUR]), strict=True))
        for name, number in picked.items():
            candidate, estimator, (leaves, rounds) = members[number]
            scores = model_scores(clone(estimator).fit(train, y), test)
            params = {"candidate": candidate, "leaves": leaves, "rounds": rounds}
            chosen[name, budget] = params, scores, seconds
    return chosen


def measured(measure: Callable[[Any, Any], float], scores: list[Any], y: Any, folds: list[Any]) -> np.ndarray:
    """Return a measure on each fold."""
    return np.array([measure(y[held], of_fold) for of_fold, (_, held) in zip(scores, folds, strict=True)])


def fit_all(results: Path, sets: list[str], splits: int, most_rows: int) -> None:
    """Fit and measure what the kept results lack, one line for each model, budget and split."""
    for split, name in missing(results, sets, splits):
        X, y = table_of(name, most_rows)
        train, test, labels, test_labels = train_test_split(
            X, y, test_size=TEST_SHARE, stratify=y, random_state=split
        )
        found: dict[tuple[str, str], Chosen] = {}
        with warnings.catch_warnings(), threadpool_limits(limits=1):
            warnings.simplefilter("ignore")
            for model in CANDIDATES:
                found |= tuned(model, train, labels, test, split)
        lines = []
        for (model, budget), (params, scores, seconds) in found.items():
            lines.append(
                {"set": name, "split": split, "rows": len(y), "positives": int(y.sum()), "model": model}
                | {"budget": budget}
                | {measure: value(test_labels, scores) for measure, value in MEASURES.items()}
                | {"seconds": seconds, "chosen": params["candidate"]}
                | {"leaves": params["leaves"], "rounds": params["rounds"]}
            )
        append(results, lines)
        print(split, name, flush=True)


def report(results: Path) -> None:
    """Print for each measure the means, the differences to the log loss, and the counts."""
    kept = pd.read_csv(results)
    models = [model for model in (*CANDIDATES, *BY_THE_WAY) if model != BASELINE]
    opponents = [model for model in CANDIDATES if model != OURS]
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
    print("  " + ", ".join(f"{model} {seconds[model]:.1f}" for model in CANDIDATES))
    print("what was chosen, of all splits and sets")
    for (model, budget), chosen in kept[kept["model"].str.startswith(OURS)].groupby(["model", "budget"]):
        counted = chosen["chosen"].value_counts().items()
        print(f"  {model}, {budget}: " + ", ".join(f"{name} {count}" for name, count in counted))


def main() -> None:
    """Fit what is missing, then report."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--splits", type=int, default=20)
    parser.add_argument("--rows", type=int, default=10_000)
    parser.add_argument("--quick", action="store_true", help="all steps in seconds, into a temporary folder")
    arguments = parser.parse_args()
    if arguments.quick:
        results = Path(tempfile.mkdtemp()) / RESULTS.name
        fit_all(results, QUICK_SETS, 2, QUICK_ROWS)
    else:
        results = RESULTS
        fit_all(results, SETS, arguments.splits, arguments.rows)
    report(results)


if __name__ == "__main__":
    main()
