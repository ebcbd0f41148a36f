"""Linear push rankers that choose their push and penalty by cross-validation along a path."""

from __future__ import annotations

from abc import abstractmethod
from itertools import count
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn import get_config
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import check_cv
from sklearn.utils.metadata_routing import UNUSED, MetadataRouter, MethodMapping, process_routing
from sklearn.utils.parallel import Parallel, delayed
from sklearn.utils.validation import check_is_fitted

from pushrank._checks import check_number
from pushrank._threads import one_blas_thread
from pushrank.estimators._base import CoefficientRanker, linear_scores
from pushrank.estimators._folds import Fold, choose, results_table, stratified_folds
from pushrank.estimators._one_scorer import check_one_scorer
from pushrank.estimators._progress import watching
from pushrank.estimators._validation import check_alpha, training_data
from pushrank.estimators._warnings import warn
from pushrank.models import LinearModel
from pushrank.objectives import PushObjective
from pushrank.pairs import Sample
from pushrank.solvers.regularisation_path import RegularisationPath
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
        with watching(type(self).__name__, scores.size, verbose=bool(self.verbose)) as watcher:
            done = count(1)

            def show(_: int, /, **shown: float) -> None:
                if watcher is not None:
                    watcher(next(done), **shown)

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
