"""Rows that belong together are drawn together."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from pushrank import metrics


@pytest.fixture(scope="module")
def rows():
    rng = np.random.default_rng(0)
    y = rng.random(80) < 0.3
    return y, y + rng.normal(size=80), y + 2.0 * rng.normal(size=80)


@pytest.mark.parametrize("method", ["bca", "bootstrap"])
def test_copies_of_rows_that_are_named_as_groups_say_no_more_than_the_rows(rows, method):
    y, a, b = rows
    options = {"metric": "auc", "method": method, "n_resamples": 200, "random_state": 0}
    once = metrics.compare(y, a, b, **options)
    y4, a4, b4 = (np.repeat(values, 4) for values in rows)
    names = np.repeat([f"customer {place:03}" for place in range(80)], 4)
    assert metrics.compare(y4, a4, b4, groups=names, **options) == pytest.approx(once)
    as_if_independent = metrics.compare(y4, a4, b4, **options)
    assert as_if_independent.high - as_if_independent.low < 0.7 * (once.high - once.low)


def test_bounds_of_proportions_are_of_the_groups():
    """Ten hits of ten rows, of five customers: as certain as five of five."""
    y, scores = np.repeat([1, 0], 40), np.arange(80.0)[::-1]
    groups = np.arange(80) // 2
    found = metrics.confidence_interval(y, scores, "precision_at_k", k=10, groups=groups, random_state=0)
    alone = metrics.confidence_interval(y[::2], scores[::2], "precision_at_k", k=5, random_state=0)
    assert (found.low, found.high) == pytest.approx((alone.low, alone.high))
    weights = np.tile([1.0, 0.0], 40)
    weighted = metrics.confidence_interval(
        y, scores, "precision_at_k", k=5, groups=groups, sample_weight=weights, random_state=0
    )
    assert weighted.low == pytest.approx(alone.low)


def test_groups_that_all_hold_positives_can_be_drawn(rows):
    y, a, _ = rows
    groups = np.empty(80, dtype=int)
    for mask in (y, ~y):
        groups[mask] = np.arange(mask.sum()) % 8
    found = metrics.measure(y, {"a": a}, k=10, groups=groups, n_resamples=50, random_state=0)
    assert found.measures["a"]["auc"].low < found.measures["a"]["auc"].estimate


def test_every_resample_of_groups_has_both_classes():
    """All negatives are in one group of five that all hold positives: a third of the draws miss it."""
    y, groups = np.array([1, 1, 1, 1, 1, 0]), [0, 1, 2, 3, 4, 4]
    found = metrics.confidence_interval(
        y, [1.0, 5.0, 2.0, 6.0, 4.0, 3.0], "bedroc", groups=groups, n_resamples=50, random_state=0
    )
    assert found.low <= found.estimate <= found.high


def test_a_resample_of_fewer_rows_than_are_looked_at_is_looked_at_whole(rows):
    """One group holds half the rows, and most resamples without it fewer than the 70 of the list."""
    y, a, _ = rows
    groups = np.maximum(np.arange(80) - 40, 0)
    found = metrics.confidence_interval(
        y, a, "precision_at_k", k=70, groups=groups, n_resamples=50, random_state=0
    )
    assert found.low < found.estimate < found.high
    with pytest.raises(ValueError, match="k=81 must lie between"):
        metrics.confidence_interval(y, a, "value_at_k", k=81, value=a, groups=groups)


@pytest.mark.parametrize("missing", [np.nan, None, pd.NA])
def test_a_missing_group_is_no_group(rows, missing):
    y, a, _ = rows
    groups = np.array(["a", "b"] * 40, dtype=object)
    groups[7] = missing
    with pytest.raises(ValueError, match=r"groups is missing .* in row 7"):
        metrics.confidence_interval(y, a, groups=groups)


def test_groups_that_cannot_be_are_told(rows):
    y, a, _ = rows
    with pytest.raises(ValueError, match="groups are all the same"):
        metrics.confidence_interval(y, a, groups=np.zeros(80))
    with pytest.raises(ValueError, match="of groups take 'bootstrap' or 'bca'"):
        metrics.confidence_interval(y, a, "auc", method="delong", groups=np.arange(80))
    with pytest.raises(ValueError, match="inconsistent numbers of samples"):
        metrics.confidence_interval(y, a, groups=np.arange(79))


def covered(n_sets, with_groups):
    """How many of so many sets of clustered rows have an interval that holds the area of the population."""
    rng = np.random.default_rng(1)
    groups = np.repeat(np.arange(60), 5)

    def draw(n_groups):
        y = np.repeat(rng.random(n_groups) < 0.4, 5)
        return y, y + np.repeat(rng.normal(size=n_groups), 5) + 0.3 * rng.normal(size=5 * n_groups)

    truth = metrics.auc(*draw(200_000))
    ends = [
        metrics.confidence_interval(
            *draw(60), "auc", n_resamples=400, random_state=0, groups=groups if with_groups else None
        )
        for _ in range(n_sets)
    ]
    return sum(low <= truth <= high for low, high, *_ in ends) / n_sets


@pytest.mark.nightly
def test_intervals_of_clusters_cover_what_they_say():
    assert covered(400, with_groups=False) < 0.75
    assert 0.925 <= covered(400, with_groups=True) <= 0.98
