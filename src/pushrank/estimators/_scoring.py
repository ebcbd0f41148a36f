"""Scores of models, scorers of held-out rows, and the parts of early stopping."""

import math
from collections.abc import Callable
from functools import partial
from inspect import isfunction, signature
from typing import Any, Self, TypeAlias, TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn import config_context
from sklearn.metrics import average_precision_score, check_scoring, get_scorer_names, roc_auc_score
from sklearn.model_selection import train_test_split
from sklearn.utils.metadata_routing import get_routing_for_object

from pushrank._base.numeric import Floats
from pushrank._base.user_types import GenericArray, Matrix, MatrixLike, PerRow
from pushrank.estimators._base import BaseEstimator, RankerMixin
from pushrank.estimators._target import Target
from pushrank.metrics import scorers
from pushrank.metrics._registry import METRICS
from pushrank.pairs import CrucialSample, Sample
from pushrank.solvers.boosting.objective import ScoreObjective

Drawn = TypeVar("Drawn")
Scoring: TypeAlias = str | Callable[..., float] | None
"""A scorer or its name; None stands for the objective."""


def check_one_scorer(scoring: Scoring) -> None:
    """Raise unless ``scoring`` is a known name, a callable of an estimator, rows and labels, or None."""
    if isinstance(scoring, str) and scoring not in {*scorers.SCORERS, *get_scorer_names()}:
        raise ValueError(
            f"scoring={scoring!r} is not known; use one of {sorted(scorers.SCORERS)}, one of scikit-learn's "
            "names, which sklearn.metrics.get_scorer_names() lists, or a scorer."
        )
    if scoring is None or isinstance(scoring, str):
        return
    if not callable(scoring):
        raise TypeError(
            f"scoring must be one scorer, to choose by, got the {type(scoring).__name__} {scoring!r}; pass "
            f"one of {list(scorers.SCORERS)}, one of scikit-learn's names, or a scorer."
        )
    if not _takes_an_estimator(scoring):
        name = getattr(_innermost(scoring), "__name__", type(scoring).__name__)
        named = f"scoring={name!r}, or " if name in scorers.SCORERS else ""
        raise TypeError(
            f"scoring must be a scorer, called with an estimator, rows and labels; {name} is a measure of "
            f"labels and scores: pass {named}sklearn.metrics.make_scorer({name}, "
            "response_method='decision_function'), with greater_is_better=False for an error."
        )


def _takes_an_estimator(function: Any) -> bool:
    """Return whether a callable takes three arguments, and is no measure of pushrank."""
    measure = _innermost(function)
    if isfunction(measure) and measure.__module__.startswith("pushrank.metrics."):
        return False
    try:
        signature(function).bind("estimator", "X", "y")
    except TypeError:
        return False
    except ValueError:
        # Compiled functions may have no signature.
        return True
    return True


def _innermost(function: object) -> Any:
    while isinstance(function, partial):
        function = function.func
    return function


TWO_CLASS_METRICS = (
    average_precision_score,
    roc_auc_score,
    *(spec.function for spec in METRICS.values() if "pos_label" in spec.parameters),
)


class HeldOutScorer:
    """A scorer of held-out rows, at any scores that a ranker gives them."""

    # `scoring` is the name of a scorer of ours, or else what scikit-learn takes. With grades, metrics of two
    # classes count every grade above the lowest as positive. With query groups, metrics that take `qid` are
    # averaged over queries; others treat all rows as one list.

    def __init__(
        self, scoring: Scoring, classes: GenericArray, labels: Any, weights: Any, queries: Any = None
    ) -> None:
        check_one_scorer(scoring)
        named = scorers.SCORERS.get(scoring) if isinstance(scoring, str) else None
        self._scoring, self._scorer = scoring, named or check_scoring(FrozenRanker(), scoring=scoring)
        # With labels of two texts a measure would ask which is positive, which the ranker has decided.
        if _measure_of(self._scorer) in TWO_CLASS_METRICS:
            labels, classes = labels > classes[0], np.array([False, True])
        self._labels, self._frozen = labels, FrozenRanker(classes)
        self._options: dict[str, Any] = {} if weights is None else {"sample_weight": weights}
        keywords = [] if queries is None else _query_keywords(self._scorer)
        self._options |= dict.fromkeys(keywords, queries)
        # Only under metadata routing do scikit-learn's scorers hand on the groups that they ask for.
        self._config = {"enable_metadata_routing": True} if keywords else {}

    def score(self, X: MatrixLike, scores: Floats, thresholds: Floats) -> float:
        """Return how good scores of the rows ``X`` are; thresholds part the classes."""
        self._frozen.set_scores(scores, thresholds)
        try:
            with config_context(**self._config):
                score = float(self._scorer(self._frozen, X, self._labels, **self._options))
        except AttributeError as error:
            raise ValueError(
                f"scoring={self._scoring!r} asks for what rankers do not have, such as probabilities; use a "
                "scorer of decision_function or predict, such as 'average_precision'."
            ) from error
        if math.isnan(score):
            raise ValueError(
                "scoring gave nan on a part of the rows; use a scorer that is defined on every part, or "
                "larger parts: fewer folds, a larger validation_fraction."
            )
        return score


