"""A comparison as functions of one table: the scores of all models on all test parts."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from itertools import combinations as pairs_of
from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.metrics import get_scorer
from sklearn.model_selection import StratifiedGroupKFold, StratifiedKFold

from pushrank import metrics
from pushrank._base.numeric import Floats
from pushrank._base.user_types import Estimator
from pushrank.budgets import Budget
from pushrank.estimators import StackingRanker
from pushrank.estimators._combination import (
    Combination,
    OutOfFold,
    check_spread,
    combine,
    combine_apart,
    raw_scores,
    to_log_odds,
)
from pushrank.estimators._scoring import FrozenRanker, check_one_scorer
from pushrank.estimators._target import two_class_target
from pushrank.held_out.fits import fit_params, fit_parts, texts_for_user
from pushrank.held_out.plan import Plan, Rows, part_of_budget
from pushrank.metrics import scorers
from pushrank.metrics._ranking import checked_rankings
from pushrank.metrics.periods import measured_by_period
from pushrank.model_selection.comparison import (
    CHOSEN,
    CONFIDENCE,
    POSITIVES_AT_TOP,
    TOGETHER,
    RankerComparison,
)
from pushrank.model_selection.errors import AUC, AVERAGE_PRECISION, HITS, PRECISION, WEIGHT, Part, part_errors
from pushrank.model_selection.folds import share_of_hits
from pushrank.model_selection.verdict import quantiles, simplicity

__all__ = ["budget_params"]

# Fits to halves of the training rows are compared on this many of the rows at least.
LEAST_TESTED = 0.2
# Models may refuse fewer rows of a class, and vary in other ways than with all of them.
MIN_ROWS_OF_CLASS = 10
IN_USE = f"{TOGETHER}, in use"
NOT_NESTED = f"Weights of the {TOGETHER} are not nested."

Callback = Callable[[], None]
Models = Mapping[str, Estimator]


class Criterion(NamedTuple):
    """The measure that models are judged by, and the scorer that gives it where it is none of ours."""

    name: str
    scorer: Callable[..., float] | None

    @classmethod
    def of(cls, scoring: str | Callable[..., float] | None, budget: int | Budget | None) -> Self:
        """Return the criterion of a ``scoring`` of the user."""
        if scoring is None:
            return cls(PRECISION if budget is None else HITS, None)
        check_one_scorer(scoring)
        if isinstance(scoring, str) and scoring in scorers.SCORERS:
            return cls(scoring, scorers.SCORERS[scoring])
        measure = getattr(scoring, "_score_func", scoring)
        name = scoring if isinstance(scoring, str) else getattr(measure, "__name__", "score")
        return cls(name, get_scorer(scoring))


class HeldOutTable(NamedTuple):
    """The scores of every model on every test part, what the scorer says of them, and the models if kept."""

    plan: Plan
    models: Models
    scores: dict[str, list[Floats]]
    judged: dict[str, list[float]]
    simplicity: dict[str, int]
    warnings: dict[str, list[str]]
    fitted: dict[str, list[Estimator]]

    @classmethod
    def fit(
        cls,
        models: Models,
        plan: Plan,
        scorer: Callable[..., float] | None = None,
        *,
        n_jobs: int | None = None,
        callback: Callback | None = None,
        **options: Any,
    ) -> Self:
        """Fit all models to all training parts; ``callback`` is called for each model and test part."""
        lists: list[dict[str, list[Any]]] = [{name: [] for name in models} for _ in range(4)]
        scores, judged, warned, fitted = lists
        ranks = {}
        parts, look = plan.parts(), partial(_looked_at, scorer)
        for model in models.values():
            # A model that takes no weights is refused here, before the first fit.
            fit_params(model, plan.rows.weights)
        for fit in fit_parts(models, parts, n_jobs=n_jobs, look=look, **options):
            ranks[fit.name], judgements = fit.seen
            warned[fit.name] += texts_for_user(fit.warned)
            scores[fit.name] += fit.scores
            judged[fit.name] += judgements
            if fit.model is not None:
                fitted[fit.name].append(fit.model)
            # Test parts may share a fit: each is counted, so that a bar of all parts reaches its end.
            for _ in fit.scores if callback is not None else ():
                callback()  # type: ignore[misc]
        return cls(plan, models, scores, judged, ranks, warned, fitted)

    def parts(self) -> list[Part]:
        """Return the test parts with their scores by all models."""
        rows, parts = self.plan.rows, []
        for number, (_, test) in enumerate(self.plan.splits):
            weights = None if rows.weights is None else rows.weights[test]
            scores = [of_parts[number] for of_parts in self.scores.values()]
            parts.append(Part(test, rows.positive[test], weights, scores))
        return parts

    def compare(
        self,
        criterion: Criterion,
        members: Models | None = None,
        chosen: Sequence[str] = (),
        halves: "Halves | None" = None,
        indifference: float = 0.0,
        paired: Sequence[Floats] = (),
        weighed: Models | None = None,
    ) -> RankerComparison:
        """Return the comparison that the held-out scores make."""
        # `members` are added up, too, without a fit, by weights from `paired` scores if there are any;
        # `weighed` are members of an ensemble that was fitted to each training part; `chosen` are the names
        # of the models that were chosen inside each training part, and `halves` the fits that errors rest on.
        plan, test_parts, parts, members = self.plan, TestParts.of(self.plan), self.parts(), members or {}
        judged, ranks = dict(self.judged), dict(self.simplicity)
        lists = {name: list(scores) for name, scores in self.scores.items()}
        if chosen:
            # The model chosen inside a training part was fitted to this part already, and gave its scores.
            lists[CHOSEN] = [self.scores[best][number] for number, best in enumerate(chosen)]
            judged[CHOSEN] = [self.judged[best][number] for number, best in enumerate(chosen)]
        combinations = add_up(self, members, paired) if members else []
        if combinations:
            for part, combination in zip(parts, combinations, strict=True):
                part.scores.append(combination(_to_log_odds(members, list(self.models), part.scores)))
            lists[TOGETHER] = [part.scores[-1] for part in parts]
            judged[TOGETHER] = _judged_frozen(criterion, plan, lists[TOGETHER])
            ranks[TOGETHER] = simplicity(StackingRanker())
        # Parts that are listed are no folds of all rows: what is fitted for them is what will be in use.
        is_listed = not isinstance(plan.cv, int | np.integer) and not hasattr(plan.cv, "split")
        if (weighed := weighed or members) and not (plan.by_time or is_listed):
            lists[IN_USE] = _with_weights_in_use(self, weighed)
            judged[IN_USE] = _judged_frozen(criterion, plan, lists[IN_USE])
        estimators = _estimators(self, members, combinations, chosen)
        measures = {name: test_parts.by_measure(parts, of_parts) for name, of_parts in lists.items()}
        for name in measures if criterion.scorer is not None else ():
            measures[name][criterion.name] = np.array(judged[name])
        in_use, _ = measures.pop(IN_USE, {}), lists.pop(IN_USE, None)
        scores = {name: plan.by_row(of_parts) for name, of_parts in lists.items()}
        days = _add_periods(measures, scores, plan, test_parts)
        comparison = RankerComparison(
            measures,
            criterion.name,
            test_parts.budget,
            plan.n_repeats,
            test_parts.n_positives,
            scores=scores,
            folds=test_parts.folds,
            warnings=self.warnings,
            judged=f"{test_parts.judged} {NOT_NESTED}".strip()
            if combinations and not len(paired)
            else test_parts.judged,
            simplicity=ranks,
            in_use={TOGETHER: in_use} if in_use else {},
            indifference=indifference,
            times=None if days is None else plan.rows.times,
            days=days,
            estimators=estimators,
        )
        if halves is None:
            return comparison
        return _with_errors(comparison, self, parts, halves, members, combinations)

    def best_inside(
        self, criterion: Criterion, n_jobs: int | None = None, callback: Callback | None = None
    ) -> list[str]:
        """Return the model taken for each split, by a comparison within its training part."""
        plan, test_parts, best = self.plan, TestParts.of(self.plan), []
        models = {name: model for name, model in self.models.items() if name != TOGETHER}
        for group in plan.shared():
            train, budget = plan.splits[group[0]][0], test_parts.budget
            if not isinstance(budget, Budget | None):
                budget = part_of_budget(budget, len(train), test_parts.n_held_out)
            inner = type(self).fit(models, plan.inside(train, budget), criterion.scorer, n_jobs=n_jobs)
            best += [inner.compare(criterion).chosen_] * len(group)
            for _ in group if callback is not None else ():
                callback()  # type: ignore[misc]
        return best


def _looked_at(
    scorer: Callable[..., float] | None, model: Estimator, tests: list[Rows]
) -> tuple[int, list[float]]:
    """Return the simplicity of a fitted model, and the scorer's measures of its test parts."""
    scores = [np.nan if scorer is None else float(scorer(model, test.X, test.y)) for test in tests]
    return simplicity(model), scores


