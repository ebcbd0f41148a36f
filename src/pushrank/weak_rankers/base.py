"""What all families of weak rankers share."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any, ClassVar, Protocol, Self, runtime_checkable

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator

from pushrank._numeric import Floats

Numbers = NDArray[np.intp]
Values = NDArray[Any]


class Pool(Protocol):
    """The weak rankers of a family at work on the training rows.

    A pool numbers its rankers. ``values`` of a ranker are float64 in [0, 1], or bool where it has two values
    only: ``low`` for false, which is zero but for AdaBoost's rankers in {-1, 1}, and one for true.
    """

    low: float
    n_rows: int

    @property
    def n_rankers(self) -> int:
        """How many weak rankers there are (so far)."""

    @property
    def features(self) -> Numbers:
        """The feature that each ranker reads, shape (n_rankers,); -1 where there is no single one."""

    @property
    def real_valued(self) -> NDArray[np.bool_]:
        """Which rankers take other values than 0 and 1, shape (n_rankers,)."""

    def edges(self, forces: Floats) -> Floats:
        """Return ``sum_i forces_i h_j(x_i)`` for every ranker, shape (n_rankers,)."""

    def values(self, ranker: int) -> Values:
        """Return ``h_j(x_i)`` for every training row."""


@runtime_checkable
class GrowingPool(Pool, Protocol):
    """A pool whose rankers are made to measure, one in each round."""

    def grow(
        self, targets: Floats, weights: Floats, features: Numbers | None, random_state: np.random.RandomState
    ) -> int:
        """Fit a new ranker to weighted targets and return its number."""


class WeakRankers(BaseEstimator, ABC):
    r"""A family of weak rankers :math:`h_j(x) \in [0, 1]`.

    Attributes
    ----------
    takes_missing : bool
        Whether features may be NaN.
    """

    takes_missing: ClassVar[bool] = False

    @abstractmethod
    def fit(
        self, X: Any, row_weights: Floats | None = None, random_state: np.random.RandomState | None = None
    ) -> Self:
        """Learn ranges or bins from checked features; rows of weight zero do not count."""

    @abstractmethod
    def pool(self, X: Any, n_threads: int | None = None) -> Pool:
        """Return the rankers at work on the training rows."""

    @abstractmethod
    def values(self, X: Any, ranker: int) -> Values:
        """Return ``h_j(x)`` for every row of ``X``."""

    @abstractmethod
    def scores(self, X: Any, rankers: Numbers, steps: Floats) -> Floats:
        """Return ``sum_t steps_t h_{rankers_t}(x)`` for every row of ``X``."""

    def value_matrix(self, X: Any) -> Floats:
        """Return the values of all distinct rankers of the fitted family on the rows of ``X``.

        Meant for small data, such as the matrix H of :func:`pushrank.theory.max_margin`: there are as many
        stumps as thresholds.

        Parameters
        ----------
        X : array-like of shape (n_rows, n_features)
            Features, as checked by the ranker.

        Returns
        -------
        ndarray of shape (n_rows, n_distinct)
            A column for each ranker that is not constant, without repetitions.

        Examples
        --------
        >>> from pushrank.weak_rankers import Stumps
        >>> X = np.array([[1.0], [2.0], [4.0]])
        >>> Stumps().fit(X).value_matrix(X).tolist()
        [[0.0, 0.0], [0.0, 1.0], [1.0, 1.0]]
        """
        pool = self.pool(X)
        probe = np.random.RandomState(0).standard_normal(X.shape[0])
        # a ranker that is constant has no edge under weights that add up to zero
        candidates = np.flatnonzero(pool.edges(probe - probe.mean()))
        columns = [np.asarray(pool.values(int(ranker)), dtype=np.float64) for ranker in candidates]
        columns = [column for column in columns if np.ptp(column) > 0.0]
        return np.unique(np.column_stack(columns), axis=1) if columns else np.zeros((X.shape[0], 0))

    @abstractmethod
    def importances(self, rankers: Numbers, gains: Floats) -> Floats:
        """Return how much of the gains is due to each feature, shape (n_features,).

        Raises
        ------
        AttributeError
            When the rankers do not tell which features they read.
        """


class PlusMinus:
    """The rankers of a pool as :math:`2 h - 1`.

    Parameters
    ----------
    pool : Pool
        Rankers in [0, 1].
    constant : bool
        Whether number 0 is the constant 1, and the pool's own numbers follow it.
    """

    low = -1.0

    def __init__(self, pool: Pool, *, constant: bool) -> None:
        self._pool, self._first = pool, int(constant)
        self.n_rows = pool.n_rows

    @property
    def n_rankers(self) -> int:
        """The pool's, and the constant."""
        return self._pool.n_rankers + self._first

    @property
    def features(self) -> Numbers:
        """The pool's; -1 for the constant."""
        return np.append(np.full(self._first, -1), self._pool.features)

    @property
    def real_valued(self) -> NDArray[np.bool_]:
        """The pool's; the constant is none."""
        return np.append(np.zeros(self._first, dtype=bool), self._pool.real_valued)

    def edges(self, forces: Floats) -> Floats:
        """Return the edges of the rankers in [-1, 1]."""
        total = float(forces.sum())
        return np.append(np.full(self._first, total), 2.0 * self._pool.edges(forces) - total)

    def values(self, ranker: int) -> Values:
        """Return values in [-1, 1]; true stands for 1 and false for -1 where there are only these."""
        if ranker < self._first:
            return np.ones(self.n_rows, dtype=bool)
        values = self._pool.values(ranker - self._first)
        return values if values.dtype == bool else 2.0 * values - 1.0


class GrowingPlusMinus(PlusMinus):
    """The same for a pool that grows."""

    _pool: GrowingPool

    def grow(
        self, targets: Floats, weights: Floats, features: Numbers | None, random_state: np.random.RandomState
    ) -> int:
        """Grow the pool."""
        return self._pool.grow(targets, weights, features, random_state) + self._first
