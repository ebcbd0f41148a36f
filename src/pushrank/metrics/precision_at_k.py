"""The share of hits among the first k rows."""

from __future__ import annotations

from numbers import Integral, Real
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from pushrank.metrics.ranks import Ranking, Ties, tie_share


def precision_at_k(
    y_true: ArrayLike,
    scores: ArrayLike,
    k: float,
    *,
    ties: Ties = "pessimistic",
    pos_label: Any = None,
) -> float:
    r"""Return the share of positives among the k highest scores.

    .. math:: \mathrm{prec@}k = \frac{1}{k} \sum_{i} 1[\mathrm{rank}(i) \le k]

    Parameters
    ----------
    y_true : array-like of shape (n,)
        Labels of two values.
    scores : array-like of shape (n,)
        Finite scores, the higher the better.
    k : int or float
        An int from 1 to n is a number of rows; a float in (0, 1] is the fraction :math:`\kappa` of the
        positives, rounded to a number between 1 and theirs.
    ties : {"pessimistic", "half", "optimistic"}, default="pessimistic"
        Where rows tie at the k-th place: fill it with negatives first, take the expectation under a random
        order, or fill it with positives first.
    pos_label : label, optional
        The positive class; by default the larger of the two values.

    Returns
    -------
    float
        Between 0 and 1; the higher the better.

    Raises
    ------
    ValueError
        When there are not two classes, a score is not finite, lengths differ, or
        `k` or `ties` is out of range.

    Notes
    -----
    O(n), by selection. Places in a list are counted in rows, so there are no sample weights.

    References
    ----------
    Kar, Narasimhan and Jain, *Surrogate functions for maximizing precision at the top*, ICML 2015.

    Examples
    --------
    >>> y, scores = [1, 0, 1, 1, 0], [5.0, 4.0, 3.0, 2.0, 1.0]
    >>> precision_at_k(y, scores, 2), round(precision_at_k(y, scores, 1.0), 4)
    (0.5, 0.6667)
    """
    return of_ranking(Ranking(y_true, scores, None, pos_label), k, ties)


def of_ranking(ranking: Ranking, k: float, ties: Ties) -> float:
    """Return the measure of a ranking that has been checked."""
    share = tie_share(ties)
    count = _number_of_rows(k, len(ranking.scores), int(ranking.total_positive))
    cut = np.partition(ranking.scores, len(ranking.scores) - count)[len(ranking.scores) - count]
    hits_above = int(np.count_nonzero(ranking.positive_scores > cut))
    above = hits_above + int(np.count_nonzero(ranking.negative_scores > cut))
    hits_tied = int(np.count_nonzero(ranking.positive_scores == cut))
    misses_tied = int(np.count_nonzero(ranking.negative_scores == cut))
    places = count - above
    if share == 1.0:
        hits: float = max(0, places - misses_tied)
    elif share == 0.0:
        hits = min(places, hits_tied)
    else:
        hits = places * hits_tied / (hits_tied + misses_tied)
    return (hits_above + hits) / count


def _number_of_rows(k: Any, n_rows: int, n_positive: int) -> int:
    is_number = isinstance(k, Real) and not isinstance(k, bool)
    if is_number and isinstance(k, Integral):
        if not 1 <= int(k) <= n_rows:
            raise ValueError(f"k={k} must lie between 1 and the number of rows, {n_rows}.")
        return int(k)
    if is_number and 0.0 < float(k) <= 1.0:
        return min(max(round(float(k) * n_positive), 1), n_positive)
    raise ValueError(
        f"k must be an int (a number of rows) or a float in (0, 1] (a fraction of the positives), got {k!r}."
    )
