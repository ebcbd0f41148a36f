"""Scores of a kernel, with the inner product of its space."""

from collections.abc import Callable
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
import scipy
import scipy.sparse as sp
from numpy.typing import NDArray

from pushrank._base.numeric import Floats
from pushrank._base.parallel import map_chunks
from pushrank._base.user_types import Matrix

KernelFunction = Callable[[Matrix, Matrix], Any]


class Kernel(NamedTuple):
    r"""A kernel with its parameters.

    The kind is ``"rbf"``, :math:`e^{-\gamma \|x - z\|^2}`; ``"poly"``, :math:`(\gamma x \cdot z + c)^d` with
    c the ``coef0`` and d the degree; ``"precomputed"``; or a function that takes two sets of rows to the
    matrix of its values.
    """

    kind: str | KernelFunction
    gamma: float = 1.0
    degree: int = 3
    coef0: float = 0.0

    def between(self, some: Matrix, others: Matrix) -> Floats:
        """Return the kernel of all rows of one set with all of another, shape (n_some, n_others)."""
        # The metrics of scikit-learn take long to import, and linear models do without.
        from sklearn.metrics.pairwise import polynomial_kernel, rbf_kernel

        if self.kind == "rbf":
            values = rbf_kernel(some, others, gamma=self.gamma)
        elif self.kind == "poly":
            values = polynomial_kernel(some, others, degree=self.degree, gamma=self.gamma, coef0=self.coef0)
        elif callable(self.kind):
            values = self.kind(some, others)
            values = values.toarray() if sp.issparse(values) else np.asarray(values)
        else:
            raise ValueError("a precomputed kernel holds its values already.")
        shape = (some.shape[0], others.shape[0])
        if values.shape != shape:
            raise ValueError(f"kernel must return an array of shape {shape}, got {values.shape}.")
        if not np.isfinite(values).all():
            raise ValueError("kernel values must be finite and are not; scale the features or change gamma.")
        return np.asarray(values, dtype=np.float64)


# A squared norm may be negative by rounding, relative to the largest of coefficients of this size.
NORM_ROUNDING = 1e-12
# An eigenvalue may be negative by rounding, relative to the largest: kernels may come in single precision.
EIGENVALUE_ROUNDING = 1e-5
# The eigenvalues of the kernel of this number of rows take a fraction of a second.
MAX_EXAMINED_ROWS = 1000
# So few kernel values are computed at a time that their memory is used again.
BLOCK_ENTRIES = 1 << 19


