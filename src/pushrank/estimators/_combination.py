"""Scores of several models on one scale, and the weights with which they are added up."""

import warnings
from collections.abc import Iterator, Mapping, Sequence
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
from pushrank._base.user_types import Estimator, GenericArray, MatrixLike
from pushrank.estimators import _search
from pushrank.estimators._base import RankerMixin
from pushrank.estimators._search import Fold, Member, PrecisionAtBudget, Search
from pushrank.estimators._target import Target
from pushrank.estimators.push import IRPush, PNormPush
from pushrank.estimators.trimmed_push import TrimmedPush
from pushrank.held_out.fits import fit_params, model_scores
from pushrank.metrics import average_precision
from pushrank.metrics._ranking import Ranking

# A forest gives probabilities of exactly 0 and 1, whose log-odds are infinite; this keeps their order.
PROBABILITY_ROUNDING = 1e-3
# The log-odds of a probability of .999.
LIMIT = float(logit(1.0 - PROBABILITY_ROUNDING))
# The share of the scores at either end that counts as the next one for a logistic curve.
TAIL = 0.01
# Weights below this share of the largest are left out, the smallest first, as long as together they are no
# larger share of the sum: most are noise, and each costs models to keep and score.
MIN_SHARE = 0.1
# As in Caruana's paper; later rounds change the weights by little.
GREEDY_ROUNDS = 25
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
    scores = unlinked(model, scores)
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


def unlinked(model: Estimator, scores: Floats) -> Floats:
    """Return the scores of a model as they are, or the log-odds of its probabilities."""
    if hasattr(model, "decision_function"):
        return scores
    return np.asarray(logit((scores + PROBABILITY_ROUNDING) / (1.0 + 2.0 * PROBABILITY_ROUNDING)))


@dataclass
class Column:
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
        column = cls(slope / spread, float(curve.intercept_[0]) - slope * mean / spread)
        log_odds = column(scores)
        column.mean, column.spread = _mean_and_spread(log_odds, weights)
        return column

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

    columns: list[Column]
    weights: Floats
    final: str

    def __call__(self, scores: Sequence[Floats] | Floats) -> Floats:
        """Return the combined scores of rows, of the scores by model."""
        return self.total([column(s) for column, s in zip(self.columns, scores, strict=True)])

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
        columns = [self.columns[number] for number in kept]
        return replace(self, columns=columns, weights=self.weights[kept])


trust_in_files(Column, Combination)


class OutOfFold(NamedTuple):
    """Scores of rows by models that had not seen them, shape (n_models, n_samples), NaN without any."""

    # `parts` has the numbers of the rows of each part that was held out, in the order of time if `by_time`. A
    # budget by period needs the times of all rows. `linear` says which models are.

    scores: Floats
    parts: list[NDArray[np.intp]]
    by_time: bool
    times: GenericArray | None = None
    linear: Sequence[bool] = ()

    @property
    def rows(self) -> NDArray[np.intp]:
        """The rows that were held out, part by part."""
        return np.concatenate(self.parts)

    @property
    def folds(self) -> list[Fold]:
        """The parts to choose by: each is tested on after the others, or after those before it in time."""
        parts = self.parts
        if self.by_time:
            train = [parts[:number] for number in range(1, len(parts))]
        else:
            train = [parts[:n] + parts[n + 1 :] for n in range(len(parts) if len(parts) > 1 else 0)]
        tests = parts[len(parts) - len(train) :]
        return [
            Fold(n, np.concatenate(of), test) for n, (of, test) in enumerate(zip(train, tests, strict=True))
        ]

    def scaled(self, measure: PrecisionAtBudget, out: Floats | None = None) -> tuple[Floats, list[Column]]:
        """Return the columns, shape (n_samples, n_models), written to ``out`` if given, and their scales."""
        rows, weights = self.rows, measure.weights
        columns, scales = np.full(self.scores.shape[::-1], np.nan) if out is None else out, []
        for number, scores in enumerate(self.scores):
            scales.append(Column.of(scores[rows], measure.is_positive[rows], weights[rows]))
            columns[:, number] = scales[-1](scores)
        return columns, scales


class Columns(NamedTuple):
    """Columns of models for some rows, by whose numbers a measure and weights know them."""

    values: Floats
    rows: NDArray[np.intp]
    measure: PrecisionAtBudget
    weights: Floats | None
    linear: Sequence[bool] = ()

    def part(self, rows: NDArray[np.intp]) -> Self:
        return self._replace(values=self.values[rows], rows=rows)

    def labelled(self) -> Ranking:
        """Return a ranking of the rows, whose labels and weights are checked here for all others."""
        return self.measure.ranking(self.rows, self.values[:, 0])

    def ranking(self, labelled: Ranking, scores: Floats) -> Ranking:
        """Return the ranking by a sum of columns, which needs none of the checks that a user's scores do."""
        return labelled._with(scores=self.measure.within_periods(self.rows, scores))


