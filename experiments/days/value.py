"""Value, cost and net benefit of five models at equal budget, where every row has costs of its own.

    python -m experiments.days.value > experiments/days/results_value.txt
    python -m experiments.days.value --quick    # 3 splits

Churn of subscribers (churn_tv): an offer to a row that would stay costs C_FP, one to a row that would leave
saves C_FN - C_TP. Twenty stratified splits, seven tenths of the rows to learn from; a twentieth of the rest
is made an offer.
"""

from __future__ import annotations

import argparse
import os
import warnings
from pathlib import Path

import numpy as np
import pandas as pd
from scipy.stats import t as student
from sklearn.base import BaseEstimator
from sklearn.ensemble import HistGradientBoostingClassifier, RandomForestClassifier
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import StratifiedShuffleSplit
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from experiments.protocol import TEST_SHARE, corrected_error
from pushrank import PNormPush, TopRankerCV
from pushrank.metrics import net_benefit, value_at_k

SHARE = 0.05
COSTS = ["C_FP", "C_FN", "C_TP", "C_TN"]


def models(seed: int) -> dict[str, BaseEstimator]:
    """Return the five models, unfitted."""
    return {
        "logistic regression": make_pipeline(StandardScaler(), LogisticRegression(max_iter=1000)),
        "P-Norm Push, p = 16": make_pipeline(StandardScaler(), PNormPush(p=16.0)),
        "linear, chosen for the budget": make_pipeline(
            StandardScaler(), TopRankerCV(fraction=SHARE, random_state=seed)
        ),
        "gradient boosting": HistGradientBoostingClassifier(random_state=seed),
        "random forest": RandomForestClassifier(random_state=seed, n_jobs=2),
    }


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="3 splits")
    n_splits = 3 if parser.parse_args().quick else 20
    frame = pd.read_parquet(Path(os.environ["PUSHRANK_DATA"]) / "churn_tv.parquet")
    y, costs = frame["label"].to_numpy(), frame[COSTS].to_numpy()
    X = frame.drop(columns=["label", *COSTS]).to_numpy()
    useless, saved = costs[:, 0], costs[:, 1] - costs[:, 2]
    # The chance at which an offer to an average row is worth as much as none.
    threshold = float(useless.mean() / (useless.mean() + saved.mean()))
    splits = StratifiedShuffleSplit(n_splits, test_size=TEST_SHARE, random_state=0).split(X, y)
    found: dict[str, list[list[float]]] = {}
    for seed, (train, test) in enumerate(splits):
        k = round(SHARE * len(test))
        for name, model in models(seed).items():
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", ConvergenceWarning)
                model.fit(X[train], y[train])
            proba = hasattr(model, "predict_proba")
            scores = model.predict_proba(X[test])[:, 1] if proba else model.decision_function(X[test])
            value = value_at_k(y[test], scores, k, value=saved[test])
            cost = value_at_k(1 - y[test], scores, k, value=useless[test])
            benefit = net_benefit(y[test], scores, k, threshold=threshold)
            hits = value_at_k(y[test], scores, k, value=np.ones(len(test)))
            at_threshold = net_benefit(y[test], scores, threshold=threshold) if proba else np.nan
            found.setdefault(name, []).append(
                [hits, value, cost, value - cost, 1e3 * benefit, 1e3 * at_threshold]
            )
    print(f"churn_tv: {len(y):,} rows, {y.sum()} positive; {k} of {len(test):,} are made an offer")
    print(
        f"means of {n_splits} splits and corrected standard errors; net benefit (NB) in hits a thousand rows,"
    )
    print(f"where a chance of {threshold:.3f} is worth an offer")
    columns = ("hits", "value saved", "cost", "value - cost", "NB at budget", "NB at chance")
    print(f"{'model':31s}" + "".join(f"{column:>18s}" for column in columns))
    for name, rows in found.items():
        cells = (f"{np.mean(of):10.1f} ± {corrected_error(of):5.1f}" for of in np.array(rows).T)
        print(f"{name:31s}" + "".join(f"{cell:>18s}" for cell in cells))
    base = np.array(found["logistic regression"])[:, 3]
    print("\nvalue - cost beyond logistic regression, 95 % intervals of the corrected t-test")
    for name, rows in found.items():
        more = np.array(rows)[:, 3] - base
        if name != "logistic regression":
            reach = student.ppf(0.975, n_splits - 1) * corrected_error(more)
            print(
                f"{name:31s}{more.mean():+10.1f} ({more.mean() - reach:+.1f} to {more.mean() + reach:+.1f})"
            )


if __name__ == "__main__":
    main()