class TestParts(NamedTuple):
    """What measures of test parts stand for: which rows are held out, and how many of them are acted on."""

    folds: NDArray[np.intp]
    n_held_out: int
    n_positives: int
    budget: int | Budget | None
    judged: str

    @classmethod
    def of(cls, plan: Plan) -> Self:
        """Return the test parts of a plan, whose budget is of as many rows as are held out."""
        folds, budget, judged = plan.folds, plan.budget, plan.judged()
        n_held_out = int((folds >= 0).sum())
        if not isinstance(budget, Budget | None):
            # A splitter may leave rows out of all test parts, such as the oldest; whoever lists parts names
            # the rows to test on, and the budget is of these.
            if n_held_out < len(folds) and hasattr(plan.cv, "split") | isinstance(plan.cv, int):
                share = part_of_budget(budget, n_held_out, len(folds))
                of_all = f"{budget:,} of {len(folds):,} rows"
                judged += f" A budget of {of_all} is {share:,} of the {n_held_out:,} tested."
                budget = share
            elif budget > n_held_out:
                raise ValueError(
                    f"budget must be at most the {n_held_out} rows that are held out, got {budget}."
                )
        return cls(folds, n_held_out, int(plan.rows.positive[folds >= 0].sum()), budget, judged)

    def by_measure(self, parts: Sequence[Part], scores: Sequence[Floats]) -> dict[str, Floats]:
        """Return each measure of all test parts."""
        measured = [self.measures(part, of_part) for part, of_part in zip(parts, scores, strict=True)]
        return {measure: np.array([of[measure] for of in measured]) for measure in measured[0]}

    def measures(self, part: Part, scores: Floats) -> dict[str, float]:
        """Return the measures of a test part, counts among them as if it were all rows that are held out."""
        y, budget = part.positive, self.budget
        measures = {
            POSITIVES_AT_TOP: metrics.positives_at_top(y, scores) * self.n_positives / int(y.sum()),
            PRECISION: share_of_hits(y, scores, None, self.n_held_out),
            AVERAGE_PRECISION: metrics.average_precision(y, scores),
            AUC: metrics.auc(y, scores),
        }
        if not isinstance(budget, Budget | None):
            measures[HITS] = budget * share_of_hits(y, scores, budget, self.n_held_out)
            if part.weights is not None:
                k = part_of_budget(budget, len(y), self.n_held_out)
                measures[WEIGHT] = budget / k * metrics.value_at_k(y, scores, k, value=part.weights)
        return measures


