"""
What will the crew find on a coming day?
========================================

A crew inspects ten of the day's items. Items of a day come from the same shift and the same batch, so they
are not independent, and a promise by rows would be broken. :func:`~pushrank.metrics.guarantee_days` counts
each past day as one. Items of a day may be alike; only the days must be exchangeable with each other.

Here an item is a hit if it is a gamma ray of the telescope's data, and every day has its own share of them.
"""

import numpy as np
from sklearn.ensemble import HistGradientBoostingClassifier

from pushrank.datasets import load_dataset
from pushrank.metrics import guarantee, guarantee_days

X, y = load_dataset("magic", return_X_y=True)
rng = np.random.default_rng(0)
fitted, rest = np.split(rng.permutation(len(y)), [4_000])
model = HistGradientBoostingClassifier(random_state=0).fit(X[fitted], y[fitted])
scores = model.predict_proba(X)[:, 1]


def draw_days(n_days, n_items=60):
    """Return the items of each day, a row a day; every day draws its own share of hits."""
    hits, others = rest[y[rest] == 1], rest[y[rest] == 0]
    share = rng.beta(4.0, 8.0, n_days)
    is_hit = rng.random((n_days, n_items)) < share[:, None]
    return np.where(is_hit, rng.choice(hits, is_hit.shape), rng.choice(others, is_hit.shape))


def found_by_ten(days):
    """Return the hits among the first ten items of each day."""
    first = np.argsort(-scores[days], axis=1)[:, :10]
    return np.take_along_axis(y[days], first, axis=1).sum(axis=1)


# %%
# What do 99 past days promise for one coming day, and for the next 20 together?
past = draw_days(99)
of_rows = {"y_true": y[past.ravel()], "scores": scores[past.ravel()]}
days = np.repeat(np.arange(99), 60)
one = guarantee_days(**of_rows, days=days, k=10)
many = guarantee_days(**of_rows, days=days, k=10, n_coming=20)
print(one)
print(many)

# %%
# A promise by rows takes all items as drawn independently. It promises more, and is broken too often.
by_rows = guarantee(**of_rows, k=10, n_new=60)
kept = np.mean(found_by_ten(draw_days(2_000)) >= by_rows.hits_at(10))
print(f"{by_rows.sentence(10)} This is kept on {kept:.0%} of days.")
print(f"The promise by days is kept on {np.mean(found_by_ten(draw_days(2_000)) >= one.hits):.0%} of days.")

# %%
# The promise by rows, and the hits of 40 days.
from pushrank.plots import GuaranteeDisplay

ax = GuaranteeDisplay(guarantee=by_rows, name="if items were independent").plot().ax_
ax.plot(np.full(40, 10) * 1.03 ** rng.uniform(-1, 1, 40), found_by_ten(draw_days(40)), "k.", label="40 days")
_ = ax.legend()
