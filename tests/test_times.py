"""Dates: what is read, as which moment, and what is refused with which advice."""

import itertools
from datetime import UTC, date, datetime, time, timedelta, timezone
from decimal import Decimal

import numpy as np
import pandas as pd
import pytest

from pushrank import metrics, monitoring
from pushrank.budgets import Budget
from pushrank.model_selection import TimeSplit
from pushrank.monitoring import alerts
from pushrank.times import check_times, read_dates

pytestmark = pytest.mark.fast

TOKYO, NEW_YORK = timezone(timedelta(hours=9)), timezone(timedelta(hours=-5))


@pytest.mark.parametrize(
    ("written", "moment"),
    [
        ("20260101", "2026-01-01"),
        ("20260101T0930", "2026-01-01T09:30"),
        ("20260101T093015.5Z", "2026-01-01T09:30:15.5"),
        ("20260101 09", "2026-01-01T09"),
        ("2026-01", "2026-01-01"),
        ("2026-1-5", "2026-01-05"),
        ("2026/1/5 9:30", "2026-01-05T09:30"),
        ("2026.01.05, 09:30", "2026-01-05T09:30"),
        ("\t 2026-01-05\n", "2026-01-05"),
        ("9999-12-31", "9999-12-31"),
        ("9999-12-31 23:59:59.999999", "9999-12-31T23:59:59.999999"),
        ("0001-01-01", "0001-01-01"),
        ("1600-02-29", "1600-02-29"),
        ("2300-01-01", "2300-01-01"),
        # Zones: the clock counts.
        ("2026-01-01T00+02", "2026-01-01"),
        ("2026-01-01T00:30Z", "2026-01-01T00:30"),
        ("2026-01-01t00:30z", "2026-01-01T00:30"),
        ("2026-01-01 00:30 +0530", "2026-01-01T00:30"),
        ("2026-01-01 23:30:00 UTC", "2026-01-01T23:30"),
        ("2026-01-01T23:30:00.25-11:00", "2026-01-01T23:30:00.25"),
        # Clocks.
        ("2026-01-01T24:00", "2026-01-02"),
        ("2024-12-31 24:00:00.000", "2025-01-01"),
        ("2016-12-31T23:59:60Z", "2016-12-31T23:59:59.999999"),
        ("2026-01-01T09:30:15,25", "2026-01-01T09:30:15.25"),
        ("2026-01-01T09:30:15.123456789", "2026-01-01T09:30:15.123456"),
        # Objects.
        (date(9999, 12, 31), "9999-12-31"),
        (datetime(1, 1, 1, 5), "0001-01-01T05"),
        (datetime(2026, 1, 1, 23, 30, tzinfo=NEW_YORK), "2026-01-01T23:30"),
        (pd.Timestamp("9999-12-31").as_unit("s"), "9999-12-31"),
        (pd.Timestamp("2026-01-01 00:30", tz="Asia/Tokyo"), "2026-01-01T00:30"),
        (pd.Period("9999-12", "M"), "9999-12-01"),
        (pd.Period("2026Q2"), "2026-04-01"),
        (pd.Period("2026-01-07", "W"), "2026-01-05"),
        (np.datetime64("2026-01-01T03"), "2026-01-01T03"),
    ],
)
@pytest.mark.filterwarnings("ignore:times are of no zone in 2 rows")
def test_what_is_read(written, moment):
    beside = ["2026-03-04", written, "2026-03-05T10:00"]
    wanted = np.array(["2026-03-04", moment, "2026-03-05T10:00"], dtype="datetime64[us]")
    assert read_dates(beside).tolist() == wanted.tolist()
    assert check_times(np.array(beside, dtype=object), 3).tolist() == wanted.tolist()
    assert check_times([written], 1).astype("datetime64[us]").tolist() == wanted[1:2].tolist()


NUMBERS = """1 2601 2026 202601 202601011200 1767225600 1767225600000 1767225600.5 -86400 1.7e9 20261301
31122024
"""
DURATIONS = ["1 days 02:00:00", "01:30:00", "PT1H", timedelta(days=1), pd.Timedelta("90min"), time(1, 30)]
NO_DATES = """0000-01-01 10000-01-01 9999-12-31T24:00 2026-13-01 2026-02-29 2026-00-01 2026-01-00
2026-13 2026-W01 2026W013T0930 2026-001 2026-366T12:00 31/12/24 2026-01/05
2026-01-0530 monday T10:00 2026-01-01T 2026-01-01T24:01 2026-01-01T25:00 2026-01-01T10:60
2026-01-01T10:00:61 2026-01-01T10:0 2026-01-01T13:00PM 2026-01-01T10:00+24:00
2026-01-01T10:00+01:60 2026-01-01T10:00XYZ 2026-01\0-01 ２０２６-01-01
"""


