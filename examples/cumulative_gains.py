"""Cumulative gains: how much of a list of e-mails must be read to find the spam in it?"""

import argparse

from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from pushrank import PNormPush, RankBoost
from pushrank.datasets import load_dataset
from pushrank.plots import CumulativeGainsDisplay

parser = argparse.ArgumentParser(description=__doc__)
parser.add_argument("picture", help="the file to write, such as picture.png")
picture = parser.parse_args().picture

X, y = load_dataset("spambase", return_X_y=True)
X_train, X_test, y_train, y_test = train_test_split(X, y, test_size=0.3, stratify=y, random_state=0)

ax = None
for model in (LogisticRegression(max_iter=1000), PNormPush(p=4), RankBoost(weak_rankers="stumps")):
    ranker = make_pipeline(StandardScaler(), model).fit(X_train, y_train)
    ax = CumulativeGainsDisplay.from_estimator(ranker, X_test, y_test, ax=ax).ax_
ax.set_title("Spam among 1,381 unseen e-mails")
ax.figure.savefig(picture, dpi=100)
