"""Bounds of all papers are the formulas they state, hold, and reject what has no meaning."""

import math
import runpy
from functools import partial
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import norm

from experiments.bounds.simulations import SIMULATIONS, simulate
from pushrank import theory
from pushrank.prices import LogOnePlus
from pushrank.theory import agarwal_2011, kar_2015, rudin_2005, rudin_2009


@given(seed=st.integers(0, 99), p=st.floats(1.0, 30.0), theta=st.floats(0.01, 2.0))
def test_measured_parts_are_those_of_all_pairs(seed, p, theta):
    rng = np.random.default_rng(seed)
    scores, y = rng.normal(size=40).round(1), np.arange(40) < 15
    close = (scores[y][:, None] - scores[~y][None, :]) <= theta
    below = scores[y] - theta
    near = np.abs(below[:, None] - scores[~y][None, :]).min() < 1e-9
    if near:  # a tie that rounding decides
        return
    room = math.sqrt(math.log(1 / 0.1) / (2 * 15))
    assert theory.margin_ranking_bound(y, scores, theta, 0.0, delta=0.1) == pytest.approx(close.mean() + room)
    plus, minus = (math.sqrt(math.log(2 / 0.1) / (2 * n)) for n in (15, 25))
    measured = np.mean(close.mean(axis=0) ** p) ** (1 / p)
    found = theory.p_norm_push_bound(y, scores, p, theta, 0.0, delta=0.1)
    assert found == pytest.approx(((measured + plus) ** p + minus) ** (1 / p))
    top = theory.infinite_push_bound(y, scores, theta, 0.0, delta=0.1)
    assert top.miss_rate == pytest.approx((below <= scores[~y].max()).mean() + plus)
    assert (1 - top.false_positive_rate) ** 25 == pytest.approx(0.1 / 2)
    first = np.lexsort((y, -(scores - theta * y)))[:10]  # tied negatives first
    found = theory.precision_at_k_bound(y, scores, 10, theta, 0.0, delta=0.1)
    assert found == pytest.approx(y[first].mean() - 2 * 40 / 10 * math.sqrt(math.log(2 / 0.1) / (2 * 40)))


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda y, s: theory.margin_ranking_bound(y, s, 0.0, 1.0), "theta must be finite and > 0"),
        (lambda y, s: theory.margin_ranking_bound(y, s, 1.0, -1.0), "log_covering_number must be"),
        (lambda y, s: theory.margin_ranking_bound(y, s, 1.0, np.nan), "log_covering_number must be"),
        (lambda y, s: theory.margin_ranking_bound(y, s, 1.0, 1.0, delta=1.0), "delta must be > 0 and < 1"),
        (lambda y, s: theory.p_norm_push_bound(y, s, 0.5, 1.0, 1.0), "p must be"),
        (lambda y, s: theory.precision_at_k_bound(y, s, 9, 1.0, 1.0), "k=9 must lie"),
        (lambda y, s: theory.infinite_push_bound(y[:1], s[:1], 1.0, 1.0), "exactly 2 classes"),
        (lambda *_: theory.sample_size(1.0, 1.0, 1.0), "epsilon must be > 0 and < 1"),
        (lambda *_: theory.sample_size(0.5, 0.0, 1.0), "p must be"),
        (lambda *_: theory.sample_size(0.5, 1.0, np.inf), "log_covering_number must be finite"),
        (lambda *_: theory.sample_size(0.1, 1000.0, 1.0), "about 1e2... rows, more than a float"),
        (lambda *_: theory.log_covering_number(0, 1.0, 1.0), "n_features must be"),
        (lambda *_: theory.log_covering_number(1, -1.0, 1.0), "radius must be"),
    ],
)
def test_bad_arguments(call, message):
    with pytest.raises(ValueError, match=message):
        call([0, 1, 0], [0.0, 1.0, 2.0])


def test_a_fraction_is_no_number_of_rows():
    with pytest.raises(TypeError, match="k must be an integer"):
        theory.precision_at_k_bound([0, 1, 0], [0.0, 1.0, 2.0], 0.5, 1.0, 1.0)


