"""The structured hinge of average precision, as a function of the scores.

Yue, Finley, Radlinski and Joachims, *A support vector method for optimizing average precision*, SIGIR 2007.
"""

import numpy as np

from pushrank._base.numeric import Floats
from pushrank._base.parallel import compiled
from pushrank.pairs import Sample
from pushrank.pairs.samples import RowNumbers

# Weights are copies of rows, each with a position in the order.
MAX_COPIES = 10**7


@compiled()
def set_most_violated(positives, negatives, start, stop, lower, upper, above):
    """Write how many positives the worst order puts above each negative from ``start`` to ``stop``."""
    # Scores descend within each class of m and n rows. The order is worst where the sum over the positives i
    # below negative j, both counted from one, is largest of i / ((i + j) (i + j - 1)) - 2 (s_i - t_j) / n.
    # The numbers are known to be between `lower` and `upper`.
    if start >= stop:
        return
    middle, n = (start + stop) // 2, len(negatives)
    rank, score = middle + 1.0, negatives[middle]
    gain, best, number = 0.0, 0.0, upper
    for i in range(upper - 1, lower - 1, -1):
        both = i + 1.0 + rank
        gain += (i + 1.0) / (both * (both - 1.0)) - 2.0 * (positives[i] - score) / n
        if gain >= best:
            best, number = gain, i
    above[middle] = number
    # The numbers never fall with j, so this one bounds those on either side: divide and conquer, O(n log n).
    set_most_violated(positives, negatives, start, middle, lower, number, above)
    set_most_violated(positives, negatives, middle + 1, stop, number, upper, above)


def average_precision_hinge(sample: Sample, scores: Floats) -> tuple[float, Floats, float]:
    """Return the structured hinge of average precision, a subgradient in the scores, and its offset."""
    # SVMMAP has the formula. The worst order keeps each class sorted by score, and the number of positives
    # above the j-th negative never falls with j: O(n log n), n counting copies. With weights that are no
    # whole numbers it need not keep a class sorted, and no fast algorithm is known. The plane's offset, the
    # value less the product of subgradient and scores, is 1 - AP of the worst order.
    positive_scores, negative_scores = sample.gather(scores)
    order_p = _copies(np.argsort(-positive_scores), sample.positive_weights)
    order_n = _copies(np.argsort(-negative_scores), sample.negative_weights)
    m, n = len(order_p), len(order_n)
    above = np.zeros(n, dtype=np.int64)
    set_most_violated(positive_scores[order_p], negative_scores[order_n], 0, n, 0, m, above)
    # Positive i, counted from zero, stands below the negatives that have at most i positives above them.
    over = np.searchsorted(above, np.arange(m), side="right")
    loss = float(np.mean(over / (np.arange(1, m + 1) + over)))
    positive_slope, negative_slope = np.zeros(len(positive_scores)), np.zeros(len(negative_scores))
    np.add.at(positive_slope, order_p, -2.0 / (m * n) * over)
    np.add.at(negative_slope, order_n, 2.0 / (m * n) * np.subtract(m, above, out=above))
    value = loss + positive_slope @ positive_scores + negative_slope @ negative_scores
    # These hold a number a row.
    del above, order_n, negative_scores
    return float(value), sample.scatter(positive_slope, negative_slope), loss


def _copies(order: RowNumbers, weights: Floats | None) -> RowNumbers:
    """Return an order in which every row is repeated as often as its weight says."""
    if weights is None:
        return order
    fractions, total = weights[weights != np.floor(weights)], float(weights.sum())
    if len(fractions) or total > MAX_COPIES:
        wrong = f"{fractions[0]:g}" if len(fractions) else f"{total:g} in all"
        raise ValueError(
            "average precision takes whole numbers as sample_weight, copies of rows, of which at most "
            f"{MAX_COPIES:,} in a class, and found {wrong}; round the weights, or use class_weight."
        )
    return np.repeat(order, weights[order].astype(np.intp))
