"""
How many frauds does the team's list hold at least?
====================================================

A team can look at 150 of tomorrow's 3,000 payments and wants a number of frauds that it can promise: not what
the list holds on average, but what it holds at least, with 95 % confidence. For this
:func:`~pushrank.metrics.guarantee` needs labelled payments that the model has not seen, and payments to come
that are drawn in the same way.
"""

import numpy as np
from sklearn.datasets import make_classification

from pushrank import PushBoost
from pushrank.metrics import guarantee, sample_size_for

X, y = make_classification(
    45_000, 12, n_informative=6, weights=[0.95], flip_y=0.02, class_sep=0.8, random_state=0
)
fitted, labelled, coming = np.split(np.arange(45_000), [6_000, 9_000])
model = PushBoost(4, n_estimators=100).fit(X[fitted], y[fitted])
scores = model.decision_function(X)

# %%
# Name the depth that you need, ``k=150``, before you look. It gets four fifths of the chance of failure. All
# other depths share the rest, so that the team may still look at more rows or at fewer.
promised = guarantee(y[labelled], scores[labelled], k=150, n_new=3_000)
print(promised.sentence(150))
print(f"expected, without a promise: {promised.expected_hits[promised.depth == 150].item():.0f}")

# %%
# The promise rests on 3,000 labelled payments. How many are enough to promise 35 frauds, in half of all
# samples?
n_needed = sample_size_for(y[labelled], scores[labelled], k=150, n_new=3_000, hits=35)
print(f"{n_needed:,} labelled payments for 35 frauds")

# %%
# Was the promise kept? Here are twelve more days, each with its own list.
days = coming.reshape(12, 3_000)
for day in days:
    best = day[np.argsort(-scores[day])]
    hits = np.cumsum(y[best])
    kept = (hits >= promised.hits_at(np.arange(1, 3_001))).all()
    print(f"{hits[149]} frauds among the first 150; kept at every depth: {kept}")

# %%
# The promise, drawn as steps, holds at all depths at once. The list of the last day is above it.
from pushrank.plots import GuaranteeDisplay

ax = GuaranteeDisplay(guarantee=promised).plot().ax_
ax.plot(np.arange(1, 3_001), hits, color="black", linewidth=1, label="the last day")
_ = ax.legend()
