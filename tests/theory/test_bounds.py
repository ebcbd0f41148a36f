"""Bounds are the formulas they state, and reject what has no meaning; simulations are nightly."""

from __future__ import annotations

import math
import runpy
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pushrank import theory


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


@pytest.mark.parametrize("p", [1.0, 2.0, 6.0])
@pytest.mark.parametrize("epsilon", [0.1, 0.5])
def test_the_sample_size_is_enough_and_no_more(epsilon, p):
    n_positives, n_negatives = theory.sample_size(epsilon, p, 30.0)

    def excess(n_positives, n_negatives):
        room = 30.0 + math.log(2 / 0.05)
        return math.sqrt(room / (2 * n_positives)) + math.sqrt(room / (2 * n_negatives)) ** (1 / p)

    assert excess(n_positives, n_negatives) <= epsilon * (1 + 1e-9)
    assert excess(0.98 * n_positives, 0.98 * n_negatives) > epsilon
    for share in (0.2, 0.5, 0.8):  # no other division of epsilon asks for fewer rows
        room = 0.5 * (30.0 + math.log(2 / 0.05))
        total = room / (share * epsilon) ** 2 + room / ((1 - share) * epsilon) ** (2 * p)
        assert n_positives + n_negatives <= total + 2


def test_the_cover_covers():
    """A grid of the disc that covers it at the scale has no more points than the bound."""
    radius, scale = 1.0, 0.5
    bound = math.exp(theory.log_covering_number(2, radius, scale))
    step = scale * math.sqrt(2)  # each square of a grid lies within the scale of its centre
    cells = np.arange(-radius, radius, step) + step / 2
    centres = [(a, b) for a in cells for b in cells if math.hypot(max(abs(a) - step / 2, 0), max(abs(b) - step / 2, 0)) <= radius]  # fmt: skip  # noqa: E501
    assert len(centres) <= bound
    assert theory.log_covering_number(7, 1.0, 2.0) == 0.0


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
