"""Push rankers that can be fitted both ways: by a gradient solver on the columns, or by boosting."""

from __future__ import annotations

import inspect
from numbers import Real
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from pushrank._log_space import Floats
from pushrank.estimators._additive import LEARNED, AdditiveRanker
from pushrank.estimators._boosting import BoostedRanker
from pushrank.estimators._linear import LinearRanker
from pushrank.estimators._target import Target
from pushrank.models import LinearModel
from pushrank.objectives import PushObjective
from pushrank.pairs import Sample
from pushrank.solvers import SOLVERS, Problem
from pushrank.solvers.column_boosting import slope_units
from pushrank.weak_rankers.base import WeakRankers

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


class PushFamilyRanker(BoostedRanker, LinearRanker):
    """A push ranker: linear by a gradient solver, or of any weak rankers by boosting."""

    _solvers: ClassVar[tuple[str, ...]] = ("auto", *SOLVERS)

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
        kind: type[Any] = AdditiveRanker if hasattr(self, "steps_") else LinearRanker
        scores: NDArray[np.floating] = kind.decision_function(self, X)
        return scores

    def _keep_coef(self, coef: NDArray[np.floating], X: Any, target: Target) -> None:
        self._forget(OF_BOOSTING)
        LinearRanker._keep_coef(self, coef, X, target)

    @property
    def _solver(self) -> str:
        """The name of the solver: ``"auto"`` boosts where a parameter of boosting is set."""
        if self.solver != "auto":
            return super()._solver
        return "coordinate" if self._set_for_boosting() else "lbfgs"

    def _set_for_boosting(self) -> list[str]:
        """Return the parameters of boosting that are not at their defaults."""
        parameters = inspect.signature(type(self)).parameters
        chosen = []
        for name in FOR_BOOSTING:
            value, default = getattr(self, name), parameters[name].default
            is_plain = isinstance(value, str | Real | None)
            if not is_plain or value != default:
                chosen.append(name)
        return chosen

    def _check_only_linear(self) -> None:
        """Raise where a parameter of boosting is set that a gradient solver would ignore."""
        chosen = self._set_for_boosting()
        if chosen:
            given = ", ".join(f"{name}={getattr(self, name)!r}" for name in chosen)
            raise ValueError(
                f"{given}: for boosting only; set solver='coordinate' or 'auto', or leave the default with "
                f"solver={self.solver!r}."
            )

    def _check_parameters(self) -> None:
        LinearRanker._check_parameters(self)
        if self._boosts:
            BoostedRanker._check_parameters(self)
        else:
            self._check_only_linear()

    def _check_rounds(self) -> None:
        # without a number, rounds run until the tolerance is reached
        if self.max_rounds is not None:
            super()._check_rounds()

    def _boost(
        self, objective: PushObjective, family: WeakRankers, X: Any, target: Target, y: ArrayLike | None
    ) -> None:
        if self._boosts:
            super()._boost(objective, family, X, target, y)
        else:
            self._check_solver_can(objective)
            self._solve(objective, X, target)

    @property
    def _boosts(self) -> bool:
        """Whether rounds of boosting fit the ranker, and not a gradient solver."""
        return self._solver == "coordinate"

    @property
    def _max_rounds(self) -> int:
        return int(self.max_iter if self.max_rounds is None else self.max_rounds)

    @property
    def _penalty(self) -> float:
        return float(self.alpha)

    def _column_scales(
        self, objective: PushObjective, X: Any, train: Sample, units: Floats
    ) -> Floats | float:
        return slope_units(Problem(objective, LinearModel(X), train, self._penalty), units)

    def _initial_coef(self, n_features: int) -> Floats | None:
        if not self.warm_start:
            return None
        if self._adds_rounds:
            return getattr(self, "_first_coef", None)
        return self._start(n_features) if self.max_rounds is None else None

    def __sklearn_tags__(self) -> Any:
        """Return scikit-learn's tags: boosted stumps take missing values, gradient solvers other arrays."""
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan &= self._boosts
        tags.array_api_support = not self._boosts
        return tags
