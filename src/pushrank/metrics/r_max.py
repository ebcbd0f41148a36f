"""The worst negative's height."""

from __future__ import annotations

from typing import Any

from numpy.typing import ArrayLike

from pushrank.metrics.measured import measured, order_measure
from pushrank.metrics.tally import Tally, Ties, tie_share


@order_measure
def r_max(
    y_true: ArrayLike,
    scores: ArrayLike,
    *,
    ties: Ties = "pessimistic",
    sample_weight: ArrayLike | None = None,
    pos_label: Any = None,
) -> Any:
    r"""Return the largest height of a negative: how many positives lie below the best negative.

    .. math:: R_{\max} = \max_k \mathrm{Height}(k) = \lim_{p \to \infty} R_{p,1}^{1/p}

    Parameters
    ----------
    y_true : array-like of shape (n,)
        Labels of two values.
    scores : array-like of shape (n,) or (n_rankings, n)
        Finite scores, the higher the better; a table holds a ranking in each row.
    ties : {"pessimistic", "half", "optimistic"}, default="pessimistic"
        Whether a tied pair of a positive and a negative is an error, half an error, or none.
    sample_weight : array-like of shape (n,), optional
        Non-negative weights; an integer weight equals that many copies of the row.
    pos_label : label, optional
        The positive class; by default the larger of the two values.

    Returns
    -------
    float, or ndarray of shape (n_rankings,)
        Between 0 and the weight of the positives; the lower the better.

    Raises
    ------
    ValueError
        When there are not two classes, a score is not finite, lengths differ, or `ties` is not known.

    Notes
    -----
    O(n), without sorting. A negative of weight zero does not count.

    References
    ----------
    Rudin, *The P-Norm Push*, JMLR 10 (2009), section 2; Agarwal, *The Infinite Push*, SDM 2011.

    Examples
    --------
    >>> r_max([1, 0, 1, 1], [4.0, 3.0, 2.0, 3.0])
    2.0
    """
    return measured(ranking_r_max, y_true, scores, sample_weight, pos_label, ties)


def ranking_r_max(ranking: Tally, ties: Ties) -> float:
    """Return the measure of a ranking that has been checked."""
    best = ranking.around_best_negative()
    return ranking.total_positive - best.hits_above - (1.0 - tie_share(ties)) * best.hits_tied
