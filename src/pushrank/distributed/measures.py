"""Metrics of dask arrays of scores, the same floats as in memory, without gathering the scores.

Sums of whole numbers are exact in any order, so the precision and the positives at the top come from counts.
The area and the average precision are sums of fractions: for these the scores are sorted into ranges, and the
list is walked in the order of memory, from the top: each range continues the sums of the one above it.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils import check_consistent_length

from pushrank import metrics
from pushrank._docstrings import shared_docs_from
from pushrank._numeric import Floats
from pushrank._optional import import_optional
from pushrank.distributed.rows import aligned_parts, check_collection, joined_labels
from pushrank.metrics._counts import CutCounts, RankCounts, State, Ties, tied_error
from pushrank.metrics._ranking import check_depth, summable_weights
from pushrank.rows.order_statistics import Part, Values, order_statistic
from pushrank.user_types import GenericArray, Label
from pushrank.validation import checked_scores, column, distinct, plain_labels, two_classes

if TYPE_CHECKING:
    from dask.delayed import Delayed

    from pushrank.distributed.rows import Collection

__all__ = ["auc", "average_precision", "positives_at_top", "precision_at_k"]

DASK_PARAGRAPHS = {
    "scores": """Finite scores, the higher the better, in as many partitions as the labels or of
known lengths.""",
    "dask_labels_and_scores": """Parameters
----------
y_true : dask.array.Array or dask.dataframe.Series of shape (n,)
scores : dask.array.Array or dask.dataframe.Series of shape (n,)""",
    "dask_weights": """sample_weight : dask.array.Array or dask.dataframe.Series of shape (n,), optional
pos_label : label, optional""",
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
    As the function of this name in :mod:`pushrank.metrics` does; the error names the row and the
    partition.""",
    "dask_equality": """Computed by the current client of ``dask.distributed``, or without one in threads.
Without weights, or with whole ones, it is the same float as in memory; else sums differ by rounding.""",
    "dask_sorted": """%(dask_equality)s
It costs O(n log n) in all; every score travels once between workers, and none to the client. Shi and
Schaeffer, *Parallel sorting by regular sampling*, J. Parallel Distrib. Comput. 14 (1992).""",
}
shared_docs = shared_docs_from(DASK_PARAGRAPHS)

# An error message needs no more labels of a partition than this.
MAX_LABELS = 1000
# The rows that one task sorts: it takes a second or so, and 50 MB.
GROUP_ROWS = 1 << 20
# Every group sends a piece to every range: 4,096 tasks of a millisecond or so each.
MAX_GROUPS = 64
# The number of scores that a group samples for each range; ranges then differ in length by a few per cent.
SAMPLES = 32


class Rows(NamedTuple):
    """The checked rows of a partition, and the distinct labels among them."""

    labels: GenericArray
    scores: Floats
    weights: Floats | None
    distinct_labels: GenericArray


# The scores of the positives and those of the negatives, without rows of weight zero.
Classes = tuple[Values, Values]


