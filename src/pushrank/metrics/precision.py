"""Metrics of the first rows of a list, and of the precision-recall curve."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import digamma

from pushrank._base.numeric import Floats
from pushrank._base.parallel import compiled
from pushrank._base.user_types import Label
from pushrank._base.validation import check_number
from pushrank.metrics._counts import RankCounts, Ties, tied_error
from pushrank.metrics._ranking import DEPTHS, K_ROUNDING, Ranking, depth_in_rows, round_up_to_rows
from pushrank.metrics._registry import Figure, SamplingError, Trials, evaluate, register_metric
from pushrank.metrics.pairwise import EXTREME


@compiled()
def precisions_of_ties(positive_counts, negative_counts):
    """Return the sum of the precisions at the positives, where all rows of a tie enter the list together."""
    positives, negatives, total = 0.0, 0.0, 0.0
    for g in range(len(positive_counts) - 1, -1, -1):
        positives += positive_counts[g]
        negatives += negative_counts[2 * g + 2] + negative_counts[2 * g + 1]
        if positive_counts[g] > 0.0:
            total += positive_counts[g] * (positives / (positives + negatives))
    return total


QUARTER, ALL = {"fraction_of_positives": 0.25}, {"fraction_of_positives": 1.0}


def hit_error(value_of_all: Callable[[Ranking, float], float], least_positives: int = 5) -> SamplingError:
    """Return the sampling error of a metric that is proportional to the hits among the first rows."""

    # `value_of_all(ranking, depth)` is the metric if all of them are hits. The hits are a share of the rows
    # looked at, and also a share of the positives.
    def trials(ranking: Ranking, **parameters: Any) -> list[Trials]:
        depth = depth_in_rows(ranking, *map(parameters.get, DEPTHS))
        value = value_of_all(ranking, depth)
        n_rows = depth / ranking.total * ranking.effective_number(np.full(len(ranking.scores), True))
        n_positives = ranking.effective_number(ranking.is_positive)
        return [Trials(n_rows, value), Trials(n_positives, value * ranking.total_positive / depth)]

    def hits(ranking: Ranking, **parameters: Any) -> tuple[Floats, float]:
        depth = depth_in_rows(ranking, *map(parameters.get, DEPTHS))
        return ranking.shares_in_top(depth), value_of_all(ranking, depth) / depth

    return SamplingError(trials=trials, hits=hits, least_positives=least_positives)


@register_metric(
    error=hit_error(lambda _ranking, _depth: 1.0, least_positives=3),
    scorers={"precision_at_positives": ALL, "precision_at_quarter": QUARTER},
    figures=[
        Figure("hits", "positives among {rows}", per_row=True),
        Figure("precision", "share of positives among {rows}"),
        Figure(
            "precision_at_quarter",
            "precision among the first 1/4 as many rows as positives",
            QUARTER,
            extra=True,
        ),
        Figure("precision_at_positives", "precision among as many rows as positives", ALL, extra=True),
    ],
)
def precision_at_k(
    y_true: ArrayLike,
    scores: ArrayLike,
    k: int | None = None,
    *,
    fraction: float | None = None,
    fraction_of_positives: float | None = None,
    ties: Ties = "half",
    sample_weight: ArrayLike | None = None,
    pos_label: Label | None = None,
) -> Any:
    r"""Return the share of positives among the k highest scores.

    .. math:: \mathrm{prec@}k = \frac{1}{k} \sum_{i} 1[\mathrm{rank}(i) \le k]

    O(n), by selection; O(n log n) with weights. Kar, Narasimhan and Jain, *Surrogate functions for maximizing
    precision at the top*, ICML 2015.

    %(labels_and_rankings depth_parameters ties_at_end weight_parameters unit_interval depth_errors)s

    Examples
    --------
    >>> y, scores = [1, 0, 1, 1, 0], [5.0, 4.0, 3.0, 2.0, 1.0]
    >>> precision_at_k(y, scores, 2), round(precision_at_k(y, scores, fraction_of_positives=1.0), 4)
    (0.5, 0.6667)
    """

    def precision(ranking: RankCounts) -> float:
        n_rows = depth_in_rows(ranking, k, fraction, fraction_of_positives)
        return ranking.positives_in_top(n_rows, ties) / n_rows

    return evaluate(precision, y_true, scores, sample_weight, pos_label, 1.0)


@register_metric(
    error=hit_error(lambda ranking, depth: depth / ranking.total_positive),
    figures=[Figure("recall", "share of all positives that is among {rows}")],
)
def recall_at_k(
    y_true: ArrayLike,
    scores: ArrayLike,
    k: int | None = None,
    *,
    fraction: float | None = None,
    fraction_of_positives: float | None = None,
    ties: Ties = "half",
    sample_weight: ArrayLike | None = None,
    pos_label: Label | None = None,
) -> Any:
    r"""Return the share of the positives that are among the k highest scores.

    .. math:: \mathrm{recall@}k = \frac{1}{W_+} \sum_{i} w_i\, 1[\mathrm{rank}(i) \le k]

    O(n), by selection; O(n log n) with weights. As a function of ``fraction`` it is called the cumulative
    gain. Manning, Raghavan and Schuetze, *Introduction to Information Retrieval* (2008), section 8.4; Ling
    and Li, *Data mining for direct marketing: problems and solutions*, KDD 1998, for the cumulative gain.

    %(labels_and_rankings depth_parameters ties_at_end weight_parameters unit_interval depth_errors)s

    Examples
    --------
    >>> y, scores = [1, 0, 1, 0, 1, 1], [6.0, 5.0, 4.0, 3.0, 2.0, 1.0]
    >>> recall_at_k(y, scores, 3), recall_at_k(y, scores, fraction=0.5)
    (0.5, 0.5)
    """

    def recall(ranking: RankCounts) -> float:
        n_rows = depth_in_rows(ranking, k, fraction, fraction_of_positives)
        return ranking.positives_in_top(n_rows, ties) / ranking.total_positive

    return evaluate(recall, y_true, scores, sample_weight, pos_label, 1.0)


@register_metric(
    error=hit_error(lambda ranking, _depth: ranking.total / ranking.total_positive),
    figures=[Figure("lift", "precision among {rows} over that of a random order")],
)
def lift(
    y_true: ArrayLike,
    scores: ArrayLike,
    k: int | None = None,
    *,
    fraction: float | None = None,
    fraction_of_positives: float | None = None,
    ties: Ties = "half",
    sample_weight: ArrayLike | None = None,
    pos_label: Label | None = None,
) -> Any:
    r"""Return the precision of the first part of the list over the share of positives in all of it.

    .. math:: \mathrm{lift@}k = \frac{\mathrm{prec@}k}{W_+ / W}

    O(n), by selection; O(n log n) with weights. Virtual screening calls it the enrichment factor (Truchon and
    Bayly 2007, equation 7): ``enrichment_factor`` is the same function. RDKit's ``CalcEnrichment`` counts
    ties in the order in which they are stored. Ling and Li, *Data mining for direct marketing: problems and
    solutions*, KDD 1998; Truchon and Bayly, *Evaluating virtual screening methods*, J. Chem. Inf. Model. 47
    (2007).

    %(labels_and_rankings depth_parameters ties_at_end weight_parameters number_or_array)s
        At least 0, and 1 for a random order; the higher the better.

    %(depth_errors)s

    Examples
    --------
    >>> lift([1, 0, 1, 0, 0], [5.0, 4.0, 3.0, 2.0, 1.0], fraction=0.2)
    2.5
    """
    depth: dict[str, float | None] = dict(zip(DEPTHS, (k, fraction, fraction_of_positives), strict=True))

    def ratio(ranking: RankCounts) -> float:
        precision = ranking.evaluate(precision_at_k, **depth, ties=ties)
        return precision * (ranking.total / ranking.total_positive)

    return evaluate(ratio, y_true, scores, sample_weight, pos_label)


@register_metric(
    figures=[
        Figure("value", "value of the positives among {rows}"),
        Figure(
            "value_share", "share of the value of all positives that is among {rows}", {"normalize": True}
        ),
    ]
)
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
    pos_label: Label | None = None,
) -> Any:
    r"""Return the value of the positives among the k highest scores, such as the money that is caught.

    .. math:: \mathrm{value@}k = \sum_{i} w_i v_i\, 1[\mathrm{rank}(i) \le k]

    O(n log n). With a value of one for every row it is k times :func:`precision_at_k`, and its share
    :func:`recall_at_k`. For an interval give ``value`` to :func:`confidence_interval`. Elkan, *The
    foundations of cost-sensitive learning*, IJCAI 2001, for values that differ from row to row.

    %(labels_and_rankings)s
    k : int, optional
    value : array-like of shape (n,), optional
        The value of each row if it is positive, such as an amount of money; negatives count nothing.
    fraction : float, optional
    fraction_of_positives : float, optional
    normalize : bool, default=False
        Return the share of the value of all positives in place of the value.
    %(ties_at_end)s
        Positives of a tie count their mean value.
    %(weight_parameters number_or_array)s
        The value, or its share; the higher the better.

    %(depth_type_error)s
    ValueError
        As :func:`precision_at_k` does; when a value is missing or not finite; or when a share is asked for
        and the values of the positives do not add up to more than zero.

    Examples
    --------
    >>> y, scores, amounts = [1, 0, 1, 1], [4.0, 3.0, 2.0, 1.0], [50.0, 70.0, 900.0, 50.0]
    >>> value_at_k(y, scores, 2, value=amounts), value_at_k(y, scores, 3, value=amounts, normalize=True)
    (50.0, 0.95)
    """

    def value_of_hits(ranking: RankCounts) -> float:
        if isinstance(ranking, Ranking) and value is not None:
            ranking = ranking.with_value(value)
        at_thresholds = ranking.positive_values
        if at_thresholds is None:
            raise ValueError(
                "value_at_k adds up what positives are worth: pass value, an amount for each row."
            )
        n_rows = depth_in_rows(ranking, k, fraction, fraction_of_positives)
        positives, values = (
            np.concatenate([[0.0], np.cumsum(sums[::-1])])
            for sums in (ranking.positive_counts, at_thresholds)
        )
        # Where the list ends within a tie, the value rises evenly with the hits.
        caught = float(np.interp(ranking.positives_in_top(n_rows, ties), positives, values))
        if not normalize:
            return caught
        if values[-1] > 0.0:
            return caught / float(values[-1])
        if ranking.is_resample:
            return np.nan
        raise ValueError(
            f"the value of all positives is {values[-1]:g}, and no value is a share of it: as a share, "
            "value must add up to more than zero."
        )

    return evaluate(value_of_hits, y_true, scores, sample_weight, pos_label)


@register_metric(error=EXTREME, figures=[Figure("positives_at_top", "positives above every negative")])
def positives_at_top(
    y_true: ArrayLike,
    scores: ArrayLike,
    *,
    normalize: bool = False,
    ties: Ties = "pessimistic",
    sample_weight: ArrayLike | None = None,
    pos_label: Label | None = None,
) -> Any:
    r"""Return the number of positives ranked above all negatives.

    .. math:: \sum_i w_i\, 1[s_i > \max_k t_k]

    O(n), without sorting. By default a positive tied with the best negative counts nothing, as in the paper.
    It is the weight of the positives minus :func:`r_max`. Agarwal, *The Infinite Push*, SDM 2011, section 6.

    %(labels_and_rankings)s
    normalize : bool, default=False
        Return the share of the positives in place of their number.
    %(ties_of_pairs weight_parameters number_or_array)s
        Between 0 and the weight of the positives, or 1 when normalised; the higher the better.

    Examples
    --------
    >>> positives_at_top([1, 1, 0, 1], [4.0, 3.5, 3.0, 2.0])
    2.0
    """
    error = tied_error(ties)

    def first_positives(ranking: RankCounts) -> float:
        best = ranking.around_best_negative()
        count = best.positives_above + (1.0 - error) * best.positives_tied
        return count / ranking.total_positive if normalize else count

    return evaluate(first_positives, y_true, scores, sample_weight, pos_label)


@register_metric(figures=[Figure("average_precision", "average precision")])
def average_precision(
    y_true: ArrayLike,
    scores: ArrayLike,
    *,
    ties: Ties = "half",
    sample_weight: ArrayLike | None = None,
    pos_label: Label | None = None,
) -> Any:
    r"""Return the mean, over the positives, of the precision at the rank of each.

    .. math:: \mathrm{AP} = \frac{1}{W_+} \sum_i w_i\, \mathrm{prec@rank}(i)

    O(n log n). With ``ties="half"`` it equals scikit-learn's ``average_precision_score``, weights included.
    Agarwal, *The Infinite Push*, SDM 2011, section 6; Manning, Raghavan and Schuetze, *Introduction to
    Information Retrieval* (2008), section 8.4.

    %(labels_and_rankings)s
    ties : {"pessimistic", "half", "optimistic"}, default="half"
        Where rows tie: negatives come first; all rows of the tie enter together, as in scikit-learn; or
        positives come first.
    %(weight_parameters unit_interval)s

    Examples
    --------
    >>> round(average_precision([1, 0, 1], [3.0, 2.0, 1.0]), 4)
    0.8333
    """

    def mean_precision(ranking: RankCounts) -> float:
        return sum_precisions(ranking, ties) / ranking.total_positive

    return evaluate(mean_precision, y_true, scores, sample_weight, pos_label, 1.0)


def sum_precisions(ranking: RankCounts, ties: Ties) -> float:
    """Return the sum of the precisions at the positives under a rule for ties."""
    positive_counts = ranking.positive_counts
    # The compiled loop needs a few additions a tie; the other rules need digammas, which SciPy has.
    if tied_error(ties) == 0.5:
        return float(precisions_of_ties(positive_counts, ranking.negative_counts))
    above = np.cumsum(positive_counts[::-1])[::-1] - positive_counts
    misses = ranking.negatives_above(ties)
    # At a threshold the sum is that of (above + j) / (above + j + misses) over its positives j. Of a single
    # one the digammas would only add rounding.
    start = above + misses + 1.0
    several = digamma(start + positive_counts) - digamma(start)
    sums = positive_counts - misses * np.where(positive_counts == 1.0, 1.0 / start, several)
    # np.cumsum adds in the order of the list, as the loop does; np.sum would add in pairs.
    return float(np.cumsum(sums[::-1])[-1])


@register_metric()
def precision_at_recall(
    y_true: ArrayLike,
    scores: ArrayLike,
    recall: float = 0.5,
    *,
    ties: Ties = "half",
    sample_weight: ArrayLike | None = None,
    pos_label: Label | None = None,
) -> Any:
    r"""Return the share of positives in the shortest list that holds a share of all positives, the recall.

    .. math:: \mathrm{prec@recall}(r) = \frac{h}{h + \mathrm{rHeight}(i)}

    where positive i is the one at which the weight h of the positives so far reaches the recall r.

    O(n log n). Manning, Raghavan and Schuetze, *Introduction to Information Retrieval* (2008), section 8.4.

    %(labels_and_rankings)s
    recall : float, default=0.5
        The least share of the positives that the list holds, in (0, 1].
    ties : {"pessimistic", "half", "optimistic"}, default="half"
        Where rows tie at the end of the list: negatives come first; all rows of the tie enter together, a
        point of scikit-learn's ``precision_recall_curve``; or positives come first. With the first rule and
        the last the list ends at the row that reaches the recall, or with weights that are not whole numbers
        within it.
    %(weight_parameters unit_interval)s

    Examples
    --------
    >>> y, scores = [1, 0, 1, 1, 0], [5.0, 4.0, 3.0, 2.0, 1.0]
    >>> precision_at_recall(y, scores, 0.3), precision_at_recall(y, scores, 1.0)
    (1.0, 0.75)
    """
    check_number("recall", recall, above=0.0, most=1.0)
    error = tied_error(ties)

    def precision(ranking: RankCounts) -> float:
        needed = float(recall) * ranking.total_positive
        cut = ranking.around_recall(needed * (1.0 - K_ROUNDING))
        if error == 0.5:
            positives = cut.positives_above + cut.positives_tied
            negatives = cut.negatives_above + cut.negatives_tied
        else:
            positives = round_up_to_rows(needed, ranking)
            negatives = cut.negatives_above + error * cut.negatives_tied
        return float(positives / (positives + negatives))

    return evaluate(precision, y_true, scores, sample_weight, pos_label)


@register_metric()
def recall_at_precision(
    y_true: ArrayLike,
    scores: ArrayLike,
    precision: float = 0.5,
    *,
    ties: Ties = "half",
    sample_weight: ArrayLike | None = None,
    pos_label: Label | None = None,
) -> Any:
    r"""Return the largest share of the positives among the lists that have a precision.

    .. math:: \mathrm{recall@prec}(q) = \max \{\mathrm{recall@}k : \mathrm{prec@}k \ge q\}

    O(n log n). Precision rises and falls down a list: the longest list that is precise enough counts. On few
    rows, short lists are precise by chance. Eban et al., *Scalable learning of non-decomposable objectives*,
    AISTATS 2017.

    %(labels_and_rankings)s
    precision : float, default=0.5
        The least share of positives in the list, in (0, 1].
    ties : {"pessimistic", "half", "optimistic"}, default="half"
        A list ends with a tie, and holds all its rows, a point of scikit-learn's ``precision_recall_curve``;
        with ``"optimistic"`` the positives of a tie come first, and the list ends with the last of them.
    %(weight_parameters number_or_array)s
        Between 0 and 1, and 0 if no list has the precision; the higher the better.

    Examples
    --------
    >>> y, scores = [0, 1, 1, 0, 1], [5.0, 4.0, 3.0, 2.0, 1.0]
    >>> recall_at_precision(y, scores, 0.6), round(recall_at_precision(y, scores, 0.65), 4)
    (1.0, 0.6667)
    """
    check_number("precision", precision, above=0.0, most=1.0)

    def longest_recall(ranking: RankCounts) -> float:
        hits, precisions = _precision_recall_curve(ranking, ties)
        # Sums of weights may miss the share that they stand for by rounding.
        precise = hits[precisions >= float(precision) * (1.0 - K_ROUNDING)]
        return float(precise[-1] / ranking.total_positive) if len(precise) else 0.0

    return evaluate(longest_recall, y_true, scores, sample_weight, pos_label, 1.0)


def _precision_recall_curve(ranking: RankCounts, ties: Ties) -> tuple[Floats, Floats]:
    """Return the weight of the positives to the end of each tie, best first, and the precision there."""
    # A resample may leave thresholds without a positive.
    drawn = ranking.positive_counts > 0.0
    hits = np.cumsum(ranking.positive_counts[::-1])[drawn[::-1]]
    tied = ranking.negative_counts[1::2] if tied_error(ties) else 0.0
    negatives = (ranking.negatives_above("optimistic") + tied)[drawn][::-1]
    return hits, hits / (hits + negatives)
