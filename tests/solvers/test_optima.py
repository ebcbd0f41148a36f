"""Every solver ends at the minimum of the sum over pairs, by an independent computation."""

import numpy as np
import pytest
from scipy.optimize import minimize

from oracle import objective as brute_force
from pushrank.objectives import PushObjective
from pushrank.prices import Identity, LogOnePlus, Power
from pushrank.solvers import SOLVERS
from samples import overlapping, problem_of


def push(p=4.0, side="push"):
    return PushObjective(price=Power(p), side=side, scale="log", bottom_weight=0.5)


OBJECTIVES = {
    "push 1": PushObjective(price=Identity(), scale="log"),
    "push 8": push(8),
    "pull 4": push(4, "pull"),
    "both 2": push(2, "both"),
    "ir": PushObjective(price=LogOnePlus(), side="pull", scale="mean"),
    "logistic": PushObjective("logistic", Power(3), scale="mean"),
    "squared hinge": PushObjective("squared_hinge", Power(2), scale="mean"),
}


@pytest.mark.parametrize("solver", SOLVERS)
@pytest.mark.parametrize("alpha", [0.0, 0.1])
@pytest.mark.parametrize("side", ["push", "pull", "both"])
def test_the_minimum_is_that_of_the_written_out_pairs(solver, alpha, side):
    X, y = overlapping(120, 3)
    w = np.random.default_rng(1).integers(0, 4, len(y)).astype(float)
    p = 2.0

    def written_out(v):
        raw = brute_force(y == 1, X @ v, w, "Exponential", "Power", p, side, 0.5)
        return np.log(raw) / p + 0.5 * alpha * v @ v

    reference = minimize(written_out, np.zeros(3), method="Nelder-Mead", tol=1e-11).x
    result = SOLVERS[solver](problem_of(X, y, push(p, side), alpha, w), np.zeros(3), 1e-6, 5000)
    assert result.converged
    np.testing.assert_allclose(result.coef, reference, atol=1e-5)
    assert result.objective_path[-1] == pytest.approx(written_out(result.coef), rel=1e-9)


@pytest.mark.parametrize("solver", SOLVERS)
@pytest.mark.parametrize("p", [1.0, 16.0, 256.0])
def test_any_start_leads_to_the_same_minimum(solver, p):
    X, y = overlapping(120, 3, seed=2)
    starts = [np.zeros(3), np.array([50.0, -50.0, 10.0]), np.full(3, -1e4)]
    # at p = 256 a gradient of 1e-7 changes the objective by less than its rounding
    ends = [SOLVERS[solver](problem_of(X, y, push(p), 0.01), start, 1e-6, 5000) for start in starts]
    for start, end in zip(starts, ends, strict=True):
        assert end.converged, (start, end.message)
        np.testing.assert_allclose(end.coef, ends[0].coef, atol=1e-4)


@pytest.mark.parametrize("solver", SOLVERS)
def test_the_start_is_not_written_to(solver):
    X, y = overlapping(120, 3)
    start = np.array([1.0, 2.0, 3.0])
    SOLVERS[solver](problem_of(X, y, push()), start, 1e-4, 50)
    assert start.tolist() == [1.0, 2.0, 3.0]


@pytest.mark.parametrize("solver", SOLVERS)
def test_a_start_at_the_minimum_takes_no_iteration(solver):
    X, y = overlapping(120, 3)
    problem = problem_of(X, y, push(), 0.01)
    end = SOLVERS[solver](problem, np.zeros(3), 1e-6, 1000)
    again = SOLVERS[solver](problem, end.coef, 1e-5, 1000)
    assert again.n_iter == 0
    assert again.converged
    assert again.message == ""


@pytest.mark.parametrize("solver", SOLVERS)
def test_the_reported_gradient_is_the_real_one(solver):
    X, y = overlapping(120, 3, seed=3)
    p, alpha = 8.0, 0.01
    result = SOLVERS[solver](problem_of(X, y, push(p), alpha), np.zeros(3), 1e-5, 2000)
    s, t = (X @ result.coef)[y == 1], (X @ result.coef)[y == 0]
    a, b = np.exp(-s - np.max(-s)), np.exp(p * (t - t.max()))
    gradient = b @ X[y == 0] / b.sum() - a @ X[y == 1] / a.sum() + alpha * result.coef
    # the unit of a column: the spread within the classes, each weighted as the objective curves at zero
    scales = np.sqrt((X[y == 1].var(axis=0) + p * X[y == 0].var(axis=0)) / (1 + p))
    size = np.max(np.abs(gradient) / scales)
    assert size <= 1.0000001e-5
    assert result.gradient_size == pytest.approx(size, abs=1e-9)


def test_identity_is_the_power_of_one():
    X, y = overlapping(120, 3, seed=8)
    results = [
        SOLVERS["lbfgs"](
            problem_of(X, y, PushObjective(price=price, scale="log"), 0.01), np.zeros(3), 1e-8, 500
        )
        for price in (Identity(), Power(1))
    ]
    np.testing.assert_array_equal(results[0].coef, results[1].coef)


@pytest.mark.parametrize("solver", SOLVERS)
def test_columns_that_differ_between_the_classes_only_still_count_in_any_unit(solver):
    """A column constant within each class has no spread there, but it ranks."""
    y = np.array([False, False, True, True])
    for unit in (1.0, 1e-3, 1e-6):
        X = unit * y[:, None]
        result = SOLVERS[solver](problem_of(X, y, push()), np.zeros(1), 1e-4, 5)
        assert result.coef[0] > 0


@pytest.mark.parametrize("alpha", [0.0, 0.01])
@pytest.mark.parametrize("name", OBJECTIVES)
def test_solvers_agree_with_a_minimum_of_the_sum_over_pairs(name, alpha):
    X, y = overlapping(150)
    objective = OBJECTIVES[name]
    problem = problem_of(X, y, objective, alpha)
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


@pytest.mark.parametrize("solver", SOLVERS)
def test_descent_does_not_raise_the_objective(solver):
    X, y = overlapping(150, seed=3)
    result = SOLVERS[solver](problem_of(X, y, OBJECTIVES["push 8"], 0.01), np.zeros(4), 1e-6, 200)
    assert (np.diff(result.objective_path) <= 1e-12).all()


@pytest.mark.parametrize("solver", SOLVERS)
@pytest.mark.parametrize("max_iter", [1, 2, 33])
def test_the_limit_of_iterations_is_kept(solver, max_iter):
    rng = np.random.default_rng(4)
    X, y = rng.normal(size=(60, 40)), np.arange(60) < 20
    problem = problem_of(X, y, PushObjective(price=Power(64), scale="log"), 1e-6)
    result = SOLVERS[solver](problem, np.zeros(40), 1e-9, max_iter)
    assert result.n_iter == max_iter
    assert not result.converged
    assert f"max_iter={max_iter}" in result.message
