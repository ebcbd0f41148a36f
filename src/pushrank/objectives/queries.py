"""Means over query groups of two classes: each query is a list of its own, with the weight of any other."""

from __future__ import annotations

import numpy as np

from pushrank._numeric import Floats
from pushrank.pairs import GradedSample


def mean_infinite_push(
    queries: GradedSample, scores: Floats, *, squared: bool
) -> tuple[float, Floats, float]:
    r"""Return the mean of the queries' Infinite Pushes, a subgradient, and that plane's value at zero scores.

    .. math::

        \frac{1}{Q} \sum_q \sum_{i \in q} \frac{w_i}{W_q}\, \ell\bigl(1 - s_i + \max_{k \in q} t_k\bigr) ,

    over the positives i and the negatives k of each query, with the hinge or its square. O(n).
    """
    positive_scores, negative_scores = queries.gather(scores)
    first_positives, first_negatives = queries.starts
    highest = np.maximum.reduceat(negative_scores, first_negatives)
    margins = positive_scores - np.repeat(highest, queries.upper_sizes)
    shortfall, weights = np.maximum(1.0 - margins, 0.0), queries.mean_weights
    pushes = weights * (2.0 * shortfall if squared else shortfall > 0.0)
    # The first of the highest negatives of a query takes what its positives give.
    at_top = np.flatnonzero(negative_scores == np.repeat(highest, queries.lower_sizes))
    pushed = np.zeros_like(negative_scores)
    pushed[at_top[np.searchsorted(at_top, first_negatives)]] = np.add.reduceat(pushes, first_positives)
    # With z = 1 - margin the plane of a loss at zero scores is l(z) - l'(z) (z - 1).
    value = float(weights @ (shortfall**2 if squared else shortfall))
    offset = weights @ (shortfall * (2.0 - shortfall)) if squared else pushes.sum()
    return value, queries.scatter(-pushes, pushed), float(offset)
