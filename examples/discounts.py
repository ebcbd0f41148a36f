"""Discount factors: what an error costs at each rank of a list of e-mails, under pushes and measures."""

import argparse

from sklearn.model_selection import train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from pushrank import PNormPush
from pushrank.datasets import load_dataset
from pushrank.plots import DiscountDisplay

parser = argparse.ArgumentParser(description=__doc__)
parser.add_argument("picture", help="the file to write, such as picture.png")
picture = parser.parse_args().picture

X, y = load_dataset("spambase", return_X_y=True)
X_train, X_test, y_train, y_test = train_test_split(X, y, test_size=0.3, stratify=y, random_state=0)

ranker = make_pipeline(StandardScaler(), PNormPush(p=4)).fit(X_train, y_train)
display = DiscountDisplay.from_estimator(ranker, X_test, y_test, name="The weight of each rank, spambase")
display.figure_.savefig(picture, dpi=100)
