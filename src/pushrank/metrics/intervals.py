"""Confidence intervals and paired comparisons."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike
from scipy.stats import rankdata
from sklearn.utils import check_random_state

from pushrank._base.docstrings import shared_docs
from pushrank._base.numeric import Floats
from pushrank._base.user_types import Label, Seed
from pushrank._base.validation import warn
from pushrank.metrics._bootstrap import with_outer_row
from pushrank.metrics._proportions import clopper_pearson_interval, difference_of_hits_interval, newcombe
from pushrank.metrics._ranking import Ranking, checked_rankings
from pushrank.metrics._registry import BoundMetric, bind_metric, class_sizes
from pushrank.metrics._sampling import BOOTSTRAP_ROUNDING, Method, Sampling, contrast_intervals

# The bisection for a p-value halves so often: p-values are right to 1e-12.
MAX_P_VALUE_STEPS = 40
# Sums of weights miss the bounds of a proportion by rounding.
PROPORTION_ROUNDING = 1e-12
# Two lists that share all hits but this many differ by few rows: resamples then know a few values at most.
MIN_DISCORDANT_HITS = 10
# Resamples of fewer rows of a class know too little of its tails: see `_ends_of_few_rows`.
FEW_ROWS = 50
# Differences of fewer rows of a class have no interval: no test of them both holds its level and has power.
MIN_ROWS_OF_DIFFERENCES = 5
MIN_ROWS_OF_SCORES = 15
# So many draws give the least p-values of .005 and .002.
MIN_SWAPS, MAX_SWAPS = 199, 499


class ConfidenceInterval(NamedTuple):
    """An interval that holds the metric of the population with a stated confidence.

    Parameters
    ----------
    low, high : float
        Its ends.
    estimate : float
        The metric on the data.
    standard_error : float
        The estimated standard deviation of the metric.
    """

    low: float
    high: float
    estimate: float
    standard_error: float


@shared_docs
def confidence_interval(
    y_true: ArrayLike,
    scores: ArrayLike,
    metric: str | Callable[..., float] = "average_precision",
    *,
    method: Method = "bca",
    confidence_level: float = 0.95,
    n_resamples: int | None = None,
    value: ArrayLike | None = None,
    groups: ArrayLike | None = None,
    sample_weight: ArrayLike | None = None,
    pos_label: Label | None = None,
    random_state: Seed = None,
    **parameters: object,
) -> ConfidenceInterval:
    r"""Return an interval for the metric that the scores would have on the whole population.

    .. math:: P(\mathrm{low} \le \theta \le \mathrm{high}) \approx \text{confidence level}

    %(labels_and_scores resampling_parameters)s

    Returns
    -------
    ConfidenceInterval
        A named tuple: ``low``, ``high``, ``estimate``, ``standard_error``. The standard error is 0 if every
        resample has the same value.

    %(resampling_errors)s

    Warns
    -----
    UserWarning
        When there are fewer than 3 positives, or 3 negatives, for :func:`auc` and :func:`precision_at_k`, or
        fewer than 5 for others, or every resample has the same value, and the metric is no proportion:
        ``low`` and ``high`` are NaN.

    Notes
    -----
    :doc:`/measures` says where an interval is wider than resamples make it (a class of few rows, a proportion
    of 0 or 1), and how often intervals held the truth, the mean over lists of that size. A resample costs
    O(n), after one sort; metrics of more than the order, and functions of your own, take copied rows.

    Rows are assumed to be independent. With `groups` resamples draw whole groups, those that hold a positive
    apart from the others, and intervals allow for the number of groups instead of the rows (Davison and
    Hinkley, section 3.8). Metrics are assumed to vary smoothly with the data. The intervals of extremes, such
    as :func:`positives_at_top` and :func:`r_max`, show how much the number moves, not a coverage.

    Efron and Tibshirani, *An introduction to the bootstrap* (1993), chapters 13 and 14; DeLong, DeLong and
    Clarke-Pearson, Biometrics 44 (1988); Clopper and Pearson, Biometrika 26 (1934); Kish, *Survey sampling*
    (1965), for the effective number; Newcombe, Statistics in Medicine 25 (2006), method 5; Gaffke,
    Mathematical Methods of Statistics 14 (2005).

    Examples
    --------
    >>> y, scores = [0, 0, 0, 1, 0, 1, 1, 1], [1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0]
    >>> low, high, estimate, error = confidence_interval(y, scores, "auc", method="delong")
    >>> round(low, 3), round(high, 3), round(estimate, 4), round(error, 4)
    (0.513, 1.0, 0.9375, 0.0884)
    >>> low, high, *_ = confidence_interval(y, scores, "precision_at_k", k=3, random_state=0)
    >>> round(low, 3), high
    (0.292, 1.0)
    """
    sampling = Sampling(confidence_level, n_resamples, random_state, method)
    measured = _bound(metric, parameters, method, groups)
    [ranking] = checked_rankings(y_true, [scores], sample_weight, pos_label, value, groups)
    [interval] = ranking_intervals(ranking, [measured], sampling)
    _warn_of_no_interval(measured, interval.low, interval.estimate, measured.why_too_few(ranking))
    return interval


def _bound(
    metric: str | Callable[..., float], parameters: dict[str, object], method: str, groups: ArrayLike | None
) -> BoundMetric:
    """Return a metric with its parameters, which the method has an interval of."""
    measured = bind_metric(metric, **parameters)
    if method == "delong":
        has_influence = measured.spec.error.influence_values is not None
        if not has_influence or measured.parameters.get("ties", "half") != "half":
            raise ValueError("method='delong' is for metric='auc', ties='half'; use 'bootstrap' or 'bca'.")
        if groups is not None:
            raise ValueError(
                "method='delong' takes rows to be independent; of groups take 'bootstrap' or 'bca'."
            )
    return measured


def ranking_intervals(
    ranking: Ranking, metrics: Sequence[BoundMetric], sampling: Sampling
) -> list[ConfidenceInterval]:
    """Return the intervals of several metrics of a ranking, from the same resamples."""
    level, results = sampling.level, []
    _, estimates, intervals = contrast_intervals([ranking], metrics, [1.0], sampling)
    few = min(class_sizes(ranking)) < FEW_ROWS
    all_ends = _ends_of_few_rows(ranking, metrics, estimates, sampling) if few else [()] * len(metrics)
    for found, metric, estimate, ends in zip(intervals, metrics, estimates, all_ends, strict=True):
        joined = (*ends, *found.limits(level)) if not few or metric.spec.error.influence_values else ends
        limits = float(np.min(joined)), float(np.max(joined))
        is_constant = found.is_constant and limits[0] == limits[1]
        limits = safe_limits(limits, estimate, metric, ranking, level, is_constant=is_constant)
        interval = ConfidenceInterval(*limits, estimate, found.standard_error)
        none = ConfidenceInterval(np.nan, np.nan, estimate, np.nan)
        results.append(none if metric.why_too_few(ranking) else interval)
    return results


def _ends_of_few_rows(
    ranking: Ranking, metrics: Sequence[BoundMetric], estimates: Sequence[float], sampling: Sampling
) -> list[Sequence[float]]:
    """Return the ends of intervals that hold for a class of few rows, whose tails resamples do not know."""
    # Hits have Clopper and Pearson's limits, of the rows or of the positives, whichever are fewer. The area
    # under the ROC curve has Newcombe's, which are joined with those of its method. Other metrics have
    # percentiles of resamples with one more row of the class, at the best end of the list or at the worst, of
    # which as many rows are drawn as there were. With random weights in place of draws these are Gaffke's
    # limits for the mean of a bounded variable (Mathematical Methods of Statistics 14, 2005), which of hits
    # and misses are Clopper and Pearson's.
    sizes, percentiles, all_ends = class_sizes(ranking), replace(sampling, method="bootstrap"), []
    is_small, resampled = [n < FEW_ROWS for n in sizes], []
    others = any(not (m.spec.error.hits or m.spec.error.influence_values) for m in metrics)
    for best in (True, False) if others else ():
        longer = with_outer_row(ranking, is_small, best=best)
        resampled.append(contrast_intervals([longer], metrics, [1.0], percentiles, is_small)[2])
    for metric, estimate, *found in zip(metrics, estimates, *resampled, strict=True):
        ends: Sequence[float] = [end for interval in found for end in interval.limits(sampling.level)]
        if metric.spec.error.hits:
            trials = metric.spec.error.trials(ranking, **metric.parameters)
            n, unit = min(trials)
            hits, tail = min(max(estimate / unit, 0.0), 1.0) * n, 0.5 * (1.0 - sampling.level)
            most = min(unit for _, unit in trials)
            ends = [min(most, unit * float(end)) for end in clopper_pearson_interval(hits, n, tail)]
        elif metric.spec.error.influence_values:
            ends = newcombe(estimate, sizes[0], sizes[1], sampling.level)
        all_ends.append(ends)
    return all_ends


def safe_limits(
    limits: tuple[float, float],
    estimate: float,
    metric: BoundMetric,
    ranking: Ranking,
    level: float,
    *,
    is_constant: bool,
) -> tuple[float, float]:
    """Return an interval, widened to Clopper and Pearson's where resamples carry no information."""
    # That is so for a proportion of 0 or 1, and if all resamples have the same value; then a metric that is
    # no proportion has no interval, and the limits are NaN.
    trials = metric.spec.error.trials(ranking, **metric.parameters)
    if not trials and is_constant:
        return np.nan, np.nan
    # With one positive, five first rows hold at most one hit: the smallest unit bounds the metric.
    most = min((unit for _, unit in trials), default=np.inf)
    (low, high), least = limits, PROPORTION_ROUNDING
    at_bound = [trial for trial in trials if not least < estimate / trial.unit < 1.0 - least]
    for n, unit in at_bound[:1] or trials[:is_constant]:
        hits = min(max(estimate / unit, 0.0), 1.0) * n
        exact_low, exact_high = clopper_pearson_interval(hits, n, 0.5 * (1.0 - level))
        low = min(low, unit * float(exact_low))
        # With hits only, the upper limit is the estimate, which may miss the unit by rounding.
        if hits < n:
            high = max(high, min(most, unit * float(exact_high)))
    return low, high


