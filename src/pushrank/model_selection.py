"""Compare rankers under one cross-validation: which is best at the top, and is that more than chance?"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from itertools import count
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.stats import rankdata, t
from sklearn.base import BaseEstimator, clone
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import get_scorer
from sklearn.model_selection import RepeatedStratifiedKFold
from sklearn.pipeline import Pipeline
from sklearn.utils import _safe_indexing, check_random_state, indexable
from sklearn.utils.validation import _num_samples

from pushrank import metrics
from pushrank._optional import import_optional
from pushrank._validation import two_classes
from pushrank.estimators import IRPush, PNormPush, PNormPushCV, PushBoost
from pushrank.estimators._scoring import check_one_scorer
from pushrank.metrics import scorers

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["Difference", "RankerComparison", "compare_rankers", "default_rankers"]

POWERS = (4.0, 16.0, 64.0)
ALPHAS = (0.001, 0.01, 0.1, 1.0)
POSITIVES_AT_TOP = "positives at top"
HITS = "hits in budget"
PRECISION = "precision at 1/4"
AVERAGE_PRECISION = "average precision"
BASELINE = "logistic regression"
CHOOSING_PUSH = "P-Norm Push, p and alpha chosen"
CHOSEN = "best of the above, chosen inside"
CONFIDENCE = 0.95
ROUNDING = 1e-9  # measures are of the order of 1, with errors of rounding of 1e-15 or so
# One sign in so many folds has a two-sided probability below 5 %: 2 / 2^6. Equal differences in all folds
# have no spread to judge them by, so that this sign test stands in for Student's t.
MIN_EQUAL_FOLDS = 6


class Difference(NamedTuple):
    """By how much one model exceeds another over the folds, and whether that is more than chance.

    Parameters
    ----------
    mean : float
        The mean of the paired differences.
    standard_error : float
        Its standard error.
    low, high : float
        The ends of its 95 % interval.
    more_than_chance : bool or None
        Whether the interval leaves out zero; None where the folds are too few to tell.

    Examples
    --------
    >>> Difference(0.1, 0.02, 0.05, 0.15, True).more_than_chance
    True
    """

    mean: float
    standard_error: float
    low: float
    high: float
    more_than_chance: bool | None


@dataclass
class RankerComparison:
    """What :func:`compare_rankers` found: the measures of every model on every fold, and what they say.

    Parameters
    ----------
    measures : dict of str to dict of str to ndarray of shape (n_folds * n_repeats,)
        For each model, its measures by name, one value a fold.
    criterion : str
        The measure that models are judged by.
    budget : int or None, default=None
        How many of all rows are acted on.
    n_repeats : int, default=1
        The number of repetitions of the cross-validation.
    scores : dict of str to ndarray of shape (n_samples,)
        The score of every row by the fit of the first repetition that had not seen it.
    folds : ndarray of shape (n_samples,)
        The fold of the first repetition that a row was held out in.
    warnings : dict of str to list of str
        What the fits of each model warned of.

    Notes
    -----
    The standard error of a mean over the :math:`V` folds of :math:`R` repetitions is

    .. math:: \\hat\\sigma / \\sqrt V, \\qquad \\hat\\sigma^2 = \\frac 1R \\sum_r s_r^2,

    where :math:`s_r^2` is the variance within a repetition, with :math:`V - 1` in its denominator. It takes
    the folds of one repetition to be independent. Those of several are not, for they hold the same rows:
    repetitions steady the mean, and the error stays that of one. Otherwise any two models would differ beyond
    chance after enough repetitions.

    Examples
    --------
    >>> found = RankerComparison(
    ...     {"a": {"AUC": np.array([0.5, 0.6, 0.7])}, "b": {"AUC": np.array([0.7, 0.9, 0.8])}}, "AUC"
    ... )
    >>> found
    RankerComparison(2 models, 3 folds)
    Best at the top, by AUC: b, +0.200 against a, 95 % interval -0.048 to +0.448: chance alone may explain the
    difference, so these data do not tell them apart.
    >>> found.summary()["best"]
    'b'
    """

    measures: dict[str, dict[str, NDArray[np.float64]]]
    criterion: str
    budget: int | None = None
    n_repeats: int = 1
    scores: dict[str, NDArray[np.float64]] = field(default_factory=dict)
    folds: NDArray[np.intp] = field(default_factory=lambda: np.empty(0, dtype=np.intp))
    warnings: dict[str, list[str]] = field(default_factory=dict)

    def __repr__(self) -> str:
        n_models = len(self.measures) - (CHOSEN in self.measures)
        folds = f"{self.n_folds} folds" + f", {self.n_repeats} times" * (self.n_repeats > 1)
        return f"{type(self).__name__}({n_models} models, {folds})\n{self.verdict()}"

    @property
    def n_folds(self) -> int:
        """The number of test parts of a repetition."""
        return len(self.measures[self.baseline_][self.criterion]) // self.n_repeats

    @property
    def best_(self) -> str:
        """The model with the highest mean of the criterion; the average precision decides between equals."""
        by = [name for name in (self.criterion, AVERAGE_PRECISION) if name in self.measures[self.baseline_]]
        models = (model for model in self.measures if model != CHOSEN)
        return max(models, key=lambda model: [self.mean(model, measure) for measure in by])

    @property
    def baseline_(self) -> str:
        """The first model, what one would take without the others."""
        return next(iter(self.measures))

    @property
    def runner_up_(self) -> str:
        """The model to hold the best against: the baseline, or the next best where it is the best."""
        if self.best_ != self.baseline_ or not self.differences_:
            return self.baseline_
        return min(self.differences_, key=lambda model: self.differences_[model].mean)

    @property
    def differences_(self) -> dict[str, Difference]:
        """By how much the best model exceeds every other one by the criterion."""
        best = self.best_
        return {model: self.difference(best, model) for model in self.measures if model not in (best, CHOSEN)}

    @property
    def equals_(self) -> list[str]:
        """The other models that are exactly as good as the best by the criterion, on average."""
        return [model for model, found in self.differences_.items() if abs(found.mean) <= ROUNDING]

    @property
    def none_is_better_(self) -> bool:
        """Whether all models are exactly as good by the criterion, so that the best is one of equals."""
        return len(self.equals_) == len(self.differences_) > 0

    @property
    def optimism_(self) -> Difference | None:
        """By how much the best model's mean exceeds that of the choice inside every training part, if any."""
        return self.difference(self.best_, CHOSEN) if CHOSEN in self.measures else None

    @property
    def held_out_(self) -> dict[str, NDArray[np.float64]]:
        """One order of all rows for each model, the higher the better, by their places within their folds."""
        return {
            model: on_one_scale(scores, self.folds)
            for model, scores in self.scores.items()
            if model != CHOSEN
        }

    def mean(self, model: str, measure: str) -> float:
        """Return the mean of a model's measure over the folds."""
        return float(np.mean(self.measures[model][measure]))

    def standard_error(self, model: str, measure: str) -> float:
        """Return the standard error of a model's mean over the folds, that of one repetition."""
        return self._error_of_mean(self.measures[model][measure])

    def _error_of_mean(self, values: ArrayLike) -> float:
        repetitions = np.reshape(values, (self.n_repeats, -1))
        variance = np.mean(np.var(repetitions, axis=1, ddof=1))
        return float(np.sqrt(variance) / np.sqrt(repetitions.shape[1]))

    def difference(self, model: str, other: str) -> Difference:
        """Return by how much a model exceeds another by the criterion, and whether that is beyond chance.

        The folds decide: their differences vary with the rows measured on and with those trained on, as they
        would for whoever trains a model and uses it. A bootstrap of the rows would hold the fits as they are.
        An interval without zero is more than chance explains, and so is one and the same difference in at
        least six folds; in fewer, nobody can tell (None).
        """
        gains = np.subtract(*(self.measures[name][self.criterion] for name in (model, other)))
        mean, error = float(np.mean(gains)), self._error_of_mean(gains)
        reach = float(t.ppf(0.5 + CONFIDENCE / 2.0, self.n_folds - 1)) * error
        beyond: bool | None = abs(mean) > max(reach, ROUNDING)
        if beyond and 2.0 * reach <= ROUNDING and self.n_folds < MIN_EQUAL_FOLDS:
            beyond = None
        return Difference(mean, error, mean - reach, mean + reach, beyond)

    def name_of(self, measure: str) -> str:
        """Return a measure's name as it is shown, with the budget where hits are counted in one."""
        return f"hits in {self.budget:,} rows" if measure == HITS else measure

    def digits(self, measure: str) -> int:
        """Return how many decimals of a measure to show: one for counts of rows, else three."""
        return 1 if measure in (POSITIVES_AT_TOP, HITS) else 3

    def mean_and_error(self, model: str, measure: str) -> str:
        """Return the mean of a measure and its standard error as they are shown: ``0.625 ± 0.125``."""
        digits = self.digits(measure)
        return f"{self.mean(model, measure):.{digits}f} ± {self.standard_error(model, measure):.{digits}f}"

    def verdict(self) -> str:
        """Return which model is best at the top, whether by more than chance, and what to expect of it."""
        verdict = self._best_and_chance()
        if self.optimism_ is not None:
            verdict += (
                f" Report {self.mean_and_error(CHOSEN, self.criterion)}, the figure of choosing inside every "
                "training part; the best line's own differs by "
                f"{self.optimism_.mean:+.{self.digits(self.criterion)}f}, part of which is the choice."
            )
        return verdict

    def _best_and_chance(self) -> str:
        best, other, by = self.best_, self.runner_up_, self.name_of(self.criterion)
        digits = self.digits(self.criterion)
        each = f"{self.mean(best, self.criterion):.{digits}f}"
        if best == other:
            return f"{best} alone was measured, by {by}: {each}."
        if self.none_is_better_:
            return f"No model is better at the top than another, by {by}: each has {each}."
        said = f"Best at the top, by {by}: {best}"
        if other in self.equals_:
            return f"{said}, which is no better by it than {other}; average precision decides between equals."
        gain, _, low, high, beyond = self.difference(best, other)
        said += f", {gain:+.{digits}f} against {other}" + ", the next best" * (other != self.baseline_)
        if high - low <= ROUNDING:
            said += f", the same in each of {self.n_folds * self.n_repeats} test parts"
        else:
            said += f", 95 % interval {low:+.{digits}f} to {high:+.{digits}f}"
        if beyond is None:
            return f"{said}, too few to know what chance alone would do; take more folds."
        if beyond:
            return f"{said}: more than chance explains."
        return f"{said}: chance alone may explain the difference, so these data do not tell them apart."

    def to_frame(self) -> pd.DataFrame:
        """Return a row for every measure of every fold: ``model``, ``measure``, ``part`` and ``value``."""
        pd = import_optional("pandas", "io")
        return pd.DataFrame(
            [
                {"model": model, "measure": measure, "part": part, "value": float(value)}
                for model, measures in self.measures.items()
                for measure, values in measures.items()
                for part, value in enumerate(values)
            ]
        )

    def summary(self) -> dict[str, Any]:
        """Return the means, the differences and the verdict as a dict of plain values, for JSON.

        Its keys are ``best``, ``equally_good``, ``criterion``, ``verdict``, ``differences``, ``models`` and,
        after a nested choice, ``optimism``.
        """
        found = {
            "best": self.best_,
            "equally_good": self.equals_,
            "criterion": self.criterion,
            "verdict": self.verdict(),
            "differences": {
                model: {**found._asdict(), "confidence": CONFIDENCE}
                for model, found in self.differences_.items()
            },
            "models": {
                model: {
                    name: {"mean": self.mean(model, name), "standard_error": self.standard_error(model, name)}
                    for name in measures
                }
                for model, measures in self.measures.items()
            },
        }
        if self.optimism_ is None:
            return found
        mean, error, *_ = self.optimism_
        return {**found, "optimism": {"mean": mean, "standard_error": error}}


