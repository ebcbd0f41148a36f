"""Hits in the first rows of every period: brute force, intervals, regret, and who stays on the list."""

import json
from itertools import pairwise, permutations

import numpy as np
import pandas as pd
import pytest
from scipy.stats import t as student

from pushrank import metrics
from pushrank.budgets import Budget
from pushrank.datasets import make_stream
from pushrank.exceptions import LimitsWarning
from pushrank.limits import Limits, select
from pushrank.metrics import measure_periods
from pushrank.metrics.periods import (
    MIN_PERIODS,
    coming_interval,
    independent_periods,
    mean_interval,
    share_interval,
)
from tests.growth import growth

pytestmark = pytest.mark.fast


def chances_by_brute_force(scores, days, n):
    """Return in what share of the orders of its day by score each row is among the first n."""
    chances = np.zeros(len(scores))
    for day in np.unique(days):
        rows = np.flatnonzero(days == day)
        orders = [o for o in permutations(rows) if all(np.diff(scores[list(o)]) <= 0)]
        for order in orders:
            chances[list(order[:n])] += 1.0 / len(orders)
    return chances


def days_of(numbers):
    return np.datetime64("2026-03-01") + np.asarray(numbers)


@pytest.mark.parametrize("n", [1, 2, 3, 9])
def test_hits_overlap_and_values_are_those_of_all_orders_of_tied_rows(n):
    rng = np.random.default_rng(n)
    days = np.repeat(np.arange(8), [1, 2, 5, 6, 6, 3, 4, 6])
    order = rng.permutation(len(days))
    days, y = days[order], rng.random(len(days)) < 0.4
    value, ids = rng.random(len(days)), rng.integers(3, size=len(days))
    scores = {name: rng.integers(3, size=len(days)) for name in "ab"}
    measured = measure_periods(y, scores, budget=Budget(n), time=days_of(days), value=value, ids=ids)
    looked_at = np.minimum(n, np.bincount(days))
    assert measured.looked_at.tolist() == looked_at.tolist()
    assert measured.positives.tolist() == np.bincount(days, y).tolist()
    chances = {name: chances_by_brute_force(of_model, days, n) for name, of_model in scores.items()}
    for name, chance in chances.items():
        np.testing.assert_allclose(measured.hits[name], np.bincount(days, chance * y))
        np.testing.assert_allclose(measured.values[name], np.bincount(days, chance * y * value))
        is_on = np.array(
            [[1.0 - np.prod(1.0 - chance[(days == d) & (ids == i)]) for i in range(3)] for d in range(8)]
        )
        stays = [(before * after).sum() / after.sum() for before, after in pairwise(is_on)]
        assert measured.carried_over[name] == pytest.approx(np.mean(stays))
    alike = np.bincount(days, chances["a"] * chances["b"]) / looked_at
    assert measured.overlap["a"]["b"] == measured.overlap["b"]["a"] == pytest.approx(alike.mean())


def test_one_period_is_the_whole_list():
    rng = np.random.default_rng(0)
    y, scores = rng.random(200) < 0.2, rng.integers(20, size=200)
    measured = measure_periods(y, scores, budget=Budget(30, "batch"), time=np.zeros(200))
    assert measured.hits["scores"][0] == pytest.approx(30 * metrics.precision_at_k(y, scores, k=30))
    assert np.isnan(measured.spreads["scores"])
    assert "There are no intervals, which take 21 batches; found 1." in measured.sentences()[-1]


def test_the_interval_is_that_of_the_formula_and_draws_nothing():
    hits = np.random.default_rng(0).poisson(3.0, size=40).astype(float)
    low, high, mean, error = mean_interval(hits, 0.9)
    nu = 3  # of 0.3 * 40^(2/3) = 3.5
    weights = [
        np.sqrt(2 / 40) * sum(hits[d - 1] * np.cos(np.pi * j * (d - 0.5) / 40) for d in range(1, 41))
        for j in range(1, nu + 1)
    ]
    assert error == pytest.approx(np.sqrt(np.mean(np.square(weights)) / 40))
    assert mean == hits.mean()
    assert high - mean == pytest.approx(student.ppf(0.95, nu) * error)
    assert mean - low == pytest.approx(high - mean)
    assert mean_interval(hits, 0.9) == (low, high, mean, error)
    bounded = mean_interval(hits, 0.9, 9.0)
    assert np.log([mean / bounded.low, bounded.high / mean]) == pytest.approx(2 * [(high - mean) / mean])
    assert mean_interval(hits, 0.9, mean + 0.01).high == mean + 0.01


