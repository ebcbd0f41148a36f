"""Rankers that train a library's booster on a push: validate, train, set the fitted attributes."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import replace
from functools import partial
from inspect import cleandoc
from typing import Any, ClassVar, Literal, NamedTuple, Protocol, Self, TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils import (
    Tags,
    _safe_indexing,
    assert_all_finite,
    check_consistent_length,
    check_random_state,
    column_or_1d,
)
from sklearn.utils.validation import check_is_fitted, validate_data

from pushrank import losses, prices
from pushrank._base.bounds import check_number
from pushrank._base.docstrings import shared_docs, shared_docs_from
from pushrank._base.numeric import Floats
from pushrank._base.user_types import Matrix, MatrixLike, Seed
from pushrank._base.validation import checked_entries, group_numbers, plain_labels, warn
from pushrank.estimators._base import BaseEstimator, RankerMixin, set_classes
from pushrank.estimators._scoring import HeldOutScorer, check_one_scorer, parts
from pushrank.estimators._target import DTYPES, FORMATS, Target, checked_data, row_weights
from pushrank.interop._derivatives import check_objective, derivatives
from pushrank.losses import Loss
from pushrank.metrics import average_precision
from pushrank.metrics._ranking import Ranking
from pushrank.objectives import PushObjective
from pushrank.objectives.push import Scale, Side
from pushrank.pairs import BipartiteSample, GradedSample
from pushrank.pairs.targets import sample_of_labels
from pushrank.prices import Power, Price

# As p this stands for the log loss of the library in place of a push.
BINARY = "binary"
DEFAULT_P = 4.0
# Boosters add up in float32, so that more digits in the sums of analytic losses would be lost on them.
ACCURACY = 1e-6
# LightGBM writes names into JSON, and XGBoost into the conditions of its splits.
REFUSED_IN_NAMES = frozenset('[]{}<>",:')
# Missing values go to the booster.
AS_THEY_ARE: dict[str, Any] = {"accept_sparse": FORMATS, "dtype": DTYPES, "ensure_all_finite": False}


class TrainingSet(NamedTuple):
    """Rows for a booster, and its gradient and diagonal at scores; None is the library's log loss."""

    X: Matrix
    labels: Floats
    weights: Floats | None
    derivatives: Callable[[Floats], tuple[Floats, Floats]] | None


class ValidationSet(NamedTuple):
    """Rows that are scored after every round, by a function of their scores."""

    X: Matrix
    labels: Floats
    score: Callable[[Floats], float]


class Validation(NamedTuple):
    """What is done after every round; sets may fail to rise for ``patience`` rounds, where it is not None."""

    sets: list[ValidationSet]
    callbacks: list[object]
    patience: int | None


Booster = TypeVar("Booster")


class Engine(Protocol[Booster]):
    """A library of boosters; ``limits`` names the parameters that forbid splits, for a message."""

    limits: str

    def params(self, ranker: BoosterRanker, seed: int) -> dict[str, Any]:
        """Return the library's parameters; unknown ones, and those that the ranker sets, are errors."""

    def train(
        self, params: dict[str, Any], rows: TrainingSet, n_rounds: int, validation: Validation
    ) -> tuple[Booster, dict[str, Any]]:
        """Return a booster, cut at its best round, and ``evals_result_``."""

    def staged_scores(self, booster: Booster, X: Matrix) -> Iterator[Floats]:
        """Yield the scores of rows after each round."""

    def scores(self, booster: Booster, X: Matrix) -> Floats:
        """Return the scores of rows."""

    def parts(self, booster: Booster, X: Matrix) -> Floats:
        """Return what features add to the scores of rows by TreeSHAP, and the base last."""

    def n_rounds(self, booster: Booster) -> int:
        """Return the number of rounds that are kept."""

    def gains(self, booster: Booster) -> Floats:
        """Return by how much splits on each feature lowered the objective."""

    def to_text(self, booster: Booster) -> str:
        """Return a booster in the library's text format."""

    def from_text(self, text: str) -> Booster:
        """Return the booster of a text."""


