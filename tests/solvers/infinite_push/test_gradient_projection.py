"""The solvers of the paper, pair by pair: their projections, where they go, and what they do not take."""

from __future__ import annotations

import numpy as np
import pytest

from combinations import by_day
from pushrank import InfinitePush, RankSVM
from pushrank.models import Kernel, KernelModel, LinearModel
from pushrank.pairs import BipartiteSample
from pushrank.solvers.infinite_push.gradient_projection import (
    infinite_push_by_pairs,
    project_to_budget,
    rank_svm_by_pairs,
)
from quadratic_programs import budget, minimise


@pytest.mark.parametrize("seed", by_day(range(20), 5))
def test_the_projection_on_the_budget_is_the_nearest_point(seed):
    rng = np.random.default_rng(seed)
    values = np.round(3 * rng.normal(size=(5, 4))) / 2
    total = float(rng.uniform(0.1, 6.0))
    _, x = minimise(
        np.diag(np.r_[np.ones(20), np.zeros(4)]), np.r_[-values.ravel(), np.zeros(4)], *budget(5, 4, total)
    )
    nearest = x[:20].reshape(5, 4)
    ours = project_to_budget(values, total)
    assert ours.min() >= 0
    assert ours.max(axis=0).sum() <= total * (1 + 1e-12)
    assert ((ours - values) ** 2).sum() <= ((nearest - values) ** 2).sum() + 1e-6
    np.testing.assert_allclose(ours, nearest, atol=1e-3)


@pytest.mark.parametrize("kernel", ["linear", "rbf"])
@pytest.mark.parametrize(
    ("kind", "solve"), [(InfinitePush, infinite_push_by_pairs), (RankSVM, rank_svm_by_pairs)]
)
def test_the_papers_solvers_go_where_ours_do(kind, solve, kernel):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(25, 2))
    y = (X[:, 0] + 0.5 * rng.normal(size=25) > 0).astype(int)
    exact = kind(1.0, kernel, loss="hinge", tol=1e-9).fit(X, y)
    model = LinearModel(X)
    if kernel == "rbf":
        model = KernelModel(X, Kernel("rbf", exact.gamma_), 1 << 20)
    sample = BipartiteSample.from_labels(y)
    theirs = solve(model, sample, 1.0, eta0=0.1, max_iter=20_000).certificate
    assert theirs.dual <= exact.primal_objective_ * (1 + 1e-9)
    assert theirs.primal >= exact.dual_objective_ * (1 - 1e-9)
    assert theirs.gap < 0.05


def test_the_papers_solvers_reject_what_they_do_not_take():
    X, y = np.zeros((20_000, 1)), np.arange(20_000) % 2
    many = BipartiteSample.from_labels(y)
    for solve in (infinite_push_by_pairs, rank_svm_by_pairs):
        with pytest.raises(ValueError, match="each of 100,000,000 pairs, and takes at most 10,000,000"):
            solve(LinearModel(X), many, 1.0, eta0=1e-3, max_iter=1)
    weighted = BipartiteSample.from_labels(y, 1.0 + y)
    with pytest.raises(ValueError, match="takes no sample_weight"):
        infinite_push_by_pairs(LinearModel(X), weighted, 1.0, eta0=1e-3, max_iter=1)
