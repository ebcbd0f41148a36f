"""Solvers find the optimum, agree with each other, and stop for a stated reason."""

import numpy as np
import pytest
from scipy.optimize import minimize

from oracle import objective as brute_force
from pushrank.models import LinearModel
from pushrank.objectives import PushObjective
from pushrank.pairs import BipartiteSample
from pushrank.prices import Identity, LogOnePlus, Power
from pushrank.rows import MemoryRows
from pushrank.solvers import SOLVERS, linear_problem

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


@pytest.mark.parametrize("alpha", [0.0, 0.01])
@pytest.mark.parametrize("name", OBJECTIVES)
def test_solvers_agree_with_a_minimum_of_the_sum_over_pairs(name, alpha):
    X, y = overlapping()
    objective = OBJECTIVES[name]
    problem = make_problem(X, y, objective, alpha)
    results = {
        key: solve(problem, np.zeros(4), 1e-7, 3000)
        for key, solve in SOLVERS.items()
        if key != "newton-cg" or objective.twice_differentiable
    }
    reference = minimize(
        lambda v: objective.value(y, X @ v) + 0.5 * alpha * v @ v, np.zeros(4), method="BFGS", tol=1e-9
    )
    for key, result in results.items():
        assert result.converged, (key, result.message)
        assert result.objective_path[-1] <= reference.fun + 1e-9, key
        np.testing.assert_allclose(result.coef, reference.x, atol=2e-3, err_msg=key)
        np.testing.assert_allclose(result.coef, results["lbfgs"].coef, atol=1e-4, err_msg=key)


def test_the_value_minimised_is_that_of_the_oracle():
    X, y = overlapping()
    problem = make_problem(X, y, OBJECTIVES["push 8"])
    coef = np.array([0.1, -0.2, 0.3, 0.0])
    ones = np.ones(len(y))
    raw = brute_force(y, X @ coef, ones, "Exponential", "Power", 8.0, "push", 1.0)
    assert problem.value_and_gradient(coef)[0] == pytest.approx(np.log(raw) / 8)


@pytest.mark.parametrize("solver", SOLVERS)
def test_descent_does_not_raise_the_objective(solver):
    X, y = overlapping(seed=3)
    result = SOLVERS[solver](make_problem(X, y, OBJECTIVES["push 8"], 0.01), np.zeros(4), 1e-6, 200)
    assert (np.diff(result.objective_path) <= 1e-12).all()


@pytest.mark.parametrize("solver", SOLVERS)
@pytest.mark.parametrize("max_iter", [1, 2, 33])
def test_the_limit_of_iterations_is_kept(solver, max_iter):
    rng = np.random.default_rng(4)
    X, y = rng.normal(size=(60, 40)), np.arange(60) < 20
    problem = make_problem(X, y, PushObjective(price=Power(64), scale="log"), 1e-6)
    result = SOLVERS[solver](problem, np.zeros(40), 1e-9, max_iter)
    assert result.n_iter == max_iter
    assert not result.converged
    assert f"max_iter={max_iter}" in result.message
