"""``pushrank compare``: which model is best at the top of the list?"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import pandas as pd
import typer
from numpy.typing import NDArray
from sklearn.base import BaseEstimator

from pushrank.cli.comparison import CHOSEN, CONFIDENCE, Comparison, compare_models, contestants
from pushrank.cli.comparison_report import check_report_kind, write_comparison_report
from pushrank.cli.comparison_table import print_comparison, progress, verdict
from pushrank.cli.design import POWERS, Design
from pushrank.cli.errors import check_can_write
from pushrank.cli.labelled import Labelled
from pushrank.cli.models import make_ranking_pipeline
from pushrank.cli.nested import CHOSEN_PUSH, ChosenModel, choosing_push
from pushrank.cli.options import (
    Alpha,
    Budget,
    Data,
    Decimal,
    Encoding,
    Exclude,
    Folds,
    Label,
    Nested,
    Positive,
    Powers,
    Repeats,
    Seed,
    Separator,
    Thousands,
)
from pushrank.cli.tables import check_output_kind, write_table
from pushrank.cli.text_format import TextFormat


def compare(
    data: Data,
    label: Label = None,
    positive: Positive = None,
    exclude: Exclude = None,
    separator: Separator = None,
    encoding: Encoding = None,
    decimal: Decimal = None,
    thousands: Thousands = None,
    budget: Budget = None,
    p: Powers = None,
    alpha: Alpha = None,
    folds: Folds = 5,
    repeats: Repeats = 1,
    seed: Seed = 0,
    nested: Nested = False,
    output: Annotated[
        Path | None, typer.Option("--output", "-o", help="Save every test part's measures here, too.")
    ] = None,
    report: Annotated[
        Path | None, typer.Option(help="Save a report with curves and rows here, too (.html).")
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON in place of a table.")] = False,
) -> None:
    """Compare models under the same cross-validation and say which is best at the top.

    Logistic regression, RankBoost's objective, the P-Norm Push at several p, the IR Push and, on tables,
    boosted stumps see the same splits and the same preprocessing. A figure is the mean over the test
    parts with its standard error. With --budget N, models are judged by how many of the N rows acted on are
    hits; else by the precision among the first rows, a quarter as many as there are positives. Rows that a
    model scores alike count by the average over their orders.

    The best of several figures is too good, for it was chosen by the rows it is read from. With --nested,
    a P-Norm Push whose p and alpha are chosen joins, and the last line is what the whole choice achieves on
    rows that had no say in it. It takes about as many times longer as there are folds.

    With --json, "differences" holds by how much the best model exceeds every other one by the criterion, with
    a 95 % interval; "more_than_chance" is null where the test parts are too few to tell.

    Example: pushrank compare data.csv --label fraud --budget 100
    """
    if output is not None:
        check_can_write(output)
        check_output_kind(output)
    if report is not None:
        check_can_write(report)
        check_report_kind(report)
    rows = Labelled.read(data, label, positive, exclude, TextFormat(separator, encoding, decimal, thousands))
    design = Design(p or POWERS, alpha, folds, repeats, seed, budget, nested)
    comparison = run(rows.features, rows.y, rows.numeric, rows.categorical, design)
    if output is not None:
        write_table(_long_format(comparison), output)
    if report is not None:
        write_comparison_report(report, rows, comparison, design)
    if as_json:
        typer.echo(json.dumps(_summary(comparison), indent=2))
        return
    print_comparison(
        comparison,
        f"{data.name}: {len(rows.y):,} rows, {int(rows.y.sum()):,} with {rows.meaning}; "
        f"{rows.said_of_features}; {folds}-fold cross-validation"
        + (f", {repeats} times" if repeats > 1 else ""),
    )


def run(
    X: Any, y: NDArray[np.bool_], numeric: list[str], categorical: list[str], design: Design
) -> Comparison:
    """Check the design against the data, and compare.

    Raises
    ------
    InputError
        When the design does not fit the data.
    """
    design.check(y)
    sparse = not hasattr(X, "iloc")
    models = contestants(design.powers, sparse=sparse)

    def make_pipeline(model: BaseEstimator) -> BaseEstimator:
        if isinstance(model, ChosenModel):
            return model
        return make_ranking_pipeline(model, numeric, categorical, sparse=sparse, alpha=design.alpha)

    if design.nested:
        folds, seed, budget = design.folds, design.seed, design.budget
        models[CHOSEN_PUSH] = choosing_push(design, len(y))
        models[CHOSEN] = ChosenModel(dict(models), make_pipeline, folds, seed, budget, len(y))
    with progress(design.n_parts, len(models)) as tell:
        return compare_models(X, y, make_pipeline, models, design, tell)


def _long_format(comparison: Comparison) -> pd.DataFrame:
    return pd.DataFrame(
        [
            {"model": model, "measure": measure, "part": part, "value": value}
            for model, measures in comparison.values.items()
            for measure, values in measures.items()
            for part, value in enumerate(values)
        ]
    )


def _summary(comparison: Comparison) -> dict[str, Any]:
    models = {
        model: {
            measure: {
                "mean": comparison.mean(model, measure),
                "standard_error": comparison.standard_error(model, measure),
            }
            for measure in measures
        }
        for model, measures in comparison.values.items()
    }
    summary = {
        "best": comparison.best(),
        "equally_good": comparison.equals(),
        "criterion": comparison.criterion,
        "verdict": verdict(comparison),
        "differences": {
            model: {**found._asdict(), "confidence": CONFIDENCE}
            for model, found in comparison.differences().items()
        },
        "models": models,
    }
    if comparison.optimism is not None:
        difference, error = comparison.optimism
        summary["optimism"] = {"mean": difference, "standard_error": error}
    return summary
