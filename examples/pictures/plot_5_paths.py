"""
The path of a fit
=================

Push rankers and boosting keep their objective at the start and after every iteration in ``objective_path_``.
Here matplotlib draws its distance to the minimum for quasi-Newton, Newton and boosting steps.
"""

from matplotlib import pyplot
from sklearn.datasets import load_breast_cancer
from sklearn.preprocessing import scale

from pushrank import PNormPush, PushBoost, SmoothMarginRanking

X, y = load_breast_cancer(return_X_y=True)
X = scale(X)

rankers = {
    "lbfgs": PNormPush(p=4, alpha=0.1),
    "newton-cg": PNormPush(p=4, alpha=0.1, solver="newton-cg"),
    "coordinate": PushBoost(p=4, alpha=0.1, weak_rankers="columns", n_estimators=200),
}
paths = {name: ranker.fit(X, y).objective_path_ for name, ranker in rankers.items()}
lowest = min(path.min() for path in paths.values())

_, ax = pyplot.subplots(layout="constrained")
for name, path in paths.items():
    above = path - lowest
    ax.plot(above[above > 0.0], label=name)
ax.set(xlabel="iteration", ylabel="objective above its minimum", yscale="log")
_ = ax.legend()

# %%
# ``smooth_margin_path_`` of :class:`~pushrank.SmoothMarginRanking` holds the smooth margin after every round,
# which is a lower bound of the margin. The first ones are far below zero, and are left out.
ranker = SmoothMarginRanking(weak_rankers="stumps", n_estimators=1000).fit(X, y)
path = ranker.smooth_margin_path_
rounds = (path >= -ranker.margin_).nonzero()[0]

_, ax = pyplot.subplots(layout="constrained")
ax.plot(rounds, path[rounds], label="smooth margin")
ax.axhline(ranker.margin_, color="gray", linestyle="--", label="margin reached")
ax.set(xlabel="rounds", xscale="log")
_ = ax.legend()
