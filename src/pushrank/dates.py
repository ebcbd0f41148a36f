"""Dates: texts in the forms of ISO 8601, and objects of many kinds, read by the clock of their zones."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pushrank.exceptions import BadRowError, warn

__all__ = ["read_dates"]

FORMATS = "2024-12-31, 20241231, 2024-12-31 09:30:15.25+01:00, 20241231T0930Z, 2024-12, 2024-W53-2, 2024-366"
DAYS = (
    r"(?P<year>\d{4})(?P<mark>[-/.])(?P<month>\d\d?)(?P=mark)(?P<day>\d\d?)",
    r"(?P<year>\d{4})(?P<month>\d\d)(?P<day>\d\d)",
    r"(?P<year>\d{4})-(?P<month>\d\d)",
    r"(?P<year>\d{4})-?W(?P<week>\d\d)(?:-?(?P<weekday>\d))?",
    r"(?P<year>\d{4})-(?P<ordinal>\d{3})",
)
ORDERS = {
    "dmy": r"(?P<day>\d\d?)(?P<mark>[-/.])(?P<month>\d\d?)(?P=mark)(?P<year>\d{4})",
    "mdy": r"(?P<month>\d\d?)(?P<mark>[-/.])(?P<day>\d\d?)(?P=mark)(?P<year>\d{4})",
}
"""Days whose year comes last, by what comes first: which of them a text is cannot be seen."""
CLOCK = (
    r"(?:(?:T|,? )(?P<hour>\d\d|\d(?=:))"
    r"(?:(?P<colon>:?)(?P<minute>\d\d)(?:(?P=colon)(?P<second>\d\d)(?:[.,](?P<fraction>\d+))?)?)?"
    r"(?: ?(?P<half>[AP])M)?"
    r"(?: ?(?P<zone>Z|UTC|GMT|[-+](?P<zone_hour>\d\d)(?::?(?P<zone_minute>\d\d)(?::?\d\d)?)?))?)?"
)
MISSING = frozenset(("", "NaT", "nan", "NaN", "None", "<NA>"))
"""What missing values of Python, NumPy and pandas are as texts."""
MAX_LENGTH = 64
NUMBER = r"[-+]?\d+(\.\d*)?([eE][-+]?\d+)?"
DURATION = r"[-+]?(\d+ days?\b.*|\d+:\d\d(:\d\d(\.\d+)?)?|P[\dT].*)"
Moments = NDArray[np.datetime64]


def read_dates(values: Iterable[Any], *, order: str | None = None) -> Moments:
    """Return dates as those of NumPy, times with a zone by its clock, which says when a day begins.

    Parameters
    ----------
    values : iterable of str, date, datetime or Period
        Texts are as in ISO 8601: 2024-12-31, 20241231, 2024-12-31T09:30:15.25+01:00, 2024-W53-2 or 2024-366,
        also with other marks, as in 2024/12/31. The time 24:00 is the start of the next day, a leap second
        the last microsecond of its minute, and a period its start.
    order : {"dmy", "mdy"}, default=None
        What comes first in texts such as 1/2/2024, the day or the month; None refuses them.

    Returns
    -------
    ndarray of datetime64[us]
        From the year 1 to 9999, NaT where a value is missing. There is a warning where zones are more than an
        hour apart, for the order is then unsure.

    Raises
    ------
    ValueError
        When a value is no date; the message names its row and what would read it.

    Examples
    --------
    >>> read_dates(["2024-12-31", "20241231T0930"])
    array(['2024-12-31T00:00:00.000000', '2024-12-31T09:30:00.000000'],
          dtype='datetime64[us]')
    >>> read_dates(["1/2/2024"], order="dmy")
    array(['2024-02-01T00:00:00.000000'], dtype='datetime64[us]')
    """
    if order not in (None, *ORDERS):
        raise ValueError(f"order must be one of {', '.join(ORDERS)}, got {order!r}.")
    # A period of pandas is written as a year, a quarter or two days, and its start as a date.
    starts = (value.asfreq("us", "start") if hasattr(value, "asfreq") else value for value in values)
    texts = [str(value).strip() for value in starts]
    dates, row, minutes = _read(texts, order)
    # Summer time moves the clock of one place by an hour.
    if minutes > 60:
        warn(
            f"times are of zones that are up to {minutes / 60:.3g} hours apart, and each is taken by its own "
            "clock, so that their order is unsure; convert them to one zone."
        )
    if row is None:
        return dates
    after = f" holds {texts[row][:MAX_LENGTH]!r}; dates are read as {FORMATS}"
    if re.fullmatch(NUMBER, texts[row]):
        after += ", and numbers as numbers, not as texts"
    elif re.fullmatch(DURATION, texts[row]):
        after += ", and durations as numbers, of hours say"
    elif orders := orders_that_read(texts):
        ways = " or ".join(f"read_dates(time, order={name!r})" for name in orders)
        after += f", and those of days and months before the year by {ways}"
    raise BadRowError(row, "time must hold numbers or dates such as 2024-12-31; ", f"{after}.")


def orders_that_read(texts: list[str]) -> list[str | None]:
    """Return the orders of day and month by which all texts are dates; None is that of ISO 8601 alone."""
    return [order for order in (None, *ORDERS) if _read(texts, order)[1] is None]


def in_calendar(dates: Moments) -> NDArray[np.bool_]:
    """Return which dates are missing or of the years 1 to 9999, as others are by mistake."""
    years = dates.astype("datetime64[Y]").astype(np.int64) + 1970
    return np.asarray(np.isnat(dates) | ((years >= 1) & (years <= 9999)))


def _read(texts: list[str], order: str | None) -> tuple[Moments, int | None, int]:
    """Return the dates of texts, a row that holds none, and how many minutes their zones are apart."""
    dates, offsets = np.full(len(texts), np.datetime64("NaT", "us")), list[int]()
    days = (*DAYS, ORDERS[order]) if order else DAYS
    for row, text in enumerate(texts):
        if len(text) > MAX_LENGTH or not (text.isascii() and text.isprintable()):
            return dates, row, 0
    unread = np.array([row for row, text in enumerate(texts) if text not in MISSING], dtype=np.intp)
    # Texts of one shape have the same parts at the same places: a regular expression finds these once for all
    # of them, and NumPy makes numbers of the digits.
    cells = np.array(texts, dtype=bytes)
    codes = cells[:, np.newaxis].view(np.uint8)
    digits = codes - np.uint8(ord("0"))
    shapes = np.where(digits < 10, np.uint8(ord("0")), codes).view(cells.dtype).ravel()
    while len(unread):
        row, alike = int(unread[0]), shapes[unread] == shapes[unread[0]]
        rows, unread = unread[alike], unread[~alike]
        matches = (re.fullmatch(day + CLOCK, texts[row], re.I | re.A) for day in days)
        if (found := next(filter(None, matches), None)) is None:
            return dates, row, 0
        dates[rows], is_date, minutes = _moments(found, digits[rows])
        if not is_date.all():
            return dates, int(rows[np.argmin(is_date)]), 0
        offsets += minutes
    return dates, None, max(offsets, default=0) - min(offsets, default=0)


def _moments(found: re.Match[str], digits: NDArray[np.uint8]) -> tuple[Moments, NDArray[np.bool_], list[int]]:
    """Return the dates of texts of one shape, which of them there are, and the bounds of their zones."""

    def part(name: str, otherwise: int = 0) -> Any:
        begin, end = found.span(name) if name in found.re.groupindex else (-1, -1)
        # Of the digits of a fraction, more than six are finer than microseconds.
        end = min(end, begin + 6)
        return otherwise if begin < 0 else digits[:, begin:end] @ 10 ** np.arange(end - begin)[::-1]

    years = (part("year") - 1970).astype("datetime64[Y]")
    # A week, a day or a month that there is not lies in another year or month.
    if "week" in found.re.groupindex:
        # Week 1 holds 4 January, and a week is of the year of its Thursday; day 0 of NumPy is a Thursday.
        fourth, weekday = years.astype("datetime64[D]") + _span(3, "D"), part("weekday", 1)
        thursday = fourth + _span(7 * part("week") - 4 - (fourth.astype(int) + 3) % 7, "D")
        days = thursday + _span(weekday - 4, "D")
        is_date = (thursday.astype("datetime64[Y]") == years) & (weekday >= 1) & (weekday <= 7)
    else:
        months = years.astype("datetime64[M]") + _span(part("month", 1) - 1, "M")
        days = months.astype("datetime64[D]") + _span(part("day", 1) + part("ordinal", 1) - 2, "D")
        in_month = days.astype("datetime64[M]") == months if "ordinal" not in found.re.groupindex else True
        is_date = (days.astype("datetime64[Y]") == years) & in_month
    hour, minute, second = part("hour"), part("minute"), part("second")
    if found["half"]:
        is_date &= (hour >= 1) & (hour <= 12)
        hour = hour % 12 + 12 * (found["half"] in "Pp")
    fraction = part("fraction") * 10 ** max(6 - len(found["fraction"] or ""), 0)
    # A leap second belongs to the day that it ends.
    clock = (60 * hour + minute) * 60_000_000 + np.minimum(second * 1_000_000 + fraction, 59_999_999)
    zone_hour, zone_minute = part("zone_hour"), part("zone_minute")
    is_date &= (minute < 60) & (second <= 60) & ((hour < 24) | (clock == 86_400_000_000))
    moments = days.astype("datetime64[us]") + _span(clock, "us")
    is_date &= (zone_hour < 24) & (zone_minute < 60) & in_calendar(moments)
    offset = (60 * zone_hour + zone_minute) * (-1 if "-" in (found["zone"] or "") else 1)
    return moments, is_date, [int(np.min(offset)), int(np.max(offset))] if found["zone"] else []


def _span(numbers: Any, unit: str) -> Any:
    """Return lengths of time; NumPy adds no numbers without a unit to dates."""
    return np.asarray(numbers).astype(f"timedelta64[{unit}]")
