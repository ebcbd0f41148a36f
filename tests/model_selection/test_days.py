"""Rankers compared by hits in the first rows of every day."""

import json

import numpy as np
import pytest
from sklearn.base import BaseEstimator
from sklearn.linear_model import LogisticRegression

from pushrank import PNormPush, TopRankerCV, metrics
from pushrank.budgets import Budget
from pushrank.datasets import make_stream
from pushrank.model_selection import RankerComparison, compare_rankers
from pushrank.model_selection.compare import LINEAR_CHOSEN, known_rankers

HITS = "hits in budget"
MODELS = {"logistic": LogisticRegression(), "push": PNormPush(8.0)}


@pytest.fixture(scope="module")
def stream():
    return make_stream(60, 30, random_state=3)


@pytest.fixture(scope="module")
def compared(stream):
    budget = Budget(4)
    return compare_rankers(MODELS, stream.data, stream.target, budget=budget, time=stream.time)


def test_no_part_tears_a_day_and_each_learns_from_earlier_days(stream, compared):
    days = stream.time.astype("datetime64[D]")
    for day in np.unique(days):
        assert len(np.unique(compared.folds[days == day])) == 1
    assert (np.diff(compared.folds[np.argsort(stream.time, kind="stable")]) >= 0).all()
    assert "Parts are of whole days, " in compared.verdict()


class Coarse(BaseEstimator):
    """A model many of whose scores tie."""

    def fit(self, X, y, sample_weight=None):  # noqa: ARG002
        self.classes_ = np.unique(y)
        return self

    def decision_function(self, X):
        return np.floor(np.asarray(X)[:, 0])


def first_rows(worth, scores, k):
    """Return the worth to be expected of the first k rows, where tied rows come in a random order."""
    found = 0.0
    for score, value in zip(scores, worth, strict=True):
        room = k - np.sum(scores > score)
        found += value * np.clip(room / np.sum(scores == score), 0.0, 1.0)
    return found


def test_hits_and_their_weight_are_those_of_each_day_by_itself(stream):
    models = {"ties": Coarse(), "logistic": LogisticRegression()}
    weights = 1.0 + np.arange(len(stream.day)) % 3
    given = {"budget": Budget(4), "time": stream.time, "sample_weight": weights}
    comparison = compare_rankers(models, stream.data, stream.target, **given)
    days = stream.time.astype("datetime64[D]")
    worth = {HITS: 1.0 * stream.target, "weight in budget": weights * stream.target}
    for model, scores in comparison.scores.items():
        for measure, values in worth.items():
            of_parts = [
                [first_rows(values[days == day], scores[days == day], 4) for day in np.unique(days[in_part])]
                for in_part in (comparison.folds == part for part in range(5))
            ]
            expected = [np.mean(of_part) for of_part in of_parts]
            np.testing.assert_allclose(comparison.measures[model][measure], expected)
            assert comparison.mean(model, measure) == pytest.approx(np.mean(np.concatenate(of_parts)))


def test_of_two_models_the_intervals_are_those_of_measuring_by_day(stream, compared):
    held_out = compared.folds >= 0
    scores = {model: scores[held_out] for model, scores in compared.scores.items()}
    rows = stream.target[held_out], scores
    expected = metrics.measure_periods(*rows, budget=Budget(4), time=stream.time[held_out])
    [gap] = expected.differences.values()
    found = compared.difference("push", "logistic")
    assert found.mean == pytest.approx(gap.difference)
    assert (found.low, found.high) == pytest.approx((gap.low, gap.high))
    for model, mean in expected.means.items():
        assert compared.standard_error(model, HITS) == pytest.approx(mean.standard_error)
        assert compared.days.means[model] == mean
    assert compared.name_of(HITS) == "hits a day in 4 rows"
    assert " hits a day in 4 rows; expect" in compared.verdict()
    summary = json.loads(json.dumps(compared.summary(), allow_nan=False))
    assert summary["days"]["scores"]["push"]["hits_by_period"] == compared.days.hits["push"].tolist()


