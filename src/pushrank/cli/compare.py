"""``pushrank compare``: which model is best at the top of the list?"""

import json
import shlex
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from time import perf_counter
from typing import Any

import numpy as np
import typer

from pushrank._base.user_types import Floats
from pushrank.budgets import comes_whole
from pushrank.cli import options
from pushrank.cli.comparison import Compared, leakage_note, run_comparison
from pushrank.cli.errors import refusing, say
from pushrank.cli.model import fit_pipeline, reference_of, reference_of_rows, save_model, saved_model
from pushrank.cli.options import CompareOutput, ComparisonConfig, FeatureSource, alert_state, words_of
from pushrank.cli.pipelines import SavedModel
from pushrank.cli.promises import promise_of_periods, promise_of_rows
from pushrank.cli.report import write_comparison_report
from pushrank.cli.screen import print_comparison
from pushrank.cli.source.format import TextFormat, stated
from pushrank.cli.source.open import file_kind
from pushrank.cli.thresholds import alert_of, alert_of_fit
from pushrank.cli.write import TABLES_WRITTEN, write_table
from pushrank.held_out import model_scores
from pushrank.metrics import PeriodMeasurement
from pushrank.model_selection.comparison import TOGETHER
from pushrank.model_selection.errors import HITS
from pushrank.monitoring import Reference
from pushrank.monitoring.alerts import N_PAST, AlertThreshold
from pushrank.persistence import model_digest

N_TIMED = 1_000
"""How many rows are scored to time an ensemble."""
# Fits to parts of the rows, among which the model was chosen, calibrate no promise of the last fit.
NOTHING_SURE = (
    "Promised: nothing for sure, for these rows had a part in fits and choice. With --hold-out 20% some rows "
    "have none, and by new labelled rows pushrank evaluate --promise 0.95 says how many hits are sure."
)


def compare_models(
    source: FeatureSource, text_format: TextFormat, config: ComparisonConfig, output: CompareOutput
) -> None:
    """Compare models under the same cross-validation and say which is best at the top."""
    save_best, report, as_json = output.save_best, output.report, output.as_json
    compared = run_comparison(source, text_format, config, output)
    comparison, leaking = compared.comparison, compared.data.leaking
    command = fit_command(source, text_format, config, compared, save_best or Path("model.skops"))
    if output.output is not None:
        write_table(comparison.to_frame(), output.output)
    if not as_json:
        # What gives the label away decides which model is best, and it will not be known of new rows.
        print_comparison(comparison, compared.title(), is_choice=not leaking)
        fit = f"To fit {comparison.chosen_} on all rows: {command}"
        nothing = f"No model is chosen: all this rests on {leakage_note(leaking)}\n{compared.again}"
        say(nothing if leaking else fit)
    # The model is saved before the report is written, whose page repeats what is said of the saved model.
    facts = {} if save_best is None else save_chosen(compared, save_best, text_format)
    lines = facts.get("sentences", [])
    is_ensemble = not leaking and comparison.chosen_ != comparison.taken("single")
    price = price_of_ensemble(compared, save_best) if is_ensemble and config.choose == "most" else {}
    if report is not None:
        write_comparison_report(report, compared, config, opened=output.opened, released=lines)
    if as_json:
        none = dict.fromkeys(
            ("chosen", "choices", "expected", "differences", "may_be_best", "equivalent", "verdict")
        )
        unchosen = none | {"leaking_columns": leaking, "compare_again": compared.again}
        summary = comparison.summary() | (unchosen if leaking else {"fit": command})
        summary |= {key: more for key, more in (("saved", facts), ("price", price)) if more}
        typer.echo(json.dumps(summary, indent=2))
    for line in () if as_json else [*price.get("sentences", []), *lines]:
        say(line)
    if leaking:
        # As where labels give no verdict.
        raise typer.Exit(3)


def price_of_ensemble(compared: Compared, saved: Path | None) -> dict[str, Any]:
    """Return what an ensemble costs beside the best single model: models, megabytes, and seconds."""
    comparison, ranker = compared.comparison, compared.models[TOGETHER].named_steps["rank"]
    single, facts = comparison.taken("single"), {"models": len(ranker.estimators), "reasons": "sampled"}
    said = f"it adds up as many as {facts['models']} models, and the reasons of its scores are sampled"
    if saved is not None:
        model, rows = SavedModel.load(saved), compared.data.learnt
        some = rows.part(np.arange(min(N_TIMED, len(rows.y))))
        start = perf_counter()
        model_scores(model.pipeline, some.X)
        seconds = (perf_counter() - start) * N_TIMED / len(some.y)
        facts |= {"models": len(model.ranker.named_estimators_), "seconds": seconds}
        facts |= {"megabytes": saved.stat().st_size / 1e6}
        said = (
            f"{facts['models']} models in {facts['megabytes']:.1f} MB, {seconds:.2g} s to score "
            f"{N_TIMED:,} rows, and sampled reasons"
        )
    facts, found = facts | {"single": single}, ""
    if comparison.criterion == HITS:
        hits = comparison.mean(single, HITS)
        found = f", which found {hits:.{comparison.digits(HITS)}f} {comparison.name_of(HITS)}"
        facts |= {"hits_of_single": hits}
    return facts | {"sentences": [f"Price of the ensemble: {said}; --choose single takes {single}{found}."]}


