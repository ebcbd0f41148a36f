"""The solvers of the paper, pair by pair: their projections, where they go, and what they do not take."""

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV

from combinations import by_day
from pushrank import InfinitePush, RankSVM
from pushrank.solvers.infinite_push.gradient_projection import project_to_budget
from quadratic_programs import budget, minimise
from samples import by_first_column


@pytest.mark.parametrize("seed", by_day(range(20), 5))
def test_the_projection_on_the_budget_is_the_nearest_point(seed):
    rng = np.random.default_rng(seed)
    values = np.round(3 * rng.normal(size=(5, 4))) / 2
    total = float(rng.uniform(0.1, 6.0))
    quadratic = np.diag(np.r_[np.ones(20), np.zeros(4)])
    _, x = minimise(quadratic, np.r_[-values.ravel(), np.zeros(4)], *budget(5, 4, total))
    nearest = x[:20].reshape(5, 4)
    ours = project_to_budget(values, total)
    assert ours.min() >= 0
    assert ours.max(axis=0).sum() <= total * (1 + 1e-12)
    assert ((ours - values) ** 2).sum() <= ((nearest - values) ** 2).sum() + 1e-6
    np.testing.assert_allclose(ours, nearest, atol=1e-3)


@pytest.mark.filterwarnings("ignore:.*did not converge")
@pytest.mark.parametrize("kernel", ["linear", "rbf"])
@pytest.mark.parametrize("kind", [InfinitePush, RankSVM])
def test_the_papers_solvers_go_where_ours_do(kind, kernel):
    X, y = by_first_column(25, 2, 0, 0.5)
    exact = kind(1.0, kernel=kernel, loss="hinge", tol=1e-9).fit(X, y)
    theirs = clone(exact).set_params(solver="gradient-projection", eta0=0.1, max_iter=20_000).fit(X, y)
    assert theirs.dual_objective_ <= exact.primal_objective_ * (1 + 1e-9)
    assert theirs.primal_objective_ >= exact.dual_objective_ * (1 - 1e-9)
    assert theirs.dual_gap_ < 0.05
    assert theirs.n_iter_ == 20_000
    other = {"C": [0.5, 1.0], "eta0": [1e-3, 1e-1]}
    search = GridSearchCV(theirs.set_params(max_iter=50), other, cv=2, scoring="average_precision").fit(X, y)
    assert search.best_score_ > 0.8


@pytest.mark.parametrize("kind", [InfinitePush, RankSVM])
def test_the_papers_solvers_reject_what_they_do_not_take(kind):
    printed = kind(loss="hinge", solver="gradient-projection")
    X, y = np.arange(20_000.0)[:, None] % 7, np.arange(20_000) % 2
    with pytest.raises(ValueError, match="each of 100,000,000 pairs, and takes at most 10,000,000"):
        printed.fit(X, y)
    with pytest.raises(ValueError, match="is for loss='hinge', not loss='squared_hinge'"):
        clone(printed).set_params(loss="squared_hinge").fit(X, y)
    with pytest.raises(ValueError, match="eta0"):
        clone(printed).set_params(eta0=0.0).fit(X, y)
    with pytest.raises(ValueError, match="solver='auto'"):
        printed.fit(X[:40], y[:40], qid=np.arange(40) // 10)
    if kind is InfinitePush:
        with pytest.raises(ValueError, match="takes no sample_weight"):
            printed.fit(X[:40], y[:40], 1.0 + y[:40])
