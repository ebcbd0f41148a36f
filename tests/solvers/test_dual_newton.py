"""Newton's method in the dual: the solutions of others, in few steps, where scores have far to go."""

import numpy as np
import pytest
import scipy.sparse as sp

from pushrank import PNormPush, PushObjective, TrimmedPush
from pushrank.models import LinearModel
from pushrank.pairs import BipartiteSample
from pushrank.prices import Power
from pushrank.rows import MemoryRows
from pushrank.solvers import lbfgs, linear_problem, tolerances
from pushrank.solvers.dual_newton import WeightsDual, dual_newton
from samples import problem_of, scaled_cancer


def make_problem(*, p=8.0, side="push", alpha=0.05, weights=None, sparse=False, units=1.0, seed=0):
    rng = np.random.default_rng(seed)
    X = units * rng.normal(size=(80, 6)) * (rng.random((80, 6)) < 0.6)
    y = X @ np.arange(6.0) + 3.0 * units * rng.normal(size=80) > 3.0 * units
    model = LinearModel(sp.csr_array(X) if sparse else X)
    sample = BipartiteSample.from_labels(y, weights)
    objective = PushObjective(price=Power(p), side=side, scale="log")
    return linear_problem(objective, MemoryRows(model, sample), alpha)


@pytest.mark.parametrize("sparse", [False, True])
@pytest.mark.parametrize("side", ["push", "pull"])
@pytest.mark.parametrize("weights", [None, np.arange(80) % 4 * 0.5], ids=["rows", "weighted rows, some of 0"])
def test_the_minimum_is_that_of_lbfgs(side, weights, sparse):
    problem = make_problem(side=side, weights=weights, sparse=sparse)
    found = dual_newton(problem, np.ones(6), 1e-9, 100)
    assert found.converged
    assert len(found.objective_path) == found.n_iter + 1
    assert found.objective_path[-1] == problem.value_and_gradient(found.coef)[0]
    np.testing.assert_allclose(found.coef, lbfgs(problem, np.zeros(6), 1e-9, 1000).coef, atol=1e-6)


@pytest.mark.parametrize(("p", "alpha"), [(1.0, 10.0), (1000.0, 0.01), (16.0, 1e-6)])
@pytest.mark.parametrize("units", [1e-6, 1.0, 1e6])
def test_units_and_penalties_far_apart(p, alpha, units):
    problem = make_problem(p=p, alpha=alpha * units**2, units=units)
    assert dual_newton(problem, np.full(6, units), 1e-6, 100).converged


def fingerprints(n=1200, d=1100, per_row=12):
    """Return rows of which a linear function tells the classes apart, wide but not in their row space."""
    rng = np.random.default_rng(0)
    columns = rng.integers(0, d, size=n * per_row)
    X = sp.csr_matrix((np.ones(n * per_row), columns, np.arange(n + 1) * per_row), shape=(n, d))
    scores = X @ rng.normal(size=d)
    return X, scores > np.quantile(scores, 0.9)


@pytest.mark.parametrize("solver", ["lbfgs", "newton-cg"])
@pytest.mark.parametrize(("side", "p"), [("push", 16.0), ("pull", 4.0)])
def test_scores_that_go_far_take_few_iterations(solver, side, p):
    """L-BFGS alone took 429 and 137."""
    X, y = fingerprints()
    ranker = PNormPush(p, side=side, alpha=1e-3, solver=solver, max_iter=80).fit(X, y)
    scores = X @ ranker.coef_
    assert ranker.converged_
    assert scores[y].min() > scores[~y].max() + 5.0


@pytest.mark.parametrize("max_iter", [5, 1000])
def test_progress_is_told_once_an_iteration_and_the_limit_kept(max_iter):
    X, y = fingerprints()
    objective = PushObjective(price=Power(16), scale="log")
    problem, seen = (problem_of(X, y, objective, 1e-3), [])
    found = lbfgs(problem, np.zeros(1100), 1e-4, max_iter, lambda number, **_: seen.append(number))
    assert seen == list(range(1, found.n_iter + 1))
    assert found.converged == (max_iter == 1000)
    assert found.n_iter <= max_iter
    assert f"max_iter={max_iter}" in found.message or found.converged


