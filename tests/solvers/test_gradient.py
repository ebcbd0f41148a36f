"""L-BFGS: what it tells of its iterations, and where it stops."""

import numpy as np
import pytest

from pushrank.models import LinearModel
from pushrank.objectives import PushObjective
from pushrank.pairs import BipartiteSample
from pushrank.prices import Identity, LogOnePlus, Power
from pushrank.rows import MemoryRows
from pushrank.solvers import lbfgs, linear_problem

pytestmark = pytest.mark.fast


def overlapping(n=150, d=4, seed=0, binary=False):
    rng = np.random.default_rng(seed)
    y = rng.random(n) < 0.3
    X = rng.normal(size=(n, d)) + 0.8 * y[:, None]
    return ((X > 0.3).astype(float) if binary else X), y


def make_problem(X, y, objective, alpha=0.0, w=None):
    return linear_problem(objective, MemoryRows(LinearModel(X), BipartiteSample.from_labels(y, w)), alpha)


OBJECTIVES = {
    "push 1": PushObjective(price=Identity(), scale="log"),
    "push 8": PushObjective(price=Power(8), scale="log"),
    "pull 4": PushObjective(price=Power(4), side="pull", scale="log"),
    "both 2": PushObjective(price=Power(2), side="both", scale="log", bottom_weight=0.3),
    "ir": PushObjective(price=LogOnePlus(), side="pull", scale="mean"),
    "logistic": PushObjective("logistic", Power(3), scale="mean"),
    "squared hinge": PushObjective("squared_hinge", Power(2), scale="mean"),
}


def test_lbfgs_watcher_sees_every_iteration():
    X, y = overlapping()
    seen = []
    problem = make_problem(X, y, OBJECTIVES["push 8"], 0.01)
    result = lbfgs(problem, np.zeros(4), 1e-6, 100, lambda i, **shown: seen.append((i, shown["objective"])))
    assert [i for i, _ in seen] == list(range(1, result.n_iter + 1))
    assert [value for _, value in seen] == result.objective_path[1:].tolist()


@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize("p", [1.0, 16.0, 64.0])
def test_no_descent_is_looked_for_below_rounding(p, order, monkeypatch):
    """Beyond the tolerance L-BFGS goes on while the objective shows descent, and no line search fails."""
    X, y = overlapping(n=4000, d=10)
    problem = make_problem(np.asarray(X, order=order), y, PushObjective(price=Power(p), scale="log"), 1e-4)
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
