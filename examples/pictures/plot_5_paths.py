"""
The path of a fit
=================

:class:`~pushrank.plots.TrainingPathDisplay` shows the objective after every iteration, or its distance to the
minimum. It needs only the fitted ranker. Here it compares quasi-Newton, Newton and boosting steps.
"""

from sklearn.datasets import load_breast_cancer
from sklearn.preprocessing import scale

from pushrank import PNormPush, PushBoost, SmoothMarginRanking
from pushrank.plots import TrainingPathDisplay

X, y = load_breast_cancer(return_X_y=True)
X = scale(X)

rankers = {
    "lbfgs": PNormPush(p=4, alpha=0.1),
    "newton-cg": PNormPush(p=4, alpha=0.1, solver="newton-cg"),
    "coordinate": PushBoost(p=4, alpha=0.1, weak_rankers="columns", n_estimators=200),
}
displays = [TrainingPathDisplay.compute(ranker.fit(X, y), name=name) for name, ranker in rankers.items()]
lowest = min(display.path.min() for display in displays)
ax = None
for display in displays:
    ax = display.plot(ax, above=lowest).ax_

# %%
# ``quantity="smooth_margin"`` shows the smooth margin after every round of
# :class:`~pushrank.SmoothMarginRanking`, and the margin, of which it is a lower bound.
ranker = SmoothMarginRanking(weak_rankers="stumps", n_estimators=1000).fit(X, y)
_ = TrainingPathDisplay.from_estimator(ranker, quantity="smooth_margin")
