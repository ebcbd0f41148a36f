"""Any loss over pairs that are given one by one."""

from __future__ import annotations

import numpy as np

from pushrank._log_space import Floats
from pushrank.losses import Loss
from pushrank.pairs.blocked import derivative_of
from pushrank.pairs.crucial import CrucialSample
from pushrank.pairs.inner_sums import PairSums


class ListedSums(PairSums):
    r"""Log inner sums :math:`\ln \sum_i \pi_{ik} w_i \ell(s_i - t_k)` over each worse row's own betters.

    Parameters
    ----------
    loss : Loss
        The pair loss.
    sample : CrucialSample
        The pairs.
    of_positives, of_negatives : ndarray of shape (I,) and (K,)
        The scores.

    Notes
    -----
    Time and memory are linear in the number of pairs.

    Examples
    --------
    >>> from pushrank.losses import Hinge
    >>> pairs = CrucialSample.from_pairs(3, np.array([0, 1]), np.array([1, 2]))
    >>> np.exp(ListedSums(Hinge(), pairs, np.array([0.5, 0.0]), np.zeros(2)).log_sums).tolist()
    [0.5, 1.0]
    """

    def __init__(self, loss: Loss, sample: CrucialSample, of_positives: Floats, of_negatives: Floats) -> None:
        self._of_pairs_p, edges = sample.layout
        self._of_pairs_n = np.repeat(np.arange(len(sample.negatives)), np.diff(edges))
        self._pair_weights = sample.pair_weights
        self._margins = of_positives[self._of_pairs_p] - of_negatives[self._of_pairs_n]
        super().__init__(loss, of_positives, of_negatives, sample.positive_weights)

    def _over_positives(self, order: int, factors: Floats | None = None) -> Floats:
        terms = self._terms(order) * self._weighted(factors)[self._of_pairs_p]
        return np.bincount(self._of_pairs_n, terms, minlength=len(self._negatives)).astype(np.float64)

    def _over_negatives(self, order: int, factors: Floats) -> Floats:
        terms = self._terms(order) * factors[self._of_pairs_n]
        sums = np.bincount(self._of_pairs_p, terms, minlength=len(self._positives))
        return self._weights * sums

    def _terms(self, order: int) -> Floats:
        return self._pair_weights * derivative_of(self._loss, order)(self._margins)
