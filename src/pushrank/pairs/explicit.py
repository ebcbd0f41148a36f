"""Explicit crucial pairs, and the inner sums of any loss over them, pair by pair."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from pushrank._base.numeric import Floats
from pushrank.losses import Loss
from pushrank.pairs.pair_sums import PairSums, derivative_of
from pushrank.pairs.samples import Normaliser, RowNumbers, Sample, weights_of


@dataclass(frozen=True, eq=False)
class CrucialSample(Sample):
    r"""Explicit pairs with weights :math:`\pi_{ik} > 0`: ``better[m]`` should stand above ``worse[m]``."""

    # Preferences may contradict each other, also in cycles. Pairs are ordered by the worse row, and all their
    # weights are positive. Rudin, *The P-Norm Push*, JMLR 10 (2009), section 7, crucial pairs.

    better: RowNumbers = field(default_factory=lambda: np.zeros(0, dtype=np.intp))
    worse: RowNumbers = field(default_factory=lambda: np.zeros(0, dtype=np.intp))
    pair_weights: Floats = field(default_factory=lambda: np.zeros(0))

    @classmethod
    def from_pairs(
        cls,
        n_rows: int,
        better: RowNumbers,
        worse: RowNumbers,
        pair_weights: Floats | None = None,
        weights: Floats | None = None,
    ) -> CrucialSample:
        """Build a sample from checked pairs of row numbers, their weights, and the rows' weights."""
        pair_weights = np.ones(len(better)) if pair_weights is None else pair_weights
        counted = pair_weights > 0.0
        if weights is not None:
            counted &= (weights[better] > 0.0) & (weights[worse] > 0.0)
        # The sort is stable, because the rounding of a row's sum depends on the order of its pairs.
        order = np.flatnonzero(counted)[np.argsort(worse[counted], kind="stable")]
        if not len(order):
            raise ValueError(
                f"none of the {len(better)} pairs has a positive weight, so there is nothing to rank."
            )
        better, worse = better[order], worse[order]
        positives, negatives = np.unique(better), np.unique(worse)
        row_weights = weights_of(weights, positives, negatives)
        return cls(n_rows, positives, negatives, *row_weights, better, worse, pair_weights[order])

    def swapped(self) -> CrucialSample:
        """Return the sample with every pair turned around, which is computed once."""
        return self._swapped

    @cached_property
    def _swapped(self) -> CrucialSample:
        pairs = self.worse, self.better, self.pair_weights
        return CrucialSample.from_pairs(self.n_rows, *pairs, self.row_weights)

    @cached_property
    def layout(self) -> tuple[RowNumbers, RowNumbers]:
        """The index of each pair's better row among the positives, and where each negative's pairs start."""
        starts = np.append(np.searchsorted(self.worse, self.negatives), len(self.worse))
        return np.searchsorted(self.positives, self.better), starts

    def normaliser(self, exponents: Floats) -> Normaliser:
        return _SparseNormaliser(self, exponents)

    def least_margin(self, scores: Floats) -> float:
        return float(np.min(scores[self.better] - scores[self.worse]))

    def subset(self, kept: NDArray[np.bool_]) -> CrucialSample:
        return self.subset_pairs(kept[self.better] & kept[self.worse])

    def subset_pairs(self, kept: NDArray[np.bool_]) -> CrucialSample:
        """Return the sample of some of the pairs, shape (n_pairs,)."""
        pair_weights = np.where(kept, self.pair_weights, 0.0)
        return CrucialSample.from_pairs(self.n_rows, self.better, self.worse, pair_weights, self.row_weights)

    @property
    def least_log_weight(self) -> float:
        return super().least_log_weight + float(np.log(self.pair_weights.min()))


class _SparseNormaliser:
    """A sparse matrix of softmax weights, with a row for each worse row."""

    def __init__(self, sample: CrucialSample, exponents: Floats) -> None:
        columns, edges = sample.layout
        starts, sizes = edges[:-1], np.diff(edges)
        log_terms = exponents[columns] + np.log(sample.pair_weights)
        # In units of the largest term of a row no exponential overflows, and the sum is at least one.
        largest = np.maximum.reduceat(log_terms, starts)
        in_units = np.exp(log_terms - np.repeat(largest, sizes))
        totals = np.add.reduceat(in_units, starts)
        self.log_totals: Floats = largest + np.log(totals)
        softmax = in_units / np.repeat(totals, sizes)
        # The pairs are sorted by the worse row, which is the layout of CSR.
        shape = (len(sample.negatives), len(sample.positives))
        self._matrix = sp.csr_array((softmax, columns, edges), shape=shape)

    def product(self, positive_values: Floats) -> Floats:
        return np.asarray(self._matrix @ positive_values)

    def transpose_product(self, negative_values: Floats) -> Floats:
        return np.asarray(self._matrix.T @ negative_values)


class ListedSums(PairSums):
    """Log inner sums over the pairs of a sample, in time and memory linear in their number."""

    def __init__(
        self, loss: Loss, sample: CrucialSample, positive_scores: Floats, negative_scores: Floats
    ) -> None:
        self._pair_positives, edges = sample.layout
        self._pair_negatives = np.repeat(np.arange(len(sample.negatives)), np.diff(edges))
        self._pair_weights = sample.pair_weights
        self._margins = positive_scores[self._pair_positives] - negative_scores[self._pair_negatives]
        super().__init__(loss, positive_scores, negative_scores, sample.positive_weights)

    def _over_positives(self, order: int, factors: Floats | None = None) -> Floats:
        terms = self._terms(order) * self._weighted(factors)[self._pair_positives]
        return np.bincount(self._pair_negatives, terms, minlength=len(self._negatives)).astype(np.float64)

    def _over_negatives(self, order: int, factors: Floats) -> Floats:
        terms = self._terms(order) * factors[self._pair_negatives]
        sums = np.bincount(self._pair_positives, terms, minlength=len(self._positives))
        return self._weights * sums

    def _terms(self, order: int) -> Floats:
        return self._pair_weights * derivative_of(self._loss, order)(self._margins)
