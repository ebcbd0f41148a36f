"""Coordinate descent in its steps: the closed form, the line search, and steps without an end."""

from __future__ import annotations

import numpy as np
import pytest

from pushrank.models import LinearModel
from pushrank.objectives import PushObjective
from pushrank.pairs import BipartiteSample
from pushrank.prices import Power
from pushrank.rows import MemoryRows
from pushrank.solvers import coordinate_descent, linear_problem
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
