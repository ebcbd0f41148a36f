"""
How many frauds does the team's list hold at least?
====================================================

A team can look at 150 of tomorrow's 3,000 payments and wants to know what it can sign for: not what the list
holds on average, but what it holds in 19 of 20 weeks like this one. :func:`~pushrank.metrics.guarantee` needs
labelled payments that the model has not seen, and payments to come that are drawn as they were.
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
# Named before anybody looks, k = 150 takes four fifths of the chance of failure; all other depths share the
# rest, so that the team may still look at more or at fewer.
promised = guarantee(y[labelled], scores[labelled], k=150, n_new=3_000)
print(promised.sentence(150))
print(f"expected, without a promise: {promised.expected_hits[promised.depth == 150].item():.0f}")

# %%
# The promise rests on 3,000 labelled payments. How many would do for 35 frauds, in half of all samples?
n_needed = sample_size_for(y[labelled], scores[labelled], k=150, n_new=3_000, hits=35)
print(f"{n_needed:,} labelled payments for 35 frauds")

# %%
# Was it kept? Twelve more days, each with its own list.
days = coming.reshape(12, 3_000)
for day in days:
    best = day[np.argsort(-scores[day])]
    hits = np.cumsum(y[best])
    kept = (hits >= promised.hits_at(np.arange(1, 3_001))).all()
    print(f"{hits[149]} frauds among the first 150; kept at every depth: {kept}")

# %%
# The steps hold at all depths at once; the last day's list runs above them.
from pushrank.plots import GuaranteeDisplay

ax = GuaranteeDisplay(guarantee=promised).plot().ax_
ax.plot(np.arange(1, 3_001), hits, color="black", linewidth=1, label="the last day")
_ = ax.legend()
