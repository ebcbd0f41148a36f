"""Is the choice of the push worth it? Rankers with p and alpha chosen, against models of common use.

    python -m experiments.choosing_the_push            # fits, resumed where it was stopped
    python -m experiments.choosing_the_push --report   # tables from the kept results

Thirty random 70/30 splits of every set with two classes (or one class against the rest), the same for all
models; larger sets are first cut, by a draw of their own, to 1,500 rows, of which a fifth or all positives,
whichever is less, if they are rare. Columns are standardised on the training part. Every choice is made by
cross-validation inside the training part, by the average precision:

- PNormPushCV over p and alpha, by the best score and by the rule of one standard error;
- LogisticRegressionCV over ten values of C;
- LinearSVC and HistGradientBoostingClassifier as they come;
- boosted stumps under the P-Norm Push, p = 16, 200 rounds, beside the trees.

The molecular sets hold strings and no columns, and are left out; ``adult`` is the raw form of ``adult_a9a``.
"""

from __future__ import annotations

import argparse
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from scipy.stats import t as student
from sklearn.compose import make_column_selector, make_column_transformer
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LogisticRegressionCV
from sklearn.model_selection import train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler
from sklearn.svm import LinearSVC
from threadpoolctl import threadpool_limits

from pushrank import PNormPushCV, PushBoost, datasets, metrics

HERE = Path(__file__).parent
RESULTS = HERE / "results.csv"
SPLITS = 30
MOST_ROWS = 1500
BASELINE = "LogisticRegressionCV"
MEASURES = ("positives at top", "precision at 1/4", "average precision")
SETS: dict[str, Callable[[], tuple[Any, Any]]] = {
    "ionosphere": lambda: datasets.load_dataset("ionosphere", return_X_y=True),
    "housing": lambda: datasets.load_dataset("housing", return_X_y=True),
    "spambase": lambda: datasets.load_dataset("spambase", return_X_y=True),
    "magic": lambda: datasets.load_dataset("magic", return_X_y=True),
    "abalone": lambda: datasets.load_dataset("abalone", return_X_y=True, as_frame=True),
    "letter A": lambda: datasets.load_dataset("letter", positive="A", return_X_y=True),
    "letter H": lambda: datasets.load_dataset("letter", positive="H", return_X_y=True),
    "adult_a9a": lambda: datasets.load_dataset("adult_a9a", return_X_y=True),
    "ijcnn1": lambda: datasets.load_dataset("ijcnn1", return_X_y=True),
    "cover_odds": lambda: datasets.load_dataset("cover_odds", return_X_y=True),
    "kddcup99_http": lambda: datasets.load_dataset("kddcup99_http", return_X_y=True),
    "kddcup99_smtp": lambda: datasets.load_dataset("kddcup99_smtp", return_X_y=True),
}
GRID = {"ps": (1.0, 4.0, 16.0, 64.0), "alphas": (1e-3, 1e-2, 1e-1, 1.0)}


def models(seed: int) -> dict[str, Any]:
    """Return the models by name."""
    return {
        BASELINE: LogisticRegressionCV(
            Cs=10,
            cv=5,
            scoring="average_precision",
            max_iter=300,
            l1_ratios=(0,),
            use_legacy_attributes=False,
        ),
        "LinearSVC": LinearSVC(),
        "HistGradientBoosting": HistGradientBoostingClassifier(random_state=seed),
        "PNormPushCV": PNormPushCV(**GRID, scoring="average_precision"),
        "PNormPushCV, 1 s.e.": PNormPushCV(
            **GRID, scoring="average_precision", selection="one_standard_error"
        ),
        "boosted stumps, p = 16": PushBoost(16.0, n_estimators=200, random_state=seed),
    }


def rows(name: str) -> tuple[Any, np.ndarray]:
    """Return a set, cut to so many rows that thirty splits of it take minutes."""
    X, y = SETS[name]()
    y = np.asarray(y).astype(int)
    if len(y) > MOST_ROWS:
        rng = np.random.default_rng(0)
        share = max(y.mean(), min(0.2, y.sum() / MOST_ROWS)) if y.mean() < 0.2 else y.mean()
        n_positive = round(share * MOST_ROWS)
        kept = [rng.choice(np.flatnonzero(y == c), n, replace=False)
                for c, n in ((1, n_positive), (0, MOST_ROWS - n_positive))]  # fmt: skip
        kept = np.sort(np.concatenate(kept))
        X, y = (X.iloc[kept] if hasattr(X, "iloc") else X[kept]), y[kept]
    return X, y


def columns(X: Any) -> Any:
    """Return the preprocessing: standardised numbers, one column for each word."""
    if not hasattr(X, "iloc"):
        return StandardScaler()
    words = make_column_selector(dtype_exclude="number")
    return make_column_transformer(
        (OneHotEncoder(handle_unknown="ignore", sparse_output=False), words), remainder=StandardScaler()
    )


