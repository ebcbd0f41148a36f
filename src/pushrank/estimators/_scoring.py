"""Scorers of parts of the training data, which ask a ranker in the middle of its training."""

from __future__ import annotations

import math
from collections.abc import Callable
from inspect import signature
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn import config_context
from sklearn.metrics import average_precision_score, check_scoring, roc_auc_score
from sklearn.utils.metadata_routing import get_routing_for_object

from pushrank._log_space import Floats
from pushrank.estimators._base import BaseRanker
from pushrank.metrics import scorers
from pushrank.metrics.measured import NUMBER_MEASURES

MEASURES = tuple(NUMBER_MEASURES.values())
OF_TWO_CLASSES = (
    average_precision_score,
    roc_auc_score,
    *(measure for measure in MEASURES if "pos_label" in signature(measure).parameters),
)


class PartScorer:
    """A scorer of a part of the rows, at any scores that a ranker gives them.

    To a measure of two classes the rows of any grade but the lowest are positive. A measure that takes
    ``qid`` measures every query's list, any other all rows as one list.

    Parameters
    ----------
    scoring : str, callable or None
        The name of a scorer of ours, or else what scikit-learn takes.
    classes : ndarray
        The classes or grades.
    labels : ndarray of shape (n_rows,)
        The rows' own.
    weights : ndarray of shape (n_rows,) or None
        Their weights.
    queries : ndarray of shape (n_rows,), optional
        Their query groups.

    Raises
    ------
    TypeError
        When there are several scorers.
    ValueError
        When the scorer is not known, or a measure.
    """

    def __init__(
        self,
        scoring: Any,
        classes: NDArray[Any],
        labels: NDArray[Any],
        weights: Floats | None,
        queries: NDArray[np.intp] | None = None,
    ) -> None:
        self._scoring, self._scorer = scoring, _scorer_of(scoring)
        if len(classes) > 2 and _measure_of(self._scorer) in OF_TWO_CLASSES:
            labels, classes = labels > classes[0], np.array([False, True])
        self._labels, self._stage = labels, Stage(classes)
        self._options: dict[str, Any] = {} if weights is None else {"sample_weight": weights}
        asked = [] if queries is None else _names_of_queries(self._scorer)
        self._options |= dict.fromkeys(asked, queries)
        # scikit-learn's scorers pass on what they ask for under metadata routing alone
        self._config = {"enable_metadata_routing": True} if asked else {}

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
            with config_context(**self._config):
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


def _scorer_of(scoring: Any) -> Callable[..., float]:
    """Return the scorer that a user means.

    Raises
    ------
    TypeError
        When there are several.
    ValueError
        When it is not known, or a measure.
    """
    if not (scoring is None or isinstance(scoring, str) or callable(scoring)):
        raise TypeError(f"scoring must be one name, one scorer or None, got {scoring!r}.")
    if isinstance(scoring, str) and scoring in scorers.__all__:
        named: Callable[..., float] = getattr(scorers, scoring)
        return named
    if scoring in MEASURES:
        raise ValueError(
            f"scoring={scoring.__name__} is a measure, which cannot ask a ranker for scores: use the name of "
            f"a scorer, or make_scorer({scoring.__name__}, response_method='decision_function')."
        )
    scorer: Callable[..., float] = check_scoring(Stage(), scoring=scoring)
    return scorer


def _measure_of(scorer: Any) -> Callable[..., float]:
    """Return the measure that one of scikit-learn's scorers wraps, or else the scorer."""
    measure: Callable[..., float] = getattr(scorer, "_score_func", scorer)
    return measure


def _names_of_queries(scorer: Any) -> list[str]:
    """Return the parameters in which a scorer takes query groups: ``qid``, or what asks for it by routing."""
    known = dict.fromkeys(signature(_measure_of(scorer)).parameters)
    requests = {**known, **get_routing_for_object(scorer).score.requests}
    return [
        name for name, told in requests.items() if told == "qid" or (name == "qid" and told in (None, True))
    ]


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
        """Take other scores, and as many thresholds as part the classes."""
        self.scores, self.threshold_ = scores, float(thresholds[0])
        self.thresholds_ = thresholds[: len(self.classes_) - 1]

    def fit(self, X: Any, y: Any) -> Stage:  # noqa: ARG002
        """Do nothing: others fit."""
        return self

    def decision_function(self, X: Any) -> NDArray[np.floating]:  # noqa: ARG002
        """Return the scores, whatever is passed."""
        return self.scores - self.threshold_
