"""Rankers fitted and measured on the same folds."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from importlib import import_module
from importlib.util import find_spec
from itertools import groupby
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator
from sklearn.ensemble import ExtraTreesClassifier, HistGradientBoostingClassifier, RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import get_scorer
from sklearn.model_selection import StratifiedGroupKFold, StratifiedKFold, TimeSeriesSplit
from sklearn.utils import check_random_state

from pushrank import metrics
from pushrank._numeric import Floats
from pushrank._time import TimeSplit, warn_of_random_folds
from pushrank._validation import check_jobs, check_number, warn
from pushrank.budgets import Budget
from pushrank.estimators import IRPush, PNormPush, PushBoost, StackingRanker, TopRankerCV, TrimmedPush
from pushrank.estimators._combination import Combination, OutOfFold, combine_apart, unlinked
from pushrank.estimators._scoring import FrozenRanker, check_one_scorer
from pushrank.estimators._target import two_class_target
from pushrank.held_out import Rows, fit_params, fit_parts, texts_for_user
from pushrank.metrics import scorers
from pushrank.model_selection._folds import (
    part_of_budget,
    share_of_hits,
    split_rows,
    whole_periods,
)
from pushrank.model_selection.comparison import (
    CHOSEN,
    CONFIDENCE,
    POSITIVES_AT_TOP,
    TOGETHER,
    TOGETHER_NOT_NESTED,
    RankerComparison,
)
from pushrank.model_selection.errors import (
    AUC,
    AVERAGE_PRECISION,
    HITS,
    PRECISION,
    WEIGHT,
    Part,
    errors_of_parts,
)
from pushrank.model_selection.verdict import quantiles, simplicity

POWERS = (4.0, 16.0, 64.0)
BASELINE = "logistic regression"
IR_PUSH = "IR Push"
LINEAR_CHOSEN = "linear, chosen for the top"
STUMPS = "boosted stumps, p = 16"
GRADIENT_BOOSTING = "gradient boosting"
LIGHTGBM = "LightGBM"
XGBOOST = "XGBoost"
FOREST = "random forest"
EXTRA_TREES = "extra trees"
# LightGBM's default of at least 20 rows in each leaf leaves little to split with fewer rows.
MIN_LIGHTGBM_ROWS = 200
# Gradient boosting takes a processor minute on 250,000 rows of 23 columns, LightGBM five seconds.
MAX_TREE_ROWS = 3_000_000
# A forest grown to purity, and a choice inside each fold, take minutes with more rows.
MAX_SLOW_ROWS = 20_000
# With fewer the row of all models together may be too good unless it is nested.
MIN_ROWS_TOGETHER = 2000
MIN_POSITIVES_TOGETHER = 100
# Models may refuse fewer rows of a class, and vary in other ways than with all of them.
MIN_ROWS_OF_CLASS = 10
# Fits to halves of the training rows are compared on so many of the rows at least.
LEAST_TESTED = 0.2


def compare_rankers(
    models: Mapping[str, BaseEstimator] | None,
    X: Any,
    y: ArrayLike,
    *,
    budget: int | Budget | None = None,
    cv: Any = 5,
    n_repeats: int = 1,
    scoring: str | Callable[..., float] | None = None,
    nested: bool = False,
    groups: ArrayLike | None = None,
    time: ArrayLike | None = None,
    sample_weight: ArrayLike | None = None,
    pos_label: Any = None,
    indifference: float = 0.0,
    together: bool | Sequence[str] = False,
    random_state: Any = None,
    n_jobs: int | None = None,
    callback: Callable[[], None] | None = None,
) -> RankerComparison:
    r"""Compare rankers on the same folds, and say which is best at the top and whether that is beyond chance.

    Every model is fitted to the same training parts and measured on the same test parts. The difference of
    two models is the mean :math:`\bar d` of their differences in the folds, with the interval

    .. math:: \bar d \pm q \sqrt{\frac{\sigma^2}{n} + \frac{\min(0.7\, \delta^2, \sigma^2)}{n_{train}}}.

    The first term is for the n rows tested, the second for the training rows: see :class:`RankerComparison`.
    The quantile q is that of the largest of all differences between as many equal models.

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
    budget : int or Budget, optional
        How many of all rows can be acted on, or in every period, such as ``Budget(150, per="day")`` of
        :mod:`pushrank.budgets`. Models are then judged by how many of these are positive, in all or a period;
        else by the precision among the first rows of a test part, a quarter as many as it has positives.
        Where a number or a splitter as `cv` never holds some rows out, the same share of the others is acted
        on. A budget by period needs `time`.
    cv : int, splitter or iterable, default=5
        The number of folds, drawn at random in strata or, with `time`, cut in its order; or what splits the
        rows so that none is in two test parts. Models are fitted once to a training part that several test
        parts share, as the same array.
    n_repeats : int, default=1
        How often the cross-validation is repeated with other folds, where `cv` is a number.
    scoring : str or callable, optional
        What to judge models by instead: the name of a scorer in :mod:`pushrank.metrics.scorers` or of
        scikit-learn's, or a scorer.
    nested : bool, default=False
        Also choose the best model inside every training part, by a comparison there, and measure the choice
        on the test part. That is what choosing achieves on rows that had no say in it.
    groups : array-like of shape (n_samples,), optional
        The groups of rows, for a splitter that keeps them together, such as the one by `time`.
    time : array-like of shape (n_samples,), optional
        The times of the rows, as numbers or dates. They are split by :class:`TimeSplit`, or by a splitter as
        `cv` that takes times, also for the nested choice, and are handed to models that choose or stop by
        rows of their own. With a budget by period each row's time is the beginning of its period, so that no
        part tears one; a splitter's gap and window count from there.
    sample_weight : array-like of shape (n_samples,), optional
        Weights of the rows in every fit, such as amounts of money. With a budget, the weight of the positives
        among the rows acted on is measured, too.
    pos_label : label, optional
        The positive class, which models are then fitted to as True; by default the larger of two numbers, yes
        of yes and no, and true of true and false. Other texts need a `pos_label`.
    indifference : float, default=0.0
        Differences below it, in hits with a budget, make no difference to you: models that differ by less at
        95 % are called equal for your purposes.
    together : bool or sequence of str, default=False
        Also measure all models together, or those of these names, as :class:`~pushrank.StackingRanker` adds
        them up: by their scores of the rows that were held out, at no further fit, with weights that come
        from the other test parts. The models there have seen the rows of this one, so that the row says "not
        nested". With fewer than 2,000 rows or 100 positives, or a list of parts as `cv`, where that may be
        too good a figure, the whole is fitted to every training part.
    random_state : int, RandomState or None, default=None
        The seed of the folds and of the quantiles. Models that draw at random have their own seeds.
    n_jobs : int or None, default=None
        The number of fits at a time, over models and folds, in processes, as in joblib: -1 is one for each
        processor, and each takes seconds to start. It changes no result but for the rounding of models whose
        sums hang on the number of threads that they find.
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
    often again. For the errors each is fitted to both halves of a training part, too, unless rows are
    judged by time or a half has fewer than 10 rows of a class: a fifth more time with five folds. Rows with
    equal scores count by the expectation over their orders.

    Counts of rows are of all rows that are held out, not of one test part: hits in a budget of N rows are the
    share of positives among the rows of a test part acted on, in proportion to its size, times N, and
    positives at the top are the share of a part's positives that are, times the number of all. With a budget
    by period hits are those a period, with the errors of :func:`pushrank.metrics.measure_periods`, whose
    result for all models is ``days``; of fewer than 21 periods the errors come from the test parts.

    The best of several figures is too good, for it was chosen by the rows it is read from; the nested choice
    says by how much.

    References
    ----------
    Nadeau and Bengio, *Inference for the generalization error*, Machine Learning 52 (2003); Hsu,
    *Simultaneous confidence intervals for all distances from the "best"*, Annals of Statistics 9 (1981);
    Cawley and Talbot, *On over-fitting in model selection*, JMLR 11 (2010), on nested choice.

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
    >>> comparison = compare_rankers(models, X, y == 0, budget=100, random_state=0)
    >>> comparison.best_ in models
    True
    >>> comparison.measures["push"]["hits in budget"].shape
    (5,)
    """
    if isinstance(budget, Budget):
        time = whole_periods(budget, time)
    check_jobs(n_jobs, "processes")
    rows = Rows.checked(X, y, pos_label, sample_weight, groups, time)
    n_rows = len(rows.y)
    seed = random_state if isinstance(random_state, int) else check_random_state(random_state).randint(2**31)
    if not isinstance(budget, Budget | None) and not 1 <= budget <= n_rows:
        raise ValueError(f"budget must be at least 1 and at most the {n_rows} rows, got {budget}.")
    check_number("indifference", indifference, 0.0)
    models = _checked_models(models, rows, budget)
    named = list(models) if together is True else list(together or ())
    if strangers := [name for name in named if name not in models]:
        raise ValueError(f"together must name some of {list(models)}, got {strangers}.")
    members = {name: models[name] for name in named}
    nested_together = bool(members) and is_nested(rows.positive, cv)
    if nested_together:
        models = {**models, TOGETHER: _stack(members, rows, budget, seed)}
    if isinstance(cv, int) and time is None and groups is None:
        warn_of_random_folds(X)
    splits = split_rows(rows, cv, n_repeats, 2 if nested else 1, seed)
    settings = Settings(models, cv, scoring, budget, seed, n_jobs, callback)
    comparison, parts = _measured(settings, rows, splits, n_repeats, nested=nested)
    comparison.indifference = indifference
    halves = _halves(comparison, settings, rows, splits)
    combinations: list[Combination] = []
    if members and not nested_together:
        # Other processes fit halves meanwhile.
        combinations = _add_together(comparison, settings, members, rows, parts)
    _add_errors(comparison, settings, rows, splits, parts, halves, (members, combinations))
    return comparison


class Settings(NamedTuple):
    """Which models are compared, and how, whatever the rows."""

    models: Mapping[str, BaseEstimator]
    cv: Any
    scoring: Any
    budget: int | Budget | None
    seed: int
    n_jobs: int | None
    callback: Callable[[], None] | None


def _measured(
    settings: Settings, rows: Rows, splits: Sequence[Any], n_repeats: int, *, nested: bool = False
) -> tuple[RankerComparison, list[Part]]:
    """Return the measures of all models on all test parts, and their scores there."""
    criterion, scorer = _criterion(settings.scoring, settings.budget)
    comparison = _nothing_measured(rows, splits, criterion, settings.budget, n_repeats, settings.cv)
    parts = [
        Part(test, rows.positive[test], None if rows.weights is None else rows.weights[test], [])
        for _, test in splits
    ]
    # Splits that share a training part come one after the other, and share its fits.
    groups = [[*group] for _, group in groupby(range(len(splits)), lambda number: id(splits[number][0]))]
    with_tests = (
        (rows.part(splits[group[0]][0]), [rows.part(parts[number].rows) for number in group])
        for group in groups
    )
    look = partial(_looked_at, scorer)
    fits = fit_parts(settings.models, with_tests, n_jobs=settings.n_jobs, look=look)
    for group in groups:
        for name in settings.models:
            fitted = next(fits)
            comparison.warnings.setdefault(name, []).extend(texts_for_user(fitted.warned))
            comparison.simplicity[name], judgements = fitted.seen
            for number, scores, judged in zip(group, fitted.scores, judgements, strict=True):
                measures = _measures(parts[number], scores, comparison)
                if scorer is not None:
                    measures[criterion] = judged
                parts[number].scores.append(scores)
                _keep(comparison, name, number, parts[number].rows, scores, measures)
                if settings.callback is not None:
                    settings.callback()
    for group in groups if nested else ():
        best = _best_inside(settings, rows.part(splits[group[0]][0]), comparison)
        for number in group:
            scores = parts[number].scores[list(settings.models).index(best)]
            measures = {measure: values[number] for measure, values in comparison.measures[best].items()}
            _keep(comparison, CHOSEN, number, parts[number].rows, scores, measures)
            if settings.callback is not None:
                settings.callback()
    _measure_periods(comparison, rows)
    return comparison, parts


def _looked_at(scorer: Callable[..., float] | None, model: Any, tests: list[Rows]) -> tuple[int, list[float]]:
    """Return the simplicity of a fitted model, and the scorer's measures of its test parts."""
    scores = [np.nan if scorer is None else float(scorer(model, test.X, test.y)) for test in tests]
    return simplicity(model), scores


