"""Fits to rows on disk: those of the same rows in memory, and what is refused before work starts."""

import gc
import itertools
import pickle
import tracemalloc
from decimal import Decimal

import numpy as np
import pandas as pd
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
    monkeypatch.setattr("pushrank.rows.disk.READ_BYTES", 20_000)
    monkeypatch.setattr("pushrank.rows.disk.SCORED_ROWS", 7000)


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
def test_rows_on_disk_give_the_fit_of_rows_in_memory(ranker, bits, dtype, weighted, table, tmp_path):
    X, y, weights = table
    X = X.astype(dtype)
    weights = weights if weighted else None
    expected = type(ranker)(**ranker.get_params()).fit(X, y, weights)
    ranker.fit(DiskRows.write(tmp_path / "rows", blocks_of(X, y, *([weights] if weighted else []))))
    same_fits(ranker, expected, bits)


@pytest.mark.usefixtures("small_chunks")
@pytest.mark.parametrize("weighted", [False, True])
def test_the_same_positives_are_trimmed_on_disk(weighted, table, tmp_path):
    X, y, weights = table
    parts = (X, y, *([weights] if weighted else []))
    expected = TrimmedPush(k=0.5, p=4, alpha=0.1).path(X, y, [1.0, 0.5, 20], *parts[2:])
    rows = DiskRows.write(tmp_path / "rows", blocks_of(*parts))
    rankers = TrimmedPush(p=4, alpha=0.1).path(rows, None, [1.0, 0.5, 20])
    for ranker, in_memory in zip(rankers, expected, strict=True):
        largest = float(abs(in_memory.coef_).max())
        np.testing.assert_allclose(ranker.coef_, in_memory.coef_, rtol=1e-10, atol=1e-10 * largest)
        np.testing.assert_array_equal(ranker.trimmed_, in_memory.trimmed_)
        assert ranker.threshold_ == pytest.approx(in_memory.threshold_, rel=1e-9)
        assert (ranker.n_iter_, ranker.converged_) == (in_memory.n_iter_, True)
        assert ranker.n_features_in_ == N_FEATURES


def test_positives_that_can_be_separated_are_trimmed_on_disk_as_in_memory(tmp_path):
    """The way to a far minimum leads along falling penalties."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(400, 4)) * np.arange(1, 5)
    y = X @ np.linspace(1.0, -1.0, 4) + rng.normal(size=400) > 0.5
    expected = TrimmedPush(k=30).fit(X, y)
    ranker = TrimmedPush(k=30).fit(DiskRows.write(tmp_path / "rows", X, y))
    np.testing.assert_allclose(ranker.coef_, expected.coef_, rtol=1e-10)
    np.testing.assert_allclose(ranker.objective_path_[-1], expected.objective_path_[-1], rtol=1e-12)


def test_files_give_the_fit_of_their_rows(files, table, tmp_path):
    X, y, weights = table
    expected = PNormPush().fit(X, y, weights)
    ways = [
        (files, "label", "w"),
        ([str(path) for path in files], "label", "w"),
        (pyarrow.dataset.dataset(files).files, "label", "w"),
        (ParquetBatches(files, "label", weight="w"),),
        (pd.DataFrame(X, columns=NAMES), y, weights),
    ]
    for number, (given, *labels) in enumerate(ways):
        rows = DiskRows.write(tmp_path / f"rows{number}", given, *labels)
        ranker = PNormPush().fit(rows)
        same_fits(ranker, expected, True)
        assert ranker.feature_names_in_.tolist() == NAMES
    streamed = PerceptronAtK(max_iter=1, shuffle=False).fit_stream(rows)
    in_memory = PerceptronAtK(max_iter=1, shuffle=False).fit(X, y, weights)
    np.testing.assert_array_equal(streamed.coef_, in_memory.coef_)
    assert not list(tmp_path.glob(".*"))


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


def test_objectives_and_solvers_that_need_all_rows_at_once_are_refused(table, tmp_path):
    X, y, _ = table
    rows = DiskRows.write(tmp_path / "rows", X, y)
    for ranker, message in (
        (PNormPush(solver="coordinate"), "solver must be 'lbfgs'"),
        (IRPush(discount="rank"), "discount must be 'reverse_height'"),
        (PushRanker("logistic"), "needs the scores of all rows at once"),
    ):
        with pytest.raises(ValueError, match=message):
            ranker.fit(rows)
    for beside in ({"y": y}, {"sample_weight": y}, {"qid": y}, {"pairs": ([0], [1])}):
        with pytest.raises(ValueError, match=rf"{next(iter(beside))} must be None beside them"):
            PNormPush().fit(rows, **beside)


def test_a_fit_or_a_score_of_rows_that_are_not_in_memory_says_how(files, table, tmp_path):
    X, y, _ = table
    rows = DiskRows.write(tmp_path / "rows", X, y)
    elsewhere = (str(files[0]), files[0], files, pyarrow.dataset.dataset(files), blocks_of(X, y))
    for given in elsewhere:
        with pytest.raises(TypeError, match=r"PNormPush needs X in memory here, .*DiskRows\.write\(folder"):
            PNormPush().fit(given, y)
    ranker = PNormPush().fit(rows)
    for given in (*elsewhere, rows):
        with pytest.raises(TypeError, match="PNormPush needs X in memory here"):
            ranker.predict(given)
    with pytest.raises(TypeError, match="RankSVM needs X in memory here, and X is DiskRows"):
        RankSVM().fit(rows, y)
    for model in (GridSearchCV(PNormPush(), {"p": [2.0]}), CascadeRanker([PNormPush(), IRPush()])):
        with pytest.raises(TypeError, match=r"choose parameters on a sample|needs X in memory here"):
            model.fit(rows, None)


@pytest.mark.usefixtures("small_chunks")
def test_memory_does_not_grow_with_the_rows(table, monkeypatch, tmp_path):
    X, y, _ = table
    # one after the other: how many threads hold a block at a time is chance
    in_order = lambda function, chunks, _: [function(*chunk) for chunk in chunks]  # noqa: E731
    monkeypatch.setattr("pushrank.rows.disk.map_chunks", in_order)

    def peak(n):
        rows = DiskRows.write(tmp_path / f"rows{next(numbers)}", ((X, y) for _ in range(n)))
        gc.collect()
        tracemalloc.start()
        PNormPush(max_iter=3, tol=10.0).fit(rows)
        most = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        return most

    numbers = itertools.count()
    # The first fit compiles functions, whose memory is not that of the rows.
    peak(4)
    few, many = peak(4), peak(32)
    # The sums of each small chunk cost a sixteenth of its rows, and what is allocated beside them varies by
    # some 200 kB between runs: a quarter of the rows added is far above both, and far below one copy of them.
    assert many - few < 28 * X.nbytes / 4
    assert few < 4 * X.nbytes / 2


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
