r"""Which positives of an Infinite Push have variables of their own in a restricted problem.

Under the hinge a positive well below its margin has its variable at the upper bound, and one well above it at
zero. Held there they enter as a constant pull, however many they are: only those near the margin are free.
Held variables are feasible, so that a restricted solution still bounds the whole problem.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from pushrank._log_space import Floats
from pushrank.solvers.worst_negative import WorstNegative

FREE = 16  # times the number of features
LEAST_FREE = 64
WRONG = 0.1  # of the tolerated gap, which holding may cost


class HeldPositives:
    """A choice of free positives, at first an even sample of them that stands for all.

    Attributes
    ----------
    free : ndarray of shape (n_free,)
        Their numbers among the positives, ascending.
    costs : ndarray of shape (n_free,)
        Their costs.
    held : ndarray of shape (n_positives,)
        The variables of those that are held; zero for the free.
    """

    def __init__(self, problem: WorstNegative, n_features: int) -> None:
        self._costs = problem.costs
        n_positives = len(problem.costs)
        self._size = max(FREE * n_features, LEAST_FREE)
        self._chosen = problem.squared or n_positives <= 2 * self._size
        self.held = np.zeros(n_positives)
        if self._chosen:
            self.free = np.arange(n_positives)
            self.costs = problem.costs
        else:
            self.free = np.linspace(0, n_positives - 1, self._size).astype(np.intp)
            self.costs = problem.costs[self.free] * (problem.costs.sum() / problem.costs[self.free].sum())

    def whole(self, alpha: Floats) -> Floats:
        """Return the variables of all positives from those of the free."""
        variables = self.held.copy()
        variables[self.free] = alpha
        return variables

    def suits(self, margins: Floats, tolerated: float) -> bool:
        """Return whether holding costs little at the margins of all positives; else free more of them.

        From the sample on it is those nearest to the margin that are free, and then all that turn out to be
        held at the wrong bound: each time the restricted problem's optimum rises towards that of the whole.
        """
        if not self._chosen:
            self._chosen = True
            self.free = _nearest(np.abs(margins - 1.0), self._size)
            self.held = np.where(margins < 1.0, self._costs, 0.0)
        else:
            wrong = np.maximum(np.where(self.held > 0.0, margins - 1.0, 1.0 - margins), 0.0)
            wrong[self.free] = 0.0
            if float(self._costs @ wrong) <= WRONG * tolerated:
                return True
            self.free = np.union1d(self.free, np.flatnonzero(wrong))
        self.held[self.free] = 0.0
        self.costs = self._costs[self.free]
        return False


def _nearest(distances: Floats, size: int) -> NDArray[np.intp]:
    """Return the numbers of the smallest distances, ascending."""
    if size >= len(distances):
        return np.arange(len(distances))
    return np.sort(np.argpartition(distances, size - 1)[:size])
