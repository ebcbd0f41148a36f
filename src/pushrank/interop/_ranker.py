"""Rankers that train a booster on a push: validate, train, set the fitted attributes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Literal, NamedTuple, Protocol, TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils import (
    _safe_indexing,
    assert_all_finite,
    check_consistent_length,
    check_random_state,
    column_or_1d,
)
from sklearn.utils.validation import check_is_fitted, validate_data

from pushrank import losses, prices
from pushrank._docstrings import shared_docs_from
from pushrank._numeric import Floats
from pushrank._validation import check_number, check_ordered_categorical
from pushrank.estimators._base import RankerMixin, set_grades
from pushrank.estimators._docstrings import PARAGRAPHS
from pushrank.estimators._scoring import HeldOutScorer, parts
from pushrank.estimators._target import DTYPES, FORMATS, Target, checked_data, row_weights
from pushrank.interop._objective import check_objective, derivatives
from pushrank.losses import Loss
from pushrank.objectives import PushObjective
from pushrank.objectives.push import Scale, Side
from pushrank.pairs import BipartiteSample, GradedSample
from pushrank.pairs.targets import sample_of_labels
from pushrank.prices import Power, Price

BINARY = "binary"  # in place of a push: the booster's own log loss
OWN_PARAGRAPHS = {
    "p_of_booster": """The strength of the push, any finite number of at least 1. Or ``"binary"``, the
booster's own log loss, which takes no notice of the other parameters of a push.""",
    "price_of_booster": """A smooth price in place of the power p, or its name in :mod:`pushrank.prices`:
``"log_one_plus"`` with ``side="pull"`` is the objective of the IR Push. None is the power p.""",
    "early_stopping_of_booster": """Whether to stop when the score of a validation part stops rising, and
go back to its best round.""",
    "scoring_of_booster": """A scorer for the validation part: the name of one of
:mod:`pushrank.metrics.scorers`, a scorer that ``make_top_scorer`` makes, or what scikit-learn takes; None
takes the average precision.""",
    "validation_fraction_of_booster": """The fraction of the rows (of the query groups) to validate on, in
(0, 1); they are not learned from.""",
    "n_iter_no_change_of_booster": "Stop after so many rounds without a better score.",
    "threads": """The number of threads; None takes the booster's default, all processors. It changes no
result.""",
    "X_of_booster": """Features, of which NaN are missing values. Data frames of pandas are passed to the
booster as they are, with their categorical columns.""",
    "y_of_booster": """Labels of two classes, the larger in sorted order to be ranked at the top; or
grades of relevance, numbers of which a higher one should stand above every lower one.""",
    "attributes_of_booster": """booster_ : Booster
    The library's own, trained on all rows, or on all but the validation part.
classes_ : ndarray of shape (n_classes,)
    The two classes, or the grades, in ascending order.
threshold_ : float
    The break-even point of the training scores: as many rows score above it as are positive.
thresholds_ : ndarray of shape (n_classes - 1,)
    The break-even points above each class or grade but the highest; ``threshold_`` is the first.
feature_importances_ : ndarray of shape (n_features,)
    The share of each feature in the gain of all splits.
n_iter_ : int
    The number of rounds kept.""",
    "path_of_booster": """best_round_ : int
    The same.
validation_path_ : ndarray
    The scores of the validation part after each round, also after those beyond the best, which are not kept;
    empty without ``early_stopping``.""",
    "errors_of_booster": """ValueError
    When a parameter is out of range or not the booster's, the data hold nothing to rank, the loss or the
    price has kinks, or no split meets the limits of a leaf, so that all rows would score alike.
TypeError
    When a parameter has the wrong type.""",
    "ps_of_booster": """The objectives: strengths of the push, each at least 1; ``"binary"``, the
booster's own log loss; and ``"log_one_plus"``, the IR Push, which goes with ``side="pull"``.""",
    "n_estimators_of_search": "The numbers of rounds, each at least 1.",
    "param_grid": "Values of other parameters to choose from, of the ranker or the booster.",
    "selection_of_booster": """Take the first of the log loss, the IR Push and the strengths in ascending
order whose best member is within one standard error of the best of all; or the best. The standard error
is that of the difference, fold by fold.""",
    "best_params_of_booster": """best_params_ : dict
    The chosen ``"p"``, or for the IR Push ``"price"`` and ``"side"``; ``"n_estimators"``; and those of
    `param_grid`: parameters of the ranker.""",
    "booster_ranker": """Gradient boosting of

.. math::

    \\frac{1}{p} \\ln \\sum_k \\Bigl(\\sum_i \\ell(f(x_i) - f(\\tilde x_k))\\Bigr)^p ,

i over the positives and k over the negatives, in one list of any length.

Parameters
----------
p : float or "binary"
    %(p_of_booster)s
price : Price, str or None
    %(price_of_booster)s
side : {"push", "pull", "both"}
    %(side)s
bottom_weight : float
    %(bottom_weight)s
loss : Loss or str
    %(pair_loss)s
n_estimators : int
    %(n_estimators)s
early_stopping : bool
    %(early_stopping_of_booster)s
scoring : str, callable or None
    %(scoring_of_booster)s
validation_fraction : float
    %(validation_fraction_of_booster)s
n_iter_no_change : int
    %(n_iter_no_change_of_booster)s
n_jobs : int or None
    %(threads)s
random_state : int, RandomState or None
    %(random_state)s
**booster_params
    Any other of the library's parameters, by its name there or its alias in scikit-learn's interface, such as
    ``learning_rate``, ``max_depth``, ``min_child_weight`` or ``reg_lambda``.

Attributes
----------
%(attributes_of_booster path_of_booster features_)s""",
    "booster_search": """.. math:: \\frac{1}{k} \\sum_i 1[\\mathrm{rank}(i) \\le k]

over the positives i, on the parts of a cross-validation that were not learned from.

Parameters
----------
budget : int, default=None
    %(budget)s
fraction : float, default=None
    %(fraction)s
fraction_of_positives : float, default=None
    %(fraction_of_positives)s
ps : sequence of float or str
    %(ps_of_booster)s
n_estimators : sequence of int
    %(n_estimators_of_search)s
param_grid : dict of str to sequence
    %(param_grid)s
cv : int, splitter or iterable
    %(cv)s
selection : {"one_standard_error", "best"}
    %(selection_of_booster)s
n_jobs : int or None
    %(threads)s
random_state : int, RandomState or None
    %(random_state)s
verbose : bool
    %(verbose_cv)s
**booster_params
    Any other parameter of the ranker, the library's own among them.

Attributes
----------
%(best_params_of_booster budget_search_ candidates_by_p attributes_of_booster features_)s

Notes
-----
A fold costs one fit of the most rounds for each other setting: fewer rounds are its first ones. Folds are
solved one after the other, with the booster's threads.
Members whose precision differs by no more than one hit over all folds count as equals, of which the one with
the best average precision is taken.

References
----------
Breiman, Friedman, Olshen and Stone, *Classification and regression trees* (1984), section 3.4.3: the rule of
one standard error.""",
    "objective_of_booster": """What to minimise: any loss with a second derivative, any price but the
maximum, any side. The scale ``"log"`` keeps gradients in range at any p.""",
}
shared_docs = shared_docs_from(PARAGRAPHS | OWN_PARAGRAPHS)
DEFAULT_P = 4.0
ACCURACY = 1e-6  # of the sums of analytic losses: boosters add up in float32


