"""The push rankers with push and penalty chosen by cross-validation."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Sequence
from itertools import count
from typing import Any, Literal, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn import get_config
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import check_cv
from sklearn.utils.metadata_routing import UNUSED, MetadataRouter, MethodMapping, process_routing
from sklearn.utils.parallel import Parallel, delayed
from sklearn.utils.validation import check_is_fitted

from pushrank._parallel import one_blas_thread
from pushrank._validation import check_number
from pushrank.estimators._base import CoefficientRanker, linear_scores, progress_bar, warn
from pushrank.estimators._scoring import Fold, check_one_scorer, choose, results_table, stratified_folds
from pushrank.estimators._target import check_alpha, training_data
from pushrank.estimators.push import PushRanker
from pushrank.losses import Loss
from pushrank.models import LinearModel
from pushrank.objectives import PushObjective
from pushrank.objectives.push import Side
from pushrank.pairs import ACCURACY, Sample
from pushrank.prices import Power, Price
from pushrank.solvers.path import RegularisationPath
from pushrank.solvers.result import Result

SELECTIONS = ("best", "one_standard_error")


class PushCV(CoefficientRanker):
    """A linear ranker whose push and penalty are those with the best cross-validated score.

    A subclass has the constructor parameters ``alphas``, ``scoring``, ``cv``, ``selection``, ``tol``,
    ``max_iter``, ``n_jobs`` and ``verbose``, and names its pushes and their objectives.
    """

    __metadata_request__fit = {"groups": UNUSED}  # noqa: RUF012  they are the splitter's
    _push: str
    """The name of the push's parameter, such as ``p``."""

    @abstractmethod
    def _pushes(self) -> list[Any]:
        """Return the checked values of the push's parameter."""

    @abstractmethod
    def _objective_of(self, push: Any) -> PushObjective:
        """Return the objective that a checked value of the push's parameter stands for."""

    def _pair_objective(self) -> PushObjective:
        check_is_fitted(self)
        return self._objective_of(getattr(self, f"{self._push}_"))

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
            Finite features, dense, CSR or CSC.
        y : array-like of shape (n_samples,)
            Labels of two classes; the larger in sorted order is the positive one, to be ranked at the top.
        sample_weight : array-like of shape (n_samples,), optional
            Non-negative weights, for training and for scoring.
        groups : array-like of shape (n_samples,), optional
            What rows belong together, for a ``cv`` such as ``StratifiedGroupKFold`` that keeps groups whole.
            In a pipeline, metadata routing brings them here.

        Returns
        -------
        self
            The fitted ranker.

        Raises
        ------
        ValueError
            When a parameter is out of range, the data are not finite, ``y`` has not two classes, a part of
            the cross-validation lacks one of them, or a score is not a number.
        TypeError
            When a parameter has the wrong type, or weights are given to a scorer that takes none.

        Warns
        -----
        ConvergenceWarning
            When solutions stopped early; the message says how many.
        """
        self._check_parameters()
        pushes, alphas = self._pushes(), [float(alpha) for alpha in self.alphas]
        objectives = [self._objective_of(push) for push in pushes]
        X, target = training_data(self, X, y, sample_weight)
        folds = stratified_folds(self.cv, self.scoring, X, target, self._routed(groups))
        # the order of scikit-learn's ParameterGrid, so that the first of equals is the same
        grid = [(a, q) for a in range(len(alphas)) for q in range(len(pushes))]
        scores, n_iter = np.empty((2, len(grid), len(folds)))
        coefs = np.empty((len(grid), len(folds), X.shape[1]))
        unfinished = 0
        with progress_bar(type(self).__name__, scores.size, verbose=bool(self.verbose)) as callback:
            done = count(1)

            def show(_: int, /, **shown: float) -> None:
                if callback is not None:
                    callback(next(done), **shown)

            def solve(fold: Fold) -> list[tuple[Result, float]]:
                path = self._path(fold.train_rows, fold.sample)
                solved = path.solve_grid(objectives, alphas, show)
                results = [solved[q][a] for a, q in grid]
                return [(result, fold.score(result.coef.astype(X.dtype))) for result in results]

            # scoring, too, on one thread of BLAS, so that the number of jobs changes nothing
            with one_blas_thread():
                solved_folds = Parallel(self.n_jobs, require="sharedmem")(delayed(solve)(f) for f in folds)
        for f, solved_fold in enumerate(solved_folds):
            for g, (result, score) in enumerate(solved_fold):
                coefs[g, f], n_iter[g, f], scores[g, f] = result.coef, result.n_iter, score
                unfinished += not result.converged
        params = [{"alpha": alphas[a], self._push: pushes[q]} for a, q in grid]
        simplest_first = sorted(range(len(grid)), key=lambda g: (-alphas[grid[g][0]], grid[g][1]))
        self.cv_results_ = results_table(params, scores, n_iter)
        self.best_index_ = choose(scores, simplest_first if self.selection != "best" else None)
        self.best_params_ = params[self.best_index_]
        self.best_score_ = float(scores[self.best_index_].mean())
        self.n_splits_ = len(folds)
        a, q = grid[self.best_index_]
        starts = coefs[self.best_index_]
        final = self._path(X, target.sample).solve(objectives[q], alphas[a], [starts.mean(axis=0), *starts])
        unfinished += not final.converged
        self.alpha_, self.coef_ = alphas[a], final.coef.astype(X.dtype)
        self.n_iter_ = int(n_iter.sum()) + final.n_iter
        self.objective_path_, self.converged_ = final.objective_path, final.converged
        setattr(self, f"{self._push}_", pushes[q])
        self._keep_classes(target, linear_scores(X, self.coef_))
        if unfinished:
            warn(
                f"{type(self).__name__}: {unfinished} of {scores.size + 1} solutions did not converge; raise "
                "max_iter or tol, leave out the smallest alphas, or scale the features.",
                ConvergenceWarning,
            )
        return self

    def get_metadata_routing(self) -> Any:
        """Return scikit-learn's routing: weights stay here, groups go to the splitter.

        Returns
        -------
        MetadataRouter
            What is asked of ``fit``, and what ``cv`` asks of it.
        """
        to_split = MethodMapping().add(caller="fit", callee="split")
        router = MetadataRouter(owner=self).add_self_request(self)
        return router.add(splitter=check_cv(self.cv), method_mapping=to_split)

    def _routed(self, groups: ArrayLike | None) -> dict[str, Any]:
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
        return dict(process_routing(self, "fit", groups=groups).splitter.split)

    def _path(self, X: Any, sample: Sample) -> RegularisationPath:
        return RegularisationPath(LinearModel(X), sample, self.tol, self.max_iter)

    def _check_parameters(self) -> None:
        alphas: Any = self.alphas
        if np.ndim(alphas) != 1 or len(alphas) == 0:
            raise ValueError(f"alphas must be a list of at least one number, got {alphas!r}.")
        for alpha in alphas:
            check_alpha("alphas", alpha)
        check_number("tol", self.tol, above=0.0)
        check_number("max_iter", self.max_iter, 1, integer=True)
        check_one_scorer(self.scoring)
        if self.selection not in SELECTIONS:
            raise ValueError(f"selection must be one of {list(SELECTIONS)}, got {self.selection!r}.")


class PNormPushCV(PushCV):
    r"""The P-Norm Push, with p and alpha chosen by cross-validation along a path.

    Minimises, over linear scores :math:`f(x) = w \cdot x`,

    .. math::

        \frac{1}{p} \ln \sum_k \Bigl(\sum_i e^{-(f(x_i) - f(\tilde x_k))}\Bigr)^p
        + \frac{\alpha}{2} \|w\|^2

    for every p and :math:`\alpha` of the grid, on the training rows of every fold, and again on all rows with
    those that scored best.

    Parameters
    ----------
    ps : sequence of float, default=(1, 2, 4, 8, 16, 64)
        The strengths of the push, each at least 1.
    alphas : sequence of float, default=(1e-4, 1e-3, 1e-2, 1e-1)
        The L2 strengths, each at least 0.
    scoring : str or callable, default="positives_at_top"
        The name of a scorer in :mod:`pushrank.metrics.scorers` or of scikit-learn's, or a scorer. A measure
        of few rows, such as the default, moves by chance, which ``selection="one_standard_error"`` allows
        for.
    cv : int, splitter or iterable, default=5
        The folds, stratified and in the order of the rows where it is a number.
    selection : {"best", "one_standard_error"}, default="best"
        Take the best mean score, the first of equals in the order of `alphas` and then `ps`; or the largest
        alpha, and with it the first of `ps`, whose mean is within one standard error of the best.
    tol : float, default=1e-4
        As for :class:`PNormPush`.
    max_iter : int, default=1000
        The most iterations of a solution.
    n_jobs : int or None, default=None
        How many folds to solve at a time, in threads, each with its rows copied; None is one, or what
        ``joblib.parallel_config`` says, and -1 all processors. It changes no result.
    verbose : bool, default=False
        Show a progress bar, of the solutions in the folds.

    Attributes
    ----------
    p_ : float
        The chosen strength of the push.
    alpha_ : float
        The chosen L2 strength.
    best_params_ : dict
        Both, by name.
    best_score_ : float
        Their mean score over the folds. It is optimistic, as the best of many: for a figure to report, put
        the whole estimator in ``cross_val_score``.
    best_index_ : int
        Their place in ``cv_results_``.
    cv_results_ : dict of str to array
        As of scikit-learn's ``GridSearchCV``, with ``mean_n_iter`` in place of times: a solution
        starts from its neighbours', so that what it took by the clock is not its own.
    n_splits_ : int
        The number of folds.
    n_iter_ : int
        Iterations of all solutions together.
    coef_, classes_, threshold_, objective_path_, converged_, n_features_in_, feature_names_in_
        As for :class:`PNormPush`, of the fit to all rows.

    Notes
    -----
    A solution starts from its neighbours on the grid, and with up to 1,024 features takes a few Newton steps,
    each O(n_samples * n_features^2); one with more features takes L-BFGS iterations of O(nnz). A fold's rows
    are copied, of `n_jobs` folds at a time.

    References
    ----------
    Rudin, *The P-Norm Push*, JMLR 10 (2009), equation (5); Friedman, Hastie and Tibshirani, *Regularization
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

    _push = "p"

    def __init__(
        self,
        ps: Sequence[float] = (1.0, 2.0, 4.0, 8.0, 16.0, 64.0),
        alphas: Sequence[float] = (1e-4, 1e-3, 1e-2, 1e-1),
        *,
        scoring: str | Callable[..., float] = "positives_at_top",
        cv: Any = 5,
        selection: Literal["best", "one_standard_error"] = "best",
        tol: float = 1e-4,
        max_iter: int = 1000,
        n_jobs: int | None = None,
        verbose: bool = False,
    ) -> None:
        self.ps = ps
        self.alphas = alphas
        self.scoring = scoring
        self.cv = cv
        self.selection = selection
        self.tol = tol
        self.max_iter = max_iter
        self.n_jobs = n_jobs
        self.verbose = verbose

    def _pushes(self) -> list[float]:
        ps: Any = self.ps
        if np.ndim(ps) != 1 or len(ps) == 0:
            raise ValueError(f"ps must be a list of at least one number, got {ps!r}.")
        for p in ps:
            check_number("ps", p, 1.0)
        return [float(p) for p in ps]

    def _objective_of(self, push: float) -> PushObjective:
        return PushObjective(price=Power(push), scale="log")


