"""A model that is fitted to all rows and saved, with what is known of it by rows held out."""

from __future__ import annotations

import shlex
import sys
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import StandardScaler

from pushrank import StackingRanker
from pushrank._base.user_types import Floats
from pushrank.budgets import Budget, comes_whole
from pushrank.cli import model
from pushrank.cli.errors import InputError, refusing, say, warn
from pushrank.cli.features import TOO_SHORT, LabelledFeatures, folds_that_fit
from pushrank.cli.forms import FitOptions, alert_state
from pushrank.cli.pipelines import SavedModel
from pushrank.cli.promises import promise_of_periods, promise_of_rows
from pushrank.cli.screen import fitting
from pushrank.cli.source.labels import AUDIT
from pushrank.cli.source.open import file_kind
from pushrank.cli.thresholds import alert_of, alert_of_fit
from pushrank.cli.write import TABLES_WRITTEN
from pushrank.held_out import Plan, Rows, check_classes, fit_parts, model_scores, record_warnings
from pushrank.held_out.plan import whole_periods
from pushrank.held_out.splits import TimeSplit
from pushrank.monitoring.alerts import N_PAST, AlertThreshold
from pushrank.persistence import model_digest

N_HELD_OUT = 5
"""Parts of the rows that are scored by fits to the others."""


@dataclass(frozen=True)
class Released:
    """A model that was saved, in sentences and in facts for other programs."""

    lines: list[str]
    facts: dict[str, Any]


@dataclass(frozen=True)
class HeldOut:
    """Rows with scores of fits that had not seen them, NaN where there are none, and their periods."""

    rows: Rows
    scores: Floats
    periods: NDArray[np.int64] | None
    are_new: bool
    """Whether the saved model itself has not seen them."""

    @property
    def seen(self) -> NDArray[np.bool_]:
        """The rows that have a score."""
        return ~np.isnan(self.scores)


def release(
    ranker: BaseEstimator,
    name: str,
    data: LabelledFeatures,
    kept: Rows | None,
    config: FitOptions,
    unlabelled: Any = (),
) -> Released:
    """Fit a model, save it with its threshold and what to expect of it, and return what is known of it.

    The fit does not see the rows that are ``kept``. The times of rows without a label are ``unlabelled``:
    their periods are not whole, and show not what a period holds.
    """
    rows, budget = data.rows.counted(), config.budget
    scored = rows if kept is None else kept
    n_rows = len(rows.y) + (0 if kept is None else len(kept.y))
    _check_rows(ranker, name, rows, scored, n_rows, config)
    periods, is_whole = _periods(scored, kept, budget, unlabelled)
    _set_budget(ranker, budget, n_rows)
    pipelines = model.make_ranking_pipelines({name: ranker}, **data.kinds, gap=data.gap, n_rows=len(rows.y))
    pipeline = _fitted(pipelines[name], name, rows, config)
    alert, reference, calibrator = None, None, None
    with fitting(name, quiet=config.quiet), refusing("--time: " * (config.time is not None)):
        scores = np.full(len(scored.y), np.nan)
        if kept is not None:
            scores = model_scores(pipeline, kept.X)
            alert = alert_of(kept.y, scores, budget, n_rows) if isinstance(budget, int) else None
        elif isinstance(budget, int):
            alert, scores = alert_of_fit(pipeline, rows, budget, n_rows)
        elif config.probability or budget is not None:
            scores = _held_out_scores(pipeline, rows, budget, data.gap)
    held = HeldOut(scored, np.where(is_whole, scores, np.nan), periods, kept is not None)
    if isinstance(budget, Budget) and periods is not None:
        reference = model.reference_of(budget, periods, scored, held.scores)
    elif isinstance(budget, int):
        reference = model.reference_of_rows(budget, n_rows, scored, scores)
    if config.probability:
        # Scores may have any scale, and the penalty of the logistic curve would depend on it.
        calibrator = make_pipeline(StandardScaler(), LogisticRegression())
        calibrator.fit(held.scores[held.seen, None], scored.y[held.seen])
    known = {"alert": alert, "reference": reference, "calibrator": calibrator}
    as_fitted = data.options | {"time": config.time, "budget": None if budget is None else str(budget)}
    as_fitted = {option: value for option, value in as_fitted.items() if value}
    saved = model.saved_model(pipeline, name, data, as_fitted=as_fitted, **known)
    model.save_model(saved, config.output)
    if np.ptp(model_scores(pipeline, rows.X)) == 0.0:
        warn(f"{name} gives every row the same score, so it cannot rank: no column tells rows apart.")
    return _released(saved, data, held, n_rows, config)


