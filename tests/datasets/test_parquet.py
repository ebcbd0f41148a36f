"""Parquet files as a stream: what it yields, pass after pass, and which files and options it refuses."""

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

from pushrank import PerceptronAtK
from pushrank.datasets import ParquetBatches
from pushrank.exceptions import StreamError


@pytest.fixture
def write(tmp_path):
    def written(name="t", /, **columns):
        pd.DataFrame(columns).to_parquet(tmp_path / f"{name}.parquet", row_group_size=4)
        return tmp_path / f"{name}.parquet"

    return written


@pytest.mark.parametrize("dtype", ["float64", "float32"])
def test_every_pass_yields_the_same_chunks(dtype, write):
    columns = {"a": np.arange(9), "b": np.arange(9) % 2 == 0, "w": np.ones(9), "label": [*"nyn"] * 3}
    paths = [write("first", **columns), write("second", **columns)]
    batches = ParquetBatches(paths, "label", weight="w", dtype=dtype, chunk_rows=5)
    expected = 18, ["n", "y"], ["a", "b"]
    assert (batches.n_rows, batches.classes.tolist(), batches.feature_names) == expected
    for _ in range(2):
        chunks = list(batches)
        assert max(len(X) for X, _, _ in chunks) <= 5
        X = pd.concat([X for X, _, _ in chunks])
        assert (X.dtypes == dtype).all()
        np.testing.assert_array_equal(X, np.tile(np.column_stack([columns["a"], columns["b"]]), (2, 1)))
        assert np.concatenate([y for _, y, _ in chunks]).tolist() == columns["label"] * 2
        assert np.concatenate([weights for *_, weights in chunks]).tolist() == [1.0] * 18


def test_passes_leave_no_memory_behind(write):
    path = write(a=np.arange(20_000.0), label=np.arange(20_000) % 2)
    batches = ParquetBatches(path, "label", chunk_rows=1000)
    held = []
    for _ in range(3):
        assert sum(len(y) for _, y in batches) == 20_000
        held.append(pa.total_allocated_bytes())
    assert held[2] <= held[0]


@pytest.mark.parametrize(
    ("label", "options", "error", "message"),
    [
        ("target", {"features": ["a"]}, ValueError, "has no column 'target'"),
        ("label", {"features": ["b"]}, ValueError, "has no column 'b'"),
        ("label", {}, ValueError, "'word' .* features must be numbers"),
        ("label", {"features": ["a", "label"]}, ValueError, "cannot be features"),
        ("label", {"features": ["a"], "weight": "a"}, ValueError, "cannot be features"),
        ("label", {"features": ["a", "a"]}, ValueError, "different columns"),
        ("label", {"features": "a"}, ValueError, "different columns"),
        ("label", {"features": []}, ValueError, "no column for features"),
        ("label", {"features": ["a"], "chunk_rows": 2.5}, TypeError, "chunk_rows must be an integer"),
        ("label", {"features": ["a"], "chunk_rows": 0}, ValueError, "chunk_rows must be .* >= 1"),
        ("label", {"features": ["a"], "dtype": "int64"}, ValueError, "dtype must be float64"),
        ("gap", {"features": ["a"]}, ValueError, "missing labels"),
        ("list", {"features": ["a"]}, ValueError, "'list' of .* holds list<.*a label must be a single value"),
    ],
)
def test_what_does_not_fit_the_file_is_told(label, options, error, message, write):
    path = write(a=[1.0, 2.0], word=["x", "y"], label=[0, 1], gap=[0, None], list=[[0], [1]])
    with pytest.raises(error, match=message):
        ParquetBatches(path, label, **options)


def test_files_that_cannot_be_read(tmp_path, write):
    with pytest.raises(FileNotFoundError):
        ParquetBatches(tmp_path / "none.parquet", "label")
    (tmp_path / "text.parquet").write_text("a,label")
    with pytest.raises(ValueError, match="is no Parquet file"):
        ParquetBatches(tmp_path / "text.parquet", "label")
    with pytest.raises(ValueError, match="paths is empty"):
        ParquetBatches([], "label")
    with pytest.raises(ValueError, match="is a folder: name its files"):
        ParquetBatches(tmp_path, "label")
    numbers, words = write("n", x=[1.0, 2.0], label=[0, 1]), write("w", x=[1.0, 2.0], label=["no", "yes"])
    with pytest.raises(ValueError, match="'label' holds labels of different kinds"):
        ParquetBatches([numbers, words], "label")


def test_missing_values_are_told_with_their_row(write):
    path = write(a=[1.0, np.nan, 3.0], label=[0, 1, 1])
    with pytest.raises(StreamError, match="row 1 contains NaN in column 0"):
        PerceptronAtK().fit_stream(ParquetBatches(path, "label"))
    path = write(a=np.arange(9.0), label=np.arange(9) % 2, w=[*np.ones(8), None])
    with pytest.raises(StreamError, match=r"found nan in row 3 \(row 8 of the stream\)"):
        PerceptronAtK().fit_stream(ParquetBatches(path, "label", weight="w", chunk_rows=5))


def test_the_index_of_a_data_frame_is_no_feature(tmp_path):
    path = tmp_path / "t.parquet"
    table = pd.DataFrame({"a": np.arange(20.0), "label": np.arange(20) % 2})
    table.set_index(pd.Index(range(20), name="customer")).to_parquet(path)
    assert ParquetBatches(path, "label").feature_names == ["a"]
    table.sample(frac=0.7, random_state=0).to_parquet(path)
    assert ParquetBatches(path, "label").feature_names == ["a"]
    wanted = ParquetBatches(path, "label", features=["a", "__index_level_0__"])
    assert len(wanted.feature_names) == 2
