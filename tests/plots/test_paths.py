"""The path of a fit is drawn as the fit kept it."""

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from pushrank import PNormPush, SmoothMarginRanking, plots

pytestmark = pytest.mark.fast


def test_paths_of_fits(cancer):
    X, y = cancer
    pipeline = make_pipeline(StandardScaler(), PNormPush()).fit(X, y)
    path = plots.TrainingPathDisplay.from_estimator(pipeline, plot_kwargs={"above": 0.0})
    np.testing.assert_array_equal(path.path, pipeline[-1].objective_path_)
    plain = plots.TrainingPathDisplay.from_estimator(pipeline)
    np.testing.assert_array_equal(plain.line_.get_ydata(), path.path)
    with pytest.raises(TypeError, match="keeps no objective_path_"):
        plots.TrainingPathDisplay.from_estimator(LogisticRegression().fit(X, y))
    margin = SmoothMarginRanking(n_estimators=50).fit([[0.0], [1.0]], [0, 1])
    display = plots.TrainingPathDisplay.from_estimator(margin, quantity="smooth_margin", bound=1.0)
    np.testing.assert_array_equal(display.path, margin.smooth_margin_path_)
    assert display.margin == margin.margin_
    with pytest.raises(TypeError, match="keeps no smooth_margin_path_"):
        plots.TrainingPathDisplay.from_estimator(pipeline, quantity="smooth_margin")
    with pytest.raises(ValueError, match="above is for an objective"):
        display.plot(above=0.0)
    with pytest.raises(ValueError, match="quantity must be one of"):
        plots.TrainingPathDisplay.compute(pipeline, quantity="loss")