def _check_rows(
    ranker: BaseEstimator, name: str, rows: Rows, scored: Rows, n_rows: int, config: FitOptions
) -> None:
    """Raise InputError where rows are too few for what is asked, before a fit."""
    budget, n_rare = config.budget, min(rows.y.sum(), (~rows.y).sum())
    is_held_out = config.probability or budget is not None
    # A fifth of seven rows, rounded up, leaves five; an ensemble is fitted to others than it scores as it is.
    splits_again = is_held_out and scored is rows and not isinstance(ranker, StackingRanker)
    needed = model.N_INNER_FOLDS + 2 * splits_again
    if "cv" in ranker.get_params() and n_rare < needed:
        raise InputError(
            f"--model {name} chooses by cross-validation and needs {needed} rows of each class, and "
            f"one has {n_rare}; take another, such as --model pnorm-push."
        )
    if budget is not None and n_rare < 2:
        raise InputError("a class has 1 row, and --budget scores rows by fits to others; leave it out.")
    if isinstance(budget, int) and budget > n_rows:
        raise InputError(f"--budget {budget} exceeds the {n_rows} rows of the data.")
    if config.probability:
        with refusing("--probability: "):
            check_classes(scored.y, N_HELD_OUT)


def _periods(
    scored: Rows, kept: Rows | None, budget: int | Budget | None, unlabelled: Any
) -> tuple[NDArray[np.int64] | None, NDArray[np.bool_]]:
    """Return the period of each row, where the budget has some, and whether all of its rows have a label."""
    if not isinstance(budget, Budget):
        return None, np.ones(len(scored.y), dtype=bool)
    with refusing():
        # Times of which no periods can be made, or too few, are refused before the fit.
        whole_periods(budget, scored.times, N_HELD_OUT * (kept is None), fewer=False)
        labels, periods = budget.periods(scored.times)
        lacking: Any = budget.periods(unlabelled).labels if len(unlabelled) else []
    is_whole = ~np.isin(labels, lacking)
    if is_whole.sum() < 2:
        raise InputError(f"--budget needs {budget.several} in which all rows have a label; {AUDIT}.")
    return periods, is_whole[periods]


def _set_budget(ranker: BaseEstimator, budget: int | Budget | None, n_rows: int) -> None:
    """Let a model that is chosen for a budget know it."""
    known = ranker.get_params(deep=False)
    if isinstance(budget, Budget) and "budget" in known:
        ranker.set_params(budget=budget)
    elif isinstance(budget, int) and "fraction" in known:
        # As a share the budget holds for parts of the rows, too.
        ranker.set_params(fraction=budget / n_rows)


def _fitted(pipeline: Pipeline, name: str, rows: Rows, config: FitOptions) -> Pipeline:
    """Return the fitted pipeline; of an ensemble a bar counts the fits and says what time is left."""
    if not isinstance(pipeline[-1], StackingRanker):
        with fitting(name, quiet=config.quiet):
            return model.fit_pipeline(pipeline, rows)
    if not config.quiet:
        members = [of for of, _ in pipeline[-1].estimators or ()]
        say(f"Fitting {len(members)} models to parts of the rows: {'; '.join(members)}.", err=True)
    is_shown = sys.stderr.isatty() and not config.quiet
    pipeline.set_params(rank__n_jobs=config.jobs, rank__verbose=is_shown)
    return model.fit_pipeline(pipeline, rows).set_params(rank__n_jobs=None, rank__verbose=False)


