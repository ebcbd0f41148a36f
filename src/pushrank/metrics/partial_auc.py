"""The area under the part of the ROC curve that matters at the top of the list."""

from __future__ import annotations

from typing import Any

from numpy.typing import ArrayLike

from pushrank._checks import check_number
from pushrank.metrics import rank_kernels
from pushrank.metrics.measured import measured, order_measure
from pushrank.metrics.tally import Tally, Ties, tie_share


@order_measure
def partial_auc(
    y_true: ArrayLike,
    scores: ArrayLike,
    max_fpr: float = 0.1,
    *,
    min_tpr: float = 0.0,
    standardize: bool = True,
    ties: Ties = "half",
    sample_weight: ArrayLike | None = None,
    pos_label: Any = None,
) -> Any:
    r"""Return the area under the ROC curve at low false-positive and high true-positive rates.

    .. math:: A(\alpha, \beta) = \int_0^\alpha \bigl[\mathrm{TPR}(u) - \beta\bigr]_+ \, du

    with :math:`\alpha` the largest false-positive rate and :math:`\beta` the least true-positive rate
    (0 for the one-way partial AUC). Standardised, it is

    .. math:: \frac12 \Bigl(1 + \frac{A - A_0}{\alpha (1 - \beta) - A_0}\Bigr) , \quad
        A_0 = \tfrac12 [\alpha - \beta]_+^2 ,

    where :math:`A_0` is the area of a random order: 1 is perfect, and 1/2 is chance.

    Parameters
    ----------
    y_true : array-like of shape (n,)
        Labels of two values.
    scores : array-like of shape (n,) or (n_rankings, n)
        Finite scores, the higher the better; a table holds a ranking in each row.
    max_fpr : float, default=0.1
        The largest false-positive rate, in (0, 1].
    min_tpr : float, default=0.0
        The least true-positive rate, in [0, 1), for the two-way partial AUC.
    standardize : bool, default=True
        Return McClish's standardised area in place of the area itself.
    ties : {"pessimistic", "half", "optimistic"}, default="half"
        Where classes tie, the curve goes right first, straight across, or up first.
    sample_weight : array-like of shape (n,), optional
        Non-negative weights; an integer weight equals that many copies of the row.
    pos_label : label, optional
        The positive class; by default the larger of the two values.

    Returns
    -------
    float, or ndarray of shape (n_rankings,)
        At most 1; the higher the better.

    Raises
    ------
    TypeError
        When `max_fpr` or `min_tpr` is not a number.
    ValueError
        When there are not two classes, a score is not finite, lengths differ, or `max_fpr`, `min_tpr` or
        `ties` is out of range.

    Notes
    -----
    O(n log n). With half ties and ``min_tpr=0`` it equals scikit-learn's ``roc_auc_score(max_fpr=...)``.

    References
    ----------
    McClish, *Analyzing a portion of the ROC curve*, Medical Decision Making 9 (1989); Yang, Lu, Lyu and Hu,
    *Two-way partial AUC and its properties*, Statistical Methods in Medical Research 28 (2019).

    Examples
    --------
    >>> y, scores = [0, 1, 0, 1, 1], [1.0, 2.0, 3.0, 4.0, 5.0]
    >>> round(partial_auc(y, scores, 0.5, standardize=False), 4), round(partial_auc(y, scores, 1.0), 4)
    (0.3333, 0.8333)
    """
    return measured(
        ranking_partial_auc,
        y_true,
        scores,
        sample_weight,
        pos_label,
        max_fpr,
        min_tpr,
        ties,
        standardize=standardize,
    )


def ranking_partial_auc(
    ranking: Tally, max_fpr: float, min_tpr: float, ties: Ties, *, standardize: bool
) -> float:
    """Return the measure of a ranking that has been checked."""
    share = tie_share(ties)
    check_number("max_fpr", max_fpr, above=0.0, most=1.0)
    check_number("min_tpr", min_tpr, 0.0, below=1.0)
    widest = float(max_fpr)
    area = float(
        rank_kernels.roc_area(
            ranking.positives_at / ranking.total_positive,
            ranking.negatives_in / ranking.total_negative,
            share,
            widest,
            min_tpr,
        )
    )
    if not standardize:
        return area
    chance = 0.5 * max(widest - min_tpr, 0.0) ** 2
    return 0.5 * (1.0 + (area - chance) / (widest * (1.0 - min_tpr) - chance))
