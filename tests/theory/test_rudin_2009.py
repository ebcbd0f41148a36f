"""Theorems of Rudin (2009): the chances that they state come out as asked for, and their sizes of samples."""

import math
from functools import partial

import numpy as np
import pytest

from pushrank import losses, metrics, theory
from pushrank.objectives import PushObjective
from pushrank.prices import Power
from pushrank.theory import rudin_2009
from samples import shifted_scores

pytestmark = pytest.mark.fast

COVER = partial(theory.log_covering_number, 3, 1.0)


@pytest.mark.parametrize("p", [1, 2, 16])
@pytest.mark.parametrize("least_error", [0.0, 0.3])
@pytest.mark.parametrize("cover", [7.0, COVER])
def test_the_excess_of_rudins_theorems_has_the_chance_that_was_asked_for(p, least_error, cover):
    y, scores = shifted_scores()
    found = rudin_2009.theorems_2_and_3(y, scores, p, 0.5, cover, least_error=least_error, delta=0.1)
    e = found.excess
    rate = max((e / 4) ** (2 * p), (e / 4) ** 2 * least_error ** (2 * (p - 1)))
    chance = math.exp(-2 * 80 * rate) + math.exp(-60 * e**2 / 8 + math.log(80))
    log_cover = cover(e * 0.5 / 8) if callable(cover) else cover
    assert 2 * math.exp(log_cover) * chance == pytest.approx(0.1, rel=1e-6)
    assert found.training_error == metrics.margin_error(y, scores, 0.5, p)
    assert found.bound == found.training_error + e
    own = theory.p_norm_push_bound(y, scores, p, 0.5, 7.0, delta=0.1)
    assert (
        own
        <= found.training_error + 0.5 * rudin_2009.theorems_2_and_3(y, scores, p, 0.5, 7.0, delta=0.1).excess
    )


@pytest.mark.parametrize("p", [1, 2, 4])
def test_theorem_3_is_lemma_9_over_the_cover_and_may_stop_at_its_least_error(p):
    y, scores = shifted_scores()
    errors = [0.2, 0.35, 0.6]  # of three functions, which are the class and its cover
    found = rudin_2009.theorems_2_and_3(
        y, scores, p, 0.5, math.log(3), least_error=min(errors), delta=0.1
    ).excess
    of_least = 3 * rudin_2009.lemma_9(found / 2, 60, 80, p, true_error=min(errors))
    assert of_least == pytest.approx(0.1, rel=1e-9)
    each = sum(rudin_2009.lemma_9(found / 2, 60, 80, p, true_error=error) for error in errors)
    assert each <= of_least
    printed = 2 * math.exp(-2 * 80 * max((0.3**2 / 4) * 0.2 ** (2 * (p - 1)), 0.15 ** (2 * p)))
    printed += 2 * math.exp(-60 * 0.3**2 / 2 + math.log(80))
    assert rudin_2009.lemma_9(0.3, 60, 80, p, true_error=0.2) == pytest.approx(printed)


def test_lemma_9_holds_of_one_function():
    """Smoothed errors of normal scores: none of the draws may exceed more often than the lemma says."""
    rng, p, theta, n = np.random.default_rng(0), 2, 0.5, 400

    def smoothed(s, t):
        phi = np.clip(1 - np.subtract.outer(s, t) / theta, 0, 1)
        return np.mean(phi.mean(axis=0) ** p) ** (1 / p)

    truth = smoothed(rng.normal(size=4000) + 1, rng.normal(size=4000))
    draws = np.array([truth - smoothed(rng.normal(size=n) + 1, rng.normal(size=n)) for _ in range(200)])
    for epsilon in (0.02, 0.1, 0.3, 0.35, 0.45):
        allowed = rudin_2009.lemma_9(epsilon, n, n, p, true_error=0.9 * truth)
        assert (draws >= epsilon).mean() <= allowed
    assert allowed < 0.2


@pytest.mark.parametrize("p", [1.5, 4, 16])
def test_figure_8_bounds_a_difference_of_roots(p):
    """By which the proof of theorem 2 takes the p-th root: the three curves of the figure, in order."""
    b = np.linspace(0, 1, 201)
    for a in (0.05, 0.4, 1.0):
        lower, upper = np.abs(a ** (1 / p) - b ** (1 / p)), np.abs(a - b) ** (1 / p)
        middle = np.minimum(np.abs(a - b) * a ** (1 / p - 1), upper)
        assert (lower <= middle + 1e-12).all()
        assert (middle <= upper).all()


def test_a_finer_cover_is_asked_for_where_the_excess_is_smaller():
    """The cover is evaluated at the scale of the excess; one at theta / 4 alone would not suffice."""
    asked = []
    y, scores = shifted_scores()
    rudin_2009.theorems_2_and_3(y, scores, 1, 0.5, lambda scale: asked.append(scale) or COVER(scale))
    found = rudin_2009.theorems_2_and_3(y, scores, 1, 0.5, COVER).excess
    assert min(abs(scale - found * 0.5 / 8) for scale in asked) < 1e-9
    own = theory.p_norm_push_bound(y, scores, 1, 0.5, COVER)
    assert own == theory.p_norm_push_bound(y, scores, 1, 0.5, COVER(0.5 / 4))


