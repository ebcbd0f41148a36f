"""Times of rows: numbers, batches, and dates as texts in the forms of ISO 8601 or as objects."""

from __future__ import annotations

import re
from collections.abc import Iterable
from datetime import UTC, timedelta
from decimal import Decimal
from numbers import Real
from typing import Any
from zoneinfo import ZoneInfo, available_timezones

import numpy as np
from numpy.typing import NDArray

from pushrank._base.user_types import GenericArray
from pushrank.exceptions import BadRowError, warn

__all__ = [
    "FORMATS", "as_span", "check_times", "dates_and_offsets", "in_order", "in_zone",
    "orders_that_read", "read_dates", "zone_text",
]  # fmt: skip

FORMATS = "2024-12-31, 20241231, 2024-12-31 09:30:15.25+01:00, 20241231T0930Z, 2024-12"
PANDAS = "pandas.to_datetime reads 9:30 PM, by '%G-W%V-%u' 2024-W53-2 and by '%Y-%j' 2024-366"
DAYS = (
    r"(?P<year>\d{4})(?P<mark>[-/.])(?P<month>\d\d?)(?P=mark)(?P<day>\d\d?)",
    r"(?P<year>\d{4})(?P<month>\d\d)(?P<day>\d\d)",
    r"(?P<year>\d{4})-(?P<month>\d\d)",
)
ORDERS = {
    "dmy": r"(?P<day>\d\d?)(?P<mark>[-/.])(?P<month>\d\d?)(?P=mark)(?P<year>\d{4})",
    "mdy": r"(?P<month>\d\d?)(?P<mark>[-/.])(?P<day>\d\d?)(?P=mark)(?P<year>\d{4})",
}
"""Days whose year comes last, by what comes first: which of them a text is cannot be seen."""
CLOCK = (
    r"(?:(?:T|,? )(?P<hour>\d\d|\d(?=:))"
    r"(?:(?P<colon>:?)(?P<minute>\d\d)(?:(?P=colon)(?P<second>\d\d)(?:[.,](?P<fraction>\d+))?)?)?"
    r"(?: ?(?P<zone>Z|UTC|GMT|[-+](?P<zone_hour>\d\d)(?::?(?P<zone_minute>\d\d)(?::?\d\d)?)?))?)?"
)
MISSING = frozenset(("", "NaT", "nan", "NaN", "None", "<NA>"))
"""What missing values of Python, NumPy and pandas are as texts."""
MAX_LENGTH = 64
NUMBER = r"[-+]?\d+(\.\d*)?([eE][-+]?\d+)?"
DURATION = r"[-+]?(\d+ days?\b.*|\d+:\d\d(:\d\d(\.\d+)?)?|P[\dT].*)"
HOUR = 60.0
"""In minutes."""
Moments = NDArray[np.datetime64]
Minutes = NDArray[np.float64]
# Fewer rows are in the order of their times by chance.
MIN_ROWS_IN_ORDER = 20
MIN_RANK_CORRELATION = 0.99


