"""Precision, recall and lift of the first rows, and how many positives are above every negative."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import digamma

from pushrank._numeric import Floats
from pushrank._validation import check_number
from pushrank.metrics._docstrings import shared_docs
from pushrank.metrics._ranking import (
    K_ROUNDING,
    METRICS,
    Ranking,
    counts_around_recall,
    depth_in_rows,
    evaluate_metric,
    register_rank_metric,
    round_up_to_rows,
    sum_precisions,
)
from pushrank.metrics._ties import CutCounts, RankCounts, Ties, negatives_above, tied_error
from pushrank.metrics.discounted import ranking_average_reciprocal_rank, ranking_discounted_cumulative_gain
from pushrank.metrics.pairwise import ranking_r_max, ranking_rp_error
from pushrank.metrics.roc import ranking_auc


@register_rank_metric
def precision_at_k(
    y_true: ArrayLike,
    scores: ArrayLike,
    k: int | None = None,
    *,
    fraction: float | None = None,
    fraction_of_positives: float | None = None,
    ties: Ties = "half",
    sample_weight: ArrayLike | None = None,
    pos_label: Any = None,
) -> Any:
    r"""Return the share of positives among the k highest scores.

    .. math:: \mathrm{prec@}k = \frac{1}{k} \sum_{i} 1[\mathrm{rank}(i) \le k]

    Parameters
    ----------
    y_true : array-like of shape (n,)
        %(y_true)s
    scores : array-like of shape (n,) or (n_rankings, n)
        %(score_table)s
    k : int, optional
        %(k)s
    fraction : float, optional
        %(fraction)s
    fraction_of_positives : float, optional
        %(fraction_of_positives)s
    ties : {"pessimistic", "half", "optimistic"}
        %(ties_at_end)s
    sample_weight : array-like of shape (n,), optional
        %(sample_weight)s
    pos_label : label, optional
        %(pos_label)s

    %(unit_interval)s

    %(depth_errors)s

    Notes
    -----
    O(n), by selection; O(n log n) with weights.

    References
    ----------
    Kar, Narasimhan and Jain, *Surrogate functions for maximizing precision at the top*, ICML 2015.

    Examples
    --------
    >>> y, scores = [1, 0, 1, 1, 0], [5.0, 4.0, 3.0, 2.0, 1.0]
    >>> precision_at_k(y, scores, 2), round(precision_at_k(y, scores, fraction_of_positives=1.0), 4)
    (0.5, 0.6667)
    """
    return evaluate_metric(
        ranking_precision_at_k,
        y_true,
        scores,
        sample_weight,
        pos_label,
        k,
        fraction,
        fraction_of_positives,
        ties,
    )


def ranking_precision_at_k(
    ranking: RankCounts, k: Any, fraction: Any, fraction_of_positives: Any, ties: Ties = "half"
) -> float:
    """Return the metric of a ranking that has been checked."""
    n_rows = depth_in_rows(ranking, k, fraction, fraction_of_positives)
    return ranking.positives_in_top(n_rows, ties) / n_rows


@register_rank_metric
def recall_at_k(
    y_true: ArrayLike,
    scores: ArrayLike,
    k: int | None = None,
    *,
    fraction: float | None = None,
    fraction_of_positives: float | None = None,
    ties: Ties = "half",
    sample_weight: ArrayLike | None = None,
    pos_label: Any = None,
) -> Any:
    r"""Return the share of the positives that are among the k highest scores.

    .. math:: \mathrm{recall@}k = \frac{1}{W_+} \sum_{i} w_i\, 1[\mathrm{rank}(i) \le k]

    Parameters
    ----------
    y_true : array-like of shape (n,)
        %(y_true)s
    scores : array-like of shape (n,) or (n_rankings, n)
        %(score_table)s
    k : int, optional
        %(k)s
    fraction : float, optional
        %(fraction)s
    fraction_of_positives : float, optional
        %(fraction_of_positives)s
    ties : {"pessimistic", "half", "optimistic"}
        %(ties_at_end)s
    sample_weight : array-like of shape (n,), optional
        %(sample_weight)s
    pos_label : label, optional
        %(pos_label)s

    %(unit_interval)s

    %(depth_errors)s

    Notes
    -----
    O(n), by selection; O(n log n) with weights. As a function of ``fraction`` it is called the cumulative
    gain.

    References
    ----------
    Manning, Raghavan and Schuetze, *Introduction to Information Retrieval* (2008), section 8.4; Ling and Li,
    *Data mining for direct marketing: problems and solutions*, KDD 1998, for the cumulative gain.

    Examples
    --------
    >>> y, scores = [1, 0, 1, 0, 1, 1], [6.0, 5.0, 4.0, 3.0, 2.0, 1.0]
    >>> recall_at_k(y, scores, 3), recall_at_k(y, scores, fraction=0.5)
    (0.5, 0.5)
    """
    return evaluate_metric(
        ranking_recall_at_k,
        y_true,
        scores,
        sample_weight,
        pos_label,
        k,
        fraction,
        fraction_of_positives,
        ties,
    )


def ranking_recall_at_k(
    ranking: RankCounts, k: Any, fraction: Any, fraction_of_positives: Any, ties: Ties
) -> float:
    """Return the metric of a ranking that has been checked."""
    n_rows = depth_in_rows(ranking, k, fraction, fraction_of_positives)
    return ranking.positives_in_top(n_rows, ties) / ranking.total_positive


@register_rank_metric
def positives_at_top(
    y_true: ArrayLike,
    scores: ArrayLike,
    *,
    normalize: bool = False,
    ties: Ties = "pessimistic",
    sample_weight: ArrayLike | None = None,
    pos_label: Any = None,
) -> Any:
    r"""Return the number of positives ranked above all negatives.

    .. math:: \sum_i w_i\, 1[s_i > \max_k t_k]

    Parameters
    ----------
    y_true : array-like of shape (n,)
        %(y_true)s
    scores : array-like of shape (n,) or (n_rankings, n)
        %(score_table)s
    normalize : bool, default=False
        Return the share of the positives in place of their number.
    ties : {"pessimistic", "half", "optimistic"}
        %(ties_in_pairs)s
    sample_weight : array-like of shape (n,), optional
        %(sample_weight)s
    pos_label : label, optional
        %(pos_label)s

    Returns
    -------
    float, or ndarray of shape (n_rankings,)
        Between 0 and the weight of the positives, or 1 when normalised; the higher the better.

    %(ties_errors)s

    Notes
    -----
    O(n), without sorting. A positive tied with the best negative counts nothing, one half, or one, by the
    rule of ties: by default nothing, as the paper counts those strictly above. It is the weight of the
    positives less :func:`r_max`.

    References
    ----------
    Agarwal, *The Infinite Push*, SDM 2011, section 6.

    Examples
    --------
    >>> positives_at_top([1, 1, 0, 1], [4.0, 3.5, 3.0, 2.0])
    2.0
    """
    return evaluate_metric(
        ranking_positives_at_top, y_true, scores, sample_weight, pos_label, ties, normalize=normalize
    )


def ranking_positives_at_top(ranking: RankCounts, ties: Ties, *, normalize: bool = False) -> float:
    """Return the metric of a ranking that has been checked."""
    best = ranking.around_best_negative()
    found = best.positives_above + (1.0 - tied_error(ties)) * best.positives_tied
    return found / ranking.total_positive if normalize else found


@register_rank_metric
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
        %(y_true)s
    scores : array-like of shape (n,) or (n_rankings, n)
        %(score_table)s
    ties : {"pessimistic", "half", "optimistic"}, default="half"
        Where rows tie: negatives come first; all rows of the tie enter together, as in scikit-learn; or
        positives come first.
    sample_weight : array-like of shape (n,), optional
        %(sample_weight)s
    pos_label : label, optional
        %(pos_label)s

    %(unit_interval)s

    %(ties_errors)s

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
    return evaluate_metric(ranking_average_precision, y_true, scores, sample_weight, pos_label, ties)


def ranking_average_precision(ranking: RankCounts, ties: Ties) -> float:
    """Return the metric of a ranking that has been checked."""
    counts = ranking.positive_counts, ranking.negative_counts
    return float(add_precisions((0.0, 0.0, 0.0), *counts, ties)[2] / ranking.total_positive)


PrecisionState = tuple[float, float, float]


def add_precisions(
    state: PrecisionState, positive_counts: Floats, negative_counts: Floats, ties: Ties
) -> PrecisionState:
    """Return the weights of both classes and the sum of the precisions at the positives, further down a list.

    The sum is taken in the order of the list, so that a list in parts, the state of each being that of the
    part above, has the same.
    """
    if tied_error(ties) == 0.5:
        walked: PrecisionState = sum_precisions(state, positive_counts, negative_counts)
        return walked
    positives, negatives, total = state
    found = _sum_precisions_one_by_one(
        positive_counts,
        positives + (np.cumsum(positive_counts[::-1])[::-1] - positive_counts),
        negatives + negatives_above(negative_counts, tied_error(ties)),
    )
    total = float(np.cumsum(np.append(total, found[::-1]))[-1])  # unlike np.sum, one after the other
    return positives + float(positive_counts.sum()), negatives + float(negative_counts.sum()), total


def _sum_precisions_one_by_one(positives: Floats, positives_above: Floats, negatives_above: Floats) -> Floats:
    """Return ``sum_j (above + j) / (above + j + negatives_above)`` for j = 1..positives, by digammas."""
    start = positives_above + negatives_above + 1.0
    harmonic = np.where(positives == 1.0, 1.0 / start, digamma(start + positives) - digamma(start))
    sums: Floats = positives - negatives_above * harmonic
    return sums


@register_rank_metric
def precision_at_recall(
    y_true: ArrayLike,
    scores: ArrayLike,
    recall: float = 0.5,
    *,
    ties: Ties = "half",
    sample_weight: ArrayLike | None = None,
    pos_label: Any = None,
) -> Any:
    r"""Return the share of positives in the shortest list that finds a given share of them.

    .. math:: \mathrm{prec@recall}(r) = \frac{h}{h + \mathrm{rHeight}(i)}

    where positive i is the one with which the weight h found reaches the recall r.

    Parameters
    ----------
    y_true : array-like of shape (n,)
        %(y_true)s
    scores : array-like of shape (n,) or (n_rankings, n)
        %(score_table)s
    recall : float, default=0.5
        The share of the positives to be found, in (0, 1].
    ties : {"pessimistic", "half", "optimistic"}, default="half"
        Where rows tie at the end of the list: negatives come first; all rows of the tie enter together, a
        point of scikit-learn's ``precision_recall_curve``; or positives come first. In the first and last
        case the list ends at the row that reaches the recall; with weights that are not whole numbers, at the
        part of it that does.
    sample_weight : array-like of shape (n,), optional
        %(sample_weight)s
    pos_label : label, optional
        %(pos_label)s

    %(unit_interval)s

    Raises
    ------
    TypeError
        When `recall` is not a number.
    ValueError
        When there are not two classes, a score is not finite, lengths differ, or
        `recall` or `ties` is out of range.

    Notes
    -----
    O(n log n).

    References
    ----------
    Manning, Raghavan and Schuetze, *Introduction to Information Retrieval* (2008), section 8.4.

    Examples
    --------
    >>> y, scores = [1, 0, 1, 1, 0], [5.0, 4.0, 3.0, 2.0, 1.0]
    >>> precision_at_recall(y, scores, 0.3), precision_at_recall(y, scores, 1.0)
    (1.0, 0.75)
    """
    return evaluate_metric(
        ranking_precision_at_recall, y_true, scores, sample_weight, pos_label, recall, ties
    )


def ranking_precision_at_recall(ranking: RankCounts, recall: float, ties: Ties) -> float:
    """Return the metric of a ranking that has been checked."""
    error = tied_error(ties)
    check_number("recall", recall, above=0.0, most=1.0)
    needed = float(recall) * ranking.total_positive
    cut = CutCounts(
        *counts_around_recall(ranking.positive_counts, ranking.negative_counts, needed * (1.0 - K_ROUNDING))
    )
    if error == 0.5:
        positives = cut.positives_above + cut.positives_tied
        negatives = cut.negatives_above + cut.negatives_tied
    else:
        positives = round_up_to_rows(needed, ranking)
        negatives = cut.negatives_above + error * cut.negatives_tied
    return float(positives / (positives + negatives))


@register_rank_metric
def recall_at_precision(
    y_true: ArrayLike,
    scores: ArrayLike,
    precision: float = 0.5,
    *,
    ties: Ties = "half",
    sample_weight: ArrayLike | None = None,
    pos_label: Any = None,
) -> Any:
    r"""Return the largest share of the positives that a list of a given precision finds.

    .. math:: \mathrm{recall@prec}(q) = \max \{\mathrm{recall@}k : \mathrm{prec@}k \ge q\}

    Parameters
    ----------
    y_true : array-like of shape (n,)
        %(y_true)s
    scores : array-like of shape (n,) or (n_rankings, n)
        %(score_table)s
    precision : float, default=0.5
        The share of positives that the list must hold at least, in (0, 1].
    ties : {"pessimistic", "half", "optimistic"}, default="half"
        Lists end at the end of a tie, all rows of it included, a point of scikit-learn's
        ``precision_recall_curve``; with ``"optimistic"`` at its last positive, positives first.
    sample_weight : array-like of shape (n,), optional
        %(sample_weight)s
    pos_label : label, optional
        %(pos_label)s

    Returns
    -------
    float, or ndarray of shape (n_rankings,)
        Between 0 and 1, and 0 where no list is so precise; the higher the better.

    Raises
    ------
    TypeError
        When `precision` is not a number.
    ValueError
        When there are not two classes, a score is not finite, lengths differ, or
        `precision` or `ties` is out of range.

    Notes
    -----
    O(n log n). Precision rises and falls down a list: of all lists that are precise enough it is the longest.
    On a part of the rows, lists of a few rows are precise by chance.

    References
    ----------
    Eban et al., *Scalable learning of non-decomposable objectives*, AISTATS 2017.

    Examples
    --------
    >>> y, scores = [0, 1, 1, 0, 1], [5.0, 4.0, 3.0, 2.0, 1.0]
    >>> recall_at_precision(y, scores, 0.6), round(recall_at_precision(y, scores, 0.65), 4)
    (1.0, 0.6667)
    """
    return evaluate_metric(
        ranking_recall_at_precision, y_true, scores, sample_weight, pos_label, precision, ties
    )


def ranking_recall_at_precision(ranking: RankCounts, precision: float, ties: Ties) -> float:
    """Return the metric of a ranking that has been checked."""
    check_number("precision", precision, above=0.0, most=1.0)
    found, precisions = _precision_recall_curve(ranking, ties)
    # sums of weights miss a share that they stand for by rounding
    enough = found[precisions >= float(precision) * (1.0 - K_ROUNDING)]
    return float(enough[-1] / ranking.total_positive) if len(enough) else 0.0


def _precision_recall_curve(ranking: RankCounts, ties: Ties) -> tuple[Floats, Floats]:
    """Return the weight of the positives to the end of each tie, best first, and the precision there."""
    drawn = ranking.positive_counts > 0.0  # a resample may leave thresholds without a positive
    found = np.cumsum(ranking.positive_counts[::-1])[drawn[::-1]]
    tied = ranking.negative_counts[1::2] if tied_error(ties) else 0.0
    negatives = (ranking.negatives_above("optimistic") + tied)[drawn][::-1]
    return found, found / (found + negatives)


@register_rank_metric
def partial_average_precision(
    y_true: ArrayLike,
    scores: ArrayLike,
    min_recall: float = 0.0,
    max_recall: float = 1.0,
    *,
    sample_weight: ArrayLike | None = None,
    pos_label: Any = None,
) -> Any:
    r"""Return the mean precision between two recalls: the partial area under the precision-recall curve.

    .. math:: \frac{1}{b - a} \int_a^b \mathrm{prec@recall}(r) \, dr

    with :math:`a` the least and :math:`b` the largest recall: the area in units of the largest possible.

    Parameters
    ----------
    y_true : array-like of shape (n,)
        %(y_true)s
    scores : array-like of shape (n,) or (n_rankings, n)
        %(score_table)s
    min_recall, max_recall : float
        The recalls between which the curve counts, 0 <= min_recall < max_recall <= 1. All of it, by default,
        is :func:`average_precision`.
    sample_weight : array-like of shape (n,), optional
        %(sample_weight)s
    pos_label : label, optional
        %(pos_label)s

    %(unit_interval)s

    Raises
    ------
    TypeError
        When a recall is not a number.
    ValueError
        When there are not two classes, a score is not finite, lengths differ, or a recall is out of range.

    Notes
    -----
    O(n log n). The curve is a step function, as in :func:`average_precision`: :func:`precision_at_recall` at
    every recall, all rows of a tie entering together. A positive at the end of the range counts in part.
    High recalls, such as 0.95 to 1, are for those who must not miss any, who read the bottom of a list.

    References
    ----------
    Kumar, Narasimhan and Cotter, *Implicit rate-constrained optimization of non-decomposable objectives*,
    ICML 2021, for recalls from 0.95; Boyd, Eng and Page, *Area under the precision-recall curve: point
    estimates and confidence intervals*, ECML 2013, for the area.

    Examples
    --------
    >>> y, scores = [1, 0, 1, 1, 0], [5.0, 4.0, 3.0, 2.0, 1.0]
    >>> round(partial_average_precision(y, scores), 4), partial_average_precision(y, scores, 0.95)
    (0.8056, 0.75)
    """
    return evaluate_metric(
        ranking_partial_average_precision, y_true, scores, sample_weight, pos_label, min_recall, max_recall
    )


def ranking_partial_average_precision(ranking: RankCounts, min_recall: float, max_recall: float) -> float:
    """Return the metric of a ranking that has been checked."""
    check_number("max_recall", max_recall, above=0.0, most=1.0)
    check_number("min_recall", min_recall, 0.0, below=float(max_recall))
    found, precisions = _precision_recall_curve(ranking, "half")
    recalls = np.clip(found / found[-1], min_recall, max_recall)
    return float(np.diff(recalls, prepend=min_recall) @ precisions / (max_recall - min_recall))


@register_rank_metric
def lift(
    y_true: ArrayLike,
    scores: ArrayLike,
    k: int | None = None,
    *,
    fraction: float | None = None,
    fraction_of_positives: float | None = None,
    ties: Ties = "half",
    sample_weight: ArrayLike | None = None,
    pos_label: Any = None,
) -> Any:
    r"""Return the precision of the first part of the list over the share of positives in all of it.

    .. math:: \mathrm{lift@}k = \frac{\mathrm{prec@}k}{W_+ / W}

    Parameters
    ----------
    y_true : array-like of shape (n,)
        %(y_true)s
    scores : array-like of shape (n,) or (n_rankings, n)
        %(score_table)s
    k : int, optional
        %(k)s
    fraction : float, optional
        %(fraction)s
    fraction_of_positives : float, optional
        %(fraction_of_positives)s
    ties : {"pessimistic", "half", "optimistic"}
        %(ties_at_end)s
    sample_weight : array-like of shape (n,), optional
        %(sample_weight)s
    pos_label : label, optional
        %(pos_label)s

    Returns
    -------
    float, or ndarray of shape (n_rankings,)
        At least 0, and 1 for a random order; the higher the better.

    %(depth_errors)s

    Notes
    -----
    O(n), by selection; O(n log n) with weights. Virtual screening calls it the enrichment
    factor (Truchon and Bayly 2007, equation 7), so it also bears the name ``enrichment_factor``.
    RDKit's ``CalcEnrichment`` counts ties in the order in which they are stored.

    References
    ----------
    Ling and Li, *Data mining for direct marketing: problems and solutions*, KDD 1998; Truchon and Bayly,
    *Evaluating virtual screening methods*, J. Chem. Inf. Model. 47 (2007).

    Examples
    --------
    >>> lift([1, 0, 1, 0, 0], [5.0, 4.0, 3.0, 2.0, 1.0], fraction=0.2)
    2.5
    """
    depth = k, fraction, fraction_of_positives
    return evaluate_metric(ranking_lift, y_true, scores, sample_weight, pos_label, *depth, ties)


def ranking_lift(ranking: RankCounts, *depth_and_ties: Any) -> float:
    """Return the metric of a ranking that has been checked."""
    return ranking_precision_at_k(ranking, *depth_and_ties) * (ranking.total / ranking.total_positive)


# the name of the lift in virtual screening
enrichment_factor = METRICS["enrichment_factor"] = lift


@register_rank_metric
def value_at_k(
    y_true: ArrayLike,
    scores: ArrayLike,
    k: int | None = None,
    *,
    value: ArrayLike | None = None,
    fraction: float | None = None,
    fraction_of_positives: float | None = None,
    normalize: bool = False,
    ties: Ties = "half",
    sample_weight: ArrayLike | None = None,
    pos_label: Any = None,
) -> Any:
    r"""Return the value of the positives among the k highest scores, such as the money that is caught.

    .. math:: \mathrm{value@}k = \sum_{i} w_i v_i\, 1[\mathrm{rank}(i) \le k]

    Parameters
    ----------
    y_true : array-like of shape (n,)
        %(y_true)s
    scores : array-like of shape (n,) or (n_rankings, n)
        %(score_table)s
    k : int, optional
        How many of the first rows are looked at, from 1 to n; with weights, what they weigh.
    value : array-like of shape (n,), optional
        What each row is worth if it is positive, such as an amount of money; negatives count nothing.
    fraction : float, optional
        In place of k: the share of all rows that is looked at, in (0, 1], rounded up to whole rows.
    fraction_of_positives : float, optional
        In place of k: as many rows as this share of the positives, in (0, 1], rounded to the nearest number
        from 1 on.
    normalize : bool, default=False
        Return the share of the value of all positives in place of the value.
    ties : {"pessimistic", "half", "optimistic"}, default="half"
        Where rows tie at the end of the first rows: fill these with negatives first, take the expectation
        under a random order, or fill them with positives first; positives of a tie count their mean value.
    sample_weight : array-like of shape (n,), optional
        %(sample_weight)s
    pos_label : label, optional
        %(pos_label)s

    Returns
    -------
    float, or ndarray of shape (n_rankings,)
        The value, or its share; the higher the better.

    Raises
    ------
    TypeError
        When `k` is not an integer, or a share is not a number.
    ValueError
        When there are not two classes, a score or a value is not finite or missing, lengths differ, none or
        several of `k`, `fraction` and `fraction_of_positives` are given, one of them or `ties` is out of
        range, or a share is asked for and the positives' value does not add up to more than zero.

    Notes
    -----
    O(n log n). With a value of one for every row it is k times :func:`precision_at_k`, and its share
    :func:`recall_at_k`. For an interval give ``value`` to :func:`confidence_interval`.

    References
    ----------
    Elkan, *The foundations of cost-sensitive learning*, IJCAI 2001, for values that differ from row to row.

    Examples
    --------
    >>> y, scores, amounts = [1, 0, 1, 1], [4.0, 3.0, 2.0, 1.0], [50.0, 70.0, 900.0, 50.0]
    >>> value_at_k(y, scores, 2, value=amounts), value_at_k(y, scores, 3, value=amounts, normalize=True)
    (50.0, 0.95)
    """

    def of_ranking(ranking: RankCounts) -> float:
        if isinstance(ranking, Ranking) and value is not None:
            ranking = ranking.with_value(value)
        depth = k, fraction, fraction_of_positives
        return ranking_value_at_k(ranking, *depth, ties, normalize=normalize)

    return evaluate_metric(of_ranking, y_true, scores, sample_weight, pos_label)


def ranking_value_at_k(
    ranking: RankCounts, k: Any, fraction: Any, fraction_of_positives: Any, ties: Ties, *, normalize: bool
) -> float:
    """Return the metric of a ranking that has been checked."""
    at_thresholds = ranking.positive_values
    if at_thresholds is None:
        raise ValueError("value_at_k adds up what positives are worth: pass value, an amount for each row.")
    found = ranking.positives_in_top(depth_in_rows(ranking, k, fraction, fraction_of_positives), ties)
    positives, values = (
        np.concatenate([[0.0], np.cumsum(sums[::-1])]) for sums in (ranking.positive_counts, at_thresholds)
    )
    value = float(np.interp(found, positives, values))  # a part of a tie has that part of its value
    if not normalize:
        return value
    if not values[-1] > 0.0:
        if not isinstance(ranking, Ranking):  # a resample that missed what is worth anything
            return np.nan
        raise ValueError(
            f"the value of all positives is {values[-1]:g}, and no value is a share of it: as a share, "
            "value must add up to more than zero."
        )
    return value / float(values[-1])


@shared_docs
def top_of_list(
    y_true: ArrayLike,
    scores: ArrayLike,
    *,
    sample_weight: ArrayLike | None = None,
    pos_label: Any = None,
) -> dict[str, float]:
    r"""Return the measures of a ranking, each under its own default for ties.

    .. math:: \{\mathrm{AUC}, \mathrm{AP}, \mathrm{prec@}\kappa, R_{\max}, \dots\}

    Parameters
    ----------
    y_true : array-like of shape (n,)
        %(y_true)s
    scores : array-like of shape (n,)
        %(scores)s
    sample_weight : array-like of shape (n,), optional
        %(whole_weight)s
    pos_label : label, optional
        %(pos_label)s

    Returns
    -------
    dict of str to float
        By the name of the measure: ``positives_at_top``, ``precision_at_quarter`` and
        ``precision_at_positives`` (k a quarter of the positives, and all of them), ``average_precision``,
        ``auc``, ``discounted_cumulative_gain`` (log2), ``discounted_cumulative_gain_natural``,
        ``average_reciprocal_rank``, ``r_max``, and ``log_r4`` ((1/4) ln of the 4-norm error).

    Raises
    ------
    ValueError
        When there are not two classes, a score is not finite, lengths differ, or a weight is negative or not
        whole.

    Notes
    -----
    O(n log n): the order of the scores is found once. With weights, n is their sum.

    References
    ----------
    Rudin, *The P-Norm Push*, JMLR 10 (2009), section 2; see each measure.

    Examples
    --------
    >>> top_of_list([1, 0, 1], [3.0, 2.0, 1.0])["positives_at_top"]
    1.0
    """
    ranking = Ranking(y_true, scores, sample_weight, pos_label)
    return {
        "positives_at_top": ranking_positives_at_top(ranking, "pessimistic"),
        "precision_at_quarter": ranking_precision_at_k(ranking, None, None, 0.25),
        "precision_at_positives": ranking_precision_at_k(ranking, None, None, 1.0),
        "average_precision": ranking_average_precision(ranking, "half"),
        "auc": ranking_auc(ranking, "half"),
        "discounted_cumulative_gain": ranking_discounted_cumulative_gain(ranking, 2.0, "half"),
        "discounted_cumulative_gain_natural": ranking_discounted_cumulative_gain(ranking, math.e, "half"),
        "average_reciprocal_rank": ranking_average_reciprocal_rank(ranking, "half"),
        "r_max": ranking_r_max(ranking, "pessimistic"),
        "log_r4": ranking_rp_error(ranking, 4.0, "log", "pessimistic"),
    }
