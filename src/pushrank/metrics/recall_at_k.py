"""The share of the positives that are found among the first k rows."""

from __future__ import annotations

from typing import Any

from numpy.typing import ArrayLike

from pushrank.metrics.depth import list_depth
from pushrank.metrics.measured import measured, order_measure
from pushrank.metrics.tally import Tally, Ties


@order_measure
def recall_at_k(
    y_true: ArrayLike,
    scores: ArrayLike,
    k: float,
    *,
    ties: Ties = "pessimistic",
    sample_weight: ArrayLike | None = None,
    pos_label: Any = None,
) -> Any:
    r"""Return the share of the positives that are among the k highest scores.

    .. math:: \mathrm{recall@}k = \frac{1}{W_+} \sum_i w_i\, 1[\mathrm{rank}(i) \le k]

    Parameters
    ----------
    y_true : array-like of shape (n,)
        Labels of two values.
    scores : array-like of shape (n,) or (n_rankings, n)
        Finite scores, the higher the better; a table holds a ranking in each row.
    k : int or float
        As for :func:`precision_at_k`: an int is a number of rows, or a weight of the list; a float in (0, 1]
        is a fraction of the positives.
    ties : {"pessimistic", "half", "optimistic"}, default="pessimistic"
        Where rows tie at the k-th place: fill it with negatives first, take the expectation under a random
        order, or fill it with positives first.
    sample_weight : array-like of shape (n,), optional
        Non-negative weights; an integer weight equals that many copies of the row.
    pos_label : label, optional
        The positive class; by default the larger of the two values.

    Returns
    -------
    float, or ndarray of shape (n_rankings,)
        Between 0 and 1; the higher the better.

    Raises
    ------
    ValueError
        When there are not two classes, a score is not finite, lengths differ, or
        `k` or `ties` is out of range.

    Notes
    -----
    O(n), by selection; O(n log n) with weights.

    References
    ----------
    Manning, Raghavan and Schuetze, *Introduction to Information Retrieval* (2008), section 8.4.

    Examples
    --------
    >>> recall_at_k([1, 0, 1, 0, 1, 1], [6.0, 5.0, 4.0, 3.0, 2.0, 1.0], 3)
    0.5
    """
    return measured(ranking_recall_at_k, y_true, scores, sample_weight, pos_label, k, ties)


def ranking_recall_at_k(ranking: Tally, k: float, ties: Ties) -> float:
    """Return the measure of a ranking that has been checked."""
    return ranking.hits_within(list_depth(k, ranking), ties) / ranking.total_positive
