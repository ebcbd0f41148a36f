"""What a search for a budget chose from: the precision of every family, and its average precision."""

import argparse

from matplotlib import pyplot
from sklearn.preprocessing import scale

from pushrank import TopRankerCV
from pushrank.datasets import load_dataset
from pushrank.plots import CandidatesDisplay

parser = argparse.ArgumentParser(description=__doc__)
parser.add_argument("picture", help="the file to write, such as picture.png")
picture = parser.parse_args().picture

X, y = load_dataset("magic", return_X_y=True)
search = TopRankerCV(fraction_of_positives=0.25, random_state=0).fit(scale(X), y)

figure, ax = pyplot.subplots(figsize=(7, 3.2), layout="constrained")
CandidatesDisplay.from_estimator(search, ax=ax)
figure.savefig(picture, dpi=80)
