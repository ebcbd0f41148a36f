"""Fit models once to the training parts of a cross-validation, and use their held-out scores many times."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, clone
from sklearn.model_selection import train_test_split
from sklearn.utils import _safe_indexing

from pushrank import metrics
from pushrank._base.html import html_sentences, html_table
from pushrank._base.numeric import Floats
from pushrank._base.optional import import_optional
from pushrank._base.user_types import CrossValidation, Estimator, Label, MatrixLike, Seed
from pushrank._base.validation import check_choice, check_number
from pushrank.budgets import Budget
from pushrank.estimators import StackingRanker
from pushrank.estimators._base import RankerMixin
from pushrank.estimators._combination import OutOfFold, check_final, to_log_odds
from pushrank.estimators._target import two_class_target
from pushrank.held_out.fits import fit_parts, kept_in, model_scores
from pushrank.held_out.plan import Plan, Rows, part_of_budget
from pushrank.metrics._ranking import DEPTHS
from pushrank.metrics.measurement import VERY_FITS, Measurement
from pushrank.metrics.thresholds import Aim, AtBudget, Threshold
from pushrank.model_selection.compare import checked_models, named_members
from pushrank.model_selection.comparison import RankerComparison
from pushrank.model_selection.folds import on_one_scale
from pushrank.model_selection.table import Criterion, Halves, HeldOutTable, TestParts

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True, eq=False)
class HeldOut:
    """The result of :func:`fit_held_out`: models of every fold, and their scores of the rows held out.

    Parameters
    ----------
    table : HeldOutTable
        The plan, the models of every training part, and their scores of every test part.
    halves : Halves
        Scores by fits to halves of the training rows, on which errors of comparisons rest.
    seconds : float
        The time of all fits.
    budget : int, Budget or None
        The budget that was given; that of the plan is its part for the rows of the plan.
    kept : Rows or None
        The rows that were kept from all fits, for :meth:`guarantee`.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from sklearn.ensemble import ExtraTreesClassifier
    >>> from pushrank import PushBoost
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> models = {"stumps": PushBoost(16), "trees": ExtraTreesClassifier(30, random_state=0)}
    >>> held_out = fit_held_out(models, X, y == 0, budget=100, random_state=0)
    >>> held_out.compare().chosen_ in models, sorted(held_out.stack().weights_) == sorted(models)
    (True, True)
    """

    table: HeldOutTable
    halves: Halves
    seconds: float
    budget: int | Budget | None = None
    kept: Rows | None = None

    @property
    def models(self) -> dict[str, Estimator]:
        """The models, unfitted, by name."""
        return dict(self.table.models)

    @property
    def plan(self) -> Plan:
        """How the rows were split."""
        return self.table.plan

    def __repr__(self) -> str:
        rows, positives = len(self.plan.rows.y), int(self.plan.rows.positive.sum())
        counts = f"{len(self.models)} models, {len(self.plan.splits)} parts"
        return f"HeldOut({counts}, {rows:,} rows, {positives:,} positive)"

    def _repr_html_(self) -> str:
        """Return the models with their average precision of held-out rows, as a table for notebooks."""
        comparison = self.table.compare(Criterion.of(None, self.plan.budget))
        measures = list(comparison.measures[comparison.baseline_])
        means = {name: [comparison.mean(name, measure) for measure in measures] for name in self.models}
        rows = [[name, *(f"{mean:.3f}" for mean in of_model)] for name, of_model in means.items()]
        sentence = f"{self!r}, fitted in {self.seconds:.1f} s. {TestParts.of(self.plan).judged}"
        names = map(comparison.name_of, measures)
        return html_sentences(sentence) + html_table(["model", *names], rows, "Means over the test parts")

    def scores(self) -> pd.DataFrame:
        """Return a row for each row of the data: its label, its part, and its score by each model.

        ``positive`` is whether the row is; ``part`` the test part of the first repetition that held it out,
        -1 where none did; scores are those of the part's own fit, NaN of rows that were never held out, and
        on a scale of their own in each part.
        """
        pd = import_optional("pandas", "io")
        columns = {"positive": self.plan.rows.positive, "part": self.plan.folds}
        return pd.DataFrame(columns | {name: self._of_all_rows(name) for name in self.models})

    def compare(
        self,
        *,
        scoring: str | Callable[..., float] | None = None,
        together: bool | Sequence[str] = False,
        indifference: float = 0.0,
    ) -> RankerComparison:
        """Return which model may be the best, and whether that is more than chance, at no further fit.

        Parameters
        ----------
        scoring : str or callable, optional
            What to judge models by; by default the hits in the budget, as in :func:`compare_rankers`.
        together : bool or sequence of str, default=False
            Also measure all models, or those of these names, as one list. The models there have seen the
            rows of each part, which the verdict says.
        indifference : float, default=0.0
            Differences below it make no difference to you.

        Returns
        -------
        RankerComparison
            What :func:`compare_rankers` returns.
        """
        criterion, members = Criterion.of(scoring, self.plan.budget), named_members(self.models, together)
        table = self.table if criterion.scorer is None else self._judged(criterion)
        return table.compare(criterion, members, halves=self.halves, indifference=indifference)

    def stack(
        self,
        models: Sequence[str] | None = None,
        *,
        final_estimator: str | RankerMixin | None = None,
        calibration: str | None = None,
        refit: bool = False,
    ) -> StackingRanker:
        """Return one list of all models, or of those of these names, with weights from the held-out scores.

        The list scores new rows by the models of the parts; by time, or with ``refit``, models of positive
        weight are fitted once more, to all rows.

        Parameters
        ----------
        models : sequence of str, optional
            Names of models; by default all.
        final_estimator : estimator, optional
            What finds the weights, as in :class:`~pushrank.StackingRanker`.
        calibration : {"sigmoid", "isotonic"}, optional
            What turns scores into probabilities.
        refit : bool, default=False
            Whether to fit the models of positive weight once more, to all rows.

        Returns
        -------
        StackingRanker
            Fitted; its ``held_out_scores_`` are those of the first repetition.
        """
        plan, rows = self.plan, self.plan.rows
        names = list(self.models) if models is None else models
        if isinstance(names, str) or not names or not set(names) <= set(self.models):
            raise ValueError(f"models must be a list of names among {list(self.models)}, got {models!r}.")
        members = {name: self.models[name] for name in names}
        final_estimator = clone(final_estimator, safe=False)
        params: dict[str, Any] = {"cv": plan.cv, "refit": refit, "calibration": calibration}
        stack = StackingRanker(list(members.items()), final_estimator=final_estimator, **params)
        scores = np.array([to_log_odds(model, self._of_all_rows(name)) for name, model in members.items()])
        tests = [test for _, test in plan.first_splits]
        # Scores by row are those of the first repetition, and a stack has to score new rows by the same fits.
        n_fits = sum(group[0] < len(tests) for group in plan.shared())
        fitted = {name: self.table.fitted[name][:n_fits] for name in members}
        unfitted = {name: clone(model) for name, model in members.items()}
        out_of_fold = OutOfFold(scores, tests, plan.by_time)
        target, final = two_class_target(stack, rows.y, rows.weights), check_final(final_estimator)
        stack._from_held_out(unfitted, fitted, rows, out_of_fold, target, final)
        return stack

    def threshold(
        self, model: str | StackingRanker | None = None, aim: Aim | None = None, **options: Any
    ) -> Threshold:
        """Return the score from which a row is acted on, by the scores of held-out rows.

        Scores of different parts are pooled, and rows to come are scored by another fit: the threshold is
        for models whose scores mean the same in each part, such as log-odds.

        Parameters
        ----------
        model : str or StackingRanker, optional
            A model's name, or the list that :meth:`stack` returned; by default the chosen model.
        aim : AtBudget, AtPrecision, AtRecall or Guaranteed, optional
            What the list is to keep to, such as ``AtPrecision(0.5)``; by default the budget.
        **options
            Those of :func:`pushrank.metrics.threshold_for`.

        Returns
        -------
        Threshold
            The score, its interval, and what the list holds.
        """
        if aim is None:
            if (budget := self.plan.budget) is None:
                raise ValueError(
                    "say what the threshold is for, such as AtBudget(fraction=0.05) or AtPrecision(0.5)."
                )
            if isinstance(budget, Budget):
                raise ValueError(
                    f"a budget of {budget.words} moves its threshold with what is left of it: use "
                    "pushrank.monitoring.AlertThreshold."
                )
            aim = AtBudget(fraction=budget / len(self.plan.rows.y))
        if model is None:
            # The errors of a comparison would take as long as all the rest.
            model = self.table.compare(Criterion.of(None, self.plan.budget)).chosen_
        of_rows = self._of_all_rows(model) if isinstance(model, str) else model.held_out_scores_
        seen = ~np.isnan(of_rows)
        options = {"random_state": self.plan.seed} | options
        return metrics.threshold_for(self.plan.rows.positive[seen], of_rows[seen], aim, **options)

    def measure(self, **options: Any) -> Measurement:
        """Return :func:`pushrank.metrics.measure` of all models on the rows held out, by one order of them.

        The order is by the ranks of rows within their parts. ``options`` are those of the function; unless
        they have a ``k`` or a fraction, ``k`` is the budget. Differences are of these very fits, and
        :meth:`compare` allows for other training rows, too. Of a budget by period it tells what is found.
        """
        test_parts = TestParts.of(self.plan)
        if not (
            isinstance(test_parts.budget, Budget | None) or any(options.get(of) is not None for of in DEPTHS)
        ):
            options = {"k": test_parts.budget} | options
        seen = test_parts.folds >= 0
        scores = {name: self._of_all_rows(name)[seen] for name in self.models}
        orders = {name: on_one_scale(of_rows, test_parts.folds[seen]) for name, of_rows in scores.items()}
        options = {"random_state": self.plan.seed} | options
        measured = metrics.measure(self.plan.rows.positive[seen], orders, **options)
        return replace(measured, caveat=VERY_FITS.format("compare()"))

    def guarantee(self, model: str | StackingRanker, **options: Any) -> metrics.HitsPromise:
        """Return how many hits the first rows of a list to come hold at least, by rows kept from all fits.

        Parameters
        ----------
        model : str or estimator
            A model's name, which is fitted once more, to all rows but those kept; or a fitted model that has
            not seen them, such as the list that :meth:`stack` returned.
        **options
            Those of :func:`pushrank.metrics.guarantee`; without a `k` the list is the budget's, of as many
            rows as were given where nothing says how many come.

        Returns
        -------
        HitsPromise
            What the list holds at least.
        """
        if self.kept is None:
            raise ValueError(
                "scores of the test parts promise nothing of rows to come: they come from several fits, and "
                "the rows have weighed and chosen the models. fit_held_out(..., guarantee_fraction=0.2) "
                "keeps rows from all of it."
            )
        if isinstance(model, str):
            check_choice("model", model, self.models)
            # Warnings of this single fit are issued at once, since no comparison shows them.
            fits = fit_parts({model: self.models[model]}, [(self.plan.rows, [self.kept])], record=False)
            scores = next(fits).scores[0]
        else:
            scores = model_scores(model, self.kept.X)
        n_rows = len(self.plan.rows.y) + len(self.kept.y)
        if options.get("k") is None and self.budget is not None:
            given = options.get("scores_new")
            n_new = options.get("n_new", n_rows) if given is None else len(given)
            k = self.budget if isinstance(self.budget, Budget) else min(self.budget, n_new)
            options = ({"n_new": n_new} if given is None else {}) | options | {"k": k}
        found: metrics.HitsPromise = metrics.guarantee(self.kept.positive, scores, **options)
        return found

    def _of_all_rows(self, name: str) -> Floats:
        """Return a model's scores by row, of the first repetition."""
        check_choice("model", name, self.models)
        return self.plan.by_row(self.table.scores[name])

    def _judged(self, criterion: Criterion) -> HeldOutTable:
        """Return the table with what a scorer says of the models of every part."""
        judged: dict[str, list[float]] = {name: [] for name in self.models}
        for number, (_, tests) in enumerate(self.plan.parts()):
            for name, of_parts in judged.items():
                model = self.table.fitted[name][number]
                of_parts += [float(criterion.scorer(model, test.X, test.y)) for test in tests]  # type: ignore[misc]
        return self.table._replace(judged=judged)


