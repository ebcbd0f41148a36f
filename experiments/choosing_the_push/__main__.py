"""Is the choice of the objective worth it? TopRankerCV for two budgets, against models of common use.

    python -m experiments.choosing_the_push --splits 30    # fits, resumed where it was stopped, then tables
    python -m experiments.choosing_the_push --splits 0     # tables of the kept results

Random stratified 70/30 splits of every set with two classes (or one class against the rest), the same for all
models; larger sets are first cut, by a draw of their own, to ``--rows`` rows. Columns are standardised on the
training part. The three last sets are made or made noisier: labels of a fifth of the rows drawn anew, and
positives of which most hide among the negatives. Everything is chosen by cross-validation inside the training
part:

- TopRankerCV for as many rows as a quarter of the positives, and for the first 1 % of the rows;
- LogisticRegressionCV over ten values of C, by the average precision;
- HistGradientBoostingClassifier, and LightGBM with its 31 leaves and 100 trees, as they come.

The molecular sets hold strings and no columns, and are left out; ``adult`` is the raw form of ``adult_a9a``.
"""

from __future__ import annotations

import argparse
import time
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from lightgbm import LGBMClassifier
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.linear_model import LogisticRegressionCV
from sklearn.model_selection import train_test_split
from sklearn.preprocessing import StandardScaler
from threadpoolctl import threadpool_limits

from experiments.protocol import (
    TEST_SHARE,
    append,
    corrected_error,
    cut_rows,
    decision_scores,
    missing,
    tally,
    verdict,
)
from pushrank import TopRankerCV, datasets, metrics

RESULTS = Path(__file__).parent / "results.csv"
LOGISTIC, TREES = "LogisticRegressionCV", ["HistGradientBoosting", "LightGBM"]
BUDGETS: dict[str, dict[str, float]] = {"n+/4": {"fraction_of_positives": 0.25}, "1 %": {"fraction": 0.01}}
TOP = {f"precision at {name}": f"TopRankerCV, {name}" for name in BUDGETS}
MEASURES: dict[str, Callable[[Any, Any], float]] = {
    **{
        f"precision at {name}": lambda y, scores, depth=depth: metrics.precision_at_k(y, scores, **depth)
        for name, depth in BUDGETS.items()
    },
    "average precision": metrics.average_precision,
    "AUC": metrics.auc,
}


def load(name: str, **options: Any) -> Callable[[], tuple[Any, Any]]:
    """Return a function that loads a set."""
    return lambda: datasets.load_dataset(name, return_X_y=True, **options)


def relabelled(name: str) -> tuple[Any, np.ndarray]:
    """Return a set in which a fifth of the rows have labels drawn anew."""
    X, y = datasets.load_dataset(name, return_X_y=True)
    rng = np.random.default_rng(0)
    return X, np.where(rng.random(len(y)) < 0.2, rng.permutation(y), y)


SETS: dict[str, Callable[[], tuple[Any, Any]]] = {
    "ionosphere": load("ionosphere"),
    "housing": load("housing"),
    "spambase": load("spambase"),
    "magic": load("magic"),
    "abalone": lambda: datasets.load_dataset("abalone", return_X_y=True, as_frame=True),
    "letter A": load("letter", positive="A"),
    "letter H": load("letter", positive="H"),
    "adult_a9a": load("adult_a9a"),
    "ijcnn1": load("ijcnn1"),
    "cover_odds": load("cover_odds"),
    "kddcup99_http": load("kddcup99_http"),
    "kddcup99_smtp": load("kddcup99_smtp"),
    "magic (relabelled)": lambda: relabelled("magic"),
    "spambase (relabelled)": lambda: relabelled("spambase"),
    "hidden positives": lambda: datasets.make_hidden_positives(10_000, random_state=0, return_X_y=True),
}


def models(seed: int) -> dict[str, Any]:
    """Return the models by name."""
    tops = {
        f"TopRankerCV, {name}": TopRankerCV(**depth, random_state=seed) for name, depth in BUDGETS.items()
    }
    options = {"scoring": "average_precision", "l1_ratios": (0,), "use_legacy_attributes": False}
    return {
        LOGISTIC: LogisticRegressionCV(Cs=10, cv=5, max_iter=300, **options),
        **tops,
        TREES[0]: HistGradientBoostingClassifier(random_state=seed),
        TREES[1]: LGBMClassifier(random_state=seed, n_jobs=1, verbose=-1),
    }


