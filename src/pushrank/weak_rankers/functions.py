"""A user's own weak rankers."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Self

import numpy as np

from pushrank._numeric import Floats
from pushrank.models import LinearModel
from pushrank.weak_rankers.base import Numbers, Values, WeakRankers
from pushrank.weak_rankers.columns import ColumnPool, Columns


class Functions(WeakRankers):
    """A list of functions of the rows, each scaled by the range that it had in training.

    Parameters
    ----------
    functions : sequence of callable
        Each takes the checked features, shape (n_rows, n_features), and returns finite numbers (or truth
        values), shape (n_rows,), row by row.

    Attributes
    ----------
    lows_, units_ : ndarray of shape (n_functions,)
        The least value of each function on the training rows, and one over how far the largest is above it;
        zero for a constant.

    Notes
    -----
    Training holds 8 bytes for each row and function.

    References
    ----------
    Freund, Iyer, Schapire and Singer, JMLR 4 (2003), section 3, ranking features.

    Examples
    --------
    >>> functions = Functions([lambda X: X[:, 0] ** 2]).fit(np.array([[0.0], [2.0]]))
    >>> functions.values(np.array([[1.0]]), 0).tolist()
    [0.25]
    """

    def __init__(self, functions: Sequence[Callable[[Any], Any]]) -> None:
        self.functions = functions

    def fit(
        self, X: Any, row_weights: Floats | None = None, random_state: np.random.RandomState | None = None
    ) -> Self:
        """Remember the range of every function.

        Raises
        ------
        ValueError
            When there is no function, or one returns numbers that are not finite or not one a row.
        TypeError
            When one cannot be called.
        """
        if not len(self.functions):
            raise ValueError("weak_rankers must hold at least one function, got none.")
        for function in self.functions:
            if not callable(function):
                raise TypeError(f"weak rankers must be callables, got {function!r}.")
        columns = Columns().fit(self.outputs(X), row_weights, random_state)
        self.lows_, self.units_ = columns.lows_, columns.units_
        return self

    def pool(self, X: Any, n_threads: int | None = None) -> ColumnPool:  # noqa: ARG002
        """Return the functions' values on the training rows."""
        pool = ColumnPool(LinearModel(self.outputs(X)), self.lows_, self.units_)
        pool.features = np.full(len(self.functions), -1)
        return pool

    def values(self, X: Any, ranker: int) -> Values:
        """Return a function's values in units of its range."""
        return np.asarray((self._output(X, ranker) - self.lows_[ranker]) * self.units_[ranker])

    def scores(self, X: Any, rankers: Numbers, steps: Floats) -> Floats:
        """Return the sums of steps."""
        weights = np.bincount(rankers, steps, minlength=len(self.functions))
        total = np.zeros(X.shape[0])
        for ranker in np.flatnonzero(weights):
            total += weights[ranker] * self.values(X, int(ranker))
        return total

    def importances(self, rankers: Numbers, gains: Floats) -> Floats:  # noqa: ARG002
        """Raise: functions do not tell which features they read.

        Raises
        ------
        AttributeError
            Always.
        """
        raise AttributeError("weak rankers that are functions do not tell which features they read.")

    def _output(self, X: Any, ranker: int) -> Floats:
        function = self.functions[ranker]
        values = np.asarray(function(X), dtype=np.float64)
        name = getattr(function, "__name__", repr(function))
        if values.shape != (X.shape[0],):
            raise ValueError(
                f"weak ranker {ranker} ({name}) must return one number a row, shape ({X.shape[0]},), got "
                f"shape {values.shape}."
            )
        wrong = np.flatnonzero(~np.isfinite(values))
        if len(wrong):
            raise ValueError(
                f"weak ranker {ranker} ({name}) must return finite numbers, got {values[wrong[0]]} for row "
                f"{wrong[0]}."
            )
        return values

    def outputs(self, X: Any) -> Floats:
        """Return what the functions give for every row, shape (n_rows, n_functions)."""
        return np.column_stack([self._output(X, ranker) for ranker in range(len(self.functions))])
