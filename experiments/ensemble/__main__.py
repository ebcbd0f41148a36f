"""Is the push over several models' out-of-fold scores above the best of the models, and above other stacks?

    python -m experiments.ensemble.columns --cache /a/folder --splits 10 --jobs 2   # the models, resumed
    python -m experiments.ensemble --cache /a/folder                                # finals, resumed
    python -m experiments.ensemble --quick                                          # both, in seconds

Finals are fitted on the columns that ``columns.py`` keeps. A test row has the mean of a member's five fold
models, by time the score of one fitted to all of the past. Against ours: each member; the member that the
same folds choose, by the measure in question; a logistic regression on the same log-odds columns
(``StackingClassifier``'s final); Caruana's greedy selection as AutoGluon does it, on raw probabilities, by
average precision, by log loss and by AutoGluon's default, the accuracy; the mean of ranks.
"""

from __future__ import annotations

import argparse
import tempfile
import time
import warnings
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pandas as pd
from scipy.stats import false_discovery_control, wilcoxon
from scipy.stats import t as student
from sklearn.base import clone
from sklearn.linear_model import LogisticRegression
from threadpoolctl import threadpool_limits

from experiments.ensemble.columns import BY_TIME, QUICK, SETS, keep_all, path_of
from experiments.ensemble.finals import (
    MEASURES,
    accuracy,
    chosen,
    greedy,
    log_loss,
    log_odds,
    natural,
    probabilities,
    ranks,
    raw_columns,
    stack,
)
from experiments.ensemble.lookup import library_scores
from experiments.protocol import VERDICTS, append, corrected_error, missing, tally, versions
from pushrank import IRPush, PNormPush, TrimmedPush

FOLDER = Path(__file__).parent
ALPHA, LEVEL = 1e-2, 0.05
QUICK_SETS, SPLITS = ["spambase", "bank_marketing"], 10
CHOSEN, BEST = "chosen by the folds", "best member in hindsight"
STACKED, LOGISTIC, MEAN = "StackingClassifier", "logistic", "mean of ranks"
GREEDY = {
    f"greedy, {name}": measure
    for name, measure in (
        ("AP", MEASURES["average precision"]),
        ("log loss", log_loss),
        ("accuracy", accuracy),
    )
}
BASELINES = [
    CHOSEN,
    BEST,
    "LightGBM",
    "tuned LightGBM",
    STACKED,
    f"{LOGISTIC}, log-odds",
    *GREEDY,
    MEAN,
]

RANKERS = {
    "IR": IRPush(alpha=ALPHA, positive=True),
    **{f"p = {p:g}": PNormPush(p, alpha=ALPHA, positive=True) for p in (1.0, 4.0, 16.0)},
    "trimmed": TrimmedPush(0.5, alpha=ALPHA, positive=True),
}
LIBRARY = "StackingRanker"
SHOWN = [LIBRARY, *(f"{name}, log-odds" for name in RANKERS)]


def logistic(columns: np.ndarray, y: np.ndarray) -> np.ndarray:
    """Return the weights of scikit-learn's logistic regression."""
    return LogisticRegression(max_iter=1000).fit(columns, y).coef_[0]


Scored = np.ndarray | dict[str, np.ndarray]


def scores_of(path: Path, seed: int, *, refit: bool) -> Iterator[tuple[str, Scored, float]]:
    """Yield names, test scores (by measure where these differ) and processor seconds of all methods."""
    of = stack(path, refitted=refit)
    alone = natural(of)
    for name, scores in zip(of.members, alone.T, strict=True):
        yield name, scores, 0.0
    start = time.process_time()
    yield CHOSEN, {name: alone[:, chosen(of, measure)] for name, measure in MEASURES.items()}, since(start)
    raw, new = probabilities(of)
    for name, measure in GREEDY.items():
        start = time.process_time()
        yield name, new @ greedy(raw, of.y, measure, seed), since(start)
    start = time.process_time()
    known, new = raw_columns(of)
    yield STACKED, new @ logistic(known, of.y), since(start)
    yield MEAN, ranks(of, link=lambda u: u, within="batch" if of.by_time else "")[1].mean(axis=1), 0.0
    known, new = log_odds(of)
    start = time.process_time()
    yield f"{LOGISTIC}, log-odds", new @ logistic(known, of.y), since(start)
    for name, ranker in RANKERS.items():
        start = time.process_time()
        yield f"{name}, log-odds", new @ clone(ranker).fit(known, of.y).coef_, since(start)
    if refit:
        return
    start = time.process_time()
    yield LIBRARY, library_scores(path, None)[0], since(start)