def _keep(
    comparison: RankerComparison,
    name: str,
    number: int,
    rows: NDArray[np.intp],
    scores: NDArray[np.float64],
    measures: Mapping[str, float],
) -> None:
    """Add the measures of a test part and, in the first repetition, its scores."""
    if number <= comparison.folds.max():
        comparison.scores.setdefault(name, np.full(len(comparison.folds), np.nan))[rows] = scores
    by_measure = comparison.measures.setdefault(name, {})
    for measure, value in measures.items():
        by_measure[measure] = np.append(by_measure.get(measure, np.empty(0)), value)


def _measure_periods(comparison: RankerComparison, rows: Rows) -> None:
    """Measure what each model finds in each period of the rows held out, where the budget is by period."""
    if isinstance(comparison.budget, Budget):
        comparison.times, held_out = rows.times, np.flatnonzero(comparison.folds >= 0)
        tested = rows.part(held_out)
        comparison.days = days = metrics.measure_periods(
            tested.positive,
            {name: scores[held_out] for name, scores in comparison.scores.items()},
            budget=comparison.budget,
            time=np.asarray(tested.times),
            value=tested.weights,
        )
        _, first = np.unique(np.asarray(tested.times), return_index=True)
        part = comparison.folds[held_out][first]
        for measure, by_model in ((HITS, days.hits), (WEIGHT, days.values)):
            for name, by_period in by_model.items():
                comparison.measures[name][measure] = np.bincount(part, by_period) / np.bincount(part)


