"""Measures of dask arrays are the floats that the measures of arrays in memory are."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pushrank import distributed, metrics
from pushrank.distributed import measures

dask = pytest.importorskip("dask")
da = pytest.importorskip("dask.array")
dd = pytest.importorskip("dask.dataframe")
pytest.importorskip("dask.bag")

CALLS = [("auc", {}), ("average_precision", {})]
CALLS += [("positives_at_top", {}), ("positives_at_top", {"normalize": True})]
CALLS += [("precision_at_k", k) for k in ({"k": 3}, {"fraction": 0.3}, {"fraction_of_positives": 0.5})]


@pytest.fixture(autouse=True)
def ranges_of_few_rows(monkeypatch):
    """Sort a few rows a group, so that there are many groups and ranges."""
    monkeypatch.setattr(measures, "GROUP_ROWS", 2)
    monkeypatch.setattr(measures, "SAMPLES", 2)
    with dask.config.set(scheduler="synchronous"):
        yield


def rows(rng, n, decimals):
    y = rng.permutation(np.arange(n) % 3 == 0)
    return y, np.round(rng.normal(size=n) + y, decimals), rng.integers(0, 3, n) + (np.arange(n) < 9)


@pytest.mark.parametrize(
    ("ties", "decimals", "weighted"),
    [("pessimistic", 0, True), ("half", 0, False), ("half", 16, False), ("optimistic", 1, False)],
)
def test_they_are_those_in_memory(ties, decimals, weighted):
    y, scores, weights = rows(np.random.default_rng(0), 50, decimals)
    arrays = [da.from_array(array, chunks=13) for array in (y, scores, weights)]
    for name, parameters in CALLS:
        here = {"ties": ties, "sample_weight": weights if weighted else None, **parameters}
        there = here | {"sample_weight": arrays[2] if weighted else None}
        expected = getattr(metrics, name)(y, scores, **here)
        assert getattr(distributed, name)(*arrays[:2], **there) == expected


@pytest.mark.nightly
@given(st.integers(0, 2**32 - 1), st.integers(3, 300), st.integers(0, 3), st.integers(1, 100))
def test_they_are_those_in_memory_of_any_rows(seed, n, decimals, chunks):
    y, scores, weights = rows(np.random.default_rng(seed), n, decimals)
    arrays = [da.from_array(array, chunks=chunks) for array in (y, scores * 10.0 ** (seed % 300), weights)]
    for name, parameters in CALLS:
        in_memory = getattr(metrics, name)(y, scores * 10.0 ** (seed % 300), **parameters)
        assert getattr(distributed, name)(*arrays[:2], **parameters) == in_memory


def test_other_weights_differ_by_rounding():
    y, scores, _ = rows(np.random.default_rng(0), 40, 1)
    weights = np.random.default_rng(1).random(40)
    arrays = [da.from_array(array, chunks=13) for array in (y, scores)]
    for name, parameters in (*CALLS[:4], *CALLS[5:]):
        found = getattr(distributed, name)(*arrays, sample_weight=da.from_array(weights), **parameters)
        expected = getattr(metrics, name)(y, scores, sample_weight=weights, **parameters)
        assert found == pytest.approx(expected, rel=1e-13)


@pytest.mark.parametrize("scores", [[-0.0, 0.0, -1.5, 1e308, -1e308, 5e-324], [7, 2**53, -(2**53), 7, 0, 1]])
def test_zeros_and_the_ends_of_the_range(scores):
    y = np.array([0, 1, 1, 0, 1, 0])
    arrays = da.from_array(y, chunks=3), da.from_array(scores, chunks=3)
    for name, parameters in CALLS:
        found = getattr(distributed, name)(*arrays, **parameters)
        assert found == getattr(metrics, name)(y, scores, **parameters)


def test_on_a_cluster_with_frames_texts_and_a_partition_without_rows(client):
    frame = pd.DataFrame({"hit": ["yes", "no", "no", "yes", "no"], "score": [5.0, 4.0, 3.0, 3.0, 1.0]})
    there = dd.from_pandas(frame, npartitions=3)
    there = there[there["score"] > 1.5]
    frame = frame[:4]
    with dask.config.set(scheduler=client):
        assert distributed.auc(there["hit"], there["score"]) == metrics.auc(frame["hit"], frame["score"])
        found = distributed.precision_at_k(there["hit"], there["score"], 2, pos_label="no")
    assert found == metrics.precision_at_k(frame["hit"], frame["score"], 2, pos_label="no")


ORDERED = pd.Series(pd.Categorical([1, 0] * 2, [1, 0], ordered=True))


@pytest.mark.parametrize(
    ("change", "error", "message"),
    [
        ({"scores": np.zeros(4)}, TypeError, "scores must be a Dask array or data frame, and is ndarray"),
        ({"scores": da.zeros((4, 2))}, TypeError, "scores must be one-dimensional, found 2 dimensions"),
        ({"scores": da.from_array([0.0, 1.0, np.nan, 2.0], chunks=2)}, ValueError, "row 0;.*\n.*partition 1"),
        ({"scores": da.from_array([1, 2, 2**53 + 1, 4], chunks=2)}, ValueError, "cannot tell all scores"),
        ({"scores": da.zeros(6, chunks=2)}, ValueError, "scores has 6 rows for 4 of y_true"),
        ({"y_true": da.zeros(4, chunks=2)}, ValueError, "exactly 2 classes, found 1"),
        ({"y_true": da.from_array([0, np.nan, 1, 1], chunks=2)}, ValueError, "y_true is missing"),
        ({"y_true": da.from_array(["a", "b", "b", "b"], chunks=2)}, ValueError, "pass pos_label='a'"),
        ({"sample_weight": da.from_array([1.0, 1.0, 1.0, -1.0], chunks=2)}, ValueError, "must not be negat"),
        ({"sample_weight": da.from_array([0, 1, 0, 1], chunks=2)}, ValueError, "zero for every negative row"),
        ({"ties": "any"}, ValueError, "ties must be one of"),
        ({"y_true": dask.delayed(np.zeros(4))}, TypeError, "y_true must be a Dask array .*, and is Delayed"),
        ({"y_true": dask.bag.from_sequence([0, 1, 0, 1])}, TypeError, "array or data frame, and is Bag"),
        ({"y_true": dd.from_pandas(ORDERED, npartitions=2)}, ValueError, "turned upside down"),
    ],
)
def test_what_does_not_fit_is_told(change, error, message):
    y, scores = da.from_array([0, 1, 0, 1], chunks=2), da.from_array([0.0, 1.0, 2.0, 3.0], chunks=2)
    with pytest.raises(error, match=message):
        distributed.auc(**({"y_true": y, "scores": scores} | change))


def test_a_list_longer_than_the_rows_is_told():
    arrays = da.from_array([0, 1, 0, 1], chunks=2), da.from_array([0.0, 1.0, 2.0, 3.0], chunks=2)
    with pytest.raises(ValueError, match="k=5 must lie between 1 and the number"):
        distributed.precision_at_k(*arrays, 5)
    with pytest.raises(TypeError, match="k must be an integer"):
        distributed.precision_at_k(*arrays, 0.5)
