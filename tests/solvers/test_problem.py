"""The single reading of the data gives the objective of the sum over all pairs."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pushrank.models import LinearModel
from pushrank.objectives import PushObjective
from pushrank.pairs import BipartiteSample
from pushrank.prices import Power
from pushrank.rows import MemoryRows
from pushrank.solvers import linear_problem
from samples import problem_of

pytestmark = pytest.mark.fast


def over_pairs(y, scores, w, p, side):
    """Return ``(1/p) ln R`` and its gradient in the scores, over the whole matrix of pairs, in log space."""
    y = np.asarray(y, dtype=bool)
    log_w = np.log(w)
    logs = -scores[y][:, None] + scores[~y][None, :]
    axis = 0 if side == "push" else 1
    inner = log_w[y][:, None] if side == "push" else log_w[~y][None, :]
    outer = log_w[~y] if side == "push" else log_w[y]
    heights = np.logaddexp.reduce(logs + inner, axis=axis)
    total = np.logaddexp.reduce(p * heights + outer)
    shares = np.exp(p * heights + outer - total)
    if side == "push":
        d = np.exp(logs + inner - heights[None, :]) * shares[None, :]
    else:
        d = np.exp(logs + inner - heights[:, None]) * shares[:, None]
    gradient = np.zeros(len(y))
    gradient[y], gradient[~y] = -d.sum(axis=1), d.sum(axis=0)
    return total / p, gradient


@given(
    seed=st.integers(0, 2**32 - 1),
    n=st.integers(2, 60),
    p=st.sampled_from([1.0, 1.5, 2.0, 8.0, 64.0, 1000.0]),
    side=st.sampled_from(["push", "pull"]),
    spread=st.sampled_from([1e-3, 1.0, 30.0, 1e3, 1e6]),
    order=st.sampled_from(["as drawn", "rising", "falling", "tied"]),
)
def test_value_and_gradient_are_those_of_all_pairs(seed, n, p, side, spread, order):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 3)) * spread
    if order == "tied":
        X = np.round(X / spread) * spread
    elif order != "as drawn":
        X = X[np.argsort(X.sum(axis=1))][:: 1 if order == "rising" else -1]
    y = rng.random(n) < 0.4
    y[:2] = [True, False]
    w = rng.choice([0.25, 1.0, 3.0], n)
    coef = np.ones(3)
    objective = PushObjective(price=Power(p), side=side, scale="log")
    problem = problem_of(X, y, objective, 0.0, w)
    value, gradient = problem.value_and_gradient(coef)
    expected, in_scores = over_pairs(y, X @ coef, w, p, side)
    # scores of size s carry a rounding of s * 1e-16, which p then multiplies
    size = np.abs(X).max()
    assert value == pytest.approx(expected, rel=1e-10, abs=1e-13 * size)
    rounding = 1e-15 * p * size
    np.testing.assert_allclose(gradient, X.T @ in_scores, atol=(1e-10 + 10 * rounding) * size)


@pytest.mark.parametrize("p", [1.0, 16.0, 1000.0])
def test_rows_of_weight_zero_are_not_there(p):
    rng = np.random.default_rng(3)
    X, y = rng.normal(size=(60, 3)), np.arange(60) % 4 == 0
    w = (rng.random(60) < 0.5).astype(float)
    w[:2] = 1.0
    wild = np.where(w[:, None] > 0, X, 1e6 * X)  # even where they would rule
    objective = PushObjective(price=Power(p), scale="log")
    coef = np.array([1.0, -0.5, 2.0])
    weighted = problem_of(wild, y, objective, 0.1, w)
    kept = problem_of(X[w > 0], y[w > 0], objective, 0.1)
    for ours, theirs in zip(weighted.value_and_gradient(coef), kept.value_and_gradient(coef), strict=True):
        np.testing.assert_allclose(ours, theirs, rtol=1e-9, atol=1e-9)


def test_a_chunk_of_one_class_alone_is_weighed_rightly():
    """Sorted labels: most chunks hold one class, and the scores rise by hundreds from chunk to chunk."""
    n, d = 40_000, 40
    rng = np.random.default_rng(4)
    X = rng.normal(size=(n, d))
    X[:, 0] = np.linspace(-1000, 1000, n)
    y = np.arange(n) >= n // 2
    model = LinearModel(X)
    assert len(model.chunks) > 2
    for sign in (1.0, -1.0):
        coef = np.r_[sign, np.zeros(d - 1)]
        objective = PushObjective(price=Power(8), scale="log")
        problem = linear_problem(objective, MemoryRows(model, BipartiteSample.from_mask(y)), 0.0)
        value, gradient = problem.value_and_gradient(coef)
        expected, in_scores = objective.evaluate(y, X @ coef)
        assert value == pytest.approx(expected, rel=1e-10)
        np.testing.assert_allclose(gradient, X.T @ in_scores, rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("p", [1, 4, 64, 1000])
@pytest.mark.parametrize("side", ["push", "pull"])
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("n", [200, 40_000])
def test_one_pass_is_the_general_way(p, side, weighted, n):
    rng = np.random.default_rng(1)
    X = rng.normal(size=(n, 30))
    X = X[np.argsort(X[:, 0])]  # scores rise from row to row: the running maximum moves all the time
    y = rng.random(n) < 0.2
    w = rng.integers(0, 3, n).astype(float) if weighted else None
    objective = PushObjective(price=Power(p), side=side, scale="log")
    problem = problem_of(X, y, objective, 0.0, w)
    coef = np.r_[2.0, rng.normal(size=29)]
    value, gradient = problem.value_and_gradient(coef)
    expected, in_scores = objective.evaluate(y, X @ coef, w)
    reference = coef @ X[0]  # both classes' scores are taken less the first row's
    assert value == pytest.approx(expected, rel=1e-10, abs=1e-9 * abs(reference))
    np.testing.assert_allclose(gradient, X.T @ in_scores, rtol=1e-8, atol=1e-10)
