"""L-BFGS: what it tells of its iterations, and where it stops."""

import numpy as np
import pytest

from pushrank.objectives import PushObjective
from pushrank.prices import Power
from pushrank.solvers import lbfgs
from samples import overlapping, problem_of

pytestmark = pytest.mark.fast


def test_lbfgs_watcher_sees_every_iteration():
    X, y = overlapping(150)
    seen = []
    problem = problem_of(X, y, PushObjective(price=Power(8), scale="log"), 0.01)
    result = lbfgs(problem, np.zeros(4), 1e-6, 100, lambda i, **shown: seen.append((i, shown["objective"])))
    assert [i for i, _ in seen] == list(range(1, result.n_iter + 1))
    assert [value for _, value in seen] == result.objective_path[1:].tolist()


@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize("p", [1.0, 16.0, 64.0])
def test_no_descent_is_looked_for_below_rounding(p, order, monkeypatch):
    """Beyond the tolerance L-BFGS goes on while the objective shows descent, and no line search fails."""
    X, y = overlapping(4000, 10)
    problem = problem_of(np.asarray(X, order=order), y, PushObjective(price=Power(p), scale="log"), 1e-4)
    n_evaluations, original = 0, problem.value_and_gradient

    def counted(coef):
        nonlocal n_evaluations
        n_evaluations += 1
        return original(coef)

    monkeypatch.setattr(problem, "value_and_gradient", counted)
    result = lbfgs(problem, np.zeros(10), tol=1e-4, max_iter=1000)
    assert result.converged
    assert result.gradient_size < 1e-6
    assert n_evaluations <= 1.5 * result.n_iter + 6
