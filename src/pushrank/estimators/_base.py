"""What all rankers share: from scores to ranks and predictions."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterable
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.metrics import average_precision_score
from sklearn.utils.validation import check_is_fitted, validate_data

from pushrank._array import is_numpy, like, namespace, to_host
from pushrank.estimators._target import Target
from pushrank.estimators._validation import FORMATS, float_types
from pushrank.models import ArrayLinearModel, LinearModel
from pushrank.objectives import PushObjective


class BaseRanker(ClassifierMixin, BaseEstimator):
    """A ranker with scores, from which classes, ranks and the average precision follow."""

    @abstractmethod
    def decision_function(self, X: Any) -> NDArray[np.floating]:
        """Return a score for each row, the higher the better."""

    def predict(self, X: Any) -> NDArray[Any]:
        """Return the positive class for rows scored above the break-even threshold, else the negative.

        With grades of relevance it is the grade: each threshold has as many training rows above it as are
        better.

        Parameters
        ----------
        X : array-like, sparse matrix or data frame of shape (n_samples, n_features)
            Rows with the features of ``fit``.

        Returns
        -------
        ndarray of shape (n_samples,)
            Members of ``classes_``.

        Raises
        ------
        ValueError
            When the ranker was fitted to pairs, which have no classes.
        """
        scores = self.decision_function(X)
        if not hasattr(self, "classes_"):
            raise ValueError(
                "predict needs classes, and this ranker was fitted to pairs: use decision_function or rank."
            )
        if not is_numpy(scores):
            xp = namespace(scores)
            chosen: NDArray[Any] = xp.take(self.classes_, xp.astype(scores > 0.0, xp.int64), axis=0)
            return chosen
        cuts = getattr(self, "thresholds_", np.array([self.threshold_])) - self.threshold_
        predicted: NDArray[Any] = self.classes_[np.searchsorted(cuts, scores)]
        return predicted

    def rank(self, X: Any) -> NDArray[np.intp]:
        """Return the row numbers best first; tied rows keep their order.

        Parameters
        ----------
        X : array-like, sparse matrix or data frame of shape (n_samples, n_features)
            Rows with the features of ``fit``.

        Returns
        -------
        ndarray of shape (n_samples,)
            ``X[ranker.rank(X)[:100]]`` are the hundred rows to look at first.
        """
        scores = self.decision_function(X)
        if not is_numpy(scores):
            order: NDArray[np.intp] = namespace(scores).argsort(-scores, stable=True)
            return order
        return np.argsort(-scores, kind="stable")

    def score(self, X: Any, y: ArrayLike, sample_weight: ArrayLike | None = None) -> float:
        """Return the average precision of the ranking of ``X``, between 0 and 1.

        Rows are relevant that are of the positive class, or of any grade but the lowest.

        Parameters
        ----------
        X : array-like, sparse matrix or data frame of shape (n_samples, n_features)
            Rows with the features of ``fit``.
        y : array-like of shape (n_samples,)
            Their true classes.
        sample_weight : array-like of shape (n_samples,), optional
            Weights of the rows.

        Returns
        -------
        float
            scikit-learn's ``average_precision_score``.
        """
        scores = to_host(self.decision_function(X))
        y = to_host(y)
        classes = to_host(self.classes_) if hasattr(self, "classes_") else None
        if classes is None:
            classes = np.unique(y)
        relevant = np.asarray(y) == classes[1] if len(classes) == 2 else np.asarray(y) > classes[0]
        return float(average_precision_score(relevant, scores, sample_weight=sample_weight))

    def _pair_objective(self) -> PushObjective | None:
        """Return the sum over pairs that is minimised, up to a penalty; None where it is none."""
        return None

    def _keep_classes(self, target: Target, scores: NDArray[np.floating]) -> None:
        """Remember the classes or grades, and the training scores' break-even thresholds between them."""
        if target.classes is not None:
            self.classes_ = target.classes
        thresholds = target.thresholds(scores)
        self.threshold_ = float(thresholds[0])
        if len(thresholds) > 1:
            self.thresholds_ = thresholds

    def _forget(self, names: Iterable[str]) -> None:
        """Drop what an earlier fit learned and this one may not."""
        for name in names:
            if hasattr(self, name):
                delattr(self, name)

    def __sklearn_tags__(self) -> Any:
        """Return scikit-learn's tags: a binary classifier that takes sparse data."""
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_class = False
        tags.input_tags.sparse = True
        return tags


class CoefficientRanker(BaseRanker):
    """A ranker that scores rows by the coefficients of their features."""

    def decision_function(self, X: Any) -> NDArray[np.floating]:
        """Return a score for each row, the higher the better, positive where ``predict`` says positive.

        Parameters
        ----------
        X : array-like, sparse matrix or data frame of shape (n_samples, n_features)
            Rows with the features of ``fit``.

        Returns
        -------
        ndarray of shape (n_samples,)
            ``X @ coef_ - threshold_``.
        """
        check_is_fitted(self, "coef_")
        X = validate_data(self, X, accept_sparse=FORMATS, dtype=float_types(X), reset=False)
        if is_numpy(X) != is_numpy(self.coef_):
            raise TypeError(
                f"{type(self).__name__} was fitted to {type(self.coef_).__name__} and got "
                f"{type(X).__name__}: pass an array of the library that it was fitted to."
            )
        scores: NDArray[np.floating] = linear_scores(X, self.coef_) - float(self.threshold_)
        return scores


def linear_scores(X: Any, coef: NDArray[np.floating]) -> NDArray[np.floating]:
    """Return ``X @ coef`` in the dtype of ``coef``; equal rows get equal scores, wherever they stand."""
    if not is_numpy(X) and X.dtype == coef.dtype:
        elsewhere: NDArray[np.floating] = X @ coef
        return elsewhere
    model = LinearModel(X, centred=False) if is_numpy(X) else ArrayLinearModel(X)
    scores: NDArray[np.floating] = like(model.scores(like(coef, X)), X, coef.dtype)
    return scores