def _estimators(
    table: HeldOutTable, members: Models, combinations: Sequence[Combination], chosen: Sequence[str]
) -> dict[str, list[Estimator]]:
    """Return the fitted model of every test part by name, where they were kept."""
    if not all(table.fitted.values()):
        return {}
    groups = table.plan.shared()
    of_parts = {
        name: [model for model, group in zip(models, groups, strict=True) for _ in group]
        for name, models in table.fitted.items()
    }
    lists = dict(of_parts)
    if chosen:
        lists[CHOSEN] = [of_parts[best][number] for number, best in enumerate(chosen)]
    for number, combination in enumerate(combinations):
        added = {name: [of_parts[name][number]] for name in members}
        lists.setdefault(TOGETHER, []).append(StackingRanker._of_fitted(added, combination))
    return lists


def _judged_frozen(criterion: Criterion, plan: Plan, scores: Sequence[Floats]) -> list[float]:
    """Return what the scorer says of scores that no fitted model gives."""
    if criterion.scorer is None:
        return [np.nan] * len(scores)
    judged = []
    for (_, test), of_part in zip(plan.splits, scores, strict=True):
        tested, frozen = plan.rows.part(test), FrozenRanker(np.unique(plan.rows.y))
        frozen.set_scores(of_part, np.zeros(1))
        try:
            judged.append(float(criterion.scorer(frozen, tested.X, tested.y)))
        except AttributeError as error:
            raise ValueError(
                f"scoring={criterion.name!r} takes more than scores, which is all that one list of several "
                f"models has: leave out together ({error})."
            ) from error
    return judged


