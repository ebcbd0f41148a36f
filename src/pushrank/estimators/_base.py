"""What all push rankers share: from labels to a linear scorer, and from scores to ranks and predictions."""

from __future__ import annotations

import warnings
from abc import abstractmethod
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics import average_precision_score
from sklearn.utils.validation import check_is_fitted, validate_data
from threadpoolctl import threadpool_limits

from pushrank.estimators._progress import watching
from pushrank.estimators._validation import DTYPES, FORMATS, check_number, check_solver, training_data
from pushrank.models import LinearModel
from pushrank.objectives import PushObjective
from pushrank.pairs import BipartiteSample
from pushrank.solvers import SOLVERS, Problem, Result


class BasePushRanker(ClassifierMixin, BaseEstimator):
    """A linear ranker of two classes that minimises a push objective of its scores.

    A subclass has the constructor parameters ``alpha``, ``solver``, ``tol``, ``max_iter``, ``warm_start``
    and ``verbose`` and names its objective.
    """

    @abstractmethod
    def _objective(self) -> PushObjective:
        """Return the objective that the checked constructor parameters stand for."""

    def fit(self, X: Any, y: ArrayLike, sample_weight: ArrayLike | None = None) -> Self:
        """Learn the coefficients from examples of two classes.

        Parameters
        ----------
        X : array-like, sparse matrix or data frame of shape (n_samples, n_features)
            Finite features. float32 and float64 arrays, dense, CSR or CSC, are used where they lie, without
            a copy.
        y : array-like of shape (n_samples,)
            Labels of two classes; the larger in sorted order is the positive one, to be ranked at the top.
        sample_weight : array-like of shape (n_samples,), optional
            Non-negative weights; an integer weight equals that many copies of the row.

        Returns
        -------
        self
            The fitted ranker.

        Raises
        ------
        ValueError
            When a parameter is out of range, the data are not finite, or ``y`` has not two classes.
        TypeError
            When a parameter has the wrong type.

        Warns
        -----
        ConvergenceWarning
            When the solver stopped early; the message says what to do.
        """
        self._check_parameters()
        objective = self._objective()
        self._check_solver_can(objective)
        X, classes, sample = training_data(self, X, y, sample_weight)
        with threadpool_limits(limits=1, user_api="blas"):
            problem = Problem(objective, LinearModel(X), sample, float(self.alpha))
            with watching(type(self).__name__, self.max_iter, verbose=bool(self.verbose)) as watcher:
                solve = SOLVERS[self.solver]
                result = solve(problem, self._start(X.shape[1]), self.tol, self.max_iter, watcher)
        self._keep(X, classes, sample, result)
        return self

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
        X = validate_data(self, X, accept_sparse=FORMATS, dtype=DTYPES, reset=False)
        scores: NDArray[np.floating] = _linear_scores(X, self.coef_) - self.coef_.dtype.type(self.threshold_)
        return scores

    def predict(self, X: Any) -> NDArray[Any]:
        """Return the positive class for rows scored above the break-even threshold, else the negative.

        Parameters
        ----------
        X : array-like, sparse matrix or data frame of shape (n_samples, n_features)
            Rows with the features of ``fit``.

        Returns
        -------
        ndarray of shape (n_samples,)
            Members of ``classes_``.
        """
        is_positive = self.decision_function(X) > 0
        predicted: NDArray[Any] = self.classes_[is_positive.astype(np.intp)]
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
        return np.argsort(-self.decision_function(X), kind="stable")

    def score(self, X: Any, y: ArrayLike, sample_weight: ArrayLike | None = None) -> float:
        """Return the average precision of the ranking of ``X``, between 0 and 1.

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
        scores = self.decision_function(X)
        relevant = np.asarray(y) == self.classes_[1]
        return float(average_precision_score(relevant, scores, sample_weight=sample_weight))

    def _check_parameters(self) -> None:
        check_number("alpha", self.alpha, 0.0)
        check_number("tol", self.tol, 0.0, exclusive=True)
        check_number("max_iter", self.max_iter, 1, integer=True)
        check_solver(self.solver)

    def _check_solver_can(self, objective: PushObjective) -> None:
        if self.solver == "newton-cg" and not objective.twice_differentiable:
            raise ValueError(
                f"solver='newton-cg' needs second derivatives, which loss={objective.loss} with "
                f"price={objective.price} does not have; use solver='lbfgs'."
            )
        if not objective.differentiable:
            raise ValueError(
                f"loss={objective.loss} with price={objective.price} is not differentiable, which "
                f"solver={self.solver!r} needs. Use SquaredHinge or Logistic in place of a loss with a kink, "
                "and Power(p) with a large p, such as 1000, in place of Maximum."
            )

    def _start(self, n_features: int) -> NDArray[np.float64]:
        if self.warm_start and hasattr(self, "coef_") and self.coef_.shape == (n_features,):
            return self.coef_.astype(np.float64)
        return np.zeros(n_features)

    def _keep(self, X: Any, classes: NDArray[Any], sample: BipartiteSample, result: Result) -> None:
        self.classes_ = classes
        self.coef_ = result.coef.astype(X.dtype)
        self.threshold_ = break_even_threshold(_linear_scores(X, self.coef_), sample)
        self.n_iter_ = result.n_iter
        self.objective_path_ = result.objective_path
        self.converged_ = result.converged
        if not result.converged:
            warnings.warn(
                f"{type(self).__name__} did not converge: {result.message}", ConvergenceWarning, stacklevel=3
            )

    def __sklearn_tags__(self) -> Any:
        """Return scikit-learn's tags: a binary classifier that takes sparse data."""
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_class = False
        tags.input_tags.sparse = True
        return tags


def break_even_threshold(scores: NDArray[np.floating], sample: BipartiteSample) -> float:
    """Return the threshold above which as much weight is predicted positive as is positive.

    It lies midway between two neighbouring scores; rows that tie across it all fall below it, or above it
    where no score is higher.

    Notes
    -----
    O(n) without weights, by selection; O(n log n) with.
    """
    if sample.positive_weights is None or sample.negative_weights is None:
        last = len(sample.negatives) - 1
        cut = np.partition(scores, last)[last]
    else:
        weights = sample.join(sample.positive_weights, sample.negative_weights)
        scores, weights = scores[weights > 0.0], weights[weights > 0.0]
        ascending = np.argsort(scores, kind="stable")
        weight_below = np.cumsum(weights[ascending])
        # a little less than the negatives' weight, which the sum may miss by rounding
        last = int(np.searchsorted(weight_below, (1.0 - 1e-12) * sample.negative_weights.sum()))
        cut = scores[ascending[last]]
    higher = np.min(scores, where=scores > cut, initial=np.inf)
    if np.isinf(higher):
        higher, cut = cut, np.max(scores, where=scores < cut, initial=-np.inf)
    if np.isinf(cut):
        return float(higher)
    middle = 0.5 * float(cut) + 0.5 * float(higher)
    # between neighbouring floats there is no other: the higher of the two must stay above
    return middle if scores.dtype.type(middle) < higher else float(cut)


def _linear_scores(X: Any, coef: NDArray[np.floating]) -> NDArray[np.floating]:
    """Return ``X @ coef`` in the dtype of ``coef``; equal rows get equal scores, wherever they stand."""
    scores = LinearModel(X, centred=False).scores(coef.astype(np.float64))
    return scores.astype(coef.dtype, copy=False)
