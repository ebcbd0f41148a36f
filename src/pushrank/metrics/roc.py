"""The ROC curve: areas, their covariance, and a band for the left edge."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.stats import beta, binom

from pushrank._numeric import Floats
from pushrank._validation import check_number
from pushrank.metrics._docstrings import shared_docs
from pushrank.metrics._ranking import (
    Ranking,
    evaluate_metric,
    misranked_share,
    register_rank_metric,
    roc_area,
    sort,
)
from pushrank.metrics._ties import RankCounts, Ties, tied_error


@register_rank_metric
def auc(
    y_true: ArrayLike,
    scores: ArrayLike,
    *,
    ties: Ties = "half",
    sample_weight: ArrayLike | None = None,
    pos_label: Any = None,
) -> Any:
    r"""Return the share of pairs of a positive and a negative that are ranked rightly.

    .. math:: \mathrm{AUC} = 1 - \frac{1}{W_+ W_-} \sum_k w_k\, \mathrm{Height}(k)

    Parameters
    ----------
    y_true : array-like of shape (n,)
        %(y_true)s
    scores : array-like of shape (n,) or (n_rankings, n)
        %(score_table)s
    ties : {"pessimistic", "half", "optimistic"}
        %(ties_in_pairs)s
    sample_weight : array-like of shape (n,), optional
        %(sample_weight)s
    pos_label : label, optional
        %(pos_label)s

    %(unit_interval)s

    %(ties_errors)s

    Notes
    -----
    O(n log n). With half ties it equals scikit-learn's ``roc_auc_score``.

    References
    ----------
    Hanley and McNeil, *The meaning and use of the area under a ROC curve*, Radiology 143 (1982).

    Examples
    --------
    >>> auc([0, 1, 0, 1], [1.0, 2.0, 2.0, 3.0])
    0.875
    """
    return evaluate_metric(ranking_auc, y_true, scores, sample_weight, pos_label, ties)


def ranking_auc(ranking: RankCounts, ties: Ties) -> float:
    """Return the metric of a ranking that has been checked."""
    counts = ranking.positive_counts, ranking.negative_counts
    totals = ranking.total_positive, ranking.total_negative
    return 1.0 - float(misranked_share((0.0, 0.0), *counts, *totals, tied_error(ties))[1])


@register_rank_metric
def partial_auc(
    y_true: ArrayLike,
    scores: ArrayLike,
    max_fpr: float = 0.1,
    *,
    min_tpr: float = 0.0,
    standardize: bool = True,
    ties: Ties = "half",
    sample_weight: ArrayLike | None = None,
    pos_label: Any = None,
) -> Any:
    r"""Return the area under the ROC curve at low false-positive and high true-positive rates.

    .. math:: A(\alpha, \beta) = \int_0^\alpha \bigl[\mathrm{TPR}(u) - \beta\bigr]_+ \, du

    with :math:`\alpha` the largest false-positive rate and :math:`\beta` the least true-positive rate
    (0 for the one-way partial AUC). Standardised, it is

    .. math:: \frac12 \Bigl(1 + \frac{A - A_0}{\alpha (1 - \beta) - A_0}\Bigr) , \quad
        A_0 = \tfrac12 [\alpha - \beta]_+^2 ,

    where :math:`A_0` is the area of a random order: 1 is perfect, and 1/2 is chance.

    Parameters
    ----------
    y_true : array-like of shape (n,)
        %(y_true)s
    scores : array-like of shape (n,) or (n_rankings, n)
        %(score_table)s
    max_fpr : float, default=0.1
        The largest false-positive rate, in (0, 1].
    min_tpr : float, default=0.0
        The least true-positive rate, in [0, 1), for the two-way partial AUC.
    standardize : bool, default=True
        Return McClish's standardised area in place of the area itself.
    ties : {"pessimistic", "half", "optimistic"}, default="half"
        Where classes tie, the curve goes right first, straight across, or up first.
    sample_weight : array-like of shape (n,), optional
        %(sample_weight)s
    pos_label : label, optional
        %(pos_label)s

    Returns
    -------
    float, or ndarray of shape (n_rankings,)
        At most 1; the higher the better.

    Raises
    ------
    TypeError
        When `max_fpr` or `min_tpr` is not a number.
    ValueError
        When there are not two classes, a score is not finite, lengths differ, or `max_fpr`, `min_tpr` or
        `ties` is out of range.

    Notes
    -----
    O(n log n). With half ties and ``min_tpr=0`` it equals scikit-learn's ``roc_auc_score(max_fpr=...)``.

    References
    ----------
    McClish, *Analyzing a portion of the ROC curve*, Medical Decision Making 9 (1989); Yang, Lu, Lyu and Hu,
    *Two-way partial AUC and its properties*, Statistical Methods in Medical Research 28 (2019).

    Examples
    --------
    >>> y, scores = [0, 1, 0, 1, 1], [1.0, 2.0, 3.0, 4.0, 5.0]
    >>> round(partial_auc(y, scores, 0.5, standardize=False), 4), round(partial_auc(y, scores, 1.0), 4)
    (0.3333, 0.8333)
    """
    return evaluate_metric(
        ranking_partial_auc,
        y_true,
        scores,
        sample_weight,
        pos_label,
        max_fpr,
        min_tpr,
        ties,
        standardize=standardize,
    )


def ranking_partial_auc(
    ranking: RankCounts, max_fpr: float, min_tpr: float, ties: Ties, *, standardize: bool
) -> float:
    """Return the metric of a ranking that has been checked."""
    error = tied_error(ties)
    check_number("max_fpr", max_fpr, above=0.0, most=1.0)
    check_number("min_tpr", min_tpr, 0.0, below=1.0)
    positive_shares = ranking.positive_counts / ranking.total_positive
    negative_shares = ranking.negative_counts / ranking.total_negative
    width = float(max_fpr)
    area = float(roc_area(positive_shares, negative_shares, error, width, min_tpr))
    if not standardize:
        return area
    chance = 0.5 * max(width - min_tpr, 0.0) ** 2
    return 0.5 * (1.0 + (area - chance) / (width * (1.0 - min_tpr) - chance))


def auc_covariance(rankings: Sequence[Ranking]) -> Floats:
    r"""Return the covariance of the areas of rankings of the same rows, shape (n_rankings, n_rankings).

    The area is the mean of the placements of the positives :math:`V_i = 1 - \mathrm{rHeight}(i) / W_-`, and
    of those of the negatives :math:`V_k = 1 - \mathrm{Height}(k) / W_+`, ties counting one half. Its
    covariance is estimated by the sum over both classes of that of the placements over the number of rows;
    with weights, by that of their weighted mean.

    It takes at least two rows of each class.

    Notes
    -----
    O(n log n), in place of O(positives x negatives) (Sun and Xu, IEEE Signal Processing Letters 21, 2014).

    References
    ----------
    DeLong, DeLong and Clarke-Pearson, *Comparing the areas under two or more correlated receiver operating
    characteristic curves*, Biometrics 44 (1988).
    """

    def placements(ranking: Ranking) -> tuple[Floats, Floats]:
        negatives_above, positives_below = ranking.negatives_above("half"), ranking.positives_below("half")
        return (
            1.0 - negatives_above[ranking.positive_threshold_index] / ranking.total_negative,
            1.0 - positives_below[ranking.negative_bin_index] / ranking.total_positive,
        )

    positives, negatives = (np.stack(rows) for rows in zip(*map(placements, rankings), strict=True))
    first = rankings[0]
    return _covariance_of_means(positives, first.positive_weights) + _covariance_of_means(
        negatives, first.negative_weights
    )


def _covariance_of_means(placements: Floats, weights: Floats | None) -> Floats:
    """Return the covariance of the weighted means of rows that were drawn independently."""
    shares = np.full(placements.shape[1], 1.0) if weights is None else weights / weights.max()
    n_rows = np.count_nonzero(shares)
    if n_rows < 2:
        raise ValueError("DeLong's variance needs at least 2 rows of each class, found 1 of a class.")
    shares = shares / shares.sum()
    deviations = shares * (placements - (placements @ shares)[:, None])
    covariance: Floats = deviations @ deviations.T * (n_rows / (n_rows - 1))
    return covariance


class RocBand(NamedTuple):
    """An ROC curve and its confidence band, at some false-positive rates.

    Parameters
    ----------
    false_positive_rate : ndarray of shape (n_points,)
        Where the curve is read, ascending.
    true_positive_rate : ndarray of shape (n_points,)
        The curve of the data.
    low, high : ndarray of shape (n_points,)
        The ends of the band.

    Examples
    --------
    >>> band = RocBand(*np.array([[0.0, 0.1], [0.2, 0.5], [0.1, 0.3], [0.4, 0.7]]))
    >>> band.low.tolist()
    [0.1, 0.3]
    """

    false_positive_rate: Floats
    true_positive_rate: Floats
    low: Floats
    high: Floats


@shared_docs
def roc_band(
    y_true: ArrayLike,
    scores: ArrayLike,
    *,
    max_fpr: float = 0.1,
    false_positive_rates: ArrayLike | None = None,
    simultaneous: bool = False,
    confidence_level: float = 0.95,
    pos_label: Any = None,
) -> RocBand:
    r"""Return the ROC curve at low false-positive rates, with a band that holds for every number of rows.

    .. math:: \mathrm{ROC}(u) = \sup \{ P(S > t) : P(T > t) \le u \}

    for the scores S of positives and T of negatives.

    Parameters
    ----------
    y_true : array-like of shape (n,)
        %(y_true)s
    scores : array-like of shape (n,)
        %(scores)s
    max_fpr : float, default=0.1
        The largest false-positive rate of the 51 that are read by default, from 0 on, in (0, 1].
    false_positive_rates : array-like of shape (n_points,), optional
        The rates to read in place of those, each from 0 to 1.
    simultaneous : bool, default=False
        Whether the band holds the curve at all points at once, or at each by itself.
    confidence_level : float, default=0.95
        At least this is the chance that the band holds the true curve, strictly between 0 and 1.
    pos_label : label, optional
        %(pos_label)s

    Returns
    -------
    RocBand
        A named tuple: ``false_positive_rate``, ``true_positive_rate``, ``low``, ``high``.

    Raises
    ------
    TypeError
        When a rate or the level is not a number.
    ValueError
        When there are not two classes, a score is not finite, or a rate or the level is out of range.

    Notes
    -----
    O(n log n + n_points log n). No normality and no resampling: at the left edge few negatives decide, where
    both fail. With :math:`\delta = 1 - {}` level, divided by the number of points where it is simultaneous:

    - the k-th highest of K negatives has a false-positive rate at most :math:`\mathrm{Beta}(k, K - k + 1)`
      distributed (equal without ties). So with the largest k for which
      :math:`P(\mathrm{Bin}(K, u) < k) \le \delta / 4`, it exceeds u with a chance of at most
      :math:`\delta / 4`, and then ROC(u) is at least the share of positives above that negative;
    - that share has the lower end of Clopper and Pearson for :math:`\delta / 4`, since positives are
      independent of negatives.

    The upper end mirrors both steps, with the smallest k for which
    :math:`P(\mathrm{Bin}(K, u) \ge k) \le \delta / 4` and the positives at or above that negative. The four
    chances add up to :math:`\delta`, so the band is valid for any number of rows and any ties, and wider than
    need be. Between points, a simultaneous band goes right from each low end and left from each high end.

    References
    ----------
    Derived here from the binomial intervals of Clopper and Pearson, Biometrika 26 (1934), and the
    distribution of order statistics; compare the joint regions of Campbell, Statistics in Medicine 13 (1994).

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> y = np.repeat([1, 0], 500)
    >>> band = roc_band(y, rng.normal(size=1000) + 2 * y, false_positive_rates=[0.05])
    >>> band.true_positive_rate.round(2).item(), band.low.round(2).item(), band.high.round(2).item()
    (0.7, 0.49, 0.79)
    """
    check_number("confidence_level", confidence_level, above=0.0, below=1.0)
    miss = 1.0 - float(confidence_level)
    rates = _checked_rates(max_fpr, false_positive_rates)
    ranking = Ranking(y_true, scores, None, pos_label)
    positives = sort(ranking.positive_scores)
    # above every score, the negatives in descending order, below every score: the thresholds by number
    descending = sort(ranking.negative_scores)[::-1]
    thresholds = np.concatenate([[np.inf], descending, [-np.inf]])
    n_negatives = len(descending)
    quarter = 0.25 * miss / (len(rates) if simultaneous else 1)

    # the largest k with P(Bin < k) <= q, and the smallest with P(Bin >= k) <= q, up to one past the last
    lower = _largest(lambda k: binom.cdf(k - 1, n_negatives, rates) <= quarter, len(rates), n_negatives)
    upper = (
        n_negatives
        + 1
        - _largest(
            lambda k: binom.sf(n_negatives - k, n_negatives, rates) <= quarter, len(rates), n_negatives
        )
    )
    n_positives = len(positives)
    surely = n_positives - np.searchsorted(positives, thresholds[lower], side="right")
    perhaps = n_positives - np.searchsorted(positives, thresholds[upper], side="left")
    # a rate such as 0.29 times 100 falls short of the whole number by rounding
    passed = np.floor(rates * n_negatives * (1.0 + 1e-12)).astype(int)
    found = n_positives - np.searchsorted(positives, thresholds[1 + passed], side="right")
    low = np.where(surely > 0, beta.ppf(quarter, np.maximum(surely, 1), n_positives - surely + 1), 0.0)
    high = np.where(
        perhaps < n_positives,
        beta.ppf(1.0 - quarter, perhaps + 1, np.maximum(n_positives - perhaps, 1)),
        1.0,
    )
    return RocBand(rates, found / n_positives, low, high)


def _largest(holds: Any, n_points: int, most: int) -> NDArray[np.int64]:
    """Return at each point the largest k up to ``most`` for which a falling condition holds, by bisection."""
    low = np.zeros(n_points, dtype=np.int64)
    high = np.full(n_points, most, dtype=np.int64)
    while (low < high).any():
        middle = (low + high + 1) // 2
        held = holds(middle)
        low = np.where(held, middle, low)
        high = np.where(held, high, middle - 1)
    return low


def _checked_rates(max_fpr: float, false_positive_rates: ArrayLike | None) -> Floats:
    if false_positive_rates is None:
        check_number("max_fpr", max_fpr, above=0.0, most=1.0)
        return np.linspace(0.0, float(max_fpr), 51)
    rates = np.unique(np.asarray(false_positive_rates, dtype=np.float64))
    if len(rates) == 0 or not (rates[0] >= 0.0 and rates[-1] <= 1.0):
        raise ValueError("false_positive_rates must be numbers from 0 to 1, at least one.")
    return rates
