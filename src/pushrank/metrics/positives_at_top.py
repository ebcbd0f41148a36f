"""How many positives stand above every negative."""

from __future__ import annotations

from typing import Any

from numpy.typing import ArrayLike

from pushrank.metrics.measured import measured, order_measure
from pushrank.metrics.tally import Tally, Ties, tie_share


@order_measure
def positives_at_top(
    y_true: ArrayLike,
    scores: ArrayLike,
    *,
    normalize: bool = False,
    ties: Ties = "pessimistic",
    sample_weight: ArrayLike | None = None,
    pos_label: Any = None,
) -> Any:
    r"""Return the number of positives ranked above all negatives.

    .. math:: \sum_i w_i\, 1[s_i > \max_k t_k]

    Parameters
    ----------
    y_true : array-like of shape (n,)
        Labels of two values.
    scores : array-like of shape (n,) or (n_rankings, n)
        Finite scores, the higher the better; a table holds a ranking in each row.
    normalize : bool, default=False
        Return the share of the positives in place of their number.
    ties : {"pessimistic", "half", "optimistic"}, default="pessimistic"
        Whether a tied pair of a positive and a negative is an error, half an error, or none.
    sample_weight : array-like of shape (n,), optional
        Non-negative weights; an integer weight equals that many copies of the row.
    pos_label : label, optional
        The positive class; by default the larger of the two values.

    Returns
    -------
    float, or ndarray of shape (n_rankings,)
        Between 0 and the weight of the positives, or 1 when normalised; the higher the better.

    Raises
    ------
    ValueError
        When there are not two classes, a score is not finite, lengths differ, or `ties` is not known.

    Notes
    -----
    O(n), without sorting. A positive tied with the best negative counts nothing, one half, or one, by the
    rule of ties. It is the weight of the positives less :func:`r_max`.

    References
    ----------
    Agarwal, *The Infinite Push*, SDM 2011, section 6.

    Examples
    --------
    >>> positives_at_top([1, 1, 0, 1], [4.0, 3.5, 3.0, 2.0])
    2.0
    """
    return measured(
        ranking_positives_at_top, y_true, scores, sample_weight, pos_label, ties, normalize=normalize
    )


def ranking_positives_at_top(ranking: Tally, ties: Ties, *, normalize: bool = False) -> float:
    """Return the measure of a ranking that has been checked."""
    best = ranking.around_best_negative()
    found = best.hits_above + (1.0 - tie_share(ties)) * best.hits_tied
    return found / ranking.total_positive if normalize else found
