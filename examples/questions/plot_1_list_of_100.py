"""
A list of 100 where 2 % are positive
====================================

A `user of LightGBM <https://github.com/lightgbm-org/LightGBM/issues/6031>`__ asked: "98 % of my data is 0
and 2 % is 1. My objective is to give a list of 100 ... Is there any metric that can help me?" This example
does two things: it trains a model for the first 100 rows, and it judges models by their hits there.

The data are recordings of a telescope: a few gamma rays among many showers of other particles.
"""

import numpy as np
from lightgbm import LGBMClassifier, early_stopping
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from pushrank import PushBoost, PushObjective
from pushrank.datasets import load_dataset
from pushrank.interop.lightgbm import LGBMMetric, LGBMObjective
from pushrank.metrics import make_top_scorer
from pushrank.model_selection import compare_rankers
from pushrank.prices import Power

X, y = load_dataset("magic", return_X_y=True)
rows = np.r_[np.flatnonzero(y == 0), np.flatnonzero(y == 1)[:136]]
X, y = X[rows], y[rows]
print(f"{len(y):,} rows, {y.mean():.1%} positive")

# %%
# ``make_top_scorer(k=100)`` is the measure. It works in ``GridSearchCV``, or as LightGBM's ``eval_metric`` by
# :class:`~pushrank.interop.lightgbm.LGBMMetric`. Here it stops training early, with ``k=30`` on 30 % of the
# rows.
# The objective is the P-Norm Push, which wants no false alarm at the top.
push = LGBMObjective(PushObjective(price=Power(4), scale="log"))
learnt, held, y_learnt, y_held = train_test_split(X, y, test_size=0.3, stratify=y, random_state=0)
stopped = LGBMClassifier(objective=push, metric="None", num_leaves=7, n_jobs=1, verbose=-1).fit(
    learnt,
    y_learnt,
    eval_X=held,
    eval_y=y_held,
    eval_metric=LGBMMetric(make_top_scorer(k=30)),
    callbacks=[early_stopping(10, verbose=False)],
)
print(f"best after {stopped.best_iteration_} rounds")

# %%
# Which model finds most? ``budget=100`` counts hits among the first 100 of all rows, by five-fold
# cross-validation. With so few positives no difference is beyond chance, and the verdict says so.
models = {
    "logistic regression": make_pipeline(StandardScaler(), LogisticRegression()),
    "LightGBM": LGBMClassifier(n_jobs=1, verbose=-1),
    "LightGBM, p = 4": LGBMClassifier(objective=push, n_jobs=1, verbose=-1),
    "boosted stumps, p = 16": PushBoost(16, n_estimators=100),
}
found = compare_rankers(models, X, y, budget=100, random_state=0)
for name in models:
    mean, error = found.mean(name, "hits in budget"), found.standard_error(name, "hits in budget")
    print(f"{name:24}{mean:5.1f} ± {error:.1f}")
print(found)

# %%
# The precision at each length of the list, on rows that no model had seen.
from pushrank.plots import TopCurveDisplay

ax = None
for name in ("logistic regression", "LightGBM", "LightGBM, p = 4"):
    ax = TopCurveDisplay.from_predictions(y, found.held_out_[name], name=name, ax=ax).ax_
_ = ax.axvline(100, color="grey", linewidth=1)
