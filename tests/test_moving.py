"""A budget that moves: the rule beside every x, hindsight beside a linear program, and what always holds."""

import numpy as np
import pytest
from scipy.optimize import linprog

from pushrank.budgets import Budget
from pushrank.monitoring import AlertThreshold, Duel
from pushrank.moving import Spending, calls_of_day, level_of_days, moving_gain, replayed, span_of

FIRST = np.datetime64("2026-01-01")


def by_every_x(today, past, left, n_days, cap, floor):
    """Return the largest x that the rule's inequality allows, of all that the bounds allow."""
    most, least = min(left, cap, len(today)), min(left, floor, len(today))
    if n_days == 1:
        return most
    best = least
    for x in range(least, most + 1):
        theta = np.sort(today)[::-1][x - 1] if x else np.inf
        above = [max(min(floor, len(of)), min(cap, int(np.sum(of >= theta)))) for of in past]
        if x + (n_days - 1) * np.mean(above) <= left:
            best = max(best, x)
    return best


def hindsight(chances, budget, cap, floor):
    """Return the calls of each day of a span that have the most hits: greedy, which is exact."""
    calls = np.array([min(floor, len(of)) for of in chances])
    rest = [(-p, day) for day, of in enumerate(chances) for p in np.sort(of)[::-1][calls[day] : cap]]
    for _, day in sorted(rest)[: budget - calls.sum()]:
        calls[day] += 1
    return calls


@pytest.mark.fast
def test_right_answers():
    today, past = np.array([0.8, 0.6, 0.2]), [np.array([0.9, 0.5, 0.1])]
    assert [calls_of_day(today, past, b, 2, 2) for b in (3, 2, 1, 9)] == [2, 1, 0, 2]
    assert calls_of_day(today, past, 2, 2, 2, floor=1) == 1
    assert calls_of_day(today, past, 3, 1, 2) == 2
    days = [np.array([0.9, 0.8, 0.7, 0.6]), np.array([0.3, 0.2, 0.1, 0.05])]
    for cap, floor, expected in ((3, 0, [3, 1]), (2, 0, [2, 2]), (4, 1, [3, 1])):
        assert hindsight(days, 4, cap, floor).tolist() == expected


@pytest.mark.fast
def test_the_rule_is_that_of_trying_every_number_of_calls():
    rng = np.random.default_rng(0)
    for _ in range(1000):
        values = rng.choice([3, 10, 1000])
        today, *past = (
            rng.integers(values, size=rng.integers(1, 12)) * 1.0 for _ in range(rng.integers(2, 7))
        )
        cap = int(rng.integers(1, 9))
        of = {"n_days": int(rng.integers(1, 8)), "cap": cap, "floor": int(rng.integers(0, cap + 1))}
        left = int(rng.integers(0, 40))
        assert calls_of_day(today, past, left, **of) == by_every_x(today, past, left, **of)


def test_hindsight_is_the_optimum_of_a_linear_program():
    rng = np.random.default_rng(1)
    for _ in range(200):
        days = [rng.random(rng.integers(1, 7)) for _ in range(rng.integers(1, 5))]
        cap = int(rng.integers(1, 6))
        floor = int(rng.integers(0, cap + 1))
        least = sum(min(floor, len(of)) for of in days)
        budget = int(rng.integers(least, least + 10))
        calls = hindsight(days, budget, cap, floor)
        found = sum(np.sort(of)[::-1][:n].sum() for of, n in zip(days, calls, strict=True))
        of_day = np.repeat(np.arange(len(days)), [len(of) for of in days])
        a_day = (of_day == np.arange(len(days))[:, None]).astype(float)
        most = np.r_[np.full(len(days), cap), -np.minimum(floor, a_day.sum(axis=1)), budget]
        solved = linprog(
            -np.concatenate(days), np.r_[a_day, -a_day, np.ones((1, len(of_day)))], most, bounds=(0, 1)
        )
        assert found == pytest.approx(-solved.fun)


def streams(n, seed=0):
    rng = np.random.default_rng(seed)
    for _ in range(n):
        n_days = int(rng.integers(1, 60))
        sizes = rng.integers(0, 12, n_days)
        sizes[0] = max(sizes[0], 1)
        day = np.repeat(FIRST + rng.integers(0, 7) + np.arange(n_days), sizes)
        scores = rng.choice([rng.normal(size=len(day)), rng.integers(4, size=len(day)) * 1.0])
        cap = int(rng.integers(1, 8))
        budget = Budget(int(rng.integers(cap, 30)), str(rng.choice(["week", "month"])), cap)
        yield day, scores, rng.random(len(day)) < 0.3, budget


@pytest.mark.parametrize("n", [60, pytest.param(1000, marks=pytest.mark.nightly)])
def test_calls_are_never_above_the_cap_or_the_budget_and_all_are_spent_if_rows_suffice(monkeypatch, n):
    rng = np.random.default_rng(1)
    monkeypatch.setattr(Spending, "share", lambda *_: rng.random())
    for day, scores, hits, budget in streams(n):
        days = Budget(1).periods(day)
        _, calls = replayed(scores, hits, days, budget)
        assert (calls <= np.minimum(budget.daily_cap, days.sizes)).all()
        spans = np.array([span_of(budget, date)[0] for date in days.labels])
        for number, span in enumerate(np.unique(spans)):
            inside = spans == span
            assert calls[inside].sum() <= budget.n
            if number == 0:
                continue
            # The last day of a span spends what is left.
            last = np.flatnonzero(inside)[-1]
            if span_of(budget, days.labels[last])[1] == 1:
                left = budget.n - calls[inside][:-1].sum()
                assert calls[last] == min(left, budget.daily_cap, days.sizes[last])


