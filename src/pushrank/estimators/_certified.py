"""Rankers whose answer comes with bounds on the optimum."""

from __future__ import annotations

import warnings
from abc import abstractmethod
from collections.abc import Iterable
from dataclasses import replace
from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning

from pushrank._log_space import Floats
from pushrank._threads import one_blas_thread
from pushrank.estimators._base import CoefficientRanker, linear_scores
from pushrank.estimators._class_weights import class_weighted
from pushrank.estimators._progress import watching
from pushrank.estimators._target import Target
from pushrank.estimators._validation import LEAST_ALPHA, check_number, training_data
from pushrank.models import LinearModel, Model
from pushrank.pairs import Sample
from pushrank.solvers import Watcher
from pushrank.solvers.certificate import Certificate

MOST_C = 1.0 / LEAST_ALPHA


class Solution(NamedTuple):
    """What a solver found.

    Attributes
    ----------
    coef : ndarray of shape (n_features,)
        The coefficients, of the model's kind.
    certificate : Certificate
        The bounds on the optimum.
    n_iter : int
        Iterations run.
    state : object
        What the same problem with another C can start from.
    dual : ndarray of shape (n_rows,), optional
        The dual variables of all rows, where a linear model's solver has them.
    """

    coef: Floats
    certificate: Certificate
    n_iter: int
    state: Any
    dual: Floats | None = None