class Training(NamedTuple):
    """What a booster learns from."""

    X: Any
    labels: Floats
    weights: Floats | None
    derivatives: Callable[[Floats], tuple[Floats, Floats]] | None  # of the scores; None for the log loss
    n_rounds: int


class Validation(NamedTuple):
    """What a booster is stopped by."""

    X: Any
    labels: Floats
    score: Callable[[Floats], float]
    patience: int


class Engine(Protocol):
    """A library of boosters."""

    def train(
        self, params: dict[str, Any], training: Training, validation: Validation | None
    ) -> tuple[Any, list[float]]:
        """Return a booster, cut at its best round, and its validation scores after every round."""

    def params(self, ranker: Any, seed: int) -> dict[str, Any]:
        """Return the library's parameters; ones that it does not know or that are not its own are errors."""

    def scores(self, booster: Any, X: Any, start: int = 0, stop: int | None = None) -> Floats:
        """Return what some of the rounds add to the scores of rows."""

    def n_rounds(self, booster: Any) -> int:
        """Return the number of rounds that are kept."""

    def gains(self, booster: Any) -> Floats:
        """Return by how much splits on each feature lowered the objective."""

    def to_text(self, booster: Any) -> str:
        """Return the library's own text of a booster."""

    def from_text(self, text: str) -> Any:
        """Return the booster of a text."""

    limits: str  # the parameters that forbid splits, for a message


def push_objective(ranker: Any) -> PushObjective | None:
    """Return the objective of a ranker's parameters, None for the log loss.

    Raises
    ------
    ValueError
        When it has kinks, or a parameter is out of range.
    """
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
    losses.check_own(loss)
    prices.check_own(price)
    scale: Scale = "mean" if price.log_divisor is None else "log"
    objective = PushObjective(loss, price, ranker.side, scale, ranker.bottom_weight, ACCURACY)
    check_objective(objective)
    return objective


