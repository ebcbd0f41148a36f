"""Which rows should stand above which: the protocol of all samples, and two classes of rows."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, NamedTuple, Protocol, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils import column_or_1d

from pushrank._base.numeric import Floats, softmax_and_log_sum
from pushrank._base.validation import checked_weights, plain_labels, two_classes

RowNumbers = NDArray[np.intp]


class ByClass(NamedTuple):
    """A vector over the rows of a sample, with positives and negatives in separate arrays."""

    positives: Floats
    negatives: Floats

    def plus(self, other: ByClass, factor: float = 1.0) -> ByClass:
        """Return ``self + factor * other``."""
        return ByClass(self.positives + factor * other.positives, self.negatives + factor * other.negatives)

    def times(self, factor: float) -> ByClass:
        """Return ``factor * self``."""
        return ByClass(factor * self.positives, factor * self.negatives)

    def dot(self, other: ByClass) -> float:
        """Return the inner product."""
        return float(self.positives @ other.positives + self.negatives @ other.negatives)

    def mirrored(self) -> ByClass:
        """Return the vector with exchanged classes and signs, as between a push and a pull."""
        return ByClass(-self.negatives, -self.positives)


class Normaliser(Protocol):
    r"""For each negative k, :math:`\ln A_k` with :math:`A_k = \sum_i \pi_{ik} e^{a_i}` over its positives."""

    # It also has the products with the row-stochastic matrix m_ki = pi_ik e^a_i / A_k, a softmax for
    # each negative. The matrix itself is never formed.

    @property
    def log_totals(self) -> Floats | float:
        """The ``ln A_k``, shape (K,), or a number if they are all the same."""

    def product(self, positive_values: Floats) -> Floats | float:
        """Return ``sum_i m_ki u_i``, shape (K,), or a number if all are the same."""

    def transpose_product(self, negative_values: Floats) -> Floats:
        """Return ``sum_k v_k m_ki``, shape (I,)."""


@dataclass(frozen=True, eq=False)
class Sample(ABC):
    """Rows that should stand above others, the rows that should stand below, and their weights."""

    # `positives` are the numbers of the rows that are preferred to some row, the paper's x_i (i = 1..I), and
    # `negatives` those to which some row is preferred, its x~_k (k = 1..K); with more than two classes a row
    # can be both. Weights are positive, or None if every row has the weight one. `n_rows` also counts the
    # rows in neither.

    n_rows: int
    positives: RowNumbers
    negatives: RowNumbers
    positive_weights: Floats | None = None
    negative_weights: Floats | None = None

    def swapped(self) -> Self:
        """Return the sample in which every pair is turned around."""
        return replace(
            self,
            positives=self.negatives,
            negatives=self.positives,
            positive_weights=self.negative_weights,
            negative_weights=self.positive_weights,
        )

    @abstractmethod
    def normaliser(self, exponents: Floats) -> Normaliser:
        """Return the sums of ``exp(exponents)``, shape (I,), over the positives of every negative."""

    @abstractmethod
    def least_margin(self, scores: Floats) -> float:
        """Return the smallest ``s_i - t_k`` over all pairs of positive weight."""

    @abstractmethod
    def subset(self, kept: NDArray[np.bool_]) -> Self:
        """Return the sample of the pairs with both rows kept; if there are none it is a ValueError."""

    @cached_property
    def totals(self) -> tuple[Floats, Floats]:
        """The log weight of the positives that each negative is compared with, and each negative's weight."""
        # Negatives that are all compared with the same positives have a single entry in both arrays.
        weights = np.ones(len(self.positives)) if self.positive_weights is None else self.positive_weights
        others = np.ones(len(self.negatives)) if self.negative_weights is None else self.negative_weights
        return np.asarray(self.normaliser(np.log(weights)).log_totals), others

    @cached_property
    def log_weights(self) -> tuple[Any, Any]:
        """The logarithms of the weights of the positives and of the negatives; None where all are one."""
        return _logarithms(self.positive_weights), _logarithms(self.negative_weights)

    @property
    def class_weights(self) -> tuple[float, float]:
        """The total weight of the positives and of the negatives."""
        positives, negatives = self.positives, self.negatives
        return _total(positives, self.positive_weights), _total(negatives, self.negative_weights)

    @property
    def class_codes(self) -> NDArray[np.uint8]:
        """One for a positive of two classes, zero for any other row, shape (n_rows,)."""
        return np.zeros(self.n_rows, dtype=np.uint8)

    @property
    def pair_weight(self) -> float:
        """The total weight of all pairs."""
        log_totals, weights = self.totals
        return float(np.exp(log_totals) @ weights)

    @property
    def least_log_weight(self) -> float:
        """The logarithm of the smallest weight of a pair, or a lower bound of it."""
        weights = (self.positive_weights, self.negative_weights)
        return sum(float(np.log(w.min())) for w in weights if w is not None)

    @property
    def row_weights(self) -> Floats | None:
        """The sample weights of all rows, zero for those in no pair; None if all are one."""
        # A row that is both a positive and a negative has the same weight as either.
        if self.positive_weights is None or self.negative_weights is None:
            return None
        weights = np.zeros(self.n_rows)
        weights[self.positives] = self.positive_weights
        weights[self.negatives] = self.negative_weights
        return weights

    def gather(self, values: Floats) -> ByClass:
        """Return the entries of the positives and of the negatives of a vector over all rows."""
        return ByClass(values[self.positives], values[self.negatives])

    def scatter(self, positive_values: Floats, negative_values: Floats) -> Floats:
        """Return one vector over all rows, zero for rows in no pair."""
        # A row that is both a positive and a negative gets the sum.
        values = np.zeros(self.n_rows)
        values[self.positives] = positive_values
        values[self.negatives] += negative_values
        return values

    def _kept_weights(self, kept: NDArray[np.bool_]) -> Floats:
        """Return the weights of all rows, zero for those that are not kept or in no pair."""
        # Without weights the rows in no pair are recognised by their absence from both lists.
        takes_part = np.zeros(self.n_rows, dtype=bool)
        takes_part[self.positives] = takes_part[self.negatives] = True
        return np.where(kept & takes_part, 1.0 if self.row_weights is None else self.row_weights, 0.0)


