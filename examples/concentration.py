"""Concentration: the larger p, the more of the objective lies with the highest negatives."""

import argparse

from matplotlib import pyplot
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from pushrank import PNormPush
from pushrank.datasets import load_dataset
from pushrank.plots import ConcentrationDisplay

parser = argparse.ArgumentParser(description=__doc__)
parser.add_argument("picture", help="the file to write, such as picture.png")
picture = parser.parse_args().picture

X, y = load_dataset("spambase", return_X_y=True)

figure, axes = pyplot.subplots(1, 3, figsize=(13, 4.2), layout="constrained")
for p, ax in zip((1, 4, 16), axes, strict=True):
    ranker = make_pipeline(StandardScaler(), PNormPush(p=p, alpha=0.1)).fit(X, y)
    ConcentrationDisplay.from_estimator(ranker, X, y, name=f"PNormPush(p={p})", ax=ax)
figure.savefig(picture, dpi=80)
