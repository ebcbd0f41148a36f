"""Scores of several models on one scale, and the weights with which they are added up."""

import warnings
from collections.abc import Mapping, Sequence
from copy import copy
from dataclasses import dataclass, replace
from functools import reduce
from pickle import PicklingError
from typing import Any, NamedTuple, Self

import joblib
import numpy as np
from numpy.typing import NDArray
from scipy.special import logit
from sklearn.base import clone
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import Pipeline
from sklearn.utils.validation import _num_samples

from pushrank._base.files import trust_in_files
from pushrank._base.numeric import Floats
from pushrank._base.parallel import one_blas_thread
from pushrank._base.scores import gives_margins
from pushrank._base.user_types import Estimator, MatrixLike
from pushrank.estimators._base import RankerMixin
from pushrank.estimators._search import standard_errors
from pushrank.estimators._target import Target
from pushrank.estimators.push import PNormPush
from pushrank.held_out.fits import fit_params, model_scores
from pushrank.metrics import average_precision

# A forest gives probabilities of exactly 0 and 1, whose log-odds are infinite; this keeps their order.
PROBABILITY_ROUNDING = 1e-3
# The log-odds of a probability of .999.
LIMIT = float(logit(1.0 - PROBABILITY_ROUNDING))
# The share of the scores at either end that counts as the next one for a logistic curve.
TAIL = 0.01
# Weights below this share of the largest are left out, the smallest first, as long as together they are no
# larger share of the sum: most are noise, and each costs models to keep and score.
MIN_SHARE = 0.1
# Weights that few positives teach are mostly noise. With this many positives they count as much as equal
# weights of the linear members, with fewer less, and with more more.
FEW_POSITIVES = 50.0
# A curve, and weights that are compared, need no more rows and positives: of more, evenly spaced ones do.
ENOUGH_ROWS, ENOUGH_POSITIVES = 100_000, 2_000


def raw_scores(model: Estimator, X: MatrixLike) -> Floats:
    """Return a model's decision function, or the log-odds of its probabilities."""
    scores = model_scores(model, X)
    if scores.shape != (_num_samples(X),):
        raise ValueError(
            f"{type(model).__name__} must give a score for each of {_num_samples(X)} rows, got an array of "
            f"the shape {scores.shape}."
        )
    scores = to_log_odds(model, scores)
    if not np.isfinite(scores).all():
        raise ValueError(f"{type(model).__name__} scores a row {scores[~np.isfinite(scores)][0]}.")
    return scores


def last_step(model: Any, X: MatrixLike, known: dict[tuple[int, ...], Any]) -> tuple[Estimator, Any]:
    """Return the last step of a pipeline and its rows, by what ``known`` has of steps seen before."""
    if type(model) is not Pipeline:
        return model, X
    steps = [step for _, step in model.steps[:-1] if step not in (None, "passthrough")]
    if (key := tuple(map(id, steps))) not in known:
        known[key] = reduce(lambda rows, step: step.transform(rows), steps, X)
    return model.steps[-1][1], known[key]


def sharing_steps(models: Mapping[str, list[Any]]) -> dict[str, list[Any]]:
    """Return fitted models whose pipelines hold the same objects where all steps but the last are equal."""
    known: dict[str, Any] = {}
    return {name: [_with_known(model, known) for model in of_name] for name, of_name in models.items()}


def _with_known(model: Any, known: dict[str, Any]) -> Any:
    if type(model) is not Pipeline:
        return model
    try:
        steps = known.setdefault(str(joblib.hash(model.steps[:-1])), model.steps[:-1])
    except (AttributeError, TypeError, PicklingError):
        # A step that cannot be pickled, such as one with a lambda, is shared with no other model.
        return model
    model = copy(model)
    model.steps = [*steps, model.steps[-1]]
    return model


