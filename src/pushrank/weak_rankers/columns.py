"""The features themselves as weak rankers."""

from __future__ import annotations

from functools import cached_property
from typing import Literal, Self

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from pushrank._base.numeric import Floats
from pushrank._base.user_types import Matrix
from pushrank._base.validation import check_choice
from pushrank.models import LinearModel
from pushrank.weak_rankers.base import Numbers, Values, WeakRankers

# A range times its reciprocal is 1 up to rounding, which is thousands of times smaller than this.
RANGE_ROUNDING = 1e-12


class Columns(WeakRankers):
    r"""Every feature is a weak ranker, scaled by the range that it had in training or as it comes.

    .. math::

        h_j(x) = (x_j - \min_j) / (\max_j - \min_j),

    in [0, 1] on the training rows, and beyond on rows outside their range. Coefficients are those of
    :math:`x_j`. A feature that is constant in training is zero. Reads the data once; nothing is copied.

    Rudin, *The P-Norm Push*, JMLR 10 (2009), sections 5 and 8.

    Parameters
    ----------
    units : {"range", "none"}, default="range"
        As above, or :math:`h_j(x) = x_j`: for features that are scaled to [0, 1] over all rows.

    Attributes
    ----------
    offsets_, ranges_, units_ : ndarray of float64, shape (n_features,)
        The least value of each feature, how far the largest is above it, and one over that; without units 0,
        1 and 1. The last two are 0 for a constant feature.

    Examples
    --------
    >>> columns = Columns().fit(np.array([[1.0], [3.0]]))
    >>> columns.values(np.array([[2.0], [5.0]]), 0).tolist()
    [0.5, 2.0]
    """

    def __init__(self, units: Literal["range", "none"] = "range") -> None:
        self.units = units

    def fit(
        self,
        X: Matrix,
        row_weights: Floats | None = None,
        random_state: np.random.RandomState | None = None,  # noqa: ARG002
    ) -> Self:
        """Learn the range of every feature."""
        check_choice("units", self.units, ("range", "none"))
        # Rows of weight zero, such as those for validation, must not widen the ranges.
        if row_weights is not None and not row_weights.all():
            X = X[row_weights > 0.0]
        lows, highs = X.min(axis=0), X.max(axis=0)
        if sp.issparse(X):
            lows, highs = lows.toarray(), highs.toarray()
        self.offsets_ = np.asarray(lows, dtype=np.float64).ravel()
        self.ranges_ = np.asarray(highs, dtype=np.float64).ravel() - self.offsets_
        if self.units == "none":
            self.offsets_, self.ranges_ = np.zeros_like(self.offsets_), np.sign(self.ranges_)
        self.units_ = np.divide(1.0, self.ranges_, out=np.zeros_like(self.offsets_), where=self.ranges_ > 0.0)
        return self

    def training_outputs(self, X: Matrix, n_threads: int | None = None) -> ColumnOutputs:  # noqa: ARG002
        """Return the columns of the training rows."""
        # Centred columns keep their digits where a feature's mean is far larger than its spread.
        model = LinearModel(X)
        model.check_range()
        return ColumnOutputs(model, self.offsets_, self.units_)

    def coef(self, indices: Numbers, steps: Floats) -> Floats:
        """Return the coefficients of the features that the steps add up to."""
        # A constant column is zero as a weak ranker: its coefficient is zero, whatever its weight.
        weights = np.bincount(indices, steps, minlength=len(self.ranges_)).astype(np.float64)
        return np.divide(weights, self.ranges_, out=np.zeros_like(weights), where=self.ranges_ > 0.0)

    def values(self, X: Matrix, index: int) -> Values:
        """Return a feature in its units."""
        return ColumnOutputs(LinearModel(X, centred=False), self.offsets_, self.units_).values(index)

    def scores(self, X: Matrix, indices: Numbers, weights: Floats) -> Floats:
        """Return the linear scores, in one pass over the rows."""
        coef = self.coef(indices, weights)
        return LinearModel(X, centred=False).scores(coef) - float(self.offsets_ @ coef)

    def importances(self, indices: Numbers, gains: Floats) -> Floats:
        """Return the gains of each feature."""
        return np.bincount(indices, gains, minlength=len(self.ranges_)).astype(np.float64)

    def directions(self, directions: NDArray[np.intp], names: list[str]) -> NDArray[np.intp]:  # noqa: ARG002
        """Return the directions unchanged, since each ranker is a feature."""
        return directions


class ColumnOutputs:
    """Columns of the training data, read where they are stored."""

    offset = 0.0

    def __init__(self, model: LinearModel, offsets: Floats, units: Floats) -> None:
        self.model = model
        self.n_rows, self.n_rankers = model.n_rows, model.n_features
        self.features: Numbers = np.arange(model.n_features)
        self._offsets = offsets - model.references
        self._units = units

    def edges(self, row_weights: Floats) -> Floats:
        """Return the edges of all columns in one pass over the data."""
        products = self.model.rmatvec(row_weights) - float(row_weights.sum()) * self._offsets
        return np.asarray(products * self._units)

    @cached_property
    def real_valued(self) -> NDArray[np.bool_]:
        """Which columns have other values than their two extremes."""
        return np.array([self.values(index).dtype != bool for index in range(self.n_rankers)])

    def values(self, index: int) -> Values:
        """Return a column in its units; bool if 0 and 1 are its only values."""
        column = self.model.column(index)
        low, high = column.min(), column.max()
        is_high = column == high
        # Only a column that spans the whole range of the fit has the values 0 and 1 exactly: the extremes of
        # fewer rows may lie within. Centring adds to the rounding of the range.
        ends = (np.array([low, high]) - self._offsets[index]) * self._units[index]
        if np.abs(ends - (0.0, 1.0)).max() <= RANGE_ROUNDING and np.all(is_high | (column == low)):
            return np.asarray(is_high)
        return np.asarray((column - self._offsets[index]) * self._units[index])
