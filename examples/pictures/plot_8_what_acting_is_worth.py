"""
What is acting on a row worth?
==============================

A hit may pay for nine useless actions, or only for one. :class:`~pushrank.plots.DecisionCurveDisplay` shows,
for every such rate, the net benefit of acting on the rows whose chance of a hit is high enough. Beside it are
the net benefits of acting on all rows and on none.
"""

from sklearn.datasets import make_classification
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import train_test_split

from pushrank.metrics import net_benefit
from pushrank.plots import DecisionCurveDisplay

X, y = make_classification(6000, 12, n_informative=6, weights=[0.9], class_sep=0.8, random_state=0)
X_train, X_test, y_train, y_test = train_test_split(X, y, test_size=0.5, stratify=y, random_state=0)

ax = None
for model in (LogisticRegression(), HistGradientBoostingClassifier(random_state=0)):
    ax = DecisionCurveDisplay.from_estimator(model.fit(X_train, y_train), X_test, y_test, ax=ax).ax_
_ = ax.set_title("Where the lines meet, a model decides nothing")

# %%
# The net benefit of the last model in hits per thousand rows, where one hit pays for nine useless actions: of
# acting on all rows with a chance of a tenth or more, and on the first 300 rows.
chances = model.predict_proba(X_test)[:, 1]
print(f"chance of a tenth or more: {1000 * net_benefit(y_test, chances, threshold=0.1):.1f}")
print(f"first 300 rows: {1000 * net_benefit(y_test, chances, 300, threshold=0.1):.1f}")
