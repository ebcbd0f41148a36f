"""Grades of relevance and query groups."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from pushrank._numeric import Floats
from pushrank._parallel import compiled
from pushrank.pairs.samples import Normaliser, Rows, Sample

Places = NDArray[np.intp]


class Split(NamedTuple):
    """Disjoint segments, in each of which every source is compared with every target.

    Attributes
    ----------
    sources, targets : ndarray of int
        Places among the positives and among the negatives, segment by segment.
    source_bounds, target_bounds : ndarray of int, shape (n_segments + 1,)
        Where each segment starts in them, and where the last ends.
    """

    sources: Places
    targets: Places
    source_bounds: Places
    target_bounds: Places


def whole(n_positives: int, n_negatives: int) -> list[Split]:
    """Return the one split of two classes, all compared with all."""
    bounds = np.array([0, n_positives]), np.array([0, n_negatives])
    return [Split(np.arange(n_positives), np.arange(n_negatives), *bounds)]


def joined(places: list[Places] | list[Places | slice], parts: list[Floats], n: int) -> Floats:
    """Return the sum of parts, each of the entries at some places, shape (n,).

    Examples
    --------
    >>> joined([np.array([1, 0]), np.array([1])], [np.array([1.0, 2.0]), np.array([5.0])], 2).tolist()
    [2.0, 6.0]
    """
    if len(parts) == 1:
        if isinstance(places[0], slice):
            return parts[0]
        # one scatter in place of a gather and a scatter
        alone = np.zeros(n)
        alone[places[0]] = parts[0]
        return alone
    sums = np.zeros(n)
    for taken, part in zip(places, parts, strict=True):
        sums[taken] += part
    return sums


def by_grade(grades_p: Floats, groups_p: Places, grades_n: Floats, groups_n: Places) -> list[Split]:
    """Return splits in which every pair of a better and a worse grade of one group occurs exactly once.

    Two different grades, as numbers in binary, first differ at one digit, where the better has a one: so
    there is a split for each digit, in which rows whose higher digits agree are together.

    Notes
    -----
    O(n log n) for each of the log2(number of grades) splits.

    Examples
    --------
    >>> grades, group = np.array([2.0, 1.0, 0.0]), np.zeros(3, dtype=int)
    >>> [(s.sources.tolist(), s.targets.tolist()) for s in by_grade(grades, group, grades, group)]
    [([1], [2]), ([0], [1, 2])]
    """
    levels, codes = np.unique(np.concatenate([grades_p, grades_n]), return_inverse=True)
    codes_p, codes_n = codes[: len(grades_p)], codes[len(grades_p) :]
    splits = []
    for digit in range(max(len(levels) - 1, 1).bit_length()):
        above, below = (codes_p >> digit) & 1 == 1, (codes_n >> digit) & 1 == 0
        sources, targets = np.flatnonzero(above), np.flatnonzero(below)
        span = (len(levels) >> (digit + 1)) + 1
        keys_p = groups_p[sources] * span + (codes_p[sources] >> (digit + 1))
        keys_n = groups_n[targets] * span + (codes_n[targets] >> (digit + 1))
        shared = np.intersect1d(keys_p, keys_n)
        if len(shared):
            sources, source_bounds = _in_segments(sources, keys_p, shared)
            targets, target_bounds = _in_segments(targets, keys_n, shared)
            splits.append(Split(sources, targets, source_bounds, target_bounds))
    return splits


def _in_segments(places: Places, keys: Places, shared: Places) -> tuple[Places, Places]:
    """Return the places whose key is shared, ordered by it, and where each key starts."""
    order = np.argsort(keys, kind="stable")
    order = order[np.isin(keys[order], shared)]
    return places[order], np.append(np.searchsorted(keys[order], shared), len(order))


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
def running_log_sum(log_added, opens):
    """Return the logarithms of running sums, begun anew where a group opens."""
    running = np.empty(len(log_added))
    total = 0.0
    for j in range(len(log_added)):
        if opens[j]:
            total = log_added[j]
        else:
            larger, smaller = max(total, log_added[j]), min(total, log_added[j])
            total = larger + np.log1p(np.exp(smaller - larger))
        running[j] = total
    return running


@compiled()
def running_minimum(lowest, opens):
    """Return running minima, begun anew where a group opens."""
    running = np.empty(len(lowest))
    least = np.inf
    for j in range(len(lowest)):
        least = lowest[j] if opens[j] else min(least, lowest[j])
        running[j] = least
    return running


@dataclass(frozen=True, eq=False)
class GradedSample(Sample):
    """Rows with grades, in groups: a row should stand above every row of its group with a lower grade.

    Rows are ordered by group and, within it, best grade first. A *step* leads from one grade of a group to
    the next lower: step j adds the rows of the upper grade to the sum that those of the lower grade are
    compared with, so that all pairs cost one walk over the rows.

    Attributes
    ----------
    grades : ndarray of shape (n_rows,)
        The higher, the better.
    groups : ndarray of int, shape (n_rows,)
        A number for each row's group.
    upper_sizes, lower_sizes : ndarray of int, shape (n_steps,)
        How many rows each step adds to the sum, and how many it compares with the sum.
    opens : ndarray of bool, shape (n_steps,)
        Whether a step is the first of its group.
    backwards : bool
        Whether the steps lead from the worst grade to the best.
    """

    grades: Floats = field(default_factory=lambda: np.zeros(0))
    groups: Rows = field(default_factory=lambda: np.zeros(0, dtype=np.intp))
    upper_sizes: Rows = field(default_factory=lambda: np.zeros(0, dtype=np.intp))
    lower_sizes: Rows = field(default_factory=lambda: np.zeros(0, dtype=np.intp))
    opens: NDArray[np.bool_] = field(default_factory=lambda: np.zeros(0, dtype=bool))
    backwards: bool = False

    @classmethod
    def from_grades(cls, grades: Floats, groups: Rows, weights: Floats | None = None) -> GradedSample:
        """Build a sample from checked grades, group numbers and non-negative weights.

        Raises
        ------
        ValueError
            When no group holds two different grades on rows of positive weight.

        Notes
        -----
        O(n log n), once.

        Examples
        --------
        >>> sample = GradedSample.from_grades(np.array([0.0, 2.0, 1.0]), np.array([0, 0, 0]))
        >>> sample.positives.tolist(), sample.negatives.tolist()
        ([1, 2], [2, 0])
        """
        order = np.lexsort((-grades, groups))
        if weights is not None:
            order = order[weights[order] > 0.0]
        of_group, of_grade = groups[order], grades[order]
        new_group = np.ones(len(order), dtype=bool)
        new_group[1:] = of_group[1:] != of_group[:-1]
        new_level = new_group.copy()
        new_level[1:] |= of_grade[1:] != of_grade[:-1]
        starts = np.flatnonzero(new_level)
        sizes = np.diff(starts, append=len(order))
        first = new_group[starts]
        last = np.roll(first, -1)
        if not np.any(~first):
            raise ValueError(
                "no two rows of one group have different grades (on rows of positive sample_weight), so "
                "there is no pair to rank; check y and qid or group."
            )
        positives = order[np.repeat(~last, sizes)]
        negatives = order[np.repeat(~first, sizes)]
        return cls(
            len(grades),
            positives,
            negatives,
            None if weights is None else weights[positives],
            None if weights is None else weights[negatives],
            grades,
            groups,
            sizes[~last],
            sizes[~first],
            first[~last],
        )

    @cached_property
    def splits(self) -> list[Split]:
        """All comparisons as few sets of two-class comparisons."""
        grades_p, grades_n = self.gather(self.grades)
        return by_grade(grades_p, self.groups[self.positives], grades_n, self.groups[self.negatives])

    def swapped(self) -> GradedSample:
        """Return the sample with all grades negated: the rows stay in order, the steps are walked back."""
        return GradedSample(
            self.n_rows,
            self.negatives,
            self.positives,
            self.negative_weights,
            self.positive_weights,
            -self.grades,
            self.groups,
            self.lower_sizes,
            self.upper_sizes,
            self.opens,
            not self.backwards,
        )

    def normaliser(self, exponents: Floats) -> Normaliser:
        """Return the running sums over the better grades."""
        if not self.backwards:
            return _PrefixSumNormaliser(exponents, self.upper_sizes, self.lower_sizes, self.opens)
        closes = np.roll(self.opens, -1)
        reversed_sizes = self.upper_sizes[::-1], self.lower_sizes[::-1]
        return _ReversedNormaliser(_PrefixSumNormaliser(exponents[::-1], *reversed_sizes, closes[::-1]))

    def least_margin(self, scores: Floats) -> float:
        """Return the smallest margin, by running minima over the better grades."""
        if self.backwards:
            return self.swapped().least_margin(-scores)
        of_positives, of_negatives = self.gather(scores)
        lowest = np.minimum.reduceat(of_positives, _starts(self.upper_sizes))
        highest = np.maximum.reduceat(of_negatives, _starts(self.lower_sizes))
        return float(np.min(running_minimum(lowest, self.opens) - highest))

    def subset(self, kept: NDArray[np.bool_]) -> GradedSample:
        """Return the sample of the kept rows."""
        takes_part = np.zeros(self.n_rows, dtype=bool)
        takes_part[self.positives] = takes_part[self.negatives] = True
        weights = np.where(kept & takes_part, 1.0 if self.row_weights is None else self.row_weights, 0.0)
        return GradedSample.from_grades(self.grades, self.groups, weights)


class _PrefixSumNormaliser:
    """Running sums over the steps of every group, in units that neither overflow nor vanish."""

    def __init__(
        self, exponents: Floats, upper_sizes: Rows, lower_sizes: Rows, opens: NDArray[np.bool_]
    ) -> None:
        self._upper_sizes, self._lower_sizes = upper_sizes, lower_sizes
        self._upper_starts, self._lower_starts = _starts(upper_sizes), _starts(lower_sizes)
        largest = np.maximum.reduceat(exponents, self._upper_starts)
        in_units = np.exp(exponents - np.repeat(largest, upper_sizes))
        log_added = largest + np.log(np.add.reduceat(in_units, self._upper_starts))
        log_running = running_log_sum(log_added, opens)
        # the share of a positive in the sum of the step that adds it, and of a sum in the next one
        self._shares = np.exp(exponents - np.repeat(log_running, upper_sizes))
        self._carried = np.zeros_like(log_running)
        self._carried[1:] = np.exp(np.where(opens[1:], -np.inf, log_running[:-1] - log_running[1:]))
        self.log_totals: Floats = np.repeat(log_running, lower_sizes)

    def product(self, of_positives: Floats) -> Floats:
        """Return the running means."""
        added = np.add.reduceat(self._shares * of_positives, self._upper_starts)
        return np.repeat(recurrence(added, self._carried), self._lower_sizes)

    def transpose_product(self, of_negatives: Floats) -> Floats:
        """Return what the positives get back from all steps at or after theirs."""
        compared = np.add.reduceat(of_negatives, self._lower_starts)
        from_later = np.append(self._carried[1:], 0.0)[::-1]
        gathered: Floats = recurrence(compared[::-1], from_later)[::-1]
        returned: Floats = self._shares * np.repeat(gathered, self._upper_sizes)
        return returned


class _ReversedNormaliser:
    """Normalisers of rows that are kept in the opposite order."""

    def __init__(self, normaliser: _PrefixSumNormaliser) -> None:
        self._normaliser = normaliser
        self.log_totals: Floats = normaliser.log_totals[::-1]

    def product(self, of_positives: Floats) -> Floats:
        """Return the running means."""
        return self._normaliser.product(of_positives[::-1])[::-1]

    def transpose_product(self, of_negatives: Floats) -> Floats:
        """Return what the positives get back."""
        return self._normaliser.transpose_product(of_negatives[::-1])[::-1]


def _starts(sizes: Rows) -> Rows:
    return np.concatenate([[0], np.cumsum(sizes[:-1])]).astype(np.intp)
