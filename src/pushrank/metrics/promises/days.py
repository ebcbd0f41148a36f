"""How many hits do the first rows of a coming day hold at least?"""

from __future__ import annotations

from contextlib import suppress
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from pushrank._base.docstrings import metric_docs
from pushrank._base.validation import check_number, comparable_scores, warn
from pushrank.metrics._ranking import Ranking
from pushrank.metrics.promises.bounds import MOST_COPIED, MOST_PLANNED, beta_binomial_cdf, least
from pushrank.metrics.promises.lists import tied_order

__all__ = ["guarantee_days", "hits_of_coming_days", "total_of_coming_days"]


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
) -> int:
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
    int
        The hits of the r-th day, for the largest r that the confidence level allows; if they are 0, a warning
        says how many days would promise one. Or the hits of all coming days, without a warning.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> y, days = rng.random(4000) < 0.1, np.repeat(np.arange(40), 100)
    >>> guarantee_days(y, rng.normal(size=4000) + 2 * y, days, k=10)
    3
    >>> guarantee_days(y, rng.normal(size=4000) + 2 * y, days, k=10, n_coming=7, total=True)
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
        return total_of_coming_days(hits, n_coming, confidence_level)
    return hits_of_coming_days(hits, k, n_coming, n_kept, confidence_level)


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
