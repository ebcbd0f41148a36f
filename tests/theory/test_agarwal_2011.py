"""Theorem 5.1 of Agarwal (2011) has the chance that was asked for."""

from __future__ import annotations

import math
from functools import partial

import numpy as np
import pytest

from pushrank import theory
from pushrank.theory import agarwal_2011

pytestmark = pytest.mark.fast

COVER = partial(theory.log_covering_number, 3, 1.0)


def rows(n_positives=60, n_negatives=80, seed=0):
    rng = np.random.default_rng(seed)
    y = np.arange(n_positives + n_negatives) < n_positives
    return y, rng.normal(size=len(y)) + y


def test_theorem_5_1_has_the_chance_that_was_asked_for():
    y, scores = rows(400, 50)
    found = agarwal_2011.theorem_5_1(y, scores, 0.5, COVER, lambda e: max(1 - 2 * e, 0.0), delta=0.1)
    e = found.excess
    chance = 2 * 50 * math.exp(-400 * e**2 / 8) + (1 - 2 * e / 4) ** 50
    assert math.exp(COVER(0.5 * e / 8)) * chance == pytest.approx(0.1, rel=1e-6)
    assert found.training_error == np.mean(scores[y] - scores[~y].max() < 0.5)
    assert agarwal_2011.theorem_5_1(y, scores, 0.5, 0.0, lambda _: 1.0).bound == math.inf
    own = theory.infinite_push_bound(y, scores, 0.5, 2.0)
    printed = agarwal_2011.theorem_5_1(y, scores, 0.5, 2.0, lambda _: 0.0)
    assert 4 * (own.miss_rate - printed.training_error) <= printed.excess
