"""
How far down the list is it worth looking?
==========================================

:class:`~pushrank.plots.TopReliabilityDisplay` shows the share of hits in each stretch of the list, with
intervals. If the model gives probabilities, it also shows the share that the model predicted.
"""

from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from pushrank import PushBoost
from pushrank.datasets import load_dataset
from pushrank.plots import TopReliabilityDisplay

X, y = load_dataset("magic", return_X_y=True)
X_train, X_test, y_train, y_test = train_test_split(X, y, test_size=0.5, stratify=y, random_state=0)

ax = None
for model in (LogisticRegression(), PushBoost(16, n_estimators=100)):
    ranker = make_pipeline(StandardScaler(), model).fit(X_train, y_train)
    ax = TopReliabilityDisplay.from_estimator(ranker, X_test, y_test, ax=ax).ax_
_ = ax.set_title("Gamma rays among 9,510 unseen showers")