def to_log_odds(model: Estimator, scores: Floats) -> Floats:
    """Return the scores of a model as they are, or the log-odds of its probabilities."""
    if gives_margins(model):
        return scores
    return np.asarray(logit((scores + PROBABILITY_ROUNDING) / (1.0 + 2.0 * PROBABILITY_ROUNDING)))


@dataclass
class Scale:
    """The function from a model's scores to the scale on which models are added up."""

    # A logistic curve makes log-odds of the scores. Beyond those of a probability of .999 it rises by a
    # logarithm alone, as single rows would else decide what a push does. In experiments/ensemble ranks are no
    # better, however few the positives are, or as time passes.

    slope: float
    intercept: float
    mean: float = 0.0
    spread: float = 1.0

    @classmethod
    def of(cls, scores: Floats, is_positive: NDArray[np.bool_], weights: Floats) -> Self:
        """Return the function for some scores; it has mean zero and variance one, or is zero throughout."""
        if np.ptp(scores[weights > 0.0]) == 0.0:
            return cls(0.0, 0.0)
        # A row far from all others would make the curve flat.
        ends = np.quantile(scores, [TAIL, 1.0 - TAIL], weights=weights, method="inverted_cdf")
        clipped = np.clip(scores, *ends) if ends[0] < ends[1] else scores
        mean, spread = _mean_and_spread(clipped, weights)
        rows = _enough(is_positive & (weights > 0.0))
        of_rows = (clipped[rows, np.newaxis] - mean) / spread
        curve = LogisticRegression().fit(of_rows, is_positive[rows], weights[rows])
        # Scores that fall towards the positives, as those of noise may, keep their order and their spread.
        slope = float(curve.coef_[0, 0]) if curve.coef_[0, 0] > 0.0 else 1.0
        scale = cls(slope / spread, float(curve.intercept_[0]) - slope * mean / spread)
        scale.mean, scale.spread = _mean_and_spread(scale(scores), weights)
        return scale

    def __call__(self, scores: Floats) -> Floats:
        log_odds = self.slope * scores + self.intercept
        within = np.clip(log_odds, -LIMIT, LIMIT)
        log_odds = within + np.sign(log_odds) * np.log1p(np.abs(log_odds - within))
        return np.asarray((log_odds - self.mean) / self.spread)


def is_linear(model: Estimator) -> bool:
    """Return whether a fitted model, or the last step of a pipeline, has linear scores."""
    model = model[-1] if isinstance(model, Pipeline) else model
    return hasattr(getattr(model, "best_estimator_", model), "coef_")


def check_spread(name: str, scores: Floats) -> bool:
    """Return whether the scores of a member differ; raise where the square of their spread is none."""
    with np.errstate(all="ignore"):
        variance = np.var(scores)
    if (scores == scores[0]).all() or (0.0 < variance < np.inf):
        return bool(variance > 0.0)
    raise ValueError(
        f"the member {name!r} scores rows from {scores.min():.3g} to {scores.max():.3g}, too far or too "
        "little apart for a scale in float64: multiply its scores by a constant."
    )


