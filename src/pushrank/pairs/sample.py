"""The two classes of a bipartite ranking problem, and who sits where."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils import check_array, check_consistent_length, column_or_1d

from pushrank._log_space import Floats

Rows = NDArray[np.intp]


@dataclass(frozen=True, eq=False)
class BipartiteSample:
    """The rows of the positives and of the negatives, with their sample weights.

    Rows of weight zero belong to neither class: they take no part in any sum.

    Attributes
    ----------
    n_rows : int
        Rows of the data, those of weight zero included.
    positives, negatives : ndarray of int
        Row numbers, ascending: the paper's ``x_i`` (i = 1..I) and ``x~_k`` (k = 1..K).
    positive_weights, negative_weights : ndarray of float64 or None
        Their sample weights, all positive; None when every row weighs one.
    """

    n_rows: int
    positives: Rows
    negatives: Rows
    positive_weights: Floats | None = None
    negative_weights: Floats | None = None

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
        labels = column_or_1d(y)
        classes = np.unique(labels)
        if len(classes) != 2:
            raise ValueError(
                f"y must hold exactly 2 classes, found {len(classes)}: {classes[:5].tolist()}. "
                "For one class against the rest pass y == that_class."
            )
        weights = None
        if sample_weight is not None:
            weights = checked_weights(sample_weight)
            check_consistent_length(labels, weights)
        return cls.from_mask(labels == classes[1], weights)

    def swapped(self) -> BipartiteSample:
        """Return the sample with the classes' roles exchanged."""
        return BipartiteSample(
            self.n_rows, self.negatives, self.positives, self.negative_weights, self.positive_weights
        )

    def split(self, values: Floats) -> tuple[Floats, Floats]:
        """Return the entries of the positives and of the negatives of a vector over all rows."""
        return values[self.positives], values[self.negatives]

    def join(self, of_positives: Floats, of_negatives: Floats) -> Floats:
        """Return one vector over all rows, zero on rows of weight zero: the inverse of ``split``."""
        values = np.zeros(self.n_rows)
        values[self.positives] = of_positives
        values[self.negatives] = of_negatives
        return values


def checked_weights(sample_weight: ArrayLike) -> Floats:
    """Return sample weights as float64 after checking that they are finite and non-negative.

    Raises
    ------
    ValueError
        When one is negative, infinite or NaN, or the array is not one-dimensional.
    """
    weights: Floats = check_array(
        sample_weight, dtype=np.float64, ensure_2d=False, input_name="sample_weight", order="C"
    )
    if weights.ndim != 1:
        raise ValueError(f"sample_weight must be one-dimensional, got shape {weights.shape}.")
    if np.min(weights, initial=0.0) < 0.0:
        raise ValueError(f"sample_weight must not be negative, found {weights.min()}.")
    return weights
