"""Populations of scores and labels from which labelled rows and rows to come are drawn with replacement."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pandas as pd
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import StratifiedKFold, cross_val_predict
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

SIZE = 200_000
RARE = (
    "abalone19",
    "abalone9-18",
    "abalone-17_vs_7-8-9-10",
    "flare-F",
    "poker-8-9_vs_5",
    "shuttle-2_vs_5",
)


SORTED: dict[tuple[str, bool], np.ndarray] = {}


class Population(NamedTuple):
    """All rows, which are drawn alike."""

    name: str
    scores: np.ndarray
    is_positive: np.ndarray

    def draw(self, rng: np.random.Generator, n: int) -> tuple[np.ndarray, np.ndarray]:
        """Return labels and scores of n rows."""
        rows = rng.integers(0, len(self.scores), n)
        return self.is_positive[rows], self.scores[rows]

    def above(self, threshold: np.ndarray, kind: bool) -> np.ndarray:
        """Return how many positives, or negatives, score as much as each threshold or more."""
        of_kind = self.ascending(kind)
        return len(of_kind) - np.searchsorted(of_kind, threshold)

    def ascending(self, kind: bool) -> np.ndarray:
        """Return the scores of a class in ascending order."""
        if (self.name, kind) not in SORTED:
            SORTED[self.name, kind] = np.sort(self.scores[self.is_positive == kind])
        return SORTED[self.name, kind]


def constructed() -> Iterator[Population]:
    """Yield populations with one positive in twenty rows."""
    rng = np.random.default_rng(0)
    is_positive = np.arange(SIZE) % 20 == 0
    noise = rng.normal(size=SIZE)
    yield Population("binormal", noise + 1.5 * is_positive, is_positive)
    yield Population("ties", np.round(noise + 1.5 * is_positive), is_positive)
    yield Population("constant", np.zeros(SIZE), is_positive)
    # Half of the positives are above all other rows, the others among them by chance.
    top = is_positive & (np.arange(SIZE) % 40 == 0)
    yield Population("sharp top", noise + 20.0 * top, is_positive)
    # The best rows are negatives: an order that no ranker should have, but might.
    place = rng.random(SIZE)
    yield Population("worst order", -place, (place > 0.03) & (place < 0.08))


def of_models(data: Path, *, quick: bool) -> Iterator[Population]:
    """Yield scores of models on rows that they were not fitted to."""
    boosted = HistGradientBoostingClassifier(max_iter=60, random_state=0)
    for name, positive in (("magic04", "h"), ("flights", 1), ("give_me_credit", 1)):
        rows = pd.read_parquet(data / f"{name}.parquet")
        if quick:
            rows = rows.sample(5000, random_state=0)
        y = (rows.pop("label") == positive).to_numpy()
        # How late a flight was is the outcome.
        X = rows.drop(columns="minutes_late", errors="ignore").select_dtypes("number").to_numpy(dtype=float)
        # The first half is fitted to, the other is the population.
        half = np.random.default_rng(0).permutation(len(y))[: len(y) // 2]
        others = np.setdiff1d(np.arange(len(y)), half)
        yield Population(name, boosted.fit(X[half], y[half]).decision_function(X[others]), y[others])
    logistic = make_pipeline(StandardScaler(), LogisticRegression(class_weight="balanced", max_iter=1000))
    for name in RARE[:1] if quick else RARE:
        rows = pd.read_parquet(data / "keel_rare" / f"{name}.parquet")
        y = (rows.pop("label") == 1).to_numpy()
        folds = StratifiedKFold(5, shuffle=True, random_state=0)
        # Scores of five models, which make one fixed order of a finite population.
        scores = cross_val_predict(logistic, pd.get_dummies(rows), y, cv=folds, method="decision_function")
        yield Population(name, np.asarray(scores), y)


def populations(*, quick: bool) -> Iterator[Population]:
    """Yield all populations, those of data sets where the data are."""
    yield from constructed()
    if "PUSHRANK_DATA" in os.environ:
        yield from of_models(Path(os.environ["PUSHRANK_DATA"]), quick=quick)