def _enough(is_positive: NDArray[np.bool_]) -> NDArray[np.intp]:
    """Return evenly spaced rows of either class that are enough to learn from."""
    step = max(1, min(len(is_positive) // ENOUGH_ROWS, int(is_positive.sum()) // ENOUGH_POSITIVES))
    of_classes = (np.flatnonzero(of_class)[::step] for of_class in (is_positive, ~is_positive))
    return np.sort(np.concatenate([*of_classes]))


def _mean_and_spread(values: Floats, weights: Floats) -> tuple[float, float]:
    mean = float(np.average(values, weights=weights))
    return mean, float(np.sqrt(np.average((values - mean) ** 2, weights=weights)))


@dataclass
class Combination:
    """Weights of models, and the scales on which their scores are added up."""

    scales: list[Scale]
    weights: Floats
    final: str

    def __call__(self, scores: Sequence[Floats] | Floats) -> Floats:
        """Return the combined scores of rows, of the scores by model."""
        return self.total([scale(s) for scale, s in zip(self.scales, scores, strict=True)])

    def total(self, columns: Sequence[Floats] | Floats) -> Floats:
        """Return the weighted sum of columns; one by one, a row's sum does not depend on the other rows."""
        pairs = zip(self.weights.tolist(), columns, strict=False)
        total: Floats = np.zeros(len(columns[0]))
        for weight, column in pairs:
            total += weight * column
        return total

    def without_zeros(self) -> Self:
        """Return the combination of the models of other weights than zero."""
        kept = np.flatnonzero(self.weights)
        scales = [self.scales[number] for number in kept]
        return replace(self, scales=scales, weights=self.weights[kept])


trust_in_files(Scale, Combination)


class Columns(NamedTuple):
    """Scores of rows by models on one scale, shape (n_samples, n_models), with labels and weights."""

    values: Floats
    is_positive: NDArray[np.bool_]
    weights: Floats | None
    linear: Sequence[bool] = ()

    def part(self, rows: NDArray[np.intp]) -> Self:
        weights = None if self.weights is None else self.weights[rows]
        return self._replace(values=self.values[rows], is_positive=self.is_positive[rows], weights=weights)

    @property
    def n_positives(self) -> float:
        """The number of positives, where a row of weight w counts as w rows."""
        of_rows = np.ones(len(self.values)) if self.weights is None else self.weights
        return float(of_rows[self.is_positive].sum())

    @property
    def counts(self) -> NDArray[np.bool_]:
        """Whether each row is a positive of positive weight."""
        return self.is_positive if self.weights is None else self.is_positive & (self.weights > 0.0)


class OutOfFold(NamedTuple):
    """Scores of rows by models that had not seen them, shape (n_models, n_samples), NaN without any."""

    # `parts` has the numbers of the rows of each part that was held out, in the order of time if `by_time`;
    # `linear` says which models are linear.

    scores: Floats
    parts: list[NDArray[np.intp]]
    by_time: bool
    linear: Sequence[bool] = ()

    @property
    def rows(self) -> NDArray[np.intp]:
        """The rows that were held out, part by part."""
        return np.concatenate(self.parts)

    @property
    def folds(self) -> list[tuple[NDArray[np.intp], NDArray[np.intp]]]:
        """Rows to learn from and rows to test on: a part, and the others or those before it in time."""
        parts = self.parts
        if self.by_time:
            return [(np.concatenate(parts[:number]), parts[number]) for number in range(1, len(parts))]
        if len(parts) == 1:
            return []
        return [(np.concatenate(parts[:n] + parts[n + 1 :]), part) for n, part in enumerate(parts)]

    def columns(self, target: Target) -> tuple[Columns, list[Scale]]:
        """Return the columns of the models, and their scales."""
        is_positive, rows = np.asarray(target.codes, dtype=bool), self.rows
        weights = np.ones(len(is_positive)) if target.weights is None else target.weights
        scales = [Scale.of(scores[rows], is_positive[rows], weights[rows]) for scores in self.scores]
        values = np.array([scale(scores) for scale, scores in zip(scales, self.scores, strict=True)]).T
        return Columns(np.ascontiguousarray(values), is_positive, target.weights, self.linear), scales


def weights_by(ranker: RankerMixin, part: Columns) -> Floats:
    """Return the coefficients of a linear ranker of the columns, without small ones."""
    ranker = clone(ranker)
    with warnings.catch_warnings():
        # Columns of noise have no weights, which is said where it is the end.
        warnings.filterwarnings("ignore", ".*all coefficients are 0")
        ranker.fit(part.values, part.is_positive, **fit_params(ranker, part.weights))
    if not hasattr(ranker, "coef_"):
        raise TypeError(f"final_estimator must have linear scores, and {ranker!r} has no coef_.")
    return without_small(np.array(ranker.coef_, dtype=np.float64))


def without_small(weights: Floats) -> Floats:
    """Return weights of which those that are much smaller than the largest are zero."""
    sizes, kept = np.abs(weights), weights.copy()
    order = np.argsort(sizes, kind="stable")
    # Many copies of a model have small weights, and are not small together.
    small = np.cumsum(sizes[order]) <= MIN_SHARE * sizes.sum()
    small &= sizes[order] < MIN_SHARE * sizes.max()
    kept[order[small]] = 0.0
    return kept


def equal_weights(part: Columns, of_linear: bool = False) -> Floats:
    """Return equal weights of all models, or of the linear ones where there are any."""
    counted = part.linear if of_linear and any(part.linear) else [True] * part.values.shape[1]
    return np.array(counted, dtype=np.float64) / sum(counted)


def shrink_to_equal(weights: Floats, part: Columns) -> tuple[Floats, float]:
    """Return the mean of weights and of equal ones of the linear models, and the share of the latter.

    The share is 1 / (1 + (n / 50)^2) for n positives: .86 for 20, .5 for 50, .2 for 100. It is 1 where no
    model has a weight, as where noise alone was found.
    """
    total, share = np.abs(weights).sum(), 1.0 / (1.0 + (part.n_positives / FEW_POSITIVES) ** 2)
    if not total:
        return equal_weights(part, True), 1.0
    return without_small((1.0 - share) * weights / total + share * equal_weights(part, True)), share


MEAN = "mean"
PUSH = PNormPush(1.0, alpha=1e-2, positive=True)


def check_final(final: str | RankerMixin | None) -> str | RankerMixin | None:
    """Return a copy of the ranker that finds the weights, "mean", or None for the P-Norm Push."""
    if final is None or (isinstance(final, str) and final == MEAN):
        return final
    if isinstance(final, RankerMixin) and not isinstance(final, type):
        copied: RankerMixin = clone(final)
        return copied
    raise ValueError(
        f"final_estimator must be None, {MEAN!r} or a linear ranker of pushrank, such as "
        f"PNormPush(4, positive=True); got {final!r}."
    )


def combine(out_of_fold: OutOfFold, target: Target, final: str | RankerMixin | None) -> Combination:
    """Return the combination of models by weights that ``final`` finds."""
    columns, scales = out_of_fold.columns(target)
    part = columns.part(out_of_fold.rows)
    if isinstance(final, str):
        weights, name = equal_weights(part), final
    else:
        ranker = PUSH if final is None else final
        with one_blas_thread():
            weights = weights_by(ranker, part)
            name = "P-Norm Push, p = 1" if final is None else type(ranker).__name__
            if final is None and not exceeds_linear(columns, out_of_fold.folds):
                weights, share = shrink_to_equal(weights, part)
                name += f", and equal weights of the linear members by {share:.2f}" * (share >= 0.01)
    total = np.abs(weights).sum()
    return Combination(scales, weights / (total or 1.0), name)


def combine_apart(out_of_fold: OutOfFold, target: Target) -> list[Combination]:
    """Return for each part the combination whose weights come from the other parts, or those before it."""
    parts, combinations = out_of_fold.parts, []
    for number in range(len(parts)):
        others = parts[:number] + ([] if out_of_fold.by_time else parts[number + 1 :])
        seen = out_of_fold._replace(parts=others or [parts[number]])
        combinations.append(combine(seen, target, None if others else MEAN))
    return combinations


def exceeds_linear(columns: Columns, folds: Sequence[tuple[Any, Any]]) -> bool:
    """Return whether the push exceeds equal weights of the linear models by more than a standard error."""
    gaps = []
    for train, test in folds:
        learnt, tested = columns.part(train[_enough(columns.counts[train])]), columns.part(test)
        ways = weights_by(PUSH, learnt), equal_weights(learnt, True)
        found = [
            average_precision(tested.is_positive, tested.values @ weights, sample_weight=tested.weights)
            for weights in ways
        ]
        gaps.append(found[0] - found[1])
    return bool(np.mean(gaps) > standard_errors(np.array([gaps]))[0]) if gaps else False