@shared_docs
class BoosterRanker(RankerMixin, BaseEstimator):
    r"""A ranker that trains the boosters of ``engine``, a library.

    Gradient boosting of

    .. math:: \frac{1}{p} \ln \sum_k \Bigl(\sum_i \ell(f(x_i) - f(\tilde x_k))\Bigr)^p ,

    i over the positives and k over the negatives, in one list of any length. A round costs as much as the
    library's, and time linear in the rows or that of sorting them, not the pairs. Rows of weight zero are
    left out. Models are saved with :func:`~pushrank.persistence.save`, in the library's text format. Rudin,
    *The P-Norm Push*, JMLR 10 (2009), 2233-2271.

    Parameters
    ----------
    p : float or "binary"
        The strength of the push, any finite number of at least 1. Or ``"binary"``, the log loss of the
        library, which takes no notice of the other parameters of a push.
    price : Price, str or None
        A smooth price in place of the power p, or its name in :mod:`pushrank.prices`: ``"log_one_plus"`` with
        ``side="pull"`` is the objective of the IR Push. None is the power p.
    side : {"push", "pull", "both"}
    bottom_weight : float
    loss : Loss or str
    n_estimators : int
    early_stopping : bool
        Whether to return to the round where the score of a validation part, or ``eval_set``, was the best.
    scoring : str, callable or None
        A scorer for the validation part: the name of a scorer in :mod:`pushrank.metrics.scorers`, a scorer
        that ``make_top_scorer`` makes, or what scikit-learn takes; None takes the average precision.
    validation_fraction : float
        The fraction of the rows (of the query groups) to validate on, in (0, 1); they are not learned from.
    n_iter_no_change : int
    refit : bool
        Whether, after rounds were stopped by a validation part, all rows are learnt from, for as many rounds.
        Where the latest rows lack a class that part is drawn at random, and where a class has too few rows
        for a part, `n_iter_no_change` rounds are taken, with a warning.
    n_jobs : int or None
        The number of threads; None takes the library's default, all processors. It changes no result.
    random_state : int, RandomState or None
    **booster_params
        Any other parameter of the library, by its name there or its alias in the library's scikit-learn
        interface, such as ``learning_rate``, ``max_depth``, ``min_child_weight`` or ``reg_lambda``.

    Attributes
    ----------
    booster_ : Booster
        That of the library, trained on all rows, or without `refit` on all but the validation part.
    classes_ : ndarray of shape (n_classes,)
        The two classes, or the grades, in ascending order.
    %(threshold_)s
    thresholds_ : ndarray of shape (n_classes - 1,)
        The break-even points above each class or grade but the highest; ``threshold_`` is the first.
    feature_importances_ : ndarray of shape (n_features,)
        The share of each feature in the gain of all splits.
    n_iter_, best_round_ : int
        The number of rounds kept.
    validation_path_ : ndarray
        The scores of the validation part after each round, also after those beyond the best, which are not
        kept; empty without ``early_stopping``.
    evals_result_ : dict
        ``evals_result_["valid_0"]["score"]`` are the scores of the first set of ``eval_set``, or of the
        validation part, after each round, ``"valid_1"`` those of the second.
    %(features_)s
    """

    engine: ClassVar[Engine[Any]]
    booster_: Any

    def __init__(
        self,
        p: float | Literal["binary"] = DEFAULT_P,
        *,
        price: Price | str | None = None,
        side: Side = "push",
        bottom_weight: float = 1.0,
        loss: Loss | str = "exponential",
        n_estimators: int = 100,
        early_stopping: bool = False,
        scoring: str | Callable[..., float] | None = None,
        validation_fraction: float = 0.1,
        n_iter_no_change: int = 10,
        refit: bool = False,
        n_jobs: int | None = None,
        random_state: Seed = None,
        **booster_params: object,
    ) -> None:
        self.p, self.price, self.side, self.bottom_weight, self.loss = p, price, side, bottom_weight, loss
        self.n_estimators, self.n_jobs, self.random_state = n_estimators, n_jobs, random_state
        self.early_stopping, self.scoring = early_stopping, scoring
        self.validation_fraction, self.n_iter_no_change = validation_fraction, n_iter_no_change
        self.refit = refit
        self._booster_params = booster_params

    def fit(
        self,
        X: MatrixLike,
        y: ArrayLike,
        sample_weight: ArrayLike | None = None,
        *,
        qid: ArrayLike | None = None,
        time: ArrayLike | None = None,
        eval_set: Any = None,
        eval_sample_weight: Any = None,
        eval_qid: Any = None,
        callbacks: Sequence[object] | None = None,
    ) -> Self:
        """Learn a ranking from two classes, or from grades of relevance.

        Parameters
        ----------
        X : array-like, sparse matrix or data frame of shape (n_samples, n_features)
            Features, of which NaN are missing values. Data frames of pandas are passed to the booster as they
            are, with their categorical columns.
        y : array-like of shape (n_samples,)
            Labels of two classes, the larger in sorted order to be ranked at the top; or grades of relevance,
            numbers of which a higher one should stand above every lower one.
        sample_weight : array-like of shape (n_samples,), optional
        qid : array-like of shape (n_samples,), optional
        time : array-like of shape (n_samples,), optional
            %(time_stopping)s
        eval_set : list of (X, y), optional
            Rows that ``scoring`` scores after every round, such as those of a later time. With
            ``early_stopping`` they stop the rounds: in XGBoost the last set, in LightGBM whichever is first.
        eval_sample_weight, eval_qid : list of array-like, optional
            For each set its weights and its query groups, or None.
        callbacks : list, optional
            Callbacks of the library, such as ``lightgbm.early_stopping(20)``.

        %(fitted_or_value_error)s
            When a parameter is out of range or not the library's, the data hold nothing to rank, a set of
            ``eval_set`` has other features or classes, the loss or the price has kinks, or no split meets the
            limits of a leaf, so that all rows would score alike.
        TypeError
            When a parameter has the wrong type.
        """
        objective = push_objective(self)
        check_number("n_estimators", self.n_estimators, 1, integer=True)
        check_one_scorer(self.scoring)
        X, target = validate_table(self, X, y, sample_weight, qid)
        if objective is None and not isinstance(target.sample, BipartiteSample):
            raise ValueError(
                "Only binary classification is supported by the log loss; for grades and query groups take a "
                "push, PushLGBMRanker or PushXGBRanker with a number for p."
            )
        random_state = check_random_state(self.random_state)
        params = self.engine.params(self, int(random_state.randint(np.iinfo(np.int32).max)))
        rows, train_target, patience = np.arange(target.sample.n_rows), target, None
        sets = given_sets(self, target, eval_set, eval_sample_weight, eval_qid)
        if self.early_stopping:
            check_number("validation_fraction", self.validation_fraction, above=0.0, below=1.0)
            check_number("n_iter_no_change", self.n_iter_no_change, 1, integer=True)
            patience = int(self.n_iter_no_change)
        n_rounds = int(self.n_estimators)
        if self.early_stopping and not sets:
            # Wrong times are refused here, whether or not the part they cut would do.
            timed = target.at(time)
            try:
                learnt_part, held_out = self._parts_of(timed, random_state)
            except ValueError:
                if not self.refit:
                    raise
                warn(f"too few rows say how many rounds are best: all are learnt from in {patience} rounds.")
                n_rounds, patience = min(n_rounds, patience or n_rounds), None
            else:
                rows, train_target = learnt_part
                sets = [validation_set(self, _safe_indexing(X, held_out[0]), held_out[1])]

        def training(part: Matrix, of: Target) -> TrainingSet:
            at_scores = None if objective is None else partial(derivatives, objective, of.sample)
            return TrainingSet(part, np.asarray(of.codes, dtype=np.float64), of.weights, at_scores)

        learnt = training(_safe_indexing(X, rows), train_target)
        validation = Validation(sets, list(callbacks or ()), patience)
        booster, paths = self.engine.train(params, learnt, n_rounds, validation)
        if self.refit and len(rows) < target.sample.n_rows:
            alone = Validation([], [], None)
            booster, _ = self.engine.train(params, training(X, target), self.engine.n_rounds(booster), alone)
        scores = self.engine.scores(booster, X)
        # A booster without a split is no error to the libraries, and would rank nothing.
        if scores.min() == scores.max():
            raise no_split(len(rows), self.engine.limits)
        self.booster_, self.evals_result_ = booster, paths
        self.validation_path_ = np.array([] if patience is None else paths[f"valid_{len(sets) - 1}"]["score"])
        self.n_iter_ = self.best_round_ = self.engine.n_rounds(booster)
        set_classes(self, target, scores, grades=True)
        return self

    def _parts_of(self, target: Target, random_state: np.random.RandomState) -> Any:
        """Return the rows to learn from and those to validate on, each with their target."""

        def part(kept: NDArray[np.bool_]) -> tuple[NDArray[np.intp], Target]:
            return np.flatnonzero(kept), subset(target, kept)

        try:
            return parts(target, float(self.validation_fraction), random_state, part)
        except ValueError:
            if not self.refit or target.times is None:
                raise
        # The latest rows may hold no positive, and others than these are learnt from in the end, too.
        return parts(replace(target, times=None), float(self.validation_fraction), random_state, part)

    def decision_function(self, X: MatrixLike) -> NDArray[np.floating]:
        """Return a score for each row, the higher the better, positive where ``predict`` says positive.

        %(array_of_rows)s
            The booster's scores before any transformation, less ``threshold_``.
        """
        check_is_fitted(self, "booster_")
        scores: NDArray[np.floating] = self.engine.scores(self.booster_, self._validated(X))
        return scores - scores.dtype.type(self.threshold_)

    def _parts(self, X: MatrixLike) -> Floats:
        """Return the parts of the scores, base last."""
        check_is_fitted(self, "booster_")
        parts = self.engine.parts(self.booster_, self._validated(X))
        parts = np.array(parts.toarray() if hasattr(parts, "toarray") else parts, dtype=np.float64)
        parts[:, -1] -= self.threshold_
        return parts

    def staged_decision_function(self, X: MatrixLike) -> Iterator[NDArray[np.floating]]:
        """Yield the scores of ``decision_function`` as they would be after each round.

        %(staged_rows)s
        """
        check_is_fitted(self, "booster_")
        for scores in self.engine.staged_scores(self.booster_, self._validated(X)):
            yield scores - scores.dtype.type(self.threshold_)

    @property
    def feature_importances_(self) -> Floats:
        """The share of each feature in the gain of all splits, shape (n_features,)."""
        if not hasattr(self, "booster_"):
            raise AttributeError("feature_importances_ need a fitted ranker.")
        gains = self.engine.gains(self.booster_)
        return np.asarray(gains / gains.sum())

    def get_params(self, deep: bool = True) -> dict[str, object]:
        """Return the parameters of the constructor and those of the library."""
        return {**super().get_params(deep=deep), **self._booster_params}

    def set_params(self, **params: object) -> Any:
        """Set parameters of the constructor or, by any other name, of the library."""
        named = super().get_params(deep=False)
        others = {name: params.pop(name) for name in list(params) if name.partition("__")[0] not in named}
        self._booster_params = {**self._booster_params, **others}
        return super().set_params(**params)

    def _not_taken(self, name: str, why: str, stops: Collection[str]) -> ValueError:
        """Return the error of a parameter of the library; ``stops`` are its names of early stopping."""
        value = self._booster_params[name]
        how = f", by early_stopping=True, n_iter_no_change={value!r}" if name in stops else ""
        return ValueError(f"{name}={value!r} cannot be taken: {why}{how}.")

    @property
    def _rounds_nest(self) -> bool:
        """Whether the first rounds of a fit are a fit of fewer rounds."""
        # DART rescales the trees of earlier rounds in later ones.
        return not (self.early_stopping or "dart" in map(str, self._booster_params.values()))

    def _validated(self, X: MatrixLike) -> Matrix:
        if hasattr(X, "iloc"):
            return checked_frame(self, X, reset=False)
        return checked_data(self, X, reset=False, **AS_THEY_ARE)

    def __getstate__(self) -> Any:
        """Return the state with the booster in its library's text format, for pickle and skops."""
        # A text holds no code, so that skops loads it without trust in the library's classes.
        state = super().__getstate__()
        return state | {"booster_": self.engine.to_text(state["booster_"])} if "booster_" in state else state

    def __setstate__(self, state: dict[str, object]) -> None:
        """Take a state, and build the booster of its text."""
        super().__setstate__(state)
        if isinstance(vars(self).get("booster_"), str):
            self.booster_ = self.engine.from_text(self.booster_)

    def __sklearn_tags__(self) -> Tags:
        """Return scikit-learn's tags: missing values are taken."""
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        return tags


