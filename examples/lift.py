"""Lift: how many times as many of the rare letter does a list find as a random order would?"""

import argparse

from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from pushrank import PNormPush
from pushrank.datasets import load_dataset
from pushrank.plots import LiftDisplay

parser = argparse.ArgumentParser(description=__doc__)
parser.add_argument("picture", help="the file to write, such as picture.png")
picture = parser.parse_args().picture

X, y = load_dataset("letter", positive="H", return_X_y=True)
X_train, X_test, y_train, y_test = train_test_split(X, y, test_size=0.3, stratify=y, random_state=0)

ax = None
for name, model in {
    "logistic regression": LogisticRegression(max_iter=1000),
    "PNormPush(p=16)": PNormPush(p=16),
    "HistGradientBoosting, 30 rounds": HistGradientBoostingClassifier(max_iter=30),
}.items():
    ranker = make_pipeline(StandardScaler(), model).fit(X_train, y_train)
    ax = LiftDisplay.from_estimator(ranker, X_test, y_test, name=name, ax=ax).ax_
ax.set_title("Letter H among 6,000 unseen letters")
ax.figure.savefig(picture, dpi=100)