def test_the_example_of_one_dimension_simulates_its_exact_values():
    path = Path(__file__).parents[2] / "examples" / "pictures" / "plot_7_one_dimension.py"
    simulated = runpy.run_path(str(path))["simulated"]
    m, epsilon, n_draws = 50, 0.01, 2000
    inside, of_them, increasing = simulated(m, epsilon, n_draws, np.random.default_rng(m))
    assert of_them == 1.0
    for known, found in (((1 - epsilon) ** m, inside), ((1 - epsilon / 2) ** m, increasing)):
        assert abs(found - known) < 4 * math.sqrt(known * (1 - known) / n_draws)


@pytest.mark.nightly
@pytest.mark.parametrize("name", SIMULATIONS)
def test_bounds_fail_no_more_often_than_they_say(name):
    """The share of draws in which the bound fails is at most delta."""
    found = simulate(name, n_draws=200, delta=0.2, random_state=1)
    allowed = 0.2 + norm.ppf(0.999) * math.sqrt(0.2 * 0.8 / 200)
    assert found.failures / found.n_draws <= (0.0 if found.is_certain else allowed)
    if name.partition(",")[0] in theory.__all__:  # the tighter bounds are below 1 for so few rows
        assert found.allowed < 0.2


MARGIN_THEOREM = partial(rudin_2005.theorem_1, theta=1.0, log_covering_number=0.0)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda y, s: rudin_2009.theorem_1(y, s, LogOnePlus()), "theorem 1 is of sums of convex prices"),
        (lambda y, s: rudin_2009.theorem_1(y, s, loss="logistic"), r"Logistic\(\) is 0.693 at the margin"),
        (
            lambda y, s: rudin_2009.theorems_2_and_3(y, s, 1, 1.0, lambda _: -1.0),
            "log_covering_number must be",
        ),
        (lambda y, s: rudin_2009.theorems_2_and_3(y, s, 1, 1.0, 1.0, least_error=2.0), "least_error must be"),
        (lambda *_: rudin_2009.theorem_2_sample_size(0.1, 500.0, 1.0, 1.0), "more than a float"),
        (lambda y, s: MARGIN_THEOREM(s, y, pair_probability=0.7), "pair_probability must be"),
        (lambda _, s: MARGIN_THEOREM(s, pairs=([0, 1], [1, 0])), "in both directions"),
        (lambda _, s: MARGIN_THEOREM(s, pairs=([0], [1], [2.0])), "without weight"),
        (lambda y, s: MARGIN_THEOREM([*s[:2], np.nan], y), "scores contains NaN"),
        (lambda *_: rudin_2005.smooth_margin_progress(0.5, 0.4, 1.0), "edge must be"),
        # the round is RankBoost's, which at g = -.5, r = .5 and no ties gains .418 and not .549
        (lambda *_: rudin_2005.smooth_margin_progress(-0.5, 0.5, 1.0), "smooth_margin must be >= 0"),
        (lambda y, s: agarwal_2011.theorem_5_1(y, s, 1.0, 0.0, lambda _: 2.0), "light_top must be"),
        (
            lambda *_: kar_2015.theorems_7_and_9([1.0], [([[1.0]], [1])], 1),
            "no batch has rows of both classes",
        ),
        (
            lambda *_: kar_2015.corollaries_8_and_10([1.0], [([[1.0], [0.0], [2.0]], [1, 0])], 1),
            "inconsistent",
        ),
        (
            lambda *_: kar_2015.corollaries_8_and_10([np.nan], [([[1.0], [0.0]], [1, 0])], 1),
            "coef contains NaN",
        ),
        (lambda *_: kar_2015.theorem_12(10, 0.0, 0.5), "kappa must be"),
        (lambda *_: kar_2015.theorems_7_and_9([1.0], [], 1, variant="ramp"), "variant must be one of"),
    ],
)
def test_bad_arguments_of_theorems(call, message):
    with pytest.raises(ValueError, match=message):
        call([0, 1, 0], [0.0, 1.0, 2.0])