booster_docs = shared_docs_from({"booster": cleandoc(BoosterRanker.__doc__ or "").partition("\n\n")[2]})
"""The parameters and attributes above, filled into the docstring of the ranker of a library."""


def push_objective(ranker: BoosterRanker) -> PushObjective | None:
    """Return the objective of a ranker's parameters, None for the log loss."""
    p = ranker.p
    if isinstance(p, str | Price) and p != BINARY:
        raise ValueError(
            f"p must be a number of at least 1, or {BINARY!r}, got {p!r}; a price is price={p!r}."
        )
    if ranker.price is not None and p != DEFAULT_P:
        raise ValueError(f"p={p!r} and price={ranker.price!r} are two objectives: give one of them.")
    if isinstance(p, str):
        return None
    loss = losses.resolve(ranker.loss)
    price = Power(p) if ranker.price is None else prices.resolve(ranker.price)
    losses.check_declared(loss)
    prices.check_declared(price)
    scale: Scale = "mean" if price.log_divisor is None else "log"
    objective = PushObjective(loss, price, ranker.side, scale, ranker.bottom_weight, ACCURACY)
    check_objective(objective)
    return objective


def validate_table(
    ranker: BoosterRanker, X: Matrix, y: ArrayLike, sample_weight: ArrayLike | None, qid: ArrayLike | None
) -> tuple[Matrix, Target]:
    """Return features as the booster takes them, pandas frames as they are, and what to rank."""
    y = plain_labels(y)
    if hasattr(X, "iloc"):
        labels = column_or_1d(y, warn=True)
        assert_all_finite(labels, input_name="y")
        check_consistent_length(X, labels)
        X = checked_frame(ranker, X)
    else:
        X, labels = checked_data(ranker, X, y, **AS_THEY_ARE)
    weights = row_weights(sample_weight, len(labels))
    sample, classes, codes, groups = sample_of_labels(type(ranker).__name__, labels, weights, qid)
    return X, Target(sample, weights, classes, codes, groups)