class DaskRanking(RankCounts):
    """The order of both classes by scores, which the workers hold, eight bytes a row, while it lives."""

    is_resample: ClassVar[bool] = False

    def __init__(
        self,
        y_true: Collection,
        scores: Collection,
        sample_weight: Collection | None = None,
        pos_label: Label | None = None,
    ) -> None:
        self._dask = dask = import_optional("dask", "dask")
        arrays = _partitions({"y_true": y_true, "scores": scores, "sample_weight": sample_weight})
        rows = dask.persist(*(dask.delayed(_checked)(*parts) for parts in arrays))
        labels_of_parts = self._of_each(rows, lambda part: getattr(part, "distinct_labels", part))
        for number, labels in enumerate(labels_of_parts):
            if isinstance(labels, Exception):
                labels.add_note(f"Rows are counted from the beginning of partition {number}.")
                raise labels
        labels = joined_labels(labels_of_parts, "y_true")
        _, is_positive = two_classes(labels, "y_true", pos_label)
        self._parts = dask.persist(*(dask.delayed(_by_class)(part, labels[is_positive][0]) for part in rows))
        totals = self._sum(_totals).tolist()
        self.total_positive, self.total_negative, self._n_split, self._n_rows = totals
        for name, total in {"positive": self.total_positive, "negative": self.total_negative}.items():
            if not total:
                raise ValueError(f"sample_weight is zero for every {name} row; ranking needs both classes.")

    @property
    def has_whole_weights(self) -> bool:
        return bool(self._n_split == 0.0)

    def around_best_negative(self) -> CutCounts:
        best = self._of_each(self._parts, lambda part: part[1].values.max(initial=-np.inf))
        return self._around(float(max(best)))

    def around_rank(self, k: float) -> CutCounts:
        # It has the smallest of the negated scores that, with all smaller ones, has that weight.
        row = order_statistic(self, np.float64, k * (1.0 - 1e-14))
        return self._around(-row.value)

    def map(self, function: Callable[..., Part], *arguments: object) -> list[Part]:
        """Return the sum over both classes of a function of their negated scores, for every partition."""
        return list(self._of_each(self._parts, _sum_of_negated, function, *arguments))

    def walk(self, step: Callable[..., State], state: State, *arguments: object) -> Any:
        """Return the state after the steps down the list, a range of the scores at a time."""
        delayed = self._dask.delayed
        n_groups = min(math.ceil(self._n_rows / GROUP_ROWS), len(self._parts), MAX_GROUPS)
        stops = np.linspace(0, len(self._parts), n_groups + 1).astype(int).tolist()
        # The variable holds the groups to the end, or dask releases what its own graph still needs.
        groups = self._dask.persist(*(delayed(_merged)(list(self._parts[a:b])) for a, b in pairwise(stops)))
        sample = np.sort(np.concatenate(self._of_each(groups, _sample, SAMPLES * n_groups)))
        inner = np.unique(sample[len(sample) * np.arange(1, n_groups) // n_groups]).tolist()
        for low, high in reversed(list(pairwise([-np.inf, *inner, np.inf]))):
            pieces = [delayed(_between)(group, low, high) for group in groups]
            state = delayed(_step)(step, state, pieces, *arguments)
        return self._dask.compute(state)[0]

    def _around(self, score: float) -> CutCounts:
        return CutCounts(*self._sum(_weights_around, score).tolist())

    def _of_each(
        self, parts: Sequence[Delayed], function: Callable[..., object], *arguments: object
    ) -> Sequence[Any]:
        results: Sequence[Any] = self._dask.compute(
            *(self._dask.delayed(function)(part, *arguments) for part in parts)
        )
        return results

    def _sum(self, function: Callable[..., Floats], *arguments: object) -> Floats:
        return np.asarray(np.sum(self._of_each(self._parts, function, *arguments), axis=0))


def _partitions(arrays: dict[str, Any]) -> list[tuple[Delayed, ...]]:
    """Return for each partition its part of those arrays that are not None, delayed."""
    arrays = {name: array for name, array in arrays.items() if array is not None}
    for name, array in arrays.items():
        check_collection(name, array)
        if array.ndim != 1:
            raise TypeError(f"{name} must be one-dimensional, found {array.ndim} dimensions; ravel it.")
    return aligned_parts(arrays)


def _checked(y_true: ArrayLike, scores: ArrayLike, weights: ArrayLike | None = None) -> Rows | Exception:
    """Return the rows of a partition, or an error in them: a task that raises is tried again elsewhere."""
    try:
        y_true = plain_labels(y_true, "y_true")
        labels, numbers = column(y_true, "y_true"), column(scores, "scores")
        check_consistent_length(labels, numbers)
        # Adding zero makes minus zero zero.
        floats = checked_scores(numbers) + 0.0
        if not np.array_equal(floats, numbers):
            raise ValueError(
                f"float64 cannot tell all scores of type {numbers.dtype} apart; make them floats, or ranks."
            )
        weights = None if weights is None else summable_weights(weights, len(labels))
        return Rows(labels, floats, weights, distinct(labels, "y_true")[:MAX_LABELS])
    except (TypeError, ValueError) as error:
        return error


def _by_class(rows: Rows, positive: Label) -> Classes:
    """Return the scores of both classes, without rows of weight zero."""
    weights, is_positive = rows.weights, rows.labels == positive
    counted = True if weights is None else weights > 0.0
    masks = is_positive & counted, ~is_positive & counted
    first, second = (Values(rows.scores[m], None if weights is None else weights[m]) for m in masks)
    return first, second


def _totals(part: Classes) -> Floats:
    """Return the weight of either class, the number of weights that are not whole, and that of rows."""
    sums = [len(values) if weights is None else weights.sum() for values, weights in part]
    split = [np.count_nonzero(w != np.floor(w)) for _, w in part if w is not None]
    return np.array([*sums, sum(split), sum(len(values) for values, _ in part)], dtype=np.float64)


def _weights_around(part: Classes, score: float) -> Floats:
    """Return the weight of each class above a score, then at it."""
    masks = [(scores, compare(scores.values, score)) for compare in (np.greater, np.equal) for scores in part]
    return np.array([np.count_nonzero(m) if s.weights is None else s.weights[m].sum() for s, m in masks])


def _sum_of_negated(part: Classes, function: Callable[..., Any], *arguments: object) -> Any:
    return sum(function(Values(-values, weights), *arguments) for values, weights in part)


def _merged(parts: Sequence[Classes]) -> Classes:
    """Return the distinct scores of either class in some partitions or pieces, ascending, with weights."""
    positives, negatives = (_merged_class(pieces) for pieces in zip(*parts, strict=True))
    return positives, negatives


def _merged_class(pieces: Sequence[Values]) -> Values:
    values = np.concatenate([piece.values for piece in pieces])
    weights = np.concatenate([np.ones(len(v)) if w is None else w for v, w in pieces])
    # A stable sort is fast if the pieces ascend.
    order = np.argsort(values, kind="stable")
    values = values[order]
    starts = np.flatnonzero(np.diff(values, prepend=np.nan) != 0.0)
    return Values(values[starts], np.add.reduceat(weights[order], starts) if len(starts) else weights)


def _sample(group: Classes, size: int) -> Floats:
    """Return about ``size`` evenly spaced scores of a group."""
    step = max(1, sum(len(scores.values) for scores in group) // size)
    return np.concatenate([scores.values[step // 2 :: step] for scores in group])


def _between(group: Classes, low: float, high: float) -> Classes:
    """Return the scores of a group from ``low`` on and below ``high``."""

    def cut(values: NDArray[np.floating], weights: Any) -> Values:
        within = slice(*np.searchsorted(values, (low, high)))
        return Values(values[within], weights[within])

    return cut(*group[0]), cut(*group[1])


def _step(step: Callable[..., State], state: State, pieces: Sequence[Classes], *arguments: object) -> State:
    """Return the state after a range: from the counts of the positives and those in the bins between them."""
    (thresholds, counts), (negatives, weights) = _merged(pieces)
    bins = np.searchsorted(thresholds, negatives) + np.searchsorted(thresholds, negatives, side="right")
    in_bins = np.bincount(bins, weights, 2 * len(thresholds) + 1).astype(np.float64, copy=False)
    return step(state, counts, in_bins, *arguments)


@shared_docs
def auc(
    y_true: Collection,
    scores: Collection,
    *,
    ties: Ties = "half",
    sample_weight: Collection | None = None,
    pos_label: Label | None = None,
) -> float:
    r"""Return the share of pairs of a positive and a negative that are ranked rightly.

    .. math:: \mathrm{AUC} = 1 - \frac{1}{W_+ W_-} \sum_k w_k\, \mathrm{Height}(k)

    %(dask_sorted dask_labels_and_scores ties_of_pairs dask_weights dask_unit_interval dask_errors)s

    Examples
    --------
    >>> import dask.array as da
    >>> y, scores = da.from_array([0, 1, 0, 1], chunks=2), da.from_array([1.0, 2.0, 2.0, 3.0], chunks=2)
    >>> auc(y, scores)
    0.875
    """
    tied_error(ties)
    return DaskRanking(y_true, scores, sample_weight, pos_label).evaluate(metrics.auc, ties=ties)


@shared_docs
def average_precision(
    y_true: Collection,
    scores: Collection,
    *,
    ties: Ties = "half",
    sample_weight: Collection | None = None,
    pos_label: Label | None = None,
) -> float:
    r"""Return the mean, over the positives, of the precision at the rank of each.

    .. math:: \mathrm{AP} = \frac{1}{W_+} \sum_i w_i\, \mathrm{prec@rank}(i)

    %(dask_sorted dask_labels_and_scores)s
    ties : {"pessimistic", "half", "optimistic"}, default="half"
        Where rows tie: negatives first; all rows of the tie together, as in scikit-learn; or positives first.
    %(dask_weights dask_unit_interval dask_errors)s

    Examples
    --------
    >>> import dask.array as da
    >>> y, scores = da.from_array([1, 0, 1], chunks=2), da.from_array([3.0, 2.0, 1.0], chunks=2)
    >>> round(average_precision(y, scores), 4)
    0.8333
    """
    tied_error(ties)
    ranking = DaskRanking(y_true, scores, sample_weight, pos_label)
    return ranking.evaluate(metrics.average_precision, ties=ties)


@shared_docs
def precision_at_k(
    y_true: Collection,
    scores: Collection,
    k: int | None = None,
    *,
    fraction: float | None = None,
    fraction_of_positives: float | None = None,
    ties: Ties = "half",
    sample_weight: Collection | None = None,
    pos_label: Label | None = None,
) -> float:
    r"""Return the share of positives among the k highest scores.

    .. math:: \mathrm{prec@}k = \frac{1}{k} \sum_{i} 1[\mathrm{rank}(i) \le k]

    %(dask_equality)s
    It costs O(n), in six rounds, each of which brings 16 kB a partition to the client.

    %(dask_labels_and_scores depth_parameters ties_at_end dask_weights dask_unit_interval dask_errors)s

    Examples
    --------
    >>> import dask.array as da
    >>> y, scores = da.from_array([1, 0, 1, 1, 0], chunks=3), da.arange(5, 0, -1, chunks=3)
    >>> precision_at_k(y, scores, 2)
    0.5
    """
    tied_error(ties)
    depth = {"k": k, "fraction": fraction, "fraction_of_positives": fraction_of_positives}
    check_depth(**depth)
    ranking = DaskRanking(y_true, scores, sample_weight, pos_label)
    return ranking.evaluate(metrics.precision_at_k, **depth, ties=ties)


@shared_docs
def positives_at_top(
    y_true: Collection,
    scores: Collection,
    *,
    normalize: bool = False,
    ties: Ties = "pessimistic",
    sample_weight: Collection | None = None,
    pos_label: Label | None = None,
) -> float:
    r"""Return the number of positives ranked above all negatives.

    .. math:: \sum_i w_i\, 1[s_i > \max_k t_k]

    %(dask_equality)s
    It costs O(n), in two rounds, each of which brings a few numbers a partition to the client.

    %(dask_labels_and_scores)s
    normalize : bool, default=False
        Return the share of the positives in place of their number.
    %(ties_of_pairs dask_weights)s

    Returns
    -------
    float
        Between 0 and the weight of the positives, or 1 when normalised; the higher the better.

    %(dask_errors)s

    Examples
    --------
    >>> import dask.array as da
    >>> positives_at_top(da.from_array([1, 1, 0, 1], chunks=2), da.from_array([4.0, 3.5, 3.0, 2.0], chunks=2))
    2.0
    """
    tied_error(ties)
    ranking = DaskRanking(y_true, scores, sample_weight, pos_label)
    return ranking.evaluate(metrics.positives_at_top, ties=ties, normalize=normalize)
