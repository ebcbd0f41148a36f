"""Fits to rows on disk: those of the same rows in memory, and what is refused before work starts."""

import gc
import os
import pickle
import time
import tracemalloc
from concurrent.futures import ThreadPoolExecutor
from decimal import Decimal
from pathlib import Path

import numpy as np
import pandas as pd
import psutil
import pyarrow.dataset
import pytest
from sklearn.model_selection import GridSearchCV

from pushrank import CascadeRanker, IRPush, PerceptronAtK, PNormPush, PushRanker, RankSVM, TrimmedPush
from pushrank.datasets import DiskRows, ParquetBatches
from pushrank.datasets import on_disk as module

N_ROWS, N_FEATURES = 6000, 5
NAMES = [f"x{j}" for j in range(N_FEATURES)]


@pytest.fixture(scope="module")
def table():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(N_ROWS, N_FEATURES)) + 10.0 * np.arange(N_FEATURES)
    y = X[:, 0] + rng.normal(size=N_ROWS) > 1.5
    return X, y.astype(int), rng.integers(0, 3, N_ROWS).astype(float)


@pytest.fixture
def small_chunks(monkeypatch):
    """Cut few rows into several chunks, and these into several blocks and reads."""
    monkeypatch.setattr("pushrank._parallel.CHUNK_ELEMENTS", 5000)
    monkeypatch.setattr("pushrank.models.linear.BLOCK_ELEMENTS", 1000)
    monkeypatch.setattr("pushrank.solvers.stored_rows.READ_BYTES", 20_000)
    monkeypatch.setattr("pushrank.solvers.stored_rows.SCORED_ROWS", 7000)


@pytest.fixture
def files(table, tmp_path):
    X, y, weights = table
    frame = pd.DataFrame(X, columns=NAMES).assign(label=y, w=weights)
    paths = [tmp_path / "first.parquet", tmp_path / "second.parquet"]
    frame[:1000].to_parquet(paths[0])
    frame[1000:].to_parquet(paths[1], row_group_size=700)
    return paths


def blocks_of(*arrays, size=999):
    for start in range(0, len(arrays[0]), size):
        yield tuple(array[start : start + size] for array in arrays)


def same_fits(ranker, expected, bits):
    if bits:
        np.testing.assert_array_equal(ranker.coef_, expected.coef_)
    np.testing.assert_allclose(
        ranker.coef_, expected.coef_, rtol=1e-10, atol=1e-10 * abs(expected.coef_).max()
    )
    assert ranker.coef_.dtype == expected.coef_.dtype
    assert ranker.threshold_ == pytest.approx(expected.threshold_, rel=1e-9)
    assert ranker.dual_gap_ == pytest.approx(expected.dual_gap_, abs=1e-9)
    assert ranker.converged_ == expected.converged_
    assert (ranker.n_iter_, ranker.n_features_in_) == (expected.n_iter_, N_FEATURES)
    np.testing.assert_array_equal(ranker.classes_, expected.classes_)


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize(
    ("ranker", "bits"),
    [
        (PNormPush(p=16), True),
        (PNormPush(p=2, side="pull", alpha=0.1), True),
        (PNormPush(side="both", bottom_weight=0.5), False),
        (IRPush(), False),
        (PushRanker(price="exponential_price", alpha=0.5), False),
    ],
)
@pytest.mark.usefixtures("small_chunks")
def test_rows_on_disk_give_the_fit_of_rows_in_memory(ranker, bits, dtype, weighted, table):
    X, y, weights = table
    X = X.astype(dtype)
    weights = weights if weighted else None
    expected = type(ranker)(**ranker.get_params()).fit(X, y, weights)
    ranker.fit(blocks_of(X, y, *([weights] if weighted else [])))
    same_fits(ranker, expected, bits)