def save_chosen(compared: Compared, saved: Path, text_format: TextFormat) -> dict[str, Any]:
    """Fit the chosen model to all rows and save it; return what it finds, in facts and in sentences."""
    data, chosen, budget = compared.data, compared.comparison.chosen_, compared.budget_of_rows_learnt
    learnt, unseen, alert, reference = data.learnt, compared.kept, None, None
    fitted = fit_pipeline(compared.models[chosen], learnt)
    y, scores = data.y, compared.comparison.scores[chosen]
    if unseen is None and data.n_learnt < len(data.y):
        unseen = data.rows.part(np.arange(data.n_learnt, len(data.y)))
    if unseen is not None:
        # The model itself has not seen these rows, of which its threshold and its promise are exact.
        y, scores = unseen.y, model_scores(fitted, unseen.X)
    elif chosen == TOGETHER:
        # In the comparison each part has its own weights: the promise is for those of all rows.
        y, scores = learnt.y, np.full(len(learnt.y), np.nan)
        scores[slice(None) if learnt.weights is None else learnt.weights > 0.0] = fitted[-1].held_out_scores_
    if isinstance(budget, int):
        if unseen is None:
            alert, scores = alert_of_fit(fitted, learnt.counted(), budget, compared.n_rows)
        else:
            alert = alert_of(y, scores, budget, compared.n_rows)
        reference = reference_of_rows(budget, compared.n_rows, unseen or learnt.counted(), scores)
    model = saved_model(fitted, chosen, compared.data, alert=alert, reference=reference)
    comparison = compared.comparison
    facts: dict[str, Any] = {"model": chosen}
    fitted_to = f"fitted to {'all ' * (compared.kept is None)}{len(learnt.counted().y):,} rows"
    lines = [f"Model: {chosen}, {fitted_to}; saved as {saved}."]
    if comparison.days is not None:
        more, said, reference = summary_of_periods(
            compared, comparison.days, saved, text_format, scores, model_digest(model.pipeline)
        )
        model, facts, lines = replace(model, reference=reference), facts | more, lines + said
    elif isinstance(budget, int):
        promised = promise_of_rows(y, scores, budget, compared.n_rows) if compared.kept else NOTHING_SURE
        more, said = summary_of_list(compared, model, saved, text_format, promised)
        facts, lines = facts | more, lines + said
    facts["sentences"] = lines
    save_model(replace(model, training=model.training | {"saved": facts}), saved)
    return facts


def fit_command(
    source: FeatureSource, text_format: TextFormat, config: ComparisonConfig, compared: Compared, saved: Path
) -> str:
    """Return the command that fits the chosen model as it was compared."""
    chosen, data = compared.comparison.chosen_, compared.data
    ranker = compared.models[chosen].named_steps["rank"]
    is_ensemble = chosen == TOGETHER
    # Rows that are drawn and kept have to be the same, or the choice has seen them.
    same = ["weight", "labels_after", "hold_out", *["seed"] * bool(config.hold_out)]
    # The command has to run as it is printed, and fit refuses --alpha for a model that has none.
    same += ["alpha"] * (is_ensemble or "alpha" in ranker.get_params())
    chosen_with = {name: getattr(config, name) for name in same} | {"model": chosen, "time": data.time}
    if is_ensemble and config.model:
        chosen_with["member"] = [name for name, _ in ranker.estimators]
    fit = options.FitConfig(saved, budget=compared.budget_of_rows_learnt, **chosen_with)
    # Fit would learn from the groups, which the comparison set aside.
    exclude = list(filter(None, [*(source.exclude or []), config.group]))
    label = None if data.table.is_sparse else data.label
    learnt = replace(source, label=label, positive=data.positive, exclude=exclude)
    return options.command_of("fit", learnt, text_format, fit)


def summary_of_list(
    compared: Compared, model: SavedModel, saved: Path, text_format: TextFormat, promised: str
) -> tuple[dict[str, Any], list[str]]:
    """Return what the chosen model finds in the first rows of one list, in facts and in sentences."""
    comparison, chosen = compared.comparison, compared.comparison.chosen_
    n_tested, mean = int((comparison.folds >= 0).sum()), comparison.mean(chosen, HITS)
    expected, low, high = comparison.expected_
    model_and_rows, kind = _words(compared, saved, text_format)
    first = f"pushrank score {model_and_rows} --top {compared.budget} -o first{kind}"
    evaluate = f"pushrank evaluate {model_and_rows} --budget {compared.budget}"
    lines = [
        f"Hits: {expected:.1f} expected in {comparison.budget:,} of {n_tested:,} rows to come"
        f"{_between(low, high, 1)}; {mean:.1f} of {comparison.n_positives:,} positives in the test parts.",
        promised,
        f"Alert threshold: {model.alert.sentence() if model.alert else 'none.'}",
        f"Tomorrow: {first}; and once labels are known: {evaluate}",
    ]
    hits = _figures(expected, low, high)
    threshold = model.alert and model.alert.threshold
    return {"hits": hits, "threshold": threshold, "commands": [first, evaluate]}, lines


