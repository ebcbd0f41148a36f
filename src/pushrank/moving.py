"""A budget that moves between days: how many rows of a day to act on, of those left for a week or month."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import logit
from sklearn.linear_model import LogisticRegression

from pushrank._base.numeric import Floats
from pushrank.budgets import MONDAY, Budget, Periods

__all__ = [
    "ACTED_DAYS", "PAST_DAYS", "Day", "MovingGain", "Spending", "calls_of_day", "comparable", "level_of_days",
    "moving_gain", "replayed", "span_of",
]  # fmt: skip

PAST_DAYS = 28
"""Days whose first scores say what a call is worth."""
KNOWN_DAYS = 7
"""Days from which on they do; before, each day has an equal part of what is left."""
ACTED_DAYS = 84
"""Days of whose rows acted on the level of a day is learnt."""


def calls_of_day(
    today: Floats, past: Sequence[Floats], left: int, n_days: int, cap: int, floor: int = 0
) -> int:
    r"""Return how many rows of a day to act on, so that the last call is worth the same on every day.

    It is the largest x with

    .. math:: x + (r - 1) \frac1W \sum_w \min(\max(N_w(\theta), f_w), m) \le b, \qquad f_w = \min(f, N_w),

    where :math:`\theta` is the score of the x-th row of today, :math:`N_w(\theta)` counts the rows of a past
    day w of W at or above it, and :math:`N_w` all of them: rows of today are taken down to a score at which
    the calls of days such as the past ones would spend the rest. On the last day it is all that is left.

    Only the order of scores counts, of all days together: an increasing map of all of them changes nothing.
    O(n log n) of the rows. Rows that tie with the last one of today count on past days.

    Parameters
    ----------
    today : ndarray of shape (n,)
        The scores of a day, the higher the better.
    past : sequence of ndarray
        The scores of past days, of which the first `cap` of each are enough; none may be without rows.
    left : int
        The calls b that are left for the span, at least 0.
    n_days : int
        The days r that are left of it, today among them, at least 1.
    cap, floor : int
        The most and the fewest calls a day, m and f. A day of fewer rows than f is acted on whole.

    Examples
    --------
    >>> today, past = np.array([0.8, 0.6, 0.2]), [np.array([0.9, 0.5, 0.1])]
    >>> [calls_of_day(today, past, b, n_days=2, cap=2) for b in (1, 2, 3, 9)]
    [0, 1, 2, 2]
    >>> calls_of_day(today, past, 3, n_days=1, cap=2)
    2
    """
    most, least = min(left, cap, len(today)), min(left, floor, len(today))
    if n_days > 1 and most > least:
        best = -np.sort(-today)[least:most]
        elsewhere = np.zeros(len(best))
        for of_day in past:
            n_above = len(of_day) - np.searchsorted(np.sort(of_day), best, side="left")
            elsewhere += np.clip(n_above, min(floor, len(of_day)), cap)
        spent = np.arange(least + 1, most + 1) + (n_days - 1) * elsewhere / len(past)
        # What is spent grows with the rows that are taken.
        most = least + int(np.count_nonzero(spent <= left))
    return most


def level_of_days(within: Floats, level: Floats, hits: NDArray[np.bool_]) -> float:
    r"""Return how much of the level of a day's scores is real, from 0 to 1, by rows that were acted on.

    It is :math:`\beta_{between} / \beta_{within}`, cut to [0, 1], of the logistic regression of the labels on
    how far a score is above its day's level, and on this level. With 1 the difference of two days is worth as
    much as the same difference within a day; with 0 it says nothing, and every day is alike. Rows that say
    nothing, as without a hit or of one day, give 0. Mundlak, *On the pooling of time series and cross section
    data*, Econometrica 46 (1978).

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> level, within = np.repeat(rng.normal(size=300), 30), rng.normal(size=9000)
    >>> hits = rng.random(9000) < 1 / (1 + np.exp(2.0 - within - 0.5 * level))
    >>> round(level_of_days(within, level, hits), 1)
    0.5
    """
    if not hits.any() or hits.all() or np.ptp(level) == 0.0 or np.ptp(within) == 0.0:
        return 0.0
    columns = np.column_stack([within, level])
    units = columns.std(axis=0)
    # A touch of a penalty keeps coefficients finite where scores part hits and misses.
    fitted = LogisticRegression(C=1e3, solver="newton-cholesky").fit(columns / units, hits)
    beta_within, beta_between = fitted.coef_[0] / units
    return float(np.clip(beta_between / beta_within, 0.0, 1.0)) if beta_within > 0.0 else 0.0


class Day(NamedTuple):
    """What is kept of a day: its date, the scores of its first rows, and the labels of those acted on."""

    date: np.datetime64
    first: Floats
    acted: Floats
    hits: NDArray[np.bool_]

    @property
    def level(self) -> float:
        """The mean of the scores of its first rows."""
        return float(self.first.mean())


class Spending:
    """The calls of a span, from day to day: how many each day has, by what past days say a call is worth.

    Parameters
    ----------
    budget : Budget
        A budget a week or a month with a ``daily_cap``.

    Attributes
    ----------
    days : list of Day
        The last 84 days, in their order.
    span : object
        The beginning of the week or month whose calls are spent.
    left : int
        The calls that are left of it.
    """

    def __init__(self, budget: Budget) -> None:
        self.budget = budget
        self.days: list[Day] = []
        self.span: Any = None
        self.left = 0

    def calls(self, date: np.datetime64, scores: Floats) -> int:
        """Return how many rows of a day, later than those kept, are acted on, which are then spent.

        The first span begins with as many calls as its days that are left have of it. Until seven days are
        kept each day has an equal part of what is left.
        """
        span, n_days, length = span_of(self.budget, date)
        if span != self.span:
            whole = self.span is not None
            self.left = self.budget.n if whole else round(self.budget.n * n_days / length)
            self.span = span
        cap = int(self.budget.daily_cap or self.budget.n)
        recent = [day.first for day in self.days if day.date >= date - PAST_DAYS and len(day.first)]
        today = -np.sort(-scores)[:cap]
        if len(recent) < KNOWN_DAYS:
            n = min(max(-(-self.left // n_days), self.budget.daily_floor), self.left, cap, len(scores))
        else:
            share = self.share(date)
            today, *past = (first - (1.0 - share) * first.mean() for first in (today, *recent) if len(first))
            n = calls_of_day(today, past, self.left, n_days, cap, self.budget.daily_floor)
        self.left -= n
        return n

    def share(self, date: np.datetime64) -> float:
        """Return how much of the level of a day is real, by the rows acted on before it."""
        told = [day for day in self.days if day.date >= date - ACTED_DAYS and len(day.acted)]
        if not told:
            return 0.0
        levels = np.repeat([day.level for day in told], [len(day.acted) for day in told])
        acted, hits = (np.concatenate([getattr(day, name) for day in told]) for name in ("acted", "hits"))
        return level_of_days(acted - levels, levels, hits)

    def keep(self, date: np.datetime64, scores: Floats, acted: NDArray[np.bool_], hits: NDArray[Any]) -> None:
        """Keep what a day says of the worth of calls on days to come."""
        first = -np.sort(-scores)[: self.budget.daily_cap]
        self.days = [day for day in self.days if day.date >= date - ACTED_DAYS]
        self.days.append(Day(date, first, scores[acted], np.asarray(hits[acted], dtype=bool)))


def span_of(budget: Budget, date: np.datetime64) -> tuple[np.datetime64, int, int]:
    """Return the first day of the week or month of a day, its days from this one on, and all of them.

    Examples
    --------
    >>> span_of(Budget(210, "week", 60), np.datetime64("2026-03-04"))[1:]
    (5, 7)
    >>> span_of(Budget(900, "month", 60), np.datetime64("2026-02-28"))[1:]
    (1, 28)
    """
    if budget.per == "week":
        at = int((date - MONDAY).astype(int)) % 7
        return date - at, 7 - at, 7
    month = date.astype("datetime64[M]")
    first, after = month.astype("datetime64[D]"), (month + 1).astype("datetime64[D]")
    return first, int((after - date).astype(int)), int((after - first).astype(int))


def replayed(
    scores: Floats, hits: NDArray[Any], days: Periods, budget: Budget
) -> tuple[Spending, NDArray[np.int64]]:
    """Return what is known after some days, and how many rows of each a budget that moves acts on.

    It is decided day by day, by what is known of the days before alone: labels come the day after.
    """
    spending, values, rows = Spending(budget), comparable(scores), days.rows
    calls = np.zeros(len(rows), dtype=np.int64)
    for number, (date, of_day) in enumerate(zip(days.labels, rows, strict=True)):
        of = values[of_day]
        calls[number] = spending.calls(date, of)
        acted = np.zeros(len(of), dtype=bool)
        acted[np.argsort(-of, kind="stable")[: calls[number]]] = True
        spending.keep(date, of, acted, hits[of_day])
    return spending, calls


def comparable(scores: Floats) -> Floats:
    """Return scores whose differences are comparable: the logits of probabilities, and others as they are."""
    lowest, highest = float(scores.min(initial=0.5)), float(scores.max(initial=0.5))
    if lowest < 0.0 or highest > 1.0:
        return scores
    tiny = np.finfo(np.float64).eps
    return np.asarray(logit(np.clip(scores, tiny, 1.0 - tiny)))


class MovingGain(NamedTuple):
    """What the calls of every day would have found if they had moved between the days of a week.

    Parameters
    ----------
    budget : Budget
        The budget that moves.
    fixed, moved : float
        The hits a day of as many calls every day, and of those that move.
    low, high : float
        What to expect a day in weeks to come, of moved less fixed.
    share : float
        How much of the level of a day is real, from 0 to 1.
    """

    budget: Budget
    fixed: float
    moved: float
    low: float
    high: float
    share: float

    @property
    def facts(self) -> dict[str, Any]:
        """The figures as plain values, for JSON."""
        return {**self._asdict(), "budget": str(self.budget)}

    @property
    def sentence(self) -> str:
        """The gain and its range in words."""
        real = "real" if self.share >= 0.75 else "partly real" if self.share > 0.25 else "not real"
        return (
            f"The same calls by the {self.budget.per}, at most {self.budget.daily_cap:,} a day, would have "
            f"found {self.moved:.1f} instead of {self.fixed:.1f} a day; in {self.budget.several} to come "
            f"expect {self.low:+.1f} to {self.high:+.1f} more. The level of days: {real} ({self.share:.1f})."
        )


def moving_gain(hits: NDArray[Any], scores: Floats, budget: Budget, time: Any) -> MovingGain | None:
    r"""Return what a budget a day would have found by the week, at most twice as many a day.

    The rule is replayed on the days as they came, the first 28 of which are its past. The range is
    :math:`\sqrt 2` times as wide as the interval of the mean difference by blocks of seven days, since weeks
    to come vary, too. It is None of a budget that is none a day, or of fewer than 56 days.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> day = np.repeat(np.arange("2026-01-01", 90, dtype="datetime64[D]"), 50)
    >>> scores = np.repeat(rng.normal(size=90), 50) + rng.normal(size=4500) - 3.0
    >>> hits = rng.random(4500) < 1.0 / (1.0 + np.exp(-scores))
    >>> gain = moving_gain(hits, scores, Budget(5), day)
    >>> gain.moved > gain.fixed, gain.share > 0.5
    (True, True)
    """
    if budget.per != "day" or len((days := budget.periods(time)).labels) < 2 * PAST_DAYS:
        return None
    moving, order = Budget(7 * budget.n, "week", 2 * budget.n), np.argsort(-scores, kind="stable")
    spending, calls = replayed(scores, hits, days, moving)
    found = [
        np.bincount(days.codes, days.first(order, n) * hits, len(days.labels))[PAST_DAYS:]
        for n in (budget.n, calls)
    ]
    more = np.asarray(found[1] - found[0], dtype=np.float64)
    low, high = np.quantile(means_of_blocks(more), [0.025, 0.975])
    mean, wide = more.mean(), np.sqrt(2.0)
    low, high = float(mean - wide * (mean - low)), float(mean + wide * (high - mean))
    share = spending.share(days.labels[-1] + 1)
    return MovingGain(moving, float(found[0].mean()), float(found[1].mean()), low, high, share)


def means_of_blocks(series: Floats, n_draws: int = 2000) -> Floats:
    """Return means of as many days as a series has, of its blocks of seven, drawn by a fixed seed."""
    n, length = len(series), 7
    ring = np.cumsum(np.r_[0.0, series, series[:length]])
    blocks = ring[length : length + n] - ring[:n]
    n_blocks = -(-n // length)
    draws = np.random.default_rng(0).integers(0, n, (n_draws, n_blocks))
    return np.asarray(blocks[draws].sum(axis=1) / (length * n_blocks))
