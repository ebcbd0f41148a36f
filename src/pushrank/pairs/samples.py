"""Which rows should stand above which: two classes."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Protocol, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils import column_or_1d

from pushrank._array import namespace
from pushrank._numeric import Floats, softmax_and_log_sum
from pushrank._validation import check_ordered_categorical, checked_weights, two_classes

Rows = NDArray[np.intp]


class Normaliser(Protocol):
    r"""The sum of every negative's positives, :math:`A_k = \sum_i \pi_{ik} e^{a_i}`, and their shares in it.

    The shares :math:`m_{ki} = \pi_{ik} e^{a_i} / A_k` of a negative sum to one. They are never laid out pair
    by pair.
    """

    @property
    def log_totals(self) -> Floats | float:
        """The ``ln A_k``, shape (K,), or one number where they are all the same."""

    def product(self, of_positives: Floats) -> Floats | float:
        """Return ``sum_i m_ki u_i``, shape (K,), or one number where all are the same."""

    def transpose_product(self, of_negatives: Floats) -> Floats:
        """Return ``sum_k v_k m_ki``, shape (I,)."""


@dataclass(frozen=True, eq=False)
class Sample(ABC):
    """Rows that should stand above others, the rows that should stand below, and their weights.

    Attributes
    ----------
    n_rows : int
        Rows of the data, those that take no part included.
    positives, negatives : ndarray of int
        Numbers of the rows that should stand above some row, the paper's ``x_i`` (i = 1..I), and of those
        that should stand below some row, its ``x~_k`` (k = 1..K). Beyond two classes a row can be both.
    positive_weights, negative_weights : ndarray of float64 or None
        Their sample weights, all positive; None when every row weighs one.
    """

    n_rows: int
    positives: Rows
    negatives: Rows
    positive_weights: Floats | None = None
    negative_weights: Floats | None = None

    @abstractmethod
    def swapped(self) -> Self:
        """Return the sample in which every pair is turned around."""

    @abstractmethod
    def normaliser(self, exponents: Floats) -> Normaliser:
        """Return the sums of ``exp(exponents)``, shape (I,), over the positives of every negative."""

    @abstractmethod
    def least_margin(self, scores: Floats) -> float:
        """Return the smallest ``s_i - t_k`` over all pairs that count."""

    @abstractmethod
    def subset(self, kept: NDArray[np.bool_]) -> Self:
        """Return the sample of the pairs of which both rows are kept, shape (n_rows,).

        Raises
        ------
        ValueError
            When no pair is left.
        """

    @cached_property
    def totals(self) -> tuple[Floats, Floats]:
        """The logarithm of the weight of the positives that a negative is compared with, and its own weight.

        Two arrays of one entry a negative; where all are compared with the same, of one entry in all.
        """
        weights = np.ones(len(self.positives)) if self.positive_weights is None else self.positive_weights
        own = np.ones(len(self.negatives)) if self.negative_weights is None else self.negative_weights
        log_totals = self.normaliser(np.log(weights)).log_totals
        if isinstance(log_totals, float):
            return np.array([log_totals]), np.array([own.sum()])
        return log_totals, own

    @property
    def class_weights(self) -> tuple[float, float]:
        """The total weight of the positives and of the negatives."""
        first, second = (
            float(rows.shape[0]) if weights is None else float(namespace(weights).sum(weights))
            for rows, weights in (
                (self.positives, self.positive_weights),
                (self.negatives, self.negative_weights),
            )
        )
        return first, second

    @property
    def class_codes(self) -> Any:
        """One for a positive, zero for another row, shape (n_rows,); zeros but for two classes."""
        return np.zeros(self.n_rows, dtype=np.uint8)

    @property
    def pair_weight(self) -> float:
        """The total weight of all pairs."""
        log_totals, own = self.totals
        return float(np.exp(log_totals) @ own)

    @property
    def least_log_weight(self) -> float:
        """The logarithm of the least weight of a pair, or a bound below it."""
        weights = (self.positive_weights, self.negative_weights)
        return sum(float(np.log(w.min())) for w in weights if w is not None)

    @property
    def row_weights(self) -> Floats | None:
        """The sample weights of all rows, zero for those that take no part; None when all weigh one."""
        if self.positive_weights is None or self.negative_weights is None:
            return None
        weights = np.zeros(self.n_rows)
        weights[self.positives] = self.positive_weights
        weights[self.negatives] = self.negative_weights
        return weights

    def gather(self, values: Floats) -> tuple[Floats, Floats]:
        """Return the entries of the positives and of the negatives of a vector over all rows."""
        return values[self.positives], values[self.negatives]

    def scatter(self, of_positives: Floats, of_negatives: Floats) -> Floats:
        """Return one vector over all rows, zero on rows that take no part; rows that are both add up."""
        values = np.zeros(self.n_rows)
        values[self.positives] = of_positives
        values[self.negatives] += of_negatives
        return values


class SharedNormaliser:
    """Every negative is compared with all positives: one sum serves them all."""

    def __init__(self, exponents: Floats) -> None:
        self._mass, self.log_totals = softmax_and_log_sum(exponents)

    def product(self, of_positives: Floats) -> float:
        """Return the one weighted mean."""
        return float(self._mass @ of_positives)

    def transpose_product(self, of_negatives: Floats) -> Floats:
        """Return the positives' shares of the total."""
        shared: Floats = float(namespace(of_negatives).sum(of_negatives)) * self._mass
        return shared