def since(start: float) -> float:
    """Return the processor seconds since a start."""
    return time.process_time() - start


def measure_all(cached: Path, results: Path, splits: int) -> None:
    """Measure all methods on the splits that the cache has and the kept results lack."""
    for split, name in missing(results, list(SETS), splits):
        path = path_of(cached, name, split)
        if not path.exists():
            continue
        with np.load(path) as arrays:
            has_refits = name not in BY_TIME and not np.isnan(arrays["refitted"]).any()
            positives, y_test = int(arrays["y"].sum()), arrays["y_test"].astype(int)
        lines = []
        for new in ("mean", "refit") if has_refits else ("mean",):
            for method, scores, seconds in scores_of(path, split, refit=new == "refit"):
                found = {
                    measure: value(y_test, scores[measure] if isinstance(scores, dict) else scores)
                    for measure, value in MEASURES.items()
                }
                line = {"set": name, "split": split, "positives": positives, "new": new}
                lines.append({**line, "method": method, **found, "seconds": seconds})
        append(results, lines)
        print(split, name, flush=True)


def error_and_p(differences: np.ndarray, *, by_time: bool) -> tuple[float, float]:
    """Return the standard error of a mean difference, plain over periods, and the two-sided p-value."""
    n = len(differences)
    if n == 1 or not differences.any():
        return np.nan, 1.0
    error = differences.std(ddof=1) / np.sqrt(n) if by_time else corrected_error(differences)
    # Splits with one and the same difference have no error, and tell the two apart for certain.
    if error == 0.0:
        return 0.0, 0.0
    return error, float(2.0 * student.sf(abs(differences.mean()) / error, n - 1))


def verdicts(first: pd.DataFrame, second: pd.DataFrame) -> list[tuple[str, str]]:
    """Return by set whether the first is above the second, at a false-discovery rate of 5 % over the sets.

    Both have a value for each set and split; sets with less than two common splits are left out.
    """
    differences = (first - second).dropna()
    by_set = {
        name: of_set.to_numpy()
        for name, of_set in differences.groupby(level="set", sort=False)
        if len(of_set) > 1
    }
    p = [error_and_p(values, by_time=name in BY_TIME)[1] for name, values in by_set.items()]
    told = false_discovery_control(p) <= LEVEL if p else []
    return [
        (VERDICTS[1] if not apart else VERDICTS[0] if values.mean() > 0.0 else VERDICTS[2], name)
        for (name, values), apart in zip(by_set.items(), told, strict=True)
    ]


