"""How many hits do the first rows of a coming day hold at least?"""

from __future__ import annotations

from contextlib import suppress
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from pushrank._base.docstrings import metric_docs
from pushrank._base.validation import check_number, comparable_scores, warn
from pushrank.metrics._ranking import Ranking
from pushrank.metrics.promises.bounds import MOST_COPIED, MOST_PLANNED, beta_binomial_cdf, least
from pushrank.metrics.promises.lists import tied_order

__all__ = ["guarantee_days", "hits_of_coming_days", "total_of_coming_days"]


class DaysPromise(NamedTuple):
    """The promise of :func:`guarantee_days`, which prints as a sentence."""

    hits: int
    k: int
    n_kept: int | None
    n_coming: int
    n_days: int
    confidence_level: float

    def __repr__(self) -> str:
        """Return the promise as a sentence."""
        days = "a coming day" if self.n_coming == 1 else f"{self.n_kept} of the next {self.n_coming} days"
        if self.n_kept is None:
            days = f"the next {self.n_coming} days together"
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
    n_kept: int | None = None,
    total: bool = False,
    confidence_level: float = 0.95,
    pos_label: Any = None,
) -> DaysPromise:
    r"""Return how many hits the first k rows of a coming day hold at least, with past days as the units.

    .. math:: P(\text{at least } q \text{ of } m \text{ coming days have } H \ge H_{(r)}) \ge
        P(\mathrm{BetaBinomial}(m, r, D + 1 - r) \le m - q)

    for the r-th fewest hits of D past days; of one coming day it is :math:`1 - r / (D + 1)`. A `total` is
    promised of all m days together: where days are exchangeable, any m of D + m have a sum as likely as that
    of those to come, of which nothing is known. In their place are m days without a hit, which only lowers
    sums, and the promise is the quantile of the sum of m days drawn of these D + m.

    Days must be exchangeable, without a trend or the rhythm of a week; the rows of a day may depend on each
    other. Where they do not, :func:`guarantee` for a day's rows promises more. O(n log n). Wilks,
    *Determination of sample sizes for setting tolerance limits* (1941), for order statistics.

    %(labels_and_scores)s
    days : array-like of shape (n,)
        The day of each row, or whatever else comes as a whole.
    k : int
        The number of first rows of each day, tied ones in a random order; a day of fewer counts with all.
    n_coming, n_kept : int
        The promise is of at least `n_kept` (by default all) of the next `n_coming` days.
    total : bool, default=False
        Whether to promise the hits of the next `n_coming` days together, and not those of each.
    confidence_level : float, default=0.95
        %(promise_level)s
    pos_label : label, optional

    Returns
    -------
    DaysPromise
        A named tuple, which prints as a sentence: ``hits``, those of the r-th day for the largest r that the
        confidence level allows, or of all coming days, and what they are promised of. If those of a day are
        0, a warning says how many days would promise one.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> y, days = rng.random(4000) < 0.1, np.repeat(np.arange(40), 100)
    >>> guarantee_days(y, rng.normal(size=4000) + 2 * y, days, k=10)
    With 95 % confidence, by 40 past days, the first 10 rows hold at least 3 hits on a coming day.
    >>> guarantee_days(y, rng.normal(size=4000) + 2 * y, days, k=10, n_coming=7, total=True).hits
    24
    """
    check_number("k", k, 1, integer=True)
    ranking = Ranking(y_true, comparable_scores(scores), None, pos_label).with_groups(days)
    order = tied_order(ranking, "random", 0)
    of_day = np.asarray(ranking.groups)[order]
    order, of_day = order[np.argsort(of_day, kind="stable")], np.sort(of_day)
    places = np.arange(len(order)) - np.searchsorted(of_day, of_day)
    hits = np.bincount(of_day, ranking.is_positive[order] & (places < k))
    if total:
        promised, n_kept = total_of_coming_days(hits, n_coming, confidence_level), None
    else:
        n_kept = n_coming if n_kept is None else n_kept
        promised = hits_of_coming_days(hits, k, n_coming, n_kept, confidence_level)
    return DaysPromise(promised, k, n_kept, n_coming, len(hits), float(confidence_level))


def total_of_coming_days(hits: NDArray[Any], n_coming: int, confidence_level: float = 0.95) -> int:
    """Return the promise of :func:`guarantee_days` of all coming days together, from the hits of each day."""
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
    # The days to come are such a draw: a sum of so small a chance is theirs as rarely.
    return int(np.searchsorted(np.cumsum(chances[-1]), 1.0 - confidence_level, side="right"))


def hits_of_coming_days(
    hits: NDArray[Any], k: int, n_coming: int = 1, n_kept: int | None = None, confidence_level: float = 0.95
) -> int:
    """Return the promise of :func:`guarantee_days` from the hits of each day, whatever lists they are of."""
    n_kept, hits = n_coming if n_kept is None else n_kept, np.sort(hits)
    check_number("confidence_level", confidence_level, 0.5, 0.9999)
    for name, value, most in (("n_coming", n_coming, np.inf), ("n_kept", n_kept, n_coming)):
        check_number(name, value, 1, most, integer=True)

    def holds(rank: int, n_days: int) -> bool:
        chance = beta_binomial_cdf(n_coming - n_kept, n_coming, float(rank), n_days + 1.0 - rank)
        return bool(chance >= confidence_level * (1.0 - 1e-12))

    n_days = len(hits)
    if not holds(1, n_days):
        needed = least(lambda n: holds(1, n), n_days, MOST_PLANNED, "days")
        raise ValueError(
            f"{n_days} days promise nothing at {100 * confidence_level:g} %, {needed} days would: take more, "
            "or promise less by n_kept or confidence_level."
        )
    rank = least(lambda rank: rank == n_days or not holds(rank + 1, n_days), 1, n_days, "days")
    if hits[rank - 1] == 0:
        # Of more days like these the same share has no hit.
        share, would = np.count_nonzero(hits == 0) / n_days, "nor would any number of days like these"
        with suppress(ValueError):
            many = least(lambda n: holds(min(n, int(share * n) + 1), n), n_days + 1, MOST_COPIED, "days")
            would = f"about {many:,} would" if share < 1.0 else would
        warn(f"{n_days} days promise no hit among the first {k:,} rows of a day, {would}.")
    return int(hits[rank - 1])
