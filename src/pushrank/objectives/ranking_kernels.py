"""The compiled search for the order of two classes that violates a margin most."""

from __future__ import annotations

import numpy as np

from pushrank._compiled import compiled


@compiled()
def most_violated(positives, negatives, harmonic):
    """Return how many positives the worst order puts above each negative, and the violation.

    Scores descend within each class; ``harmonic`` holds the harmonic numbers up to m + n. Negative j (from 1)
    with r positives above it adds

        (j (H(m+j) - H(r+j)) - (j-1) (H(m+j-1) - H(r+j-1))) / m - 2 (S(r) - (m-r) t_j) / (m n),

    S(r) being the sum of the scores of the positives after the first r.
    """
    m, n = len(positives), len(negatives)
    later = np.zeros(m + 1)
    for i in range(m - 1, -1, -1):
        later[i] = later[i + 1] + positives[i]
    above = np.zeros(n, dtype=np.int64)
    total = 0.0
    # ranges of negatives whose r are known to lie between two bounds
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
        j, score = middle + 1, negatives[middle]
        best, where = -np.inf, least
        for r in range(least, most + 1):
            gain = j * (harmonic[m + j] - harmonic[r + j])
            gain -= (j - 1) * (harmonic[m + j - 1] - harmonic[r + j - 1])
            value = gain / m - 2.0 * (later[r] - (m - r) * score) / (m * n)
            if value > best:
                best, where = value, r
        above[middle] = where
        total += best
        if start < middle:
            ranges[waiting, 0], ranges[waiting, 1] = start, middle
            ranges[waiting, 2], ranges[waiting, 3] = least, where
            waiting += 1
        if middle + 1 < stop:
            ranges[waiting, 0], ranges[waiting, 1] = middle + 1, stop
            ranges[waiting, 2], ranges[waiting, 3] = where, most
            waiting += 1
    return above, total
