"""Lists of several queries, each ranked by itself: order, ties and places within every list."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils import check_consistent_length

from pushrank._chunks import map_chunks
from pushrank._columns import column
from pushrank._log_space import Floats
from pushrank.metrics.measured import are_many
from pushrank.metrics.ranks import checked_scores, summable_weights
from pushrank.metrics.tally import Ties, tie_share

TIE_ORDER = {1.0: 1.0, 0.5: 0.0, 0.0: -1.0}
"""The sign of the gain as the last key of the sort: the worst rows of a tie first, or the best."""


@dataclass(frozen=True, eq=False)
class QueryLists:
    """Rows sorted by query and descending score.

    Parameters
    ----------
    gains : ndarray of shape (n,)
        The gain of each row, in that order.
    starts : ndarray of int, shape (n_queries,)
        Where each query's list begins.
    places : ndarray of int, shape (n,)
        The place of each row in its list, from 0.
    tie_starts : ndarray of int, shape (n_ties,)
        Where each run of rows whose order is open begins.
    """

    gains: Floats
    starts: NDArray[np.intp]
    places: NDArray[np.intp]
    tie_starts: NDArray[np.intp]

    @property
    def tie_sizes(self) -> NDArray[np.intp]:
        """The number of rows of each tie."""
        return np.diff(self.tie_starts, append=len(self.gains))

    @property
    def tie_queries(self) -> NDArray[np.intp]:
        """The number of the list that each tie is in."""
        return np.searchsorted(self.starts, self.tie_starts, side="right") - 1


def by_query(gains: Floats, scores: Floats, queries: NDArray[np.intp], ties: Ties) -> QueryLists:
    """Sort the rows into lists; tied rows are ordered by their gain, but under ``"half"`` stay tied."""
    order = np.lexsort((TIE_ORDER[tie_share(ties)] * gains, -scores, queries))
    of_query, sorted_scores = queries[order], scores[order]
    new_query = np.append(True, of_query[1:] != of_query[:-1])
    new_tie = new_query | np.append(True, sorted_scores[1:] != sorted_scores[:-1])
    if ties != "half":
        new_tie[:] = True  # the rule has settled the order of tied rows
    starts = np.flatnonzero(new_query)
    places = np.arange(len(order)) - np.repeat(starts, np.diff(starts, append=len(order)))
    return QueryLists(gains[order], starts, places, np.flatnonzero(new_tie))


def _numbered(qid: NDArray[Any]) -> NDArray[np.intp]:
    """Return the queries as numbers from zero."""
    try:
        return np.unique(qid, return_inverse=True)[1].astype(np.intp)
    except TypeError as error:
        raise ValueError(
            "qid mixes values that have no order, such as a missing query; name each by one kind of value."
        ) from error


def mean_over_queries(
    of_lists: Callable[[QueryLists], Floats],
    gains: Floats,
    scores: ArrayLike,
    qid: ArrayLike | None,
    sample_weight: ArrayLike | None,
    ties: Ties,
) -> Any:
    """Return the mean over the queries of a measure of each, for one ranking or for each row of scores.

    A query weighs the mean of its rows' weights.

    Raises
    ------
    ValueError
        When lengths differ, a score is not finite, queries have no order, or all weights are zero.
    """
    queries = np.zeros(len(gains), dtype=np.intp)
    if qid is not None:
        queries = _numbered(column(qid, "qid"))
        check_consistent_length(gains, queries)
    weights = np.ones(len(gains)) if sample_weight is None else summable_weights(sample_weight, len(gains))
    query_weights = np.bincount(queries, weights) / np.bincount(queries)
    if not query_weights.any():
        raise ValueError("sample_weight is zero for every row; at least one query needs a weight.")
    query_weights = query_weights / query_weights.max()  # the sum of large weights may overflow

    def mean(row: ArrayLike) -> float:
        values = checked_scores(column(row, "scores"))
        check_consistent_length(gains, values)
        return float(np.average(of_lists(by_query(gains, values, queries, ties)), weights=query_weights))

    if not are_many(scores):
        return mean(scores)
    table = np.asarray(scores)
    return np.array(map_chunks(lambda r, _: mean(table[r]), [(r, r + 1) for r in range(len(table))]))
