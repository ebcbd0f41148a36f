"""The fit of boosted rankers: check the data, resume the last fit, run the rounds, set what was learned."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from functools import partial
from typing import Any, NamedTuple, Self

import joblib
import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, clone
from sklearn.preprocessing import OrdinalEncoder
from sklearn.utils import Tags, check_random_state
from sklearn.utils.validation import _check_monotonic_cst, check_is_fitted

from pushrank import weak_rankers
from pushrank._base.docstrings import shared_docs
from pushrank._base.numeric import Floats, in_dtype
from pushrank._base.parallel import one_blas_thread
from pushrank._base.user_types import Estimator, Matrix, MatrixLike, Pairs, PerRow, Seed
from pushrank._base.validation import check_jobs, check_number
from pushrank.estimators._base import RankerMixin, linear_scores, progress_bar, set_classes
from pushrank.estimators._categories import encode, encode_categories
from pushrank.estimators._scoring import check_one_scorer, parts, validator
from pushrank.estimators._target import DTYPES, FORMATS, Target, checked_data, validate_ranking
from pushrank.models import LinearModel
from pushrank.objectives import PushObjective
from pushrank.pairs import BipartiteSample, CrucialSample, Sample
from pushrank.rows import MemoryRows
from pushrank.solvers import linear_problem
from pushrank.solvers.boosting import loop
from pushrank.solvers.boosting.loop import Choice
from pushrank.solvers.boosting.objective import score_objective
from pushrank.solvers.boosting.steps import StepRule, best_step
from pushrank.weak_rankers import Columns, Functions, Regressors, Stumps
from pushrank.weak_rankers.base import Outputs, PlusMinusOne, WeakRankers, check_declared

# Subsamples without a pair to rank after which the next one hardly ever has any.
MAX_DRAWS = 100


@dataclass(frozen=True, eq=False)
class BoostingSpec:
    """What a boosted ranker minimises, and how its rounds choose and step."""

    # The objective is by default RankBoost's. `alpha` is the L2 strength on the weights, or with columns on
    # the coefficients; `scale_slopes` puts `tol` in units of one over the columns' standard deviations within
    # the classes. `joint` adds the sums over the two classes, as AdaBoost does, over weak rankers in {-1, +1}
    # and, with `constant`, a constant. `two_classes_only` is the error for grades, groups and pairs. `paths`
    # returns further fitted attributes, each with an entry before the first round and one after each; it may
    # raise or warn. `threshold` returns that of `predict`, if it is not the break-even point, from the
    # training part and the scores of all rows.

    objective: PushObjective = field(default_factory=partial(PushObjective, scale="log"))
    alpha: float = 0.0
    scale_slopes: bool = False
    choice: Choice = "steepest"
    step_rule: StepRule = best_step
    joint: bool = False
    constant: bool = False
    two_classes_only: str = ""
    paths: Callable[[BoostingRun], dict[str, Floats]] | None = None
    threshold: Callable[[Sample, Floats], float] | None = None


class BoostingStart(NamedTuple):
    """Where the rounds start: with weak rankers that are not fitted yet, or after those of the last fit."""

    # `generator` is in the state in which nothing had been drawn for the first fit, and `random_state` is its
    # state after the last round, or None before the first.

    learner: WeakRankers
    history: loop.History
    generator: np.random.RandomState
    random_state: dict[str, object] | None


class BoostingRun(NamedTuple):
    """A run that has ended; ``train`` is the part of the target that is not for validation."""

    X: Matrix
    target: Target
    train: Sample
    learner: WeakRankers
    first_random_state: dict[str, object]
    problem: loop.BoostingProblem
    state: loop.BoostingState
    result: loop.BoostingResult


@shared_docs
@dataclass(eq=False, repr=False, kw_only=True)
class BoostedRankerMixin(RankerMixin):
    """A ranker whose scores are a sum of weak rankers: ``estimator_weights_`` of ``weak_rankers_``."""

    weak_rankers: str | WeakRankers | Estimator | Sequence[Callable[..., ArrayLike]] = "stumps"
    n_estimators: int = 100
    learning_rate: float = 1.0
    positive: bool = False
    monotonic_cst: ArrayLike | Mapping[str, int] | None = None
    subsample: float = 1.0
    max_features: float = 1.0
    early_stopping: bool = False
    scoring: str | Callable[..., float] | None = None
    validation_fraction: float = 0.1
    n_iter_no_change: int = 10
    tol: float = 1e-10
    warm_start: bool = False
    n_jobs: int | None = None
    random_state: Seed = None
    verbose: bool = False

    @abstractmethod
    def _boosting_spec(self) -> BoostingSpec:
        """Return what is boosted; raise where a parameter that other rankers lack is out of range."""

    def fit(
        self,
        X: MatrixLike,
        y: PerRow = None,
        sample_weight: PerRow = None,
        *,
        qid: PerRow = None,
        pairs: Pairs = None,
        time: PerRow = None,
    ) -> Self:
        """Learn a ranking from two classes, from grades of relevance, or from explicit pairs.

        Parameters
        ----------
        X : array-like, sparse matrix or data frame of shape (n_samples, n_features)
            Finite features; stumps take NaN as missing, and categorical columns of data frames.
            float32 and float64 arrays, dense, CSR or CSC, are used without a copy.
        %(graded_labels weights_and_pairs)s
        time : array-like of shape (n_samples,), optional
            %(time_stopping)s

        %(fitted_or_raises)s
        """
        spec = self._boosting_spec()
        check_parameters(self)
        learner = clone(weak_rankers.resolve(self.weak_rankers))
        is_warm_start = bool(self.warm_start) and hasattr(self, "estimator_index_")
        X, encoder = encode_categories(learner, X, self if is_warm_start else None)
        options: Any = {"qid": qid, "pairs": pairs, "allow_missing": learner.takes_missing}
        X, target = validate_ranking(self, X, y, sample_weight, **options)
        if spec.two_classes_only and not isinstance(target.sample, BipartiteSample):
            raise ValueError(spec.two_classes_only)
        if is_warm_start:
            start = resume(self, spec, learner, X)
        else:
            # The weak rankers are fitted once the training part is drawn.
            start = BoostingStart(learner, loop.History(), check_random_state(self.random_state), None)
        with one_blas_thread():
            run = run_rounds(self, spec, start, X, y, target.at(time))
        set_fitted(self, spec, run, encoder)
        return self

    def decision_function(self, X: MatrixLike) -> NDArray[np.floating]:
        """Return a score for each row, the higher the better, positive where ``predict`` says positive.

        %(array_of_rows)s
            The weighted sum of the weak rankers less ``threshold_``; for columns ``X @ coef_ - threshold_``,
            in the dtype of the training data.
        """
        check_is_fitted(self, "estimator_weights_")
        X = self._validated(X)
        if hasattr(self, "coef_"):
            linear: NDArray[np.floating] = linear_scores(X, self.coef_)
            return linear - linear.dtype.type(self.threshold_)
        scores = self.weak_rankers_.scores(X, *self._moves)
        shifted: NDArray[np.floating] = scores + self.constant_ - self.threshold_
        return shifted

    def _parts(self, X: MatrixLike) -> Floats:
        """Return the parts of the scores of stumps or columns, base last."""
        check_is_fitted(self, "estimator_weights_")
        if hasattr(self, "coef_") or not isinstance(self.weak_rankers_, Stumps):
            return super()._parts(X)
        parts = self.weak_rankers_.contributions(self._validated(X), *self._moves)
        return np.column_stack([parts, np.full(len(parts), self.constant_ - self.threshold_)])

    def staged_decision_function(self, X: MatrixLike) -> Iterator[NDArray[np.floating]]:
        """Yield the scores of ``decision_function`` as they would be after each round.

        Parameters
        ----------
        X : array-like, sparse matrix or data frame of shape (n_samples, n_features)
            Rows with the features of ``fit``.

        Yields
        ------
        ndarray of shape (n_samples,)
            A new array for each of the ``n_iter_`` rounds; the last is ``decision_function`` up to rounding.
        """
        check_is_fitted(self, "estimator_weights_")
        X = self._validated(X)
        total = np.full(X.shape[0], self.constant_ - self.threshold_)
        if hasattr(self, "coef_"):
            total += float(self.weak_rankers_.offsets_ @ self.coef_)
        for index, weight in zip(self.estimator_index_, self.estimator_weights_, strict=True):
            total = total + (weight * self.weak_rankers_.values(X, int(index)) if index >= 0 else 0.0)
            yield total

    @property
    def feature_importances_(self) -> Floats:
        """The share of each feature in the fall of the objective over all rounds, shape (n_features,)."""
        if not hasattr(self, "estimator_weights_"):
            raise AttributeError("feature_importances_ need a fitted ranker.")
        gains = np.maximum(-np.diff(self.objective_path_), 0.0)
        moved = self.estimator_index_ >= 0
        importances: Floats = self.weak_rankers_.importances(self.estimator_index_[moved], gains[moved])
        total = importances.sum()
        return importances / total if total > 0.0 else importances

    def _pair_objective(self) -> PushObjective | None:
        """Return the objective, or None where it is no function of pairs."""
        return self._boosting_spec().objective

    @property
    def _moves(self) -> tuple[NDArray[np.intp], Floats]:
        """The numbers and the weights of the weak rankers, without AdaBoost's constant."""
        moved = self.estimator_index_ >= 0
        return self.estimator_index_[moved], self.estimator_weights_[moved]

    def _validated(self, X: Any) -> Matrix:
        finite: bool | str = "allow-nan" if self.weak_rankers_.takes_missing else True
        options: dict[str, Any] = {"accept_sparse": FORMATS, "dtype": DTYPES, "ensure_all_finite": finite}
        return checked_data(self, encode(X, self._encoder), reset=False, **options)

    def __sklearn_tags__(self) -> Tags:
        """Return scikit-learn's tags; missing values are allowed where the weak rankers allow them."""
        tags = super().__sklearn_tags__()
        named = isinstance(self.weak_rankers, str) and self.weak_rankers == "stumps"
        tags.input_tags.allow_nan = named or isinstance(self.weak_rankers, Stumps)
        return tags


