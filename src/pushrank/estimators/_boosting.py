"""The way of the data through a boosted ranker."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Self

import joblib
import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.preprocessing import OrdinalEncoder
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted, validate_data

from pushrank import weak_rankers
from pushrank._io import atomic_write
from pushrank._numeric import Floats
from pushrank._parallel import one_blas_thread
from pushrank._trees import TREE, check_trees
from pushrank._validation import check_number
from pushrank.estimators._base import BaseRanker, ComparingRanker, linear_scores, progress_bar, warn
from pushrank.estimators._scoring import parts, validator
from pushrank.estimators._target import DTYPES, FORMATS, Target, check_on_host, ranking_data
from pushrank.exceptions import ModelFileError
from pushrank.models import LinearModel
from pushrank.objectives import PushObjective
from pushrank.pairs import BipartiteSample, CrucialSample, Sample
from pushrank.solvers.boosting.loop import Choice, CoordinateDescent, Draw, History, Plan, Run
from pushrank.solvers.boosting.objective import ScoreProblem, score_problem
from pushrank.solvers.boosting.steps import ExactStep, StepRule
from pushrank.weak_rankers import Columns, Functions, Regressors, Stumps
from pushrank.weak_rankers.base import Pool, WeakRankers
from pushrank.weak_rankers.stumps import WIDTH


def in_pandas(X: Any) -> Any:
    """Return a data frame of another library, such as polars, as one of pandas; anything else as it is."""
    return X.to_pandas() if hasattr(X, "to_pandas") else X


def is_pandas(X: Any) -> bool:
    """Return whether X is a data frame of pandas, which is not imported where none can be."""
    return hasattr(X, "iloc") and hasattr(X, "columns")


def categorical_numbers(family: Stumps, X: Any) -> list[int]:
    """Return the numbers of the features that ``categorical_features`` names.

    Raises
    ------
    ValueError
        When a name is not a column of the frame, or names are given without a frame.
    """
    chosen: Any = family.categorical_features
    is_frame = is_pandas(X)
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


def fitted_encoder(X: Any, numbers: list[int]) -> OrdinalEncoder | None:
    """Return an encoder of the frame's categorical columns; None where there is nothing to encode.

    Raises
    ------
    ValueError
        When a column that is no number is not among the categorical features.
    TypeError
        When the categories of a column have no order, or columns no names that are text.
    """
    if not is_pandas(X):
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


def encoded(X: Any, encoder: OrdinalEncoder | None) -> Any:
    """Return the frame with its categorical columns as numbers; anything else as it is."""
    if encoder is None:
        return X
    X = in_pandas(X)
    if not is_pandas(X):
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


def row_drawer(target: Target, share: float) -> Draw:
    """Return a function that draws a share of the rows for a round, without replacement.

    Of two classes or grades it draws the share of each, of query groups whole groups, and of explicit pairs
    the rows at random; at least two of what it draws from, and again where no pair is left.
    """
    codes, groups = target.codes, target.groups
    if isinstance(target.sample, CrucialSample):
        units = np.arange(target.sample.n_rows)
        strata = np.zeros(len(units), dtype=np.intp)
    elif groups is not None:
        units, strata = groups, np.zeros(int(groups.max()) + 1, dtype=np.intp)
    else:
        units = np.arange(target.sample.n_rows)
        strata = np.asarray(codes, dtype=np.intp)
    counts = np.bincount(strata)
    sure = isinstance(target.sample, BipartiteSample) and target.weights is None
    takes_part = np.zeros(target.sample.n_rows, dtype=bool)
    takes_part[target.sample.positives] = takes_part[target.sample.negatives] = True

    def draw(random_state: np.random.RandomState) -> NDArray[np.bool_]:
        for _ in range(100):
            order = random_state.permutation(len(strata))
            kept = np.zeros(len(strata), dtype=bool)
            for stratum, count in enumerate(counts):
                members = order[strata[order] == stratum]
                kept[members[: max(1, round(share * count))]] = True
            rows = kept[units]
            if sure or _has_pair(target, rows & takes_part):
                return rows
        raise ValueError(
            f"subsample={share} left no pair to rank in 100 draws; raise it, there are too few rows."
        )

    return draw


def _has_pair(target: Target, rows: NDArray[np.bool_]) -> bool:
    try:
        target.sample.subset(rows)
    except ValueError:
        return False
    return True


def weight_bounds(
    family: WeakRankers, n_features: int, positive: bool, monotonic_cst: Any, names: list[str]
) -> tuple[Floats | float, Floats | float]:
    """Return the least and the largest weight of each ranker, or one number for all.

    Raises
    ------
    ValueError
        When the constraints are not -1, 0 or 1 for features that there are, or the rankers have no direction,
        or the feature's values are categories, which have no order.
    """
    lower = 0.0 if positive else -np.inf
    if monotonic_cst is None:
        return lower, np.inf
    if not isinstance(family, Stumps | Columns):
        raise ValueError("monotonic_cst needs weak_rankers='stumps' or 'columns'.")
    directions = _directions(monotonic_cst, n_features, names)
    if isinstance(family, Stumps):
        _check_ordered(family, directions, names)
        directions = np.repeat(directions, 2 * WIDTH)
        # the rankers of missing values alone order no numbers
        firsts = np.arange(n_features) * 2 * WIDTH + WIDTH
        directions[firsts + [len(edges) for edges in family.edges_]] = 0
    return np.where(directions > 0, 0.0, lower), np.where(directions < 0, 0.0, np.inf)


def _directions(monotonic_cst: Any, n_features: int, names: list[str]) -> NDArray[np.intp]:
    """Return the checked constraints, one of -1, 0 and 1 a feature."""
    given = monotonic_cst
    if isinstance(given, dict):
        strangers = [name for name in given if name not in names]
        if strangers:
            raise ValueError(f"monotonic_cst names {strangers[:5]}, which X has no column of.")
        given = [given.get(name, 0) for name in names]
    directions = np.asarray(given)
    if directions.shape != (n_features,) or not np.isin(directions, [-1, 0, 1]).all():
        raise ValueError(
            f"monotonic_cst must hold -1, 0 or 1 for each of the {n_features} features, got "
            f"{monotonic_cst!r}."
        )
    return directions.astype(np.intp)


def _check_ordered(family: Stumps, directions: NDArray[np.intp], names: list[str]) -> None:
    """Raise where scores should rise or fall with a category."""
    for feature in np.flatnonzero(directions):
        if family.categories_[feature] is not None:
            raise ValueError(
                f"monotonic_cst constrains {names[feature] if names else f'feature {feature}'}, which is "
                "categorical and has no order: set it to 0 there, or encode the feature as numbers that have."
            )


FORMAT = "pushrank checkpoint 2"
FREE = ("n_estimators", "n_jobs", "verbose", "checkpoint", "checkpoint_every")
"""Parameters that may change between the parts of a run."""


def fingerprint(*parts: Any) -> str:
    """Return a digest of everything that a run depends on."""
    return str(joblib.hash(parts, hash_name="sha1"))


def described(value: Any) -> Any:
    """Return a parameter in words that are the same in every process: functions by their names.

    Examples
    --------
    >>> described({"scoring": len, "cst": np.array([1, 0])})
    {'scoring': 'builtins.len', 'cst': [1, 0]}
    """
    if isinstance(value, BaseEstimator):
        return type(value).__name__, described(value.get_params(deep=False))
    if isinstance(value, Mapping):
        return {name: described(item) for name, item in value.items()}
    if isinstance(value, np.ndarray):
        return value.tolist()
    if isinstance(value, list | tuple):
        return [described(item) for item in value]
    if callable(value) and hasattr(value, "__qualname__"):
        return f"{value.__module__}.{value.__qualname__}"
    return value


class Checkpoint:
    """The file that a run is kept in.

    Parameters
    ----------
    path : str or Path
        Where; the folder must exist.
    every : int
        Write after every so many rounds.
    digest : str
        The fingerprint of parameters and data, which must agree for a run to go on.
    """

    def __init__(self, path: str | Path, every: int, digest: str) -> None:
        self.path, self.every, self.digest = Path(path), every, digest
        if not self.path.parent.is_dir():
            raise ValueError(f"checkpoint={str(path)!r}: the folder {self.path.parent} does not exist.")

    def read(self) -> dict[str, Any] | None:
        """Return the state kept in the file, or None where there is no file.

        Raises
        ------
        ModelFileError
            When the file is damaged, no checkpoint, or of another run.
        """
        from skops import io

        if not self.path.exists():
            return None
        try:
            state = io.load(self.path, trusted=[TREE])
            check_trees(state)
        except Exception as error:
            raise ModelFileError(
                f"checkpoint {self.path} cannot be read ({error}); delete it to start anew."
            ) from error
        if not isinstance(state, dict) or state.get("format") != FORMAT:
            raise ModelFileError(f"{self.path} is not a checkpoint of this version; delete it to start anew.")
        if state["fingerprint"] != self.digest:
            raise ModelFileError(
                f"checkpoint {self.path} is of a run with other data or other parameters; delete it to start "
                "anew, or restore them to go on."
            )
        return state

    def write(self, run: Run, family: WeakRankers, first_state: dict[str, Any]) -> None:
        """Write the run's state beside the file and move it there whole."""
        from skops import io

        state = {
            "format": FORMAT,
            "fingerprint": self.digest,
            "first_state": first_state,
            "random_state": random_state_arrays(run.random_state),
            "scores": run.descent.scores,
            "weights": run.descent.weights,
            "best_scores": run.best_scores,
            "history": run.history.arrays(),
            "rankers": grown(family),
        }
        with atomic_write(self.path) as beside:
            io.dump(state, beside)


