"""How many new rows reach a threshold, and how often are they as many as were to be expected?

    PUSHRANK_DATA=folder python -m benchmarks.thresholds scores > benchmarks/thresholds.txt

Six sets, three of them with fewer than 400 positives in at most 2,500 training rows, a tenth of which are
wanted. Splits are random, or by time: the next rows after a window that moves on. Rows of the bank's calls
are in order of time; those of other sets are in a random order, so that nothing changes. The folder `scores`
keeps the scores of every split, and a run that was ended goes on from there.

Columns are said to have moved by the same new rows, and by a thousand of them whose strongest driver is half
a standard deviation higher: the column of numbers with the area under the ROC curve farthest from 1/2.
"""

import os
import sys
from dataclasses import replace
from itertools import product
from pathlib import Path

import numpy as np
import pandas as pd
from sklearn.base import clone
from sklearn.metrics import roc_auc_score

from pushrank.cli.model import make_model, make_ranking_pipelines
from pushrank.cli.thresholds import HeldOutScores, alert_of_parts, parts_of
from pushrank.held_out import Rows, fit_params, model_scores
from pushrank.monitoring.reference import most_moved, profiles_of_rows

SETS = "stroke", "hypothyroid", "churn_tv", "adult", "give_me_credit", "bank_marketing"
POSITIVE = {"hypothyroid": "hypothyroid", "adult": ">50K"}
LEFT_OUT = {"adult": ["split"], "bank_marketing": ["contacted", "duration"]}
MODELS = (
    "lightgbm",
    "gradient-boosting",
    "random-forest",
    "logistic-regression",
    "pnorm-push",
    "ensemble",
)
N_TRAIN, N_NEW, N_SPLITS, FEW, MORE = 2500, 3000, 20, 5, 20

HEAD = """Rows that reach a threshold in units of those wanted: by five fits alone, and now. Splits, in %, in
which they are within the 95 % range, and within one by the draw of rows alone; in which a column is said to
have moved, and where the strongest driver has. Means over splits."""


def splits(name, by_time):
    """Yield training rows and new rows with their labels, as the command line reads them."""
    frame = pd.read_parquet(Path(os.environ["PUSHRANK_DATA"]) / f"{name}.parquet")
    X = frame.drop(columns=["label", *LEFT_OUT.get(name, ())])
    y = (frame["label"].astype(str).str.rstrip(".") == POSITIVE.get(name, "1")).to_numpy()
    is_number = [pd.api.types.is_numeric_dtype(kind) for kind in X.dtypes]
    numbers, words = X.columns[is_number], X.columns[np.invert(is_number)]
    X = pd.concat([X[numbers].astype(float), X[words].astype(object)], axis=1)
    n_rows, n_train = len(y), min(N_TRAIN, len(y) * 6 // 10)
    n_new = min(N_NEW, n_rows - n_train)
    if by_time and name != "bank_marketing":
        order = np.random.default_rng(99).permutation(n_rows)
        X, y = X.iloc[order].reset_index(drop=True), y[order]
    for split in range(N_SPLITS):
        if by_time:
            # Where few rows are left, new ones are fewer, so that the window can move.
            n_new = min(n_new, (n_rows - n_train) // 2)
            first = (n_rows - n_train - n_new) * split // (N_SPLITS - 1)
            train, new = np.split(np.arange(first, first + n_train + n_new), [n_train])
        else:
            order = np.random.default_rng(split).permutation(n_rows)
            train, new = order[:n_train], order[n_train : n_train + n_new]
        learnt = Rows(X.iloc[train].reset_index(drop=True), y[train].astype(int), y[train], None, None, None)
        if by_time:
            learnt = learnt._replace(times=np.arange(n_train))
        yield learnt, X.iloc[new].reset_index(drop=True), [*numbers], [*words]


def scores_of(model, rows, new, numbers, words, file):
    """Return the scores of rows held out in few and in more parts, and those of new rows, kept in a file."""
    if not file.exists():
        models = {model: make_model(model)}
        [pipeline] = make_ranking_pipelines(models, numbers, words, n_rows=len(rows.y)).values()
        fitted = clone(pipeline).fit(rows.X, rows.y, **fit_params(pipeline, None, rows.times))
        of_parts = [HeldOutScores.of(fitted, rows, n_parts).scores for n_parts in (FEW, MORE)]
        np.savez(file, few=of_parts[0], more=of_parts[1], new=model_scores(fitted, new))
    kept = np.load(file)
    return kept["few"], kept["more"], kept["new"]


def moved(rows, new, numbers):
    """Return whether a column of the new rows has moved, and of a thousand whose strongest driver has."""
    profiles = profiles_of_rows(rows.X, rows.times)
    strength = {
        name: abs(roc_auc_score(rows.y, rows.X[name].fillna(rows.X[name].mean())) - 0.5) for name in numbers
    }
    driver = max(strength, key=strength.get)
    shifted = new[:1000].assign(**{driver: new[driver][:1000] + rows.X[driver].std() / 2.0})
    return most_moved(profiles, new) != "", most_moved(profiles, shifted) != ""


def main():
    folder, found = Path(sys.argv[1]), []
    folder.mkdir(exist_ok=True)
    for name, by_time in product(SETS, (False, True)):
        how = "by time" if by_time else "random"
        for split, (rows, new, numbers, words) in enumerate(splits(name, by_time)):
            differ, shifted = moved(rows, new, numbers)
            for model in MODELS:
                file = folder / f"{name}.{model}.{how.split()[-1]}.{split}.npz"
                few, more, of_new = scores_of(model, rows, new, numbers, words, file)
                held = HeldOutScores(few, parts_of(rows, FEW)), HeldOutScores(more, parts_of(rows, MORE))
                n_rows, budget = len(rows.y), round(len(rows.y) / 10)
                alert = alert_of_parts(rows.positive, *held, budget, n_rows)
                wanted, reaching = len(of_new) * budget / n_rows, (of_new >= alert.threshold).sum()
                low, high = alert.expected(len(of_new))
                by_draw = replace(alert, spread=0.0).expected(len(of_new))
                before = (of_new >= np.sort(few)[-budget]).sum()
                found.append(
                    {
                        "set": name,
                        "splits are": how,
                        "model": model,
                        "splits": 1,
                        "positives": rows.positive.sum(),
                        "by 5 fits": before / wanted,
                        "reach it": reaching / wanted,
                        "expected": 100.0 * (low <= reaching <= high),
                        "by the draw": 100.0 * (by_draw[0] <= reaching <= by_draw[1]),
                        "width": (high - low) / wanted,
                        "differ": 100.0 * differ,
                        "shifted": 100.0 * shifted,
                    }
                )
    table = pd.DataFrame(found)
    print(HEAD)
    for by in (["splits are", "model"], ["splits are", "set"], ["splits are"], ["model"], []):
        groups = table.groupby(by, sort=False) if by else table.assign(all="all splits").groupby("all")
        figures = groups[[*table.columns[4:]]].mean().assign(splits=groups["splits"].sum())
        print(f"\n{figures.round(3).to_string()}")


if __name__ == "__main__":
    main()
