"""The way of the data through a boosted ranker: validate, run the rounds, set what was learned."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import joblib
import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import clone
from sklearn.preprocessing import OrdinalEncoder
from sklearn.utils import check_random_state
from sklearn.utils.validation import _check_monotonic_cst, check_is_fitted

from pushrank import weak_rankers
from pushrank._numeric import Floats
from pushrank._parallel import one_blas_thread
from pushrank._validation import check_number
from pushrank.estimators._base import RankerMixin, linear_scores, progress_bar, set_grades
from pushrank.estimators._docstrings import shared_docs
from pushrank.estimators._scoring import parts, validator
from pushrank.estimators._target import DTYPES, FORMATS, Target, check_on_host, checked_data, validate_ranking
from pushrank.models import LinearModel
from pushrank.objectives import PushObjective
from pushrank.pairs import BipartiteSample, CrucialSample, Sample
from pushrank.solvers import LinearProblem
from pushrank.solvers.boosting.loop import (
    BoostingProblem,
    BoostingResult,
    BoostingState,
    Choice,
    History,
    boost,
    slope_units,
)
from pushrank.solvers.boosting.objective import score_objective
from pushrank.solvers.boosting.steps import StepRule, best_step
from pushrank.weak_rankers import Columns, Functions, Regressors, Stumps
from pushrank.weak_rankers.base import PlusMinusOne, WeakRankers, check_own, plus_minus_one


@dataclass(frozen=True, eq=False)
class BoostedFit:
    """A run that is over, and what it ran on."""

    X: Any  # the checked features
    target: Target
    train: Sample  # the part of the target that was trained on
    learner: WeakRankers  # fitted
    encoder: OrdinalEncoder | None  # what turns categorical columns into numbers
    problem: BoostingProblem
    state: BoostingState  # where the run ended
    result: BoostingResult
    first_random_state: dict[str, Any]  # of the source of randomness, at the beginning


def fit_boosted(
    ranker: Any,
    objective: PushObjective,
    X: Any,
    y: ArrayLike | None,
    sample_weight: ArrayLike | None,
    *,
    qid: ArrayLike | None = None,
    pairs: Any = None,
    alpha: float = 0.0,
    scale_slopes: bool = False,
    choice: Choice = "steepest",
    step_rule: StepRule = best_step,
    joint: bool = False,
    constant: bool = False,
    two_classes_only: str = "",
    check: Callable[[BoostedFit], None] | None = None,
) -> BoostedFit:
    """Validate, run the rounds, set the fitted attributes: the whole way, in this order.

    Parameters
    ----------
    ranker : object
        The estimator, with the parameters that all boosted rankers have.
    objective : PushObjective
        What the rounds minimise.
    X, y, sample_weight, qid, pairs
        As given to ``fit``.
    alpha : float, default=0.0
        The L2 strength on the weights, of columns on the coefficients.
    scale_slopes : bool, default=False
        Whether ``tol`` is in units of one over the columns' standard deviations within the classes.
    choice : {"steepest", "lowest"}, default="steepest"
        How a round chooses its weak ranker.
    step_rule : callable, default=best_step
        How far a round steps.
    joint : bool, default=False
        Whether to add the sums over the two classes, as AdaBoost does, over rankers in {-1, +1}.
    constant : bool, default=False
        Whether a constant is among those.
    two_classes_only : str, default=""
        What to say where there are grades, groups or pairs, if they cannot be learned from.
    check : callable, optional
        Raises or warns where the run did not bring what was asked for, before anything is set.
    """
    _check_parameters(ranker)
    learner = clone(weak_rankers.resolve(ranker.weak_rankers))
    goes_on = bool(ranker.warm_start) and hasattr(ranker, "estimator_index_")
    X, encoder = encode_categories(learner, X, ranker._encoder if goes_on else None, fitted=goes_on)
    X, target = validate_ranking(
        ranker, X, y, sample_weight, qid=qid, pairs=pairs, allow_missing=learner.takes_missing
    )
    if two_classes_only and not isinstance(target.sample, BipartiteSample):
        raise ValueError(two_classes_only)
    n_threads = None if ranker.n_jobs is None or ranker.n_jobs < 0 else int(ranker.n_jobs)
    history, random_state = History(), check_random_state(ranker.random_state)
    if goes_on:
        _check_goes_on(ranker, learner, X, n_constants=int(constant))
        learner, history = ranker.weak_rankers_, History.from_arrays(ranker._history)
        learner.truncate(history.n_rounds)
        # the validation part is drawn again as it was, and rounds go on drawing where they stopped
        random_state = np.random.RandomState()
        random_state.set_state(ranker._first_random_state)
    first_random_state = random_state.get_state(legacy=False)
    with one_blas_thread():
        train, validate = target.sample, None
        if ranker.early_stopping:
            sample: Any = target.sample
            part = sample.subset_pairs if isinstance(sample, CrucialSample) else sample.subset
            train, valid = parts(target, float(ranker.validation_fraction), random_state, part)
            valid_objective = score_objective(objective, valid, n_threads, joint=joint)
            validate = validator(valid_objective, valid, ranker.scoring, X, y, target)
        if goes_on:
            random_state.set_state(ranker._random_state)
        else:
            learner.fit(X, _training_weights(target, train), random_state)
        outputs = learner.training_outputs(X, n_threads)
        check_own(learner, outputs, X)
        if joint:
            outputs = plus_minus_one(outputs, constant=constant)
        ridge: Floats | float = alpha
        scales: Floats | float = 1.0
        if isinstance(learner, Columns):
            ridge = alpha * learner.units_**2 if alpha > 0.0 else 0.0
            if scale_slopes:
                linear = LinearProblem(objective, LinearModel(X), train, alpha)
                scales = slope_units(linear, learner.units_)
        lower, upper = _coefficient_bounds(ranker, learner, outputs.n_rankers, constant=constant)
        problem = BoostingProblem(
            score_objective(objective, train, n_threads, joint=joint),
            outputs,
            step_rule,
            choice,
            ridge,
            scales,
            lower,
            upper,
            float(ranker.learning_rate),
        )
        state = BoostingState.after(problem, random_state, history)
        n_rounds = int(ranker.n_estimators)
        with progress_bar(ranker, n_rounds) as callback:
            result = boost(
                problem,
                state,
                n_rounds,
                float(ranker.tol),
                draw_rows=_row_subsampler(target, train, float(ranker.subsample)),
                draw_features=_feature_subsampler(X.shape[1], float(ranker.max_features)),
                validate=validate,
                patience=int(ranker.n_iter_no_change),
                callback=callback,
            )
    fit = BoostedFit(X, target, train, learner, encoder, problem, state, result, first_random_state)
    if check is not None:
        check(fit)
    _set_fitted(ranker, fit)
    return fit


def _set_fitted(ranker: Any, fit: BoostedFit) -> None:
    """Set all fitted attributes, at the best round where a validation part chose it."""
    state, history, learner = fit.state, fit.state.history, fit.learner
    scores: NDArray[np.floating] = state.scores
    random_state = state.random_state.get_state(legacy=False)
    ranker.converged_ = fit.result.converged
    ranker.validation_path_ = np.array(history.validation)
    ranker.best_round_ = history.n_rounds
    if ranker.early_stopping:
        ranker.converged_ = fit.result.converged and history.n_since_best == 0
        ranker.best_round_ = history.best_place
        history.cut()
        if state.best_scores is not None and state.best_random_state is not None:
            scores, random_state = state.best_scores, state.best_random_state
    learner.truncate(history.n_rounds)
    # what a warm start goes on from, bit for bit
    ranker._history, ranker._encoder = history.arrays(), fit.encoder
    ranker._first_random_state, ranker._random_state = fit.first_random_state, random_state
    ranker.weak_rankers_ = learner
    index, steps = np.array(history.indices, dtype=np.intp), np.array(history.steps)
    ranker.intercept_ = 0.0
    if isinstance(fit.problem.outputs, PlusMinusOne):
        # in terms of h in [0, 1]: a step along 2 h - 1 is two along h, less one along the constant
        index = index - fit.problem.outputs.n_constants
        is_constant = index < 0
        if not isinstance(learner, Columns):
            ranker.intercept_ = float(steps[is_constant].sum() - steps[~is_constant].sum())
        steps = np.where(is_constant, 1.0, 2.0) * steps
    ranker.estimator_index_, ranker.estimator_weights_ = index, steps
    ranker.edges_ = np.array(history.edges)
    ranker.objective_path_ = np.array(history.objectives)
    ranker.n_iter_ = history.n_rounds
    ranker.coef_ = None
    own = index >= 0
    norm = float(np.abs(np.bincount(index[own], steps[own], minlength=1)).sum())
    if isinstance(learner, Columns):
        # the very coefficients that score rows decide thresholds and margins
        ranker.coef_ = learner.coef(index[own], steps[own]).astype(fit.X.dtype)
        scores = linear_scores(fit.X, ranker.coef_)
        norm = float(np.abs(ranker.coef_.astype(np.float64)) @ learner.ranges_)
    least = fit.train.least_margin(scores.astype(np.float64))
    ranker.margin_ = least / norm if norm > 0.0 else 0.0
    set_grades(ranker, fit.target, scores)


@shared_docs
class BoostedRankerMixin(RankerMixin):
    """The scores of a fitted sum of weak rankers: ``estimator_weights_`` of ``weak_rankers_``."""

    def decision_function(self, X: Any) -> NDArray[np.floating]:
        """Return a score for each row, the higher the better, positive where ``predict`` says positive.

        Parameters
        ----------
        X : array-like, sparse matrix or data frame of shape (n_samples, n_features)
            %(X_of_fit)s

        Returns
        -------
        ndarray of shape (n_samples,)
            The weighted sum of the weak rankers less ``threshold_``; for columns ``X @ coef_ - threshold_``,
            in the dtype of the training data.
        """
        check_is_fitted(self, "estimator_weights_")
        X = self._validated(X)
        if self.coef_ is not None:
            linear: NDArray[np.floating] = linear_scores(X, self.coef_)
            return linear - linear.dtype.type(self.threshold_)
        own = self.estimator_index_ >= 0
        scores = self.weak_rankers_.scores(X, self.estimator_index_[own], self.estimator_weights_[own])
        shifted: NDArray[np.floating] = scores + self.intercept_ - self.threshold_
        return shifted

    def staged_decision_function(self, X: Any) -> Iterator[NDArray[np.floating]]:
        """Yield the scores of ``decision_function`` as they would be after each round.

        Parameters
        ----------
        X : array-like, sparse matrix or data frame of shape (n_samples, n_features)
            %(X_of_fit)s

        Yields
        ------
        ndarray of shape (n_samples,)
            A new array for each of the ``n_iter_`` rounds, the last as ``decision_function`` but for
            rounding.
        """
        check_is_fitted(self, "estimator_weights_")
        X = self._validated(X)
        total = np.full(X.shape[0], self.intercept_ - self.threshold_)
        if self.coef_ is not None:
            total += float(self.weak_rankers_.offsets_ @ self.coef_)
        for index, weight in zip(self.estimator_index_, self.estimator_weights_, strict=True):
            total = total + (weight * self.weak_rankers_.values(X, int(index)) if index >= 0 else 0.0)
            yield total

    @property
    def feature_importances_(self) -> Floats:
        """The share of each feature in the fall of the objective over all rounds, shape (n_features,).

        Raises
        ------
        AttributeError
            When the ranker is not fitted, or its weak rankers do not tell which features they read.
        """
        if not hasattr(self, "estimator_weights_"):
            raise AttributeError("feature_importances_ need a fitted ranker.")
        gains = np.maximum(-np.diff(self.objective_path_), 0.0)
        own = self.estimator_index_ >= 0
        importances: Floats = self.weak_rankers_.importances(self.estimator_index_[own], gains[own])
        total = importances.sum()
        return importances / total if total > 0.0 else importances

    def _validated(self, X: Any) -> Any:
        check_on_host(self, X=X)
        finite: bool | str = "allow-nan" if self.weak_rankers_.takes_missing else True
        options: dict[str, Any] = {"accept_sparse": FORMATS, "dtype": DTYPES, "ensure_all_finite": finite}
        return checked_data(self, encode(X, self._encoder), reset=False, **options)

    def __sklearn_tags__(self) -> Any:
        """Return scikit-learn's tags; missing values are taken where the weak rankers take them."""
        tags = super().__sklearn_tags__()
        name: Any = self.weak_rankers
        tags.input_tags.allow_nan = name == "stumps" or isinstance(name, Stumps)
        return tags


