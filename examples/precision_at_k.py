"""Precision at k: looking for the letter H among unseen letters, 3.7 % of which are."""

import argparse

from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from pushrank import PNormPush
from pushrank.datasets import load_dataset
from pushrank.plots import PrecisionAtKDisplay

parser = argparse.ArgumentParser(description=__doc__)
parser.add_argument("picture", help="the file to write, such as picture.png")
picture = parser.parse_args().picture

X, y = load_dataset("letter", positive="H", return_X_y=True)
X_train, X_test, y_train, y_test = train_test_split(X, y, test_size=0.3, stratify=y, random_state=0)

ax = None
for name, model in {
    "logistic regression": LogisticRegression(max_iter=1000),
    "PNormPush(p=4)": PNormPush(p=4),
    "PNormPush(p=64)": PNormPush(p=64),
}.items():
    ranker = make_pipeline(StandardScaler(), model).fit(X_train, y_train)
    ax = PrecisionAtKDisplay.from_estimator(ranker, X_test, y_test, name=name, ax=ax).ax_
ax.set_title("The letter H among 6,000 unseen letters")
ax.figure.savefig(picture, dpi=100)
