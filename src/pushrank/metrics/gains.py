"""The gains table of a ranked list, and its precision, recall and lift at every depth."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from pushrank._base.docstrings import metric_docs
from pushrank._base.numeric import Floats
from pushrank._base.user_types import Label
from pushrank._base.validation import check_number
from pushrank.metrics._ranking import Ranking, round_up_to_rows


class GainsTable(NamedTuple):
    """The contents of each part of a list, best part first, and of all rows to its end.

    Parameters
    ----------
    rows : ndarray of shape (n_parts,)
        The number of rows to the end of each part.
    positives : ndarray of shape (n_parts,)
        The number of positives in the part.
    precision, lift : ndarray of shape (n_parts,)
        The share of positives among the rows of the part, and that over the share among all rows.
    recall, cumulative_lift : ndarray of shape (n_parts,)
        The share of all positives to the end of the part, and that over the share of the rows.
    lowest_score : ndarray of shape (n_parts,)
        The score of the last row of each part.
    """

    rows: Floats
    positives: Floats
    precision: Floats
    lift: Floats
    recall: Floats
    cumulative_lift: Floats
    lowest_score: Floats


class TopCurve(NamedTuple):
    """Precision, recall and lift among the first rows, at numbers of rows that are dense at the start.

    Parameters
    ----------
    k : ndarray of int, shape (m,)
        Numbers of rows, ascending from 1 to all.
    precision, recall, lift : ndarray of shape (m,)
        The measures among this many rows, ties by expectation.
    """

    k: NDArray[np.int64]
    precision: Floats
    recall: Floats
    lift: Floats


@metric_docs
def gains_table(
    y_true: ArrayLike,
    scores: ArrayLike,
    *,
    n_parts: int = 10,
    sample_weight: ArrayLike | None = None,
    pos_label: Label | None = None,
) -> GainsTable:
    r"""Return the contents of each tenth of a list: the gains table, or decile table, of marketing.

    .. math:: G_j = \frac{1}{W_+} \sum_i w_i\, 1[\mathrm{rank}(i) \le \lceil j n / 10 \rceil]

    O(n log n). A tie that a part ends in counts by its expectation under a random order. Ling and Li, *Data
    mining for direct marketing: problems and solutions*, KDD 1998.

    %(labels_and_scores)s
    n_parts : int, default=10
        The number of parts of equal size, at least 1, which end after whole rows, as ``fraction`` does in
        :func:`recall_at_k`. With fewer rows than parts, each row is a part.
    %(weight_parameters)s

    Returns
    -------
    GainsTable
        A named tuple of arrays, one entry a part: ``rows``, ``positives``, ``precision``, ``lift``,
        ``recall``, ``cumulative_lift`` and ``lowest_score``; ``DataFrame(table._asdict())`` is a frame.

    Examples
    --------
    >>> table = gains_table([1, 0, 1, 0, 0, 0], [6.0, 5.0, 4.0, 3.0, 2.0, 1.0], n_parts=3)
    >>> table.positives.tolist(), table.recall.tolist(), table.lowest_score.tolist()
    ([1.0, 1.0, 0.0], [0.5, 1.0, 1.0], [5.0, 3.0, 1.0])
    """
    check_number("n_parts", n_parts, 1, integer=True)
    return ranking_gains_table(Ranking(y_true, scores, sample_weight, pos_label), n_parts)


def ranking_gains_table(ranking: Ranking, n_parts: int) -> GainsTable:
    ends = np.unique([round_up_to_rows(j / n_parts * ranking.total, ranking) for j in range(1, n_parts + 1)])
    ends[-1] = ranking.total
    hits = ranking.hits_among(ends)
    rows, positives = np.diff(ends, prepend=0.0), np.diff(hits, prepend=0.0)
    # The last number of hits may miss the weight of the positives by rounding.
    recall, precision = hits / hits[-1], positives / rows
    order = np.argsort(-ranking.scores, kind="stable")
    # Sums of weights may miss one another by rounding.
    last = np.searchsorted(np.cumsum(ranking.row_weights[order]), ends * (1.0 - 1e-12))
    return GainsTable(
        ends,
        positives,
        precision,
        precision / ranking.base_rate,
        recall,
        recall * ranking.total / ends,
        ranking.scores[order[np.minimum(last, ranking.n_rows - 1)]],
    )


def ranking_curve(ranking: Ranking) -> TopCurve:
    """Return the curve of a ranking; if all rows weigh less than one, it has one point."""
    k = log_spaced(max(1, int(ranking.total)))
    hits = ranking.hits_among(k)
    return TopCurve(k, hits / k, hits / ranking.total_positive, hits / k / ranking.base_rate)


CURVE_POINTS = 400
"""The largest number of points of a curve: more than a screen shows."""


def log_spaced(last: int, first: int = 1, points: int = CURVE_POINTS) -> NDArray[np.int64]:
    """Return whole numbers from ``first`` to ``last``, dense at the start, evenly spaced on a log axis."""
    spaced = np.geomspace(max(first, 1), max(last, 1), points).round().astype(np.int64)
    numbers = np.unique(spaced)
    return np.concatenate([[0], numbers]) if first == 0 else numbers