def test_the_rows_looked_at_come_first_in_the_one_order_of_all_rows(compared, stream):
    of_held_out = compared.of_held_out_rows()
    y = stream.target[compared.folds >= 0]
    n_looked_at = Budget(4).spent(Budget(4).periods(of_held_out.times))
    for model, order in of_held_out.held_out_.items():
        first = np.argsort(-order)[:n_looked_at]
        assert y[first].sum() == pytest.approx(compared.days.hits[model].sum())


def test_models_are_taken_by_hits_ranked_within_days(stream, compared):
    y = stream.target == 1
    for model, scores in compared.scores.items():
        for part, found in enumerate(compared.measures[model]["average precision"]):
            days = [
                (compared.folds == part) & (stream.day == day) & np.isfinite(scores)
                for day in set(stream.day)
            ]
            days = [day for day in days if y[day].any()]
            within = [metrics.average_precision(y[day], scores[day]) for day in days]
            assert found == pytest.approx(np.average(within, weights=[y[day].sum() for day in days]))
    assert compared.name_of(compared.order_) == "average precision within days"
    best = max(MODELS, key=lambda model: compared.mean(model, compared.order_))
    assert compared.taken("single") == best
    _, high, total, _ = compared.days.coming(7)[compared.chosen_]
    expected = compared.expected_
    # The days to come vary as those tested do.
    assert expected.high - expected.mean == pytest.approx((high - total) / 7)
    assert "in the next 7 days." in compared.verdict()


def test_few_days_are_compared_by_the_test_parts():
    stream = make_stream(18, 60, random_state=0)
    comparison = compare_rankers(MODELS, stream.data, stream.target, budget=Budget(4), time=stream.time)
    without = RankerComparison(comparison.measures, HITS)
    np.testing.assert_allclose(comparison.errors_of(HITS).differences, without.errors_of(HITS).differences)
    assert "So few days tell little: intervals are from the test parts." in comparison.verdict()


def test_a_mean_is_over_days_however_few_they_are():
    stream = make_stream(14, 60, random_state=0)
    few = compare_rankers(MODELS, stream.data, stream.target, budget=Budget(4), cv=3, time=stream.time)
    assert len({np.sum(few.folds == part) for part in range(3)}) > 1
    for model, found in few.days.means.items():
        assert few.mean(model, HITS) == found.estimate


def test_choices_are_made_for_the_budget_a_day(stream):
    budget = Budget(4, "week")
    models = {**MODELS, LINEAR_CHOSEN: TopRankerCV(budget=budget, candidates=["logistic-regression"], cv=2)}
    options = {"budget": Budget(4), "cv": 2, "time": stream.time, "together": True, "nested": True}
    comparison = compare_rankers(models, stream.data, stream.target, **options)
    together = "ensemble"
    assert together in comparison.measures
    assert comparison.optimism_ is not None
    assert set(comparison.days.hits) == set(comparison.measures)
    assert known_rankers(budget=budget)[LINEAR_CHOSEN].budget == budget
    assert known_rankers(budget=100, n_rows=1000)[LINEAR_CHOSEN].fraction == 0.1


def test_batches_may_have_names(stream):
    names = np.array([f"team {number // 5:02d}" for number in stream.day])
    options = {"budget": Budget(4, "batch"), "cv": 3, "time": names}
    comparison = compare_rankers(MODELS, stream.data, stream.target, **options)
    assert comparison.days.budget.per == "batch"
    assert len(comparison.days.sizes) == len(np.unique(names[comparison.folds >= 0]))


def test_a_budget_a_day_needs_times(stream):
    with pytest.raises(ValueError, match="a budget of 4 a day needs the time of every row"):
        compare_rankers(MODELS, stream.data, stream.target, budget=Budget(4))
    with pytest.raises(ValueError, match="needs dates"):
        compare_rankers(MODELS, stream.data, stream.target, budget=Budget(4), time=stream.day)
