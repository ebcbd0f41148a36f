"""Thresholds between the values of a column, and a byte for the bin of each entry."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pushrank.weak_rankers import Stumps, binning

pytestmark = pytest.mark.fast


def test_many_values_fall_into_bins_of_equal_weight():
    rng = np.random.default_rng(2)
    values = rng.normal(size=10_000)
    edges = binning.quantile_thresholds(values, None, 255)
    assert len(edges) == 254
    counts = np.bincount(np.searchsorted(edges, values), minlength=255)
    assert counts.min() >= 38
    assert counts.max() <= 41
    weights = rng.integers(0, 4, 10_000).astype(float)
    repeated = np.repeat(values, weights.astype(int))
    counted = weights > 0
    np.testing.assert_array_equal(
        binning.quantile_thresholds(values[counted], weights[counted], 255),
        binning.quantile_thresholds(repeated, None, 255),
    )


def test_a_value_that_most_rows_share_does_not_use_up_the_bins():
    rng = np.random.default_rng(3)
    values = np.where(rng.random(20_000) < 0.9, 7.0, rng.normal(size=20_000))
    edges = binning.quantile_thresholds(values, None, 255)
    assert len(edges) >= 250
    counts = np.bincount(np.searchsorted(edges, values[values != 7.0]), minlength=len(edges) + 1)
    assert counts.max() <= 20  # 2,000 rows in some 250 bins


@given(st.lists(st.integers(1, 500), min_size=1, max_size=400), st.integers(2, 255))
def test_bins_are_never_too_many_and_cover_all_values(counts, max_bins):
    values = np.repeat(np.arange(len(counts), dtype=float), counts)
    edges = binning.quantile_thresholds(values, None, max_bins)
    assert len(edges) <= max_bins - 1
    assert (np.diff(edges) > 0).all()
    assert len(edges) == min(len(counts), max_bins) - 1 or len(counts) > max_bins


@given(st.lists(st.floats(allow_nan=False, allow_infinity=False), min_size=2, max_size=30))
def test_thresholds_separate_any_two_floats(values):
    distinct = np.unique(values)
    edges = binning.quantile_thresholds(np.array(values), None, 255)
    assert len(edges) == len(distinct) - 1
    assert (edges >= distinct[:-1]).all()
    assert (edges < distinct[1:]).all()


def test_few_rows_are_binned_as_they_are_and_many_are_sampled(monkeypatch):
    X = np.random.default_rng(3).normal(size=(5000, 2))
    monkeypatch.setattr(binning, "MAX_ROWS", 1000)
    one, same, other = (Stumps().fit(X, random_state=np.random.RandomState(seed)) for seed in (0, 0, 1))
    np.testing.assert_array_equal(one.thresholds_[0], same.thresholds_[0])
    assert not np.array_equal(one.thresholds_[0], other.thresholds_[0])


def test_memory_of_stumps_is_a_byte_an_entry():
    X = np.random.default_rng(0).normal(size=(1000, 8))
    assert binning.dense_bins(X, Stumps().fit(X).thresholds_, [None] * 8, None).nbytes == X.size
