"""Fits to rows on disk: those of the same rows in memory, and what is refused before work starts."""

import gc
import itertools

import numpy as np
import pandas as pd
import pyarrow.dataset
import pytest
import scipy.sparse as sp
from sklearn.model_selection import GridSearchCV

from combinations import by_day, each_and_some
from disk_rows import N_FEATURES, NAMES, blocks_of, disk_table, same_fits, written_files
from growth import held
from pushrank import IRPush, PerceptronAtK, PNormPush, PushRanker, RankSVM, TrimmedPush
from pushrank.datasets import DiskRows, ParquetBatches


@pytest.fixture(scope="module")
def table():
    return disk_table()


@pytest.fixture
def files(tmp_path):
    return written_files(tmp_path)


@pytest.fixture
def small_chunks(monkeypatch):
    """Cut few rows into several chunks, and these into several blocks and reads."""
    monkeypatch.setattr("pushrank._parallel.CHUNK_ELEMENTS", 5000)
    monkeypatch.setattr("pushrank.models.linear.BLOCK_ELEMENTS", 1000)
    monkeypatch.setattr("pushrank.rows.disk.READ_BYTES", 20_000)
    monkeypatch.setattr("pushrank.rows.disk.SCORED_ROWS", 7000)


@pytest.mark.parametrize(
    ("dtype", "weighted"), each_and_some(["float32", "float64"], [False, True], n_random=0)
)
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
@pytest.mark.parametrize("weighted", by_day([True, False], 1))
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
    with pytest.raises(TypeError, match="choose parameters on a sample"):
        GridSearchCV(PNormPush(), {"p": [2.0]}).fit(rows, None)


@pytest.mark.usefixtures("small_chunks")
def test_memory_does_not_grow_with_the_rows(table, monkeypatch, tmp_path):
    X, y, _ = table
    # one after the other: how many threads hold a block at a time is chance
    in_order = lambda function, chunks, _: [function(*chunk) for chunk in chunks]  # noqa: E731
    monkeypatch.setattr("pushrank.rows.disk.map_chunks", in_order)

    def peak(n):
        rows = DiskRows.write(tmp_path / f"rows{next(numbers)}", ((X, y) for _ in range(n)))
        gc.collect()
        return held(lambda: PNormPush(max_iter=3, tol=10.0).fit(rows))

    numbers = itertools.count()
    # The first fit compiles functions, whose memory is not that of the rows.
    PNormPush(max_iter=3, tol=10.0).fit(DiskRows.write(tmp_path / "compiled", X, y))
    few, many = peak(4), peak(32)
    # The sums of each small chunk cost a sixteenth of its rows, and what is allocated beside them varies by
    # some 200 kB between runs: a quarter of the rows added is far above both, and far below one copy of them.
    assert many - few < 28 * X.nbytes / 4
    assert few < 4 * X.nbytes / 2


@pytest.mark.parametrize(
    ("ranker", "bits"), [(PNormPush(p=8, tol=1e-6), True), (IRPush(tol=1e-6, positive=True), False)]
)
@pytest.mark.usefixtures("small_chunks")
def test_a_fit_that_starts_from_some_of_many_rows_ends_where_one_from_zero_does(
    ranker, bits, monkeypatch, tmp_path
):
    rng = np.random.default_rng(0)
    X, weights = rng.normal(size=(12_000, 4)) * [1.0, 2.0, 0.5, 1.0], rng.integers(0, 3, 12_000) + 0.0
    y = (X @ [1.0, 0.5, 0.0, -1.0] + rng.logistic(size=len(X)) > 3.0).astype(int)
    ends = [ranker.fit(X, y, w).objective_path_[[0, -1]] for w in (None, weights)]
    rows = DiskRows.write(tmp_path / "rows", blocks_of(X, y, weights))
    monkeypatch.setattr("pushrank.solvers.tolerances.MANY_ROWS", 10_000)
    coefs = []
    for data, (at_zero, end) in zip(
        ((X, y), (sp.csr_array(X), y), (X, y, weights), (rows,)), np.repeat(ends, 2, axis=0), strict=True
    ):
        coefs.append(ranker.fit(*data).coef_)
        assert ranker.converged_
        assert ranker.objective_path_[-1] == pytest.approx(end, abs=1e-6 * max(abs(end), 1.0))
        assert 0.0 <= ranker.objective_path_[0] - ranker.objective_path_[-1] < 0.5 * (at_zero - end)
    np.testing.assert_allclose(coefs[3], coefs[2], rtol=0.0 if bits else 1e-6, atol=0.0)
