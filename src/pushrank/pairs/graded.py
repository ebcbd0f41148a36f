"""Grades of relevance and query groups: every row should stand above the rows of lower grade in its group.

There are two ways to sum over pairs. A sum of exponentials over all higher grades is a running sum over the
grades of a group, which visits each row once. Any other sum takes the pairs in blocks, in each of which all
rows of one side are compared with all rows of the other. There is one for each binary digit of the grades.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from pushrank._base.numeric import Floats
from pushrank._base.parallel import compiled
from pushrank.pairs.samples import Normaliser, RowNumbers, Sample, weights_of

# Indices are positions among the positives or among the negatives, in contrast to row numbers.
Indices = NDArray[np.intp]


class Block(NamedTuple):
    """Disjoint segments, in each of which every source is compared with every target."""

    # Sources are indices among the positives and targets among the negatives, segment by segment. The starts
    # hold the position of each segment's first entry, and the end of the last segment.

    sources: Indices
    targets: Indices
    source_starts: Indices
    target_starts: Indices


def one_block(n_positives: int, n_negatives: int) -> list[Block]:
    """Return the single block of two classes, with all pairs."""
    starts = np.array([0, n_positives]), np.array([0, n_negatives])
    return [Block(np.arange(n_positives), np.arange(n_negatives), *starts)]


def mirrored(points: Floats, starts: Indices) -> tuple[Floats, Indices]:
    """Return points that ascend in every segment, negated and in reverse order, and their starts."""
    return -points[::-1], len(points) - starts[::-1]


def scatter_add(indices: list[Indices] | list[Indices | slice], parts: list[Floats], n: int) -> Floats:
    """Return the sum of parts, each of which is added at its indices, shape (n,)."""
    if len(parts) == 1:
        if isinstance(indices[0], slice):
            return parts[0]
        # Assigning is a scatter alone, where adding would gather first.
        single = np.zeros(n)
        single[indices[0]] = parts[0]
        return single
    sums = np.zeros(n)
    for where, part in zip(indices, parts, strict=True):
        sums[where] += part
    return sums


def grade_blocks(grades_p: Floats, groups_p: Indices, grades_n: Floats, groups_n: Indices) -> list[Block]:
    """Return blocks in which every pair of a higher and a lower grade of a group occurs exactly once."""
    # The highest binary digit at which two grades differ is a one in the higher grade and a zero in the
    # lower. So there is a block for each digit, whose segments hold the rows that agree in all higher digits.
    levels, codes = np.unique(np.concatenate([grades_p, grades_n]), return_inverse=True)
    codes_p, codes_n = codes[: len(grades_p)], codes[len(grades_p) :]
    blocks = []
    for digit in range(max(len(levels) - 1, 1).bit_length()):
        above, below = (codes_p >> digit) & 1 == 1, (codes_n >> digit) & 1 == 0
        sources, targets = np.flatnonzero(above), np.flatnonzero(below)
        span = (len(levels) >> (digit + 1)) + 1
        keys_p = groups_p[sources] * span + (codes_p[sources] >> (digit + 1))
        keys_n = groups_n[targets] * span + (codes_n[targets] >> (digit + 1))
        shared = np.intersect1d(keys_p, keys_n)
        if len(shared):
            sources, source_starts = _in_segments(sources, keys_p, shared)
            targets, target_starts = _in_segments(targets, keys_n, shared)
            blocks.append(Block(sources, targets, source_starts, target_starts))
    return blocks


def _in_segments(indices: Indices, keys: Indices, shared: Indices) -> tuple[Indices, Indices]:
    """Return the indices with a shared key, ordered by the keys, and where each key starts."""
    order = np.argsort(keys, kind="stable")
    order = order[np.isin(keys[order], shared)]
    return indices[order], np.append(np.searchsorted(keys[order], shared), len(order))


@compiled()
def recurrence(added, carried):
    """Return ``r_j = added_j + carried_j r_(j-1)``."""
    running = np.empty(len(added))
    total = 0.0
    for j in range(len(added)):
        total = added[j] + carried[j] * total
        running[j] = total
    return running


@compiled()
def running_log_sum(log_added, starts_group):
    """Return the logarithms of running sums, which start again with every group."""
    running = np.empty(len(log_added))
    total = 0.0
    for j in range(len(log_added)):
        if starts_group[j]:
            total = log_added[j]
        else:
            larger, smaller = max(total, log_added[j]), min(total, log_added[j])
            total = larger + np.log1p(np.exp(smaller - larger))
        running[j] = total
    return running


@compiled()
def running_minimum(lowest, starts_group):
    """Return running minima, which start again with every group."""
    running = np.empty(len(lowest))
    least = np.inf
    for j in range(len(lowest)):
        least = lowest[j] if starts_group[j] else min(least, lowest[j])
        running[j] = least
    return running


@dataclass(frozen=True, eq=False)
class GradedSample(Sample):
    """Rows with grades, in groups: a row should stand above every row of its group with a lower grade."""

    # Rows are ordered by group and, within it, from the highest grade to the lowest. A *step* leads from a
    # grade of a group to the next lower one. Step j adds the `upper_sizes[j]` rows of the upper grade to the
    # sum that the `lower_sizes[j]` rows of the lower grade are compared with, so that a walk over the rows
    # sums over all pairs. `starts_group[j]` is True if step j is the first of its group, and `backwards` if
    # the steps lead from the lowest grade to the highest.

    grades: Floats = field(default_factory=lambda: np.zeros(0))
    groups: RowNumbers = field(default_factory=lambda: np.zeros(0, dtype=np.intp))
    upper_sizes: RowNumbers = field(default_factory=lambda: np.zeros(0, dtype=np.intp))
    lower_sizes: RowNumbers = field(default_factory=lambda: np.zeros(0, dtype=np.intp))
    starts_group: NDArray[np.bool_] = field(default_factory=lambda: np.zeros(0, dtype=bool))
    backwards: bool = False

    @classmethod
    def from_grades(cls, grades: Floats, groups: RowNumbers, weights: Floats | None = None) -> GradedSample:
        """Build a sample from checked grades, group numbers and non-negative weights, in O(n log n)."""
        order = np.lexsort((-grades, groups))
        if weights is not None:
            order = order[weights[order] > 0.0]
        sorted_groups, sorted_grades = groups[order], grades[order]
        new_group = np.ones(len(order), dtype=bool)
        new_group[1:] = sorted_groups[1:] != sorted_groups[:-1]
        new_level = new_group.copy()
        new_level[1:] |= sorted_grades[1:] != sorted_grades[:-1]
        starts = np.flatnonzero(new_level)
        sizes = np.diff(starts, append=len(order))
        first = new_group[starts]
        last = np.roll(first, -1)
        if not np.any(~first):
            raise ValueError(
                "no two rows of one group have different grades (on rows of positive sample_weight), so "
                "there is no pair to rank; check y and qid."
            )
        # Rows of the lowest grade of a group are above none, and those of the highest below none.
        positives = order[np.repeat(~last, sizes)]
        negatives = order[np.repeat(~first, sizes)]
        rows = positives, negatives, *weights_of(weights, positives, negatives)
        return cls(len(grades), *rows, grades, groups, sizes[~last], sizes[~first], first[~last])

    @cached_property
    def blocks(self) -> list[Block]:
        """All pairs, in a few blocks."""
        grades_p, grades_n = self.gather(self.grades)
        return grade_blocks(grades_p, self.groups[self.positives], grades_n, self.groups[self.negatives])

    @property
    def starts(self) -> tuple[RowNumbers, RowNumbers]:
        """Where the upper and the lower rows of each step start among the positives and the negatives."""
        return _starts(self.upper_sizes), _starts(self.lower_sizes)

    @cached_property
    def upper_weights(self) -> Floats:
        """The weight of the upper rows of each step."""
        weights = np.ones(len(self.positives)) if self.positive_weights is None else self.positive_weights
        return np.add.reduceat(weights, self.starts[0])

    @cached_property
    def mean_weights(self) -> Floats:
        """The weights of the positives in the mean over steps of the weighted mean of their upper rows."""
        weights = 1.0 if self.positive_weights is None else self.positive_weights
        totals = len(self.upper_sizes) * self.upper_weights
        return weights / np.repeat(totals, self.upper_sizes)

    def lists(self) -> list[RowNumbers]:
        """Return the rows of each query of two classes, ascending."""
        first_positives, first_negatives = self.starts
        upper = np.split(self.positives, first_positives[1:])
        lower = np.split(self.negatives, first_negatives[1:])
        return [np.sort(np.concatenate(both)) for both in zip(upper, lower, strict=True)]

    def swapped(self) -> GradedSample:
        """Return the sample with all grades negated: the rows keep their order, the steps go backwards."""
        return replace(
            super().swapped(),
            grades=-self.grades,
            upper_sizes=self.lower_sizes,
            lower_sizes=self.upper_sizes,
            backwards=not self.backwards,
        )

    def normaliser(self, exponents: Floats) -> Normaliser:
        return _PrefixSumNormaliser(self, exponents)

    def least_margin(self, scores: Floats) -> float:
        if self.backwards:
            return self.swapped().least_margin(-scores)
        positive_scores, negative_scores = self.gather(scores)
        lowest = np.minimum.reduceat(positive_scores, _starts(self.upper_sizes))
        highest = np.maximum.reduceat(negative_scores, _starts(self.lower_sizes))
        return float(np.min(running_minimum(lowest, self.starts_group) - highest))

    def subset(self, kept: NDArray[np.bool_]) -> GradedSample:
        return GradedSample.from_grades(self.grades, self.groups, self._kept_weights(kept))


class _PrefixSumNormaliser:
    """Running sums over the steps of every group, as logarithms, which neither overflow nor vanish."""

    def __init__(self, sample: GradedSample, exponents: Floats) -> None:
        # Walked backwards, the last step of a group is the first.
        self._order = order = slice(None, None, -1 if sample.backwards else 1)
        starts_group = np.roll(sample.starts_group, -1)[order] if sample.backwards else sample.starts_group
        upper_sizes, lower_sizes = sample.upper_sizes[order], sample.lower_sizes[order]
        exponents = exponents[order]
        self._upper_sizes, self._lower_sizes = upper_sizes, lower_sizes
        self._upper_starts, self._lower_starts = _starts(upper_sizes), _starts(lower_sizes)
        largest = np.maximum.reduceat(exponents, self._upper_starts)
        in_units = np.exp(exponents - np.repeat(largest, upper_sizes))
        log_added = largest + np.log(np.add.reduceat(in_units, self._upper_starts))
        log_running = running_log_sum(log_added, starts_group)
        # A positive is this fraction of the running sum when it joins, and a running sum the fraction
        # ``_carried`` of the next one.
        self._softmax = np.exp(exponents - np.repeat(log_running, upper_sizes))
        self._carried = np.zeros_like(log_running)
        self._carried[1:] = np.exp(np.where(starts_group[1:], -np.inf, log_running[:-1] - log_running[1:]))
        self.log_totals: Floats = np.repeat(log_running, lower_sizes)[order]

    def product(self, positive_values: Floats) -> Floats:
        """Return the running means."""
        added = np.add.reduceat(self._softmax * positive_values[self._order], self._upper_starts)
        return np.repeat(recurrence(added, self._carried), self._lower_sizes)[self._order]

    def transpose_product(self, negative_values: Floats) -> Floats:
        """Return the sums over the negatives of all steps from a positive's step on."""
        # The transpose of a running sum runs from the last step to the first.
        compared = np.add.reduceat(negative_values[self._order], self._lower_starts)
        from_later = np.append(self._carried[1:], 0.0)[::-1]
        gathered: Floats = recurrence(compared[::-1], from_later)[::-1]
        returned: Floats = self._softmax * np.repeat(gathered, self._upper_sizes)
        return returned[self._order]


def _starts(sizes: RowNumbers) -> RowNumbers:
    return np.concatenate([[0], np.cumsum(sizes[:-1])]).astype(np.intp)
