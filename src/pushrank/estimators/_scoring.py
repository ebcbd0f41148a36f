"""Scorers of parts of the training data, which ask a ranker in the middle of its training."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.metrics import check_scoring

from pushrank._log_space import Floats
from pushrank.estimators._base import BaseRanker
from pushrank.metrics import scorers


class PartScorer:
    """A scorer of a part of the rows, at any scores that a ranker gives them.

    Parameters
    ----------
    scoring : str, callable or None
        The name of a scorer of ours, or else what scikit-learn takes.
    classes : ndarray or None
        The classes or grades.
    labels : ndarray of shape (n_rows,)
        The rows' own.
    weights : ndarray of shape (n_rows,) or None
        Their weights.

    Raises
    ------
    ValueError
        When the scorer is not known.
    """

    def __init__(
        self, scoring: Any, classes: NDArray[Any] | None, labels: NDArray[Any], weights: Floats | None
    ) -> None:
        self._scoring, self._stage = scoring, Stage(classes)
        if isinstance(scoring, str) and scoring in scorers.__all__:
            self._scorer = getattr(scorers, scoring)
        else:
            self._scorer = check_scoring(self._stage, scoring=scoring)
        self._labels = labels
        self._options = {} if weights is None else {"sample_weight": weights}

    def score(self, X: Any, scores: Floats, thresholds: Floats) -> float:
        """Return how good scores of the rows ``X`` are, the higher the better; classes part at thresholds.

        Raises
        ------
        TypeError
            When there are weights and the scorer takes none.
        ValueError
            When the scorer asks for probabilities, or returns what could not be compared: not a number.
        """
        self._stage.move_to(scores, thresholds)
        try:
            found = float(self._scorer(self._stage, X, self._labels, **self._options))
        except AttributeError as error:
            raise ValueError(
                f"scoring={self._scoring!r} asks for what rankers do not have, such as probabilities; use a "
                "scorer of decision_function or predict, such as 'average_precision'."
            ) from error
        if math.isnan(found):
            raise ValueError(
                "scoring gave nan on a part of the rows; use a scorer that is defined on every part, or "
                "larger parts: fewer folds, a larger validation_fraction."
            )
        return found


class Stage(BaseRanker):
    """The scores of some rows in the middle of a training, for scorers that ask an estimator.

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
        """Take other scores."""
        self.scores, self.thresholds_, self.threshold_ = scores, thresholds, float(thresholds[0])

    def fit(self, X: Any, y: Any) -> Stage:  # noqa: ARG002
        """Do nothing: others fit."""
        return self

    def decision_function(self, X: Any) -> NDArray[np.floating]:  # noqa: ARG002
        """Return the scores, whatever is passed."""
        return self.scores - self.threshold_
