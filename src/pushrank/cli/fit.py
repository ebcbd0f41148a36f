"""``pushrank fit``: learn to rank from a file and save the model."""

import sys
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import StandardScaler

from pushrank import StackingRanker
from pushrank._base.user_types import Floats
from pushrank.budgets import Budget, comes_whole
from pushrank.cli import model
from pushrank.cli.errors import InputError, refusing, say, warn
from pushrank.cli.features import TOO_SHORT, folds_that_fit, read_features
from pushrank.cli.known import CHOSEN
from pushrank.cli.model import fit_pipeline
from pushrank.cli.names import ENSEMBLE
from pushrank.cli.options import FeatureSource, FitConfig, refuse_given, split_budget
from pushrank.cli.promises import promise_of_periods, promise_of_rows
from pushrank.cli.screen import fitting
from pushrank.cli.source.format import TextFormat
from pushrank.cli.source.labels import AUDIT
from pushrank.cli.source.open import SPARSE, file_kind
from pushrank.cli.thresholds import alert_of, alert_of_fit
from pushrank.held_out import Plan, Rows, check_classes, fit_parts, model_scores, record_warnings
from pushrank.held_out.plan import whole_periods
from pushrank.held_out.splits import TimeSplit
from pushrank.model_selection import compare

N_HELD_OUT = 5
"""Parts of the rows that are scored by fits to the others."""


def ranker_of(config: FitConfig, name: str) -> BaseEstimator:
    """Return a model by its name, with the options that are its parameters."""
    others = {"output", "force", "model", "member", "budget", "weight", "time", "labels_after", "hold_out"}
    others |= {"probability", "jobs", "quiet", "seed"}
    parameters = {name: value for name, value in vars(config).items() if name not in others}
    if name == ENSEMBLE:
        # The pipelines of its members take it.
        parameters.pop("alpha")
    ranker = model.make_model(name, config.seed, **parameters)
    if config.member:
        if name != ENSEMBLE:
            raise InputError(f"--member is for --model {ENSEMBLE}; leave it out with --model {name}.")
        members = model.ensemble_members(None, dense=True, named=config.member, seed=config.seed)
        ranker.set_params(estimators=list(members.items()))
    return ranker


def default_model(path: Path) -> str:
    """Return the model that is fitted by default: one that ``compare`` puts in its table at any size."""
    # Stumps found 277 of 818 hits on flights, where linear models found 207 at most; they need dense rows.
    return compare.IR_PUSH if file_kind(path) in SPARSE else compare.STUMPS


