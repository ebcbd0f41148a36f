"""Grades of relevance, within query groups: the better grade should stand above every worse one."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from pushrank._log_space import Floats
from pushrank.pairs import graded_kernels
from pushrank.pairs.sample import Mixture, Rows, Sample
from pushrank.pairs.splits import Split, by_grade


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
        grades_p, grades_n = self.split(self.grades)
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

    def mixture(self, exponents: Floats) -> Mixture:
        """Return the running sums over the better grades."""
        if not self.backwards:
            return _Staircase(exponents, self.upper_sizes, self.lower_sizes, self.opens)
        closes = np.roll(self.opens, -1)
        reversed_sizes = self.upper_sizes[::-1], self.lower_sizes[::-1]
        return _Reversed(_Staircase(exponents[::-1], *reversed_sizes, closes[::-1]))

    def least_margin(self, scores: Floats) -> float:
        """Return the smallest margin, by running minima over the better grades."""
        if self.backwards:
            return self.swapped().least_margin(-scores)
        of_positives, of_negatives = self.split(scores)
        lowest = np.minimum.reduceat(of_positives, _starts(self.upper_sizes))
        highest = np.maximum.reduceat(of_negatives, _starts(self.lower_sizes))
        return float(np.min(graded_kernels.running_minimum(lowest, self.opens) - highest))

    def restricted(self, kept: NDArray[np.bool_]) -> GradedSample:
        """Return the sample of the kept rows."""
        takes_part = np.zeros(self.n_rows, dtype=bool)
        takes_part[self.positives] = takes_part[self.negatives] = True
        weights = np.where(kept & takes_part, 1.0 if self.row_weights is None else self.row_weights, 0.0)
        return GradedSample.from_grades(self.grades, self.groups, weights)


class _Staircase:
    """Running sums over the steps of every group, in units that neither overflow nor vanish."""

    def __init__(
        self, exponents: Floats, upper_sizes: Rows, lower_sizes: Rows, opens: NDArray[np.bool_]
    ) -> None:
        self._upper_sizes, self._lower_sizes = upper_sizes, lower_sizes
        self._upper_starts, self._lower_starts = _starts(upper_sizes), _starts(lower_sizes)
        largest = np.maximum.reduceat(exponents, self._upper_starts)
        in_units = np.exp(exponents - np.repeat(largest, upper_sizes))
        log_added = largest + np.log(np.add.reduceat(in_units, self._upper_starts))
        log_running = graded_kernels.running_log_sum(log_added, opens)
        # the share of a positive in the sum of the step that adds it, and of a sum in the next one
        self._shares = np.exp(exponents - np.repeat(log_running, upper_sizes))
        self._carried = np.zeros_like(log_running)
        self._carried[1:] = np.exp(np.where(opens[1:], -np.inf, log_running[:-1] - log_running[1:]))
        self.log_totals: Floats = np.repeat(log_running, lower_sizes)

    def average(self, of_positives: Floats) -> Floats:
        """Return the running means."""
        added = np.add.reduceat(self._shares * of_positives, self._upper_starts)
        return np.repeat(graded_kernels.recurrence(added, self._carried), self._lower_sizes)

    def spread(self, of_negatives: Floats) -> Floats:
        """Return what the positives get back from all steps at or after theirs."""
        compared = np.add.reduceat(of_negatives, self._lower_starts)
        from_later = np.append(self._carried[1:], 0.0)[::-1]
        gathered: Floats = graded_kernels.recurrence(compared[::-1], from_later)[::-1]
        returned: Floats = self._shares * np.repeat(gathered, self._upper_sizes)
        return returned


class _Reversed:
    """A mixture of rows that are kept in the opposite order."""

    def __init__(self, mixture: _Staircase) -> None:
        self._mixture = mixture
        self.log_totals: Floats = mixture.log_totals[::-1]

    def average(self, of_positives: Floats) -> Floats:
        """Return the running means."""
        return self._mixture.average(of_positives[::-1])[::-1]

    def spread(self, of_negatives: Floats) -> Floats:
        """Return what the positives get back."""
        return self._mixture.spread(of_negatives[::-1])[::-1]


def _starts(sizes: Rows) -> Rows:
    return np.concatenate([[0], np.cumsum(sizes[:-1])]).astype(np.intp)
