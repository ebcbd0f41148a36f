"""Does a threshold at a share of the rows help TopRankerCV, as one more family to choose from?

    python -m experiments.heirs           # resumed, about 40 minutes of a core
    python -m experiments.heirs --quick   # two sets, in a minute, into a temporary folder

The eighteen sets of experiments/ensemble, with their splits, of at most 1,000 training rows (500 molecules).
Columns are standardised on the training rows. Hits in the first 1 % of the test rows and average precision
are those of a ranker chosen for 1 % of the rows; precision at a quarter of the positives and the partial AUC,
up to a false-positive rate of 5 %, those of one chosen for a quarter of the positives. Differences have the
errors of experiments/protocol.py for splits that share rows, by time plain ones, at a false-discovery rate of
5 % over the sets.
"""

from __future__ import annotations

import argparse
import tempfile
import time
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

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
from experiments.protocol import append, missing, tally, versions
from pushrank import PatMat, TopRankerCV, metrics
from pushrank.estimators.top_ranker_cv import FAMILIES

FOLDER = Path(__file__).parent
SPLITS, MAX_FPR = 10, 0.05
FULL, QUICK = Size(1_000, 500, 10_000), Size(200, 100, 500)
QUICK_SETS = ["spambase", "letter"]
HEIRS = {"Pat&Mat": ["pat-mat"]}
"""The families that are compared, by the name that the tables have."""
SMALL, LARGE = "hits in 1 %", "precision in n+/4"
BUDGETS = {SMALL: {"fraction": 0.01}, LARGE: {"fraction_of_positives": 0.25}}
MEASURES = {
    SMALL: (SMALL, hits),
    LARGE: (LARGE, lambda y, scores: metrics.precision_at_k(y, scores, fraction_of_positives=0.25)),
    "average precision": (SMALL, metrics.average_precision),
    "partial AUC": (LARGE, lambda y, scores: metrics.partial_auc(y, scores, max_fpr=MAX_FPR)),
}
LOGISTIC, WITHOUT, ALONE = "logistic regression", "TopRankerCV", "PatMat, NP"
DEFAULTS = [name for name in FAMILIES if name not in ("ramp-at-k", "pat-mat")]


def fits(budget: dict[str, float], folds: Any, seed: int) -> Iterator[tuple[str, Any]]:
    """Yield the names of the methods and their models for a budget."""
    yield LOGISTIC, LogisticRegression(max_iter=1000)
    yield ALONE, PatMat(10.0, of="negatives")
    for name, families in {WITHOUT: [], **{f"with {heir}": of for heir, of in HEIRS.items()}}.items():
        yield name, TopRankerCV(candidates=[*DEFAULTS, *families], cv=folds, random_state=seed, **budget)


def measure_split(name: str, split: int, size: Size, cached: Path) -> list[dict[str, Any]]:
    """Return the measures of all methods on one split of a set."""
    table = loaded(name, cached)
    train, test = parts(table, size, size.molecules if name in MOLECULES else size.train, split)
    X, X_test = encoded(table.X, train, test)
    y, y_test = table.y[train], table.y[test]
    when = None if table.time is None else table.time[train]
    folds = list(folds_of(y, when, split))
    lines: dict[str, dict[str, Any]] = {}
    for budget, options in BUDGETS.items():
        for method, model in fits(options, folds, split):
            start = time.process_time()
            pipeline = scaled(model).fit(X, y)
            scores = pipeline.decision_function(X_test)
            line = lines.setdefault(method, {"set": name, "split": split, "positives": int(y.sum())})
            line |= {"method": method, f"seconds, {budget}": time.process_time() - start}
            line[f"chosen, {budget}"] = getattr(pipeline[-1], "candidate_", "")
            line |= {m: value(y_test, scores) for m, (of, value) in MEASURES.items() if of == budget}
    return list(lines.values())


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
        lines.append("mean difference, sets above and below, signed-rank p; sets above / even / below")
        for first in methods[1:]:
            for second in methods[: methods.index(first)]:
                over = against_over_sets(table[first], table[second])
                found = tally(verdicts(table[first], table[second]))
                lines.append(f"  {first:14s} less {second:20s}{over} {found}")
    lines.append("\nfamilies chosen, and processor seconds of a fit in the mean")
    for method in methods:
        of = kept[kept["method"] == method]
        for budget in BUDGETS:
            counts = of[f"chosen, {budget}"].value_counts()
            chosen = ", ".join(f"{name} {count}" for name, count in counts.items())
            lines.append(f"  {method:20s} {budget:18s} {of[f'seconds, {budget}'].mean():7.2f}   {chosen}")
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
            append(results, measure_split(name, split, size, cached))
            print(split, name, flush=True)
    text = report(pd.read_csv(results, keep_default_na=False))
    (folder / "results.txt").write_text(f"{versions()}\n{text}\n", encoding="utf-8")
    print(text)


if __name__ == "__main__":
    main()
