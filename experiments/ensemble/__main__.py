"""Is the push over several models' out-of-fold scores above the best of the models, and above other stacks?

    python -m experiments.ensemble.columns --cache /a/folder --splits 10 --jobs 2   # the models, resumed
    python -m experiments.ensemble --cache /a/folder                                # finals, tables
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
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import pandas as pd
from scipy.stats import false_discovery_control
from scipy.stats import t as student
from sklearn.linear_model import LogisticRegression
from threadpoolctl import threadpool_limits

from experiments.ensemble.columns import BY_TIME, QUICK, SETS, keep_all, path_of
from experiments.ensemble.finals import (
    MEASURES,
    Columns,
    Stack,
    accuracy,
    chosen,
    greedy,
    judged,
    least,
    log_loss,
    log_odds,
    natural,
    power_value,
    probabilities,
    ranks,
    reversed_value,
    stack,
)
from experiments.protocol import VERDICTS, corrected_error, tally, versions
from pushrank import IRPush, PNormPush, TrimmedPush

FOLDER = Path(__file__).parent
ALPHA, LEVEL = 1e-2, 0.05
QUICK_SETS, SPLITS = ["spambase", "bank_marketing"], 10
CHOSEN, BEST = "chosen by the folds", "best member in hindsight"
LOGISTIC, MEAN = "logistic regression on columns", "mean of ranks"
GREEDY = {
    f"greedy, {name}": measure
    for name, measure in (
        ("AP", MEASURES["average precision"]),
        ("log loss", log_loss),
        ("accuracy", accuracy),
    )
}
BASELINES = [CHOSEN, BEST, "LightGBM", "tuned LightGBM", LOGISTIC, *GREEDY, MEAN]

Final = Callable[[np.ndarray, np.ndarray], np.ndarray]


def of_ranker(ranker: IRPush | PNormPush | TrimmedPush) -> Final:
    """Return what fits a ranker to columns and labels, and returns its weights."""
    return lambda columns, y: ranker.fit(columns, y).coef_


def of_value(value: Callable[..., object], *power: float) -> Final:
    """Return what minimises an objective over weights of at least 0."""
    return lambda columns, y: least(value(columns, y, *power), columns.shape[1], ALPHA, positive=True)


OURS: dict[str, Final] = {
    "IR": of_ranker(IRPush(alpha=ALPHA)),
    **{f"p = {p}": of_ranker(PNormPush(p=p, alpha=ALPHA)) for p in (1, 4, 16)},
    "trimmed": of_ranker(TrimmedPush(alpha=ALPHA)),
    "IR, positive": of_value(reversed_value),
    **{f"p = {p}, positive": of_value(power_value, float(p)) for p in (1, 4, 16)},
}
SCALES: dict[str, Callable[[Stack], Columns]] = {
    "log-odds": log_odds,
    "log-odds, margins": lambda of: log_odds(of, 1e-4, calibrated=False),
    "ranks": ranks,
    "ranks in period": lambda of: ranks(of, within="batch"),
}
POSITIVE = [name for name in OURS if name.endswith("positive")]
AT_BUDGET, CAUTIOUS = "chosen at the budget", "the same, cautious"
SHOWN = ["IR, positive, log-odds", "p = 1, positive, log-odds", "p = 4, positive, log-odds"]
HEADS = {name.split(", ")[0] for name in OURS}
AP = list(MEASURES).index("average precision")


def columns_of(of: Stack) -> dict[str, Columns]:
    """Return the columns on all scales; ranks within periods only by time."""
    return {name: scale(of) for name, scale in SCALES.items() if of.by_time or name != "ranks in period"}


def logistic(columns: np.ndarray, y: np.ndarray) -> np.ndarray:
    """Return the weights of scikit-learn's logistic regression."""
    return LogisticRegression(max_iter=1000).fit(columns, y).coef_[0]


Scored = np.ndarray | dict[str, np.ndarray]


def crossed(of: Stack, columns: dict[str, Columns]) -> dict[str, np.ndarray]:
    """Return by candidate the measures of each fold, of shape (n_folds, n_measures).

    Finals are fitted to the other folds' columns, by time to those of earlier periods. The members' own
    fits have seen the fold's rows through these columns, so that the choice is not nested.
    """
    found: dict[str, list[list[float]]] = {}
    for fold in judged(of)[1 if of.by_time else 0 :]:
        held = of.fold == fold
        learnt = of.fold < fold if of.by_time else ~held
        scores = {name: of.raw[held, j] for j, name in enumerate(of.members)}
        scores[MEAN] = columns["ranks"][0][held].mean(axis=1)
        for scale, (known, _) in columns.items():
            for name in POSITIVE:
                scores[f"{name}, {scale}"] = known[held] @ OURS[name](known[learnt], of.y[learnt])
        for name, of_final in scores.items():
            values = [measure(of.y[held], of_final) for measure in MEASURES.values()]
            found.setdefault(name, []).append(values)
    return {name: np.array(values) for name, values in found.items()}


def at_the_budget(of: Stack, found: dict[str, np.ndarray], *, cautious: bool) -> dict[str, str]:
    """Return by measure the candidate with the best mean over the folds.

    A cautious choice is the best member if that is within one standard error of the difference.
    """
    picked = {}
    for number, measure in enumerate(MEASURES):
        # Equal means are told apart by the average precision.
        key = {name: (v[:, number].mean().round(12), v[:, AP].mean()) for name, v in found.items()}
        best, single = max(key, key=key.get), max(of.members, key=key.get)
        gains = found[best][:, number] - found[single][:, number]
        error = gains.std(ddof=1) / np.sqrt(len(gains))
        picked[measure] = single if cautious and gains.mean() <= error else best
    return picked


