"""Rows with their labels and what stands beside them: weights, groups, times."""

from __future__ import annotations

from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils import _safe_indexing, indexable
from sklearn.utils.validation import _num_samples

from pushrank._numeric import Floats
from pushrank.times import check_times
from pushrank.user_types import Label, MatrixLike
from pushrank.validation import (
    checked_weights,
    group_numbers,
    plain_labels,
    refuse_masked,
    two_classes,
    warn_of_other_order,
)


class Rows(NamedTuple):
    """Rows to fit models to and to score: models are fitted to ``y``, and measured by ``positive``."""

    X: Any
    y: NDArray[Any]
    positive: NDArray[np.bool_]
    weights: Floats | None = None
    groups: NDArray[Any] | None = None
    times: NDArray[Any] | None = None

    def part(self, numbers: NDArray[np.intp]) -> Self:
        """Return some of the rows."""
        beside = (None if column is None else column[numbers] for column in self[3:])
        X = _safe_indexing(self.X, numbers)
        return type(self)(X, self.y[numbers], self.positive[numbers], *beside)

    def counted(self) -> Self:
        """Return the rows of positive weight: others would count where models scale columns or count rows."""
        if self.weights is None or self.weights.all():
            return self
        return self.part(np.flatnonzero(self.weights))

    @classmethod
    def checked(
        cls,
        X: MatrixLike,
        y: ArrayLike,
        pos_label: Label | None = None,
        sample_weight: ArrayLike | None = None,
        groups: ArrayLike | None = None,
        time: ArrayLike | None = None,
    ) -> Self:
        """Return rows whose labels, weights and times are checked."""
        warn_of_other_order(X=X, y=y, sample_weight=sample_weight, groups=groups, time=time)
        refuse_masked(X, "X")
        (X,), y = indexable(X), np.asarray(plain_labels(y))
        n_rows = _num_samples(X)
        if y.shape != (n_rows,):
            raise ValueError(f"y must hold one label for each of the {n_rows} rows, got the shape {y.shape}.")
        _, positive = two_classes(y, pos_label=pos_label)
        # Classifiers would take the later of two texts for the positive label.
        if pos_label is not None or y.dtype.kind not in "biuf":
            y = positive
        weights = None
        if sample_weight is not None:
            weights = checked_weights(sample_weight, n_rows)
        if groups is not None:
            group_numbers(groups, n_rows, "groups")
        times = None if time is None else check_times(time, n_rows)
        return cls(X, y, positive, weights, None if groups is None else np.asarray(groups), times)
