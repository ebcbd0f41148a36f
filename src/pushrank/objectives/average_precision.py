"""The hinge bounds of average precision and of the area under the ROC curve.

The structured hinge of average precision, as a function of the scores.

Yisong Yue, Thomas Finley, Filip Radlinski, Thorsten Joachims, *A support vector method for optimizing average
precision*, SIGIR 2007.
"""

from __future__ import annotations

import numpy as np

from pushrank._numeric import Floats
from pushrank._parallel import compiled
from pushrank.objectives.push import PushObjective
from pushrank.pairs import Sample
from pushrank.pairs.samples import RowNumbers


@compiled()
def most_violated(positives, negatives):
    """Return how many positives the worst order puts above each negative.

    Scores descend within each class of m and n rows. Every positive i below negative j, both counted from
    one, adds

        i / ((i + j) (i + j - 1)) - 2 (s_i - t_j) / n

    to what is to be as large as possible.
    """
    m, n = len(positives), len(negatives)
    above = np.zeros(n, dtype=np.int64)
    # ranges of negatives whose numbers of positives above are known to lie between two bounds
    ranges = np.empty((128, 4), dtype=np.int64)
    ranges[0, 0], ranges[0, 1], ranges[0, 2], ranges[0, 3] = 0, n, 0, m
    waiting = 1
    while waiting:
        waiting -= 1
        start, stop, least, most = (
            ranges[waiting, 0],
            ranges[waiting, 1],
            ranges[waiting, 2],
            ranges[waiting, 3],
        )
        middle = (start + stop) // 2
        place, score = middle + 1.0, negatives[middle]
        gain, best, where = 0.0, 0.0, most
        for i in range(most - 1, least - 1, -1):
            both = i + 1.0 + place
            gain += (i + 1.0) / (both * (both - 1.0)) - 2.0 * (positives[i] - score) / n
            if gain >= best:
                best, where = gain, i
        above[middle] = where
        if start < middle:
            ranges[waiting, 0], ranges[waiting, 1] = start, middle
            ranges[waiting, 2], ranges[waiting, 3] = least, where
            waiting += 1
        if middle + 1 < stop:
            ranges[waiting, 0], ranges[waiting, 1] = middle + 1, stop
            ranges[waiting, 2], ranges[waiting, 3] = where, most
            waiting += 1
    return above


MAX_COPIES = 10**7  # of the rows of a class


def average_precision_hinge(sample: Sample, scores: Floats) -> tuple[float, Floats]:
    r"""Return the structured hinge of average precision, and a subgradient in the scores.

    .. math::

        R(s) = \max_{\hat y} \; 1 - AP(\hat y) + \Psi(\hat y) - \Psi(y), \qquad
        \Psi(\hat y) = \frac{1}{m n} \sum_{i, k} \hat y_{ik} (s_i - t_k) ,

    over all orders :math:`\hat y` of the m positives among the n negatives, :math:`\hat y_{ik}` being 1 where
    i stands above k and -1 elsewhere. It is an upper bound of 1 - AP.

    Parameters
    ----------
    sample : Sample
        Two classes. Weights are copies of rows, and so whole numbers: where weights are fractions the worst
        order need not keep a class sorted, and no fast way to find it is known.
    scores : ndarray of shape (n_rows,)
        A score for each row.

    Returns
    -------
    value : float
        The hinge, at least ``1 - AP``.
    subgradient : ndarray of shape (n_rows,)
        In the rows' order.

    Raises
    ------
    ValueError
        When a weight is no whole number, or those of a class are more than 10 million in all.

    Notes
    -----
    The best order keeps each class sorted by score, and how many positives r_j stand above the j-th negative
    never falls with j: divide and conquer finds it in O(n log n), n counting copies.

    Examples
    --------
    >>> from pushrank.pairs import BipartiteSample
    >>> sample = BipartiteSample.from_labels([1, 0])
    >>> value, slope = average_precision_hinge(sample, np.array([0.0, 0.0]))
    >>> round(value, 9), slope.tolist()
    (0.5, [-2.0, 2.0])
    """
    positive_scores, negative_scores = sample.gather(scores)
    order_p = _copies(np.argsort(-positive_scores), sample.positive_weights)
    order_n = _copies(np.argsort(-negative_scores), sample.negative_weights)
    m, n = len(order_p), len(order_n)
    above = most_violated(positive_scores[order_p], negative_scores[order_n])
    # positive number i (from 0) stands below the negatives with at most i positives above
    over = np.searchsorted(above, np.arange(m), side="right")
    loss = float(np.mean(over / (np.arange(1, m + 1) + over)))
    in_positives, in_negatives = np.zeros(len(positive_scores)), np.zeros(len(negative_scores))
    np.add.at(in_positives, order_p, -2.0 / (m * n) * over)
    np.add.at(in_negatives, order_n, 2.0 / (m * n) * (m - above))
    value = loss + in_positives @ positive_scores + in_negatives @ negative_scores
    return float(value), sample.scatter(in_positives, in_negatives)


def _copies(order: RowNumbers, weights: Floats | None) -> RowNumbers:
    """Return an order with every row as often as it weighs."""
    if weights is None:
        return order
    fractions, total = weights[weights != np.floor(weights)], float(weights.sum())
    if len(fractions) or total > MAX_COPIES:
        found = f"{fractions[0]:g}" if len(fractions) else f"{total:g} in all"
        raise ValueError(
            "average precision takes whole numbers as sample_weight, copies of rows, of which at most "
            f"{MAX_COPIES:,} in a class, and found {found}; round the weights, or use class_weight."
        )
    return np.repeat(order, weights[order].astype(np.intp))


def mean_hinge(sample: Sample, scores: Floats) -> tuple[float, Floats]:
    """Return the mean hinge of all pairs, and a subgradient in the scores."""
    at_point = PushObjective("hinge", scale="mean").evaluation(sample, scores)
    return at_point.value, sample.scatter(*at_point.gradient())
