"""Rankers fitted and measured on the same folds."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from importlib import import_module
from importlib.util import find_spec
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import BaseEstimator
from sklearn.ensemble import ExtraTreesClassifier, HistGradientBoostingClassifier, RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import StratifiedGroupKFold
from sklearn.pipeline import Pipeline

from pushrank._base.numeric import Floats
from pushrank._base.optional import import_optional
from pushrank._base.user_types import CrossValidation, Estimator, Label, MatrixLike, Seed
from pushrank._base.validation import check_number, warn
from pushrank.budgets import Budget
from pushrank.estimators import IRPush, PNormPush, PushBoost, TopRankerCV, TrimmedPush
from pushrank.held_out.plan import Plan
from pushrank.model_selection.comparison import TOGETHER, RankerComparison
from pushrank.model_selection.table import (
    Criterion,
    Halves,
    HeldOutTable,
    budget_params,
    paired_scores,
    stack_of,
)

__all__ = [
    "IR_PUSH", "LINEAR_CHOSEN", "MAX_SLOW_ROWS", "POWERS", "PUSH", "SMALL_STEPS", "STUMPS",
    "compare_plan", "compare_rankers", "default_rankers", "known_rankers", "lightgbm_classifier",
    "push_named",
]  # fmt: skip


def push_named(p: float) -> str:
    """Return what the P-Norm Push of this strength is called in tables."""
    return f"P-Norm Push, p = {p:g}"


POWERS = (4.0, 16.0, 64.0)
PUSH = push_named(16.0)
BASELINE = "logistic regression"
IR_PUSH = "IR Push"
LINEAR_CHOSEN = "linear, chosen for the top"
STUMPS = "boosted stumps, p = 16"
GRADIENT_BOOSTING = "gradient boosting"
LIGHTGBM = "LightGBM"
SMALL_STEPS = f"{LIGHTGBM}, small steps"
# On eight sets 300 rounds were compared with a number of rounds that a fifth of the rows stops, then a refit
# to all. Their average precision is .006 lower on 6,000 rows (.066 on letter, .002 higher in the mean of the
# others) and .013 higher on 1,500 rows, in .3 and .5 of the time. In half as many rows as positives they find
# .3 and .5 hits more. 100 rounds find 3.9 hits fewer on 6,000 rows, and 1,000 rounds 6.9 fewer on 1,500.
IN_SMALL_STEPS: dict[str, Any] = {
    "learning_rate": 0.03, "n_estimators": 300, "num_leaves": 7, "subsample": 0.7, "subsample_freq": 1,
    "colsample_bytree": 0.6, "n_jobs": 1, "random_state": 0,
}  # fmt: skip
XGBOOST = "XGBoost"
FOREST = "random forest"
EXTRA_TREES = "extra trees"
# LightGBM writes names into JSON.
REFUSED_IN_NAMES = frozenset('[]{}<>",:')
# LightGBM's default of at least 20 rows in each leaf leaves little to split with fewer rows.
MIN_LIGHTGBM_ROWS = 200
# Gradient boosting takes a processor minute on 250,000 rows of 23 columns, LightGBM five seconds.
MAX_TREE_ROWS = 3_000_000
# A forest grown to purity, and a choice inside each fold, take minutes with more rows.
MAX_SLOW_ROWS = 20_000


def compare_rankers(
    models: Mapping[str, BaseEstimator] | None,
    X: MatrixLike,
    y: ArrayLike,
    *,
    budget: int | Budget | None = None,
    fraction: float | None = None,
    fraction_of_positives: float | None = None,
    cv: CrossValidation = 5,
    n_repeats: int = 1,
    scoring: str | Callable[..., float] | None = None,
    nested: bool = False,
    groups: ArrayLike | None = None,
    time: ArrayLike | None = None,
    sample_weight: ArrayLike | None = None,
    pos_label: Label | None = None,
    indifference: float = 0.0,
    together: bool | Sequence[str] = False,
    random_state: Seed = None,
    n_jobs: int | None = None,
    callback: Callable[[], None] | None = None,
    return_estimators: bool = False,
) -> RankerComparison:
    """Compare rankers on the same folds, and say which is best at the top and whether that is beyond chance.

    Every model is fitted to the same training parts and measured on the same test parts. The difference of
    two models is the mean of their differences in the folds. Its interval allows for the rows tested and for
    those learnt from, as :class:`RankerComparison` says, and for the largest of all differences between as
    many equal models.

    Models are fitted ``n_folds * n_repeats`` times each, with ``nested=True`` some ``n_folds`` times as often
    again, and for the errors to both halves of a training part, unless rows are judged by time or a half has
    fewer than 10 rows of a class. Rows with equal scores count by the expectation over their orders.

    Counts of rows are of all rows that are held out: hits in a budget of N rows are the share of positives
    among the rows of a test part acted on, times N, and positives at the top are the share of a part's
    positives, times the number of all. With a budget by period hits are those a period, with the errors of
    :func:`pushrank.metrics.measure_periods`, whose result for all models is ``days``; of fewer than 21
    periods the errors come from the test parts.

    The best of several figures is too good, for it was chosen by the rows it is read from; the nested choice
    says by how much. Cawley and Talbot, *On over-fitting in model selection*, JMLR 11 (2010).

    Parameters
    ----------
    models : dict of str to estimator, or None
        Rankers and classifiers of scikit-learn's interface, with ``decision_function`` or ``predict_proba``,
        by name; pipelines, where rows need preprocessing, which is fitted once a fold for all pipelines that
        hold the same transformer objects. The first is the baseline. None takes
        :func:`default_rankers`.
    X : array-like, sparse matrix or DataFrame of shape (n_samples, n_features)
        The rows. A warning names the columns of an array or a data frame that alone tell the classes apart.
    y : array-like of shape (n_samples,)
        Labels of two values.
    budget : int or Budget, optional
        How many of all rows can be acted on, or in every period, such as ``Budget(150, per="day")`` of
        ``pushrank.budgets``. Models are then judged by how many of these are positive, in all or a period;
        else by the precision among the first rows of a test part, a quarter as many as it has positives.
        Where a number or a splitter as `cv` never holds some rows out, the same share of the others is acted
        on. A budget by period needs `time`.
    fraction, fraction_of_positives : float, optional
        In place of a number, the budget as a share of all rows, rounded up, or of the positives, to the
        nearest from 1 on.
    cv : int, splitter or iterable, default=5
        The number of folds, drawn at random in strata or, with `time`, cut in its order; or what splits the
        rows so that none is in two test parts. Test parts may share a training part, as the same array.
    n_repeats : int, default=1
        How often the cross-validation is repeated with other folds, where `cv` is a number.
    scoring : str or callable, optional
        What to judge models by: a scorer, or a name in :mod:`pushrank.metrics.scorers` or scikit-learn.
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
        95 % are called equivalent.
    together : bool or sequence of str, default=False
        Also measure all models together, or those of these names, as :class:`~pushrank.StackingRanker` adds
        them up: by their held-out scores, at no further fit, with weights from the other test parts. Models
        there have seen the rows of this one, which the verdict says. With fewer than 2,000 rows or
        100 positives weights come from further fits, to the rows outside each pair of parts: ten of each
        model for five parts. With fewer than four parts, by time, or with a list of parts as `cv`, the whole
        is fitted to every training part.
    random_state : int, RandomState or None, default=None
        The seed of the folds and of the quantiles. Models that draw at random have their own seeds.
    n_jobs : int or None, default=None
        The number of fits at a time, in processes, as in joblib: -1 is one for each processor, and each takes
        seconds to start. It changes no result but the rounding of sums that hang on the number of threads.
    callback : callable, optional
        Called without arguments whenever a model was fitted and measured.
    return_estimators : bool, default=False
        Also return the fitted models of every fold, which a report needs to say what drives the best list.

    Returns
    -------
    RankerComparison
        The measures by model and fold, the model to take, differences, and the scores of the held-out rows.

    Raises
    ------
    ValueError
        When there is no model, `y` has not two classes or nothing says which is positive, a training or test
        part has one class only, the rows of a class are too few for the folds, a parameter is out of range,
        or a fit refuses its data or parameters.
    TypeError
        When a parameter is not of its kind, or a model gives no scores.

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
    >>> comparison.chosen_ in models
    True
    >>> comparison.measures["push"]["hits in budget"].shape
    (5,)
    """
    by_row: dict[str, Any] = {"groups": groups, "time": time, "sample_weight": sample_weight}
    drawn: dict[str, Any] = {"cv": cv, "n_repeats": n_repeats, "random_state": random_state}
    shares: dict[str, Any] = {"fraction": fraction, "fraction_of_positives": fraction_of_positives}
    params: dict[str, Any] = {"pos_label": pos_label, "n_splits": 2 if nested else 1, "n_jobs": n_jobs}
    plan = Plan.of(X, y, budget=budget, **shares, **by_row, **drawn, **params)
    if leaking := plan.rows.leaking_columns():
        warn(
            f"columns of X that alone tell the two classes apart: {str(leaking[:10])[1:-1]}. Copies of the "
            "label, and what is known only afterwards, decide every comparison: leave them out."
        )
    judged: dict[str, Any] = {"scoring": scoring, "nested": nested, "indifference": indifference}
    run: dict[str, Any] = {"n_jobs": n_jobs, "callback": callback, "return_estimators": return_estimators}
    return compare_plan(models, plan, together=together, **judged, **run)


def compare_plan(
    models: Mapping[str, BaseEstimator] | None,
    plan: Plan,
    *,
    scoring: str | Callable[..., float] | None = None,
    nested: bool = False,
    indifference: float = 0.0,
    together: bool | Sequence[str] = False,
    n_jobs: int | None = None,
    callback: Callable[[], None] | None = None,
    return_estimators: bool = False,
) -> RankerComparison:
    """Return the comparison of :func:`compare_rankers` on rows whose splits are made already."""
    check_number("indifference", indifference, 0.0)
    models = checked_models(models, plan, nested=nested)
    members = named_members(models, together)
    criterion = Criterion.of(scoring, plan.budget)
    # Weights of few rows would know the test rows by way of the models, and noise would seem to rank: they
    # come from fits apart, or from the whole fitted to every training part.
    paired: Sequence[Floats] = ()
    weighed = members
    if members and plan.nesting == "whole":
        models, members = {**models, TOGETHER: stack_of(members, plan)}, {}
        check_inner_folds(TOGETHER, models[TOGETHER], plan)
    table: HeldOutTable = HeldOutTable.fit(
        models, plan, criterion.scorer, n_jobs=n_jobs, callback=callback, keep=return_estimators
    )
    if members and plan.nesting == "pairs":
        paired = paired_scores(members, plan, n_jobs, callback)
    chosen = table.best_inside(criterion, n_jobs, callback) if nested else []
    halves = Halves.fit(models, plan, n_jobs)
    # Other processes fit halves, while this one adds members together.
    return table.compare(criterion, members, chosen, halves, indifference, paired, weighed)


def named_members(models: Mapping[str, Estimator], together: bool | Sequence[str]) -> dict[str, Estimator]:
    """Return the models to measure together, by name."""
    named = list(models) if together is True else list(together or ())
    if named and TOGETHER in models:
        raise ValueError(f"together adds a row named {TOGETHER!r}: give the model of that name another.")
    if strangers := [name for name in named if name not in models]:
        raise ValueError(f"together must name some of {list(models)}, got {strangers}.")
    return {name: models[name] for name in named}


def checked_models(
    models: Mapping[str, BaseEstimator] | None, plan: Plan, *, nested: bool = False
) -> Mapping[str, BaseEstimator]:
    """Return the models of the user, checked, or those by default."""
    rows = plan.rows
    if models is None:
        signs = REFUSED_IN_NAMES & set("".join(map(str, getattr(rows.X, "columns", ()))))
        given: dict[str, Any] = {"dense": not hasattr(rows.X, "tocsr"), "n_rows": len(rows.y)}
        models = default_rankers(**given, lightgbm=not signs)
        if signs and SMALL_STEPS in default_rankers(**given):
            warn(
                f"{LIGHTGBM} takes no names of columns with {min(signs)} and is not compared: give columns "
                "other names, or rows as an array."
            )
    if not isinstance(models, Mapping):
        raise TypeError(f"models must be a dict of rankers by name, got {type(models).__name__}.")
    if not models:
        raise ValueError("models must hold at least one ranker by name.")
    for name, model in models.items():
        check_inner_folds(name, model, plan, nested=nested)
    return models


def check_inner_folds(name: str, model: Any, plan: Plan, *, nested: bool = False) -> None:
    """Raise unless a model that chooses by folds can do so within every training part."""
    cv = getattr(model.steps[-1][1] if isinstance(model, Pipeline) else model, "cv", None)
    outer = [int(plan.cv)] if nested and isinstance(plan.cv, int | np.integer) else []
    if isinstance(cv, int) and not plan.can_split_again(*outer, cv):
        few = "a class has too few rows"
    elif isinstance(cv, StratifiedGroupKFold) and plan.n_groups_learnt < cv.n_splits:
        few, cv = f"there are {plan.n_groups_learnt} groups", cv.n_splits
    else:
        return
    raise ValueError(
        f"{name!r} chooses by {cv} folds of every training part, and in one of them {few} for that: leave it "
        "out, or give it fewer folds by its cv."
    )


def default_rankers(
    *, dense: bool = True, n_rows: int | None = None, lightgbm: bool = True
) -> dict[str, BaseEstimator]:
    """Return the models that :func:`compare_rankers` compares by default, by name.

    Six of different families: more of them make the choice no better, and each difference less sure (see
    experiments/choice). Linear ones are penalised, so that they need columns of similar scale.

    Parameters
    ----------
    dense : bool, default=True
        Whether to take those that need dense rows: all but linear ones.
    n_rows : int, optional
        The number of rows, beyond 20,000 of which forests take too long to be a default, and beyond
        3,000,000 all trees. With fewer than 200, LightGBM's defaults split little.
    lightgbm : bool, default=True
        Whether to take LightGBM where it is installed.

    Returns
    -------
    dict of str to estimator
        Logistic regression, the P-Norm Push at p = 16, boosted stumps, the gradient boosting of scikit-learn,
        LightGBM with many small steps on parts of the rows and columns, or a random forest without it, and
        extra trees; for sparse rows logistic regression, the P-Norm Push and the IR Push.

    Examples
    --------
    >>> list(default_rankers(dense=False))
    ['logistic regression', 'P-Norm Push, p = 16', 'IR Push']
    """
    every = known_rankers((16.0,), dense=dense, n_rows=n_rows)
    trees = SMALL_STEPS if lightgbm and SMALL_STEPS in every else FOREST
    of_tables = (BASELINE, PUSH, STUMPS, GRADIENT_BOOSTING, trees, EXTRA_TREES)
    names = of_tables if dense else (BASELINE, PUSH, IR_PUSH)
    return {name: every[name] for name in names if name in every}


def known_rankers(
    powers: tuple[float, ...] = POWERS,
    *,
    dense: bool = True,
    n_rows: int | None = None,
    budget: int | Budget | None = None,
) -> dict[str, BaseEstimator]:
    """Return all models that have a name in tables, with those of these strengths of the P-Norm Push."""
    rankers: dict[str, BaseEstimator] = {
        # The 100 iterations that scikit-learn has by default are too few for many tables.
        BASELINE: LogisticRegression(max_iter=1000),
        **{push_named(p): PNormPush(p=p) for p in (1.0, *powers)},
        IR_PUSH: IRPush(),
        "trimmed push": TrimmedPush(),
    }
    is_small = n_rows is None or n_rows <= MAX_SLOW_ROWS
    if is_small:
        # A search takes a budget of rows as a share, which is not known without the number of rows.
        known = budget if n_rows or isinstance(budget, Budget) else None
        rankers[LINEAR_CHOSEN] = TopRankerCV(**budget_params(known, n_rows or 1), random_state=0)
    if dense:
        rankers[STUMPS] = PushBoost(p=16.0, n_estimators=100, random_state=0)
        if n_rows is None or n_rows <= MAX_TREE_ROWS:
            rankers[GRADIENT_BOOSTING] = HistGradientBoostingClassifier(random_state=0)
            if find_spec("lightgbm") and (n_rows is None or n_rows >= MIN_LIGHTGBM_ROWS):
                try:
                    # LightGBM may be installed and yet not load, which must not keep others out.
                    rankers[LIGHTGBM] = lightgbm_classifier(n_jobs=1, random_state=0)
                    rankers[SMALL_STEPS] = lightgbm_classifier(**IN_SMALL_STEPS)
                except ImportError as error:
                    warn(f"{error} It is not among the rankers.", UserWarning)
            if find_spec("xgboost"):
                rankers[XGBOOST] = import_module("xgboost").XGBClassifier(n_jobs=1, random_state=0)
    if is_small and dense:
        rankers[FOREST] = RandomForestClassifier(random_state=0)
        rankers[EXTRA_TREES] = ExtraTreesClassifier(random_state=0)
        balanced = RandomForestClassifier(class_weight="balanced_subsample", random_state=0)
        rankers[f"{FOREST}, balanced"] = balanced
    return rankers


def lightgbm_classifier(**params: Any) -> Any:
    """Return LightGBM's classifier, whose trees neither threads nor the clock change."""
    return import_optional("lightgbm", "lightgbm").LGBMClassifier(deterministic=True, verbosity=-1, **params)
