"""How often are sampled reasons within their stated error of exact values, and how long do they take?

    PUSHRANK_DATA=folder python -m benchmarks.reasons > benchmarks/reasons.txt

Exact values of a forest are made of its scores of all 256 subsets of 8 columns, against the same other rows.
Seconds are those of one thread, on 3,000 training rows of a bank's calls.
"""

import os
from itertools import product
from math import comb
from time import perf_counter

import numpy as np
import pandas as pd
from sklearn.ensemble import RandomForestClassifier
from sklearn.model_selection import train_test_split

from pushrank import StackingRanker
from pushrank.cli.model import ensemble_members, make_model, make_ranking_pipelines
from pushrank.datasets import load_dataset
from pushrank.estimators.reasons import leaving, parts_over
from pushrank.estimators.shapley import n_compared
from pushrank.held_out import model_scores

N_ROWS, N_COLUMNS = 200, 8
TIMED = "LightGBM", "gradient boosting", "random forest"


def exact_values(model, X, over):
    """Return Shapley values by the scores of all subsets of columns."""
    subsets = np.array([*product([False, True], repeat=N_COLUMNS)])
    means = [
        model_scores(model, np.where(taken, X[:, None], over).reshape(-1, N_COLUMNS)) for taken in subsets
    ]
    means = np.reshape(means, (len(subsets), len(X), len(over))).mean(axis=2)
    sizes, values = subsets.sum(axis=1), np.zeros((len(X), N_COLUMNS))
    for column in range(N_COLUMNS):
        without = np.flatnonzero(~subsets[:, column])
        # Subsets in this order are binary numbers.
        rises = means[without + 2 ** (N_COLUMNS - 1 - column)] - means[without]
        weights = [1.0 / (N_COLUMNS * comb(N_COLUMNS - 1, size)) for size in sizes[without]]
        values[:, column] = weights @ rises
    return values


def check_errors():
    """Print how far sampled values are from exact ones."""
    data = load_dataset("magic", as_frame=True)
    X, y = data.data.to_numpy()[:, :N_COLUMNS], data.target.to_numpy()
    train, test = train_test_split(np.arange(len(y)), train_size=3000, random_state=0, stratify=y)
    forest = RandomForestClassifier(100, random_state=0).fit(X[train], y[train])
    ranking = test[np.argsort(-model_scores(forest, X[test]), kind="stable")]
    rows, over = X[ranking[:N_ROWS]], X[ranking[N_ROWS : N_ROWS + n_compared(N_COLUMNS)]]
    exact = exact_values(forest, rows, over)
    print(f"A forest of {N_COLUMNS} columns, {N_ROWS} rows against {len(over)}, each value of ten seeds.")
    within, misses, stated = [], [], []
    for seed in range(10):
        parts, errors = parts_over(forest, rows, over, seed)
        assert np.abs(parts.sum(axis=1) - model_scores(forest, rows)).max() < 1e-9
        misses.append(parts[:, :-1] - exact)
        stated.append(errors[:, :-1])
        within.append((np.abs(misses[-1]) <= 1.96 * stated[-1]).mean())
    miss, error = np.sqrt(np.mean(np.square(misses))), np.sqrt(np.mean(np.square(stated)))
    print(
        f"within 1.96 stated standard errors: {100 * np.mean(within):.1f} % ({100 * min(within):.1f} to "
        f"{100 * max(within):.1f} % by seed)"
    )
    print(f"root mean square: miss {miss:.5f}, stated {error:.5f}, value {np.sqrt(np.mean(exact**2)):.5f}")


def time_models():
    """Print the seconds that the reasons of a list of 100 rows take."""
    X = pd.read_parquet(f"{os.environ['PUSHRANK_DATA']}/bank_marketing.parquet")
    y = X.pop("label").to_numpy()
    X = X.drop(columns=["contacted", "duration"])
    texts = [name for name in X if X[name].dtype.kind not in "biuf"]
    numbers = [name for name in X if name not in texts]
    X = X[numbers + texts].astype(dict.fromkeys(numbers, float) | dict.fromkeys(texts, object))
    train, test = train_test_split(np.arange(len(y)), train_size=3000, random_state=0, stratify=y)
    members = ensemble_members(3000)
    models = {name: make_model(name) for name in TIMED}
    models[f"a stack of {len(members)}"] = StackingRanker([*members.items()], random_state=0)
    made = make_ranking_pipelines(models, numbers, texts, n_rows=3000)
    print(f"\n100 rows of bank marketing, {X.shape[1]} columns, 3,000 training rows; {len(members)} members.")
    for name, model in made.items():
        model.fit(X.iloc[train], y[train] == np.unique(y)[-1])
        scores = model_scores(model, X.iloc[test])
        ranking = test[np.argsort(-scores, kind="stable")]
        rows, over = X.iloc[ranking[:100]], X.iloc[ranking[100 : 100 + n_compared(X.shape[1])]]
        start = perf_counter()
        parts, errors = parts_over(model, rows, over)
        seconds = perf_counter() - start
        tried = X.iloc[ranking[np.linspace(0, len(ranking) - 1, 60).astype(int)]]
        leaves = leaving(model, rows, tried, parts, 3, np.sort(scores)[-101])
        both = perf_counter() - start
        off = np.abs(parts.sum(axis=1) - model_scores(model, rows)).max()
        share = np.sqrt(np.mean(errors[:, :-1] ** 2) / np.mean(parts[:, :-1] ** 2))
        print(
            f"{name}: {seconds:.1f} s, and what leaves {both - seconds:.1f} s ({sum(map(bool, leaves))} by "
            f"one column); sums off by {off:.0e}; stated error {100 * share:.1f} % of a value"
        )


if __name__ == "__main__":
    check_errors()
    time_models()