def _check_parameters(ranker: Any) -> None:
    """Raise unless the parameters that all boosted rankers have are in their ranges."""
    check_number("n_estimators", ranker.n_estimators, 1, integer=True)
    for name in ("learning_rate", "subsample", "max_features"):
        check_number(name, getattr(ranker, name), above=0.0, most=1.0)
    check_number("tol", ranker.tol, 0.0)
    if ranker.early_stopping:
        check_number("validation_fraction", ranker.validation_fraction, above=0.0, below=1.0)
        check_number("n_iter_no_change", ranker.n_iter_no_change, 1, integer=True)
    if ranker.n_jobs is not None and (isinstance(ranker.n_jobs, bool) or ranker.n_jobs == 0):
        raise ValueError(f"n_jobs must be None, -1 or a number of threads, got {ranker.n_jobs!r}.")


def _check_goes_on(ranker: Any, learner: WeakRankers, X: Any, *, n_constants: int) -> None:
    """Raise where rounds cannot be added to those of the last fit."""
    last = ranker.weak_rankers_
    if isinstance(learner, Functions) and isinstance(last, Functions):
        # functions are known by what they return
        same = np.array_equal(learner.outputs(X), last.outputs(X))
    else:
        same = type(learner) is type(last) and (
            joblib.hash(learner.get_params()) == joblib.hash(last.get_params())
        )
    if not same:
        raise ValueError(
            f"warm_start=True adds rounds to the last fit, whose weak rankers were {last}, and "
            f"weak_rankers={ranker.weak_rankers!r} are others: set them back, or warm_start=False to start "
            "anew."
        )
    if set(ranker._history["indices"] - ranker.estimator_index_) - {n_constants}:
        raise ValueError(
            f"warm_start=True adds rounds to the last fit, and constant_ranker={ranker.constant_ranker!r} "
            "is not what it was: set it back, or warm_start=False to start anew."
        )
    if ranker.n_iter_ > ranker.n_estimators:
        raise ValueError(
            f"n_estimators={ranker.n_estimators} must be at least the {ranker.n_iter_} rounds already run, "
            "when warm_start=True."
        )