def _add_periods(
    measures: dict[str, dict[str, Floats]], scores: Mapping[str, Floats], plan: Plan, test_parts: TestParts
) -> metrics.PeriodMeasurement | None:
    """With a budget by period, add the means of the periods of each part, and return hits by period."""
    if not isinstance(test_parts.budget, Budget):
        return None
    held_out = np.flatnonzero(test_parts.folds >= 0)
    tested = plan.rows.part(held_out)
    of_tested = {name: of_rows[held_out] for name, of_rows in scores.items()}
    rankings = checked_rankings(tested.positive, [*of_tested.values()], None, None, tested.weights)
    of_models, times = dict(zip(of_tested, rankings, strict=True)), np.asarray(tested.times)
    days = measured_by_period(of_models, test_parts.budget, times, CONFIDENCE)
    # No part tears a period: the first row of a period says which part the period is in.
    _, first = np.unique(times, return_index=True)
    part = test_parts.folds[held_out][first]
    for measure, by_model in ((HITS, days.hits), (WEIGHT, days.values)):
        for name, by_period in by_model.items():
            measures[name][measure] = np.bincount(part, by_period) / np.bincount(part)
    # Nobody sees one list of all periods: hits are ranked within each, and every hit counts the same.
    rows = np.split(np.argsort(times, kind="stable"), np.cumsum(days.sizes)[:-1])
    counted = np.flatnonzero(days.positives)
    weights = np.bincount(part[counted], days.positives[counted])
    for name, of_rows in of_tested.items():
        # Where every row of a period is a hit, no order is better than another.
        within = [
            metrics.average_precision(tested.positive[rows[n]], of_rows[rows[n]])
            if days.positives[n] < days.sizes[n]
            else 1.0
            for n in counted
        ]
        measures[name][AVERAGE_PRECISION] = (
            np.bincount(part[counted], within * days.positives[counted]) / weights
        )
    return days


def stack_of(members: Models, plan: Plan) -> StackingRanker:
    """Return members as one list, unfitted."""
    # Parts by time keep groups apart by themselves, and random parts need a splitter for that.
    cv = 5 if plan.rows.groups is None or plan.rows.times is not None else StratifiedGroupKFold(5)
    return StackingRanker(list(members.items()), cv=cv, random_state=plan.seed)


def budget_params(budget: int | Budget | None, n_rows: int) -> dict[str, Any]:
    """Return the parameters by which a search takes a budget of rows as a share, or by period."""
    if isinstance(budget, Budget):
        return {"budget": budget}
    return {"fraction": None if budget is None else budget / n_rows}


