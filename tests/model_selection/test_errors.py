"""Influence values and the errors made of them, against derivatives, samples and plain sums."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GroupKFold

from pushrank import metrics
from pushrank.model_selection import compare_rankers
from pushrank.model_selection.errors import (
    AUC,
    AVERAGE_PRECISION,
    HITS,
    PRECISION,
    WEIGHT,
    Errors,
    Part,
    acted_on,
    chances_at_threshold,
    influences_of_part,
)

MEASURES = {
    HITS: lambda y, scores: 60 * metrics.precision_at_k(y, scores, 60),
    PRECISION: lambda y, scores: metrics.precision_at_k(y, scores, fraction_of_positives=0.25),
    AVERAGE_PRECISION: metrics.average_precision,
    AUC: metrics.auc,
}


def part_of(y, *scores, weights=None):
    return Part(np.arange(len(y)), y, weights, list(scores))


def influences(part, measure, budget=60):
    n = len(part.positive)
    return influences_of_part(part, measure, budget, n, chances_at_threshold([part], measure, budget, n))


def draw(rng, n_rows=400):
    y = rng.random(n_rows) < 0.2
    return y, rng.normal(size=n_rows) + 1.5 * y


@pytest.mark.parametrize("measure", [AUC, AVERAGE_PRECISION])
def test_influence_values_are_derivatives_by_the_weights_of_rows(measure):
    y, scores = draw(np.random.default_rng(0), 60)
    # Some scores are equal.
    scores, step = np.round(scores, 1), 1e-6
    slopes = np.empty(60)
    for row in range(60):
        weights = np.ones(60)
        weights[row] += step
        slopes[row] = MEASURES[measure](y, scores, sample_weight=weights) - MEASURES[measure](y, scores)
    slopes *= 60 / step
    np.testing.assert_allclose(influences(part_of(y, scores), measure)[0], slopes - slopes.mean(), atol=1e-4)


@pytest.mark.parametrize("measure", MEASURES)
def test_influence_values_have_the_spread_of_the_measure_between_samples(measure):
    rng = np.random.default_rng(0)
    samples = [draw(rng) for _ in range(600)]
    spread = np.std([MEASURES[measure](*sample) for sample in samples])
    errors = [np.linalg.norm(influences(part_of(*sample), measure)) / 400 for sample in samples]
    assert np.mean(errors) == pytest.approx(spread, rel=0.1)


@given(st.lists(st.tuples(st.booleans(), st.integers(-3, 3)), min_size=3, max_size=40), st.integers(1, 40))
def test_influence_values_depend_on_the_order_alone_and_sum_to_zero(rows, k):
    y, scores = (np.array(column) for column in zip(*rows, strict=True))
    if len(set(y)) < 2:
        return
    k = min(k, len(y))
    part = part_of(y, scores * 1.0, np.exp(scores) + 2.0, weights=np.ones(len(y)))
    for measure in (*MEASURES, WEIGHT):
        values = influences(part, measure, k)
        np.testing.assert_allclose(values[0], values[1], atol=1e-9)
        np.testing.assert_allclose(values.sum(axis=1), 0.0, atol=1e-8)


@given(st.lists(st.integers(0, 5), min_size=1, max_size=20), st.floats(0.1, 25.0))
def test_the_first_rows_are_so_many(scores, k):
    shares = acted_on(np.array(scores, dtype=float), k)
    assert shares.sum() == pytest.approx(min(k, len(scores)))
    assert ((shares >= 0.0) & (shares <= 1.0 + 1e-12)).all()
    assert (np.diff(shares[np.argsort(scores, kind="stable")]) >= -1e-12).all()


def test_errors_of_folds_are_those_of_nadeau_and_bengio():
    values = np.array([[0.5, 0.6, 0.8, 0.4, 0.5], [0.7, 0.6, 0.9, 0.5, 0.4]])
    errors = Errors.by_folds(values, 1)
    expected = np.sqrt((1 / 5 + 1 / 4) * np.var(values[0] - values[1], ddof=1))
    assert errors.differences[0, 1] == pytest.approx(expected)
    assert errors.means[0] == pytest.approx(np.sqrt((1 / 5 + 1 / 4) * np.var(values[0], ddof=1)))
    assert errors.freedom == 4.0


def test_groups_carry_the_error_whole():
    """Rows that come twice are no more evidence than once, if it is said."""
    rng = np.random.default_rng(0)
    once = rng.normal(size=(2, 300))
    twice, ids = np.repeat(once, 2, axis=1), np.arange(300)
    alone = Errors.by_rows(once, once, (ids, ids), 240.0)
    grouped = Errors.by_rows(twice, twice, (np.repeat(ids, 2),) * 2, 480.0)
    np.testing.assert_allclose(grouped.differences, alone.differences)
    np.testing.assert_allclose(grouped.means, alone.means)
    ungrouped = Errors.by_rows(twice, twice, (np.arange(600),) * 2, 480.0)
    np.testing.assert_allclose(ungrouped.means, alone.means / np.sqrt(2.0), rtol=0.01)
    assert (alone.freedom, grouped.freedom) == (np.inf, 299.0)


def test_the_part_of_the_training_rows_is_at_most_that_of_nadeau_and_bengio():
    rng = np.random.default_rng(0)
    rows, ids = rng.normal(size=(3, 500)), np.arange(500)
    most = Errors.by_rows(rows, None, (ids, ids), 400.0)
    unsteady = Errors.by_rows(rows, 9.0 * rows, (ids, ids), 400.0)
    np.testing.assert_allclose(unsteady.differences, most.differences)
    steady = Errors.by_rows(rows, 0.0 * rows, (ids, ids), 400.0)
    np.testing.assert_allclose(steady.differences * np.sqrt(1.0 + 500 / 400), most.differences)


class Columns(LogisticRegression):
    """Logistic regression on some of the columns."""

    def __init__(self, start=0, stop=5):
        super().__init__()
        self.start, self.stop = start, stop

    def fit(self, X, y):
        return super().fit(X[:, self.start : self.stop], y)

    def decision_function(self, X):
        return super().decision_function(X[:, self.start : self.stop])


def sample(seed, n_rows=300):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n_rows, 10))
    return X, rng.random(n_rows) < 1.0 / (1.0 + np.exp(1.0 - X.sum(axis=1) / 2.0))


TWO = {"first": Columns(0, 5), "second": Columns(5, 10)}


def test_identical_models_do_not_differ_at_all():
    X, y = sample(0)
    comparison = compare_rankers({"a": Columns(), "b": Columns(), **TWO}, X, y, budget=60, random_state=0)
    assert comparison.difference("a", "b")[:4] == (0.0, 0.0, 0.0, 0.0)
    assert comparison.difference("a", "first").more_than_chance is False
    assert ("a" in comparison.may_be_best_) == ("b" in comparison.may_be_best_)


def test_repetitions_narrow_intervals_and_the_seed_repeats_them():
    X, y = sample(1)
    options = {"budget": 60, "random_state": 0}
    once, again, often = (compare_rankers(TWO, X, y, n_repeats=n, **options) for n in (1, 1, 10))
    assert once.summary() == again.summary()
    for measure in MEASURES:
        assert often.errors[measure].differences[0, 1] < once.errors[measure].differences[0, 1]


def test_few_rows_of_a_class_are_not_halved_and_have_the_largest_error():
    X, y = sample(2, 80)
    y[np.flatnonzero(y)[20:]] = False
    sizes = []

    class Spy(Columns):
        def fit(self, X, y):
            sizes.append(len(y))
            return super().fit(X, y)

    compare_rankers({"a": Spy()}, X, y, random_state=0)
    assert sizes == [64] * 5
    groups = np.arange(80) // 4
    compare_rankers({"a": Spy()}, X, y, cv=GroupKFold(5), groups=groups)
    assert sizes == [64] * 10


@pytest.mark.parametrize("groups", [None, np.arange(300) // 3])
def test_a_half_holds_whole_groups_and_both_classes(groups):
    X, y = sample(3)
    seen = []

    class Spy(Columns):
        def fit(self, X, y):
            seen.append(set(X[:, 9]))
            return super().fit(X, y)

    X[:, 9] = np.arange(300) if groups is None else groups
    cv = 5 if groups is None else GroupKFold(5)
    compare_rankers({"a": Spy()}, X, y, cv=cv, groups=groups, random_state=0)
    *folds, one, other = seen
    assert not one & other
    assert one | other == folds[-1]


@pytest.mark.nightly
@pytest.mark.parametrize("measure", MEASURES)
def test_equal_models_are_told_apart_in_one_set_of_twenty(measure):
    found = 0
    for seed in range(600):
        X, y = sample(seed, 200)
        errors = compare_rankers(TWO, X, y, budget=40, random_state=seed)
        gap = errors.mean("first", measure) - errors.mean("second", measure)
        found += abs(gap) > 1.96 * errors.errors[measure].differences[0, 1]
    assert found <= 600 * 0.05 + 2.5 * np.sqrt(600 * 0.05 * 0.95)