def is_nested(positive: NDArray[np.bool_], cv: Any) -> bool:
    """Return whether all models together are fitted to every training part."""
    few = len(positive) < MIN_ROWS_TOGETHER or positive.sum() < MIN_POSITIVES_TOGETHER
    return bool(few) or not (isinstance(cv, int | np.integer) or hasattr(cv, "split"))


def _stack(models: Mapping[str, Any], rows: Rows, budget: Any, seed: int) -> StackingRanker:
    """Return all models together, unfitted, for the budget by period or its share of the rows."""
    cv = 5 if rows.groups is None or rows.times is not None else StratifiedGroupKFold(5)
    params = budget_params(budget, len(rows.y)) | {"cv": cv, "random_state": seed}
    return StackingRanker(list(models.items()), **params)


def budget_params(budget: int | Budget | None, n_rows: int) -> dict[str, Any]:
    """Return the parameters by which a search takes a budget of so many rows as a share, or by period."""
    if isinstance(budget, Budget):
        return {"budget": budget}
    return {"fraction": None if budget is None else budget / n_rows}


def _add_together(
    comparison: RankerComparison,
    settings: Settings,
    members: Mapping[str, Any],
    rows: Rows,
    parts: Sequence[Part],
) -> list[Combination]:
    """Add the measures of members together, and return how they are added up for each test part."""
    of, (criterion, scorer) = list(settings.models), _criterion(settings.scoring, settings.budget)
    n_parts, combinations = len(parts) // comparison.n_repeats, []
    by_time = _by_time(rows, settings.cv)
    for first in range(0, len(parts), n_parts):
        of_repeat = parts[first : first + n_parts]
        scores = np.full((len(members), len(rows.y)), np.nan)
        for part in of_repeat:
            scores[:, part.rows] = _unlinked(members, of, part.scores)
        # The budget that was given is of all rows; that of the comparison may be of those held out.
        stack = _stack(members, rows, settings.budget, settings.seed)
        target = two_class_target(stack, rows.positive, rows.weights)
        out_of_fold = OutOfFold(scores, [part.rows for part in of_repeat], by_time, rows.times)
        combinations += combine_apart(stack, out_of_fold, target)
    for number, (part, combination) in enumerate(zip(parts, combinations, strict=True)):
        scores = combination(_unlinked(members, of, part.scores))
        part.scores.append(scores)
        measures = _measures(part, scores, comparison)
        if scorer is not None:
            testing, frozen = rows.part(part.rows), FrozenRanker(np.unique(rows.y))
            frozen.set_scores(scores, np.zeros(1))
            measures[criterion] = float(scorer(frozen, testing.X, testing.y))
        _keep(comparison, TOGETHER_NOT_NESTED, number, part.rows, scores, measures)
    comparison.simplicity[TOGETHER_NOT_NESTED] = simplicity(stack)
    _measure_periods(comparison, rows)
    return combinations


