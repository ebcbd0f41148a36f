"""Rows in memory: sums over their blocks, and the scores of all of them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import cached_property, partial
from itertools import chain
from typing import Any, Self

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from pushrank._base.numeric import Floats
from pushrank._base.parallel import map_chunks
from pushrank.models import LinearModel, RowSpace, linear_scores
from pushrank.models.linear import ClassCodes
from pushrank.pairs import BipartiteSample, GradedSample, Sample
from pushrank.rows.order_statistics import InOnePart, Mapped, ValueParts, Values, highest_weights
from pushrank.rows.source import POSITIVE, Block, Blocks, RowSource


class MemoryRows(RowSource):
    """Rows in memory: a linear model of them, and the sample that says which are compared."""

    # Sums over blocks are for two classes (`gives_sums`), scores for any sample. `row_weights` are by default
    # those of the sample, which may leave out rows.

    def __init__(self, model: LinearModel, sample: Sample, row_weights: Floats | None = None) -> None:
        self.model, self.sample = model, sample
        self.n_rows, self.n_features = model.n_rows, model.n_features
        self.in_row_space = model.in_row_space
        self._row_weights = row_weights
        # Hessians of rough solutions are those of about this many rows of each class, where there are more.
        self.n_curving: int | None = None
        # Trimmed positives weigh less than in the rows that these were chosen from. Rows that refer to
        # themselves would keep the features in memory after a fit.
        self._untrimmed: MemoryRows | None = None

    @property
    def gives_sums(self) -> bool:
        """Whether sums over blocks can be had: of two classes in one list."""
        return isinstance(self.sample, BipartiteSample)

    @property
    def class_weights(self) -> tuple[float, float]:  # type: ignore[override]
        return self.sample.class_weights

    @cached_property
    def class_codes(self) -> Any:
        """One for a positive and zero for another row; zeros where there are other than two classes."""
        return self.sample.class_codes

    @cached_property
    def row_weights(self) -> Floats | None:
        """The weights of the rows; None where all weigh one."""
        return self.sample.row_weights if self._row_weights is None else self._row_weights

    @cached_property
    def log_weights(self) -> Floats | None:
        """The logarithms of the sample weights; None where all weigh one."""
        weights = self.sample.row_weights
        # The logarithm of zero, minus infinity, is that of a row that takes no part.
        with np.errstate(divide="ignore"):
            return None if weights is None else np.asarray(np.log(weights))

    def map(self, function: Callable[[Blocks], Mapped]) -> list[Mapped]:
        model = self.model

        def mapped(start: int, stop: int) -> Mapped:
            return function(cut_blocks(model, start, stop, self.class_codes, self.log_weights))

        return map_chunks(mapped, model.chunks)

    def scores(self, coef: Floats) -> Floats:
        return self.model.scores(coef)

    def score_parts(self, coef: NDArray[np.floating]) -> ValueParts:
        # Thresholds are for scores of the features without a constant, by rounded coefficients.
        features: Any = self.in_features().model
        weights = None if self.row_weights is None else np.asarray(self.row_weights)
        return InOnePart(Values(np.asarray(linear_scores(features.data, coef)), weights))

    def highest_positives(self, coef: Floats, total: Any, scores: Floats | None = None) -> Self:
        scores, weights = self.scores(coef) if scores is None else scores, self._full_weights.copy()
        sample = self.sample
        # Each query has its own total, and a place where its highest positives end.
        starts = sample.starts[0] if isinstance(sample, GradedSample) else [0]
        for rows, kept in zip(np.split(sample.positives, starts[1:]), np.atleast_1d(total), strict=True):
            weights[rows] = highest_weights(scores[rows], weights[rows], float(kept))
        highest: Sample
        if isinstance(sample, GradedSample):
            highest = GradedSample.from_grades(sample.grades, sample.groups, weights)
        else:
            # The negatives, nearly all rows, stay, and need no copy.
            kept = sample.positives[weights[sample.positives] > 0.0]
            parts = kept, sample.negatives, weights[kept], self._negative_weights
            highest = BipartiteSample(self.n_rows, *parts)
        chosen = type(self)(self.model, highest)
        chosen._untrimmed, chosen.n_curving = self, self.n_curving
        return chosen

    def same_positives(self, other: MemoryRows) -> bool:
        mine, others = self.sample, other.sample
        if not np.array_equal(mine.positives, others.positives):
            return False
        # Positives have weights at least where some of theirs were taken.
        ones = np.ones(len(mine.positives))
        kept, before = (ones if s.positive_weights is None else s.positive_weights for s in (mine, others))
        return np.array_equal(kept, before)

    def trimmed_positives(self) -> NDArray[np.intp]:
        before = self._untrimmed or self
        positives = np.sort(before.sample.positives)
        return positives[self._full_weights[positives] < before._full_weights[positives]]

    def lift(self, coef: Floats) -> Floats:
        return self.model.lift(coef)

    def project(self, coef: Floats) -> Floats:
        return self.model.project(coef)

    def in_features(self) -> MemoryRows:
        if not isinstance(self.model, RowSpace):
            return self
        return MemoryRows(self.model.features, self.sample, self._row_weights)

    def check_range(self) -> None:
        self.model.check_range()

    @cached_property
    def _full_weights(self) -> Floats:
        """The sample weights of all rows, ones where they have none."""
        weights = self.sample.row_weights
        return np.ones(self.n_rows) if weights is None else weights

    @cached_property
    def _negative_weights(self) -> Floats:
        """The sample weights of the negatives, ones where they have none."""
        return self._full_weights[self.sample.negatives]


def spread_rows(source: RowSource, n_spread: int) -> MemoryRows:
    """Return about this many rows, copied, spread over all, with weights that make up for the others."""
    # In memory the numbers of these rows are enough to copy them once.
    every, copied = max(1, source.n_rows // n_spread), not isinstance(source, MemoryRows)
    parts = source.map(partial(spread_in_blocks, every=every, copied=copied))
    X, codes, weights = zip(*chain.from_iterable(parts), strict=True)
    data = sp.vstack(X, format="csr") if sp.issparse(X[0]) else np.concatenate(X)
    data = source.model.data[data] if isinstance(source, MemoryRows) else data
    sample = BipartiteSample.from_mask(np.concatenate(codes) == POSITIVE, np.concatenate(weights))
    return MemoryRows(LinearModel(data), sample)


def spread_in_blocks(blocks: Blocks, every: int, copied: bool) -> list[tuple[Any, ClassCodes, Floats]]:
    """Return every n-th row (or its number), more of a rare class, with class codes and weights."""
    # A block tells by itself which of its rows these are: they are the same on a cluster and in memory.
    parts = []
    for model, first, last, codes, log_weights in blocks:
        weights, counted = np.zeros(last - first), log_weights is None or log_weights > -np.inf
        for code in range(2):
            rows = np.flatnonzero((codes == code) & counted)
            # A tenth as many rows as of all stand for a rare class.
            chosen = rows[:: max(1, min(every, 10 * every * len(rows) // (last - first)))]
            weights[chosen] = len(rows) / max(1, len(chosen))
        kept = np.flatnonzero(weights)
        if log_weights is not None:
            weights *= np.exp(log_weights)
        parts.append((model.data[first + kept] if copied else first + kept, codes[kept], weights[kept]))
    return parts


def cut_blocks(
    model: LinearModel, start: int, stop: int, class_codes: ClassCodes, log_weights: Floats | None
) -> Iterator[Block]:
    """Yield the rows of a model from start to stop in blocks that fit the processor's cache."""
    for first, last in model.blocks(start, stop):
        weights = None if log_weights is None else log_weights[first:last]
        yield Block(model, first, last, class_codes[first:last], weights)
