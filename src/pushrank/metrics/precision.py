"""Hits among the first rows."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import digamma

from pushrank._numeric import Floats
from pushrank._validation import check_number
from pushrank.metrics._ranking import (
    DEPTH_ROUNDING,
    Ranking,
    Tally,
    Ties,
    around_hit,
    list_depth,
    measured,
    order_measure,
    part_of_list,
    rounded_up,
    sum_precision_of_ties,
    tie_share,
)
from pushrank.metrics.discounted import ranking_average_reciprocal_rank, ranking_discounted_cumulative_gain
from pushrank.metrics.pairwise import ranking_r_max, ranking_rp_error
from pushrank.metrics.roc import ranking_auc


@order_measure
def precision_at_k(
    y_true: ArrayLike,
    scores: ArrayLike,
    k: float,
    *,
    ties: Ties = "pessimistic",
    sample_weight: ArrayLike | None = None,
    pos_label: Any = None,
) -> Any:
    r"""Return the share of positives among the k highest scores.

    .. math:: \mathrm{prec@}k = \frac{1}{k} \sum_{i} 1[\mathrm{rank}(i) \le k]

    Parameters
    ----------
    y_true : array-like of shape (n,)
        Labels of two values.
    scores : array-like of shape (n,) or (n_rankings, n)
        Finite scores, the higher the better; a table holds a ranking in each row.
    k : int or float
        An int from 1 to n is a number of rows, or a weight of the list; a float in (0, 1] is the fraction
        :math:`\kappa` of the positives, rounded to a number between 1 and theirs unless weights are not whole
        numbers.
    ties : {"pessimistic", "half", "optimistic"}, default="pessimistic"
        Where rows tie at the k-th place: fill it with negatives first, take the expectation under a random
        order, or fill it with positives first.
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
        When there are not two classes, a score is not finite, lengths differ, or
        `k` or `ties` is out of range.

    Notes
    -----
    O(n), by selection; O(n log n) with weights.

    References
    ----------
    Kar, Narasimhan and Jain, *Surrogate functions for maximizing precision at the top*, ICML 2015.

    Examples
    --------
    >>> y, scores = [1, 0, 1, 1, 0], [5.0, 4.0, 3.0, 2.0, 1.0]
    >>> precision_at_k(y, scores, 2), round(precision_at_k(y, scores, 1.0), 4)
    (0.5, 0.6667)
    """
    return measured(ranking_precision_at_k, y_true, scores, sample_weight, pos_label, k, ties)


def ranking_precision_at_k(ranking: Tally, k: float, ties: Ties) -> float:
    """Return the measure of a ranking that has been checked."""
    depth = list_depth(k, ranking)
    return ranking.hits_within(depth, ties) / depth


@order_measure
def recall_at_k(
    y_true: ArrayLike,
    scores: ArrayLike,
    k: float,
    *,
    ties: Ties = "pessimistic",
    sample_weight: ArrayLike | None = None,
    pos_label: Any = None,
) -> Any:
    r"""Return the share of the positives that are among the k highest scores.

    .. math:: \mathrm{recall@}k = \frac{1}{W_+} \sum_i w_i\, 1[\mathrm{rank}(i) \le k]

    Parameters
    ----------
    y_true : array-like of shape (n,)
        Labels of two values.
    scores : array-like of shape (n,) or (n_rankings, n)
        Finite scores, the higher the better; a table holds a ranking in each row.
    k : int or float
        As for :func:`precision_at_k`: an int is a number of rows, or a weight of the list; a float in (0, 1]
        is a fraction of the positives.
    ties : {"pessimistic", "half", "optimistic"}, default="pessimistic"
        Where rows tie at the k-th place: fill it with negatives first, take the expectation under a random
        order, or fill it with positives first.
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
        When there are not two classes, a score is not finite, lengths differ, or
        `k` or `ties` is out of range.

    Notes
    -----
    O(n), by selection; O(n log n) with weights.

    References
    ----------
    Manning, Raghavan and Schuetze, *Introduction to Information Retrieval* (2008), section 8.4.

    Examples
    --------
    >>> recall_at_k([1, 0, 1, 0, 1, 1], [6.0, 5.0, 4.0, 3.0, 2.0, 1.0], 3)
    0.5
    """
    return measured(ranking_recall_at_k, y_true, scores, sample_weight, pos_label, k, ties)


def ranking_recall_at_k(ranking: Tally, k: float, ties: Ties) -> float:
    """Return the measure of a ranking that has been checked."""
    return ranking.hits_within(list_depth(k, ranking), ties) / ranking.total_positive


@order_measure
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
        Labels of two values.
    scores : array-like of shape (n,) or (n_rankings, n)
        Finite scores, the higher the better; a table holds a ranking in each row.
    normalize : bool, default=False
        Return the share of the positives in place of their number.
    ties : {"pessimistic", "half", "optimistic"}, default="pessimistic"
        Whether a tied pair of a positive and a negative is an error, half an error, or none.
    sample_weight : array-like of shape (n,), optional
        Non-negative weights; an integer weight equals that many copies of the row.
    pos_label : label, optional
        The positive class; by default the larger of the two values.

    Returns
    -------
    float, or ndarray of shape (n_rankings,)
        Between 0 and the weight of the positives, or 1 when normalised; the higher the better.

    Raises
    ------
    ValueError
        When there are not two classes, a score is not finite, lengths differ, or `ties` is not known.

    Notes
    -----
    O(n), without sorting. A positive tied with the best negative counts nothing, one half, or one, by the
    rule of ties. It is the weight of the positives less :func:`r_max`.

    References
    ----------
    Agarwal, *The Infinite Push*, SDM 2011, section 6.

    Examples
    --------
    >>> positives_at_top([1, 1, 0, 1], [4.0, 3.5, 3.0, 2.0])
    2.0
    """
    return measured(
        ranking_positives_at_top, y_true, scores, sample_weight, pos_label, ties, normalize=normalize
    )


