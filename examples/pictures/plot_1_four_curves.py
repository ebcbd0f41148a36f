"""
Four pictures of one list
=========================

The list ranks handwritten digits by how much they look like an eight; a tenth of them are eights.

* :class:`~pushrank.plots.TopCurveDisplay` draws the precision: of the first k rows, how many are hits? The
  axis is logarithmic, so that the top has room; the bands are Wilson's 95 % intervals, each valid at one k.
* :class:`~pushrank.plots.RocLeftEdgeDisplay` draws the hits above each false alarm. The usual axis gives the
  first 1 % of false alarms a hundredth of the picture; a logarithmic one gives it half.
* ``quantity="recall"`` draws the cumulative gains: the share of all hits against the share of the list.
* ``quantity="lift"`` draws how many times as many hits there are as in a random order. The same by tenths, as
  numbers, is :func:`~pushrank.metrics.gains_table`.
"""

from matplotlib import pyplot
from sklearn.datasets import load_digits
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from pushrank import PNormPush, PushBoost
from pushrank.plots import RocLeftEdgeDisplay, TopCurveDisplay

X, y = load_digits(return_X_y=True)
X_train, X_test, y_train, y_test = train_test_split(X, y == 8, test_size=0.5, stratify=y, random_state=0)

figure, axes = pyplot.subplots(2, 2, figsize=(10, 7.5), layout="constrained")
for name, model in {
    "logistic regression": LogisticRegression(max_iter=1000),
    "PNormPush(p=16)": PNormPush(p=16, alpha=0.1),
    "PushBoost(p=16)": PushBoost(p=16, n_estimators=100),
}.items():
    ranker = make_pipeline(StandardScaler(), model).fit(X_train, y_train)
    for quantity, ax in zip(("precision", "recall", "lift"), axes.flat[[0, 2, 3]], strict=True):
        TopCurveDisplay.from_estimator(ranker, X_test, y_test, quantity=quantity, name=name, ax=ax)
    RocLeftEdgeDisplay.from_estimator(ranker, X_test, y_test, name=name, ax=axes[0, 1])
