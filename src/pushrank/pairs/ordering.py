"""The order of many scores, faster than an index sort.

Sorting numbers is several times faster than sorting their places by them. So the places are written into the
lowest bits of the numbers, the numbers are sorted, and the few runs that the overwritten bits would have told
apart are put right; where they are not few, the scores lie so near together that places are sorted after all.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from pushrank._compiled import compiled
from pushrank._log_space import Floats

FEW = 1 << 14  # fewer are ordered at once either way
WRONG = 1 / 16  # the largest part out of order that is put right run by run


def ascending(scores: Floats) -> NDArray[np.intp]:
    """Return the places of finite scores by rising score; which of two equal scores is first is not defined.

    Examples
    --------
    >>> ascending(np.array([3.0, 1.0, 2.0])).tolist()
    [1, 2, 0]
    """
    if len(scores) < FEW:
        return np.argsort(scores)
    scores = np.ascontiguousarray(scores)
    place_bits = np.uint64(int(len(scores) - 1).bit_length())
    keys = _keys(scores.view(np.uint64), place_bits)
    keys.sort()
    order: NDArray[np.intp]
    order, wrong = _places(keys, place_bits, scores)
    if wrong > WRONG * len(order):
        return np.argsort(scores)
    if wrong:
        _put_right(keys, place_bits, scores, order)
    return order


@compiled()
def _keys(bits, place_bits):
    """Return numbers that ascend with the floats that have these bits, their lowest bits the places."""
    sign = np.uint64(1) << np.uint64(63)
    keys = np.empty(len(bits), dtype=np.uint64)
    for i in range(len(bits)):
        ascending_bits = ~bits[i] if bits[i] & sign else bits[i] | sign
        keys[i] = ((ascending_bits >> place_bits) << place_bits) | np.uint64(i)
    return keys


@compiled()
def _places(keys, place_bits, scores):
    """Return the lowest bits of sorted keys, and how many places are before one of a lower score."""
    mask = (np.uint64(1) << place_bits) - np.uint64(1)
    order = np.empty(len(keys), dtype=np.intp)
    wrong = 0
    for i in range(len(keys)):
        order[i] = np.intp(keys[i] & mask)
        same = i > 0 and (keys[i] >> place_bits) == (keys[i - 1] >> place_bits)
        if same and scores[order[i]] < scores[order[i - 1]]:
            wrong += 1
    return order, wrong


@compiled()
def _put_right(keys, place_bits, scores, order):
    """Order runs of keys that differ in nothing but the places by score."""
    start = 0
    unordered = False
    for i in range(1, len(keys) + 1):
        if i == len(keys) or (keys[i] >> place_bits) != (keys[i - 1] >> place_bits):
            if unordered:
                run = order[start:i].copy()
                order[start:i] = run[np.argsort(scores[run])]
            start, unordered = i, False
        elif scores[order[i]] < scores[order[i - 1]]:
            unordered = True
