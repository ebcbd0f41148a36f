"""Surrogates of precision at k against their definitions: maxima over all labelings."""

import itertools
from functools import partial

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from growth import growth
from pushrank.metrics import precision_at_k
from pushrank.objectives import PrecisionAtK

MAKERS = {name: partial(PrecisionAtK, surrogate=name) for name in ("struct", "ramp", "max", "avg")}


def labelings(n, k):
    """All 0/1 vectors with k ones."""
    for chosen in itertools.combinations(range(n), k):
        labels = np.zeros(n)
        labels[list(chosen)] = 1.0
        yield labels


def brute_force(name, y, s, k):
    """The surrogates of the paper by going through all labelings."""
    n = len(y)
    worst = max(((1 - y) @ labels + s @ labels) for labels in labelings(n, k))
    if name == "struct":
        return worst - s @ y
    if name == "ramp":
        return worst - max(s @ labels for labels in labelings(n, k) if (1 - y) @ labels == 0)
    values = []
    for labels in labelings(n, k):
        wrong = int((1 - y) @ labels)
        missed = np.sort(s[(y == 1) & (labels == 0)])
        value = wrong + s @ ((1 - y) * labels)
        if wrong:
            # "max" takes the worst set of as many missed positives, "avg" the mean of all missed ones
            value -= missed[:wrong].sum() if name == "max" else wrong * missed.mean()
        values.append(value)
    return max(values)


@st.composite
def rankings(draw, most=8, tied=True):
    n = draw(st.integers(2, most))
    positives = draw(st.integers(1, n - 1))
    y = np.array(draw(st.permutations([1.0] * positives + [0.0] * (n - positives))))
    number = st.integers(-4, 4).map(lambda z: z / 2) if tied else st.floats(-3, 3)
    return y, np.array(draw(st.lists(number, min_size=n, max_size=n))), draw(st.integers(1, positives))


@pytest.mark.parametrize("name", MAKERS)
@given(case=st.one_of(rankings(), rankings(tied=False)))
def test_values_are_the_definitions(name, case):
    y, s, k = case
    value, _ = MAKERS[name](k).evaluate(y, s)
    assert value == pytest.approx(brute_force(name, y, s, k), abs=1e-12)


def test_ten_rows_and_every_label_vector():
    rng = np.random.default_rng(0)
    s = np.round(rng.normal(size=10), 1)
    for positives in range(1, 10):
        for y in itertools.islice(labelings(10, positives), 5):
            for k in range(1, positives + 1):
                for name, make in MAKERS.items():
                    value = make(k).value(y, s)
                    assert value == pytest.approx(brute_force(name, y, s, k), abs=1e-12), name


@given(case=st.one_of(rankings(), rankings(tied=False)))
def test_ramp_avg_max_bound_the_loss_in_this_order(case):
    y, s, k = case
    loss = k * (1.0 - precision_at_k(y, s, k, ties="pessimistic"))
    ramp, avg, largest = (MAKERS[name](k).value(y, s) for name in ("ramp", "avg", "max"))
    assert loss - 1e-12 <= ramp <= avg + 1e-12
    assert avg <= largest + 1e-12


def test_struct_is_no_bound_and_has_none():
    # the smallest case: a negative struct where it should bound a loss of zero
    assert PrecisionAtK(1, "struct").value([0, 1, 1], [0.0, 1.0, 2.0]) == -1.0
    # and a negative among the first k that it does not see
    y, s = [0, 1, 1, 1], [5.0, 4.0, 4.0, 4.0]
    assert PrecisionAtK(1, "struct").value(y, s) < 1.0 - precision_at_k(y, s, 1)
    values = [PrecisionAtK(1, "struct").value([0, 1, 1], np.array([0.0, 1.0, 2.0]) * c) for c in (1, 10, 100)]
    assert values == [-1.0, -10.0, -100.0]


@given(case=rankings(tied=False))
def test_avg_is_struct_where_k_is_all_positives(case):
    y, s, _ = case
    struct = PrecisionAtK(1.0, "struct").value(y, s)
    assert PrecisionAtK(1.0, "avg").value(y, s) == pytest.approx(struct, abs=1e-12)


@pytest.mark.parametrize("name", ["struct", "max", "avg"])
@given(case=rankings(), seed=st.integers(0, 10**6))
def test_subgradient_inequality(name, case, seed):
    y, s, k = case
    other = s + np.random.default_rng(seed).normal(size=len(s))
    value, slope = MAKERS[name](k).evaluate(y, s)
    assert MAKERS[name](k).value(y, other) >= value + slope @ (other - s) - 1e-12


@pytest.mark.parametrize("name", MAKERS)
@given(case=rankings(tied=False))
def test_slopes_by_differences(name, case):
    y, s, k = case
    if name == "ramp" and np.diff(np.sort(s)).min() < 1e-5:
        return  # not convex: next to a tie a kink upwards and one downwards may cancel
    value, slope = MAKERS[name](k).evaluate(y, s)
    # piecewise linear: along a small step the value is the plane's, unless a kink is within the step
    step = 1e-7 * np.random.default_rng(0).normal(size=len(s))
    ahead, behind = (MAKERS[name](k).value(y, s + sign * step) for sign in (1.0, -1.0))
    if abs(ahead + behind - 2.0 * value) < 1e-13:
        assert ahead - value == pytest.approx(slope @ step, abs=1e-12)


