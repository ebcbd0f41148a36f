"""
How much money is in the first 100 rows?
========================================

Frauds differ in their amounts, and a list should catch the large ones. This example measures the money in the
first 100 transactions, compares two models by it, and asks whether amounts should be weights in training.
"""

import numpy as np
from matplotlib import pyplot
from sklearn.datasets import make_classification
from sklearn.model_selection import train_test_split

from pushrank import PushBoost
from pushrank.metrics import AtBudget, measure, threshold_for, value_at_k

X, y = make_classification(
    12_000, 12, n_informative=6, weights=[0.96], flip_y=0.02, class_sep=0.8, random_state=0
)
amount = np.random.default_rng(0).lognormal(5 + 0.5 * X[:, 0], 1).round(2)
X_train, X_test, y_train, y_test, amount_train, amount_test = train_test_split(
    X, y, amount, test_size=0.5, stratify=y, random_state=0
)

plain = PushBoost(4, n_estimators=100).fit(X_train, y_train)
weights = np.where(y_train == 1, amount_train / amount_train[y_train == 1].mean(), 1.0)
by_amount = PushBoost(4, n_estimators=100).fit(X_train, y_train, sample_weight=weights)
scores = {"equal hits": plain.decision_function(X_test), "by amount": by_amount.decision_function(X_test)}

# %%
# ``value`` is what a row is worth if it is a hit. To train with the amounts as weights need not help: here it
# finds fewer frauds, and no more money.
found = measure(y_test, scores, k=100, value=amount_test, random_state=0)
print(found)

# %%
# The threshold is the score of the hundredth row. The interval says how far it would move with other rows.
cut = threshold_for(y_test, scores["by amount"], AtBudget(100), random_state=0)
print(f"threshold {cut.threshold:.2f} ({cut.low:.2f} to {cut.high:.2f})")

# %%
# The money at every length of the list.
figure, ax = pyplot.subplots(layout="constrained")
depths = np.arange(10, 1001, 10)
for name, score in scores.items():
    ax.plot(depths, [value_at_k(y_test, score, k, value=amount_test) for k in depths], label=name)
ax.axvline(100, color="grey", linewidth=1)
ax.set(xlabel="rows looked at", ylabel="money found")
_ = ax.legend()
