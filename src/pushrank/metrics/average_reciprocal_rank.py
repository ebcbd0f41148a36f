"""The reciprocal ranks of the positives."""

from __future__ import annotations

from typing import Any

from numpy.typing import ArrayLike

from pushrank.metrics.measured import measured, order_measure
from pushrank.metrics.rank_sums import rank_sum
from pushrank.metrics.tally import Tally, Ties


@order_measure
def average_reciprocal_rank(
    y_true: ArrayLike,
    scores: ArrayLike,
    *,
    ties: Ties = "half",
    sample_weight: ArrayLike | None = None,
    pos_label: Any = None,
) -> Any:
    r"""Return the reciprocal ranks of the positives, summed: Rudin's AveR.

    .. math:: \mathrm{AveR} = \sum_i \frac{1}{\mathrm{rank}(i)}

    Parameters
    ----------
    y_true : array-like of shape (n,)
        Labels of two values.
    scores : array-like of shape (n,) or (n_rankings, n)
        Finite scores, the higher the better; a table holds a ranking in each row.
    ties : {"pessimistic", "half", "optimistic"}, default="half"
        Where rows tie: negatives first; the expectation under a random order; or positives first.
    sample_weight : array-like of shape (n,), optional
        Non-negative whole numbers; a row counts as that many copies of itself.
    pos_label : label, optional
        The positive class; by default the larger of the two values.

    Returns
    -------
    float, or ndarray of shape (n_rankings,)
        Positive; the higher the better. Despite its name it is a sum, as in the paper.

    Raises
    ------
    ValueError
        When there are not two classes, a score is not finite, lengths differ, a weight is negative or not
        whole, or `ties` is not known.

    Notes
    -----
    O(n log n). Ranks count rows from 1 at the top; with weights, n is their sum.

    References
    ----------
    Rudin, *The P-Norm Push*, JMLR 10 (2009), section 7.

    Examples
    --------
    >>> round(average_reciprocal_rank([1, 0, 1], [3.0, 2.0, 1.0]), 4)
    1.3333
    """
    return measured(ranking_average_reciprocal_rank, y_true, scores, sample_weight, pos_label, ties)


def ranking_average_reciprocal_rank(ranking: Tally, ties: Ties) -> float:
    """Return the measure of a ranking that has been checked."""
    return rank_sum(ranking, lambda ranks: 1.0 / ranks, ties)
