"""Budgets by period: the calendar, batches, and what is refused."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from pushrank.budgets import Budget

TIMES = pd.Series(pd.date_range("2026-03-01 22:30", periods=4, freq="h", tz="Europe/Berlin"))


@pytest.mark.parametrize(
    ("per", "labels", "codes"),
    [
        ("hour", ["2026-03-01T22", "2026-03-01T23", "2026-03-02T00", "2026-03-02T01"], [0, 1, 2, 3]),
        ("day", ["2026-03-01", "2026-03-02"], [0, 0, 1, 1]),
        # 1 March 2026 is a Sunday: the week begins on the Monday before.
        ("week", ["2026-02-23", "2026-03-02"], [0, 0, 1, 1]),
        ("month", ["2026-03"], [0, 0, 0, 0]),
    ],
)
@pytest.mark.parametrize("as_given", [pd.Series, pd.DatetimeIndex, lambda t: t.dt.tz_localize(None), list])
def test_periods_are_those_of_the_calendar_of_the_zone(per, labels, codes, as_given):
    time = as_given(TIMES)
    if isinstance(time, list):
        time = [str(moment.tz_localize(None)) for moment in time]
    periods = Budget(2, per).periods(time)
    assert periods.labels.astype(str).tolist() == labels
    assert periods.codes.tolist() == codes
    assert Budget(2, per).spent(periods) == np.minimum(np.bincount(codes), 2).sum()


def test_batches_are_the_values():
    periods = Budget.parse(" 3 / batch ").periods(["b", "a", "b"])
    assert periods.labels.tolist() == ["a", "b"]
    assert periods.sizes.tolist() == [1, 2]
    assert str(Budget.parse("150/day")) == "150/day"
    assert (Budget(1500, "hour").words, Budget(1).words) == ("1,500 an hour", "1 a day")


@pytest.mark.parametrize(
    ("make", "kind", "words"),
    [
        (lambda: Budget(0), ValueError, "n must be"),
        (lambda: Budget(1.5), TypeError, "integer"),
        (lambda: Budget(1, "fortnight"), ValueError, "hour, day, week, month, batch"),
        (lambda: Budget.parse("150"), ValueError, "150/day"),
        (lambda: Budget(1).periods([1.0, 2.0]), ValueError, "1/batch"),
        (lambda: Budget(1).periods(["2026-01-01", None]), ValueError, "missing in row 1"),
    ],
)
def test_what_is_refused(make, kind, words):
    with pytest.raises(kind, match=words):
        make()
