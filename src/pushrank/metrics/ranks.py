"""Where ties are settled: how many rows of each class lie above, at and below each score.

Every measure of a bipartite ranking follows from the positives' distinct scores and the weight of the
negatives at and between them. Sorting the positives and looking up every negative among them gives that, in
row order as well, for the price of a partial sort.
"""

from __future__ import annotations

import math
from functools import cached_property
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils import check_consistent_length

from pushrank._chunks import map_chunks, row_chunks
from pushrank._columns import as_numbers, check_stated_order, checked_weights, column, distinct
from pushrank._log_space import Floats
from pushrank.metrics import rank_kernels
from pushrank.metrics.tally import AroundScore, Tally

WORTH_A_THREAD = 1 << 18  # rows below which a sort is done before a thread has begun
LOOK_UP_COST = 64  # in elements read: keeps a chunk of look-ups worth a thread


class Ranking(Tally):
    """The order that scores give to positives and negatives, tie groups and all.

    Parameters
    ----------
    y_true : array-like of shape (n,)
        Labels of two values.
    scores : array-like of shape (n,)
        Finite scores, the higher the better.
    sample_weight : array-like of shape (n,), optional
        Non-negative weights; an integer weight equals that many copies of the row.
    pos_label : label, optional
        The positive class; by default the larger of the two values.

    Attributes
    ----------
    is_positive : ndarray of bool, shape (n,)
        The positives.
    scores : ndarray of float64, shape (n,)
        The scores, or their ranks where float64 cannot tell them apart (integers beyond 2^53).
    weights : ndarray of float64, shape (n,), or None
        The weights.

    Raises
    ------
    ValueError
        When there are not two classes, a score is NaN or infinite, or lengths or weights do not fit.

    Notes
    -----
    O(n) to build; the tables below cost O(n log P), with P positives, when first asked for.
    """

    def __init__(
        self,
        y_true: ArrayLike,
        scores: ArrayLike,
        sample_weight: ArrayLike | None = None,
        pos_label: Any = None,
    ) -> None:
        self.scores = checked_scores(column(scores, "scores"))
        if pos_label is None:
            check_stated_order(y_true, "y_true")
        labels = column(y_true, "y_true")
        check_consistent_length(labels, self.scores)
        self.is_positive = positive_mask(labels, pos_label)
        self.weights = None if sample_weight is None else summable_weights(sample_weight, len(labels))
        if self.weights is not None:
            for mask, name in ((self.is_positive, "positive"), (~self.is_positive, "negative")):
                if not self.weights[mask].any():
                    raise ValueError(
                        f"sample_weight is zero for every {name} row; ranking needs both classes."
                    )

    def of_same_rows(self, scores: ArrayLike) -> Self:
        """Return the ranking of the same labelled and weighted rows by other scores."""
        other = object.__new__(type(self))
        other.is_positive, other.weights = self.is_positive, self.weights
        other.scores = checked_scores(column(scores, "scores"))
        check_consistent_length(other.is_positive, other.scores)
        return other

    def weights_of(self, mask: NDArray[np.bool_]) -> Floats | None:
        """Return the weights of the rows in a mask, or None where all weigh one."""
        return None if self.weights is None else self.weights[mask]

    @cached_property
    def positive_scores(self) -> Floats:
        """The scores of the positives, in row order."""
        return self.scores[np.flatnonzero(self.is_positive)]  # quicker than by the mask

    @cached_property
    def negative_scores(self) -> Floats:
        """The scores of the negatives, in row order."""
        return self.scores[np.flatnonzero(~self.is_positive)]

    @property
    def levels(self) -> Floats:
        """The distinct scores of the positives, ascending, shape (U,)."""
        return self._levels_and_counts[0]

    @cached_property
    def _levels_and_counts(self) -> tuple[Floats, Floats]:
        ascending = self._sorted_classes[0] if self._is_balanced else rank_kernels.sort(self.positive_scores)
        levels, counts = rank_kernels.distinct_ascending(ascending)
        return levels, counts

    @property
    def _is_balanced(self) -> bool:
        """Whether sorting the negatives too is quicker than searching for the place of each."""
        return self.weights is None and len(self.negative_scores) < 3 * len(self.positive_scores)

    @cached_property
    def _sorted_classes(self) -> list[Floats]:
        classes = [self.positive_scores, self.negative_scores]
        if len(self.scores) < WORTH_A_THREAD:
            return [rank_kernels.sort(scores) for scores in classes]
        return map_chunks(lambda c, _: np.asarray(rank_kernels.sort(classes[c])), [(0, 1), (1, 2)])

    @cached_property
    def positive_levels(self) -> NDArray[np.int64]:
        """The number of each positive's level, in row order."""
        return _cells(self.levels, self.positive_scores) >> 1

    @cached_property
    def negative_cells(self) -> NDArray[np.int64]:
        """The cell of each negative, in row order: 2g below level g and above g - 1, 2g + 1 tied with g."""
        return _cells(self.levels, self.negative_scores)

    @cached_property
    def positives_at(self) -> Floats:
        """The weight of the positives at each level, shape (U,)."""
        if self.weights is None:
            return self._levels_and_counts[1]
        weights = self.weights_of(self.is_positive)
        return np.bincount(self.positive_levels, weights, minlength=len(self.levels)).astype(np.float64)

    @cached_property
    def negatives_in(self) -> Floats:
        """The weight of the negatives in each cell, shape (2U + 1,)."""
        if self._is_balanced:
            return np.asarray(rank_kernels.count_in_cells(self._sorted_classes[1], self.levels))
        weights = self.weights_of(~self.is_positive)
        return np.bincount(self.negative_cells, weights, minlength=2 * len(self.levels) + 1).astype(
            np.float64
        )

    @cached_property
    def total_positive(self) -> float:
        """The weight of all positives."""
        weights = self.weights_of(self.is_positive)
        return float(np.count_nonzero(self.is_positive)) if weights is None else float(weights.sum())

    @cached_property
    def total_negative(self) -> float:
        """The weight of all negatives."""
        weights = self.weights_of(~self.is_positive)
        return (
            float(len(self.scores) - np.count_nonzero(self.is_positive))
            if weights is None
            else float(weights.sum())
        )

    @property
    def counts_rows(self) -> bool:
        """Whether there are no weights, so that each row has one place."""
        return self.weights is None

    @cached_property
    def has_whole_places(self) -> bool:
        """Whether rows weigh whole numbers, so that each stands for so many copies of itself."""
        return self.weights is None or bool((self.weights == np.floor(self.weights)).all())

    def around_best_negative(self) -> AroundScore:
        """Return what stands above the best negative of a weight that is not zero, without sorting."""
        weights = self.weights_of(~self.is_positive)
        counted = self.negative_scores if weights is None else self.negative_scores[weights > 0.0]
        return self._around(counted.max())

    def around_place(self, depth: float) -> AroundScore:
        """Return what stands above the row at which the list has the weight ``depth``, and beside it."""
        if self.weights is not None:
            return super().around_place(depth)
        last = len(self.scores) - max(1, math.ceil(depth))
        return self._around(np.partition(self.scores, last)[last])

    def _around(self, score: float) -> AroundScore:
        masks_and_weights = (
            (compare(scores, score), weights)
            for compare in (np.greater, np.equal)
            for scores, weights in (
                (self.positive_scores, self.weights_of(self.is_positive)),
                (self.negative_scores, self.weights_of(~self.is_positive)),
            )
        )
        return AroundScore(
            *(
                float(np.count_nonzero(mask)) if weights is None else float(weights[mask].sum())
                for mask, weights in masks_and_weights
            )
        )


