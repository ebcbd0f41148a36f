"""Budgets by period: the calendar, batches, and what is refused."""

import numpy as np
import pandas as pd
import pytest

from pushrank import PushBoost, PushBoostCV, TopRankerCV, metrics
from pushrank.budgets import Budget
from pushrank.datasets import make_stream
from pushrank.model_selection import TimeSplit

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
@pytest.mark.parametrize(
    "as_given",
    [
        pd.Series,
        pd.DatetimeIndex,
        lambda t: t.array,
        lambda t: t.dt.tz_localize(None),
        lambda t: [str(moment.tz_localize(None)) for moment in t],
        list,
        lambda t: t.to_numpy(),
        lambda t: [moment.to_pydatetime() for moment in t],
        lambda t: [moment.isoformat() for moment in t],
        lambda t: t.astype("timestamp[us, Europe/Berlin][pyarrow]"),
        lambda t: pytest.importorskip("pyarrow").array(t),
        lambda t: pytest.importorskip("pyarrow").chunked_array([list(t)]),
        lambda t: pytest.importorskip("polars").from_pandas(t),
    ],
)
def test_periods_are_those_of_the_calendar_of_the_zone(per, labels, codes, as_given):
    periods = Budget(2, per).periods(as_given(TIMES))
    assert periods.labels.astype(str).tolist() == labels
    assert periods.codes.tolist() == codes
    assert Budget(2, per).spent(periods) == np.minimum(np.bincount(codes), 2).sum()


def test_dates_beside_times_with_a_zone_stay_what_they_are():
    time = ["2026-03-15", "2026-03-15T23:30:00.5+01:00", "2026-03-15 00:10Z", "2026-03"]
    with pytest.warns(UserWarning, match="times are of no zone in 2 rows, and of one in 2"):
        labels = Budget(2).periods(time).labels
    assert labels.astype(str).tolist() == ["2026-03-01", "2026-03-15"]


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


def test_rows_below_one_budget_are_those_looked_at():
    rng = np.random.default_rng(0)
    scores, periods = rng.integers(0, 5, 60).astype(float), Budget(7, "batch").periods(rng.integers(0, 6, 60))
    depths = periods.depths(scores, 7)
    for code, size in enumerate(periods.sizes):
        of_period = periods.codes == code
        better = (scores[of_period][:, None] < scores[of_period]).sum(axis=1)
        tied = (scores[of_period][:, None] == scores[of_period]).sum(axis=1)
        np.testing.assert_allclose(depths[of_period], (better + tied / 2) / min(7, size))
    # Of half of every period half of the budget is looked at.
    twice = Budget(8, "batch").periods(np.repeat([0, 1], 40))
    half = np.arange(0, 80, 2)
    depths = twice.depths(rng.permutation(40).astype(float), 8, half)
    assert np.bincount(twice.codes[half][depths < 1]).tolist() == [4, 4]


@pytest.mark.parametrize("search", [TopRankerCV, PushBoostCV])
def test_searches_choose_for_a_budget_by_period(search):
    """The measure of a fold is the precision of the first rows of its days, not of the whole fold."""
    stream = make_stream(12, 60, positive_fraction=0.1, random_state=0)
    X, y, budget = stream.data, stream.target, Budget(5)
    candidates = {
        TopRankerCV: {"candidates": ["logistic-regression"]},
        PushBoostCV: {"ps": [4.0], "learning_rates": [1.0], "n_estimators": [9]},
    }[search]
    ranker = search(budget=budget, cv=TimeSplit(2), **candidates)
    with pytest.raises(ValueError, match="needs the time of every row"):
        ranker.fit(X, y)
    ranker.fit(X, y, time=stream.time)
    if search is not PushBoostCV:
        return
    shares = []
    for train, test in TimeSplit(2).split(X, time=stream.time):
        scores = PushBoost(4.0, n_estimators=9).fit(X[train], y[train]).decision_function(X[test])
        periods = budget.periods(stream.time)
        depths = periods.depths(scores, 5, test)
        k = int(np.ceil(budget.spent(periods) / len(y) * len(test) - 1e-9))
        shares.append(metrics.precision_at_k(y[test], -depths, k))
    assert ranker.best_score_ == pytest.approx(np.mean(shares))
