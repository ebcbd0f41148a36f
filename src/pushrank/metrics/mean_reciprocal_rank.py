"""The reciprocal rank of the first hit, over the lists of several queries."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from pushrank._columns import check_stated_order, column
from pushrank._log_space import Floats
from pushrank.metrics import rank_kernels
from pushrank.metrics.measured import number_measure
from pushrank.metrics.query_lists import QueryLists, mean_over_queries
from pushrank.metrics.ranks import positive_mask
from pushrank.metrics.tally import Ties


@number_measure
def mean_reciprocal_rank(
    y_true: ArrayLike,
    scores: ArrayLike,
    *,
    qid: ArrayLike | None = None,
    ties: Ties = "half",
    sample_weight: ArrayLike | None = None,
    pos_label: Any = None,
) -> Any:
    r"""Return one over the rank of the first positive of each query's list, averaged over the queries.

    .. math:: \mathrm{MRR} = \frac{1}{|Q|} \sum_q \frac{1}{\min_{i \in q} \mathrm{rank}(i)}

    Parameters
    ----------
    y_true : array-like of shape (n,)
        Labels of two values.
    scores : array-like of shape (n,) or (n_rankings, n)
        Finite scores, the higher the better; a table holds a ranking in each row.
    qid : array-like of shape (n,), optional
        The query of each row; by default all rows are one list.
    ties : {"pessimistic", "half", "optimistic"}, default="half"
        Where rows tie: negatives first; the expectation under a random order; or positives first.
    sample_weight : array-like of shape (n,), optional
        Non-negative weights; a query weighs the mean of its rows' weights.
    pos_label : label, optional
        The positive class; by default the larger of the two values.

    Returns
    -------
    float, or ndarray of shape (n_rankings,)
        Between 0 and 1; the higher the better. A list without a positive counts 0.

    Raises
    ------
    ValueError
        When there are not two classes, a score is not finite, lengths differ, or `ties` is not known.

    Notes
    -----
    O(n log n).

    References
    ----------
    Voorhees, *The TREC-8 question answering track report*, TREC-8 (1999).

    Examples
    --------
    >>> mean_reciprocal_rank([0, 1, 1, 0], [2.0, 1.0, 2.0, 1.0], qid=[1, 1, 2, 2])
    0.75
    """
    if pos_label is None:
        check_stated_order(y_true, "y_true")
    hits = positive_mask(column(y_true, "y_true"), pos_label).astype(np.float64)
    return mean_over_queries(_of_lists, hits, scores, qid, sample_weight, ties)


def _of_lists(lists: QueryLists) -> Floats:
    hits = np.add.reduceat(lists.gains, lists.tie_starts)
    queries = lists.tie_queries
    with_hit = np.flatnonzero(hits)
    found, first = np.unique(queries[with_hit], return_index=True)
    ties = with_hit[first]
    reciprocals = np.zeros(len(lists.starts))
    reciprocals[found] = rank_kernels.expected_reciprocal_ranks(
        lists.places[lists.tie_starts[ties]], hits[ties], lists.tie_sizes[ties]
    )
    return reciprocals