def report(kept: pd.DataFrame) -> str:
    """Return means by set, and how often what is above what."""
    lines = []
    by_mean = kept[kept["new"] == "mean"]
    positives = by_mean.groupby("set", sort=False)["positives"].median()
    sets = [name for name in SETS if name in positives.index]
    names = list(dict.fromkeys(by_mean["method"]))
    members = names[: names.index(CHOSEN)]
    ours = [name for name in names if name.startswith((LIBRARY, *RANKERS))]
    shown = [CHOSEN, BEST, STACKED, f"{LOGISTIC}, log-odds", *list(GREEDY)[:1], MEAN, *SHOWN]
    for measure in MEASURES:
        table = by_mean.pivot_table(index=["set", "split"], columns="method", values=measure)
        means = table[members].groupby(level="set").mean()
        best = {name: means.loc[name].idxmax() for name in sets}
        table[BEST] = [table.at[row, best[row[0]]] for row in table.index]
        digits = 3 if "precision" in measure else 1
        lines.append(f"\n{measure}: means over splits")
        lines.append(f"{'set':16s}{'n+':>5s}{'splits':>7s}" + "".join(f"{name[:21]:>22s}" for name in shown))
        for name in sets:
            of_set = table.loc[name]
            cells = "".join(f"{of_set[method].mean():22.{digits}f}" for method in shown)
            lines.append(f"{name:16s}{positives[name]:5.0f}{len(of_set):7d}{cells}   {best[name]}")
        lines.append(
            f"{measure}: mean difference, sets above and below, signed-rank p-value over sets; sets "
            f"above / even / below, each by its own splits, false-discovery rate {LEVEL:.0%}"
        )
        for method in ours:
            for baseline in [*BASELINES, *members] if method == LIBRARY else BASELINES:
                found = verdicts(table[method], table[baseline])
                over_sets = against_over_sets(table[method], table[baseline])
                lines.append(f"  {method:18s} {baseline:22s} {over_sets} {tally(found)}")
    lines.append("\nthe mean of five fold models against one refitted model")
    both = kept[~kept["set"].isin(BY_TIME)]
    for measure in MEASURES:
        table = both.pivot_table(index=["set", "split"], columns=["method", "new"], values=measure)
        lines += [
            against(table[name, "mean"], table[name, "refit"], f"{measure}, {name}")
            for name in (*members, STACKED, f"{LOGISTIC}, log-odds", *SHOWN)
            if (name, "refit") in table
        ]
    lines.append("\nprocessor seconds of a final, medians over splits and sets")
    seconds = by_mean.groupby("method")["seconds"].median()
    lines.append("  " + ", ".join(f"{name} {seconds[name]:.3f}" for name in names[len(members) :]))
    return "\n".join(lines)


def against_over_sets(first: pd.Series, second: pd.Series) -> str:
    """Return the mean difference, the numbers of sets above and below, and the signed-rank p-value."""
    by_set = (first - second).dropna().groupby(level="set").mean().round(9)
    p = wilcoxon(by_set).pvalue if by_set.any() else 1.0
    return f"{by_set.mean():+8.4f} {(by_set > 0).sum():3d} {(by_set < 0).sum():3d}  p = {p:.3f} "


def against(first: pd.Series, second: pd.Series, name: str) -> str:
    """Return a line with a mean difference over sets, and the tally."""
    by_set = (first - second).dropna().groupby(level="set").mean()
    return f"  {name:64s} {by_set.mean():+9.4f}   {tally(verdicts(first, second))}"


def main() -> None:
    """Measure what the cache has, then report."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--cache", type=Path, help="the folder that columns.py wrote")
    parser.add_argument("--splits", type=int, default=SPLITS)
    parser.add_argument("--folder", type=Path, default=FOLDER, help="where to write; else beside this file")
    parser.add_argument("--quick", action="store_true", help="all steps in seconds, into a temporary folder")
    arguments = parser.parse_args()
    if not arguments.quick and arguments.cache is None:
        parser.error("--cache is needed, or --quick.")
    folder, cached = arguments.folder, arguments.cache
    if arguments.quick:
        folder = cached = Path(tempfile.mkdtemp())
        arguments.splits = 2
        keep_all(cached, QUICK_SETS, arguments.splits, QUICK, 1)
    results = folder / "results.csv"
    with warnings.catch_warnings(), threadpool_limits(limits=1):
        warnings.simplefilter("ignore")  # of finals that end before their optimum
        measure_all(cached, results, arguments.splits)
    text = report(pd.read_csv(results))
    (folder / "results.txt").write_text(f"{versions()}\n{text}\n", encoding="utf-8")
    print(text)


if __name__ == "__main__":
    main()