def alike(one: WeakRankers, other: WeakRankers, X: Any) -> bool:
    """Return whether two families are of the same weak rankers: functions are known by what they return."""
    if isinstance(one, Functions) and isinstance(other, Functions):
        return np.array_equal(one.outputs(X), other.outputs(X))
    return fingerprint(described(one)) == fingerprint(described(other))


def restored(state: dict[str, Any]) -> tuple[History, Floats, Floats, Floats | None]:
    """Return the history, the scores, the weights and the best scores of a kept state."""
    return History.from_arrays(state["history"]), state["scores"], state["weights"], state["best_scores"]


def grown(family: WeakRankers) -> dict[str, Any]:
    """Return the weak rankers that were made on the way."""
    if not isinstance(family, Regressors):
        return {}
    names = ("regressors_", "subsets_", "lows_", "ranges_")
    return {name: getattr(family, name) for name in names}


def keeper_of(
    ranker: Any, family: WeakRankers, X: Any, target: Target, max_rounds: int
) -> tuple[Checkpoint | None, dict[str, Any] | None]:
    """Return the keeper of a ranker's run, and the state that its file holds; None where there is none.

    Raises
    ------
    ValueError
        When the folder does not exist, the file holds more than ``n_estimators``, or weak rankers cannot be
        kept.
    ModelFileError
        When the file is damaged, no checkpoint, or of another run.
    """
    if ranker.checkpoint is None:
        return None, None
    check_keepable(family)
    parameters = {name: value for name, value in ranker.get_params(deep=False).items() if name not in FREE}
    if not isinstance(ranker.random_state, int | np.integer):
        parameters.pop("random_state")
    outputs = family.outputs(X) if isinstance(family, Functions) else None
    words = type(ranker).__name__, repr(described(parameters))
    digest = fingerprint(*words, X, target.weights, vars(target.sample), outputs)
    keeper = Checkpoint(ranker.checkpoint, int(ranker.checkpoint_every), digest)
    state = keeper.read()
    if state is not None and len(state["history"]["rankers"]) > max_rounds:
        raise ValueError(
            f"checkpoint {ranker.checkpoint} holds {len(state['history']['rankers'])} rounds, more than "
            f"n_estimators={max_rounds}; raise n_estimators or delete the file."
        )
    return keeper, state


