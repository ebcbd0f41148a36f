"""What linear rankers hold beside rows of single precision: numbers a row, and no second matrix in double."""

import warnings

import numpy as np
import pytest
import scipy.sparse as sp

import pushrank
from growth import held

N_ROWS = 40_000
EXACT = ["IRPush", "InfinitePush", "PNormPush", "PushRanker", "RankSVM", "SVMMAP", "StructSVM"]
SEEDED = {name: {"random_state": 0} for name in ("PerceptronAtK", "RampAtK", "SGDAtK")}
PARAMETERS = {name: {} for name in [*EXACT, "TrimmedPush"]} | SEEDED
PARAMETERS["RampAtK"] |= {"n_random_starts": 1}
MOST = {"dense": 1.2, "csr": 1.0}
"""The bound, in parts of the data: some 20 doubles a row, or a part of the rows as they are. A copy of all in
double would add 2 to a dense matrix, and 1 to a sparse one, whose indices it would share."""


@pytest.fixture(scope="module")
def rows():
    rng = np.random.default_rng(0)
    dense = rng.normal(size=(N_ROWS, 50)).astype(np.float32)
    scores = dense[:, :5].sum(axis=1) + 2.0 * rng.normal(size=N_ROWS)
    sparse = sp.random_array((N_ROWS, 100), density=0.5, format="csr", dtype=np.float32, rng=rng)
    sparse.data[:] = rng.normal(size=sparse.nnz)
    return {"dense": dense, "csr": sparse}, scores > np.quantile(scores, 0.9)


def size(X):
    return X.nbytes if isinstance(X, np.ndarray) else X.data.nbytes + X.indices.nbytes + X.indptr.nbytes


@pytest.mark.parametrize("layout", MOST)
@pytest.mark.parametrize("name", PARAMETERS)
def test_a_linear_fit_to_single_precision_makes_no_copy_in_double(rows, name, layout):
    X, y = rows[0][layout], rows[1]
    ranker = getattr(pushrank, name)(max_iter=2, **PARAMETERS[name])
    with warnings.catch_warnings():
        # So few iterations reach no optimum, which rankers say.
        warnings.simplefilter("ignore")
        # What is compiled or imported on the way is no memory of the fit.
        ranker.fit(X[:4000], y[:4000])
        assert held(lambda: ranker.fit(X, y)) < MOST[layout] * size(X)
    assert ranker.coef_.dtype == np.float32


@pytest.mark.parametrize("layout", MOST)
def test_a_copy_in_double_would_exceed_the_bound(rows, layout):
    X = rows[0][layout]
    assert held(lambda: (X.astype(np.float64), np.ones(N_ROWS))) > MOST[layout] * size(X)
