"""Compiled loops over a range of rows: scores of a linear model, and sums of rows by class.

Each comes in the layouts that a data matrix has: dense by rows, dense by columns, and CSR. All release
the interpreter lock, add in float64 whatever the matrix holds, and see dense columns less a reference row,
so that an offset common to a column costs no precision.
"""

from __future__ import annotations

import numpy as np

from pushrank._compiled import compiled

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
    # unsigned indices spare the test for negative ones, which costs half the time
    for i in range(start, stop):
        total = 0.0
        for e in range(np.uint64(indptr[i]), np.uint64(indptr[i + 1])):
            total += data[e] * coef[np.uint32(indices[e])]
        out[i - start] = total


@_compiled
def dense_sums_by_rows(X, reference, start, stop, factors, class_codes, squared, out):
    """Add ``factors[i] * (X[i] - reference)``, or its square, to the row of ``out`` of i's class code."""
    for i in range(start, stop):
        factor = factors[i - start]
        if factor != 0.0:
            sums = out[class_codes[i - start]]
            if squared:
                for j in range(X.shape[1]):
                    x = np.float64(X[i, j]) - reference[j]
                    sums[j] += factor * x * x
            else:
                for j in range(X.shape[1]):
                    sums[j] += factor * (np.float64(X[i, j]) - reference[j])


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
                of_column = out[np.uint32(indices[e])]
                for f in range(e, end):
                    of_column[np.uint32(indices[f])] += x * np.float64(data[f])


@_compiled
def csc_sums(data, indices, indptr, factors, class_codes, squared, out):
    """Add ``factors[i] * X[i]``, or its square, to the row of ``out`` of i's class code, for CSC."""
    for j in range(indptr.shape[0] - 1):
        for e in range(np.uint64(indptr[j]), np.uint64(indptr[j + 1])):
            i = np.uint32(indices[e])
            x = np.float64(data[e])
            out[class_codes[i], j] += factors[i] * x * (x if squared else 1.0)