def checked_frame(ranker: BoosterRanker, X: MatrixLike, reset: bool = True) -> MatrixLike:
    """Return a pandas data frame with the columns of the fit, of NumPy's numbers or of its categories."""
    frame = validate_data(ranker, checked_entries(X), reset=reset, skip_check_array=True).copy(deep=False)
    for number, (name, dtype) in enumerate(frame.dtypes.items()):
        if dtype.kind not in "biuf" and dtype.name != "category":
            raise ValueError(
                f"column {name!r} holds {dtype}: make it a category, by astype('category') with the same "
                "categories in every frame, or numbers."
            )
        if dtype.kind in "biuf" and not isinstance(dtype, np.dtype):
            column = frame.iloc[:, number]
            frame.isetitem(number, column.to_numpy(dtype=np.float64, na_value=np.nan))
    if reset:
        named = frame.select_dtypes("category")
        ranker._categories = {name: named[name].cat.categories.tolist() for name in named}
    for name in ranker._categories.keys() & frame.select_dtypes("category").columns:
        # XGBoost refuses to score categories that it has not seen: they are missing, as they are in LightGBM.
        categories = ranker._categories[name]
        frame[name] = frame[name].cat.set_categories(categories)
        # The libraries take texts and integers, and no others, such as truth values, dates or several kinds.
        if {*map(type, categories)} not in ({str}, {int}):
            frame[name] = frame[name].cat.rename_categories(range(len(categories)))
    return frame


