"""What ``compare`` compares: which models, on which rows, and on which splits."""

from collections.abc import Mapping
from concurrent.futures import BrokenExecutor
from dataclasses import replace
from typing import Any, NamedTuple, NoReturn

import numpy as np
import typer
from sklearn.base import BaseEstimator
from sklearn.model_selection import StratifiedGroupKFold, StratifiedKFold
from sklearn.pipeline import Pipeline

from pushrank._base.user_types import Floats
from pushrank.budgets import Budget, Periods
from pushrank.cli.errors import InputError, refusing, say, shell_word, warn
from pushrank.cli.features import NEVER, TOO_SHORT, LabelledFeatures, folds_that_fit, read_features, span_of
from pushrank.cli.forms import CompareOptions, MeasureOptions
from pushrank.cli.known import CHOSEN, measure_known, waiting
from pushrank.cli.model import (
    N_INNER_FOLDS,
    make_model,
    make_ranking_pipelines,
    missing_in,
    table_rankers,
    usual_rankers,
)
from pushrank.cli.options import FeatureSource, parameters_of, refuse_given, split_budget
from pushrank.cli.screen import progress
from pushrank.cli.source.columns import warn_of_dates
from pushrank.cli.source.open import listed
from pushrank.cli.source.table import Kind
from pushrank.held_out import Plan, Rows, can_split, check_classes, fit_parts, part_of_budget
from pushrank.held_out.splits import TimeSplit
from pushrank.model_selection.compare import LINEAR_CHOSEN, MAX_SLOW_ROWS, compare_plan
from pushrank.model_selection.comparison import TOGETHER, RankerComparison
from pushrank.model_selection.table import budget_params
from pushrank.times import in_order

ALL = "all"
"""The name by which --model asks for every model that has a name in the table."""
NEED_VERDICT = ["save", "report", "output", "hold_out", "folds"]
NO_VERDICT = (
    "No verdict: known hits favour the model whose list chose the rows that have a label. Hits lie between "
    "the known ones and those if each row without a label were a hit. What decides is a list that both "
    "models share, or rows drawn at random below it: pushrank score --audit. Where labels are missing at "
    "random, --labels-after never compares on the others alone."
)


def models_to_compare(config: CompareOptions, plan: Plan) -> dict[str, BaseEstimator]:
    """Return the models by name, without preprocessing."""
    rankers, n_rows = table_rankers(), len(plan.rows.y)
    if not config.model or config.model == [ALL]:
        models = usual_rankers(n_rows=n_rows)
        if config.model:
            models = table_rankers(n_rows=n_rows, budget=config.budget)
        # A choice splits each training part again, for which a rare class may have too few rows.
        if LINEAR_CHOSEN in models and not plan.can_split_again(N_INNER_FOLDS):
            del models[LINEAR_CHOSEN]
        wanted = rankers if config.model else usual_rankers()
        if left_out := [name for name in wanted if name not in models] if config.every else []:
            why = (
                "they take minutes on this many rows" if n_rows > MAX_SLOW_ROWS else "there are too few rows"
            )
            warn(f"not compared, because {why}: {', '.join(left_out)}. --model compares one by its name.")
        return models
    rankers[LINEAR_CHOSEN].set_params(**budget_params(config.budget, n_rows))
    parameters = parameters_of(config.parameters)
    if parameters:
        [name] = config.model
        return {name: make_model(name, config.seed, parameters)}
    models = {}
    for name in config.model:
        # A model goes by its name in fit or in the table; the P-Norm Push is one for each p.
        begins = {"pnorm-push": "P-Norm Push, ", "top-ranker-cv": LINEAR_CHOSEN}.get(name, "\0")
        models |= {
            shown: model
            for shown, model in rankers.items()
            if shown.startswith(begins) or name in (shown, shown.lower().replace(" ", "-"))
        } or {name: make_model(name, config.seed)}
    return models


