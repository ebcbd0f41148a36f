"""Weak rankers as AdaBoost's weak classifiers: from [0, 1] to [-1, 1], with a constant among them."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from pushrank._log_space import Floats
from pushrank.weak_rankers.base import GrowingPool, Numbers, Pool, Values


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