def ranking_positives_at_top(ranking: Tally, ties: Ties, *, normalize: bool = False) -> float:
    """Return the measure of a ranking that has been checked."""
    best = ranking.around_best_negative()
    found = best.hits_above + (1.0 - tie_share(ties)) * best.hits_tied
    return found / ranking.total_positive if normalize else found


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
        found = sum_precision_of_ties(here, ranking.negatives_in)
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


@order_measure
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

    where positive i is the one with which the found weight h reaches the recall r.

    Parameters
    ----------
    y_true : array-like of shape (n,)
        Labels of two values.
    scores : array-like of shape (n,) or (n_rankings, n)
        Finite scores, the higher the better; a table holds a ranking in each row.
    recall : float, default=0.5
        The share of the positives to be found, in (0, 1].
    ties : {"pessimistic", "half", "optimistic"}, default="half"
        Where rows tie at the end of the list: negatives come first; all rows of the tie enter together, a
        point of scikit-learn's ``precision_recall_curve``; or positives come first. In the first and last
        case the list ends at the row that reaches the recall; with weights that are not whole numbers, at the
        part of it that does.
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
    return measured(ranking_precision_at_recall, y_true, scores, sample_weight, pos_label, recall, ties)


def ranking_precision_at_recall(ranking: Tally, recall: float, ties: Ties) -> float:
    """Return the measure of a ranking that has been checked."""
    share = tie_share(ties)
    check_number("recall", recall, above=0.0, most=1.0)
    needed = float(recall) * ranking.total_positive
    hits_above, misses_above, hits, misses = around_hit(
        ranking.positives_at, ranking.negatives_in, needed * (1.0 - DEPTH_ROUNDING)
    )
    if share == 0.5:
        found, missed = hits_above + hits, misses_above + misses
    else:
        found = rounded_up(needed, ranking)
        missed = misses_above + share * misses
    return float(found / (found + missed))


@order_measure
def lift(
    y_true: ArrayLike,
    scores: ArrayLike,
    fraction: float = 0.1,
    *,
    ties: Ties = "half",
    sample_weight: ArrayLike | None = None,
    pos_label: Any = None,
) -> Any:
    r"""Return the precision of the first part of the list over the share of positives in all of it.

    .. math:: \mathrm{lift}(q) = \frac{\mathrm{prec@}\lceil q n \rceil}{W_+ / W}

    Parameters
    ----------
    y_true : array-like of shape (n,)
        Labels of two values.
    scores : array-like of shape (n,) or (n_rankings, n)
        Finite scores, the higher the better; a table holds a ranking in each row.
    fraction : float, default=0.1
        The part of the list that is looked at, in (0, 1], in rows rounded up; with weights that are not whole
        numbers, that part of their sum.
    ties : {"pessimistic", "half", "optimistic"}, default="half"
        Where rows tie at the end of that part: fill it with negatives first, take the expectation under a
        random order, or fill it with positives first.
    sample_weight : array-like of shape (n,), optional
        Non-negative weights; an integer weight equals that many copies of the row.
    pos_label : label, optional
        The positive class; by default the larger of the two values.

    Returns
    -------
    float, or ndarray of shape (n_rankings,)
        At least 0, and 1 for a random order; the higher the better.

    Raises
    ------
    TypeError
        When `fraction` is not a number.
    ValueError
        When there are not two classes, a score is not finite, lengths differ, or
        `fraction` or `ties` is out of range.

    Notes
    -----
    O(n), by selection; O(n log n) with weights. It is what virtual screening calls :func:`enrichment_factor`.

    References
    ----------
    Ling and Li, *Data mining for direct marketing: problems and solutions*, KDD 1998.

    Examples
    --------
    >>> lift([1, 0, 1, 0, 0], [5.0, 4.0, 3.0, 2.0, 1.0], 0.2)
    2.5
    """
    return measured(ranking_lift, y_true, scores, sample_weight, pos_label, fraction, ties)


def ranking_lift(ranking: Tally, fraction: float, ties: Ties) -> float:
    """Return the measure of a ranking that has been checked."""
    depth = part_of_list(fraction, ranking)
    return ranking.hits_within(depth, ties) / depth * (ranking.total / ranking.total_positive)


