"""What rankers that stop on the duality gap share: fits for several C, kernels, fitted attributes."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Iterable, Mapping
from dataclasses import KW_ONLY, dataclass, replace
from typing import Any, NamedTuple, Self

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike, DTypeLike, NDArray
from sklearn.base import BaseEstimator, clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import Tags
from sklearn.utils.validation import check_is_fitted

from pushrank._base.docstrings import shared_docs
from pushrank._base.numeric import Floats, in_dtype
from pushrank._base.parallel import one_blas_thread
from pushrank._base.user_types import Label, Matrix, MatrixLike, Pairs, PerRow
from pushrank._base.validation import check_choice, check_number, warn
from pushrank.estimators import _target
from pushrank.estimators._base import RankerMixin, finite_scores, progress_bar, set_classes, set_features
from pushrank.models import Kernel, KernelModel, LinearModel, Model, RowSpace, in_row_space
from pushrank.solvers.infinite_push import BY_PAIRS
from pushrank.solvers.result import Certificate, CertifiedSolution

MAX_C = 1.0 / _target.MIN_ALPHA
KERNELS = ("linear", "rbf", "poly", "precomputed")
# These kernels are positive semi-definite for all parameters; others are checked.
DEFINITE_KERNELS = ("rbf", "poly")
# Kernel values are computed in blocks of this number, which take 32 MB.
BLOCK_ENTRIES = 1 << 22
MEGABYTE = 1 << 20
# A variance below this part of the mean square is zero up to rounding.
VARIANCE_ROUNDING = 1e-12

RiskOfScores = Callable[[Floats], float]
SolverAndRisk = tuple[Callable[..., CertifiedSolution], RiskOfScores]
"""A function of C, a callback and the state before, which solves, and the risk that it minimises."""


class CertifiedSpec(NamedTuple):
    """What a certified ranker minimises, and how: ``solver`` is a function of a model and a sample."""

    # The risk is `centred` if a constant added to all scores changes nothing. `collapse_advice` says what to
    # do where zero coefficients are optimal; None where they are as good an answer as others. With `grades`
    # the risk is of pairs of any kind.

    solver: Callable[[Any, Any], SolverAndRisk]
    collapse_advice: str | None = None
    centred: bool = True
    grades: bool = False


def limits(ranker: RankerMixin) -> dict[str, Any]:
    """Return the tolerance and the largest number of iterations of a solver."""
    return {"tol": float(ranker.tol), "max_iter": int(ranker.max_iter)}


def _rounded(
    solution: CertifiedSolution, C: float, model: LinearModel, dtype: DTypeLike, risk: RiskOfScores
) -> CertifiedSolution:
    """Return a solution with coefficients of the features, rounded to a dtype, and their objective."""
    coef = in_dtype(model.lift(solution.coef), dtype).astype(np.float64)
    model = model.features if isinstance(model, RowSpace) else model
    scores = model.scores(coef)
    primal = 0.5 * model.squared_norm(coef, scores) + C * risk(scores)
    return solution._replace(coef=coef, certificate=replace(solution.certificate, primal=primal))


def _warn_of_flaws(ranker: RankerMixin, certificate: Certificate, collapse: str, single: bool) -> None:
    """Warn if zero coefficients are optimal, or the gap is above the tolerance."""
    message = f"collapsed: {collapse}" if collapse else ""
    if not collapse and not ranker.converged_:
        easier = "lower C, give the features in float64, for coef_ to be so too" if single else "lower C"
        if getattr(ranker, "solver", "auto") == BY_PAIRS:
            easier = "use solver='auto'"
        elif getattr(ranker, "max_seconds", None) is not None:
            easier = "lower C, raise max_seconds"
        message = f"did not converge: {certificate.advice(ranker.n_iter_, easier)}"
    if message:
        warn(f"{type(ranker).__name__} {message}", ConvergenceWarning)


def _set_coefficients(ranker: BaseEstimator, solution: CertifiedSolution, model: Model, data: Any) -> None:
    """Set the coefficients, or the support rows of a kernel with their weights."""
    variables = solution.dual if isinstance(model, LinearModel) else solution.coef
    if hasattr(ranker, "kernel"):
        ranker.support_ = None if variables is None else np.flatnonzero(variables)
        ranker.dual_coef_ = None if variables is None else variables[ranker.support_]
        ranker.support_vectors_ = ranker.gamma_ = None
        # A fit with a kernel has no coefficients, also after a linear one.
        vars(ranker).pop("coef_", None)
    if isinstance(model, LinearModel):
        ranker.coef_ = in_dtype(solution.coef, data.dtype)
        return
    if isinstance(model, KernelModel) and ranker.kernel in DEFINITE_KERNELS:
        ranker.gamma_ = model.kernel.gamma
    if ranker.kernel != "precomputed":
        ranker.support_vectors_ = data[ranker.support_].astype(np.float64)


@shared_docs
@dataclass(eq=False, repr=False)
class CertifiedMixin(RankerMixin):
    """Fits to two classes for one C or several, and scores that may be those of a kernel."""

    # A ranker with kernels has the parameters `kernel`, `gamma`, `degree`, `coef0` and `cache_size`, and no
    # `coef_` where its scores are sums over the `support_` rows.

    _: KW_ONLY
    C: float = 1.0
    class_weight: str | Mapping[Label, float] | None = None
    tol: float = 1e-4
    max_iter: int = 1000
    verbose: bool = False

    def fit(self, X: MatrixLike, y: ArrayLike, sample_weight: PerRow = None, *, qid: PerRow = None) -> Self:
        """Learn a ranking from examples of two classes.

        %(two_class_rows fitted)s
        """
        return self._fit_each([self], X, y, sample_weight, qid)[0]

    def path(
        self,
        X: MatrixLike,
        y: ArrayLike,
        Cs: Iterable[float],
        sample_weight: PerRow = None,
        *,
        qid: PerRow = None,
    ) -> list[Self]:
        """Fit one ranker for each C, each from where the one before ended.

        Parameters
        ----------
        X : array-like, sparse matrix or data frame of shape (n_samples, n_features)
        y : array-like of shape (n_samples,)
        Cs : iterable of float
        %(weights_and_queries fitted_path)s
        """
        return self._fit_path(Cs, X, y, sample_weight, qid)

    def _renumber(self, numbers: NDArray[np.intp], n_rows: int) -> None:  # noqa: ARG002
        # A ranker without kernels has no rows of support.
        if (support := getattr(self, "support_", None)) is not None:
            self.support_: Any = numbers[support]

    @abstractmethod
    def _certified_spec(self, qid: PerRow) -> CertifiedSpec:
        """Return what is minimised; raise where a parameter that other rankers lack is out of range."""

    def _fit_path(
        self, Cs: Iterable[float], X: Any, y: PerRow, sample_weight: PerRow, qid: PerRow, pairs: Pairs = None
    ) -> list[Self]:
        try:
            rankers = [clone(self).set_params(C=C) for C in Cs]
        except TypeError as error:
            raise TypeError(f"Cs must be a list of numbers, got {Cs!r}.") from error
        if not rankers:
            raise ValueError("Cs must hold at least one number, got none.")
        return self._fit_each(rankers, X, y, sample_weight, qid, pairs)

    def _fit_each(
        self, rankers: list[Self], X: Any, y: Any, sample_weight: PerRow, qid: PerRow, pairs: Pairs = None
    ) -> list[Self]:
        """Validate, solve for the C of each ranker, set its fitted attributes, and warn of flaws."""
        for ranker in rankers:
            check_number("C", ranker.C, above=0.0, most=MAX_C)
        check_number("tol", self.tol, above=0.0)
        check_number("max_iter", self.max_iter, 1, integer=True)
        spec, first = self._certified_spec(qid), rankers[0]
        if spec.grades:
            X, target = _target.validate_ranking(first, X, y, sample_weight, qid=qid, pairs=pairs)
        else:
            X, target = _target.validate_two_classes(first, X, y, sample_weight)
        weighted, factor = _target.class_weighted(self.class_weight, target)
        sample = weighted.sample if spec.grades or qid is None else _target.queries_of(weighted, qid)
        with one_blas_thread():
            model = kernel_model(self, X, target.weights, centred=spec.centred)
            solve, risk = spec.solver(model, sample)
            state: Any = None
            scores: NDArray[np.floating]
            for ranker in rankers:
                C = factor * float(ranker.C)
                with progress_bar(ranker, ranker.max_iter) as callback:
                    solution = solve(C, callback, state)
                state = solution.state
                if isinstance(model, LinearModel) and (isinstance(model, RowSpace) or X.dtype != np.float64):
                    solution = _rounded(solution, C, model, X.dtype, risk)
                collapse = ""
                if spec.collapse_advice is not None:
                    # With zero coefficients all scores are equal.
                    at_zero = C * risk(np.zeros(model.n_rows))
                    collapse = solution.certificate.collapse(at_zero, ranker.tol, spec.collapse_advice)
                if collapse:
                    # What a solver leaves of them is rounding, and would rank rows by chance.
                    certificate = replace(solution.certificate, primal=at_zero)
                    solution = solution._replace(coef=np.zeros_like(solution.coef), certificate=certificate)
                if isinstance(model, KernelModel):
                    scores = model.scores(solution.coef)
                else:
                    scores = finite_scores(X, in_dtype(solution.coef, X.dtype))
                set_features(ranker, first)
                set_classes(ranker, weighted, scores, grades=spec.grades)
                _set_coefficients(ranker, solution, model, X)
                certificate = solution.certificate
                ranker.primal_objective_, ranker.dual_objective_ = certificate.primal, certificate.dual
                ranker.dual_gap_, ranker.n_iter_ = certificate.gap, solution.n_iter
                ranker.converged_ = bool(certificate.gap <= ranker.tol)
                single = isinstance(model, LinearModel) and X.dtype == np.float32
                _warn_of_flaws(ranker, certificate, collapse, single)
        return rankers

    def decision_function(self, X: MatrixLike) -> NDArray[np.floating]:
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
        X = _target.checked_data(self, X, accept_sparse=["csr"], dtype=np.float64, reset=False)
        if self.kernel == "precomputed":
            precomputed: NDArray[np.float64] = X[:, self.support_] @ self.dual_coef_ - self.threshold_
            return precomputed
        kernel, n_support = _kernel(self, self.gamma_ or 1.0), len(self.support_)
        scores = np.zeros(X.shape[0])
        height = max(1, BLOCK_ENTRIES // max(n_support, 1))
        for start in range(0, len(scores) if n_support else 0, height):
            rows = slice(start, start + height)
            scores[rows] = kernel.between(X[rows], self.support_vectors_) @ self.dual_coef_
        scores -= self.threshold_
        return scores

    def __sklearn_tags__(self) -> Tags:
        """Return scikit-learn's tags; a precomputed kernel is indexed by rows on both sides."""
        tags = super().__sklearn_tags__()
        kernel = getattr(self, "kernel", "linear")
        tags.input_tags.pairwise = isinstance(kernel, str) and kernel == "precomputed"
        tags.input_tags.sparse = not tags.input_tags.pairwise
        return tags