def compare_rankers(
    models: Mapping[str, BaseEstimator] | None,
    X: Any,
    y: ArrayLike,
    *,
    budget: int | None = None,
    cv: Any = 5,
    n_repeats: int = 1,
    scoring: str | Callable[..., float] | None = None,
    nested: bool = False,
    groups: ArrayLike | None = None,
    pos_label: Any = None,
    random_state: Any = None,
    callback: Callable[[], None] | None = None,
) -> RankerComparison:
    r"""Compare rankers on the same folds, and say which is best at the top and whether that is beyond chance.

    Every model is fitted to the same training parts and measured on the same test parts. A difference of two
    models is the mean :math:`\bar d` of their paired differences in the :math:`V` folds, with the interval

    .. math:: \bar d \pm t_{0.975,\, V - 1} \frac{\hat\sigma}{\sqrt V}.

    Parameters
    ----------
    models : dict of str to estimator, or None
        Rankers and classifiers of scikit-learn's interface, with ``decision_function`` or ``predict_proba``,
        by name; pipelines, where rows need preprocessing, which is fitted once a fold for all pipelines that
        hold the same transformer objects. The first is the baseline. None takes
        :func:`default_rankers`, and with ``nested=True`` also a P-Norm Push that chooses its p and alpha.
    X : array-like, sparse matrix or DataFrame of shape (n_samples, n_features)
        The rows.
    y : array-like of shape (n_samples,)
        Labels of two values.
    budget : int, optional
        How many of all rows can be acted on. Models are then judged by how many of these are positive; else
        by the precision among the first rows of a test part, a quarter as many as it has positives.
    cv : int, splitter or iterable, default=5
        The number of stratified folds, or what splits the rows so that each is in one test part.
    n_repeats : int, default=1
        How often the cross-validation is repeated with other folds, where `cv` is a number.
    scoring : str or callable, optional
        What to judge models by instead: the name of a scorer in :mod:`pushrank.metrics.scorers` or of
        scikit-learn's, or a scorer.
    nested : bool, default=False
        Also choose the best model inside every training part, by a comparison there, and measure the chosen
        one on the test part. That is what the whole choice achieves on rows that had no say in it.
    groups : array-like of shape (n_samples,), optional
        The groups of rows, for a splitter that keeps them together.
    pos_label : label, optional
        The positive class, which models are then fitted to as True; by default the larger of two numbers, yes
        of yes and no, and true of true and false. Of other texts one must be named.
    random_state : int, RandomState or None, default=None
        The seed of the folds. Models that draw at random have seeds of their own.
    callback : callable, optional
        Called without arguments whenever a model was fitted and measured.

    Returns
    -------
    RankerComparison
        The measures by model and fold, the best model, the differences, and the scores of the held-out rows.

    Raises
    ------
    ValueError
        When there is no model, `y` has not two classes or nothing says which is positive, the rows of a class
        are too few for the folds, a parameter is out of range, or a fit refuses its data or parameters.
    TypeError
        When a parameter is not of its kind, or a model gives no scores.

    Notes
    -----
    Models are fitted ``n_folds * n_repeats`` times each, and with ``nested=True`` about ``n_folds`` times as
    often again. Rows that a model scores alike count by the expectation over their orders.

    Hits in a budget of N rows are the share of positives among the rows of a test part acted on, in
    proportion to its size, times N.

    The best of several figures is too good, for it was chosen by the rows it is read from; the nested choice
    says by how much.

    References
    ----------
    Nadeau and Bengio, *Inference for the generalization error*, Machine Learning 52 (2003), on why
    repetitions are not independent; Cawley and Talbot, *On over-fitting in model selection*, JMLR 11 (2010),
    on nested choice.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from sklearn.linear_model import LogisticRegression
    >>> from sklearn.pipeline import make_pipeline
    >>> from sklearn.preprocessing import StandardScaler
    >>> from pushrank import IRPush
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> models = {"logistic": LogisticRegression(), "push": IRPush()}
    >>> models = {name: make_pipeline(StandardScaler(), model) for name, model in models.items()}
    >>> found = compare_rankers(models, X, y == 0, budget=100, random_state=0)
    >>> found.best_ in models
    True
    >>> found.measures["push"]["hits in budget"].shape
    (5,)
    """
    (X,), y = indexable(X), np.asarray(y)
    n_rows = _num_samples(X)
    if y.shape != (n_rows,):
        raise ValueError(f"y must hold one label for each of the {n_rows} rows, got the shape {y.shape}.")
    _, positive = two_classes(y, pos_label=pos_label)
    if pos_label is not None or y.dtype.kind not in "biuf":
        y = positive  # classifiers would take the later text for positive
    seed = random_state if isinstance(random_state, int) else check_random_state(random_state).randint(2**31)
    if budget is not None and not 1 <= budget <= n_rows:
        raise ValueError(f"budget must be at least 1 and at most the {n_rows} rows, got {budget}.")
    if models is None:
        models = default_rankers(dense=not hasattr(X, "tocsr"))
        if nested:
            models[CHOOSING_PUSH] = choosing_push(POWERS, ALPHAS, cv=cv, budget=budget, n_rows=n_rows)
    if not models:
        raise ValueError("models must hold at least one ranker by name.")
    splits = _splits(y, positive, cv, n_repeats, 2 if nested else 1, groups, seed)
    criterion, scorer = _criterion(scoring, budget)

    comparison = RankerComparison({}, criterion, budget, n_repeats, folds=np.full(n_rows, -1, dtype=np.intp))
    values: dict[str, dict[str, list[float]]] = {}
    for part, (train, test) in enumerate(splits):
        in_first_repetition = part < len(splits) // n_repeats
        if in_first_repetition:
            comparison.folds[test] = part
        X_train, X_test = _safe_indexing(X, train), _safe_indexing(X, test)
        candidates = dict(models)
        if nested:
            inner = compare_rankers(
                models,
                X_train,
                y[train],
                budget=None if budget is None else part_of_budget(budget, len(train), n_rows),
                cv=cv,
                scoring=scoring,
                groups=None if groups is None else np.asarray(groups)[train],
                random_state=seed,
            )
            candidates[CHOSEN] = models[inner.best_]
        prepared: dict[tuple[int, ...], _Prepared] = {}
        for name, model in candidates.items():
            fold = _prepare(model, candidates, X_train, X_test, y[train], prepared)
            with record_warnings(comparison.warnings.setdefault(name, [])):
                ranker = clone(model.steps[-1][1] if fold.transformers else model).fit(fold.train, y[train])
            scores = _scores(name, ranker, fold.test)
            if in_first_repetition:
                comparison.scores.setdefault(name, np.empty(n_rows))[test] = scores
            found = _measures(positive[test], scores, n_rows, budget)
            if scorer is not None:
                fitted = Pipeline([*fold.transformers, ("ranker", ranker)]) if fold.transformers else ranker
                found[criterion] = float(scorer(fitted, X_test, y[test]))
            for measure, value in found.items():
                values.setdefault(name, {}).setdefault(measure, []).append(value)
            if callback is not None:
                callback()
    comparison.measures = {
        name: {measure: np.array(found) for measure, found in measures.items()}
        for name, measures in values.items()
    }
    return comparison


