"""Normalised discounted cumulative gain, over the lists of several queries."""

from __future__ import annotations

from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils import check_consistent_length

from pushrank._checks import check_number
from pushrank._columns import as_numbers, column
from pushrank._log_space import Floats
from pushrank.metrics.measured import number_measure
from pushrank.metrics.query_lists import QueryLists, by_query, mean_over_queries
from pushrank.metrics.tally import Ties


@number_measure
def ndcg_at_k(
    y_true: ArrayLike,
    scores: ArrayLike,
    k: int | None = None,
    *,
    qid: ArrayLike | None = None,
    gain: Literal["linear", "exponential"] = "linear",
    ties: Ties = "half",
    sample_weight: ArrayLike | None = None,
) -> Any:
    r"""Return the discounted gain of the first k rows of each list over the best there could be, averaged.

    .. math:: \mathrm{NDCG@}k = \frac{1}{Z_q} \sum_{r=1}^{k} \frac{g(y_{(r)})}{\log_2(1 + r)}

    averaged over the queries q, where :math:`Z_q` is the same sum with the rows of q in order of relevance.

    Parameters
    ----------
    y_true : array-like of shape (n,)
        The relevance of each row: finite numbers of at least 0.
    scores : array-like of shape (n,) or (n_rankings, n)
        Finite scores, the higher the better; a table holds a ranking in each row.
    k : int, optional
        How many rows of each list count, at least 1; by default all.
    qid : array-like of shape (n,), optional
        The query of each row; by default all rows are one list.
    gain : {"linear", "exponential"}, default="linear"
        The gain of relevance y: y itself, as in scikit-learn, or :math:`2^y - 1`.
    ties : {"pessimistic", "half", "optimistic"}, default="half"
        Where rows tie: the least relevant first; the expectation under a random order; or the most relevant
        first.
    sample_weight : array-like of shape (n,), optional
        Non-negative weights; a query weighs the mean of its rows' weights.

    Returns
    -------
    float, or ndarray of shape (n_rankings,)
        Between 0 and 1; the higher the better. A list without a relevant row counts 0.

    Raises
    ------
    TypeError
        When `k` is neither an integer nor None.
    ValueError
        When a relevance is negative or not finite, a score is not finite, lengths differ, or `k`, `gain` or
        `ties` is out of range.

    Notes
    -----
    O(n log n). With half ties and linear gain it equals scikit-learn's ``ndcg_score`` of each query,
    averaged.

    References
    ----------
    Jarvelin and Kekalainen, *Cumulated gain-based evaluation of IR techniques*, ACM TOIS 20 (2002).

    Examples
    --------
    >>> round(ndcg_at_k([3, 2, 0, 1], [4.0, 3.0, 2.0, 1.0], 3), 4)
    0.895
    >>> ndcg_at_k([1, 0, 0, 1], [2.0, 1.0, 2.0, 1.0], 1, qid=[1, 1, 2, 2])
    0.5
    """
    relevance = as_numbers(column(y_true, "y_true"), "y_true")
    if len(relevance) == 0 or not (np.isfinite(relevance).all() and relevance.min() >= 0.0):
        raise ValueError("y_true must hold at least one relevance, all finite and at least 0.")
    if k is not None:
        check_number("k", k, 1, integer=True)
    if gain not in ("linear", "exponential"):
        raise ValueError(f"gain must be 'linear' or 'exponential', got {gain!r}.")
    gains = relevance if gain == "linear" else np.exp2(relevance) - 1.0
    if not np.isfinite(gains).all():
        raise ValueError("gain='exponential' of so large a relevance exceeds the floats; use gain='linear'.")
    if gains.max() > 0.0:
        gains = gains / gains.max()  # NDCG is a ratio; sums of large gains may overflow

    def of_lists(lists: QueryLists) -> Floats:
        totals = _discounts_to(len(gains), k)
        found = _gains_found(lists, totals)
        queries = np.repeat(np.arange(len(lists.starts)), np.diff(lists.starts, append=len(gains)))
        best = _gains_found(by_query(lists.gains, lists.gains, queries, ties), totals)
        return np.divide(found, best, out=np.zeros_like(found), where=best > 0.0)

    if qid is not None:
        check_consistent_length(relevance, qid)
    return mean_over_queries(of_lists, gains, scores, qid, sample_weight, ties)


def _discounts_to(n_rows: int, k: int | None) -> Floats:
    """Return the sum of the discounts of the first 0, 1, .. n places, of which only k count."""
    discounts = 1.0 / np.log2(np.arange(2.0, n_rows + 2.0))
    if k is not None:
        discounts[k:] = 0.0
    return np.append(0.0, np.cumsum(discounts))


def _gains_found(lists: QueryLists, totals: Floats) -> Floats:
    """Return the discounted gain of each list.

    Rows of a tie share its places' mean discount. Where a rule orders them, each is a tie by itself.
    """
    first = lists.places[lists.tie_starts]
    discounts = totals[first + lists.tie_sizes] - totals[first]
    means = np.add.reduceat(lists.gains, lists.tie_starts) / lists.tie_sizes
    return np.bincount(lists.tie_queries, means * discounts, minlength=len(lists.starts)).astype(np.float64)
