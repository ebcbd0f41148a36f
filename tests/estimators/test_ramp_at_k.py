"""The ramp at k: its descent against plain cutting planes and brute force, its starts and its path."""

from __future__ import annotations

from functools import partial

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.exceptions import ConvergenceWarning

from pushrank import PerceptronAtK, RampAtK, TrimmedPush
from pushrank.datasets import make_hidden_positives
from pushrank.metrics import precision_at_k
from pushrank.models import LinearModel
from pushrank.objectives import prec_at_k_ramp
from pushrank.solvers.cutting_plane import Planes, cutting_plane
from pushrank.solvers.ramp import Majorant, Ramp, Ray, minimise


def overlapping(seed, n=200, d=4):
    rng = np.random.default_rng(seed)
    y = np.arange(n) < n // 4
    return rng.normal(size=(n, d)) + np.outer(y, np.linspace(1.0, 0.0, d)), y.astype(int)


def objective(X, y, coef, k, C):
    surrogate = prec_at_k_ramp(k)
    return 0.5 * coef @ coef + C / surrogate.count(y.sum()) * surrogate.value(y, X @ coef)


@pytest.mark.parametrize("seed", range(3))
def test_the_rows_within_reach_have_the_minimum_of_all(seed):
    X, y = overlapping(seed, 400)
    weights = 1.0 + np.arange(400) % 3
    ramp, model, C = Ramp(y == 1, weights, 20.0), LinearModel(X), 10.0
    start = np.random.default_rng(seed).normal(size=4)
    scores = model.scores(start)
    in_top = ramp.in_top(scores)
    near = Majorant(Planes.none(start), in_top, ramp.reach(in_top, scores))
    assert near.reach.sum() < 100
    found, gap = minimise(near, ramp, model, C, 1e-6)
    whole = cutting_plane(partial(ramp.majorant, in_top), model, C, tol=1e-6, max_iter=1000)
    assert gap <= 1e-6
    coef = found.planes.coef
    value = 0.5 * coef @ coef + C * ramp.majorant(in_top, model.scores(coef))[0]
    assert value == pytest.approx(whole.certificate.primal, rel=2e-6)
    assert whole.certificate.dual <= value


@pytest.mark.parametrize("C", [0.1, 10.0])
def test_the_best_place_on_a_ray(C):
    X, y = overlapping(0)
    ramp, model = Ramp(y == 1, np.ones(200), 12.0), LinearModel(X)
    for coef in (np.array([1.0, 0.5, 0.0, 0.0]), np.array([-1.0, 0.0, 0.0, 0.0]), np.zeros(4)):
        value, multiple = Ray.along(ramp, model, coef).best(C)
        assert value == pytest.approx(objective(X, y, multiple * coef, 12, C))
        others = (objective(X, y, at * coef, 12, C) for at in np.linspace(0.0, 5.0, 200))
        assert value <= min(others) + 1e-5 * C


def test_a_trial_of_each_start_decides():
    X, y = make_hidden_positives(1500, random_state=0, return_X_y=True)
    best = RampAtK(random_state=0).fit(X, y)
    assert best.init_ == "trimmed"
    starts, ends = [], []
    for init in ("trimmed", "perceptron", "logistic"):
        alone = RampAtK(init=init, random_state=0).fit(X, y)
        starts.append(alone.objective_path_[0])
        ends.append(alone.objective_path_[-1])
        assert alone.init_ == init
        assert alone.objective_path_[-1] == pytest.approx(objective(X, y, alone.coef_, 0.25, 10.0))
        assert (np.diff(alone.objective_path_) < 0.0).all()
    assert best.objective_path_[0] == pytest.approx(starts[0])
    assert best.objective_path_[-1] <= 1.01 * min(ends)
    with pytest.warns(ConvergenceWarning, match="did not converge in 1 convex problems"):
        assert RampAtK(max_iter=1, tol=1e-6, random_state=0).fit(X, y).n_iter_ == 1