def plainly_named(X: Any) -> Any:
    """Return a frame whose columns have numbers for names where LightGBM or XGBoost refuses one of theirs."""
    if hasattr(X, "iloc") and any(REFUSED_IN_NAMES & set(str(name)) for name in X.columns):
        return X.set_axis([f"Column_{number}" for number in range(X.shape[1])], axis=1)
    return X


def subset(target: Target, kept: NDArray[np.bool_]) -> Target:
    """Return the target of some rows alone, whose numbers are then from zero to their count."""
    codes = np.asarray(target.codes)[kept]
    weights = None if target.weights is None else target.weights[kept]
    groups = None if target.groups is None else target.groups[kept]
    return target_like(target, codes, weights, groups)


def target_like(target: Target, codes: NDArray[Any], weights: Floats | None, groups: Any) -> Target:
    """Return the target of other rows, whose codes are the indices of their labels in the same classes."""
    if isinstance(target.sample, BipartiteSample) and groups is None:
        return Target(BipartiteSample.from_mask(codes == 1, weights), weights, target.classes, codes)
    together = np.zeros(len(codes), dtype=np.intp) if groups is None else groups
    sample = GradedSample.from_grades(codes.astype(np.float64), together, weights)
    return Target(sample, weights, target.classes, codes, groups)


