"""Rankers that are sums of weak rankers: what they say of rows, and of themselves."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted, validate_data

from pushrank._log_space import Floats
from pushrank.estimators._base import BaseRanker, linear_scores
from pushrank.estimators._frames import encoded
from pushrank.estimators._validation import DTYPES, FORMATS, check_on_host
from pushrank.models import LinearModel
from pushrank.pairs import Sample
from pushrank.weak_rankers import Columns, Stumps
from pushrank.weak_rankers.base import WeakRankers

LEARNED = (
    "classes_",
    "thresholds_",
    "coef_",
    "intercept_",
    "validation_path_",
    "best_round_",
    "_first_coef",
    "_encoder",
)
"""Attributes that some fits have and others lack."""


class AdditiveRanker(BaseRanker):
    """A fitted sum of weak rankers: ``weak_rankers_``, and the ``rankers_`` and ``steps_`` of the rounds."""

    def decision_function(self, X: Any) -> NDArray[np.floating]:
        """Return a score for each row, the higher the better, positive where ``predict`` says positive.

        Parameters
        ----------
        X : array-like, sparse matrix or data frame of shape (n_samples, n_features)
            Rows with the features of ``fit``.

        Returns
        -------
        ndarray of shape (n_samples,)
            The weighted sum of the weak rankers less ``threshold_``; for columns ``X @ coef_ - threshold_``,
            in the dtype of the training data.
        """
        check_is_fitted(self, "steps_")
        X = self._checked(X)
        if hasattr(self, "coef_"):
            linear: NDArray[np.floating] = linear_scores(X, self.coef_)
            return linear - linear.dtype.type(self.threshold_)
        own = self.rankers_ >= 0
        scores = self.weak_rankers_.scores(X, self.rankers_[own], self.steps_[own])
        shifted: NDArray[np.floating] = scores + getattr(self, "intercept_", 0.0) - self.threshold_
        return shifted

    def staged_decision_function(self, X: Any) -> Iterator[NDArray[np.floating]]:
        """Yield the scores of ``decision_function`` as they would be after each round.

        Parameters
        ----------
        X : array-like, sparse matrix or data frame of shape (n_samples, n_features)
            Rows with the features of ``fit``.

        Yields
        ------
        ndarray of shape (n_samples,)
            A new array for each of the ``n_iter_`` rounds, the last as ``decision_function`` but for
            rounding.

        Raises
        ------
        AttributeError
            When the ranker was fitted by a gradient solver.
        """
        self._check_boosted()
        X = self._checked(X)
        total = np.full(X.shape[0], getattr(self, "intercept_", 0.0) - self.threshold_)
        if hasattr(self, "coef_"):
            total += LinearModel(X, centred=False).scores(self._first_coef)
            total += float(self.weak_rankers_.lows_ @ (self.coef_ - self._first_coef))
        for ranker, step in zip(self.rankers_, self.steps_, strict=True):
            total = total + (step * self.weak_rankers_.values(X, int(ranker)) if ranker >= 0 else 0.0)
            yield total

    @property
    def feature_importances_(self) -> Floats:
        """The share of each feature in the fall of the objective over all rounds, shape (n_features,).

        Raises
        ------
        AttributeError
            When the ranker is not fitted by boosting, or its weak rankers do not tell which features they
            read.
        """
        if not hasattr(self, "steps_"):
            raise AttributeError("feature_importances_ are of rankers fitted by boosting only.")
        gains = np.maximum(-np.diff(self.objective_path_), 0.0)
        own = self.rankers_ >= 0
        importances: Floats = self.weak_rankers_.importances(self.rankers_[own], gains[own])
        total = importances.sum()
        return importances / total if total > 0.0 else importances

    def _check_boosted(self) -> None:
        """Raise unless the ranker was fitted, and by boosting."""
        check_is_fitted(self)
        if not hasattr(self, "steps_"):
            raise AttributeError(
                "only rankers fitted by boosting have stages; this one was fitted by a gradient solver: set "
                "solver='coordinate'."
            )

    def _checked(self, X: Any) -> Any:
        check_on_host(self, X=X)
        options: dict[str, Any] = {"accept_sparse": FORMATS, "dtype": DTYPES, "reset": False}
        if self.weak_rankers_.takes_missing:
            options["ensure_all_finite"] = "allow-nan"
        return validate_data(self, encoded(X, getattr(self, "_encoder", None)), **options)

    def _margin(self, family: WeakRankers, train: Sample, scores: NDArray[np.floating]) -> float:
        """Return the least margin of a training pair over the sum of absolute weights."""
        if isinstance(family, Columns) and hasattr(self, "coef_"):
            norm = float(np.abs(self.coef_.astype(np.float64)) @ family.ranges_)
        else:
            own = self.rankers_ >= 0
            norm = float(np.abs(np.bincount(self.rankers_[own], self.steps_[own], minlength=1)).sum())
        return train.least_margin(scores.astype(np.float64)) / norm if norm > 0.0 else 0.0

    def __sklearn_tags__(self) -> Any:
        """Return scikit-learn's tags; missing values are taken where the weak rankers take them."""
        tags = super().__sklearn_tags__()
        name = self.weak_rankers
        tags.input_tags.allow_nan = name == "stumps" or isinstance(name, Stumps)
        return tags
