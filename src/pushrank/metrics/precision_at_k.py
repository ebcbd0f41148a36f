"""The share of hits among the first k rows."""

from __future__ import annotations

from typing import Any

from numpy.typing import ArrayLike

from pushrank.metrics.depth import list_depth
from pushrank.metrics.measured import measured, order_measure
from pushrank.metrics.tally import Tally, Ties


@order_measure
def precision_at_k(
    y_true: ArrayLike,
    scores: ArrayLike,
    k: float,
    *,
    ties: Ties = "pessimistic",
    sample_weight: ArrayLike | None = None,
    pos_label: Any = None,
) -> Any:
    r"""Return the share of positives among the k highest scores.

    .. math:: \mathrm{prec@}k = \frac{1}{k} \sum_{i} 1[\mathrm{rank}(i) \le k]

    Parameters
    ----------
    y_true : array-like of shape (n,)
        Labels of two values.
    scores : array-like of shape (n,) or (n_rankings, n)
        Finite scores, the higher the better; a table holds a ranking in each row.
    k : int or float
        An int from 1 to n is a number of rows, or a weight of the list; a float in (0, 1] is the fraction
        :math:`\kappa` of the positives, rounded to a number between 1 and theirs unless weights are not whole
        numbers.
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
    Kar, Narasimhan and Jain, *Surrogate functions for maximizing precision at the top*, ICML 2015.

    Examples
    --------
    >>> y, scores = [1, 0, 1, 1, 0], [5.0, 4.0, 3.0, 2.0, 1.0]
    >>> precision_at_k(y, scores, 2), round(precision_at_k(y, scores, 1.0), 4)
    (0.5, 0.6667)
    """
    return measured(ranking_precision_at_k, y_true, scores, sample_weight, pos_label, k, ties)


def ranking_precision_at_k(ranking: Tally, k: float, ties: Ties) -> float:
    """Return the measure of a ranking that has been checked."""
    depth = list_depth(k, ranking)
    return ranking.hits_within(depth, ties) / depth
