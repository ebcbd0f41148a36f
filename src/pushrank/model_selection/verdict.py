"""Which of several models may be the best: quantiles of several differences at once, and a simplicity."""

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.stats import t
from sklearn import ensemble
from sklearn.pipeline import Pipeline

from pushrank._base.numeric import Floats
from pushrank.estimators import PushBoost, StackingRanker
from pushrank.model_selection.errors import Errors, variances_of_differences

# With 20,000 draws the level of a quantile at 95 % has a standard error of 0.15 points.
N_DRAWS = 20_000
# Measures are of the order of 1, with rounding errors of about 1e-15.
ROUNDING = 1e-9


def quantiles(errors: Errors, level: float, seed: int) -> tuple[float, Floats]:
    """Return by how many standard errors equal models may seem to differ, at a level of confidence."""
    # The first result is the quantile of the largest of all absolute differences in their standard errors:
    # whichever model these rows show as the best, its differences from the others are among them (Tukey). The
    # second, for each model, is that of the largest difference of another from it (Hsu 1981): smaller, and
    # for the question alone whether it may be the best.
    one, two = (float(t.ppf(share, errors.freedom)) for share in (level, 0.5 + level / 2.0))
    from_each = np.full(len(errors.means), one)
    # A single difference has the quantile of Student's t exactly, so that nothing needs to be drawn.
    if len(from_each) <= 2:
        return two, from_each
    rng = np.random.default_rng(seed)
    # The covariance of models that rank equally is singular, where a Cholesky factor does not exist; rounding
    # may make eigenvalues negative.
    values, vectors = np.linalg.eigh(errors.covariance)
    draws = rng.normal(size=(N_DRAWS, len(values))) @ (vectors * np.sqrt(np.maximum(values, 0.0))).T
    if np.isfinite(errors.freedom):
        # All models share one draw of the variance, as in Tukey's studentized range.
        draws /= np.sqrt(rng.chisquare(errors.freedom, size=(N_DRAWS, 1)) / errors.freedom)
    spread = np.sqrt(variances_of_differences(errors.covariance))
    largest = np.zeros(N_DRAWS)
    for model in range(len(values)):
        # Identical models cannot seem to differ, and so must not widen the intervals of the others.
        others = np.flatnonzero((spread[model] > 0.0) & (errors.differences[model] > 0.0))
        if len(others):
            gains = (draws[:, others] - draws[:, [model]]) / spread[model, others]
            largest = np.maximum(largest, np.abs(gains).max(axis=1))
            from_each[model] = np.quantile(gains.max(axis=1), level)
    # The quantile of several differences is at least that of one, which draws alone may miss.
    return max(two, float(np.quantile(largest, level))), from_each


def may_be_best(means: Floats, errors: Errors, from_each: Floats) -> NDArray[np.bool_]:
    """Return which models no other exceeds by more than chance: the best is among them (Hsu 1981)."""
    behind = means[None, :] - means[:, None]
    return np.asarray((behind <= from_each[:, None] * errors.differences + ROUNDING).all(axis=1))


def simplicity(model: Any) -> int:
    """Return the rank of a fitted model: 0 if linear, 1 of stumps, 2 of trees and others, 3 and 4 of many."""
    model = model.steps[-1][1] if isinstance(model, Pipeline) else model
    model = getattr(model, "best_estimator_", model)
    if hasattr(model, "coef_"):
        return 0
    forests = ensemble.RandomForestClassifier | ensemble.ExtraTreesClassifier
    ensembles = ensemble.VotingClassifier | ensemble.StackingClassifier | StackingRanker
    ranks: dict[Any, int] = {PushBoost: 1, forests: 3, ensembles: 4}
    return next((rank for family, rank in ranks.items() if isinstance(model, family)), 2)
