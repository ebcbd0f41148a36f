"""The left edge of the ROC curve: gamma rays that a telescope finds before the first false alarms."""

import argparse

from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from pushrank import PNormPush, PushBoost
from pushrank.datasets import load_dataset
from pushrank.plots import RocLeftEdgeDisplay

parser = argparse.ArgumentParser(description=__doc__)
parser.add_argument("picture", help="the file to write, such as picture.png")
picture = parser.parse_args().picture

X, y = load_dataset("magic", return_X_y=True)
X_train, X_test, y_train, y_test = train_test_split(X, y, test_size=0.3, stratify=y, random_state=0)

ax = None
for name, model in {
    "logistic regression": LogisticRegression(max_iter=1000),
    "PNormPush(p=16)": PNormPush(p=16),
    "PushBoost(p=16)": PushBoost(p=16, weak_rankers="stumps", n_estimators=200),
}.items():
    ranker = make_pipeline(StandardScaler(), model).fit(X_train, y_train)
    ax = RocLeftEdgeDisplay.from_estimator(ranker, X_test, y_test, name=name, ax=ax).ax_
ax.set_title("MAGIC: 5,706 unseen showers")
ax.figure.savefig(picture, dpi=100)
