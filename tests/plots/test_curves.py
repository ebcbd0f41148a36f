"""Curves of the top of a list are those of the metrics."""

import numpy as np
import pytest
from hypothesis import given, settings
from sklearn.metrics import roc_curve

from pushrank import metrics, plots
from strategies import scores_and_labels

pytestmark = pytest.mark.fast


@settings(deadline=None)
@given(scores_and_labels())
def test_precision_and_gains_are_those_of_the_metric(data):
    y, scores = data
    display = plots.TopCurveDisplay.compute(y, scores)
    assert display.k.tolist() == list(range(1, len(y) + 1))  # short lists are kept whole
    expected = [metrics.precision_at_k(y, scores, int(k), ties="half") for k in display.k]
    np.testing.assert_allclose(display.precision, expected)
    gains = plots.TopCurveDisplay.compute(y, scores, quantity="recall")
    rows = (gains.fraction * len(y)).round().astype(int)
    np.testing.assert_allclose(gains.recall * y.sum(), (np.array(expected) * display.k)[rows - 1])
    lift = plots.TopCurveDisplay.compute(y, scores, quantity="lift")
    np.testing.assert_allclose(lift.fraction, display.k / len(y))
    np.testing.assert_allclose(lift.lift, [metrics.lift(y, scores, int(k)) for k in display.k])


@settings(deadline=None)
@given(scores_and_labels(distinct=True))
def test_left_edge_is_that_of_scikit_learns_roc_curve(data):
    y, scores = data
    display = plots.RocLeftEdgeDisplay.compute(y, scores)
    fpr, tpr, _ = roc_curve(y, scores, drop_intermediate=False)
    expected = [tpr[fpr <= rate + 1e-12].max() for rate in display.fpr]
    np.testing.assert_allclose(display.tpr, expected)
    top = metrics.positives_at_top(y, scores)
    assert display.tpr[0] * y.sum() == pytest.approx(top)


def test_ties_count_by_their_expectation():
    y, scores = [1, 0, 0, 1], [2.0, 1.0, 1.0, 1.0]
    assert plots.TopCurveDisplay.compute(y, scores).precision.tolist() == [
        1.0,
        pytest.approx((1 + 1 / 3) / 2),
        pytest.approx((1 + 2 / 3) / 3),
        0.5,
    ]
    assert plots.RocLeftEdgeDisplay.compute(y, scores).tpr.tolist() == [0.5, 0.75, 1.0]


def test_promised_hits_are_steps_that_hold_between_the_depths_too():
    rng = np.random.default_rng(0)
    y = rng.random(3000) < 0.1
    scores = rng.normal(size=3000) + 2.0 * y
    found = metrics.guarantee(y, scores, k=150, n_new=2000)
    drawn = plots.GuaranteeDisplay.from_predictions(y, scores, k=150, n_new=2000)
    for line, name in ((drawn.line_, "at least, at 95 %"), (drawn.expected_, "expected")):
        assert line.get_label() == name
    k, hits = drawn.line_.get_data()
    np.testing.assert_array_equal(hits, found.hits_at(k))
    assert {1, 150, 2000} <= set(k)
    assert (np.diff(hits) >= 0).all()  # a step holds up to the next one that is drawn
    np.testing.assert_array_equal(drawn.expected_.get_data(), [found.depth, found.expected_hits])
    labels = [text.get_text() for text in drawn.ax_.get_legend().get_texts()]
    assert labels == ["at least, at 95 %", "expected", "random order"]
    of_one = plots.GuaranteeDisplay(guarantee=metrics.guarantee(y, scores, k=150, together=False), name="one")
    labels = [text.get_text() for text in of_one.plot().ax_.get_legend().get_texts()]
    assert labels == ["one: at least, at 95 %", "one: expected"]
