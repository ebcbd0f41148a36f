"""Discounts of a push are the heights of the negatives to its power."""

import numpy as np
import pytest
from hypothesis import given

from pushrank import plots
from strategies import scores_and_labels

pytestmark = pytest.mark.fast


@given(scores_and_labels(distinct=True))
def test_discounts_are_heights_to_the_power_p(data):
    y, scores = data
    display = plots.DiscountDisplay.compute(y, scores, p=[1, 3])
    ordered = y[np.argsort(-scores)]
    for place, rank in enumerate(display.ranks):
        height = ordered[rank - 1 :].sum() / y.sum()
        assert display.weights["push, p = 1"][place] == pytest.approx(height)
        assert display.weights["push, p = 3"][place] == pytest.approx(height**3)
    for weights in display.weights.values():
        assert weights[0] == 1.0
    of_ir = display.weights["IR Push, -log(1 + rank)"]
    steps = -np.diff(np.log1p(display.ranks))
    np.testing.assert_allclose(np.diff(of_ir), steps / np.log((1 + len(y)) / 2), atol=1e-12)
    assert of_ir[-1] == pytest.approx(0.0, abs=1e-12)