def paired_scores(
    members: Models, plan: Plan, n_jobs: int | None = None, callback: Callback | None = None
) -> list[Floats]:
    """Return for each part the members' scores of other parts, by fits that have seen neither."""
    # A fit to the rows outside two parts scores both, so that five parts take ten fits of each member. They
    # would take 25 if a stack were fitted to each training part.
    rows, names, n_parts = plan.rows, list(members), len(plan.first_splits)
    scores = [np.full((len(members), len(rows.y)), np.nan) for _ in plan.splits]
    for first in range(0, len(scores), n_parts):
        pairs = [*pairs_of(range(first, first + n_parts), 2)]
        learnt = (np.intersect1d(plan.splits[one][0], plan.splits[other][0]) for one, other in pairs)
        tests = ([rows.part(plan.splits[number][1]) for number in pair] for pair in pairs)
        parts = zip(map(rows.part, learnt), tests, strict=True)
        for fit in fit_parts(members, parts, n_jobs=n_jobs, score=raw_scores):
            (one, other), member = pairs[fit.number], names.index(fit.name)
            scores[other][member, plan.splits[one][1]] = fit.scores[0]
            scores[one][member, plan.splits[other][1]] = fit.scores[1]
            if callback is not None and member == 0 and other == first + n_parts - 1:
                callback()
        if callback is not None:
            callback()
    return scores


def add_up(table: HeldOutTable, members: Models, paired: Sequence[Floats] = ()) -> list[Combination]:
    """Return how members are added up for each test part, by weights from the other parts."""
    plan, parts, combinations = table.plan, table.parts(), []
    n_parts = len(plan.first_splits)
    target = two_class_target(StackingRanker(), plan.rows.positive, plan.rows.weights)
    # Every repetition tests all rows again: weights of a part come from the others of its repetition.
    for first in range(0, len(parts), n_parts):
        out_of_fold = _out_of_fold(table, members, parts[first : first + n_parts])
        parts_of = out_of_fold.parts
        if not paired:
            combinations += combine_apart(out_of_fold, target)
        for number, of_others in enumerate(paired[first : first + n_parts]):
            others = parts_of[:number] + parts_of[number + 1 :]
            apart = out_of_fold._replace(scores=of_others, parts=others)
            combinations.append(combine(apart, target, None))
    return combinations


def _out_of_fold(table: HeldOutTable, members: Models, parts: Sequence[Part]) -> OutOfFold:
    """Return the scores of members on the test parts of a repetition."""
    scores = np.full((len(members), len(table.plan.rows.y)), np.nan)
    for part in parts:
        scores[:, part.rows] = _to_log_odds(members, list(table.models), part.scores)
    for name, of_member in zip(members, scores, strict=True):
        check_spread(name, of_member[~np.isnan(of_member)])
    linear = [table.simplicity[name] == 0 for name in members]
    return OutOfFold(scores, [part.rows for part in parts], table.plan.by_time, linear)


def _with_weights_in_use(table: HeldOutTable, members: Models) -> list[Floats]:
    """Return the scores of the test parts by members with the weights of all parts of a repetition."""
    plan, parts, scores = table.plan, table.parts(), list[Floats]()
    n_parts = len(plan.first_splits)
    target = two_class_target(StackingRanker(), plan.rows.positive, plan.rows.weights)
    for first in range(0, len(parts), n_parts):
        out_of_fold = _out_of_fold(table, members, parts[first : first + n_parts])
        combination = combine(out_of_fold, target, None)
        scores += [combination(out_of_fold.scores[:, rows]) for rows in out_of_fold.parts]
    return scores


def _to_log_odds(members: Models, models: Sequence[str], scores: Sequence[Floats]) -> list[Floats]:
    """Return the scores of members, of the scores by model, on a scale of log-odds or margins."""
    of = dict(zip(models, scores, strict=False))
    return [to_log_odds(model, of[name]) for name, model in members.items()]