def check_parameters(ranker: BoostedRankerMixin) -> None:
    """Raise unless the parameters that all boosted rankers have are in their ranges."""
    check_number("n_estimators", ranker.n_estimators, 1, integer=True)
    for name in ("learning_rate", "subsample", "max_features"):
        check_number(name, getattr(ranker, name), above=0.0, most=1.0)
    check_number("tol", ranker.tol, 0.0)
    if ranker.early_stopping:
        check_number("validation_fraction", ranker.validation_fraction, above=0.0, below=1.0)
        check_number("n_iter_no_change", ranker.n_iter_no_change, 1, integer=True)
    check_one_scorer(ranker.scoring)
    check_jobs(ranker.n_jobs, "threads")


def resume(ranker: BoostedRankerMixin, spec: BoostingSpec, learner: WeakRankers, X: Matrix) -> BoostingStart:
    """Return the end of the last fit as a start; raise where rounds cannot be added to it."""
    last = ranker.weak_rankers_
    if isinstance(learner, Functions) and isinstance(last, Functions):
        # A function in a saved model is another object: only its outputs can be compared.
        same = np.array_equal(learner.outputs(X), last.outputs(X))
    else:
        same = type(learner) is type(last) and (
            joblib.hash(learner.get_params()) == joblib.hash(last.get_params())
        )
    if not same:
        raise ValueError(
            f"warm_start=True adds rounds to the last fit, whose weak rankers were {last}, and "
            f"weak_rankers={ranker.weak_rankers!r} are others: set them back, or warm_start=False to start "
            "again."
        )
    # The history counts a constant as weak ranker 0, and estimator_index_ does not.
    if set(ranker._history["indices"] - ranker.estimator_index_) - {int(spec.constant)}:
        raise ValueError(
            f"warm_start=True adds rounds to the last fit, and constant_ranker={ranker.constant_ranker!r} "
            "is not what it was: set it back, or warm_start=False to start again."
        )
    if ranker.n_iter_ > ranker.n_estimators:
        raise ValueError(
            f"n_estimators={ranker.n_estimators} must be at least the {ranker.n_iter_} rounds already run, "
            "when warm_start=True."
        )
    history = loop.History.from_arrays(ranker._history)
    last.truncate(history.n_rounds)
    # From the first state the validation part is drawn as in the first fit.
    generator = np.random.RandomState()
    generator.set_state(ranker._first_random_state)
    return BoostingStart(last, history, generator, ranker._random_state)


