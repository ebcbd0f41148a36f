"""The comparison that ``compare`` and ``report`` share: which models, on which rows, and on which splits."""

import shlex
from concurrent.futures import BrokenExecutor
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
import typer
from sklearn.base import BaseEstimator
from sklearn.model_selection import StratifiedGroupKFold, StratifiedKFold
from sklearn.pipeline import Pipeline

from pushrank import StackingRanker
from pushrank._base.user_types import Floats
from pushrank.budgets import Budget, Periods
from pushrank.cli import options
from pushrank.cli.errors import InputError, refusing, warn
from pushrank.cli.features import TOO_SHORT, LabelledFeatures, folds_that_fit, read_features, span_of
from pushrank.cli.known import CHOSEN, measure_known, waiting
from pushrank.cli.model import (
    N_INNER_FOLDS,
    make_model,
    make_ranking_pipelines,
    missing_in,
    table_rankers,
)
from pushrank.cli.options import CompareOutput, ComparisonConfig, FeatureSource, MeasureConfig
from pushrank.cli.screen import progress, share_of_rows
from pushrank.cli.source.format import TextFormat
from pushrank.cli.source.open import listed
from pushrank.cli.source.table import Kind
from pushrank.held_out import Plan, Rows, can_split, check_classes, fit_parts, part_of_budget
from pushrank.held_out.splits import TimeSplit
from pushrank.model_selection.compare import (
    LINEAR_CHOSEN,
    MAX_SLOW_ROWS,
    PUSH,
    compare_plan,
    default_rankers,
    push_named,
)
from pushrank.model_selection.comparison import TOGETHER, RankerComparison
from pushrank.model_selection.table import budget_params
from pushrank.times import in_order

ALL = "all"
"""The name by which --model asks for every model that has a name in the table."""
NEED_VERDICT = ["save_best", "report", "output", "hold_out", "show", "repeats"]
NO_VERDICT = (
    "No verdict: known hits favour the model whose list chose the rows that have a label. Hits lie between "
    "the known ones and those if each row without a label were a hit. What decides is a list that both "
    "models share, or rows drawn at random below it: pushrank score --audit. Where labels are missing at "
    "random, --drop-unlabelled compares on the others alone."
)


def models_to_compare(config: ComparisonConfig, plan: Plan, *, dense: bool) -> dict[str, BaseEstimator]:
    """Return the models by name, without preprocessing."""
    # By its name every model can be had, also one that is left out of the defaults for this many rows.
    rankers, n_rows = table_rankers(config.powers, dense=dense), len(plan.rows.y)
    if not config.model or ALL in config.model:
        models, wanted = default_rankers(dense=dense, n_rows=n_rows), [*default_rankers(dense=dense)]
        if config.model:
            models = table_rankers(config.powers, dense=dense, n_rows=n_rows, budget=config.budget)
            wanted = [*rankers]
        elif config.p:
            pushes = {name: model for name, model in rankers.items() if name in map(push_named, config.p)}
            first, *others = ((name, model) for name, model in models.items() if name != PUSH)
            models = dict([first, *pushes.items(), *others])
        # A choice splits each training part again, for which a rare class may have too few rows.
        if LINEAR_CHOSEN in models and not plan.can_split_again(N_INNER_FOLDS):
            del models[LINEAR_CHOSEN]
        many = n_rows > MAX_SLOW_ROWS
        wanted = [name for name in wanted if name not in models and name != PUSH]
        # Nobody asked for what is not compared by default because rows are few.
        if left_out := wanted if many or config.model else []:
            why = "they take minutes on this many rows" if many else "there are too few rows for them"
            names = " or ".join(f"--model {shlex.quote(name)}" for name in left_out)
            warn(f"not compared, because {why}: {', '.join(left_out)}. To compare one: {names}.")
        return models
    rankers[LINEAR_CHOSEN].set_params(**budget_params(config.budget, n_rows))
    models = {}
    for name in config.model:
        # A model goes by its name in fit or in the table; the P-Norm Push is one for each p.
        begins = {"pnorm-push": "P-Norm Push, ", "top-ranker-cv": LINEAR_CHOSEN}.get(name, "\0")
        models |= {
            shown: model
            for shown, model in rankers.items()
            if shown.startswith(begins) or name in (shown, shown.lower().replace(" ", "-"))
        } or {name: make_model(name)}
    return models