def check_keepable(family: WeakRankers) -> None:
    """Raise unless the weak rankers made on the way can be kept in a file.

    Raises
    ------
    ValueError
        When a base learner is of a type that a checkpoint would not load.
    """
    from skops import io

    if isinstance(family, Regressors) and family.estimator is not None:
        strangers = set(io.get_untrusted_types(data=io.dumps(family.estimator))) - {TREE}
        if strangers:
            raise ValueError(
                f"a checkpoint can hold base learners of scikit-learn only, not {', '.join(strangers)}."
            )


def random_state_arrays(random_state: np.random.RandomState) -> dict[str, Any]:
    """Return the state of a random source as plain values."""
    _, keys, position, has_gauss, gauss = random_state.get_state(legacy=True)
    return {
        "keys": np.asarray(keys),
        "position": int(position),
        "has_gauss": int(has_gauss),
        "gauss": float(gauss),
    }


def random_state_from(state: dict[str, Any]) -> np.random.RandomState:
    """Return a random source in a kept state."""
    random_state = np.random.RandomState()
    keys: NDArray[np.uint32] = state["keys"]
    random_state.set_state(("MT19937", keys, state["position"], state["has_gauss"], state["gauss"]))
    return random_state


LEARNED = (
    "classes_",
    "thresholds_",
    "coef_",
    "intercept_",
    "validation_path_",
    "best_round_",
    "_first_coef",
    "_encoder",
)
"""Attributes that some fits have and others lack."""