def given_sets(
    ranker: BoosterRanker, target: Target, eval_set: Any, weights: Any, qids: Any
) -> list[ValidationSet]:
    """Return the rows that a user gives to be scored after every round, checked as those of the fit."""
    given = [eval_set] if isinstance(eval_set, tuple) else list(eval_set or ())
    beside = {"eval_sample_weight": weights, "eval_qid": qids}
    for name, values in beside.items():
        if values is not None and len(values) != len(given):
            raise ValueError(f"{name} has {len(values)} entries for {len(given)} sets in eval_set.")
    sets, classes = [], np.asarray(target.classes)
    for number, pair in enumerate(given):
        if not isinstance(pair, tuple | list) or len(pair) != 2:
            raise ValueError(f"eval_set must be a list of (X, y), found {type(pair).__name__} in it.")
        X, y = ranker._validated(pair[0]), column_or_1d(plain_labels(pair[1]), warn=True)
        check_consistent_length(X, y)
        if not np.isin(y, classes).all():
            raise ValueError(
                f"eval_set[{number}] holds the labels {np.unique(y)[:5].tolist()}, and the fit has "
                f"{classes[:5].tolist()}: leave other labels out."
            )
        weight, qid = (None if values is None else values[number] for values in beside.values())
        groups = None if qid is None else group_numbers(qid, len(y))
        codes = np.searchsorted(classes, y)
        part = target_like(target, codes, row_weights(weight, len(y)), groups)
        sets.append(validation_set(ranker, X, part))
    return sets


def validation_set(ranker: BoosterRanker, part: Any, target: Target) -> ValidationSet:
    """Return rows that are scored after every round."""
    classes, codes = np.asarray(target.classes), np.asarray(target.codes).astype(np.intp)
    if ranker.scoring in (None, "average_precision") and len(classes) == 2 and target.groups is None:
        # The labels are checked once, and not in each of a thousand rounds.
        ranking: Any = Ranking(codes == 1, np.zeros(len(codes)), target.weights)

        def precision(scores: Floats) -> float:
            return float(average_precision(ranking.is_positive, ranking.with_scores(scores)))

        return ValidationSet(part, codes.astype(np.float64), precision)
    scorer = HeldOutScorer(ranker.scoring, classes, classes[codes], target.weights, target.groups)

    def score(scores: Floats) -> float:
        scores = np.asarray(scores, dtype=np.float64)
        return scorer.score(part, scores, target.thresholds(scores))

    return ValidationSet(part, codes.astype(np.float64), score)


def no_split(n_rows: int, limits: str) -> ValueError:
    """Return the error of a model that would score all rows alike."""
    return ValueError(
        f"no split of the {n_rows} training rows meets the limits of a leaf, so that all rows score alike: "
        f"lower {limits}, or look for columns that differ between the classes."
    )