@order_measure
def enrichment_factor(
    y_true: ArrayLike,
    scores: ArrayLike,
    fraction: float = 0.01,
    *,
    ties: Ties = "half",
    sample_weight: ArrayLike | None = None,
    pos_label: Any = None,
) -> Any:
    r"""Return how many times more actives the first part of the list holds than a random part.

    .. math:: \mathrm{EF}(q) = \frac{\text{actives among the first } \lceil q n \rceil}{\lceil q n \rceil}
        \Big/ \frac{\text{actives}}{n}

    Parameters
    ----------
    y_true : array-like of shape (n,)
        Labels of two values.
    scores : array-like of shape (n,) or (n_rankings, n)
        Finite scores, the higher the better; a table holds a ranking in each row.
    fraction : float, default=0.01
        The part of the list that is looked at, in (0, 1], in rows rounded up; with weights that are not whole
        numbers, that part of their sum.
    ties : {"pessimistic", "half", "optimistic"}, default="half"
        Where rows tie at the end of that part: fill it with negatives first, take the expectation under a
        random order, or fill it with positives first.
    sample_weight : array-like of shape (n,), optional
        Non-negative weights; an integer weight equals that many copies of the row.
    pos_label : label, optional
        The positive class; by default the larger of the two values.

    Returns
    -------
    float, or ndarray of shape (n_rankings,)
        At least 0, and 1 for a random order; the higher the better.

    Raises
    ------
    TypeError
        When `fraction` is not a number.
    ValueError
        When there are not two classes, a score is not finite, lengths differ, or
        `fraction` or `ties` is out of range.

    Notes
    -----
    O(n), by selection; O(n log n) with weights. RDKit's ``CalcEnrichment`` counts ties in the order in
    which they are stored. It is :func:`lift` under the name that virtual screening uses.

    References
    ----------
    Truchon and Bayly, *Evaluating virtual screening methods*, J. Chem. Inf. Model. 47 (2007), equation (7).

    Examples
    --------
    >>> enrichment_factor([1, 0, 1, 0, 0], [5.0, 4.0, 3.0, 2.0, 1.0], 0.2)
    2.5
    """
    return measured(ranking_lift, y_true, scores, sample_weight, pos_label, fraction, ties)


@order_measure
def cumulative_gain(
    y_true: ArrayLike,
    scores: ArrayLike,
    fraction: float = 0.1,
    *,
    ties: Ties = "half",
    sample_weight: ArrayLike | None = None,
    pos_label: Any = None,
) -> Any:
    r"""Return the share of the positives in the first part of the list.

    .. math:: \mathrm{gain}(q) = \frac{1}{W_+} \sum_i w_i\, 1[\mathrm{rank}(i) \le \lceil q n \rceil]

    Parameters
    ----------
    y_true : array-like of shape (n,)
        Labels of two values.
    scores : array-like of shape (n,) or (n_rankings, n)
        Finite scores, the higher the better; a table holds a ranking in each row.
    fraction : float, default=0.1
        The part of the list that is looked at, in (0, 1], in rows rounded up; with weights that are not whole
        numbers, that part of their sum.
    ties : {"pessimistic", "half", "optimistic"}, default="half"
        Where rows tie at the end of that part: fill it with negatives first, take the expectation under a
        random order, or fill it with positives first.
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
    TypeError
        When `fraction` is not a number.
    ValueError
        When there are not two classes, a score is not finite, lengths differ, or
        `fraction` or `ties` is out of range.

    Notes
    -----
    O(n), by selection; O(n log n) with weights.

    References
    ----------
    Ling and Li, *Data mining for direct marketing: problems and solutions*, KDD 1998.

    Examples
    --------
    >>> cumulative_gain([1, 0, 1, 0, 0], [5.0, 4.0, 3.0, 2.0, 1.0], 0.2)
    0.5
    """
    return measured(ranking_cumulative_gain, y_true, scores, sample_weight, pos_label, fraction, ties)


def ranking_cumulative_gain(ranking: Tally, fraction: float, ties: Ties) -> float:
    """Return the measure of a ranking that has been checked."""
    return ranking.hits_within(part_of_list(fraction, ranking), ties) / ranking.total_positive


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
        Labels of two values.
    scores : array-like of shape (n,)
        Finite scores, the higher the better.
    sample_weight : array-like of shape (n,), optional
        Non-negative whole numbers; a row counts as that many copies of itself.
    pos_label : label, optional
        The positive class; by default the larger of the two values.

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
        "precision_at_quarter": ranking_precision_at_k(ranking, 0.25, "pessimistic"),
        "precision_at_positives": ranking_precision_at_k(ranking, 1.0, "pessimistic"),
        "average_precision": ranking_average_precision(ranking, "half"),
        "auc": ranking_auc(ranking, "half"),
        "discounted_cumulative_gain": ranking_discounted_cumulative_gain(ranking, 2.0, "half"),
        "discounted_cumulative_gain_natural": ranking_discounted_cumulative_gain(ranking, math.e, "half"),
        "average_reciprocal_rank": ranking_average_reciprocal_rank(ranking, "half"),
        "r_max": ranking_r_max(ranking, "pessimistic"),
        "log_r4": ranking_rp_error(ranking, 4.0, "log", "pessimistic"),
    }
