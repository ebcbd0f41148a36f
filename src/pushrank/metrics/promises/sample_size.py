"""How many labelled rows does a promise take, or a difference of two models?"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from pushrank._docstrings import shared_docs
from pushrank.metrics._proportions import difference_of_hits_interval
from pushrank.metrics._ranking import Ranking
from pushrank.metrics.promises.bounds import MOST_PLANNED, hits_bound, least
from pushrank.metrics.promises.lists import tied_order
from pushrank.validation import check_number, comparable_scores


@shared_docs
def sample_size_for(
    y_true: ArrayLike,
    scores: ArrayLike,
    *,
    k: int,
    n_new: int,
    hits: int | None = None,
    difference: float | None = None,
    other_scores: ArrayLike | None = None,
    confidence_level: float = 0.95,
    pos_label: Any = None,
) -> int:
    r"""Return about how many labelled rows a promise of hits takes, or a difference of two models.

    .. math:: \min \{n : L_k(n) \ge h\}

    The given rows stand for more of them: with hits in the same places of the list, and with as many rows on
    one of the two lists only, whose hits differ as asked. Nothing is promised. O(n log n). The bounds are
    those of :func:`guarantee` and :func:`compare`.

    %(labels_and_scores)s
    k, n_new : int
        The list is the first k of `n_new` rows to come.
    hits : int, optional
        The hits h to be promised for that list alone, from 1 to k.
    difference : float, optional
        In place of them: that many more hits in the list by `scores` than in that by `other_scores`.
    other_scores : array-like of shape (n,), optional
        The scores of the other model.
    confidence_level : float, default=0.95
        %(promise_level)s
    pos_label : label, optional

    Returns
    -------
    int
        So many rows like the given ones give the promise, or put the difference beyond chance, in about half
        of all samples.

    %(errors)s

    Examples
    --------
    >>> sample_size_for(np.arange(400) % 4 == 0, -np.arange(400.0), k=100, n_new=1000, hits=15)
    2706
    """
    check_number("confidence_level", confidence_level, 0.5, 0.9999)
    check_number("n_new", n_new, 1, integer=True)
    check_number("k", k, 1, n_new, integer=True)
    ranking, miss = Ranking(y_true, comparable_scores(scores), None, pos_label), 1.0 - confidence_level
    n, plan = ranking.n_rows, (1, MOST_PLANNED, "rows")
    if hits is not None and difference is None:
        check_number("hits", hits, 1, k, integer=True)
        hits_above = np.append(0, np.cumsum(ranking.is_positive[tied_order(ranking, "random", 0)]))
        return least(lambda rows: hits_bound(hits_above, rows, n_new, k, miss) >= hits, *plan)
    if hits is not None or difference is None or other_scores is None:
        raise ValueError("ask for hits, or for a difference and other_scores.")
    check_number("difference", difference, above=0.0, most=k)
    depth = max(1.0, k * n / n_new)
    ours, others = (r.shares_in_top(depth) for r in (ranking, ranking.with_scores(other_scores)))
    # Hits and rows on one list only, for each labelled row.
    mean, apart = (0.5 * float(np.abs(ours - others) @ of) / n for of in (ranking.is_positive, np.ones(n)))
    half = 0.5 * difference / n_new
    shares = np.array([mean + half, mean - half]) + max(half - mean, 0.0)

    def is_beyond_chance(rows: int) -> bool:
        of_each = rows * max(apart, float(shares[0]))
        return difference_of_hits_interval(tuple(rows * shares), (of_each, of_each), miss)[0] > 0.0

    return least(is_beyond_chance, *plan)
