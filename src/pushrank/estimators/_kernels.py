"""Certified rankers that are linear, or sums of a kernel at training rows."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted, validate_data

from pushrank._checks import check_number
from pushrank._log_space import Floats
from pushrank.estimators._certified import CertifiedRanker, Solution
from pushrank.estimators._target import Target
from pushrank.models import Kernel, KernelModel, LinearModel, Model

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