def _held_out_scores(pipeline: Pipeline, rows: Rows, budget: int | Budget | None, gap: Any) -> Floats:
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
        plan = Plan.to_score(rows, cv, budget if isinstance(budget, Budget) else None)
        return plan.by_row([fit.scores[0] for fit in fit_parts({"": pipeline}, plan.parts())])


def _released(
    saved: SavedModel, data: LabelledFeatures, held: HeldOut, n_rows: int, config: FitOptions
) -> Released:
    """Return what is known of a model that was saved, and begin its file of alerts."""
    budget, output, training = config.budget, config.output, saved.training
    megabytes = output.stat().st_size / 1e6
    size = f", {megabytes:,.0f} MB" * (megabytes >= 1.0)
    lines = [
        f"{output}: {saved.name}, fitted to {training['rows']:,} rows ({training['positives']:,} with "
        f"{data.label_meaning}) with {data.describe_features()}{size}."
    ]
    facts: dict[str, Any] = {"model": saved.name, "saved": str(output), **training, "megabytes": megabytes}
    facts["columns"] = {"numeric": len(data.numeric), "text": len(data.categorical)}
    top = f"--top {getattr(budget, 'n', budget)}" if budget is not None else ""
    next_command = _command(config, data, "score", top)
    y, scores = held.rows.y[held.seen], held.scores[held.seen]
    if isinstance(budget, int):
        if saved.alert is not None:
            lines.append(f"Alert threshold: {saved.alert.sentence()}.")
            facts["alert"] = vars(saved.alert) | {"expected_rows": saved.alert.expected(n_rows)}
        if held.are_new:
            facts["promise"], said = promise_of_rows(y, scores, budget, n_rows)
            lines.append(said)
    elif budget is not None and held.periods is not None and saved.reference is not None:
        facts["expected"] = saved.reference.facts()
        is_whole = budget.per == "batch" or comes_whole(budget, held.rows.times)
        if is_whole and budget.per != "batch":
            why = f"nearly all its rows have one time in {config.time}"
            lines.append(f"A {budget.per} comes whole, for {why}: give each a file.")
        elif not is_whole:
            facts["threshold"], said = _begin_alerts(budget, saved, data, held, output)
            facts["state"] = str(alert_state(output))
            lines.append(said)
            next_command = _command(config, data, "alert", "--id COLUMN")
        if held.are_new:
            facts["promise"], said = promise_of_periods(y, scores, held.periods[held.seen], budget)
            lines.append(said)
    facts["commands"] = [next_command, _command(config, data, "watch")]
    return Released(lines, facts)


def _begin_alerts(
    budget: Budget, saved: SavedModel, data: LabelledFeatures, held: HeldOut, output: Path
) -> tuple[float | None, str]:
    """Begin a model's file of alerts with the scores of rows held out: its threshold, and a sentence."""
    state, periods = alert_state(output), np.asarray(held.periods)
    # The threshold keeps the latest periods alone: earlier ones would be learnt to be forgotten. The last of
    # the file have no scores where somebody chose which of their rows got a label.
    latest = held.seen & (periods > periods[held.seen].max() - N_PAST)
    with refusing(), closing(AlertThreshold(budget, state)) as alert:
        alert.model = model_digest(saved.pipeline)
        alert.fit(held.scores[latest], np.asarray(held.rows.times)[latest], zone=data.zone)
        threshold = alert.threshold_
    said = f"{state}: alerts for {budget.words}"
    if not np.isfinite(threshold):
        return None, f"{said}; most {budget.several} held out have fewer rows."
    return float(threshold), f"{said}; the next {budget.per} begins with the threshold {threshold:.4g}."


def _command(config: FitOptions, data: LabelledFeatures, name: str, *words: str) -> str:
    """Return the command that takes the saved model to new rows."""
    kind = file_kind(data.table.path)
    # Commands are printed to be run as they are, and pushrank writes no compressed files.
    table = kind if kind in TABLES_WRITTEN else ".csv"
    output = {"score": f"-o list{table}", "alert": f"-o alerts{table}"}.get(name, "")
    parts = ["pushrank", name, shlex.quote(str(config.output)), f"NEW{kind}", *words, output]
    return " ".join(filter(None, parts))
