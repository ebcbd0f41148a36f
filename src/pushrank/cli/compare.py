"""``pushrank compare``: which model is best at the top of the list?"""

from __future__ import annotations

import json
import shlex
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any

import typer

from pushrank.budgets import Budget
from pushrank.cli import options
from pushrank.cli.columns import excluding
from pushrank.cli.comparison import Compared, ComparisonConfig, run_comparison
from pushrank.cli.days import alert_state, every_day
from pushrank.cli.early import ENSEMBLE
from pushrank.cli.errors import InputError, say
from pushrank.cli.features import FeatureSource
from pushrank.cli.header import listed
from pushrank.cli.model import SavedModel, fit_pipeline
from pushrank.cli.report import write_comparison_report
from pushrank.cli.screen import print_comparison
from pushrank.cli.text_format import TextFormat
from pushrank.cli.write import MODELS_WRITTEN, REPORTS_WRITTEN, TABLES_WRITTEN, check_output, write_table
from pushrank.model_selection.comparison import TOGETHER


def compare(
    source: FeatureSource,
    text_format: TextFormat,
    config: ComparisonConfig,
    output: Annotated[
        Path | None, typer.Option("--output", "-o", help="Also save the measures of every test part here.")
    ] = None,
    report: Annotated[
        Path | None, typer.Option(help="Also save a report with curves and rows here (.html).")
    ] = None,
    opened: options.Open = False,
    save_best: Annotated[
        Path | None, typer.Option(help="Fit the best model to all rows and save it here (.skops).")
    ] = None,
    force: options.Force = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON instead of a table.")] = False,
) -> None:
    """Compare models under the same cross-validation and say which is best at the top.

    Logistic regression, the P-Norm Push at several p, the IR Push and, on tables, boosted stumps, gradient
    boosting, a random forest and LightGBM, where it is installed, see the same splits; --model chooses among
    these and all others that fit knows. A figure is the mean over the test parts with its standard error.
    With --budget N, models are judged by how many of the N rows acted on are hits; else by the precision
    among the first rows, a quarter as many as there are positives. Counts are of all rows tested on. Ties
    count as their expected value.

    Parts are drawn at random, unless rows follow their only column of dates: then every part comes after the
    rows learnt from, as with --time COLUMN. Where rows of one customer, machine or batch resemble each other,
    say --group COLUMN; where you have test rows, --test FILE.

    The best of several figures is too good, because it was chosen on the rows that it is measured on. With
    --nested, the last row of the table is what the whole choice achieves on rows that had no part in it.
    With V folds this takes about V times as long.

    The last line is the command that fits the best model as it was compared; --save-best does it at once.

    With --budget 30/day --time COLUMN, models are judged by hits a day (hour, week, month, batch), in parts
    of whole days, with intervals that allow for neighbouring days that are alike. --save-best then takes the
    simplest of those that may be the best, and ends with five lines: the model, hits a day, what is promised,
    the alert threshold, whose file is written beside the model, and the commands for tomorrow.

    With --json, "may_be_best" names the models that may be the best, the simplest first, at 95 %, and
    "differences" holds by how much the best model exceeds every other one by the criterion, with intervals
    that hold together at 95 %.

    Example: pushrank compare data.csv --label fraud --budget 100
    """
    written = ((output, TABLES_WRITTEN), (report, REPORTS_WRITTEN), (save_best, MODELS_WRITTEN))
    for path, kinds in written:
        if path is not None:
            check_output(path, kinds, [source.data, config.test], force=force)
    by_period = save_best is not None and isinstance(config.budget, Budget)
    if save_best is not None and by_period and (state := alert_state(save_best)).exists() and not force:
        raise InputError(f"{state} exists; to forget what was decided in it: --force.")
    if report is None and (config.show or opened):
        raise InputError("--show and --open are for a report; say where to save it: --report PATH.")
    compared = run_comparison(source, text_format, config, keep_models=report is not None)
    comparison = compared.comparison
    command = fit_command(source, text_format, config, compared, save_best or Path("model.skops"))
    if output is not None:
        write_table(comparison.to_frame(), output)
    if not as_json:
        print_comparison(comparison, compared.title())
        if names := compared.data.giveaways:
            which = f"{listed(map(repr, names))}, which alone tell{'s' * (len(names) == 1)} the classes apart"
            say(f"All this rests on {which}. Unless it is known beforehand: {excluding(names)}.")
        which = "best" if compared.chosen == comparison.best_ else "simplest that may be the best"
        say(f"To fit the {which} on all rows: {command}")
    facts = {} if save_best is None else save_chosen(compared, save_best, source.data, text_format)
    lines = facts.get("sentences", [])
    if report is not None:
        write_comparison_report(report, compared, config, opened=opened, every_day=lines)
    if as_json:
        summary = comparison.summary() | {"fit": command}
        if facts:
            summary["days"] |= facts
        typer.echo(json.dumps(summary, indent=2))
    for line in () if as_json else lines:
        say(line)


def save_chosen(compared: Compared, saved: Path, data: Path, text_format: TextFormat) -> dict[str, Any]:
    """Fit the chosen model to all rows and save it; return what it finds in every period of a budget."""
    chosen, learnt, alert = compared.chosen, compared.data.learnt, compared.alert()
    fitted, name = fit_pipeline(compared.models[chosen], learnt), chosen
    scores = compared.comparison.scores[chosen]
    if chosen.startswith(TOGETHER):
        # In the comparison each part has weights of its own: the threshold is for those of all rows.
        name, scores = ENSEMBLE, fitted[-1].held_out_scores_
        if alert is not None:
            alert = alert.at_scores(learnt.y, scores)
    model = SavedModel.from_fit(fitted, name, compared.data, alert=alert)
    facts: dict[str, Any] = {}
    if (days := compared.comparison.days) is not None:
        facts, reference = every_day(compared, days, saved, (data, text_format), scores)
        model = replace(model, reference=reference, training=model.training | {"days": facts})
    model.save(saved)
    if not facts:
        say(f"{chosen}, fitted to all {len(learnt.y):,} rows, is saved as {saved}.", err=True)
    return facts


def fit_command(
    source: FeatureSource, text_format: TextFormat, config: ComparisonConfig, compared: Compared, saved: Path
) -> str:
    """Return the command that fits the best model as it was compared."""
    best, data = compared.chosen, compared.data
    ranker = compared.models[best].named_steps["rank"]
    is_ensemble = best.startswith(TOGETHER)
    has_alpha = "alpha" in ranker.get_params() or is_ensemble
    given = {
        "label": None if data.table.is_sparse else data.label,
        "positive": data.positive,
        "drop_unlabelled": source.drop_unlabelled or None,
        **text_format.stated,
        "exclude": [name for name in [*(source.exclude or []), config.group, *data.giveaways] if name],
        "date": source.date,
        "time": data.time,
        "weight": config.weight,
        "model": ENSEMBLE if is_ensemble else best,
        "member": [name for name, _ in ranker.estimators] if is_ensemble and config.model else None,
        "budget": compared.budget_of_rows_learnt,
        "alpha": config.alpha if has_alpha else None,
    }
    words = ["pushrank", "fit", str(source.data), *options.words_of(given)]
    return shlex.join([*words, "-o", str(saved)])
