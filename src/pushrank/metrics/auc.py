"""The area under the ROC curve."""

from __future__ import annotations

from typing import Any

from numpy.typing import ArrayLike

from pushrank.metrics import rank_kernels
from pushrank.metrics.measured import measured, order_measure
from pushrank.metrics.tally import Tally, Ties, tie_share


@order_measure
def auc(
    y_true: ArrayLike,
    scores: ArrayLike,
    *,
    ties: Ties = "half",
    sample_weight: ArrayLike | None = None,
    pos_label: Any = None,
) -> Any:
    r"""Return the share of pairs of a positive and a negative that are ranked rightly.

    .. math:: \mathrm{AUC} = 1 - \frac{1}{W_+ W_-} \sum_k w_k\, \mathrm{Height}(k)

    Parameters
    ----------
    y_true : array-like of shape (n,)
        Labels of two values.
    scores : array-like of shape (n,) or (n_rankings, n)
        Finite scores, the higher the better; a table holds a ranking in each row.
    ties : {"pessimistic", "half", "optimistic"}, default="half"
        Whether a tied pair of a positive and a negative is an error, half an error, or none.
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
        When there are not two classes, a score is not finite, lengths differ, or `ties` is not known.

    Notes
    -----
    O(n log n). With half ties it equals scikit-learn's ``roc_auc_score``.

    References
    ----------
    Hanley and McNeil, *The meaning and use of the area under a ROC curve*, Radiology 143 (1982).

    Examples
    --------
    >>> auc([0, 1, 0, 1], [1.0, 2.0, 2.0, 3.0])
    0.875
    """
    return measured(ranking_auc, y_true, scores, sample_weight, pos_label, ties)


def ranking_auc(ranking: Tally, ties: Ties) -> float:
    """Return the measure of a ranking that has been checked."""
    return 1.0 - float(
        rank_kernels.share_misranked(
            ranking.positives_at,
            ranking.negatives_in,
            ranking.total_positive,
            ranking.total_negative,
            tie_share(ties),
        )
    )