def best_member(part: Columns) -> Floats:
    """Return all weight on the model with the best precision at the budget."""
    labelled, columns = part.labelled(), np.ascontiguousarray(part.values.T)
    measures = [part.measure.of_ranking(part.ranking(labelled, column)) for column in columns]
    weights: Floats = np.zeros(len(measures))
    weights[measures.index(max(measures))] = 1.0
    return weights


def mean_of_members(part: Columns) -> Floats:
    """Return equal weights."""
    return np.full(part.values.shape[1], 1.0 / part.values.shape[1])


def linear_members(part: Columns) -> Floats:
    """Return equal weights of the linear models, or of all where none is."""
    prior = np.array(part.linear, dtype=np.float64) if any(part.linear) else mean_of_members(part)
    return np.asarray(prior / prior.sum())


def greedy(part: Columns) -> Floats:
    """Return how often each model is chosen, if one is added in each round to reach the best precision."""
    columns, measure, labelled = np.ascontiguousarray(part.values.T), part.measure, part.labelled()
    counts, total, best = np.zeros(len(columns)), np.zeros(len(part.rows)), (-np.inf, -np.inf)
    best_counts = counts
    for _ in range(GREEDY_ROUNDS):
        rankings = [part.ranking(labelled, total + column) for column in columns]
        precisions = np.array([measure.precision(ranking) for ranking in rankings])
        # The average precision, which costs more, decides between equals alone.
        tried = {
            number: (precisions[number], rankings[number].evaluate(average_precision))
            for number in np.flatnonzero(precisions == precisions.max())
        }
        added = max(tried, key=tried.__getitem__)
        counts, total = counts + (np.arange(len(counts)) == added), total + columns[added]
        if tried[added] > best:
            best, best_counts = tried[added], counts
    return np.asarray(best_counts / best_counts.sum())


class Final(NamedTuple):
    """A way to find weights: a function of columns, or a linear ranker; and its place among its rivals."""

    family: str
    params: dict[str, object]
    weigh: Any

    @property
    def name(self) -> str:
        """The name of the way, with its p where it has one."""
        return self.family + (f", p = {self.params['p']:g}" if "p" in self.params else "")

    def weights(self, part: Columns) -> Floats:
        """Return the weight of each model; those much smaller than the largest are zero."""
        if callable(self.weigh):
            weights = np.asarray(self.weigh(part))
        else:
            ranker, row_weights = clone(self.weigh), None if part.weights is None else part.weights[part.rows]
            with warnings.catch_warnings():
                # Columns of noise have no weights, which is said where it is the end.
                warnings.filterwarnings("ignore", ".*all coefficients are 0")
                labels = part.measure.is_positive[part.rows]
                ranker.fit(part.values, labels, **fit_params(ranker, row_weights))
            if not hasattr(ranker, "coef_"):
                raise TypeError(f"final_estimator must have linear scores, and {ranker!r} has no coef_.")
            weights = np.array(ranker.coef_, dtype=np.float64)
        return without_small(weights)


def without_small(weights: Floats) -> Floats:
    """Return weights of which those that are much smaller than the largest are zero."""
    sizes, kept = np.abs(weights), weights.copy()
    order = np.argsort(sizes, kind="stable")
    # Many copies of a model have small weights, and are not small together.
    small = np.cumsum(sizes[order]) <= MIN_SHARE * sizes.sum()
    small &= sizes[order] < MIN_SHARE * sizes.max()
    kept[order[small]] = 0.0
    return kept


def with_prior(final: Final, part: Columns) -> tuple[Floats, str]:
    """Return the mean of weights and of equal ones of the linear members, which positives outweigh.

    The share of the latter is 1 / (1 + (n / 50)^2) for n positives: .86 for 20, .5 for 50, .2 for 100.
    """
    weights, n = final.weights(part), part.measure.n_positives(part.rows)
    total, share = np.abs(weights).sum(), 1.0 / (1.0 + (n / FEW_POSITIVES) ** 2)
    # Where noise alone was found no member has a weight.
    if not total:
        return weights, final.name
    mean = without_small((1.0 - share) * weights / total + share * linear_members(part))
    return mean, f"{final.name}, and {LINEAR} by {share:.2f}" if share >= 0.01 else final.name