def _cells(levels: Floats, scores: Floats) -> NDArray[np.int64]:
    """Return 2g for a score below level g and above g - 1, and 2g + 1 for one equal to level g."""
    cells = np.empty(len(scores), dtype=np.int64)
    map_chunks(
        lambda start, stop: rank_kernels.find_cells(levels, scores[start:stop], cells[start:stop]),
        row_chunks(len(scores), LOOK_UP_COST),
    )
    return cells


def checked_scores(scores: NDArray[Any]) -> Floats:
    """Return finite scores as float64, or as their ranks where that would tie distinct ones.

    Raises
    ------
    ValueError
        When a score is no number, or is NaN or infinite.
    """
    floats = _as_floats(scores)
    if not np.isfinite(floats).all():
        bad = int(np.flatnonzero(~np.isfinite(floats))[0])
        raise ValueError(
            f"scores must be finite, found {floats[bad]} in row {bad}; drop or replace such rows."
        )
    return floats


def _as_floats(scores: NDArray[Any]) -> Floats:
    """Return the scores as float64, or as their ranks where the conversion would tie distinct ones."""
    largest_exact = 2**53
    if scores.dtype.kind in "iu" and len(scores):
        if max(-int(scores.min()), int(scores.max())) > largest_exact:
            scores = np.unique(scores, return_inverse=True)[1]
    elif scores.dtype.kind == "f" and scores.dtype.itemsize > 8 and np.isfinite(scores).all():
        scores = np.unique(scores, return_inverse=True)[1]
    return as_numbers(scores, "scores")


def positive_mask(labels: NDArray[Any], pos_label: Any) -> NDArray[np.bool_]:
    """Return which rows are positive.

    Raises
    ------
    ValueError
        When there are not two classes, or `pos_label` is none of them.
    """
    try:
        classes = distinct(labels, "y_true")
    except TypeError as error:
        raise ValueError("y_true mixes labels that have no order; use two values of one kind.") from error
    if len(classes) != 2:
        raise ValueError(
            f"y_true must hold exactly 2 classes, found {len(classes)}: {classes[:5].tolist()}. "
            "For one class against the rest pass y_true == that_class."
        )
    if pos_label is None:
        pos_label = classes[1]
    elif pos_label not in classes:
        raise ValueError(f"pos_label={pos_label!r} is not a class of y_true, which are {classes.tolist()}.")
    mask: NDArray[np.bool_] = labels == pos_label
    return mask


def summable_weights(sample_weight: ArrayLike, n_rows: int) -> Floats:
    """Return weights of all rows.

    Raises
    ------
    ValueError
        When their number differs, one is negative or not finite, or their sum is beyond the range of floats.
    """
    weights = checked_weights(sample_weight, n_rows)
    with np.errstate(over="ignore"):
        total = 2.0 * weights.sum()  # sums in another order may be larger by their rounding
    if not np.isfinite(total):
        raise ValueError(
            f"sample_weight adds up beyond the range of floats (the largest is {weights.max():g}); divide "
            "all of them by a constant, which most measures do not see."
        )
    return weights