def _unlinked(
    members: Mapping[str, Any], models: Sequence[str], scores: Sequence[NDArray[np.float64]]
) -> list[NDArray[np.float64]]:
    """Return the scores of members, of the scores by model, on a scale of log-odds or margins."""
    of = dict(zip(models, scores, strict=False))
    return [unlinked(model, of[name]) for name, model in members.items()]


def _by_time(rows: Rows, cv: Any) -> bool:
    return rows.times is not None or isinstance(cv, TimeSplit | TimeSeriesSplit)


def _best_inside(settings: Settings, training: Rows, comparison: RankerComparison) -> str:
    """Return the best model by a comparison within a training part."""
    budget = comparison.budget
    if not isinstance(budget, Budget | None):
        budget = part_of_budget(budget, len(training.y), int((comparison.folds >= 0).sum()))
    splits = split_rows(training, settings.cv, 1, 1, settings.seed)
    models = {name: model for name, model in settings.models.items() if name != TOGETHER}
    settings = settings._replace(models=models, budget=budget, callback=None)
    return _measured(settings, training, splits, 1)[0].best_


def scores_of_halves(
    models: Mapping[str, Any],
    training: Rows,
    tests: list[Rows],
    seed: int,
    n_jobs: int | None = None,
) -> Iterator[list[list[Floats]]] | None:
    """Begin fits to either half of some rows, and return an iterator of scores by half, test part and model.

    Of few rows of a class, or few groups, there are no halves, and the result is None.
    """
    y, groups = training.positive, training.groups
    n_groups = len(y) if groups is None else len(np.unique(groups))
    if min(y.sum(), (~y).sum()) < 2 * MIN_ROWS_OF_CLASS or n_groups < 2 * MIN_ROWS_OF_CLASS:
        return None
    splitter = (StratifiedKFold if groups is None else StratifiedGroupKFold)(
        2, shuffle=True, random_state=seed
    )
    halves = next(splitter.split(np.zeros(len(y)), y, groups))
    if min(min(y[half].sum(), (~y[half]).sum()) for half in halves) < MIN_ROWS_OF_CLASS:
        return None
    fits = fit_parts(models, ((training.part(half), tests) for half in halves), n_jobs=n_jobs)
    of_halves = ([next(fits).scores for _ in models] for _ in halves)
    return ([list(of_part) for of_part in zip(*scores, strict=True)] for scores in of_halves)