def run_rounds(
    ranker: BoostedRankerMixin, spec: BoostingSpec, start: BoostingStart, X: Matrix, y: PerRow, target: Target
) -> BoostingRun:
    """Set a validation part aside, fit the weak rankers to the rest, and run the rounds."""
    n_threads = None if ranker.n_jobs is None or ranker.n_jobs < 0 else int(ranker.n_jobs)
    learner, generator = start.learner, start.generator
    first_random_state = generator.get_state(legacy=False)
    train, validate = target.sample, None
    if ranker.early_stopping:
        sample: Any = target.sample
        subset = sample.subset_pairs if isinstance(sample, CrucialSample) else sample.subset
        train, valid = parts(target, float(ranker.validation_fraction), generator, subset)
        valid_objective = score_objective(spec.objective, valid, n_threads, joint=spec.joint)
        validate = validator(valid_objective, valid, ranker.scoring, X, y, target)
    if start.random_state is None:
        weights: Any = _takes_part(train).astype(np.float64)
        if target.weights is not None:
            weights = weights * target.weights
        elif weights.all():
            weights = None
        learner.fit(X, weights, generator)
    else:
        generator.set_state(start.random_state)
    problem = _boosting_problem(ranker, spec, X, train, learner, n_threads)
    state = loop.BoostingState.after(problem, generator, start.history)
    n_rounds, n_features = int(ranker.n_estimators), X.shape[1]
    n_drawn = max(1, round(float(ranker.max_features) * n_features))
    draws: dict[str, Any] = {"draw_rows": _row_subsampler(target, train, float(ranker.subsample))}
    if ranker.max_features != 1.0:
        draws["draw_features"] = lambda drawing: np.sort(drawing.permutation(n_features)[:n_drawn])
    stopping: Any = {"validate": validate, "patience": int(ranker.n_iter_no_change)}
    with progress_bar(ranker, n_rounds) as callback:
        result = loop.boost(
            problem, state, n_rounds, float(ranker.tol), **draws, **stopping, callback=callback
        )
    return BoostingRun(X, target, train, learner, first_random_state, problem, state, result)