def no_split(n_rows: int, limits: str) -> ValueError:
    """Return the error of a model that would score all rows alike."""
    return ValueError(
        f"no split of the {n_rows} training rows meets the limits of a leaf, so that all rows score alike: "
        f"lower {limits}, or look for columns that differ between the classes."
    )


def training(
    X: Any, rows: NDArray[np.intp], target: Target, objective: PushObjective | None, n_rounds: int
) -> Training:
    """Return what to learn from: of some rows, with their target, those that weigh anything.

    Boosters count rows in bins and leaves, whatever they weigh.
    """
    if target.weights is not None and not target.weights.all():
        kept = target.weights > 0.0
        rows, target = rows[kept], subset(target, kept)
    labels = np.asarray(target.codes, dtype=np.float64)
    of_scores = None if objective is None else lambda scores: derivatives(objective, target.sample, scores)
    return Training(_safe_indexing(X, rows), labels, target.weights, of_scores, n_rounds)


def _validation(ranker: Any, X: Any, rows: NDArray[np.intp], target: Target) -> Validation:
    part, classes = _safe_indexing(X, rows), np.asarray(target.classes)
    codes = np.asarray(target.codes).astype(np.intp)
    scorer = HeldOutScorer(ranker.scoring, classes, classes[codes], target.weights, target.groups)

    def score(scores: Floats) -> float:
        scores = np.asarray(scores, dtype=np.float64)
        return scorer.score(part, scores, target.thresholds(scores))

    return Validation(part, codes.astype(np.float64), score, int(ranker.n_iter_no_change))


def validate_table(
    ranker: Any, X: Any, y: ArrayLike, sample_weight: ArrayLike | None, qid: ArrayLike | None = None
) -> tuple[Any, Target]:
    """Return features as the booster takes them, and what to rank.

    A pandas data frame is passed on as it is, with its categories; anything else becomes an array.
    """
    check_ordered_categorical(y)
    if hasattr(X, "iloc"):
        labels = column_or_1d(y, warn=True)
        assert_all_finite(labels, input_name="y")
        check_consistent_length(X, labels)
        X = checked_frame(ranker, X)
    else:
        X, labels = checked_data(ranker, X, y, accept_sparse=FORMATS, dtype=DTYPES, ensure_all_finite=False)
    weights = row_weights(sample_weight, len(labels))
    sample, classes, codes, groups = sample_of_labels(type(ranker).__name__, labels, weights, qid)
    return X, Target(sample, weights, classes, codes, groups)


def checked_frame(ranker: Any, X: Any, reset: bool = True) -> Any:
    """Return a pandas data frame as it is.

    Raises
    ------
    ValueError
        When its columns are not those of the fit, or one holds neither numbers nor categories.
    """
    frame = validate_data(ranker, X, reset=reset, skip_check_array=True)
    for name, dtype in frame.dtypes.items():
        if dtype.kind not in "biuf" and dtype.name != "category":
            raise ValueError(
                f"column {name!r} holds {dtype}: make it a category, by astype('category') with the same "
                "categories in every frame, or numbers."
            )
    return frame


def subset(target: Target, kept: NDArray[np.bool_]) -> Target:
    """Return the target of some rows, numbered anew."""
    codes = np.asarray(target.codes)[kept]
    weights = None if target.weights is None else target.weights[kept]
    groups = None if target.groups is None else target.groups[kept]
    if isinstance(target.sample, BipartiteSample):
        return Target(BipartiteSample.from_mask(codes, weights), weights, target.classes, codes)
    together = np.zeros(len(codes), dtype=np.intp) if groups is None else groups
    sample = GradedSample.from_grades(codes.astype(np.float64), together, weights)
    return Target(sample, weights, target.classes, codes, groups)


