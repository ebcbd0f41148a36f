"""Budgets by period: a number of rows an hour, a day, a week, a month, or a batch."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from pushrank._base.bounds import UNITS
from pushrank._base.files import trust_in_files
from pushrank._base.numeric import Floats
from pushrank._base.validation import check_number, column
from pushrank.times import check_present, check_times

__all__ = ["NEARLY_ALL", "STEPS", "Budget", "Periods", "chances_of_list", "check_by_period", "comes_whole"]

# Weeks begin on Mondays, and day 0 of NumPy's dates is a Thursday.
STEPS = dict(zip(UNITS, ("datetime64[h]", "datetime64[D]", "datetime64[D]", "datetime64[M]"), strict=False))
NEARLY_ALL = 0.9
"""The share of a period's rows at one moment, and of such periods, from which a period comes whole."""
MONDAY = np.datetime64("1970-01-05", "D")
SHORTEST = {"week": 7, "month": 28}
"""The days of the shortest period that a budget may move between."""


class Periods(NamedTuple):
    """The periods of rows.

    Parameters
    ----------
    labels : ndarray of shape (n_periods,)
        The beginning of each period that has a row, or the value of each batch, ascending.
    codes : ndarray of shape (n,)
        The number of each row's period among them.

    Examples
    --------
    >>> Budget(1, "batch").periods(["b", "a", "b"]).sizes.tolist()
    [1, 2]
    """

    labels: NDArray[Any]
    codes: NDArray[np.int64]

    @property
    def sizes(self) -> NDArray[np.int64]:
        """The number of rows of each period."""
        return np.bincount(self.codes, minlength=len(self.labels))

    @property
    def rows(self) -> list[NDArray[np.intp]]:
        """The numbers of the rows of each period."""
        parts = np.split(np.argsort(self.codes, kind="stable"), np.cumsum(self.sizes)[:-1])
        return parts[: len(self.labels)]

    def first(self, order: NDArray[np.intp], n: Any) -> NDArray[np.bool_]:
        """Return which rows are the first n of their period in an order, or as many as n says of each."""
        order = order[np.argsort(self.codes[order], kind="stable")]
        of, are_first = self.codes[order], np.empty(len(order), dtype=bool)
        are_first[order] = (
            np.arange(len(order)) - np.searchsorted(of, of) < np.broadcast_to(n, self.sizes.shape)[of]
        )
        return are_first

    def depths(self, scores: Floats, n: int, rows: Any = slice(None)) -> Floats:
        """Return how far down its period's list each row stands, in budgets: rows below 1 are looked at."""
        # Where only some rows have scores, the budget is of as large a part of every period. Tied rows stand
        # in the middle of their places.
        order, of, starts, tied = ties_by_period(scores, self.codes[rows])
        sizes = np.bincount(of, minlength=len(self.labels))
        place = starts + 0.5 * tied - (np.cumsum(sizes) - sizes)[of[starts]]
        depths = np.empty(len(order))
        depths[order] = np.repeat(place, tied) / sizes[of] * np.maximum(self.sizes[of] / n, 1.0)
        return depths


def ties_by_period(scores: Floats, codes: NDArray[np.int64]) -> tuple[NDArray[np.int64], ...]:
    """Return rows by period and descending score, their periods, and where ties start and their sizes."""
    order = np.lexsort((-scores, codes))
    of, descending = codes[order], scores[order]
    starts = np.flatnonzero(np.r_[True, (np.diff(of) > 0) | (descending[1:] < descending[:-1])])
    return order, of, starts, np.diff(np.r_[starts, len(order)])


def chances_of_list(scores: Floats, periods: Periods, n: int) -> Floats:
    """Return the chance of each row to be among the first n of its period, tied rows in a random order."""
    order, codes, starts, sizes = ties_by_period(scores, periods.codes)
    before = starts - np.r_[0, np.cumsum(periods.sizes)][codes[starts]]
    chances = np.empty(len(order))
    chances[order] = np.repeat(np.clip(n - before, 0, sizes) / sizes, sizes)
    return chances


