"""How far a ranking keeps its positives from its negatives."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from pushrank._log_space import Floats


class Margins(NamedTuple):
    r"""The three margins of scores, from the weakest to the strongest; all are at most the one before.

    Attributes
    ----------
    weak : float
        The k-th highest positive less the highest negative: k positives stand that far above all negatives.
    average : float
        The mean of the m - k + 1 lowest of m positives, less the highest negative: any that many positives
        stand so far above all negatives on average.
    strong : float
        The lowest positive less the highest negative.
    """

    weak: float
    average: float
    strong: float


def margins(scores: Floats, positive: NDArray[np.bool_], mass: Floats, k: float) -> Margins:
    """Return the margins of scores, where k is at most the positives' mass.

    Kar, Narasimhan and Jain, ICML 2015, definitions 2, 4 and 5. A row of mass w counts as w copies.
    """
    counted = positive & (mass > 0.0)
    rising = np.sort(scores[counted])
    masses = mass[counted][np.argsort(scores[counted], kind="stable")]
    highest = scores[~positive & (mass > 0.0)].max()
    depth = np.cumsum(masses)
    lowest = depth[-1] - k + min(1.0, k)
    held = np.clip(lowest - (depth - masses), 0.0, masses)
    kth = int(np.searchsorted(depth, (1.0 - 1e-12) * lowest))
    average = float(held @ rising / held.sum())
    return Margins(float(rising[kth] - highest), average - float(highest), float(rising[0] - highest))