def _training_weights(target: Target, train: Sample) -> Floats | None:
    """Return the weights of the rows that are trained on, zero for others; None where all count alike."""
    takes_part = np.zeros(train.n_rows)
    takes_part[train.positives] = takes_part[train.negatives] = 1.0
    if target.weights is None:
        return None if takes_part.all() else takes_part
    return takes_part * target.weights


def _row_subsampler(
    target: Target, train: Sample, share: float
) -> Callable[[np.random.RandomState], NDArray[np.bool_]] | None:
    """Return a function that draws a share of the rows for a round, without replacement.

    Of two classes or grades it draws the share of each, of query groups whole groups, and of explicit pairs
    the rows at random; at least two of what it draws from, and again where no pair is left.
    """
    if share == 1.0:
        return None
    if isinstance(train, CrucialSample):
        units = np.arange(train.n_rows)
        strata = np.zeros(len(units), dtype=np.intp)
    elif target.groups is not None:
        units, strata = target.groups, np.zeros(int(target.groups.max()) + 1, dtype=np.intp)
    else:
        units = np.arange(train.n_rows)
        strata = np.asarray(target.codes, dtype=np.intp)
    counts = np.bincount(strata)
    always_has_pair = isinstance(train, BipartiteSample) and target.weights is None
    takes_part = np.zeros(train.n_rows, dtype=bool)
    takes_part[train.positives] = takes_part[train.negatives] = True

    def draw(random_state: np.random.RandomState) -> NDArray[np.bool_]:
        for _ in range(100):
            order = random_state.permutation(len(strata))
            kept = np.zeros(len(strata), dtype=bool)
            for stratum, count in enumerate(counts):
                members = order[strata[order] == stratum]
                kept[members[: max(1, round(share * count))]] = True
            rows = kept[units]
            if always_has_pair or _has_pair(train, rows & takes_part):
                return rows
        raise ValueError(
            f"subsample={share} left no pair to rank in 100 draws; raise it, there are too few rows."
        )

    return draw


