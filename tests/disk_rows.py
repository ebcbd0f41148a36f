"""Rows that are written to disk, in arrays, blocks and files, and fits that must be the same."""

import numpy as np
import pandas as pd
import pytest

N_ROWS, N_FEATURES = 6000, 5
NAMES = [f"x{j}" for j in range(N_FEATURES)]


def disk_table():
    """Return features, labels and whole weights of zero to two."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(N_ROWS, N_FEATURES)) + 10.0 * np.arange(N_FEATURES)
    y = X[:, 0] + rng.normal(size=N_ROWS) > 1.5
    return X, y.astype(int), rng.integers(0, 3, N_ROWS).astype(float)


def written_files(folder):
    """Return two Parquet files that hold the table, with its labels and weights."""
    X, y, weights = disk_table()
    frame = pd.DataFrame(X, columns=NAMES).assign(label=y, w=weights)
    paths = [folder / "first.parquet", folder / "second.parquet"]
    frame[:1000].to_parquet(paths[0])
    frame[1000:].to_parquet(paths[1], row_group_size=700)
    return paths


def blocks_of(*arrays, size=999):
    for start in range(0, len(arrays[0]), size):
        yield tuple(array[start : start + size] for array in arrays)


def same_fits(ranker, expected, bits):
    largest = float(abs(expected.coef_).max())
    rounding = {"rtol": 0.0, "atol": 0.0} if bits else {"rtol": 1e-10, "atol": 1e-10 * largest}
    np.testing.assert_allclose(ranker.coef_, expected.coef_, **rounding)
    assert ranker.coef_.dtype == expected.coef_.dtype
    assert ranker.threshold_ == pytest.approx(expected.threshold_, rel=1e-9)
    assert ranker.dual_gap_ == pytest.approx(expected.dual_gap_, abs=1e-9)
    assert ranker.converged_ == expected.converged_
    assert (ranker.n_iter_, ranker.n_features_in_) == (expected.n_iter_, N_FEATURES)
    np.testing.assert_array_equal(ranker.classes_, expected.classes_)
