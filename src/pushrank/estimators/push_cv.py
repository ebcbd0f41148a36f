"""Push rankers whose push and penalty are chosen by cross-validation along a path."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import KW_ONLY, dataclass
from itertools import count
from typing import Any, Literal, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn import get_config
from sklearn.base import BaseEstimator
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import check_cv
from sklearn.utils.metadata_routing import UNUSED, MetadataRouter, MethodMapping, process_routing
from sklearn.utils.parallel import Parallel, delayed
from sklearn.utils.validation import check_is_fitted

from pushrank._parallel import one_blas_thread
from pushrank._validation import check_number
from pushrank.estimators._base import RankerMixin, linear_scores, progress_bar, set_two_classes, warn
from pushrank.estimators._docstrings import shared_docs
from pushrank.estimators._scoring import Fold, check_one_scorer, choose, results_table, stratified_folds
from pushrank.estimators._target import check_alpha, validate_two_classes
from pushrank.estimators.push import push_objective, set_certificate
from pushrank.losses import Loss
from pushrank.models import LinearModel
from pushrank.objectives import PushObjective
from pushrank.objectives.push import Side
from pushrank.pairs import ACCURACY
from pushrank.prices import Power, Price
from pushrank.solvers import LinearProblem
from pushrank.solvers.path import RegularisationPath
from pushrank.solvers.result import Result

SELECTIONS = ("best", "one_standard_error")


class GroupRoutingMixin:
    """Metadata routing of an estimator with a ``cv``: weights stay with it, groups go to the splitter."""

    __metadata_request__fit = {"groups": UNUSED}  # noqa: RUF012  they are the splitter's

    def get_metadata_routing(self) -> Any:
        """Return scikit-learn's routing: weights stay here, groups go to the splitter.

        Returns
        -------
        MetadataRouter
            What is asked of ``fit``, and what ``cv`` asks of it.
        """
        to_split = MethodMapping().add(caller="fit", callee="split")
        router = MetadataRouter(owner=self).add_self_request(self)
        return router.add(splitter=check_cv(self.cv), method_mapping=to_split)  # type: ignore[attr-defined]


@shared_docs
@dataclass(eq=False, repr=False)
class PNormPushCV(GroupRoutingMixin, RankerMixin, BaseEstimator):
    r"""The P-Norm Push, with p and alpha chosen by cross-validation along a path.

    Minimises, over linear scores :math:`f(x) = w \cdot x`,

    .. math::

        \frac{1}{p} \ln \sum_k \Bigl(\sum_i e^{-(f(x_i) - f(\tilde x_k))}\Bigr)^p
        + \frac{\alpha}{2} \|w\|^2

    for every p and :math:`\alpha` of the grid on the training rows of every fold, and then on all rows with
    the values that scored best.

    Parameters
    ----------
    ps : sequence of float, default=(1, 2, 4, 8, 16, 64)
        The strengths of the push, each at least 1.
    alphas : sequence of float
        %(alphas)s
    scoring : str or callable
        %(scoring_cv)s
    cv : int, splitter or iterable
        %(cv)s
    selection : {"best", "one_standard_error"}, default="best"
        Take the best mean score, the first of equals in the order of `alphas` and then `ps`; or the largest
        alpha, and with it the first of `ps`, whose mean is within one standard error of the best.
    tol : float
        %(tol_gradient)s
    max_iter : int
        %(max_iter_cv)s
    n_jobs : int or None
        %(n_jobs_folds)s
    verbose : bool
        %(verbose_cv)s

    Attributes
    ----------
    p_ : float
        The chosen strength of the push.
    %(search_ coef_ classes_ threshold_ objective_path_cv_ converged_cv_)s
    %(primal_dual_penalty_ dual_gap_log_ features_)s

    Notes
    -----
    A solution starts from its neighbours on the grid, and with up to 1,024 features takes a few Newton steps,
    each O(n_samples * n_features ** 2); one with more features takes L-BFGS iterations of O(nnz). A fold's
    rows are copied, of `n_jobs` folds at a time.

    References
    ----------
    Rudin, *The P-Norm Push*, JMLR 10 (2009), section 5; Friedman, Hastie and Tibshirani, *Regularization
    paths for generalized linear models via coordinate descent*, J. Stat. Software 33 (2010), for warm starts.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from sklearn.preprocessing import scale
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> ranker = PNormPushCV(ps=(1, 4), alphas=(0.01, 0.1), scoring="average_precision").fit(scale(X), y)
    >>> ranker.best_params_
    {'alpha': 0.1, 'p': 1.0}
    """

    ps: Sequence[float] = (1.0, 2.0, 4.0, 8.0, 16.0, 64.0)
    alphas: Sequence[float] = (1e-4, 1e-3, 1e-2, 1e-1)
    _: KW_ONLY
    scoring: str | Callable[..., float] = "positives_at_top"
    cv: Any = 5
    selection: Literal["best", "one_standard_error"] = "best"
    tol: float = 1e-4
    max_iter: int = 1000
    n_jobs: int | None = None
    verbose: bool = False

    def fit(
        self,
        X: Any,
        y: ArrayLike,
        sample_weight: ArrayLike | None = None,
        *,
        groups: ArrayLike | None = None,
    ) -> Self:
        """Choose the push and the penalty by cross-validation, and learn the coefficients with them.

        Parameters
        ----------
        X : array-like, sparse matrix or data frame of shape (n_samples, n_features)
            %(X)s
        y : array-like of shape (n_samples,)
            %(y_two_classes)s
        sample_weight : array-like of shape (n_samples,), optional
            %(sample_weight_cv)s
        groups : array-like of shape (n_samples,), optional
            %(groups)s

        %(fitted_search)s
        """
        ps: Any = self.ps
        if np.ndim(ps) != 1 or len(ps) == 0:
            raise ValueError(f"ps must be a list of at least one number, got {ps!r}.")
        for p in ps:
            check_number("ps", p, 1.0)
        objectives = [PushObjective(price=Power(float(p)), scale="log") for p in ps]
        self.p_ = fit_search(self, "p", [float(p) for p in ps], objectives, X, y, sample_weight, groups)
        return self

    def _pair_objective(self) -> PushObjective:
        check_is_fitted(self)
        return PushObjective(price=Power(self.p_), scale="log")


@shared_docs
@dataclass(eq=False, repr=False)
class PushRankerCV(GroupRoutingMixin, RankerMixin, BaseEstimator):
    r"""A push ranker of any pair loss, with price and alpha chosen by cross-validation along a path.

    Minimises the objective of :class:`PushRanker`,

    .. math:: \sum_k g\Bigl(\sum_i \ell(f(x_i) - f(\tilde x_k))\Bigr)

    on its scale and with the penalty :math:`\frac{\alpha}{2} \|w\|^2`, for every price g and :math:`\alpha`
    of the grid on the training rows of every fold, and then on all rows with the values that scored best.

    Parameters
    ----------
    loss : Loss or str
        %(pair_loss)s
    prices : sequence of Price or str, default=("identity", Power(4), Power(16))
        The prices, from mild to strong, or their names in :mod:`pushrank.prices`. A start of each is the
        solution of the one before.
    alphas : sequence of float
        %(alphas)s
    side : {"push", "pull", "both"}
        %(side)s
    bottom_weight : float
        %(bottom_weight)s
    accuracy : float
        %(accuracy)s
    scoring : str or callable
        %(scoring_cv)s
    cv : int, splitter or iterable
        %(cv)s
    selection : {"best", "one_standard_error"}, default="best"
        Take the best mean score, the first of equals in the order of `alphas` and then `prices`; or the
        largest alpha, and with it the first of `prices`, whose mean is within one standard error of the best.
    tol : float
        %(tol_gradient)s
    max_iter : int
        %(max_iter_cv)s
    n_jobs : int or None
        %(n_jobs_folds)s
    verbose : bool
        %(verbose_cv)s

    Attributes
    ----------
    price_ : Price or str
        The chosen price.
    %(search_ coef_ classes_ threshold_ objective_path_cv_ converged_cv_)s
    primal_objective_, dual_objective_, dual_gap_ : float
        As of :class:`PushRanker`.
    %(features_)s

    Notes
    -----
    A solution starts from its neighbours on the grid. With the exponential loss, a power price and up to
    1,024 features it takes a few Newton steps, each O(n_samples * n_features ** 2), and otherwise L-BFGS
    iterations, each two passes over the data and the sums over pairs. A fold's rows are copied, of `n_jobs`
    folds at a time.

    References
    ----------
    Rudin, *The P-Norm Push*, JMLR 10 (2009), sections 2 and 7.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from sklearn.preprocessing import scale
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> ranker = PushRankerCV("logistic", prices=("identity", "log_one_plus"), alphas=(0.01, 0.1), cv=3)
    >>> ranker.fit(scale(X), y).n_splits_
    3
    """

    loss: Loss | str = "exponential"
    prices: Sequence[Price | str] = ("identity", Power(4.0), Power(16.0))
    _: KW_ONLY
    alphas: Sequence[float] = (1e-4, 1e-3, 1e-2, 1e-1)
    side: Side = "push"
    bottom_weight: float = 1.0
    accuracy: float = ACCURACY
    scoring: str | Callable[..., float] = "positives_at_top"
    cv: Any = 5
    selection: Literal["best", "one_standard_error"] = "best"
    tol: float = 1e-4
    max_iter: int = 1000
    n_jobs: int | None = None
    verbose: bool = False

    def fit(
        self,
        X: Any,
        y: ArrayLike,
        sample_weight: ArrayLike | None = None,
        *,
        groups: ArrayLike | None = None,
    ) -> Self:
        """Choose the price and the penalty by cross-validation, and learn the coefficients with them.

        Parameters
        ----------
        X : array-like, sparse matrix or data frame of shape (n_samples, n_features)
            %(X)s
        y : array-like of shape (n_samples,)
            %(y_two_classes)s
        sample_weight : array-like of shape (n_samples,), optional
            %(sample_weight_cv)s
        groups : array-like of shape (n_samples,), optional
            %(groups)s

        %(fitted_search)s
        """
        prices: Any = self.prices
        if np.ndim(prices) != 1 or len(prices) == 0:
            raise ValueError(f"prices must be a list of at least one price, got {prices!r}.")
        objectives = [self._objective(price) for price in prices]
        for objective in objectives:
            if not objective.differentiable:
                raise ValueError(
                    f"loss={objective.loss} with price={objective.price} is not differentiable, which the "
                    "path needs. Use SquaredHinge or Logistic in place of a loss with a kink, and Power(p) "
                    "with a large p, such as 1000, in place of Maximum."
                )
        self.price_ = fit_search(self, "price", list(prices), objectives, X, y, sample_weight, groups)
        return self

    def _objective(self, price: Price | str) -> PushObjective:
        return push_objective(self.loss, price, self.side, self.bottom_weight, self.accuracy)

    def _pair_objective(self) -> PushObjective:
        check_is_fitted(self)
        return self._objective(self.price_)


def fit_search(
    ranker: Any,
    push_name: str,
    pushes: list[Any],
    objectives: list[PushObjective],
    X: Any,
    y: ArrayLike,
    sample_weight: ArrayLike | None,
    groups: ArrayLike | None,
) -> Any:
    """Validate, solve the grid on every fold, choose, solve on all rows, set attributes; return the push."""
    check_search(ranker)
    alphas = [float(alpha) for alpha in ranker.alphas]
    X, target = validate_two_classes(ranker, X, y, sample_weight)
    folds = stratified_folds(ranker.cv, ranker.scoring, X, target, split_params(ranker, groups))
    # the order of scikit-learn's ParameterGrid, so that the first of equals is the same
    grid = [(a, q) for a in range(len(alphas)) for q in range(len(pushes))]
    n_solutions = len(grid) * len(folds)
    with progress_bar(ranker, n_solutions) as callback:
        solved = count(1)

        def show(_: int, /, **shown: float) -> None:
            if callback is not None:
                callback(next(solved), **shown)

        def solve(fold: Fold) -> list[tuple[Result, float]]:
            path = RegularisationPath(LinearModel(fold.train_X), fold.sample, ranker.tol, ranker.max_iter)
            by_push = path.solve_grid(objectives, alphas, show)
            results = [by_push[q][a] for a, q in grid]
            return [(result, fold.score(result.coef.astype(X.dtype))) for result in results]

        # scoring, too, on one thread of BLAS, so that the number of jobs changes nothing
        with one_blas_thread():
            by_fold = Parallel(ranker.n_jobs, require="sharedmem")(delayed(solve)(fold) for fold in folds)
    scores = np.array([[score for _, score in fold] for fold in by_fold]).T
    n_iter = np.array([[result.n_iter for result, _ in fold] for fold in by_fold]).T
    params = [{"alpha": alphas[a], push_name: pushes[q]} for a, q in grid]
    simplest_first = sorted(range(len(grid)), key=lambda g: (-alphas[grid[g][0]], grid[g][1]))
    best = choose(scores, None if ranker.selection == "best" else simplest_first)
    a, q = grid[best]
    starts = [fold[best][0].coef for fold in by_fold]
    path = RegularisationPath(LinearModel(X), target.sample, ranker.tol, ranker.max_iter)
    final = path.solve(objectives[q], alphas[a], [np.mean(starts, axis=0), *starts])
    ranker.cv_results_ = results_table(params, scores) | {"mean_n_iter": n_iter.mean(axis=1)}
    ranker.best_index_, ranker.best_params_ = best, params[best]
    ranker.best_score_ = float(scores[best].mean())
    ranker.n_splits_ = len(folds)
    ranker.alpha_, ranker.coef_ = alphas[a], final.coef.astype(X.dtype)
    ranker.n_iter_ = int(n_iter.sum()) + final.n_iter
    ranker.objective_path_, ranker.converged_ = final.objective_path, final.converged
    set_two_classes(ranker, target, linear_scores(X, ranker.coef_))
    problem = LinearProblem(objectives[q], LinearModel(X), target.sample, alphas[a])
    set_certificate(ranker, problem, final.coef)
    results = [final, *(result for fold in by_fold for result, _ in fold)]
    n_unfinished = sum(not result.converged for result in results)
    if n_unfinished:
        warn(
            f"{type(ranker).__name__}: {n_unfinished} of {len(results)} solutions did not converge; raise "
            "max_iter or tol, leave out the smallest alphas, or scale the features.",
            ConvergenceWarning,
        )
    return pushes[q]


def check_search(ranker: Any) -> None:
    """Raise where what both searches share is out of range.

    Raises
    ------
    ValueError
        When a value is out of range.
    TypeError
        When one has the wrong type, or there are several scorers.
    """
    alphas: Any = ranker.alphas
    if np.ndim(alphas) != 1 or len(alphas) == 0:
        raise ValueError(f"alphas must be a list of at least one number, got {alphas!r}.")
    for alpha in alphas:
        check_alpha("alphas", alpha)
    check_number("tol", ranker.tol, above=0.0)
    check_number("max_iter", ranker.max_iter, 1, integer=True)
    check_one_scorer(ranker.scoring)
    if ranker.selection not in SELECTIONS:
        raise ValueError(f"selection must be one of {list(SELECTIONS)}, got {ranker.selection!r}.")


def split_params(ranker: Any, groups: ArrayLike | None) -> dict[str, Any]:
    """Return what the splitter is told besides the rows.

    Raises
    ------
    TypeError
        Under metadata routing, when there are groups and the splitter takes none.
    """
    if groups is None:
        return {}
    if not get_config()["enable_metadata_routing"]:
        return {"groups": groups}
    return dict(process_routing(ranker, "fit", groups=groups).splitter.split)
