"""Decision curves: their points, their intervals, and what is no probability."""

import numpy as np
import pytest
from matplotlib import pyplot
from sklearn.linear_model import LogisticRegression

from pushrank import PNormPush, metrics, plots

pytestmark = pytest.mark.fast


def test_a_decision_curve_and_its_interval_are_those_of_a_mean():
    rng = np.random.default_rng(0)
    chance = np.round(rng.random(500), 2)
    y = rng.random(500) < chance**2
    display = plots.DecisionCurveDisplay.compute(y, chance, confidence_level=0.9)
    for number, threshold in enumerate(display.threshold):
        worth = np.array([0.0 if c < threshold else 1.0 if hit else -threshold / (1 - threshold)
                          for c, hit in zip(chance, y, strict=True)])  # fmt: skip
        assert display.net_benefit[number] == pytest.approx(worth.mean())
        assert metrics.net_benefit(y, chance, threshold=threshold) == pytest.approx(worth.mean())
        reach = 1.6448536 * worth.std() / np.sqrt(500)
        assert display.high[number] - display.net_benefit[number] == pytest.approx(reach)
        everywhere = np.where(y, 1.0, -threshold / (1 - threshold)).mean()
        assert display.of_all[number] == pytest.approx(everywhere)


def test_a_decision_curve_covers_what_it_estimates():
    rng, inside = np.random.default_rng(1), np.zeros(3)
    chance = rng.random(200_000) ** 3
    thresholds = np.array([0.1, 0.2, 0.4])
    true = np.array([np.mean((chance >= t) * (chance - (1 - chance) * t / (1 - t))) for t in thresholds])
    for _ in range(400):
        some = rng.choice(chance, 400)
        found = plots.DecisionCurveDisplay.compute(rng.random(400) < some, some, thresholds=thresholds)
        inside += (found.low <= true) & (true <= found.high)
    assert (inside / 400 >= 0.95 - 2.5 * np.sqrt(0.95 * 0.05 / 400)).all()


def test_decision_curves_of_models_and_what_is_no_probability(cancer):
    X, y = cancer
    display = plots.DecisionCurveDisplay.from_estimator(LogisticRegression(max_iter=5000).fit(X, y), X, y)
    display = plots.DecisionCurveDisplay.from_predictions(
        y, np.full(len(y), y.mean()), ax=display.ax_, name="all"
    )
    assert [text.get_text() for text in display.ax_.get_legend().get_texts()] == [
        "LogisticRegression", "all", "acting on all rows; on none"]  # fmt: skip
    display.figure_.canvas.draw()
    pyplot.close("all")
    with pytest.raises(TypeError, match="predict_proba"):
        plots.DecisionCurveDisplay.from_estimator(PNormPush().fit(X, y), X, y)
    with pytest.raises(ValueError, match=r"probabilities.*found the score 7"):
        plots.DecisionCurveDisplay.compute(y, np.full(len(y), 7.0))
    with pytest.raises(ValueError, match="at least one chance"):
        plots.DecisionCurveDisplay.compute(y, np.full(len(y), 0.5), thresholds=[])
    with pytest.raises(ValueError, match="thresholds must be > 0"):
        plots.DecisionCurveDisplay.compute(y, np.full(len(y), 0.5), thresholds=[0.0, 0.5])
    with pytest.raises(ValueError, match="probabilities"):
        metrics.net_benefit(y, y - 0.5)
    with pytest.raises(ValueError, match="threshold must be"):
        metrics.net_benefit(y, y, threshold=1.0)