def test_a_start_elsewhere_takes_few_iterations_too():
    """In the row space L-BFGS went on alone: 1,005 iterations, and 30 turns of the trimmed push."""
    rng = np.random.default_rng(20)
    X, y = rng.normal(size=(107, 550)), rng.random(107) < 0.3
    ranker = PNormPush(p=16, alpha=1.0, warm_start=True).fit(X, y)
    assert ranker.set_params(alpha=1e-6, max_iter=100).fit(X, y).converged_
    trimmed = TrimmedPush(k=0.5, alpha=4e-6).fit(X, y)
    assert trimmed.converged_
    assert trimmed.n_iter_ < 5


@pytest.mark.parametrize("max_iter", [2, 4, 7])
def test_a_fit_cut_short_has_the_best_point_on_its_way(max_iter):
    problem = make_problem(p=16.0, alpha=1e-4)
    found = dual_newton(problem, np.ones(6), 1e-6, max_iter)
    assert found.n_iter == max_iter
    assert found.objective_path[-1] == found.objective_path.min() == problem.value_and_gradient(found.coef)[0]


def separable(n, d):
    """Return rows whose classes some columns tell apart in part, and all columns together wholly."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n, d))
    scores = X[:, :10].sum(axis=1) + 3.0 * rng.normal(size=n)
    return X, scores > np.quantile(scores, 0.9)


@pytest.mark.parametrize(("n", "d", "p"), [(800, 200, 4), (800, 200, 16), (900, 200, 4)])
def test_separable_rows_of_few_columns_take_few_iterations(n, d, p):
    """L-BFGS in whitened variables took 300 and 674 for the first two."""
    X, y = separable(n, d)
    ranker = PNormPush(p).fit(X, y)
    assert ranker.converged_
    assert ranker.n_iter_ <= 100
    assert ranker.dual_gap_ <= ranker.tol


@pytest.mark.parametrize("p", [4, 16])
def test_a_fit_of_nearly_as_many_columns_as_rows_takes_few_passes(monkeypatch, p):
    """Conjugate gradients alone took 2,135 and 3,735."""
    X, y = separable(2200, 1100)
    scores, rmatvec, passed = LinearModel.scores, LinearModel.rmatvec, []
    monkeypatch.setattr(LinearModel, "scores", lambda self, v: passed.append(len(v)) or scores(self, v))
    monkeypatch.setattr(LinearModel, "rmatvec", lambda self, v: passed.append(len(v)) or rmatvec(self, v))
    ranker = PNormPush(p).fit(X, y)
    assert ranker.converged_
    assert len(passed) <= 250


@pytest.mark.parametrize("sparse", [False, True])
@pytest.mark.parametrize("weights", [None, np.arange(80) % 4 * 0.5], ids=["rows", "weighted rows"])
def test_a_factor_and_conjugate_gradients_give_the_same_step(monkeypatch, weights, sparse):
    problem = make_problem(weights=weights, sparse=sparse)
    dual = WeightsDual(problem)
    first = dual.distributions(np.exp(np.random.default_rng(1).normal(size=len(dual.codes))))
    residuals = dual.residuals(first, dual.exponents(dual.combination(first)) / 0.05)
    monkeypatch.setattr(tolerances, "FORCING", 1e-12)
    monkeypatch.setattr(tolerances, "LIGHT_CURVATURE", 0.0)
    monkeypatch.setattr(tolerances, "FACTOR_SPEED", 1e-3)
    by_products = dual.newton_step(first, residuals, 0.05)
    assert len(dual.known) == 0
    # The second step takes fewer rows and some that the first had not.
    for some in (np.arange(0, 30), np.arange(10, 50), dual.heavy_rows(first, 0.05)):
        order = dual.know(some)
        np.testing.assert_array_equal(np.sort(order), some)
        np.testing.assert_allclose(dual.products, dual.model.gram(order), atol=1e-12)
    np.testing.assert_allclose(dual.newton_step(first, residuals, 0.05), by_products, atol=1e-8)


def test_a_class_whose_rows_weigh_nothing_divides_by_nothing():
    """At a steep push of nearly separable rows a step takes rows of one class alone."""
    X, y = scaled_cancer()
    for part in range(3):
        rows = np.arange(len(y)) % 3 != part
        first = PNormPush(1).fit(X[rows], y[rows]).decision_function(X[rows])
        top = np.flatnonzero(rows)[np.argsort(-first)[: int(0.7 * rows.sum())]]
        assert PNormPush(64).fit(X[top], y[top]).dual_gap_ < 1e-4
