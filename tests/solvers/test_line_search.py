"""The exact step along a line: right for every convex function, however steep, flat or unbounded."""

from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pushrank.solvers.line_search import armijo_step, exact_step
from pushrank.solvers.tolerances import MAX_TRIALS


def counting(slope):
    calls = []

    def counted(x):
        calls.append(x)
        return slope(x)

    return counted, calls


@given(minimum=st.floats(-1e9, 1e9), bend=st.floats(1e-12, 1e12))
def test_a_parabola_takes_one_newton_step(minimum, bend):
    slope, calls = counting(lambda x: (bend * (x - minimum), bend))
    assert exact_step(slope, np.inf) == pytest.approx(minimum, rel=1e-9, abs=1e-12)
    assert len(calls) <= 4


@given(minimum=st.floats(-50, 50), steepness=st.floats(1e-3, 1e3), knows_bend=st.booleans())
def test_log_cosh_is_minimised_from_afar(minimum, steepness, knows_bend):
    # far from the minimum the curvature underflows: a plain Newton step would fly off
    def slope(x):
        t = np.tanh(steepness * (x - minimum))
        return t, steepness * (1 - t * t) if knows_bend else 0.0

    counted, calls = counting(slope)
    step = exact_step(counted, np.inf)
    assert step == pytest.approx(minimum, rel=1e-6, abs=1e-6 / steepness)
    assert len(calls) <= MAX_TRIALS + 1


@given(st.floats(1e-6, 1e6), st.sampled_from([-1.0, 1.0]))
def test_an_endless_descent_stops_at_the_longest_step(longest, sign):
    assert exact_step(lambda _: (-sign, 0.0), longest) == sign * longest
    # decays without reaching zero, as the objective of a column that separates
    assert exact_step(lambda x: (-sign * (1 + np.exp(-abs(x))), np.exp(-abs(x))), longest) == sign * longest


def test_an_endless_descent_without_a_limit_ends_too():
    step = exact_step(lambda x: (-np.exp(-x), np.exp(-x)), 1e6)
    assert np.isfinite(step)
    assert step > 20


@given(st.floats(-20, 20), st.floats(0.1, 100))
def test_a_kink_is_bracketed(where, slope_size):
    def slope(x):
        return slope_size * np.sign(x - where), 0.0

    step = exact_step(slope, 1e3)
    assert abs(step - where) <= 1e-9 * max(1.0, abs(where))


@pytest.mark.parametrize("bend_at_start", [1e-3, 1e-6, 1e-10])
def test_an_overshoot_by_many_powers_of_ten_is_taken_back(bend_at_start):
    # nearly straight at the start, so that Newton's first step is 1 / bend_at_start, then a wall at 3
    def slope(x):
        wall = np.exp(min(max(x - 3.0, 0.0), 700.0)) - 1.0
        return -1.0 + bend_at_start * x + wall, bend_at_start + (wall + 1.0 if x > 3.0 else 0.0)

    assert exact_step(slope, np.inf) == pytest.approx(3.0 + np.log(2.0), rel=1e-2)
    at = exact_step(slope, np.inf)
    assert abs(slope(at)[0]) <= 1e-9


def test_the_start_may_be_the_minimum():
    slope, calls = counting(lambda x: (x, 1.0))
    assert exact_step(slope, 5.0) == 0.0
    assert len(calls) == 1


@pytest.mark.parametrize(
    ("slope", "longest", "expected"),
    [
        (lambda x: (2 * (x + 7.0), 2.0), np.inf, -7.0),
        (lambda x: (np.tanh(x - 3), 1 - np.tanh(x - 3) ** 2), np.inf, 3.0),  # Newton overshoots from 0
        (lambda x: (np.exp(min(x, 700)) - 1e6, np.exp(min(x, 700))), 1e9, np.log(1e6)),
        (lambda x: (x - 1e8, 1.0), np.inf, 1e8),
        (lambda x: (x**3 - 8.0, 3 * x**2), 100.0, 2.0),  # no bend at the start
        (lambda x: (x - 2.0, 0.0), 10.0, 2.0),  # no second derivative at all
        (lambda x: (x - 2.0, 0.0), np.inf, 2.0),
        (lambda _: (1.0, 0.0), 5.0, -5.0),
        (lambda _: (0.0, 0.0), 5.0, 0.0),
    ],
)
def test_exact_step(slope, longest, expected):
    assert exact_step(slope, longest) == pytest.approx(expected, rel=1e-9)


@given(st.floats(1e-3, 1e5), st.floats(0.0, 1e-9))
def test_backtracking_halves_until_it_descends(curvature, rounding):
    def parabola(step):
        return SimpleNamespace(value=0.5 * curvature * step**2 - step, step=step)

    step, point = armijo_step(parabola, 0.0, -1.0, rounding)
    assert point == parabola(step)
    assert point.value <= -1e-4 * step + rounding
    assert step == 1.0 or parabola(2.0 * step).value > -2e-4 * step + rounding


def test_backtracking_gives_up_where_nothing_descends():
    assert armijo_step(lambda step: SimpleNamespace(value=step), 0.0, -1.0) is None
