"""Compare rankers under one cross-validation: which is best at the top, and is that more than chance?"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from itertools import count
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.stats import rankdata, t
from sklearn.base import BaseEstimator, clone
from sklearn.ensemble import HistGradientBoostingClassifier, RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import get_scorer
from sklearn.model_selection import RepeatedStratifiedKFold
from sklearn.pipeline import Pipeline
from sklearn.utils import _safe_indexing, check_random_state, indexable
from sklearn.utils.validation import _num_samples, has_fit_parameter

from pushrank import metrics
from pushrank._optional import import_optional
from pushrank._validation import two_classes
from pushrank.estimators import IRPush, PNormPush, PushBoost, TopRankerCV, TrimmedPush
from pushrank.estimators._scoring import check_one_scorer
from pushrank.metrics import scorers

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["Difference", "RankerComparison", "compare_rankers", "default_rankers"]

POWERS = (4.0, 16.0, 64.0)
POSITIVES_AT_TOP = "positives at top"
HITS = "hits in budget"
PRECISION = "precision at 1/4"
AVERAGE_PRECISION = "average precision"
WEIGHT = "weight in budget"
BASELINE = "logistic regression"
LINEAR_CHOSEN = "linear, chosen for the top"
GRADIENT_BOOSTING = "gradient boosting"
FOREST = "random forest"
CHOSEN = "best of the above, chosen inside"
CONFIDENCE = 0.95
ROUNDING = 1e-9  # measures are of the order of 1, with errors of rounding of 1e-15 or so
# One sign in so many folds has a two-sided probability below 5 %: 2 / 2^6. Equal differences in all folds
# have no spread to judge them by, so that this sign test stands in for Student's t.
MIN_EQUAL_FOLDS = 6
MAX_TREE_ROWS = 100_000  # with more, gradient boosting takes as long as all other models
MAX_SLOW_ROWS = 20_000  # with more, trees grown to purity and a choice inside each fold take minutes


class Difference(NamedTuple):
    """By how much one model exceeds another over the folds, and whether that is more than chance.

    Parameters
    ----------
    mean : float
        The mean of the paired differences.
    standard_error : float
        Its standard error.
    low, high : float
        The ends of its interval, which holds at 95 % together with those of all other models compared.
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
    n_positives : int or None, default=None
        How many of all rows are positive, to say of how many rows measures are.
    scores : dict of str to ndarray of shape (n_samples,)
        The score of every row by the fit of the first repetition that had not seen it.
    folds : ndarray of shape (n_samples,)
        The fold of the first repetition that a row was held out in, and -1 where it never was.
    warnings : dict of str to list of str
        What the fits of each model warned of.

    Notes
    -----
    The standard error of a mean over the :math:`V` folds of :math:`R` repetitions is

    .. math:: \\hat\\sigma / \\sqrt V, \\qquad \\hat\\sigma^2 = \\frac 1R \\sum_r s_r^2,


    Examples
    --------
    >>> found = RankerComparison(
    ...     {"a": {"AUC": np.array([0.5, 0.6, 0.7])}, "b": {"AUC": np.array([0.7, 0.9, 0.8])}}, "AUC"
    ... )
    >>> found
    RankerComparison(2 models, 3 folds)
    No clear winner. Highest AUC: b, +0.200 against a, 95 % interval -0.048 to +0.448, which chance alone may
    explain.
    >>> found.summary()["best"]
    'b'
    """

    measures: dict[str, dict[str, NDArray[np.float64]]]
    criterion: str
    budget: int | None = None
    n_repeats: int = 1
    n_positives: int | None = None
    scores: dict[str, NDArray[np.float64]] = field(default_factory=dict)
    folds: NDArray[np.intp] = field(default_factory=lambda: np.empty(0, dtype=np.intp))
    warnings: dict[str, list[str]] = field(default_factory=dict)

    def __repr__(self) -> str:
        folds = f"{self.n_folds} folds" + f", {self.n_repeats} times" * (self.n_repeats > 1)
        return f"{type(self).__name__}({self._n_models} models, {folds})\n{self.verdict()}"

    @property
    def _n_models(self) -> int:
        return len(self.measures) - (CHOSEN in self.measures)

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

    def of_held_out_rows(self) -> RankerComparison:
        """Return the comparison without the rows that no fold held out, such as the past of a time split."""
        held_out = self.folds >= 0
        scores = {model: found[held_out] for model, found in self.scores.items()}
        return replace(self, scores=scores, folds=self.folds[held_out])

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
        least six folds; in fewer, nobody can tell (None). Intervals allow for as many comparisons as there
        are other models.
        """
        gains = np.subtract(*(self.measures[name][self.criterion] for name in (model, other)))
        mean, error = float(np.mean(gains)), self._error_of_mean(gains)
        level = 1.0 - (1.0 - CONFIDENCE) / max(1, self._n_models - 1)
        reach = float(t.ppf(0.5 + level / 2.0, self.n_folds - 1)) * error
        beyond: bool | None = abs(mean) > max(reach, ROUNDING)
        if beyond and 2.0 * reach <= ROUNDING and self.n_folds < MIN_EQUAL_FOLDS:
            beyond = None
        return Difference(mean, error, mean - reach, mean + reach, beyond)

    def name_of(self, measure: str) -> str:
        """Return a measure's name as it is shown, with the number of rows that it is of."""
        if measure == PRECISION and self.n_positives is not None:
            n_rows = max(1, round(self.n_positives / 4))
            return f"precision in {n_rows:,} row{'s' * (n_rows > 1)}"
        names = {HITS: "hits", WEIGHT: "weight found"}
        return (
            f"{names[measure]} in {self.budget:,} row{'s' * (self.budget != 1)}"
            if measure in names
            else measure
        )

    def digits(self, measure: str) -> int:
        """Return how many decimals of a measure to show: one for counts of rows, else three."""
        return 1 if measure in (POSITIVES_AT_TOP, HITS, WEIGHT) else 3

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
        if other in self.equals_:
            return (
                f"No clear winner by {by}: {best} is no better than {other}; average precision decides "
                "between equals."
            )
        gain, _, low, high, beyond = self.difference(best, other)
        said = f"{best}, {gain:+.{digits}f} against {other}" + ", the next best" * (other != self.baseline_)
        if high - low <= ROUNDING:
            said += f", the same in each of {self.n_folds * self.n_repeats} test parts"
        else:
            said += f", 95 % interval {low:+.{digits}f} to {high:+.{digits}f}"
            said += f" (of all {self._n_models - 1} differences together)" * (self._n_models > 2)
        if beyond:
            return f"Best at the top, by {by}: {said}: more than chance explains."
        said = f"No clear winner. {'Most' if self.criterion == HITS else 'Highest'} {by}: {said}"
        if beyond is None:
            return f"{said}, too few to know what chance alone would do; take more folds."
        return f"{said}, which chance alone may explain."

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
    sample_weight: ArrayLike | None = None,
    pos_label: Any = None,
    random_state: Any = None,
    callback: Callable[[], None] | None = None,
) -> RankerComparison:
    r"""Compare rankers on the same folds, and say which is best at the top and whether that is beyond chance.

    Every model is fitted to the same training parts and measured on the same test parts. A difference of two
    models is the mean :math:`\bar d` of their paired differences in the :math:`V` folds, with the interval

    .. math:: \bar d \pm t_{1 - 0.025 / m,\, V - 1} \frac{\hat\sigma}{\sqrt V},

    where :math:`m` is the number of models that the best is held against.

    Parameters
    ----------
    models : dict of str to estimator, or None
        Rankers and classifiers of scikit-learn's interface, with ``decision_function`` or ``predict_proba``,
        by name; pipelines, where rows need preprocessing, which is fitted once a fold for all pipelines that
        hold the same transformer objects. The first is the baseline. None takes
        :func:`default_rankers`.
    X : array-like, sparse matrix or DataFrame of shape (n_samples, n_features)
        The rows.
    y : array-like of shape (n_samples,)
        Labels of two values.
    budget : int, optional
        How many of all rows can be acted on. Models are then judged by how many of these are positive; else
        by the precision among the first rows of a test part, a quarter as many as it has positives.
    cv : int, splitter or iterable, default=5
        The number of stratified folds, or what splits the rows so that none is in two test parts. Models are
        fitted once to a training part that several test parts share: one and the same array.
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
    sample_weight : array-like of shape (n_samples,), optional
        What rows count for in every fit, such as amounts of money. With a budget, how much of it the
        positives found among the rows acted on hold is measured, too.
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
        When there is no model, `y` has not two classes or nothing says which is positive, a training or test
        part has one class only, the rows of a class are too few for the folds, a parameter is out of range,
        or a fit refuses its data or parameters.
    TypeError
        When a parameter is not of its kind, or a model gives no scores.

    Notes
    -----
    Models are fitted ``n_folds * n_repeats`` times each, and with ``nested=True`` about ``n_folds`` times as
    often again. Rows that a model scores alike count by the expectation over their orders.

    Counts of rows are of all rows that are held out, not of one test part: hits in a budget of N rows are the
    share of positives among the rows of a test part acted on, in proportion to its size, times N, and
    positives at the top are the share of a part's positives that are, times the number of all.

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
        models = default_rankers(dense=not hasattr(X, "tocsr"), n_rows=n_rows, budget=budget)
    if not models:
        raise ValueError("models must hold at least one ranker by name.")
    weights = None if sample_weight is None else _checked_weights(sample_weight, models, n_rows)
    splits = _splits(y, positive, cv, n_repeats, 2 if nested else 1, groups, seed)
    criterion, scorer = _criterion(scoring, budget)

    folds = np.full(n_rows, -1, dtype=np.intp)
    for part, (_, test) in enumerate(splits[: len(splits) // n_repeats]):
        folds[test] = part
    n_held_out, n_positives = int((folds >= 0).sum()), int(positive[folds >= 0].sum())
    if budget is not None and budget > n_held_out:
        raise ValueError(f"budget must be at most the {n_held_out} rows that are held out, got {budget}.")
    comparison = RankerComparison({}, criterion, budget, n_repeats, n_positives, folds=folds)
    values: dict[str, dict[str, list[float]]] = {}
    fits: _Fits | None = None
    for part, (train, test) in enumerate(splits):
        if fits is None or train is not splits[part - 1][0]:
            train_weights = None if weights is None else weights[train]
            candidates, X_train = dict(models), _safe_indexing(X, train)
            if nested:
                inner = compare_rankers(
                    models,
                    X_train,
                    y[train],
                    budget=None if budget is None else part_of_budget(budget, len(train), n_held_out),
                    cv=cv,
                    scoring=scoring,
                    groups=None if groups is None else np.asarray(groups)[train],
                    sample_weight=train_weights,
                    random_state=seed,
                )
                candidates[CHOSEN] = models[inner.best_]
            fits = _Fits(candidates, X_train, y[train], train_weights, comparison.warnings)
        X_test = _safe_indexing(X, test)
        prepared: dict[tuple[int, ...], Any] = {}
        for name in candidates:
            scores = _scores(name, *fits.ranker_and_rows(name, X_test, prepared))
            if part < len(splits) // n_repeats:
                comparison.scores.setdefault(name, np.full(n_rows, np.nan))[test] = scores
            found = _measures(positive[test], scores, n_held_out, budget, n_positives)
            if weights is not None and budget is not None:
                found[WEIGHT] = _found_weight(weights[test] * positive[test], scores, n_held_out, budget)
            if scorer is not None:
                found[criterion] = float(scorer(fits.whole(name), X_test, y[test]))
            for measure, value in found.items():
                values.setdefault(name, {}).setdefault(measure, []).append(value)
            if callback is not None:
                callback()
    comparison.measures = {
        name: {measure: np.array(found) for measure, found in measures.items()}
        for name, measures in values.items()
    }
    return comparison


def default_rankers(
    powers: tuple[float, ...] = POWERS,
    *,
    dense: bool = True,
    n_rows: int | None = None,
    budget: int | None = None,
) -> dict[str, BaseEstimator]:
    """Return the models that :func:`compare_rankers` compares by default, by name.

    Parameters
    ----------
    powers : tuple of float, default=(4.0, 16.0, 64.0)
        The strengths of the P-Norm Push, each at least 1.
    dense : bool, default=True
        Whether to take those that need dense rows, too: boosted stumps and trees.
    n_rows : int, optional
        The number of rows, beyond 20,000 of which a random forest, and a choice of the objective inside
        every fold, take too long to be a default.
    budget : int, optional
        How many of these rows can be acted on, which a ranker is chosen for.

    Returns
    -------
    dict of str to estimator
        Logistic regression, the P-Norm Push at p = 1, which is RankBoost's objective over linear scores, and
        at every strength, the IR Push, the trimmed push, the linear ranker that :class:`TopRankerCV` chooses,
        boosted stumps, and what people take for tables otherwise: the gradient boosting and the random forest
        of scikit-learn, with its defaults.

    Notes
    -----
    The linear ones are penalised, so that they need columns of similar scale.

    Examples
    --------
    >>> list(default_rankers((8.0,), dense=False, n_rows=100_000))
    ['logistic regression', 'P-Norm Push, p = 1', 'P-Norm Push, p = 8', 'IR Push', 'trimmed push']
    """
    rankers: dict[str, BaseEstimator] = {
        BASELINE: LogisticRegression(max_iter=1000),
        **{f"P-Norm Push, p = {p:g}": PNormPush(p=p) for p in (1.0, *powers)},
        "IR Push": IRPush(),
        "trimmed push": TrimmedPush(),
    }
    is_small = n_rows is None or n_rows <= MAX_SLOW_ROWS
    if is_small:
        fraction = None if budget is None or n_rows is None else budget / n_rows
        rankers[LINEAR_CHOSEN] = TopRankerCV(fraction=fraction, random_state=0)
    if dense:
        rankers["boosted stumps, p = 16"] = PushBoost(p=16.0, n_estimators=100)
        if n_rows is None or n_rows <= MAX_TREE_ROWS:
            rankers[GRADIENT_BOOSTING] = HistGradientBoostingClassifier(random_state=0)
    if is_small:
        rankers[FOREST] = RandomForestClassifier(random_state=0)
    return rankers


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
    if len(splits) < 2 or held_out.max() > n_repeats:
        raise ValueError(
            f"cv must give at least 2 test parts and put no row into more than one, got {len(splits)} parts "
            f"and rows that are in {held_out.max()} of them; take KFold or the like."
        )
    for part, rows in enumerate(splits, 1):
        for what, held in zip(("training", "test"), rows, strict=True):
            if len(np.unique(positive[held])) < 2:
                raise ValueError(
                    f"{what} part {part} of {len(splits)} has rows of one class only; take fewer folds, or "
                    "other groups or times."
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


class _Fits:
    """Models fitted to one training part when they are asked for, shared transformers once for all."""

    def __init__(
        self,
        models: Mapping[str, Any],
        X: Any,
        y: NDArray[Any],
        sample_weight: NDArray[np.float64] | None,
        warned: dict[str, list[str]],
    ) -> None:
        self.models, self.X, self.y, self.warned = models, X, y, warned
        self.weight = {} if sample_weight is None else {"sample_weight": sample_weight}
        ids = [_transformer_ids(model) for model in models.values()]
        # what one model alone goes through is part of its fit, and not kept
        self.keys = {name: own if ids.count(own) > 1 else () for name, own in zip(models, ids, strict=True)}
        self.prepared: dict[tuple[int, ...], tuple[Pipeline, Any]] = {}
        self.rankers: dict[str, Any] = {}

    def ranker_and_rows(
        self, name: str, X_test: Any, prepared: dict[tuple[int, ...], Any]
    ) -> tuple[Any, Any]:
        """Return a fitted ranker and test rows as it takes them; `prepared` holds those of other rankers."""
        key, model = self.keys[name], self.models[name]
        if key and key not in self.prepared:
            transformers = clone(model[:-1])
            self.prepared[key] = transformers, transformers.fit_transform(self.X, self.y)
        if name not in self.rankers:
            X_train, ranker = self.X, clone(model)
            if key:
                _, X_train = self.prepared[key]
                ranker = ranker.steps[-1][1]
            prefix = f"{ranker.steps[-1][0]}__" if isinstance(ranker, Pipeline) else ""
            weight = {prefix + parameter: value for parameter, value in self.weight.items()}
            with record_warnings(self.warned.setdefault(name, [])):
                self.rankers[name] = ranker.fit(X_train, self.y, **weight)
        if key and key not in prepared:
            prepared[key] = self.prepared[key][0].transform(X_test)
        return self.rankers[name], prepared[key] if key else X_test

    def whole(self, name: str) -> Any:
        """Return a fitted model that takes rows as they came."""
        if not (key := self.keys[name]):
            return self.rankers[name]
        return Pipeline([*self.prepared[key][0].steps, ("ranker", self.rankers[name])])


def _transformer_ids(model: Any) -> tuple[int, ...]:
    """Return which objects come before the last step; a subclass may do more than transform."""
    return tuple(id(step) for _, step in model.steps[:-1]) if type(model) is Pipeline else ()


def _checked_weights(sample_weight: ArrayLike, models: Mapping[str, Any], n_rows: int) -> NDArray[np.float64]:
    """Return weights as floats, or raise where they are none or a model takes none."""
    weights = np.asarray(sample_weight, dtype=np.float64)
    if weights.shape != (n_rows,) or not (np.isfinite(weights) & (weights >= 0.0)).all():
        raise ValueError(f"sample_weight must hold {n_rows} finite numbers of at least 0, one for each row.")
    for name, model in models.items():
        last = model.steps[-1][1] if isinstance(model, Pipeline) else model
        if not has_fit_parameter(last, "sample_weight"):
            raise TypeError(f"{name} ({type(last).__name__}) takes no sample_weight; leave it or them out.")
    return weights


def _found_weight(
    weights: NDArray[np.float64], scores: NDArray[np.float64], n_rows: int, budget: int
) -> float:
    """Return the expected sum of weights in a budget of all rows, where tied rows come in a random order."""
    k = part_of_budget(budget, len(scores), n_rows)
    first, last = (rankdata(-scores, method=method) for method in ("min", "max"))
    chances = np.clip((k + 1.0 - first) / (last + 1.0 - first), 0.0, 1.0)
    return float(budget / k * (weights @ chances))


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
    y: NDArray[np.bool_], scores: NDArray[np.float64], n_rows: int, budget: int | None, n_positives: int
) -> dict[str, float]:
    measures = {
        POSITIVES_AT_TOP: metrics.positives_at_top(y, scores) * n_positives / int(y.sum()),
        PRECISION: share_of_hits(y, scores, None, n_rows),
        AVERAGE_PRECISION: metrics.average_precision(y, scores),
        "AUC": metrics.auc(y, scores),
    }
    if budget is not None:
        measures[HITS] = budget * share_of_hits(y, scores, budget, n_rows)
    return measures
