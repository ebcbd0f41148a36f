"""Solutions along a grid of prices and penalties."""

import numpy as np
import pytest

from pushrank import PushObjective
from pushrank.models import LinearModel
from pushrank.pairs import BipartiteSample
from pushrank.prices import Power
from pushrank.rows import MemoryRows
from pushrank.solvers.newton import newton_or_lbfgs
from pushrank.solvers.path import RegularisationPath
from pushrank.solvers.preconditioning import units_at_zero
from pushrank.solvers.problem import ScoredPoint, linear_problem


@pytest.mark.parametrize("max_iter", [1, 2, 3, 4, 5, 6, 8, 12, 50])
def test_a_solution_within_the_tolerance_has_converged_and_all_its_steps_are_counted(max_iter):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(400, 4))
    sample = BipartiteSample.from_labels(X[:, 0] + rng.normal(size=400) > 1.0)
    path = RegularisationPath(LinearModel(X), sample, 1e-3, max_iter)
    result = path.solve(PushObjective(price=Power(4), scale="log"), 1e-2, [np.zeros(4)])
    assert result.converged == (result.gradient_size <= 1e-3)
    assert bool(result.message) != result.converged
    assert result.n_iter <= max_iter
    assert len(result.objective_path) == result.n_iter + 1


def test_a_small_penalty_on_separable_bits_is_solved():
    rng = np.random.default_rng(0)
    X = (rng.random((120, 40)) < 0.1).astype(float)
    sample = BipartiteSample.from_labels(X[:, :3].sum(axis=1) > 0.0)
    path = RegularisationPath(LinearModel(X), sample, 1e-4, 100)
    result = path.solve(PushObjective(price=Power(16), scale="log"), 1e-4, [np.zeros(40)])
    assert result.converged, result.message
    assert (np.diff(result.objective_path) <= 0.0).all()
    assert result.n_iter <= 100


def test_a_far_minimum_under_a_high_power_takes_few_evaluations(monkeypatch):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(3000, 12))
    scores = X @ rng.normal(size=12) + 0.1 * rng.normal(size=3000)
    # The highest positives are those that a trimmed push keeps.
    sample = BipartiteSample.from_mask(scores > np.quantile(scores, 0.995))
    objective = PushObjective(price=Power(64), scale="log")
    problem = linear_problem(objective, MemoryRows(LinearModel(X), sample), 1e-4)
    start, points = problem.point(0.1 * rng.normal(size=12)), []
    counted = ScoredPoint.__init__
    monkeypatch.setattr(ScoredPoint, "__init__", lambda self, *of: (points.append(1), counted(self, *of))[1])
    result = newton_or_lbfgs(start, units_at_zero(problem), 1e-4, 1000)
    assert result.converged
    assert len(points) < 200