class Halves(NamedTuple):
    """Fits to halves of the rows of one training part, and the scores of the last test parts by them."""

    n_rows: int
    n_parts: int
    scores: Iterator[list[list[NDArray[np.float64]]]] | None


def _halves(comparison: RankerComparison, settings: Settings, rows: Rows, splits: Sequence[Any]) -> Halves:
    """Begin the fits to halves of training rows, from which errors come where periods are no observations."""
    n_tested, n_last, train = 0, 0, splits[-1][0]
    # The last parts are tested on, as many as hold a fifth of the rows; what all learn from is halved.
    while n_tested < LEAST_TESTED * (comparison.folds >= 0).sum():
        n_last += 1
        n_tested += len(splits[-n_last][1])
        train = np.intersect1d(train, splits[-n_last][0])
    scores = None
    if not _by_time(rows, settings.cv):
        tests = [rows.part(test) for _, test in splits[-n_last:]]
        scores = scores_of_halves(settings.models, rows.part(train), tests, settings.seed, settings.n_jobs)
    return Halves(len(train), n_last, scores)


def _add_errors(
    comparison: RankerComparison,
    settings: Settings,
    rows: Rows,
    splits: Sequence[Any],
    parts: Sequence[Part],
    halved: Halves,
    together: tuple[Mapping[str, Any], Sequence[Combination]],
) -> None:
    """Add the errors of all measures, after fits of every model to both halves of training rows."""
    members, combinations = together
    # Periods differ by more than their rows do: each is one observation.
    by_folds = _by_time(rows, settings.cv)
    n_train = float(np.mean([len(train) for train, _ in splits]))
    halves = None if halved.scores is None else list(halved.scores)
    # The weights hardly hang on the half, which would have to be split again for its own.
    for of_half in halves if halves is not None and combinations else ():
        for of_part, combination in zip(of_half, combinations[-halved.n_parts :], strict=True):
            of_part.append(combination(_unlinked(members, list(settings.models), of_part)))
    for measure in comparison.measures[comparison.baseline_]:
        if comparison.by_period(measure):
            comparison.errors[measure] = comparison.errors_of(measure)
            continue
        named = [name for name in comparison.measures if name != CHOSEN]
        values = np.array([comparison.measures[name][measure] for name in named])
        comparison.errors[measure] = errors_of_parts(
            values,
            measure,
            parts,
            halves,
            budget=None if isinstance(comparison.budget, Budget) else comparison.budget,
            n_repeats=comparison.n_repeats,
            n_train=n_train,
            n_halved=halved.n_rows,
            groups=rows.groups,
            by_folds=by_folds,
        )
    errors = comparison.errors[comparison.criterion]
    comparison.quantiles = quantiles(errors, CONFIDENCE, settings.seed)


