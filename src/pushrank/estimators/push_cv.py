"""The P-Norm Push with its push and penalty chosen by cross-validation along a path."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import KW_ONLY, dataclass
from itertools import product
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.validation import check_is_fitted

from pushrank._base.docstrings import shared_docs
from pushrank._base.numeric import in_dtype
from pushrank._base.parallel import one_blas_thread
from pushrank._base.user_types import MatrixLike, PerRow
from pushrank._base.validation import check_number
from pushrank.estimators import _search
from pushrank.estimators._base import BaseEstimator, linear_scores, set_classes, warn
from pushrank.estimators._scoring import check_one_scorer
from pushrank.estimators._search import Selection
from pushrank.estimators._target import check_alpha, sample_threshold, validate_two_classes
from pushrank.estimators.push import set_certificate
from pushrank.models import LinearModel
from pushrank.objectives import PushObjective
from pushrank.pairs import BipartiteSample
from pushrank.prices import Power
from pushrank.rows import MemoryRows
from pushrank.solvers import linear_problem
from pushrank.solvers.path import RegularisationPath


@shared_docs
@dataclass(eq=False, repr=False)
class PNormPushCV(_search.SearchMixin, BaseEstimator):
    r"""The P-Norm Push, with p and alpha chosen by cross-validation along a path.

    Minimises the objective of :class:`PNormPush`, with the norm :math:`\|w\|`, for every p and :math:`\alpha`
    of the grid on the training rows of every fold, and then on all rows with the values that scored best.

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
        The L2 strengths, each at least 0.
    scoring : str or callable
        The name of a scorer in :mod:`pushrank.metrics.scorers` or in scikit-learn, or a scorer. A metric of
        few rows, such as the default, moves by chance, which ``selection="one_standard_error"`` allows for.
    cv : int, splitter or iterable
    selection : {"best", "one_standard_error"}
        Take the best mean score, the first of equals in the order of `alphas` and then `ps`; or the largest
        alpha, and with it the first of `ps`, whose mean is within one standard error of the best. The
        standard error is that of the difference, fold by fold.
    tol : float
        As that of :class:`PNormPush`, for the gradient alone.
    max_iter : int
        The largest number of iterations of a solution.
    n_jobs : int or None
        %(n_jobs_of_folds)s
    verbose : bool
        Show a progress bar on standard error, of the solutions in the folds.

    Attributes
    ----------
    p_ : float
        The chosen strength of the push.
    alpha_ : float
        The chosen L2 strength.
    best_params_ : dict
        The chosen parameters by name.
    best_score_ : float
        The mean score of the chosen parameters over the folds. As the best of many it is optimistic: for a
        figure to report, put the whole estimator in ``cross_val_score``.
    best_index_ : int
        The index of the chosen parameters in ``cv_results_``.
    cv_results_ : dict of str to array
        As of scikit-learn's ``GridSearchCV``, with ``mean_n_iter`` in place of times, as each solution starts
        from those of its neighbours.
    n_splits_ : int
        The number of folds.
    n_iter_ : int
        The number of iterations of all solutions together.
    %(coef_ classes_ threshold_)s
    objective_path_ : ndarray
        The objective on all rows, at the start and after every iteration of the last solution.
    converged_ : bool
        Whether the gradient of the last solution came down to ``tol``.
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

    def _choose(
        self, X: MatrixLike, y: ArrayLike, sample_weight: PerRow, groups: PerRow, time: PerRow
    ) -> None:
        _search.check_numbers("ps", self.ps, least=1.0)
        _search.check_numbers("alphas", self.alphas)
        for alpha in self.alphas:
            check_alpha("alphas", alpha)
        check_number("tol", self.tol, above=0.0)
        check_number("max_iter", self.max_iter, 1, integer=True)
        check_one_scorer(self.scoring)
        ps, alphas = [float(p) for p in self.ps], [float(alpha) for alpha in self.alphas]
        objectives = [PushObjective(price=Power(p), scale="log") for p in ps]
        frame, (X, target) = X, validate_two_classes(self, X, y, sample_weight)
        search = _search.Search.of_rows(self, frame, target, groups, time)
        # The order is that of scikit-learn's ParameterGrid, so that the first of equals is the same.
        grid = list(product(range(len(alphas)), range(len(ps))))

        def path(fold: _search.Fold) -> Iterator[_search.Member]:
            weights = None if target.weights is None else target.weights[fold.train]
            sample = BipartiteSample.from_mask(np.asarray(target.codes)[fold.train], weights)
            solver = RegularisationPath(LinearModel(X[fold.train]), sample, self.tol, self.max_iter)
            by_p = solver.solve_grid(objectives, alphas)
            for a, q in grid:
                result = by_p[q][a]
                scores = linear_scores(X, in_dtype(result.coef, X.dtype))
                threshold = sample_threshold(scores[fold.train], sample)
                yield _search.Member(
                    {"alpha": alphas[a], "p": ps[q]}, scores[fold.test], threshold, solution=result
                )

        # Scorers too run on one thread of BLAS, so that the number of jobs changes nothing.
        with one_blas_thread():
            measure = _search.scorer_of_folds(self.scoring, X, target, search.folds)
            results = search.run(path, measure, len(grid))
        # The best of equals is the first; the simplest has the largest penalty and then the first p.
        order = list(grid)
        if self.selection == "one_standard_error":
            order.sort(key=lambda member: (-alphas[member[0]], member[1]))
        complexity = [order.index(member) for member in grid]
        best = _search.choose(results.values, results.overall.mean(axis=1), complexity, self.selection)
        results.set_fitted(self, best)
        n_iter = np.array([[result.n_iter for result in solutions] for solutions in results.solutions])
        self.cv_results_["mean_n_iter"] = n_iter.mean(axis=0)
        a, q = grid[best]
        # The solutions of the folds lie around that of all rows, and their mean mostly lies nearer.
        starts = [solutions[best].coef for solutions in results.solutions]
        solver = RegularisationPath(LinearModel(X), target.sample, self.tol, self.max_iter)
        final = solver.solve(objectives[q], alphas[a], [np.mean(starts, axis=0), *starts])
        self.p_, self.alpha_, self.coef_ = ps[q], alphas[a], in_dtype(final.coef, X.dtype)
        self.n_iter_ = int(n_iter.sum()) + final.n_iter
        self.objective_path_, self.converged_ = final.objective_path, final.converged
        set_classes(self, target, linear_scores(X, self.coef_))
        problem = linear_problem(objectives[q], MemoryRows(LinearModel(X), target.sample), alphas[a])
        set_certificate(self, problem, final.coef)
        solved = [final, *(result for solutions in results.solutions for result in solutions)]
        if n_unfinished := sum(not result.converged for result in solved):
            warn(
                f"PNormPushCV: {n_unfinished} of {len(solved)} solutions did not converge; raise max_iter or "
                "tol, leave out the smallest alphas, or scale the features.",
                ConvergenceWarning,
            )

    def _pair_objective(self) -> PushObjective:
        check_is_fitted(self)
        return PushObjective(price=Power(self.p_), scale="log")