class KernelModel:
    r"""Scores :math:`f(x_j) = \sum_m v_m k(x_m, x_j)` of the training rows; the coefficients are the v."""

    # X are the training rows, dense or CSR, or with `"precomputed"` their kernel matrix. Rows of the kernel
    # matrix are computed when they are first needed and kept, where the whole matrix fits into `memory`
    # bytes; otherwise they are computed every time.

    def __init__(self, X: Matrix, kernel: Kernel, memory: int) -> None:
        self._X, self.kernel, self.memory = X, kernel, memory
        self.n_rows = int(X.shape[0])
        self.made = np.full(self.n_rows, kernel.kind == "precomputed")

    def columns(self, rows: NDArray[np.intp]) -> Floats:
        """Return the kernel of some training rows with all of them, shape (n_some, n_rows)."""
        if self.kept is None:
            return self.kernel.between(self._X[rows], self._X)
        self.make(rows)
        return self.kept[rows]

    def make(self, rows: NDArray[np.intp]) -> None:
        """Compute those of some rows of the kernel matrix that are missing, where they can be kept."""
        missing = rows[~self.made[rows]]
        if self.kept is not None and len(missing):
            self.kept[missing] = self.kernel.between(self._X[missing], self._X)
            self.made[missing] = True

    @cached_property
    def diagonal(self) -> Floats:
        """The kernel of every row with itself."""
        if self.kernel.kind == "precomputed":
            return np.array(np.diag(self._X), dtype=np.float64)
        if self.kernel.kind == "rbf":
            return np.ones(self.n_rows)
        # The blocks are small, since all but the diagonal of each is computed in vain.
        parts = (self._X[start : start + 64] for start in range(0, self.n_rows, 64))
        return np.concatenate([np.diag(self.kernel.between(part, part)) for part in parts])

    def scores(self, coef: Floats) -> Floats:
        """Return the scores of all rows, from the rows whose coefficients are not zero."""
        support = np.flatnonzero(coef)
        if self.kept is not None and 2 * len(support) > self.n_rows:
            # One product with the whole matrix, computed once, is faster than a block of rows at a time.
            return self.matrix @ coef  # type: ignore[operator]
        scores = np.zeros(self.n_rows)
        height = max(1, BLOCK_ENTRIES // self.n_rows)
        for start in range(0, len(support), height):
            rows = support[start : start + height]
            scores += coef[rows] @ self.columns(rows)
        return scores

    def rmatvec(self, factors: Floats) -> Floats:
        """Return the coefficients of the weighted sum of the rows: the factors themselves."""
        return factors

    def squared_norm(self, coef: Floats, scores: Floats | None = None) -> float:
        """Return the squared norm of the function; a negative one, of no inner product, is a ValueError."""
        norm = float(coef @ (self.scores(coef) if scores is None else scores))
        largest = float(np.abs(self.diagonal).max()) * float(np.abs(coef).sum()) ** 2
        if norm < -NORM_ROUNDING * largest:
            raise ValueError(f"the kernel is not positive semi-definite: the square of a norm is {norm:g}.")
        return max(norm, 0.0)

    def check_definite(self) -> None:
        """Raise a ValueError when a negative eigenvalue shows that the kernel is no inner product."""
        # A ranking sees differences of rows alone, so that only the kernel about its mean has to be one:
        # minus the squared distance may serve. Of more than 1,000 rows, 1,000 that lie evenly are examined.
        rows = np.linspace(0, self.n_rows - 1, min(self.n_rows, MAX_EXAMINED_ROWS)).astype(np.intp)
        if self.kernel.kind == "precomputed":
            values = self._X[np.ix_(rows, rows)]
        else:
            values = self.kernel.between(self._X[rows], self._X[rows])
        # Rounding of the values adds up to this much in an eigenvalue, whatever the precision they come in.
        rounding = len(rows) * float(np.finfo(values.dtype).eps) * float(np.abs(values).max())
        centred = values - values.mean(axis=0, dtype=np.float64)
        centred -= centred.mean(axis=1)[:, None]
        eigenvalues = scipy.linalg.eigvalsh(centred, check_finite=False)
        if eigenvalues[0] < -max(EIGENVALUE_ROUNDING * float(np.abs(eigenvalues).max()), rounding):
            raise ValueError(
                "the kernel is not positive semi-definite: its values at training rows, about their mean, "
                f"have the eigenvalue {eigenvalues[0]:g}, the largest being {eigenvalues[-1]:g}."
            )

    def products(self, others: Floats, coef: Floats, scores: Floats | None = None) -> Floats:
        return others @ (self.scores(coef) if scores is None else scores)

    @cached_property
    def kept(self) -> Floats | None:
        """Memory for the kernel matrix, shape (n_rows, n_rows), of which the rows ``made`` are computed."""
        if self.kernel.kind == "precomputed":
            return np.asarray(self._X, dtype=np.float64)
        return np.empty((self.n_rows, self.n_rows)) if 8 * self.n_rows**2 <= self.memory else None

    @property
    def matrix(self) -> Floats | None:
        """The whole kernel matrix, shape (n_rows, n_rows), where memory allows it."""
        matrix = self.kept
        if matrix is None or self.made.all():
            return matrix

        def fill(start: int, stop: int) -> None:
            """Compute the rows up to the diagonal, and copy them to the columns."""
            matrix[start:stop, :stop] = self.kernel.between(self._X[start:stop], self._X[:stop])
            matrix[:start, start:stop] = matrix[start:stop, :start].T

        height = max(1, BLOCK_ENTRIES // self.n_rows)
        starts = range(0, self.n_rows, height)
        map_chunks(fill, [(start, min(start + height, self.n_rows)) for start in starts])
        self.made[:] = True
        return matrix
