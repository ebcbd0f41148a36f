"""Sums over the positives of a value that falls with the rank."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from pushrank._log_space import Floats
from pushrank.metrics.tally import Tally, Ties, tie_share


def rank_sum(ranking: Tally, worth: Callable[[Floats], Floats], ties: Ties) -> float:
    """Return ``sum_i worth(rank of positive i)``, ranks counted in rows from 1.

    Positives in a tie take the last places of it (``"pessimistic"``), the first (``"optimistic"``), or the
    mean worth of its places (``"half"``), which is the expectation under a random order.

    Raises
    ------
    ValueError
        When rows weigh other than whole numbers.
    """
    if not ranking.has_whole_places:
        raise ValueError(
            "this measure counts places in rows: sample_weight must be whole numbers, for which a row stands "
            "for so many copies of itself. Measures such as average_precision take any weights."
        )
    share = tie_share(ties)
    hits = ranking.positives_at
    hits_above = np.cumsum(hits[::-1])[::-1] - hits
    misses_tied = ranking.negatives_in[1::2]
    misses_above = ranking.negatives_above("optimistic")
    if share != 0.5 or not misses_tied.any():
        first = hits_above + misses_above + share * misses_tied
        return float(worth(_places(first, hits)).sum())
    drawn = hits > 0.0  # a resample may leave levels empty
    hits, places = hits[drawn], (hits + misses_tied)[drawn]
    worths = worth(_places((hits_above + misses_above)[drawn], places))
    sums = np.add.reduceat(worths, np.concatenate([[0], np.cumsum(places)[:-1]]).astype(np.intp))
    return float(sums @ (hits / places))


def _places(before: Floats, counts: Floats) -> Floats:
    """Return the ranks ``before + 1 .. before + count`` of every level, one level after the other."""
    repeats = counts.astype(np.intp)
    if (repeats == 1).all():
        return before + 1.0
    ends = np.cumsum(repeats)
    within = np.arange(ends[-1]) - np.repeat(ends - repeats, repeats)
    ranks: Floats = np.repeat(before, repeats) + within + 1.0
    return ranks