def fit_model(source: FeatureSource, text_format: TextFormat, config: FitConfig) -> None:
    """Learn to rank from a file and save the model."""
    by_period, budget = split_budget(config.budget, config.time)
    name = config.model or default_model(source.data)
    if config.jobs != 1 and (name != ENSEMBLE or not config.jobs):
        raise InputError(f"--jobs is a number of processes, or -1, for --model {ENSEMBLE}; leave it out.")
    ranker = ranker_of(config, name)
    asides = {name: getattr(config, name) for name in ("weight", "time", "labels_after")}
    whole = read_features(source, text_format, **asides).due()
    if chosen := model.missing_in(whole, config.seed):
        if chosen.endswith(CHOSEN):
            why = f"needs a label in every row, and {chosen}; {AUDIT}."
            refuse_given(vars(config) | {"budget": budget}, ("hold_out", "probability", "budget"), why)
        warn(f"{chosen}.")
    data, kept = whole.labelled.hold_out(config.hold_out, config.budget, config.seed)
    rows = data.rows.counted()
    # What scores are held out of, and how many rows the budget is of.
    scored = rows if kept is None else kept
    n_rows = len(rows.y) + (0 if kept is None else len(kept.y))
    n_rare = min(rows.y.sum(), (~rows.y).sum())
    held_out = config.probability or config.budget is not None
    if by_period is not None:
        with refusing():
            # Times of which no periods can be made, or too few, are refused before the fit.
            whole_periods(by_period, scored.times, N_HELD_OUT * (kept is None), fewer=False)
            labels, periods = by_period.periods(scored.times)
            # Only periods whose rows all have labels show what a period holds.
            left = np.asarray(whole.rows.times)[~np.asarray(whole.known)] if chosen else []
            is_whole = ~np.isin(labels, by_period.periods(left).labels if chosen else [])
        if is_whole.sum() < 2:
            way = f"; {AUDIT}" * chosen.endswith(CHOSEN)
            raise InputError(f"--budget needs {by_period.several} with all labels, and {chosen}{way}.")
        if "budget" in ranker.get_params():
            ranker.set_params(budget=by_period)
    # A fifth of seven rows, rounded up, leaves five; an ensemble is fitted to others than it scores as it is.
    needed = model.N_INNER_FOLDS + 2 * (held_out and kept is None and name != ENSEMBLE)
    if "cv" in ranker.get_params() and n_rare < needed:
        raise InputError(
            f"--model {name} chooses by cross-validation and needs {needed} rows of each class, and "
            f"one has {n_rare}; take another, such as --model pnorm-push."
        )
    if config.budget is not None and n_rare < 2:
        raise InputError("a class has 1 row, and --budget scores rows by fits to others; leave it out.")
    if budget is not None:
        if budget > n_rows:
            raise InputError(f"--budget {budget} exceeds the {n_rows} rows of the data.")
        # As a share the budget holds for parts of the rows, too.
        if "fraction" in ranker.get_params():
            ranker.set_params(fraction=budget / n_rows)
    if config.probability:
        with refusing("--probability: "):
            check_classes(scored.y, N_HELD_OUT)
    pipelines = model.make_ranking_pipelines(
        {name: ranker}, **data.kinds, alpha=config.alpha, gap=data.gap, n_rows=len(rows.y)
    )
    calibrator = alert = reference = None
    pipeline = fitted(pipelines[name], name, rows, config)
    with fitting(name, quiet=config.quiet):
        with refusing("--time: " * (config.time is not None)):
            if kept is not None:
                scores = model_scores(pipeline, kept.X)
                alert = None if budget is None else alert_of(kept.y, scores, budget, n_rows)
            elif budget is not None:
                alert, scores = alert_of_fit(pipeline, rows, budget, n_rows)
            elif held_out:
                scores = held_out_scores(pipeline, rows, by_period, data.gap)
            else:
                scores = np.full(len(rows.y), np.nan)
        if by_period is not None:
            scores = np.where(is_whole[periods], scores, np.nan)
            reference = model.reference_of(by_period, periods, scored, scores)
        seen = ~np.isnan(scores)
        scores, y = scores[seen], scored.y[seen]
        if config.probability:
            # Scores may have any scale, and the penalty of the logistic curve would depend on it.
            calibrator = make_pipeline(StandardScaler(), LogisticRegression()).fit(scores[:, None], y)
        if budget is not None:
            reference = model.reference_of_rows(budget, n_rows, scored, scores)
        saved = model.saved_model(
            pipeline, name, data, calibrator=calibrator, alert=alert, reference=reference
        )
    model.save_model(saved, config.output)
    if np.ptp(model_scores(pipeline, rows.X)) == 0.0:
        warn(f"{name} gives every row the same score, so it cannot rank: no column tells rows apart.")
    megabytes = config.output.stat().st_size / 1e6
    size = f" ({megabytes:,.0f} MB)" if megabytes >= 1.0 else ""
    say(
        f"{name} fitted on {len(rows.y):,} rows ({int(rows.y.sum()):,} with {data.label_meaning}) using "
        f"{data.describe_features()}; saved as {config.output}{size}."
    )
    if alert is not None:
        # Fits to other rows for the threshold have rows of every time.
        say(f"Alert threshold{data.late * (kept is not None)}: {alert.sentence()}")
    if reference is not None and by_period is not None:
        say(f"Expected{data.late}: {reference.sentence}")
        if by_period.per != "batch" and comes_whole(by_period, rows.times):
            per, why = by_period.per, f"nearly all its rows have one time in {config.time}"
            say(f"A {per} comes whole, for {why}: rank each by score --top {by_period.n}.")
    if kept is not None and budget is not None:
        say(promise_of_rows(y, scores, budget, n_rows))
    elif kept is not None and by_period is not None:
        say(f"Promised: {promise_of_periods(y, scores, periods[seen], by_period)[1]}.")


def fitted(pipeline: Pipeline, name: str, rows: Rows, config: FitConfig) -> Pipeline:
    """Return the fitted pipeline; of an ensemble a bar counts the fits and says what time is left."""
    if name != ENSEMBLE:
        with fitting(name, quiet=config.quiet):
            return fit_pipeline(pipeline, rows)
    if not config.quiet:
        members = [of for of, _ in pipeline[-1].estimators]
        say(f"Fitting {len(members)} models to parts of the rows: {'; '.join(members)}.", err=True)
    is_shown = sys.stderr.isatty() and not config.quiet
    pipeline.set_params(rank__n_jobs=config.jobs, rank__verbose=is_shown)
    return fit_pipeline(pipeline, rows).set_params(rank__n_jobs=None, rank__verbose=False)


def held_out_scores(pipeline: Pipeline, rows: Rows, budget: Budget | None = None, gap: Any = None) -> Floats:
    """Return the score of each row by a fit to others, by time to earlier ones: NaN where there are none."""
    # An ensemble has made such scores to find its weights.
    if isinstance(pipeline[-1], StackingRanker):
        return np.asarray(pipeline[-1].held_out_scores_)
    # The fit to all rows has printed the warnings already.
    with record_warnings([]):
        cv: Any = N_HELD_OUT
        if gap is not None:
            n_folds = folds_that_fit(np.asarray(rows.times), gap, N_HELD_OUT)
            if not n_folds:
                raise InputError(f"--labels-after leaves no row to score by earlier ones. {TOO_SHORT}.")
            cv = TimeSplit(n_folds, gap=gap)
        plan = Plan.to_score(rows, cv, budget)
        return plan.by_row([fit.scores[0] for fit in fit_parts({"": pipeline}, plan.parts())])
