"""Theorem 5.1 of Agarwal (2011) has the chance that was asked for, and (6.26) is as printed."""

import math
from functools import partial

import numpy as np
import pytest

from pushrank import metrics, theory
from pushrank.theory import agarwal_2011
from samples import shifted_scores

pytestmark = pytest.mark.fast

COVER = partial(theory.log_covering_number, 3, 1.0)


def test_theorem_5_1_has_the_chance_that_was_asked_for():
    y, scores = shifted_scores(400, 50)
    found = agarwal_2011.theorem_5_1(y, scores, 0.5, COVER, lambda e: max(1 - 2 * e, 0.0), delta=0.1)
    e = found.excess
    chance = 2 * 50 * math.exp(-400 * e**2 / 8) + (1 - 2 * e / 4) ** 50
    assert math.exp(COVER(0.5 * e / 8)) * chance == pytest.approx(0.1, rel=1e-6)
    assert found.training_error == np.mean(scores[y] - scores[~y].max() < 0.5)
    assert found.training_error == metrics.margin_error(y, scores, 0.5, np.inf, ties="optimistic")
    assert agarwal_2011.theorem_5_1(y, scores, 0.5, 0.0, lambda _: 1.0).bound == math.inf
    own = theory.infinite_push_bound(y, scores, 0.5, 2.0)
    printed = agarwal_2011.theorem_5_1(y, scores, 0.5, 2.0, lambda _: 0.0)
    assert 4 * (own.miss_rate - printed.training_error) <= printed.excess


def test_equation_6_26_leaves_the_row_itself_out():
    rng = np.random.default_rng(0)
    for _ in range(50):
        y, scores = np.append([True, False], rng.random(20) < 0.4), rng.integers(0, 9, 22)
        terms = [np.sum(s < scores[y]) / (1 + np.sum(s < scores)) for s in scores[y]]
        assert agarwal_2011.equation_6_26(y, scores) == pytest.approx(np.mean(terms), rel=1e-14, abs=1e-15)
    first = [1] * 75 + [0] * 42
    # Table 2 prints .9357, more than a list without an error has.
    assert agarwal_2011.equation_6_26(first, -np.arange(117)) == pytest.approx(0.93465, abs=5e-6)
