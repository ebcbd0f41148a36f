"""What solvers and estimators ask of rows, wherever these lie.

A descent needs no row by itself, only sums over all rows: of terms, of weighted rows, of their squares and
products. A :class:`RowSource` maps a function over the blocks of its rows and returns what came out;
:mod:`pushrank.rows.sums` has the functions. Rows in memory, or in a file that is mapped there, can also give
the scores of all rows (:class:`pushrank.rows.MemoryRows`), for what needs these; rows on the workers of a
cluster cannot.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable
from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from pushrank._base.numeric import Floats
from pushrank.models import LinearModel
from pushrank.models.linear import ClassCodes, FeatureSpace
from pushrank.rows.order_statistics import Cut, Mapped, ValueParts, Values

POSITIVE = 1
"""The class code of a positive row; that of a negative is zero."""


class Block(NamedTuple):
    """Rows of two classes that lie together: those of a model from ``first`` to ``last``."""

    # The logarithms of weights are None where all weigh one, and minus infinity for a row that takes no part.

    model: LinearModel
    first: int
    last: int
    class_codes: ClassCodes
    log_weights: Floats | None

    def scores(self, coef: Floats) -> Floats:
        """Return the scores, less the constant of the model."""
        scores = np.empty(self.last - self.first)
        self.model.block_scores(self.first, self.last, coef, scores)
        return scores

    def add_sums(self, factors: Floats, out: Floats, squared: bool = False) -> None:
        """Add ``factors[i] * x_i``, or its square, to ``out`` by class code, shape (2, n_features)."""
        self.model.add_block_sums(self.first, self.last, factors, self.class_codes, out, squared)

    def raw_scores(self, coef: NDArray[np.floating]) -> Values:
        """Return ``X @ coef``, without a constant, in the dtype of the coefficients, and the weights."""
        # Scores of new rows have no constant subtracted, and thresholds are compared with these.
        model = LinearModel(self.model.data[self.first : self.last], centred=False)
        scores = np.empty(self.last - self.first)
        model.block_scores(0, len(scores), coef.astype(np.float64), scores)
        weights = None if self.log_weights is None else np.exp(self.log_weights)
        return Values(scores.astype(coef.dtype), weights)

    def negated_positive_scores(self, coef: Floats) -> Values:
        """Return the scores of the positives that have a weight, times -1, so that the highest come first."""
        scores, positive = self.scores(coef), self.class_codes == POSITIVE
        if self.log_weights is None:
            return Values(-scores[positive])
        positive &= self.log_weights > -np.inf
        return Values(-scores[positive], np.exp(self.log_weights[positive]))

    def trimmed(self, coef: Floats, cut: Cut) -> Block:
        """Return the block with the weights that a cut of the positives' scores leaves to its rows."""
        scores, positive = self.scores(coef), self.class_codes == POSITIVE
        # Ties at the cut share the weight that is left equally, whatever the order of the rows.
        log_weights = np.zeros(len(scores)) if self.log_weights is None else self.log_weights.copy()
        log_weights[positive & (scores == cut.score)] += np.log(cut.share)
        log_weights[positive & (scores < cut.score)] = -np.inf
        return self._replace(log_weights=log_weights)


Blocks = Iterable[Block]


class RowSource(FeatureSpace, ABC):
    """Rows of two classes in chunks that do not change: an array, or partitions on other machines."""

    # All models of the blocks have the same reference row, so that their sums add up. `class_weights` are the
    # total sample weights of the positives and of the negatives.

    n_rows: int
    n_features: int
    class_weights: tuple[float, float]

    @abstractmethod
    def map(self, function: Callable[[Blocks], Mapped]) -> list[Mapped]:
        """Return ``function(blocks)`` of the blocks of each chunk, in the order of the chunks."""
        # The function may be sent elsewhere: it is a partial one of a function of a module, of arrays of
        # n_features entries, and what it returns is made of such arrays.

    def scores(self, coef: Floats) -> Floats | None:  # noqa: ARG002
        """Return the scores of all rows, up to a constant, where they lie in memory; otherwise None."""
        return None

    @abstractmethod
    def score_parts(self, coef: NDArray[np.floating]) -> ValueParts:
        """Return the scores by coefficients of the features, in their dtype, with the rows' weights."""

    @abstractmethod
    def highest_positives(self, coef: Floats, total: Any, scores: Floats | None = None) -> Self:
        """Return the rows with no positives but the highest, of a total weight; ties share it equally."""
        # In memory each query group has its own total, and the scores of the rows may be at hand.

    @abstractmethod
    def same_positives(self, other: Self) -> bool:
        """Return whether the same positives have the same weights."""

    @abstractmethod
    def trimmed_positives(self) -> NDArray[np.intp] | None:
        """Return the numbers of the positives that do not count in full; None where rows have no numbers."""

    @abstractmethod
    def check_range(self) -> None:
        """Raise a ValueError when a column's squares are no normal floats."""

    def in_features(self) -> RowSource:
        """Return the rows in terms of the features, where a solver sees them in other coordinates."""
        return self
