"""Positives whose variables are fixed at a bound leave the optimum where it is."""

import numpy as np
import pytest
import scipy.sparse as sp

from pushrank import InfinitePush
from pushrank.models import LinearModel
from pushrank.pairs import BipartiteSample
from pushrank.solvers.infinite_push import tolerances
from pushrank.solvers.infinite_push.dual import InfinitePushDual, cost_per_positive
from pushrank.solvers.infinite_push.interior_point import Shrinking, interior_point
from pushrank.solvers.infinite_push.semismooth_newton import semismooth_newton


def rows(seed, kind):
    """Return rows that are mostly positive, with many positives below their margin."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(3000, 3)) * [1.0, 10.0, 0.1]
    if kind == "ties":
        X = np.round(X)
    if kind == "offset":
        X += 1e6
    scores = (X - X.mean(axis=0)) @ [1.0, 0.1, 10.0] + 0.2 * rng.normal(size=3000)
    return X, scores > np.quantile(scores, 0.3), rng.random(3000) + 1e-3


@pytest.mark.parametrize("kind", ["normal", "ties", "offset"])
@pytest.mark.parametrize("C", [10.0, 1000.0])
@pytest.mark.parametrize("weighted", [False, True])
def test_the_optimum_is_that_of_all_positives(kind, C, weighted, monkeypatch):
    X, y, weights = rows(0, kind)
    sample = BipartiteSample.from_mask(y, weights if weighted else None)
    problem = InfinitePushDual(LinearModel(X), sample, cost_per_positive(sample, C), "hinge")
    some = interior_point(problem, 1e-8, 1000, None, None)[0]
    monkeypatch.setattr(tolerances, "MIN_FREE_POSITIVES", 3000)
    every = interior_point(problem, 1e-8, 1000, None, None)[0]
    assert some.certificate.primal < 0.98 * C
    assert some.certificate.gap <= 1e-8
    assert every.certificate.gap <= 1e-8
    assert some.certificate.primal == pytest.approx(every.certificate.primal, rel=2e-8)
    other = semismooth_newton(problem, 1e-6, 5000, None, None)[0]
    assert some.certificate.primal <= other.certificate.primal * (1.0 + 1e-8)


def test_few_take_part_and_those_wrongly_fixed_join():
    X, y, _ = rows(1, "normal")
    sample = BipartiteSample.from_mask(y, None)
    dual = InfinitePushDual(LinearModel(X), sample, cost_per_positive(sample, 1.0), "hinge")
    shrinking = Shrinking(dual, 3)
    n_positives = int(y.sum())
    assert shrinking.free_C.sum() == pytest.approx(1.0)
    assert len(shrinking.free) == 64
    margins = np.linspace(-9.0, 11.0, n_positives)
    assert not shrinking.check_and_update(margins, 1e-3)
    assert len(shrinking.free) == 64
    assert shrinking.fixed.sum() == pytest.approx((shrinking.fixed > 0.0).sum() / n_positives)
    assert shrinking.check_and_update(margins, 1e-3)
    assert not shrinking.check_and_update(margins + 5.0, 1e-3)
    assert len(shrinking.free) == pytest.approx(64 + n_positives / 4, abs=64)
    whole = shrinking.all_variables(shrinking.free_C)
    assert set(np.unique(whole)) <= {0.0, 1.0 / n_positives}


def test_the_squared_hinge_fixes_none():
    X, y, _ = rows(2, "normal")
    sample = BipartiteSample.from_mask(y, None)
    squared = InfinitePushDual(LinearModel(X), sample, cost_per_positive(sample, 1.0), "squared_hinge")
    assert len(Shrinking(squared, 3).free) == y.sum()


def test_categories_at_a_large_cost_are_certified():
    """Newton's steps alone do not arrive there in a minute."""
    rng = np.random.default_rng(0)
    n = 3000
    kinds = [rng.zipf(1.3, n) % 500 for _ in range(3)]
    blocks = [sp.csr_array((np.ones(n), (np.arange(n), kind)), shape=(n, 500)) for kind in kinds]
    scores = sum(1.2 * rng.normal(size=500)[kind] for kind in kinds) + 0.7 * rng.normal(size=n)
    y = scores > np.quantile(scores, 0.9)
    ranker = InfinitePush(C=1e5).fit(sp.hstack(blocks, format="csr"), y)
    assert ranker.converged_
    assert ranker.n_iter_ < 400


def test_a_column_in_small_units_does_not_hide_negatives():
    rng = np.random.default_rng(0)
    X, direction = rng.normal(size=(3000, 8)), rng.normal(size=8)
    y = X @ direction > 2.5
    X[:, 3] *= 1e4
    ranker = InfinitePush(loss="squared_hinge").fit(X, y)
    assert ranker.converged_
    assert ranker.primal_objective_ == pytest.approx(0.7077, abs=1e-4)