class Compared(NamedTuple):
    """What was compared, and by ``again`` the command that does it without columns that were warned of."""

    data: LabelledFeatures
    models: dict[str, Pipeline]
    split: str
    comparison: RankerComparison
    budget: int | Budget | None
    kept: Rows | None
    again: str

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
        n_kept = 0 if self.kept is None else len(self.kept.y)
        share = share_of_rows(self.budget, n_test or data.n_learnt + n_kept)
        if self.budget != self.comparison.budget:
            n_tested = (self.comparison.folds >= 0).sum()
            # By time the first part is only learnt from, and rows kept for the promise are not tested on.
            share += f", so {self.comparison.budget:,} of the {n_tested:,} tested"
        counted = f"{data.n_learnt:,} rows" + f" and {n_test:,} to test on" * bool(n_test)
        positive = f"{int(data.y.sum()):,} with {data.label_meaning}{share}"
        return f"{data.table.path.name}: {counted}, {positive}; {data.describe_features()}; {self.split}"


def leakage_note(leaking: list[str]) -> str:
    """Return what a choice by columns that give the label away rests on, up to the command without them."""
    which = f"{listed(map(repr, leaking))}, which alone tell{'s' * (len(leaking) == 1)} the classes apart"
    keep = " ".join(f"--keep {shlex.quote(name)}" for name in leaking)
    return f"{which}. What is known beforehand stays with {keep}. To compare without what was warned of:"


def run_comparison(
    source: FeatureSource, text_format: TextFormat, config: ComparisonConfig, output: CompareOutput
) -> Compared:
    """Read the rows, plan how they are split, and compare; keep fitted models for a report."""
    asides = {name: getattr(config, name) for name in ("weight", "group", "time", "test", "labels_after")}
    data = with_times(read_features(source, text_format, **asides), config).due()
    doubtful = [*data.leaking, *data.identifiers] if data.leaking else []
    without = replace(source, exclude=[*dict.fromkeys([*(source.exclude or []), *doubtful])])
    again = options.command_of("compare", without, text_format, config, output)
    if has_bounds(data, config, output, again):
        show_bounds(data, config, as_json=output.as_json)
        raise typer.Exit(3)
    data = data.labelled
    if data.leaking and (output.save_best or output.report):
        raise InputError(f"no model is saved or reported that rests on {leakage_note(data.leaking)} {again}")
    budget = config.budget
    if output.save_best and isinstance(config.budget, Budget) and config.budget.per != "batch" and data.time:
        # Times of which alerts could not be begun are refused before the fits.
        data.zone  # noqa: B018
    data, kept = data.hold_out(config.hold_out, config.budget, config.seed)
    if kept is not None and isinstance(budget, int):
        n_rows = len(data.y) + len(kept.y)
        config = replace(config, budget=part_of_budget(budget, len(data.y), n_rows))
    # A column that is not there is refused before the fits, which may take minutes.
    for name in config.show or ():
        data.table.check(name, "show")
    plan, split = plan_of(data, config), how_split(data, config)
    split += "" if kept is None else f"; {len(kept.y):,} rows kept for the promise"
    rankers = models_to_compare(config, plan, dense=not data.table.is_sparse)
    prepared = {**data.kinds, "alpha": config.alpha, "gap": data.gap}
    models = make_ranking_pipelines(rankers, **prepared)
    # What is named is added up; of all models those that differ, which are those by default.
    usual = default_rankers(dense=not data.table.is_sparse, n_rows=len(plan.rows.y))
    members = [name for name in usual if name in models] if ALL in (config.model or ()) else list(models)
    # An ensemble that is compared by its name is fitted anew in every part, and needs no second row.
    together = members if config.together and len(members) > 1 and TOGETHER not in models else []
    nested = bool(together) and plan.nesting == "whole"
    by_groups = plan.rows.groups is not None and plan.rows.times is None
    few_groups = by_groups and plan.n_groups_learnt < N_INNER_FOLDS
    if nested and (few_groups or not plan.can_split_again(N_INNER_FOLDS)):
        together, nested = [], False
        few = "there are too few groups" if few_groups else "a class has too few rows"
        warn(f"the {TOGETHER} of all models is not measured: {few} to choose how they are added up.")
    n_models = len(models) + (bool(together) and plan.nesting != "none")
    try:
        with refusing(), progress(config.folds * config.repeats, n_models, quiet=config.quiet) as advance:
            comparison = compare_plan(
                models,
                plan,
                together=together,
                n_jobs=config.jobs,
                callback=advance,
                return_estimators=output.report is not None,
            )
    except BrokenExecutor as error:
        raise InputError(
            "a process that fits models was killed, as happens where memory is short; take fewer --jobs, or "
            "fewer rows or columns."
        ) from error
    compared = Compared(data, models, split, replace(comparison, choose=config.choose), budget, kept, again)
    if together:
        # All models together may be chosen and saved like one of them, by the name of their row.
        added = [(name, rankers[name]) for name in together]
        stack = StackingRanker(added, random_state=config.seed)
        models |= make_ranking_pipelines({TOGETHER: stack}, **prepared)
    return compared