def _words(compared: Compared, saved: Path, text_format: TextFormat) -> tuple[str, str]:
    """Return how commands name the model and new rows, and the kind of the file that they write."""
    kind = file_kind(compared.data.table.path)
    # Commands are printed to be run as they are, and pushrank writes no compressed or sparse files.
    table = kind if kind in TABLES_WRITTEN else ".csv"
    # How numbers are written is kept in the model.
    unknown = {name: value for name, value in stated(text_format).items() if name not in text_format.marks}
    return shlex.join([str(saved), f"NEW{kind}", *words_of(unknown)]), table


def summary_of_periods(
    compared: Compared,
    days: PeriodMeasurement,
    saved: Path,
    text_format: TextFormat,
    scores: Floats,
    digest: str,
) -> tuple[dict[str, Any], list[str], Reference]:
    """Return what the chosen model finds, by scores of rows held out, and begin its file of alerts."""
    data, model, budget = compared.data, compared.comparison.chosen_, days.budget
    rows = data.rows if compared.kept is None else compared.kept
    expected, low, high = compared.comparison.expected_
    share, periods = days.share_of_periods()[model], budget.periods(rows.times).codes
    reference = reference_of(budget, periods, rows, scores)
    seen = ~np.isnan(scores)
    least, promised = promise_of_periods(rows.y[seen], scores[seen], periods[seen], budget)
    threshold, said = np.inf, f"none, for a {budget.per} comes whole"
    is_whole = budget.per == "batch" or comes_whole(budget, rows.times)
    (model_and_rows, kind), time = _words(compared, saved, text_format), shlex.quote(str(data.time))
    # The first rows of what comes whole are known without a threshold.
    score = f"pushrank score {model_and_rows} --top {budget.n} -o first{kind}"
    watch = f"pushrank watch {model_and_rows} --time {time}"
    if is_whole and budget.per != "batch":
        said += f": nearly all its rows have one time in {data.time}, so give each {budget.per} a file"
    elif not is_whole:
        state = alert_state(saved)
        # The threshold keeps the latest periods alone: earlier ones would be learnt to be forgotten.
        latest = seen & (periods > periods.max() - N_PAST)
        with refusing(), closing(AlertThreshold(budget, state)) as alert:
            alert.model = digest
            alert.fit(scores[latest], np.asarray(rows.times)[latest], zone=data.zone)
            threshold = alert.threshold_
        said = f"none yet, for in most {budget.several} fewer than {budget.n:,} rows come after the beginning"
        if np.isfinite(threshold):
            said = f"{threshold:.6g} when the next {budget.per} begins"
        said += f". It changes with the time and with how many of the {budget.n:,} are left; {state} keeps "
        said += "it, and has learnt from scores of rows held out"
        # The name of the column of identifiers is not known here: the user puts it in place of COLUMN.
        score = f"pushrank score {model_and_rows} --alert {shlex.quote(str(state))} --id COLUMN "
        score += f"--time {time} -o alerts{kind}"
        # Alerts are written as NEW is, or without marks of their own in a file of another kind.
        decided = model_and_rows.replace(f" NEW{kind}", f" alerts{kind}")
        if kind != file_kind(data.table.path):
            decided = f"{shlex.quote(str(saved))} alerts{kind}"
        # As the column is called beside those of the data.
        named = "pushrank_alert" if "alert" in data.table.frame else "alert"
        watch = f"pushrank watch {decided} --time {time} --acted {named}"
    commands = [score, watch]
    lines = [
        f"Hits: {expected:.2f} {budget.each} expected in as many {budget.several} to come"
        f"{_between(low, high, 2)}; {days.means[model].estimate:.2f} of {days.positives.mean():,.1f} "
        f"positives in {len(days.sizes):,} {budget.several} that come after the rows learnt from{data.late}.",
        f"Promised: {promised}. One or more are found on {100.0 * share.estimate:.0f} % of {budget.several}"
        f"{_between(100.0 * share.low, 100.0 * share.high, 0)}.",
        f"Alert threshold: {said}.",
        f"Tomorrow: {commands[0]}; and once labels are known: {commands[1]}",
    ]
    # JSON has no infinity.
    facts: dict[str, Any] = {"at_least": least, "threshold": threshold if np.isfinite(threshold) else None}
    facts |= {"commands": commands, "hits": _figures(expected, low, high)}
    return facts, lines, reference


def _figures(expected: float, low: float, high: float) -> dict[str, float]:
    """Return what is expected, for JSON, with its interval where there is one."""
    is_known = np.isfinite([low, high]).all()
    return {"estimate": expected} | ({"low": low, "high": high} if is_known else {})


def _between(low: float, high: float, digits: int) -> str:
    """Return an interval in brackets, or nothing where there is none."""
    is_known = np.isfinite([low, high]).all()
    return f" (95 % interval {low:.{digits}f} to {high:.{digits}f})" if is_known else ""