def read_dates(values: Iterable[Any], *, order: str | None = None) -> Moments:
    """Return dates as those of NumPy, times with a zone by its clock, which says when a day begins.

    Parameters
    ----------
    values : iterable of str, date, datetime or Period
        Texts are as in ISO 8601: 2024-12-31, 20241231 or 2024-12-31T09:30:15.25+01:00, also with other marks,
        as in 2024/12/31. The time 24:00 is the start of the next day, a leap second the last microsecond of
        its minute, and a period its start.
    order : {"dmy", "mdy"}, default=None
        What comes first in texts such as 1/2/2024, the day or the month; None refuses them.

    Returns
    -------
    ndarray of datetime64[us]
        From the year 1 to 9999, NaT where a value is missing. There is a warning where zones are more than an
        hour apart, or some times have none, for the order is then unsure.

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
    return _told_of_zones(*dates_and_offsets(values, order))


def _told_of_zones(times: NDArray[Any], offsets: Minutes) -> NDArray[Any]:
    """Return times; warn of those whose zones are so far apart, or so unknown, that their order is unsure."""
    known = offsets[~np.isnan(offsets)]
    n_bare = np.sum(np.isnan(offsets) & ~np.isnat(times)) if len(known) else 0
    minutes = np.ptp(known) if len(known) else 0.0
    # Summer time moves the clock of one place by an hour.
    if n_bare or minutes > HOUR:
        are = f"of zones that are up to {minutes / HOUR:.3g} hours apart"
        if n_bare:
            are = f"of no zone in {n_bare:,} rows, and of one in {len(known):,}"
        how = "each is taken by its own clock, so that their order is unsure; convert them to one zone"
        warn(f"times are {are}, and {how}.")
    return times


def dates_and_offsets(values: Iterable[Any], order: str | None = None) -> tuple[Moments, Minutes]:
    """Return dates by their zones' clocks, and how many minutes each is ahead of UTC, NaN of no zone."""
    if order not in (None, *ORDERS):
        raise ValueError(f"order must be one of {', '.join(ORDERS)}, got {order!r}.")
    # A period of pandas is written as a year, a quarter or two days, and its start as a date.
    starts = (value.asfreq("us", "start") if hasattr(value, "asfreq") else value for value in values)
    texts = [str(value).strip() for value in starts]
    dates, row, offsets = _read(texts, order)
    if row is None:
        return dates, offsets
    after = f" holds {texts[row][:MAX_LENGTH]!r}; dates are read as {FORMATS}"
    if re.fullmatch(NUMBER, texts[row]):
        after += ", and numbers as numbers, not as texts"
    elif re.fullmatch(DURATION, texts[row]):
        after += ", and durations as numbers, of hours say"
    elif orders := orders_that_read(texts):
        ways = " or ".join(f"read_dates(time, order={name!r})" for name in orders)
        after += f", and those of days and months before the year by {ways}"
    else:
        after += f"; {PANDAS}"
    raise BadRowError(row, "time must hold numbers or dates such as 2024-12-31; ", f"{after}.")


def orders_that_read(texts: list[str]) -> list[str | None]:
    """Return the orders of day and month by which all texts are dates; None is that of ISO 8601 alone."""
    return [order for order in (None, *ORDERS) if _read(texts, order)[1] is None]


def in_calendar(dates: Moments) -> NDArray[np.bool_]:
    """Return which dates are missing or of the years 1 to 9999, as others are by mistake."""
    years = dates.astype("datetime64[Y]").astype(np.int64) + 1970
    return np.asarray(np.isnat(dates) | ((years >= 1) & (years <= 9999)))


def _read(texts: list[str], order: str | None) -> tuple[Moments, int | None, Minutes]:
    """Return the dates of texts, a row that holds none, and how many minutes their zones are ahead of UTC."""
    dates, offsets = np.full(len(texts), np.datetime64("NaT", "us")), np.full(len(texts), np.nan)
    days = (*DAYS, ORDERS[order]) if order else DAYS
    for row, text in enumerate(texts):
        if len(text) > MAX_LENGTH or not (text.isascii() and text.isprintable()):
            return dates, row, offsets
    unread = np.array([row for row, text in enumerate(texts) if text not in MISSING], dtype=np.intp)
    # Texts of one shape have the same parts at the same places: a regular expression finds these once for all
    # of them, and NumPy makes numbers of the digits.
    cells = np.array(texts, dtype=bytes)
    codes = cells[:, np.newaxis].view(np.uint8)
    digits = codes - np.uint8(ord("0"))
    shapes = np.where(digits < 10, np.uint8(ord("0")), codes).view(cells.dtype).ravel()
    while len(unread):
        row, same = int(unread[0]), shapes[unread] == shapes[unread[0]]
        rows, unread = unread[same], unread[~same]
        matches = (re.fullmatch(day + CLOCK, texts[row], re.I | re.A) for day in days)
        if (found := next(filter(None, matches), None)) is None:
            return dates, row, offsets
        dates[rows], is_date, offsets[rows] = _moments(found, digits[rows])
        if not is_date.all():
            return dates, int(rows[np.argmin(is_date)]), offsets
    return dates, None, offsets


