"""Gains discounted by the logarithm of the rank."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from pushrank._checks import check_number
from pushrank.metrics.measured import measured, order_measure
from pushrank.metrics.rank_sums import rank_sum
from pushrank.metrics.tally import Tally, Ties


@order_measure
def discounted_cumulative_gain(
    y_true: ArrayLike,
    scores: ArrayLike,
    *,
    log_base: float = 2.0,
    ties: Ties = "half",
    sample_weight: ArrayLike | None = None,
    pos_label: Any = None,
) -> Any:
    r"""Return the discounted gains of the positives, summed.

    .. math:: \mathrm{DCG} = \sum_i \frac{1}{\log_b(1 + \mathrm{rank}(i))}

    Parameters
    ----------
    y_true : array-like of shape (n,)
        Labels of two values.
    scores : array-like of shape (n,) or (n_rankings, n)
        Finite scores, the higher the better; a table holds a ranking in each row.
    log_base : float, default=2.0
        The base b, above 1: 2 as in Agarwal and scikit-learn, ``math.e`` as in Rudin.
    ties : {"pessimistic", "half", "optimistic"}, default="half"
        Where rows tie: negatives first; the expectation under a random order; or positives first.
    sample_weight : array-like of shape (n,), optional
        Non-negative whole numbers; a row counts as that many copies of itself.
    pos_label : label, optional
        The positive class; by default the larger of the two values.

    Returns
    -------
    float, or ndarray of shape (n_rankings,)
        Positive; the higher the better.

    Raises
    ------
    TypeError
        When `log_base` is not a number.
    ValueError
        When there are not two classes, a score is not finite, lengths differ, a weight is negative or not
        whole, or `log_base` or `ties` is out of range.

    Notes
    -----
    O(n log n). Ranks count rows from 1 at the top; with weights, n is their sum. With half ties it equals
    scikit-learn's ``dcg_score`` of the labels.

    References
    ----------
    Rudin, *The P-Norm Push*, JMLR 10 (2009), section 7; Agarwal, *The Infinite Push*, SDM 2011, section 6.

    Examples
    --------
    >>> round(discounted_cumulative_gain([1, 0, 1], [3.0, 2.0, 1.0]), 4)
    1.5
    """
    return measured(
        ranking_discounted_cumulative_gain, y_true, scores, sample_weight, pos_label, log_base, ties
    )


def ranking_discounted_cumulative_gain(ranking: Tally, log_base: float, ties: Ties) -> float:
    """Return the measure of a ranking that has been checked."""
    check_number("log_base", log_base, above=1.0)
    return math.log(log_base) * rank_sum(ranking, lambda ranks: 1.0 / np.log1p(ranks), ties)
