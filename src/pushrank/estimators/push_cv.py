"""Push rankers whose push and penalty are chosen by cross-validation along a path."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import KW_ONLY, dataclass
from itertools import product
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import BaseEstimator
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.validation import check_is_fitted

from pushrank._docstrings import shared_docs
from pushrank._parallel import one_blas_thread
from pushrank._validation import check_number
from pushrank.estimators import _search
from pushrank.estimators._base import RankerMixin, linear_scores, set_classes, warn
from pushrank.estimators._scoring import check_one_scorer
from pushrank.estimators._search import PerRow, Selection
from pushrank.estimators._target import check_alpha, sample_threshold, validate_two_classes
from pushrank.estimators.push import push_objective, set_certificate
from pushrank.losses import Loss
from pushrank.models import LinearModel
from pushrank.objectives import PushObjective
from pushrank.objectives.push import Side
from pushrank.pairs import ACCURACY, BipartiteSample
from pushrank.prices import Power, Price
from pushrank.rows import MemoryRows
from pushrank.solvers import linear_problem
from pushrank.solvers.path import RegularisationPath
from pushrank.solvers.result import Result


@shared_docs
@dataclass(eq=False, repr=False)
class PNormPushCV(_search.SearchMixin, RankerMixin, BaseEstimator):
    r"""The P-Norm Push, with p and alpha chosen by cross-validation along a path.

    Minimises, over linear scores :math:`f(x) = w \cdot x`,

    .. math::

        \frac{1}{p} \ln \sum_k \Bigl(\sum_i e^{-(f(x_i) - f(\tilde x_k))}\Bigr)^p
        + \frac{\alpha}{2} \|w\|^2

    for every p and :math:`\alpha` of the grid on the training rows of every fold, and then on all rows with
    the values that scored best.

    A solution starts from its neighbours on the grid, and with up to 1,024 features takes a few Newton steps,
    each O(n_samples * n_features ** 2); one with more features takes L-BFGS iterations of O(nnz). A fold's
    rows are copied, of `n_jobs` folds at a time.

    Rudin, *The P-Norm Push*, JMLR 10 (2009), section 5; Friedman, Hastie and Tibshirani, *Regularization
    paths for generalized linear models via coordinate descent*, J. Stat. Software 33 (2010), for warm starts;
    Breiman, Friedman, Olshen and Stone, *Classification and regression trees* (1984), section 3.4.3, for the
    rule of one standard error.

    Parameters
    ----------
    ps : sequence of float, default=(1, 2, 4, 8, 16, 64)
        The strengths of the push, each at least 1.
    alphas : sequence of float
    scoring : str or callable
    cv : int, splitter or iterable
    selection : {"best", "one_standard_error"}
        Take the best mean score, the first of equals in the order of `alphas` and then `ps`; or the largest
        alpha, and with it the first of `ps`, whose mean is within one standard error of the best. The
        standard error is that of the difference, fold by fold.
    %(search_parameters)s

    Attributes
    ----------
    p_ : float
        The chosen strength of the push.
    %(search_ coef_ classes_ threshold_ objective_path_cv_ converged_cv_)s
    %(primal_dual_penalty_ dual_gap_log_ features_)s

    Examples
    --------
    %(scaled_breast_cancer)s
    >>> ranker = PNormPushCV(ps=(1, 4), alphas=(0.01, 0.1), scoring="average_precision").fit(scale(X), y)
    >>> ranker.best_params_
    {'alpha': 0.1, 'p': 1.0}
    """

    ps: Sequence[float] = (1.0, 2.0, 4.0, 8.0, 16.0, 64.0)
    _: KW_ONLY
    alphas: Sequence[float] = (1e-4, 1e-3, 1e-2, 1e-1)
    scoring: str | Callable[..., float] = "positives_at_top"
    cv: Any = 5
    selection: Selection = "best"
    tol: float = 1e-4
    max_iter: int = 1000
    n_jobs: int | None = None
    verbose: bool = False

    def _choose(self, X: Any, y: ArrayLike, sample_weight: PerRow, groups: PerRow, time: PerRow) -> None:
        _search.check_numbers("ps", self.ps, least=1.0)
        ps = [float(p) for p in self.ps]
        objectives = [PushObjective(price=Power(p), scale="log") for p in ps]
        fit_path(self, "p", ps, objectives, X, y, sample_weight, groups, time)
        self.p_ = self.best_params_["p"]

    def _pair_objective(self) -> PushObjective:
        check_is_fitted(self)
        return PushObjective(price=Power(self.p_), scale="log")


@shared_docs
@dataclass(eq=False, repr=False)
class PushRankerCV(_search.SearchMixin, RankerMixin, BaseEstimator):
    r"""A push ranker of any pair loss, with price and alpha chosen by cross-validation along a path.

    Minimises the objective of :class:`PushRanker`,

    .. math:: \sum_k g\Bigl(\sum_i \ell(f(x_i) - f(\tilde x_k))\Bigr)

    on its scale and with the penalty :math:`\frac{\alpha}{2} \|w\|^2`, for every price g and :math:`\alpha`
    of the grid on the training rows of every fold, and then on all rows with the values that scored best.

    Parameters
    ----------
    loss : Loss or str
    prices : sequence of Price or str, default=("identity", Power(4), Power(16))
        The prices, from mild to strong, or their names in :mod:`pushrank.prices`. A start of each is the
        solution of the one before.
    alphas : sequence of float
    side : {"push", "pull", "both"}
    bottom_weight : float
    accuracy : float
    scoring : str or callable
    cv : int, splitter or iterable
    selection : {"best", "one_standard_error"}
        Take the best mean score, the first of equals in the order of `alphas` and then `prices`; or the
        largest alpha, and with it the first of `prices`, whose mean is within one standard error of the best.
        The standard error is that of the difference, fold by fold.
    %(search_parameters)s

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

    Rudin, *The P-Norm Push*, JMLR 10 (2009), sections 2 and 7.

    Examples
    --------
    %(scaled_breast_cancer)s
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
    selection: Selection = "best"
    tol: float = 1e-4
    max_iter: int = 1000
    n_jobs: int | None = None
    verbose: bool = False

    def _choose(self, X: Any, y: ArrayLike, sample_weight: PerRow, groups: PerRow, time: PerRow) -> None:
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
        fit_path(self, "price", list(prices), objectives, X, y, sample_weight, groups, time)
        self.price_ = self.best_params_["price"]

    def _objective(self, price: Price | str) -> PushObjective:
        return push_objective(self.loss, price, self.side, self.bottom_weight, self.accuracy)

    def _pair_objective(self) -> PushObjective:
        check_is_fitted(self)
        return self._objective(self.price_)


