"""The structured hinge of average precision, as a function of the scores.

Yisong Yue, Thomas Finley, Filip Radlinski, Thorsten Joachims, *A support vector method for optimizing average
precision*, SIGIR 2007.
"""

from __future__ import annotations

import numpy as np

from pushrank._log_space import Floats
from pushrank.objectives.ranking_kernels import most_violated
from pushrank.pairs import Sample
from pushrank.pairs.sample import Rows

MOST_COPIES = 10**7  # of the rows of a class


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
    of_positives, of_negatives = sample.split(scores)
    order_p = _copies(np.argsort(-of_positives), sample.positive_weights)
    order_n = _copies(np.argsort(-of_negatives), sample.negative_weights)
    m, n = len(order_p), len(order_n)
    above = most_violated(of_positives[order_p], of_negatives[order_n])
    # positive number i (from 0) stands below the negatives with at most i positives above
    over = np.searchsorted(above, np.arange(m), side="right")
    loss = float(np.mean(over / (np.arange(1, m + 1) + over)))
    in_positives, in_negatives = np.zeros(len(of_positives)), np.zeros(len(of_negatives))
    np.add.at(in_positives, order_p, -2.0 / (m * n) * over)
    np.add.at(in_negatives, order_n, 2.0 / (m * n) * (m - above))
    value = loss + in_positives @ of_positives + in_negatives @ of_negatives
    return float(value), sample.join(in_positives, in_negatives)


def _copies(order: Rows, weights: Floats | None) -> Rows:
    """Return an order with every row as often as it weighs."""
    if weights is None:
        return order
    fractions, total = weights[weights != np.floor(weights)], float(weights.sum())
    if len(fractions) or total > MOST_COPIES:
        found = f"{fractions[0]:g}" if len(fractions) else f"{total:g} in all"
        raise ValueError(
            "average precision takes whole numbers as sample_weight, copies of rows, of which at most "
            f"{MOST_COPIES:,} in a class, and found {found}; round the weights, or use class_weight."
        )
    return np.repeat(order, weights[order].astype(np.intp))
