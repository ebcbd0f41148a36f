"""Linear scores of arrays of other libraries."""

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pushrank._array import is_numpy, like, namespace, to_host
from pushrank._numeric import Floats
from pushrank.models.linear import ClassMoments, FeatureSpace, LinearModel, column_blocks

# A copy of a block of rows in double precision takes 128 MB, on a device too.
BLOCK_ELEMENTS = 1 << 24


class ArrayLinearModel(FeatureSpace):
    """Scores ``X @ coef`` computed where ``X`` is; coefficients, a few numbers, are on the host."""

    # `X` is checked, finite, float32 or float64, of any library that follows the array API standard; it is
    # not copied. All is computed in double precision, for float32 data a block of rows at a time: in single
    # precision the rounding of the scores would hide the last steps of a descent.

    # The columns are not centred, but a constant in the scores changes none of the objectives taken here.
    centred = True

    def __init__(self, X: Any) -> None:
        self.n_rows, self.n_features = X.shape
        self.data = X

    def scores(self, coef: Floats) -> Any:
        on_device = like(coef, self.data)
        return namespace(self.data).concat([block @ on_device for _, block in self._blocks()])

    def rmatvec(self, factors: Any) -> Floats:
        return self._product(factors)

    def class_sums(self, factors: Any, class_codes: Any) -> Floats:
        """Return ``sum_i factors[i] * X[i]`` by class code, shape (2, n_features)."""
        total, ones = self._product(factors), self._product(factors * class_codes)
        return np.stack([total - ones, ones])

    def class_moments(self, factors: Any, class_codes: Any, **_: bool) -> ClassMoments:
        """Return how weighted rows vary within the classes, always with the whole covariance."""
        xp = namespace(self.data)
        total, ones = float(xp.sum(factors)), float(xp.sum(factors * class_codes))
        totals, sums = np.array([total - ones, ones]), self.class_sums(factors, class_codes)
        means = like(sums / np.maximum(totals, np.finfo(float).tiny)[:, None], self.data)
        covariance = np.zeros((self.n_features, self.n_features))
        for rows, block in self._blocks():
            # The mean of its class is subtracted from a row before squaring: a difference of large moments
            # would lose the digits.
            codes = xp.reshape(class_codes[rows], (-1, 1))
            block = block - (1.0 - codes) * means[0:1, :] - codes * means[1:2, :]
            weighted = block * xp.reshape(factors[rows], (-1, 1))
            covariance += to_host(xp.permute_dims(weighted, (1, 0)) @ block)
        return ClassMoments(totals, sums, np.diagonal(covariance).copy(), covariance)

    def check_range(self) -> None:
        """Raise a ValueError when the sum of a column's squares is beyond the range of floats."""
        squares = self.column_squares()
        if not np.isfinite(squares).all():
            raise ValueError(
                f"column {int(np.flatnonzero(~np.isfinite(squares))[0])} holds values whose squares are "
                "beyond the range of floats; scale it, for example with StandardScaler."
            )

    def column_squares(self) -> Floats:
        squares = np.zeros(self.n_features)
        for _, block in self._blocks():
            squares += to_host(namespace(block).sum(block * block, axis=0))
        return squares

    def gram(self) -> Floats:
        """Return the inner products of the rows less the first one, shape (n_rows, n_rows)."""
        xp = namespace(self.data)
        products = like(np.zeros((self.n_rows, self.n_rows)), self.data)
        for columns in column_blocks(*self.data.shape):
            block = xp.astype(self.data[:, columns], xp.float64, copy=False)
            # An offset of a column would cost digits of the products.
            block = block - block[0:1, :]
            products = products + block @ xp.permute_dims(block, (1, 0))
        return to_host(products)

    def _product(self, factors: Any) -> Floats:
        product = np.zeros(self.n_features)
        for rows, block in self._blocks():
            product += to_host(factors[rows] @ block)
        return product

    def _blocks(self) -> Iterator[tuple[slice, Any]]:
        """Cut the rows into blocks of float64."""
        xp = namespace(self.data)
        height = max(1, BLOCK_ELEMENTS // self.n_features)
        for start in range(0, self.n_rows, height):
            rows = slice(start, min(start + height, self.n_rows))
            yield rows, xp.astype(self.data[rows, :], xp.float64, copy=False)


def linear_scores(X: Any, coef: NDArray[np.floating]) -> NDArray[np.floating]:
    """Return ``X @ coef`` in the dtype of ``coef``; equal rows get equal scores, wherever they stand."""
    if not is_numpy(X) and X.dtype == coef.dtype:
        product: NDArray[np.floating] = X @ coef
        return product
    model = LinearModel(X, centred=False) if is_numpy(X) else ArrayLinearModel(X)
    scores: NDArray[np.floating] = like(model.scores(like(coef, X)), X, coef.dtype)
    return scores
