"""Linear scores, and sums of rows by class, of a matrix where it lies.

The compiled loops run over a range of rows, one for each layout that a matrix has: dense by rows, dense by
columns, CSR, and CSC. All release the interpreter lock and add in float64 whatever the matrix holds. Dense
columns are seen less a reference row: pairwise objectives ignore a constant in the scores, and so an offset
common to a column costs no precision.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property
from typing import Any, NamedTuple, Protocol, Self

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from scipy.linalg.blas import dsyrk

from pushrank._base.numeric import Floats, type_of_scores
from pushrank._base.parallel import compiled, map_chunks, read_only, row_chunks, sum_chunks
from pushrank._base.user_types import Matrix

# A block of 1 MB is worth its calls, and still in a core's second cache when it is read a second time.
BLOCK_ELEMENTS = 1 << 17
# For the covariance a block is copied and weighted before its product: the copy should stay in the cache too.
MOMENT_ELEMENTS = 1 << 16
# A smaller part of a block than this is picked row by row.
MAX_PICKED = 0.8
# Rows of wide data may exceed a block of this size, but a call for fewer rows costs more than its work.
MIN_BLOCK_ROWS = 16
# Adding a product of this many columns takes longer than the product: BLAS then updates the sum in place.
MIN_UPDATED_FEATURES = 256
# A product of rows adds a matrix of n_rows by n_rows for each block of columns: few columns do not pay.
MIN_BLOCK_COLUMNS = 256
# A product of sparse rows is sparse before it is dense, and takes several times the memory of the result.
MAX_GRAM_ROWS = 512
# With more entries than this part of a sparse matrix products of dense rows are quicker.
MAX_SPARSE_DENSITY = 0.25
# The variance is a difference of mean squares: below this part of them it may be rounding alone.
VARIANCE_ROUNDING = 1e-13
# Where the sum of a column's squares is beyond these bounds, ratios in the solvers leave the floats.
MIN_SQUARES, MAX_SQUARES = 1e-290, 1e150

ClassCodes = NDArray[np.uint8]
"""The class of each row, zero or one."""


class ClassMoments(NamedTuple):
    """How weighted rows vary within their classes, and the sums that this follows from."""

    # The totals of the weights, shape (2,), and the sums of the weighted rows, shape (2, n_features), are by
    # class code; the variances and the covariance of the columns are times the weights.

    totals: Floats
    sums: Floats
    variances: Floats | None
    covariance: Floats | None = None

    @classmethod
    def from_sums(cls, totals: Floats, sums: Floats, squares: Floats | None, moments: Floats | None) -> Self:
        """Return the moments about the classes' means from the sums of squares by class, and of products."""
        # A class without weight has sums of zero, and divides them by the smallest float.
        counted = np.maximum(totals, np.finfo(float).tiny)[:, None]
        variances = covariance = None
        if squares is not None:
            by_class = squares - sums**2 / counted
            by_class[by_class <= VARIANCE_ROUNDING * squares] = 0.0
            variances = by_class.sum(axis=0)
        if moments is not None:
            # The loop over CSR rows fills the upper triangle alone, which halves its work.
            covariance = np.triu(moments) + np.triu(moments, 1).T
            for total, row in zip(totals, sums, strict=True):
                if total > 0.0:
                    covariance -= np.outer(row, row) / total
        return cls(totals, sums, variances, covariance)


class Model(Protocol):
    """Functions of the training rows, with an inner product; coefficients stand for functions."""

    n_rows: int

    def scores(self, coef: Floats) -> Floats:
        """Return the scores of all rows, shape (n_rows,), up to a constant."""

    def rmatvec(self, factors: Floats) -> Floats:
        """Return the function whose products with others are ``factors @ scores``; factors sum to zero."""

    def squared_norm(self, coef: Floats, scores: Floats | None = None) -> float:
        """Return the squared norm of a function, whose scores may be known."""

    def products(self, others: Floats, coef: Floats, scores: Floats | None = None) -> Floats:
        """Return the inner products of other functions with one, whose scores may be known."""


# Sums may be reordered, for the compiler's vector instructions; NaN and infinity keep their meaning.
_compiled = compiled(fastmath={"reassoc", "contract", "nsz"})


@_compiled
def dense_scores_by_rows(X, reference, start, stop, coef, out):
    """Write ``(X[i] - reference) @ coef`` for the rows from start to stop."""
    for i in range(start, stop):
        total = 0.0
        for j in range(X.shape[1]):
            total += (np.float64(X[i, j]) - reference[j]) * coef[j]
        out[i - start] = total


