"""
Which pairs a push weighs most
==============================

:class:`~pushrank.plots.ConcentrationDisplay` shows what each pair of a positive and a negative contributes to
the objective, both in ranked order (after Rudin 2009, figures 1 and 4). The larger p, the more of the
objective comes from the highest negatives.
"""

from matplotlib import pyplot
from sklearn.datasets import load_breast_cancer
from sklearn.preprocessing import scale

from pushrank import PNormPush
from pushrank.plots import ConcentrationDisplay, DiscountDisplay

X, y = load_breast_cancer(return_X_y=True)
X = scale(X[:, :10])

figure, axes = pyplot.subplots(1, 3, figsize=(13, 4.2), layout="constrained")
for p, ax in zip((1, 4, 16), axes, strict=True):
    ranker = PNormPush(p=p, alpha=0.1).fit(X, y)
    ConcentrationDisplay.from_estimator(ranker, X, y, name=f"PNormPush(p={p})", ax=ax)

# %%
# :class:`~pushrank.plots.DiscountDisplay` shows the cost of an error at each rank, relative to its cost at
# the top, for several pushes and for measures of information retrieval (after figure 3).
_ = DiscountDisplay.from_estimator(ranker, X, y, name="The weight of each rank")
