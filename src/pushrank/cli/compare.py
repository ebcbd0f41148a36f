"""``pushrank compare``: which model is best at the top of the list?"""

from __future__ import annotations

import json
import shlex
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import typer

from pushrank.budgets import Budget
from pushrank.cli.alerts import Alert
from pushrank.cli.columns import excluding
from pushrank.cli.comparison import Compared, run_comparison
from pushrank.cli.days import every_day
from pushrank.cli.errors import say
from pushrank.cli.header import listed
from pushrank.cli.model import SavedModel, fit_pipeline
from pushrank.cli.names import ENSEMBLE
from pushrank.cli.options import CompareOutput, ComparisonConfig, FeatureSource, words_of
from pushrank.cli.report import write_comparison_report
from pushrank.cli.screen import print_comparison
from pushrank.cli.text_format import TextFormat
from pushrank.cli.write import write_table
from pushrank.model_selection.comparison import TOGETHER


def compare_models(
    source: FeatureSource, text_format: TextFormat, config: ComparisonConfig, output: CompareOutput
) -> None:
    """Compare models under the same cross-validation and say which is best at the top."""
    save_best, report, as_json = output.save_best, output.report, output.as_json
    compared = run_comparison(source, text_format, config, keep_models=report is not None)
    comparison = compared.comparison
    command = fit_command(source, text_format, config, compared, save_best or Path("model.skops"))
    if output.output is not None:
        write_table(comparison.to_frame(), output.output)
    if not as_json:
        print_comparison(comparison, compared.title())
        if names := compared.data.giveaways:
            which = f"{listed(map(repr, names))}, which alone tell{'s' * (len(names) == 1)} the classes apart"
            say(f"All this rests on {which}. Unless it is known beforehand: {excluding(names)}.")
        which = "best" if compared.chosen == comparison.best_ else "simplest that may be the best"
        say(f"To fit the {which} on all rows: {command}")
    # The model is saved before the report is written, whose page repeats what is said of the saved model.
    facts = {} if save_best is None else save_chosen(compared, save_best, text_format)
    lines = facts.get("sentences", [])
    if report is not None:
        write_comparison_report(report, compared, config, opened=output.opened, every_day=lines)
    if as_json:
        summary = comparison.summary() | {"fit": command}
        if facts:
            summary["days"] |= facts
        typer.echo(json.dumps(summary, indent=2))
    for line in () if as_json else lines:
        say(line)


def save_chosen(compared: Compared, saved: Path, text_format: TextFormat) -> dict[str, Any]:
    """Fit the chosen model to all rows and save it; return what it finds in every period of a budget."""
    chosen, learnt, budget = compared.chosen, compared.data.learnt, compared.budget_of_rows_learnt
    fitted, name = fit_pipeline(compared.models[chosen], learnt), chosen
    y, scores, alert = compared.data.y, compared.comparison.scores[chosen], None
    if chosen.startswith(TOGETHER):
        # In the comparison each part has weights of its own: the threshold is for those of all rows.
        name, y, scores = ENSEMBLE, learnt.y, fitted[-1].held_out_scores_
    if not isinstance(budget, Budget | None):
        seen = ~np.isnan(scores)
        alert = Alert.from_scores(y[seen], scores[seen], budget, len(learnt.y))
    model = SavedModel.from_fit(fitted, name, compared.data, alert=alert)
    facts: dict[str, Any] = {}
    if (days := compared.comparison.days) is not None:
        facts, reference = every_day(compared, days, saved, text_format, scores)
        model = replace(model, reference=reference, training=model.training | {"days": facts})
    model.save(saved)
    if not facts:
        # Standard output may be JSON for another program.
        say(f"{chosen}, fitted to all {len(learnt.y):,} rows, is saved as {saved}.", err=True)
    return facts


def fit_command(
    source: FeatureSource, text_format: TextFormat, config: ComparisonConfig, compared: Compared, saved: Path
) -> str:
    """Return the command that fits the best model as it was compared."""
    best, data = compared.chosen, compared.data
    ranker = compared.models[best].named_steps["rank"]
    is_ensemble = best.startswith(TOGETHER)
    # The command has to run as it is printed, and fit refuses --alpha for a model that has none.
    has_alpha = "alpha" in ranker.get_params() or is_ensemble
    given = {
        "label": None if data.table.is_sparse else data.label,
        "positive": data.positive,
        "drop_unlabelled": source.drop_unlabelled or None,
        **text_format.stated,
        # Fit would learn from the groups, which the comparison set aside, and from columns that give the
        # label away, to which perfect scores are due.
        "exclude": [name for name in [*(source.exclude or []), config.group, *data.giveaways] if name],
        "date": source.date,
        "time": data.time,
        "weight": config.weight,
        "model": ENSEMBLE if is_ensemble else best,
        "member": [name for name, _ in ranker.estimators] if is_ensemble and config.model else None,
        "budget": compared.budget_of_rows_learnt,
        "alpha": config.alpha if has_alpha else None,
    }
    words = ["pushrank", "fit", str(source.data), *words_of(given)]
    return shlex.join([*words, "-o", str(saved)])
