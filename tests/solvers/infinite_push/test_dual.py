"""The dual of the Infinite Push: the projection on what is feasible."""

import clarabel
import numpy as np
import pytest

from combinations import by_day
from pushrank.solvers.infinite_push.dual import project_to_feasible
from quadratic_programs import minimise


@pytest.mark.parametrize("seed", by_day(range(20), 5))
def test_the_projection_is_the_nearest_point(seed):
    rng = np.random.default_rng(seed)
    a, b = rng.normal(size=5) * 3, rng.normal(size=4) * 3
    upper = rng.random(5) + 0.1 if seed % 2 else np.full(5, np.inf)
    alpha, beta = project_to_feasible(a, b, upper)
    assert alpha.sum() == pytest.approx(beta.sum(), abs=1e-9)
    rows = np.vstack([np.r_[np.ones(5), -np.ones(4)], -np.eye(9), np.eye(5, 9)])[: 15 if seed % 2 else 10]
    limits = np.r_[np.zeros(10), upper][: len(rows)]
    cones = [clarabel.ZeroConeT(1), clarabel.NonnegativeConeT(len(rows) - 1)]
    _, x = minimise(np.eye(9), -np.r_[a, b], rows, limits, cones)
    np.testing.assert_allclose(alpha, x[:5], atol=1e-5)
    np.testing.assert_allclose(beta, x[5:], atol=1e-5)
