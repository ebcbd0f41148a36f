"""Heights, p-norm errors and margins."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from oracle import TIED_ERROR, pair_errors
from pushrank import metrics, prices
from strategies import LISTS

RULES = st.sampled_from(sorted(TIED_ERROR))


@given(ties=RULES, case=LISTS)
def test_heights_are_sums_of_the_errors_of_pairs(ties, case):
    y, scores, w = case
    errors = pair_errors(y, scores, ties)
    options = {"ties": ties, "sample_weight": w}
    np.testing.assert_allclose(metrics.height(y, scores, **options), w[y] @ errors)
    np.testing.assert_allclose(metrics.reverse_height(y, scores, **options), errors @ w[~y])


@given(case=LISTS)
def test_the_smooth_margin_is_below_the_margin(case):
    y, scores, _ = case
    assert metrics.smooth_margin(y, scores) <= metrics.margin(y, scores) + 1e-12


def test_large_powers_stay_finite_on_the_log_scale():
    rng = np.random.default_rng(1)
    y, scores = rng.random(5000) < 0.3, rng.normal(size=5000)
    assert metrics.rp_error(y, scores, 1000) == np.inf
    log = metrics.rp_error(y, scores, 1000, scale="log")
    worst = metrics.r_max(y, scores)
    assert math.log(worst) <= log <= math.log(worst) + math.log(5000) / 1000
    assert metrics.rp_error([0, 1], [0.0, 1.0], 8, scale="log") == -np.inf


@pytest.mark.parametrize("price", [prices.Power(4.0), prices.LogOnePlus(), prices.Identity()])
@pytest.mark.parametrize("error", [metrics.rg_error, metrics.rank_error])
def test_a_price_of_the_library_is_taken_as_its_function_is(price, error):
    y, scores = [1, 0, 1, 1, 0], [5.0, 4.0, 3.0, 2.0, 1.0]
    assert error(y, scores, price) == error(y, scores, price.value)
    scorer = metrics.make_top_scorer("rg_error", price=price)
    assert scorer._kwargs == {"price": price}
    for none in ("power", 4.0):
        with pytest.raises(TypeError, match="price must be a price or a function of an array"):
            error(y, scores, none)