@pytest.mark.parametrize(
    ("written", "advice"),
    [
        *((text, ", and numbers as numbers, not as texts") for text in [*NUMBERS.split(), 7, 1.5]),
        *((length, ", and durations as numbers, of hours say") for length in DURATIONS),
        *((text, "; pandas.to_datetime reads .*") for text in [*NO_DATES.split(), "x" * 50_000]),
        ("2026-01-05 09:30 PM", "; pandas.to_datetime reads .*"),
        *((text, ".* by read_dates(time, order='dmy')") for text in ("31/12/2024", "31.12.2024 10:30")),
        ("12/31/2024 9:30", ".* by read_dates(time, order='mdy')"),
        *((text, ".*order='dmy').* or .*order='mdy')") for text in ("01/02/2024", "1-2-2024 10:00")),
    ],
)
def test_what_is_refused_names_the_row_the_forms_and_what_would_help(written, advice):
    advice = advice.replace("(", r"\(").replace(")", r"\)")
    pattern = f"row 1 holds .*dates are read as 2024-12-31, .*, 2024-12{advice}\\.$"
    with pytest.raises(ValueError, match=pattern):
        check_times(["2026-03-04", written, "2026-03-05"], 3)


@pytest.mark.parametrize(
    "missing", [None, np.nan, pd.NaT, pd.NA, np.datetime64("NaT", "us"), "", " ", Decimal("NaN")]
)
@pytest.mark.parametrize("beside", ["2026-01-01", date(2026, 1, 1), pd.Timestamp("2026-01-01", tz=UTC), "a"])
def test_missing_times_are_named(missing, beside):
    per = "batch" if beside == "a" else "day"
    for times in ([beside, missing], pd.Series([beside, missing], dtype=object)):
        with pytest.raises(ValueError, match="time is missing in row 1"):
            Budget(1, per).periods(times)
    if not isinstance(missing, Decimal) and beside != "a":
        assert np.isnat(read_dates([beside, missing])).tolist() == [False, True]


def test_missing_numbers_and_masked_times_are_named_and_no_times_are_no_periods():
    days = np.array(["2026-01-01", "2026-01-02"], dtype="datetime64[D]")
    for times in (
        [1, None],
        pd.Series([1, None], dtype="Int64"),
        np.ma.masked_array(days, [False, True]),
        np.ma.masked_array(days.astype(str), [False, True]),
    ):
        for read in (lambda given: check_times(given, 2), Budget(1, "batch").periods):
            with pytest.raises(
                ValueError, match=r"time is (missing in|a masked array, .* the first in) row 1"
            ):
                read(times)
    for per in ("day", "batch"):
        assert Budget(1, per).periods([]).codes.tolist() == []
    with pytest.raises(ValueError, match="time must hold values that can be sorted"):
        Budget(1, "batch").periods(np.array([1, "a"], dtype=object))


@pytest.mark.parametrize("per", ["s", "ms", "us"])
def test_far_dates_of_columns_with_types(per):
    pa = pytest.importorskip("pyarrow")
    pl = pytest.importorskip("polars")
    days = [date(9999, 12, 31), date(1, 1, 1), date(1600, 2, 29)]
    wanted = np.array(days, dtype="datetime64[us]")
    moments = wanted.astype(f"datetime64[{per}]")
    for times in (
        days,
        moments,
        pd.Series(moments),
        pd.Series(days),
        pd.Series(pd.array(days, dtype=pd.ArrowDtype(pa.date32()))),
        pd.Series(pd.array(moments, dtype=pd.ArrowDtype(pa.timestamp(per)))),
        pd.PeriodIndex(days, freq="D"),
        pd.Series(days).astype(str).astype("category"),
        pa.array(days),
        pa.array(days, pa.date64()),
        pa.array(moments),
        pa.array([str(day) for day in days]),
        pl.Series(days),
        pl.Series([str(day) for day in days]),
    ):
        read = check_times(times, 3)
        assert read.dtype.kind == "M"
        assert (read.astype("datetime64[us]") == wanted).all()
    assert Budget(1, "month").periods(moments).labels.astype(str).tolist() == [
        "0001-01",
        "1600-02",
        "9999-12",
    ]


@pytest.mark.parametrize("moments", [["20000-01-01"], ["-0001-01-01"], ["0000-01-01"]])
def test_years_that_no_calendar_has_are_refused(moments):
    with pytest.raises(ValueError, match="dates of the years 1 to 9999; row 0 holds"):
        check_times(np.array(moments, dtype="datetime64[s]"), 1)