class SharedNormaliser:
    """A single softmax, for samples that compare every negative with all positives."""

    def __init__(self, exponents: Floats) -> None:
        self._softmax, self.log_totals = softmax_and_log_sum(exponents)

    def product(self, positive_values: Floats) -> float:
        return float(self._softmax @ positive_values)

    def transpose_product(self, negative_values: Floats) -> Floats:
        return float(np.sum(negative_values)) * self._softmax


class TwoClassSample(Sample):
    """Two classes, every positive compared with every negative."""

    def normaliser(self, exponents: Floats) -> Normaliser:
        return SharedNormaliser(exponents)

    @cached_property
    def totals(self) -> tuple[Floats, Floats]:
        """The log weight of the positives, and the weight of the negatives, with a single entry each."""
        positive_weight, negative_weight = self.class_weights
        # All negatives are compared with the same positives, so that a price of their total needs one entry.
        return np.log([positive_weight]), np.array([negative_weight])

    def least_margin(self, scores: Floats) -> float:
        positive_scores, negative_scores = self.gather(scores)
        return float(np.min(positive_scores)) - float(np.max(negative_scores))


@dataclass(frozen=True, eq=False)
class BipartiteSample(TwoClassSample):
    """Two classes: every positive should stand above every negative."""

    # Rows of weight zero belong to neither class and enter no sum. Row numbers ascend.

    @classmethod
    def from_mask(cls, is_positive: NDArray[np.bool_], weights: Floats | None = None) -> BipartiteSample:
        """Build a sample from a checked mask of the positives and non-negative weights."""
        counted = True if weights is None else weights > 0.0
        positives = np.flatnonzero(is_positive & counted)
        negatives = np.flatnonzero(~is_positive & counted)
        check_both_classes(len(positives), len(negatives))
        return cls(len(is_positive), positives, negatives, *weights_of(weights, positives, negatives))

    @classmethod
    def from_labels(cls, y: ArrayLike, sample_weight: ArrayLike | None = None) -> BipartiteSample:
        """Build a sample from labels of two values, the larger being the positive class, checked here."""
        labels = column_or_1d(plain_labels(y))
        _, is_positive = two_classes(labels)
        weights = None if sample_weight is None else checked_weights(sample_weight, len(labels))
        return cls.from_mask(is_positive, weights)

    def scatter(self, positive_values: Floats, negative_values: Floats) -> Floats:
        """Return one vector over all rows, zero for rows of weight zero; no row is in both classes."""
        values = np.zeros(self.n_rows)
        values[self.positives] = positive_values
        values[self.negatives] = negative_values
        return values

    @property
    def class_codes(self) -> NDArray[np.uint8]:
        codes = np.zeros(self.n_rows, dtype=np.uint8)
        codes[self.positives] = 1
        return codes

    def subset(self, kept: NDArray[np.bool_]) -> BipartiteSample:
        sample = BipartiteSample.from_mask(self.class_codes == 1, self._kept_weights(kept))
        # Without weights sums are faster.
        if self.row_weights is None:
            return BipartiteSample(self.n_rows, sample.positives, sample.negatives)
        return sample


@dataclass(frozen=True, eq=False)
class RankSample(TwoClassSample):
    """Two classes in which every positive is compared with all rows, itself included: with its Rank."""

    @classmethod
    def from_classes(cls, sample: Sample) -> RankSample:
        """Build it from two classes of NumPy arrays; other samples are a ValueError."""
        if not isinstance(sample, BipartiteSample):
            raise ValueError(
                "the rank of a positive among all rows is of two classes in one list, of NumPy arrays; for "
                "grades, query groups, pairs and other arrays use the reverse height."
            )
        rows = np.sort(np.concatenate([sample.positives, sample.negatives]))
        row_weights = weights_of(sample.row_weights, sample.positives, rows)
        return cls(sample.n_rows, sample.positives, rows, *row_weights)

    def subset(self, kept: NDArray[np.bool_]) -> RankSample:
        is_positive = np.zeros(self.n_rows, dtype=bool)
        is_positive[self.positives] = True
        return RankSample.from_classes(BipartiteSample.from_mask(is_positive, self._kept_weights(kept)))


def _total(rows: RowNumbers, weights: Any) -> float:
    return float(rows.shape[0] if weights is None else np.sum(weights))


def _logarithms(weights: Any) -> Any:
    # Of the rows of a fold all that count have the weight one.
    if weights is None or (weights == 1.0).all():
        return None
    return np.log(weights)


def weights_of(
    weights: Floats | None, positives: RowNumbers, negatives: RowNumbers
) -> tuple[Floats | None, Floats | None]:
    """Return the weights of the positives and of the negatives, None if all are one."""
    return (None, None) if weights is None else (weights[positives], weights[negatives])


def check_both_classes(n_positives: int, n_negatives: int) -> None:
    """Raise a ValueError if a class has no row of positive weight."""
    for count, name in ((n_positives, "positive"), (n_negatives, "negative")):
        if not count:
            raise ValueError(
                f"no {name} example was found whose sample_weight is not zero; ranking needs at least "
                f"one row of each class (found {n_positives} positives, {n_negatives} negatives)."
            )