def has_bounds(data: LabelledFeatures, config: ComparisonConfig, output: CompareOutput, again: str) -> bool:
    """Return whether rows to test on lack a label; refuse what then says nothing, and warn of chosen rows."""
    if data.known is None:
        return False
    chosen = missing_in(data, config.seed)
    if config.test is not None or config.drop_unlabelled:
        if chosen:
            if config.drop_unlabelled and chosen.endswith(CHOSEN):
                raise InputError(f"--drop-unlabelled is for labels that are missing at random, and {chosen}.")
            warn(f"{chosen}.")
        return False
    if late := chosen.partition(": add ")[2]:
        times = np.asarray(data.rows.times)
        gap = span_of(late.split()[-1], times, data.time)
        n_folds = folds_that_fit(times[times <= times.max() - gap], gap, config.folds)
        if not n_folds:
            raise InputError(f"{chosen}. {TOO_SHORT}.")
        late += " --drop-unlabelled" * waiting(times, data.known)[2]
        how = f"All rests on {leakage_note(data.leaking)}" if data.leaking else "To compare the rows before:"
        again = again.replace(f" --labels-after {config.labels_after}", "")
        if n_folds < config.folds:
            again, late = again.replace(f" --folds {config.folds}", ""), f"{late} --folds {n_folds}"
        raise InputError(f"{chosen}. {how} {again} {late}")
    lacking = f"{np.sum(~data.known):,} rows of {data.table.path} have none; --drop-unlabelled compares on "
    lacking += "the others, if labels are missing at random."
    given = vars(output) | vars(config) | {"repeats": config.repeats - 1}
    options.refuse_given(given, NEED_VERDICT, f"needs a label in every row, and {lacking}")
    if config.budget is None:
        raise InputError(f"say how long the list is, --budget N: of labels, {lacking}")
    return True