class Compared(NamedTuple):
    """What was compared, and how the rows were split."""

    data: LabelledFeatures
    models: dict[str, Pipeline]
    split: str
    comparison: RankerComparison
    budget: int | Budget | None
    kept: Rows | None

    @property
    def n_rows(self) -> int:
        """How many rows models are fitted to in the end, and are kept for a promise."""
        return len(self.data.learnt.counted().y) + (0 if self.kept is None else len(self.kept.y))

    @property
    def budget_of_rows_learnt(self) -> int | Budget | None:
        """The budget, as it is of as many rows as ``n_rows``, or by period."""
        n_learnt, n_test = self.data.n_learnt, len(self.data.y) - self.data.n_learnt
        if isinstance(self.budget, Budget | None) or self.kept is not None or not n_test:
            return self.budget
        return part_of_budget(self.budget, n_learnt, n_test)

    def title(self) -> str:
        """Return what was compared, in one line."""
        data, n_test = self.data, len(self.data.y) - self.data.n_learnt
        n_hits, budget = int(data.y.sum()), self.budget
        rows = f"{data.n_learnt:,} rows" + f" and {n_test:,} to test on" * bool(n_test)
        words = budget.words if isinstance(budget, Budget) else f"{budget:,} rows" if budget else ""
        shown = f"Budget: {words}. " * bool(words)
        share = f"{100.0 * n_hits / len(data.y):.2g} %"
        return f"{data.table.path.name}: {rows}, {n_hits:,} hits ({share}). {shown}{self.split}."


def leakage_note(leaking: list[str]) -> str:
    """Return what a choice by columns that give the label away rests on."""
    which = f"{listed(map(repr, leaking))}, which alone tell{'s' * (len(leaking) == 1)} the classes apart"
    keep = " ".join(f"--keep {shell_word(name)}" for name in leaking)
    return f"{which}. What is known before the label stays with {keep}."


def without_doubtful(data: LabelledFeatures) -> list[str]:
    """Return the words that leave out columns that give the label away, or name rows."""
    return [
        word for name in dict.fromkeys([*data.leaking, *data.identifiers]) for word in ("--exclude", name)
    ]


def run_comparison(source: FeatureSource, config: CompareOptions) -> Compared:
    """Read the rows, plan how they are split, and compare; keep fitted models for a report."""
    data = with_times(read_features(source, config, config.test), config).due()
    warn_of_dates(of for of in data.dates if of.name != data.time)
    if has_bounds(data, config):
        show_bounds(data, config)
        raise typer.Exit(3)
    data = data.labelled
    if data.leaking and (config.save or config.report):
        why = f"no model is saved or reported that rests on {leakage_note(data.leaking)}"
        raise InputError(why, add=without_doubtful(data))
    budget = config.budget
    if config.save and isinstance(budget, Budget) and budget.per != "batch" and data.time:
        # Times of which alerts could not be begun are refused before the fits.
        data.zone  # noqa: B018
    data, kept = data.hold_out(config.hold_out, budget, config.seed)
    if kept is not None and isinstance(budget, int):
        n_rows = len(data.y) + len(kept.y)
        config = replace(config, budget=part_of_budget(budget, len(data.y), n_rows))
    plan, split = plan_of(data, config), how_split(data, config)
    split += "" if kept is None else f"; {len(kept.y):,} rows kept for the promise"
    rankers = models_to_compare(config, plan)
    together = members_of_ensemble(rankers, plan, config)
    prepared = {**data.kinds, "gap": data.gap}
    models = make_ranking_pipelines(rankers, **prepared)
    n_models = len(models) + (bool(together) and plan.nesting != "none")
    n_parts = config.folds.n_parts * config.folds.n_repeats
    try:
        with refusing(), progress(n_parts, n_models, quiet=config.quiet) as advance:
            comparison = compare_plan(
                models,
                plan,
                together=together,
                n_jobs=config.jobs,
                callback=advance,
                return_estimators=config.report is not None,
            )
    except BrokenExecutor as error:
        raise InputError(
            "a process that fits models was killed, as happens where memory is short; take fewer --jobs, or "
            "fewer rows or columns."
        ) from error
    return Compared(data, models, split, replace(comparison, choose=config.choose), budget, kept)


def members_of_ensemble(
    rankers: Mapping[str, BaseEstimator], plan: Plan, config: CompareOptions
) -> list[str]:
    """Return the models that are added up to one list; none where one list is not measured."""
    # What is named is added up; of all models those that differ, which are those by default.
    usual = usual_rankers(n_rows=len(plan.rows.y)) if config.model == [ALL] else rankers
    members = [name for name in usual if name in rankers]
    # An ensemble that is compared by its name is fitted anew in every part, and needs no second row.
    if not config.ensemble or len(members) < 2 or TOGETHER in rankers:
        return []
    by_groups = plan.rows.groups is not None and plan.rows.times is None
    few_groups = by_groups and plan.n_groups_learnt < N_INNER_FOLDS
    if plan.nesting == "whole" and (few_groups or not plan.can_split_again(N_INNER_FOLDS)):
        few = "there are too few groups" if few_groups else "a class has too few rows"
        warn(f"the {TOGETHER} of all models is not measured: {few} to choose how they are added up.")
        return []
    return members