def check_kernel(ranker: RankerMixin, solvers: Iterable[str]) -> None:
    """Raise unless the parameters of a ranker with kernels are in their ranges, and go together."""
    if not callable(ranker.kernel) and ranker.kernel not in KERNELS:
        raise ValueError(f"kernel must be one of {list(KERNELS)} or callable, got {ranker.kernel!r}.")
    if isinstance(ranker.gamma, str):
        if ranker.gamma not in ("scale", "auto"):
            raise ValueError(f"gamma must be 'scale', 'auto' or a positive number, got {ranker.gamma!r}.")
    else:
        check_number("gamma", ranker.gamma, above=0.0)
    check_number("degree", ranker.degree, 1, integer=True)
    check_number("coef0", ranker.coef0, 0.0)
    check_number("cache_size", ranker.cache_size, above=0.0)
    check_choice("loss", ranker.loss, ("hinge", "squared_hinge"))
    check_choice("solver", ranker.solver, sorted(solvers))
    check_number("eta0", ranker.eta0, above=0.0)
    if ranker.solver == BY_PAIRS and ranker.loss != "hinge":
        raise ValueError(f"solver={BY_PAIRS!r} is for loss='hinge', not loss={ranker.loss!r}.")


def is_linear(ranker: RankerMixin) -> bool:
    """Return whether a ranker has linear scores, not those of a kernel."""
    kernel = getattr(ranker, "kernel", "linear")
    return isinstance(kernel, str) and kernel == "linear"


