"""Any loss, pair by pair, in blocks of bounded memory: for few pairs, and to hold the fast ways against."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from pushrank._log_space import Floats
from pushrank.losses import Loss
from pushrank.pairs.inner_sums import PairSums

BLOCK_PAIRS = 1 << 19


class BlockedSums(PairSums):
    r"""Log inner sums :math:`l_k = \ln \sum_i w_i \ell(s_i - t_k)` of any loss, over all pairs.

    Parameters are those of :class:`PairSums`.

    Notes
    -----
    Time is O(I K) a call; memory beyond the result is about half a million floats, whatever I and K.
    """

    def _over_positives(self, order: int, factors: Floats | None = None) -> Floats:
        function = derivative_of(self._loss, order)
        return _weighted_sums(function, self._positives, self._negatives, self._weighted(factors), 1.0)

    def _over_negatives(self, order: int, factors: Floats) -> Floats:
        function = derivative_of(self._loss, order)
        sums = _weighted_sums(function, self._negatives, self._positives, factors, -1.0)
        return self._weights * sums


def derivative_of(loss: Loss, order: int) -> Callable[[Floats], Floats]:
    """Return the loss, or its first or second derivative, as a function of the margin."""
    return (loss.value, loss.derivative, loss.second_derivative)[order]


def _weighted_sums(
    function: Callable[[Floats], Floats], sources: Floats, targets: Floats, weights: Floats, sign: float
) -> Floats:
    """Return ``sum_j weights_j function(sign * (sources_j - targets_m))`` for every m, block by block."""
    sums = np.zeros_like(targets)
    width = min(len(sources), BLOCK_PAIRS)
    height = max(1, BLOCK_PAIRS // width)
    for top in range(0, len(targets), height):
        rows = slice(top, top + height)
        for left in range(0, len(sources), width):
            columns = slice(left, left + width)
            margins = sign * np.subtract.outer(-targets[rows], -sources[columns])
            sums[rows] += function(margins) @ weights[columns]
    return sums
