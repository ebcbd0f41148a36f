"""Is the row "ensemble", where it is not nested, of a comparison too good, and what does it cost?

    PUSHRANK_DATA=... python -m experiments.ensemble.nested > experiments/ensemble/nested.txt

The row adds models up by weights that come from the other test parts, whose scores are by models that have
seen the part that is measured. Nested, the whole is fitted to every training part. Both on the same folds.
"""

from __future__ import annotations

import argparse
import time
import warnings

import numpy as np
from lightgbm import LGBMClassifier
from sklearn.ensemble import ExtraTreesClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from threadpoolctl import threadpool_limits

from experiments.protocol import cut_rows, versions
from pushrank import PNormPush, PushBoost, StackingRanker
from pushrank.datasets import load_dataset
from pushrank.model_selection import compare_rankers
from pushrank.model_selection.comparison import TOGETHER

SETS = ("adult_a9a", "magic", "spambase", "letter", "cover_odds", "ijcnn1")
N_ROWS, QUICK_ROWS, SHARE = 2500, 2000, 0.02
MEASURES = ("hits in budget", "average precision", "AUC")


def models(quick: bool) -> dict:
    """Return the models to add up."""
    n_trees = 5 if quick else 100
    return {
        "logistic regression": make_pipeline(StandardScaler(), LogisticRegression(max_iter=1000)),
        "P-Norm Push": make_pipeline(StandardScaler(), PNormPush(16.0)),
        "boosted stumps": PushBoost(16.0, n_estimators=n_trees),
        "LightGBM": LGBMClassifier(n_estimators=n_trees, n_jobs=1, verbose=-1, random_state=0),
        "extra trees": ExtraTreesClassifier(n_trees, random_state=0),
    }


def main() -> None:
    """Compare the row with the nested figure on six sets."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--quick", action="store_true", help="one set, small models, in seconds")
    quick = parser.parse_args().quick
    print(versions())
    print(f"{'set':10s}{'':18s}" + "".join(f"{name:>20s}" for name in MEASURES) + f"{'seconds':>10s}")
    with warnings.catch_warnings(), threadpool_limits(limits=1):
        warnings.simplefilter("ignore")
        for name in SETS[2:3] if quick else SETS:
            X, y = cut_rows(
                lambda of=name: load_dataset(of, return_X_y=True), QUICK_ROWS if quick else N_ROWS
            )
            X, budget = (
                X.toarray() if hasattr(X, "toarray") else np.asarray(X, dtype=float),
                round(SHARE * len(y)),
            )
            of = models(quick)
            stack = StackingRanker(list(of.items()), random_state=0)
            start = time.process_time()
            alone = compare_rankers(of, X, y, budget=budget, random_state=0)
            middle = time.process_time()
            row = compare_rankers(of, X, y, budget=budget, together=True, random_state=0)
            end = time.process_time()
            nested = compare_rankers({**of, "nested": stack}, X, y, budget=budget, random_state=0)
            shown = (
                (f"alone: {alone.chosen_[:10]}", alone, alone.chosen_, middle - start),
                ("not nested", row, TOGETHER, end - middle),
                ("nested", nested, "nested", time.process_time() - end),
            )
            for what, comparison, model, seconds in shown:
                cells = "".join(f"{comparison.mean_and_error(model, measure):>20s}" for measure in MEASURES)
                print(f"{name:10s}{what:18s}{cells}{seconds:10.1f}", flush=True)


if __name__ == "__main__":
    main()
