"""The interface of a family of weak rankers, and the encoding in {-1, +1} that AdaBoost needs."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any, ClassVar, Protocol, Self, runtime_checkable

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator

from pushrank._base.numeric import Floats
from pushrank._base.user_types import Matrix

Numbers = NDArray[np.intp]
Values = NDArray[Any]


class Outputs(Protocol):
    """The numbered weak rankers of a family on the training rows."""

    # The values of a ranker are float64 in [0, 1], or bool if it has only two values: true stands for one,
    # and false for `offset`, which is -1 for rankers in {-1, +1} and otherwise zero.

    offset: float
    n_rows: int

    @property
    def n_rankers(self) -> int:
        """The number of weak rankers (so far)."""

    @property
    def features(self) -> Numbers:
        """The feature that each ranker reads, shape (n_rankers,); -1 if it reads several or none."""

    @property
    def real_valued(self) -> NDArray[np.bool_]:
        """Which rankers take other values than 0 and 1, shape (n_rankers,)."""

    def edges(self, row_weights: Floats) -> Floats:
        """Return ``sum_i w_i h_j(x_i)`` for every ranker, shape (n_rankers,); weights may be negative."""

    def values(self, index: int) -> Values:
        """Return ``h_j(x_i)`` for every training row."""


@runtime_checkable
class GrowingOutputs(Outputs, Protocol):
    """Weak rankers that are fitted to the objective, one a round."""

    def fit_next(
        self, targets: Floats, weights: Floats, features: Numbers | None, random_state: np.random.RandomState
    ) -> int:
        """Fit a new ranker to weighted targets and return its number."""


class WeakRankers(BaseEstimator, ABC):
    r"""A family of weak rankers :math:`h_j(x) \in [0, 1]`; features may be NaN where it ``takes_missing``."""

    takes_missing: ClassVar[bool] = False

    @abstractmethod
    def fit(
        self, X: Matrix, row_weights: Floats | None = None, random_state: np.random.RandomState | None = None
    ) -> Self:
        """Learn ranges or bins from checked features; rows of weight zero do not count."""

    @abstractmethod
    def training_outputs(self, X: Matrix, n_threads: int | None = None) -> Outputs:
        """Return the rankers on the training rows."""

    @abstractmethod
    def values(self, X: Matrix, index: int) -> Values:
        """Return ``h_j(x)`` for every row of ``X``."""

    def scores(self, X: Matrix, indices: Numbers, weights: Floats) -> Floats:
        """Return ``sum_t weights_t h_{indices_t}(x)`` for every row of ``X``."""
        # A ranker that several rounds chose is evaluated once.
        totals = np.bincount(indices, weights)
        total = np.zeros(X.shape[0])
        for index in np.flatnonzero(totals):
            total += totals[index] * self.values(X, int(index))
        return total

    def value_matrix(self, X: Any) -> Floats:
        """Return the values of all distinct rankers of the fitted family, shape (n_rows, n_distinct).

        Meant for small data, such as the matrix H of :func:`pushrank.theory.max_margin`: there are as many
        stumps as thresholds. Rankers that are constant are left out.
        """
        outputs = self.training_outputs(X)
        probe = np.random.RandomState(0).standard_normal(X.shape[0])
        # Weights that add up to zero give a constant ranker the edge zero. So one call excludes most constant
        # rankers, whose values would each take a pass over the rows.
        candidates = np.flatnonzero(outputs.edges(probe - probe.mean()))
        columns = [np.asarray(outputs.values(int(index)), dtype=np.float64) for index in candidates]
        columns = [column for column in columns if np.ptp(column) > 0.0]
        return np.unique(np.column_stack(columns), axis=1) if columns else np.zeros((X.shape[0], 0))

    @abstractmethod
    def importances(self, indices: Numbers, gains: Floats) -> Floats:
        """Return the part of the gains that is due to each feature, shape (n_features,).

        Families that cannot know which features a ranker reads raise an AttributeError.
        """

    def directions(self, directions: NDArray[np.intp], names: list[str]) -> NDArray[np.intp]:  # noqa: ARG002
        """Return for each ranker the direction, -1, 0 or 1, in which its feature is constrained.

        Families whose rankers do not rise or fall with a feature raise a ValueError.
        """
        # Only stumps and columns are monotonic functions of one feature.
        raise ValueError("monotonic_cst needs weak_rankers='stumps' or 'columns'.")

    def truncate(self, n_rounds: int) -> None:
        """Remove the rankers of later rounds; families that are complete before the first have none."""


def check_declared(weak_rankers: WeakRankers, outputs: Outputs, X: Matrix) -> None:
    """Raise unless a user's family keeps its promises, as far as its first and its last ranker show."""
    # Random weights of both signs reveal edges that are not the sums of the values.
    if type(weak_rankers).__module__.partition(".")[0] == "pushrank" or not outputs.n_rankers:
        return
    probe = np.random.RandomState(0).standard_normal(outputs.n_rows)
    edges = outputs.edges(probe)
    for index in (0, outputs.n_rankers - 1):
        values = np.asarray(outputs.values(index), dtype=np.float64)
        where = f"weak ranker {index} of {weak_rankers}"
        outside = ~((values >= 0.0) & (values <= 1.0))
        if outside.any():
            row = int(np.argmax(outside))
            raise ValueError(f"{where} must have values in [0, 1], and has {values[row]:g} in row {row}.")
        if not np.allclose(values, weak_rankers.values(X, index)):
            raise ValueError(f"{where} has other values in training than by values(X, {index}).")
        if not np.isclose(edges[index], probe @ values, rtol=1e-6, atol=1e-6):
            raise ValueError(
                f"{where} has an edge of {edges[index]:g}, where its values make {probe @ values:g}."
            )


class PlusMinusOne:
    """Rankers in the {-1, +1} encoding, :math:`2 h - 1`, of rankers h in [0, 1]."""

    # If `constant`, number 0 is the constant 1, and the rankers follow it.

    offset = -1.0

    def __init__(self, outputs: Outputs, *, constant: bool) -> None:
        self._outputs, self.n_constants = outputs, int(constant)
        self.n_rows = outputs.n_rows
        # The loop recognises rankers that are fitted in the rounds by fit_next: others must not have it.
        if isinstance(outputs, GrowingOutputs):
            self.fit_next = lambda *arguments: outputs.fit_next(*arguments) + self.n_constants

    @property
    def n_rankers(self) -> int:
        return self._outputs.n_rankers + self.n_constants

    @property
    def features(self) -> Numbers:
        return np.append(np.full(self.n_constants, -1), self._outputs.features)

    @property
    def real_valued(self) -> NDArray[np.bool_]:
        return np.append(np.zeros(self.n_constants, dtype=bool), self._outputs.real_valued)

    def edges(self, row_weights: Floats) -> Floats:
        total = float(row_weights.sum())
        return np.append(np.full(self.n_constants, total), 2.0 * self._outputs.edges(row_weights) - total)

    def values(self, index: int) -> Values:
        if index < self.n_constants:
            return np.ones(self.n_rows, dtype=bool)
        # Values that are bool stay so, with another offset: closed-form steps depend on the type.
        values = self._outputs.values(index - self.n_constants)
        return values if values.dtype == bool else 2.0 * values - 1.0
