"""Precision, averaged over the positives."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import digamma

from pushrank._log_space import Floats
from pushrank.metrics import rank_kernels
from pushrank.metrics.measured import measured, order_measure
from pushrank.metrics.tally import Tally, Ties, tie_share


@order_measure
def average_precision(
    y_true: ArrayLike,
    scores: ArrayLike,
    *,
    ties: Ties = "half",
    sample_weight: ArrayLike | None = None,
    pos_label: Any = None,
) -> Any:
    r"""Return the mean, over the positives, of the precision at each one's place.

    .. math:: \mathrm{AP} = \frac{1}{W_+} \sum_i w_i\, \mathrm{prec@rank}(i)

    Parameters
    ----------
    y_true : array-like of shape (n,)
        Labels of two values.
    scores : array-like of shape (n,) or (n_rankings, n)
        Finite scores, the higher the better; a table holds a ranking in each row.
    ties : {"pessimistic", "half", "optimistic"}, default="half"
        Where rows tie: negatives come first; all rows of the tie enter together, as in scikit-learn; or
        positives come first.
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
    O(n log n). With ``ties="half"`` it equals scikit-learn's ``average_precision_score``, weights included.

    References
    ----------
    Agarwal, *The Infinite Push*, SDM 2011, section 6; Manning, Raghavan and Schuetze, *Introduction to
    Information Retrieval* (2008), section 8.4.

    Examples
    --------
    >>> round(average_precision([1, 0, 1], [3.0, 2.0, 1.0]), 4)
    0.8333
    """
    return measured(ranking_average_precision, y_true, scores, sample_weight, pos_label, ties)


def ranking_average_precision(ranking: Tally, ties: Ties) -> float:
    """Return the measure of a ranking that has been checked."""
    here = ranking.positives_at
    if tie_share(ties) == 0.5:
        found = rank_kernels.sum_precision_of_ties(here, ranking.negatives_in)
        return float(found / ranking.total_positive)
    to_here = np.cumsum(here[::-1])[::-1]
    misses = ranking.negatives_above(ties)
    return float(np.sum(_one_by_one(here, to_here - here, misses)) / ranking.total_positive)


def _one_by_one(here: Floats, hits_above: Floats, misses_above: Floats) -> Floats:
    """Return ``sum_j (hits + j) / (hits + j + misses)`` for j = 1..here, by a difference of digammas."""
    start = hits_above + misses_above + 1.0
    harmonic = np.where(here == 1.0, 1.0 / start, digamma(start + here) - digamma(start))
    sums: Floats = here - misses_above * harmonic
    return sums