def default_rankers(powers: tuple[float, ...] = POWERS, *, dense: bool = True) -> dict[str, BaseEstimator]:
    """Return the models that :func:`compare_rankers` compares by default, by name.

    Parameters
    ----------
    powers : tuple of float, default=(4.0, 16.0, 64.0)
        The strengths of the P-Norm Push, each at least 1.
    dense : bool, default=True
        Whether to boost stumps, too, which takes dense rows.

    Returns
    -------
    dict of str to estimator
        Logistic regression, the P-Norm Push at p = 1, which is RankBoost's objective over linear scores, and
        at every strength, the IR Push, and boosted stumps.

    Notes
    -----
    The linear ones are penalised, so that they need columns of similar scale.

    Examples
    --------
    >>> list(default_rankers((8.0,), dense=False))
    ['logistic regression', 'P-Norm Push, p = 1', 'P-Norm Push, p = 8', 'IR Push']
    """
    linear: dict[str, BaseEstimator] = {
        BASELINE: LogisticRegression(max_iter=1000),
        **{f"P-Norm Push, p = {p:g}": PNormPush(p=p) for p in (1.0, *powers)},
        "IR Push": IRPush(),
    }
    stumps = PushBoost(p=16.0, n_estimators=100)
    return {**linear, "boosted stumps, p = 16": stumps} if dense else linear