@pytest.mark.fast
def test_a_floor_is_kept_and_whole_weeks_are_spent(monkeypatch):
    monkeypatch.setattr(Spending, "share", lambda *_: 1.0)
    rng = np.random.default_rng(2)
    day = np.repeat(FIRST + np.arange(67), 20)
    scores = rng.normal(size=1340) + np.repeat(2.0 * rng.normal(size=67), 20)
    _, calls = replayed(scores, rng.random(1340) < 0.1, Budget(1).periods(day), Budget(35, "week", 15, 2))
    assert (calls.min(), calls.max()) == (2, 15)
    # The first of January of 2026 is a Thursday.
    assert np.add.reduceat(calls[4:], np.arange(0, 63, 7)).tolist() == [35] * 9
    assert calls[:4].sum() == 20


@pytest.mark.parametrize("transform", [np.exp, lambda x: 3.0 * x - 5.0, np.arctan])
def test_an_increasing_map_of_all_scores_changes_no_call(monkeypatch, transform):
    monkeypatch.setattr(Spending, "share", lambda *_: 1.0)
    for day, scores, hits, budget in streams(20, seed=3):
        days = Budget(1).periods(day)
        (_, one), (_, other) = (
            replayed(of, hits, days, budget) for of in (scores - 9.0, transform(scores) - 99.0)
        )
        np.testing.assert_array_equal(one, other)


@pytest.mark.fast
@pytest.mark.parametrize("real", [0.0, 0.5, 1.0])
def test_the_level_of_days_is_found(real):
    rng = np.random.default_rng(4)
    level, within = np.repeat(rng.normal(size=400), 30), rng.normal(size=12000)
    hits = rng.random(12000) < 1.0 / (1.0 + np.exp(2.0 - within - real * level))
    assert level_of_days(within, level, hits) == pytest.approx(real, abs=0.12)


@pytest.mark.fast
def test_rows_that_say_nothing_of_the_level_give_none():
    rng = np.random.default_rng(5)
    within, level, hits = rng.normal(size=50), np.repeat(rng.normal(size=5), 10), np.arange(50) % 3 == 0
    for of in ((within, level, np.zeros(50, bool)), (within, level, np.ones(50, bool)),
               (within, np.ones(50), hits), (np.zeros(50), level, hits)):  # fmt: skip
        assert level_of_days(*of) == 0.0
    assert level_of_days(np.where(hits, -1.0, 0.0), level, hits) == 0.0  # scores that are the wrong way round


@pytest.mark.fast
def test_what_a_gain_needs():
    day = np.repeat(FIRST + np.arange(60), 10)
    scores, hits = np.random.default_rng(6).normal(size=(600,)), np.arange(600) % 9 == 0
    gain = moving_gain(hits, scores, Budget(3), day)
    assert gain.low <= gain.moved - gain.fixed <= gain.high
    assert gain.sentence.startswith("The same calls by the week, at most 6 a day, would have found ")
    assert moving_gain(hits[:550], scores[:550], Budget(3), day[:550]) is None
    assert moving_gain(hits, scores, Budget(21, "week"), day) is None


@pytest.mark.fast
@pytest.mark.parametrize(
    ("given", "why"),
    [
        ((210, "day", 60), "for a budget a week or a month"),
        ((210, "week", None, 3), "daily_floor needs one"),
        ((210, "week", 300), "daily_cap must be >= 1 and <= 210"),
        ((210, "week", 60, 40), "daily_floor=40 a day is more than 210 a week"),
        ((210, "week", 60, 61), "daily_floor must be >= 0 and <= 60"),
    ],
)
def test_budgets_that_cannot_move_are_refused(given, why):
    with pytest.raises(ValueError, match=why):
        Budget(*given)


@pytest.mark.fast
def test_a_budget_that_moves_is_read_and_told():
    budget = Budget.parse(" 210/week, 60/day ")
    assert budget == Budget(210, "week", daily_cap=60)
    assert (str(budget), budget.words) == ("210/week,60/day", "210 a week, at most 60 a day")
    assert Budget.parse("210/week") == Budget(210, "week")
    with pytest.raises(ValueError, match="150/day or 210/week,60/day"):
        Budget.parse("210/week,60")
    for refuses in (
        lambda: budget.periods(["2026-01-01"]),
        lambda: AlertThreshold(budget),
        lambda: Duel(budget),
    ):
        with pytest.raises(ValueError, match=r"moves between days, 210 a week.*leave the daily_cap out"):
            refuses()


@pytest.mark.fast
def test_a_floor_holds_before_seven_days_are_known():
    spending = Spending(Budget(280, "month", daily_cap=20, daily_floor=10))
    # A month of 31 days has less than ten a day.
    assert [spending.calls(FIRST + day, np.arange(30.0)) for day in range(3)] == [10, 10, 10]