PUSH, LINEAR = "P-Norm Push", "linear members"
NAMED = {"best": best_member, "mean": mean_of_members, "greedy": greedy}
ALPHA = 1e-2
RIVALS = (
    *(Final(name, {"final": name}, weigh) for name, weigh in NAMED.items()),
    Final("IR Push", {"final": "IR Push"}, IRPush(alpha=ALPHA, positive=True)),
    *(
        Final(PUSH, {"final": PUSH, "p": p}, PNormPush(p, alpha=ALPHA, positive=True))
        for p in (1.0, 4.0, 16.0)
    ),
    Final("trimmed push", {"final": "trimmed push"}, TrimmedPush(0.5, alpha=ALPHA, positive=True)),
    Final(LINEAR, {"final": LINEAR}, linear_members),
)
"""The ways to choose from; the P-Norm Push is kept unless another is better beyond chance."""


def check_final(final: str | RankerMixin | None) -> Final | None:
    """Return the way that a user names, or None to choose one."""
    if final is None:
        return None
    if isinstance(final, str) and final in NAMED:
        return Final(final, {"final": final}, NAMED[final])
    if isinstance(final, RankerMixin) and not isinstance(final, type):
        return Final(type(final).__name__, {"final": type(final).__name__}, clone(final))
    raise ValueError(
        f"final_estimator must be None, one of {list(NAMED)} or a linear ranker of pushrank, such as "
        f"PNormPush(4, positive=True); got {final!r}."
    )


def combine(ranker: RankerMixin, out_of_fold: OutOfFold, target: Target, final: Final | None) -> Combination:
    """Return the combination of models by a final, or by the one that the folds choose for the budget."""
    measure = PrecisionAtBudget(ranker, target, out_of_fold.times)
    values, scales = out_of_fold.scaled(measure, out_of_fold.scores.T)
    columns = Columns(values, np.arange(len(values)), measure, target.weights, out_of_fold.linear)
    part = columns.part(out_of_fold.rows)
    with one_blas_thread():
        if final is None:
            chosen, is_beyond_chance = _chosen(ranker, columns, target, out_of_fold.folds)
            weights, name = _weighed(chosen, part, is_beyond_chance)
        else:
            weights, name = final.weights(part), final.name
    total = np.abs(weights).sum()
    return Combination(scales, weights / (total or 1.0), name)


def _weighed(chosen: Final, part: Columns, is_beyond_chance: bool) -> tuple[Floats, str]:
    """Return the weights of a chosen way, and what they are called."""
    is_alone = is_beyond_chance or chosen.family == LINEAR
    return (chosen.weights(part), chosen.name) if is_alone else with_prior(chosen, part)


def combine_apart(ranker: RankerMixin, out_of_fold: OutOfFold, target: Target) -> list[Combination]:
    """Return for each part the combination whose weights come from the other parts, or those before it."""
    measure, parts = PrecisionAtBudget(ranker, target, out_of_fold.times), out_of_fold.parts
    combinations = []
    with one_blas_thread():
        values, _ = out_of_fold.scaled(measure)
        columns = Columns(values, np.arange(len(values)), measure, target.weights, out_of_fold.linear)
        final, is_beyond_chance = _chosen(ranker, columns, target, out_of_fold.folds)
        for number in range(len(parts)):
            others = parts[:number] + ([] if out_of_fold.by_time else parts[number + 1 :])
            seen = out_of_fold._replace(parts=others or [parts[number]])
            values, scales = seen.scaled(measure)
            way = final if others else Final("mean", {}, mean_of_members)
            part = columns._replace(values=values).part(seen.rows)
            weights, name = _weighed(way, part, is_beyond_chance)
            combinations.append(Combination(scales, weights, name))
    return combinations


def _chosen(ranker: RankerMixin, columns: Columns, target: Target, folds: list[Fold]) -> tuple[Final, bool]:
    """Return a way to find weights, and whether it is better than the linear members beyond chance."""
    if not folds:
        raise ValueError(
            "a single part is held out by cv, which leaves none to choose how models are combined; take more "
            "parts, or say how: final_estimator='mean'."
        )

    is_weighted_positive = columns.measure.is_positive & (columns.measure.weights > 0.0)

    def path(fold: Fold) -> Iterator[Member]:
        spaced = fold.train[_enough(is_weighted_positive[fold.train])]
        train, test = columns.part(spaced), columns.values[fold.test]
        for rival in RIVALS:
            yield Member(rival.params, test @ rival.weights(train))

    results = Search(ranker, target, folds).run(path, columns.measure, len(RIVALS))
    families = [rival.family for rival in RIVALS]
    complexity = {family: float(family != PUSH) for family in families}
    hit = columns.measure.one_hit(folds)
    chosen = _search.choose_for_budget(ranker, results, families, complexity, hit, overall_decides=True)
    gaps = results.overall[chosen] - results.overall[families.index(LINEAR)]
    return RIVALS[chosen], bool(gaps.mean() > _search.standard_errors(gaps[None])[0])