def _has_pair(sample: Sample, rows: NDArray[np.bool_]) -> bool:
    try:
        sample.subset(rows)
    except ValueError:
        return False
    return True


def _feature_subsampler(
    n_features: int, share: float
) -> Callable[[np.random.RandomState], NDArray[np.intp]] | None:
    """Return a function that draws a share of the features for a round, without replacement."""
    if share == 1.0:
        return None
    count = max(1, round(share * n_features))
    return lambda random_state: np.sort(random_state.permutation(n_features)[:count])


def _coefficient_bounds(
    ranker: Any, learner: WeakRankers, n_rankers: int, *, constant: bool
) -> tuple[Floats | float, Floats | float]:
    """Return the least and the largest weight of each ranker, or one number for all.

    Raises
    ------
    ValueError
        When the constraints are not -1, 0 or 1 for features that there are, or the rankers have no direction,
        or the feature's values are categories, which have no order.
    """
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
    # the constant, number 0, is free
    n_own = n_rankers - 1
    return (
        np.append(-np.inf, np.broadcast_to(lower, n_own)),
        np.append(np.inf, np.broadcast_to(upper, n_own)),
    )


def encode_categories(
    learner: WeakRankers, X: Any, encoder: OrdinalEncoder | None, *, fitted: bool
) -> tuple[Any, OrdinalEncoder | None]:
    """Return the rows with categorical columns as numbers for stumps, and what encodes them."""
    if not isinstance(learner, Stumps):
        return X, None
    X = _in_pandas(X)
    numbers = _categorical_numbers(learner, X)
    if not fitted:
        encoder = _fitted_encoder(X, numbers)
    learner.set_params(categorical_features=numbers or "from_dtype")
    return encode(X, encoder), encoder


