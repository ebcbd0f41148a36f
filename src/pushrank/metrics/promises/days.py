"""How many hits do the first rows of coming days hold at least?"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from pushrank._base.docstrings import metric_docs
from pushrank._base.validation import check_number, comparable_scores, warn
from pushrank.metrics._ranking import Ranking
from pushrank.metrics.promises.lists import tied_order

__all__ = ["guarantee_days", "hits_of_coming_days"]


class DaysPromise(NamedTuple):
    """The promise of :func:`guarantee_days`, which prints as a sentence."""

    hits: int
    k: int
    n_coming: int
    n_days: int
    confidence_level: float

    def __repr__(self) -> str:
        """Return the promise as a sentence."""
        days = "a coming day" if self.n_coming == 1 else f"the next {self.n_coming} days together"
        held = f"hold at least {self.hits:,} hit{'s' * (self.hits > 1)}" if self.hits else "promise no hit"
        level = f"With {100.0 * self.confidence_level:g} % confidence, by {self.n_days:,} past days"
        return f"{level}, the first {self.k:,} rows {held} on {days}."


@metric_docs
def guarantee_days(
    y_true: ArrayLike,
    scores: ArrayLike,
    days: ArrayLike,
    *,
    k: int,
    n_coming: int = 1,
    confidence_level: float = 0.95,
    pos_label: Any = None,
) -> DaysPromise:
    r"""Return how many hits the first k rows of coming days hold together at least, by days as units.

    .. math:: P(H_{D + 1} + \dots + H_{D + m} \ge q) \ge 1 - \alpha

    for the largest q that the sum of m days, drawn from the D past days and m without a hit, is below with
    a chance of :math:`\alpha` at most. Proof: where days are exchangeable, those to come are any m of the
    D + m with the same chance, so that their sum is below this quantile of all such sums with that chance at
    most; days without a hit in their places only lower it. Of one coming day it is an order statistic: the
    r-th fewest hits of the past, with :math:`r \le \alpha (D + 1)`.

    Days must be exchangeable, without a trend or the rhythm of a week; the rows of a day may depend on each
    other. Where they do not, :func:`guarantee` for a day's rows promises more. O(n log n), and D m times the
    most hits of m days. Wilks, *Determination of sample sizes for setting tolerance limits* (1941), for one
    day.

    %(labels_and_scores)s
    days : array-like of shape (n,)
        The day of each row, or whatever else comes as a whole.
    k : int
        The number of first rows of each day, tied ones in a random order; a day of fewer counts with all.
    n_coming : int, default=1
        How many days to come the promise is of, together.
    confidence_level : float, default=0.95
        %(promise_level)s
    pos_label : label, optional

    Returns
    -------
    DaysPromise
        A named tuple, which prints as a sentence: ``hits``, and what they are promised of. A promise of no
        hit brings a warning.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> y, days = rng.random(4000) < 0.1, np.repeat(np.arange(40), 100)
    >>> guarantee_days(y, rng.normal(size=4000) + 2 * y, days, k=10)
    With 95 % confidence, by 40 past days, the first 10 rows hold at least 3 hits on a coming day.
    >>> guarantee_days(y, rng.normal(size=4000) + 2 * y, days, k=10, n_coming=7).hits
    24
    """
    check_number("k", k, 1, integer=True)
    ranking = Ranking(y_true, comparable_scores(scores), None, pos_label).with_groups(days)
    order = tied_order(ranking, "random", 0)
    of_day = np.asarray(ranking.groups)[order]
    order, of_day = order[np.argsort(of_day, kind="stable")], np.sort(of_day)
    places = np.arange(len(order)) - np.searchsorted(of_day, of_day)
    hits = np.bincount(of_day, ranking.is_positive[order] & (places < k))
    promised = hits_of_coming_days(hits, n_coming, confidence_level)
    return DaysPromise(promised, k, n_coming, len(hits), float(confidence_level))


def hits_of_coming_days(hits: NDArray[Any], n_coming: int = 1, confidence_level: float = 0.95) -> int:
    """Return the promise of :func:`guarantee_days` from the hits of each day, whatever lists they are of."""
    check_number("confidence_level", confidence_level, 0.5, 0.9999)
    check_number("n_coming", n_coming, 1, integer=True)
    days = np.append(hits, np.zeros(n_coming)).astype(np.int64)
    n, most = len(days), int(np.sort(days)[-n_coming:].sum())
    # By the number of days drawn so far, and by their sum: the chance of both.
    chances, left = np.zeros((n_coming + 1, most + 1)), np.arange(n_coming, 0.0, -1.0)
    chances[0, 0] = 1.0
    for day, hits_of_day in enumerate(days.tolist()):
        drawn = chances[:-1] * (left / (n - day))[:, None]
        chances[:-1] -= drawn
        chances[1:, hits_of_day:] += drawn[:, : most + 1 - hits_of_day]
    # The sum of the days to come is as rarely below its quantile. Sums of chances miss alpha by rounding.
    alpha = (1.0 - confidence_level) * (1.0 + 1e-12)
    least = int(np.searchsorted(np.cumsum(chances[-1]), alpha, side="right"))
    if not least:
        several = f"the next {n_coming} days" if n_coming > 1 else "a coming day"
        warn(f"{len(hits):,} days promise no hit on {several}: take more days, or a lower confidence level.")
    return least