def has_bounds(data: LabelledFeatures, config: CompareOptions) -> bool:
    """Return whether rows to test on lack a label; refuse what then says nothing, and warn of chosen rows."""
    if data.known is None:
        return False
    chosen = missing_in(data, config.seed)
    is_chosen = chosen.endswith(CHOSEN)
    if is_chosen and config.labels_after == NEVER:
        raise InputError(f"--labels-after never is for labels that are missing at random, and {chosen}.")
    span = chosen.partition(": add --labels-after ")[2]
    # A time that was given and is too short is answered by all of it.
    if span and config.test is None and config.labels_after != NEVER:
        refuse_waiting(data, config, span, chosen)
    if config.test is not None or (config.labels_after is not None and not is_chosen):
        if chosen:
            warn(f"{chosen}.")
        return False
    lacking = (
        f"{np.sum(~data.known):,} rows of {data.table.path} have none; --labels-after never compares on "
    )
    lacking += "the others, if labels are missing at random."
    given = vars(config) | {"folds": config.folds.n_repeats > 1}
    refuse_given(given, NEED_VERDICT, f"needs a label in every row, and {lacking}")
    if config.budget is None:
        raise InputError(f"say how long the list is, --budget N: of labels, {lacking}")
    return True


def refuse_waiting(data: LabelledFeatures, config: CompareOptions, span: str, chosen: str) -> NoReturn:
    """Raise InputError where the last rows wait for their labels, with the words that leave them out."""
    times = np.asarray(data.rows.times)
    gap = span_of(span, times, data.time)
    n_folds = folds_that_fit(times[times <= times.max() - gap], gap, config.folds.n_parts)
    if not n_folds:
        raise InputError(f"{chosen}. {TOO_SHORT}.")
    words = without_doubtful(data) if data.leaking else []
    words += ["--labels-after", span, *["--folds", str(n_folds)] * (n_folds < config.folds.n_parts)]
    how = f" All rests on {leakage_note(data.leaking)}" if data.leaking else ""
    raise InputError(f"{chosen}.{how}", add=words)


def show_bounds(data: LabelledFeatures, config: CompareOptions) -> None:
    """Print known hits of each model's list, and those if each row without a label were a hit."""
    rows, known, budget = data.rows, np.asarray(data.known), config.budget
    # Weights of zero keep rows without a label out of fits; some models take no others.
    weights = np.where(known, 1.0 if rows.weights is None else rows.weights, 0.0)
    plan = plan_of(replace(data, rows=rows._replace(weights=weights)), config)
    models = make_ranking_pipelines(models_to_compare(config, plan), **data.kinds, gap=data.gap)
    learnt = ((part.counted(), tests) for part, tests in plan.parts())
    if config.weight is None:
        learnt = ((part._replace(weights=None), tests) for part, tests in learnt)
    of_parts: dict[str, list[Floats]] = {name: [] for name in models}
    with refusing(), progress(config.folds.n_parts, len(models), quiet=config.quiet) as advance:
        for fit in fit_parts(models, learnt, n_jobs=config.jobs):
            of_parts[fit.name].append(fit.scores[0])
            advance()
    tested = np.flatnonzero(plan.folds >= 0)
    scores = {name: plan.by_row(of)[tested] for name, of in of_parts.items()}
    if isinstance(budget, int):
        # Scores of fits that differ are compared by the place of a row in its part.
        parts = Periods(*np.unique(plan.folds[tested], return_inverse=True))
        scores = {name: -parts.depths(of, len(tested)) for name, of in scores.items()}
        budget = max(round(budget * len(tested) / len(known)), 1)
    known_only = MeasureOptions(budget=budget, time=data.time, as_json=config.as_json)
    measure_known(data.where(plan.folds >= 0), scores, known_only, verdict=NO_VERDICT)


