"""Discounts of a push are the heights of the negatives to its power."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pushrank import plots

pytestmark = pytest.mark.fast


def scores_and_labels(distinct=False):
    score = st.integers(-5, 5)
    rows = st.lists(st.tuples(st.booleans(), score), min_size=2, max_size=40)
    both = rows.filter(lambda found: 0 < sum(y for y, _ in found) < len(found))
    return both.map(
        lambda found: (
            np.array([y for y, _ in found], dtype=int),
            np.random.default_rng(0).permutation(len(found)).astype(float)
            if distinct
            else np.array([s for _, s in found], dtype=float),
        )
    )


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