def _warn_of_no_interval(metric: BoundMetric, low: float, value: float, too_few: str = "") -> None:
    if too_few:
        warn(f"{metric.spec.name} has no interval, NaN: {too_few}.")
    elif np.isnan(low):
        warn(
            f"{metric.spec.name} is {value:g} on every resample, which says nothing of its error: there is "
            "no interval, NaN. Proportions such as precision_at_k and auc have one."
        )


class Comparison(NamedTuple):
    """The difference of two rankings in a metric, the first minus the second.

    Parameters
    ----------
    low, high : float
        The ends of its confidence interval.
    difference : float
        The difference on the data.
    p_value : float
        The two-sided p-value of no difference: it is below one minus the confidence level if the interval
        does not hold zero, up to the rounding of the resamples. Without an interval it is 1 for no
        difference, else NaN.
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
    metric: str | Callable[..., float] = "average_precision",
    *,
    method: Method = "bca",
    confidence_level: float = 0.95,
    n_resamples: int | None = None,
    value: ArrayLike | None = None,
    groups: ArrayLike | None = None,
    sample_weight: ArrayLike | None = None,
    pos_label: Label | None = None,
    random_state: Seed = None,
    **parameters: object,
) -> Comparison:
    r"""Return the difference of two rankings of the same rows in a metric, with an interval and a p-value.

    .. math:: \theta(y, s_a) - \theta(y, s_b)

    Both rankings are measured on the same resamples, so that their common variation cancels. What
    :func:`confidence_interval` says of independent rows, groups and extremes holds here too, and the cost is
    that of two calls of it. How much a model changes with its training data does not show.

    Where resamples know too little, as of two lists that share nearly all their hits, the interval comes from
    exact limits of either list's own hits (Zou and Donner 2008; :doc:`/measures`): the more similar two lists
    are, the narrower it is. Of fewer than 50 rows or groups of a class "bootstrap" is "bca", and the
    interval also holds what a test by 499 draws or fewer does not reject: rows, or groups, swap at random
    the ranks that both models give them, which changes nothing where models are alike (Venkatraman and
    Begg, Biometrika 83, 1996).

    Davison and Hinkley, *Bootstrap methods and their application* (1997), chapters 4 and 5; DeLong, DeLong
    and Clarke-Pearson, Biometrics 44 (1988).

    Parameters
    ----------
    y_true : array-like of shape (n,)
    scores_a, scores_b : array-like of shape (n,)
        Finite scores of the same rows, the higher the better.
    %(resampling_parameters)s

    Returns
    -------
    Comparison
        A named tuple: ``low``, ``high``, ``difference``, ``p_value``.

    %(resampling_errors)s

    Warns
    -----
    UserWarning
        When every resample has the same difference, and the metric is no proportion, or a class has fewer
        than 5 rows or groups, of a metric of the scores themselves 15, and it is none of hits: the ends and
        the p-value are NaN.

    Examples
    --------
    >>> y, other = [0, 0, 0, 0, 1, 0, 1, 1, 1, 1] * 3, [9, 1, 2, 3, 4, 5, 6, 7, 8, 0] * 3
    >>> comparison = compare(y, [*range(10)] * 3, other, "auc", method="delong")
    >>> round(comparison.difference, 4), comparison.p_value < 0.05
    (0.36, True)
    """
    sampling = Sampling(confidence_level, n_resamples, random_state, method)
    measured = _bound(metric, parameters, method, groups)
    rankings = checked_rankings(y_true, [scores_a, scores_b], sample_weight, pos_label, value, groups)
    [comparison] = ranking_differences(rankings, [measured], sampling)
    _warn_of_no_interval(
        measured, comparison.low, comparison.difference, _why_no_difference(measured, rankings)
    )
    return comparison


def ranking_differences(
    rankings: Sequence[Ranking], metrics: Sequence[BoundMetric], sampling: Sampling
) -> list[Comparison]:
    """Return the differences of two rankings in several metrics, from the same resamples."""
    level, swapped = sampling.level, dict[int, Floats]()
    if min(class_sizes(rankings[0])) < FEW_ROWS:
        swapped = _differences_of_swapped(rankings, metrics, sampling)
        # Of few rows or groups percentiles are too narrow, which Student's quantile of bca widens.
        sampling = replace(sampling, method="bca" if sampling.method == "bootstrap" else sampling.method)
    estimates, differences, intervals = contrast_intervals(rankings, metrics, [1.0, -1.0], sampling)
    comparisons = []
    for number, (interval, metric, difference) in enumerate(
        zip(intervals, metrics, differences, strict=True)
    ):
        limits = interval.limits(level)
        p_value = np.nan if np.isnan(limits[0]) else interval.p_value()
        comparison = Comparison(*limits, difference, p_value)
        if (of_hits := _comparison_of_hits(metric, rankings, difference, level)) is not None:
            comparison = of_hits
        # Three hits of three against none of three: nearly all resamples agree, and the limits are equal.
        elif interval.is_constant or comparison.low == comparison.high:
            both = estimates[:, number].tolist()
            comparison = _safe_comparison(comparison, both, metric, rankings, level)
        elif _why_no_difference(metric, rankings):
            comparison = Comparison(np.nan, np.nan, difference, np.nan)
        elif number in swapped:
            comparison = _joined(comparison, np.abs(swapped[number]), level)
        # No difference exceeds the largest value of its metric; the one found may by rounding.
        units = [unit for _, unit in metric.spec.error.trials(rankings[0], **metric.parameters)]
        most = max(abs(difference), min(units, default=np.inf))
        # These keep NaN, unlike min and max.
        low, high = float(np.maximum(comparison.low, -most)), float(np.minimum(comparison.high, most))
        comparisons.append(comparison._replace(low=low, high=high))
    return comparisons


def _why_no_difference(metric: BoundMetric, rankings: Sequence[Ranking]) -> str:
    """Return why a difference has no interval, for want of rows of a class; an empty text if it has one."""
    # Of hits limits are exact. Scores of two models, which a metric may use, are not of one scale.
    least = MIN_ROWS_OF_SCORES if metric.spec.uses_scores else MIN_ROWS_OF_DIFFERENCES
    units = "positives and negatives" if rankings[0].groups is None else "groups of positives and of others"
    if metric.spec.error.hits or (n := min(class_sizes(rankings[0]))) >= least:
        return ""
    return f"a difference takes {least} {units}, found {n:.3g}"


def _differences_of_swapped(
    rankings: Sequence[Ranking], metrics: Sequence[BoundMetric], sampling: Sampling
) -> dict[int, Floats]:
    """Return differences, of metrics of the order, where rows or groups swap the ranks of both rankings."""
    first, random = rankings[0], check_random_state(sampling.random_state)
    ranks = [rankdata(ranking.scores) for ranking in rankings]
    units = np.arange(first.n_rows) if first.groups is None else first.groups
    tested = [j for j, of in enumerate(metrics) if not (of.spec.uses_scores or of.spec.error.hits)]
    # A p-value below that of the level takes more draws.
    few = max(MIN_SWAPS, sampling.number(first.n_rows) // 4, int(2.0 / (1.0 - sampling.level)))
    n_draws = min(few, MAX_SWAPS)
    differences = np.zeros((n_draws, len(tested)))
    for row in differences if tested else ():
        is_swapped = random.random(int(units.max()) + 1)[units] < 0.5
        both = [first.with_scores(np.where(is_swapped, *of)) for of in (ranks, ranks[::-1])]
        first_values, second_values = ([of.evaluate(metrics[j].call) for j in tested] for of in both)
        row[:] = np.subtract(first_values, second_values)
    return dict(zip(tested, differences.T, strict=True))


def _joined(comparison: Comparison, swapped: Floats, level: float) -> Comparison:
    """Return a comparison whose interval also holds the differences that swapped ranks do not reject."""
    # Where two models are alike, rows could as well have the ranks of the other: an exact test.
    difference, n = comparison.difference, len(swapped) + 1
    rank = min(int(np.ceil(level * n - BOOTSTRAP_ROUNDING)), n - 1)
    reach = float(np.sort(swapped)[rank - 1])
    p_value = float(1 + np.count_nonzero(swapped >= abs(difference) - BOOTSTRAP_ROUNDING)) / n
    low, high = min(comparison.low, difference - reach), max(comparison.high, difference + reach)
    return Comparison(low, high, difference, max(comparison.p_value, p_value))


def _comparison_of_hits(
    metric: BoundMetric, rankings: Sequence[Ranking], difference: float, level: float
) -> Comparison | None:
    """Return the comparison of two lists by the hits not shared, if too few for resamples; else None."""
    # Hits and the rows on one list only are divided by the effective weight of a row, or of a group (Kish).
    # Of lists that share all their rows, but in another order, one row is taken to be on each alone.
    error = metric.spec.error
    if error.hits is None or metric.parameters.get("ties", "half") != "half" or _same_order(*rankings):
        return None
    (first, worth), (second, _) = (error.hits(ranking, **metric.parameters) for ranking in rankings)
    more, is_positive, groups = first - second, rankings[0].is_positive, rankings[0].groups
    sums = np.abs(more) if groups is None else np.bincount(groups, np.abs(more))
    unit = float(sums @ sums) / float(sums.sum()) if sums.any() else 1.0
    # Ties leave small parts of many rows to one list.
    unit = max(unit, 1.0) if rankings[0].weights is None else unit
    hits, rows = (
        tuple(float(np.maximum(sign * part, 0.0).sum()) / unit for sign in (1.0, -1.0))
        for part in (more[is_positive], more)
    )
    if sum(hits) >= MIN_DISCORDANT_HITS:
        return None
    on_each, worth = (max(rows[0], 1.0), max(rows[1], 1.0)), unit * worth

    def limits(miss: float) -> tuple[float, float]:
        low, high = difference_of_hits_interval((hits[0], hits[1]), on_each, miss)
        return low * worth, high * worth

    low, high = limits(1.0 - level)
    # The difference may miss a limit at its bound by rounding.
    low, high = min(low, difference), max(high, difference)
    return Comparison(low, high, difference, _p_value_by_limits(limits))


def _safe_comparison(
    comparison: Comparison,
    estimates: Sequence[float],
    metric: BoundMetric,
    rankings: Sequence[Ranking],
    level: float,
) -> Comparison:
    """Return the comparison by Clopper and Pearson's intervals, for resamples without information."""
    if _same_order(*rankings):
        return comparison

    def limits(miss: float) -> tuple[float, float]:
        (low_a, high_a), (low_b, high_b) = (
            safe_limits((e, e), e, metric, ranking, 1.0 - 0.5 * miss, is_constant=True)
            for ranking, e in zip(rankings, estimates, strict=True)
        )
        return low_a - high_b, high_a - low_b

    low, high = limits(1.0 - level)
    difference = comparison.difference
    if np.isnan(low):
        return Comparison(low, high, difference, 1.0 if difference == 0.0 else np.nan)
    return Comparison(low, high, difference, _p_value_by_limits(limits))


def _same_order(first: Ranking, second: Ranking) -> bool:
    a, b = (np.unique(ranking.scores, return_inverse=True)[1] for ranking in (first, second))
    return np.array_equal(a, b)


def _p_value_by_limits(limits: Callable[[float], tuple[float, float]]) -> float:
    """Return the least miss of an interval without zero, by bisection; 1 if all intervals hold zero."""
    least, most = 0.0, 1.0
    for _ in range(MAX_P_VALUE_STEPS):
        middle = 0.5 * (least + most)
        low, high = limits(middle)
        least, most = (middle, most) if low <= 0.0 <= high else (least, middle)
    return most
