"""Do a threshold at a share of the rows, and partial AUC, help as families to choose from or as members?

    python -m experiments.heirs           # resumed, some 40 minutes of a core
    python -m experiments.heirs --quick   # two sets, in a minute, into a temporary folder

The eighteen sets of experiments/ensemble, with their splits, of at most 1,000 training rows (500 molecules).
Columns are standardised on the training rows. ``TopRankerCV`` chooses without the new families, with either
and with both; ``StackingRanker`` has its own members, or the new rankers beside them. Hits in the first 1 %
of the test rows and average precision are those of a ranker chosen for 1 % of the rows; precision at a
quarter of the positives and the partial AUC, up to a false-positive rate of 5 %, those of one chosen for a
quarter of the positives. Differences have the errors of experiments/protocol.py for splits that share rows,
by time plain ones, at a false-discovery rate of 5 % over the sets.
"""

from __future__ import annotations

import argparse
import math
import tempfile
import time
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from unittest.mock import patch

import pandas as pd
from sklearn.linear_model import LogisticRegression
from threadpoolctl import threadpool_limits

from experiments.ensemble.__main__ import against_over_sets, verdicts
from experiments.ensemble.columns import (
    MOLECULES,
    SETS,
    Size,
    encoded,
    folds_of,
    loaded,
    parts,
    scaled,
)
from experiments.ensemble.finals import hits
from experiments.heirs.largest_share import LargestShare
from experiments.heirs.pat_mat import PatMat
from experiments.protocol import FOLDS, append, missing, tally, versions
from pushrank import PNormPush, PushBoost, PushRanker, StackingRanker, TopRankerCV, metrics
from pushrank.estimators.top_ranker_cv import ALPHAS, DEFAULT_CANDIDATES, FAMILIES, Family, Solution
from pushrank.model_selection import TimeSplit

FOLDER = Path(__file__).parent
SPLITS, MAX_FPR = 10, 0.05
FULL, QUICK = Size(1_000, 500, 10_000), Size(200, 100, 500)
QUICK_SETS = ["spambase", "letter"]
FEWER_SPLITS = dict.fromkeys(MOLECULES, 2)
"""The sets that have fewer splits than the others, for they take most of the time."""
MIN_SPLITS = 3
"""Fewer splits do not tell a difference from chance."""
SMALL, LARGE = "hits in 1 %", "precision in n+/4"
BUDGETS = {SMALL: {"fraction": 0.01}, LARGE: {"fraction_of_positives": 0.25}}
MEASURES = {
    SMALL: (SMALL, hits),
    LARGE: (LARGE, lambda y, scores: metrics.precision_at_k(y, scores, fraction_of_positives=0.25)),
    "average precision": (SMALL, metrics.average_precision),
    "partial AUC": (LARGE, lambda y, scores: metrics.partial_auc(y, scores, max_fpr=MAX_FPR)),
}
LOGISTIC, WITHOUT, STACK = "logistic regression", "TopRankerCV", "StackingRanker"
PAT_MAT, PARTIAL = "pat-mat", "partial-auc"
HEIRS = {"with Pat&Mat": [PAT_MAT], "with pAUC": [PARTIAL], "with both": [PAT_MAT, PARTIAL]}
"""The families that are added to TopRankerCV's, by the name that the tables have."""
PAIRS = [
    *((name, LOGISTIC) for name in ("PatMat, NP", "pAUC", WITHOUT)),
    *((name, WITHOUT) for name in HEIRS),
    (f"{STACK}, both", STACK),
]
"""The methods that are compared."""
SEARCH_TOL = 1e-3


def partial_auc(share: float, alpha: float, tol: float = SEARCH_TOL) -> PushRanker:
    """Return the ranker of the partial AUC up to a false-positive rate."""
    return PushRanker("logistic", LargestShare(share), alpha=alpha, tol=tol)


