"""Discounted gains: metrics in which a rank counts the less the lower it is."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils import check_consistent_length

from pushrank._base.numeric import Floats
from pushrank._base.parallel import compiled, map_chunks
from pushrank._base.user_types import Label
from pushrank._base.validation import (
    as_numbers,
    check_choice,
    check_number,
    checked_scores,
    column,
    group_numbers,
    positive_mask,
)
from pushrank.metrics._counts import TIED_ERROR, RankCounts, Ties, tied_error
from pushrank.metrics._ranking import K_ROUNDING, check_depth, summable_weights
from pushrank.metrics._registry import Figure, are_many_rankings, evaluate, register_metric

RankTies = Literal["pessimistic", "half", "optimistic", "min", "max"]


@compiled()
def expected_reciprocal_ranks(above, positives, sizes):
    """Return the mean of 1 / rank of the first positive over all orders of its tie."""
    # There are `above` rows above the tie, and `sizes` rows in it.
    means = np.empty(len(above))
    for t in range(len(above)):
        negatives = sizes[t] - positives[t]
        # The probability that all earlier ranks of the tie hold negatives.
        mean, none_before = 0.0, 1.0
        for before in range(int(negatives) + 1):
            chance = positives[t] / (sizes[t] - before)
            mean += none_before * chance / (above[t] + before + 1.0)
            none_before *= 1.0 - chance
        means[t] = mean
    return means


def sum_over_ranks(ranking: RankCounts, discount: Callable[[Floats], Floats], ties: RankTies) -> float:
    """Return ``sum_i discount(rank of positive i)``, with ranks in rows from 1."""
    # Positives in a tie have its last ranks (`"pessimistic"`), its first (`"optimistic"`), or the mean
    # discount of its ranks (`"half"`), which is the expectation under a random order; or they all have the
    # rank of its first row (`"min"`) or of its last (`"max"`).
    if not ranking.has_whole_weights:
        raise ValueError(
            "this measure counts places in rows: sample_weight must be whole numbers, for which a row stands "
            "for that many copies of itself. Measures such as average_precision take any weights."
        )
    positives = ranking.positive_counts
    positives_above = np.cumsum(positives[::-1])[::-1] - positives
    negatives_tied = ranking.negative_counts[1::2]
    negatives_above = ranking.negatives_above("optimistic")
    # A resample may leave thresholds without a positive.
    drawn = positives > 0.0
    if ties in ("min", "max"):
        above = positives_above + negatives_above
        ranks = above + 1.0 if ties == "min" else above + positives + negatives_tied
        return float(positives[drawn] @ discount(ranks[drawn]))
    error = tied_error(ties, (*TIED_ERROR, "min", "max"))
    if error != 0.5 or not negatives_tied.any():
        before = positives_above + negatives_above + error * negatives_tied
        return float(discount(_ranks(before, positives)).sum())
    positives, sizes = positives[drawn], (positives + negatives_tied)[drawn]
    discounts = discount(_ranks((positives_above + negatives_above)[drawn], sizes))
    sums = np.add.reduceat(discounts, np.concatenate([[0], np.cumsum(sizes)[:-1]]).astype(np.intp))
    return float(sums @ (positives / sizes))


def _ranks(before: Floats, sizes: Floats) -> Floats:
    """Return the ranks ``before + 1 .. before + size`` of all thresholds in turn."""
    repeats = sizes.astype(np.intp)
    if (repeats == 1).all():
        return before + 1.0
    ends = np.cumsum(repeats)
    within = np.arange(ends[-1]) - np.repeat(ends - repeats, repeats)
    return np.asarray(np.repeat(before, repeats) + within + 1.0)


@dataclass(frozen=True, eq=False)
class QueryLists:
    """Rows sorted by query and descending score."""

    # `gains` and `positions` (in the list of the query, from 0) have an entry for each row, in that
    # order. `starts` has the first row of each query's list, `tie_starts` that of each run of tied rows.

    gains: Floats
    starts: NDArray[np.intp]
    positions: NDArray[np.intp]
    tie_starts: NDArray[np.intp]

    @property
    def tie_sizes(self) -> NDArray[np.intp]:
        """The number of rows of each tie."""
        return np.diff(self.tie_starts, append=len(self.gains))

    @property
    def tie_queries(self) -> NDArray[np.intp]:
        """The number of the list that each tie is in."""
        return np.searchsorted(self.starts, self.tie_starts, side="right") - 1


def lists_by_query(gains: Floats, scores: Floats, queries: NDArray[np.intp], ties: Ties) -> QueryLists:
    """Sort the rows into lists; a rule for ties orders tied rows by gain, but ``"half"`` leaves them tied."""
    # The sign of the gain as the last key puts the worst rows of a tie first, or the best.
    order = np.lexsort(((2.0 * tied_error(ties) - 1.0) * gains, -scores, queries))
    queries, sorted_scores = queries[order], scores[order]
    new_query = np.append(True, queries[1:] != queries[:-1])
    new_tie = new_query | np.append(True, sorted_scores[1:] != sorted_scores[:-1])
    if ties != "half":
        new_tie[:] = True
    starts = np.flatnonzero(new_query)
    positions = np.arange(len(order)) - np.repeat(starts, np.diff(starts, append=len(order)))
    return QueryLists(gains[order], starts, positions, np.flatnonzero(new_tie))


def mean_over_queries(
    metric_of_lists: Callable[[QueryLists], Floats],
    gains: Floats,
    scores: ArrayLike,
    qid: ArrayLike | None,
    sample_weight: ArrayLike | None,
    ties: Ties,
) -> Any:
    """Return the mean over the queries of a metric of their lists, for one ranking or each row of scores."""
    # The weight of a query is the mean of its rows' weights.
    queries = np.zeros(len(gains), dtype=np.intp)
    if qid is not None:
        queries = group_numbers(qid, len(gains))
    weights = np.ones(len(gains)) if sample_weight is None else summable_weights(sample_weight, len(gains))
    query_weights = np.bincount(queries, weights) / np.bincount(queries)
    if not query_weights.any():
        raise ValueError("sample_weight is zero for every row; at least one query needs a weight.")
    # The sum of large weights may overflow.
    query_weights = query_weights / query_weights.max()

    def mean(row: ArrayLike) -> float:
        values = checked_scores(row)
        check_consistent_length(gains, values)
        lists = lists_by_query(gains, values, queries, ties)
        return float(np.average(metric_of_lists(lists), weights=query_weights))

    if not are_many_rankings(scores):
        return mean(scores)
    table = np.asarray(scores)
    return np.array(map_chunks(lambda r, _: mean(table[r]), [(r, r + 1) for r in range(len(table))]))


@register_metric(
    figures=[
        Figure("discounted_cumulative_gain", "discounted cumulative gain (log2)", extra=True),
        Figure(
            "discounted_cumulative_gain_natural", "the same (natural log)", {"log_base": math.e}, extra=True
        ),
    ]
)
def discounted_cumulative_gain(
    y_true: ArrayLike,
    scores: ArrayLike,
    *,
    log_base: float = 2.0,
    ties: RankTies = "half",
    sample_weight: ArrayLike | None = None,
    pos_label: Label | None = None,
) -> Any:
    r"""Return the discounted gains of the positives, summed.

    .. math:: \mathrm{DCG} = \sum_i \frac{1}{\log_b(1 + \mathrm{rank}(i))}

    O(n log n). Ranks count rows from 1 at the top; with weights, n is their sum. With half ties it equals
    scikit-learn's ``dcg_score`` of the labels. Rudin, *The P-Norm Push*, JMLR 10 (2009), section 7, with
    ``ties="max"``; Agarwal, *The Infinite Push*, SDM 2011, section 6, with ``ties="min"``.

    %(labels_and_rankings)s
    log_base : float, default=2.0
        The base b, above 1: 2 as in Agarwal and scikit-learn, ``math.e`` as in Rudin.
    %(ties_of_ranks whole_weights number_or_array)s
        Positive; the higher the better.

    Examples
    --------
    >>> round(discounted_cumulative_gain([1, 0, 1], [3.0, 2.0, 1.0]), 4)
    1.5
    """
    check_number("log_base", log_base, above=1.0)

    def gain(ranking: RankCounts) -> float:
        return math.log(log_base) * sum_over_ranks(ranking, lambda ranks: 1.0 / np.log1p(ranks), ties)

    return evaluate(gain, y_true, scores, sample_weight, pos_label)


# Counts of the whole ranking do not tell how each query's list is ranked, so resamples copy the rows.
@register_metric(uses_scores=True, scorers={"ndcg": {}, "ndcg_at_10": {"k": 10}})
def ndcg_at_k(
    y_true: ArrayLike,
    scores: ArrayLike,
    k: int | None = None,
    *,
    fraction: float | None = None,
    fraction_of_positives: float | None = None,
    qid: ArrayLike | None = None,
    gain: Literal["linear", "exponential"] = "linear",
    ties: Ties = "half",
    sample_weight: ArrayLike | None = None,
) -> Any:
    r"""Return the discounted gain of the first k rows of each list over the largest possible, averaged.

    .. math:: \mathrm{NDCG@}k = \frac{1}{Z_q} \sum_{r=1}^{k} \frac{g(y_{(r)})}{\log_2(1 + r)}

    averaged over the queries q, where :math:`Z_q` is the same sum with the rows of q in order of relevance.

    O(n log n). With half ties and linear gain it equals scikit-learn's ``ndcg_score`` of each query,
    averaged. Jarvelin and Kekalainen, *Cumulated gain-based evaluation of IR techniques*, ACM TOIS 20 (2002).

    Parameters
    ----------
    y_true : array-like of shape (n,)
        The relevance of each row: finite numbers of at least 0.
    scores : array-like of shape (n,) or (n_rankings, n)
    k : int, optional
        The number of first rows of each list that count, at least 1; by default all.
    fraction : float, optional
        In place of k: the share of each list's rows that counts, in (0, 1], rounded up.
    fraction_of_positives : float, optional
        In place of k: as many rows as this share of the rows of each list whose relevance is above zero, in
        (0, 1], rounded to the nearest number from 1 on, halves to even.
    qid : array-like of shape (n,), optional
    gain : {"linear", "exponential"}, default="linear"
        The gain of relevance y: y itself, as in scikit-learn, or :math:`2^y - 1`.
    ties : {"pessimistic", "half", "optimistic"}, default="half"
        Where rows tie: the least relevant first; the expectation under a random order; or the most relevant
        first.
    sample_weight : array-like of shape (n,), optional
        %(query_weight)s

    %(number_or_array)s
        Between 0 and 1; the higher the better. A list without a relevant row counts 0.

    %(depth_type_error)s
    ValueError
        When a relevance is negative or not finite, a score is not finite, lengths differ, several of `k`,
        `fraction` and `fraction_of_positives` are given, or a parameter is out of range.

    Examples
    --------
    >>> round(ndcg_at_k([3, 2, 0, 1], [4.0, 3.0, 2.0, 1.0], 3), 4)
    0.895
    >>> ndcg_at_k([1, 0, 0, 1], [2.0, 1.0, 2.0, 1.0], 1, qid=[1, 1, 2, 2])
    0.5
    """
    relevance = as_numbers(column(y_true, "y_true"), "y_true")
    if len(relevance) == 0 or not (np.isfinite(relevance).all() and relevance.min() >= 0.0):
        raise ValueError("y_true must hold at least one relevance, all finite and at least 0.")
    if (k, fraction, fraction_of_positives) != (None, None, None):
        check_depth(k, fraction, fraction_of_positives)
    check_choice("gain", gain, ("linear", "exponential"))
    gains = relevance if gain == "linear" else np.exp2(relevance) - 1.0
    if not np.isfinite(gains).all():
        raise ValueError("gain='exponential' of so large a relevance exceeds the floats; use gain='linear'.")
    if gains.max() > 0.0:
        # Sums of large gains may overflow, and a factor does not change a ratio.
        gains = gains / gains.max()

    def ndcg(lists: QueryLists) -> Floats:
        sizes = np.diff(lists.starts, append=len(gains))
        depths = np.minimum(sizes, sizes if k is None else k)
        if fraction is not None:
            depths = np.ceil(fraction * sizes * (1.0 - K_ROUNDING)).astype(np.intp)
        elif fraction_of_positives is not None:
            n_relevant = np.add.reduceat(lists.gains > 0.0, lists.starts, dtype=np.intp)
            depths = np.maximum(np.round(fraction_of_positives * n_relevant), 1.0).astype(np.intp)
        gained = _discounted_gains(lists, depths)
        queries = np.repeat(np.arange(len(sizes)), sizes)
        best = _discounted_gains(lists_by_query(lists.gains, lists.gains, queries, ties), depths)
        return np.divide(gained, best, out=np.zeros_like(gained), where=best > 0.0)

    return mean_over_queries(ndcg, gains, scores, qid, sample_weight, ties)


def _discounted_gains(lists: QueryLists, depths: NDArray[np.intp]) -> Floats:
    """Return the discounted gain of the first rows of each list; rows of a tie share its mean discount."""
    totals = np.append(0.0, np.cumsum(1.0 / np.log2(np.arange(2.0, len(lists.gains) + 2.0))))
    first, depth = lists.positions[lists.tie_starts], depths[lists.tie_queries]
    discounts = totals[np.minimum(first + lists.tie_sizes, depth)] - totals[np.minimum(first, depth)]
    means = np.add.reduceat(lists.gains, lists.tie_starts) / lists.tie_sizes
    return np.bincount(lists.tie_queries, means * discounts, minlength=len(lists.starts)).astype(np.float64)


@register_metric(uses_scores=True)
def mean_reciprocal_rank(
    y_true: ArrayLike,
    scores: ArrayLike,
    *,
    qid: ArrayLike | None = None,
    ties: Ties = "half",
    sample_weight: ArrayLike | None = None,
    pos_label: Label | None = None,
) -> Any:
    r"""Return the mean over the queries of the reciprocal rank of the first positive.

    .. math:: \mathrm{MRR} = \frac{1}{|Q|} \sum_q \frac{1}{\min_{i \in q} \mathrm{rank}(i)}

    O(n log n). Voorhees, *The TREC-8 question answering track report*, TREC-8 (1999).

    %(labels_and_rankings)s
    qid : array-like of shape (n,), optional
    %(ties_in_list)s
    sample_weight : array-like of shape (n,), optional
        %(query_weight)s
    pos_label : label, optional

    %(number_or_array)s
        Between 0 and 1; the higher the better. A list without a positive counts 0.

    Examples
    --------
    >>> mean_reciprocal_rank([0, 1, 1, 0], [2.0, 1.0, 2.0, 1.0], qid=[1, 1, 2, 2])
    0.75
    """
    gains = positive_mask(y_true, pos_label).astype(np.float64)
    return mean_over_queries(_reciprocal_ranks, gains, scores, qid, sample_weight, ties)


def _reciprocal_ranks(lists: QueryLists) -> Floats:
    """Return the expected reciprocal rank of the first positive of each list, or zero without positives."""
    positives = np.add.reduceat(lists.gains, lists.tie_starts)
    occupied = np.flatnonzero(positives)
    queries, first = np.unique(lists.tie_queries[occupied], return_index=True)
    ties = occupied[first]
    reciprocals = np.zeros(len(lists.starts))
    reciprocals[queries] = expected_reciprocal_ranks(
        lists.positions[lists.tie_starts[ties]], positives[ties], lists.tie_sizes[ties]
    )
    return reciprocals


@register_metric(
    figures=[Figure("average_reciprocal_rank", "sum of reciprocal ranks of the positives", extra=True)]
)
def average_reciprocal_rank(
    y_true: ArrayLike,
    scores: ArrayLike,
    *,
    ties: RankTies = "half",
    sample_weight: ArrayLike | None = None,
    pos_label: Label | None = None,
) -> Any:
    r"""Return the reciprocal ranks of the positives, summed: Rudin's AveR.

    .. math:: \mathrm{AveR} = \sum_i \frac{1}{\mathrm{rank}(i)}

    O(n log n). Ranks count rows from 1 at the top; with weights, n is their sum. Rudin, *The P-Norm Push*,
    JMLR 10 (2009), section 7, with ``ties="max"``.

    %(labels_and_rankings)s
    %(ties_of_ranks whole_weights number_or_array)s
        Positive; the higher the better. Despite its name it is a sum, as in the paper.

    Examples
    --------
    >>> round(average_reciprocal_rank([1, 0, 1], [3.0, 2.0, 1.0]), 4)
    1.3333
    """
    total = partial(sum_over_ranks, discount=np.reciprocal, ties=ties)
    return evaluate(total, y_true, scores, sample_weight, pos_label)


@register_metric(greater_is_better=False)
def rank_error(
    y_true: ArrayLike,
    scores: ArrayLike,
    price: Callable[[Floats], Floats] = np.log1p,
    *,
    ties: RankTies = "half",
    sample_weight: ArrayLike | None = None,
    pos_label: Label | None = None,
) -> Any:
    r"""Return the ranking error under any price of the ranks of the positives.

    .. math:: R^{\mathrm{Rank}}_g = \sum_i g(\mathrm{rank}(i))

    O(n log n). Ranks count rows from 1 at the top; with weights, n is their sum. The paper's error of the
    reverse heights is :func:`rg_error` of the list turned over, ``rg_error(1 - y, -scores, g)``. Rudin, *The
    P-Norm Push*, JMLR 10 (2009), section 7, with ``ties="max"``.

    %(labels_and_rankings)s
    price : callable or Price, default=numpy.log1p
        The increasing function g from an array of ranks to an array of the same shape; minus a discount makes
        it minus a gain, such as ``lambda rank: -1 / rank`` for :func:`average_reciprocal_rank`.
    %(ties_of_ranks whole_weights number_or_array)s
        The lower the better.

    Examples
    --------
    >>> round(rank_error([1, 0, 1], [3.0, 2.0, 1.0]), 4)
    2.0794
    """
    if not callable(price := getattr(price, "value", price)):
        raise TypeError(f"price must be a price or a function of an array of ranks, got {price!r}.")
    total = partial(
        sum_over_ranks, discount=lambda ranks: np.asarray(price(ranks), dtype=np.float64), ties=ties
    )
    return evaluate(total, y_true, scores, sample_weight, pos_label)