def test_numbers_held_as_objects_stay_numbers():
    for numbers in ([Decimal("1.5"), 2], pd.Series([1, 2], dtype="Int64"), np.array([1, 2.5], dtype=object)):
        assert check_times(numbers, 2).tolist() == [float(number) for number in numbers]
    with pytest.raises(ValueError, match="needs dates"):
        Budget(1).periods(pd.Series([1, 2], dtype="Int64"))


def test_clocks_of_zones_far_apart_are_warned_of():
    same_place = ["2026-10-25T02:30+02:00", "2026-10-25T02:30+01:00", "", None]
    assert len(set(read_dates(same_place)[:2])) == 1
    for times, match in (
        (["2026-01-01T09:00+09:00", "2026-01-01T08:00-05:00"], "zones that are up to 14 hours apart"),
        (
            [datetime(2026, 1, 1, 9, tzinfo=TOKYO), datetime(2026, 1, 1, 8, tzinfo=NEW_YORK)],
            "up to 14 hours apart",
        ),
        (["2026-01-01T09:00+05:00", "2026-01-01T08:00"], "of no zone in 1 rows, and of one in 1, and each"),
        (["2026-01-01T09:00", "2026-01-01T08:00Z"], "of no zone in 1 rows"),
        ([datetime(2026, 1, 1, 9, tzinfo=TOKYO), datetime(2026, 1, 1, 8)], "of no zone in 1 rows"),
    ):
        with pytest.warns(UserWarning, match=match):
            read = read_dates(times)
        assert read.tolist() == [datetime(2026, 1, 1, 9), datetime(2026, 1, 1, 8)]


def test_the_order_of_days_and_months_is_said():
    assert read_dates(["31/12/9999", "1.2.2024 10:30"], order="dmy").astype(str).tolist() == [
        "9999-12-31T00:00:00.000000", "2024-02-01T10:30:00.000000"
    ]  # fmt: skip
    assert read_dates(["1/2/2024 21:30", "2024-12-31"], order="mdy").astype(str).tolist() == [
        "2024-01-02T21:30:00.000000", "2024-12-31T00:00:00.000000"
    ]  # fmt: skip
    # Advice holds for every row: the first alone could be of either order.
    with pytest.raises(ValueError, match=r"row 0 holds '01/02/2024'.* by read_dates\(time, order='dmy'\)\.$"):
        read_dates(["01/02/2024", "31/12/2024"])
    with pytest.raises(ValueError, match=r"row 1 holds '31/12/2024'.* by read_dates\(time, order='dmy'\)\.$"):
        read_dates(["01/02/2024", "31/12/2024"], order="mdy")
    with pytest.raises(ValueError, match="order must be one of dmy, mdy"):
        read_dates(["01/02/2024"], order="ymd")


def test_all_days_are_those_of_the_calendar_of_python():
    days = [date.fromordinal(n) for n in range(1, date.max.toordinal() + 1, 97)]
    forms = (
        date.isoformat,
        lambda day: f"{day.year:04}{day.month:02}{day.day:02}",
        lambda day: f"{day.year:04}/{day.month}/{day.day}",
    )
    texts = [form(day) for form, day in zip(itertools.cycle(forms), days, strict=False)]
    assert read_dates(texts).astype("datetime64[D]").tolist() == days


def test_whatever_takes_times_takes_days_of_digits():
    days = np.datetime64("2016-10-01") + np.arange(182).repeat(3)
    digits = [text.replace("-", "") for text in days.astype(str)]
    rng = np.random.default_rng(0)
    X, scores, y = rng.normal(size=(546, 2)), rng.normal(size=546), rng.random(546) < 0.3
    for (train, test), (a, b) in zip(
        TimeSplit(1).split(X, time=digits), TimeSplit(1).split(X, time=days), strict=True
    ):
        assert (train.tolist(), test.tolist()) == (a.tolist(), b.tolist())
    assert days[train].max() < days[test].min()
    for per, n_periods in (("day", 182), ("week", 27), ("month", 6)):
        budget = Budget(2, per)
        assert len(budget.periods(digits).labels) == n_periods
        measured = [metrics.measure_periods(y, scores, budget=budget, time=given) for given in (digits, days)]
        assert measured[0].summary() == measured[1].summary()
    references = [monitoring.Reference.of(Budget(2, "week"), given, scores, y) for given in (digits, days)]
    assert list(references[0].periods) == list(references[1].periods)
    seen = [monitoring.watch(references[0], scores, given, y=y).to_dict() for given in (digits, days)]
    assert seen[0] == seen[1]
    thresholds = [
        alerts.AlertThreshold(Budget(2, "week")).fit(scores, given).threshold_ for given in (digits, days)
    ]
    assert thresholds[0] == thresholds[1]