def fit_path(
    ranker: Any,
    push_name: str,
    pushes: list[Any],
    objectives: list[PushObjective],
    X: Any,
    y: ArrayLike,
    sample_weight: PerRow,
    groups: PerRow,
    time: PerRow,
) -> None:
    """Choose among penalised objectives, solved along a path on every fold, and solve the choice on all rows.

    Member ``(a, q)`` of the grid has the penalty ``alphas[a]`` and the objective of ``pushes[q]``.
    """
    _search.check_numbers("alphas", ranker.alphas)
    for alpha in ranker.alphas:
        check_alpha("alphas", alpha)
    check_number("tol", ranker.tol, above=0.0)
    check_number("max_iter", ranker.max_iter, 1, integer=True)
    check_one_scorer(ranker.scoring)
    alphas = [float(alpha) for alpha in ranker.alphas]
    frame, (X, target) = X, validate_two_classes(ranker, X, y, sample_weight)
    search = _search.Search.of_rows(ranker, frame, target, groups, time)
    # The order is that of scikit-learn's ParameterGrid, so that the first of equals is the same.
    grid = list(product(range(len(alphas)), range(len(pushes))))

    def solve(fold: _search.Fold) -> Iterator[_search.Member]:
        weights = None if target.weights is None else target.weights[fold.train]
        sample = BipartiteSample.from_mask(np.asarray(target.codes)[fold.train], weights)
        path = RegularisationPath(LinearModel(X[fold.train]), sample, ranker.tol, ranker.max_iter)
        by_push = path.solve_grid(objectives, alphas)
        for a, q in grid:
            result = by_push[q][a]
            scores = linear_scores(X, result.coef.astype(X.dtype))
            threshold = sample_threshold(scores[fold.train], sample)
            yield _search.Member(
                {"alpha": alphas[a], push_name: pushes[q]}, scores[fold.test], threshold, solution=result
            )

    # Scorers too run on one thread of BLAS, so that the number of jobs changes nothing.
    with one_blas_thread():
        measure = _search.ScorerOfFolds(ranker.scoring, X, target, search.folds)
        results = search.run(solve, measure, len(grid))
    # The best of equals is the first; the simplest has the largest penalty and then the mildest push.
    order = list(grid)
    if ranker.selection == "one_standard_error":
        order.sort(key=lambda member: (-alphas[member[0]], member[1]))
    complexity = [order.index(member) for member in grid]
    best = _search.choose(results.values, results.overall.mean(axis=1), complexity, ranker.selection)
    results.set_fitted(ranker, best)
    n_iter = np.array([[result.n_iter for result in solutions] for solutions in results.solutions])
    ranker.cv_results_["mean_n_iter"] = n_iter.mean(axis=0)
    a, q = grid[best]
    # The solutions of the folds lie around that of all rows, and their mean mostly lies nearer.
    starts = [solutions[best].coef for solutions in results.solutions]
    path = RegularisationPath(LinearModel(X), target.sample, ranker.tol, ranker.max_iter)
    final = path.solve(objectives[q], alphas[a], [np.mean(starts, axis=0), *starts])
    ranker.alpha_, ranker.coef_ = alphas[a], final.coef.astype(X.dtype)
    ranker.n_iter_ = int(n_iter.sum()) + final.n_iter
    ranker.objective_path_, ranker.converged_ = final.objective_path, final.converged
    set_classes(ranker, target, linear_scores(X, ranker.coef_))
    problem = linear_problem(objectives[q], MemoryRows(LinearModel(X), target.sample), alphas[a])
    set_certificate(ranker, problem, final.coef)
    warn_of_unfinished(ranker, [final, *(result for solutions in results.solutions for result in solutions)])


def warn_of_unfinished(ranker: Any, results: Sequence[Result]) -> None:
    """Warn where solutions did not converge."""
    n_unfinished = sum(not result.converged for result in results)
    if n_unfinished:
        warn(
            f"{type(ranker).__name__}: {n_unfinished} of {len(results)} solutions did not converge; raise "
            "max_iter or tol, leave out the smallest alphas, or scale the features.",
            ConvergenceWarning,
        )