def _nothing_measured(
    rows: Rows, splits: Sequence[Any], criterion: str, budget: Any, n_repeats: int, cv: Any
) -> RankerComparison:
    """Return a comparison without models, of the folds of the first repetition."""
    folds = np.full(len(rows.y), -1, dtype=np.intp)
    for part, (_, test) in enumerate(splits[: len(splits) // n_repeats]):
        folds[test] = part
    n_held_out = int((folds >= 0).sum())
    judged = _how_judged(rows, cv, len(splits))
    is_of_all = not isinstance(budget, Budget | None)
    if is_of_all and n_held_out < len(folds) and hasattr(cv, "split") | isinstance(cv, int):
        share = part_of_budget(budget, n_held_out, len(folds))
        judged += f" A budget of {budget:,} of {len(folds):,} rows is {share:,} of the {n_held_out:,} tested."
        budget = share
    elif is_of_all and budget > n_held_out:
        raise ValueError(f"budget must be at most the {n_held_out} rows that are held out, got {budget}.")
    n_positives = int(rows.positive[folds >= 0].sum())
    return RankerComparison({}, criterion, budget, n_repeats, n_positives, folds=folds, judged=judged)


def _how_judged(rows: Rows, cv: Any, n_splits: int) -> str:
    """Return a sentence that says on which rows models are judged."""
    if rows.times is not None or isinstance(cv, TimeSplit):
        return f"Judged by time, on {n_splits} parts that each come after the rows learnt from."
    if isinstance(cv, int | np.integer):
        return f"Judged by {cv} random folds."
    return f"Judged by {type(cv).__name__}." if hasattr(cv, "split") else ""


def _checked_models(
    models: Mapping[str, BaseEstimator] | None, rows: Rows, budget: int | Budget | None
) -> Mapping[str, BaseEstimator]:
    if models is None:
        models = default_rankers(dense=not hasattr(rows.X, "tocsr"), n_rows=len(rows.y), budget=budget)
    if not isinstance(models, Mapping):
        raise TypeError(f"models must be a dict of rankers by name, got {type(models).__name__}.")
    if not models:
        raise ValueError("models must hold at least one ranker by name.")
    for model in models.values():
        fit_params(model, rows.weights)
    return models


def default_rankers(
    powers: tuple[float, ...] = POWERS,
    *,
    dense: bool = True,
    n_rows: int | None = None,
    budget: int | Budget | None = None,
) -> dict[str, BaseEstimator]:
    """Return the models that :func:`compare_rankers` compares by default, by name.

    Parameters
    ----------
    powers : tuple of float, default=(4.0, 16.0, 64.0)
        The strengths of the P-Norm Push, each at least 1.
    dense : bool, default=True
        Whether to take those that need dense rows, too: boosted stumps and trees.
    n_rows : int, optional
        The number of rows, beyond 20,000 of which forests, and a choice of the objective inside every
        fold, take too long to be a default, and beyond 3,000,000 all trees. With fewer than 200,
        LightGBM's defaults split little.
    budget : int or Budget, optional
        How many of these rows can be acted on, or in every period, which a ranker is chosen for.

    Returns
    -------
    dict of str to estimator
        Logistic regression, the P-Norm Push at p = 1, which is RankBoost's objective over linear scores, and
        at every strength, the IR Push, the trimmed push, the linear ranker that
        :class:`~pushrank.TopRankerCV` chooses, boosted stumps, and, with their defaults, what people take for
        tables otherwise: the gradient boosting of scikit-learn, its random forest, with balanced classes too,
        and extra trees; where they are installed LightGBM, also under the P-Norm Push, and XGBoost.

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
        IR_PUSH: IRPush(),
        "trimmed push": TrimmedPush(),
    }
    is_small = n_rows is None or n_rows <= MAX_SLOW_ROWS
    if is_small:
        known = budget if n_rows or isinstance(budget, Budget) else None
        rankers[LINEAR_CHOSEN] = TopRankerCV(**budget_params(known, n_rows or 1), random_state=0)
    if dense:
        rankers[STUMPS] = PushBoost(p=16.0, n_estimators=100, random_state=0)
        if n_rows is None or n_rows <= MAX_TREE_ROWS:
            rankers[GRADIENT_BOOSTING] = HistGradientBoostingClassifier(random_state=0)
            if find_spec("lightgbm") and (n_rows is None or n_rows >= MIN_LIGHTGBM_ROWS):
                try:
                    trees = import_module("pushrank.interop.lightgbm").PushLGBMRanker
                    rankers[LIGHTGBM] = trees("binary", n_jobs=1, random_state=0)
                    rankers[f"{LIGHTGBM}, P-Norm Push, p = 4"] = trees(4.0, n_jobs=1, random_state=0)
                except ImportError as error:
                    warn(f"{error} It is not among the rankers.", UserWarning)
            if find_spec("xgboost"):
                trees = import_module("pushrank.interop.xgboost").PushXGBRanker
                rankers[XGBOOST] = trees("binary", n_jobs=1, random_state=0)
    if is_small:
        rankers[FOREST] = RandomForestClassifier(random_state=0)
        rankers[EXTRA_TREES] = ExtraTreesClassifier(random_state=0)
        balanced = RandomForestClassifier(class_weight="balanced_subsample", random_state=0)
        rankers[f"{FOREST}, balanced"] = balanced
    return rankers


def _criterion(scoring: Any, budget: int | Budget | None) -> tuple[str, Callable[..., float] | None]:
    """Return the measure to judge models by, and the scorer that gives it where it is none of ours."""
    if scoring is None:
        return (PRECISION if budget is None else HITS), None
    check_one_scorer(scoring)
    if isinstance(scoring, str) and scoring in scorers.SCORERS:
        return scoring, scorers.SCORERS[scoring]
    return scoring if isinstance(scoring, str) else getattr(scoring, "__name__", "score"), get_scorer(scoring)


def _measures(part: Part, scores: NDArray[np.float64], comparison: RankerComparison) -> dict[str, float]:
    """Return the measures of a test part, counts among them as if it were all rows that are held out."""
    budget, n_rows = comparison.budget, int((comparison.folds >= 0).sum())
    y = part.positive
    measures = {
        POSITIVES_AT_TOP: metrics.positives_at_top(y, scores) * comparison.n_positives / int(y.sum()),
        PRECISION: share_of_hits(y, scores, None, n_rows),
        AVERAGE_PRECISION: metrics.average_precision(y, scores),
        AUC: metrics.auc(y, scores),
    }
    if not isinstance(budget, Budget | None):
        measures[HITS] = budget * share_of_hits(y, scores, budget, n_rows)
        if part.weights is not None:
            k = part_of_budget(budget, len(y), n_rows)
            measures[WEIGHT] = budget / k * metrics.value_at_k(y, scores, k, value=part.weights)
    return measures
