"""Every solver ends at the minimum of the sum over pairs, by an independent computation."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.optimize import minimize

from oracle import objective as brute_force
from pushrank.models import LinearModel
from pushrank.objectives import PushObjective
from pushrank.pairs import BipartiteSample
from pushrank.prices import Identity, Power
from pushrank.rows import MemoryRows
from pushrank.solvers import SOLVERS, coordinate_descent, linear_problem
from pushrank.solvers.boosting.objective import score_objective
from pushrank.solvers.boosting.steps import Direction
from pushrank.solvers.boosting.steps import best_step as best_step_along
from pushrank.weak_rankers import Columns


def best_step(problem, scores, column):
    """The step along one column of a linear problem, in units of its coefficient."""
    columns = Columns().fit(column[:, None])
    unit = 1.0 / columns.ranges_[0]
    on_rows = score_objective(problem.objective, problem.rows.sample)
    along = Direction(columns.training_outputs(column[:, None]).values(0), ridge=problem.alpha * unit**2)
    return best_step_along(on_rows, on_rows.evaluate(scores), scores, along) * unit


def overlapping(n=120, d=3, seed=0):
    rng = np.random.default_rng(seed)
    y = rng.random(n) < 0.3
    return rng.normal(size=(n, d)) + 0.6 * y[:, None], y


def problem_of(X, y, p=4.0, alpha=0.0, side="push", w=None):
    objective = PushObjective(price=Power(p), side=side, scale="log", bottom_weight=0.5)
    return linear_problem(objective, MemoryRows(LinearModel(X), BipartiteSample.from_labels(y, w)), alpha)


@pytest.mark.parametrize("solver", SOLVERS)
@pytest.mark.parametrize("alpha", [0.0, 0.1])
@pytest.mark.parametrize("side", ["push", "pull", "both"])
def test_the_minimum_is_that_of_the_written_out_pairs(solver, alpha, side):
    X, y = overlapping()
    w = np.random.default_rng(1).integers(0, 4, len(y)).astype(float)
    p = 2.0

    def written_out(v):
        raw = brute_force(y, X @ v, w, "Exponential", "Power", p, side, 0.5)
        return np.log(raw) / p + 0.5 * alpha * v @ v

    reference = minimize(written_out, np.zeros(3), method="Nelder-Mead", tol=1e-11).x
    result = SOLVERS[solver](problem_of(X, y, p, alpha, side, w), np.zeros(3), 1e-6, 5000)
    assert result.converged
    np.testing.assert_allclose(result.coef, reference, atol=1e-5)
    assert result.objective_path[-1] == pytest.approx(written_out(result.coef), rel=1e-9)


@pytest.mark.parametrize("solver", SOLVERS)
@pytest.mark.parametrize("p", [1.0, 16.0, 256.0])
def test_any_start_leads_to_the_same_minimum(solver, p):
    X, y = overlapping(seed=2)
    starts = [np.zeros(3), np.array([50.0, -50.0, 10.0]), np.full(3, -1e4)]
    # at p = 256 a gradient of 1e-7 changes the objective by less than its rounding
    ends = [SOLVERS[solver](problem_of(X, y, p, 0.01), start, 1e-6, 5000) for start in starts]
    for start, end in zip(starts, ends, strict=True):
        assert end.converged, (start, end.message)
        np.testing.assert_allclose(end.coef, ends[0].coef, atol=1e-4)


@pytest.mark.parametrize("solver", SOLVERS)
def test_the_start_is_not_written_to(solver):
    X, y = overlapping()
    start = np.array([1.0, 2.0, 3.0])
    SOLVERS[solver](problem_of(X, y), start, 1e-4, 50)
    assert start.tolist() == [1.0, 2.0, 3.0]


@pytest.mark.parametrize("solver", SOLVERS)
def test_a_start_at_the_minimum_takes_no_iteration(solver):
    X, y = overlapping()
    problem = problem_of(X, y, alpha=0.01)
    end = SOLVERS[solver](problem, np.zeros(3), 1e-6, 1000)
    again = SOLVERS[solver](problem, end.coef, 1e-5, 1000)
    assert again.n_iter == 0
    assert again.converged
    assert again.message == ""


@pytest.mark.parametrize("solver", SOLVERS)
def test_the_reported_gradient_is_the_real_one(solver):
    X, y = overlapping(seed=3)
    p, alpha = 8.0, 0.01
    result = SOLVERS[solver](problem_of(X, y, p, alpha), np.zeros(3), 1e-5, 2000)
    s, t = (X @ result.coef)[y], (X @ result.coef)[~y]
    a, b = np.exp(-s - np.max(-s)), np.exp(p * (t - t.max()))
    gradient = b @ X[~y] / b.sum() - a @ X[y] / a.sum() + alpha * result.coef
    # the unit of a column: the spread within the classes, each weighted as the objective curves at zero
    scales = np.sqrt((X[y].var(axis=0) + p * X[~y].var(axis=0)) / (1 + p))
    size = np.max(np.abs(gradient) / scales)
    assert size <= 1.0000001e-5
    assert result.gradient_size == pytest.approx(size, abs=1e-9)


class TestBoosting:
    """Coordinate descent is the algorithm of Rudin (2009), figure 2."""

    def test_rankboost_takes_half_the_log_ratio_of_the_pairs(self):
        X = np.array([[1.0], [1.0], [0.0], [1.0], [0.0], [0.0], [0.0]])
        y = np.array([1, 1, 1, 0, 0, 0, 0], dtype=bool)
        # of 12 pairs, h ranks 2 * 3 rightly and 1 * 1 wrongly
        result = coordinate_descent(problem_of(X, y, 1.0), np.zeros(1), 1e-9, 1)
        assert result.coef[0] == pytest.approx(0.5 * np.log(6 / 1))
        assert result.converged

    def test_rankboost_is_reproduced_round_by_round(self):
        rng = np.random.default_rng(4)
        y = rng.random(80) < 0.4
        H = (rng.random((80, 6)) < 0.3 + 0.25 * y[:, None] * (np.arange(6) % 3 != 0)).astype(float)
        d = np.full((y.sum(), (~y).sum()), 1.0)
        d /= d.sum()
        coef = np.zeros(6)
        for rounds in range(1, 9):
            margins = H[y][:, None, :] - H[~y][None, :, :]
            edges = np.einsum("ik,ikj->j", d, margins)
            j = int(np.argmax(np.abs(edges)))
            right, wrong = d[margins[:, :, j] > 0].sum(), d[margins[:, :, j] < 0].sum()
            step = 0.5 * np.log(right / wrong)
            coef[j] += step
            d *= np.exp(-step * margins[:, :, j])
            d /= d.sum()
            result = coordinate_descent(problem_of(H, y, 1.0), np.zeros(6), 1e-12, rounds)
            np.testing.assert_allclose(result.coef, coef, rtol=1e-9, atol=1e-12)

    @pytest.mark.parametrize("p", [1.0, 1.5, 4.0, 32.0])
    @pytest.mark.parametrize("values", [(0.0, 1.0), (-1.0, 1.0), (5.0, 5.5), (-1e6, 1e6)])
    def test_two_values_have_a_closed_form_whatever_they_are(self, p, values):
        rng = np.random.default_rng(5)
        y = rng.random(60) < 0.4
        h = rng.random(60) < 0.4
        column = np.where(h, values[1], values[0])
        scores = rng.normal(size=60)
        problem = problem_of(column[:, None], y, p)
        step = best_step(problem, scores, problem.rows.model.column(0))
        a = np.exp(-scores[y]) / np.exp(-scores[y]).sum()
        b = np.exp(p * scores[~y]) / np.exp(p * scores[~y]).sum()
        a1, b1 = a[h[y]].sum(), b[h[~y]].sum()
        expected = np.log(a1 * (1 - b1) / ((1 - a1) * b1)) / (p + 1) / (values[1] - values[0])
        assert step == pytest.approx(expected, rel=1e-9)

    @pytest.mark.parametrize("p", [1.0, 4.0, 32.0])
    def test_the_closed_form_is_the_line_search(self, p):
        rng = np.random.default_rng(6)
        y = rng.random(60) < 0.4
        h = (rng.random(60) < 0.4).astype(float)
        scores = rng.normal(size=60)
        closed = best_step(problem_of(h[:, None], y, p), scores, h)
        # a penalty too small to matter sends the same column through the line search
        searched = best_step(problem_of(h[:, None], y, p, alpha=1e-13), scores, h)
        assert closed == pytest.approx(searched, rel=1e-9)

    def test_pairs_that_are_all_right_give_a_finite_step_even_with_huge_scores(self):
        y = np.array([True, True, False, False])
        h = np.array([1.0, 1.0, 0.0, 0.0])
        for size in (1.0, 1e3, 1e6):
            step = best_step(problem_of(h[:, None], y), size * (h - 0.5), h)
            assert 0 < step < 100

    def test_scores_do_not_drift(self):
        rng = np.random.default_rng(7)
        X = rng.normal(size=(60, 30))
        X = X + 0.9 * rng.normal(size=(60, 1))
        y = rng.random(60) < 0.4
        problem = problem_of(X, y, 4.0, alpha=1e-3)
        result = coordinate_descent(problem, np.zeros(30), 1e-12, 5000)
        value = problem.value_and_gradient(result.coef)[0]
        assert result.objective_path[-1] == pytest.approx(value, abs=1e-12)
        assert (np.diff(result.objective_path) <= 1e-13).all()

    def test_takes_the_steepest_column_first(self):
        X, y = overlapping(seed=6)
        problem = problem_of(X, y, 8.0)
        gradient = problem.value_and_gradient(np.zeros(3))[1] / np.ptp(X, axis=0)
        result = coordinate_descent(problem, np.zeros(3), 1e-6, 1)
        assert np.flatnonzero(result.coef).tolist() == [np.argmax(np.abs(gradient))]

    def test_an_infinite_step_is_capped(self):
        X = np.array([[1.0, 0.3], [1.0, 0.1], [0.0, 0.2], [0.0, 0.0], [0.0, 0.3]])
        y = np.array([True, True, False, False, False])
        problem = problem_of(X, y, 2.0)
        result = coordinate_descent(problem, np.zeros(2), 1e-6, 1)
        epsilon = 1 / 6
        assert result.coef[0] == pytest.approx(np.log((1 + epsilon) / epsilon) / 3)

    def test_an_infinite_step_along_a_real_column_is_capped(self):
        X = np.array([[1.0], [0.9], [0.1], [0.0], [0.2]])
        y = np.array([True, True, False, False, False])
        problem = problem_of(X, y, 2.0)
        result = coordinate_descent(problem, np.zeros(1), 1e-9, 5)
        assert np.isfinite(result.coef).all()
        assert result.coef[0] > 0


def test_identity_is_the_power_of_one():
    X, y = overlapping(seed=8)
    results = [
        SOLVERS["lbfgs"](
            linear_problem(
                PushObjective(price=price, scale="log"),
                MemoryRows(LinearModel(X), BipartiteSample.from_labels(y)),
                0.01,
            ),
            np.zeros(3),
            1e-8,
            500,
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
        result = SOLVERS[solver](problem_of(X, y), np.zeros(1), 1e-4, 5)
        assert result.coef[0] > 0
