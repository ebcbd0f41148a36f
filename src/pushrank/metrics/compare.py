"""Whether one ranking of the same rows is better than another, beyond chance."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from pushrank._checks import check_number
from pushrank.metrics.auc import ranking_auc
from pushrank.metrics.bootstrap import Method, bootstrap, check_method, contrasted
from pushrank.metrics.delong import auc_covariance
from pushrank.metrics.intervals import normal_ends, normal_p_value
from pushrank.metrics.resampling import Resampler, checked_rankings, measure_named


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
    metric : str or callable, default="average_precision"
        A measure of this module that returns one number, or its name, a ``functools.partial`` of one, or any
        ``metric(y_true, scores)`` that takes a boolean array and scores and returns a number.
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
    Comparison
        A named tuple: ``low``, ``high``, ``difference``, ``p_value``.

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
    measure = measure_named(metric)
    check_number("confidence_level", confidence_level, above=0.0, below=1.0)
    level = float(confidence_level)
    check_method(method, measure, n_resamples)
    rankings = checked_rankings(y_true, [scores_a, scores_b], sample_weight, pos_label)
    contrast = np.array([1.0, -1.0])
    if method == "delong":
        difference = float(contrasted([ranking_auc(ranking, "half") for ranking in rankings], contrast))
        # rounding may leave the variance of equal rankings below zero
        error = float(np.sqrt(max(contrast @ auc_covariance(rankings) @ contrast, 0.0)))
        low, high = normal_ends(difference, error, level)
        return Comparison(low, high, difference, normal_p_value(difference, error))
    resampler = Resampler(rankings, measure)
    difference = float(contrasted(resampler.on_data(), contrast))
    [resampled] = bootstrap(resampler, contrast, [difference], method, n_resamples, random_state)
    return Comparison(*resampled.ends(level), difference, resampled.p_value())
