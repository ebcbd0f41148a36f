"""Which of several models may be the best: quantiles of several differences at once, and the sentence."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from scipy.stats import t
from sklearn.ensemble import (
    ExtraTreesClassifier,
    RandomForestClassifier,
    StackingClassifier,
    VotingClassifier,
)
from sklearn.pipeline import Pipeline

from pushrank._numeric import Floats
from pushrank.estimators import PushBoost
from pushrank.model_selection.errors import HITS, Errors, variances_of_differences

if TYPE_CHECKING:
    from pushrank.model_selection.comparison import RankerComparison

N_DRAWS = 20_000
# Measures are of the order of 1, with rounding errors of about 1e-15.
ROUNDING = 1e-9
# A sentence names so many models; the table marks all of them.
MAX_NAMED = 4


def quantiles(errors: Errors, level: float, seed: int) -> tuple[float, Floats]:
    r"""Return by how many standard errors equal models may seem to differ, at a level of confidence.

    The means of equal models are drawn with their correlations, from Student's distribution where the degrees
    of freedom are few. The first result is the quantile of the largest of all :math:`m (m - 1) / 2` absolute
    differences in their standard errors: whichever model these rows show as the best, its differences from
    the others are among them (Tukey). The second, for each model, is that of the largest difference of
    another model from it (Hsu 1981): smaller, and for the question alone whether it may be the best.
    """
    one, two = (float(t.ppf(share, errors.freedom)) for share in (level, 0.5 + level / 2.0))
    from_each = np.full(len(errors.means), one)
    if len(from_each) <= 2:
        return two, from_each
    rng = np.random.default_rng(seed)
    values, vectors = np.linalg.eigh(errors.covariance)
    draws = rng.normal(size=(N_DRAWS, len(values))) @ (vectors * np.sqrt(np.maximum(values, 0.0))).T
    if np.isfinite(errors.freedom):
        draws /= np.sqrt(rng.chisquare(errors.freedom, size=(N_DRAWS, 1)) / errors.freedom)
    spread = np.sqrt(variances_of_differences(errors.covariance))
    largest = np.zeros(N_DRAWS)
    for model in range(len(values)):
        others = np.flatnonzero((spread[model] > 0.0) & (errors.differences[model] > 0.0))
        if len(others):
            gains = (draws[:, others] - draws[:, [model]]) / spread[model, others]
            largest = np.maximum(largest, np.abs(gains).max(axis=1))
            from_each[model] = np.quantile(gains.max(axis=1), level)
    return max(two, float(np.quantile(largest, level))), from_each


def may_be_best(means: Floats, errors: Errors, from_each: Floats) -> NDArray[np.bool_]:
    """Return which models no other exceeds by more than chance: the best is among them (Hsu 1981)."""
    behind = means[None, :] - means[:, None]
    return np.asarray((behind <= from_each[:, None] * errors.differences + ROUNDING).all(axis=1))


def simplicity(model: Any) -> int:
    """Return the rank of a fitted model: 0 if linear, 1 of stumps, 2 of trees and others, 3 and 4 of many."""
    model = model.steps[-1][1] if isinstance(model, Pipeline) else model
    model = getattr(model, "best_estimator_", model)
    families = {
        PushBoost: 1,
        RandomForestClassifier: 3,
        ExtraTreesClassifier: 3,
        VotingClassifier: 4,
        StackingClassifier: 4,
    }
    return (
        0 if hasattr(model, "coef_") else next((r for of, r in families.items() if isinstance(model, of)), 2)
    )


def verdict(comparison: RankerComparison) -> str:
    """Return in sentences which models may be the best, and by how much the observed best exceeds others."""
    best, other = comparison.best_, comparison.runner_up_
    by, digits = comparison.name_of(comparison.criterion), comparison.digits(comparison.criterion)
    each = f"{comparison.mean(best, comparison.criterion):.{digits}f}"
    if best == other:
        return f"{best} alone was measured, by {by}: {each}."
    if comparison.none_is_better_:
        return f"No model is better at the top than another, by {by}: each has {each}."
    gap = comparison.difference(best, other)
    most = "Most" if comparison.criterion == HITS else "Highest"
    against = f"{best}, {gap.mean:+.{digits}f} against {other}" + ", the next best" * (
        other != comparison.baseline_
    )
    if gap.high - gap.low <= ROUNDING or np.isinf(gap.standard_error):
        against += ", the same in all test parts" + ", which are too few to tell" * bool(gap.standard_error)
    else:
        n_others = len(comparison.differences_)
        against += f", 95 % interval {gap.low:+.{digits}f} to {gap.high:+.{digits}f}"
        against += f" (of all {n_others} differences together)" * (n_others > 1)
    against += ": more than chance explains." if gap.more_than_chance else ", which chance alone may explain."
    candidates, equal = comparison.may_be_best_, comparison.equal_for_your_purposes_
    if len(candidates) > 1:
        lead = f"No clear winner, by {by}: {_named(candidates)} may be the best, and {candidates[0]} is the "
        lead += f"simplest of them. {most}: {against}"
    elif all(other_gap.more_than_chance for other_gap in comparison.differences_.values()):
        lead = f"Best at the top, by {by}: {against}"
    else:
        lead = f"Likely the best at the top, by {by}: {against} No other may be the best, at 95 %."
    if len(equal) > 1:
        reach = max(comparison.differences_[model].high for model in equal if model != best)
        lead += (
            f" Equal for your purposes: {_named(equal)}, of which {equal[0]} is the simplest. The best has "
            f"at most {max(reach, 0.0):.{digits}f} more, which is less than your {comparison.indifference:g}."
        )
    return lead


def _named(models: list[str]) -> str:
    """Return names joined by "or"; of many the first and how many there are."""
    comma = "; " if any("," in model for model in models) else ", "
    if len(models) <= MAX_NAMED:
        return f"{comma.join(models[:-1])} or {models[-1]}"
    return f"any of {len(models)} models ({comma.join(models[: MAX_NAMED - 1])}{comma}...)"
