"""The structured hinge of average precision, as a function of the scores.

Yisong Yue, Thomas Finley, Filip Radlinski, Thorsten Joachims, *A support vector method for optimizing average
precision*, SIGIR 2007.
"""

from __future__ import annotations

import numpy as np

from pushrank._log_space import Floats
from pushrank.objectives.ranking_kernels import most_violated
from pushrank.pairs import Sample


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
        Two classes; weights are not used.
    scores : ndarray of shape (n_rows,)
        A score for each row.

    Notes
    -----
    The best order keeps each class sorted by score, and how many positives r_j stand above the j-th negative
    never falls with j: divide and conquer finds it in O((m + n) log(m + n)).

    Examples
    --------
    >>> from pushrank.pairs import BipartiteSample
    >>> sample = BipartiteSample.from_labels([1, 0])
    >>> value, slope = average_precision_hinge(sample, np.array([0.0, 0.0]))
    >>> round(value, 9), slope.tolist()
    (0.5, [-2.0, 2.0])
    """
    of_positives, of_negatives = sample.split(scores)
    order_p, order_n = np.argsort(-of_positives), np.argsort(-of_negatives)
    m, n = len(order_p), len(order_n)
    harmonic = np.concatenate([[0.0], np.cumsum(1.0 / np.arange(1, m + n + 1))])
    above, value = most_violated(of_positives[order_p], of_negatives[order_n], harmonic)
    # positive number i (from 0) stands below the negatives with at most i positives above
    below = np.cumsum(np.bincount(above, minlength=m + 1))[:m]
    in_positives, in_negatives = np.empty(m), np.empty(n)
    in_positives[order_p] = -2.0 / (m * n) * below
    in_negatives[order_n] = 2.0 / (m * n) * (m - above)
    return float(value), sample.join(in_positives, in_negatives)