def partial_aucs(rows: Any, grid: Any) -> list[Solution]:
    """Return rankers of partial AUC along paths of the penalty, each from the one before."""
    solutions = []
    for share in grid["share"]:
        model = partial_auc(share, 1.0, rows.tol).set_params(warm_start=True)
        for alpha in sorted(grid["alpha"], reverse=True):
            model.set_params(alpha=alpha).fit(rows.X, rows.is_positive, rows.weights)
            solutions.append(Solution({"share": share, "alpha": alpha}, model.coef_.copy(), model.converged_))
    return solutions


def pat_mats(rows: Any, grid: Any) -> list[Solution]:
    """Return Pat&Mat-NP rankers for every share of the negatives and C."""
    data = rows.X, rows.is_positive, sorted(grid["C"]), rows.weights
    models = [model for tau in grid["tau"] for model in PatMat(tau, tol=rows.tol).path(*data)]
    return [Solution({"tau": m.tau, "C": m.C}, m.coef_.copy(), m.converged_) for m in models]


class Remembered:
    """The families' solutions of the folds of one split, of which several searches ask for the same."""

    def __init__(self) -> None:
        self.found: dict[Any, tuple[list[Solution], float]] = {}
        self.spared = 0.0

    def family(self, name: str, of: Family) -> Family:
        """Return a family that is solved once."""

        def solve(rows: Any, grid: Any) -> list[Solution]:
            key = (name, rows.weights.tobytes(), rows.is_final, repr(grid))
            if key in self.found:
                self.spared += self.found[key][1]
            else:
                start = time.process_time()
                self.found[key] = of.solve(rows, grid), time.process_time() - start
            return self.found[key][0]

        return of._replace(solve=solve)

    def families(self) -> dict[str, Family]:
        """Return all families, with those of the experiment."""
        heirs = {
            PARTIAL: Family(1, partial_aucs, lambda _: {"share": (MAX_FPR, 0.25), "alpha": ALPHAS}),
            PAT_MAT: Family(1, pat_mats, lambda _: {"tau": (0.01, 0.1), "C": (1.0, 10.0, 100.0)}),
        }
        return {name: self.family(name, of) for name, of in {**FAMILIES, **heirs}.items()}


def fits(budget: dict[str, float], folds: Any, by_time: bool, seed: int, kept: Path) -> Iterator[Any]:
    """Yield the names of the methods and their models for a budget."""
    alone = {"PatMat, NP": PatMat(C=10.0), "pAUC": partial_auc(0.25, 1e-2)}
    yield LOGISTIC, LogisticRegression(max_iter=1000)
    yield from alone.items()
    for name, families in {WITHOUT: [], **HEIRS}.items():
        candidates = [*DEFAULT_CANDIDATES, *families]
        yield name, TopRankerCV(candidates=candidates, cv=folds, random_state=seed, **budget)
    members = [
        (LOGISTIC, LogisticRegression(max_iter=1000)),
        ("push", PNormPush(16)),
        ("trees", PushBoost(16)),
    ]
    new = [*alone.items(), ("pAUC, .05", partial_auc(MAX_FPR, 1e-2))]
    for name, of in ((STACK, members), (f"{STACK}, both", [*members, *new])):
        cv = TimeSplit(FOLDS) if by_time else folds
        yield name, StackingRanker(of, cv=cv, cache_dir=kept, random_state=seed)


def measure_split(name: str, split: int, size: Size, cached: Path) -> list[dict[str, Any]]:
    """Return the measures of all methods on one split of a set."""
    table = loaded(name, cached)
    train, test = parts(table, size, size.molecules if name in MOLECULES else size.train, split)
    X, X_test = encoded(table.X, train, test)
    y, y_test = table.y[train], table.y[test]
    when = None if table.time is None else table.time[train]
    folds = list(folds_of(y, when, split))
    lines: dict[str, dict[str, Any]] = {}
    remembered = Remembered()
    with patch.dict(FAMILIES, remembered.families()), tempfile.TemporaryDirectory() as kept:
        for budget, options in BUDGETS.items():
            for method, model in fits(options, folds, when is not None, split, Path(kept)):
                start, spared = time.process_time(), remembered.spared
                stacked = isinstance(model, StackingRanker)
                timed = {"stackingranker__time": when} if stacked and when is not None else {}
                pipeline = scaled(model).fit(X, y, **timed)
                seconds = time.process_time() - start + remembered.spared - spared
                scores = pipeline.decision_function(X_test)
                line = lines.setdefault(method, {"set": name, "split": split, "positives": int(y.sum())})
                # The stacks share fits of members on disk: what one takes says little.
                line |= {"method": method, f"seconds, {budget}": math.nan if stacked else seconds}
                line[f"chosen, {budget}"] = chosen(pipeline[-1])
                line |= {m: value(y_test, scores) for m, (of, value) in MEASURES.items() if of == budget}
    return list(lines.values())


