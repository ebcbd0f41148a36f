"""What boosters call: the gradient of a push and a positive diagonal above its Hessian, and a measure."""

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from pushrank._base.docstrings import shared_docs_from
from pushrank._base.numeric import Floats
from pushrank._base.parallel import compiled
from pushrank._base.user_types import GenericArray
from pushrank.estimators._scoring import HeldOutScorer
from pushrank.estimators._target import sample_threshold
from pushrank.objectives import PushObjective
from pushrank.pairs import BipartiteSample, Sample
from pushrank.pairs.targets import sample_of_labels

Array = NDArray[Any]
# Boosters add up in float32, so that more digits of a gradient would be lost on them.
SINGLE = float(np.finfo(np.float32).eps)
# A row's share of a mean of one. It keeps sums over the rows of a leaf well above the smallest float32.
MIN_HESSIAN = 1e-6


def check_objective(objective: PushObjective) -> None:
    """Raise unless an objective is a push with second derivatives, by which a booster steps."""
    if not isinstance(objective, PushObjective):
        raise TypeError(
            f"a PushObjective is needed, got {type(objective).__name__}; for the P-Norm Push give "
            "PushObjective(price=Power(4.0), scale='log')."
        )
    if not objective.twice_differentiable:
        raise ValueError(
            f"boosters step by second derivatives, and {objective.loss} with {objective.price} has kinks: "
            "use the loss 'exponential', 'logistic', 'squared_hinge', 'smoothed_hinge' or 'sigmoid', and a "
            "price other than the maximum."
        )


def derivatives(objective: PushObjective, sample: Sample, scores: Floats) -> tuple[Floats, Floats]:
    """Return the gradient of rows and a positive diagonal above the Hessian, times the positives' weight."""
    # By this factor the mean of the positives' Hessian is one, about that of a log loss, so that limits and
    # penalties of leaves mean what they mean there. The number of rows as a factor made trees overfit more
    # where positives are few: on letter H and ijcnn1 average precision fell by .01 under XGBoost's defaults.
    with np.errstate(over="ignore", invalid="ignore"):
        at_point = objective.evaluation_within(sample, np.asarray(scores, dtype=np.float64), SINGLE)
    if not np.isfinite(at_point.value):
        raise ValueError(
            f"the objective overflows on the scale {objective.scale!r}; use scale='log' or 'mean', or a "
            "smaller learning rate."
        )
    gradient, diagonal = np.zeros(sample.n_rows), np.zeros(sample.n_rows)
    by_class = (sample.positives, sample.negatives), at_point.gradient(), at_point.majoriser()
    for rows, gradients, diagonals in zip(*by_class, strict=True):
        add_at_rows(rows, gradients, diagonals, gradient, diagonal)
    scale(sample.class_weights[0], MIN_HESSIAN, gradient, diagonal)
    return gradient, diagonal


@compiled()
def add_at_rows(rows, gradients, diagonals, gradient, diagonal):
    """Add the derivatives of a class at its rows; a grade is above some rows and below others."""
    for i, row in enumerate(rows):
        gradient[row] += gradients[i]
        diagonal[row] += diagonals[i]


@compiled()
def scale(factor, least, gradient, diagonal):
    """Multiply both by a factor, and raise the diagonal to the gradient and a least value."""
    for row in range(len(gradient)):
        gradient[row] *= factor
        # Where a bounded price is flat the Hessian is no guide: by this limit no leaf steps farther than one.
        diagonal[row] = max(factor * diagonal[row], abs(gradient[row]), least)


custom_docs = shared_docs_from(
    {
        "custom_metric": """Parameters
----------
scoring : str or callable
    The name of a scorer in :mod:`pushrank.metrics.scorers`, or a scorer, such as ``make_top_scorer`` makes.
name : str, optional
    The name in the library's output; by default that of the scorer's measure after ``pushrank_``, with which
    no measure of the library begins.""",
        "custom_objective": """Parameters
----------
objective : PushObjective
    What to minimise: any loss with a second derivative, any price but the maximum, any side. The scale
    ``"log"`` keeps gradients in range at any p.

Raises
------
TypeError
    When it is no ``PushObjective``.
ValueError
    When its loss or price has kinks.""",
    }
)


class CustomObjective:
    """A push objective with the sample of the labels that it was last called with."""

    def __init__(self, objective: PushObjective) -> None:
        check_objective(objective)
        self.objective = objective
        self._last: tuple[Any, ...] = ()
        self._sample: Sample | None = None

    def __reduce__(self) -> tuple[Any, ...]:
        """Return how to make another: boosters copy parameters, and the sample is as large as the data."""
        return type(self), (self.objective,)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.objective!r})"

    def derivatives(
        self, labels: GenericArray, scores: Array, weights: GenericArray | None, qid: GenericArray | None
    ) -> tuple[Floats, Floats]:
        """Return the gradient and the diagonal at scores; labels are mostly those of the last call."""
        arrays: tuple[Any, ...] = (labels, weights, qid)
        if self._sample is None or not all(map(np.array_equal, arrays, self._last)):
            # These are copies, since a data set may write new labels into its arrays.
            self._last = tuple(None if array is None else np.array(array) for array in arrays)
            floats = None if weights is None else np.asarray(weights, dtype=np.float64)
            self._sample, *_ = sample_of_labels(type(self).__name__, np.asarray(labels), floats, qid)
        return derivatives(self.objective, self._sample, scores)


class CustomMetric:
    """The measure of a scorer at a booster's scores, the higher the better."""

    def __init__(self, scoring: str | Callable[..., float], name: str | None = None) -> None:
        measure = getattr(scoring, "_score_func", scoring)
        self.scoring = scoring
        self.__name__ = name or f"pushrank_{getattr(measure, '__name__', measure)}"

    def measure(self, labels: Array, scores: Array, weights: Any, qid: Any) -> float:
        """Return the measure at scores."""
        classes = np.unique(labels)
        scorer = HeldOutScorer(self.scoring, classes, labels, weights, qid)
        scores = np.asarray(scores, dtype=np.float64)
        samples = (BipartiteSample.from_mask(labels > grade, weights) for grade in classes[:-1])
        thresholds = np.array([sample_threshold(scores, sample) for sample in samples])
        return scorer.score(None, scores, thresholds)


def labels_of_sizes(sizes: ArrayLike | None) -> NDArray[np.intp] | None:
    """Return a label for each row of consecutive query groups of these sizes; None for one list."""
    if sizes is None or np.size(sizes) == 0:
        return None
    sizes = np.asarray(sizes).astype(np.intp)
    return np.repeat(np.arange(len(sizes)), sizes)