@_compiled
def dense_scores_by_columns(X, reference, start, stop, coef, out):
    """Write ``(X[i] - reference) @ coef`` for the rows from start to stop, column after column."""
    out[: stop - start] = 0.0
    for j in range(X.shape[1]):
        weight = coef[j]
        base = reference[j]
        for i in range(start, stop):
            out[i - start] += (np.float64(X[i, j]) - base) * weight


@_compiled
def csr_scores(data, indices, indptr, start, stop, coef, out):
    """Write ``X[i] @ coef`` for the rows from start to stop of a CSR matrix."""
    # Unsigned indices spare the test for negative ones, which costs half the time.
    for i in range(start, stop):
        total = 0.0
        for e in range(np.uint64(indptr[i]), np.uint64(indptr[i + 1])):
            total += data[e] * coef[np.uint32(indices[e])]
        out[i - start] = total


@_compiled
def dense_sums_by_rows(X, reference, start, stop, factors, class_codes, squared, out):
    """Add ``factors[i] * (X[i] - reference)``, or its square, to the row of ``out`` of i's class code."""
    # Sums are read and written for four rows of a class at a time, which halves the time. Where the last are
    # fewer, any other rows take part with factors of zero.
    order = np.zeros(stop - start + 4, np.uintp)
    for code in range(2):
        n_rows = 0
        for i in range(stop - start):
            order[n_rows] = i
            n_rows += (class_codes[i] == code) & (factors[i] != 0.0)
        sums = out[code]
        for first in range(0, n_rows, 4):
            a, b, c, d = order[first], order[first + 1], order[first + 2], order[first + 3]
            in_a, in_b = factors[a], factors[b] if first + 1 < n_rows else 0.0
            in_c, in_d = factors[c] if first + 2 < n_rows else 0.0, factors[d] if first + 3 < n_rows else 0.0
            for j in range(X.shape[1]):
                base = reference[j]
                p, q = np.float64(X[start + a, j]) - base, np.float64(X[start + b, j]) - base
                r, s = np.float64(X[start + c, j]) - base, np.float64(X[start + d, j]) - base
                if squared:
                    p, q, r, s = p * p, q * q, r * r, s * s
                sums[j] += in_a * p + in_b * q + in_c * r + in_d * s


@_compiled
def dense_sums_by_columns(X, reference, start, stop, factors, class_codes, squared, out):
    """Add ``factors[i] * (X[i] - reference)``, or its square, by class code, column after column."""
    for j in range(X.shape[1]):
        base = reference[j]
        all_sum = 0.0
        second_sum = 0.0
        for i in range(start, stop):
            x = np.float64(X[i, j]) - base
            term = factors[i - start] * (x * x if squared else x)
            all_sum += term
            second_sum += term * class_codes[i - start]
        out[0, j] += all_sum - second_sum
        out[1, j] += second_sum


@_compiled
def csr_sums(data, indices, indptr, start, stop, factors, class_codes, squared, out):
    """Add ``factors[i] * X[i]``, or its square, to the row of ``out`` of i's class code, for CSR rows."""
    for i in range(start, stop):
        factor = factors[i - start]
        code = class_codes[i - start]
        if factor != 0.0:
            for e in range(np.uint64(indptr[i]), np.uint64(indptr[i + 1])):
                x = np.float64(data[e])
                out[code, np.uint32(indices[e])] += factor * x * (x if squared else 1.0)


@_compiled
def csr_moments(data, indices, indptr, start, stop, factors, out):
    """Add ``factors[i] * X[i, j] * X[i, l]`` for j <= l to ``out[j, l]``, for CSR rows of sorted indices."""
    for i in range(start, stop):
        factor = factors[i - start]
        if factor != 0.0:
            end = np.uint64(indptr[i + 1])
            for e in range(np.uint64(indptr[i]), end):
                x = factor * np.float64(data[e])
                moments_of_row = out[np.uint32(indices[e])]
                for f in range(e, end):
                    moments_of_row[np.uint32(indices[f])] += x * np.float64(data[f])


@_compiled
def csc_sums(data, indices, indptr, factors, class_codes, squared, out):
    """Add ``factors[i] * X[i]``, or its square, to the row of ``out`` of i's class code, for CSC."""
    for j in range(indptr.shape[0] - 1):
        for e in range(np.uint64(indptr[j]), np.uint64(indptr[j + 1])):
            i = np.uint32(indices[e])
            x = np.float64(data[e])
            out[class_codes[i], j] += factors[i] * x * (x if squared else 1.0)


