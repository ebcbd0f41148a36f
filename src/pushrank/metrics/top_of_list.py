"""All measures of one ranking, for the price of one sort."""

from __future__ import annotations

import math
from typing import Any

from numpy.typing import ArrayLike

from pushrank.metrics.auc import ranking_auc
from pushrank.metrics.average_precision import ranking_average_precision
from pushrank.metrics.average_reciprocal_rank import ranking_average_reciprocal_rank
from pushrank.metrics.discounted_cumulative_gain import ranking_discounted_cumulative_gain
from pushrank.metrics.positives_at_top import ranking_positives_at_top
from pushrank.metrics.precision_at_k import ranking_precision_at_k
from pushrank.metrics.r_max import ranking_r_max
from pushrank.metrics.ranks import Ranking
from pushrank.metrics.rp_error import ranking_rp_error


def top_of_list(
    y_true: ArrayLike,
    scores: ArrayLike,
    *,
    sample_weight: ArrayLike | None = None,
    pos_label: Any = None,
) -> dict[str, float]:
    r"""Return the measures of a ranking, each under its own default for ties.

    .. math:: \{\mathrm{AUC}, \mathrm{AP}, \mathrm{prec@}\kappa, R_{\max}, \dots\}

    Parameters
    ----------
    y_true : array-like of shape (n,)
        Labels of two values.
    scores : array-like of shape (n,)
        Finite scores, the higher the better.
    sample_weight : array-like of shape (n,), optional
        Non-negative whole numbers; a row counts as that many copies of itself.
    pos_label : label, optional
        The positive class; by default the larger of the two values.

    Returns
    -------
    dict of str to float
        By the name of the measure: ``positives_at_top``, ``precision_at_quarter`` and
        ``precision_at_positives`` (k a quarter of the positives, and all of them), ``average_precision``,
        ``auc``, ``discounted_cumulative_gain`` (log2), ``discounted_cumulative_gain_natural``,
        ``average_reciprocal_rank``, ``r_max``, and ``log_r4`` ((1/4) ln of the 4-norm error).

    Raises
    ------
    ValueError
        When there are not two classes, a score is not finite, lengths differ, or a weight is negative or not
        whole.

    Notes
    -----
    O(n log n): the order of the scores is found once. With weights, n is their sum.

    References
    ----------
    Rudin, *The P-Norm Push*, JMLR 10 (2009), section 2; see each measure.

    Examples
    --------
    >>> top_of_list([1, 0, 1], [3.0, 2.0, 1.0])["positives_at_top"]
    1.0
    """
    ranking = Ranking(y_true, scores, sample_weight, pos_label)
    return {
        "positives_at_top": ranking_positives_at_top(ranking, "pessimistic"),
        "precision_at_quarter": ranking_precision_at_k(ranking, 0.25, "pessimistic"),
        "precision_at_positives": ranking_precision_at_k(ranking, 1.0, "pessimistic"),
        "average_precision": ranking_average_precision(ranking, "half"),
        "auc": ranking_auc(ranking, "half"),
        "discounted_cumulative_gain": ranking_discounted_cumulative_gain(ranking, 2.0, "half"),
        "discounted_cumulative_gain_natural": ranking_discounted_cumulative_gain(ranking, math.e, "half"),
        "average_reciprocal_rank": ranking_average_reciprocal_rank(ranking, "half"),
        "r_max": ranking_r_max(ranking, "pessimistic"),
        "log_r4": ranking_rp_error(ranking, 4.0, "log", "pessimistic"),
    }
