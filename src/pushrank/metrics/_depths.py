"""How many hits there are to each depth of a ranked list: the numbers under every curve."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import ndtri

from pushrank._numeric import Floats
from pushrank._validation import check_number
from pushrank.metrics._ranking import Ranking

CURVE_POINTS = 400
"""Places at which a curve is kept at most: more than a screen shows."""


class ListDepths:
    """The numbers of rows and of hits to the end of every tie, best first.

    Inside a tie hits rise evenly, which is their expectation under a random order.

    Arguments are those of `pushrank.metrics`; rows and hits count by their weights. Of every tie there are
    the score, and the rows and the hits to its end: ``tie_scores``, ``tie_rows`` and ``tie_hits``.

    Examples
    --------
    >>> depths = ListDepths([1, 0, 1, 0], [3.0, 2.0, 2.0, 1.0])
    >>> depths.hits_among(np.array([1, 2, 3])).tolist()
    [1.0, 1.5, 2.0]
    >>> depths.hits_above_misses(np.array([0, 1])).tolist()
    [1.0, 2.0]
    """

    def __init__(
        self,
        y_true: ArrayLike,
        scores: ArrayLike,
        sample_weight: ArrayLike | None = None,
        pos_label: Any = None,
    ) -> None:
        self._set(Ranking(y_true, scores, sample_weight, pos_label))

    @classmethod
    def from_ranking(cls, ranking: Ranking) -> Self:
        """Return the depths of a ranking that has been checked."""
        depths = cls.__new__(cls)
        depths._set(ranking)
        return depths

    def _set(self, ranking: Ranking) -> None:
        self.order: NDArray[np.intp] = np.argsort(-ranking.scores, kind="stable")
        ordered = ranking.scores[self.order]
        self._ends = np.append(np.flatnonzero(np.diff(ordered)), len(ordered) - 1)
        weights = np.ones(len(ordered)) if ranking.weights is None else ranking.weights[self.order]
        is_positive = ranking.is_positive[self.order]
        self._weights = tuple(np.where(mask, weights, 0.0) for mask in (is_positive, ~is_positive))
        self.tie_scores = ordered[self._ends]
        self.tie_rows, self.tie_hits = self.tie_counts()
        self._rows, self._hits = (np.concatenate([[0.0], c]) for c in (self.tie_rows, self.tie_hits))
        self._misses = self._rows - self._hits
        self.n_rows = len(ordered)
        self.n_negative = int(np.count_nonzero(~is_positive))
        self.total, self.total_positive, self.total_negative = (
            float(sums[-1]) for sums in (self._rows, self._hits, self._misses)
        )

    def tie_counts(self, counts: NDArray[Any] | None = None) -> tuple[Floats, Floats]:
        """Return the rows and the hits to the end of each tie, of rows that were drawn so often."""
        drawn = 1.0 if counts is None else counts[self.order]
        hits, misses = (np.cumsum(drawn * weights)[self._ends] for weights in self._weights)
        return hits + misses, hits

    @property
    def base_rate(self) -> float:
        """The share of positives among all rows."""
        return self.total_positive / self.total

    def hits_among(self, rows: NDArray[Any]) -> Floats:
        """Return the expected number of positives among so many first rows."""
        return np.asarray(np.interp(rows, self._rows, self._hits))

    def scores_at(self, rows: NDArray[Any]) -> Floats:
        """Return the score of the last of so many first rows."""
        # sums of weights miss one another by rounding
        at = np.searchsorted(self.tie_rows, rows * (1.0 - 1e-12))
        return np.asarray(self.tie_scores[np.minimum(at, len(self.tie_scores) - 1)])

    def hits_above_misses(self, misses: NDArray[Any]) -> Floats:
        """Return the expected number of positives met before one negative more than these."""
        # where several ties end at the same number of negatives, interp takes the last
        return np.asarray(np.interp(misses, self._misses, self._hits))


def curve_places(last: int, first: int = 1, points: int = CURVE_POINTS) -> NDArray[np.int64]:
    """Return whole numbers from ``first`` to ``last``, dense at the start, evenly spaced on a log axis.

    Examples
    --------
    >>> curve_places(5).tolist()
    [1, 2, 3, 4, 5]
    >>> len(curve_places(10**9))
    361
    """
    spaced = np.geomspace(max(first, 1), max(last, 1), points).round().astype(np.int64)
    places = np.unique(spaced)
    return np.concatenate([[0], places]) if first == 0 else places


def share_interval(hits: Floats, rows: Floats, confidence_level: float) -> tuple[Floats, Floats]:
    """Return Wilson's interval for the chance of a hit, of so many hits among so many rows.

    Of all shapes (m,), ``0 <= hits <= rows`` and rows are positive.

    References
    ----------
    Wilson, *Probable inference, the law of succession, and statistical inference*, JASA 22 (1927).

    Examples
    --------
    >>> low, high = share_interval(np.array([10.0]), np.array([10.0]), 0.95)
    >>> round(float(low[0]), 4), round(float(high[0]), 4)
    (0.7225, 1.0)
    """
    check_number("confidence_level", confidence_level, above=0.0, below=1.0)
    z = float(ndtri(0.5 + confidence_level / 2.0))
    share = hits / rows
    centre = (share + z * z / (2.0 * rows)) / (1.0 + z * z / rows)
    half = z / (1.0 + z * z / rows) * np.sqrt(share * (1.0 - share) / rows + (z / (2.0 * rows)) ** 2)
    return np.maximum(centre - half, 0.0), np.minimum(centre + half, 1.0)
