"""Comparisons of all kinds as few sets of disjoint two-class comparisons."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from pushrank._log_space import Floats

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