def choosing_push(
    powers: tuple[float, ...], alphas: tuple[float, ...], *, cv: Any, budget: int | None, n_rows: int
) -> PNormPushCV:
    """Return a P-Norm Push that chooses p and alpha by the criterion of a comparison, on as many folds."""
    scorer = partial(_share_of_hits_of, budget=budget, n_rows=n_rows)
    return PNormPushCV((1.0, *powers), alphas, scoring=scorer, cv=cv)


def _share_of_hits_of(ranker: Any, X: Any, y: ArrayLike, *, budget: int | None, n_rows: int) -> float:
    return share_of_hits(y, ranker.decision_function(X), budget, n_rows)


def share_of_hits(y: ArrayLike, scores: ArrayLike, budget: int | None, n_rows: int) -> float:
    """Return the share of positives among the rows acted on, or the first 1/4 as many as positives."""
    if budget is None:
        return float(metrics.precision_at_k(y, scores, fraction_of_positives=0.25))
    return float(metrics.precision_at_k(y, scores, part_of_budget(budget, _num_samples(y), n_rows)))


def part_of_budget(budget: int, n_part: int, n_rows: int) -> int:
    """Return how many of a part's rows a budget for all rows stands for: in proportion, at least one."""
    return max(1, round(budget * n_part / n_rows))


