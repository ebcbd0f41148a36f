"""Kinks smoothed less and less lead to the optimum of the kinked objective."""

from __future__ import annotations

import numpy as np
import pytest

from pushrank import InfinitePush
from pushrank.models import LinearModel
from pushrank.objectives import PushObjective
from pushrank.pairs import BipartiteSample
from pushrank.rows import MemoryRows
from pushrank.solvers import linear_problem
from pushrank.solvers.smoothing import smoothing


def data(seed=0, n=300, noise=0.4, n_features=4):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, n_features))
    return X, (X @ rng.normal(size=n_features) + noise * rng.normal(size=n) > 1.0).astype(int)


@pytest.mark.parametrize("alpha", [1.0, 0.05])
def test_the_continuation_agrees_with_the_infinite_push(alpha):
    """The hinge goes to a solver of its own; what smooths the other losses must find the same."""
    X, y = data()
    objective = PushObjective("hinge", "maximum", scale="mean")
    sample = BipartiteSample.from_labels(y)
    problem = linear_problem(objective, MemoryRows(LinearModel(X), sample), alpha)
    found = smoothing(problem, np.zeros(X.shape[1]), 1e-5, 1000)
    paper = InfinitePush(C=1.0 / alpha, tol=1e-9).fit(X, y)
    assert found.converged
    assert found.certificate.dual <= alpha * paper.primal_objective_ * (1 + 1e-8)
    assert found.certificate.primal == pytest.approx(alpha * paper.primal_objective_, rel=2e-5)
