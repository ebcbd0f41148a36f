"""Steps between choices of the highest positives."""

import numpy as np
import pytest

from pushrank import TrimmedPush
from pushrank.models import LinearModel, in_row_space
from pushrank.objectives import PushObjective
from pushrank.pairs import BipartiteSample
from pushrank.prices import Power
from pushrank.rows import MemoryRows
from pushrank.solvers.path import RegularisationPath
from pushrank.solvers.problem import SumsProblem
from pushrank.solvers.trimming import trimmed_path
from samples import first_positive


@pytest.mark.parametrize("n_features", [3, 80])  # 80: in the space of the rows
def test_single_newton_steps_never_raise_the_objective(n_features):
    X, y = first_positive(4, 60, n_features, 3)
    rows = MemoryRows(in_row_space(LinearModel(X)), BipartiteSample.from_mask(y == 1))
    problem = SumsProblem(PushObjective(price=Power(4.0), scale="log"), rows, 0.1)
    solutions = trimmed_path(problem, [12, 7, 5], 1e-4, 30, exact=False)
    for solution, total in zip(solutions, (12, 7, 5), strict=True):
        assert len(solution.objective_path) > 2
        assert np.diff(solution.objective_path).max() <= 1e-9
        assert solution.rows.class_weights[0] == pytest.approx(total)


def test_a_path_may_start_from_the_solution_with_all_positives():
    X, y = first_positive(5, 60, 3, 3)
    rows = MemoryRows(LinearModel(X), BipartiteSample.from_mask(y == 1))
    problem = SumsProblem(PushObjective(price=Power(4.0), scale="log"), rows, 0.1)
    path = RegularisationPath(LinearModel(X), rows.sample, 1e-4, 100)
    start = path.solve_grid([problem.objective], [0.1])[0][0]
    # What has been solved is not solved again.
    assert path.solve_grid([problem.objective], [1.0, 0.1])[0][1].n_iter == start.n_iter
    ways = [trimmed_path(problem, [12, 7], 1e-4, 30, start=coef) for coef in (None, start.coef)]
    for one, two in zip(*ways, strict=True):
        np.testing.assert_allclose(two.coef, one.coef, rtol=1e-3, atol=1e-5)


def test_separable_rows_take_few_covariances(monkeypatch):
    """A path of penalties took 84 of them."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(800, 200))
    scores = X[:, :10].sum(axis=1) + 3.0 * rng.normal(size=800)
    moments, taken = LinearModel.class_moments, []

    def counted(self, *arguments, whole=False, **options):
        taken.append(whole)
        return moments(self, *arguments, whole=whole, **options)

    monkeypatch.setattr(LinearModel, "class_moments", counted)
    assert TrimmedPush().fit(X, scores > np.quantile(scores, 0.9)).converged_
    assert sum(taken) <= 40