def _boosting_problem(
    ranker: BoostedRankerMixin,
    spec: BoostingSpec,
    X: Matrix,
    train: Sample,
    learner: WeakRankers,
    n_threads: int | None,
) -> loop.BoostingProblem:
    """Return the objective on the training part over the weak rankers' outputs."""
    outputs: Outputs = learner.training_outputs(X, n_threads)
    check_declared(learner, outputs, X)
    if spec.joint:
        outputs = PlusMinusOne(outputs, constant=spec.constant)
    ridge: Floats | float = spec.alpha
    scales: Floats | float = 1.0
    if isinstance(learner, Columns):
        # The weight of a column is its coefficient times its range, and alpha penalises coefficients.
        ridge = spec.alpha * learner.units_**2 if spec.alpha > 0.0 else 0.0
        if spec.scale_slopes:
            linear = linear_problem(spec.objective, MemoryRows(LinearModel(X), train), spec.alpha)
            scales = loop.slope_units(linear, learner.units_)
    bounds = _weight_bounds(ranker, learner, outputs.n_rankers, constant=spec.constant)
    objective = score_objective(spec.objective, train, n_threads, joint=spec.joint)
    penalty, rules = (ridge, scales), (spec.step_rule, spec.choice)
    return loop.BoostingProblem(objective, outputs, *rules, *penalty, *bounds, float(ranker.learning_rate))


def set_fitted(
    ranker: BaseEstimator, spec: BoostingSpec, run: BoostingRun, encoder: OrdinalEncoder | None
) -> None:
    """Set all fitted attributes, after the best round where a validation part chose it."""
    # It may raise, so it comes before anything is set.
    paths = {} if spec.paths is None else spec.paths(run)
    ranker._encoder = encoder
    state, history, learner = run.state, run.state.history, run.learner
    scores: NDArray[np.floating] = state.scores
    random_state = state.random_state.get_state(legacy=False)
    ranker.converged_ = run.result.converged
    ranker.validation_path_ = np.array(history.validation)
    if ranker.early_stopping:
        ranker.converged_ = run.result.converged and history.n_since_best == 0
        history.cut()
        if state.best_scores is not None and state.best_random_state is not None:
            scores, random_state = state.best_scores, state.best_random_state
    learner.truncate(history.n_rounds)
    ranker.weak_rankers_ = learner
    ranker.n_iter_ = ranker.best_round_ = history.n_rounds
    # What a warm start needs to add rounds that are equal to the last bit to those of one long fit.
    ranker._history = history.arrays()
    ranker._first_random_state, ranker._random_state = run.first_random_state, random_state
    _set_weights(ranker, run)
    ranker.edges_ = np.array(history.edges)
    ranker.objective_path_ = np.array(history.objectives)
    for name, path in paths.items():
        setattr(ranker, name, path[: history.n_rounds + 1])
    index, weights = ranker._moves
    norm = float(np.abs(np.bincount(index, weights, minlength=1)).sum())
    # Who finds a coef_ takes the scores for linear: a fit of other weak rankers has none.
    vars(ranker).pop("coef_", None)
    if isinstance(learner, Columns):
        # Thresholds and margins come from the coefficients that score rows, in the dtype of the data.
        ranker.coef_ = in_dtype(learner.coef(index, weights), run.X.dtype)
        scores = linear_scores(run.X, ranker.coef_)
        norm = float(np.abs(ranker.coef_.astype(np.float64)) @ learner.ranges_)
    least_margin = run.train.least_margin(scores.astype(np.float64))
    ranker.margin_ = least_margin / norm if norm > 0.0 else 0.0
    set_classes(ranker, run.target, scores, grades=True)
    if spec.threshold is not None:
        ranker.threshold_ = spec.threshold(run.train, scores.astype(np.float64))
        ranker.thresholds_ = np.array([ranker.threshold_])