def test_no_interval_of_too_few_or_equal_periods():
    few = np.arange(MIN_PERIODS - 1.0)
    for hits, level in ((few, 0.95), (np.full(50, 2.5), 0.95), (np.arange(50.0), None)):
        low, high, mean, error = mean_interval(hits, level)
        assert mean == hits.mean()
        assert np.isnan([low, high, error]).all()


def test_shares_of_periods_have_an_interval_at_none_and_all():
    low, high, share, _ = share_interval(np.ones(40), 1.0, 0.95)
    assert (round(low, 4), high, share) == (0.9119, 1.0, 1.0)
    low, high, share, error = share_interval(np.arange(100) % 3 == 0, 1.0, 0.95)
    assert 0.0 < low < share < high < 1.0
    assert error > 0.0
    # Storms of ten days tell less than as many single days.
    long = share_interval(np.arange(100) // 10 % 3 == 0, 1.0, 0.95)
    assert long.high - long.low > 1.5 * (high - low)


@pytest.mark.parametrize("without", [[0, 57], [0, 1], [20, 40]])
def test_the_share_of_independent_days_is_clopper_and_pearsons_wherever_the_few_without_lie(without):
    hits = np.random.default_rng(3).permutation(np.arange(58) % 5) + 4.0
    hits[without] = 0.0
    low, high, *_ = share_interval(hits, 1.0, 0.95)
    assert low > 0.80
    assert high < 0.9996
    assert independent_periods(np.tile([1.0, 3.0], 29)) == 58.0


def test_the_range_of_days_to_come_is_students_and_within_what_there_can_be():
    hits = np.tile([1.0, 3.0, 2.0], 20)
    low, high, total, error = coming_interval(hits, 0.95, 7, 10.0)
    assert total == pytest.approx(14.0)
    assert error == pytest.approx(7.0 * np.sqrt(hits.var(ddof=1) * (1 / 7 + 1 / 60)))
    assert (high - total, total - low) == pytest.approx(2 * [student.ppf(0.975, 59) * error])
    assert coming_interval(hits, 0.95, 7, 2.1).high == pytest.approx(7 * 2.1)
    assert np.isnan(coming_interval(hits[:20], 0.95, 7, 10.0).low)
    # Neighbours that are alike tell less of the days to come.
    assert coming_interval(np.sort(hits), 0.95, 7, 10.0).low < low


@pytest.mark.parametrize("storms", [0.0, 1.0])
def test_intervals_hold_over_streams(storms):
    """Of 100 streams; experiments/days has 600, more lengths and other intervals."""
    found, covered = [], 0
    for seed in range(100):
        stream = make_stream(84, 60, 3, positive_fraction=0.01, storms=storms, random_state=seed)
        scores = stream.data.sum(axis=1)
        measured = measure_periods(stream.target, scores, budget=Budget(6), time=stream.time)
        found.append(measured.means["scores"])
    truth = np.mean([mean.estimate for mean in found])
    covered = sum(mean.low <= truth <= mean.high for mean in found)
    assert covered >= 88  # 4 standard deviations of a count with the chance .95


def test_differences_hold_together_and_say_so():
    rng = np.random.default_rng(0)
    days = np.repeat(np.arange(40), 25)
    y = rng.random(1000) < 0.2
    scores = pd.DataFrame({"good": y + rng.normal(size=1000), "same": 0.0, "poor": rng.normal(size=1000)})
    scores["same"] = 2.0 * scores["good"]
    measured = measure_periods(y, scores, budget=Budget(5), time=days_of(days))
    assert measured.differences["same"] == (0.0, 0.0, 0.0, 1.0)
    poor = measured.differences["poor"]
    expected = mean_interval(measured.hits["poor"] - measured.hits["good"], 1.0 - 0.05 / 2)
    assert poor[:3] == pytest.approx(expected[:3])
    assert poor.high < 0.0
    assert poor.p_value < 0.05
    said = " ".join(measured.sentences())
    assert "same against good: as many hits a day." in said
    assert "(of all 2 differences together): more than chance explains." in said
    assert "trend" in said
    assert str(measured).startswith(measured.title())
    assert "good" in measured._repr_html_()
    assert repr(measured).startswith("PeriodMeasurement(good, same, poor on 1,000 rows")


def test_regret_by_hand():
    # Hits of a: 1 0 0 1, of b: 0 1 0 1; after day 2 (tied) either is taken.
    days = np.repeat(np.arange(4), 2)
    y = np.array([1, 0, 1, 0, 0, 0, 1, 0])
    scores = {"a": [2, 1, 1, 2, 2, 1, 2, 1], "b": [1, 2, 2, 1, 2, 1, 2, 1]}
    measured = measure_periods(y, scores, budget=Budget(1), time=days_of(days))
    assert [hits.tolist() for hits in measured.hits.values()] == [[1, 0, 0, 1], [0, 1, 0, 1]]
    regret = measured.regret()
    # The rule: a, which finds 0; b, 0; either, 1.
    assert regret.hits == pytest.approx(1 / 3)
    assert regret.below_best.estimate == pytest.approx(1 / 3)
    assert [found.difference for found in regret.of_always.values()] == pytest.approx([0.0, 1 / 3])
    with pytest.raises(ValueError, match="2 models and 2 periods, found 1 and 4"):
        measure_periods(y, scores["a"], budget=Budget(1), time=days_of(days)).regret()


def test_everything_goes_into_json_and_frames():
    stream = make_stream(30, 40, 3, random_state=0)
    columns = {"a": stream.data[:, 0], "b": stream.data[:, 1]}
    ids = np.arange(len(stream.day)) % 7
    measured = measure_periods(
        stream.target, columns, budget=Budget(5, "week"), time=stream.time, value=stream.data[:, 2], ids=ids
    )
    facts = json.loads(json.dumps(measured.summary(), allow_nan=False))
    assert facts["budget"] == "5/week"
    assert facts["periods"]["start"][:2] == ["2026-01-05", "2026-01-12"]
    assert facts["scores"]["a"]["hits"]["low"] is None  # of five weeks
    assert facts["scores"]["a"]["hits_by_period"] == measured.hits["a"].tolist()
    assert facts["differences"]["b"]["against"] == "a"
    assert set(facts["regret"]) == {"hits", "below_best", "of_always"}
    frame = measured.to_frame()
    assert list(frame) == ["model", "period", "rows", "looked_at", "positives", "hits", "value"]
    assert frame.groupby("model")["hits"].sum().to_dict() == {n: x.sum() for n, x in measured.hits.items()}


def test_bad_input_is_refused():
    y, scores, time = [0, 1], [1.0, 2.0], days_of([0, 1])
    for wrong, error, said in (
        ({"budget": 150}, TypeError, "Budget\\(150, per='day'\\), got 150"),
        ({"confidence_level": 1.0}, ValueError, "confidence_level must be > 0 and < 1"),
        ({"time": days_of([0])}, ValueError, "inconsistent numbers of samples"),
        ({"time": [1, 2]}, ValueError, "needs dates"),
        ({"value": [1.0, np.inf]}, ValueError, "value must be finite"),
        ({"ids": [None, 1]}, ValueError, "has no entry in row 0"),
    ):
        with pytest.raises(error, match=said):
            measure_periods(y, scores, **{"budget": Budget(1), "time": time} | wrong)
    measured = measure_periods(y, scores, budget=Budget(1), time=time)
    with pytest.raises(ValueError, match="at_least"):
        measured.share_of_periods(-1.0)


def test_measures_of_a_whole_list_name_what_takes_a_budget_by_period():
    y, scores = [0, 1, 1], [1.0, 2.0, 3.0]
    for function in (metrics.measure, metrics.precision_at_k):
        with pytest.raises(TypeError, match="measure_periods"):
            function(y, scores, k=Budget(1))
    with pytest.raises(TypeError, match="guarantee_days"):
        metrics.guarantee(y, scores, k=Budget(1))


def test_work_grows_with_rows_as_a_sort_does():
    def work(n_rows):
        rng = np.random.default_rng(0)
        days, y = rng.integers(n_rows // 50, size=n_rows), np.arange(n_rows) % 9 == 0
        scores = {name: rng.integers(99, size=n_rows) for name in "ab"}
        ids = rng.integers(n_rows // 9, size=n_rows)
        return lambda: measure_periods(y, scores, budget=Budget(5, "batch"), time=days, ids=ids)

    assert growth(work, 160_000) < 4


def test_figures_without_an_interval_have_the_digits_that_they_tell():
    y, day = np.r_[np.tile([1, 0], 5), 0, 0], np.repeat(np.arange(6), 2)
    scores = np.tile([2.0, 1.0], 6)
    measured = measure_periods(y, scores, budget=Budget(1, "batch"), time=day, value=np.full(12, 1000.0))
    assert measured.cells()[1] == [["scores", "0.83", "–", "–", "0.41", "83 %", "–", "833.33", "–"]]


def test_limits_are_kept_on_every_day_and_what_they_cost_is_paired_by_days():
    stream, rng = make_stream(40, 80, random_state=0), np.random.default_rng(0)
    n = len(stream.time)
    X = {"shop": rng.integers(6, size=n), "region": rng.choice(["north", "south"], n)}
    scores = {"all": stream.data[:, :3].sum(axis=1), "first": stream.data[:, 0]}
    # Columns that cross take an integer program every day.
    limits = Limits({"shop": 2, "region": 5}, {"region": {"north": 2}})
    of = {"budget": Budget(8), "time": stream.time}
    measured, plain = (
        measure_periods(stream.target, scores, **of, **more) for more in ({"limits": limits, "X": X}, {})
    )
    for name, values in scores.items():
        hits = []
        for day in np.unique(stream.day):
            rows = np.flatnonzero(stream.day == day)
            listed = rows[select(values[rows], 8, limits, X={key: of[rows] for key, of in X.items()})]
            hits.append(stream.target[listed].sum())
        np.testing.assert_array_equal(measured.hits[name], hits)
        np.testing.assert_array_equal(measured.unlimited[name], plain.hits[name])
        low, high, cost, _ = mean_interval(plain.hits[name] - hits, 0.975)
        assert measured.prices[name][:3] == (low, high, cost)
        sentence = f"The limits cost {name} {cost:,.2f} hits a day (95 % interval {low:.2f} to {high:.2f}); "
        assert f"{sentence}without them it has {np.mean(plain.hits[name]):,.2f}." in measured.sentences()
    assert measured.title().endswith("8 a day looked at, within limits")
    assert measured.summary()["limits_cost"]["all"]["difference"] == measured.prices["all"].difference
    assert plain.unlimited == plain.prices == plain.summary()["limits_cost"] == {}


def test_days_that_limits_leave_short_are_warned_of_and_those_that_cannot_keep_them_named():
    day, y, shop = days_of([0, 0, 0, 1, 1, 1]), [1, 0, 1, 0, 1, 1], ["a", "a", "b", "b", "b", "b"]
    of = {"budget": Budget(2), "time": day, "X": {"shop": shop}}
    with pytest.warns(LimitsWarning, match="the limits allow fewer than 2 rows in 1 of 2 periods"):
        measured = measure_periods(y, [3, 2, 1, 3, 2, 1], **of, limits=Limits({"shop": 1}))
    assert measured.hits["scores"].tolist() == [2.0, 0.0]
    with pytest.raises(
        ValueError, match=r"^2026-03-02 has 0 rows of shop 'a', and its list must have 1: ask"
    ):
        measure_periods(y, [3, 2, 1, 3, 2, 1], **of, limits=Limits(at_least={"shop": {"a": 1}}))