class CertifiedRanker(CoefficientRanker):
    """A ranker that stops on the duality gap.

    A subclass has the constructor parameters ``C``, ``class_weight``, ``tol``, ``max_iter`` and ``verbose``.
    """

    @abstractmethod
    def _optimise(
        self, model: Model, sample: Sample, C: float, watcher: Watcher | None, state: Any
    ) -> Solution:
        """Solve the problem with a weight C of the loss, from the state of a neighbouring one or None."""

    @abstractmethod
    def _loss(self, sample: Sample, scores: Floats) -> float:
        """Return the loss of all rows' scores, whose weight is C."""

    def fit(self, X: Any, y: ArrayLike, sample_weight: ArrayLike | None = None) -> Self:
        """Learn a ranking from examples of two classes.

        Parameters
        ----------
        X : array-like, sparse matrix or data frame of shape (n_samples, n_features)
            Finite features. float32 and float64 arrays, dense, CSR or CSC, are used where they lie, without
            a copy.
        y : array-like of shape (n_samples,)
            Labels of two classes; the larger in sorted order is the positive one, to be ranked at the top.
        sample_weight : array-like of shape (n_samples,), optional
            Non-negative weights; a pair weighs the product of its rows' weights.

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
            When the gap is above ``tol``; the message says what to do.
        """
        self._check_parameters()
        X, target = training_data(self, X, y, sample_weight)
        return self._fit_path(X, target, [self])[0]

    def path(
        self, X: Any, y: ArrayLike, Cs: Iterable[float], sample_weight: ArrayLike | None = None
    ) -> list[Self]:
        """Fit one ranker for each C, each from where the one before ended.

        Parameters
        ----------
        X, y, sample_weight
            As for ``fit``.
        Cs : iterable of float
            The positive weights of the loss, in the order to go; rising is fastest.

        Returns
        -------
        list
            A fitted ranker for each C, with this one's other parameters; this one is not changed.

        Raises
        ------
        ValueError
            As for ``fit``, and when there is no C.
        TypeError
            As for ``fit``.

        Warns
        -----
        ConvergenceWarning
            When the gap of one of them is above ``tol``.
        """
        rankers = [clone(self).set_params(C=C) for C in Cs]
        if not rankers:
            raise ValueError("Cs must hold at least one number, got none.")
        for ranker in rankers:
            ranker._check_parameters()
        checked, target = training_data(rankers[0], X, y, sample_weight)
        for ranker in rankers[1:]:
            training_data(ranker, X, y, sample_weight)
        return self._fit_path(checked, target, rankers)

    def _fit_path(self, X: Any, target: Target, rankers: list[Self]) -> list[Self]:
        """Fit rankers that differ in C alone to checked data."""
        weighted, factor = class_weighted(self.class_weight, target)
        state: Any = None
        with one_blas_thread():
            model = rankers[0]._model(X, target.weights)
            for ranker in rankers:
                name = type(ranker).__name__
                with watching(name, ranker.max_iter, verbose=bool(ranker.verbose)) as watcher:
                    cost = float(ranker.C) * factor
                    solution = ranker._optimise(model, weighted.sample, cost, watcher, state)
                state = solution.state
                if isinstance(model, LinearModel) and X.dtype != np.float64:
                    solution = ranker._rounded(solution, model, weighted.sample, cost, X.dtype)
                ranker._keep(solution, cost, X, model, target, weighted)
        return rankers

    def _rounded(
        self, solution: Solution, model: LinearModel, sample: Sample, cost: float, dtype: Any
    ) -> Solution:
        """Return a solution with coefficients rounded to a dtype, and the objective at these."""
        with np.errstate(over="ignore"):  # finite_scores tells
            coef = solution.coef.astype(dtype).astype(np.float64)
        scores = model.scores(coef)
        primal = 0.5 * model.squared_norm(coef, scores) + cost * self._loss(sample, scores)
        return solution._replace(coef=coef, certificate=replace(solution.certificate, primal=primal))

    def _model(self, X: Any, weights: Floats | None) -> Model:  # noqa: ARG002
        """Return the functions to choose from."""
        model = LinearModel(X)
        model.check_range()
        return model

    def _keep(
        self, solution: Solution, cost: float, X: Any, model: Model, target: Target, weighted: Target
    ) -> None:
        """Set what was learned, and warn where it is not what was asked for."""
        certificate = solution.certificate
        self.primal_objective_, self.dual_objective_ = certificate.primal, certificate.dual
        self.dual_gap_, self.n_iter_ = certificate.gap, solution.n_iter
        self.converged_ = bool(certificate.gap <= self.tol)
        self._forget(("coef_", "support_", "dual_coef_", "classes_", "thresholds_"))
        if solution.dual is not None:
            self.support_ = np.flatnonzero(solution.dual)
            self.dual_coef_ = solution.dual[self.support_]
        self._keep_classes(weighted, self._keep_function(solution, X, model, target))
        message = self._what_went_wrong(cost)
        if message:
            warnings.warn(f"{type(self).__name__} {message}", ConvergenceWarning, stacklevel=4)

    def _keep_function(
        self,
        solution: Solution,
        X: Any,
        model: Model,  # noqa: ARG002
        target: Target,  # noqa: ARG002
    ) -> NDArray[np.floating]:
        """Set what scores rows, and return the training rows' scores."""
        self.coef_ = solution.coef.astype(X.dtype)
        return linear_scores(X, self.coef_)

    def _check_parameters(self) -> None:
        check_number("C", self.C, 0.0, exclusive=True)
        if self.C > MOST_C:
            raise ValueError(
                f"C must be at most {MOST_C:g}, got {self.C!r}: the objective of data that are not separable "
                "would be beyond the range of floats."
            )
        check_number("tol", self.tol, 0.0, exclusive=True)
        check_number("max_iter", self.max_iter, 1, integer=True)

    def _what_went_wrong(self, cost: float) -> str:  # noqa: ARG002
        """Return what the user should know of the answer; empty where all is well."""
        if self.converged_:
            return ""
        rounded = hasattr(self, "coef_") and self.coef_.dtype == np.float32
        return (
            f"did not converge: the relative duality gap is {self.dual_gap_:.1e} after {self.n_iter_} "
            "iterations; raise max_iter or tol, lower C, or scale the features"
            f"{', or give them in float64, for coef_ to be so too' if rounded else ''}."
        )