def on_one_scale(scores: NDArray[np.float64], folds: NDArray[np.intp]) -> NDArray[np.float64]:
    """Return one order of all rows, the higher the better, from scores of fits that differ between folds.

    Scores of different fits are not on one scale. A row's place within its own fold is, as the folds are
    drawn alike; equal places go to the row farther above its fold's mean, in standard deviations. Rows that
    tie within a fold stay tied.

    Examples
    --------
    >>> on_one_scale(np.array([1.0, 2.0, 3.0, 10.0, 90.0, 20.0]), np.array([0, 0, 0, 1, 1, 1])).tolist()
    [0.0, 3.0, 4.0, 1.0, 5.0, 2.0]
    """
    place, deviation = np.empty((2, len(scores)))
    for fold in np.unique(folds):
        within = folds == fold
        own = scores[within]
        place[within] = (rankdata(own) - 0.5) / len(own)
        # the mean of equal scores may be off by rounding, which must not part them
        spread = own.std() if np.ptp(own) > 0.0 else np.inf
        # rounded, so that rows that are equally far above tie whatever the units of their scores
        deviation[within] = np.round((own - own.mean()) / spread, 9)
    _, order = np.unique(np.stack([place, deviation], axis=1), axis=0, return_inverse=True)
    return order.ravel().astype(np.float64)


