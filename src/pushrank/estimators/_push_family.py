"""Push rankers that can be fitted both ways: by a gradient solver on the columns, or by boosting."""

from __future__ import annotations

import inspect
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator

from pushrank._log_space import Floats
from pushrank.estimators._boosting import LEARNED, BoostedRanker, problem_scales
from pushrank.estimators._linear import LinearRanker
from pushrank.estimators._target import Target
from pushrank.estimators._validation import check_number, check_solver, ranking_data

OF_BOOSTING = (
    "steps_",
    "rankers_",
    "weak_rankers_",
    "edge_path_",
    "margin_",
    "_history",
    *(name for name in LEARNED if name not in ("classes_", "thresholds_", "coef_")),
)
"""Attributes of a fit by boosting alone."""

FOR_BOOSTING = (
    "weak_rankers",
    "max_rounds",
    "learning_rate",
    "signed",
    "monotonic_cst",
    "subsample",
    "max_features",
    "early_stopping",
    "checkpoint",
)
"""Parameters that change a fit by boosting only."""


class PushFamilyRanker(LinearRanker, BoostedRanker):
    """A push ranker: linear by a gradient solver, or of any weak rankers by boosting."""

    def fit(
        self,
        X: Any,
        y: ArrayLike | None = None,
        sample_weight: ArrayLike | None = None,
        *,
        group: ArrayLike | None = None,
        qid: ArrayLike | None = None,
        pairs: Any = None,
    ) -> Self:
        """Learn a ranking from two classes, from grades of relevance, or from explicit pairs.

        Parameters
        ----------
        X : array-like, sparse matrix or data frame of shape (n_samples, n_features)
            Features. float32 and float64 arrays, dense, CSR or CSC, are used where they lie, without a copy.
        y : array-like of shape (n_samples,), optional
            Labels of two classes, the larger in sorted order to be ranked at the top; or grades of
            relevance, numbers of which a higher one should stand above every lower one. None with ``pairs``.
        sample_weight : array-like of shape (n_samples,), optional
            Non-negative weights; an integer weight equals that many copies of the row.
        group : array-like, optional
            Query groups: a label for each row, or the sizes of consecutive groups. Rows are compared within
            their group only.
        qid : array-like of shape (n_samples,), optional
            The same as labels of rows, in any order.
        pairs : (better, worse) or (better, worse, weight), optional
            Explicit crucial pairs: row ``better[m]`` of ``X`` should stand above row ``worse[m]``. An array
            with two or three columns serves too. Pairs may contradict each other.

        Returns
        -------
        self
            The fitted ranker.

        Raises
        ------
        ValueError
            When a parameter is out of range, the data are not finite, or there is nothing to rank.
        TypeError
            When a parameter has the wrong type.
        ModelFileError
            When ``checkpoint`` names a file of another run, or no checkpoint.

        Warns
        -----
        ConvergenceWarning
            When the solver stopped early; the message says what to do.

        References
        ----------
        Rudin, JMLR 10 (2009), section 7, for crucial pairs.
        """
        check_solver(self.solver)
        if self.solver == "coordinate":
            return BoostedRanker.fit(self, X, y, sample_weight, group=group, qid=qid, pairs=pairs)
        self._check_only_linear()
        self._check_parameters()
        objective = self._objective()
        self._check_solver_can(objective)
        X, target = ranking_data(self, X, y, sample_weight, group, qid, pairs)
        return self._solve(objective, X, target)

    def decision_function(self, X: Any) -> NDArray[np.floating]:
        """Return a score for each row, the higher the better, positive where ``predict`` says positive.

        Parameters
        ----------
        X : array-like, sparse matrix or data frame of shape (n_samples, n_features)
            Rows with the features of ``fit``.

        Returns
        -------
        ndarray of shape (n_samples,)
            ``X @ coef_ - threshold_``, or the weighted sum of the weak rankers less ``threshold_``.
        """
        kind: type[Any] = BoostedRanker if hasattr(self, "steps_") else LinearRanker
        scores: NDArray[np.floating] = kind.decision_function(self, X)
        return scores

    def _keep_coef(self, coef: NDArray[np.floating], X: Any, target: Target) -> None:
        self._forget((*OF_BOOSTING, "thresholds_", "classes_"))
        LinearRanker._keep_coef(self, coef, X, target)

    def _check_only_linear(self) -> None:
        """Raise where a parameter of boosting is set that a gradient solver would ignore."""
        parameters = inspect.signature(type(self)).parameters
        for name in FOR_BOOSTING:
            value, default = getattr(self, name), parameters[name].default
            if value is not default and (isinstance(value, BaseEstimator) or value != default):
                raise ValueError(
                    f"{name}={value!r} is for boosting; set solver='coordinate', or leave {name}={default!r} "
                    f"with solver={self.solver!r}."
                )

    def _check_parameters(self) -> None:
        LinearRanker._check_parameters(self)
        if self.solver == "coordinate":
            check_number("max_iter", self.max_iter, 1, integer=True)
            BoostedRanker._check_parameters(self)

    @property
    def _max_rounds(self) -> int:
        return int(self.max_iter if self.max_rounds is None else self.max_rounds)

    @property
    def _penalty(self) -> float:
        return float(self.alpha)

    def _column_scales(self, *problem: Any) -> Floats | float:
        return problem_scales(*problem)

    def _initial_coef(self, n_features: int) -> Floats | None:
        if self.max_rounds is not None or not self.warm_start:
            return None
        return self._start(n_features)

    def __sklearn_tags__(self) -> Any:
        """Return scikit-learn's tags; missing values are taken by boosted stumps only."""
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan &= self.solver == "coordinate"
        return tags
