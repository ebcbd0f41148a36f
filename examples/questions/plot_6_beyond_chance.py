"""
Is the difference more than chance?
===================================

A model that finds more on one split may find less on the next.
:func:`~pushrank.model_selection.compare_rankers` fits every model on the same folds, names those that may be
the best, and gives each difference an interval, for all of them together.
"""

from lightgbm import LGBMClassifier
from matplotlib import pyplot
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from pushrank import IRPush, PNormPush, PushBoost
from pushrank.datasets import load_dataset
from pushrank.model_selection import compare_rankers

X, y = load_dataset("magic", return_X_y=True)  # gamma rays among showers of particles
X, y, BUDGET = X[::4], y[::4], 400
linear = {
    "logistic regression": LogisticRegression(),
    "P-Norm Push, p = 16": PNormPush(p=16),
    "IR Push": IRPush(),
}
models = {name: make_pipeline(StandardScaler(), model) for name, model in linear.items()} | {
    "boosted stumps, p = 16": PushBoost(16, n_estimators=100),
    "LightGBM": LGBMClassifier(n_jobs=1, verbose=-1),
}
found = compare_rankers(models, X, y, budget=BUDGET, random_state=0)
print(found)

# %%
# The differences from the baseline, each with its 95 % interval. The intervals of all pairs of models hold
# together.
baseline, *others = models
figure, ax = pyplot.subplots(figsize=(7.2, 2.4), layout="constrained")
for row, name in enumerate(reversed(others)):
    difference = found.difference(name, baseline)
    color = "tab:blue" if difference.more_than_chance else "tab:gray"
    ax.plot([difference.low, difference.high], [row, row], color=color)
    ax.plot(difference.mean, row, "o", color=color)
ax.axvline(0.0, color="black", linewidth=1)
ax.set(yticks=range(len(others)), yticklabels=reversed(others), ylim=(-0.5, len(others) - 0.5))
_ = ax.set_xlabel(f"more gamma rays in the first {BUDGET} of {len(y):,} rows than by {baseline}")