def check_classes(y: NDArray[np.bool_], n_folds: int, n_splits: int = 1) -> None:
    """Raise when a class has too few rows for folds whose training parts are split again, `n_splits` times.

    Raises
    ------
    ValueError
        When a class is too small; the message says which number of folds is possible.
    """
    fewest = int(min(y.sum(), (~y).sum()))
    if fewest >= _rows_needed(n_folds, n_splits):
        return
    possible = [folds for folds in range(2, n_folds) if fewest >= _rows_needed(folds, n_splits)]
    needed = n_folds if possible else 2
    ways = [f"choose at most {possible[-1]} folds"] if possible else []
    if n_splits > 1 and fewest >= 2:
        fewer = f" and choose at most {fewest} folds" if fewest < n_folds else ""
        ways.append(f"leave out the nested choice{fewer}")
    times = {1: "", 2: "twice", 3: "three times"}[n_splits]
    raise ValueError(
        f"a class has {fewest} row{'s' * (fewest != 1)}; {needed} folds"
        + (f" with a nested choice, which splits them {times} over," if times else "")
        + f" need at least {_rows_needed(needed, n_splits)} rows in each class"
        + (f": {', or '.join(ways)}." if ways else ", and there are no fewer folds: add rows.")
    )


def _rows_needed(n_folds: int, n_splits: int) -> int:
    """Return how many rows of a class suffice for every fold, where training parts are split again."""
    needed = n_folds
    for _ in range(n_splits - 1):
        needed = next(n_rows for n_rows in count(needed) if n_rows - -(-n_rows // n_folds) >= needed)
    return needed


def _splits(
    y: NDArray[Any], positive: NDArray[np.bool_], cv: Any, n_repeats: int, times: int, groups: Any, seed: int
) -> list[tuple[NDArray[np.intp], NDArray[np.intp]]]:
    """Return the training and test rows of every part, those of a repetition together."""
    if n_repeats < 1:
        raise ValueError(f"n_repeats must be at least 1, got {n_repeats}.")
    if isinstance(cv, int | np.integer):
        if cv < 2:
            raise ValueError(f"cv must be at least 2 folds, got {cv}.")
        check_classes(positive, int(cv), times)
        cv = RepeatedStratifiedKFold(n_splits=cv, n_repeats=n_repeats, random_state=seed)
    elif n_repeats > 1:
        raise ValueError(f"n_repeats must be 1 where cv is no number of folds, got {n_repeats}.")
    elif not hasattr(cv, "split") and times > 1:
        raise ValueError(
            "nested=True splits training parts again, which takes cv as a number or a splitter, not as parts."
        )
    splits = list(cv.split(np.zeros(len(y)), y, groups)) if hasattr(cv, "split") else list(cv)
    held_out = np.bincount(np.concatenate([test for _, test in splits]), minlength=len(y))
    if len(splits) < 2 or not (held_out == n_repeats).all():
        raise ValueError(
            f"cv must put every row into exactly one of at least 2 test parts, got {len(splits)} parts and "
            f"rows that are in {held_out.min()} to {held_out.max()} of them; take KFold or the like."
        )
    return splits


def _criterion(scoring: Any, budget: int | None) -> tuple[str, Callable[..., float] | None]:
    """Return the measure to judge models by, and the scorer that gives it where it is none of ours."""
    if scoring is None:
        return (PRECISION if budget is None else HITS), None
    check_one_scorer(scoring)
    if isinstance(scoring, str) and scoring in scorers.SCORERS:
        return scoring, scorers.SCORERS[scoring]
    return scoring if isinstance(scoring, str) else getattr(scoring, "__name__", "score"), get_scorer(scoring)


@contextmanager
def record_warnings(lines: list[str]) -> Iterator[None]:
    """Append the warnings to the user within the block to `lines`; others go on as they are."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        yield
    for warning in caught:
        if not issubclass(warning.category, UserWarning):
            warnings.warn_explicit(warning.message, warning.category, warning.filename, warning.lineno)
    found = (warning.message for warning in caught if issubclass(warning.category, UserWarning))
    lines.extend(sorted({" ".join(str(message).split()) for message in found}))


class _Prepared(NamedTuple):
    """The rows of a fold as a model takes them, and the fitted steps that made them so."""

    train: Any
    test: Any
    transformers: list[tuple[str, Any]]


def _prepare(
    model: Any,
    models: Mapping[str, Any],
    X_train: Any,
    X_test: Any,
    y: NDArray[Any],
    prepared: dict[tuple[int, ...], _Prepared],
) -> _Prepared:
    """Return the rows after the transformers that a pipeline shares with another; all others as they are."""
    key = _transformer_ids(model)
    if not key or sum(_transformer_ids(other) == key for other in models.values()) < 2:
        return _Prepared(X_train, X_test, [])
    if key not in prepared:
        transformers = clone(model[:-1])
        train = transformers.fit_transform(X_train, y)
        prepared[key] = _Prepared(train, transformers.transform(X_test), transformers.steps)
    return prepared[key]


def _transformer_ids(model: Any) -> tuple[int, ...]:
    """Return which objects come before the last step; a subclass may do more than transform."""
    return tuple(id(step) for _, step in model.steps[:-1]) if type(model) is Pipeline else ()


def _scores(name: str, model: Any, X: Any) -> NDArray[np.float64]:
    if hasattr(model, "decision_function"):
        return np.asarray(model.decision_function(X), dtype=np.float64)
    if hasattr(model, "predict_proba"):
        return np.asarray(model.predict_proba(X), dtype=np.float64)[:, 1]
    raise TypeError(
        f"{name} ({type(model).__name__}) has neither decision_function nor predict_proba, so it gives no "
        "scores to rank by."
    )


def _measures(
    y: NDArray[np.bool_], scores: NDArray[np.float64], n_rows: int, budget: int | None
) -> dict[str, float]:
    measures = {
        POSITIVES_AT_TOP: metrics.positives_at_top(y, scores),
        PRECISION: share_of_hits(y, scores, None, n_rows),
        AVERAGE_PRECISION: metrics.average_precision(y, scores),
        "AUC": metrics.auc(y, scores),
    }
    if budget is not None:
        measures[HITS] = budget * share_of_hits(y, scores, budget, n_rows)
    return measures