@given(case=rankings(tied=False))
def test_margins_make_the_surrogates_vanish(case):
    """Claims 3 and 6: under its margin a surrogate is zero, as the loss is."""
    y, s, k = case
    positives, highest = np.sort(s[y == 1]), s[y == 0].max()
    kept = len(positives) - k + 1
    lowest = {"ramp": positives[kept - 1], "avg": positives[:kept].mean(), "max": positives[0]}
    margins = {name: score - highest for name, score in lowest.items()}
    for name, margin in margins.items():
        moved = np.where(y == 1, s + 1.0 - margin, s)  # now the margin is one
        assert MAKERS[name](k).value(y, moved) == pytest.approx(0.0, abs=1e-12), name
        assert precision_at_k(y, moved + np.where(y == 1, 1e-9, 0.0), k) == 1.0


@pytest.mark.parametrize("name", MAKERS)
@given(case=rankings(most=6), seed=st.integers(0, 10**6))
def test_integer_weights_are_copies(name, case, seed):
    y, s, _ = case
    weights = np.random.default_rng(seed).integers(0, 4, len(y)).astype(float)
    if not (weights[y == 1].sum() and weights[y == 0].sum()):
        return
    copies = np.repeat(np.arange(len(y)), weights.astype(int))
    for k in (1, 0.5, 1.0):
        value, slope = MAKERS[name](k).evaluate(y, s, weights)
        copied, slopes = MAKERS[name](k).evaluate(y[copies], s[copies])
        assert value == pytest.approx(copied, abs=1e-12)
        if len(np.unique(s)) == len(s):
            np.testing.assert_allclose(slope, np.bincount(copies, slopes, len(y)), atol=1e-12)


@given(case=rankings(most=6), seed=st.integers(0, 10**6))
def test_many_copies_of_a_row_for_avg(case, seed):
    """The worst number of negatives lies between two rows, not at one, where rows have many copies."""
    y, s, _ = case
    weights = np.random.default_rng(seed).integers(1, 40, len(y))
    copies = np.repeat(np.arange(len(y)), weights)
    for k in (0.3, 0.7, 1.0):
        surrogate = PrecisionAtK(k, "avg")
        value, slope = surrogate.evaluate(y, s, weights)
        assert value == pytest.approx(surrogate.value(y[copies], s[copies]), rel=1e-12, abs=1e-12)
        assert slope[y == 0].sum() + slope @ s == pytest.approx(value, rel=1e-9, abs=1e-9)


@pytest.mark.parametrize("weight", [1e-300, 1e8, 1e300])
@pytest.mark.parametrize("name", MAKERS)
def test_the_cost_does_not_grow_with_the_weights(name, weight):
    rng = np.random.default_rng(0)
    y, s = (rng.random(500) < 0.3).astype(int), rng.normal(size=500)
    value, slope = MAKERS[name](0.25).evaluate(y, s, np.full(500, weight))
    assert np.isfinite(value)
    assert np.isfinite(slope).all()


def test_fractional_weights_scale():
    rng = np.random.default_rng(1)
    y, s = (rng.random(50) < 0.3).astype(int), rng.normal(size=50)
    weights = rng.random(50)
    for name in ("ramp", "max", "struct"):
        # with k a share of the mass the value is the mass times something that does not depend on it
        one = MAKERS[name](1.0).value(y, s, 8.0 * weights)
        two = MAKERS[name](1.0).value(y, s, 16.0 * weights)
        k1, k2 = (PrecisionAtK(1.0).count(c * weights[y == 1].sum()) for c in (8.0, 16.0))
        assert two / one == pytest.approx(2.0, rel=2.0 / k1 + 2.0 / k2)


@pytest.mark.parametrize("name", MAKERS)
def test_many_rows_need_no_sort(name):
    """Time grows as the rows do, with ties everywhere."""
    rng = np.random.default_rng(0)

    def work(n):
        y, s = (rng.random(n) < 0.1).astype(int), np.round(rng.normal(size=n), 1)
        return lambda: MAKERS[name](100).evaluate(y, s)

    assert growth(work, 400_000) < 4


@pytest.mark.parametrize("k", [0, -1, 0.0, 1.5, True, "all", np.nan])
def test_k_out_of_range(k):
    with pytest.raises(ValueError, match="k must be an int of at least 1"):
        PrecisionAtK(k, "avg")


def test_what_cannot_be_evaluated():
    with pytest.raises(ValueError, match="k=3 is above the number of positives, 2"):
        PrecisionAtK(3, "max").evaluate([1, 1, 0], [1.0, 2.0, 3.0])
    with pytest.raises(ValueError, match="NaN"):
        PrecisionAtK(1, "max").evaluate([1, 0], [1.0, np.nan])
    with pytest.raises(ValueError, match="2 rows but scores has shape"):
        PrecisionAtK(1, "max").evaluate([1, 0], [1.0, 2.0, 3.0])
    with pytest.raises(ValueError, match="surrogate must be one of"):
        PrecisionAtK(1, "mean")


def test_extreme_scores():
    for name, make in MAKERS.items():
        value, slope = make(1).evaluate([1, 0, 1], [1e30, -1e30, 1e300])
        assert np.isfinite(value) or name == "struct"
        assert np.isfinite(slope).all()
    assert PrecisionAtK(1, "max").value([1, 0], [-1e30, 1e30]) == 2e30