def test_random_starts_never_raise_the_end():
    X, y = overlapping(1)
    alone = RampAtK(random_state=0).fit(X, y)
    more = RampAtK(n_random_starts=5, random_state=0).fit(X, y)
    assert more.objective_path_[-1] <= alone.objective_path_[-1]
    blind = RampAtK(init="random", n_random_starts=5, random_state=0).fit(X, y)
    assert blind.init_ == "random"
    assert blind.objective_path_[-1] >= more.objective_path_[-1] * (1.0 - 1e-9)
    with pytest.raises(ValueError, match="init='random' needs starts: set n_random_starts"):
        RampAtK(init="random").fit(X, y)
    with pytest.raises(ValueError, match="n_random_starts must be"):
        RampAtK(n_random_starts=-1).fit(X, y)


def test_a_path_has_a_ranker_for_each_k_and_penalty_in_the_order_given():
    X, y = overlapping(2)
    start = RampAtK(random_state=0)
    path = start.path(X, y, [0.2, 0.8], [10.0, 1.0])
    assert [(one.k, one.C) for one in path] == [(0.2, 10.0), (0.2, 1.0), (0.8, 10.0), (0.8, 1.0)]
    assert not hasattr(start, "coef_")
    for one in path:
        assert one.objective_path_[-1] == pytest.approx(objective(X, y, one.coef_, one.k, one.C))
        alone = RampAtK(one.k, C=one.C, random_state=0).fit(X, y)
        assert one.objective_path_[-1] <= 1.05 * alone.objective_path_[-1]
    assert path[0].init_ == "path"
    for ks, Cs in (([], [1.0]), ([0.5], [])):
        with pytest.raises(ValueError, match="ks and Cs must hold at least one number each"):
            start.path(X, y, ks, Cs)
    with pytest.raises(ValueError, match="C must be > 0"):
        start.path(X, y, [0.5], [1.0, -1.0])


def test_columns_of_rounding_do_not_stop_it():
    """In the space of copied rows some columns of the planes' normals hold nothing but rounding."""
    rng = np.random.RandomState(42)
    X, y = rng.rand(15, 30), rng.randint(0, 3, size=15) > 0
    copies = rng.randint(0, 5, size=15)
    ranker = RampAtK(init="trimmed", tol=1e-9, random_state=0)
    assert ranker.fit(sp.csr_array(np.repeat(X, copies, axis=0)), np.repeat(y, copies)).converged_


def test_weights_are_copies_and_sparse_rows_are_dense_ones():
    X, y = overlapping(3, 80)
    X = np.where(np.abs(X) > 0.5, X, 0.0)
    weights = 1 + np.arange(80) % 2
    copies = RampAtK(5, init="logistic", tol=1e-6).fit(np.repeat(X, weights, axis=0), np.repeat(y, weights))
    for rows in (X, sp.csr_array(X), sp.csc_array(X), np.asfortranarray(X)):
        weighted = RampAtK(5, init="logistic", tol=1e-6).fit(rows, y, weights)
        assert weighted.objective_path_[-1] == pytest.approx(copies.objective_path_[-1], rel=1e-5)
    sparse = RampAtK(5, random_state=0).fit(sp.csr_array(X), y, weights)
    dense = RampAtK(5, random_state=0).fit(X, y, weights)
    assert sparse.objective_path_[-1] == pytest.approx(dense.objective_path_[-1], rel=2e-2)


def test_the_ramp_is_as_good_as_what_it_starts_from():
    X, y = make_hidden_positives(2000, random_state=0, return_X_y=True)
    fresh, labels = make_hidden_positives(4000, random_state=1, return_X_y=True)
    starts = (TrimmedPush(), PerceptronAtK(variant="max", random_state=0))
    ramp, *others = (
        precision_at_k(labels, one.fit(X, y).decision_function(fresh), fraction_of_positives=0.25)
        for one in (RampAtK(random_state=0), *starts)
    )
    assert ramp >= max(others) - 0.02