def _measure_of(scorer: Callable[..., float]) -> Callable[..., float]:
    """Return the measure that one of scikit-learn's scorers wraps, or else the scorer."""
    measure: Callable[..., float] = getattr(scorer, "_score_func", scorer)
    return measure


def _query_keywords(scorer: Callable[..., float]) -> list[str]:
    """Return the parameters in which a scorer takes query groups: ``qid``, or what asks for it by routing."""
    parameters = dict.fromkeys(signature(_measure_of(scorer)).parameters)
    requests = {**parameters, **get_routing_for_object(scorer).score.requests}
    return [
        name
        for name, alias in requests.items()
        if alias == "qid" or (name == "qid" and alias in (None, True))
    ]


class FrozenRanker(RankerMixin, BaseEstimator):
    """A ranker with the scores of a training that is under way, for scorers that ask an estimator."""

    def __init__(self, classes: GenericArray | None = None) -> None:
        self.classes = classes
        self.classes_ = classes
        self.set_scores(np.zeros(0), np.zeros(1))

    def set_scores(self, scores: Floats, thresholds: Floats) -> None:
        """Replace the scores and the thresholds between the classes."""
        self._scores, self.threshold_ = scores, float(thresholds[0])
        self.thresholds_ = thresholds[: 0 if self.classes_ is None else len(self.classes_) - 1]

    def fit(self, X: MatrixLike, y: ArrayLike) -> Self:  # noqa: ARG002
        """Do nothing, since the scores come from outside."""
        return self

    def decision_function(self, X: MatrixLike) -> NDArray[np.floating]:  # noqa: ARG002
        """Return the scores, whatever the rows are."""
        return self._scores - self.threshold_


def parts(
    target: Target, share: float, random_state: np.random.RandomState, part: Callable[[NDArray[Any]], Drawn]
) -> tuple[Drawn, Drawn]:
    """Return the part to train on and the part to validate on: the latest rows, or rows drawn at random."""
    sample: Any = target.sample
    try:
        if isinstance(sample, CrucialSample):
            drawn = random_state.random_sample(len(sample.better)) < share
        elif target.times is not None:
            # Rows as late as the first of the last share are with it.
            first = min(len(target.times) - 1, math.ceil((1.0 - share) * len(target.times)))
            drawn = target.times >= np.sort(target.times)[first]
        elif target.groups is not None:
            drawn = (random_state.random_sample(int(target.groups.max()) + 1) < share)[target.groups]
        else:
            codes, drawn = np.asarray(target.codes), np.zeros(sample.n_rows, dtype=bool)
            rows = np.arange(len(codes)) if target.weights is None else np.flatnonzero(target.weights > 0.0)
            options = {"test_size": share, "stratify": codes[rows], "random_state": random_state}
            drawn[train_test_split(rows, **options)[1]] = True
        return part(~drawn), part(drawn)
    except ValueError as error:
        raise ValueError(
            f"validation_fraction={share} leaves no pair to train on or none to validate on ({error}); "
            "change it or set early_stopping=False."
        ) from error


def validator(
    problem: ScoreObjective, valid: Sample, scoring: Scoring, X: Matrix, y: PerRow, target: Target
) -> Callable[[Floats], float]:
    """Return a function of all rows' scores that scores the validation part, the higher the better."""
    if scoring is None:
        return lambda scores: -problem.evaluate(scores).value
    if y is None:
        raise ValueError("scoring needs labels; with pairs leave scoring=None, which uses the objective.")
    rows = np.unique(np.concatenate([valid.positives, valid.negatives]))
    weights, groups = (None if column is None else column[rows] for column in (target.weights, target.groups))
    part, classes = X[rows], np.asarray(target.classes)
    scorer = HeldOutScorer(scoring, classes, np.asarray(y)[rows], weights, groups)
    return lambda scores: scorer.score(part, scores[rows], target.thresholds(scores))
