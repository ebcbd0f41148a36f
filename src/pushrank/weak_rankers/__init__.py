"""Weak rankers: the features themselves, threshold stumps, estimators of scikit-learn, a user's functions."""

from sklearn.base import BaseEstimator, is_classifier, is_regressor

from pushrank._base.files import trust_in_files
from pushrank._base.validation import resolve_name
from pushrank.weak_rankers.base import WeakRankers
from pushrank.weak_rankers.columns import Columns
from pushrank.weak_rankers.functions import Functions
from pushrank.weak_rankers.stumps import Stumps
from pushrank.weak_rankers.trees import Classifiers, Regressors

__all__ = ["Classifiers", "Columns", "Functions", "Regressors", "Stumps"]

trust_in_files(Classifiers, Columns, Functions, Regressors, Stumps)

# A list of functions is recognised by its type, so the family needs no name.
NAMED = [globals()[name] for name in __all__ if name != "Functions"]


def resolve(weak_rankers: object) -> WeakRankers:
    """Return the family that a name, a scikit-learn estimator or a list of callables stands for."""
    if isinstance(weak_rankers, list | tuple):
        return Functions(weak_rankers)
    if isinstance(weak_rankers, BaseEstimator) and is_regressor(weak_rankers):
        return Regressors(weak_rankers)
    if isinstance(weak_rankers, BaseEstimator) and is_classifier(weak_rankers):
        return Classifiers(weak_rankers)
    resolved: WeakRankers = resolve_name(weak_rankers, WeakRankers, NAMED, "weak_rankers")
    return resolved
