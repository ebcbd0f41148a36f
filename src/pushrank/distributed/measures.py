"""Measures of dask arrays of scores, the same floats as in memory, without gathering the scores.

Sums of whole numbers are exact in any order, so the precision and the positives at the top come from counts
that the partitions send. The area under the curve and the average precision are sums of fractions: for these
the scores are sorted into ranges, and the list is walked in the order in which it is walked in memory, range
by range from the top, each beginning with the sums that the one above it ends with.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import check_consistent_length

from pushrank._docstrings import shared_docs_from
from pushrank._numeric import Floats
from pushrank._optional import import_optional
from pushrank._validation import check_ordered_categorical, column, distinct, two_classes
from pushrank.distributed._sums import aligned_parts, joined_labels
from pushrank.metrics._docstrings import PARAGRAPHS
from pushrank.metrics._ranking import Ranking, check_depth, checked_scores, misranked_share, summable_weights
from pushrank.metrics._ties import CutCounts, Ties, tied_error
from pushrank.metrics.precision import (
    PrecisionState,
    add_precisions,
    ranking_positives_at_top,
    ranking_precision_at_k,
)
from pushrank.solvers.order_statistics import Values, order_statistic

__all__ = ["auc", "average_precision", "positives_at_top", "precision_at_k"]

OWN_PARAGRAPHS = {
    "dask_y_true": "Labels of two values.",
    "dask_scores": """Finite scores, the higher the better, in as many partitions as the labels or of
known lengths.""",
    "dask_weight": "Non-negative weights; an integer weight equals that many copies of the row.",
    "dask_unit_interval": """Returns
-------
float
    Between 0 and 1; the higher the better.""",
    "dask_errors": """Raises
------
TypeError
    When an array is not of dask, or has more than one dimension.
ImportError
    When dask is not installed.