class AdditiveRanker(BaseRanker):
    """A fitted sum of weak rankers: ``weak_rankers_``, and the ``rankers_`` and ``steps_`` of the rounds."""

    def decision_function(self, X: Any) -> NDArray[np.floating]:
        """Return a score for each row, the higher the better, positive where ``predict`` says positive.

        Parameters
        ----------
        X : array-like, sparse matrix or data frame of shape (n_samples, n_features)
            Rows with the features of ``fit``.

        Returns
        -------
        ndarray of shape (n_samples,)
            The weighted sum of the weak rankers less ``threshold_``; for columns ``X @ coef_ - threshold_``,
            in the dtype of the training data.
        """
        check_is_fitted(self, "steps_")
        X = self._checked(X)
        if hasattr(self, "coef_"):
            linear: NDArray[np.floating] = linear_scores(X, self.coef_)
            return linear - linear.dtype.type(self.threshold_)
        own = self.rankers_ >= 0
        scores = self.weak_rankers_.scores(X, self.rankers_[own], self.steps_[own])
        shifted: NDArray[np.floating] = scores + getattr(self, "intercept_", 0.0) - self.threshold_
        return shifted

    def staged_decision_function(self, X: Any) -> Iterator[NDArray[np.floating]]:
        """Yield the scores of ``decision_function`` as they would be after each round.

        Parameters
        ----------
        X : array-like, sparse matrix or data frame of shape (n_samples, n_features)
            Rows with the features of ``fit``.

        Yields
        ------
        ndarray of shape (n_samples,)
            A new array for each of the ``n_iter_`` rounds, the last as ``decision_function`` but for
            rounding.

        Raises
        ------
        AttributeError
            When the ranker was fitted by a gradient solver.
        """
        self._check_boosted()
        X = self._checked(X)
        total = np.full(X.shape[0], getattr(self, "intercept_", 0.0) - self.threshold_)
        if hasattr(self, "coef_"):
            total += LinearModel(X, centred=False).scores(self._first_coef)
            total += float(self.weak_rankers_.lows_ @ (self.coef_ - self._first_coef))
        for ranker, step in zip(self.rankers_, self.steps_, strict=True):
            total = total + (step * self.weak_rankers_.values(X, int(ranker)) if ranker >= 0 else 0.0)
            yield total

    @property
    def feature_importances_(self) -> Floats:
        """The share of each feature in the fall of the objective over all rounds, shape (n_features,).

        Raises
        ------
        AttributeError
            When the ranker is not fitted by boosting, or its weak rankers do not tell which features they
            read.
        """
        if not hasattr(self, "steps_"):
            raise AttributeError("feature_importances_ are of rankers fitted by boosting only.")
        gains = np.maximum(-np.diff(self.objective_path_), 0.0)
        own = self.rankers_ >= 0
        importances: Floats = self.weak_rankers_.importances(self.rankers_[own], gains[own])
        total = importances.sum()
        return importances / total if total > 0.0 else importances

    def _check_boosted(self) -> None:
        """Raise unless the ranker was fitted, and by boosting."""
        check_is_fitted(self)
        if not hasattr(self, "steps_"):
            raise AttributeError(
                "only rankers fitted by boosting have stages; this one was fitted by a gradient solver: set "
                "solver='coordinate'."
            )

    def _checked(self, X: Any) -> Any:
        check_on_host(self, X=X)
        options: dict[str, Any] = {"accept_sparse": FORMATS, "dtype": DTYPES, "reset": False}
        if self.weak_rankers_.takes_missing:
            options["ensure_all_finite"] = "allow-nan"
        return validate_data(self, encoded(X, getattr(self, "_encoder", None)), **options)

    def _margin(self, family: WeakRankers, train: Sample, scores: NDArray[np.floating]) -> float:
        """Return the least margin of a training pair over the sum of absolute weights."""
        if isinstance(family, Columns) and hasattr(self, "coef_"):
            norm = float(np.abs(self.coef_.astype(np.float64)) @ family.ranges_)
        else:
            own = self.rankers_ >= 0
            norm = float(np.abs(np.bincount(self.rankers_[own], self.steps_[own], minlength=1)).sum())
        return train.least_margin(scores.astype(np.float64)) / norm if norm > 0.0 else 0.0

    def __sklearn_tags__(self) -> Any:
        """Return scikit-learn's tags; missing values are taken where the weak rankers take them."""
        tags = super().__sklearn_tags__()
        name = self.weak_rankers
        tags.input_tags.allow_nan = name == "stumps" or isinstance(name, Stumps)
        return tags