class Halves(NamedTuple):
    """Fits to halves of a training part's rows, and scores of the last parts by them, if there are any."""

    n_rows: int
    n_parts: int
    scores: Iterator[list[list[Floats]]] | list[list[list[Floats]]] | None

    @classmethod
    def fit(cls, models: Models, plan: Plan, n_jobs: int | None = None) -> Self:
        """Begin the fits of every model to both halves of training rows."""
        n_tested, n_last, train = 0, 0, plan.splits[-1][0]
        # The last parts are tested on, as many as hold a fifth of the rows; what all learn from is halved.
        while n_tested < LEAST_TESTED * (plan.folds >= 0).sum():
            n_last += 1
            n_tested += len(plan.splits[-n_last][1])
            train = np.intersect1d(train, plan.splits[-n_last][0])
        scores = None
        if not plan.by_time:
            tests = [plan.rows.part(test) for _, test in plan.splits[-n_last:]]
            scores = scores_of_halves(models, plan.rows.part(train), tests, plan.seed, n_jobs)
        return cls(len(train), n_last, scores)


def scores_of_halves(
    models: Models, training: Rows, tests: list[Rows], seed: int, n_jobs: int | None = None
) -> Iterator[list[list[Floats]]] | None:
    """Begin fits to either half of rows, and return scores by half, part and model; None of too few rows."""
    y, groups = training.positive, training.groups
    n_groups = len(y) if groups is None else len(np.unique(groups))
    if min(y.sum(), (~y).sum()) < 2 * MIN_ROWS_OF_CLASS or n_groups < 2 * MIN_ROWS_OF_CLASS:
        return None
    splitter = StratifiedKFold if groups is None else StratifiedGroupKFold
    halves = next(splitter(2, shuffle=True, random_state=seed).split(np.zeros(len(y)), y, groups))
    # Whole groups may leave a half with few rows of a class, though all rows hold enough.
    if min(min(y[half].sum(), (~y[half]).sum()) for half in halves) < MIN_ROWS_OF_CLASS:
        return None
    fits = fit_parts(models, ((training.part(half), tests) for half in halves), n_jobs=n_jobs)
    of_halves = ([next(fits).scores for _ in models][::-1] for _ in halves)
    return ([list(of_part) for of_part in zip(*scores, strict=True)] for scores in of_halves)


def _with_errors(
    comparison: RankerComparison,
    table: HeldOutTable,
    parts: Sequence[Part],
    halved: Halves,
    members: Models,
    combinations: Sequence[Combination],
) -> RankerComparison:
    """Return the comparison with the errors of all measures."""
    plan, errors = table.plan, {}
    halves = None if halved.scores is None else [[list(of_part) for of_part in h] for h in halved.scores]
    # The weights hardly hang on the half, which would have to be split again for its own.
    for of_half in halves if halves is not None and combinations else ():
        for of_part, combination in zip(of_half, combinations[-halved.n_parts :], strict=True):
            of_part.append(combination(_to_log_odds(members, list(table.models), of_part)))
    settings: dict[str, Any] = {"n_repeats": plan.n_repeats, "n_halved": halved.n_rows}
    settings["budget"] = None if isinstance(comparison.budget, Budget) else comparison.budget
    settings["n_train"] = float(np.mean([len(train) for train, _ in plan.splits]))
    # Periods differ by more than their rows do: each is one observation.
    settings |= {"groups": plan.rows.groups, "by_folds": plan.by_time}
    named = [name for name in comparison.measures if name != CHOSEN]
    for measure in comparison.measures[comparison.baseline_]:
        if comparison.by_period(measure):
            errors[measure] = comparison.errors_of(measure)
            continue
        values = np.array([comparison.measures[name][measure] for name in named])
        errors[measure] = part_errors(values, measure, parts, halves, **settings)
    of_criterion = quantiles(errors[comparison.criterion], CONFIDENCE, plan.seed)
    return replace(comparison, errors=errors, quantiles=of_criterion)
