"""How far down the list a measure looks: a number of rows, or a part of the positives or of the list."""

from __future__ import annotations

import math
from numbers import Integral, Real
from typing import Any

from pushrank._checks import check_number
from pushrank.metrics.tally import Tally

ROUNDING = 1e-9
"""A product such as 0.07 * 100 may exceed the whole number it stands for by this."""


def list_depth(k: Any, ranking: Tally) -> float:
    """Return the weight of the list that ``k`` stands for, an int in rows, a float in positives.

    Raises
    ------
    ValueError
        When `k` is neither an int from 1 to the weight of all rows nor a float in (0, 1].
    """
    is_number = isinstance(k, Real) and not isinstance(k, bool)
    if is_number and isinstance(k, Integral):
        if not 1 <= int(k) <= ranking.total:
            what = "number of rows" if ranking.counts_rows else "total weight"
            raise ValueError(f"k={k} must lie between 1 and the {what}, {ranking.total:g}.")
        return float(k)
    if is_number and 0.0 < float(k) <= 1.0:
        depth = float(k) * ranking.total_positive
        return max(float(round(depth)), 1.0) if ranking.has_whole_places else depth
    raise ValueError(
        f"k must be an int (a number of rows) or a float in (0, 1] (a fraction of the positives), got {k!r}."
    )


def part_of_list(fraction: Any, ranking: Tally) -> float:
    """Return the weight of the first ``fraction`` of the list; whole where all rows weigh whole numbers.

    Raises
    ------
    ValueError
        When `fraction` does not lie in (0, 1].
    """
    check_number("fraction", fraction, above=0.0, most=1.0)
    return rounded_up(float(fraction) * ranking.total, ranking)


def rounded_up(weight: float, ranking: Tally) -> float:
    """Return a weight of rows, rounded up where all rows weigh whole numbers: copies are not cut."""
    return float(math.ceil(weight * (1.0 - ROUNDING))) if ranking.has_whole_places else weight
