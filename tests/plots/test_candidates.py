"""The candidates of a search are drawn with the one that was chosen."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression

from pushrank import PushBoostCV, plots

pytestmark = pytest.mark.fast


def test_candidates_of_a_search(cancer):
    X, y = cancer
    options = {"ps": (1.0, 4.0), "learning_rates": [1.0], "n_estimators": [3], "cv": 3}
    ranker = PushBoostCV(20, **options).fit(X, y)
    display = plots.CandidatesDisplay.from_estimator(ranker)
    assert display.labels == ["p = 1", "p = 4"]
    assert display.labels[display.chosen] == f"p = {ranker.best_params_['p']:g}"
    np.testing.assert_array_equal(display.precision, [one["precision"] for one in ranker.candidates_])
    points = display.container_.lines[0]
    np.testing.assert_array_equal(points.get_xdata(), display.precision)
    assert [tick.get_text() for tick in display.ax_.get_yticklabels()] == display.labels
    with pytest.raises(TypeError, match="LogisticRegression has no candidates_"):
        plots.CandidatesDisplay.from_estimator(LogisticRegression().fit(X[:50], y[:50]))
