"""Fits to rows on disk: those of the same rows in memory, and what is refused before work starts."""

import gc
import os
import tracemalloc

import numpy as np
import pandas as pd
import pyarrow.dataset
import pytest

from pushrank import IRPush, PerceptronAtK, PNormPush, PushRanker, RankSVM, TrimmedPush
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
        with pytest.raises(ValueError, match="exactly 2 classes, found 0"):
            DiskRows(files, "label", cache_dir=cache, **other)
    os.utime(files[0], ns=(1, 1))  # it may have changed
    with pytest.raises(ValueError, match="found 0 classes"):
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
    (kept,) = cache.iterdir()
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
        ([([["a", "b"]], [0])], ValueError, "block 0: X must hold numbers"),
        ([GOOD], TypeError, "block 0 must be"),
        ([], ValueError, "found 0 classes"),
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

    assert peak(16) < 1.5 * peak(8) < 16 * X.nbytes / 2