def show_bounds(data: LabelledFeatures, config: ComparisonConfig, *, as_json: bool) -> None:
    """Print known hits of each model's list, and those if each row without a label were a hit."""
    rows, known, budget = data.rows, np.asarray(data.known), config.budget
    # Weights of zero keep rows without a label out of fits; some models take no others.
    weights = np.where(known, 1.0 if rows.weights is None else rows.weights, 0.0)
    plan = plan_of(replace(data, rows=rows._replace(weights=weights)), config)
    models = models_to_compare(config, plan, dense=not data.table.is_sparse)
    models = make_ranking_pipelines(models, **data.kinds, alpha=config.alpha, gap=data.gap)
    learnt = ((part.counted(), tests) for part, tests in plan.parts())
    if config.weight is None:
        learnt = ((part._replace(weights=None), tests) for part, tests in learnt)
    of_parts: dict[str, list[Floats]] = {name: [] for name in models}
    with refusing(), progress(config.folds, len(models), quiet=config.quiet) as advance:
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
    known_only = MeasureConfig(budget=budget, time=data.time, as_json=as_json)
    measure_known(data.where(plan.folds >= 0), scores, known_only, verdict=NO_VERDICT)


def with_times(data: LabelledFeatures, config: ComparisonConfig) -> LabelledFeatures:
    """Return rows with the times of --time or of the one column of dates they follow; warn of other dates."""
    table, rows = data.table, data.rows
    if rows.times is not None or config.random or config.test is not None or table.is_sparse:
        return data
    # Dates are never features themselves: they are among the columns that are left out.
    others = table.frame.columns.drop([data.label, *data.numeric, *data.categorical], errors="ignore")
    # Dates that cannot be read were warned of as columns that are left out.
    dates = [
        (column, option)
        for column in map(table.column, others)
        if column.kind is Kind.DATE and (option := column.words_to_read()) is not None
    ]
    if not dates:
        return data
    columns, ways = zip(*dates, strict=True)
    # Times are not taken unasked where --group or --repeats asks for random parts: a warning is enough.
    if ways == ("",) and config.group is None and config.repeats == 1:
        times = columns[0].dates()
        timed = rows._replace(times=times)
        in_time = not np.isnat(times).any() and in_order(times)
        known = data.known if in_time else None
        late = known is not None and waiting(times, known)[0]
        if known is not None and config.drop_unlabelled:
            timed = timed.part(np.flatnonzero(known))
        if in_time and (late or can_split(timed, config.folds)):
            warn(
                f"rows follow the times in {columns[0]}, so models are judged on later rows than they learn "
                "from; --random judges them on parts drawn at random."
            )
            return replace(data, time=columns[0].name, rows=rows._replace(times=times))
    by_time = " or ".join(f"--time {shlex.quote(column.name)}{option}" for column, option in dates)
    warn(
        f"{listed(map(str, columns))} hold{'s' * (len(dates) == 1)} dates, and on parts drawn at random "
        f"models learn from later rows than they are tested on. To test on what comes later: {by_time}"
        f"{', without --repeats' * (config.repeats > 1)}; to keep to random parts: --random."
    )
    return data


def plan_of(data: LabelledFeatures, config: ComparisonConfig) -> Plan:
    """Return the plan by which rows are split: at random, by groups, by time, or by files."""
    rows, budget, folds, n_learnt = data.rows, config.budget, config.folds, data.n_learnt
    tested = rows.y if config.test is None else rows.y[n_learnt:]
    if isinstance(budget, Budget):
        # Rows may follow the only column of dates, which is taken then.
        options.split_budget(budget, data.time)
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
            n_repeats=config.repeats,
            groups=rows.groups,
            time=rows.times,
            sample_weight=rows.weights,
            random_state=config.seed,
            n_jobs=config.jobs,
        )


def how_split(data: LabelledFeatures, config: ComparisonConfig) -> str:
    """Return how rows are split, in words."""
    folds = config.folds
    if data.rows.times is not None:
        apart = "" if config.group is None else f", each {config.group} on one side"
        return f"{folds} test parts, each after its training part by {data.time}{apart}{data.late}"
    if config.test is not None:
        return f"tested on {config.test.name}"
    how = f" by {config.group}" if config.group else ""
    return f"{folds}-fold cross-validation{how}" + f", {config.repeats} times" * (config.repeats > 1)
