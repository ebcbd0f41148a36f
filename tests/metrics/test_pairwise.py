"""Heights, p-norm errors and margins."""

import math

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from oracle import TIED_ERROR, pair_errors
from pushrank import metrics
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