def with_times(data: LabelledFeatures, config: CompareOptions) -> LabelledFeatures:
    """Return rows with the times of --time or of the one column of dates they follow; warn of other dates."""
    table, rows = data.table, data.rows
    if rows.times is not None or config.shuffle or config.test is not None:
        return data
    # Dates are never features themselves: they are among the columns that are left out, by --exclude, too.
    others = table.frame.columns.drop([data.label, *data.numeric, *data.categorical], errors="ignore")
    columns = (column for column in map(table.column, others) if column.kind is Kind.DATE)
    dates = [(of, option) for of in columns if (option := of.words_to_read()) is not None]
    if not dates:
        return data
    [first, *_], ways = zip(*dates, strict=True)
    # Times are not taken unasked where --group or --repeats asks for random parts: a warning is enough.
    if ways == ("",) and config.group is None and config.folds.n_repeats == 1:
        times = first.dates()
        timed = rows._replace(times=times)
        in_time = not np.isnat(times).any() and in_order(times)
        known = data.known if in_time else None
        late = known is not None and waiting(times, known)[0]
        if known is not None and config.labels_after is not None:
            timed = timed.part(np.flatnonzero(known))
        if in_time and (late or can_split(timed, config.folds.n_parts)):
            how = "so that models are tested on later rows; --shuffle draws test rows"
            say(f"Rows follow {first.name!r}, {how}.", err=True)
            return replace(data, time=first.name, rows=rows._replace(times=times))
    by_time = " or ".join(f"--time {shell_word(column.name)}{option}" for column, option in dates)
    warn(
        f"{listed(str(of) for of, _ in dates)} hold{'s' * (len(dates) == 1)} dates, and on parts drawn at "
        f"random models learn from later rows than they are tested on. To test on what comes later: {by_time}"
        f"{', without repeats' * (config.folds.n_repeats > 1)}; to keep to random parts: --shuffle."
    )
    return data


def plan_of(data: LabelledFeatures, config: CompareOptions) -> Plan:
    """Return the plan by which rows are split: at random, by groups, by time, or by files."""
    rows, budget, folds, n_learnt = data.rows, config.budget, config.folds.n_parts, data.n_learnt
    tested = rows.y if config.test is None else rows.y[n_learnt:]
    if isinstance(budget, Budget):
        # Rows may follow the only column of dates, which is taken then.
        split_budget(budget, data.time)
    elif budget is not None and budget > len(tested):
        raise InputError(f"--budget {budget} exceeds the {len(tested)} rows to test on.")
    cv: Any = folds if data.gap is None else TimeSplit(folds, gap=data.gap)
    if data.gap is not None and rows.times is not None:
        n_folds = folds_that_fit(rows.times, data.gap, folds)
        if n_folds < folds:
            few = f"labels that come {data.labels_after} late leave no row to learn from before the first of "
            raise InputError(f"{few}{folds} test parts: {f'--folds {n_folds}' if n_folds else TOO_SHORT}.")
    draw = {"n_splits": folds, "shuffle": True, "random_state": config.seed}
    if config.test is not None:
        with refusing("--test: "):
            check_classes(tested, folds)
        # Every part of the test rows is a sample to measure on, after a fit to the same rows.
        learnt, parts = np.arange(n_learnt), StratifiedKFold(**draw).split(np.zeros(len(tested)), tested)
        cv = [(learnt, n_learnt + part) for _, part in parts]
    # Parts by time keep groups apart by themselves.
    elif rows.groups is not None and rows.times is None:
        if (n_groups := len(set(rows.groups))) < folds:
            raise InputError(
                f"--group {config.group!r} has {n_groups} values, too few for {folds} parts; choose fewer "
                "--folds."
            )
        cv = StratifiedGroupKFold(**draw)
    with refusing():
        return Plan.of(
            rows.X,
            rows.y,
            budget=budget,
            cv=cv,
            n_repeats=config.folds.n_repeats,
            groups=rows.groups,
            time=rows.times,
            sample_weight=rows.weights,
            random_state=config.seed,
            n_jobs=config.jobs,
        )


def how_split(data: LabelledFeatures, config: CompareOptions) -> str:
    """Return how rows are split, in words."""
    folds, repeats = config.folds
    if data.rows.times is not None:
        apart = "" if config.group is None else f", each {config.group} on one side"
        return f"{folds} test parts, each after its training part by {data.time}{apart}{data.late}"
    if config.test is not None:
        return f"Tested on {config.test.name}"
    how = f" by {config.group}" if config.group else ""
    return f"{folds}-fold cross-validation{how}" + f", {repeats} times" * (repeats > 1)
