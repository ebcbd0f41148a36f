"""How far a measure may be off, by chance of which rows were drawn."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from pushrank._checks import check_number
from pushrank.metrics.auc import ranking_auc
from pushrank.metrics.bootstrap import Method, bootstrap, check_method
from pushrank.metrics.delong import auc_covariance
from pushrank.metrics.intervals import normal_ends
from pushrank.metrics.ranks import Ranking
from pushrank.metrics.resampling import Resampler, checked_rankings, measure_named


class ConfidenceInterval(NamedTuple):
    """An interval that holds the measure of the population at a stated confidence.

    Parameters
    ----------
    low, high : float
        Its ends.
    estimate : float
        The measure on the data.
    standard_error : float
        The estimated standard deviation of the measure.

    Examples
    --------
    >>> low, high, *_ = ConfidenceInterval(0.7, 0.9, 0.8, 0.05)
    >>> low, high
    (0.7, 0.9)
    """

    low: float
    high: float
    estimate: float
    standard_error: float


def confidence_interval(
    metric: str | Callable[..., Any],
    y_true: ArrayLike,
    scores: ArrayLike,
    *,
    method: Method = "bca",
    confidence_level: float = 0.95,
    n_resamples: int = 2000,
    sample_weight: ArrayLike | None = None,
    pos_label: Any = None,
    random_state: Any = None,
) -> ConfidenceInterval:
    r"""Return an interval for the measure that the scores would have on the whole population.

    .. math:: P(\mathrm{low} \le \theta \le \mathrm{high}) \approx \text{confidence level}

    Parameters
    ----------
    metric : str or callable
        A measure of this module that returns one number, or its name, such as ``"average_precision"``, a
        ``functools.partial`` of one, or any ``metric(y_true, scores)`` that takes a boolean array and scores
        and returns a number.
    y_true : array-like of shape (n,)
        Labels of two values.
    scores : array-like of shape (n,)
        Finite scores, the higher the better.
    method : {"bootstrap", "bca", "delong"}, default="bca"
        Percentiles of the stratified bootstrap; its bias-corrected and accelerated percentiles, which are
        also widened for a class of few rows; or DeLong's normal interval, for :func:`auc` with half ties.
    confidence_level : float, default=0.95
        The coverage aimed at, strictly between 0 and 1.
    n_resamples : int, default=2000
        How many resamples the bootstrap draws, at least 10.
    sample_weight : array-like of shape (n,), optional
        Non-negative weights; a row is drawn with its weight, and one of weight zero is left out.
    pos_label : label, optional
        The positive class; by default the larger of the two values.
    random_state : int, RandomState or None, default=None
        The seed of the resamples; the same seed gives the same interval with any number of threads.

    Returns
    -------
    ConfidenceInterval
        A named tuple: ``low``, ``high``, ``estimate``, ``standard_error``.

    Raises
    ------
    ValueError
        When the data do not fit, a parameter is out of range, `metric` is not a known name, it is a partial
        that sets ``pos_label``, ``sample_weight`` or ``qid``, or the method is DeLong's and the measure is
        not the area with half ties.
    TypeError
        When `metric` is neither a name nor callable, or returns something other than one number, or a
        parameter is not a number.

    Notes
    -----
    The list is sorted once. A resample is a multinomial count for each row, drawn within each class, and
    costs O(n) with a small constant: a million rows take some milliseconds, on each of the threads. Measures
    that are not of the order alone, and the user's own, are called on copied rows.

    In simulations of normal scores with 50 positives and 200 negatives, intervals at 0.95 held the truth in
    93.7 to 95.7 % of 2,000 sets by ``"bca"`` and in 91.6 to 96.9 % by ``"bootstrap"``, for five measures of
    which the average precision is the hardest; with four times the rows both are within 94.2 and 96.5 %.

    Rows are taken to be independent. Where they come in clusters, such as the visits of one patient, an
    interval is too narrow: keep one row of each, or average within clusters, first.

    Resampling assumes a measure that varies smoothly with the data. Extremes, such as
    :func:`positives_at_top` and :func:`r_max`, do not: their resamples repeat the best negative or miss it,
    and what they estimate depends on the number of rows. Read their intervals as how much the number moves,
    not as coverage.

    References
    ----------
    Efron and Tibshirani, *An introduction to the bootstrap* (1993), chapters 13 and 14; DeLong, DeLong and
    Clarke-Pearson, Biometrics 44 (1988).

    Examples
    --------
    >>> y, scores = [0, 0, 0, 1, 0, 1, 1, 1], [1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0]
    >>> low, high, estimate, error = confidence_interval("auc", y, scores, method="delong")
    >>> round(low, 3), round(high, 3), round(estimate, 4), round(error, 4)
    (0.764, 1.0, 0.9375, 0.0884)
    """
    measure = measure_named(metric)
    check_number("confidence_level", confidence_level, above=0.0, below=1.0)
    level = float(confidence_level)
    check_method(method, measure, n_resamples)
    rankings = checked_rankings(y_true, [scores], sample_weight, pos_label)
    if method == "delong":
        estimate = ranking_auc(rankings[0], "half")
        error = float(np.sqrt(auc_covariance(rankings)[0, 0]))
        low, high = normal_ends(estimate, error, level)
        return ConfidenceInterval(max(low, 0.0), min(high, 1.0), estimate, error)
    [interval] = ranking_intervals(rankings[0], [measure], method, level, n_resamples, random_state)
    return interval


def ranking_intervals(
    ranking: Ranking,
    measures: Sequence[Callable[..., Any]],
    method: Method,
    level: float,
    n_resamples: int,
    random_state: Any,
) -> list[ConfidenceInterval]:
    """Return the bootstrap's intervals of several measures of a checked ranking, on resamples they share."""
    resampler = Resampler([ranking], *measures)
    estimates = resampler.on_data()
    found = bootstrap(resampler, np.eye(len(measures)), estimates, method, n_resamples, random_state)
    return [
        ConfidenceInterval(*resampled.ends(level), estimate, float(np.std(resampled.values, ddof=1)))
        for resampled, estimate in zip(found, estimates, strict=True)
    ]
