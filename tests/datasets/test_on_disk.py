"""Rows written to disk: what is kept, opened again, and refused or reported."""

import pickle

import numpy as np
import pandas as pd
import pyarrow.dataset
import pytest

from disk_rows import N_FEATURES, N_ROWS, NAMES, blocks_of, disk_table, same_fits, written_files
from pushrank import PNormPush
from pushrank.datasets import DiskRows
from pushrank.datasets import on_disk as module


@pytest.fixture(scope="module")
def table():
    return disk_table()


@pytest.fixture
def files(tmp_path):
    return written_files(tmp_path)


def test_arrays_are_written_slice_by_slice(table, tmp_path, monkeypatch):
    X, y, weights = table
    np.save(tmp_path / "X.npy", X.astype(np.float32))
    monkeypatch.setattr(module, "CHUNK_BYTES", 50_000)
    rows = DiskRows.write(tmp_path / "rows", np.load(tmp_path / "X.npy", mmap_mode="r"), y, weights)
    assert (rows.n_rows, rows.dtype) == (N_ROWS, np.float32)
    parts = list(rows)
    assert len(parts) > 1
    for array, kept in zip((X.astype(np.float32), y, weights), zip(*parts, strict=True), strict=True):
        np.testing.assert_array_equal(np.concatenate(kept), array)


def test_labels_are_sorted_whichever_comes_first(table, tmp_path):
    X, y, _ = table
    order = np.argsort(-y, kind="stable")
    labels = np.where(y == 1, "yes", "no")[order]
    rows = DiskRows.write(tmp_path / "rows", blocks_of(X[order], labels))
    same_fits(PNormPush().fit(rows), PNormPush().fit(X[order], labels), True)
    kept = list(rows)
    np.testing.assert_array_equal(np.concatenate([part for part, _ in kept]), X[order])
    assert np.concatenate([part for _, part in kept]).tolist() == labels.tolist()


def test_a_folder_is_opened_again_also_in_another_process(table, tmp_path):
    X, y, _ = table
    written = DiskRows.write(tmp_path / "rows", X, y)
    first = PNormPush().fit(written)
    carried = pickle.loads(pickle.dumps(written))  # noqa: S301
    for rows in (DiskRows(tmp_path / "rows"), DiskRows(str(written.path)), carried):
        np.testing.assert_array_equal(PNormPush().fit(rows).coef_, first.coef_)
    with pytest.raises(FileExistsError, match="exists: open it by DiskRows"):
        DiskRows.write(tmp_path / "rows", X, y)
    for nowhere in (tmp_path, tmp_path / "nowhere", tmp_path / "rows" / "rows"):
        with pytest.raises(FileNotFoundError, match="holds no rows: write them first"):
            DiskRows(nowhere)


def test_rows_that_were_not_written_whole_are_not_taken(table, tmp_path):
    X, y, _ = table

    def interrupted():
        yield X, y
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        DiskRows.write(tmp_path / "rows", interrupted())
    assert not list(tmp_path.iterdir())
    rows = DiskRows.write(tmp_path / "rows", X, y)
    with (rows.path / "rows").open("r+b") as file:
        file.truncate(1000)
    with pytest.raises(OSError, match="cut short: write the rows again"):
        PNormPush().fit(rows)
    with pytest.raises(ValueError, match="not as long as they were"):
        DiskRows(rows.path)
    manifest = rows.path / "rows.json"
    manifest.write_text(manifest.read_text().replace('"format": 1', '"format": 0'))
    with pytest.raises(ValueError, match="another version of pushrank: write the rows again"):
        DiskRows(rows.path)


GOOD = np.arange(6.0).reshape(3, 2)
MISSING = np.where(GOOD == 3, np.nan, GOOD)


@pytest.mark.parametrize(
    ("blocks", "error", "message"),
    [
        ([(GOOD, [0, 1, 0]), (GOOD[:, :1], [0, 1, 0])], ValueError, "block 1 has 1 columns, and the first"),
        ([(GOOD, [0, 1, 0]), (GOOD, [0, 1])], ValueError, "block 1 has 3 rows and 2 labels"),
        ([(GOOD, [0, 1, 0]), (GOOD, [0, 1, 0], [1, 1, 1])], ValueError, "either all blocks have"),
        ([(GOOD, [0, 1, 0], [1, -1, 1])], ValueError, "must not be negative"),
        ([(GOOD, [0, 1, 0], [1, 0, 1])], ValueError, "no row of class 1 has a sample_weight above zero"),
        ([(GOOD, [0, 0, 0])], ValueError, "exactly 2 classes, found 1 class"),
        ([(GOOD, [0, 1, 2])], ValueError, "exactly 2 classes, found 3 classes"),
        ([(GOOD, [0, 1, np.nan])], ValueError, "block 0: y is missing"),
        ([(GOOD, [0, 1, 0]), (MISSING, [0, 1, 0])], ValueError, "NaN in row 4, column 1"),
        ([(np.where(GOOD == 0, np.inf, GOOD), [0, 1, 0])], ValueError, "infinity in row 0, column 0"),
        ([([["a", "b"]], [0])], ValueError, "block 0: could not convert string to float"),
        ([GOOD], TypeError, "block 0 must be"),
        ([], ValueError, "found no rows: the iterable has no blocks, as a generator has none"),
        ([(GOOD * 1j, [0, 1, 0])], ValueError, "block 0: Complex data not supported"),
        ([(GOOD, [0, 1, 0]), (GOOD, ["a", "a", "a"])], ValueError, "block 1: labels are texts and numbers"),
        ([(GOOD, [0, 1, 0], [1, 1, 1]), (GOOD, [0, 1, 0], [1, -1, 1])], ValueError, r"found -1.0 in row 4"),
        ([(GOOD, pd.Categorical([2, 1, 1], [2, 1], ordered=True))], ValueError, "turned upside down"),
        (
            [(GOOD, np.array([1, 2, 1], dtype="datetime64[ns]"))],
            ValueError,
            r"block 0: labels have dtype datetime64\[ns\], as of .*make them numbers or text",
        ),
        ([(GOOD, np.array([b"a", b"b", b"a"], object))], ValueError, "labels have dtype object, as of b'a'"),
        ([(GOOD, [0.5, 1.5, 2.5])], ValueError, "exactly 2 classes, found 3 classes"),
        (GOOD, ValueError, "y is missing: pass the labels of the rows"),
        (3, TypeError, "found int"),
    ],
)
def test_bad_blocks_are_refused_by_place(blocks, error, message, tmp_path):
    with pytest.raises(error, match=message):
        DiskRows.write(tmp_path / "rows", blocks)
    assert not list(tmp_path.iterdir())


