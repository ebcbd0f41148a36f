"""The precision of the list that holds a given share of the positives."""

from __future__ import annotations

from typing import Any

from numpy.typing import ArrayLike

from pushrank._checks import check_number
from pushrank.metrics import rank_kernels
from pushrank.metrics.depth import ROUNDING, rounded_up
from pushrank.metrics.measured import measured, order_measure
from pushrank.metrics.tally import Tally, Ties, tie_share


@order_measure
def precision_at_recall(
    y_true: ArrayLike,
    scores: ArrayLike,
    recall: float = 0.5,
    *,
    ties: Ties = "half",
    sample_weight: ArrayLike | None = None,
    pos_label: Any = None,
) -> Any:
    r"""Return the share of positives in the shortest list that finds a given share of them.

    .. math:: \mathrm{prec@recall}(r) = \frac{h}{h + \mathrm{rHeight}(i)}

    where positive i is the one with which the found weight h reaches the recall r.

    Parameters
    ----------
    y_true : array-like of shape (n,)
        Labels of two values.
    scores : array-like of shape (n,) or (n_rankings, n)
        Finite scores, the higher the better; a table holds a ranking in each row.
    recall : float, default=0.5
        The share of the positives to be found, in (0, 1].
    ties : {"pessimistic", "half", "optimistic"}, default="half"
        Where rows tie at the end of the list: negatives come first; all rows of the tie enter together, a
        point of scikit-learn's ``precision_recall_curve``; or positives come first. In the first and last
        case the list ends at the row that reaches the recall; with weights that are not whole numbers, at the
        part of it that does.
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
        When `recall` is not a number.
    ValueError
        When there are not two classes, a score is not finite, lengths differ, or
        `recall` or `ties` is out of range.

    Notes
    -----
    O(n log n).

    References
    ----------
    Manning, Raghavan and Schuetze, *Introduction to Information Retrieval* (2008), section 8.4.

    Examples
    --------
    >>> y, scores = [1, 0, 1, 1, 0], [5.0, 4.0, 3.0, 2.0, 1.0]
    >>> precision_at_recall(y, scores, 0.3), precision_at_recall(y, scores, 1.0)
    (1.0, 0.75)
    """
    return measured(ranking_precision_at_recall, y_true, scores, sample_weight, pos_label, recall, ties)


def ranking_precision_at_recall(ranking: Tally, recall: float, ties: Ties) -> float:
    """Return the measure of a ranking that has been checked."""
    share = tie_share(ties)
    check_number("recall", recall, above=0.0, most=1.0)
    needed = float(recall) * ranking.total_positive
    hits_above, misses_above, hits, misses = rank_kernels.around_hit(
        ranking.positives_at, ranking.negatives_in, needed * (1.0 - ROUNDING)
    )
    if share == 0.5:
        found, missed = hits_above + hits, misses_above + misses
    else:
        found = rounded_up(needed, ranking)
        missed = misses_above + share * misses
    return float(found / (found + missed))
