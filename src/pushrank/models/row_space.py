r"""Linear scores of wide data in the space that the rows span.

A part of the coefficients that is orthogonal to all rows changes no score and adds to the norm: with fewer
rows than columns the minimum of a function of the scores plus an L2 penalty lies in the span of the rows, and
without a penalty the minimum of least norm does. With :math:`X X^T = Z Z^T`, Z of shape (n_rows, rank), there
are orthonormal columns V such that :math:`X V = Z`. Scores and norm of :math:`w = V v` are those of v on the
rows of Z: any solver takes Z as it would take X, at O(n_rows * rank) an iteration, however many columns there
are. Where a constant in the scores changes nothing, the mean row is subtracted from the rows.

Z is a Cholesky factor with pivots, the fastest factor to compute; it ends at the rank. Products of rows hold
the squares of lengths, so that rounding hides directions with less than 1e-12 of the largest curvature, as it
does in a Hessian of X. Columns of very different units are the exception, since solvers measure each column
by its size: where the largest would hide others, X is not reduced.
"""

from typing import Any

import numpy as np
import scipy
from numpy.typing import NDArray

from pushrank._base.numeric import Floats
from pushrank._base.user_types import Matrix
from pushrank.models.linear import LinearModel

# The products of this number of rows take 128 MB and are factored in seconds.
MAX_ROWS = 4096
# Relative to the square of the longest row: a smaller pivot is the rounding of the products.
RANK_TOLERANCE = 1e-12
# With this ratio between the squares of the largest and the median column, the part of the median column in
# the products keeps half of its digits.
MAX_SPREAD = 1e8


class RowSpace:
    """The coordinates of coefficients on orthonormal columns that span the rows of a model."""

    # It is mixed into the model whose data are those rows in the same coordinates; `features` is the model of
    # the features. `factor` is the Cholesky factor of the products of the rows `pivots`, lower triangular and
    # not singular.

    in_row_space = True
    features: Any
    pivots: NDArray[np.intp]
    factor: Floats

    def lift(self, coef: Floats) -> Floats:
        """Return the coefficients of the features, O(n_rows * n_features)."""
        factors = np.zeros(self.features.n_rows)
        factors[self.pivots] = scipy.linalg.solve_triangular(self.factor, coef, trans=1, lower=True)
        if self.features.centred:
            factors -= factors.mean()
        lifted: Floats = self.features.rmatvec(factors)
        return lifted

    def project(self, coef: Floats) -> Floats:
        """Return the coordinates of the part of the features' coefficients that the rows span."""
        scores = np.asarray(self.features.scores(coef))
        if self.features.centred:
            scores -= scores.mean()
        return np.asarray(scipy.linalg.solve_triangular(self.factor, scores[self.pivots], lower=True))

    def check_range(self) -> None:
        """Do nothing: the features were checked, and the lengths of rows are the same."""


class RowSpaceModel(RowSpace, LinearModel):
    """Linear scores of data in their row space."""


def linear_model(X: Matrix, *, reduced: bool = True) -> LinearModel:
    """Return the linear functions of rows, in the space of wide rows if ``reduced``."""
    model = LinearModel(X)
    return in_row_space(model) if reduced else model


def in_row_space(model: LinearModel) -> LinearModel:
    """Return the model of wide data in their row space, and that of other data unchanged."""
    # Data are wide where there are fewer rows than columns, at most 4,096, and no column hides others. It
    # takes O(n_rows ** 2 * n_features) time once, and the memory of four numbers for each pair of rows.
    if not 1 < model.n_rows < min(model.n_features, MAX_ROWS + 1):
        return model
    model.check_range()
    squares = model.column_squares()
    if not squares.any() or squares.max() > MAX_SPREAD * np.median(squares[squares > 0.0]):
        return model
    products = model.gram()
    tol = RANK_TOLERANCE * float(np.max(np.diagonal(products)))
    if model.centred:
        # A constant in the scores changes nothing: the products are those of the rows less their mean.
        means = products.mean(axis=0)
        products -= means[:, None] + (means - means.mean())
    # LAPACK takes matrices column by column: the transpose of a symmetric matrix is passed without a copy.
    factor, pivots, rank, _ = scipy.linalg.lapack.dpstrf(products.T, tol=tol, lower=1, overwrite_a=1)
    pivots, factor = pivots - 1, np.tril(factor[:, :rank])
    rows = np.empty((model.n_rows, rank))
    rows[pivots] = factor
    space = RowSpaceModel(rows, centred=model.centred)
    space.features, space.pivots, space.factor = model, pivots[:rank], factor[:rank]
    return space