def rows(name: str, most: int) -> tuple[np.ndarray, np.ndarray]:
    """Return a set as numbers, cut to so many rows."""
    X, y = cut_rows(SETS[name], most)
    X = pd.get_dummies(X) if hasattr(X, "iloc") else X
    return X.toarray() if hasattr(X, "toarray") else np.asarray(X, dtype=float), y


def fit_all(splits: int, most_rows: int) -> None:
    """Fit and measure what the kept results lack, one line for each model and split."""
    for split, name in missing(RESULTS, list(SETS), splits):
        X, y = rows(name, most_rows)
        parts = train_test_split(X, y, test_size=TEST_SHARE, stratify=y, random_state=split)
        scaler = StandardScaler().fit(parts[0])
        train, test, labels, test_labels = (
            scaler.transform(parts[0]),
            scaler.transform(parts[1]),
            *parts[2:],
        )
        lines = []
        for model_name, model in models(split).items():
            with warnings.catch_warnings(), threadpool_limits(limits=1):
                warnings.simplefilter("ignore")
                start = time.process_time()
                model.fit(train, labels)
                seconds = time.process_time() - start
                scores = decision_scores(model, test)
            found = {measure: value(test_labels, scores) for measure, value in MEASURES.items()}
            chosen = getattr(model, "candidate_", "")
            line = {"set": name, "split": split, "rows": len(y), "positives": int(y.sum())}
            lines.append({**line, "model": model_name, **found, "seconds": seconds, "chosen": chosen})
        append(RESULTS, lines)
        print(split, name, flush=True)


def report() -> None:
    """Print means, differences to logistic regression with corrected errors, and who is above or below."""
    kept = pd.read_csv(RESULTS)
    counts = {}
    for measure in MEASURES:
        table = kept.pivot_table(index=["set", "split"], columns="model", values=measure)
        tops = [TOP[measure]] if measure in TOP else list(TOP.values())
        print(f"\n{measure}: means over splits, and differences to {LOGISTIC} +- corrected standard error")
        closed = []
        for name in [name for name in SETS if name in table.index.get_level_values(0)]:
            of_set = table.loc[name]
            print(f"  {name}, {len(of_set)} splits: {LOGISTIC} {of_set[LOGISTIC].mean():.3f}")
            for model in [*tops, *TREES]:
                difference = (of_set[model] - of_set[LOGISTIC]).to_numpy()
                found = verdict(difference)
                counts.setdefault((measure, model), []).append((found, name))
                mark = {"above": "  *above*", "below": "  *below*", "even": ""}[found]
                print(
                    f"    {model:22s} {of_set[model].mean():.3f}   {difference.mean():+.3f} "
                    f"+- {corrected_error(difference):.3f}{mark}"
                )
            gap = of_set[TREES].mean().max() - of_set[LOGISTIC].mean()
            if measure in TOP and gap > 0.02:
                closed.append((of_set[TOP[measure]].mean() - of_set[LOGISTIC].mean()) / gap)
        if closed:
            print(
                f"  of the gap to the better trees, where it is over .02 ({len(closed)} sets), the linear\n"
                f"  score closes {np.median(closed):.0%} (median), {min(closed):.0%} to {max(closed):.0%}"
            )
    print(f"\nsets significantly (5 %, corrected for shared rows) above / even with / below {LOGISTIC}")
    for (measure, model), found in counts.items():
        print(f"  {measure:18s} {model:22s} {tally(found)}")
    print("\nprocessor seconds of a fit, medians over splits, means over sets; and what was chosen how often")
    seconds = kept.groupby(["model", "set"])["seconds"].median().groupby("model").mean()
    for model in models(0):
        chosen = kept.loc[kept["model"] == model, "chosen"].dropna().value_counts()
        listed = ", ".join(f"{name} {count}" for name, count in chosen.items())
        print(f"  {model:22s} {seconds[model]:6.2f}   {listed}")


def main() -> None:
    """Fit what is missing, then report."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--splits", type=int, default=30)
    parser.add_argument("--rows", type=int, default=10_000)
    arguments = parser.parse_args()
    fit_all(arguments.splits, arguments.rows)
    report()


if __name__ == "__main__":
    main()
