"""The library's own stack on kept scores: members that look up what they scored."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from scipy.special import expit
from sklearn.base import BaseEstimator, ClassifierMixin

from experiments.ensemble.columns import FOLDS, LOG_ODDS, PROBABILITY
from pushrank import StackingRanker
from pushrank.model_selection import TimeSplit


class Kept:
    """The arrays of a set's split, of which searches take no copies."""

    def __init__(self, path: Path) -> None:
        with np.load(path) as arrays:
            self.arrays = dict(arrays)

    def __getitem__(self, name: str) -> np.ndarray:
        return self.arrays[name]

    def __deepcopy__(self, memo: dict[int, Any]) -> Kept:
        return self


class Scored(ClassifierMixin, BaseEstimator):
    """A member on row numbers, those of test rows after those of training rows."""

    def __init__(self, kept: Kept, member: int) -> None:
        self.kept, self.member = kept, member

    def fit(self, X: Any, y: Any) -> Scored:
        """Find out which model this is by the fold that is missing, or the first one to come."""
        self.classes_ = np.unique(y)
        present = self.kept["fold"][np.ravel(X)]
        self.number_ = next((fold for fold in range(FOLDS) if fold not in present), FOLDS)
        return self

    def _scores(self, X: Any) -> np.ndarray:
        rows, n_train = np.ravel(X), len(self.kept["y"])
        if rows.max() < n_train:
            return self.kept["out_of_fold"][rows, self.member]
        new = self.kept["refitted"] if self.number_ == FOLDS else self.kept["of_folds"][self.number_]
        return new[rows - n_train, self.member].astype(float)


class Margin(Scored):
    """A member with a decision function."""

    def decision_function(self, X: Any) -> np.ndarray:
        """Return the kept scores."""
        return self._scores(X)


class Probability(Scored):
    """A member with probabilities alone; LightGBM's are kept as log-odds."""

    def predict_proba(self, X: Any) -> np.ndarray:
        """Return the kept probabilities."""
        scores = self._scores(X)
        p = expit(scores) if self.kept["kinds"][self.member] == LOG_ODDS else scores
        return np.column_stack([1.0 - p, p])


def library_scores(path: Path, final: Any, *, refit: bool = False) -> tuple[np.ndarray, str]:
    """Return the test scores of a ``StackingRanker``, and how it found its weights."""
    kept = Kept(path)
    members = []
    for number, (name, kind) in enumerate(zip(kept["members"], kept["kinds"], strict=True)):
        has_probability = kind == PROBABILITY or name.endswith("LightGBM")
        members.append((str(name), (Probability if has_probability else Margin)(kept, number)))
    y, fold = kept["y"].astype(int), kept["fold"]
    rows = np.arange(len(y) + len(kept["y_test"]))[:, None]
    if "time" in kept.arrays:
        cv, when = TimeSplit(FOLDS), {"time": kept["time"]}
    else:
        cv, when = [(np.flatnonzero(fold != n), np.flatnonzero(fold == n)) for n in range(FOLDS)], {}
    ranker = StackingRanker(members, final_estimator=final, cv=cv, refit=refit)
    ranker.fit(rows[: len(y)], y, **when)
    return ranker.decision_function(rows[len(y) :]), ranker.final_