@dataclass(frozen=True)
class Budget:
    r"""How many rows can be acted on, in all or in every period.

    .. math:: \sum_d \min(n, n_d)

    rows are acted on, of the :math:`n_d` rows of period d.

    Times with a zone are in the calendar of that zone. A period without rows is none; one with fewer rows
    than the budget is looked at whole. Finding the periods costs a sort of the times.

    Parameters
    ----------
    n : int
        The number of rows, at least 1.
    per : {"hour", "day", "week", "month", "batch"}, default="day"
        The period: a span of the calendar, weeks from Monday on, or the rows of one value of `time`.
    daily_cap : int, default=None
        The most rows of a day, for a budget a week or a month that moves between its days, as
        :mod:`pushrank.moving` says. None decides on the rows of the whole period at once.
    daily_floor : int, default=0
        The fewest rows of a day, with a `daily_cap`.

    Raises
    ------
    TypeError
        When a number is no integer.
    ValueError
        When it is out of range, or there is no such period.

    Examples
    --------
    >>> budget = Budget.parse("2/day")
    >>> periods = budget.periods(["2026-03-01 08:00", "2026-03-02", "2026-03-01", "2026-03-01 23:59"])
    >>> periods.codes.tolist(), budget.spent(periods)
    ([0, 1, 0, 0], 3)
    """

    n: int
    per: str = "day"
    daily_cap: int | None = None
    daily_floor: int = 0

    def __post_init__(self) -> None:
        check_number("n", self.n, 1, integer=True)
        if self.per not in UNITS:
            raise ValueError(f"per must be one of {', '.join(UNITS)}, got {self.per!r}.")
        if self.daily_cap is None and self.daily_floor == 0:
            return
        if self.daily_cap is None or self.per not in SHORTEST:
            raise ValueError(
                "daily_cap is for a budget a week or a month, and daily_floor needs one, such as "
                f"Budget(210, 'week', daily_cap=60), got {self!r}."
            )
        check_number("daily_cap", self.daily_cap, 1, self.n, integer=True)
        check_number("daily_floor", self.daily_floor, 0, self.daily_cap, integer=True)
        if self.daily_floor * SHORTEST[self.per] > self.n:
            raise ValueError(f"daily_floor={self.daily_floor} a day is more than {self.n:,} {self.each}.")

    def __str__(self) -> str:
        """Return what :meth:`parse` reads; a floor has no text."""
        return f"{self.n}/{self.per}" + ("" if self.daily_cap is None else f",{self.daily_cap}/day")

    @property
    def words(self) -> str:
        """The budget in a sentence, such as "150 a day"."""
        most = "" if self.daily_cap is None else f", at most {self.daily_cap:,} a day"
        return f"{self.n:,} {self.each}{most}"

    @property
    def each(self) -> str:
        """What follows a number of every period, such as "a day"."""
        return f"{'an' if self.per == 'hour' else 'a'} {self.per}"

    @property
    def several(self) -> str:
        """What several periods are called."""
        return self.per + ("es" if self.per == "batch" else "s")

    @classmethod
    def parse(cls, text: str) -> Self:
        """Return the budget of a text such as 150/day or 210/week,60/day; another text is a ValueError."""
        pattern = r"\s*(\d{1,12})\s*/\s*([a-z]+)\s*(?:,\s*(\d{1,12})\s*/\s*day\s*)?"
        found = re.fullmatch(pattern, text, re.ASCII)
        if not found:
            raise ValueError(
                f"a budget by period is a text such as 150/day or 210/week,60/day, got {text!r}."
            )
        return cls(int(found[1]), found[2], None if found[3] is None else int(found[3]))

    def periods(self, time: Any) -> Periods:
        """Return the periods of rows by their times, dates as :func:`~pushrank.times.read_dates` reads them.

        For batches they are any values that can be sorted. Other times are a ValueError, and so is a budget
        that moves between days, which few take.
        """
        check_by_period(self)
        if self.per == "batch":
            check_present(values := column(time, "time"), time)
            try:
                return Periods(*np.unique(values, return_inverse=True))
            except TypeError as error:
                raise ValueError(f"time must hold values that can be sorted: {error}.") from error
        times = check_times(time, len(time))
        if times.dtype.kind != "M" and len(times):
            raise ValueError(
                f"a budget of {self.words} needs dates, and time holds numbers; take per='batch' (on the "
                f"command line {self.n}/batch) if each number is a period."
            )
        starts = times.astype(STEPS[self.per])
        if self.per == "week":
            starts -= (starts - MONDAY) % np.timedelta64(7, "D")
        return Periods(*np.unique(starts, return_inverse=True))

    def spent(self, periods: Periods) -> int:
        """Return how many rows are looked at, of periods that may be shorter than the budget."""
        return int(np.minimum(self.n, periods.sizes).sum())


def comes_whole(budget: Budget, time: Any) -> bool:
    """Return whether the rows of a period come at one moment, as those of days without times do."""
    # Nine in ten periods, also of those that the budget cannot act on whole, have nine in ten rows at one.
    times, periods = np.asarray(check_times(time, len(time))), budget.periods(time)
    _, first, counts = np.unique(times, return_index=True, return_counts=True)
    most, sizes = np.zeros(len(periods.labels)), periods.sizes
    np.maximum.at(most, periods.codes[first], counts)
    is_whole, is_cut = most >= NEARLY_ALL * sizes, sizes > budget.n
    return bool(is_cut.any() and min(is_whole.mean(), is_whole[is_cut].mean()) >= NEARLY_ALL)


def check_by_period(budget: Any) -> None:
    """Raise TypeError unless a budget is one by period, and ValueError where it moves between days."""
    if not isinstance(budget, Budget):
        raise TypeError(f"budget must be one by period, such as Budget(150, per='day'), got {budget!r}.")
    if budget.daily_cap is not None:
        raise ValueError(
            f"a budget that moves between days, {budget.words}, is not taken here: leave the daily_cap out "
            "to decide on all rows of a period at once, or take a budget a day."
        )


trust_in_files(Budget)