class FeatureSpace:
    """Coefficients of the features; :mod:`pushrank.models.row_space` has coefficients of other columns."""

    in_row_space = False

    def lift(self, coef: Floats) -> Floats:
        """Return the coefficients of the features that belong to those of a solver."""
        return coef

    def project(self, coef: Floats) -> Floats:
        """Return the coefficients for a solver that belong to those of the features."""
        return coef


class LinearModel(FeatureSpace):
    """Scores ``X @ coef`` up to a constant, computed on the data where it lies."""

    # `X` is checked, finite, float32 or float64; dense in any memory order, CSR or CSC. It is not copied,
    # except a sparse matrix whose indices are unsorted or repeated. If `centred`, dense columns are taken
    # less the median of a few of their entries, or less `reference`; a constant column becomes exactly zero.
    # Ranges of rows are fixed and added up in order, so that results do not depend on the number of threads.

    def __init__(self, X: Any, *, centred: bool = True, reference: Floats | None = None) -> None:
        if sp.issparse(X) and not X.has_canonical_format:
            X = X.copy()
            X.sum_duplicates()
        self.n_rows, self.n_features = X.shape
        self.data, self.centred = X, centred
        self._is_csc = bool(sp.issparse(X)) and X.format != "csr"
        if not sp.issparse(X):
            self.chunks = row_chunks(self.n_rows, self.n_features)
            # The loop that follows the memory order is several times as fast.
            by_rows = X.strides[0] >= X.strides[1]
            self._scores = dense_scores_by_rows if by_rows else dense_scores_by_columns
            self._sums = dense_sums_by_rows if by_rows else dense_sums_by_columns
            if reference is None:
                reference = median_row(X) if centred else np.zeros(self.n_features)
            self._arrays: tuple[Any, ...] = (read_only(X), reference)
            self._block_rows = max(MIN_BLOCK_ROWS, BLOCK_ELEMENTS // self.n_features)
        elif X.format == "csr":
            per_row = X.nnz / self.n_rows
            self.chunks = row_chunks(self.n_rows, per_row)
            self._scores, self._sums = csr_scores, csr_sums
            self._arrays = (read_only(X.data), X.indices, X.indptr)
            self._block_rows = max(MIN_BLOCK_ROWS, int(BLOCK_ELEMENTS / max(1.0, per_row)))
        else:
            # The rows of CSC cannot be cut without a search in every column.
            self.chunks = [(0, self.n_rows)]
            self._block_rows = self.n_rows

    def blocks(self, start: int, stop: int) -> Iterator[tuple[int, int]]:
        """Cut a range of rows into blocks that fit the processor's cache."""
        for first in range(start, stop, self._block_rows):
            yield first, min(first + self._block_rows, stop)

    def block_scores(self, start: int, stop: int, coef: Floats, out: Floats) -> None:
        """Write the scores of the rows from start to stop into ``out``."""
        # The units of a fit's gradient are measured at zero, where there is nothing to read.
        if not coef.any():
            out[:] = 0.0
        elif self._is_csc:
            out[:] = self.data @ coef
        else:
            self._scores(*self._arrays, start, stop, coef, out)

    def add_block_sums(
        self, start: int, stop: int, factors: Floats, codes: ClassCodes, out: Floats, squared: bool = False
    ) -> None:
        """Add ``factors[i] * X[i]`` (or its square) to ``out[codes[i]]``, for a block from start to stop."""
        if self._is_csc:
            stored = (read_only(self.data.data), self.data.indices, self.data.indptr)
            csc_sums(*stored, factors, codes, squared, out)
        else:
            self._sums(*self._arrays, start, stop, factors, codes, squared, out)

    def scores(self, coef: Floats) -> Floats:
        """Return the scores of all rows, shape (n_rows,), each less the same constant."""
        scores = np.empty(self.n_rows)
        map_chunks(lambda start, stop: self.block_scores(start, stop, coef, scores[start:stop]), self.chunks)
        return scores

    def rmatvec(self, factors: Floats) -> Floats:
        """Return ``X.T @ factors``, shape (n_features,), for factors that sum to zero."""
        return np.asarray(self.class_sums(factors, np.zeros(self.n_rows, dtype=np.uint8))[0])

    def squared_norm(self, coef: Floats, scores: Floats | None = None) -> float:  # noqa: ARG002
        """Return the squared norm of coefficients; their scores are used by models of other kinds."""
        return float(coef @ coef)

    def products(self, others: Floats, coef: Floats, scores: Floats | None = None) -> Floats:  # noqa: ARG002
        return others @ coef

    def class_sums(self, factors: Floats, class_codes: ClassCodes, squared: bool = False) -> Floats:
        """Return ``sum_i factors[i] * X[i]`` (or of its square) by class code, shape (2, n_features)."""

        def chunk_sums(start: int, stop: int) -> Floats:
            sums = np.zeros((2, self.n_features))
            rows = slice(start, stop)
            self.add_block_sums(start, stop, factors[rows], class_codes[rows], sums, squared)
            return sums

        return sum_chunks(chunk_sums, self.chunks)

    def class_moments(
        self, factors: Floats, class_codes: ClassCodes, *, columns: bool = True, whole: bool = False
    ) -> ClassMoments:
        """Return the weighted variances of the columns within classes, the ``whole`` covariance, or both."""
        # Products of rows need the entries of a row together.
        if whole and self._is_csc:
            by_rows = LinearModel(self.data.tocsr())
            return by_rows.class_moments(factors, class_codes, columns=columns, whole=True)

        def chunk_moments(start: int, stop: int) -> Floats:
            moments, rows = np.zeros((self.n_features + 2, self.n_features)), slice(start, stop)
            self.add_block_moments(start, stop, factors[rows], class_codes[rows], moments[:-2], moments[-2:])
            return moments

        moments = None
        if whole:
            both = sum_chunks(chunk_moments, self.chunks)
            moments, sums = both[:-2], both[-2:]
        else:
            sums = self.class_sums(factors, class_codes)
        squares = self.class_sums(factors, class_codes, squared=True) if columns else None
        totals = np.asarray(np.bincount(class_codes, weights=factors, minlength=2), dtype=np.float64)
        return ClassMoments.from_sums(totals, sums, squares, moments)

    def check_range(self) -> None:
        """Raise a ValueError when a column varies by more than 1e75, or by less than 1e-145 but not zero."""
        check_column_range(self._column_totals)

    def column_sums(self, start: int, stop: int) -> Floats:
        """Return the sums of the columns and of their squares, shape (2, n_features), rows start to stop."""
        sums = np.zeros((2, 2, self.n_features))
        for first, last in self.blocks(start, stop):
            ones, one_class = np.ones(last - first), np.zeros(last - first, dtype=np.uint8)
            for out, squared in zip(sums, (False, True), strict=True):
                self.add_block_sums(first, last, ones, one_class, out, squared)
        return sums[:, 0]

    def column_squares(self) -> Floats:
        """Return the sum of every column's squares, shape (n_features,)."""
        return np.asarray(self._column_totals[1])

    # The range is checked, and the squares are asked for, at several places of a fit.
    @cached_property
    def _column_totals(self) -> Floats:
        return sum_chunks(self.column_sums, self.chunks)

    def gram(
        self, rows: NDArray[np.intp] | slice = slice(None), others: NDArray[np.intp] | None = None
    ) -> Floats:
        """Return the inner products of rows (all), each less the same constant, with others (themselves)."""
        numbers = np.arange(self.n_rows)[rows]
        products = np.zeros((len(numbers), len(numbers if others is None else others)))
        if sp.issparse(self.data):
            X = self.data.astype(np.float64).tocsr()
            right = X[numbers if others is None else others].T
            for first in range(0, len(numbers), MAX_GRAM_ROWS):
                part = slice(first, first + MAX_GRAM_ROWS)
                products[part] = (X[numbers[part]] @ right).toarray()
            return products
        for columns in column_blocks(len(products.T), self.n_features):
            block = np.asarray(self.data[rows, columns] - self.references[columns], dtype=np.float64)
            if others is None:
                # Half the time of a product, and in place: the upper triangle is filled below.
                dsyrk(1.0, block.T, 1.0, products.T, trans=1, lower=1, overwrite_c=1)
                continue
            right = np.asarray(self.data[others, columns] - self.references[columns], dtype=np.float64)
            products += block @ right.T
        if others is None:
            np.copyto(products, products.T, where=np.tri(len(products), dtype=bool))
        return products

    def add_block_moments(
        self, start: int, stop: int, factors: Floats, class_codes: ClassCodes, moments: Floats, sums: Floats
    ) -> None:
        """Add ``factors[i] * outer(X[i], X[i])`` to ``moments``, whose lower triangle means nothing."""
        # To `sums`, shape (2, n_features), `factors[i] * X[i]` is added by class code.
        if self._is_csc:
            by_rows = LinearModel(self.data.tocsr())
            return by_rows.add_block_moments(start, stop, factors, class_codes, moments, sums)
        few_entries = MAX_SPARSE_DENSITY * self.n_rows * self.n_features
        if sp.issparse(self.data) and self.data.nnz < few_entries:
            csr_moments(*self._arrays, start, stop, factors, moments)
            return self.add_block_sums(start, stop, factors, class_codes, sums)
        roots = np.sqrt(factors)
        sides = roots * np.array([class_codes == 0, class_codes == 1])
        length = max(MIN_BLOCK_ROWS, MOMENT_ELEMENTS // self.n_features)
        for first in range(0, stop - start, length):
            block: Any = slice(first, min(first + length, stop - start))
            counted = block.start + np.flatnonzero(roots[block])
            if len(counted) == 0:
                continue
            # It takes longer to pick rows than to slice them, and less than to multiply those of no weight.
            if len(counted) < MAX_PICKED * (block.stop - block.start):
                rows, block = self.rows(start + counted), counted
            else:
                rows = self.rows(slice(start + block.start, start + block.stop))
            rows *= roots[block, None]
            # BLAS multiplies a matrix with itself in half the time: each side takes the roots of the factors.
            if self.n_features < MIN_UPDATED_FEATURES:
                moments += rows.T @ rows
            else:
                # LAPACK's order is by columns: its lower triangle is the upper one here.
                dsyrk(1.0, rows.T, 1.0, moments.T, lower=1, overwrite_c=1)
            sums += sides[:, block] @ rows
        return None

    @property
    def references(self) -> Floats:
        """The constants that are subtracted from the columns, shape (n_features,); zeros for sparse data."""
        return np.zeros(self.n_features) if sp.issparse(self.data) else np.asarray(self._arrays[1])

    def rows(self, numbers: NDArray[np.intp] | slice) -> Floats:
        """Return some rows as a dense float64 matrix, each less the same constant."""
        if sp.issparse(self.data):
            return np.asarray(self.data[numbers].toarray(), dtype=np.float64)
        return np.asarray(self.data[numbers] - self._arrays[1], dtype=np.float64)

    def column(self, j: int) -> Floats:
        """Return column j as a dense float64 vector, less its constant."""
        if sp.issparse(self.data):
            return np.asarray(self.data[:, [j]].toarray(), dtype=np.float64).ravel()
        return np.asarray(self.data[:, j].astype(np.float64) - self._arrays[1][j])


def column_blocks(n_rows: int, n_features: int) -> Iterator[slice]:
    """Cut the columns into blocks that are wide enough for products of rows, no larger than these."""
    width = max(MIN_BLOCK_COLUMNS, n_rows)
    for start in range(0, n_features, width):
        yield slice(start, min(start + width, n_features))


def median_row(X: Matrix) -> Floats:
    """Return the median of a few rows: the value of a constant column, and no outlier of another column."""
    # Five rows that lie evenly are enough: offsets of columns cost digits only where they are large.
    few = np.linspace(0, len(X) - 1, 5).astype(np.intp)
    return np.asarray(np.median(X[few].astype(np.float64), axis=0))


def check_column_range(sums: Floats) -> None:
    """Raise a ValueError when a column varies by more than 1e75, or by less than 1e-145 but not zero."""
    squares = sums[1]
    # Squares of tiny values may underflow, and a sum of values may cancel, but hardly both.
    is_zero = (squares == 0.0) & (sums[0] == 0.0)
    unusable = ~(squares <= MAX_SQUARES) | ((squares < MIN_SQUARES) & ~is_zero)
    if unusable.any():
        raise ValueError(
            f"column {int(np.flatnonzero(unusable)[0])} holds values whose squares are beyond the range "
            "of solvers (above 1e75 or below 1e-145); scale it, for example with StandardScaler."
        )


def linear_scores(X: Matrix, coef: NDArray[np.floating]) -> NDArray[np.floating]:
    """Return ``X @ coef`` in the dtype of ``coef``; equal rows get equal scores, wherever they stand."""
    scores = LinearModel(X, centred=False).scores(coef.astype(np.float64))
    return scores.astype(type_of_scores(coef), copy=False)
