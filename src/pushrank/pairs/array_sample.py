"""Two classes whose rows are on another device."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pushrank._array import detached, like, namespace
from pushrank._log_space import Floats
from pushrank.pairs.sample import AllAlike, Mixture, Sample


@dataclass(frozen=True, eq=False)
class ArraySample(Sample):
    """Two classes as arrays of any library that keeps the array API standard, where they are.

    Attributes
    ----------
    places : array of int, shape (n_rows,)
        Where each row is among the positives, then the negatives, then the rows that take no part.
    """

    places: Any = None

    @classmethod
    def from_labels(cls, y: Any, sample_weight: Any = None) -> ArraySample:
        """Build a sample from labels of two values, the larger being the positive class.

        Raises
        ------
        ValueError
            When there are not two classes, or the weights are not those of :func:`weights_beside`.
        """
        xp = namespace(y)
        classes = xp.unique_values(y)
        if classes.shape[0] != 2:
            raise ValueError(
                f"y must hold exactly 2 classes, found {classes.shape[0]}. "
                "For one class against the rest pass y == that_class."
            )
        is_positive = y if xp.isdtype(y.dtype, "bool") else y == xp.max(classes)
        return cls.from_mask(is_positive, weights_beside(y, sample_weight))

    @classmethod
    def from_mask(cls, is_positive: Any, weights: Any = None) -> ArraySample:
        """Build a sample from a mask of the positives and non-negative weights of the same library.

        Raises
        ------
        ValueError
            When a class has no row of positive weight.
        """
        xp = namespace(is_positive)
        counted = xp.ones_like(is_positive) if weights is None else weights > 0.0
        kinds = [is_positive & counted, ~is_positive & counted]
        rows = [xp.nonzero(kind)[0] for kind in (*kinds, ~counted)]
        n_positives, n_negatives = rows[0].shape[0], rows[1].shape[0]
        for count, name in ((n_positives, "positive"), (n_negatives, "negative")):
            if not count:
                raise ValueError(
                    f"no {name} example was found whose sample_weight is not zero; ranking needs at least "
                    f"one row of each class (found {n_positives} positives, {n_negatives} negatives)."
                )
        of_classes = (None, None)
        if weights is not None:
            of_classes = (xp.take(weights, rows[0], axis=0), xp.take(weights, rows[1], axis=0))
        places = xp.argsort(xp.concat(rows))
        return cls(is_positive.shape[0], rows[0], rows[1], *of_classes, places)

    def split(self, values: Any) -> tuple[Any, Any]:
        """Return the entries of the positives and of the negatives of a vector over all rows."""
        xp = namespace(values)
        return xp.take(values, self.positives, axis=0), xp.take(values, self.negatives, axis=0)

    def join(self, of_positives: Any, of_negatives: Any) -> Any:
        """Return one vector over all rows, zero on rows that take no part."""
        xp = namespace(of_positives)
        rest = self.n_rows - of_positives.shape[0] - of_negatives.shape[0]
        ends = like(np.zeros(rest), of_positives, of_positives.dtype)
        return xp.take(xp.concat([of_positives, of_negatives, ends]), self.places, axis=0)

    def swapped(self) -> ArraySample:
        """Return the sample with the classes' roles exchanged."""
        xp = namespace(self.places)
        first, second = self.positives.shape[0], self.negatives.shape[0]
        after = xp.where(self.places < first, self.places + second, self.places - first)
        places = xp.where(self.places < first + second, after, self.places)
        return ArraySample(
            self.n_rows, self.negatives, self.positives, self.negative_weights, self.positive_weights, places
        )

    def mixture(self, exponents: Any) -> Mixture:
        """Return the one sum that all negatives share."""
        return AllAlike(exponents)

    def least_margin(self, scores: Any) -> float:
        """Return the lowest score of a positive less the highest of a negative."""
        of_positives, of_negatives = self.split(scores)
        xp = namespace(scores)
        return float(xp.min(of_positives)) - float(xp.max(of_negatives))

    def restricted(self, kept: NDArray[np.bool_]) -> ArraySample:  # noqa: ARG002
        """Raise: parts of samples are for boosting, which takes NumPy arrays."""
        raise TypeError("a sample on another device cannot be cut; pass NumPy arrays.")

    @cached_property
    def totals(self) -> tuple[Floats, Floats]:
        """The logarithm of the weight of the positives, and the weight of the negatives, one entry each."""
        of_positives, of_negatives = self.class_weights
        return np.log([of_positives]), np.array([of_negatives])

    @property
    def class_codes(self) -> Any:
        """One for a positive, zero for another row, shape (n_rows,)."""
        xp = namespace(self.places)
        return xp.astype(self.places < self.positives.shape[0], xp.float64)


def weights_beside(y: Any, sample_weight: Any) -> Any:
    """Return sample weights of any library as float64 of that of the labels, on their device, or None.

    Raises
    ------
    ValueError
        When there is not a number for each row, or one is negative or not finite.
    """
    if sample_weight is None:
        return None
    weights = detached(like(sample_weight, y))
    xp = namespace(weights)
    if weights.shape != y.shape:
        raise ValueError(
            f"sample_weight must hold a number for each of {y.shape[0]} rows, not {tuple(weights.shape)}."
        )
    if not bool(xp.all(xp.isfinite(weights))):
        raise ValueError("sample_weight contains NaN or infinity.")
    if float(xp.min(weights)) < 0.0:
        raise ValueError(f"sample_weight must not be negative, found {float(xp.min(weights))}.")
    return weights
