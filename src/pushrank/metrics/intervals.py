"""Confidence intervals and paired comparisons."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import ndtr, ndtri

from pushrank._validation import check_number
from pushrank.metrics._bootstrap import (
    Method,
    StratifiedBootstrap,
    bootstrap_intervals,
    check_method,
    checked_rankings,
    contrasted,
    resolve_metric,
)
from pushrank.metrics._docstrings import shared_docs
from pushrank.metrics._ranking import Ranking
from pushrank.metrics.roc import auc_covariance, ranking_auc


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


@shared_docs
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
    %(metric ranking resampling)s

    Returns
    -------
    ConfidenceInterval
        A named tuple: ``low``, ``high``, ``estimate``, ``standard_error``.

    Raises
    ------
    %(resampling_errors)s

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
    measure = resolve_metric(metric)
    check_number("confidence_level", confidence_level, above=0.0, below=1.0)
    level = float(confidence_level)
    check_method(method, measure, n_resamples)
    rankings = checked_rankings(y_true, [scores], sample_weight, pos_label)
    if method == "delong":
        estimate = ranking_auc(rankings[0], "half")
        error = float(np.sqrt(auc_covariance(rankings)[0, 0]))
        low, high = _normal_interval(estimate, error, level)
        return ConfidenceInterval(max(low, 0.0), min(high, 1.0), estimate, error)
    [interval] = ranking_intervals(rankings[0], [measure], method, level, n_resamples, random_state)
    return interval


def ranking_intervals(
    ranking: Ranking,
    metrics: Sequence[Callable[..., Any]],
    method: Method,
    level: float,
    n_resamples: int,
    random_state: Any,
) -> list[ConfidenceInterval]:
    """Return the bootstrap's intervals of several metrics of a checked ranking, on resamples they share."""
    bootstrap = StratifiedBootstrap([ranking], *metrics)
    estimates = bootstrap.evaluate_data()
    intervals = bootstrap_intervals(
        bootstrap, np.eye(len(metrics)), estimates, method, n_resamples, random_state
    )
    return [
        ConfidenceInterval(*interval.limits(level), estimate, float(np.std(interval.values, ddof=1)))
        for interval, estimate in zip(intervals, estimates, strict=True)
    ]


class Comparison(NamedTuple):
    """The difference of two rankings in a measure, first less second.

    Parameters
    ----------
    low, high : float
        The ends of its confidence interval.
    difference : float
        The difference on the data.
    p_value : float
        The two-sided p-value of no difference: it is below one less the confidence level where the interval
        does not hold zero, up to the rounding of the resamples.

    Examples
    --------
    >>> Comparison(0.01, 0.05, 0.03, 0.002).difference
    0.03
    """

    low: float
    high: float
    difference: float
    p_value: float


@shared_docs
def compare(
    y_true: ArrayLike,
    scores_a: ArrayLike,
    scores_b: ArrayLike,
    metric: str | Callable[..., Any] = "average_precision",
    *,
    method: Method = "bca",
    confidence_level: float = 0.95,
    n_resamples: int = 2000,
    sample_weight: ArrayLike | None = None,
    pos_label: Any = None,
    random_state: Any = None,
) -> Comparison:
    r"""Return the difference of two rankings of the same rows, with an interval and a p-value.

    .. math:: \theta(y, s_a) - \theta(y, s_b)

    Parameters
    ----------
    y_true : array-like of shape (n,)
        Labels of two values.
    scores_a, scores_b : array-like of shape (n,)
        Finite scores of the same rows, the higher the better.
    %(metric resampling)s

    Returns
    -------
    Comparison
        A named tuple: ``low``, ``high``, ``difference``, ``p_value``.

    Raises
    ------
    %(resampling_errors)s

    Notes
    -----
    Rows are taken to be independent, as in :func:`confidence_interval`; where they come in clusters, the
    interval is too narrow and the p-value too small.

    Both rankings are measured on the same resamples, so that what they share cancels. It compares two given
    rankings on one set of rows; it does not know how much a model changes with its training data. The cost is
    that of two calls of :func:`confidence_interval`, and what is said there of extremes holds here.

    References
    ----------
    Davison and Hinkley, *Bootstrap methods and their application* (1997), chapters 4 and 5; DeLong, DeLong
    and Clarke-Pearson, Biometrics 44 (1988).

    Examples
    --------
    >>> y = [0, 0, 0, 1, 0, 1, 1, 1]
    >>> found = compare(y, [1, 2, 3, 4, 5, 6, 7, 8], [8, 2, 3, 4, 5, 6, 7, 1], "auc", method="delong")
    >>> round(found.difference, 4), found.p_value < 0.05
    (0.4375, False)
    """
    measure = resolve_metric(metric)
    check_number("confidence_level", confidence_level, above=0.0, below=1.0)
    level = float(confidence_level)
    check_method(method, measure, n_resamples)
    rankings = checked_rankings(y_true, [scores_a, scores_b], sample_weight, pos_label)
    contrast = np.array([1.0, -1.0])
    if method == "delong":
        difference = float(contrasted([ranking_auc(ranking, "half") for ranking in rankings], contrast))
        # rounding may leave the variance of equal rankings below zero
        error = float(np.sqrt(max(contrast @ auc_covariance(rankings) @ contrast, 0.0)))
        low, high = _normal_interval(difference, error, level)
        return Comparison(low, high, difference, _normal_p_value(difference, error))
    bootstrap = StratifiedBootstrap(rankings, measure)
    difference = float(contrasted(bootstrap.evaluate_data(), contrast))
    [interval] = bootstrap_intervals(bootstrap, contrast, [difference], method, n_resamples, random_state)
    return Comparison(*interval.limits(level), difference, interval.p_value())


def _normal_interval(estimate: float, standard_error: float, confidence_level: float) -> tuple[float, float]:
    """Return the normal interval around an estimate."""
    reach = float(ndtri(0.5 * (1.0 + confidence_level))) * standard_error
    return estimate - reach, estimate + reach


def _normal_p_value(difference: float, standard_error: float) -> float:
    """Return the two-sided p-value of a difference; 1 where it and its error are both zero."""
    if standard_error == 0.0:
        return 1.0 if difference == 0.0 else 0.0
    return float(2.0 * ndtr(-abs(difference) / standard_error))
