"""Solvers find the optimum, agree with each other, and stop for a stated reason."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.optimize import minimize

from oracle import objective as brute_force
from pushrank.models import LinearModel
from pushrank.objectives import PushObjective
from pushrank.pairs import BipartiteSample
from pushrank.prices import Identity, LogOnePlus, Power
from pushrank.solvers import SOLVERS, LinearProblem, coordinate_descent, lbfgs
from pushrank.solvers.boosting.objective import score_objective
from pushrank.solvers.boosting.steps import Direction
from pushrank.solvers.boosting.steps import best_step as best_step_along
from pushrank.solvers.line_search import exact_step
from pushrank.solvers.problem import two_sum_value_and_gradient
from pushrank.weak_rankers import Columns


def best_step(problem, scores, column):
    """The step along one column of a linear problem, in units of its coefficient."""
    columns = Columns().fit(column[:, None])
    unit = 1.0 / columns.ranges_[0]
    on_rows = score_objective(problem.objective, problem.sample)
    along = Direction(columns.training_outputs(column[:, None]).values(0), ridge=problem.alpha * unit**2)
    return best_step_along(on_rows, on_rows.evaluate(scores), scores, along) * unit


def overlapping(n=150, d=4, seed=0, binary=False):
    rng = np.random.default_rng(seed)
    y = rng.random(n) < 0.3
    X = rng.normal(size=(n, d)) + 0.8 * y[:, None]
    return ((X > 0.3).astype(float) if binary else X), y


def make_problem(X, y, objective, alpha=0.0, w=None):
    return LinearProblem(objective, LinearModel(X), BipartiteSample.from_labels(y, w), alpha)


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


@pytest.mark.parametrize("p", [1, 4, 64, 1000])
@pytest.mark.parametrize("side", ["push", "pull"])
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("n", [200, 40_000])
def test_one_pass_is_the_general_way(p, side, weighted, n):
    rng = np.random.default_rng(1)
    X = rng.normal(size=(n, 30))
    X = X[np.argsort(X[:, 0])]  # scores rise from row to row: the running maximum moves all the time
    y = rng.random(n) < 0.2
    w = rng.integers(0, 3, n).astype(float) if weighted else None
    objective = PushObjective(price=Power(p), side=side, scale="log")
    problem = make_problem(X, y, objective, w=w)
    coef = np.r_[2.0, rng.normal(size=29)]
    value, gradient = problem.value_and_gradient(coef)
    expected, in_scores = objective.evaluate(y, X @ coef, w)
    reference = coef @ X[0]  # both classes' scores are taken less the first row's
    assert value == pytest.approx(expected, rel=1e-10, abs=1e-9 * abs(reference))
    np.testing.assert_allclose(gradient, X.T @ in_scores, rtol=1e-8, atol=1e-10)


def test_one_pass_handles_a_class_that_a_chunk_has_not_seen():
    X = np.linspace(0, 1, 30_000)[:, None] * np.ones((1, 40))
    y = np.arange(30_000) >= 29_990
    value, gradient = two_sum_value_and_gradient(
        LinearModel(X), y.astype(np.uint8), None, (1.0, 4.0), np.full(40, 0.1)
    )
    expected = PushObjective(price=Power(4), scale="log").value(y, X @ np.full(40, 0.1))
    assert value == pytest.approx(expected)
    assert np.isfinite(gradient).all()


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


class TestCoordinateDescent:
    @pytest.mark.parametrize("p", [1, 2, 8])
    def test_binary_step_has_the_closed_form(self, p):
        X, y = overlapping(binary=True)
        problem = make_problem(X, y, PushObjective(price=Power(p), scale="log"))
        rng = np.random.default_rng(5)
        scores = rng.normal(size=len(y))
        a = np.exp(-scores[y]) / np.exp(-scores[y]).sum()
        b = np.exp(p * scores[~y]) / np.exp(p * scores[~y]).sum()
        h = X[:, 1] == 1
        a1, b1 = a[h[y]].sum(), b[h[~y]].sum()
        expected = np.log(a1 * (1 - b1) / ((1 - a1) * b1)) / (p + 1)
        column = problem.model.column(1)
        assert best_step(problem, scores, column) == pytest.approx(expected)
        # and it is the minimum along the column
        values = [
            problem.objective.value(y, scores + (expected + step) * X[:, 1]) for step in (-1e-3, 0, 1e-3)
        ]
        assert values[1] == min(values)

    def test_takes_the_steepest_column_first(self):
        X, y = overlapping(seed=6)
        problem = make_problem(X, y, OBJECTIVES["push 8"])
        gradient = problem.value_and_gradient(np.zeros(4))[1] / np.ptp(X, axis=0)
        result = coordinate_descent(problem, np.zeros(4), 1e-6, 1)
        assert np.flatnonzero(result.coef).tolist() == [np.argmax(np.abs(gradient))]

    def test_an_infinite_step_is_capped(self):
        X = np.array([[1.0, 0.3], [1.0, 0.1], [0.0, 0.2], [0.0, 0.0], [0.0, 0.3]])
        y = np.array([True, True, False, False, False])
        problem = make_problem(X, y, PushObjective(price=Power(2), scale="log"))
        result = coordinate_descent(problem, np.zeros(2), 1e-6, 1)
        epsilon = 1 / 6
        assert result.coef[0] == pytest.approx(np.log((1 + epsilon) / epsilon) / 3)

    def test_an_infinite_step_along_a_real_column_is_capped(self):
        X = np.array([[1.0], [0.9], [0.1], [0.0], [0.2]])
        y = np.array([True, True, False, False, False])
        problem = make_problem(X, y, PushObjective(price=Power(2), scale="log"))
        result = coordinate_descent(problem, np.zeros(1), 1e-9, 5)
        assert np.isfinite(result.coef).all()
        assert result.coef[0] > 0


@pytest.mark.parametrize(
    ("slope", "longest", "expected"),
    [
        (lambda x: (2 * (x + 7.0), 2.0), np.inf, -7.0),
        (lambda x: (np.tanh(x - 3), 1 - np.tanh(x - 3) ** 2), np.inf, 3.0),  # Newton overshoots from 0
        (lambda x: (np.exp(min(x, 700)) - 1e6, np.exp(min(x, 700))), 1e9, np.log(1e6)),
        (lambda x: (x - 1e8, 1.0), np.inf, 1e8),
        (lambda x: (x**3 - 8.0, 3 * x**2), 100.0, 2.0),  # no bend at the start
        (lambda x: (x - 2.0, 0.0), 10.0, 2.0),  # no second derivative at all
        (lambda x: (x - 2.0, 0.0), np.inf, 2.0),
        (lambda _: (1.0, 0.0), 5.0, -5.0),
        (lambda _: (0.0, 0.0), 5.0, 0.0),
    ],
)
def test_exact_step(slope, longest, expected):
    assert exact_step(slope, longest) == pytest.approx(expected, rel=1e-9)


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
