"""Draw the picture of the README: which rankings put the letter H on top?

    python docs/make_picture.py docs/top_of_the_list.png

Needs the letter data, from the folder in PUSHRANK_DATA or from OpenML, and matplotlib.
"""

from __future__ import annotations

import sys

import matplotlib.pyplot as plt
import numpy as np
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import StratifiedShuffleSplit
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from pushrank import PNormPush
from pushrank.datasets import load_dataset

MODELS = {
    "logistic regression": (LogisticRegression(max_iter=1000), "#777777", "--"),
    "PNormPush(p=4)": (PNormPush(p=4), "#56b4e9", "-"),
    "PNormPush(p=64)": (PNormPush(p=64), "#0072b2", "-"),
}
LONGEST = 100


def main() -> None:
    """Average the share of hits among the first N rows over ten random splits."""
    data = load_dataset("letter", positive="H")
    X, y = np.asarray(data.data, dtype=float), np.asarray(data.target)
    shares = {name: [] for name in MODELS}
    for train, test in StratifiedShuffleSplit(10, test_size=0.3, random_state=0).split(X, y):
        for name, (model, *_) in MODELS.items():
            ranker = make_pipeline(StandardScaler(), model).fit(X[train], y[train])
            scores = ranker.decision_function(X[test])
            hits = y[test][np.argsort(-scores)][:LONGEST]
            shares[name].append(np.cumsum(hits) / np.arange(1, LONGEST + 1))
    figure, axes = plt.subplots(figsize=(7, 3.6), layout="constrained")
    for name, (_, colour, line) in MODELS.items():
        mean = np.mean(shares[name], axis=0)
        axes.plot(np.arange(1, LONGEST + 1), mean, line, color=colour, lw=2.2, label=name)
    axes.set(xlabel="rows looked at, from the top of the list", ylabel="share that are hits")
    axes.set_xlim(1, LONGEST)
    axes.set_title("The letter H among 6,000 unseen letters (3.7 % are)", fontsize=11)
    axes.legend(frameon=False)
    axes.spines[["top", "right"]].set_visible(False)
    figure.savefig(sys.argv[1], dpi=110)


if __name__ == "__main__":
    main()
