"""Value and gradient of an objective of two log-sums in a single reading of the data.

The P-Norm Push on the log scale needs only a log-sum-exp over each class and the matching softmax-weighted
sum of rows. Both can be carried along with a running maximum, so a block of rows is read from memory once,
scored, weighted and added while it lies in the processor's cache; no vector over all rows is ever formed.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from pushrank._chunks import map_chunks
from pushrank._compiled import compiled
from pushrank._log_space import Floats
from pushrank.models.linear import ClassCodes, LinearModel


class TwoLogSums(NamedTuple):
    """Running sums of ``w exp(c z)`` and ``w exp(c z) x`` over each class, in units of ``exp(largest)``."""

    largest: Floats
    totals: Floats
    rows: Floats


@compiled()
def _weigh_block(scores, class_codes, log_weights, powers, largest, totals, factors):
    """Replace scores by their terms in units of the class's running maximum, and move that maximum."""
    previous = largest.copy()
    for i in range(scores.shape[0]):
        exponent = powers[class_codes[i]] * scores[i]
        if log_weights.shape[0]:
            exponent += log_weights[i]
        scores[i] = exponent
        if exponent > largest[class_codes[i]]:
            largest[class_codes[i]] = exponent
    for c in range(2):
        # both -inf: nothing has been seen of this class yet
        factors[c] = 1.0 if previous[c] == largest[c] else np.exp(previous[c] - largest[c])
        totals[c] *= factors[c]
    for i in range(scores.shape[0]):
        below = scores[i] - largest[class_codes[i]]
        term = np.exp(below) if below > -745.0 else 0.0
        scores[i] = term
        totals[class_codes[i]] += term


def value_and_gradient(
    model: LinearModel,
    class_codes: ClassCodes,
    log_weights: Floats | None,
    powers: tuple[float, float],
    coef: Floats,
) -> tuple[float, Floats]:
    r"""Return the two-sum objective of a linear model and its gradient in the coefficients.

    .. math::

        \frac{1}{c_+} \ln \sum_i w_i e^{-c_+ s_i} + \frac{1}{c_-} \ln \sum_k w_k e^{c_- t_k}

    Parameters
    ----------
    model : LinearModel
        The data.
    class_codes : ndarray of uint8, shape (n_rows,)
        One for a positive, zero for a negative.
    log_weights : ndarray of shape (n_rows,) or None
        Logarithms of the sample weights, ``-inf`` for a weight of zero.
    powers : tuple of float
        The positive :math:`(c_+, c_-)`.
    coef : ndarray of shape (n_features,)
        The coefficients.

    Notes
    -----
    O(nnz) time and one reading of the data; O(n_features) memory.
    """
    signed = np.array([powers[1], -powers[0]])
    none = np.empty(0)

    def chunk_sums(start: int, stop: int) -> TwoLogSums:
        sums = TwoLogSums(np.full(2, -np.inf), np.zeros(2), np.zeros((2, model.n_features)))
        factors = np.ones(2)
        for first, last in model.blocks(start, stop):
            terms = np.empty(last - first)
            model.block_scores(first, last, coef, terms)
            block_codes = class_codes[first:last]
            weights = none if log_weights is None else log_weights[first:last]
            _weigh_block(terms, block_codes, weights, signed, sums.largest, sums.totals, factors)
            if factors[0] != 1.0 or factors[1] != 1.0:
                np.multiply(sums.rows, factors[:, None], out=sums.rows)
            model.add_block_sums(first, last, terms, block_codes, sums.rows)
        return sums

    parts = map_chunks(chunk_sums, model.chunks)
    largest = np.max([part.largest for part in parts], axis=0)
    totals, rows = np.zeros(2), np.zeros((2, model.n_features))
    for part in parts:
        unit = np.exp(part.largest - largest)
        totals += unit * part.totals
        rows += unit[:, None] * part.rows
    means = rows / totals[:, None]
    log_sums = largest + np.log(totals)
    return float(np.sum(log_sums / np.abs(signed))), means[0] - means[1]