def _moments(found: re.Match[str], digits: NDArray[np.uint8]) -> tuple[Moments, NDArray[np.bool_], Any]:
    """Return the dates of texts of one shape, which of them there are, and their minutes ahead of UTC."""

    def part(name: str, otherwise: int = 0) -> Any:
        begin, end = found.span(name) if name in found.re.groupindex else (-1, -1)
        # Of the digits of a fraction, more than six are finer than microseconds.
        end = min(end, begin + 6)
        return otherwise if begin < 0 else digits[:, begin:end] @ 10 ** np.arange(end - begin)[::-1]

    years = (part("year") - 1970).astype("datetime64[Y]")
    # A day or a month that there is not lies in another month or year.
    months = years.astype("datetime64[M]") + _span(part("month", 1) - 1, "M")
    days = months.astype("datetime64[D]") + _span(part("day", 1) - 1, "D")
    is_date = (months.astype("datetime64[Y]") == years) & (days.astype("datetime64[M]") == months)
    hour, minute, second = part("hour"), part("minute"), part("second")
    fraction = part("fraction") * 10 ** max(6 - len(found["fraction"] or ""), 0)
    # A leap second belongs to the day that it ends.
    clock = (60 * hour + minute) * 60_000_000 + np.minimum(second * 1_000_000 + fraction, 59_999_999)
    zone_hour, zone_minute = part("zone_hour"), part("zone_minute")
    is_date &= (minute < 60) & (second <= 60) & ((hour < 24) | (clock == 86_400_000_000))
    moments = days.astype("datetime64[us]") + _span(clock, "us")
    is_date &= (zone_hour < 24) & (zone_minute < 60) & in_calendar(moments)
    offset = (60 * zone_hour + zone_minute) * (-1 if "-" in (found["zone"] or "") else 1)
    return moments, is_date, offset if found["zone"] else np.nan


def _span(numbers: Any, unit: str) -> Any:
    """Return lengths of time; NumPy adds no numbers without a unit to dates."""
    return np.asarray(numbers).astype(f"timedelta64[{unit}]")


def check_times(time: Any, n_rows: int) -> NDArray[Any]:
    """Return times as numbers or as dates of NumPy, those with a zone by its clock, or raise ValueError."""
    return _told_of_zones(*_clock_times(time, n_rows))


def in_zone(time: Any, n_rows: int, zone: str | None) -> tuple[NDArray[Any], str | None]:
    """Return times as dates by the clock of a zone, and this zone: that of the times, where it is None.

    A zone is a name such as Europe/Berlin, or the offsets from UTC of its winter and its summer as they were
    seen, such as +01:00/+02:00, of which one may be unknown. Times of these offsets keep their own clock, and
    so do those an hour apart, unless one of the two is UTC, which is where machines write and nobody has a
    summer. The zone "" is that of times without.
    """
    times, offsets = _clock_times(time, n_rows)
    if times.dtype.kind != "M" or not n_rows:
        return times, zone
    own = _name_of_zone(time)
    if own and hasattr(zoned := getattr(time, "dt", time), "tz_convert"):
        of_utc = check_times(zoned.tz_convert("UTC"), n_rows)
        offsets = (times - of_utc) / np.timedelta64(1, "m")
    is_bare = np.isnan(offsets)
    if zone is None and not is_bare[0]:
        seen = [offsets[0], *sorted({*offsets[np.abs(offsets - offsets[0]) <= HOUR].tolist()} - {offsets[0]})]
        zone = own if own in available_timezones() else "/".join(map(zone_text, seen))
    zone = zone or ""
    if (is_other := is_bare != (zone == "")).any():
        row = int(np.argmax(is_other))
        has = "no zone" if is_bare[row] else f"the zone of {offsets[row] / HOUR:+g} hours"
        others = f"the others have the zone {zone}" if zone else "the others have none"
        raise BadRowError(row, "the time of ", f" has {has}, and {others}: write all times in one zone.")
    if zone in ("", own):
        return times, zone
    universal = times - _span(offsets * HOUR * 1e6, "us")
    if known := re.findall(r"([-+]\d\d):(\d\d)", zone):
        ahead = np.array([HOUR * int(hours) + int(f"{hours[0]}{minutes}") for hours, minutes in known])
        apart = np.abs(offsets[:, None] - ahead)
        summer = (apart <= HOUR) & (offsets[:, None] != 0.0) & (ahead != 0.0)
        has_own_clock = ((apart == 0.0) | summer).any(axis=1)
        return np.where(has_own_clock, times, universal + _span(ahead[0] * HOUR * 1e6, "us")), zone
    local = (moment.replace(tzinfo=UTC).astimezone(ZoneInfo(zone)) for moment in universal.tolist())
    return np.array([moment.replace(tzinfo=None) for moment in local], dtype="datetime64[us]"), zone


def _name_of_zone(time: Any) -> str:
    """Return the name of the zone of times, empty where they have none, or only offsets."""
    dtype = getattr(time, "dtype", getattr(time, "type", None))
    dtype = getattr(dtype, "pyarrow_dtype", dtype)
    # Pandas and Arrow, Polars, and objects of Python.
    own = getattr(dtype, "tz", None) or getattr(dtype, "time_zone", None)
    return str(own or getattr(getattr(next(iter(time)), "tzinfo", None), "key", None) or "")


