"""Differences of hits between two lists of a DUD target that share nearly all of them.

python -m experiments.verdicts.lists > experiments/verdicts/lists.txt
"""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np
import pandas as pd
from sklearn.feature_extraction.text import HashingVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import train_test_split

from pushrank import PNormPush, metrics

TARGETS = ("ace", "fgfr1", "parp", "vegfr2")


def main() -> None:
    """Print a line for each target and number of first rows."""
    molecules = pd.read_parquet(Path(os.environ["PUSHRANK_DATA"]) / "vs_dud.parquet")
    print("target    k  hits  on one list only: rows, hits  difference  95 % interval")
    for target in TARGETS:
        rows = molecules[molecules["target"] == target]
        y = (rows["label"] == "active").to_numpy()
        # Whether a molecule's formula has each of 512 sets of up to four characters in a row.
        grams = HashingVectorizer(
            analyzer="char",
            ngram_range=(1, 4),
            n_features=512,
            norm=None,
            alternate_sign=False,
            lowercase=False,
        )
        X = grams.transform(rows["SMILES"]).toarray().clip(0.0, 1.0)
        train, test = train_test_split(np.arange(len(y)), test_size=0.5, stratify=y, random_state=0)
        models = {"logistic": LogisticRegression(max_iter=2000), "push": PNormPush(p=4)}
        scores = {
            name: model.fit(X[train], y[train]).decision_function(X[test]) for name, model in models.items()
        }
        for k in range(50, 151, 25):
            found = metrics.measure(y[test], scores, k=k, random_state=0)
            first, second = (set(np.argsort(-of_model)[:k]) for of_model in scores.values())
            apart = list(first ^ second)
            hits = found.differences["push"]["hits"]
            print(
                f"{target:7s}{k:4d}{found.measures['push']['hits'].estimate:6.0f}{len(apart):24d}{y[test][apart].sum():6d}"
                f"{hits.difference:+12.1f}  {hits.low:+.1f} to {hits.high:+.1f}"
            )


if __name__ == "__main__":
    main()