class BoostedRanker(AdditiveRanker, ComparingRanker):
    """A ranker made of weak rankers, one more (or one weighted anew) in each round.

    A subclass has the parameters ``weak_rankers``, ``n_estimators``, ``learning_rate``, ``positive``,
    ``monotonic_cst``, ``subsample``, ``max_features``, ``early_stopping``, ``scoring``,
    ``validation_fraction``, ``n_iter_no_change``, ``tol``, ``warm_start``, ``checkpoint``,
    ``checkpoint_every``, ``n_jobs``, ``random_state`` and ``verbose``, and names its objective.
    """

    def _learn(self, X: Any, y: ArrayLike | None, *of_rows: Any) -> Self:
        self._check_parameters()
        objective = self._objective()
        family = clone(weak_rankers.resolve(self.weak_rankers))
        X, encoder = self._encoded(family, X)
        X, target = ranking_data(self, X, y, *of_rows, allow_missing=family.takes_missing)
        self._check_target(target)
        if self._adds_rounds:
            self._check_last_rounds(family, X)
        with one_blas_thread():
            self._boost(objective, family, X, target, y)
        if encoder is not None:
            self._encoder = encoder
        return self

    def _check_parameters(self) -> None:
        self._check_rounds()
        for name in ("learning_rate", "subsample", "max_features"):
            check_number(name, getattr(self, name), above=0.0, most=1.0)
        check_number("tol", self.tol, 0.0)
        if self.early_stopping:
            check_number("validation_fraction", self.validation_fraction, above=0.0, below=1.0)
            check_number("n_iter_no_change", self.n_iter_no_change, 1, integer=True)
        check_number("checkpoint_every", self.checkpoint_every, 1, integer=True)
        if self.n_jobs is not None and (isinstance(self.n_jobs, bool) or self.n_jobs == 0):
            raise ValueError(f"n_jobs must be None, -1 or a number of threads, got {self.n_jobs!r}.")

    def _check_rounds(self) -> None:
        """Raise where the ranker is not told how many rounds to run."""
        check_number("n_estimators", self.n_estimators, 1, integer=True)

    def _check_target(self, target: Target) -> None:
        """Raise where this ranker cannot learn from such a target."""

    def _check_run(self, run: Run) -> None:
        """Raise or warn where a finished run did not bring what was asked for."""

    @property
    def _choice(self) -> Choice:
        """How a round chooses its weak ranker."""
        return "steepest"

    def _rule(self, sample: Sample) -> StepRule:  # noqa: ARG002
        """Return how far a round steps."""
        return ExactStep()

    def _score_problem(self, objective: PushObjective, sample: Sample) -> ScoreProblem:
        """Return the objective on the training rows."""
        return score_problem(objective, sample, self._n_threads)

    def _training_pool(self, pool: Pool) -> Pool:
        """Return the weak rankers as this algorithm sees them."""
        return pool

    def _weights_in_family(self, run: Run) -> tuple[NDArray[np.intp], Floats]:
        """Return the rounds' rankers and steps in terms of values in [0, 1].

        A round that moved no ranker of the family, but the constant, has the number -1.
        """
        return np.array(run.history.rankers, dtype=np.intp), np.array(run.history.steps)

    @property
    def _n_threads(self) -> int | None:
        return None if self.n_jobs is None or self.n_jobs < 0 else int(self.n_jobs)

    @property
    def _max_rounds(self) -> int:
        return int(self.n_estimators)

    @property
    def _penalty(self) -> float:
        return 0.0

    def _encoded(self, family: WeakRankers, X: Any) -> tuple[Any, Any]:
        if not isinstance(family, Stumps):
            return X, None
        X = in_pandas(X)
        numbers = categorical_numbers(family, X)
        encoder = getattr(self, "_encoder", None) if self._adds_rounds else fitted_encoder(X, numbers)
        family.set_params(categorical_features=numbers or "from_dtype")
        return encoded(X, encoder), encoder

    def _boost(
        self, objective: PushObjective, family: WeakRankers, X: Any, target: Target, y: ArrayLike | None
    ) -> None:
        random_state = check_random_state(self.random_state)
        first_state = random_state_arrays(random_state)
        keeper, state = keeper_of(self, family, X, target, self._max_rounds)
        if state is not None:
            first_state = state["first_state"]
            random_state = random_state_from(first_state)
        going_on = self._adds_rounds
        train, valid = target.sample, None
        if self.early_stopping:
            train, valid = parts(target, float(self.validation_fraction), random_state)
        takes_part = np.zeros(X.shape[0])
        takes_part[train.positives] = takes_part[train.negatives] = 1.0
        row_weights = takes_part if target.weights is None else takes_part * target.weights
        family = self.weak_rankers_ if going_on else family
        if not going_on:
            family.fit(X, None if row_weights.all() and target.weights is None else row_weights, random_state)
        run = self._run(objective, family, X, train, random_state)
        if going_on:
            self._go_on(run)
        if state is not None:
            self._restore(run, family, state)
        plan = Plan(
            self._max_rounds,
            float(self.tol),
            self._row_drawer(target, train),
            self._feature_drawer(X.shape[1]),
            None
            if valid is None
            else validator(self._score_problem(objective, valid), valid, self.scoring, X, y, target),
            int(self.n_iter_no_change) if self.early_stopping else 0,
        )

        def after_round(run: Run) -> None:
            if keeper is not None and run.history.n_rounds % keeper.every == 0:
                keeper.write(run, family, first_state)

        with progress_bar(type(self).__name__, plan.max_rounds, verbose=bool(self.verbose)) as callback:
            run.go(plan, callback, after_round)
        if keeper is not None:
            keeper.write(run, family, first_state)
        self._check_run(run)
        self._keep_rounds(family, X, target, train, run)

    def _run(
        self,
        objective: PushObjective,
        family: WeakRankers,
        X: Any,
        train: Sample,
        random_state: np.random.RandomState,
    ) -> Run:
        """Return a run at its beginning."""
        pool = self._training_pool(family.pool(X, self._n_threads))
        lower, upper = self._bounds(family, X.shape[1], pool.n_rankers)
        ridge: Floats | float = self._penalty
        scales: Floats | float = 1.0
        scores, weights = np.zeros(X.shape[0]), np.zeros(pool.n_rankers)
        if isinstance(family, Columns):
            ridge = self._penalty * family.units_**2 if self._penalty > 0.0 else 0.0
            scales = self._column_scales(objective, X, train, family.units_)
            start = self._initial_coef(X.shape[1])
            if start is not None:
                scores, weights = LinearModel(X).scores(start), start * family.ranges_
        descent = CoordinateDescent(
            self._score_problem(objective, train),
            pool,
            self._rule(train),
            scores,
            weights,
            choice=self._choice,
            ridge=ridge,
            scales=scales,
            lower=lower,
            upper=upper,
            learning_rate=float(self.learning_rate),
        )
        return Run(descent, History(), random_state)

    def _column_scales(self, *_: Any) -> Floats | float:
        """Return the units in which slopes of columns are compared with the tolerance."""
        return 1.0

    def _initial_coef(self, n_features: int) -> Floats | None:  # noqa: ARG002
        """Return the coefficients to start from, or None for zeros."""
        return None

    @property
    def _adds_rounds(self) -> bool:
        """Whether this fit adds rounds to those of the last."""
        return bool(self.warm_start) and self.n_estimators is not None and hasattr(self, "steps_")

    def _check_last_rounds(self, family: WeakRankers, X: Any) -> None:
        """Raise where rounds cannot be added to those of the last fit."""
        if not alike(family, self.weak_rankers_, X):
            raise ValueError(
                f"warm_start=True adds rounds to the last fit, whose weak rankers were {self.weak_rankers_}, "
                f"and weak_rankers={self.weak_rankers!r} are others: set them back, or warm_start=False to "
                "start anew."
            )
        if len(self.steps_) > self._max_rounds:
            raise ValueError(
                f"n_estimators={self._max_rounds} must be at least the {len(self.steps_)} rounds already "
                "run, when warm_start=True."
            )

    def _go_on(self, run: Run) -> None:
        """Put a run where the last fit ended."""
        history = History.from_arrays(self._history)
        pool, scores, weights = run.descent.pool, run.descent.scores, run.descent.weights
        np.add.at(weights, np.array(history.rankers, dtype=np.intp), history.steps)
        # a value at a time, as the rounds did it
        for ranker, step in zip(history.rankers, history.steps, strict=True):
            values = pool.values(ranker)
            scores += step * (np.where(values, 1.0, pool.low) if values.dtype == bool else values)
        run.history = history
        run.descent.start(scores, weights)

    def _restore(self, run: Run, family: WeakRankers, state: dict[str, Any]) -> None:
        for name, value in state["rankers"].items():
            setattr(family, name, value)
        run.history, scores, weights, run.best_scores = restored(state)
        run.descent.start(scores, weights)
        run.random_state = random_state_from(state["random_state"])

    def _row_drawer(self, target: Target, train: Sample) -> Draw | None:
        if self.subsample == 1.0:
            return None
        part = Target(train, target.weights, target.classes, target.codes, target.groups)
        return row_drawer(part, float(self.subsample))

    def _feature_drawer(self, n_features: int) -> Any:
        if self.max_features == 1.0:
            return None
        count = max(1, round(float(self.max_features) * n_features))
        return lambda random_state: np.sort(random_state.permutation(n_features)[:count])

    def _bounds(
        self,
        family: WeakRankers,
        n_features: int,
        n_rankers: int,  # noqa: ARG002
    ) -> tuple[Floats | float, Floats | float]:
        """Return the bounds of all weights, from ``positive`` and the monotonic constraints."""
        names = list(getattr(self, "feature_names_in_", []))
        return weight_bounds(family, n_features, bool(self.positive), self.monotonic_cst, names)

    def _keep_rounds(self, family: WeakRankers, X: Any, target: Target, train: Sample, run: Run) -> None:
        history = run.history
        scores: NDArray[np.floating] = run.descent.scores
        start = self._initial_coef(X.shape[1])
        self._forget(LEARNED)
        self.converged_ = run.converged
        if self.early_stopping:
            self.converged_ = run.converged and history.rounds_since_best == 0
            self.validation_path_ = np.array(history.validation)
            self.best_round_ = history.best_round
            history.cut()
            scores = scores if run.best_scores is None else run.best_scores
        self._history = history.arrays()
        self.weak_rankers_ = family
        self.rankers_, self.steps_ = self._weights_in_family(run)
        self.edge_path_ = np.array(history.edges)
        self.objective_path_ = np.array(history.objectives)
        self.n_iter_ = history.n_rounds
        if isinstance(family, Columns):
            self._first_coef = np.zeros(X.shape[1]) if start is None else start
            own = self.rankers_ >= 0
            coef = self._first_coef + family.coef(self.rankers_[own], self.steps_[own])
            self.coef_ = coef.astype(X.dtype)
            scores = linear_scores(X, self.coef_)
        self.margin_ = self._margin(family, train, scores)
        self._keep_classes(target, scores)
        if self.n_estimators is None and not (run.converged or run.stopped_early):
            if self._penalty == 0.0 and self.margin_ > 0.0:
                advice = (
                    "the training data are separable and alpha=0, so the objective has no minimum: set "
                    "alpha > 0 for a unique solution, or n_estimators to choose the number of rounds."
                )
            else:
                advice = (
                    f"the largest entry of the scaled gradient is {run.gradient_size:.1e}: raise "
                    "max_iter or tol, set n_estimators to choose the number of rounds, or use solver='lbfgs'."
                )
            warn(
                f"{type(self).__name__} did not converge in max_iter={self._max_rounds} rounds; {advice}",
                ConvergenceWarning,
            )
