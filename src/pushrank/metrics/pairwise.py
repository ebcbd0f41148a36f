"""Heights, p-norm errors and margins: what pairs of a positive and a negative say."""

from __future__ import annotations

from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import logsumexp

from pushrank._numeric import Floats
from pushrank._validation import check_number
from pushrank.metrics._docstrings import shared_docs
from pushrank.metrics._ranking import (
    RankCounts,
    Ranking,
    Ties,
    evaluate_metric,
    register_metric,
    register_rank_metric,
    tied_error,
)


@shared_docs
def height(
    y_true: ArrayLike,
    scores: ArrayLike,
    *,
    ties: Ties = "pessimistic",
    sample_weight: ArrayLike | None = None,
    pos_label: Any = None,
) -> Floats:
    r"""Return the height of every negative: how many positives it is ranked above.

    .. math:: \mathrm{Height}(k) = \sum_i w_i\, 1[s_i \le t_k]

    Parameters
    ----------
    %(ranking ties_in_pairs sample_weight pos_label)s

    Returns
    -------
    ndarray of float64, shape (number of negatives,)
        In the order of the negatives' rows, each between 0 and the weight of the positives.

    %(ties_errors)s

    Notes
    -----
    O(n log n). With ``ties="pessimistic"`` a positive tied with the negative counts, as in the paper.

    References
    ----------
    Rudin, *The P-Norm Push*, JMLR 10 (2009), section 2.

    Examples
    --------
    >>> height([0, 1, 0, 1], [1.0, 2.0, 2.0, 3.0]).tolist()
    [0.0, 1.0]
    """
    ranking = Ranking(y_true, scores, sample_weight, pos_label)
    below = ranking.positives_below(ties)
    heights: Floats = below[ranking.negative_bin_index]
    return heights


@shared_docs
def reverse_height(
    y_true: ArrayLike,
    scores: ArrayLike,
    *,
    ties: Ties = "pessimistic",
    sample_weight: ArrayLike | None = None,
    pos_label: Any = None,
) -> Floats:
    r"""Return the reverse height of every positive: how many negatives are ranked above it.

    .. math:: \mathrm{rHeight}(i) = \sum_k w_k\, 1[s_i \le t_k]

    Parameters
    ----------
    %(ranking ties_in_pairs sample_weight pos_label)s

    Returns
    -------
    ndarray of float64, shape (number of positives,)
        In the order of the positives' rows, each between 0 and the weight of the negatives.

    %(ties_errors)s

    Notes
    -----
    O(n log n). With ``ties="pessimistic"`` a negative tied with the positive counts, as in the paper.

    References
    ----------
    Rudin, *The P-Norm Push*, JMLR 10 (2009), section 7.

    Examples
    --------
    >>> reverse_height([0, 1, 0, 1], [1.0, 2.0, 2.0, 3.0]).tolist()
    [1.0, 0.0]
    """
    ranking = Ranking(y_true, scores, sample_weight, pos_label)
    above = ranking.negatives_above(ties)
    heights: Floats = above[ranking.positive_threshold_index]
    return heights


@register_rank_metric
def r_max(
    y_true: ArrayLike,
    scores: ArrayLike,
    *,
    ties: Ties = "pessimistic",
    sample_weight: ArrayLike | None = None,
    pos_label: Any = None,
) -> Any:
    r"""Return the largest height of a negative: how many positives lie below the best negative.

    .. math:: R_{\max} = \max_k \mathrm{Height}(k) = \lim_{p \to \infty} R_{p,1}^{1/p}

    Parameters
    ----------
    %(rankings ties_in_pairs sample_weight pos_label)s

    Returns
    -------
    float, or ndarray of shape (n_rankings,)
        Between 0 and the weight of the positives; the lower the better.

    %(ties_errors)s

    Notes
    -----
    O(n), without sorting. A negative of weight zero does not count.

    References
    ----------
    Rudin, *The P-Norm Push*, JMLR 10 (2009), section 2; Agarwal, *The Infinite Push*, SDM 2011.

    Examples
    --------
    >>> r_max([1, 0, 1, 1], [4.0, 3.0, 2.0, 3.0])
    2.0
    """
    return evaluate_metric(ranking_r_max, y_true, scores, sample_weight, pos_label, ties)


def ranking_r_max(ranking: RankCounts, ties: Ties) -> float:
    """Return the metric of a ranking that has been checked."""
    best = ranking.around_best_negative()
    return ranking.total_positive - best.positives_above - (1.0 - tied_error(ties)) * best.positives_tied


