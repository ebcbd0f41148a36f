"""The best of several models, chosen anew inside every training part: what its figure is without optimism."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, clone

from pushrank import PNormPushCV
from pushrank.cli.comparison import compare_models, part_of_budget, share_of_hits
from pushrank.cli.design import Design
from pushrank.cli.models import STANDARD_ALPHA, fit_quietly

CHOSEN_PUSH = "P-Norm Push, p and alpha chosen"
ALPHA_FACTORS = (0.01, 0.1, 1.0, 10.0)


def choosing_push(design: Design, n_rows: int) -> PNormPushCV:
    """Return a P-Norm Push that chooses p and alpha by the criterion of the comparison, on as many folds."""
    alpha, budget = design.alpha, design.budget

    def judged(estimator: Any, X: Any, y: Any) -> float:
        acted_on = None if budget is None else part_of_budget(budget, len(y), n_rows)
        return share_of_hits(y, estimator.decision_function(X), acted_on)

    alphas = tuple(factor * STANDARD_ALPHA for factor in ALPHA_FACTORS) if alpha is None else (alpha,)
    return PNormPushCV((1.0, *design.powers), alphas, scoring=judged, cv=design.folds)


class ChosenModel(BaseEstimator):
    """The model that is best by cross-validation within the rows it is fitted to.

    Parameters
    ----------
    models : dict of str to estimator
        The models to choose from.
    make_pipeline : callable
        Puts the preprocessing before a model.
    folds, seed : int
        Of the cross-validation.
    budget : int or None
        As for the comparison.
    n_rows : int
        The rows that the budget refers to.
    """

    def __init__(
        self,
        models: dict[str, BaseEstimator],
        make_pipeline: Callable[[BaseEstimator], BaseEstimator],
        folds: int,
        seed: int,
        budget: int | None,
        n_rows: int,
    ) -> None:
        self.models = models
        self.make_pipeline = make_pipeline
        self.folds = folds
        self.seed = seed
        self.budget = budget
        self.n_rows = n_rows

    def fit(self, X: Any, y: NDArray[np.bool_]) -> Self:
        """Compare the models on these rows alone, and fit the best of them to all of these rows."""
        budget = None if self.budget is None else part_of_budget(self.budget, len(y), self.n_rows)
        design = Design(folds=self.folds, seed=self.seed, budget=budget)
        comparison = compare_models(X, y, self.make_pipeline, self.models, design, progress=lambda: None)
        self.chosen_ = comparison.best()
        self.pipeline_ = self.make_pipeline(clone(self.models[self.chosen_]))
        fit_quietly(self.pipeline_, X, y)
        return self

    def decision_function(self, X: Any) -> NDArray[np.floating]:
        """Return the chosen model's scores."""
        scores: NDArray[np.floating] = self.pipeline_.decision_function(X)
        return scores