def zone_text(ahead: float) -> str:
    """Return minutes ahead of UTC as dates have them, such as +01:00, or nothing of no zone."""
    if np.isnan(ahead):
        return ""
    hours, minutes = divmod(abs(ahead), HOUR)
    return f"{'-' if ahead < 0 else '+'}{hours:02.0f}:{minutes:02.0f}"


def _clock_times(time: Any, n_rows: int) -> tuple[NDArray[Any], Minutes]:
    """Return times as :func:`check_times` does, and how many minutes each is ahead of UTC, NaN of no zone."""
    dtype, offsets = getattr(time, "dtype", getattr(time, "type", None)), np.full(n_rows, np.nan)
    if hasattr(time, "dtype") and getattr(getattr(dtype, "pyarrow_dtype", dtype), "tz", None):
        time = getattr(time, "dt", time).tz_localize(None)
    # The names that Arrow and Polars have for a zone.
    elif getattr(dtype, "tz", getattr(dtype, "time_zone", None)):
        try:
            time = time.to_list() if hasattr(time, "to_list") else time.to_pylist()
        except OverflowError as error:
            raise ValueError(
                "time must hold dates of the years 1 to 9999 by the clock of its zone."
            ) from error
    is_dates = getattr(getattr(time, "dtype", None), "kind", "") == "M"
    values = time.to_numpy(dtype="datetime64[us]") if is_dates and hasattr(time, "to_numpy") else time
    values = np.asarray(values)
    if values.shape == (n_rows,) and values.dtype.kind in "OU":
        check_present(values, time)
        cells = values.tolist()
        # Integers with gaps, as pandas has them, and Decimals are objects.
        if all(issubclass(kind, Real | Decimal) for kind in set(map(type, cells))):
            values = np.array(cells)
            values = values.astype(np.float64) if values.dtype.kind == "O" else values
        else:
            values, offsets = dates_and_offsets(cells)
    if values.shape != (n_rows,) or values.dtype.kind not in "iufM":
        raise ValueError(
            f"time must hold a number or a date for each of the {n_rows} rows, got {values.dtype} of the "
            f"shape {values.shape}."
        )
    check_present(values, time)
    if values.dtype.kind == "M" and not (is_date := in_calendar(values)).all():
        row = int(np.argmin(is_date))
        raise ValueError(f"time must hold dates of the years 1 to 9999; row {row} holds {values[row]}.")
    # Differences of unsigned numbers would overflow.
    return np.asarray(values, dtype=np.float64 if values.dtype.kind == "u" else None), offsets


def check_present(values: GenericArray, time: Any) -> None:
    """Raise ValueError for a time that is missing, masked or an empty text."""
    # Dates are also read where scikit-learn, which the checks of other arrays need, is not installed.
    from pushrank._base.validation import are_missing

    if values.dtype.kind in "OU":
        # Beside texts NumPy makes texts of missing values.
        values = np.asarray(time, dtype=object).ravel()
    is_missing = are_missing(values) | np.ma.getmask(time)
    if values.dtype.kind == "O":
        is_missing |= [isinstance(value, str) and not value.strip() for value in values]
    if is_missing.any():
        raise ValueError(f"time is missing in row {np.argmax(is_missing)}; fill it or leave the row out.")


def as_span(name: str, span: Any, times: GenericArray) -> Any:
    """Return a length of time in the units of times, or raise TypeError or ValueError."""
    is_dates = times.dtype.kind == "M"
    if is_dates and (isinstance(span, timedelta | np.timedelta64) or span == 0):
        span = np.timedelta64(span or timedelta())
    elif is_dates or isinstance(span, bool) or not isinstance(span, Real):
        wanted = "a timedelta where time holds dates" if is_dates else "a number where time holds numbers"
        raise TypeError(f"{name} must be {wanted}, got {span!r}.")
    if not span >= 0 * span:
        raise ValueError(f"{name} must be at least 0, got {span!r}.")
    return span


def in_order(times: GenericArray) -> bool:
    """Return whether rows follow their times, upwards or downwards, but for a few."""
    if len(times) < MIN_ROWS_IN_ORDER or times.min() == times.max():
        return False
    # This import takes longer than all dates of a file.
    from scipy.stats import rankdata

    _, codes = np.unique(times, return_inverse=True)
    correlation = np.corrcoef(rankdata(codes.ravel()), np.arange(len(times)))[0, 1]
    return bool(abs(correlation) >= MIN_RANK_CORRELATION)