@pytest.mark.usefixtures("small_chunks")
@pytest.mark.parametrize("weighted", [False, True])
def test_the_same_positives_are_trimmed_on_disk(weighted, table):
    X, y, weights = table
    parts = (X, y, *([weights] if weighted else []))
    expected = TrimmedPush(k=0.5, p=4, alpha=0.1).path(X, y, [1.0, 0.5, 20], *parts[2:])
    with DiskRows(blocks_of(*parts)) as rows:
        rankers = TrimmedPush(p=4, alpha=0.1).path(rows, None, [1.0, 0.5, 20])
    for ranker, in_memory in zip(rankers, expected, strict=True):
        largest = float(abs(in_memory.coef_).max())
        np.testing.assert_allclose(ranker.coef_, in_memory.coef_, rtol=1e-10, atol=1e-10 * largest)
        np.testing.assert_array_equal(ranker.trimmed_, in_memory.trimmed_)
        assert ranker.threshold_ == pytest.approx(in_memory.threshold_, rel=1e-9)
        assert (ranker.n_iter_, ranker.converged_) == (in_memory.n_iter_, True)
        assert ranker.n_features_in_ == N_FEATURES


def test_positives_that_can_be_separated_are_trimmed_on_disk_as_in_memory():
    """The way to a far minimum leads along falling penalties."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(400, 4)) * np.arange(1, 5)
    y = X @ np.linspace(1.0, -1.0, 4) + rng.normal(size=400) > 0.5
    expected, ranker = TrimmedPush(k=30).fit(X, y), TrimmedPush(k=30).fit(blocks_of(X, y))
    np.testing.assert_allclose(ranker.coef_, expected.coef_, rtol=1e-10)
    np.testing.assert_allclose(ranker.objective_path_[-1], expected.objective_path_[-1], rtol=1e-12)


def test_files_give_the_fit_of_their_rows(files, table):
    X, y, weights = table
    expected = PNormPush().fit(X, y, weights)
    for given in (files, [str(path) for path in files], pyarrow.dataset.dataset(files)):
        ranker = PNormPush()
        with DiskRows(given, "label", "w") as rows:
            ranker.fit(rows)
        same_fits(ranker, expected, True)
        assert ranker.feature_names_in_.tolist() == NAMES
    same_fits(PNormPush().fit(ParquetBatches(files, "label", weight="w")), expected, True)
    with DiskRows(files, "label", "w") as rows:
        streamed = PerceptronAtK(max_iter=1, shuffle=False).fit_stream(rows)
    in_memory = PerceptronAtK(max_iter=1, shuffle=False).fit(X, y, weights)
    np.testing.assert_array_equal(streamed.coef_, in_memory.coef_)
    pd.DataFrame(X[:1000], columns=NAMES).to_parquet(files[0])
    same_fits(PNormPush().fit(str(files[0]), y[:1000]), PNormPush().fit(X[:1000], y[:1000]), True)
    assert sorted(files[0].parent.iterdir()) == files


def test_labels_are_sorted_whichever_comes_first(table):
    X, y, _ = table
    order = np.argsort(-y, kind="stable")
    labels = np.where(y == 1, "yes", "no")[order]
    expected = PNormPush().fit(X[order], labels)
    ranker = PNormPush().fit(blocks_of(X[order], labels))
    same_fits(ranker, expected, True)
    with DiskRows(blocks_of(X[order], labels), memory_budget=1 << 20) as rows:
        kept = list(rows)
    np.testing.assert_array_equal(np.concatenate([part for part, _ in kept]), X[order])
    assert np.concatenate([part for _, part in kept]).tolist() == labels.tolist()


def test_a_kept_file_is_read_in_place_of_the_same_parquet_files(files, tmp_path, monkeypatch):
    cache = tmp_path / "cache"
    with DiskRows(files, "label", cache_dir=cache) as rows:
        first = PNormPush().fit(rows)
    read = []
    monkeypatch.setattr(ParquetBatches, "__iter__", lambda self: iter(read.append(self) or []))
    with DiskRows(files, "label", cache_dir=cache) as rows:
        np.testing.assert_array_equal(PNormPush().fit(rows).coef_, first.coef_)
    assert not read
    for other in ({"dtype": "float32"}, {"features": NAMES[:2]}, {"sample_weight": "w"}):
        with pytest.raises(ValueError, match="found no rows"):
            DiskRows(files, "label", cache_dir=cache, **other)
    os.utime(files[0], ns=(1, 1))  # it may have changed
    with pytest.raises(ValueError, match="found no rows"):
        DiskRows(files, "label", cache_dir=cache)
    assert len(read) == 4


def test_what_was_not_written_whole_is_not_taken_for_rows(files, tmp_path):
    def interrupted():
        yield from blocks_of(np.ones((5, 1)), np.arange(5) % 2, size=2)
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        DiskRows(interrupted(), cache_dir=tmp_path)
    assert sorted(tmp_path.iterdir()) == files
    cache = tmp_path / "cache"
    DiskRows(files, "label", cache_dir=cache).close()
    (kept,) = cache.glob("pushrank-*")
    with (kept / "rows").open("r+b") as file:
        file.truncate(1000)
    with DiskRows(files, "label", cache_dir=cache) as rows:  # written anew
        assert PNormPush().fit(rows).converged_
        os.truncate(kept / "rows", 1000)
        with pytest.raises(OSError, match="cut short by others"):
            PNormPush().fit(rows)


GOOD = np.arange(6.0).reshape(3, 2)
MISSING = np.where(GOOD == 3, np.nan, GOOD)


@pytest.mark.parametrize(
    ("blocks", "error", "message"),
    [
        (
            [(GOOD, [0, 1, 0]), (GOOD[:, :1], [0, 1, 0])],
            ValueError,
            "block 1 has 1 columns, and the first one 2",
        ),
        ([(GOOD, [0, 1, 0]), (GOOD, [0, 1])], ValueError, "block 1 has 3 rows and 2 labels"),
        ([(GOOD, [0, 1, 0]), (GOOD, [0, 1, 0], [1, 1, 1])], ValueError, "either all blocks have"),
        ([(GOOD, [0, 1, 0], [1, -1, 1])], ValueError, "must not be negative"),
        ([(GOOD, [0, 1, 0], [1, 0, 1])], ValueError, "no row of class 1 has a sample_weight above zero"),
        ([(GOOD, [0, 0, 0])], ValueError, "exactly 2 classes, found 1 class"),
        ([(GOOD, [0, 1, 2])], ValueError, "exactly 2 classes, found 3 classes"),
        ([(GOOD, [0, 1, np.nan])], ValueError, "block 0: y is missing"),
        (
            [(GOOD, [0, 1, 0]), (np.where(GOOD == 3, np.nan, GOOD), [0, 1, 0])],
            ValueError,
            "NaN in row 4, column 1",
        ),
        ([(np.where(GOOD == 0, np.inf, GOOD), [0, 1, 0])], ValueError, "infinity in row 0, column 0"),
        ([([["a", "b"]], [0])], ValueError, "block 0: could not convert string to float"),
        ([GOOD], TypeError, "block 0 must be"),
        ([], ValueError, "found no rows: the iterable has no blocks, as a generator has none"),
        ([(GOOD * 1j, [0, 1, 0])], ValueError, "block 0: Complex data not supported"),
        ([(GOOD, [0, 1, 0]), (GOOD, ["a", "a", "a"])], ValueError, "block 1: labels are texts and numbers"),
        ([(GOOD, [0, 1, 0], [1, 1, 1]), (GOOD, [0, 1, 0], [1, -1, 1])], ValueError, r"found -1.0 in row 4"),
        (
            [(GOOD, pd.Categorical(["good", "bad", "bad"], ["good", "bad"], ordered=True))],
            ValueError,
            "turned upside down",
        ),
        (
            [(GOOD, np.array([1, 2, 1], dtype="datetime64[ns]"))],
            ValueError,
            r"block 0: labels have dtype datetime64\[ns\], as of .*make them numbers or text",
        ),
        (
            [(GOOD, [Decimal(1), Decimal(2), Decimal(1)])],
            ValueError,
            r"block 0: labels have dtype object, as of Decimal\('1'",
        ),
        ([(GOOD, [0.5, 1.5, 0.5])], ValueError, "block 0: Unknown label type: continuous"),
        (GOOD, TypeError, "rows in memory go to fit as they are"),
        (3, TypeError, "found int"),
    ],
)
def test_bad_blocks_are_refused_by_place(blocks, error, message):
    with pytest.raises(error, match=message):
        DiskRows(blocks)


def test_bad_arguments_are_refused(files, table, monkeypatch):
    X, y, _ = table
    with pytest.raises(ValueError, match="y is missing: name the column"):
        PNormPush().fit(str(files[0]))
    with pytest.raises(ValueError, match=r"y has 3 entries for 6000 rows"):
        PNormPush().fit(files, y[:3])
    with pytest.raises(FileNotFoundError):
        PNormPush().fit("nowhere.parquet", "label")
    for no_files in (files[0].parent.glob("*.parquet"), set(files), [], pd.DataFrame(X)):
        with pytest.raises(TypeError, match=r"y names the column 'label', and X no Parquet files, but is a"):
            PNormPush().fit(no_files, "label")
    with pytest.raises(ValueError, match=r"memory_budget must be finite and >= 1.04858e\+06"):
        DiskRows(files, "label", memory_budget=3)
    with pytest.raises(ValueError, match="solver must be 'lbfgs'"):
        PNormPush(solver="coordinate").fit(files, "label")
    with pytest.raises(ValueError, match="discount must be 'reverse_height'"):
        IRPush(discount="rank").fit(files, "label")
    with pytest.raises(ValueError, match="needs the scores of all rows at once"):
        PushRanker("logistic").fit(files, "label")
    with pytest.raises(ValueError, match="qid and pairs must be None"):
        PNormPush().fit(files, "label", qid=y)
    with (
        DiskRows(blocks_of(X, y)) as rows,
        pytest.raises(ValueError, match="y and sample_weight must be None"),
    ):
        PNormPush().fit(rows, y)
    with pytest.raises(TypeError, match="RankSVM needs X in memory here, and str stands for rows on disk"):
        RankSVM().fit("nowhere.parquet", y)
    monkeypatch.setattr(module.shutil, "disk_usage", lambda _: module.shutil._ntuple_diskusage(9, 9, 9))
    with pytest.raises(OSError, match=r"the rows take 3.42e\+05 bytes and .* has 9"):
        PNormPush().fit(files, "label")


@pytest.mark.usefixtures("small_chunks")
def test_memory_does_not_grow_with_the_rows(table, monkeypatch):
    X, y, _ = table
    # one after the other: how many threads hold a block at a time is chance
    in_order = lambda function, chunks, _: [function(*chunk) for chunk in chunks]  # noqa: E731
    monkeypatch.setattr("pushrank.solvers.stored_rows.map_chunks", in_order)

    def peak(n):
        with DiskRows(((X, y) for _ in range(n)), memory_budget=1 << 20) as rows:
            gc.collect()
            tracemalloc.start()
            PNormPush(max_iter=3, tol=10.0).fit(rows)
            most = tracemalloc.get_traced_memory()[1]
            tracemalloc.stop()
        return most

    # The first fit compiles functions, whose memory is not that of the rows.
    peak(4)
    few, many = peak(4), peak(32)
    # The sums of each small chunk cost a sixteenth of its rows, and what is allocated beside them varies by
    # some 200 kB between runs: a quarter of the rows added is far above both, and far below one copy of them.
    assert many - few < 28 * X.nbytes / 4
    assert few < 4 * X.nbytes / 2


def test_a_dataset_that_is_more_than_its_files_is_refused(files, tmp_path):
    whole = pyarrow.dataset.dataset(files)
    with pytest.raises(ValueError, match="Remove the filtering"):
        PNormPush().fit(whole.filter(pyarrow.dataset.field("x0") > 0.0), "label")
    pyarrow.dataset.write_dataset(
        whole, tmp_path / "parts", format="parquet", partitioning=["w"], partitioning_flavor="hive"
    )
    parts = pyarrow.dataset.dataset(tmp_path / "parts", partitioning="hive")
    with pytest.raises(ValueError, match=r"columns \['w'\] come from the names of folders"):
        PNormPush().fit(parts, "label")
    with DiskRows(parts.files, "label") as rows:
        assert rows.n_rows == N_ROWS


def test_files_without_rows_or_types_are_passed_over(files, tmp_path):
    empty = tmp_path / "empty.parquet"
    pd.DataFrame(columns=[*NAMES, "label", "w"]).to_parquet(empty)
    with DiskRows([empty, *files, empty], "label") as rows:
        assert (rows.n_rows, rows.n_features) == (N_ROWS, N_FEATURES + 1)


def test_a_damaged_file_is_named(files):
    whole = files[1].read_bytes()
    files[1].write_bytes(whole[:2000] + bytes(5000) + whole[7000:])
    with pytest.raises(OSError, match=r"second\.parquet cannot be read: Couldn't deser"):
        PNormPush().fit(files, "label")
    assert sorted(files[0].parent.iterdir()) == files


def test_labels_in_a_stated_order_are_not_turned_upside_down(files):
    stated = pd.Categorical(["good", "bad"] * 500, ["good", "bad"], ordered=True)
    pd.read_parquet(files[0]).assign(label=stated).to_parquet(files[0])
    with pytest.raises(ValueError, match="turned upside down"):
        PNormPush().fit(files[0], "label")


def test_names_of_columns_are_those_that_are_texts(table):
    X, y, _ = table
    ranker = PNormPush().fit([(pd.DataFrame(X), y)])
    assert not hasattr(ranker, "feature_names_in_")
    ranker.predict(pd.DataFrame(X))


def test_rows_on_disk_are_not_scored_split_or_read_when_closed(files):
    rows = DiskRows(files, "label")
    for model in (GridSearchCV(PNormPush(), {"p": [2.0]}), CascadeRanker([PNormPush(), IRPush()])):
        with pytest.raises(TypeError, match="choose parameters on a sample"):
            model.fit(rows, None)
    ranker = PNormPush().fit(rows)
    for X in (rows, files, str(files[0])):
        with pytest.raises(TypeError, match="pass them part by part, as ParquetBatches yields them"):
            ranker.predict(X)
    with pytest.raises(TypeError, match="one process: pass the Parquet files and a cache_dir to each"):
        pickle.dumps(rows)
    rows.close()
    with pytest.raises(ValueError, match="the DiskRows are closed"):
        ranker.fit(rows)


def test_a_cache_is_written_anew_where_a_file_changes_in_place(files, tmp_path):
    frame, sizes, means = pd.read_parquet(files[0]), [], []
    for sign in (1, -1):
        frame.assign(x0=sign * frame["x0"]).to_parquet(files[0], compression=None, use_dictionary=False)
        os.utime(files[0], ns=(1, 1))
        sizes.append(files[0].stat().st_size)
        with DiskRows(files[0], "label", cache_dir=tmp_path / "cache") as rows:
            means.append(np.mean([X[:, 0].mean() for X, _ in rows]))
    assert sizes[0] == sizes[1]
    assert means[0] == -means[1]


@pytest.mark.parametrize("cache_dir", [None, "cache"])
def test_a_file_that_changes_while_it_is_read_is_told(files, tmp_path, monkeypatch, cache_dir):
    read = ParquetBatches.__iter__

    def reading(batches):
        yield from read(batches)
        os.utime(files[0], ns=(1, 1))

    monkeypatch.setattr(ParquetBatches, "__iter__", reading)
    with pytest.raises(OSError, match="changed while it was read; fit again"):
        DiskRows(files, "label", cache_dir=cache_dir and tmp_path / cache_dir)
    assert not list(tmp_path.glob("**/pushrank-*"))


@pytest.mark.skipif(module.fcntl is None, reason="without locks nothing tells whether a writer lives")
def test_a_damaged_cache_and_what_a_killed_writer_left_are_replaced(files, tmp_path):
    cache = tmp_path / "cache"
    DiskRows(files, "label", cache_dir=cache).close()
    (kept,) = cache.glob("pushrank-*")
    (kept / "rows.json").write_text("")  # the power failed
    (cache / ".pushrank-1.partial").mkdir()
    with DiskRows(files, "label", cache_dir=cache) as rows:
        assert rows.n_rows == N_ROWS
    assert sorted(path.name for path in cache.iterdir()) == [".pushrank.lock", kept.name]


@pytest.mark.skipif(module.fcntl is None, reason="without locks each writes its own")
def test_processes_write_a_cache_one_after_the_other(files, tmp_path, monkeypatch):
    """The second waits for the first, and takes what it has written."""
    written, fill = [], DiskRows._fill
    monkeypatch.setattr(DiskRows, "_fill", lambda *given: (time.sleep(0.02), written.append(1), fill(*given)))
    with ThreadPoolExecutor(3) as pool:
        all_rows = list(pool.map(lambda _: DiskRows(files, "label", cache_dir=tmp_path / "cache"), range(3)))
    assert len(written) == 1
    for rows in all_rows:
        assert rows.n_rows == N_ROWS
        rows.close()


@pytest.mark.parametrize("other_is_first", [False, True])
def test_a_cache_is_written_where_nothing_is_locked_and_open_files_cannot_move(
    files, tmp_path, monkeypatch, other_is_first
):
    """As on Windows."""
    monkeypatch.setattr(module, "fcntl", None)
    monkeypatch.delattr(os, "preadv", raising=False)
    cache, fill, rename = tmp_path / "cache", DiskRows._fill, Path.rename

    def filled(rows, *given):
        fill(rows, *given)
        if other_is_first:
            with monkeypatch.context() as patch:
                patch.setattr(DiskRows, "_fill", fill)
                DiskRows(files, "label", cache_dir=cache).close()

    def renamed(folder, target):
        assert not [file.path for file in psutil.Process().open_files() if str(folder) in file.path]
        return rename(folder, target)

    monkeypatch.setattr(DiskRows, "_fill", filled)
    monkeypatch.setattr(Path, "rename", renamed)
    with DiskRows(files, "label", cache_dir=cache) as rows:
        assert PNormPush().fit(rows).converged_
    assert len(list(cache.iterdir())) == 2  # rows, and what would be locked


@pytest.mark.parametrize("cache_dir", [None, "cache"])
def test_a_full_disk_is_told_and_nothing_is_left(files, tmp_path, cache_dir):
    resource = pytest.importorskip("resource")
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (10_000, limits[1]))
    try:
        with pytest.raises(OSError, match=r"rows cannot be written in .* \(File too large\); name another"):
            DiskRows(files, "label", cache_dir=cache_dir and tmp_path / cache_dir)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
    assert not list(tmp_path.glob("**/*pushrank-*"))


def test_a_folder_that_cannot_be_written_to_is_told(files, tmp_path):
    for given in ((files, "label"), ([(GOOD, [0, 1, 0])],)):
        with pytest.raises(OSError, match=r"rows cannot be written in .*; name another cache_dir"):
            DiskRows(*given, cache_dir=files[0])
    with DiskRows([(GOOD, [0, 1, 0])], cache_dir=tmp_path / "new" / "folder") as rows:
        assert rows.n_rows == 3
