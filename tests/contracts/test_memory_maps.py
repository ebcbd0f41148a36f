"""Fits to memory maps: those of the same rows in memory, without a copy of them, and what is refused."""

import warnings

import numpy as np
import pandas as pd
import pyarrow.dataset
import pytest
import scipy.sparse as sp
from sklearn.base import clone

from combinations import each_and_some
from growth import held
from pushrank import IRPush, PNormPush, PushRanker, RankSVM, TrimmedPush
from pushrank.prices import Power

N_ROWS, N_FEATURES = 6000, 5


def table(n_rows=N_ROWS, n_features=N_FEATURES):
    """Return features, labels and whole weights of zero to two."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n_rows, n_features)) + 10.0 * np.arange(n_features)
    y = X[:, 0] + rng.normal(size=n_rows) > 1.5
    return X, y.astype(int), rng.integers(0, 3, n_rows).astype(float)


def mapped(path, X):
    """Return rows as a map of a file that they are written to."""
    file = np.lib.format.open_memmap(path, "w+", X.dtype, X.shape, fortran_order=X.flags.f_contiguous)
    file[:] = X
    file.flush()
    return np.load(path, mmap_mode="r")


@pytest.fixture
def small_chunks(monkeypatch):
    """Cut few rows into several chunks, and these into several blocks."""
    monkeypatch.setattr("pushrank._base.parallel.CHUNK_ELEMENTS", 5000)
    monkeypatch.setattr("pushrank.models.linear.BLOCK_ELEMENTS", 1000)


@pytest.mark.parametrize(
    ("dtype", "order", "weighted"),
    each_and_some(["float32", "float64"], ["C", "F"], [False, True], n_random=0),
)
@pytest.mark.parametrize(
    "ranker",
    [
        PNormPush(p=16),
        PNormPush(side="both", bottom_weight=0.5),
        PNormPush(positive=True),
        IRPush(),
        PushRanker("logistic", Power(4)),
        PushRanker(price="exponential_price", alpha=0.5),
        TrimmedPush(k=0.5, p=4, alpha=0.1),
    ],
    ids=repr,
)
@pytest.mark.usefixtures("small_chunks")
def test_a_fit_to_a_map_is_that_in_memory(ranker, dtype, order, weighted, tmp_path):
    X, y, weights = table()
    X, weights = X.astype(dtype, order=order), weights if weighted else None
    there = clone(ranker).fit(mapped(tmp_path / "X.npy", X), y, weights)
    here = clone(ranker).fit(X, y, weights)
    np.testing.assert_array_equal(there.coef_, here.coef_)
    assert there.coef_.dtype == dtype
    assert there.threshold_ == here.threshold_
    scores = there.decision_function(np.load(tmp_path / "X.npy", mmap_mode="r"))
    np.testing.assert_array_equal(scores, here.decision_function(X))


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize(
    "ranker",
    [
        PNormPush(max_iter=3),
        IRPush(max_iter=3),
        PushRanker("logistic", Power(4), max_iter=3),
        TrimmedPush(max_iter=2),
    ],
    ids=repr,
)
def test_what_a_fit_holds_does_not_grow_with_the_columns(ranker, dtype, tmp_path):
    n_rows, peaks, sizes = 60_000, [], []
    for n_features in (5, 40):
        X, y, _ = table(n_rows, n_features)
        X = mapped(tmp_path / f"{n_features}.npy", X.astype(dtype))
        with warnings.catch_warnings():
            # So few iterations reach no optimum, which rankers say.
            warnings.simplefilter("ignore")
            # What is compiled on the way is no memory of the fit.
            clone(ranker).fit(X[:4000], y[:4000])
            peaks.append(held(lambda: clone(ranker).fit(X, y)))  # noqa: B023
        sizes.append(X.nbytes)
    # A part of the rows is solved first, in memory, in 7 % of them.
    assert peaks[1] - peaks[0] < (sizes[1] - sizes[0]) / 4


@pytest.mark.parametrize("dtype", ["float16", "int8", "uint8", "int32", ">f4"])
def test_a_large_map_of_another_type_is_refused_and_a_small_one_converted(dtype, monkeypatch, tmp_path):
    X, y, _ = table(400)
    whole = np.round(X)
    X = mapped(tmp_path / "X.npy", (whole + 100.0 * (dtype == "uint8")).astype(dtype))
    ranker = PNormPush().fit(X, y)
    np.testing.assert_array_equal(ranker.coef_, PNormPush().fit(X.astype(np.float64), y).coef_)
    monkeypatch.setattr("pushrank._base.validation.MAX_CONVERTED", X.size - 1)
    found = (
        f"X is a memory map of {dtype}.* write its rows as float32 to a file of numpy.lib.format.open_memmap"
    )
    for call in (lambda: PNormPush().fit(X, y), lambda: RankSVM().fit(X, y), lambda: ranker.predict(X)):
        with pytest.raises(ValueError, match=found):
            call()
    # An array of this size is the user's to convert, and blocks are small enough.
    PNormPush().fit(np.array(X), y)
    assert len(ranker.decision_function(X[:300])) == 300
    assert len(PNormPush().fit(mapped(tmp_path / "float.npy", whole), y).coef_) == N_FEATURES


def test_a_fit_or_a_score_of_rows_that_are_no_array_says_how(tmp_path):
    X, y, _ = table(100)
    file = tmp_path / "rows.parquet"
    pd.DataFrame(X, columns=list("abcde")).to_parquet(file)
    ranker = PNormPush().fit(X, y)
    for given in (str(file), file, [file], pyarrow.dataset.dataset(file), iter([(X, y)])):
        for call in (lambda: PNormPush().fit(given, y), lambda: ranker.predict(given)):  # noqa: B023
            with pytest.raises(
                TypeError, match=r"PNormPush needs X as an array .*mmap_mode='r'.* fit_stream"
            ):
                call()


@pytest.mark.parametrize("ranker", [PNormPush(p=8, tol=1e-6), IRPush(tol=1e-6, positive=True)], ids=repr)
@pytest.mark.usefixtures("small_chunks")
def test_a_fit_that_starts_from_some_of_many_rows_ends_where_one_from_zero_does(
    ranker, monkeypatch, tmp_path
):
    rng = np.random.default_rng(0)
    X, weights = rng.normal(size=(12_000, 4)) * [1.0, 2.0, 0.5, 1.0], rng.integers(0, 3, 12_000) + 0.0
    y = (X @ [1.0, 0.5, 0.0, -1.0] + rng.logistic(size=len(X)) > 3.0).astype(int)
    ends = [ranker.fit(X, y, w).objective_path_[[0, -1]] for w in (None, weights)]
    there = mapped(tmp_path / "X.npy", X)
    monkeypatch.setattr("pushrank.solvers.tolerances.MANY_ROWS", 10_000)
    coefs = []
    for data, (at_zero, end) in zip(
        ((X, y), (sp.csr_array(X), y), (X, y, weights), (there, y, weights)),
        np.repeat(ends, 2, axis=0),
        strict=True,
    ):
        coefs.append(ranker.fit(*data).coef_)
        assert ranker.converged_
        assert ranker.objective_path_[-1] == pytest.approx(end, abs=1e-6 * max(abs(end), 1.0))
        assert 0.0 <= ranker.objective_path_[0] - ranker.objective_path_[-1] < 0.5 * (at_zero - end)
    np.testing.assert_array_equal(coefs[3], coefs[2])