@register_rank_metric
def rp_error(
    y_true: ArrayLike,
    scores: ArrayLike,
    p: float = 1.0,
    *,
    scale: Literal["raw", "log"] = "raw",
    ties: Ties = "pessimistic",
    sample_weight: ArrayLike | None = None,
    pos_label: Any = None,
) -> Any:
    r"""Return the p-norm ranking error: the heights of the negatives to the power p, summed.

    .. math:: R_{p,1} = \sum_k w_k\, \mathrm{Height}(k)^p

    Parameters
    ----------
    %(rankings)s
    p : float, default=1.0
        The power, at least 1; the larger, the more a negative near the top costs.
    scale : {"raw", "log"}, default="raw"
        ``R`` itself, infinite where it exceeds the largest float, or ``(1/p) ln R``, finite for every p but
        ``-inf`` for a ranking without errors.
    %(ties_in_pairs sample_weight pos_label)s

    Returns
    -------
    float, or ndarray of shape (n_rankings,)
        At least 0 on the raw scale; the lower the better.

    Raises
    ------
    TypeError
        When `p` is not a number.
    ValueError
        When there are not two classes, a score is not finite, lengths differ, or
        `p`, `scale` or `ties` is out of range.

    Notes
    -----
    O(n log n). With p = 1 and half ties it is the number of misranked pairs, (1 - AUC) I K.

    References
    ----------
    Rudin, *The P-Norm Push*, JMLR 10 (2009), section 2.

    Examples
    --------
    >>> rp_error([1, 0, 1, 0], [4.0, 3.0, 2.0, 1.0], p=2)
    1.0
    >>> round(rp_error([0, 1, 1, 0], [4.0, 3.0, 2.0, 1.0], p=1000, scale="log"), 4)
    0.6931
    """
    return evaluate_metric(ranking_rp_error, y_true, scores, sample_weight, pos_label, p, scale, ties)


def ranking_rp_error(ranking: RankCounts, p: float, scale: str, ties: Ties) -> float:
    """Return the error of a ranking that has been checked."""
    check_number("p", p, 1.0)
    if scale not in ("raw", "log"):
        raise ValueError(f"scale must be 'raw' or 'log', got {scale!r}.")
    heights, weights = ranking.positives_below(ties), ranking.negative_counts
    occupied = (heights > 0.0) & (weights > 0.0)
    if not occupied.any():
        return 0.0 if scale == "raw" else -np.inf
    heights, weights = heights[occupied], weights[occupied]
    if scale == "raw":
        with np.errstate(over="ignore"):
            return float(np.sum(weights * heights ** float(p)))
    largest = float(heights.max())
    return float(np.log(largest) + np.log(np.sum(weights * (heights / largest) ** float(p))) / p)


@register_metric
def margin(
    y_true: ArrayLike,
    scores: ArrayLike,
    *,
    norm: float = 1.0,
    sample_weight: ArrayLike | None = None,
    pos_label: Any = None,
) -> Any:
    r"""Return the least margin of a pair: the worst positive's score less the best negative's.

    .. math:: \mu = \frac{1}{\|\lambda\|_1} \bigl(\min_i s_i - \max_k t_k\bigr)

    Parameters
    ----------
    %(rankings norm)s
    sample_weight : array-like of shape (n,), optional
        Non-negative weights; rows of weight zero do not count.
    %(pos_label)s

    Returns
    -------
    float, or ndarray of shape (n_rankings,)
        In units of the scores; positive where all pairs are ranked rightly, 0 for a tie.

    %(norm_errors)s

    Notes
    -----
    O(n). It depends on the scores and not on their order alone.

    References
    ----------
    Rudin, Cortes, Mohri and Schapire, *Margin-based ranking meets boosting in the middle*, COLT 2005,
    section 2.

    Examples
    --------
    >>> margin([1, 1, 0], [3.0, 2.5, 1.0], norm=2.0)
    0.75
    """
    return evaluate_metric(ranking_margin, y_true, scores, sample_weight, pos_label, norm)


@register_metric
def smooth_margin(
    y_true: ArrayLike,
    scores: ArrayLike,
    *,
    norm: float = 1.0,
    sample_weight: ArrayLike | None = None,
    pos_label: Any = None,
) -> Any:
    r"""Return the smooth margin of a ranking: its margin from below, softened over all pairs.

    .. math:: G = -\frac{1}{\|\lambda\|_1} \ln \sum_i \sum_k w_i w_k\, e^{-(s_i - t_k)}

    Parameters
    ----------
    %(rankings norm sample_weight pos_label)s

    Returns
    -------
    float, or ndarray of shape (n_rankings,)
        In units of the scores. At most :func:`margin` (for weights of one), and below it by no more than the
        logarithm of the number of pairs over the norm.

    %(norm_errors)s

    Notes
    -----
    O(n): the sum over pairs is a product of two sums.

    References
    ----------
    Rudin, Cortes, Mohri and Schapire, *Margin-based ranking meets boosting in the middle*, COLT 2005,
    section 4.2.

    Examples
    --------
    >>> round(smooth_margin([1, 1, 0], [3.0, 3.0, 1.0]), 4)
    1.3069
    """
    return evaluate_metric(ranking_smooth_margin, y_true, scores, sample_weight, pos_label, norm)


def ranking_smooth_margin(ranking: Ranking, norm: float) -> float:
    """Return the smooth margin of a ranking that has been checked."""
    check_number("norm", norm, above=0.0)
    log_positives = float(logsumexp(-ranking.positive_scores, b=ranking.positive_weights))
    log_negatives = float(logsumexp(ranking.negative_scores, b=ranking.negative_weights))
    return -(log_positives + log_negatives) / float(norm)


def ranking_margin(ranking: Ranking, norm: float) -> float:
    """Return the margin of a ranking that has been checked."""
    check_number("norm", norm, above=0.0)
    positives = _counted(ranking.positive_scores, ranking.positive_weights)
    negatives = _counted(ranking.negative_scores, ranking.negative_weights)
    return float(positives.min() - negatives.max()) / float(norm)


def _counted(scores: Floats, weights: Floats | None) -> Floats:
    return scores if weights is None else scores[weights > 0.0]
