"""What every measure of an order follows from: how much of each class stands at each place of the list."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Literal, NamedTuple

import numpy as np

from pushrank._log_space import Floats
from pushrank.metrics import rank_kernels

Ties = Literal["pessimistic", "half", "optimistic"]
TIE_SHARE = {"pessimistic": 1.0, "half": 0.5, "optimistic": 0.0}
"""The part of a tied pair that counts as an error."""


class AroundScore(NamedTuple):
    """The weight of each class above a score and tied with it."""

    hits_above: float
    misses_above: float
    hits_tied: float
    misses_tied: float


class Tally(ABC):
    """The weight of the positives at each of their scores, and of the negatives at and between them.

    There are U levels, ascending, and 2U + 1 cells: cell 2g lies below level g and above g - 1, cell 2g + 1
    is tied with level g.
    """

    @property
    @abstractmethod
    def positives_at(self) -> Floats:
        """The weight of the positives at each level, shape (U,)."""

    @property
    @abstractmethod
    def negatives_in(self) -> Floats:
        """The weight of the negatives in each cell, shape (2U + 1,)."""

    @property
    @abstractmethod
    def total_positive(self) -> float:
        """The weight of all positives."""

    @property
    @abstractmethod
    def total_negative(self) -> float:
        """The weight of all negatives."""

    @property
    @abstractmethod
    def counts_rows(self) -> bool:
        """Whether there are no weights, so that each row has one place."""

    @property
    @abstractmethod
    def has_whole_places(self) -> bool:
        """Whether rows weigh whole numbers, so that each stands for so many copies of itself."""

    @property
    def total(self) -> float:
        """The weight of all rows."""
        return self.total_positive + self.total_negative

    def positives_below(self, ties: Ties) -> Floats:
        """Return the weight of the positives below each cell, counting ties by the rule, shape (2U + 1,)."""
        return np.asarray(rank_kernels.positives_below(self.positives_at, tie_share(ties)))

    def negatives_above(self, ties: Ties) -> Floats:
        """Return the weight of the negatives above each level, counting ties by the rule, shape (U,)."""
        return np.asarray(rank_kernels.negatives_above(self.negatives_in, tie_share(ties)))

    def around_best_negative(self) -> AroundScore:
        """Return what stands above the best negative of a weight that is not zero, and beside it."""
        return AroundScore(*rank_kernels.around_best_negative(self.positives_at, self.negatives_in))

    def around_place(self, depth: float) -> AroundScore:
        """Return what stands above the row at which the list has the weight ``depth``, and beside it."""
        return AroundScore(*rank_kernels.around_place(self.positives_at, self.negatives_in, depth))

    def hits_within(self, depth: float, ties: Ties) -> float:
        """Return the weight of the positives in the first ``depth`` of the list.

        A tie at the end is filled with negatives first (``"pessimistic"``), with positives first
        (``"optimistic"``), or with both in proportion, which is the expectation under a random order.
        """
        share = tie_share(ties)
        around = self.around_place(depth)
        places = depth - around.hits_above - around.misses_above
        if share == 1.0:
            return around.hits_above + max(0.0, places - around.misses_tied)
        if share == 0.0:
            return around.hits_above + min(places, around.hits_tied)
        return around.hits_above + places * around.hits_tied / (around.hits_tied + around.misses_tied)


def tie_share(ties: Ties) -> float:
    """Return the part of a tied pair that is an error: 1, 0.5 or 0.

    Raises
    ------
    ValueError
        When the rule is not known.
    """
    if ties not in TIE_SHARE:
        raise ValueError(f"ties must be one of {sorted(TIE_SHARE)}, got {ties!r}.")
    return TIE_SHARE[ties]