def test_bad_arguments_are_refused(files, table, tmp_path, monkeypatch):
    X, y, _ = table
    new = tmp_path / "rows"
    for labels in (None, y):
        with pytest.raises(ValueError, match="y is missing: name the column of labels"):
            DiskRows.write(new, files[0], labels)
    with pytest.raises(ValueError, match=r"inconsistent numbers of samples: \[6000, 3\]"):
        DiskRows.write(new, X, y[:3])
    with pytest.raises(TypeError, match="found FileSystemDataset; pass the files of a pyarrow dataset"):
        DiskRows.write(new, pyarrow.dataset.dataset(files))
    with pytest.raises(FileNotFoundError):
        DiskRows.write(new, "nowhere.parquet", "label")
    with pytest.raises(ValueError, match="y and sample_weight are for Parquet files and arrays"):
        DiskRows.write(new, blocks_of(X, y), y)
    with pytest.raises(ValueError, match="dtype must be float32, float64 or None"):
        DiskRows.write(new, X, y, dtype="int8")
    monkeypatch.setattr(module.shutil, "disk_usage", lambda _: module.shutil._ntuple_diskusage(9, 9, 9))
    with pytest.raises(OSError, match=r"the rows take 2.94e\+05 bytes and .* has 9"):
        DiskRows.write(new, files, "label")
    assert sorted(tmp_path.iterdir()) == files


def test_files_without_rows_or_types_are_passed_over(files, tmp_path):
    empty = tmp_path / "empty.parquet"
    pd.DataFrame(columns=[*NAMES, "label", "w"]).to_parquet(empty)
    rows = DiskRows.write(tmp_path / "rows", [empty, *files, empty], "label")
    assert (rows.n_rows, rows.n_features) == (N_ROWS, N_FEATURES + 1)


def test_a_damaged_file_is_named(files, tmp_path):
    whole = files[1].read_bytes()
    files[1].write_bytes(whole[:2000] + bytes(5000) + whole[7000:])
    with pytest.raises(OSError, match=r"second\.parquet cannot be read: Couldn't deser"):
        DiskRows.write(tmp_path / "rows", files, "label")
    assert sorted(tmp_path.iterdir()) == files


def test_labels_in_a_stated_order_are_not_turned_upside_down(files, tmp_path):
    stated = pd.Categorical(["good", "bad"] * 500, ["good", "bad"], ordered=True)
    for labels in (stated, pd.Series(stated)):
        with pytest.raises(ValueError, match="turned upside down"):
            DiskRows.write(tmp_path / "rows", np.zeros((1000, 1)), labels)
    pd.read_parquet(files[0]).assign(label=stated).to_parquet(files[0])
    with pytest.raises(ValueError, match="turned upside down"):
        DiskRows.write(tmp_path / "rows", files[0], "label")


def test_names_of_columns_are_those_that_are_texts(table, tmp_path):
    X, y, _ = table
    ranker = PNormPush().fit(DiskRows.write(tmp_path / "rows", [(pd.DataFrame(X), y)]))
    assert not hasattr(ranker, "feature_names_in_")
    ranker.predict(pd.DataFrame(X))


def test_a_full_disk_is_reported_and_nothing_is_left(files, tmp_path):
    resource = pytest.importorskip("resource")
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (10_000, limits[1]))
    try:
        with pytest.raises(OSError, match=r"rows cannot be written in .* \(File too large\); name another"):
            DiskRows.write(tmp_path / "rows", files, "label")
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
    assert sorted(tmp_path.iterdir()) == files


def test_a_folder_that_cannot_be_written_to_is_reported(files, tmp_path):
    with pytest.raises(OSError, match=r"rows cannot be written in .*; name another folder"):
        DiskRows.write(files[0] / "rows", [(GOOD, [0, 1, 0])])
    assert DiskRows.write(tmp_path / "new" / "folder", [(GOOD, [0, 1, 0])]).n_rows == 3