def test_what_no_cover_and_no_power_of_a_float_bounds_is_infinite():
    """An infinite covering number at a fine scale is no error, nor is a power above the largest float."""
    y, scores = shifted_scores()
    coarse = rudin_2009.theorems_2_and_3(y, scores, 1, 0.5, 7.0)
    cover = lambda scale: 7.0 if scale > 0.9 * coarse.excess * 0.5 / 8 else math.inf  # noqa: E731
    assert rudin_2009.theorems_2_and_3(y, scores, 1, 0.5, cover).excess == pytest.approx(coarse.excess)
    assert theory.p_norm_push_bound(y, scores, 4, 0.5, lambda _: math.inf) == math.inf
    few = rudin_2009.theorems_2_and_3(y[58:62], scores[58:62], 1000, 0.5, 20.0)
    assert 4.0 < few.excess < rudin_2009.theorems_2_and_3(y[58:62], scores[58:62], 1, 0.5, 20.0).excess * 1.01


@pytest.mark.parametrize(("p", "epsilon"), [(1, 0.2), (2, 0.5)])
def test_the_sample_size_of_theorem_2_is_enough(p, epsilon):
    sizes = rudin_2009.theorem_2_sample_size(epsilon, p, 0.5, COVER)
    y, scores = shifted_scores(*sizes)
    assert 0.95 * epsilon < rudin_2009.theorems_2_and_3(y, scores, p, 0.5, COVER).excess <= epsilon
    assert sum(theory.sample_size(epsilon, p, COVER(0.5 / 4))) < sum(sizes)


@pytest.mark.parametrize("price", [Power(1), Power(3.0), "exponential_price", "maximum"])
def test_theorem_1_of_rudin_for_any_convex_price(price):
    for seed in range(20):
        y, scores = shifted_scores(6, 9, seed)
        found = rudin_2009.theorem_1(y, scores.round(1), price, "hinge")
        assert found.lower * (1 - 1e-12) <= found.error <= found.upper * (1 + 1e-12)
        assert found.error <= found.surrogate_error


def test_the_minimiser_is_unique_where_differences_have_full_rank():
    """The objective is constant along the directions that are orthogonal to all differences of rows."""
    rng = np.random.default_rng(0)
    y, X = np.arange(12) < 5, rng.normal(size=(12, 3))
    flat = X @ np.array([[1.0, 0.0, 1.0], [0.0, 1.0, 1.0], [0.0, 0.0, 0.0]]) + 5.0
    objective = PushObjective(price=Power(2))
    assert rudin_2009.has_unique_minimiser(X)
    assert not rudin_2009.has_unique_minimiser(flat)
    assert rudin_2009.has_unique_minimiser(flat, alpha=0.1)
    assert not rudin_2009.has_unique_minimiser(X[:3])  # differences of three rows span a plane
    assert rudin_2009.has_unique_minimiser(X * [1e9, 1.0, 1e-9])  # whatever the features' units
    assert not rudin_2009.has_unique_minimiser(flat * [1e9, 1.0, 1e-9])
    assert not rudin_2009.has_unique_minimiser(np.column_stack([X, np.full(12, 0.1)]))
    w, along = rng.normal(size=3), np.array([1.0, 1.0, -1.0])
    assert objective.value(y, flat @ (w + along)) == pytest.approx(objective.value(y, flat @ w))
    values = [objective.value(y, X @ (w + step * along)) for step in (-1.0, 0.0, 1.0)]
    assert values[0] + values[2] > 2 * values[1]


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


@pytest.mark.parametrize("p", [1.0, 2.0, 4.5])
def test_the_ramp_gives_the_error_of_section_10(p):
    """R_{p,phi} lies between the errors without and with the margin theta."""
    rng = np.random.default_rng(0)
    for theta in (0.1, 0.5, 2.0):
        y, scores = np.append([True, False], rng.random(28) < 0.4), np.round(rng.normal(size=30), 1)
        margins = scores[y][:, None] - scores[~y]
        phi = np.where(margins <= 0, 1.0, np.where(margins >= theta, 0.0, 1 - margins / theta))
        expected = np.mean(phi.mean(axis=0) ** p) ** (1 / p)
        total = PushObjective(losses.Ramp(theta), Power(p)).value(y, scores)
        found = (total / np.sum(~y)) ** (1 / p) / np.sum(y)
        assert found == pytest.approx(expected, rel=1e-12)
        without, within = (metrics.margin_error(y, scores, margin, p) for margin in (0.0, theta))
        assert without <= found * (1 + 1e-12)
        assert found <= within * (1 + 1e-12)