def _in_pandas(X: Any) -> Any:
    """Return a data frame of another library, such as polars, as one of pandas; anything else as it is."""
    return X.to_pandas() if hasattr(X, "to_pandas") else X


def _is_pandas(X: Any) -> bool:
    """Return whether X is a data frame of pandas, which is not imported where none can be."""
    return hasattr(X, "iloc") and hasattr(X, "columns")


def _categorical_numbers(stumps: Stumps, X: Any) -> list[int]:
    """Return the numbers of the features that ``categorical_features`` names.

    Raises
    ------
    ValueError
        When a name is not a column of the frame, or names are given without a frame.
    """
    chosen: Any = stumps.categorical_features
    is_frame = _is_pandas(X)
    if isinstance(chosen, str):
        if chosen != "from_dtype" or not is_frame:
            return []
        return [number for number, dtype in enumerate(X.dtypes) if _is_category(dtype)]
    chosen = list(chosen)
    if not any(isinstance(feature, str) for feature in chosen):
        marks = np.asarray(chosen)
        return [int(number) for number in (np.flatnonzero(marks) if marks.dtype == bool else marks)]
    names = list(X.columns) if is_frame else []
    strangers = [feature for feature in chosen if feature not in names]
    if strangers:
        raise ValueError(
            f"categorical_features names {strangers[:5]}, which X has no column of; its columns are "
            f"{names[:10] if is_frame else 'unnamed: pass a data frame, or numbers of features'}."
        )
    return [names.index(feature) for feature in chosen]


def _fitted_encoder(X: Any, numbers: list[int]) -> OrdinalEncoder | None:
    """Return an encoder of the frame's categorical columns; None where there is nothing to encode.

    Raises
    ------
    ValueError
        When a column that is no number is not among the categorical features.
    TypeError
        When the categories of a column have no order, or columns no names that are text.
    """
    if not _is_pandas(X):
        return None
    names = [X.columns[number] for number in numbers]
    names += [name for name, dtype in X.dtypes.items() if _is_category(dtype) and name not in names]
    if len(names) > len(numbers):
        raise ValueError(
            f"columns {names[len(numbers) :][:5]} are categorical or text; name them in "
            "categorical_features, or encode them first."
        )
    if not names:
        return None
    if not all(isinstance(name, str) for name in X.columns):
        raise TypeError(
            "columns of categories are found again by their names, and a frame's names must then all be "
            "text: X.columns = X.columns.astype(str)."
        )
    encoder = OrdinalEncoder(
        handle_unknown="use_encoded_value", unknown_value=np.nan, encoded_missing_value=np.nan
    )
    values = _objects(X, names)
    try:
        return encoder.fit(values)
    except TypeError as error:
        kinds = {name: sorted({type(value).__name__ for value in X[name].dropna()}) for name in names}
        mixed = {name: found for name, found in kinds.items() if len(found) > 1} or kinds
        raise TypeError(
            f"categories of one column must have an order, and those of {mixed} have none; make each column "
            "one type, for example by astype(str)."
        ) from error


def encode(X: Any, encoder: OrdinalEncoder | None) -> Any:
    """Return the frame with its categorical columns as numbers; anything else as it is."""
    if encoder is None:
        return X
    X = _in_pandas(X)
    if not _is_pandas(X):
        return X
    names = list(encoder.feature_names_in_)
    missing = [name for name in names if name not in X.columns]
    if missing:
        return X  # the check of feature names will say it
    codes: NDArray[np.float64] = encoder.transform(_objects(X, names))
    return X.assign(**dict(zip(names, codes.T, strict=True)))


def _objects(X: Any, names: list[Any]) -> Any:
    """Return columns as objects, of whatever dtype a batch gives them, with NaN wherever one is missing."""
    import pandas as pd  # X is a frame of it

    values = {name: X[name].to_numpy(dtype=object, na_value=np.nan) for name in names}
    return pd.DataFrame(values, dtype=object)


def _is_category(dtype: Any) -> bool:
    import pandas as pd

    return (
        isinstance(dtype, pd.CategoricalDtype)
        or pd.api.types.is_object_dtype(dtype)
        or (pd.api.types.is_string_dtype(dtype))
    )