def fit_held_out(
    models: Mapping[str, BaseEstimator] | None,
    X: MatrixLike,
    y: ArrayLike,
    *,
    cv: CrossValidation = 5,
    n_repeats: int = 1,
    time: ArrayLike | None = None,
    groups: ArrayLike | None = None,
    budget: int | Budget | None = None,
    fraction: float | None = None,
    fraction_of_positives: float | None = None,
    sample_weight: ArrayLike | None = None,
    pos_label: Label | None = None,
    random_state: Seed = None,
    n_jobs: int | None = None,
    cache_dir: str | Path | None = None,
    guarantee_fraction: float | None = None,
) -> HeldOut:
    """Fit models once to every training part, to compare, weigh and cut their scores of the rows held out.

    Each model is fitted to every training part, and to both halves of one for the errors of comparisons,
    unless rows are judged by time or are too few, as in :func:`compare_rankers`. All models are kept.

    Parameters
    ----------
    models : dict of str to estimator, or None
        Models by name, as :func:`compare_rankers` takes them. None takes :func:`default_rankers`.
    X : array-like, sparse matrix or DataFrame of shape (n_samples, n_features)
        The rows.
    y : array-like of shape (n_samples,)
        Labels of two values.
    cv : int, splitter or iterable, default=5
        The number of folds, or what splits the rows so that none is in two test parts.
    n_repeats : int, default=1
        How often the cross-validation is repeated with other folds, where `cv` is a number.
    time : array-like of shape (n_samples,), optional
        The times of the rows, to judge models by what comes later.
    groups : array-like of shape (n_samples,), optional
        The groups of rows, for a splitter that keeps them together.
    budget : int or Budget, optional
        How many of all rows can be acted on, or in every period: models are judged, weighed and cut by it.
    fraction, fraction_of_positives : float, optional
        In place of a number, a share of the rows or of the positives, as in :func:`compare_rankers`.
    sample_weight : array-like of shape (n_samples,), optional
        Weights of the rows in every fit.
    pos_label : label, optional
        The positive class, as in :func:`compare_rankers`.
    random_state : int, RandomState or None, default=None
        The seed of the folds and of all that is drawn later.
    n_jobs : int or None, default=None
        The number of fits at a time, in processes.
    cache_dir : str or Path, optional
        A folder in which every fit is kept as soon as it is done: a call that was killed goes on from there.
        Its files are pickles: they have to be your own. An edit of your own transformer is not noticed.
    guarantee_fraction : float, optional
        The share of rows, strictly between 0 and 1, that is kept from all fits and choices, so that
        :meth:`HeldOut.guarantee` can promise hits by them: drawn at random in strata, or the latest by
        `time`. Of `groups` and of a budget by period nothing is proved, and they are refused with it.

    Returns
    -------
    HeldOut
        With ``compare()``, ``stack()``, ``threshold()``, ``measure()`` and ``scores()``.

    Raises
    ------
    ValueError, TypeError
        Where :func:`compare_rankers` raises them, or where rows cannot be kept for a guarantee.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from sklearn.linear_model import LogisticRegression
    >>> from pushrank import PushBoost
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> models = {"logistic": LogisticRegression(max_iter=5000), "stumps": PushBoost(16)}
    >>> held_out = fit_held_out(models, X, y == 0, budget=100, random_state=0)
    >>> held_out
    HeldOut(2 models, 5 parts, 569 rows, 212 positive)
    >>> held_out.scores().columns.tolist()
    ['positive', 'part', 'logistic', 'stumps']
    """
    acted_on: dict[str, Any] = {"budget": budget, "fraction": fraction}
    acted_on["fraction_of_positives"], kept = fraction_of_positives, None
    if guarantee_fraction is not None:
        check_number("guarantee_fraction", guarantee_fraction, above=0.0, below=1.0)
        has_parts = not (isinstance(cv, int | np.integer) or hasattr(cv, "split"))
        if groups is not None or isinstance(budget, Budget) or has_parts:
            raise ValueError(
                "guarantee_fraction keeps single rows, of which nothing is proved with groups or a budget by "
                "period, and which parts as cv may hold; leave it out, and see "
                "pushrank.metrics.guarantee_days."
            )
        rows = Rows.checked(X, y, pos_label, sample_weight, None, time)
        n_kept = round(guarantee_fraction * len(rows.y))
        is_one_time = rows.times is not None and rows.times.min() == rows.times.max()
        if is_one_time or min(n_kept, len(rows.y) - n_kept) < 2:
            raise ValueError(
                f"guarantee_fraction={guarantee_fraction:g} keeps {n_kept} of {len(rows.y)} rows, the latest "
                "where there are times, and needs two rows on either side; take another."
            )
        # The budget is of all rows that were given, and the plan has the same share of its fewer rows.
        given = rows.acted_on(**acted_on)
        acted_on = {"budget": given and part_of_budget(given, len(rows.y) - n_kept, len(rows.y))}
        left, of_guarantee = _apart(rows, guarantee_fraction, random_state)
        kept, X, y = rows.part(of_guarantee), _safe_indexing(rows.X, left), np.asarray(y)[left]
        if kept.positive.all() or not kept.positive.any():
            raise ValueError(f"the {len(kept.y)} rows kept are of one class: raise guarantee_fraction.")
        time, sample_weight = (None if of is None else np.asarray(of)[left] for of in (time, sample_weight))
    by_row: dict[str, Any] = {"groups": groups, "time": time, "sample_weight": sample_weight}
    drawn: dict[str, Any] = {"cv": cv, "n_repeats": n_repeats, "random_state": random_state}
    plan = Plan.of(X, y, **acted_on, pos_label=pos_label, n_jobs=n_jobs, **by_row, **drawn)
    models, started = checked_models(models, plan), perf_counter()
    groups_of_splits = [
        (plan.splits[group[0]][0], [plan.splits[number][1] for number in group]) for group in plan.shared()
    ]
    path_of = kept_in(cache_dir, plan.rows, models, groups_of_splits)
    table = HeldOutTable.fit(models, plan, n_jobs=n_jobs, keep=True, path_of=path_of)
    halves = Halves.fit(models, plan, n_jobs)
    if halves.scores is not None:
        # The first comparison would use up an iterator, and later ones would have no errors.
        halves = halves._replace(scores=list(halves.scores))
    return HeldOut(table, halves, perf_counter() - started, plan.budget if kept is None else given, kept)


def _apart(rows: Rows, fraction: float, random_state: Seed) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Return the rows for the plan, and those kept from it: the latest, or drawn at random in strata."""
    numbers = np.arange(len(rows.y))
    if rows.times is None:
        drawn = {"test_size": fraction, "stratify": rows.positive, "random_state": random_state}
        left, kept = train_test_split(numbers, **drawn)
        return np.sort(left), np.sort(kept)
    # Rows of one time stay together.
    first = np.sort(rows.times)[min(round((1.0 - fraction) * len(numbers)), len(numbers) - 1)]
    return numbers[rows.times < first], numbers[rows.times >= first]