def chosen(model: Any) -> str:
    """Return the family that was chosen, or whether a new member has a weight."""
    if isinstance(model, StackingRanker):
        has_new = any(w for name, w in model.weights_.items() if name.startswith(("Pat", "pAUC")))
        return "has new members" if has_new else ""
    return getattr(model, "candidate_", "")


def report(kept: pd.DataFrame) -> str:
    """Return means by set, and how often what is above what."""
    lines, methods = [], list(dict.fromkeys(kept["method"]))
    for measure in MEASURES:
        table = kept.pivot_table(index=["set", "split"], columns="method", values=measure, sort=False)
        lines.append(f"\n{measure}: means over splits")
        lines.append(f"{'set':18s}{'n+':>6s}{'splits':>7s}" + "".join(f"{name:>22s}" for name in methods))
        for name, of_set in table.groupby(level="set", sort=False):
            positives = kept.loc[kept["set"] == name, "positives"].median()
            cells = "".join(f"{of_set[method].mean():22.3f}" for method in methods)
            lines.append(f"{name:18s}{positives:6.0f}{len(of_set):7d}{cells}")
        lines.append(
            "mean difference, sets above and below, signed-rank p; sets above / even / below, of those with "
            f"{MIN_SPLITS} splits"
        )
        told = table[table.groupby(level="set")[LOGISTIC].transform("size") >= MIN_SPLITS]
        for first, second in PAIRS:
            over = against_over_sets(table[first], table[second])
            found = tally(verdicts(told[first], told[second]))
            lines.append(f"  {first:20s} less {second:20s}{over} {found}")
    lines.append("\nfamilies chosen, and processor seconds of a fit in the mean")
    for method in methods:
        of = kept[kept["method"] == method]
        for budget in BUDGETS:
            counts = of[f"chosen, {budget}"].value_counts()
            named = ", ".join(f"{name} {count}" for name, count in counts.items())
            mean = of[f"seconds, {budget}"].mean()
            cell = " " * 7 if math.isnan(mean) else f"{mean:7.2f}"
            lines.append(f"  {method:20s} {budget:18s} {cell}   {named}")
    return "\n".join(lines)


def main() -> None:
    """Measure what the kept results lack, then report."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--splits", type=int, default=SPLITS)
    parser.add_argument("--folder", type=Path, default=FOLDER, help="where to write; else beside this file")
    parser.add_argument("--quick", action="store_true", help="all steps in a minute, into a temporary folder")
    arguments = parser.parse_args()
    folder, sets, size, splits = arguments.folder, list(SETS), FULL, arguments.splits
    if arguments.quick:
        folder, sets, size, splits = Path(tempfile.mkdtemp()), QUICK_SETS, QUICK, 1
    results, cached = folder / "results.csv", Path(tempfile.gettempdir())
    with warnings.catch_warnings(), threadpool_limits(limits=1):
        warnings.simplefilter("ignore")  # of members that end before their optimum, or at zero
        for split, name in missing(results, sets, splits):
            if split >= FEWER_SPLITS.get(name, splits):
                continue
            append(results, measure_split(name, split, size, cached))
            print(split, name, flush=True)
    text = report(pd.read_csv(results))
    (folder / "results.txt").write_text(f"{versions()}\n{text}\n", encoding="utf-8")
    print(text)


if __name__ == "__main__":
    main()
