"""Linear rankers fitted by a gradient solver."""

from __future__ import annotations

from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.exceptions import ConvergenceWarning

from pushrank._array import is_numpy, like, to_host
from pushrank._checks import check_number
from pushrank._threads import one_blas_thread
from pushrank.estimators._base import CoefficientRanker, linear_scores
from pushrank.estimators._comparing import ComparingRanker
from pushrank.estimators._progress import watching
from pushrank.estimators._target import Target
from pushrank.estimators._validation import check_alpha, check_solver, ranking_data
from pushrank.estimators._warnings import warn
from pushrank.models import ArrayLinearModel, LinearModel
from pushrank.objectives import PushObjective
from pushrank.pairs import Sample
from pushrank.solvers import SOLVERS, Problem, Result, Watcher

AnyLinearModel = LinearModel | ArrayLinearModel


class LinearRanker(CoefficientRanker, ComparingRanker):
    """A linear ranker that minimises a push objective of its scores.

    A subclass has the constructor parameters ``alpha``, ``solver``, ``tol``, ``max_iter``, ``warm_start``
    and ``verbose`` and names its objective.
    """

    _solvers: ClassVar[tuple[str, ...]] = tuple(SOLVERS)

    def _learn(self, X: Any, y: ArrayLike | None, *of_rows: Any) -> Self:
        self._check_parameters()
        objective = self._objective()
        self._check_solver_can(objective)
        X, target = ranking_data(self, X, y, *of_rows)
        return self._solve(objective, X, target)

    def _solve(self, objective: PushObjective, X: Any, target: Target) -> Self:
        """Fit the coefficients to checked data."""
        self._check_device(X, objective)
        with one_blas_thread():
            model = LinearModel(X) if is_numpy(X) else ArrayLinearModel(X)
            alpha = float(self.alpha)
            with watching(type(self).__name__, self.max_iter, verbose=bool(self.verbose)) as watcher:
                result = self._optimise(objective, model, target.sample, alpha, watcher)
        self._keep_coef(like(result.coef, X, X.dtype), X, target)
        self.n_iter_ = result.n_iter
        self.objective_path_ = result.objective_path
        self.converged_ = result.converged
        if not result.converged:
            warn(f"{type(self).__name__} did not converge: {result.message}", ConvergenceWarning)
        return self

    def _optimise(
        self,
        objective: PushObjective,
        model: AnyLinearModel,
        sample: Sample,
        alpha: float,
        watcher: Watcher | None,
    ) -> Result:
        """Run the solver on a differentiable objective."""
        problem = Problem(objective, model, sample, alpha)
        return SOLVERS[self._solver](problem, self._start(model.n_features), self.tol, self.max_iter, watcher)

    def _check_device(self, X: Any, objective: PushObjective) -> None:
        """Raise where arrays of another library are asked for what takes NumPy's."""
        if is_numpy(X):
            return
        if self._solver == "coordinate":
            raise ValueError("solver='coordinate' takes NumPy arrays only; use solver='lbfgs' or convert X.")
        if not objective.differentiable:
            raise ValueError(
                f"loss={objective.loss} with price={objective.price} has kinks, which are smoothed for NumPy "
                "arrays only; convert X, or use SquaredHinge and Power(p)."
            )

    def __sklearn_tags__(self) -> Any:
        """Return scikit-learn's tags: arrays of other libraries are taken where they are."""
        tags = super().__sklearn_tags__()
        tags.array_api_support = True
        return tags

    def _check_parameters(self) -> None:
        check_alpha("alpha", self.alpha)
        check_number("tol", self.tol, above=0.0)
        check_number("max_iter", self.max_iter, 1, integer=True)
        check_solver(self.solver, self._solvers)

    def _check_solver_can(self, objective: PushObjective) -> None:
        if self._solver == "newton-cg" and not objective.twice_differentiable:
            raise ValueError(
                f"solver='newton-cg' needs second derivatives, which loss={objective.loss} with "
                f"price={objective.price} does not have; use solver='lbfgs'."
            )

    @property
    def _solver(self) -> str:
        """The name of the solver to run."""
        return str(self.solver)

    def _start(self, n_features: int) -> NDArray[np.float64]:
        if self.warm_start and hasattr(self, "coef_"):
            return to_host(self.coef_).astype(np.float64)
        return np.zeros(n_features)

    def _keep_coef(self, coef: NDArray[np.floating], X: Any, target: Target) -> None:
        self._forget(("classes_", "thresholds_"))
        self.coef_ = coef
        self._keep_classes(target, linear_scores(X, coef))
