"""Newton's method: the minimum of L-BFGS, in few steps, or a word on where it stopped."""

import numpy as np
import pytest

from pushrank.models import LinearModel
from pushrank.objectives import PushObjective
from pushrank.pairs import BipartiteSample
from pushrank.prices import Power
from pushrank.rows import MemoryRows
from pushrank.solvers import lbfgs, linear_problem
from pushrank.solvers.newton import newton
from samples import noisy_cancer


@pytest.fixture(scope="module")
def data():
    return noisy_cancer()


@pytest.mark.parametrize("objective", [(1.0, "push"), (16.0, "push"), (4.0, "pull")])
def test_newton_meets_lbfgs_and_squares_the_error(data, objective):
    X, y = data
    p, side = objective
    problem = linear_problem(
        PushObjective(price=Power(p), side=side, scale="log"),
        MemoryRows(LinearModel(X), BipartiteSample.from_mask(y == 1)),
        0.05,
    )
    rng = np.random.default_rng(2)
    coef, direction = rng.normal(size=(2, 10)) * 0.3
    hessian = problem.moments(coef, whole=True).covariance
    product = hessian @ direction + 0.05 * direction
    np.testing.assert_allclose(product, problem.hessian_product(coef, direction), rtol=1e-8, atol=1e-10)
    result = newton(problem.point(np.zeros(10)), np.ones(10), 1e-9, 50)
    assert result.converged
    np.testing.assert_allclose(result.coef, lbfgs(problem, np.zeros(10), 1e-6, 1000).coef, atol=1e-6)
    assert newton(problem.point(result.coef + 1e-4), np.ones(10), 1e-9, 50).n_iter <= 5


def test_newton_says_where_it_stopped(data):
    X, y = data
    problem = linear_problem(
        PushObjective(price=Power(4.0), scale="log"),
        MemoryRows(LinearModel(X), BipartiteSample.from_mask(y == 1)),
        0.01,
    )
    stopped = newton(problem.point(np.zeros(10)), np.ones(10), 1e-12, 2)
    assert (stopped.converged, stopped.n_iter, stopped.message) == (False, 2, "steps ran out.")
