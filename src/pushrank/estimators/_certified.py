"""The way of the data through a ranker with a certificate."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Iterable
from dataclasses import replace
from typing import Any, NamedTuple, Self

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike, NDArray
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.validation import check_is_fitted, validate_data

from pushrank._numeric import Floats
from pushrank._parallel import one_blas_thread
from pushrank._validation import check_number
from pushrank.estimators._base import CoefficientRanker, linear_scores, progress_bar, warn
from pushrank.estimators._target import LEAST_ALPHA, Target, class_weighted, training_data
from pushrank.models import Kernel, KernelModel, LinearModel, Model
from pushrank.pairs import Sample
from pushrank.solvers import Callback
from pushrank.solvers.result import Certificate

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
        self, model: Model, sample: Sample, C: float, callback: Callback | None, state: Any
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
        return self._fit_path([self], training_data, X, y, sample_weight)[0]

    def path(
        self, X: Any, y: ArrayLike, Cs: Iterable[float], sample_weight: ArrayLike | None = None
    ) -> list[Self]:
        """Fit one ranker for each C, each from where the one before ended.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_rows, n_features)
            The training rows, as for ``fit``.
        y : array-like of shape (n_rows,)
            Their classes.
        Cs : iterable of float
            The positive weights of the loss, in the order to go; rising is fastest.
        sample_weight : array-like of shape (n_rows,), optional
            The weights of the rows, as for ``fit``.

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
        return self._fit_path(self._for_each(Cs), training_data, X, y, sample_weight)

    def _for_each(self, Cs: Iterable[float]) -> list[Self]:
        """Return a ranker for each C, not fitted yet."""
        try:
            rankers = [clone(self).set_params(C=C) for C in Cs]
        except TypeError as error:
            raise TypeError(f"Cs must be a list of numbers, got {Cs!r}.") from error
        if not rankers:
            raise ValueError("Cs must hold at least one number, got none.")
        return rankers

    def _fit_path(
        self, rankers: list[Self], check: Callable[..., tuple[Any, Target]], X: Any, *given: Any
    ) -> list[Self]:
        """Fit rankers that differ in C alone to data that are checked, once, by ``check``."""
        for ranker in rankers:
            ranker._check_parameters()
        table, target = check(rankers[0], X, *given)
        for ranker in rankers[1:]:
            validate_data(ranker, X, skip_check_array=True)  # the names of the columns
        weighted, factor = class_weighted(self.class_weight, target)
        state: Any = None
        with one_blas_thread():
            model = rankers[0]._model(table, target.weights)
            for ranker in rankers:
                name = type(ranker).__name__
                with progress_bar(name, ranker.max_iter, verbose=bool(ranker.verbose)) as callback:
                    cost = float(ranker.C) * factor
                    solution = ranker._optimise(model, weighted.sample, cost, callback, state)
                state = solution.state
                if isinstance(model, LinearModel) and table.dtype != np.float64:
                    solution = ranker._rounded(solution, model, weighted.sample, cost, table.dtype)
                ranker._keep(solution, cost, table, model, target, weighted)
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
            warn(f"{type(self).__name__} {message}", ConvergenceWarning)

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
        check_number("C", self.C, above=0.0, most=MOST_C)
        check_number("tol", self.tol, above=0.0)
        check_number("max_iter", self.max_iter, 1, integer=True)

    def _what_went_wrong(self, cost: float) -> str:  # noqa: ARG002
        """Return what the user should know of the answer; empty where all is well."""
        if self.converged_:
            return ""
        rounded = hasattr(self, "coef_") and self.coef_.dtype == np.float32
        easier = "lower C, give the features in float64, for coef_ to be so too" if rounded else "lower C"
        certificate = Certificate(self.primal_objective_, self.dual_objective_)
        return f"did not converge: {certificate.advice(self.n_iter_, easier)}"


KERNELS = ("linear", "rbf", "poly", "precomputed")
POSITIVE = ("rbf", "poly")  # semi-definite whatever the parameters
BLOCK_NUMBERS = 1 << 22  # kernel values that are worked on at a time
MEGABYTE = 1 << 20

LOSSES = ("hinge", "squared_hinge")
OF_THE_PAPER = "gradient-projection"