@dataclass(frozen=True, eq=False)
class BipartiteSample(Sample):
    """Two classes: every positive should stand above every negative.

    Rows of weight zero belong to neither class: they take no part in any sum. Row numbers ascend.
    """

    @classmethod
    def from_mask(cls, is_positive: NDArray[np.bool_], weights: Floats | None = None) -> BipartiteSample:
        """Build a sample from a checked mask of the positives and non-negative weights.

        Raises
        ------
        ValueError
            When a class has no row of positive weight.
        """
        counted = True if weights is None else weights > 0.0
        positives = np.flatnonzero(is_positive & counted)
        negatives = np.flatnonzero(~is_positive & counted)
        for rows, name in ((positives, "positive"), (negatives, "negative")):
            if not len(rows):
                raise ValueError(
                    f"no {name} example was found whose sample_weight is not zero; ranking needs at least "
                    f"one row of each class (found {len(positives)} positives, {len(negatives)} negatives)."
                )
        if weights is None:
            return cls(len(is_positive), positives, negatives)
        return cls(len(is_positive), positives, negatives, weights[positives], weights[negatives])

    @classmethod
    def from_labels(cls, y: ArrayLike, sample_weight: ArrayLike | None = None) -> BipartiteSample:
        """Build a sample from labels of two values, the larger being the positive class.

        Parameters
        ----------
        y : array-like of shape (n,)
            Labels with exactly two distinct values, such as ``{0, 1}`` or ``{-1, 1}``.
        sample_weight : array-like of shape (n,), optional
            Finite and non-negative.

        Raises
        ------
        ValueError
            When there are not two classes, a weight is negative or not finite, or the lengths differ.

        Examples
        --------
        >>> BipartiteSample.from_labels([0, 1, 1]).positives.tolist()
        [1, 2]
        """
        check_ordered_categorical(y)
        labels = column_or_1d(y)
        _, is_positive = two_classes(labels)
        weights = None if sample_weight is None else checked_weights(sample_weight, len(labels))
        return cls.from_mask(is_positive, weights)

    def swapped(self) -> BipartiteSample:
        """Return the sample with the classes' roles exchanged."""
        return BipartiteSample(
            self.n_rows, self.negatives, self.positives, self.negative_weights, self.positive_weights
        )

    def scatter(self, of_positives: Floats, of_negatives: Floats) -> Floats:
        """Return one vector over all rows, zero on rows that take no part; no row is both."""
        values = np.zeros(self.n_rows)
        values[self.positives] = of_positives
        values[self.negatives] = of_negatives
        return values

    @property
    def class_codes(self) -> Any:
        """One for a positive, zero for another row, shape (n_rows,)."""
        codes = np.zeros(self.n_rows, dtype=np.uint8)
        codes[self.positives] = 1
        return codes

    def normaliser(self, exponents: Floats) -> Normaliser:
        """Return the one sum that all negatives share."""
        return SharedNormaliser(exponents)

    def least_margin(self, scores: Floats) -> float:
        """Return the lowest score of a positive less the highest of a negative."""
        return float(scores[self.positives].min() - scores[self.negatives].max())

    def subset(self, kept: NDArray[np.bool_]) -> BipartiteSample:
        """Return the sample of the kept rows."""
        is_positive = np.zeros(self.n_rows, dtype=bool)
        is_positive[self.positives] = True
        takes_part = is_positive.copy()
        takes_part[self.negatives] = True
        weights = np.where(kept & takes_part, 1.0 if self.row_weights is None else self.row_weights, 0.0)
        sample = BipartiteSample.from_mask(is_positive, weights)
        if self.row_weights is None:
            return BipartiteSample(self.n_rows, sample.positives, sample.negatives)
        return sample