def kernel_model(ranker: RankerMixin, X: Matrix, weights: Floats | None, *, centred: bool) -> Model:
    """Return the functions of a kernel, or linear functions, checked to be in the range of solvers."""
    if is_linear(ranker):
        linear = LinearModel(X, centred=centred)
        linear.check_range()
        return in_row_space(linear)
    if ranker.kernel != "precomputed":
        # In single precision rounding makes kernels that are not positive semi-definite.
        X = X.astype(np.float64, copy=False)
        LinearModel(X, centred=False).check_range()
    elif X.shape[0] != X.shape[1]:
        raise ValueError(
            f"kernel='precomputed' needs the square matrix of the training rows' kernel, got shape {X.shape}."
        )
    elif sp.issparse(X):
        raise ValueError("kernel='precomputed' needs a dense matrix, got a sparse one.")
    elif not np.allclose(X, X.T, rtol=1e-5, atol=1e-8 * float(np.abs(X).max(initial=0.0))):
        raise ValueError("kernel='precomputed' needs a symmetric matrix, and this one is not.")
    kernel = _kernel(ranker, _gamma(ranker, X, weights))
    model = KernelModel(X, kernel, int(ranker.cache_size * MEGABYTE))
    if ranker.kernel not in DEFINITE_KERNELS:
        model.check_definite()
    return model


def _kernel(ranker: RankerMixin, gamma: float) -> Kernel:
    return Kernel(ranker.kernel, gamma, int(ranker.degree), float(ranker.coef0))


def _gamma(ranker: RankerMixin, X: Any, weights: Floats | None) -> float:
    """Return the kernel's gamma for the training rows."""
    if ranker.gamma == "auto" or ranker.kernel == "precomputed":
        return 1.0 / int(X.shape[1])
    if ranker.gamma != "scale":
        return float(ranker.gamma)
    fractions = np.ones(X.shape[0]) if weights is None else weights
    fractions = fractions / fractions.sum()
    squares = X.multiply(X) if sp.issparse(X) else np.square(X, dtype=np.float64)
    mean, mean_square = (float(np.mean(fractions @ table)) for table in (X, squares))
    scaled = int(X.shape[1]) * (mean_square - mean**2)
    return 1.0 / scaled if scaled > VARIANCE_ROUNDING * mean_square else 1.0