class KernelRanker(CertifiedRanker):
    """A certified ranker of linear scores, or of scores in the space of a kernel.

    A subclass has the constructor parameters ``kernel``, ``gamma``, ``degree``, ``coef0`` and
    ``cache_size`` beside those of :class:`CertifiedRanker`.
    """

    def decision_function(self, X: Any) -> NDArray[np.floating]:
        """Return a score for each row, the higher the better, positive where ``predict`` says positive.

        Parameters
        ----------
        X : array-like, sparse matrix or data frame of shape (n_samples, n_features)
            Rows with the features of ``fit``; with ``kernel="precomputed"`` the kernel of every row with
            every training row.

        Returns
        -------
        ndarray of shape (n_samples,)
            ``X @ coef_ - threshold_``, or the sum of the kernel at the ``support_`` rows, weighted by
            ``dual_coef_``, less ``threshold_``.
        """
        check_is_fitted(self, "n_iter_")
        if hasattr(self, "coef_"):
            return super().decision_function(X)
        X = validate_data(self, X, accept_sparse=["csr"], dtype=np.float64, reset=False)
        return self._function(X) - self.threshold_

    def _function(self, X: Any) -> NDArray[np.floating]:
        """Return the scores of checked rows by the kernel."""
        if self.kernel == "precomputed":
            precomputed: NDArray[np.float64] = X[:, self.support_] @ self.dual_coef_
            return precomputed
        kernel = self._kernel(self.gamma_)
        scores = np.zeros(X.shape[0])
        height = max(1, BLOCK_NUMBERS // max(len(self.support_), 1))
        for start in range(0, len(scores) if len(self.support_) else 0, height):
            rows = slice(start, start + height)
            scores[rows] = kernel.between(X[rows], self.support_vectors_) @ self.dual_coef_
        return scores

    def _kernel(self, gamma: float) -> Kernel:
        return Kernel(self.kernel, gamma, int(self.degree), float(self.coef0))

    @property
    def _is_linear(self) -> bool:
        return isinstance(self.kernel, str) and self.kernel == "linear"

    def _model(self, X: Any, weights: Floats | None) -> Model:
        if self._is_linear:
            return super()._model(X, weights)
        if self.kernel == "precomputed":
            _check_gram(X)
        else:
            # in single precision rounding makes kernels that are not positive semi-definite
            X = X.astype(np.float64, copy=False)
            LinearModel(X, centred=False).check_range()
        model = KernelModel(X, self._kernel(self._gamma(X, weights)), int(self.cache_size * MEGABYTE))
        if self.kernel not in POSITIVE:
            model.check_definite()
        return model

    def _keep_function(
        self, solution: Solution, X: Any, model: Model, target: Target
    ) -> NDArray[np.floating]:
        self._forget(("gamma_", "support_vectors_"))
        if isinstance(model, LinearModel):
            return super()._keep_function(solution, X, model, target)
        self.support_ = np.flatnonzero(solution.coef)
        self.dual_coef_ = solution.coef[self.support_]
        if self.kernel != "precomputed":
            self.gamma_ = self._gamma(X, target.weights)
            self.support_vectors_ = X[self.support_].astype(np.float64)
        return model.scores(solution.coef)

    def _gamma(self, X: Any, weights: Floats | None) -> float:
        """Return the kernel's gamma for the training rows."""
        if self.gamma == "auto" or self.kernel == "precomputed":
            return 1.0 / int(X.shape[1])
        if self.gamma != "scale":
            return float(self.gamma)
        shares = np.ones(X.shape[0]) if weights is None else weights
        shares = shares / shares.sum()
        squares = X.multiply(X) if sp.issparse(X) else np.square(X, dtype=np.float64)
        mean, mean_square = (float(np.mean(shares @ table)) for table in (X, squares))
        scaled = int(X.shape[1]) * (mean_square - mean**2)
        return 1.0 / scaled if scaled > 1e-12 * mean_square else 1.0

    def _check_parameters(self) -> None:
        super()._check_parameters()
        if not callable(self.kernel) and self.kernel not in KERNELS:
            raise ValueError(f"kernel must be one of {list(KERNELS)} or callable, got {self.kernel!r}.")
        if isinstance(self.gamma, str):
            if self.gamma not in ("scale", "auto"):
                raise ValueError(f"gamma must be 'scale', 'auto' or a positive number, got {self.gamma!r}.")
        else:
            check_number("gamma", self.gamma, above=0.0)
        check_number("degree", self.degree, 1, integer=True)
        check_number("coef0", self.coef0, 0.0)
        check_number("cache_size", self.cache_size, above=0.0)

    def __sklearn_tags__(self) -> Any:
        """Return scikit-learn's tags; a precomputed kernel is indexed by rows on both sides."""
        tags = super().__sklearn_tags__()
        tags.input_tags.pairwise = isinstance(self.kernel, str) and self.kernel == "precomputed"
        tags.input_tags.sparse = not tags.input_tags.pairwise
        return tags


def _check_gram(X: Any) -> None:
    """Raise unless a precomputed kernel can be one."""
    if X.shape[0] != X.shape[1]:
        raise ValueError(
            f"kernel='precomputed' needs the square matrix of the training rows' kernel, got shape {X.shape}."
        )
    if sp.issparse(X):
        raise ValueError("kernel='precomputed' needs a dense matrix, got a sparse one.")
    if not np.allclose(X, X.T, rtol=1e-5, atol=1e-8 * float(np.abs(X).max(initial=0.0))):
        raise ValueError("kernel='precomputed' needs a symmetric matrix, and this one is not.")
