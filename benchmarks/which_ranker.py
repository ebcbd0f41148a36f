"""What does every ranker cost to fit, and what does it get right, on three data sets?

    export OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 NUMBA_NUM_THREADS=1
    PUSHRANK_DATA=folder python benchmarks/which_ranker.py > benchmarks/which_ranker.txt

A cost is the median over the splits of the processor time of ``fit`` over that of ``LogisticRegression`` on
the same rows, on one thread: on two the latter takes several times as long to fit rows as few as these.
Measures are means over the test parts.
"""

from __future__ import annotations

import argparse
import time
import warnings

import numpy as np
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import StratifiedShuffleSplit
from sklearn.preprocessing import StandardScaler

import pushrank
from pushrank import metrics
from pushrank.datasets import load_dataset

RANKERS = {
    "LogisticRegression": LogisticRegression(max_iter=1000),
    "PNormPush": pushrank.PNormPush(alpha=0.01),
    "PNormPush(64)": pushrank.PNormPush(64, alpha=0.01),
    "IRPush": pushrank.IRPush(alpha=0.01),
    "PNormPush, pull": pushrank.PNormPush(side="pull", alpha=0.01),
    "PNormPush, both": pushrank.PNormPush(side="both", alpha=0.01),
    'PushRanker("logistic", Power(4))': pushrank.PushRanker("logistic", pushrank.prices.Power(4), alpha=0.01),
    "PNormPushCV": pushrank.PNormPushCV(),
    "InfinitePush(100)": pushrank.InfinitePush(100),
    'InfinitePush(100, loss="squared_hinge")': pushrank.InfinitePush(100, loss="squared_hinge"),
    "RankSVM(100)": pushrank.RankSVM(100),
    "SVMMAP(100)": pushrank.SVMMAP(100),
    "PerceptronAtK, avg": pushrank.PerceptronAtK(variant="avg", random_state=0),
    "SGDAtK, avg": pushrank.SGDAtK(surrogate="avg", random_state=0),
    "1PMB": pushrank.SGDAtK(surrogate="struct", radius=10.0, max_iter=1, random_state=0),
    "RampAtK": pushrank.RampAtK(),
    "TrimmedPush": pushrank.TrimmedPush(),
    "TopRankerCV": pushrank.TopRankerCV(random_state=0),
    "StructSVM": pushrank.StructSVM(),
    "RankBoost": pushrank.RankBoost(),
    'PushBoost(16, weak_rankers="stumps")': pushrank.PushBoost(16, weak_rankers="stumps", n_estimators=100),
    "AdaBoostRanker": pushrank.AdaBoostRanker(),
}  # fmt: skip
DATA = {
    "MAGIC": lambda: load_dataset("magic", return_X_y=True),
    "spambase": lambda: load_dataset("spambase", return_X_y=True),
    "letter H": lambda: load_dataset("letter", positive="H", return_X_y=True),
}
MEASURES = {
    "positives at top": metrics.positives_at_top,
    "precision at 100": lambda y, s: metrics.precision_at_k(y, s, 100),
    "average precision": metrics.average_precision,
    "AUC": metrics.auc,
}


def main() -> None:
    """Print a table for each data set."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--splits", type=int, default=5)
    splitter = StratifiedShuffleSplit(parser.parse_args().splits, test_size=0.3, random_state=0)
    warnings.simplefilter("ignore")
    for name, load in DATA.items():
        X, y = load()
        splits = list(splitter.split(X, y))
        print(
            f"\n{name}: {len(splits[0][0])} x {X.shape[1]} to learn from, {100 * np.mean(y == y.max()):.1f} %"
        )
        print(f"{'':41}{'cost':>8}", *(f"{measure:>18}" for measure in MEASURES))
        base = []
        for title, ranker in RANKERS.items():
            seconds, found = [], []
            for train, test in splits:
                scale = StandardScaler().fit(X[train])
                rows = scale.transform(X[train])
                if not found:
                    ranker.fit(rows, y[train])  # compiles
                start = time.process_time()
                ranker.fit(rows, y[train])
                seconds.append(time.process_time() - start)
                scores = ranker.decision_function(scale.transform(X[test]))
                found.append([measure(y[test], scores) for measure in MEASURES.values()])
            base = base or seconds
            cost = np.median(np.array(seconds) / base)
            print(f"{title:41}{cost:8.1f}", *(f"{mean:18.3f}" for mean in np.mean(found, axis=0)), flush=True)


if __name__ == "__main__":
    main()
