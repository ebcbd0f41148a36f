"""The smooth margin's path: it bounds the margin from below and rises towards the largest there is."""

import argparse

from pushrank import SmoothMarginRanking
from pushrank.datasets import load_dataset
from pushrank.plots import TrainingPathDisplay

parser = argparse.ArgumentParser(description=__doc__)
parser.add_argument("picture", help="the file to write, such as picture.png")
picture = parser.parse_args().picture

X, y = load_dataset("ionosphere", return_X_y=True)

ranker = SmoothMarginRanking(weak_rankers="stumps", n_estimators=3000).fit(X, y)
display = TrainingPathDisplay.from_estimator(ranker, quantity="smooth_margin")
display.ax_.set_title("SmoothMarginRanking on ionosphere, with thresholds of features")
display.figure_.savefig(picture, dpi=100)
