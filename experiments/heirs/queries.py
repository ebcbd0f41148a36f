"""Rankers of query groups on LightGBM's example of learning to rank, beside its lambdarank.

    PUSHRANK_DATA=... python -m experiments.heirs.queries

The 201 training queries choose one parameter of each model, of three values, on their last 50, by NDCG at 10;
the model of all 201 is measured on the 50 test queries. Rankers of two classes take rows of grade 2 and above
as positive; precision at 5 and at 10 counts the same rows. Standard errors are over the test queries, paired
with lambdarank's in the difference.
"""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import lightgbm
import numpy as np
from sklearn.exceptions import ConvergenceWarning
from sklearn.preprocessing import StandardScaler

from experiments.heirs.largest_share import LargestShare
from pushrank import (
    SVMMAP,
    InfinitePush,
    PNormPush,
    PushRanker,
    RampAtK,
    RankSVM,
    StructSVM,
    TrimmedPush,
    metrics,
)
from pushrank.datasets import load_dataset

RELEVANT = 2
LAST = 50
MEASURES = ("NDCG@10", "precision@5", "precision@10")
BASELINE = "LightGBM lambdarank"


def lambdarank(leaves: float) -> lightgbm.LGBMRanker:
    """Return LightGBM's ranker."""
    return lightgbm.LGBMRanker(num_leaves=int(leaves), n_estimators=100, verbosity=-1, n_jobs=1)


# A model, its values of one parameter, and whether it takes grades or two classes.
MODELS: dict[str, tuple[Callable[[float], Any], list[float], bool]] = {
    BASELINE: (lambdarank, [3, 7, 31], True),
    "RankSVM": (lambda C: RankSVM(C), [0.1, 1.0, 10.0], True),
    "PNormPush(4)": (lambda alpha: PNormPush(4, alpha=alpha), [1e-2, 0.1, 1.0], True),
    "PushRanker, LargestShare(.3)": (
        lambda alpha: PushRanker("logistic", LargestShare(0.3), alpha=alpha, tol=1e-3),
        [1e-3, 1e-2, 0.1],
        True,
    ),
    "InfinitePush": (lambda C: InfinitePush(C, tol=1e-2), [1e2, 1e3, 1e4], False),
    "TrimmedPush(.25, 4)": (lambda alpha: TrimmedPush(0.25, p=4, alpha=alpha), [1e-2, 0.1, 1.0], False),
    "RampAtK(.25)": (lambda C: RampAtK(0.25, C=C, random_state=0), [1.0, 10.0, 100.0], False),
    "SVMMAP": (lambda C: SVMMAP(C, tol=1e-2), [1.0, 10.0, 100.0], False),
    "StructSVM(prbep)": (lambda C: StructSVM(C, measure="prbep", tol=1e-2), [1.0, 10.0, 100.0], False),
    "StructSVM(partial_auc, .3)": (
        lambda C: StructSVM(C, measure="partial_auc", max_fpr=0.3, tol=1e-2),
        [1.0, 10.0, 100.0],
        False,
    ),
}


def fit(model: Any, graded: bool, X: Any, grades: Any, qid: Any) -> Any:
    """Return a model fitted to queries, whose rows follow each other."""
    if isinstance(model, lightgbm.LGBMRanker):
        return model.fit(X, grades, group=np.unique(qid, return_counts=True)[1])
    return model.fit(X, grades if graded else (grades >= RELEVANT).astype(int), qid=qid)


def scores_of(model: Any, X: Any) -> Any:
    """Return a model's scores."""
    return model.predict(X) if isinstance(model, lightgbm.LGBMRanker) else model.decision_function(X)


def measures(grades: Any, scores: Any, qid: Any) -> np.ndarray:
    """Return NDCG at 10 and precision at 5 and 10 of each query, shape (n_queries, 3)."""
    found = []
    for query in np.unique(qid):
        rows = qid == query
        hits = grades[rows][np.argsort(-scores[rows], kind="stable")] >= RELEVANT
        gain = metrics.ndcg_at_k(grades[rows], scores[rows], k=10) if grades[rows].any() else 0.0
        found.append((gain, hits[:5].mean(), hits[:10].mean()))
    return np.array(found)


def main() -> None:
    """Choose, fit, measure, print, and keep the table."""
    data = load_dataset("lambdarank_example")
    X, grades, qid = data.data, np.asarray(data.target), np.asarray(data.qid)
    order = np.argsort(qid, kind="stable")
    X, grades, qid, part = X[order], grades[order], qid[order], np.asarray(data.split)[order]
    train, test = part == "train", part == "test"
    last = qid[train].max() - LAST
    inner, held = train & (qid <= last), train & (qid > last)
    lines, of_queries = [], {}
    for name, (make, values, graded) in MODELS.items():
        started, chosen = time.perf_counter(), []
        for fitted, measured in ((inner, held),) * len(values):
            scaler = StandardScaler().fit(X[fitted])
            model = fit(
                make(values[len(chosen)]), graded, scaler.transform(X[fitted]), grades[fitted], qid[fitted]
            )
            scores = scores_of(model, scaler.transform(X[measured]))
            chosen.append(measures(grades[measured], scores, qid[measured])[:, 0].mean())
        value = values[int(np.argmax(chosen))]
        scaler = StandardScaler().fit(X[train])
        model = fit(make(value), graded, scaler.transform(X[train]), grades[train], qid[train])
        found = measures(grades[test], scores_of(model, scaler.transform(X[test])), qid[test])
        of_queries[name] = found
        less = found - of_queries[BASELINE]
        error = found.std(axis=0, ddof=1) / np.sqrt(len(found))
        apart = less.std(axis=0, ddof=1) / np.sqrt(len(found))
        gap = f"{model.dual_gap_:.0e}" if hasattr(model, "dual_gap_") else "-"
        columns = [
            f"{found[:, j].mean():.3f} ({error[j]:.3f})  {less[:, j].mean():+.3f} ({apart[j]:.3f})"
            for j in range(len(MEASURES))
        ]
        seconds = time.perf_counter() - started
        lines.append(f"{name:28s} {value:7g}  {'  '.join(columns)}  {gap:>6s}  {seconds:6.1f}")
        print(lines[-1], flush=True)
    titles = "  ".join(f"{measure:13s}  {'less baseline':14s}" for measure in MEASURES)
    head = f"{'model':28s} {'chosen':>7s}  {titles}  {'gap':>6s}  seconds"
    Path(__file__).with_name("queries.txt").write_text("\n".join([head, *lines]) + "\n", encoding="utf-8")


if __name__ == "__main__":
    warnings.simplefilter("ignore", ConvergenceWarning)
    warnings.filterwarnings("ignore", message="X does not have valid feature names")
    main()