def scores_of(of: Stack, seed: int) -> Iterator[tuple[str, Scored, float]]:
    """Yield names, test scores (by measure where these differ) and processor seconds of all methods."""
    alone = natural(of)
    by_name = dict(zip(of.members, alone.T, strict=True))
    for name, scores in by_name.items():
        yield name, scores, 0.0
    start = time.process_time()
    yield CHOSEN, {name: alone[:, chosen(of, measure)] for name, measure in MEASURES.items()}, since(start)
    raw, new = probabilities(of)
    for name, measure in GREEDY.items():
        start = time.process_time()
        yield name, new @ greedy(raw, of.y, measure, seed), since(start)
    start = time.process_time()
    columns = columns_of(of)
    in_period = "batch" if of.by_time else ""
    by_name[MEAN] = ranks(of, link=lambda u: u, within=in_period)[1].mean(axis=1)
    yield MEAN, by_name[MEAN], since(start)
    for scale, (known, new) in columns.items():
        for name, final in {LOGISTIC: logistic, **OURS}.items():
            start = time.process_time()
            named = name if name == LOGISTIC and scale == "log-odds" else f"{name}, {scale}"
            by_name[named] = new @ final(known, of.y)
            yield named, by_name[named], since(start)
    start = time.process_time()
    found = crossed(of, columns)
    for name, cautious in ((AT_BUDGET, False), (CAUTIOUS, True)):
        picked = at_the_budget(of, found, cautious=cautious)
        yield name, {measure: by_name[final] for measure, final in picked.items()}, since(start)


def since(start: float) -> float:
    """Return the processor seconds since a start."""
    return time.process_time() - start


def measure_all(cached: Path, splits: int) -> pd.DataFrame:
    """Return the measures of all methods on all splits that the cache has."""
    rows = []
    kept = [
        (name, split) for name in SETS for split in range(splits) if path_of(cached, name, split).exists()
    ]
    for name, split in kept:
        path = path_of(cached, name, split)
        with np.load(path) as arrays:
            has_refits = name not in BY_TIME and not np.isnan(arrays["refitted"]).any()
        for new in ("mean", "refit") if has_refits else ("mean",):
            of = stack(path, refitted=new == "refit")
            for method, scores, seconds in scores_of(of, split):
                found = {
                    measure: value(of.y_test, scores[measure] if isinstance(scores, dict) else scores)
                    for measure, value in MEASURES.items()
                }
                line = {"set": name, "split": split, "positives": int(of.y.sum()), "new": new}
                rows.append({**line, "method": method, **found, "seconds": seconds})
        print(name, split, flush=True)
    return pd.DataFrame(rows)


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
    ours = [name for name in names if name.split(", ")[0] in HEADS or name in (AT_BUDGET, CAUTIOUS)]
    shown = [CHOSEN, BEST, LOGISTIC, *list(GREEDY)[:1], MEAN, AT_BUDGET, CAUTIOUS, *SHOWN]
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
        lines.append(f"{measure}: sets above / even / below, false-discovery rate {LEVEL:.0%} over the sets")
        for method in ours:
            for baseline in BASELINES:
                found = verdicts(table[method], table[baseline])
                lines.append(f"  {method:32s} {baseline:30s} {tally(found)}")
    lines.append("\nours against each other: mean difference over sets in average precision, and tallies")
    table = by_mean.pivot_table(index=["set", "split"], columns="method", values="average precision")
    pairs = [
        (f"{name}, {scale}", f"{name.removesuffix(', positive')}, {scale}")
        for name in POSITIVE
        for scale in ("log-odds", "ranks")
    ]
    pairs += [(f"{name}, log-odds", f"{name}, ranks") for name in OURS]
    pairs += [(f"{name}, ranks in period", f"{name}, ranks") for name in OURS]
    lines += [
        against(table[first], table[second], f"{first} less {second}")
        for first, second in pairs
        if first in table
    ]
    lines.append("\nthe mean of five fold models against one refitted model")
    both = kept[~kept["set"].isin(BY_TIME)]
    for measure in MEASURES:
        table = both.pivot_table(index=["set", "split"], columns=["method", "new"], values=measure)
        lines += [
            against(table[name, "mean"], table[name, "refit"], f"{measure}, {name}")
            for name in (*members, LOGISTIC, *SHOWN)
            if (name, "refit") in table
        ]
    lines.append("\nprocessor seconds of a final, medians over splits and sets")
    seconds = by_mean.groupby("method")["seconds"].median()
    lines.append("  " + ", ".join(f"{name} {seconds[name]:.3f}" for name in names[len(members) :]))
    return "\n".join(lines)


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
    parser.add_argument("--quick", action="store_true", help="all steps in seconds, into a temporary folder")
    arguments = parser.parse_args()
    if not arguments.quick and arguments.cache is None:
        parser.error("--cache is needed, or --quick.")
    folder, cached = FOLDER, arguments.cache
    if arguments.quick:
        folder = cached = Path(tempfile.mkdtemp())
        arguments.splits = 2
        keep_all(cached, QUICK_SETS, arguments.splits, QUICK, 1)
    with warnings.catch_warnings(), threadpool_limits(limits=1):
        warnings.simplefilter("ignore")  # of finals that end before their optimum
        kept = measure_all(cached, arguments.splits)
    kept.to_csv(folder / "results.csv", index=False, float_format="%.6g")
    text = report(kept)
    (folder / "results.txt").write_text(f"{versions()}\n{text}\n", encoding="utf-8")
    print(text)


if __name__ == "__main__":
    main()
