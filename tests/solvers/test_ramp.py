"""The descent on the ramp at k: plain cutting planes find no lower, and no place on a ray is lower."""

from functools import partial

import numpy as np
import pytest

from combinations import by_day
from pushrank.models import LinearModel
from pushrank.solvers.cutting_plane import Planes, cutting_plane
from pushrank.solvers.ramp import Majorant, Ramp, Ray, minimise
from samples import first_positive
from tests.estimators.test_ramp_at_k import objective


@pytest.mark.parametrize("seed", by_day(range(3), 2))
def test_the_rows_within_reach_have_the_minimum_of_all(seed):
    X, y = first_positive(seed, 400, 4, 4)
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
    X, y = first_positive(0, 200, 4, 4)
    ramp, model = Ramp(y == 1, np.ones(200), 12.0), LinearModel(X)
    for coef in (np.array([1.0, 0.5, 0.0, 0.0]), np.array([-1.0, 0.0, 0.0, 0.0]), np.zeros(4)):
        value, multiple = Ray.along(ramp, model, coef).best(C)
        assert value == pytest.approx(objective(X, y, multiple * coef, 12, C))
        others = (objective(X, y, at * coef, 12, C) for at in np.linspace(0.0, 5.0, 200))
        assert value <= min(others) + 1e-5 * C
