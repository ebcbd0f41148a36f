"""Kinks smoothed less and less lead to the optimum of the kinked objective."""

import numpy as np
import pytest
import scipy.sparse as sp

from combinations import each_and_some
from pushrank import InfinitePush, PushRanker
from pushrank.models import LinearModel
from pushrank.objectives import PushObjective
from pushrank.pairs import BipartiteSample
from pushrank.prices import Power
from pushrank.rows import MemoryRows
from pushrank.solvers import linear_problem
from pushrank.solvers.smoothing import smoothing
from samples import linear_labels


@pytest.mark.parametrize("alpha", [1.0, 0.05])
def test_the_continuation_agrees_with_the_infinite_push(alpha):
    """The hinge goes to a solver of its own; what smooths the other losses must find the same."""
    X, y = linear_labels()
    objective = PushObjective("hinge", "maximum", scale="mean")
    sample = BipartiteSample.from_labels(y)
    problem = linear_problem(objective, MemoryRows(LinearModel(X), sample), alpha)
    found = smoothing(problem, np.zeros(X.shape[1]), 1e-5, 1000)
    paper = InfinitePush(C=1.0 / alpha, tol=1e-9).fit(X, y)
    assert found.converged
    assert found.certificate.dual <= alpha * paper.primal_objective_ * (1 + 1e-8)
    assert found.certificate.primal == pytest.approx(alpha * paper.primal_objective_, rel=2e-5)


@pytest.mark.parametrize(("p", "positive"), each_and_some([1.0, 8.0], [False, True], n_random=1))
def test_a_fit_that_starts_from_some_of_the_rows_ends_at_the_optimum_of_all(p, positive, monkeypatch):
    X = np.random.default_rng(1).normal(size=(3000, 4))
    y = (X @ [1.0, 1.0, 0.5, 0.0] + 0.3 * X[::-1, 3] > 1.0).astype(int)
    weights = np.random.default_rng(0).integers(0, 3, len(y)).astype(float)
    ranker = PushRanker("hinge", Power(p), alpha=0.05, tol=1e-5, positive=positive)
    whole = [ranker.fit(X, y, w).primal_objective_ for w in (None, weights)]
    monkeypatch.setattr("pushrank.solvers.tolerances.MANY_ROWS", 1000)
    monkeypatch.setattr("pushrank.solvers.tolerances.SPREAD_ROWS", 500)
    for rows, w, expected in ((X, None, whole[0]), (sp.csr_array(X), None, whole[0]), (X, weights, whole[1])):
        ranker.fit(rows, y, w)
        assert ranker.converged_
        assert ranker.dual_gap_ <= 1e-5
        assert ranker.primal_objective_ == pytest.approx(expected, rel=2e-5)
        assert ranker.coef_.any()
