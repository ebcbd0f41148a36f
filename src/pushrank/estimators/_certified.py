"""Linear rankers whose answer comes with bounds on the optimum."""

from __future__ import annotations

import warnings
from abc import abstractmethod
from typing import Any, Self

from numpy.typing import ArrayLike
from sklearn.exceptions import ConvergenceWarning
from threadpoolctl import threadpool_limits

from pushrank._log_space import Floats
from pushrank.estimators._base import CoefficientRanker, linear_scores
from pushrank.estimators._progress import watching
from pushrank.estimators._validation import check_number, training_data
from pushrank.models import LinearModel
from pushrank.pairs import Sample
from pushrank.solvers import Watcher
from pushrank.solvers.certificate import Certificate


class CertifiedRanker(CoefficientRanker):
    """A linear ranker of two classes that stops on the duality gap.

    A subclass has the constructor parameters ``C``, ``tol``, ``max_iter`` and ``verbose``.
    """

    @abstractmethod
    def _optimise(
        self, model: LinearModel, sample: Sample, watcher: Watcher | None
    ) -> tuple[Floats, Certificate, int]:
        """Return coefficients, the bounds on the optimum, and the number of iterations."""

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
        with threadpool_limits(limits=1, user_api="blas"):
            model = LinearModel(X)
            model.check_range()
            with watching(type(self).__name__, self.max_iter, verbose=bool(self.verbose)) as watcher:
                coef, certificate, n_iter = self._optimise(model, target.sample, watcher)
        self.coef_ = coef.astype(X.dtype)
        self.primal_objective_, self.dual_objective_ = certificate.primal, certificate.dual
        self.dual_gap_, self.n_iter_ = certificate.gap, n_iter
        self.converged_ = bool(certificate.gap <= self.tol)
        self._keep_classes(target, linear_scores(X, self.coef_))
        message = self._what_went_wrong()
        if message:
            warnings.warn(f"{type(self).__name__} {message}", ConvergenceWarning, stacklevel=2)
        return self

    def _check_parameters(self) -> None:
        check_number("C", self.C, 0.0, exclusive=True)
        check_number("tol", self.tol, 0.0, exclusive=True)
        check_number("max_iter", self.max_iter, 1, integer=True)

    def _what_went_wrong(self) -> str:
        """Return what the user should know of the answer; empty where all is well."""
        if self.converged_:
            return ""
        return (
            f"did not converge: the relative duality gap is {self.dual_gap_:.1e} after {self.n_iter_} "
            "iterations; raise max_iter or tol, lower C, or scale the features."
        )