def fit_all(splits: int) -> None:
    """Fit and measure what the kept results lack, one line for each model and split."""
    done = set()
    if RESULTS.exists():
        kept = pd.read_csv(RESULTS)
        done = set(zip(kept["set"], kept["split"], kept["model"], strict=True))
    else:
        pd.DataFrame(columns=["set", "split", "model", *MEASURES, "chosen"]).to_csv(RESULTS, index=False)
    for split in range(splits):  # all sets get their first split before any its second
        for name in SETS:
            if all((name, split, model) in done for model in models(0)):
                continue
            X, y = rows(name)
            train, test = train_test_split(np.arange(len(y)), test_size=0.3, stratify=y, random_state=split)
            part = (lambda r, X=X: X.iloc[r]) if hasattr(X, "iloc") else (lambda r, X=X: X[r])
            for model_name, model in models(split).items():
                if (name, split, model_name) in done:
                    continue
                pipeline = make_pipeline(columns(X), model)
                with warnings.catch_warnings(), threadpool_limits(limits=1):
                    warnings.simplefilter("ignore", ConvergenceWarning)
                    pipeline.fit(part(train), y[train])
                how = "decision_function"
                scores = getattr(pipeline, how)(part(test))
                line = {
                    "set": name,
                    "split": split,
                    "model": model_name,
                    "positives at top": metrics.positives_at_top(y[test], scores, normalize=True),
                    "precision at 1/4": metrics.precision_at_k(y[test], scores, fraction_of_positives=0.25),
                    "average precision": metrics.average_precision(y[test], scores),
                    "chosen": str(getattr(model, "best_params_", "")),
                }
                pd.DataFrame([line]).to_csv(RESULTS, mode="a", header=False, index=False)
            print(split, name, flush=True)


def corrected_error(differences: np.ndarray) -> float:
    """Return the standard error of a mean over random splits that share rows.

    Nadeau and Bengio, *Inference for the generalization error*, Machine Learning 52 (2003): the variance
    grows by the ratio of test to training rows, 3/7, on top of 1/splits.
    """
    return float(np.sqrt((1.0 / len(differences) + 0.3 / 0.7) * np.var(differences, ddof=1)))


def report() -> None:
    """Print means with standard errors, and who is significantly better or worse than logistic regression."""
    kept = pd.read_csv(RESULTS)
    complete = kept.groupby(["set", "split"])["model"].transform("size") == len(models(0))
    kept = kept[complete]
    verdicts: dict[tuple[str, str], list[str]] = {}
    for measure in MEASURES:
        table = kept.pivot_table(index=["set", "split"], columns="model", values=measure)[list(models(0))]
        print(f"\n{measure}: mean +- plain standard error over splits; (difference to {BASELINE} in its")
        print("standard errors, plain / corrected for shared rows)")
        for name in [name for name in SETS if name in table.index.get_level_values(0)]:
            of_set = table.loc[name]
            n = len(of_set)
            print(f"  {name}, {n} splits")
            for model in of_set:
                values = of_set[model].to_numpy()
                difference = values - of_set[BASELINE].to_numpy()
                cells = f"    {model:24s} {values.mean():.4f} +- {values.std(ddof=1) / np.sqrt(n):.4f}"
                if model != BASELINE and np.ptp(difference) > 0:
                    plain = difference.mean() / (difference.std(ddof=1) / np.sqrt(n))
                    corrected = difference.mean() / corrected_error(difference)
                    cells += f"   ({difference.mean():+.4f}, {plain:+.1f} / {corrected:+.1f})"
                    for kind, statistic in (("plain", plain), ("corrected", corrected)):
                        limit = student.ppf(0.975, n - 1)
                        verdict = "above" if statistic > limit else "below" if statistic < -limit else "even"
                        verdicts.setdefault((measure, f"{model} [{kind}]"), []).append(f"{verdict}:{name}")
                elif model != BASELINE:
                    for kind in ("plain", "corrected"):
                        verdicts.setdefault((measure, f"{model} [{kind}]"), []).append(f"even:{name}")
                print(cells)
    print(f"\nsets where a model is significantly (5 %, two-sided) above / even with / below {BASELINE}")
    for (measure, model), found in verdicts.items():
        counts = [sum(line.startswith(kind) for line in found) for kind in ("above", "even", "below")]
        below = ", ".join(line.split(":")[1] for line in found if line.startswith("below"))
        print(f"  {measure:18s} {model:36s} {counts[0]:2d} / {counts[1]:2d} / {counts[2]:2d}"
              + (f"   below on {below}" if below else ""))  # fmt: skip


def main() -> None:
    """Fit what is missing, then report."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--report", action="store_true", help="only print the tables of the kept results")
    parser.add_argument("--splits", type=int, default=SPLITS)
    arguments = parser.parse_args()
    if not arguments.report:
        fit_all(arguments.splits)
    report()


if __name__ == "__main__":
    main()
