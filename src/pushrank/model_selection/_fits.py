"""Models fitted to one training part, with the preprocessing that they share done once."""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.model_selection import StratifiedGroupKFold, StratifiedKFold
from sklearn.pipeline import Pipeline

from pushrank.estimators._scoring import fit_params
from pushrank.estimators._scoring import model_scores as model_scores
from pushrank.model_selection._folds import LabelledRows

# Models may refuse fewer rows of a class, and vary in other ways than with all of them.
MIN_ROWS_OF_CLASS = 10


@contextmanager
def record_warnings(lines: list[str]) -> Iterator[None]:
    """Append the warnings to the user within the block to `lines`; other warnings pass."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        yield
    texts = set()
    for warning in caught:
        if issubclass(warning.category, UserWarning):
            texts.add(" ".join(str(warning.message).split()))
        else:
            warnings.warn_explicit(warning.message, warning.category, warning.filename, warning.lineno)
    lines.extend(sorted(texts))


class Fits:
    """Models fitted to one training part when they are asked for, shared transformers once for all."""

    def __init__(self, models: Mapping[str, Any], rows: LabelledRows, warned: dict[str, list[str]]) -> None:
        self.models, self.rows, self.warned = models, rows, warned
        # Pipelines that hold the same transformer objects share their output.
        ids = [_transformer_ids(model) for model in models.values()]
        # Transformers of one model alone are part of its fit: their output need not be kept.
        self.keys = {name: key if ids.count(key) > 1 else () for name, key in zip(models, ids, strict=True)}
        self.prepared: dict[tuple[int, ...], tuple[Pipeline, Any]] = {}
        self.rankers: dict[str, Any] = {}

    def ranker_and_rows(
        self, name: str, X_test: Any, prepared: dict[tuple[int, ...], Any]
    ) -> tuple[Any, Any]:
        """Return a fitted ranker and test rows as it takes them; `prepared` holds those of other rankers."""
        key, model = self.keys[name], self.models[name]
        if key and key not in self.prepared:
            transformers = clone(model[:-1])
            self.prepared[key] = transformers, transformers.fit_transform(self.rows.X, self.rows.y)
        if name not in self.rankers:
            X_train, ranker = self.rows.X, clone(model)
            if key:
                _, X_train = self.prepared[key]
                ranker = ranker.steps[-1][1]
            with record_warnings(self.warned.setdefault(name, [])):
                params = fit_params(ranker, self.rows.weights, self.rows.times, self.rows.groups)
                self.rankers[name] = ranker.fit(X_train, self.rows.y, **params)
        if key and key not in prepared:
            prepared[key] = self.prepared[key][0].transform(X_test)
        return self.rankers[name], prepared[key] if key else X_test

    def whole(self, name: str) -> Any:
        """Return a fitted model that takes rows without preprocessing."""
        if not (key := self.keys[name]):
            return self.rankers[name]
        return Pipeline([*self.prepared[key][0].steps, ("ranker", self.rankers[name])])


def scores_of_halves(
    models: Mapping[str, Any], training: LabelledRows, X_test: Sequence[Any], seed: int
) -> list[list[list[NDArray[np.float64]]]] | None:
    """Return the scores of the rows of test parts by models fitted to either half of some rows.

    Of few rows of a class, or few groups, there are no halves, and the result is None.
    """
    y, groups = training.positive, training.groups
    n_groups = len(y) if groups is None else len(np.unique(groups))
    if min(y.sum(), (~y).sum()) < 2 * MIN_ROWS_OF_CLASS or n_groups < 2 * MIN_ROWS_OF_CLASS:
        return None
    splitter = (StratifiedKFold if groups is None else StratifiedGroupKFold)(
        2, shuffle=True, random_state=seed
    )
    halves = next(splitter.split(np.zeros(len(y)), y, groups))
    if min(min(y[half].sum(), (~y[half]).sum()) for half in halves) < MIN_ROWS_OF_CLASS:
        return None
    scores = []
    for half in halves:
        fits = Fits(models, training.part(half), {})
        of_half = []
        for X in X_test:
            prepared: dict[tuple[int, ...], Any] = {}
            of_half.append([model_scores(*fits.ranker_and_rows(name, X, prepared)) for name in models])
        scores.append(of_half)
    return scores


def _transformer_ids(model: Any) -> tuple[int, ...]:
    """Return which objects come before the last step; a subclass may do more than transform."""
    return tuple(id(step) for _, step in model.steps[:-1]) if type(model) is Pipeline else ()
