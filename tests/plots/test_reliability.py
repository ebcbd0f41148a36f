"""Reliability at the top: the shares found against what was predicted."""

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression

from pushrank import PNormPush, plots
from pushrank.plots.probabilities import _stretches

pytestmark = pytest.mark.fast


def test_reliability_holds_shares_against_what_was_predicted():
    rng = np.random.default_rng(0)
    chance = rng.random(3000)
    covered = np.zeros(9)
    for _ in range(100):
        y = (rng.random(3000) < chance).astype(int)
        display = plots.TopReliabilityDisplay.compute(y, chance, probabilities=chance)
        covered += (display.low <= display.predicted) & (display.predicted <= display.high)
    assert (covered >= 88).all()  # of 100 intervals that each cover with a chance of 95 % or more
    display = plots.TopReliabilityDisplay.compute(y, chance, probabilities=chance)
    assert display.edges.tolist() == [0, 10, 20, 50, 100, 200, 500, 1000, 2000, 3000]
    order = np.argsort(-chance)
    np.testing.assert_allclose(display.share[1], y[order][10:20].mean())
    np.testing.assert_allclose(display.predicted[1], chance[order][10:20].mean())
    for probabilities, message in ((2 * chance, "between 0 and 1"), (chance[:5], "shape")):
        with pytest.raises(ValueError, match=message):
            plots.TopReliabilityDisplay.compute(y, chance, probabilities=probabilities)


def test_reliability_of_two_models_stands_side_by_side(cancer):
    X, y = cancer
    first = plots.TopReliabilityDisplay.from_estimator(LogisticRegression().fit(X, y), X, y)
    second = plots.TopReliabilityDisplay.from_estimator(PNormPush().fit(X, y), X, y, ax=first.ax_)
    assert first.predicted is not None
    assert second.predicted is None
    of_first, of_second = first.bars_.lines[0], second.bars_.lines[0]
    assert of_first.get_color() != of_second.get_color()
    assert of_first.get_marker() != of_second.get_marker()
    assert (of_first.get_xdata() != of_second.get_xdata()).all()


def test_stretches_end_at_round_numbers():
    assert _stretches(130).tolist() == [0, 10, 20, 50, 100, 130]
