"""
Is the plate worth its price?
=============================

A laboratory orders the 384 best of 20,000 compounds, the wells of one plate, if a docking score promises 140
actives among them. 6,000 compounds of the same library were measured before; no model has learnt from them.

The compounds are drawn at random, so that it can be checked how often such a promise is kept.
"""

import numpy as np

from pushrank.metrics import Guaranteed, guarantee, threshold_for
from pushrank.plots import GuaranteeDisplay


def library(n, random):
    """Return which of n compounds are active, and their scores, of which many are equal."""
    active = random.random(n) < 0.03
    return active, np.round(random.normal(size=n) + 1.8 * active, 2)


rng = np.random.default_rng(0)
active, score = library(6_000, rng)

# %%
# The size of the plate is known beforehand, and no other depth matters, so ``together=False`` gives it the
# whole chance of failure. Compounds with equal scores go onto the plate in random order.
plate = guarantee(active, score, k=384, n_new=20_000, together=False)
print(plate.sentence(384))

# %%
# The same rows answer another question: from which score on are at least 30 % of the library active?
cut = threshold_for(active, score, Guaranteed(precision=0.3)).threshold
print(f"from a score of {cut:.2f} on, 30 % of the library are active")

# %%
# How often is such a promise kept? Repeat all of it 50 times: measured compounds, promise, plate.
kept = 0
for _ in range(50):
    promised = guarantee(*library(6_000, rng), k=384, n_new=20_000, together=False).hits_at(384)
    coming, new = library(20_000, rng)
    order = rng.permutation(20_000)
    kept += coming[order[np.argsort(-new[order])][:384]].sum() >= promised
print(f"kept by {kept} of 50 plates")

# %%
# To choose the number of plates afterwards, promise several depths at once. Each promise is then lower.
ax = GuaranteeDisplay(guarantee=plate, name="one plate").plot().ax_
of_all = guarantee(active, score, k=[384, 768, 1152], n_new=20_000)
_ = GuaranteeDisplay(guarantee=of_all, name="any depth").plot(ax)
