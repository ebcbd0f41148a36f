"""Bounds hold on data drawn again and again, are the formulas they state, and reject what has no meaning."""

from __future__ import annotations

import math
import runpy
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pushrank import theory

ANGLES = np.linspace(0.0, np.pi / 2, 9)
DIRECTIONS = np.stack([np.cos(ANGLES), np.sin(ANGLES)])  # a finite class: nine linear scores
LOG_COUNT = math.log(len(ANGLES))
THETA = 0.1
SHIFT = np.array([2.0, 1.0])


def draw(rng, n_positive, n_negative):
    X = rng.normal(size=(n_positive + n_negative, 2))
    X[:n_positive] += SHIFT
    return X, np.repeat([True, False], [n_positive, n_negative])


@pytest.fixture(scope="module")
def population():
    """Return the scores of many new rows under each function, of positives and of negatives."""
    X, y = draw(np.random.default_rng(0), 20_000, 20_000)
    scores = X @ DIRECTIONS
    return [np.sort(scores[mask], axis=0) for mask in (y, ~y)]


def heights(population, j):
    """Return the share of positives at or below each negative."""
    positives, negatives = (scores[:, j] for scores in population)
    return np.searchsorted(positives, negatives, side="right") / len(positives)


def how_often_all_hold(holds, n_draws=60, n_positive=300, n_negative=500):
    """Return the share of training sets on which a bound holds for every function at once."""
    rng = np.random.default_rng(1)
    kept = 0
    for _ in range(n_draws):
        X, y = draw(rng, n_positive, n_negative)
        kept += all(holds(j, y, X @ DIRECTIONS[:, j]) for j in range(len(ANGLES)))
    return kept / n_draws


def test_the_margin_bound_holds_and_says_something(population):
    truths = [heights(population, j).mean() for j in range(len(ANGLES))]
    bounds = []

    def holds(j, y, scores):
        bounds.append(theory.margin_ranking_bound(y, scores, THETA, LOG_COUNT, delta=0.2))
        return bounds[-1] >= truths[j]

    assert how_often_all_hold(holds) >= 0.8
    assert min(bounds) < 0.25


@pytest.mark.parametrize("p", [1.0, 3.0, 16.0])
def test_the_p_norm_bound_holds_and_says_something(population, p):
    truths = [np.mean(heights(population, j) ** p) ** (1 / p) for j in range(len(ANGLES))]
    bounds = []

    def holds(j, y, scores):
        bounds.append(theory.p_norm_push_bound(y, scores, p, THETA, LOG_COUNT, delta=0.2))
        return bounds[-1] >= truths[j]

    assert how_often_all_hold(holds, n_draws=20) >= 0.8
    assert min(bounds) < 1.0


def test_the_bounds_of_the_absolute_top_hold(population):
    def holds(j, y, scores):
        threshold, false_positives, misses = theory.infinite_push_bound(
            y, scores, THETA, LOG_COUNT, delta=0.2
        )
        positives, negatives = (rows[:, j] for rows in population)
        return (negatives > threshold).mean() <= false_positives and (positives <= threshold).mean() <= misses

    assert how_often_all_hold(holds) >= 0.8


def test_the_precision_bound_holds_and_says_something(population):
    """The population's share of positives is the training rows' own: 3 of 8."""
    truths = []
    for j in range(len(ANGLES)):
        positives, negatives = (rows[:, j] for rows in population)
        weights = np.repeat([3 / 8, 5 / 8], len(positives)) / len(positives)
        order = np.argsort(-np.concatenate([positives, negatives]))
        within = np.cumsum(weights[order]) <= 0.25
        truths.append(weights[order][within][order[within] < len(positives)].sum() / 0.25)
    bounds = []

    def holds(j, y, scores):
        bounds.append(theory.precision_at_k_bound(y, scores, 2000, THETA, LOG_COUNT, delta=0.2))
        return bounds[-1] <= truths[j]

    assert how_often_all_hold(holds, 20, 3000, 5000) >= 0.8
    assert max(bounds) > 0.5


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
    """A grid of the disc as fine as the scale needs is no larger than the bound says some cover is."""
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


def test_the_example_of_one_dimension_simulates_what_it_knows():
    path = Path(__file__).parents[2] / "examples" / "one_dimension.py"
    simulated = runpy.run_path(str(path))["simulated"]
    m, epsilon, n_draws = 50, 0.01, 2000
    inside, of_them, increasing = simulated(m, epsilon, n_draws, np.random.default_rng(m))
    assert of_them == 1.0
    for known, found in (((1 - epsilon) ** m, inside), ((1 - epsilon / 2) ** m, increasing)):
        assert abs(found - known) < 4 * math.sqrt(known * (1 - known) / n_draws)
