"""A user's functions as weak rankers."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Self

import numpy as np
from numpy.typing import ArrayLike

from pushrank._base.numeric import Floats
from pushrank._base.user_types import Matrix
from pushrank.models import LinearModel
from pushrank.weak_rankers.base import Numbers, Values, WeakRankers
from pushrank.weak_rankers.columns import ColumnOutputs, Columns


class Functions(WeakRankers):
    """A list of functions of the rows, each scaled by the range that it had in training.

    Training holds 8 bytes for each row and function.

    Freund, Iyer, Schapire and Singer, JMLR 4 (2003), section 3, ranking features.

    Parameters
    ----------
    functions : sequence of callable
        Each takes the checked features, shape (n_rows, n_features), and returns finite numbers (or truth
        values), shape (n_rows,), row by row.

    Attributes
    ----------
    offsets_, units_ : ndarray of shape (n_functions,)
        The least value of each function on the training rows, and one over how far the largest is above it;
        zero for a constant.

    Examples
    --------
    >>> functions = Functions([lambda X: X[:, 0] ** 2]).fit(np.array([[0.0], [2.0]]))
    >>> functions.values(np.array([[1.0]]), 0).tolist()
    [0.25]
    """

    def __init__(self, functions: Sequence[Callable[[Matrix], ArrayLike]]) -> None:
        self.functions = functions

    def fit(
        self, X: Matrix, row_weights: Floats | None = None, random_state: np.random.RandomState | None = None
    ) -> Self:
        """Learn the range of every function, each of which has to return a finite number a row."""
        if not len(self.functions):
            raise ValueError("weak_rankers must hold at least one function, got none.")
        for function in self.functions:
            if not callable(function):
                raise TypeError(f"weak rankers must be callables, got {function!r}.")
        columns = Columns().fit(self.outputs(X), row_weights, random_state)
        self.offsets_, self.units_ = columns.offsets_, columns.units_
        return self

    def training_outputs(self, X: Matrix, n_threads: int | None = None) -> ColumnOutputs:  # noqa: ARG002
        """Return the functions' values on the training rows."""
        # What the functions return is a matrix of features, so the outputs are its columns.
        outputs = ColumnOutputs(LinearModel(self.outputs(X)), self.offsets_, self.units_)
        outputs.features = np.full(len(self.functions), -1)
        return outputs

    def values(self, X: Matrix, index: int) -> Values:
        """Return a function's values in units of its range."""
        return np.asarray((self._output(X, index) - self.offsets_[index]) * self.units_[index])

    def importances(self, indices: Numbers, gains: Floats) -> Floats:  # noqa: ARG002
        """Raise an AttributeError, since it is unknown which features a function reads."""
        raise AttributeError("it is unknown which features weak rankers read that are functions.")

    def _output(self, X: Matrix, index: int) -> Floats:
        function = self.functions[index]
        values = np.asarray(function(X), dtype=np.float64)
        name = getattr(function, "__name__", repr(function))
        if values.shape != (X.shape[0],):
            raise ValueError(
                f"weak ranker {index} ({name}) must return one number a row, shape ({X.shape[0]},), got "
                f"shape {values.shape}."
            )
        wrong = np.flatnonzero(~np.isfinite(values))
        if len(wrong):
            raise ValueError(
                f"weak ranker {index} ({name}) must return finite numbers, got {values[wrong[0]]} for row "
                f"{wrong[0]}."
            )
        return values

    def outputs(self, X: Matrix) -> Floats:
        """Return the values of the functions for every row, shape (n_rows, n_functions)."""
        return np.column_stack([self._output(X, index) for index in range(len(self.functions))])
