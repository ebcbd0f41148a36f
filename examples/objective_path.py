"""The objective's path: quasi-Newton, Newton and boosting steps towards the same minimum."""

import argparse

from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from pushrank import PNormPush, PushBoost
from pushrank.datasets import load_dataset
from pushrank.plots import TrainingPathDisplay

parser = argparse.ArgumentParser(description=__doc__)
parser.add_argument("picture", help="the file to write, such as picture.png")
picture = parser.parse_args().picture

X, y = load_dataset("ionosphere", return_X_y=True)

rankers = {
    "lbfgs": PNormPush(p=4, alpha=0.1),
    "newton-cg": PNormPush(p=4, alpha=0.1, solver="newton-cg"),
    "coordinate": PushBoost(p=4, alpha=0.1, weak_rankers="columns", n_estimators=200),
}
displays = [
    TrainingPathDisplay.compute(make_pipeline(StandardScaler(), ranker).fit(X, y), name=name)
    for name, ranker in rankers.items()
]
lowest = min(display.path.min() for display in displays)

ax = None
for display in displays:
    ax = display.plot(ax, above=lowest).ax_
ax.set_title("PNormPush(p=4) on ionosphere")
ax.figure.savefig(picture, dpi=100)