class PushRankerCV(PushCV):
    r"""A push ranker of any pair loss, with price and alpha chosen by cross-validation along a path.

    Minimises the objective of :class:`PushRanker`,

    .. math:: \sum_k g\Bigl(\sum_i \ell(f(x_i) - f(\tilde x_k))\Bigr)

    on its scale and with the penalty :math:`\frac{\alpha}{2} \|w\|^2`, for every price g and :math:`\alpha`
    of the grid, on the training rows of every fold, and again on all rows with those that scored best.

    Parameters
    ----------
    loss : Loss or str, default="exponential"
        The pair loss, or its name in :mod:`pushrank.losses`.
    prices : sequence of Price or str, default=("identity", Power(4), Power(16))
        The prices, from mild to strong, or their names in :mod:`pushrank.prices`. A start of each is the
        solution of the one before.
    alphas : sequence of float, default=(1e-4, 1e-3, 1e-2, 1e-1)
        The L2 strengths, each at least 0.
    side : {"push", "pull", "both"}, default="push"
        Push negatives down, pull positives up, or both.
    bottom_weight : float, default=1.0
        The positive weight of the pull when ``side="both"``.
    accuracy : float, default=1e-10
        As for :class:`PushRanker`.
    scoring : str or callable, default="positives_at_top"
        As for :class:`PNormPushCV`.
    cv : int, splitter or iterable, default=5
        The folds, stratified and in the order of the rows where it is a number.
    selection : {"best", "one_standard_error"}, default="best"
        As for :class:`PNormPushCV`; the first of `prices` counts as the simplest.
    tol : float, default=1e-4
        As for :class:`PNormPush`.
    max_iter : int, default=1000
        The most iterations of a solution.
    n_jobs : int or None, default=None
        How many folds to solve at a time, in threads, each with its rows copied; None is one, or what
        ``joblib.parallel_config`` says, and -1 all processors. It changes no result.
    verbose : bool, default=False
        Show a progress bar, of the solutions in the folds.

    Attributes
    ----------
    price_ : Price or str
        The chosen price.
    alpha_, best_params_, best_score_, best_index_, cv_results_, n_splits_
        As for :class:`PNormPushCV`.
    n_iter_ : int
        Iterations of all solutions together.
    coef_, classes_, threshold_, objective_path_, converged_, n_features_in_, feature_names_in_
        As for :class:`PNormPush`, of the fit to all rows.

    Notes
    -----
    As for :class:`PNormPushCV`; losses other than the exponential take L-BFGS iterations.

    References
    ----------
    Rudin, *The P-Norm Push*, JMLR 10 (2009), equation (1) and section 7.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from sklearn.preprocessing import scale
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> ranker = PushRankerCV("logistic", prices=("identity", "log_one_plus"), alphas=(0.01, 0.1), cv=3)
    >>> ranker.fit(scale(X), y).n_splits_
    3
    """

    _push = "price"

    def __init__(
        self,
        loss: Loss | str = "exponential",
        prices: Sequence[Price | str] = ("identity", Power(4.0), Power(16.0)),
        *,
        alphas: Sequence[float] = (1e-4, 1e-3, 1e-2, 1e-1),
        side: Side = "push",
        bottom_weight: float = 1.0,
        accuracy: float = ACCURACY,
        scoring: str | Callable[..., float] = "positives_at_top",
        cv: Any = 5,
        selection: Literal["best", "one_standard_error"] = "best",
        tol: float = 1e-4,
        max_iter: int = 1000,
        n_jobs: int | None = None,
        verbose: bool = False,
    ) -> None:
        self.loss = loss
        self.prices = prices
        self.alphas = alphas
        self.side = side
        self.bottom_weight = bottom_weight
        self.accuracy = accuracy
        self.scoring = scoring
        self.cv = cv
        self.selection = selection
        self.tol = tol
        self.max_iter = max_iter
        self.n_jobs = n_jobs
        self.verbose = verbose

    def _pushes(self) -> list[Price | str]:
        given: Any = self.prices
        if np.ndim(given) != 1 or len(given) == 0:
            raise ValueError(f"prices must be a list of at least one price, got {self.prices!r}.")
        return list(given)

    def _objective_of(self, push: Price | str) -> PushObjective:
        ranker = PushRanker(
            self.loss, push, side=self.side, bottom_weight=self.bottom_weight, accuracy=self.accuracy
        )
        objective: PushObjective = ranker._pair_objective()
        if not objective.differentiable:
            raise ValueError(
                f"loss={objective.loss} with price={objective.price} is not differentiable, which the path "
                "needs. Use SquaredHinge or Logistic in place of a loss with a kink, and Power(p) with a "
                "large p, such as 1000, in place of Maximum."
            )
        return objective
