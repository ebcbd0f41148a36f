"""The numbers of rows and hits to each depth of a ranked list: the numbers behind every curve."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from pushrank._numeric import Floats
from pushrank.metrics._ranking import Ranking

CURVE_POINTS = 400
"""The largest number of points of a curve: more than a screen shows."""


class ListDepths:
    """The numbers of rows and of hits to the end of every tie, best first.

    Inside a tie the hits rise evenly, which is their expectation under a random order. Rows and hits count by
    their weights. Each tie has a score, and the rows and the hits to its end: ``tie_scores``, ``tie_rows``
    and ``tie_hits``.

    Examples
    --------
    >>> depths = ListDepths(Ranking([1, 0, 1, 0], [3.0, 2.0, 2.0, 1.0]))
    >>> depths.hits_among(np.array([1, 2, 3])).tolist()
    [1.0, 1.5, 2.0]
    >>> depths.hits_above_misses(np.array([0, 1])).tolist()
    [1.0, 2.0]
    """

    def __init__(self, ranking: Ranking) -> None:
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
        """Return the rows and the hits to the end of each tie; ``counts`` says how often a row was drawn."""
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
        # Sums of weights may miss one another by rounding.
        at = np.searchsorted(self.tie_rows, rows * (1.0 - 1e-12))
        return np.asarray(self.tie_scores[np.minimum(at, len(self.tie_scores) - 1)])

    def hits_above_misses(self, misses: NDArray[Any]) -> Floats:
        """Return the expected number of positives above the next negative after so many."""
        # If several ties end at the same number of negatives, interp takes the last, as it should.
        return np.asarray(np.interp(misses, self._misses, self._hits))


def log_spaced(last: int, first: int = 1, points: int = CURVE_POINTS) -> NDArray[np.int64]:
    """Return whole numbers from ``first`` to ``last``, dense at the start, evenly spaced on a log axis.

    Examples
    --------
    >>> log_spaced(5).tolist()
    [1, 2, 3, 4, 5]
    >>> len(log_spaced(10**9))
    361
    """
    spaced = np.geomspace(max(first, 1), max(last, 1), points).round().astype(np.int64)
    numbers = np.unique(spaced)
    return np.concatenate([[0], numbers]) if first == 0 else numbers