ValueError
    As the function of this name in :mod:`pushrank.metrics` does; a row is named by its place in its
    partition.""",
    "dask_equality": """Computed by the client of ``dask.distributed`` that is current, or else in threads.
    Without weights, or with whole numbers as weights, it is the same float as in memory; with others, the
    sums differ by their rounding.""",
}
shared_docs = shared_docs_from(PARAGRAPHS | OWN_PARAGRAPHS)

MAX_LABELS = 1000  # of which a partition tells, for a message
GROUP_ROWS = 1 << 20  # sorted in one task: a second or so, and 50 MB
MAX_GROUPS = 64  # every group sends a piece to every range, at 4,096 tasks or so a millisecond each
SAMPLES = 32  # a range, of every group: ranges differ in length by a few parts in a hundred


class Rows(NamedTuple):
    """The rows of a partition, checked."""

    labels: NDArray[Any]
    scores: Floats
    weights: Floats | None


class Distinct(NamedTuple):
    """Distinct scores of one class, ascending, and their weights."""

    values: Floats
    weights: Floats


Classes = tuple[Values, Values]  # the positives and the negatives, without rows of weight zero
SortedClasses = tuple[Distinct, Distinct]


class DaskRanking(Ranking):
    """The order that scores in partitions give to positives and negatives.

    Its arguments are those of every measure here, and are checked here. The scores of both classes are held
    by the workers, eight bytes a row, as long as the ranking is.
    """

    def __init__(self, y_true: Any, scores: Any, sample_weight: Any = None, pos_label: Any = None) -> None:
        self._dask = dask = import_optional("dask", "dask")
        given = _partitions({"y_true": y_true, "scores": scores, "sample_weight": sample_weight})
        rows = dask.persist(*(dask.delayed(_checked)(*arrays) for arrays in given))
        found = self._of_each(rows, _labels_or_error)
        for number, labels in enumerate(found):
            if isinstance(labels, Exception):
                labels.add_note(f"Rows are counted from the beginning of partition {number}.")
                raise labels
        labels = joined_labels(found, "y_true")
        _, is_positive = two_classes(labels, "y_true", pos_label)
        self._parts = dask.persist(*(dask.delayed(_by_class)(part, labels[is_positive][0]) for part in rows))
        self._totals = self._sum(_totals)
        for name, total in zip(("positive", "negative"), self._totals, strict=False):
            if not total:
                raise ValueError(f"sample_weight is zero for every {name} row; ranking needs both classes.")

    @property
    def total_positive(self) -> float:
        """The weight of all positives."""
        return float(self._totals[0])

    @property
    def total_negative(self) -> float:
        """The weight of all negatives."""
        return float(self._totals[1])

    @property
    def has_whole_weights(self) -> bool:
        """Whether rows weigh whole numbers."""
        return bool(self._totals[2] == 0.0)

    def around_best_negative(self) -> CutCounts:
        """Return the counts around the best negative."""
        return self._around(max(self._of_each(self._parts, _best_negative)))

    def around_rank(self, k: float) -> CutCounts:
        """Return the counts around the row with which the list reaches the weight k."""
        # the smallest of the negated scores that, with all smaller ones, has that weight
        found = order_statistic(self, np.float64, k * (1.0 - 1e-14))
        return self._around(-found.value)

    def map(self, function: Callable[..., Any], *arguments: Any) -> list[Any]:
        """Return the sum over both classes of a function of their negated scores, for every partition."""
        return list(self._of_each(self._parts, _of_negated, function, *arguments))

    def walk(self, step: Callable[..., Any], state: tuple[float, ...], *arguments: Any) -> Any:
        """Return what a step makes of a state, from the top of the list to its end, a range at a time.

        A step takes the state, the counts of the positives at the thresholds of a range with those of the
        negatives in its bins, and the arguments. Ranges hold about as many distinct scores each.
        """
        delayed = self._dask.delayed
        n_groups = min(math.ceil(self._totals[3] / GROUP_ROWS), len(self._parts), MAX_GROUPS)
        stops = np.linspace(0, len(self._parts), n_groups + 1).astype(int).tolist()
        # a variable holds the groups to the end, or dask lets go of what its own graph still needs
        groups = self._dask.persist(*(delayed(_sorted)(list(self._parts[a:b])) for a, b in pairwise(stops)))
        drawn = np.sort(np.concatenate(self._of_each(groups, _sample, SAMPLES * n_groups)))
        inner = np.unique(drawn[len(drawn) * np.arange(1, n_groups) // n_groups]).tolist()
        for low, high in reversed(list(pairwise([-np.inf, *inner, np.inf]))):
            counts = delayed(_counts)([delayed(_piece)(group, low, high) for group in groups])
            state = delayed(step)(state, counts, *arguments)
        return self._dask.compute(state)[0]

    def _around(self, score: float) -> CutCounts:
        return CutCounts(*self._sum(_weights_around, score).tolist())

    def _of_each(self, parts: Sequence[Any], function: Callable[..., Any], *arguments: Any) -> Sequence[Any]:
        found: Sequence[Any] = self._dask.compute(
            *(self._dask.delayed(function)(part, *arguments) for part in parts)
        )
        return found

    def _sum(self, function: Callable[..., Any], *arguments: Any) -> Floats:
        total: Floats = np.sum(self._of_each(self._parts, function, *arguments), axis=0)
        return total


def _partitions(arrays: dict[str, Any]) -> list[tuple[Any, ...]]:
    """Return the rows of those arrays that there are for each partition, delayed."""
    given = {name: array for name, array in arrays.items() if array is not None}
    for name, array in given.items():
        if not (hasattr(array, "npartitions") and hasattr(array, "_meta")):  # a bag has none
            raise TypeError(
                f"{name} must be a dask array or series, found {type(array).__name__}; of arrays in memory "
                "take pushrank.metrics."
            )
        if array.ndim != 1:
            raise TypeError(f"{name} must be one-dimensional, found {array.ndim} dimensions; ravel it.")
    return aligned_parts(given)


def _checked(labels: Any, scores: Any, weights: Any = None) -> Rows | Exception:
    """Return the rows of a partition, or what is wrong with them: then no task fails."""
    try:
        check_ordered_categorical(labels, "y_true")
        rows, own = column(labels, "y_true"), column(scores, "scores")
        check_consistent_length(rows, own)
        floats = checked_scores(own) + 0.0  # minus zero is zero
        if not np.array_equal(floats, own):
            raise ValueError(
                f"float64 cannot tell all scores of type {own.dtype} apart; make them floats, or ranks."
            )
        return Rows(rows, floats, None if weights is None else summable_weights(weights, len(rows)))
    except (TypeError, ValueError) as error:
        return error


def _labels_or_error(rows: Rows | Exception) -> Any:
    if isinstance(rows, Exception):
        return rows
    try:
        return distinct(rows.labels, "y_true")[:MAX_LABELS]
    except (TypeError, ValueError) as error:
        return error


def _by_class(rows: Rows, positive: Any) -> Classes:
    """Return the scores of both classes, without rows of weight zero."""
    labels, scores, weights = rows
    is_positive = labels == positive
    counted = True if weights is None else weights > 0.0
    masks = is_positive & counted, ~is_positive & counted
    first, second = (Values(scores[m], None if weights is None else weights[m]) for m in masks)
    return first, second


def _totals(part: Classes) -> Floats:
    """Return the weight of either class, the number of weights that are not whole, and that of rows."""
    sums = [len(values) if weights is None else weights.sum() for values, weights in part]
    split = [np.count_nonzero(w != np.floor(w)) for _, w in part if w is not None]
    return np.array([*sums, sum(split), sum(len(values) for values, _ in part)], dtype=np.float64)


def _best_negative(part: Classes) -> float:
    return float(part[1].values.max(initial=-np.inf))


def _weights_around(part: Classes, score: float) -> Floats:
    """Return the weight of each class above a score, then at it."""
    masks = [(scores, compare(scores.values, score)) for compare in (np.greater, np.equal) for scores in part]
    return np.array([np.count_nonzero(m) if s.weights is None else s.weights[m].sum() for s, m in masks])


def _of_negated(part: Classes, function: Callable[..., Any], *arguments: Any) -> Any:
    return sum(function(Values(-values, weights), *arguments) for values, weights in part)


def _sorted(parts: Sequence[Classes | SortedClasses]) -> SortedClasses:
    """Return the distinct scores of either class in some partitions or pieces, and their weights."""
    positives, negatives = (_merged(same_class) for same_class in zip(*parts, strict=True))
    return positives, negatives


def _merged(pieces: Sequence[Values | Distinct]) -> Distinct:
    values = np.concatenate([piece.values for piece in pieces])
    weights = np.concatenate([np.ones(len(v)) if w is None else w for v, w in pieces])
    order = np.argsort(values, kind="stable")  # which is quick where pieces ascend
    values = values[order]
    starts = np.flatnonzero(np.diff(values, prepend=np.nan) != 0.0)
    return Distinct(values[starts], np.add.reduceat(weights[order], starts) if len(starts) else weights)


def _sample(group: SortedClasses, size: int) -> Floats:
    """Return evenly spaced scores of a group, about so many."""
    step = max(1, sum(len(values) for values, _ in group) // size)
    return np.concatenate([values[step // 2 :: step] for values, _ in group])


def _piece(group: SortedClasses, low: float, high: float) -> SortedClasses:
    """Return what a group has from a score on to another, which is left out."""

    def cut(values: Floats, weights: Floats) -> Distinct:
        within = slice(*np.searchsorted(values, (low, high)))
        return Distinct(values[within], weights[within])

    return cut(*group[0]), cut(*group[1])


def _counts(pieces: Sequence[SortedClasses]) -> tuple[Floats, Floats]:
    """Return the counts of a range: of the positives at its thresholds and the negatives in its bins."""
    (thresholds, counts), (negatives, weights) = _sorted(pieces)
    bins = np.searchsorted(thresholds, negatives) + np.searchsorted(thresholds, negatives, side="right")
    return counts, np.bincount(bins, weights, 2 * len(thresholds) + 1).astype(np.float64, copy=False)


def _misranked(
    state: tuple[float, float], counts: tuple[Floats, Floats], totals: tuple[float, float], error: float
) -> Any:
    return misranked_share(state, *counts, *totals, error)


def _precisions(state: PrecisionState, counts: tuple[Floats, Floats], ties: Ties) -> PrecisionState:
    return add_precisions(state, *counts, ties)


@shared_docs
def auc(
    y_true: Any, scores: Any, *, ties: Ties = "half", sample_weight: Any = None, pos_label: Any = None
) -> float:
    r"""Return the share of pairs of a positive and a negative that are ranked rightly.

    .. math:: \mathrm{AUC} = 1 - \frac{1}{W_+ W_-} \sum_k w_k\, \mathrm{Height}(k)

    Parameters
    ----------
    y_true : dask.array.Array or dask.dataframe.Series of shape (n,)
        %(dask_y_true)s
    scores : dask.array.Array or dask.dataframe.Series of shape (n,)
        %(dask_scores)s
    ties : {"pessimistic", "half", "optimistic"}
        %(ties_in_pairs)s
    sample_weight : dask.array.Array or dask.dataframe.Series of shape (n,), optional
        %(dask_weight)s
    pos_label : label, optional
        %(pos_label)s

    %(dask_unit_interval)s

    %(dask_errors)s

    Notes
    -----
    %(dask_equality)s O(n log n) in all; every score travels once between workers, and none to the client.

    References
    ----------
    Hanley and McNeil, *The meaning and use of the area under a ROC curve*, Radiology 143 (1982); Shi and
    Schaeffer, *Parallel sorting by regular sampling*, J. Parallel Distrib. Comput. 14 (1992).

    Examples
    --------
    >>> import dask.array as da
    >>> y, scores = da.from_array([0, 1, 0, 1], chunks=2), da.from_array([1.0, 2.0, 2.0, 3.0], chunks=2)
    >>> auc(y, scores)
    0.875
    """
    error = tied_error(ties)
    ranking = DaskRanking(y_true, scores, sample_weight, pos_label)
    totals = ranking.total_positive, ranking.total_negative
    return 1.0 - float(ranking.walk(_misranked, (0.0, 0.0), totals, error)[1])


@shared_docs
def average_precision(
    y_true: Any, scores: Any, *, ties: Ties = "half", sample_weight: Any = None, pos_label: Any = None
) -> float:
    r"""Return the mean, over the positives, of the precision at each one's place.

    .. math:: \mathrm{AP} = \frac{1}{W_+} \sum_i w_i\, \mathrm{prec@rank}(i)

    Parameters
    ----------
    y_true : dask.array.Array or dask.dataframe.Series of shape (n,)
        %(dask_y_true)s
    scores : dask.array.Array or dask.dataframe.Series of shape (n,)
        %(dask_scores)s
    ties : {"pessimistic", "half", "optimistic"}, default="half"
        Where rows tie: negatives come first; all rows of the tie enter together, as in scikit-learn; or
        positives come first.
    sample_weight : dask.array.Array or dask.dataframe.Series of shape (n,), optional
        %(dask_weight)s
    pos_label : label, optional
        %(pos_label)s

    %(dask_unit_interval)s

    %(dask_errors)s

    Notes
    -----
    %(dask_equality)s O(n log n) in all; every score travels once between workers, and none to the client.

    References
    ----------
    Manning, Raghavan and Schuetze, *Introduction to Information Retrieval* (2008), section 8.4.

    Examples
    --------
    >>> import dask.array as da
    >>> y, scores = da.from_array([1, 0, 1], chunks=2), da.from_array([3.0, 2.0, 1.0], chunks=2)
    >>> round(average_precision(y, scores), 4)
    0.8333
    """
    tied_error(ties)
    ranking = DaskRanking(y_true, scores, sample_weight, pos_label)
    return float(ranking.walk(_precisions, (0.0, 0.0, 0.0), ties)[2] / ranking.total_positive)


@shared_docs
def precision_at_k(
    y_true: Any,
    scores: Any,
    k: int | None = None,
    *,
    fraction: float | None = None,
    fraction_of_positives: float | None = None,
    ties: Ties = "half",
    sample_weight: Any = None,
    pos_label: Any = None,
) -> float:
    r"""Return the share of positives among the k highest scores.

    .. math:: \mathrm{prec@}k = \frac{1}{k} \sum_{i} 1[\mathrm{rank}(i) \le k]

    Parameters
    ----------
    y_true : dask.array.Array or dask.dataframe.Series of shape (n,)
        %(dask_y_true)s
    scores : dask.array.Array or dask.dataframe.Series of shape (n,)
        %(dask_scores)s
    k : int, optional
        %(k)s
    fraction : float, optional
        %(fraction)s
    fraction_of_positives : float, optional
        %(fraction_of_positives)s
    ties : {"pessimistic", "half", "optimistic"}
        %(ties_at_end)s
    sample_weight : dask.array.Array or dask.dataframe.Series of shape (n,), optional
        %(dask_weight)s
    pos_label : label, optional
        %(pos_label)s

    %(dask_unit_interval)s

    %(dask_errors)s

    Notes
    -----
    %(dask_equality)s O(n), in six rounds, of which each brings 16 kB a partition to the client.

    References
    ----------
    Kar, Narasimhan and Jain, *Surrogate functions for maximizing precision at the top*, ICML 2015.

    Examples
    --------
    >>> import dask.array as da
    >>> y, scores = da.from_array([1, 0, 1, 1, 0], chunks=3), da.arange(5, 0, -1, chunks=3)
    >>> precision_at_k(y, scores, 2)
    0.5
    """
    tied_error(ties)
    check_depth(k, fraction, fraction_of_positives)
    ranking = DaskRanking(y_true, scores, sample_weight, pos_label)
    return ranking_precision_at_k(ranking, k, fraction, fraction_of_positives, ties)


@shared_docs
def positives_at_top(
    y_true: Any,
    scores: Any,
    *,
    normalize: bool = False,
    ties: Ties = "pessimistic",
    sample_weight: Any = None,
    pos_label: Any = None,
) -> float:
    r"""Return the number of positives ranked above all negatives.

    .. math:: \sum_i w_i\, 1[s_i > \max_k t_k]

    Parameters
    ----------
    y_true : dask.array.Array or dask.dataframe.Series of shape (n,)
        %(dask_y_true)s
    scores : dask.array.Array or dask.dataframe.Series of shape (n,)
        %(dask_scores)s
    normalize : bool, default=False
        Return the share of the positives in place of their number.
    ties : {"pessimistic", "half", "optimistic"}
        %(ties_in_pairs)s
    sample_weight : dask.array.Array or dask.dataframe.Series of shape (n,), optional
        %(dask_weight)s
    pos_label : label, optional
        %(pos_label)s

    Returns
    -------
    float
        Between 0 and the weight of the positives, or 1 when normalised; the higher the better.

    %(dask_errors)s

    Notes
    -----
    %(dask_equality)s O(n), in two rounds, of which each brings a few numbers a partition to the client.

    References
    ----------
    Agarwal, *The Infinite Push*, SDM 2011, section 6.

    Examples
    --------
    >>> import dask.array as da
    >>> positives_at_top(da.from_array([1, 1, 0, 1], chunks=2), da.from_array([4.0, 3.5, 3.0, 2.0], chunks=2))
    2.0
    """
    tied_error(ties)
    ranking = DaskRanking(y_true, scores, sample_weight, pos_label)
    return ranking_positives_at_top(ranking, ties, normalize=normalize)
