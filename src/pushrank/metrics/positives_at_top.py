"""How many positives stand above every negative."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from pushrank.metrics.r_max import best_negative
from pushrank.metrics.ranks import Ranking, Ties, tie_share


def positives_at_top(
    y_true: ArrayLike,
    scores: ArrayLike,
    *,
    normalize: bool = False,
    ties: Ties = "pessimistic",
    sample_weight: ArrayLike | None = None,
    pos_label: Any = None,
) -> float:
    r"""Return the number of positives ranked above all negatives.

    .. math:: \sum_i w_i\, 1[s_i > \max_k t_k]

    Parameters
    ----------
    y_true : array-like of shape (n,)
        Labels of two values.
    scores : array-like of shape (n,)
        Finite scores, the higher the better.
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
    float
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
    ranking = Ranking(y_true, scores, sample_weight, pos_label)
    return of_ranking(ranking, ties) / (ranking.total_positive if normalize else 1.0)


def of_ranking(ranking: Ranking, ties: Ties) -> float:
    """Return the measure of a ranking that has been checked."""
    share = 1.0 - tie_share(ties)
    best = best_negative(ranking)
    credit = (ranking.positive_scores > best) + share * (ranking.positive_scores == best)
    weights = ranking.weights_of(ranking.is_positive)
    return float(np.sum(credit) if weights is None else weights @ credit)
