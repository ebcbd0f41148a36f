"""Metrics of pairs of a positive and a negative: heights, p-norm errors and margins."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike
from scipy.optimize import brentq
from scipy.special import logsumexp

from pushrank._base.docstrings import metric_docs
from pushrank._base.numeric import Floats
from pushrank._base.user_types import Label
from pushrank._base.validation import check_choice, check_number
from pushrank.metrics._counts import RankCounts, Ties, tied_error
from pushrank.metrics._ranking import Ranking
from pushrank.metrics._registry import Figure, SamplingError, Trials, evaluate, register_metric


@metric_docs
def height(
    y_true: ArrayLike,
    scores: ArrayLike,
    *,
    ties: Ties = "pessimistic",
    sample_weight: ArrayLike | None = None,
    pos_label: Label | None = None,
) -> Floats:
    r"""Return the height of every negative: the number of positives that it is ranked above.

    .. math:: \mathrm{Height}(k) = \sum_i w_i\, 1[s_i \le t_k]

    O(n log n). With ``ties="pessimistic"`` a positive tied with the negative counts, as in the paper. Rudin,
    *The P-Norm Push*, JMLR 10 (2009), section 2.

    %(labels_and_scores ties_of_pairs weight_parameters)s

    Returns
    -------
    ndarray of float64, shape (number of negatives,)
        In the order of the negatives' rows, each between 0 and the weight of the positives.

    Examples
    --------
    >>> height([0, 1, 0, 1], [1.0, 2.0, 2.0, 3.0]).tolist()
    [0.0, 1.0]
    """
    ranking = Ranking(y_true, scores, sample_weight, pos_label)
    return np.asarray(ranking.positives_below(ties)[ranking.negative_bin_index])


@metric_docs
def reverse_height(
    y_true: ArrayLike,
    scores: ArrayLike,
    *,
    ties: Ties = "pessimistic",
    sample_weight: ArrayLike | None = None,
    pos_label: Label | None = None,
) -> Floats:
    r"""Return the reverse height of every positive: the number of negatives that are ranked above it.

    .. math:: \mathrm{rHeight}(i) = \sum_k w_k\, 1[s_i \le t_k]

    O(n log n). With ``ties="pessimistic"`` a negative tied with the positive counts, as in the paper. Rudin,
    *The P-Norm Push*, JMLR 10 (2009), section 7.

    %(labels_and_scores ties_of_pairs weight_parameters)s

    Returns
    -------
    ndarray of float64, shape (number of positives,)
        In the order of the positives' rows, each between 0 and the weight of the negatives.

    Examples
    --------
    >>> reverse_height([0, 1, 0, 1], [1.0, 2.0, 2.0, 3.0]).tolist()
    [1.0, 0.0]
    """
    ranking = Ranking(y_true, scores, sample_weight, pos_label)
    return np.asarray(ranking.negatives_above(ties)[ranking.positive_threshold_index])


def positive_trials(ranking: Ranking, **parameters: object) -> list[Trials]:
    """Return the positives as trials of a metric that counts some of them, or their share."""
    unit = 1.0 if parameters.get("normalize") else ranking.total_positive
    return [Trials(ranking.effective_number(ranking.is_positive), unit)]


EXTREME = SamplingError(resampled=False, trials=positive_trials)
"""The best negative alone decides. Resamples repeat it or miss it, so their spread is no standard error."""


BELOW = Figure("positives_below_best_negative", "positives that the best negative stands above", extra=True)


@register_metric(error=EXTREME, greater_is_better=False, figures=[BELOW])
def r_max(
    y_true: ArrayLike,
    scores: ArrayLike,
    *,
    ties: Ties = "pessimistic",
    sample_weight: ArrayLike | None = None,
    pos_label: Label | None = None,
) -> Any:
    r"""Return the largest height of a negative: the number of positives below the best negative.

    .. math:: R_{\max} = \max_k \mathrm{Height}(k) = \lim_{p \to \infty} R_{p,1}^{1/p}

    O(n), without sorting. A negative of weight zero does not count. Rudin, *The P-Norm Push*, JMLR 10 (2009),
    section 2; Agarwal, *The Infinite Push*, SDM 2011.

    %(labels_and_rankings ties_of_pairs weight_parameters number_or_array)s
        Between 0 and the weight of the positives; the lower the better.

    Examples
    --------
    >>> r_max([1, 0, 1, 1], [4.0, 3.0, 2.0, 3.0])
    2.0
    """
    error = tied_error(ties)

    def largest_height(ranking: RankCounts) -> float:
        best = ranking.around_best_negative()
        return ranking.total_positive - best.positives_above - (1.0 - error) * best.positives_tied

    return evaluate(largest_height, y_true, scores, sample_weight, pos_label)


@register_metric(
    greater_is_better=False,
    scorers={"rp_error": {}, "log_rp_error": {"p": 4.0, "scale": "log"}},
    figures=[
        Figure("push_error", "p-norm error, p = 4, from 0 to 1", {"p": 4.0, "scale": "mean"}, extra=True)
    ],
)
def rp_error(
    y_true: ArrayLike,
    scores: ArrayLike,
    p: float = 1.0,
    *,
    scale: Literal["raw", "log", "mean"] = "raw",
    ties: Ties = "pessimistic",
    sample_weight: ArrayLike | None = None,
    pos_label: Label | None = None,
) -> Any:
    r"""Return the p-norm ranking error: the heights of the negatives to the power p, summed.

    .. math:: R_{p,1} = \sum_k w_k\, \mathrm{Height}(k)^p

    O(n log n). With p = 1 and half ties it is the number of misranked pairs, (1 - AUC) I K. Rudin, *The
    P-Norm Push*, JMLR 10 (2009), section 2; the mean is that of section 4.

    %(labels_and_rankings)s
    p : float, default=1.0
        The power, at least 1; the larger, the more a negative near the top costs.
    scale : {"raw", "log", "mean"}, default="raw"
        ``R`` itself, infinite where it exceeds the largest float; ``(1/p) ln R``, finite for every p but
        ``-inf`` for a ranking without errors; or the power mean of the heights as shares of the positives,
        ``(R / K)^(1/p) / I`` with I positives and K negatives, from 0 to 1 for every p.
    %(ties_of_pairs weight_parameters number_or_array)s
        At least 0, except on the log scale; the lower the better.

    Examples
    --------
    >>> rp_error([1, 0, 1, 0], [4.0, 3.0, 2.0, 1.0], p=2)
    1.0
    >>> round(rp_error([0, 1, 1, 0], [4.0, 3.0, 2.0, 1.0], p=1000, scale="log"), 4)
    0.6931
    """
    check_number("p", p, 1.0)
    check_choice("scale", scale, ("raw", "log", "mean"))

    def error(ranking: RankCounts) -> float:
        heights, weights = ranking.positives_below(ties), ranking.negative_counts
        occupied = (heights > 0.0) & (weights > 0.0)
        if not occupied.any():
            return -np.inf if scale == "log" else 0.0
        heights, weights = heights[occupied], weights[occupied]
        if scale == "raw":
            with np.errstate(over="ignore"):
                return float(np.sum(weights * heights ** float(p)))
        # Powers of heights over the largest height do not overflow.
        largest = float(heights.max())
        power_sum = float(np.sum(weights * (heights / largest) ** float(p)))
        if scale == "log":
            return math.log(largest) + math.log(power_sum) / p
        return largest / ranking.total_positive * math.pow(power_sum / ranking.total_negative, 1.0 / p)

    return evaluate(error, y_true, scores, sample_weight, pos_label)


@register_metric(greater_is_better=False)
def rg_error(
    y_true: ArrayLike,
    scores: ArrayLike,
    price: Callable[[Floats], Floats] = np.square,
    *,
    scale: Literal["raw", "mean"] = "raw",
    ties: Ties = "pessimistic",
    sample_weight: ArrayLike | None = None,
    pos_label: Label | None = None,
) -> Any:
    r"""Return the ranking error under any price of the heights.

    .. math:: R_{g,1} = \sum_k w_k\, g(\mathrm{Height}(k))

    O(n log n), with one price for each distinct height. The mean takes a root search. Rudin, *The P-Norm
    Push*, JMLR 10 (2009), sections 2 and 3.

    %(labels_and_rankings)s
    price : callable or Price, default=numpy.square
        The increasing function g from an array of heights to an array of the same shape: a NumPy function, a
        function of your own, or a price of :mod:`pushrank.prices`, such as ``LogOnePlus()``.
    scale : {"raw", "mean"}, default="raw"
        ``R`` itself, or the generalised mean of the heights under g, as a share of the positives:
        :math:`g^{-1}(R / K) / I` with I positives and K negatives, from 0 to 1 for every g. For
        :math:`g = h^p` it is the power mean of :func:`rp_error`.
    %(ties_of_pairs weight_parameters number_or_array)s
        The lower the better.

    Examples
    --------
    >>> y, scores = [1, 0, 1, 1, 0], [5.0, 4.0, 3.0, 2.0, 1.0]
    >>> rg_error(y, scores), round(rg_error(y, scores, np.log1p), 4)
    (4.0, 1.0986)
    >>> round(rg_error(y, scores, np.log1p, scale="mean"), 4)
    0.244
    """
    if not callable(price := getattr(price, "value", price)):
        raise TypeError(f"price must be a price or a function of an array of heights, got {price!r}.")
    check_choice("scale", scale, ("raw", "mean"))

    def error(ranking: RankCounts) -> float:
        occupied = ranking.negative_counts > 0.0
        heights, weights = ranking.positives_below(ties)[occupied], ranking.negative_counts[occupied]
        total = float(weights @ np.asarray(price(heights), dtype=np.float64))
        if scale == "raw":
            return total
        return _height_of_price(price, total / ranking.total_negative, heights) / ranking.total_positive

    return evaluate(error, y_true, scores, sample_weight, pos_label)


def _height_of_price(price: Callable[[Floats], Floats], mean: float, heights: Floats) -> float:
    """Return the height whose price is the mean price of some heights, by a root search."""
    if not math.isfinite(mean):
        raise ValueError(f"the mean price of the heights is {mean}; choose a price that grows more slowly.")

    def excess(height: float) -> float:
        return float(np.asarray(price(np.array([height])))[0]) - mean

    lowest, highest = float(heights.min()), float(heights.max())
    # If all heights are equal, rounding may leave the mean outside the prices of both ends.
    if excess(lowest) >= 0.0:
        return lowest
    return float(brentq(excess, lowest, highest)) if excess(highest) > 0.0 else highest


@register_metric(uses_scores=True, greater_is_better=False)
def margin_error(
    y_true: ArrayLike,
    scores: ArrayLike,
    theta: float = 0.0,
    p: float = 1.0,
    *,
    ties: Ties = "pessimistic",
    sample_weight: ArrayLike | None = None,
    pos_label: Label | None = None,
) -> Any:
    r"""Return the p-norm ranking error with a margin: a pair is right if its margin exceeds theta.

    .. math::

        R_{p,1,\theta} = \Bigl(\frac1K \sum_k \Bigl(\frac1I \sum_i
        1[s_i - t_k \le \theta]\Bigr)^p\Bigr)^{1/p} ,

    which for p = 1 is :math:`P_S\{\mathrm{margin} \le \theta\}`, the share of pairs whose margin is at most
    theta. At p = inf it is the largest mean over i, that of the best negative.

    O(n log n): it is :func:`rp_error` on its mean scale, with the scores of the positives lowered by theta.
    The lowered scores are floats: where a margin equals theta but for rounding, such as .4 - .1 and .3,
    rounding decides. Multiples of a power of two are exact. Rudin, *The P-Norm Push*, JMLR 10 (2009), section
    4; Rudin, Cortes, Mohri and Schapire, *Margin-based ranking meets boosting in the middle*, COLT 2005,
    theorem 1; Agarwal, *The Infinite Push*, SDM 2011, section 5.

    %(labels_and_rankings)s
    theta : float, default=0.0
        The margin, at least 0, in units of the scores.
    p : float, default=1.0
        The power, at least 1 and possibly infinite; the larger, the more a negative near the top costs.
    %(ties_of_pairs)s
        A pair whose margin is theta counts as tied: with ``p=np.inf, ties="optimistic"``, which counts
        margins below theta alone, the error is Agarwal's :math:`R_\infty^\gamma`, (5.23).
    %(weight_parameters number_or_array)s
        Between 0 and 1; the lower the better.

    Examples
    --------
    >>> y, scores = [1, 0, 1, 1, 0], [5.0, 4.0, 3.0, 2.0, 1.0]
    >>> margin_error(y, scores), margin_error(y, scores, theta=1.5), margin_error(y, scores, 1.5, p=1000)
    (0.3333333333333333, 0.6666666666666666, 0.9993070929904525)
    >>> margin_error(y, scores, 1.0, p=np.inf), margin_error(y, scores, 1.0, p=np.inf, ties="optimistic")
    (1.0, 0.6666666666666666)
    """
    check_number("theta", theta, 0.0)

    def error(ranking: Ranking) -> float:
        lowered = ranking.with_scores(ranking.scores - theta * ranking.is_positive)
        if p == np.inf:
            return float(lowered.evaluate(r_max, ties=ties)) / ranking.total_positive
        return lowered.evaluate(rp_error, p=p, scale="mean", ties=ties)

    return evaluate(error, y_true, scores, sample_weight, pos_label, 1.0)


# Margins are in units of the scores, so models cannot be compared by them: there are no scorers.
@register_metric(uses_scores=True, scorers={})
def margin(
    y_true: ArrayLike,
    scores: ArrayLike,
    *,
    norm: float = 1.0,
    sample_weight: ArrayLike | None = None,
    pos_label: Label | None = None,
) -> Any:
    r"""Return the least margin of a pair: the worst positive's score less the best negative's.

    .. math:: \mu = \frac{1}{\|\lambda\|_1} \bigl(\min_i s_i - \max_k t_k\bigr)

    O(n). It depends on the values of the scores, not only on their order. Rudin, Cortes, Mohri and Schapire,
    *Margin-based ranking meets boosting in the middle*, COLT 2005, section 2.

    %(labels_and_rankings)s
    norm : float
    sample_weight : array-like of shape (n,), optional
        Non-negative weights; rows of weight zero do not count.
    pos_label : label, optional

    %(number_or_array)s
        In units of the scores; positive where all pairs are ranked rightly, 0 for a tie.

    Examples
    --------
    >>> margin([1, 1, 0], [3.0, 2.5, 1.0], norm=2.0)
    0.75
    """
    check_number("norm", norm, above=0.0)

    def least_margin(ranking: Ranking) -> float:
        counted = ranking.without_weightless_rows()
        return float(counted.positive_scores.min() - counted.negative_scores.max()) / float(norm)

    return evaluate(least_margin, y_true, scores, sample_weight, pos_label)


@register_metric(uses_scores=True, scorers={})
def smooth_margin(
    y_true: ArrayLike,
    scores: ArrayLike,
    *,
    norm: float = 1.0,
    sample_weight: ArrayLike | None = None,
    pos_label: Label | None = None,
) -> Any:
    r"""Return the smooth margin of a ranking: its margin from below, softened over all pairs.

    .. math:: G = -\frac{1}{\|\lambda\|_1} \ln \sum_i \sum_k w_i w_k\, e^{-(s_i - t_k)}

    O(n): the sum over pairs is a product of two sums. Rudin, Cortes, Mohri and Schapire, *Margin-based
    ranking meets boosting in the middle*, COLT 2005, section 4.2.

    %(labels_and_rankings)s
    norm : float
    %(weight_parameters number_or_array)s
        In units of the scores. With weights of one it is at most :func:`margin`, and below it by at most the
        logarithm of the number of pairs over the norm.

    Examples
    --------
    >>> round(smooth_margin([1, 1, 0], [3.0, 3.0, 1.0]), 4)
    1.3069
    """
    check_number("norm", norm, above=0.0)

    def soft_margin(ranking: Ranking) -> float:
        # The sum over pairs is a product of two sums, whose logarithms cannot overflow.
        log_positives = float(logsumexp(-ranking.positive_scores, b=ranking.positive_weights))
        log_negatives = float(logsumexp(ranking.negative_scores, b=ranking.negative_weights))
        return -(log_positives + log_negatives) / float(norm)

    return evaluate(soft_margin, y_true, scores, sample_weight, pos_label)