@shared_docs
class BoosterRankerMixin(RankerMixin):
    """Parameters of a booster beside a ranker's own, and the scores of the fitted one."""

    _engine: Engine
    _booster_params: dict[str, Any]
    booster_: Any

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """Return the ranker's own parameters and the booster's."""
        return {**super().get_params(deep=deep), **self._booster_params}

    def set_params(self, **params: Any) -> Any:
        """Set parameters of the ranker or, by any other name, of the booster."""
        own = super().get_params(deep=False)
        booster = {name: params.pop(name) for name in list(params) if name.partition("__")[0] not in own}
        self._booster_params = {**self._booster_params, **booster}
        return super().set_params(**params)

    def decision_function(self, X: Any) -> NDArray[np.floating]:
        """Return a score for each row, the higher the better, positive where ``predict`` says positive.

        Parameters
        ----------
        X : array-like, sparse matrix or data frame of shape (n_samples, n_features)
            %(X_of_fit)s

        Returns
        -------
        ndarray of shape (n_samples,)
            The booster's scores before any transformation, less ``threshold_``.
        """
        check_is_fitted(self, "booster_")
        scores: NDArray[np.floating] = self._engine.scores(self.booster_, self._validated(X))
        return scores - scores.dtype.type(self.threshold_)

    @property
    def feature_importances_(self) -> Floats:
        """The share of each feature in the gain of all splits, shape (n_features,).

        Raises
        ------
        AttributeError
            When the ranker is not fitted.
        """
        if not hasattr(self, "booster_"):
            raise AttributeError("feature_importances_ need a fitted ranker.")
        gains = self._engine.gains(self.booster_)
        shares: Floats = gains / gains.sum()
        return shares

    def _validated(self, X: Any) -> Any:
        if hasattr(X, "iloc"):
            return checked_frame(self, X, reset=False)
        options: dict[str, Any] = {"accept_sparse": FORMATS, "dtype": DTYPES, "ensure_all_finite": False}
        return checked_data(self, X, reset=False, **options)

    def __getstate__(self) -> Any:
        """Return the state with the booster as its library's text, for pickles and skops alike."""
        state = super().__getstate__()
        return state | {"booster_": self._engine.to_text(state["booster_"])} if "booster_" in state else state

    def __setstate__(self, state: Any) -> None:
        """Take a state, and build the booster of its text."""
        super().__setstate__(state)
        if isinstance(vars(self).get("booster_"), str):
            self.booster_ = self._engine.from_text(self.booster_)

    def __sklearn_tags__(self) -> Any:
        """Return scikit-learn's tags: missing values are taken."""
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        return tags


Ranker = TypeVar("Ranker", bound=BoosterRankerMixin)


def init_ranker(
    self: Any,
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
    n_jobs: int | None = None,
    random_state: Any = None,
    **booster_params: Any,
) -> None:
    """Take the parameters of a ranker, and those of its booster."""
    self.p = p
    self.price = price
    self.side = side
    self.bottom_weight = bottom_weight
    self.loss = loss
    self.n_estimators = n_estimators
    self.early_stopping = early_stopping
    self.scoring = scoring
    self.validation_fraction = validation_fraction
    self.n_iter_no_change = n_iter_no_change
    self.n_jobs = n_jobs
    self.random_state = random_state
    self._booster_params = booster_params


@shared_docs
def fit_ranker(
    self: Ranker,
    X: Any,
    y: ArrayLike,
    sample_weight: ArrayLike | None = None,
    *,
    qid: ArrayLike | None = None,
) -> Ranker:
    """Learn a ranking from two classes, or from grades of relevance.

    Parameters
    ----------
    X : array-like, sparse matrix or data frame of shape (n_samples, n_features)
        %(X_of_booster)s
    y : array-like of shape (n_samples,)
        %(y_of_booster)s
    sample_weight : array-like of shape (n_samples,), optional
        %(sample_weight)s
    qid : array-like of shape (n_samples,), optional
        %(qid)s

    Returns
    -------
    %(self)s

    Raises
    ------
    %(errors_of_booster)s
    """
    objective = push_objective(self)
    check_number("n_estimators", self.n_estimators, 1, integer=True)
    X, target = validate_table(self, X, y, sample_weight, qid)
    if objective is None and not isinstance(target.sample, BipartiteSample):
        raise ValueError(
            "p='binary' learns two classes in one list; for grades and query groups give a number."
        )
    random_state = check_random_state(self.random_state)
    params = self._engine.params(self, int(random_state.randint(np.iinfo(np.int32).max)))
    train, validation = (np.arange(target.sample.n_rows), target), None
    if self.early_stopping:
        check_number("validation_fraction", self.validation_fraction, above=0.0, below=1.0)
        check_number("n_iter_no_change", self.n_iter_no_change, 1, integer=True)
        share = float(self.validation_fraction)
        train, held = parts(
            target, share, random_state, lambda kept: (np.flatnonzero(kept), subset(target, kept))
        )
        validation = _validation(self, X, *held)
    booster, path = self._engine.train(
        params, training(X, *train, objective, int(self.n_estimators)), validation
    )
    scores = self._engine.scores(booster, X)
    if scores.min() == scores.max():
        raise no_split(len(train[0]), self._engine.limits)
    self.booster_, self.validation_path_ = booster, np.array(path)
    self.n_iter_ = self.best_round_ = self._engine.n_rounds(booster)
    set_grades(self, target, scores)
    return self
