"""The share of the positives that the first part of the list holds: the gain chart."""

from __future__ import annotations

from typing import Any

from numpy.typing import ArrayLike

from pushrank.metrics.depth import part_of_list
from pushrank.metrics.measured import measured, order_measure
from pushrank.metrics.tally import Tally, Ties


@order_measure
def cumulative_gain(
    y_true: ArrayLike,
    scores: ArrayLike,
    fraction: float = 0.1,
    *,
    ties: Ties = "half",
    sample_weight: ArrayLike | None = None,
    pos_label: Any = None,
) -> Any:
    r"""Return the share of the positives in the first part of the list.

    .. math:: \mathrm{gain}(q) = \frac{1}{W_+} \sum_i w_i\, 1[\mathrm{rank}(i) \le \lceil q n \rceil]

    Parameters
    ----------
    y_true : array-like of shape (n,)
        Labels of two values.
    scores : array-like of shape (n,) or (n_rankings, n)
        Finite scores, the higher the better; a table holds a ranking in each row.
    fraction : float, default=0.1
        The part of the list that is looked at, in (0, 1], in rows rounded up; with weights that are not whole
        numbers, that part of their sum.
    ties : {"pessimistic", "half", "optimistic"}, default="half"
        Where rows tie at the end of that part: fill it with negatives first, take the expectation under a
        random order, or fill it with positives first.
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
    TypeError
        When `fraction` is not a number.
    ValueError
        When there are not two classes, a score is not finite, lengths differ, or
        `fraction` or `ties` is out of range.

    Notes
    -----
    O(n), by selection; O(n log n) with weights.

    References
    ----------
    Ling and Li, *Data mining for direct marketing: problems and solutions*, KDD 1998.

    Examples
    --------
    >>> cumulative_gain([1, 0, 1, 0, 0], [5.0, 4.0, 3.0, 2.0, 1.0], 0.2)
    0.5
    """
    return measured(ranking_cumulative_gain, y_true, scores, sample_weight, pos_label, fraction, ties)


def ranking_cumulative_gain(ranking: Tally, fraction: float, ties: Ties) -> float:
    """Return the measure of a ranking that has been checked."""
    return ranking.hits_within(part_of_list(fraction, ranking), ties) / ranking.total_positive
