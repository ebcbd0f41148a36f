"""A ranker in the middle of its training, for scorers that ask an estimator."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from pushrank._log_space import Floats
from pushrank.estimators._base import BaseRanker


class Stage(BaseRanker):
    """The scores of the validation rows after some round.

    Parameters
    ----------
    classes : ndarray or None
        The classes or grades.
    """

    def __init__(self, classes: NDArray[Any] | None = None) -> None:
        self.classes = classes
        if classes is not None:
            self.classes_ = classes
        self.scores: Floats = np.zeros(0)
        self.threshold_ = 0.0
        self.thresholds_ = np.zeros(1)

    def move_to(self, scores: Floats, thresholds: Floats) -> None:
        """Take the scores after another round."""
        self.scores, self.thresholds_, self.threshold_ = scores, thresholds, float(thresholds[0])

    def fit(self, X: Any, y: Any) -> Stage:  # noqa: ARG002
        """Do nothing: the rounds are what fits."""
        return self

    def decision_function(self, X: Any) -> NDArray[np.floating]:  # noqa: ARG002
        """Return the validation rows' scores, whatever is passed."""
        return self.scores - self.threshold_
