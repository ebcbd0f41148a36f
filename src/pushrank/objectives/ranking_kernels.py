"""The compiled search for the order of two classes that violates a margin most."""

from __future__ import annotations

import numpy as np

from pushrank._compiled import compiled


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
