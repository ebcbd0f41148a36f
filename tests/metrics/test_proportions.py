"""Wilson's interval is SciPy's, and a difference of two lists' hits rests on their own rows."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import binomtest

from pushrank import metrics
from pushrank.metrics import _proportions as bounds

COUNTS = st.tuples(st.integers(0, 12), st.integers(0, 12))


@pytest.mark.fast
@pytest.mark.parametrize("confidence", [0.5, 0.95])
def test_interval_is_wilsons(confidence):
    hits, rows = np.array([0, 1, 7, 10]), np.array([10, 10, 10, 10])
    low, high = bounds.wilson_interval(hits.astype(float), rows.astype(float), confidence)
    for place, (found, of) in enumerate(zip(hits, rows, strict=True)):
        expected = binomtest(int(found), int(of)).proportion_ci(confidence, method="wilson")
        assert (low[place], high[place]) == pytest.approx((expected.low, expected.high), abs=1e-12)


@given(COUNTS, COUNTS, st.floats(0.001, 0.4))
def test_an_interval_of_hits_holds_the_difference_within_its_range(hits, misses, miss):
    (a, b), rows = hits, [max(float(n + m), 1.0) for n, m in zip(hits, misses, strict=True)]
    low, high = bounds.difference_of_hits_interval((a, b), (rows[0], rows[1]), miss)
    assert -rows[1] <= low <= a - b <= high <= rows[0]
    turned = bounds.difference_of_hits_interval((b, a), (rows[1], rows[0]), miss)
    assert turned == pytest.approx((-high, -low))
    wider = bounds.difference_of_hits_interval((a, b), (rows[0], rows[1]), miss / 2.0)
    assert wider[0] <= low + 1e-9
    assert wider[1] >= high - 1e-9


def test_where_no_hit_is_seen_the_bound_is_that_of_none_in_so_many():
    low, high = bounds.difference_of_hits_interval((0.0, 0.0), (20.0, 20.0), 0.05)
    # None of 40 is seen with a chance of 5 % if a row is a hit with this one.
    assert (1.0 - high / 40.0) ** 40 == pytest.approx(0.05)
    assert low == -high


def lists(n_swapped, n_rows=400, n_hits=32, budget=100):
    """Two lists that share all hits, and all but some of their first rows."""
    y = np.zeros(n_rows, dtype=bool)
    y[: n_hits - 4] = y[-4:] = True
    first = -np.arange(n_rows, dtype=float)
    second = first.copy()
    swapped = np.arange(n_swapped)
    places = budget - 1 - swapped, budget + swapped
    second[places[0]], second[places[1]] = first[places[1]], first[places[0]]
    return y, first, second


def test_the_more_alike_two_lists_are_the_narrower_is_their_difference():
    widths = []
    for n_swapped in (0, 1, 3, 10, 40):
        y, first, second = lists(n_swapped)
        found = metrics.compare(y, first, second, "precision_at_k", k=100)
        assert found.difference == 0.0
        assert found.low == -found.high
        widths.append(100 * found.high)
    assert widths[0] == 0.0
    assert widths == sorted(widths)
    assert widths[-1] < 3.0
    y, *scores = lists(3)
    [differences] = metrics.measure(y, dict(zip("ab", scores, strict=True)), k=100).differences.values()
    assert differences["hits"].high < 3.0
    assert differences["recall"].high == pytest.approx(differences["hits"].high / 32)


def test_lists_of_the_same_rows_in_another_order_might_differ_by_one():
    y, first, _ = lists(0)
    second = first.copy()
    second[:2] = second[1::-1]
    found = metrics.compare(y, first, second, "precision_at_k", k=100)
    assert (100 * found.low, 100 * found.high) == (-1.0, 1.0)
    assert found.p_value == 1.0


def test_groups_and_weights_count_by_their_effective_number():
    y, first, second = lists(12)
    alone = metrics.compare(y, first, second, "precision_at_k", k=100)
    twice = [np.repeat(values, 2) for values in (y, first, second)]
    grouped = metrics.compare(*twice, "precision_at_k", k=200, groups=np.repeat(np.arange(400), 2))
    assert grouped[:3] == pytest.approx(alone[:3])
    weighted = metrics.compare(y, first, second, "precision_at_k", k=200, sample_weight=np.full(400, 2.0))
    assert weighted[:3] == pytest.approx(alone[:3])


ROWS = st.tuples(st.booleans(), st.integers(0, 4), st.integers(0, 4))


@given(st.lists(ROWS, min_size=6, max_size=30), st.data())
def test_no_difference_of_hits_leaves_what_is_possible(rows, data):
    y, first, second = (np.array(column) for column in zip(*rows, strict=True))
    if len(set(y)) < 2:
        return
    k = data.draw(st.integers(1, len(y)))
    low, high, difference, p_value = metrics.compare(
        y, first, second, "precision_at_k", k=k, n_resamples=20, random_state=0
    )
    most = min(k, y.sum()) / k
    assert -most - 1e-9 <= low <= difference + 1e-9
    assert difference - 1e-9 <= high <= most + 1e-9
    assert 0.0 <= p_value <= 1.0


@pytest.mark.nightly
@pytest.mark.parametrize("noise", [0.01, 0.03, 0.1, 0.3])
@pytest.mark.parametrize("gain", [0.0, 1.0])
def test_intervals_of_lists_that_are_nearly_equal_hold_the_mean_difference(noise, gain):
    rng = np.random.default_rng(0)
    found = []
    for _ in range(400):
        y = rng.random(1000) < 0.05
        scores = rng.normal(size=1000) + 2.5 * y
        first, second = (scores + noise * rng.normal(size=1000) + g * noise * y for g in (gain, 0.0))
        options = {"k": 60, "n_resamples": 200, "random_state": 0}
        found.append(metrics.compare(y, first, second, "precision_at_k", **options))
    low, high, difference, _ = np.array(found).T
    mean = 0.0 if gain == 0.0 else difference.mean()
    assert np.mean((low <= mean + 1e-12) & (mean - 1e-12 <= high)) >= 0.93


def test_intervals_at_all_hits_end_at_one():
    low, high = bounds.wilson_interval(np.array([10.0]), np.array([10.0]), 0.95)
    assert (round(float(low[0]), 4), round(float(high[0]), 4)) == (0.7225, 1.0)
    low, high = bounds.clopper_pearson_interval(10, 10, 0.025)
    assert (round(float(low), 4), float(high)) == (0.6915, 1.0)
    assert bounds.difference_of_hits_interval((0.0, 0.0), (1.0, 1.0), 0.05) == (-1.0, 1.0)
    low, high = bounds.difference_of_hits_interval((4.0, 0.0), (20.0, 20.0), 0.05)
    assert (round(low, 2), round(high, 2)) == (-0.41, 8.73)