def _set_weights(ranker: BoostedRankerMixin, run: BoostingRun) -> None:
    """Set the weights of the weak rankers in [0, 1], whatever the encoding in which the rounds ran."""
    history, outputs = run.state.history, run.problem.outputs
    index, steps = np.array(history.indices, dtype=np.intp), np.array(history.steps)
    ranker.constant_ = 0.0
    if isinstance(outputs, PlusMinusOne):
        # A step a along 2 h - 1 is a step 2 a along h, and one of -a along the constant.
        index = index - outputs.n_constants
        is_constant = index < 0
        if not isinstance(run.learner, Columns):
            ranker.constant_ = float(steps[is_constant].sum() - steps[~is_constant].sum())
        steps = np.where(is_constant, 1.0, 2.0) * steps
    ranker.estimator_index_, ranker.estimator_weights_ = index, steps


def _takes_part(sample: Sample) -> NDArray[np.bool_]:
    """Return which rows are positive or negative in the sample."""
    mask = np.zeros(sample.n_rows, dtype=bool)
    mask[sample.positives] = mask[sample.negatives] = True
    return mask


def _row_subsampler(
    target: Target, train: Sample, fraction: float
) -> Callable[[np.random.RandomState], NDArray[np.bool_]] | None:
    """Return a function that draws a fraction of the rows of each class, of the queries, or of all rows."""
    if fraction == 1.0:
        return None
    units, strata = np.arange(train.n_rows), np.zeros(train.n_rows, dtype=np.intp)
    if target.groups is not None:
        units, strata = target.groups, np.zeros(int(target.groups.max()) + 1, dtype=np.intp)
    elif not isinstance(train, CrucialSample):
        strata = np.asarray(target.codes, dtype=np.intp)
    counts = np.bincount(strata)
    # Each draw has a row of every class, so only weights of zero can leave two classes without a pair.
    always_has_pair = isinstance(train, BipartiteSample) and target.weights is None
    takes_part = _takes_part(train)

    def draw(random_state: np.random.RandomState) -> NDArray[np.bool_]:
        for _ in range(MAX_DRAWS):
            order = random_state.permutation(len(strata))
            kept = np.zeros(len(strata), dtype=bool)
            for stratum, count in enumerate(counts):
                members = order[strata[order] == stratum]
                kept[members[: max(1, round(fraction * count))]] = True
            rows = kept[units]
            # A sample without a pair is a ValueError.
            with suppress(ValueError):
                if not always_has_pair:
                    train.subset(rows & takes_part)
                return rows
        raise ValueError(
            f"subsample={fraction} left no pair to rank in {MAX_DRAWS} draws; raise it: too few rows."
        )

    return draw


def _weight_bounds(
    ranker: BoostedRankerMixin, learner: WeakRankers, n_rankers: int, *, constant: bool
) -> tuple[Floats | float, Floats | float]:
    """Return the lower and the upper bound of each weight, or one number for all."""
    lower: Floats | float = 0.0 if ranker.positive else -np.inf
    upper: Floats | float = np.inf
    if ranker.monotonic_cst is not None:
        names = list(getattr(ranker, "feature_names_in_", []))
        directions = learner.directions(_check_monotonic_cst(ranker, ranker.monotonic_cst), names)
        lower, upper = np.where(directions > 0, 0.0, lower), np.where(directions < 0, 0.0, np.inf)
    if not constant or (np.isneginf(lower).all() and np.isposinf(upper).all()):
        return lower, upper
    if isinstance(learner, Regressors):
        raise ValueError("positive=True needs constant_ranker=False where the weak rankers are regressors.")
    # The constant comes first and is free.
    n_bounded = n_rankers - 1
    return (
        np.append(-np.inf, np.broadcast_to(lower, n_bounded)),
        np.append(np.inf, np.broadcast_to(upper, n_bounded)),
    )
